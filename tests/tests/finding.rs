//! Finding again what was said earlier, with its place in any session and among the user's prompts; and a session as a
//! document.

#![expect(clippy::disallowed_methods, reason = "a test reads what was exported into its project")]

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
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
    for query in ["", " \t\n", "\0", "text:ok", "ok*", "near AND miss", "' OR 1=1", "%_", &long, "😀 ^^"] {
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
        client
            .call::<methods::TurnStart>(json!({ "sessionId": new, "prompt": [{ "type": "text", "text": text }] }))
            .await;
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
    let model = ModelServer::start(["One.", "Two.", "Three.", "Four."].map(Answer::says)).await;
    let (setup, project, elsewhere) = (Setup::model(&model, Wire::Anthropic), Project::new([]), Project::new([]));
    let client = Client::start(&setup, &elsewhere, Profile::panel()).await;
    say(&client, &client.new_session().await, "Elsewhere").await;
    assert_eq!(client.finish().await, 0);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    say(&client, &session, "Run the tests").await;
    let another = client.new_session().await;
    say(&client, &another, "Hello").await;
    say(&client, &another, "Run the tests").await;
    client
        .call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "/costs" }] }))
        .await;
    client.until(&session, "the costs", |event| matches!(event, Event::CommandExecuted { .. })).await;
    let texts = async |params: Value| -> Vec<String> {
        let prompts = client.call::<methods::PromptHistory>(params).await.prompts;
        prompts.into_iter().map(|prompt| prompt.text).collect()
    };
    assert_eq!(texts(json!({})).await, ["/costs", "Run the tests", "Hello"]);
    assert_eq!(texts(json!({ "everywhere": true })).await, ["/costs", "Run the tests", "Hello", "Elsewhere"]);
    assert_eq!(texts(json!({ "query": "TEST run" })).await, ["Run the tests"]);
    assert_eq!(texts(json!({ "limit": 1 })).await, ["/costs"]);
    assert_eq!(client.finish().await, 0);
}

/// A secret that the user lists.
const SECRET: &str = "hunter2-hunter2";
const HOSTILE: &str = "</style><script>alert(1)</script><img src=x onerror=alert(2)>";

#[tokio::test]
async fn a_session_is_exported_without_its_secrets_and_nothing_in_the_page_runs() {
    let name = "<b onclick=alert(3)>&'.txt";
    let content = format!("password = {SECRET}\n");
    let edit = Answer::calls("edit_create_file", json!({ "path": name, "content": content }));
    // The secret comes in two pieces, so that neither has it.
    let (half, gate) = (SECRET.len() / 2, Gate::default());
    let answer = Answer::says(&format!("# Done\nIt has {}", &SECRET[..half]))
        .wait(&gate)
        .text(&format!("{}. {HOSTILE}\n```\n{HOSTILE}\n```", &SECRET[half..]));
    let model = ModelServer::start([edit, answer]).await;
    let (setup, project) = (Setup::empty(), Project::new([]));
    let tables = format!("[secrets.DB]\nvalue = \"{SECRET}\"\n");
    setup.configure(&format!("accept_edits = true\n{}{tables}", Setup::configuration(&model, Wire::Chat)));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("workspace/applyEdit");
    let session = client.new_session().await;
    client.prompt(&session, &format!("Write {SECRET} into a file. {HOSTILE}")).await;
    let is_half = |event: &Event| matches!(event, Event::MessageDelta { text, .. } if text.contains(&SECRET[..half]));
    client.until(&session, "the first piece", is_half).await;
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;

    let export = async |format: &str| {
        let params = json!({ "sessionId": session, "format": format });
        let exported = client.call::<methods::SessionExport>(params).await;
        assert!(!exported.text.contains(SECRET), "{}", exported.text);
        assert!(exported.text.contains("secret:DB:"), "{}", exported.text);
        (exported.name, exported.text)
    };
    let (file, html) = export("html").await;
    assert_eq!(file, format!("azimuth-{session}.html"));
    assert!(html.contains("<h3>Done</h3>") && html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    assert!(html.contains("&lt;b onclick=alert(3)&gt;&amp;&#39;.txt"), "{html}");
    assert!(html.contains("<span class=\"add\">+password = "), "{html}");
    for markup in ["<script", "<img", "<b ", "</style><", "javascript:", " href", "src=\"http"] {
        assert!(!html.contains(markup), "{markup}: {html}");
    }
    assert_eq!(html.matches("<style>").count(), 1);
    let (_, markdown) = export("markdown").await;
    assert!(
        markdown.contains("## You\n\n```text\nWrite ") && markdown.contains("```diff\n@@ line 1 @@\n+password"),
        "{markdown}"
    );
    let (_, lines) = export("jsonl").await;
    let values: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<_> = values.iter().filter_map(|value| value["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no event is missing");
    assert!(!lines.contains(&SECRET[..half]) && !lines.contains(&SECRET[half..]), "{lines}");

    // Into a file of the project, which is new.
    let executed = async |text: &str| {
        client
            .call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }))
            .await;
        let is_it = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match client.until(&session, "the command", is_it).await.pop() {
            Some(Event::CommandExecuted { message, .. }) => message,
            event => panic!("{event:?}"),
        }
    };
    assert!(executed("/export").await.contains(&format!("`azimuth-{session}.html`")));
    assert!(executed("/export md out/talk.md").await.contains("`out/talk.md`"));
    let written = std::fs::read_to_string(project.path("out/talk.md")).unwrap();
    assert!(written.contains("## You") && !written.contains(SECRET), "{written}");
    assert!(executed("/export md out/talk.md").await.contains("out/talk.md"), "it is there already");
    assert_eq!(std::fs::read_to_string(project.path("out/talk.md")).unwrap(), written);
    let wrongs = [
        ("/export pdf", "`pdf` is not understood"),
        ("/export md ../out.md", "outside"),
        ("/export md .git/hooks/pre-commit", "protected"),
        ("/export md .azimuth/commands/talk.md", "protected"),
    ];
    for (wrong, said) in wrongs {
        let message = executed(wrong).await;
        assert!(message.contains(said), "{wrong}: {message}");
    }
    let nobody = json!({ "sessionId": "nobody", "format": "html" });
    assert_eq!(client.request("azimuth/session/export", nobody).await.unwrap_err().code, -32010);
    let wrong = json!({ "sessionId": session, "format": "pdf" });
    assert_eq!(client.request("azimuth/session/export", wrong).await.unwrap_err().code, -32602);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}
