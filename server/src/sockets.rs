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

use rustix::process::{Pid, geteuid, test_kill_process};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
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
    /// It listens, or could not.
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

    /// Listens from now on. Blocks, and needs a runtime. Where it cannot, other processes cannot attach to this one's
    /// sessions, and are told so.
    pub fn listen(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, State::Wanted(_)) {
            return;
        }
        if let State::Wanted(sender) = std::mem::replace(&mut *state, State::Done) {
            match self.bind() {
                Ok(listener) => drop(sender.send(listener)),
                Err(error) => tracing::warn!(%error, folder = %self.folder.display(), "no other window can attach"),
            }
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
        if std::os::unix::net::UnixStream::connect(&path).is_err() {
            // It was left by an earlier process that had our number.
            let _ = std::fs::remove_file(&path);
        }
        Ok(Listener { listener: UnixListener::bind(&path)?, path })
    }

    /// Removes what processes left that were killed.
    fn sweep(&self) {
        for entry in self.folder.read_dir().into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_suffix(".sock")?.rsplit('-').next()?.parse().ok());
            if process.and_then(Pid::from_raw).is_some_and(|it| test_kill_process(it) == Err(rustix::io::Errno::SRCH)) {
                let _ = std::fs::remove_file(entry.path());
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
    let user = stream.peer_cred()?.uid();
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
        let listener = sockets.listener();
        sockets.listen();
        assert!(listener.await.is_err());
        assert_eq!(sockets.connect(1).await.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_removed() {
        let world = tempfile::tempdir().unwrap();
        let (folder, data) = (world.path().join("run"), world.path().join("data"));
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        // A number that no process has: it is above the greatest.
        std::fs::write(folder.join("0123456789abcdef-99999999.sock"), "").unwrap();
        let host = Sockets::new(folder.clone(), &data);
        std::fs::write(host.path(std::process::id()), "").unwrap();
        let listener = host.listener();
        host.listen();
        let _listener = listener.await.unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 1);
    }
}
