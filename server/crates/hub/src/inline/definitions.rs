//! The definitions of what stands near the cursor, from language servers that run already. They are found while the
//! pause before a request runs, and kept for a short time, so that no request waits for them. A server gives their
//! locations only; the text is read here, if it may be sent.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::join_all;
use inline::definition::{MOST_BYTES, Name, lines, names};
use inline::secret;
use lang::pool::Servers;
use ports::complete::Excerpt;
use project::buffers::{Buffers, Snapshot};
use project::paths::{self, Roots};
use project::reader::{NoOverlay, Reader};
use project::text::PositionEncoding;
use protocol::lang::{EditorQueryParams, LangAnswer, LangLocation, LangQuery, LangResult, LangStatus};

use super::asked::next_number;
use super::deciding::FRESH;
use super::gate::Gate;
use super::{Key, LARGEST, Message, Task, positions};
use crate::{Editor, EditorError};

/// The time that servers have for a document's names. A warm server answers within some milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);
/// The names that are asked about at once, and the definitions that a model reads.
const ASKED: usize = 6;
const GIVEN: usize = 3;
/// The time until it is looked again if a server is warm.
const COLD: Duration = Duration::from_secs(3);
/// The names that are kept of a document.
const KEPT: usize = 64;

/// The definitions that are known of each document.
#[derive(Default)]
pub(super) struct Definitions(HashMap<Key, Known>);

#[derive(Default)]
struct Known {
    /// By name. None if a server knows no definition, or if its text may not be sent.
    found: HashMap<String, (Instant, Option<Arc<Excerpt>>)>,
    /// The search that runs.
    running: Option<u64>,
    /// The time when no server was warm.
    cold: Option<Instant>,
}

/// What became of a search.
pub(super) struct LookedUp {
    number: u64,
    /// None if no server is warm.
    found: Option<Vec<(String, Option<Excerpt>)>>,
}

/// A search for definitions, with all that it needs.
struct LookUp {
    editor: Arc<dyn Editor>,
    servers: Arc<Servers>,
    buffers: Arc<Buffers>,
    folders: Vec<PathBuf>,
    gate: Gate,
    document: Arc<Snapshot>,
    names: Vec<Name>,
}

impl Definitions {
    /// Forgets all: other files may be sent now.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Forgets those of a document.
    pub(super) fn forget(&mut self, key: &Key) {
        self.0.remove(key);
    }

    /// The definitions that are known for a cursor in a text, the nearest name's first; none if no server is warm.
    pub(super) fn near(&self, key: &Key, text: &str, cursor: usize) -> Option<Vec<Excerpt>> {
        let known = self.0.get(key).filter(|known| !known.found.is_empty())?;
        let found = names(text, cursor).into_iter().filter_map(|name| {
            let (_, defined) = known.found.get(&name.path).filter(|(at, _)| at.elapsed() < FRESH)?;
            defined.as_deref().cloned()
        });
        Some(found.take(ASKED).collect())
    }
}

/// The bytes to keep for definitions of those that are left for other files. They do not depend on how many there are,
/// so that the parts of other files, which come before them, stay the same.
pub(super) fn room(definitions: Option<&[Excerpt]>, left: usize) -> usize {
    definitions.map_or(0, |_| (GIVEN * MOST_BYTES).min(left / 2))
}

/// The definitions for a request that has these texts already, in a steady order.
pub(super) fn chosen(definitions: Option<&[Excerpt]>, texts: &[&str]) -> Vec<Excerpt> {
    let mut chosen: Vec<Excerpt> = Vec::new();
    for definition in definitions.unwrap_or_default() {
        let is_there = texts.iter().any(|text| text.contains(definition.text.trim_end()));
        if !is_there && !chosen.contains(definition) && chosen.len() < GIVEN {
            chosen.push(definition.clone());
        }
    }
    chosen.sort_by(|a, b| (&a.path, &a.text).cmp(&(&b.path, &b.text)));
    chosen
}

impl Task {
    /// Begins to look for the definitions near a cursor that are not known yet, in a document that may be sent.
    pub(super) fn look_up(&mut self, key: &Key, document: &Arc<Snapshot>, cursor: usize) {
        let Some(client) = self.clients.get(&key.0) else { return };
        let known = self.definitions.0.entry(key.clone()).or_default();
        let now = Instant::now();
        if known.running.is_some() || known.cold.is_some_and(|at| now - at < COLD) {
            return;
        }
        // Those that are about to be too old are looked for again, so that there is always one.
        let is_known = |name: &Name| known.found.get(&name.path).is_some_and(|(at, _)| now - *at < FRESH / 2);
        let names: Vec<_> = names(document.normal(), cursor).into_iter().take(ASKED).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !is_known(name)).collect();
        if names.is_empty() {
            return;
        }
        let number = next_number();
        known.running = Some(number);
        let (folders, caller) = (client.folders.clone(), client.caller.clone());
        let look_up = LookUp {
            editor: Arc::clone(&caller.editor),
            servers: Arc::clone(&self.shared.servers),
            buffers: Arc::clone(&caller.buffers),
            folders: folders.clone(),
            gate: Gate::new(self.shared.clone(), Arc::clone(&self.config), folders, caller),
            document: Arc::clone(document),
            names,
        };
        let key = key.clone();
        self.beside(async move {
            let found = AssertUnwindSafe(look_up.run()).catch_unwind().await.unwrap_or_default();
            Message::Defined(key, LookedUp { number, found })
        });
    }

    /// Keeps what was found.
    pub(super) fn looked_up(&mut self, key: &Key, looked_up: LookedUp) {
        let LookedUp { number, found } = looked_up;
        let now = Instant::now();
        // It is not there any more if what may be sent has changed in the meantime.
        let known = self.definitions.0.get_mut(key).filter(|known| known.running == Some(number));
        let Some(known) = known else { return };
        known.running = None;
        known.cold = found.is_none().then_some(now);
        let found = found.unwrap_or_default();
        if known.found.len() + found.len() > KEPT {
            known.found.retain(|_, (at, _)| now - *at < FRESH);
        }
        if known.found.len() + found.len() > KEPT {
            known.found.clear();
        }
        known.found.extend(found.into_iter().map(|(name, defined)| (name, (now, defined.map(Arc::new)))));
    }
}

impl LookUp {
    async fn run(self) -> Option<Vec<(String, Option<Excerpt>)>> {
        let roots = {
            let folders = self.folders.clone();
            tokio::task::spawn_blocking(move || Roots::new(folders)).await.ok()?.ok()?
        };
        let reader = Reader::new(Arc::clone(&self.buffers), Arc::new(NoOverlay));
        let asked = join_all(self.names.iter().map(|name| self.ask(name, &roots, &reader))).await;
        if asked.iter().all(Option::is_none) {
            return None;
        }
        // A name for which there was no answer in time is asked about again.
        let answered = self.names.iter().zip(asked).filter_map(|(name, location)| Some((name, location?)));
        let (located, unknown): (Vec<_>, Vec<_>) = answered.partition(|(_, location)| location.is_some());
        let mut found: Vec<_> = unknown.into_iter().map(|(name, _)| (name.path.clone(), None)).collect();
        let located = located.into_iter().filter_map(|(name, location)| {
            let location = location?;
            let path = paths::from_uri(&location.uri).ok()?;
            Some((name.clone(), location, path))
        });
        let located: Vec<_> = located.collect();
        let files = located.iter().map(|(_, location, path)| (Arc::from(location.uri.as_str()), path.clone()));
        let judged = self.gate.clone().judge(files.collect()).await;
        let read = tokio::task::spawn_blocking(move || {
            let with_file = located.into_iter().zip(judged);
            let read = with_file.map(|((name, location, _), file)| {
                let defined = file.ok().and_then(|file| {
                    let text = reader.base(&file.path).ok()?.text;
                    defined(&name, location.range.start.line, file.display, &text)
                });
                (name.path, defined)
            });
            read.collect::<Vec<_>>()
        });
        found.extend(read.await.ok()?);
        Some(found)
    }

    /// The location of a name's definition. The outer `None` is that no server is warm, or that there was no answer in
    /// time; the inner one is that there is no definition.
    async fn ask(&self, name: &Name, roots: &Roots, reader: &Reader) -> Option<Option<LangLocation>> {
        let uri = self.document.uri.to_string();
        let position = positions::range(&self.document, name.start..name.start, PositionEncoding::Utf16).start;
        let query = LangQuery::Definition { uri: uri.clone(), position };
        let timeout_ms = u32::try_from(PATIENCE.as_millis()).unwrap_or(u32::MAX);
        let asked = self.editor.query(EditorQueryParams { query: query.clone(), timeout_ms });
        let result = match tokio::time::timeout(PATIENCE, asked).await.ok()? {
            Ok(LangResult { status: LangStatus::NoServer, .. }) | Err(EditorError::Unsupported) => {
                self.servers.ask_if_warm(&query, roots, reader, PATIENCE).await?
            }
            asked => asked.ok()?,
        };
        let (LangStatus::Ready, LangAnswer::Locations { locations }) = (result.status, result.answer) else {
            return None;
        };
        let is_itself = |location: &LangLocation| location.uri == uri && location.range.start.line == position.line;
        Some(locations.into_iter().find(|location| !is_itself(location)))
    }
}

/// The text of a definition, without secrets. None if the name is not there: the text may have changed since the server
/// read it.
fn defined(name: &Name, line: u32, path: String, text: &str) -> Option<Excerpt> {
    if text.len() > LARGEST {
        return None;
    }
    let range = lines(text, usize::try_from(line).ok()?)?;
    if !text.get(range.clone())?.contains(name.word()) {
        return None;
    }
    let secrets = secret::near(text, range.clone());
    Some(Excerpt { path, text: secret::cut(text, range, &secrets) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(path: &str, text: &str) -> Excerpt {
        Excerpt { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_definition_is_its_lines_without_secrets_and_none_if_the_name_is_not_there() {
        let name = Name { path: "shapes.area".to_owned(), start: 0 };
        let text = "one\ndef area(side):\n    password = \"Zx81mQ0pLr\"\n    return side\ntwo\n";
        let found = defined(&name, 1, "shapes.py".to_owned(), text).unwrap();
        assert!(found.text.starts_with("def area(side):\n") && found.text.ends_with("return side\n"), "{found:?}");
        assert!(!found.text.contains("Zx81mQ0pLr"));
        assert_eq!(defined(&name, 0, "shapes.py".to_owned(), text), None, "the text has changed since");
        assert_eq!(defined(&name, 9, "shapes.py".to_owned(), text), None);
    }

    #[test]
    fn what_is_read_already_is_not_sent_twice_and_the_order_is_steady() {
        let [b, a, c, d] = ["b", "a", "c", "d"].map(|path| excerpt(path, &format!("fn {path}() {{}}\n")));
        let all = [b.clone(), a.clone(), b.clone(), c.clone(), d.clone()];
        assert_eq!(chosen(Some(&all), &["x"]), [a.clone(), b.clone(), c.clone()]);
        assert_eq!(chosen(Some(&all), &["x\nfn a() {}\ny\n"]), [b, c, d]);
        assert_eq!(chosen(None, &["x"]), []);
    }

    #[test]
    fn there_is_room_for_definitions_only_with_a_warm_server_and_never_more_than_half() {
        assert_eq!((room(None, 9000), room(Some(&[]), 9000), room(Some(&[]), 1000)), (0, 3 * MOST_BYTES, 500));
    }
}
