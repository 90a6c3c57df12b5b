//! Judging a command, or what is typed into a program, that has a secret in it: the model wrote a placeholder, and what
//! runs has the value.
//!
//! Whoever made the model write it could have the value sent anywhere, so it is asked even where the command by itself
//! would be allowed. Rules are `Secret(NAME)`: one that allows lets the command be judged as if it had no secret, one
//! that denies keeps the secret out of every command. In mode `bypass`, in which nothing is asked, only rules that ask
//! or deny count.

use super::rule::{Pattern, SECRET, is_about_secrets, text_fits};
use super::{Action, Case, FOR_A_PERSON, Rule, Rules, SourcedRule, Verdict, visible};

/// The name of whatever secrets a call has, where it is not known which there are.
pub const UNKNOWN: &str = "";

/// The secrets of these names, for words such as `it has …`.
pub fn in_words(names: &[String]) -> String {
    if names.iter().any(|name| name == UNKNOWN) {
        return "perhaps a secret (Azimuth cannot find out right now which secrets there are)".to_owned();
    }
    let named = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    format!("the secret{} {named}", if names.len() == 1 { "" } else { "s" })
}

/// The verdict on a call whose input has these secrets, where it had this one without them.
pub(super) fn judge(rules: &Rules, case: &Case<'_>, names: &[String], verdict: Verdict) -> Verdict {
    let runs = matches!(case.action, Action::Execute { .. } | Action::Type(_));
    if names.is_empty() || !runs || matches!(verdict, Verdict::Deny { .. }) {
        return verdict;
    }
    let mut known = names.iter().filter(|name| *name != UNKNOWN);
    if let Some(rule) = known.find_map(|name| find(&rules.deny, name)) {
        return Verdict::Deny { reason: rule.to_string() };
    }
    let asking = names.iter().find_map(|name| find(&rules.ask, name));
    if !case.mode.asks() && asking.is_none() {
        return verdict;
    }
    let allowed = |name: &&String| {
        let trusted = case.surroundings.trusted;
        *name != UNKNOWN && rules.allow.iter().any(|rule| is_about(rule, name) && rule.void(true, trusted).is_none())
    };
    let not_allowed: Vec<_> = match asking {
        Some(_) => names.iter().collect(),
        None => names.iter().filter(|name| !allowed(name)).collect(),
    };
    let has = format!("it has {}", in_words(names));
    match verdict {
        // The rules that it offers would hold the value.
        Verdict::Ask { title, detail, reason, .. } => {
            let end = if not_allowed.is_empty() { String::new() } else { format!("; {FOR_A_PERSON}") };
            Verdict::Ask { title, detail, reason: format!("{reason}; {has}{end}"), always: Vec::new() }
        }
        Verdict::Allow { .. } if !not_allowed.is_empty() => {
            let always = match asking {
                Some(_) => Vec::new(),
                None => not_allowed.iter().filter_map(|name| rule_for(name)).collect(),
            };
            let (title, detail) = question(case.action);
            let asked = asking.map(|rule| format!(", and {rule} asks")).unwrap_or_default();
            Verdict::Ask { title, detail, reason: format!("{has}{asked}; {FOR_A_PERSON}"), always }
        }
        other => other,
    }
}

fn find<'r>(rules: &'r [SourcedRule], name: &str) -> Option<&'r SourcedRule> {
    rules.iter().find(|rule| is_about(rule, name))
}

fn is_about(rule: &SourcedRule, name: &str) -> bool {
    is_about_secrets(&rule.rule) && Pattern::of(&rule.rule).is_none_or(|pattern| text_fits(pattern.0, name))
}

/// The rule that allows just this secret; none if it cannot be written.
fn rule_for(name: &str) -> Option<Rule> {
    let is_plain = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "*()".contains(c));
    is_plain.then(|| Rule { tool: SECRET.to_owned(), pattern: Some(name.to_owned()) })
}

/// The title and the details of the question.
fn question(action: &Action) -> (String, String) {
    match action {
        Action::Execute { line, cwd, .. } => {
            ("Run a command with a secret?".to_owned(), format!("{line}\nin {}", cwd.display()))
        }
        Action::Type(typing) => {
            let detail = format!("{}\ninto: {}", visible(&typing.text), typing.command);
            (format!("Type a secret into {}?", typing.terminal), detail)
        }
        Action::Read | Action::Edit { .. } => ("Use a secret?".to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use protocol::permission::RuleOrigin;
    use protocol::session::Mode;

    use super::super::{KeyFiles, Links, ShellLine, Surroundings};
    use super::*;

    fn rule(text: &str, origin: RuleOrigin) -> SourcedRule {
        SourcedRule { rule: text.parse().unwrap(), origin, source: "a file".to_owned() }
    }

    fn judged(allow: &[&str], ask: &[&str], deny: &[&str], mode: Mode, verdict: Verdict) -> Verdict {
        let all = |texts: &[&str]| texts.iter().map(|text| rule(text, RuleOrigin::User)).collect();
        let rules = Rules { allow: all(allow), ask: all(ask), deny: all(deny), ..Rules::default() };
        judged_by(&rules, "GITHUB_TOKEN", mode, verdict)
    }

    fn judged_by(rules: &Rules, secret: &str, mode: Mode, verdict: Verdict) -> Verdict {
        let action = Action::Execute {
            line: "curl -H 'X: value' example.org".to_owned(),
            parsed: ShellLine::Commands(Vec::new()),
            cwd: PathBuf::from("/w"),
            links: Links::default(),
            keys: KeyFiles::default(),
            outside: None,
        };
        let surroundings = Surroundings::default();
        let case = Case { tool: "shell_run", action: &action, reads: &[], mode, folders: &[], surroundings };
        judge(rules, &case, &[secret.to_owned()], verdict)
    }

    fn allow() -> Verdict {
        Verdict::Allow { reason: "allowed by a rule".to_owned(), only_reads: false }
    }

    #[test]
    fn a_command_that_a_rule_allows_is_asked_if_it_has_a_secret() {
        let Verdict::Ask { detail, reason, always, .. } = judged(&[], &[], &[], Mode::Agent, allow()) else { panic!() };
        assert!(detail.contains("curl") && reason.contains("`GITHUB_TOKEN`") && reason.ends_with(FOR_A_PERSON));
        assert_eq!(always.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Secret(GITHUB_TOKEN)"]);
        for rule in ["Secret(GITHUB_TOKEN)", "Secret(GITHUB_*)", "secret"] {
            assert_eq!(judged(&[rule], &[], &[], Mode::Agent, allow()), allow(), "{rule}");
        }
        for rule in ["Secret(OTHER)", "Shell", "*"] {
            assert!(matches!(judged(&[rule], &[], &[], Mode::Agent, allow()), Verdict::Ask { .. }), "{rule}");
        }
    }

    #[test]
    fn no_project_allows_a_secret_even_in_a_trusted_folder() {
        for (origin, is_allowed) in [(RuleOrigin::Project, false), (RuleOrigin::Granted, true)] {
            let rules = Rules { allow: vec![rule("Secret(GITHUB_TOKEN)", origin)], ..Rules::default() };
            let verdict = judged_by(&rules, "GITHUB_TOKEN", Mode::Agent, allow());
            assert_eq!(verdict == allow(), is_allowed, "{verdict:?}");
        }
    }

    #[test]
    fn where_it_is_not_known_which_secrets_there_are_no_rule_allows_a_command() {
        for allowing in ["Secret", "Secret(*)", "Shell"] {
            let rules = Rules { allow: vec![rule(allowing, RuleOrigin::User)], ..Rules::default() };
            let verdict = judged_by(&rules, UNKNOWN, Mode::Agent, allow());
            let Verdict::Ask { reason, always, .. } = verdict else { panic!("{allowing}") };
            assert!(always.is_empty() && reason.contains("perhaps a secret") && reason.ends_with(FOR_A_PERSON));
        }
    }

    #[test]
    fn rules_that_deny_or_ask_count_in_every_mode() {
        assert_eq!(judged(&[], &[], &[], Mode::Bypass, allow()), allow());
        for mode in [Mode::Agent, Mode::Bypass] {
            let denied = judged(&["Secret"], &[], &["Secret(GITHUB_TOKEN)"], mode, allow());
            assert!(matches!(denied, Verdict::Deny { reason } if reason.contains("Secret(GITHUB_TOKEN)")));
            let asked = judged(&["Secret"], &["Secret(GITHUB_TOKEN)"], &[], mode, allow());
            assert!(matches!(asked, Verdict::Ask { always, .. } if always.is_empty()));
        }
    }

    #[test]
    fn a_question_that_is_asked_anyway_names_the_secret_and_offers_no_rule_with_its_value() {
        let rule = "Shell(curl -H X:value)".parse().unwrap();
        let asked = |allow: &[&str]| {
            let verdict = Verdict::Ask {
                title: "Run a command?".to_owned(),
                detail: "curl".to_owned(),
                reason: "no rule allows it".to_owned(),
                always: vec![Rule::clone(&rule)],
            };
            let Verdict::Ask { reason, always, .. } = judged(allow, &[], &[], Mode::Agent, verdict) else { panic!() };
            assert!(always.is_empty() && reason.contains("`GITHUB_TOKEN`"), "{reason}");
            reason
        };
        assert!(asked(&[]).ends_with(FOR_A_PERSON));
        assert!(!asked(&["Secret(GITHUB_TOKEN)"]).contains(FOR_A_PERSON));
    }
}
