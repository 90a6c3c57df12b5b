#![expect(clippy::disallowed_methods, reason = "the tests compare with bash itself")]

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

mod harmless;
mod state;
mod table;

/// A line's commands, one after the other: `name word <unknown word> {assignment} >file`, or `? reason`.
fn shown(line: &str) -> String {
    let word = |word: &Word| match word {
        Word::Known(text) => text.clone(),
        Word::Unknown(text) => format!("<{text}>"),
    };
    let command = |command: &SimpleCommand| {
        let assignments = command.assignments.iter().map(|text| format!("{{{text}}}"));
        let redirects = command
            .redirects
            .iter()
            .map(|redirect| format!("{}{}", if redirect.writes { ">" } else { "<" }, word(&redirect.target)));
        assignments.chain(command.words.iter().map(word)).chain(redirects).collect::<Vec<_>>().join(" ")
    };
    match parse(line) {
        ShellLine::Commands(commands) => commands.iter().map(command).collect::<Vec<_>>().join(" ; "),
        ShellLine::Unparsable { reason } => format!("? {reason}"),
    }
}

#[test]
fn every_command_of_a_line_is_listed() {
    let cases: &[(&str, &str)] = &[
        ("", ""),
        ("# nothing", ""),
        ("ls", "ls"),
        ("cargo test -- --nocapture", "cargo test -- --nocapture"),
        ("a; b && c || d | e |& f & g", "a ; b ; c ; d ; e ; f ; g"),
        ("a\nb\n\nc\n", "a ; b ; c"),
        ("a; # then\nb", "a ; b"),
        ("(a; b) && { c; d; }", "a ; b ; c ; d"),
        ("! a", "a"),
        ("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"),
        ("while a; do b; done; until c; do d; done", "a ; b ; c ; d"),
        ("for x in 1 $(a) *.rs; do b \"$x\"; done", "a ; {x=(each of 1 $(a) *.rs)} ; b 1 ; b <\"$(a)\"> ; b <*.rs>"),
        ("for x; do a; done", "{x=(each of \"$@\")} ; a"),
        ("select x in 1 2; do a; done", "{x=(each of 1 2)} {REPLY=(what is typed)} ; a"),
        ("case $x in a|b) c;; *) d;; esac", "c ; d"),
        ("f() { a; b; }; f", "function <f> ; a ; b ; f"),
        ("function f { a; }", "function <f> ; a"),
        ("f() (a) > out", "function <f> ; a >out"),
        (
            "echo $(a) `b` \"$(c) `d`\" <(e) >(f)",
            "a ; b ; c ; d ; e ; f ; echo <$(a)> <`b`> <\"$(c) `d`\"> <<(e)> <>(f)>",
        ),
        ("x=$(a) y=1 b", "a ; {x=$(a)} {y=1} b"),
        ("x=$(a)", "a ; {x=$(a)}"),
        ("x=1 y=(a $(b))", "b ; {x=1} {y=(a $(b))}"),
        ("echo ${x:-$(a)}", "a ; echo <${x:-$(a)}>"),
        ("[ -f \"$(a)\" ] && [[ $x == y* ]] && b", "a ; [ <-f \"$(a)\"> ; [[ <$x == y*> ; b"),
        ("a <<< \"$(b)\"", "b ; a"),
        ("export A=1 B=\"$C\"", "export A=1 <B=\"$C\">"),
        ("unset A", "unset A"),
        ("cd x && cargo test 2>&1 | tail -20", "cd x ; cargo test ; tail -20"),
        ("$(<file)", "? the name of a command is known only when it runs"),
        ("echo $(<file)", "<file ; echo <$(<file)>"),
    ];
    for (line, commands) in cases {
        assert_eq!(shown(line), *commands, "{line}");
    }
}

#[test]
fn words_are_what_the_program_will_see() {
    let cases: &[(&str, &str)] = &[
        ("echo 'a b' \"c d\" e\\ f $'g\\n\\x41\\'h'", "echo a b c d e f g\nA'h"),
        ("l's' -\"l\"a", "ls -la"),
        ("\"ls\"", "ls"),
        ("\\ls", "ls"),
        ("l\\s", "ls"),
        ("echo 'it'\\''s'", "echo it's"),
        ("echo \"a\\\"b\\$c\\d\"", "echo a\"b$c\\d"),
        ("echo 'a\nb' \"c\nd\" \"\n\"", "echo a\nb c\nd \n"),
        ("echo \"  spaced  \"", "echo   spaced  "),
        ("grep -E \"a|b$\" x", "grep -E a|b$ x"),
        ("awk '{print $1}' x", "awk {print $1} x"),
        ("git commit -m \"fix: it\"", "git commit -m fix: it"),
        ("echo a#b a=b a==b", "echo a#b a=b a==b"),
        ("head -n 5 -20", "head -n 5 -20"),
        ("echo \\; \\&", "echo ; &"),
        ("echo a \\\n  b", "echo a b"),
        ("echo ünïcode 漢字", "echo ünïcode 漢字"),
        ("echo $x ${x} \"$x\" a$x $? $@", "echo <$x> <${x}> <\"$x\"> <a$x> <$?> <$@>"),
        ("echo *.rs a? [ab] ~ ~/x a{b,c} {1..3}", "echo <*.rs> <a?> <[ab]> <~> <~/x> <a{b,c}> <{1..3}>"),
        ("echo '*' \"~\" \\*", "echo * ~ *"),
        ("echo {} x{}", "echo {} x{}"),
        ("echo $((1 + 2))", "echo <$((1 + 2))>"),
        ("echo $'\\u00e9\\cA'", "echo <$'\\u00e9\\cA'>"),
    ];
    for (line, commands) in cases {
        assert_eq!(shown(line), *commands, "{line}");
    }
}

#[test]
fn redirections_are_listed_with_their_files() {
    let cases: &[(&str, &str)] = &[
        ("a > b", "a >b"),
        ("a >> b 2> 'c d' < e", "a >b >c d <e"),
        ("a &> b; a &>> b; a >| b; a >& b", "a >b ; a >b ; a >b ; a >b"),
        ("a 2>&1 >&2 <&0 >&- 2>/dev/null", "a >/dev/null"),
        ("a > $b", "a ><$b>"),
        ("a > \"$(b)\"", "a ><\"$(b)\"> ; b"),
        ("> b", ">b"),
        ("> b rm x", "rm x >b"),
        ("{ a; b; } > c", "a ; b >c"),
        ("a && b > c", "a ; b >c"),
        ("for x in 1; do a; done > b", "{x=(each of 1)} ; a >b"),
        ("cat <<EOF > out\ntext $x\nEOF\nb", "cat >out ; b"),
        ("cat <<'EOF' | a && b\n$(c) `d`\nEOF", "cat ; a ; b"),
        ("cat <<-EOF\n\ttext\n\tEOF\nb", "cat ; b"),
        ("cat <<EOF\nEOF", "cat"),
        ("echo $(cat <<EOF\nhi\nEOF\n)", "cat ; echo <$(cat <<EOF\nhi\nEOF\n)>"),
    ];
    for (line, commands) in cases {
        let got = shown(line);
        // A substitution in a redirection runs before the command, but which stands first matters to nobody.
        let sorted = |text: &str| {
            let mut parts: Vec<_> = text.split(" ; ").map(str::to_owned).collect();
            parts.sort();
            parts
        };
        assert_eq!(sorted(&got), sorted(commands), "{line}");
    }
}

#[test]
fn wrappers_are_taken_off() {
    let cases: &[(&str, &str)] = &[
        ("time -p cargo test", "cargo test"),
        ("time (a; b)", "a ; b"),
        ("time x=1 y", "{x=1} y"),
        ("time =", "="),
        ("nohup a b &", "a b >nohup.out"),
        ("timeout 10 cargo test", "cargo test"),
        ("timeout -k 5 --signal=KILL 1m rm -rf x", "rm -rf x"),
        ("/usr/bin/timeout 10 rm x", "rm x"),
        ("nice -n 10 a; nice -5 b; nice c", "a ; b ; c"),
        ("env A=1 -- rm x", "{A=1} -- rm x"),
        ("env A=1 B=2 rm x", "{A=1} {B=2} rm x"),
        ("env -u X A=1 rm x", "env -u X A=1 rm x ; {A=1} rm x"),
        ("env --unset=X rm x; env -0i rm x", "env --unset=X rm x ; rm x ; env -0i rm x ; rm x"),
        ("env - rm x; env --ignore-environment rm x", "env - rm x ; rm x ; env --ignore-environment rm x ; rm x"),
        ("env", "env"),
        ("env -i rm x", "env -i rm x ; rm x"),
        ("env -i; env -; env -u X", "env -i ; env - ; env -u X"),
        ("env -i A=1 sh -c 'rm x >y' >z", "env -i A=1 sh -c rm x >y ; {A=1} rm x >y >z"),
        ("nice env -i timeout 5 rm x", "env -i timeout 5 rm x ; rm x"),
        ("command rm x; builtin cd y; command -v rm", "rm x ; cd y ; command -v rm"),
        ("ls | xargs rm -f", "ls ; rm -f <(what xargs reads)>"),
        ("ls | xargs -0 -n1 -P 4 rm", "ls ; rm <(what xargs reads)>"),
        ("ls | xargs -I{} cp {} x/{}", "ls ; cp <{}> <x/{}>"),
        ("ls | xargs -I{} -L1 sort a{}", "ls ; sort <a{}> <(what xargs reads)>"),
        ("ls | xargs -n1 -I{} sort a", "ls ; sort a <(what xargs reads)>"),
        ("ls | xargs -I{} --max-args=2 sort a", "ls ; sort a <(what xargs reads)>"),
        ("ls | xargs", "ls ; xargs"),
        ("bash -c 'a; b > c'", "a ; b >c"),
        ("sh -ec \"rm x\" > log", "rm x >log"),
        ("A=1 bash -c 'rm x'", "{A=1} rm x"),
        ("bash -c 'bash -c \"rm x\"'", "rm x"),
        ("bash script.sh x", "bash script.sh x"),
        ("stdbuf -oL time timeout 5 env A=1 rm x", "{A=1} rm x"),
        ("find . -name '*.rs' -exec rm {} \\;", "find . -name *.rs -exec rm {} ; ; rm <{}>"),
        ("find . -exec git + push {} +", "find . -exec git + push {} + ; git + push <{}>"),
        ("find . -execdir sh -c 'rm x' \\; -print", "find . -execdir sh -c rm x ; -print ; rm x"),
        ("./timeout 10 x", "./timeout 10 x"),
        ("exec > log", "exec >log"),
    ];
    for (line, commands) in cases {
        assert_eq!(shown(line), *commands, "{line}");
    }
}

#[test]
fn what_cannot_be_told_is_not_guessed() {
    let lines = [
        // No shell.
        "echo 'a",
        "echo \"a",
        "if a",
        "a )",
        "a |",
        "a && ",
        "<<<",
        "case",
        "}",
        "a > ",
        "echo $(",
        "`a",
        // Text that runs.
        "eval 'rm x'",
        "source x",
        ". x",
        "exec rm x",
        "trap 'rm x' EXIT",
        "alias ls='rm x'",
        "builtin eval x",
        "command eval x",
        "nohup sudo rm x",
        "sudo rm x",
        "/usr/bin/sudo rm x",
        "doas rm x",
        "su -c 'rm x'",
        "watch rm x",
        "coproc rm x",
        "bash",
        "curl x | sh",
        "curl x | bash -s",
        "bash <<EOF\nrm x\nEOF",
        "bash -c \"$x\"",
        "bash -c $'rm \\cA'",
        "bash --rcfile x -c a",
        "zsh -c 'rm x'",
        "ls | xargs sh -c",
        "ls | xargs env",
        "ls | xargs -I{} {} x",
        "find . -exec {} \\;",
        "find . $x",
        "mapfile -C 'rm x' a",
        "let x=1",
        "bind -x '\"a\":rm'",
        // Names that are not known.
        "$x a",
        "\"$x\" a",
        "$(a) b",
        "`a` b",
        "~/x a",
        "./* a",
        "r? x",
        "{rm,x}",
        "${x}",
        "timeout $x rm y",
        "env $x",
        "time $x",
        "! $x",
        "''",
        // A word of a wrapper that could come to be several.
        "nice -n $x ls",
        "nice -n * ls",
        "nice --adjustment $x ls",
        "timeout -k $x 5 ls",
        "timeout -- $x ls",
        "timeout -k 5 -- \"$@\" ls",
        "env -u $x ls",
        "stdbuf -o $x ls",
        "xargs -I{} -P $x ls",
        "bash -o $x -c ls",
        "bash -o",
        // Expansions and redirections that set variables.
        "case ${x:=y} in *) ls;; esac",
        "[[ -n ${x:=y} ]]",
        "echo ${x=y}",
        "echo \"${x:=y}\"",
        "ls {x}>/dev/null",
        "ls {x[1]}</dev/null",
        "{x}>/dev/null",
        "cat {x}<<<a",
        "cat {x}<<'EOF'\nEOF",
        "coproc x { ls; }",
        // Tests whose words come out of expansions.
        "[ $x ]",
        "[ -f $x ]",
        "[ ! $_ ]",
        "[ \"$@\" ]",
        "[ \"${@}\" ]",
        "[ $(cat a) ]",
        "[ * ]",
        "[ \"$x\" \"$y\" ]",
        "[ ! \"$x\" \"$y\" ]",
        "[ -n a -a \"$x\" \"$y\" ]",
        "[ '-v' 'a[$(rm x)]' ]",
        "[ \\-v 'a[$(rm x)]' ]",
        // A line of bash for a shell that reads it otherwise.
        "sh -c \"echo \\$'\\\\'; rm x; #'\"",
        "sh -c '[[ a || b ]]'",
        "dash -c 'a &>/dev/null rm x'",
        "sh -c 'A+=./x ls'",
        "sh -c 'echo \"${x/\\}/b}\"'",
        // Values that are evaluated.
        "echo $((x))",
        "echo $((a[$(rm x)]))",
        "((x=1))",
        "echo ${a[$(rm x)]}",
        "echo ${!x}",
        "echo ${x@P}",
        "echo ${x:y}",
        "a[$(rm x)]=1",
        "[[ $x -eq 1 ]]",
        "[[ -v $x ]]",
        "[ -v 'a[$(rm x)]' ]",
        "unset 'a[$(rm x)]'",
        "read 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' x",
        "declare -i x='a[$(rm x)]'",
        "for ((i=0; i<$(rm x); i++)); do a; done",
        "test -v 'a[$(rm x)]'",
        "for x in *; do '[' $x; done",
        "\\[ $x",
        "'[' * ]",
        "echo $[x]",
        // Texts that this grammar and the shell could read differently.
        "echo a\\\n#b; rm x",
        "r\\\nm x",
        "echo \\ x",
        "echo a\u{a0}b",
        "echo\u{2003}a",
        "echo a\rb",
        "echo \0",
        "echo \u{202e}x",
        "echo a\u{200b}b",
        "cat a\u{3164}",
        "cat a\u{fe0f}",
        "echo \x1b[31m",
        "cat <<EOF\n`rm x`\nEOF",
        "cat <<EOF\n$(rm x)\nEOF",
        "#<<EOF\n=$$",
        "!''\\\\'",
        ",\n\\\nqa",
        "a|&-2>&1",
        "1=",
        "<<<''\\`env =",
        "x+=()timeout 1 ",
        "<<<$\nEOF\n",
        "cat <<'E O'\nx\nE O\nrm y",
        "cat <<EOF - file\nx\nEOF",
        "cat <<\\EOF\nx\nEOF",
        "echo a > f b",
        "echo `echo \\`rm x\\``",
        "echo $\"a\"",
        "cat <<EOF\nx\n EOF\nrm y",
    ];
    for line in lines {
        assert!(shown(line).starts_with("? "), "{line:?} is taken for {}", shown(line));
    }
}

#[test]
fn a_test_in_brackets_is_one_where_it_cannot_become_another() {
    for (line, commands) in [
        ("[ \"$x\" ]", "[ <\"$x\">"),
        ("[ -f a.rs ]", "[ <-f a.rs>"),
        ("[ ! -d \"$x\" ] && a", "[ <! -d \"$x\"> ; a"),
        ("[ \"$x\" = y ]", "[ <\"$x\" = y>"),
        ("[ $? -eq 0 ]", "[ <$? -eq 0>"),
        ("[ -f a -o -f b ]", "[ <-f a -o -f b>"),
        ("[[ -f $x && ! -d $x ]]", "[[ <-f $x && ! -d $x>"),
    ] {
        assert_eq!(shown(line), commands, "{line}");
    }
}

#[test]
fn a_command_that_hides_is_found_or_the_line_is_unclear() {
    // However it is written, `rm` runs in each of these.
    let lines = [
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo \"a `rm x` b\"",
        "echo ${x:-$(rm x)}",
        "echo ${x:-`rm x`}",
        "a <(rm x)",
        "a=$(rm x)",
        "a=$(rm x) b",
        "a+=`rm x`",
        "f() { rm x; }",
        "{ rm x; }",
        "echo a;rm x",
        "echo a&rm x",
        "echo a|rm x",
        "echo a\nrm x",
        "echo a\n\n\trm x",
        "echo a #\nrm x",
        "echo a;#\nrm x",
        "if rm x; then a; fi",
        "case $(rm x) in *) a;; esac",
        "case x in x) rm x;; esac",
        "for i in $(rm x); do a; done",
        "while rm x; do a; done",
        "a > $(rm x)",
        "a <<< $(rm x)",
        "[[ -f $(rm x) ]]",
        "[ $(rm x) = a ]",
        "export A=$(rm x)",
        "echo $((1+$(rm x)))",
        "cat <<EOF\n${x:-$(rm x)}\nEOF",
        "cat <<'EOF'\nEOF\nrm x",
        "cat <<EOF\n\\\nEOF\nrm x",
        "echo 'a'\"$(rm x)\"b",
        "a && ! rm x",
        "coproc rm x",
        "time rm x",
        "'rm' x",
        "r\"m\" x",
        "$'rm' x",
        "$'\\x72m' x",
        "\\rm x",
        "a=b rm x",
        "<a rm x",
        "2>a rm x",
        "a;;rm x",
        "a || (b; (c && rm x))",
        "echo \"${x:-\"$(rm x)\"}\"",
        "select i in a; do rm x; done",
        "echo \"\n$(rm x)\"",
        "echo a{b,$(rm x)}",
        "a=(1 $(rm x))",
        "declare -a x=($(rm x))",
        "local x=$(rm x)",
        "echo ${x/$(rm x)/b}",
        "echo ${x%$(rm x)}",
        "echo ${x#`rm x`}",
        "[[ a =~ $(rm x) ]]",
        "[[ a == $(rm x)* ]]",
        "echo ~$(rm x)",
        "function f() { rm x; }; f",
        "echo '\\'; rm x; echo '\\'",
        "echo \\\"; rm x; echo \\\"",
        "echo \\'; rm x; echo \\'",
        "echo $'\\''; rm x; echo '",
        "echo \"\\\\\"; rm x; echo \"\"",
        "cat << EOF; rm x\nEOF",
        "cat <<A\n$(rm x)\nA",
        "echo a\\\\\nrm x",
        "echo 'a' # '\nrm x # '",
        "echo ${#x}; rm x",
        "echo $#; rm x",
        "echo a$#b; rm x",
        "echo ${x#a}; rm x",
    ];
    for line in lines {
        let got = shown(line);
        assert!(
            got.starts_with("? ") || got.split(" ; ").any(|command| command.contains("rm x")),
            "{line:?} is taken for {got}"
        );
    }
}

#[test]
fn size_and_depth_are_bounded() {
    for line in [
        "a;".repeat(MAX_COMMANDS + 1),
        format!("{}a{}", "(".repeat(5000), ")".repeat(5000)),
        format!("{}a{}", "$(".repeat(3000), ")".repeat(3000)),
        "time ".repeat(10_000) + "a",
        "a ".repeat(MAX_LINE),
        "((".repeat(10_000),
        "<<a ".repeat(2000),
        "${".repeat(5000),
        "case a in ".repeat(500),
        "[[ ! ".repeat(5000),
    ] {
        assert!(shown(&line).starts_with("? "), "{}…", &line[..20]);
    }
    assert_eq!(shown(&format!("cat > out <<'EOF'\n{}EOF", "a line of a file\n".repeat(3000))), "cat >out");
}

#[test]
fn characters_that_the_grammar_breaks_down_at_are_kept_from_it() {
    for after in ["", "1", "12..", "..", "1..3"] {
        for character in ['\u{100}', '\u{1F980}', '\u{10FFFD}'] {
            let line = format!("echo {{{after}{character}}}");
            let ShellLine::Unparsable { reason } = parse(&line) else { panic!("{line}") };
            assert!(reason.contains("cannot take"), "{line}: {reason}");
        }
    }
    assert!(matches!(parse("echo {1..3} {a,b} '\u{1F980}'"), ShellLine::Commands(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_can_be_parsed(text in any::<String>()) {
        parse(&text);
    }

    #[test]
    fn any_characters_among_shell_can_be_parsed(parts in prop::collection::vec((part(), any::<char>()), 0..20)) {
        parse(&parts.into_iter().map(|(part, character)| format!("{part}{character}")).collect::<String>());
    }

    #[test]
    fn any_mix_of_shell_can_be_parsed(parts in prop::collection::vec(part(), 0..30)) {
        parse(&parts.concat());
    }

    #[test]
    fn a_mutated_line_can_be_parsed(which in 0_usize..6, at in 0_usize..80, with in part()) {
        let lines = [
            "cd server && cargo test --workspace 2>&1 | tail -n 30",
            "for f in $(git ls-files '*.rs'); do wc -l \"$f\"; done > out.txt",
            "cat > a.txt <<'EOF'\nhello $(world)\nEOF\ngrep -rn \"x y\" src",
            "find . -name '*.tmp' -exec rm {} \\; && env A=1 bash -c 'echo $A; ls'",
            "if [ -f x ] && [[ $y == z* ]]; then echo \"${y:-none}\"; fi",
            "f() { local x=$1; echo ${x%.rs}; }; f a.rs | xargs -I{} echo {}",
        ];
        let mut line = lines[which].to_owned();
        let at = at.min(line.len());
        line.insert_str(at, &with);
        parse(&line);
    }

    #[test]
    fn quoted_words_come_back_as_they_were(words in prop::collection::vec("[ -~éß\n\t]{0,12}", 1..6)) {
        let line = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ");
        let line = format!("echo {line}");
        if let ShellLine::Commands(commands) = parse(&line) {
            let expected: Vec<_> = std::iter::once("echo").chain(words.iter().map(String::as_str)).map(|word| Word::Known(word.to_owned())).collect();
            prop_assert_eq!(commands.len(), 1);
            prop_assert_eq!(&commands[0].words, &expected);
        } else {
            // Only what could be a continued line is refused.
            prop_assert!(line.contains("\\\n"), "{}", shown(&line));
        }
    }
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a",
            "rm x",
            " ",
            "\n",
            ";",
            "&",
            "|",
            "&&",
            "(",
            ")",
            "{",
            "}",
            "$(",
            "`",
            "'",
            "\"",
            "$'",
            "\\",
            "\\\n",
            "#",
            "<<EOF",
            "\nEOF\n",
            ">",
            "<",
            "<(",
            "[[",
            "]]",
            "[",
            "]",
            "((",
            "))",
            "${",
            "$x",
            "=",
            "case x in",
            "esac",
            "if",
            "then",
            "fi",
            "for",
            "do",
            "done",
            "f()",
            "*",
            "~",
            "!",
            "time",
            "xargs",
            "bash -c",
            "eval",
            "é",
            "\u{a0}",
            "\r",
            "\0",
            "-exec",
            "{}",
            "\\;",
            "env",
            "2>&1",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,6}",
    ]
}

/// Returns what bash itself tries to run of a line if every program is missing; none if it finds no way to run it.
fn run_by_bash(line: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let script = "command_not_found_handle() { printf '%s\\0' \"$1\" >&9; return 127; }\n\
                  exec 9>>\"$1\"; line=$2; set --; enable -n kill; eval \"$line\"";
    let log = folder.path().join(".log");
    std::process::Command::new("timeout")
        .args(["-s", "KILL", "2", "bash", "--norc", "--noprofile", "-c", script, "bash"])
        .args([log.as_os_str(), line.as_ref()])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("BASH_ENV", "")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    let log = std::fs::read(&log).unwrap_or_default();
    log.split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

#[test]
fn what_bash_runs_is_listed() {
    // The same lines each time: what a longer search has found stands in the tables above.
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let compared = Cell::new(0);
    let outcome = runner.run(&prop::collection::vec(hostile(), 1..12), |parts| {
        let line = parts.concat();
        if let ShellLine::Commands(commands) = parse(&line) {
            for name in run_by_bash(&line) {
                let listed = commands.iter().any(|command| command.words.first() == Some(&Word::Known(name.clone())));
                prop_assert!(listed, "bash runs {name:?} in {line:?}, which is taken for {}", shown(&line));
                compared.set(compared.get() + 1);
            }
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(compared.get() > 50, "only {} commands were compared", compared.get());
}

fn hostile() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "qa",
        "qb x",
        "qc",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "&&",
        "||",
        "(",
        ")",
        "{ ",
        ";}",
        "$(",
        "`",
        "'",
        "\"",
        "$'",
        "\\",
        "\\\n",
        "#",
        "<<EOF\n",
        "<<'EOF'\n",
        "<<-EOF\n",
        "\nEOF\n",
        "EOF",
        "\t",
        ">f ",
        "<f ",
        "<(",
        ">(",
        "[[ ",
        " ]]",
        "[ ",
        " ]",
        "${x:-",
        "${x#",
        "${x}",
        "}",
        "$x",
        "x=",
        "x+=(",
        "case x in x) ",
        ";; ",
        " esac",
        "if ",
        ";then ",
        ";fi",
        "for i in 1;do ",
        ";done",
        "f() ",
        "f",
        "*",
        "~",
        "! ",
        "time ",
        "é",
        "2>&1",
        "2>f",
        "=",
        "\\\"",
        "\\'",
        "\\ ",
        "!",
        ",",
        "..",
        "-",
        "a",
        "x",
        "$",
        "$\"",
        "<<<",
        "function g ",
        "g",
        "&>f",
        ">|f",
        "@(",
        "?(",
        "+",
        "%",
        "/",
        "\\`",
        "\\$",
        "declare ",
        "export ",
        "echo ",
        "1",
        "select i in a;do ",
        "\\\\",
        "''",
        "\"\"",
        ";;&",
        "coproc ",
        "|&",
        "{qa,qb}",
        "$1",
        "$#",
        "${#x}",
        "$$",
        "env ",
        "bash -c ",
        "xargs ",
        "timeout 1 ",
        "command ",
        "builtin ",
        "nohup ",
        "find . -exec ",
    ])
    .prop_map(str::to_owned)
}

#[test]
fn loops_within_loops_make_no_more_of_a_line_than_can_be_looked_at() {
    let within = |levels: usize, value: &str| {
        let names: Vec<_> = (0..=levels).map(|level| format!("v{level}")).collect();
        let begun = names.windows(2).fold(format!("for v0 in {value}; do "), |line, pair| {
            line + &format!("for {} in {}; do ", pair[1], format!("${}", pair[0]).repeat(20))
        });
        format!("{begun}echo \"$v{levels}\"; {}", "done; ".repeat(levels + 1))
    };
    for value in ["xxxxxxxx", "$xxxxxxx"] {
        for levels in [1, 2, 3, 4, 5, 12] {
            let ShellLine::Commands(commands) = parse(&within(levels, value)) else { continue };
            let words = commands.iter().flat_map(|command| &command.words);
            let length: usize = words
                .map(|word| match word {
                    Word::Known(text) | Word::Unknown(text) => text.len(),
                })
                .sum();
            assert!(length < 1 << 20, "{levels} levels of {value} came to {length} bytes");
        }
        assert!(matches!(parse(&within(1, value)), ShellLine::Commands(_)), "{value}");
    }
}
