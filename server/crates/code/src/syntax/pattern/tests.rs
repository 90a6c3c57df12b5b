use super::*;

/// The text of each place that fits.
fn found(language: Language, pattern: &str, text: &str) -> Vec<String> {
    let parsed = Parsed::new(language, text).unwrap();
    assert_eq!(parsed.errors(), Vec::<usize>::new(), "the test's own text");
    let pattern = Pattern::new(pattern, language).unwrap();
    pattern.find(&parsed).into_iter().map(|found| parsed.slice(found.range).to_owned()).collect()
}

fn refused(language: Language, pattern: &str) -> PatternError {
    Pattern::new(pattern, language).err().unwrap()
}

#[test]
fn a_call_is_found_in_every_language_whatever_its_arguments_and_its_layout() {
    use Language::*;
    let cases = [
        (Rust, "fn f() { let a = foo(1, b(2));\n foo( 1,\n 3 ); bar(1, 2); }", "foo(1, $A)"),
        (TypeScript, "const a: number = foo(1, b(2));\nfoo( 1,\n 3 ); bar(1, 2);", "foo(1, $A)"),
        (Tsx, "const a = <p>{foo(1, b(2))}</p>;\nfoo( 1,\n 3 ); bar(1, 2);", "foo(1, $A)"),
        (JavaScript, "const a = foo(1, b(2));\nfoo( 1,\n 3 ); bar(1, 2);", "foo(1, $A)"),
        (Python, "a = foo(1, b(2))\nfoo( 1,\n 3 )\nbar(1, 2)\n", "foo(1, $A)"),
        (Go, "package p\nfunc f() { a := foo(1, b(2))\n foo( 1,\n 3 )\n bar(1, 2); _ = a }\n", "foo(1, $A)"),
        (C, "void f() { int a = foo(1, b(2));\n foo( 1,\n 3 ); bar(1, 2); }\n", "foo(1, $A)"),
        (Cpp, "void f() { auto a = foo(1, b(2));\n foo( 1,\n 3 ); bar(1, 2); }\n", "foo(1, $A)"),
        (CSharp, "class C { void F() { var a = foo(1, b(2));\n foo( 1,\n 3 ); bar(1, 2); } }\n", "foo(1, $A)"),
        (Lua, "local a = foo(1, b(2))\nfoo( 1,\n 3 )\nbar(1, 2)\n", "foo(1, $A)"),
        (Java, "class C { void f() { int a = foo(1, b(2));\n foo( 1,\n 3 ); bar(1, 2); } }\n", "foo(1, $A)"),
    ];
    for (language, text, pattern) in cases {
        assert_eq!(found(language, pattern, text), ["foo(1, b(2))", "foo( 1,\n 3 )"], "{language:?}");
    }
    assert_eq!(found(Json, "[1, $A]", "{\"a\": [1, {\"b\": 2}], \"c\": [2, 1]}"), ["[1, {\"b\": 2}]"]);
    assert_eq!(found(Json, "\"b\": $V", "{\"a\": [1, {\"b\": 2}], \"c\": 1}"), ["\"b\": 2"]);
    for language in [Bash, Php, Ruby, Html, Css] {
        assert_eq!(refused(language, "echo $A"), PatternError::NoPatterns(language.name()));
    }
}

#[test]
fn definitions_are_found_in_every_language() {
    use Language::*;
    let cases = [
        (
            Rust,
            "fn $F($$$P) -> $R { $$$B }",
            "impl A { fn a(&self, b: u8) -> u8 { 1; 2 }\n fn c() {} }",
            "fn a(&self, b: u8) -> u8 { 1; 2 }",
        ),
        (Rust, "struct $N { $F: u8 }", "struct A { a: u8, }\nstruct B { b: u16 }", "struct A { a: u8, }"),
        (
            TypeScript,
            "interface $I { $$$B }",
            "interface A { a: string; b(): void }",
            "interface A { a: string; b(): void }",
        ),
        (
            TypeScript,
            "$M($$$P): string { $$$B }",
            "class A { m(a: B): string { return ''; } }",
            "m(a: B): string { return ''; }",
        ),
        (
            Tsx,
            "<$T className=\"x\">$$$B</$T>",
            "const a = <p className=\"x\"><b/>text</p>;",
            "<p className=\"x\"><b/>text</p>",
        ),
        (JavaScript, "const $A = require($B)", "const a = require('b');\nconst c = 1;", "const a = require('b')"),
        (
            Python,
            "def $F($$$P): $$$B",
            "class A:\n    def f(self, a):\n        b()\n        c()\n",
            "def f(self, a):\n        b()\n        c()",
        ),
        (
            Go,
            "func $F($$$P) error { $$$B }",
            "package p\nfunc f(a int) error { return nil }\nfunc g() {}\n",
            "func f(a int) error { return nil }",
        ),
        (
            Go,
            "if err != nil { $$$B }",
            "package p\nfunc f() { if err != nil { return } }\n",
            "if err != nil { return }",
        ),
        (
            C,
            "for ($I; $C; $S) { $$$B }",
            "void f() { for (i = 0; i < 1; i++) { g(); } }\n",
            "for (i = 0; i < 1; i++) { g(); }",
        ),
        (
            Java,
            "public $T $M(int $P) { $$$B }",
            "class C { public int m(int a) { return 1; } }\n",
            "public int m(int a) { return 1; }",
        ),
    ];
    for (language, pattern, text, wanted) in cases {
        assert_eq!(found(language, pattern, text), [wanted], "{language:?} {pattern}");
    }
}

#[test]
fn equal_names_stand_for_equal_code_and_unnamed_ones_for_any() {
    let text = "a(x.y, x.y);\na(x.y, x . /* c */ y);\na(x.y, z);\na(x, x, x);\n";
    assert_eq!(found(Language::JavaScript, "a($A, $A)", text), ["a(x.y, x.y)", "a(x.y, x . /* c */ y)"]);
    assert_eq!(found(Language::JavaScript, "a($_, $_)", text).len(), 3);
    assert_eq!(found(Language::JavaScript, "a($A, $$$)", text).len(), 4);
    let text = "f([1, 2], [1, 2]);\nf([1, 2], [1]);\nf([], []);\n";
    assert_eq!(found(Language::JavaScript, "f([$$$A], [$$$A])", text), ["f([1, 2], [1, 2])", "f([], [])"]);
}

#[test]
fn what_the_pattern_does_not_say_must_not_be_there() {
    use Language::*;
    assert_eq!(found(JavaScript, "function $F() { $$$B }", "async function f() { g(); }"), [""; 0]);
    assert_eq!(found(JavaScript, "async function $F() { $$$B }", "async function f() { g(); }").len(), 1);
    assert_eq!(found(JavaScript, "if ($A) { $$$B }", "if (a) { b(); } else { c(); }"), [""; 0]);
    assert_eq!(found(JavaScript, "class $C { $$$B }", "class A extends B { c() {} }"), [""; 0]);
    assert_eq!(found(Rust, "fn $F() { $$$B }", "pub fn f() { g(); }"), [""; 0]);
    assert_eq!(found(Rust, "foo($A)", "fn f() { foo(a, b); foo(); foo(a,); }"), ["foo(a,)"]);
    assert_eq!(found(Python, "def $F(): $$$B", "async def f():\n    g()\n"), [""; 0]);
    assert_eq!(found(Java, "int $X = 1;", "class C { void f() { final int x = 1; int y = 1; } }"), ["int y = 1;"]);
}

#[test]
fn a_semicolon_that_the_pattern_leaves_out_is_left_where_it_is() {
    let parsed = Parsed::new(Language::JavaScript, "const a = f(1);\nconst b = f(2)\n").unwrap();
    let places = |pattern: &str| -> Vec<String> {
        let pattern = Pattern::new(pattern, Language::JavaScript).unwrap();
        pattern.find(&parsed).into_iter().map(|found| parsed.slice(found.range).to_owned()).collect()
    };
    assert_eq!(places("const $A = f($B)"), ["const a = f(1)", "const b = f(2)"]);
    assert_eq!(found(Language::C, "int $X = a($$$)", "void f() { int b = a(); }"), ["int b = a()"]);
    assert_eq!(found(Language::Java, "int $X = 1", "class C { void f() { int b = 1; } }"), ["int b = 1"]);
    assert_eq!(places("const $A = f($B);"), ["const a = f(1);"], "what the pattern says must be there");
}

#[test]
fn comments_in_a_match_are_noticed() {
    let parsed = Parsed::new(Language::Rust, "fn f() { foo(/* why */ 1); foo(2); }").unwrap();
    let found = Pattern::new("foo($A)", Language::Rust).unwrap().find(&parsed);
    assert_eq!(found.iter().map(|found| found.has_comments).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_pattern_that_cannot_be_meant_says_what_to_do() {
    use Language::*;
    assert_eq!(refused(Rust, "  "), PatternError::Empty);
    for pattern in ["$A", "$A;", "$$$A", "$_"] {
        assert!(matches!(refused(Rust, pattern), PatternError::Everything(_)), "{pattern}");
    }
    assert!(matches!(refused(Rust, "foo($A"), PatternError::NotCode { .. }));
    assert!(
        matches!(refused(Rust, "foo(); bar();"), PatternError::Several { .. }),
        "{:?}",
        refused(Rust, "foo(); bar();")
    );
    assert!(matches!(refused(Rust, "#[test]\nfn f() {}"), PatternError::Several { .. }));
    assert!(matches!(refused(Python, "if $A"), PatternError::NotCode { .. }));
    assert!(matches!(refused(Rust, "get$NAME()"), PatternError::PartOfToken(_) | PatternError::NotCode { .. }));
    assert!(matches!(refused(Rust, "foo(\"hello $NAME\")"), PatternError::PartOfToken(_)));
    assert!(matches!(refused(Rust, "foo(/* why */ $A)"), PatternError::Comment(_)));
    assert_eq!(refused(Rust, "foo(\u{10000}A)"), PatternError::Mark);
    assert_eq!(refused(Rust, &"(".repeat(20_000)), PatternError::TooLarge);
    assert_eq!(refused(Rust, &format!("{}1{}", "(".repeat(200), ")".repeat(200))), PatternError::TooLarge);
}

#[test]
fn a_file_that_nests_without_end_is_searched_all_the_same() {
    // Deep enough that a search that calls itself would leave the stack, and read in a tenth of the time that is
    // allowed.
    let deep = format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let text = format!("fn f() {{ same({deep}, {deep}); same({deep}, 1); }}");
    let parsed = Parsed::new(Language::Rust, text).unwrap();
    let pattern = Pattern::new("same($A, $A)", Language::Rust).unwrap();
    assert_eq!(pattern.find(&parsed).len(), 1);
}

#[test]
fn dollars_that_are_no_metavariables_are_code() {
    assert_eq!(found(Language::JavaScript, "$(a).on($E)", "$(a).on(b); jQuery(a).on(b);"), ["$(a).on(b)"]);
    assert_eq!(found(Language::JavaScript, "f(`${$A}`)", "f(`${x}`);"), ["f(`${x}`)"]);
    assert_eq!(metavariable("$NAME)"), Some((1, "NAME")));
    assert_eq!(metavariable("$$$"), Some((3, "")));
    assert_eq!((metavariable("$Name"), metavariable("$$A"), metavariable("$1")), (None, None, None));
}
