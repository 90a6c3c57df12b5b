//! The place that a call names.

use std::path::{Path, PathBuf};

use agent::tool::{Call, ToolError};
use protocol::Position;
use protocol::lang::{LangAnswer, LangQuery, LangStatus, LangSymbol};
use workspace::lang::Place;
use workspace::paths;
use workspace::search::Scope;
use workspace::syntax::{Language, Lookup, Outline, Parsed};

use crate::{Services, blocking, read_file};

/// How many symbols of the same name are listed.
const MOST: usize = 10;
/// How many files with the name in them are parsed, where no server knows the symbol.
const MOST_FILES: usize = 500;

/// The fields of a call that name a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) path: Option<&'a str>,
    pub(super) symbol: Option<&'a str>,
    pub(super) line: Option<usize>,
    pub(super) text: Option<&'a str>,
    pub(super) occurrence: Option<usize>,
}

/// A place in a document.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) path: PathBuf,
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
    Ok(At { uri: paths::to_uri(&path), path, position })
}

/// A symbol anywhere in the workspace: by the language servers, or else by the files that its name stands in.
async fn anywhere(services: &Services, call: &Call, symbol: &str) -> Result<At, ToolError> {
    let name = symbol.rsplit(['/', '.', ':']).next().unwrap_or(symbol).trim();
    let query = LangQuery::WorkspaceSymbols { query: name.to_owned(), uri: None };
    let result = super::ask(services, &query, call).await?;
    let mut found = Vec::new();
    if let (LangStatus::Ready | LangStatus::Partial | LangStatus::Indexing, LangAnswer::Symbols { symbols }) =
        (result.status, result.answer)
    {
        found =
            symbols.iter().filter(|found| is_called(found, symbol)).filter_map(|found| at(services, found)).collect();
    }
    if found.is_empty() {
        let (services, call, symbol) = (services.clone(), call.clone(), symbol.to_owned());
        found = blocking(move || in_files(&services, &call, &symbol)).await?;
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(ToolError::Failed(format!(
            "no symbol of the workspace is called `{symbol}`. Look for it with search_text, and name the place by `path`, \
             `line` and `text`"
        ))),
        several => {
            let shown = |at: &At| format!("{}:{}", services.roots.display(&at.path), at.position.line + 1);
            let places: Vec<_> = several.iter().take(MOST).map(shown).collect();
            let more = several.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(ToolError::Failed(format!(
                "`{symbol}` may be several symbols: {}{more}. Give the `path` too",
                places.join(", ")
            )))
        }
    }
}

/// Whether a server's symbol is what a path of names means.
fn is_called(found: &LangSymbol, path: &str) -> bool {
    let mut wanted = path.split(['/', '.', ':']).filter(|part| !part.is_empty()).rev();
    // Some servers put the parameters behind the name.
    let name = found.name.split('(').next().unwrap_or(&found.name);
    let is_name = wanted.next().is_some_and(|wanted| wanted == name);
    let container = found.container.as_deref().unwrap_or_default();
    is_name && wanted.next().is_none_or(|wanted| container.split(['/', '.', ':', ' ']).any(|part| part == wanted))
}

fn at(services: &Services, symbol: &LangSymbol) -> Option<At> {
    let path = paths::from_uri(&symbol.location.uri).ok()?;
    // What lies elsewhere, such as a library, is not what is edited here.
    let path = services.roots.check(&path).ok().filter(|path| services.search.shows(path))?;
    Some(At { path, uri: symbol.location.uri.clone(), position: symbol.selection.start })
}

fn in_files(services: &Services, call: &Call, symbol: &str) -> Result<Vec<At>, ToolError> {
    let name = symbol.rsplit(['/', '.', ':']).next().unwrap_or(symbol);
    let files = services.search.files(&Scope::default(), &call.cancel)?;
    let mut found = Vec::new();
    let mut parsed_files = 0;
    for path in files.paths {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let Some(language) = Language::of(&path) else { continue };
        let Some(text) = text_with(services, &path, name) else { continue };
        parsed_files += 1;
        if parsed_files > MOST_FILES {
            break;
        }
        let Ok(parsed) = Parsed::new(language, text.clone()) else { continue };
        let outline = Outline::new(&parsed);
        let numbered = |number: usize| format!("{symbol}[{number}]");
        let names = match outline.find(symbol) {
            Lookup::None(_) => continue,
            Lookup::One(_) => vec![symbol.to_owned()],
            Lookup::Several(several) => (1..=several.len()).map(numbered).collect(),
        };
        for name in names {
            if let Ok(position) = Place::Symbol(&name).find(&text, Some(&parsed)) {
                found.push(At { path: path.clone(), uri: paths::to_uri(&path), position });
            }
        }
    }
    Ok(found)
}

fn text_with(services: &Services, path: &Path, name: &str) -> Option<std::sync::Arc<str>> {
    services.reader.read(path).ok().map(|file| file.text).filter(|text| text.contains(name))
}
