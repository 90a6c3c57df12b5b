//! What the model is told of its edits.

use std::ops::Range;

use protocol::review::HunkState;

use super::hunk::{Hunk, Kind};
use super::proposal::FileProposal;

/// At most this many places of a file are named in one note.
const MOST_PLACES: usize = 8;
/// A user's word is cut to this many characters.
const LONGEST_WORD: usize = 2000;

/// News for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// In words.
    pub text: String,
    /// Whether the user said something in it, which wants an answer.
    pub has_word: bool,
}

/// The words for what became of a proposal's hunks since the model was last told, a note for each kind of news.
pub(super) fn of(proposal: &mut FileProposal) -> Vec<Note> {
    let mut news: Vec<News> = Vec::new();
    let places: Vec<Range<usize>> = proposal.hunks.iter().map(|hunk| proposal.place_in_document(hunk)).collect();
    for (hunk, place) in proposal.hunks.iter_mut().zip(places) {
        if hunk.state == hunk.told || hunk.state == HunkState::Applying {
            continue;
        }
        let before = std::mem::replace(&mut hunk.told, hunk.state);
        let place = name(hunk, &place);
        let message = hunk.message.clone();
        let same = |news: &&mut News| {
            (news.before, news.now, news.kind) == (before, hunk.state, hunk.kind) && news.message == message
        };
        match news.iter_mut().find(same) {
            Some(news) => news.places.push(place),
            None => news.push(News { before, now: hunk.state, kind: hunk.kind, message, places: vec![place] }),
        }
    }
    let changed = std::mem::take(&mut proposal.untold_change).then(|| Note {
        text: format!("The user changed what you proposed for {}; read it again before you go on.", proposal.display),
        has_word: false,
    });
    changed.into_iter().chain(news.iter().map(|news| news.note(&proposal.display))).collect()
}

/// The same news of some hunks of a file.
struct News {
    before: HunkState,
    now: HunkState,
    kind: Kind,
    message: Option<String>,
    places: Vec<String>,
}

impl News {
    fn note(&self, path: &str) -> Note {
        let change = match self.kind {
            Kind::Create => format!("new file {path}"),
            Kind::Delete => format!("deletion of {path}"),
            Kind::Lines => format!("change to {path} {}", self.listed()),
        };
        let mut words = match self.now {
            HunkState::Rejected => format!("The user rejected your {change}. It is not in the file."),
            HunkState::Accepted => format!("The user accepted your {change}."),
            HunkState::Unverified => format!(
                "The user accepted your {change}, but it could not be seen to arrive. Read the file before you rely on it."
            ),
            HunkState::Conflicted => format!(
                "Your pending {change} no longer fits, since the text there changed meanwhile. It is no longer in what \
                 you read. Read the file again and make the edit anew if it is still wanted."
            ),
            HunkState::Undone => format!("The user took your accepted {change} back in the editor."),
            HunkState::Pending | HunkState::Applying if self.before == HunkState::Conflicted => {
                format!("Your {change} fits again and is pending.")
            }
            HunkState::Pending | HunkState::Applying => {
                format!("Your {change} turned out not to be in the file; it is pending again.")
            }
        };
        let decided = matches!(self.now, HunkState::Rejected | HunkState::Accepted | HunkState::Unverified);
        let message = self.message.as_deref().filter(|message| decided && !message.trim().is_empty());
        if let Some(message) = message {
            let message: String = message.trim().chars().take(LONGEST_WORD).collect();
            words.push_str(&format!(" They said: {message}"));
        }
        Note { text: words, has_word: message.is_some() }
    }

    fn listed(&self) -> String {
        let named = self.places.get(..MOST_PLACES).unwrap_or(&self.places);
        let rest = self.places.len() - named.len();
        let rest = if rest > 0 { format!(" and {rest} more places") } else { String::new() };
        format!("({}{rest})", named.join(", "))
    }
}

/// Lines for people and models, from 1.
fn name(hunk: &Hunk, place: &Range<usize>) -> String {
    let end = place.start + place.len();
    match place.len() {
        _ if hunk.kind != Kind::Lines => String::new(),
        0 if place.start == 0 => "at the top".to_owned(),
        0 => format!("after line {}", place.start),
        1 => format!("line {end}"),
        _ => format!("lines {}-{end}", place.start + 1),
    }
}
