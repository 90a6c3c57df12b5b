//! Symbols: the functions, types, constants and modules of a text, by name.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use project::search::distance;
use tree_sitter::Node;

use super::definitions::{Definition, Segment, definitions, plain};
use super::{Language, Parsed, SymbolKind, Walk};

/// How many symbols of a text are known: the first 50,000. Hand-written files have a few thousand at most.
pub const MAX_SYMBOLS: usize = 50_000;

/// How deep a symbol may lie in the tree. Who nests deeper wants to keep us busy: to look at what is around a node
/// takes the longer the deeper it lies.
const MAX_DEPTH: usize = 1000;

/// How many names are given for one that is not there, and among how many that are as near they are looked for.
const NEAREST: usize = 5;
const MOST_ALIKE: usize = 1000;

/// How long a signature may be, in characters, and how much of the text is looked at for it.
const MAX_SIGNATURE: usize = 160;
const MAX_LOOK: usize = 8 << 10;

/// How many nodes are looked at to see whether a definition is wrapped in what holds nothing else.
const MAX_WRAPPED: usize = 100;

/// The symbols of a text, in the order in which they begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// All of them, those within others too.
    pub symbols: Vec<Symbol>,
    /// True if there are more than [`MAX_SYMBOLS`], of which these are the first.
    pub is_cut: bool,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, after that of the type that it is a method of where that stands elsewhere.
    own: Vec<Segment>,
    /// Its definition, from its first keyword to its end, with the `;` that ends it.
    pub range: Range<usize>,
    /// The comments and attributes directly before it, in order.
    pub lead: Arc<[Lead]>,
    /// The kind of symbol.
    pub kind: SymbolKind,
    /// The language it is written in, which in an HTML page may be another than the page's.
    pub language: Language,
    /// Where its name stands; the tag of an element.
    pub selection: Range<usize>,
    /// Its line, from 1: that of what defines it, after `export`, `template <…>` and the like.
    pub line: usize,
    /// The line where it begins, from 1, and the one where it ends.
    pub lines: RangeInclusive<usize>,
    /// The symbol that it is in, by its place in the outline.
    pub parent: Option<usize>,
    /// True if there are syntax errors in it.
    pub has_errors: bool,
    /// True if it is one of a list that `,` separates.
    pub is_listed: bool,
}

/// A comment or an attribute that belongs to a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Its bytes.
    pub range: Range<usize>,
    /// True if it is an attribute, annotation or decorator, and no comment.
    pub is_attribute: bool,
}

/// The result of a lookup of a path of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'o> {
    /// The symbol.
    One(&'o Symbol),
    /// Several that it may mean.
    Several(Vec<&'o Symbol>),
    /// None, and the names that are most like it; where none is, the first there are.
    None(Vec<String>),
}

impl Outline {
    /// The symbols of a text, but for those that nest deeper than any program does.
    pub fn new(parsed: &Parsed) -> Self {
        let mut outline = Self { symbols: Vec::new(), is_cut: false };
        collect(parsed, parsed.language, parsed.root(), None, &mut outline);
        outline
    }

    /// The symbol that a path means: `Type/method`, or any end of its path of names. A `/` at its beginning makes it
    /// the whole path; `[2]` at its end means the second of those it fits, in their order. What languages write in
    /// place of `/`, such as `.` and `::`, is taken for it where nothing else fits.
    pub fn find(&self, path: &str) -> Lookup<'_> {
        let (named, number) = numbered(path.trim());
        let found = self.called(named);
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

    /// All symbols that a path without a number may mean, in their order, as [`Outline::find`] takes it; none if it
    /// means none, and that at little cost.
    pub fn called(&self, path: &str) -> Vec<&Symbol> {
        let named = path.trim();
        let mut found = self.fitting(&named.split('/').collect::<Vec<_>>());
        if found.is_empty() && named.contains('/') {
            found = self.written(named);
        }
        if found.is_empty() && !named.contains('/') {
            let other = named.replace("::", "/").replace(['.', '#', ':', '\\'], "/");
            found = self.fitting(&other.split('/').collect::<Vec<_>>());
        }
        found
    }

    /// A path that means only this one of its symbols.
    pub fn distinct_name(&self, symbol: &Symbol) -> String {
        let whole = format!("/{}", self.name(symbol));
        match self.called(&whole).as_slice() {
            twins @ [_, _, ..] => match twins.iter().position(|twin| *twin == symbol) {
                Some(at) => format!("{whole}[{}]", at + 1),
                None => whole,
            },
            _ => whole,
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
        let fits = |symbol: &&Symbol| {
            // As many names as the path may have, and what is before them.
            let (mut names, mut length) = (Vec::new(), 0);
            for segment in self.segments(symbol) {
                names.push(segment.name.as_str());
                length += segment.name.len() + 1;
                if length > path.len() + 1 {
                    break;
                }
            }
            names.reverse();
            match names.join("/").strip_suffix(path) {
                Some(before) => before.is_empty() || (!is_whole && before.ends_with('/')),
                None => false,
            }
        };
        self.symbols.iter().filter(fits).collect()
    }

    fn nearest(&self, path: &str) -> Vec<String> {
        let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
        let own = path.rsplit(['/', '.', ':']).next().unwrap_or(path);
        let wanted = letters(&plain(own));
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
        near.truncate(MOST_ALIKE);
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

    /// True if one of its symbols has the same path of names as one of another outline.
    pub(crate) fn is_called_as(&self, symbol: &Symbol, other: &Self, its: &Symbol) -> bool {
        let names = self.segments(symbol).map(|segment| &segment.name);
        names.eq(other.segments(its).map(|segment| &segment.name))
    }

    /// The path of names of one of its symbols, as far as it is in the symbol's own language.
    pub fn name_in_language(&self, symbol: &Symbol) -> String {
        let parent = |inner: &&Symbol| inner.parent.and_then(|at| self.symbols.get(at));
        let own = std::iter::successors(Some(symbol), parent).take_while(|outer| outer.language == symbol.language);
        let mut names: Vec<_> =
            own.flat_map(|symbol| symbol.own.iter().rev()).map(|segment| segment.name.as_str()).collect();
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

    /// Its own name, without what it is in.
    pub fn own_name(&self) -> &str {
        self.own.last().map_or("", |segment| &segment.name)
    }

    /// Returns the beginning of the symbol as one line: up to the end of the line on which its name stands, without
    /// the bracket that opens its body.
    pub fn signature(&self, parsed: &Parsed) -> String {
        let name = self.selection.end.clamp(self.range.start, self.range.end);
        let (before, after) = (parsed.slice(self.range.start..name), parsed.slice(name..self.range.end));
        let first = before.chars().chain(after.chars().take_while(|c| *c != '\n'));
        let mut signature = String::new();
        let mut length = 0;
        for (looked, c) in first.enumerate() {
            let is_space = c.is_whitespace();
            if is_space && (signature.is_empty() || signature.ends_with(' ')) && looked < MAX_LOOK {
                continue;
            }
            if length == MAX_SIGNATURE || looked >= MAX_LOOK {
                signature.push('…');
                return signature;
            }
            length += 1;
            signature.push(if is_space { ' ' } else { c });
        }
        let end = signature.trim_end().trim_end_matches('{').trim_end().len();
        signature.truncate(end);
        signature
    }
}

/// A path without the `[2]` at its end, and that number.
pub fn numbered(path: &str) -> (&str, Option<usize>) {
    let number = || {
        let (name, number) = path.strip_suffix(']')?.rsplit_once('[')?;
        Some((name, number.parse().ok()?))
    };
    number().map_or((path, None), |(name, number)| (name, Some(number)))
}

/// Adds the symbols of a tree, and those of what is embedded in it.
fn collect(parsed: &Parsed, language: Language, root: Node<'_>, outer: Option<usize>, outline: &mut Outline) {
    // Those that the walk is in, with their depth.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut walk = Walk::new(root);
    while let Some(node) = walk.node() {
        while open.last().is_some_and(|(depth, _)| *depth >= walk.depth()) {
            open.pop();
        }
        let parent = open.last().map(|(_, at)| *at).or(outer);
        let left = MAX_SYMBOLS.saturating_sub(outline.symbols.len());
        let defined = definitions(parsed, language, node, walk.around(), left + 1);
        if !defined.is_empty() {
            outline.is_cut = defined.len() > left;
            open.push((walk.depth(), outline.symbols.len()));
            let whole = Whole::new(parsed, language, &walk, node, parent);
            for definition in defined.into_iter().take(left) {
                let kind = parent.and_then(|at| outline.symbols.get(at));
                let kind = kind.map_or(definition.kind, |outer| within_kind(definition.kind, outer));
                outline.symbols.push(whole.symbol(definition, kind));
            }
        }
        let part = || {
            let parts = parsed.embedded();
            parts.binary_search_by_key(&node.start_byte(), |part| part.start).ok().and_then(|at| parts.get(at))
        };
        if language == Language::Html
            && node.kind() == "raw_text"
            && let Some(part) = part()
        {
            collect(parsed, part.language, part.root(), parent, outline);
        }
        if outline.is_cut {
            return;
        }
        walk.step(walk.depth() < MAX_DEPTH);
    }
}

/// Returns the kind that something has in a symbol: a function of a type is a method.
fn within_kind(kind: SymbolKind, outer: &Symbol) -> SymbolKind {
    let is_type = outer.kind.has_members() || (outer.kind == SymbolKind::Module && outer.language == Language::Ruby);
    match kind {
        SymbolKind::Function if is_type => SymbolKind::Method,
        SymbolKind::Variable if is_type => SymbolKind::Field,
        kind => kind,
    }
}

/// The whole of what a node defines, which may be several symbols.
struct Whole {
    range: Range<usize>,
    lead: Arc<[Lead]>,
    language: Language,
    line: usize,
    lines: RangeInclusive<usize>,
    parent: Option<usize>,
    has_errors: bool,
    is_listed: bool,
}

impl Whole {
    fn new(parsed: &Parsed, language: Language, walk: &Walk<'_>, node: Node<'_>, parent: Option<usize>) -> Self {
        let (whole, around) = wrapped(node, walk.around());
        let mut end = whole.end_byte();
        let ends_with = parsed.slice(end..parsed.text.len()).trim_start_matches(' ').starts_with(';');
        let next = ends_with.then(|| whole.next_sibling()).flatten().filter(|next| next.kind() == ";");
        let mut lead = before(parsed, whole, around, walk.before());
        let start = within(whole, &mut lead);
        end = start + parsed.slice(start..end).trim_end().len();
        let rows = |range: Range<usize>| parsed.slice(range).matches('\n').count();
        let last = whole.end_position().row + 1 - rows(end..whole.end_byte());
        if let Some(next) = next
            && parsed.slice(end..next.start_byte()).chars().all(|c| c == ' ')
        {
            end = next.end_byte();
        }
        let first = whole.start_position().row + 1 + rows(whole.start_byte()..start);
        Self {
            range: start..end,
            lead: if lead.is_empty() { Arc::default() } else { lead.into() },
            language,
            line: node.start_position().row + 1 + rows(node.start_byte()..start),
            lines: first..=last.max(first),
            parent,
            has_errors: whole.has_error(),
            is_listed: around.last().is_some_and(|outer| outer.kind() == "object"),
        }
    }

    fn symbol(&self, definition: Definition, kind: SymbolKind) -> Symbol {
        Symbol {
            own: definition.own,
            range: self.range.clone(),
            lead: Arc::clone(&self.lead),
            kind,
            language: self.language,
            selection: definition.name,
            line: self.line,
            lines: self.lines.clone(),
            parent: self.parent,
            has_errors: self.has_errors,
            is_listed: self.is_listed,
        }
    }
}

/// Returns the node that a definition is wrapped in, if that holds nothing else (`export`, decorators, `const`), and
/// the nodes around that.
fn wrapped<'t, 'w>(mut node: Node<'t>, mut around: &'w [Node<'t>]) -> (Node<'t>, &'w [Node<'t>]) {
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
        "field_declaration",
    ];
    while let [outer @ .., parent] = around {
        let is_alone = || {
            let mut cursor = parent.walk();
            let mut children = parent.named_children(&mut cursor);
            let others = children.by_ref().take(MAX_WRAPPED).filter(|child| !child.is_extra() && !is_attribute(*child));
            others.take(2).count() == 1 && children.next().is_none()
        };
        let wraps = WRAPPERS.contains(&parent.kind()) && is_alone();
        if !wraps && parent.kind() != "template_declaration" {
            break;
        }
        (node, around) = (*parent, outer);
    }
    (node, around)
}

/// The comments and attributes that stand directly before a node, in order.
fn before(parsed: &Parsed, node: Node<'_>, around: &[Node<'_>], siblings: &[Vec<Node<'_>>]) -> Vec<Lead> {
    let mut lead = Vec::new();
    // Nodes before the first thing of a block may hang before the block.
    let blocks = around.iter().rev().take_while(|outer| outer.kind() == "block").count();
    let levels = around.len() - blocks..around.len() + 1;
    let levels = siblings.get(levels).unwrap_or_default();
    let nearest = levels.iter().rfind(|siblings| !siblings.is_empty());
    let mut start = node.start_byte();
    for previous in nearest.into_iter().flatten().rev().copied() {
        let (is_attribute, is_comment) = (is_attribute(previous), is_comment(previous));
        if !is_attribute && !is_comment {
            break;
        }
        let text = parsed.slice(previous.byte_range());
        let end = previous.start_byte() + text.trim_end().len();
        let is_near = parsed.slice(end..start).matches('\n').count() <= 1;
        let is_alone = || {
            let line = parsed.slice(0..previous.start_byte());
            let line = line.trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
            line.is_empty() || line.ends_with('\n')
        };
        // A comment about the whole file is none of the symbol's.
        let is_of_file = ["//!", "/*!", "#!"].iter().any(|mark| text.starts_with(mark)) && !text.starts_with("#![");
        let is_comment = is_comment && !is_of_file && is_alone();
        if !is_near || !(is_comment || (is_attribute && !text.starts_with("#!["))) {
            break;
        }
        lead.push(Lead { range: previous.start_byte()..end, is_attribute });
        start = previous.start_byte();
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
    matches!(node.kind(), "attribute_item" | "attribute_list" | "decorator" | "annotation" | "marker_annotation")
}

fn is_comment(node: Node<'_>) -> bool {
    node.kind().contains("comment")
}

#[cfg(test)]
mod tests;
