//! Everything that happens in sessions, as the client sees it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::event::EventParams;
use protocol::methods;
use protocol::permission::{PermissionAbout, PermissionRequest};
use protocol::review::Proposal;
use protocol::terminal::TerminalOutputParams;
use protocol::turn::StopReason;
use protocol::{Event, SequencedEvent, SessionId, TerminalId, TurnId};
use serde_json::{Value, json};

use super::{Client, State};

/// A terminal as the client saw it.
#[derive(Default)]
pub(super) struct Terminal {
    bytes: Vec<u8>,
    end: Option<u64>,
    /// It shows what it can get, and says how far it has come.
    acknowledges: bool,
}

impl State {
    pub(super) fn take_event(&mut self, params: Value) {
        let EventParams { session_id, event } = match serde_json::from_value(params.clone()) {
            Ok(event) => event,
            Err(error) => return self.wrong.push(format!("an event that is none ({error}): {params}")),
        };
        let last = self.last.insert(session_id.clone(), event.seq);
        // A client that opens a session later begins later.
        if let Some(last) = last
            && event.seq != last + 1
            && !(event.seq > last && self.reopened.remove(&session_id))
        {
            self.wrong.push(format!("event {} of {session_id} comes after {last}", event.seq));
        }
        self.events.entry(session_id).or_default().push_back(event);
    }

    pub(super) fn take_output(&mut self, params: Value) {
        let output: TerminalOutputParams = match serde_json::from_value(params.clone()) {
            Ok(output) => output,
            Err(error) => return self.wrong.push(format!("output that is none ({error}): {params}")),
        };
        let bytes = BASE64_STANDARD.decode(&output.data).unwrap_or_default();
        let terminal = self.terminals.entry(output.terminal_id).or_default();
        let fits = |end| if terminal.acknowledges { end <= output.offset } else { end == output.offset };
        if !terminal.end.is_none_or(fits) {
            self.wrong.push(format!("output at {} comes after {:?}", output.offset, terminal.end));
        }
        terminal.end = Some(output.offset + bytes.len() as u64);
        terminal.bytes.extend(bytes);
    }
}

impl Client {
    /// Makes a session.
    pub async fn new_session(&self) -> SessionId {
        self.call::<methods::SessionNew>(json!({})).await.session.session_id
    }

    /// Starts a turn with a text.
    pub async fn prompt(&self, session: &SessionId, text: &str) -> TurnId {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        self.call::<methods::TurnStart>(params).await.turn_id.expect("a turn")
    }

    /// The events of a session up to the first that fits, which is the last of them.
    pub async fn until(&self, session: &SessionId, what: &str, fits: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut seen = Vec::new();
        loop {
            let event = self.next_event(session, || format!("{what}, after {seen:?}")).await.event;
            let is_last = fits(&event);
            seen.push(event);
            if is_last {
                return seen;
            }
        }
    }

    /// The next event of a session.
    pub async fn event(&self, session: &SessionId, what: &str) -> SequencedEvent {
        self.next_event(session, || what.to_owned()).await
    }

    async fn next_event(&self, session: &SessionId, what: impl Fn() -> String) -> SequencedEvent {
        self.wait_for(what, |state| state.events.get_mut(session)?.pop_front()).await
    }

    /// The events up to the turn's end, which must have this reason. No program of the project may be asked for.
    pub async fn until_end(&self, session: &SessionId, reason: StopReason) -> Vec<Event> {
        let events = self.until_end_or_program(session).await;
        if let Some(Event::PermissionAsked { request, .. }) = events.last() {
            panic!("nobody expected to be asked for a program: {request:?}");
        }
        ended(events, reason)
    }

    /// The same, where the user allows the programs of the project that are asked for.
    pub async fn until_end_allowing_programs(&self, session: &SessionId, reason: StopReason) -> Vec<Event> {
        let mut events = self.until_end_or_program(session).await;
        while let Some(Event::PermissionAsked { request, .. }) = events.last() {
            let request = request.clone();
            self.answer(session, &request, "allow_always").await;
            events.extend(self.until_end_or_program(session).await);
        }
        ended(events, reason)
    }

    async fn until_end_or_program(&self, session: &SessionId) -> Vec<Event> {
        let fits = |event: &Event| match event {
            Event::TurnEnded { .. } => true,
            Event::PermissionAsked { request, .. } => request.about == PermissionAbout::Program,
            _ => false,
        };
        self.until(session, "the turn's end", fits).await
    }

    /// The events up to a question, and the question.
    pub async fn until_asked(&self, session: &SessionId) -> (Vec<Event>, PermissionRequest) {
        let events = self.until(session, "a question", |event| matches!(event, Event::PermissionAsked { .. })).await;
        match events.last() {
            Some(Event::PermissionAsked { request, .. }) => (events.clone(), request.clone()),
            _ => unreachable!("the last event is the question"),
        }
    }

    /// The events up to a proposal, and the proposal.
    pub async fn until_proposed(&self, session: &SessionId) -> (Vec<Event>, Proposal) {
        let events = self.until(session, "a proposal", |event| matches!(event, Event::ProposalChanged { .. })).await;
        match events.last() {
            Some(Event::ProposalChanged { proposal }) => (events.clone(), proposal.clone()),
            _ => unreachable!("the last event is the proposal"),
        }
    }

    /// Answers a question with the first option of a kind.
    pub async fn answer(&self, session: &SessionId, question: &PermissionRequest, kind: &str) {
        let option = question.options.iter().find(|option| json!(option.kind) == kind);
        let option = option.unwrap_or_else(|| panic!("no option is {kind}: {question:?}"));
        self.choose(session, question, &option.option_id).await;
    }

    /// Answers a question with an option, by its id.
    pub async fn choose(&self, session: &SessionId, question: &PermissionRequest, option: &str) {
        let params = json!({ "sessionId": session, "permissionId": question.permission_id, "optionId": option });
        assert!(self.call::<methods::PermissionAnswer>(params).await.accepted, "the answer came too late");
    }

    /// Follows the session's terminal.
    pub async fn open_terminal(&self, session: &SessionId) -> TerminalId {
        self.call::<methods::TerminalOpen>(json!({ "sessionId": session })).await.terminal_id
    }

    /// Follows the session's terminal and says how far it has come, when [`Client::acknowledge`] is called. Bytes may
    /// be passed over.
    pub async fn open_terminal_slowly(&self, session: &SessionId) -> TerminalId {
        let id = TerminalId::new(format!("shell-{session}"));
        self.state().terminals.entry(id.clone()).or_default().acknowledges = true;
        let params = json!({ "sessionId": session, "acknowledges": true });
        assert_eq!(self.call::<methods::TerminalOpen>(params).await.terminal_id, id);
        id
    }

    /// Says how far it has come with a terminal: all that it got.
    pub async fn acknowledge(&self, session: &SessionId, terminal: &TerminalId) {
        let (_, end) = self.terminal_got(terminal);
        let params = json!({ "sessionId": session, "terminalId": terminal, "offset": end });
        self.call::<methods::TerminalAck>(params).await;
    }

    /// How many bytes of a terminal came, and the offset after the last of them.
    pub fn terminal_got(&self, terminal: &TerminalId) -> (usize, u64) {
        let state = self.state();
        let terminal = state.terminals.get(terminal);
        terminal.map_or((0, 0), |terminal| (terminal.bytes.len(), terminal.end.unwrap_or_default()))
    }

    /// Waits until a terminal that is followed has shown some text; gives all that it showed.
    pub async fn terminal_until(&self, terminal: &TerminalId, text: &str) -> String {
        // Output that was looked at once is not looked at again: there may be much, and it comes in many messages.
        let mut from = 0;
        self.wait_for(
            || format!("{text:?} in the terminal"),
            |state| {
                let bytes = &state.terminals.get(terminal)?.bytes;
                let is_there = bytes[from..].windows(text.len()).any(|window| window == text.as_bytes());
                from = (bytes.len() + 1).saturating_sub(text.len()).max(from);
                is_there.then(|| String::from_utf8_lossy(bytes).into_owned())
            },
        )
        .await
    }
}

/// The events of a turn, which must have ended for this reason.
fn ended(events: Vec<Event>, reason: StopReason) -> Vec<Event> {
    match events.last() {
        Some(Event::TurnEnded { stop_reason, .. }) if *stop_reason == reason => events,
        other => panic!("the turn ended otherwise: {other:?}"),
    }
}
