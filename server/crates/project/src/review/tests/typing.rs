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
        let snapshot = self.buffers.by_uri(URI).unwrap();
        let plan = FilePlan {
            path: self.path.clone(),
            read: Some(snapshot.hash().clone()),
            new_text: Some(wanted.into()),
            moved_to: None,
        };
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

    fn states(&self) -> Vec<HunkState> {
        self.hunks().iter().map(|hunk| hunk.state).collect()
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
    /// A pending hunk is where its own lines are, and in conflict only if somebody touched them.
    #[test]
    fn a_hunk_goes_where_its_lines_go(kinds in prop::collection::vec(0usize..3, 4..12), changed: u16, keys in keys()) {
        let base: String = kinds.iter().map(|kind| format!("{}\n", KINDS[*kind])).collect();
        let wanted: String = kinds.iter().enumerate().map(|(at, kind)| {
            if changed >> at & 1 == 1 { format!("new {at}\n") } else { format!("{}\n", KINDS[*kind]) }
        }).collect();
        prop_assume!(base != wanted);
        let mut editor = Editor::open(&base);
        let mut lines: Vec<Line> = (0..kinds.len()).map(Line).collect();
        let mut next = kinds.len();
        let place = |hunk: &Hunk| {
            let start = hunk.start_line as usize;
            start..start + hunk.old_text.split_inclusive('\n').count()
        };
        let mut own: HashMap<HunkId, Vec<Line>> = editor
            .propose(&wanted)
            .iter()
            .filter(|hunk| !hunk.old_text.is_empty())
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
                        // Accepted is one whose text somebody else made, on whichever of equal lines.
                        prop_assert!(is_touched || state == HunkState::Accepted, "{state:?} in {}", editor.text());
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
