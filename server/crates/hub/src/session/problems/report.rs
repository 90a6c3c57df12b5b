//! The effects of edits on problems, in words for the model.

use lang::delta::{self, Delta};
use protocol::lang::{LangDiagnostic, LangSeverity};

use super::asking::{MOST_SHOWN, Unknown};

/// The problems that came and went in all files.
#[derive(Default)]
pub(super) struct Report {
    new: Vec<LangDiagnostic>,
    gone: Vec<LangDiagnostic>,
    shown: Vec<(LangSeverity, String)>,
    servers: Vec<String>,
}

impl Report {
    /// Takes in a file's; `shown` are its first new ones, in words.
    pub(super) fn add(&mut self, delta: Delta, shown: Vec<String>, servers: Vec<String>) {
        let severities = delta.new.iter().map(|problem| problem.severity);
        self.shown.extend(severities.zip(shown));
        self.servers.extend(servers);
        self.new.extend(delta.new);
        self.gone.extend(delta.gone);
    }

    /// The news; none if there is none.
    pub(super) fn words(mut self) -> Option<String> {
        if self.new.is_empty() && self.gone.is_empty() {
            return None;
        }
        self.servers.sort();
        self.servers.dedup();
        let by = if self.servers.is_empty() { String::new() } else { format!(" ({})", self.servers.join(", ")) };
        let what = |problems: &[LangDiagnostic], what: &str| {
            let is = if problems.len() == 1 { "is" } else { "are" };
            (!problems.is_empty()).then(|| format!("{} {is} {what}", delta::counted(problems)))
        };
        let parts: Vec<_> = [what(&self.new, "new"), what(&self.gone, "gone")].into_iter().flatten().collect();
        let mut text = format!("Problems since your edits{by}: {}.", parts.join("; "));
        // Errors of any file come before warnings of another.
        self.shown.sort_by_key(|(severity, _)| *severity);
        self.shown.truncate(MOST_SHOWN);
        for (_, shown) in &self.shown {
            text.push('\n');
            text.push_str(shown);
        }
        if self.new.len() > self.shown.len() {
            text.push_str(&format!("\n[and {} more that are new]", self.new.len() - self.shown.len()));
        }
        Some(text)
    }
}

/// Of which files it is not known, each with its name. Files with the same reason share a sentence.
pub(super) fn not_known(mut unknown: Vec<(String, Unknown)>) -> Vec<String> {
    unknown.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut words = Vec::new();
    while let Some((_, reason)) = unknown.first().cloned() {
        let same: Vec<_> = unknown.extract_if(.., |(_, other)| *other == reason).map(|(name, _)| name).collect();
        let names = same.join(", ");
        words.push(format!("What your edits did to the problems of {names} is not known: {}.", reason.words));
    }
    words
}

/// That so many files were not looked at.
pub(super) fn left_out(count: usize) -> String {
    let files = if count == 1 { "file" } else { "files" };
    format!("The problems of {count} more edited {files} were not looked at.")
}
