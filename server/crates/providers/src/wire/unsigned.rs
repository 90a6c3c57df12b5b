//! Conversations whose signatures a server does not know any more.

use std::sync::Arc;

use ports::model::{Message, Request};
use protocol::AssistantBlock;
use serde_json::Value;

/// The fields of a block that hold its signature: Gemini's own, and those of its Chat Completions.
const SIGNATURES: [&str; 2] = ["signature", "extra_content"];

/// The same request without the signatures of its first so many messages; none if they have none. A step of calls that
/// must be signed gets the signature that stands for none instead.
pub(crate) fn unsigned(request: &Request, count: usize) -> Option<Request> {
    let mut is_other = false;
    let mut unsigned = request.clone();
    for message in unsigned.messages.iter_mut().take(count) {
        let Message::Assistant(blocks) = &**message else { continue };
        if blocks.iter().any(is_signed) {
            is_other = true;
            *message = Arc::new(Message::Assistant(blocks.iter().cloned().map(without).collect()));
        }
    }
    is_other.then_some(unsigned)
}

fn is_signed(block: &AssistantBlock) -> bool {
    let (AssistantBlock::Text { vendor, .. }
    | AssistantBlock::Thinking { vendor, .. }
    | AssistantBlock::ToolCall { vendor, .. }) = block;
    vendor.as_ref().is_some_and(|vendor| SIGNATURES.iter().any(|name| vendor.get(name).is_some()))
}

fn without(mut block: AssistantBlock) -> AssistantBlock {
    let (AssistantBlock::Text { vendor, .. }
    | AssistantBlock::Thinking { vendor, .. }
    | AssistantBlock::ToolCall { vendor, .. }) = &mut block;
    if let Some(Value::Object(fields)) = vendor {
        SIGNATURES.iter().for_each(|name| drop(fields.remove(*name)));
    }
    block
}
