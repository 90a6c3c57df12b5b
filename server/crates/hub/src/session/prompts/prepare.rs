//! All that a prompt needs to become a turn: its slash commands are executed, its mentions are read, the model is found
//! and the system prompt made. It happens beside the session's task, which keeps the prompt;
//! only hooks are shown a copy of it.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use agent::commands::Invocation;
use agent::prompt::{Environment, PromptParts, Section};
use agent::toolset::ToolSet;
use permission::{Rules, denied_reading};
use ports::edit::EditForm;
use ports::hooks::{Hooks, PromptPoint};
use ports::model::{Model, ToolSpec};
use project::paths::{self, Roots};
use project::reader::Reader;
use project::seen::Seen;
use protocol::PromptBlock;
use protocol::content::Range;
use protocol::session::{Mode, Purpose};
use providers::CatalogError;

use super::excerpt::{cut, lines_of, section};
use super::preparation::{NewTurn, Preparation, Prepared};
use super::{commands as slash, edited, file_mark, selected};
use crate::Error;
use crate::clock::{day_of, name_of};
use crate::feed::blocking;
use crate::session::state::Promoted;
use crate::session::{ModelChain, Switched, default_model, gate, named_model, usable};

/// A mentioned file is put before the model whole up to this many lines and bytes; of a larger one only the beginning,
/// since the model can read on by itself.
const WHOLE_LINES: usize = 200;
const WHOLE_BYTES: usize = 8 * 1024;
const PREVIEW_LINES: usize = 30;
const PREVIEW_BYTES: usize = 2 * 1024;
/// A mentioned range or selection is cut at this many bytes.
const RANGE_BYTES: usize = 32 * 1024;

/// Makes a prompt ready.
pub(super) async fn prepare(mut preparation: Preparation) -> Prepared {
    // Where a terminal was handed back a moment ago, its folder is known when the user's prompt there is gone.
    preparation.shell.at_prompt_no_more().await;
    let mut done = slash::Done { context: preparation.context, ..slash::Done::default() };
    let told = match preparation.instruction.take() {
        Some(instruction) => Some(selected::tell(&preparation, instruction).await),
        None => None,
    };
    let told = match told.transpose() {
        Ok(told) => told,
        Err(error) => return Prepared::refused(preparation, error),
    };
    let whole = std::mem::take(&mut preparation.whole);
    let (session, turn, hooks) =
        (preparation.info.session_id.clone(), preparation.turn.clone(), preparation.hooks.clone());
    let point = PromptPoint { session: &session, turn: &turn, prompt: &whole };
    let cancel = preparation.cancel.clone();
    let said = cancel.run_until_cancelled(hooks.before_prompt(&point)).await.flatten();
    let invocations = std::mem::take(&mut preparation.invocations);
    let (for_model, others) = invocations.into_iter().partition(Invocation::is_for_the_model);
    for invocation in others {
        if preparation.cancel.is_cancelled() {
            break;
        }
        slash::execute(&preparation, invocation, &mut done).await;
    }
    if let Some(config) = done.config.take() {
        preparation.config = Arc::new(preparation.config.with_picks(config.picks.clone()));
    }
    let texts = texts(&preparation, for_model, &mut done).await;
    let mode = done.mode.or(preparation.mode).unwrap_or(preparation.info.mode);
    let asks_model = whole.is_empty() || preparation.asks_model || !texts.is_empty();
    let turns_here = (asks_model || done.compaction.is_some()) && done.switch_to.is_none();
    let mut new = match turns_here {
        true => Some(new_turn(&mut preparation, mode, done.model.take(), said, told).await),
        false => None,
    };
    if let Some(new) = &mut new {
        (new.compaction, new.only_compacts) = (done.compaction.take(), !asks_model);
    }
    cancel.run_until_cancelled(hooks.after_prompt(&point)).await;
    Prepared {
        id: preparation.turn,
        events: done.events,
        mode,
        chose_mode: done.mode.or(preparation.mode).is_some(),
        confirmed: done.confirmed,
        switch_to: done.switch_to,
        texts,
        turn: new,
        refused: None,
        is_followed: preparation.is_followed,
        given: preparation.given,
        reply: preparation.reply,
    }
}

/// The text of commands for the model. They stand before all else, since a command of others' counts only there. In a
/// prompt that leads to another conversation they stay as they are typed: that conversation has its own commands.
async fn texts(preparation: &Preparation, for_model: Vec<Invocation>, done: &mut slash::Done) -> Vec<PromptBlock> {
    let mut texts = Vec::new();
    for invocation in for_model {
        match done.switch_to {
            Some(_) => texts.push(PromptBlock::Text { text: invocation.text }),
            None => {
                let text = slash::execute(preparation, invocation, done).await;
                texts.extend(text.map(|text| PromptBlock::Text { text }));
            }
        }
    }
    texts
}

async fn new_turn(
    preparation: &mut Preparation,
    mode: Mode,
    chosen: Option<(Arc<dyn Model>, String)>,
    said: Option<String>,
    told: Option<String>,
) -> NewTurn {
    let mentions = std::mem::take(&mut preparation.mentions);
    let preparation = &*preparation;
    let Preparation { shared, roots, reader, .. } = preparation;
    let (model, chain, switched, is_for_turn) = model_of_turn(preparation, mode, chosen).await;
    let mistakes = chain.mistakes().await;
    let mut context = match told {
        Some(told) => told,
        None => expand(reader, roots, &preparation.rules, &preparation.seen, mentions).await,
    };
    let edits_until = preparation.edits_since.map(|_| Instant::now());
    context.push_str(&edited::since(preparation).await);
    if let Some(said) = said {
        let _ = writeln!(context, "{said}");
    }
    let (store, project) = (Arc::clone(&shared.parts.store), preparation.project());
    let kept = blocking(move || gate::Kept::read(&*store, &project)).await;
    let kept = kept.inspect_err(|error| tracing::warn!(%error, "what is kept for the project cannot be read"));
    let kept = kept.ok().map(|kept| (kept, preparation.changes));
    let id = model.as_ref().map_or("", |model| &model.info().id);
    let Told { system, rules: _, offered, form, file_mark, problems } = self::told(preparation, mode, id).await;
    let warnings = problems.into_iter().chain(mistakes).collect();
    NewTurn {
        context,
        edits_until,
        model,
        is_for_turn,
        chain,
        switched,
        system,
        file_mark,
        form,
        offered,
        kept,
        compaction: None,
        only_compacts: false,
        warnings,
    }
}

/// The things that a model is told before the conversation.
pub(super) struct Told {
    pub(super) system: Arc<str>,
    /// The part of that which is the project's rules.
    pub(super) rules: String,
    /// The tools that it is told of.
    pub(super) offered: Arc<[ToolSpec]>,
    /// The form in which it edits.
    pub(super) form: EditForm,
    /// The mark of files in its answers, where they are taken.
    pub(super) file_mark: Option<Arc<str>>,
    /// The rules that could not be read, in words for the user.
    pub(super) problems: Vec<String>,
}

/// The system prompt and the tools for a model in a mode, by the model's id.
pub(super) async fn told(preparation: &Preparation, mode: Mode, model: &str) -> Told {
    let Preparation { shared, roots, reader, tools, info, .. } = preparation;
    let (roots, reader) = (Arc::clone(roots), Arc::clone(reader));
    let rules = tokio::task::spawn_blocking(move || extend::rules::load(&roots, &reader)).await.unwrap_or_default();
    let environment = Environment {
        folders: preparation.roots.iter().map(|root| root.path.display().to_string()).collect(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        editor: preparation.caller.name.as_deref().map(str::to_owned),
        // The day the session began: the prompt's bytes must not change while it runs.
        day: name_of(day_of(info.created_at)),
    };
    let mut text = String::new();
    for block in &rules.blocks {
        let _ = writeln!(text, "## {}\n\n{}\n", block.source, block.text);
    }
    let config = &preparation.config;
    let form = config.edit_mode.unwrap_or_else(|| EditForm::usual(model));
    let offered = offered(tools, mode, form, &config.edit_tools);
    let file_mark = match config.file_blocks {
        true => Some(file_mark::of(&shared.parts.store, &info.session_id).await),
        false => None,
    };
    let file_blocks = file_mark.as_deref();
    let in_place = (info.purpose == Purpose::Instruct).then(Section::of_instructions);
    // Also while no secret is known: one may be at any time, and the prompt's bytes must not change then.
    let hidden = shared.secrets.are_hidden().then(|| Section::of_placeholders(mask::EXAMPLE));
    let sections: Vec<_> = std::iter::once(Section::of_rules(text.clone())).chain(hidden).chain(in_place).collect();
    let parts = PromptParts { tools: &offered, mode, environment: &environment, file_blocks, sections: &sections };
    let system = agent::prompt::system(&parts);
    Told { system, rules: text, offered, form, file_mark, problems: rules.problems }
}

/// The model that a turn asks first, with its chain, the switch if another one goes on from the beginning, and true if
/// the session keeps its own.
pub(super) async fn model_of_turn(
    preparation: &Preparation,
    mode: Mode,
    chosen: Option<(Arc<dyn Model>, String)>,
) -> (Result<Arc<dyn Model>, Error>, Arc<ModelChain>, Option<Switched>, bool) {
    let Preparation { shared, config, .. } = preparation;
    let of_mode = match &chosen {
        Some(_) => None,
        None => preparation.chain_of_mode(mode).await,
    };
    let mut is_for_turn = of_mode.is_some();
    let (model, list) = match (chosen, &of_mode) {
        (Some((model, name)), _) => (Ok(model), Some(name)),
        (None, Some(chain)) => (named_model(shared, chain).await, Some(chain.clone())),
        (None, None) => (preparation.model().await, preparation.chain()),
    };
    let chain = Arc::new(ModelChain::new(shared.clone(), Arc::clone(config), list.as_deref()));
    let mut model = match model {
        Ok(model) => model,
        Err(error) => {
            let Some(switched) = instead_of_missing(preparation, &chain, of_mode.as_deref(), &error).await else {
                return (Err(error), chain, None, is_for_turn);
            };
            return (Ok(Arc::clone(&switched.model)), chain, Some(switched), true);
        }
    };
    let is_too_small = |promoted: &&Promoted| config.context_promotion && promoted.from == model.info().id;
    if let Some(promoted) = preparation.promoted.as_ref().filter(is_too_small)
        && let Ok(larger) = named_model(shared, &promoted.to).await
        && usable(Arc::clone(&larger), config).is_ok()
    {
        chain.promoted(&promoted.from, &larger.info().id);
        (model, is_for_turn) = (larger, true);
    }
    let switched = chain.at_once(model.info()).await;
    if let Some(Switched { model: other, .. }) = &switched {
        (model, is_for_turn) = (Arc::clone(other), true);
    }
    (usable(model, config), chain, switched, is_for_turn)
}

/// The model that goes on where the one of the mode, or the session's, is not there any more: the next of its chain;
/// else the session's own for a mode's, and that of new sessions for the session's if it is the same provider's. A
/// conversation goes to no provider that the user has not chosen for it, and one that only does not answer at the
/// moment is no reason to leave it.
async fn instead_of_missing(
    preparation: &Preparation,
    chain: &ModelChain,
    of_mode: Option<&str>,
    error: &Error,
) -> Option<Switched> {
    let Preparation { shared, config, .. } = preparation;
    let own = preparation.model.as_ref();
    let missing = of_mode.or(own.map(|own| own.model.as_str()))?;
    let is_of_chosen = of_mode.is_none() && own.is_some_and(|own| !own.is_default && own.chain.is_some());
    let other = match chain.beside(missing, is_of_chosen).await {
        Some(next) => next,
        None => match shared.parts.catalog.resolve(missing).await {
            Err(CatalogError::Unknown { .. }) if of_mode.is_some() => preparation.model().await.ok()?,
            Err(CatalogError::Unknown { .. }) => {
                let usual = default_model(shared, config).await.ok()?;
                let provider = missing.split_once('/').map(|(provider, _)| provider);
                Some(usual).filter(|usual| provider == Some(usual.info().provider.as_str()))?
            }
            Ok(_) | Err(_) => return None,
        },
    };
    chain.instead_of_missing(missing, other, error)
}

/// The tools that a model is told of: those of its mode, and of those that edit the ones of its form.
fn offered(tools: &ToolSet, mode: Mode, form: EditForm, also: &[String]) -> Arc<[ToolSpec]> {
    let is_shown = |name: &String| tools::is_shown(name, form) || also.contains(name);
    tools.offered(mode).into_iter().filter(|tool| is_shown(&tool.name)).collect()
}

/// The parts of a prompt that mention something.
pub(super) fn mentions(prompt: &[PromptBlock]) -> Vec<PromptBlock> {
    let is_said = |block: &&PromptBlock| matches!(block, PromptBlock::Text { .. } | PromptBlock::Image { .. });
    prompt.iter().filter(|block| !is_said(block)).cloned().collect()
}

/// Returns the text of what a prompt mentions, as the model reads it. Empty if it mentions nothing.
pub(super) async fn expand(
    reader: &Arc<Reader>,
    roots: &Arc<Roots>,
    rules: &Arc<Rules>,
    seen: &Seen,
    mentions: Vec<PromptBlock>,
) -> String {
    if mentions.is_empty() {
        return String::new();
    }
    let (reader, roots, rules) = (Arc::clone(reader), Arc::clone(roots), Arc::clone(rules));
    let seen = seen.clone();
    let expanded = tokio::task::spawn_blocking(move || {
        let context = String::new();
        let mut read = Mentions { reader: &reader, roots: &roots, rules: &rules, seen: &seen, context };
        for block in &mentions {
            match block {
                PromptBlock::File { uri } => read.file(uri),
                PromptBlock::Range { uri, range } => read.part(uri, *range),
                PromptBlock::Selection { uri, range, text } => read.selection(uri, *range, text),
                PromptBlock::Text { .. } | PromptBlock::Image { .. } => {}
            }
        }
        read.context
    });
    expanded.await.unwrap_or_default()
}

struct Mentions<'m> {
    reader: &'m Reader,
    roots: &'m Roots,
    rules: &'m Rules,
    seen: &'m Seen,
    /// The text of those so far.
    context: String,
}

impl Mentions<'_> {
    fn file(&mut self, uri: &str) {
        let name = self.name(uri);
        let text = match self.read(uri) {
            Ok(text) => text,
            Err(problem) => return section(&mut self.context, &name, "", &format!("({problem})")),
        };
        let lines = text.lines().count();
        if lines <= WHOLE_LINES && text.len() <= WHOLE_BYTES {
            return section(&mut self.context, &name, "", &text);
        }
        let end = text.match_indices('\n').nth(PREVIEW_LINES - 1).map_or(text.len(), |(index, _)| index + 1);
        let preview = cut(text.get(..end).unwrap_or(&text), PREVIEW_BYTES);
        let shown = preview.lines().count();
        section(&mut self.context, &name, &format!(" (the first {shown} of {lines} lines)"), preview);
    }

    fn part(&mut self, uri: &str, range: Range) {
        let (name, place) = (self.name(uri), format!(" {}", lines_of(range)));
        match self.read(uri) {
            Ok(text) => {
                let [start, end] = range.lines().map(|line| line as usize);
                let lines: Vec<_> = text.lines().skip(start).take(end.saturating_sub(start) + 1).collect();
                section(&mut self.context, &name, &place, cut(&lines.join("\n"), RANGE_BYTES));
            }
            Err(problem) => section(&mut self.context, &name, &place, &format!("({problem})")),
        }
    }

    /// Takes a selection that the editor took along. It is the user's own word, and nothing is read for it.
    fn selection(&mut self, uri: &str, range: Range, text: &str) {
        let (name, place) = (self.name(uri), lines_of(range));
        section(&mut self.context, &name, &format!(" {place}, selected"), cut(text, RANGE_BYTES));
    }

    fn name(&self, uri: &str) -> String {
        paths::from_uri(uri).map_or_else(|_| uri.into(), |path| self.roots.display(&path))
    }

    /// The text of a file that may be read. Says before it which text that is, where the disk has another.
    fn read(&mut self, uri: &str) -> Result<String, String> {
        let named: PathBuf = paths::from_uri(uri).map_err(|error| error.to_string())?;
        let path = self.roots.check(&named).map_err(|error| error.to_string())?;
        let folders: Vec<_> = self.roots.iter().map(|root| root.path.clone()).collect();
        if let Some(rule) = denied_reading(self.rules, &folders, &[&named, &path]) {
            return Err(format!("reading it is not allowed: {rule}"));
        }
        self.context.extend(tools::compare_with_disk(self.reader, self.roots, self.seen, &path, true));
        self.reader.read(&path).map(|file| file.text.to_string()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::Position;

    use super::*;

    #[test]
    fn a_fence_in_a_file_does_not_end_the_section() {
        let mut context = String::new();
        section(&mut context, "a.md", "", "```rust\nfn f() {}\n```");
        assert_eq!(context, "a.md:\n````\n```rust\nfn f() {}\n```\n````\n");
    }

    #[test]
    fn a_range_that_ends_where_a_line_begins_does_not_take_that_line() {
        let range = |start: (u32, u32), end: (u32, u32)| {
            let at = |(line, character)| Position { line, character };
            Range { start: at(start), end: at(end) }
        };
        assert_eq!(lines_of(range((1, 0), (3, 0))), "lines 2-3");
        assert_eq!(lines_of(range((1, 0), (2, 0))), "line 2");
        assert_eq!(lines_of(range((1, 0), (2, 1))), "lines 2-3");
        assert_eq!(lines_of(range((1, 0), (1, 0))), "line 2", "a cursor is in a line");
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        project::files::create(&root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        let roots = Roots::new([&root]).unwrap();
        let reader = Reader::new(Arc::default(), Arc::new(project::reader::NoOverlay));
        let (rules, seen, context) = (Rules::default(), Seen::default(), String::new());
        let mut mentions = Mentions { reader: &reader, roots: &roots, rules: &rules, seen: &seen, context };
        mentions.part(&paths::to_uri(&root.join("a.txt")), range((0, 0), (2, 0)));
        assert_eq!(mentions.context, "a.txt lines 1-2:\n```\none\ntwo\n```\n");
    }
}
