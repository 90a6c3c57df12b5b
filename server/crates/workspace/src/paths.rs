//! Which paths belong to the project.
