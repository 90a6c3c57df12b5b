//! The ports of the core to the world, as traits and plain data: a [`model`], [`tool`]s, a [`session`] and a [`store`];
//! and for suggestions where the user types, models that [`complete`].
//!
//! The core, `agent`, decides with these and touches nothing; the crates above implement them. As well as the ports
//! there are the data that go through them: [`edit`] (what an edit comes to), [`partial`] (a call that still arrives),
//! [`hooks`] (who else has a say), [`children`] (sessions that a session starts), [`tool_names`], [`file_block`] (calls
//! that were files in an answer's text), [`found`] (searches in what was said), [`counts`] (numbers about suggestions),
//! [`spent`] (what requests used and cost), [`date`] (the calendar of days that are counted), [`facts`] (what a log
//! tells of a session's work).

pub mod children;
pub mod complete;
pub mod counts;
pub mod date;
pub mod edit;
pub mod facts;
pub mod file_block;
pub mod found;
pub mod hooks;
pub mod model;
pub mod partial;
pub mod session;
pub mod spent;
pub mod store;
pub mod tool;
pub mod tool_names;
