//! Tools with a typed input, and how they become tools for the model.
//!
//! A tool declares a struct for its input. The struct's doc comment is what the model is told of the tool, the fields'
//! doc comments are what it is told of the fields, and the JSON schema is derived from the struct; so there is one
//! place where a tool's input is defined.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::model::ToolSpec;
use ports::partial::PartialInput;
use ports::tool::{Access, Call, Description, DiffPart, MayLook, Output, Tool, ToolError};
use project::answers::Looks;
use protocol::content::ToolKind;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long a call may take to be described. It looks for what a command's words lead to, which has its own bounds of
/// some seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A tool whose input is a type of its own.
///
/// The input derives [`JsonSchema`] and `Deserialize`, and refuses unknown fields (`#[serde(deny_unknown_fields)]`),
/// so that a field the model made up is an error it can read and not silently ignored.
#[async_trait]
pub trait Typed: Send + Sync + 'static {
    /// The input. Its doc comment is the tool's description.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// The tool's name: lower case, digits and `_`.
    const NAME: &'static str;
    /// The tool's kind.
    const KIND: ToolKind;
    /// The access that it needs.
    const ACCESS: Access;
    /// False if an interrupted call must not be made again. See [`Tool::is_repeatable`].
    const IS_REPEATABLE: bool = true;

    /// Says what a call would do, without doing any of it. It may ask the disk, which may never answer: it has a thread
    /// of its own. See [`Tool::describe`].
    ///
    /// # Errors
    /// An input that cannot be meant, such as a path outside the workspace.
    fn describe(&self, input: &Self::Input) -> Result<Description, ToolError>;

    /// The diff of its edits as far as the input has arrived. See [`Tool::preview`].
    fn preview<'a>(&self, _input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        Vec::new()
    }

    /// The number of known places of its edits. See [`Tool::places`].
    fn places(&self, _input: &PartialInput) -> usize {
        0
    }

    /// Looks whether they are there. See [`Tool::foresee`].
    ///
    /// # Errors
    /// They are certainly not.
    async fn foresee(&self, _call: Call, _input: PartialInput, _may_look: Arc<MayLook>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does it. See [`Tool::run`].
    ///
    /// # Errors
    /// A failure, as the model should know it.
    async fn run(&self, call: Call, input: Self::Input) -> Result<Output, ToolError>;
}

/// Makes a typed tool one that can stand in a list with others.
pub fn erase<T: Typed>(tool: T) -> Arc<dyn Tool> {
    Arc::new(Erased { spec: spec::<T>(), tool: Arc::new(tool), looks: Looks::default() })
}

struct Erased<T> {
    spec: ToolSpec,
    tool: Arc<T>,
    /// Its own: what one tool of one session waits for in vain keeps no other from its work.
    looks: Looks,
}

#[async_trait]
impl<T: Typed> Tool for Erased<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        T::KIND
    }

    fn access(&self) -> Access {
        T::ACCESS
    }

    fn is_repeatable(&self) -> bool {
        T::IS_REPEATABLE && !T::ACCESS.has_effects()
    }

    async fn describe(&self, input: &Value) -> Result<Description, ToolError> {
        let (tool, input) = (Arc::clone(&self.tool), parse(input)?);
        let described = self.looks.answer(PATIENCE, move || tool.describe(&input)).await;
        described.unwrap_or_else(|| {
            let words = "the disk does not answer, like a network folder whose server cannot be reached; nothing was \
                         done. Use other files and folders, and tell the user";
            Err(ToolError::Failed(words.to_owned()))
        })
    }

    fn preview<'a>(&self, input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        self.tool.preview(input)
    }

    fn places(&self, input: &PartialInput) -> usize {
        self.tool.places(input)
    }

    async fn foresee(&self, call: Call, input: PartialInput, may_look: Arc<MayLook>) -> Result<(), ToolError> {
        self.tool.foresee(call, input, may_look).await
    }

    async fn run(&self, call: Call, input: Value) -> Result<Output, ToolError> {
        self.tool.run(call, parse(&input)?).await
    }
}

/// The tool as the model is told of it. The same for every value of the type, and byte for byte from run to run.
fn spec<T: Typed>() -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T::Input>();
    let description = match schema.remove("description") {
        Some(Value::String(text)) => unwrapped(&text),
        _ => String::new(),
    };
    tidy(&mut schema);
    let object = schema.ensure_object();
    object.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    ToolSpec { name: T::NAME.to_owned(), description, input_schema: schema.into() }
}

/// Takes out of a schema what says nothing to a model, or what some vendors refuse: titles, Rust's number formats, and
/// `null` where a field can simply be left out.
fn tidy(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = unwrapped(text);
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(mut choices)) = schema.remove("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        match choices.pop() {
            Some(Value::Object(only)) if choices.is_empty() => {
                for (key, value) in only {
                    // The field's own keywords go before those of its type.
                    schema.ensure_object().entry(key).or_insert(value);
                }
            }
            Some(last) => {
                choices.push(last);
                schema.insert("anyOf".to_owned(), Value::Array(choices));
            }
            None => {}
        }
    }
    schemars::transform::transform_subschemas(&mut tidy, schema);
}

/// A doc comment with each paragraph and each list entry on one line: where the source breaks lines is no matter of the
/// model's. What stands between fences stays as it is, without them.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut fenced, mut after_fence) = (false, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            (fenced, after_fence) = (!fenced, true);
            continue;
        }
        let line = if fenced { line } else { line.trim() };
        let begins_anew = fenced || after_fence || line.is_empty() || line.starts_with("- ") || out.ends_with('\n');
        after_fence = false;
        if !out.is_empty() {
            out.push(if begins_anew { '\n' } else { ' ' });
        }
        out.push_str(line);
    }
    out
}

/// Reads an input.
fn parse<I: DeserializeOwned>(input: &Value) -> Result<I, ToolError> {
    let Value::Object(fields) = input else {
        return Err(ToolError::InvalidInput("the input must be a JSON object".to_owned()));
    };
    let error = match serde_json::from_value(input.clone()) {
        Ok(input) => return Ok(input),
        Err(error) => error.to_string(),
    };
    // Missing and unknown fields are named by the error itself; for a value of the wrong type the field is the one
    // without which the error is another.
    let culprit = fields.keys().find(|name| {
        let mut without = fields.clone();
        without.shift_remove(*name);
        serde_json::from_value::<I>(Value::Object(without)).err().is_none_or(|other| other.to_string() != error)
    });
    match culprit {
        Some(name) if !error.contains(&format!("`{name}`")) => {
            Err(ToolError::InvalidInput(format!("field `{name}`: {error}")))
        }
        _ => Err(ToolError::InvalidInput(error)),
    }
}

#[cfg(test)]
mod tests {
    use permission::Action;
    use serde::Deserialize;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// Says a word several times.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Say {
        /// The word.
        title: String,
        /// How often.
        times: Option<u32>,
        /// A stretch of it.
        stretch: Option<Stretch>,
    }

    /// A stretch.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Stretch {
        /// The first.
        #[expect(dead_code, reason = "only its schema and its reading matter here")]
        start: u32,
    }

    struct SayTool;

    #[async_trait]
    impl Typed for SayTool {
        type Input = Say;
        const NAME: &'static str = "say";
        const KIND: ToolKind = ToolKind::Other;
        const ACCESS: Access = Access::Read;

        fn describe(&self, input: &Say) -> Result<Description, ToolError> {
            let title = format!("Saying {}", input.title);
            Ok(Description { title, locations: Vec::new(), action: Action::Read })
        }

        async fn run(&self, _: Call, input: Say) -> Result<Output, ToolError> {
            let _ = &input.stretch;
            Ok(Output { text: input.title.repeat(input.times.unwrap_or(1) as usize), ..Output::default() })
        }
    }

    #[test]
    fn the_model_is_told_what_the_doc_comments_say() {
        let tool = erase(SayTool);
        assert_eq!(tool.spec().name, "say");
        assert_eq!(tool.spec().description, "Says a word several times.");
        let schema = &tool.spec().input_schema;
        assert_eq!(
            *schema,
            json!({
                "type": "object",
                "properties": {
                    "title": { "description": "The word.", "type": "string" },
                    "times": { "description": "How often.", "type": "integer", "minimum": 0 },
                    "stretch": {
                        "description": "A stretch of it.",
                        "type": "object",
                        "properties": { "start": { "description": "The first.", "type": "integer", "minimum": 0 } },
                        "additionalProperties": false,
                        "required": ["start"],
                    },
                },
                "additionalProperties": false,
                "required": ["title"],
            })
        );
        let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["title", "times", "stretch"], "fields stand in the order of the struct");
    }

    #[test]
    fn line_breaks_of_the_source_are_not_the_models_matter() {
        assert_eq!(unwrapped("One\nline.\n\nList:\n- a\n  b\n- c"), "One line.\n\nList:\n- a b\n- c");
        assert_eq!(unwrapped("So:\n```text\n a\n\n-b\n```\nAnd\nso on."), "So:\n a\n\n-b\nAnd so on.");
    }

    #[tokio::test]
    async fn a_fitting_input_runs_the_tool() {
        let call = Call::unjudged("1".into(), CancellationToken::new());
        let output = erase(SayTool).run(call, json!({ "title": "ho", "times": 3 })).await.unwrap();
        assert_eq!(output.text, "hohoho");
    }

    #[tokio::test]
    async fn an_input_that_does_not_fit_names_the_field() {
        let tool = erase(SayTool);
        let words = async |input: Value| tool.describe(&input).await.unwrap_err().to_string();
        assert_eq!(words(json!({ "times": 3 })).await, "invalid input: missing field `title`");
        assert_eq!(
            words(json!({ "title": "ho", "often": 3 })).await,
            "invalid input: unknown field `often`, expected one of `title`, `times`, `stretch`"
        );
        assert_eq!(
            words(json!({ "title": "ho", "times": "3" })).await,
            "invalid input: field `times`: invalid type: string \"3\", expected u32"
        );
        assert_eq!(
            words(json!({ "title": "ho", "stretch": { "start": -1 } })).await,
            "invalid input: field `stretch`: invalid value: integer `-1`, expected u32"
        );
        assert_eq!(words(json!("ho")).await, "invalid input: the input must be a JSON object");
    }

    /// A tool whose disk answers once this is dropped.
    struct Waits(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}

    #[async_trait]
    impl Typed for Waits {
        type Input = Nothing;
        const NAME: &'static str = "waits";
        const KIND: ToolKind = ToolKind::Read;
        const ACCESS: Access = Access::Read;

        fn describe(&self, _: &Nothing) -> Result<Description, ToolError> {
            let _ = self.0.lock().unwrap().recv();
            Err(ToolError::Cancelled)
        }

        async fn run(&self, _: Call, _: Nothing) -> Result<Output, ToolError> {
            Ok(Output::default())
        }
    }

    #[tokio::test]
    async fn while_the_disk_is_asked_for_a_description_nobody_else_waits() {
        let (disk, silence) = std::sync::mpsc::channel();
        let (tool, input) = (erase(Waits(silence.into())), json!({}));
        // On the one thread of this runtime.
        let (described, ()) = tokio::join!(tool.describe(&input), async { drop(disk) });
        assert_eq!(described.unwrap_err(), ToolError::Cancelled);
    }
}
