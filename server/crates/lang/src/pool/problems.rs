//! Problems: asked for where a server answers that, and else waited for, until those of the text that stands there now
//! come.
//!
//! Problems that a server publishes count only if they are of the text that this question sent. Not every server says
//! if they are; then the answer is not called whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use project::paths;
use protocol::content::Range;
use protocol::lang::{LangAnswer, LangDiagnostic, LangDiagnostics, LangStatus};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::answer;
use super::super::client::{Hold, LATE, Published, Readiness, RequestError, Stamp, Synced, wire};
use super::ask::{Asker, Failure, Part, UNTOLD};
use super::blocking;

/// How long a server has to be silent before what it says without a version counts as all: some say it in parts.
const QUIET: Duration = Duration::from_millis(500);
/// The same with the version of the text that it is of.
const QUIET_WITH_VERSION: Duration = Duration::from_millis(150);
/// The same where a text was replaced and no version is said: many tell of the earlier one first.
const QUIET_AFTER_ANOTHER: Duration = Duration::from_secs(1);
/// How long after a change of another text the problems of one may change, without that anything is said if they do
/// not.
const ELSEWHERE: Duration = Duration::from_millis(1_500);
/// How long problems are waited for before the actions for them are asked for, and those of texts that have just
/// changed before all are told.
const A_WHILE: Duration = Duration::from_secs(5);

/// Who tells of no problems for so long after it was sent a text is taken for one who tells of none, and waited for
/// only shortly from then on, until it does.
const VERY_LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_secs(2);

/// The problems of a text.
struct Problems {
    /// Lists of LSP's `Diagnostic`.
    lists: Vec<Box<RawValue>>,
    currency: Currency,
}

/// The certainty that problems are of what the server sees now.
enum Currency {
    /// They are.
    Known,
    /// They may be; why that is not known.
    Unknown(&'static str),
    /// Nothing was said of it in time.
    Missing,
}

const WITHOUT_VERSION: &str =
    "it does not say which version of the text its problems are of: they may be of the one before";
const OF_ANOTHER_TEXT: &str =
    "what it told by itself of the text before, such as problems that a compiler found, is left out";
const AT_WORK: &str = "it is at work, such as with a build, and may find more by that";
const SILENT: &str = "another file was changed since it told of these problems, and it has not said whether they stay";

impl Asker<'_> {
    /// The problems of the file that is asked about.
    pub(super) async fn problems(&self) -> Result<(LangAnswer, LangStatus, Option<String>), Failure> {
        self.sync().await?;
        self.wait_for_readiness(false).await;
        let problems = self.lists(self.until).await?;
        let diagnostics = read(&problems.lists)?;
        let uri = self.path.map(paths::to_uri).unwrap_or_default();
        let (status, message) = match (problems.currency, self.client.readiness(false)) {
            (_, Readiness::Busy(what)) => (LangStatus::Indexing, Some(format!("it still reads the project: {what}"))),
            (Currency::Known, _) => (LangStatus::Ready, None),
            (Currency::Unknown(why), _) => (LangStatus::Partial, Some(why.to_owned())),
            (Currency::Missing, _) => {
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
        self.wait_for_readiness(true).await;
        let (answer, status, message) = match self.pull_all().await? {
            Some(pulled) => pulled,
            None => self.all_published().await?,
        };
        match self.client.readiness(true) {
            Readiness::Busy(what) => {
                Ok((answer, LangStatus::Indexing, Some(format!("it still reads the project: {what}"))))
            }
            Readiness::Finding(_) | Readiness::Untold => Ok((answer, LangStatus::Indexing, Some(UNTOLD.to_owned()))),
            Readiness::Ready | Readiness::Settling(_) => Ok((answer, status, message)),
        }
    }

    /// The problems in a part of the text, as the server said them; none if it does not in time.
    pub(super) async fn problems_within(&self, range: Range) -> Result<Option<Vec<Value>>, Failure> {
        self.sync().await?;
        let problems = match self.lists(self.patience.min(Instant::now() + A_WHILE)).await {
            Ok(Problems { currency: Currency::Missing, .. })
            | Err(Failure::TimedOut | Failure::Request(RequestError::Rpc(_) | RequestError::Malformed(_))) => {
                self.is_disturbed.store(false, Ordering::Relaxed);
                return Ok(None);
            }
            // There are none for which there could be quick fixes.
            Err(Failure::Mute) => return Ok(Some(Vec::new())),
            problems => problems?,
        };
        let text = self.sent().text.as_ref().map(|synced| synced.text.clone()).unwrap_or_default();
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
        Ok(Some(within))
    }

    async fn lists(&self, until: Instant) -> Result<Problems, Failure> {
        let Some(path) = self.path else { return Err(Failure::Unsupported) };
        if !self.client.answers_for_problems() {
            let asked = tokio::time::timeout_at(until, self.problems_of_typescript()).await;
            if let Some(list) = asked.map_err(|_| Failure::TimedOut)?? {
                return Ok(Problems { lists: vec![list], currency: Currency::Known });
            }
            self.is_disturbed.store(false, Ordering::Relaxed);
            return self.wait_for_published(path, until).await;
        }
        let answered = match self.part {
            Part::Published => None,
            Part::All | Part::Answered => {
                let params = json!({ "textDocument": self.document() });
                let asked = self.of_text("textDocument/diagnostic", "diagnosticProvider", |_| params.clone());
                let report = tokio::time::timeout_at(until, asked).await.map_err(|_| Failure::TimedOut)??;
                wire::parse::<wire::Report>(&report)?.items
            }
        };
        if self.part == Part::Answered {
            return Ok(Problems { lists: answered.into_iter().collect(), currency: Currency::Known });
        }
        // It publishes what another tool of it says, such as a compiler; nobody says when.
        let synced = self.sent().text.clone();
        let is_of_it = |published: &Published| {
            // A compiler reads what is on disk, and what it finds is said to be of the text that is open.
            let is_what_it_read =
                |synced: &Synced| self.part == Part::All || synced.saved.is_some_and(|saved| published.at >= saved);
            synced.as_ref().is_some_and(|synced| synced.is_text_of(published) && is_what_it_read(synced))
        };
        let (published, currency) = match self.client.published(path) {
            _ if self.part == Part::Published && self.client.is_at_work() => (None, Currency::Unknown(AT_WORK)),
            Some(published) if is_of_it(&published) => (Some(published), Currency::Known),
            Some(published) if !answer::diagnostics(&published.diagnostics)?.is_empty() => {
                (None, Currency::Unknown(OF_ANOTHER_TEXT))
            }
            _ => (None, Currency::Known),
        };
        let published = published.map(|published| RawValue::to_owned(&published.diagnostics));
        Ok(Problems { lists: answered.into_iter().chain(published).collect(), currency })
    }

    async fn wait_for_published(&self, path: &Path, until: Instant) -> Result<Problems, Failure> {
        let is_mute = self.client.is_mute();
        let until = if is_mute { until.min(Instant::now() + SHORT) } else { until };
        loop {
            let hold = match self.hold(until).await {
                // Another session has the server see other texts for so long.
                Err(Failure::TimedOut) => return Ok(Problems { lists: Vec::new(), currency: Currency::Missing }),
                hold => hold?,
            };
            // A server that is sent no texts sees what is on disk.
            let is_of_it = |it: &Published| hold.sent.text.as_ref().is_none_or(|synced| synced.is_told_of(it));
            let mut news = self.client.news();
            loop {
                if let Some(why) = self.client.ended() {
                    return Err(RequestError::Ended(why).into());
                }
                let told = self.client.published(path);
                let published = told.clone().filter(is_of_it);
                let stands = hold.stands_with_version();
                let whole_at = published.as_ref().map(|published| self.whole_at(&hold, published));
                if stands
                    && let (Some(published), Some(whole_at)) = (&published, whole_at)
                    && whole_at <= Instant::now()
                {
                    let currency = self.currency(&hold, published);
                    return Ok(Problems { lists: vec![RawValue::to_owned(&published.diagnostics)], currency });
                }
                // Some say nothing of a text that they know already.
                let silent_at = hold.sent.text.as_ref().filter(|synced| synced.is_sent_again());
                let silent_at = silent_at.map_or(until, |synced| until.min(synced.sent + A_WHILE));
                if stands
                    && silent_at <= Instant::now()
                    && let (Some(told), Some(synced)) = (&told, &hold.sent.text)
                    && synced.is_text_of(told)
                {
                    let lists = vec![RawValue::to_owned(&told.diagnostics)];
                    return Ok(Problems { lists, currency: Currency::Unknown(SILENT) });
                }
                if until <= Instant::now() {
                    if is_mute && self.client.is_mute() {
                        return Err(Failure::Mute);
                    }
                    let has_had_time = |text: &Synced| text.sent.elapsed() >= VERY_LONG;
                    let is_idle = stands && self.client.readiness(false) == Readiness::Ready;
                    if is_idle && hold.sent.text.as_ref().is_some_and(has_had_time) {
                        self.client.was_waited_for();
                    }
                    return Ok(Problems { lists: Vec::new(), currency: Currency::Missing });
                }
                if !stands {
                    break;
                }
                let next = [whole_at, Some(silent_at).filter(|at| *at > Instant::now())].into_iter().flatten().min();
                news.next(next.unwrap_or(until).min(until)).await;
            }
        }
    }

    /// When problems count as all that there are.
    fn whole_at(&self, hold: &Hold<'_>, published: &Published) -> Instant {
        let quiet = match &hold.sent.text {
            Some(text) if text.is_confused_by(published) => QUIET_AFTER_ANOTHER,
            _ if published.version.is_some() => QUIET_WITH_VERSION,
            _ => QUIET,
        };
        match self.client.last_change().max(self.client.last_new_text()) {
            Some(change) if change > published.at => change + ELSEWHERE,
            _ => published.at + quiet,
        }
    }

    fn currency(&self, hold: &Hold<'_>, published: &Published) -> Currency {
        if self.client.last_new_text().is_some_and(|change| change > published.at) {
            return Currency::Unknown(SILENT);
        }
        let is_recent = |at: Instant| Instant::now() < at + LATE;
        match &hold.sent.text {
            Some(text) if text.is_confused_by(published) && is_recent(published.at) => {
                Currency::Unknown(WITHOUT_VERSION)
            }
            _ => Currency::Known,
        }
    }

    /// All problems as the server answers them; none if it does not.
    async fn pull_all(&self) -> Result<Option<(LangAnswer, LangStatus, Option<String>)>, Failure> {
        if !self.client.tells_all_problems() {
            return Ok(None);
        }
        let asked = self.send("workspace/diagnostic", |_| json!({ "previousResultIds": [] }));
        // The other half is for what it has published.
        let began = Instant::now();
        let until = began + self.until.duration_since(began) / 2;
        let report = match tokio::time::timeout_at(until, asked).await {
            Ok(Ok(report)) => report,
            Ok(Err(failure @ Failure::Request(RequestError::Ended(_)))) => return Err(failure),
            // Some keep the question until there is something new.
            Ok(Err(_)) | Err(_) => return Ok(None),
        };
        let report: wire::WorkspaceReport = wire::parse(&report)?;
        let sent = self.sent().clone();
        let mut documents = Vec::new();
        let mut left_out = 0;
        for of_document in report.items {
            let Ok(path) = paths::from_uri(&of_document.uri) else { continue };
            let is_of_another = |version| sent.open.get(&path).is_some_and(|synced| !synced.is_sent_by(version));
            match of_document.items {
                Some(items) if !of_document.version.is_some_and(is_of_another) => {
                    let diagnostics = answer::diagnostics(&items)?;
                    documents.push(LangDiagnostics { uri: paths::to_uri(&path), version: None, diagnostics });
                }
                _ => left_out += 1,
            }
        }
        let answer = LangAnswer::Diagnostics { documents };
        let (status, message) = match left_out {
            0 => (LangStatus::Ready, None),
            _ => (LangStatus::Partial, Some(format!("what it said of {} is left out", changed_files(left_out)))),
        };
        Ok(Some((answer, status, message)))
    }

    /// All problems that it has told of by itself, but for those of texts that have become otherwise since. There may
    /// always be more: nobody says when it has told of all.
    async fn all_published(&self) -> Result<(LangAnswer, LangStatus, Option<String>), Failure> {
        let until = self.until.min(Instant::now() + A_WHILE);
        let hold = self.hold(until).await?;
        self.wait_for_changed(&hold, until).await?;
        let (all, overflowed) = self.client.all_published();
        let stands = hold.stands_with_version();
        let (open, closed): (Vec<_>, Vec<_>) = all.into_iter().partition(|(path, _)| hold.sent.open.contains_key(path));
        let is_current = |(path, published): &(PathBuf, Published)| {
            stands && hold.sent.open.get(path).is_some_and(|synced| synced.is_told_of(published))
        };
        let (mut current, mut old): (Vec<_>, Vec<_>) = open.into_iter().partition(is_current);
        let of_disk = blocking(move || {
            // Of one that is not there any more nothing is left to say.
            let there = closed.into_iter().filter_map(|one| Stamp::of(&one.0).map(|stamp| (stamp, one)));
            there.partition::<Vec<_>, _>(|(stamp, (_, published))| stamp.is_before(published.dated))
        });
        let (same, changed) = of_disk.await.unwrap_or_default();
        current.extend(same.into_iter().map(|(_, one)| one));
        old.extend(changed.into_iter().map(|(_, one)| one));
        current.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut documents = Vec::new();
        for (path, published) in current {
            let diagnostics = answer::diagnostics(&published.diagnostics)?;
            documents.push(LangDiagnostics { uri: paths::to_uri(&path), version: None, diagnostics });
        }
        let mut words = String::from("it tells only of the files that it looked at by itself");
        if !old.is_empty() {
            words.push_str(&format!("; what it said of {} is left out", changed_files(old.len())));
        }
        if overflowed {
            words.push_str("; it told of more problems than are kept");
        }
        Ok((LangAnswer::Diagnostics { documents }, LangStatus::Partial, Some(words)))
    }

    /// Waits until the server has told of all texts that are open and have become otherwise, or this time.
    async fn wait_for_changed(&self, hold: &Hold<'_>, until: Instant) -> Result<(), Failure> {
        let mut news = self.client.news();
        while hold.stands_with_version() && Instant::now() < until {
            if let Some(why) = self.client.ended() {
                return Err(RequestError::Ended(why).into());
            }
            let is_recent = |(_, synced): &(&PathBuf, &Synced)| Instant::now() < synced.sent + A_WHILE;
            let told_at = |(path, synced): (&PathBuf, &Synced)| {
                self.client.published(path).filter(|published| synced.is_told_of(published)).map(|it| it.at)
            };
            let told: Option<Vec<Instant>> = hold.sent.open.iter().filter(is_recent).map(told_at).collect();
            let whole_at = told.map(|told| told.into_iter().max().map_or_else(Instant::now, |last| last + QUIET));
            match whole_at {
                Some(whole_at) if whole_at <= Instant::now() => break,
                whole_at => news.next(whole_at.unwrap_or(until).min(until)).await,
            }
        }
        Ok(())
    }
}

fn changed_files(count: usize) -> String {
    if count == 1 { "1 file that has changed".to_owned() } else { format!("{count} files that have changed") }
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
