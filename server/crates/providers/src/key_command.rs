//! A key that a command of the user's prints, such as a password manager's.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::secret::Secret;

/// Runs the commands that print keys. Programs are started elsewhere than here.
#[async_trait]
pub trait RunCommand: Send + Sync {
    /// Runs a program with its arguments, without a shell, and gives the first line of its output.
    ///
    /// # Errors
    /// It does not start, fails, or takes too long; says so, without its output.
    async fn first_line(&self, words: &[String]) -> Result<String, String>;
}

/// The commands that print keys, with the keys that they printed. Clones share them, so that a command runs once.
#[derive(Clone)]
pub struct KeyCommands(Arc<Shared>);

struct Shared {
    run: Box<dyn RunCommand>,
    /// Held while a command runs, so that it runs once.
    keys: Mutex<HashMap<Vec<String>, Secret>>,
}

/// A command that prints a key.
#[derive(Clone)]
pub struct KeyCommand {
    words: Vec<String>,
    commands: KeyCommands,
}

impl KeyCommands {
    /// Commands that are run so.
    pub fn new(run: impl RunCommand + 'static) -> Self {
        Self(Arc::new(Shared { run: Box::new(run), keys: Mutex::default() }))
    }

    /// The command of these words: a program and its arguments.
    pub fn command(&self, words: Vec<String>) -> KeyCommand {
        KeyCommand { words, commands: self.clone() }
    }
}

impl KeyCommand {
    /// The key: the one that the command printed before, else it is run.
    ///
    /// # Errors
    /// It does not start, fails, takes too long or prints nothing; says so, without its output.
    pub async fn key(&self) -> Result<Secret, String> {
        let mut keys = self.commands.0.keys.lock().await;
        if let Some(key) = keys.get(&self.words) {
            return Ok(key.clone());
        }
        let key = Secret::new(&self.commands.0.run.first_line(&self.words).await?);
        if key.expose().is_empty() {
            return Err("it printed nothing on its first line".to_owned());
        }
        keys.insert(self.words.clone(), key.clone());
        Ok(key)
    }

    /// The key that the command has printed; none if it has not run yet.
    pub(crate) async fn printed(&self) -> Option<Secret> {
        self.commands.0.keys.lock().await.get(&self.words).cloned()
    }

    /// Forgets a key that the provider refused, unless the command has printed another meanwhile.
    pub(crate) async fn forget(&self, refused: &Secret) {
        let mut keys = self.commands.0.keys.lock().await;
        if keys.get(&self.words) == Some(refused) {
            keys.remove(&self.words);
        }
    }

    /// The program, for words.
    pub fn program(&self) -> &str {
        self.words.first().map(String::as_str).unwrap_or_default()
    }
}

impl fmt::Debug for KeyCommand {
    /// Without its arguments, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyCommand").field(&self.program()).finish()
    }
}
