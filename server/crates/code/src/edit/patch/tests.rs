use super::*;

mod applying;
mod parsing;
mod random;

/// Returns the text that a patch about one file makes of the text it was written for, or the words of the refusal.
fn edited(text: &str, patch: &str) -> Result<String, String> {
    let operations = parse(patch).map_err(|error| error.to_string())?;
    match operations.as_slice() {
        [Operation::Update { hunks, .. }] => {
            apply(text, hunks, true).map(|edited| edited.text).map_err(|error| error.to_string())
        }
        other => panic!("{other:?}"),
    }
}

/// The same, with the lines of the patch inside of an envelope.
fn updated(text: &str, body: &str) -> Result<String, String> {
    edited(text, &format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n"))
}
