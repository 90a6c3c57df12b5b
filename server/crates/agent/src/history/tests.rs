use ports::model::LevelAt;
use ports::tool::INTERRUPTED;
use proptest::prelude::*;
use protocol::compaction::{Compaction, CompactionReason};
use protocol::content::{Opening, Position, Usage};
use protocol::model::{SwitchReason, ThinkingLevel};
use protocol::session::Mode;
use protocol::turn::StopReason;
use protocol::{PromptBlock, Range, TurnId};
use serde_json::json;

use super::*;

/// Returns the reason for which a vendor would refuse a conversation.
pub(crate) fn problem(messages: &[Arc<Message>]) -> Option<String> {
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| messages.get(at)).map(|before| &**before);
        let problem = match &**message {
            Message::User(blocks) => {
                let blank = |block: &UserBlock| matches!(block, UserBlock::Text(text) if text.trim().is_empty());
                (blocks.is_empty() || blocks.iter().any(blank)).then_some("says nothing")
            }
            Message::Assistant(blocks) => {
                let blank = |block: &AssistantBlock| matches!(block, AssistantBlock::Text { text, .. } if text.trim().is_empty());
                let thinking = blocks.iter().all(|block| matches!(block, AssistantBlock::Thinking { .. }));
                let answered = matches!(messages.get(at + 1).map(|next| &**next), Some(Message::ToolResults(_)));
                if blocks.iter().any(blank) || thinking {
                    Some("says nothing")
                } else {
                    (!calls_of(message).is_empty() && !answered).then_some("has calls without results")
                }
            }
            Message::ToolResults(results) => {
                let given: Vec<_> = results.iter().map(|result| result.tool_call_id.clone()).collect();
                let asked = before.map(calls_of).unwrap_or_default();
                let unique: HashSet<_> = given.iter().collect();
                (given != asked || unique.len() != given.len()).then_some("is not what the calls before it ask for")
            }
        };
        if let Some(problem) = problem {
            return Some(format!("message {at} {problem}: {messages:#?}"));
        }
    }
    None
}

fn calls_of(message: &Message) -> Vec<ToolCallId> {
    let Message::Assistant(blocks) = message else { return Vec::new() };
    let id = |block: &AssistantBlock| match block {
        AssistantBlock::ToolCall { id, .. } => Some(id.clone()),
        AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => None,
    };
    blocks.iter().filter_map(id).collect()
}

fn text(text: &str) -> PromptBlock {
    PromptBlock::Text { text: text.to_owned() }
}

fn started(context: &str, prompt: Vec<PromptBlock>) -> Event {
    let (model, mode) = ("m".to_owned(), Mode::Agent);
    Event::TurnStarted {
        turn_id: TurnId::from("t"),
        prompt,
        context: context.to_owned(),
        model,
        mode,
        thinks: None,
        compacts: false,
    }
}

fn steered(said: &str) -> Event {
    Event::Steered { turn_id: TurnId::from("t"), prompt: vec![text(said)], context: String::new() }
}

fn noted(said: &str) -> Event {
    Event::Noted { turn_id: TurnId::from("t"), text: said.to_owned() }
}

fn delta(id: &str, said: &str) -> Event {
    Event::MessageDelta { message_id: MessageId::from(id), text: said.to_owned() }
}

fn discarded(id: &str) -> Event {
    Event::MessageDiscarded { message_id: MessageId::from(id) }
}

fn call(id: &str) -> AssistantBlock {
    AssistantBlock::tool_call(ToolCallId::from(id), "look", json!({ "at": id }))
}

fn says(said: &str) -> AssistantBlock {
    AssistantBlock::text(said)
}

fn completed(id: &str, content: Vec<AssistantBlock>) -> Event {
    let (turn_id, message_id) = (TurnId::from("t"), MessageId::from(id));
    Event::MessageCompleted {
        turn_id,
        message_id,
        content,
        usage: Usage::default(),
        cost: None,
        timing: None,
        opening: Opening::default(),
    }
}

fn result(id: &str, said: &str) -> ToolResult {
    ToolResult { tool_call_id: ToolCallId::from(id), text: said.to_owned(), is_error: false }
}

fn ended(id: &str, said: &str) -> Event {
    let (turn_id, result) = (TurnId::from("t"), result(id, said));
    Event::ToolCallEnded {
        turn_id,
        result,
        summary: String::new(),
        locations: vec![],
        duration_ms: 1,
        rewritten_input: None,
    }
}

fn trimmed(ids: &[&str]) -> Event {
    let tool_call_ids = ids.iter().map(|id| ToolCallId::from(*id)).collect();
    Event::ContextTrimmed { turn_id: TurnId::from("t"), tool_call_ids, kept: vec![] }
}

fn compacted(id: &str, messages: u32) -> Event {
    let compaction = Compaction {
        compaction_id: id.into(),
        reason: CompactionReason::Full,
        messages,
        facts: format!("facts {id}"),
        written: Some("notes".to_owned()),
        focus: None,
        before: 2,
        after: 1,
    };
    Event::Compacted { turn_id: "t".into(), compaction: Box::new(compaction) }
}

fn corrected(id: &str, written: &str) -> Event {
    Event::CompactionCorrected { compaction_id: id.into(), written: written.to_owned() }
}

fn taken_back(id: &str) -> Event {
    Event::CompactionTakenBack { compaction_id: id.into() }
}

fn over() -> Event {
    let (turn_id, usage) = (TurnId::from("t"), Usage::default());
    Event::TurnEnded { turn_id, stop_reason: StopReason::EndTurn, error: None, usage, cost: None, new_errors: None }
}

fn ran(id: &str, in_context: bool) -> Event {
    Event::UserCommandStarted { tool_call_id: ToolCallId::from(id), command: "make".to_owned(), in_context }
}

fn ran_out(id: &str, said: &str) -> Event {
    let (tool_call_id, text) = (ToolCallId::from(id), said.to_owned());
    Event::UserCommandEnded { tool_call_id, text, exit_code: Some(2), duration_ms: 1 }
}

fn user(texts: &[&str]) -> Message {
    Message::User(texts.iter().map(|text| UserBlock::Text((*text).to_owned())).collect())
}

fn messages(events: &[Event]) -> Vec<Message> {
    let messages = History::from_events(events).messages();
    assert_eq!(problem(&messages), None);
    messages.iter().map(|message| Message::clone(message)).collect()
}

#[test]
fn a_turn_with_tools_reads_as_it_happened() {
    let events = [
        started("The file main.rs is open.", vec![text("fix it")]),
        delta("m1", "I look"),
        completed("m1", vec![says("I look"), call("a"), call("b")]),
        ended("b", "second"),
        ended("a", "first"),
        completed("m2", vec![says("done")]),
        over(),
    ];
    assert_eq!(
        messages(&events),
        [
            user(&["The file main.rs is open.", "fix it"]),
            Message::Assistant(vec![says("I look"), call("a"), call("b")]),
            Message::ToolResults(vec![result("a", "first"), result("b", "second")]),
            Message::Assistant(vec![says("done")]),
        ]
    );
}

#[test]
fn what_is_said_meanwhile_follows_the_results() {
    let events = [
        started("", vec![text("go")]),
        completed("m1", vec![call("a"), call("b")]),
        ended("a", "1"),
        steered("stop that"),
        noted("hunk 1 was rejected"),
        ended("b", "2"),
    ];
    let expected = [
        user(&["go"]),
        Message::Assistant(vec![call("a"), call("b")]),
        Message::ToolResults(vec![result("a", "1"), result("b", "2")]),
        user(&["stop that"]),
        user(&["<azimuth_note>\nhunk 1 was rejected\n</azimuth_note>"]),
    ];
    assert_eq!(messages(&events), expected);
    let early = messages(&events[..5]);
    assert_eq!(early[3..], expected[3..]);
}

#[test]
fn a_call_whose_result_never_came_is_said_to_be_interrupted() {
    let before = [started("", vec![text("go")]), completed("m1", vec![call("a"), call("b")]), ended("a", "1")];
    let Message::ToolResults(results) = &messages(&before)[2] else { panic!() };
    assert_eq!(results[0].text, "1");
    assert_eq!((results[1].text.as_str(), results[1].is_error), (NOT_BEGUN, true));
    let history = History::from_events(&before);
    assert_eq!(history.open_calls().iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(!history.is_settled());

    let after =
        [before.as_slice(), &[over(), started("", vec![text("what happened?")]), ended("b", "too late")]].concat();
    let all = messages(&after);
    let Message::ToolResults(results) = &all[2] else { panic!() };
    assert_eq!(results[1].text, NOT_BEGUN);
    assert_eq!(all[3], user(&["what happened?"]));

    let begun = Event::ToolCallStarted {
        turn_id: "t".into(),
        tool_call_id: "b".into(),
        name: "look".into(),
        kind: protocol::content::ToolKind::Read,
        title: String::new(),
        input: serde_json::json!({}),
        locations: vec![],
    };
    let Message::ToolResults(results) = &messages(&[before.as_slice(), &[begun]].concat())[2] else { panic!() };
    assert_eq!(results[1].text, INTERRUPTED);
}

#[test]
fn a_turn_that_is_gone_on_with_leaves_open_calls_open() {
    let mut history = History::from_events(&[
        started("", vec![text("go")]),
        completed("m1", vec![call("a")]),
        over(),
        started("now in b.rs", vec![]),
    ]);
    assert_eq!(history.open_calls().len(), 1);
    history.apply(&ended("a", "late but wanted"));
    let all: Vec<_> = history.messages().iter().map(|message| Message::clone(message)).collect();
    assert_eq!(all[2..], [Message::ToolResults(vec![result("a", "late but wanted")]), user(&["now in b.rs"])]);
}

#[test]
fn going_on_adds_a_word_only_where_there_is_nothing_to_answer() {
    let asked = [started("", vec![text("go")]), over(), started("", vec![])];
    assert_eq!(messages(&asked), [user(&["go"])]);
    let answered = [started("", vec![text("go")]), completed("m1", vec![says("done")]), over(), started("", vec![])];
    assert_eq!(messages(&answered)[2], user(&["Go on from where you stopped."]));
    assert_eq!(messages(&[started("", vec![text(" \n")])]), [user(&["Go on from where you stopped."])]);
}

#[test]
fn text_that_was_streamed_and_never_completed_stays_said() {
    let cut = [started("", vec![text("go")]), delta("m1", "I wa"), delta("m1", "nted to")];
    assert_eq!(messages(&cut), [user(&["go"])], "as long as it streams it is not settled");
    let crashed = [cut.as_slice(), &[started("", vec![text("and?")])]].concat();
    assert_eq!(messages(&crashed)[1..], [Message::Assistant(vec![says("I wanted to")]), user(&["and?"])]);
    let ended = [cut.as_slice(), &[steered("wait"), over()]].concat();
    assert_eq!(messages(&ended)[1..], [Message::Assistant(vec![says("I wanted to")]), user(&["wait"])]);
}

#[test]
fn a_discarded_message_was_never_said() {
    let events = [
        started("", vec![text("go")]),
        delta("m1", "I wa"),
        discarded("m1"),
        delta("m2", "I"),
        discarded("other"),
        completed("m2", vec![says("I do")]),
    ];
    assert_eq!(messages(&events)[1..], [Message::Assistant(vec![says("I do")])]);
}

#[test]
fn trimmed_results_become_a_note_and_nothing_else_changes() {
    let long = "x".repeat(1000);
    let before = [
        started("", vec![text("go")]),
        completed("m1", vec![call("a"), call("b")]),
        ended("a", &long),
        ended("b", "short"),
        completed("m2", vec![call("c")]),
        ended("c", &long),
    ];
    let history = History::from_events(&before);
    assert_eq!(history.trimmable(1).iter().map(|result| result.tool_call_id.as_str()).collect::<Vec<_>>(), ["a"]);
    let after = messages(&[before.as_slice(), &[trimmed(&["a", "b", "unknown"])]].concat());
    let mut expected = messages(&before);
    expected[2] = Message::ToolResults(vec![
        result("a", &format!("{TRIMMED}; call the tool again if this is still needed]")),
        result("b", "short"),
    ]);
    assert_eq!(after, expected);
}

#[test]
fn empty_messages_never_appear() {
    let thinking = AssistantBlock::Thinking { text: "hm".to_owned(), vendor: None };
    let events = [
        started("", vec![text("go")]),
        completed("m1", vec![]),
        completed("m2", vec![says(" \n"), thinking.clone()]),
        noted("  "),
        completed("m3", vec![says(""), thinking.clone(), says("yes")]),
    ];
    assert_eq!(messages(&events), [user(&["go"]), Message::Assistant(vec![thinking, says("yes")])]);
}

#[test]
fn mentions_read_as_paths_with_lines_and_images_stand_in_their_place() {
    let position = |line, character| Position { line, character };
    let range = Range { start: position(9, 0), end: position(20, 0) };
    let uri = || "file:///a%20b/c.rs".to_owned();
    let prompt = vec![
        text("compare"),
        PromptBlock::File { uri: uri() },
        text("with "),
        PromptBlock::Range { uri: uri(), range },
        PromptBlock::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() },
        PromptBlock::Selection {
            uri: "untitled:1".to_owned(),
            range: Range { start: position(0, 0), end: position(0, 4) },
            text: "x".to_owned(),
        },
        text(", please"),
    ];
    let expected = Message::User(vec![
        UserBlock::Text("compare @/a b/c.rs with @/a b/c.rs:10-20".to_owned()),
        UserBlock::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() },
        UserBlock::Text("@untitled:1:1 (selected), please".to_owned()),
    ]);
    assert_eq!(messages(&[started("", prompt)]), [expected]);
}

#[test]
fn a_command_of_the_users_own_is_part_of_the_conversation_unless_it_is_kept_out() {
    let note = "<azimuth_note>\nThe user ran a command in the session's shell:\n$ make\nno rule\n[exit code 2]\n</azimuth_note>";
    assert_eq!(messages(&[ran("u", true), ran_out("u", "no rule\n")]), [user(&[note])]);
    assert_eq!(messages(&[ran("u", false), ran_out("u", "no rule\n")]), []);
    assert_eq!(messages(&[ran("u", true)]), [], "it has not come to its end");
}

#[test]
fn a_command_that_ends_while_a_turn_runs_is_said_to_it_or_after_it_and_once() {
    let begun = [started("", vec![text("go")]), ran("u", true), ran_out("u", "no rule")];
    let history = History::from_events(&begun);
    assert_eq!(history.messages().len(), 1, "the turn that is at work does not know of it");
    let untold = history.untold_commands().to_vec();
    let after = |more: &[Event]| messages(&[&begun, more].concat());
    let note = user(&[&format!("<azimuth_note>\n{}\n</azimuth_note>", untold[0])]);
    assert_eq!(after(&[over()]), [user(&["go"]), note.clone()]);
    assert_eq!(after(&[noted(&untold[0]), over()]), [user(&["go"]), note]);
}

/// Any event, sensible or not, with few ids so that they meet.
fn any_event() -> impl Strategy<Value = Event> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let said = || prop::sample::select(vec!["", " ", "x", "some more text"]);
    let block = prop_oneof![
        said().prop_map(says),
        said().prop_map(|text| AssistantBlock::Thinking { text: text.to_owned(), vendor: None }),
        id().prop_map(call),
    ];
    prop_oneof![
        (said(), prop::collection::vec(said().prop_map(text), 0..2))
            .prop_map(|(context, prompt)| started(context, prompt)),
        said().prop_map(steered),
        said().prop_map(noted),
        (id(), said()).prop_map(|(id, said)| delta(id, said)),
        (id(), prop::collection::vec(block, 0..4)).prop_map(|(id, content)| completed(id, content)),
        id().prop_map(discarded),
        (id(), said()).prop_map(|(id, said)| ended(id, said)),
        id().prop_map(|id| ended(id, &"long ".repeat(100))),
        prop::collection::vec(id(), 0..3).prop_map(|ids| trimmed(&ids)),
        (id(), 0..9_u32).prop_map(|(id, messages)| compacted(id, messages)),
        (id(), said()).prop_map(|(id, said)| corrected(id, said)),
        id().prop_map(taken_back),
        Just(over()),
        (id(), any::<bool>()).prop_map(|(id, in_context)| ran(id, in_context)),
        (id(), said()).prop_map(|(id, said)| ran_out(id, said)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_conversation_is_valid_after_any_event(events in prop::collection::vec(any_event(), 0..40)) {
        let mut history = History::default();
        for event in &events {
            history.apply(event);
            prop_assert_eq!(problem(&history.messages()), None);
        }
    }

    #[test]
    fn a_longer_log_only_adds_messages_between_settled_moments(events in prop::collection::vec(any_event(), 0..40)) {
        let mut history = History::default();
        let mut settled = Vec::new();
        for event in &events {
            history.apply(event);
            if event.changes_conversation() {
                settled.clear();
            }
            if history.is_settled() {
                let messages = history.messages();
                prop_assert!(messages.starts_with(&settled), "{:?} does not begin with {:?}", messages, settled);
                settled = messages;
            }
        }
    }

    #[test]
    fn a_hand_over_that_is_taken_back_leaves_the_conversation_as_it_was(
        events in prop::collection::vec(any_event(), 0..40),
        (messages, later) in (0..20_u32, 0..20_u32),
        after in prop::collection::vec(any_event(), 0..20),
    ) {
        // Going on depends on what there is to go on from.
        let is_other = |event: &&Event| match event {
            Event::TurnStarted { prompt, .. } => !words::is_empty(prompt),
            Event::Compacted { .. } | Event::CompactionCorrected { .. } | Event::CompactionTakenBack { .. } => false,
            _ => true,
        };
        let after: Vec<_> = after.iter().filter(is_other).cloned().collect();
        let own = [compacted("own", messages), compacted("later", later), corrected("own", "better")];
        let with = [&events[..], &own[..1], &after[..], &own[1..], &[taken_back("own")]].concat();
        let without = [&events[..], &after[..]].concat();
        let (with, without) = (History::from_events(&with), History::from_events(&without));
        prop_assert_eq!(with.messages(), without.messages());
        prop_assert_eq!(with.words(), without.words());
        prop_assert_eq!(with.before("m"), without.before("m"));
    }

    #[test]
    fn how_deltas_are_cut_makes_no_difference(events in prop::collection::vec(any_event(), 0..40)) {
        let mut merged: Vec<Event> = Vec::new();
        for event in &events {
            match (merged.last_mut(), event) {
                (
                    Some(Event::MessageDelta { message_id: last, text }),
                    Event::MessageDelta { message_id, text: more },
                ) if last == message_id => text.push_str(more),
                _ => merged.push(event.clone()),
            }
        }
        prop_assert_eq!(History::from_events(&merged).messages(), History::from_events(&events).messages());
    }
}

#[test]
fn a_hand_over_stands_for_the_beginning_and_can_be_corrected_and_taken_back() {
    let before = [
        started("context", vec![text("one")]),
        completed("m1", vec![says("1"), call("a")]),
        ended("a", &"long ".repeat(100)),
        completed("m2", vec![says("2")]),
        over(),
        started("", vec![text("two")]),
        completed("m3", vec![says("3"), call("b")]),
        ended("b", "B"),
    ];
    let all = messages(&before);
    let after = |more: &[Event]| messages(&[&before[..], more].concat());
    let handover = |written: &str| user(&[&handover::for_model("facts c", Some(written))]);
    assert_eq!(after(&[compacted("c", 4)]), [&[handover("notes")], &all[4..]].concat());
    // A call and its result stay together.
    assert_eq!(after(&[compacted("c", 2)])[1..], all[1..]);
    assert_eq!(after(&[compacted("c", 99)]), [handover("notes")]);
    assert_eq!(after(&[compacted("c", 4), corrected("c", "better")])[0], handover("better"));
    assert_eq!(after(&[compacted("c", 4), taken_back("c")]), all);
    assert_eq!(after(&[compacted("c", 4), trimmed(&["a"]), taken_back("c")])[2], {
        let trimmed = format!("{TRIMMED}; call the tool again if this is still needed]");
        Message::ToolResults(vec![result("a", &trimmed)])
    });

    let twice = History::from_events(&[&before[..], &[compacted("c", 4), compacted("d", 2)]].concat());
    assert_eq!(twice.handover(), Some(&"d".into()));
    let words: Vec<_> = twice.words().iter().map(|words| (words.at, &*words.text)).collect();
    assert_eq!(words, [(0, "one"), (0, "two")], "no word of the user is lost by a second one");
    let back = [&before[..], &[compacted("c", 4), compacted("d", 2), taken_back("c")]].concat();
    assert_eq!(messages(&back), all, "what stands on it goes with it");
}

fn started_at(model: &str, level: Option<ThinkingLevel>, prompt: Vec<PromptBlock>) -> Event {
    let (model, mode, thinks) = (model.to_owned(), Mode::Agent, Some(Thinks { level, in_place: true }));
    Event::TurnStarted {
        turn_id: TurnId::from("t"),
        prompt,
        context: String::new(),
        model,
        mode,
        thinks,
        compacts: false,
    }
}

/// A model goes on that is not the turn's own.
fn switched(model: &str, thinking: Option<ThinkingLevel>) -> Event {
    Event::TurnModelChanged {
        turn_id: TurnId::from("t"),
        model: model.to_owned(),
        thinking,
        instead_of: "m".to_owned(),
        reason: SwitchReason::Failed,
        until: None,
        error: None,
        account: None,
    }
}

#[test]
fn a_level_stands_before_what_its_turn_begins_with_and_never_moves() {
    let (high, low) = (Some(ThinkingLevel::High), Some(ThinkingLevel::Low));
    let at = |at: usize, level: Option<ThinkingLevel>| LevelAt { at, level };
    let mut history = History::default();
    let mut levels = Vec::new();
    for (event, new) in [
        // A log of an older version does not tell the level.
        (started("", vec![text("zero")]), vec![]),
        (started_at("m", high, vec![text("one")]), vec![("m", at(1, high))]),
        (completed("1", vec![call("a"), call("b")]), vec![]),
        (steered("and that"), vec![]),
        (ended("a", "A"), vec![]),
        // The results of the calls, and the user's words, come before what the other model is told.
        (switched("n", None), vec![("n", at(5, None))]),
        (ended("b", "B"), vec![]),
        (completed("2", vec![says("done")]), vec![]),
        (started_at("m", high, vec![text("two")]), vec![]),
        (trimmed(&["a", "b"]), vec![]),
        (started_at("m", low, vec![]), vec![("m", at(7, low))]),
        (completed("3", vec![says("so")]), vec![]),
        (started_at("m", None, vec![]), vec![("m", at(8, None))]),
        (started_at("n", high, vec![text("three")]), vec![("n", at(9, high))]),
    ] {
        history.apply(&event);
        levels.extend(new);
        for model in ["m", "n"] {
            let of_model = levels.iter().filter(|(name, _)| *name == model).map(|(_, level)| *level);
            assert_eq!(history.before(model).levels, of_model.collect::<Vec<_>>(), "{model} after {event:?}");
        }
    }
    assert!(matches!(&*history.messages()[5], Message::Assistant(blocks) if blocks == &[says("done")]));
}

#[test]
fn of_levels_at_one_place_the_last_counts() {
    let (high, low) = (Some(ThinkingLevel::High), Some(ThinkingLevel::Low));
    let at = |at: usize, level: Option<ThinkingLevel>| LevelAt { at, level };
    let mut history = History::default();
    let mut after = |events: &[Event]| {
        events.iter().for_each(|event| history.apply(event));
        history.before("n").levels
    };
    let answered = [started_at("n", high, vec![text("one")]), completed("1", vec![says("so")])];
    assert_eq!(after(&answered), [at(0, high)]);
    // The other model went on, and failed without an answer.
    assert_eq!(after(&[started_at("m", high, vec![text("two")]), switched("n", low)]), [at(0, high), at(3, low)]);
    assert_eq!(after(&[started_at("n", None, vec![text("three")])]), [at(0, high), at(3, None)]);
    assert_eq!(after(&[switched("n", high)]), [at(0, high), at(3, None), at(4, high)]);
    assert_eq!(after(&[started_at("n", None, vec![])]), [at(0, high), at(3, None)], "it changed back");
}

#[test]
fn the_last_answer_is_known_by_its_vendors_name_for_it() {
    let named = |name: &str| Opening { vendor: Some(json!({ "id": name })), missed: None };
    let usage = Usage { input: 1, ..Usage::default() };
    let answered = |opening: Opening, usage: Usage| Event::MessageCompleted {
        turn_id: TurnId::from("t"),
        message_id: MessageId::from("m"),
        content: vec![says("so")],
        usage,
        cost: None,
        opening,
        timing: None,
    };
    let paid = |opening: Opening| Event::RequestPaid { turn_id: TurnId::from("t"), usage, cost: None, opening };
    let mut history = History::default();
    for (event, name) in [
        (started("", vec![text("go")]), None),
        (answered(named("one"), usage), Some("one")),
        (answered(Opening::default(), Usage::default()), Some("one")),
        (paid(named("two")), Some("two")),
        (paid(Opening::default()), Some("two")),
        (answered(Opening::default(), usage), None),
    ] {
        history.apply(&event);
        assert_eq!(history.before("m").answer, name.map(|name| json!({ "id": name })), "after {event:?}");
    }
}

#[test]
fn a_conversation_of_ten_thousand_events_is_handed_over_and_taken_back_in_no_time() {
    let turn = |n: usize| {
        let call_id = format!("c{n}");
        [
            started("", vec![text(&format!("wish {n}"))]),
            completed(&format!("m{n}"), vec![says("I look"), call(&call_id)]),
            ended(&call_id, &"line of a file\n".repeat(40)),
            completed(&format!("n{n}"), vec![says("done")]),
            over(),
        ]
    };
    let events: Vec<_> = (0..2_000).flat_map(turn).collect();
    let mut history = History::from_events(&events);
    // The aim is 50 ms in a release build, for all of this.
    let began = std::time::Instant::now();
    let transcript = handover::transcript(&history.messages());
    assert!(transcript.len() > 1_000_000);
    let known = handover::Known {
        words: history.words(),
        room: 70_000,
        facts: &ports::facts::Facts::default(),
        errors: &[],
        grants: &[],
        transcript: None,
    };
    assert!(handover::facts(&known).contains("wish 1999"));
    let before = history.messages();
    history.apply(&compacted("c", 7_000));
    assert_eq!(history.messages().len(), 1_001);
    history.apply(&corrected("c", "better"));
    history.apply(&taken_back("c"));
    assert_eq!(history.messages(), before);
    assert!(began.elapsed() < std::time::Duration::from_millis(500), "{:?}", began.elapsed());
}
