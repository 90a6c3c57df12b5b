//! The crates that we depend on: real sources to work on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use cargo_metadata::MetadataCommand;

/// Where cargo keeps the sources of a crate.
///
/// # Panics
/// We depend on no such crate.
pub fn source_of(name: &str) -> PathBuf {
    sources().remove(name).unwrap_or_else(|| panic!("there is no crate {name}"))
}

/// Where cargo keeps the sources of all crates that are compiled here. Those for other systems were never fetched, so
/// cargo must not ask for them.
fn sources() -> BTreeMap<String, PathBuf> {
    let told = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let told = String::from_utf8(told.stdout).expect("text");
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names what it compiles for");
    let options = ["--locked", "--offline", "--filter-platform", host].map(str::to_owned);
    let metadata = MetadataCommand::new().other_options(options).exec().expect("metadata");
    let folder = |package: &cargo_metadata::Package| package.manifest_path.parent().expect("a folder").into();
    metadata.packages.iter().map(|package| (package.name.to_string(), folder(package))).collect()
}
