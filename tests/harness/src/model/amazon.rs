//! Amazon Bedrock's lists of the models and of the inference profiles in a region. The fields and the parameters are
//! those of the model of `bedrock` in PyPI `botocore` 1.44.

use hyper::StatusCode;
use serde_json::{Value, json};

/// A page of profiles, however many are asked for: the service gives no more than it likes.
const PAGE: usize = 2;
/// The beginning of the mark of a page. Its characters must be encoded in a query.
const MARK: &str = "page/+=";

/// A region with models and profiles.
#[derive(Clone, Debug)]
pub struct Region {
    name: String,
    models: Vec<Value>,
    profiles: Vec<Value>,
    is_denied: bool,
}

impl Region {
    /// A region that offers nothing yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), models: Vec::new(), profiles: Vec::new(), is_denied: false }
    }

    /// Adds a model that answers text and images with text, in these ways: `ON_DEMAND`, `PROVISIONED` or
    /// `INFERENCE_PROFILE`.
    #[must_use]
    pub fn with_model(mut self, id: &str, ways: &[&str]) -> Self {
        let name = id.split_once('.').map_or(id, |(_, name)| name);
        self.models.push(json!({ "modelArn": self.arn(id), "modelId": id, "modelName": name,
            "providerName": "The maker", "inputModalities": ["TEXT", "IMAGE"], "outputModalities": ["TEXT"],
            "responseStreamingSupported": true, "customizationsSupported": [], "inferenceTypesSupported": ways,
            "modelLifecycle": { "status": "ACTIVE", "startOfLifeTime": "2026-01-01T00:00:00Z" } }));
        self
    }

    /// Makes the last model a legacy one, whose life ends on this day.
    #[must_use]
    pub fn legacy_until(mut self, day: &str) -> Self {
        let end = format!("{day}T00:00:00Z");
        self.models.last_mut().unwrap()["modelLifecycle"] = json!({ "status": "LEGACY", "endOfLifeTime": end });
        self
    }

    /// Adds a profile by which a model answers.
    #[must_use]
    pub fn with_profile(mut self, id: &str, model: &str) -> Self {
        let arn = format!("arn:aws:bedrock:{}:111122223333:inference-profile/{id}", self.name);
        let models = json!([{ "modelArn": self.arn(model) }]);
        self.profiles.push(json!({ "inferenceProfileName": id.replace('.', " "), "inferenceProfileArn": arn,
            "models": models, "inferenceProfileId": id, "status": "ACTIVE", "type": "SYSTEM_DEFINED" }));
        self
    }

    /// Denies its lists to whoever asks.
    #[must_use]
    pub fn denied(self) -> Self {
        Self { is_denied: true, ..self }
    }

    fn arn(&self, model: &str) -> String {
        format!("arn:aws:bedrock:{}::foundation-model/{model}", self.name)
    }

    /// True if something at this path is one of the lists.
    pub(super) fn is_at(path: &str) -> bool {
        path.ends_with("/foundation-models") || path.ends_with("/inference-profiles")
    }

    /// The answer at the path of a list.
    pub(super) fn answer(&self, path: &str, query: &str) -> (StatusCode, Value) {
        if self.is_denied {
            let words = "User: arn:aws:iam::1:user/ada is not authorized to perform: bedrock:ListFoundationModels";
            return (StatusCode::FORBIDDEN, json!({ "message": words }));
        }
        let answer = match path.rsplit_once('/').map(|(_, list)| list) {
            Some("foundation-models") => self.models(query),
            _ => self.profiles(query),
        };
        match answer {
            Ok(list) => (StatusCode::OK, list),
            Err(words) => (StatusCode::BAD_REQUEST, json!({ "message": words })),
        }
    }

    fn models(&self, query: &str) -> Result<Value, String> {
        let mut models = self.models.clone();
        for (name, value) in pairs(query) {
            match (name.as_str(), value.as_str()) {
                ("byOutputModality", "TEXT") => models.retain(|it| it["outputModalities"] == json!(["TEXT"])),
                _ => return Err(format!("{name}={value} is no parameter of ListFoundationModels")),
            }
        }
        Ok(json!({ "modelSummaries": models }))
    }

    fn profiles(&self, query: &str) -> Result<Value, String> {
        let mut from = 0;
        for (name, value) in pairs(query) {
            match (name.as_str(), value.as_str()) {
                ("type", "SYSTEM_DEFINED") => {}
                ("maxResults", most) if most.parse().is_ok_and(|most: u32| (1..=1000).contains(&most)) => {}
                ("nextToken", mark) => {
                    let at = mark.strip_prefix(MARK).and_then(|at| at.parse().ok());
                    from = at.ok_or_else(|| format!("{mark} is no mark of a page"))?;
                }
                _ => return Err(format!("{name}={value} is no parameter of ListInferenceProfiles")),
            }
        }
        let page: Vec<_> = self.profiles.iter().skip(from).take(PAGE).collect();
        let mut answer = json!({ "inferenceProfileSummaries": page });
        if from + PAGE < self.profiles.len() {
            answer["nextToken"] = format!("{MARK}{}", from + PAGE).into();
        }
        Ok(answer)
    }
}

/// The names and values of a query.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect()
}

fn decoded(value: &str) -> String {
    let mut parts = value.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        text.push(char::from(u8::from_str_radix(code, 16).unwrap()));
        text.push_str(rest);
    }
    text
}
