//! The words that the views that are text have in common.

use std::time::Duration;

use protocol::compaction::Compaction;
use protocol::form::{FormAnswer, FormQuestion};
use protocol::model::{AccountSwitch, SwitchReason};
use protocol::permission::{PermissionOutcome, PermissionRequest};
use protocol::terminal::{Ready, TerminalInfo};

/// A turn's change of its model, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Switch<'e> {
    pub(crate) model: &'e str,
    pub(crate) instead_of: &'e str,
    pub(crate) reason: SwitchReason,
    /// The time until which the other one is let rest, in milliseconds since 1970.
    pub(crate) until: Option<u64>,
    pub(crate) error: Option<&'e str>,
    /// The accounts, if the model stays and another account of its provider goes on.
    pub(crate) account: Option<&'e AccountSwitch>,
}

/// The status of a command in the background: `job-1 (npm run dev) is up: it listens on port 5173`.
pub(crate) fn of_job(job: &TerminalInfo) -> String {
    let id = &job.terminal_id;
    let command = job.title.lines().next().unwrap_or_default();
    let how = match (job.alive, job.exit_code, &job.ready) {
        (true, _, None) => "runs in the background".to_owned(),
        (true, _, Some(ready)) => format!("is up{}", what_shows(ready)),
        (false, Some(code), _) => format!("ended with exit code {code}"),
        (false, None, _) => "was stopped".to_owned(),
    };
    format!("{id} ({command}) {how}")
}

/// The answer to a question: the name of the option that was chosen, or what was filled in.
pub(crate) fn of_answer(question: &PermissionRequest, outcome: &PermissionOutcome) -> String {
    match outcome {
        PermissionOutcome::Selected { answers, .. } if !answers.is_empty() => {
            let questions = question.form.iter().flat_map(|form| &form.questions);
            questions.zip(answers).map(|(question, answer)| filled(question, answer)).collect::<Vec<_>>().join("; ")
        }
        PermissionOutcome::Selected { option_id, .. } => {
            let option = question.options.iter().find(|option| option.option_id == *option_id);
            option.map_or(option_id, |option| &option.name).clone()
        }
        PermissionOutcome::Cancelled => "not answered".to_owned(),
        PermissionOutcome::TimedOut => "not answered in time; what is recommended is assumed".to_owned(),
        PermissionOutcome::Moot => "settled in another way".to_owned(),
    }
}

/// That a handover replaces the earlier part of a conversation, with how much shorter it is.
pub(crate) fn of_handover(compaction: &Compaction) -> String {
    let Compaction { before, after, .. } = compaction;
    let (before, after) = (tokens(*before), tokens(*after));
    format!("A handover replaces the earlier part of the conversation: {after} tokens instead of {before}.")
}

/// That the user changed a handover.
pub(crate) fn of_changed_handover(is_back: bool) -> &'static str {
    if is_back { "The handover is taken back." } else { "The handover is corrected." }
}

/// A number of tokens as people say it: `12.3k`.
fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{:.1}k", count as f64 / 1_000.0),
        _ => format!("{}k", count / 1_000),
    }
}

fn filled(question: &FormQuestion, answer: &FormAnswer) -> String {
    let label = |place: &usize| question.options.get(*place).map(|option| option.label.clone());
    let words = answer.words().map(|words| format!("“{words}”"));
    let parts: Vec<_> = answer.chosen.iter().filter_map(label).chain(words).collect();
    let said = if parts.is_empty() { "left open".to_owned() } else { parts.join(", ") };
    format!("{}: {said}", question.header)
}

/// The options that are assumed for a question that is left open.
pub(crate) fn of_assumption(question: &FormQuestion) -> String {
    let label = |place: usize| question.options.get(place).map(|option| option.label.as_str());
    question.assumed().into_iter().filter_map(label).collect::<Vec<_>>().join(", ")
}

/// The end of a command of the user's own.
pub(crate) fn of_exit(exit_code: Option<i32>) -> String {
    exit_code.map_or_else(|| "stopped, or not run".to_owned(), |code| format!("exit code {code}"))
}

/// That a request is tried again.
pub(crate) fn of_retry(attempt: u32, of: Option<u32>, delay: Duration, reason: &str) -> String {
    let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
    let when = if delay.is_zero() { "now".to_owned() } else { format!("in {}", span(delay)) };
    format!("{}; retry {attempt}{of} {when}", reason.trim_end_matches('.'))
}

/// That a turn goes on with another model, or another account; `now` is in milliseconds since 1970.
pub(crate) fn of_switch(switch: &Switch<'_>, now: u64) -> String {
    let Switch { model, instead_of, reason, until, error, account } = *switch;
    let provider = model.split('/').next().unwrap_or_default();
    let named = |account: &str| format!("{provider} ({account})");
    let accounts = account.map(|account| (named(&account.name), named(&account.instead_of)));
    let (model, instead_of) = accounts.as_ref().map_or((model, instead_of), |(name, before)| (name, before));
    let left = until.and_then(|until| until.checked_sub(now)).map(Duration::from_millis).map(span);
    let rest = left.map(|left| format!(" for the next {left}")).unwrap_or_default();
    let what = match reason {
        SwitchReason::RateLimited => format!("{instead_of} takes no more requests{rest}"),
        SwitchReason::QuotaUsedUp => format!("the quota of {instead_of} is used up"),
        SwitchReason::Unauthorized => format!("{instead_of} cannot be asked"),
        SwitchReason::Failed => format!("{instead_of} failed and is not asked{rest}"),
        SwitchReason::ContextFull => format!("the conversation no longer fits into {instead_of}"),
    };
    let why = error.filter(|_| matches!(reason, SwitchReason::QuotaUsedUp | SwitchReason::Unauthorized));
    let why = why.map(|why| format!(" ({})", why.trim_end_matches('.'))).unwrap_or_default();
    format!("{what}{why}; {model} continues")
}

/// A span of time: `40 s`, `3 min`, `2 h 5 min`.
fn span(span: Duration) -> String {
    // A time that is nearly over is not said to be.
    let seconds = span.as_millis().div_ceil(1_000);
    match (seconds / 3_600, seconds.div_ceil(60) % 60) {
        _ if seconds < 120 => format!("{seconds} s"),
        _ if seconds < 3_540 => format!("{} min", seconds.div_ceil(60)),
        (hours, 0) => format!("{} h", hours.max(1)),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn what_shows(ready: &Ready) -> String {
    let ports: Vec<_> = ready.ports.iter().map(u16::to_string).collect();
    match (ports.as_slice(), &ready.line) {
        ([], None) => String::new(),
        ([], Some(line)) => format!(": {line}"),
        ([port], _) => format!(": it listens on port {port}"),
        (ports, _) => format!(": it listens on ports {}", ports.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use protocol::terminal::{SandboxMode, TerminalKind};

    use super::*;

    #[test]
    fn what_is_waited_for_and_who_goes_on_is_said_in_words() {
        let retry = |seconds| of_retry(2, Some(3), Duration::from_secs(seconds), "x got too many requests.");
        assert_eq!(retry(17), "x got too many requests; retry 2 of 3 in 17 s");
        assert_eq!(retry(0), "x got too many requests; retry 2 of 3 now");
        let switch = |reason, until| {
            let error = Some("x says that no credit is left. Add credit.");
            of_switch(&Switch { model: "b", instead_of: "a", reason, until, error, account: None }, 1_000)
        };
        let limited = |until| switch(SwitchReason::RateLimited, Some(until));
        assert_eq!(limited(3_601_000), "a takes no more requests for the next 1 h; b continues");
        assert_eq!(limited(7_501_000), "a takes no more requests for the next 2 h 5 min; b continues");
        assert_eq!(limited(301_000), "a takes no more requests for the next 5 min; b continues");
        assert_eq!(limited(999), "a takes no more requests; b continues", "that was long ago");
        let broke = "the quota of a is used up (x says that no credit is left. Add credit); b continues";
        assert_eq!(switch(SwitchReason::QuotaUsedUp, None), broke);
        assert_eq!(switch(SwitchReason::ContextFull, None), "the conversation no longer fits into a; b continues");
        let account = AccountSwitch { name: "work".into(), instead_of: "OPENAI_API_KEY".into() };
        let (model, reason, account) = ("openai/m", SwitchReason::RateLimited, Some(&account));
        let of_accounts =
            of_switch(&Switch { model, instead_of: model, reason, until: Some(61_000), error: None, account }, 1_000);
        let words = "openai (OPENAI_API_KEY) takes no more requests for the next 60 s; openai (work) continues";
        assert_eq!(of_accounts, words);
    }

    #[test]
    fn a_job_is_said_to_run_to_be_up_and_to_have_ended() {
        let mut job = TerminalInfo {
            terminal_id: "job-1".into(),
            kind: TerminalKind::Job,
            title: "npm run dev\n# more".into(),
            cwd: "/p".into(),
            sandbox: SandboxMode::Full,
            alive: true,
            running: None,
            waiting: None,
            taken: false,
            ready: None,
            started_at: 1,
            ended_at: None,
            exit_code: None,
            end: 0,
        };
        assert_eq!(of_job(&job), "job-1 (npm run dev) runs in the background");
        job.ready = Some(Ready { line: Some("Ready!".into()), ports: vec![] });
        assert_eq!(of_job(&job), "job-1 (npm run dev) is up: Ready!");
        job.ready = Some(Ready { line: Some("Ready!".into()), ports: vec![80, 443] });
        assert_eq!(of_job(&job), "job-1 (npm run dev) is up: it listens on ports 80, 443");
        job.alive = false;
        assert_eq!(of_job(&job), "job-1 (npm run dev) was stopped");
        job.exit_code = Some(1);
        assert_eq!(of_job(&job), "job-1 (npm run dev) ended with exit code 1");
    }
}
