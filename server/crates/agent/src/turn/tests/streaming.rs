use ports::model::ModelErrorKind::{Incomplete, Rejected};
use ports::model::{Message, Stop, UserBlock};
use ports::session::Answer;
use ports::tool::Access;
use protocol::Event;
use protocol::content::Usage;
use protocol::session::Mode;
use protocol::turn::StopReason;
use serde_json::{Value, json};

use super::fakes::{Does, Left, Script, Stage, answer, breaking, call, calling, ending, says, started};
use crate::turn::Limits;

#[tokio::test(start_paused = true)]
async fn the_diff_of_an_edit_is_shown_while_its_call_arrives_and_taken_back_with_a_broken_answer() {
    let pieces = ["{\"old\":\"x\",\"new\":\"on", "e\\ntw", "o\"", "}"];
    let left = Stage::new(vec![calling("edit", &pieces, Some(Incomplete)), answer(vec![says("no")])]).play().await;
    assert_eq!(left.story(), ["%+on", "%e\n+tw", "%o", "discarded", "retry 1", "~no", "completed", "EndTurn"]);
    assert_eq!(left.requests[0].messages, left.requests[1].messages);

    let whole = answer(vec![call("a", "edit", json!({ "new": "one" }))]);
    let left = Stage::new(vec![whole, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["%+one", "completed", "+a", "-a", "~done", "completed", "EndTurn"]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_edit_or_may_not_shows_no_diff() {
    let calls = || vec![call("a", "look", json!({ "new": "x" })), call("b", "edit", json!({ "new": "x" }))];
    let stage = Stage::new(vec![answer(calls()), answer(vec![says("done")])]);
    let left = stage.tool("look", Access::Read, Does::Says).play().await;
    assert_eq!(left.story().iter().filter(|line| line.starts_with('%')).count(), 1);
    let mut stage = Stage::new(vec![answer(calls()), answer(vec![says("done")])]);
    stage.mode = Mode::Ask;
    assert!(!stage.play().await.story().iter().any(|line| line.starts_with('%')));
}

/// The input of an edit of a text that is not there, in pieces.
const DOOMED: [&str; 4] = ["{\"old\":\"go", "ne\",", "\"new\":\"x\"", "}"];

fn stopping(scripts: Vec<Script>) -> Stage {
    let mut stage = Stage::new(scripts);
    stage.stop_early = true;
    stage
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_cannot_be_made_stops_the_answer_and_the_model_is_told_why() {
    let used = Usage { input: 100, output: 3, ..Usage::default() };
    let doomed = calling("edit", &DOOMED, None).using(used);
    let left = stopping(vec![doomed, answer(vec![says("I see")])]).play().await;
    assert_eq!(left.story(), ["noted", "~I ", "~see", "completed", "EndTurn"], "nothing more of it is even shown");
    let (first, second) = (&left.requests[0].messages, &left.requests[1].messages);
    assert_eq!(second[..first.len()], first[..]);
    let Some(Message::User(blocks)) = second.last().map(|last| &**last) else { panic!("{second:?}") };
    let [UserBlock::Text(note)] = blocks.as_slice() else { panic!("{blocks:?}") };
    assert!(note.contains("within its call of `edit`") && note.contains("a.rs has no `gone`"), "{note}");
    assert_eq!(left.outcome.usage.output, 3 + 10, "what it had used is paid for");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_stopped_twice_in_a_row_at_most_and_only_by_the_setting() {
    let doomed = || answer(vec![says("I try."), call("a", "edit", json!({ "old": "gone" }))]);
    let done = || answer(vec![says("done")]);
    let left = stopping(vec![doomed(), doomed(), doomed(), done()]).play().await;
    let stopped = ["~I ", "~try.", "discarded", "noted"];
    let through = ["~I ", "~try.", "completed", "+a", "-a", "~done", "completed", "EndTurn"];
    assert_eq!(left.story(), [&stopped[..], &stopped, &through].concat());
    let left = Stage::new(vec![doomed(), done()]).play().await;
    assert_eq!(left.story(), through);
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_another_call_may_mend_is_not_judged_nor_one_that_the_tool_cannot_judge() {
    let two = answer(vec![call("a", "edit", json!({ "old": "there" })), call("b", "edit", json!({ "old": "gone" }))]);
    let left = stopping(vec![two, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["completed", "+a", "-a", "+b", "-b", "~done", "completed", "EndTurn"]);
    let behind = answer(vec![call("a", "look", json!({ "old": "gone" })), call("b", "edit", json!({ "old": "gone" }))]);
    let left = stopping(vec![behind, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story()[0], "noted", "looking changes nothing");
    let panics = answer(vec![call("a", "edit", json!({ "old": "panic" }))]);
    let left = stopping(vec![panics, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story()[..3], ["completed", "+a", "-a"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_rules_close_or_ask_for_is_not_looked_at_before_they_have_judged() {
    let stage = || {
        let doomed = answer(vec![call("a", "edit", json!({ "old": "gone" }))]);
        stopping(vec![doomed, answer(vec![says("done")])])
    };
    for rule in ["Edit", "Edit(a.rs)", "Read(a.rs)", "Read"] {
        let left = stage().denies(rule).play().await;
        assert_eq!(left.story()[..3], ["completed", "+a", "-a"], "{rule}");
        let asked = stage().asks(rule).answers([Answer::Nobody]).play().await;
        assert_eq!(asked.story()[..3], ["completed", "+a", "-a"], "{rule}");
    }
}

/// A stage with the tools that files in an answer become calls of.
fn writing(scripts: Vec<Script>) -> Stage {
    let stage = Stage::new(scripts).tool("edit_create_file", Access::Edit, Does::Plans);
    stage.tool("edit_insert_at_line", Access::Edit, Does::Plans)
}

fn block(path: &str, lines: &str) -> String {
    format!("<azimuth_file mark=\"k\" path=\"{path}\">\n{lines}</azimuth_file>\n")
}

/// The input with which a call was made.
fn input(left: &Left, id: &str) -> Value {
    let input = left.log.iter().find_map(|event| match event {
        Event::ToolCallStarted { tool_call_id, input, .. } if tool_call_id.as_str() == id => Some(input.clone()),
        _ => None,
    });
    input.unwrap_or_else(|| panic!("{id} was not made: {:?}", left.story()))
}

fn notices(left: &Left) -> Vec<&str> {
    let notices = left.log.iter().filter_map(|event| match event {
        Event::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notices.collect()
}

#[tokio::test(start_paused = true)]
async fn a_file_in_an_answers_text_is_shown_as_a_diff_and_made_a_call_in_its_place() {
    let text = format!("Here:\n{}It is there.", block("a", "one two\n"));
    let left = writing(vec![answer(vec![says(&text)]), answer(vec![says("done")])]).play().await;
    let id = "file-t1-m1-1";
    let calls = [format!("+{id}"), format!("-{id}")];
    let story = [
        "~Here:\n",
        "%+one ",
        "%two\n",
        "~It ",
        "~is ",
        "~there.",
        "completed",
        &calls[0],
        &calls[1],
        "~done",
        "completed",
        "EndTurn",
    ];
    assert_eq!(left.story(), story);
    assert_eq!(input(&left, id), json!({ "path": "a", "content": "one two\n" }));
    let said = left.messages().into_iter().find_map(|message| match &*message {
        Message::Assistant(blocks) => Some(blocks.clone()),
        _ => None,
    });
    let made = call(id, "edit_create_file", json!({ "path": "a", "content": "one two\n" }));
    assert_eq!(said.unwrap(), [says("Here:\n"), made, says("It is there.")]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_the_length_of_answers_cuts_goes_on_in_the_next_one() {
    let cut = |text: &str| ending(vec![says(text)], Stop::MaxTokens);
    let scripts = vec![
        cut("<azimuth_file mark=\"k\" path=\"a\">\none\nthe second\nthr"),
        cut("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\nthe second\nthree\nfour\nfi"),
        answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\nfive\n</azimuth_file>")]),
        answer(vec![says("done")]),
    ];
    let left = writing(scripts).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert_eq!(input(&left, "file-t1-m1-1-cut1"), json!({ "path": "a", "content": "one\nthe second\n" }));
    let second = json!({ "path": "a", "line": 3, "behind": "one\nthe second\n", "content": "three\nfour\n" });
    assert_eq!(input(&left, "file-t1-m2-1-cut2"), second);
    let third = json!({ "path": "a", "line": 5, "behind": "three\nfour\n", "content": "five\n" });
    assert_eq!(input(&left, "file-t1-m3-1"), third);
    let (told, _) = left.result("file-t1-m2-1-cut2");
    assert!(told.contains("4 lines of it have come") && told.contains("three\nfour\nGo on now"), "{told}");
    for pair in left.requests.windows(2) {
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages[..], "the prefix stays");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_a_broken_connection_cuts_goes_on_and_what_never_came_is_asked_for_again() {
    let broken = breaking("I write it.\n<azimuth_file mark=\"k\" path=\"a\">\none\ntw", Incomplete);
    let rest = answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\ntwo\n</azimuth_file>")]);
    let left = writing(vec![broken, rest, answer(vec![says("done")])]).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert!(!left.story().contains(&"discarded".to_owned()), "{:?}", left.story());
    assert_eq!(input(&left, "file-t1-m1-1-cut1")["content"], "one\n");
    assert_eq!(input(&left, "file-t1-m2-1"), json!({ "path": "a", "line": 2, "behind": "one\n", "content": "two\n" }));
    assert!(notices(&left)[0].contains("The files that came are kept"), "{:?}", notices(&left));

    let nothing = breaking("<azimuth_file mark=\"k\" path=\"a\">\non", Incomplete);
    let left = writing(vec![nothing, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["%+on", "discarded", "retry 1", "~done", "completed", "EndTurn"]);
    let refused = breaking("<azimuth_file mark=\"k\" path=\"a\">\none\n", Rejected);
    assert_eq!(writing(vec![refused]).play().await.outcome.stop, StopReason::Error);
}

/// Returns the notes that the model was told.
fn notes(left: &Left) -> Vec<&str> {
    let notes = left.log.iter().filter_map(|event| match event {
        Event::Noted { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notes.collect()
}

#[tokio::test(start_paused = true)]
async fn answers_that_break_off_in_a_row_are_waited_for_and_given_up_as_others_are() {
    let broken = |round: usize| {
        let mode = if round == 0 { "" } else { " mode=\"append\"" };
        breaking(&format!("<azimuth_file mark=\"k\" path=\"a\"{mode}>\nline {round}\n"), Incomplete)
    };
    let left = writing((0..4).map(broken).collect()).play().await;
    assert_eq!(left.outcome.stop, StopReason::Error);
    assert_eq!(left.story().iter().filter(|line| line.starts_with("retry")).count(), 3);
    assert_eq!(left.proposed.len(), 4, "what came is kept");
    assert!(
        notices(&left).contains(&"a is not whole: the model's answers ended within it. What came of it is proposed.")
    );
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_used_that_broke_off_is_paid_for_once() {
    let used = Usage { input: 100, output: 3, ..Usage::default() };
    let broken = breaking("<azimuth_file mark=\"k\" path=\"a\">\none\n", Incomplete).using(used);
    let rest = answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\ntwo\n</azimuth_file>")]);
    let left = writing(vec![broken, rest, answer(vec![says("done")])]).play().await;
    assert_eq!(left.outcome.usage.output, 3 + 10 + 10);
    let completed = left.log.iter().find_map(|event| match event {
        Event::MessageCompleted { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(completed, Some(used));
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_of_files_that_were_lost_with_its_answer() {
    let text = format!("Here:\n{}It is there.", block("a", "one\n"));
    let refused = writing(vec![breaking(&text, Rejected)]).play().await;
    assert!(refused.proposed.is_empty() && notes(&refused)[0].contains("were not taken"), "{:?}", notes(&refused));
    let said = refused.messages();
    assert!(matches!(said.last().map(|last| &**last), Some(Message::User(_))), "it stands behind the answer: {said:?}");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_of_a_block_that_is_nearly_one_and_writes_it_again() {
    let fenced = format!("```rust\n{}```\n", block("a", "one\n"));
    let scripts =
        vec![answer(vec![says(&fenced)]), answer(vec![says(&block("a", "one\n"))]), answer(vec![says("done")])];
    let left = writing(scripts).play().await;
    assert_eq!((left.proposed.len(), notes(&left).len()), (1, 1));
    let always = (0..3).map(|_| answer(vec![says(&fenced)])).collect();
    let left = writing(always).play().await;
    assert_eq!((left.outcome.stop, notes(&left).len(), left.unplayed), (StopReason::EndTurn, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_behind_a_file_that_is_open_is_made_after_it_and_not_at_all_if_it_may_be_cut() {
    let content = || vec![says("<azimuth_file mark=\"k\" path=\"a\">\none\ntw"), call("b", "edit", json!({}))];
    let left = writing(vec![answer(content()), answer(vec![says("done")])]).play().await;
    let calls: Vec<_> = left.story().into_iter().filter(|line| line.starts_with('+')).collect();
    assert_eq!(calls, ["+file-t1-m1-1-cut1", "+b"]);
    let left = writing(vec![ending(content(), Stop::MaxTokens), answer(vec![says("done")])]).play().await;
    assert!(left.result("b").1 && left.result("b").0.contains("may be cut off"));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_was_whole_but_for_its_tag_is_ended_by_an_empty_rest() {
    let cut = ending(vec![says("<azimuth_file mark=\"k\" path=\"a\">\none\n")], Stop::MaxTokens);
    let rest = answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\n</azimuth_file>")]);
    let left = writing(vec![cut, rest, answer(vec![says("done")])]).play().await;
    assert_eq!(left.result("file-t1-m2-1"), ("a is whole as it is: nothing was missing.", false));
    assert_eq!((left.proposed.len(), notices(&left)), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_never_becomes_whole_is_proposed_as_it_is_and_the_user_is_told() {
    let cut = |mode: &str, line: usize| {
        ending(vec![says(&format!("<azimuth_file mark=\"k\" path=\"a\"{mode}>\n{line}\n"))], Stop::MaxTokens)
    };
    let append = " mode=\"append\"";
    let scripts = vec![cut("", 1), cut(append, 2), cut(append, 3), cut(append, 4), answer(vec![says("done")])];
    let left = writing(scripts).play().await;
    assert_eq!(left.proposed.len(), 4);
    assert_eq!(notices(&left), ["a is not whole: the model's answers ended within it. What came of it is proposed."]);
    assert!(left.result("file-t1-m4-1-cut4").0.contains("4 lines of it have come, and it is not whole"));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_before_a_file_is_whole_says_so_once() {
    let cut = || ending(vec![says("<azimuth_file mark=\"k\" path=\"a\">\none\n")], Stop::MaxTokens);
    let left = writing(vec![cut(), answer(vec![says("I would rather not.")])]).play().await;
    let not_whole = ["a is not whole: the model's answers ended within it. What came of it is proposed."];
    assert_eq!((left.outcome.stop, notices(&left)), (StopReason::EndTurn, not_whole.to_vec()));
    let rest = || answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\ntwo\n</azimuth_file>")]);
    let whole = writing(vec![cut(), rest(), answer(vec![says("done")])]).play().await;
    assert_eq!(notices(&whole), [""; 0]);
    let mut later = writing(vec![answer(vec![says("hello")])]);
    later.events = left.log;
    later.events.push(started("t2", "hello"));
    assert_eq!(notices(&later.play().await).len(), 1, "not again in the next turn");
}

#[tokio::test(start_paused = true)]
async fn a_file_is_an_edit_like_any_other_but_may_be_long_and_about_anything() {
    let mut asking = writing(vec![answer(vec![says(&block("a", "x\n"))]), answer(vec![says("I see")])]);
    asking.mode = Mode::Ask;
    let left = asking.play().await;
    assert!(left.result("file-t1-m1-1").1 && left.proposed.is_empty());
    assert!(!left.story().iter().any(|line| line.starts_with('%')), "what may not be done is not shown");
    assert_eq!(left.outcome.refused.len(), 1);
    let denied = writing(vec![answer(vec![says(&block("a", "x\n"))]), answer(vec![says("I see")])]);
    assert!(denied.denies("Edit").play().await.proposed.is_empty());

    let leak = concat!("commentary to=", "functions.edit code\n");
    let long = leak.repeat(Limits::default().input_bytes / 20);
    let left = writing(vec![answer(vec![says(&block("a", &long))]), answer(vec![says("done")])]).play().await;
    assert_eq!((left.result("file-t1-m1-1").1, left.proposed.len()), (false, 1));
    let most = "x\n".repeat(2 << 20);
    let left = writing(vec![answer(vec![says(&block("a", &most))]), answer(vec![says("done")])]).play().await;
    assert!(left.result("file-t1-m1-1").1 && left.proposed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_killed_within_a_file_leaves_a_log_to_go_on_with() {
    let broken = breaking("I write it.\n<azimuth_file mark=\"k\" path=\"a\">\none\ntw", Incomplete);
    let rest = || answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\ntwo\n</azimuth_file>")]);
    let whole = writing(vec![broken, rest(), answer(vec![says("done")])]).play().await;
    let mut joined = 0;
    for length in 1..whole.log.len() {
        let mut stage = writing(vec![rest(), answer(vec![says("done")])]);
        stage.events = whole.log[..length].to_vec();
        stage.events.push(started("t2", ""));
        let left = stage.play().await;
        assert_eq!(left.outcome.stop, StopReason::EndTurn, "after {length} events");
        // Whatever of it is known, its rest is only put behind what was proposed.
        let made = left.result_of(|id| id.starts_with("file-t2-m1-1"));
        let has_beginning = left.log.iter().any(|event| matches!(event, Event::ToolCallEnded { result, .. } if result.tool_call_id.as_str() == "file-t1-m1-1-cut1" && !result.is_error));
        assert!(has_beginning || made.1, "after {length} events: {}", made.0);
        joined += usize::from(!made.1);
    }
    assert!(joined > 2, "{joined}");
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_had_slipped_is_read_as_it_was_applied_where_the_user_wants_that() {
    let wrote = json!({ "old": "slip", "meant": { "old": "exact" } });
    for canonical in [false, true] {
        let calls = vec![says("I edit."), call("a", "look", json!({ "meant": 1 })), call("b", "edit", wrote.clone())];
        let more = answer(vec![call("c", "look", json!({}))]);
        let mut stage = Stage::new(vec![answer(calls), more, answer(vec![says("done")])]);
        stage.canonical_edits = canonical;
        let left = stage.play().await;
        let now = if canonical { &wrote["meant"] } else { &wrote };
        let first = if canonical { json!(1) } else { json!({ "meant": 1 }) };
        let read = Message::Assistant(vec![says("I edit."), call("a", "look", first), call("b", "edit", now.clone())]);
        let at = left.requests[0].messages.len();
        assert_eq!(*left.requests[1].messages[at], read);
        assert_eq!(left.requests[2].messages[..=at + 1], left.requests[1].messages[..=at + 1], "and it stays so");
        assert_eq!(*left.messages()[at], read, "the log alone tells it");
        let said = left.log.iter().find_map(|event| match event {
            Event::MessageCompleted { content, .. } => content.last().cloned(),
            _ => None,
        });
        assert_eq!(said, Some(call("b", "edit", wrote.clone())), "what it wrote is kept");
    }
}
