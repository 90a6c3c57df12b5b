//! A session's tools, which may come and go while a turn runs.
//!
//! The tools that the model is offered stay as they were when it was first asked, since the vendors' caches hold a
//! request by its beginning, where the tools stand. A tool that comes later is told of in a note, at the
//! conversation's end, and called by way of [`CALL`], which is offered only in a session whose tools can change. A
//! tool that goes stays offered; a call of it says that it is gone.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use ports::model::ToolSpec;
use ports::tool::{Access, Tool};
use protocol::mode::{Edits, Mode, Runs};
use serde_json::{Value, json};

use crate::history::OpenCall;
use crate::tags::quoted;

/// The name under which the model calls a tool that came after it was first asked.
pub const CALL: &str = "call_tool";

/// A session's tools. Clones share them.
#[derive(Clone, Default)]
pub struct ToolSet(Arc<RwLock<Tools>>);

#[derive(Default)]
struct Tools {
    sources: Vec<Source>,
    /// The names of the only tools that it may have; none if it may have any.
    only: Option<BTreeSet<String>>,
    /// True if tools may come and go.
    is_live: bool,
    /// The tools that the model was offered when it was first asked, and their modes' share of them is still.
    offered: Option<Arc<[Arc<dyn Tool>]>>,
    /// The names of further tools that it was told of and not told since that they are gone.
    told: BTreeSet<String>,
    /// The names of tools that it was offered and told since that they are gone.
    told_gone: BTreeSet<String>,
    /// The mode in which it knows of all, if nothing changed since.
    up_to_date: Option<Mode>,
}

/// Who brings tools, and which.
struct Source {
    name: Arc<str>,
    tools: Vec<Arc<dyn Tool>>,
}

impl ToolSet {
    /// The tools that are there from the beginning.
    pub fn new(source: &str, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let set = Self::default();
        set.put(source, tools);
        set
    }

    /// Keeps only the tools with these names; those that are added later are filtered too.
    pub fn restrict(&self, names: impl IntoIterator<Item = String>) {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        set.up_to_date = None;
        set.only = Some(names.into_iter().collect());
    }

    /// Ends a restriction: from the next time on, all tools are offered, which no vendor's cache has.
    pub fn release(&self) {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if set.only.take().is_some() {
            (set.up_to_date, set.offered) = (None, None);
            (set.told, set.told_gone) = (BTreeSet::new(), BTreeSet::new());
        }
    }

    /// Says that tools may come and go in this session. To be said before the model is first asked.
    pub fn may_change(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).is_live = true;
    }

    /// Sets the tools that a source brings, in place of those that it brought before. Gives the names of those that are
    /// left out, since a source before it has a tool of that name.
    pub fn put(&self, source: &str, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Vec<String> {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        set.up_to_date = None;
        let place = set.sources.iter().position(|it| *it.name == *source).unwrap_or(set.sources.len());
        let taken: BTreeSet<String> = set.names(|at| at != place).chain(set.is_live.then(|| CALL.to_owned())).collect();
        let (left_out, kept): (Vec<_>, Vec<_>) = tools.into_iter().partition(|tool| taken.contains(&tool.spec().name));
        match set.sources.get_mut(place) {
            Some(known) => known.tools = kept,
            None => set.sources.push(Source { name: source.into(), tools: kept }),
        }
        left_out.iter().filter(|tool| set.may_have(tool)).map(name).collect()
    }

    /// Takes away all that a source brought.
    pub fn remove(&self, source: &str) {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        set.up_to_date = None;
        set.sources.retain(|it| *it.name != *source);
    }

    /// The tool with this name, whether the model was told of it or not.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).all().find(|tool| tool.spec().name == name).cloned()
    }

    /// All tools that the session has, in their order.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).all().cloned().collect()
    }

    /// The tools that a mode offers, in their order: mode `ask` only those that read, mode `plan` none that edits. From
    /// the first time on they stay the same.
    pub fn offered(&self, mode: Mode) -> Vec<ToolSpec> {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let all: Arc<[_]> = match &set.offered {
            Some(offered) => Arc::clone(offered),
            None => set.all().cloned().collect(),
        };
        let specs = all.iter().filter(|tool| offers(mode, tool.access())).map(|tool| tool.spec().clone());
        let specs = specs.chain(set.is_live.then(call_tool)).collect();
        if set.offered.is_none() {
            set.up_to_date = None;
        }
        set.offered = Some(all);
        specs
    }

    /// Returns the changes since the model was last told, in words for it; none if there were none. Tools that the
    /// mode does not have are no news until another has them, and if tools may not come and go, one that was not
    /// offered is none: there is nothing to call it by.
    pub fn news(&self, mode: Mode) -> Option<String> {
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if set.up_to_date.replace(mode) == Some(mode) {
            return None;
        }
        let offered: BTreeSet<String> = set.offered.iter().flat_map(|tools| tools.iter()).map(name).collect();
        let there: BTreeSet<String> = set.all().map(name).collect();
        let is_new = |tool: &&Arc<dyn Tool>| {
            let name = &tool.spec().name;
            let is_untold = match offered.contains(name) {
                true => set.told_gone.contains(name),
                false => set.is_live && !set.told.contains(name),
            };
            is_untold && offers(mode, tool.access())
        };
        let came: Vec<_> = set.all().filter(is_new).cloned().collect();
        let is_gone = |name: &&String| !there.contains(*name);
        let gone: Vec<_> = set.told.iter().chain(offered.difference(&set.told_gone)).filter(is_gone).cloned().collect();
        if came.is_empty() && gone.is_empty() {
            return None;
        }
        for tool in &came {
            let name = name(tool);
            if !set.told_gone.remove(&name) {
                set.told.insert(name);
            }
        }
        for name in &gone {
            if !set.told.remove(name) {
                set.told_gone.insert(name.clone());
            }
        }
        Some(in_words(&came, &offered, &gone))
    }
}

impl Tools {
    /// The tools that it may have.
    fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.sources.iter().flat_map(|source| &source.tools).filter(|tool| self.may_have(tool))
    }

    fn may_have(&self, tool: &Arc<dyn Tool>) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&tool.spec().name))
    }

    /// The names of the tools of some sources, by their places, whether it may have them or not.
    fn names(&self, of: impl Fn(usize) -> bool) -> impl Iterator<Item = String> {
        let sources = self.sources.iter().enumerate().filter(move |(at, _)| of(*at));
        sources.flat_map(|(_, source)| &source.tools).map(name)
    }
}

/// True if a mode has tools that touch this.
pub(crate) fn offers(mode: Mode, access: Access) -> bool {
    match access {
        Access::Read => true,
        Access::Edit => mode.edits() != Edits::None,
        Access::Execute => mode.runs() != Runs::Nothing,
        Access::Background => mode.runs() == Runs::Anything,
    }
}

/// The call that a call of [`CALL`] stands for; any other call as it is.
pub(crate) fn meant(call: &OpenCall) -> Cow<'_, OpenCall> {
    let named = (call.name == CALL).then(|| call.input.get("name").and_then(Value::as_str)).flatten();
    let Some(name) = named else { return Cow::Borrowed(call) };
    let input = call.input.get("input").cloned().unwrap_or_else(|| json!({}));
    Cow::Owned(OpenCall { name: name.to_owned(), input, ..call.clone() })
}

fn name(tool: &Arc<dyn Tool>) -> String {
    tool.spec().name.clone()
}

fn call_tool() -> ToolSpec {
    ToolSpec {
        name: CALL.to_owned(),
        description:
            "Calls a tool that became available during this conversation; a note gives its name, what it does and \
                      the schema of its input."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The tool's name." },
                "input": { "type": "object", "description": "Its input, as its schema says." },
            },
            "required": ["name", "input"],
            "additionalProperties": false,
        }),
    }
}

fn in_words(came: &[Arc<dyn Tool>], offered: &BTreeSet<String>, gone: &[String]) -> String {
    let (back, new): (Vec<_>, Vec<_>) =
        came.iter().map(|tool| tool.spec()).partition(|spec| offered.contains(&spec.name));
    let mut parts = Vec::new();
    if !gone.is_empty() {
        parts.push(format!("These tools are gone: {}.", gone.join(", ")));
    }
    if !back.is_empty() {
        let names: Vec<_> = back.iter().map(|spec| spec.name.as_str()).collect();
        parts.push(format!("These tools are back: {}.", names.join(", ")));
    }
    if !new.is_empty() {
        parts.push(format!("These tools are available now. Call them by `{CALL}`, with their name and input:"));
        parts.extend(new.iter().map(|ToolSpec { name, description, input_schema }| {
            format!("- `{name}`: {}\n  Input: {}", quoted(description), quoted(&input_schema.to_string()))
        }));
    }
    parts.join("\n")
}
