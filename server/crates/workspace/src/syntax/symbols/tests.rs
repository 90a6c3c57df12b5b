use super::*;

fn names(language: Language, text: &str) -> Vec<String> {
    let parsed = Parsed::new(language, text).unwrap();
    assert_eq!(parsed.errors(), Vec::<usize>::new(), "the test's own text");
    let outline = Outline::new(&parsed);
    outline.symbols.iter().map(|symbol| outline.name(symbol)).collect()
}

/// The code of the symbol, and that of its comments and attributes.
fn code(language: Language, text: &str, path: &str) -> (String, Vec<String>) {
    let parsed = Parsed::new(language, text).unwrap();
    let outline = Outline::new(&parsed);
    let Lookup::One(symbol) = outline.find(path) else { panic!("{path}: {:?}", outline.find(path)) };
    let lead = symbol.lead.iter().map(|lead| parsed.slice(lead.range.clone()).to_owned());
    (parsed.slice(symbol.range.clone()).to_owned(), lead.collect())
}

const RUST: &str = "\
//! The file.

/// A thing.
#[derive(Debug)]
pub struct A<T>(T);

impl<T> A<T> {
    const Z: u8 = 1;
    // Makes one.
    fn new() -> Self { todo!() }
}

impl<T> fmt::Display for A<T> {
    fn fmt(&self) {}
}

impl Debug for A<u8> {
    fn fmt(&self) {}
}

#[cfg(unix)]
fn twin() {}

#[cfg(windows)]
fn twin() {}

mod tests { mod deep { fn new() {} } }
";

#[test]
fn symbols_are_named_in_every_language() {
    use Language::*;
    let rust = [
        "A",
        "impl A<T>",
        "impl A<T>/Z",
        "impl A<T>/new",
        "impl fmt::Display for A<T>",
        "impl fmt::Display for A<T>/fmt",
        "impl Debug for A<u8>",
        "impl Debug for A<u8>/fmt",
        "twin",
        "twin",
        "tests",
        "tests/deep",
        "tests/deep/new",
    ];
    assert_eq!(names(Rust, RUST), rust);
    let script = "export class A { x = 1; m() { const inner = 1; } }\nexport const f = () => 1, g = 2;\nfunction h() { function i() {} }\nconst o = { m() {} };\ntest('a', () => { const no = 1; const yes = () => 1; });\n";
    let wanted = ["A", "A/x", "A/m", "f", "g", "h", "h/i", "o", "o/m", "yes"];
    for language in [TypeScript, Tsx, JavaScript] {
        assert_eq!(names(language, script), wanted, "{language:?}");
    }
    let typed = "interface I { q(): void }\ntype T = string;\nenum E { A }\nnamespace N { export const z = 1; }\nabstract class Q { abstract k(): void }\ndeclare function h(): void;\n";
    assert_eq!(names(TypeScript, typed), ["I", "I/q", "T", "E", "N", "N/z", "Q", "Q/k", "h"]);
    let python =
        "X = 1\nclass A:\n    y: int = 2\n    @dec\n    async def f(self):\n        z = 1\n        def g(): pass\n";
    assert_eq!(names(Python, python), ["X", "A", "A/y", "A/f", "A/f/g"]);
    let go = "package p\ntype T struct {}\ntype (\n\tU int\n)\nconst (\n\tA = iota\n\tB\n)\nvar x, y = 1, 2\nfunc (t *T) m() { var no = 1; _ = no }\nfunc (t T) n() {}\nfunc f() {}\n";
    assert_eq!(names(Go, go), ["T", "U", "A", "B", "x", "y", "T/m", "T/n", "f"]);
    let c = "#define MAX 1\nstatic int *f(int a) { int no = 1; return 0; }\nstruct A { int x; };\ntypedef struct B { int y; } B;\nenum E { X };\nint g(void);\nint n = 1, *m;\n";
    assert_eq!(names(C, c), ["MAX", "f", "A", "B", "E", "g", "n", "m"]);
    let java = "class A { int x = 1, y; void m() { int no = 1; } A() {} enum E { X; void r() {} } interface I { int Z = 1; void s(); } }\n";
    assert_eq!(names(Java, java), ["A", "A/x", "A/y", "A/m", "A/A", "A/E", "A/E/r", "A/I", "A/I/Z", "A/I/s"]);
    assert_eq!(names(Json, "{ \"a\": { \"b\": [1, { \"c\": 2 }] } }"), ["a", "a/b", "a/b/c"]);
    assert_eq!(names(Bash, "A=1\nf() { B=2; }\nfunction g { echo; }\n"), ["A", "f", "g"]);
}

#[test]
fn a_symbol_is_found_by_any_end_of_its_path() {
    let one = |path| code(Language::Rust, RUST, path).0;
    assert_eq!(one("A"), "pub struct A<T>(T);");
    assert_eq!(one("A/Z"), "const Z: u8 = 1;");
    assert_eq!(one("deep/new"), "fn new() {}");
    assert_eq!(one("/tests/deep/new"), "fn new() {}");
    assert_eq!(one("A::new"), "fn new() -> Self { todo!() }");
    assert_eq!(one("impl Display for A/fmt"), "fn fmt(&self) {}");
    assert!(one("impl A").starts_with("impl<T> A<T> {"));
    let go = "package p\nfunc (t *T[K]) M() {}\nfunc (u U) M() {}\n";
    assert_eq!(code(Language::Go, go, "T.M").0, "func (t *T[K]) M() {}");
    assert_eq!(code(Language::Json, "{ \"a.b\": 1, \"a\": 2 }", "a.b").0, "\"a.b\": 1");
    let json = "{ \"types\": { \"@a/b\": 1, \"b\": 2 } }";
    for path in ["@a/b", "types/@a/b", "/types/@a/b"] {
        assert_eq!(code(Language::Json, json, path).0, "\"@a/b\": 1");
    }
    assert_eq!(code(Language::Json, json, "types/b").0, "\"b\": 2");
}

#[test]
fn what_may_mean_several_is_told_and_can_be_counted_out() {
    let parsed = Parsed::new(Language::Rust, RUST).unwrap();
    let outline = Outline::new(&parsed);
    let lines = |path: &str| match outline.find(path) {
        Lookup::Several(several) => several.iter().map(|symbol| symbol.line).collect(),
        Lookup::One(symbol) => vec![symbol.line],
        Lookup::None(_) => Vec::new(),
    };
    assert_eq!(lines("twin"), [22, 25]);
    assert_eq!(lines("twin[2]"), [25]);
    assert_eq!(lines("twin[3]"), [22, 25]);
    assert_eq!(lines("A/fmt"), [14, 18]);
    assert_eq!(lines("new"), [10, 27]);
    assert_eq!(lines("A[1]"), [5]);
}

#[test]
fn what_is_not_there_is_answered_with_what_is_most_like_it() {
    let parsed = Parsed::new(Language::Rust, RUST).unwrap();
    let outline = Outline::new(&parsed);
    let Lookup::None(near) = outline.find("A/neww") else { panic!() };
    assert_eq!(near, ["impl A<T>/new", "tests/deep/new"]);
    let Lookup::None(near) = outline.find("something_else") else { panic!() };
    assert_eq!(near.len(), NEAREST);
}

#[test]
fn comments_and_attributes_directly_before_a_symbol_belong_to_it() {
    let lead = |language, text, path| code(language, text, path).1;
    assert_eq!(lead(Language::Rust, RUST, "A"), ["/// A thing.", "#[derive(Debug)]"]);
    assert_eq!(lead(Language::Rust, RUST, "A/new"), ["// Makes one."]);
    assert_eq!(lead(Language::Rust, "//! The file.\nfn f() {}\n", "f"), [""; 0]);
    assert_eq!(lead(Language::Rust, "// Apart.\n\nfn f() {} // Behind.\nfn g() {}\n", "f"), [""; 0]);
    assert_eq!(lead(Language::Rust, "fn f() {} // Behind.\nfn g() {}\n", "g"), [""; 0]);
    let python = "class A:\n    # Why.\n    @dec\n    # How.\n    def f(self): pass\n";
    assert_eq!(
        code(Language::Python, python, "f"),
        ("def f(self): pass".to_owned(), vec!["# Why.".to_owned(), "@dec".to_owned(), "# How.".to_owned()])
    );
    let java = "class A {\n  /** doc */\n  @Override public void m() {}\n}\n";
    assert_eq!(
        code(Language::Java, java, "m"),
        ("public void m() {}".to_owned(), vec!["/** doc */".to_owned(), "@Override".to_owned()])
    );
    let script = "/** doc */\n@dec()\nexport class A {\n  @inj() m() {}\n}\n";
    assert_eq!(lead(Language::TypeScript, script, "A"), ["/** doc */", "@dec()"]);
    assert_eq!(lead(Language::TypeScript, script, "m"), ["@inj()"]);
    assert_eq!(code(Language::TypeScript, "export const f = () => 1;\n", "f").0, "export const f = () => 1;");
    assert_eq!(code(Language::C, "struct A { int x; };\n", "A").0, "struct A { int x; };");
    assert_eq!(lead(Language::Bash, "#!/bin/bash\n# doc\nf() { echo; }\n", "f"), ["# doc"]);
}

#[test]
fn our_own_sources_have_the_symbols_that_a_search_for_words_finds() {
    let source = include_str!("../symbols.rs");
    let parsed = Parsed::new(Language::Rust, source).unwrap();
    let outline = Outline::new(&parsed);
    let functions = source.lines().filter(|line| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line.starts_with("fn ")
    });
    let is_function = |symbol: &&Symbol| {
        let code = parsed.slice(symbol.range.clone());
        code.trim_start_matches("pub ").starts_with("fn ")
    };
    assert_eq!(outline.symbols.iter().filter(is_function).count(), functions.count());
    assert!(matches!(outline.find("Outline/find"), Lookup::One(_)));
}

#[test]
fn a_file_that_nests_without_end_has_its_symbols_all_the_same() {
    let parsed = Parsed::new(Language::Rust, format!("{}{}", "mod a{".repeat(20_000), "}".repeat(20_000))).unwrap();
    let outline = Outline::new(&parsed);
    assert_eq!(outline.symbols.len(), MAX_DEPTH / 2);
    assert!(matches!(outline.find("/a/a/a"), Lookup::One(_)));
    assert!(matches!(outline.find("b"), Lookup::None(_)));
}
