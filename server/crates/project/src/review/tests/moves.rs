//! Files that are moved from where they wait to be moved to: whose text is meant there.

use std::collections::BTreeMap;

use super::*;

const OLD: &str = "the old text\n";
const OWN: &str = "the user's own\n";

/// A session's review of several files, which are on disk.
#[derive(Default)]
struct Moving {
    review: Review,
    disk: BTreeMap<&'static str, String>,
    calls: u32,
}

impl Moving {
    /// `a` is there, and a first call, `call1`, moves it to `b`.
    fn begun() -> Self {
        let mut own = Self { disk: BTreeMap::from([("a", OLD.to_owned())]), ..Self::default() };
        own.call(&[("b", Some(OLD), None), ("a", None, Some("b"))]);
        own
    }

    fn path(name: &str) -> PathBuf {
        PathBuf::from(format!("/w/{name}"))
    }

    /// A call: its files, with what they are to be, and where they go.
    fn call(&mut self, files: &[(&'static str, Option<&str>, Option<&str>)]) {
        self.calls += 1;
        let call = ToolCallId::new(format!("call{}", self.calls));
        for (name, wanted, to) in files {
            let path = Self::path(name);
            let overlay = self.review.overlay();
            let read = match overlay.get(&path) {
                Some(text) => text.as_deref().map(str::to_owned),
                None => self.disk.get(name).cloned(),
            };
            let (read, new_text) = (read.as_deref().map(text::hash), wanted.map(str::to_owned));
            let plan = FilePlan { path: path.clone(), read, new_text, moved_to: to.map(Self::path) };
            let base = self.disk.get(name).map(String::as_str);
            self.review.propose(&plan, base, name, &paths::to_uri(&path), &call).unwrap();
        }
    }

    /// The user, or another program, writes a file or takes it away.
    fn writes(&mut self, name: &'static str, text: Option<&str>) {
        match text {
            Some(text) => drop(self.disk.insert(name, text.to_owned())),
            None => drop(self.disk.remove(name)),
        }
        self.review.base_changed(&Self::path(name), text);
    }

    fn decide(&mut self, decision: Decision, name: &str) -> Vec<Application> {
        let of_file = |it: &Proposal| it.path == name && it.hunks.iter().any(|hunk| hunk.state == HunkState::Pending);
        let Proposal { proposal_id, revision, .. } = self.review.proposals().into_iter().find(of_file).unwrap();
        let target = DecisionTarget { proposal_id, revision, hunk_ids: None };
        self.review.decide(decision, &[target], None).unwrap().applications
    }

    /// The user accepts a file's edit, and it is made.
    fn accept(&mut self, name: &'static str) {
        for application in self.decide(Decision::Accept, name) {
            self.writes(name, application.target_text.as_deref());
            self.review.applied(&application, &ApplyOutcome::Verified);
        }
    }

    /// Where `a` waits to be moved to, and the calls that it is deleted by.
    fn waits(&self) -> (Option<String>, Vec<String>) {
        let proposal = self.review.proposals().into_iter().find(|it| it.path == "a").unwrap();
        let calls = proposal.hunks[0].tool_call_ids.iter().map(|call| call.as_str().to_owned());
        (proposal.moved_to, calls.collect())
    }
}

fn to(name: &str, calls: &[&str]) -> (Option<String>, Vec<String>) {
    (Some(paths::to_uri(&Moving::path(name))), calls.iter().map(|call| (*call).to_owned()).collect())
}

#[test]
fn a_file_is_moved_on_with_its_text_and_deleted_with_it_whether_that_waits_or_is_made() {
    for is_made in [false, true] {
        let mut moving = Moving::begun();
        if is_made {
            moving.accept("b");
        }
        moving.call(&[("c", Some(OLD), None), ("b", None, Some("c"))]);
        assert_eq!(moving.waits(), to("c", &["call1", "call2"]), "made: {is_made}");
        moving.call(&[("c", None, None)]);
        let (place, calls) = moving.waits();
        assert_eq!((place, calls.len()), (None, 3), "made: {is_made}");
    }
}

#[test]
fn a_file_stays_where_the_one_that_is_deleted_or_moved_at_its_new_place_is_another() {
    type Step = fn(&mut Moving);
    let rejected: Step = |moving| drop(moving.decide(Decision::Reject, "b"));
    let own: Step = |moving| moving.writes("b", Some(OWN));
    let taken_away: Step = |moving| {
        moving.accept("b");
        moving.writes("b", None);
    };
    let anew: Step = |moving| moving.call(&[("b", Some("another\n"), None)]);
    let cases: [(&str, &[Step]); 4] = [
        ("rejected, and made by the user", &[rejected, own]),
        ("rejected, and made anew", &[rejected, anew]),
        ("made by the user", &[own]),
        ("made, taken away, and made by the user", &[taken_away, own]),
    ];
    for (case, steps) in cases {
        for to_place in [None, Some("d")] {
            let mut moving = Moving::begun();
            steps.iter().for_each(|step| step(&mut moving));
            let text = moving.review.overlay().get(&Moving::path("b")).cloned().flatten();
            let text = text.map_or_else(|| moving.disk["b"].clone(), |text| text.to_string());
            if let Some(place) = to_place {
                moving.call(&[(place, Some(&text), None), ("b", None, Some(place))]);
            } else {
                moving.call(&[("b", None, None)]);
            }
            assert_eq!(moving.waits(), to("b", &["call1"]), "{case}, to {to_place:?}");
            if case.starts_with("made by") {
                // A file that is made there after that is another file still.
                moving.call(&[("b", Some("another\n"), None)]);
                moving.call(&[("b", None, None)]);
                assert_eq!(moving.waits(), to("b", &["call1"]), "{case}, to {to_place:?}, and again");
            }
        }
    }
}
