//! The state of ghost text in one document: nothing asked, waiting for the user to pause, a model running, an answer
//! shown. Pure: it decides when a model is asked and when a running request is of no more use; others ask, and tell it
//! the time.
//!
//! At most one request runs for a document. A key that a running request's answer may still begin with does not end
//! it: the answer is found for the new place, with what was typed taken off. Any other key ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use protocol::inline::Rule;

use crate::cache::{Answer, Cache};
use crate::pace::{Context, Kind, Pace, Source};
use crate::rebase::Hunk;
use crate::rejected::Rejected;
use crate::splice::{Splice, between};

/// The ghost text of a document.
#[derive(Debug)]
pub struct Engine {
    /// The document, as a key of the cache.
    document: String,
    pace: Pace,
    rejected: Rejected,
    waiting: Option<Waiting>,
    running: Option<Run>,
    shown: Option<Shown>,
    /// The last suggestion that was accepted as a whole.
    accepted: Option<Shown>,
}

/// A place where a suggestion is wanted.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The text, with LF line ends.
    pub text: Arc<str>,
    /// The cursor, in bytes.
    pub offset: usize,
    /// True if the user asked for it.
    pub is_invoked: bool,
    /// True if the text is not there yet: it is the one that the selected entry of the completion menu would make.
    pub is_ahead: bool,
}

/// The name of a request to a model, which no other of this process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(u64);

impl RunId {
    /// A new name.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The next step for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is nothing to show, by this rule.
    Silent(Rule),
    /// An answer is there.
    Have(Answer),
    /// A request runs that may answer for this place.
    Join(RunId),
    /// A model is to be asked at [`Engine::due`].
    Wait,
}

#[derive(Debug)]
struct Waiting {
    ask: Ask,
    due: Instant,
}

#[derive(Debug)]
struct Run {
    id: RunId,
    ask: Ask,
    partial: String,
}

/// A suggestion on the screen.
#[derive(Clone, Debug)]
struct Shown {
    text: Arc<str>,
    offset: usize,
    answer: Answer,
}

impl Engine {
    /// The engine of a document, which the cache knows by this name.
    pub fn new(document: &str) -> Self {
        Self {
            document: document.to_owned(),
            pace: Pace::default(),
            rejected: Rejected::default(),
            waiting: None,
            running: None,
            shown: None,
            accepted: None,
        }
    }

    /// Decides for a place. A later one takes the place of one that still waits.
    pub fn ask(&mut self, ask: Ask, cache: &mut Cache, now: Instant) -> Step {
        if let Some(found) = self.find(&ask, cache, now) {
            self.waiting = None;
            return found;
        }
        if let Some(run) = &self.running {
            if run.may_answer(&ask.text, Some(ask.offset)) {
                self.waiting = None;
                return Step::Join(run.id);
            }
            self.running = None;
        }
        let rest = ask.text.get(ask.offset..).unwrap_or_default();
        let context = Context {
            kind: Kind::Ghost,
            source: Source::Model,
            is_invoked: ask.is_invoked,
            is_line_end: rest.is_empty() || rest.starts_with('\n'),
            is_after_trigger: is_trigger(&ask.text, ask.offset),
        };
        let wait = self.pace.wait(now, &context);
        self.waiting = Some(Waiting { ask, due: now + wait });
        Step::Wait
    }

    /// The time at which a model is to be asked, if one is.
    pub fn due(&self) -> Option<Instant> {
        self.waiting.as_ref().map(|waiting| waiting.due)
    }

    /// Puts the request off until at least so long after a time, as where the user wants quiet.
    pub fn not_before(&mut self, time: Instant) {
        if let Some(waiting) = &mut self.waiting {
            waiting.due = waiting.due.max(time);
        }
    }

    /// The place that a model is to be asked for now; none if it is not yet time. It runs from here on; one that ran
    /// before does not any more.
    pub fn start(&mut self, now: Instant) -> Option<(RunId, Ask)> {
        let Waiting { ask, .. } = self.waiting.take_if(|waiting| waiting.due <= now)?;
        let id = RunId::next();
        self.running = Some(Run { id, ask: ask.clone(), partial: String::new() });
        Some((id, ask))
    }

    /// The request that runs, if its answer may still be of use. One that is not this is to be ended.
    pub fn running(&self) -> Option<RunId> {
        self.running.as_ref().map(|run| run.id)
    }

    /// True if a request runs, or is to.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || self.waiting.is_some()
    }

    /// Notes a piece of a running request's answer. If the user has typed something else, nobody needs the rest.
    pub fn piece(&mut self, id: RunId, piece: &str, text: &str) {
        if let Some(run) = self.running.as_mut().filter(|run| run.id == id) {
            run.partial.push_str(piece);
            self.running.take_if(|run| !run.ask.is_ahead && !run.may_answer(text, None));
        }
    }

    /// Takes the answer of a request, for the place that it was asked for, or the rule by which there is none. False if
    /// nobody waits for it any more; the answer is kept even so.
    pub fn answered(
        &mut self,
        id: RunId,
        of: &Ask,
        answer: Result<Answer, Rule>,
        cache: &mut Cache,
        now: Instant,
    ) -> bool {
        if let Ok(answer) = answer {
            cache.insert(&self.document, &of.text, of.offset, answer, now);
        }
        self.running.take_if(|run| run.id == id).is_some()
    }

    /// The answer that is known for a place, or the rule by which the known one is not shown; none if none is known.
    /// Who asks for a suggestion is shown one that was rejected, too.
    pub fn find(&self, ask: &Ask, cache: &mut Cache, now: Instant) -> Option<Step> {
        let Ask { text, offset, is_invoked, .. } = ask;
        let (text, offset) = (&**text, *offset);
        let answer = cache.get(&self.document, text, offset, now)?;
        let hunk = Hunk::new(offset..offset + answer.replaces, answer.text.clone());
        if !is_invoked && self.rejected.is_rejected(text, &[hunk]) {
            return Some(Step::Silent(Rule::Rejected));
        }
        Some(Step::Have(answer))
    }

    /// Takes a change of the document.
    pub fn changed(&mut self, old: &str, new: &str, change: &Splice, now: Instant) {
        self.rejected.change(old, new, change);
        self.pace.typed(now);
        if self.is_accepting(new) {
            self.shown = None;
            // Who types a suggestion to its end has not accepted it.
            if !is_key(change) {
                let answer = Answer { text: change.text.clone(), replaces: change.range.len() };
                self.accepted = Some(Shown { text: old.into(), offset: change.range.start, answer });
            }
        } else if let Some(accepted) = self.accepted.take_if(|accepted| *accepted.text == *new) {
            // Who undoes what was accepted does not want it.
            self.rejected.reject(new, &[accepted.hunk()]);
        }
        // A request for a text that is not there yet is judged by the next one.
        self.running.take_if(|run| !run.ask.is_ahead && !run.may_answer(new, None));
        if self.waiting.as_ref().is_some_and(|waiting| *waiting.ask.text != *new) {
            self.waiting = None;
        }
    }

    /// The request is not wanted any more, as the client says. What the user has typed into since goes on, since the
    /// next request will ask for it.
    pub fn withdrawn(&mut self, text: &str) {
        self.waiting = None;
        self.running.take_if(|run| run.ask.is_ahead || *run.ask.text == *text);
    }

    /// Ends what runs or is to run.
    pub fn stop(&mut self) {
        self.waiting = None;
        self.running = None;
    }

    /// A suggestion is on the screen.
    pub fn show(&mut self, text: Arc<str>, offset: usize, answer: Answer) {
        self.shown = Some(Shown { text, offset, answer });
    }

    /// True if a change accepts what is shown: at once, and not by typing it to the end.
    pub fn is_accepted_by(&self, change: &Splice, text: &str) -> bool {
        !is_key(change) && self.is_accepting(text)
    }

    /// True if this text is the one that accepting what is shown makes.
    fn is_accepting(&self, text: &str) -> bool {
        let Some(Shown { text: old, offset, answer }) = &self.shown else { return false };
        let (end, rest) = (offset + answer.text.len(), offset + answer.replaces);
        text.len() + answer.replaces == old.len() + answer.text.len()
            && text.get(..*offset) == old.get(..*offset)
            && text.get(*offset..end) == Some(answer.text.as_str())
            && text.get(end..) == old.get(rest..)
    }

    /// All or a part of what is shown was accepted.
    pub fn accepted(&mut self, now: Instant) {
        self.pace.accepted(now);
    }

    /// The suggestion that is shown was rejected: it is not shown there again.
    pub fn rejected(&mut self, text: &str, now: Instant) {
        self.pace.rejected(now);
        let Some(shown) = self.shown.take() else { return };
        // By itself, since those that were rejected before have followed the text already.
        let mut new = Rejected::default();
        new.reject(&shown.text, &[shown.hunk()]);
        if let Some(change) = between(&shown.text, text) {
            new.change(&shown.text, text, &change);
        }
        self.rejected.append(new);
    }

    /// True if suggestions wait longer because the user rejected some.
    pub fn is_backing_off(&self, now: Instant) -> bool {
        self.pace.is_backing_off(now)
    }
}

impl Shown {
    fn hunk(&self) -> Hunk {
        Hunk::new(self.offset..self.offset + self.answer.replaces, self.answer.text.clone())
    }
}

impl Run {
    /// True if the answer may begin with what was typed since: all of it at the place that was asked for, and none of
    /// it other than what has come of the answer.
    fn may_answer(&self, text: &str, cursor: Option<usize>) -> bool {
        let (old, at) = (&*self.ask.text, self.ask.offset);
        let Some(typed) = text.len().checked_sub(old.len()) else { return false };
        let is_behind = cursor.is_none_or(|cursor| cursor == at + typed);
        let is_there = text.get(..at) == old.get(..at) && text.get(at + typed..) == old.get(at..);
        let Some(typed) = text.get(at..at + typed).filter(|_| is_behind && is_there) else { return false };
        self.partial.starts_with(typed) || typed.starts_with(&*self.partial)
    }
}

/// True if a change is what one key makes.
fn is_key(change: &Splice) -> bool {
    change.range.is_empty() && change.text.chars().nth(1).is_none()
}

/// True behind a character after which something new begins.
fn is_trigger(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default();
    before.trim_end_matches(' ').ends_with(['.', '(', '{', '[', ':', '=', ',', '\n'])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "fn main() {\n    let sum = \n}\n";
    const AT: usize = 26;

    fn ask(text: &str, offset: usize) -> Ask {
        Ask { text: text.into(), offset, is_invoked: false, is_ahead: false }
    }

    fn answer(text: &str) -> Answer {
        Answer { text: text.to_owned(), replaces: 0 }
    }

    /// The text with something typed at the place.
    fn typed(more: &str) -> String {
        format!("{}{more}{}", &TEXT[..AT], &TEXT[AT..])
    }

    fn change(engine: &mut Engine, old: &str, new: &str, now: Instant) {
        engine.changed(old, new, &between(old, new).unwrap(), now);
    }

    /// An engine that has asked a model for the place.
    fn running(now: Instant) -> (Engine, Cache, RunId, Instant) {
        let (mut engine, mut cache) = (Engine::new("a.rs"), Cache::default());
        assert_eq!(engine.ask(ask(TEXT, AT), &mut cache, now), Step::Wait);
        let due = engine.due().unwrap();
        let (run, _) = engine.start(due).unwrap();
        (engine, cache, run, due)
    }

    #[test]
    fn a_model_is_asked_after_a_pause_and_at_once_for_who_asks() {
        let (now, mut cache) = (Instant::now(), Cache::default());
        let mut engine = Engine::new("a.rs");
        engine.ask(ask(TEXT, AT), &mut cache, now);
        assert!(engine.due().unwrap() > now && engine.start(now).is_none());
        engine.ask(Ask { is_invoked: true, ..ask(TEXT, AT) }, &mut cache, now);
        assert_eq!(engine.due(), Some(now));
        assert!(engine.start(now).is_some() && engine.due().is_none() && engine.running().is_some());
    }

    #[test]
    fn a_key_that_the_answer_may_begin_with_joins_the_request_and_another_ends_it() {
        let (mut engine, mut cache, run, now) = running(Instant::now());
        engine.piece(run, "numb", TEXT);
        change(&mut engine, TEXT, &typed("nu"), now);
        assert_eq!(engine.ask(ask(&typed("nu"), AT + 2), &mut cache, now), Step::Join(run));
        assert!(engine.answered(run, &ask(TEXT, AT), Ok(answer("numbers.len();")), &mut cache, now));
        let found = engine.find(&ask(&typed("nu"), AT + 2), &mut cache, now);
        assert_eq!(found, Some(Step::Have(answer("mbers.len();"))));

        for other in ["x", "nx", "numx"] {
            let (mut engine, _, run, now) = running(Instant::now());
            engine.piece(run, "numb", TEXT);
            change(&mut engine, TEXT, &typed(other), now);
            assert_eq!(engine.running(), None, "{other}");
        }
        let (mut engine, _, _, now) = running(Instant::now());
        change(&mut engine, TEXT, &TEXT.replace("main", "run"), now);
        assert!(!engine.is_busy(), "a change elsewhere");
    }

    #[test]
    fn a_piece_that_is_not_what_was_typed_ends_the_request() {
        let (mut engine, _, run, now) = running(Instant::now());
        change(&mut engine, TEXT, &typed("x"), now);
        assert_eq!(engine.running(), Some(run), "nothing has come yet");
        engine.piece(run, "numbers", &typed("x"));
        assert_eq!(engine.running(), None);
    }

    #[test]
    fn an_answer_that_comes_too_late_is_kept_for_the_place() {
        let (mut engine, mut cache, run, now) = running(Instant::now());
        change(&mut engine, TEXT, &typed("x"), now);
        engine.stop();
        assert!(!engine.answered(run, &ask(TEXT, AT), Ok(answer("numbers")), &mut cache, now), "nobody waits");
        change(&mut engine, &typed("x"), TEXT, now);
        assert_eq!(engine.find(&ask(TEXT, AT), &mut cache, now), Some(Step::Have(answer("numbers"))));
    }

    #[test]
    fn who_rejects_or_undoes_a_suggestion_does_not_see_it_there_again() {
        for is_undone in [false, true] {
            let (mut engine, mut cache, run, now) = running(Instant::now());
            engine.answered(run, &ask(TEXT, AT), Ok(answer("numbers.len();")), &mut cache, now);
            engine.show(TEXT.into(), AT, answer("numbers.len();"));
            if is_undone {
                let accepted = typed("numbers.len();");
                assert!(engine.is_accepted_by(&between(TEXT, &accepted).unwrap(), &accepted));
                change(&mut engine, TEXT, &accepted, now);
                change(&mut engine, &accepted, TEXT, now);
            } else {
                engine.rejected(TEXT, now);
                assert!(engine.is_backing_off(now));
            }
            let step = engine.ask(ask(TEXT, AT), &mut cache, now);
            assert_eq!(step, Step::Silent(Rule::Rejected), "undone: {is_undone}");
            let by_hand = Ask { is_invoked: true, ..ask(TEXT, AT) };
            assert_eq!(engine.ask(by_hand, &mut cache, now), Step::Have(answer("numbers.len();")));
        }
    }

    #[test]
    fn who_types_a_suggestion_to_its_end_has_not_accepted_it() {
        let (now, mut cache) = (Instant::now(), Cache::default());
        let mut engine = Engine::new("a.rs");
        engine.show(TEXT.into(), AT, answer("ab"));
        change(&mut engine, TEXT, &typed("a"), now);
        change(&mut engine, &typed("a"), &typed("ab"), now);
        change(&mut engine, &typed("ab"), TEXT, now);
        cache.insert("a.rs", TEXT, AT, answer("ab"), now);
        assert_eq!(engine.find(&ask(TEXT, AT), &mut cache, now), Some(Step::Have(answer("ab"))));
    }

    #[test]
    fn a_rejection_does_not_move_the_ones_before_it() {
        let (now, mut cache) = (Instant::now(), Cache::default());
        let mut engine = Engine::new("a.rs");
        cache.insert("a.rs", TEXT, AT, answer("first"), now);
        engine.show(TEXT.into(), AT, answer("first"));
        engine.rejected(TEXT, now);
        engine.show(TEXT.into(), 3, answer("second"));
        let longer = TEXT.replacen("main", "sec_main", 1);
        change(&mut engine, TEXT, &longer, now);
        engine.rejected(&longer, now);
        change(&mut engine, &longer, TEXT, now);
        assert_eq!(engine.find(&ask(TEXT, AT), &mut cache, now), Some(Step::Silent(Rule::Rejected)));
    }

    #[test]
    fn a_request_for_a_text_that_is_not_there_yet_outlives_the_keys_that_lead_to_it() {
        let (now, mut cache) = (Instant::now(), Cache::default());
        let mut engine = Engine::new("a.rs");
        let ahead = Ask { is_ahead: true, ..ask(&typed("numbers"), AT + 7) };
        engine.ask(ahead.clone(), &mut cache, now);
        let (run, _) = engine.start(now + Duration::from_secs(1)).unwrap();
        change(&mut engine, TEXT, &typed("n"), now);
        assert_eq!(engine.ask(ahead, &mut cache, now), Step::Join(run));
    }

    /// A step of somebody who types.
    #[derive(Clone, Debug)]
    enum Key {
        Type(char),
        Delete,
        Elsewhere(usize, char),
    }

    fn key() -> impl Strategy<Value = Key> {
        prop_oneof![
            4 => prop::sample::select(vec!['n', 'u', 'm', 'x', '(', 'é', '\n']).prop_map(Key::Type),
            1 => Just(Key::Delete),
            1 => (0_usize..20, prop::sample::select(vec!['n', 'z'])).prop_map(|(at, c)| Key::Elsewhere(at, c)),
        ]
    }

    proptest! {
        /// Whatever is typed between a request and its answer: accepting what is found then gives the text that typing
        /// on from the answer would give, or nothing is found.
        #[test]
        fn what_is_found_is_the_rest_of_the_answer_or_nothing(
            keys in prop::collection::vec(key(), 0..12), early in 0_usize..12, oracle in "(numn|nu\\(m|né\nx)[a-z]{0,8}",
        ) {
            let (mut engine, mut cache, run, now) = running(Instant::now());
            let (mut text, mut cursor, mut is_elsewhere) = (TEXT.to_owned(), AT, false);
            for (index, key) in keys.iter().enumerate() {
                if index == early {
                    engine.answered(run, &ask(TEXT, AT), Ok(answer(&oracle)), &mut cache, now);
                }
                let mut new = text.clone();
                match key {
                    Key::Type(c) => {
                        new.insert(cursor, *c);
                        cursor += c.len_utf8();
                    }
                    Key::Delete => {
                        let Some((at, c)) = text[..cursor].char_indices().next_back() else { continue };
                        new.replace_range(at..at + c.len_utf8(), "");
                        cursor = at;
                    }
                    Key::Elsewhere(at, c) => {
                        is_elsewhere = true;
                        new.insert(*at, *c);
                        cursor += usize::from(*at <= cursor);
                    }
                }
                change(&mut engine, &text, &new, now);
                text = new;
            }
            engine.answered(run, &ask(TEXT, AT), Ok(answer(&oracle)), &mut cache, now);
            if let Some(Step::Have(found)) = engine.find(&ask(&text, cursor), &mut cache, now) {
                let accepted = format!("{}{}{}", &text[..cursor], found.text, &text[cursor + found.replaces..]);
                let whole = typed(&oracle);
                prop_assert!(is_elsewhere || accepted == whole, "{accepted:?} is not {whole:?}");
                prop_assert!(accepted.contains(&oracle), "{accepted:?} is without {oracle:?}");
            }
        }
    }
}
