//! The answer without what is not part of it: control tokens and stops end it, and habits of the model are taken back.

use ports::complete::Fill;

use super::family::Quirk;

/// The beginning and the end of thinking that stands in the text.
const THINK: [&str; 2] = ["<think>", "</think>"];
/// The mark of a code fence.
const FENCE: &str = "```";
/// A beginning of the cursor's line that is shorter, in bytes, may come again by chance.
const SHORTEST_LINE: usize = 3;

/// Takes an answer in, piece by piece, and gives it cleaned. However the answer is cut into pieces, the cleaned pieces
/// together are the same.
#[derive(Clone, Debug)]
pub(crate) struct Cleaner {
    /// The texts that end the answer.
    ends: Vec<String>,
    quirks: Vec<Quirk>,
    around: Around,
    /// The text that is not given yet, because what comes next decides about it.
    held: String,
    /// True if the beginning was decided.
    opened: bool,
    ended: bool,
}

/// The facts about the text around the cursor that decide about habits.
#[derive(Clone, Debug, Default)]
struct Around {
    /// The cursor's line up to the cursor.
    line: String,
    after_space: bool,
    after_blank_line: bool,
    before_line_end: bool,
    at_end: bool,
}

impl Cleaner {
    /// For the answer to this request, from a model with these control tokens and habits.
    pub(crate) fn new(request: &Fill, tokens: &[String], quirks: &[Quirk]) -> Self {
        let Fill { prefix, suffix, stops, .. } = request;
        let line = prefix.rsplit('\n').next().unwrap_or_default();
        Self {
            around: Around {
                line: line.to_owned(),
                after_space: prefix.ends_with(' '),
                after_blank_line: prefix.ends_with("\n\n"),
                before_line_end: suffix.starts_with('\n'),
                at_end: suffix.is_empty(),
            },
            quirks: quirks.to_vec(),
            ..Self::ending_at(stops.iter().chain(tokens).cloned().collect())
        }
    }

    /// For an answer that only ends at one of these texts.
    pub(crate) fn ending_at(mut ends: Vec<String>) -> Self {
        ends.retain(|end| !end.is_empty());
        let (quirks, around, held) = (Vec::new(), Around::default(), String::new());
        Self { ends, quirks, around, held, opened: false, ended: false }
    }

    /// Takes in a piece, and gives what is decided by now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if self.ended {
            return String::new();
        }
        self.held.push_str(piece);
        self.advance(false)
    }

    /// Takes in the end, and gives the rest.
    pub(crate) fn finish(&mut self) -> String {
        if self.ended { String::new() } else { self.advance(true) }
    }

    /// True if a text that ends the answer came.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    fn advance(&mut self, mut is_last: bool) -> String {
        if !self.opened {
            let Some(skipped) = self.opening(is_last) else { return String::new() };
            self.held.drain(..skipped);
            self.opened = true;
        }
        if let Some(at) = self.end(is_last) {
            self.held.truncate(at);
            self.ended = true;
            is_last = true;
        }
        if is_last {
            self.ended = true;
            if self.has(Quirk::TrailingNewline) && (self.around.before_line_end || self.around.at_end) {
                let length = self.held.strip_suffix('\n').unwrap_or(&self.held).len();
                self.held.truncate(length);
            }
            return std::mem::take(&mut self.held);
        }
        let mut decided = self.partial().unwrap_or(self.held.len());
        if self.has(Quirk::TrailingNewline)
            && let Some(shorter) = self.held.get(..decided).and_then(|text| text.strip_suffix('\n'))
        {
            decided = shorter.len();
        }
        let rest = self.held.split_off(decided);
        std::mem::replace(&mut self.held, rest)
    }

    fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// Where the first text stands that ends the answer. None as well if one that would stand before it may still
    /// become whole.
    fn end(&self, is_last: bool) -> Option<usize> {
        let at = self.ends.iter().filter_map(|end| self.held.find(end.as_str())).min()?;
        let is_open = !is_last && self.partial().is_some_and(|partial| partial < at);
        (!is_open).then_some(at)
    }

    /// Where the text at the end begins that may become one that ends the answer.
    fn partial(&self) -> Option<usize> {
        let longest = self.ends.iter().map(String::len).max()?;
        let from = self.held.len().saturating_sub(longest);
        let may_become = |rest: &str| self.ends.iter().any(|end| end.len() > rest.len() && end.starts_with(rest));
        let mut places = self.held.char_indices().map(|(at, _)| at).filter(|at| *at >= from);
        places.find(|at| self.held.get(*at..).is_some_and(may_become))
    }

    /// The bytes at the beginning that are not part of the answer; none if that is not decided yet.
    fn opening(&mut self, is_last: bool) -> Option<usize> {
        let mut text = self.held.as_str();
        if self.has(Quirk::Thinking) {
            text = after_thinking(text, is_last)?;
        }
        let mut is_fenced = false;
        if self.has(Quirk::Fence) {
            let trimmed = text.trim_start();
            if trimmed.starts_with(FENCE) {
                text = match trimmed.split_once('\n') {
                    Some((_, after)) => after,
                    None if is_last => "",
                    None => return None,
                };
                is_fenced = true;
            } else if !is_last && FENCE.starts_with(trimmed) {
                return None;
            }
        }
        if self.has(Quirk::LeadingSpace) {
            text = self.around.after_leading_space(text, is_last)?;
        }
        if self.has(Quirk::RepeatedLine) {
            text = self.around.after_repeated_line(text, is_last)?;
        }
        let skipped = self.held.len() - text.len();
        if is_fenced {
            self.ends.push(format!("\n{FENCE}"));
        }
        Some(skipped)
    }
}

impl Around {
    fn after_leading_space<'a>(&self, text: &'a str, is_last: bool) -> Option<&'a str> {
        if !is_last && (text.is_empty() || text == " ") {
            return None;
        }
        if self.after_space && self.before_line_end && text.starts_with(' ') && !text.starts_with("  ") {
            return text.get(1..);
        }
        if self.at_end && self.after_blank_line && text.starts_with('\n') {
            return text.get(1..);
        }
        Some(text)
    }

    fn after_repeated_line<'a>(&self, text: &'a str, is_last: bool) -> Option<&'a str> {
        let trimmed = self.line.trim_start();
        if trimmed.len() < SHORTEST_LINE {
            return Some(text);
        }
        for line in [self.line.as_str(), trimmed] {
            if let Some(after) = text.strip_prefix(line) {
                return Some(after);
            }
        }
        let may_become = self.line.starts_with(text) || trimmed.starts_with(text);
        (is_last || !may_become).then_some(text)
    }
}

/// The text after thinking at its beginning; none if that is not over yet.
fn after_thinking(text: &str, is_last: bool) -> Option<&str> {
    let [begin, end] = THINK;
    let trimmed = text.trim_start();
    if trimmed.starts_with(begin) || trimmed.starts_with(end) {
        let Some((_, after)) = trimmed.split_once(end) else { return is_last.then_some("") };
        let answer = after.trim_start_matches('\n');
        return (is_last || !answer.is_empty()).then_some(answer);
    }
    let may_become = begin.starts_with(trimmed) || end.starts_with(trimmed);
    (is_last || !may_become).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn request(prefix: &str, suffix: &str, stops: &[&str]) -> Fill {
        Fill {
            path: "a".into(),
            language: "rust".into(),
            prefix: prefix.into(),
            suffix: suffix.into(),
            extra: Vec::new(),
            max_tokens: 64,
            stops: stops.iter().map(|stop| (*stop).into()).collect(),
            is_varied: false,
            deadline: Duration::from_secs(1),
        }
    }

    fn cleaned(mut cleaner: Cleaner, pieces: &[&str]) -> String {
        let mut text: String = pieces.iter().map(|piece| cleaner.push(piece)).collect();
        text.push_str(&cleaner.finish());
        text
    }

    #[track_caller]
    fn check(cleaner: &Cleaner, answer: &str, expected: &str) {
        assert_eq!(cleaned(cleaner.clone(), &[answer]), expected);
        let letters: Vec<String> = answer.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(cleaned(cleaner.clone(), &letters), expected, "letter by letter");
    }

    #[test]
    fn a_control_token_ends_the_answer_even_if_it_comes_in_pieces() {
        let tokens = ["<|endoftext|>".to_owned(), "<|fim_prefix|>".to_owned()];
        let cleaner = Cleaner::new(&request("", "", &["\n\n"]), &tokens, &[]);
        check(&cleaner, "a < b<|endoftext|>rest", "a < b");
        check(&cleaner, "one\n\ntwo", "one");
        check(&cleaner, "x <| y <|end", "x <| y <|end");
        check(&cleaner, "", "");
        let mut cleaner = cleaner;
        assert_eq!(cleaner.push("a <|endof"), "a ");
        assert_eq!(cleaner.push("text|> b"), "");
        assert!(cleaner.is_ended());
    }

    #[test]
    fn thinking_is_no_part_of_the_answer() {
        let cleaner = Cleaner::new(&request("", "", &["\n\n"]), &[], &[Quirk::Thinking]);
        check(&cleaner, "<think>\n\nhm\n</think>\n\nlet a", "let a");
        check(&cleaner, "</think>let a", "let a");
        check(&cleaner, "<think>never over", "");
        check(&cleaner, "<thin", "<thin");
        check(&cleaner, "  <b>", "  <b>");
    }

    #[test]
    fn a_blank_that_stands_before_the_cursor_already_is_not_repeated() {
        let spaced = Cleaner::new(&request("let a = ", "\n", &[]), &[], &[Quirk::LeadingSpace]);
        check(&spaced, " 1;", "1;");
        check(&spaced, "  1;", "  1;");
        check(&spaced, " ", "");
        let elsewhere = Cleaner::new(&request("let a =", "\n", &[]), &[], &[Quirk::LeadingSpace]);
        check(&elsewhere, " 1;", " 1;");
        let end = Cleaner::new(&request("a\n\n", "", &[]), &[], &[Quirk::LeadingSpace]);
        check(&end, "\nb", "b");
    }

    #[test]
    fn the_line_that_a_model_repeats_is_left_out() {
        let cleaner = Cleaner::new(&request("x\n    let a", "\n", &[]), &[], &[Quirk::RepeatedLine]);
        check(&cleaner, "    let a = 1;", " = 1;");
        check(&cleaner, "let a = 1;", " = 1;");
        check(&cleaner, "let b", "let b");
        check(&cleaner, " = 1;", " = 1;");
        let short = Cleaner::new(&request("x\n  i", "\n", &[]), &[], &[Quirk::RepeatedLine]);
        check(&short, "if", "if");
    }

    #[test]
    fn a_line_end_too_many_is_left_out() {
        let cleaner = Cleaner::new(&request("x", "\ny", &[]), &[], &[Quirk::TrailingNewline]);
        check(&cleaner, "a\nb\n", "a\nb");
        check(&cleaner, "a\n\n", "a\n");
        let within = Cleaner::new(&request("x", ")", &[]), &[], &[Quirk::TrailingNewline]);
        check(&within, "a\n", "a\n");
    }

    #[test]
    fn a_code_fence_is_no_part_of_the_answer() {
        let cleaner = Cleaner::new(&request("", "", &[]), &[], &[Quirk::Thinking, Quirk::Fence]);
        check(&cleaner, "```rust\nlet a;\n```", "let a;");
        check(&cleaner, "\n```\nlet a;\n```\nThat is it.", "let a;");
        check(&cleaner, "let a = `b`;", "let a = `b`;");
        check(&cleaner, "``", "``");
        check(&cleaner, "<think>x</think>\n```\na\n```", "a");
    }

    proptest! {
        #[test]
        fn the_pieces_in_which_an_answer_comes_do_not_matter(
            answer in "[ \\n`a-c<|>]{0,40}|(<think>|</think>|```|\\n|<e>|<ee>|e>| |ab|    let a){0,8}",
            cuts in proptest::collection::vec(0..60usize, 0..6),
            prefix in "(let a = |a\\n\\n|    let a|)",
            suffix in "(\\n|\\)|)",
        ) {
            let tokens = ["<e>".to_owned(), "e>a".to_owned(), "<ee>".to_owned()];
            let quirks =
                [Quirk::Thinking, Quirk::Fence, Quirk::LeadingSpace, Quirk::RepeatedLine, Quirk::TrailingNewline];
            let cleaner = Cleaner::new(&request(&prefix, &suffix, &["\n\n\n"]), &tokens, &quirks);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| answer.floor_char_boundary(cut)).collect();
            cuts.extend([0, answer.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &answer[pair[0]..pair[1]]).collect();
            prop_assert_eq!(cleaned(cleaner.clone(), &pieces), cleaned(cleaner, &[answer.as_str()]));
        }
    }
}
