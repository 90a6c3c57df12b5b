//! Bounding what a model reads.

/// The head and the tail of a text that is longer than `limit` bytes, whole lines where that is possible, with a line
/// between them that says what is missing. None for one that is not.
pub(super) fn bound(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let head_end = text.floor_char_boundary(limit / 2);
    let tail_start = text.ceil_char_boundary(text.len() - limit / 2);
    let (head, tail) = (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default());
    // A cut in the middle of a line is mended, unless that would cost much of what is kept.
    let head = head.rfind('\n').filter(|at| at * 2 > head.len()).and_then(|at| head.get(..=at)).unwrap_or(head);
    let tail = tail.find('\n').filter(|at| at * 2 < tail.len()).and_then(|at| tail.get(at + 1..)).unwrap_or(tail);
    let missing = text.len() - head.len() - tail.len();
    let newline = if head.ends_with('\n') { "" } else { "\n" };
    let all = text.len();
    Some(format!(
        "{head}{newline}[… {missing} bytes are left out here; the whole is {all} bytes long, and at most {limit} are shown \
         …]\n{tail}"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::bound;

    #[test]
    fn a_short_result_stays_as_it_is() {
        assert_eq!(bound("abc\n", 4), None);
    }

    #[test]
    fn a_long_result_keeps_whole_lines_of_its_head_and_tail_and_says_so() {
        let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let bounded = bound(&text, 1000).unwrap();
        assert!(bounded.starts_with("line 0\nline 1\n"));
        assert!(bounded.ends_with("line 998\nline 999\n"));
        assert!(bounded.contains("the whole is 8890 bytes long"), "{bounded}");
        assert!(bounded.lines().all(|line| line.starts_with("line ") || line.starts_with("[…")));
    }

    proptest! {
        #[test]
        fn a_bounded_result_is_never_much_longer_than_the_limit(text in "\\PC{0,400}", limit in 0usize..300) {
            match bound(&text, limit) {
                None => prop_assert!(text.len() <= limit),
                Some(bounded) => prop_assert!(text.len() > limit && bounded.len() <= limit + 200),
            }
        }
    }
}
