//! The main job over the wire, for each vendor's format: a prompt, an answer that streams, a command that is asked for
//! and allowed, an edit of three hunks to a document with unsaved changes, of which the user takes two.

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::ApplyOutcome;
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, SessionId, methods};
use serde_json::{Value, json};

const ON_DISK: &str = "fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    3\n}\n";
/// The user has typed a comment and not saved it.
const UNSAVED: &str = "// mine: \u{1F980}\nfn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    3\n}\n";
const RESULT: &str = "// mine: \u{1F980}\nfn first() -> u8 {\n    10\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    30\n}\n";

#[tokio::test]
async fn with_anthropics_messages() {
    story(Wire::Anthropic, Profile::panel()).await;
}

#[tokio::test]
async fn with_openais_responses() {
    story(Wire::Responses, Profile::panel()).await;
}

#[tokio::test]
async fn with_chat_completions() {
    story(Wire::Chat, Profile::panel()).await;
}

#[tokio::test]
async fn with_googles_gemini() {
    story(Wire::Gemini, Profile::panel()).await;
}

#[tokio::test]
async fn with_a_client_that_counts_bytes_and_tells_of_changes_late() {
    let profile = Profile::panel().with("/general/positionEncodings", json!(["utf-8"]));
    story(Wire::Anthropic, Profile { timing: harness::client::Timing::AfterAnswer, ..profile }).await;
}

async fn story(wire: Wire, profile: Profile) {
    let edit = |old: &str, new: &str| json!({ "path": "lib.rs", "old_text": old, "new_text": new });
    let gate = Gate::default();
    let model = ModelServer::start([
        Answer::nothing()
            .thinking("What is there?")
            .text("I look ")
            .text("first.")
            .call("read_file", json!({ "path": "lib.rs" })),
        Answer::calls("shell_run", json!({ "command": "printf 'out%s\\n' put > made.txt; cat made.txt" })),
        Answer::nothing()
            .call("edit_replace_exact", edit("    1\n", "    10\n"))
            .call("edit_replace_exact", edit("    2\n", "    20\n"))
            .call("edit_replace_exact", edit("    3\n", "    30\n")),
        Answer::nothing().text("All ").wait(&gate).text("done."),
        Answer::says("I see."),
    ])
    .await;
    let (setup, project) = (Setup::model(&model, wire), Project::new([("lib.rs", ON_DISK)]));
    let client = Client::start(&setup, &project, profile).await;
    let uri = project.uri("lib.rs");
    client.open(&uri);
    client.replace(&uri, "fn first", "// mine: \u{1F980}\nfn first");
    assert_eq!(client.text(&uri), UNSAVED);

    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    client.prompt(&session, "Make the numbers ten times larger.").await;

    // The command is asked for, with what "always" would cover, and allowed once.
    let (events, question) = client.until_asked(&session).await;
    assert_eq!(streamed(&events), "I look first.");
    assert!(events.iter().any(|event| matches!(event, Event::ThinkingDelta { .. })), "{events:?}");
    assert!(question.detail.contains("made.txt"), "{question:?}");
    client.answer(&session, &question, "allow_once").await;
    // It would see the file without what the user has typed, and the user is asked about that too.
    let (_, question) = client.until_asked(&session).await;
    assert_eq!(question.detail, "lib.rs");
    client.choose(&session, &question, "run_without").await;

    // The edits are proposals: the turn goes on, and nothing is changed.
    let events = client
        .until(
            &session,
            "the streamed end",
            |event| matches!(event, Event::MessageDelta { text, .. } if text == "All "),
        )
        .await;
    assert!(events.iter().any(|event| matches!(event, Event::TerminalEnded { exit_code: Some(0), .. })), "{events:?}");
    assert!(client.terminal_until(&terminal, "output").await.contains("output"));
    assert_eq!(client.text(&uri), UNSAVED);
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;

    // One and three are taken, two is not.
    let proposal = listed(&client, &session).await;
    let [one, two, three] = proposal.hunks.as_slice() else { panic!("not three hunks: {proposal:?}") };
    assert_eq!((one.old_text.as_str(), one.new_text.as_str()), ("    1\n", "    10\n"));
    assert_eq!(one.start_line, 2, "below the user's own line");
    decide(&client, &session, &proposal, "accept", &json!([one.hunk_id, three.hunk_id])).await;
    let events = client.until(&session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    let Some(Event::EditApplied { outcome, .. }) = events.last() else { unreachable!() };
    assert_eq!(*outcome, ApplyOutcome::Verified);
    decide(&client, &session, &proposal, "reject", &json!([two.hunk_id])).await;
    client
        .until(&session, "all decided", |event| match event {
            Event::ProposalChanged { proposal } => {
                let states: Vec<_> = proposal.hunks.iter().map(|hunk| hunk.state).collect();
                states == [HunkState::Accepted, HunkState::Rejected, HunkState::Accepted]
            }
            _ => false,
        })
        .await;
    assert_eq!(client.text(&uri), RESULT);
    assert_eq!(project.read("lib.rs"), ON_DISK, "the document is the editor's to save");
    assert_eq!(project.read("made.txt"), "output\n");

    // The model saw the unsaved text and the command's output, and hears what became of its edits.
    let asked = model.asked();
    assert!(asked[1].last_results()[0].contains("// mine: \u{1F980}"), "{:?}", asked[1].last_results());
    assert!(asked[2].last_results()[0].contains("output"), "{:?}", asked[2].last_results());
    client.prompt(&session, "What do you say?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let heard = model.asked_times(5).await.user_text();
    assert!(heard.contains("reject"), "{heard}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_document_with_its_own_line_ends_and_without_a_last_one_keeps_them() {
    let edit = json!({ "path": "a.txt", "old_text": "three", "new_text": "3\nfour" });
    let model = ModelServer::start([Answer::calls("edit_replace_exact", edit), Answer::says("Done.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "one\r\ntwo\r\nthree")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let uri = project.uri("a.txt");
    client.open(&uri);
    let session = client.new_session().await;
    client.prompt(&session, "Go on.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let proposal = listed(&client, &session).await;
    decide(&client, &session, &proposal, "accept", &Value::Null).await;
    client.until(&session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    client.until(&session, "the note of it", |event| matches!(event, Event::Noted { .. })).await;
    assert_eq!(client.text(&uri), "one\r\ntwo\r\n3\r\nfour");
    assert_eq!(client.finish().await, 0);
}

/// The text that streamed; the whole message that followed must say the same.
fn streamed(events: &[Event]) -> String {
    let pieces = events.iter().filter_map(|event| match event {
        Event::MessageDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let whole = events.iter().find_map(|event| match event {
        Event::MessageCompleted { content, .. } => Some(content.iter().filter_map(|block| match block {
            AssistantBlock::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })),
        _ => None,
    });
    let pieces: String = pieces.collect();
    assert_eq!(whole.expect("a whole message").collect::<String>(), pieces);
    pieces
}

async fn listed(client: &Client, session: &SessionId) -> Proposal {
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
    // The file that the command made is listed too.
    let proposed: Vec<_> = listed.into_iter().filter(|proposal| !proposal.landed).collect();
    let [proposal] = proposed.as_slice() else { panic!("not one proposal: {proposed:?}") };
    proposal.clone()
}

async fn decide(client: &Client, session: &SessionId, proposal: &Proposal, decision: &str, hunks: &Value) {
    let mut target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
    if !hunks.is_null() {
        target["hunkIds"] = hunks.clone();
    }
    let params = json!({ "sessionId": session, "decision": decision, "targets": [target] });
    client.call::<methods::ReviewDecide>(params).await;
}
