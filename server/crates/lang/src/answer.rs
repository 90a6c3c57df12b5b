//! Servers' answers as ours: from the shapes of LSP to plain data, in UTF-16, and of a size that can be handled.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use project::paths;
use project::reader::Reader;
use project::text::{self, LineIndex, PositionEncoding};
use protocol::content::{Position, Range};
use protocol::lang::{
    LangAction, LangAnswer, LangCall, LangChange, LangDiagnostic, LangLocation, LangSeverity, LangSymbol, LangTextEdit,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::wire::{
    self, Action, Call, Diagnostic, DocumentChange, Hover, Item, Place, Places, Symbol, WorkspaceEdit,
};
use super::client::{RequestError, Sent, Stamp};

/// So many places, symbols, problems or actions are passed on; who wants more has to ask more narrowly.
pub(super) const MOST: usize = 10_000;
/// How deep symbols lie in others.
const MAX_DEPTH: u32 = 64;

/// Places in code.
pub(super) fn locations(raw: &RawValue) -> Result<LangAnswer, RequestError> {
    let places = match wire::parse::<Option<Places>>(raw)? {
        None => Vec::new(),
        Some(Places::One(place)) => vec![place],
        Some(Places::Many(places)) => places,
    };
    let location = |place| match place {
        Place::Location { uri, range } => LangLocation { uri: own_uri(uri), range },
        Place::Link { target_uri, target_selection_range } => {
            LangLocation { uri: own_uri(target_uri), range: target_selection_range }
        }
    };
    Ok(LangAnswer::Locations { locations: places.into_iter().map(location).collect() })
}

/// Reads the answer to a hover request: what is known of a thing.
pub(super) fn hover(raw: &RawValue) -> Result<LangAnswer, RequestError> {
    let hover: Option<Hover> = wire::parse(raw)?;
    Ok(LangAnswer::Text { text: hover.map(|hover| hover.contents.into_markdown()).unwrap_or_default() })
}

/// Symbols of a document, or where there is none of the workspace.
pub(super) fn symbols(raw: &RawValue, document: Option<&str>) -> Result<LangAnswer, RequestError> {
    let found: Option<Vec<Symbol>> = wire::parse(raw)?;
    let mut symbols = Vec::new();
    for symbol in found.unwrap_or_default() {
        flatten(symbol, document, None, 0, &mut symbols);
    }
    Ok(LangAnswer::Symbols { symbols })
}

fn flatten(symbol: Symbol, document: Option<&str>, container: Option<&str>, depth: u32, out: &mut Vec<LangSymbol>) {
    let (uri, range) = match (symbol.location, document, symbol.range) {
        (Some(place), _, _) => (own_uri(place.uri), place.range.unwrap_or(beginning())),
        (None, Some(document), Some(range)) => (document.to_owned(), range),
        // It is nowhere.
        _ => return,
    };
    out.push(LangSymbol {
        name: symbol.name.clone(),
        kind: symbol.kind,
        detail: symbol.detail.filter(|detail| !detail.is_empty()),
        container: symbol.container_name.or_else(|| container.map(str::to_owned)).filter(|name| !name.is_empty()),
        depth,
        location: LangLocation { uri, range },
        selection: symbol.selection_range.unwrap_or(Range { start: range.start, end: range.start }),
    });
    if depth < MAX_DEPTH {
        for child in symbol.children {
            flatten(child, document, Some(&symbol.name), depth + 1, out);
        }
    }
}

fn beginning() -> Range {
    let start = Position { line: 0, character: 0 };
    Range { start, end: start }
}

/// Items of a hierarchy.
pub(super) fn items(raw: &RawValue) -> Result<Vec<Value>, RequestError> {
    Ok(wire::parse::<Option<Vec<Value>>>(raw)?.unwrap_or_default())
}

/// The types of a hierarchy.
pub(super) fn types(raw: &RawValue) -> Result<Vec<LangSymbol>, RequestError> {
    let items: Option<Vec<Item>> = wire::parse(raw)?;
    Ok(items.unwrap_or_default().into_iter().map(symbol).collect())
}

/// The calls of a hierarchy.
pub(super) fn calls(raw: &RawValue) -> Result<Vec<LangCall>, RequestError> {
    let calls: Option<Vec<Call>> = wire::parse(raw)?;
    let call = |call: Call| LangCall { symbol: symbol(call.item), ranges: call.from_ranges };
    Ok(calls.unwrap_or_default().into_iter().map(call).collect())
}

fn symbol(item: Item) -> LangSymbol {
    LangSymbol {
        name: item.name,
        kind: item.kind,
        detail: item.detail.filter(|detail| !detail.is_empty()),
        container: None,
        depth: 0,
        location: LangLocation { uri: own_uri(item.uri), range: item.range },
        selection: item.selection_range,
    }
}

/// Problems of a document.
pub(super) fn diagnostics(raw: &RawValue) -> Result<Vec<LangDiagnostic>, RequestError> {
    let found: Option<Vec<Diagnostic>> = wire::parse(raw)?;
    let diagnostic = |one: Diagnostic| LangDiagnostic {
        range: one.range,
        severity: match one.severity {
            Some(2) => LangSeverity::Warning,
            Some(3) => LangSeverity::Information,
            Some(4) => LangSeverity::Hint,
            // Without one it is ours to say, and an error is not overlooked.
            _ => LangSeverity::Error,
        },
        message: one.message.into_markdown(),
        source: one.source,
        code: one.code.and_then(|code| match code {
            Value::String(code) => Some(code),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        }),
    };
    Ok(found.unwrap_or_default().into_iter().map(diagnostic).collect())
}

/// Code actions, each as it came besides.
pub(super) fn actions(raw: &RawValue) -> Result<Vec<(Action, Value)>, RequestError> {
    let found = wire::parse::<Option<Vec<Value>>>(raw)?.unwrap_or_default();
    let action = |value: Value| Some((serde_json::from_value(value.clone()).ok()?, value));
    Ok(found.into_iter().take(MOST).filter_map(action).collect())
}

/// An action, for people.
pub(super) fn action(action: Action) -> LangAction {
    LangAction {
        title: action.title,
        kind: action.kind,
        preferred: action.is_preferred.unwrap_or_default(),
        disabled: action.disabled.map(|disabled| disabled.reason),
    }
}

/// A change of files, without the versions of documents.
pub(super) fn edit(raw: &RawValue) -> Result<Vec<LangChange>, RequestError> {
    let edit = wire::parse::<Option<WorkspaceEdit>>(raw)?.unwrap_or_default();
    let mut changes = Vec::new();
    match edit.document_changes {
        Some(all) => {
            for change in all {
                changes.push(match change {
                    DocumentChange::Text { text_document, edits } => text(text_document.uri, edits),
                    DocumentChange::Rename { old_uri, new_uri } => {
                        LangChange::Rename { from: own_uri(old_uri), to: own_uri(new_uri) }
                    }
                    DocumentChange::File { kind, uri } => match kind.as_str() {
                        "create" => LangChange::Create { uri: own_uri(uri) },
                        "delete" => LangChange::Delete { uri: own_uri(uri) },
                        kind => return Err(RequestError::Malformed(format!("`{kind}` is no change of files"))),
                    },
                });
            }
        }
        None => {
            for (uri, edits) in edit.changes.unwrap_or_default() {
                let edits: Vec<LangTextEdit> =
                    serde_json::from_value(edits).map_err(|error| RequestError::Malformed(error.to_string()))?;
                changes.push(text(uri, edits));
            }
        }
    }
    Ok(changes)
}

/// The change of one text.
pub(super) fn text_edits(raw: &RawValue, uri: &str) -> Result<Vec<LangChange>, RequestError> {
    let edits = wire::parse::<Option<Vec<LangTextEdit>>>(raw)?.unwrap_or_default();
    Ok(if edits.is_empty() { Vec::new() } else { vec![text(uri.to_owned(), edits)] })
}

fn text(uri: String, edits: Vec<LangTextEdit>) -> LangChange {
    LangChange::Text { uri: own_uri(uri), version: None, hash: None, edits }
}

/// A text with edits made in it; none if they do not fit it, or one another. Positions are in UTF-16.
pub fn edited(text: &str, edits: &[LangTextEdit]) -> Option<String> {
    let index = LineIndex::new(text);
    let offset = |position| index.offset(text, position, PositionEncoding::Utf16);
    // Insertions at one place stay in their order, so the sort is stable.
    let mut parts: Vec<_> = edits
        .iter()
        .map(|edit| Some((offset(edit.range.start)?, offset(edit.range.end)?, edit.new_text.as_str())))
        .collect::<Option<_>>()?;
    parts.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end, replacement) in parts {
        new.push_str(text.get(at..start)?);
        // The files' own line ends are put back when the edit is made.
        new.push_str(&replacement.replace("\r\n", "\n"));
        at = end.max(start);
    }
    new.push_str(text.get(at..)?);
    Some(new)
}

/// A file's URI as we write it; servers escape differently. Others stay as they are.
pub(super) fn own_uri(uri: String) -> String {
    paths::from_uri(&uri).map_or(uri, |path| paths::to_uri(&path))
}

/// How much there is in an answer, and cuts off what is too much.
pub(super) fn bound(answer: &mut LangAnswer) -> bool {
    fn cut<T>(all: &mut Vec<T>) -> bool {
        let is_too_long = all.len() > MOST;
        all.truncate(MOST);
        is_too_long
    }
    match answer {
        // Half an edit is none; and a text or nothing has an end.
        LangAnswer::Nothing | LangAnswer::Text { .. } | LangAnswer::Edit { .. } => false,
        LangAnswer::Locations { locations } => cut(locations),
        LangAnswer::Symbols { symbols } => cut(symbols),
        LangAnswer::Calls { calls } => cut(calls),
        LangAnswer::Actions { actions } => cut(actions),
        LangAnswer::Diagnostics { documents } => {
            let mut left = MOST;
            let mut is_too_long = false;
            for document in documents.iter_mut() {
                is_too_long |= document.diagnostics.len() > left;
                document.diagnostics.truncate(left);
                left -= document.diagnostics.len();
            }
            is_too_long
        }
    }
}

/// True if there is nothing in an answer.
pub(super) fn is_empty(answer: &LangAnswer) -> bool {
    match answer {
        LangAnswer::Nothing => true,
        LangAnswer::Locations { locations } => locations.is_empty(),
        LangAnswer::Text { text } => text.trim().is_empty(),
        LangAnswer::Symbols { symbols } => symbols.is_empty(),
        LangAnswer::Calls { calls } => calls.is_empty(),
        LangAnswer::Edit { changes } => changes.is_empty(),
        LangAnswer::Diagnostics { documents } => documents.iter().all(|document| document.diagnostics.is_empty()),
        LangAnswer::Actions { actions } => actions.is_empty(),
    }
}

/// A file that is dated further ahead than this was not written just now.
const FUTURE: Duration = Duration::from_secs(5);

/// Says of which texts edits are: those that the server was sent, and for other files what they are now. Gives a file
/// that has changed since, if there is one: nobody knows which text of it the server took. Blocks.
pub(super) fn put_hashes(answer: &mut LangAnswer, sent: &Sent, reader: &Reader) -> Option<PathBuf> {
    let LangAnswer::Edit { changes } = answer else { return None };
    for change in changes {
        let LangChange::Text { uri, hash, .. } = change else { continue };
        let Ok(path) = paths::from_uri(uri) else { continue };
        *hash = match sent.open.get(&path) {
            Some(synced) => Some(text::hash(&synced.text).0),
            None => {
                let now = reader.read(&path).ok().map(|file| file.hash.0);
                // After it was read: then what was read is not newer.
                // The date of one that is dated in the future says nothing.
                let future = SystemTime::now() + FUTURE;
                let is_as_asked =
                    |stamp: &Stamp| sent.at.is_none_or(|at| stamp.is_before(at)) || !stamp.is_before(future);
                if Stamp::of(&path).is_some_and(|stamp| !is_as_asked(&stamp)) {
                    return Some(path);
                }
                now
            }
        };
    }
    None
}

/// Leaves out what stands in files that the session proposes to delete. What would change them stays: who makes the
/// change is told that it cannot be made.
pub(super) fn leave_out_deleted(answer: &mut LangAnswer, reader: &Reader) {
    let deleted = reader.deleted();
    if deleted.is_empty() {
        return;
    }
    let is_there = |uri: &str| !paths::from_uri(uri).is_ok_and(|path| deleted.contains(&path));
    match answer {
        LangAnswer::Nothing | LangAnswer::Text { .. } | LangAnswer::Actions { .. } | LangAnswer::Edit { .. } => {}
        LangAnswer::Locations { locations } => locations.retain(|place| is_there(&place.uri)),
        LangAnswer::Symbols { symbols } => symbols.retain(|symbol| is_there(&symbol.location.uri)),
        LangAnswer::Calls { calls } => calls.retain(|call| is_there(&call.symbol.location.uri)),
        LangAnswer::Diagnostics { documents } => documents.retain(|document| is_there(&document.uri)),
    }
}

/// Brings every position of an answer from a server's units to UTF-16, by the texts that the session reads. `asked` is
/// the document in which ranges stand that name none. Blocks where the disk is asked; does nothing for UTF-16.
pub(super) fn into_utf16(answer: &mut LangAnswer, asked: Option<&str>, encoding: PositionEncoding, reader: &Reader) {
    if encoding == PositionEncoding::Utf16 {
        return;
    }
    let mut units = Units { encoding, reader, texts: HashMap::new() };
    each_range(answer, asked, &mut |uri, range| units.range(uri, range, PositionEncoding::Utf16));
}

/// A position of ours in a server's units. Blocks where the disk is asked.
pub(super) fn from_utf16(position: Position, text: &str, encoding: PositionEncoding) -> Position {
    if encoding == PositionEncoding::Utf16 {
        return position;
    }
    let lines = LineIndex::new(text);
    let offset = lines.offset(text, position, PositionEncoding::Utf16);
    offset.map_or(position, |offset| lines.position(text, offset, encoding))
}

struct Units<'r> {
    encoding: PositionEncoding,
    reader: &'r Reader,
    texts: HashMap<String, Option<(Arc<str>, LineIndex)>>,
}

impl Units<'_> {
    fn range(&mut self, uri: &str, range: &mut Range, to: PositionEncoding) {
        let reader = self.reader;
        let known = self.texts.entry(uri.to_owned()).or_insert_with(|| {
            let path: PathBuf = paths::from_uri(uri).ok()?;
            let text = reader.read(&path).ok()?.text;
            let lines = LineIndex::new(&text);
            Some((text, lines))
        });
        // Where the text is not known the units are most likely the same: most code is ASCII.
        let Some((text, lines)) = known else { return };
        for position in [&mut range.start, &mut range.end] {
            if let Some(offset) = lines.offset(text, *position, self.encoding) {
                *position = lines.position(text, offset, to);
            }
        }
    }
}

fn each_range(answer: &mut LangAnswer, asked: Option<&str>, change: &mut dyn FnMut(&str, &mut Range)) {
    let symbol = |symbol: &mut LangSymbol, change: &mut dyn FnMut(&str, &mut Range)| {
        change(&symbol.location.uri, &mut symbol.location.range);
        change(&symbol.location.uri, &mut symbol.selection);
    };
    match answer {
        LangAnswer::Nothing | LangAnswer::Text { .. } | LangAnswer::Actions { .. } => {}
        LangAnswer::Locations { locations } => {
            locations.iter_mut().for_each(|location| change(&location.uri, &mut location.range));
        }
        LangAnswer::Symbols { symbols } => symbols.iter_mut().for_each(|one| symbol(one, change)),
        LangAnswer::Calls { calls } => {
            for call in calls {
                // The calls stand in the caller: in the document that was asked about, or in the symbol's.
                let uri = asked.unwrap_or(&call.symbol.location.uri).to_owned();
                call.ranges.iter_mut().for_each(|range| change(&uri, range));
                symbol(&mut call.symbol, change);
            }
        }
        LangAnswer::Edit { changes } => {
            for step in changes {
                if let LangChange::Text { uri, edits, .. } = step {
                    edits.iter_mut().for_each(|edit| change(uri, &mut edit.range));
                }
            }
        }
        LangAnswer::Diagnostics { documents } => {
            for document in documents {
                document.diagnostics.iter_mut().for_each(|one| change(&document.uri, &mut one.range));
            }
        }
    }
}
