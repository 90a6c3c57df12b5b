//! What a user or an editor sees of Azimuth: every story goes through the real server.

mod bad_input;
mod chat;
mod crash;
mod disk;
mod docs;
mod exec;
mod faults;
mod folders;
mod generated;
mod homes;
mod host;
mod layers;
mod lifecycle;
mod panics;
mod plain;
mod reviews;
mod sessions;
mod settings;
mod slow_client;
mod story;
mod terminals;
mod turns;
mod undo;
mod windows;
mod wire;
