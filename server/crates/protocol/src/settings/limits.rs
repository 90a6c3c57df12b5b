//! The settings for what commands and models may do and see.

use super::DefaultValue::{Bool, Unset, Word};
use super::Kind::{Choice, Flag, List};
use super::May::{Never, OnceTrusted, Set};
use super::{ALL, Setting, Stricter, USER, Who, restrictable};

/// The rows, in the order in which users read them.
pub(super) const LIMITS: &[Setting] = &[
    Setting {
        name: "sandbox",
        kind: Choice(&[
            ("read-only", "they write nothing but temporary files"),
            ("workspace-write", "they write in the workspace, temporary folders and package caches"),
            ("full", "no sandbox"),
        ]),
        default: Word("workspace-write"),
        who: restrictable(Stricter::Lower),
        words: "The access that commands have to the machine without a question.",
        more: Some("security.md#the-sandbox"),
    },
    Setting {
        name: "sandbox_network",
        kind: Flag,
        default: Bool(true),
        who: restrictable(Stricter::Lower),
        words: "Let commands in the sandbox use the network, including the addresses of this machine.",
        more: Some("security.md#the-sandbox"),
    },
    Setting {
        name: "sandbox_write",
        kind: List("paths"),
        default: Unset("none"),
        who: USER,
        words: "Additional files and folders that commands in the sandbox may write, such as `~/.cache/mytool`. \
                `/dev/pts` opens all terminals.",
        more: Some("security.md#what-it-does-not-keep"),
    },
    Setting {
        name: "sandbox_read",
        kind: List("paths"),
        default: Unset("none"),
        who: USER,
        words: "Additional files and folders that commands in the sandbox may read.",
        more: Some("security.md#the-sandbox"),
    },
    Setting {
        name: "pass_environment",
        kind: List("names"),
        default: Unset("none"),
        who: restrictable(Stricter::Fewer),
        words: "Variables that commands and language servers get even though they look like secrets, such as \
                `GITHUB_TOKEN`.",
        more: Some("security.md#what-programs-get-of-your-environment"),
    },
    Setting {
        name: "hide_secrets",
        kind: Flag,
        default: Bool(true),
        who: USER,
        words: "Hide secrets from models: each is sent as a placeholder, which is turned back in what the model answers.",
        more: Some("security.md#secrets-and-models"),
    },
    Setting {
        name: "shown_environment",
        kind: List("names"),
        default: Unset("none"),
        who: USER,
        words: "Variables whose values models may see even though they look like secrets.",
        more: Some("security.md#secrets-and-models"),
    },
    Setting {
        name: "shell_rc",
        kind: Flag,
        default: Bool(true),
        who: USER,
        words: "Give commands what your login shell has: exported variables such as `PATH`, functions and aliases.",
        more: Some("tools.md#your-shells-own-functions-and-aliases"),
    },
    Setting {
        name: "allow_bypass",
        kind: Flag,
        default: Bool(true),
        who: restrictable(Stricter::Off),
        words: "Allow the mode `bypass`, in which nothing is asked.",
        more: Some("configuration.md#modes"),
    },
    Setting {
        name: "project_commands",
        kind: Flag,
        default: Bool(true),
        who: restrictable(Stricter::Off),
        words: "Run the project's own commands, such as its tests and its build, without asking in the sandbox of a \
                trusted folder.",
        more: Some("security.md#permission"),
    },
    Setting {
        name: "workspace_trust",
        kind: Choice(&[("trusted", "it does"), ("restricted", "it does not")]),
        default: Unset("you are asked"),
        who: Who { user: Never, editor: Never, project: Never },
        words: "The editor's trust in its workspace. Only `initializationOptions` can say it.",
        more: Some("security.md#workspace-trust"),
    },
    Setting {
        name: "permissions.allow",
        kind: List("rules"),
        default: Unset("none"),
        who: Who { user: Set, editor: Never, project: OnceTrusted },
        words: "Rules for what runs without asking, such as `Shell(cargo test:*)`.",
        more: Some("configuration.md#permission-rules"),
    },
    Setting {
        name: "permissions.ask",
        kind: List("rules"),
        default: Unset("none"),
        who: ALL,
        words: "Rules for what is always asked.",
        more: Some("configuration.md#permission-rules"),
    },
    Setting {
        name: "permissions.deny",
        kind: List("rules"),
        default: Unset("none"),
        who: ALL,
        words: "Rules for what never runs, such as `Shell(git push:*)` or `Edit(secrets/**)`.",
        more: Some("configuration.md#permission-rules"),
    },
];
