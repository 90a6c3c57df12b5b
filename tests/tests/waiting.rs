//! Commands that wait for input, and a terminal that the user takes over.

use protocol::terminal::{Certainty, Typist};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::json;

use crate::programs::{Desk, nowhere};

#[tokio::test]
async fn the_agent_is_told_what_a_command_asks_and_hears_of_its_end() {
    let desk = Desk::new().await;
    let heard = desk.run("echo begun; printf 'Really? [y/N] '; read answer; echo \"so: $answer\"").await;
    assert!(heard.starts_with("begun\nReally? [y/N] \n[waits for input after "), "{heard}");
    assert!(heard.contains("It asks: Really? [y/N]") && heard.contains("shell_write"), "{heard}");
    // The shell is not free, and says so.
    let heard = desk.run("echo second").await;
    assert!(heard.contains("busy with `echo begun; printf"), "{heard}");
    desk.type_in("yes\r").await;
    assert_eq!(desk.command_ended().await, Some(0));
    desk.shows("so: yes").await;
    desk.client.prompt(&desk.session, "What now?").await;
    desk.client.until_end(&desk.session, StopReason::EndTurn).await;
    let asked = desk.model.asked().pop().unwrap().body().to_string();
    assert!(asked.contains("which waited for input, has ended with exit code 0"), "{asked}");
    assert!(asked.contains("so: yes"), "{asked}");
    desk.finish().await;
}

#[tokio::test]
async fn views_see_that_a_command_waits_and_who_typed_what() {
    let desk = Desk::new().await;
    desk.begin("printf 'name? '; read name; echo \"hello $name\"; sleep 1; echo end").await;
    let terminal = desk.until("waiting", |terminal| terminal.waiting.is_some()).await;
    assert_eq!(terminal.terminal_id, desk.terminal);
    let running = terminal.running.unwrap();
    assert!(running.command.starts_with("printf 'name? '") && running.started_at > 0, "{running:?}");
    let waiting = terminal.waiting.unwrap();
    assert_eq!((waiting.certainty, waiting.prompt.as_str(), waiting.hidden), (Certainty::Certain, "name? ", false));
    desk.type_in("Ada\r").await;
    let typed = |event: &Event| matches!(event, Event::TerminalInput { .. });
    let events = desk.client.until(&desk.session, "what was typed", typed).await;
    let Some(Event::TerminalInput { tool_call_id, by, text, hidden, .. }) = events.last() else { panic!() };
    assert_eq!((*by, text.as_str(), *hidden), (Typist::User, "Ada", false));
    assert_eq!(tool_call_id.as_ref(), Some(&running.tool_call_id));
    desk.turn_ended().await;
    desk.finish().await;
}

#[tokio::test]
async fn a_password_is_asked_of_the_user_and_is_found_nowhere() {
    let commands = [
        "read -s -p 'Password: ' secret; echo; echo \"length ${#secret}\"",
        "python3 -c 'import getpass; print(\"length\", len(getpass.getpass(\"Password: \")))'",
    ];
    for command in commands {
        let desk = Desk::new().await;
        desk.begin(command).await;
        let is_told = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("a password") && text.contains("“Password:”"));
        desk.client.until(&desk.session, "a word to the user", is_told).await;
        desk.type_in("open-sesame-17\r").await;
        let typed = |event: &Event| matches!(event, Event::TerminalInput { .. });
        let events = desk.client.until(&desk.session, "what was typed", typed).await;
        let Some(Event::TerminalInput { text, hidden, .. }) = events.last() else { panic!() };
        assert_eq!((text.as_str(), *hidden), ("", true));
        let heard = desk.turn_ended().await;
        assert!(heard.contains("length 14") && heard.contains("[exit code 0"), "{heard}");
        assert!(!desk.shows("length 14").await.contains("sesame"));
        nowhere(&desk, "sesame");
        desk.finish().await;
    }
}

#[tokio::test]
async fn a_cancelled_turn_stops_the_command_that_waits() {
    let desk = Desk::new().await;
    desk.begin("read -s secret").await;
    desk.until_it_waits().await;
    desk.client.call::<methods::TurnCancel>(json!({ "sessionId": desk.session })).await;
    desk.client.until_end(&desk.session, StopReason::Cancelled).await;
    assert!(desk.run("echo on").await.starts_with("on\n"));
    desk.finish().await;
}

#[tokio::test]
async fn what_the_user_does_with_the_terminal_holds_for_the_agent_which_hears_of_it() {
    let desk = Desk::new().await;
    std::fs::create_dir(desk.project.path("sub")).unwrap();
    desk.take(true).await;
    let terminal = desk.until("taken", |terminal| terminal.taken).await;
    assert_eq!(terminal.running, None);
    desk.shows("$ ").await;
    desk.type_in("cd sub; export WORD=kept\r").await;
    let typed = |event: &Event| {
        matches!(event, Event::TerminalInput { text, by: Typist::User, hidden: false, .. }
            if text == "cd sub; export WORD=kept")
    };
    desk.client.until(&desk.session, "what was typed", typed).await;
    // The agent's command waits until the terminal is its again.
    desk.begin("basename \"$PWD\"; echo $WORD").await;
    let started = |event: &Event| matches!(event, Event::ToolCallStarted { .. });
    desk.client.until(&desk.session, "the call", started).await;
    desk.take(false).await;
    // It was judged for another folder than the shell is in now.
    let heard = desk.turn_ended().await;
    assert!(heard.contains("the shell's folder has changed") && heard.contains("/sub now"), "{heard}");
    let asked = desk.model.asked().pop().unwrap().body().to_string();
    assert!(asked.contains("has handed it back. There they ran `cd sub; export WORD=kept`"), "{asked}");
    assert!(desk.run("basename \"$PWD\"; echo $WORD").await.starts_with("sub\nkept\n"));
    desk.finish().await;
}

#[tokio::test]
async fn a_command_that_is_taken_over_has_all_the_time_and_goes_on_with_the_user() {
    let desk = Desk::new().await;
    desk.begin("echo begun; sleep 1; read answer; echo \"got $answer\"").await;
    desk.shows("begun").await;
    desk.take(true).await;
    desk.until("taken and waiting", |terminal| terminal.taken && terminal.waiting.is_some()).await;
    desk.type_in("mine\r").await;
    desk.shows("got mine").await;
    let heard = desk.turn_ended().await;
    assert!(heard.contains("got mine\n[exit code 0"), "{heard}");
    // Nothing runs, so there is a prompt.
    desk.shows("azimuth:").await;
    desk.type_in("exit\r").await;
    desk.until("handed back", |terminal| !terminal.taken).await;
    assert!(desk.run("echo $answer").await.starts_with("mine\n"));
    desk.finish().await;
}
