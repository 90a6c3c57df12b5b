//! The facts about a model in a list as Anthropic gives it (`ModelInfo` of npm `@anthropic-ai/sdk` 1.12).

use protocol::model::ThinkingLevel;
use serde_json::Value;

use crate::data::Thinking;

/// The facts, as far as they are told.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) name: Option<String>,
    pub(super) max_output: Option<u64>,
    pub(super) way: Option<Thinking>,
    pub(super) levels: Option<Vec<ThinkingLevel>>,
}

/// Reads them. A model of another server's list has none.
pub(super) fn read(item: &Value) -> Facts {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    if text("type") != Some("model") || item.get("display_name").is_none() {
        return Facts::default();
    }
    let is_able = |place: &str| item.pointer(place)?.get("supported")?.as_bool();
    let types = |name: &str| is_able(&format!("/capabilities/thinking/types/{name}")) == Some(true);
    let way = is_able("/capabilities/thinking").map(|thinks| match thinks {
        true if types("adaptive") => Thinking::Always,
        true if types("enabled") => Thinking::Budget,
        true | false => Thinking::None,
    });
    let has_effort = is_able("/capabilities/effort") == Some(true);
    let levels = (way == Some(Thinking::Always)).then(|| {
        let off = [ThinkingLevel::Off].into_iter().filter(|_| types("disabled"));
        use ThinkingLevel::{High, Low, Max, Medium, Xhigh};
        let is_there = |level: &ThinkingLevel| {
            has_effort && is_able(&format!("/capabilities/effort/{}", level.name())) == Some(true)
        };
        off.chain([Low, Medium, High, Xhigh, Max].into_iter().filter(is_there)).collect()
    });
    Facts {
        name: text("display_name").map(str::to_owned),
        max_output: item.get("max_tokens").and_then(Value::as_u64).filter(|most| *most > 0),
        way,
        levels,
    }
}
