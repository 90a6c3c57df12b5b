//! The tools that ask about one place: where it is defined, what uses it, what it is.

use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, Tool, ToolError};
use ports::tool_names;
use project::paths;
use protocol::Position;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangCall, LangLocation, LangQuery, LangResult, LangSymbol};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::answer::{MOST, Places, Said};
use super::symbols::kind;
use super::target::{Aim, At, Targeted, targeted};
use crate::typed::{self, Typed};
use crate::{Services, blocking, counted, location};

/// How often references are asked for again where there is only the declaration, and after which time: some servers
/// answer before they have looked at other files.
const AGAIN: [Duration; 2] = [Duration::from_millis(250); 2];

/// A question about a place.
trait Asks: Targeted + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;
    /// The words for what it does: `Finding references of`.
    const DOING: &'static str;
    /// The word for what it looks for: `reference`.
    const WHAT: &'static str;

    fn query(&self, uri: String, position: Position) -> LangQuery;
}

/// All tools of this kind.
pub(super) fn tools(services: &Services) -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Definition>(services),
        tool::<References>(services),
        tool::<Hover>(services),
        tool::<Implementation>(services),
        tool::<TypeDefinition>(services),
        tool::<CallHierarchy>(services),
        tool::<TypeHierarchy>(services),
    ]
}

macro_rules! asks {
    ($($(#[doc = $doc:literal])+ $name:ident = $tool:expr, $doing:literal, $what:literal, {$($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)*}, |$input:ident, $uri:ident, $position:ident| $query:expr;)*) => {
        $(
            targeted! {
                $(#[doc = $doc])+
                $name { $($(#[doc = $field_doc])+ $field: $type,)* }
            }

            impl Asks for $name {
                const NAME: &'static str = $tool;
                const DOING: &'static str = $doing;
                const WHAT: &'static str = $what;

                fn query(&self, $uri: String, $position: Position) -> LangQuery {
                    let $input = self;
                    $query
                }
            }
        )*
    };
}

asks! {
    /// Finds where a symbol is defined, as the language server knows it: through imports, re-exports and overloads, and
    /// into libraries. Better than a text search if the name is common. Gives `path:line: code` for each
    /// definition.
    Definition = "lsp_definition", "Finding the definition of", "definition", {},
        |_input, uri, position| LangQuery::Definition { uri, position };
    /// Finds all uses of a symbol in the workspace, as the language server knows them: not of others with the
    /// same name, and not in comments or strings. It includes the declaration. Use it before you change or remove
    /// something. Gives `path:line: code` for each use.
    References = "lsp_references", "Finding references of", "reference", {},
        |_input, uri, position| LangQuery::References { uri, position };
    /// Gives the type or signature of a symbol and its documentation, from the language server.
    Hover = "lsp_hover", "Looking up", "description", {},
        |_input, uri, position| LangQuery::Hover { uri, position };
    /// Finds what implements a trait, interface, or abstract method. Gives `path:line: code` for each one.
    Implementation = "lsp_implementation", "Finding implementations of", "implementation", {},
        |_input, uri, position| LangQuery::Implementation { uri, position };
    /// Finds where the type of a variable, field or expression is defined. Gives `path:line: code` for each one.
    TypeDefinition = tool_names::LSP_TYPE_DEFINITION, "Finding the type of", "definition", {},
        |_input, uri, position| LangQuery::TypeDefinition { uri, position };
    /// Finds the callers of a function or method, or what it calls. Gives the location of each, and the lines of
    /// the calls.
    CallHierarchy = "lsp_call_hierarchy", "Finding calls of", "call", {
        /// `incoming` for what calls it, which is the default; `outgoing` for what it calls.
        direction: Option<Direction>,
    }, |input, uri, position| match input.direction.unwrap_or(Direction::Incoming) {
        Direction::Incoming => LangQuery::IncomingCalls { uri, position },
        Direction::Outgoing => LangQuery::OutgoingCalls { uri, position },
    };
    /// Finds the supertypes or subtypes of a class, interface or trait. Gives the location of each.
    TypeHierarchy = tool_names::LSP_TYPE_HIERARCHY, "Finding types around", "type", {
        /// `subtypes`, which is the default, or `supertypes`.
        direction: Option<Kin>,
    }, |input, uri, position| match input.direction.unwrap_or(Kin::Subtypes) {
        Kin::Supertypes => LangQuery::Supertypes { uri, position },
        Kin::Subtypes => LangQuery::Subtypes { uri, position },
    };
}

/// Which calls.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    /// What calls it.
    Incoming,
    /// What it calls.
    Outgoing,
}

/// Which types.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kin {
    /// What it derives from.
    Supertypes,
    /// What derives from it.
    Subtypes,
}

fn tool<A: Asks>(services: &Services) -> Arc<dyn Tool> {
    typed::erase(Asking::<A> { services: services.clone(), kind: PhantomData })
}

struct Asking<A> {
    services: Services,
    kind: PhantomData<fn() -> A>,
}

#[async_trait]
impl<A: Asks> Typed for Asking<A> {
    type Input = A;
    const NAME: &'static str = A::NAME;
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &A) -> Result<Description, ToolError> {
        let target = input.target();
        let path = target.check(&self.services)?;
        let line = target.line.and_then(|line| u64::try_from(line).ok());
        let locations = path.iter().map(|path| location(path, line)).collect();
        let title = format!("{} {}", A::DOING, target.words(&self.services));
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: A) -> Result<Output, ToolError> {
        let at = input.target().find(&self.services, &call, Aim::Read).await?;
        let query = input.query(at.uri.clone(), at.position);
        if matches!(query, LangQuery::Hover { .. }) {
            self.may_be_told(&at, &call).await?;
        }
        let result = patiently(&self.services, &query, &call).await?;
        let said = Said::new(&result);
        if !said.is_answered() {
            return Ok(said.without_answer());
        }
        let services = self.services.clone();
        blocking(move || {
            let mut places = Places::new(&services);
            let (text, count) = in_words(&result.answer, &mut places);
            if count == 0 {
                let none = if said.is_whole() { "There is no" } else { "So far there is no" };
                let text = format!(
                    "{none} {} of what stands in {}:{}.",
                    A::WHAT,
                    services.roots.display(&at.text.path),
                    at.position.line + 1
                );
                let text = text + &at.remark(&services);
                return Ok(said.output(text, format!("no {}", A::WHAT), &places));
            }
            let text = text.trim_end_matches('\n').to_owned() + &at.remark(&services);
            Ok(said.output(text, counted(count, A::WHAT), &places))
        })
        .await
    }
}

impl<A> Asking<A> {
    /// Checks that a server may tell of what stands somewhere: its words hold values and comments of the file that
    /// defines it, which the user's rules may keep from the model. If that file is not known, it may not.
    async fn may_be_told(&self, at: &At, call: &Call) -> Result<(), ToolError> {
        if !self.services.search.hides_any() {
            return Ok(());
        }
        let query = LangQuery::Definition { uri: at.uri.clone(), position: at.position };
        let result = super::ask(&self.services, &query, call).await?;
        let said = Said::new(&result);
        let locations = match result.answer {
            LangAnswer::Locations { locations } if said.is_answered() => locations,
            _ => {
                return Err(ToolError::Failed(format!(
                    "it is not known where that is defined, and the user's rules keep some files from you, so its \
                     description is not given {}",
                    said.words()
                )));
            }
        };
        for place in locations {
            let path = paths::from_uri(&place.uri).ok().and_then(|path| self.services.roots.check(&path).ok());
            if let Some(path) = path.filter(|path| !self.services.search.shows(path)) {
                let name = self.services.roots.display(&path);
                return Err(ToolError::Failed(format!(
                    "it is defined in {name}, which the user's rules keep from you"
                )));
            }
        }
        Ok(())
    }
}

/// Asks, and for references once more where the answer may be too early.
async fn patiently(services: &Services, query: &LangQuery, call: &Call) -> Result<LangResult, ToolError> {
    let mut result = super::ask(services, query, call).await?;
    if matches!(query, LangQuery::References { .. }) {
        for pause in AGAIN {
            match &result.answer {
                LangAnswer::Locations { locations } if locations.len() <= 1 => {}
                _ => break,
            }
            tokio::time::sleep(pause).await;
            result = super::ask(services, query, call).await?;
        }
    }
    Ok(result)
}

/// An answer, and how many things are in it. Blocks.
fn in_words(answer: &LangAnswer, places: &mut Places<'_>) -> (String, usize) {
    match answer {
        LangAnswer::Locations { locations } => (places.list(locations), locations.len()),
        LangAnswer::Text { text } => (text.clone(), usize::from(!text.trim().is_empty())),
        LangAnswer::Calls { calls } => {
            let shown: Vec<_> = calls.iter().take(MOST).map(|call| call_in_words(call, places)).collect();
            (cut(shown, calls.len(), "function"), calls.len())
        }
        LangAnswer::Symbols { symbols } => {
            let shown: Vec<_> = symbols.iter().take(MOST).map(|symbol| symbol_in_words(symbol, places)).collect();
            (cut(shown, symbols.len(), "type"), symbols.len())
        }
        LangAnswer::Nothing | LangAnswer::Edit { .. } | LangAnswer::Diagnostics { .. } | LangAnswer::Actions { .. } => {
            (String::new(), 0)
        }
    }
}

fn cut(shown: Vec<String>, all: usize, what: &str) -> String {
    let mut text = shown.join("\n");
    if all > MOST {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n[the first {MOST} of {}]", counted(all, what));
    }
    text
}

fn symbol_in_words(symbol: &LangSymbol, places: &mut Places<'_>) -> String {
    let place = LangLocation { uri: symbol.location.uri.clone(), range: symbol.selection };
    format!("{} {} at {}", kind(symbol.kind), symbol.name, places.show(&place))
}

fn call_in_words(call: &LangCall, places: &mut Places<'_>) -> String {
    let mut lines: Vec<_> = call.ranges.iter().map(|range| range.start.line + 1).collect();
    lines.dedup();
    let lines: Vec<_> = lines.iter().map(u32::to_string).collect();
    let at = if lines.is_empty() { String::new() } else { format!(" (calls on line {})", lines.join(", ")) };
    format!("{}{at}", symbol_in_words(&call.symbol, places))
}

#[cfg(test)]
mod tests {
    use lang::{Lang, Source};
    use protocol::lang::LangStatus;
    use serde_json::json;

    use super::*;
    use crate::fixture::{World, call};

    /// Tells what stands anywhere, and where that is defined as it is set.
    struct Hovers(LangStatus, LangAnswer);

    #[async_trait]
    impl Source for Hovers {
        async fn ask(&self, query: &LangQuery, _: Duration) -> LangResult {
            let (status, answer) = match query {
                LangQuery::Hover { .. } => (LangStatus::Ready, LangAnswer::Text { text: "KEY = 'secret'".to_owned() }),
                _ => (self.0, self.1.clone()),
            };
            LangResult { answer, ..LangResult::without_answer(status, None) }
        }
    }

    async fn hover(hides: bool, status: LangStatus, file: Option<&str>) -> String {
        let world = World::new(&[("a.py", "KEY\n"), ("secret.py", "KEY = 'secret'\n")]);
        let at = Position { line: 0, character: 0 };
        let range = protocol::Range { start: at, end: at };
        let place = |file: &str| LangLocation { uri: paths::to_uri(&world.path(file)), range };
        let answer = match file {
            Some(file) => LangAnswer::Locations { locations: vec![place(file)] },
            None => LangAnswer::Nothing,
        };
        let services =
            if hides { world.services_showing(|path| !path.ends_with("secret.py")) } else { world.services() };
        let services = Services { lang: Lang::new(vec![Arc::new(Hovers(status, answer))]), ..services };
        let output = call(&services, "lsp_hover", json!({ "path": "a.py", "line": 1, "text": "KEY" })).await;
        output.map_or_else(|error| error.to_string(), |output| output.text)
    }

    #[tokio::test]
    async fn nothing_is_told_of_what_may_be_defined_in_a_file_that_the_users_rules_hide() {
        assert!(hover(true, LangStatus::Ready, Some("a.py")).await.starts_with("KEY = 'secret'"));
        let refused = hover(true, LangStatus::Ready, Some("secret.py")).await;
        assert_eq!(refused, "it is defined in secret.py, which the user's rules keep from you");
        for status in [LangStatus::Unsupported, LangStatus::Failed, LangStatus::TimedOut, LangStatus::Unseen] {
            let refused = hover(true, status, None).await;
            assert!(refused.starts_with("it is not known where that is defined, and the user's rules"), "{refused}");
            assert!(hover(false, status, None).await.starts_with("KEY = 'secret'"), "no rule hides anything");
        }
    }
}
