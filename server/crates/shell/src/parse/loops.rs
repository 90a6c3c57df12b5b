//! The value of a loop's variable in the rounds of a `for`: its body is listed once for each word that it goes through,
//! with that word in the variable's place, if nothing else in the line can set the variable.

use permission::Word;
use tree_sitter::Node;

use super::wrappers::is_variable;
use super::{Unclear, Walk, children};

/// A line's loops go through so many rounds at most; where they would go through more, a variable's value is not known.
const MOST: usize = 64;

/// The most that loops put in the place of their variables, in bytes: within each other they could make a short line
/// grow without an end.
const MOST_BYTES: usize = 256 << 10;

/// Programs that take no word after `--` for an option.
const END_OPTIONS: &[&str] =
    &["cat", "du", "file", "grep", "head", "ls", "md5sum", "nl", "sha256sum", "sort", "stat", "tail", "wc"];

/// The stand-in for the variables that a `read` sets: what a command prints that is judged where it stands.
const READ: &str = "$(what is read)";

/// A loop that is gone through.
pub(super) struct Round {
    name: String,
    word: Word,
}

impl Walk<'_> {
    /// Lists the body of a loop, in each of its rounds if they are known.
    pub(super) fn rounds(&mut self, name: &str, words: Vec<Word>, bodies: &[Node<'_>]) -> Result<(), Unclear> {
        let words: Vec<_> = words.into_iter().flat_map(in_range).collect();
        let rounds = self.repeats * words.len();
        if words.is_empty() || rounds > MOST || !is_set_once(self.source, name) {
            return bodies.iter().try_for_each(|body| self.statement(*body));
        }
        let before = std::mem::replace(&mut self.repeats, rounds);
        let done = words.into_iter().try_for_each(|word| {
            self.rounds.push(Round { name: name.to_owned(), word });
            let done = bodies.iter().try_for_each(|body| self.statement(*body));
            self.rounds.pop();
            done
        });
        self.repeats = before;
        done
    }

    /// `while` and `until`. In the body of a `while read …` what it reads stands in the place of its variables: with
    /// each round they have been set anew, and by nothing else.
    pub(super) fn while_reading(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut parts = children(node).filter(Node::is_named);
        let condition = parts.next().filter(|_| children(node).next().is_some_and(|first| first.kind() == "while"));
        // A text given in the line may be any variable's.
        let names =
            condition.filter(|_| !self.source.contains("<<")).and_then(|it| self.read_names(it)).unwrap_or_default();
        let is_body = |part: &Node<'_>| part.kind() == "do_group";
        for part in children(node).filter(Node::is_named) {
            let count = if is_body(&part) { names.len() } else { 0 };
            self.rounds.extend(
                names.iter().take(count).map(|name| Round { name: name.clone(), word: Word::Unknown(READ.to_owned()) }),
            );
            let done = self.statement(part);
            self.rounds.truncate(self.rounds.len() - count);
            done?;
        }
        Ok(())
    }

    /// The variables that a command sets which is nothing but a plain `read`. None if more in the line could set
    /// them.
    fn read_names(&self, command: Node<'_>) -> Option<Vec<String>> {
        let parts = children(command).filter(|part| part.kind() != "variable_assignment");
        let words: Vec<_> = parts.map(|part| (part.kind(), part.start_byte(), self.text(part).to_owned())).collect();
        let [("command_name", _, read), rest @ ..] = words.as_slice() else { return None };
        let names = rest.iter().skip_while(|(_, _, word)| word == "-r");
        let is_set_here = |(kind, at, name): &(&str, usize, String)| {
            *kind == "word" && is_variable(name) && is_set_only_at(self.source, name, *at)
        };
        let is_read = command.kind() == "command" && read == "read";
        let names: Vec<_> = names.collect();
        (is_read && names.iter().all(|word| is_set_here(word)))
            .then(|| names.iter().map(|(_, _, name)| name.clone()).collect())
    }

    /// The value of `$f` or `${f}` in this round, where it is a plain word: it stays one word, in quotes or without.
    pub(super) fn in_round(&mut self, expansion: &str) -> Result<Option<String>, Unclear> {
        let is_plain = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/,:@%+=-".contains(c))
        };
        let value = match self.word_of(expansion) {
            Some(Word::Known(text)) if is_plain(text) => text.clone(),
            _ => return Ok(None),
        };
        self.grow(value.len())?;
        Ok(Some(value))
    }

    /// Counts what a loop puts into the line.
    fn grow(&mut self, bytes: usize) -> Result<(), Unclear> {
        self.grown = self.grown.saturating_add(bytes);
        if self.grown > MOST_BYTES { Err("its loops make too much of it".into()) } else { Ok(()) }
    }

    /// A word whose value is not known, with what its loops' variables are. Only in quotes it is the one word: without,
    /// the shell splits a file's name at its blanks.
    pub(super) fn unknown(&mut self, written: &str) -> Result<Word, Unclear> {
        let within = written.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let within = within.filter(|within| !within.contains('"'));
        if let Some(Word::Unknown(word)) = within.and_then(|within| self.word_of(within))
            && !word.contains(['$', '`', '"', '\'', '{', '('])
        {
            let word = word.clone();
            self.grow(word.len())?;
            return Ok(Word::Unknown(word));
        }
        let mut text = within.unwrap_or(written).to_owned();
        // Without quotes what is read is split, and its globs are files.
        let is_split = |word: &Word| matches!(word, Word::Unknown(text) if text == READ);
        if within.is_none() && self.word_of(written).is_none_or(is_split) {
            return Ok(Word::Unknown(written.to_owned()));
        }
        for at in 0..self.rounds.len() {
            let Some(Round { name, word: Word::Known(word) | Word::Unknown(word) }) = self.rounds.get(at) else {
                break;
            };
            // As much as there could be, before any of it is made.
            let most = text.matches('$').count().saturating_mul(word.len());
            let more = if text.len().saturating_add(most) > MOST_BYTES {
                most
            } else {
                let made = replaced(&text.replace(&format!("${{{name}}}"), word), name, word);
                let more = made.len().saturating_sub(text.len());
                text = made;
                more
            };
            self.grow(more)?;
        }
        Ok(Word::Unknown(format!("\"{text}\"")))
    }

    /// A command's next word. After `--` a name that begins with a dash is no option, and a glob as good as one with
    /// its folder.
    pub(super) fn after_dashes(&self, words: &[Word], word: Word, written: &str) -> Word {
        let is_known = |word: &Word, is: &dyn Fn(&str) -> bool| matches!(word, Word::Known(text) if is(text));
        let ends_options = words.first().is_some_and(|name| is_known(name, &|name| END_OPTIONS.contains(&name)))
            && words.iter().any(|word| is_known(word, &|text| text == "--"));
        match word {
            Word::Unknown(glob) if ends_options && glob != written && glob.starts_with('*') => {
                Word::Unknown(format!("./{glob}"))
            }
            word => word,
        }
    }

    fn word_of(&self, expansion: &str) -> Option<&Word> {
        let name = expansion.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        self.rounds.iter().rev().find(|round| round.name == name).map(|round| &round.word)
    }
}

/// A text with `$name` replaced, where the name ends there.
fn replaced(text: &str, name: &str, word: &str) -> String {
    let variable = format!("${name}");
    let mut pieces = text.split(variable.as_str());
    let mut made = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let goes_on = piece.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        made.push_str(if goes_on { &variable } else { word });
        made.push_str(piece);
    }
    made
}

/// The numbers of `{1..5}`, `$(seq 5)` or `$(seq 1 5)`, or the word.
fn in_range(word: Word) -> Vec<Word> {
    let range = match &word {
        Word::Unknown(text) => {
            let braces = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            let told = text.strip_prefix("$(seq ").and_then(|text| text.strip_suffix(')'));
            let told = told.map(|told| told.split_once(' ').unwrap_or(("1", told)));
            braces.and_then(|range| range.split_once("..")).or(told)
        }
        Word::Known(_) => None,
    };
    let numbers = range.and_then(|(first, last)| {
        let is_plain = |text: &str| !text.starts_with(['0', '+', '-']) || text == "0";
        let [first, last] = [first, last].map(|text| text.parse::<usize>().ok().filter(|_| is_plain(text)));
        let (first, last) = (first?, last?);
        (first <= last && last - first < MOST).then_some(first..=last)
    });
    match numbers {
        Some(numbers) => numbers.map(|number| Word::Known(number.to_string())).collect(),
        None => vec![word],
    }
}

/// True if a line sets a variable by one `for` alone: beside that its name stands only behind a `$`, or is an option's
/// letter.
fn is_set_once(source: &str, name: &str) -> bool {
    is_set_once_by(source, name, |at| {
        let before = source.get(..at).unwrap_or_default();
        before.trim_end_matches([' ', '\t']).ends_with("for") && before.ends_with([' ', '\t'])
    })
}

/// The same by the word that stands there alone.
fn is_set_only_at(source: &str, name: &str, place: usize) -> bool {
    is_set_once_by(source, name, |at| at == place)
}

fn is_set_once_by(source: &str, name: &str, sets: impl Fn(usize) -> bool) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut loops = 0;
    source.match_indices(name).all(|(at, _)| {
        let (before, after) = (source.get(..at).unwrap_or_default(), source.get(at + name.len()..).unwrap_or_default());
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return true;
        }
        let is_used = before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
        let is_option = before.ends_with(" -");
        let is_loop = sets(at);
        loops += usize::from(is_loop);
        is_used || is_option || is_loop
    }) && loops == 1
}
