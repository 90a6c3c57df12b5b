//! The input of a tool call while it arrives: JSON of which the end is missing.
//!
//! Only its strings are kept, for they are what an edit is made of. The reader takes the pieces as they come, cut
//! anywhere, and never looks back. Where the JSON is wrong it stops: what it has read so far stays, and the call itself
//! will be refused once it is whole.

/// The longest input that is read, in bytes. Calls with longer ones are refused in the end.
const LONGEST: usize = 64 << 10;
/// The deepest nesting that is read.
const DEEPEST: usize = 32;

/// The part of an input that has come.
#[derive(Clone, Debug, Default)]
pub struct PartialInput {
    strings: Vec<PartialString>,
    reader: Reader,
}

/// A string of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialString {
    /// The field it is in; for an entry of a list, the list's field.
    pub field: String,
    /// The object whose field that is: objects are numbered as they begin, and the input itself is 0.
    pub object: usize,
    /// The part of it that has come, without escapes.
    pub text: String,
    /// True if that is all of it.
    pub is_whole: bool,
}

impl PartialInput {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        for c in piece.chars() {
            if self.reader.read + c.len_utf8() > LONGEST {
                self.reader.state = State::Stopped;
            }
            if self.reader.state == State::Stopped {
                return;
            }
            self.reader.read += c.len_utf8();
            self.reader.take(c, &mut self.strings);
        }
    }

    /// How much of it has been read, in bytes.
    pub fn read(&self) -> usize {
        self.reader.read
    }

    /// The strings in the order in which they came, those of all nested objects and lists too. Only the last may not be
    /// whole.
    pub fn strings(&self) -> &[PartialString] {
        &self.strings
    }

    /// A field of an object, once it is whole.
    pub fn whole(&self, object: usize, field: &str) -> Option<&str> {
        let is_it = |string: &&PartialString| string.is_whole && string.object == object && string.field == field;
        self.strings.iter().find(is_it).map(|string| string.text.as_str())
    }
}

/// Where a reader stands in the JSON.
#[derive(Clone, Debug, Default)]
struct Reader {
    state: State,
    /// The objects and lists that are open, the innermost last.
    open: Vec<Open>,
    /// How many objects have begun.
    objects: usize,
    /// The name that is being read, or was last.
    name: String,
    /// How much has been read, in bytes.
    read: usize,
}

#[derive(Clone, Debug)]
struct Open {
    is_object: bool,
    object: usize,
    /// The field that is read; a list is one of its object's.
    field: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// A value begins, or where `may_end` the list ends.
    #[default]
    Value,
    FirstEntry,
    /// A name begins, or after the opening bracket the object ends.
    FirstName,
    Name,
    Colon,
    /// After a value: a comma, or the end of what is open.
    Next,
    /// A number or a word.
    Bare,
    Text(Text),
    NameText(Text),
    Stopped,
}

/// Where a reader stands in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Text {
    escape: Escape,
    /// The first half of a surrogate pair, of which the second may follow.
    half: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// So many digits of a code unit, and what they come to.
    Unit(u8, u16),
}

impl Reader {
    fn take(&mut self, c: char, strings: &mut Vec<PartialString>) {
        match self.state {
            State::Text(text) => {
                let Some(string) = strings.last_mut() else { return };
                match text.take(c, &mut string.text) {
                    Step::Within(text) => self.state = State::Text(text),
                    Step::Ended => {
                        string.is_whole = true;
                        self.state = State::Next;
                    }
                    Step::Wrong => self.state = State::Stopped,
                }
            }
            State::NameText(text) => {
                self.state = match text.take(c, &mut self.name) {
                    Step::Within(text) => State::NameText(text),
                    Step::Ended => {
                        if let Some(open) = self.open.last_mut() {
                            open.field.clone_from(&self.name);
                        }
                        State::Colon
                    }
                    Step::Wrong => State::Stopped,
                };
            }
            State::Bare if c.is_ascii_alphanumeric() || "+-.".contains(c) => {}
            _ if c.is_ascii_whitespace() => {
                if self.state == State::Bare {
                    self.state = State::Next;
                }
            }
            State::FirstName | State::Name if c == '"' => {
                self.name.clear();
                self.state = State::NameText(Text::default());
            }
            State::Colon if c == ':' => self.state = State::Value,
            State::FirstName if c == '}' => self.close(true),
            State::FirstEntry if c == ']' => self.close(false),
            State::Value | State::FirstEntry => self.begin(c, strings),
            State::Next | State::Bare => match (c, self.open.last()) {
                (',', Some(open)) => self.state = if open.is_object { State::Name } else { State::Value },
                ('}', _) => self.close(true),
                (']', _) => self.close(false),
                _ => self.state = State::Stopped,
            },
            State::FirstName | State::Name | State::Colon | State::Stopped => self.state = State::Stopped,
        }
    }

    /// A value begins.
    fn begin(&mut self, c: char, strings: &mut Vec<PartialString>) {
        let inside = self.open.last();
        let (object, field) = inside.map_or((0, String::new()), |open| (open.object, open.field.clone()));
        self.state = match c {
            '"' => {
                strings.push(PartialString { field, object, text: String::new(), is_whole: false });
                State::Text(Text::default())
            }
            '{' | '[' if self.open.len() == DEEPEST => State::Stopped,
            '{' => {
                self.open.push(Open { is_object: true, object: self.objects, field: String::new() });
                self.objects += 1;
                State::FirstName
            }
            '[' => {
                self.open.push(Open { is_object: false, object, field });
                State::FirstEntry
            }
            c if c.is_ascii_alphanumeric() || c == '-' => State::Bare,
            _ => State::Stopped,
        };
    }

    /// Ends what is open; nothing follows the input itself.
    fn close(&mut self, is_object: bool) {
        let fits = self.open.pop().is_some_and(|open| open.is_object == is_object);
        self.state = if fits && !self.open.is_empty() { State::Next } else { State::Stopped };
    }
}

enum Step {
    Within(Text),
    Ended,
    Wrong,
}

impl Text {
    fn take(mut self, c: char, text: &mut String) -> Step {
        match self.escape {
            Escape::None if c == '"' => {
                self.settle(text);
                return Step::Ended;
            }
            Escape::None if c == '\\' => self.escape = Escape::Begun,
            Escape::None => {
                self.settle(text);
                text.push(c);
            }
            Escape::Begun if c == 'u' => self.escape = Escape::Unit(0, 0),
            Escape::Begun => {
                let meant = match c {
                    '"' | '\\' | '/' => c,
                    'b' => '\u{8}',
                    'f' => '\u{C}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    _ => return Step::Wrong,
                };
                self.settle(text);
                text.push(meant);
                self.escape = Escape::None;
            }
            Escape::Unit(digits, value) => {
                let Some(digit) = c.to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                    return Step::Wrong;
                };
                let value = value << 4 | digit;
                self.escape = if digits < 3 { Escape::Unit(digits + 1, value) } else { Escape::None };
                if digits == 3 {
                    self.unit(value, text);
                }
            }
        }
        Step::Within(self)
    }

    fn unit(&mut self, unit: u16, text: &mut String) {
        if let Some(first) = self.half.take() {
            match char::decode_utf16([first, unit]).next() {
                Some(Ok(c)) => return text.push(c),
                _ => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        match char::from_u32(unit.into()) {
            Some(c) => text.push(c),
            None => self.half = Some(unit),
        }
    }

    /// A half of a pair whose other half did not come.
    fn settle(&mut self, text: &mut String) {
        if self.half.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use proptest::prelude::*;
    use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

    use super::*;

    fn read(pieces: &[&str]) -> PartialInput {
        let mut input = PartialInput::default();
        pieces.iter().for_each(|piece| input.push(piece));
        input
    }

    fn string(object: usize, field: &str, text: &str, is_whole: bool) -> PartialString {
        PartialString { field: field.into(), object, text: text.into(), is_whole }
    }

    #[test]
    fn what_has_come_is_there_and_says_whether_it_is_whole() {
        let input =
            read(&["{\"path\": \"a.r", "s\", \"count\":3,\"edits\":[{\"old\":\"x\\", "n\\ud83", "e\\udd80y\"},{\"ol"]);
        let strings = [string(0, "path", "a.rs", true), string(1, "old", "x\n\u{1F980}y", true)];
        assert_eq!(input.strings(), strings);
        assert_eq!((input.whole(0, "path"), input.whole(1, "path")), (Some("a.rs"), None));

        let mut input = read(&["{\"list\":[\"a\",\"b\\ud83e"]);
        assert_eq!(input.strings(), [string(0, "list", "a", true), string(0, "list", "b", false)]);
        assert_eq!(input.whole(0, "list"), Some("a"));
        input.push("\"]}");
        assert_eq!(input.strings()[1], string(0, "list", "b\u{FFFD}", true), "half a pair stands for nothing");
    }

    #[test]
    fn what_is_no_json_ends_the_reading_and_what_came_before_it_stays() {
        for wrong in
            ["{\"a\":\"b\" \"c\":\"d\"}", "{\"a\":\"b\",]", "{\"a\":\"b\"}{\"c\":\"d\"}", "{\"a\":\"b\",\"c\" \"d\"}"]
        {
            assert_eq!(read(&[wrong]).strings(), [string(0, "a", "b", true)], "{wrong}");
        }
        assert_eq!(read(&["{\"a\":\"b\\x\",\"c\":\"d\"}"]).strings(), [string(0, "a", "b", false)]);
        let deep = format!("{}\"a\"", "[".repeat(DEEPEST + 1));
        assert!(read(&[&deep]).strings().is_empty());
        let long = read(&["{\"a\":\"", &"x".repeat(LONGEST), "\"}"]);
        assert_eq!((long.strings()[0].text.len(), long.strings()[0].is_whole), (LONGEST - 6, false));
    }

    /// The strings of a JSON text as serde reads it.
    struct Strings(Vec<(String, String)>);

    impl<'de> Deserialize<'de> for Strings {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Collect)
        }
    }

    struct Collect;

    impl<'de> Visitor<'de> for Collect {
        type Value = Strings;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }
        fn visit_bool<E>(self, _: bool) -> Result<Strings, E> {
            Ok(Strings(Vec::new()))
        }
        fn visit_i64<E>(self, _: i64) -> Result<Strings, E> {
            Ok(Strings(Vec::new()))
        }
        fn visit_u64<E>(self, _: u64) -> Result<Strings, E> {
            Ok(Strings(Vec::new()))
        }
        fn visit_f64<E>(self, _: f64) -> Result<Strings, E> {
            Ok(Strings(Vec::new()))
        }
        fn visit_unit<E>(self) -> Result<Strings, E> {
            Ok(Strings(Vec::new()))
        }
        fn visit_str<E>(self, text: &str) -> Result<Strings, E> {
            Ok(Strings(vec![(String::new(), text.to_owned())]))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Strings, A::Error> {
            let mut all = Vec::new();
            while let Some(Strings(strings)) = list.next_element()? {
                all.extend(strings);
            }
            Ok(Strings(all))
        }
        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Strings, A::Error> {
            let mut all = Vec::new();
            while let Some((name, Strings(strings))) = object.next_entry::<String, _>()? {
                let named = |(field, text): (String, String)| {
                    if field.is_empty() { (name.clone(), text) } else { (field, text) }
                };
                all.extend(strings.into_iter().map(named));
            }
            Ok(Strings(all))
        }
    }

    /// A string as JSON, with escapes where one may stand.
    fn quoted() -> impl Strategy<Value = String> {
        let plain = "[a-z \u{e9}\u{1F980}\u{4e00}/]".prop_map(|text| text);
        let escaped = prop::sample::select(vec![
            "\\n",
            "\\t",
            "\\\"",
            "\\\\",
            "\\/",
            "\\b",
            "\\u0041",
            "\\uD83E\\uDD80",
            "\\u00e9",
        ]);
        let piece = prop_oneof![plain, escaped.prop_map(str::to_owned)];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    fn json() -> impl Strategy<Value = String> {
        let name = "\"[a-c]{1,2}\"";
        let bare = prop::sample::select(vec!["null", "true", "-1.5e3", "0"]).prop_map(str::to_owned);
        let value = prop_oneof![3 => quoted(), 1 => bare].prop_recursive(4, 24, 4, move |inner| {
            let fields = prop::collection::vec((name, "[ \n]?", inner.clone()), 0..4);
            let fields = fields.prop_map(|fields| {
                let fields: Vec<_> =
                    fields.into_iter().map(|(name, space, value)| format!("{name}{space}:{space}{value}")).collect();
                format!("{{{}}}", fields.join(","))
            });
            prop_oneof![fields, prop::collection::vec(inner, 0..4).prop_map(|list| format!("[{}]", list.join(", ")))]
        });
        prop::collection::vec((name, value), 0..4).prop_map(|fields| {
            let fields: Vec<_> = fields.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
            format!("{{{}}}", fields.join(","))
        })
    }

    proptest! {
        #[test]
        fn wherever_it_is_cut_it_says_what_serde_says_of_the_whole(json in json()) {
            let whole = read(&[&json]);
            let Strings(told) = serde_json::from_str(&json).unwrap();
            let found: Vec<_> = whole.strings().iter().map(|it| (it.field.clone(), it.text.clone())).collect();
            prop_assert_eq!(found, told);
            prop_assert!(whole.strings().iter().all(|string| string.is_whole));
            for (cut, _) in json.char_indices() {
                let (head, tail) = json.split_at(cut);
                let mut input = read(&[head]);
                let so_far = input.strings().to_vec();
                for (one, whole) in so_far.iter().zip(whole.strings()) {
                    prop_assert!(whole.text.starts_with(&one.text) && (one.field.as_str(), one.object) == (&whole.field, whole.object));
                    prop_assert!(!one.is_whole || one.text == whole.text);
                }
                prop_assert!(so_far.iter().rev().skip(1).all(|string| string.is_whole));
                input.push(tail);
                prop_assert_eq!(input.strings(), whole.strings());
            }
        }

        #[test]
        fn nothing_breaks_it_and_the_cuts_never_matter(text in "[{}\\[\\]\",:\\\\un0-9a-f\u{e9} ]{0,60}", cut in 0usize..60) {
            let whole = read(&[&text]);
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let (head, tail) = text.split_at(cut);
            let pieces = read(&[head, tail]);
            prop_assert_eq!(pieces.strings(), whole.strings());
            if let Ok(Strings(told)) = serde_json::from_str(&text) {
                let found: Vec<_> = whole.strings().iter().map(|it| (it.field.clone(), it.text.clone())).collect();
                let named = |(field, text): &(String, String)| (field.clone(), text.clone());
                prop_assert_eq!(found, told.iter().map(named).collect::<Vec<_>>());
            }
        }
    }
}
