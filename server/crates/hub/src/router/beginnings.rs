//! The contents of an empty chat: how the client's workspace is set up, and what to try there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::workflow;
use code::syntax::Language;
use permission::denied_reading;
use project::paths::{self, Roots};
use project::reader::{NoOverlay, Reader};
use protocol::beginnings::{
    Beginning, PromptBeginningsParams, PromptBeginningsResult, SetupAbout, SetupFact, SetupState,
};
use protocol::servers::ServerState;
use protocol::{ErrorCode, SessionId};

use super::super::feed::blocking;
use super::super::post::Caller;
use super::super::session::{default_model, resolve_model, usable};
use super::super::trust::Workspace;
use super::super::{Error, Reply};
use super::servers::Folders;

/// A client's workspace, to begin in.
pub(super) struct Start {
    pub(super) folders: Folders,
    pub(super) caller: Caller,
}

impl Start {
    /// Answers what can be offered.
    pub(super) async fn offer(self, params: PromptBeginningsParams, reply: Reply<PromptBeginningsResult>) {
        let offered = async {
            let files = self.files(params.uri).await?;
            let model = self.model(params.session_id);
            let (model, trust, servers) = tokio::join!(model, self.trust(), self.servers(files.program));
            let setup = [model].into_iter().chain(trust?).chain(files.rules).chain(servers).collect();
            Ok(PromptBeginningsResult { setup, beginnings: files.beginnings })
        };
        let _ = reply.send(offered.await);
    }

    async fn model(&self, session: Option<SessionId>) -> SetupFact {
        let shared = &self.folders.shared;
        let store = Arc::clone(&shared.parts.store);
        let info = blocking(move || session.map(|session| store.info(&session)).transpose()).await;
        let model = match info.ok().flatten().and_then(|info| info.model) {
            Some(name) => resolve_model(shared, &name).await,
            None => default_model(shared, &self.folders.config).await,
        };
        let because = match model.and_then(|model| usable(model, &self.folders.config)) {
            Ok(model) => return has(SetupAbout::Model, format!("Model: {}", model.info().id)),
            Err(error) => error.message,
        };
        let mut letters = because.chars();
        let first = letters.next().map(char::to_uppercase).into_iter().flatten();
        lacks(SetupAbout::Model, first.chain(letters).collect::<String>())
    }

    /// In a trusted workspace there is nothing to say.
    async fn trust(&self) -> Result<Option<SetupFact>, Error> {
        let Folders { shared, folders, word, .. } = &self.folders;
        let (book, folders, word) = (shared.trust.clone(), folders.clone(), word.clone());
        let decided = blocking(move || Ok(Workspace::new(&book, folders).decided(&word))).await?;
        Ok(match decided {
            Some(true) => None,
            Some(false) => Some(lacks(SetupAbout::Trust, "This folder is not trusted: nothing that it supplies runs")),
            None => {
                Some(notes(SetupAbout::Trust, "Azimuth asks if you trust this folder before it runs anything from it"))
            }
        })
    }

    /// Returns the facts on language servers: on those for the open file, and on those that the user should know of. If
    /// they cannot be listed, the rest is still worth showing.
    async fn servers(&self, program: Option<Program>) -> Vec<SetupFact> {
        let (Ok((_, trusted)), Ok(listed)) = (self.folders.look().await, self.folders.listed().await) else {
            return Vec::new();
        };
        let mut facts = Vec::new();
        if let Some(Program { folder, path, name }) = program {
            let known = self.folders.shared.servers.known_for(folder, path, trusted).await;
            let found: Vec<_> =
                known.iter().filter(|(_, missing)| missing.is_none()).map(|(name, _)| &**name).collect();
            facts.extend(match (known.first(), found.as_slice()) {
                (Some((_, Some(missing))), []) => {
                    let text = format!("Azimuth has no language server of its own for {name}: {missing}");
                    Some(lacks(SetupAbout::Servers, text))
                }
                (_, []) => None,
                (_, found) => Some(has(SetupAbout::Servers, format!("Language server: {}", found.join(", ")))),
            });
        }
        for server in listed.servers {
            let what = match server.state {
                ServerState::Crashed => "crashed",
                ServerState::NotAllowed => "is not allowed to start",
                _ => continue,
            };
            let why = server.why.map(|why| format!(": {why}")).unwrap_or_default();
            facts.push(lacks(SetupAbout::Servers, format!("The language server {} {what}{why}", server.name)));
        }
        facts.extend(listed.problems.into_iter().map(|problem| lacks(SetupAbout::Servers, problem)));
        facts
    }

    /// Returns what follows from the files: the facts on rules, and the prompts to try.
    async fn files(&self, uri: Option<String>) -> Result<Files, Error> {
        let (folders, buffers) = (self.folders.folders.clone(), Arc::clone(&self.caller.buffers));
        let user = Arc::clone(&self.folders.config);
        let looked = tokio::task::spawn_blocking(move || {
            let rules = user.with_projects(&folders).rules;
            let roots =
                Roots::new(folders).map_err(|error| Error::new(ErrorCode::OperationFailed, error.to_string()))?;
            let reader = Reader::new(buffers, Arc::new(NoOverlay));
            let named = uri.and_then(|uri| paths::from_uri(&uri).ok());
            let folders: Vec<_> = roots.iter().map(|root| root.path.clone()).collect();
            // A prompt that can be sent as it is puts no keys before the model, and is of use: it is not refused the
            // file.
            let is_offered = |named: &Path, path: &Path| {
                let names = [named, path];
                !names.iter().any(|name| paths::is_for_keys(name)) && denied_reading(&rules, &folders, &names).is_none()
            };
            let path = named.and_then(|named| roots.check(&named).ok().filter(|path| is_offered(&named, path)));
            Ok(look(&roots, &reader, path))
        });
        looked.await.unwrap_or_else(|error| Err(Error::new(ErrorCode::OperationFailed, error.to_string())))
    }
}

struct Files {
    rules: Vec<SetupFact>,
    beginnings: Vec<Beginning>,
    /// The open file, if it is of a program.
    program: Option<Program>,
}

struct Program {
    /// The folder of the workspace that it is in.
    folder: PathBuf,
    path: PathBuf,
    name: String,
}

fn look(roots: &Roots, reader: &Reader, path: Option<PathBuf>) -> Files {
    // A file that cannot be read is nothing to ask about.
    let file = path.and_then(|path| reader.read(&path).ok().map(|file| (path, file)));
    let (prompts, program) = match file {
        None => (workflow::in_project(), None),
        Some((path, file)) => {
            let is_program = Language::of_text(&path, &file.text).is_some_and(Language::is_program);
            let name = roots.display(&path);
            let prompts = workflow::at_file(&paths::to_uri(&path), &name, is_program);
            let root = roots.iter().find(|root| is_program && path.starts_with(&root.path));
            (prompts, root.map(|root| Program { folder: root.path.clone(), path, name }))
        }
    };
    let beginnings = prompts.into_iter().map(|(title, prompt)| Beginning { title, prompt }).collect();
    Files { rules: rules(roots, reader), beginnings, program }
}

fn rules(roots: &Roots, reader: &Reader) -> Vec<SetupFact> {
    let rules = extend::rules::load(roots, reader);
    let sources: Vec<_> = rules.blocks.iter().map(|block| block.source.as_str()).collect();
    let read = match sources.as_slice() {
        [] if rules.problems.is_empty() => {
            Some(notes(SetupAbout::Rules, "No rules: tell agents about this project in AGENTS.md"))
        }
        [] => None,
        sources => Some(has(SetupAbout::Rules, format!("Rules: {}", sources.join(", ")))),
    };
    read.into_iter().chain(rules.problems.into_iter().map(|problem| lacks(SetupAbout::Rules, problem))).collect()
}

fn has(about: SetupAbout, text: impl Into<String>) -> SetupFact {
    SetupFact { about, state: SetupState::InOrder, text: text.into() }
}

fn notes(about: SetupAbout, text: impl Into<String>) -> SetupFact {
    SetupFact { about, state: SetupState::Neutral, text: text.into() }
}

fn lacks(about: SetupAbout, text: impl Into<String>) -> SetupFact {
    SetupFact { about, state: SetupState::Lacks, text: text.into() }
}
