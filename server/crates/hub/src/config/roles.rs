//! The models of roles, as the settings name them. In the list of a role, `@role` stands for the models of another one,
//! and `@role:level` for these at a level of thinking.

use std::collections::BTreeMap;

use protocol::model::{DEFAULT_LEVEL, ThinkingLevel, without_level};
use protocol::role::Role;
use providers::catalog::names;
use serde_json::Value;

use super::details::Fault;
use super::layer::Values;
use super::lines::Way;
use super::{Config, Settings};

/// The value of `completion_model` for a model that is found on this machine.
pub(crate) const LOCAL: &str = "local";

/// Another role in a list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'n> {
    /// The role; none if there is none of this name.
    pub(crate) role: Option<Role>,
    /// The level at which its models are to think.
    pub(crate) level: Option<&'n str>,
}

impl<'n> Reference<'n> {
    /// The reference that a name of a list is; none if it is that of a model. Some hosts' ids begin so too (`@cf/…`).
    pub(crate) fn of(name: &'n str) -> Option<Self> {
        let role = name.strip_prefix('@').filter(|role| !role.contains('/'))?;
        let (role, level) = role.split_once(':').map_or((role, None), |(role, level)| (role, Some(level)));
        Some(Self { role: Role::from_name(role), level })
    }

    /// The mistake in it, and what to do, without a word of it.
    fn mistake(&self) -> Option<String> {
        let is_level = |level: &str| level == DEFAULT_LEVEL || ThinkingLevel::from_name(level).is_some();
        if self.role.is_none() {
            return Some(format!(
                "no role is called like that behind its `@`; write {}, or the name of a model",
                all()
            ));
        }
        let is_wrong = self.level.is_some_and(|level| !is_level(level));
        let levels = ThinkingLevel::ALL.map(ThinkingLevel::name).join(", ");
        is_wrong.then(|| format!("no level of thinking is called like that behind its `:`; write one of {levels}"))
    }
}

/// All roles as they are referred to.
fn all() -> String {
    Role::ALL.map(|role| format!("`@{}`", role.name())).join(", ")
}

/// A name at a level of thinking, if there is one. It counts more than that of the name.
fn at(name: &str, level: Option<&str>) -> String {
    level.map_or_else(|| name.to_owned(), |level| format!("{}:{level}", without_level(name)))
}

/// A chain with the model of new conversations where `@default` is left in it, and the small one of its maker where
/// `@fast` is; without a small one, it is the same. None if nothing is left.
pub(crate) fn with_found(chain: &str, default: Option<&str>, small: Option<&str>) -> Option<String> {
    let model = |name| match Reference::of(name) {
        Some(Reference { role: Some(Role::Fast), level }) => small.or(default).map(|small| at(small, level)),
        Some(Reference { level, .. }) => default.map(|default| at(default, level)),
        None => Some(name.to_owned()),
    };
    let models: Vec<_> = names(chain).filter_map(model).collect();
    (!models.is_empty()).then(|| models.join(", "))
}

/// Takes what leads nowhere out of what a layer says of roles, over what is said of them below it: references to no
/// role, and those by which a role would be asked for its own models. Gives what was wrong.
pub(super) fn take_out_mistakes<'s>(values: &mut Values, below: &dyn Fn(Role) -> Option<&'s str>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut lists: BTreeMap<Role, String> =
        Role::ALL.into_iter().filter_map(|role| Some((role, below(role)?.to_owned()))).collect();
    let said = |values: &Values, role: Role| values.get(role.setting()).and_then(Value::as_str).map(str::to_owned);
    lists.extend(Role::ALL.into_iter().filter_map(|role| Some((role, said(values, role)?))));
    for role in Role::ALL {
        let Some(list) = said(values, role) else { continue };
        let mut problem = None;
        let is_right = |name: &&str| {
            let Some(reference) = Reference::of(name) else { return true };
            let circle = || reference.role.filter(|other| leads_to(*other, role, &lists, &mut Vec::new()));
            let circle = || circle().map(|other| in_a_circle(role, other));
            let found = reference.mistake().or_else(circle);
            let is_right = found.is_none();
            problem = problem.take().or(found);
            is_right
        };
        let right: Vec<_> = names(&list).filter(is_right).collect();
        let Some(problem) = problem else { continue };
        faults.push(Fault { way: Way::default().field(role.setting()), problem });
        let right = right.join(", ");
        if right.is_empty() {
            // Where nothing else names the model of new conversations, no other is to be asked in its stead.
            if role != Role::Default || below(role).is_some() {
                values.remove(role.setting());
            }
        } else {
            values.insert(role.setting(), right.clone().into());
        }
        lists.insert(role, right);
    }
    faults
}

fn in_a_circle(role: Role, other: Role) -> String {
    let name = other.name();
    if role == other {
        format!("`@{name}` is the role itself; name a model")
    } else {
        format!("`@{name}` leads back to this role; name a model in one of the two")
    }
}

/// True if the models of `to` are among those of `from`.
fn leads_to(from: Role, to: Role, lists: &BTreeMap<Role, String>, path: &mut Vec<Role>) -> bool {
    if from == to {
        return true;
    }
    if path.contains(&from) {
        return false;
    }
    path.push(from);
    let list = lists.get(&from).map(String::as_str).unwrap_or_default();
    names(list).filter_map(|name| Reference::of(name)?.role).any(|next| leads_to(next, to, lists, path))
}

impl Settings {
    /// The value of a role's setting.
    pub(crate) fn of_role(&self, role: Role) -> Option<&str> {
        let value = match role {
            Role::Default => &self.model,
            Role::Plan => &self.plan_model,
            Role::Fast => &self.fast_model,
            Role::Oracle => &self.oracle_model,
            Role::Title => &self.title_model,
            Role::Instruct => &self.instruct_model,
            Role::Completion => &self.completion_model,
            Role::NextEdit => &self.next_edit_model,
        };
        value.as_deref()
    }
}

impl Config {
    /// The list of a role: what was picked, else the value of its setting.
    pub(crate) fn of_role(&self, role: Role) -> Option<&str> {
        self.picks.get(&role).map(String::as_str).or_else(|| self.settings.of_role(role))
    }

    /// Checks the roles in a list that is picked for one.
    ///
    /// # Errors
    /// One of them leads nowhere; says what to do.
    pub(crate) fn check_pick(&self, role: Role, list: &str) -> Result<(), String> {
        let mut values = Values::from([(role.setting(), list.into())]);
        match take_out_mistakes(&mut values, &|role| self.of_role(role)).into_iter().next() {
            Some(fault) => Err(fault.problem),
            None => names(list).find_map(|name| self.leads_nowhere(name, vec![role])).map_or(Ok(()), Err),
        }
    }

    /// This configuration with these picks.
    pub(crate) fn with_picks(&self, picks: BTreeMap<Role, String>) -> Self {
        Self { picks, ..self.clone() }
    }

    /// The models of a role, as a chain without other roles; none if nobody names one for it. Where no setting names
    /// the model of new conversations, or of small work, `@default` or `@fast` stands for it, which only the catalog
    /// knows.
    pub(crate) fn chain(&self, role: Role) -> Option<String> {
        let role = self.named_for(role)?;
        let mut found = Vec::new();
        self.add_role(role, None, &mut Vec::new(), &mut found);
        (!found.is_empty()).then(|| found.join(", "))
    }

    /// A list of models that somebody names, without roles, as [`chain`](Self::chain) gives it.
    ///
    /// # Errors
    /// A role in it comes to no model; says why, in words for the user.
    pub(crate) fn without_roles(&self, list: &str) -> Result<String, String> {
        if let Some(problem) = names(list).find_map(|name| self.leads_nowhere(name, Vec::new())) {
            return Err(problem);
        }
        let mut found = Vec::new();
        self.add(list, None, &mut Vec::new(), &mut found);
        Ok(found.join(", "))
    }

    /// The same, where the model of new conversations is this one if no setting names it, and small work is done by it
    /// too.
    pub fn chain_with_default(&self, role: Role, default: Option<&str>) -> Option<String> {
        with_found(&self.chain(role)?, default, None)
    }

    /// True if a setting names a model for a role.
    pub fn has_model_for(&self, role: Role) -> bool {
        self.chain(role).is_some()
    }

    /// The role whose setting names the models of this one: its own, or that of small work; none if neither does.
    pub(crate) fn named_for(&self, role: Role) -> Option<Role> {
        let other = matches!(role, Role::Title | Role::Instruct).then_some(Role::Fast);
        [Some(role), other].into_iter().flatten().find(|role| self.of_role(*role).is_some())
    }

    /// Warnings for references that come to no model.
    pub(super) fn idle_references(&self) -> Vec<String> {
        Role::ALL.into_iter().flat_map(|role| self.idle_references_of(role)).collect()
    }

    fn idle_references_of(&self, role: Role) -> impl Iterator<Item = String> {
        let place = self.places.get(&role).map_or("the configuration", String::as_str);
        let problems =
            names(self.of_role(role).unwrap_or_default()).filter_map(move |name| self.leads_nowhere(name, vec![role]));
        problems.map(move |problem| format!("{place}: {}: {problem}", role.setting()))
    }

    /// Why the models that are named for a role come to none; none if they come to some, or none are named.
    pub(crate) fn why_none(&self, role: Role) -> Option<String> {
        self.idle_references_of(role).next().filter(|_| !self.has_model_for(role))
    }

    /// Why a name that is a role comes to no model, if that is so. `path` has the role in whose list it stands.
    fn leads_nowhere(&self, name: &str, mut path: Vec<Role>) -> Option<String> {
        let reference = Reference::of(name)?;
        let mut found = Vec::new();
        self.add(name, None, &mut path, &mut found);
        let other = reference.role.filter(|_| found.is_empty());
        let is_not_set = |other: Role| match self.of_role(other) {
            None => format!("`@{}` names no model, since `{}` does not", other.name(), other.setting()),
            Some(list) => format!("`@{}` comes to no model, since `{}` is `{list}`", other.name(), other.setting()),
        };
        reference.mistake().or_else(|| other.map(is_not_set))
    }

    fn add(&self, list: &str, level: Option<&str>, path: &mut Vec<Role>, found: &mut Vec<String>) {
        for name in names(list) {
            match Reference::of(name) {
                Some(Reference { role: Some(role), level: own }) => self.add_role(role, level.or(own), path, found),
                Some(Reference { role: None, .. }) => {}
                None => found.push(at(name, level)),
            }
        }
    }

    /// Adds the models of a role, unless they are looked for already.
    fn add_role(&self, role: Role, level: Option<&str>, path: &mut Vec<Role>, found: &mut Vec<String>) {
        if path.contains(&role) {
            return;
        }
        path.push(role);
        match (self.of_role(role), role) {
            (Some(list), _) => self.add(list, level, path, found),
            (None, Role::Default) => found.push(at("@default", level)),
            // It is found by the model of new conversations, whose list leads here.
            (None, Role::Fast) if path.contains(&Role::Default) => {}
            (None, Role::Fast) => found.push(at("@fast", level)),
            (None, Role::Title) => self.add_role(Role::Fast, level, path, found),
            (None, Role::Instruct) if self.of_role(Role::Fast).is_some() => {
                self.add_role(Role::Fast, level, path, found);
            }
            (None, Role::Plan | Role::Instruct) => self.add_role(Role::Default, level, path, found),
            (None, Role::Oracle | Role::Completion | Role::NextEdit) => {}
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use protocol::settings::SETTINGS;

    use super::*;

    fn config(lists: &[(Role, &str)]) -> Config {
        let mut config = Config::default();
        for (role, list) in lists {
            let list = Some((*list).to_owned());
            let settings = &mut config.settings;
            match role {
                Role::Default => settings.model = list,
                Role::Plan => settings.plan_model = list,
                Role::Fast => settings.fast_model = list,
                Role::Oracle => settings.oracle_model = list,
                Role::Title => settings.title_model = list,
                Role::Instruct => settings.instruct_model = list,
                Role::Completion => settings.completion_model = list,
                Role::NextEdit => settings.next_edit_model = list,
            }
        }
        config
    }

    #[test]
    fn a_role_stands_for_the_models_of_another_in_its_place_of_the_chain() {
        let config = config(&[
            (Role::Default, "a/big, b/big:high"),
            (Role::Fast, "a/small:low"),
            (Role::Plan, "c/wise, @default:max"),
            (Role::Title, "@fast:off"),
            (Role::Oracle, "@plan:high, @cf/meta/llama"),
            (Role::Completion, "@next_edit"),
        ]);
        for (role, chain) in [
            (Role::Default, Some("a/big, b/big:high")),
            (Role::Plan, Some("c/wise, a/big:max, b/big:max")),
            (Role::Title, Some("a/small:off")),
            (Role::Instruct, Some("a/small:low")),
            (Role::Oracle, Some("c/wise:high, a/big:high, b/big:high, @cf/meta/llama")),
            (Role::Completion, None),
            (Role::NextEdit, None),
        ] {
            assert_eq!(config.chain(role).as_deref(), chain, "{role:?}: the level of whoever refers counts");
        }
        assert_eq!(config.without_roles("x, @fast:high").as_deref(), Ok("x, a/small:high"));
        assert!(config.without_roles("x, @quick").unwrap_err().contains("write `@default`, `@plan`"));
        assert!(config.without_roles("@fast:much").unwrap_err().contains("write one of off, minimal"));
        assert!(config.without_roles("@next_edit").unwrap_err().ends_with("since `next_edit_model` does not"));
        let warnings = config.idle_references();
        let expected =
            "the configuration: completion_model: `@next_edit` names no model, since `next_edit_model` does not";
        assert_eq!(warnings, [expected]);
    }

    #[test]
    fn each_setting_that_names_a_model_is_that_of_a_role() {
        let named = |name: &&str| *name == "model" || name.ends_with("_model");
        let mut settings: Vec<_> = SETTINGS.iter().map(|setting| setting.name).filter(named).collect();
        let mut of_roles = Role::ALL.map(Role::setting);
        settings.sort_unstable();
        of_roles.sort_unstable();
        assert_eq!(settings, of_roles);
        let names = Role::ALL.map(|role| serde_json::to_value(role).unwrap());
        assert_eq!(names, Role::ALL.map(|role| Value::from(role.name())), "on the wire too");
        assert_eq!(Role::ALL.map(|role| Role::from_name(role.name())), Role::ALL.map(Some));
    }

    #[test]
    fn a_role_that_no_setting_names_is_what_it_is_without_one() {
        let set = config(&[(Role::Oracle, "@default:high"), (Role::Title, "@plan")]);
        assert_eq!(set.chain(Role::Oracle).as_deref(), Some("@default:high"), "the catalog knows which that is");
        let with_default = set.chain_with_default(Role::Oracle, Some("a/usual:low"));
        assert_eq!(with_default.as_deref(), Some("a/usual:high"));
        assert_eq!(set.chain_with_default(Role::Oracle, None), None);
        assert_eq!(set.chain(Role::Title).as_deref(), Some("@default"));
        assert_eq!((set.chain(Role::Default), set.chain(Role::Plan), set.chain(Role::Instruct)), (None, None, None));
        let small = config(&[(Role::Title, "@fast:low, a/other"), (Role::Default, "a/big")]);
        let chain = small.chain(Role::Title).unwrap();
        assert_eq!(chain, "@fast:low, a/other");
        let found = |small| with_found(&chain, Some("a/big"), small);
        assert_eq!(found(Some("a/small")).as_deref(), Some("a/small:low, a/other"));
        assert_eq!(found(None).as_deref(), Some("a/big:low, a/other"));
        let round = config(&[(Role::Default, "@fast"), (Role::Fast, "@title")]);
        assert_eq!(round.chain(Role::Default), None, "a circle comes to an end, and to nothing");
    }
}
