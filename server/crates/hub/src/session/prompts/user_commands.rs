//! The user's own commands, `!command` and `!!command`: they run in the session's shell, at once, whether a turn runs
//! or not, and nobody is asked. What they change is the user's own doing, neither reviewed nor undone with a turn.

use std::sync::Arc;

use agent::commands::UserCommand;
use project::results::Results;
use protocol::event::Severity;
use protocol::terminal::Typist;
use protocol::turn::TurnStartResult;
use protocol::{ErrorCode, Event, ToolCallId};
use shell::{MAX_TIMEOUT, Ran, RunOptions, Shell, ShellError};

use super::Message;
use crate::feed::blocking;
use crate::session::{Caller, Own, Session, state};
use crate::{Error, Reply};

/// The end of a command of the user's own.
pub(in crate::session) struct UserEnd {
    id: ToolCallId,
    text: String,
    exit_code: Option<i32>,
    duration_ms: u64,
}

impl Session {
    /// Runs a command of the user's own. What comes of it comes as events.
    ///
    /// # Errors
    /// It is none, or the shell is busy.
    fn run_user_command(&mut self, caller: Caller, command: Result<UserCommand, String>) -> Result<(), Error> {
        let invalid = |text| Error::new(ErrorCode::InvalidParams, text);
        let UserCommand { command, in_context } = command.map_err(invalid)?;
        if self.terminals.shell().status().borrow().taken {
            let text = "you have taken the session's terminal over: type the command there, or hand it back first";
            return Err(Error::new(ErrorCode::OperationFailed, text));
        }
        if let Some(running) = self.terminals.shell().running() {
            let text = format!(
                "the session's shell is busy with `{}`: wait for its end, stop it, or type into its terminal",
                state::short(&running.command)
            );
            return Err(Error::new(ErrorCode::OperationFailed, text));
        }
        let id = ToolCallId::new(self.ids.next("user"));
        self.record(Event::UserCommandStarted { tool_call_id: id.clone(), command: command.clone(), in_context });
        let (workspace, word) = (self.gate.trust().clone(), caller.trust.clone());
        let cancel = self.prompts.begin_command(id.clone(), caller);
        let (shell, results, own) =
            (Arc::clone(self.terminals.shell()), self.reading.results.clone(), self.work.own.clone());
        tokio::spawn(async move {
            // A shell that it starts is one for a workspace that is trusted, or is not.
            let _ = blocking(move || Ok(workspace.decided(&word))).await;
            // A prompt that was just handed back is on its way out.
            shell.at_prompt_no_more().await;
            let options = RunOptions { timeout: MAX_TIMEOUT, cancel, by: Typist::User, ..RunOptions::default() };
            let ran = shell.run(&id, &command, options).await;
            let _ = own.send(Own::Prompts(Message::CommandEnded(ended(id, ran, shell, results).await)));
        });
        Ok(())
    }

    /// Answers a prompt that is a command of the user's own.
    pub(super) fn start_user_command(
        &mut self,
        caller: Caller,
        command: Result<UserCommand, String>,
        reply: Reply<TurnStartResult>,
    ) {
        let started = self.run_user_command(caller, command);
        self.answer_when_stored(reply, started.map(|()| TurnStartResult { turn_id: None, switch_to: None }));
    }

    /// Runs a waiting prompt that is a command of the user's own.
    pub(super) fn run_queued(&mut self, caller: Caller, command: Result<UserCommand, String>) {
        if let Err(error) = self.run_user_command(caller, command) {
            let text = format!("a waiting command was not run: {error}");
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
    }

    /// The user's command has ended.
    pub(super) fn user_command_ended(&mut self, end: UserEnd) {
        self.prompts.end_command(&end.id);
        let UserEnd { id: tool_call_id, text, exit_code, duration_ms } = end;
        self.record(Event::UserCommandEnded { tool_call_id, text, exit_code, duration_ms });
        // It may have changed any file.
        self.reading.search.forget_files();
        self.texts_changed();
        // After a command that was stopped the user is to decide what happens to what waits.
        if self.prompts.makes_way || (self.prompts.went_well && exit_code.is_some()) {
            self.next_in_queue();
        }
    }

    /// The commands that ran when the last process ended came to no end of their own.
    pub(in crate::session) fn end_lost_user_commands(&mut self) {
        for tool_call_id in std::mem::take(&mut self.state.user_commands) {
            let text = "[interrupted: Azimuth ended before the command did]".to_owned();
            self.record(Event::UserCommandEnded { tool_call_id, text, exit_code: None, duration_ms: 0 });
        }
    }
}

/// Returns the end of a command, as a model reads it.
async fn ended(id: ToolCallId, ran: Result<Ran, ShellError>, shell: Arc<Shell>, results: Results) -> UserEnd {
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => {
            let text = format!("[not run: {error}]");
            return UserEnd { id, text, exit_code: None, duration_ms: 0 };
        }
    };
    let mut lines: Vec<String> = Vec::new();
    let output = ran.output.trim_end_matches('\n');
    lines.extend((!output.is_empty()).then(|| output.to_owned()));
    if ran.is_cut {
        let (start, end) = (ran.start_offset, ran.end_offset);
        let kept = tokio::task::spawn_blocking(move || {
            let mut keeper = results.keeper()?;
            let lost = shell.printed(start, end, &mut keeper)?;
            keeper.finish().map(|handle| (handle, lost))
        });
        let how = kept.await.ok().and_then(Result::ok).map(|(handle, lost)| {
            let but = (lost > 0).then(|| format!("its first {lost} bytes"));
            tools::how_to_read(&handle, but.as_deref())
        });
        let how = how.unwrap_or_else(|| "the rest could not be kept".to_owned());
        lines.push(format!("[not all of its output is shown: {how}]"));
    }
    lines.extend(ran.note.map(|note| format!("[{note}]")));
    let duration_ms = u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX);
    UserEnd { id, text: lines.join("\n"), exit_code: ran.exit_code, duration_ms }
}
