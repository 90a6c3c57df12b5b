//! The place that a call names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use code::syntax::{Language, Outline, Parsed, numbered};
use lang::{Place, PlaceError, name_within, names_of, word_at};
use ports::edit::TextHash;
use ports::tool::{Call, ToolError};
use project::paths;
use project::search::Scope;
use project::text::{LineIndex, PositionEncoding};
use protocol::lang::{LangAnswer, LangQuery, LangResult, LangStatus, LangSymbol};
use protocol::{Position, Range};

use super::answer::Said;
use super::edit::Asked;
use crate::{Services, blocking, counted, read_file};

/// How many symbols of the same name are looked at.
const MOST_FOUND: usize = 100;
/// How many files with the name in them are parsed, where no server knows the symbol.
const MOST_FILES: usize = 500;
/// The endings of programs in languages of which no symbols are known without a server.
const UNKNOWN: &[&str] = &[
    "kt", "kts", "scala", "swift", "dart", "ex", "exs", "erl", "hs", "ml", "mli", "zig", "vue", "svelte", "astro",
    "clj", "fs", "groovy", "nim", "jl", "pl", "pm", "r", "nix",
];
/// The files that mark a project, which has a server of its own.
const MARKERS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "tsconfig.json",
    "go.mod",
    "pyproject.toml",
    "setup.py",
    "compile_commands.json",
    "pom.xml",
    "build.gradle",
    "composer.json",
    "Gemfile",
];
/// The characters that stand between the names of a path.
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

/// The purpose of asking for a location. Who would change something must not take one name for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    Read,
    Change,
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
            /// The symbol by its name, with the names of its containers if others have the same name: `Type/method`.
            /// Without `path` it is looked for in the whole workspace; with `path` in that file, where `Name[2]` is the
            /// second one with this name.
            symbol: Option<String>,
            /// The file, relative to the workspace or absolute. Needed with `line`.
            path: Option<String>,
            /// The line with the symbol, from 1, instead of `symbol`.
            line: Option<usize>,
            /// The text on that line, such as a name; if it has several names, the last one is meant, or the one before
            /// a bracket.
            text: Option<String>,
            /// The number of the text among several on the line, from 1; 1 by default.
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
    /// The name that stands there; empty if none does.
    pub(super) name: String,
    /// Why others may be meant as well, which were not found.
    doubt: Option<String>,
}

impl Target<'_> {
    /// Checks that it can be meant, and returns the file that it names.
    pub(super) fn check(&self, services: &Services) -> Result<Option<PathBuf>, ToolError> {
        let invalid = |words: &str| Err(ToolError::InvalidInput(words.to_owned()));
        let is_on_line = self.line.is_some() || self.text.is_some() || self.occurrence.is_some();
        match (self.path, self.symbol, self.line, self.text) {
            (_, Some(_), ..) if is_on_line => {
                return invalid("give either `symbol`, or `line` with `text` and `occurrence`, not both");
            }
            (_, Some(symbol), ..) if symbol.trim().is_empty() => return invalid("`symbol` is empty"),
            (None, Some(symbol), ..) if numbered(symbol.trim()).1.is_some() => {
                return invalid("a number such as `[2]` counts within one file; give its `path` too");
            }
            (_, Some(_), ..) | (Some(_), None, Some(_), Some(_)) => {}
            (Some(_), None, Some(_), None) => {
                return invalid("`text` is missing: a text on that line, such as the name that is asked about");
            }
            (None, None, ..) | (Some(_), None, None, _) => {
                return invalid("name a place: `symbol`, or `path` with `line` and `text`");
            }
        }
        Ok(self.path.map(|path| services.roots.resolve(path)).transpose()?)
    }

    /// Returns a readable description of it.
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
    pub(super) async fn find(&self, services: &Services, call: &Call, aim: Aim) -> Result<At, ToolError> {
        let path = self.check(services)?;
        match (path, self.symbol) {
            (Some(path), symbol) => {
                let symbol = symbol.map(str::to_owned);
                let text = self.text.map(str::to_owned);
                let (line, occurrence) = (self.line.unwrap_or_default(), self.occurrence.unwrap_or(1));
                let is_exact = aim == Aim::Change;
                let (services, call) = (services.clone(), call.clone());
                blocking(move || {
                    let place = match (&symbol, &text) {
                        (Some(symbol), _) => Place::Symbol(symbol),
                        (None, text) => {
                            let text = text.as_deref().unwrap_or_default();
                            let language = Language::possible(&path).first().copied();
                            Place::Text { line, text, occurrence, is_exact, language }
                        }
                    };
                    in_file(&services, &call, path, place)
                })
                .await
            }
            (None, symbol) => anywhere(services, call, symbol.unwrap_or_default().trim(), aim).await,
        }
    }
}

fn in_file(services: &Services, call: &Call, path: PathBuf, place: Place<'_>) -> Result<At, ToolError> {
    let file = services.reader.read(&path).map_err(|error| read_file::in_words(services, &path, error, call))?;
    let name = services.roots.display(&path);
    let parsed = match (place, Language::of_text(&path, &file.text)) {
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
    Ok(At::new(path, file.hash, &file.text, position))
}

impl At {
    /// The name of the languages that one server is for, of which the file's is one.
    fn family(&self) -> Option<&'static str> {
        Language::possible(&self.text.path).first().map(|language| match language {
            Language::TypeScript | Language::Tsx | Language::JavaScript => "typescript",
            Language::C | Language::Cpp => "c",
            other => other.name(),
        })
    }

    fn new(path: PathBuf, hash: TextHash, text: &str, position: Position) -> Self {
        let name = word_at(text, position).unwrap_or_default().to_owned();
        Self { uri: paths::to_uri(&path), text: Asked { path, hash }, position, name, doubt: None }
    }

    /// Where it is, as `path:line`.
    pub(super) fn place(&self, services: &Services) -> String {
        format!("{}:{}", services.roots.display(&self.text.path), self.position.line + 1)
    }

    /// That others may have been meant, as a line of its own; nothing where that is known not to be so.
    pub(super) fn remark(&self, services: &Services) -> String {
        let Some(doubt) = &self.doubt else { return String::new() };
        let (name, place) = (&self.name, self.place(services));
        format!("\n[this is about `{name}` at {place}; others may be called so, since {doubt}]")
    }
}

/// Names for places, by the `symbol` and `path` by which to name them.
struct Candidates<'s> {
    services: &'s Services,
    /// The last file, since several of them may be in it.
    last: Option<(PathBuf, Parsed, Outline)>,
}

impl<'s> Candidates<'s> {
    fn new(services: &'s Services) -> Self {
        Self { services, last: None }
    }

    /// Blocks.
    fn name(&mut self, at: &At) -> String {
        let symbol = self.symbol(at).unwrap_or_else(|| at.name.clone());
        format!("`{symbol}` in {}", at.place(self.services))
    }

    fn symbol(&mut self, at: &At) -> Option<String> {
        let path = &at.text.path;
        if self.last.as_ref().is_none_or(|(last, ..)| last != path) {
            let text = self.services.reader.read(path).ok()?.text;
            let parsed = Parsed::new(Language::of_text(path, &text)?, text).ok()?;
            let outline = Outline::new(&parsed);
            self.last = Some((path.clone(), parsed, outline));
        }
        let (_, parsed, outline) = self.last.as_ref()?;
        let offset = LineIndex::new(&parsed.text).offset(&parsed.text, at.position, PositionEncoding::Utf16)?;
        let symbol = outline.symbols.iter().rfind(|symbol| symbol.selection.contains(&offset))?;
        Some(outline.distinct_name(symbol))
    }
}

/// The symbols in the workspace with the wanted name.
struct Found {
    all: Vec<At>,
    /// Why there may be more; none if these are all.
    doubt: Option<String>,
    /// True if that is only that the servers did not tell all, which the files may.
    is_for_files: bool,
    /// The endings of the files of which servers told.
    told: Vec<OsString>,
}

/// A symbol anywhere in the workspace: by the language servers, or else by the files that its name stands in.
async fn anywhere(services: &Services, call: &Call, symbol: &str, aim: Aim) -> Result<At, ToolError> {
    let query = LangQuery::WorkspaceSymbols { query: last_name(symbol).to_owned(), uri: None };
    let result = super::ask(services, &query, call).await?;
    let (services, call, symbol) = (services.clone(), call.clone(), symbol.to_owned());
    blocking(move || {
        let mut found = by_servers(&services, &call, &symbol, result)?;
        if found.all.is_empty() {
            in_files(&services, &call, &symbol, &mut found)?;
        } else if aim == Aim::Change {
            found.compare(&services, &call, &symbol)?;
        }
        found.one(&services, &symbol, aim)
    })
    .await
}

impl Found {
    /// The one that is meant.
    fn one(mut self, services: &Services, symbol: &str, aim: Aim) -> Result<At, ToolError> {
        let place = |at: &At| (at.text.path.clone(), at.position);
        self.all.sort_by_key(place);
        // Several servers may know it.
        self.all.dedup_by_key(|at| place(at));
        let failed = |words: String| Err(ToolError::Failed(words));
        match (self.all.as_slice(), self.doubt) {
            ([], doubt) => {
                let doubt = doubt.map(|doubt| format!(", as far as is known: {doubt}")).unwrap_or_default();
                failed(format!(
                    "no symbol of the workspace is called `{symbol}`{doubt}. Look for it with search_text, and name the \
                     place by `path`, `line` and `text`"
                ))
            }
            ([one], Some(doubt)) if aim == Aim::Change => failed(format!(
                "`{symbol}` may be several symbols, of which only {} was found, since {doubt}. Nothing was changed. If \
                 that one is meant, give its `path` too",
                Candidates::new(services).name(one)
            )),
            ([one], doubt) => Ok(At { doubt, ..one.clone() }),
            (several, doubt) => {
                let mut candidates = Candidates::new(services);
                let error = PlaceError::several(symbol, several.iter().map(|at| candidates.name(at)));
                let more = doubt.map(|doubt| format!(" (and there may be more, since {doubt})")).unwrap_or_default();
                failed(format!("{error}{more}, with its `path` too"))
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let is_full = self.all.len() >= MOST_FOUND;
        if is_full {
            self.doubt = Some(format!("only the first {MOST_FOUND} were looked at"));
            self.is_for_files = false;
        }
        is_full
    }

    /// Takes in what no server knows, since its language or its project has none; and where the servers did not tell
    /// all, whether the files know of no more. In a project and language of which a server told, the files only say
    /// that: to them a declaration is a symbol of its own, beside the definition. Blocks.
    fn compare(&mut self, services: &Services, call: &Call, symbol: &str) -> Result<(), ToolError> {
        let endings = self.all.iter().filter_map(|at| at.text.path.extension().map(ToOwned::to_owned));
        let mut in_all = Self { all: Vec::new(), doubt: None, is_for_files: true, told: endings.collect() };
        in_files(services, call, symbol, &mut in_all)?;
        let of = |at: &At| at.family().map(|family| (family, project_of(services, &at.text.path)));
        let told: Vec<_> = self.all.iter().filter_map(of).collect();
        let is_known =
            |at: &At| self.all.iter().any(|one| (&one.text.path, one.position) == (&at.text.path, at.position));
        let (of_told, of_others): (Vec<At>, Vec<At>) =
            in_all.all.into_iter().partition(|at| of(at).is_some_and(|of| told.contains(&of)));
        let are_all_known = of_told.iter().all(is_known);
        if self.doubt.is_none() || (self.is_for_files && are_all_known) {
            self.doubt = in_all.doubt;
        }
        self.all.extend(of_others);
        Ok(())
    }
}

/// The folder of the project in the workspace that a file is of, by what marks one; none if nothing does. Blocks.
fn project_of(services: &Services, path: &Path) -> Option<PathBuf> {
    let is_inside = |folder: &&Path| services.roots.iter().any(|root| folder.starts_with(&root.path));
    let mut folders = path.ancestors().skip(1).take_while(is_inside);
    folders.find(|folder| MARKERS.iter().any(|marker| folder.join(marker).exists())).map(Path::to_owned)
}

fn by_servers(services: &Services, call: &Call, symbol: &str, result: LangResult) -> Result<Found, ToolError> {
    let said = Said::new(&result);
    // Where no server is there the files tell all that there is to know.
    let is_sure = matches!(result.status, LangStatus::Ready | LangStatus::NoServer | LangStatus::Unsupported);
    let doubt = (!is_sure).then(|| format!("the language servers did not tell all symbols ({})", said.plain()));
    let mut found = Found { all: Vec::new(), is_for_files: doubt.is_some(), doubt, told: Vec::new() };
    let symbols = match result.answer {
        LangAnswer::Symbols { symbols } if said.is_answered() => symbols,
        _ => Vec::new(),
    };
    for one in symbols.iter().filter(|one| is_called(one, symbol)) {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if found.is_full() {
            break;
        }
        // A symbol that lies elsewhere, such as in a library, is not what is edited here.
        let path = paths::from_uri(&one.location.uri).ok().and_then(|path| services.roots.check(&path).ok());
        let Some(path) = path.filter(|path| services.search.shows(path)) else { continue };
        match at(services, path, one) {
            Some(at) => found.all.push(at),
            None => {
                found.doubt = Some("one is not where a language server has it".to_owned());
                found.is_for_files = false;
            }
        }
    }
    Ok(found)
}

/// The last of a path of names.
fn last_name(path: &str) -> &str {
    path.rsplit(SEPARATORS).next().unwrap_or(path).trim()
}

/// True if a server's symbol is what a path of names means.
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

/// Where a server's symbol has its name. What servers give for it is often all of its definition, which may begin with
/// an attribute or a keyword, or only its file. Blocks.
fn at(services: &Services, path: PathBuf, symbol: &LangSymbol) -> Option<At> {
    let file = services.reader.read(&path).ok()?;
    let (name, all) = (last_name(plain_name(symbol)), symbol.location.range);
    let from_name = Range { start: symbol.selection.start, end: all.end.max(symbol.selection.end) };
    let position = name_within(&file.text, from_name, name).or_else(|| {
        let language = Language::of_text(&path, &file.text);
        let parsed = language.and_then(|language| Parsed::new(language, file.text.clone()).ok());
        Place::Symbol(name).find(&file.text, parsed.as_ref()).ok()
    });
    Some(At::new(path, file.hash, &file.text, position?))
}

/// Adds the symbols of all source files that are called so, which leaves no doubt where each could be looked at.
/// Blocks.
fn in_files(services: &Services, call: &Call, symbol: &str, found: &mut Found) -> Result<(), ToolError> {
    let name = last_name(symbol);
    let files = services.search.files(&Scope::default(), &call.cancel)?;
    let (mut unknown, mut parsed_files) = (files.unreadable, 0);
    for path in files.paths {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if found.is_full() {
            return Ok(());
        }
        if !Language::possible(&path).into_iter().any(Language::is_program) {
            let is_unknown = path.extension().is_some_and(|ending| {
                UNKNOWN.iter().any(|one| ending == *one) && !found.told.iter().any(|told| told == ending)
            });
            let has_name = || services.reader.read(&path).is_ok_and(|file| file.text.contains(name));
            unknown += usize::from(is_unknown && has_name());
            continue;
        }
        let Ok(file) = services.reader.read(&path) else {
            unknown += 1;
            continue;
        };
        let Some(language) = Language::of_text(&path, &file.text).filter(|_| file.text.contains(name)) else {
            continue;
        };
        parsed_files += 1;
        if parsed_files > MOST_FILES {
            let doubt = format!("only the first {MOST_FILES} files that the name stands in were looked at");
            found.doubt = Some(doubt);
            return Ok(());
        }
        let Ok(parsed) = Parsed::new(language, file.text.clone()) else {
            unknown += 1;
            continue;
        };
        let (places, is_cut) = names_of(&parsed, &Outline::new(&parsed), symbol, MOST_FOUND - found.all.len());
        let at = |position| At::new(path.clone(), file.hash.clone(), &file.text, position);
        found.all.extend(places.into_iter().map(at));
        if is_cut && found.is_full() {
            return Ok(());
        }
        unknown += usize::from(is_cut);
    }
    if unknown > 0 {
        let doubt = format!("{} could not be looked at, or not whole", counted(unknown, "file"));
        found.doubt.get_or_insert(doubt);
    } else if found.is_for_files {
        found.doubt = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use async_trait::async_trait;
    use lang::{Lang, Source};
    use protocol::lang::{LangLocation, LangResult};
    use serde_json::json;

    use super::*;
    use crate::fixture::{World, call};

    /// Knows symbols by all of their definitions, as some servers do, and notes which places it is asked about.
    struct Knows(LangStatus, Vec<LangSymbol>, Arc<Mutex<Vec<Position>>>);

    #[async_trait]
    impl Source for Knows {
        async fn ask(&self, query: &LangQuery, _: Duration) -> LangResult {
            let (status, answer) = match query {
                LangQuery::WorkspaceSymbols { .. } => (self.0, LangAnswer::Symbols { symbols: self.1.clone() }),
                LangQuery::Definition { position, .. } | LangQuery::Rename { position, .. } => {
                    self.2.lock().unwrap().push(*position);
                    (LangStatus::Ready, LangAnswer::Locations { locations: Vec::new() })
                }
                _ => (LangStatus::Ready, LangAnswer::Nothing),
            };
            LangResult { answer, ..LangResult::without_answer(status, None) }
        }
    }

    /// Where the definition of a symbol is asked for, by a server that gives for each symbol its file, name and lines.
    async fn asked(symbol: &str, known: &[(&str, &str, u32, u32)]) -> Result<(u32, u32), String> {
        Ok(told(symbol, known, LangStatus::Ready).await?.0)
    }

    /// The same with the server's status, and what the model is told.
    async fn told(
        symbol: &str,
        known: &[(&str, &str, u32, u32)],
        status: LangStatus,
    ) -> Result<((u32, u32), String), String> {
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
        let source = Knows(status, known.collect(), places.clone());
        let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
        let input = json!({ "symbol": symbol });
        let output = call(&services, "lsp_definition", input).await.map_err(|error| error.to_string())?;
        let places = places.lock().unwrap();
        Ok(((places[0].line, places[0].character), output.text))
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
    async fn several_symbols_are_told_by_names_that_last() {
        let both = [("b.rs", "area", 3, 4), ("a.rs", "area", 0, 2), ("a.rs", "area", 1, 2)];
        let wanted =
            "`area` may be several symbols: `/area` in a.rs:2, `/b/area` in b.rs:4; name one so, with its `path` too";
        assert_eq!(asked("area", &both).await.unwrap_err(), wanted);
        assert_eq!(asked("area", &[]).await.unwrap_err(), wanted, "without a server's word too");
        let numbered = asked("area[2]", &both).await.unwrap_err();
        assert!(numbered.contains("counts within one file; give its `path` too"), "{numbered}");
    }

    #[tokio::test]
    async fn where_not_all_symbols_are_told_that_is_said() {
        for status in [LangStatus::Partial, LangStatus::Indexing] {
            let (place, text) = told("area", &[("b.rs", "area", 3, 3)], status).await.unwrap();
            assert_eq!(place, (3, 7));
            assert!(
                text.contains("[this is about `area` at b.rs:4; others may be called so, since the language"),
                "{text}"
            );
        }
        let (_, text) = told("area", &[("b.rs", "area", 3, 3)], LangStatus::Ready).await.unwrap();
        assert!(!text.contains("this is about"), "{text}");
    }

    /// Returns the outcome of a rename of `area`, which a server that has this status knows in one file.
    async fn renamed(files: &[(&str, &str)], is_known: bool, status: LangStatus) -> (String, Vec<Position>) {
        let world = World::new(files);
        let range = Range { start: Position { line: 0, character: 3 }, end: Position { line: 0, character: 7 } };
        let location = LangLocation { uri: paths::to_uri(&world.path("a.rs")), range };
        let symbol = LangSymbol {
            name: "area".to_owned(),
            kind: 12,
            detail: None,
            container: None,
            depth: 0,
            location,
            selection: range,
        };
        let places = Arc::<Mutex<Vec<Position>>>::default();
        let source = Knows(status, Vec::from_iter(is_known.then_some(symbol)), places.clone());
        let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
        let output = call(&services, "lsp_rename", json!({ "symbol": "area", "new_name": "size" })).await;
        let told = output.map_or_else(|error| error.to_string(), |output| output.text);
        (told, places.lock().unwrap().clone())
    }

    #[tokio::test]
    async fn nothing_is_renamed_that_may_not_be_the_only_one_called_so() {
        let files = [("a.rs", "fn area() {}\n"), ("b.rs", "fn more() {}\n")];
        let asked = vec![Position { line: 0, character: 3 }];
        assert_eq!(renamed(&files, true, LangStatus::Ready).await.1, asked);
        assert_eq!(renamed(&files, false, LangStatus::Ready).await.1, asked, "the files tell it");
        for is_known in [true, false] {
            let (_, at) = renamed(&files, is_known, LangStatus::Partial).await;
            assert_eq!(at, asked, "the files tell what the server does not");
            // The server may know nothing of another language.
            let (told, asked) = renamed(&[files[0], ("b.py", "def area(): ...\n")], is_known, LangStatus::Ready).await;
            let several = "`area` may be several symbols: `/area` in a.rs:1, `/area` in b.py:1; name one so";
            assert!(told.starts_with(several), "{told}");
            assert_eq!(asked, []);
            let (told, asked) = renamed(&[files[0], ("b.kt", "fun area() {}\n")], is_known, LangStatus::Ready).await;
            assert!(told.contains("since 1 file could not be looked at, or not whole."), "{told}");
            assert_eq!(asked, []);

            let unparsed = format!("fn area() {{}}\n{}", "(".repeat(600));
            let (told, asked) = renamed(&[files[0], ("b.rs", &unparsed)], is_known, LangStatus::Ready).await;
            assert!(
                told.starts_with("`area` may be several symbols, of which only `/area` in a.rs:1 was found, since"),
                "{told}"
            );
            assert!(told.contains("since 1 file could not be looked at, or not whole."), "{told}");
            assert!(told.ends_with("Nothing was changed. If that one is meant, give its `path` too"), "{told}");
            assert_eq!(asked, []);
        }
    }

    #[tokio::test]
    async fn what_a_server_knows_as_one_is_one_though_it_is_declared_elsewhere() {
        let files = [("a.rs", "fn area() {}\n"), ("b.rs", "trait Shape {\n    fn area();\n}\n")];
        assert_eq!(renamed(&files, true, LangStatus::Ready).await.1, [Position { line: 0, character: 3 }]);
        let (told, asked) = renamed(&files, true, LangStatus::Partial).await;
        assert!(told.contains("since the language servers did not tell all symbols"), "{told}");
        assert_eq!(asked, []);
        // The server may not run for another project.
        let projects = [files[0], ("b/Cargo.toml", ""), ("b/b.rs", "fn area() {}\n")];
        let (told, asked) = renamed(&projects, true, LangStatus::Ready).await;
        assert!(told.starts_with("`area` may be several symbols: `/area` in a.rs:1, `/area` in b/b.rs:1;"), "{told}");
        assert_eq!(asked, []);
    }

    #[tokio::test]
    async fn a_name_that_very_many_have_is_told_soon() {
        let code: String = (0..8_000).map(|at| format!("class C{at} {{ version() {{}} }}\n")).collect();
        let lock = format!("{{{}}}", vec!["\"a\": {\"version\": 1}"; 8_000].join(","));
        let world = World::new(&[("a.js", &code), ("package-lock.json", &lock)]);
        let asked = world.text("lsp_references", json!({ "symbol": "version" }));
        let told = tokio::time::timeout(Duration::from_secs(60), asked).await.expect("an answer soon");
        let wanted = "error: `version` may be several symbols: `/C0/version` in a.js:1, `/C1/version` in a.js:2, ";
        assert!(told.starts_with(wanted), "{told}");
        assert!(told.contains(" and 90 more; name one so (and there may be more, since only the first 100 "), "{told}");
    }

    #[tokio::test]
    async fn the_symbols_of_a_cpp_header_are_known() {
        let header = "namespace shapes {\nclass Box {\n  int area();\n};\n}\n";
        let world = World::new(&[("shapes.h", header)]);
        for input in [json!({ "symbol": "Box/area", "path": "shapes.h" }), json!({ "symbol": "Box/area" })] {
            let places = Arc::<Mutex<Vec<Position>>>::default();
            let source = Knows(LangStatus::Ready, Vec::new(), places.clone());
            let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
            call(&services, "lsp_definition", input).await.unwrap();
            assert_eq!(*places.lock().unwrap(), [Position { line: 2, character: 6 }]);
        }
    }

    #[tokio::test]
    async fn a_place_named_in_two_ways_is_refused() {
        let world = World::new(&[("a.rs", "fn area() {}\n")]);
        for (field, value) in [("line", json!(1)), ("text", json!("area")), ("occurrence", json!(2))] {
            let mut input = json!({ "path": "a.rs", "symbol": "area" });
            input[field] = value;
            let told = world.text("lsp_definition", input).await;
            assert!(told.contains("give either `symbol`, or `line` with `text` and `occurrence`"), "{field}: {told}");
        }
    }
}
