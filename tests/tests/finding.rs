//! What was said earlier, found again: in all sessions with its place, and among the user's prompts.

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::search::{HitKind, SearchHit};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

async fn search(client: &Client, params: Value) -> Vec<SearchHit> {
    let found = client.call::<methods::SessionSearch>(params).await;
    assert_eq!(found.unread, 0);
    found.hits
}

async fn say(client: &Client, session: &SessionId, text: &str) {
    client.prompt(session, text).await;
    client.until_end(session, StopReason::EndTurn).await;
}

fn marked(hit: &SearchHit) -> Vec<String> {
    let units: Vec<u16> = hit.snippet.encode_utf16().collect();
    let part = |start: u32, end: u32| String::from_utf16(&units[start as usize..end as usize]).unwrap();
    hit.marks.iter().map(|mark| part(mark.start, mark.end)).collect()
}

#[tokio::test]
async fn what_was_said_is_found_at_its_place_by_another_window_until_its_session_is_deleted() {
    let answers = ["The 🦓 lexer skips\n\n comments.", "Nothing.", "Elsewhere."].map(Answer::says);
    let model = ModelServer::start(answers).await;
    let (setup, project, elsewhere) = (Setup::model(&model, Wire::Anthropic), Project::new([]), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (first, second) = (client.new_session().await, client.new_session().await);
    say(&client, &first, "Why does the Lexer fail?").await;
    say(&client, &second, "Another thing").await;
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &elsewhere, Profile::panel()).await;
    let third = client.new_session().await;
    say(&client, &third, "A lexer elsewhere").await;
    let here = search(&client, json!({ "query": "lexer" })).await;
    assert!(here.iter().all(|hit| hit.session_id == third), "{here:?}");
    let project_only = json!({ "query": "lexer", "folder": project.uri("").trim_end_matches('/') });
    let hits = search(&client, project_only).await;
    let kinds: Vec<_> = hits.iter().map(|hit| hit.kind).collect();
    assert_eq!(kinds, [HitKind::Title, HitKind::Answer, HitKind::Prompt], "{hits:?}");
    let all = search(&client, json!({ "query": "SKIPS lexer", "everywhere": true })).await;
    let [hit] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((&hit.session_id, hit.snippet.as_str()), (&first, "The 🦓 lexer skips comments."));
    assert_eq!(marked(hit), ["lexer", "skips"]);

    // The place is one of the session's events.
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": first, "since": 0 })).await;
    let event = opened.events.iter().find(|event| Some(event.seq) == hit.seq).unwrap();
    let Event::MessageCompleted { message_id, .. } = &event.event else { panic!("{event:?}") };
    assert_eq!((Some(message_id), event.at), (hit.message_id.as_ref(), hit.at));

    client.call::<methods::SessionDelete>(json!({ "sessionId": first })).await;
    assert_eq!(search(&client, json!({ "query": "skips", "everywhere": true })).await, []);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn whatever_a_user_searches_for_is_words_and_no_error() {
    let model = ModelServer::start([Answer::says("A “quoted” NEAR(miss) 編集 of x^2: 100% 👩‍💻 ok")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    say(&client, &session, "Say \"it\" -- now; DROP TABLE texts").await;
    let long = "x".repeat(10_000);
    let found =
        ["NEAR(miss)", "編", "編集", "👩‍💻", "“quoted”", "x^2:", "100%", "\"it\" --", "now; drop", "k", "TABLE texts\n"];
    for query in found {
        assert!(!search(&client, json!({ "query": query })).await.is_empty(), "{query}");
    }
    for query in ["", " \t\n", "\0", "text:ok", "ok*", "\"", "near AND miss", "' OR 1=1", "%_", &long, "😀 ^^"] {
        assert_eq!(search(&client, json!({ "query": query })).await, [], "{query}");
    }
    for params in [json!({}), json!({ "query": 1 }), json!({ "query": "a", "nonsense": true })] {
        assert_eq!(client.request("azimuth/session/search", params).await.unwrap_err().code, -32602);
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_client_without_a_panel_finds_conversations_by_a_slash_command() {
    let model = ModelServer::start([Answer::says("It is `a*b`.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (old, new) = (client.new_session().await, client.new_session().await);
    say(&client, &old, "What is the product?").await;
    let executed = async |text: String| {
        client.call::<methods::TurnStart>(json!({ "sessionId": new, "prompt": [{ "type": "text", "text": text }] })).await;
        let is_it = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match client.until(&new, "the command", is_it).await.pop() {
            Some(Event::CommandExecuted { message, .. }) => message,
            event => panic!("{event:?}"),
        }
    };
    let message = executed("/search it is".into()).await;
    assert!(message.contains(&format!("`{old}` “What is the product?”")), "{message}");
    assert!(message.contains(r"the model said: It is \`a\*b\`."), "{message}");
    let message = executed("/search unicorn".into()).await;
    assert!(message.contains("nothing was found"), "{message}");
    let message = executed("/search".into()).await;
    assert!(message.contains("/search <words>"), "{message}");
    let message = executed(format!("/resume {}", &old.as_str()[..4])).await;
    assert!(message.contains(&format!("({old})")), "{message}");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn earlier_prompts_come_back_in_a_new_session_of_the_project() {
    let model = ModelServer::start(["One.", "Two.", "Three."].map(Answer::says)).await;
    let (setup, project, elsewhere) = (Setup::model(&model, Wire::Anthropic), Project::new([]), Project::new([]));
    let client = Client::start(&setup, &elsewhere, Profile::panel()).await;
    say(&client, &client.new_session().await, "Elsewhere").await;
    assert_eq!(client.finish().await, 0);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    say(&client, &session, "Run the tests").await;
    say(&client, &client.new_session().await, "Run the tests").await;
    client
        .call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "/costs" }] }))
        .await;
    client.until(&session, "the costs", |event| matches!(event, Event::CommandExecuted { .. })).await;
    let texts = async |params: Value| -> Vec<String> {
        let prompts = client.call::<methods::PromptHistory>(params).await.prompts;
        prompts.into_iter().map(|prompt| prompt.text).collect()
    };
    assert_eq!(texts(json!({})).await, ["/costs", "Run the tests"]);
    assert_eq!(texts(json!({ "everywhere": true })).await, ["/costs", "Run the tests", "Elsewhere"]);
    assert_eq!(texts(json!({ "query": "TEST run" })).await, ["Run the tests"]);
    assert_eq!(texts(json!({ "limit": 1 })).await, ["/costs"]);
    assert_eq!(client.finish().await, 0);
}
