//! Projects in temporary folders.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A project. Its folder is removed with it.
pub struct Project {
    folder: TempDir,
    path: PathBuf,
}

impl Project {
    /// A project with these files, by their paths relative to it.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::new_in(&std::env::temp_dir(), files)
    }

    /// The same in a folder that is no temporary one, for commands see those.
    pub fn new_in<'a>(folder: &Path, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = TempDir::with_prefix_in("azimuth-project-", folder).unwrap();
        // Where the temporary folder is a link, the server would give the same file another name.
        let path = folder.path().canonicalize().unwrap();
        let project = Self { folder, path };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// Its folder, links resolved.
    pub fn folder(&self) -> &Path {
        debug_assert!(self.folder.path().exists());
        &self.path
    }

    /// The absolute path of one of its files.
    pub fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// The URI of one of its files.
    pub fn uri(&self, file: &str) -> String {
        uri(&self.path(file))
    }

    /// Writes a file, with its folders.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A file as it is on disk.
    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }
}

/// The URI of a path, as VS Code writes it.
pub fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path of a URI as [`uri`] writes it.
pub fn path(uri: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = uri.strip_prefix("file://").unwrap().as_bytes();
    while let [byte, behind @ ..] = rest {
        if let (b'%', [high, low, behind @ ..]) = (byte, behind) {
            let hex = std::str::from_utf8(&[*high, *low]).unwrap().to_owned();
            bytes.push(u8::from_str_radix(&hex, 16).unwrap());
            rest = behind;
        } else {
            bytes.push(*byte);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap().into()
}
