//! Where the processes of one user meet that work on the same data folder: a Unix socket for each that holds a session.
//! The folder of the sockets is the user's alone, on both ends the other's user and sandbox are looked at, and each
//! shows the other that it may read the data folder ([`key`]).

#![expect(
    clippy::disallowed_methods,
    reason = "the sockets' folder is ours; a socket whose process is gone is removed"
)]

use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use process::supervisor;
use project::text;
use rustix::process::{Pid, geteuid};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use self::key::Key;

mod key;

/// The most connections that may be about to show the key.
const GREETED: usize = 64;

/// The characters of the data folder's hash in a socket's name: enough to tell folders apart. The path of a socket has
/// little room, about a hundred bytes.
const HASH: usize = 16;

/// The sockets of the processes on one data folder.
pub struct Sockets {
    folder: PathBuf,
    data_folder: PathBuf,
    /// The text that stands for the data folder in their names.
    data: String,
    state: Mutex<State>,
}

enum State {
    /// Nobody would take a connection.
    Unwanted,
    /// There is somebody who takes the listener.
    Wanted(oneshot::Sender<Listener>),
    /// It listens.
    Done,
}

/// Random bytes.
///
/// # Errors
/// The system has none to give.
pub(crate) fn random() -> io::Result<Vec<u8>> {
    key::random().map(String::into_bytes)
}

/// This process's socket. It is removed when this is dropped.
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    key: Key,
    /// Those that have connected and are to show the key. One that does not keeps no other waiting.
    greeted: tokio::sync::Mutex<JoinSet<io::Result<UnixStream>>>,
}

impl Sockets {
    /// The sockets in a folder, which is made when it is needed.
    pub fn new(folder: PathBuf, data_folder: &Path) -> Self {
        let data_folder = data_folder.canonicalize().unwrap_or_else(|_| data_folder.to_owned());
        let hash = text::hash(&data_folder.to_string_lossy()).0;
        let data = hash.get(..HASH).unwrap_or(&hash).to_owned();
        Self { folder, data_folder, data, state: Mutex::new(State::Unwanted) }
    }

    /// The listener, as soon as there is one. Without somebody who waits for it there never is.
    pub fn listener(&self) -> oneshot::Receiver<Listener> {
        let (sender, receiver) = oneshot::channel();
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Wanted(sender);
        receiver
    }

    /// Listens from now on. Blocks shortly, and needs a runtime. Where it cannot, other processes cannot attach to this
    /// one's sessions, and are told so; the next call tries again.
    pub fn listen(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, State::Wanted(_)) {
            return;
        }
        match self.bind() {
            Ok(listener) => {
                if let State::Wanted(sender) = std::mem::replace(&mut *state, State::Done) {
                    let _ = sender.send(listener);
                }
            }
            Err(error) => tracing::warn!(%error, folder = %self.folder.display(), "no other window can attach"),
        }
    }

    /// Random bytes of this installation for a purpose, which stay the same. Blocks.
    ///
    /// # Errors
    /// The key of the data folder cannot be read or made.
    pub fn key_for(&self, purpose: &str) -> io::Result<Vec<u8>> {
        Ok(Key::of(&self.data_folder)?.for_purpose(purpose))
    }

    /// Connects to a process.
    ///
    /// # Errors
    /// The process does not listen, is another user's or in a sandbox, or does not know the data folder's key.
    pub(crate) async fn connect(&self, process: u32) -> io::Result<UnixStream> {
        check_private(&self.folder, &self.folder.symlink_metadata()?)?;
        let mut stream = UnixStream::connect(self.path(process)).await?;
        check_peer(&stream)?;
        Key::of(&self.data_folder)?.introduce(&mut stream).await?;
        Ok(stream)
    }

    fn bind(&self) -> io::Result<Listener> {
        let key = Key::of(&self.data_folder)?;
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => check_private(&self.folder, &self.folder.symlink_metadata()?)?,
        }
        self.sweep();
        let path = self.path(std::process::id());
        if path.symlink_metadata().is_ok() {
            let text = format!("{} is in use by a process with the same number as this one", path.display());
            return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
        }
        // A socket that does not listen yet looks like one that was left: under this name no other process sweeps it.
        let unborn = path.with_extension("new");
        let _ = std::fs::remove_file(&unborn);
        let listener = UnixListener::bind(&unborn)?;
        std::fs::rename(&unborn, &path)?;
        Ok(Listener { listener, path, key, greeted: tokio::sync::Mutex::default() })
    }

    /// Removes what processes left that were killed. Their numbers say nothing: they may live in another container.
    fn sweep(&self) {
        for entry in self.folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "sock") {
                continue;
            }
            // A process that does not answer is no reason to wait.
            let connected = UnixStream::connect(&path).now_or_never();
            if matches!(connected, Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused) {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn path(&self, process: u32) -> PathBuf {
        self.folder.join(format!("{}-{process}.sock", self.data))
    }
}

impl Listener {
    /// The next connection of a process of this user that knows the data folder's key.
    ///
    /// # Errors
    /// The system has no more connections to give.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        let mut greeted = self.greeted.lock().await;
        loop {
            let is_full = greeted.len() >= GREETED;
            tokio::select! {
                accepted = self.listener.accept(), if !is_full => {
                    let (mut stream, _) = accepted?;
                    match check_peer(&stream) {
                        Ok(()) => {
                            let key = self.key.clone();
                            greeted.spawn(async move { key.greet(&mut stream).await.map(|()| stream) });
                        }
                        Err(error) => tracing::warn!(%error, "a connection was refused"),
                    }
                }
                Some(shown) = greeted.join_next() => match shown.map_err(io::Error::other).and_then(|shown| shown) {
                    Ok(stream) => return Ok(stream),
                    // As of a process that only looks whether somebody listens.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                    Err(error) => tracing::warn!(%error, "a connection was refused"),
                },
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn check_private(folder: &Path, metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() && metadata.uid() == geteuid().as_raw() && metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    let text = format!("{} is not a folder that is yours alone (mode 0700)", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = stream.peer_cred()?;
    let user = peer.uid();
    let process = peer.pid().and_then(Pid::from_raw);
    if user == geteuid().as_raw() && process.is_some_and(supervisor::is_confined) {
        // It could answer its own questions, and leave the sandbox with it.
        let text = "process in a sandbox";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    if user == geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("the other end is user {user}'s")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn processes_of_one_data_folder_find_each_other_and_leave_nothing_behind() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        std::fs::create_dir(&data).unwrap();
        let host = Sockets::new(folder.clone(), &data);
        host.listen();
        assert!(!folder.exists(), "nobody waits for connections");

        let listener = host.listener();
        host.listen();
        let listener = listener.await.unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let (ours, process) = (Sockets::new(folder.clone(), &data), std::process::id());
        let (connected, accepted) = tokio::join!(ours.connect(process), listener.accept());
        connected.unwrap();
        accepted.unwrap();
        let others = Sockets::new(folder.clone(), &world.path().join("other"));
        assert!(others.connect(process).await.is_err(), "it is another data folder's");
        drop(listener);
        assert_eq!(folder.read_dir().unwrap().count(), 0);
        assert!(ours.connect(process).await.is_err());
    }

    #[tokio::test]
    async fn a_folder_that_others_can_read_is_not_used() {
        let world = tempfile::tempdir().unwrap();
        std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let sockets = Sockets::new(world.path().to_owned(), world.path());
        let mut listener = sockets.listener();
        sockets.listen();
        assert!(listener.try_recv().is_err());
        assert_eq!(sockets.connect(1).await.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_removed_and_what_listens_is_left_alone_whatever_its_number() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        std::fs::create_dir(&data).unwrap();
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let host = Sockets::new(folder.clone(), &data);
        // Of a process that was killed, in a container where it had the number of one that lives here.
        let dead = host.path(std::os::unix::process::parent_id());
        drop(UnixListener::bind(&dead).unwrap());
        // Of one that lives in a container, with a number that no process has here: it is above the greatest.
        let alive = host.path(99_999_999);
        let other = UnixListener::bind(&alive).unwrap();
        // Of an earlier process that had our number.
        drop(UnixListener::bind(host.path(std::process::id())).unwrap());
        let listener = host.listener();
        host.listen();
        let listener = listener.await.unwrap();
        assert!(!dead.exists() && alive.exists());
        let ours = Sockets::new(folder.clone(), &data);
        UnixStream::connect(&alive).await.unwrap();
        other.accept().await.unwrap();
        let (connected, accepted) = tokio::join!(ours.connect(std::process::id()), listener.accept());
        connected.unwrap();
        accepted.unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 2);
    }

    #[tokio::test]
    async fn a_process_with_our_number_that_lives_elsewhere_keeps_its_socket() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        std::fs::create_dir(&data).unwrap();
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let host = Sockets::new(folder, &data);
        let other = UnixListener::bind(host.path(std::process::id())).unwrap();
        let _listener = host.listener();
        host.listen();
        UnixStream::connect(host.path(std::process::id())).await.unwrap();
        other.accept().await.unwrap();
    }

    #[tokio::test]
    async fn who_takes_the_place_of_a_socket_hears_nothing_of_a_client_without_the_key() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        std::fs::create_dir(&data).unwrap();
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let ours = Sockets::new(folder, &data);
        let other = UnixListener::bind(ours.path(7)).unwrap();
        // It says what the client said, or what a host might have said once.
        for said in [None, Some("0".repeat(128))] {
            let impostor = async {
                let (mut stream, _) = other.accept().await.unwrap();
                let mut heard = [0; 64];
                stream.read_exact(&mut heard).await.unwrap();
                let answer = said.map_or_else(|| heard.repeat(2), String::into_bytes);
                stream.write_all(&answer).await.unwrap();
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await.unwrap();
                rest
            };
            let (connected, rest) = tokio::join!(ours.connect(7), impostor);
            assert_eq!(connected.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert!(rest.is_empty());
        }
        let key = std::fs::metadata(data.join("socket.key")).unwrap();
        assert_eq!((key.len(), key.permissions().mode() & 0o777), (64, 0o600));
    }

    #[tokio::test]
    async fn who_says_nothing_keeps_no_other_waiting() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        std::fs::create_dir(&data).unwrap();
        let host = Sockets::new(folder, &data);
        let listener = host.listener();
        host.listen();
        let listener = listener.await.unwrap();
        let mut silent = Vec::new();
        for _ in 0..GREETED / 2 {
            silent.push(UnixStream::connect(host.path(std::process::id())).await.unwrap());
        }
        let both = async { tokio::join!(host.connect(std::process::id()), listener.accept()) };
        let (connected, accepted) = tokio::time::timeout(std::time::Duration::from_secs(4), both).await.unwrap();
        connected.unwrap();
        accepted.unwrap();
    }

    #[tokio::test]
    async fn listening_is_tried_again_where_it_failed() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().join("run");
        std::fs::write(&folder, "in the way").unwrap();
        let host = Sockets::new(folder.clone(), world.path());
        let listener = host.listener();
        host.listen();
        std::fs::remove_file(&folder).unwrap();
        host.listen();
        listener.await.unwrap();
    }
}
