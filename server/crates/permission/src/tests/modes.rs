//! Modes, where rules come from, and what runs unasked without one.

use super::*;

/// The circumstances in which a line is judged.
#[derive(Clone, Copy)]
struct In {
    mode: Mode,
    trusted: bool,
    sandboxed: bool,
    outside: bool,
}

const AGENT: In = In { mode: Mode::Agent, trusted: true, sandboxed: true, outside: false };

fn judged(rules: &Rules, line: &str, around: In) -> Verdict {
    let In { mode, trusted, sandboxed, outside } = around;
    let outside = outside.then(|| "the sandbox refused the socket".to_owned());
    let action = Action::Execute {
        line: line.to_owned(),
        parsed: parse(line),
        cwd: "/ws".into(),
        links: Links::new(),
        keys: KeyFiles::default(),
        outside,
    };
    let folders = [PathBuf::from("/ws")];
    let surroundings = Surroundings { trusted, sandboxed };
    judge(rules, &Case { tool: "shell_run", action: &action, reads: &[], mode, folders: &folders, surroundings })
}

fn all_are(expected: &str, rules: &Rules, around: In, lines: &[&str]) {
    for line in lines {
        let verdict = judged(rules, line, around);
        assert_eq!(word(&verdict), expected, "`{line}` came to {verdict:?}");
    }
}

fn of(origin: RuleOrigin, text: &str) -> Rules {
    let rule = SourcedRule { rule: text.parse().unwrap(), origin, source: "somewhere".to_owned() };
    Rules { allow: vec![rule], ..Rules::default() }
}

fn reason(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Allow { reason, .. } | Verdict::Deny { reason } | Verdict::Ask { reason, .. } => reason,
    }
}

#[test]
fn plan_runs_what_only_reads_whatever_is_allowed_and_edits_nothing() {
    let plan = In { mode: Mode::Plan, ..AGENT };
    let rules = rules(&["Shell", "Edit"], &["Shell(git log:*)"], &["Shell(cat secret)"]);
    all_are("allow", &rules, plan, &["ls", "git status", "cat a | head -n 3"]);
    all_are("deny", &rules, plan, &["cargo test", "touch a", "ls > out", "cat secret", "$X", "echo $(x)"]);
    all_are("ask", &rules, plan, &["git log"]);
    all_are("deny", &rules, In { outside: true, ..plan }, &["ls"]);
}

#[test]
fn bypass_asks_only_what_a_rule_has_asked_and_refuses_what_is_denied() {
    let bypass = In { mode: Mode::Bypass, trusted: false, sandboxed: false, outside: false };
    let rules = rules(&[], &["Shell(git commit:*)"], &["Shell(git push:*)", "Shell(npm publish)"]);
    all_are("allow", &rules, bypass, &["cargo test", "curl x | sh", "echo $(x)", "touch /etc/x"]);
    all_are("allow", &rules, In { outside: true, ..bypass }, &["docker ps"]);
    all_are("ask", &rules, bypass, &["git commit -m x"]);
    all_are(
        "deny",
        &rules,
        bypass,
        &["git push", "sudo git push", "ls && npm publish", "rm -rf /", "echo $(rm -rf /)", "git -C . push", "git $X"],
    );
}

#[test]
fn outside_the_sandbox_only_a_rule_that_says_so_allows() {
    let outside = In { outside: true, ..AGENT };
    all_are("ask", &Rules::default(), outside, &["ls", "cargo test", "docker ps"]);
    all_are("ask", &rules(&["Shell", "Shell(docker:*)", "*", "shell_run"], &[], &[]), outside, &["docker ps"]);
    let allowed = rules(&["ShellOutside(docker ps)"], &[], &["Shell(docker rm:*)"]);
    all_are("allow", &allowed, outside, &["docker ps"]);
    all_are("ask", &allowed, outside, &["docker run x", "docker ps && docker run x"]);
    all_are("deny", &allowed, outside, &["docker rm x"]);
    all_are("ask", &allowed, AGENT, &["docker ps"]);
    all_are("deny", &rules(&[], &[], &["ShellOutside"]), outside, &["ls"]);
    all_are("allow", &rules(&[], &[], &["ShellOutside"]), AGENT, &["ls"]);
    match judged(&Rules::default(), "cargo test", outside) {
        Verdict::Ask { title, detail, always, .. } => {
            assert!(title.contains("outside the sandbox") && always.is_empty(), "{title} {always:?}");
            assert!(detail.ends_with("the model's reason: the sandbox refused the socket"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn while_the_workspace_is_not_trusted_only_what_was_allowed_for_it_counts() {
    let untrusted = In { trusted: false, ..AGENT };
    for (origin, expected) in [
        (RuleOrigin::User, "ask"),
        (RuleOrigin::Project, "ask"),
        (RuleOrigin::Granted, "allow"),
        (RuleOrigin::Session, "allow"),
    ] {
        for rule in ["Shell(cargo test:*)", "Shell"] {
            let rules = of(origin, rule);
            all_are(expected, &rules, untrusted, &["cargo test --all"]);
            all_are("allow", &rules, AGENT, &["cargo test --all"]);
        }
    }
    let verdict = judged(&of(RuleOrigin::User, "Shell(cargo test:*)"), "cargo test", untrusted);
    assert!(reason(&verdict).contains("somewhere would allow `cargo test`, but"), "{verdict:?}");
    assert!(reason(&verdict).contains("not trusted"), "{verdict:?}");
    all_are("allow", &Rules::default(), untrusted, &["ls", "git status"]);
    let edits = of(RuleOrigin::Project, "Edit(src/**)");
    assert!(accepting_rule(&edits, &[PathBuf::from("/ws")], Path::new("/ws/src/a")).is_none());
}

#[test]
fn a_project_never_lets_its_commands_out_of_the_sandbox() {
    let outside = In { outside: true, ..AGENT };
    for rule in ["ShellOutside", "shelloutside(docker:*)"] {
        let rules = of(RuleOrigin::Project, rule);
        all_are("ask", &rules, outside, &["docker ps"]);
        let verdict = judged(&rules, "docker ps", outside);
        assert!(rules.allow[0].void(true, true).is_some(), "{verdict:?}");
        for origin in [RuleOrigin::User, RuleOrigin::Granted, RuleOrigin::Session] {
            all_are("allow", &of(origin, rule), outside, &["docker ps"]);
        }
    }
    all_are("ask", &of(RuleOrigin::Project, "*"), outside, &["docker ps"]);
    assert_eq!(of(RuleOrigin::Project, "Shell").allow[0].void(true, true), None);
}

#[test]
fn a_reason_names_the_rule_and_its_place_or_what_is_known_of_the_command() {
    let rules = rules(&["Shell(make:*)"], &["Shell(git commit:*)"], &["Shell(git push:*)"]);
    for (line, expected) in [
        ("make CC=x", "allowed by rule `Shell(make:*)` from your config.toml"),
        ("ls", "it is known to be read-only"),
        ("cargo test", "runs in the sandbox: `cargo test` is one of the project's own commands"),
        ("npm run build", "runs in the sandbox: `npm run` is one of the project's own commands"),
        ("git push", "rule `Shell(git push:*)` from your config.toml"),
        ("git commit", "asked for by rule `Shell(git commit:*)` from your config.toml"),
        ("cargo publish", "no rule allows `cargo publish`"),
    ] {
        assert_eq!(reason(&judged(&rules, line, AGENT)), expected, "{line}");
    }
}

#[test]
fn plain_file_commands_run_where_edits_are_accepted() {
    let accepting = In { mode: Mode::AcceptEdits, trusted: false, sandboxed: false, outside: false };
    let plain = [
        "mkdir -p src/a/b",
        "touch src/a.rs",
        "cp -r src lib",
        "mv -n src/a.rs src/b.rs",
        "ln -s a.rs src/b.rs",
        "rmdir old",
        "mkdir a && touch a/b",
    ];
    all_are("allow", &Rules::default(), accepting, &plain);
    all_are("ask", &Rules::default(), AGENT, &plain);
    all_are(
        "ask",
        &Rules::default(),
        accepting,
        &[
            "mkdir /tmp/x",
            "mkdir ../x",
            "touch ~/x",
            "touch $X",
            "touch *.rs",
            "touch .git/hooks/pre-commit",
            "cp evil .git/config",
            "cp evil .azimuth/config.toml",
            "cp evil .github/workflows/a.yml",
            "mv .env x",
            "cp id_rsa x",
            "mv src /elsewhere",
            "mv . x",
            "mv /ws x",
            "rmdir .",
            "cp -t /etc a",
            "cp --target-directory=/etc a",
            "cp -f a b",
            "mv -f a b",
            "mv --backup=x a b",
            "ln a b",
            "ln -s ../../etc x",
            "ln -sf a b",
            "ln -s /etc/passwd x",
            "touch -- -rf",
            "touch -r /etc/passwd x",
            "mkdir -m 777 x",
            "mkdir x > y",
            "rm a",
            "chmod +x a",
            "cd / && mkdir x",
            "X=1 mkdir x",
        ],
    );
}

#[test]
fn a_projects_own_commands_run_in_the_sandbox_of_a_trusted_workspace() {
    let own = [
        "cargo +nightly test --workspace -- --nocapture",
        "cargo clippy --all-targets -- -D warnings",
        "RUST_LOG=debug cargo run -p tool -- --in data/a.txt",
        "RUSTFLAGS=-Dwarnings cargo check",
        "npm ci",
        "npm run lint -- --fix",
        "yarn",
        "pnpm -r test",
        "pnpm exec tsc -p .",
        "npx --no eslint src",
        "npx --no-install tsc -p .",
        "bun test",
        "node scripts/gen.js --out src/gen.ts",
        "node --test",
        "make -j4 all",
        "make V=1",
        "just lint",
        "pytest -k name tests/test_a.py::test_b",
        "python -m pytest -q",
        "python3 manage.py test",
        "poetry run pytest",
        "uv run ruff check .",
        "pip install -r requirements.txt",
        "pip install -e .",
        "tox -e py312 -- -k x",
        "go test -run TestX ./...",
        "go run ./cmd/tool",
        "gofmt -l .",
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DWITH_X=ON",
        "ctest --test-dir build -j 4",
        "ninja -C build",
        "mvn -q test",
        "./gradlew build -x lint",
        "dotnet test --no-build",
        "bundle exec rspec spec/a_spec.rb",
        "node_modules/.bin/eslint src",
        "gcc -Wall -O2 -o app main.c",
        "cd sub && cargo test",
        "cargo test > out.txt",
        "deno test",
        "vite build",
    ];
    all_are("allow", &Rules::default(), AGENT, &own);
    all_are("ask", &Rules::default(), In { trusted: false, ..AGENT }, &own);
    all_are("ask", &Rules::default(), In { sandboxed: false, ..AGENT }, &own);
    all_are("ask", &Rules { asks_project_commands: true, ..Rules::default() }, AGENT, &own);
    all_are("deny", &Rules::default(), In { mode: Mode::Plan, ..AGENT }, &own);
    all_are("deny", &rules(&[], &[], &["Shell(go:*)"]), AGENT, &["go test ./..."]);
}

#[test]
fn options_that_only_sound_as_if_they_wrote_or_read_a_file_need_no_question() {
    let lines = [
        "nx build --output-style static",
        "nx run-many -t test --output-style=stream",
        "turbo run build --output-logs errors-only",
        "turbo build --output-logs=new-only",
        "playwright test --trace on",
        "playwright test --trace=retain-on-failure",
        "playwright test --grep @smoke",
        "playwright test --grep=@smoke",
        "mocha -g @slow",
    ];
    all_are("allow", &Rules::default(), AGENT, &lines);
    let others = [
        "turbo build --output src/x",
        "playwright test --output src",
        "tsc --generateTrace src/on",
        "playwright test --trace src/a.ts",
        "gcc @args",
        "gcc -g @args",
        "tsc -t @args",
        "playwright test @args",
    ];
    all_are("ask", &Rules::default(), AGENT, &others);
}

#[test]
fn what_only_looks_like_a_projects_own_command_is_asked() {
    all_are(
        "ask",
        &Rules::default(),
        AGENT,
        &[
            "cargo run --manifest-path ../x/Cargo.toml",
            "cargo test --config x.toml",
            "cargo clean --target-dir src",
            "cargo fix",
            "cargo clippy --fix",
            "cargo update",
            "cargo xtask publish",
            "cargo run -- /etc/passwd",
            "cargo doc --open",
            "cargo +../x test",
            "RUSTFLAGS=-Clinker=x cargo build",
            "RUSTFLAGS=-Lx cargo build",
            "LD_PRELOAD=1 cargo test",
            "GIT_SSL_NO_VERIFY=1 npm ci",
            "npm install x",
            "npm run deploy",
            "npm run release:major",
            "npm run test -- --eval x",
            "npx cowsay",
            "npx node x.js",
            "npm test -w ../x",
            "pnpm curl x",
            "pnpm node -e x",
            "yarn add x",
            "yarn node -e x",
            "node",
            "node -",
            "node -e x",
            "node -r ./x.js y.js",
            "node --env-file=.env x.js",
            "node --import=data:text/javascript,x y.js",
            "node /tmp/x.js",
            "node {,}/elsewhere/x.js",
            "node {x,}/elsewhere/x.js",
            "node {a,b}/../../elsewhere/x.js",
            "RAILS_ENV=production rake",
            "node tools/publish.js",
            "node inspect x.js",
            "tsx",
            "python",
            "python -c x",
            "python -m http.server",
            "python -m timeit x",
            "python -m pip install x",
            "python -m test.x -c y",
            "python setup.py upload",
            "pytest -p x",
            "pytest --basetemp=src",
            "pytest ~/x",
            "pip install x",
            "pip install git+https://x",
            "uv run --with x pytest",
            "poetry run rm x",
            "make -f /tmp/x",
            "make SHELL=x",
            "make CC=x",
            "make install",
            "make --eval x",
            "just --set shell x",
            "go test -exec x ./...",
            "go run x.example/y@latest",
            "go generate ./...",
            "go env -w X=y",
            "gcc -o main.c other.c",
            "gcc @flags",
            "gcc -fplugin=x a.c",
            "gcc -Wl,-z a.c",
            "cmake -P x.cmake",
            "cmake -DCMAKE_C_COMPILER=x .",
            "ctest -S x",
            "ninja -t clean",
            "mvn exec:java",
            "mvn deploy",
            "./gradlew publish",
            "./gradlew -I x.gradle build",
            "bundle exec ruby x",
            "rspec -r x",
            "eslint --rulesdir x",
            "eslint .git/hooks",
            "prettier --write .azimuth/config.toml",
            "tsc --outDir ../x",
            "tsc --outDir /tmp/x",
            "make > /tmp/x",
            "make DESTDIR=/tmp/x test",
            "cargo build --target-dir /tmp/x",
            "cargo test --manifest-path /tmp/x/Cargo.toml",
            "go build -o /tmp/x ./...",
            "pytest --junitxml=/tmp/x.xml",
            "cargo test > /etc/x",
            "cargo test > .git/hooks/x",
            "cargo test > .github/x",
            "cd .. && cargo test",
            "cd /tmp && make",
            "cargo test $X",
            "./node_modules/.bin/../x",
            "evil/node_modules/.bin/eslint",
            "/ws/../x/gradlew build",
            "sh build.sh",
            "./build.sh",
        ],
    );
    let in_tmp = shell_in(&Rules::default(), "cargo test", parse("cargo test"), "/tmp");
    assert_eq!(word(&in_tmp), "ask");
}

#[test]
fn a_link_that_leads_out_of_the_workspace_is_no_file_of_the_project() {
    let judged = |line: &str, mode| {
        let links = Links::from([(PathBuf::from("/ws/test/run.js"), vec![PathBuf::from("/elsewhere/run.js")])]);
        let action = Action::Execute {
            line: line.to_owned(),
            parsed: parse(line),
            cwd: "/ws".into(),
            links,
            keys: KeyFiles::default(),
            outside: None,
        };
        let folders = [PathBuf::from("/ws")];
        let surroundings = Surroundings { trusted: true, sandboxed: true };
        let case = Case { tool: "t", action: &action, reads: &[], mode, folders: &folders, surroundings };
        word(&judge(&Rules::default(), &case))
    };
    assert_eq!(judged("node test/run.js", Mode::Agent), "ask");
    assert_eq!(judged("mocha --spec=test/run.js", Mode::Agent), "ask");
    assert_eq!(judged("cp test/run.js a", Mode::AcceptEdits), "ask");
    assert_eq!(judged("node test/other.js", Mode::Agent), "allow");
    let named = super::super::named_paths(&parse("mocha --spec=test/run.js {a,b}/c test/x,test/y"), Path::new("/ws"));
    assert!(named.contains(Path::new("/ws/test/run.js")) && named.contains(Path::new("/ws/test/y")), "{named:?}");
}

/// Returns how a line fares in mode `agent`, trusted and in the sandbox, with paths of `/ws` that lead elsewhere.
fn with_links(line: &str, links: &[(&str, &str)]) -> &'static str {
    let links = links.iter().map(|(path, led_to)| (Path::new("/ws").join(path), vec![PathBuf::from(led_to)])).collect();
    let action = Action::Execute {
        line: line.to_owned(),
        parsed: parse(line),
        cwd: "/ws".into(),
        links,
        keys: KeyFiles::default(),
        outside: None,
    };
    let (folders, mode) = ([PathBuf::from("/ws")], Mode::Agent);
    let surroundings = Surroundings { trusted: true, sandboxed: true };
    word(&judge(
        &Rules::default(),
        &Case { tool: "t", action: &action, reads: &[], mode, folders: &folders, surroundings },
    ))
}

#[test]
fn npx_runs_what_the_project_has_and_fetches_nothing_unasked() {
    let eslint = "node_modules/.bin/eslint";
    let there = [(eslint, "/ws/node_modules/eslint/bin/eslint.js")];
    assert_eq!(with_links("npx eslint src", &there), "allow");
    assert_eq!(with_links("c8 npx eslint src", &there), "allow");
    assert_eq!(with_links("npx prettier src", &there), "ask");
    assert_eq!(with_links("npx eslint src", &[]), "ask");
    assert_eq!(with_links("npx eslint src", &[(eslint, "/elsewhere/eslint.js")]), "ask");
    let linked_folder = [(eslint, "/ws/other/node_modules/.bin/eslint")];
    assert_eq!(with_links("npx eslint src", &linked_folder), "ask", "it may not be in that folder");
    assert_eq!(with_links("cd packages && npx eslint src", &there), "ask");
    let make = [("node_modules/.bin/make", "/ws/node_modules/make/make.js")];
    assert_eq!(with_links("npx make", &make), "ask", "it is no tool of packages");
    for line in ["npx eslint src", "c8 npx eslint src"] {
        let named = super::super::named_paths(&parse(line), Path::new("/ws"));
        assert!(named.contains(&Path::new("/ws").join(eslint)), "{named:?}");
    }
}

#[test]
fn up_from_behind_a_link_is_where_the_link_leads() {
    let climb = "a/b/c/../../secret";
    let line = format!("cat {climb}");
    assert_eq!(with_links(&line, &[]), "allow");
    assert_eq!(with_links(&line, &[(climb, "/secret")]), "ask");
    assert_eq!(with_links(&line, &[(climb, "/ws/d/secret")]), "allow");
    for line in [line.as_str(), "cd a/b/c && cat ../../secret"] {
        let named = super::super::named_paths(&parse(line), Path::new("/ws"));
        assert!(named.contains(&Path::new("/ws").join(climb)), "{line}: {named:?}");
        assert!(named.contains(Path::new("/ws/a/secret")), "{line}: {named:?}");
    }
    let denied = rules(&[], &[], &["Read(d/secret)"]);
    let links = Links::from([(Path::new("/ws").join(climb), vec![PathBuf::from("/ws/d/secret")])]);
    let action = Action::Execute {
        parsed: parse(&line),
        line,
        cwd: "/ws".into(),
        links,
        keys: KeyFiles::default(),
        outside: None,
    };
    let (folders, mode, surroundings) = ([PathBuf::from("/ws")], Mode::Agent, Surroundings::default());
    let case = Case { tool: "t", action: &action, reads: &[], mode, folders: &folders, surroundings };
    assert_eq!(word(&judge(&denied, &case)), "deny");
}

#[test]
fn rules_say_what_they_cover() {
    for (text, expected) in [
        ("Shell", "every command"),
        ("Shell(cargo test:*)", "commands that begin with `cargo test`"),
        ("Bash(ls)", "exactly the command `ls`"),
        ("Shell(npm run *)", "commands such as `npm run *`"),
        ("ShellOutside(docker:*)", "commands outside the sandbox that begin with `docker`"),
        ("Edit(src/**)", "edits of `src/**`"),
        ("Read", "reading"),
        ("mcp_x", "calls of `mcp_x`"),
        ("*", "every call"),
    ] {
        assert_eq!(super::super::covers(&text.parse().unwrap()), expected, "{text}");
    }
}
