//! A key that a command of the user's prints, such as a password manager's.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::time::Instant;

use crate::secret::Secret;

/// A command that failed is not run again for so long: who asks may ask with every key that is typed, and the command
/// may ask the user.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

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
pub struct KeyCommands(Arc<All>);

struct All {
    run: Box<dyn RunCommand>,
    states: Mutex<HashMap<Vec<String>, State>>,
}

type Outcome = Result<Secret, String>;

/// The state of a command that was run.
enum State {
    /// It runs. Whoever needs its key waits for the same run.
    Running(Shared<BoxFuture<'static, Outcome>>),
    /// It has printed this key.
    Printed(Secret),
    /// It has failed, then.
    Failed(String, Instant),
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
        Self(Arc::new(All { run: Box::new(run), states: Mutex::default() }))
    }

    /// The command of these words: a program and its arguments.
    pub fn command(&self, words: Vec<String>) -> KeyCommand {
        KeyCommand { words, commands: self.clone() }
    }
}

impl KeyCommand {
    /// The key: the one that the command printed before, else it is run. It runs to its end even if nobody waits any
    /// more, and what it comes to is kept: a key until it is refused, a failure for a minute.
    ///
    /// # Errors
    /// It does not start, fails, takes too long or prints nothing; says so, without its output.
    pub async fn key(&self) -> Result<Secret, String> {
        let running = self.with(|states| match states.get(&self.words) {
            Some(State::Printed(key)) => Err(Ok(key.clone())),
            Some(State::Failed(problem, then)) if then.elapsed() < AFTER_FAILURE => Err(Err(problem.clone())),
            Some(State::Running(running)) => Ok(running.clone()),
            Some(State::Failed(..)) | None => {
                let running = self.run();
                states.insert(self.words.clone(), State::Running(running.clone()));
                Ok(running)
            }
        });
        match running {
            Ok(running) => running.await,
            Err(outcome) => outcome,
        }
    }

    /// Runs it in a task of its own, which keeps what it comes to.
    fn run(&self) -> Shared<BoxFuture<'static, Outcome>> {
        let command = self.clone();
        let task = tokio::spawn(async move {
            let outcome = match command.commands.0.run.first_line(&command.words).await.map(|line| Secret::new(&line)) {
                Ok(key) if key.expose().is_empty() => Err("it printed nothing on its first line".to_owned()),
                outcome => outcome,
            };
            let state = match outcome.clone() {
                Ok(key) => State::Printed(key),
                Err(problem) => State::Failed(problem, Instant::now()),
            };
            command.with(|states| states.insert(command.words.clone(), state));
            outcome
        });
        let command = self.clone();
        let ended = task.map(move |ended| {
            ended.unwrap_or_else(|_| {
                command.with(|states| states.remove(&command.words));
                Err("it was stopped".to_owned())
            })
        });
        ended.boxed().shared()
    }

    /// The key that the command has printed; none if it has not run to its end yet.
    pub(crate) fn printed(&self) -> Option<Secret> {
        self.with(|states| match states.get(&self.words) {
            Some(State::Printed(key)) => Some(key.clone()),
            Some(State::Running(_) | State::Failed(..)) | None => None,
        })
    }

    /// Forgets a key that the provider refused, unless the command has printed another meanwhile.
    pub(crate) fn forget(&self, refused: &Secret) {
        self.with(|states| {
            if matches!(states.get(&self.words), Some(State::Printed(key)) if key == refused) {
                states.remove(&self.words);
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<Vec<String>, State>) -> T) -> T {
        work(&mut self.commands.0.states.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The program and its arguments, which may be secret.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
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

/// The words of a command, as a shell splits them: at blanks, with quotation marks and backslashes. Nothing is
/// expanded.
///
/// # Errors
/// A quotation mark is not closed, or there is no word; says so.
pub fn words(command: &str) -> Result<Vec<String>, String> {
    const OPEN: &str = "it has a quotation mark or a backslash that nothing follows";
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = command.chars();
    while let Some(char) = chars.next() {
        if char.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match char {
            '\'' | '"' => loop {
                match chars.next().ok_or(OPEN)? {
                    end if end == char => break,
                    '\\' if char == '"' => match chars.next().ok_or(OPEN)? {
                        escaped @ ('"' | '\\') => word.push(escaped),
                        other => word.extend(['\\', other]),
                    },
                    inner => word.push(inner),
                }
            },
            '\\' => word.push(chars.next().ok_or(OPEN)?),
            char => word.push(char),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("it is empty".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// A command that waits until it may print, and fails if it is `locked`.
    struct Slow {
        ran: Arc<AtomicUsize>,
        may_print: Arc<Notify>,
    }

    #[async_trait]
    impl RunCommand for Slow {
        async fn first_line(&self, words: &[String]) -> Result<String, String> {
            self.ran.fetch_add(1, Ordering::SeqCst);
            match words {
                [word] if word == "locked" => Err("the vault is locked".to_owned()),
                _ => {
                    self.may_print.notified().await;
                    Ok(" the key ".to_owned())
                }
            }
        }
    }

    fn slow(word: &str) -> (KeyCommand, Arc<AtomicUsize>, Arc<Notify>) {
        let (ran, may_print) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
        let commands = KeyCommands::new(Slow { ran: Arc::clone(&ran), may_print: Arc::clone(&may_print) });
        (commands.command(vec![word.to_owned()]), ran, may_print)
    }

    #[tokio::test]
    async fn a_command_goes_on_without_the_one_who_asked_and_is_not_run_twice() {
        let (command, ran, may_print) = slow("vault");
        for _ in 0..2 {
            let mut asking = Box::pin(command.key());
            assert!(futures_util::poll!(&mut asking).is_pending());
            drop(asking);
            tokio::task::yield_now().await;
            assert_eq!(command.printed(), None, "nobody waits to be told so");
        }
        may_print.notify_one();
        assert_eq!(command.key().await.unwrap().expose(), "the key");
        assert_eq!(command.printed(), Some(Secret::new("the key")));
        assert_eq!((ran.load(Ordering::SeqCst), command.key().await.is_ok()), (1, true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_failed_is_run_again_after_a_minute() {
        let (command, ran, _) = slow("locked");
        for _ in 0..3 {
            assert_eq!(command.key().await.unwrap_err(), "the vault is locked");
        }
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        tokio::time::advance(AFTER_FAILURE).await;
        command.key().await.unwrap_err();
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn commands_are_split_as_a_shell_does() {
        // The same as Python's `shlex.split`, by which botocore splits them.
        for (command, expected) in [
            ("a  b\tc\n d", &["a", "b", "c", "d"][..]),
            (r#""/opt/my tools/get" --user 'a "b"'"#, &["/opt/my tools/get", "--user", "a \"b\""]),
            (r#"a"b c"'d e'f"#, &["ab cd ef"]),
            (r"a\ b \' \\", &["a b", "'", r"\"]),
            (r#""\"" "\\" "\a" '\'"#, &["\"", r"\", r"\a", r"\"]),
            (r#"a '' """#, &["a", "", ""]),
            (
                "a $HOME `id` $(id) ; b | c > d # e *",
                &["a", "$HOME", "`id`", "$(id)", ";", "b", "|", "c", ">", "d", "#", "e", "*"],
            ),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
        for command in ["", "  ", "a 'b", "a \"b", "a \\", "\"\\"] {
            assert!(words(command).is_err(), "{command}");
        }
    }
}
