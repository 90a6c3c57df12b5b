//! Which text of an open file the model is given, where the editor's is not the one on disk: commands see the disk, and an
//! editor follows what they change there only after a while, or when the user comes back to it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::tool::{Access, Output, Tool};
use workspace::paths::{self, Roots};
use workspace::reader::{OnDisk, Reader};
use workspace::review::diff;

use crate::after::after;
use crate::{Services, counted};

/// A difference is shown up to so many bytes; of a longer one it is only said that there is one.
const LONGEST_DIFF: usize = 4_000;
/// So many files are named at most.
const MOST: usize = 5;

/// The same tool, whose result says of each open file in it where the disk has another text.
pub(crate) fn compared(tool: Arc<dyn Tool>, services: &Services) -> Arc<dyn Tool> {
    let reads = match tool.access() {
        Access::Read => true,
        Access::Edit => false,
        Access::Execute | Access::Background => return tool,
    };
    let (services, searches) = (services.clone(), tool.spec().name.starts_with("search_"));
    after(tool, move |output| {
        let mut notes = notes(&services, output, reads);
        if searches {
            notes.push_str(&not_searched(&services, output));
        }
        match reads {
            true => output.text.insert_str(0, &notes),
            false if notes.is_empty() => {}
            // What an edit came to is said first.
            false => output.text = format!("{}\n{}", output.text, notes.trim_end_matches('\n')),
        }
    })
}

/// What is said of the files of a result, in whole lines.
fn notes(services: &Services, output: &Output, reads: bool) -> String {
    let notes: Vec<_> =
        files(output).iter().filter_map(|path| note(&services.reader, &services.roots, path, reads)).collect();
    let mut text: String = notes.iter().take(MOST).map(String::as_str).collect();
    if notes.len() > MOST {
        let more = counted(notes.len() - MOST, "more file");
        text.push_str(&format!("[of {more} the text here is the editor's too, and the disk has another]\n"));
    }
    text
}

/// Names the files whose text on disk was not searched, and that were not found by what the editor has of them either.
fn not_searched(services: &Services, output: &Output) -> String {
    let found = files(output);
    let is_other = |path: &Path| matches!(services.reader.on_disk(path), Some((_, OnDisk::Other(_))));
    let open = services.reader.buffers().all().into_iter().map(|document| document.path.clone());
    let is_left = |path: &PathBuf| services.roots.check(path).is_ok() && services.search.shows(path);
    let names: Vec<_> = open
        .filter(|path| !found.contains(path) && is_left(path) && is_other(path))
        .map(|path| services.roots.display(&path))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => {
            let names = names.join(", ");
            format!("[searched as in the user's editor, which has not followed what changed on disk: {names}]\n")
        }
    }
}

/// The files that a result is of, each once.
fn files(output: &Output) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    let files = output.locations.iter().filter_map(|place| paths::from_uri(&place.uri).ok());
    files.filter(|path| known.insert(path.clone())).collect()
}

/// Says which text a reader of a file is given, in whole lines, where the editor's is not the one on disk. What is merely
/// not saved is said only to one that `reads`. Blocks.
pub fn note(reader: &Reader, roots: &Roots, path: &Path, reads: bool) -> Option<String> {
    let name = roots.display(path);
    let (here, on_disk) = reader.on_disk(path)?;
    Some(match on_disk {
        OnDisk::Saved if !reads => return None,
        OnDisk::Saved => {
            format!(
                "[{name} is here as in the user's editor, with changes that are not saved; the disk is without them]\n"
            )
        }
        OnDisk::None => {
            format!(
                "[{name} is here as in the user's editor; on disk there is no such file, or it was deleted there]\n"
            )
        }
        OnDisk::Other(text) => {
            let words = format!(
                "[{name} is here as in the user's editor. On disk it has another text: the editor has not followed what a command or \
                 another program made of it, or it opened text that was never saved. Commands see the disk, and edits \
                 change what the editor has."
            );
            let diff = diff(Some(&here), Some(&text), &name);
            match diff.len() <= LONGEST_DIFF {
                true => format!("{words} From the editor's text to the disk's:]\n{diff}\n"),
                false => format!("{words} They differ too much to be shown here]\n"),
            }
        }
    })
}
