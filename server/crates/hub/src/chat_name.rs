//! The names of chat documents: conversations that a client without a panel shows as Markdown. They are views, and no
//! part of the project: that one is unsaved keeps no command waiting.

/// The name of a chat document, or how its name ends.
pub const CHAT: &str = "azimuth-chat.md";

/// True if a document is a chat, by its URI or path.
pub fn is_chat(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.to_ascii_lowercase().ends_with(CHAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_is_known_by_its_name() {
        assert!(is_chat("file:///p/azimuth-chat.md") && is_chat("file:///p/bug.Azimuth-Chat.md"));
        assert!(!is_chat("file:///p/azimuth-chat.md/readme.md") && !is_chat("file:///p/chat.md"));
    }
}
