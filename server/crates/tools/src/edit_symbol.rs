//! `edit_symbol`.

use std::sync::Arc;

use code::edit::symbol::{Change, edit_symbol};
use code::syntax::{Language, Parsed, languages};
use ports::tool::{DiffKind, ToolError};
use project::text;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::draft::Draft;
use crate::edits::OneEdit;

/// Replaces a function, method, type, constant or module by its name, or inserts code before or after it. You need no
/// copied text and no line number. The code is indented like the symbol, and separated from its neighbours as they are
/// from each other. Works for C, C++, C#, CSS (rules), Go, HTML (sections, and what is in styles and scripts), Java,
/// JavaScript, JSON (keys), Lua, PHP, Python, Ruby, Rust, shell scripts and TypeScript. If a name may mean several
/// symbols, or the result would have a syntax error, nothing is changed and you are told what to do. The change is not
/// written: the user reviews it, and until then you read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The symbol: its name, if needed after the names of its containers, such as `Type/method` or
    /// `module/Type/method`. `Name[2]` is the second one with this name, `/Name` one at the top level, `impl Trait for
    /// Type/method` one of that block.
    symbol: String,
    /// The operation.
    operation: Operation,
    /// The code: whole definitions, with all their brackets.
    text: String,
}

/// What to do at a symbol.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Operation {
    /// Replace the whole definition. The comments before it stay unless the text begins with comments, and so do its
    /// attributes, annotations and decorators.
    Replace,
    /// Insert the text before it, and before its comments and attributes.
    InsertBefore,
    /// Insert the text after it.
    InsertAfter,
}

impl OneEdit for Input {
    const NAME: &'static str = "edit_symbol";
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("symbol", DiffKind::Place), ("text", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn doing(&self) -> String {
        let verb = match self.operation {
            Operation::Replace => "Replacing",
            Operation::InsertBefore => "Inserting before",
            Operation::InsertAfter => "Inserting after",
        };
        format!("{verb} {} in", self.symbol)
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let (path, text, _) = draft.text(&self.path)?;
        let name = services.roots.display(&path);
        let failed = |error: String| ToolError::Failed(format!("{name}: {error}"));
        let language = Language::of_text(&path, &text).ok_or_else(|| {
            let known = languages();
            let words = format!("symbols of {name} are not known, only those of {known}; edit its text instead");
            ToolError::Failed(words)
        })?;
        let (change, did) = match self.operation {
            Operation::Replace => (Change::Replace, "Replaced"),
            Operation::InsertBefore => (Change::InsertBefore, "Inserted before"),
            Operation::InsertAfter => (Change::InsertAfter, "Inserted after"),
        };
        let parsed = Parsed::new(language, Arc::clone(&text)).map_err(|error| failed(error.to_string()))?;
        let edited =
            edit_symbol(&parsed, &self.symbol, change, &self.text).map_err(|error| failed(error.to_string()))?;
        let first = text::first_difference(&text, &edited.text).map_or(1, |line| line + 1);
        draft.set(&path, edited.text);
        Ok(format!("{did} {} of {name}, from line {first}.", edited.symbol))
    }
}

#[cfg(test)]
mod tests {
    use project::text;
    use serde_json::{Value, json};

    use crate::fixture::World;

    fn input(path: &str, symbol: &str, operation: &str, text: &str) -> Value {
        json!({ "path": path, "symbol": symbol, "operation": operation, "text": text })
    }

    #[tokio::test]
    async fn a_method_is_replaced_in_the_text_that_the_editor_holds() {
        let world = World::new(&[("src/a.rs", "saved\n")]);
        world.open("src/a.rs", "impl A {\r\n    /// Why.\r\n    fn f() {}\r\n}\r\n");
        let output =
            world.call("edit_symbol", input("src/a.rs", "A/f", "replace", "fn f() {\n    1;\n}\n")).await.unwrap();
        assert_eq!(output.text, "Replaced impl A/f of src/a.rs, from line 3.");
        assert_eq!(output.locations[0].line, Some(2));
        let plan = &output.plan.unwrap().files[0];
        assert_eq!(plan.read, Some(text::hash("impl A {\n    /// Why.\n    fn f() {}\n}\n")));
        assert_eq!(plan.new_text.as_deref(), Some("impl A {\n    /// Why.\n    fn f() {\n        1;\n    }\n}\n"));
    }

    #[tokio::test]
    async fn code_is_put_before_and_after_a_symbol() {
        let world = World::new(&[("a.py", "def f():\n    pass\n")]);
        for (operation, wanted) in [
            ("insert_before", "def g():\n    pass\n\n\ndef f():\n    pass\n"),
            ("insert_after", "def f():\n    pass\n\n\ndef g():\n    pass\n"),
        ] {
            let output = world.call("edit_symbol", input("a.py", "f", operation, "def g():\n    pass")).await.unwrap();
            assert_eq!(output.plan.unwrap().files[0].new_text.as_deref(), Some(wanted));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_meant_says_what_to_do() {
        let world =
            World::new(&[("a.rs", "fn f() {}\nmod m { fn f() {} }\n"), ("a.txt", "f\n"), (".git/a.rs", "fn f() {}\n")]);
        let edit = |path: &'static str, symbol: &'static str, text: &'static str| {
            let world = &world;
            async move { world.text("edit_symbol", input(path, symbol, "replace", text)).await }
        };
        let text = edit("a.rs", "f", "fn f() {}").await;
        assert!(
            text.starts_with(
                "error: a.rs: `f` may mean 2 symbols. Nothing was changed. They are:\n  line 1: /f: fn f() {}\n"
            ),
            "{text}"
        );
        assert!(edit("a.rs", "g", "fn f() {}").await.contains("there is no symbol `g`. There are: "));
        assert!(edit("a.rs", "m/f", "fn f() {").await.contains("would have a syntax error at its line 2"));
        assert!(edit("a.txt", "f", "x").await.contains("symbols of a.txt are not known, only those of bash, c, cpp"));
        assert!(edit("b.rs", "f", "x").await.contains("b.rs does not exist"));
        assert_eq!(edit(".git/a.rs", "f", "x").await, "error: .git/a.rs must not be changed: it belongs to git itself");
    }
}
