//! The page as Markdown. What the user and tools wrote stands in fences that nothing in it can end.

use super::{Document, Entry, Part};

pub(super) fn page(Document { title, facts, entries }: &Document) -> String {
    let mut page = format!("# {}\n\n{}\n", plain(title), plain(&facts.join(" · ")));
    for entry in entries {
        page.push('\n');
        page += &match entry {
            Entry::Prompt { who, text, attached, images } => {
                let attached: String = attached.iter().map(|name| format!("- {}\n", plain(name))).collect();
                let images = if images.is_empty() { String::new() } else { format!("- {} pictures\n", images.len()) };
                format!("## {who}\n\n{}{attached}{images}", fenced("text", text))
            }
            Entry::Answer(text) => format!("{}\n", text.trim_end()),
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
    fn a_text_cannot_end_its_fence_and_a_line_is_no_markup() {
        assert_eq!(fenced("text", "a\n````\nb\n"), "`````text\na\n````\nb\n`````\n");
        assert_eq!(plain("<img> `x` [a](b)"), "\\<img\\> \\`x\\` \\[a\\](b)");
    }
}
