//! The kinds of events that views need not name: those that people see nothing of, and those that say all in words.

use super::{Event, Severity};

impl Event {
    /// True if what the model sees of the conversation so far is another one after it.
    pub fn changes_conversation(&self) -> bool {
        matches!(
            self,
            Self::ContextTrimmed { .. }
                | Self::Compacted { .. }
                | Self::CompactionCorrected { .. }
                | Self::CompactionTakenBack { .. }
        )
    }
}

/// Defines [`Event::UNSEEN`] and [`unseen!`](crate::unseen).
macro_rules! unseen_kinds {
    ($($kind:ident),+ $(,)?) => {
        impl Event {
            /// The kinds that people see nothing of, as the enum calls them: they are for undo, for the model, or for
            /// whoever reads the log. No fold of what a session shows names one of them, in the server or in a panel,
            /// so a new kind of this sort only needs its name here.
            pub const UNSEEN: &[&str] = &[$(stringify!($kind)),+];
        }

        /// A pattern for the events of [the kinds that people see nothing of](crate::Event::UNSEEN).
        #[macro_export]
        macro_rules! unseen {
            () => { $($crate::Event::$kind { .. })|+ };
        }
    };
}

unseen_kinds!(FileSeen, PurposeChanged);

/// Defines [`Event::SPOKEN`], [`Event::spoken`] and [`spoken!`](crate::spoken).
macro_rules! spoken_kinds {
    ($($kind:ident),+ $(,)?) => {
        impl Event {
            /// The kinds that say in their own words, in `severity` and `text`, all that people see of them. Each view
            /// shows them alike and names none of them, so a new kind of this sort only needs its name here.
            pub const SPOKEN: &[&str] = &[$(stringify!($kind)),+];

            /// The words of an event of [these kinds](Self::SPOKEN), with their severity.
            pub fn spoken(&self) -> Option<(Severity, &str)> {
                match self {
                    $(Self::$kind { severity, text, .. } => Some((*severity, text)),)+
                    _ => None,
                }
            }
        }

        /// A pattern for the events of [the kinds that say all in words](crate::Event::SPOKEN).
        #[macro_export]
        macro_rules! spoken {
            () => { $($crate::Event::$kind { .. })|+ };
        }
    };
}

spoken_kinds!(Notice);
