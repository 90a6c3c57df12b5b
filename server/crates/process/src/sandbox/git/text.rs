//! The text of git's settings: read as git does, and written so that it reads the very same.

use std::path::Path;

/// An item of a file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The header of a section, as it stands between the brackets.
    Section(String),
    /// A setting of the section before it, which may have no value.
    Setting(String, Option<String>),
}

/// Returns the items of a text, up to what git would stop at.
pub(super) fn parsed(text: &str) -> Vec<Item> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (mut rest, mut items) = (text.as_str(), Vec::new());
    loop {
        rest = rest.trim_start();
        let read = match rest.chars().next() {
            None => break,
            Some('#' | ';') => {
                rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
                continue;
            }
            Some('[') => section(rest),
            Some(_) => setting(rest),
        };
        let Some((item, after)) = read else { break };
        items.push(item);
        rest = after;
    }
    items
}

/// A setting as it is written, in a line.
pub(super) fn in_settings(name: &str, value: Option<&str>) -> String {
    let Some(value) = value else { return format!("\t{name}\n") };
    let quoted = escaped(value).replace('\n', "\\n").replace('\t', "\\t").replace('\u{8}', "\\b");
    format!("\t{name} = \"{quoted}\"\n")
}

/// The header of a section. A condition that is meant from the file's own folder is written so that it holds from
/// anywhere.
pub(super) fn of_condition(header: &str, file: &Path) -> String {
    let from_anywhere = || {
        let (section, condition) = header.split_once('"')?;
        let condition = unescaped(condition.strip_suffix('"')?);
        let kind = ["gitdir:", "gitdir/i:"].into_iter().find(|kind| condition.starts_with(kind))?;
        let below = condition.strip_prefix(kind)?.strip_prefix('.').filter(|below| below.starts_with('/'))?;
        let folder = file.parent().filter(|_| section.trim().eq_ignore_ascii_case("includeif"))?.to_string_lossy();
        // The folder is meant as it is called, and not as a pattern.
        let mut pattern = kind.to_owned();
        for one in folder.chars() {
            pattern.extend(matches!(one, '*' | '?' | '[' | '\\').then_some('\\').into_iter().chain([one]));
        }
        Some(format!("{section}\"{}\"", escaped(&(pattern + below))))
    };
    from_anywhere().unwrap_or_else(|| header.to_owned())
}

/// A header, which may have a `]` in quotes, and what follows it.
fn section(text: &str) -> Option<(Item, &str)> {
    let rest = text.strip_prefix('[')?;
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, one) in rest.char_indices() {
        match one {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return Some((Item::Section(rest.get(..at)?.to_owned()), rest.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

fn setting(text: &str) -> Option<(Item, &str)> {
    let end = text.find(|one: char| !one.is_ascii_alphanumeric() && one != '-').unwrap_or(text.len());
    let (name, rest) =
        text.split_at_checked(end).filter(|(name, _)| name.starts_with(|one: char| one.is_ascii_alphabetic()))?;
    let rest = rest.trim_start_matches([' ', '\t']);
    match rest.strip_prefix('=') {
        None if rest.is_empty() || rest.starts_with('\n') => Some((Item::Setting(name.to_owned(), None), rest)),
        None => None,
        Some(rest) => {
            let (value, rest) = value(rest)?;
            Some((Item::Setting(name.to_owned(), Some(value)), rest))
        }
    }
}

/// A value, which may go on in the next line, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let (mut value, mut blanks) = (String::new(), String::new());
    let (mut is_quoted, mut is_comment) = (false, false);
    let mut chars = text.chars();
    while let Some(one) = chars.next().filter(|one| *one != '\n' || is_quoted) {
        match one {
            '\n' => return None,
            _ if is_comment => {}
            '#' | ';' if !is_quoted => is_comment = true,
            _ if one.is_ascii_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    blanks.push(one);
                }
            }
            _ => {
                value.push_str(&std::mem::take(&mut blanks));
                match one {
                    '"' => is_quoted = !is_quoted,
                    '\\' => value.push(match chars.next()? {
                        '\n' => continue,
                        'n' => '\n',
                        't' => '\t',
                        'b' => '\u{8}',
                        other @ ('"' | '\\') => other,
                        _ => return None,
                    }),
                    _ => value.push(one),
                }
            }
        }
    }
    (!is_quoted).then_some((value, chars.as_str()))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    std::iter::from_fn(|| chars.next().and_then(|one| if one == '\\' { chars.next() } else { Some(one) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: &str) -> Item {
        Item::Setting(name.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn settings_are_read_as_git_reads_them_and_what_is_written_reads_the_same() {
        let text = "\u{feff}# first\r\n[user] name = Ada  L ; mine \\\n\temail=\" a b \"c\\\n  d\n[core]\n\tbare\n\
                    [includeIf \"gitdir:\\\"]\"]path=x # y\n[alias \"z\"] ; z\n\tx-y = \"!echo \\\"a\\tb\\\" # no\"\n";
        let items = parsed(text);
        let expected = [
            Item::Section("user".to_owned()),
            setting("name", "Ada  L"),
            setting("email", " a b c  d"),
            Item::Section("core".to_owned()),
            Item::Setting("bare".to_owned(), None),
            Item::Section("includeIf \"gitdir:\\\"]\"".to_owned()),
            setting("path", "x"),
            Item::Section("alias \"z\"".to_owned()),
            setting("x-y", "!echo \"a\tb\" # no"),
        ];
        assert_eq!(items, expected);
        let written: String = items
            .iter()
            .map(|item| match item {
                Item::Section(header) => format!("[{header}]\n"),
                Item::Setting(name, value) => in_settings(name, value.as_deref()),
            })
            .collect();
        assert_eq!(parsed(&written), items);
    }

    #[test]
    fn what_git_would_stop_at_ends_the_settings() {
        for text in
            ["[user]\nname = \"Ada\nemail = x", "[user]\n= x", "[user\nname = x", "[user]\nname = \\x", "[user]\na b"]
        {
            assert!(parsed(text).len() <= 1, "{text}: {:?}", parsed(text));
        }
    }

    #[test]
    fn a_condition_that_is_meant_from_its_file_holds_from_anywhere() {
        let of = |header: &str| of_condition(header, Path::new("/home/a[d]a/.gitconfig"));
        assert_eq!(of("includeIf \"gitdir:./work/\""), "includeIf \"gitdir:/home/a\\\\[d]a/work/\"");
        assert_eq!(of("includeif \"gitdir/i:./\""), "includeif \"gitdir/i:/home/a\\\\[d]a/\"");
        for header in ["includeIf \"gitdir:~/work/\"", "includeIf \"gitdir:.x/\"", "url \"gitdir:./\"", "core"] {
            assert_eq!(of(header), header);
        }
    }
}
