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

/// At most this many notes are given at once.
const MOST_NOTES: usize = 30;

/// The words for what became of the hunks since the model was last told, a note for each kind of news of a file. Those in
/// which the user said something come first. What is left out is said, and stays news for the next time.
pub(super) fn take(proposals: &mut [FileProposal]) -> Vec<Note> {
    let mut news: Vec<(usize, News)> = Vec::new();
    for (at, proposal) in proposals.iter().enumerate() {
        news.extend(of(proposal).into_iter().map(|news| (at, news)));
    }
    if news.len() > MOST_NOTES {
        news.sort_by_key(|(_, news)| !news.has_word());
    }
    let left = news.split_off(news.len().min(MOST_NOTES)).len();
    let mut notes = Vec::new();
    for (at, news) in news {
        let Some(proposal) = proposals.get_mut(at) else { continue };
        notes.push(news.note(&proposal.display));
        match news {
            News::Changed => proposal.untold_change = false,
            News::Comments { hunk, .. } => {
                if let Some(hunk) = proposal.hunks.get_mut(hunk) {
                    hunk.told_comments = hunk.comments.len();
                    proposal.unreported = true;
                }
            }
            News::Hunks { now, hunks, .. } => {
                for (at, _) in hunks {
                    if let Some(hunk) = proposal.hunks.get_mut(at) {
                        hunk.told = now;
                    }
                }
            }
        }
    }
    if left > 0 {
        let text = format!("There is more news of your edits, {left} notes; it follows with your next request.");
        notes.push(Note { text, has_word: false });
    }
    notes
}

/// What is news in a proposal.
fn of(proposal: &FileProposal) -> Vec<News> {
    let mut all: Vec<News> = proposal.untold_change.then_some(News::Changed).into_iter().collect();
    for (at, hunk) in proposal.hunks.iter().enumerate() {
        let comments = hunk.comments.get(hunk.told_comments..).unwrap_or_default();
        if !comments.is_empty() {
            let place = name(hunk, &proposal.place_in_document(hunk));
            all.push(News::Comments { hunk: at, kind: hunk.kind, place, comments: comments.to_vec() });
        }
        if hunk.state == hunk.told || hunk.state == HunkState::Applying {
            continue;
        }
        let place = (at, name(hunk, &proposal.place_in_document(hunk)));
        let same = all.iter_mut().find_map(|news| match news {
            News::Hunks { before, now, kind, message, hunks } => {
                let same = (*before, *now, *kind) == (hunk.told, hunk.state, hunk.kind) && *message == hunk.message;
                same.then_some(hunks)
            }
            News::Changed | News::Comments { .. } => None,
        });
        match same {
            Some(hunks) => hunks.push(place),
            None => all.push(News::Hunks {
                before: hunk.told,
                now: hunk.state,
                kind: hunk.kind,
                message: hunk.message.clone(),
                hunks: vec![place],
            }),
        }
    }
    all
}

/// News of a file.
enum News {
    /// The user changed what is proposed.
    Changed,
    /// The user said something of a hunk, which its number in the file's proposal names, with its place in words.
    Comments { hunk: usize, kind: Kind, place: String, comments: Vec<String> },
    /// The same became of some hunks.
    Hunks {
        before: HunkState,
        now: HunkState,
        kind: Kind,
        message: Option<String>,
        /// The number of each, and its place in words.
        hunks: Vec<(usize, String)>,
    },
}

impl News {
    /// What the user said with it.
    fn word(&self) -> Option<&str> {
        let Self::Hunks { now, message, .. } = self else { return None };
        let decided = matches!(now, HunkState::Rejected | HunkState::Accepted | HunkState::Unverified);
        message.as_deref().map(str::trim).filter(|message| decided && !message.is_empty())
    }

    fn has_word(&self) -> bool {
        self.word().is_some() || matches!(self, Self::Comments { .. })
    }

    fn note(&self, path: &str) -> Note {
        if let Self::Comments { kind, place, comments, .. } = self {
            let change = change(*kind, path, std::slice::from_ref(&(0, place.clone())));
            let said = comments.join("\n");
            let said = match said.char_indices().nth(LONGEST_WORD) {
                Some((end, _)) => format!("{}… [the rest is left out]", said.get(..end).unwrap_or_default()),
                None => said,
            };
            let text = format!("The user says of your {change}, which this does not decide: {said}");
            return Note { text, has_word: true };
        }
        let Self::Hunks { before, now, kind, hunks, .. } = self else {
            let text = format!("The user changed what you proposed for {path}; read it again before you go on.");
            return Note { text, has_word: false };
        };
        let change = change(*kind, path, hunks);
        let mut words = match now {
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
            HunkState::Pending | HunkState::Applying if *before == HunkState::Conflicted => {
                format!("Your {change} fits again and is pending.")
            }
            HunkState::Pending | HunkState::Applying => {
                format!("Your {change} turned out not to be in the file; it is pending again.")
            }
        };
        if let Some(word) = self.word() {
            let word: String = word.chars().take(LONGEST_WORD).collect();
            words.push_str(&format!(" They said: {word}"));
        }
        Note { text: words, has_word: self.has_word() }
    }
}

/// What hunks of a file do.
fn change(kind: Kind, path: &str, hunks: &[(usize, String)]) -> String {
    match kind {
        Kind::Create => format!("new file {path}"),
        Kind::Delete => format!("deletion of {path}"),
        Kind::Lines => format!("change to {path} {}", listed(hunks)),
    }
}

fn listed(hunks: &[(usize, String)]) -> String {
    let named: Vec<&str> = hunks.iter().take(MOST_PLACES).map(|(_, place)| place.as_str()).collect();
    let rest = hunks.len() - named.len();
    let rest = if rest > 0 { format!(" and {rest} more places") } else { String::new() };
    format!("({}{rest})", named.join(", "))
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
