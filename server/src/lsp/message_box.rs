//! A question to the user as a message box, for clients without a panel.

use protocol::SessionId;
use protocol::event::Severity;
use protocol::permission::{PermissionAnswerParams, PermissionRequest};
use serde_json::{Value, json};

use super::convert;

/// The parameters of `window/showMessageRequest`.
pub(super) fn params(request: &PermissionRequest) -> Value {
    let actions: Vec<_> = request.options.iter().map(|option| json!({ "title": option.name })).collect();
    let message = format!("{}\n{}\n({})", request.title, request.detail, request.reason);
    json!({ "type": convert::message_type(Severity::Info), "message": message, "actions": actions })
}

/// The answer that the user has chosen. A box that was closed answers nothing: the question stands.
pub(super) fn answer(
    session_id: SessionId,
    request: &PermissionRequest,
    chosen: Option<&Value>,
) -> Option<PermissionAnswerParams> {
    let title = chosen?.get("title")?.as_str()?;
    let option = request.options.iter().find(|option| option.name == title)?;
    let (permission_id, option_id) = (request.permission_id.clone(), option.option_id.clone());
    Some(PermissionAnswerParams { session_id, permission_id, option_id, message: None })
}
