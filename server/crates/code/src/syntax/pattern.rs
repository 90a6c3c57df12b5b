//! Patterns: code with metavariables in it, and the places of a text that have its shape.
//!
//! A pattern is a piece of code of one language, in which `$NAME` stands for any one node, `$$$NAME` for any number of
//! them, and `$_` and `$$$` for the same without a name; names are in capitals. Equal names stand for equal code.
//!
//! `ast-grep` builds the pattern from the tree of its text and fits it to nodes. It is lenient: what a pattern does not
//! say may still be there, as the `async` before a function or the `else` after an `if`, and a rewrite would lose it.
//! So each place it finds is gone over token by token: what no metavariable took must be what the pattern says, but for
//! comments, and for `,` and `;`, which languages let one leave out.

use std::ops::Range;

use ast_grep_core::matcher::{MatcherExt, PatternBuilder, PatternNode};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{
    AstGrep, Language as AstLanguage, Node as AstNode, Pattern as AstPattern, PatternError as AstError,
};
use tree_sitter::Node;

use super::{Language, ParseError, Parsed, Walk};

/// How long a pattern may be, in bytes.
const MAX_PATTERN: usize = 10_000;

/// How deep a pattern may nest. Fitting it goes as deep as the pattern does, whatever the depth of the file.
const MAX_DEPTH: usize = 100;

/// The character for a metavariable's `$` while a pattern is parsed: a letter that every language takes in a name, and
/// no one uses.
const MARK: char = '\u{10000}';

/// A pattern, made ready for one language.
pub struct Pattern {
    language: Language,
    ast: AstPattern,
    /// The kind of the node that fits.
    kind: u16,
    variables: Vec<Variable>,
    /// The pattern's tokens other than its metavariables.
    tokens: Vec<Token>,
    /// True if it says its last `;` or `,`.
    ends_with_separator: bool,
}

/// A metavariable of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; none for `$_` and `$$$`.
    pub name: Option<String>,
    /// True if it stands for any number of nodes.
    pub many: bool,
}

/// A place that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its bytes.
    pub range: Range<usize>,
    /// The bytes of the node that fits: `range` and perhaps a `;` or `,` after it, of which the pattern says nothing.
    pub node: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// The range that each of [`Pattern::variables`] stands for; none for an empty list.
    pub captures: Vec<Option<Range<usize>>>,
    /// True if there are comments in it that no metavariable took.
    pub has_comments: bool,
}

/// A pattern that cannot be used. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("the pattern is empty; write the code to look for, with `$NAME` for what may differ")]
    Empty,
    /// It is longer than [`MAX_PATTERN`], or nests deeper than [`MAX_DEPTH`].
    #[error(
        "the pattern is too long or nests too deep (at most {MAX_PATTERN} bytes and {MAX_DEPTH} levels); look for a \
         smaller piece of code"
    )]
    TooLarge,
    /// It is not a piece of code of the language.
    #[error(
        "`{pattern}` is not one whole piece of {language} code. Write an expression, a statement or a definition as it \
         stands in a file, with all its brackets; a `$NAME` can stand where a name can, `$$$NAME` where several things can"
    )]
    NotCode {
        /// The pattern.
        pattern: String,
        /// The language.
        language: &'static str,
    },
    /// It is several pieces of code.
    #[error(
        "`{pattern}` is several pieces of {language} code one after another; a pattern is one. Look for one of them, or \
         for what surrounds them, such as a block with `$$$` for the rest"
    )]
    Several {
        /// The pattern.
        pattern: String,
        /// The language.
        language: &'static str,
    },
    /// It would fit nearly everything.
    #[error("`{0}` would match nearly everything; add some code to it that must be there")]
    Everything(String),
    /// A metavariable is a part of a name or a text.
    #[error(
        "in `{0}` a metavariable is only a part of a name or of a text; `$NAME` stands for a whole piece of code and is \
         written in capitals, digits and `_`"
    )]
    PartOfToken(String),
    /// There is a comment in it.
    #[error("`{0}` has a comment in it; comments are never compared, so leave it out")]
    Comment(String),
    /// It uses the letter that metavariables are marked with.
    #[error("the pattern must not have the letter U+10000 in it")]
    Mark,
    /// The language has no patterns.
    #[error("there are no patterns for {0} code; use search_text, and edit the text")]
    NoPatterns(&'static str),
    /// It could not be parsed.
    #[error("the pattern cannot be used: {0}")]
    Parse(#[from] ParseError),
}

impl Pattern {
    /// A pattern for texts of this language.
    ///
    /// # Errors
    /// See [`PatternError`].
    pub fn new(source: &str, language: Language) -> Result<Self, PatternError> {
        let source = source.trim();
        if source.is_empty() {
            return Err(PatternError::Empty);
        }
        if surroundings(language).is_empty() {
            return Err(PatternError::NoPatterns(language.name()));
        }
        if source.len() > MAX_PATTERN {
            return Err(PatternError::TooLarge);
        }
        if source.contains(MARK) {
            return Err(PatternError::Mark);
        }
        let marked = mark(source, language);
        let mut is_several = false;
        for (before, after) in surroundings(language) {
            let parsed = Parsed::new(language, format!("{before}{marked}{after}"))?;
            let range = before.len()..before.len() + marked.len();
            let root = document(&parsed);
            match single(root.root().get_inner_node(), &parsed.text, range) {
                Single::Node(node) if depth(node) > MAX_DEPTH => return Err(PatternError::TooLarge),
                Single::Node(node) if has_comment(node) => return Err(PatternError::Comment(source.to_owned())),
                Single::Node(node) => return Self::from_node(source, language, root.adopt(node)),
                Single::Several => is_several = true,
                Single::None => {}
            }
        }
        let (pattern, language) = (source.to_owned(), language.name());
        Err(if is_several {
            PatternError::Several { pattern, language }
        } else {
            PatternError::NotCode { pattern, language }
        })
    }

    /// Its metavariables in order, equal names as often as they stand there.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// True if a text may have a place that fits: quick, and wrong only by saying yes.
    pub fn may_be_in(&self, text: &str) -> bool {
        let words = self.tokens.iter().filter_map(|token| match token {
            Token::Named(word) => Some(word),
            Token::Other(_) => None,
        });
        words.max_by_key(|word| word.len()).is_none_or(|longest| text.contains(longest.as_str()))
    }

    /// The places that fit, in the order in which they begin, outer ones before those in them. The text is one of the
    /// pattern's language.
    pub fn find(&self, parsed: &Parsed) -> Vec<Match> {
        let root = document(parsed);
        let mut found = Vec::new();
        let mut walk = Walk::new(root.root().get_inner_node());
        while let Some(node) = walk.node() {
            if node.kind_id() == self.kind {
                found.extend(self.fit(&root, parsed, node));
            }
            walk.step(true);
        }
        found
    }

    fn fit<'t>(&self, root: &'t AstGrep<Document>, parsed: &Parsed, node: Node<'t>) -> Option<Match> {
        let fitted = self.ast.match_node(root.adopt(node))?;
        let env = fitted.get_env();
        let mut captures = Vec::with_capacity(self.variables.len());
        for (at, variable) in self.variables.iter().enumerate() {
            let id = id(at);
            captures.push(if variable.many {
                let nodes = env.get_multiple_matches(&id);
                nodes.first().zip(nodes.last()).map(|(first, last)| first.range().start..last.range().end)
            } else {
                Some(env.get_match(&id)?.range())
            });
        }
        self.account(parsed, node, captures)
    }

    /// The match, if nothing is there that the pattern does not say, and equal names stand for equal code.
    fn account(&self, parsed: &Parsed, node: Node<'_>, captures: Vec<Option<Range<usize>>>) -> Option<Match> {
        let mut wanted = self.tokens.iter();
        let (mut has_comments, mut last_end, mut separator) = (false, node.start_byte(), None);
        let mut walk = Walk::new(node);
        while let Some(part) = walk.node() {
            let range = part.byte_range();
            let taken = captures.iter().flatten().find(|taken| taken.start <= range.start && range.end <= taken.end);
            let is_leaf = part.child_count() == 0 || part.is_extra();
            walk.step(taken.is_none() && !is_leaf);
            if taken.is_some() {
                (last_end, separator) = (range.end, None);
            } else if part.is_extra() {
                has_comments = true;
            } else if is_leaf && !range.is_empty() {
                match Token::new(part, parsed) {
                    None if matches!(part.kind(), "," | ";") => separator = Some(range),
                    None => {}
                    Some(token) => {
                        if wanted.next() != Some(&token) {
                            return None;
                        }
                        (last_end, separator) = (range.end, None);
                    }
                }
            }
        }
        if wanted.next().is_some() || !self.has_equal_captures(parsed, &captures) {
            return None;
        }
        let end = if separator.is_some() && !self.ends_with_separator { last_end } else { node.end_byte() };
        Some(Match {
            range: node.start_byte()..end,
            node: node.byte_range(),
            line: node.start_position().row + 1,
            captures,
            has_comments,
        })
    }

    fn has_equal_captures(&self, parsed: &Parsed, captures: &[Option<Range<usize>>]) -> bool {
        let named = || self.variables.iter().zip(captures).filter(|(variable, _)| variable.name.is_some());
        named().enumerate().all(|(at, (variable, range))| {
            let first = named().take(at).find(|(other, _)| *other == variable);
            first.is_none_or(|(_, first)| is_same_code(parsed, first.as_ref(), range.as_ref()))
        })
    }

    fn from_node(source: &str, language: Language, node: AstNode<'_, Document>) -> Result<Self, PatternError> {
        let mut ast = AstPattern::from(node);
        let mut variables = Vec::new();
        name_apart(&mut ast.node, &mut variables);
        let grammar = language.grammar();
        let mut tokens = Vec::new();
        let mut is_part = false;
        terminals(&ast.node, &mut |text, is_named, kind| {
            is_part |= text.contains(MARK);
            tokens.extend(token(text, is_named, kind, grammar.node_kind_for_id(kind).unwrap_or_default()));
        });
        if is_part {
            return Err(PatternError::PartOfToken(source.to_owned()));
        }
        let kind = match &ast.node {
            PatternNode::MetaVar { .. } => return Err(PatternError::Everything(source.to_owned())),
            PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => *kind_id,
        };
        if tokens.is_empty() {
            return Err(PatternError::Everything(source.to_owned()));
        }
        let ends_with_separator = source.ends_with([';', ',']);
        Ok(Self { language, ast, kind, variables, tokens, ends_with_separator })
    }
}

type Document = StrDoc<Grammar>;

/// A text as `ast-grep` takes it. Its nodes are the document's own, not those of the tree that was given.
fn document(parsed: &Parsed) -> AstGrep<Document> {
    AstGrep::doc(StrDoc { src: parsed.text.to_string(), lang: Grammar(parsed.language), tree: parsed.tree.clone() })
}

/// A word of a language. Of one that has no name in the grammar, such as `(`, the kind says all.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Named(String),
    Other(u16),
}

impl Token {
    /// The token that a leaf is; none for space, `,` and `;`.
    fn new(leaf: Node<'_>, parsed: &Parsed) -> Option<Self> {
        token(parsed.slice(leaf.byte_range()), leaf.is_named(), leaf.kind_id(), leaf.kind())
    }
}

fn token(text: &str, is_named: bool, kind_id: u16, kind: &str) -> Option<Token> {
    if text.trim().is_empty() || (!is_named && matches!(kind, "," | ";")) {
        return None;
    }
    Some(if is_named { Token::Named(text.to_owned()) } else { Token::Other(kind_id) })
}

/// True if the same code stands at two places, space and comments aside.
fn is_same_code(parsed: &Parsed, a: Option<&Range<usize>>, b: Option<&Range<usize>>) -> bool {
    let words = |range: Option<&Range<usize>>| range.map(|range| words(parsed, range)).unwrap_or_default();
    words(a) == words(b)
}

/// The words that stand at these bytes.
fn words<'p>(parsed: &'p Parsed, range: &Range<usize>) -> Vec<&'p str> {
    let mut words = Vec::new();
    let Some(around) = parsed.root().descendant_for_byte_range(range.start, range.end) else { return words };
    let mut walk = Walk::new(around);
    while let Some(node) = walk.node() {
        let at = node.byte_range();
        let is_inside = at.start < range.end && range.start < at.end;
        let is_leaf = node.child_count() == 0 || node.is_extra();
        walk.step(is_inside && !is_leaf);
        if is_inside && is_leaf && !node.is_extra() {
            words.push(parsed.slice(at));
        }
    }
    words
}

/// Gives each metavariable an identity of its own, so that fitting never compares what they take. Goes as deep as the
/// pattern, which is bounded.
fn name_apart(node: &mut PatternNode, variables: &mut Vec<Variable>) {
    match node {
        PatternNode::MetaVar { meta_var } => {
            let (name, many) = match meta_var {
                MetaVariable::Capture(name, _) => (Some(name.clone()), false),
                MetaVariable::Dropped(_) => (None, false),
                MetaVariable::MultiCapture(name) => (Some(name.clone()), true),
                MetaVariable::Multiple => (None, true),
            };
            let id = id(variables.len());
            *meta_var = if many { MetaVariable::MultiCapture(id) } else { MetaVariable::Capture(id, true) };
            variables.push(Variable { name, many });
        }
        PatternNode::Terminal { .. } => {}
        PatternNode::Internal { children, .. } => children.iter_mut().for_each(|child| name_apart(child, variables)),
    }
}

fn id(at: usize) -> String {
    format!("V{at}")
}

/// Calls `each` with every token of a pattern other than its metavariables, in order. Goes as deep as the pattern,
/// which is bounded.
fn terminals(node: &PatternNode, each: &mut impl FnMut(&str, bool, u16)) {
    match node {
        PatternNode::MetaVar { .. } => {}
        PatternNode::Terminal { text, is_named, kind_id } => each(text, *is_named, *kind_id),
        PatternNode::Internal { children, .. } => children.iter().for_each(|child| terminals(child, each)),
    }
}

/// Returns the surroundings that a pattern may need to be understood, the most usual first. The first in which it is
/// one clean node counts: on its own, `foo($A)` is a call in Rust but a conversion in Go. There is none if `$NAME` is
/// code itself, or if there are no names that it could stand for.
fn surroundings(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Rust => &[
            ("fn f() {\n", "\n}"),
            ("", ""),
            ("struct S {\n", "\n}"),
            ("impl S {\n", "\n}"),
            ("fn f() { match x {\n", "\n} }"),
            ("type T = ", ";"),
        ],
        Language::TypeScript | Language::Tsx => {
            &[("", ""), ("class C {\n", "\n}"), ("interface I {\n", "\n}"), ("type T = ", ";")]
        }
        Language::JavaScript => &[("", ""), ("class C {\n", "\n}"), ("(", ")")],
        Language::Python => &[("", "")],
        Language::Go => &[
            ("package p\nfunc f() {\n", "\n}"),
            ("package p\n", "\n"),
            ("package p\ntype T struct {\n", "\n}"),
            ("package p\ntype T ", "\n"),
        ],
        Language::C => &[("void f() {\n", ";\n}"), ("void f() {\n", "\n}"), ("", "\n"), ("struct S {\n", "\n};")],
        Language::Cpp => &[("void f() {\n", ";\n}"), ("void f() {\n", "\n}"), ("", "\n"), ("class C {\n", "\n};")],
        Language::Java | Language::CSharp => &[
            ("class C { void f() {\n", ";\n} }"),
            ("class C { void f() {\n", "\n} }"),
            ("class C {\n", "\n}"),
            ("", ""),
        ],
        Language::Lua => &[("", "")],
        Language::Json => &[("", ""), ("{", "}")],
        Language::Bash | Language::Php | Language::Ruby | Language::Html | Language::Css => &[],
    }
}

/// The nodes of a pattern in its surroundings.
enum Single<'t> {
    Node(Node<'t>),
    Several,
    None,
}

/// The innermost node that is exactly what stands at these bytes.
fn single<'t>(root: Node<'t>, text: &str, range: Range<usize>) -> Single<'t> {
    let mut walk = Walk::new(root);
    while let Some(node) = walk.node() {
        // A `;` may be left out after the pattern, and after a metavariable that stands for a statement.
        let is_marked = |node: Node<'_>| text.get(node.byte_range()).is_some_and(|text| text.starts_with(MARK));
        let may_miss =
            || node.kind() == ";" && (node.start_byte() >= range.end || node.prev_sibling().is_some_and(is_marked));
        if node.is_error() || (node.is_missing() && !may_miss()) {
            return Single::None;
        }
        walk.step(node.has_error());
    }
    // A statement may be given without its `;`, which then stands in the surroundings.
    let with_end =
        range.start..range.end + usize::from(text.get(range.end..).is_some_and(|after| after.starts_with(';')));
    let is_it = |node: Node<'_>| node.parent().is_some() && [&range, &with_end].contains(&&node.byte_range());
    match root.named_descendant_for_byte_range(range.start, range.end) {
        Some(node) if is_it(node) => Single::Node(node),
        Some(_) => Single::Several,
        None => Single::None,
    }
}

fn has_comment(node: Node<'_>) -> bool {
    let mut walk = Walk::new(node);
    while let Some(part) = walk.node() {
        if part.is_extra() && part.kind().contains("comment") {
            return true;
        }
        walk.step(true);
    }
    false
}

fn depth(node: Node<'_>) -> usize {
    let (mut deepest, mut walk) = (0, Walk::new(node));
    while walk.node().is_some() {
        deepest = deepest.max(walk.depth());
        walk.step(true);
    }
    deepest
}

/// The pattern with its metavariables marked, so that they are names to the language's grammar. In JSON, which has no
/// names, they are texts.
fn mark(source: &str, language: Language) -> String {
    let mut out = String::with_capacity(source.len());
    let mut is_quoted = false;
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if let Some((dollars, name)) = metavariable(rest) {
            let marked = format!("{}{name}", MARK.to_string().repeat(dollars));
            let quotes = language == Language::Json && !is_quoted;
            out.push_str(&if quotes { format!("\"{marked}\"") } else { marked });
            rest = rest.get(dollars + name.len()..).unwrap_or_default();
            continue;
        }
        is_quoted ^= c == '"';
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        // Of `$$$$` or `$$A` no part is one.
        if c == '$' {
            let dollars = rest.len() - rest.trim_start_matches('$').len();
            out.push_str(rest.get(..dollars).unwrap_or_default());
            rest = rest.get(dollars..).unwrap_or_default();
        }
    }
    out
}

/// The metavariable that a text begins with: how many `$`, and its name.
pub(crate) fn metavariable(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('$');
    let dollars = text.len() - rest.len();
    let name = rest.get(..rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len()))?;
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    match dollars {
        1 if is_name && !name.is_empty() => Some((1, name)),
        3 if is_name => Some((3, name)),
        _ => None,
    }
}

/// A language as `ast-grep` asks for it.
#[derive(Clone)]
struct Grammar(Language);

impl AstLanguage for Grammar {
    fn expando_char(&self) -> char {
        MARK
    }

    fn extract_meta_var(&self, source: &str) -> Option<MetaVariable> {
        let unquoted = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let source = unquoted.filter(|_| self.0 == Language::Json).unwrap_or(source);
        let rest = source.trim_start_matches(MARK);
        let (dollars, is_anonymous) = ((source.len() - rest.len()) / MARK.len_utf8(), rest.starts_with('_'));
        if rest.chars().any(|c| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')) {
            return None;
        }
        match dollars {
            1 if rest.is_empty() => None,
            1 if is_anonymous => Some(MetaVariable::Dropped(true)),
            1 => Some(MetaVariable::Capture(rest.to_owned(), true)),
            3 if is_anonymous || rest.is_empty() => Some(MetaVariable::Multiple),
            3 => Some(MetaVariable::MultiCapture(rest.to_owned())),
            _ => None,
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.grammar().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.grammar().field_id_for_name(field).map(Into::into)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<AstPattern, AstError> {
        builder.build(|source| StrDoc::try_new(source, self.clone()))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.grammar()
    }
}

#[cfg(test)]
mod tests;
