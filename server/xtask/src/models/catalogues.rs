//! The two catalogues, read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::shelves::Told;
use super::{Error, fs_text};

/// The levels of thinking, by the first catalogue's names and ours, which are the same.
const LEVELS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Input, output, cache read and cache write, in US dollars per million tokens.
pub(super) type Four = [f64; 4];

/// The facts about a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) context: u64,
    pub(super) max_output: u64,
    pub(super) price: Option<Four>,
    /// The price of prompts of more tokens than the number.
    pub(super) long: Option<(u64, Four)>,
    pub(super) images: bool,
    /// Its thinking; none if it does not think.
    pub(super) told: Option<Told>,
    /// The day on which it ends.
    pub(super) ends: Option<String>,
}

impl Fact {
    /// Takes in what the second catalogue says of the same model.
    pub(super) fn settle(&mut self, other: &Self) {
        let smaller = |mine: u64, theirs: u64| if theirs == 0 { mine } else { mine.min(theirs) };
        self.context = smaller(self.context, other.context);
        self.max_output = smaller(self.max_output, other.max_output);
        let higher = |mine: Four, theirs: Four| std::array::from_fn(|at| f64::max(mine[at], theirs[at]));
        self.price = match (self.price, other.price) {
            (Some(mine), Some(theirs)) => Some(higher(mine, theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.long = match (self.long, other.long) {
            (Some((above, mine)), Some((other_above, theirs))) => Some((above.min(other_above), higher(mine, theirs))),
            (mine, theirs) => mine.or(theirs),
        };
        self.ends.clone_from(&other.ends);
    }

    /// With a cache read that costs what input costs, if no price of it is known.
    fn with_cache(mut self) -> Self {
        let fill = |four: &mut Four| {
            if four[2] == 0.0 {
                four[2] = four[0];
            }
        };
        self.price.as_mut().into_iter().for_each(fill);
        self.long.as_mut().into_iter().for_each(|(_, four)| fill(four));
        self
    }
}

/// The first catalogue: npm `@earendil-works/pi-ai`, unpacked.
pub(super) struct Pi {
    folder: PathBuf,
    version: String,
}

impl Pi {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("package.json");
        let package = json(&path)?;
        let version = package.get("version").and_then(Value::as_str).ok_or_else(|| form(&path, "no version"))?;
        Ok(Self { folder: folder.to_owned(), version: version.to_owned() })
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The models of one of its files, by their ids.
    pub(super) fn models(&self, file: &str) -> Result<BTreeMap<String, Fact>, Error> {
        let path = self.folder.join("dist/providers/data").join(format!("{file}.json"));
        let wires = json(&path)?;
        let wires = wires.as_object().ok_or_else(|| form(&path, "no table of wires"))?;
        let models = wires.values().filter_map(Value::as_object).flat_map(Map::values);
        let talks = models.filter(|model| model.get("type").and_then(Value::as_str) == Some("chat"));
        talks.map(|model| pi_model(model).ok_or_else(|| form(&path, "a model without an id or a window"))).collect()
    }
}

fn pi_model(model: &Value) -> Option<(String, Fact)> {
    let cost = model.get("cost");
    let long = cost.and_then(|cost| cost.pointer("/tiers/0")).and_then(|tier| {
        let above = tier.get("inputTokensAbove")?.as_u64()?;
        Some((above, pi_price(tier)?))
    });
    let has_image = |kinds: &Vec<Value>| kinds.iter().any(|kind| kind == "image");
    let fact = Fact {
        name: model.get("name")?.as_str()?.trim_end_matches(" (latest)").replace('\t', " "),
        context: model.get("contextWindow")?.as_u64()?,
        max_output: model.get("maxTokens")?.as_u64()?,
        price: cost.and_then(pi_price),
        long,
        images: model.get("input").and_then(Value::as_array).is_some_and(has_image),
        told: (model.get("reasoning") == Some(&Value::Bool(true))).then(|| told(model)),
        ends: None,
    };
    Some((model.get("id")?.as_str()?.to_owned(), fact.with_cache()))
}

/// A price that is nothing is that of a plan, of a trial, or not known.
fn pi_price(cost: &Value) -> Option<Four> {
    let four = ["input", "output", "cacheRead", "cacheWrite"].map(|name| cost.get(name).and_then(Value::as_f64));
    let four = four.map(Option::unwrap_or_default);
    (four[0] > 0.0 && four[1] > 0.0).then_some(four)
}

fn told(model: &Value) -> Told {
    let map = model.get("thinkingLevelMap").and_then(Value::as_object);
    let flag = |name: &str| model.get("compat").and_then(|compat| compat.get(name));
    let has = |level: &str| match map.and_then(|map| map.get(level)) {
        Some(Value::String(sent)) => sent == level || level == "off" && sent == "none",
        Some(_) => false,
        // The two highest are there only if they are named.
        None => level != "xhigh" && level != "max",
    };
    Told {
        levels: LEVELS.iter().copied().filter(|level| has(level)).collect(),
        has_map: map.is_some(),
        format: flag("thinkingFormat").and_then(Value::as_str).map(str::to_owned),
        takes_effort: flag("supportsReasoningEffort").and_then(Value::as_bool),
        is_adaptive: flag("forceAdaptiveThinking") == Some(&Value::Bool(true)),
        echo: flag("requiresReasoningContentOnAssistantMessages") == Some(&Value::Bool(true)),
    }
}

/// The second catalogue: PyPI `litellm`, its wheel unpacked.
pub(super) struct Lite {
    models: Map<String, Value>,
    version: String,
}

impl Lite {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("litellm/model_prices_and_context_window_backup.json");
        let Value::Object(models) = json(&path)? else { return Err(form(&path, "no table of models")) };
        Ok(Self { models, version: version_of_wheel(folder)? })
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The models of one of its providers that can be talked to, by their ids at that provider.
    pub(super) fn models(&self, provider: &str, prefix: &str) -> BTreeMap<String, Fact> {
        let is_here = |model: &&Value| model.get("litellm_provider").and_then(Value::as_str) == Some(provider);
        let talks = |model: &&Value| matches!(model.get("mode").and_then(Value::as_str), Some("chat" | "responses"));
        let of_provider = self.models.iter().filter(|(_, model)| is_here(model) && talks(model));
        let bare = |id: &str| id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id).to_owned();
        of_provider.filter_map(|(id, model)| Some((bare(id), lite_model(&bare(id), model)?))).collect()
    }
}

fn lite_model(id: &str, model: &Value) -> Option<Fact> {
    let number = |name: &str| model.get(name).and_then(Value::as_u64);
    let flag = |name: &str| model.get(name) == Some(&Value::Bool(true));
    let four = |end: &str| {
        let price = |name: &str| Some(model.get(format!("{name}{end}"))?.as_f64()? * 1e6);
        let of_cache = |name: &str| price(name).unwrap_or_default();
        Some([
            price("input_cost_per_token").filter(|price| *price > 0.0)?,
            price("output_cost_per_token")?,
            of_cache("cache_read_input_token_cost"),
            of_cache("cache_creation_input_token_cost"),
        ])
    };
    let long = [128_u64, 200, 256, 272, 512].into_iter();
    let long = long.filter_map(|above| Some((above * 1000, four(&format!("_above_{above}k_tokens"))?)));
    let fact = Fact {
        name: id.to_owned(),
        context: number("max_input_tokens").or_else(|| number("max_tokens"))?,
        max_output: number("max_output_tokens").or_else(|| number("max_tokens"))?,
        price: four(""),
        long: long.min_by_key(|(above, _)| *above),
        images: flag("supports_vision"),
        told: flag("supports_reasoning").then(Told::default),
        ends: model.get("deprecation_date").and_then(Value::as_str).map(str::to_owned),
    };
    Some(fact.with_cache())
}

/// The version in the name of the folder that describes a wheel.
fn version_of_wheel(folder: &Path) -> Result<String, Error> {
    let cannot = |source| Error::File { path: folder.to_owned(), source };
    let names = fs::read_dir(folder).map_err(cannot)?.flatten().map(|entry| entry.file_name());
    let mut versions = names.filter_map(|name| {
        let name = name.to_str()?;
        Some(name.strip_prefix("litellm-")?.strip_suffix(".dist-info")?.to_owned())
    });
    versions.next().ok_or_else(|| form(folder, "no litellm-VERSION.dist-info beside it"))
}

fn json(path: &Path) -> Result<Value, Error> {
    serde_json::from_str(&fs_text(path)?).map_err(|error| form(path, &error.to_string()))
}

fn form(path: &Path, problem: &str) -> Error {
    Error::Form { path: path.to_owned(), problem: problem.to_owned() }
}
