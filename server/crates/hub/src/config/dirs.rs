//! Where Azimuth keeps what is the user's: the places each platform has for it, or those the environment names.

use std::path::PathBuf;

/// The user's configuration file: `$AZIMUTH_CONFIG`, else `azimuth/config.toml` in the system's configuration folder.
///
/// # Errors
/// No home folder is known.
pub fn config_file(environment: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, NoHome> {
    if let Some(file) = environment("AZIMUTH_CONFIG") {
        return Ok(file.into());
    }
    base(environment, "XDG_CONFIG_HOME", CONFIG).map(|base| base.join("azimuth").join("config.toml"))
}

/// The folder of the sessions' database, its blobs and the log: `$AZIMUTH_DATA_DIR`, else `azimuth` in the system's
/// data folder.
///
/// # Errors
/// No home folder is known.
pub fn data_folder(environment: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, NoHome> {
    if let Some(folder) = environment("AZIMUTH_DATA_DIR") {
        return Ok(folder.into());
    }
    base(environment, "XDG_DATA_HOME", DATA).map(|base| base.join("azimuth"))
}

/// The folder in which the processes of this user meet: `azimuth` in `$XDG_RUNTIME_DIR`, else `run` in the data folder,
/// which no command in a sandbox can write. Where that is too long for a socket, or there is no data folder, it is one
/// of the user's own among the temporary files.
pub fn runtime_folder(environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    if let Some(folder) = environment("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        return folder.join("azimuth");
    }
    let own = data_folder(environment).ok().map(|folder| folder.join("run"));
    own.filter(|folder| folder.is_absolute() && folder.as_os_str().len() <= LONGEST_FOLDER)
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/azimuth-{}", rustix::process::geteuid().as_raw())))
}

/// The path of a socket has 103 bytes on macOS, and the longest name that we give one has 33 with its slash.
const LONGEST_FOLDER: usize = 70;

/// The user's home folder, if one is known.
pub fn home(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = environment(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).filter(|home| !home.is_empty());
    home.map(PathBuf::from)
}

/// The path of a file that a setting names: from the root, or from the user's home folder on.
///
/// # Errors
/// It is neither; gives the words for it.
pub(super) fn named_file(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, &'static str> {
    let below_home = text.strip_prefix("~/").zip(home(environment));
    let file = below_home.map_or_else(|| PathBuf::from(text), |(rest, home)| home.join(rest));
    if file.is_absolute() { Ok(file) } else { Err("it must be an absolute path, or begin with `~/`") }
}

/// No home folder is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home folder is known; set HOME, or AZIMUTH_DATA_DIR and AZIMUTH_CONFIG")]
pub struct NoHome;

#[cfg(target_os = "macos")]
const CONFIG: &str = "Library/Application Support";
#[cfg(target_os = "macos")]
const DATA: &str = "Library/Application Support";
#[cfg(windows)]
const CONFIG: &str = "AppData/Roaming";
#[cfg(windows)]
const DATA: &str = "AppData/Local";
#[cfg(not(any(target_os = "macos", windows)))]
const CONFIG: &str = ".config";
#[cfg(not(any(target_os = "macos", windows)))]
const DATA: &str = ".local/share";

fn base(environment: &dyn Fn(&str) -> Option<String>, xdg: &str, below_home: &str) -> Result<PathBuf, NoHome> {
    // The XDG specification has relative paths ignored.
    if let Some(folder) = environment(xdg).map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        return Ok(folder);
    }
    home(environment).map(|home| home.join(below_home)).ok_or(NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_meet_where_no_sandboxed_command_can_write() {
        let meet = |variables: &'static [(&str, &str)]| {
            runtime_folder(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned()))
        };
        assert_eq!(meet(&[("XDG_RUNTIME_DIR", "/run/user/7"), ("HOME", "/h")]), PathBuf::from("/run/user/7/azimuth"));
        assert!(meet(&[("HOME", "/h")]).starts_with("/h"));
        assert_eq!(meet(&[("AZIMUTH_DATA_DIR", "/d"), ("HOME", "/h")]), PathBuf::from("/d/run"));
        const LONG: &str = "/a/home/with/a/path/that/is/too/long/for/any/socket/in/it/of/any/name/at/all";
        assert!(meet(&[("AZIMUTH_DATA_DIR", LONG)]).starts_with("/tmp"));
        assert!(meet(&[]).starts_with("/tmp"));
    }
}
