//! Where a key is fetched from when it is needed.

use crate::key_command::KeyCommand;
use crate::key_file::KeyFile;
use crate::secret::Secret;

/// The place of a key that stands neither in the configuration nor in the environment.
#[derive(Clone)]
pub(crate) enum KeyFrom {
    /// A command prints it.
    Command(KeyCommand),
    /// It is in a file.
    File(KeyFile),
}

impl KeyFrom {
    /// The key.
    ///
    /// # Errors
    /// It cannot be had; says why, without the output of the command or the text of the file.
    pub(crate) async fn key(&self) -> Result<Secret, String> {
        match self {
            Self::Command(command) => command.key().await,
            Self::File(file) => file.key().await,
        }
    }

    /// The key as far as it is known already.
    pub(crate) fn known(&self) -> Option<Secret> {
        match self {
            Self::Command(command) => command.printed(),
            Self::File(file) => file.known(),
        }
    }

    /// Forgets a key that the provider refused, so that it is fetched again. A file is always read again.
    pub(crate) fn forget(&self, refused: &Secret) {
        match self {
            Self::Command(command) => command.forget(refused),
            Self::File(_) => {}
        }
    }

    /// The text by which it is told from others. It may be secret.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Command(command) => command.words().join("\0"),
            Self::File(file) => file.path().to_string_lossy().into_owned(),
        }
    }

    /// Where it stands in the configuration, in words.
    pub(crate) fn in_words(&self, provider: &str) -> String {
        match self {
            Self::Command(command) => format!("`{}` in providers.{provider}.key_command", command.program()),
            Self::File(file) => format!("`{}` in providers.{provider}.key_file", file.shown()),
        }
    }
}
