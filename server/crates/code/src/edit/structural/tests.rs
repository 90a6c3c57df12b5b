use proptest::prelude::*;

use super::*;

fn rewritten(language: Language, text: &str, rules: &[(&str, &str)]) -> Result<Rewritten, StructuralError> {
    let rules: Result<Vec<_>, _> = rules.iter().map(|(pattern, new)| Rule::new(pattern, new, language)).collect();
    rewrite(&Parsed::new(language, text).unwrap(), &rules?)
}

fn text(language: Language, text: &str, pattern: &str, new: &str) -> String {
    rewritten(language, text, &[(pattern, new)]).unwrap().text
}

#[test]
fn code_is_rewritten_in_every_language() {
    use Language::*;
    let cases = [
        (Rust, "fn f() { a.unwrap(); }\n", "$A.unwrap()", "$A?", "fn f() { a?; }\n"),
        (TypeScript, "const a: A = b.c();\n", "$A.c()", "d($A)", "const a: A = d(b);\n"),
        (Tsx, "const a = <p>{b(1)}</p>;\n", "b($A)", "c($A)", "const a = <p>{c(1)}</p>;\n"),
        (JavaScript, "var a = require('b');\n", "var $A = require($B)", "import $A from $B", "import a from 'b';\n"),
        (Python, "x = dict(a=1, b=2)\n", "dict($$$A)", "make($$$A)", "x = make(a=1, b=2)\n"),
        (
            Go,
            "package p\n\nfunc f() { a := errors.New(x) }\n",
            "errors.New($A)",
            "fmt.Errorf($A)",
            "package p\n\nfunc f() { a := fmt.Errorf(x) }\n",
        ),
        (
            C,
            "void f() { p = malloc(3 * n); }\n",
            "malloc($A * $B)",
            "calloc($A, $B)",
            "void f() { p = calloc(3, n); }\n",
        ),
        (
            Java,
            "class C { void f() { a.equals(\"b\"); } }\n",
            "$A.equals($B)",
            "$B.equals($A)",
            "class C { void f() { \"b\".equals(a); } }\n",
        ),
        (Json, "{ \"a\": 1, \"b\": 2 }\n", "\"a\": $V", "\"c\": [$V]", "{ \"c\": [1], \"b\": 2 }\n"),
    ];
    for (language, old, pattern, new, wanted) in cases {
        assert_eq!(text(language, old, pattern, new), wanted, "{language:?}");
    }
}

#[test]
fn what_moves_is_indented_as_the_place_is_and_strings_stay_as_they_are() {
    let old = "impl A {\n    fn f() {\n        run(|| {\n            let s = \"one\n  two\";\n            go(s);\n        });\n    }\n}\n";
    let new = "if ready {\n    wait();\n\n    start(\n        $F,\n    );\n}";
    let wanted = "impl A {\n    fn f() {\n        if ready {\n            wait();\n\n            start(\n                || {\n                    let s = \"one\n  two\";\n                    go(s);\n                },\n            );\n        }\n    }\n}\n";
    assert_eq!(text(Language::Rust, old, "run($F);", new), wanted);
}

#[test]
fn a_python_block_keeps_its_shape_where_it_goes() {
    let old = "class A:\n    def f(self):\n        if debug:\n            a()\n            for b in c:\n                d(b)\n        e()\n";
    let wanted = "class A:\n    def f(self):\n        with log() as l:\n            if debug:\n                a()\n                for b in c:\n                    d(b)\n        e()\n";
    assert_eq!(
        text(Language::Python, old, "if debug:\n    $$$B", "with log() as l:\n    if debug:\n        $$$B\n"),
        wanted
    );
}

#[test]
fn tabs_stay_tabs() {
    let old = "package p\n\nfunc f() {\n\tif a {\n\t\tgo(func() {\n\t\t\tx()\n\t\t})\n\t}\n}\n";
    let wanted = "package p\n\nfunc f() {\n\tif a {\n\t\trun(\n\t\t\tfunc() {\n\t\t\t\tx()\n\t\t\t},\n\t\t)\n\t}\n}\n";
    let old = old.replace("go(", "call(");
    assert_eq!(text(Language::Go, &old, "call($F)", "run(\n\t$F,\n)"), wanted);
}

#[test]
fn an_empty_rewrite_deletes_with_what_belongs_to_the_code() {
    let js = |old: &str, pattern: &str| text(Language::JavaScript, old, pattern, "");
    assert_eq!(js("a();\n  log(1);\nb();\n", "log($A)"), "a();\nb();\n");
    assert_eq!(js("a();\nlog(1);\nb();\n", "log($A);"), "a();\nb();\n");
    assert_eq!(js("f(a, log(1), b);\n", "log($A)"), "f(a, b);\n");
    assert_eq!(js("f(a, log(1));\n", "log($A)"), "f(a);\n");
    assert_eq!(js("f(log(1), log(2));\n", "log($A)"), "f();\n");
    assert_eq!(js("a(); log(1);\nb();\n", "log($A);"), "a();\nb();\n");
    assert_eq!(js("[\n  a,\n  log(1),\n  b,\n];\n", "log($A)"), "[\n  a,\n  b,\n];\n");
    assert_eq!(js("a();\nlog(/* why */ 1);", "log($A)"), "a();");
    assert_eq!(text(Language::Json, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "\"b\": $V", ""), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_statement_has_one_semicolon_whoever_brought_it() {
    assert_eq!(text(Language::Rust, "fn f() { a(1); }\n", "a($X)", "b($X);"), "fn f() { b(1); }\n");
    assert_eq!(text(Language::Rust, "fn f() { a(1); }\n", "a($X);", "b($X);"), "fn f() { b(1); }\n");
    assert_eq!(text(Language::JavaScript, "a(1)\n", "a($X)", "b($X);"), "b(1);\n");
}

#[test]
fn an_empty_list_leaves_no_comma_behind() {
    assert_eq!(
        text(Language::Java, "class C { void f() { a(1); } }\n", "a($X, $$$R)", "b($X, $$$R)").as_str(),
        "class C { void f() { a(1); } }\n",
        "it does not fit"
    );
    assert_eq!(text(Language::C, "void f() { a(); }\n", "a($$$R)", "b(1, $$$R)"), "void f() { b(1); }\n");
    assert_eq!(text(Language::C, "void f() { a(); }\n", "a($$$R)", "b($$$R, 1)"), "void f() { b(1); }\n");
    assert_eq!(text(Language::Python, "a()\n", "a($$$R)", "(1, $$$R)"), "(1,)\n");
    assert_eq!(
        text(Language::Rust, "fn a() {}\n", "fn a() { $$$B }", "fn b() {\n    x();\n    $$$B\n}"),
        "fn b() {\n    x();\n}\n"
    );
}

#[test]
fn places_are_told_with_what_they_were_and_become() {
    let done = rewritten(Language::Rust, "fn f() {\n    a(1);\n    a(2);\n}\n", &[("a($X)", "b($X)")]).unwrap();
    let place = |line, before: &str, after: &str| Place { line, before: before.to_owned(), after: after.to_owned() };
    assert_eq!(done.places, [place(2, "a(1)", "b(1)"), place(3, "a(2)", "b(2)")]);
}

#[test]
fn overlapping_places_are_refused() {
    let error =
        rewritten(Language::Rust, "fn f() {\n    a(\n        a(1),\n    );\n}\n", &[("a($X)", "b($X)")]).unwrap_err();
    let StructuralError::Overlapping { candidates } = &error else { panic!("{error:?}") };
    assert_eq!(candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [2, 3]);
    let error = rewritten(Language::Rust, "fn f() { a(1); }\n", &[("a($X)", "b($X)"), ("a(1)", "c()")]).unwrap_err();
    assert!(matches!(error, StructuralError::Overlapping { .. }), "{error:?}");
}

#[test]
fn a_text_with_errors_is_left_alone_and_one_that_would_have_some_is_refused() {
    let error = rewritten(Language::Rust, "fn f() { a(1); }\nfn g( {\n", &[("a($X)", "b($X)")]).unwrap_err();
    assert_eq!(error, StructuralError::Broken { line: 2 });
    let error = rewritten(Language::Rust, "fn f() {\n    a(1);\n}\n", &[("a($X)", "b($X")]).unwrap_err();
    assert!(matches!(error, StructuralError::Breaks { line: 2, .. }), "{error:?}");
}

#[test]
fn what_would_come_to_mean_something_else_where_it_stands_is_refused() {
    use Language::*;
    let cases = [
        (JavaScript, "if (x) log(1);\nb();\n", "log($A)", ""),
        (JavaScript, "if (x) log(1);\nb();\n", "log($A);", ""),
        (Python, "if x: log(1)\nb()\n", "log($A)", ""),
        (C, "void f() { if (x) log(1); b(); }\n", "log($A);", ""),
    ];
    for (language, old, pattern, new) in cases {
        let error = rewritten(language, old, &[(pattern, new)]).unwrap_err();
        assert!(matches!(error, StructuralError::Needed { .. }), "{language:?} {old}: {error:?}");
    }
    let cases = [
        (JavaScript, "if (x) log(1);\nb();\n", "log($A);", "a($A);\nc($A);"),
        (JavaScript, "x = 2 * a.one();\n", "$A.one()", "$A + 1"),
        (JavaScript, "x = twice(1 + 2);\n", "twice($A)", "2 * $A"),
        (Rust, "fn f() { !a.one() }\n", "$A.one()", "$A || b"),
        (Rust, "fn f() { twice(a + b).c }\n", "twice($A)", "$A"),
        (Python, "x = twice(1 + 2)\n", "twice($A)", "2 * $A"),
        (Go, "package p\n\nfunc f() { x = twice(1 + 2) }\n", "twice($A)", "2 * $A"),
        (Java, "class C { int x = twice(1 + 2); }\n", "twice($A)", "2 * $A"),
        (C, "void f() { x = twice(1 + 2); }\n", "twice($A)", "2 * $A"),
    ];
    for (language, old, pattern, new) in cases {
        let error = rewritten(language, old, &[(pattern, new)]).unwrap_err();
        assert!(matches!(error, StructuralError::FallsApart { .. }), "{language:?} {old}: {error:?}");
    }
    assert_eq!(text(JavaScript, "x = 2 * twice(1 + 2);\n", "twice($A)", "(2 * ($A))"), "x = 2 * (2 * (1 + 2));\n");
    assert_eq!(text(JavaScript, "log(1);\nb();\n", "log($A);", "a($A);\nc($A);"), "a(1);\nc(1);\nb();\n");
    assert_eq!(text(JavaScript, "f(pair(1, 2));\n", "pair($A, $B)", "$A, $B"), "f(1, 2);\n");
    assert_eq!(
        text(Rust, "fn f() { log(a.b()); }\n", "log($A)", "println!(\"{}\", $A)"),
        "fn f() { println!(\"{}\", a.b()); }\n"
    );
}

#[test]
fn a_comment_is_never_lost_unseen() {
    let done =
        rewritten(Language::Rust, "fn f() {\n    a(1 /* why */);\n    a(2);\n}\n", &[("a($X)", "b($X)")]).unwrap();
    assert_eq!(done.text, "fn f() {\n    a(1 /* why */);\n    b(2);\n}\n");
    assert_eq!(done.commented.iter().map(|c| c.line).collect::<Vec<_>>(), [2]);
    let kept = text(Language::Rust, "fn f() {\n    // why\n    a();\n}\n", "fn f() { $$$B }", "fn g() {\n    $$$B\n}");
    assert_eq!(kept, "fn g() {\n    // why\n    a();\n}\n", "what a metavariable takes is kept");
}

#[test]
fn a_rewrite_uses_only_what_the_pattern_has() {
    for new in ["b($Y)", "b($_)", "b($$$X)"] {
        let error = rewritten(Language::Rust, "", &[("a($X, $_)", new)]).unwrap_err();
        assert!(matches!(error, StructuralError::UnknownVariable { .. }), "{new}: {error:?}");
    }
    assert_eq!(text(Language::JavaScript, "a(1);\n", "a($X)", "$(`${$X}$$`)"), "$(`${1}$$`);\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Arguments come out as they went in, whatever they are and however they are laid out.
    #[test]
    fn what_is_taken_is_put_back_whole(
        calls in prop::collection::vec(("[x-z]{1,3}|[0-9]{1,3}|\"[a-z $]{0,4}\"|\\[1, 2\\]|g\\(h\\)", "( |\n|\n    ){0,1}", "[ ]{0,8}"), 1..6)
    ) {
        let file = |name: &str| {
            let lines = calls.iter().map(|(argument, space, indent)| format!("{indent}{name}({space}{argument}, 1);\n"));
            format!("fn f() {{\n{}}}\n", lines.collect::<String>())
        };
        let done = text(Language::Rust, &file("old_name"), "old_name($$$A)", "new_name($$$A)");
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(plain(&done), plain(&file("new_name")));
    }

    #[test]
    fn any_request_is_answered(source in "[ab(){};,$A\" \n]{0,40}", pattern in "[ab(){};,$A\" ]{0,12}", new in "[ab(){};,$A\" \n]{0,12}") {
        for language in [Language::Rust, Language::JavaScript, Language::Python, Language::C] {
            match rewritten(language, &source, &[(&pattern, &new)]) {
                Ok(done) => prop_assert!(Parsed::new(language, done.text).unwrap().errors().is_empty()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
