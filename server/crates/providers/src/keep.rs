//! Texts that outlive this process: lists of models, and the rests of keys and accounts.

/// Keeps texts beyond this process. What is lost is found out again, so nothing here fails.
pub trait KeepLists: Send + Sync {
    /// The text that is kept under this name; none if there is none. Blocks.
    fn kept(&self, name: &str) -> Option<String>;

    /// Keeps a text under a name, in the place of the one before. Blocks.
    fn keep(&self, name: &str, text: &str);
}
