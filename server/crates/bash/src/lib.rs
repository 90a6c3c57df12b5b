//! The grammar of bash, for whoever parses commands or scripts, and the texts that it must not be given.

/// Returns the grammar.
pub fn language() -> tree_sitter::Language {
    tree_sitter_bash::LANGUAGE.into()
}

/// True if the grammar would break down at a text, and the process with it: at what follows a brace, where it
/// looks for a sequence such as `{1..3}`, its scanner (tree-sitter-bash 0.25.1, `scanner.c`, at `brace_start`) gives
/// `isdigit` of C characters that are beyond its table.
pub fn is_fatal(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix("..").map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.chars().next().is_some_and(|c| c > '\u{FF}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_scanners_table_is_fatal_behind_a_brace_and_its_sequence_only() {
        for text in ["{\u{100}", "echo {1..\u{1F600}", "{12\u{4e00}", "{..\u{100}"] {
            assert!(is_fatal(text), "{text}");
        }
        for text in ["{a,b}", "{1..3}", "\u{4e00}{", "{ \u{4e00}", "{\u{e9}", ""] {
            assert!(!is_fatal(text), "{text}");
        }
    }
}
