//! Typing as editors tell it, range by range, in texts whose lines are alike.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use protocol::content::{Position, Range};
use protocol::review::HunkState;
use protocol::{HunkId, ToolCallId};

use super::*;
use crate::buffers::{Buffers, Change as Typed};
use crate::text::PositionEncoding;

const URI: &str = "file:///w/src/a.yaml";

/// A line and a character in it.
type Place = (u32, u32);

/// A document in an editor, with one session's review.
struct Editor {
    buffers: Buffers,
    review: Review,
    path: PathBuf,
    version: i32,
}

impl Editor {
    fn open(text: &str) -> Self {
        let buffers = Buffers::default();
        let path = buffers.open(URI, "yaml", 1, text).unwrap().path.clone();
        Self { buffers, review: Review::default(), path, version: 1 }
    }

    fn text(&self) -> String {
        self.buffers.by_uri(URI).unwrap().normal().to_string()
    }

    fn propose(&mut self, wanted: &str) -> Vec<Hunk> {
        let read = self.buffers.by_uri(URI).unwrap().hash().clone();
        self.propose_of(read, wanted)
    }

    /// A further edit, of the text with the pending hunks in it.
    fn propose_on(&mut self, wanted: &str) -> Vec<Hunk> {
        let read = self.review.proposals.last().unwrap().proposed().map(|text| text::hash(text)).unwrap();
        self.propose_of(read, wanted)
    }

    fn propose_of(&mut self, read: TextHash, wanted: &str) -> Vec<Hunk> {
        let snapshot = self.buffers.by_uri(URI).unwrap();
        let plan =
            FilePlan { path: self.path.clone(), read: Some(read), new_text: Some(wanted.into()), moved_to: None };
        self.review.propose(&plan, &*snapshot, "src/a.yaml", URI, &ToolCallId::new("call")).unwrap();
        self.hunks()
    }

    fn hunks(&self) -> Vec<Hunk> {
        self.review.proposals.iter().flat_map(|proposal| proposal.wire().hunks).collect()
    }

    /// The editor sends a message with changes.
    fn change(&mut self, changes: &[(Place, Place, &str)]) {
        let at = |(line, character)| Position { line, character };
        let typed = changes.iter().map(|(start, end, text)| Typed {
            range: Some(Range { start: at(*start), end: at(*end) }),
            text: (*text).to_owned(),
        });
        self.version += 1;
        self.buffers.change(URI, self.version, &typed.collect::<Vec<_>>(), PositionEncoding::Utf16).unwrap();
    }

    /// The session looks at the document.
    fn look(&mut self) {
        let snapshot = self.buffers.by_uri(URI).unwrap();
        self.review.base_changed(&self.path.clone(), &*snapshot);
    }

    /// The user accepts hunks, and the editor puts them into the document.
    fn accept(&mut self, hunks: &[HunkId]) -> Vec<LineEdit> {
        let proposal = self.review.proposals.last().unwrap();
        let (proposal_id, revision, hunk_ids) = (proposal.id.clone(), proposal.revision, Some(hunks.to_vec()));
        let target = DecisionTarget { proposal_id, revision, hunk_ids };
        let application = self.review.decide(Decision::Accept, &[target], None).unwrap().applications.remove(0);
        let line = |line: usize| (u32::try_from(line).unwrap(), 0);
        for edit in application.edits.iter().rev() {
            self.change(&[(line(edit.start_line), line(edit.end_line), edit.new_text.as_str())]);
        }
        self.look();
        self.review.applied(&application, &ApplyOutcome::Verified);
        application.edits
    }

    fn states(&self) -> Vec<HunkState> {
        self.hunks().iter().map(|hunk| hunk.state).collect()
    }

    /// The state of each hunk, and its first line.
    fn places(&self) -> Vec<(HunkState, u32)> {
        self.hunks().iter().map(|hunk| (hunk.state, hunk.start_line)).collect()
    }
}

const STEP: &str = "- run: make\n  in: src\n  as: root\n";

#[test]
fn of_two_equal_steps_the_one_with_the_hunk_is_deleted() {
    let base = STEP.repeat(2);
    let edited = STEP.replace("src", "lib");
    let ways: [(Place, Place); 3] = [((0, 0), (3, 0)), ((0, 2), (3, 2)), ((1, 9), (4, 9))];
    for (start, end) in ways {
        let mut editor = Editor::open(&base);
        editor.propose(&format!("{edited}{STEP}"));
        editor.change(&[(start, end, "")]);
        assert_eq!(editor.text(), STEP);
        editor.look();
        // From end to end it is the second step's middle line that goes.
        let gone = start != (1, 9);
        assert_eq!(editor.states(), [if gone { HunkState::Conflicted } else { HunkState::Pending }], "{start:?}");
        if gone {
            editor.change(&[((0, 0), (0, 0), "# steps\n")]);
            editor.look();
            assert_eq!(editor.states(), [HunkState::Conflicted]);
            editor.change(&[((0, 0), (1, 0), "")]);
            editor.change(&[(start, start, &base[start.1 as usize..STEP.len() + start.1 as usize])]);
            editor.look();
            assert_eq!(editor.text(), base);
            assert_eq!(editor.states(), [HunkState::Pending], "undone");
            assert_eq!(editor.hunks()[0].start_line, 1);
        }
    }
    let mut editor = Editor::open(&base);
    editor.propose(&format!("{STEP}{edited}"));
    editor.change(&[((0, 0), (3, 0), "")]);
    editor.look();
    assert_eq!((editor.states(), editor.hunks()[0].start_line), (vec![HunkState::Pending], 1));
}

/// Four equal lines, of which the first is to be another and the last is to go.
fn four_equal_lines() -> Editor {
    let mut editor = Editor::open("- x\n- x\n- x\n- x\nend\n");
    editor.propose("- new\n- x\n- x\n- x\nend\n");
    editor.propose_on("- new\n- x\n- x\nend\n");
    assert_eq!(editor.places(), [(HunkState::Pending, 0), (HunkState::Pending, 3)]);
    editor
}

#[test]
fn a_line_that_is_deleted_takes_its_hunk_along_even_if_another_hunk_would_have_deleted_one_like_it() {
    let mut editor = four_equal_lines();
    editor.change(&[((0, 0), (1, 0), "")]);
    editor.look();
    // The document is now what the other hunk would have made of it, but that one's own line is still there.
    assert_eq!(editor.places(), [(HunkState::Conflicted, 0), (HunkState::Pending, 2)]);
    editor.change(&[((0, 0), (0, 0), "- x\n")]);
    editor.look();
    assert_eq!(editor.places(), [(HunkState::Pending, 0), (HunkState::Pending, 3)]);
}

#[test]
fn a_line_that_is_deleted_takes_its_hunk_along_even_if_an_accepted_one_had_put_a_line_like_it() {
    let mut editor = Editor::open("- x\n- x\nend\n");
    editor.propose("- new\n- x\nend\n");
    editor.propose_on("- new\n- x\n- x\nend\n");
    let inserted = editor.hunks().remove(1).hunk_id;
    editor.accept(&[inserted]);
    assert_eq!(editor.places(), [(HunkState::Pending, 0), (HunkState::Accepted, 2)]);
    editor.change(&[((0, 0), (1, 0), "")]);
    editor.look();
    assert_eq!(editor.places(), [(HunkState::Conflicted, 0), (HunkState::Undone, 2)]);
}

#[test]
fn of_two_hunks_that_delete_equal_lines_only_that_one_is_done_whose_line_the_user_deletes() {
    for gone in [0, 2] {
        let mut editor = Editor::open("- x\n- y\n- x\n- y\n- x\n");
        editor.propose("- y\n- x\n- y\n- x\n");
        editor.propose_on("- y\n- y\n- x\n");
        assert_eq!(editor.places(), [(HunkState::Pending, 0), (HunkState::Pending, 2)]);
        editor.change(&[((gone, 0), (gone + 1, 0), "")]);
        editor.look();
        let expected = match gone {
            0 => [(HunkState::Accepted, 0), (HunkState::Pending, 1)],
            _ => [(HunkState::Pending, 0), (HunkState::Accepted, 2)],
        };
        assert_eq!(editor.places(), expected);
    }
}

#[test]
fn after_a_restart_equal_steps_are_told_apart_again_as_soon_as_the_document_was_seen() {
    let mut editor = Editor::open(&STEP.repeat(2));
    editor.propose(&format!("{}{STEP}", STEP.replace("src", "lib")));
    let text = editor.text();
    editor.review = Review::restore(editor.review.proposals(), |_| Some(text.clone()));
    editor.look();
    assert_eq!(editor.states(), [HunkState::Pending]);
    editor.change(&[((0, 0), (3, 0), "")]);
    editor.look();
    assert_eq!(editor.states(), [HunkState::Conflicted]);
}

#[test]
fn a_formatter_that_replaces_everything_moves_no_hunk_in_lines_it_left_alone() {
    let mut editor = Editor::open("a  = 1\nb = 2\nc =  3\nd = 4\n");
    editor.propose("a  = 1\nb = 20\nc =  3\nd = 4\n");
    editor.change(&[((0, 0), (4, 0), "# tidy\na = 1\nb = 2\nc = 3\nd = 4\n")]);
    editor.look();
    assert_eq!((editor.states(), editor.hunks()[0].start_line), (vec![HunkState::Pending], 2));
}

/// The messages in which Neovim tells of an edit that takes two hunks: one for each piece, from the bottom.
#[test]
fn an_accepted_edit_that_the_editor_tells_in_pieces_is_ours() {
    let base = "one\ntwo\nthree\nfour\nfive\n";
    let pieces: [&[(Place, Place, &str)]; 2] = [
        &[((3, 0), (4, 0), "4\n"), ((0, 0), (1, 0), "1\n")],
        &[((3, 0), (4, 0), ""), ((3, 0), (3, 0), "4\n"), ((0, 0), (1, 0), ""), ((0, 0), (0, 0), "1\n")],
    ];
    for outcome in [ApplyOutcome::Verified, ApplyOutcome::Unverified] {
        for pieces in pieces {
            let mut editor = Editor::open(base);
            editor.propose("1\ntwo\nthree\n4\nfive\n");
            let targets = editor.review.all_pending();
            let application = editor.review.decide(Decision::Accept, &targets, None).unwrap().applications.remove(0);
            for piece in pieces {
                assert_eq!(editor.states(), [HunkState::Applying; 2]);
                editor.change(&[*piece]);
                editor.look();
            }
            editor.review.applied(&application, &outcome);
            assert_eq!(editor.states(), [HunkState::Accepted; 2], "{pieces:?}");
            assert!(editor.review.notes(&who).iter().all(|note| note.text.contains("accepted")));
        }
    }
}

#[test]
fn what_the_user_types_into_an_edit_on_its_way_is_theirs_once_the_edit_has_failed() {
    let mut editor = Editor::open("one\ntwo\nthree\n");
    editor.propose("one\n2\nthree\n");
    let targets = editor.review.all_pending();
    let application = editor.review.decide(Decision::Accept, &targets, None).unwrap().applications.remove(0);
    editor.change(&[((1, 0), (1, 3), "zwei")]);
    editor.look();
    editor.review.applied(&application, &ApplyOutcome::Failed { reason: "version".into() });
    editor.look();
    assert_eq!(editor.states(), [HunkState::Conflicted]);
}

#[test]
fn an_empty_document_of_a_file_that_is_to_be_made_is_no_file() {
    for empty in ["", "\n"] {
        let mut editor = Editor::open(empty);
        let plan = FilePlan { path: editor.path.clone(), read: None, new_text: Some("new\n".into()), moved_to: None };
        let review = &mut editor.review;
        review.propose(&plan, None, "src/a.yaml", URI, &ToolCallId::new("call")).unwrap();
        editor.look();
        assert_eq!(editor.states(), [HunkState::Pending]);
        let targets = editor.review.all_pending();
        let application = editor.review.decide(Decision::Accept, &targets, None).unwrap().applications.remove(0);
        assert_eq!(application.base_hash, None);
        let whole = ((0, 0), (u32::try_from(empty.len()).unwrap(), 0), "new\n");
        editor.change(&[whole]);
        editor.look();
        editor.review.applied(&application, &ApplyOutcome::Verified);
        assert_eq!(editor.states(), [HunkState::Accepted]);
        // Emptied again, which is how an editor undoes it.
        editor.change(&[((0, 0), (1, 0), empty)]);
        editor.look();
        assert_eq!(editor.states(), [HunkState::Undone]);
        editor.change(&[whole]);
        editor.look();
        assert_eq!(editor.states(), [HunkState::Accepted]);
        editor.change(&[((0, 0), (0, 0), "# mine\n")]);
        editor.look();
        assert_eq!(editor.states(), [HunkState::Accepted]);
    }
}

#[test]
fn a_file_that_was_made_and_emptied_is_written_anew_though_another_hunk_waits() {
    let mut editor = Editor::open("");
    let made: FilePlan =
        FilePlan { path: editor.path.clone(), read: None, new_text: Some("one\ntwo\n".into()), moved_to: None };
    let call = ToolCallId::new("call");
    editor.review.propose(&made, None, "src/a.yaml", URI, &call).unwrap();
    let targets = editor.review.all_pending();
    let application = editor.review.decide(Decision::Accept, &targets, None).unwrap().applications.remove(0);
    let (read, new_text) = (made.new_text.as_deref().map(text::hash), Some("one\n2\n".into()));
    editor.review.propose(&FilePlan { read, new_text, ..made }, None, "src/a.yaml", URI, &call).unwrap();
    editor.change(&[((0, 0), (0, 0), "one\ntwo\n")]);
    editor.look();
    editor.review.applied(&application, &ApplyOutcome::Verified);
    assert_eq!(editor.states(), [HunkState::Accepted, HunkState::Pending]);
    editor.change(&[((0, 0), (2, 0), "")]);
    editor.look();
    let waits = |hunks: Vec<Hunk>| hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
    assert_eq!(waits(editor.propose("new\n")), 1);
    editor.look();
    assert_eq!(waits(editor.hunks()), 1);
    let targets = editor.review.all_pending();
    let application = editor.review.decide(Decision::Accept, &targets, None).unwrap().applications.remove(0);
    assert_eq!((application.base_text.as_deref(), application.target_text.as_deref()), (Some(""), Some("new\n")));
}

/// A line of the document, known for what it is whatever its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Line(usize);

/// The proposal for a line.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Stays,
    Changes,
    Goes,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![2 => Just(Fate::Stays), 1 => Just(Fate::Changes), 1 => Just(Fate::Goes)]
}

/// One change: how, where, how many lines.
#[derive(Clone, Copy, Debug)]
struct Keys {
    how: u8,
    at: usize,
    count: usize,
    kind: usize,
    /// True if the session looks before the next one.
    look: bool,
}

/// None is empty: between two empty lines a range does not say which one it takes.
const KINDS: [&str; 3] = ["a", "}", "  - x"];

fn keys() -> impl Strategy<Value = Vec<Keys>> {
    let one = (0u8..6, 0usize..12, 1usize..4, 0usize..3, any::<bool>()).prop_map(|(how, at, count, kind, look)| Keys {
        how,
        at,
        count,
        kind,
        look,
    });
    prop::collection::vec(one, 1..10)
}

proptest! {
    /// A pending hunk is where its own lines are, and in conflict only if somebody touched them, whichever other hunks
    /// were accepted before.
    #[test]
    fn a_hunk_goes_where_its_lines_go(
        lines in prop::collection::vec((0usize..3, fate()), 4..12),
        taken: u8,
        keys in keys(),
    ) {
        let base: String = lines.iter().map(|(kind, _)| format!("{}\n", KINDS[*kind])).collect();
        let wanted = lines.iter().enumerate().map(|(at, (kind, fate))| match fate {
            Fate::Stays => format!("{}\n", KINDS[*kind]),
            Fate::Changes => format!("new {at}\n"),
            Fate::Goes => String::new(),
        });
        let wanted: String = wanted.collect();
        prop_assume!(base != wanted);
        let mut editor = Editor::open(&base);
        let mut next = lines.len();
        let mut lines: Vec<Line> = (0..next).map(Line).collect();
        let place = |hunk: &Hunk| {
            let start = hunk.start_line as usize;
            start..start + hunk.old_text.split_inclusive('\n').count()
        };
        let hunks = editor.propose(&wanted);
        let taken = hunks.iter().enumerate().filter(|(at, _)| taken >> (at % 8) & 1 == 1);
        let taken: Vec<HunkId> = taken.map(|(_, hunk)| hunk.hunk_id.clone()).collect();
        if !taken.is_empty() {
            for edit in editor.accept(&taken).iter().rev() {
                let count = lines::count(&edit.new_text);
                next += count;
                lines.splice(edit.start_line..edit.end_line, (next - count..next).map(Line));
            }
        }
        let mut own: HashMap<HunkId, Vec<Line>> = editor
            .hunks()
            .iter()
            .filter(|hunk| hunk.state == HunkState::Pending && !hunk.old_text.is_empty())
            .map(|hunk| (hunk.hunk_id.clone(), lines[place(hunk)].to_vec()))
            .collect();
        let mut touched: HashSet<Line> = HashSet::new();
        let mut unseen = false;
        for Keys { how, at, count, kind, look } in keys {
            let at = at % (lines.len() + 1);
            let end = (at + count).min(lines.len());
            let text = editor.text();
            let length = |line: usize| text.lines().nth(line).map_or(0, str::len) as u32;
            let (from, to) = (at as u32, end as u32);
            let added = format!("{}\n", KINDS[kind]).repeat(count);
            let mut fresh = |count: usize| -> Vec<Line> {
                next += count;
                (next - count..next).map(Line).collect()
            };
            match how {
                0 | 1 => {
                    // Lines go, from begin to begin or from end to end.
                    match how == 0 || at == 0 {
                        true => editor.change(&[((from, 0), (to, 0), "")]),
                        false => editor.change(&[((from - 1, length(at - 1)), (to.max(1) - 1, length(end.max(1) - 1)), "")]),
                    }
                    touched.extend(lines.drain(at..end));
                }
                2 | 3 => {
                    // Lines come.
                    match how == 2 || at == 0 {
                        true => editor.change(&[((from, 0), (from, 0), &added)]),
                        false => {
                            let added = format!("\n{}", added.trim_end_matches('\n'));
                            editor.change(&[((from - 1, length(at - 1)), (from - 1, length(at - 1)), &added)]);
                        }
                    }
                    // A hunk that they come into is touched.
                    if 0 < at && at < lines.len()
                        && own.values().any(|own| own.contains(&lines[at - 1]) && own.contains(&lines[at]))
                    {
                        touched.insert(lines[at]);
                    }
                    let come = fresh(count);
                    lines.splice(at..at, come);
                }
                // Two cursors type in a line each.
                _ if lines.len() > 1 => {
                    let (one, other) = (at % lines.len(), (at + count) % lines.len());
                    let (low, high) = (one.min(other), one.max(other));
                    prop_assert!(low <= high);
                    let order = if how == 4 { [high, low] } else { [low, high] };
                    let order = if low == high { &order[..1] } else { &order[..] };
                    let typed: Vec<_> = order.iter().map(|line| ((*line as u32, 0), (*line as u32, 0), "x")).collect();
                    editor.change(&typed);
                    touched.extend(order.iter().map(|line| lines[*line]));
                }
                _ => {}
            }
            if !look {
                unseen = true;
                continue;
            }
            let several = std::mem::take(&mut unseen);
            editor.look();
            for hunk in editor.hunks() {
                let Some(mine) = own.get(&hunk.hunk_id) else { continue };
                let is_touched = mine.iter().any(|line| touched.contains(line));
                match hunk.state {
                    // A hunk that went and came again before anybody looked is as it was.
                    HunkState::Pending if several && is_touched => drop(own.remove(&hunk.hunk_id)),
                    HunkState::Pending => prop_assert_eq!(&lines[place(&hunk)], &mine[..], "{}", editor.text()),
                    state => {
                        prop_assert!(is_touched, "{state:?} in {}", editor.text());
                        // Text that is typed again may look the same, and then it is the same to everybody.
                        own.remove(&hunk.hunk_id);
                    }
                }
            }
            if editor.hunks().is_empty() {
                break;
            }
        }
    }
}
