//! `lsp_diagnostics`.

use std::fmt::Write;
use std::path::Path;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use project::paths;
use project::search::Scope;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangDiagnostic, LangDiagnostics, LangQuery, LangResult, LangSeverity, LangStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::PATIENCE;
use super::answer::Said;
use crate::typed::Typed;
use crate::{Services, blocking, counted, location};

/// How many problems are given.
const MOST: usize = 50;
/// How many files of a glob are asked about.
const MOST_FILES: usize = 20;
/// How many of them are asked about at once.
const AT_ONCE: usize = 5;

/// Gives the problems that language servers and linters report, errors first: for a file, for the files that match a
/// glob pattern, or for all files. Unsaved text and pending edits count.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only this file, relative to the workspace or absolute.
    path: Option<String>,
    /// Only files that match this glob pattern: `src/**/*.ts`.
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
        if queries.is_empty() {
            return Err(ToolError::Failed("no file fits that pattern".to_owned()));
        }
        let results = ask_all(&self.services, queries, &call).await?;
        let said = AllSaid(results.iter().map(|(name, result)| (name.clone(), Said::new(result))).collect());
        let documents = results.into_iter().filter_map(|(_, result)| match result.answer {
            LangAnswer::Diagnostics { documents } => Some(documents),
            _ => None,
        });
        let documents: Vec<_> = documents.flatten().collect();
        if documents.is_empty()
            && let Some(none) = said.without_answer()
        {
            return Ok(none);
        }
        let services = self.services.clone();
        blocking(move || Ok(in_words(&services, documents, &input, &said, left_out))).await
    }
}

impl LspDiagnostics {
    /// The questions, with the names of the files, and how many files are not asked about.
    async fn queries(&self, input: &Input, call: &Call) -> Result<(Vec<(String, LangQuery)>, usize), ToolError> {
        let of = |services: &Services, path: &Path| {
            (services.roots.display(path), LangQuery::Diagnostics { uri: Some(paths::to_uri(path)) })
        };
        if let Some(path) = &input.path {
            return Ok((vec![of(&self.services, &self.services.roots.resolve(path)?)], 0));
        }
        let Some(glob) = input.glob.clone() else {
            return Ok((vec![(String::new(), LangQuery::Diagnostics { uri: None })], 0));
        };
        let (services, cancel) = (self.services.clone(), call.cancel.clone());
        blocking(move || {
            let files = services.search.files(&Scope { path: None, glob: Some(glob) }, &cancel)?.paths;
            let queries = files.iter().take(MOST_FILES).map(|path| of(&services, path)).collect();
            Ok((queries, files.len().saturating_sub(MOST_FILES)))
        })
        .await
    }
}

/// Asks all questions, some side by side, within the time that one may take. The results are in the order of the
/// questions.
async fn ask_all(
    services: &Services,
    queries: Vec<(String, LangQuery)>,
    call: &Call,
) -> Result<Vec<(String, LangResult)>, ToolError> {
    let deadline = Instant::now() + PATIENCE;
    let mut queries = queries.into_iter().enumerate();
    let (mut asked, mut results) = (JoinSet::new(), Vec::new());
    loop {
        while asked.len() < AT_ONCE
            && let Some((at, (name, query))) = queries.next()
        {
            let lang = services.lang.clone();
            asked.spawn(async move {
                let left = deadline.saturating_duration_since(Instant::now());
                let result = match left.is_zero() {
                    true => LangResult::without_answer(LangStatus::TimedOut, None),
                    false => lang.ask(&query, left).await,
                };
                (at, (name, result))
            });
        }
        let next = tokio::select! {
            next = asked.join_next() => next,
            () = call.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        match next {
            Some(Ok(result)) => results.push(result),
            Some(Err(error)) => return Err(ToolError::Failed(format!("a question broke down: {error}"))),
            None => break,
        }
    }
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// How far each file's answer can be relied on, by the file's name.
struct AllSaid(Vec<(String, Said)>);

impl AllSaid {
    fn is_whole(&self) -> bool {
        self.0.iter().all(|(_, said)| said.is_whole())
    }

    /// The output where there is no answer to any question.
    fn without_answer(&self) -> Option<Output> {
        let (_, first) = self.0.first()?;
        let is_none = self.0.iter().all(|(_, said)| !said.is_answered());
        is_none.then(|| Output { text: self.words(), ..first.without_answer() })
    }

    /// One line where all are the same, and else one for each kind, with the files.
    fn words(&self) -> String {
        let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, said) in &self.0 {
            let words = said.plain();
            match kinds.iter_mut().find(|(kind, _)| *kind == words) {
                Some((_, names)) => names.push(name),
                None => kinds.push((words, vec![name])),
            }
        }
        let lines: Vec<_> = match kinds.as_slice() {
            [(words, _)] => vec![format!("[{words}]")],
            kinds => kinds.iter().map(|(words, names)| format!("[{}: {words}]", names.join(", "))).collect(),
        };
        lines.join("\n")
    }
}

fn in_words(
    services: &Services,
    documents: Vec<LangDiagnostics>,
    input: &Input,
    said: &AllSaid,
    left_out: usize,
) -> Output {
    let (least, kinds) = match input.severity {
        Some(Severity::Error) => (LangSeverity::Error, "errors"),
        Some(Severity::Warning) => (LangSeverity::Warning, "errors or warnings"),
        Some(Severity::Information) => (LangSeverity::Information, "errors, warnings or remarks"),
        Some(Severity::Hint) | None => (LangSeverity::Hint, "problems"),
    };
    let mut found: Vec<(String, LangDiagnostic)> = Vec::new();
    for document in documents {
        let Some(name) = name(services, &document.uri) else { continue };
        found.extend(document.diagnostics.into_iter().map(|diagnostic| (name.clone(), diagnostic)));
    }
    // Errors first, then by place, then by words.
    found.sort_by(|(a, x), (b, y)| (x.severity, a, x.range, &x.message).cmp(&(y.severity, b, y.range, &y.message)));
    found.dedup();
    let all = found.len();
    found.retain(|(_, diagnostic)| diagnostic.severity <= least);
    let milder = all - found.len();
    let mut text = String::new();
    for (name, diagnostic) in found.iter().take(MOST) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", lang::in_words(name, diagnostic));
    }
    if found.len() > MOST {
        let _ = writeln!(text, "[the first {MOST} of {}]", counted(found.len(), "problem"));
    }
    // Of the whole workspace servers tell only what they happen to know, and it may be of texts as they were.
    let is_all = input.path.is_none() && input.glob.is_none();
    let is_sure = said.is_whole() && !is_all;
    let also = if milder > 0 { format!("{milder} less severe left out") } else { String::new() };
    match (found.is_empty(), milder > 0) {
        (true, true) if is_sure => text.push_str(&format!("There are no {kinds} ({also}).\n")),
        (true, true) => text.push_str(&format!("So far no {kinds} are known ({also}).\n")),
        (true, false) if is_sure => text.push_str("There are no problems.\n"),
        (true, false) => text.push_str("So far no problems are known.\n"),
        (false, true) => text.push_str(&format!("[{also}]\n")),
        (false, false) => {}
    }
    if left_out > 0 {
        let _ = writeln!(text, "[only the first {MOST_FILES} files were asked about; {left_out} more fit the pattern]");
    }
    if is_all {
        text.push_str(
            "[only of files that servers have looked at, mostly those that are open; name a file to be sure of it]\n",
        );
    }
    text.push_str(&said.words());
    let summary = if found.is_empty() { format!("no {kinds}") } else { counted(found.len(), "problem") };
    Output { text, summary, ..Output::default() }
}

/// A file's name; none for one that the model may not know of.
fn name(services: &Services, uri: &str) -> Option<String> {
    let path = paths::from_uri(uri).ok()?;
    let path = services.roots.check(&path).ok().filter(|path| services.search.shows(path))?;
    Some(services.roots.display(&path))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Once};
    use std::time::Duration;

    use lang::{Lang, Source};
    use protocol::{Position, Range};
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::{World, call};

    /// Finds a warning in each file; it answers at once, but of some files not whole, and of some never. The clock
    /// stands still from the first question that it never answers on: the waiting passes at once, and whatever was
    /// asked of the disk before had its time.
    struct Warns(Once);

    #[async_trait]
    impl Source for Warns {
        async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
            let LangQuery::Diagnostics { uri: Some(uri) } = query else { panic!("{query:?}") };
            if uri.contains("never") {
                self.0.call_once(tokio::time::pause);
                tokio::time::sleep(within).await;
                return LangResult::without_answer(LangStatus::TimedOut, None);
            }
            let at = Position { line: 0, character: 0 };
            let warning = LangDiagnostic {
                range: Range { start: at, end: at },
                severity: LangSeverity::Warning,
                message: "unused".to_owned(),
                code: None,
                source: None,
            };
            let documents = vec![LangDiagnostics { uri: uri.clone(), version: None, diagnostics: vec![warning] }];
            let status = if uri.contains("new") { LangStatus::Indexing } else { LangStatus::Ready };
            let answer = LangAnswer::Diagnostics { documents };
            LangResult { answer, ..LangResult::without_answer(status, None) }
        }
    }

    async fn told(files: &[&str], input: Value) -> String {
        let files: Vec<_> = files.iter().map(|file| (*file, "x\n")).collect();
        let world = World::new(&files);
        let services = Services { lang: Lang::new(vec![Arc::new(Warns(Once::new()))]), ..world.services() };
        call(&services, "lsp_diagnostics", input).await.unwrap().text
    }

    #[tokio::test]
    async fn that_there_are_no_errors_is_not_that_there_are_no_problems() {
        let text = told(&["a.py"], json!({ "path": "a.py", "severity": "error" })).await;
        assert_eq!(text, "There are no errors (1 less severe left out).\n[ready]");
        let text = told(&["new.py"], json!({ "path": "new.py", "severity": "error" })).await;
        assert!(text.starts_with("So far no errors are known (1 less severe left out).\n[the server still"), "{text}");
        let text = told(&["a.py"], json!({ "path": "a.py" })).await;
        assert!(text.starts_with("a.py:1:1: warning") && text.ends_with("unused\n[ready]"), "{text}");
    }

    #[tokio::test]
    async fn each_file_has_its_own_status_where_they_differ() {
        let text = told(&["a.py", "b.py", "new.py"], json!({ "glob": "*.py", "severity": "error" })).await;
        let wanted = "So far no errors are known (3 less severe left out).\n[a.py, b.py: ready]\n[new.py: the server still \
                      reads the project, so there may be more; ask again later]";
        assert_eq!(text, wanted);
    }

    #[tokio::test]
    async fn many_files_take_no_longer_than_one() {
        let files: Vec<_> = (0..30).map(|at| format!("never{at:02}.py")).collect();
        let files: Vec<_> = files.iter().map(String::as_str).chain(["z.py"]).collect();
        let before = Instant::now();
        let text = told(&files, json!({ "glob": "*.py" })).await;
        assert!(before.elapsed() < PATIENCE + Duration::from_secs(1), "{:?}", before.elapsed());
        assert!(text.contains("did not answer in time"), "{text}");
    }
}
