//! The loop against scripted ends of its ports: a model that plays answers and refuses what a vendor would refuse, a
//! session that keeps the log, tools that do as they are told.

mod cancelling;
mod compacting;
mod failing;
mod fakes;
mod filling;
mod hooking;
mod mending;
mod permitting;
mod planning;
mod resuming;
mod streaming;
mod toolset;
mod working;
