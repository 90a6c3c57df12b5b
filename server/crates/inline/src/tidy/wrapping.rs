//! The wrapping that a model puts around its answer: thoughts, a code fence, tokens that control it.

use super::around::Around;

/// The begins and ends of thoughts.
const THOUGHTS: &[(&str, &str)] =
    &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷")];

/// The tokens that control models which fill in, and those that end an answer.
const TOKENS: &[&str] = &[
    "<|fim_prefix|>",
    "<|fim_suffix|>",
    "<|fim_middle|>",
    "<|fim_pad|>",
    "<|fim_begin|>",
    "<|fim_hole|>",
    "<|fim_end|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<|file_separator|>",
    "<|code_prefix|>",
    "<|code_suffix|>",
    "<|code_middle|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|end|>",
    "<|user|>",
    "<|assistant|>",
    "<|cursor|>",
    "<|user_cursor|>",
    "<|user_cursor_is_here|>",
    "<fim_prefix>",
    "<fim_suffix>",
    "<fim_middle>",
    "<fim_pad>",
    "<repo_name>",
    "<reponame>",
    "<filename>",
    "<gh_stars>",
    "<file_sep>",
    "<[fim-prefix]>",
    "<[fim-suffix]>",
    "<[fim-middle]>",
    "<｜fim▁begin｜>",
    "<｜fim▁hole｜>",
    "<｜fim▁end｜>",
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<PRE>",
    "<SUF>",
    "<MID>",
    "<EOT>",
    "<EOD>",
    "[PREFIX]",
    "[SUFFIX]",
    "[MIDDLE]",
    "<end_of_turn>",
    "<start_of_turn>",
    "<eos>",
    "</s>",
];

/// Tokens that are elements too in languages with markup.
const ELEMENTS: &[&str] = &["<PRE>", "</s>", "<filename>"];

/// The extensions of files in which fences are part of the text.
const WITH_FENCES: &[&str] = &["md", "markdown", "mdx", "rst", "adoc", "qmd", "rmd", "txt"];
/// The extensions of files with markup.
const WITH_ELEMENTS: &[&str] =
    &["html", "htm", "xhtml", "xml", "svg", "vue", "svelte", "jsx", "tsx", "php", "md", "markdown", "mdx"];

/// The answer without the model's thoughts, also if they have no end, or their begin was in the prompt.
pub(super) fn thoughts(around: &Around<'_>, answer: &str) -> Option<String> {
    let body = answer.trim_start();
    for (begin, end) in THOUGHTS {
        if around.has(end) {
            continue;
        }
        if let Some(thought) = body.strip_prefix(begin) {
            let rest = thought.split_once(end).map_or("", |(_, rest)| rest);
            return Some(without_blank_line(rest).to_owned());
        }
        if let Some((before, rest)) = answer.split_once(end)
            && !before.contains(begin)
        {
            return Some(without_blank_line(rest).to_owned());
        }
    }
    None
}

/// The inside of the code fence in the answer.
pub(super) fn fence(around: &Around<'_>, answer: &str) -> Option<String> {
    if has_extension(around, WITH_FENCES) {
        return None;
    }
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    // A fence that belongs to a comment or a string is indented as it is, or has the marks of the comment.
    let is_other = |line: &str| {
        let is_outside = line.starts_with("```") && (around.state.is_of_line() || around.line.starts_with([' ', '\t']));
        !around.state.is_verbatim() || is_outside
    };
    let mut at = 0;
    let mut begin = None;
    for line in answer.split_inclusive('\n') {
        let next = at + line.len();
        let is_bare = line.trim().trim_start_matches('`').is_empty();
        match begin {
            None if is_fence(line) && is_opening(line) && (at == 0 || is_preface(answer.get(..at)?)) => {
                begin = Some(next);
            }
            // The begin of this fence was in the prompt.
            None if is_fence(line) && is_bare && is_other(line) => {
                return answer.get(..at).map(|text| text.trim_end().to_owned());
            }
            Some(begin) if is_fence(line) && is_bare && is_other(line) => {
                return answer.get(begin..at).map(without_line_end).map(ToOwned::to_owned);
            }
            _ => {}
        }
        at = next;
    }
    let is_code = !around.state.is_verbatim() || (around.state.is_of_line() && !around.state.is_comment());
    begin.filter(|_| is_code).and_then(|begin| answer.get(begin..)).map(ToOwned::to_owned)
}

/// The answer up to the first token that controls a model; such tokens at its beginning are taken off.
pub(super) fn answer_tokens(around: &Around<'_>, answer: &str) -> Option<String> {
    if !answer.contains(['<', '[']) {
        return None;
    }
    let is_markup = has_extension(around, WITH_ELEMENTS);
    let is_text = |token: &&str| (is_markup && ELEMENTS.contains(token)) || around.has(token);
    let is_token = |token: &&str| !is_text(token);
    let present = TOKENS.iter().copied().filter(|token| answer.contains(token));
    let tokens: Vec<&str> = present.filter(is_token).collect();
    let token_at = |text: &str| tokens.iter().find(|token| text.starts_with(**token)).copied();
    let mut body = answer;
    while let Some(token) = token_at(body.trim_start_matches(' ')) {
        body = body.trim_start_matches(' ').strip_prefix(token)?;
    }
    let begins = |(at, _): &(usize, &str)| {
        let token = body.get(*at..).and_then(token_at);
        token.is_some_and(|token| !is_quoted(body, *at, at + token.len()))
    };
    let mut end = body.match_indices(['<', '[']).find(begins).map_or(body.len(), |(at, _)| at);
    // The stream may have ended inside a token.
    let tail = body.get(..end).and_then(|text| text.rfind("<|")).filter(|at| body.len() - at < 24);
    if let Some(tail) = tail
        && let Some(part) = body.get(tail..end)
        && part.len() > 2
        && TOKENS.iter().filter(|token| token.starts_with(part)).any(is_token)
    {
        end = tail;
    }
    let text = body.get(..end).unwrap_or_default();
    (text.len() != answer.len()).then(|| text.to_owned())
}

/// True if a part of a text is in quotes, as in a table of tokens.
fn is_quoted(text: &str, from: usize, to: usize) -> bool {
    let is_quote = |c: &char| matches!(c, '"' | '\'' | '`');
    let before = text.get(..from).and_then(|before| before.chars().next_back()).filter(is_quote);
    before.is_some() && before == text.get(to..).and_then(|after| after.chars().next())
}

/// True if a line opens a fence: behind the backticks is at most the name of a language or of a file.
fn is_opening(line: &str) -> bool {
    let info = line.trim().trim_start_matches('`');
    !info.contains('`') && !info.contains(' ')
}

/// True if what is before a fence is talk: one or two lines, the last of which ends as a sentence does.
fn is_preface(text: &str) -> bool {
    let talk = text.trim();
    let is_sentence = talk.ends_with([':', '.']) && talk.starts_with(|first: char| first.is_uppercase());
    talk.is_empty() || (is_sentence && talk.contains(' ') && talk.lines().count() <= 3)
}

fn has_extension(around: &Around<'_>, extensions: &[&str]) -> bool {
    let extension = around.path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension.to_ascii_lowercase().as_str()))
}

/// A text without the line end and the blank line at its beginning.
fn without_blank_line(text: &str) -> &str {
    let strip = |text| ["\r\n", "\n"].into_iter().find_map(|end| str::strip_prefix(text, end)).unwrap_or(text);
    strip(strip(text))
}

fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
