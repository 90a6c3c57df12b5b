//! The files as the model has seen them, so that it can be told what is no longer so: a command's result lists the
//! files that differ from what the model believes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ports::edit::TextHash;

use crate::reader::{OnDisk, ReadError, Reader};
use crate::text;

/// So many files are kept in mind; of more, those that were seen last.
const REMEMBERED: usize = 200;

/// The files that the model has read or edited in a session, and what they were then. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<Vec<File>>>, Arc<Mutex<Vec<Difference>>>);

/// The difference that the model was told last of a file whose text in the editor is not that on disk.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    path: PathBuf,
    here: TextHash,
    disk: Disk,
    /// True if it was only told that the disk's text was not searched.
    only_named: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Disk {
    Saved,
    Other(TextHash),
    None,
}

/// On what occasion the model is told of a difference between an editor's text and the disk's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// It is given the editor's text.
    Read,
    /// It has edited that, and knows what it did.
    Edited,
    /// The disk's text was not searched.
    Searched,
}

#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    /// None if it was gone.
    hash: Option<TextHash>,
    /// True if the model was only told that it has changed, and does not know how.
    only_told: bool,
}

impl Seen {
    /// The model sees a file as this text; none for one that it sees deleted.
    pub fn note(&self, path: &Path, hash: Option<TextHash>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.path != path);
        files.push(File { path: path.to_owned(), hash, only_told: false });
        let excess = files.len().saturating_sub(REMEMBERED);
        files.drain(..excess);
    }

    /// The model has edited a file, of which it `read` one text and made another. What it makes of a text that it has
    /// not seen, it knows no better.
    pub fn edited(&self, path: &Path, read: Option<&TextHash>, now: Option<TextHash>) {
        let only_told = read.is_some_and(|read| !self.is_current(path, read));
        self.note(path, now);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.iter_mut().find(|file| file.path == path) {
            file.only_told = only_told;
        }
    }

    /// True if the model has seen a file as the text with this hash, and so can go by its line numbers.
    pub fn is_current(&self, path: &Path, hash: &TextHash) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|file| file.path == path && file.hash.as_ref() == Some(hash) && !file.only_told)
    }

    /// True if the model was not told yet that a file is this text in the editor and that on disk. It counts as told
    /// then. None for a file of which both are the same, so that the next difference is news whatever was told before.
    pub fn is_news(&self, path: &Path, difference: Option<(&str, &OnDisk)>, telling: Telling) -> bool {
        let mut told = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.iter().position(|it| it.path == path).map(|at| told.remove(at));
        let Some((here, on_disk)) = difference else { return false };
        let disk = match on_disk {
            OnDisk::Saved => Disk::Saved,
            OnDisk::Other(text) => Disk::Other(text::hash(text)),
            OnDisk::None => Disk::None,
        };
        let here = text::hash(here);
        let is_known = before.as_ref().is_some_and(|before| {
            before.disk == disk
                && match telling {
                    Telling::Read => !before.only_named && before.here == here,
                    // The model knows the text that it made of the editor's.
                    Telling::Edited => !before.only_named,
                    Telling::Searched => before.here == here,
                }
        });
        let only_named = match is_known {
            true => before.is_some_and(|before| before.only_named),
            false => telling == Telling::Searched,
        };
        told.push(Difference { path: path.to_owned(), here, disk, only_named });
        let excess = told.len().saturating_sub(REMEMBERED);
        told.drain(..excess);
        !is_known
    }

    /// The model may not have got what it was told of differences, or has it no more: all of them are news again.
    pub fn forget_differences(&self) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The files that would now be read differently, sorted by path. Each is given once, until it is seen again or
    /// changes further. Blocks.
    pub fn take_changed(&self, reader: &Reader) -> Vec<PathBuf> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut changed = Vec::new();
        for file in files {
            let hash = match reader.read(&file.path) {
                Ok(now) => Some(now.hash),
                // Whatever it is now, it is not the text that was read.
                Err(ReadError::File(_) | ReadError::Deleted { .. }) => None,
                Err(ReadError::OutOfSync { .. }) => continue,
            };
            if hash != file.hash {
                self.replace(&file, hash);
                changed.push(file.path);
            }
        }
        changed.sort();
        changed
    }

    /// Keeps what a file is now, unless the model has seen it anew meanwhile.
    fn replace(&self, old: &File, hash: Option<TextHash>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.iter_mut().find(|file| file.path == old.path && file.hash == old.hash) {
            file.hash = hash;
            file.only_told = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::reader::NoOverlay;
    use crate::text::hash;

    #[test]
    fn what_a_command_changed_of_what_was_read_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| folder.join(name));
        let reader = Reader::new(Arc::default(), Arc::new(NoOverlay));
        let seen = Seen::default();
        for path in [&b, &a, &c] {
            files::create(path, "one\n").unwrap();
            seen.note(path, Some(hash("one\n")));
        }
        assert!(seen.take_changed(&reader).is_empty());

        files::write(&a, "two\n", &hash("one\n")).unwrap();
        files::delete(&b, &files::read_whole(&b).unwrap()).unwrap();
        assert_eq!(seen.take_changed(&reader), [a.clone(), b.clone()]);
        assert!(seen.take_changed(&reader).is_empty(), "it has been said");

        files::create(&b, "one\n").unwrap();
        seen.note(&a, Some(hash("two\n")));
        assert_eq!(seen.take_changed(&reader), [b]);
    }

    #[test]
    fn to_be_told_of_a_change_is_not_to_have_seen_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a");
        let (reader, seen) = (Reader::new(Arc::default(), Arc::new(NoOverlay)), Seen::default());
        files::create(&path, "one\n").unwrap();
        seen.note(&path, Some(hash("one\n")));
        assert!(seen.is_current(&path, &hash("one\n")) && !seen.is_current(&path, &hash("two\n")));
        files::write(&path, "two\n", &hash("one\n")).unwrap();
        assert_eq!(seen.take_changed(&reader), std::slice::from_ref(&path));
        assert!(!seen.is_current(&path, &hash("two\n")));
        seen.edited(&path, Some(&hash("two\n")), Some(hash("three\n")));
        assert!(!seen.is_current(&path, &hash("three\n")), "an edit of a text that was not seen");
        seen.note(&path, Some(hash("three\n")));
        seen.edited(&path, Some(&hash("three\n")), Some(hash("four\n")));
        assert!(seen.is_current(&path, &hash("four\n")));
    }

    #[test]
    fn a_difference_between_editor_and_disk_is_news_once_for_each_state_of_both() {
        let (seen, path) = (Seen::default(), Path::new("/a"));
        let other = |text: &str| OnDisk::Other(text.into());
        let is_news = |here: &str, disk: &OnDisk, telling| seen.is_news(path, Some((here, disk)), telling);
        assert!(is_news("one", &other("x"), Telling::Searched) && !is_news("one", &other("x"), Telling::Searched));
        assert!(is_news("one", &other("x"), Telling::Read), "a search says only that there is one");
        for telling in [Telling::Read, Telling::Searched, Telling::Edited] {
            assert!(!is_news("one", &other("x"), telling), "{telling:?}");
        }
        assert!(!is_news("two", &other("x"), Telling::Edited) && !is_news("two", &other("x"), Telling::Read));
        assert!(is_news("three", &other("x"), Telling::Read), "the user typed");
        assert!(is_news("three", &other("y"), Telling::Read) && is_news("three", &OnDisk::None, Telling::Edited));
        assert!(is_news("three", &OnDisk::Saved, Telling::Read));
        assert!(!seen.is_news(path, None, Telling::Read));
        assert!(is_news("three", &OnDisk::Saved, Telling::Read), "it was gone meanwhile");
        seen.forget_differences();
        assert!(is_news("three", &OnDisk::Saved, Telling::Read), "the model does not have it any more");
        for number in 0..REMEMBERED {
            seen.is_news(Path::new(&number.to_string()), Some(("a", &OnDisk::None)), Telling::Read);
        }
        assert!(is_news("three", &OnDisk::Saved, Telling::Read), "only so many are kept in mind");
    }

    #[test]
    fn only_so_many_files_are_kept_in_mind() {
        let folder = tempfile::tempdir().unwrap();
        let seen = Seen::default();
        for number in 0..=REMEMBERED {
            seen.note(&folder.path().join(number.to_string()), Some(hash("gone")));
        }
        let reader = Reader::new(Arc::default(), Arc::new(NoOverlay));
        let changed = seen.take_changed(&reader);
        assert_eq!(changed.len(), REMEMBERED);
        assert!(!changed.contains(&folder.path().join("0")));
    }
}
