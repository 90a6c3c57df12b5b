//! A tool that panics is a failed tool: the turn goes on, and so does the server.

use std::sync::Arc;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use permission::Action;
use ports::model::ToolSpec;
use ports::tool::{Access, Call, Description, Output, Tool, ToolError};
use protocol::content::ToolKind;
use protocol::methods;
use protocol::turn::StopReason;
use serde_json::{Value, json};

/// No tool of ours panics, so the test brings one.
struct Panics(ToolSpec);

#[async_trait::async_trait]
impl Tool for Panics {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn access(&self) -> Access {
        Access::Read
    }

    async fn describe(&self, input: &Value) -> Result<Description, ToolError> {
        assert!(input["when"] != "described", "a fault in describing");
        Ok(Description { title: "Panicking".into(), locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, _: Value) -> Result<Output, ToolError> {
        panic!("a fault in running");
    }
}

#[tokio::test]
async fn a_tool_that_panics_is_a_failed_tool() {
    for wire in Wire::ALL {
        let model = ModelServer::start([
            Answer::nothing()
                .call("panic", json!({ "when": "run" }))
                .call("read_file", json!({ "path": "a.txt" }))
                .call("panic", json!({ "when": "described" })),
            Answer::says("It broke down."),
        ])
        .await;
        let (mut setup, project) = (Setup::model(&model, wire), Project::new([("a.txt", "hello\n")]));
        let spec = ToolSpec {
            name: "panic".into(),
            description: "Panics.".into(),
            input_schema: json!({ "type": "object", "properties": { "when": { "type": "string" } } }),
        };
        setup.custom.tools = vec![Arc::new(Panics(spec))];
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, "Try it.").await;
        client.until_end(&session, StopReason::EndTurn).await;
        let asked = model.asked_times(2).await;
        let results = asked.last_results();
        assert_eq!(results.len(), 3, "{results:?}");
        assert!(results[1].contains("hello"), "the call beside it is not harmed: {results:?}");
        for failed in [results[0], results[2]] {
            assert!(failed.contains("failed by a fault of its own"), "{results:?}");
        }
        let listed = client.call::<methods::SessionList>(json!({})).await;
        assert_eq!(listed.sessions.len(), 1);
        assert_eq!(client.finish().await, 0);
    }
}
