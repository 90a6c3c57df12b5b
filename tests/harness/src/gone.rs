//! A folder of a machine that is gone.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A folder of a machine that is gone: whoever asks for what is in it waits, until this is dropped.
pub struct Gone {
    folder: PathBuf,
    holder: Child,
    _place: Option<TempDir>,
}

impl Gone {
    /// A folder of its own, not among temporary files; none where it cannot be mounted.
    pub fn new() -> Option<Self> {
        let place = TempDir::with_prefix_in("azimuth-gone-", "/srv").ok();
        let place = place.or_else(|| TempDir::with_prefix("azimuth-gone-").ok())?;
        let mut gone = Self::mount(place.path().join("far"))?;
        gone._place = Some(place);
        Some(gone)
    }

    /// At this folder, which is made where it is not there; none where it cannot be mounted.
    pub fn mount(folder: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&folder).unwrap();
        // A file system whose program answers nothing, and is there as long as it holds the device.
        let script = "exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 gone \"$0\" \
                      && echo up && exec cat";
        let mut holder = Command::new("sh");
        holder.args(["-c", script]).arg(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut gone = Self { folder, holder: holder.spawn().unwrap(), _place: None };
        let mut line = String::new();
        BufReader::new(gone.holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line == "up\n" {
            return Some(gone);
        }
        crate::not_tried("no file system that does not answer can be mounted here");
        None
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// `PATH` with a folder of it before all others.
    pub fn first_in_path(&self) -> String {
        format!("{}/bin:{}", self.folder.display(), std::env::var("PATH").unwrap())
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}
