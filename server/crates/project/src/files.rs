//! Files on disk: bounded reading, and writing that never overwrites what it did not see, and leaves no half a file
//! where the system allows it to be replaced; [`write`] says where not.
//!
//! Everything here blocks, so an async caller goes through `tokio::task::spawn_blocking`. Paths are taken as they are:
//! the caller has had them from [`crate::paths::Roots`], and before writing has checked them once more. They have no
//! links in them; one that comes on the way to a file that is written is an error, and is not followed.
#![expect(clippy::disallowed_methods, reason = "this is the home of reading and writing project files")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use platform::listing::{self, Kind, Listing};
use platform::open::{self, Links, Way};
use platform::rights;
use ports::edit::TextHash;

use crate::text::{self, Decoded, Format, NotText};

mod place;

use self::place::Place;

/// The largest file that is read as a whole, in bytes: 16 MiB. What is larger is not source that a model could use,
/// and texts are held in memory. Searching has no such limit.
pub const MAX_BYTES: u64 = 16 << 20;

/// An error with a file. The model reads its message too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There is nothing there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder, a pipe, a device or the like.
    #[error("{} is {what}, not a file", path.display())]
    NotAFile {
        /// The path that was to be a file.
        path: PathBuf,
        /// Its kind, with an article.
        what: &'static str,
    },
    /// It is larger than [`MAX_BYTES`].
    #[error("{} is {size} bytes large; files of more than {MAX_BYTES} bytes are not read, search in it instead", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// It is not text.
    #[error("{} cannot be read as text: {reason}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: NotText,
    },
    /// Its text on disk is another than the one expected.
    #[error("{} has changed on disk since it was read; nothing was written", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
    },
    /// It was to be new, but is there.
    #[error("{} exists already; nothing was written", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It may be read but not written to.
    #[error("{} is write-protected; nothing was written. To have it changed, make it writable", path.display())]
    WriteProtected {
        /// The file.
        path: PathBuf,
    },
    /// A link leads to it by now.
    #[error("{} leads through a link by now, which is not followed; nothing was read or written", path.display())]
    Link {
        /// The file.
        path: PathBuf,
    },
    /// It was written in part, and its old text could not be put back.
    #[error(
        "{} was written only in part, and now holds neither its old text nor the new one: {reason}; putting the old \
         text back failed too: {back}. Check the file before you go on, and restore it from a backup or from git",
        path.display()
    )]
    Torn {
        /// The file.
        path: PathBuf,
        /// The system's error for the new text.
        reason: String,
        /// The system's error for the old one.
        back: String,
    },
    /// The system refused.
    #[error("{} cannot be {action}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The action that was tried: `read`, `written` or `deleted`.
        action: &'static str,
        /// The system's reason, and what can be done about it.
        reason: String,
    },
}

/// Reads a file as text. Its size is looked at before anything is read. No link is followed, on Linux nowhere on the
/// way either, so that what was put in the place of the path since it was looked at is not read. Blocks.
///
/// # Errors
/// Every kind but [`FileError::Stale`] and [`FileError::Exists`].
pub fn read(path: &Path) -> Result<Decoded, FileError> {
    decode(path, &read_regular(path)?.0)
}

/// Reads a file that is the user's own as text, wherever its links lead; never one that a project brings along. Blocks.
///
/// # Errors
/// As [`read`], but for [`FileError::Link`].
pub fn read_of_user(path: &Path) -> Result<Decoded, FileError> {
    decode(path, &read_bytes(path, path, Links::Follow)?)
}

/// The bytes of a regular file that no link leads to, whose path is absolute and has its links resolved; none if it
/// has more of them than `most`.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] if it is no regular file.
pub fn read_without_links(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    open::bytes(path, most)
}

/// The names in a folder that no link leads to, as many as `most`, each with whether that is a folder itself.
///
/// # Errors
/// The system's error, also if a link is on the way.
pub fn names(folder: &Path, most: usize) -> io::Result<Vec<(OsString, bool)>> {
    let entries = Listing::open(folder)?.flatten().map(|(name, kind)| {
        let kind = if kind == Kind::Unknown { listing::kind_of(&folder.join(&name)) } else { kind };
        (name, kind == Kind::Folder)
    });
    Ok(entries.take(most).collect())
}

/// Reads a file that a project brings along in one of its folders as text, also by a link that leads to another file
/// beneath that folder. Blocks.
///
/// # Errors
/// As [`read`]; [`FileError::Link`] where a link leads out of the folder.
pub fn read_beneath(folder: &Path, path: &Path) -> Result<Decoded, FileError> {
    match read(path) {
        Err(FileError::Link { path }) => match leads_beneath(&[folder], &path) {
            Some(real) => read(&real),
            None => Err(FileError::Link { path }),
        },
        read => read,
    }
}

/// Where a path leads by links, if that is beneath one of the folders. What is there then is opened without following
/// another one.
pub(crate) fn leads_beneath(folders: &[&Path], path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let is_above = |folder: &&Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    folders.iter().any(is_above).then_some(real)
}

/// A file as it is, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// As text.
    pub decoded: Decoded,
    /// As bytes, where these are not just those of the normal text.
    pub bytes: Option<Vec<u8>>,
    /// True if its owner may run it as a program.
    pub executable: bool,
}

impl Whole {
    /// A file of these bytes.
    ///
    /// # Errors
    /// Bytes that are not text.
    pub fn new(bytes: Vec<u8>, executable: bool) -> Result<Self, NotText> {
        let decoded = Decoded::new(&bytes)?;
        let bytes = (bytes != decoded.text.as_bytes()).then_some(bytes);
        Ok(Self { decoded, bytes, executable })
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(self.decoded.text.as_bytes())
    }
}

/// Reads a file with all that its text does not tell. Blocks.
///
/// # Errors
/// As [`read`].
pub fn read_whole(path: &Path) -> Result<Whole, FileError> {
    let (bytes, metadata) = read_regular(path)?;
    let not_text = |reason| FileError::NotText { path: path.to_owned(), reason };
    Whole::new(bytes, rights::is_executable(&metadata)).map_err(not_text)
}

/// Writes a new text into a file whose text has the hash `expected`, in the file's own encoding and with its own line
/// ends. The text is normal (see [`crate::text`]). Gives the hash of what stands there now. Blocks.
///
/// The file is replaced in one step: whoever reads it sees the old text or the new one, even after a crash. Its mode,
/// owner and group are kept; other hard links to it keep the old text. Where a new file could not have that owner, or
/// would lose access lists and other attributes (seen on Linux), and where a file cannot be replaced, since it is a
/// mount point of its own or its folder takes no new files, the text is written into the file that is there, which
/// keeps all of it; a crash in the middle of that can leave a part. Where the disk is full, the old text is put back;
/// where even that fails, [`FileError::Torn`] says so.
///
/// # Errors
/// [`FileError::WriteProtected`] if it is not writable; [`FileError::Stale`] if the file's text is another, at the
/// beginning or right before the new one is put in its place; [`FileError::Link`]; the kinds of [`read`].
pub fn write(path: &Path, new_text: &str, expected: &TextHash) -> Result<TextHash, FileError> {
    Prepared::new(path, expected, |old| old.encode(new_text))?.put()?;
    Ok(text::hash(new_text))
}

/// Writes bytes into a file whose text has the hash `expected`, by the same rules as [`write`]. Blocks.
///
/// # Errors
/// As [`write`].
pub fn write_bytes(path: &Path, bytes: &[u8], expected: &TextHash) -> Result<(), FileError> {
    Prepared::new(path, expected, |_| bytes.to_owned())?.put()
}

/// Makes a new file, with the folders above it, as UTF-8 with the line ends that the text has. Gives its hash. Blocks.
///
/// # Errors
/// [`FileError::Exists`] if there is anything at that path; [`FileError::Link`]; [`FileError::Io`].
pub fn create(path: &Path, text: &str) -> Result<TextHash, FileError> {
    create_bytes(path, &Format::default().charset.encode(text), false)?;
    Ok(text::hash(text))
}

/// Makes a new file of bytes, with the folders above it, by the same rules as [`create`]; one that can be run as a
/// program if it is to be `executable`. Blocks.
///
/// # Errors
/// As [`create`].
pub fn create_bytes(path: &Path, bytes: &[u8], executable: bool) -> Result<(), FileError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
        _ => io_error(path, "written", error),
    };
    // Asked first so that no folders are made for nothing; the answer that counts comes with the last step.
    if path.symlink_metadata().is_ok() {
        return Err(FileError::Exists { path: path.to_owned() });
    }
    let place = Place::find(path, true)?;
    let kind = if executable { Mode::Program } else { Mode::New };
    let temporary = temporary(&place, bytes, kind).map_err(failed)?;
    temporary.persist_noclobber(&place.at).map_err(|error| failed(error.error))?;
    sync(&place);
    Ok(())
}

/// Deletes a file that is, byte for byte, what was read of it. Blocks.
///
/// # Errors
/// [`FileError::Stale`] if it is another; [`FileError::Link`]; the kinds of [`read`].
pub fn delete(path: &Path, expected: &Whole) -> Result<(), FileError> {
    let place = Place::find(path, false)?;
    if read_at(&place)? != expected.bytes() {
        return Err(FileError::Stale { path: path.to_owned() });
    }
    fs::remove_file(&place.at).map_err(|error| io_error(path, "deleted", error))?;
    sync(&place);
    Ok(())
}

/// A new text, ready to be put in the place of a file's old one.
struct Prepared<'p> {
    /// The file's bytes when it was prepared.
    before: Vec<u8>,
    bytes: Vec<u8>,
    /// The new file, safe on disk beside the old one; none if the old one is to be written into.
    replacement: Option<tempfile::NamedTempFile>,
    /// Behind the replacement, which goes by way of it.
    place: Place<'p>,
}

impl<'p> Prepared<'p> {
    /// `bytes` makes the new bytes of what the file is.
    fn new(path: &'p Path, expected: &TextHash, bytes: impl FnOnce(&Decoded) -> Vec<u8>) -> Result<Self, FileError> {
        let place = Place::find(path, false)?;
        let before = read_at(&place)?;
        let old = decode(path, &before)?;
        if text::hash(&old.text) != *expected {
            return Err(FileError::Stale { path: path.to_owned() });
        }
        let failed = |error| io_error(path, "written", error);
        let metadata = fs::symlink_metadata(&place.at).map_err(failed)?;
        // Replacing a file asks only for its folder; it is the file that its owner protected. Root may write to all, so
        // the mode is asked too.
        if metadata.permissions().readonly() {
            return Err(FileError::WriteProtected { path: path.to_owned() });
        }
        open_to_write(&place)?;
        let bytes = bytes(&old);
        let replacement = match rights::can_be_replaced(&place.at, &metadata) {
            false => None,
            true => match temporary(&place, &bytes, Mode::Like(&metadata)) {
                // In a folder that takes no new files the file itself can still be written.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
                made => Some(made.map_err(failed)?),
            },
        };
        Ok(Self { before, bytes, replacement, place })
    }

    fn put(self) -> Result<(), FileError> {
        // In this order, since the replacement goes by way of the place.
        let Self { place, before, bytes, replacement } = self;
        if read_at(&place)? != before {
            return Err(FileError::Stale { path: place.path.to_owned() });
        }
        match replacement.map(|replacement| replacement.persist(&place.at)) {
            Some(Ok(_)) => {
                sync(&place);
                return Ok(());
            }
            Some(Err(error)) if !is_mount_point(&error.error) => {
                return Err(io_error(place.path, "written", error.error));
            }
            Some(Err(_)) | None => {}
        }
        let mut file = open_to_write(&place)?;
        write_into(&mut file, &bytes).map_err(|error| {
            // The old text mostly has room there: it only has to be written again as far as it was written over.
            match write_into(&mut file, &before) {
                Err(back) if read_at(&place).ok().is_none_or(|now| now != before) => {
                    tracing::error!(file = %place.path.display(), %error, %back, "a file is torn");
                    FileError::Torn { path: place.path.to_owned(), reason: error.to_string(), back: back.to_string() }
                }
                _ => io_error(place.path, "written", error),
            }
        })
    }
}

/// Gives a file other bytes, in the place of those that it has.
fn write_into(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    file.rewind()?;
    // Shortened last: until then what was there has its room.
    file.write_all(bytes).and_then(|()| file.set_len(length)).and_then(|()| file.sync_all())
}

/// Opens a file that is there to write into it, without changing it.
fn open_to_write(place: &Place<'_>) -> Result<File, FileError> {
    let path = place.path.to_owned();
    open::existing(&place.at, Way::Write, Links::Refuse).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => FileError::WriteProtected { path },
        _ if open::is_link_error(&error) => FileError::Link { path },
        _ => io_error(&path, "written", error),
    })
}

/// True if a file could not be replaced because something is mounted right there.
fn is_mount_point(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    Decoded::new(bytes).map_err(|reason| FileError::NotText { path: path.to_owned(), reason })
}

/// The bytes of the file at a place, never those of what a link there leads to.
fn read_at(place: &Place<'_>) -> Result<Vec<u8>, FileError> {
    read_bytes(place.path, &place.at, Links::Refuse).map_err(|error| {
        let is_link = fs::symlink_metadata(&place.at).is_ok_and(|metadata| metadata.is_symlink());
        if is_link { FileError::Link { path: place.path.to_owned() } } else { error }
    })
}

/// The bytes of a regular file that no link leads to, and what else it is.
fn read_regular(path: &Path) -> Result<(Vec<u8>, fs::Metadata), FileError> {
    let (file, metadata) = open::regular(path).map_err(|error| match error.kind() {
        _ if open::is_link_error(&error) => FileError::Link { path: path.to_owned() },
        io::ErrorKind::InvalidInput => not_a_file(path, path.is_dir()),
        _ => io_error(path, "read", error),
    })?;
    bounded(path, file, &metadata).map(|bytes| (bytes, metadata))
}

/// The bytes of a file, which the system knows as `at`.
fn read_bytes(path: &Path, at: &Path, links: Links) -> Result<Vec<u8>, FileError> {
    let failed = |error| io_error(path, "read", error);
    let is_file = |metadata: &fs::Metadata| {
        if metadata.is_file() { Ok(()) } else { Err(not_a_file(path, metadata.is_dir())) }
    };
    // To open a device may do something, so it is asked first; what was opened is what counts.
    is_file(&fs::metadata(at).map_err(failed)?)?;
    let file = open::existing(at, Way::Read, links).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    is_file(&metadata)?;
    bounded(path, file, &metadata)
}

fn bounded(path: &Path, file: File, metadata: &fs::Metadata) -> Result<Vec<u8>, FileError> {
    let too_large = || FileError::TooLarge { path: path.to_owned(), size: metadata.len().max(MAX_BYTES + 1) };
    open::whole(file, metadata, MAX_BYTES).map_err(|error| io_error(path, "read", error))?.ok_or_else(too_large)
}

fn not_a_file(path: &Path, is_folder: bool) -> FileError {
    let what = if is_folder { "a folder" } else { "a pipe, a socket or a device" };
    FileError::NotAFile { path: path.to_owned(), what }
}

/// The mode, owner and group that a file gets.
#[derive(Clone, Copy)]
enum Mode<'m> {
    /// Those of any new file.
    New,
    /// Those of any new program.
    Program,
    /// Those of this file.
    Like(&'m fs::Metadata),
}

/// A file beside a place with these bytes, safe on disk, and with its mode, owner and group. It removes itself unless
/// it is put in place. Nobody else can read it before it has its mode.
fn temporary(place: &Place<'_>, bytes: &[u8], mode: Mode<'_>) -> io::Result<tempfile::NamedTempFile> {
    let mut temporary = tempfile::Builder::new().prefix(".azimuth-").make_in(place.folder(), |path| {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        // A new file gets all that the umask allows.
        match mode {
            Mode::New => options.open(path),
            Mode::Program => rights::program(&mut options).open(path),
            Mode::Like(_) => rights::private(&mut options).open(path),
        }
    })?;
    if let Mode::Like(like) = mode {
        rights::take(temporary.as_file(), like)?;
    }
    temporary.as_file_mut().write_all(bytes)?;
    if let Mode::Like(like) = mode {
        // Writing took away what makes a program run as its owner.
        temporary.as_file().set_permissions(like.permissions())?;
    }
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Makes a change of the file's folder safe on disk. Where that cannot be done the file is still whole, old or new.
fn sync(place: &Place<'_>) {
    let synced = File::open(place.folder()).and_then(|folder| folder.sync_all());
    if let Err(error) = synced {
        tracing::debug!(file = %place.path.display(), %error, "the folder could not be synced");
    }
}

fn io_error(path: &Path, action: &'static str, error: io::Error) -> FileError {
    let path = path.to_owned();
    let advice = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => return FileError::NotFound { path },
        io::ErrorKind::StorageFull => "; make room on that disk and try again",
        io::ErrorKind::QuotaExceeded => "; make room in what you may use of that disk and try again",
        io::ErrorKind::PermissionDenied if action != "read" => "; the rights of its folder do not allow it",
        io::ErrorKind::ReadOnlyFilesystem => "; that disk is mounted to be read only",
        _ => "",
    };
    FileError::Io { path, action, reason: format!("{error}{advice}") }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn with(&self, name: &str, bytes: &[u8]) -> PathBuf {
            fs::write(self.path(name), bytes).unwrap();
            self.path(name)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    fn whole(text: &str) -> Whole {
        Whole::new(text.into(), false).unwrap()
    }

    #[test]
    fn a_file_of_two_gigabytes_is_refused_before_it_is_read() {
        let folder = Folder::new();
        let path = folder.with("huge.log", b"");
        File::options().write(true).open(&path).unwrap().set_len((2 << 30) + 1).unwrap();
        let refused = read(&path).unwrap_err();
        assert_eq!(refused, FileError::TooLarge { path, size: (2 << 30) + 1 });
        assert!(refused.to_string().contains("search in it instead"), "{refused}");
    }

    #[test]
    fn what_is_not_a_text_file_is_refused_with_words() {
        let folder = Folder::new();
        let latin1 = folder.with("latin1.txt", b"caf\xE9");
        let binary = folder.with("a.out", b"\x7fELF\0\0");
        let pipe = folder.path("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let words = |path: &Path| read(path).unwrap_err().to_string();
        assert!(
            words(&latin1).ends_with("latin1.txt cannot be read as text: it is not UTF-8 text (byte 3 does not fit)")
        );
        assert!(words(&binary).ends_with("a.out cannot be read as text: it is a binary file"));
        assert!(words(&pipe).ends_with("pipe is a pipe, a socket or a device, not a file"));
        assert!(words(folder.0.path()).ends_with("is a folder, not a file"));
        assert!(words(&folder.path("none")).ends_with("none does not exist"));
        assert!(words(&latin1.join("below")).ends_with("below does not exist"));
    }

    #[test]
    fn a_deleted_program_with_crlf_and_a_mark_comes_back_byte_for_byte() {
        let folder = Folder::new();
        let bytes = b"\xEF\xBB\xBFone\r\ntwo\n";
        let path = folder.with("run.sh", bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o744)).unwrap();
        let whole = read_whole(&path).unwrap();
        assert!(whole.executable);
        assert_eq!(&*whole.decoded.text, "one\ntwo\n");
        fs::write(&path, b"one\ntwo\n").unwrap();
        let stale = delete(&path, &whole).unwrap_err();
        assert_eq!(stale, FileError::Stale { path: path.clone() }, "what would come back is another file");
        fs::write(&path, bytes).unwrap();
        delete(&path, &whole).unwrap();

        create_bytes(&path, &whole.bytes.unwrap(), whole.executable).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_ne!(fs::metadata(&path).unwrap().permissions().mode() & 0o100, 0);
        write_bytes(&path, b"three\r\n", &text::hash("one\ntwo\n")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three\r\n");
        assert!(matches!(write_bytes(&path, b"", &text::hash("one\n")), Err(FileError::Stale { .. })));
        let plain = read_whole(&folder.with("plain.txt", b"one\n")).unwrap();
        assert_eq!((plain.bytes, plain.executable), (None, false));
    }

    #[test]
    fn writing_keeps_byte_order_mark_line_ends_mode_and_leaves_nothing_behind() {
        let folder = Folder::new();
        let path = folder.with("run.sh", b"\xEF\xBB\xBFone\r\ntwo\r\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
        let hash = write(&path, "one\n2\n", &text::hash("one\ntwo\n")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\xEF\xBB\xBFone\r\n2\r\n");
        assert_eq!(hash, text::hash(&read(&path).unwrap().text));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o754);
        assert_eq!(folder.names(), ["run.sh"]);
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_overwritten_or_deleted() {
        let folder = Folder::new();
        let path = folder.with("a.txt", b"theirs");
        let stale = FileError::Stale { path: path.clone() };
        assert_eq!(write(&path, "ours", &text::hash("what we read")).unwrap_err(), stale);
        assert_eq!(delete(&path, &whole("what we read")).unwrap_err(), stale);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(folder.names(), ["a.txt"]);
    }

    #[test]
    fn a_file_that_changes_while_the_new_text_is_written_is_not_overwritten() {
        let folder = Folder::new();
        let path = folder.with("a.txt", b"read");
        let prepared = Prepared::new(&path, &text::hash("read"), |old| old.encode("ours")).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert_eq!(prepared.put().unwrap_err(), FileError::Stale { path: path.clone() });
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(folder.names(), ["a.txt"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_comes_in_the_place_of_a_folder_while_the_new_text_is_written_is_not_written_to() {
        let (folder, outside) = (Folder::new(), Folder::new());
        fs::create_dir(folder.path("src")).unwrap();
        let (path, theirs) = (folder.with("src/a.txt", b"old"), outside.with("a.txt", b"old"));
        let prepared = Prepared::new(&path, &text::hash("old"), |old| old.encode("new")).unwrap();
        fs::rename(folder.path("src"), folder.path("moved")).unwrap();
        std::os::unix::fs::symlink(outside.0.path(), folder.path("src")).unwrap();
        prepared.put().unwrap();
        assert_eq!(fs::read(folder.path("moved/a.txt")).unwrap(), b"new");
        assert_eq!((fs::read(&theirs).unwrap(), outside.names()), (b"old".to_vec(), vec!["a.txt".to_owned()]));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_is_written_made_or_deleted_through_a_link() {
        let (folder, outside) = (Folder::new(), Folder::new());
        let theirs = outside.with("a.txt", b"old");
        std::os::unix::fs::symlink(&theirs, folder.path("a.txt")).unwrap();
        std::os::unix::fs::symlink(outside.0.path(), folder.path("src")).unwrap();
        for path in ["a.txt", "src/a.txt"].map(|name| folder.path(name)) {
            let link = FileError::Link { path: path.clone() };
            assert_eq!(write(&path, "new", &text::hash("old")).unwrap_err(), link);
            assert_eq!(delete(&path, &whole("old")).unwrap_err(), link);
        }
        for path in ["src/new.txt", "src/deep/new.txt"].map(|name| folder.path(name)) {
            assert_eq!(create(&path, "x").unwrap_err(), FileError::Link { path: path.clone() });
        }
        assert_eq!((fs::read(&theirs).unwrap(), outside.names()), (b"old".to_vec(), vec!["a.txt".to_owned()]));
        let below = create(&outside.path("a.txt/b.txt"), "x").unwrap_err().to_string();
        assert!(below.ends_with("does not exist"), "{below}");
    }

    #[test]
    fn a_new_file_gets_its_folders_and_never_replaces_another() {
        let folder = Folder::new();
        let path = folder.path("deep/er/new.rs");
        assert_eq!(create(&path, "text\n").unwrap(), text::hash("text\n"));
        assert_eq!(fs::read(&path).unwrap(), b"text\n");
        let ordinary = folder.with("ordinary", b"");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&ordinary), "as any new file's");
        assert_eq!(create(&path, "other").unwrap_err(), FileError::Exists { path: path.clone() });
        assert_eq!(fs::read(&path).unwrap(), b"text\n");

        let dangling = folder.path("dangling");
        std::os::unix::fs::symlink(folder.path("nowhere"), &dangling).unwrap();
        assert!(matches!(create(&dangling, "x"), Err(FileError::Exists { .. })));
    }

    #[test]
    fn a_file_that_is_as_expected_is_deleted() {
        let folder = Folder::new();
        let path = folder.with("a.txt", b"a\r\n");
        delete(&path, &whole("a\r\n")).unwrap();
        assert!(folder.names().is_empty());
        assert!(matches!(delete(&path, &whole("a\r\n")), Err(FileError::NotFound { .. })));
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_an_error_in_words() {
        let folder = Folder::new();
        let path = folder.with("kept.txt", b"old");
        let set = |mode| fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(mode)).unwrap();
        set(0o555);
        let created = create(&folder.path("new.txt"), "x");
        let (written, deleted) = (write(&path, "new", &text::hash("old")), delete(&path, &whole("new")));
        set(0o755);
        if rustix::process::geteuid().is_root() {
            assert!(created.is_ok() && deleted.is_ok(), "nothing is closed to root");
            return;
        }
        let words = created.unwrap_err().to_string();
        assert!(words.contains("new.txt cannot be written: Permission denied"), "{words}");
        assert!(matches!(deleted, Err(FileError::Io { action: "deleted", .. })));
        assert_eq!((written.unwrap(), fs::read(&path).unwrap()), (text::hash("new"), b"new".to_vec()));
    }

    #[test]
    fn a_write_protected_file_is_not_written_to() {
        let folder = Folder::new();
        let path = folder.with("generated.rs", b"old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let refused = write(&path, "new", &text::hash("old")).unwrap_err();
        assert!(refused.to_string().contains("generated.rs is write-protected; nothing was written"), "{refused}");
        assert_eq!((fs::read(&path).unwrap(), folder.names()), (b"old".to_vec(), vec!["generated.rs".to_owned()]));
    }

    #[test]
    fn what_only_the_owner_may_read_is_never_readable_by_others() {
        let folder = Folder::new();
        let path = folder.with("secret", b"old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let like = fs::metadata(&path).unwrap();
        let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
        let prepared = Prepared::new(&path, &text::hash("old"), |old| old.encode("new")).unwrap();
        assert_eq!(mode(prepared.replacement.as_ref().unwrap().path()), 0o600);
        // Before its first byte too.
        assert_eq!(mode(temporary(&Place::find(&path, false).unwrap(), b"", Mode::Like(&like)).unwrap().path()), 0o600);
        prepared.put().unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"new".to_vec()));
    }

    #[test]
    fn owner_and_attributes_survive_a_write() {
        use std::os::unix::fs::MetadataExt;
        let folder = Folder::new();
        let tagged = folder.with("tagged.txt", b"old and longer");
        let flags = rustix::fs::XattrFlags::empty();
        // Not every file system of a temporary folder has attributes.
        if rustix::fs::setxattr(&tagged, c"user.azimuth", b"kept", flags).is_ok() {
            write(&tagged, "new", &text::hash("old and longer")).unwrap();
            assert_eq!(fs::read(&tagged).unwrap(), b"new");
            let mut value = [0; 8];
            let length = rustix::fs::getxattr(&tagged, c"user.azimuth", &mut value[..]).unwrap();
            assert_eq!(&value[..length], b"kept");
        }

        let plain = folder.with("plain.txt", b"old");
        let before = fs::metadata(&plain).unwrap();
        write(&plain, "new", &text::hash("old")).unwrap();
        let after = fs::metadata(&plain).unwrap();
        assert_ne!(before.ino(), after.ino(), "a plain file is replaced in one step");
        assert_eq!((before.uid(), before.gid(), before.mode()), (after.uid(), after.gid(), after.mode()));
    }

    #[test]
    fn a_file_of_someone_else_stays_theirs() {
        use std::os::unix::fs::{MetadataExt, chown};
        let folder = Folder::new();
        let path = folder.with("theirs.txt", b"old");
        // Only root can give files away; for others there is nothing to see here.
        if chown(&path, Some(65534), Some(65534)).is_ok() {
            write(&path, "new", &text::hash("old")).unwrap();
            let after = fs::metadata(&path).unwrap();
            assert_eq!((after.uid(), after.gid(), fs::read(&path).unwrap()), (65534, 65534, b"new".to_vec()));
        }
    }
}
