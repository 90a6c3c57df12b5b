//! Where the processes of one user meet that work on the same data folder: a Unix socket for each that holds a session
//! (design D2). The folder of the sockets is the user's alone, and on both ends the other's user is looked at.

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
use rustix::process::{Pid, geteuid};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use workspace::shell::supervisor;
use workspace::text;

/// How much of the data folder's hash is in a socket's name: enough to tell folders apart. The path of a socket has
/// little room, about a hundred bytes.
const HASH: usize = 16;

/// The sockets of the processes on one data folder.
pub struct Sockets {
    folder: PathBuf,
    /// What stands for the data folder in their names.
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

/// This process's socket. It is removed when this is dropped.
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

impl Sockets {
    /// The sockets in a folder, which is made when it is needed.
    pub fn new(folder: PathBuf, data_folder: &Path) -> Self {
        let data_folder = data_folder.canonicalize().unwrap_or_else(|_| data_folder.to_owned());
        let hash = text::hash(&data_folder.to_string_lossy()).0;
        let data = hash.get(..HASH).unwrap_or(&hash).to_owned();
        Self { folder, data, state: Mutex::new(State::Unwanted) }
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

    /// Connects to a process.
    ///
    /// # Errors
    /// The process does not listen, or is another user's.
    pub(crate) async fn connect(&self, process: u32) -> io::Result<UnixStream> {
        check_private(&self.folder, &self.folder.symlink_metadata()?)?;
        let stream = UnixStream::connect(self.path(process)).await?;
        check_peer(&stream)?;
        Ok(stream)
    }

    fn bind(&self) -> io::Result<Listener> {
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
        Ok(Listener { listener, path })
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
    /// The next connection of this user.
    ///
    /// # Errors
    /// The system has no more connections to give.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match check_peer(&stream) {
                Ok(()) => return Ok(stream),
                Err(error) => tracing::warn!(%error, "a connection was refused"),
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
        let _listener = listener.await.unwrap();
        assert!(!dead.exists() && alive.exists());
        let ours = Sockets::new(folder.clone(), &data);
        ours.connect(99_999_999).await.unwrap();
        other.accept().await.unwrap();
        ours.connect(std::process::id()).await.unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 2);
    }

    #[tokio::test]
    async fn a_process_with_our_number_that_lives_elsewhere_keeps_its_socket() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let host = Sockets::new(folder, &data);
        let other = UnixListener::bind(host.path(std::process::id())).unwrap();
        let _listener = host.listener();
        host.listen();
        host.connect(std::process::id()).await.unwrap();
        other.accept().await.unwrap();
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
