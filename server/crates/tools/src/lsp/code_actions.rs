//! `lsp_code_actions`.

use std::fmt::Write;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use project::paths;
use protocol::content::ToolKind;
use protocol::lang::{LangAction, LangAnswer, LangQuery};
use protocol::{Position, Range};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Said;
use super::edit;
use crate::typed::Typed;
use crate::{Services, blocking, counted, location};

/// How many actions are listed.
const MOST: usize = 50;

/// Lists the language server's actions for some lines: quick fixes of problems, missing imports, refactorings. With
/// `apply` it does one of them, by its title. Nothing is written: the user reviews it like any edit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The line, from 1.
    line: usize,
    /// The last line, if there are several.
    end_line: Option<usize>,
    /// Only actions of this kind: `quickfix`, `refactor`, `source.organizeImports`.
    kind: Option<String>,
    /// The title of the action to apply, as it was listed.
    apply: Option<String>,
}

pub(super) struct LspCodeActions {
    services: Services,
}

impl LspCodeActions {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspCodeActions {
    type Input = Input;
    const NAME: &'static str = "lsp_code_actions";
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        range(input)?;
        let path = self.services.roots.resolve(&input.path)?;
        let name = self.services.roots.display(&path);
        let title = match &input.apply {
            Some(action) => format!("Applying \u{201c}{action}\u{201d} in {name}"),
            None => format!("Looking for quick fixes in {name}:{}", input.line),
        };
        let locations = vec![location(&path, u64::try_from(input.line).ok())];
        // The changes of an action are known only once the server was asked; permission then judges the plan.
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let path = self.services.roots.resolve(&input.path)?;
        let (uri, range) = (paths::to_uri(&path), range(&input)?);
        let asked = edit::asked(&self.services, &call, path).await?;
        let query = match &input.apply {
            Some(title) => LangQuery::CodeAction { uri, range, title: title.clone(), kind: input.kind.clone() },
            None => LangQuery::CodeActions { uri, range, kind: input.kind.clone() },
        };
        let result = super::ask(&self.services, &query, &call).await?;
        let said = Said::new(&result);
        match result.answer {
            // An action may do more than edit; then its edit is given, and it is said what is missing.
            LangAnswer::Edit { changes } if said.is_answered() && !changes.is_empty() => {
                let services = self.services.clone();
                let what = format!("Applied \u{201c}{}\u{201d}", input.apply.unwrap_or_default());
                blocking(move || edit::output(&services, &call, Some(&asked), &changes, &said, &what)).await
            }
            LangAnswer::Actions { actions } if said.is_answered() => Ok(list(&actions, &said)),
            LangAnswer::Edit { .. } if said.is_whole() => {
                Err(ToolError::Failed(format!("that action changes nothing {}", said.words())))
            }
            _ => Ok(said.without_answer()),
        }
    }
}

/// The lines, as far as servers look at them: the end of the last one lies beyond any line's.
fn range(input: &Input) -> Result<Range, ToolError> {
    let end = input.end_line.unwrap_or(input.line);
    let number = |line: usize| line.checked_sub(1).and_then(|line| u32::try_from(line).ok());
    match (number(input.line), number(end)) {
        (Some(start), Some(end)) if start <= end => {
            Ok(Range { start: Position { line: start, character: 0 }, end: Position { line: end + 1, character: 0 } })
        }
        _ => Err(ToolError::InvalidInput("`line` counts from 1, and `end_line` is not before it".to_owned())),
    }
}

fn list(actions: &[LangAction], said: &Said) -> Output {
    let mut text = String::new();
    for action in actions.iter().take(MOST) {
        let kind = action.kind.as_ref().map(|kind| format!(" [{kind}]")).unwrap_or_default();
        let preferred = if action.preferred { " (preferred)" } else { "" };
        let disabled = action.disabled.as_ref().map(|why| format!(" (not here: {why})")).unwrap_or_default();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}{kind}{preferred}{disabled}", action.title);
    }
    if actions.len() > MOST {
        let _ = writeln!(text, "[the first {MOST} of {}]", counted(actions.len(), "action"));
    }
    if actions.is_empty() {
        text.push_str("The language server has nothing to do there.\n");
    }
    text.push_str(&said.words());
    Output { text, summary: counted(actions.len(), "action"), ..Output::default() }
}
