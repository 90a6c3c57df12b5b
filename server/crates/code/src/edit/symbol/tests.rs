use Change::{InsertAfter, InsertBefore, Replace};
use proptest::prelude::*;

use super::*;

fn edited(language: Language, text: &str, path: &str, change: Change, new: &str) -> Result<String, SymbolError> {
    edit_symbol(&Parsed::new(language, text).unwrap(), path, change, new).map(|edited| edited.text)
}

fn rust(text: &str, path: &str, change: Change, new: &str) -> String {
    edited(Language::Rust, text, path, change, new).unwrap()
}

const RUST: &str = "\
use std::fmt;

/// A thing.
#[derive(Debug)]
pub struct A;

impl A {
    /// Makes one.
    #[must_use]
    pub fn new() -> Self {
        A
    }

    fn last(&self) {} // the end
}

const X: u8 = 1;
const Y: u8 = 2;
";

#[test]
fn a_symbol_is_replaced_in_every_language() {
    use Language::*;
    let cases = [
        (
            Rust,
            "mod m {\n    fn f() {}\n}\n",
            "m/f",
            "fn f(a: u8) {\n    a;\n}",
            "mod m {\n    fn f(a: u8) {\n        a;\n    }\n}\n",
        ),
        (
            TypeScript,
            "class A {\n\tm(): void {}\n}\n",
            "A/m",
            "m(): number {\n\treturn 1;\n}",
            "class A {\n\tm(): number {\n\t\treturn 1;\n\t}\n}\n",
        ),
        (Tsx, "export const F = () => <p/>;\n", "F", "export const F = () => <b/>;", "export const F = () => <b/>;\n"),
        (
            JavaScript,
            "const o = {\n  m() {},\n  n: 1,\n};\n",
            "o/m",
            "m() { return 1; },",
            "const o = {\n  m() { return 1; },\n  n: 1,\n};\n",
        ),
        (
            Python,
            "class A:\n    def f(self):\n        pass\n\n    x = 1\n",
            "A/f",
            "def f(self, a):\n    if a:\n        return \"\"\"b\n  c\"\"\"\n",
            "class A:\n    def f(self, a):\n        if a:\n            return \"\"\"b\n  c\"\"\"\n\n    x = 1\n",
        ),
        (
            Go,
            "package p\n\nfunc (t *T) M() {}\n\nfunc M() {}\n",
            "T/M",
            "func (t *T) M() int { return 1 }",
            "package p\n\nfunc (t *T) M() int { return 1 }\n\nfunc M() {}\n",
        ),
        (C, "struct A { int x; };\nint n;\n", "A", "struct A { int y; }", "struct A { int y; };\nint n;\n"),
        (
            Cpp,
            "template <class T>\nclass A {\n  int m();\n};\nint n;\n",
            "A",
            "template <class T>\nclass A {\n}",
            "template <class T>\nclass A {\n};\nint n;\n",
        ),
        (
            CSharp,
            "class A {\n    [Obsolete]\n    public void M() {}\n}\n",
            "A.M",
            "public int M() {\n    return 1;\n}",
            "class A {\n    [Obsolete]\n    public int M() {\n        return 1;\n    }\n}\n",
        ),
        (
            Php,
            "<?php\nclass A {\n    function m() {}\n}\n",
            "A::m",
            "function m() {\n    return <<<E\n a\nE;\n}",
            "<?php\nclass A {\n    function m() {\n        return <<<E\n a\nE;\n    }\n}\n",
        ),
        (
            Ruby,
            "class A\n  # doc\n  def m; end\nend\n",
            "A#m",
            "def m\n  1\nend",
            "class A\n  # doc\n  def m\n    1\n  end\nend\n",
        ),
        (
            Lua,
            "function M.f()\nend\nreturn M\n",
            "M.f",
            "function M.f(a)\n  return a\nend",
            "function M.f(a)\n  return a\nend\nreturn M\n",
        ),
        (
            Html,
            "<main>\n  <script>\n    function f() {}\n  </script>\n</main>\n",
            "script/f",
            "function f() {\n  return `\na`;\n}",
            "<main>\n  <script>\n    function f() {\n      return `\na`;\n    }\n  </script>\n</main>\n",
        ),
        (
            Css,
            "@media print {\n  .a { x: y }\n}\n",
            ".a",
            ".a {\n  x: z;\n}",
            "@media print {\n  .a {\n    x: z;\n  }\n}\n",
        ),
        (
            Java,
            "class A {\n  @Override public void m() {}\n}\n",
            "m",
            "public int m() { return 1; }",
            "class A {\n  @Override public int m() { return 1; }\n}\n",
        ),
        (
            Json,
            "{\n  \"a\": {\n    \"b\": 1,\n    \"c\": 2\n  }\n}\n",
            "a/b",
            "\"b\": [\n  3\n],",
            "{\n  \"a\": {\n    \"b\": [\n      3\n    ],\n    \"c\": 2\n  }\n}\n",
        ),
        (
            Bash,
            "# doc\nf() {\n  echo a\n}\ng() { :; }\n",
            "f",
            "f() {\n  echo b\n}",
            "# doc\nf() {\n  echo b\n}\ng() { :; }\n",
        ),
    ];
    for (language, text, path, new, wanted) in cases {
        assert_eq!(edited(language, text, path, Replace, new).as_deref(), Ok(wanted), "{language:?}");
    }
}

#[test]
fn comments_and_attributes_stay_unless_the_text_brings_its_own() {
    let replaced = |new: &str| rust(RUST, "A/new", Replace, new);
    let with = |lead: &str, body: &str| {
        let old = "    /// Makes one.\n    #[must_use]\n    pub fn new() -> Self {\n        A\n    }\n";
        RUST.replace(old, &format!("{lead}    fn new() {{{body}}}\n"))
    };
    assert_eq!(replaced("fn new() {}"), with("    /// Makes one.\n    #[must_use]\n", ""));
    assert_eq!(replaced("/// Other.\nfn new() {}"), with("    #[must_use]\n    /// Other.\n", ""));
    assert_eq!(replaced("#[inline]\nfn new() {}"), with("    /// Makes one.\n    #[inline]\n", ""));
    assert_eq!(replaced("    // Other.\n    #[inline]\n    fn new() {}\n"), with("    // Other.\n    #[inline]\n", ""));
    let python = "class A:\n    # Why.\n    @dec\n    def f(self): pass\n";
    let new = edited(Language::Python, python, "A/f", Replace, "@other\ndef f(self): return 1").unwrap();
    assert_eq!(new, "class A:\n    # Why.\n    @other\n    def f(self): return 1\n");
    let new = edited(Language::Python, python, "A/f", Replace, "def f(self): return 1").unwrap();
    assert_eq!(new, "class A:\n    # Why.\n    @dec\n    def f(self): return 1\n");
}

#[test]
fn what_is_put_in_stands_apart_as_its_neighbours_do() {
    let made = "pub fn other(&self) {\n    1\n}";
    let text = rust(RUST, "A/new", InsertAfter, made);
    assert!(
        text.contains(
            "        A\n    }\n\n    pub fn other(&self) {\n        1\n    }\n\n    fn last(&self) {} // the end\n}\n"
        ),
        "{text}"
    );
    let text = rust(RUST, "A/last", InsertAfter, made);
    assert!(
        text.contains("    fn last(&self) {} // the end\n\n    pub fn other(&self) {\n        1\n    }\n}\n"),
        "{text}"
    );
    let text = rust(RUST, "A/new", InsertBefore, made);
    assert!(text.contains("impl A {\n    pub fn other(&self) {\n        1\n    }\n\n    /// Makes one.\n    #[must_use]\n    pub fn new"), "{text}");
    let text = rust(RUST, "X", InsertAfter, "const Z: u8 = 3;\n");
    assert!(text.ends_with("}\n\nconst X: u8 = 1;\nconst Z: u8 = 3;\nconst Y: u8 = 2;\n"), "{text}");
    let text = rust(RUST, "X", InsertBefore, "const Z: u8 = 3;");
    assert!(text.ends_with("}\n\nconst Z: u8 = 3;\nconst X: u8 = 1;\nconst Y: u8 = 2;\n"), "{text}");
    let text = rust(RUST, "Y", InsertAfter, "fn f() {\n    1\n}\n");
    assert!(text.ends_with("const Y: u8 = 2;\n\nfn f() {\n    1\n}\n"), "{text}");
    let text = rust(RUST, "X", InsertAfter, "fn f() {\n    1\n}\n");
    assert!(text.ends_with("const X: u8 = 1;\n\nfn f() {\n    1\n}\n\nconst Y: u8 = 2;\n"), "{text}");
    assert_eq!(rust("fn a() { 1; }", "a", InsertAfter, "fn b() {\n    2;\n}"), "fn a() { 1; }\n\nfn b() {\n    2;\n}");
    assert_eq!(
        rust("mod m { fn a() {} fn b() {} }\n", "m/a", InsertAfter, "fn c() {}"),
        "mod m { fn a() {}\nfn c() {}\nfn b() {} }\n"
    );
}

#[test]
fn code_that_was_copied_from_where_it_begins_is_not_indented_twice() {
    let text = rust(RUST, "A/new", Replace, "pub fn new() -> Self {\n        A { x }\n    }");
    assert_eq!(text, RUST.replace("        A\n", "        A { x }\n"));
    let python = "class A:\n    def f(self):\n        pass\n";
    for new in
        ["def f(self):\n        return 1\n", "def f(self):\n    return 1\n", "    def f(self):\n        return 1\n"]
    {
        let text = edited(Language::Python, python, "f", Replace, new).unwrap();
        assert_eq!(text, "class A:\n    def f(self):\n        return 1\n");
    }
    let new = "def f(\n        self,\n    ):\n        self.a = {\n            1: 2,\n        }\n";
    let text = edited(Language::Python, python, "f", Replace, new).unwrap();
    assert_eq!(text, format!("class A:\n    {new}"));
}

#[test]
fn python_keeps_its_two_empty_lines_and_its_blocks() {
    let text = "import a\n\n\n@dec\ndef f():\n    pass\n\n\nclass A:\n    def g(self):\n        pass\n";
    let put = |path: &str, change: Change, new: &str| edited(Language::Python, text, path, change, new).unwrap();
    assert_eq!(
        put("f", InsertAfter, "def h():\n    pass\n"),
        text.replace("class A", "def h():\n    pass\n\n\nclass A")
    );
    assert_eq!(put("f", InsertBefore, "def h():\n    pass\n"), text.replace("@dec", "def h():\n    pass\n\n\n@dec"));
    assert_eq!(
        put("A/g", InsertAfter, "    def h(self):\n        pass\n"),
        format!("{text}\n    def h(self):\n        pass\n")
    );
}

#[test]
fn things_in_a_list_get_their_commas() {
    let json = "{\n  \"a\": 1,\n  \"b\": 2\n}\n";
    let put = |path: &str, change: Change| edited(Language::Json, json, path, change, "\"c\": 3,").unwrap();
    assert_eq!(put("a", InsertAfter), "{\n  \"a\": 1,\n  \"c\": 3,\n  \"b\": 2\n}\n");
    assert_eq!(put("b", InsertAfter), "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n");
    assert_eq!(put("a", InsertBefore), "{\n  \"c\": 3,\n  \"a\": 1,\n  \"b\": 2\n}\n");
    let script = "const o = {\n  a() {}, // why\n};\n";
    let new = edited(Language::JavaScript, script, "o/a", InsertAfter, "b() {}").unwrap();
    assert_eq!(new, "const o = {\n  a() {}, // why\n  b() {},\n};\n");
}

#[test]
fn ambiguity_is_an_error_with_paths_that_mean_one() {
    let text = "struct A;\nimpl A {\n    fn f() {}\n}\nimpl B for A {\n    fn f() {}\n}\n#[cfg(unix)]\nfn t() {}\n#[cfg(windows)]\nfn t() {}\n";
    let error = edited(Language::Rust, text, "A/f", Replace, "fn f() {}").unwrap_err().to_string();
    assert!(error.contains("`A/f` may mean 2 symbols"), "{error}");
    assert!(error.contains("  line 3: /impl A/f: fn f() {}\n  line 6: /impl B for A/f: fn f() {}\n"), "{error}");
    let error = edited(Language::Rust, text, "t", Replace, "fn t() { 1; }").unwrap_err().to_string();
    assert!(error.contains("  line 9: /t[1]: fn t() {}\n  line 11: /t[2]: fn t() {}\n"), "{error}");
    let new = rust(text, "/t[2]", Replace, "fn t() { 1; }");
    assert_eq!(new, text.replace("#[cfg(windows)]\nfn t() {}", "#[cfg(windows)]\nfn t() { 1; }"));
    assert!(rust(text, "impl B for A/f", Replace, "fn f() { 2; }").contains("impl B for A {\n    fn f() { 2; }"));
    let error = edited(Language::Rust, text, "A/ff", Replace, "fn f() {}").unwrap_err().to_string();
    assert_eq!(error, "there is no symbol `A/ff`. There are: impl A/f, impl B for A/f");
}

#[test]
fn what_would_break_the_text_is_refused_with_its_place() {
    let refused = |text: &str, path: &str, change: Change, new: &str| {
        edited(Language::Rust, text, path, change, new).unwrap_err()
    };
    let error = refused(RUST, "A/new", Replace, "fn new() {\n    if x {\n}");
    assert!(matches!(error, SymbolError::Breaks { .. }), "{error:?}");
    let error = refused("fn a() {}\nfn b() {}\n", "a", Replace, "fn a() {} } mod m {");
    assert!(matches!(error, SymbolError::Breaks { line: 1, .. }), "{error:?}");
    let error = refused("mod m {\n    fn a() {}\n    fn b() {}\n}\n", "a", Replace, "fn a() {} } mod n {");
    assert_eq!(error, SymbolError::Spills { other: "m".to_owned() });
    let error = refused("fn a() {}\nfn b() {}\n", "a", Replace, "1 + 1;");
    assert_eq!(error, SymbolError::NoDefinition { path: "a".to_owned() });
    assert_eq!(refused("fn a() {}\n", "a", Replace, " \n"), SymbolError::NoText);
    assert_eq!(refused("fn a() {}\n", "a", Replace, "fn a() {}\n"), SymbolError::SameText { path: "a".to_owned() });
}

#[test]
fn errors_elsewhere_do_not_matter_but_those_in_the_symbol_do() {
    let text = "fn a() {\n    let x = ;\n}\n\nfn b() {}\n";
    let new = rust(text, "b", Replace, "fn b() { 1; }");
    assert_eq!(new, text.replace("fn b() {}", "fn b() { 1; }"));
    let error = edited(Language::Rust, text, "a", Replace, "fn a() {}").unwrap_err();
    assert_eq!(error, SymbolError::Broken { path: "a".to_owned(), line: 2 });
}

#[test]
fn every_symbol_of_our_own_sources_can_be_replaced_by_itself_and_have_a_twin_put_beside_it() {
    for source in
        [include_str!("../symbol.rs"), include_str!("../structural.rs"), include_str!("../../syntax/pattern.rs")]
    {
        let parsed = Parsed::new(Language::Rust, source).unwrap();
        let outline = Outline::new(&parsed);
        for symbol in outline.symbols.iter().step_by(3) {
            let path = outline.distinct_name(symbol);
            let code = parsed.slice(symbol.range.clone());
            let same = edit_symbol(&parsed, &path, Replace, code);
            assert!(matches!(same, Err(SymbolError::SameText { .. })), "{path}: {same:?}");
            for change in [InsertBefore, InsertAfter] {
                let with_twin = edit_symbol(&parsed, &path, change, code).unwrap().text;
                let plain = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                let expected = plain(source).len() + plain(code).len();
                assert_eq!(plain(&with_twin).len(), expected, "{path}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the text that is put in, what stands around it stays, or nothing is changed.
    #[test]
    fn what_is_around_an_edit_stays_or_nothing_is_changed(
        new in "(fn g\\(\\) |[{}();\"/*#a1 \n]|let |mod m |\\{\\}){0,8}",
        change in prop::sample::select(vec![Replace, InsertBefore, InsertAfter]),
    ) {
        let text = "mod a {\n    fn before() {}\n\n    /// Why.\n    fn it() {\n        1;\n    }\n\n    fn after() {}\n}\n";
        match edited(Language::Rust, text, "it", change, &new) {
            Ok(done) => {
                prop_assert!(done.starts_with("mod a {\n    fn before() {}\n"), "{}", done);
                prop_assert!(done.ends_with("\n    fn after() {}\n}\n"), "{}", done);
                let parsed = Parsed::new(Language::Rust, done.as_str()).unwrap();
                prop_assert!(parsed.errors().is_empty(), "{}", done);
                let outline = Outline::new(&parsed);
                for path in ["/a/before", "/a/after"] {
                    prop_assert!(matches!(outline.find(path), Lookup::One(_)), "{}", done);
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn a_script_of_a_page_is_not_broken() {
    let page = "<main>\n<script>\nfunction f() {}\nfunction g() {}\n</script>\n</main>\n";
    let error = edited(Language::Html, page, "f", Replace, "function f() {").unwrap_err();
    assert!(matches!(error, SymbolError::Breaks { line: 3..=5, .. }), "{error:?}");
    let done = edited(Language::Html, page, "f", InsertAfter, "function h() {}").unwrap();
    assert_eq!(done, page.replace("f() {}\n", "f() {}\nfunction h() {}\n"));
}
