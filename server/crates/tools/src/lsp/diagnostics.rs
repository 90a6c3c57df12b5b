//! `lsp_diagnostics`.

use std::fmt::Write;

use agent::permission::Action;
use agent::tool::{Access, Call, Description, Output, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangDiagnostic, LangDiagnostics, LangQuery, LangSeverity};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::paths;
use workspace::search::Scope;

use super::answer::{Places, Said};
use crate::typed::Typed;
use crate::{Services, blocking, counted, location};

/// How many problems are given (002 §20.11).
const MOST: usize = 50;
/// How many files of a glob are asked about (002 §20.11).
const MOST_FILES: usize = 20;

/// Gives the problems that language servers and linters know of: errors first. Of a file, of the files that a glob pattern fits,
/// or of all that anything is known of. What is not saved yet counts, and so do edits that wait for the user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only of this file, relative to the workspace or absolute.
    path: Option<String>,
    /// Only of the files that fit this glob pattern: `src/**/*.ts`.
    glob: Option<String>,
    /// Only problems at least as bad as this.
    severity: Option<Severity>,
}

/// How bad a problem is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Severity {
    /// Errors only.
    Error,
    /// Errors and warnings.
    Warning,
    /// Remarks too.
    Information,
    /// All.
    Hint,
}

pub(super) struct LspDiagnostics {
    services: Services,
}

impl LspDiagnostics {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspDiagnostics {
    type Input = Input;
    const NAME: &'static str = "lsp_diagnostics";
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        if input.path.is_some() && input.glob.is_some() {
            return Err(ToolError::InvalidInput("give `path` or `glob`, not both".to_owned()));
        }
        let path = input.path.as_ref().map(|path| self.services.roots.resolve(path)).transpose()?;
        let of = path.as_deref().map(|path| self.services.roots.display(path)).or_else(|| input.glob.clone());
        let title = format!("Looking at the problems of {}", of.unwrap_or_else(|| "the workspace".to_owned()));
        let locations = path.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let (queries, left_out) = self.queries(&input, &call).await?;
        let (mut documents, mut said) = (Vec::new(), None);
        for query in &queries {
            let result = super::ask(&self.services, query, &call).await?;
            let this = Said::new(&result);
            if let LangAnswer::Diagnostics { documents: more } = result.answer {
                documents.extend(more);
            }
            // One answer that is not whole makes the whole so.
            if said.as_ref().is_none_or(Said::is_whole) {
                said = Some(this);
            }
        }
        let Some(said) = said else {
            return Err(ToolError::Failed("no file fits that pattern".to_owned()));
        };
        if !said.is_answered() && documents.is_empty() {
            return Ok(said.without_answer());
        }
        let services = self.services.clone();
        blocking(move || Ok(in_words(&services, documents, &input, &said, left_out))).await
    }
}

impl LspDiagnostics {
    /// The questions, and how many files are not asked about.
    async fn queries(&self, input: &Input, call: &Call) -> Result<(Vec<LangQuery>, usize), ToolError> {
        if let Some(path) = &input.path {
            let path = self.services.roots.resolve(path)?;
            return Ok((vec![LangQuery::Diagnostics { uri: Some(paths::to_uri(&path)) }], 0));
        }
        let Some(glob) = input.glob.clone() else { return Ok((vec![LangQuery::Diagnostics { uri: None }], 0)) };
        let (services, cancel) = (self.services.clone(), call.cancel.clone());
        blocking(move || {
            let files = services.search.files(&Scope { path: None, glob: Some(glob) }, &cancel)?.paths;
            let query = |path: &std::path::PathBuf| LangQuery::Diagnostics { uri: Some(paths::to_uri(path)) };
            Ok((files.iter().take(MOST_FILES).map(query).collect(), files.len().saturating_sub(MOST_FILES)))
        })
        .await
    }
}

fn in_words(
    services: &Services,
    documents: Vec<LangDiagnostics>,
    input: &Input,
    said: &Said,
    left_out: usize,
) -> Output {
    let least = match input.severity {
        Some(Severity::Error) => LangSeverity::Error,
        Some(Severity::Warning) => LangSeverity::Warning,
        Some(Severity::Information) => LangSeverity::Information,
        Some(Severity::Hint) | None => LangSeverity::Hint,
    };
    let mut found: Vec<(String, LangDiagnostic)> = Vec::new();
    for document in documents {
        let Some(name) = name(services, &document.uri) else { continue };
        let of_it = document.diagnostics.into_iter().filter(|diagnostic| diagnostic.severity <= least);
        found.extend(of_it.map(|diagnostic| (name.clone(), diagnostic)));
    }
    // Errors first, then by place, then by words (002 §20.11).
    found.sort_by(|(a, x), (b, y)| (x.severity, a, x.range, &x.message).cmp(&(y.severity, b, y.range, &y.message)));
    found.dedup();
    let mut text = String::new();
    for (name, diagnostic) in found.iter().take(MOST) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", workspace::lang::in_words(name, diagnostic));
    }
    if found.len() > MOST {
        let _ = writeln!(text, "[the first {MOST} of {}]", counted(found.len(), "problem"));
    }
    if left_out > 0 {
        let _ = writeln!(text, "[only the first {MOST_FILES} files were asked about; {left_out} more fit the pattern]");
    }
    // Of the whole workspace servers tell only what they happen to know, and it may be of texts as they were.
    let is_all = input.path.is_none() && input.glob.is_none();
    if found.is_empty() {
        let is_sure = said.is_whole() && !is_all;
        text.insert_str(0, if is_sure { "There are no problems.\n" } else { "So far no problems are known.\n" });
    }
    if is_all {
        text.push_str(
            "[only of files that servers have looked at, mostly those that are open; name a file to be sure of it]\n",
        );
    }
    let summary = if found.is_empty() { "no problems".to_owned() } else { counted(found.len(), "problem") };
    said.output(text, summary, &Places::new(services))
}

/// A file's name; none for one that the model may not know of.
fn name(services: &Services, uri: &str) -> Option<String> {
    let path = paths::from_uri(uri).ok()?;
    let path = services.roots.check(&path).ok().filter(|path| services.search.shows(path))?;
    Some(services.roots.display(&path))
}
