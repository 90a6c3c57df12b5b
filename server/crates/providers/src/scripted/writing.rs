//! Playing what a script has for requests that come while the user types: texts to fill in, and next edits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream;
use ports::complete::{Fill, FillEvent, FillInfo, FillStream, NextEdit, Rewritten};
use ports::model::{ModelError, ModelErrorKind};
use tokio::time::{Instant, sleep, timeout_at};

use super::play::pieces;
use super::script::{EditStep, FillStep, Script, ScriptedFailure, ScriptedKind};
use crate::failure::{error, late};

/// The longest prefix and suffix together that it claims, in bytes.
const CONTEXT: usize = 24_000;
/// The most of the text before the cursor that an error repeats, in characters.
const REPEATED: usize = 40;

/// The fills and edits of a script.
pub(super) struct Writing {
    info: FillInfo,
    pause: Duration,
    fills: Turns<FillStep>,
    edits: Turns<EditStep>,
}

/// Answers, of which some come in their turn.
struct Turns<T> {
    steps: Vec<T>,
    /// The number of those without a condition that were played.
    played: AtomicUsize,
}

/// An answer that comes if the text before the cursor ends in a certain way, or in its turn.
trait Conditional {
    fn after(&self) -> Option<&str>;
}

/// The next thing in a fill.
enum Beat {
    Event(FillEvent),
    Failure(ModelError),
    Silence,
}

impl Writing {
    /// The fills and edits of this script, for the model with this id.
    pub(super) fn new(id: &str, script: &Script) -> Self {
        Self {
            info: FillInfo {
                id: id.to_owned(),
                is_local: true,
                price: None,
                context_bytes: CONTEXT,
                control_tokens: Arc::new([]),
            },
            pause: Duration::from_millis(script.delay_ms.unwrap_or_default()),
            fills: Turns::new(script.fills.clone()),
            edits: Turns::new(script.edits.clone()),
        }
    }

    /// Nothing, as in a recording.
    pub(super) fn nothing(id: &str) -> Self {
        let empty = Script {
            name: String::new(),
            steps: Vec::new(),
            delay_ms: None,
            context_tokens: None,
            fills: Vec::new(),
            edits: Vec::new(),
        };
        Self::new(id, &empty)
    }

    pub(super) fn info(&self) -> &FillInfo {
        &self.info
    }

    /// The answer to a request to fill in text.
    pub(super) fn fill(&self, request: &Fill) -> Result<FillStream, ModelError> {
        let step = self.fills.next(&request.prefix).ok_or_else(|| nothing_fits("fill", &request.prefix))?;
        let pause = self.pause(step.delay_ms);
        let mut beats: Vec<(Duration, Beat)> = Vec::new();
        let texts = pieces(step.text.as_deref().unwrap_or_default()).chain(step.pieces.iter().map(String::as_str));
        beats.extend(texts.map(|text| (pause, Beat::Event(FillEvent::Text(text.to_owned())))));
        let last = if beats.is_empty() { pause } else { Duration::ZERO };
        let finished =
            FillEvent::Finished { is_cut: step.cut, usage: step.usage.unwrap_or_default(), cached: step.cached };
        let end = match &step.error {
            _ if step.hang => Beat::Silence,
            Some(failure) => Beat::Failure(failure.into()),
            None => Beat::Event(finished),
        };
        beats.push((last, end));
        let (deadline, span, id) = (after(request.deadline), request.deadline, self.info.id.clone());
        let playing = stream::unfold(Some(beats.into_iter()), move |rest| {
            let id = id.clone();
            async move {
                let mut rest = rest?;
                let (pause, beat) = rest.next()?;
                match timeout_at(deadline, beat.played(pause)).await {
                    Err(_) => Some((Err(late(&id, span)), None)),
                    Ok(event) => Some((event, Some(rest))),
                }
            }
        });
        Ok(Box::pin(playing))
    }

    /// The answer to a request for the next edit.
    pub(super) async fn edit(&self, request: &NextEdit) -> Result<Rewritten, ModelError> {
        let before = request.excerpt.get(..request.cursor).unwrap_or_default();
        let step = self.edits.next(before).ok_or_else(|| nothing_fits("edit", before))?;
        let pause = self.pause(step.delay_ms);
        let answer = async {
            sleep(pause).await;
            if step.hang {
                std::future::pending::<()>().await;
            }
            step.answer(request)
        };
        timeout_at(after(request.deadline), answer).await.unwrap_or_else(|_| Err(late(&self.info.id, request.deadline)))
    }

    fn pause(&self, own: Option<u64>) -> Duration {
        own.map_or(self.pause, Duration::from_millis)
    }
}

impl<T: Conditional> Turns<T> {
    fn new(steps: Vec<T>) -> Self {
        Self { steps, played: AtomicUsize::new(0) }
    }

    /// The answer to a request with this text before the cursor.
    fn next(&self, before: &str) -> Option<&T> {
        let fitting = self.steps.iter().find(|step| step.after().is_some_and(|after| before.ends_with(after)));
        fitting.or_else(|| {
            let played = self.played.fetch_add(1, Ordering::Relaxed);
            self.steps.iter().filter(|step| step.after().is_none()).nth(played)
        })
    }
}

impl Conditional for FillStep {
    fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }
}

impl Conditional for EditStep {
    fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }
}

impl EditStep {
    fn answer(&self, request: &NextEdit) -> Result<Rewritten, ModelError> {
        if let Some(failure) = &self.error {
            return Err(failure.into());
        }
        let text = match (&self.replace, &self.text) {
            (Some(replace), _) => {
                let window = request.excerpt.get(request.window.clone()).unwrap_or_default();
                if !window.contains(&replace.old) {
                    let message = format!("the script would replace `{}`, which the window does not have", replace.old);
                    return Err(error(ModelErrorKind::Rejected, message));
                }
                Some(window.replacen(&replace.old, &replace.new, 1))
            }
            (None, text) => text.clone(),
        };
        Ok(Rewritten { text, is_cut: self.cut, usage: self.usage.unwrap_or_default() })
    }
}

impl Beat {
    async fn played(self, pause: Duration) -> Result<FillEvent, ModelError> {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        match self {
            Self::Event(event) => Ok(event),
            Self::Failure(failure) => Err(failure),
            Self::Silence => std::future::pending().await,
        }
    }
}

impl From<&ScriptedFailure> for ModelError {
    fn from(failure: &ScriptedFailure) -> Self {
        let kind = match failure.kind {
            ScriptedKind::Transient => ModelErrorKind::Transient,
            ScriptedKind::RateLimited => ModelErrorKind::RateLimited { retry_after: None },
            ScriptedKind::Incomplete => ModelErrorKind::Incomplete,
            ScriptedKind::Garbage => ModelErrorKind::Garbage,
            ScriptedKind::Unauthorized => ModelErrorKind::Unauthorized,
            ScriptedKind::Rejected => ModelErrorKind::Rejected,
        };
        error(kind, failure.message.clone())
    }
}

/// The time after so long. A span that no clock can hold is no limit that anybody meant.
fn after(span: Duration) -> Instant {
    Instant::now().checked_add(span).unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400))
}

fn nothing_fits(what: &str, before: &str) -> ModelError {
    let skipped = before.chars().count().saturating_sub(REPEATED);
    let end: String = before.chars().skip(skipped).collect();
    let message = format!("the script has no {what} for a text that ends with `{}`", end.escape_debug());
    error(ModelErrorKind::Rejected, message)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use ports::complete::{Complete, EditNext};
    use serde_json::{Value, json};

    use super::super::Scripted;
    use super::*;

    fn scripted(script: Value) -> Scripted {
        Scripted::from_json(&script.to_string()).unwrap()
    }

    fn request(prefix: &str) -> Fill {
        Fill {
            path: "a.rs".into(),
            language: "rust".into(),
            prefix: prefix.into(),
            suffix: String::new(),
            extra: Vec::new(),
            max_tokens: 64,
            stops: Vec::new(),
            is_varied: false,
            deadline: Duration::from_secs(2),
        }
    }

    fn next(before: &str) -> NextEdit {
        NextEdit {
            path: "a.rs".into(),
            language: "rust".into(),
            excerpt: format!("{before};\n"),
            excerpt_line: 0,
            window: 0..before.len() + 2,
            cursor: before.len(),
            history: Vec::new(),
            related: Vec::new(),
            problems: Vec::new(),
            deadline: Duration::from_secs(2),
        }
    }

    async fn fill(model: &Scripted, prefix: &str) -> (Vec<String>, Result<bool, ModelError>) {
        let mut texts = Vec::new();
        let mut stream = match model.fill(request(prefix)).await {
            Ok(stream) => stream,
            Err(failure) => return (texts, Err(failure)),
        };
        while let Some(event) = stream.next().await {
            match event {
                Ok(FillEvent::Text(text)) => texts.push(text),
                Ok(FillEvent::Finished { is_cut, .. }) => {
                    assert!(stream.next().await.is_none(), "nothing comes after the end");
                    return (texts, Ok(is_cut));
                }
                Err(failure) => {
                    assert!(stream.next().await.is_none(), "nothing comes after an error");
                    return (texts, Err(failure));
                }
            }
        }
        panic!("the stream ended without an end");
    }

    #[tokio::test]
    async fn a_fill_comes_by_the_end_of_the_prefix_or_in_its_turn() {
        let model = scripted(json!({"name": "t", "fills": [
            {"text": "first"},
            {"after": "fn add(", "pieces": ["a", ", b)"], "cut": true},
            {"text": "second"},
        ]}));
        assert_eq!(Complete::info(&model).id, "scripted/t");
        assert_eq!(fill(&model, "x").await, (vec!["first".into()], Ok(false)));
        for _ in 0..2 {
            assert_eq!(fill(&model, "fn add(").await, (vec!["a".into(), ", b)".into()], Ok(true)));
        }
        assert_eq!(fill(&model, "x").await.0, ["second"]);
        let failure = fill(&model, "let y = ").await.1.unwrap_err();
        assert!(failure.message.contains("`let y = `"), "{failure}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_fill_can_be_slow_hang_and_fail() {
        let model = scripted(json!({"name": "t", "delayMs": 100, "fills": [
            {"after": "slow", "pieces": ["a", "b"]},
            {"after": "hang", "pieces": ["a"], "hang": true},
            {"after": "late", "text": "a", "delayMs": 5000},
            {"after": "fail", "pieces": ["a"], "error": {"kind": "rateLimited", "message": "no"}},
            {"after": "empty"},
        ]}));
        let started = Instant::now();
        assert_eq!(fill(&model, "slow").await.0, ["a", "b"]);
        assert_eq!(started.elapsed(), Duration::from_millis(200));
        for prefix in ["hang", "late"] {
            let started = Instant::now();
            let failure = fill(&model, prefix).await.1.unwrap_err();
            assert_eq!((failure.kind, started.elapsed()), (ModelErrorKind::Incomplete, Duration::from_secs(2)));
        }
        let (texts, failure) = fill(&model, "fail").await;
        assert_eq!(
            (texts, failure.unwrap_err().kind),
            (vec!["a".into()], ModelErrorKind::RateLimited { retry_after: None })
        );
        assert_eq!(fill(&model, "empty").await, (vec![], Ok(false)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_edit_replaces_a_part_of_the_window_or_all_of_it_or_nothing() {
        let model = scripted(json!({"name": "t", "edits": [
            {"after": "let a", "replace": {"old": "a;", "new": "b;"}},
            {"after": "let c", "text": "whole\n"},
            {"after": "let d", "replace": {"old": "nowhere", "new": ""}},
            {"after": "let e", "hang": true},
            {"after": "let f", "error": {"message": "overloaded"}},
            {},
        ]}));
        let edit = async |before: &str| model.edit(next(before)).await;
        assert_eq!(edit("let a").await.unwrap().text.as_deref(), Some("let b;\n"));
        assert_eq!(edit("let c").await.unwrap().text.as_deref(), Some("whole\n"));
        assert_eq!(edit("let d").await.unwrap_err().kind, ModelErrorKind::Rejected);
        assert_eq!(edit("let e").await.unwrap_err().kind, ModelErrorKind::Incomplete);
        assert_eq!(edit("let f").await.unwrap_err().kind, ModelErrorKind::Transient);
        assert_eq!(edit("x").await.unwrap().text, None);
        assert_eq!(edit("x").await.unwrap_err().kind, ModelErrorKind::Rejected);
    }
}
