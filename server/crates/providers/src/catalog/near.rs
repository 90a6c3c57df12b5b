//! Names like another.

/// How many are told.
const MOST: usize = 4;

/// The ids whose name or alias is like a name, the likest first.
pub(super) fn near<'a>(name: &str, models: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let name = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = models
        .filter_map(|(id, aliases)| {
            let names = [id, super::bare(id)].into_iter().chain(aliases.iter().map(String::as_str));
            let best = names.filter_map(|other| likeness(&name, &other.to_lowercase())).min()?;
            Some((best, id))
        })
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.dedup_by_key(|(_, id)| *id);
    found.into_iter().take(MOST).map(|(_, id)| id.to_owned()).collect()
}

/// Returns the distance between two names, if they are alike at all: a few slips, or one within the other.
fn likeness(wanted: &str, other: &str) -> Option<usize> {
    let distance = distance(wanted, other);
    let length = wanted.chars().count();
    let is_within = length >= 3 && (other.contains(wanted) || wanted.contains(other));
    (distance <= 1 + length / 4 || is_within).then_some(distance)
}

/// How many letters must be put in, taken out or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let changed = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = changed.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_right() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("sonet", "sonnet"), 1);
    }

    #[test]
    fn the_likest_come_first_and_strangers_not_at_all() {
        let aliases = ["sonnet-4-5".to_owned()];
        let models = [("anthropic/claude-sonnet-4-5", &aliases[..]), ("openai/gpt-5", &[]), ("ollama/qwen3", &[])];
        assert_eq!(near("sonet-4-5", models.into_iter()), ["anthropic/claude-sonnet-4-5"]);
        assert_eq!(near("gpt5", models.into_iter()), ["openai/gpt-5"]);
        assert_eq!(near("mistral", models.into_iter()), [""; 0]);
    }
}
