//! An edit carried over to lines that are not quite those it was made for.
//!
//! If a lenient pass found the place, the file's lines and the edit's old lines differ in what the pass leaves out.
//! The lines that the edit does not change keep the file's text; those that it puts in are indented and quoted as the
//! file is. If that is not certain the edit is refused: nothing is guessed.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp};

use super::fold::{Pass, plain};
use super::indent::{Indents, Unit, indent};

/// Lines of an edit are compared word by word only up to so many pairs.
const MOST_PAIRS: usize = 10_000;

/// An edit with more lines, or with longer ones (in bytes), is placed only as it is: what the lenient passes and the
/// merge after them do with it takes time by the square of both.
const LONGEST_LENIENT: (usize, usize) = (1000, 2000);

/// True if lines are too many or too long to be carried over.
pub(super) fn is_long<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let (most, longest) = LONGEST_LENIENT;
    let mut count = 0;
    lines.inspect(|_| count += 1).any(|line| line.len() > longest) || count > most
}

/// Why an edit cannot be carried over. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uncertain {
    /// The indentation of a line.
    #[error("the file is indented otherwise than your text, and how it would indent your line `{line}` is not certain")]
    Indentation {
        /// The line, shortened.
        line: String,
    },
    /// The character of the file that is meant.
    #[error(
        "the file has another kind of quote or dash than your text, and which one it would have for {character} in your \
         line `{line}` is not certain"
    )]
    Character {
        /// The character.
        character: char,
        /// The line, shortened.
        line: String,
    },
}

/// Marks the old lines that an edit hangs on: those that it changes, and those beside which it puts something.
pub(super) fn certain(old: &[&str], new: &[&str]) -> Vec<bool> {
    let mut certain = vec![false; old.len()];
    for op in ops(old, new) {
        let range = match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Insert { old_index, .. } => old_index.saturating_sub(1)..old_index + 1,
            DiffOp::Delete { old_index, old_len, .. } | DiffOp::Replace { old_index, old_len, .. } => {
                old_index..old_index + old_len
            }
        };
        for it in certain.get_mut(range.start..range.end.min(old.len())).into_iter().flatten() {
            *it = true;
        }
    }
    certain
}

/// Returns the lines that an edit makes of lines of the file. `file` and `old` are as many lines, each of them the
/// same to one of the passes, but for those that the edit does not hang on. `unit` is how the file indents.
///
/// # Errors
/// See [`Uncertain`].
pub(super) fn merge(file: &[&str], old: &[&str], new: &[&str], unit: Option<Unit>) -> Result<Vec<String>, Uncertain> {
    merge_ops(&ops(old, new), file, old, new, unit)
}

/// The same, where it is known which of the old lines stay.
pub(super) fn merge_ops(
    ops: &[DiffOp],
    file: &[&str],
    old: &[&str],
    new: &[&str],
    unit: Option<Unit>,
) -> Result<Vec<String>, Uncertain> {
    let pairs = || old.iter().copied().zip(file.iter().copied());
    let tail = |line: &str| line.len() - line.trim_end().len();
    let carry = Carry {
        indents: Indents::new(indented(old, file), unit),
        hanging: hanging(old, file),
        characters: Characters::new(pairs()),
        has_tails: pairs().any(|(old, file)| !old.trim().is_empty() && tail(old) > 0 && tail(file) == 0),
    };
    let mut merged = Vec::new();
    for op in ops {
        match *op {
            DiffOp::Equal { old_index, len, .. } => {
                merged.extend(file.iter().skip(old_index).take(len).map(|&line| line.to_owned()));
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } => {
                for line in new.iter().skip(new_index).take(new_len) {
                    merged.push(carry.new_line(line)?);
                }
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let old = old.get(old_index..old_index + old_len).unwrap_or_default();
                let new = new.get(new_index..new_index + new_len).unwrap_or_default();
                for (line, partner) in new.iter().zip(partners(old, new)) {
                    let pair = partner.and_then(|at| Some((*old.get(at)?, *file.get(old_index + at)?)));
                    merged.push(match pair {
                        Some((old, file)) => carry.changed_line(file, old, line)?,
                        None => carry.new_line(line)?,
                    });
                }
            }
        }
    }
    Ok(merged)
}

fn ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    similar::capture_diff_slices(Algorithm::Patience, old, new)
}

/// The pairs of lines that tell how indentation translates. A first line without any may begin inside a line of the
/// file, so it counts only where others bear it out.
fn indented<'a>(old: &[&'a str], file: &[&'a str]) -> std::vec::IntoIter<(&'a str, &'a str)> {
    let pairs = old.iter().copied().zip(file.iter().copied());
    let mut pairs: Vec<(&str, &str)> = pairs.filter(|(old, _)| !old.trim().is_empty()).collect();
    if let Some(((first_old, first_file), rest)) = pairs.split_first()
        && indent(first_old).is_empty()
        && !indent(first_file).is_empty()
        && rest.iter().all(|(old, file)| indent(old) == indent(file))
    {
        pairs.remove(0);
    }
    pairs.into_iter()
}

/// The indentation of the file where the edit has one line only, and that without any: then it cannot be told whether
/// the edit leaves indentation out everywhere, or in that line alone.
fn hanging<'a>(old: &[&str], file: &[&'a str]) -> Option<&'a str> {
    let mut pairs = old.iter().zip(file).filter(|(old, _)| !old.trim().is_empty());
    let (old, file) = pairs.next().filter(|_| pairs.next().is_none())?;
    (indent(old).is_empty() && !indent(file).is_empty()).then(|| indent(file))
}

/// The known differences between the edit's text and the file's.
struct Carry<'a> {
    indents: Indents<'a>,
    hanging: Option<&'a str>,
    characters: Characters,
    /// True if the edit has white space at the end of lines where the file has none.
    has_tails: bool,
}

impl Carry<'_> {
    /// A line that the edit puts in.
    fn new_line(&self, line: &str) -> Result<String, Uncertain> {
        let rest = if self.has_tails { line.trim() } else { line.trim_start() };
        if rest.is_empty() {
            return Ok(String::new());
        }
        Ok(self.indentation(line)? + &self.characters.translate(rest, line)?)
    }

    fn indentation(&self, line: &str) -> Result<String, Uncertain> {
        let translated = match self.hanging {
            Some(hanging) => Some(indent(line).to_owned()).filter(|indent| indent.starts_with(hanging)),
            None => self.indents.translate(indent(line)),
        };
        translated.ok_or_else(|| Uncertain::Indentation { line: super::locate::preview(line) })
    }

    /// A line of the file, of which the edit makes another: word by word.
    fn changed_line(&self, file: &str, old: &str, new: &str) -> Result<String, Uncertain> {
        let (file_words, old_words, new_words) = (words(file.trim()), words(old.trim()), words(new.trim()));
        if file_words.len() != old_words.len() || new.trim().is_empty() {
            return self.new_line(new);
        }
        let mut merged = if indent(old) == indent(new) { indent(file).to_owned() } else { self.indentation(new)? };
        for op in similar::capture_diff_slices(Algorithm::Myers, &old_words, &new_words) {
            match op {
                DiffOp::Equal { old_index, len, .. } => {
                    merged.extend(file_words.iter().skip(old_index).take(len).copied())
                }
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                    let put = new_words.get(new_index..new_index + new_len).unwrap_or_default().concat();
                    merged += &self.characters.translate(&put, new)?;
                }
            }
        }
        // At its end a line stays as the file has it, unless the edit is about that.
        let tail = |line: &'_ str| line.len() - line.trim_end().len();
        let end = if tail(old) == tail(new) { file } else { new };
        merged += end.get(end.len() - tail(end)..).unwrap_or_default();
        Ok(merged)
    }
}

/// The file's characters for the quotes and dashes of the edit.
struct Characters {
    /// The file's character for each of the edit's; none if it stands for several.
    known: BTreeMap<char, Option<char>>,
}

impl Characters {
    fn new<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut known: BTreeMap<char, Option<char>> = BTreeMap::new();
        let visible = |line: &'a str| line.chars().filter(|c| !c.is_whitespace());
        for (old, file) in pairs.filter(|(old, file)| Pass::Characters.same(old, file)) {
            for (old, file) in visible(old).zip(visible(file)).filter(|(old, _)| is_variable(*old)) {
                known.entry(old).and_modify(|known| *known = known.filter(|&it| it == file)).or_insert(Some(file));
            }
        }
        Self { known }
    }

    /// A text of the edit with the file's characters; `line` is where it is from.
    fn translate(&self, text: &str, line: &str) -> Result<String, Uncertain> {
        let to_plain = self.known.iter().any(|(&old, &file)| plain(old) != old && file == Some(plain(old)));
        let one = |c: char| match self.known.get(&c) {
            Some(Some(file)) => Ok(*file),
            Some(None) => Err(Uncertain::Character { character: c, line: super::locate::preview(line) }),
            // An edit that has typographic ones for the file's plain ones has them everywhere.
            None if to_plain && is_variable(c) => Ok(plain(c)),
            None => Ok(c),
        };
        text.chars().map(one).collect()
    }
}

/// True if a character has plain and typographic forms.
fn is_variable(c: char) -> bool {
    matches!(c, '\'' | '"' | '-') || plain(c) != c
}

/// A line in words, white space and single other characters.
fn words(line: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Space,
        Word,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_whitespace() => Kind::Space,
        c if c.is_alphanumeric() || c == '_' => Kind::Word,
        _ => Kind::Other,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last: Option<Kind> = None;
    for (at, c) in line.char_indices() {
        let kind = kind(c);
        if last.is_some_and(|last| last != kind || kind == Kind::Other) {
            words.push(line.get(start..at).unwrap_or_default());
            start = at;
        }
        last = Some(kind);
    }
    words.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    words
}

/// For each new line the old line that it was, if any: in order, and as alike as can be.
fn partners(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    if old.len() * new.len() > MOST_PAIRS {
        return if old.len() == new.len() { (0..new.len()).map(Some).collect() } else { vec![None; new.len()] };
    }
    let (old_words, new_words): (Vec<_>, Vec<_>) =
        (old.iter().map(|line| sorted(line)).collect(), new.iter().map(|line| sorted(line)).collect());
    // best[j][i]: how alike the first j new lines can be made to the first i old ones.
    let mut best = vec![vec![0_usize; old.len() + 1]; new.len() + 1];
    let at = |best: &Vec<Vec<usize>>, j: usize, i: usize| best.get(j).and_then(|row| row.get(i)).copied().unwrap_or(0);
    for (j, new) in new_words.iter().enumerate() {
        for (i, old) in old_words.iter().enumerate() {
            let paired = alike(old, new).map_or(0, |alike| at(&best, j, i) + alike);
            let value = paired.max(at(&best, j, i + 1)).max(at(&best, j + 1, i));
            if let Some(cell) = best.get_mut(j + 1).and_then(|row| row.get_mut(i + 1)) {
                *cell = value;
            }
        }
    }
    let mut partners = vec![None; new.len()];
    let (mut j, mut i) = (new.len(), old.len());
    while j > 0 && i > 0 {
        let here = at(&best, j, i);
        if here == at(&best, j - 1, i) {
            j -= 1;
        } else if here == at(&best, j, i - 1) {
            i -= 1;
        } else {
            (j, i) = (j - 1, i - 1);
            if let Some(partner) = partners.get_mut(j) {
                *partner = Some(i);
            }
        }
    }
    partners
}

fn sorted(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = words(line.trim()).into_iter().filter(|word| !word.trim().is_empty()).collect();
    words.sort_unstable();
    words
}

/// Returns the likeness of two lines by their words, in thousandths; none if less than half.
fn alike(a: &[&str], b: &[&str]) -> Option<usize> {
    let (mut common, mut i, mut j) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (common, i, j) = (common + 1, i + 1, j + 1),
        }
    }
    let alike = 2000 * common / (a.len() + b.len()).max(1);
    (alike >= 500).then_some(alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(file: &str, old: &str, new: &str) -> Result<String, Uncertain> {
        let lines = |text: &'static str| text.split('\n').collect::<Vec<_>>();
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let (file, old, new) = (lines(leak(file)), lines(leak(old)), lines(leak(new)));
        merge(&file, &old, &new, Some(Unit::Spaces(4))).map(|lines| lines.join("\n"))
    }

    #[test]
    fn what_stays_is_the_files_and_what_comes_is_indented_like_it() {
        let file = "    fn a() {\n        one();  \n        two();\n    }";
        let old = "fn a() {\n    one();\n    two();\n}";
        let new = "fn a() {\n    one();\n    if x {\n        three();\n    }\n}";
        let wanted = "    fn a() {\n        one();  \n        if x {\n            three();\n        }\n    }";
        assert_eq!(merged(file, old, new).unwrap(), wanted);
    }

    #[test]
    fn a_changed_line_keeps_the_spaces_and_quotes_that_the_edit_is_not_about() {
        assert_eq!(
            merged("let a   = \"x\"; // y", "let a = “x”; // y", "let b = “x”; // y").unwrap(),
            "let b   = \"x\"; // y"
        );
        assert_eq!(merged("call(\"x\");", "call(“x”);", "call(“x”, ‘y’, “z”);").unwrap(), "call(\"x\", 'y', \"z\");");
        assert_eq!(merged("\tlet a = 1;  ", "  let a = 1;", "  let a = 2;").unwrap(), "\tlet a = 2;  ");
    }

    #[test]
    fn lines_that_were_put_between_changed_ones_find_their_partners() {
        let file = "\tfirst(1,  2);\n\tsecond(3,  4);";
        let old = "    first(1, 2);\n    second(3, 4);";
        let new = "    first(1, 5);\n    between();\n    second(6, 4);";
        assert_eq!(merged(file, old, new).unwrap(), "\tfirst(1,  5);\n\tbetween();\n\tsecond(6,  4);");
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let error = merged("\ta();\n\tb();", "  a();\n b();", "  a();\n b();\n   c();").unwrap_err();
        assert_eq!(error, Uncertain::Indentation { line: "c();".into() });
        let error = merged("“a” b", "\"a\"  b", "\"a\" c \"d\"").unwrap_err();
        assert!(matches!(error, Uncertain::Character { character: '"', .. }), "{error:?}");
    }

    #[test]
    fn one_line_without_its_indentation_says_nothing_of_others() {
        assert!(merged("\n    a();\n", "\na();\n", "\na();\nb();\n").is_err());
        assert_eq!(merged("    a();", "a();  ", "a();  \n    b();  ").unwrap(), "    a();\n    b();");
    }

    #[test]
    fn white_space_at_the_end_of_lines_that_the_file_has_not_is_not_put_in() {
        assert_eq!(merged("a\nb", "a  \nb  ", "a  \nc  \nb  ").unwrap(), "a\nc\nb");
        assert_eq!(merged("a  \n b", "a\nb", "a\nc  \nb").unwrap_or_default(), "", "how it is indented is not certain");
        assert_eq!(merged("a\nb  ", "a\nb", "a\nc  \nb").unwrap(), "a\nc  \nb  ");
    }

    #[test]
    fn a_blank_line_that_is_put_in_is_empty() {
        assert_eq!(merged("\ta", "    a", "    a\n    \n    b").unwrap(), "\ta\n\n\tb");
    }

    #[test]
    fn an_edit_hangs_on_what_it_changes_and_on_what_is_beside_it() {
        assert_eq!(certain(&["a", "b", "c"], &["a", "x", "c"]), [false, true, false]);
        assert_eq!(certain(&["a", "b", "c"], &["a", "b", "x", "c"]), [false, true, true]);
        assert_eq!(certain(&["a", "b", "c"], &["a", "b"]), [false, false, true]);
    }
}
