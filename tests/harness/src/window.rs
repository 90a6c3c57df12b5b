//! An editor with the server as a process of its own, as every window has: for tests of several windows.

use std::ops::{Deref, DerefMut};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::{Client, Profile, Project, Setup, binary, patiently, vendors};

/// A window. Those with one setup share its data, and meet there.
pub struct Window {
    client: Client,
    child: Child,
}

impl Window {
    /// Opens a window on a project.
    pub async fn open(setup: &Setup, project: &Project, profile: Profile) -> Self {
        Self::launch(Command::new(binary()), setup, project, profile).await
    }

    /// The same by a command that runs the program, whose arguments are still to be added.
    pub async fn launch(mut command: Command, setup: &Setup, project: &Project, profile: Profile) -> Self {
        for name in vendors::variables() {
            command.env_remove(name);
        }
        let mut child = command
            .arg("lsp")
            .env("AZIMUTH_DATA_DIR", setup.data_folder())
            .env("AZIMUTH_CONFIG", setup.config_file())
            .env("XDG_RUNTIME_DIR", setup.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut client = Client::over(input, output);
        client.initialize(Some(project.folder()), profile, json!({ "processId": null })).await;
        Self { client, child }
    }

    /// Stops the server where it stands; it does nothing any more and says nothing.
    pub fn freeze(&self) {
        let process = self.process();
        kill_process(process, Signal::STOP).unwrap();
        // The signal takes a moment.
        waitid(WaitId::Pid(process), WaitIdOptions::STOPPED).unwrap();
    }

    /// Waits until just so many connections of other windows are open at this one's socket.
    pub async fn until_attached(&self, wanted: usize) {
        // The socket is listed under the name that it was bound with, which has another extension.
        let name = format!("-{}.", self.process());
        let attached = || {
            let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
            // The sixth column is the state, 03 for one that is connected.
            let is_one = |line: &&str| line.contains(&name) && line.split_whitespace().nth(5) == Some("03");
            sockets.lines().filter(is_one).count()
        };
        let changed = async {
            while attached() != wanted {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        patiently("other windows to come or go", changed).await;
    }

    /// The server's process.
    pub fn process(&self) -> Pid {
        self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).unwrap()
    }

    /// Kills the server as a crash would. What it said and nobody looked at does not matter.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
        self.client.give_up();
    }

    /// Closes the window as a user does. What it showed last does not matter.
    pub async fn close(mut self) {
        self.client.waive("azimuth/event");
        self.client.request("shutdown", Value::Null).await.unwrap();
        self.client.notify("exit", Value::Null);
        let status = patiently("the server's end", self.child.wait()).await.unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

impl Deref for Window {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Window {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}
