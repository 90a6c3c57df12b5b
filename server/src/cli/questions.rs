//! Questions on the command line: put to whoever sits there, or answered by what the arguments say.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

use hub::visible;
use permission::{FOR_A_PERSON, steers_us};
use protocol::form::{Form, FormAnswer, FormQuestion};
use protocol::permission::{
    PermissionAbout, PermissionAnswerParams, PermissionOption, PermissionOptionKind, PermissionRequest,
};
use protocol::review::{HunkState, Proposal};
use protocol::{HunkId, PermissionId, SessionId};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::signals::Signals;
use super::style::Style;
use super::view::View;
use crate::front::words::of_assumption;

/// Who answers.
pub(super) enum Answerer {
    /// `--yes`.
    Yes,
    /// The user, line by line.
    User(User),
    /// Nobody: standard input is no terminal.
    Nobody,
}

/// Who sits at the terminal.
pub(super) struct User {
    lines: mpsc::UnboundedReceiver<String>,
    signals: Signals,
}

impl User {
    /// The next line. None if the input ended, or the user wants to stop.
    async fn line(&mut self) -> Option<String> {
        tokio::select! {
            line = self.lines.recv() => line,
            () = self.signals.received(1) => None,
        }
    }

    /// Has a form filled in, a question after the other. Empty if it is dismissed. None if the input ended, or the user
    /// wants to stop.
    async fn form<W: io::Write>(
        &mut self,
        view: &mut View<W>,
        style: Style,
        form: &Form,
    ) -> io::Result<Option<Vec<FormAnswer>>> {
        let until = form.timeout_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
        let mut answers = Vec::new();
        for question in &form.questions {
            let header = visible::line(&question.header);
            view.line(&style.bold(format!("{header}: {}", visible::line(&question.question))))?;
            for (number, option) in (1..).zip(&question.options) {
                let recommended = if option.recommended { style.dim(" (recommended)") } else { String::new() };
                view.line(&format!("  {} {}{recommended}", style.cyan(number), visible::line(&option.label)))?;
                if !option.description.is_empty() {
                    view.line(&style.dim(format!("    {}", visible::line(&option.description))))?;
                }
            }
            let how = if question.multiple { "numbers, such as 1,2" } else { "a number" };
            let assumed = of_assumption(question);
            let words = format!("{how}, your own words, Enter for {}, or - to dismiss", visible::line(&assumed));
            view.line(&style.dim(format!("  {words}")))?;
            loop {
                view.prompt("  > ")?;
                let line = match until {
                    None => self.line().await,
                    Some(until) => match tokio::time::timeout_at(until, self.line()).await {
                        Ok(line) => line,
                        // The session goes on at the same time, and so must whoever waits for its events.
                        Err(_) => {
                            view.answered();
                            view.line(&style.yellow("  the time is up: the model continues with its assumptions"))?;
                            answers.resize_with(form.questions.len(), FormAnswer::default);
                            return Ok(Some(answers));
                        }
                    },
                };
                let Some(line) = line else { return Ok(None) };
                view.answered();
                match line.trim() {
                    "-" => return Ok(Some(Vec::new())),
                    said => match read(question, said) {
                        Some(answer) => break answers.push(answer),
                        None => view.line(&style.yellow("  there is no such option, or more than one"))?,
                    },
                }
            }
        }
        Ok(Some(answers))
    }
}

/// The answer that a line is to a question; none if it is of numbers that do not fit.
fn read(question: &FormQuestion, line: &str) -> Option<FormAnswer> {
    if line.is_empty() {
        return Some(FormAnswer { chosen: question.assumed(), other: None });
    }
    let parts = line.split([',', ' ']).filter(|part| !part.is_empty());
    let numbers: Result<BTreeSet<usize>, _> = parts.map(str::parse).collect();
    let Ok(numbers) = numbers else { return Some(FormAnswer { chosen: Vec::new(), other: Some(line.to_owned()) }) };
    let fits = numbers.iter().all(|number| (1..=question.options.len()).contains(number));
    let is_answer = fits && (question.multiple || numbers.len() == 1);
    is_answer.then(|| FormAnswer { chosen: numbers.iter().map(|number| number - 1).collect(), other: None })
}

/// An answer to a question for permission.
pub(super) struct Chosen {
    pub(super) permission_id: PermissionId,
    pub(super) option_id: String,
    pub(super) message: Option<String>,
    /// The answers to a form.
    pub(super) answers: Vec<FormAnswer>,
    /// True if it says no.
    pub(super) refused: bool,
}

impl Chosen {
    /// The answer as the session takes it.
    pub(super) fn params(self, session_id: SessionId) -> PermissionAnswerParams {
        let Self { permission_id, option_id, message, answers, .. } = self;
        PermissionAnswerParams { session_id, permission_id, option_id, message, answers }
    }
}

/// The decision on a proposal's pending hunks.
#[derive(Default)]
pub(super) struct Decided {
    pub(super) accepted: Vec<HunkId>,
    pub(super) rejected: Vec<HunkId>,
    pub(super) message: Option<String>,
}

/// The message to the model if nobody could be asked.
const NOBODY: &str =
    "nobody could be asked: this run has no terminal, and neither --yes nor a matching --allow was given";

/// The message to the model if nobody was asked what it wants to know.
const NOBODY_ASKED: &str = "nobody: this run asks nobody, so ask no more";

/// The message to the model if `--yes` is no answer.
const NOT_BY_YES: &str = "only a person can allow this; --yes does not";

/// The message if nobody was asked about something that goes beyond the run.
const NOT_HERE: &str = "Not in this run.";

/// The message if nobody was asked about trust in the folder.
const NOT_TRUSTED: &str = "Not in this run: nothing that it supplies runs, unless --trust is given.";

impl Answerer {
    /// Whoever can answer in this process.
    pub(super) fn new(yes: bool, signals: &Signals) -> Self {
        if yes {
            Self::Yes
        } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
            Self::User(User { lines: lines(), signals: signals.clone() })
        } else {
            Self::Nobody
        }
    }

    /// Answers a question for permission. None if the input ended, or the user wants to stop.
    pub(super) async fn permission<W: io::Write>(
        &mut self,
        view: &mut View<W>,
        style: Style,
        request: &PermissionRequest,
    ) -> io::Result<Option<Chosen>> {
        let option = |kinds: &[PermissionOptionKind]| {
            kinds.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind))
        };
        let chosen = |option: &PermissionOption, message: Option<String>| Chosen {
            permission_id: request.permission_id.clone(),
            option_id: option.option_id.clone(),
            message,
            answers: Vec::new(),
            refused: is_refusal(option.kind),
        };
        let reject = option(&[PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]);
        match self {
            Self::Yes | Self::Nobody if let Some(form) = &request.form => {
                for question in &form.questions {
                    let (header, assumed) = (visible::line(&question.header), of_assumption(question));
                    let words = format!("  {header}: nobody was asked; assumed: {}", visible::line(&assumed));
                    view.line(&style.yellow(words))?;
                }
                let send = option(&[PermissionOptionKind::AllowOnce]);
                Ok(send.map(|option| chosen(option, Some(NOBODY_ASKED.into()))))
            }
            Self::User(user) if let Some(form) = &request.form => {
                let Some(answers) = user.form(view, style, form).await? else { return Ok(None) };
                let kind =
                    if answers.is_empty() { PermissionOptionKind::RejectOnce } else { PermissionOptionKind::AllowOnce };
                let found = option(&[kind]);
                Ok(found.map(|option| Chosen { answers, refused: false, ..chosen(option, None) }))
            }
            // The run goes on without what was asked for.
            Self::Yes | Self::Nobody if let Some(left_out) = beyond_this_run(request.about) => {
                view.line(&style.yellow(format!("  {} {left_out}", visible::line(&request.title))))?;
                Ok(reject.map(|option| Chosen { refused: false, ..chosen(option, None) }))
            }
            // Nor has yes been said of what a rule may deny, or of what says what the agent may do.
            Self::Yes if request.reason.contains(FOR_A_PERSON) => {
                view.line(&style.yellow(format!(
                    "  {}: rejected, {}",
                    visible::line(&request.title),
                    visible::line(&request.reason)
                )))?;
                Ok(reject.map(|option| chosen(option, Some(NOT_BY_YES.into()))))
            }
            Self::Yes => {
                let allow = option(&[PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]);
                Ok(allow.or(reject).map(|option| chosen(option, None)))
            }
            Self::Nobody => {
                view.line(&style.yellow(format!("  {}: rejected, {NOBODY}", visible::line(&request.title))))?;
                Ok(reject.map(|option| chosen(option, Some(NOBODY.into()))))
            }
            Self::User(user) => {
                view.line(&style.bold(visible::line(&request.title)))?;
                for line in request.detail.lines() {
                    view.line(&format!("  {}", visible::line(line)))?;
                }
                view.line(&style.dim(format!("  {}", visible::line(&request.reason))))?;
                for (number, option) in request.options.iter().enumerate() {
                    view.line(&format!("  {} {}", style.cyan(number + 1), visible::line(&option.name)))?;
                }
                loop {
                    view.prompt(&format!("  1-{}> ", request.options.len()))?;
                    let Some(line) = user.line().await else { return Ok(None) };
                    view.answered();
                    let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                    if let Some(option) = number.and_then(|number| request.options.get(number)) {
                        let refused = is_refusal(option.kind) && beyond_this_run(request.about).is_none();
                        return Ok(Some(Chosen { refused, ..chosen(option, None) }));
                    }
                }
            }
        }
    }

    /// Decides on a proposal's pending hunks. `allowed`: a rule accepts edits. None if the input ended, or the user
    /// wants to stop.
    pub(super) async fn review<W: io::Write>(
        &mut self,
        view: &mut View<W>,
        style: Style,
        proposal: &Proposal,
        allowed: bool,
    ) -> io::Result<Option<Decided>> {
        let pending: Vec<_> = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).collect();
        let all: Vec<HunkId> = pending.iter().map(|hunk| hunk.hunk_id.clone()).collect();
        match self {
            Self::Yes if steers_us(Path::new(&proposal.path)) => {
                view.line(
                    &style
                        .yellow(format!("  the change of {} is rejected: {NOT_BY_YES}", visible::line(&proposal.path))),
                )?;
                Ok(Some(Decided { rejected: all, ..Decided::default() }))
            }
            Self::Yes => Ok(Some(Decided { accepted: all, ..Decided::default() })),
            _ if allowed => Ok(Some(Decided { accepted: all, ..Decided::default() })),
            Self::Nobody => {
                let path = visible::line(&proposal.path);
                view.line(&style.yellow(format!("  the change of {path} is rejected: {NOBODY}")))?;
                // It is no word of the user's, which the turn would have to answer.
                Ok(Some(Decided { rejected: all, ..Decided::default() }))
            }
            Self::User(user) => {
                let mut decided = Decided::default();
                let mut rest = pending.into_iter().enumerate();
                while let Some((number, hunk)) = rest.next() {
                    let question = match all.len() {
                        1 => "accept (y) or reject (n)".to_owned(),
                        of => format!("hunk {} of {of}: accept (y), reject (n), all from here (a, d)", number + 1),
                    };
                    loop {
                        view.prompt(&format!("  {question}> "))?;
                        let Some(line) = user.line().await else { return Ok(None) };
                        view.answered();
                        match line.trim() {
                            "y" => decided.accepted.push(hunk.hunk_id.clone()),
                            "n" => decided.rejected.push(hunk.hunk_id.clone()),
                            "a" => {
                                decided.accepted.push(hunk.hunk_id.clone());
                                decided.accepted.extend(rest.by_ref().map(|(_, hunk)| hunk.hunk_id.clone()));
                            }
                            "d" => {
                                decided.rejected.push(hunk.hunk_id.clone());
                                decided.rejected.extend(rest.by_ref().map(|(_, hunk)| hunk.hunk_id.clone()));
                            }
                            _ => continue,
                        }
                        break;
                    }
                }
                Ok(Some(decided))
            }
        }
    }
}

/// The words about a subject that `--yes` does not answer: whoever says yes to what a run does has not said so of what
/// lasts for good, such as trust in the folder or a program of the project's, nor of more money than the user's own
/// budget.
fn beyond_this_run(about: PermissionAbout) -> Option<&'static str> {
    match about {
        PermissionAbout::Trust => Some(NOT_TRUSTED),
        PermissionAbout::Program | PermissionAbout::Budget => Some(NOT_HERE),
        PermissionAbout::ToolCall
        | PermissionAbout::PendingEdits
        | PermissionAbout::UnsavedText
        | PermissionAbout::Form
        | PermissionAbout::Outside => None,
    }
}

fn is_refusal(kind: PermissionOptionKind) -> bool {
    matches!(kind, PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways)
}

/// The lines of standard input. They are read on a thread of their own, which nothing can wake once it reads; so it is
/// left alone at the end.
pub(super) fn lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    let read = move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    // If the system gives no more threads, it is as if the input had ended.
    let _ = std::thread::Builder::new().spawn(read);
    lines
}
