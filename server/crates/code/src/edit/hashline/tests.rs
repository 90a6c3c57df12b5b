use proptest::prelude::*;

use super::*;

const TEXT: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n}\n\nfn other() {\n    let a = 1;\n}\n";

/// The tag of a line, as it is shown.
fn tag(text: &str, line: usize) -> String {
    Tagged::new(text).line(line).unwrap().0.to_string()
}

fn line(text: &str, line: usize, content: &str) -> Edit {
    Edit { place: Place::Line(tag(text, line)), content: content.to_owned() }
}

fn range(text: &str, first: usize, last: usize, content: &str) -> Edit {
    Edit { place: Place::Range { first: tag(text, first), last: tag(text, last) }, content: content.to_owned() }
}

fn after(text: &str, line: usize, content: &str) -> Edit {
    Edit { place: Place::After(tag(text, line)), content: content.to_owned() }
}

fn before(text: &str, line: usize, content: &str) -> Edit {
    Edit { place: Place::Before(tag(text, line)), content: content.to_owned() }
}

fn between(text: &str, upper: usize, lower: usize, content: &str) -> Edit {
    Edit { place: Place::Between { after: tag(text, upper), before: tag(text, lower) }, content: content.to_owned() }
}

fn edited(text: &str, edits: &[Edit]) -> String {
    edit_lines(text, edits).unwrap().text
}

/// Where ranges begin and end.
fn ends(ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    ranges.iter().map(|range| (range.start, range.end)).collect()
}

fn words(text: &str, edits: &[Edit]) -> String {
    edit_lines(text, edits).unwrap_err().to_string()
}

#[test]
fn a_line_is_set_by_its_tag() {
    let new = edited(TEXT, &[line(TEXT, 7, "    let a = 9;")]);
    assert_eq!(new, TEXT.replace("{\n    let a = 1;\n}", "{\n    let a = 9;\n}"));
}

#[test]
fn a_range_is_replaced_from_its_first_line_to_its_last() {
    let result = edit_lines(TEXT, &[range(TEXT, 1, 4, "fn main() {}\n")]).unwrap();
    assert_eq!(result.text, "fn main() {}\n\nfn other() {\n    let a = 1;\n}\n");
    assert_eq!((ends(&result.changed), ends(&result.unnamed)), (vec![(0, 1)], vec![(1, 3)]));
    assert_eq!(edited("a\nb\n", &[range("a\nb\n", 2, 2, "c")]), "a\nc\n");
}

#[test]
fn lines_go_in_after_before_and_between() {
    let text = "a\nb\nc\n";
    assert_eq!(edited(text, &[after(text, 3, "d\ne")]), "a\nb\nc\nd\ne\n");
    assert_eq!(edited(text, &[before(text, 1, "0\n")]), "0\na\nb\nc\n");
    assert_eq!(edited(text, &[between(text, 1, 2, "x\r\ny\r\n")]), "a\nx\ny\nb\nc\n");
}

#[test]
fn empty_content_deletes_and_a_line_break_is_a_blank_line() {
    let text = "a\nb\nc\n";
    assert_eq!(edited(text, &[line(text, 2, "")]), "a\nc\n");
    assert_eq!(edited(text, &[range(text, 1, 3, "")]), "");
    assert_eq!(edited(text, &[line(text, 2, "\n")]), "a\n\nc\n");
    assert_eq!(ends(&edit_lines(text, &[line(text, 2, "")]).unwrap().changed), [(1, 1)]);
}

#[test]
fn all_edits_relate_to_the_text_as_it_was_read_whatever_their_order() {
    let text = "a\nb\nc\nd\n";
    let mut edits = [line(text, 1, "A1\nA2"), after(text, 2, "new"), line(text, 3, ""), line(text, 4, "D")];
    let expected = "A1\nA2\nb\nnew\nD\n";
    assert_eq!(edited(text, &edits), expected);
    edits.reverse();
    assert_eq!(edited(text, &edits), expected);
}

#[test]
fn the_final_line_break_survives() {
    assert_eq!(edited("a\nb\n", &[line("a\nb\n", 2, "c")]), "a\nc\n");
    assert_eq!(edited("a\nb", &[line("a\nb", 2, "c\n")]), "a\nc");
    assert_eq!(edited("a\nb", &[after("a\nb", 2, "c\n")]), "a\nb\nc");
    assert_eq!(edited("a\nb\n", &[line("a\nb\n", 2, "c\n\n")]), "a\nc\n\n", "more is what was asked for");
    assert_eq!(edited("a\nb", &[line("a\nb", 2, "")]), "a");
}

#[test]
fn a_stale_tag_gets_the_lines_as_they_are_with_their_tags() {
    let old = tag("one\ntwo\nthree\nfour\nfive\nsix\n", 3);
    let now = "one\ntwo\nTHREE\nfour\nfive\nsix\n";
    let edit = Edit { place: Place::Line(old.clone()), content: "drei".to_owned() };
    let error = edit_lines(now, std::slice::from_ref(&edit)).unwrap_err();
    let tags = |line| tag(now, line);
    assert_eq!(
        error.to_string(),
        format!(
            "{old} does not fit the text as it is now, so no edit was made.\nIt has 6 lines; what stands there:\n    \
             {}|one\n    {}|two\n>>> {}|THREE\n    {}|four\n    {}|five\nTry again with these tags, if these are the \
             lines you mean; else read the file again.",
            tags(1),
            tags(2),
            tags(3),
            tags(4),
            tags(5)
        )
    );
    let shown = error.to_string().lines().find_map(|line| Some(line.strip_prefix(">>> ")?.to_owned())).unwrap();
    let again = Edit { place: Place::Line(shown), ..edit };
    assert_eq!(edited(now, &[again]), "one\ntwo\ndrei\nfour\nfive\nsix\n", "it can be tried again at once");
}

#[test]
fn a_line_that_moved_is_shown_but_not_followed() {
    let old = "fn main() {\n    go();\n}\n";
    let now = format!("{}{old}", "// new\n".repeat(20));
    let edits = [line(old, 2, "    stop();"), line(old, 3, "")];
    let words = words(&now, &edits);
    let [go, went] = [tag(old, 2), tag(&now, 22)];
    assert!(words.contains(&format!("\n>>> {went}|    go();\n")), "{words}");
    assert!(words.contains(&format!("\nWhat was {go} seems to be {went} now.\n")), "{words}");
    assert!(words.contains("\n--\n") && words.contains(">>> 2#"), "{words}");
}

#[test]
fn nothing_is_planned_if_only_one_tag_of_many_is_stale() {
    let old = "a\nb\nc\n";
    let now = "a\nb\nC\n";
    let error = edit_lines(now, &[line(old, 1, "x"), after(old, 2, "y"), line(old, 3, "z")]).unwrap_err();
    let HashlineError::Stale(stale) = error else { panic!("{error}") };
    assert_eq!(stale.wrong, [Tagged::new(old).line(3).unwrap().0]);
}

#[test]
fn a_right_id_with_a_wrong_number_is_refused() {
    for (text, number) in [(TEXT, 3), (TEXT, 4), ("\n\n\n\n", 2)] {
        let right = Tagged::new(text).line(number).unwrap().0;
        for wrong in (1..9).filter(|wrong| *wrong != number) {
            let place = Place::Line(Tag { line: wrong, ..right }.to_string());
            let error = edit_lines(text, &[Edit { place, content: "x".to_owned() }]).unwrap_err();
            assert!(matches!(error, HashlineError::Stale(_)), "{error}");
        }
    }
}

#[test]
fn a_tag_past_the_end_shows_the_end() {
    let edit = |place| Edit { place: Place::After(place), content: "x".to_owned() };
    let text = words("a\nb\nc\n", &[edit("9#7KQX".to_owned())]);
    assert!(text.contains("It has 3 lines;") && text.contains(&format!(">>> {}|c\n", tag("a\nb\nc\n", 3))), "{text}");
    let text = words("", &[edit(format!("{}#7KQX", usize::MAX))]);
    assert!(text.ends_with("It is empty, so it has no line to name; write its text as for a new file."), "{text}");
}

#[test]
fn many_stale_tags_are_counted_and_only_some_shown() {
    let old: String = (0..500).map(|number| format!("old {number}\n")).collect();
    let now: String = (0..500).map(|number| format!("{} {number}\n", "new".repeat(400))).collect();
    let edits: Vec<_> = (1..=500).step_by(10).map(|number| line(&old, number, "x")).collect();
    let text = words(&now, &edits);
    assert!(text.contains(" and 40 more do not fit") && text.contains("new…"), "{text}");
    assert_eq!(text.matches(">>> ").count(), 10);
    assert!(text.len() < 20_000, "{}", text.len());
}

#[test]
fn edits_that_touch_each_other_are_refused() {
    let text = "a\nb\nc\nd\n";
    for (one, other) in [
        (line(text, 2, "x"), line(text, 2, "y")),
        (range(text, 1, 3, "x"), line(text, 3, "y")),
        (range(text, 1, 3, "x"), after(text, 2, "y")),
        (range(text, 1, 3, "x"), before(text, 2, "y")),
        (after(text, 2, "x"), after(text, 2, "y")),
        (after(text, 2, "x"), before(text, 3, "x")),
        (range(text, 1, 4, ""), range(text, 2, 3, "")),
    ] {
        for edits in [[one.clone(), other.clone()], [other, one]] {
            let error = edit_lines(text, &edits).unwrap_err();
            assert_eq!(error, HashlineError::Overlapping { first: 1, second: 2 }, "{edits:?}");
        }
    }
}

#[test]
fn edits_that_only_stand_side_by_side_are_made() {
    let text = "a\nb\nc\nd\n";
    let edits = [range(text, 2, 3, "X"), before(text, 2, "above"), after(text, 3, "below"), line(text, 4, "D")];
    assert_eq!(edited(text, &edits), "a\nabove\nX\nbelow\nD\n");
}

#[test]
fn the_same_edit_twice_is_made_once() {
    let text = "a\nb\n";
    assert_eq!(edited(text, &[after(text, 1, "x"), line(text, 2, "B"), after(text, 1, "x")]), "a\nx\nB\n");
}

#[test]
fn an_edit_that_changes_nothing_shows_the_line() {
    let text = words(TEXT, &[line(TEXT, 2, "    let a = 2;"), line(TEXT, 3, "    let b = 2;\n")]);
    let shown = format!("\n    {}|    let b = 2;\n", tag(TEXT, 3));
    assert!(text.starts_with("edit 2 would change nothing, so no edit was made.") && text.contains(&shown), "{text}");
    let text = words("a\nb", &[line("a\nb", 2, "b\n\n")]);
    assert!(text.contains("would change nothing"), "its only effect would be a final line break: {text}");
    assert_eq!(edited("a \nb", &[line("a \nb", 1, "a")]), "a\nb", "white space at the end of a line counts here");
    assert!(words(TEXT, &[after(TEXT, 2, "")]).contains("edit 1: content is empty"));
    assert_eq!(edit_lines(TEXT, &[]), Err(HashlineError::NoEdits));
}

#[test]
fn ranges_and_gaps_must_be_what_their_names_say() {
    let text = words(TEXT, &[range(TEXT, 3, 2, "x")]);
    assert!(
        text.contains(&format!("the last line, {}, stands above the first, {}", tag(TEXT, 2), tag(TEXT, 3))),
        "{text}"
    );
    for (upper, lower) in [(2, 4), (3, 2), (2, 2)] {
        let text = words(TEXT, &[between(TEXT, upper, lower, "x")]);
        assert!(text.contains(&format!("{} is not the line below {}", tag(TEXT, lower), tag(TEXT, upper))), "{text}");
    }
    let edit = Edit { place: Place::Line("3".to_owned()), content: String::new() };
    let text = words(TEXT, &[line(TEXT, 2, "x"), edit]);
    assert!(text.starts_with("edit 2: `3` is not the tag of a line. A tag is a line's number, `#`"), "{text}");
}

#[test]
fn tags_that_were_copied_into_the_content_are_taken_off() {
    let text = "a\n    b\nc\n";
    let content = format!("{}|    B\n>>> {}|C\n", tag(text, 2), tag(text, 3));
    assert_eq!(edited(text, &[range(text, 2, 3, &content)]), "a\n    B\nC\n");
    let invented = format!("{}|A\n99#7KQX|new", tag(text, 1));
    assert_eq!(edited(text, &[line(text, 1, &invented)]), "A\nnew\n    b\nc\n", "one is enough to know");
}

#[test]
fn a_real_line_that_looks_like_a_tagged_one_survives() {
    let text = "Lines look like this:\n12#7KQX|let x = 1;\nend\n";
    let content = format!("{}|a\nplain", tag(text, 1));
    assert_eq!(edited(text, &[after(text, 2, &content)]), text.replace("end", &format!("{content}\nend")));
    let untagged = edited(text, &[range(text, 2, 3, "12#7KQX|let x = 2;\nend")]);
    assert_eq!(untagged, text.replace("= 1", "= 2"));
    let error = edit_lines(text, &[line(text, 2, "12#7KQX|let x = 2;")]).unwrap_err();
    assert!(
        matches!(error, HashlineError::TaggedContent { edit: 1, .. }),
        "neither kept nor taken off unasked: {error}"
    );
}

#[test]
fn a_range_over_lines_that_no_tag_names_says_which_they_are() {
    let text = "a\nb\nc\nd\ne\n";
    let of = |edits: &[Edit]| ends(&edit_lines(text, edits).unwrap().unnamed);
    assert_eq!(of(&[range(text, 2, 5, "x"), line(text, 1, "y")]), [(2, 4)]);
    assert!(of(&[range(text, 2, 3, "x"), after(text, 4, "y")]).is_empty());
}

/// An edit by numbers, from 0: lines to replace (none for an insertion), and what to put there.
type Wanted = (Range<usize>, Vec<String>);

/// A text of lines that often repeat, and edits of it that do not touch each other.
fn text_and_edits() -> impl Strategy<Value = (Vec<String>, bool, Vec<Wanted>)> {
    let lines = proptest::collection::vec("[ab}]{0,2}|[a-e]{3}[ \t]?", 1..14);
    let steps =
        proptest::collection::vec((0usize..4, 0usize..4, proptest::collection::vec("[xyz }]{0,3}", 0..4)), 1..5);
    (lines, any::<bool>(), steps).prop_map(|(lines, ends, steps)| {
        let mut edits: Vec<Wanted> = Vec::new();
        let mut at = 0;
        for (gap, length, content) in steps {
            let start = at + gap;
            let end = start + length;
            let same_place = edits.last().is_some_and(|(last, _)| last.is_empty() && *last == (start..end));
            if end > lines.len() || same_place {
                break;
            }
            at = end;
            edits.push((start..end, content));
        }
        (lines, ends, edits)
    })
}

fn joined(lines: &[String], ends: bool) -> String {
    let text = lines.join("\n");
    if ends && !lines.is_empty() { text + "\n" } else { text }
}

/// The same edits, said by tags, in a way that `pick` chooses.
fn by_tags(text: &str, edits: &[Wanted], pick: usize) -> Vec<Edit> {
    let tagged = Tagged::new(text);
    let shown = |number| {
        let (tag, line) = tagged.line(number).unwrap();
        if pick.is_multiple_of(2) { tag.to_string() } else { format!(">>> {tag}|{line}") }
    };
    let edit = |(lines, content): &Wanted| {
        let content = content.iter().map(|line| format!("{line}\n")).collect();
        let place = match (lines.len(), lines.start) {
            (0, 0) => Place::Before(shown(1)),
            (0, start) if start == tagged.count() => Place::After(shown(start)),
            (0, start) => match pick % 3 {
                0 => Place::After(shown(start)),
                1 => Place::Before(shown(start + 1)),
                _ => Place::Between { after: shown(start), before: shown(start + 1) },
            },
            (1, start) if !pick.is_multiple_of(3) => Place::Line(shown(start + 1)),
            _ => Place::Range { first: shown(lines.start + 1), last: shown(lines.end) },
        };
        Edit { place, content }
    };
    let mut edits: Vec<_> = edits.iter().map(edit).collect();
    let middle = pick % edits.len().max(1);
    edits.rotate_left(middle);
    edits
}

/// Returns the text that the edits should make of the lines, applied from the last to the first.
fn intended(lines: &[String], ends: bool, edits: &[Wanted]) -> String {
    let mut lines = lines.to_vec();
    for (range, content) in edits.iter().rev() {
        lines.splice(range.clone(), content.iter().cloned());
    }
    let text = joined(&lines, ends);
    if ends { text } else { text.trim_end_matches('\n').to_owned() }
}

proptest! {
    #[test]
    fn edits_by_tags_give_exactly_the_intended_text((lines, ends, edits) in text_and_edits(), pick in 0usize..60) {
        // A text without a final line break cannot end in a blank line.
        let ends = ends || lines.last().is_some_and(String::is_empty);
        let text = joined(&lines, ends);
        let does_nothing = |(range, content): &Wanted| lines[range.clone()] == content[..];
        match edit_lines(&text, &by_tags(&text, &edits, pick)) {
            Ok(result) => {
                prop_assert_eq!(&result.text, &intended(&lines, ends, &edits));
                prop_assert!(!edits.iter().any(does_nothing));
                let new: Vec<_> = result.text.split_terminator('\n').collect();
                for (lines, (_, content)) in result.changed.iter().zip(&edits) {
                    let kept = new.iter().skip(lines.start).take(lines.len());
                    prop_assert!(kept.zip(content).all(|(one, other)| one == other));
                }
            }
            Err(HashlineError::NoEdits) => prop_assert!(edits.is_empty()),
            Err(HashlineError::NothingToInsert { .. } | HashlineError::SameText { .. }) => {
                prop_assert!(edits.iter().any(does_nothing) || intended(&lines, ends, &edits) == text);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn after_a_change_of_the_text_edits_are_refused_or_give_what_was_intended(
        (lines, ends, edits) in text_and_edits(),
        at in 0usize..14,
        taken in 0usize..4,
        put in proptest::collection::vec("[ab}]{0,2}|[a-e]{3}", 0..4),
        pick in 0usize..60,
    ) {
        let mut now = lines.clone();
        now.splice(at.min(lines.len())..(at + taken).min(lines.len()), put);
        let [before, after] = [&lines, &now].map(|lines| lines.last().is_some_and(String::is_empty));
        let ends = ends || before || after;
        let (old, new) = (joined(&lines, ends), joined(&now, ends));
        let by_tags = by_tags(&old, &edits, pick);
        let Ok(result) = edit_lines(&new, &by_tags) else { return Ok(()) };
        for edit in &by_tags {
            for tag in edit.place.parse().unwrap().tags() {
                prop_assert_eq!(lines[tag.line - 1].trim_end(), now[tag.line - 1].trim_end());
            }
        }
        prop_assert_eq!(result.text, intended(&now, ends, &edits));
    }

    #[test]
    fn any_request_is_answered(
        text in "[ab}\n\r ]{0,30}",
        references in proptest::collection::vec("\\PC{0,6}|[0-9]{1,2}#[0-9A-Z]{4}", 2),
        content in "[ab\n]{0,5}|[0-9]#[0-9A-Z]{4}\\|a\n?",
        kind in 0usize..5,
    ) {
        let [first, last] = [references[0].clone(), references[1].clone()];
        let place = match kind {
            0 => Place::Line(first),
            1 => Place::Range { first, last },
            2 => Place::After(first),
            3 => Place::Before(first),
            _ => Place::Between { after: first, before: last },
        };
        if let Err(error) = edit_lines(&text, &[Edit { place, content }]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
