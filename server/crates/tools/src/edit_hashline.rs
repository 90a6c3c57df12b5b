//! `edit_hashline`.

use std::path::Path;

use code::edit::hashline::{Edit, EditedLines, Excerpt, Place, Tagged, check_tags, edit_lines};
use ports::edit::TextHash;
use ports::partial::{PartialInput, PartialString};
use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::draft::Draft;
use crate::edits::{OneEdit, Texts};
use crate::{Services, counted};

/// How many lines are shown at most of what was changed, or stands in the way.
const MOST_SHOWN: usize = 60;

/// Changes lines of an existing file. Lines are named by their tags, a number and a short hash such as `12#7KQX`, as
/// read_file and search_text give them. Each edit gives its place with `line`, with `first` and `last`, or with
/// `after`, `before` or both. All edits of a call refer to the file as you read it: ignore what other edits of the call
/// add or remove, and do not let two edits touch the same lines. If a tag no longer fits the file, nothing is changed
/// and you get the lines with their tags as they are now. The result shows the changed lines with their new tags; below
/// them, numbers may have changed. The change is not written: the user reviews it piece by piece, and until then you
/// read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The edits, in any order.
    edits: Vec<LineEdit>,
}

/// One edit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LineEdit {
    /// The tag of one line to replace.
    line: Option<String>,
    /// The tag of the first of several lines to replace.
    first: Option<String>,
    /// The tag of the last of them.
    last: Option<String>,
    /// The tag of a line to insert after. With `before` too, the two must be neighbours.
    after: Option<String>,
    /// The tag of a line to insert before.
    before: Option<String>,
    /// The new lines, with their indentation and without tags. Empty to delete the lines; a line break for a blank one.
    content: String,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_HASHLINE;
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[
        ("line", DiffKind::Place),
        ("first", DiffKind::Place),
        ("last", DiffKind::Place),
        ("after", DiffKind::Place),
        ("before", DiffKind::Place),
        ("content", DiffKind::Added),
    ];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn check(&self) -> Result<(), ToolError> {
        edits(&self.edits).map(drop)
    }

    fn places(input: &PartialInput) -> usize {
        if input.whole(0, "path").is_some() { tags(input).count() } else { 0 }
    }

    fn foresee(input: &PartialInput, texts: &Texts<'_>) -> Result<(), ToolError> {
        let Some(path) = input.whole(0, "path") else { return Ok(()) };
        let Some((text, _)) = texts.read(path)? else { return Ok(()) };
        check_tags(&text, tags(input)).map_err(|error| texts.failed(path, error))
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let (path, text, hash) = draft.text(&self.path)?;
        let name = services.roots.display(&path);
        let edited =
            edit_lines(&text, &edits(&self.edits)?).map_err(|error| ToolError::Failed(format!("{name}: {error}")))?;
        check_seen(services, &path, &text, hash.as_ref(), &edited)?;
        let first = edited.changed.first().map_or(1, |lines| lines.start + 1);
        let places = counted(edited.changed.len(), "place");
        let words = format!("Edit of {name} in {places}, from line {first}.{}", now(&edited));
        draft.set(&path, edited.text);
        Ok(words)
    }
}

/// The tags that have come of an input.
fn tags(input: &PartialInput) -> impl Iterator<Item = &str> {
    let is_tag = |string: &&PartialString| {
        let is_place = Input::SHOWN.iter().any(|(field, kind)| *kind == DiffKind::Place && *field == string.field);
        is_place && string.is_whole && !string.text.trim().is_empty()
    };
    input.strings().iter().filter(is_tag).map(|string| string.text.as_str())
}

/// The edits of an input, each with its one place.
fn edits(edits: &[LineEdit]) -> Result<Vec<Edit>, ToolError> {
    (1..)
        .zip(edits)
        .map(|(number, edit)| Ok(Edit { place: place(number, edit)?, content: edit.content.clone() }))
        .collect()
}

fn place(number: usize, edit: &LineEdit) -> Result<Place<String>, ToolError> {
    // Some models give every field and leave empty what they do not mean.
    let tag = |tag: &Option<String>| tag.clone().filter(|tag| !tag.trim().is_empty());
    match (tag(&edit.line), tag(&edit.first), tag(&edit.last), tag(&edit.after), tag(&edit.before)) {
        (Some(line), None, None, None, None) => Ok(Place::Line(line)),
        (None, Some(first), Some(last), None, None) => Ok(Place::Range { first, last }),
        (None, None, None, Some(after), None) => Ok(Place::After(after)),
        (None, None, None, None, Some(before)) => Ok(Place::Before(before)),
        (None, None, None, Some(after), Some(before)) => Ok(Place::Between { after, before }),
        _ => Err(ToolError::InvalidInput(format!(
            "edit {number} must name its place in one way: by `line`, by `first` and `last`, or by `after`, `before` or \
             both"
        ))),
    }
}

/// Refuses to replace lines that no tag names in a text that the model has not seen: it may be that they are not what
/// it thinks. It is shown them, so that the same call can be made again.
fn check_seen(
    services: &Services,
    path: &Path,
    text: &str,
    hash: Option<&TextHash>,
    edited: &EditedLines,
) -> Result<(), ToolError> {
    // A text that the call itself has made is known to it.
    let is_current = hash.is_none_or(|hash| services.seen.is_current(path, hash));
    if edited.unnamed.is_empty() || is_current {
        return Ok(());
    }
    let name = services.roots.display(path);
    // With the line above and below them, which were named.
    let lines: Vec<usize> = edited.unnamed.iter().flat_map(|lines| lines.start..=lines.end + 1).collect();
    let words = format!(
        "{name}: you have not seen this text of the file, and between first and last stand lines that no tag names. \
         Nothing was changed."
    );
    if lines.len() > MOST_SHOWN {
        return Err(ToolError::Failed(format!("{words} Read them with read_file, then make the call again.")));
    }
    services.seen.note(path, hash.cloned());
    let shown = Excerpt::of(&Tagged::new(text), lines);
    Err(ToolError::Failed(format!("{words} They are:\n{shown}If you mean to replace these, make the same call again.")))
}

/// The lines that were changed with the one above and below, as they would be if the edit were accepted.
fn now(edited: &EditedLines) -> String {
    let lines: Vec<usize> = edited.changed.iter().flat_map(|lines| lines.start..=lines.end + 1).collect();
    let shown = Excerpt::of(&Tagged::new(&edited.text), lines.iter().copied().take(MOST_SHOWN)).to_string();
    let more = if lines.len() > MOST_SHOWN { "\n[the rest can be read with read_file]" } else { "" };
    match shown.trim_end_matches('\n') {
        "" => " The file would be empty.".to_owned(),
        shown => format!(" As it would be:\n{shown}{more}"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use permission::Action;
    use project::files;
    use project::reader::{Overlay, Pending};
    use project::text;
    use serde_json::{Value, json};

    use crate::Services;
    use crate::fixture::{World, call};

    const CODE: &str = "fn a() {\n    x();\n    y();\n    z();\n}\n";

    /// A model that reads a file, and may then name its lines as it saw them.
    struct Model {
        services: Services,
        lines: Vec<String>,
    }

    impl Model {
        async fn reads(services: Services, path: &str) -> Self {
            services.tags.set(true);
            let read = call(&services, "read_file", json!({ "path": path })).await.unwrap().text;
            let lines = read.lines().filter(|line| line.contains('|')).map(ToOwned::to_owned).collect();
            Self { services, lines }
        }

        /// A line as it was shown; from 1.
        fn line(&self, number: usize) -> &str {
            &self.lines[number - 1]
        }

        /// The tag of it alone.
        fn tag(&self, number: usize) -> &str {
            self.line(number).split_once('|').unwrap().0
        }

        /// The planned text, or the words of the error.
        async fn edits(&self, path: &str, edits: Value) -> Result<String, String> {
            let output = call(&self.services, "edit_hashline", json!({ "path": path, "edits": edits })).await;
            let plan = output.map_err(|error| error.to_string())?.plan.unwrap();
            Ok(plan.files[0].new_text.clone().unwrap())
        }
    }

    #[tokio::test]
    async fn lines_that_were_read_are_changed_by_their_tags_and_nothing_is_written() {
        let world = World::new(&[("src/a.rs", CODE)]);
        let model = Model::reads(world.services(), "src/a.rs").await;
        let edits = json!([
            { "line": model.tag(3), "content": "    why();" },
            { "after": model.tag(5), "content": "\nfn b() {}\n" },
        ]);
        let input = json!({ "path": "src/a.rs", "edits": edits });
        let output = call(&model.services, "edit_hashline", input).await.unwrap();
        let plan = &output.plan.unwrap().files[0];
        let expected = "fn a() {\n    x();\n    why();\n    z();\n}\n\nfn b() {}\n";
        assert_eq!(plan.path, world.path("src/a.rs"));
        assert_eq!(plan.read, Some(text::hash(CODE)));
        assert_eq!(plan.new_text.as_deref(), Some(expected));
        assert_eq!(output.locations[0].line, Some(2));
        assert!(world.text("read_file", json!({ "path": "src/a.rs" })).await.contains("y();"), "the file is as it was");

        files::write(&world.path("src/a.rs"), expected, &text::hash(CODE)).unwrap();
        let now = Model::reads(world.services(), "src/a.rs").await;
        let shown: Vec<_> = [2, 3, 4, 5, 6, 7]
            .map(|number| format!("    {}\n", now.line(number)))
            .concat()
            .lines()
            .map(ToOwned::to_owned)
            .collect();
        let head = "Edit of src/a.rs in 2 places, from line 3. As it would be:";
        assert_eq!(output.text, format!("{head}\n{}", shown.join("\n")), "the new tags are those of the next reading");
    }

    #[tokio::test]
    async fn all_ways_to_name_a_place_are_understood() {
        let world = World::new(&[("a", "1\n2\n3\n")]);
        let model = Model::reads(world.services(), "a").await;
        let [one, two, three] = [model.tag(1), model.line(2), model.tag(3)];
        for (edit, expected) in [
            (json!({ "line": one, "content": "x" }), "x\n2\n3\n"),
            (json!({ "first": one, "last": two, "content": "" }), "3\n"),
            (json!({ "after": two, "content": "x\ny" }), "1\n2\nx\ny\n3\n"),
            (json!({ "before": one, "content": "x" }), "x\n1\n2\n3\n"),
            (json!({ "after": two, "before": three, "content": "x" }), "1\n2\nx\n3\n"),
            (json!({ "line": three, "first": "", "after": " ", "content": "x" }), "1\n2\nx\n"),
        ] {
            assert_eq!(model.edits("a", json!([edit])).await.as_deref(), Ok(expected), "{edit}");
        }
        let gone = call(
            &model.services,
            "edit_hashline",
            json!({ "path": "a", "edits": [{ "first": one, "last": three, "content": "" }] }),
        );
        assert_eq!(gone.await.unwrap().text, "Edit of a in 1 place, from line 1. The file would be empty.");
        for place in [
            json!({}),
            json!({ "line": one, "after": two }),
            json!({ "first": one }),
            json!({ "last": two, "before": one }),
        ] {
            let mut edit = place;
            edit["content"] = json!("x");
            let words = model.edits("a", json!([{ "line": one, "content": "x" }, edit])).await.unwrap_err();
            assert!(words.starts_with("invalid input: edit 2 must name its place in one way: by `line`,"), "{words}");
        }
        assert_eq!(model.edits("a", json!([])).await.unwrap_err(), "a: edits is empty; give at least one");
    }

    #[tokio::test]
    async fn a_line_that_the_user_changed_meanwhile_is_not_overwritten_and_the_answer_is_enough_to_try_again() {
        let world = World::new(&[("a.rs", CODE)]);
        let model = Model::reads(world.services(), "a.rs").await;
        world.open("a.rs", &CODE.replace("y()", "users()"));
        let edit = |tag: &str| json!([{ "line": tag, "content": "    why();" }]);
        let words = model.edits("a.rs", edit(model.tag(3))).await.unwrap_err();
        assert!(words.starts_with(&format!("a.rs: {} does not fit the text as it is now", model.tag(3))), "{words}");
        let shown = words.lines().find_map(|line| line.strip_prefix(">>> ")).unwrap();
        assert!(shown.ends_with("|    users();"), "{words}");
        assert_eq!(model.edits("a.rs", edit(shown)).await.unwrap(), CODE.replace("y()", "why()"));
    }

    #[tokio::test]
    async fn what_the_user_typed_above_moves_no_edit_to_another_line() {
        let world = World::new(&[("a.rs", "{\n}\n\n{\n}\n\n{\n}\n")]);
        let model = Model::reads(world.services(), "a.rs").await;
        world.open("a.rs", "// mine\n// too\n// three\n{\n}\n\n{\n}\n\n{\n}\n");
        for number in 1..=8 {
            let edit = json!([{ "line": model.tag(number), "content": "x" }]);
            let words = model.edits("a.rs", edit).await.unwrap_err();
            assert!(words.contains("does not fit the text as it is now"), "line {number}: {words}");
        }
    }

    #[tokio::test]
    async fn a_range_does_not_take_in_what_the_user_typed_inside_it_unseen() {
        let world = World::new(&[("a.rs", CODE)]);
        let model = Model::reads(world.services(), "a.rs").await;
        world.open("a.rs", &CODE.replace("y()", "users()"));
        let edit = json!([{ "first": model.tag(2), "last": model.tag(4), "content": "    all();" }]);
        let words = model.edits("a.rs", edit.clone()).await.unwrap_err();
        assert!(words.contains("between first and last stand lines that no tag names"), "{words}");
        assert!(words.contains("|    users();\n"), "{words}");
        let again = model.edits("a.rs", edit).await;
        assert_eq!(again.as_deref(), Ok("fn a() {\n    all();\n}\n"), "once it has been seen it is meant");
    }

    #[tokio::test]
    async fn a_long_range_that_was_not_seen_must_be_read_first() {
        let lines: String = (1..=200).map(|number| format!("line {number}\n")).collect();
        let world = World::new(&[("a", &lines)]);
        let model = Model::reads(world.services(), "a").await;
        world.open("a", &lines.replace("line 77\n", "users\n"));
        let edit = json!([{ "first": model.tag(1), "last": model.tag(150), "content": "" }]);
        for _ in 0..2 {
            let words = model.edits("a", edit.clone()).await.unwrap_err();
            assert!(words.ends_with("Read them with read_file, then make the call again."), "{words}");
        }
        call(&model.services, "read_file", json!({ "path": "a" })).await.unwrap();
        assert!(model.edits("a", edit).await.unwrap().starts_with("line 151\n"));
    }

    #[tokio::test]
    async fn tags_from_a_search_are_as_good_as_those_from_reading() {
        let world = World::new(&[("src/a.rs", CODE)]);
        let services = world.services();
        services.tags.set(true);
        let found = call(&services, "search_text", json!({ "query": "y()" })).await.unwrap().text;
        let tag = found.strip_prefix("src/a.rs:").unwrap();
        let input = json!({ "path": "src/a.rs", "edits": [{ "line": tag, "content": "    why();" }] });
        let plan = call(&services, "edit_hashline", input).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].new_text.as_deref(), Some(CODE.replace("y()", "why()").as_str()));
    }

    #[tokio::test]
    async fn unsaved_text_with_windows_line_ends_is_what_is_edited() {
        let world = World::new(&[("a", "saved\n")]);
        world.open("a", "unsaved\r\ntext\r\n");
        let model = Model::reads(world.services(), "a").await;
        let input = json!({ "path": "a", "edits": [{ "line": model.tag(2), "content": "x\r\ny" }] });
        let plan = call(&model.services, "edit_hashline", input).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].read, Some(text::hash("unsaved\ntext\n")));
        assert_eq!(plan.files[0].new_text.as_deref(), Some("unsaved\nx\ny\n"));
    }

    #[tokio::test]
    async fn an_edit_goes_on_top_of_pending_ones() {
        struct Proposes;
        impl Overlay for Proposes {
            fn pending(&self, _: &Path) -> Option<Pending> {
                Some(Pending::Text("proposed\n".into()))
            }
            fn paths(&self) -> Vec<PathBuf> {
                Vec::new()
            }
        }
        let world = World::new(&[("a", "saved\n")]);
        let saved = Model::reads(world.services(), "a").await;
        let pending = Model::reads(world.services_with(Proposes), "a").await;
        let edit = |tag: &str| json!([{ "line": tag, "content": "better" }]);
        assert_eq!(pending.edits("a", edit(pending.tag(1))).await.as_deref(), Ok("better\n"));
        assert!(pending.edits("a", edit(saved.tag(1))).await.unwrap_err().contains(">>> 1#"), "that was before");
    }

    #[tokio::test]
    async fn what_cannot_be_edited_says_what_to_do() {
        let world = World::new(&[("src/a.rs", CODE), (".git/config", "x"), ("empty", "")]);
        let edit = |path: &str, tag: &str| {
            let input = json!({ "path": path, "edits": [{ "line": tag, "content": "x" }] });
            let world = &world;
            async move { world.text("edit_hashline", input).await }
        };
        let text = edit("src/a.rs", "2").await;
        assert!(text.starts_with("error: src/a.rs: edit 1: `2` is not the tag of a line."), "{text}");
        let text = edit("a.rs", "1#7KQX").await;
        assert!(text.contains("a.rs does not exist; did you mean src/a.rs?"), "{text}");
        let text = edit("empty", "1#7KQX").await;
        assert!(text.ends_with("It is empty, so it has no line to name; write its text as for a new file."), "{text}");
        let text = edit(".git/config", "1#7KQX").await;
        assert_eq!(text, "error: .git/config must not be changed: it belongs to git itself");
        assert!(edit("../x", "1#7KQX").await.contains("is outside the workspace"));
    }

    #[tokio::test]
    async fn permission_judges_the_file() {
        let world = World::new(&[("a", "x")]);
        let tools = crate::builtin(&world.services());
        let tool = tools.iter().find(|tool| tool.spec().name == "edit_hashline").unwrap();
        let edits = json!([{ "line": "1#7KQX", "content": "y" }]);
        let description = tool.describe(&json!({ "path": "./a", "edits": edits })).await.unwrap();
        assert_eq!(description.action, Action::Edit { paths: vec![world.path("a")] });
        assert_eq!(description.title, "Editing a");
    }
}
