//! The words that the views that are text have in common.

use protocol::permission::{PermissionOutcome, PermissionRequest};
use protocol::terminal::{Ready, TerminalInfo};

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

/// The answer to a question: the name of the option that was chosen.
pub(crate) fn of_answer<'a>(question: &'a PermissionRequest, outcome: &'a PermissionOutcome) -> &'a str {
    match outcome {
        PermissionOutcome::Selected { option_id, .. } => {
            let option = question.options.iter().find(|option| option.option_id == *option_id);
            option.map_or(option_id, |option| &option.name)
        }
        PermissionOutcome::Cancelled => "not answered",
        PermissionOutcome::Moot => "settled in another way",
    }
}

/// The end of a command of the user's own.
pub(crate) fn of_exit(exit_code: Option<i32>) -> String {
    exit_code.map_or_else(|| "stopped, or not run".to_owned(), |code| format!("exit code {code}"))
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
