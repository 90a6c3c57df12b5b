//! Which text of an open file the model is given, where the editor's is not the one on disk: commands see the disk, and
//! an editor follows what they change there only after a while, or when the user comes back to it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use ports::hooks::{Hooks, ToolPoint};
use ports::tool::{Access, Output, ToolError};
use project::buffers::Open;
use project::paths::{self, Roots};
use project::reader::{OnDisk, Reader};
use project::review::diff;
use project::seen::{Seen, Telling};

use crate::{Services, blocking, counted};

/// A difference is shown up to so many bytes; of a longer one it is only said that there is one.
const LONGEST_DIFF: usize = 4_000;
/// So many files are named at most.
const MOST: usize = 5;
/// So many files are compared for one call at most.
const MOST_COMPARED: usize = 100;

/// Says in the result of each tool that reads or edits in which of its open files the disk has another text.
pub(crate) struct Compares(pub(crate) Services);

#[async_trait]
impl Hooks for Compares {
    async fn after_tool(&self, point: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        let reads = match point.access {
            Access::Read => true,
            Access::Edit => false,
            Access::Execute | Access::Background => return,
        };
        let Ok(output) = result else { return };
        let (services, searches) = (self.0.clone(), point.tool.starts_with("search_"));
        let files = files(output);
        // Most of what is read is open nowhere, and only what is open is looked up on the disk.
        let buffers = self.0.reader.buffers();
        let none_open = || {
            if searches { buffers.all().is_empty() } else { !files.iter().any(|path| is_open(&self.0.reader, path)) }
        };
        if none_open() {
            return;
        }
        let compared = blocking(move || {
            let mut notes = notes(&services, &files, reads);
            if searches {
                notes.push_str(&not_searched(&services, files));
            }
            Ok(notes)
        });
        match compared.await {
            Err(error) => *result = Err(error),
            Ok(notes) if reads => output.text.insert_str(0, &notes),
            Ok(notes) if notes.is_empty() => {}
            // The outcome of an edit is said first.
            Ok(notes) => output.text = format!("{}\n{}", output.text, notes.trim_end_matches('\n')),
        }
    }
}

/// Returns the notes about the files of a result, in whole lines.
fn notes(services: &Services, files: &[PathBuf], reads: bool) -> String {
    let Services { reader, roots, seen, .. } = services;
    let mut text = String::new();
    let (mut named, mut more) = (0, 0);
    let mut open = files.iter().filter(|path| is_open(reader, path));
    for path in open.by_ref().take(MOST_COMPARED) {
        if named < MOST {
            if let Some(note) = note(reader, roots, seen, path, reads) {
                text.push_str(&note);
                named += 1;
            }
        } else if let Some((_, on_disk)) = reader.on_disk(path) {
            more += usize::from(reads || on_disk != OnDisk::Saved);
        }
    }
    if more > 0 {
        let at_least = if open.next().is_some() { "at least " } else { "" };
        let more = counted(more, "more file");
        text.push_str(&format!(
            "[of {at_least}{more} the text here is the editor's too, and is not what is on disk]\n"
        ));
    }
    text
}

/// Names the files whose text on disk was not searched, and that were not found by what the editor has of them either.
fn not_searched(services: &Services, found: Vec<PathBuf>) -> String {
    let Services { reader, roots, search, seen, .. } = services;
    let found: HashSet<_> = found.into_iter().collect();
    let open = reader.buffers().all().into_iter().map(|document| document.path.clone());
    let is_left = |path: &PathBuf| roots.check(path).is_ok() && search.shows(path);
    // The names are sorted, so that each search compares the same ones.
    let mut open = open.filter(|path| !found.contains(path) && is_left(path));
    let (mut names, mut more) = (Vec::new(), 0);
    for path in open.by_ref().take(MOST_COMPARED) {
        let Some((here, other @ OnDisk::Other(_))) = reader.on_disk(&path) else { continue };
        if names.len() == MOST {
            // It is not named, so that it is news to the next search still.
            more += 1;
        } else if seen.is_news(&path, Some((&here, &other)), Telling::Searched) {
            names.push(roots.display(&path));
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let mut names = names.join(", ");
    if more > 0 {
        let at_least = if open.next().is_some() { "at least " } else { "" };
        names.push_str(&format!(" and {at_least}{more} more"));
    }
    format!("[searched as in the user's editor, which has not followed what changed on disk: {names}]\n")
}

fn is_open(reader: &Reader, path: &Path) -> bool {
    matches!(reader.buffers().get(path), Open::Yes(_))
}

/// The files that a result is of, each once.
fn files(output: &Output) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    let files = output.locations.iter().filter_map(|place| paths::from_uri(&place.uri).ok());
    files.filter(|path| known.insert(path.clone())).collect()
}

/// Says which text a reader of a file is given, in whole lines, where the editor's is not the one on disk; once for
/// each state of both. What is merely not saved is said only to one that `reads`. Blocks.
pub fn note(reader: &Reader, roots: &Roots, seen: &Seen, path: &Path, reads: bool) -> Option<String> {
    let name = roots.display(path);
    let telling = if reads { Telling::Read } else { Telling::Edited };
    let Some((here, on_disk)) = reader.on_disk(path) else {
        seen.is_news(path, None, telling);
        return None;
    };
    if (on_disk == OnDisk::Saved && !reads) || !seen.is_news(path, Some((&here, &on_disk)), telling) {
        return None;
    }
    Some(match on_disk {
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

#[cfg(test)]
mod tests {
    use project::paths::to_uri;
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn a_search_names_some_of_the_files_whose_text_on_disk_it_did_not_search_and_counts_the_others() {
        let names: Vec<_> = (1..=7).map(|number| format!("{number}.txt")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "on disk\n")).collect();
        let world = World::new(&files);
        for name in &names {
            world.buffers.open(&to_uri(&world.path(name)), "text", 0, "in the editor\n").unwrap();
        }
        let services = world.services();
        let search = async || call(&services, "search_text", json!({ "query": "on disk" })).await.unwrap().text;
        let words = "which has not followed what changed on disk: ";
        let first = search().await;
        assert!(first.contains(&format!("{words}1.txt, 2.txt, 3.txt, 4.txt, 5.txt and 2 more]\n")), "{first}");
        let second = search().await;
        assert!(second.contains(&format!("{words}6.txt, 7.txt]\n")), "{second}");
        let third = search().await;
        assert!(!third.contains(words), "{third}");
    }
}
