//! A request for the next edit: the uses of a name that the user has changed, or a model's new text for the lines
//! around the cursor; and if it would change nothing there, for lines that are like those that the user has changed,
//! for the next line with a problem, and for the uses of what was changed in files that are not open.

use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use inline::context::LARGEST;
use inline::edit::{Frame, frame, hunks};
use inline::rebase::Hunk;
use inline::{definition, follow, secret};
use ports::complete::{EditNext, Edited, Excerpt, NextEdit};
use ports::model::ModelErrorKind;
use project::buffers::Snapshot;
use project::text::{LineIndex, PositionEncoding};
use protocol::inline::{InlineEditKind, Reason, Rule};
use tokio::sync::mpsc;

use super::Message;
use super::counts::Exchange;
use super::gate::Admitted;
use super::problems::{Problem, problems};
use super::run::{Other, failed, related};
use super::uses::{Closed, Declaration, Settled, Uses};
use crate::{ClientId, Editor};

/// The text around the cursor that is put before a model, in bytes, if the model takes that much.
const AROUND: usize = 12 * 1024;
/// The time that a model has for an edit that nobody asked for, and for one that the user asked for.
const AUTOMATIC: Duration = Duration::from_secs(8);
const INVOKED: Duration = Duration::from_secs(20);
/// So much later the wire gives up by itself.
const AFTER: Duration = Duration::from_secs(2);
/// The positions beside the cursor for which a model is asked, if it costs nothing or the user wants to know.
const ELSEWHERE: usize = 2;
/// The problems that a model reads: so many lines away at most, and so many.
const NEAR: usize = 20;
const MOST_PROBLEMS: usize = 10;

/// A request for the next edit, with all that it needs.
pub(super) struct Rewriting {
    pub(super) client: ClientId,
    pub(super) number: u64,
    pub(super) model: Arc<dyn EditNext>,
    pub(super) editor: Arc<dyn Editor>,
    pub(super) uri: Arc<str>,
    /// The version of the document whose problems count; none if they are not known for the text.
    pub(super) version: Option<i32>,
    pub(super) text: Arc<str>,
    pub(super) offset: usize,
    pub(super) file: Admitted,
    pub(super) language: String,
    pub(super) is_invoked: bool,
    /// The user's last edits of all files that may be sent, the newest last.
    pub(super) history: Vec<Edited>,
    /// Those of this document.
    pub(super) own: Vec<Edited>,
    pub(super) others: Vec<Other>,
    /// The definitions of what is near the cursor; none if no language server is warm.
    pub(super) definitions: Option<Vec<Excerpt>>,
    /// The way to the uses of a name in files that are not open.
    pub(super) uses: Option<Uses>,
    pub(super) messages: mpsc::WeakUnboundedSender<Message>,
}

/// The end of it.
pub(super) struct Rewritten {
    pub(super) number: u64,
    pub(super) found: Result<Found, Reason>,
    /// True if a model was asked.
    pub(super) is_asked: bool,
    /// The files that are not open in which nothing is to change.
    pub(super) in_vain: Vec<Settled>,
    /// A declaration without uses that are left.
    pub(super) searched: Option<Declaration>,
}

impl Rewritten {
    /// The end of the search with a number, which has asked nobody.
    pub(super) fn new(number: u64, found: Result<Found, Reason>) -> Self {
        Self { number, found, is_asked: false, in_vain: Vec::new(), searched: None }
    }
}

/// The edit that was found.
pub(super) struct Found {
    pub(super) kind: InlineEditKind,
    /// The document that it changes, and the text that it is for.
    pub(super) uri: Arc<str>,
    pub(super) text: Arc<str>,
    pub(super) hunks: Vec<Hunk>,
    /// The model that it is from.
    pub(super) model: Option<String>,
    /// The file as it was read, if it was not open.
    pub(super) closed: Option<Arc<Snapshot>>,
}

/// A position in a document, for which a model is asked.
struct Position<'a> {
    kind: InlineEditKind,
    uri: &'a Arc<str>,
    file: &'a Admitted,
    text: &'a Arc<str>,
    offset: usize,
    /// The problems of the document.
    problems: &'a [Problem],
}

impl Rewriting {
    /// Looks for an edit, and reports, whatever happens.
    pub(super) async fn run(self) {
        let mut rewritten = Rewritten::new(self.number, Err(Rule::Failed.into()));
        let found = AssertUnwindSafe(self.find(&mut rewritten)).catch_unwind().await;
        rewritten.found = found.unwrap_or_else(|_| {
            let words = "A fault of Azimuth's; the log says more.".to_owned();
            Err(Reason { rule: Rule::Failed, words })
        });
        self.tell(Message::of_edit(self.client, rewritten));
    }

    async fn find(&self, notes: &mut Rewritten) -> Result<Found, Reason> {
        if let Some(renamed) = follow::rename(&self.file.path, &self.text, &self.own) {
            let (uri, text) = (Arc::clone(&self.uri), Arc::clone(&self.text));
            return Ok(Found {
                kind: InlineEditKind::Rename,
                uri,
                text,
                hunks: renamed.hunks,
                model: None,
                closed: None,
            });
        }
        let problems = match self.version {
            Some(version) => problems(&*self.editor, &self.uri, version).await,
            None => Vec::new(),
        };
        notes.is_asked = true;
        let Self { uri, file, text, offset, .. } = self;
        let here = Position { kind: InlineEditKind::Edit, uri, file, text, offset: *offset, problems: &problems };
        let reason = match self.ask(&here).await {
            Err(reason) if is_nothing(reason.rule) => reason,
            ended => return ended,
        };
        if !self.model.info().is_local && !self.is_invoked {
            return Err(reason);
        }
        for position in self.elsewhere(&problems) {
            match self.ask(&position).await {
                Err(reason) if is_nothing(reason.rule) => {}
                ended => return ended,
            }
        }
        match self.find_closed(notes).await {
            Some(found) => found,
            None => Err(reason),
        }
    }

    /// Looks in files that are not open, at the uses of what the user's last edits declare. None if nothing is to
    /// change there.
    async fn find_closed(&self, notes: &mut Rewritten) -> Option<Result<Found, Reason>> {
        // Servers do not know a text that is still to come.
        let uses = self.uses.as_ref().filter(|_| self.version.is_some())?;
        let (origin, name) = uses.origins.iter().find_map(|origin| {
            let name = follow::declared(&origin.path, &origin.text, &origin.edits)?;
            Some((origin, name))
        })?;
        let line = origin.text.get(name..)?.lines().next().unwrap_or_default();
        let declaration: Declaration = (Arc::clone(&origin.uri), line.to_owned());
        if uses.searched.contains(&declaration) {
            return None;
        }
        let closed = uses.find(origin, name, &declaration, ELSEWHERE).await?;
        notes.searched = closed.is_empty().then(|| declaration.clone());
        for Closed { document, file, offset } in closed {
            let (kind, uri, text) = (InlineEditKind::Jump, &document.uri, document.normal());
            match self.ask(&Position { kind, uri, file: &file, text, offset, problems: &[] }).await {
                Ok(found) => return Some(Ok(Found { closed: Some(document), ..found })),
                Err(reason) if matches!(reason.rule, Rule::Late | Rule::Failed) => return Some(Err(reason)),
                // A reason that is in a file that the user does not see is none that helps.
                Err(_) => {
                    let (path, text) = (document.path.clone(), document.hash().clone());
                    notes.in_vain.push(Settled { path, text, declaration: Some(declaration.clone()) });
                }
            }
        }
        None
    }

    /// The positions at which the same edit as the last may be due, in this document and then in the others, and that
    /// of the next problem.
    fn elsewhere<'a>(&'a self, problems: &'a [Problem]) -> Vec<Position<'a>> {
        let window = frame(&self.text, self.offset, self.model.window(), AROUND).map_or(0..0, |frame| frame.window);
        let lines = LineIndex::new(&self.text);
        let (first, last) = (lines.line_of(window.start), lines.line_of(window.end));
        let outside = problems.iter().filter(|(at, _)| !(first..=last).contains(&(at.line as usize)));
        let of_problem = outside
            .min_by_key(|(at, _)| (at.line as usize).abs_diff(first))
            .and_then(|(at, _)| lines.offset(&self.text, *at, PositionEncoding::Utf16));
        let here = |offset| {
            let Self { uri, file, text, .. } = self;
            Position { kind: InlineEditKind::Jump, uri, file, text, offset, problems }
        };
        let like = follow::alike(&self.text, &window, &self.own).into_iter().take(1).map(here);
        let others = self.others.iter().filter_map(|other| {
            let text = other.document.normal();
            if text.len() > LARGEST {
                return None;
            }
            let offset = *follow::alike(text, &(0..0), &self.own).first()?;
            let (kind, uri) = (InlineEditKind::Jump, &other.document.uri);
            Some(Position { kind, uri, file: &other.file, text, offset, problems: &[] })
        });
        like.chain(others).chain(of_problem.map(here)).take(ELSEWHERE).collect()
    }

    async fn ask(&self, position: &Position<'_>) -> Result<Found, Reason> {
        let Position { kind, uri, file, text, .. } = position;
        let (request, window) = self.request(position)?;
        let deadline = request.deadline;
        // Ours comes first, so that a late answer is known as such.
        let request = NextEdit { deadline: deadline + AFTER, ..request };
        let mut exchange = Exchange::begin(self.model.info(), sent(&request), self.messages.clone());
        let asked = tokio::time::timeout(deadline, self.model.edit(request)).await;
        match &asked {
            Ok(Ok(rewritten)) => {
                exchange.piece(rewritten.text.as_deref().unwrap_or_default());
                exchange.finished(rewritten.usage);
            }
            // The vendor bills an answer that cannot be read too.
            Ok(Err(error)) if matches!(error.kind, ModelErrorKind::Garbage | ModelErrorKind::Incomplete) => {
                exchange.late();
            }
            Ok(Err(_)) => exchange.failed(),
            Err(_) => exchange.late(),
        }
        let rewritten = asked.map_err(|_| Rule::Late)?.map_err(failed)?;
        if rewritten.is_cut {
            return Err(Rule::CutOff.into());
        }
        let answer = rewritten.text.ok_or(Rule::NoChange)?;
        let hunks = hunks(&file.path, text, window, &answer)?;
        // A problem is a reason too, and so is the user's wish.
        let needs_reason = !self.is_invoked && near_problems(position).is_empty();
        if needs_reason && follow::is_unrelated(text, &hunks, &self.history, self.own_at(position)) {
            return Err(Rule::Unrelated.into());
        }
        let model = Some(self.model.info().id.clone());
        Ok(Found { kind: *kind, uri: Arc::clone(uri), text: Arc::clone(text), hunks, model, closed: None })
    }

    /// The user's last edits of the document of a position.
    fn own_at(&self, position: &Position<'_>) -> &[Edited] {
        if *position.uri == self.uri { &self.own } else { &[] }
    }

    /// The request with the window that it is for. It contains nothing that looks like a secret.
    fn request(&self, position: &Position<'_>) -> Result<(NextEdit, Range<usize>), Reason> {
        let (text, info) = (&**position.text, self.model.info());
        let bytes = AROUND.min(info.context_bytes / 2);
        let framed = frame(text, position.offset, self.model.window(), bytes).ok_or(Rule::LongLine)?;
        let Frame { excerpt, window, line: excerpt_line } = framed;
        let near = secret::near(text, excerpt.clone());
        // The window must come back as it is but for the edit, so nothing can be left out of it.
        if near.iter().any(|secret| secret.start < window.end && secret.end > window.start) {
            return Err(Rule::SecretNear.into());
        }
        let before = secret::cut(text, excerpt.start..window.start, &near);
        let within = text.get(window.clone()).unwrap_or_default();
        let after = secret::cut(text, window.end..excerpt.end, &near);
        let controls = |text: &str| info.control_tokens.iter().any(|token| text.contains(token.as_str()));
        let read = [before.as_str(), within, &after].concat();
        if controls(&read) {
            return Err(Rule::ControlTokens.into());
        }
        let mut left = info.context_bytes.saturating_sub(read.len());
        let fits = |bytes: usize, left: &mut usize| {
            let fits = bytes <= *left;
            *left -= if fits { bytes } else { 0 };
            fits
        };
        // The newest edits matter most, so they are the last to be left out.
        let mut history: Vec<Edited> = self.history.iter().rev().map(without_secrets).collect();
        history.retain(|edit| !controls(&edit.before) && !controls(&edit.after));
        history.retain(|edit| fits(edit.before.len() + edit.after.len(), &mut left));
        history.reverse();
        let mut related = related(&self.others, text, position.offset, |message| self.tell(message));
        let definitions = self.definitions.as_deref().filter(|_| position.kind == InlineEditKind::Edit);
        let reserved = definition::room(definitions, left);
        left -= reserved;
        related.retain(|part: &Excerpt| !controls(&part.text) && fits(part.text.len(), &mut left));
        left += reserved;
        let texts = std::iter::once(read.as_str()).chain(related.iter().map(|part| part.text.as_str()));
        let mut definitions = definition::chosen(definitions, &texts.collect::<Vec<_>>());
        definitions.retain(|part| !controls(&part.text) && fits(part.text.len(), &mut left));
        related.append(&mut definitions);
        let mut problems = near_problems(position);
        problems.retain(|(_, message)| !controls(message) && fits(message.len(), &mut left));
        let start = before.len();
        let request = NextEdit {
            path: position.file.display.clone(),
            language: self.language.clone(),
            excerpt: read,
            excerpt_line,
            window: start..start + window.len(),
            cursor: start + position.offset.saturating_sub(window.start).min(window.len()),
            history,
            related,
            problems,
            deadline: if self.is_invoked { INVOKED } else { AUTOMATIC },
        };
        Ok((request, window))
    }

    fn tell(&self, message: Message) {
        if let Some(messages) = self.messages.upgrade() {
            let _ = messages.send(message);
        }
    }
}

/// True if a rule says that nothing is to be changed at a position, so that another one may be looked at.
fn is_nothing(rule: Rule) -> bool {
    matches!(rule, Rule::NoChange | Rule::BlankSpace | Rule::Empty)
}

/// The problems within some lines of a position, with their lines from 0.
fn near_problems(position: &Position<'_>) -> Vec<(usize, String)> {
    if position.problems.is_empty() {
        return Vec::new();
    }
    let lines = LineIndex::new(position.text);
    let line = lines.line_of(position.offset);
    // A message may quote what is on its line.
    let is_open = |of: usize| {
        let bytes = lines.range(position.text, of).unwrap_or_default();
        let secrets = secret::near(position.text, bytes.clone());
        !secrets.iter().any(|secret| secret.start < bytes.end && secret.end > bytes.start)
    };
    let all = position.problems.iter().map(|(at, message)| (at.line as usize, message.clone()));
    all.filter(|(of, _)| of.abs_diff(line) <= NEAR && is_open(*of)).take(MOST_PROBLEMS).collect()
}

/// The bytes of text that a request sends.
fn sent(request: &NextEdit) -> usize {
    let history: usize = request.history.iter().map(|edit| edit.before.len() + edit.after.len()).sum();
    request.excerpt.len() + history + request.related.iter().map(|part| part.text.len()).sum::<usize>()
}

fn without_secrets(edit: &Edited) -> Edited {
    let clean = |text: &str| secret::without(text).into_owned();
    Edited { before: clean(&edit.before), after: clean(&edit.after), ..edit.clone() }
}
