//! The one gate to every effect: nothing a model wants happens but through here.
//!
//! A call passes, in this order: the tool exists, the mode has it, the input is not too long, the tool finds it
//! valid, permission, and for commands the barrier; then the tool runs, what it plans is proposed, and what it says is
//! bounded. Wherever a call stops, it ends with a result for the model and one
//! [`ToolCallEnded`](protocol::Event::ToolCallEnded).

mod barrier;
mod bound;
mod form;
mod leak;
mod question;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use permission::{self, Action, Case, Verdict, only};
use ports::edit::{EditPlan, EditRefused, Proposed};
use ports::file_block;
use ports::hooks::{Chain, Hooks, ToolPoint};
use ports::model::ToolSpec;
use ports::session::{GrantScope, Session};
use ports::tool::{Access, Call, Description, MayLook, Output, Tool, ToolError};
use protocol::content::{Location, ToolKind};
use protocol::session::Mode;
use protocol::{Event, ToolResult, TurnId};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::question::Reply;
use crate::file_blocks;
use crate::history::OpenCall;
use crate::toolset::{self, ToolSet, offers};
use crate::turn::Limits;
use crate::uri::path_of;
use crate::wait::{at_any_rate, until_cancelled, with_grace};

/// How many changed files a command's result names.
const MOST_NAMED: usize = 20;

/// The gate, as it stands for one turn.
pub(crate) struct Gate {
    pub(crate) turn_id: TurnId,
    pub(crate) tools: ToolSet,
    pub(crate) hooks: Chain,
    /// Those of them that the model is told of.
    pub(crate) offered: Arc<[ToolSpec]>,
    pub(crate) mode: Mode,
    pub(crate) folders: Arc<[PathBuf]>,
    pub(crate) session: Arc<dyn Session>,
    pub(crate) cancel: CancellationToken,
    pub(crate) limits: Limits,
    /// True if the model reads its edits as they were applied.
    pub(crate) canonical_edits: bool,
    /// The mark of files in its answers, where they are taken.
    pub(crate) file_mark: Option<Arc<str>>,
}

/// The end of a call. Its event is recorded.
pub(crate) struct Ended {
    /// The event that says so.
    pub(crate) event: Event,
    /// The things that were not done because they were denied or rejected, in words.
    pub(crate) refused: Option<String>,
}

/// The description of a call before anything is asked or done.
pub(crate) struct Checked {
    began: Instant,
    described: Result<Description, Outcome>,
}

/// The outcome of a call, on any way.
#[derive(Default)]
struct Outcome {
    text: String,
    is_error: bool,
    summary: String,
    locations: Vec<Location>,
    refused: Option<String>,
    canonical: Option<Box<Value>>,
}

impl Outcome {
    fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, summary: "failed".to_owned(), ..Self::default() }
    }

    fn cancelled() -> Self {
        Self { summary: "cancelled".to_owned(), ..Self::failed(ToolError::Cancelled.to_string()) }
    }

    /// With what became of its edit.
    fn with(mut self, proposed: &Proposed) -> Self {
        append(&mut self.text, &in_words(proposed));
        if self.summary.is_empty() {
            self.summary = format!("+{} -{}", proposed.added, proposed.removed);
        }
        self
    }

    /// With what else is to be said.
    fn remark(&mut self, remarks: impl IntoIterator<Item = String>) {
        for remark in remarks {
            self.text.push_str(&format!("\n\n[{remark}]"));
        }
    }

    fn refused(what: &str, text: String) -> Self {
        let refused = Some(format!("{what}: {text}"));
        Self { summary: "refused".to_owned(), refused, ..Self::failed(text) }
    }
}

impl Gate {
    /// True if a call may run beside others.
    pub(crate) fn is_parallel(&self, call: &OpenCall) -> bool {
        self.tool(&toolset::meant(call).name).is_none_or(|tool| tool.access() == Access::Read)
    }

    /// Describes a call before anything is asked or done. Ends in time when the turn is cancelled.
    pub(crate) async fn check(&self, call: &OpenCall) -> Checked {
        let began = Instant::now();
        let call = &*toolset::meant(call);
        Checked { began, described: self.described(call, self.tool(&call.name).as_ref()).await }
    }

    /// Lets a call through that was checked, or stops it. Ends in time when the turn is cancelled.
    pub(crate) async fn pass(&self, call: &OpenCall, checked: Checked) -> Ended {
        let Checked { began, described: checked } = checked;
        let outer = &call.name;
        let call = &*toolset::meant(call);
        let tool = self.tool(&call.name);
        let tool = tool.as_ref();
        self.session.record(self.started(call, tool, checked.as_ref().ok()));
        let outcome = match (tool, checked) {
            (Some(tool), Ok(description)) => match file_blocks::nothing_more(call) {
                Some(text) => Outcome { text, ..Outcome::default() },
                None => self.attempt(call, tool, description).await,
            },
            (_, Err(outcome)) => {
                // Only the mode refuses this early. It is news as much as a rule that denies.
                if outcome.refused.is_some() {
                    self.judged(call, false, only(self.mode));
                }
                outcome
            }
            (None, Ok(_)) => Outcome::failed("there is no such tool"),
        };
        let mut outcome = self.shorten(outcome).await;
        if call.name != *outer {
            // It is the inner call's, and the model reads the outer one.
            outcome.canonical = None;
        }
        self.end(call, outcome, began)
    }

    /// Ends a call without letting it through. It is shown which tool it was for.
    pub(crate) fn close(&self, call: &OpenCall, text: &str) -> Ended {
        if !call.has_begun {
            let call = &*toolset::meant(call);
            self.session.record(self.started(call, self.tool(&call.name).as_ref(), None));
        }
        self.end(call, Outcome::failed(text), Instant::now())
    }

    /// Ends a call that the cancel came before.
    pub(crate) fn close_cancelled(&self, call: &OpenCall) -> Ended {
        self.end(call, Outcome::cancelled(), Instant::now())
    }

    /// Ends a call of an interrupted turn that came to propose its edit before.
    pub(crate) async fn close_if_proposed(&self, call: &OpenCall) -> Option<Ended> {
        let proposed = self.session.proposed(&call.id).await?;
        let mut outcome = Outcome::default().with(&proposed);
        outcome.remark(file_blocks::go_on(call));
        Some(self.end(call, outcome, Instant::now()))
    }

    /// True if a call that has begun can be made again.
    pub(crate) fn is_repeatable(&self, call: &OpenCall) -> bool {
        self.tool(&toolset::meant(call).name).is_none_or(|tool| tool.is_repeatable())
    }

    /// The tool of a call that still arrives, if the call will change something; none if the mode has no such calls.
    pub(crate) fn changing(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tool(name).filter(|tool| tool.access() != Access::Read && offers(self.mode, tool.access()))
    }

    /// Returns a check of the files that may be looked at for a call of a tool that still arrives: those that it may
    /// edit, and the model read, without a question.
    pub(crate) fn may_look(&self, tool: &str) -> Arc<MayLook> {
        let (rules, folders) = (self.session.rules(), Arc::clone(&self.folders));
        let surroundings = self.session.surroundings();
        let (tool, mode) = (tool.to_owned(), self.mode);
        Arc::new(move |path| {
            let paths = [path.to_owned()];
            [Action::Edit { paths: paths.to_vec() }, Action::Read].iter().all(|action| {
                let case = Case { tool: &tool, action, reads: &paths, mode, folders: &folders, surroundings };
                matches!(permission::judge(&rules, &case), Verdict::Allow { .. })
            })
        })
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name)
    }

    fn started(&self, call: &OpenCall, tool: Option<&Arc<dyn Tool>>, description: Option<&Description>) -> Event {
        Event::ToolCallStarted {
            turn_id: self.turn_id.clone(),
            tool_call_id: call.id.clone(),
            name: call.name.clone(),
            kind: tool.map_or(ToolKind::Other, |tool| tool.kind()),
            title: description.map_or_else(|| call.name.clone(), |description| description.title.clone()),
            input: call.input.clone(),
            locations: description.map(|description| description.locations.clone()).unwrap_or_default(),
        }
    }

    /// Bounds what the model reads of an outcome. All of it is kept, and the model told how to read more.
    async fn shorten(&self, mut outcome: Outcome) -> Outcome {
        let Some(shown) = bound::bound(&outcome.text, self.limits.result_bytes) else { return outcome };
        let whole = std::mem::replace(&mut outcome.text, shown);
        let how = at_any_rate(&self.cancel, self.session.keep(whole)).await.flatten();
        let how = how.unwrap_or_else(|| "it could not be kept; ask for less at a time".to_owned());
        append(&mut outcome.text, &format!("\n[This is not all of it: {how}]"));
        outcome
    }

    fn end(&self, call: &OpenCall, outcome: Outcome, began: Instant) -> Ended {
        let text = outcome.text;
        let event = Event::ToolCallEnded {
            turn_id: self.turn_id.clone(),
            result: ToolResult { tool_call_id: call.id.clone(), text, is_error: outcome.is_error },
            summary: outcome.summary,
            locations: outcome.locations,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            rewritten_input: outcome
                .canonical
                .filter(|_| self.canonical_edits && !outcome.is_error)
                .map(|input| *input),
        };
        self.session.record(event.clone());
        Ended { event, refused: outcome.refused }
    }

    /// Describes what a call would do, or why it is stopped at once.
    async fn described(&self, call: &OpenCall, tool: Option<&Arc<dyn Tool>>) -> Result<Description, Outcome> {
        let Some(tool) = tool else {
            if self.offered.iter().any(|spec| spec.name == call.name && spec.name != toolset::CALL) {
                return Err(Outcome::failed(format!(
                    "the tool `{}` is no longer available; continue without it",
                    call.name
                )));
            }
            let names: Vec<_> = self.offered.iter().map(|spec| spec.name.as_str()).collect();
            let text = format!("there is no tool `{}`; there are: {}", call.name, names.join(", "));
            return Err(Outcome::failed(text));
        };
        if !offers(self.mode, tool.access()) {
            let only = only(self.mode);
            let text = format!("{only}. Say what you would do instead; the user can change to mode `agent`");
            return Err(Outcome::refused(&call.name, text));
        }
        if let Some(problem) = file_blocks::problem(call) {
            return Err(Outcome::failed(problem));
        }
        let is_file = file_block::is_block(&call.id);
        let most = if is_file { file_blocks::LONGEST } else { self.limits.input_bytes };
        let bytes = call.input.to_string().len();
        if bytes > most {
            return Err(Outcome::failed(format!(
                "the input is {bytes} bytes long, more than the {most} that are taken; nothing was done. Do it in smaller \
                 steps: a skeleton first, then the rest piece by piece"
            )));
        }
        // A file in an answer's text is none of the inputs into which such text leaks.
        if tool.access() != Access::Read
            && !is_file
            && let Some(field) = leak::field(&call.input)
        {
            return Err(Outcome::failed(format!(
                "`{field}` holds text that routes messages between tools and belongs to no file or command; nothing was \
                 done, since what stands around it cannot be trusted. Make the call again without it"
            )));
        }
        let describing = AssertUnwindSafe(tool.describe(&call.input)).catch_unwind();
        match at_any_rate(&self.cancel, describing).await {
            None => Err(Outcome::cancelled()),
            Some(Ok(described)) => described.map_err(|error| Outcome::failed(error.to_string())),
            Some(Err(panic)) => Err(panicked(&call.name, &*panic)),
        }
    }

    async fn attempt(&self, call: &OpenCall, tool: &Arc<dyn Tool>, description: Description) -> Outcome {
        let mut remarks = Vec::new();
        let point = self.point(call, tool, &description);
        match until_cancelled(&self.cancel, self.hooks.before_tool(&point)).await {
            None => return Outcome::cancelled(),
            Some(Ok(())) => {}
            Some(Err(why)) => {
                self.judged(call, false, &why);
                return Outcome::refused(&description.title, format!("not made: {why}"));
            }
        }
        let only_reads = match self.permit(call, &description, &mut remarks).await {
            Ok(only_reads) => only_reads,
            Err(outcome) => return outcome,
        };
        let executes = tool.access().has_effects();
        // A command that only goes on sees no more of the disk than before.
        if executes
            && matches!(description.action, Action::Execute { .. })
            && let Err(outcome) = self.settle(call, &description, only_reads, &mut remarks).await
        {
            return outcome;
        }
        // A call that must not be made twice is known to have begun, whatever happens next: see `Turn::take_up`.
        if !tool.is_repeatable() && with_grace(&self.cancel, self.session.stored()).await.is_none() {
            return Outcome::cancelled();
        }
        if executes && !only_reads && with_grace(&self.cancel, self.session.before_command()).await.is_none() {
            return Outcome::cancelled();
        }
        // A plan whose text changed between the tool's look at it and the session's, as by a decision of the user's, is
        // made anew, once: planning has no effects.
        let mut outcome = match self.run(call, tool, &description, &mut remarks).await {
            Err(EditRefused::Stale { .. }) => self.run(call, tool, &description, &mut remarks).await,
            first => first,
        }
        .unwrap_or_else(|refused| Outcome::failed(refused.to_string()));
        if executes {
            let changed = at_any_rate(&self.cancel, self.session.after_command(&call.id)).await.unwrap_or_default();
            remarks.extend(not_as_seen(&changed));
        }
        if !outcome.is_error && outcome.refused.is_none() {
            remarks.extend(file_blocks::go_on(call));
        }
        outcome.remark(remarks);
        outcome
    }

    /// Runs a tool, and proposes the edits it plans.
    async fn run(
        &self,
        call: &OpenCall,
        tool: &Arc<dyn Tool>,
        description: &Description,
        remarks: &mut Vec<String>,
    ) -> Result<Outcome, EditRefused> {
        let judged = Some(description.action.clone());
        let children = self.session.children(&call.id);
        let made = Call { id: call.id.clone(), cancel: self.cancel.child_token(), judged, children };
        let running = tool.run(made, call.input.clone());
        let mut result = match with_grace(&self.cancel, AssertUnwindSafe(running).catch_unwind()).await {
            None | Some(Ok(Err(ToolError::Cancelled))) => return Ok(Outcome::cancelled()),
            Some(Err(panic)) => return Ok(panicked(&call.name, &*panic)),
            Some(Ok(result)) => result,
        };
        let point = self.point(call, tool, description);
        at_any_rate(&self.cancel, self.hooks.after_tool(&point, &mut result)).await;
        match result {
            Err(error) => Ok(Outcome::failed(error.to_string())),
            Ok(output) => self.take(call, output, description, remarks).await,
        }
    }

    fn point<'a>(&'a self, call: &'a OpenCall, tool: &'a Arc<dyn Tool>, description: &'a Description) -> ToolPoint<'a> {
        let (turn, access) = (&self.turn_id, tool.access());
        ToolPoint { turn, call: &call.id, tool: &call.name, access, input: &call.input, description }
    }

    /// Makes the outcome of a tool's output, with what became of the edits it plans.
    async fn take(
        &self,
        call: &OpenCall,
        output: Output,
        description: &Description,
        remarks: &mut Vec<String>,
    ) -> Result<Outcome, EditRefused> {
        let Output { text, summary, locations, plan, form, steps, is_error, canonical } = output;
        if let Some(form) = form {
            return Ok(self.ask_form(call, form).await);
        }
        if let Some(entries) = steps {
            // The user's change counts more than a plan that was made without it.
            if let Some(news) = self.session.plan_news().await {
                return Ok(Outcome::failed(format!("{news}\nYour plan was made without that, and was not taken.")));
            }
            self.session.record(Event::PlanUpdated { turn_id: self.turn_id.clone(), entries, by_user: false });
        }
        let canonical = canonical.map(Box::new);
        let outcome = Outcome { text, is_error, summary, locations, refused: None, canonical };
        let Some(plan) = plan else { return Ok(outcome) };
        if let Some(rest) = unnamed(&plan, description)
            && let Err(refused) = self.permit(call, &rest, remarks).await
        {
            return Ok(refused);
        }
        if self.cancel.is_cancelled() {
            return Ok(Outcome::cancelled());
        }
        let Some(proposed) = with_grace(&self.cancel, self.session.propose(&call.id, plan)).await else {
            return Ok(Outcome::cancelled());
        };
        Ok(outcome.with(&proposed?))
    }

    /// Says what was allowed or denied without asking.
    fn judged(&self, call: &OpenCall, allowed: bool, reason: &str) {
        let (tool_call_id, reason) = (call.id.clone(), reason.to_owned());
        self.session.record(Event::PermissionJudged { tool_call_id, allowed, reason });
    }

    /// Permission. Whether the call is known to change nothing.
    async fn permit(
        &self,
        call: &OpenCall,
        description: &Description,
        remarks: &mut Vec<String>,
    ) -> Result<bool, Outcome> {
        let reads: Vec<PathBuf> =
            description.locations.iter().filter_map(|location| path_of(&location.uri)).map(PathBuf::from).collect();
        let action = &description.action;
        let case = Case {
            tool: &call.name,
            action,
            reads: &reads,
            mode: self.mode,
            folders: &self.folders,
            surroundings: self.session.surroundings(),
        };
        let Some(secrets) = until_cancelled(&self.cancel, self.session.secrets_in(&call.input)).await else {
            return Err(Outcome::cancelled());
        };
        let fetches = self.tool(&call.name).is_some_and(|tool| tool.kind() == ToolKind::Fetch);
        if let Some(first) = secrets.get(..1).filter(|_| fetches) {
            let reason = format!("its input has {}, which is sent nowhere", permission::secrets_in_words(first));
            self.judged(call, false, &reason);
            return Err(Outcome::refused(&description.title, format!("denied: {reason}")));
        }
        let rules = self.session.rules();
        let verdict = permission::judge(&rules, &case);
        match permission::judge_secrets(&rules, &case, &secrets, verdict) {
            Verdict::Allow { reason, only_reads } => {
                // That reading and reviewed edits go on is no news.
                if matches!(action, Action::Execute { .. } | Action::Type(_)) {
                    self.judged(call, true, &reason);
                }
                Ok(only_reads)
            }
            Verdict::Deny { reason } => {
                self.judged(call, false, &reason);
                Err(Outcome::refused(&description.title, format!("denied: {reason}. Do not try it in another way")))
            }
            Verdict::Ask { title, detail, reason, always } => {
                match self.ask(question::permission(call, action, title, detail, reason, &always)).await {
                    Reply::Chosen(option, said) => {
                        let scope = match option.as_str() {
                            question::ALWAYS => Some(GrantScope::Project),
                            question::SESSION => Some(GrantScope::Session),
                            _ => None,
                        };
                        for (rule, scope) in always.into_iter().zip(std::iter::repeat(scope)) {
                            if let Some(scope) = scope {
                                until_cancelled(&self.cancel, self.session.grant(rule, scope)).await;
                            }
                        }
                        remarks.extend(said.map(|said| format!("the user said: {said}")));
                        Ok(false)
                    }
                    Reply::Rejected(text) => Err(Outcome::refused(&description.title, text)),
                    Reply::Cancelled | Reply::Moot => Err(Outcome::cancelled()),
                }
            }
        }
    }
}

/// The edits of a plan that its call did not name, as when it searches for what to edit; none if permission has
/// judged them all.
fn unnamed(plan: &EditPlan, description: &Description) -> Option<Description> {
    let named = match &description.action {
        Action::Edit { paths } => paths.as_slice(),
        Action::Read | Action::Execute { .. } | Action::Type(_) => &[],
    };
    let paths: Vec<_> = plan.files.iter().map(|file| file.path.clone()).filter(|path| !named.contains(path)).collect();
    let rest = |paths| Description { action: Action::Edit { paths }, ..description.clone() };
    (!paths.is_empty()).then(|| rest(paths))
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}

/// Says which files the model should read again after a command.
fn not_as_seen(changed: &[String]) -> Option<String> {
    let named = changed.get(..MOST_NAMED).unwrap_or(changed);
    let rest = changed.len() - named.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "changed since you last saw them, by this command or the user: {}{rest}; read them again",
            named.join(", ")
        )
    })
}

fn in_words(proposed: &Proposed) -> String {
    let Proposed { pending_hunks, added, removed, applied } = proposed;
    let size = format!("+{added} -{removed} lines");
    if *applied {
        return format!("Applied ({size}).");
    }
    let hunks = if *pending_hunks == 1 { "1 hunk waits" } else { &format!("{pending_hunks} hunks wait") };
    format!(
        "Proposed ({size}); {hunks} for the user's review. Reading the files shows the new text already; go on as if it \
         were accepted. You are told what the user decides."
    )
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> Outcome {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given");
    tracing::error!(tool, said, "a tool panicked");
    Outcome::failed(format!("the tool `{tool}` failed by a fault of its own ({said}); try another way"))
}
