//! The headers in a unified diff: of a file, and of a hunk.

use super::parse::{ParseError, Parser, Problem, shown};

/// The content of a file's header.
pub(super) struct FileHeader {
    /// The file as it is called before, or the new one.
    pub(super) path: String,
    /// The file as it is called after, if that is something else.
    pub(super) move_to: Option<String>,
    pub(super) created: bool,
    pub(super) deleted: bool,
    /// True if hunks follow.
    pub(super) has_lines: bool,
}

impl FileHeader {
    /// Reads a header, which begins with `diff`, `Index:` or `---`.
    pub(super) fn read(parser: &mut Parser<'_>) -> Result<Self, ParseError> {
        let first = parser.at;
        let mut git = None;
        let (mut created, mut deleted, mut rename) = (false, false, (None, None));
        while let Some(line) = parser.peek() {
            let path = |path: &str| unquoted(path).ok_or_else(|| parser.error(Problem::BadPath(shown(path))));
            if let Some(names) = line.strip_prefix("diff --git ") {
                if parser.at != first {
                    break;
                }
                git = same_name(names);
            } else if let Some(mode) = line.strip_prefix("new file mode ") {
                plain_mode(mode).map_err(|problem| parser.error(problem))?;
                created = true;
            } else if line.starts_with("deleted file mode ") {
                deleted = true;
            } else if line.starts_with("old mode ") || line.starts_with("new mode ") {
                let words = "an edit cannot change a file's mode; take the `old mode` and `new mode` lines out, and use \
                             chmod";
                return Err(parser.error(Problem::Unsupported(words)));
            } else if let Some(from) = line.strip_prefix("rename from ") {
                rename.0 = Some(path(from)?);
            } else if let Some(to) = line.strip_prefix("rename to ") {
                rename.1 = Some(path(to)?);
            } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
                let words = "a copy cannot be applied; add the new file with all of its lines";
                return Err(parser.error(Problem::Unsupported(words)));
            } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
                return Err(parser.error(Problem::Unsupported("binary files cannot be edited")));
            } else if line.starts_with("Only in ") {
                let words = "a file that stands in one folder only is not in the diff; add it with all of its lines";
                return Err(parser.error(Problem::Unsupported(words)));
            } else if !is_noise(line) {
                break;
            }
            parser.at += 1;
        }
        let has_lines = parser.peek().is_some_and(|line| line.starts_with("--- "));
        let (mut old, mut new) = (git.clone(), git);
        if has_lines {
            old = name(parser, "--- ")?;
            parser.at += 1;
            if !parser.peek().is_some_and(|line| line.starts_with("+++ ")) {
                return Err(parser.error(Problem::NoNewName));
            }
            new = name(parser, "+++ ")?;
            created |= old.is_none();
            deleted |= new.is_none();
        }
        let (old, new) = without_prefix(old, new);
        let names = |old: String, new: String| parser.error(Problem::Names { old, new });
        let header = |path, move_to| Self { path, move_to, created, deleted, has_lines };
        let header = match (rename, old, new) {
            ((Some(from), Some(to)), old, new) => {
                if old.as_ref().is_some_and(|old| *old != from) || new.as_ref().is_some_and(|new| *new != to) {
                    return Err(names(format!("{from} => {to}"), new.or(old).unwrap_or_default()));
                }
                header(from, Some(to))
            }
            (_, Some(old), Some(new)) if old == new || is_backup(&old, &new) => header(new, None),
            (_, Some(old), Some(new)) => return Err(names(old, new)),
            (_, Some(path), None) | (_, None, Some(path)) => header(path, None),
            (_, None, None) => return Err(parser.error(Problem::NoPath)),
        };
        if has_lines {
            parser.at += 1;
        }
        if header.created && header.deleted || (header.created || header.deleted) && header.move_to.is_some() {
            return Err(parser.error(Problem::Unsupported("the header says two different things of the file")));
        }
        Ok(Self { path: parser.some(header.path)?, ..header })
    }
}

/// The numbers of a hunk: `-1,2 +3,4`, and what stands behind them.
pub(super) struct Numbers<'a> {
    old: (usize, Option<usize>),
    new: Option<(usize, Option<usize>)>,
    rest: &'a str,
}

impl<'a> Numbers<'a> {
    /// Reads them from what follows the first `@@`.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (old, mut rest) = range(text.strip_prefix('-')?)?;
        let new = rest.trim_start().strip_prefix('+').and_then(range);
        if let Some((_, after)) = new {
            rest = after;
        }
        let rest = rest.trim_start();
        if !rest.is_empty() && !rest.starts_with("@@") {
            return None;
        }
        Some(Self { old, new: new.map(|(new, _)| new), rest: rest.trim_start_matches('@').trim() })
    }

    /// How many old and new lines there are to be.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        Some((self.old.1.unwrap_or(1), self.new?.1.unwrap_or(1)))
    }

    /// The line where the hunk begins, from 0. One without old lines stands behind the line that is named.
    pub(super) fn start(&self) -> usize {
        if self.old.1 == Some(0) { self.old.0 } else { self.old.0.saturating_sub(1) }
    }

    pub(super) fn heading(&self) -> Option<String> {
        (!self.rest.is_empty()).then(|| self.rest.to_owned())
    }
}

/// `12` or `12,3`, and what follows.
fn range(text: &str) -> Option<((usize, Option<usize>), &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => number(rest).map(|(count, rest)| ((start, Some(count)), rest)),
        None => Some(((start, None), rest)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    digits.parse::<u32>().ok().and_then(|number| usize::try_from(number).ok()).map(|number| (number, rest))
}

/// True if the header of a file begins here.
pub(super) fn begins_file(lines: &[&str], at: usize) -> bool {
    let starts = |at: usize, with: &str| lines.get(at).is_some_and(|line| line.starts_with(with));
    begins_git_file(lines, at)
        || (starts(at, "Only in ") && lines.get(at).is_some_and(|line| line.contains(": ")))
        || starts(at, "Binary files ")
        || (starts(at, "--- ") && starts(at + 1, "+++ "))
}

/// True if a header begins here that cannot be a line of a hunk.
pub(super) fn begins_git_file(lines: &[&str], at: usize) -> bool {
    let starts = |at: usize, with: &str| lines.get(at).is_some_and(|line| line.starts_with(with));
    starts(at, "diff -") || (starts(at, "Index: ") && starts(at + 1, "====="))
}

/// True if the header of a unified diff here names the file once more that the envelope named.
pub(super) fn repeats_names(lines: &[&str], at: usize, path: &str, move_to: Option<&str>) -> bool {
    let name = |at: usize, with: &str| {
        let name = lines.get(at)?.strip_prefix(with)?;
        unquoted(name.split('\t').next().unwrap_or_default().trim())
    };
    let (Some(old), Some(new)) = (name(at, "--- "), name(at + 1, "+++ ")) else { return false };
    let (old, new) = without_prefix(Some(old), Some(new));
    old.as_deref() == Some(path) && (new.as_deref() == Some(path) || new.as_deref() == move_to)
}

/// The name in a `---` or `+++` line; none for `/dev/null`.
fn name(parser: &Parser<'_>, prefix: &str) -> Result<Option<String>, ParseError> {
    let line = parser.peek().and_then(|line| line.strip_prefix(prefix)).unwrap_or_default();
    // `diff` puts the time behind a tab.
    let name = line.split('\t').next().unwrap_or_default().trim();
    match name {
        "/dev/null" => Ok(None),
        name => {
            let name = unquoted(name).ok_or_else(|| parser.error(Problem::BadPath(shown(name))))?;
            parser.some(name).map(Some)
        }
    }
}

/// Takes the `a/` and `b/` of git off.
fn without_prefix(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    let strip = |name: &Option<String>, prefix: &str| name.as_ref()?.strip_prefix(prefix).map(str::to_owned);
    match (strip(&old, "a/"), strip(&new, "b/")) {
        (Some(old), Some(new)) => (Some(old), Some(new)),
        (Some(short), None) if new.is_none() || new.as_ref() == Some(&short) => (Some(short), new),
        (None, Some(short)) if old.is_none() || old.as_ref() == Some(&short) => (old, Some(short)),
        _ => (old, new),
    }
}

/// True if the old name is that of a copy that was made before the change, as `diff -u file.orig file` has it.
fn is_backup(old: &str, new: &str) -> bool {
    old.strip_prefix(new).is_some_and(|suffix| matches!(suffix, ".orig" | ".old" | ".bak" | "~"))
}

/// The name in `diff --git a/name b/name`, where both are the same.
fn same_name(names: &str) -> Option<String> {
    if names.starts_with('"') {
        let (old, new) = names.split_once("\" ")?;
        let (old, new) = without_prefix(unquoted(&format!("{old}\"")), unquoted(new));
        return old.filter(|old| Some(old) == new.as_ref());
    }
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle..)?.strip_prefix(' ')?);
    let (old, new) = without_prefix(Some(old.to_owned()), Some(new.to_owned()));
    old.filter(|old| Some(old) == new.as_ref())
}

/// A path as git writes it: in quotes where it has unusual characters, which are then escaped.
fn unquoted(path: &str) -> Option<String> {
    let path = path.trim();
    let Some(quoted) = path.strip_prefix('"') else { return Some(path.to_owned()) };
    let mut bytes = Vec::new();
    let mut rest = quoted.strip_suffix('"')?.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            digit @ b'0'..=b'3' => {
                let mut digits = || rest.next().filter(|digit| (b'0'..=b'7').contains(digit)).map(|digit| digit - b'0');
                (digit - b'0') * 64 + digits()? * 8 + digits()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Refuses modes of what is not a plain file.
fn plain_mode(mode: &str) -> Result<(), Problem> {
    match mode.trim() {
        "120000" => Err(Problem::Unsupported("an edit cannot make a symbolic link")),
        "160000" => Err(Problem::Unsupported("an edit cannot add a submodule")),
        "100755" => Err(Problem::Unsupported(
            "an edit cannot make a file executable; write `new file mode 100644`, and use chmod",
        )),
        _ => Ok(()),
    }
}

/// Lines of a header that say nothing to an edit.
fn is_noise(line: &str) -> bool {
    ["diff -", "Index: ", "=====", "index ", "similarity index ", "dissimilarity index "]
        .iter()
        .any(|start| line.starts_with(start))
}
