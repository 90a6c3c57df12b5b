//! The steps of a suggested edit: when it is asked for, the rules for what was found, in step with the document while
//! it is on the screen, and into the document once it is accepted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inline::edit::Pending;
use inline::journal::{Kind, View};
use inline::pace::{Context, Kind as Waited, Source as Origin};
use inline::rebase::accept;
use inline::splice::{between, between_at};
use project::paths;
use protocol::ErrorCode;
use protocol::inline::{
    InlineAcceptParams, InlineAcceptResult, InlineChangedParams, InlineEdit, InlineEditKind, InlineEditResult,
    InlineEvent, InlineFeedbackParams, InlineSource, Reason, Rule,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::asked::{Asked, next_number};
use super::closed::DocumentFound;
use super::deciding::FRESH;
use super::decisions::{self, next_name};
use super::edits::{EditMessage, Landing, Suggested, WaitingEdit};
use super::positions::{lines, moved, range};
use super::rewriting::{Found, Rewriting, Rewritten};
use super::{Key, Message, Task};
use crate::post::{self, AcceptedSuggestion};
use crate::{ClientId, Error, Reply};

/// An edit that the user is so many lines away from, or has passed over so often, is looked for anew.
const FAR: usize = 40;
const PASSED_OVER: u32 = 20;

impl Task {
    pub(super) fn edit_message(&mut self, message: EditMessage) {
        // News for a client that is gone make no new state of it; those who wait hear of its end by themselves.
        if !self.clients.contains_key(&message.client()) {
            return;
        }
        match message {
            EditMessage::Ask(waiting) => self.ask_edit(*waiting),
            EditMessage::Withdrawn(client, number) => {
                let of = self.edits.of(client);
                if of.waiting.take_if(|waiting| waiting.number == number).is_some() {
                    of.run = None;
                }
            }
            EditMessage::Due(client, number) => self.start_edit(client, number),
            EditMessage::Answered(client, rewritten) => self.edit_answered(client, *rewritten),
            EditMessage::Accept(client, params, reply) => self.accept_edit(client, &params, reply),
            EditMessage::Landed(client, number, landed) => self.edit_landed(client, number, landed),
        }
    }

    fn ask_edit(&mut self, waiting: WaitingEdit) {
        let client = waiting.asked.client;
        let of = self.edits.of(client);
        of.run = None;
        if let Some(earlier) = of.waiting.replace(waiting) {
            self.no_edit(earlier, Rule::Overtaken.into());
        }
        self.consider_edit(client);
    }

    /// Decides on the requests of all clients.
    pub(super) fn consider_edits(&mut self) {
        self.edits.clients().into_iter().for_each(|client| self.consider_edit(client));
    }

    /// Ends what was begun by judgements and models that do not hold any more, and decides anew.
    pub(super) fn reconsider_edits(&mut self) {
        for client in self.edits.clients() {
            let of = self.edits.of(client);
            (of.run, of.ahead) = (None, None);
            if let Some(waiting) = &mut of.waiting {
                // An answer to its earlier number is old.
                waiting.number = next_number();
                (waiting.search, waiting.is_decided) = (waiting.number, false);
            }
        }
        self.consider_edits();
    }

    /// Takes the edits of another model off the screen.
    pub(super) fn end_edits(&mut self) {
        for client in self.edits.clients() {
            if let Some(suggested) = self.edits.of(client).suggested.take() {
                let (id, reason) = (suggested.id, Some(Rule::Overtaken.into()));
                self.tell_edit(client, InlineChangedParams { id, edit: None, reason });
            }
        }
    }

    /// Decides on the request of a client that waits.
    pub(super) fn consider_edit(&mut self, client: ClientId) {
        if self.is_resolving {
            return;
        }
        let Some(waiting) = self.edits.of(client).waiting.take_if(|waiting| !waiting.is_decided) else { return };
        let key = (client, Arc::clone(&waiting.asked.document.uri));
        match self.may_spend_on_edits() {
            Err(Some(reason)) => return self.no_edit(waiting, reason),
            Err(None) => {
                self.edits.of(client).waiting = Some(waiting);
                return;
            }
            Ok(()) => {}
        }
        match self.judged_edit(&key, &waiting.asked) {
            Err(Some(reason)) => self.no_edit(waiting, reason),
            Err(None) => {
                self.edits.of(client).waiting = Some(waiting);
                self.judge(&key);
            }
            Ok(()) => match self.kept_edit(&key, &waiting.asked) {
                Some(edit) => drop(self.give_edit(waiting, edit, decisions::Found::kept())),
                None => match self.edits.of(client).is_ahead(&key, waiting.asked.document.normal()) {
                    true => self.take_ahead(waiting),
                    false => self.wait_for_edit(waiting),
                },
            },
        }
    }

    /// Decides if an edit may be asked for in a document.
    ///
    /// # Errors
    /// The rule against it; none if it is not known yet if the document may be sent.
    fn judged_edit(&self, key: &Key, asked: &Asked) -> Result<(), Option<Reason>> {
        if let Err(reason) = &self.source.edits {
            return Err(Some(reason.clone()));
        }
        let judged = self.admitted.get(key).filter(|(judged, _)| judged.elapsed() < FRESH);
        let (_, judged) = judged.ok_or(None)?;
        judged.as_ref().map_err(|reason| Some(reason.clone()))?;
        let Some(document) = self.documents.get(key) else { return Err(Some(Rule::NothingChanged.into())) };
        match self.edit_rule(&document.name, asked) {
            Some(rule) => Err(Some(rule.into())),
            None => Ok(()),
        }
    }

    /// The rule by which no edit is to be asked for.
    fn edit_rule(&self, document: &str, asked: &Asked) -> Option<Rule> {
        if self.config.inline_off_languages.iter().any(|language| **language == *asked.document.language_id) {
            return Some(Rule::Off);
        }
        if asked.is_invoked() {
            return None;
        }
        match self.journal.last_change(document) {
            _ if asked.selecting => Some(Rule::Cursors),
            Some(Kind::Several) => Some(Rule::Cursors),
            Some(Kind::Undone) => Some(Rule::Undo),
            Some(Kind::Own) => Some(Rule::OwnEdit),
            _ if self.journal.edited(|_| Some(String::new())).is_empty() => Some(Rule::NothingChanged),
            Some(Kind::Typed | Kind::Deleted | Kind::Pasted { .. } | Kind::Accepted) | None => None,
        }
    }

    /// The edit that the client has already, if it is not time for another one.
    fn kept_edit(&mut self, key: &Key, asked: &Asked) -> Option<InlineEdit> {
        let now = self.document_of(key.0, &key.1)?;
        let of = self.edits.of(key.0);
        let suggested = of.suggested.as_mut()?;
        let is_far = suggested.key == *key
            && suggested.kind == InlineEditKind::Edit
            && suggested.lines_to(&now, asked.offset) > FAR;
        // Who goes on in another document passes the edit over.
        suggested.passed_over += u32::from(suggested.key != *key);
        // The other uses of a name are found anew, since it may be longer by now.
        let is_old = suggested.passed_over >= PASSED_OVER || suggested.kind == InlineEditKind::Rename;
        if is_far || is_old {
            let (id, rule) = (suggested.id.clone(), if is_far { Rule::Moved } else { Rule::Overtaken });
            of.suggested = None;
            // It must not stay on the screen if nothing else is found.
            self.tell_edit(key.0, InlineChangedParams { id, edit: None, reason: Some(rule.into()) });
            return None;
        }
        if suggested.key == *key {
            suggested.cursor = asked.offset;
        }
        let suggested = self.edits.get(key.0)?.suggested.as_ref()?;
        let document = self.edited_document(suggested)?;
        (**suggested.pending.text() == **document.normal()).then(|| suggested.to_wire(&document))
    }

    fn wait_for_edit(&mut self, mut waiting: WaitingEdit) {
        let (client, number, now) = (waiting.asked.client, waiting.number, Instant::now());
        let asked = &waiting.asked;
        let rest = asked.document.normal().get(asked.offset..).unwrap_or_default();
        // At the end of a line ghost text comes first, if there is any.
        let is_line_end = self.source.model.is_ok() && (rest.is_empty() || rest.starts_with('\n'));
        let context = Context {
            kind: Waited::NextEdit,
            source: Origin::Model,
            is_invoked: asked.is_invoked(),
            is_line_end,
            is_after_trigger: false,
        };
        let quiet = match asked.is_invoked() {
            true => Duration::ZERO,
            false => Duration::from_millis(self.config.inline_quiet.into()),
        };
        let of = self.edits.of(client);
        let wait = of.pace.wait(now, &context).max(quiet);
        let (document, cursor) = (Arc::clone(&asked.document), asked.offset);
        waiting.is_decided = true;
        of.waiting = Some(waiting);
        self.look_up(&(client, Arc::clone(&document.uri)), &document, cursor);
        self.beside(async move {
            // A sleep of no time takes the rest of a millisecond, since the timer counts in these.
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            Message::Edits(EditMessage::Due(client, number))
        });
    }

    fn start_edit(&mut self, client: ClientId, number: u64) {
        let Some(waiting) = self.edits.of(client).waiting.take_if(|waiting| waiting.number == number) else { return };
        let key = (client, Arc::clone(&waiting.asked.document.uri));
        let Some(now) = self.document_of(client, &key.1) else { return self.no_edit(waiting, Rule::Closed.into()) };
        if now.normal() != waiting.asked.document.normal() {
            return self.no_edit(waiting, Rule::Stale.into());
        }
        let asked = &waiting.asked;
        let Some(work) = self.rewriting(&key, number, asked, Arc::clone(asked.document.normal()), asked.offset) else {
            let reason = self.source.edits.as_ref().err().cloned();
            return self.no_edit(waiting, reason.unwrap_or_else(|| Rule::Outside.into()));
        };
        let cancel = CancellationToken::new();
        let of = self.edits.of(client);
        of.waiting = Some(waiting);
        of.run = Some(cancel.clone().drop_guard());
        tokio::spawn(async move {
            let _ = cancel.run_until_cancelled(work.run()).await;
        });
        // A file that is opened later is of use to the next request.
        self.judge(&key);
    }

    /// A search for the edit of a text with the cursor at an offset, for a request in that document. None if there is
    /// no model, or the document may not be sent.
    pub(super) fn rewriting(
        &self,
        key: &Key,
        number: u64,
        asked: &Asked,
        text: Arc<str>,
        offset: usize,
    ) -> Option<Rewriting> {
        let client = key.0;
        let model = self.source.edits.as_ref().ok()?;
        let file = self.admitted.get(key).and_then(|(_, judged)| judged.as_ref().ok())?;
        let own = self.documents.get(key).map(|document| document.name.clone()).unwrap_or_default();
        let display = |name: &str| {
            let of = self.documents.iter().find(|(key, document)| key.0 == client && document.name == name);
            let (_, judged) = self.admitted.get(of?.0)?;
            judged.as_ref().ok().map(|file| file.display.clone())
        };
        Some(Rewriting {
            client,
            number,
            model: Arc::clone(model),
            editor: Arc::clone(&self.clients.get(&client)?.caller.editor),
            uri: Arc::clone(&key.1),
            version: Some(asked.document.version),
            definitions: self.definitions.near(key, &text, offset),
            text,
            offset,
            file: file.clone(),
            language: asked.document.language_id.to_string(),
            is_invoked: asked.is_invoked(),
            history: self.journal.edited(display),
            own: self.journal.edited(|name| (name == own).then(String::new)),
            uses: self.uses(key, asked.is_invoked()),
            others: self.others(key),
            messages: self.messages.clone(),
        })
    }

    pub(super) fn edit_answered(&mut self, client: ClientId, rewritten: Rewritten) {
        let Rewritten { number, found, is_asked, in_vain, searched } = rewritten;
        self.edits.of(client).learn(in_vain, searched);
        let Some((found, waiting)) = self.awaited_edit(client, number, found) else { return };
        let of = self.edits.of(client);
        of.run = None;
        let source = if is_asked { InlineSource::Model } else { InlineSource::Kept };
        let suggested = match found {
            Ok(found) => self.suggested(found, &waiting.asked),
            Err(reason) => Err(reason),
        };
        let suggested = match suggested {
            Ok(suggested) => suggested,
            Err(reason) => return self.no_edit(waiting, reason),
        };
        let Some(document) = self.edited_document(&suggested) else {
            return self.no_edit(waiting, Rule::Closed.into());
        };
        let (edit, model) = (suggested.to_wire(&document), suggested.model.clone());
        // Who waits for this edit does not wait for the search for the next one.
        let asked = self.give_edit(waiting, edit, decisions::Found { source, model, ..decisions::Found::kept() });
        self.look_ahead(&suggested, &asked);
        let of = self.edits.of(client);
        of.last = Some(suggested.id.clone());
        of.suggested = Some(suggested);
    }

    /// The edit that was found, in step with its document as it is now.
    ///
    /// # Errors
    /// The rule by which it is not to be shown.
    fn suggested(&self, found: Found, asked: &Asked) -> Result<Suggested, Reason> {
        let Found { kind, uri, text, mut hunks, model, closed } = found;
        let DocumentFound { key, now, is_closed } = self.document_found(asked.client, &uri, closed.as_ref())?;
        if let Some(document) = self.documents.get(&key).filter(|document| **document.snapshot.normal() == *text) {
            let is_rejected = |hunks: &[_]| document.rejected.is_rejected(&text, hunks);
            // Who asks for an edit is shown one that was rejected, too.
            if !asked.is_invoked() {
                let is_whole = is_rejected(&hunks);
                hunks.retain(|hunk| !is_whole && !is_rejected(std::slice::from_ref(hunk)));
            }
            if hunks.is_empty() {
                return Err(Rule::Rejected.into());
            }
            let lines = lines(&document.snapshot);
            let view = View { text: &text, lines: &lines };
            let whole = accept(&hunks, &text).and_then(|new| between(&text, &new));
            let splices = hunks.iter().map(inline::rebase::Hunk::splice).chain(whole);
            if splices.into_iter().any(|splice| self.journal.reverses(&document.name, view, &splice)) {
                return Err(Rule::Reversal.into());
            }
        }
        let is_own = *key.1 == *asked.document.uri;
        let cursor = if is_own { moved(asked.offset, &text, now.normal()) } else { 0 };
        let mut pending = Pending::new(text, hunks);
        pending.changed(now.normal()).map_err(|_| Rule::Stale)?;
        let mut suggested = Suggested::new(next_name(), kind, key, pending, model, asked.encoding, cursor);
        suggested.closed = is_closed.then_some(now);
        Ok(suggested)
    }

    /// Keeps the edit of a document in step with a change of it, and tells the client.
    pub(super) fn edit_follows(&mut self, key: &Key) {
        let Some(document) = self.documents.get(key).map(|document| Arc::clone(&document.snapshot)) else { return };
        let of = self.edits.of(key.0);
        of.pace.typed(Instant::now());
        of.take_landed(key, document.normal());
        let in_vain = of.keep_ahead(key, document.normal());
        if let Some(waiting) = in_vain {
            self.no_edit(waiting, Rule::Stale.into());
        }
        let of = self.edits.of(key.0);
        let Some(suggested) = of.suggested.as_mut().filter(|suggested| suggested.key == *key) else { return };
        let Some(change) = between(suggested.pending.text(), document.normal()) else { return };
        let id = suggested.id.clone();
        let is_typed = change.range.start <= suggested.cursor && suggested.cursor <= change.range.end;
        let typed_at = suggested.cursor + change.text.len().saturating_sub(change.range.len());
        let near = is_typed.then(|| between_at(suggested.pending.text(), document.normal(), typed_at)).flatten();
        suggested.cursor = near.unwrap_or(change).end();
        let reason = match suggested.pending.changed(document.normal()) {
            Ok(is_elsewhere) => {
                suggested.passed_over += u32::from(is_elsewhere);
                suggested.moved();
                None
            }
            Err(rule) => Some(Reason::from(rule)),
        };
        let edit = reason.is_none().then(|| suggested.to_wire(&document));
        of.suggested.take_if(|_| reason.is_some());
        self.tell_edit(key.0, InlineChangedParams { id, edit, reason });
    }

    /// A document is closed, or its text is not known any more.
    pub(super) fn edit_lost(&mut self, key: &Key, rule: Rule) {
        let of = self.edits.of(key.0);
        if let Some(waiting) = of.waiting.take_if(|waiting| waiting.asked.document.uri == key.1) {
            of.run = None;
            self.no_edit(waiting, rule.into());
        }
        let of = self.edits.of(key.0);
        if let Some(suggested) = of.suggested.take_if(|suggested| suggested.key == *key) {
            self.tell_edit(key.0, InlineChangedParams { id: suggested.id, edit: None, reason: Some(rule.into()) });
        }
    }

    /// Takes what became of an edit. False if it is about something else.
    pub(super) fn edit_feedback(&mut self, client: ClientId, params: &InlineFeedbackParams) -> bool {
        let now = Instant::now();
        let known = self.edits.of(client).suggested.as_ref().filter(|suggested| suggested.id == params.id);
        let model = known.and_then(|suggested| suggested.model.clone());
        if params.hunk.is_none() {
            self.count_edit(model.as_deref(), params);
        }
        let of = self.edits.of(client);
        let Some(suggested) = of.suggested.as_mut().filter(|suggested| suggested.id == params.id) else {
            // An edit that a client puts into the document itself is over before this is told.
            let is_last = of.last.as_ref() == Some(&params.id);
            if is_last && params.event == InlineEvent::Accepted {
                of.pace.accepted(now);
            }
            return is_last;
        };
        match (params.event, &params.hunk) {
            (InlineEvent::Shown | InlineEvent::Partly, _) => {}
            (InlineEvent::Accepted, hunk) => {
                of.pace.accepted(now);
                // A hunk that the client has put into the document itself is taken off with the change.
                of.suggested.take_if(|_| hunk.is_none());
            }
            (InlineEvent::Rejected, hunk) => {
                of.pace.rejected(now);
                of.ahead = None;
                let text = Arc::clone(suggested.pending.text());
                let mut rejected = inline::rejected::Rejected::default();
                let index = hunk.as_deref().and_then(|hunk| suggested.index(hunk));
                match (index, hunk) {
                    (Some(index), _) => {
                        let hunk = suggested.pending.reject(index);
                        hunk.iter().for_each(|hunk| rejected.reject(&text, std::slice::from_ref(hunk)));
                        suggested.moved();
                    }
                    (None, None) => {
                        let hunks = suggested.pending.hunks();
                        hunks.iter().for_each(|hunk| rejected.reject(&text, std::slice::from_ref(hunk)));
                        rejected.reject(&text, hunks);
                    }
                    // It has another name by now; the client is told of it.
                    (None, Some(_)) => {}
                }
                let (key, closed) = (suggested.key.clone(), suggested.closed.clone());
                let is_over = index.is_none() && hunk.is_none() || suggested.pending.hunks().is_empty();
                of.suggested.take_if(|_| is_over);
                match (self.documents.get_mut(&key), closed) {
                    (Some(document), _) => document.rejected.append(rejected),
                    (None, Some(closed)) => self.edits.of(client).reject_there(&closed, rejected),
                    (None, None) => {}
                }
                self.tell_rest(client);
            }
            (InlineEvent::Ignored | InlineEvent::Replaced, _) => {
                (of.suggested, of.ahead) = (None, None);
            }
        }
        true
    }

    fn accept_edit(&mut self, client: ClientId, params: &InlineAcceptParams, reply: Reply<InlineAcceptResult>) {
        let connected = self.clients.get(&client).map(|client| (client.caller.clone(), client.folders.clone()));
        let of = self.edits.of(client);
        if of.landing.is_some() {
            let text = "an edit is on its way into its document already";
            return drop(reply.send(Err(Error::new(ErrorCode::OperationFailed, text))));
        }
        let suggested = of.suggested.as_mut().filter(|suggested| suggested.id == params.id);
        let (Some(suggested), Some((caller, folders))) = (suggested, connected) else {
            let text = "the edit is not there any more: the text has changed since";
            return drop(reply.send(Err(Error::new(ErrorCode::NotFound, text))));
        };
        if let Some(closed) = &suggested.closed {
            let text =
                format!("{} is not open: open it, look at the edit, and accept it there", paths::shown(&closed.path));
            return drop(reply.send(Err(Error::new(ErrorCode::StaleReview, text))));
        }
        let document = caller.buffers.by_uri(&suggested.key.1);
        let document = document.filter(|document| document.normal() == suggested.pending.text());
        let indices = suggested.indices(params.hunks.as_deref());
        let accepted = indices.as_ref().and_then(|indices| suggested.pending.accept(indices));
        let (Some(document), Some(accepted), Some(indices)) = (document, accepted, indices) else {
            let text = "the edit is another one by now: look at it again";
            return drop(reply.send(Err(Error::new(ErrorCode::StaleReview, text))));
        };
        let (number, text) = (next_number(), Arc::<str>::from(accepted.text));
        let (rest, new, cursor) = (accepted.rest, accepted.new, accepted.cursor);
        let made_by = suggested.model.clone();
        let model = made_by.clone().unwrap_or_default();
        let (key, id, encoding) = (suggested.key.clone(), suggested.id.clone(), suggested.encoding);
        let edit = (
            Arc::clone(suggested.pending.text()),
            indices.iter().filter_map(|at| suggested.pending.hunks().get(*at).cloned()).collect(),
        );
        let suggested = of.suggested.take();
        let text_then = Arc::clone(&text);
        of.landing = Some(Landing {
            number,
            id,
            key,
            text: text_then,
            rest,
            new,
            cursor,
            encoding,
            reply,
            suggested,
            edit,
            model: made_by,
        });
        let (done, landed) = oneshot::channel();
        let accepted = AcceptedSuggestion {
            path: document.path.clone(),
            base: document.hash().clone(),
            new_text: text.to_string(),
            model,
            done,
        };
        self.shared.post(None, post::Message::AcceptSuggestion(caller, folders, Box::new(accepted)));
        self.beside(async move {
            let landed = landed.await.unwrap_or_else(|_| Err("the process ends".to_owned()));
            Message::Edits(EditMessage::Landed(client, number, landed))
        });
    }

    fn edit_landed(&mut self, client: ClientId, number: u64, landed: Result<(), String>) {
        let Some(key) = self.edits.of(client).landing.as_ref().map(|landing| landing.key.clone()) else { return };
        // The change may not have been heard of yet.
        if let Some(now) = self.clients.get(&client).and_then(|client| client.caller.buffers.by_uri(&key.1)) {
            self.changed(client, &now);
        }
        let document = self.document_of(client, &key.1);
        let of = self.edits.of(client);
        let Some(landing) = of.landing.take_if(|landing| landing.number == number) else { return };
        let of_document = |text: &Arc<str>| document.as_ref().is_some_and(|document| document.normal() == text);
        let (Ok(()), Some(document)) = (&landed, &document) else {
            let reason = landed.err().unwrap_or_else(|| "the document was closed".to_owned());
            // An edit that the editor refused can be tried again.
            if of.suggested.is_none() {
                of.suggested = landing.suggested.filter(|it| of_document(it.pending.text()));
            }
            if of.suggested.is_none() {
                let rule = Some(Rule::Failed.into());
                self.tell_edit(client, InlineChangedParams { id: landing.id, edit: None, reason: rule });
            }
            let error = Error::new(ErrorCode::OperationFailed, format!("the suggestion was not accepted: {reason}"));
            return drop(landing.reply.send(Err(error)));
        };
        of.pace.accepted(Instant::now());
        let accepted =
            InlineFeedbackParams { id: landing.id.clone(), event: InlineEvent::Accepted, hunk: None, length: None };
        self.count_edit(landing.model.as_deref(), &accepted);
        if document.normal() == &landing.text {
            self.watch_edit(&key, landing.model.as_deref(), &landing.text, &landing.new);
        }
        if let Some(accepted) = self.documents.get_mut(&key) {
            accepted.landed = Some(landing.edit);
        }
        let of = self.edits.of(client);
        let rest = of.suggested.as_ref().filter(|it| it.id == landing.id);
        let rest = rest.map(|suggested| suggested.to_wire(document));
        let cursor = moved(landing.cursor, &landing.text, document.normal());
        let cursor = range(document, cursor..cursor, landing.encoding).start;
        let _ = landing.reply.send(Ok(InlineAcceptResult { uri: document.uri.to_string(), cursor, rest }));
    }

    /// Tells a client of the rest of its edit.
    fn tell_rest(&mut self, client: ClientId) {
        let Some(suggested) = self.edits.get(client).and_then(|of| of.suggested.as_ref()) else { return };
        let Some(document) = self.edited_document(suggested) else { return };
        let (id, edit) = (suggested.id.clone(), Some(suggested.to_wire(&document)));
        self.tell_edit(client, InlineChangedParams { id, edit, reason: None });
    }

    pub(super) fn tell_edit(&self, client: ClientId, changed: InlineChangedParams) {
        if let Some(client) = self.clients.get(&client) {
            client.caller.editor.edit_changed(changed);
        }
    }

    /// Answers a request with an edit. Returns the request.
    fn give_edit(&mut self, waiting: WaitingEdit, edit: InlineEdit, found: decisions::Found) -> Asked {
        let found = decisions::Found { is_edit: true, ..found };
        self.counts.gave(edit.model.as_deref(), &found);
        self.decisions.note(&waiting.asked, waiting.begun, found, None);
        let _ = waiting.answer.send(InlineEditResult { edit: Some(edit), reason: None });
        waiting.asked
    }

    fn no_edit(&mut self, waiting: WaitingEdit, reason: Reason) {
        let found = decisions::Found { is_edit: true, ..decisions::Found::none() };
        self.decisions.note(&waiting.asked, waiting.begun, found, Some(reason.clone()));
        let _ = waiting.answer.send(InlineEditResult { edit: None, reason: Some(reason) });
    }

    /// A document as it was heard of last.
    pub(super) fn document_of(&self, client: ClientId, uri: &Arc<str>) -> Option<Arc<project::buffers::Snapshot>> {
        match self.documents.get(&(client, Arc::clone(uri))) {
            Some(document) => Some(Arc::clone(&document.snapshot)),
            None => self.clients.get(&client)?.caller.buffers.by_uri(uri),
        }
    }
}
