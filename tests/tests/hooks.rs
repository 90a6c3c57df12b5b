//! Hooks that others bring into a session: they hear of a prompt as the user sent it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use ports::hooks::{Hooks, PromptPoint};
use protocol::session::Mode;
use protocol::turn::{StopReason, TurnStartResult};
use protocol::{Event, PromptBlock, SessionId, methods};
use serde_json::json;

/// Keeps the texts of prompts, and has a word to add to each.
#[derive(Default)]
struct Hears {
    before: Mutex<Vec<String>>,
    after: Mutex<Vec<String>>,
}

impl Hears {
    fn text(point: &PromptPoint<'_>) -> String {
        let texts = point.prompt.iter().map(|block| match block {
            PromptBlock::Text { text } => text.as_str(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    fn heard(of: &Mutex<Vec<String>>) -> Vec<String> {
        of.lock().unwrap().clone()
    }
}

#[async_trait]
impl Hooks for Hears {
    async fn before_prompt(&self, point: &PromptPoint<'_>) -> Option<String> {
        self.before.lock().unwrap().push(Self::text(point));
        Some("The build is red.".to_owned())
    }

    async fn after_prompt(&self, point: &PromptPoint<'_>) {
        self.after.lock().unwrap().push(Self::text(point));
    }
}

async fn say(client: &Client, session: &SessionId, text: &str) -> TurnStartResult {
    let prompt = json!([{ "type": "text", "text": text }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await
}

#[tokio::test]
async fn a_hook_reads_a_prompt_with_its_commands_before_they_are_carried_out_and_adds_to_the_rest() {
    let model = ModelServer::start([Answer::says("Planned.")]).await;
    let hears = Arc::new(Hears::default());
    let mut setup = Setup::model(&model, Wire::Chat);
    setup.custom.hooks = vec![Arc::<Hears>::clone(&hears)];
    let project = Project::new([]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;

    // Commands alone are a prompt too, though no model reads it.
    assert!(say(&client, &session, "/mode plan").await.turn_id.is_none());
    assert_eq!(Hears::heard(&hears.before), ["/mode plan"]);
    assert!(model.asked().is_empty());

    let prompt = "/mode agent\nWhy does it fail?";
    assert!(say(&client, &session, prompt).await.turn_id.is_some());
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(events.iter().any(|event| matches!(event, Event::TurnStarted { mode: Mode::Agent, .. })), "{events:?}");
    assert_eq!(Hears::heard(&hears.before), ["/mode plan", prompt]);
    assert_eq!(Hears::heard(&hears.after), ["/mode plan", prompt]);
    let heard = model.asked()[0].user_text();
    assert!(heard.contains("Why does it fail?") && heard.contains("The build is red."), "{heard}");
    assert!(!heard.contains("/mode"), "the model reads the rest alone: {heard}");
    assert_eq!(client.finish().await, 0);
}
