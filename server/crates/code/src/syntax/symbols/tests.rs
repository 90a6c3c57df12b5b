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
        code.trim_start_matches("pub ").trim_start_matches("pub(crate) ").starts_with("fn ")
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

/// Each symbol with its kind and lines.
fn told(language: Language, text: &str) -> Vec<String> {
    let parsed = Parsed::new(language, text).unwrap();
    assert_eq!(parsed.errors(), Vec::<usize>::new(), "the test's own text");
    let outline = Outline::new(&parsed);
    let row = |symbol: &Symbol| {
        let (first, last) = (symbol.lines.start(), symbol.lines.end());
        format!("{first}-{last} {} {}", symbol.kind.name(), outline.name(symbol))
    };
    outline.symbols.iter().map(row).collect()
}

#[test]
fn cpp_has_classes_templates_namespaces_and_what_is_defined_outside_of_them() {
    let text = "#define MAX 1\nnamespace shop::inner {\ntemplate <typename T>\nclass Cart : public Base {\npublic:\n  Cart(int n);\n  ~Cart() = default;\n  int total() const { int no = 1; return no; }\n  bool operator==(const Cart& o) const;\n  operator bool() const { return true; }\n  int x, *y;\n  enum class Kind { A, B };\n  template <class U> void add(U u) {}\n  using V = std::vector<T>;\n};\n}\ntemplate <typename T> int shop::inner::Cart<T>::f(int a) { auto no = 1; return no; }\nconst char* name(void);\nint n = 1;\nextern \"C\" { void cfn(); }\nnamespace { int hidden; }\nunion U { int a; };\nstd::string& ref() { return x; }\ntypedef struct B { int y; } B;\n";
    let wanted = [
        "1-1 macro MAX",
        "2-16 namespace shop/inner",
        "3-15 class shop/inner/Cart",
        "6-6 method shop/inner/Cart/Cart",
        "7-7 method shop/inner/Cart/~Cart",
        "8-8 method shop/inner/Cart/total",
        "9-9 method shop/inner/Cart/operator==",
        "10-10 method shop/inner/Cart/operator bool",
        "11-11 field shop/inner/Cart/x",
        "11-11 field shop/inner/Cart/y",
        "12-12 enum shop/inner/Cart/Kind",
        "13-13 method shop/inner/Cart/add",
        "14-14 type shop/inner/Cart/V",
        "17-17 method shop/inner/Cart/f",
        "18-18 function name",
        "19-19 variable n",
        "20-20 function cfn",
        "21-21 variable hidden",
        "22-22 struct U",
        "22-22 field U/a",
        "23-23 function ref",
        "24-24 type B",
    ];
    let told: Vec<_> = told(Language::Cpp, text).into_iter().filter(|row| !row.ends_with("B/y")).collect();
    assert_eq!(told, wanted);
    assert_eq!(code(Language::Cpp, text, "Cart::f").0.lines().count(), 1);
    assert!(code(Language::Cpp, text, "inner/Cart").0.starts_with("template <typename T>\nclass Cart"));
}

#[test]
fn csharp_has_its_types_and_their_members() {
    let text = "using System;\nnamespace Shop.Inner {\n  [Serializable]\n  public class Cart<T> : Base {\n    const int Max = 1;\n    private int a = 1, b;\n    public event Action E;\n    public int Total { get; set; }\n    public int this[int i] => 1;\n    public Cart(int n) {}\n    ~Cart() {}\n    /// doc\n    [Obsolete]\n    public async Task<int> M(int x) { void Local() {} var no = 1; return 1; }\n    public static Cart operator +(Cart a, Cart b) => a;\n    public static implicit operator int(Cart c) => 1;\n    enum K { A, B }\n    delegate void D(int x);\n  }\n  interface IFoo { int G(); }\n}\nrecord struct P(int X);\n";
    let wanted = [
        "2-21 namespace Shop/Inner",
        "4-19 class Shop/Inner/Cart",
        "5-5 constant Shop/Inner/Cart/Max",
        "6-6 field Shop/Inner/Cart/a",
        "6-6 field Shop/Inner/Cart/b",
        "7-7 field Shop/Inner/Cart/E",
        "8-8 property Shop/Inner/Cart/Total",
        "9-9 property Shop/Inner/Cart/this",
        "10-10 constructor Shop/Inner/Cart/Cart",
        "11-11 method Shop/Inner/Cart/~Cart",
        "14-14 method Shop/Inner/Cart/M",
        "14-14 function Shop/Inner/Cart/M/Local",
        "15-15 method Shop/Inner/Cart/operator +",
        "16-16 method Shop/Inner/Cart/operator int",
        "17-17 enum Shop/Inner/Cart/K",
        "18-18 type Shop/Inner/Cart/D",
        "20-20 interface Shop/Inner/IFoo",
        "20-20 method Shop/Inner/IFoo/G",
        "22-22 class P",
    ];
    assert_eq!(told(Language::CSharp, text), wanted);
    assert_eq!(code(Language::CSharp, text, "Cart.M").1, ["/// doc", "[Obsolete]"]);
}

#[test]
fn php_has_symbols_within_the_page_around_it() {
    let text = "<h1>x</h1>\n<?php\nnamespace App\\Models;\nconst Z = 1;\n#[Attr]\nabstract class A extends B {\n  const X = 1, W = 2;\n  public int $a = 1;\n  /** doc */\n  #[Attr]\n  public static function m(int $x): int { $no = 1; return 1; }\n}\ninterface I { function f(); }\ntrait T { function t() {} }\nenum E: string { case A = 'a'; }\nfunction g() { function inner() {} }\n$h = fn($x) => 1;\n?>\n<p>html</p>\n";
    let wanted = [
        "3-3 namespace App/Models",
        "4-4 constant Z",
        "6-12 class A",
        "7-7 constant A/X",
        "7-7 constant A/W",
        "8-8 field A/$a",
        "11-11 method A/m",
        "13-13 interface I",
        "13-13 method I/f",
        "14-14 trait T",
        "14-14 method T/t",
        "15-15 enum E",
        "16-16 function g",
        "16-16 function g/inner",
        "17-17 function $h",
    ];
    assert_eq!(told(Language::Php, text), wanted);
    assert_eq!(code(Language::Php, text, "A/a").0, "public int $a = 1;");
    assert_eq!(code(Language::Php, text, "A::m").1, ["/** doc */", "#[Attr]"]);
}

#[test]
fn ruby_has_its_modules_classes_and_methods() {
    let text = "module Shop\n  VERSION = '1'\n  class Cart < Base\n    attr_reader :items, :n\n    # doc\n    def initialize(a)\n      @a = a\n      no = 1\n    end\n    def total = 1\n    def self.make; end\n    class << self\n      def build; end\n    end\n    private def hidden; end\n  end\n  class A::B; end\nend\ndef top; end\nX = Struct.new(:a) do\n  def m; end\nend\n";
    let wanted = [
        "1-18 module Shop",
        "2-2 constant Shop/VERSION",
        "3-16 class Shop/Cart",
        "4-4 property Shop/Cart/items",
        "4-4 property Shop/Cart/n",
        "6-9 method Shop/Cart/initialize",
        "10-10 method Shop/Cart/total",
        "11-11 method Shop/Cart/make",
        "13-13 method Shop/Cart/build",
        "15-15 method Shop/Cart/hidden",
        "17-17 class Shop/A/B",
        "19-19 function top",
        "20-22 constant X",
        "21-21 function X/m",
    ];
    assert_eq!(told(Language::Ruby, text), wanted);
    assert_eq!(code(Language::Ruby, text, "Cart#initialize").1, ["# doc"]);
    assert_eq!(code(Language::Ruby, text, "self.make").0, "def self.make; end");
}

#[test]
fn lua_has_its_functions_wherever_they_are_kept() {
    let text = "local M = {}\nlocal x, y = 1, function() end\nfunction M.f(a) end\nfunction M:g() end\n--- doc\nlocal function h() local no = 1 end\nM.k = function()\nend\nlocal t = { a = function() end, b = 1 }\nreturn M\n";
    let wanted = [
        "1-1 variable M",
        "2-2 variable x",
        "2-2 function y",
        "3-3 function M/f",
        "4-4 method M/g",
        "6-6 function h",
        "7-8 function M/k",
        "9-9 variable t",
        "9-9 method t/a",
    ];
    assert_eq!(told(Language::Lua, text), wanted);
    assert_eq!(code(Language::Lua, text, "M:g").0, "function M:g() end");
    assert_eq!(
        code(Language::Lua, text, "h"),
        ("local function h() local no = 1 end".to_owned(), vec!["--- doc".to_owned()])
    );
}

#[test]
fn css_has_rules_and_what_begins_with_an_at() {
    let text = "@import 'x.css';\n:root { --a: 1px; }\n.card, a:hover > b { color: red; }\n@media (max-width: 10px) {\n  .card { color: blue; }\n}\n@keyframes fadeIn { from { a: b } to { c: d } }\n@supports (display: grid) { .g { } }\n@font-face { font-family: x; }\n.parent { &:hover { } }\n";
    let wanted = [
        "2-2 rule :root",
        "3-3 rule .card, a:hover > b",
        "4-6 media query @media (max-width: 10px)",
        "5-5 rule @media (max-width: 10px)/.card",
        "7-7 keyframes @keyframes fadeIn",
        "8-8 at-rule @supports (display: grid)",
        "8-8 rule @supports (display: grid)/.g",
        "9-9 at-rule @font-face",
        "10-10 rule .parent",
        "10-10 rule .parent/&:hover",
    ];
    assert_eq!(told(Language::Css, text), wanted);
    assert_eq!(code(Language::Css, text, "a:hover > b").0, ".card, a:hover > b { color: red; }");
    assert_eq!(code(Language::Css, text, "fadeIn").0, "@keyframes fadeIn { from { a: b } to { c: d } }");
}

#[test]
fn html_has_its_sections_with_the_symbols_of_styles_and_scripts_in_them() {
    let text = "<html><head>\n<style>\n.card { color: red; }\n</style></head>\n<body>\n<main><section id=s><p>hi<br></section></main>\n<script>\nclass A {\n  m() {}\n}\n</script>\n<p id='x'/>\n</body></html>\n";
    let wanted = [
        "1-4 element head",
        "2-4 element head/style",
        "3-3 rule head/style/.card",
        "5-13 element body",
        "6-6 element body/main",
        "6-6 element body/main/section#s",
        "7-11 element body/script",
        "8-10 class body/script/A",
        "9-9 method body/script/A/m",
        "12-12 element body/p#x",
    ];
    assert_eq!(told(Language::Html, text), wanted);
    assert_eq!(code(Language::Html, text, "A/m").0, "m() {}");
    assert_eq!(code(Language::Html, text, "#s").0, "<section id=s><p>hi<br></section>");
}

#[test]
fn a_signature_is_one_line_up_to_the_name_and_what_follows_it() {
    let signature = |language, text: &str, path| {
        let parsed = Parsed::new(language, text).unwrap();
        let outline = Outline::new(&parsed);
        let Lookup::One(symbol) = outline.find(path) else { panic!("{path}") };
        symbol.signature(&parsed)
    };
    assert_eq!(signature(Language::Rust, RUST, "A/new"), "fn new() -> Self { todo!() }");
    assert_eq!(signature(Language::Rust, RUST, "impl A"), "impl<T> A<T>");
    let template = "template <typename T>\nclass A : public B {\n};\n";
    assert_eq!(signature(Language::Cpp, template, "A"), "template <typename T> class A : public B");
    let long = format!("fn f({}) {{}}\n", "a: u8, ".repeat(100));
    let signature = signature(Language::Rust, &long, "f");
    assert_eq!((signature.chars().count(), signature.ends_with('…')), (MAX_SIGNATURE + 1, true));
}

#[test]
fn a_name_that_is_too_long_is_cut_and_found_by_all_of_it_and_by_what_is_left() {
    let long = "a".repeat(5_000);
    let parsed = Parsed::new(Language::Rust, format!("fn {long}() {{}}\nimpl B<{long}> {{}}\n")).unwrap();
    let outline = Outline::new(&parsed);
    for symbol in &outline.symbols {
        let name = outline.name(symbol);
        assert!(name.chars().count() == 201 && name.ends_with("a…"), "{name}");
        assert_eq!(outline.find(&name), Lookup::One(symbol));
    }
    assert_eq!(outline.find(&long), Lookup::One(&outline.symbols[0]));
    assert_eq!(outline.find(&format!("impl B<{long}>")), Lookup::One(&outline.symbols[1]));
}

#[test]
fn of_too_many_symbols_the_first_are_known_and_it_is_said() {
    for (names, is_cut) in [(MAX_SYMBOLS, false), (MAX_SYMBOLS + 1, true)] {
        let text = format!("int a{};\nint z;\n", ", b".repeat(names - 2));
        let outline = Outline::new(&Parsed::new(Language::C, text).unwrap());
        assert_eq!((outline.symbols.len(), outline.is_cut), (MAX_SYMBOLS, is_cut));
    }
}

#[test]
fn the_symbols_of_one_declaration_share_its_comments() {
    let text = format!("{}int a{};\n", "// c\n".repeat(5_000), ", b".repeat(5_000));
    let outline = Outline::new(&Parsed::new(Language::C, text).unwrap());
    let [first, .., last] = outline.symbols.as_slice() else { panic!("no symbols") };
    assert_eq!((outline.symbols.len(), first.lead.len()), (5_001, 5_000));
    assert!(Arc::ptr_eq(&first.lead, &last.lead));
}
