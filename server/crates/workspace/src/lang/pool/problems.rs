//! Problems: asked for where a server answers that, and else waited for, until those of the text that stands there now come.

use std::path::Path;
use std::time::Duration;

use protocol::content::Range;
use protocol::lang::{LangAnswer, LangDiagnostic, LangDiagnostics, LangStatus};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::answer;
use super::super::client::{Published, wire};
use super::ask::{Asker, Failure};
use crate::paths;

/// How long a server has to be silent before what it says without a version counts as all: some say it in parts.
const QUIET: Duration = Duration::from_millis(500);
/// The same with the version of the text that it is of.
const QUIET_WITH_VERSION: Duration = Duration::from_millis(150);
/// How long after a change of another text the problems of one may change, without that anything is said if they do not.
const ELSEWHERE: Duration = Duration::from_millis(1_500);
/// How long problems are waited for before the actions for them are asked for.
const BEFORE_ACTIONS: Duration = Duration::from_secs(5);

/// The problems of a text.
struct Problems {
    /// Lists of LSP's `Diagnostic`.
    lists: Vec<Box<RawValue>>,
    /// Whether they are of the text that stands there now, as far as can be known.
    is_whole: bool,
}

impl Asker<'_> {
    /// The problems of the file that is asked about.
    pub(super) async fn problems(&self) -> Result<(LangAnswer, LangStatus, Option<String>), Failure> {
        self.sync().await?;
        self.wait_for_readiness().await;
        let problems = self.lists(self.until).await?;
        let diagnostics = read(&problems.lists)?;
        let uri = self.path.map(paths::to_uri).unwrap_or_default();
        let busy = match self.client.readiness() {
            super::super::client::Readiness::Busy(what) => Some(what),
            _ => None,
        };
        let (status, message) = match (problems.is_whole, busy) {
            (_, Some(what)) => (LangStatus::Indexing, Some(format!("it still reads the project: {what}"))),
            (true, None) => (LangStatus::Ready, None),
            (false, None) => {
                let why = "it said nothing of the text as it is now in time";
                return Ok((LangAnswer::Nothing, LangStatus::TimedOut, Some(why.to_owned())));
            }
        };
        let documents = vec![LangDiagnostics { uri, version: None, diagnostics }];
        Ok((LangAnswer::Diagnostics { documents }, status, message))
    }

    /// All problems that are known.
    pub(super) async fn all_problems(&self) -> Result<(LangAnswer, LangStatus, Option<String>), Failure> {
        self.sync().await?;
        self.wait_for_readiness().await;
        let (all, overflowed) = self.client.all_published();
        let mut documents = Vec::new();
        for (path, published) in all {
            let diagnostics = answer::diagnostics(&published.diagnostics)?;
            documents.push(LangDiagnostics { uri: paths::to_uri(&path), version: None, diagnostics });
        }
        let answer = LangAnswer::Diagnostics { documents };
        let (status, message) = match self.client.readiness() {
            super::super::client::Readiness::Busy(what) => {
                (LangStatus::Indexing, Some(format!("it still reads the project: {what}")))
            }
            _ if overflowed => (LangStatus::Partial, Some("it told of more problems than are kept".to_owned())),
            _ => (LangStatus::Ready, None),
        };
        Ok((answer, status, message))
    }

    /// The problems in a part of the text, as the server said them; those that are known in time.
    pub(super) async fn problems_within(&self, range: Range) -> Result<Vec<Value>, Failure> {
        self.sync().await?;
        let problems = self.lists(self.patience.min(Instant::now() + BEFORE_ACTIONS)).await?;
        let text = self.path.and_then(|path| self.client.synced(path)).map(|synced| synced.text).unwrap_or_default();
        let at = |position| answer::from_utf16(position, &text, self.client.encoding());
        let (start, end) = (at(range.start), at(range.end));
        let mut within = Vec::new();
        for list in &problems.lists {
            let all: Option<Vec<Value>> = wire::parse(list)?;
            within.extend(all.unwrap_or_default().into_iter().filter(|problem| {
                let range = problem.get("range").cloned().unwrap_or_default();
                serde_json::from_value::<Range>(range).is_ok_and(|found| found.start <= end && start <= found.end)
            }));
        }
        Ok(within)
    }

    async fn lists(&self, until: Instant) -> Result<Problems, Failure> {
        let Some(path) = self.path else { return Err(Failure::Unsupported) };
        const METHOD: &str = "textDocument/diagnostic";
        if !self.client.supports(METHOD, "diagnosticProvider") {
            return self.wait_for_published(path, until).await;
        }
        let params = json!({ "textDocument": self.document() });
        let asked = self.of_text(METHOD, "diagnosticProvider", |_| params.clone());
        let report = tokio::time::timeout_at(until, asked).await.map_err(|_| Failure::TimedOut)??;
        let report: wire::Report = wire::parse(&report)?;
        // What another tool of it says it publishes, such as a compiler; nobody says when.
        let published = self.client.published(path).filter(|published| self.is_current(path, published));
        let published = published.map(|published| RawValue::to_owned(&published.diagnostics));
        Ok(Problems { lists: report.items.into_iter().chain(published).collect(), is_whole: true })
    }

    async fn wait_for_published(&self, path: &Path, until: Instant) -> Result<Problems, Failure> {
        loop {
            if let Some(why) = self.client.ended() {
                return Err(super::super::client::RequestError::Ended(why).into());
            }
            let published = self.client.published(path).filter(|published| self.is_current(path, published));
            let whole_at = published.as_ref().map(|published| self.whole_at(published));
            if let (Some(published), Some(whole_at)) = (&published, whole_at)
                && whole_at <= Instant::now()
            {
                return Ok(Problems { lists: vec![RawValue::to_owned(&published.diagnostics)], is_whole: true });
            }
            if until <= Instant::now() {
                return Ok(Problems { lists: Vec::new(), is_whole: false });
            }
            self.client.news(Some(whole_at.unwrap_or(until).min(until))).await;
        }
    }

    /// Whether problems are of the text that the server was last sent.
    fn is_current(&self, path: &Path, published: &Published) -> bool {
        self.client.synced(path).is_none_or(|synced| match published.version {
            Some(version) => version == synced.version,
            None => published.at >= synced.sent,
        })
    }

    /// When problems count as all that there are.
    fn whole_at(&self, published: &Published) -> Instant {
        let quiet = if published.version.is_some() { QUIET_WITH_VERSION } else { QUIET };
        match self.client.last_change() {
            Some(change) if change > published.at => change + ELSEWHERE,
            _ => published.at + quiet,
        }
    }
}

fn read(lists: &[Box<RawValue>]) -> Result<Vec<LangDiagnostic>, Failure> {
    let mut all: Vec<LangDiagnostic> = Vec::new();
    for list in lists {
        for one in answer::diagnostics(list)? {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    Ok(all)
}
