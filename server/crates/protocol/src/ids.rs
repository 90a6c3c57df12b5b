//! Identifiers. Opaque strings on the wire; separate types in Rust, so that they cannot be confused.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id with this text.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
    )*};
}

ids! {
    /// A session: one conversation with its log. Six hexadecimal digits.
    SessionId;
    /// One prompt turn of a session.
    TurnId;
    /// A message of the assistant, whose deltas carry the same id.
    MessageId;
    /// One call of a tool. It is the vendor's id if the vendor gives one.
    ToolCallId;
    /// A question for permission.
    PermissionId;
    /// The pending change of one file.
    ProposalId;
    /// A hunk. It keeps its id for as long as its content stays the same.
    HunkId;
    /// A pseudo-terminal.
    TerminalId;
    /// A prompt that waits for the running turn to end.
    QueueId;
    /// A handover, which stands for the beginning of a conversation.
    CompactionId;
}
