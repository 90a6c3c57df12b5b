//! The page as Markdown. What the user and tools wrote stands in fences that nothing in it can end.

use super::answer::{Piece, pieces, spans};
use super::{Document, Entry, Part};

pub(super) fn page(Document { title, facts, entries }: &Document) -> String {
    let mut page = format!("# {}\n\n{}\n", plain(title), plain(&facts.join(" · ")));
    for entry in entries {
        page.push('\n');
        page += &match entry {
            Entry::Prompt { who, text, attached, images } => {
                let attached: String = attached.iter().map(|name| format!("- {}\n", plain(name))).collect();
                let images = match images.len() {
                    0 => String::new(),
                    1 => "- 1 picture\n".into(),
                    many => format!("- {many} pictures\n"),
                };
                format!("## {who}\n\n{}{attached}{images}", fenced("text", text))
            }
            Entry::Answer(text) => answer(text),
            Entry::Folded { line, failed, parts } => {
                let failed = if *failed { " (failed)" } else { "" };
                let parts: String = parts.iter().map(folded).collect();
                format!("<details><summary>{}{failed}</summary>\n\n{parts}</details>\n", entities(line))
            }
            Entry::Note { text, .. } => text.lines().map(|line| format!("> {}\n", plain(line))).collect(),
        };
    }
    page
}

/// An answer below the headings of the page: its headings are moved down, its fences closed, and what would be HTML is
/// text.
fn answer(text: &str) -> String {
    let markdown = |piece| match piece {
        Piece::Prose(prose) => format!("{}\n", without_html(prose.trim_end())),
        Piece::Heading(level, heading) => format!("{} {}\n", "#".repeat((level + 2).min(6)), without_html(heading)),
        Piece::Code { language, text } => {
            let is_name = |char: char| char.is_alphanumeric() || matches!(char, '+' | '-' | '#' | '.' | '_');
            fenced(if language.chars().all(is_name) { language } else { "" }, &text)
        }
    };
    pieces(text).into_iter().map(markdown).collect::<Vec<_>>().join("\n")
}

fn without_html(text: &str) -> String {
    spans(text)
        .into_iter()
        .map(|(is_code, text)| if is_code { text.into() } else { text.replace('<', "&lt;") })
        .collect()
}

fn folded(Part { name, text, is_diff }: &Part) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}:\n\n") };
    format!("{name}{}\n", fenced(if *is_diff { "diff" } else { "text" }, text))
}

/// A text in a fence that is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A line in which nothing is markup.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if matches!(char, '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!' | '&') {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

/// The same within an element of HTML, where Markdown's own escapes do not count.
fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_stays_within_its_place_on_the_page() {
        let text = "# Done\nuse `a<b>` or <b>\n\n```rs\n<i>\n~~~\n# never closed";
        let expected = "### Done\n\nuse `a<b>` or &lt;b>\n\n```rs\n<i>\n~~~\n# never closed\n```\n";
        assert_eq!(answer(text), expected);
    }

    #[test]
    fn a_text_cannot_end_its_fence_and_a_line_is_no_markup() {
        assert_eq!(fenced("text", "a\n````\nb\n"), "`````text\na\n````\nb\n`````\n");
        assert_eq!(plain("<img> `x` [a](b)"), "\\<img\\> \\`x\\` \\[a\\](b)");
    }
}
