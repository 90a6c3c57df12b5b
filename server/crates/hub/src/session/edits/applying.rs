//! Accepted hunks on their way into their files, in the order in which they were accepted.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use project::review::Application;

/// The changes on their way. Of two that have a file in common the second begins when the first has ended: a file that
/// is moved goes from its place once it is made at the new one, and another is made there once it has gone.
#[derive(Default)]
pub(super) struct Applying {
    /// All of them, by their numbers, which grow.
    all: BTreeMap<u64, OnItsWay>,
    /// Those that have a file, in order: it is the first one's turn.
    queues: HashMap<PathBuf, VecDeque<u64>>,
    /// Those that can begin.
    ready: BTreeSet<u64>,
    last: u64,
}

struct OnItsWay {
    application: Application,
    has_begun: bool,
}

impl Applying {
    /// Puts another behind those that are on their way.
    pub(super) fn push(&mut self, application: Application) {
        self.last += 1;
        for file in files(&application) {
            self.queues.entry(file.to_owned()).or_default().push_back(self.last);
        }
        self.all.insert(self.last, OnItsWay { application, has_begun: false });
        self.look_at(self.last);
    }

    /// Those that can begin now, which they have by that.
    pub(super) fn begin(&mut self) -> Vec<Application> {
        let mut begun = Vec::new();
        for number in std::mem::take(&mut self.ready) {
            let Some(next) = self.all.get_mut(&number) else { continue };
            next.has_begun = true;
            begun.push(next.application.clone());
        }
        begun
    }

    /// One has ended.
    pub(super) fn end(&mut self, ended: &Application) {
        let first = self.queues.get(&ended.path).and_then(VecDeque::front).copied();
        let is_it = |number: &u64| self.all.get(number).is_some_and(|it| it.has_begun && it.application == *ended);
        if let Some(number) = first.filter(is_it) {
            self.take_out(number);
        }
    }

    /// Takes out those that one which failed, and has ended, makes void: they were made for the text that it would have
    /// left, or move a file to where it would have made one.
    pub(super) fn take_void(&mut self, failed: &Application) -> Vec<Application> {
        let mut waiting = self.queues.get(&failed.path).cloned().unwrap_or_default();
        waiting.retain(|number| self.all.get(number).is_some_and(|it| !it.has_begun));
        waiting.into_iter().filter_map(|number| self.take_out(number)).collect()
    }

    /// True if something is on its way into this file.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        self.queues.contains_key(path)
    }

    /// All that is on its way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Application> {
        self.all.values().map(|it| &it.application)
    }

    /// Takes one out, so that it is the turn of those behind it.
    fn take_out(&mut self, number: u64) -> Option<Application> {
        let OnItsWay { application, .. } = self.all.remove(&number)?;
        self.ready.remove(&number);
        for file in files(&application) {
            let Some(queue) = self.queues.get_mut(file) else { continue };
            queue.retain(|other| *other != number);
            match queue.front().copied() {
                Some(next) => self.look_at(next),
                None => drop(self.queues.remove(file)),
            }
        }
        Some(application)
    }

    /// Lets one begin if it is its turn in all of its files.
    fn look_at(&mut self, number: u64) {
        let is_first = |file: &Path| self.queues.get(file).is_some_and(|queue| queue.front() == Some(&number));
        if self.all.get(&number).is_some_and(|it| !it.has_begun && files(&it.application).all(is_first)) {
            self.ready.insert(number);
        }
    }
}

/// The files that must be as an application left them, or as it found them.
fn files(application: &Application) -> impl Iterator<Item = &Path> {
    std::iter::once(application.path.as_path()).chain(application.moved_to.as_deref())
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;
    use std::time::{Duration, Instant};

    use protocol::ToolCallId;
    use protocol::review::FileChange;

    use super::*;

    fn change(path: &str, moved_to: Option<&str>, target: Option<&str>) -> Application {
        Application {
            proposal_id: path.into(),
            path: path.into(),
            hunk_ids: vec![format!("{path}.{target:?}").as_str().into()],
            calls: vec![ToolCallId::from("c")],
            change: if target.is_some() { FileChange::Modify } else { FileChange::Delete },
            moved_to: moved_to.map(PathBuf::from),
            base_hash: None,
            base_text: None,
            target_text: target.map(Into::into),
            edits: Vec::new(),
        }
    }

    fn paths(applications: &[Application]) -> Vec<&str> {
        applications.iter().filter_map(|it| it.path.to_str()).collect()
    }

    #[test]
    fn what_shares_a_file_is_done_one_after_the_other_and_the_rest_at_once() {
        let mut applying = Applying::default();
        let (made, gone, anew) =
            (change("b", None, Some("x")), change("a", Some("b"), None), change("a", None, Some("y")));
        for change in [&made, &gone, &anew, &change("c", None, Some("z"))] {
            applying.push(change.clone());
        }
        assert_eq!(paths(&applying.begin()), ["b", "c"]);
        assert_eq!(paths(&applying.begin()), [""; 0], "each begins once");
        applying.end(&made);
        assert_eq!(applying.begin(), from_ref(&gone));
        assert!(applying.concerns(Path::new("b")), "what is moved there is not gone from its place yet");
        applying.end(&gone);
        assert_eq!(applying.begin(), [anew]);
        assert!(!applying.concerns(Path::new("b")));
    }

    #[test]
    fn what_was_made_for_the_text_of_one_that_failed_is_void_and_what_waited_for_that_begins() {
        let mut applying = Applying::default();
        let (made, changed, gone) =
            (change("b", None, Some("x")), change("b", None, Some("y")), change("a", Some("b"), None));
        let (other, last) = (change("a", None, Some("z")), change("d", Some("a"), None));
        for change in [&made, &changed, &gone, &other, &last] {
            applying.push(change.clone());
        }
        assert_eq!(applying.begin(), from_ref(&made));
        applying.end(&made);
        assert_eq!(applying.take_void(&made), [changed, gone]);
        assert_eq!(applying.begin(), from_ref(&other));
        assert_eq!(applying.take_void(&other), [last], "and not the one that has begun");
        applying.end(&other);
        assert_eq!(applying.iter().count(), 0);
    }

    #[test]
    fn thousands_of_moved_files_are_put_in_order_in_no_time() {
        let began = Instant::now();
        let mut applying = Applying::default();
        for number in 0..5_000 {
            applying.push(change(&format!("new/{number}"), None, Some("x")));
        }
        for number in 0..5_000 {
            applying.push(change(&format!("old/{number}"), Some(&format!("new/{number}")), None));
        }
        let mut done = 0;
        loop {
            let begun = applying.begin();
            if begun.is_empty() {
                break;
            }
            for application in begun {
                done += 1;
                applying.end(&application);
                // As each one ends, what waits for it is looked for.
                applying.begin().iter().for_each(|next| {
                    done += 1;
                    applying.end(next);
                });
            }
        }
        assert_eq!(done, 10_000);
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
