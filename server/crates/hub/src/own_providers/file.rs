//! The text of the user's file, with one provider added or removed. Everything else of it stays as it is written.

use protocol::settings::{SETTINGS, Setting};
use toml_edit::visit_mut::{VisitMut, visit_table_mut};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Addition, KeyFrom};

/// The name of the table of providers.
const PROVIDERS: &str = "providers";

/// The names of the providers in a text; none if it is no TOML.
pub(super) fn names(text: &str) -> Vec<String> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let providers = document.get(PROVIDERS).and_then(Item::as_table_like);
    providers.into_iter().flat_map(TableLike::iter).map(|(name, _)| name.to_owned()).collect()
}

/// The text with a provider more, at its end.
///
/// # Errors
/// It is no TOML, or its `providers` is no table; says so, without anything of the text.
pub(super) fn with(text: &str, addition: &Addition, command: &[String]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "the file is no TOML".to_owned())?;
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    let fields = fields(addition, command);
    let providers = document.entry(PROVIDERS).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    match providers {
        Item::Table(providers) => {
            let mut table = Table::new();
            table.extend(fields);
            table.set_position(Some(isize::MAX));
            // A comment at the end belongs to what stands before it, and its line may have no end yet.
            let trailing = match trailing.is_empty() || trailing.ends_with('\n') {
                true => trailing,
                false => format!("{trailing}\n"),
            };
            let blank = if trailing.is_empty() || trailing.ends_with("\n\n") { "" } else { "\n" };
            let is_first = text.trim().is_empty();
            let blank = if trailing.is_empty() && !is_first { "\n" } else { blank };
            table.decor_mut().set_prefix(format!("{trailing}{blank}"));
            providers.insert(&addition.name, Item::Table(table));
            document.set_trailing("");
        }
        Item::Value(Value::InlineTable(providers)) => {
            providers.insert(&addition.name, Value::InlineTable(InlineTable::from_iter(fields)));
        }
        _ => return Err("`providers` is no table".to_owned()),
    }
    Ok(document.to_string())
}

/// The text with this value of a setting, or without the setting. It is known by its name in camelCase too. Nothing
/// else of the text changes, but for a comment on the line of a setting that is taken out.
///
/// # Errors
/// It is no TOML; says so, without anything of the text.
pub(super) fn with_setting(text: &str, name: &str, value: Option<&str>) -> Result<String, String> {
    let document = Document::parse(text).map_err(|_| "the file is no TOML".to_owned())?;
    let camel = SETTINGS.iter().find(|setting| setting.name == name).map(Setting::camel_case);
    let there = [Some(name), camel.as_deref()].into_iter().flatten().find_map(|name| {
        let (key, item) = document.get_key_value(name)?;
        Some((key.span()?.start, item.span()?))
    });
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let put = |from: usize, new: &str, to: usize| {
        let (before, behind) = (text.get(..from).unwrap_or_default(), text.get(to..).unwrap_or_default());
        format!("{before}{new}{behind}")
    };
    Ok(match (value.map(Value::from), there) {
        (Some(value), Some((_, span))) => put(span.start, &value.to_string(), span.end),
        (None, Some((start, span))) => {
            let line = text.get(..start).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
            put(line, "", line_end(text, span.end))
        }
        (None, None) => text.to_owned(),
        (Some(value), None) => {
            let line = format!("{name} = {value}{end}");
            if let Some(last) = last_value(document.as_table()) {
                let at = line_end(text, last);
                let is_open = !text.get(..at).unwrap_or_default().ends_with('\n');
                return Ok(put(at, &format!("{}{line}", if is_open { end } else { "" }), at));
            }
            let at = head_end(text);
            let (head, rest) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
            // Blank lines part it from the comments of others.
            let above = match head.trim_start_matches('\u{feff}') {
                "" => String::new(),
                head if !head.ends_with('\n') => end.repeat(2),
                head if head.trim_end_matches(['\n', '\r']).len() + 2 * end.len() > head.len() => end.to_owned(),
                _ => String::new(),
            };
            let below = if rest.is_empty() || rest.starts_with(['\n', '\r']) { "" } else { end };
            put(at, &format!("{above}{line}{below}"), at)
        }
    })
}

/// The end of a line, with what ends it.
fn line_end(text: &str, within: usize) -> usize {
    let rest = text.get(within..).unwrap_or_default();
    within + rest.find('\n').map_or(rest.len(), |at| at + 1)
}

/// The end of the last value that stands before all tables.
fn last_value(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(table) if table.is_dotted() => last_value(table),
        _ => None,
    });
    ends.max()
}

/// The end of the comments that are about all of a file: those for programs (`#:schema …`), and others that a blank
/// line parts from the lines behind them.
fn head_end(text: &str) -> usize {
    let mut end = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut at = end;
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        at += line.len();
        match line.trim() {
            "" => return at,
            line if line.starts_with("#:") => end = at,
            line if line.starts_with('#') => {}
            _ => return end,
        }
    }
    at
}

/// The fields of a provider. No key is among them.
fn fields(addition: &Addition, command: &[String]) -> Vec<(&'static str, Value)> {
    let list = |texts: &[String]| Value::Array(texts.iter().map(String::as_str).collect::<Array>());
    let text = |text: &String| Value::from(text.as_str());
    let (variable, file, command) = match &addition.key {
        KeyFrom::Variable(variable) => (Some(variable), None, None),
        KeyFrom::File(file) => (None, Some(file), None),
        KeyFrom::Command(_) => (None, None, Some(command)),
        KeyFrom::Nowhere | KeyFrom::Account(_) => (None, None, None),
    };
    let fields = [
        ("base_url", addition.base_url.as_ref().map(text)),
        ("wire", addition.wire.as_ref().map(text)),
        ("key_env", variable.map(text)),
        ("key_file", file.map(text)),
        ("key_command", command.map(list)),
        ("models", (!addition.models.is_empty()).then(|| list(&addition.models))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Why a provider cannot be taken out of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// There is none of this name, or the text is no TOML.
    NotThere,
    /// It has no table of its own: it is written as `mine = { … }` or `providers.mine.key_env`, among other lines.
    AmongOthers,
}

/// The text without a provider. The comment right above each of its tables goes with it, one that a blank line parts
/// from it stays where it is.
///
/// # Errors
/// It cannot be taken out; the text stays as it is.
pub(super) fn without(text: &str, name: &str) -> Result<String, Left> {
    let mut document: DocumentMut = text.parse().map_err(|_| Left::NotThere)?;
    let providers = document.get_mut(PROVIDERS).ok_or(Left::NotThere)?;
    // There are no comments within a line.
    let is_one_line = providers.is_inline_table() && !providers.to_string().contains('\n');
    let removed = providers.as_table_like_mut().and_then(|providers| providers.remove(name)).ok_or(Left::NotThere)?;
    let has_tables = match &removed {
        Item::Table(table) => !table.is_dotted(),
        Item::ArrayOfTables(_) => true,
        Item::Value(_) | Item::None => false,
    };
    if !has_tables && !is_one_line {
        return Err(Left::AmongOthers);
    }
    let mut parted = Parted::default();
    parted.visit_item_mut(&mut removed.clone());
    parted.0.sort_by_key(|(place, _)| *place);
    // Each is put before what was put there already.
    parted.0.into_iter().rev().for_each(|(place, text)| give_to_next(&mut document, place, &text));
    Ok(document.to_string())
}

/// Puts a text before the first table behind a position, or at the end.
fn give_to_next(document: &mut DocumentMut, after: isize, text: &str) {
    let mut next = Next { after, place: None };
    next.visit_document_mut(document);
    match next.place {
        Some(place) => Give { place, text }.visit_document_mut(document),
        None => {
            let trailing = format!("{text}{}", document.trailing().as_str().unwrap_or_default());
            document.set_trailing(trailing);
        }
    }
}

/// The comments above the tables of an item that a blank line parts from them, with the tables' positions.
#[derive(Default)]
struct Parted(Vec<(isize, String)>);

impl VisitMut for Parted {
    fn visit_table_mut(&mut self, table: &mut Table) {
        let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        let lines: Vec<_> = prefix.split_inclusive('\n').collect();
        let blank = lines.iter().rposition(|line| line.ends_with('\n') && line.trim().is_empty());
        let text = lines.get(..blank.unwrap_or_default()).unwrap_or_default().concat();
        if let Some(position) = table.position().filter(|_| !text.trim().is_empty()) {
            self.0.push((position, text));
        }
        visit_table_mut(self, table);
    }
}

/// Looks for the first table behind a position.
struct Next {
    after: isize,
    place: Option<isize>,
}

impl VisitMut for Next {
    fn visit_table_mut(&mut self, table: &mut Table) {
        let behind = table.position().filter(|position| *position > self.after);
        self.place = self.place.into_iter().chain(behind).min();
        visit_table_mut(self, table);
    }
}

/// Puts a text before the table at a position.
struct Give<'a> {
    place: isize,
    text: &'a str,
}

impl VisitMut for Give<'_> {
    fn visit_table_mut(&mut self, table: &mut Table) {
        if table.position() == Some(self.place) {
            let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let blank = if prefix.starts_with(['\n', '\r']) { "" } else { "\n" };
            let prefix = format!("{}{blank}{prefix}", self.text);
            table.decor_mut().set_prefix(prefix);
        }
        visit_table_mut(self, table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mine() -> Addition {
        Addition {
            name: "mine".into(),
            base_url: Some("https://models.example/v1".into()),
            key: KeyFrom::Variable("MINE_KEY".into()),
            models: vec!["big".into(), "small".into()],
            ..Addition::default()
        }
    }

    const TABLE: &str = "[providers.mine]\nbase_url = \"https://models.example/v1\"\nkey_env = \"MINE_KEY\"\n\
                         models = [\"big\", \"small\"]\n";

    #[test]
    fn a_provider_is_written_at_the_end_and_taken_out_again_and_all_else_stays() {
        for text in [
            "",
            "# Mine.\nmodel = 'a' # the best\n",
            "[providers.a] # first\nkey_env = \"A\"\n\n# Rules.\n[permissions]\nask = []\n# The end.\n",
            "providers.a.key_env = 'A'\n\n[permissions]\ndeny = [\n  'Edit', # never\n]\n",
            "[[providers.a.model]]\nid = 'x'\n",
        ] {
            let added = with(text, &mine(), &[]).unwrap();
            let between = if text.is_empty() { "" } else { "\n" };
            assert_eq!(added, format!("{text}{between}{TABLE}"), "{text}");
            assert!(names(&added).contains(&"mine".to_owned()));
            assert_eq!(without(&added, "mine").unwrap().trim_end(), text.trim_end(), "{text}");
        }
        // The last line may have no end.
        let (text, whole) = ("model = 'a'\n# The end.", "model = 'a'\n# The end.\n");
        let added = with(text, &mine(), &[]).unwrap();
        assert_eq!(added, format!("{whole}\n{TABLE}"));
        assert_eq!(without(&added, "mine").unwrap().trim_end(), text);
        let inline = "providers = { a = { key_env = 'A' } } # all\n";
        let added = with(inline, &mine(), &[]).unwrap();
        assert!(
            added.contains("a = { key_env = 'A' }") && added.contains("# all") && added.contains("mine = {"),
            "{added}"
        );
        assert_eq!(names(&added), ["a", "mine"]);
        assert_eq!(names(&without(&added, "mine").unwrap()), ["a"]);
    }

    #[test]
    fn a_setting_is_written_among_the_others_and_taken_out_again_and_all_else_stays() {
        for (text, value, written) in [
            ("", Some("a/b"), "plan_model = \"a/b\"\n"),
            ("# Mine.\nmodel = 'x'\n", Some("a/b"), "# Mine.\nmodel = 'x'\nplan_model = \"a/b\"\n"),
            (
                "# All.\n[providers.a]\nkey_env = 'A'\n",
                Some("a/b"),
                "plan_model = \"a/b\"\n\n# All.\n[providers.a]\nkey_env = 'A'\n",
            ),
            (
                "model = 'x' # the best\nplan_model = 'y' # the wise\n\n[permissions]\n",
                Some("a/b, @default"),
                "model = 'x' # the best\nplan_model = \"a/b, @default\" # the wise\n\n[permissions]\n",
            ),
            ("planModel = 'y'\n", Some("a/b"), "planModel = \"a/b\"\n"),
            (
                "#:schema https://a.example/s.json\n[providers.a]\nkey_env = 'A'\n",
                Some("a/b"),
                "#:schema https://a.example/s.json\n\nplan_model = \"a/b\"\n\n[providers.a]\nkey_env = 'A'\n",
            ),
            (
                "#:schema https://a.example/s.json\n# Mine.\n\n# All.\n[providers.a]\n",
                Some("a/b"),
                "#:schema https://a.example/s.json\n# Mine.\n\nplan_model = \"a/b\"\n\n# All.\n[providers.a]\n",
            ),
            ("# Mine.", Some("a/b"), "# Mine.\n\nplan_model = \"a/b\"\n"),
            ("# Mine.\n", Some("a/b"), "# Mine.\n\nplan_model = \"a/b\"\n"),
            ("model = 'x'", Some("a/b"), "model = 'x'\nplan_model = \"a/b\"\n"),
            ("model = 'x'\r\n[mcp]\r\n", Some("a/b"), "model = 'x'\r\nplan_model = \"a/b\"\r\n[mcp]\r\n"),
            (
                "providers.a.key_env = 'A' # of a\n\n# Rules.\n[permissions]\n",
                Some("a/b"),
                "providers.a.key_env = 'A' # of a\nplan_model = \"a/b\"\n\n# Rules.\n[permissions]\n",
            ),
            (
                "# All of it.\n\n# The wise one.\nplan_model = 'y' # for plans\n# The best.\nmodel = 'x'\n",
                None,
                "# All of it.\n\n# The wise one.\n# The best.\nmodel = 'x'\n",
            ),
            ("# All.\nplan_model = 'y'\n\n# Rules.\n[permissions]\n", None, "# All.\n\n# Rules.\n[permissions]\n"),
            ("model = 'x'\n# The end.\nplan_model = 'y'", None, "model = 'x'\n# The end.\n"),
            ("model = 'x'\nplan_model = 'y'\n[permissions]\n", None, "model = 'x'\n[permissions]\n"),
            ("model = 'x'\n", None, "model = 'x'\n"),
        ] {
            assert_eq!(with_setting(text, "plan_model", value).as_deref(), Ok(written), "{text}");
        }
        assert!(with_setting("model = ", "plan_model", None).is_err());
    }

    #[test]
    fn what_is_about_a_provider_goes_with_it_and_what_is_about_others_stays() {
        let text = "# All of it.\n\n# About mine.\n[providers.mine]\nkey_env = 'A' # of mine\n[[providers.mine.model]]\n\
                    id = 'x'\n\n# About yours.\n[providers.yours]\nkey_env = 'B'\n";
        let left = "# All of it.\n\n# About yours.\n[providers.yours]\nkey_env = 'B'\n";
        assert_eq!(without(text, "mine").unwrap(), left);
        let left = "# All of it.\n\n# About mine.\n[providers.mine]\nkey_env = 'A' # of mine\n[[providers.mine.model]]\n\
                    id = 'x'\n";
        assert_eq!(without(text, "yours").unwrap(), left);
        assert_eq!(without(text, "theirs"), Err(Left::NotThere));
        assert_eq!(without("[providers", "mine"), Err(Left::NotThere));
    }

    #[test]
    fn comments_stay_where_they_are_whatever_the_order_of_its_tables_is() {
        for (text, left) in [
            // Its models are far from it.
            (
                "# Head.\n\n[providers.mine]\nkey_env = 'A'\n\n# Rules.\n[permissions]\nask = []\n\n# Models.\n\n# Big.\n\
                 [[providers.mine.model]]\nid = 'x'\n\n# More.\n[mcp]\n",
                "# Head.\n\n# Rules.\n[permissions]\nask = []\n\n# Models.\n\n# More.\n[mcp]\n",
            ),
            // One of them comes first.
            (
                "# Head.\n\n[[providers.mine.model]]\nid = 'x'\n\n# Mine.\n[providers.mine]\nkey_env = 'A'\n[permissions]\n",
                "# Head.\n\n[permissions]\n",
            ),
            // There is none of its own.
            ("# Head.\n\n[[providers.mine.model]]\nid = 'x'\n\n# End.\n", "# Head.\n\n# End.\n"),
            ("# Head.\n\n[providers.mine.headers]\nX = 'x'\n\n[mcp]\n", "# Head.\n\n[mcp]\n"),
        ] {
            assert_eq!(without(text, "mine").unwrap(), left, "{text}");
        }
        for among in [
            "# Head.\n\nproviders.mine.key_env = 'A'\n",
            "[providers]\n# Both.\n\nmine.key_env = 'A'\n",
            "[providers]\n# Both.\n\nmine = { key_env = 'A' }\nyours = { key_env = 'B' }\n",
        ] {
            assert_eq!(without(among, "mine"), Err(Left::AmongOthers), "{among}");
        }
    }

    #[test]
    fn a_command_is_written_as_its_words_and_a_key_never() {
        let addition = Addition { key: KeyFrom::Command("op read x".into()), models: vec![], ..mine() };
        let words = ["op".to_owned(), "read".to_owned(), "x y".to_owned()];
        assert!(with("", &addition, &words).unwrap().ends_with("key_command = [\"op\", \"read\", \"x y\"]\n"));
        let addition = Addition { key: KeyFrom::File("~/.secrets/mine".into()), models: vec![], ..mine() };
        assert!(with("", &addition, &[]).unwrap().ends_with("key_file = \"~/.secrets/mine\"\n"));
        let key = KeyFrom::Account(Some(providers::Secret::new("sk-secret")));
        let text = with("", &Addition { key, ..mine() }, &[]).unwrap();
        assert!(!text.contains("secret") && !text.contains("key"), "{text}");
    }
}
