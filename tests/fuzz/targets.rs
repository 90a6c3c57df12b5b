//! The inputs that are fed, and the conditions that must hold.

use std::path::Path;

use code::edit::hashline::{self, Place, Tag, Tagged};
use code::edit::{AnchorMode, ByAnchor, CellEdit, CellKind, by_anchor, edit_cell, patch, replace};
use code::syntax::{Language, Outline, Parsed, blocks, document_symbols, references};

/// Returns true if the input was taken, or an error that says what was wrong.
type Target = fn(&str) -> Result<bool, String>;

/// A name, what inputs are made of, and the target.
pub const ALL: [(&str, &[&str], Target); 7] = [
    ("patch", &PATCHES, patches),
    ("hashline", &TAGS, tags),
    ("replace", &REPLACES, replaces),
    ("anchor", &REPLACES, anchors),
    ("notebook", &NOTEBOOKS, notebooks),
    ("patch text", &TEXTS, texts),
    ("outline", &SOURCES, outlines),
];

/// The text that patches are put into.
const TEXT: &str = "use std::fmt;\n\nimpl A {\n    fn a(&self) {\n        one(\"x\");\n    }\n\n    fn b(&self) {\n        one(\"x\");\n        two();\n    }\n}\n";

const PATCHES: [&str; 6] = [
    "*** Begin Patch\n*** Update File: a.rs\n@@ impl A {\n@@     fn b(&self) {\n         one(\"x\");\n-        two();\n+        three();\n     }\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: b.rs\n+one\n+two\n*** Delete File: c.rs\n*** Update File: a.rs\n*** Move to: d.rs\n@@\n-use std::fmt;\n+use std::io;\n*** End of File\n*** End Patch",
    "--- a/a.rs\n+++ b/a.rs\n@@ -4,3 +4,4 @@ impl A {\n     fn a(&self) {\n         one(\"x\");\n+        more();\n     }\n@@ -8,4 +9,3 @@\n     fn b(&self) {\n-        one(\"x\");\n         two();\n     }\n",
    "diff --git a/a.rs b/b.rs\nsimilarity index 90%\nrename from a.rs\nrename to b.rs\n--- a/a.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-use std::fmt;\n+use std::io;\n\\ No newline at end of file\n",
    "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    "```diff\n--- a.rs\n+++ a.rs\n@@ line 4 @@\n\n     fn a(&self) {\n-        one(\"x\");\n```\n",
];

const TAGS: [&str; 4] = ["4#", "12#7KQX|fn a() {", ">>> 3 # 0000: x", "1#ABCD\n2#EFGH|two\nthree"];

const REPLACES: [&str; 4] = [
    "    fn a(&self) {\n        one(\"x\");\n\u{0}    fn a(&self) {\n        two(\"x\");\n",
    "fn b(&self) {\n    one(\u{201C}x\u{201D});\n    two();\n}\u{0}fn b(&self) {\n    three();\n}",
    "one(\"x\");\u{0}one(\"y\");",
    "\tfn b(&self) {\n\t\tone(\"x\");  \n\t\ttwo();\u{0}\tfn b(&self) {\n\t\tone(\"x\");\n\t\tif x {\n\t\t\ttwo();\n\t\t}",
];

const NOTEBOOKS: [&str; 3] = [
    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 1,\n   \"id\": \"a\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
    "{\"cells\":[{\"cell_type\":\"raw\",\"metadata\":{},\"source\":\"a\"}],\"nbformat\":4,\"nbformat_minor\":2}",
    "{\"cells\":[],\"nbformat\":4}",
];

/// The first line of each says what it is.
const SOURCES: [&str; 17] = [
    "a.cpp\nnamespace a::b {\ntemplate <typename T>\nclass C : public D {\n  int f() const { return 1; }\n  operator bool();\n};\n}\nint a::b::C<int>::g(const char* s) { return R\"x(a)x\"[0]; }\n",
    "a.cs\nnamespace A.B {\n  [X]\n  public class C<T> : D {\n    int a = 1, b;\n    public int P { get; set; }\n    void M() { var s = $\"a{1}\"; }\n  }\n}\n#if X\n#endif\n",
    "a.php\n<h1>x</h1>\n<?php\nnamespace A\\B;\nclass C {\n  public $a = 1;\n  #[X]\n  function m() { return <<<E\n a {$b}\nE; }\n}\n?>\n<p>\n",
    "a.rb\nmodule A\n  class B::C < D\n    attr_reader :x\n    def self.m(a) = 1\n    def n; <<~E\n a #{b}\nE\n    end\n  end\nend\n",
    "a.lua\nlocal M = { f = function() end }\nfunction M:g(a)\n  return [[\n a]]\nend\nreturn M\n",
    "a.html\n<body>\n<header id=\"top\">\n<style>.a { x: y }</style>\n<script type=module>class A { m() {} }</script>\n<p>a<br>\n</body>\n",
    "a.css\n.a, b:hover > c { x: y }\n@media (a: 1px) { .d { x: y } }\n@keyframes f { from { a: b } }\n",
    "a.ts\nimport { a as b } from 'c';\nexport class A<T> {\n  m(): void { const f = () => `a${1}`; }\n}\nexport default A;\n",
    "a.rs\n//! A.\nmod m {\n    #[derive(Clone)]\n    pub struct S<'a, T: 'a>(&'a T);\n    impl<T> S<'_, T> {\n        fn f(&self) -> impl Fn() { || r#\"a\"#; }\n    }\n}\nmacro_rules! a { ($x:ident) => {} }\n",
    "a.tsx\nexport const A: React.FC<P> = ({ a }) => <b c={a}>{a && <D {...a} />} text</b>;\nfunction B<T,>() { return <></>; }\n",
    "a.js\nclass A extends (B, C) { #p = 1; static { this.x = /a[/]b/g; } get y() { return `a${{}}`; } }\nmodule.exports = { f() {}, ['g']: async () => {} };\n",
    "a.py\n@d(1)\nclass A(B, metaclass=C):\n    x: int = 1\n    async def f(self, *a, **k):\n        return f\"{a!r:>{k}}\" if (y := a) else lambda: '''b'''\n",
    "a.go\npackage a\n\ntype T[K comparable] struct {\n\tio.Reader\n\tm map[K]func() `json:\"m\"`\n}\n\nfunc (t *T[K]) F(a ...int) (err error) { defer func() { _ = recover() }(); return }\n",
    "a.c\n#define A(x) do { x; } while (0)\nstruct s { int a : 3; union { char *b; } u; };\nstatic int (*f(int a))(void) { return A(a) ? 0 : f; }\n#if 0\n}\n#endif\n",
    "a.java\npackage a;\n@B(c = {1})\npublic sealed class A<T extends C & D> permits E {\n  record R(int a) { R { a++; } }\n  enum F { G { void h() {} }; }\n  int m() { return switch (a) { case 1 -> 2; default -> { yield 3; } }; }\n}\n",
    "a.json\n{\"a\": [1, {\"b/c\": null}], \"a\": {\"\\u00e9\": \"x\\n\"}}\n",
    "a.sh\nf() { local a=${1:-b}; cat <<-E | while read -r x; do echo \"$(g \"$x\")\"; done\n\t$a\n\tE\n}\nfunction g { case $1 in a|b) ;; *) : ;; esac; }\n",
];

const TEXTS: [&str; 2] = [TEXT, "a\nb\nc\n\n\n    a\n    b\n"];

fn patches(input: &str) -> Result<bool, String> {
    apply(TEXT, input)
}

fn texts(input: &str) -> Result<bool, String> {
    let mut taken = false;
    for patch in PATCHES {
        taken |= apply(input, patch)?;
    }
    Ok(taken)
}

fn apply(text: &str, patch: &str) -> Result<bool, String> {
    let operations = match patch::parse(patch) {
        Ok(operations) => operations,
        Err(error) => return said(&error.to_string()),
    };
    for operation in &operations {
        if let patch::Operation::Update { hunks, .. } = operation {
            match patch::apply(text, hunks, true) {
                // Lines that no hunk speaks of stay: nothing is lost that no line of the patch removes.
                Ok(changed) => {
                    let removed =
                        hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == patch::Mark::Remove);
                    let (before, after, removed) =
                        (text.lines().count(), changed.text.lines().count(), removed.count());
                    if after + removed < before {
                        return Err(format!("{before} lines became {after}, but only {removed} are removed"));
                    }
                }
                Err(error) => drop(said(&error.to_string())?),
            }
        }
    }
    Ok(true)
}

fn tags(input: &str) -> Result<bool, String> {
    if let Ok(tag) = input.parse::<Tag>()
        && tag.to_string().parse() != Ok(tag)
    {
        return Err(format!("{tag} is not read as it is written"));
    }
    // The first line is what stands behind a right tag, the rest what is put there.
    let (behind, content) = input.split_once('\n').unwrap_or((input, ""));
    let right = Tagged::new(TEXT).line(5).map(|(tag, _)| tag.to_string()).unwrap_or_default();
    let edit = |tag: String| hashline::Edit { place: Place::Line(tag), content: content.to_owned() };
    let mut taken = false;
    for edits in [vec![edit(right.clone())], vec![edit(right + behind)], vec![edit(behind.to_owned())]] {
        match hashline::edit_lines(TEXT, &edits) {
            Ok(edited) if !edited.text.starts_with("use std::fmt;\n\nimpl A {\n    fn a(&self) {\n") => {
                return Err("the lines above changed".to_owned());
            }
            Ok(_) => taken = true,
            Err(error) => drop(said(&error.to_string())?),
        }
    }
    Ok(taken)
}

fn replaces(input: &str) -> Result<bool, String> {
    let (old, new) = input.split_once('\u{0}').unwrap_or((input, ""));
    match replace(TEXT, old, new, 1) {
        Ok(edited) if edited.text.is_empty() && !new.is_empty() => Err("everything is gone".to_owned()),
        Ok(_) => Ok(true),
        Err(error) => said(&error.to_string()),
    }
}

fn anchors(input: &str) -> Result<bool, String> {
    let (anchor, content) = input.split_once('\u{0}').unwrap_or((input, ""));
    let (anchor, end) = anchor.split_once('\n').unwrap_or((anchor, "}"));
    let mut taken = false;
    for mode in [AnchorMode::InsertBefore, AnchorMode::InsertAfter, AnchorMode::ReplaceLine, AnchorMode::ReplaceBetween]
    {
        let edit = ByAnchor { mode, anchor, anchor_end: Some(end), content, occurrence: None, inclusive: true };
        match by_anchor(TEXT, &edit) {
            Ok(_) => taken = true,
            Err(error) => drop(said(&error.to_string())?),
        }
    }
    Ok(taken)
}

fn notebooks(input: &str) -> Result<bool, String> {
    let edits = [
        CellEdit::Replace { index: 0, source: "x\ny" },
        CellEdit::Insert { index: 0, kind: CellKind::Code, source: "x" },
        CellEdit::Delete { index: 0 },
    ];
    let mut taken = false;
    for edit in &edits {
        match edit_cell(input, edit) {
            // By its grammar: a number that no type of ours holds is JSON too, and is passed on as it was.
            Ok(edited) if serde_json::from_str::<serde::de::IgnoredAny>(&edited).is_err() => {
                return Err(format!("{edit:?} made what is no JSON: {edited}"));
            }
            Ok(_) => taken = true,
            Err(error) => drop(said(&error.to_string())?),
        }
    }
    Ok(taken)
}

fn outlines(input: &str) -> Result<bool, String> {
    let (name, text) = input.split_once('\n').unwrap_or(("a.html", input));
    let path = Path::new(name);
    let Some(language) = Language::of_text(path, text) else { return Ok(false) };
    let parsed = match Parsed::new(language, text) {
        Ok(parsed) => parsed,
        Err(error) => return said(&error.to_string()),
    };
    let outline = Outline::new(&parsed);
    for symbol in &outline.symbols {
        let has_place = [&symbol.range, &symbol.selection].iter().all(|range| text.get((*range).clone()).is_some());
        let has_lines = (1..=text.lines().count().max(1) + 1).contains(symbol.lines.end());
        if !has_place || !has_lines || symbol.lines.is_empty() || symbol.signature(&parsed).len() > 1_000 {
            return Err(format!("{symbol:?}"));
        }
    }
    if blocks(&parsed, &outline, true).len() != outline.symbols.len() {
        return Err("a symbol is no block".to_owned());
    }
    references(&parsed, &outline);
    let told = document_symbols(path, "file:///a", text);
    match told {
        Some(Ok(told)) if told.symbols.len() == outline.symbols.len() => Ok(!told.symbols.is_empty()),
        _ => Err("the symbols differ from the outline".to_owned()),
    }
}

/// An error says something, and not too much for a model to read.
fn said(words: &str) -> Result<bool, String> {
    match words.len() {
        0 => Err("an error without words".to_owned()),
        1..=60_000 => Ok(false),
        long => Err(format!("an error of {long} bytes")),
    }
}
