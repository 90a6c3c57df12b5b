//! Tools that are one kind of edit each, and what they have in common.

use std::collections::HashMap;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use permission::Action;
use ports::partial::PartialInput;
use ports::tool::{Access, Call, Description, DiffKind, DiffPart, MayLook, Output, ToolError};
use project::files::FileError;
use project::reader::ReadError;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::draft::{Change, Draft};
use crate::typed::Typed;
use crate::{Services, blocking, location, may_quote, read_file, writable};

/// One edit, as the model asks for it.
pub(crate) trait OneEdit: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// The verb for what it does, such as `Editing`.
    const VERB: &'static str;
    /// The fields that hold lines of its diff, and what these are; the field `path` beside them says of which file.
    const SHOWN: &'static [(&'static str, DiffKind)];

    /// The files it is about, of which there is at least one, as the model names them.
    fn paths(&self) -> Vec<&str>;

    /// Checks that it can be meant at all.
    fn check(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Says what this one does, before the file's name.
    fn doing(&self) -> String {
        Self::VERB.to_owned()
    }

    /// Returns its diff as far as its input has arrived. See [`ports::tool::Tool::preview`].
    fn preview(input: &PartialInput) -> Vec<DiffPart<'_>> {
        let mut parts = Vec::new();
        let mut paths: HashMap<usize, &str> = HashMap::new();
        for string in input.strings().iter().filter(|string| string.is_whole && string.field == "path") {
            paths.entry(string.object).or_insert(&string.text);
        }
        for string in input.strings() {
            let Some((_, kind)) = Self::SHOWN.iter().find(|(field, _)| *field == string.field) else { continue };
            // Where an edit of several has no path of its own, it is of the call's. Without one it waits for it.
            let Some(path) = paths.get(&string.object).or_else(|| paths.get(&0)) else { break };
            parts.push(DiffPart { path, kind: *kind, text: &string.text });
        }
        parts
    }

    /// How many of its places are known. See [`ports::tool::Tool::places`].
    fn places(_input: &PartialInput) -> usize {
        0
    }

    /// Looks whether they are there. See [`ports::tool::Tool::foresee`].
    fn foresee(_input: &PartialInput, _texts: &Texts<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    /// The input that would have made these changes without slips; none if there is none such.
    fn canonical(&self, _changes: &[Change<'_>]) -> Option<Value> {
        None
    }

    /// Makes the edit in a draft. Gives what it comes to, for the model.
    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError>;
}

/// The texts in which an edit that still arrives is looked for.
pub(crate) struct Texts<'a> {
    pub(crate) services: &'a Services,
    call: &'a Call,
    may_look: &'a MayLook,
}

impl Texts<'_> {
    /// The text of a file, and whether the model has seen it as it is; none if it cannot be read just now, or must
    /// not be looked at yet. A file that is not there, or must not be edited, is an error.
    pub(crate) fn read(&self, path: &str) -> Result<Option<(Arc<str>, bool)>, ToolError> {
        let path = writable(self.services, path)?;
        if !(self.may_look)(&path) {
            return Ok(None);
        }
        match self.services.reader.read(&path) {
            // A file that is refused as soon as the edit is made is not looked at before.
            Ok(file) if !may_quote(self.services, &path, &file.hash) => Ok(None),
            Ok(file) => Ok(Some((file.text, self.services.seen.is_current(&path, &file.hash)))),
            Err(error @ (ReadError::Deleted { .. } | ReadError::File(FileError::NotFound { .. }))) => {
                Err(read_file::in_words(self.services, &path, error, self.call))
            }
            Err(_) => Ok(None),
        }
    }

    /// An error about a file.
    pub(crate) fn failed(&self, path: &str, error: impl Display) -> ToolError {
        let name = self.services.roots.resolve(path).map(|path| self.services.roots.display(&path));
        ToolError::Failed(format!("{}: {error}", name.unwrap_or_else(|_| path.to_owned())))
    }
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

    fn places(&self, input: &PartialInput) -> usize {
        E::places(input)
    }

    async fn foresee(&self, call: Call, input: PartialInput, may_look: Arc<MayLook>) -> Result<(), ToolError> {
        let services = self.services.clone();
        blocking(move || E::foresee(&input, &Texts { services: &services, call: &call, may_look: &*may_look })).await
    }

    async fn run(&self, call: Call, input: E) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let mut draft = Draft::new(&services, &call);
            let text = input.make(&mut draft, &services)?;
            let canonical = draft.slipped().and_then(|changes| input.canonical(&changes));
            Ok(Output { canonical, ..draft.output(text)? })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use code::edit::hashline::Tagged;
    use ports::partial::PartialInput;
    use ports::tool::Call;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use crate::fixture::World;

    /// Returns what is shown of a call when this much of its input has come: each part's file, kind and text.
    fn shown(tool: &str, json: &str) -> Vec<String> {
        let tools = crate::builtin(&World::new(&[]).services());
        let tool = tools.iter().find(|it| it.spec().name == tool).unwrap();
        let mut input = PartialInput::default();
        input.push(json);
        let line = |part: &ports::tool::DiffPart<'_>| format!("{} {:?} {:?}", part.path, part.kind, part.text);
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

    /// Returns what is foreseen of a call when this much of its input has come; none while no place is known.
    async fn foreseen(world: &World, tool: &str, json: &str) -> Option<Result<(), String>> {
        let tools = crate::builtin(&world.services());
        let tool = tools.iter().find(|it| it.spec().name == tool).unwrap();
        let mut input = PartialInput::default();
        input.push(json);
        let call = Call::unjudged("c".into(), CancellationToken::new());
        if tool.places(&input) == 0 {
            return None;
        }
        Some(
            tool.foresee(call, input, Arc::new(|path| !path.ends_with("secret")))
                .await
                .map_err(|error| error.to_string()),
        )
    }

    #[tokio::test]
    async fn an_edit_of_what_is_not_there_is_foreseen_to_fail_in_the_words_of_its_tool() {
        let text = "// Reads the whole configuration file.\nfn read() {\n\topen();\n}\n";
        let world = World::new(&[("a.rs", text), ("twice", "x\nx\n")]);
        let replace =
            |path: &str, old: &str| format!("{{\"path\":{},\"old_text\":{},\"new_te", json!(path), json!(old));
        let tool = "edit_replace_exact";
        for (path, old) in [
            ("a.rs", "fn read() {\n\topen();"),
            ("a.rs", "  fn read() {\n    open();\n"),
            ("twice", "x\n"),
            // With a line that the edit keeps it may be found by likeness.
            ("a.rs", "// Reads the whole configuraton file.\nfn read() {\n\topen();\n}"),
        ] {
            assert_eq!(foreseen(&world, tool, &replace(path, old)).await, Some(Ok(())), "{old}");
        }
        assert_eq!(foreseen(&world, tool, "{\"path\":\"a.rs\",\"old_text\":\"fn wri").await, None, "it may go on");
        assert_eq!(
            foreseen(&world, tool, "{\"old_text\":\"fn write\",\"new_text\":\"\"").await,
            None,
            "of which file?"
        );
        for (path, old) in
            [("a.rs", "fn write() {\n\tclose();"), ("b.rs", "x"), (".git/config", "x"), ("../a", "x"), ("a.rs", "")]
        {
            let told = foreseen(&world, tool, &replace(path, old)).await.unwrap().unwrap_err();
            let input = json!({ "path": path, "old_text": old, "new_text": "new" });
            assert_eq!(world.text(tool, input).await, format!("error: {told}"));
        }

        world.open("secret", "key = 1\n");
        assert_eq!(foreseen(&world, tool, &replace("secret", "key = 2\n")).await, Some(Ok(())), "it is not judged yet");

        let patch = |patch: &str| format!("{{\"patch\":{}", json!(patch).to_string().trim_end_matches('"'));
        let section = "*** Begin Patch\n*** Update File: a.rs\n@@\n-fn write() {\n+fn read() {\n";
        let tool = "edit_apply_patch";
        assert_eq!(foreseen(&world, tool, &patch(section)).await, None, "lines may follow");
        let told = foreseen(&world, tool, &patch(&format!("{section}*** Update File: b"))).await.unwrap().unwrap_err();
        assert!(told.starts_with("a.rs: ") && told.contains("fn write() {"), "{told}");
        let good = section.replace("-fn write", "-fn read").replace("+fn read", "+fn write");
        assert_eq!(foreseen(&world, tool, &patch(&format!("{good}*** End Patch"))).await, Some(Ok(())));
        let moved = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: c.rs\n@@\n-fn read() {\n+fn r() {\n";
        let then = "*** Update File: c.rs\n@@\n-fn r() {\n+fn s() {\n*** End Patch";
        assert_eq!(foreseen(&world, tool, &patch(&format!("{moved}{then}"))).await, Some(Ok(())));

        let tool = "edit_hashline";
        let edits = "{\"path\":\"a.rs\",\"edits\":[{\"after\":\"\",\"line\":\"2#ZZZZ\",\"cont";
        let told = foreseen(&world, tool, edits).await.unwrap().unwrap_err();
        let input = json!({ "path": "a.rs", "edits": [{ "line": "2#ZZZZ", "content": "x" }] });
        assert_eq!(world.text(tool, input).await, format!("error: {told}"));
        let tag = Tagged::new(text).line(2).unwrap().0;
        assert_eq!(foreseen(&world, tool, &edits.replace("2#ZZZZ", &tag.to_string())).await, Some(Ok(())));
    }

    #[tokio::test]
    async fn an_edit_that_slipped_says_how_it_would_have_been_without() {
        let text = "fn a() {\n\tone();\n}\n\nfn b() {\n\tone();\n\ttwo();\n}\n";
        let world = World::new(&[("a.rs", text)]);
        let slipped = json!({ "path": "a.rs", "old_text": "    one();\n    two();", "new_text": "    one();\n    if x {\n        three();\n    }" });
        let output = world.call("edit_replace_exact", slipped).await.unwrap();
        let wanted = output.plan.unwrap();
        let canonical = output.canonical.unwrap();
        assert_eq!(
            canonical,
            json!({ "path": "a.rs", "old_text": "\ttwo();\n", "new_text": "\tif x {\n\t\tthree();\n\t}\n" })
        );
        let again = world.call("edit_replace_exact", canonical).await.unwrap();
        assert_eq!((again.plan.unwrap(), again.canonical), (wanted, None), "it makes the same, and has no slips");

        let slipped = "*** Begin Patch\n*** Update File: a.rs\n@@ fn b\n-    two();\n+    three();\n*** Add File: new\n+new\n*** End Patch";
        let output = world.call("edit_apply_patch", json!({ "patch": slipped })).await.unwrap();
        let (wanted, canonical) = (output.plan.unwrap(), output.canonical.unwrap());
        let patch = canonical["patch"].as_str().unwrap();
        assert!(patch.starts_with("--- a/a.rs\n+++ b/a.rs\n@@ -4,5 +4,5 @@\n"), "{patch}");
        assert!(patch.contains("\n-\ttwo();\n+\tthree();\n") && patch.ends_with("+new\n"), "{patch}");
        crate::fixture::call(&world.services(), "read_file", json!({ "path": "a.rs" })).await.unwrap();
        let again = world.call("edit_apply_patch", canonical).await.unwrap();
        assert_eq!((again.plan.unwrap(), again.canonical), (wanted, None));
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
