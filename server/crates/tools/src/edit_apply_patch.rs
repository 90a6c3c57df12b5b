//! `edit_apply_patch`.

use std::borrow::Cow;

use code::edit::Pass;
use code::edit::patch::{Hunk, Operation, ParseError, apply, is_marker, parse};
use ports::partial::PartialInput;
use ports::tool::{DiffKind, DiffPart, ToolError};
use ports::tool_names;
use project::review::diff;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::draft::{Change, Draft};
use crate::edits::{OneEdit, Texts};
use crate::{Services, counted};

/// Changes, adds, moves and deletes files with a patch; all of it, or nothing if a part does not fit. Read the lines
/// that you change first. The patch is in this form:
/// ```text
/// *** Begin Patch
/// *** Update File: src/a.py
/// @@ class Shop
/// @@     def price(self):
///          tax = self.tax
/// -        return 1
/// +        return 2
///
/// *** Add File: src/b.py
/// +every line of a new file begins with a plus
///
/// *** Delete File: src/c.py
/// *** End Patch
/// ```
/// After an Update File line, `*** Move to: path` moves the file. Each hunk begins with `@@`. In it a context line
/// begins with a space, a removed line with `-`, an added one with `+`, and the rest is the line as it is in the file.
/// Give about three context lines on either side. If the lines of a hunk occur more than once, name the class and the
/// function it is in with `@@` lines, or give more context lines: line numbers do not say where a hunk goes. End a hunk
/// that reaches the end of the file with `*** End of File`. Paths are relative to the workspace. A unified diff, as
/// `git diff` writes it, is accepted too. The changes are not written: the user reviews them piece by piece, and until
/// then you read the files as if they were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The patch.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    patch: Result<Vec<Operation>, ParseError>,
}

fn parsed<'de, D: Deserializer<'de>>(input: D) -> Result<Result<Vec<Operation>, ParseError>, D::Error> {
    Ok(parse(&Cow::<str>::deserialize(input)?))
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_APPLY_PATCH;
    const VERB: &'static str = "Patching";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("patch", DiffKind::Marked)];

    fn paths(&self) -> Vec<&str> {
        let paths = |operation| match operation {
            &Operation::Update { ref path, move_to: Some(ref to), .. } => vec![path.as_str(), to],
            other => vec![Operation::path(other)],
        };
        self.patch.iter().flatten().flat_map(paths).collect()
    }

    fn check(&self) -> Result<(), ToolError> {
        self.operations().map(drop)
    }

    fn preview(input: &PartialInput) -> Vec<DiffPart<'_>> {
        let patch = input.strings().iter().find(|string| string.field == "patch");
        patch.map(|patch| sections(&patch.text)).unwrap_or_default()
    }

    fn places(input: &PartialInput) -> usize {
        let Some(patch) = sections_done(input) else { return 0 };
        let mut markers = Markers::default();
        let lines = patch.split_inclusive('\n');
        // The first one is the patch's beginning.
        lines.filter(|line| matches!(markers.take(line), Line::Marker(_))).count().saturating_sub(1)
    }

    fn foresee(input: &PartialInput, texts: &Texts<'_>) -> Result<(), ToolError> {
        // A patch that cannot be read so far may be readable by its end.
        let Some(Ok(operations)) = sections_done(input).map(parse) else { return Ok(()) };
        let mut made: Vec<&str> = Vec::new();
        for operation in &operations {
            let Operation::Update { path, move_to, hunks } = operation else { continue };
            // A file that the patch itself makes is another by then.
            if !made.contains(&path.as_str())
                && let Some((text, seen)) = texts.read(path)?
                && let Err(error) = apply(&text, hunks, seen)
                && error.is_certain()
            {
                return Err(texts.failed(path, error));
            }
            made.extend(move_to.as_deref());
        }
        Ok(())
    }

    fn canonical(&self, changes: &[Change<'_>]) -> Option<Value> {
        let patches = changes.iter().map(|Change { name, before, after }| {
            let patch = diff(*before, *after, name);
            let operations = parse(&patch).ok()?;
            let [operation] = operations.as_slice() else { return None };
            let is_same = match operation {
                Operation::Update { hunks, .. } => {
                    let edited = apply((*before)?, hunks, true).ok()?;
                    edited.pass == Pass::Exact && Some(edited.text.as_str()) == *after
                }
                Operation::Add { text, .. } => Some(text.as_str()) == *after,
                Operation::Delete { .. } => after.is_none(),
            };
            is_same.then_some(patch)
        });
        let patch: String = patches.collect::<Option<_>>()?;
        Some(json!({ "patch": patch }))
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for operation in self.operations()? {
            match one(operation, draft, services) {
                Ok(words) => done.push(words),
                Err(ToolError::Failed(words)) => failed.push(words),
                Err(other) => return Err(other),
            }
        }
        // All that does not fit is told at once, so that the next patch can fit.
        if failed.is_empty() { Ok(done.join("\n")) } else { Err(ToolError::Failed(failed.join("\n\n"))) }
    }
}

impl Input {
    fn operations(&self) -> Result<&[Operation], ToolError> {
        match &self.patch {
            Ok(operations) => Ok(operations),
            Err(error) => Err(ToolError::InvalidInput(error.to_string())),
        }
    }
}

/// The files of a patch in the envelope that have come whole: what follows says that they are.
fn sections_done(input: &PartialInput) -> Option<&str> {
    let patch = input.strings().iter().find(|string| string.field == "patch")?;
    if !patch.text.trim_start_matches(BLANKS).starts_with("*** ") {
        return None;
    }
    // A move and the end of a file belong to the file before them.
    let ends = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** End Patch"];
    let (mut markers, mut at, mut end) = (Markers::default(), 0, 0);
    for line in patch.text.split_inclusive('\n') {
        if let Line::Marker(marker) = markers.take(line) {
            end = if ends.iter().any(|mark| marker.starts_with(mark)) { at } else { end };
        }
        at += line.len();
    }
    patch.text.get(..end).filter(|done| !done.is_empty())
}

/// The lines of a patch that has come so far, with the file of each. A last line that may yet turn out to name a file
/// is held back.
fn sections(patch: &str) -> Vec<DiffPart<'_>> {
    let is_unified = !patch.trim_start().starts_with("***");
    let may_be = |line: &str, mark: &str| line.starts_with(mark) || (!line.ends_with('\n') && mark.starts_with(line));
    let mut parts: Vec<DiffPart<'_>> = Vec::new();
    let (mut path, mut old_name) = (None, None);
    let (mut at, mut shown) = (0, 0..0);
    let mut markers = Markers::default();
    let mut lines = patch.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        if is_unified && may_be(line, "--- ") && lines.peek().is_none_or(|next| may_be(next, "+++ ")) {
            old_name = Some(name_in(line));
            continue;
        }
        if let Some(old) = old_name.take().filter(|_| may_be(line, "+++ ")) {
            let new = name_in(line);
            path = line.ends_with('\n').then_some(if new == "/dev/null" { old } else { new });
            continue;
        }
        match markers.take(line) {
            Line::Marker(marker) => {
                let named = marker.split_once(" File: ").filter(|_| line.ends_with('\n'));
                path = named.map(|(_, name)| name.trim()).or(path);
                continue;
            }
            Line::Open => continue,
            Line::End if patch.get(at..).is_none_or(|rest| rest.trim().is_empty()) => continue,
            Line::End | Line::Other => {}
        }
        let Some(path) = path.filter(|_| line.starts_with([' ', '+', '-', '@', '\n', '\r'])) else { continue };
        match parts.last_mut().filter(|part| shown.end == start && part.path == path) {
            Some(part) => {
                shown.end = at;
                part.text = patch.get(shown.clone()).unwrap_or_default();
            }
            None => {
                shown = start..at;
                parts.push(DiffPart { path, kind: DiffKind::Marked, text: line });
            }
        }
    }
    parts
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Tells the markers of a patch that still comes from its other lines, one line after the other, as the parser does.
#[derive(Default)]
struct Markers<'p> {
    /// The blanks before the last marker.
    blanks: &'p str,
    /// True if the lines after it may be a hunk's, which can have any lines.
    in_hunk: bool,
}

enum Line<'p> {
    /// It is a marker: what it says, without the blanks before it.
    Marker(&'p str),
    /// It has not come whole, and may become one.
    Open,
    /// It is the patch's end if nothing follows.
    End,
    Other,
}

impl<'p> Markers<'p> {
    fn take(&mut self, line: &'p str) -> Line<'p> {
        let rest = line.trim_start_matches(BLANKS);
        let blanks = line.get(..line.len() - rest.len()).unwrap_or_default();
        if !line.ends_with('\n') && !blanks.is_empty() && (rest.is_empty() || rest.starts_with('*')) {
            return Line::Open;
        }
        let is_free = !self.in_hunk || blanks == self.blanks;
        let is_known = || rest.strip_prefix("***").is_some_and(is_marker);
        if rest.starts_with('*') && (blanks.is_empty() || (is_free && is_known())) {
            self.blanks = blanks;
            let has_hunks = ["*** Update File", "*** Move to", "*** End of File"];
            self.in_hunk = has_hunks.iter().any(|marker| rest.starts_with(marker));
            return Line::Marker(rest);
        }
        if rest.trim_end() == "*** End Patch" { Line::End } else { Line::Other }
    }
}

/// The name in a unified diff's line, without the side, and without the time that some write behind it.
fn name_in(line: &str) -> &str {
    let name = line.get(4..).and_then(|name| name.split('\t').next()).unwrap_or_default().trim_end();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Makes what a patch does to one file.
fn one(operation: &Operation, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
    match operation {
        Operation::Add { path, text } => {
            if draft.text(path).is_ok_and(|(_, text, _)| !text.is_empty()) {
                let words = format!("{path} exists already. Change it with `*** Update File: {path}`.");
                return Err(ToolError::Failed(words));
            }
            let (path, _) = draft.create(path, text, false)?;
            let lines = counted(text.lines().count(), "line");
            Ok(format!("New file {} ({lines}).", services.roots.display(&path)))
        }
        Operation::Delete { path, text } => {
            if let Some(text) = text {
                let (_, now, _) = draft.text(path)?;
                if !text.lines().map(str::trim_end).eq(now.lines().map(str::trim_end)) {
                    let words = format!(
                        "{path} does not have the text that the patch deletes. Nothing was changed. Read it, and if it is \
                         to go write `*** Delete File: {path}`."
                    );
                    return Err(ToolError::Failed(words));
                }
            }
            Ok(format!("Deletion of {}.", services.roots.display(&draft.delete(path)?)))
        }
        Operation::Update { path, move_to, hunks } => {
            let mut words = Vec::new();
            if move_to.is_none() || hunks.iter().any(Hunk::is_change) {
                let what = format!("in {}", counted(hunks.len(), "hunk"));
                words.push(draft.edit(path, &what, |text, seen| apply(text, hunks, seen))?);
            }
            if let Some(to) = move_to {
                let (from, to) = draft.rename(path, to)?;
                words.push(format!("Move of {} to {}.", services.roots.display(&from), services.roots.display(&to)));
            }
            Ok(words.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use permission::Action;
    use project::text;
    use serde_json::json;

    use super::{Input, OneEdit, PartialInput};
    use crate::fixture::{World, call};

    /// Returns what is shown of a patch when only so much of it has come.
    fn shown(patch: &str, bytes: usize) -> Vec<(String, String)> {
        let mut input = PartialInput::default();
        let json = json!({ "patch": patch.get(..bytes).unwrap() }).to_string();
        input.push(json.strip_suffix("\"}").unwrap());
        Input::preview(&input).iter().map(|part| (part.path.to_owned(), part.text.to_owned())).collect()
    }

    #[test]
    fn a_patch_that_still_comes_is_shown_with_the_file_of_each_line_and_only_ever_grows() {
        let unified = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n--- two\n+TWO\n\
                       --- /dev/null\n+++ b/y\t2026\n@@ -0,0 +1 @@\n+++ new\n";
        let envelope = "*** Begin Patch\n*** Update File: x\n*** Move to: z\n@@ one\n one\n--- two\n+TWO\n*** Add File: y\n\
                        +++ new\n*** End Patch";
        let indented = envelope.replace("***", " ***");
        let its_end = envelope.replace("*** End", " *** End");
        let its_files = envelope.replace("*** Update", "  *** Update").replace("*** Move", "  *** Move");
        let its_files = its_files.replace("*** Add", "  *** Add");
        let of_envelope = "@@ one\n one\n--- two\n+TWO\n";
        let all = [unified, envelope, &indented, &its_end, &its_files];
        for patch in all {
            let x = if patch == unified { "@@ -1,2 +1,2 @@\n one\n--- two\n+TWO\n" } else { of_envelope };
            let whole = shown(patch, patch.len());
            assert_eq!(whole[0], ("x".to_owned(), x.to_owned()));
            assert_eq!(whole[1].0, "y");
            assert!(whole[1].1.ends_with("+++ new\n"), "{whole:?}");
            for bytes in 0..patch.len() {
                let so_far = shown(patch, bytes);
                assert!(so_far.len() <= whole.len(), "{bytes}: {so_far:?}");
                for (at, (one, other)) in so_far.iter().zip(&whole).enumerate() {
                    let grows = at + 1 == so_far.len() && other.1.starts_with(&one.1);
                    assert!(one.0 == other.0 && (grows || one.1 == other.1), "{bytes}: {one:?}");
                }
            }
        }
    }

    #[test]
    fn what_stays_in_a_hunk_is_shown_also_where_it_looks_like_a_marker() {
        let patch =
            "*** Begin Patch\n*** Update File: x\n@@\n *** Update File: y\n-a\n *** End Patch\n+b\n*** End Patch\n";
        let all = shown(patch, patch.len());
        let hunk = "@@\n *** Update File: y\n-a\n *** End Patch\n+b\n";
        assert_eq!(all, [("x".to_owned(), hunk.to_owned())]);
    }

    #[test]
    fn the_files_of_a_patch_that_have_come_whole_are_known_by_markers_with_blanks_too() {
        let done = |patch: &str| {
            let mut input = PartialInput::default();
            input.push(json!({ "patch": patch }).to_string().strip_suffix("\"}").unwrap());
            (super::sections_done(&input).map(str::to_owned), Input::places(&input))
        };
        let first = "*** Begin Patch\n*** Update File: x\n@@\n-one\n+two\n";
        for indent in ["", " ", "\t"] {
            let (first, rest) = (first.replace("***", &format!("{indent}***")), format!("{indent}*** Update File: y"));
            assert_eq!(done(&first).1, 0, "{indent:?}");
            assert_eq!(done(&(first.clone() + &rest + "\n")), (Some(first.clone()), 1), "{indent:?}");
        }
        // Of an envelope whose files alone have blanks before them.
        let first = "*** Begin Patch\n  *** Update File: x\n@@\n-one\n+two\n";
        assert_eq!(done(&format!("{first}  *** Delete File: y\n")), (Some(first.to_owned()), 1));
        // A line that stays in a hunk ends no file.
        let first = "*** Begin Patch\n*** Update File: x\n@@\n-one\n";
        assert_eq!(done(&format!("{first} *** Update File: y\n")).1, 0);
    }

    const PATCH: &str = "*** Begin Patch
*** Update File: src/a.rs
@@ fn second
-    one();
+    two();
*** Add File: new/b.rs
+new
*** Update File: old.rs
*** Move to: moved/new.rs
 keep
-drop
*** Delete File: gone.rs
*** End Patch
";

    fn world() -> World {
        World::new(&[
            ("src/a.rs", "fn first() {\n    one();\n}\nfn second() {\n    one();\n}\n"),
            ("old.rs", "keep\ndrop\n"),
            ("gone.rs", "gone\n"),
        ])
    }

    #[tokio::test]
    async fn a_patch_over_several_files_is_one_plan() {
        let world = world();
        let output = world.call("edit_apply_patch", json!({ "patch": PATCH })).await.unwrap();
        assert_eq!(
            output.text,
            "Edit of src/a.rs in 1 hunk, from line 5.\nNew file new/b.rs (1 line).\nEdit of old.rs in 1 hunk, from line \
             2.\nMove of old.rs to moved/new.rs.\nDeletion of gone.rs."
        );
        let plan = output.plan.unwrap();
        let at = |name| world.path(name);
        let files: Vec<_> =
            plan.files.iter().map(|f| (f.path.clone(), f.new_text.as_deref(), f.moved_to.clone())).collect();
        let edited = "fn first() {\n    one();\n}\nfn second() {\n    two();\n}\n";
        assert_eq!(
            files,
            [
                (at("src/a.rs"), Some(edited), None),
                (at("new/b.rs"), Some("new\n"), None),
                (at("moved/new.rs"), Some("keep\n"), None),
                (at("gone.rs"), None, None),
                (at("old.rs"), None, Some(at("moved/new.rs"))),
            ]
        );
        assert_eq!(plan.files[4].read, Some(text::hash("keep\ndrop\n")));
        assert!(!world.path("new").exists(), "nothing is written");
    }

    #[tokio::test]
    async fn all_that_does_not_fit_is_told_and_nothing_is_planned() {
        let world = world();
        let patch = PATCH.replace("one();", "three();").replace("-drop", "-other").replace("new/b.rs", "gone.rs/x");
        let text = world.text("edit_apply_patch", json!({ "patch": patch })).await;
        assert!(text.starts_with("error: src/a.rs: 1 hunk does not apply. Nothing was changed.\n"), "{text}");
        assert!(
            text.contains("\n\ngone.rs/x cannot be created: gone.rs is a file, not a folder\n\nold.rs: 1 hunk"),
            "{text}"
        );
        let nothing = json!({ "patch": "*** Update File: old.rs\n-drop\n+drop\n" });
        let text = world.text("edit_apply_patch", nothing).await;
        assert_eq!(text, "error: old.rs: the patch changes nothing: the file has that text already");
    }

    #[tokio::test]
    async fn a_diff_of_git_is_taken_too_and_deletes_only_the_text_it_shows() {
        let world = world();
        let deleted = |line: &str| {
            json!({ "patch": format!(
                "diff --git a/gone.rs b/gone.rs\ndeleted file mode 100644\n--- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 \
                 @@\n-{line}\n"
            ) })
        };
        assert_eq!(world.text("edit_apply_patch", deleted("gone")).await, "Deletion of gone.rs.");
        let text = world.text("edit_apply_patch", deleted("other")).await;
        assert!(text.starts_with("error: gone.rs does not have the text that the patch deletes."), "{text}");
        let moved = "diff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n";
        assert_eq!(world.text("edit_apply_patch", json!({ "patch": moved })).await, "Move of old.rs to new.rs.");
    }

    #[tokio::test]
    async fn a_file_that_exists_is_not_added_and_one_that_does_not_is_not_changed() {
        let world = world();
        let patch = |patch: &str| json!({ "patch": patch });
        let text = world.text("edit_apply_patch", patch("*** Add File: old.rs\n+x\n")).await;
        assert_eq!(text, "error: old.rs exists already. Change it with `*** Update File: old.rs`.");
        let text = world.text("edit_apply_patch", patch("*** Update File: a.rs\n-x\n")).await;
        assert!(text.contains("a.rs does not exist; did you mean src/a.rs?"), "{text}");
        let text = world.text("edit_apply_patch", patch("*** Update File: old.rs\n*** Move to: gone.rs\n")).await;
        assert!(text.starts_with("error: gone.rs exists already"), "{text}");
        let text = world.text("edit_apply_patch", patch("*** Update File: ../x\n-x\n")).await;
        assert!(text.contains("is outside the workspace"), "{text}");
    }

    #[tokio::test]
    async fn one_file_by_two_paths_is_edited_one_after_the_other() {
        let world = world();
        let patch = "*** Update File: old.rs\n-drop\n+two\n*** Update File: ./old.rs\n-two\n+three\n";
        let plan = world.call("edit_apply_patch", json!({ "patch": patch })).await.unwrap().plan.unwrap();
        let [file] = plan.files.as_slice() else { panic!("{plan:?}") };
        assert_eq!(file.new_text.as_deref(), Some("keep\nthree\n"));
    }

    #[tokio::test]
    async fn unsaved_text_is_patched_and_keeps_what_the_patch_does_not_change() {
        let world = world();
        world.open("old.rs", "keep\r\n\tdrop(1);  \r\n");
        let patch = "*** Update File: old.rs\n keep\n-    drop(1);\n+    drop(2);\n";
        let output = world.call("edit_apply_patch", json!({ "patch": patch })).await.unwrap();
        assert_eq!(output.plan.unwrap().files[0].new_text.as_deref(), Some("keep\n\tdrop(2);  \n"));
        assert!(output.text.contains("Your text differed from the file's in indentation"), "{}", output.text);
    }

    #[tokio::test]
    async fn numbers_tell_only_in_a_text_that_was_read() {
        let world = World::new(&[("a", "top\nx\nx\nx\nend\n")]);
        let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-top\n+TOP\n@@ -3 +3 @@\n-x\n+y\n@@ -5 +5 @@\n-end\n+END\n";
        let services = world.services();
        let patch = json!({ "patch": patch });
        let error = call(&services, "edit_apply_patch", patch.clone()).await.unwrap_err().to_string();
        assert!(error.contains("it fits in 3 places"), "{error}");
        call(&services, "read_file", json!({ "path": "a" })).await.unwrap();
        let plan = call(&services, "edit_apply_patch", patch).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].new_text.as_deref(), Some("TOP\nx\ny\nx\nEND\n"));
    }

    #[test]
    fn the_model_is_shown_a_patch_line_by_line() {
        let tools = crate::builtin(&world().services());
        let tool = tools.iter().find(|tool| tool.spec().name == "edit_apply_patch").unwrap();
        let description = &tool.spec().description;
        let (_, rest) = description.split_once("*** Begin Patch\n").unwrap();
        let (example, _) = rest.split_once("*** End Patch\n").unwrap();
        let operations = code::edit::patch::parse(example).unwrap();
        assert_eq!(operations.len(), 3, "{description}");
    }

    #[tokio::test]
    async fn permission_judges_every_file_and_a_patch_that_cannot_be_read_is_no_question() {
        let world = world();
        let tools = crate::builtin(&world.services());
        let tool = tools.iter().find(|tool| tool.spec().name == "edit_apply_patch").unwrap();
        let description = tool.describe(&json!({ "patch": PATCH })).await.unwrap();
        let paths = ["src/a.rs", "new/b.rs", "old.rs", "moved/new.rs", "gone.rs"].map(|name| world.path(name));
        assert_eq!(description.action, Action::Edit { paths: paths.to_vec() });
        assert_eq!(description.title, "Patching src/a.rs and 4 other files");
        let error = tool.describe(&json!({ "patch": "*** Update File: a\n~x\n" })).await.unwrap_err().to_string();
        assert!(error.starts_with("invalid input: line 2 of the patch: `~x` begins with none of"), "{error}");
    }
}
