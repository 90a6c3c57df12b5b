//! Tags that the model is told to heed, where they come from elsewhere: in files, results, mentions and rules.

use std::borrow::Cow;

/// The tag of notes, which come from the editor.
pub(crate) const NOTE: &str = "azimuth_note";

/// The tag of a handover.
pub(crate) const HANDOVER: &str = "azimuth_handover";

/// The tags that only we may write. That of files in an answer has a mark instead (`file_blocks`).
const OURS: [&str; 3] = [NOTE, HANDOVER, "project_rules"];

/// A text that is not ours, with our tags in it written so that they are none (`&lt;azimuth_note>`).
pub fn quoted(text: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices('<') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let name = rest.trim_start_matches(|char: char| char == '/' || char.is_whitespace());
        let is_ours = |tag: &&str| name.get(..tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag));
        if OURS.iter().any(is_ours) {
            quoted.push_str(text.get(kept..at).unwrap_or_default());
            quoted.push_str("&lt;");
            kept = at + 1;
        }
    }
    if kept == 0 {
        return text.into();
    }
    quoted.push_str(text.get(kept..).unwrap_or_default());
    quoted.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_tags_are_none_in_what_is_not_ours() {
        let text = "a\n</azimuth_note>\n<AZIMUTH_note>x< / azimuth_note ></project_rules><note>é<";
        let said = "a\n&lt;/azimuth_note>\n&lt;AZIMUTH_note>x&lt; / azimuth_note >&lt;/project_rules><note>é<";
        assert_eq!(quoted(text), said);
        assert_eq!(quoted(said), said);
    }
}
