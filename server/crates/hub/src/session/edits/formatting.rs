//! The steps once accepted edits are in files: the files are formatted, by the editor that has them open or else by our
//! own language servers, and open ones are saved, if the user has set so.
//!
//! Both are only asked what a file would be. The answer goes into it on the way of accepted hunks, if it is still the
//! one that was formatted; else it is dropped.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lang::{Source, edited};
use project::buffers::{Open, Snapshot};
use project::paths;
use project::review::{Application, Base, ChangedLines, Note, diff, formatted, to_line_edits};
use project::text::hash;
use protocol::editor::{EditorFormatParams, EditorFormatResult, LineRange};
use protocol::event::{ApplyOutcome, Severity};
use protocol::lang::{LangAnswer, LangChange, LangQuery, LangResult, LangStatus};
use protocol::{Event, TurnId};

use super::carry::Carried;
use super::saving::NotSaved;
use super::{Context, Edits, Message};
use crate::config::FormatEdits;
use crate::session::{Own, Reading};
use crate::{Editor, EditorError};

/// The model is shown what the formatter changed up to so many bytes of a diff; of more it is only told.
const LONGEST_DIFF: usize = 4000;

/// So long a language server of our own may take, as long as an editor.
const WITHIN: Duration = Duration::from_secs(10);

/// The wait for the editor's formatter of a language that did not answer in time the last time.
const WITHIN_IF_LATE: Duration = Duration::from_secs(1);

/// A formatter's name is shown up to so many characters.
const LONGEST_NAME: usize = 80;

/// The files to format and the documents to save, with the work under way.
#[derive(Default)]
pub(super) struct Formatting {
    /// The files that edits arrived in and that are not formatted.
    edited: HashMap<PathBuf, Edited>,
    /// The files that are being formatted.
    running: HashMap<PathBuf, Run>,
    /// The documents that are to be saved, if they held nothing of the user's own.
    unsaved: HashSet<PathBuf>,
    /// The news for the model.
    news: Vec<String>,
    /// True if the user was told that a file could not be formatted.
    failure_told: bool,
    /// The languages whose formatter in the editor did not answer in time when it was last asked.
    late_languages: HashSet<Arc<str>>,
    /// The formatters of which the user was told that they did not answer in time.
    late_told: HashSet<String>,
    /// True if the user was told that a document could not be saved.
    unsaved_told: bool,
}

/// Edits that arrived in a file.
struct Edited {
    /// The turn that the last of them belongs to.
    turn: Option<TurnId>,
    lines: ChangedLines,
    /// The file's text after the last of them.
    text: Arc<str>,
    /// True if the formatter would change lines of pending hunks, so that the file waits until none is pending.
    waits: bool,
}

/// A file that is being formatted.
struct Run {
    edited: Edited,
    /// The file that the formatter was asked about.
    asked: Arc<Asked>,
    /// The formatter's answer, once it is on its way into the file.
    answer: Option<Given>,
}

/// A file as a formatter was asked about it.
struct Asked {
    path: PathBuf,
    /// The document; none if no editor has the file open.
    document: Option<Arc<Snapshot>>,
    /// The normal text.
    text: Arc<str>,
}

struct Given {
    /// The formatter's readable name.
    by: Option<String>,
    /// The file as the model reads it, before and after.
    read: [Arc<str>; 2],
}

/// A formatter's answer.
pub(in crate::session) struct Answered {
    asked: Arc<Asked>,
    answer: Result<EditorFormatResult, NoAnswer>,
    /// The text on disk then, of a file that is not open.
    on_disk: Option<Arc<str>>,
}

/// Why a formatter gave no answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error(transparent)]
    Editor(#[from] EditorError),
    /// A language server of our own could not, in words.
    #[error("{0}")]
    Server(String),
    /// A language server of our own did not answer in time.
    #[error("{message}")]
    LateServer { name: String, message: String },
}

impl NoAnswer {
    /// Who did not answer in time.
    fn late(&self) -> Option<&str> {
        match self {
            Self::Editor(EditorError::TimedOut) => Some("the editor"),
            Self::LateServer { name, .. } => Some(name),
            Self::Editor(_) | Self::Server(_) => None,
        }
    }
}

impl Formatting {
    /// True if files are being formatted.
    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Takes the news for the model; each is returned once.
    pub(super) fn take_news(&mut self) -> impl Iterator<Item = Note> {
        std::mem::take(&mut self.news).into_iter().map(|text| Note { text, has_word: false })
    }

    /// The editor's formatter of a language has answered, so that it is waited for again.
    pub(super) fn answers_again(&mut self, language: &Arc<str>) {
        self.late_languages.remove(language);
    }

    /// Formats and saves nothing of what has been edited: the documents are another editor's now, which may hold other
    /// texts of the same files. What is on its way into a document goes on.
    pub(super) fn leave(&mut self) {
        self.give_up();
        self.late_languages.clear();
        self.unsaved.clear();
    }

    /// Formats nothing of what has been edited. What is on its way into a document goes on.
    pub(super) fn give_up(&mut self) {
        self.edited.clear();
        self.running.retain(|_, run| run.answer.is_some());
    }
}

/// The outcome of a formatter's answer; nothing if the file needs no change, or was changed further.
#[derive(Default)]
pub(super) struct Put {
    /// The notice for the user.
    pub(super) notice: Option<Event>,
    /// The change that goes into the file.
    pub(super) application: Option<Application>,
}

impl Edits {
    /// Edits, or a formatter's changes, have arrived in a document.
    pub(super) fn arrived(&mut self, application: &Application, turn: Option<TurnId>, context: Context<'_>) {
        let Some(after) = &application.target_text else { return };
        // Text that is restored because the user took back a command's change is to be as it was.
        if self.review.is_landed(&application.proposal_id) {
            return;
        }
        let is_open = match context.reading.reader.buffers().get(&application.path) {
            Open::Yes(_) => true,
            Open::No => false,
            Open::OutOfSync => return,
        };
        if is_open && context.config.save_edits {
            self.formatting.unsaved.insert(application.path.clone());
        }
        if context.config.format_edits != FormatEdits::Off && !application.hunk_ids.is_empty() {
            // An answer that the editor has still to give comes too late: it is asked again.
            let asked = |run: &mut Run| run.answer.is_none();
            let run = self.formatting.running.extract_if(|path, run| *path == application.path && asked(run)).next();
            let first = || match run {
                Some((_, run)) => run.edited,
                None => Edited { turn: None, lines: ChangedLines::default(), text: Arc::clone(after), waits: false },
            };
            let edited = self.formatting.edited.entry(application.path.clone()).or_insert_with(first);
            match &application.base_text {
                Some(before) => edited.lines.edited(before, &application.edits, after),
                None => edited.lines.edited(&"".into(), &to_line_edits("", after), after),
            }
            (edited.turn, edited.text, edited.waits) = (turn, Arc::clone(after), false);
        }
    }

    /// Has the files formatted that edits arrived in, all of them by now: by this editor, which has documents open. An
    /// undo waits for nothing that a formatter would do, so that while one waits there is nothing to do.
    pub(super) fn begin_to_format(&mut self, editor: Option<&Arc<dyn Editor>>, is_held: bool, context: Context<'_>) {
        if is_held || context.config.format_edits == FormatEdits::Off {
            self.formatting.give_up();
        }
        let review = &self.review;
        let is_due = |path: &PathBuf, edited: &mut Edited| !edited.waits || !review.has_pending(path);
        let due: Vec<_> = self.formatting.edited.extract_if(is_due).collect();
        for (path, edited) in due {
            self.format(path, edited, editor, context);
        }
    }

    /// Asks what a file would be, formatted: the editor that has it open, else our own language servers.
    fn format(&mut self, path: PathBuf, mut edited: Edited, editor: Option<&Arc<dyn Editor>>, context: Context<'_>) {
        let document = match context.reading.reader.buffers().get(&path) {
            Open::Yes(document) => Some(document),
            Open::No => None,
            Open::OutOfSync => return,
        };
        // Our own servers are shown what is pending, too, and what they said would be of that text.
        let has_pending = self.review.has_pending(&path);
        if document.is_none() && has_pending {
            self.formatting.edited.insert(path, Edited { waits: true, ..edited });
            return;
        }
        let text = document.as_ref().map_or_else(|| Arc::clone(&edited.text), |document| Arc::clone(document.normal()));
        let lines: Vec<LineRange> = match context.config.format_edits {
            FormatEdits::Lines => edited.lines.now(&text).iter().map(line_range).collect(),
            FormatEdits::File | FormatEdits::Off => Vec::new(),
        };
        // Where lines only went away there are none to format.
        if context.config.format_edits == FormatEdits::Lines && lines.is_empty() {
            return;
        }
        let editor = editor.filter(|_| document.is_some()).cloned();
        let is_late = document.as_ref().is_some_and(|it| self.formatting.late_languages.contains(&it.language_id));
        let asked = Arc::new(Asked { path: path.clone(), document, text });
        self.formatting.running.insert(path, Run { edited, asked: Arc::clone(&asked), answer: None });
        let (own, servers, reader) =
            (self.own.clone(), Arc::clone(&context.reading.own_servers), Arc::clone(&context.reading.reader));
        tokio::spawn(async move {
            let by_editor = match (&asked.document, editor) {
                (Some(document), Some(editor)) => {
                    let (uri, version) = (document.uri.to_string(), document.version);
                    let (language, own) = (Arc::clone(&document.language_id), own.clone());
                    let params = EditorFormatParams { uri, version, lines: lines.clone() };
                    // It goes on when it is waited for no longer, so that it is known whether it answers.
                    let asking = tokio::spawn(async move {
                        let answer = editor.format(params).await;
                        if !matches!(answer, Err(EditorError::TimedOut)) {
                            let _ = own.send(Own::Edits(Message::FormatterAnswered(language)));
                        }
                        answer
                    });
                    let within = if is_late { WITHIN_IF_LATE } else { Duration::MAX };
                    let answer = tokio::time::timeout(within, asking).await;
                    Some(answer.map_or(Err(EditorError::TimedOut), |ended| ended.unwrap_or(Err(EditorError::Gone))))
                }
                _ => None,
            };
            let answer = match by_editor {
                // An editor that cannot be asked has no formatter that we could double.
                Some(Err(EditorError::Unsupported)) if !has_pending => {
                    match by_server(&*servers, &asked, lines).await {
                        Ok(EditorFormatResult { text: None, .. }) => Err(EditorError::Unsupported.into()),
                        answer => answer,
                    }
                }
                Some(answer) => answer.map_err(NoAnswer::from),
                None => by_server(&*servers, &asked, lines).await,
            };
            let looked = Arc::clone(&asked);
            let on_disk = tokio::task::spawn_blocking(move || {
                looked.document.is_none().then(|| reader.base_text(&looked.path).ok().flatten()).flatten()
            });
            let on_disk = on_disk.await.ok().flatten();
            let _ = own.send(Own::Edits(Message::FormatAnswered(Box::new(Answered { asked, answer, on_disk }))));
        });
    }

    /// Takes what a file would be, as a formatter says; none if that is waited for no longer.
    pub(super) fn format_answered(&mut self, answered: Answered, context: Context<'_>) -> Option<Put> {
        let Answered { asked, answer, on_disk } = answered;
        let is_it = |run: &mut Run| run.answer.is_none() && Arc::ptr_eq(&run.asked, &asked);
        let run = self.formatting.running.get_mut(&asked.path).is_some_and(is_it);
        if let (Some(document), Err(NoAnswer::Editor(EditorError::TimedOut))) = (&asked.document, &answer) {
            self.formatting.late_languages.insert(Arc::clone(&document.language_id));
        }
        let run = run.then(|| self.formatting.running.remove(&asked.path)).flatten()?;
        Some(self.put_formatted(run, answer, on_disk, context))
    }

    fn put_formatted(
        &mut self,
        run: Run,
        answer: Result<EditorFormatResult, NoAnswer>,
        on_disk: Option<Arc<str>>,
        context: Context<'_>,
    ) -> Put {
        let Run { edited, asked, .. } = run;
        let (path, file) = (&asked.path, context.reading.roots.display(&asked.path));
        // Further edits are on their way: it is formatted with them.
        if self.applying.concerns(path) {
            self.formatting.edited.insert(path.clone(), edited);
            return Put::default();
        }
        let document = match (context.reading.reader.buffers().get(path), &asked.document) {
            (Open::Yes(document), Some(_)) => Some(document),
            (Open::No, None) => None,
            // It was opened meanwhile, and is formatted there.
            (Open::Yes(_), None) => {
                self.formatting.edited.insert(path.clone(), edited);
                return Put::default();
            }
            _ => return Put::default(),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(NoAnswer::Editor(EditorError::Gone)) => return Put::default(),
            Err(error) => {
                let notice = match error.late() {
                    Some(who) => self.formatting.late(who, &file, &error),
                    None => self.formatting.not_formatted(&file, &error.to_string()),
                };
                return Put { notice, application: None };
            }
        };
        let Some(text) = answer.text else { return Put::default() };
        let Some(now) = document.as_ref().map(|document| Arc::clone(document.normal())).or(on_disk) else {
            return Put::default();
        };
        if now != asked.text {
            tracing::debug!(file, "changed further while it was formatted");
            return Put::default();
        }
        let text = match formatted(&now, &text) {
            Ok(Some(text)) => text,
            Ok(None) => return Put::default(),
            Err(error) => {
                let notice = self.formatting.not_formatted(&file, &error.to_string());
                return Put { notice, application: None };
            }
        };
        let before = self.as_read(path, &now);
        let base = document.as_deref().map_or(Base::Text(Some(&now)), Base::Open);
        let Some(application) = self.review.format(path, base, &file, &paths::to_uri(path), &text) else {
            self.formatting.edited.insert(path.clone(), Edited { waits: true, ..edited });
            return Put::default();
        };
        let by = answer.by.as_deref().and_then(one_line);
        let given = Given { by, read: [before, self.as_read(path, &now)] };
        self.formatting.running.insert(path.clone(), Run { edited, asked: Arc::clone(&asked), answer: Some(given) });
        Put { notice: None, application: Some(application) }
    }

    /// A file with this text as the model reads it.
    fn as_read(&self, path: &Path, text: &Arc<str>) -> Arc<str> {
        let proposed = self.review.overlay().get(path).cloned().flatten();
        proposed.unwrap_or_else(|| Arc::clone(text))
    }

    /// Takes the news of a formatter's changes; gives what is to be recorded of them.
    pub(super) fn formatted(
        &mut self,
        application: &Application,
        carried: Carried,
        context: Context<'_>,
    ) -> Option<Event> {
        let Some(Run { edited, answer: Some(given), .. }) = self.formatting.running.remove(&application.path) else {
            return None;
        };
        let file = context.reading.roots.display(&application.path);
        let by = given.by.as_deref().unwrap_or("The editor's formatter");
        let (before, after) = (carried.before, application.target_text.as_deref().map(hash));
        match (carried.outcome.clone(), before, after) {
            (ApplyOutcome::Verified | ApplyOutcome::Unverified, Some(before), Some(after)) => {
                let is_seen = carried.outcome == ApplyOutcome::Verified;
                let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
                let new = application.edits.iter().map(|edit| edit.new_text.lines().count());
                let old = application.edits.iter().map(|edit| edit.end_line - edit.start_line);
                let (added, removed) = (count(new.sum()), count(old.sum()));
                let note = match is_seen {
                    true => note_of(&application.path, &file, by, &given.read, context.reading),
                    false => format!(
                        "{by} was to format {file} after your edit was accepted, but that could not be seen to arrive. \
                         Read the file before you rely on it."
                    ),
                };
                self.formatting.news.push(note);
                let (turn_id, uri) = (edited.turn, paths::to_uri(&application.path));
                Some(Event::Formatted { turn_id, uri, before, after: after.0, added, removed, by: given.by })
            }
            // The user typed on, and what they typed counts.
            (ApplyOutcome::Failed { reason }, ..) => {
                tracing::debug!(file, reason, "not formatted");
                None
            }
            (ApplyOutcome::Verified | ApplyOutcome::Unverified, ..) => None,
        }
    }

    /// The documents that edits arrived in and that hold nothing unsaved but our edits, to be saved now.
    pub(super) fn take_edited(&mut self, reading: &Reading) -> Vec<Arc<Snapshot>> {
        let documents = std::mem::take(&mut self.formatting.unsaved).into_iter();
        let ours = documents.filter_map(|path| match reading.reader.buffers().get(&path) {
            Open::Yes(buffer) if self.ours.has(&buffer) => Some(buffer),
            _ => None,
        });
        let mut wanted: Vec<_> = ours.collect();
        wanted.sort_by(|a, b| a.path.cmp(&b.path));
        wanted
    }
}

impl Formatting {
    /// Tells the user, once of each formatter, that it did not answer in time.
    fn late(&mut self, who: &str, file: &str, reason: &NoAnswer) -> Option<Event> {
        tracing::info!(file, %reason, "not formatted");
        self.late_told.insert(who.to_owned()).then(|| {
            let text = format!(
                "{file} was not formatted after the edit: {reason}. It is as the edit left it. From now on {who} is \
                 waited for only {} second, until it answers in time. This is said once; the setting `format_edits` \
                 says what is formatted",
                WITHIN_IF_LATE.as_secs()
            );
            Event::Notice { severity: Severity::Warning, text }
        })
    }

    /// Tells the user, once, that a file could not be formatted.
    fn not_formatted(&mut self, file: &str, reason: &str) -> Option<Event> {
        tracing::info!(file, reason, "not formatted");
        (!std::mem::replace(&mut self.failure_told, true)).then(|| {
            let text = format!(
                "{file} was not formatted after the edit: {reason}. It is as the edit left it. This is said once; the \
                 setting `format_edits` says what is formatted"
            );
            Event::Notice { severity: Severity::Warning, text }
        })
    }

    /// Tells the user, once, that documents could not be saved after edits.
    pub(super) fn edits_saved(&mut self, failures: &[NotSaved]) -> Option<Event> {
        if failures.is_empty() || std::mem::replace(&mut self.unsaved_told, true) {
            return None;
        }
        let failures: Vec<_> = failures.iter().map(NotSaved::to_string).collect();
        let text = format!(
            "{}. The edit is in the editor; save it yourself. This is said once; the setting `save_edits` says what is \
             saved",
            failures.join("; ")
        );
        Some(Event::Notice { severity: Severity::Warning, text })
    }
}

/// Returns the note for the model on a formatted file. Changes that it shows in full count as seen.
fn note_of(path: &Path, file: &str, by: &str, [before, after]: &[Arc<str>; 2], reading: &Reading) -> String {
    let said = format!("{by} formatted {file} after your edit was accepted.");
    let diff = diff(Some(before), Some(after), file);
    // A file that is kept from the model is not shown to it in a diff either.
    let is_kept = !reading.search.shows(path) && !reading.seen.is_current(path, &hash(before));
    if is_kept || diff.len() > LONGEST_DIFF {
        return format!("{said} It changed much; read the file again before you edit it.");
    }
    reading.seen.edited(path, Some(&hash(before)), Some(hash(after)));
    format!("{said} It made these changes; edit the text as it is now:\n{diff}")
}

/// Asks a language server of our own for a file's formatted text; there is no text if none of them can format it.
async fn by_server(servers: &dyn Source, asked: &Asked, lines: Vec<LineRange>) -> Result<EditorFormatResult, NoAnswer> {
    let nothing = EditorFormatResult { text: None, by: None };
    let result = servers.ask(&LangQuery::Format { uri: paths::to_uri(&asked.path), lines }, WITHIN).await;
    let failed = |words: &str| NoAnswer::Server(result.message.clone().unwrap_or_else(|| words.to_owned()));
    let changes = match (result.status, &result.answer) {
        (LangStatus::NoServer | LangStatus::Unsupported | LangStatus::Unseen, _) => return Ok(nothing),
        (LangStatus::TimedOut, _) => {
            let name = names(&result).unwrap_or_else(|| "the language server".to_owned());
            let message = result.message.clone().unwrap_or_else(|| format!("{name} did not answer in time"));
            return Err(NoAnswer::LateServer { name, message });
        }
        (LangStatus::Ready | LangStatus::Indexing | LangStatus::Partial, LangAnswer::Edit { changes }) => changes,
        _ => return Err(failed("the language server could not")),
    };
    let mut edits = Vec::new();
    for change in changes {
        match change {
            LangChange::Text { hash: of, edits: some, .. }
                if of.as_ref().is_none_or(|of| *of == hash(&asked.text).0) =>
            {
                edits.extend(some.iter().cloned());
            }
            // It was asked about a text that is another by now.
            _ => return Ok(nothing),
        }
    }
    // Where the edits for several places overlap, they are of texts that differ, and none of them is taken.
    Ok(EditorFormatResult { text: edited(&asked.text, &edits), by: names(&result) })
}

/// The names of the servers that were asked; none if there was none.
fn names(result: &LangResult) -> Option<String> {
    let names: Vec<_> = result.servers.iter().map(|server| server.name.as_str()).collect();
    Some(names.join(", ")).filter(|names| !names.is_empty())
}

/// Returns a formatter's name for itself, short and without line breaks; `None` if it is empty.
fn one_line(name: &str) -> Option<String> {
    let words: Vec<_> = name.split(|c: char| c.is_whitespace() || c.is_control()).filter(|it| !it.is_empty()).collect();
    let name: String = words.join(" ").chars().take(LONGEST_NAME).collect();
    (!name.is_empty()).then_some(name)
}

fn line_range(lines: &std::ops::Range<usize>) -> LineRange {
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    LineRange { start: line(lines.start), end: line(lines.end) }
}
