//! Symbols: the functions, types, constants and modules of a text, by name.
//!
//! What defines a symbol is told by a table of the grammars' node kinds ([`definition`]), since the tag queries that come
//! with the grammars leave out much (impl blocks, fields, namespaces) and differ in what they call a name.

use std::ops::Range;

use tree_sitter::Node;

use super::{Language, Parsed, Walk};
use crate::search::distance;

/// How deep a symbol may lie in the tree. Who nests deeper wants to keep us busy: to look at what is around a node takes the
/// longer the deeper it lies.
const MAX_DEPTH: usize = 1000;

/// How many names are given for one that is not there.
const NEAREST: usize = 5;

/// The symbols of a text, in the order in which they begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// All of them, those within others too.
    pub symbols: Vec<Symbol>,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, after that of the type that it is a method of where that stands elsewhere.
    own: Vec<Segment>,
    /// Its definition, from its first keyword to its end, with the `;` that ends it.
    pub range: Range<usize>,
    /// The comments and attributes directly before it, in order.
    pub lead: Vec<Lead>,
    /// Its line, from 1.
    pub line: usize,
    /// The symbol that it is in, by its place in the outline.
    pub parent: Option<usize>,
    /// Whether there are syntax errors in it.
    pub has_errors: bool,
    /// Whether it is one of a list that `,` separates.
    pub is_listed: bool,
}

/// A comment or an attribute that belongs to a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Its bytes.
    pub range: Range<usize>,
    /// Whether it is an attribute, annotation or decorator, and no comment.
    pub is_attribute: bool,
}

/// What was found for a path of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'o> {
    /// The symbol.
    One(&'o Symbol),
    /// Several that it may mean.
    Several(Vec<&'o Symbol>),
    /// None, and the names that are most like it; where none is, the first there are.
    None(Vec<String>),
}

/// A name in a path, and what else it may be called there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    name: String,
    /// Other names as a symbol.
    also: Vec<String>,
    /// Other names of what is in it: methods of `impl A` are in `A`.
    within: Vec<String>,
}

impl Outline {
    /// The symbols of a text, but for those that nest deeper than any program does.
    pub fn new(parsed: &Parsed) -> Self {
        let mut symbols: Vec<Symbol> = Vec::new();
        // Those that the walk is in, with their depth.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut walk = Walk::new(parsed.root());
        while let Some(node) = walk.node() {
            while open.last().is_some_and(|(depth, _)| *depth >= walk.depth()) {
                open.pop();
            }
            let parent = open.last().map(|(_, at)| *at);
            let names = definition(parsed, node);
            if !names.is_empty() {
                open.push((walk.depth(), symbols.len()));
            }
            symbols.extend(names.into_iter().map(|own| symbol(parsed, node, own, parent)));
            walk.step(walk.depth() < MAX_DEPTH);
        }
        Self { symbols }
    }

    /// The symbol that a path means: `Type/method`, or any end of its path of names. A `/` at its beginning makes it the
    /// whole path; `[2]` at its end means the second of those it fits, in their order. `.` and `::` are taken for `/`
    /// where nothing else fits.
    pub fn find(&self, path: &str) -> Lookup<'_> {
        let path = path.trim();
        let (named, number) = numbered(path);
        let mut found = self.fitting(&named.split('/').collect::<Vec<_>>());
        if found.is_empty() && named.contains('/') {
            found = self.written(named);
        }
        if found.is_empty() && !named.contains('/') {
            let other = named.replace("::", "/").replace('.', "/");
            found = self.fitting(&other.split('/').collect::<Vec<_>>());
        }
        match (found.as_slice(), number) {
            ([], _) => Lookup::None(self.nearest(named)),
            ([one], None | Some(1)) => Lookup::One(one),
            (several, Some(number)) => match several.get(number.wrapping_sub(1)) {
                Some(one) => Lookup::One(one),
                None => Lookup::Several(found),
            },
            (_, None) => Lookup::Several(found),
        }
    }

    fn fitting(&self, wanted: &[&str]) -> Vec<&Symbol> {
        let (is_whole, wanted) = match wanted {
            ["", rest @ ..] => (true, rest),
            all => (false, all),
        };
        let wanted: Vec<String> = wanted.iter().map(|name| plain(name)).collect();
        let fits = |symbol: &&Symbol| {
            let mut segments = self.segments(symbol);
            let fit = wanted.iter().rev().enumerate().all(|(at, name)| {
                segments
                    .next()
                    .is_some_and(|segment| if at == 0 { segment.is_called(name) } else { segment.holds_as(name) })
            });
            fit && !wanted.is_empty() && (!is_whole || segments.next().is_none())
        };
        self.symbols.iter().filter(fits).collect()
    }

    /// The symbols whose path is written so, or ends so: keys in JSON may have a `/` in them.
    fn written(&self, path: &str) -> Vec<&Symbol> {
        let (is_whole, path) = path.strip_prefix('/').map_or((false, path), |path| (true, path));
        let fits = |name: &str| match name.strip_suffix(path) {
            Some(before) => before.is_empty() || (!is_whole && before.ends_with('/')),
            None => false,
        };
        self.symbols.iter().filter(|symbol| fits(&self.name(symbol))).collect()
    }

    fn nearest(&self, path: &str) -> Vec<String> {
        let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
        let own = path.rsplit(['/', '.', ':']).next().unwrap_or(path);
        let wanted = letters(own);
        let alike = |symbol: &Symbol| {
            let name = letters(&symbol.own.last()?.name);
            let contains = !wanted.is_empty() && name.windows(wanted.len()).any(|part| part == wanted);
            let distance = distance(&wanted, &name);
            (contains || distance * 3 <= wanted.len().max(3)).then_some(distance)
        };
        let mut near: Vec<_> = self.symbols.iter().filter_map(|symbol| Some((alike(symbol)?, symbol))).collect();
        near.sort_by_key(|(distance, _)| *distance);
        if near.is_empty() {
            near = self.symbols.iter().map(|symbol| (0, symbol)).collect();
        }
        let mut names = Vec::new();
        for (_, symbol) in near {
            let name = self.name(symbol);
            if names.len() < NEAREST && !names.contains(&name) {
                names.push(name);
            }
            if names.len() == NEAREST {
                break;
            }
        }
        names
    }

    /// The path of names of one of its symbols.
    pub fn name(&self, symbol: &Symbol) -> String {
        let mut names: Vec<_> = self.segments(symbol).map(|segment| segment.name.as_str()).collect();
        names.reverse();
        names.join("/")
    }

    /// The names of a symbol and of what it is in, innermost first.
    fn segments<'o>(&'o self, symbol: &'o Symbol) -> impl Iterator<Item = &'o Segment> {
        let parent = |symbol: &&'o Symbol| symbol.parent.and_then(|at| self.symbols.get(at));
        std::iter::successors(Some(symbol), parent).flat_map(|symbol| symbol.own.iter().rev())
    }
}

impl Symbol {
    /// Where it begins, with its comments and attributes.
    pub fn start(&self) -> usize {
        self.lead.first().map_or(self.range.start, |lead| lead.range.start)
    }

    /// All of it, with its comments and attributes.
    pub fn span(&self) -> Range<usize> {
        self.start()..self.range.end
    }
}

impl Segment {
    fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), also: Vec::new(), within: Vec::new() }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|also| also == name)
    }

    fn holds_as(&self, name: &str) -> bool {
        self.is_called(name) || self.within.iter().any(|within| within == name)
    }
}

/// A path without the `[2]` at its end, and that number.
fn numbered(path: &str) -> (&str, Option<usize>) {
    let number = || {
        let (name, number) = path.strip_suffix(']')?.rsplit_once('[')?;
        Some((name, number.parse().ok()?))
    };
    number().map_or((path, None), |(name, number)| (name, Some(number)))
}

/// The symbol that a node defines.
fn symbol(parsed: &Parsed, node: Node<'_>, own: Vec<Segment>, parent: Option<usize>) -> Symbol {
    let whole = wrapped(node);
    let mut lead = before(parsed, whole);
    let start = within(whole, &mut lead);
    let mut end = start + parsed.slice(start..whole.end_byte()).trim_end().len();
    if let Some(next) = whole.next_sibling().filter(|next| next.kind() == ";")
        && parsed.slice(end..next.start_byte()).chars().all(|c| c == ' ')
    {
        end = next.end_byte();
    }
    let line = parsed.slice(node.start_byte()..start).matches('\n').count() + node.start_position().row + 1;
    let is_listed = whole.parent().is_some_and(|parent| parent.kind() == "object");
    Symbol { own, range: start..end, lead, line, parent, has_errors: whole.has_error(), is_listed }
}

/// What a definition is wrapped in, if that holds nothing else: `export`, decorators, `const`.
fn wrapped(mut node: Node<'_>) -> Node<'_> {
    const WRAPPERS: &[&str] = &[
        "lexical_declaration",
        "variable_declaration",
        "export_statement",
        "ambient_declaration",
        "expression_statement",
        "decorated_definition",
        "type_declaration",
        "const_declaration",
        "var_declaration",
        "var_spec_list",
    ];
    while let Some(parent) = node.parent().filter(|parent| WRAPPERS.contains(&parent.kind())) {
        let mut cursor = parent.walk();
        let others = parent.named_children(&mut cursor).filter(|child| !child.is_extra() && !is_attribute(*child));
        if others.count() != 1 {
            break;
        }
        node = parent;
    }
    node
}

/// The comments and attributes that stand directly before a node, in order.
fn before(parsed: &Parsed, node: Node<'_>) -> Vec<Lead> {
    let mut lead = Vec::new();
    let mut first = node;
    // What stands before the first thing of a block may hang before the block.
    while let Some(parent) = first.parent().filter(|parent| parent.kind() == "block") {
        if first.prev_sibling().is_some() {
            break;
        }
        first = parent;
    }
    let (mut at, mut start) = (first, node.start_byte());
    while let Some(previous) = at.prev_sibling() {
        let text = parsed.slice(previous.byte_range());
        let end = previous.start_byte() + text.trim_end().len();
        let is_near = parsed.slice(end..start).matches('\n').count() <= 1;
        let line = parsed.slice(0..previous.start_byte()).rsplit('\n').next().unwrap_or_default();
        let is_alone = line.trim().is_empty();
        let is_attribute = is_attribute(previous);
        // What speaks of the whole file is none of the symbol's.
        let is_of_file = ["//!", "/*!", "#!"].iter().any(|mark| text.starts_with(mark)) && !text.starts_with("#![");
        let is_comment = is_comment(previous) && is_alone && !is_of_file;
        if !is_near || !(is_comment || (is_attribute && !text.starts_with("#!["))) {
            break;
        }
        lead.push(Lead { range: previous.start_byte()..end, is_attribute });
        (at, start) = (previous, previous.start_byte());
    }
    lead.reverse();
    lead
}

/// Adds the attributes that a node begins with, and gives where the rest of it begins.
fn within(node: Node<'_>, lead: &mut Vec<Lead>) -> usize {
    let mut next = node.child(0);
    let mut start = node.start_byte();
    while let Some(child) = next {
        if child.kind() == "modifiers" && child.child(0).is_some_and(is_attribute) {
            next = child.child(0);
            continue;
        }
        let is_between = is_comment(child) && start > node.start_byte();
        if !is_attribute(child) && !is_between {
            return child.start_byte();
        }
        lead.push(Lead { range: child.byte_range(), is_attribute: is_attribute(child) });
        start = child.end_byte();
        let after_all =
            || child.parent().filter(|parent| parent.kind() == "modifiers").and_then(|all| all.next_sibling());
        next = child.next_sibling().or_else(after_all);
    }
    node.start_byte()
}

fn is_attribute(node: Node<'_>) -> bool {
    matches!(node.kind(), "attribute_item" | "decorator" | "annotation" | "marker_annotation")
}

fn is_comment(node: Node<'_>) -> bool {
    node.kind().contains("comment")
}

/// The names that a node defines, each with what it is in beyond the symbols around it; none where it defines nothing.
fn definition(parsed: &Parsed, node: Node<'_>) -> Vec<Vec<Segment>> {
    let text = |node: Node<'_>| plain(parsed.slice(node.byte_range()));
    let named = |field: &str| -> Vec<Vec<Segment>> {
        let mut cursor = node.walk();
        node.children_by_field_name(field, &mut cursor)
            .filter(Node::is_named)
            .map(|name| vec![Segment::new(text(name))])
            .collect()
    };
    // Asking for a node's parent is not cheap, so only what may be a definition is asked.
    let parent = || node.parent();
    let is_in = |kinds: &[&str]| parent().is_some_and(|parent| kinds.contains(&parent.kind()));
    match (parsed.language, node.kind()) {
        (
            Language::Rust,
            "function_item"
            | "function_signature_item"
            | "struct_item"
            | "enum_item"
            | "union_item"
            | "trait_item"
            | "mod_item"
            | "const_item"
            | "static_item"
            | "type_item"
            | "associated_type"
            | "macro_definition",
        ) => named("name"),
        (Language::Rust, "impl_item") => implementation(node, &text).map(|segment| vec![segment]).into_iter().collect(),

        (
            Language::TypeScript | Language::Tsx | Language::JavaScript,
            "function_declaration"
            | "generator_function_declaration"
            | "function_signature"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "internal_module"
            | "module"
            | "method_definition"
            | "method_signature"
            | "abstract_method_signature"
            | "public_field_definition",
        ) => named("name"),
        (Language::JavaScript, "field_definition") => named("property"),
        (Language::TypeScript | Language::Tsx | Language::JavaScript, "variable_declarator") => {
            let holds_code = node.child_by_field_name("value").is_some_and(|value| {
                matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function" | "class")
            });
            if holds_code || parent().is_some_and(is_of_module) { named("name") } else { Vec::new() }
        }

        (Language::Python, "function_definition" | "class_definition") => named("name"),
        (Language::Python, "assignment") => {
            let around = parent().and_then(|statement| statement.parent());
            let of_class = |block: Node<'_>| block.parent().is_some_and(|of| of.kind() == "class_definition");
            let is_member = around.is_some_and(|around| around.kind() == "module" || of_class(around));
            let is_name = node.child_by_field_name("left").is_some_and(|left| left.kind() == "identifier");
            if is_member && is_name { named("left") } else { Vec::new() }
        }

        (Language::Go, "function_declaration" | "type_spec" | "type_alias") => named("name"),
        (Language::Go, "method_declaration") => {
            let receiver = node.child_by_field_name("receiver").map(text).unwrap_or_default();
            let own = receiver.trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or_default();
            let of = Segment::new(own.split('[').next().unwrap_or_default());
            named("name").into_iter().map(|name| [vec![of.clone()], name].concat()).collect()
        }
        (Language::Go, "const_spec" | "var_spec") => {
            let declaration =
                parent().map(|of| if of.kind() == "var_spec_list" { of.parent().unwrap_or(of) } else { of });
            let is_outermost = declaration.and_then(|of| of.parent()).is_some_and(|of| of.kind() == "source_file");
            if is_outermost { named("name") } else { Vec::new() }
        }

        (Language::C, "preproc_def" | "preproc_function_def") => named("name"),
        (Language::C, "struct_specifier" | "union_specifier" | "enum_specifier") => {
            let defines = node.child_by_field_name("body").is_some();
            // `typedef struct A { … } A` is one symbol.
            if defines && !is_in(&["type_definition"]) { named("name") } else { Vec::new() }
        }
        (Language::C, "function_definition" | "type_definition") => declared(node, &text),
        (Language::C, "declaration") if !is_in(&["compound_statement", "for_statement", "case_statement"]) => {
            declared(node, &text)
        }

        (
            Language::Java,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
            | "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration",
        ) => named("name"),
        (Language::Java, "field_declaration" | "constant_declaration") => declared(node, &text),

        (Language::Json, "pair") => {
            let key = node.child_by_field_name("key").map(text).unwrap_or_default();
            vec![vec![Segment::new(key.trim_matches('"'))]]
        }

        (Language::Bash, "function_definition") => named("name"),
        (Language::Bash, "variable_assignment") if is_in(&["program"]) => named("name"),
        _ => Vec::new(),
    }
}

/// `impl A` and `impl B for A`, which can be named with and without type parameters.
fn implementation(node: Node<'_>, text: &impl Fn(Node<'_>) -> String) -> Option<Segment> {
    let of = node.child_by_field_name("type")?;
    let bare = |node: Node<'_>| {
        text(node.child_by_field_name("type").filter(|_| node.kind() == "generic_type").unwrap_or(node))
    };
    let last = |name: String| name.rsplit("::").next().unwrap_or_default().to_owned();
    let (full, short, shortest) = match node.child_by_field_name("trait") {
        Some(of_trait) => (
            format!("impl {} for {}", text(of_trait), text(of)),
            format!("impl {} for {}", bare(of_trait), bare(of)),
            format!("impl {} for {}", last(bare(of_trait)), last(bare(of))),
        ),
        None => (format!("impl {}", text(of)), format!("impl {}", bare(of)), format!("impl {}", last(bare(of)))),
    };
    let within = vec![text(of), bare(of), last(bare(of))];
    Some(Segment { name: full, also: vec![short, shortest], within })
}

/// The names that declarators declare, however they are wrapped in `*`, `()` and `[]`.
fn declared(node: Node<'_>, text: &impl Fn(Node<'_>) -> String) -> Vec<Vec<Segment>> {
    let mut names = Vec::new();
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let mut inner = declarator;
        loop {
            let deeper = inner
                .child_by_field_name("declarator")
                .or_else(|| inner.named_child(0).filter(|_| inner.kind() == "parenthesized_declarator"));
            match deeper {
                Some(deeper) => inner = deeper,
                None => break,
            }
        }
        let name = inner.child_by_field_name("name").unwrap_or(inner);
        names.push(vec![Segment::new(text(name))]);
    }
    names
}

/// Whether a declaration of variables is a module's own, not a function's.
fn is_of_module(declaration: Node<'_>) -> bool {
    let around = wrapped_in_export(declaration);
    let of_namespace = |block: Node<'_>| {
        block.kind() == "statement_block"
            && block.parent().is_some_and(|of| matches!(of.kind(), "internal_module" | "module"))
    };
    matches!(declaration.kind(), "lexical_declaration" | "variable_declaration")
        && around.is_some_and(|around| around.kind() == "program" || of_namespace(around))
}

fn wrapped_in_export(node: Node<'_>) -> Option<Node<'_>> {
    let mut around = node.parent()?;
    while matches!(around.kind(), "export_statement" | "ambient_declaration") {
        around = around.parent()?;
    }
    Some(around)
}

/// A name with single spaces.
fn plain(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
