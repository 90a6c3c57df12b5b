//! `lsp_symbols`.

use std::fmt::Write;

use async_trait::async_trait;
use code::syntax::document_symbols;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use project::paths;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangLocation, LangQuery, LangSymbol};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Places, Said};
use crate::structure::cut;
use crate::typed::Typed;
use crate::{Services, blocking, counted, location};

/// How many symbols of the workspace are given, and of a file.
const MOST: usize = 200;

/// Lists the symbols of a file, or finds symbols of the whole workspace by a part of their name, as the language server
/// knows them. Gives the kind, the name and the line of each.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file whose symbols are listed, relative to the workspace or absolute.
    path: Option<String>,
    /// The name, or a part of it, to look for in the whole workspace. Instead of `path`.
    query: Option<String>,
}

pub(super) struct LspSymbols {
    services: Services,
}

impl LspSymbols {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn query(&self, input: &Input) -> Result<LangQuery, ToolError> {
        match (&input.path, &input.query) {
            (Some(path), None) => {
                let path = self.services.roots.resolve(path)?;
                Ok(LangQuery::DocumentSymbols { uri: paths::to_uri(&path) })
            }
            (None, Some(query)) if !query.trim().is_empty() => {
                Ok(LangQuery::WorkspaceSymbols { query: query.trim().to_owned(), uri: None })
            }
            _ => Err(ToolError::InvalidInput("give either `path`, or `query` with a part of a name".to_owned())),
        }
    }
}

#[async_trait]
impl Typed for LspSymbols {
    type Input = Input;
    const NAME: &'static str = "lsp_symbols";
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        self.query(input)?;
        let path = input.path.as_ref().map(|path| self.services.roots.resolve(path)).transpose()?;
        let title = match (&path, &input.query) {
            (Some(path), _) => format!("Listing symbols of {}", self.services.roots.display(path)),
            (None, query) => format!("Finding symbols called {}", query.as_deref().unwrap_or_default()),
        };
        let locations = path.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let result = super::ask(&self.services, &self.query(&input)?, &call).await?;
        let said = Said::new(&result);
        let services = self.services.clone();
        blocking(move || {
            let mut places = Places::new(&services);
            match result.answer {
                LangAnswer::Symbols { mut symbols } if said.is_answered() && !symbols.is_empty() => {
                    if input.path.is_none() {
                        symbols.retain(|symbol| may_be_shown(&services, symbol));
                    }
                    let text = list(&symbols, input.path.is_some(), &mut places);
                    Ok(said.output(text, counted(symbols.len(), "symbol"), &places))
                }
                _ => match input.path {
                    Some(path) => Ok(by_grammar(&services, &path, &said)?.unwrap_or_else(|| nothing(&said, &places))),
                    None => Ok(nothing(&said, &places)),
                },
            }
        })
        .await
    }
}

fn nothing(said: &Said, places: &Places<'_>) -> Output {
    if said.is_answered() {
        said.output("The servers that run know of no such symbols.".to_owned(), "no symbols".to_owned(), places)
    } else {
        said.without_answer()
    }
}

/// True if the user's rules let the model know of a symbol. What lies outside of the workspace is no secret of theirs.
fn may_be_shown(services: &Services, symbol: &LangSymbol) -> bool {
    let path = paths::from_uri(&symbol.location.uri).ok().and_then(|path| services.roots.check(&path).ok());
    path.is_none_or(|path| services.search.shows(&path))
}

fn list(symbols: &[LangSymbol], is_file: bool, places: &mut Places<'_>) -> String {
    let mut text = String::new();
    for symbol in symbols.iter().take(MOST) {
        let detail = symbol.detail.as_deref().filter(|detail| !detail.is_empty() && !detail.contains('\n'));
        let detail = detail.map(|detail| format!(" {detail}")).unwrap_or_default();
        let (kind, name) = (kind(symbol.kind), &symbol.name);
        // Writing into a string cannot fail.
        let _ = if is_file {
            let indent = "  ".repeat(usize::try_from(symbol.depth.min(20)).unwrap_or_default());
            let range = symbol.location.range;
            writeln!(text, "{indent}{kind} {name}{detail} [{}-{}]", range.start.line + 1, range.end.line + 1)
        } else {
            let container = symbol.container.as_deref().filter(|container| !container.is_empty());
            let container = container.map(|container| format!(" in {container}")).unwrap_or_default();
            let place = LangLocation { uri: symbol.location.uri.clone(), range: symbol.selection };
            writeln!(text, "{kind} {name}{container} at {}", places.show(&place))
        };
    }
    if symbols.len() > MOST {
        let _ = writeln!(text, "[the first {MOST} of {}]", counted(symbols.len(), "symbol"));
    }
    text
}

/// The symbols of a file as its grammar tells them, where no server does.
fn by_grammar(services: &Services, path: &str, said: &Said) -> Result<Option<Output>, ToolError> {
    let path = services.roots.resolve(path)?;
    let Ok(file) = services.reader.read(&path) else { return Ok(None) };
    let Some(Ok(told)) = document_symbols(&path, &paths::to_uri(&path), file.text) else { return Ok(None) };
    let symbols = told.symbols;
    let mut text = list(&symbols, true, &mut Places::new(services));
    text.push_str(&cut(told.is_cut));
    text.push_str(&format!("[by the file's grammar, since no language server told any]\n{}", said.words()));
    let (summary, locations) = (counted(symbols.len(), "symbol"), vec![location(&path, None)]);
    Ok(Some(Output { text, summary, locations, ..Output::default() }))
}

/// The word for a `SymbolKind` of LSP 3.17.
pub(super) fn kind(number: u8) -> &'static str {
    const KINDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum member",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    usize::from(number).checked_sub(1).and_then(|at| KINDS.get(at)).copied().unwrap_or("symbol")
}
