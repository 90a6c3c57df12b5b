//! Texts that this grammar and the shell could read differently. Whoever hides a command there is asked about it.

use permission::Word;
use permission::unseen;
use tree_sitter::Node;

use super::wrappers::is_variable;
use super::{Unclear, children, text as text_of};

/// Refuses texts by their characters.
pub(super) fn text(line: &str) -> Result<(), Unclear> {
    if line.chars().any(is_deceptive) || unseen::is_in(line) {
        return Err("it has control characters or invisible characters".into());
    }
    if bash::is_fatal(line) {
        return Err("a brace is followed by a character that the grammar cannot take".into());
    }
    // The shell takes a continued line's break out before anything else; the grammar takes it for a space.
    for (at, _) in line.match_indices("\\\n") {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + 2..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let is_apart = before.ends_with([' ', '\t']) && !before.trim_end_matches([' ', '\t']).ends_with(['\n', '\\']);
        if !is_apart || after.starts_with(['#', '\\', '\n']) {
            return Err("a line is continued in the middle of a word".into());
        }
    }
    Ok(())
}

/// Refuses trees that leave out parts of the text, or that end words where the shell does not.
pub(super) fn tree(root: Node<'_>, source: &str) -> Result<(), Unclear> {
    let mut end = 0;
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_whole = matches!(node.kind(), "string" | "heredoc_body") || node.child_count() == 0;
        if is_whole {
            blank(source.get(end..node.start_byte()).unwrap_or("?"))?;
            leaf(node, source)?;
            end = node.end_byte();
        }
        if !is_whole && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return blank(source.get(end..).unwrap_or("?"));
            }
        }
    }
}

/// Refuses a here-document that the shell could end elsewhere, or in whose body the grammar may have overlooked a
/// substitution.
pub(super) fn heredoc(node: Node<'_>, source: &str) -> Result<(), Unclear> {
    let unclear = || Unclear::from("it has a here-document whose end is not clear");
    let part = |kind| children(node).find(|child| child.kind() == kind).ok_or_else(unclear);
    let (start, end) = (part("heredoc_start")?, part("heredoc_end")?);
    let written = text_of(start, source);
    let word = written.trim_matches(['\'', '"']);
    let is_quoted = word != written;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let quoted_well = !is_quoted || written == format!("'{word}'") || written == format!("\"{word}\"");
    if word.is_empty() || !word.chars().all(is_plain) || !quoted_well {
        return Err(unclear());
    }
    let strips_tabs = children(node).any(|child| child.kind() == "<<-");
    let after = source.get(start.end_byte()..).ok_or_else(unclear)?;
    let mut at = start.end_byte() + after.find('\n').ok_or_else(unclear)? + 1;
    let body_start = at;
    for line in source.get(at..).ok_or_else(unclear)?.split('\n') {
        let stripped = if strips_tabs { line.trim_start_matches('\t') } else { line };
        if stripped == word {
            // The grammar must see the same line as the end, and nothing of the first line beyond its break.
            let same = end.end_byte() == at + line.len() && end.start_byte() == at + line.len() - word.len();
            let body = source.get(body_start..at).ok_or_else(unclear)?;
            let substitutes = body.contains('`') || body.contains("$(") || body.contains("${") || body.contains("$[");
            let found = children(node)
                .filter(|child| child.kind() == "heredoc_body")
                .all(|body| body.start_byte() >= body_start || body.start_byte() == body.end_byte());
            return match same && found {
                true if is_quoted || !substitutes => Ok(()),
                true => Err("it has a substitution in a here-document; quote the here-document's word".into()),
                false => Err(unclear()),
            };
        }
        at += line.len() + 1;
    }
    Err(unclear())
}

/// Refuses a word that the shell could begin or end elsewhere.
pub(super) fn word(node: Node<'_>, source: &str) -> Result<(), Unclear> {
    let (before, after) = around(node, source);
    let is_value = before == Some('=') && node.parent().is_some_and(|parent| parent.kind() == "variable_assignment");
    if (is_value || is_border(before) || before == Some('`')) && (is_border(after) || after == Some('`')) {
        return Ok(());
    }
    Err("it is not clear where its words end".into())
}

/// Refuses an assignment's name that the shell takes for a command's.
pub(super) fn assigned(name: Node<'_>, source: &str) -> Result<(), Unclear> {
    let (before, after) = around(name, source);
    if is_variable(text_of(name, source))
        && (is_border(before) || before == Some('`'))
        && matches!(after, Some('=' | '+'))
    {
        return Ok(());
    }
    Err("an assignment is not understood".into())
}

/// Refuses a pattern in which something could be substituted.
pub(super) fn pattern(text: &str) -> Result<(), Unclear> {
    if text.contains(['$', '`', '<', '>', ';', '&', '\n']) {
        return Err("it has a pattern that is not understood".into());
    }
    Ok(())
}

/// Refuses a test in `[ … ]` that could come to mean another one. The shell splits what it expands into words before
/// `[` sees any of it, and one that comes out as `-v` evaluates the next: `[ -v 'a[$(…)]' ]` runs a command.
pub(super) fn test(parts: &[Word]) -> Result<(), Unclear> {
    let is_operator = |part: &Word| match part {
        Word::Known(text) => matches!(text.as_str(), "=" | "==" | "!=") || (text.len() > 1 && text.starts_with('-')),
        Word::Unknown(_) => false,
    };
    let stays_one = |part: &Word| match part {
        Word::Known(_) => true,
        Word::Unknown(text) => {
            let is_quoted = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
            let is_list = text.contains("$@") || text.contains("${@");
            (is_quoted && !is_list) || matches!(text.as_str(), "$#" | "$?" | "$$")
        }
    };
    let mut positive = parts;
    while let [Word::Known(not), rest @ ..] = positive
        && not == "!"
    {
        positive = rest;
    }
    let evaluates = parts.iter().any(|part| matches!(part, Word::Known(text) if text == "-v" || text == "-R"));
    let is_plain = match positive {
        [_] => true,
        [operator, _] | [_, operator, _] if is_operator(operator) => true,
        _ => parts.iter().all(|part| matches!(part, Word::Known(_))),
    };
    if !evaluates && is_plain && parts.iter().all(stays_one) {
        return Ok(());
    }
    Err("a test could come to mean another; put what it expands into double quotes, and each test into its own `[ ]`"
        .into())
}

/// Refuses a line for another shell than bash that it may read differently: in `dash`, `[[ a || b ]]` runs `b`.
pub(super) fn portable(line: &str) -> Result<(), Unclear> {
    let is_plain = |text: &str| !text.contains(['\'', '"', '\\']);
    let mut expansions = line.split("${").skip(1);
    let plain_expansions = expansions.all(|rest| rest.split('}').next().is_some_and(is_plain));
    if ["$'", "[[", "+=", "&>"].iter().any(|text| line.contains(text)) || !plain_expansions {
        return Err("it has something of bash for another shell".into());
    }
    Ok(())
}

/// Characters that a terminal obeys, or that the grammar takes for space and the shell does not.
fn is_deceptive(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || (c.is_whitespace() && !c.is_ascii())
}

/// Checks that what lies between the leaves of the tree is only space and continued lines.
fn blank(gap: &str) -> Result<(), Unclear> {
    if gap.replace("\\\n", "").chars().all(|c| matches!(c, ' ' | '\t' | '\n')) {
        return Ok(());
    }
    Err("a part of it is not understood".into())
}

fn leaf(node: Node<'_>, source: &str) -> Result<(), Unclear> {
    let (before, after) = around(node, source);
    let (begins_word, ends_word) = (is_border(before), is_border(after));
    let of = |kind| node.parent().is_some_and(|parent| parent.kind() == kind);
    match node.kind() {
        "!" if of("negated_command") && !ends_word => Err("it is not clear what is negated".into()),
        "{" if of("compound_statement") && !ends_word => Err("it is not clear where a group begins".into()),
        "comment" if !begins_word => Err("it has a `#` that may begin a comment or not".into()),
        // A comment ends where its line ends.
        "comment" if text_of(node, source).contains('\n') => Err("it has a comment whose end is not clear".into()),
        "file_descriptor" if !begins_word || !text_of(node, source).bytes().all(|byte| byte.is_ascii_digit()) => {
            Err("it is not clear where a redirection begins".into())
        }
        // `{name}>file` sets a variable to the number of the descriptor.
        kind if kind.starts_with(['<', '>']) && follows_braces(node, source) => {
            Err("it is not clear where a redirection begins".into())
        }
        _ => Ok(()),
    }
}

/// True if a word in braces stands directly before a node.
fn follows_braces(node: Node<'_>, source: &str) -> bool {
    let before = source.get(..node.start_byte()).and_then(|before| before.strip_suffix('}'));
    let Some((before, name)) = before.and_then(|before| before.rsplit_once('{')) else { return false };
    is_border(before.chars().next_back()) && !name.contains(char::is_whitespace)
}

/// The characters before and after a node.
fn around(node: Node<'_>, source: &str) -> (Option<char>, Option<char>) {
    let before = source.get(..node.start_byte()).and_then(|before| before.chars().next_back());
    let after = source.get(node.end_byte()..).and_then(|after| after.chars().next());
    (before, after)
}

/// True if words end at a character, which none stands for the line's end.
fn is_border(c: Option<char>) -> bool {
    matches!(c, None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>'))
}
