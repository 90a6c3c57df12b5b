//! Where an edit goes.
