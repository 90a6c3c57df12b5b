//! Judging what the model types into a program that runs.
//!
//! Who types into a shell or an interpreter runs code, and no one can tell from the text what it will do there. So what
//! is typed is asked, with the text and the whole question shown, unless it is a plain answer: a short word or a key of
//! a menu, typed at a program that was seen to wait, and to a question that `questions` knows to be harmless. A secret
//! is never the model's to type. To end a program (Ctrl-C, Ctrl-D) needs no question, as to kill it needs none. What
//! the user has started is theirs: all that is typed into it is asked, in every mode.
//!
//! Rules are `Type(words)`, fitted to the words of the command that runs: `Type(npm init:*)`. They allow nothing
//! outside the sandbox, as those for commands do not.

use super::rule::{Pattern, find, find_counting, find_void};
use super::{Case, Rule, Rules, ShellLine, SimpleCommand, SourcedRule, Typing, Verdict, Word, questions};
use crate::unseen::is_unseen;

/// Keys that end what runs.
const ENDING: &[&str] = &["ctrl-c", "ctrl-d", "ctrl-\\"];

/// So many of the last lines that a program has shown are told to the user.
const MOST_LINES: usize = 40;

pub(super) fn judge(rules: &Rules, case: &Case<'_>, typing: &Typing) -> Verdict {
    if typing.waiting.as_ref().is_some_and(|waiting| waiting.hidden) {
        let reason = "it asks for a secret, which is for the user to type";
        return Verdict::Deny { reason: reason.to_owned() };
    }
    let commands = match &typing.parsed {
        ShellLine::Commands(commands) => commands.as_slice(),
        ShellLine::Unparsable { .. } => &[],
    };
    let may_fit = |pattern: &Pattern<'_>| {
        commands.is_empty() || commands.iter().any(|command| pattern.may_fit_words(&command.words))
    };
    if let Some(rule) = find(&rules.deny, case, may_fit) {
        return Verdict::Deny { reason: rule.to_string() };
    }
    let allow = |reason: String| Verdict::Allow { reason, only_reads: false };
    if let Some(rule) = find(&rules.ask, case, may_fit) {
        return ask(typing, rule.to_string(), Vec::new());
    }
    if typing.of_user {
        let reason = "the user has started what runs there, so nobody has allowed the model to take part".to_owned();
        return ask(typing, reason, Vec::new());
    }
    if !case.mode.asks() {
        return allow(format!("mode `{}` asks nothing", case.mode.name()));
    }
    if let Some(key) = &typing.key
        && typing.text.is_empty()
        && ENDING.contains(&key.as_str())
    {
        return allow(format!("`{key}` only ends what runs"));
    }
    let all_fit = |pattern: &Pattern<'_>| {
        !commands.is_empty() && commands.iter().all(|command| pattern.fits_words(&command.words))
    };
    if !typing.outside
        && let Some(rule) = find_counting(&rules.allow, case, all_fit)
    {
        return allow(SourcedRule::to_string(rule));
    }
    if typing.is_plain_answer() {
        return allow("a plain answer to a question of a program that was allowed to run".to_owned());
    }
    if let Some((rule, why)) = find_void(&rules.allow, case, all_fit) {
        return ask(typing, format!("{rule} would allow it, but {why}"), Vec::new());
    }
    let reason = "what is typed into a program can make it do anything that it can do".to_owned();
    ask(typing, reason, always(commands).filter(|_| !typing.outside).into_iter().collect())
}

impl Typing {
    /// True if it is allowed for the sake of the question that it answers.
    pub fn is_plain_answer(&self) -> bool {
        !self.of_user && questions::are_answered_unasked(self)
    }
}

/// The rule that allows to type into just this command.
fn always(commands: &[SimpleCommand]) -> Option<Rule> {
    let [command] = commands else { return None };
    let words = command.words.iter().map(known).collect::<Option<Vec<&str>>>()?;
    // A rule is read by its blanks and its `*`.
    let is_plain = |word: &&str| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "*()".contains(c));
    let is_rule = !words.is_empty() && words.iter().all(is_plain);
    is_rule.then(|| Rule { tool: "Type".to_owned(), pattern: Some(words.join(" ")) })
}

/// Text with what a terminal would not show as it is: `^U` for a control character, `\u{202e}` for one that cannot be
/// seen or turns the text around. Line feeds stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            '\t' => shown.push_str("^I"),
            '\0'..='\x1f' | '\x7f' => shown.extend(['^', char::from(c as u8 ^ 0x40)]),
            c if is_unseen(c) => shown.extend(c.escape_unicode()),
            c if c.is_control() || (c.is_whitespace() && !c.is_ascii()) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

fn known(word: &Word) -> Option<&str> {
    match word {
        Word::Known(word) => Some(word),
        Word::Unknown(_) => None,
    }
}

fn ask(typing: &Typing, reason: String, always: Vec<Rule>) -> Verdict {
    let title = format!("Type into {}?", typing.terminal);
    let typed = match (typing.key.as_deref().map(visible), visible(&typing.text).as_str()) {
        (Some(key), "") => format!("[{key}]"),
        (Some(key), text) => format!("{text} [{key}]"),
        (None, text) => text.to_owned(),
    };
    let place = if typing.outside { "into, outside the sandbox" } else { "into" };
    let mut detail = format!("{typed}\n{place}: {}", typing.command);
    let lines: Vec<_> = typing.shown.seen.trim().lines().map(str::trim_end).collect();
    match lines.get(lines.len().saturating_sub(MOST_LINES)..).unwrap_or_default() {
        _ if typing.waiting.is_none() => {}
        [] => {}
        [line] => detail.push_str(&format!("\nit asks: {}", visible(line))),
        lines => detail.push_str(&format!("\nit asks:\n{}", visible(&lines.join("\n")))),
    }
    Verdict::Ask { title, detail, reason, always }
}

#[cfg(test)]
mod tests {
    use protocol::session::Mode;
    use protocol::terminal::{Certainty, Waiting};

    use super::super::{Action, Shown, Surroundings, judge};
    use super::*;

    fn parsed(line: &str) -> ShellLine {
        let words = line.split(' ').map(|word| Word::Known(word.to_owned())).collect();
        ShellLine::Commands(vec![SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() }])
    }

    fn waiting(prompt: &str) -> Option<Waiting> {
        Some(Waiting { certainty: Certainty::Certain, prompt: prompt.to_owned(), hidden: false })
    }

    fn typing(command: &str, prompt: &str, text: &str) -> Typing {
        let (terminal, command_text) = ("job-1".to_owned(), command.to_owned());
        let (text, key) = (text.to_owned(), Some("enter".to_owned()));
        Typing {
            terminal,
            command: command_text,
            parsed: parsed(command),
            text,
            key,
            waiting: waiting(prompt),
            shown: Shown { seen: prompt.to_owned(), printed: prompt.to_owned(), is_cut: false },
            typed: 0,
            call: "call".into(),
            began: std::time::UNIX_EPOCH,
            outside: false,
            of_user: false,
        }
    }

    fn verdict(rules: &Rules, mode: Mode, typing: Typing) -> Verdict {
        let action = Action::Type(Box::new(typing));
        let surroundings = Surroundings::default();
        judge(rules, &Case { tool: "shell_write", action: &action, reads: &[], mode, folders: &[], surroundings })
    }

    fn is_asked(command: &str, prompt: &str, text: &str) -> bool {
        matches!(verdict(&Rules::default(), Mode::Agent, typing(command, prompt, text)), Verdict::Ask { .. })
    }

    fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
        let all = |texts: &[&str]| {
            let sourced = |text: &&str| SourcedRule {
                rule: text.parse().unwrap(),
                origin: protocol::permission::RuleOrigin::User,
                source: "your config.toml".to_owned(),
            };
            texts.iter().map(sourced).collect()
        };
        Rules { allow: all(allow), ask: all(ask), deny: all(deny), ..Rules::default() }
    }

    #[test]
    fn a_plain_answer_to_a_question_of_a_program_needs_no_question() {
        for (command, prompt, text) in [
            ("npm init", "version: ", ""),
            ("cargo generate x", "Which template? [1/2]", "2"),
            ("npx create-next-app", "Would you like to use ESLint? (y/N)", "n"),
            ("create-app", "Which framework?", ""),
        ] {
            assert!(!is_asked(command, prompt, text), "{command}: {prompt}{text}");
        }
    }

    #[test]
    fn what_can_run_code_or_lose_something_is_asked() {
        for (command, prompt, text) in [
            ("python3 -i", ">>> ", "exit"),
            ("/usr/bin/python3.12", ">>> ", "1"),
            ("bash", "Continue? [y/N]", "y"),
            ("env bash", "name: ", "reboot"),
            ("sqlite3 a.db", "sqlite> ", ".quit"),
            ("ipython", "In [1]:", "x"),
            ("ssh host", "password:", "x"),
            ("mytool", "(tool) ", "y"),
            ("mytool", "$ ", "ls"),
            ("mytool", "> ", "ls"),
            ("mytool", "names[0]:", "x"),
            ("mytool", "package name: (demo) ", "demo"),
            ("mytool", "Delete all 12 branches? [y/N]", "y"),
            ("apt-get install cowsay", "Do you want to continue? [Y/n]", "y"),
            ("mytool", "Proceed? [y/N]", "y"),
            ("mytool", "Are you sure? (y/n)", "y"),
            ("mytool", "Deploy to staging? [y/N]", "y"),
            ("mytool", "Apply this plan? (yes/no)", "yes"),
            ("mytool", "Send 12 mails? [y/N]", "y"),
            ("mytool", "Charge the customer? [y/N]", "y"),
            ("mytool", "Transfer 100 coins? [y/N]", "y"),
            ("mytool", "Terminate 3 instances? [y/N]", "y"),
            ("mytool", "Grant access? [y/N]", "y"),
            ("mytool", "Revoke access? [y/N]", "y"),
            ("mytool", "Merge into main? [y/N]", "y"),
            ("mytool", "PIN:", "1234"),
            ("mytool", "OTP:", "123456"),
            ("mytool", "Card number:", "4111"),
            ("git clean -i", "Remove a.txt [y/N]?", "y"),
            ("cp -i a b", "cp: overwrite 'b'?", "y"),
            ("git push", "Are you sure you want to continue connecting (yes/no/[fingerprint])?", "yes"),
            ("npm init", "name:", "x; rm -rf /"),
            ("npm init", "name:", "$(reboot)"),
            ("npm init", "name:", "a b"),
            ("npm init", "name:", "a\nb"),
            ("npm init", "test command:", "reboot"),
            ("npm init", "name:", "x".repeat(41).as_str()),
        ] {
            assert!(is_asked(command, prompt, text), "{command}: {prompt}{text}");
        }
        // One that was not seen to wait may be anywhere.
        let busy = Typing { waiting: None, ..typing("npm init", "", "demo") };
        assert!(matches!(verdict(&Rules::default(), Mode::Agent, busy), Verdict::Ask { .. }));
        let unknown = ShellLine::Unparsable { reason: "eval".to_owned() };
        let unknown = Typing { parsed: unknown, ..typing("eval x", "name:", "demo") };
        assert!(matches!(verdict(&Rules::default(), Mode::Agent, unknown), Verdict::Ask { .. }));
        let other_key = Typing { key: Some("ctrl-z".to_owned()), ..typing("npm init", "name:", "") };
        assert!(matches!(verdict(&Rules::default(), Mode::Agent, other_key), Verdict::Ask { .. }));
    }

    #[test]
    fn to_end_a_program_needs_no_question_and_a_secret_is_never_typed() {
        for key in ["ctrl-c", "ctrl-d"] {
            let end = Typing { key: Some(key.to_owned()), ..typing("bash", "$ ", "") };
            assert!(matches!(verdict(&Rules::default(), Mode::Agent, end), Verdict::Allow { .. }));
            let more = Typing { key: Some(key.to_owned()), ..typing("bash", "$ ", "reboot") };
            assert!(matches!(verdict(&Rules::default(), Mode::Agent, more), Verdict::Ask { .. }));
        }
        let mut secret = typing("sudo ls", "password:", "x");
        secret.waiting.as_mut().unwrap().hidden = true;
        for mode in [Mode::Agent, Mode::Bypass] {
            let verdict = verdict(&rules(&["Type"], &[], &[]), mode, secret.clone());
            assert!(matches!(verdict, Verdict::Deny { .. }), "{verdict:?}");
        }
    }

    #[test]
    fn what_the_user_has_started_is_answered_and_ended_by_the_model_only_when_they_say_so() {
        let theirs = || Typing { of_user: true, ..typing("npm init", "version: ", "y") };
        let end = || Typing { key: Some("ctrl-c".to_owned()), text: String::new(), ..theirs() };
        for mode in [Mode::Agent, Mode::AcceptEdits, Mode::Bypass] {
            for typing in [theirs(), end()] {
                let verdict = verdict(&rules(&["Type", "Type(npm init)"], &[], &[]), mode, typing);
                assert!(matches!(&verdict, Verdict::Ask { always, .. } if always.is_empty()), "{verdict:?}");
            }
        }
        assert!(matches!(verdict(&rules(&[], &[], &["Type"]), Mode::Agent, theirs()), Verdict::Deny { .. }));
    }

    #[test]
    fn rules_are_about_the_command_that_runs_and_modes_about_all_typing() {
        let code = || typing("python3 -i", ">>> ", "print(1)");
        let allowed = |rules: Rules, mode| matches!(verdict(&rules, mode, code()), Verdict::Allow { .. });
        assert!(allowed(rules(&["Type(python3 -i)"], &[], &[]), Mode::Agent));
        assert!(allowed(rules(&["Type(python3:*)"], &[], &[]), Mode::Agent));
        assert!(allowed(rules(&["Type"], &[], &[]), Mode::Agent));
        assert!(!allowed(rules(&["Type(python2:*)"], &[], &[]), Mode::Agent));
        assert!(!allowed(rules(&["Shell"], &[], &[]), Mode::Agent), "to run it is not to type into it");
        assert!(!allowed(rules(&["Type"], &["Type(python3:*)"], &[]), Mode::Agent));
        assert!(allowed(Rules::default(), Mode::Bypass));
        let denied = |rules: &Rules, mode, typing| matches!(verdict(rules, mode, typing), Verdict::Deny { .. });
        assert!(denied(&rules(&["Type"], &[], &["Type(python3:*)"]), Mode::Bypass, code()));
        assert!(denied(&rules(&["Type"], &[], &[]), Mode::Ask, code()));
        assert!(denied(&rules(&["Type"], &[], &[]), Mode::Plan, code()));
        assert!(denied(&rules(&[], &[], &["shell_write"]), Mode::Agent, typing("npm init", "name:", "x")));
    }

    #[test]
    fn while_the_folder_is_not_trusted_no_rule_of_its_own_or_of_everywhere_allows_to_type() {
        use protocol::permission::RuleOrigin;

        let code = || Action::Type(Box::new(typing("python3 -i", ">>> ", "print(1)")));
        let judged = |origin, text: &str, trusted| {
            let mut rules = rules(&[text], &[], &[]);
            rules.allow[0].origin = origin;
            let (action, mode) = (code(), Mode::Agent);
            let surroundings = Surroundings { trusted, sandboxed: true };
            judge(&rules, &Case { tool: "shell_write", action: &action, reads: &[], mode, folders: &[], surroundings })
        };
        for rule in ["Type", "*", "shell_write", "Type(python3:*)"] {
            for origin in [RuleOrigin::Project, RuleOrigin::User] {
                let verdict = judged(origin, rule, false);
                assert!(matches!(&verdict, Verdict::Ask { reason, .. } if reason.contains("trusted")), "{verdict:?}");
                assert!(matches!(judged(origin, rule, true), Verdict::Allow { .. }));
            }
            for origin in [RuleOrigin::Granted, RuleOrigin::Session] {
                assert!(matches!(judged(origin, rule, false), Verdict::Allow { .. }));
            }
        }
    }

    #[test]
    fn what_a_rule_has_asked_is_asked_in_mode_bypass_too_and_for_the_keys_that_end_a_program() {
        let asked = |rules: &Rules, typing| matches!(verdict(rules, Mode::Bypass, typing), Verdict::Ask { .. });
        for rule in ["Type", "*", "Type(python3:*)"] {
            let rules = rules(&[], &[rule], &[]);
            assert!(asked(&rules, typing("python3 -i", ">>> ", "print(1)")), "{rule}");
            let end = Typing { key: Some("ctrl-c".to_owned()), ..typing("python3 -i", ">>> ", "") };
            assert!(asked(&rules, end), "{rule}");
        }
        let other = rules(&[], &["Type(psql:*)"], &[]);
        assert!(!asked(&other, typing("python3 -i", ">>> ", "print(1)")));
    }

    #[test]
    fn what_is_asked_shows_each_character_that_is_typed() {
        let text = "rm x\u{15}ls\x1b[D\x7f \u{202e}a\u{a0}\u{9b}\tb\nü";
        let Verdict::Ask { detail, .. } = verdict(&Rules::default(), Mode::Agent, typing("cat", "", text)) else {
            panic!()
        };
        let shown = "rm x^Uls^[[D^? \\u{202e}a\\u{a0}\\u{9b}^Ib\nü [enter]\ninto: cat";
        assert_eq!(detail, shown);
        // The Arabic letter mark, blank letters, a variation selector, a tag, an annotation's end, the blank of
        // Braille.
        for unseen in "\u{61c}\u{34f}\u{115f}\u{17b4}\u{180e}\u{3164}\u{ffa0}\u{fe0f}\u{e0041}\u{fffb}\u{2800}".chars()
        {
            assert_eq!(visible(&format!("a{unseen}b")), format!("a{}b", unseen.escape_unicode()));
        }
        assert_eq!(visible("مرحبا 漢字 e\u{301} 🦀"), "مرحبا 漢字 e\u{301} 🦀");
    }

    #[test]
    fn a_rule_for_typing_does_not_hold_outside_the_sandbox() {
        let code = |outside| Typing { outside, ..typing("python3 -i", ">>> ", "print(1)") };
        let judged = |outside| verdict(&rules(&["Type(python3 -i)", "Type"], &[], &[]), Mode::Agent, code(outside));
        assert!(matches!(judged(false), Verdict::Allow { .. }));
        let Verdict::Ask { detail, always, .. } = judged(true) else { panic!("it is not asked") };
        assert_eq!(detail, "print(1) [enter]\ninto, outside the sandbox: python3 -i\nit asks: >>>");
        assert_eq!(always, [], "to allow it always would hold inside only");
    }

    #[test]
    fn the_user_sees_what_is_typed_and_into_what_and_always_is_about_that_command() {
        let Verdict::Ask { title, detail, always, .. } =
            verdict(&Rules::default(), Mode::Agent, typing("python3 -i", ">>> ", "print(1)"))
        else {
            panic!()
        };
        assert_eq!(
            (title.as_str(), detail.as_str()),
            ("Type into job-1?", "print(1) [enter]\ninto: python3 -i\nit asks: >>>")
        );
        let written: Vec<_> = always.iter().map(Rule::to_string).collect();
        assert_eq!(written, ["Type(python3 -i)"]);
        assert_eq!(super::super::scope_in_words(&always), "Always allow typing into `python3 -i` in this project");
    }
}
