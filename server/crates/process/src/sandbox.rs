//! The rights of commands on the machine: a [`Policy`], and how a process enters it.
//!
//! A policy is plain data, made from the user's settings, the environment and the workspace without a look at the disk.
//! On Linux the child of the supervisor enters it before it becomes the shell, by Landlock and
//! seccomp, so that it holds for everything that comes from there, as root too, and can never be lifted again. On macOS
//! it becomes a profile of `sandbox-exec`; that is untested. Elsewhere there is no sandbox.
//!
//! docs/security.md says what it keeps from what, and what it does not.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use protocol::terminal::SandboxMode;

mod git;

mod mounts;

mod places;

mod profile;

mod program;

mod refusal;

mod repositories;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::enter;
pub use places::{make_caches, settings_with_credentials};
pub use repositories::repositories;

/// The argument that begins a policy on a command line.
pub(super) const NAME: &str = "--sandbox";

/// The settings that the user has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The mode, which says what commands may do.
    pub mode: SandboxMode,
    /// True if they may use the network.
    pub network: bool,
    /// Files and folders that they may write besides; `~/` is the home folder. They may read them too.
    pub write: Vec<String>,
    /// Files and folders that they may read besides.
    pub read: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: SandboxMode::default(), network: true, write: Vec::new(), read: Vec::new() }
    }
}

/// The environment and folders that a policy is made for.
pub struct World<'a> {
    /// The workspace's folders, absolute.
    pub folders: &'a [PathBuf],
    /// The paths that git needs of repositories that the folders lie in; see [`repositories`].
    pub repositories: &'a [PathBuf],
    /// Our own files, which no command may read: the data folder and the configuration.
    pub own: &'a [PathBuf],
    /// The paths that rules keep from being read, whatever else the user opens.
    pub denied: &'a [PathBuf],
    /// Settings of tools that hold credentials; see [`settings_with_credentials`].
    pub credentials: &'a [PathBuf],
    /// The environment.
    pub environment: &'a dyn Fn(&str) -> Option<OsString>,
}

/// The rights of the processes of a sandbox. A path that is named stands for all that is in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Its name: `read_only` or `workspace_write`.
    pub mode: SandboxMode,
    /// True if they may use the network.
    pub network: bool,
    /// The paths that they may read and run.
    pub read: Vec<PathBuf>,
    /// The paths that they may read too, where a link opens nothing: commands of another session may have put it there.
    pub unlinked: Vec<PathBuf>,
    /// The paths that they may only read here, though commands write them under `workspace-write`.
    pub read_only: Vec<PathBuf>,
    /// The paths that they may also write.
    pub write: Vec<PathBuf>,
    /// Temporary folders, which they may write too. Nothing in them is kept from anyone.
    pub temporary: Vec<PathBuf>,
    /// Devices that they may use.
    pub devices: Vec<PathBuf>,
    /// The paths that they may not even read, wherever they lie but in temporary folders.
    pub hidden: Vec<PathBuf>,
    /// Those of the hidden paths that are settings of tools in which credentials stand.
    pub credentials: Vec<PathBuf>,
    /// Our copies of the user's settings of git, which they may read whatever else is said: first the one that git
    /// begins with. None if it can read the user's own.
    pub git: Vec<PathBuf>,
    /// File systems that do not answer by now: nothing in them is granted, or asked for.
    silent: Vec<PathBuf>,
    /// Where its paths come from, until their links are resolved.
    origins: Origins,
}

/// Where the paths of a policy come from, which says how far their links are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Origins {
    /// The paths that a variable of the environment names. They may lie in another project, whose commands can put a
    /// link there.
    variables: Vec<PathBuf>,
    /// The home folder and the workspace's folders: the links that lead to them are the user's.
    meant: Vec<PathBuf>,
    /// The paths that no folder for temporary files may lie in or hold, since nothing in one is kept from anyone.
    secret: Vec<PathBuf>,
}

/// A way to use a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Reading it.
    Read,
    /// Writing, making or deleting it.
    Write,
}

/// The means of enforcement on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The mechanism that enforces it, such as `Landlock (ABI 6)`; none if nothing does.
    pub by: Option<String>,
    /// The protections that are missing here, though they are kept elsewhere; in words.
    pub missing: Vec<&'static str>,
}

/// Returns what can be enforced on this machine. Asks the system, and costs next to nothing.
pub fn support() -> Support {
    #[cfg(target_os = "linux")]
    return linux::support();
    #[cfg(target_os = "macos")]
    return Support {
        by: Path::new(profile::PROGRAM).exists().then(|| "sandbox-exec".to_owned()),
        missing: vec!["it is untested on macOS"],
    };
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    Support { by: None, missing: Vec::new() }
}

/// True if a variable leads out of the sandbox, such as to the sockets of an agent, a display or an editor, which do
/// for whoever asks what the sandbox forbids.
pub(super) fn is_withheld(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "SSH_ASKPASS",
        "GIT_ASKPASS",
        "SUDO_ASKPASS",
        "GPG_AGENT_INFO",
        "GNOME_KEYRING_CONTROL",
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_SYSTEM_BUS_ADDRESS",
        "DOCKER_HOST",
        "CONTAINER_HOST",
        "XDG_RUNTIME_DIR",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "TMUX",
        "STY",
        "NVIM",
        "NVIM_LISTEN_ADDRESS",
        "EMACS_SERVER_FILE",
        "KITTY_LISTEN_ON",
        "WEZTERM_UNIX_SOCKET",
        "ALACRITTY_SOCKET",
        "SWAYSOCK",
        "I3SOCK",
    ];
    NAMES.contains(&name) || name.starts_with("VSCODE_")
}

impl Policy {
    /// The policy of these settings; none if there is to be no sandbox.
    pub fn new(settings: &Settings, world: &World<'_>) -> Option<Self> {
        (settings.mode != SandboxMode::Full).then(|| places::policy(settings, world))
    }

    /// One for the user's start files, which run outside a session's sandbox: it opens everything but these places,
    /// where what commands have written could be run. `temporary` stands in for the temporary folders. Expects links to
    /// be resolved.
    pub fn apart_from(places: Vec<PathBuf>, temporary: PathBuf) -> Self {
        let all = vec![PathBuf::from("/")];
        Self {
            mode: SandboxMode::WorkspaceWrite,
            network: true,
            read: all.clone(),
            write: all,
            temporary: vec![temporary],
            hidden: places,
            ..Self::nothing()
        }
    }

    /// One that opens nothing, so that no program can be started in it.
    pub fn closed() -> Self {
        Self::nothing()
    }

    /// The same with the links in its paths resolved, as far as they are there: what is hidden is to be found by
    /// whatever name it is granted. What lies where commands write is granted with that, and left out by itself: a link
    /// there may be a command's, and opens nothing. Nor does a link out of the folder that it lies in, where a variable
    /// names the path: which commands write there is not known here. Asks the disk.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        let origins = std::mem::take(&mut self.origins);
        let Self { read, unlinked, read_only, write, temporary, devices, hidden, credentials, .. } = &mut self;
        for list in [&mut *devices, &mut *hidden, &mut *credentials] {
            list.iter_mut().for_each(|path| *path = resolved(path));
        }
        let secret: Vec<PathBuf> = origins.secret.iter().map(|path| resolved(path)).collect();
        // First those that no link leads to, such as the workspace: what a link leads to may lie in them.
        let (mut written, mut led) = (Vec::new(), BTreeSet::new());
        for (list, is_temporary) in
            [(&mut *write, false), (&mut *temporary, true), (&mut *read_only, false), (&mut *unlinked, false)]
        {
            list.retain(|path| {
                if resolved(path) != *path {
                    led.insert(path.clone());
                    return true;
                }
                let is_variables = is_temporary && origins.variables.contains(path);
                let is_new = !written.iter().any(|place| path.starts_with(place));
                let is_granted = is_new && !(is_variables && touches(path, &secret));
                written.extend(is_granted.then(|| path.clone()));
                is_granted
            });
        }
        // The workspace before what a variable names, which may lie in it.
        let links = Links::to(&origins.meant);
        for is_variables in [false, true] {
            for (list, is_temporary) in
                [(&mut *write, false), (&mut *temporary, true), (&mut *read_only, false), (&mut *unlinked, false)]
            {
                list.retain_mut(|path| {
                    if !led.contains(path) || origins.variables.contains(path) != is_variables {
                        return true;
                    }
                    let place = if is_variables { links.led_to(path, &written) } else { led_to(path, &written) };
                    let is_secret = |place: &PathBuf| {
                        is_variables && is_temporary && [&secret, &*hidden].iter().any(|it| touches(place, it))
                    };
                    let place = place.filter(|place| !is_secret(place));
                    written.extend(place.clone());
                    place.map(|place| *path = place).is_some()
                });
            }
        }
        read.retain_mut(|path| led_to(path, &written).map(|place| *path = place).is_some());
        for list in [read, unlinked, read_only, write, temporary, devices, hidden, credentials] {
            list.sort();
            list.dedup();
        }
        self
    }

    /// Where commands write, also where only the mode keeps these from it.
    pub fn of_commands(&self) -> Vec<PathBuf> {
        [self.write.as_slice(), &self.temporary, &self.read_only].concat()
    }

    /// Where its processes write, and where those of other sessions may.
    fn written(&self) -> Vec<PathBuf> {
        [self.write.as_slice(), &self.temporary, &self.read_only, &self.unlinked].concat()
    }

    /// The same with copies of the user's settings of git in this folder, where git could not read the user's own: it
    /// would stop. They lack what commands may not read. Expects links to be resolved. Blocks.
    #[must_use]
    pub fn with_settings_of_git(mut self, environment: &dyn Fn(&str) -> Option<OsString>, folder: &Path) -> Self {
        self.git = git::settings(&self, environment, folder);
        self
    }

    /// Returns what is said of settings that commands cannot read because credentials stand in them; `None` if there
    /// are none.
    pub fn told_of_credentials(&self) -> Option<String> {
        /// More of them say nothing more.
        const MOST: usize = 8;
        let settings = &self.credentials;
        let named: Vec<String> = settings.iter().take(MOST).map(|path| path.display().to_string()).collect();
        let more = if settings.len() > MOST { ", and more" } else { "" };
        (!named.is_empty()).then(|| {
            format!(
                "In the sandbox commands cannot read these settings, because credentials stand in them: {}{more}. Git reads a \
                 copy of its own settings without the lines in question. Credentials can be moved to the file that a \
                 tool has for them, and settings opened by `sandbox_read`.",
                named.join(", ")
            )
        })
    }

    /// Returns the variable that programs in it get in their environment besides.
    pub(super) fn environment(&self) -> Option<(OsString, OsString)> {
        self.git.first().map(|file| ("GIT_CONFIG_GLOBAL".into(), file.into()))
    }

    /// True if a file may be used. The path is absolute, and links in it are resolved.
    pub fn allows(&self, path: &Path, how: Use) -> bool {
        let lies_in = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        if lies_in(&self.temporary) || lies_in(&self.devices) {
            return true;
        }
        let is_read =
            || how == Use::Read && [&self.read, &self.unlinked, &self.read_only].into_iter().any(|it| lies_in(it));
        let is_granted = lies_in(&self.write) || is_read();
        if !is_granted || lies_in(&self.hidden) {
            return false;
        }
        // A folder that something hidden is in is granted by what else is in it.
        let is_there = |hidden: &Path| hidden.symlink_metadata().is_ok();
        let is_split = |folder: &Path| self.hidden.iter().any(|it| it.starts_with(folder) && is_there(it));
        let is_new = || path.parent().is_some_and(is_split) && !path.exists();
        how == Use::Read || !(is_split(path) || is_new())
    }

    /// Why a command failed, where this policy is the reason: which file it was refused, or that the network is off.
    /// `folders` are those that its relative paths may be meant from. None if its output does not show that. Blocks
    /// shortly.
    pub fn explain(&self, output: &str, folders: &[&Path]) -> Option<String> {
        refusal::explain(self, output, folders)
    }

    /// Returns what in this output shows that the policy has refused something, in words. Blocks shortly.
    pub fn refused(&self, output: &str, folders: &[&Path]) -> Vec<String> {
        refusal::reasons(self, output, folders)
    }

    /// The policy as arguments, with files that may be read though nothing else says so.
    pub fn to_args(&self, reads: &[PathBuf]) -> Vec<OsString> {
        let mode = if self.mode == SandboxMode::ReadOnly { "read-only" } else { "workspace-write" };
        let network = if self.network { "network" } else { "no-network" };
        let mut args: Vec<OsString> = [NAME, mode, network].map(OsString::from).to_vec();
        let lists = [
            ("--read", &self.read),
            ("--unlinked", &self.unlinked),
            ("--read-only", &self.read_only),
            ("--write", &self.write),
            ("--temporary", &self.temporary),
            ("--device", &self.devices),
            ("--hide", &self.hidden),
            ("--silent", &self.silent),
        ];
        let own = [("--own", reads), ("--own", self.git.as_slice())];
        let lists = lists.into_iter().map(|(name, paths)| (name, paths.as_slice())).chain(own);
        for (name, paths) in lists {
            args.extend(paths.iter().flat_map(|path| [OsString::from(name), path.into()]));
        }
        args
    }

    /// Reads arguments that end with `--` and a program. Gives the policy, if one is there, with the files of
    /// [`Self::to_args`], and the program with its arguments.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only the supervisor of Linux reads them"))]
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    pub(super) fn from_args(args: &[OsString]) -> Option<(Option<(Self, Vec<PathBuf>)>, &[OsString])> {
        let end = args.iter().position(|arg| arg == "--")?;
        let (policy, program) = (args.get(..end)?, args.get(end + 1..)?);
        let [name, mode, network, lists @ ..] = policy else {
            return policy.is_empty().then_some((None, program));
        };
        if name != NAME {
            return None;
        }
        let mode = match mode.to_str()? {
            "read-only" => SandboxMode::ReadOnly,
            "workspace-write" => SandboxMode::WorkspaceWrite,
            _ => return None,
        };
        let mut policy = Self { mode, network: network == "network", ..Self::nothing() };
        let mut reads = Vec::new();
        for pair in lists.chunks(2) {
            let [list, path] = pair else { return None };
            let list = match list.to_str()? {
                "--read" => &mut policy.read,
                "--unlinked" => &mut policy.unlinked,
                "--read-only" => &mut policy.read_only,
                "--write" => &mut policy.write,
                "--temporary" => &mut policy.temporary,
                "--device" => &mut policy.devices,
                "--hide" => &mut policy.hidden,
                "--silent" => &mut policy.silent,
                "--own" => &mut reads,
                _ => return None,
            };
            list.push(path.into());
        }
        Some((Some((policy, reads)), program))
    }

    /// The arguments of the program that runs another one in this policy, where the system has one.
    pub(super) fn as_profile_args(&self, reads: &[PathBuf]) -> Vec<OsString> {
        if cfg!(target_os = "macos") {
            vec![profile::PROGRAM.into(), "-p".into(), profile::of(self, &[reads, &self.git].concat()).into()]
        } else {
            Vec::new()
        }
    }

    fn nothing() -> Self {
        Self {
            mode: SandboxMode::ReadOnly,
            network: false,
            read: Vec::new(),
            unlinked: Vec::new(),
            read_only: Vec::new(),
            write: Vec::new(),
            temporary: Vec::new(),
            devices: Vec::new(),
            hidden: Vec::new(),
            credentials: Vec::new(),
            git: Vec::new(),
            silent: Vec::new(),
            origins: Origins::default(),
        }
    }
}

/// A path that is absolute, without `.` and `..`.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// A path with its links resolved; what is not there at its end stays as it is written. Asks the disk.
pub fn resolved(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(resolved), ..) => resolved,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        (Err(_), ..) => path.to_owned(),
    }
}

/// Where a path leads by its links; what is not there at its end stays as it is written. None if that lies in one of
/// these folders, or the way goes through one: whoever writes there could have it lead anywhere. Asks the disk.
fn led_to(path: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    walked(path, |at, _| !folders.iter().any(|folder| at.starts_with(folder)))
}

/// Links that are the user's, wherever they lead.
struct Links(BTreeSet<PathBuf>);

impl Links {
    /// Those that lead to these paths. Asks the disk.
    fn to(paths: &[PathBuf]) -> Self {
        let mut links = BTreeSet::new();
        for path in paths {
            walked(path, |at, is_link| {
                links.extend(is_link.then(|| at.to_owned()));
                true
            });
        }
        Self(links)
    }

    /// Where a path leads, as [`led_to`] has it, but by other links than these only within the folder that each lies
    /// in: whoever has put it there could use that folder anyway. Asks the disk.
    fn led_to(&self, path: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
        let mut bounds = Vec::new();
        let place = walked(path, |at, is_link| {
            let bound = at.parent().filter(|_| is_link && !self.0.contains(at));
            bounds.extend(bound.map(Path::to_owned));
            !folders.iter().any(|folder| at.starts_with(folder))
        });
        place.filter(|place| bounds.iter().all(|bound| place.starts_with(bound)))
    }
}

/// Goes the way of a path, through its links, and gives where it ends; what is not there stays as it is written. Each
/// place on the way is shown, with whether it is a link; none if one must not be passed. Asks the disk.
pub(super) fn walked(path: &Path, mut may_pass: impl FnMut(&Path, bool) -> bool) -> Option<PathBuf> {
    /// The kernel follows no more.
    const MOST_LINKS: usize = 40;
    let parts = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut at, mut left, mut links) = (PathBuf::from("/"), parts(path), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        // The root takes the place of all that was before.
        at.push(part);
        let target = at.read_link().ok();
        if !may_pass(&at, target.is_some()) {
            return None;
        }
        if let Some(target) = target {
            links += 1;
            at.pop();
            left.extend(parts(&target));
        }
        if links > MOST_LINKS {
            return None;
        }
    }
    Some(at)
}

/// True if a path lies in one of these or holds one.
fn touches(path: &Path, others: &[PathBuf]) -> bool {
    others.iter().any(|other| path.starts_with(other) || other.starts_with(path))
}

/// Reads the beginning of a file, up to so many bytes.
#[expect(clippy::disallowed_methods, reason = "the user's settings are no project files")]
fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A path that a variable holds, where it is a usable one.
fn path_in(value: Option<&OsStr>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| is_plain(path))
}

#[cfg(test)]
mod tests;
