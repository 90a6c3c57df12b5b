use proptest::prelude::*;

use super::*;

/// A document with `‸` at the cursor, an answer, and the text that is shown with what it replaces, or the rule that
/// leaves nothing.
type Row<'a> = (&'a str, &'a str, &'a str, Result<(&'a str, &'a str), Rule>);

fn cursor<'a>(path: &'a str, text: &'a str, offset: usize) -> Cursor<'a> {
    let indent = Indent::of(text).unwrap_or(Indent::Spaces(4));
    Cursor { path: Path::new(path), text, offset, indent, multi_line: true }
}

fn parts(document: &str) -> (String, usize) {
    (document.replacen('‸', "", 1), document.find('‸').unwrap())
}

fn check(rule: Rule, rows: &[Row<'_>]) {
    for (path, document, answer, wanted) in rows {
        let (text, offset) = parts(document);
        let tidied = Tidier::new(&cursor(path, &text, offset)).tidy(answer, rule == Rule::CutOff);
        let shown = tidied.as_ref().map(|tidied| (tidied.text.as_str(), &text[tidied.replace.clone()]));
        assert_eq!(shown.map_err(|rule| *rule), *wanted, "{document:?} {answer:?}");
        if let Ok(tidied) = &tidied {
            assert_eq!(tidied.changed_by.contains(&rule), *answer != tidied.text, "{document:?} {tidied:?}");
        }
    }
}

#[test]
fn thoughts_are_taken_off_with_or_without_their_begin_and_end() {
    check(
        Rule::Thoughts,
        &[
            ("a.rs", "let x = ‸\n", "<think>\nHm.\n</think>\n\n5;", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "Hm.\n</think>\n5;", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "[THINK]Hm.[/THINK]5;", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "<think>\nHm, and so on", Err(Rule::Thoughts)),
            ("a.html", "<p>\n</think>\n‸\n", "a</think>", Ok(("a</think>", ""))),
        ],
    );
}

#[test]
fn a_code_fence_is_taken_off_but_not_where_fences_are_text() {
    check(
        Rule::Fence,
        &[
            ("a.rs", "let x = ‸\n", "```rust\n5;\n```", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "Here is the code:\n\n```rust\n5;\n```\nIt is five.", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "```\n5;", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "5;\n```\n\nThat is all.", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "```\n```", Err(Rule::Fence)),
            ("a.md", "Like this:\n\n‸\n", "```rust\n5;\n```", Ok(("```rust\n5;\n```", ""))),
            ("a.rs", "/// ‸\nfn f() {}\n", "```\n/// f();\n/// ```", Ok(("```\n/// f();\n/// ```", ""))),
        ],
    );
}

#[test]
fn tokens_that_control_models_end_an_answer_whatever_the_family() {
    for token in [
        "<|fim_middle|>",
        "<|endoftext|>",
        "<|file_sep|>",
        "<fim_prefix>",
        "<file_sep>",
        "<EOT>",
        " <MID>",
        "<｜fim▁hole｜>",
        "[SUFFIX]",
        "<[fim-suffix]>",
        "<|code_middle|>",
        "<|file_separator|>",
    ] {
        let text = "let x = \n";
        let tidied = Tidier::new(&cursor("a.rs", text, 8)).tidy(&format!("{token}5;{token}let y"), false).unwrap();
        assert_eq!((tidied.text.as_str(), tidied.changed_by), ("5;", vec![Rule::AnswerTokens]), "{token}");
        assert_eq!(Tidier::new(&cursor("a.rs", text, 8)).tidy(token, false), Err(Rule::AnswerTokens), "{token}");
    }
    check(
        Rule::AnswerTokens,
        &[
            ("a.rs", "let x = ‸\n", "5;<|fim_mid", Ok(("5;", ""))),
            ("a.rs", "let x = ‸\n", "a <| b", Ok(("a <| b", ""))),
            ("a.html", "<p>‸</p>\n", "<s>a</s> b", Ok(("<s>a</s> b", ""))),
            ("a.rs", "// <EOT>\nlet x = ‸\n", "\"<EOT>\";", Ok(("\"<EOT>\";", ""))),
        ],
    );
}

#[test]
fn the_text_before_the_cursor_is_not_said_again() {
    check(
        Rule::RepeatsBefore,
        &[
            ("a.rs", "fn f() {\n    let x = ‸\n}\n", "let x = 5;", Ok(("5;", ""))),
            ("a.rs", "fn f() {\n    let x = ‸\n}\n", "    let x = 5;", Ok(("5;", ""))),
            ("a.rs", "fn f() {\n    let number‸\n}\n", "numbers = 5;", Ok(("s = 5;", ""))),
            ("a.rs", "fn f(x: u8) {\n    ‸\n}\n", "fn f(x: u8) {", Err(Rule::RepeatsBefore)),
            ("a.rs", "fn first(x: u8) {\n    ‸\n}\n", "fn first(x: u8) {\n    x += 1;", Ok(("x += 1;", ""))),
            ("a.rs", "fn f() {\n    Some(‸\n}\n", "Some(1))", Ok(("Some(1))", ""))),
            ("a.rs", "const A: [u8; 9] = [0, 0, 0, ‸\n", "0, 0, 0, 0, 0, 0];", Ok(("0, 0, 0, 0, 0, 0];", ""))),
            ("a.rs", "fn f() {\n    let x = ‸\n}\n", "let x = ", Err(Rule::RepeatsBefore)),
        ],
    );
}

#[test]
fn the_text_after_the_cursor_is_not_said_again() {
    check(
        Rule::RepeatsAfter,
        &[
            // The rest of the line.
            ("a.rs", "fn f() {\n    assert!(‸, \"not equal\");\n}\n", "a == b, \"not equal\");", Ok(("a == b", ""))),
            ("a.rs", "fn f() {\n    assert!(‸, b);\n}\n", "foo(a, b)", Ok(("foo(a, b)", ""))),
            ("a.jsx", "const a = <App ‸/>;\n", "b={c} />;", Ok(("b={c} ", ""))),
            ("a.rs", "fn f() {\n    let x = ‸;\n}\n", "5;", Ok(("5", ""))),
            // The lines below.
            ("a.js", "function f(obj) {\n  ‸\n  console.log(obj);\n}\n", "console.log(obj);", Err(Rule::RepeatsAfter)),
            ("a.js", "f(() => {\n  ‸\n  console.log(obj);\n});\n", "g();\n  console.log(obj);\n});", Ok(("g();", ""))),
            (
                "a.js",
                "f(() => {\n  ‸\n  console.log(obj);\n});\n",
                "g();\n  console.lo",
                Ok(("g();\n  console.lo", "")),
            ),
            (
                "a.py",
                "def f():\n    ‸\n    return 'a long text', 1\n",
                "g()\n    return \"a long text\", 1",
                Ok(("g()", "")),
            ),
            // The end of a block.
            ("a.lua", "local function f()\n  ‸\nend\n", "return 1\nend", Ok(("return 1", ""))),
            ("a.js", "function f() {‸\n}\n", "\n  g();\n};", Ok(("\n  g();", ""))),
            ("a.lua", "local function f()\n  if x then\n    ‸\nend\n", "return 1\n  end", Ok(("return 1\n  end", ""))),
            // A line that is only alike.
            (
                "a.js",
                "it(\"case 1\", f);\n‸\nit(\"case 3\", f);\n",
                "it(\"case 2\", f);",
                Ok(("it(\"case 2\", f);", "")),
            ),
        ],
    );
}

#[test]
fn an_answer_is_indented_as_the_document_is() {
    check(
        Rule::Indentation,
        &[
            ("a.rs", "fn f() {\n    ‸\n}\n", "if x {\n\t\ty();\n\t}", Ok(("if x {\n        y();\n    }", ""))),
            ("a.go", "func f() {\n\tg()\n\t‸\n}\n", "if x {\n        y()\n    }", Ok(("if x {\n\t\ty()\n\t}", ""))),
            ("a.go", "func f() {\n\tg()\n\t‸\n}\n", "if x {\n    y()\n  }", Ok(("if x {\n\t\ty()\n\t}", ""))),
            (
                "a.rs",
                "fn f() {\n    g();\n    ‸\n}\n",
                "if x {\n    y();\n  }",
                Ok(("if x {\n        y();\n    }", "")),
            ),
            ("a.rs", "fn f() {\n    g();\n    ‸\n}\n", "    h();", Ok(("h();", ""))),
            ("a.rs", "fn f() {\n    g();\n    ‸\n}\n", "\n    h();", Ok(("h();", ""))),
            ("a.rs", "fn f() {\n    g()\n    ‸\n}\n", "    .h();", Ok(("    .h();", ""))),
            ("a.rs", "fn f() {\n    return ‸\n}\n", " x;", Ok(("x;", ""))),
            ("a.json", "{\n  ‸\n}\n", " \"a\": 1", Ok(("\"a\": 1", ""))),
            ("a.py", "x = 1 ‸\n", " # one", Ok((" # one", ""))),
            ("a.rs", "const A: &str = \"\n    a‸\n\";\n", "\n\tb", Ok(("\n\tb", ""))),
        ],
    );
}

#[test]
fn lines_end_as_the_documents_do() {
    let text = "fn f() {\r\n    \r\n}\r\n";
    let tidied = Tidier::new(&cursor("a.rs", text, 14)).tidy("a();\n    b();\r\n", false).unwrap();
    assert_eq!((tidied.text.as_str(), tidied.replace), ("a();\r\n    b();", 14..14));
    let tidied = Tidier::new(&cursor("a.rs", "fn f() {\n    \n}\n", 13)).tidy("a();\r\n    b();\r\n", false).unwrap();
    assert_eq!(tidied.text, "a();\n    b();");
}

#[test]
fn a_repetition_ends_an_answer() {
    check(
        Rule::Repetition,
        &[
            ("a.rs", "fn f() {\n    ‸\n}\n", "foobar();\n    foobar();\n    foobar();\n    foo", Ok(("foobar();", ""))),
            (
                "a.rs",
                "fn f() {\n    ‸\n}\n",
                "a1();\n    let b = 2;\n    let ccc = 3;\n    let b = 2;\n    let ccc = 3;\n    let b = 2;\n    let ccc = 3;",
                Ok(("a1();\n    let b = 2;\n    let ccc = 3;", "")),
            ),
            ("a.rs", "fn f() {\n    let x = ‸\n}\n", "a + a + a + a + a + a + a + a + a + a", Err(Rule::Repetition)),
            ("a.yaml", "db:\n  ‸\n", "name: mydb\n  name: mydb", Ok(("name: mydb", ""))),
            ("a.rs", "fn f() {\n    ‸\n}\n", "tick();\n    tick();", Ok(("tick();\n    tick();", ""))),
            (
                "a.rs",
                "const A: [u8; 12] = [‸\n",
                "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];",
                Ok(("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];", "")),
            ),
        ],
    );
}

#[test]
fn an_answer_ends_with_the_statement_or_the_block_that_the_cursor_is_in() {
    check(
        Rule::Block,
        &[
            (
                "a.ts",
                "class A {\n  get‸\n}\n",
                " a() {\n    return 1;\n  }\n\n  b() {\n  }",
                Ok((" a() {\n    return 1;\n  }", "")),
            ),
            ("a.ts", "f(() => {\n  a =‸\n});\n", " b;\n  return a;", Ok((" b;", ""))),
            ("a.ts", "f(() => {\n  ‸\n});\n", "a = b;\n  return a;", Ok(("a = b;\n  return a;", ""))),
            ("a.ts", "f(() => {\n  // get‸\n});\n", " it\n  if (a) {\n  }", Ok((" it", ""))),
            ("a.py", "def f():\n    ‸\n", "return 1\n\ndef g():\n    return 2", Ok(("return 1", ""))),
            ("a.py", "if a:\n    ‸\n", "b()\nelse:\n    c()\nd()", Ok(("b()\nelse:\n    c()", ""))),
            (
                "a.java",
                "class A {\n    void f() {\n        g();\n‸\n}\n",
                "    }\n\n    void h() {\n    }",
                Ok(("    }", "")),
            ),
            ("a.md", "## ‸\n", "Features\nHere is a list:\n- a", Ok(("Features\nHere is a list:\n- a", ""))),
        ],
    );
}

#[test]
fn a_single_line_is_shown_where_no_more_is_wanted() {
    let text = "fn f() {\n    \n}\n";
    let single = Cursor { multi_line: false, ..cursor("a.rs", text, 13) };
    assert_eq!(Tidier::new(&single).tidy("a();\n    b();", false).unwrap().text, "a();");
    // A cut answer has its first line whole.
    assert_eq!(Tidier::new(&single).tidy("a();\n    b(", true).unwrap().text, "a();");
}

#[test]
fn an_answer_closes_only_what_is_open() {
    check(
        Rule::Brackets,
        &[
            ("a.json", "{\n  \"a\": {\n    ‸\n  },\n  \"b\": [\n", "\"c\": 1\n  }\n},\n\"d\": {", Ok(("\"c\": 1", ""))),
            ("a.js", "function f() {\n  if (a) {\n    return;\n  ‸\n}\n", "}", Ok(("}", ""))),
            ("a.js", "if (a) {\n  ‸\n}\n", "b();\n} else {\n  c();", Ok(("b();\n} else {\n  c();", ""))),
        ],
    );
    // A bracket that the editor has closed automatically is replaced.
    for (path, document, answer, replaced) in [
        ("a.rs", "fn f(‸)\n", "n: u32) -> u32 {\n    n\n}", ")"),
        ("a.ts", "on('data', (data) => {‸})\n", "\n  log(data);\n});", "})"),
        ("a.ts", "function f() {\n  log(\"Obj: ‸\")\n}\n", "\", obj);", "\")"),
        ("a.ts", "function f() {\n  g(‸);\n}\n", "1);", ");"),
    ] {
        let (text, offset) = parts(document);
        let tidied = Tidier::new(&cursor(path, &text, offset)).tidy(answer, false).unwrap();
        assert_eq!((tidied.text.as_str(), &text[tidied.replace]), (answer, replaced), "{document}");
    }
}

#[test]
fn an_answer_that_breaks_the_syntax_is_shortened_or_not_shown() {
    check(
        Rule::Syntax,
        &[
            ("a.rs", "fn f() {\n    ‸\n}\n", "let = = 5;", Err(Rule::Syntax)),
            ("a.rs", "fn f() {\n    ‸\n}\n", "g();\n    let = = 5;", Ok(("g();", ""))),
            // An unfinished statement is not broken.
            ("a.rs", "fn f() {\n    ‸\n}\n", "if x {", Ok(("if x {", ""))),
            ("a.lua", "local function f()\n  ‸\nend\n", "if x then", Ok(("if x then", ""))),
            ("a.py", "def f():\n    ‸\n", "for x in y:", Ok(("for x in y:", ""))),
        ],
    );
}

#[test]
fn the_last_line_of_an_answer_that_was_cut_is_not_shown() {
    check(
        Rule::CutOff,
        &[
            ("a.rs", "fn f() {\n    ‸\n}\n", "a();\n    b(", Ok(("a();", ""))),
            ("a.rs", "fn f() {\n    ‸\n}\n", "a(", Err(Rule::CutOff)),
        ],
    );
}

#[test]
fn nothing_and_what_is_there_already_is_not_shown() {
    let text = "f(x)\n";
    assert_eq!(Tidier::new(&cursor("a.txt", text, 2)).tidy(" \n", false), Err(Rule::Empty));
    assert_eq!(Tidier::new(&cursor("a.txt", text, 2)).tidy("\0", false), Err(Rule::Garbage));
    assert_eq!(Tidier::new(&cursor("a.txt", text, 2)).tidy("x\u{fffd}", false), Err(Rule::Garbage));
    assert!(Tidier::new(&cursor("a.rs", "fn f() {\n    g()\n}\n", 15)).tidy(")", false).is_err());
}

#[test]
fn what_looks_like_a_key_is_not_shown() {
    let key = ["ghp_", "0123456789abcdefghij0123"].concat();
    let text = "TOKEN=\n";
    assert_eq!(Tidier::new(&cursor("a.sh", text, 6)).tidy(&key, false), Err(Rule::SecretAnswer));
    let typed = format!("TOKEN={}\n", &key[..8]);
    assert_eq!(Tidier::new(&cursor("a.sh", &typed, 14)).tidy(&key[8..], false), Err(Rule::SecretAnswer));
    assert!(Tidier::new(&cursor("a.sh", text, 6)).tidy("ghp_of_a_name_with_many_words", false).is_ok());
    let private = format!("-----BEGIN {} KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQE", "PRIVATE");
    assert_eq!(Tidier::new(&cursor("a.txt", "\n", 0)).tidy(&private, false), Err(Rule::SecretAnswer));
}

#[test]
fn a_stream_is_closed_once_the_line_the_block_or_the_repetition_is_certain() {
    let text = "fn f() {\n    \n    long_name(1, 2);\n    other_name(3);\n}\n";
    let multi = cursor("a.rs", text, 13);
    let single = Cursor { multi_line: false, ..multi };
    for (cursor, partial, wanted) in [
        (multi, "a();\n    b", false),
        (multi, "a();\n}\n", false),
        (multi, "a();\n}\n\nfn g() {\n", true),
        (multi, "a();\n<|endoftext|>\n", true),
        (multi, "```rust\na();\n", false),
        (multi, "```rust\na();\n```\n", true),
        (multi, "foobar();\n    foobar();\n    foobar();\n", true),
        (multi, "a();\n    long_name(1, 2);\n", false),
        (multi, "a();\n    long_name(1, 2);\n    other_name(3);\n", true),
        (single, "a();", false),
        (single, "a();\n", true),
        (single, "<think>\na\nb\n", false),
    ] {
        assert_eq!(Tidier::new(&cursor).is_enough(partial), wanted, "{partial:?}");
    }
    assert!(Tidier::new(&multi).is_enough(&"a".repeat(MAX_ANSWER + 1)));
}

#[test]
fn the_indentation_of_a_text_is_the_one_of_most_of_its_lines() {
    for (text, wanted) in [
        ("a\n", None),
        ("a {\n\tb\n}\n", Some(Indent::Tab)),
        ("a {\n  b {\n    c\n  }\n}\n", Some(Indent::Spaces(2))),
        ("a {\n    b(c,\n      d)\n    e {\n        f\n    }\n}\n", Some(Indent::Spaces(4))),
    ] {
        assert_eq!(Indent::of(text), wanted, "{text:?}");
    }
}

#[test]
fn an_answer_or_a_text_of_any_size_takes_no_time() {
    let long = "let x = foo(bar, [1, 2, 3]); ".repeat(170_000);
    let deep = "{".repeat(5 << 20);
    let lines = "    foo(bar);\n".repeat(300_000);
    for text in [&long, &deep, &lines] {
        for path in ["a.rs", "a.js", "a.py", "a.txt"] {
            let middle = cursor(path, text, text.len() / 2);
            let spent = spent::Spent::start();
            for answer in ["foo(bar);", "x\n    y\n    z\n}", &"(".repeat(16_000), &"a\n".repeat(290), &long, &lines] {
                let _ = Tidier::new(&middle).tidy(answer, false);
                let _ = Tidier::new(&middle).is_enough(answer);
            }
            // Far above what it takes, since tests run on busy machines.
            assert!(spent.elapsed().as_millis() < 3000, "{path}: {:?}", spent.elapsed());
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("fn f(x: u8) {\n    "),
        Just("}\n"),
        Just("\r\n"),
        Just("\""),
        Just("'"),
        Just("/* "),
        Just("r#\""),
        Just("`${"),
        Just("("),
        Just(")"),
        Just("]"),
        Just("\t"),
        Just("    foo(bar);\n"),
        Just("```\n"),
        Just("<think>"),
        Just("</think>"),
        Just("<|fim_middle|>"),
        Just("ä€\u{1f600}"),
        Just("x"),
        Just(" "),
        Just("end\n"),
        Just("\\"),
    ];
    prop_oneof![proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat()), "(?s).{0,80}",]
}

proptest! {
    #[test]
    fn whatever_the_text_and_the_answer_the_text_before_the_cursor_stays(
        text in texts(),
        offset in 0_usize..400,
        answer in texts(),
        is_cut: bool,
        multi_line: bool,
        tabs: bool,
        path in prop::sample::select(vec!["a.rs", "a.ts", "a.py", "a.lua", "a.sh", "a.html", "a.md", "a", "a.yaml"]),
    ) {
        let indent = if tabs { Indent::Tab } else { Indent::Spaces(offset % 9) };
        let cursor = Cursor { path: Path::new(path), text: &text, offset, indent, multi_line };
        let _ = Tidier::new(&cursor).is_enough(&answer);
        if let Ok(tidied) = Tidier::new(&cursor).tidy(&answer, is_cut) {
            let start = text.floor_char_boundary(offset);
            prop_assert_eq!(tidied.replace.start, start);
            prop_assert!(text.is_char_boundary(tidied.replace.end));
            prop_assert!(!text[tidied.replace.clone()].contains('\n'));
            prop_assert!(!tidied.text.trim().is_empty());
            let mut applied = text.clone();
            applied.replace_range(tidied.replace, &tidied.text);
            prop_assert!(applied.starts_with(&text[..start]));
            prop_assert!(multi_line || !tidied.text.trim().contains('\n'));
        }
    }
}

#[test]
fn wherever_the_part_begins_that_is_parsed_a_good_method_is_kept() {
    let methods: String = (0..200)
        .map(|n| format!("  one{n}(x?: Map<string, number>): void {{\n    if (x) {{\n      use(x);\n    }}\n  }}\n\n"))
        .collect();
    for padding in 0..90 {
        let text =
            format!("export class A implements B {{\n{methods}  // {}\n  show(): void {{\n    ", "-".repeat(padding));
        let path = Path::new("a.ts");
        let cursor = Cursor { path, text: &text, offset: text.len(), indent: Indent::Spaces(2), multi_line: true };
        let answer = "const a = this.b;\n    if (a) {\n      use(a);\n    }";
        let tidied = Tidier::new(&cursor).tidy(answer, false).map(|tidied| tidied.text);
        assert_eq!(tidied.as_deref(), Ok(answer), "{padding}");
    }
}
