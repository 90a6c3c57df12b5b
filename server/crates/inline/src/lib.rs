//! Suggestions where the user types, as pure functions and state: no editor, no wire, no file, and the time is given.
//!
//! Texts are as the editor holds them; offsets are bytes in UTF-8. A [`splice`] is the change of a text. The [`engine`]
//! has the state of a document: [`before`] says if a suggestion is asked for at all, [`pace`] when, and [`cache`] if
//! there is an answer already. The [`context`] is what a model reads, without any [`secret`], and each [`definition`]
//! of a name near the cursor; [`tidy`] makes its answer fit to be shown. [`edit`] does so for a suggested edit, and
//! [`follow`] finds where one may be due. While one is shown, [`typed`] takes off what the user types of ghost text and
//! [`rebase`] of an edit. [`rejected`] remembers what is not to be offered again, and [`journal`] what the user did.
//! Once it is accepted, [`kept`] says if it stays. [`latency`] judges the times of a model.

pub mod before;
pub mod cache;
pub mod context;
pub mod definition;
pub mod edit;
pub mod engine;
pub mod follow;
pub mod journal;
pub mod kept;
pub mod latency;
pub mod pace;
pub mod rebase;
pub mod rejected;
pub mod secret;
pub mod splice;
pub mod tidy;
pub mod typed;
