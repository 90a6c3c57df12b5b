//! The settings for requests to a model that fail.

use super::DefaultValue::{Bool, Int, Unset};
use super::Kind::{Flag, Number};
use super::{EDITOR, Setting, Stricter, USER, restrictable};

/// The page of the documentation about them.
const MORE: Option<&str> = Some("configuration.md#when-a-model-fails");

/// The rows, in the order in which users read them.
pub(super) const FAILURES: &[Setting] = &[
    Setting {
        name: "retries",
        kind: Number { unit: "times", min: 0, max: 10 },
        // Three waits of 1, 2 and 4 seconds outlast most overloads; more would only hide that something is wrong.
        default: Int(3),
        who: restrictable(Stricter::Lower),
        words: "How often in a row a request to a model is tried again if it fails for a reason that may pass. With `0`, \
                never.",
        more: MORE,
    },
    Setting {
        name: "stream_retries",
        kind: Number { unit: "times", min: 0, max: 10 },
        default: Unset("counted with `retries`"),
        // Without a value it is bound by `retries`, so that any number could be more.
        who: USER,
        words: "How often in a row a request is tried again whose answer has begun and breaks off. Those are then counted \
                by themselves, since each may have cost something already, and no longer with `retries`.",
        more: MORE,
    },
    Setting {
        name: "retry_delay",
        kind: Number { unit: "milliseconds", min: 100, max: 60_000 },
        default: Int(1_000),
        who: USER,
        words: "The wait before the first retry, in milliseconds, if the vendor asks for none. Each further wait is twice \
                as long, up to half a minute.",
        more: MORE,
    },
    Setting {
        name: "retry_longest",
        // The vendors' limits are counted by the minute, so that two minutes outlast any of them.
        kind: Number { unit: "seconds", min: 0, max: 86_400 },
        default: Int(120),
        who: restrictable(Stricter::Lower),
        words: "The longest wait that a vendor may ask for, in seconds. If it asks for more, the next model of the chain \
                continues at once, or without one the turn ends.",
        more: MORE,
    },
    Setting {
        name: "model_cooldown",
        kind: Number { unit: "seconds", min: 0, max: 86_400 },
        default: Int(300),
        who: USER,
        words: "Seconds for which a model of a chain is not asked after it failed, if its vendor names no time.",
        more: MORE,
    },
    Setting {
        name: "context_promotion",
        kind: Flag,
        // It costs more: the price of a larger model, and all of a full context once without the vendor's cache.
        default: Bool(false),
        who: restrictable(Stricter::Off),
        words: "Continue with the next larger model of the same provider if a conversation no longer fits into the \
                context, before old results are taken out of it. It costs more.",
        more: MORE,
    },
    Setting {
        name: "auto_compact",
        kind: Flag,
        default: Bool(true),
        who: EDITOR,
        words: "Replace the earlier part of a conversation with a handover once the context is full and taking old \
                results out of it is no longer enough.",
        more: Some("configuration.md#when-the-context-is-full"),
    },
];
