//! Characters that nobody sees: texts that differ in them alone look the same. Whoever is asked must see what they
//! allow, and other crates show foreign text by this, too.

/// True if a character shows nothing, or turns text around: those that Unicode calls `Default_Ignorable_Code_Point`
/// and `Bidi_Control`, marks of annotations, and the blank of Braille.
pub fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// True if a character changes how its neighbours look: the two joiners, and the choice between an emoji and a sign.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Reads a text, and tells which of its characters nobody sees. A joiner counts as seen where its neighbours look
/// different for it: within an emoji, and in scripts whose letters join.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    before: Before,
}

/// The kind of a character that stands before another.
#[derive(Clone, Copy, Debug, Default)]
enum Before {
    #[default]
    Other,
    /// A letter of a script whose letters join.
    Joining,
    Emoji,
    /// An emoji, and the word that it is to look like one.
    Chosen,
    /// A character that a key may be written with: `1` of \u{31}\u{fe0f}\u{20e3}.
    Key,
}

impl Reader {
    /// True if nobody sees the text's next character, given the one behind that.
    pub fn is_unseen(&mut self, c: char, next: Option<char>) -> bool {
        let (unseen, before) = match (self.before, c) {
            (Before::Joining, '\u{200c}' | '\u{200d}') => (false, Before::Other),
            (Before::Emoji | Before::Chosen, '\u{200d}') if next.is_some_and(is_emoji) => (false, Before::Other),
            (Before::Emoji, '\u{fe0e}' | '\u{fe0f}') => (false, Before::Chosen),
            (Before::Key, '\u{fe0f}') if next == Some('\u{20e3}') => (false, Before::Other),
            (_, c) if is_unseen(c) => (true, Before::Other),
            (_, c) if is_emoji(c) => (false, Before::Emoji),
            (_, c) if joins(c) => (false, Before::Joining),
            (_, '0'..='9' | '#' | '*') => (false, Before::Key),
            _ => (false, Before::Other),
        };
        self.before = before;
        unseen
    }
}

/// True if somebody who reads a text misses a part of it.
pub fn is_in(text: &str) -> bool {
    let (mut reader, mut chars) = (Reader::default(), text.chars().peekable());
    while let Some(c) = chars.next() {
        if reader.is_unseen(c, chars.peek().copied()) {
            return true;
        }
    }
    false
}

/// True if a sign is, or may be shown as, an emoji. The blocks are taken whole.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}'
            | '\u{24c2}'
            | '\u{25a0}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// True if a character is of a script in which a joiner makes another letter: Arabic and its kin, those of South and
/// Southeast Asia, Mongolian. The blocks are taken whole.
fn joins(c: char) -> bool {
    matches!(
        c,
        '\u{600}'..='\u{109f}'
            | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}'
            | '\u{a800}'..='\u{aaff}'
            | '\u{abc0}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10a00}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_unseen_wherever_it_stands() {
        // Said apart from the code.
        let marks = [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x200b, 0x2800, 0x3164, 0xfeff, 0xffa0];
        let ranges = [
            (0x180b, 0x180e),
            (0x2060, 0x2065),
            (0x206a, 0x206f),
            (0x202a, 0x202e),
            (0x2066, 0x2069),
            (0xfe00, 0xfe0d),
            (0xfff9, 0xfffb),
            (0xe0000, 0xe01ef),
        ];
        let all = marks.into_iter().chain(ranges.into_iter().flat_map(|(first, last)| first..=last));
        for code in all {
            let mark = char::from_u32(code).unwrap();
            for text in [format!("a{mark}b"), format!("\u{1f600}{mark}\u{1f600}"), format!("\u{645}{mark}\u{6cc}")] {
                assert!(is_in(&text), "{code:x} in {text:?}");
            }
        }
    }

    #[test]
    fn a_joiner_is_seen_where_it_joins_and_nowhere_else() {
        let whole = [
            "\u{1f469}\u{200d}\u{1f4bb}",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f692}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525} \u{26a0}\u{fe0f} \u{2714}\u{fe0e}",
            "1\u{fe0f}\u{20e3} first",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{d28}\u{d4d}\u{200d} ",
        ];
        for text in whole {
            assert!(!is_in(text), "{text:?}");
        }
        let hidden = [
            "\u{200d}",
            "a\u{200d}b",
            "a\u{200c}b",
            "\u{43f}\u{200c}\u{440}",
            "\u{6f22}\u{200d}\u{5b57}",
            "file\u{fe0f}",
            "1\u{fe0f}",
            "1\u{fe0f}0",
            "\u{1f469}\u{200d}",
            "\u{1f469}\u{200d}a",
            "\u{1f469}\u{200c}\u{1f469}",
            "\u{1f469}\u{200d}\u{200d}\u{1f469}",
            "\u{26a0}\u{fe0f}\u{fe0f}",
            "\u{645}\u{200c}\u{200c}\u{645}",
            "\u{645}\u{fe0f}",
        ];
        for text in hidden {
            assert!(is_in(text), "{text:?}");
        }
    }
}
