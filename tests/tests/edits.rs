//! The forms in which models edit, as a user has them: from the tools a model is told of to the text on disk.

use std::cell::Cell;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::Severity;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// Starts an editor with a model that edits in a form.
async fn start(model: &ModelServer, settings: &str, project: &Project) -> (Setup, Client, SessionId) {
    start_as(Profile::panel(), model, settings, project).await
}

async fn start_as(
    profile: Profile,
    model: &ModelServer,
    settings: &str,
    project: &Project,
) -> (Setup, Client, SessionId) {
    let setup = Setup::empty();
    setup.configure(&(settings.to_owned() + &Setup::configuration(model, Wire::Anthropic)));
    let client = Client::start(&setup, project, profile).await;
    let session = client.new_session().await;
    (setup, client, session)
}

/// Has a turn, and accepts all that it proposes.
async fn turn(client: &Client, session: &SessionId) -> usize {
    client.prompt(session, "Change it.").await;
    client.until_end(session, StopReason::EndTurn).await;
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
    let targets: Vec<Value> =
        listed.iter().map(|it| json!({ "proposalId": it.proposal_id, "revision": it.revision })).collect();
    let hunks = listed.iter().map(|it| it.hunks.len()).sum();
    let params = json!({ "sessionId": session, "decision": "accept", "targets": targets });
    let decided = client.call::<methods::ReviewDecide>(params).await;
    // The files are written in any order, and of each the model is told.
    let told = Cell::new(0);
    let all_told = |event: &Event| {
        told.set(told.get() + usize::from(matches!(event, Event::Noted { text, .. } if text.contains("accepted"))));
        told.get() == decided.proposals.len()
    };
    client.until(session, "the accepted hunks", all_told).await;
    hunks
}

#[tokio::test]
async fn a_model_that_edits_by_tags_reads_lines_with_them_and_names_them() {
    let project = Project::new([("a.txt", "\u{FEFF}one\r\ntwo\r\nthree\r\n")]);
    let model = ModelServer::responding(|asked| {
        if !asked.tools().iter().any(|name| name == "edit_hashline")
            || asked.tools().iter().any(|name| name == "edit_replace_exact")
        {
            return Answer::says("I have other tools.");
        }
        match asked.last_results().first() {
            None => Answer::calls("read_file", json!({ "path": "a.txt" })),
            Some(read) if read.contains("|two") => {
                let line = read.lines().find(|line| line.contains("|two")).unwrap_or_default();
                let tag = line.split('|').next().unwrap_or_default().trim();
                Answer::calls("edit_hashline", json!({ "path": "a.txt", "edits": [{ "line": tag, "content": "TWO" }] }))
            }
            Some(_) => Answer::says("Done."),
        }
    })
    .await;
    let (_setup, client, session) = start(&model, "edit_mode = \"hashline\"\n", &project).await;
    assert_eq!(turn(&client, &session).await, 1);
    assert_eq!(project.read("a.txt"), "\u{FEFF}one\r\nTWO\r\nthree\r\n", "the mark and the line ends stay");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_edits_by_patches_has_the_tool_for_it_and_changes_several_files_with_one() {
    let project = Project::new([("src/a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n one\n-two\n+TWO\n three\n*** Add File: new.txt\n+new\n\
                 *** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d/c.txt\n@@\n-c\n+C\n*** End Patch\n";
    let model =
        ModelServer::start([Answer::calls("edit_apply_patch", json!({ "patch": patch })), Answer::says("Done.")]).await;
    let (_setup, client, session) = start(&model, "edit_mode = \"patch\"\n", &project).await;
    assert_eq!(turn(&client, &session).await, 5);
    let tools = model.asked_times(1).await.tools();
    assert!(!tools.iter().any(|name| name == "edit_replace_exact" || name == "edit_create_file"), "{tools:?}");
    assert_eq!(project.read("src/a.txt"), "one\nTWO\nthree\n");
    assert_eq!((project.read("new.txt"), project.read("d/c.txt")), ("new\n".into(), "C\n".into()));
    assert!(!project.path("b.txt").exists() && !project.path("c.txt").exists());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_a_model_is_not_told_of_can_be_called_by_name_and_be_shown_by_a_setting() {
    let project = Project::new([("a.txt", "one\n")]);
    let insert = json!({ "path": "a.txt", "mode": "insert_after", "anchor": "one", "content": "two" });
    let model = ModelServer::start([Answer::calls("edit_by_anchor", insert), Answer::says("Done.")]).await;
    let (_setup, client, session) = start(&model, "edit_tools = [\"edit_apply_batch\"]\n", &project).await;
    assert_eq!(turn(&client, &session).await, 1);
    let tools = model.asked_times(1).await.tools();
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    assert!(has("edit_apply_batch") && has("edit_replace_exact") && !has("edit_by_anchor"), "{tools:?}");
    assert_eq!(project.read("a.txt"), "one\ntwo\n");
    assert_eq!(client.finish().await, 0);
}

/// A session in which `old.txt` is open in an editor that deletes no files, so that its move, with a change, cannot be
/// finished.
async fn moving_what_is_open(settings: &str) -> (Setup, ModelServer, Project, Client, SessionId) {
    let deletes_none = Profile::panel().with("/workspace/workspaceEdit/resourceOperations", json!([]));
    moving_what_is_open_in(deletes_none, settings).await
}

async fn moving_what_is_open_in(profile: Profile, settings: &str) -> (Setup, ModelServer, Project, Client, SessionId) {
    let project = Project::new([("old.txt", "old\n")]);
    let patch = "*** Begin Patch\n*** Update File: old.txt\n*** Move to: new.txt\n@@\n-old\n+changed\n*** End Patch\n";
    let model =
        ModelServer::start([Answer::calls("edit_apply_patch", json!({ "patch": patch })), Answer::says("Done.")]).await;
    let settings = format!("edit_mode = \"patch\"\nreview_commands = false\n{settings}");
    let (setup, client, session) = start_as(profile, &model, &settings, &project).await;
    client.open(&project.uri("old.txt"));
    (setup, model, project, client, session)
}

/// Closes `old.txt` and accepts what is pending: the deletion that was missing.
async fn finish_the_move(project: &Project, client: &Client, session: &SessionId) {
    client.close(&project.uri("old.txt"));
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
    let [gone] = listed.as_slice() else { panic!("{listed:?}") };
    let target = json!({ "proposalId": gone.proposal_id, "revision": gone.revision });
    let params = json!({ "sessionId": session, "decision": "accept", "targets": [target] });
    client.call::<methods::ReviewDecide>(params).await;
    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
    client.until(session, "the deletion", applied).await;
    assert!(!project.path("old.txt").exists());
    assert_eq!(project.read("new.txt"), "changed\n");
}

#[tokio::test]
async fn a_file_that_is_open_is_moved_by_an_accepted_edit_and_its_document_goes() {
    let (_setup, model, project, client, session) =
        moving_what_is_open_in(Profile::panel(), "accept_edits = true\n").await;
    client.prompt(&session, "Move it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(!project.path("old.txt").exists() && !client.is_open(&project.uri("old.txt")));
    assert_eq!(project.read("new.txt"), "changed\n");
    let told = model.asked_times(2).await.last_results().join("");
    assert!(told.ends_with("Applied (+1 -1 lines)."), "{told}");
    assert_eq!(client.finish().await, 0);
}

fn is_warning(event: &Event) -> bool {
    matches!(event, Event::Notice { severity: Severity::Warning, text } if text.starts_with(
        "An edit was made only in part. It is in new.txt, and not in old.txt: it is open in the editor; close it there"
    ))
}

#[tokio::test]
async fn the_user_and_the_model_are_told_of_a_call_of_which_only_a_part_was_accepted_as_it_came() {
    let (_setup, model, project, client, session) = moving_what_is_open("accept_edits = true\n").await;
    client.prompt(&session, "Move it.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(events.iter().any(is_warning), "{events:?}");
    let asked = model.asked_times(2).await;
    let told = asked.last_results().join("");
    assert!(told.contains("old.txt: it is open in the editor"), "{told}");
    assert!(told.contains("made only in part: it is in new.txt. What is missing is pending"), "{told}");
    finish_the_move(&project, &client, &session).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_user_and_the_model_are_told_of_a_call_of_which_only_a_part_could_be_made_after_its_review() {
    let (_setup, model, project, client, session) = moving_what_is_open("").await;
    client.prompt(&session, "Move it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
    let targets: Vec<Value> =
        listed.iter().map(|it| json!({ "proposalId": it.proposal_id, "revision": it.revision })).collect();
    let params = json!({ "sessionId": session, "decision": "accept", "targets": targets });
    client.call::<methods::ReviewDecide>(params).await;
    client.until(&session, "a word to the user", is_warning).await;
    model.then(Answer::says("I see."));
    client.prompt(&session, "And?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let told = model.asked().last().expect("a request").user_text();
    assert!(told.contains("made only in part. It is in new.txt, and not in old.txt"), "{told}");
    finish_the_move(&project, &client, &session).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_call_of_no_tool_is_told_those_that_the_model_was_given_and_no_others() {
    let project = Project::new([("a.txt", "one\n")]);
    let model = ModelServer::start([Answer::calls("edit_text", json!({})), Answer::says("Done.")]).await;
    let (_setup, client, session) = start(&model, "edit_mode = \"patch\"\n", &project).await;
    client.prompt(&session, "Change it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let asked = model.asked_times(2).await;
    let told = asked.last_results().join("");
    let (_, named) = told.split_once("there is no tool `edit_text`; there are: ").expect(&told);
    assert_eq!(named.split(", ").collect::<Vec<_>>(), asked.tools());
    assert_eq!(client.finish().await, 0);
}
