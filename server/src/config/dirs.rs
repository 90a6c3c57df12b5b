//! Where Azimuth keeps what is the user's: the places each platform has for it, or those the environment names.

use std::path::PathBuf;

/// The user's configuration file: `$AZIMUTH_CONFIG`, else `azimuth/config.toml` in the platform's configuration folder.
///
/// # Errors
/// No home folder is known.
pub fn config_file(environment: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, NoHome> {
    if let Some(file) = environment("AZIMUTH_CONFIG") {
        return Ok(file.into());
    }
    base(environment, "XDG_CONFIG_HOME", CONFIG).map(|base| base.join("azimuth").join("config.toml"))
}

/// The folder of the sessions' database, its blobs and the log: `$AZIMUTH_DATA_DIR`, else `azimuth` in the platform's
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

/// The folder in which the processes of this user meet: `azimuth` in `$XDG_RUNTIME_DIR`, else one of the user's own among
/// the temporary files.
pub fn runtime_folder(environment: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    match environment("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        Some(folder) => folder.join("azimuth"),
        None => PathBuf::from(format!("/tmp/azimuth-{}", rustix::process::geteuid().as_raw())),
    }
}

/// The user's home folder, if one is known.
pub fn home(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = environment(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).filter(|home| !home.is_empty());
    home.map(PathBuf::from)
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
