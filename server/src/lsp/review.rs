//! Pending hunks beside the text, for clients without a panel: as hints, with code actions and code lenses
//! to accept or reject them.

use std::collections::BTreeMap;
use std::path::Path;

use hub::board::Reviews;
use lsp_types::{CodeLens, Diagnostic, DiagnosticSeverity, Range};
use project::text::PositionEncoding;
use protocol::SessionId;
use protocol::review::{FileChange, Hunk, HunkState, Proposal};
use serde::Serialize;
use serde_json::Value;

use super::abilities::Abilities;
use super::commands::{self, Target};
use super::convert;
use super::messages::CodeActions;
use crate::front::names::{self, Names};

/// Who says so, in a hint.
pub(super) const SOURCE: &str = "azimuth";
/// Of what others changed a chat has the actions for so many files.
const MOST_LANDED: usize = 20;
/// A hint shows this many lines of a hunk.
const SHOWN_LINES: usize = 40;

/// The hints that the client shows.
#[derive(Default)]
pub(super) struct Shown(BTreeMap<String, Vec<Diagnostic>>);

/// `textDocument/publishDiagnostics`.
#[derive(Debug, Serialize)]
pub(super) struct PublishDiagnostics {
    uri: String,
    diagnostics: Vec<Diagnostic>,
}

impl Shown {
    /// The messages that make the client show what is pending now, and these hints of suggested edits.
    pub(super) fn update(
        &mut self,
        reviews: &Reviews,
        names: &Names,
        encoding: PositionEncoding,
        suggested: Vec<(String, Diagnostic)>,
    ) -> Vec<PublishDiagnostics> {
        let mut now: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        for proposal in reviews.values().flat_map(|proposals| proposals.iter()) {
            let hints = pending(proposal).map(|hunk| diagnostic(proposal, hunk, encoding));
            now.entry(names.of(&proposal.uri)).or_default().extend(hints);
        }
        for (uri, hint) in suggested {
            now.entry(uri).or_default().push(hint);
        }
        now.retain(|_, hints| !hints.is_empty());
        let mut changes = Vec::new();
        for uri in self.0.keys().filter(|uri| !now.contains_key(*uri)) {
            changes.push(PublishDiagnostics { uri: uri.clone(), diagnostics: Vec::new() });
        }
        for (uri, diagnostics) in &now {
            if self.0.get(uri) != Some(diagnostics) {
                changes.push(PublishDiagnostics { uri: uri.clone(), diagnostics: diagnostics.clone() });
            }
        }
        self.0 = now;
        changes
    }
}

/// The code actions for a place in a file: accept and reject each hunk there, and all of the file.
pub(super) fn actions(reviews: &Reviews, file: &Path, params: &CodeActions, abilities: &Abilities) -> Vec<Value> {
    let mut actions = Vec::new();
    for (session, proposal) in of_file(reviews, file) {
        let is_here = |hunk: &&Hunk| convert::touches(hunk, proposal.landed, params.range);
        let here: Vec<_> = pending(proposal).filter(is_here).collect();
        let [accept, reject, accept_all, reject_all] = if proposal.landed {
            ["Keep this change", "Take this change back", "Keep all in file", "Take all in file back"]
        } else {
            ["Accept this change", "Reject this change", "Accept all in file", "Reject all in file"]
        };
        for hunk in &here {
            let diagnostic = diagnostic(proposal, hunk, abilities.encoding);
            let target = Target::hunk(session, proposal, hunk);
            actions.push(action(accept, commands::ACCEPT, &target, Some(&diagnostic), abilities));
            actions.push(action(reject, commands::REJECT, &target, Some(&diagnostic), abilities));
        }
        if !here.is_empty() {
            let target = Target::file(session, proposal);
            actions.push(action(accept_all, commands::ACCEPT_ALL, &target, None, abilities));
            actions.push(action(reject_all, commands::REJECT_ALL, &target, None, abilities));
        }
    }
    actions
}

/// The code actions for all that waits in a session: accept and reject each file's.
pub(super) fn file_actions(reviews: &Reviews, session: &SessionId, abilities: &Abilities) -> Vec<Value> {
    let waiting = reviews.get(session).into_iter().flat_map(|proposals| proposals.iter());
    let mut actions = Vec::new();
    let (landed, proposed): (Vec<_>, Vec<_>) =
        waiting.filter(|proposal| pending(proposal).next().is_some()).partition(|proposal| proposal.landed);
    for proposal in proposed.into_iter().chain(landed.into_iter().take(MOST_LANDED)) {
        let target = Target::file(session, proposal);
        let what = match (proposal.landed, proposal.change) {
            (_, FileChange::Create) => "the new file",
            (false, FileChange::Modify) => "all changes in",
            (true, FileChange::Modify) => "what others changed in",
            (_, FileChange::Delete) => "the deletion of",
        };
        let [accept, reject] = if proposal.landed { ["Keep", "Take back"] } else { ["Accept", "Reject"] };
        for (decision, command) in [(accept, commands::ACCEPT_ALL), (reject, commands::REJECT_ALL)] {
            let title = format!("{decision} {what} {}", proposal.path);
            actions.push(action(&title, command, &target, None, abilities));
        }
    }
    actions
}

/// The code lenses of a file: accept and reject over each hunk.
pub(super) fn lenses(reviews: &Reviews, file: &Path) -> Vec<CodeLens> {
    let mut lenses = Vec::new();
    for (session, proposal) in of_file(reviews, file) {
        for hunk in pending(proposal) {
            let target = Target::hunk(session, proposal, hunk);
            let start = lsp_types::Position::new(hunk.start_line, 0);
            let [accept, reject] = if proposal.landed { ["Keep", "Take back"] } else { ["Accept", "Reject"] };
            for (title, command) in [(accept, commands::ACCEPT), (reject, commands::REJECT)] {
                let command = Some(commands::run(title, command, &target));
                lenses.push(CodeLens { range: Range::new(start, start), command, data: None });
            }
        }
    }
    lenses
}

/// The proposals for a file, by its path with links resolved, which is how proposals name it too.
fn of_file<'r>(reviews: &'r Reviews, file: &Path) -> impl Iterator<Item = (&'r SessionId, &'r Proposal)> {
    let all = reviews.iter().flat_map(|(session, proposals)| proposals.iter().map(move |proposal| (session, proposal)));
    all.filter(move |(_, proposal)| names::path(&proposal.uri).is_some_and(|of| of == file))
}

fn pending(proposal: &Proposal) -> impl Iterator<Item = &Hunk> {
    proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending)
}

fn diagnostic(proposal: &Proposal, hunk: &Hunk, encoding: PositionEncoding) -> Diagnostic {
    Diagnostic {
        range: convert::hunk_range(hunk, proposal.landed, encoding),
        severity: Some(DiagnosticSeverity::HINT),
        source: Some(SOURCE.into()),
        message: message(proposal, hunk),
        ..Diagnostic::default()
    }
}

/// A hunk in words: what would be done, or was done, and the lines as in a diff.
fn message(proposal: &Proposal, hunk: &Hunk) -> String {
    let others = if hunk.tool_call_ids.is_empty() { "another program" } else { "a command" };
    let heading = match (proposal.landed, proposal.change) {
        (false, FileChange::Create) => String::from("Azimuth proposes a new file:"),
        (false, FileChange::Modify) => String::from("Azimuth proposes:"),
        (false, FileChange::Delete) => String::from("Azimuth proposes to delete this file:"),
        (true, FileChange::Create) => format!("Made by {others}:"),
        (true, FileChange::Modify) => format!("Changed by {others}:"),
        (true, FileChange::Delete) => format!("Deleted by {others}:"),
    };
    diff(heading, &hunk.old_text, &hunk.new_text)
}

/// A heading with lines as in a diff below it.
pub(super) fn diff(heading: String, old: &str, new: &str) -> String {
    let mut text = heading;
    let old = old.lines().map(|line| ("- ", line));
    let new = new.lines().map(|line| ("+ ", line));
    let mut lines = old.chain(new);
    for (sign, line) in lines.by_ref().take(SHOWN_LINES) {
        text.extend(["\n", sign, line]);
    }
    match lines.count() {
        0 => {}
        more => text.push_str(&format!("\n({more} more lines)")),
    }
    text
}

fn action(
    title: &str,
    command: &str,
    target: &Target,
    diagnostic: Option<&Diagnostic>,
    abilities: &Abilities,
) -> Value {
    commands::model_action(
        (title, commands::QUICK_FIX),
        command,
        target,
        diagnostic.map_or(&[], std::slice::from_ref),
        abilities,
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::ProposalId;
    use serde_json::json;

    use super::*;
    use crate::lsp::convert::tests::hunk;
    use crate::lsp::messages;

    const URI: &str = "file:///p/a%20b.rs";
    const FILE: &str = "/p/a b.rs";

    fn reviews(hunks: Vec<Hunk>) -> Reviews {
        let proposal = Proposal {
            proposal_id: ProposalId::from("p"),
            revision: 4,
            uri: URI.into(),
            path: "a b.rs".into(),
            change: FileChange::Modify,
            hunks,
            base_hash: None,
            moved_to: None,
            landed: false,
        };
        Arc::new([(SessionId::from("s"), Arc::from([proposal]))].into())
    }

    fn decided(id: &str, start_line: u32) -> Hunk {
        Hunk { state: HunkState::Rejected, ..hunk(id, start_line, "x\n", "y\n") }
    }

    fn params(line: u32, only: Option<Vec<&str>>) -> CodeActions {
        let position = json!({ "line": line, "character": 0 });
        let context = json!({ "only": only, "diagnostics": [] });
        let range = json!({ "start": position, "end": position });
        messages::typed(json!({ "textDocument": { "uri": URI }, "range": range, "context": context })).unwrap()
    }

    #[test]
    fn a_hint_comes_and_goes_with_its_hunk() {
        let (mut shown, names) = (Shown::default(), Names::new(Arc::new(Path::to_path_buf)));
        let pending = reviews(vec![hunk("h", 2, "old\n", "new\n"), decided("d", 9)]);
        let first = shown.update(&pending, &names, PositionEncoding::Utf16, Vec::new());
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].uri, URI);
        assert_eq!(first[0].diagnostics.len(), 1);
        assert_eq!(first[0].diagnostics[0].message, "Azimuth proposes:\n- old\n+ new");
        assert!(
            shown.update(&pending, &names, PositionEncoding::Utf16, Vec::new()).is_empty(),
            "nothing is sent twice"
        );

        let done = shown.update(&Reviews::default(), &names, PositionEncoding::Utf16, Vec::new());
        assert_eq!(done.len(), 1);
        assert!(done[0].uri == URI && done[0].diagnostics.is_empty());
        assert!(shown.update(&Reviews::default(), &names, PositionEncoding::Utf16, Vec::new()).is_empty());
    }

    #[test]
    fn a_long_hunk_is_cut_and_says_so() {
        let long = hunk("h", 0, "", &"line\n".repeat(SHOWN_LINES + 7));
        let reviews = reviews(vec![long]);
        let message = message(&reviews[&SessionId::from("s")][0], &reviews[&SessionId::from("s")][0].hunks[0]);
        assert!(message.ends_with("\n(7 more lines)"), "{message}");
    }

    #[test]
    fn what_a_command_changed_is_shown_where_it_stands_to_be_kept_or_taken_back() {
        let mut landed = reviews(vec![hunk("h", 2, "old\n", "one\ntwo\n")])[&SessionId::from("s")][0].clone();
        landed.landed = true;
        landed.hunks[0].tool_call_ids = vec!["c".into()];
        let hint = diagnostic(&landed, &landed.hunks[0], PositionEncoding::Utf16);
        assert_eq!(hint.message, "Changed by a command:\n- old\n+ one\n+ two");
        assert_eq!((hint.range.start.line, hint.range.end.line), (2, 3), "the lines that are there now");
        let reviews: Reviews = Arc::new([(SessionId::from("s"), Arc::from([landed]))].into());
        let at = |line| actions(&reviews, Path::new(FILE), &params(line, None), &Abilities::default());
        let titles: Vec<_> = at(3).iter().map(|action| action["title"].clone()).collect();
        assert_eq!(titles, ["Keep this change", "Take this change back", "Keep all in file", "Take all in file back"]);
        assert_eq!(at(3)[1]["command"], "azimuth.review.reject");
        let lenses = lenses(&reviews, Path::new(FILE));
        assert_eq!(lenses[1].command.as_ref().unwrap().title, "Take back");
        let of_chat = file_actions(&reviews, &SessionId::from("s"), &Abilities::default());
        assert_eq!(of_chat[1]["title"], "Take back what others changed in a b.rs");
    }

    #[test]
    fn actions_are_there_on_a_hunk_and_only_there() {
        let reviews = reviews(vec![hunk("h", 2, "a\nb\n", "c\n"), decided("d", 9)]);
        let abilities = Abilities { code_action_literals: true, llm_generated_tag: true, ..Abilities::default() };
        let actions_at = |line| actions(&reviews, Path::new(FILE), &params(line, None), &abilities);
        let titles: Vec<_> = actions_at(3).iter().map(|action| action["title"].clone()).collect();
        assert_eq!(titles, ["Accept this change", "Reject this change", "Accept all in file", "Reject all in file"]);
        let first = &actions_at(3)[0];
        assert_eq!(first["tags"], json!([1]));
        assert_eq!(first["command"]["command"], "azimuth.review.accept");
        let target = json!([{ "sessionId": "s", "proposalId": "p", "revision": 4, "hunkId": "h" }]);
        assert_eq!(first["command"]["arguments"], target);
        assert!(actions_at(4).is_empty() && actions_at(9).is_empty());
        assert!(actions(&reviews, Path::new("/p/other.rs"), &params(3, None), &abilities).is_empty());
    }

    #[test]
    fn a_client_gets_the_kind_of_action_it_knows() {
        let reviews = reviews(vec![hunk("h", 2, "a\n", "c\n")]);
        let plain = actions(&reviews, Path::new(FILE), &params(2, None), &Abilities::default());
        assert_eq!(plain[0]["command"], "azimuth.review.accept");
        let literals = Abilities { code_action_literals: true, ..Abilities::default() };
        assert_eq!(actions(&reviews, Path::new(FILE), &params(2, None), &literals)[0].get("tags"), None);
        let wanted = |kind| params(2, Some(vec![kind])).wants(commands::QUICK_FIX);
        assert!(wanted("quickfix") && wanted("") && !wanted("refactor"));
    }

    #[test]
    fn each_hunk_has_its_lenses() {
        let lenses = lenses(&reviews(vec![hunk("h", 2, "a\n", "c\n"), hunk("i", 7, "", "c\n")]), Path::new(FILE));
        let lines: Vec<_> = lenses.iter().map(|lens| lens.range.start.line).collect();
        assert_eq!(lines, [2, 2, 7, 7]);
    }
}
