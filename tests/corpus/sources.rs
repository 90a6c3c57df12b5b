//! Real source files.

use std::path::{Path, PathBuf};

use harness::crates::source_of;

/// Packages that are well known, written in different styles, and needed by this project anyway.
const CRATES: [&str; 6] = ["regex-syntax", "serde_json", "tokio", "clap_builder", "similar", "ignore"];
const PACKAGES: [&str; 6] =
    ["vscode-jsonrpc", "vscode-languageserver-protocol", "semver", "eslint", "minimatch", "acorn"];
/// How many files of a package are taken, and how long they are, in lines.
const FILES: usize = 12;
const LINES: std::ops::RangeInclusive<usize> = 40..=2500;

/// A file.
pub struct Source {
    /// The package it is from.
    pub package: String,
    /// True if that is a crate.
    pub is_crate: bool,
    /// The file in its package.
    pub path: PathBuf,
    /// Its text, with LF line ends.
    pub text: String,
}

/// All files, the same ones each time.
pub fn all(npm: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    for name in CRATES {
        files(&source_of(name).join("src"), name, true, &mut sources);
    }
    for name in PACKAGES {
        let folder = npm.join(name);
        if folder.is_dir() {
            files(&folder, name, false, &mut sources);
        }
    }
    sources
}

fn files(folder: &Path, package: &str, is_crate: bool, sources: &mut Vec<Source>) {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != "node_modules" {
                folders.push(path);
            } else if kind.is_ok_and(|kind| kind.is_file()) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let fits = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        let is_code =
            ["rs", "js", "mjs", "cjs", "ts", "md"].iter().any(|it| path.extension().is_some_and(|ext| ext == *it));
        let text =
            std::fs::read_to_string(&path).ok().filter(|_| is_code && !name.contains(".min."))?.replace("\r\n", "\n");
        let lines = text.lines().count();
        (LINES.contains(&lines) && text.lines().all(|line| line.len() < 400)).then(|| Source {
            package: package.to_owned(),
            is_crate,
            path: path.strip_prefix(folder).unwrap_or(&path).to_path_buf(),
            text,
        })
    };
    // Spread over the package, since neighbours are alike.
    let fitting: Vec<Source> = paths.into_iter().filter_map(fits).collect();
    let step = fitting.len().div_ceil(FILES).max(1);
    sources.extend(fitting.into_iter().step_by(step));
}
