//! Writing down what a model answers.

#![expect(
    clippy::disallowed_methods,
    reason = "scripts and recordings are files that the user names, not the project's"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::StreamExt;
use ports::model::{Model, ModelError, ModelEvent, ModelStream, OtherAccount, Request, Window};
use protocol::model::ModelInfo;

use super::recording::{Failure, Line, digest};
use super::{ScriptError, answers};

/// Writes what models answer to a file, which [`Scripted`](super::Scripted) can play.
///
/// The file holds the answers, with all that the models said of the project, and of the requests a digest. It holds no
/// keys, and on Unix only its owner can read it.
#[derive(Clone, Debug)]
pub struct Recorder {
    tape: Arc<Mutex<Tape>>,
}

#[derive(Debug)]
struct Tape {
    file: BufWriter<File>,
    path: PathBuf,
    requests: u64,
    failed: bool,
}

impl Recorder {
    /// A recorder that writes to this file. What was in it is gone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> Result<Self, ScriptError> {
        let failed = |problem: io::Error| ScriptError::File { path: path.to_owned(), problem: problem.to_string() };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = BufWriter::new(platform::rights::private(&mut options).open(path).map_err(failed)?);
        let mut tape = Tape { file, path: path.to_owned(), requests: 0, failed: false };
        tape.try_write(&Line::HEAD).and_then(|()| tape.file.flush()).map_err(failed)?;
        Ok(Self { tape: Arc::new(Mutex::new(tape)) })
    }

    /// The same model, with its answers recorded.
    pub fn wrap(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        Arc::new(Recorded { model, recorder: self.clone() })
    }

    fn with_tape<T>(&self, work: impl FnOnce(&mut Tape) -> T) -> T {
        work(&mut self.tape.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Tape {
    /// Writes a line. A recording that cannot be written must not end the turn that is recorded.
    fn write(&mut self, line: &Line, flush: bool) {
        let written = self.try_write(line).and_then(|()| if flush { self.file.flush() } else { Ok(()) });
        if let Err(problem) = written
            && !std::mem::replace(&mut self.failed, true)
        {
            tracing::warn!(path = %self.path.display(), %problem, "the recording cannot be written");
        }
    }

    fn try_write(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.file.write_all(b"\n")
    }
}

/// A model whose answers are recorded.
struct Recorded {
    model: Arc<dyn Model>,
    recorder: Recorder,
}

#[async_trait]
impl Model for Recorded {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn thinking_tokens(&self) -> Option<u64> {
        self.model.thinking_tokens()
    }

    fn changes_level_in_place(&self) -> bool {
        self.model.changes_level_in_place()
    }

    async fn account(&self, session: &str, failure: Option<&ModelError>, tried: &[String]) -> Option<OtherAccount> {
        self.model.account(session, failure, tried).await
    }

    async fn window(&self) -> Option<Window> {
        self.model.window().await
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        let began = Instant::now();
        let number = self.recorder.with_tape(|tape| {
            tape.requests += 1;
            let line = Line::Request {
                request: tape.requests,
                model: self.model.info().id.clone(),
                digest: digest(&request.messages),
                answers: answers(&request.messages),
            };
            tape.write(&line, true);
            tape.requests
        });
        let recorder = self.recorder.clone();
        let write = move |event: &Result<ModelEvent, ModelError>| {
            let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let line = match event {
                Ok(event) => Line::Event { request: number, ms, event: event.clone().into() },
                Err(failure) => Line::Failed { request: number, ms, failure: Failure::from(failure) },
            };
            // The end of an answer is on disk before anybody acts on it.
            let is_end = matches!(event, Ok(ModelEvent::Finished(_)) | Err(_));
            recorder.with_tape(|tape| tape.write(&line, is_end));
        };
        match self.model.stream(request).await {
            Ok(stream) => Ok(Box::pin(stream.inspect(move |event| write(event)))),
            Err(failure) => {
                write(&Err(failure.clone()));
                Err(failure)
            }
        }
    }
}

/// The text of a script or a recording.
pub(super) fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}
