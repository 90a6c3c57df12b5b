//! The definitions of symbols: a table of the grammars' node kinds for each language.
//!
//! The tag queries that come with the grammars leave out much (impl blocks, fields, namespaces) and differ in what they
//! call a name.

use std::ops::Range;

use tree_sitter::Node;

use super::{Language, Parsed, SymbolKind, html};

/// How much of a name is kept, in characters; what is longer ends with `…`.
const MAX_NAME: usize = 200;

/// How much of a text is looked at for a name, in bytes.
const MAX_LOOK: usize = 8 << 10;

/// How many names a path may have where it is defined, such as `a::b::c`. One that is longer is taken for one name.
const MAX_SEGMENTS: usize = 100;

/// A symbol that a node defines.
pub(super) struct Definition {
    /// Its name, after those of what it is in beyond the symbols around it.
    pub(super) own: Vec<Segment>,
    /// Where its name stands.
    pub(super) name: Range<usize>,
    pub(super) kind: SymbolKind,
}

/// A name in a path, and what else it may be called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) name: String,
    /// Other names as a symbol.
    pub(super) also: Vec<String>,
    /// Other names of what is in it: methods of `impl A` are in `A`.
    pub(super) within: Vec<String>,
}

impl Segment {
    fn new(name: String) -> Self {
        Self { name, also: Vec::new(), within: Vec::new() }
    }

    fn or(name: String, also: Vec<String>) -> Self {
        Self { also, ..Self::new(name) }
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|also| also == name)
    }

    pub(super) fn holds_as(&self, name: &str) -> bool {
        self.is_called(name) || self.within.iter().any(|within| within == name)
    }
}

/// Returns the definitions of a node of a text or of an embedded part of it, at most so many; nothing for most nodes.
/// `around` are the nodes that it is in, outermost first.
pub(super) fn definitions<'t>(
    parsed: &Parsed,
    language: Language,
    node: Node<'t>,
    around: &[Node<'t>],
    most: usize,
) -> Vec<Definition> {
    if !node.is_named() {
        return Vec::new();
    }
    let at = At { parsed, node, around, most };
    match language {
        Language::Rust => rust(at),
        Language::TypeScript | Language::Tsx | Language::JavaScript => script(at),
        Language::Python => python(at),
        Language::Go => go(at),
        Language::C => c(at),
        Language::Cpp => cpp(at),
        Language::CSharp => csharp(at),
        Language::Java => java(at),
        Language::Php => php(at),
        Language::Ruby => ruby(at),
        Language::Lua => lua(at),
        Language::Html => page(at),
        Language::Css => css(at),
        Language::Json => json(at),
        Language::Bash => bash(at),
    }
}

/// A name with single spaces, cut off where it is too long. What it gives it does not change again.
pub(super) fn plain(name: &str) -> String {
    let head = name.get(..name.floor_char_boundary(MAX_LOOK)).unwrap_or(name);
    let mut plain = String::new();
    for word in head.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    if head.len() < name.len() && plain.chars().count() <= MAX_NAME {
        plain.push('…');
    }
    cut(plain)
}

fn cut(mut name: String) -> String {
    if name.len() > MAX_NAME
        && let Some((end, _)) = name.char_indices().nth(MAX_NAME)
    {
        name.truncate(end);
        name.push('…');
    }
    name
}

/// The names of a path, such as `a::b`.
fn segments(path: &str, separators: &[&str]) -> Vec<Segment> {
    let mut names = vec![path];
    for separator in separators {
        let parts = names.into_iter().flat_map(|name| name.split(separator));
        names = parts.filter(|name| !name.trim().is_empty()).take(MAX_SEGMENTS + 1).collect();
    }
    if names.len() > MAX_SEGMENTS {
        names = vec![path];
    }
    names.into_iter().map(|name| Segment::new(plain(name))).collect()
}

fn rust(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "function_item" | "function_signature_item" => SymbolKind::Function,
        "struct_item" | "union_item" => SymbolKind::Struct,
        "enum_item" => SymbolKind::Enum,
        "trait_item" => SymbolKind::Trait,
        "mod_item" => SymbolKind::Module,
        "const_item" | "static_item" => SymbolKind::Constant,
        "type_item" | "associated_type" => SymbolKind::Type,
        "macro_definition" => SymbolKind::Macro,
        "impl_item" => return at.implementation(),
        _ => return Vec::new(),
    };
    at.named(kind, "name")
}

fn script(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => SymbolKind::Function,
        "class_declaration" | "abstract_class_declaration" => SymbolKind::Class,
        "interface_declaration" => SymbolKind::Interface,
        "type_alias_declaration" => SymbolKind::Type,
        "enum_declaration" => SymbolKind::Enum,
        "internal_module" | "module" => SymbolKind::Namespace,
        "method_definition" | "method_signature" | "abstract_method_signature" => SymbolKind::Method,
        "public_field_definition" => SymbolKind::Field,
        "field_definition" => return at.named(SymbolKind::Field, "property"),
        "variable_declarator" => {
            let holds = match at.field("value").map(|value| value.kind()) {
                Some("arrow_function" | "function_expression" | "generator_function") => Some(SymbolKind::Function),
                Some("class") => Some(SymbolKind::Class),
                _ => None,
            };
            let Some(declaration) = at.outer(0) else { return Vec::new() };
            let is_constant = declaration.child(0).is_some_and(|word| word.kind() == "const");
            let value = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
            return match holds {
                Some(kind) => at.named(kind, "name"),
                None if at.is_of_module() => at.named(value, "name"),
                None => Vec::new(),
            };
        }
        _ => return Vec::new(),
    };
    at.named(kind, "name")
}

fn python(at: At<'_, '_>) -> Vec<Definition> {
    match at.kind() {
        "function_definition" => at.named(SymbolKind::Function, "name"),
        "class_definition" => at.named(SymbolKind::Class, "name"),
        "assignment" => {
            // A statement is around it, and around that a module or the block of a class.
            let of_class = || at.outer(2).is_some_and(|of| of.kind() == "class_definition");
            let is_member = at.outer(1).is_some_and(|around| around.kind() == "module" || of_class());
            let is_name = at.field("left").is_some_and(|left| left.kind() == "identifier");
            if is_member && is_name { at.named(SymbolKind::Variable, "left") } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

fn go(at: At<'_, '_>) -> Vec<Definition> {
    match at.kind() {
        "function_declaration" => at.named(SymbolKind::Function, "name"),
        "type_alias" => at.named(SymbolKind::Type, "name"),
        "type_spec" => {
            let kind = match at.field("type").map(|of| of.kind()) {
                Some("struct_type") => SymbolKind::Struct,
                Some("interface_type") => SymbolKind::Interface,
                _ => SymbolKind::Type,
            };
            at.named(kind, "name")
        }
        "method_declaration" => {
            let receiver = at.field("receiver").map(|receiver| at.text(receiver)).unwrap_or_default();
            let own = receiver.trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or_default();
            let of = Segment::new(own.split('[').next().unwrap_or_default().to_owned());
            at.named(SymbolKind::Method, "name").into_iter().map(|method| method.of(of.clone())).collect()
        }
        kind @ ("const_spec" | "var_spec") => {
            let declaration = if at.is_in(&["var_spec_list"]) { 1 } else { 0 };
            let is_outermost = at.outer(declaration + 1).is_some_and(|of| of.kind() == "source_file");
            let kind = if kind == "const_spec" { SymbolKind::Constant } else { SymbolKind::Variable };
            if is_outermost { at.named(kind, "name") } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

fn c(at: At<'_, '_>) -> Vec<Definition> {
    match at.kind() {
        "preproc_def" | "preproc_function_def" => at.named(SymbolKind::Macro, "name"),
        // `typedef struct A { … } A` is one symbol.
        "struct_specifier" | "union_specifier" if at.has("body") && !at.is_in(&["type_definition"]) => {
            at.named(SymbolKind::Struct, "name")
        }
        "enum_specifier" if at.has("body") && !at.is_in(&["type_definition"]) => at.named(SymbolKind::Enum, "name"),
        "function_definition" => at.declared(SymbolKind::Function),
        "type_definition" => at.declared(SymbolKind::Type),
        "declaration" if !at.is_in(&["compound_statement", "for_statement", "case_statement"]) => {
            at.declared(SymbolKind::Variable)
        }
        _ => Vec::new(),
    }
}

fn cpp(at: At<'_, '_>) -> Vec<Definition> {
    /// Where a declaration is none of a function's variables.
    const OUTSIDE: &[&str] = &[
        "translation_unit",
        "declaration_list",
        "field_declaration_list",
        "template_declaration",
        "linkage_specification",
        "friend_declaration",
        "preproc_if",
        "preproc_ifdef",
        "preproc_elif",
        "preproc_elifdef",
        "preproc_else",
    ];
    match at.kind() {
        "preproc_def" | "preproc_function_def" => at.named(SymbolKind::Macro, "name"),
        "namespace_definition" => at.path(SymbolKind::Namespace, "name", "::"),
        "class_specifier" if at.has("body") => at.scoped(SymbolKind::Class),
        "struct_specifier" | "union_specifier" if at.has("body") && !at.is_in(&["type_definition"]) => {
            at.scoped(SymbolKind::Struct)
        }
        "enum_specifier" if at.has("body") && !at.is_in(&["type_definition"]) => at.scoped(SymbolKind::Enum),
        "alias_declaration" | "concept_definition" => at.named(SymbolKind::Type, "name"),
        "function_definition" => at.declared(SymbolKind::Function),
        "type_definition" => at.declared(SymbolKind::Type),
        "field_declaration" => at.declared(SymbolKind::Field),
        "declaration" if at.is_in(OUTSIDE) => at.declared(SymbolKind::Variable),
        _ => Vec::new(),
    }
}

fn csharp(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "namespace_declaration" | "file_scoped_namespace_declaration" => {
            return at.path(SymbolKind::Namespace, "name", ".");
        }
        "class_declaration" | "record_declaration" => SymbolKind::Class,
        "struct_declaration" => SymbolKind::Struct,
        "interface_declaration" => SymbolKind::Interface,
        "enum_declaration" => SymbolKind::Enum,
        "delegate_declaration" => SymbolKind::Type,
        "method_declaration" => SymbolKind::Method,
        "constructor_declaration" => SymbolKind::Constructor,
        "local_function_statement" => SymbolKind::Function,
        "property_declaration" | "event_declaration" => SymbolKind::Property,
        "destructor_declaration" => {
            let tilde = |name: Node<'_>| Segment::new(cut(format!("~{}", at.text(name))));
            return at
                .field("name")
                .map(|name| at.one(SymbolKind::Method, name, vec![tilde(name)]))
                .into_iter()
                .collect();
        }
        "indexer_declaration" => return at.word("this", SymbolKind::Property, ""),
        "operator_declaration" => return at.word("operator", SymbolKind::Method, "operator"),
        "conversion_operator_declaration" => return at.word("operator", SymbolKind::Method, "type"),
        "field_declaration" | "event_field_declaration" => {
            let mut cursor = at.node.walk();
            let Some(declaration) =
                at.node.named_children(&mut cursor).find(|child| child.kind() == "variable_declaration")
            else {
                return Vec::new();
            };
            let kind = if at.has_modifier("const") { SymbolKind::Constant } else { SymbolKind::Field };
            return at.each(kind, declaration, "variable_declarator");
        }
        _ => return Vec::new(),
    };
    at.named(kind, "name")
}

fn java(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "class_declaration" | "record_declaration" => SymbolKind::Class,
        "interface_declaration" | "annotation_type_declaration" => SymbolKind::Interface,
        "enum_declaration" => SymbolKind::Enum,
        "method_declaration" => SymbolKind::Method,
        "constructor_declaration" | "compact_constructor_declaration" => SymbolKind::Constructor,
        "field_declaration" => return at.declared(SymbolKind::Field),
        "constant_declaration" => return at.declared(SymbolKind::Constant),
        _ => return Vec::new(),
    };
    at.named(kind, "name")
}

fn php(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "namespace_definition" => return at.path(SymbolKind::Namespace, "name", "\\"),
        "class_declaration" => SymbolKind::Class,
        "interface_declaration" => SymbolKind::Interface,
        "trait_declaration" => SymbolKind::Trait,
        "enum_declaration" => SymbolKind::Enum,
        "function_definition" => SymbolKind::Function,
        "method_declaration" => SymbolKind::Method,
        "const_declaration" => return at.each(SymbolKind::Constant, at.node, "const_element"),
        "property_declaration" => return at.each(SymbolKind::Field, at.node, "property_element"),
        "assignment_expression" => {
            let is_code =
                at.field("right").is_some_and(|value| matches!(value.kind(), "anonymous_function" | "arrow_function"));
            let name = at.field("left").filter(|left| is_code && left.kind() == "variable_name");
            return name.map(|name| at.variable(SymbolKind::Function, name)).into_iter().collect();
        }
        _ => return Vec::new(),
    };
    at.named(kind, "name")
}

fn ruby(at: At<'_, '_>) -> Vec<Definition> {
    match at.kind() {
        "module" => at.path(SymbolKind::Module, "name", "::"),
        "class" => at.path(SymbolKind::Class, "name", "::"),
        "method" | "alias" => at.named(SymbolKind::Function, "name"),
        "singleton_method" => {
            let object = at.field("object").map(|object| at.text(object)).unwrap_or_default();
            let with_object = |name: Node<'_>| {
                let name = at.text(name);
                Segment { also: vec![cut(format!("{object}.{name}"))], ..Segment::new(name) }
            };
            let name = at.field("name");
            name.map(|name| at.one(SymbolKind::Method, name, vec![with_object(name)])).into_iter().collect()
        }
        "assignment" => match at.field("left").map(|left| left.kind()) {
            Some("constant") => at.named(SymbolKind::Constant, "left"),
            _ => Vec::new(),
        },
        "call" => {
            let method = at.field("method").map(|method| at.slice(method)).unwrap_or_default();
            let arguments = at.field("arguments");
            let Some(arguments) =
                arguments.filter(|_| matches!(method, "attr_reader" | "attr_writer" | "attr_accessor"))
            else {
                return Vec::new();
            };
            let mut cursor = arguments.walk();
            let symbols = arguments.named_children(&mut cursor).filter(|argument| argument.kind() == "simple_symbol");
            let property = |symbol: Node<'_>| {
                at.one(
                    SymbolKind::Property,
                    symbol,
                    vec![Segment::new(plain(at.slice(symbol).trim_start_matches(':')))],
                )
            };
            symbols.take(at.most).map(property).collect()
        }
        _ => Vec::new(),
    }
}

fn lua(at: At<'_, '_>) -> Vec<Definition> {
    let with_path = |kind: SymbolKind, name: Node<'_>| at.one(kind, name, segments(at.slice(name), &[".", ":"]));
    let is_function = |value: Option<Node<'_>>| value.is_some_and(|value| value.kind() == "function_definition");
    match at.kind() {
        "function_declaration" => {
            let Some(name) = at.field("name") else { return Vec::new() };
            let is_method = name.kind() == "method_index_expression";
            vec![with_path(if is_method { SymbolKind::Method } else { SymbolKind::Function }, name)]
        }
        "assignment_statement" => {
            let (Some(names), Some(values)) = (at.node.named_child(0), at.node.named_child(1)) else {
                return Vec::new();
            };
            let around = if at.is_in(&["variable_declaration"]) { 1 } else { 0 };
            let is_outermost = at.outer(around).is_some_and(|around| around.kind() == "chunk");
            let (mut of_names, mut of_values) = (names.walk(), values.walk());
            let mut values = values.children_by_field_name("value", &mut of_values);
            let mut defined = Vec::new();
            for name in names.children_by_field_name("name", &mut of_names).take(at.most) {
                if is_function(values.next()) {
                    defined.push(with_path(SymbolKind::Function, name));
                } else if is_outermost && name.kind() == "identifier" {
                    defined.push(with_path(SymbolKind::Variable, name));
                }
            }
            defined
        }
        "field" if is_function(at.field("value")) => at.named(SymbolKind::Method, "name"),
        _ => Vec::new(),
    }
}

fn page(at: At<'_, '_>) -> Vec<Definition> {
    if !matches!(at.kind(), "element" | "script_element" | "style_element") {
        return Vec::new();
    }
    let (Some((name, id)), Some(tag)) = (html::section(at.parsed, at.node), html::tag(at.node)) else {
        return Vec::new();
    };
    let name = plain(name);
    let segment = match id.map(plain) {
        Some(id) => Segment::or(cut(format!("{name}#{id}")), vec![cut(format!("#{id}")), id, name]),
        None => {
            let tag = cut(format!("<{name}>"));
            Segment::or(name, vec![tag])
        }
    };
    vec![at.one(SymbolKind::Element, tag, vec![segment])]
}

fn css(at: At<'_, '_>) -> Vec<Definition> {
    let kind = match at.kind() {
        "rule_set" => SymbolKind::Rule,
        "media_statement" => SymbolKind::Media,
        "keyframes_statement" => SymbolKind::Keyframes,
        "supports_statement" | "scope_statement" | "at_rule" => SymbolKind::AtRule,
        _ => return Vec::new(),
    };
    let mut cursor = at.node.walk();
    let block =
        at.node.named_children(&mut cursor).find(|child| matches!(child.kind(), "block" | "keyframe_block_list"));
    let Some(block) = block else { return Vec::new() };
    let before = at.node.start_byte()..block.start_byte();
    let whole = at.parsed.slice(before.clone());
    let head = plain(whole);
    let also: Vec<String> = match kind {
        SymbolKind::Rule if whole.contains(',') => whole.split(',').take(MAX_SEGMENTS).map(plain).collect(),
        SymbolKind::Keyframes => head.split(' ').skip(1).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let end = before.start + whole.trim_end().len();
    vec![Definition { own: vec![Segment::or(head, also)], name: before.start..end, kind }]
}

fn json(at: At<'_, '_>) -> Vec<Definition> {
    let Some(key) = at.field("key").filter(|_| at.kind() == "pair") else { return Vec::new() };
    vec![at.one(SymbolKind::Key, key, vec![Segment::new(plain(at.slice(key).trim_matches('"')))])]
}

fn bash(at: At<'_, '_>) -> Vec<Definition> {
    match at.kind() {
        "function_definition" => at.named(SymbolKind::Function, "name"),
        "variable_assignment" if at.is_in(&["program"]) => at.named(SymbolKind::Variable, "name"),
        _ => Vec::new(),
    }
}

impl Definition {
    /// The same as something of a type that stands elsewhere.
    fn of(mut self, of: Segment) -> Self {
        self.own.insert(0, of);
        self
    }
}

/// A node, and the questions that the tables ask.
#[derive(Clone, Copy)]
struct At<'p, 't> {
    parsed: &'p Parsed,
    node: Node<'t>,
    /// The nodes that it is in, outermost first.
    around: &'p [Node<'t>],
    /// How many definitions are wanted.
    most: usize,
}

impl<'p, 't> At<'p, 't> {
    fn kind(&self) -> &'static str {
        self.node.kind()
    }

    fn field(&self, field: &str) -> Option<Node<'t>> {
        self.node.child_by_field_name(field)
    }

    fn has(&self, field: &str) -> bool {
        self.field(field).is_some()
    }

    /// Returns the node that it is in at this level; 0 is the innermost.
    fn outer(&self, level: usize) -> Option<Node<'t>> {
        self.around.iter().nth_back(level).copied()
    }

    fn is_in(&self, kinds: &[&str]) -> bool {
        self.outer(0).is_some_and(|parent| kinds.contains(&parent.kind()))
    }

    /// True if the declaration around this variable is a module's own, not a function's.
    fn is_of_module(&self) -> bool {
        let is_declaration = self.is_in(&["lexical_declaration", "variable_declaration"]);
        let mut around = self.around.iter().rev().skip(1);
        let around_all = around.find(|node| !matches!(node.kind(), "export_statement" | "ambient_declaration"));
        let is_namespace =
            |of: Option<&Node<'_>>| of.is_some_and(|of| matches!(of.kind(), "internal_module" | "module"));
        is_declaration
            && around_all.is_some_and(|all| {
                all.kind() == "program" || (all.kind() == "statement_block" && is_namespace(around.next()))
            })
    }

    fn has_modifier(&self, word: &str) -> bool {
        let mut cursor = self.node.walk();
        let is_it = |child: Node<'_>| child.kind() == "modifier" && self.slice(child) == word;
        self.node.named_children(&mut cursor).any(is_it)
    }

    fn slice(&self, node: Node<'_>) -> &'p str {
        self.parsed.slice(node.byte_range())
    }

    fn text(&self, node: Node<'_>) -> String {
        plain(self.slice(node))
    }

    fn one(&self, kind: SymbolKind, name: Node<'_>, own: Vec<Segment>) -> Definition {
        Definition { own, name: name.byte_range(), kind }
    }

    /// Returns the definitions that a field names, several if the node has several of it.
    fn named(&self, kind: SymbolKind, field: &str) -> Vec<Definition> {
        let mut cursor = self.node.walk();
        let names = self.node.children_by_field_name(field, &mut cursor).filter(Node::is_named);
        names.take(self.most).map(|name| self.one(kind, name, vec![Segment::new(self.text(name))])).collect()
    }

    /// Returns the definition that is named by a path of names.
    fn path(&self, kind: SymbolKind, field: &str, separator: &str) -> Vec<Definition> {
        let named = self.field(field).map(|name| self.one(kind, name, segments(self.slice(name), &[separator])));
        named.filter(|found| !found.own.is_empty()).into_iter().collect()
    }

    /// Returns the definition that is named by a word of the grammar and the text of a field.
    fn word(&self, word: &str, kind: SymbolKind, field: &str) -> Vec<Definition> {
        let mut cursor = self.node.walk();
        let Some(at) = self.node.children(&mut cursor).find(|child| child.kind() == word) else { return Vec::new() };
        let more = self.field(field).map(|more| self.text(more)).unwrap_or_default();
        vec![self.one(kind, at, vec![Segment::new(plain(&format!("{word} {more}")))])]
    }

    /// Returns the definitions that are named by the nodes of a kind in another node.
    fn each(&self, kind: SymbolKind, list: Node<'_>, element: &str) -> Vec<Definition> {
        let mut cursor = list.walk();
        let elements = list.named_children(&mut cursor).filter(|child| child.kind() == element);
        let mut defined = Vec::new();
        for element in elements.take(self.most) {
            if let Some(name) = element.child_by_field_name("name").or_else(|| element.named_child(0)) {
                defined.push(self.variable(kind, name));
            }
        }
        defined
    }

    /// Returns the definition of a name that may be used with and without its `$`.
    fn variable(&self, kind: SymbolKind, name: Node<'_>) -> Definition {
        let text = self.text(name);
        let bare = text.strip_prefix('$').map(str::to_owned);
        self.one(kind, name, vec![Segment::or(text, bare.into_iter().collect())])
    }

    /// Returns the definitions of declarators, however they are wrapped in `*`, `&`, `()` and `[]`. Of those that look
    /// like a variable, one that has parameters is a function.
    fn declared(&self, kind: SymbolKind) -> Vec<Definition> {
        const WRAPPERS: &[&str] = &["parenthesized_declarator", "reference_declarator", "attributed_declarator"];
        let mut cursor = self.node.walk();
        let mut defined = Vec::new();
        for declarator in self.node.children_by_field_name("declarator", &mut cursor).take(self.most) {
            let (mut inner, mut has_parameters) = (declarator, false);
            while inner.kind() != "operator_cast" {
                let deeper = inner
                    .child_by_field_name("declarator")
                    .or_else(|| inner.named_child(0).filter(|_| WRAPPERS.contains(&inner.kind())));
                let Some(deeper) = deeper else { break };
                has_parameters = inner.kind() == "function_declarator";
                inner = deeper;
            }
            let is_function = has_parameters || inner.kind() == "operator_cast";
            let kind = match kind {
                SymbolKind::Variable | SymbolKind::Field if is_function => SymbolKind::Function,
                kind => kind,
            };
            defined.extend(self.qualified(kind, inner));
        }
        defined
    }

    /// Returns the definition that is named by a field that may say what it is in.
    fn scoped(&self, kind: SymbolKind) -> Vec<Definition> {
        self.field("name").and_then(|name| self.qualified(kind, name)).into_iter().collect()
    }

    /// Returns the definition that is named by a name of C++, such as `Shop<T>::total`.
    fn qualified(&self, kind: SymbolKind, mut name: Node<'_>) -> Option<Definition> {
        let bare = |node: Node<'_>| {
            let is_template = matches!(node.kind(), "template_type" | "template_function" | "template_method");
            let named = is_template.then(|| node.child_by_field_name("name")).flatten();
            Segment::new(self.text(named.unwrap_or(node)))
        };
        let mut own = Vec::new();
        while name.kind() == "qualified_identifier" {
            own.extend(name.child_by_field_name("scope").map(bare));
            name = name.child_by_field_name("name")?;
        }
        if name.kind() == "operator_cast" {
            let end = name.child_by_field_name("declarator").map_or(name.end_byte(), |after| after.start_byte());
            let range = name.start_byte()..end;
            own.push(Segment::new(plain(self.parsed.slice(range.clone()))));
            return Some(Definition { own, name: range, kind });
        }
        let kind = match kind {
            SymbolKind::Function if !own.is_empty() => SymbolKind::Method,
            kind => kind,
        };
        let inner = name.child_by_field_name("name").filter(|_| name.kind() == "variable_declarator").unwrap_or(name);
        own.push(bare(inner));
        Some(self.one(kind, inner, own))
    }

    /// `impl A` and `impl B for A`, which can be named with and without type parameters.
    fn implementation(&self) -> Vec<Definition> {
        let Some(of) = self.field("type") else { return Vec::new() };
        let bare = |node: Node<'_>| {
            self.text(node.child_by_field_name("type").filter(|_| node.kind() == "generic_type").unwrap_or(node))
        };
        let last = |name: String| name.rsplit("::").next().unwrap_or_default().to_owned();
        let (full, short, shortest) = match self.field("trait") {
            Some(of_trait) => (
                format!("impl {} for {}", self.text(of_trait), self.text(of)),
                format!("impl {} for {}", bare(of_trait), bare(of)),
                format!("impl {} for {}", last(bare(of_trait)), last(bare(of))),
            ),
            None => {
                (format!("impl {}", self.text(of)), format!("impl {}", bare(of)), format!("impl {}", last(bare(of))))
            }
        };
        let (full, short, shortest) = (cut(full), cut(short), cut(shortest));
        let within = vec![self.text(of), bare(of), last(bare(of))];
        vec![self.one(SymbolKind::Impl, of, vec![Segment { within, ..Segment::or(full, vec![short, shortest]) }])]
    }
}
