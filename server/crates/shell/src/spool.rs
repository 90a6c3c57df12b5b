//! A terminal's bytes with their offsets: what a view that joins late asks for.

#![expect(clippy::disallowed_methods, reason = "the spool owns its files; they are no files of the project")]

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// A file takes this many bytes before the next one is begun. The last two are kept, so that always at least the last
/// 4 MiB and at most 8 MiB can be read.
const SEGMENT: u64 = 4 << 20;

/// The last bytes are in memory too, for views that follow.
const TAIL: usize = 256 << 10;

/// The output of a terminal, each byte at its offset since the terminal's first start in this session.
///
/// The last bytes are in memory, the last 4 to 8 MiB in files. Offsets go on where an earlier process of the same
/// session left off, and what that one wrote can still be read.
pub struct Spool {
    kept: Mutex<Kept>,
    end: watch::Sender<u64>,
}

struct Kept {
    folder: PathBuf,
    /// The offsets at which the files begin, in order; each ends where the next begins.
    segments: VecDeque<u64>,
    /// The last segment's file, once this process has written.
    file: Option<File>,
    tail: VecDeque<u8>,
    end: u64,
    /// Files are given up after a failure, such as a full disk; the terminal goes on without them.
    files_failed: bool,
}

impl Spool {
    /// The spool in a folder, which must exist and should be private. Goes on from what is there.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let (segments, end) = segments(folder)?;
        let kept =
            Kept { folder: folder.to_owned(), segments, file: None, tail: VecDeque::new(), end, files_failed: false };
        Ok(Self { kept: Mutex::new(kept), end: watch::Sender::new(end) })
    }

    /// Adds bytes at the end.
    pub fn push(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = {
            let mut kept = self.kept();
            kept.push(bytes);
            kept.end
        };
        self.end.send_replace(end);
    }

    /// Takes what another process, whose files these are, has added at an offset. What is known already is passed over.
    pub fn mirror(&self, offset: u64, bytes: &[u8]) {
        let end = {
            let mut kept = self.kept();
            kept.mirror(offset, bytes);
            kept.end
        };
        self.end.send_replace(end);
    }

    /// Goes on from what is in the files now, after another process added to them.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn catch_up(&self) -> io::Result<()> {
        let end = {
            let mut kept = self.kept();
            let (segments, end) = segments(&kept.folder)?;
            kept.segments = segments;
            if end > kept.end {
                kept.tail.clear();
                kept.end = end;
            }
            kept.end
        };
        self.end.send_replace(end);
        Ok(())
    }

    /// Up to `most` bytes from an offset on, with the offset of the first of them. That is larger than asked where
    /// older bytes are no longer kept, and never beyond the end. No bytes means there are none yet.
    pub fn read_from(&self, offset: u64, most: usize) -> (u64, Vec<u8>) {
        self.kept().read_from(offset, most)
    }

    /// The same where that does not block: none if the bytes are not in memory, or the spool is being written to.
    pub fn read_recent(&self, offset: u64, most: usize) -> Option<Vec<u8>> {
        let kept = self.kept.try_lock().ok()?;
        let tail_start = kept.end - kept.tail.len() as u64;
        (tail_start..kept.end).contains(&offset).then(|| kept.read_from(offset, most).1)
    }

    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        *self.end.borrow()
    }

    /// The end as it grows: a follower waits for it to change, then reads from its own offset.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.end.subscribe()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        if !self.files_failed
            && let Err(error) = self.write(bytes)
        {
            tracing::warn!(%error, folder = %self.folder.display(), "terminal output is kept in memory only");
            self.files_failed = true;
            self.file = None;
            for start in std::mem::take(&mut self.segments) {
                let _ = std::fs::remove_file(path_of(&self.folder, start));
            }
        }
        self.tail.extend(bytes);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.end += bytes.len() as u64;
    }

    fn mirror(&mut self, offset: u64, bytes: &[u8]) {
        let known = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(news) = bytes.get(known..).filter(|news| !news.is_empty()) else { return };
        if offset > self.end {
            self.tail.clear();
            self.end = offset;
        }
        self.tail.extend(news);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.end += news.len() as u64;
        // Only then can there be another file.
        let is_beyond = self.segments.back().is_none_or(|start| self.end.saturating_sub(*start) > SEGMENT);
        if is_beyond && let Ok((segments, _)) = segments(&self.folder) {
            self.segments = segments;
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = self.segments.back().is_none_or(|start| self.end - start >= SEGMENT);
        if full {
            self.file = None;
            self.segments.push_back(self.end);
            while self.segments.len() > 2 {
                if let Some(start) = self.segments.pop_front() {
                    std::fs::remove_file(path_of(&self.folder, start))?;
                }
            }
        }
        if self.file.is_none() {
            let start = self.segments.back().copied().unwrap_or(self.end);
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            self.file = Some(platform::rights::private(&mut options).open(path_of(&self.folder, start))?);
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }

    fn read_from(&self, offset: u64, most: usize) -> (u64, Vec<u8>) {
        let tail_start = self.end - self.tail.len() as u64;
        let first = self.segments.front().copied().unwrap_or(tail_start);
        let at = offset.clamp(first.min(tail_start), self.end);
        if at < tail_start
            && let Ok(bytes) = self.read_file(at, most)
            && (!bytes.is_empty() || most == 0)
        {
            return (at, bytes);
        }
        let at = at.max(tail_start);
        let skip = usize::try_from(at - tail_start).unwrap_or(0);
        let length = most.min(self.tail.len() - skip.min(self.tail.len()));
        (at, self.tail.range(skip..skip + length).copied().collect())
    }

    fn read_file(&self, at: u64, most: usize) -> io::Result<Vec<u8>> {
        let Some(start) = self.segments.iter().rev().find(|start| **start <= at) else {
            return Ok(Vec::new());
        };
        let mut file = File::open(path_of(&self.folder, *start))?;
        file.seek(SeekFrom::Start(at - start))?;
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The offsets at which a folder's files begin, as far back as they are without a gap, and where the last one ends.
fn segments(folder: &Path) -> io::Result<(VecDeque<u64>, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(start) = entry.file_name().to_str().and_then(start_of) {
            found.push((start, entry.metadata()?.len()));
        }
    }
    found.sort_unstable();
    let end = found.last().map_or(0, |(start, length)| start.saturating_add(*length));
    let (mut segments, mut next) = (VecDeque::new(), end);
    for (start, length) in found.into_iter().rev() {
        if start.saturating_add(length) != next {
            break;
        }
        segments.push_front(start);
        next = start;
    }
    Ok((segments, end))
}

fn path_of(folder: &Path, start: u64) -> PathBuf {
    folder.join(format!("terminal-{start:020}.bin"))
}

fn start_of(name: &str) -> Option<u64> {
    name.strip_prefix("terminal-")?.strip_suffix(".bin")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_reads_along_and_goes_on_where_the_first_one_ended() {
        let folder = tempfile::tempdir().unwrap();
        let owner = Spool::open(folder.path()).unwrap();
        owner.push(b"before ");
        let other = Spool::open(folder.path()).unwrap();
        owner.push(b"one ");
        other.catch_up().unwrap();
        assert_eq!(other.read_from(0, 99), (0, b"before one ".to_vec()));
        owner.push(b"two ");
        // Some of it twice, as two views of it bring it.
        other.mirror(7, b"one two ");
        other.mirror(7, b"one ");
        assert_eq!((other.end(), other.read_from(11, 99)), (15, (11, b"two ".to_vec())));
        owner.push(b"three ");
        drop(owner);
        other.catch_up().unwrap();
        other.push(b"four");
        assert_eq!(other.read_from(0, 99), (0, b"before one two three four".to_vec()));
        assert_eq!(Spool::open(folder.path()).unwrap().end(), 25);
    }

    #[test]
    fn another_process_reads_along_from_file_to_file() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Spool::open(folder.path()).unwrap();
        let (owner, at_once, late) = (open(), open(), open());
        let chunk = |at: u64| -> Vec<u8> { (at..at + 65_521).map(byte_at).collect() };
        let offsets = || (0..3 * SEGMENT).step_by(65_521);
        for at in offsets() {
            owner.push(&chunk(at));
            at_once.mirror(at, &chunk(at));
        }
        for at in offsets() {
            late.mirror(at, &chunk(at));
        }
        for at in (0..owner.end()).step_by(100_000) {
            let kept = owner.read_from(at, 1000);
            assert_eq!((at_once.read_from(at, 1000), late.read_from(at, 1000)), (kept.clone(), kept));
        }
    }

    #[test]
    fn a_view_that_joins_late_reads_what_it_missed() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        spool.push(b"hello ");
        spool.push(&[0, 0xff, b'\n']);
        assert_eq!(spool.end(), 9);
        assert_eq!(spool.read_from(0, 100), (0, b"hello \0\xff\n".to_vec()));
        assert_eq!(spool.read_from(6, 2), (6, vec![0, 0xff]));
        assert_eq!(spool.read_from(50, 2), (9, vec![]));
    }

    #[test]
    fn old_bytes_leave_in_order_and_the_reader_is_told_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let total: u64 = 20 << 20;
        let mut pushed = 0_u64;
        while pushed < total {
            let chunk: Vec<u8> = (0..65_521_u64).map(|i| byte_at(pushed + i)).collect();
            spool.push(&chunk);
            pushed += chunk.len() as u64;
        }
        let on_disk: u64 =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(on_disk <= (8 << 20) + 65_521, "{on_disk} bytes are kept");

        let (mut at, _) = spool.read_from(0, 0);
        assert!(pushed - at >= 4 << 20, "only {} bytes can be read", pushed - at);
        while at < pushed {
            let (from, bytes) = spool.read_from(at, 100_000);
            assert_eq!(from, at);
            assert!(!bytes.is_empty());
            assert!(bytes.iter().zip(from..).all(|(byte, offset)| *byte == byte_at(offset)));
            at += bytes.len() as u64;
        }
    }

    #[test]
    fn a_restart_goes_on_at_the_same_offset() {
        let folder = tempfile::tempdir().unwrap();
        Spool::open(folder.path()).unwrap().push(b"before ");
        let spool = Spool::open(folder.path()).unwrap();
        assert_eq!(spool.end(), 7);
        spool.push(b"after");
        let (at, mut bytes) = spool.read_from(0, 100);
        assert_eq!(at, 0);
        bytes.extend(spool.read_from(bytes.len() as u64, 100).1);
        assert_eq!(bytes, b"before after");
    }

    #[tokio::test]
    async fn a_follower_is_woken_by_new_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let mut end = spool.watch();
        spool.push(b"x");
        end.changed().await.unwrap();
        assert_eq!(*end.borrow(), 1);
    }

    fn byte_at(offset: u64) -> u8 {
        (offset.wrapping_mul(2_654_435_761) >> 11) as u8
    }
}
