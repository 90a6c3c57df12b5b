//! The place that a call names.

use std::path::PathBuf;

use agent::edit::TextHash;
use agent::tool::{Call, ToolError};
use protocol::lang::{LangAnswer, LangQuery, LangStatus, LangSymbol};
use protocol::{Position, Range};
use workspace::lang::{Place, name_within};
use workspace::paths;
use workspace::search::Scope;
use workspace::syntax::{Language, Lookup, Outline, Parsed, numbered};

use super::edit::Asked;
use crate::{Services, blocking, read_file};

/// How many symbols of the same name are listed.
const MOST: usize = 10;
/// How many files with the name in them are parsed, where no server knows the symbol.
const MOST_FILES: usize = 500;
/// What stands between the names of a path.
const SEPARATORS: [char; 3] = ['/', '.', ':'];

/// The fields of a call that name a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Option<&'a str>,
    pub(super) symbol: Option<&'a str>,
    pub(super) line: Option<usize>,
    pub(super) text: Option<&'a str>,
    pub(super) occurrence: Option<usize>,
}

/// The input of a tool that names a place.
pub(super) trait Targeted {
    fn target(&self) -> Target<'_>;
}

/// The input of a tool that is about one place: these fields, and those that name it.
macro_rules! targeted {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])+
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[doc = $field_doc])+ $field: $type,)*
            /// The symbol by its name, with the names of what it is in where others are called so too: `Type/method`. Alone it
            /// is looked for in the whole workspace; with `path` in that file. `Name[2]` is the second that is called so.
            symbol: Option<String>,
            /// The file, relative to the workspace or absolute. Needed with `line`.
            path: Option<String>,
            /// The line, from 1, on which it stands, instead of `symbol`.
            line: Option<usize>,
            /// What stands on that line and is meant, such as a name.
            text: Option<String>,
            /// Which of several such texts on the line, from 1; the first without it.
            occurrence: Option<usize>,
        }

        impl $crate::lsp::target::Targeted for $name {
            fn target(&self) -> $crate::lsp::target::Target<'_> {
                $crate::lsp::target::Target {
                    path: self.path.as_deref(),
                    symbol: self.symbol.as_deref(),
                    line: self.line,
                    text: self.text.as_deref(),
                    occurrence: self.occurrence,
                }
            }
        }
    };
}

pub(super) use targeted;

/// A place in a document.
#[derive(Clone, Debug)]
pub(super) struct At {
    /// The text in which it was found.
    pub(super) text: Asked,
    pub(super) uri: String,
    pub(super) position: Position,
}

impl Target<'_> {
    /// Whether it can be meant, and the file that it names.
    pub(super) fn check(&self, services: &Services) -> Result<Option<PathBuf>, ToolError> {
        let invalid = |words: &str| Err(ToolError::InvalidInput(words.to_owned()));
        match (self.path, self.symbol, self.line, self.text) {
            (_, Some(_), Some(_), _) => return invalid("give either `symbol`, or `line` with `text`, not both"),
            (_, Some(symbol), None, _) if symbol.trim().is_empty() => return invalid("`symbol` is empty"),
            (None, Some(_), None, _) | (Some(_), Some(_), None, _) | (Some(_), None, Some(_), Some(_)) => {}
            (Some(_), None, Some(_), None) => {
                return invalid("`text` is missing: a text on that line, such as the name that is asked about");
            }
            (None, None, ..) | (Some(_), None, None, _) => {
                return invalid("name a place: `symbol`, or `path` with `line` and `text`");
            }
        }
        Ok(self.path.map(|path| services.roots.resolve(path)).transpose()?)
    }

    /// What it is, for people.
    pub(super) fn words(&self, services: &Services) -> String {
        let file = self.path.and_then(|path| services.roots.resolve(path).ok());
        let file = file.map(|path| services.roots.display(&path)).unwrap_or_default();
        match (self.symbol, self.text) {
            (Some(symbol), _) if file.is_empty() => symbol.to_owned(),
            (Some(symbol), _) => format!("{symbol} in {file}"),
            (None, text) => format!("{} in {file}:{}", text.unwrap_or_default(), self.line.unwrap_or_default()),
        }
    }

    /// Finds it.
    pub(super) async fn find(&self, services: &Services, call: &Call) -> Result<At, ToolError> {
        let path = self.check(services)?;
        match (path, self.symbol) {
            (Some(path), symbol) => {
                let symbol = symbol.map(str::to_owned);
                let text = self.text.map(str::to_owned);
                let (line, occurrence) = (self.line.unwrap_or_default(), self.occurrence.unwrap_or(1));
                let (services, call) = (services.clone(), call.clone());
                blocking(move || {
                    let place = match (&symbol, &text) {
                        (Some(symbol), _) => Place::Symbol(symbol),
                        (None, text) => Place::Text { line, text: text.as_deref().unwrap_or_default(), occurrence },
                    };
                    in_file(&services, &call, path, place)
                })
                .await
            }
            (None, symbol) => anywhere(services, call, symbol.unwrap_or_default()).await,
        }
    }
}

fn in_file(services: &Services, call: &Call, path: PathBuf, place: Place<'_>) -> Result<At, ToolError> {
    let file = services.reader.read(&path).map_err(|error| read_file::in_words(services, &path, error, call))?;
    let name = services.roots.display(&path);
    let parsed = match (place, Language::of(&path)) {
        (Place::Symbol(_), Some(language)) => {
            let parsed = Parsed::new(language, file.text.clone());
            Some(parsed.map_err(|error| ToolError::Failed(format!("{name}: {error}")))?)
        }
        (Place::Symbol(_), None) => {
            let words = "its symbols are not known to Azimuth; name the place by `line` and `text`";
            return Err(ToolError::Failed(format!("{name}: {words}")));
        }
        (Place::Text { .. }, _) => None,
    };
    let position =
        place.find(&file.text, parsed.as_ref()).map_err(|error| ToolError::Failed(format!("{name}: {error}")))?;
    Ok(At::new(path, file.hash, position))
}

impl At {
    fn new(path: PathBuf, hash: TextHash, position: Position) -> Self {
        Self { uri: paths::to_uri(&path), text: Asked { path, hash }, position }
    }
}

/// A symbol anywhere in the workspace: by the language servers, or else by the files that its name stands in.
async fn anywhere(services: &Services, call: &Call, symbol: &str) -> Result<At, ToolError> {
    let (named, number) = numbered(symbol.trim());
    let query = LangQuery::WorkspaceSymbols { query: last_name(named).to_owned(), uri: None };
    let result = super::ask(services, &query, call).await?;
    let (in_blocking, call, wanted) = (services.clone(), call.clone(), named.to_owned());
    let mut found = blocking(move || {
        let services = &in_blocking;
        let found = match (result.status, result.answer) {
            (LangStatus::Ready | LangStatus::Partial | LangStatus::Indexing, LangAnswer::Symbols { symbols }) => {
                symbols
            }
            _ => Vec::new(),
        };
        let found: Vec<At> =
            found.iter().filter(|found| is_called(found, &wanted)).filter_map(|found| at(services, found)).collect();
        if found.is_empty() { in_files(services, &call, &wanted) } else { Ok(found) }
    })
    .await?;
    let place = |at: &At| (at.text.path.clone(), at.position);
    found.sort_by_key(place);
    // Several servers may know it.
    found.dedup_by_key(|at| place(at));
    match (found.as_slice(), number) {
        ([], _) => Err(ToolError::Failed(format!(
            "no symbol of the workspace is called `{named}`. Look for it with search_text, and name the place by `path`, \
             `line` and `text`"
        ))),
        ([one], None) => Ok(one.clone()),
        (several, number) => {
            if let Some(one) = number.and_then(|number| several.get(number.checked_sub(1)?)) {
                return Ok(one.clone());
            }
            let shown = |(at, one): (usize, &At)| {
                let file = services.roots.display(&one.text.path);
                format!("`{named}[{}]` at {file}:{}", at + 1, one.position.line + 1)
            };
            let places: Vec<_> = several.iter().enumerate().take(MOST).map(shown).collect();
            let more = several.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(ToolError::Failed(format!(
                "`{symbol}` may be several symbols: {}{more}. Name one so, or give the `path` too",
                places.join(", ")
            )))
        }
    }
}

/// The last of a path of names.
fn last_name(path: &str) -> &str {
    path.rsplit(SEPARATORS).next().unwrap_or(path).trim()
}

/// Whether a server's symbol is what a path of names means.
fn is_called(found: &LangSymbol, path: &str) -> bool {
    let mut wanted = path.split(SEPARATORS).filter(|part| !part.is_empty()).rev();
    // Some servers put the names of what it is in before the name, or the parameters behind it.
    let mut names = plain_name(found).rsplit(SEPARATORS);
    let is_name = wanted.next().is_some_and(|wanted| names.next() == Some(wanted));
    let container = found.container.as_deref().unwrap_or_default();
    let around = |wanted| names.chain(container.split([' ', '/', '.', ':'])).any(|part| part == wanted);
    is_name && wanted.next().is_none_or(around)
}

fn plain_name(found: &LangSymbol) -> &str {
    found.name.split('(').next().unwrap_or(&found.name)
}

/// Where a server's symbol has its name. What servers give for it is often all of its definition, which may begin with an
/// attribute or a keyword, or only its file. Blocks.
fn at(services: &Services, symbol: &LangSymbol) -> Option<At> {
    let path = paths::from_uri(&symbol.location.uri).ok()?;
    // What lies elsewhere, such as a library, is not what is edited here.
    let path = services.roots.check(&path).ok().filter(|path| services.search.shows(path))?;
    let file = services.reader.read(&path).ok()?;
    let (name, all) = (last_name(plain_name(symbol)), symbol.location.range);
    let from_name = Range { start: symbol.selection.start, end: all.end.max(symbol.selection.end) };
    let position = name_within(&file.text, from_name, name).or_else(|| {
        let parsed = Language::of(&path).and_then(|language| Parsed::new(language, file.text.clone()).ok());
        Place::Symbol(name).find(&file.text, parsed.as_ref()).ok()
    });
    Some(At::new(path, file.hash, position?))
}

fn in_files(services: &Services, call: &Call, symbol: &str) -> Result<Vec<At>, ToolError> {
    let name = last_name(symbol);
    let files = services.search.files(&Scope::default(), &call.cancel)?;
    let mut found = Vec::new();
    let mut parsed_files = 0;
    for path in files.paths {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let Some(language) = Language::of(&path) else { continue };
        let Ok(file) = services.reader.read(&path) else { continue };
        if !file.text.contains(name) {
            continue;
        }
        parsed_files += 1;
        if parsed_files > MOST_FILES {
            break;
        }
        let Ok(parsed) = Parsed::new(language, file.text.clone()) else { continue };
        let outline = Outline::new(&parsed);
        let one_of = |number: usize| format!("{symbol}[{number}]");
        let names = match outline.find(symbol) {
            Lookup::None(_) => continue,
            Lookup::One(_) => vec![symbol.to_owned()],
            Lookup::Several(several) => (1..=several.len()).map(one_of).collect(),
        };
        for name in names {
            if let Ok(position) = Place::Symbol(&name).find(&file.text, Some(&parsed)) {
                found.push(At::new(path.clone(), file.hash.clone(), position));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use async_trait::async_trait;
    use protocol::lang::{LangLocation, LangResult};
    use serde_json::json;
    use workspace::lang::{Lang, Source};

    use super::*;
    use crate::fixture::{World, call};

    /// Knows symbols by all of their definitions, as some servers do, and notes which places it is asked about.
    struct Knows(Vec<LangSymbol>, Arc<Mutex<Vec<Position>>>);

    #[async_trait]
    impl Source for Knows {
        async fn ask(&self, query: &LangQuery, _: Duration) -> LangResult {
            let answer = match query {
                LangQuery::WorkspaceSymbols { .. } => LangAnswer::Symbols { symbols: self.0.clone() },
                LangQuery::Definition { position, .. } => {
                    self.1.lock().unwrap().push(*position);
                    LangAnswer::Locations { locations: Vec::new() }
                }
                _ => LangAnswer::Nothing,
            };
            LangResult { answer, ..LangResult::without_answer(LangStatus::Ready, None) }
        }
    }

    /// Where the definition of a symbol is asked for, by a server that gives for each symbol its file, name and lines.
    async fn asked(symbol: &str, known: &[(&str, &str, u32, u32)]) -> Result<(u32, u32), String> {
        let world = World::new(&[
            ("a.rs", "#[inline]\npub(crate) fn area() {}\n\nfn more() {\n    area();\n}\n"),
            ("b.rs", "// area\n\nmod b {\n    fn area() {}\n}\n"),
        ]);
        let known = known.iter().map(|(file, name, first, last)| {
            let at = |line| Position { line, character: 0 };
            let location = LangLocation {
                uri: paths::to_uri(&world.path(file)),
                range: Range { start: at(*first), end: at(*last) },
            };
            LangSymbol {
                name: (*name).to_owned(),
                kind: 12,
                detail: None,
                container: None,
                depth: 0,
                location,
                selection: Range { start: at(*first), end: at(*first) },
            }
        });
        let places = Arc::<Mutex<Vec<Position>>>::default();
        let source = Knows(known.collect(), places.clone());
        let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
        let input = json!({ "symbol": symbol });
        call(&services, "lsp_definition", input).await.map_err(|error| error.to_string())?;
        let places = places.lock().unwrap();
        Ok((places[0].line, places[0].character))
    }

    #[tokio::test]
    async fn a_symbol_of_the_workspace_is_asked_about_at_its_name() {
        assert_eq!(asked("area", &[("a.rs", "area", 0, 2)]).await, Ok((1, 14)), "all of it is given");
        assert_eq!(asked("area", &[("b.rs", "area", 3, 3)]).await, Ok((3, 7)), "its line is given");
        assert_eq!(asked("area", &[("a.rs", "area", 0, 0)]).await, Ok((1, 14)), "its file is given");
        assert_eq!(
            asked("b/area", &[("b.rs", "b.area(u8)", 3, 4)]).await,
            Ok((3, 7)),
            "its name is given with its path"
        );
    }

    #[tokio::test]
    async fn of_several_symbols_one_can_be_named_by_its_number() {
        let both = [("b.rs", "area", 3, 4), ("a.rs", "area", 0, 2), ("a.rs", "area", 1, 2)];
        let several = asked("area", &both).await.unwrap_err();
        let wanted = "`area` may be several symbols: `area[1]` at a.rs:2, `area[2]` at b.rs:4. Name one so, or give the `path` too";
        assert_eq!(several, wanted);
        assert_eq!(asked("area[2]", &both).await, Ok((3, 7)));
        assert_eq!(asked("area[2]", &[]).await, Ok((3, 7)), "without a server's word too");
        assert!(asked("area[3]", &both).await.unwrap_err().contains("may be several symbols"));
    }
}
