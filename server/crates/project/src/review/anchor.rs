//! The search for a hunk in a text it was not followed into, since the server was not running in the meantime.
//!
//! If the text is known to be the one that was last seen, a hunk is where it was. In another text it is looked for by
//! its own lines and those around it, which must stand at one place only, in the text last seen as in this one: of two
//! equal places nobody can tell which one is meant once the text has changed, so such a hunk is marked and never
//! guessed.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::{self, Lines};
use crate::text;

/// As many lines above a hunk, and as many below it, tell it from others with the same text.
const REACH: usize = 5;
/// A line that stands in a text more often than this is not looked at everywhere.
const MOST_PLACES: usize = 200;

/// The lines around a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) above: Option<String>,
    pub(super) below: Option<String>,
}

impl Around {
    pub(super) fn of(text: &Lines<'_>, place: &Range<usize>) -> Self {
        Self { above: text.above(place).map(str::to_owned), below: text.below(place).map(str::to_owned) }
    }
}

/// A hash of the lines around a place.
fn anchor(text: &Lines<'_>, place: &Range<usize>) -> String {
    let (above, below) = reach(text, place);
    let counts = format!("{} {}\n", above.len(), below.len());
    text::hash(&[&counts, text.slice(above), text.slice(below)].concat()).0
}

fn reach(text: &Lines<'_>, place: &Range<usize>) -> (Range<usize>, Range<usize>) {
    (place.start.saturating_sub(REACH)..place.start, place.end..(place.end + REACH).min(text.len()))
}

/// The anchors of some places in a text; none for one whose lines stand there twice with those above them, or with
/// those below. Both must tell it, since lines from above one place and from below another meet when what is between
/// them goes.
pub(super) fn anchors(text: &Lines<'_>, places: &[Range<usize>]) -> Vec<Option<String>> {
    let line = |at: usize| text.slice(at..at + 1);
    let halves = |place: &Range<usize>| {
        let (above, below) = reach(text, place);
        [above.start..place.end, place.start..below.end]
    };
    // Of a long hunk some lines tell enough to know where to compare all of it.
    let telling = |half: &Range<usize>| half.clone().take(2 * REACH);
    let mut occurrences: HashMap<&str, Vec<usize>> =
        places.iter().flat_map(halves).flat_map(|half| telling(&half)).map(|at| (line(at), Vec::new())).collect();
    if !occurrences.is_empty() {
        for at in 0..text.len() {
            if let Some(found) = occurrences.get_mut(line(at)).filter(|found| found.len() <= MOST_PLACES) {
                found.push(at);
            }
        }
    }
    let is_unique = |place: &Range<usize>, which: usize| {
        let Some(half) = halves(place).into_iter().nth(which) else { return false };
        let rarest = telling(&half).filter_map(|at| Some((at, occurrences.get(line(at))?)));
        let Some((at, found)) = rarest.min_by_key(|(_, found)| found.len()) else {
            // Nothing at the very top or the very end, which is a place of its own.
            return true;
        };
        let is_twin = |other: &usize| {
            let Some(start) = (other + place.start).checked_sub(at) else { return false };
            let twin = start..start + place.len();
            let Some(other) = halves(&twin).into_iter().nth(which) else { return false };
            start != place.start && other.len() == half.len() && text.slice(other) == text.slice(half.clone())
        };
        found.len() <= MOST_PLACES && !found.iter().any(is_twin)
    };
    let anchor_of = |place| (is_unique(place, 0) && is_unique(place, 1)).then(|| anchor(text, place));
    places.iter().map(anchor_of).collect()
}

/// The only place in a text that holds `wanted` among the lines that the anchor was made of.
pub(super) fn find(text: &Lines<'_>, wanted: &str, around: &Around, anchored: &str) -> Option<Range<usize>> {
    let length = lines::count(wanted);
    let fits = |place: &Range<usize>| {
        place.end <= text.len()
            && text.above(place) == around.above.as_deref()
            && text.below(place) == around.below.as_deref()
            && text.slice(place.clone()) == wanted
            && anchor(text, place) == anchored
    };
    let mut places = (0..=text.len()).map(|start| start..start + length).filter(fits);
    match (places.next(), places.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_sides_tell_from_others_has_an_anchor() {
        let text = format!("{}end\n", "top\n  1;\n  2;\n  3;\n  4;\n  5;\n  x;\n  6;\n  7;\n".repeat(3));
        let text = Lines::new(&text);
        // The last one is told by what is below it, but not by what is above it.
        assert_eq!(anchors(&text, &[6..7, 15..16, 24..25]), [None, None, None]);
        let found = anchors(&text, &[0..1, 26..27, 27..28, 28..28]);
        assert!(found[0].is_none() && found[1].is_none() && found[2].is_some() && found[3].is_some(), "{found:?}");
        let around = Around::of(&text, &(27..28));
        assert_eq!(find(&text, "end\n", &around, found[2].as_deref().unwrap()), Some(27..28));
    }

    #[test]
    fn an_empty_place_has_an_anchor_too() {
        let text = Lines::new("");
        let anchor = anchors(&text, std::slice::from_ref(&(0..0))).pop().flatten().unwrap();
        assert_eq!(find(&text, "", &Around::default(), &anchor), Some(0..0));
        assert_eq!(find(&Lines::new("a\n"), "", &Around::default(), &anchor), None);
    }
}
