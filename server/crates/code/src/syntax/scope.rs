//! Comments and texts in quotes.

use tree_sitter::Node;

use super::{Language, Parsed, is_verbatim};

/// The scope of a place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Code.
    Code,
    /// A comment.
    Comment,
    /// A text in quotes, or the like.
    Text,
}

impl Parsed {
    /// The scope at an offset. A place at the end of a line comment is in it, one behind a closing quote is not in the
    /// text. All of JSON is code, because there keys and values are texts.
    pub fn scope(&self, offset: usize) -> Scope {
        if self.language == Language::Json {
            return Scope::Code;
        }
        let inner = self.embedded().iter().rfind(|part| part.start <= offset && offset <= part.root().end_byte());
        self.scope_below(inner.map_or_else(|| self.root(), super::Embedded::root), offset)
    }

    fn scope_below(&self, root: Node<'_>, offset: usize) -> Scope {
        let Some(before) = offset.checked_sub(1) else { return Scope::Code };
        let mut cursor = root.walk();
        let mut scope = Scope::Code;
        loop {
            let node = cursor.node();
            let (start, end, kind) = (node.start_byte(), node.end_byte(), node.kind());
            if before < start || before >= end {
                return scope;
            }
            let is_inside = start < offset && offset < end;
            if kind.contains("comment") {
                let is_open = offset == end && !self.closes_comment(start, end);
                return if is_inside || is_open { Scope::Comment } else { scope };
            }
            if kind.contains("interpolation") || matches!(kind, "template_substitution" | "command_substitution") {
                scope = Scope::Code;
            } else if is_inside && (is_verbatim(kind) || kind == "quoted_attribute_value") {
                scope = Scope::Text;
            }
            if cursor.goto_first_child_for_byte(before).is_none() {
                return scope;
            }
        }
    }

    /// True if a comment has an end of its own, and not that of its line.
    fn closes_comment(&self, start: usize, end: usize) -> bool {
        let text = self.slice(start..end);
        ["*/", "-->", "]]", "=end"].iter().any(|close| text.ends_with(close)) || text.ends_with('\n')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(language: Language, marked: &str) -> Scope {
        let offset = marked.find('|').unwrap();
        Parsed::new(language, marked.replacen('|', "", 1)).unwrap().scope(offset)
    }

    #[test]
    fn comments_and_texts_are_told_from_code() {
        for (language, marked, wanted) in [
            (Language::Rust, "fn f() {} // a|\n", Scope::Comment),
            (Language::Rust, "fn f() {} // a|", Scope::Comment),
            (Language::Rust, "fn f() {} /* a| */\n", Scope::Comment),
            (Language::Rust, "fn f() {} /* a */|\n", Scope::Code),
            (Language::Rust, "fn f() {} // a\n|", Scope::Code),
            (Language::Rust, "/// a|\nfn f() {}\n", Scope::Comment),
            (Language::Rust, "const A: &str = \"a|\";\n", Scope::Text),
            (Language::Rust, "const A: &str = \"|\";\n", Scope::Text),
            (Language::Rust, "const A: &str = |\"a\";\n", Scope::Code),
            (Language::Rust, "const A: &str = \"a\"|;\n", Scope::Code),
            (Language::JavaScript, "const a = `b ${c|} d`;\n", Scope::Code),
            (Language::JavaScript, "const a = `b ${c} d|`;\n", Scope::Text),
            (Language::Python, "def f():\n    \"\"\"a|\n    \"\"\"\n", Scope::Text),
            (Language::Python, "a = f\"{b|}\"\n", Scope::Code),
            (Language::Python, "a = 1  # b|\n", Scope::Comment),
            (Language::Go, "package p // a|\n", Scope::Comment),
            (Language::C, "/* a\n b| */\n", Scope::Comment),
            (Language::Java, "class C { String a = \"b|\"; }\n", Scope::Text),
            (Language::Lua, "-- a|\n", Scope::Comment),
            (Language::Html, "<p><!-- a| --></p>\n", Scope::Comment),
            (Language::Html, "<script>\n// a|\n</script>\n", Scope::Comment),
            (Language::Json, "{ \"a|\": 1 }\n", Scope::Code),
            (Language::Bash, "echo a # b|\n", Scope::Comment),
        ] {
            assert_eq!(scope(language, marked), wanted, "{language:?} {marked:?}");
        }
    }

    proptest! {
        #[test]
        fn any_place_of_any_text_has_a_scope(text in "[a-z\"'`/*#{}$() \n\u{e9}-]{0,30}", offset in 0..40_usize) {
            for language in Language::ALL {
                if let Ok(parsed) = Parsed::new(language, text.as_str()) {
                    let _ = parsed.scope(offset);
                }
            }
        }
    }
}
