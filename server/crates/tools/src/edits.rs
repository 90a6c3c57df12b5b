//! Tools that are one kind of edit each, and what they have in common.

use std::marker::PhantomData;

use agent::partial::PartialInput;
use agent::permission::Action;
use agent::tool::{Access, Call, Description, DiffKind, DiffPart, Output, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::draft::Draft;
use crate::typed::Typed;
use crate::{Services, blocking, location, writable};

/// One edit, as the model asks for it.
pub(crate) trait OneEdit: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// What it does, for people, such as `Editing`.
    const VERB: &'static str;
    /// The fields that hold lines of its diff, and what these are; the field `path` beside them says of which file.
    const SHOWN: &'static [(&'static str, DiffKind)];

    /// The files it is about, of which there is at least one, as the model names them.
    fn paths(&self) -> Vec<&str>;

    /// Whether it can be meant at all.
    fn check(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// What this one does, for people, before the file's name.
    fn doing(&self) -> String {
        Self::VERB.to_owned()
    }

    /// What it comes to as far as its input has arrived. See [`agent::tool::Tool::preview`].
    fn preview(input: &PartialInput) -> Vec<DiffPart<'_>> {
        let mut parts = Vec::new();
        for string in input.strings() {
            let Some((_, kind)) = Self::SHOWN.iter().find(|(field, _)| *field == string.field) else { continue };
            // Where an edit of several has no path of its own, it is of the call's. Without one it waits for it.
            let path = input.whole(string.object, "path").or_else(|| input.whole(0, "path"));
            let Some(path) = path else { break };
            parts.push(DiffPart { path, kind: *kind, text: &string.text });
        }
        parts
    }

    /// Makes the edit in a draft. Gives what it comes to, for the model.
    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError>;
}

/// The tool for one kind of edit.
pub(crate) struct Editing<E> {
    services: Services,
    kind: PhantomData<fn() -> E>,
}

impl<E> Editing<E> {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone(), kind: PhantomData }
    }
}

#[async_trait]
impl<E: OneEdit> Typed for Editing<E> {
    type Input = E;
    const NAME: &'static str = E::NAME;
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &E) -> Result<Description, ToolError> {
        input.check()?;
        let mut paths = Vec::new();
        for path in input.paths() {
            let path = writable(&self.services, path)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let first = paths.first().map(|path| self.services.roots.display(path)).unwrap_or_default();
        let more = match paths.len() {
            0 | 1 => String::new(),
            2 => " and another file".to_owned(),
            several => format!(" and {} other files", several - 1),
        };
        let title = format!("{} {first}{more}", input.doing());
        let locations = paths.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Edit { paths } })
    }

    fn preview<'a>(&self, input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        E::preview(input)
    }

    async fn run(&self, call: Call, input: E) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let mut draft = Draft::new(&services, &call);
            let text = input.make(&mut draft, &services)?;
            draft.output(text)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use agent::partial::PartialInput;
    use serde_json::json;

    use crate::fixture::World;

    /// What is shown of a call when this much of its input has come: the file, the first letter of the kind, the text.
    fn shown(tool: &str, json: &str) -> Vec<String> {
        let tools = crate::builtin(&World::new(&[]).services());
        let tool = tools.iter().find(|it| it.spec().name == tool).unwrap();
        let mut input = PartialInput::default();
        input.push(json);
        let line = |part: &agent::tool::DiffPart<'_>| format!("{} {:?} {:?}", part.path, part.kind, part.text);
        tool.preview(&input).iter().map(line).collect()
    }

    #[test]
    fn an_edit_that_still_comes_shows_what_has_come_of_it_once_its_file_is_known() {
        let cases = [
            ("edit_replace_exact", "{\"old_text\":\"a\",\"path\":\"f.r", vec![]),
            (
                "edit_replace_exact",
                "{\"old_text\":\"a\",\"path\":\"f.rs\",\"new_text\":\"b\\nc",
                vec!["f.rs Removed \"a\"", "f.rs Added \"b\\nc\""],
            ),
            ("edit_create_file", "{\"path\":\"f\",\"content\":\"x\\", vec!["f Added \"x\""]),
            (
                "edit_hashline",
                "{\"path\":\"f\",\"edits\":[{\"after\":\"3#AB\",\"content\":\"y",
                vec!["f Place \"3#AB\"", "f Added \"y\""],
            ),
            (
                "edit_apply_batch",
                "{\"edits\":[{\"op\":\"create_file\",\"path\":\"f\",\"content\":\"x\"},{\"op\":\"replace_exact\",\"path\":\"g\",\"old_text\":\"z",
                vec!["f Added \"x\"", "g Removed \"z\""],
            ),
            (
                "edit_symbol",
                "{\"path\":\"f\",\"symbol\":\"S/m\",\"operation\":\"replace\",\"text\":\"fn",
                vec!["f Place \"S/m\"", "f Added \"fn\""],
            ),
            ("edit_delete_file", "{\"path\":\"f\"}", vec![]),
            ("read_file", "{\"path\":\"f\"}", vec![]),
        ];
        for (tool, json, expected) in cases {
            assert_eq!(shown(tool, json), expected, "{tool} {json}");
        }
    }

    #[test]
    fn what_is_shown_is_named_after_fields_that_the_tools_have() {
        for tool in crate::builtin(&World::new(&[]).services()) {
            let spec = tool.spec();
            let fields: Vec<_> = spec.input_schema["properties"].as_object().unwrap().keys().cloned().collect();
            let has_text = ["old_text", "new_text", "content", "text", "source", "patch"]
                .iter()
                .find(|it| fields.iter().any(|field| field == *it));
            let (true, Some(text)) = (spec.name.starts_with("edit_") && spec.name != "edit_structural", has_text)
            else {
                continue;
            };
            let mut input = PartialInput::default();
            input.push(&json!({ "path": "f", *text: "*** Update File: f\n+x" }).to_string());
            assert!(!tool.preview(&input).is_empty(), "{} shows nothing of {text}", spec.name);
        }
    }
}
