//! The table of settings: the one definition of each.
//!
//! From it follow how a layer of the configuration is read and what each layer may say (`hub::config`), and the
//! generated files: the tables in `docs/configuration.md` and `docs/vscode.md`, the schema of `config.toml`, and the
//! settings of the VS Code extension with what it sends of them. The order is the one in which users read them.

mod compat;
mod failures;
mod limits;
mod providers;
mod secrets;

use DefaultValue::{Bool, Int, Unset, Word};
use Kind::{Choice, Decimal, Flag, List, Number, Text};
use May::{KnownModel, Never, Restrict, Set};

use self::compat::{COMPAT, MODEL_COMPAT};
use self::failures::FAILURES;
use self::limits::LIMITS;
use self::providers::{PROVIDERS, SIGN_IN};
use self::secrets::SECRETS;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in `config.toml`. An editor may write it in camelCase. `NAME` is any name, as of a provider, and `[]`
    /// stands behind a list of tables.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default.
    pub default: DefaultValue,
    /// Who may set it.
    pub who: Who,
    /// The description for users, in Markdown without links.
    pub words: &'static str,
    /// The page of the documentation with more, from the folder `docs`.
    pub more: Option<&'static str>,
}

impl Setting {
    /// Its name as editors write it.
    pub fn camel_case(&self) -> String {
        let mut words = self.name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let (head, tail) = word.split_at(word.len().min(1));
            name + &head.to_ascii_uppercase() + tail
        })
    }
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text of this kind: a text, a path, a URL.
    Text(&'static str),
    /// A text that is not written into an editor's settings.
    Secret,
    /// `true` or `false`.
    Flag,
    /// One of these, each with its meaning as a part of a sentence. If a project may restrict it, the strictest comes
    /// first.
    Choice(&'static [(&'static str, &'static str)]),
    /// A whole number. A number outside the range counts as the nearest one in it.
    Number {
        /// The unit.
        unit: &'static str,
        /// The minimum.
        min: u32,
        /// The maximum.
        max: u32,
    },
    /// A number that may have decimals. A number outside the range counts as the nearest one in it.
    Decimal {
        /// The unit.
        unit: &'static str,
        /// The minimum.
        min: u32,
        /// The maximum.
        max: u32,
    },
    /// A list of texts of this kind.
    List(&'static str),
    /// A table of texts, by names of this kind.
    Texts(&'static str),
    /// A table with anything in it.
    Anything,
}

/// The default of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// No value; the text says what happens without one.
    Unset(&'static str),
    /// `true` or `false`.
    Bool(bool),
    /// A text, or one of the choices.
    Word(&'static str),
    /// A number.
    Int(u32),
}

/// Who may set a setting. The `initializationOptions`, which are the user's own, may set all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The user's file.
    pub user: May,
    /// The editor's settings, which a project may bring along.
    pub editor: May,
    /// A project's file.
    pub project: May,
}

/// The rights of a layer over a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// Set it to anything.
    Set,
    /// Set it to a model of a provider that is set up.
    KnownModel,
    /// Make it stricter.
    Restrict(Stricter),
    /// Set it, with effect only once the project's folder is trusted.
    OnceTrusted,
    /// Nothing.
    Never,
}

/// The way in which a setting can be made stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stricter {
    /// Only switching it off: `false`, 0 or the first choice.
    Off,
    /// A lower value: `false` below `true`, a smaller number, an earlier choice.
    Lower,
    /// A list with fewer of the entries.
    Fewer,
    /// A list of patterns that rule more out: what fits one of them must also fit one of those before.
    Within,
    /// A list with more entries, of what is ruled out.
    More,
}

/// The user.
const USER: Who = Who { user: Set, editor: Never, project: Never };
/// The user, and the editor's settings.
const EDITOR: Who = Who { user: Set, editor: Set, project: Never };
/// The user, and the editor's settings; a project's file may switch it off.
const EDITOR_PROJECT_OFF: Who = Who { user: Set, editor: Set, project: Restrict(Stricter::Off) };
/// Everybody.
const ALL: Who = Who { user: Set, editor: Set, project: Set };

/// The user; everybody else may make it stricter.
const fn restrictable(how: Stricter) -> Who {
    Who { user: Set, editor: Restrict(how), project: Restrict(how) }
}

/// The settings but those of a provider.
const GENERAL: &[Setting] = &[
    Setting {
        name: "model",
        kind: Text("text"),
        default: Unset("the last one chosen, else the first usable one"),
        who: Who { user: Set, editor: KnownModel, project: Never },
        words: "The model of new sessions: an id such as `anthropic/claude-sonnet-5-5`, or an alias. `azimuth models` \
                lists them. Of several names with commas between them, the first that can be used counts, and `@fast` \
                stands for the models of `fast_model`; that holds for each setting that names a model.",
        more: Some("configuration.md#models-for-different-work"),
    },
    Setting {
        name: "plan_model",
        kind: Text("text"),
        default: Unset("the model of the session"),
        who: USER,
        words: "The model that is asked in the mode `plan`, such as one that thinks long.",
        more: Some("configuration.md#models-for-different-work"),
    },
    Setting {
        name: "fast_model",
        kind: Text("text"),
        default: Unset("none"),
        who: USER,
        words: "A small and fast model: it names sessions and changes selections (\"change this\"), unless `title_model` or \
                `instruct_model` names another.",
        more: Some("configuration.md#models-for-different-work"),
    },
    Setting {
        name: "oracle_model",
        kind: Text("text"),
        default: Unset("none; the tool `oracle` is not there"),
        who: USER,
        words: "A strong model that the model of a conversation can ask for a second opinion, with the tool `oracle`. It \
                reads files on its own, so a question may cost much more than a request.",
        more: Some("configuration.md#second-opinions"),
    },
    Setting {
        name: "title_model",
        kind: Text("text"),
        default: Unset("`fast_model`, else the first sentence of the first prompt"),
        who: USER,
        words: "The model that names a session by its first prompt, such as a small and cheap one. What it costs counts \
                for the session.",
        more: None,
    },
    Setting {
        name: "completion_model",
        kind: Text("text"),
        default: Unset("nothing is suggested"),
        who: USER,
        words: "The model that suggests text where you type: an id such as `ollama/qwen2.5-coder:1.5b-base`, or \
                `local` for one that is found on this machine (a llama.cpp server, or Ollama). It is asked while you \
                type, so a model of a vendor costs money all the time.",
        more: None,
    },
    Setting {
        name: "next_edit_model",
        kind: Text("text"),
        default: Unset("no edits are suggested"),
        who: USER,
        words: "The model that suggests your next edit after what you have just changed: an id such as \
                `inception/mercury-coder` or `ollama/hf.co/sweepai/sweep-next-edit-1.5B`. It is asked while you edit, \
                so a model of a vendor costs money all the time.",
        more: None,
    },
    Setting {
        name: "instruct_model",
        kind: Text("text"),
        default: Unset("`fast_model`, else the model of new sessions"),
        who: USER,
        words: "The model that changes a selection as you say (\"change this\"), such as a small and fast one.",
        more: None,
    },
    Setting {
        name: "enabled_models",
        kind: List("patterns"),
        default: Unset("all"),
        who: restrictable(Stricter::Within),
        words: "The models that can be chosen, as patterns in which `*` stands for any letters and `?` for one, such as \
                `anthropic/*` or `*-flash`. A pattern without `/` is for the name behind the provider's.",
        more: Some("configuration.md#the-models-that-can-be-chosen"),
    },
    Setting {
        name: "disabled_providers",
        kind: List("names"),
        default: Unset("none"),
        who: restrictable(Stricter::More),
        words: "The providers that are not used, even if there is a key for them, such as `openrouter`.",
        more: Some("configuration.md#the-models-that-can-be-chosen"),
    },
    Setting {
        name: "provider_order",
        kind: List("names"),
        default: Unset("the order of the table of providers"),
        who: USER,
        words: "The providers that come before all others, such as `openrouter`, the first one first: if several have a \
                model of the same name, for the model of new sessions, and in pickers.",
        more: Some("configuration.md#the-order-of-providers"),
    },
    Setting {
        name: "inline_quiet",
        kind: Number { unit: "milliseconds", min: 0, max: 5_000 },
        default: Int(0),
        who: USER,
        words: "The time without a key before text is suggested, in milliseconds. With 0, it follows your typing.",
        more: None,
    },
    Setting {
        name: "inline_off_in",
        kind: List("text"),
        default: Unset("nowhere"),
        who: USER,
        words: "The places in code where nothing is suggested: `comments`, `strings`.",
        more: None,
    },
    Setting {
        name: "inline_off_languages",
        kind: List("text"),
        default: Unset("none"),
        who: USER,
        words: "The languages in which nothing is suggested, by the editor's names for them, such as `markdown`.",
        more: None,
    },
    Setting {
        name: "inline_in_completion",
        kind: Choice(&[
            ("auto", "if the editor has no inline completion and no panel of Azimuth's"),
            ("always", "always"),
            ("never", "never"),
        ]),
        default: Word("auto"),
        who: EDITOR,
        words: "Offer the suggestion at the cursor as an entry of the editor's completion menu, marked `Azimuth`.",
        more: Some("editors.md#suggestions-while-you-type"),
    },
    Setting {
        name: "inline_edits_as_actions",
        kind: Flag,
        default: Bool(true),
        who: EDITOR,
        words: "Show suggested edits as hints with code actions, in an editor without a panel of Azimuth's. It counts only \
                with a `next_edit_model`.",
        more: Some("editors.md#suggestions-while-you-type"),
    },
    Setting {
        name: "inline_counts",
        kind: Flag,
        default: Bool(true),
        who: USER,
        words: "Count on this machine how suggestions fare: shown, accepted, still there later, how long models take. \
                Numbers only, kept for 90 days. `false` deletes them.",
        more: Some("suggestions.md#counters"),
    },
    Setting {
        name: "inline_cost_limit",
        kind: Decimal { unit: "US dollars", min: 0, max: 1_000 },
        // About a thousand requests to a vendor's model that fills in code, and in a month no more than a subscription.
        default: Int(1),
        who: USER,
        words: "The most that suggestions may cost in a day (UTC), in US dollars, over all windows. Then nothing is \
                suggested until the next day. With `0`, no model is asked that has a price.",
        more: Some("suggestions.md#cost"),
    },
    Setting {
        name: "session_budget",
        kind: Decimal { unit: "US dollars", min: 0, max: 100_000 },
        default: Unset("none"),
        who: restrictable(Stricter::Lower),
        words: "What a session may cost, in US dollars, with its titles and the sessions that it starts. Azimuth asks \
                before it spends more, and warns when four fifths are spent.",
        more: Some("costs.md#a-budget"),
    },
    Setting {
        name: "day_budget",
        kind: Decimal { unit: "US dollars", min: 0, max: 100_000 },
        default: Unset("none"),
        who: restrictable(Stricter::Lower),
        words: "What all sessions together may cost in a day (UTC), in US dollars. Azimuth asks before it spends more, \
                and warns when four fifths are spent.",
        more: Some("costs.md#a-budget"),
    },
    Setting {
        name: "log",
        kind: Text("text"),
        default: Unset("`info`"),
        who: EDITOR,
        words: "The log level: `error`, `warn`, `info`, `debug`, `trace` or `off`, or a filter such as \
                `hub=debug,warn`.",
        more: None,
    },
    Setting {
        name: "chat_answers",
        kind: Choice(&[
            ("live", "as it arrives, at most once a second"),
            ("at-end", "once the turn ends or asks something"),
        ]),
        default: Unset("by the editor"),
        who: EDITOR,
        words: "When to write an answer into a chat document, which is the chat of editors without a panel.",
        more: Some("editors.md"),
    },
    Setting {
        name: "code_actions",
        kind: Flag,
        default: Bool(true),
        who: EDITOR,
        words: "Offer code actions that start a workflow in the chat: ask, fix, explain, write tests, document.",
        more: Some("editors.md#code-actions"),
    },
    Setting {
        name: "edit_mode",
        kind: Choice(&[
            ("replace", "a text and its replacement"),
            ("patch", "patches"),
            ("hashline", "lines that are named by tags"),
        ]),
        default: Unset("by the model"),
        who: EDITOR,
        words: "The form in which the model edits. By default OpenAI's models get patches, and the others replace text.",
        more: Some("tools.md#forms-of-edits"),
    },
    Setting {
        name: "edit_tools",
        kind: List("names"),
        default: Unset("none"),
        who: EDITOR,
        words: "Additional tools to offer the model, such as `edit_structural`.",
        more: None,
    },
    Setting {
        name: "cache_hour",
        kind: Flag,
        default: Bool(false),
        who: USER,
        words: "Have Anthropic's models keep your conversations in their cache for an hour, and not for five minutes. \
                What is stored then costs twice the price of input, and not 1.25 times.",
        more: Some("costs.md#the-cache-for-an-hour"),
    },
    Setting {
        name: "stop_early",
        kind: Flag,
        default: Bool(false),
        who: EDITOR,
        words: "Drop an answer as soon as an edit in it is seen to fail, which saves the tokens of the rest.",
        more: Some("tools.md#while-an-answer-arrives"),
    },
    Setting {
        name: "file_blocks",
        kind: Flag,
        default: Bool(true),
        who: EDITOR,
        words: "Let models write long new files in the text of their answers.",
        more: Some("tools.md#files-in-answers"),
    },
    Setting {
        name: "canonical_edits",
        kind: Flag,
        default: Bool(false),
        who: EDITOR,
        words: "Show the model its edits as they were applied if a lenient match had to find their place.",
        more: Some("tools.md#forms-of-edits"),
    },
    Setting {
        name: "intercept_commands",
        kind: Flag,
        default: Bool(false),
        who: EDITOR,
        words: "Do not run a command that does what a tool does, such as `cat` or `grep -r`; tell the model about the \
                tool instead.",
        more: Some("tools.md#commands-that-a-tool-does-better"),
    },
    Setting {
        name: "accept_edits",
        kind: Flag,
        default: Bool(false),
        who: USER,
        words: "Accept edits as soon as they are proposed. They stay listed in the review and can be undone.",
        more: Some("configuration.md#edits-accepted-automatically"),
    },
    Setting {
        name: "format_edits",
        kind: Choice(&[("off", "nothing"), ("lines", "the lines that the edits changed"), ("file", "the whole file")]),
        default: Word("off"),
        who: EDITOR_PROJECT_OFF,
        words: "Format a file once accepted edits are in it.",
        more: Some("configuration.md#formatting-and-saving"),
    },
    Setting {
        name: "save_edits",
        kind: Flag,
        default: Bool(false),
        who: EDITOR_PROJECT_OFF,
        words: "Save an open file once accepted edits are in it, if it had no unsaved changes before.",
        more: Some("configuration.md#formatting-and-saving"),
    },
    Setting {
        name: "check_edits",
        // VS Code waits four seconds before it takes silence for "nothing is wrong", so 5. A server that takes longer
        // than a minute is of no use to a turn that waits.
        kind: Number { unit: "seconds", min: 0, max: 60 },
        default: Int(5),
        who: EDITOR_PROJECT_OFF,
        words: "Seconds to wait for language servers after edits, to report what the edits broke and fixed. \
                `0` does not ask them.",
        more: Some("language-servers.md#what-edits-break-and-fix"),
    },
    Setting {
        name: "mend_errors",
        kind: Number { unit: "times", min: 0, max: 5 },
        default: Int(0),
        who: EDITOR_PROJECT_OFF,
        words: "The most times that a turn continues on its own if it would otherwise end with errors that its edits caused.",
        more: Some("language-servers.md#what-edits-break-and-fix"),
    },
    Setting {
        name: "plan_reminders",
        kind: Number { unit: "times", min: 0, max: 3 },
        default: Int(1),
        who: EDITOR_PROJECT_OFF,
        words: "The most times that a turn continues on its own if it would otherwise end with open steps in its plan. \
                The model is also reminded of a plan that it has not updated for ten rounds. `0` does neither.",
        more: Some("tools.md#the-plan"),
    },
    Setting {
        name: "ca_file",
        kind: Text("path"),
        default: Unset("none"),
        who: USER,
        words: "A PEM file with additional certificate authorities.",
        more: None,
    },
    Setting {
        name: "idle_timeout",
        kind: Number { unit: "seconds", min: 1, max: u32::MAX },
        default: Int(120),
        who: USER,
        words: "Seconds that a model may be silent before its answer counts as broken off and is requested again.",
        more: None,
    },
    Setting {
        name: "checkpoint_days",
        kind: Number { unit: "days", min: 0, max: u32::MAX },
        default: Int(30),
        who: USER,
        words: "Days to keep what edits overwrote, so that a turn can be undone and redone. `0` keeps it \
                forever.",
        more: Some("undo.md"),
    },
    Setting {
        name: "undo_commands",
        kind: Flag,
        default: Bool(true),
        who: USER,
        words: "Also keep what commands change in the project, so that it can be undone.",
        more: Some("undo.md"),
    },
    Setting {
        name: "review_commands",
        kind: Flag,
        default: Bool(true),
        who: USER,
        words: "List what commands and other programs change during a turn for review, to keep or to revert. It needs \
                `undo_commands`.",
        more: Some("undo.md#review-of-what-others-changed"),
    },
];

/// All settings.
pub const SETTINGS: &[Setting] = &together::<{ count() }>();

/// The parts of the table.
const PARTS: [&[Setting]; 8] = [GENERAL, LIMITS, FAILURES, PROVIDERS, MODEL_COMPAT, SIGN_IN, COMPAT, SECRETS];

const fn count() -> usize {
    let (mut all, mut part) = (0, 0);
    while part < PARTS.len() {
        all += PARTS[part].len();
        part += 1;
    }
    all
}

/// The parts, one after the other.
const fn together<const ALL: usize>() -> [Setting; ALL] {
    let mut all = [GENERAL[0]; ALL];
    let (mut at, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut row = 0;
        while row < PARTS[part].len() {
            all[at] = PARTS[part][row];
            at += 1;
            row += 1;
        }
        part += 1;
    }
    all
}
