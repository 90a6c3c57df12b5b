//! HTML: its sections, and what is in it in other languages.

use tree_sitter::{Node, Range};

use super::{Language, Parsed, Walk};

/// The elements that make a page's structure.
const SECTIONS: [&str; 17] = [
    "head", "body", "main", "section", "article", "nav", "header", "footer", "aside", "form", "dialog", "template",
    "search", "figure", "fieldset", "details", "table",
];

/// The styles and scripts of a page, each with its place.
pub(super) fn embedded(parsed: &Parsed) -> Vec<(Language, Range)> {
    let mut parts = Vec::new();
    let mut walk = Walk::new(parsed.root());
    while let Some(node) = walk.node() {
        let language = match node.kind() {
            "style_element" => Some(Language::Css),
            "script_element" => script(parsed, node),
            _ => None,
        };
        let mut cursor = node.walk();
        if let Some(language) = language
            && let Some(text) = node.children(&mut cursor).find(|child| child.kind() == "raw_text")
        {
            parts.push((language, text.range()));
        }
        walk.step(!matches!(node.kind(), "style_element" | "script_element" | "start_tag"));
    }
    parts
}

/// Returns an element's name and its id, if it is one of a page's structure or has an id.
pub(super) fn section<'p>(parsed: &'p Parsed, element: Node<'_>) -> Option<(&'p str, Option<&'p str>)> {
    let name = tag(element)?.named_child(0).map(|name| parsed.slice(name.byte_range()))?;
    let id = attribute(parsed, element, "id").filter(|id| !id.is_empty());
    let is_section = SECTIONS.iter().any(|section| section.eq_ignore_ascii_case(name));
    (is_section || id.is_some() || matches!(element.kind(), "style_element" | "script_element")).then_some((name, id))
}

/// The tag that an element begins with.
pub(super) fn tag(element: Node<'_>) -> Option<Node<'_>> {
    element.child(0).filter(|tag| matches!(tag.kind(), "start_tag" | "self_closing_tag"))
}

/// The language of a script; none of one that holds data or a template.
fn script(parsed: &Parsed, element: Node<'_>) -> Option<Language> {
    let is_typescript = |lang: &str| lang.eq_ignore_ascii_case("ts") || lang.eq_ignore_ascii_case("typescript");
    if attribute(parsed, element, "lang").is_some_and(is_typescript) {
        return Some(Language::TypeScript);
    }
    let kind = attribute(parsed, element, "type").unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "" | "module" | "text/babel" | "text/jsx" => Some(Language::JavaScript),
        "importmap" | "speculationrules" => Some(Language::Json),
        json if json.ends_with("json") => Some(Language::Json),
        script if script.ends_with("javascript") || script.ends_with("ecmascript") => Some(Language::JavaScript),
        _ => None,
    }
}

fn attribute<'p>(parsed: &'p Parsed, element: Node<'_>, name: &str) -> Option<&'p str> {
    let tag = tag(element)?;
    let mut cursor = tag.walk();
    let text = |node: Node<'_>| parsed.slice(node.byte_range());
    let found = tag.named_children(&mut cursor).find(|attribute| {
        attribute.kind() == "attribute"
            && attribute.named_child(0).is_some_and(|own| text(own).eq_ignore_ascii_case(name))
    })?;
    found.named_child(1).map(|value| text(value).trim_matches(['"', '\'']).trim())
}
