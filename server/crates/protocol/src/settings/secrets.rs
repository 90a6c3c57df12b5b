//! The settings of a secret that models do not see.

use super::DefaultValue::Unset;
use super::Kind::{List, Secret, Text};
use super::May::{Never, Set};
use super::{Setting, USER, Who};

/// The user, and a project, which can only hide more by it.
const ALSO_PROJECT: Who = Who { user: Set, editor: Never, project: Set };
/// The page with more.
const MORE: Option<&str> = Some("security.md#secrets-and-models");

/// The rows, in the order in which users read them.
pub(super) const SECRETS: &[Setting] = &[
    Setting {
        name: "secrets.NAME.env",
        kind: Text("text"),
        default: Unset("none"),
        who: ALSO_PROJECT,
        words: "The environment variable that holds a secret to hide from models, whatever the variable's name is.",
        more: MORE,
    },
    Setting {
        name: "secrets.NAME.file",
        kind: Text("path"),
        default: Unset("none"),
        who: USER,
        words: "The file that holds a secret to hide from models: its text, without spaces and line breaks at \
                either end. The path is absolute or begins with `~/`.",
        more: MORE,
    },
    Setting {
        name: "secrets.NAME.command",
        kind: List("words"),
        default: Unset("none"),
        who: USER,
        words: "A program and its arguments, such as `[\"op\", \"read\", \"op://work/token\"]`. The first line of its \
                output is a secret to hide from models. It runs once, without a shell, before the first request to a \
                model.",
        more: MORE,
    },
    Setting {
        name: "secrets.NAME.value",
        kind: Secret,
        default: Unset("none"),
        who: USER,
        words: "A secret to hide from models. `env`, `file` and `command` are better places for it.",
        more: MORE,
    },
    Setting {
        name: "secrets.NAME.pattern",
        kind: Text("regular expression"),
        default: Unset("none"),
        who: USER,
        words: "A regular expression in the syntax of Rust's crate `regex`. Text that matches it is hidden from models.",
        more: MORE,
    },
    Setting {
        name: "secrets.NAME.replace_with",
        kind: Text("text"),
        default: Unset("a placeholder, which is turned back"),
        who: USER,
        words: "The text that models see instead of the secret. It is not turned back, so what the model writes has \
                this text.",
        more: MORE,
    },
];
