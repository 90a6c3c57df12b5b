//! A request to a model: what it reads, its answer while it comes, and what is left of that.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use inline::before::{self, wants_block};
use inline::cache::Answer;
pub(super) use inline::context::Parts;
use inline::context::{LARGEST, alike, around, block};
use inline::engine::{Ask, RunId};
use inline::tidy::{Cursor, Indent, Tidier};
use inline::{definition, secret};
use ports::complete::{Complete, Excerpt, Fill, FillEvent};
use ports::model::{ModelError, ModelErrorKind};
use project::buffers::Snapshot;
use protocol::inline::{Reason, Rule};
use tokio::sync::mpsc;

use super::counts::Exchange;
use super::gate::Admitted;
use super::{Key, Message};
use crate::ClientId;

/// The text around the cursor that is put before a model, in bytes, if the model takes that much.
const AROUND: usize = 12 * 1024;
/// The longest answers, in tokens: of one line, and of several.
const LINE_TOKENS: u32 = 64;
const BLOCK_TOKENS: u32 = 256;
/// The time that a model has for an answer that nobody asked for, and for one that the user asked for. An answer that
/// comes late is shown only if it still fits.
const AUTOMATIC: Duration = Duration::from_secs(5);
const INVOKED: Duration = Duration::from_secs(15);
/// So much later the wire gives up by itself.
const AFTER: Duration = Duration::from_secs(2);

/// The time after which a request has most likely been sent. No model answers sooner.
const SENT: Duration = Duration::from_millis(1);

/// A request to a model, with all that it needs.
pub(super) struct Work {
    pub(super) run: RunId,
    pub(super) ask: Ask,
    pub(super) model: Arc<dyn Complete>,
    pub(super) file: Admitted,
    pub(super) language: String,
    pub(super) indent: Option<Indent>,
    /// True if the user has just accepted a suggestion.
    pub(super) is_after_accepted: bool,
    pub(super) others: Vec<Other>,
    /// The definitions of what is near the cursor; none if no language server is warm.
    pub(super) definitions: Option<Vec<Excerpt>>,
    /// True for another answer than the most likely one.
    pub(super) is_varied: bool,
    pub(super) key: Key,
    pub(super) messages: mpsc::WeakUnboundedSender<Message>,
}

/// Another file that may be sent.
pub(super) struct Other {
    pub(super) client: ClientId,
    pub(super) file: Admitted,
    pub(super) document: Arc<Snapshot>,
    pub(super) parts: Option<Arc<Parts>>,
}

impl Other {
    fn parts(&self, keep: impl Fn(Message)) -> Arc<Parts> {
        if let Some(parts) = &self.parts {
            return Arc::clone(parts);
        }
        let text = self.document.normal();
        let parts = match text.len() {
            0..=LARGEST => Arc::new(Parts::new(&self.file.display, &secret::without(text))),
            _ => Arc::default(),
        };
        let key = (self.client, Arc::clone(&self.document.uri));
        keep(Message::Parts(key, Arc::downgrade(text), Arc::clone(&parts)));
        parts
    }
}

/// The end of a request.
pub(super) struct Answered {
    pub(super) run: RunId,
    pub(super) ask: Ask,
    pub(super) answer: Result<Answer, Reason>,
    pub(super) changed_by: Vec<Rule>,
    pub(super) model: String,
    pub(super) server: Server,
    pub(super) is_varied: bool,
}

/// The state of a model's server, by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    NotAsked,
    Answered,
    Failed,
}

impl Work {
    /// Asks the model, and reports, whatever happens.
    pub(super) async fn run(self) {
        let (mut changed_by, mut server) = (Vec::new(), Server::NotAsked);
        let answer = AssertUnwindSafe(self.answer(&mut changed_by, &mut server)).catch_unwind().await;
        let answer = answer.unwrap_or_else(|_| {
            let words = "A fault of Azimuth's; the log says more.".to_owned();
            Err(Reason { rule: Rule::Failed, words })
        });
        let model = self.model.info().id.clone();
        let (run, ask, is_varied) = (self.run, self.ask.clone(), self.is_varied);
        let answered = Answered { run, ask, answer, changed_by, model, server, is_varied };
        self.tell(Message::Answered(self.key.clone(), Box::new(answered)));
    }

    async fn answer(&self, changed_by: &mut Vec<Rule>, server: &mut Server) -> Result<Answer, Reason> {
        let (text, offset) = (&*self.ask.text, self.ask.offset);
        let at = before::Cursor { path: &self.file.path, text, cursor: offset };
        let multi_line = self.ask.is_invoked || wants_block(&at, self.is_after_accepted);
        let indent = self.indent.or_else(|| Indent::of(text)).unwrap_or(Indent::Spaces(4));
        let cursor = Cursor { path: &self.file.path, text, offset, indent, multi_line };
        let fill = self.fill(multi_line)?;
        let deadline = fill.deadline;
        // Ours comes first, since a part of an answer is of use.
        let fill = Fill { deadline: deadline + AFTER, ..fill };
        *server = Server::Failed;
        let mut exchange = Exchange::begin(self.model.info(), sent(&fill), self.messages.clone());
        let mut answer = String::new();
        let tidier = OnceLock::new();
        let tidier = || tidier.get_or_init(|| Tidier::new(&cursor));
        let asked = async {
            // The text is read while the model works, once the request is on its way.
            let read = async {
                tokio::time::sleep(SENT).await;
                tidier();
            };
            let (stream, ()) = tokio::join!(self.model.fill(fill), read);
            let mut stream = stream?;
            while let Some(event) = stream.next().await {
                match event? {
                    FillEvent::Text(piece) => {
                        answer.push_str(&piece);
                        exchange.piece(&piece);
                        self.tell(Message::Piece(self.key.clone(), self.run, piece));
                        if tidier().is_enough(&answer) {
                            exchange.answered();
                            return Ok(false);
                        }
                    }
                    FillEvent::Finished { is_cut, usage, .. } => {
                        exchange.finished(usage);
                        return Ok(is_cut);
                    }
                }
            }
            let message = "the answer broke off".to_owned();
            Err(ModelError { kind: ModelErrorKind::Incomplete, message })
        };
        let ended = tokio::time::timeout(deadline, asked).await;
        let is_late = ended.is_err();
        match &ended {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => exchange.failed(),
            Err(_) => exchange.late(),
        }
        let is_cut = match ended {
            Ok(ended) => ended.map_err(failed)?,
            Err(_) => true,
        };
        let tidied = match tidier().tidy(&answer, is_cut) {
            Err(Rule::CutOff | Rule::Empty) if is_late => return Err(Rule::Late.into()),
            tidied => tidied,
        };
        *server = Server::Answered;
        let tidied = tidied.map_err(Reason::from)?;
        *changed_by = tidied.changed_by;
        Ok(Answer { text: tidied.text, replaces: tidied.replace.end.saturating_sub(offset) })
    }

    /// The request, with nothing in it that looks like a secret.
    fn fill(&self, multi_line: bool) -> Result<Fill, Reason> {
        let (text, offset, info) = (&*self.ask.text, self.ask.offset, self.model.info());
        // The text around the cursor comes first; the parts of other files get what is left.
        let range = around(text, offset, AROUND.min(info.context_bytes / 4 * 3));
        let room = info.context_bytes.saturating_sub(range.len());
        let near = secret::near(text, range.clone());
        let prefix = secret::cut(text, range.start..offset, &near);
        let suffix = secret::cut(text, offset..range.end, &near);
        let controls = |text: &str| info.control_tokens.iter().any(|token| text.contains(token.as_str()));
        if controls(&prefix) || controls(&suffix) {
            return Err(Rule::ControlTokens.into());
        }
        let fitting = |parts: Vec<Excerpt>, mut left: usize| {
            let fits = move |part: &Excerpt| {
                let fits = part.text.len() <= left && !controls(&part.text);
                left -= if fits { part.text.len() } else { 0 };
                fits
            };
            parts.into_iter().filter(fits).collect::<Vec<_>>()
        };
        let (definitions, others) = (self.definitions.as_deref(), &self.others);
        let others = related(others, text, offset, |message| self.tell(message));
        let mut extra = fitting(others, room - definition::room(definitions, room));
        let texts = [prefix.as_str(), &suffix].into_iter().chain(extra.iter().map(|part| part.text.as_str()));
        let definitions = definition::chosen(definitions, &texts.collect::<Vec<_>>());
        // They follow the cursor, so they come behind what changes less.
        extra.extend(fitting(definitions, room.saturating_sub(bytes(&extra))));
        Ok(Fill {
            path: self.file.display.clone(),
            language: self.language.clone(),
            prefix,
            suffix,
            extra,
            max_tokens: if multi_line { BLOCK_TOKENS } else { LINE_TOKENS },
            stops: if multi_line { Vec::new() } else { vec!["\n".to_owned()] },
            is_varied: self.is_varied,
            deadline: if self.ask.is_invoked { INVOKED } else { AUTOMATIC },
        })
    }

    fn tell(&self, message: Message) {
        if let Some(messages) = self.messages.upgrade() {
            let _ = messages.send(message);
        }
    }
}

/// The bytes of text that a request sends.
fn sent(fill: &Fill) -> usize {
    fill.prefix.len() + fill.suffix.len() + bytes(&fill.extra)
}

fn bytes(parts: &[Excerpt]) -> usize {
    parts.iter().map(|part| part.text.len()).sum()
}

/// Parts of other files that are like the text around a cursor. Those of a file are found once for each of its texts,
/// and told to be kept.
pub(super) fn related(others: &[Other], text: &str, offset: usize, keep: impl Fn(Message)) -> Vec<Excerpt> {
    let parts: Vec<_> = others.iter().map(|other| other.parts(&keep)).collect();
    let (_, lines) = block(text, offset);
    let near = text.get(lines).unwrap_or_default();
    alike(near, parts.iter().map(Arc::as_ref))
}

/// The reason for silence after a model's failure.
pub(super) fn failed(error: ModelError) -> Reason {
    let rule = if error.kind == ModelErrorKind::Garbage { Rule::Garbage } else { Rule::Failed };
    let end = if error.message.ends_with(['.', '?', '!']) { "" } else { "." };
    Reason { rule, words: format!("{}{end}", error.message) }
}
