//! The work for which a model of its own is set, in words.

use crate::config::Settings;

/// The work that keeps its model whatever the conversation's is, such as "titles by a/small", behind an introduction.
/// Empty if there is none.
pub(super) fn kept(introduction: &str, settings: &Settings) -> String {
    let Settings { fast_model, title_model, instruct_model, oracle_model, .. } = settings;
    let fast = || fast_model.as_ref().map(|model| ("fast_model", model));
    let own = |name, model: &Option<String>| model.clone().map(|model| (name, model));
    let or_fast = |name, model| own(name, model).or_else(|| fast().map(|(name, model)| (name, model.clone())));
    let work = [
        ("titles", or_fast("title_model", title_model)),
        ("\"change this\"", or_fast("instruct_model", instruct_model)),
        ("second opinions", own("oracle_model", oracle_model)),
        ("suggestions", own("completion_model", &settings.completion_model)),
        ("next edits", own("next_edit_model", &settings.next_edit_model)),
    ];
    let named = work.iter().filter_map(|(work, model)| model.as_ref().map(|(name, model)| (work, name, model)));
    let said = named.map(|(work, name, model)| format!("{work} by `{model}` (`{name}`)"));
    let said = said.collect::<Vec<_>>().join(", ");
    if said.is_empty() { said } else { format!("{introduction}{said}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_work_is_named_with_the_setting_that_chose_its_model() {
        let model = |name: &str| Some(name.to_owned());
        let settings = Settings { fast_model: model("a/small"), oracle_model: model("b/wise"), ..Settings::default() };
        assert_eq!(
            kept(": ", &settings),
            ": titles by `a/small` (`fast_model`), \"change this\" by `a/small` (`fast_model`), \
             second opinions by `b/wise` (`oracle_model`)"
        );
        let settings = Settings { title_model: model("c/t"), ..settings };
        assert!(kept(": ", &settings).starts_with(": titles by `c/t` (`title_model`), \"change this\" by `a/small`"));
        assert_eq!(kept(": ", &Settings { model: model("a/b"), plan_model: model("a/c"), ..Settings::default() }), "");
    }
}
