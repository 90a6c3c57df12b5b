//! `/compact` and `/summarize`.

use super::{BuiltIn, Definition, Effects, Flag, Words};
use crate::handover::Asked as CompactionAsked;

/// Has a handover take the place of the conversation's beginning, corrects the last one or takes it back.
#[derive(Debug, PartialEq, Eq)]
pub enum Compact {
    /// Has one written.
    Write(CompactionAsked),
    /// Gives what a model wrote of the last one another text.
    Correct(String),
    /// Takes the last one back.
    TakeBack,
}

/// The same under the name that other programs have for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Summarize(pub Compact);

const KEEP_LAST: &str = "keep-last";
const CORRECT: &str = "correct";
const UNDO: &str = "undo";

impl BuiltIn for Compact {
    fn definition() -> Definition {
        Definition {
            arguments: "[--keep-last <n>] [<focus>] | --correct <text> | --undo".into(),
            words: usize::MAX,
            rest_after: Some(CORRECT),
            flags: vec![flag(KEEP_LAST, true), flag(CORRECT, false), flag(UNDO, false)].into(),
            ..Definition::new(
                "compact",
                "Replace the earlier part of the conversation with a handover, which can be corrected and undone",
            )
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        // The text as typed, with its quotes, blanks and lines.
        let after = |flag: &str| {
            let rest = words.text.strip_prefix("--")?.strip_prefix(flag)?;
            (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
        };
        match (after(UNDO), after(CORRECT)) {
            (Some(""), _) => return Ok(Self::TakeBack),
            (Some(_), _) => {
                return Err("`--undo` takes the last handover back, and stands alone: `/compact --undo`".to_owned());
            }
            (_, Some("")) => return Err("say what the model is to read: `/compact --correct <text>`".to_owned()),
            (_, Some(text)) => return Ok(Self::Correct(text.to_owned())),
            (None, None) => {}
        }
        let wrong = |value: &str| {
            format!(
                "`{value}` is no number of messages; such as `/compact --keep-last 4` leaves the last four as they are"
            )
        };
        let keep_last = match words.flags.iter().find(|(flag, _)| flag == KEEP_LAST) {
            None => None,
            Some((_, value)) => {
                let value = value.as_deref().unwrap_or_default();
                Some(value.parse::<usize>().map_err(|_| wrong(value))?)
            }
        };
        let focus = words.positionals.join(" ");
        Ok(Self::Write(CompactionAsked { focus: (!focus.is_empty()).then_some(focus), keep_last }))
    }

    fn effects(&self) -> Effects {
        // It takes all of its line, which a text that was pasted would miss.
        Effects { must_lead: true, ..Effects::default() }
    }
}

impl BuiltIn for Summarize {
    fn definition() -> Definition {
        Definition { name: "summarize".into(), description: "Do the same as /compact".into(), ..Compact::definition() }
    }

    fn read(words: &Words) -> Result<Self, String> {
        Compact::read(words).map(Self)
    }

    fn effects(&self) -> Effects {
        self.0.effects()
    }
}

fn flag(name: &'static str, takes_value: bool) -> Flag {
    Flag { name: name.into(), short: None, takes_value }
}
