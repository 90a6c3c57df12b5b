//! The table of command lines in `tests/permission`: each is parsed and judged as in a turn. Who wrote the nasty ones
//! had not seen the parser, and who collected the others took them from files of published packages.

use std::path::{Path, PathBuf};

use permission::{
    Action, Case, FOR_A_PERSON, KeyFiles, Links, Rules, SourcedRule, Surroundings, Verdict, judge, looks_around,
};
use proptest::sample::{Index, select};
use protocol::permission::RuleOrigin;
use protocol::session::Mode;
use serde_json::Value;
use spent::Spent;

use super::*;

/// Where the lines run. Nothing of it is on the disk.
const FOLDER: &str = "/home/user/project";

/// Every way in which a line could be let through, but for `bypass`.
const MODES: [Mode; 4] = [Mode::Ask, Mode::Plan, Mode::Agent, Mode::AcceptEdits];

/// Trusted and in a sandbox, which lets through the most; and neither.
const SURROUNDINGS: [Surroundings; 2] =
    [Surroundings { trusted: true, sandboxed: true }, Surroundings { trusted: false, sandboxed: false }];

fn table(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/permission").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(name: &str) -> Vec<String> {
    table(name).iter().map(|entry| entry["line"].as_str().unwrap().to_owned()).collect()
}

/// How a line fares where the user has no rules.
fn judged(line: &str, mode: Mode, surroundings: Surroundings) -> Verdict {
    judged_by(&Rules::default(), line, mode, surroundings)
}

fn judged_by(rules: &Rules, line: &str, mode: Mode, surroundings: Surroundings) -> Verdict {
    judged_among(&keys(&[(".env", true)]), rules, line, mode, surroundings)
}

/// Files that usually hold keys in the project, each with whether an ignore file names it.
fn keys(files: &[(&str, bool)]) -> KeyFiles {
    let found = files.iter().map(|(file, ignored)| (Path::new(FOLDER).join(file), *ignored)).collect();
    KeyFiles { found, ..KeyFiles::default() }
}

fn judged_among(keys: &KeyFiles, rules: &Rules, line: &str, mode: Mode, surroundings: Surroundings) -> Verdict {
    let folders = [PathBuf::from(FOLDER)];
    let action = Action::Execute {
        line: line.to_owned(),
        parsed: parse(line),
        cwd: FOLDER.into(),
        links: Links::new(),
        keys: keys.clone(),
        outside: None,
    };
    let case = Case { tool: "shell_run", action: &action, reads: &[], mode, folders: &folders, surroundings };
    judge(rules, &case)
}

fn is_allowed(line: &str, mode: Mode, surroundings: Surroundings) -> bool {
    matches!(judged(line, mode, surroundings), Verdict::Allow { .. })
}

fn passes(line: &str) -> bool {
    // A project whose files with keys are committed, but for one.
    let keys = keys(&[(".env", true), ("config/secrets.yaml", false), ("server.pem", false)]);
    let is_allowed =
        |mode, around| matches!(judged_among(&keys, &Rules::default(), line, mode, around), Verdict::Allow { .. });
    MODES.into_iter().any(|mode| SURROUNDINGS.into_iter().any(|around| is_allowed(mode, around)))
}

/// True if a line runs unasked where most does that edits nothing: in mode `agent`, trusted, in a sandbox.
fn runs_unasked(line: &str) -> bool {
    is_allowed(line, Mode::Agent, Surroundings { trusted: true, sandboxed: true })
}

#[test]
fn no_nasty_line_runs_without_a_question() {
    let lines = lines("nasty.jsonl");
    let passed: Vec<_> = lines.iter().filter(|line| passes(line)).collect();
    assert!(lines.len() >= 300, "there are only {} lines", lines.len());
    assert!(passed.is_empty(), "{} of {} passed: {passed:#?}", passed.len(), lines.len());
}

#[test]
fn what_nobody_can_mean_is_refused_in_every_mode() {
    let modes = MODES.into_iter().chain([Mode::Bypass]);
    for line in lines("nasty_denied.jsonl") {
        for mode in modes.clone() {
            for around in SURROUNDINGS {
                let verdict = judged(&line, mode, around);
                assert!(matches!(verdict, Verdict::Deny { .. }), "`{line}` in mode {mode:?} came to {verdict:?}");
            }
        }
    }
}

#[test]
fn what_is_denied_is_denied_behind_a_wrapper_with_many_words_too() {
    let deny = ["Shell(git push:*)", "Edit(secrets/**)"].map(|rule| SourcedRule {
        rule: rule.parse().unwrap(),
        origin: RuleOrigin::User,
        source: "your config.toml".to_owned(),
    });
    let rules = Rules { deny: deny.into(), ..Rules::default() };
    for wrapper in
        ["env -i A=1 B=2 C=3 D=4 E=5 F=6 G=7", "env -u A -u B -u C -u D", "env - A=1 B=2 C=3 D=4 E=5 F=6 G=7"]
    {
        for denied in ["git push", "sh -c 'echo > secrets/x'", "bash -c 'git push origin'"] {
            let line = format!("{wrapper} {denied}");
            for mode in MODES.into_iter().chain([Mode::Bypass]) {
                let verdict = judged_by(&rules, &line, mode, SURROUNDINGS[0]);
                assert!(matches!(verdict, Verdict::Deny { .. }), "`{line}` in mode {mode:?} came to {verdict:?}");
            }
        }
    }
}

#[test]
fn what_a_rule_denies_it_denies_in_every_spelling_and_where_nobody_is_asked() {
    let mut through = Vec::new();
    for entry in table("ruled.jsonl") {
        let [line, deny] = ["line", "deny"].map(|key| entry[key].as_str().unwrap());
        let rule = SourcedRule {
            rule: deny.parse().unwrap(),
            origin: RuleOrigin::User,
            source: "your config.toml".to_owned(),
        };
        let rules = Rules { deny: vec![rule], ..Rules::default() };
        let everything = SourcedRule { rule: "Shell".parse().unwrap(), ..rules.deny[0].clone() };
        let rules = Rules { allow: vec![everything], ..rules };
        for mode in MODES.into_iter().chain([Mode::Bypass]) {
            let held = match judged_by(&rules, line, mode, SURROUNDINGS[0]) {
                Verdict::Deny { .. } => true,
                // A person may look at it; `--yes` is none.
                Verdict::Ask { reason, .. } => mode != Mode::Bypass && reason.ends_with(FOR_A_PERSON),
                Verdict::Allow { .. } => false,
            };
            if !held {
                through.push(format!("{deny} let `{line}` through in {mode:?}"));
            }
        }
    }
    assert!(through.is_empty(), "{}: {through:#?}", through.len());
}

#[test]
fn what_a_rule_denies_leaves_all_else_to_itself() {
    let deny = ["Read(.env)", "Shell(git push:*)", "Shell(npm publish:*)", "Edit(vendor/**)"];
    let sourced = |rule: &str| SourcedRule {
        rule: rule.parse().unwrap(),
        origin: RuleOrigin::User,
        source: "your config.toml".to_owned(),
    };
    let rules = Rules { deny: deny.map(sourced).into(), allow: vec![sourced("Shell")], ..Rules::default() };
    for line in [
        "cat README.md",
        "git status",
        "git -C sub status",
        "git commit -m 'do not git push yet'",
        "git log --grep='git push'",
        "git fetch origin",
        "git stash push",
        "git commit -am 'git push comes later'",
        "git commit -m\"git push\" --no-verify",
        "git commit --message='say how to git push' -- README.md",
        "git -C sub commit -m 'git push'",
        "git tag -a v1 -m 'before git push'",
        "git stash push -m 'git push'",
        "git merge topic -m 'git push'",
        "git log -S 'git push'",
        "git grep -n 'git push' docs",
        "git rebase -x 'cargo test' main",
        "git bisect run cargo test",
        "git submodule foreach 'git status'",
        "git -c core.pager=cat log",
        "git -c user.name='A B' -c user.email=a@b.example commit -m 'x'",
        "GIT_EDITOR=true git rebase --continue",
        "GIT_SSH_COMMAND='ssh -i key' git fetch",
        "PAGER=cat git log",
        "MESSAGE=\"$(date)\" make",
        "git config alias.st status",
        "git commit -m 'read .env in tests'",
        "git commit -m 'update vendor/a'",
        "rg 'git push' ../other",
        "gh pr create --body 'then git push'",
        "npm install",
        "npm run build",
        "npm --silent test",
        "cargo test",
        "rg -n push src",
        "echo git push",
        "ls -a",
        "make",
        "cp a b",
        "echo x > out.txt",
        "python3 scripts/gen.py --out x.txt",
        "git commit -m \"$(date)\"",
        "git add *.rs",
        "git tag -a v1 -m \"$MESSAGE\"",
        "git checkout \"$BRANCH\"",
        "cat *.rs",
        "cargo test \"$PWD\"",
        "git checkout -b push src/alias.rs",
        "git add src/alias.rs push",
        "git stash save 'git push later'",
        "git revert -m 1 'git push'",
        "make --unpack \"$HOME\"",
        "git config user.email \"$EMAIL\"",
        "git config --global user.name \"$NAME\"",
        "mkdir -p \"$DIR\"",
        "kill $PID",
        "sleep \"$N\"",
        "export FOO=\"$BAR\"",
        "bash -euo pipefail -c 'ls'",
        "git rebase -x 'cargo test -p $CRATE' main",
        "ssh host uptime",
        "fd -e rs -x wc -l",
        "awk '$3 > 100 { print $1 }' in.txt",
        "perl -ne '$n++ if /x/' in.txt",
    ] {
        let verdict = judged_by(&rules, line, Mode::Bypass, SURROUNDINGS[0]);
        assert!(matches!(verdict, Verdict::Allow { .. }), "`{line}` came to {verdict:?}");
    }
}

#[test]
fn a_program_that_only_the_shell_knows_is_denied_where_it_could_be_the_one_of_a_rule() {
    let sourced = |rule: &str| SourcedRule {
        rule: rule.parse().unwrap(),
        origin: RuleOrigin::User,
        source: "your config.toml".to_owned(),
    };
    let deny = ["Shell(git push:*)", "Shell(npm publish)", "Shell(npm run deploy *)"];
    let rules = Rules { deny: deny.map(sourced).into(), allow: vec![sourced("Shell")], ..Rules::default() };
    for line in [
        "\"$CC\" x.c",
        "\"$CC\" -O2 -c x.c -o x.o",
        "\"$PYTHON\" -m pytest -q",
        "\"${CARGO}\" test --workspace",
        "cd x && \"$MAKE\" check",
        "\"$NODE\"",
    ] {
        let verdict = judged_by(&rules, line, Mode::Bypass, SURROUNDINGS[0]);
        assert!(matches!(verdict, Verdict::Allow { .. }), "`{line}` came to {verdict:?}");
    }
    // Without quotes it may be several words, which an earlier line has put there.
    for line in ["$CC x.c", "$CC -c x.c", "\"$X\" push", "\"$X\" run deploy x", "\"$X\" $Y"] {
        let verdict = judged_by(&rules, line, Mode::Bypass, SURROUNDINGS[0]);
        let Verdict::Deny { reason } = verdict else { panic!("`{line}` came to {verdict:?}") };
        assert!(reason.contains("the name of a command is known only when it runs"), "`{line}`: {reason}");
    }
}

#[test]
fn a_rule_about_commands_leaves_alone_what_is_told_what_to_run_and_what_only_counts() {
    let sourced = |rule: &str| SourcedRule {
        rule: rule.parse().unwrap(),
        origin: RuleOrigin::User,
        source: "your config.toml".to_owned(),
    };
    let deny = ["Shell(git push:*)", "Shell(npm publish:*)"].map(sourced).into();
    let rules = Rules { deny, allow: vec![sourced("Shell")], ..Rules::default() };
    for line in [
        "parallel gzip ::: a b",
        "parallel -j4 gzip ::: a b",
        "parallel -j4 --bar gzip {} ::: a b",
        "ls | parallel wc -l",
        "find . -name '*.o' | xargs rm",
        "find . -print0 | xargs -0 -n1 rm -f ; i=$((1+1))",
        "i=$(($i+1))",
        "i=$(( ($i + 1) * $n )) ; echo $i",
        "f() { n=$(( ($n + 1) * $m )); echo $n; }; f",
        "x=$(($(nproc) * 2)); f() { make -j$x; }; f",
    ] {
        let verdict = judged_by(&rules, line, Mode::Bypass, SURROUNDINGS[0]);
        assert!(matches!(verdict, Verdict::Allow { .. }), "`{line}` came to {verdict:?}");
    }
}

#[test]
fn what_cannot_change_what_the_agent_may_do_is_not_said_to() {
    let says_so = |line: &str| match judged(line, Mode::Agent, SURROUNDINGS[0]) {
        Verdict::Ask { reason, .. } => reason.contains(FOR_A_PERSON),
        _ => false,
    };
    for line in [
        "awk '{print strftime(\"%Y\", $1)}' in.txt",
        "ls */",
        "jq '{env: .x}' package.json",
        "cat {.env,in.txt}",
        "echo /srv/*",
        "./tool '{x}'",
    ] {
        assert!(!says_so(line), "{line}");
    }
    for line in [
        "cp x .azim*/config.toml",
        "cp x .[a-z]*",
        "cp x {a,.azimuth}/b",
        "cp x .{azimuth,git}/b",
        "cp x .a{zimuth,}",
        "find . -name '*zimuth' -delete",
        "awk '{ print > \".azimuth/config.toml\" }' in.txt",
    ] {
        assert!(says_so(line), "{line}");
    }
}

#[test]
fn what_a_loop_reads_is_told_where_a_question_is_asked() {
    let Verdict::Ask { reason, .. } = judged("for w in .env; do echo \"$(<$w)\"; done", Mode::Agent, SURROUNDINGS[0])
    else {
        panic!("it is not asked");
    };
    assert!(reason.contains("`< .env`"), "{reason}");
}

#[test]
fn a_rule_is_looked_for_in_many_words_in_no_time() {
    let rule = SourcedRule {
        rule: "Shell(git push:*)".parse().unwrap(),
        origin: RuleOrigin::User,
        source: "your config.toml".to_owned(),
    };
    let rules = Rules { deny: vec![rule], ..Rules::default() };
    let began = Spent::start();
    for line in [format!("foo {}x", "git ".repeat(4_000)), format!("foo {}x", "git ".repeat(50_000))] {
        let verdict = judged_by(&rules, &line, Mode::Bypass, SURROUNDINGS[0]);
        assert!(matches!(verdict, Verdict::Deny { .. }), "{}", line.len());
    }
    // Where the time grew with the square of the words, the first of them alone took longer.
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "it took {took:?}");
}

#[test]
fn a_comparison_of_folders_is_asked_where_a_link_in_one_leads_to_a_file_with_keys_or_away() {
    let at = |name: &str| Path::new(FOLDER).join(name);
    let links = [(at("a/settings"), at(".env")), (at("b/out"), PathBuf::from("/home/user/letter"))];
    let keys = KeyFiles { links: links.into(), ..KeyFiles::default() };
    let reason = |line| match judged_among(&keys, &Rules::default(), line, Mode::Agent, SURROUNDINGS[0]) {
        Verdict::Ask { reason, .. } => reason,
        verdict => format!("{verdict:?}"),
    };
    for (line, link) in [
        ("diff a c", "a/settings"),
        ("diff c b", "b/out"),
        ("diff --from-file=b c", "b/out"),
        ("diff -q . c", "a/settings"),
        ("diff a/ c/ | head", "a/settings"),
    ] {
        assert!(reason(line).contains(&format!("what {link} leads to")), "{line}: {}", reason(line));
    }
    for line in ["diff c d", "diff a.txt b.txt", "ls a b", "grep -rn KEY a", "rg KEY b"] {
        let verdict = judged_among(&keys, &Rules::default(), line, Mode::Agent, SURROUNDINGS[0]);
        assert!(matches!(verdict, Verdict::Allow { .. }), "{line}: {verdict:?}");
    }
    for line in
        ["diff -r c d", "cp -rL a c", "grep -R KEY c", "rg -L KEY", "find -L c -exec cat {} +", "diff --recursive c d"]
    {
        for mode in MODES {
            let verdict = judged_among(&keys, &Rules::default(), line, mode, SURROUNDINGS[0]);
            assert!(!matches!(verdict, Verdict::Allow { .. }), "{line} in mode {mode:?}");
        }
    }
}

#[test]
fn what_shows_files_that_it_does_not_name_is_asked_where_not_all_could_be_looked_at() {
    let cut_short = KeyFiles { is_cut_short: true, ..KeyFiles::default() };
    let is_asked = |line| {
        let verdict = judged_among(&cut_short, &Rules::default(), line, Mode::Agent, SURROUNDINGS[0]);
        matches!(verdict, Verdict::Ask { .. })
    };
    for line in ["git diff", "git show", "git log -p", "git diff HEAD~3", "git grep KEY", "grep -rn KEY .", "rg KEY"] {
        assert!(is_asked(line), "{line}");
    }
    for line in
        ["git status", "git log", "git diff --stat", "grep -rn --include='*.rs' KEY .", "git show HEAD:src/a.rs"]
    {
        assert!(!is_asked(line), "{line}");
    }
}

#[test]
fn files_with_keys_are_looked_for_only_where_a_command_may_show_them() {
    for line in ["git status", "git log --oneline", "git diff --stat", "git add .", "git blame src/a.rs", "cargo test"]
    {
        assert!(!looks_around(&parse(line)), "{line}");
    }
    for line in ["git diff", "git log -p", "git stash show -p", "git status -v", "cat config/*", "rg KEY", "diff a b"] {
        assert!(looks_around(&parse(line)), "{line}");
    }
}

#[test]
fn nine_of_ten_lines_that_developers_run_need_no_question() {
    let (lines, asked) = (lines("benign.jsonl"), table("asked.jsonl"));
    let of_all = |unasked: usize| f64::from(u32::try_from(unasked).unwrap()) / (lines.len() + asked.len()) as f64;
    let questions: Vec<_> = lines.iter().filter(|line| !runs_unasked(line)).collect();
    let share = of_all(lines.len() - questions.len());
    let message = format!(
        "{:.1} % of {} benign lines need no question; {} that need one are set aside with a reason",
        100.0 * share,
        lines.len() + asked.len(),
        asked.len()
    );
    assert!(share >= 0.9, "{message}: {questions:#?}");
    assert!(of_all(asked.len()) <= 0.05, "{message}: too many are set aside");
    // Seen with `--no-capture`, and where the test fails.
    eprintln!("{message}: {questions:#?}");
}

#[test]
fn what_is_run_every_day_needs_no_question() {
    let entries = table("everyday.jsonl");
    let line = |entry: &Value| entry["line"].as_str().unwrap().to_owned();
    let (asked, unasked): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| !runs_unasked(&line(entry)));
    // Seen with `--no-capture`, and where the test fails.
    eprintln!("{} of {} need no question", unasked.len(), entries.len());
    let unknown: Vec<_> = asked.iter().filter(|entry| entry["asked"].is_null()).map(|entry| line(entry)).collect();
    assert!(unknown.is_empty(), "{} are asked: {unknown:#?}", unknown.len());
    let known: Vec<_> = unasked.iter().filter(|entry| !entry["asked"].is_null()).map(|entry| line(entry)).collect();
    assert!(known.is_empty(), "these run unasked and have a reason to be asked: {known:#?}");
    assert!(asked.len() * 10 <= entries.len(), "{} are asked", asked.len());
}

#[test]
fn what_is_known_only_to_read_runs_unasked_wherever_it_is() {
    let lines = lines("reading.jsonl");
    let asked: Vec<_> =
        lines.iter().filter(|line| SURROUNDINGS.iter().any(|around| !is_allowed(line, Mode::Agent, *around))).collect();
    assert!(asked.is_empty(), "{} of {} are asked: {asked:#?}", asked.len(), lines.len());
}

#[test]
fn a_benign_line_that_was_set_aside_is_asked_and_says_why_it_should_be() {
    for entry in table("asked.jsonl") {
        let line = entry["line"].as_str().unwrap();
        assert!(!runs_unasked(line), "`{line}` runs unasked; it belongs to the others");
        assert!(entry["why"].as_str().is_some_and(|why| !why.is_empty()), "`{line}` has no reason");
    }
}

#[test]
fn a_project_that_is_not_trusted_or_has_no_sandbox_runs_nothing_of_its_own() {
    for (trusted, sandboxed) in [(false, true), (true, false)] {
        let around = Surroundings { trusted, sandboxed };
        for line in ["cargo test", "npm test", "make", "pytest", "node test/run.js", "go vet ./..."] {
            assert!(runs_unasked(line) && !is_allowed(line, Mode::Agent, around), "{line}");
        }
    }
}

/// A word in another writing that the shell takes for the same one.
fn quoted(word: &str, way: usize) -> Option<String> {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:+,".contains(c));
    let (first, rest) = (word.chars().next()?, word.get(1..).filter(|_| is_plain)?);
    // The name of a variable that is set, and a word of the shell's language, are none any more in quotes.
    let is_other = word.contains('=')
        || [
            "if", "then", "else", "elif", "fi", "do", "done", "for", "in", "while", "until", "case", "esac",
            "function", "select", "time", "coproc",
        ]
        .contains(&word);
    (!is_other).then(|| match way {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("\\{word}"),
        3 => format!("{first}''{rest}"),
        4 => format!("$'{word}'"),
        _ => word.chars().map(|c| format!("\"{c}\"")).collect(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// How a word is quoted does not let through what is asked or refused.
    #[test]
    fn a_word_in_other_quotes_lets_nothing_through(line in select(lines("nasty.jsonl")), at in any::<Index>(), way in 0..6_usize) {
        let words: Vec<_> = line.split(' ').collect();
        let at = at.index(words.len());
        if let Some(other) = quoted(words[at], way) {
            let changed: Vec<_> = words.iter().enumerate().map(|(index, word)| if index == at { other.as_str() } else { word }).collect();
            // In the middle of a text in quotes it is another text.
            let same = parse(&line) == parse(&changed.join(" "));
            prop_assert!(!same || !passes(&changed.join(" ")), "{}", changed.join(" "));
        }
    }

    /// A line that runs unasked makes nothing beside it run unasked.
    #[test]
    fn no_nasty_line_hides_behind_an_allowed_one(
        good in select(lines("benign.jsonl")),
        bad in select(lines("nasty.jsonl")),
        joint in select(vec!["; ", " && ", " || ", " | ", "\n", " & "]),
        first in any::<bool>(),
    ) {
        // Text after a comment on its line is no command.
        prop_assume!(!good.contains('#') && !bad.contains('#') && !bad.contains("<<") && !good.ends_with('\\'));
        let joined = if first { format!("{bad}{joint}{good}") } else { format!("{good}{joint}{bad}") };
        prop_assert!(!passes(&joined), "{joined}");
    }
}
