//! The model that plays a script or a recording: for the tour, for tests and for bug reports.
//!
//! [`Scripted`] is a model like the others, and says of itself that it is scripted. It keeps no state: which answer
//! comes next follows from the request alone, so that a session can be gone on with after a crash, or played twice at
//! once. A *script* is a JSON file that a person writes ([`Script`]); it can take values out of tool results and demand
//! what they hold, so that a tool that does not work makes the turn fail. A *recording* is what a [`Recorder`] wrote
//! while a real model answered.
//!
//! It fills in text and edits next too (`writing`), so that what happens while a user types can be tested without a
//! model. There is no conversation from which the next answer follows, so what was played in its turn is remembered.

mod play;
mod recorder;
mod recording;
mod script;
mod template;
mod writing;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use ports::complete::{Complete, EditNext, Fill, FillInfo, FillStream, NextEdit, Rewritten, Window};
use ports::model::{Model, ModelError, ModelEvent, ModelStream, Request};
use protocol::model::{ModelInfo, Price};

pub use recorder::Recorder;
pub use script::{
    Call, Capture, EditStep, Expect, FillStep, Replace, Script, ScriptedFailure, ScriptedKind, ScriptedStop, Step,
};

use self::play::Compiled;
use self::recording::Recording;
use self::writing::Writing;

/// A model that plays a script or a recording.
pub struct Scripted {
    info: ModelInfo,
    play: Play,
    writing: Writing,
    strict: bool,
    paced: bool,
}

enum Play {
    Script(Compiled),
    Recording(Recording),
}

/// A script or a recording that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// It is not written as it should be.
    #[error("the script cannot be understood: {0}")]
    Malformed(String),
}

/// An answer as it will be played: its pieces, each after a pause.
type Score = Vec<(Duration, Result<ModelEvent, ModelError>)>;

impl Scripted {
    /// A model that plays a script.
    ///
    /// # Errors
    /// A pattern or a text of it cannot be understood.
    pub fn from_script(script: Script) -> Result<Self, ScriptError> {
        let name = script.name.clone();
        let info = info(&name, script.context_tokens);
        let writing = Writing::new(&info.id, &script);
        let compiled = Compiled::new(script).map_err(ScriptError::Malformed)?;
        Ok(Self { info, play: Play::Script(compiled), writing, strict: false, paced: false })
    }

    /// A model that plays a script, given as JSON, or a recording, given as JSON lines.
    ///
    /// # Errors
    /// It cannot be understood; says where.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        if let Some(recording) = Recording::parse(text).map_err(ScriptError::Malformed)? {
            let info = info(&recording.model, None);
            let writing = Writing::nothing(&info.id);
            return Ok(Self { info, play: Play::Recording(recording), writing, strict: false, paced: false });
        }
        let script = serde_json::from_str(text).map_err(|problem| ScriptError::Malformed(problem.to_string()))?;
        Self::from_script(script)
    }

    /// A model that plays the script or recording in this file.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let failed = |problem: String| ScriptError::File { path: path.to_owned(), problem };
        let text = recorder::read(path).map_err(|problem| failed(problem.to_string()))?;
        Self::from_json(&text).map_err(|problem| failed(problem.to_string()))
    }

    /// True if a recording refuses a request that differs from the recorded one. Otherwise it is only logged: other
    /// paths and times make most requests differ without harm.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// True if a recording is played as slowly as it was made. Otherwise it is played at once.
    #[must_use]
    pub fn paced(mut self, paced: bool) -> Self {
        self.paced = paced;
        self
    }
}

#[async_trait]
impl Model for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        let mut score = match &self.play {
            Play::Script(script) => script.answer(&request.messages)?,
            Play::Recording(recording) => recording.answer(&request.messages, self.strict)?,
        };
        if !self.paced && matches!(self.play, Play::Recording(_)) {
            score.iter_mut().for_each(|(pause, _)| *pause = Duration::ZERO);
        }
        let playing = stream::unfold(score.into_iter(), async |mut rest| {
            let (pause, event) = rest.next()?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Some((event, rest))
        });
        Ok(Box::pin(playing))
    }
}

#[async_trait]
impl Complete for Scripted {
    fn info(&self) -> &FillInfo {
        self.writing.info()
    }

    async fn fill(&self, request: Fill) -> Result<FillStream, ModelError> {
        self.writing.fill(&request)
    }
}

#[async_trait]
impl EditNext for Scripted {
    fn info(&self) -> &FillInfo {
        self.writing.info()
    }

    fn window(&self) -> Window {
        Window { before: 10, after: 10 }
    }

    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError> {
        self.writing.edit(&request).await
    }
}

fn info(name: &str, context: Option<u64>) -> ModelInfo {
    ModelInfo {
        id: format!("scripted/{name}"),
        name: format!("{name} (scripted)"),
        aliases: Vec::new(),
        provider: "scripted".to_owned(),
        context_tokens: context.unwrap_or(200_000),
        max_output_tokens: 32_000,
        price: Some(Price::default()),
        available: true,
        unavailable_because: None,
        ruled_out: false,
        images: true,
        thinking: false,
        levels: Vec::new(),
        level: None,
        warning: None,
        scripted: true,
    }
}

/// Counts the model's messages in a conversation.
fn answers(messages: &[Arc<ports::model::Message>]) -> usize {
    messages.iter().filter(|message| matches!(&***message, ports::model::Message::Assistant(_))).count()
}
