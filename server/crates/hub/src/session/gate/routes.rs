//! The session's handling of the requests and messages for its gate.

use std::sync::Arc;

use ports::session::Answer;
use protocol::mode::{Mode, Runs};
use protocol::permission::{PermissionAnswerParams, PermissionAnswerResult, PermissionRequest};
use protocol::review::{AutoScope, ReviewAutoParams};
use protocol::session::SessionModeParams;
use protocol::terminal::Done;
use protocol::{PermissionId, TurnId, methods};
use tokio::sync::oneshot;

use super::{Answered, Closed, Follow, Message, Stand, refused};
use crate::post;
use crate::request::Handlers;
use crate::session::{Caller, Session};
use crate::trust::Word;
use crate::{Error, Reply};

/// Registers the requests about what may be done, and what was asked.
pub(in crate::session) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .at_once::<methods::PermissionAnswer>(Session::answer)
        .on::<methods::PermissionList>(|session, caller, _, reply| session.gate.list(&caller.trust, reply))
        .on::<methods::PermissionRevoke>(|session, _, params, reply| {
            session.gate.revoke(params, reply, &session.config, session.state.mode);
        })
        .on::<methods::SessionMode>(|session, _, params, reply| session.set_mode(&params, reply))
        .on::<methods::ReviewAuto>(|session, _, params, reply| session.accept_edits(&params, reply));
}

impl Session {
    /// Takes what comes back for the gate.
    pub(in crate::session) fn gate_message(&mut self, message: Message) {
        match message {
            // Nobody sees the questions of a session that another one started, unless somebody has opened it.
            Message::Ask(_, _, asker) if self.state.parent.is_some() && self.clients.followers().next().is_none() => {
                let _ = asker.send(Answer::Nobody);
            }
            Message::Ask(turn, request, asker) => self.ask(turn, request, asker),
            Message::TimedOut(id) => {
                let closed = self.gate.timed_out(&id);
                self.record_closed(closed);
            }
            Message::Grant(rule, scope, done) => {
                self.gate.grant(rule, scope, done, &self.config, self.state.mode);
            }
            Message::ProgramWanted(reply) => self.program_wanted(reply),
            Message::AlwaysKept(on, kept, reply) => {
                self.work.end();
                if let Err(error) = kept {
                    return drop(reply.send(Err(Error::from(error))));
                }
                let events = self.gate.always_kept(on, &self.config);
                self.record_all(events);
                self.shared.post(None, post::Message::Always(self.gate.project().into(), on));
                self.answer_when_stored(reply, Ok(Done {}));
            }
            Message::TrustRead(decided) => self.trust_read(decided),
            Message::TrustKept(caller) => {
                self.work.end();
                self.resume_turn(caller, None, Answer::Moot);
            }
        }
    }

    /// Puts the session into another mode, from its next turn on.
    fn set_mode(&mut self, params: &SessionModeParams, reply: Reply<Done>) {
        let is_confirmed = params.confirmed || self.state.mode.needs_confirmation();
        if let Some(error) = refused(&self.config, params.mode, is_confirmed) {
            return drop(reply.send(Err(error)));
        }
        self.enter(params.mode);
        self.answer_when_stored(reply, Ok(Done {}));
    }

    /// Puts the session into a mode that it may be in.
    pub(in crate::session) fn enter(&mut self, mode: Mode) {
        let entered = self.gate.enter(mode, self.state.mode, &self.config);
        self.record_all(entered);
    }

    /// Has edits accepted automatically from now on, or no longer.
    fn accept_edits(&mut self, params: &ReviewAutoParams, reply: Reply<Done>) {
        if params.scope == AutoScope::Project {
            self.work.begin();
            return self.gate.keep_always(params.on, reply);
        }
        let news = self.gate.accept_here(params.on, &self.config, self.state.accept_edits);
        self.record_all(news);
        self.answer_when_stored(reply, Ok(Done {}));
    }

    /// Takes the user's answer to a question.
    fn answer(&mut self, caller: Caller, params: PermissionAnswerParams) -> Result<PermissionAnswerResult, Error> {
        let Some(Answered { closed, follow }) = self.gate.answer(params, &self.state.asked)? else {
            return Ok(PermissionAnswerResult { accepted: false });
        };
        self.record_closed([closed]);
        match follow {
            Some(Follow::KeepTrust(answer)) => {
                self.work.begin();
                self.gate.keep_trust(self.shared.clone(), caller, &answer);
            }
            Some(Follow::Spend(Answer::Selected { option_id, .. })) if self.budget().answered(&option_id) => {
                self.resume_turn(caller, None, Answer::Moot);
            }
            Some(Follow::Spend(_)) => {}
            Some(Follow::Resume(call, answer)) => self.resume_turn(caller, call, answer),
            None => {}
        }
        Ok(PermissionAnswerResult { accepted: true })
    }

    /// Records that questions are closed, and tells who asked.
    pub(in crate::session) fn record_closed(&mut self, closed: impl IntoIterator<Item = Closed>) {
        for Closed { event, asker } in closed {
            self.record(event);
            asker.tell();
        }
    }

    /// Looks at the trust again, since that in some folder, or an editor's word on this workspace, changed.
    pub(in crate::session) fn look_at_trust(&self) {
        let home = self.prompts.home().or(self.clients.home());
        self.gate.look_at_trust(home.map_or_else(Word::default, |home| home.trust.clone()));
    }

    /// Puts a question of the running turn to the user, if it was not answered before the call was dispatched again.
    fn ask(&mut self, turn: TurnId, request: PermissionRequest, asker: oneshot::Sender<Answer>) {
        if !self.prompts.goes_on(&turn) {
            let _ = asker.send(Answer::Cancelled);
            return;
        }
        if let Some(answer) = self.prompts.given_answer(&request) {
            let _ = asker.send(answer);
            return;
        }
        let asked = self.gate.ask(turn, request, asker);
        self.record(asked);
    }

    /// Takes whether the workspace is trusted, as just read. A question about it is settled if somebody has said, and a
    /// shell that was started for a trusted workspace makes way for one that is not: at once if it does nothing, else
    /// before the next command. Language servers that run for it are ended.
    fn trust_read(&mut self, decided: Option<bool>) {
        if decided.is_some() {
            let closed = self.gate.trust_decided();
            self.record_closed(closed);
        }
        if decided == Some(false) {
            let (servers, roots) = (Arc::clone(&self.shared.servers), Arc::clone(&self.reading.roots));
            tokio::spawn(async move { servers.leave(&roots).await });
        }
        if decided != Some(true) {
            self.terminals.make_way();
        }
    }

    /// Answers one who wants to start a program of the project. A turn keeps the mode that it began in.
    fn program_wanted(&mut self, reply: oneshot::Sender<Stand>) {
        let id = PermissionId::new(self.ids.next("program"));
        let plans = self.state.mode.runs() == Runs::OnlyReading || self.gate.turn_plans();
        let _ = reply.send(Stand { plans, turn: self.prompts.turn().map(|turn| (turn.clone(), id)) });
    }
}
