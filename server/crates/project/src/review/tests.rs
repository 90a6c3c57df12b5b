//! The review as its users see it: a model that proposes, a user who decides and types, a document that changes.

use proptest::prelude::*;
use protocol::review::Hunk;
use spent::Spent;

use super::*;

mod landed;
mod moves;
mod typing;

/// A session's review, one file, and the document that an editor or the disk holds.
struct World {
    review: Review,
    path: PathBuf,
    document: Option<String>,
    calls: u32,
}

impl World {
    /// The words for the model.
    fn notes(&mut self) -> Vec<String> {
        self.review.notes(&who).into_iter().map(|note| note.text).collect()
    }

    fn new(document: Option<&str>) -> Self {
        let document = document.map(str::to_owned);
        Self { review: Review::default(), path: PathBuf::from("/w/src/a.rs"), document, calls: 0 }
    }

    /// Returns the text that the model reads.
    fn read(&self) -> Option<String> {
        match self.review.overlay().get(&self.path) {
            Some(text) => text.as_deref().map(str::to_owned),
            None => self.document.clone(),
        }
    }

    /// The model reads the file and proposes a new text.
    fn try_propose(&mut self, new_text: Option<&str>) -> Result<Change, EditRefused> {
        let read = self.read().as_deref().map(text::hash);
        self.propose_against(read, new_text)
    }

    fn propose_against(&mut self, read: Option<TextHash>, new_text: Option<&str>) -> Result<Change, EditRefused> {
        self.calls += 1;
        let call = ToolCallId::new(format!("call{}", self.calls));
        let plan = FilePlan { path: self.path.clone(), read, new_text: new_text.map(str::to_owned), moved_to: None };
        self.review.propose(&plan, self.document.as_deref(), "src/a.rs", "file:///w/src/a.rs", &call)
    }

    fn propose(&mut self, new_text: &str) -> Proposal {
        self.try_propose(Some(new_text)).unwrap();
        self.proposal()
    }

    /// The proposal last made.
    fn proposal(&self) -> Proposal {
        self.review.proposals().pop().unwrap()
    }

    fn states(&self) -> Vec<HunkState> {
        self.review.proposals.last().unwrap().wire().hunks.iter().map(|hunk| hunk.state).collect()
    }

    fn decide(&mut self, decision: Decision, hunks: &[&Hunk]) -> Result<Decided, DecideError> {
        let proposal = self.review.proposals.last().unwrap().wire();
        let hunk_ids = Some(hunks.iter().map(|hunk| hunk.hunk_id.clone()).collect());
        let target = DecisionTarget { proposal_id: proposal.proposal_id, revision: proposal.revision, hunk_ids };
        self.review.decide(decision, &[target], None)
    }

    /// Puts an application into the document, as an editor does, and says so.
    fn land(&mut self, application: &Application) {
        assert_eq!(application.base_text.as_deref(), self.document.as_deref(), "made for the document as it is");
        assert_eq!(application.base_hash, self.document.as_deref().map(text::hash));
        if let (Some(base), Some(target)) = (&self.document, &application.target_text) {
            let edits = application.edits.iter().map(|e| (e.start_line..e.end_line, e.new_text.as_str()));
            assert_eq!(lines::Lines::new(base).replaced(edits), **target, "the edits are the change");
        }
        self.types(application.target_text.as_deref());
        self.review.applied(application, &ApplyOutcome::Verified);
    }

    fn accept(&mut self, hunks: &[&Hunk]) {
        for application in self.decide(Decision::Accept, hunks).unwrap().applications {
            self.land(&application);
        }
    }

    /// The document becomes another text.
    fn types(&mut self, text: Option<&str>) {
        self.document = text.map(str::to_owned);
        self.review.base_changed(&self.path, text);
    }

    fn text(&self) -> &str {
        self.document.as_deref().unwrap()
    }
}

fn numbered(lines: impl IntoIterator<Item = usize>) -> String {
    lines.into_iter().map(|n| format!("line {n}\n")).collect()
}

/// Who changed something by these calls.
fn who(calls: &[ToolCallId]) -> String {
    calls.first().map_or_else(|| "another program".to_owned(), |call| format!("`{call}`"))
}

const TEN: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

#[test]
fn of_three_hunks_the_first_and_third_are_accepted_and_the_second_rejected() {
    let mut world = World::new(Some(TEN));
    let wanted = TEN.replace("two\n", "TWO\n").replace("five\n", "FIVE\n5.5\n").replace("nine\n", "");
    let proposal = world.propose(&wanted);
    let [first, second, third] = proposal.hunks.as_slice() else { panic!("{proposal:?}") };
    assert_eq!(world.read().unwrap(), wanted, "the model reads its own edits");
    world.accept(&[first, third]);
    world.decide(Decision::Reject, &[second]).unwrap();
    assert_eq!(world.text(), TEN.replace("two\n", "TWO\n").replace("nine\n", ""));
    assert_eq!(world.read().as_deref(), Some(world.text()));
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Rejected, HunkState::Accepted]);
    assert_eq!(
        world.notes(),
        [
            "The user accepted your change to src/a.rs (line 2, after line 8).",
            "The user rejected your change to src/a.rs (line 5). It is not in the file.",
        ]
    );
    assert_eq!(world.notes(), [""; 0], "nothing is told twice");
    assert_eq!(world.review.take_changed().len(), 1);
    assert_eq!(world.review.proposals(), [], "a finished proposal is no longer listed once it was reported");
}

#[test]
fn a_stale_edit_and_an_empty_edit_are_refused() {
    let mut world = World::new(Some(TEN));
    let read = Some(text::hash(TEN));
    world.types(Some("something else\n"));
    assert_eq!(world.propose_against(read, Some("x\n")), Err(EditRefused::Stale { path: "src/a.rs".into() }));
    assert_eq!(world.try_propose(Some("something else\n")), Err(EditRefused::NoChange { path: "src/a.rs".into() }));
    world.propose("more\n");
    let of_the_document = Some(text::hash("something else\n"));
    assert!(matches!(world.propose_against(of_the_document, Some("x\n")), Err(EditRefused::Stale { .. })));
}

#[test]
fn a_hunk_keeps_its_id_while_other_hunks_come_and_go() {
    let mut world = World::new(Some(TEN));
    let before = world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n"));
    let after = world.propose(&world.read().unwrap().replace("five\n", "FIVE\n").replace("NINE\n", "NEUN\n"));
    assert_eq!(after.proposal_id, before.proposal_id);
    assert!(after.revision > before.revision);
    assert_eq!(after.hunks[0], before.hunks[0], "untouched");
    assert_ne!(after.hunks[2].hunk_id, before.hunks[1].hunk_id, "it says something else now");
    let calls = |hunk: &Hunk| hunk.tool_call_ids.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(calls(&after.hunks[1]), ["call2"]);
    assert_eq!(calls(&after.hunks[2]), ["call1", "call2"]);
    let gone = world.propose(&world.read().unwrap().replace("NEUN\n", "nine\n"));
    assert_eq!(gone.hunks, after.hunks[..2], "what is taken back is no hunk any more");
}

#[test]
fn a_decision_on_an_old_revision_is_stale_but_the_same_one_twice_is_harmless() {
    let mut world = World::new(Some(TEN));
    let old = world.propose(&TEN.replace("two\n", "TWO\n"));
    let target = DecisionTarget { proposal_id: old.proposal_id.clone(), revision: old.revision, hunk_ids: None };
    let new = world.propose(&world.read().unwrap().replace("nine\n", "NINE\n"));
    let refused = world.review.decide(Decision::Accept, std::slice::from_ref(&target), None).unwrap_err();
    assert_eq!(refused, DecideError::Stale { proposals: vec![new.clone()] });
    let fresh = DecisionTarget { revision: new.revision, ..target.clone() };
    let decided = world.review.decide(Decision::Accept, std::slice::from_ref(&fresh), None).unwrap();
    assert_eq!((decided.hunks.len(), decided.applications.len()), (1, 1));
    world.land(&decided.applications[0]);
    world.review.take_changed();
    for again in [fresh.clone(), target, DecisionTarget { hunk_ids: Some(decided.hunks[0].1.clone()), ..fresh.clone() }]
    {
        let again = world.review.decide(Decision::Accept, &[again], None).unwrap();
        assert!(again.hunks.is_empty() && again.applications.is_empty());
        assert_eq!(again.proposals[0].hunks.len(), 2);
    }
    let refused = world.review.decide(
        Decision::Reject,
        &[DecisionTarget { hunk_ids: Some(decided.hunks[0].1.clone()), ..fresh }],
        None,
    );
    assert!(matches!(refused, Err(DecideError::Stale { .. })), "it is accepted already");
}

#[test]
fn a_decision_is_taken_for_all_targets_or_for_none() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n"));
    let good =
        DecisionTarget { proposal_id: proposal.proposal_id.clone(), revision: proposal.revision, hunk_ids: None };
    let unknown = DecisionTarget { proposal_id: "nobody".into(), ..good.clone() };
    let refused = world.review.decide(Decision::Accept, &[good.clone(), unknown], None).unwrap_err();
    assert_eq!(refused, DecideError::NotFound { what: "proposal", id: "nobody".into() });
    let no_hunk = DecisionTarget { hunk_ids: Some(vec!["nothing".into()]), ..good };
    let refused = world.review.decide(Decision::Reject, &[no_hunk], None).unwrap_err();
    assert_eq!(refused, DecideError::NotFound { what: "hunk", id: "nothing".into() });
    assert_eq!(world.states(), [HunkState::Pending]);
}

#[test]
fn typing_elsewhere_moves_a_hunk_and_typing_in_it_marks_a_conflict() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("five\n", "FIVE\n").replace("nine\n", "nine\n9.5\n"));
    world.types(Some(&TEN.replace("one\n", "zero\none\n")));
    let moved = world.proposal();
    assert_eq!(moved.revision, proposal.revision, "a move is no change");
    assert_eq!(moved.hunks.iter().map(|hunk| hunk.start_line).collect::<Vec<_>>(), [5, 10]);
    assert_eq!(world.review.take_changed(), std::slice::from_ref(&moved));

    world.types(Some(&world.text().replace("five\n", "fife\n")));
    assert_eq!(world.states(), [HunkState::Conflicted, HunkState::Pending]);
    assert_eq!(world.proposal().revision, proposal.revision + 1);
    assert_eq!(world.read().unwrap(), world.text().replace("nine\n", "nine\n9.5\n"), "only what fits is read");
    let refused = world.decide(Decision::Accept, &[&moved.hunks[0]]).unwrap_err();
    assert!(matches!(refused, DecideError::Conflicted { .. }), "{refused:?}");
    assert!(world.notes()[0].contains("(line 6) no longer fits"));

    world.types(Some(&world.text().replace("fife\n", "five\n")));
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Pending], "the user undid the typing");
    world.types(Some(&world.text().replace("ten\n", "TEN\n")));
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Conflicted], "beside an insertion is in it");
}

#[test]
fn a_conflicted_hunk_can_be_dismissed_or_proposed_anew() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n"));
    world.types(Some(&TEN.replace("two\n", "2\n").replace("nine\n", "9\n")));
    assert_eq!(world.states(), [HunkState::Conflicted; 2]);
    let anew = world.propose(&world.text().replace("2\n", "TWO\n"));
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Conflicted]);
    world.decide(Decision::Reject, &[&anew.hunks[1]]).unwrap();
    world.accept(&[&anew.hunks[0]]);
    assert_eq!(world.text(), TEN.replace("two\n", "TWO\n").replace("nine\n", "9\n"));
}

#[test]
fn a_change_that_the_user_makes_himself_is_accepted() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n").replace("five\n", "five\n5.5\n"));
    world.types(Some(&TEN.replace("two\n", "TWO\n").replace("ten\n", "10\n")));
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Pending, HunkState::Pending]);
    world.types(Some(&world.text().replace("five\n", "five\n5.5\n")));
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Accepted, HunkState::Pending]);
}

#[test]
fn undo_and_redo_in_the_editor_are_noticed_even_after_the_review_ended() {
    let mut world = World::new(Some("a\na\na\nb\n"));
    let proposal = world.propose("a\na\na\na\nb\nc\n");
    assert_eq!(proposal.hunks.len(), 2);
    world.accept(&proposal.hunks.iter().collect::<Vec<_>>());
    world.review.take_changed();
    world.notes();
    assert_eq!(world.review.proposals(), []);
    assert!(world.review.concerns(&world.path));
    world.types(Some("a\na\na\nb\n"));
    assert_eq!(
        world.review.take_changed()[0].hunks.iter().map(|h| h.state).collect::<Vec<_>>(),
        [HunkState::Undone; 2]
    );
    assert!(world.notes()[0].starts_with("The user took your accepted change to src/a.rs"));
    world.types(Some("a\na\na\na\nb\nc\n"));
    assert_eq!(world.states(), [HunkState::Accepted; 2]);
    world.types(Some("a\na\na\na\nb\n"));
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Undone], "by hand, and only one of them");
}

#[test]
fn undo_is_noticed_step_by_step_through_two_reviews() {
    let mut world = World::new(Some(TEN));
    let first = world.propose(&TEN.replace("two\n", "TWO\n"));
    world.accept(&[&first.hunks[0]]);
    world.review.take_changed();
    let after_first = world.text().to_owned();
    let second = world.propose(&after_first.replace("TWO\n", "two\n").replace("nine\n", "NINE\n"));
    assert_ne!(second.proposal_id, first.proposal_id);
    world.accept(&second.hunks.iter().collect::<Vec<_>>());
    let states = |world: &World| -> Vec<Vec<HunkState>> {
        world.review.proposals.iter().map(|p| p.hunks.iter().map(|hunk| hunk.state).collect()).collect()
    };
    assert_eq!(states(&world)[0], [HunkState::Accepted], "the agent itself changed it back, nobody undid it");
    world.types(Some(&after_first));
    assert_eq!(states(&world), [vec![HunkState::Accepted], vec![HunkState::Undone; 2]]);
    world.types(Some(TEN));
    assert_eq!(states(&world)[0], [HunkState::Undone]);
}

#[test]
fn a_failed_application_makes_its_hunks_pending_again_and_voids_those_after_it() {
    let mut world = World::new(Some(TEN));
    let wanted = TEN.replace("two\n", "TWO\n2.5\n").replace("nine\n", "NINE\n");
    let proposal = world.propose(&wanted);
    let first = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    let second = world.decide(Decision::Accept, &[&proposal.hunks[1]]).unwrap().applications.remove(0);
    assert_eq!(world.states(), [HunkState::Applying; 2]);
    assert_eq!(world.read().unwrap(), wanted, "the model's view does not change by it");
    assert_eq!(second.base_text, first.target_text, "the second counts on the first");
    assert_eq!(world.proposal().hunks[1].start_line, 8, "in the document as it is");
    let failed = ApplyOutcome::Failed { reason: "refused".into() };
    world.review.applied(&first, &failed);
    assert_eq!(world.states(), [HunkState::Pending; 2]);
    assert!(world.review.is_applying());
    world.review.applied(&second, &failed);
    assert!(!world.review.is_applying());
    assert_eq!(world.notes(), [""; 0]);
    world.accept(&proposal.hunks.iter().collect::<Vec<_>>());
    assert_eq!(world.text(), wanted);
}

#[test]
fn the_second_application_lands_on_the_first() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n2.5\n").replace("nine\n", "NINE\n"));
    let accept = |world: &mut World, at: usize| {
        world.decide(Decision::Accept, &[&proposal.hunks[at]]).unwrap().applications.remove(0)
    };
    let (first, second) = (accept(&mut world, 0), accept(&mut world, 1));
    world.land(&first);
    world.land(&second);
    assert_eq!(world.text(), TEN.replace("two\n", "TWO\n2.5\n").replace("nine\n", "NINE\n"));
    assert_eq!(world.states(), [HunkState::Accepted; 2]);
}

#[test]
fn an_edit_on_top_of_one_that_is_on_its_way_falls_with_it() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n"));
    let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    world.propose(&world.read().unwrap().replace("TWO\n", "TWO!\n").replace("nine\n", "NINE\n"));
    assert_eq!(world.states(), [HunkState::Applying, HunkState::Pending, HunkState::Pending]);
    world.review.applied(&application, &ApplyOutcome::Failed { reason: "refused".into() });
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Conflicted, HunkState::Pending]);
    assert_eq!(world.read().unwrap(), TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n"));
}

impl World {
    fn format(&mut self, formatted: &str) -> Option<Application> {
        let (path, document) = (self.path.clone(), self.document.clone());
        self.review.format(&path, document.as_deref(), "src/a.rs", "file:///w/src/a.rs", formatted)
    }
}

#[test]
fn a_formatted_text_moves_what_is_pending_and_is_undone_in_the_editor_step_by_step() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "2 2\n").replace("nine\n", "9\n"));
    let [first, second] = proposal.hunks.as_slice() else { panic!("{proposal:?}") };
    world.accept(&[first]);
    let (unformatted, formatted) = (world.text().to_owned(), world.text().replace("2 2\n", "2\n2\n"));
    let application = world.format(&formatted).unwrap();
    assert!(application.hunk_ids.is_empty());
    assert_eq!(world.read().unwrap(), formatted.replace("nine\n", "9\n"), "the model reads it already");
    world.land(&application);
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Pending]);
    assert_eq!(world.notes(), ["The user accepted your change to src/a.rs (lines 2-3)."]);

    world.types(Some(&unformatted));
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Pending]);
    world.types(Some(TEN));
    assert_eq!(world.states(), [HunkState::Undone, HunkState::Pending]);
    world.accept(&[second]);
    assert_eq!(world.text(), TEN.replace("nine\n", "9\n"));
}

#[test]
fn a_formatter_that_takes_an_accepted_hunk_back_is_no_undo_of_the_users() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "two  \n"));
    world.accept(&[&proposal.hunks[0]]);
    world.notes();
    world.review.take_changed();
    let application = world.format(TEN).unwrap();
    world.land(&application);
    assert_eq!(world.notes(), [""; 0]);
    assert_eq!(world.review.take_changed(), [], "nobody is shown a proposal without a hunk");
    assert!(world.review.proposals().is_empty());
}

#[test]
fn a_formatter_that_would_change_lines_of_a_pending_hunk_changes_nothing() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("two\n", "2\n"));
    for formatted in [TEN.replace("two\n", "two;\n"), TEN.replace("two\n", "two\n\n"), TEN.replace("one\n", "1\n")] {
        assert_eq!(world.format(&formatted), None, "{formatted}");
    }
    assert_eq!(world.states(), [HunkState::Pending]);
    assert!(world.format(&TEN.replace("ten\n", "10\n")).is_some());
    assert_eq!(world.format(&TEN.replace("six\n", "6\n")), None, "another is on its way");
}

#[test]
fn what_is_accepted_while_a_formatted_text_is_on_its_way_lands_on_it_or_falls_with_it() {
    for arrives in [true, false] {
        let mut world = World::new(Some(TEN));
        let proposal = world.propose(&TEN.replace("nine\n", "9\n"));
        let formatted = TEN.replace("one\n", "o\nne\n");
        let formatting = world.format(&formatted).unwrap();
        let accepted = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications;
        if arrives {
            world.land(&formatting);
            world.land(&accepted[0]);
            assert_eq!(world.text(), formatted.replace("nine\n", "9\n"));
        } else {
            // The session tells what becomes of each.
            for application in [&formatting, &accepted[0]] {
                assert!(world.review.is_applying());
                world.review.applied(application, &ApplyOutcome::Failed { reason: "x".into() });
                assert_eq!(world.states(), [HunkState::Pending]);
            }
            assert!(!world.review.is_applying());
            world.accept(&[&proposal.hunks[0]]);
            assert_eq!(world.text(), TEN.replace("nine\n", "9\n"));
        }
    }
}

#[test]
fn typing_while_an_application_is_on_its_way_is_told_apart_from_it() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n"));
    let target = world.text().replace("two\n", "TWO\n");
    // The editor sent our edit and the user's typing as one change.
    let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    world.types(Some(&target.replace("ten\n", "TEN\n")));
    assert_eq!(world.states(), [HunkState::Applying]);
    world.review.applied(&application, &ApplyOutcome::Unverified);
    assert_eq!(world.states(), [HunkState::Accepted], "it was seen, whatever the editor could say");

    // The user typed before the edit arrived, so that the editor refused it.
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&target);
    let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    world.types(Some(&TEN.replace("ten\n", "TEN\n")));
    assert_eq!(world.states(), [HunkState::Pending]);
    world.review.applied(&application, &ApplyOutcome::Failed { reason: "version".into() });
    assert_eq!(world.states(), [HunkState::Pending]);
    world.accept(&[&proposal.hunks[0]]);
    assert_eq!(world.text(), target.replace("ten\n", "TEN\n"));
}

#[test]
fn an_application_that_was_given_up_but_arrived_counts() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n"));
    let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    world.types(Some(&TEN.replace("ten\n", "TEN\n")));
    world.types(Some(TEN));
    assert_eq!(world.states(), [HunkState::Pending; 2]);
    world.document = application.target_text.as_deref().map(str::to_owned);
    world.review.applied(&application, &ApplyOutcome::Verified);
    assert_eq!(world.states(), [HunkState::Accepted, HunkState::Pending]);
    world.accept(&[&proposal.hunks[1]]);
    assert_eq!(world.states(), [HunkState::Accepted; 2]);
}

#[test]
fn an_unverified_application_is_settled_by_the_documents_text() {
    for (seen, state) in [(TEN.replace("two\n", "TWO\n"), HunkState::Accepted), (TEN.to_owned(), HunkState::Pending)] {
        let mut world = World::new(Some(TEN));
        let proposal = world.propose(&TEN.replace("two\n", "TWO\n"));
        let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
        world.review.applied(&application, &ApplyOutcome::Unverified);
        assert_eq!(world.states(), [HunkState::Unverified]);
        assert!(world.notes()[0].contains("could not be seen to arrive"));
        world.types(Some(&seen));
        assert_eq!(world.states(), [state]);
    }
}

#[test]
fn making_a_file_is_one_hunk() {
    let mut world = World::new(None);
    let proposal = world.propose("a\nb\n");
    assert_eq!((proposal.change, proposal.hunks.len()), (FileChange::Create, 1));
    let proposal = world.propose("a\nc\n");
    assert_eq!((proposal.change, proposal.hunks.len()), (FileChange::Create, 1));
    assert_eq!(proposal.hunks[0].new_text, "a\nc\n");
    let application = world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap().applications.remove(0);
    assert_eq!((application.change, application.base_hash.clone()), (FileChange::Create, None));
    let next = world.propose("a\nc\nd\n");
    assert_eq!((next.change, next.hunks.len()), (FileChange::Modify, 2));
    world.land(&application);
    assert_eq!(world.text(), "a\nc\n");
    world.accept(&[&next.hunks[1]]);
    assert_eq!(world.text(), "a\nc\nd\n");
}

#[test]
fn an_empty_file_can_be_made_and_deleted() {
    let mut world = World::new(None);
    let proposal = world.propose("");
    world.accept(&[&proposal.hunks[0]]);
    assert_eq!(world.document.as_deref(), Some(""));
    world.review.take_changed();
    world.try_propose(None).unwrap();
    let proposal = world.proposal();
    assert_eq!((proposal.change, proposal.hunks.len()), (FileChange::Delete, 1));
    assert_eq!(world.read(), None);
    world.accept(&[&proposal.hunks[0]]);
    assert_eq!(world.document, None);
    assert_eq!(world.notes().len(), 2);
}

#[test]
fn a_new_file_that_somebody_else_makes_is_a_conflict_unless_it_is_the_same() {
    for (text, state) in [("theirs\n", HunkState::Conflicted), ("ours\n", HunkState::Accepted)] {
        let mut world = World::new(None);
        world.propose("ours\n");
        world.types(Some(text));
        assert_eq!(world.states(), [state]);
    }
}

#[test]
fn a_deletion_replaces_pending_edits_and_can_be_taken_back() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("two\n", "TWO\n"));
    world.try_propose(None).unwrap();
    assert_eq!(world.proposal().hunks.len(), 1);
    let proposal = world.propose(&TEN.replace("nine\n", "NINE\n"));
    assert_eq!((proposal.change, proposal.hunks.len()), (FileChange::Modify, 1));
    assert_eq!(proposal.hunks[0].new_text, "NINE\n");
    world.try_propose(None).unwrap();
    world.types(Some(&TEN.replace("one\n", "1\n")));
    assert_eq!(world.states(), [HunkState::Conflicted], "the user goes on with the file");
}

#[test]
fn a_new_file_that_is_taken_back_leaves_nothing() {
    let mut world = World::new(None);
    world.propose("a\n");
    world.try_propose(None).unwrap();
    assert_eq!(world.review.take_changed()[0].hunks, []);
    assert_eq!(world.review.proposals(), []);
    assert!(!world.review.concerns(&world.path));
}

#[test]
fn a_file_that_vanishes_and_comes_back_keeps_its_hunks() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "nine\n9.5\n"));
    world.types(None);
    assert_eq!(world.states(), [HunkState::Conflicted; 2]);
    world.types(Some(&TEN.replace("one\n", "zero\none\n")));
    assert_eq!(world.states(), [HunkState::Pending; 2]);
}

#[test]
fn a_missing_final_line_end_is_kept_and_can_be_changed() {
    for (base, wanted) in
        [("a\nb", "a\nB"), ("a\nb", "a\nb\n"), ("a\nb\n", "a\nb"), ("", "a"), ("a", ""), ("a\nb", "a")]
    {
        let mut world = World::new(Some(base));
        let proposal = world.propose(wanted);
        world.accept(&proposal.hunks.iter().collect::<Vec<_>>());
        assert_eq!(world.text(), wanted, "{base:?}");
    }
}

#[test]
fn an_open_last_line_is_in_conflict_with_lines_after_it() {
    let mut world = World::new(Some("a\nb\n"));
    world.propose("a\nB");
    world.types(Some("a\nb\nc\n"));
    assert_eq!(world.states(), [HunkState::Conflicted]);
    assert_eq!(world.read().unwrap(), "a\nb\nc\n");
    world.types(Some("a\nb\n"));
    assert_eq!(world.states(), [HunkState::Pending]);
}

#[test]
fn a_whole_rewrite_of_a_huge_file_is_fast_and_right() {
    let base = numbered(0..100_000);
    let wanted: String = base.replace("line", "row");
    let mut world = World::new(Some(&base));
    let proposal = world.propose(&wanted);
    assert_eq!(proposal.hunks.len(), 1);
    world.accept(&[&proposal.hunks[0]]);
    assert_eq!(world.text(), wanted);
}

#[test]
fn many_hunks_in_a_huge_file_follow_the_user() {
    let base = numbered(0..100_000);
    let wanted: String = base
        .split_inclusive('\n')
        .enumerate()
        .map(|(n, line)| if n % 1000 == 999 { "changed\n" } else { line })
        .collect();
    let mut world = World::new(Some(&base));
    assert_eq!(world.propose(&wanted).hunks.len(), 100);
    world.types(Some(&base.replacen("line 5\n", "line 5\nmore\n", 1)));
    assert_eq!(world.proposal().hunks[0].start_line, 1000);
    assert_eq!(world.read().unwrap(), wanted.replacen("line 5\n", "line 5\nmore\n", 1));
}

#[test]
fn twenty_thousand_small_edits_are_one_hunk_and_no_wait() {
    let line = |n: usize, word: &str| format!("fn name_{n}() {{\n    {word}();\n    same();\n}}\n");
    let base: String = (0..20_000).map(|n| line(n, "old")).collect();
    let wanted: String = (0..20_000).map(|n| line(n, "new")).collect();
    let mut world = World::new(Some(&base));
    // The aims are a tenth of what is asserted.
    let start = Spent::start();
    assert_eq!(world.propose(&wanted).hunks.len(), 1);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    let start = Spent::start();
    world.types(Some(&format!("// typed\n{base}")));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(world.states(), [HunkState::Pending]);
    assert_eq!(world.read().unwrap(), format!("// typed\n{wanted}"));
}

#[test]
fn thousands_of_hunks_of_many_calls_are_no_wait() {
    let base = numbered(0..20_000);
    let mut world = World::new(Some(&base));
    for part in 0..10 {
        let read = world.read().unwrap();
        let changed = read
            .split_inclusive('\n')
            .enumerate()
            .map(|(n, line)| if n / 2000 == part && n % 8 == 0 { format!("new {n}\n") } else { line.to_owned() });
        world.propose(&changed.collect::<String>());
    }
    assert_eq!(world.proposal().hunks.len(), 2500);
    let start = Spent::start();
    world.types(Some(&base.replacen("line 5\n", "line 5.5\n", 1)));
    world.types(Some(&base));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(world.states().iter().all(|state| *state == HunkState::Pending));
}

#[test]
fn the_users_word_reaches_the_model() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\nthree\n", "2\n"));
    let target = DecisionTarget { proposal_id: proposal.proposal_id, revision: proposal.revision, hunk_ids: None };
    world.review.decide(Decision::Reject, &[target], Some("keep the words")).unwrap();
    assert_eq!(
        world.notes(),
        ["The user rejected your change to src/a.rs (lines 2-3). It is not in the file. They said: keep the words"]
    );
}

#[test]
fn notes_are_bounded() {
    let mut world = World::new(Some(&numbered(0..100)));
    let wanted = numbered(0..100).replace("1\n", "one\n");
    let proposal = world.propose(&wanted);
    assert_eq!(proposal.hunks.len(), 10);
    world.decide(Decision::Reject, &proposal.hunks.iter().collect::<Vec<_>>()).unwrap();
    assert!(world.notes()[0].contains("line 72 and 2 more places"));
}

#[test]
fn of_forty_words_of_the_user_none_is_lost() {
    let mut world = World::new(Some(&numbered(100..200)));
    let proposal = world.propose(
        &numbered(100..200)
            .replace("0\n", "zero\n")
            .replace("3\n", "3!\n")
            .replace("6\n", "6!\n")
            .replace("8\n", "8!\n"),
    );
    assert_eq!(proposal.hunks.len(), 40);
    for (at, hunk) in proposal.hunks.iter().enumerate() {
        let revision = world.proposal().revision;
        let hunk_ids = Some(vec![hunk.hunk_id.clone()]);
        let target = DecisionTarget { proposal_id: proposal.proposal_id.clone(), revision, hunk_ids };
        // Every tenth is rejected without a word.
        let word = (at % 10 != 0).then(|| format!("word {at}."));
        world.review.decide(Decision::Reject, &[target], word.as_deref()).unwrap();
    }
    let first = world.review.notes(&who);
    assert_eq!(first.len(), 31);
    assert!(first[..30].iter().all(|note| note.has_word), "what the user said goes first");
    assert_eq!(first[30].text, "There is more news of your edits, 7 notes; it follows with your next request.");
    let second = world.review.notes(&who);
    assert_eq!(second.len(), 7);
    let said: String = first.iter().chain(&second).map(|note| format!("{}\n", note.text)).collect();
    for at in (0..40).filter(|at| at % 10 != 0) {
        assert_eq!(said.matches(&format!("They said: word {at}.\n")).count(), 1);
    }
    assert_eq!(world.review.notes(&who), []);
}

/// The process ends, and another takes up what the log last said.
fn restart(world: &mut World) {
    let seen = world.review.proposals();
    let document = world.document.clone();
    world.review = Review::restore(seen, |path| {
        assert_eq!(*path, world.path);
        document.clone()
    });
}

#[test]
fn after_a_crash_pending_hunks_are_where_they_were() {
    let mut world = World::new(Some(TEN));
    let wanted = TEN.replace("two\n", "TWO\n").replace("nine\n", "nine\n9.5\n").replace("five\n", "");
    let seen = world.propose(&wanted);
    restart(&mut world);
    assert_eq!(world.proposal(), seen);
    assert_eq!(world.read().unwrap(), wanted);
    let next = world.propose(&wanted.replace("seven\n", "SEVEN\n"));
    assert!(next.hunks.iter().all(|hunk| next.hunks.iter().filter(|other| other.hunk_id == hunk.hunk_id).count() == 1));
    world.accept(&next.hunks.iter().collect::<Vec<_>>());
    assert_eq!(world.text(), wanted.replace("seven\n", "SEVEN\n"));
}

#[test]
fn after_a_crash_hunks_that_moved_are_found_and_others_conflict() {
    let base = numbered(1..31);
    let mut world = World::new(Some(&base));
    let changed = |text: &str| text.replace("line 8\n", "LINE 8\n").replace("line 25\n", "line 25\n25.5\n");
    let seen = world.propose(&changed(&base).replace("line 15\n", "LINE 15\n"));
    world.document = Some(base.replace("line 1\n", "zero\nline 1\n").replace("line 15\n", "line XV\n"));
    restart(&mut world);
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Conflicted, HunkState::Pending]);
    assert_eq!(world.proposal().revision, seen.revision + 1);
    assert_eq!(world.read().unwrap(), changed(world.text()));
    assert_eq!(world.notes().len(), 1, "the model hears of the conflict");
    restart(&mut world);
    assert_eq!(world.states(), [HunkState::Pending, HunkState::Conflicted, HunkState::Pending]);
}

/// Functions of equal form, which differ in their names only.
fn functions(names: impl IntoIterator<Item = char>) -> String {
    names
        .into_iter()
        .map(|name| format!("int {name}(int x)\n{{\n    x += 1;\n    check(x);\n    return x;\n}}\n\n"))
        .collect()
}

#[test]
fn a_hunk_whose_function_is_deleted_does_not_go_to_another_one() {
    for typed in ["", "int a(int x)\n{\n    x += 2;\n    check(x);\n    return x;\n}\n\n"] {
        let base = functions('a'..='b');
        let mut world = World::new(Some(&base));
        world.propose(&base.replacen("x += 1", "x += 9", 1));
        world.types(Some(&format!("{typed}{}", functions(['b']))));
        assert_eq!(world.states(), [HunkState::Conflicted]);
        world.types(Some(&format!("{}// more\n", world.text())));
        assert_eq!(world.states(), [HunkState::Conflicted], "whatever is typed elsewhere");
        assert_eq!(world.read().as_deref(), Some(world.text()));
        world.types(Some(&format!("{base}// more\n")));
        assert_eq!(world.states(), [HunkState::Pending], "the user undid it");
        assert_eq!(world.read().unwrap(), format!("{}// more\n", base.replacen("x += 1", "x += 9", 1)));
    }
}

#[test]
fn lines_that_went_one_after_the_other_bring_the_hunk_back_when_all_are_there_again() {
    let mut world = World::new(Some(TEN));
    world.propose(&TEN.replace("five\n", "FIVE\n"));
    let without = |gone: &[&str]| gone.iter().fold(TEN.to_owned(), |text, line| text.replace(line, ""));
    let steps = [vec!["five\n"], vec!["five\n", "six\n"], vec!["four\n", "five\n", "six\n"]];
    for step in steps.iter().chain(steps.iter().rev().skip(1)) {
        world.types(Some(&without(step)));
        assert_eq!(world.states(), [HunkState::Conflicted], "{step:?}");
    }
    world.types(Some(TEN));
    assert_eq!(world.states(), [HunkState::Pending]);
}

#[test]
fn after_a_crash_a_hunk_never_comes_up_in_another_function_of_the_same_form() {
    let with_hunk = |functions: String| {
        let at = functions.find("int c").map_or(functions.len(), |c| c + functions[c..].find("return x").unwrap());
        let (above, below) = functions.split_at(at);
        above.to_owned() + &below.replacen("return x", "return -x", 1)
    };
    for (now, state) in [
        // The file grew by one function meanwhile, so that another one stands where the hunk was.
        (functions(['A', 'a', 'b', 'c', 'd', 'e']), HunkState::Pending),
        (functions(['a', 'b', 'd', 'e']), HunkState::Conflicted),
        (functions(['A', 'a', 'b', 'd', 'e']), HunkState::Conflicted),
        (functions('a'..='e'), HunkState::Pending),
    ] {
        let mut world = World::new(Some(&functions('a'..='e')));
        world.propose(&with_hunk(functions('a'..='e')));
        world.document = Some(now.clone());
        restart(&mut world);
        assert_eq!(world.states(), [state]);
        assert_eq!(world.read().unwrap(), with_hunk(now), "in no other function than c");
    }
}

#[test]
fn after_a_crash_a_twin_that_is_left_alone_is_not_taken_for_the_one_that_is_gone() {
    let step = "- name: test\n  run: make\n  with: all\n  in: src\n  as: root\n  for: 5\n  to: log\n";
    let mut world = World::new(Some(&step.repeat(4)));
    let base = step.repeat(4);
    world.propose(&base.replacen("  in: src\n", "  in: lib\n", 2).replacen("  in: lib\n", "  in: src\n", 1));
    assert_eq!(world.proposal().hunks[0].start_line, 7 + 3);
    world.document = Some(step.to_owned());
    restart(&mut world);
    assert_eq!(world.states(), [HunkState::Conflicted]);
}

#[test]
fn after_a_crash_the_text_tells_whether_an_application_arrived() {
    for arrived in [false, true] {
        let mut world = World::new(Some(TEN));
        let proposal = world.propose(&TEN.replace("two\n", "TWO\n2.5\n").replace("nine\n", ""));
        let application =
            world.decide(Decision::Accept, &proposal.hunks.iter().collect::<Vec<_>>()).unwrap().applications.remove(0);
        if arrived {
            world.document = application.target_text.as_deref().map(str::to_owned);
        }
        restart(&mut world);
        let state = if arrived { HunkState::Accepted } else { HunkState::Pending };
        assert_eq!(world.states(), [state; 2]);
    }
    for arrived in [false, true] {
        let mut world = World::new(None);
        let proposal = world.propose("new\n");
        world.decide(Decision::Accept, &[&proposal.hunks[0]]).unwrap();
        world.document = arrived.then(|| "new\n".to_owned());
        restart(&mut world);
        assert_eq!(world.states(), [if arrived { HunkState::Accepted } else { HunkState::Pending }]);
    }
}

fn a_text() -> impl Strategy<Value = String> {
    "([abc{}]{0,1}\n){0,12}[ab]{0,1}"
}

/// Divides hunks into those that the bits choose and the others.
fn chosen(hunks: &[Hunk], bits: u16) -> (Vec<&Hunk>, Vec<&Hunk>) {
    hunks.iter().enumerate().fold((vec![], vec![]), |mut both, (at, hunk)| {
        if bits >> (at % 16) & 1 == 1 {
            both.0.push(hunk)
        } else {
            both.1.push(hunk)
        }
        both
    })
}

/// The text with hunks in it, by nothing but what clients see of them.
fn with_hunks(text: &str, hunks: &[&Hunk]) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for hunk in hunks.iter().rev() {
        let start = hunk.start_line as usize;
        let end = start + hunk.old_text.split_inclusive('\n').count();
        assert_eq!(lines[start..end].concat(), hunk.old_text);
        lines.splice(start..end, [hunk.new_text.as_str()]);
    }
    lines.concat()
}

/// A step of somebody.
#[derive(Clone, Debug)]
enum Step {
    Propose(String),
    Delete,
    Type(String),
    Vanish,
    Decide(Decision, u16),
    /// The oldest application ends: 0 verified, 1 unverified, 2 failed, 3 unverified and not there.
    End(u8),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => a_text().prop_map(Step::Propose),
        1 => Just(Step::Delete),
        4 => a_text().prop_map(Step::Type),
        1 => Just(Step::Vanish),
        6 => (any::<bool>(), any::<u16>()).prop_map(|(accept, bits)| {
            Step::Decide(if accept { Decision::Accept } else { Decision::Reject }, bits)
        }),
        4 => (0u8..4).prop_map(Step::End),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..16)
}

proptest! {
    #[test]
    fn accepting_all_gives_the_proposed_text(base in a_text(), wanted in a_text()) {
        prop_assume!(base != wanted);
        let mut world = World::new(Some(&base));
        let proposal = world.propose(&wanted);
        world.accept(&proposal.hunks.iter().collect::<Vec<_>>());
        prop_assert_eq!(world.text(), wanted);
    }

    #[test]
    fn accepting_some_and_rejecting_the_rest_gives_exactly_those(base in a_text(), wanted in a_text(), bits: u16) {
        prop_assume!(base != wanted);
        let mut world = World::new(Some(&base));
        let proposal = world.propose(&wanted);
        let (accepted, rejected) = chosen(&proposal.hunks, bits);
        let expected = with_hunks(&base, &accepted);
        world.decide(Decision::Reject, &rejected).unwrap();
        world.accept(&accepted);
        prop_assert_eq!(world.text(), expected);
    }

    #[test]
    fn the_order_of_acceptance_does_not_matter(base in a_text(), wanted in a_text(), order: u64) {
        prop_assume!(base != wanted);
        let mut world = World::new(Some(&base));
        let mut hunks = world.propose(&wanted).hunks;
        hunks.sort_by_key(|hunk| (u64::from(hunk.start_line) + 1).wrapping_mul(order | 1).rotate_left(17));
        for hunk in &hunks {
            world.accept(&[hunk]);
        }
        prop_assert_eq!(world.text(), wanted);
    }

    /// Lines are all different, so that there is one way to see what the user did.
    #[test]
    fn typing_away_from_hunks_never_conflicts(changed in prop::collection::vec(0u8..8, 40), typed in prop::collection::vec(0u8..5, 40)) {
        let base = numbered(0..40);
        // The model changes, deletes or adds at some lines.
        let wanted: String = changed.iter().enumerate().map(|(n, what)| match what {
            0 => format!("model {n}\n"),
            1 => String::new(),
            2 => format!("line {n}\nmodel {n}\n"),
            _ => format!("line {n}\n"),
        }).collect();
        prop_assume!(base != wanted);
        let mut world = World::new(Some(&base));
        let hunks = world.propose(&wanted).hunks;
        let near = |n: usize| hunks.iter().any(|hunk| {
            let start = hunk.start_line as usize;
            let end = start + hunk.old_text.split_inclusive('\n').count();
            n + 1 >= start && n <= end
        });
        // The user does so at lines that are neither in nor beside a hunk.
        let theirs = |line: &str, n: usize, what: u8| match what {
            0 => format!("user {n}\n"),
            1 => String::new(),
            2 => format!("{line}user {n}\n"),
            _ => line.to_owned(),
        };
        let types = |text: &str| -> String {
            text.split_inclusive('\n').map(|line| {
                let n = line.strip_prefix("line ").map(|n| n.trim().parse::<usize>().unwrap());
                match n.filter(|n| !near(*n)) {
                    Some(n) => theirs(line, n, typed[n]),
                    None => line.to_owned(),
                }
            }).collect()
        };
        let (typed_base, both) = (types(&base), types(&wanted));
        world.types(Some(&typed_base));
        prop_assert!(world.states().iter().all(|state| *state == HunkState::Pending), "{:?}", world.states());
        prop_assert_eq!(world.read().unwrap(), &*both);
        let hunks = world.proposal().hunks;
        world.accept(&hunks.iter().collect::<Vec<_>>());
        prop_assert_eq!(world.text(), both);
    }

    /// Whatever happens in whatever order: the model reads the document with the pending hunks in it.
    #[test]
    fn the_overlay_is_always_the_document_with_the_pending_hunks(base in prop::option::of(a_text()), steps in steps()) {
        let mut world = World::new(base.as_deref());
        // With each, whether nobody else has changed the document since: after that, an arrival that is not shown
        // cannot be told from what was typed.
        let mut on_their_way: Vec<(Application, bool)> = Vec::new();
        for step in steps {
            if matches!(step, Step::Type(_) | Step::Vanish) {
                on_their_way.iter_mut().for_each(|(_, undisturbed)| *undisturbed = false);
            }
            match step {
                Step::Propose(text) => drop(world.try_propose(Some(&text))),
                Step::Delete => drop(world.try_propose(None)),
                Step::Type(text) => world.types(Some(&text)),
                Step::Vanish => world.types(None),
                Step::Decide(decision, bits) => if let Some(proposal) = world.review.proposals().pop() {
                    let (ours, _) = chosen(&proposal.hunks, bits);
                    if let Ok(decided) = world.decide(decision, &ours) {
                        on_their_way.extend(decided.applications.into_iter().map(|application| (application, true)));
                    }
                },
                Step::End(how) => if !on_their_way.is_empty() {
                    let (application, undisturbed) = on_their_way.remove(0);
                    let fits = application.base_text.as_deref() == world.document.as_deref();
                    if fits && how == 0 {
                        world.land(&application);
                    } else if fits && how == 1 && undisturbed {
                        // No change was seen, though it is in the document.
                        world.document = application.target_text.as_deref().map(str::to_owned);
                        world.review.applied(&application, &ApplyOutcome::Unverified);
                    } else if fits && how == 3 {
                        world.review.applied(&application, &ApplyOutcome::Unverified);
                        let document = world.document.clone();
                        world.types(document.as_deref());
                    } else {
                        world.review.applied(&application, &ApplyOutcome::Failed { reason: "no".into() });
                    }
                },
                Step::Restart => {
                    on_their_way.clear();
                    restart(&mut world);
                },
            }
            if on_their_way.is_empty() {
                prop_assert!(!world.review.is_applying());
                let open: Vec<Proposal> = world.review.proposals().into_iter().filter(|p| p.hunks.iter().any(|h| h.state == HunkState::Pending)).collect();
                prop_assert!(open.len() <= 1);
                if let Some(proposal) = open.first() {
                    let pending: Vec<&Hunk> = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).collect();
                    let expected = match (proposal.change, &world.document) {
                        (FileChange::Delete, _) => None,
                        (_, None) => Some(pending[0].new_text.clone()),
                        (_, Some(document)) => Some(with_hunks(document, &pending)),
                    };
                    prop_assert_eq!(world.read(), expected);
                }
            }
            world.review.take_changed();
            world.notes();
        }
    }
}

#[test]
fn the_user_changes_what_is_proposed_and_the_model_is_told() {
    let mut world = World::new(Some(TEN));
    let proposal = world.propose(&TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n"));
    let texts = world.review.texts(&proposal.proposal_id).unwrap();
    assert_eq!((texts.base.as_deref(), texts.revision), (Some(TEN), proposal.revision));

    let wanted = texts.proposed.unwrap().replace("TWO", "Two").replace("five\n", "5\n");
    let stale = world.review.change(&proposal.proposal_id, proposal.revision + 1, &wanted);
    assert!(matches!(stale, Err(DecideError::Stale { .. })));
    let windows = wanted.replace('\n', "\r\n");
    let changed = world.review.change(&proposal.proposal_id, proposal.revision, &windows).unwrap().remove(0);
    let lines: Vec<_> = changed.hunks.iter().map(|hunk| hunk.new_text.as_str()).collect();
    assert_eq!(lines, ["Two\n", "5\n", "NINE\n"]);
    assert_eq!(changed.hunks[2].hunk_id, proposal.hunks[1].hunk_id, "what was not touched stays as it is");
    assert!(changed.hunks[1].tool_call_ids.is_empty(), "it is the user's own");
    assert_eq!(world.read().unwrap(), wanted, "the model reads what the user wants");
    assert_eq!(world.notes(), ["The user changed what you proposed for src/a.rs; read it again before you go on."]);

    // The same text once more is harmless, and taking everything back leaves nothing pending.
    world.review.change(&proposal.proposal_id, 0, &wanted).unwrap();
    assert!(world.notes().is_empty());
    world.review.change(&proposal.proposal_id, changed.revision, TEN).unwrap();
    assert!(world.review.all_pending().is_empty());
    assert_eq!(world.text(), TEN);
}

#[test]
fn a_word_on_a_hunk_that_the_model_has_not_heard_outlives_a_restart() {
    let mut world = World::new(Some(TEN));
    world.try_propose(Some(&TEN.replace("one", "1"))).unwrap();
    let proposal = world.proposal();
    world.review.comment(&proposal.proposal_id, &proposal.hunks[0].hunk_id, "Why?").unwrap();
    restart(&mut world);
    let heard = world.notes();
    assert!(heard.len() == 1 && heard[0].ends_with("which this does not decide: Why?"), "{heard:?}");
    restart(&mut world);
    assert!(world.notes().is_empty(), "it has been said");
    assert_eq!(world.proposal().hunks[0].comments, ["Why?"]);
}
