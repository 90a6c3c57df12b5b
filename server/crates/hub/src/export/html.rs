//! The page as HTML: one file that loads nothing and runs nothing, in which every text is text.

use std::fmt::Write;

use super::answer::{Piece, pieces, spans};
use super::{Document, Entry, Image, Part};

/// Light or dark as the reader's system is.
const STYLE: &str = "
:root { color-scheme: light dark; --text: #1f2328; --dim: #59636e; --back: #ffffff; --box: #f6f8fa; --line: #d1d9e0;
  --you: #0550ae; --bad: #b3261e; --add: #116329; --del: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9198a1; --back: #0d1117; --box: #161b22;
  --line: #3d444d; --you: #79b8ff; --bad: #ff8f87; --add: #7ee787; --del: #ffa198; } }
body { margin: 0 auto; padding: 24px 16px 64px; max-width: 860px; color: var(--text); background: var(--back);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5em; margin: 0 0 4px; } h2 { font-size: 1em; margin: 0 0 6px; color: var(--you); }
.facts, .attached, .note, .name { color: var(--dim); font-size: 0.9em; margin: 4px 0; }
.prompt { border-left: 3px solid var(--you); padding: 8px 14px; margin: 28px 0 14px; background: var(--box); }
.text { white-space: pre-wrap; } .answer { margin: 14px 0; }
.answer h3 { font-size: 1.05em; margin: 14px 0 4px; white-space: normal; } .note { white-space: pre-wrap; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 8px 0; padding: 4px 10px; }
summary { cursor: pointer; color: var(--dim); } .bad, .note.bad { color: var(--bad); }
pre { margin: 6px 0; padding: 8px 10px; background: var(--box); border-radius: 6px; white-space: pre-wrap;
  max-height: 32em; overflow: auto; font: 13px/1.45 ui-monospace, monospace; }
code { font: 0.9em ui-monospace, monospace; background: var(--box); padding: 0 3px; border-radius: 3px; }
pre code { padding: 0; font-size: 1em; } .add { color: var(--add); } .del { color: var(--del); }
img { max-width: 100%; border-radius: 6px; }
";
/// The pictures that are put into the page; others are only named.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(super) fn page(Document { title, facts, entries }: &Document) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n\
         <p class=\"facts\">{1}</p>\n</header>\n<main>\n",
        escaped(title),
        escaped(&facts.join(" · ")),
    );
    for entry in entries {
        page += &match entry {
            Entry::Prompt { who, text, attached, images } => {
                let attached: String =
                    attached.iter().map(|name| format!("<p class=\"attached\">+ {}</p>\n", escaped(name))).collect();
                let images: String = images.iter().map(picture).collect();
                format!(
                    "<section class=\"prompt\">\n<h2>{who}</h2>\n<div class=\"text\">{}</div>\n{attached}{images}</section>\n",
                    escaped(text)
                )
            }
            Entry::Answer(text) => format!("<section class=\"answer\">\n{}</section>\n", answer(text)),
            Entry::Folded { line, failed, parts } => {
                let parts: String = parts.iter().map(folded).collect();
                let class = if *failed { " class=\"bad\"" } else { "" };
                format!("<details>\n<summary{class}>{}</summary>\n{parts}</details>\n", escaped(line))
            }
            Entry::Note { text, failed } => {
                format!("<p class=\"note{}\">{}</p>\n", if *failed { " bad" } else { "" }, escaped(text))
            }
        };
    }
    page + "</main>\n</body>\n</html>\n"
}

fn folded(Part { name, text, is_diff }: &Part) -> String {
    let name = if name.is_empty() { String::new() } else { format!("<p class=\"name\">{name}</p>\n") };
    if !is_diff {
        return format!("{name}<pre>{}</pre>\n", escaped(text));
    }
    let mut lines = String::new();
    for line in text.lines() {
        let class = match line.chars().next() {
            Some('+') => "add",
            Some('-') => "del",
            _ => "name",
        };
        let _ = writeln!(lines, "<span class=\"{class}\">{}</span>", escaped(line));
    }
    format!("{name}<pre>{lines}</pre>\n")
}

fn picture(Image { mime_type, data }: &Image) -> String {
    let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    if is_base64 && PICTURES.contains(&mime_type.as_str()) {
        format!("<img alt=\"An attached picture\" src=\"data:{mime_type};base64,{data}\">\n")
    } else {
        "<p class=\"attached\">+ a picture</p>\n".into()
    }
}

/// An answer's headings and code; the rest is read as it was written.
fn answer(text: &str) -> String {
    let html = |piece| match piece {
        Piece::Prose(prose) => format!("<div class=\"text\">{}</div>\n", inline(prose.trim_matches('\n'))),
        Piece::Heading(_, heading) => format!("<h3>{}</h3>\n", inline(heading)),
        Piece::Code { text, .. } => format!("<pre><code>{}</code></pre>\n", escaped(&text)),
    };
    pieces(text).into_iter().map(html).collect()
}

/// Text with its code in backticks.
fn inline(text: &str) -> String {
    let html = |(is_code, text): (bool, &str)| match is_code {
        true => format!("<code>{}</code>", escaped(text.trim_matches('`'))),
        false => escaped(text),
    };
    spans(text).into_iter().map(html).collect()
}

/// A text in which nothing is markup, in an attribute too.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_and_headings_of_an_answer_are_seen_and_the_rest_stays_as_it_was_written() {
        let text = "# A <b>\nuse `a<b` and `open\n\n```rs\nlet x = \"`\";\n# no heading\n```\n* done";
        let expected = "<h3>A &lt;b&gt;</h3>\n<div class=\"text\">use <code>a&lt;b</code> and `open</div>\n\
                        <pre><code>let x = &quot;`&quot;;\n# no heading</code></pre>\n<div class=\"text\">* done</div>\n";
        assert_eq!(answer(text), expected);
        assert_eq!(answer("```\nnever closed"), "<pre><code>never closed</code></pre>\n");
        assert_eq!(answer("~~~\n```\n# a\n~~~"), "<pre><code>```\n# a</code></pre>\n");
        for no_heading in ["#42 is fixed", "    # indented", "####### seven"] {
            assert_eq!(answer(no_heading), format!("<div class=\"text\">{no_heading}</div>\n"));
        }
        let apart = "a ` b\n\nc `d` ``e`f``";
        let expected = "<div class=\"text\">a ` b\n\nc <code>d</code> <code>e`f</code></div>\n";
        assert_eq!(answer(apart), expected, "a lone backtick ends with its paragraph");
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(text in "[<>&\"'`~#a \\n\\\\-]{0,40}") {
            let document = Document {
                title: text.clone(),
                facts: vec![text.clone()],
                entries: vec![
                    Entry::Answer(text.clone()),
                    Entry::Folded { line: text.clone(), failed: true, parts: vec![Part { name: "", text: text.clone(), is_diff: true }] },
                    Entry::Prompt {
                        who: "You",
                        text: text.clone(),
                        attached: vec![text.clone()],
                        images: vec![Image { mime_type: "image/png".into(), data: text.clone() }],
                    },
                    Entry::Note { text, failed: false },
                ],
            };
            let page = page(&document);
            let known = [
                "!doctype", "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "main", "section",
                "div", "details", "summary", "pre", "code", "span", "img",
            ];
            for tag in page.split('<').skip(1) {
                let name = tag.trim_start_matches('/').split(|char: char| !char.is_alphanumeric() && char != '!').next().unwrap();
                prop_assert!(known.contains(&name), "{tag}");
            }
        }
    }
}
