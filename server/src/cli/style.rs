//! Colour on a terminal, plain text elsewhere.

use std::fmt::Display;
use std::io::IsTerminal;

/// The style of the output: with colour or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    colour: bool,
}

impl Style {
    /// Colour if standard output is a terminal and the user did not say no (`NO_COLOR`, `TERM=dumb`).
    pub(super) fn for_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { colour: wanted && std::io::stdout().is_terminal() }
    }

    /// Without colour.
    pub(super) const PLAIN: Self = Self { colour: false };

    pub(super) fn bold(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    pub(super) fn dim(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    pub(super) fn red(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    pub(super) fn green(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    pub(super) fn yellow(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    pub(super) fn cyan(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
