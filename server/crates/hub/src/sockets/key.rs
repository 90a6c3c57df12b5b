//! The key of a data folder, by which the processes that may read that folder know each other.
//!
//! Whoever connects to a socket has to show it, and who listens too, before either hears anything else. A process in a
//! sandbox cannot: the data folder is never granted to one. What a process is and whom it descends from can be looked
//! at besides, but its number may be another's a moment later, and the key cannot be guessed.
//!
//! The key itself is never sent. Each end says something random, and shows the hash of that with the key.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use project::text;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// The key's file in the data folder.
const NAME: &str = "socket.key";

/// The number of random bytes in the key, and in what each end says.
const RANDOM: usize = 32;

/// The length of such bytes, and of a hash, as they are written: in hexadecimal.
const WORD: usize = 2 * RANDOM;

/// The time that the other end may take to show the key.
const PATIENCE: Duration = Duration::from_secs(5);

/// The key of a data folder.
#[derive(Clone)]
pub(super) struct Key(String);

/// An end of a connection.
#[derive(Clone, Copy)]
enum End {
    Host,
    Client,
}

impl Key {
    /// The key of a data folder, made where there is none. Blocks.
    pub(super) fn of(data_folder: &Path) -> io::Result<Self> {
        let path = data_folder.join(NAME);
        if !path.try_exists()? {
            // It is whole, and the user's alone, as soon as it has its name. Whoever comes second takes the first
            // one's.
            let mut file = NamedTempFile::new_in(data_folder)?;
            file.write_all(random()?.as_bytes())?;
            match file.persist_noclobber(&path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => return Err(error.error),
                _ => {}
            }
        }
        let mut key = String::new();
        File::open(&path)?.take(WORD as u64 + 1).read_to_string(&mut key)?;
        if key.len() == WORD {
            return Ok(Self(key));
        }
        let text =
            format!("{} is not a key; end Azimuth everywhere and remove it, and a new one is made", path.display());
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// Bytes that follow from the key for a purpose, and from which the key cannot be computed.
    pub(super) fn for_purpose(&self, purpose: &str) -> Vec<u8> {
        text::hash(&format!("{purpose}\0{}", self.0)).0.into_bytes()
    }

    /// Has the other end, which connected to us, show the key.
    pub(super) async fn greet(&self, stream: &mut UnixStream) -> io::Result<()> {
        in_time(async {
            let theirs = word(stream).await?;
            let ours = random()?;
            let shown = self.shown(End::Host, &theirs, &ours);
            stream.write_all(format!("{ours}{shown}").as_bytes()).await?;
            check(word(stream).await? == self.shown(End::Client, &theirs, &ours))
        })
        .await
    }

    /// Shows the key to the other end, which we connected to, once that has shown it.
    pub(super) async fn introduce(&self, stream: &mut UnixStream) -> io::Result<()> {
        in_time(async {
            let ours = random()?;
            stream.write_all(ours.as_bytes()).await?;
            let theirs = word(stream).await?;
            check(word(stream).await? == self.shown(End::Host, &ours, &theirs))?;
            stream.write_all(self.shown(End::Client, &ours, &theirs).as_bytes()).await
        })
        .await
    }

    fn shown(&self, end: End, client: &str, host: &str) -> String {
        let end = match end {
            End::Host => "host",
            End::Client => "client",
        };
        text::hash_bytes(format!("azimuth {end}\n{}\n{client}\n{host}", self.0).as_bytes())
    }
}

async fn in_time(exchange: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    tokio::time::timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn word(stream: &mut UnixStream) -> io::Result<String> {
    let mut word = [0; WORD];
    stream.read_exact(&mut word).await?;
    if word.iter().all(u8::is_ascii_hexdigit) {
        return Ok(String::from_utf8_lossy(&word).into_owned());
    }
    check(false).map(|()| String::new())
}

fn check(is_right: bool) -> io::Result<()> {
    if is_right {
        return Ok(());
    }
    let text = "the other end does not know the key of this data folder";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

pub(super) fn random() -> io::Result<String> {
    let mut bytes = [0; RANDOM];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
