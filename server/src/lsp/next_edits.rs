//! Suggested edits as a client without a plugin has them: a hint at each hunk, and code actions to accept or reject it.
//! The edits are the hub's; here are those that it was asked for in the client's name, as the client was told of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lsp_types::{Diagnostic, DiagnosticSeverity, Range};
use project::buffers::{Buffers, Snapshot};
use project::text::PositionEncoding;
use protocol::content;
use protocol::inline::{InlineChangedParams, InlineEdit, InlineEditResult, InlineHunk};
use serde_json::Value;

use super::abilities::Abilities;
use super::commands::{self, EditTarget, ShowEdit};
use super::convert;
use super::messages::CodeActions;
use super::review::{self, SOURCE};
use crate::front::names;

/// The kind of the actions.
pub(super) const KIND: &str = "refactor.rewrite";
/// The most hunks of an edit that have an action of their own.
const MOST_ACTIONS: usize = 10;

/// The edit that a client is shown; the hub has one for each client, too.
pub(super) struct NextEdits {
    encoding: PositionEncoding,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// True if the client has edits from us in no other form: it has no panel, and asks for none itself.
    is_plain: bool,
    pending: Option<Pending>,
    /// The edit that was ended last.
    ended: Option<String>,
}

struct Pending {
    /// The document that was asked about.
    asked: String,
    edit: InlineEdit,
    hints: Vec<Diagnostic>,
}

impl NextEdits {
    pub(super) fn new(abilities: &Abilities) -> Self {
        let state = State { is_plain: !abilities.azimuth.panel, ..State::default() };
        Self { encoding: abilities.encoding, state: Mutex::new(state) }
    }

    /// True if edits are to be asked for in the client's name.
    pub(super) fn is_plain(&self) -> bool {
        self.state().is_plain
    }

    /// There are no edits any more, since there is no model, or the user wants none.
    pub(super) fn end(&self) {
        self.state().pending = None;
    }

    /// The client asks for edits itself from now on, and shows them.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.is_plain = false;
        state.pending = None;
    }

    /// Takes the answer to a request about a document.
    pub(super) fn answered(&self, asked: &str, result: InlineEditResult, buffers: &Buffers) {
        // Without one, the edit before goes by a word of its own, if it is to go.
        if let Some(edit) = result.edit {
            self.keep(asked, edit, buffers);
        }
    }

    /// Takes the change of an edit. False if the client asks for edits itself, so it is to be told.
    pub(super) fn changed(&self, params: InlineChangedParams, buffers: &Buffers) -> bool {
        let asked = {
            let state = self.state();
            if !state.is_plain {
                return false;
            }
            let own = state.pending.as_ref().filter(|pending| pending.edit.id == params.id);
            own.map(|pending| pending.asked.clone())
        };
        match params.edit {
            // A change may come before the answer that it is about.
            Some(edit) => self.keep(&asked.unwrap_or_else(|| edit.uri.clone()), edit, buffers),
            None => self.forget(&params.id),
        }
        true
    }

    /// An edit, or a part of it, was accepted, and this is left.
    pub(super) fn accepted(&self, id: &str, rest: Option<InlineEdit>, buffers: &Buffers) {
        let asked = self.state().pending.take_if(|pending| pending.edit.id == id).map(|pending| pending.asked);
        if let (Some(asked), Some(rest)) = (asked, rest) {
            self.keep(&asked, rest, buffers);
        }
    }

    /// Forgets an edit.
    pub(super) fn forget(&self, id: &str) {
        let mut state = self.state();
        state.pending.take_if(|pending| pending.edit.id == id);
        state.ended = Some(id.to_owned());
    }

    fn keep(&self, asked: &str, edit: InlineEdit, buffers: &Buffers) {
        let document = buffers.by_uri(&edit.uri).filter(|document| Some(document.version) == edit.version);
        let hints = match edit.version {
            None => vec![waiting(edit.target)],
            Some(_) => edit.hunks.iter().map(|hunk| hint(hunk, document.as_deref(), self.encoding)).collect(),
        };
        let mut state = self.state();
        // News of an edit may come after it was rejected.
        if state.is_plain && state.ended.as_ref() != Some(&edit.id) {
            state.pending = Some(Pending { asked: asked.to_owned(), edit, hints });
        }
    }

    /// A document was closed: what is suggested for it or from it goes.
    pub(super) fn closed(&self, uri: &str) {
        self.state().pending.take_if(|pending| pending.asked == uri || pending.edit.uri == uri);
    }

    /// The hints, each with its document.
    pub(super) fn hints(&self) -> Vec<(String, Diagnostic)> {
        let state = self.state();
        let of = |pending: &Pending| {
            let uri = pending.edit.uri.clone();
            pending.hints.clone().into_iter().map(move |hint| (uri.clone(), hint))
        };
        state.pending.iter().flat_map(of).collect()
    }

    /// The code actions in a document, for an edit of it or one that typing in it has brought. They are offered on
    /// every line, since the edit is often on another one than the cursor; but if the editor only looks for them while
    /// the cursor moves, on those of a hunk.
    pub(super) fn actions(&self, params: &CodeActions, abilities: &Abilities) -> Vec<Value> {
        let uri = &params.text_document.uri;
        let state = self.state();
        let Some(Pending { asked, edit, .. }) = state.pending.as_ref().filter(|_| params.wants(KIND)) else {
            return Vec::new();
        };
        let is_here = edit.uri == *uri;
        let touches = |hunk: &InlineHunk| is_here && touches(hunk, params.range);
        let is_offered = match params.is_automatic() {
            true => edit.hunks.iter().any(touches),
            false => is_here || asked == uri,
        };
        if !is_offered {
            return Vec::new();
        }
        // The hunk at the cursor comes first.
        let mut hunks: Vec<_> = edit.hunks.iter().collect();
        hunks.sort_by_key(|hunk| !touches(hunk));
        of_edit(edit, &hunks, is_here, abilities)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The actions for an edit: accept each hunk, all if there are several, and reject it. In a file that is not open it is
/// looked at first.
fn of_edit(edit: &InlineEdit, hunks: &[&InlineHunk], is_here: bool, abilities: &Abilities) -> Vec<Value> {
    let file = names::path(&edit.uri).filter(|_| !is_here);
    let file = file.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let position = |line: u32| match &file {
        Some(file) => format!("{file}, line {line}"),
        None => format!("line {line}"),
    };
    let action = |title: &str, command, hunk: Option<&InlineHunk>| {
        let target = EditTarget { id: edit.id.clone(), hunk: hunk.map(|hunk| hunk.id.clone()) };
        commands::model_action((title, KIND), command, &target, &[], abilities)
    };
    let mut actions = Vec::new();
    if edit.version.is_none() {
        let title = format!("Go to Azimuth's edit ({})", position(edit.target.line.saturating_add(1)));
        let target = ShowEdit { uri: edit.uri.clone(), position: edit.target };
        actions.push(commands::model_action((&title, KIND), commands::SHOW_EDIT, &target, &[], abilities));
        actions.push(action("Reject Azimuth's edit", commands::REJECT_EDIT, None));
        return actions;
    }
    for hunk in hunks.iter().take(MOST_ACTIONS) {
        let title = format!("Accept Azimuth's edit ({})", position(hunk.range.start.line.saturating_add(1)));
        actions.push(action(&title, commands::ACCEPT_EDIT, Some(hunk)));
    }
    if hunks.len() > 1 {
        actions.push(action("Accept all of Azimuth's edit", commands::ACCEPT_EDIT, None));
    }
    actions.push(action("Reject Azimuth's edit", commands::REJECT_EDIT, None));
    actions
}

/// True if some lines have a part of a hunk, or touch it.
fn touches(hunk: &InlineHunk, range: content::Range) -> bool {
    let content::Range { start, end } = hunk.range;
    let last = if end.character == 0 && end.line > start.line { end.line - 1 } else { end.line };
    start.line <= range.end.line && range.start.line <= last
}

/// The hint at an edit of a file that is not open, whose text may be another one by the time that it is.
fn waiting(at: content::Position) -> Diagnostic {
    let at = convert::position(at);
    let message = "Azimuth suggests an edit here, and says more once the file is open.".to_owned();
    Diagnostic {
        range: Range { start: at, end: at },
        severity: Some(DiagnosticSeverity::HINT),
        source: Some(SOURCE.into()),
        message,
        ..Diagnostic::default()
    }
}

/// The hint at a hunk: the range in the text, and its lines as in a diff.
fn hint(hunk: &InlineHunk, document: Option<&Snapshot>, encoding: PositionEncoding) -> Diagnostic {
    let (old, new) = document.and_then(|document| lines(hunk, document, encoding)).unwrap_or_default();
    // Without the text as it was, there is only the new part.
    let new = if old.is_empty() && new.is_empty() { hunk.text.clone() } else { new };
    let start = convert::position(hunk.range.start);
    let end = match old.lines().count() {
        // A hunk of whole lines ends before the line end of the last one.
        count if hunk.range.end.character == 0 && count > 0 => {
            let last = old.lines().last().unwrap_or_default();
            let lines = u32::try_from(count - 1).unwrap_or_default();
            lsp_types::Position::new(start.line + lines, convert::length(last, encoding))
        }
        _ if hunk.range.end.character == 0 => start,
        _ => convert::position(hunk.range.end),
    };
    Diagnostic {
        range: Range::new(start, end),
        severity: Some(DiagnosticSeverity::HINT),
        source: Some(SOURCE.into()),
        message: review::diff("Azimuth suggests:".into(), &old, &new),
        ..Diagnostic::default()
    }
}

/// The lines of a hunk, before and after.
fn lines(hunk: &InlineHunk, document: &Snapshot, encoding: PositionEncoding) -> Option<(String, String)> {
    let (text, lines) = (&*document.text, document.lines());
    let [start, end] = [hunk.range.start, hunk.range.end].map(|position| lines.offset(text, position, encoding));
    let (start, end) = (start?, end?);
    let first = lines.range(text, lines.line_of(start))?.start;
    // Whole lines end where the next one begins.
    let is_whole = start == first && hunk.range.end.character == 0;
    let last = if is_whole { end } else { lines.range(text, lines.line_of(end))?.end };
    let old = text.get(first..last)?;
    let new = format!("{}{}{}", text.get(first..start)?, hunk.text, text.get(end..last)?);
    Some((old.to_owned(), new))
}

#[cfg(test)]
mod tests {
    use protocol::inline::InlineEditKind;
    use serde_json::json;

    use super::*;
    use crate::lsp::messages::typed;

    const URI: &str = "file:///p/a.rs";
    const TEXT: &str = "one\ntwo(é, b)\nthree\nfour\n";

    fn at(line: u32, character: u32) -> content::Position {
        content::Position { line, character }
    }

    fn hunk(id: &str, start: [u32; 2], end: [u32; 2], text: &str) -> InlineHunk {
        let range = content::Range { start: at(start[0], start[1]), end: at(end[0], end[1]) };
        InlineHunk { id: id.into(), range, text: text.into() }
    }

    fn edit(id: &str, hunks: Vec<InlineHunk>) -> InlineEdit {
        let target = hunks[0].range.start;
        let kind = InlineEditKind::Edit;
        InlineEdit { id: id.into(), kind, uri: URI.into(), version: Some(1), hunks, target, ghost: None, model: None }
    }

    fn two() -> InlineEdit {
        edit("e", vec![hunk("0", [1, 7], [1, 8], "c, d"), hunk("1", [2, 0], [4, 0], "3\n4\n")])
    }

    /// A plain client with a document, and the edits that it is shown.
    fn plain() -> (NextEdits, Buffers) {
        let buffers = Buffers::default();
        buffers.open(URI, "rust", 1, TEXT).unwrap();
        let edits = NextEdits::new(&Abilities::default());
        (edits, buffers)
    }

    fn ask(uri: &str, line: u32, more: Value) -> CodeActions {
        let position = json!({ "line": line, "character": 0 });
        let mut context = json!({ "diagnostics": [] });
        context.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let range = json!({ "start": position, "end": position });
        typed(json!({ "textDocument": { "uri": uri }, "range": range, "context": context })).unwrap()
    }

    fn titles(edits: &NextEdits, params: &CodeActions) -> Vec<String> {
        let actions = edits.actions(params, &Abilities { code_action_literals: true, ..Abilities::default() });
        actions.iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn each_hunk_is_a_hint_with_its_lines_as_in_a_diff() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        let hints = edits.hints();
        let messages: Vec<_> = hints.iter().map(|(_, hint)| hint.message.as_str()).collect();
        assert_eq!(
            messages,
            ["Azimuth suggests:\n- two(é, b)\n+ two(é, c, d)", "Azimuth suggests:\n- three\n- four\n+ 3\n+ 4"]
        );
        let range = |index: usize| {
            let range = hints[index].1.range;
            [range.start.line, range.start.character, range.end.line, range.end.character]
        };
        assert_eq!((range(0), range(1)), ([1, 7, 1, 8], [2, 0, 3, 4]));
        let inserted = edit("i", vec![hunk("0", [2, 0], [2, 0], "new\n")]);
        edits.keep(URI, inserted, &buffers);
        let hints = edits.hints();
        assert_eq!(hints.len(), 1, "an edit takes the place of the one before");
        assert_eq!(hints[0].1.message, "Azimuth suggests:\n+ new");
        assert_eq!(hints[0].1.range.start, hints[0].1.range.end);
    }

    #[test]
    fn actions_are_offered_everywhere_in_the_document_with_the_hunk_at_the_cursor_first() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        assert_eq!(
            titles(&edits, &ask(URI, 3, json!({}))),
            [
                "Accept Azimuth's edit (line 3)",
                "Accept Azimuth's edit (line 2)",
                "Accept all of Azimuth's edit",
                "Reject Azimuth's edit"
            ]
        );
        assert_eq!(titles(&edits, &ask(URI, 0, json!({}))).len(), 4);
        assert!(titles(&edits, &ask("file:///p/b.rs", 0, json!({}))).is_empty());
        assert!(titles(&edits, &ask(URI, 0, json!({ "only": ["quickfix"] }))).is_empty());
        assert_eq!(titles(&edits, &ask(URI, 0, json!({ "only": ["refactor"] }))).len(), 4);
        assert!(titles(&edits, &ask(URI, 0, json!({ "triggerKind": 2 }))).is_empty(), "the cursor only moves");
        assert!(titles(&edits, &ask(URI, 4, json!({ "triggerKind": 2 }))).is_empty(), "it ends on the line before");
        assert_eq!(titles(&edits, &ask(URI, 1, json!({ "triggerKind": 2 }))).len(), 4);
    }

    #[test]
    fn an_action_runs_the_command_for_its_hunk_and_says_that_a_model_made_it() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        let abilities = Abilities { code_action_literals: true, llm_generated_tag: true, ..Abilities::default() };
        let actions = edits.actions(&ask(URI, 1, json!({})), &abilities);
        assert_eq!(actions[0]["kind"], KIND);
        assert_eq!(actions[0]["tags"], json!([1]));
        assert_eq!(actions[0]["command"]["command"], commands::ACCEPT_EDIT);
        assert_eq!(actions[0]["command"]["arguments"], json!([{ "id": "e", "hunk": "0" }]));
        assert_eq!(actions[2]["command"]["arguments"], json!([{ "id": "e" }]));
        assert_eq!(actions[3]["command"]["command"], commands::REJECT_EDIT);
    }

    #[test]
    fn an_edit_of_another_document_is_offered_in_both() {
        let (edits, buffers) = plain();
        let asked = "file:///p/b.rs";
        edits.keep(asked, edit("e", vec![hunk("0", [0, 0], [1, 0], "1\n")]), &buffers);
        assert_eq!(
            titles(&edits, &ask(asked, 7, json!({}))),
            ["Accept Azimuth's edit (a.rs, line 1)", "Reject Azimuth's edit"]
        );
        assert_eq!(titles(&edits, &ask(URI, 7, json!({})))[0], "Accept Azimuth's edit (line 1)");
        edits.closed(asked);
        assert!(edits.hints().is_empty());
    }

    #[test]
    fn an_edit_of_a_file_that_is_not_open_is_looked_at_first() {
        let (edits, buffers) = plain();
        let asked = "file:///p/b.rs";
        let there = edit("e", vec![hunk("0", [4, 2], [5, 0], "1\n")]);
        let closed = InlineEdit { uri: "file:///p/closed.rs".into(), version: None, ..there };
        edits.keep(asked, closed.clone(), &buffers);
        assert_eq!(
            titles(&edits, &ask(asked, 0, json!({}))),
            ["Go to Azimuth's edit (closed.rs, line 5)", "Reject Azimuth's edit"]
        );
        let actions = edits.actions(&ask(asked, 0, json!({})), &Abilities::default());
        let hints = edits.hints();
        assert_eq!(hints.len(), 1);
        assert!(hints[0].1.message.contains("once the file is open"), "{}", hints[0].1.message);
        let target = json!({ "uri": closed.uri, "position": { "line": 4, "character": 2 } });
        assert_eq!(actions[0]["arguments"], json!([target]));

        let (uri, version) = (closed.uri.clone(), Some(1));
        edits.changed(
            InlineChangedParams { id: "e".into(), edit: Some(InlineEdit { version, ..closed }), reason: None },
            &buffers,
        );
        assert_eq!(titles(&edits, &ask(&uri, 4, json!({})))[0], "Accept Azimuth's edit (line 5)");
    }

    #[test]
    fn an_edit_follows_its_changes_and_goes_with_the_model() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        let moved = edit("e", vec![hunk("1", [3, 0], [4, 0], "4\n")]);
        let changed = |edit| InlineChangedParams { id: "e".into(), edit, reason: None };
        assert!(edits.changed(changed(Some(moved.clone())), &buffers));
        assert_eq!(titles(&edits, &ask(URI, 0, json!({})))[0], "Accept Azimuth's edit (line 4)");
        assert!(edits.changed(changed(None), &buffers));
        assert!(edits.hints().is_empty());
        let another = InlineEdit { id: "f".into(), ..moved };
        let early = InlineChangedParams { id: "f".into(), edit: Some(another), reason: None };
        assert!(edits.changed(early, &buffers), "a change that comes before the answer counts");
        assert_eq!(edits.hints().len(), 1);
        edits.end();
        assert!(edits.hints().is_empty());
    }

    #[test]
    fn what_is_left_of_an_accepted_edit_stays_until_it_is_over_and_does_not_come_back() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        let rest = edit("e", vec![hunk("1", [2, 0], [4, 0], "3\n4\n")]);
        edits.accepted("e", Some(rest.clone()), &buffers);
        assert_eq!(titles(&edits, &ask(URI, 0, json!({})))[0], "Accept Azimuth's edit (line 3)");
        edits.accepted("another", Some(two()), &buffers);
        assert_eq!(edits.hints().len(), 1, "an edit that is gone leaves nothing");
        edits.answered(URI, InlineEditResult::default(), &buffers);
        assert_eq!(edits.hints().len(), 1, "that there is no other one does not end it");
        edits.changed(InlineChangedParams { id: "e".into(), edit: None, reason: None }, &buffers);
        assert!(edits.hints().is_empty());
        edits.changed(InlineChangedParams { id: "e".into(), edit: Some(rest), reason: None }, &buffers);
        assert!(edits.hints().is_empty(), "news that were on their way");
    }

    #[test]
    fn a_client_that_asks_itself_is_shown_nothing_twice() {
        let (edits, buffers) = plain();
        edits.keep(URI, two(), &buffers);
        edits.leave();
        assert!(edits.hints().is_empty() && !edits.is_plain());
        edits.keep(URI, two(), &buffers);
        assert!(edits.hints().is_empty());
        let gone = InlineChangedParams { id: "e".into(), edit: None, reason: None };
        assert!(!edits.changed(gone, &buffers), "it is told itself");
    }
}
