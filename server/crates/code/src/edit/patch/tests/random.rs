//! Random texts, edits and typing: a patch gives exactly what was meant, or is refused.

use proptest::prelude::*;
use similar::{Algorithm, DiffTag};

use super::*;

/// A text with final line break: from few different lines, so that they repeat, or from many.
fn text() -> impl Strategy<Value = Vec<String>> {
    let few =
        prop::collection::vec(prop::sample::select(vec!["a", "b", "", "  c", "}"]).prop_map(str::to_owned), 0..25);
    let two = prop::collection::vec(prop::sample::select(vec!["a", "b"]).prop_map(str::to_owned), 0..60);
    let many = prop::collection::vec("( {0,2}[a-z]{1,3}){1,3}|", 0..25);
    prop_oneof![few, many, two]
}

/// Replacements of lines: where (as a part of the text), how many, by what.
fn changes(most: usize) -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<String>)>> {
    let lines =
        prop::collection::vec(prop::sample::select(vec!["a", "b", "", "new", "  d"]).prop_map(str::to_owned), 0..3);
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, lines), 0..=most)
}

fn changed(lines: &[String], changes: &[(prop::sample::Index, usize, Vec<String>)]) -> Vec<String> {
    let mut lines = lines.to_vec();
    for (at, gone, new) in changes {
        let at = at.index(lines.len() + 1);
        let end = (at + gone).min(lines.len());
        lines.splice(at..end, new.iter().cloned());
    }
    lines
}

fn joined(lines: &[String], newline: bool) -> String {
    let mut text = lines.join("\n");
    if newline && !lines.is_empty() {
        text.push('\n');
    }
    text
}

fn unified(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header("a/f", "b/f").to_string()
}

/// The same diff in the envelope: what stays around the changes, and no numbers.
fn envelope(old: &str, new: &str) -> String {
    let body: String = unified(old, new)
        .lines()
        .skip(2)
        .filter(|line| !line.starts_with('\\'))
        .flat_map(|line| [if line.starts_with("@@") { "@@" } else { line }, "\n"])
        .collect();
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

/// Returns the text that a patch makes of a text, none if it is refused; `seen` if it was written for that text.
fn applied(text: &str, patch: &str, seen: bool) -> Option<String> {
    let operations = parse(patch).expect(patch);
    apply(text, hunks_of(&operations), seen).ok().map(|edited| edited.text)
}

fn hunks_of(operations: &[Operation]) -> &[Hunk] {
    match operations {
        [Operation::Update { hunks, .. }] => hunks,
        other => panic!("{other:?}"),
    }
}

/// A file of functions, each line of which is another but for brackets and empty lines.
fn code() -> impl Strategy<Value = Vec<String>> {
    let statement = prop::sample::select(vec!["let", "call(\"x\");", "if y {", "}", ""]);
    prop::collection::vec((statement, 0..3_usize), 4..40).prop_map(|lines| {
        let line = |(number, (text, depth)): (usize, (&str, usize))| match text {
            "" => String::new(),
            "}" => format!("{}}}", "    ".repeat(depth)),
            text => format!("{}{text} // {number}", "    ".repeat(depth)),
        };
        lines.into_iter().enumerate().map(line).collect()
    })
}

/// A slip that models make in a patch.
#[derive(Clone, Copy, Debug)]
enum Slip {
    /// All lines are indented by a level less, as far as they can.
    Dedented,
    /// Tabs for the spaces of a level.
    Tabs,
    /// No lines that stay have their mark.
    NoMarks,
    /// Some lines that stay do not have their mark.
    FewMarks,
    TrailingSpace,
    CurlyQuotes,
    InnerSpace,
    /// Empty lines that stay are really empty.
    NoSpaceOnEmpty,
    Crlf,
    WrongNumbers,
}

impl Slip {
    const ALL: [Self; 10] = [
        Self::Dedented,
        Self::Tabs,
        Self::NoMarks,
        Self::FewMarks,
        Self::TrailingSpace,
        Self::CurlyQuotes,
        Self::InnerSpace,
        Self::NoSpaceOnEmpty,
        Self::Crlf,
        Self::WrongNumbers,
    ];

    fn in_patch(self, patch: &str) -> String {
        let level = patch.lines().filter(|line| line.starts_with([' ', '-', '+']) && line.len() > 1);
        let can_dedent = level.skip(2).all(|line| line[1..].starts_with("    "));
        let line = |(at, line): (usize, &str)| {
            let is_body = at > 1 && line.starts_with([' ', '-', '+']);
            let (mark, text) = if is_body { line.split_at(1) } else { ("", line) };
            let stays = mark == " ";
            match self {
                Self::Dedented if is_body && can_dedent => format!("{mark}{}", text.get(4..).unwrap_or_default()),
                Self::Tabs if is_body => format!("{mark}{}", text.replace("    ", "\t")),
                Self::NoMarks if stays => text.to_owned(),
                Self::FewMarks if stays && at % 3 == 0 => text.to_owned(),
                Self::TrailingSpace if stays => format!("{line}  "),
                Self::CurlyQuotes if is_body => line.replace("(\"", "(\u{201C}").replace("\")", "\u{201D})"),
                Self::InnerSpace if is_body && mark != "+" => line.replace(" // ", "  // "),
                Self::NoSpaceOnEmpty if line == " " => String::new(),
                Self::Crlf => format!("{line}\r"),
                Self::WrongNumbers if line.starts_with("@@") => "@@ -99,1 +1,99 @@".to_owned(),
                _ => line.to_owned(),
            }
        };
        patch.lines().enumerate().map(line).flat_map(|line| [line, "\n".to_owned()]).collect()
    }
}

/// Typing in the old text, and the same in the new one. What would be beside lines that the hunks of a diff look at is
/// left out, so that diff and typing can come in either order.
fn typed_into(
    old: &[String],
    new: &[String],
    typed: &[(prop::sample::Index, usize, Vec<String>)],
) -> (Vec<String>, Vec<String>) {
    let ops = similar::capture_diff_slices(Algorithm::Myers, old, new);
    let mut taken = vec![false; old.len() + 1];
    for (tag, old, _) in ops.iter().map(|op| op.as_tag_tuple()) {
        if tag != DiffTag::Equal {
            let end = (old.end + 4).min(taken.len());
            taken[old.start.saturating_sub(3)..end].fill(true);
        }
    }
    let mut places = Vec::new();
    for (at, gone, lines) in typed {
        let at = at.index(old.len() + 1);
        let end = (at + gone).min(old.len());
        let in_new = ops.iter().find_map(|op| {
            let (tag, old, new) = op.as_tag_tuple();
            (tag == DiffTag::Equal && old.start <= at && end <= old.end).then(|| new.start + at - old.start)
        });
        if let Some(in_new) = in_new.filter(|_| !taken[at..=end].contains(&true)) {
            taken[at..=end].fill(true);
            places.push((at, in_new, end - at, lines));
        }
    }
    places.sort_by_key(|place| std::cmp::Reverse(place.0));
    let (mut now, mut wanted) = (old.to_vec(), new.to_vec());
    for (at, in_new, gone, lines) in places {
        now.splice(at..at + gone, lines.iter().cloned());
        wanted.splice(in_new..in_new + gone, lines.iter().cloned());
    }
    (now, wanted)
}

fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig { cases: given.cases.max(1500), max_global_rejects: 1_000_000, ..given }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_diff_gives_exactly_the_text_it_was_made_for(old in text(), edits in changes(4), ends in any::<(bool, bool)>()) {
        let (before, after) = (joined(&old, ends.0), joined(&changed(&old, &edits), ends.1));
        prop_assume!(before != after);
        if let Some(got) = applied(&before, &unified(&before, &after), true) {
            prop_assert_eq!(got, after);
        }
        let (before, after) = (joined(&old, ends.0), joined(&changed(&old, &edits), ends.0));
        prop_assume!(before != after);
        if let Some(got) = applied(&before, &envelope(&before, &after), true) {
            // An envelope has no word for the end of a text without line break.
            let lines = after.strip_suffix('\n').unwrap_or(&after);
            let newline = (before.is_empty() || before.ends_with('\n')) && !after.is_empty();
            prop_assert_eq!(got, if newline { format!("{lines}\n") } else { after.trim_end_matches('\n').to_owned() });
        }
    }

    #[test]
    fn a_diff_of_lines_that_all_differ_always_applies(count in 1..40_usize, edits in changes(4), newline in any::<bool>()) {
        let old: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
        let (before, after) = (joined(&old, newline), joined(&changed(&old, &edits), newline));
        prop_assume!(before != after && !after.is_empty());
        prop_assert_eq!(applied(&before, &unified(&before, &after), true), Some(after.clone()));
        let pure = edits.iter().any(|(_, gone, _)| *gone == count);
        prop_assume!(newline && !pure);
        prop_assert_eq!(applied(&before, &envelope(&before, &after), true), Some(after));
    }

    #[test]
    fn typing_elsewhere_is_kept(old in text(), edits in changes(3), typed in changes(3)) {
        let new = changed(&old, &edits);
        let (before, after) = (joined(&old, true), joined(&new, true));
        prop_assume!(before != after);
        let (now, wanted) = typed_into(&old, &new, &typed);
        let (now, wanted) = (joined(&now, true), joined(&wanted, true));
        for patch in [unified(&before, &after), envelope(&before, &after)] {
            if let Some(got) = applied(&now, &patch, false) {
                prop_assert_eq!(&got, &wanted, "{}", patch);
            }
        }
    }

    #[test]
    fn slips_change_nothing_or_are_refused(
        old in code(),
        edits in changes(3),
        slip in prop::sample::select(Slip::ALL.to_vec()),
    ) {
        let (before, after) = (joined(&old, true), joined(&changed(&old, &edits), true));
        prop_assume!(before != after);
        let patch = slip.in_patch(&unified(&before, &after));
        let slipped = parse(&patch).ok().and_then(|it| apply(&before, hunks_of(&it), false).ok());
        match slipped {
            Some(got) => prop_assert_eq!(got.text, after, "{}", patch),
            None => {
                let certain = matches!(slip, Slip::Crlf | Slip::NoSpaceOnEmpty | Slip::WrongNumbers);
                let plain = applied(&before, &unified(&before, &after), false);
                prop_assert!(!certain || plain.is_none(), "{}", patch);
            }
        }
    }

    #[test]
    fn any_string_is_a_patch_or_an_error(words in prop::collection::vec(prop::sample::select(vec![
        "*** Begin Patch", "*** End Patch", "*** Update File: a", "*** Add File: b", "*** Delete File: c", "*** Move to: d",
        "*** End of File", "@@", "@@ x", "@@ -1,2 +3,4 @@ y", "@@ line 3", "--- a/x", "+++ b/x", "--- /dev/null",
        "+++ /dev/null", "diff --git a/x b/x", "rename from x", "rename to y", "new file mode 100644", "deleted file mode 1",
        "\\ No newline", "```", " a", "-a", "+a", "+b", "-", "+", " ", "", "a", "Index: q", "=====", "\r", "é", "-- ", "2.3",
        "\"a\\303", "@@ -99999999999999999999 +1 @@",
    ]), 0..25), text in "[ab\n]{0,9}") {
        let _ = parse(&words.concat());
        if let Ok(operations) = parse(&words.join("\n")) {
            for operation in operations {
                let Operation::Update { hunks, .. } = operation else { continue };
                match apply(&text, &hunks, true) {
                    Ok(edited) => prop_assert_ne!(edited.text, text.clone()),
                    Err(error) => prop_assert!(!error.to_string().is_empty()),
                }
            }
        }
    }

    #[test]
    fn any_characters_are_a_patch_or_an_error(patch in ".{0,80}") {
        let _ = parse(&patch);
        let _ = parse(&format!("*** Update File: a\n{patch}"));
    }
}
