//! `/model` and `/thinking`.

use std::borrow::Cow;

use protocol::model::{DEFAULT_LEVEL, ThinkingLevel};
use protocol::role::Role;

use super::BuiltIn;
use crate::commands::{Choice, Choices, Definition, Effects, Flag, Words};

/// Chooses a model, or lists the models.
#[derive(Debug, PartialEq, Eq)]
pub enum ChooseModel {
    /// Lists the models and the roles.
    List,
    /// Tells what a role comes to.
    Show(Role),
    /// Chooses a model for a role; the one of this conversation is that of the role `default`.
    Choose {
        /// The role.
        role: Role,
        /// The name of the model.
        name: String,
        /// True if it is to be kept in the user's configuration.
        keep: bool,
    },
    /// Takes back what was picked for a role, or with `keep` what the user's configuration says of it.
    Unset {
        /// The role.
        role: Role,
        /// True if it is taken out of the user's configuration.
        keep: bool,
    },
}

/// The flag for a choice that is kept.
const KEEP: &str = "keep";
/// The flag for a choice that is taken back.
const UNSET: &str = "unset";

impl BuiltIn for ChooseModel {
    fn definition() -> Definition {
        const fn flag(name: &'static str) -> Flag {
            Flag { name: Cow::Borrowed(name), short: None, takes_value: false }
        }
        const FLAGS: &[Flag] = &[flag(KEEP), flag(UNSET)];

        Definition {
            arguments: "[role] [name[:level]] [--keep|--unset]".into(),
            words: 1,
            also: |before, _| matches!(before, [role] if Role::from_name(role).is_some()),
            flags: FLAGS.into(),
            choices: Choices::Models,
            ..Definition::new("model", "Choose the model of this conversation or of a role, or list the models")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let has = |name: &str| words.flags.iter().any(|(flag, _)| flag == name);
        let (keep, unset) = (has(KEEP), has(UNSET));
        let first = words.first();
        let role = first.and_then(Role::from_name);
        let name = match role {
            Some(_) => words.positionals.get(1).filter(|name| !name.is_empty()).map(String::as_str),
            None => first,
        };
        match (role, name, unset) {
            (role, Some(name), false) => {
                Ok(Self::Choose { role: role.unwrap_or(Role::Default), name: name.to_owned(), keep })
            }
            (Some(role), None, true) => Ok(Self::Unset { role, keep }),
            (Some(role), None, false) if !keep => Ok(Self::Show(role)),
            (None, None, false) if !keep => Ok(Self::List),
            (_, None, false) => Err("say which model to keep, as in `/model plan opus --keep`".to_owned()),
            (_, _, true) => Err("say which role to unset and no model, as in `/model plan --unset`".to_owned()),
        }
    }

    fn effects(&self) -> Effects {
        let is_kept = matches!(self, Self::Choose { keep: true, .. } | Self::Unset { keep: true, .. });
        // A role may turn on work that costs something in all conversations, which no pasted text may do.
        let is_for_role = matches!(self, Self::Choose { role, .. } if *role != Role::Default);
        let must_lead = is_kept || is_for_role || matches!(self, Self::Unset { .. });
        let instead = "`/model … --keep` writes your configuration, which azimuth exec does not: write it yourself";
        Effects { must_lead, lasts: is_kept.then_some(instead), ..Effects::default() }
    }
}

/// Chooses how much the model thinks; without a level, shows the levels.
#[derive(Debug)]
pub struct ChooseThinking(pub Option<String>);

impl BuiltIn for ChooseThinking {
    fn definition() -> Definition {
        let levels = ThinkingLevel::ALL.map(|level| Choice::new(level.name(), ""));
        let by_itself = Choice::new(DEFAULT_LEVEL, "as much as the model thinks by itself");
        Definition {
            arguments: "[level]".into(),
            words: 1,
            choices: Choices::Fixed(levels.into_iter().chain([by_itself]).collect()),
            ..Definition::new("thinking", "Choose how much the model thinks before it answers, or show its levels")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let Some(word) = words.first().map(str::to_lowercase) else { return Ok(Self(None)) };
        if word != DEFAULT_LEVEL && ThinkingLevel::from_name(&word).is_none() {
            let levels = ThinkingLevel::ALL.map(ThinkingLevel::name).join(", ");
            return Err(format!(
                "there is no level of thinking `{word}`; the levels are {levels}, and {DEFAULT_LEVEL}"
            ));
        }
        Ok(Self(Some(word)))
    }
}
