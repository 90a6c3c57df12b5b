//! Searches in what was said in a thousand sessions, and what it costs to keep that in the index.

use std::time::{Duration, Instant};

use ports::found::{PromptFilter, TextFilter};
use ports::store::Store;
use protocol::session::{Mode, Purpose};
use protocol::{AssistantBlock, Event, MessageId, PromptBlock, SessionId, TurnId};
use store::SqliteStore;

/// The sessions, and the prompts of each, which are answered.
const SESSIONS: usize = 1_000;
const PROMPTS: usize = 20;
/// The words of an answer.
const WORDS: usize = 120;
/// How often each search is measured.
const TIMES: usize = 21;

pub(crate) fn run() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path()).expect("a store");
    let mut words = Vocabulary(7);
    let mut appending = Duration::ZERO;
    for at in 0..SESSIONS {
        let session = SessionId::new(format!("{at:06x}"));
        store.create(&session, &[format!("file:///project-{}", at % 10)], None, Purpose::Chat).expect("a session");
        for turn in 0..PROMPTS {
            let events = vec![(at as u64, prompt(&words.text(20))), (at as u64, answer(turn, &words.text(WORDS)))];
            let began = Instant::now();
            store.append(&session, events, false).expect("appended");
            appending += began.elapsed();
        }
    }
    let appended = appending.as_secs_f64() * 1e3 / (SESSIONS * PROMPTS) as f64;
    println!("{:<44} {appended:>10.2} ms", "a prompt and its answer stored and indexed");
    let queries = [
        ("search: a rare word", "word4321"),
        ("search: common words", "word1 word2 word3"),
        ("search: what is nowhere", "nowhere to be found"),
        ("search: one character that is nowhere", "編"),
    ];
    for (name, query) in queries {
        let filter = TextFilter { query: query.into(), folders: None, limit: 50 };
        report(name, || drop(store.search(&filter).expect("found")));
    }
    let filter = PromptFilter { limit: 100, ..PromptFilter::default() };
    report("the last prompts", || drop(store.prompts(&filter).expect("prompts")));
    let filter = PromptFilter { query: "word77 word8".into(), ..filter };
    report("prompts with words", || drop(store.prompts(&filter).expect("prompts")));
}

fn report(name: &str, mut work: impl FnMut()) {
    let mut times: Vec<_> = (0..TIMES)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    times.sort();
    let [median, worst] = [times[TIMES / 2], times[TIMES - 1]].map(|time| time.as_secs_f64() * 1e3);
    println!("{name:<44} {median:>10.1} ms   (aim 50; slowest {worst:.1})");
}

/// Words of which some are much more common than others, as they are in languages.
struct Vocabulary(u64);

impl Vocabulary {
    fn text(&mut self, words: usize) -> String {
        let mut word = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let part = (self.0 >> 33) as f64 / f64::from(1_u32 << 31);
            format!("word{}", (9_000_f64.powf(part)) as u32)
        };
        (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
    }
}

fn prompt(text: &str) -> Event {
    Event::TurnStarted {
        turn_id: TurnId::from("t"),
        prompt: vec![PromptBlock::Text { text: text.into() }],
        context: String::new(),
        model: "m".into(),
        mode: Mode::Agent,
        thinks: None,
        compacts: false,
    }
}

fn answer(turn: usize, text: &str) -> Event {
    Event::MessageCompleted {
        turn_id: TurnId::from("t"),
        message_id: MessageId::new(format!("m{turn}")),
        content: vec![AssistantBlock::Text { text: text.into(), vendor: None }],
        usage: Default::default(),
        cost: None,
        timing: None,
        opening: Default::default(),
    }
}
