//! The work for which a model of its own is set, in words.

use protocol::role::Role;
use providers::catalog::names;

use crate::config::{Config, Reference};

/// The work that keeps its model whatever the conversation's is.
const WORK: [Role; 5] = [Role::Title, Role::Instruct, Role::Oracle, Role::Completion, Role::NextEdit];

/// Names that work, such as "titles by `a/small`", behind an introduction. Empty if there is none.
pub(super) fn kept(introduction: &str, config: &Config) -> String {
    let said = WORK.into_iter().filter_map(|role| {
        let (named, chain) = (config.named_for(role)?, config.chain(role)?);
        let models: Vec<_> = names(&chain).map(in_words).collect();
        Some(format!("{} by {} (`{}`)", role.words(), models.join(", then "), named.setting()))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    if said.is_empty() { said } else { format!("{introduction}{said}") }
}

/// A model of a chain. One that is a role is known only once it is asked for.
fn in_words(name: &str) -> String {
    let Some(Reference { role, level }) = Reference::of(name) else { return format!("`{name}`") };
    let level = level.map(|level| format!(" at the level {level}")).unwrap_or_default();
    match role {
        Some(Role::Fast) => format!("the cheapest model of the same maker{level}"),
        Some(_) | None => format!("the model of new conversations{level}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn each_work_is_named_with_the_setting_that_chose_its_model() {
        let model = |name: &str| Some(name.to_owned());
        let config = |settings: Settings| Config { settings, ..Config::default() };
        let settings = Settings { fast_model: model("a/small"), oracle_model: model("b/wise"), ..Settings::default() };
        assert_eq!(
            kept(": ", &config(settings.clone())),
            ": titles by `a/small` (`fast_model`), changes to a selection by `a/small` (`fast_model`), \
             second opinions by `b/wise` (`oracle_model`)"
        );
        let settings = Settings { title_model: model("@oracle"), ..settings };
        let said = kept(": ", &config(settings));
        assert!(
            said.starts_with(": titles by `b/wise` (`title_model`), changes to a selection by `a/small`"),
            "{said}"
        );
        let settings =
            Settings { title_model: model("@fast:low, a/b"), instruct_model: model("@default"), ..Settings::default() };
        assert_eq!(
            kept(": ", &config(settings)),
            ": titles by the cheapest model of the same maker at the level low, then `a/b` (`title_model`), \
             changes to a selection by the model of new conversations (`instruct_model`)"
        );
        let settings = Settings { model: model("a/b"), plan_model: model("a/c"), ..Settings::default() };
        assert_eq!(kept(": ", &config(settings)), "");
    }
}
