//! The value of a word of the shell when the command runs, as far as that can be known before.

use std::iter::Peekable;
use std::str::Chars;

use permission::Word;
use tree_sitter::Node;

use super::{Unclear, Walk, children, guards, text as text_of};

impl Walk<'_> {
    /// A word's value. Commands in its substitutions are added to the line's.
    pub(super) fn word(&mut self, node: Node<'_>) -> Result<Word, Unclear> {
        guards::word(node, self.source)?;
        let known = self.value(node)?;
        match known {
            Some(value) => Ok(Word::Known(value)),
            None => {
                let source = self.source;
                self.unknown(text_of(node, source))
            }
        }
    }

    /// The value; none if only the running shell knows it.
    fn value(&mut self, node: Node<'_>) -> Result<Option<String>, Unclear> {
        self.deeper(|walk| match node.kind() {
            "word" => bare(walk.text(node)),
            "number" if node.child_count() == 0 => bare(walk.text(node)),
            "variable_name" => bare(walk.text(node)),
            "raw_string" => {
                Ok(walk.text(node).strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).map(str::to_owned))
            }
            "ansi_c_string" => {
                Ok(walk.text(node).strip_prefix("$'").and_then(|text| text.strip_suffix('\'')).and_then(decoded))
            }
            "string" => walk.string(node),
            "concatenation" => walk.concatenation(node),
            // The grammar lets a variable's name stand after a space, the shell does not.
            "simple_expansion" if walk.text(node).contains(char::is_whitespace) => {
                Err("it is not clear where its words end".into())
            }
            "simple_expansion" => walk.in_round(text_of(node, walk.source)),
            "brace_expression" | "$" => Ok(None),
            "expansion" => walk.expansions(node).and_then(|()| walk.in_round(text_of(node, walk.source))),
            "command_substitution" | "process_substitution" => walk.substitution(node).map(|()| None),
            "arithmetic_expansion" => walk.arithmetic(node).map(|()| None),
            "==" | "=~" => Ok(Some(node.kind().to_owned())),
            kind => Err(Unclear(format!("it has a {} for a word", kind.replace('_', " ")))),
        })
    }

    /// Text in double quotes.
    fn string(&mut self, node: Node<'_>) -> Result<Option<String>, Unclear> {
        let mut literal = String::new();
        let mut is_literal = true;
        let mut at = node.start_byte() + 1;
        let end = node.end_byte().saturating_sub(1);
        // The grammar leaves out some of the text between substitutions, so it is taken from the source.
        let parts = children(node).filter(|part| part.is_named() && part.kind() != "string_content");
        for part in parts {
            self.literal(at, part.start_byte(), &mut literal)?;
            match self.value(part)? {
                Some(value) => literal.push_str(&value),
                None => is_literal = false,
            }
            at = part.end_byte();
        }
        self.literal(at, end, &mut literal)?;
        Ok(is_literal.then_some(literal))
    }

    /// Adds a literal part of a text in double quotes.
    fn literal(&self, start: usize, end: usize, value: &mut String) -> Result<(), Unclear> {
        let text = self.source.get(start..end).ok_or("a text in quotes is not understood")?;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match (c, rest.peek()) {
                ('\\', Some('$' | '`' | '"' | '\\')) => value.extend(rest.next()),
                ('\\', Some('\n')) => {
                    rest.next();
                }
                ('`' | '"', _) => return Err("a text in quotes is not understood".into()),
                ('$', Some(next))
                    if !matches!(next, ' ' | '\t' | '\n' | '.' | ',' | '%' | '/' | ':' | '|' | ')' | '^' | '=') =>
                {
                    return Err("a text in quotes is not understood".into());
                }
                _ => value.push(c),
            }
        }
        Ok(())
    }

    /// Parts without space between them.
    fn concatenation(&mut self, node: Node<'_>) -> Result<Option<String>, Unclear> {
        let mut value = Some(String::new());
        let mut braces = false;
        let mut end = node.start_byte();
        for part in children(node) {
            if part.start_byte() != end {
                return Err("it is not clear where its words end".into());
            }
            end = part.end_byte();
            braces |= part.kind() == "word" && self.text(part).contains('{');
            value = match (value, self.value(part)?) {
                (Some(value), Some(more)) => Some(value + &more),
                _ => None,
            };
        }
        // Empty braces are themselves, as in `find -exec rm {}`.
        let written = self.text(node);
        let empty = written.matches(['{', '}']).count() == 2 && written.contains("{}");
        Ok(value.filter(|_| !braces || empty))
    }

    /// `$( … )`, `` ` … ` ``, `<( … )`.
    fn substitution(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let written = self.text(node);
        if written.trim_start().starts_with('`') && written.contains('\\') {
            return Err("it has backslashes in backticks".into());
        }
        for child in children(node).filter(Node::is_named) {
            match child.kind() {
                "file_redirect" => {
                    let redirects = self.redirect(child)?.into_iter().collect();
                    self.attach(None, redirects)?;
                }
                _ => self.statement(child)?,
            }
        }
        Ok(())
    }

    /// Walks what can stand in `${ … }` and in here-documents.
    pub(super) fn expansions(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        self.deeper(|walk| {
            for child in children(node) {
                match child.kind() {
                    // `${!x}` and `${x@P}` expand what a variable holds, `${x:1}` calculates with it.
                    "!" | "@" | ":" => return Err("a variable's value could run commands".into()),
                    "=" | ":=" => return Err("it has an expansion that sets a variable".into()),
                    "subscript" => return Err("a subscript could run commands".into()),
                    "variable_name" | "special_variable_name" | "heredoc_content" => {}
                    "regex" | "extglob_pattern" => guards::pattern(walk.text(child))?,
                    "word" if walk.text(child).contains(['$', '`']) => {
                        return Err("an expansion is not understood".into());
                    }
                    "word" => {}
                    _ if child.is_named() => {
                        walk.value(child)?;
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// `$(( … ))`. A variable's value is calculated too, and can hold a substitution; so only numbers will do.
    fn arithmetic(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let inside = self.text(node).trim_start_matches(['$', '(', '[']).trim_end_matches([')', ']']);
        if inside.chars().all(|c| c.is_ascii_digit() || " \t+-*/%()<>=!&|^~?:,".contains(c)) {
            return Ok(());
        }
        Err("arithmetic with variables can run commands that are not written in it".into())
    }
}

/// A word without quotes.
fn bare(text: &str) -> Result<Option<String>, Unclear> {
    let mut value = String::new();
    let braces = text.contains('{') && text.contains('}') && (text.contains(',') || text.contains(".."));
    let mut known = !braces && !text.starts_with('~') && !text.contains("=~") && !text.contains(":~");
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('\n') | None => return Err("a line is continued in the middle of a word".into()),
                Some(escaped) => value.push(escaped),
            },
            '*' | '?' | '[' => known = false,
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '"' | '\'' => {
                return Err("it is not clear where its words end".into());
            }
            _ => {}
        }
        if c != '\\' {
            value.push(c);
        }
    }
    Ok(known.then_some(value))
}

/// The text that `$'…'` stands for; none if it is no plain text or a rare escape is used.
fn decoded(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        value.push(match rest.next()? {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => numbered(&mut rest, String::new(), 2, 16).filter(char::is_ascii)?,
            'u' => numbered(&mut rest, String::new(), 4, 16)?,
            'U' => numbered(&mut rest, String::new(), 8, 16)?,
            first @ '0'..='7' => numbered(&mut rest, first.to_string(), 3, 8).filter(char::is_ascii)?,
            other @ ('\\' | '\'' | '"' | '?') => other,
            _ => return None,
        });
    }
    Some(value)
}

/// The character with a number, after its first digits have been read. NUL is none: the text would end there.
fn numbered(rest: &mut Peekable<Chars<'_>>, mut digits: String, most: usize, radix: u32) -> Option<char> {
    while digits.len() < most
        && let Some(digit) = rest.next_if(|c| c.is_digit(radix))
    {
        digits.push(digit);
    }
    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32).filter(|c| *c != '\0')
}
