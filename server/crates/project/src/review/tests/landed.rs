//! Changes of a file by others: in the document already, and to be kept or taken back.

use super::*;

/// A file that others change, and what it was before they did.
struct Others {
    world: World,
    turn: TurnId,
}

impl Others {
    fn new(document: Option<&str>) -> Self {
        Self { world: World::new(document), turn: "turn".into() }
    }

    /// A command makes this of the file, as nobody has told yet when it is listed.
    fn command(&mut self, after: Option<&str>) -> bool {
        let before = self.world.document.clone();
        self.world.document = after.map(str::to_owned);
        self.lands(before.as_deref(), after)
    }

    fn lands(&mut self, before: Option<&str>, after: Option<&str>) -> bool {
        let path = self.world.path.clone();
        let calls = [ToolCallId::from("make")];
        let landed = Landed { path: &path, before, after, display: "src/a.rs", calls: &calls, turn: &self.turn };
        self.world.review.land(&landed, self.world.document.as_deref())
    }

    /// Returns the listed proposal, if there is one.
    fn listed(&self) -> Option<Proposal> {
        let mut listed = self.world.review.proposals().into_iter();
        listed.find(|proposal| proposal.landed && proposal.hunks.iter().any(|hunk| is_open(hunk.state)))
    }

    fn hunks(&self) -> Vec<Hunk> {
        let open = |hunk: &Hunk| is_open(hunk.state);
        self.listed().into_iter().flat_map(|proposal| proposal.hunks).filter(open).collect()
    }

    fn decide(&mut self, decision: Decision, hunks: &[Hunk]) -> Result<Decided, DecideError> {
        let proposal = self.listed().expect("something is listed");
        let hunk_ids = Some(hunks.iter().map(|hunk| hunk.hunk_id.clone()).collect());
        let (proposal_id, revision) = (proposal.proposal_id, proposal.revision);
        self.world.review.decide(decision, &[DecisionTarget { proposal_id, revision, hunk_ids }], None)
    }

    fn take_back(&mut self, hunks: &[Hunk]) {
        for application in self.decide(Decision::Reject, hunks).unwrap().applications {
            self.world.land(&application);
        }
    }

    fn texts(&self) -> ProposedText {
        self.world.review.texts(&self.listed().unwrap().proposal_id).unwrap()
    }
}

fn is_open(state: HunkState) -> bool {
    matches!(state, HunkState::Pending | HunkState::Applying | HunkState::Conflicted)
}

#[test]
fn of_three_places_that_a_command_changed_one_is_kept_and_one_taken_back() {
    let mut others = Others::new(Some(TEN));
    let after = TEN.replace("two\n", "TWO\n").replace("five\n", "").replace("nine\n", "nine\n9.5\n");
    assert!(others.command(Some(&after)));
    let proposal = others.listed().unwrap();
    assert_eq!((proposal.change, proposal.hunks.len()), (FileChange::Modify, 3));
    let said: Vec<_> = proposal.hunks.iter().map(|h| (h.start_line, &*h.old_text, &*h.new_text)).collect();
    assert_eq!(said, [(1, "two\n", "TWO\n"), (4, "five\n", ""), (8, "", "9.5\n")], "as the document is now");
    let texts = others.texts();
    assert_eq!((texts.base.as_deref(), texts.proposed.as_deref()), (Some(TEN), Some(&*after)));
    assert_eq!(others.world.read().as_deref(), Some(&*after), "the model reads what is there");
    assert!(others.world.review.all_pending().is_empty(), "nothing waits for it");

    others.decide(Decision::Accept, &proposal.hunks[..1]).unwrap();
    others.take_back(&proposal.hunks[1..2]);
    let left = after.replace("four\n", "four\nfive\n");
    assert_eq!(others.world.text(), left);
    let states: Vec<_> = others.listed().unwrap().hunks.iter().map(|hunk| hunk.state).collect();
    assert_eq!(states, [HunkState::Accepted, HunkState::Rejected, HunkState::Pending]);
    let told = "The user took back what `make` changed in src/a.rs (line 5). It is as it was before.";
    assert_eq!(others.world.notes(), [told]);
    assert_eq!(others.texts().base.as_deref(), Some(&*left.replace("9.5\n", "")), "what was kept stays");
}

#[test]
fn a_file_that_a_command_made_is_deleted_and_one_that_it_deleted_made_again() {
    let mut others = Others::new(None);
    others.command(Some("new\n"));
    let proposal = others.listed().unwrap();
    let hunk = &proposal.hunks[0];
    assert_eq!((proposal.change, &*hunk.old_text, &*hunk.new_text), (FileChange::Create, "", "new\n"));
    others.take_back(std::slice::from_ref(hunk));
    assert_eq!(others.world.document, None);
    assert_eq!(others.world.notes().len(), 1);
    assert!(others.listed().is_none());

    let mut others = Others::new(Some("old\n"));
    others.command(None);
    let proposal = others.listed().unwrap();
    let hunk = &proposal.hunks[0];
    assert_eq!((proposal.change, &*hunk.old_text, &*hunk.new_text), (FileChange::Delete, "old\n", ""));
    let decided = others.decide(Decision::Reject, std::slice::from_ref(hunk)).unwrap();
    assert_eq!(decided.applications[0].change, FileChange::Create);
    others.world.land(&decided.applications[0]);
    assert_eq!(others.world.document.as_deref(), Some("old\n"));
}

#[test]
fn a_later_command_joins_what_is_listed_and_what_it_changes_back_is_gone() {
    let mut others = Others::new(Some(TEN));
    let once = TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n");
    others.command(Some(&once));
    let [two, _] = others.hunks().try_into().unwrap();
    others.decide(Decision::Accept, &[two]).unwrap();
    // The same line again, and another one; what was kept is not asked about once more.
    others.command(Some(&once.replace("NINE\n", "9\n").replace("five\n", "FIVE\n")));
    let said: Vec<_> = others.hunks().into_iter().map(|hunk| (hunk.old_text, hunk.new_text)).collect();
    let pair = |old: &str, new: &str| (format!("{old}\n"), format!("{new}\n"));
    assert_eq!(said, [pair("five", "FIVE"), pair("nine", "9")]);
    others.command(Some(&TEN.replace("two\n", "TWO\n").replace("five\n", "FIVE\n")));
    assert_eq!(others.hunks().into_iter().map(|hunk| hunk.new_text).collect::<Vec<_>>(), ["FIVE\n"]);
    others.command(Some(TEN));
    let all: Vec<_> = others.hunks().into_iter().map(|hunk| (hunk.old_text, hunk.new_text)).collect();
    assert_eq!(all, [pair("TWO", "two")], "only what was kept is changed now");
}

#[test]
fn what_a_command_changes_and_another_changes_back_is_gone_whoever_was_faster_to_tell() {
    for told_first in [false, true] {
        let mut others = Others::new(Some(TEN));
        let after = TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n");
        others.command(Some(&after));
        if told_first {
            others.world.types(Some(TEN));
        }
        others.world.document = Some(TEN.to_owned());
        others.lands(Some(&after), Some(TEN));
        assert_eq!(others.listed(), None, "told first: {told_first}");
    }
}

#[test]
fn made_changed_and_deleted_by_one_command_after_the_other() {
    let mut others = Others::new(None);
    others.command(Some("one\n"));
    others.command(Some("one\ntwo\n"));
    let proposal = others.listed().unwrap();
    assert_eq!((proposal.change, &*others.hunks()[0].new_text), (FileChange::Create, "one\ntwo\n"));
    others.command(None);
    assert_eq!(others.listed(), None);

    let mut others = Others::new(Some("one\n"));
    others.command(None);
    others.command(Some("two\n"));
    let proposal = others.listed().unwrap();
    assert_eq!(proposal.change, FileChange::Modify);
    let hunk = &others.hunks()[0];
    assert_eq!((&*hunk.old_text, &*hunk.new_text), ("one\n", "two\n"));
}

#[test]
fn pending_edits_and_what_a_command_changed_in_the_same_file_are_decided_together() {
    let mut others = Others::new(Some(TEN));
    let wanted = |text: &str| text.replace("five\n", "FIVE\n");
    others.world.propose(&wanted(TEN));
    let after = TEN.replace("two\n", "TWO\n2.5\n");
    others.command(Some(&after));
    assert_eq!(others.world.read(), Some(wanted(&after)), "the model's edit moved with the text");
    let proposals = others.world.review.proposals();
    assert_eq!(proposals.iter().map(|it| it.landed).collect::<Vec<_>>(), [false, true]);
    // Each kind on its own, one after the other, before either has arrived.
    let target = |at: usize| DecisionTarget {
        proposal_id: proposals[at].proposal_id.clone(),
        revision: proposals[at].revision,
        hunk_ids: None,
    };
    let accepted = others.world.review.decide(Decision::Accept, &[target(0)], None).unwrap().applications.remove(0);
    let taken_back = others.world.review.decide(Decision::Reject, &[target(1)], None).unwrap().applications.remove(0);
    assert_eq!(taken_back.base_text, accepted.target_text, "the second counts on the first");
    others.world.land(&accepted);
    others.world.land(&taken_back);
    assert_eq!(others.world.text(), wanted(TEN));
    assert!(!others.world.review.is_applying());
    assert!(others.world.review.proposals().iter().all(|it| it.hunks.iter().all(|hunk| !is_open(hunk.state))));
}

#[test]
fn what_counts_on_an_edit_that_fails_falls_with_it_and_can_be_decided_again() {
    let mut others = Others::new(Some(TEN));
    others.world.propose(&TEN.replace("five\n", "FIVE\n"));
    others.command(Some(&TEN.replace("two\n", "TWO\n")));
    let proposals = others.world.review.proposals();
    let targets: Vec<_> = proposals
        .iter()
        .map(|it| DecisionTarget { proposal_id: it.proposal_id.clone(), revision: it.revision, hunk_ids: None })
        .collect();
    let accepted = others.world.review.decide(Decision::Accept, &targets[..1], None).unwrap().applications.remove(0);
    let taken_back = others.world.review.decide(Decision::Reject, &targets[1..], None).unwrap().applications.remove(0);
    let failed = ApplyOutcome::Failed { reason: "refused".into() };
    others.world.review.applied(&accepted, &failed);
    others.world.review.applied(&taken_back, &failed);
    assert!(!others.world.review.is_applying());
    let hunks = others.hunks();
    others.take_back(&hunks);
    assert_eq!(others.world.text(), TEN);
}

#[test]
fn a_hunk_in_which_the_user_typed_can_be_kept_but_not_taken_back() {
    let mut others = Others::new(Some(TEN));
    let after = TEN.replace("two\n", "TWO\n");
    others.command(Some(&after));
    others.world.types(Some(&after.replace("TWO\n", "TWO, as I say\n")));
    let hunks = others.hunks();
    assert_eq!(hunks[0].state, HunkState::Conflicted);
    let error = others.decide(Decision::Reject, &hunks).unwrap_err();
    assert!(error.to_string().ends_with("it cannot be taken back, only kept"), "{error}");
    others.decide(Decision::Accept, &hunks).unwrap();
    assert_eq!(others.listed(), None);
    assert_eq!(others.world.notes(), [""; 0], "to keep is no news");
}

#[test]
fn what_is_not_in_the_document_is_not_listed_until_it_is() {
    let mut others = Others::new(Some(TEN));
    let after = TEN.replace("two\n", "TWO\n");
    assert!(!others.lands(Some(TEN), Some(&after)), "the editor has not read the file anew");
    assert_eq!(others.listed(), None);
    // It has now, and the user has typed on.
    others.world.document = Some(after.replace("nine\n", "NINE\n"));
    assert!(others.lands(Some(TEN), Some(&after)));
    let hunks = others.hunks();
    assert_eq!(hunks.len(), 1);
    others.take_back(&hunks);
    assert_eq!(others.world.text(), TEN.replace("nine\n", "NINE\n"));
}

#[test]
fn the_users_undo_of_what_was_taken_back_is_noticed() {
    let mut others = Others::new(Some(TEN));
    let after = TEN.replace("two\n", "TWO\n");
    others.command(Some(&after));
    let hunks = others.hunks();
    others.take_back(&hunks);
    others.world.notes();
    others.world.types(Some(&after));
    assert_eq!(others.world.notes(), ["It is there again: what `make` changed in src/a.rs (line 2)."]);
}

#[test]
fn after_a_crash_it_is_listed_as_before_and_what_was_on_its_way_is_settled_by_the_text() {
    let mut others = Others::new(Some(TEN));
    let after = TEN.replace("two\n", "TWO\n").replace("nine\n", "NINE\n");
    others.command(Some(&after));
    let seen = others.listed().unwrap();
    restart(&mut others.world);
    assert_eq!(others.listed().unwrap(), seen);
    let hunks = others.hunks();
    let application = others.decide(Decision::Reject, &hunks[..1]).unwrap().applications.remove(0);
    // The document has it, and nobody lived to say so.
    others.world.document = application.target_text.as_deref().map(str::to_owned);
    restart(&mut others.world);
    let states: Vec<_> = others.listed().unwrap().hunks.iter().map(|hunk| hunk.state).collect();
    assert_eq!(states, [HunkState::Rejected, HunkState::Pending]);
    let hunks = others.hunks();
    others.take_back(&hunks);
    assert_eq!(others.world.text(), TEN);
}

#[test]
fn it_is_not_proposed_otherwise_and_dropped_where_its_turn_is_taken_back() {
    let mut others = Others::new(Some(TEN));
    others.command(Some(&TEN.replace("two\n", "TWO\n")));
    let seen = others.listed().unwrap();
    let error = others.world.review.change(&seen.proposal_id, seen.revision, "other\n").unwrap_err();
    assert!(matches!(error, DecideError::Landed { .. }), "{error}");
    let path = others.world.path.clone();
    others.world.review.drop_landed(&path, |calls| calls == [ToolCallId::from("other")]);
    assert!(others.listed().is_some());
    others.world.review.drop_landed(&path, |calls| calls == [ToolCallId::from("make")]);
    let last = others.world.review.take_changed();
    assert!(last.iter().any(|it| it.proposal_id == seen.proposal_id && it.hunks.is_empty()), "it is told");
    assert_eq!(others.listed(), None);
}

proptest! {
    #[test]
    fn taking_all_back_gives_the_text_before_and_keeping_all_changes_nothing(before in prop::option::of(a_text()), after in prop::option::of(a_text()), keep: bool) {
        if before == after {
            return Ok(());
        }
        let mut others = Others::new(before.as_deref());
        prop_assert!(others.command(after.as_deref()));
        let hunks = others.hunks();
        if keep {
            others.decide(Decision::Accept, &hunks).unwrap();
            prop_assert_eq!(others.world.document, after);
        } else {
            others.take_back(&hunks);
            prop_assert_eq!(others.world.document, before);
        }
    }

    /// The user types away from what was changed, or into it; then some of it is taken back and the rest kept. What
    /// comes of it is the text with just that taken back, or the hunk was in conflict and could not be.
    #[test]
    fn with_typing_in_between_what_is_taken_back_is_as_before_or_refused(before in a_text(), after in a_text(), typed in a_text(), bits: u16) {
        prop_assume!(before != after);
        let mut others = Others::new(Some(&before));
        others.command(Some(&after));
        others.world.types(Some(&typed));
        if others.listed().is_none() {
            return Ok(());
        }
        let hunks = others.hunks();
        let document = others.world.document.clone().unwrap();
        let is_conflicted = |hunk: &Hunk| hunk.state == HunkState::Conflicted;
        for hunk in hunks.iter().filter(|hunk| !is_conflicted(hunk)) {
            let there: String = document.split_inclusive('\n').skip(hunk.start_line as usize).collect();
            prop_assert!(there.starts_with(&hunk.new_text), "a hunk that is listed stands where it says");
        }
        let (back, kept) = chosen(&hunks, bits);
        let (back, kept): (Vec<Hunk>, Vec<Hunk>) = (back.into_iter().cloned().collect(), kept.into_iter().cloned().collect());
        if back.iter().any(is_conflicted) {
            prop_assert!(others.decide(Decision::Reject, &back).is_err());
            prop_assert_eq!(others.world.document.as_deref(), Some(&*document), "refused, nothing is done");
            return Ok(());
        }
        let turned: Vec<Hunk> = back
            .iter()
            .map(|hunk| Hunk { old_text: hunk.new_text.clone(), new_text: hunk.old_text.clone(), ..hunk.clone() })
            .collect();
        let expected = with_hunks(&document, &turned.iter().collect::<Vec<_>>());
        others.take_back(&back);
        if !kept.is_empty() && others.listed().is_some() {
            others.decide(Decision::Accept, &kept).unwrap();
        }
        prop_assert_eq!(others.world.text(), expected);
        prop_assert_eq!(others.listed(), None);
    }

    /// Several commands one after the other, with decisions and typing in between: what is listed is always the way
    /// from the text before, with what was kept and typed in it.
    #[test]
    fn commands_one_after_the_other_are_listed_as_one_change(texts in prop::collection::vec(a_text(), 2..6)) {
        let mut others = Others::new(Some(&texts[0]));
        for text in &texts[1..] {
            if others.world.document.as_deref() != Some(text) {
                others.command(Some(text));
            }
        }
        let last = others.world.document.clone().unwrap();
        match others.listed() {
            None => prop_assert_eq!(&last, &texts[0]),
            Some(_) => {
                let shown = others.texts();
                prop_assert_eq!(shown.proposed.as_deref(), Some(&*last));
                let hunks = others.hunks();
                prop_assert!(hunks.iter().all(|hunk| hunk.state == HunkState::Pending));
                others.take_back(&hunks);
                prop_assert_eq!(others.world.text(), &texts[0]);
            }
        }
    }
}

#[test]
fn of_too_many_undecided_files_the_oldest_are_kept_and_nobody_is_told() {
    let mut review = Review::default();
    for at in 0..5 {
        let path = PathBuf::from(format!("/p/{at}.txt"));
        let turn = TurnId::from("t");
        let (before, after) = (Some("one\n"), Some("two\n"));
        let landed = Landed { path: &path, before, after, display: "", calls: &[], turn: &turn };
        assert!(review.land(&landed, after));
    }
    review.take_changed();
    review.keep_landed(3);
    let dropped: Vec<_> = review.take_changed().into_iter().map(|it| (it.uri, it.hunks.len())).collect();
    assert_eq!(dropped, [("file:///p/0.txt".to_owned(), 0), ("file:///p/1.txt".to_owned(), 0)]);
    assert_eq!(review.proposals().len(), 3);
    assert!(review.notes(&|_| String::new()).is_empty());
    review.keep_landed(3);
    assert!(review.take_changed().is_empty());
}
