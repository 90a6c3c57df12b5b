//! Programs that the project brings along: those that lie in it, and those that its files name or tell what to do. Whoever can
//! write the project's files decides what they do, so they start only once the user has allowed just this.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::detect::Detected;
use crate::paths::Roots;
use crate::shell::sandbox::Policy;

/// The largest program that is looked at, in bytes. What is larger cannot be allowed.
const MAX_PROGRAM: u64 = 1 << 30;

/// A language server that the project brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The server's name.
    pub name: String,
    /// Its program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The files of the project that say what it is, or what it does.
    pub said_by: Vec<PathBuf>,
    /// The hash of the program, and of what those files say. It is another once either is changed.
    pub fingerprint: String,
}

/// Says which programs of the project may start.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Whether one may start. Where nobody has said, the user is asked if `asks`, which may take as long as they like.
    ///
    /// # Errors
    /// It may not, for this reason.
    async fn admit(&self, program: &Brought, asks: bool) -> Result<(), String>;
}

/// A gate that nothing passes.
pub struct Closed;

#[async_trait]
impl Gate for Closed {
    async fn admit(&self, program: &Brought, _: bool) -> Result<(), String> {
        Err(format!("{} belongs to the project, and nobody can allow it here", program.program.display()))
    }
}

/// Whether the project brings a server along: its program, or a file that says something of it, lies in the workspace or where
/// commands in the sandbox write. A link counts by where it lies and by where it leads. Asks the disk.
pub(super) fn is_brought(server: &Detected, roots: &Roots, policy: Option<&Policy>) -> bool {
    server.program.as_deref().is_some_and(|program| is_theirs(program, roots, policy))
        || server.definition.said_by.iter().any(|file| is_theirs(file, roots, policy))
}

/// What is to be allowed of a server that the project brings along. Asks the disk.
///
/// # Errors
/// Its program cannot be read.
pub(super) fn look(server: &Detected, roots: &Roots, policy: Option<&Policy>) -> io::Result<Brought> {
    let program = server.program.clone().unwrap_or_default();
    let definition = &server.definition;
    let said_by = definition.said_by.iter().filter(|file| is_theirs(file, roots, policy)).cloned().collect::<Vec<_>>();
    // What is built in is not of the project, and must not be asked for anew with each version of ours.
    let said = (!said_by.is_empty()).then(|| {
        json!([
            definition.command,
            definition.args,
            definition.init_options,
            definition.settings,
            definition.edit_commands
        ])
    });
    let mut hash = Sha256::new_with_prefix(json!([definition.name, program.to_string_lossy(), said]).to_string());
    read(&program, |piece| hash.update(piece))?;
    // Where the program is an interpreter, its script is among the words behind it.
    for script in definition.args.iter().map(|arg| server.root.join(arg)) {
        if script.is_file() && is_theirs(&script, roots, policy) {
            read(&script, |piece| hash.update(piece))?;
        }
    }
    Ok(Brought {
        name: definition.name.clone(),
        program,
        args: definition.args.clone(),
        said_by,
        fingerprint: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

fn is_theirs(path: &Path, roots: &Roots, policy: Option<&Policy>) -> bool {
    let resolved = path.canonicalize();
    let written = || policy.into_iter().flat_map(|policy| &policy.write);
    [Some(path), resolved.as_deref().ok()].into_iter().flatten().any(|path| {
        roots.iter().any(|root| path.starts_with(&root.path)) || written().any(|folder| path.starts_with(folder))
    })
}

/// Reads a program, which must be a regular file: a pipe would be waited for, and a device never ends.
fn read(path: &Path, mut piece: impl FnMut(&[u8])) -> io::Result<()> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = std::fs::File::from(file).take(MAX_PROGRAM + 1);
    let (mut buffer, mut length) = (vec![0; 64 << 10], 0);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        length += count as u64;
        if length > MAX_PROGRAM {
            return Err(io::Error::other(format!("it is larger than {} MiB", MAX_PROGRAM >> 20)));
        }
        piece(buffer.get(..count).unwrap_or_default());
    }
}
