use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind};
use protocol::session::Mode;

use agent::commands::{self, Commands};

use super::waiting::Kept;
use super::*;
use crate::session::ids::Ids;
use crate::session::tests::caller;

fn text(text: &str) -> Vec<PromptBlock> {
    vec![PromptBlock::Text { text: text.to_owned() }]
}

fn steer(words: &str) -> Interjection {
    Interjection::Steer { prompt: text(words), context: String::new() }
}

fn start(words: &str) -> (Start, oneshot::Receiver<Result<TurnStartResult, Error>>) {
    let (reply, answer) = oneshot::channel();
    let params = TurnStartParams { session_id: "s".into(), prompt: text(words), mode: None };
    ((caller(), Said::Prompt(params), reply), answer)
}

/// Prompts of which a turn runs in a task, made of what waited as `q`.
fn running() -> Prompts {
    let mut prompts = Prompts::new();
    prompts.begin("t".into(), caller(), text("go"));
    prompts.made_of(Sent { queue_id: Some("q".into()), prompt: text("go"), mode: None });
    prompts.runs_as(tokio::spawn(std::future::pending::<()>()).abort_handle());
    prompts
}

fn ids(prompts: &Prompts) -> Vec<String> {
    prompts.waiting().iter().map(ToString::to_string).collect()
}

#[test]
fn what_waits_starts_in_order_once_nothing_runs_and_somebody_is_there() {
    let mut prompts = Prompts::new();
    prompts.take_up([("q1".into(), text("one"))].into());
    assert!(prompts.take_next().is_none(), "nobody is there after a restart");
    let queued = prompts.add("q2".into(), text("two"), caller());
    assert!(matches!(queued, Event::PromptQueued { .. }));
    let (_, first, _) = prompts.take_next().unwrap();
    assert_eq!((first.as_str(), ids(&prompts)), ("q1", vec!["q2".to_owned()]));
    let cancel = prompts.begin_command("c".into(), caller());
    assert!(prompts.take_next().is_none(), "a command runs");
    assert!(prompts.cancel_command() && cancel.is_cancelled());
    prompts.end_command(&"another".into());
    assert!(prompts.are_on());
    prompts.end_command(&"c".into());
    assert_eq!(prompts.take_next().unwrap().1.as_str(), "q2");
}

#[test]
fn nothing_starts_by_itself_for_a_client_that_is_gone() {
    let (mut prompts, client) = (Prompts::new(), caller());
    prompts.add("q".into(), text("one"), client.clone());
    prompts.gone(client.id);
    assert!(prompts.take_next().is_none());
}

#[tokio::test]
async fn a_second_prompt_is_refused_but_for_the_moment_in_which_the_turn_has_said_its_end() {
    let mut prompts = running();
    let (second, refused) = start("second");
    assert!(prompts.while_running(second, false).is_none());
    assert_eq!(refused.await.unwrap().unwrap_err().code, ErrorCode::TurnRunning);
    let (third, mut waits) = start("third");
    assert!(prompts.while_running(third, true).is_none());
    assert!(waits.try_recv().is_err(), "it waits for the task to end");
    assert!(prompts.end(&"another".into()).is_none());
    let ended = prompts.end(&"t".into()).unwrap();
    assert_eq!(ended.next.len(), 1);
    assert!(prompts.while_running(start("fourth").0, false).is_some(), "nothing runs");
}

#[tokio::test]
async fn only_the_turn_that_is_meant_is_spoken_to_or_cancelled() {
    let mut prompts = running();
    assert_eq!(prompts.expect(&"u".into()).unwrap_err().code, ErrorCode::WrongTurn);
    assert!(prompts.expect(&"t".into()).is_ok());
    assert_eq!(prompts.cancel(Some(&"u".into())).unwrap_err().code, ErrorCode::WrongTurn);
    assert!(prompts.goes_on(&"t".into()));
    assert!(prompts.cancel(None).unwrap());
    assert!(!prompts.goes_on(&"t".into()) && prompts.turn().is_some());
    assert!(!Prompts::new().cancel(Some(&"u".into())).unwrap());
}

#[tokio::test]
async fn a_turn_that_was_broken_off_proposes_nothing_more_not_even_while_the_next_one_runs() {
    // Proposals are taken from the running turn alone.
    let mut prompts = running();
    let task = prompts.interrupt().unwrap().task.unwrap();
    assert_eq!(prompts.turn(), None);
    tokio::task::yield_now().await;
    assert!(task.is_finished(), "its task is ended too");
    prompts.begin("u".into(), caller(), text("go on"));
    assert_eq!(prompts.turn(), Some(&"u".into()));
}

#[tokio::test]
async fn what_is_said_to_a_turn_is_heard_or_waits_before_all_else() {
    let mut prompts = running();
    assert!(prompts.steered(&"t".into(), "q1".into(), steer("one")));
    let (events, heard) = prompts.take_interjections();
    assert!(matches!(events[..], [Event::Steered { .. }, Event::PromptDequeued { .. }]), "{events:?}");
    assert_eq!(heard.len(), 1);
    prompts.add("q2".into(), text("two"), caller());
    prompts.steered(&"t".into(), "q3".into(), steer("three"));
    prompts.steered(&"t".into(), "q4".into(), steer("!four"));
    assert!(prompts.interrupt().is_some());
    assert!(prompts.wait_again() && !prompts.wait_again());
    assert_eq!(ids(&prompts), ["q3", "q4", "q2"]);
    // A prompt that was meant for the model is no command of the user's own.
    assert!(commands::user_command(&prompts.queue[1].1).is_none());
    assert!(!prompts.steered(&"t".into(), "q5".into(), steer("five")), "it runs no more");
    assert!(prompts.remove("q5".into()).is_ok() && prompts.remove("q5".into()).is_err());
}

#[tokio::test]
async fn a_prompt_whose_turn_never_began_keeps_its_place_and_loses_its_commands() {
    let (mut prompts, mut made) = (Prompts::new(), Ids::new());
    prompts.add("q2".into(), text("two"), caller());
    let sent = |words: &str| Sent { queue_id: Some("q1".into()), prompt: text(words), mode: Some(Mode::Plan) };
    let kept = prompts.keep_waiting(sent("one"), Commands::built_in(), &mut made, true);
    assert!(kept.first.is_none() && kept.mode.is_none() && kept.then.is_empty(), "it waits as it did: {kept:?}");
    assert_eq!(ids(&prompts), ["q1", "q2"]);

    prompts.take_next().unwrap();
    let mut broken_off = sent("/model other");
    broken_off.prompt.extend(text("mend it"));
    let Kept { first, mode, then } = prompts.keep_waiting(broken_off, Commands::built_in(), &mut made, true);
    assert!(matches!(first, Some(Event::PromptDequeued { queue_id }) if queue_id.as_str() == "q1"));
    assert_eq!(mode, Some(Mode::Plan));
    let [
        Event::Notice { text: told, .. },
        Event::TitleChanged { .. },
        Event::PromptQueued { prompt, .. },
        Event::PromptDequeued { .. },
        Event::PromptQueued { .. },
    ] = then.as_slice()
    else {
        panic!("{then:?}")
    };
    assert!(told.contains("`/model other`"), "{told}");
    assert_eq!(*prompt, text("mend it"));
    assert_eq!((prompts.waiting().len(), ids(&prompts).last().map(String::as_str)), (2, Some("q2")));
}

#[test]
fn what_was_meant_for_another_conversation_waits_in_none() {
    let mut prompts = Prompts::new();
    let sent = Sent { queue_id: None, prompt: text("/new\nbegin there"), mode: None };
    let Kept { then, .. } = prompts.keep_waiting(sent, Commands::built_in(), &mut Ids::new(), true);
    let [Event::Notice { text: told, .. }] = then.as_slice() else { panic!("{then:?}") };
    assert!(told.contains("begin there"), "{told}");
    assert!(prompts.waiting().is_empty());
}

#[tokio::test]
async fn the_prompt_that_a_turn_was_made_of_waits_no_more_once_it_has_begun() {
    let mut prompts = running();
    assert!(matches!(prompts.dequeue_begun(), Some(Event::PromptDequeued { queue_id }) if queue_id.as_str() == "q"));
    assert!(prompts.dequeue_begun().is_none());
    assert!(prompts.interrupt().unwrap().sent.is_none(), "there is nothing to wait again");
}

#[test]
fn an_answer_given_before_counts_once_and_for_the_same_question() {
    let question = |call: &str| PermissionRequest {
        permission_id: "q".into(),
        tool_call_id: Some(call.into()),
        about: PermissionAbout::ToolCall,
        title: String::new(),
        detail: String::new(),
        reason: String::new(),
        form: None,
        options: vec![PermissionOption {
            option_id: "yes".into(),
            name: "Yes".into(),
            kind: PermissionOptionKind::AllowOnce,
        }],
    };
    let yes = Answer::Selected { option_id: "yes".into(), message: None, answers: Vec::new() };
    let mut prompts = Prompts::new();
    prompts.given = Some(GivenAnswer { call: "c".into(), answer: yes.clone() });
    assert!(prompts.given_answer(&question("d")).is_none());
    assert_eq!(prompts.given_answer(&question("c")), Some(yes));
    assert!(prompts.given_answer(&question("c")).is_none());
    let answer = Answer::Selected { option_id: "no longer".into(), message: None, answers: Vec::new() };
    prompts.given = Some(GivenAnswer { call: "c".into(), answer });
    assert!(prompts.given_answer(&question("c")).is_none(), "the question is another by now");
}
