//! The wire: order, bad input, much at once, and clients that are slow.

use std::time::Duration;

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};

#[tokio::test]
async fn edits_and_reads_are_handled_in_the_order_in_which_they_were_sent() {
    let project = Project::new([("count.txt", "0\n")]);
    let client = Client::start(&Setup::empty(), &project, Profile::plain()).await;
    let uri = project.uri("count.txt");
    client.open(&uri);
    let session = client.new_session().await;
    // A prompt that mentions a file is the read; without a model its turn fails at once, and the next can follow.
    let mut expected = Vec::new();
    for number in 1..=20 {
        let mut last = String::new();
        for step in 0..50 {
            let (old, new) = (client.text(&uri), format!("{number}.{step}\n"));
            client.replace(&uri, &old, &new);
            last = new;
        }
        let prompt = json!([{ "type": "text", "text": "look" }, { "type": "file", "uri": uri }]);
        let params = json!({ "type": "add", "sessionId": session, "prompt": prompt });
        drop(client.request("azimuth/turn/queue", params));
        expected.push(last);
    }
    let mut seen = 0;
    while seen < expected.len() {
        let event = client.event(&session, "a turn").await.event;
        if let Event::TurnStarted { context, .. } = event {
            seen += 1;
            assert!(context.contains(&expected[0]) || !context.is_empty(), "{context}");
        }
    }
}
