//! The means by which a session reads its project: its files with what is pending in them, searches, and the tools.

use std::sync::Arc;

use ::lang::Source;
use agent::commands::{self, CommandSet};
use agent::toolset::ToolSet;
use ports::hooks::{Chain, Hooks};
use ports::tool::Tool;
use ports::tool_names;
use project::paths::Roots;
use project::reader::Reader;
use project::results::Results;
use project::search::Search;
use project::seen::Seen;
use protocol::session::Purpose;

use super::Caller;
use super::gate::InForce;
use super::lang::{self, Servers};
use super::overlay::Overlay;
use super::terminals::Terminals;

/// Makes the tool that asks this model, or this chain of models, for second opinions.
pub(super) type Oracle = dyn Fn(&str) -> Arc<dyn Tool> + Send + Sync;

/// The means by which the project is read: made once with the session, and shared with its parts and its turns.
pub(super) struct Reading {
    pub(super) roots: Arc<Roots>,
    pub(super) reader: Arc<Reader>,
    /// The texts that the model reads in place of files with pending hunks.
    pub(super) overlay: Overlay,
    pub(super) search: Search,
    pub(super) seen: Seen,
    pub(super) results: Results,
    /// The switch for tags in the lines that the model of the turn reads.
    pub(super) tags: tools::Tags,
    /// To which tools the model's commands are pointed.
    pub(super) intercept: tools::Intercept,
    pub(super) tools: ToolSet,
    /// Makes the tool that asks a model for second opinions.
    pub(super) oracle: Box<Oracle>,
    /// The slash commands.
    pub(super) commands: CommandSet,
    /// Who has a say in what happens.
    pub(super) hooks: Chain,
    /// The editor of that client, for questions about code.
    pub(super) editors: lang::Editors,
    /// The language servers that we start ourselves.
    pub(super) own_servers: Arc<dyn Source>,
}

/// The parts that it is made of.
pub(super) struct Made<'m> {
    pub(super) roots: Arc<Roots>,
    /// Whose documents count.
    pub(super) home: &'m Caller,
    /// Where long results are kept.
    pub(super) results: Results,
    pub(super) rules: &'m InForce,
    pub(super) servers: &'m Servers,
    pub(super) terminals: &'m Terminals,
    /// The names of the only tools of a session that another one started.
    pub(super) only: Option<&'m [String]>,
    pub(super) purpose: Purpose,
    /// The model for second opinions.
    pub(super) oracle_model: Option<&'m str>,
    /// Tools beside those that are built in.
    pub(super) more: &'m [Arc<dyn Tool>],
    /// Slash commands beside those that are built in.
    pub(super) more_commands: &'m [commands::Source],
    /// Hooks beside those that are built in.
    pub(super) more_hooks: &'m [Arc<dyn Hooks>],
}

impl Reading {
    /// Makes the means by which this client's session reads.
    pub(super) fn build(made: Made<'_>) -> Self {
        let Made { roots, home, results, rules, servers, terminals, only, purpose, .. } = made;
        let Made { oracle_model, more, more_commands, more_hooks, .. } = made;
        let overlay = Overlay::default();
        let reader = Arc::new(Reader::new(Arc::clone(&home.buffers), Arc::new(overlay.clone())));
        let search = Search::new(Arc::clone(&roots), Reader::clone(&reader));
        let (seen, tags, intercept) = (Seen::default(), tools::Tags::default(), tools::Intercept::default());
        let own_servers = servers.own(Reader::clone(&reader));
        let services = tools::Services {
            roots: Arc::clone(&roots),
            reader: Reader::clone(&reader),
            search: rules.shown(&search, &roots),
            seen: seen.clone(),
            shell: Arc::clone(terminals.shell()),
            jobs: Arc::clone(terminals.jobs()),
            outside: Arc::clone(terminals.outside()),
            lang: servers.lang(&reader, &roots, Arc::clone(&own_servers)),
            results: results.clone(),
            edits: tools::Edits::default(),
            tags: tags.clone(),
            intercept: intercept.clone(),
        };
        let builtin = tools::builtin(&services);
        let of_oracle = services.clone();
        let oracle: Box<Oracle> = Box::new(move |model| tools::oracle(&of_oracle, model));
        let only = match purpose {
            Purpose::Instruct => Some(tools::without_commands(&builtin)),
            // Nobody sits before a session that another one started.
            Purpose::Chat | Purpose::Suggestions => {
                only.map(|names| names.iter().filter(|name| *name != tool_names::ASK_USER).cloned().collect::<Vec<_>>())
            }
        };
        let tools = ToolSet::new("built-in", builtin);
        put_oracle(&tools, &oracle, oracle_model);
        tools.put("this process", more.iter().cloned());
        if let Some(only) = only {
            tools.restrict(only);
        }
        let commands = CommandSet::default();
        for source in more_commands {
            let left_out = commands.put(source.clone());
            if !left_out.is_empty() {
                tracing::warn!(source = source.name, ?left_out, "slash commands that nobody could call");
            }
        }
        let hooks = Chain::new(tools::hooks(&services).into_iter().chain(more_hooks.iter().cloned()));
        let editors = servers.editors().clone();
        Self {
            roots,
            reader,
            overlay,
            search,
            seen,
            results,
            tags,
            intercept,
            tools,
            oracle,
            commands,
            hooks,
            editors,
            own_servers,
        }
    }

    /// Has the session ask this model, or this chain of models, for second opinions; none for no tool that does. A
    /// conversation that began without the tool has it when it is opened again, since the prompt stays as it is.
    pub(super) fn set_oracle(&self, model: Option<&str>) {
        put_oracle(&self.tools, &self.oracle, model);
    }
}

fn put_oracle(tools: &ToolSet, oracle: &Oracle, model: Option<&str>) {
    let left_out = tools.put("second opinions", model.map(oracle));
    if !left_out.is_empty() {
        tracing::warn!(?left_out, "a tool of this name is there already");
    }
}
