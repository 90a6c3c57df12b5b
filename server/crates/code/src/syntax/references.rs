//! The imports of a text, and its exports.

use tree_sitter::Node;

use super::definitions::plain;
use super::{Language, Outline, Parsed, Symbol};

/// How many imports are given, and how many exports.
const MOST: usize = 200;

/// The imports and exports of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The imports, in any language that says so at the outermost level.
    pub imports: Listed,
    /// The exports by name, in JavaScript and TypeScript.
    pub exports: Listed,
}

/// The first 200 of a text's imports or exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The first of them, in order.
    pub first: Vec<Reference>,
    /// How many there are.
    pub total: usize,
}

/// An import or an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its line, from 1.
    pub line: usize,
    /// The whole import as one line, or the name that is exported. Where it is too long, it ends with `…`.
    pub text: String,
}

/// The imports and exports of a text, in order.
pub fn references(parsed: &Parsed, outline: &Outline) -> References {
    let mut found = References::default();
    let mut outermost: Vec<&Symbol> = outline.symbols.iter().filter(|symbol| symbol.parent.is_none()).collect();
    outermost.sort_by_key(|symbol| symbol.range.start);
    let root = parsed.root();
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        let line = node.start_position().row + 1;
        if is_import(parsed, node) {
            found.imports.add(line, || plain(parsed.slice(node.byte_range())));
        } else if is_script(parsed.language) {
            exported(parsed, &outermost, node, &mut found.exports);
        }
    }
    found
}

impl Listed {
    fn add(&mut self, line: usize, text: impl FnOnce() -> String) {
        if self.first.len() < MOST {
            self.first.push(Reference { line, text: text() });
        }
        self.total += 1;
    }
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript)
}

fn is_import(parsed: &Parsed, node: Node<'_>) -> bool {
    match parsed.language {
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            node.kind() == "import_statement" || is_require(parsed, node)
        }
        Language::Python => {
            matches!(node.kind(), "import_statement" | "import_from_statement" | "future_import_statement")
        }
        Language::Rust => node.kind() == "use_declaration",
        Language::Go | Language::Java => node.kind() == "import_declaration",
        Language::C | Language::Cpp => node.kind() == "preproc_include",
        Language::CSharp => node.kind() == "using_directive",
        Language::Php => node.kind() == "namespace_use_declaration",
        Language::Css => node.kind() == "import_statement",
        Language::Ruby | Language::Lua | Language::Html | Language::Json | Language::Bash => false,
    }
}

/// True if it is `const a = require("b")`.
fn is_require(parsed: &Parsed, node: Node<'_>) -> bool {
    let called = || {
        let value = node.named_child(0)?.child_by_field_name("value")?;
        let called = value.child_by_field_name("function").filter(|_| value.kind() == "call_expression")?;
        Some(parsed.slice(called.byte_range()) == "require")
    };
    matches!(node.kind(), "lexical_declaration" | "variable_declaration") && called().unwrap_or(false)
}

/// Adds the names that a statement exports.
fn exported(parsed: &Parsed, outermost: &[&Symbol], node: Node<'_>, exports: &mut Listed) {
    let line = node.start_position().row + 1;
    match node.kind() {
        "export_statement" => of_statement(parsed, outermost, node, line, exports),
        // CommonJS.
        "expression_statement" => {
            let assigned = node.named_child(0).filter(|inner| inner.kind() == "assignment_expression");
            if let Some(assigned) = assigned
                && let Some(left) = assigned.child_by_field_name("left")
                && let Some(right) = assigned.child_by_field_name("right")
            {
                of_assignment(parsed, left, right, line, exports);
            }
        }
        _ => {}
    }
}

fn of_statement(parsed: &Parsed, outermost: &[&Symbol], node: Node<'_>, line: usize, exports: &mut Listed) {
    let text = |node: Node<'_>| plain(parsed.slice(node.byte_range()));
    let source = node.child_by_field_name("source").map(text);
    let from = |name: String| match &source {
        Some(source) => format!("{name} from {source}"),
        None => name,
    };
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "default" => return exports.add(line, || "default".to_owned()),
            "=" => return exports.add(line, || "=".to_owned()),
            "*" => exports.add(line, || from("*".to_owned())),
            "namespace_export" => {
                if let Some(name) = child.named_child(0) {
                    exports.add(line, || from(text(name)));
                }
            }
            "export_clause" => {
                let mut cursor = child.walk();
                let specifiers = child.named_children(&mut cursor);
                for specifier in specifiers.filter(|specifier| specifier.kind() == "export_specifier") {
                    let alias = specifier.child_by_field_name("alias");
                    if let Some(name) = alias.or_else(|| specifier.child_by_field_name("name")) {
                        exports.add(line, || from(text(name)));
                    }
                }
            }
            _ => {}
        }
    }
    if node.child_by_field_name("declaration").is_some() {
        let first = outermost.partition_point(|symbol| symbol.range.start < node.start_byte());
        let declared = outermost.iter().skip(first).take_while(|symbol| symbol.range.start < node.end_byte());
        declared.for_each(|symbol| exports.add(line, || from(symbol.own_name().to_owned())));
    }
}

/// Adds the exports of `module.exports = …` and `exports.a = …`.
fn of_assignment(parsed: &Parsed, left: Node<'_>, right: Node<'_>, line: usize, exports: &mut Listed) {
    let text = |node: Node<'_>| plain(parsed.slice(node.byte_range()));
    let target = text(left);
    let own = target.strip_prefix("module.").unwrap_or(&target);
    if let Some(name) = own.strip_prefix("exports.") {
        return exports.add(line, || name.to_owned());
    }
    if own != "exports" || own == target {
        return;
    }
    let mut cursor = right.walk();
    let members = right.named_children(&mut cursor).filter(|_| right.kind() == "object");
    let name = |member: Node<'_>| match member.kind() {
        "shorthand_property_identifier" => Some(text(member)),
        "pair" => member.child_by_field_name("key").map(text),
        "method_definition" => member.child_by_field_name("name").map(text),
        _ => None,
    };
    let before = exports.total;
    members.filter_map(name).for_each(|name| exports.add(line, || name));
    if exports.total == before {
        exports.add(line, || "=".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(language: Language, text: &str) -> (Vec<String>, Vec<String>) {
        let parsed = Parsed::new(language, text).unwrap();
        assert_eq!(parsed.errors(), Vec::<usize>::new(), "the test's own text");
        let found = references(&parsed, &Outline::new(&parsed));
        let rows = |all: Listed| all.first.iter().map(|one| format!("{}: {}", one.line, one.text)).collect();
        (rows(found.imports), rows(found.exports))
    }

    #[test]
    fn modules_say_what_they_import_and_export() {
        let script = "import x, {\n  y as z,\n} from 'm';\nimport 'side';\nexport { a, b as c } from 'k';\nexport * from 'o';\nexport * as ns from 'p';\nexport default function foo() {}\nexport const k = 1, l = () => { const m = () => 1; };\nexport class A { m() {} }\nexport { z };\n";
        let imports = ["1: import x, { y as z, } from 'm';", "4: import 'side';"];
        let exports = [
            "5: a from 'k'",
            "5: c from 'k'",
            "6: * from 'o'",
            "7: ns from 'p'",
            "8: default",
            "9: k",
            "9: l",
            "10: A",
            "11: z",
        ];
        for language in [Language::TypeScript, Language::Tsx, Language::JavaScript] {
            let (imported, exported) = told(language, script);
            assert_eq!((imported, exported), (imports.map(str::to_owned).into(), exports.map(str::to_owned).into()));
        }
        let typed = told(
            Language::TypeScript,
            "import fs = require('fs');\nexport type { T } from 'a';\nexport interface I {}\nexport = fs;\n",
        );
        assert_eq!(typed.0, ["1: import fs = require('fs');"]);
        assert_eq!(typed.1, ["2: T from 'a'", "3: I", "4: ="]);
        let common = told(
            Language::JavaScript,
            "const p = require('path');\nmodule.exports = { a, b: 1, c() {} };\nexports.d = 1;\nmodule.exports.e = 2;\nx.exports = 3;\n",
        );
        assert_eq!(common.0, ["1: const p = require('path');"]);
        assert_eq!(common.1, ["2: a", "2: b", "2: c", "3: d", "4: e"]);
    }

    #[test]
    fn other_languages_say_what_they_import() {
        let imports = |language, text: &str| told(language, text).0;
        let python = "import os, sys as s\nfrom . import f\ndef g():\n    import no\n";
        assert_eq!(imports(Language::Python, python), ["1: import os, sys as s", "2: from . import f"]);
        assert_eq!(imports(Language::Rust, "use a::{\n  b,\n};\n"), ["1: use a::{ b, };"]);
        assert_eq!(imports(Language::Go, "package p\nimport (\n\t\"a\"\n)\n"), ["2: import ( \"a\" )"]);
        assert_eq!(imports(Language::Cpp, "#include <vector>\n"), ["1: #include <vector>"]);
        assert_eq!(imports(Language::CSharp, "using System;\n"), ["1: using System;"]);
        assert_eq!(imports(Language::Php, "<?php\nuse A\\B;\n"), ["2: use A\\B;"]);
    }

    #[test]
    fn of_very_many_imports_and_exports_the_first_are_kept_and_all_are_counted() {
        let names = "a,".repeat(10_000);
        let source = "s".repeat(5_000);
        let text = format!("{}export {{ {names} }} from '{source}';\n", "import 'a';\n".repeat(10_000));
        let parsed = Parsed::new(Language::JavaScript, text).unwrap();
        let found = references(&parsed, &Outline::new(&parsed));
        assert_eq!((found.imports.first.len(), found.imports.total), (MOST, 10_000));
        assert_eq!((found.exports.first.len(), found.exports.total), (MOST, 10_000));
        assert!(found.exports.first.iter().all(|export| export.text.chars().count() < 210));
    }
}
