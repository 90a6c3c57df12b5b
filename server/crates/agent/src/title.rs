//! A session's title, from its first prompt.

use protocol::PromptBlock;

/// The longest title, in characters.
const LONGEST: usize = 60;

/// The title that a first prompt gives: its first sentence that says something, without Markdown's marks, at most 60
/// characters. None if the prompt holds nothing that can be read.
pub fn from_prompt(prompt: &[PromptBlock]) -> Option<String> {
    let mut text = String::new();
    for block in prompt {
        match block {
            PromptBlock::Text { text: typed } => text.push_str(typed),
            PromptBlock::File { uri } | PromptBlock::Range { uri, .. } | PromptBlock::Selection { uri, .. } => {
                let name = uri.rsplit('/').next().unwrap_or(uri);
                text.push_str(&format!(" {name} "));
            }
            PromptBlock::Image { .. } => {}
        }
    }
    let mut in_fence = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            in_fence ^= is_fence;
            !is_fence && !in_fence
        })
        .map(plain)
        .find(|line| says_something(line))
        .map(|line| shorten(first_sentence(&line)))
}

fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// A line without Markdown's marks, its blanks made single.
fn plain(line: &str) -> String {
    let line = line.trim_start().trim_start_matches(['#', '>', '-', '*', '+', ' ']);
    let line = line.replace(['`', '*'], "").replace("__", "");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Up to the first sentence's end, which a blank follows, without its full stop.
fn first_sentence(line: &str) -> &str {
    let end = [". ", "! ", "? "].iter().filter_map(|end| line.find(end)).min();
    let sentence = end.and_then(|end| line.get(..=end)).filter(|sentence| says_something(sentence)).unwrap_or(line);
    sentence.trim_end_matches(['.', ':', ' '])
}

/// At most [`LONGEST`] characters, cut between words where there are any.
fn shorten(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(LONGEST) else { return text.to_owned() };
    let keep = text.char_indices().nth(LONGEST - 1).map_or(cut, |(keep, _)| keep);
    let head = text.get(..keep).unwrap_or(text);
    let head = match head.rfind(' ') {
        Some(blank) if blank * 2 > keep => head.get(..blank).unwrap_or(head),
        _ => head,
    };
    format!("{}…", head.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn title(text: &str) -> Option<String> {
        from_prompt(&[PromptBlock::Text { text: text.to_owned() }])
    }

    #[test]
    fn a_title_is_the_first_sentence_without_marks() {
        let cases = [
            ("Fix the parser", "Fix the parser"),
            ("Fix `parse_line` in **main**. It panics on empty input.", "Fix parse_line in main"),
            ("\n\n# Add a flag:\n\nIt should do x.", "Add a flag"),
            ("- why does   it fail? I do not know", "why does it fail?"),
            ("```rust\nfn main() {}\n```\nWhat does this do?", "What does this do?"),
            ("see v1.2.3 of main.rs", "see v1.2.3 of main.rs"),
            ("> quoted", "quoted"),
            (". a", ". a"),
        ];
        for (text, expected) in cases {
            assert_eq!(title(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_long_title_is_cut_between_words() {
        let cut = title("Rework the whole storage layer so that sessions survive a crash of the machine").unwrap();
        assert_eq!(cut, "Rework the whole storage layer so that sessions survive a…");
    }

    #[test]
    fn mentions_count_by_name_and_silence_gives_no_title() {
        let prompt = [
            PromptBlock::Text { text: "explain".to_owned() },
            PromptBlock::File { uri: "file:///home/me/src/main.rs".to_owned() },
        ];
        assert_eq!(from_prompt(&prompt).as_deref(), Some("explain main.rs"));
        assert_eq!(title(" \n --- \n"), None);
        assert_eq!(from_prompt(&[]), None);
    }

    proptest! {
        #[test]
        fn a_title_is_one_short_line(text in "\\PC{0,200}") {
            if let Some(title) = title(&text) {
                prop_assert!(!title.is_empty() && title.chars().count() <= LONGEST && !title.contains('\n'));
            }
        }
    }
}
