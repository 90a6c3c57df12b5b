use std::path::{Path, PathBuf};

use protocol::permission::RuleOrigin;
use protocol::session::Mode;

use super::{
    Action, Case, KeyFiles, Links, Redirect, Rule, Rules, ShellLine, SimpleCommand, SourcedRule, Surroundings, Verdict,
    Word, accepting_rule, hides_files, judge, may_read,
};

mod modes;

/// A line as `shell` would give it, for lines plain enough to be split at blanks.
fn parse(line: &str) -> ShellLine {
    if line.contains("$(") {
        return ShellLine::Unparsable { reason: "a substitution".to_owned() };
    }
    let mut commands = Vec::new();
    let mut command = SimpleCommand { words: vec![], assignments: vec![], redirects: vec![] };
    let mut redirecting = None;
    for text in line.split_whitespace() {
        if ["&&", "||", "|", ";"].contains(&text) {
            commands.push(std::mem::replace(
                &mut command,
                SimpleCommand { words: vec![], assignments: vec![], redirects: vec![] },
            ));
            continue;
        }
        if [">", ">>", "<"].contains(&text) {
            redirecting = Some(text != "<");
            continue;
        }
        let unquoted = text.trim_matches('\'').to_owned();
        let is_unknown = !text.starts_with('\'') && text.contains(['$', '*', '?']);
        let word = if is_unknown { Word::Unknown(text.to_owned()) } else { Word::Known(unquoted) };
        if let Some(writes) = redirecting.take() {
            command.redirects.push(Redirect { writes, target: word });
        } else if command.words.is_empty() && text.contains('=') {
            command.assignments.push(text.to_owned());
        } else {
            command.words.push(word);
        }
    }
    if !command.words.is_empty() || !command.assignments.is_empty() || !command.redirects.is_empty() {
        commands.push(command);
    }
    ShellLine::Commands(commands)
}

fn rule(text: &str) -> SourcedRule {
    SourcedRule { rule: text.parse().unwrap(), origin: RuleOrigin::User, source: "your config.toml".to_owned() }
}

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
    let all = |texts: &[&str]| texts.iter().map(|text| rule(text)).collect();
    Rules { allow: all(allow), ask: all(ask), deny: all(deny), ..Rules::default() }
}

fn shell_in(rules: &Rules, line: &str, parsed: ShellLine, cwd: &str) -> Verdict {
    let action = Action::Execute {
        line: line.to_owned(),
        parsed,
        cwd: cwd.into(),
        links: Links::new(),
        keys: KeyFiles::default(),
        outside: None,
    };
    let folders = [PathBuf::from("/ws")];
    let case = Case {
        tool: "shell_run",
        action: &action,
        reads: &[],
        mode: Mode::Agent,
        folders: &folders,
        surroundings: Surroundings::default(),
    };
    judge(rules, &case)
}

fn shell(rules: &Rules, line: &str) -> Verdict {
    shell_in(rules, line, parse(line), "/ws")
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Deny { .. } => "deny",
        Verdict::Ask { .. } => "ask",
    }
}

fn expect(rules: &Rules, expected: &str, lines: &[&str]) {
    for line in lines {
        let verdict = shell(rules, line);
        assert_eq!(word(&verdict), expected, "`{line}` came to {verdict:?}");
    }
}

fn always(rules: &Rules, line: &str) -> Vec<String> {
    match shell(rules, line) {
        Verdict::Ask { always, .. } => always.iter().map(ToString::to_string).collect(),
        other => panic!("`{line}` came to {other:?}"),
    }
}

#[test]
fn commands_that_only_read_run_without_asking() {
    expect(
        &Rules::default(),
        "allow",
        &[
            "ls",
            "ls -la src",
            "cat README.md",
            "cat src/main.rs | head -n 20",
            "pwd ; echo hello",
            "cd sub && ls",
            "git status",
            "git --no-pager diff --stat",
            "git log --oneline -n 5",
            "git show HEAD:src/main.rs",
            "git branch -a",
            "git blame src/main.rs",
            "rg -n TODO src",
            "rg '/api/v1' src",
            "grep -rn '/api/v1' src",
            "find . -name '*.rs' -type f",
            "sed -n 10,20p src/main.rs",
            "wc -l src/*.rs",
            "head -c 100 build/log",
            "ls missing > /dev/null",
            "node --version",
            "git --version",
            "NO_COLOR=1 git status",
            "test -f Cargo.toml && echo yes",
            "sort < names.txt | uniq -c",
        ],
    );
}

#[test]
fn a_counter_may_be_set_and_nothing_else() {
    let set = |line: &str, text: &str| {
        let command = SimpleCommand { words: vec![], assignments: vec![text.to_owned()], redirects: vec![] };
        word(&shell_in(&Rules::default(), line, ShellLine::Commands(vec![command]), "/ws"))
    };
    for text in ["i=1", "i=(each of 1 2 3)", "f=(each of src/*.rs)", "NO_COLOR=1"] {
        assert_eq!(set("", text), "allow", "{text}");
    }
    let lines =
        ["i=a[0]", "i=PATH=1", "i=--PATH", "i=$(x)", "i='a b'", "I=1", "ii=1", "i+=1", "PATH=1", "PATH=(each of a)"];
    for text in lines {
        assert_eq!(set("", text), "ask", "{text}");
    }
    expect(&Rules::default(), "ask", &["i=1 ls"]);
}

#[test]
fn what_the_parser_leaves_unknown_is_told_apart() {
    let command = |name: &str, argument: &str| {
        let words = vec![Word::Known(name.to_owned()), Word::Unknown(argument.to_owned())];
        ShellLine::Commands(vec![SimpleCommand { words, assignments: vec![], redirects: vec![] }])
    };
    let judged = |name, argument| word(&shell_in(&Rules::default(), "", command(name, argument), "/ws"));
    assert_eq!(judged("[", "-f Cargo.toml"), "allow", "a test in brackets is one word");
    assert_eq!(judged("[[", "$X == y"), "allow");
    assert_eq!(judged("cat", "(what xargs reads)"), "ask");
    assert_eq!(judged("cat", "src/*.rs"), "allow");
}

#[test]
fn reading_commands_that_can_do_more_are_asked() {
    expect(
        &Rules::default(),
        "ask",
        &[
            "find . -name '*.o' -delete",
            "find . -exec rm {} ;",
            "find . -fprintf out x",
            "sort -o names.txt names.txt",
            "sort --outp=x names.txt",
            "uniq in out",
            "uniq - out",
            "uniq a*",
            "rg -L x",
            "grep -Rn x .",
            "diff -r a b",
            "cargo --version",
            "yarn --version",
            // A file among temporary files is anybody's.
            "cat /tmp/log",
            "ls -l /tmp",
            "grep -rn key /var/tmp",
            "find /tmp -name '*.pem'",
            "wc -l < /tmp/log",
            "tail -f log",
            "fd -x rm",
            "rg --pre ./evil x",
            "rg --hostname-bin=./evil x",
            "sed -n 'w' file",
            "sed -n 1e file",
            "sed -i s/a/b/ file",
            "sed s/a/b/e file",
            "git diff --output=x",
            "git diff --ext-diff",
            "git grep -Ovi x",
            "git branch new",
            "git branch -D old",
            "git -c core.pager=evil log",
            "git tag v1",
            "git stash",
            "printf -v PATH x",
            "printf 'a%n' PATH",
            "printf %-5ln PATH",
            "test -v 'a[$x]'",
            "[ -v x ]",
            "awk -f program file",
            "jq -n env",
            "env",
            "printenv",
            "xargs ls",
            "date -s 2020-01-01",
            "tree -o out",
            "./ls",
            "/tmp/ls",
            "evil --version",
        ],
    );
}

#[test]
fn reading_outside_the_workspace_is_asked() {
    expect(
        &Rules::default(),
        "ask",
        &[
            "cat /etc/passwd",
            "cat ~/.ssh/id_rsa",
            "cat ../other/secret",
            "cat src/../../other",
            "ls /",
            "grep -r root /etc",
            "grep -e root /etc/passwd",
            "grep root -f/etc/passwd",
            "rg --files /etc",
            "cat --file=/etc/passwd",
            "cd /etc && cat passwd",
            "cd .. && cat other/secret",
            "cd - && ls",
            "cd",
            "sort < /etc/passwd",
            "git diff --no-index /etc/passwd x",
            "cat $FILE",
            "cat $HOME/x",
            "echo $ANTHROPIC_API_KEY",
            "sort *",
        ],
    );
    let outside = shell_in(&Rules::default(), "cat passwd", parse("cat passwd"), "/etc");
    assert_eq!(word(&outside), "ask", "the shell stands outside the workspace");
}

#[test]
fn what_a_link_leads_to_counts_as_named() {
    let judged = |rules: &Rules, line: &str, led_to: &str| {
        let led_to = vec![PathBuf::from(led_to)];
        let links = Links::from(["/ws/docs/x", "/ws/*", "/ws/*.md"].map(|path| (PathBuf::from(path), led_to.clone())));
        let action = Action::Execute {
            line: line.to_owned(),
            parsed: parse(line),
            cwd: "/ws".into(),
            links,
            keys: KeyFiles::default(),
            outside: None,
        };
        let folders = [PathBuf::from("/ws")];
        let case = Case {
            tool: "shell_run",
            action: &action,
            reads: &[],
            mode: Mode::Agent,
            folders: &folders,
            surroundings: Surroundings::default(),
        };
        word(&judge(rules, &case))
    };
    let none = Rules::default();
    for line in [
        "cat docs/x",
        "cd docs && cat x",
        "sort < docs/x",
        "ls docs/x",
        "cd docs && diff --from-file=x a",
        "cat *",
        "wc -l *.md",
    ] {
        assert_eq!(judged(&none, line, "/home/me/.ssh/id_rsa"), "ask", "{line}");
        assert_eq!(judged(&none, line, "/ws/other"), "allow", "{line}");
    }
    let echo = rules(&["Shell(echo:*)"], &[], &[]);
    assert_eq!(judged(&echo, "echo y > docs/x", "/home/me/.bashrc"), "ask");
    assert_eq!(judged(&echo, "echo y > docs/x", "/ws/other"), "allow");
    assert_eq!(judged(&rules(&[], &[], &["Read(.env)"]), "cat docs/x", "/ws/.env"), "deny");
}

#[test]
fn git_looks_at_nothing_in_a_git_folder_unasked_where_the_workspace_is_not_trusted() {
    let judged = |line: &str, cwd: &str, trusted: bool| {
        let links = Links::from([(PathBuf::from("/ws/lib"), vec![PathBuf::from("/ws/.git/evil")])]);
        let action = Action::Execute {
            line: line.to_owned(),
            parsed: parse(line),
            cwd: cwd.into(),
            links,
            keys: KeyFiles::default(),
            outside: None,
        };
        let (folders, mode) = ([PathBuf::from("/ws")], Mode::Agent);
        let surroundings = Surroundings { trusted, sandboxed: true };
        let case = Case { tool: "shell_run", action: &action, reads: &[], mode, folders: &folders, surroundings };
        word(&judge(&Rules::default(), &case))
    };
    for (line, cwd) in [
        ("cd lib && git status", "/ws"),
        ("cd .git/evil && git status", "/ws"),
        ("cd src/.GIT", "/ws"),
        ("git status", "/ws/.git/evil"),
    ] {
        assert_eq!((judged(line, cwd, false), judged(line, cwd, true)), ("ask", "allow"), "{line}");
    }
    for line in ["cd src && git status", "cat .git/HEAD", "git log -- .gitignore"] {
        assert_eq!(judged(line, "/ws", false), "allow", "{line}");
    }
}

#[test]
fn output_to_a_file_is_never_only_reading() {
    expect(
        &Rules::default(),
        "ask",
        &["echo x > file", "cat a >> b", "ls > /tmp/x", "echo x > $F", "> file", "echo x > /etc/hosts"],
    );
}

#[test]
fn an_allow_rule_covers_output_into_the_workspace_but_no_further() {
    let rules = rules(&["Shell(cargo test:*)", "Shell(echo *)"], &[], &[]);
    expect(&rules, "allow", &["cargo test > out.txt", "echo x > sub/../file"]);
    expect(
        &rules,
        "ask",
        &[
            "cargo test > ../out.txt",
            "cargo test > /tmp/out",
            "cargo test > /etc/hosts",
            "cargo test > ~/.bashrc",
            "cargo test > $OUT",
            "cd .. && echo x > file",
        ],
    );
    assert!(always(&rules, "cargo test > /etc/hosts").is_empty(), "no rule would cover it");
    let moving = self::rules(&["Shell(cd:*)", "Shell(pushd:*)", "Shell(popd:*)", "Shell(echo:*)"], &[], &[]);
    expect(&moving, "allow", &["cd sub && echo x > file", "cd $X && echo x > /ws/file"]);
    for line in ["cd $X", "cd -", "cd", "cd ..", "cd ~", "pushd sub", "popd", "cd /etc", "cd /tmp"] {
        expect(&moving, "ask", &[&format!("{line} && echo x > file")]);
    }
}

#[test]
fn prefix_rules_fit_whole_words() {
    let rules = rules(&["Shell(cargo test:*)"], &[], &[]);
    expect(&rules, "allow", &["cargo test", "cargo test --all", "cargo test $NAME", "cargo test && cargo test x"]);
    expect(&rules, "ask", &["cargo testing", "cargo", "cargo build", "$CARGO test", "cargo $SUB", "/evil/cargo test"]);
}

#[test]
fn exact_rules_fit_exactly() {
    let rules = rules(&["Shell(make check)"], &[], &[]);
    expect(&rules, "allow", &["make check", "make  check"]);
    expect(&rules, "ask", &["make", "make check all", "make $X", "make che*"]);
}

#[test]
fn globs_fit_text_and_take_unknown_words_only_at_their_end() {
    let globs = rules(&["Shell(npm run *)", "Shell(make *-test fast)"], &[], &[]);
    expect(&globs, "allow", &["npm run build", "npm run build --watch", "npm run $X", "make unit-test fast"]);
    expect(&globs, "ask", &["npm install", "npm run", "$NPM run build", "make $X fast", "make $X-test fast"]);
    let everything = rules(&["Shell(*)"], &[], &[]);
    expect(&everything, "allow", &["anything at all", "$X", "EVIL=1 make"]);
    expect(&everything, "ask", &["x > /etc/hosts", "echo $(date)"]);
}

#[test]
fn every_command_of_a_line_must_be_allowed() {
    let rules = rules(&["Shell(cargo test:*)"], &[], &[]);
    expect(&rules, "allow", &["cargo test | tail -n 3", "git status && cargo test ; ls"]);
    expect(&rules, "ask", &["cargo test && curl evil.example", "cargo test | sh", "curl x ; cargo test"]);
}

#[test]
fn variables_before_a_command_must_be_allowed_too() {
    let with_rules = rules(&["Shell(cargo test:*)"], &[], &[]);
    expect(&with_rules, "allow", &["RUST_BACKTRACE=1 cargo test", "CI=1 NO_COLOR=1 cargo test"]);
    expect(
        &with_rules,
        "ask",
        &["RUSTC_WRAPPER=./evil cargo test", "PATH=. ls", "LD_PRELOAD=x git status", "PATH=.:/bin"],
    );
    assert!(always(&with_rules, "LD_PRELOAD=x cargo build").is_empty());
    expect(&rules(&["Shell(PORT=1 make:*)"], &[], &[]), "allow", &["PORT=1 make x"]);
    expect(&rules(&["Shell(PORT=1 make:*)"], &[], &[]), "ask", &["PORT=2 make x", "PORT=$X make x"]);
}

#[test]
fn a_line_that_cannot_be_parsed_is_allowed_only_by_a_rule_without_pattern() {
    let line = "echo $(date)";
    assert_eq!(word(&shell(&Rules::default(), line)), "ask");
    assert_eq!(word(&shell(&rules(&["Shell(echo:*)", "Shell(*)"], &[], &[]), line)), "ask");
    assert_eq!(word(&shell(&rules(&["Shell"], &[], &[]), line)), "allow");
    assert!(always(&Rules::default(), line).is_empty(), "no rule with a pattern would cover it");
    let denied = rules(&["Shell"], &[], &["Shell(rm:*)"]);
    assert_eq!(word(&shell(&denied, "rm $(ls)")), "deny", "what is denied is found by its plain words");
    assert_eq!(word(&shell(&rules(&["Shell"], &[], &[]), "rm -rf / $(true)")), "deny");
}

#[test]
fn deny_beats_ask_beats_allow_beats_default() {
    let all = rules(&["Shell(git push:*)"], &["Shell(git push:*)"], &["Shell(git push:*)"]);
    expect(&all, "deny", &["git push"]);
    let ask = rules(&["Shell(git push:*)"], &["Shell(git push:*)"], &[]);
    expect(&ask, "ask", &["git push"]);
    assert!(always(&ask, "git push").is_empty(), "an allow rule would change nothing");
    expect(&rules(&[], &["Shell(ls:*)"], &[]), "ask", &["ls"]);
    expect(&rules(&[], &[], &["Shell(ls:*)"]), "deny", &["ls", "git status && ls"]);
    expect(&rules(&["Shell", "*"], &[], &[]), "deny", &["rm -rf /"]);
    match shell(&all, "git push") {
        Verdict::Deny { reason } => assert_eq!(reason, "rule `Shell(git push:*)` from your config.toml"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn deny_rules_leave_alone_what_is_told_what_to_run_and_what_only_counts() {
    let rules = rules(&["Shell"], &[], &["Shell(git push:*)", "Shell(npm publish:*)"]);
    expect(
        &rules,
        "allow",
        &[
            "parallel gzip ::: a b",
            "parallel -j4 gzip ::: a b",
            "parallel -j4 --bar gzip {} ::: a b",
            "ls | parallel wc -l",
            "find . -name '*.o' | xargs rm",
            "find . -print0 | xargs -0 -n1 rm -f ; i=$((1+1))",
            "i=$(($i+1))",
            "i=$(($(nproc) * 2)) ; echo $((`nproc`+$((2*$i))))",
            "i=$(( ($i + 1) * $n )) ; echo $i",
        ],
    );
    for line in [
        "parallel ::: x",
        "parallel -j 4 < lines",
        "parallel -j 4 ::: x",
        "parallel git ::: push",
        "parallel sudo ::: x",
        "ls | xargs git",
        "i=$(($(git push)+1))",
        "i=$((`git push`+1))",
        "i=$(($($X push)+1))",
        "i=$(($(($($X push)+1))+1))",
        "i=$((git push) | cat)",
        "i=$(($X push) | cat)",
        "i=$((1+1)) ; $X push",
        "false && i=$(( \"((\" )) ; $X push ; echo \"))\"",
        "# $((\n$X push\n# ))",
        "echo '$((' ; $X push ; echo '))'",
    ] {
        assert_ne!(word(&shell(&rules, line)), "allow", "{line}");
    }
}

#[test]
fn deny_rules_look_through_wrappers_and_paths() {
    let rules = rules(&["Shell"], &[], &["Shell(rm:*)", "Shell(git push:*)"]);
    expect(
        &rules,
        "deny",
        &[
            "rm x",
            "/bin/rm x",
            "sudo rm x",
            "sudo -u me rm x",
            "env A=1 rm x",
            "timeout 5 rm x",
            "xargs -n 1 rm",
            "nohup sudo /bin/rm x",
            "bash -c 'rm'",
            "/bin/sh -c 'rm'",
            "true && git push",
        ],
    );
    let quoted = ShellLine::Commands(vec![SimpleCommand {
        words: ["bash", "-c", "cd x; git push --force"].map(|word| Word::Known(word.to_owned())).to_vec(),
        assignments: vec![],
        redirects: vec![],
    }]);
    assert_eq!(word(&shell_in(&rules, "", quoted, "/ws")), "deny");
    expect(&rules, "allow", &["echo rm", "rmdir x", "git pull"]);
}

#[test]
fn what_nobody_means_is_denied_whatever_the_rules_say() {
    let rules = rules(&["Shell"], &[], &[]);
    expect(
        &rules,
        "deny",
        &[
            "rm -rf /",
            "rm -fr /*",
            "rm -r -f ~",
            "rm --recursive --force $HOME",
            "rm -rf ~/*",
            "rm -rf *",
            "rm -rf .",
            "rm -rf ./",
            "rm -rf ..",
            "rm -rf /ws",
            "rm -rf /ws/*",
            "rm -rf ../ws",
            "rm -rf /usr/",
            "rm -Rf /etc",
            "rm --no-preserve-root -rf /x",
            "sudo rm -rf /",
            "ls && rm -rf /",
            "mkfs.ext4 /dev/sda1",
            "mkfs /dev/sda1",
            "wipefs -a /dev/sda",
            "dd if=/dev/zero of=/dev/sda",
            "echo x > /dev/sda",
            "cp image /dev/nvme0n1",
            "tee /dev/sda",
            "chmod -R 777 /",
            "chown -R me /usr",
            "find / -delete",
            "mv / /tmp",
            "mv file /dev/null",
            "kill -9 -1",
            ":(){ :|:& };:",
            "bomb() { bomb | bomb & }; bomb",
        ],
    );
    expect(
        &rules,
        "allow",
        &[
            "rm -rf target",
            "rm -rf ./target/*",
            "rm -rf /tmp/x",
            "rm file",
            "rm -f *",
            "dd if=a of=b",
            "dd if=/dev/zero of=/dev/null",
            "mv file ~",
            "mv a b",
            "chmod -R u+w src",
            "find . -name x -delete",
            "kill -1 1234",
            "cp /dev/null x",
            "rm -rf ''",
            "f() { g | h & }; f",
        ],
    );
}

#[test]
fn always_offers_the_narrowest_rule_that_is_of_use() {
    let none = Rules::default();
    let cases: &[(&str, &[&str])] = &[
        ("git checkout main", &["Shell(git checkout:*)"]),
        ("cargo test --all", &["Shell(cargo test:*)"]),
        ("cargo test $X", &["Shell(cargo test:*)"]),
        ("npm run build", &["Shell(npm run build:*)"]),
        ("npm install", &["Shell(npm install:*)"]),
        ("make check", &["Shell(make check:*)"]),
        ("pytest -k x", &["Shell(pytest:*)"]),
        ("./run.sh fast", &["Shell(./run.sh fast)"]),
        ("python3 x.py", &["Shell(python3 x.py)"]),
        ("git -C sub gc", &["Shell(git -C sub gc)"]),
        ("docker run x", &["Shell(docker run x)"]),
        ("sh -c x", &["Shell(sh -c x)"]),
        ("RUST_LOG=debug cargo build", &["Shell(cargo build:*)"]),
        ("git status && cargo build && cargo test", &["Shell(cargo build:*)", "Shell(cargo test:*)"]),
        ("cargo build | cargo build", &["Shell(cargo build:*)"]),
        ("rm $X", &[]),
        ("$X", &[]),
        ("cargo build && rm $X", &[]),
    ];
    for (line, expected) in cases {
        assert_eq!(always(&none, line), *expected, "{line}");
        let granted = Rules { allow: expected.iter().map(|text| rule(text)).collect(), ..Rules::default() };
        let after = if expected.is_empty() { "ask" } else { "allow" };
        assert_eq!(word(&shell(&granted, line)), after, "after `{line}` was always allowed");
    }
    let words = super::scope_in_words(&["Shell(cargo test:*)".parse().unwrap(), "Shell(./run.sh)".parse().unwrap()]);
    assert_eq!(words, "Always allow `cargo test …` and exactly `./run.sh` in this project");
}

#[test]
fn mode_ask_neither_edits_nor_runs() {
    let folders = [PathBuf::from("/ws")];
    let actions = [
        Action::Edit { paths: vec!["/ws/a".into()] },
        Action::Execute {
            line: "ls".to_owned(),
            parsed: parse("ls"),
            cwd: "/ws".into(),
            links: Links::new(),
            keys: KeyFiles::default(),
            outside: None,
        },
    ];
    for action in &actions {
        let case = Case {
            tool: "t",
            action,
            reads: &[],
            mode: Mode::Ask,
            folders: &folders,
            surroundings: Surroundings::default(),
        };
        assert_eq!(word(&judge(&rules(&["*"], &[], &[]), &case)), "deny");
    }
    let case = Case {
        tool: "t",
        action: &Action::Read,
        reads: &[],
        mode: Mode::Ask,
        folders: &folders,
        surroundings: Surroundings::default(),
    };
    assert_eq!(word(&judge(&Rules::default(), &case)), "allow");
}

fn edit(rules: &Rules, paths: &[&str]) -> &'static str {
    let action = Action::Edit { paths: paths.iter().map(PathBuf::from).collect() };
    let folders = [PathBuf::from("/ws"), PathBuf::from("/other")];
    word(&judge(
        rules,
        &Case {
            tool: "edit_create_file",
            action: &action,
            reads: &[],
            mode: Mode::Agent,
            folders: &folders,
            surroundings: Surroundings::default(),
        },
    ))
}

#[test]
fn file_rules_fit_paths_of_the_workspace() {
    assert_eq!(edit(&Rules::default(), &["/ws/src/a.rs"]), "allow", "review is the gate");
    let cases: &[(&str, &str, bool)] = &[
        ("Edit(src/**)", "/ws/src/a/b.rs", true),
        ("Edit(src/**)", "/other/src/b.rs", true),
        ("Edit(src/**)", "/ws/tests/src/b.rs", false),
        ("Edit(src)", "/ws/src/a/b.rs", true),
        ("Write(./src/*.rs)", "/ws/src/b.rs", true),
        ("Edit(src/*.rs)", "/ws/src/a/b.rs", false),
        ("Edit(*.lock)", "/ws/a/b/Cargo.lock", true),
        ("Edit(**/gen/**)", "/ws/a/gen/x", true),
        ("Edit(/ws/a)", "/ws/a/x", true),
        ("Edit(/ws/a)", "/other/a/x", false),
        ("edit_create_file", "/ws/x", true),
        ("edit_*", "/ws/x", true),
        ("Edit", "/ws/x", true),
        ("*", "/ws/x", true),
        ("Shell", "/ws/x", false),
        ("Read(**)", "/ws/x", false),
    ];
    for (text, path, fits) in cases {
        let expected = if *fits { "deny" } else { "allow" };
        assert_eq!(edit(&rules(&[], &[], &[text]), &[path]), expected, "{text} and {path}");
    }
    assert_eq!(edit(&rules(&[], &[], &["Edit(b)"]), &["/ws/a", "/ws/b"]), "deny", "one bad file is enough");
    assert_eq!(edit(&rules(&[], &["Edit(b)"], &[]), &["/ws/a", "/ws/b"]), "ask");
}

#[test]
fn edits_are_accepted_without_review_only_where_a_rule_allows_and_none_stands_against_it() {
    let rules = rules(&["Edit(src/**)", "Edit(docs)"], &["Edit(src/main.rs)"], &["Edit(*.lock)"]);
    let folders = [PathBuf::from("/ws")];
    let accepted = |path: &str| accepting_rule(&rules, &folders, Path::new(path)).map(|rule| rule.rule.to_string());
    assert_eq!(accepted("/ws/src/lib.rs").as_deref(), Some("Edit(src/**)"));
    assert_eq!(accepted("/ws/docs/a.md").as_deref(), Some("Edit(docs)"));
    for path in ["/ws/src/main.rs", "/ws/src/Cargo.lock", "/ws/tests/a.rs", "/elsewhere/lib.rs"] {
        assert_eq!(accepted(path), None, "{path}");
    }
    for path in ["/ws/src/.azimuth/config.toml", "/ws/docs/.Azimuth/x"] {
        assert_eq!(accepted(path), None, "{path}: it says what the agent may do");
    }
}

#[test]
fn an_edit_that_makes_programs_run_or_holds_keys_is_accepted_only_by_a_rule_that_names_such_files() {
    let folders = [PathBuf::from("/ws")];
    let is_accepted =
        |allowed: &str, path: &str| accepting_rule(&rules(&[allowed], &[], &[]), &folders, Path::new(path)).is_some();
    for wide in ["Edit", "*", "Edit(**)", "Edit(*.json)", "Edit(.v*)", "edit_create_file"] {
        for path in ["/ws/.vscode/tasks.json", "/ws/.husky/pre-commit", "/ws/.env", "/ws/bin/tool"] {
            assert!(!is_accepted(wide, path), "{wide} {path}");
        }
    }
    for (named, path) in [
        ("Edit(.vscode/**)", "/ws/.vscode/tasks.json"),
        ("Edit(.github/workflows/*.yml)", "/ws/.github/workflows/ci.yml"),
        ("Edit(.env)", "/ws/.env"),
        ("Edit(bin/**)", "/ws/bin/tool"),
        ("Edit(**)", "/ws/src/bin/tool.rs"),
    ] {
        assert!(is_accepted(named, path), "{named} {path}");
    }
}

#[test]
fn read_rules_count_for_reading_tools_and_for_commands_that_name_the_file() {
    let denied = rules(&["Shell"], &[], &["Read(*.pem)", "Edit(vendor/**)"]);
    let folders = [PathBuf::from("/ws")];
    let reads = [PathBuf::from("/ws/keys/a.pem")];
    let case = Case {
        tool: "read_file",
        action: &Action::Read,
        reads: &reads,
        mode: Mode::Agent,
        folders: &folders,
        surroundings: Surroundings::default(),
    };
    assert_eq!(word(&judge(&denied, &case)), "deny");
    expect(&denied, "deny", &["cat keys/a.pem", "sort < a.pem", "cd keys && cat a.pem", "echo x > vendor/lib.c"]);
    expect(&denied, "allow", &["cat a.txt", "cat vendor/lib.c", "echo x > src/lib.c"]);
}

#[test]
fn rules_read_as_they_are_written() {
    for text in ["Shell", "Shell(cargo test:*)", "Edit(src/**)", "mcp_*", "*", "Shell(echo (x))"] {
        assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
    }
    assert_eq!("  Bash( ls ) ".parse::<Rule>().unwrap().to_string(), "Bash(ls)");
    for text in ["", "Shell(", "Shell(ls", "Shell()", "(ls)", "She ll", "Shell(ls) x"] {
        assert!(text.parse::<Rule>().is_err(), "{text}");
    }
    let error = "Shell(ls".parse::<Rule>().unwrap_err().to_string();
    assert!(error.contains("closing parenthesis") && error.contains("Shell(cargo test:*)"), "{error}");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn words() -> impl Strategy<Value = Vec<Word>> {
        let text = prop_oneof!["[a-z*/.~$-]{0,6}", "(git|cargo|ls|rm|sudo|bash|-c|-rf|/)"];
        let word =
            (text, any::<bool>()).prop_map(|(text, known)| if known { Word::Known(text) } else { Word::Unknown(text) });
        prop::collection::vec(word, 0..6)
    }

    fn pattern() -> impl Strategy<Value = String> {
        "[a-z*:. /-]{1,10}"
    }

    proptest! {
        /// Whatever the words and the rules are, judging ends, and a deny rule is never outvoted.
        #[test]
        fn a_deny_rule_that_fits_the_words_always_wins(words in words(), allow in pattern(), deny in pattern()) {
            let command = SimpleCommand { words: words.clone(), assignments: vec![], redirects: vec![] };
            let make = |pattern: &str| SourcedRule {
                rule: Rule { tool: "Shell".to_owned(), pattern: Some(pattern.to_owned()) },
                origin: RuleOrigin::User,
                source: "a test".to_owned(),
            };
            let denied = Rules { allow: vec![make(&allow)], ask: vec![], deny: vec![make(&deny)], ..Rules::default() };
            let verdict = shell_in(&denied, "", ShellLine::Commands(vec![command]), "/ws");
            if super::super::Pattern(&deny).fits_words(&words) {
                prop_assert_eq!(word(&verdict), "deny");
            }
        }

        /// A name that is known only when it runs is never taken for a command that is allowed.
        #[test]
        fn an_unknown_name_is_allowed_by_nothing_but_a_star(mut words in words(), pattern in pattern()) {
            words.insert(0, Word::Unknown("$X".to_owned()));
            let command = SimpleCommand { words, assignments: vec![], redirects: vec![] };
            let rule = Rule { tool: "Shell".to_owned(), pattern: Some(pattern.clone()) };
            let rules = Rules { allow: vec![SourcedRule { rule, origin: RuleOrigin::User, source: String::new() }], ..Rules::default() };
            let verdict = shell_in(&rules, "", ShellLine::Commands(vec![command]), "/ws");
            let only_stars = pattern.chars().all(|c| "*:".contains(c) || c.is_whitespace());
            prop_assert!(word(&verdict) != "allow" || only_stars, "{:?}", verdict);
        }
    }
}

#[test]
fn what_is_unknown_counts_against_a_rule_that_denies_and_never_for_one_that_allows() {
    let rules = rules(&["Shell(git push:*)", "Shell(cp:*)"], &[], &["Shell(git push * main)", "Edit(secrets/**)"]);
    expect(&rules, "allow", &["git push origin dev", "cp a b", "cat secrets/a"]);
    expect(&rules, "deny", &["git push origin main", "cp a b > secrets/c"]);
    expect(&rules, "ask", &["git push $REMOTE main", "git push $WHAT", "cp a secrets/b"]);
}

#[test]
fn while_a_rule_keeps_a_file_from_being_read_commands_that_show_files_are_asked() {
    let rules = rules(&["Shell(wc:*)"], &[], &["Read(.env)"]);
    expect(&rules, "deny", &["cat .env", "wc -l .env", "git show HEAD:.env"]);
    expect(&rules, "ask", &["cat .e*", "grep -r . .", "wc -l .e*"]);
    expect(&rules, "allow", &["ls -la", "git status", "wc -l a.rs"]);
}

#[test]
fn flags_that_write_or_run_something_are_no_reading() {
    let writes = [
        "git rev-list --output=src/main.rs HEAD",
        "git shortlog --outp=src/main.rs HEAD",
        "git describe --ext-diff",
        "git stash show --textconv",
        "git reflog show --output=x",
        "date 010203042024",
        "date -f a.txt",
    ];
    expect(&Rules::default(), "ask", &writes);
    expect(&Rules::default(), "allow", &["date", "date -u +%F", "git rev-list --count HEAD", "git shortlog -sn HEAD"]);
}

#[test]
fn what_only_lists_needs_no_question_and_what_it_could_do_besides_does() {
    expect(
        &Rules::default(),
        "allow",
        &["seq 3", "ps aux", "ps -ef", "ps", "git reflog", "git worktree list", "git worktree list --porcelain"],
    );
    expect(
        &Rules::default(),
        "ask",
        &[
            "ps auxe",
            "ps e",
            "ps -o environ",
            "ps aux e",
            "seq 3 > a.rs",
            "git reflog expire --all",
            "git reflog delete HEAD@{1}",
            "git worktree add ../x",
            "git worktree prune",
        ],
    );
}

#[test]
fn no_rule_is_offered_that_would_allow_anything() {
    let offered = |line: &str| always(&Rules::default(), line);
    assert_eq!(offered("cmake --build build"), ["Shell(cmake --build build)"]);
    assert_eq!(offered("git config user.name x"), ["Shell(git config user.name x)"]);
    assert_eq!(offered("git fetch origin"), ["Shell(git fetch origin)"]);
    assert_eq!(offered("git rebase main"), ["Shell(git rebase main)"]);
    assert_eq!(offered("rails runner x"), ["Shell(rails runner x)"]);
    assert_eq!(offered("touch a.txt"), ["Shell(touch a.txt)"]);
    assert_eq!(offered("git commit -m x"), ["Shell(git commit:*)"]);
}

#[test]
fn an_allowed_command_writes_into_no_folder_that_makes_programs_do_things() {
    let rules = rules(&["Shell(cargo test:*)"], &[], &[]);
    expect(
        &rules,
        "ask",
        &["cargo test > .git/hooks/pre-commit", "cargo test >> sub/.git/config", "cargo test > .azimuth/config.toml"],
    );
    expect(&rules, "allow", &["cargo test > out.txt"]);
}

#[test]
fn a_search_shows_no_file_that_a_rule_about_reading_keeps() {
    let rules = rules(&["Read(docs/.env)"], &["Read(secrets/**)"], &["Read(.env)", "Edit(src/**)", "Shell(cat:*)"]);
    let folders = [PathBuf::from("/ws")];
    let shows = |named: Option<&str>, path: &str| may_read(&rules, &folders, named.map(Path::new), Path::new(path));
    assert!(shows(None, "/ws/src/a.rs"), "a rule about editing says nothing of reading");
    assert!(!shows(None, "/ws/.env") && !shows(None, "/ws/docs/.env"), "deny comes before allow");
    assert!(!shows(None, "/ws/secrets/key"));
    assert!(shows(Some("/ws/secrets"), "/ws/secrets/key"), "the user was asked for the folder");
    assert!(!shows(Some("/ws/secrets"), "/ws/secrets/.env"), "and a deny rule still holds in it");
    assert!(!shows(Some("/ws/.env"), "/ws/.env"));
    assert!(shows(Some("/ws/secrets/key"), "/ws/secrets/key") && !shows(Some("/ws"), "/ws/secrets/key"));
}

#[test]
fn it_is_known_whether_rules_keep_any_file_from_searches() {
    let hides = |ask: &[&str], deny: &[&str]| hides_files(&rules(&["Read(docs/**)"], ask, deny), &[]);
    assert!(!hides(&["Read", "Edit(src/**)"], &["Edit(src/**)", "Shell(cat:*)"]));
    assert!(hides(&["Read(secrets/**)"], &[]));
    assert!(hides(&[], &["Read(.env)"]) && hides(&[], &["Read"]) && hides(&[], &["*"]));
}

#[test]
fn a_rule_about_every_call_is_answered_with_the_call() {
    let folders = [PathBuf::from("/ws")];
    let shows = |rules: &Rules| may_read(rules, &folders, None, Path::new("/ws/a"));
    assert!(shows(&rules(&[], &["Read"], &[])), "each search is asked for as a whole");
    assert!(shows(&rules(&[], &["*"], &[])));
    assert!(!shows(&rules(&[], &[], &["Read"])));
}
