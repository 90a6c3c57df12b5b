//! The text of the user's file, with a provider more or less. Everything else of it stays as it is written.

use toml_edit::visit_mut::{VisitMut, visit_table_mut};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

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
            // A comment at the end belongs to what stands before it.
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

/// The fields of a provider. No key is among them.
fn fields(addition: &Addition, command: &[String]) -> Vec<(&'static str, Value)> {
    let list = |texts: &[String]| Value::Array(texts.iter().map(String::as_str).collect::<Array>());
    let text = |text: &String| Value::from(text.as_str());
    let (variable, command) = match &addition.key {
        KeyFrom::Variable(variable) => (Some(variable), None),
        KeyFrom::Command(_) => (None, Some(command)),
        KeyFrom::Nowhere | KeyFrom::Account(_) => (None, None),
    };
    let fields = [
        ("base_url", addition.base_url.as_ref().map(text)),
        ("wire", addition.wire.as_ref().map(text)),
        ("key_env", variable.map(text)),
        ("key_command", command.map(list)),
        ("models", (!addition.models.is_empty()).then(|| list(&addition.models))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The text without a provider; none if it has none of this name, or is no TOML. The comment right above it goes with
/// it, one that a blank line parts from it stays.
pub(super) fn without(text: &str, name: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let removed = document.get_mut(PROVIDERS)?.as_table_like_mut()?.remove(name)?;
    let (first, last) = (Positions::of(&removed, isize::min), Positions::of(&removed, isize::max));
    if let Item::Table(table) = &removed
        && let (Some(first), Some(last)) = (first, last)
        && Some(first) == table.position()
    {
        let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        let kept = prefix.rfind("\n\n").and_then(|end| prefix.get(..=end)).unwrap_or_default();
        give_to_next(&mut document, last, kept);
    }
    Some(document.to_string())
}

/// Puts a text before the first table behind a position, or at the end.
fn give_to_next(document: &mut DocumentMut, after: isize, text: &str) {
    if text.trim().is_empty() {
        return;
    }
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

/// The positions of the tables in an item.
struct Positions {
    better: fn(isize, isize) -> isize,
    found: Option<isize>,
}

impl Positions {
    /// The first of them, or the last.
    fn of(item: &Item, better: fn(isize, isize) -> isize) -> Option<isize> {
        let mut positions = Self { better, found: None };
        positions.visit_item_mut(&mut item.clone());
        positions.found
    }
}

impl VisitMut for Positions {
    fn visit_table_mut(&mut self, table: &mut Table) {
        let position = table.position();
        self.found = self.found.zip(position).map(|(known, new)| (self.better)(known, new)).or(position).or(self.found);
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
            let prefix = format!("{}{prefix}", self.text);
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
    fn what_is_about_a_provider_goes_with_it_and_what_is_about_others_stays() {
        let text = "# All of it.\n\n# About mine.\n[providers.mine]\nkey_env = 'A' # of mine\n[[providers.mine.model]]\n\
                    id = 'x'\n\n# About yours.\n[providers.yours]\nkey_env = 'B'\n";
        let left = "# All of it.\n\n# About yours.\n[providers.yours]\nkey_env = 'B'\n";
        assert_eq!(without(text, "mine").unwrap(), left);
        let left = "# All of it.\n\n# About mine.\n[providers.mine]\nkey_env = 'A' # of mine\n[[providers.mine.model]]\n\
                    id = 'x'\n";
        assert_eq!(without(text, "yours").unwrap(), left);
        assert_eq!(without(text, "theirs"), None);
        assert_eq!(without("[providers", "mine"), None);
    }

    #[test]
    fn a_command_is_written_as_its_words_and_a_key_never() {
        let addition = Addition { key: KeyFrom::Command("op read x".into()), models: vec![], ..mine() };
        let words = ["op".to_owned(), "read".to_owned(), "x y".to_owned()];
        assert!(with("", &addition, &words).unwrap().ends_with("key_command = [\"op\", \"read\", \"x y\"]\n"));
        let key = KeyFrom::Account(Some(providers::Secret::new("sk-secret")));
        let text = with("", &Addition { key, ..mine() }, &[]).unwrap();
        assert!(!text.contains("secret") && !text.contains("key"), "{text}");
    }
}
