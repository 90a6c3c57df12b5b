//! Recorded answers of models that edit next, mapped with the windows that they were asked with: how many good edits
//! are shown, how often it stays quiet where nothing is to be done, and how near the shown edits are to the good ones.
//! `cargo nextest run --workspace --test next_edits --no-capture` prints the numbers, and the cases that fail.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the tests read a corpus")]

#[path = "next_edits/likeness.rs"]
mod likeness;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use inline::edit::hunks;
use inline::follow;
use inline::journal::{By, Journal, View};
use inline::rebase::{Hunk, accept};
use inline::splice::{Splice, between};
use ports::complete::Edited;
use project::text::LineIndex;
use protocol::inline::Rule;
use serde_json::Value;

/// A case of the corpus: a document, what the user did last, and what is to be done next.
struct Scenario {
    path: String,
    /// The number of positions of the cursor that are tried.
    positions: u32,
    text: String,
    history: Vec<[String; 2]>,
    /// The edits of all documents.
    edits: Vec<Edited>,
    /// The text with the good edit; none if nothing is to be done.
    expected: Option<String>,
}

/// The least that is counted for a target, so that it does not get worse.
struct Least {
    target: &'static str,
    likeness: f64,
    shown: u32,
    quiet: u32,
}

/// Of 25 good edits and 25 positions with nothing to do. The models of the last two have no dialect here: their answers
/// are edits of the whole text.
const LEAST: &[Least] = &[
    Least { target: "mercuryapi", likeness: 67.3, shown: 23, quiet: 25 },
    Least { target: "zeta-2", likeness: 65.2, shown: 20, quiet: 25 },
    Least { target: "zeta", likeness: 65.7, shown: 22, quiet: 23 },
    Least { target: "sweep-next-edit-7B", likeness: 41.1, shown: 15, quiet: 25 },
    Least { target: "sweep-next-edit-1.5B", likeness: 42.5, shown: 17, quiet: 23 },
    Least { target: "sweep-next-edit-0.5B", likeness: 25.0, shown: 13, quiet: 25 },
    Least { target: "sweepapi", likeness: 18.3, shown: 8, quiet: 25 },
    Least { target: "copilot", likeness: 27.2, shown: 10, quiet: 25 },
];

/// The decision on an answer, with the text that accepting all of it gives.
enum Decision {
    Shown(String),
    /// The model would change nothing.
    NoEdit,
    Refused(Rule),
}

/// The counts of a target. The answer to a document in which nothing is to be done counts once for each position.
#[derive(Default)]
struct Counts {
    good: u32,
    shown: u32,
    likeness: f64,
    nothing: u32,
    quiet: u32,
    failures: Vec<String>,
}

impl Scenario {
    fn of(value: &Value) -> Self {
        let string = |value: &Value| value.as_str().map(str::to_owned);
        let path = string(&value["path"]).unwrap();
        let own = value["history"].as_array().unwrap().iter().filter(|edit| edit["path"] == path.as_str());
        let history = own.map(|edit| ["before", "after"].map(|name| string(&edit[name]).unwrap())).collect();
        let edits = value["history"].as_array().unwrap().iter().map(|edit| {
            let [path, before, after] = ["path", "before", "after"].map(|name| string(&edit[name]).unwrap());
            Edited { path, line: 0, before, after }
        });
        let edits = edits.collect();
        Self {
            positions: u32::try_from(value["positions"].as_u64().unwrap()).unwrap(),
            text: string(&value["text"]).unwrap(),
            expected: string(&value["expected"]),
            history,
            edits,
            path,
        }
    }

    /// The journal of the user's last edits that are in the text, as they were made one after the other.
    fn journal(&self) -> Journal {
        let mut changes = Vec::new();
        let mut text = self.text.clone();
        for [before, after] in self.history.iter().rev() {
            let mut found = text.match_indices(after.as_str()).map(|(at, _)| at);
            let (Some(at), None) = (found.next(), found.next()) else { continue };
            let mut earlier = text.clone();
            earlier.replace_range(at..at + after.len(), before);
            changes.push((earlier.clone(), std::mem::replace(&mut text, earlier)));
        }
        let mut journal = Journal::default();
        let mut now = Instant::now();
        for (old, new) in changes.iter().rev() {
            let (old_lines, new_lines) = (LineIndex::new(old), LineIndex::new(new));
            let change = between(old, new).unwrap();
            let [old, new] = [(old, &old_lines), (new, &new_lines)].map(|(text, lines)| View { text, lines });
            now += Duration::from_secs(5);
            journal.record(&self.path, old, new, &[change], By::User, now);
        }
        journal
    }

    /// The decision on the new text of a window.
    fn decide(&self, window: Range<usize>, new: Option<&str>) -> Decision {
        let Some(new) = new else { return Decision::NoEdit };
        let hunks = match hunks(Path::new(&self.path), &self.text, window, new) {
            Ok(hunks) => hunks,
            Err(rule) => return Decision::Refused(rule),
        };
        if follow::is_unrelated(&self.text, &hunks, &self.edits, &[]) {
            return Decision::Refused(Rule::Unrelated);
        }
        let (journal, lines) = (self.journal(), LineIndex::new(&self.text));
        let view = View { text: &self.text, lines: &lines };
        let with = accept(&hunks, &self.text).unwrap();
        let splices: Vec<Splice> = hunks.iter().map(Hunk::splice).chain(between(&self.text, &with)).collect();
        match splices.iter().any(|splice| journal.reverses(&self.path, view, splice)) {
            true => Decision::Refused(Rule::Reversal),
            false => Decision::Shown(with),
        }
    }
}

impl Counts {
    fn add(&mut self, name: &str, scenario: &Scenario, decision: &Decision) {
        match (&scenario.expected, decision) {
            (None, Decision::Shown(new)) => {
                self.nothing += scenario.positions;
                self.failures.push(format!("{name}: shown, {}", changed(&scenario.text, new)));
            }
            (None, _) => {
                self.nothing += scenario.positions;
                self.quiet += scenario.positions;
            }
            (Some(expected), Decision::Shown(new)) => {
                self.good += 1;
                self.shown += 1;
                let likeness = likeness::of(&scenario.text, new, expected);
                self.likeness += likeness;
                if likeness < 20.0 {
                    self.failures.push(format!("{name}: {likeness:.0}, {}", changed(&scenario.text, new)));
                }
            }
            (Some(expected), Decision::NoEdit) => {
                self.good += 1;
                self.failures.push(format!("{name}: no edit, not {}", changed(&scenario.text, expected)));
            }
            (Some(_), Decision::Refused(rule)) => {
                self.good += 1;
                self.failures.push(format!("{name}: refused by {rule:?}"));
            }
        }
    }

    fn show(&self) -> f64 {
        100.0 * f64::from(self.shown) / f64::from(self.good)
    }

    fn quiet(&self) -> f64 {
        100.0 * f64::from(self.quiet) / f64::from(self.nothing)
    }

    fn likeness(&self) -> f64 {
        self.likeness / f64::from(self.good)
    }

    fn score(&self) -> f64 {
        let (show, quiet) = (self.show() / 100.0, self.quiet() / 100.0);
        self.likeness() * 2.0 * show * quiet / (show + quiet) / 100.0
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (score, likeness, show, quiet) = (self.score(), self.likeness(), self.show(), self.quiet());
        write!(f, "{score:5.2} {likeness:9.1} {show:4.0}% {quiet:4.0}%")?;
        self.failures.iter().try_for_each(|failure| write!(f, "\n    {failure}"))
    }
}

fn changed(old: &str, new: &str) -> String {
    let Some(Splice { range, text }) = between(old, new) else { return "nothing".to_owned() };
    format!("{:?} for {:?}", text, old.get(range).unwrap())
}

fn read(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus/inline/cursortab/next_edits");
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn good_edits_are_shown_and_others_are_not() {
    let scenarios = read("scenarios.json");
    let scenarios = scenarios.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), Scenario::of(value)));
    let scenarios: BTreeMap<_, _> = scenarios.collect();
    println!("{:20} {:>5} {:>9} {:>5} {:>5}", "target", "score", "deltaChrF", "show", "quiet");
    for Least { target, likeness, shown, quiet } in LEAST {
        let answers = read(&format!("{target}.json"));
        let mut counts = Counts::default();
        for (name, answer) in answers["answers"].as_object().unwrap() {
            let scenario = &scenarios[name.as_str()];
            let [start, end] = [0, 1].map(|at| usize::try_from(answer["window"][at].as_u64().unwrap()).unwrap());
            counts.add(name, scenario, &scenario.decide(start..end, answer["new"].as_str()));
        }
        println!("{target:20} {counts}");
        assert_eq!((counts.good, counts.nothing), (25, 25), "{target}");
        let is_kept = counts.likeness() >= *likeness && counts.shown >= *shown && counts.quiet >= *quiet;
        assert!(is_kept, "{target} was better:\n{counts}");
    }
}
