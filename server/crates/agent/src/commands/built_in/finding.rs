//! `/search` and `/export`.

use protocol::session::ExportFormat;

use super::BuiltIn;
use crate::commands::{Choice, Choices, Definition, Effects, Words};

/// Finds sessions by what was said in them.
#[derive(Debug)]
pub struct Search(pub String);

impl BuiltIn for Search {
    fn definition() -> Definition {
        Definition {
            arguments: "<words>".into(),
            also: |_, _| true,
            ..Definition::new("search", "Find conversations of this project by what was said in them")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        words.first().ok_or("say what to find: `/search <words>`")?;
        Ok(Self(words.positionals.join(" ")))
    }

    fn effects(&self) -> Effects {
        // It takes the rest of its line, which within a text may mean something else.
        Effects { must_lead: true, ..Effects::default() }
    }
}

/// Writes the session into a new file.
#[derive(Debug, PartialEq, Eq)]
pub struct Export {
    /// The format.
    pub format: ExportFormat,
    /// The file; without it, one named after the session in the first folder.
    pub path: Option<String>,
}

impl BuiltIn for Export {
    fn definition() -> Definition {
        let choice = |format: ExportFormat| {
            let detail = match format {
                ExportFormat::Html => "A page that loads and runs nothing",
                ExportFormat::Markdown => "Markdown",
                ExportFormat::Jsonl => "JSON lines, to be imported again",
            };
            Choice::new(format.name(), detail)
        };
        Definition {
            arguments: "[html|md|jsonl] [path]".into(),
            words: 2,
            choices: Choices::Fixed(ExportFormat::ALL.map(choice).to_vec()),
            ..Definition::new("export", "Write this conversation into a new file of the project, without its secrets")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let [format, path] = [0, 1].map(|at| words.positionals.get(at));
        let Some(format) = format else { return Ok(Self { format: ExportFormat::default(), path: None }) };
        let format = ExportFormat::named(format)
            .ok_or_else(|| format!("`{format}` is not understood; use `/export html`, `md` or `jsonl`"))?;
        Ok(Self { format, path: path.cloned() })
    }

    fn effects(&self) -> Effects {
        Effects { must_lead: true, ..Effects::default() }
    }
}
