//! `/secrets`: what is hidden from models, without any value.

use std::fmt::Write;

use mask::Masks;

use crate::secrets::Secrets;

/// Tells what is hidden, in Markdown.
///
/// # Errors
/// A secret is not known, so that nothing is sent; in words.
pub(super) async fn hidden_secrets(secrets: &Secrets) -> Result<String, String> {
    if !secrets.are_hidden() {
        return Ok("no secrets are hidden from models: `hide_secrets` is `false` in your configuration".to_owned());
    }
    let mask = secrets.mask().await?;
    let mut text = match mask.named().len() {
        0 => "Azimuth knows of no secret to hide from models".to_owned(),
        1 => "1 secret is hidden from models".to_owned(),
        many => format!("{many} secrets are hidden from models"),
    };
    if !mask.is_empty() {
        text.push_str(" (counted since this server started)");
    }
    text.push('\n');
    for secret in mask.named() {
        let times = match mask.counts().of(&secret.name) {
            0 => "not sent so far".to_owned(),
            1 => "hidden once".to_owned(),
            times => format!("hidden {times} times"),
        };
        let for_good = if secret.is_reversible { "" } else { "; replaced for good" };
        let _ = write!(text, "\n- `{}`, from {}: {times}{for_good}", secret.name, secret.source);
    }
    for passed_over in secrets.passed_over() {
        let _ = write!(text, "\n- {passed_over}");
    }
    Ok(text)
}
