//! The tag by which edits name a line: its number and a short hash, `LINE#ID`.
//!
//! The ID is 20 bits, written as four characters of [`ALPHABET`]: digits and capitals without those that look like
//! others (I, L, O, U). It is made of the line without white space at its end (so a CR there does not count either).
//! A line that stands in the text only once has the ID of its content alone, whatever is done elsewhere. A line that
//! repeats, such as a blank one or a closing brace, takes in the lines above it too, up to the nearest that stands only
//! once. So a brace that came to where another brace stood is known to be another.
//!
//! Two lines that differ have the same ID by chance, once in 1,048,576 times. In a whole text that is common: half of
//! the texts with 1,200 lines have such a pair. So the ID alone does not say which line is meant. With the number it
//! does: a line is taken for another only where it came to stand at the very number of that one, and either has its ID
//! by chance, or says the same and, if it repeats, stands below the same lines.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// The separator between a tag and its line where lines are shown.
pub const SEPARATOR: char = '|';
/// The characters of an ID, five bits each.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many characters an ID has.
const ID_LENGTH: usize = 4;

/// The tag of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The line's number, from 1.
    pub line: usize,
    /// The ID that tells the line from another at the same number.
    pub id: Id,
}

/// A line's short hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u32);

/// The lines of a text with their tags. The text is a normal one (LF line ends).
#[derive(Clone, Debug)]
pub struct Tagged<'t> {
    lines: Vec<(Id, &'t str)>,
}

/// A reference to a line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` is not the tag of a line. A tag is a line's number, `#` and four characters, as read_file and search_text \
     give it before the line, such as 12#7KQX; the number alone is not enough"
)]
pub struct NotATag {
    /// The beginning of what was given.
    shown: String,
}

impl<'t> Tagged<'t> {
    /// Tags the lines of a text.
    pub fn new(text: &'t str) -> Self {
        Self { lines: hashes(text).into_iter().map(|(hash, line)| (Id::new(hash), line)).collect() }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// A line by its number, from 1: its tag, and its text without line end.
    pub fn line(&self, number: usize) -> Option<(Tag, &'t str)> {
        let (id, text) = self.lines.get(number.checked_sub(1)?)?;
        Some((Tag { line: number, id: *id }, text))
    }

    /// True if this is the tag of a line as it is now.
    pub fn has(&self, tag: Tag) -> bool {
        self.line(tag.line).is_some_and(|(now, _)| now == tag)
    }

    /// The lines with an ID.
    pub(super) fn with_id(&self, id: Id) -> impl Iterator<Item = Tag> {
        (1..).zip(&self.lines).filter(move |(_, (other, _))| *other == id).map(move |(line, _)| Tag { line, id })
    }

    /// The texts of the lines.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().map(|(_, text)| *text)
    }
}

impl Id {
    /// The uppermost bits.
    fn new(hash: u64) -> Self {
        Self(u32::try_from(hash >> (64 - 5 * ID_LENGTH)).unwrap_or_default())
    }
}

/// The lines of a text, each with the hash whose uppermost bits are its ID.
fn hashes(text: &str) -> Vec<(u64, &str)> {
    let lines: Vec<(u64, &str)> = text.split_terminator('\n').map(|line| (hash(line), line)).collect();
    let mut counts: HashMap<u64, usize> = HashMap::with_capacity(lines.len());
    for (hash, _) in &lines {
        *counts.entry(*hash).or_default() += 1;
    }
    let mut above = 0;
    let whole = |(hash, line)| {
        let repeats = counts.get(&hash).is_some_and(|count| *count > 1);
        above = mix(if repeats { above ^ hash } else { hash });
        (above, line)
    };
    lines.into_iter().map(whole).collect()
}

/// FNV-1a over a line without white space at its end. Tags stand in sessions that are kept, so it never changes.
fn hash(line: &str) -> u64 {
    line.trim_end()
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Spreads what differs over all bits (the last steps of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.line, self.id)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..ID_LENGTH).rev().try_for_each(|place| {
            let index = (self.0 >> (5 * place)) as usize % ALPHABET.len();
            write!(f, "{}", char::from(ALPHABET.get(index).copied().unwrap_or_default()))
        })
    }
}

impl FromStr for Id {
    type Err = ();

    /// Reads an ID, whatever the case.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text.len() != ID_LENGTH {
            return Err(());
        }
        let value = text.bytes().try_fold(0, |value, byte| {
            let index = ALPHABET.iter().position(|character| *character == byte.to_ascii_uppercase())?;
            Some(value << 5 | u32::try_from(index).ok()?)
        });
        value.map(Self).ok_or(())
    }
}

impl FromStr for Tag {
    type Err = NotATag;

    /// Reads a reference to one line. What models copy with a tag is passed over: marks and space before it, and after
    /// it the line itself behind `|`, `:`, `-` or a tab. The case of the ID does not count.
    ///
    /// # Errors
    /// Anything else, and a copy of more than one line.
    fn from_str(reference: &str) -> Result<Self, NotATag> {
        let one_line = |rest: &str| {
            let rest = rest.trim_end();
            (rest.is_empty() || rest.starts_with([SEPARATOR, ':', '-', '\t'])) && !rest.contains('\n')
        };
        match leading(reference) {
            Some((tag, rest)) if one_line(rest) => Ok(tag),
            _ => {
                let end = reference.floor_char_boundary(80);
                let more = if end < reference.len() { "…" } else { "" };
                Err(NotATag { shown: format!("{}{more}", reference.get(..end).unwrap_or_default()) })
            }
        }
    }
}

/// The tag with which a line begins as it is shown, and the line.
pub(super) fn shown(line: &str) -> Option<(Tag, &str)> {
    let (tag, rest) = leading(line)?;
    Some((tag, rest.strip_prefix(SEPARATOR)?))
}

/// A tag at the beginning of a text, after marks and space, and what comes after it.
fn leading(text: &str) -> Option<(Tag, &str)> {
    let text = text.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let (number, rest) = text.split_once('#')?;
    let number = number.trim_end_matches(' ');
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let line = number.parse().ok().filter(|line| *line > 0)?;
    let (id, rest) = rest.trim_start_matches(' ').split_at_checked(ID_LENGTH)?;
    Some((Tag { line, id: id.parse().ok()? }, rest))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn tags(text: &str) -> Vec<Tag> {
        let tagged = Tagged::new(text);
        (1..=tagged.count()).map(|number| tagged.line(number).unwrap().0).collect()
    }

    fn read(reference: &str) -> Option<String> {
        reference.parse::<Tag>().ok().map(|tag| tag.to_string())
    }

    #[test]
    fn tags_are_the_same_in_every_version_of_azimuth() {
        // They stand in sessions that were stored and are gone on with.
        let shown: Vec<_> = tags("fn main() {\n}\n\nfn other() {\n}\n").iter().map(Tag::to_string).collect();
        assert_eq!(shown, ["1#A201", "2#TXN4", "3#YMN1", "4#B17X", "5#N483"]);
    }

    #[test]
    fn white_space_at_the_end_of_a_line_does_not_count() {
        assert_eq!(tags("one\ntwo \t\r\n \nü"), tags("one  \ntwo\n\nü\u{a0}"));
        assert_ne!(tags("one"), tags(" one"));
    }

    #[test]
    fn a_line_that_stands_only_once_keeps_its_id_wherever_it_goes() {
        let before = tags("a\nb\nc\n");
        let after = tags("new\nc\nb\n");
        assert_eq!((before[1].id, before[2].id), (after[2].id, after[1].id));
    }

    #[test]
    fn no_two_lines_of_a_text_have_the_same_tag_though_they_say_the_same() {
        let text = "fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n\n\n}\n";
        let ids: HashSet<Id> = tags(text).iter().map(|tag| tag.id).collect();
        assert_eq!(ids.len(), 10);
    }

    #[test]
    fn a_brace_that_came_to_where_another_stood_is_another() {
        let function = |name: &str| format!("fn {name}() {{\n    x()\n}}\n");
        let [a, b, c] = ["a", "b", "c"].map(function);
        let before = tags(&format!("{a}{b}"));
        let after = tags(&format!("{c}{a}{b}"));
        assert!(before.iter().all(|tag| !after.contains(tag)), "{before:?} {after:?}");
        assert_eq!(before[5].id, after[8].id, "it can be found again");
    }

    #[test]
    fn chance_alone_makes_no_more_ids_equal_than_20_bits_must() {
        let text: String = (0..20_000).map(|number| format!("let value_{number} = {number};\n")).collect();
        let ids: HashSet<Id> = tags(&text).iter().map(|tag| tag.id).collect();
        // Of n lines in m values about n²/2m fall together: 191 here.
        let together = 20_000 - ids.len();
        assert!((100..300).contains(&together), "{together}");
    }

    #[test]
    fn a_reference_is_read_with_what_was_copied_around_it() {
        for reference in [
            "12#7KQX",
            "  12#7KQX ",
            ">>> 12#7KQX|    let x = 1;",
            "12#7KQX|",
            "12#7KQX: let x = 1;",
            "12#7KQX- let x = 1;",
            "12#7KQX\tlet x = 1;\n",
            "12 # 7kqx",
            "\n0012#7kqX\r\n",
        ] {
            assert_eq!(read(reference).as_deref(), Some("12#7KQX"), "{reference:?}");
        }
    }

    #[test]
    fn what_is_not_one_tag_is_refused() {
        for reference in [
            "",
            "12",
            "#7KQX",
            "12#",
            "12#7KQ",
            "12#7KQXX",
            "12#7KQI",
            "12#7KQX let x",
            "0#7KQX",
            "-1#7KQX",
            "+1#7KQX",
            "1.5#7KQX",
            "12#7KQX-13#7KQX\n14#7KQX",
            "12#7KQX|a\n13#7KQX|b",
            "a.rs:12#7KQX",
            "99999999999999999999999#7KQX",
            "12#éé",
            "12##7KQX",
        ] {
            assert_eq!(read(reference), None, "{reference:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_a_tag_is_and_stays_short() {
        let words = "é".repeat(500).parse::<Tag>().unwrap_err().to_string();
        assert!(
            words.starts_with("`éé") && words.contains("é…` is not the tag of a line.") && words.len() < 400,
            "{words}"
        );
    }

    proptest! {
        #[test]
        fn a_tag_that_was_shown_is_read(text in "[ab}\n ]{1,60}") {
            let tagged = Tagged::new(&text);
            for tag in tags(&text) {
                let (_, line) = tagged.line(tag.line).unwrap();
                prop_assert_eq!(tag.to_string().parse(), Ok(tag));
                prop_assert_eq!(format!("{tag}{SEPARATOR}{line}").parse(), Ok(tag));
            }
        }

        #[test]
        fn any_string_is_a_tag_or_refused(reference in "\\PC{0,12}|[0-9]{1,3} ?#? ?[0-9A-Za-z]{3,5}[|: \n-]?[a#]?") {
            match reference.parse::<Tag>() {
                Ok(tag) => prop_assert_eq!(tag.to_string().parse(), Ok(tag)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn whole_functions_put_in_or_taken_out_never_make_a_line_that_repeats_another(
            names in proptest::sample::subsequence((0..30).collect::<Vec<usize>>(), 1..8),
            bodies in proptest::collection::vec(0usize..9, 60),
            at in 0usize..8,
            taken in 0usize..4,
            put in proptest::sample::subsequence((30..60).collect::<Vec<usize>>(), 0..4),
        ) {
            // A line, and where it belongs: to which function, and at which place in it.
            type Line = (usize, usize, String);
            let function = |name: usize, inner: usize| {
                let inner = ["    if x {", "        y();", "    }", ""].into_iter().cycle().take(inner);
                let lines = inner.chain(["    Ok(())", "}", ""]).map(ToOwned::to_owned);
                std::iter::once(format!("fn f{name}() {{")).chain(lines).enumerate().map(move |(at, line)| (name, at, line))
            };
            // With these two, every line inside of a function repeats.
            let file = |names: &[usize]| -> Vec<Line> {
                let rest = names.iter().flat_map(|name| function(*name, bodies[*name]));
                function(100, 4).chain(function(101, 4)).chain(rest).collect()
            };
            let text = |lines: &[Line]| lines.iter().map(|(_, _, line)| format!("{line}\n")).collect::<String>();
            let mut changed = names.clone();
            changed.splice(at.min(names.len())..(at + taken).min(names.len()), put);
            let (before, after) = (file(&names), file(&changed));
            let (old, new) = (text(&before), text(&after));
            // By their whole hashes: of the bits that an ID has of them, some are the same by chance.
            for (at, ((old, _), (new, _))) in hashes(&old).into_iter().zip(hashes(&new)).enumerate() {
                if old == new {
                    prop_assert_eq!(&before[at], &after[at]);
                }
            }
        }
    }
}
