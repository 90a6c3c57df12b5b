//! Escape sequences (ECMA-48), told from the text of a program's output as it comes.

/// Parameters that are longer, in bytes, are cut: nobody can mean all of them.
pub const LONGEST: usize = 64;

/// The kind of a character in terminal output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The end of a line.
    Newline,
    /// A character that belongs to no sequence: text, or another control character.
    Text,
    /// The last character of a control sequence. Its parameters are [`Escapes::parameters`].
    Control,
    /// Part of a sequence.
    Within,
}

/// Where in an escape sequence the output stands.
#[derive(Clone, Debug, Default)]
pub struct Escapes {
    state: State,
    parameters: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character.
    Intermediate,
    /// In a control sequence.
    Control,
    /// In what a terminal is told: OSC, DCS, SOS, PM, APC.
    Told,
    /// There, after ESC.
    ToldEscape,
}

impl Escapes {
    /// Takes in the next character.
    pub fn step(&mut self, char: char) -> Part {
        let (state, part) = match (self.state, char) {
            // A line's end, CAN and SUB end whatever is unfinished, so that broken output cannot swallow the rest.
            (_, '\n') => (State::Text, Part::Newline),
            (_, '\x18' | '\x1a') | (State::Told, '\x07' | '\u{9c}') | (State::ToldEscape, '\\') => {
                (State::Text, Part::Within)
            }
            (State::Told, '\x1b') => (State::ToldEscape, Part::Within),
            (State::Told, _) => (State::Told, Part::Within),
            (_, '\x1b') => (State::Escape, Part::Within),
            (State::ToldEscape | State::Escape, '[') => {
                self.parameters.clear();
                (State::Control, Part::Within)
            }
            (State::ToldEscape | State::Escape, ']' | 'P' | 'X' | '^' | '_') => (State::Told, Part::Within),
            (State::ToldEscape | State::Escape | State::Intermediate, ' '..='/') => (State::Intermediate, Part::Within),
            (State::ToldEscape | State::Escape | State::Intermediate, '0'..='~') => (State::Text, Part::Within),
            (State::Control, ' '..='?') => {
                if self.parameters.len() < LONGEST {
                    self.parameters.push(char);
                }
                (State::Control, Part::Within)
            }
            (State::Control, '@'..='~') => (State::Text, Part::Control),
            _ => (State::Text, Part::Text),
        };
        self.state = state;
        part
    }

    /// True if what comes next is in no sequence.
    pub fn is_in_text(&self) -> bool {
        self.state == State::Text
    }

    /// The characters between the beginning and the last character of the control sequence that came last.
    pub fn parameters(&self) -> &str {
        &self.parameters
    }
}
