//! The wire types of Azimuth's own methods.
//!
//! This crate is the one source of the protocol: the JSON schema, the TypeScript and Lua types of the editors and the
//! method part of `docs/protocol.md` are generated from it (`cargo run -p xtask -- codegen`), and a test fails when
//! they are stale. The tables of [`mode`] and [`settings`] are here too, for the same reason. It holds no logic.
//!
//! Conventions: methods are `azimuth/<noun>/<verb>`; fields are camelCase; unions are tagged by `type`;
//! ids are strings; documents are named by URI; positions are LSP positions in the encoding negotiated in
//! `initialize`; times are milliseconds since the Unix epoch.

pub mod auth;
pub mod beginnings;
pub mod checkpoint;
pub mod compaction;
pub mod content;
pub mod costs;
pub mod editor;
pub mod errors;
pub mod event;
pub mod form;
pub mod ids;
pub mod inline;
pub mod lang;
pub mod methods;
pub mod mode;
pub mod model;
pub mod permission;
pub mod review;
pub mod role;
pub mod search;
pub mod servers;
pub mod session;
pub mod settings;
pub mod terminal;
pub mod turn;

pub use content::{AssistantBlock, Position, PromptBlock, Range, ToolResult};
pub use errors::ErrorCode;
pub use event::{Event, SequencedEvent};
pub use ids::{
    CompactionId, HunkId, MessageId, PermissionId, ProposalId, QueueId, SessionId, TerminalId, ToolCallId, TurnId,
};
