//! The definitions of what stands near the cursor, from language servers that run already. They are found while the
//! pause before a request runs, and kept for a short time, so that no request waits for them. A server gives their
//! locations only; the text is read here, if it may be sent.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::join_all;
use inline::definition::{Name, lines, names};
use inline::secret;
use ports::complete::Excerpt;
use project::buffers::Snapshot;
use project::paths::{self, Roots};
use project::text::PositionEncoding;
use protocol::lang::{LangLocation, LangQuery};

use super::asked::next_number;
use super::deciding::FRESH;
use super::gate::Gate;
use super::servers::Warm;
use super::{Key, LARGEST, Message, Task, positions};

/// The time that servers have for a document's names. A warm server answers within some milliseconds, but after each
/// change it may read the text anew first, which takes longer on a slow machine. No suggestion waits for it.
const PATIENCE: Duration = Duration::from_secs(1);
/// The names that are asked about at once.
const ASKED: usize = 6;
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
    found: HashMap<String, (Instant, Option<Arc<Defined>>)>,
    /// The search that runs.
    running: Option<u64>,
    /// The time when no server was warm.
    cold: Option<Instant>,
}

/// A definition, with a text that may be sent.
#[derive(Debug, PartialEq, Eq)]
struct Defined {
    /// Its document, by its server's name.
    uri: String,
    excerpt: Excerpt,
}

/// The end of a search.
pub(super) struct LookedUp {
    number: u64,
    /// None if no server is warm.
    found: Option<Vec<(String, Option<Defined>)>>,
}

/// A search for definitions, with all that it needs.
struct LookUp {
    servers: Warm,
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

    /// A document has another text: the definitions that others have of it are old, and a search of theirs may have
    /// read it as it was.
    pub(super) fn changed(&mut self, changed: &Key) {
        let others = self.0.iter_mut().filter(|(key, _)| key.0 == changed.0 && key.1 != changed.1);
        for (_, known) in others {
            let is_of = |defined: &Arc<Defined>| *defined.uri == *changed.1;
            known.found.retain(|_, (_, defined)| !defined.as_ref().is_some_and(is_of));
            known.running = None;
        }
    }

    /// The definitions that are known for a cursor in a text, the nearest name's first; none if no server is warm.
    pub(super) fn near(&self, key: &Key, text: &str, cursor: usize) -> Option<Vec<Excerpt>> {
        let known = self.0.get(key).filter(|known| !known.found.is_empty())?;
        let found = names(text, cursor).into_iter().filter_map(|name| {
            let (_, defined) = known.found.get(&name.path).filter(|(at, _)| at.elapsed() < FRESH)?;
            let defined = defined.as_deref()?;
            // The user may just have changed it.
            let is_old = *defined.uri == *key.1 && !text.contains(&defined.excerpt.text);
            (!is_old).then(|| defined.excerpt.clone())
        });
        Some(found.take(ASKED).collect())
    }
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
        let look_up = LookUp {
            servers: Warm::new(&self.shared, client),
            gate: Gate::new(&self.shared, &self.config, client),
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
        // It counts no more if a text, or what may be sent, has changed in the meantime.
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
    async fn run(self) -> Option<Vec<(String, Option<Defined>)>> {
        let roots = self.servers.roots().await?;
        let asked = join_all(self.names.iter().map(|name| self.ask(name, &roots))).await;
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
        let reader = self.servers.reader;
        let read = tokio::task::spawn_blocking(move || {
            let with_file = located.into_iter().zip(judged);
            let read = with_file.map(|((name, location, _), file)| {
                let defined = file.ok().and_then(|file| {
                    let text = reader.base(&file.path).ok()?.text;
                    defined(&name, location, file.display, &text)
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
    async fn ask(&self, name: &Name, roots: &Roots) -> Option<Option<LangLocation>> {
        let uri = self.document.uri.to_string();
        let position = positions::range(&self.document, name.start..name.start, PositionEncoding::Utf16).start;
        let query = LangQuery::Definition { uri: uri.clone(), position };
        let locations = self.servers.locations(query, roots, PATIENCE).await?;
        let is_itself = |location: &LangLocation| location.uri == uri && location.range.start.line == position.line;
        Some(locations.into_iter().find(|location| !is_itself(location)))
    }
}

/// The text of a definition, without secrets. None if the name is not there: the text may have changed since the server
/// read it.
fn defined(name: &Name, location: LangLocation, path: String, text: &str) -> Option<Defined> {
    if text.len() > LARGEST {
        return None;
    }
    let range = lines(text, usize::try_from(location.range.start.line).ok()?)?;
    if !text.get(range.clone())?.contains(name.word()) {
        return None;
    }
    let secrets = secret::near(text, range.clone());
    Some(Defined { uri: location.uri, excerpt: Excerpt { path, text: secret::cut(text, range, &secrets) } })
}

#[cfg(test)]
mod tests {
    use protocol::content::{Position, Range};

    use super::*;
    use crate::ClientId;

    fn excerpt(path: &str, text: &str) -> Excerpt {
        Excerpt { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_definition_is_its_lines_without_secrets_and_none_if_the_name_is_not_there() {
        let name = Name { path: "shapes.area".to_owned(), start: 0 };
        let text = "one\ndef area(side):\n    password = \"Zx81mQ0pLr\"\n    return side\ntwo\n";
        let at = |line| {
            let position = Position { line, character: 4 };
            LangLocation { uri: "file:///shapes.py".to_owned(), range: Range { start: position, end: position } }
        };
        let found = defined(&name, at(1), "shapes.py".to_owned(), text).unwrap().excerpt;
        assert!(found.text.starts_with("def area(side):\n") && found.text.ends_with("return side\n"), "{found:?}");
        assert!(!found.text.contains("Zx81mQ0pLr"));
        assert_eq!(defined(&name, at(0), "shapes.py".to_owned(), text), None, "the text has changed since");
        assert_eq!(defined(&name, at(9), "shapes.py".to_owned(), text), None);
    }

    #[test]
    fn a_definition_whose_text_has_changed_is_not_sent() {
        let client = ClientId(1);
        let [main, shapes] = ["file:///main.py", "file:///shapes.py"].map(|uri| (client, Arc::<str>::from(uri)));
        let text = "def own(a):\n    return a\n\nown(1)\narea(2)\n";
        let found = [("own", &main, "def own(a):\n    return a\n"), ("area", &shapes, "def area(side):\n")];
        let found = found.map(|(name, (_, uri), text)| {
            let defined = Defined { uri: uri.to_string(), excerpt: excerpt("x.py", text) };
            (name.to_owned(), (Instant::now(), Some(Arc::new(defined))))
        });
        let known = Known { found: HashMap::from(found), running: Some(1), ..Known::default() };
        let mut definitions = Definitions(HashMap::from([(main.clone(), known)]));
        let near = |definitions: &Definitions, text: &str| definitions.near(&main, text, text.len()).unwrap().len();
        assert_eq!(near(&definitions, text), 2);
        assert_eq!(near(&definitions, &text.replace("own(a)", "own(a, b)")), 1, "the document's own");
        definitions.changed(&main);
        assert_eq!((near(&definitions, text), definitions.0[&main].running), (2, Some(1)));
        definitions.changed(&shapes);
        assert_eq!(near(&definitions, text), 1, "another document's");
        assert_eq!(definitions.0[&main].running, None, "a search may have read what it was");
    }
}
