//! The notes that tell the model about its edits.

use std::ops::Range;

use protocol::ToolCallId;
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
    /// True if the user said something in it, which wants an answer.
    pub has_word: bool,
}

/// At most this many notes are given at once.
const MOST_NOTES: usize = 30;

/// The words for what became of the hunks since the model was last told, a note for each kind of news of a file. Those
/// in which the user said something come first. What is left out is said, and stays news for the next time.
pub(super) fn take(proposals: &mut [FileProposal], who: &dyn Fn(&[ToolCallId]) -> String) -> Vec<Note> {
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
        notes.push(news.note(&proposal.display, who));
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

/// Returns the news in a proposal.
fn of(proposal: &FileProposal) -> Vec<News> {
    let mut all: Vec<News> = proposal.untold_change.then_some(News::Changed).into_iter().collect();
    for (at, hunk) in proposal.hunks.iter().enumerate() {
        let landed = proposal.landed.then(|| By { calls: hunk.calls.clone(), decided: proposal.is_decided(&hunk.id) });
        let comments = hunk.comments.get(hunk.told_comments..).unwrap_or_default();
        if !comments.is_empty() {
            let place = name(hunk, &proposal.place_in_document(hunk));
            let (kind, landed, comments) = (hunk.kind, landed.clone(), comments.to_vec());
            all.push(News::Comments { hunk: at, kind, landed, place, comments });
        }
        if hunk.state == hunk.told || hunk.state == HunkState::Applying || (landed.is_some() && !is_of_landed(hunk)) {
            continue;
        }
        let place = (at, name(hunk, &proposal.place_in_document(hunk)));
        let same = all.iter_mut().find_map(|news| match news {
            News::Hunks { before, now, kind, landed: by, message, hunks } => {
                let same = (*before, *now, *kind) == (hunk.told, hunk.state, hunk.kind);
                (same && *message == hunk.message && *by == landed).then_some(hunks)
            }
            News::Changed | News::Comments { .. } => None,
        });
        match same {
            Some(hunks) => hunks.push(place),
            None => all.push(News::Hunks {
                before: hunk.told,
                now: hunk.state,
                kind: hunk.kind,
                landed,
                message: hunk.message.clone(),
                hunks: vec![place],
            }),
        }
    }
    all
}

/// True if it is news what became of a hunk that leads back: not that it was kept, without a word, or fits no longer.
fn is_of_landed(hunk: &Hunk) -> bool {
    match hunk.state {
        HunkState::Rejected => hunk.message.is_some(),
        HunkState::Pending | HunkState::Conflicted => matches!(hunk.told, HunkState::Accepted | HunkState::Unverified),
        _ => true,
    }
}

/// The author of a change that was in the document before anybody decided on it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct By {
    /// The calls whose commands made it; none for another program.
    calls: Vec<ToolCallId>,
    /// True if the user wanted it taken back.
    decided: bool,
}

/// News of a file.
enum News {
    /// The user changed what is proposed.
    Changed,
    /// The user said something of a hunk, which its number in the file's proposal names, with its place in words.
    Comments { hunk: usize, kind: Kind, landed: Option<By>, place: String, comments: Vec<String> },
    /// The same became of some hunks.
    Hunks {
        before: HunkState,
        now: HunkState,
        kind: Kind,
        landed: Option<By>,
        message: Option<String>,
        /// The number of each, and its place in words.
        hunks: Vec<(usize, String)>,
    },
}

impl News {
    /// Returns the user's words with it.
    fn word(&self) -> Option<&str> {
        let Self::Hunks { now, message, .. } = self else { return None };
        let decided = matches!(now, HunkState::Rejected | HunkState::Accepted | HunkState::Unverified);
        message.as_deref().map(str::trim).filter(|message| decided && !message.is_empty())
    }

    fn has_word(&self) -> bool {
        self.word().is_some() || matches!(self, Self::Comments { .. })
    }

    fn note(&self, path: &str, who: &dyn Fn(&[ToolCallId]) -> String) -> Note {
        let change = |kind, hunks: &[(usize, String)], landed: &Option<By>| match landed {
            Some(by) => landed_change(kind, path, hunks, &who(&by.calls)),
            None => change(kind, path, hunks),
        };
        if let Self::Comments { kind, landed, place, comments, .. } = self {
            let what = change(*kind, std::slice::from_ref(&(0, place.clone())), landed);
            let what = if landed.is_some() { what } else { format!("your {what}") };
            let said = comments.join("\n");
            let said = match said.char_indices().nth(LONGEST_WORD) {
                Some((end, _)) => format!("{}… [the rest is left out]", said.get(..end).unwrap_or_default()),
                None => said,
            };
            let text = format!("The user says of {what}, which this does not decide: {said}");
            return Note { text, has_word: true };
        }
        let Self::Hunks { before, now, kind, landed, hunks, .. } = self else {
            let text = format!("The user changed what you proposed for {path}; read it again before you go on.");
            return Note { text, has_word: false };
        };
        let change = change(*kind, hunks, landed);
        let mut words = match now {
            _ if landed.is_some() => landed_news(*now, &change, landed.as_ref().is_some_and(|by| by.decided)),
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

/// Describes what became of a change that was in the document before anybody decided on it.
fn landed_news(now: HunkState, change: &str, decided: bool) -> String {
    match now {
        HunkState::Accepted if decided => format!("The user took back {change}. It is as it was before."),
        HunkState::Accepted => format!("Somebody changed back {change}. It is as it was before."),
        HunkState::Unverified => format!(
            "The user took back {change}, but it could not be seen to arrive. Read the file before you rely on it."
        ),
        HunkState::Rejected => format!("The user keeps {change}."),
        _ => format!("It is there again: {change}."),
    }
}

/// Describes a change by others, of which the hunks of a file are the way back.
fn landed_change(kind: Kind, path: &str, hunks: &[(usize, String)], who: &str) -> String {
    match kind {
        Kind::Create => format!("the deletion of {path} by {who}"),
        Kind::Delete => format!("the new file {path} that {who} made"),
        Kind::Lines => format!("what {who} changed in {path} {}", listed(hunks)),
    }
}

/// Describes the change that hunks of a file make.
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
