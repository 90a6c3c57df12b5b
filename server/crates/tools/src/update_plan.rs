//! `update_plan`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::{PlanEntry, PlanEntryStatus, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::counted;
use crate::typed::Typed;

/// How many steps a plan has at most; of more, nobody sees where the work stands.
const MAX_STEPS: usize = 20;
/// How long a step is at most, in characters: a line that people read.
const MAX_STEP: usize = 200;

/// Shows the user what you are going to do, as a list of steps with their status. Each call gives the whole list, which
/// replaces the one before: one step at a time is `in_progress`, and a step becomes `completed` as soon as it is done.
/// For tasks of three steps or more; not for a question or a small change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The steps in their order, at most 20.
    steps: Vec<Step>,
}

/// A step of the plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The task, in a few words on one line.
    content: String,
    /// `pending`, `in_progress` or `completed`.
    status: Status,
}

/// How far a step is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    InProgress,
    Completed,
}

pub(crate) struct UpdatePlan;

#[async_trait]
impl Typed for UpdatePlan {
    type Input = Input;
    const NAME: &'static str = tool_names::UPDATE_PLAN;
    const KIND: ToolKind = ToolKind::Think;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let invalid = |text: String| Err(ToolError::InvalidInput(text));
        if input.steps.is_empty() {
            return invalid("`steps` is empty: a plan has at least one".to_owned());
        }
        if input.steps.len() > MAX_STEPS {
            return invalid(format!("`steps` has {}, more than {MAX_STEPS}: join some", input.steps.len()));
        }
        for step in &input.steps {
            let content = step.content.trim();
            if content.is_empty() || content.contains('\n') || content.chars().count() > MAX_STEP {
                return invalid(format!("a step's `content` is one line of 1 to {MAX_STEP} characters"));
            }
        }
        if input.steps.iter().filter(|step| matches!(step.status, Status::InProgress)).count() > 1 {
            return invalid("only one step can be `in_progress`".to_owned());
        }
        Ok(Description { title: "Planning".to_owned(), locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, input: Input) -> Result<Output, ToolError> {
        let steps: Vec<_> = input
            .steps
            .into_iter()
            .map(|step| PlanEntry {
                content: step.content.trim().to_owned(),
                status: match step.status {
                    Status::Pending => PlanEntryStatus::Pending,
                    Status::InProgress => PlanEntryStatus::InProgress,
                    Status::Completed => PlanEntryStatus::Completed,
                },
            })
            .collect();
        let done = steps.iter().filter(|step| step.status == PlanEntryStatus::Completed).count();
        let summary = format!("{done} of {}", counted(steps.len(), "step"));
        Ok(Output {
            text: format!("The user sees the plan: {summary} done."),
            summary,
            steps: Some(steps),
            ..Output::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::World;

    #[tokio::test]
    async fn a_plan_is_shown_with_how_far_it_is() {
        let steps = json!([
            { "content": " Find the place ", "status": "completed" },
            { "content": "Mend it", "status": "in_progress" },
            { "content": "Run the tests", "status": "pending" },
        ]);
        let output = World::new(&[]).call("update_plan", json!({ "steps": steps })).await.unwrap();
        assert_eq!(output.text, "The user sees the plan: 1 of 3 steps done.");
        let entry = |content: &str, status| PlanEntry { content: content.to_owned(), status };
        let expected = [
            entry("Find the place", PlanEntryStatus::Completed),
            entry("Mend it", PlanEntryStatus::InProgress),
            entry("Run the tests", PlanEntryStatus::Pending),
        ];
        assert_eq!(output.steps.as_deref(), Some(&expected[..]));
    }

    #[tokio::test]
    async fn what_is_no_plan_says_why() {
        let world = World::new(&[]);
        let step = |content: &str, status: &str| json!({ "content": content, "status": status });
        let cases = [
            (json!([]), "at least one"),
            (json!(vec![step("a", "pending"); 21]), "more than 20"),
            (json!([step("a\nb", "pending")]), "one line"),
            (json!([step(" ", "pending")]), "one line"),
            (json!([step("a", "in_progress"), step("b", "in_progress")]), "only one step"),
            (json!([step("a", "begun")]), "begun"),
        ];
        for (steps, words) in cases {
            let text = world.text("update_plan", json!({ "steps": steps })).await;
            assert!(text.starts_with("error: invalid input") && text.contains(words), "{text}");
        }
    }
}
