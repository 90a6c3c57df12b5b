//! A session that another process holds, its host. What is asked of the session here is asked of the host,
//! over a [`link`] for each client; what happens in it is read from the store, which both have.
//!
//! When the host ends this ends too, and the session's task tries to be the next host.

mod link;
mod mirror;
mod onward;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use project::text::PositionEncoding;
use protocol::methods::{self, Request as Method};
use protocol::review::ReviewResult;
use protocol::session::SessionOpenParams;
use protocol::terminal::{Done, TerminalOpenParams, TerminalOpenResult};
use protocol::turn::TurnStartParams;
use protocol::{ErrorCode, TerminalId};
use serde_json::json;
use serde_json::value::RawValue;
use shell::Spool;
use tokio::sync::mpsc;

use self::link::{Heard, Link};
use super::{Caller, Message, Open, give_log, terminals};
use crate::feed::blocking;
use crate::instruction;
use crate::request::{self, Opened};
use crate::{ClientId, Error, Reply, Request, post};

/// Why a relay ended.
pub(super) enum Ended {
    /// Nobody needs it any more.
    Over,
    /// The host is gone. Those who follow the session go on following.
    HostGone,
    /// Nobody answers where the host should be.
    Unreachable,
    /// The host is none that we can attach to, for this reason.
    Foreign(String),
}

/// A number that no event has: whoever asks for the events after it gets none, and those that are to come.
const NO_EVENT: u64 = 1 << 53;

struct Relay<'a> {
    open: &'a mut Open,
    process: u32,
    links: HashMap<ClientId, Link>,
    news: mpsc::UnboundedSender<News>,
    /// Those who follow only once the host has shown the session to them.
    opening: HashSet<ClientId>,
    /// The state of the question to the host about what is pending.
    reviews: Reviews,
    /// The number of requests that wait for the host.
    begun: usize,
    /// True if a turn runs, or is about to: its home must stay, even if nobody looks on.
    is_running: bool,
    /// The event that says so, or a later one.
    running_as_of: u64,
    /// True if something was answered since that may have begun a turn.
    may_have_begun: bool,
}

/// The question about what is pending, asked once at a time: no older answer takes the place of a newer one.
#[derive(PartialEq, Eq)]
enum Reviews {
    Known,
    Asked,
    /// They changed since.
    Outdated,
}

/// The news that come back.
enum News {
    /// Something that the host said by itself.
    Heard(Heard),
    /// An answer went to its client.
    Answered,
    /// The session's state, for ourselves.
    State(Result<Opened, Error>),
    /// The host has shown the session to us.
    Opened(Caller, u64, Owed<Opened>, Result<Opened, Error>),
    /// The host sends the terminal's output to us.
    TerminalOpened(Caller, TerminalOpenParams, Owed<TerminalOpenResult>, Result<TerminalOpenResult, Error>),
    /// The session was deleted, or was not.
    Deleted(Owed<Done>, Result<Done, Error>),
    /// The pending proposals, if the host named them.
    Reviews(Option<ReviewResult>),
}

/// An answer that goes the way of [`News`]. Where that comes to nothing, since the host is gone, this is the answer.
struct Owed<T>(Option<Reply<T>>);

impl<T> Owed<T> {
    fn to(reply: Reply<T>) -> Self {
        Self(Some(reply))
    }

    fn give(mut self, answer: Result<T, Error>) {
        if let Some(reply) = self.0.take() {
            let _ = reply.send(answer);
        }
    }
}

impl<T> Drop for Owed<T> {
    fn drop(&mut self) {
        if let Some(reply) = self.0.take() {
            let _ = reply.send(Err(link::gone()));
        }
    }
}

/// Relays to the process that holds the session, for as long as it does and somebody needs it.
pub(super) async fn run(open: &mut Open, process: u32) -> Ended {
    if process == std::process::id() {
        // An earlier task of ours does not come to its end.
        return Ended::Unreachable;
    }
    // The output of the shell, in files that the host writes.
    let shell = terminals::of_shell(&open.id);
    if spool(open, &shell).await.is_none() {
        return Ended::Unreachable;
    }
    let (news, incoming) = mpsc::unbounded_channel();
    let callers: Vec<_> = match open.followers.is_empty() {
        true => vec![open.home.clone()],
        false => open.followers.values().cloned().collect(),
    };
    let links = HashMap::new();
    let mut relay = Relay {
        open,
        process,
        links,
        news,
        opening: HashSet::new(),
        reviews: Reviews::Known,
        begun: 0,
        is_running: false,
        running_as_of: 0,
        may_have_begun: false,
    };
    for caller in callers {
        if let Err(ended) = relay.link(&caller).await {
            return ended;
        }
    }
    tracing::info!(session = %relay.open.id, process, "attached to a session of another process");
    let ended = relay.run(incoming).await;
    if matches!(ended, Ended::Over) {
        open.shared.board.put(&open.id, Vec::new());
    }
    ended
}

/// Returns the output of a terminal, in files that the host writes; `None` if there is no such terminal yet.
async fn spool(open: &Open, terminal: &TerminalId) -> Option<Arc<Spool>> {
    let (store, id) = (Arc::clone(&open.shared.parts.store), open.id.clone());
    let folder = blocking(move || store.session_folder(&id)).await.ok()?;
    let (spools, terminal) = (open.spools.clone(), terminal.clone());
    tokio::task::spawn_blocking(move || spools.open(&folder, &terminal)).await.ok()?.ok()
}

impl Relay<'_> {
    async fn run(mut self, mut incoming: mpsc::UnboundedReceiver<News>) -> Ended {
        let mut reported = None;
        loop {
            let handled = self.open.inbox.handled;
            let is_idle = self.open.inbox.is_empty() && incoming.is_empty() && self.is_idle();
            if is_idle && !self.links.is_empty() && std::mem::take(&mut self.may_have_begun) {
                self.ask_state();
            } else if is_idle && reported != Some(handled) {
                reported = Some(handled);
                let idle = post::Message::Idle { session: self.open.id.clone(), handled };
                self.open.shared.post(None, idle);
            }
            let ended = tokio::select! {
                message = self.open.inbox.recv() => match message {
                    None => Some(Ended::Over),
                    Some(Message::Shutdown(done)) => {
                        // The host is told by the links' end, before this process says that it is done.
                        self.links.clear();
                        let _ = done.send(());
                        Some(Ended::Over)
                    }
                    Some(message) => self.message(message).await,
                },
                Some(news) = incoming.recv() => self.news(news),
            };
            if let Some(ended) = ended {
                self.opening.iter().for_each(|client| drop(self.open.followers.remove(client)));
                return ended;
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.open.followers.is_empty() && self.begun == 0 && !self.is_running
    }

    async fn message(&mut self, message: Message) -> Option<Ended> {
        match message {
            // A session that was made here is held here.
            Message::Attach(_, reply) => drop(reply),
            Message::Begin(_, first) => drop(first),
            Message::Instruct(_, _, reply) => drop(reply),
            Message::Suggestion(_, suggestion) => {
                let text = "another window has taken over the record of accepted suggestions; accept it again";
                let _ = suggestion.done.send(Err(text.to_owned()));
            }
            Message::Request(caller, request) => return self.request(caller, request).await,
            Message::Gone(client) => {
                if self.links.remove(&client).is_some() {
                    // It may have been the one that was asked.
                    self.ask_reviews();
                }
                self.open.followers.remove(&client);
                if let Some(other) = self.open.followers.values().next().filter(|_| self.open.home.id == client) {
                    self.open.home = other.clone();
                }
            }
            Message::TextChanged(client, path) => {
                if let Some(link) = self.links.get(&client) {
                    link.text_changed(path);
                }
            }
            Message::FilesChanged(paths) => self.links.values().for_each(|link| link.files_changed(&paths)),
            // It counts once this process is the host.
            Message::Config(config) => self.open.config = config,
            // Its host reads it from the store.
            Message::Always(..) => {}
            // The decisions that are kept it reads from the store, too.
            Message::Trust(said) => {
                if let Some((client, trusted)) = said
                    && let Some(link) = self.links.get_mut(&client)
                {
                    let params = json!({ "trusted": trusted, "byEditor": true });
                    drop(link.ask(methods::WorkspaceTrust::METHOD, params));
                }
            }
            // The loop keeps it for itself.
            Message::Shutdown(done) => drop(done),
        }
        None
    }

    /// The client's link to the host, made if there is none.
    async fn link(&mut self, caller: &Caller) -> Result<(), Ended> {
        if self.links.contains_key(&caller.id) {
            return Ok(());
        }
        let (sockets, heard) = (&self.open.shared.parts.sockets, self.news.clone());
        let news = move |news| drop(heard.send(News::Heard(news)));
        let ears = link::Ears {
            session: self.open.id.clone(),
            editor: Arc::clone(&caller.editor),
            feed: self.open.feed.clone(),
            spools: self.open.spools.clone(),
            news: Box::new(news),
        };
        let mut link = Link::connect(sockets, self.process, ears, caller).await?;
        // From here on the host tells it what happens.
        let params = json!(SessionOpenParams { session_id: self.open.id.clone(), since: NO_EVENT });
        let opened = link.ask_in_time(methods::SessionOpen::METHOD, params).await.ok_or(Ended::Unreachable)?;
        let opened: Opened = request::read(&opened).map_err(|_| Ended::Unreachable)?;
        self.take_opened(&opened);
        for (terminal, spool) in self.open.spools.all().into_iter().filter(|(id, _)| self.open.shown.contains(id)) {
            let params = json!({ "sessionId": self.open.id, "terminalId": terminal, "since": u64::MAX });
            let shown = link.ask(methods::TerminalOpen::METHOD, params);
            tokio::spawn(async move {
                if shown.await.is_ok() {
                    let _ = tokio::task::spawn_blocking(move || spool.catch_up()).await;
                }
            });
        }
        if !self.links.contains_key(&self.open.home.id) {
            self.open.home = caller.clone();
        }
        self.links.insert(caller.id, link);
        self.ask_reviews();
        Ok(())
    }

    /// Takes how the session stands. What the host said since is newer.
    fn take_opened(&mut self, opened: &Opened) {
        self.open.feed.announce(opened.session.last_seq);
        if opened.session.last_seq >= self.running_as_of {
            self.running_as_of = opened.session.last_seq;
            self.is_running = opened.running_turn.is_some() || !opened.queue.is_empty();
        }
    }

    async fn request(&mut self, caller: Caller, request: Request) -> Option<Ended> {
        let request = self.answer_here(&caller, request)?;
        if let Err(ended) = self.link(&caller).await {
            request.fail(link::gone());
            return Some(ended);
        }
        if let Some(TerminalOpenParams { terminal_id: Some(terminal), .. }) = request.params::<methods::TerminalOpen>()
        {
            // The output that the host sends from its answer on has somewhere to go.
            let _ = spool(self.open, terminal).await;
        }
        let link = self.links.get_mut(&caller.id)?;
        self.begun += 1;
        let news = self.news.clone();
        let request = request.when::<methods::SessionOpen>(|params, reply| {
            let (reply, news) = (Owed::to(reply), news.clone());
            if self.open.followers.insert(caller.id, caller.clone()).is_none() {
                self.opening.insert(caller.id);
            }
            let asked = SessionOpenParams { since: NO_EVENT, ..params.clone() };
            let answer = link.ask(methods::SessionOpen::METHOD, json!(asked));
            let caller = caller.clone();
            tokio::spawn(async move {
                let opened = read(answer.await);
                let _ = news.send(News::Opened(caller, params.since, reply, opened));
            });
        })?;
        let request = request.when::<methods::TerminalOpen>(|params, reply| {
            let (reply, news) = (Owed::to(reply), news.clone());
            let asked = TerminalOpenParams { since: u64::MAX, acknowledges: false, ..params.clone() };
            let answer = link.ask(methods::TerminalOpen::METHOD, json!(asked));
            let caller = caller.clone();
            tokio::spawn(async move {
                let opened = read(answer.await);
                let _ = news.send(News::TerminalOpened(caller, params, reply, opened));
            });
        })?;
        let request = request.when::<methods::SessionDelete>(|params, reply| {
            let (reply, news) = (Owed::to(reply), news.clone());
            let answer = link.ask(methods::SessionDelete::METHOD, json!(params));
            tokio::spawn(async move {
                let deleted = read(answer.await);
                let _ = news.send(News::Deleted(reply, deleted));
            });
        })?;
        let request = request.when::<methods::TurnStart>(|mut params, reply| {
            let (shared, client, news) = (self.open.shared.clone(), caller.id, news.clone());
            self.open.home = caller.clone();
            let rest = onward::take_rest(&mut params.prompt);
            let answer = link.ask(methods::TurnStart::METHOD, json!(params));
            tokio::spawn(async move {
                let started = read(answer.await);
                match rest {
                    None => drop(reply.send(started)),
                    Some(prompt) => {
                        let params = TurnStartParams { prompt, ..params };
                        onward::send_rest(&shared, client, params, started, reply).await;
                    }
                }
                let _ = news.send(News::Answered);
            });
        })?;
        let request = request.when::<methods::InlineInstruct>(|mut params, reply| {
            let (news, buffers) = (news.clone(), Arc::clone(&caller.buffers));
            // The host follows the documents under this encoding of positions.
            instruction::encode(&mut params, &buffers, caller.encoding, PositionEncoding::Utf8);
            let answer = link.ask(methods::InlineInstruct::METHOD, json!(params));
            self.open.home = caller.clone();
            tokio::spawn(async move {
                let _ = reply.send(read(answer.await));
                let _ = news.send(News::Answered);
            });
        })?;
        let (method, params, reply) = request.into_json();
        let answer = link.ask(method, params);
        tokio::spawn(async move {
            reply(answer.await);
            let _ = news.send(News::Answered);
        });
        None
    }

    /// Answers what the host need not know, and gives back the rest.
    fn answer_here(&mut self, caller: &Caller, request: Request) -> Option<Request> {
        let (editor, session) = (&caller.editor, &self.open.id);
        request
            // The output comes out of this process's own copy of it.
            .when::<methods::TerminalAck>(|params, reply| {
                editor.acknowledge_terminal(session, &params.terminal_id, params.offset);
                let _ = reply.send(Ok(Done {}));
            })?
            // Others here may see the terminal.
            .when::<methods::TerminalClose>(|params, reply| {
                editor.unfollow_terminal(session, &params.terminal_id);
                let _ = reply.send(Ok(Done {}));
            })?
            // A turn that runs is still this client's.
            .when::<methods::SessionClose>(|_, reply| {
                self.open.followers.remove(&caller.id);
                editor.unfollow(session);
                let _ = reply.send(Ok(Done {}));
            })
    }

    fn news(&mut self, news: News) -> Option<Ended> {
        match news {
            News::Heard(Heard::Turn(runs, seq)) => {
                if seq >= self.running_as_of {
                    (self.is_running, self.running_as_of) = (runs, seq);
                }
            }
            News::Heard(Heard::Reviews) => self.ask_reviews(),
            News::Heard(Heard::Closed) => return Some(Ended::HostGone),
            News::Answered => {
                self.begun -= 1;
                self.may_have_begun = true;
            }
            News::State(state) => {
                self.begun -= 1;
                if let Ok(state) = state {
                    self.take_opened(&state);
                    self.ask_reviews();
                }
            }
            News::Reviews(result) => {
                if let Some(result) = result {
                    self.open.shared.board.put(&self.open.id, result.proposals);
                }
                if std::mem::replace(&mut self.reviews, Reviews::Known) == Reviews::Outdated {
                    self.ask_reviews();
                }
            }
            News::Opened(caller, _, reply, Err(error)) => {
                self.begun -= 1;
                if self.opening.remove(&caller.id) {
                    self.open.followers.remove(&caller.id);
                }
                reply.give(Err(error));
            }
            News::Opened(caller, since, mut reply, Ok(opened)) => {
                self.begun -= 1;
                self.opening.remove(&caller.id);
                self.take_opened(&opened);
                self.ask_reviews();
                let follower = self.open.followers.get(&caller.id).cloned();
                let store = Arc::clone(&self.open.shared.parts.store);
                if let Some(reply) = reply.0.take() {
                    give_log(store, self.open.feed.clone(), since, opened, reply, follower);
                }
            }
            News::TerminalOpened(_, _, reply, Err(error)) => {
                self.begun -= 1;
                reply.give(Err(error));
            }
            News::TerminalOpened(caller, params, reply, Ok(opened)) => {
                self.begun -= 1;
                self.open.shown.insert(opened.terminal_id.clone());
                let id = self.open.id.clone();
                // It was opened before the host was asked, unless the terminal has begun since.
                let Some(spool) = self.open.spools.get(&opened.terminal_id) else {
                    let text = "what the terminal printed cannot be read here; try again";
                    reply.give(Err(Error::new(ErrorCode::OperationFailed, text)));
                    return None;
                };
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = spool.catch_up() {
                        tracing::warn!(%error, "earlier output of the terminal cannot be read");
                    }
                    let (since, _) = spool.read_from(params.since, 0);
                    let terminal = opened.terminal_id.clone();
                    reply.give(Ok(TerminalOpenResult { since, ..opened }));
                    caller.editor.follow_terminal(&id, &terminal, spool, since);
                    if params.acknowledges {
                        caller.editor.acknowledge_terminal(&id, &terminal, since);
                    }
                });
            }
            News::Deleted(reply, Err(error)) => {
                self.begun -= 1;
                reply.give(Err(error));
            }
            News::Deleted(reply, Ok(done)) => {
                for follower in std::mem::take(&mut self.open.followers).into_values() {
                    follower.editor.unfollow(&self.open.id);
                }
                reply.give(Ok(done));
                self.open.inbox.close(&Error::not_found("session", &self.open.id));
                return Some(Ended::Over);
            }
        }
        None
    }

    /// Asks how the session stands.
    fn ask_state(&mut self) {
        let Some(link) = self.links.values_mut().next() else { return };
        self.begun += 1;
        let params = SessionOpenParams { session_id: self.open.id.clone(), since: NO_EVENT };
        let answer = link.ask(methods::SessionOpen::METHOD, json!(params));
        let news = self.news.clone();
        tokio::spawn(async move { drop(news.send(News::State(read(answer.await)))) });
    }

    /// Asks what is pending, for those who show it beside the text.
    fn ask_reviews(&mut self) {
        if self.reviews != Reviews::Known {
            self.reviews = Reviews::Outdated;
            return;
        }
        let Some(link) = self.links.values_mut().next() else { return };
        self.reviews = Reviews::Asked;
        let answer = link.ask(methods::ReviewList::METHOD, json!({ "sessionId": self.open.id }));
        let news = self.news.clone();
        tokio::spawn(async move { drop(news.send(News::Reviews(read(answer.await).ok()))) });
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: Result<Box<RawValue>, Error>) -> Result<T, Error> {
    request::read(&answer?)
}
