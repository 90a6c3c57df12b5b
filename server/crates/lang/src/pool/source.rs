//! The questions of a session, brought to the servers that can answer them.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use project::paths::Roots;
use project::reader::Reader;
use protocol::lang::{LangAnswer, LangQuery, LangResult, LangServer, LangStatus};
use tokio::time::Instant;

use super::super::answer;
use super::super::brought::{self, Ground};
use super::super::detect::{self, Detected};
use super::super::table::Table;
use super::super::{OwnServers, Source, client::Client};
use super::ask::{Asker, Outcome, Part};
use super::slot::{NotThere, Slot};
use super::{Access, NoSlot, Servers, answering, blocking, view};

/// Our own servers for one session.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) servers: Arc<Servers>,
    pub(super) roots: Roots,
    pub(super) reader: Reader,
    pub(super) access: Access,
}

/// The servers that a question may go to.
#[derive(Clone)]
pub(super) struct Candidates {
    /// In the order in which they are asked; all with a program.
    servers: Vec<Detected>,
    /// The file that is asked about.
    path: Option<PathBuf>,
    table: Arc<Table>,
    /// Why there is none, if there is none.
    why_none: String,
    /// Why others are not asked that the project brings along.
    refused: Vec<String>,
}

#[async_trait]
impl Source for Own {
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        if !(self.access.trusted)() {
            let why = "no language server is started, since the workspace is not trusted";
            return LangResult::without_answer(LangStatus::NoServer, Some(why.to_owned()));
        }
        let candidates = match self.candidates(query, true).await {
            Ok(candidates) => candidates,
            Err(why) => return LangResult::without_answer(LangStatus::NoServer, Some(why)),
        };
        // The user may have been asked, for as long as they liked.
        let until = Instant::now() + within;
        let mut result = match query {
            LangQuery::Servers { .. } => self.list(&candidates),
            LangQuery::Diagnostics { .. } | LangQuery::CodeActions { .. } => {
                self.ask_all(&candidates, query, within, until).await
            }
            // A name in the workspace may be of any language.
            LangQuery::WorkspaceSymbols { uri: None, .. } => self.ask_all(&candidates, query, within, until).await,
            _ => self.ask_one(&candidates, query, within, until).await,
        };
        if !candidates.servers.is_empty() {
            let words = result.message.into_iter().chain(candidates.refused).collect::<Vec<_>>();
            result.message = (!words.is_empty()).then(|| words.join("; "));
        }
        result
    }

    async fn ask_each(&self, query: &LangQuery, within: Duration) -> Vec<LangResult> {
        let until = Instant::now() + within;
        // The outcome of an edit is told automatically: nobody is asked for that.
        match self.candidates(query, false).await {
            Ok(candidates) if (self.access.trusted)() && !candidates.servers.is_empty() => {
                let asked = candidates.servers.iter();
                let asked = asked.map(|server| self.ask_parts(&candidates, server, query, within, until));
                join_all(asked).await.into_iter().flatten().collect()
            }
            Ok(candidates) if (self.access.trusted)() => {
                vec![LangResult::without_answer(LangStatus::NoServer, Some(candidates.why_none))]
            }
            _ => vec![self.ask(query, within).await],
        }
    }

    async fn own_servers(&self) -> OwnServers {
        let trusted = (self.access.trusted)();
        OwnServers {
            servers: self.servers.status(&self.roots, &self.access).await,
            problems: self.servers.problems(&self.roots, trusted).await,
        }
    }

    async fn restart(&self, name: Option<&str>) -> usize {
        let ended = self.servers.restart(Some(&self.roots), name).await;
        self.servers.reload().await;
        ended
    }
}

impl Own {
    /// The servers that a question may go to. Where the project brings one along of which nobody has said whether it
    /// may start, the user is asked if `asks`.
    async fn candidates(&self, query: &LangQuery, asks: bool) -> Result<Candidates, String> {
        let (found, path, folder) = match query.uri() {
            Some(uri) => {
                let (uri, roots) = (uri.to_owned(), self.roots.clone());
                let located = blocking(move || view::locate(&uri, &roots)).await;
                let (path, folder) =
                    located.ok_or("the file could not be looked up")?.map_err(|error| error.to_string())?;
                (self.servers.detect(folder.clone(), Some(path.clone()), true).await, Some(path), Some(folder))
            }
            None => (self.of_workspace().await, None, None),
        };
        let is_wanted = |one: &Detected| match query {
            LangQuery::Diagnostics { .. }
            | LangQuery::CodeActions { .. }
            | LangQuery::CodeAction { .. }
            | LangQuery::Format { .. }
            | LangQuery::Servers { .. } => true,
            _ => !one.definition.is_linter,
        };
        let mut found: Vec<Detected> = found.into_iter().filter(is_wanted).collect();
        let why_none = match found.first() {
            None => match &path {
                Some(path) => format!("no language server is known for {} in this project", self.roots.display(path)),
                None => "no language server is known for this project".to_owned(),
            },
            Some(first) => {
                format!("{} is for it, but {}", first.definition.name, first.definition.missing())
            }
        };
        found.retain(|one| one.program.is_some());
        let asks = asks && !matches!(query, LangQuery::Servers { .. });
        let (mut found, refused) = self.admit(found, asks).await;
        let why_none = if found.is_empty() && !refused.is_empty() { refused.join("; ") } else { why_none };
        // Those that know of types come first.
        found.sort_by_key(|one| one.definition.is_linter);
        let folder = folder.or_else(|| self.roots.iter().next().map(|root| root.path.clone())).unwrap_or_default();
        Ok(Candidates { servers: found, path, table: self.servers.table(&folder, true).await, why_none, refused })
    }

    /// Those of these servers that may start, or run already, or which the user's own stand in for; and why others may
    /// not.
    async fn admit(&self, found: Vec<Detected>, asks: bool) -> (Vec<Detected>, Vec<String>) {
        let (mut admitted, mut refused) = (Vec::<Detected>::new(), Vec::new());
        for mut server in found {
            let name = server.definition.name.clone();
            let Err(why) = self.may_start(&mut server, asks).await else {
                admitted.push(server);
                continue;
            };
            match self.users_own(&server).await {
                Some(own) => {
                    refused.push(format!(
                        "the user's own {} is asked, since {name} of the project is not available: {why}",
                        own.definition.name
                    ));
                    admitted.push(own);
                }
                None => refused.push(format!("{name} is not available: {why}")),
            }
        }
        (admitted, refused)
    }

    /// Checks that a server may start, or runs already. Notes what is allowed of it.
    async fn may_start(&self, server: &mut Detected, asks: bool) -> Result<(), String> {
        /// The most looks at a server, until it counts as one that changes all the time and is not asked for.
        const LOOKS: usize = 3;
        // One that runs was allowed as it does, whatever has become of its file since.
        server.only_as_it_runs = self.runs(server);
        if server.only_as_it_runs {
            return Ok(());
        }
        for _ in 0..LOOKS {
            let known = self.servers.look(server, &self.roots, &self.access, false).await?;
            let Some(brought) = &known else { return Ok(()) };
            self.access.gate.admit(brought, asks).await?;
            // The user may have taken their time, and what is known of a file may be older still.
            if self.servers.look(server, &self.roots, &self.access, true).await? == known {
                let is_instead = |slot: &Slot| slot.is_instead_of(server, &self.access);
                self.servers.close(is_instead, "the project's own is allowed").await;
                server.allowed = known;
                return Ok(());
            }
        }
        Err("it belongs to the project, and changes all the time".to_owned())
    }

    /// The user's own server for what a server of the project is for, if they have one that the project has no hand in.
    async fn users_own(&self, server: &Detected) -> Option<Detected> {
        let folder = self.roots.iter().find(|root| server.root.starts_with(&root.path))?.path.clone();
        let (table, server) = (self.servers.table(&folder, false).await, server.clone());
        let search = self.servers.config.path.clone();
        let find = move |ground: &Ground<'_>| {
            detect::users_own(&table, &server, answering(search).as_deref(), |own| !brought::is_brought(own, ground))
        };
        self.servers.on_ground(&self.roots, &self.access, find).await.ok().flatten()
    }

    /// True if a server that is about to start is still what was looked at: other servers may have been asked for or
    /// asked since.
    async fn is_as_allowed(&self, server: &Detected) -> bool {
        let looked = self.servers.look(server, &self.roots, &self.access, true).await;
        looked.is_ok_and(|brought| brought == server.allowed)
    }

    /// True if a server runs, as it is known now.
    fn runs(&self, server: &Detected) -> bool {
        let slots = self.servers.slots();
        let slot = slots.values().find(|slot| slot.is_of(server, &self.access));
        slot.is_some_and(|slot| slot.definition == server.definition && slot.client().is_some())
    }

    /// The servers of the workspace: those that run in it, wherever their projects lie, and those that its folders are
    /// of the kind for. Where there are neither, those that folders in it are of the kind for.
    async fn of_workspace(&self) -> Vec<Detected> {
        let slots: Vec<Arc<Slot>> = self
            .servers
            .slots()
            .values()
            .filter(|slot| slot.is_in(&self.roots) && slot.is_for(&self.access))
            .cloned()
            .collect();
        let running = slots.iter().filter(|slot| slot.client().is_some()).map(|slot| Detected {
            definition: slot.definition.clone(),
            program: Some(slot.key.program.clone()),
            root: slot.key.root.clone(),
            allowed: None,
            only_as_it_runs: false,
        });
        let running: Vec<Detected> = running.collect();
        // Servers that are found come first: those that run may only stand in for them.
        let (mut all, mut missing) = (Vec::<Detected>::new(), Vec::new());
        let mut add = |found: Vec<Detected>| {
            for one in found {
                if !all.iter().any(|known| known.definition.name == one.definition.name && known.root == one.root) {
                    all.push(one);
                }
            }
        };
        for root in self.roots.iter() {
            let found = self.servers.detect(root.path.clone(), None, true).await;
            let (there, not_there) =
                found.into_iter().filter(|one| !is_for_anything(one)).partition(|one| one.program.is_some());
            add(there);
            missing.push(not_there);
        }
        add(running);
        missing.into_iter().for_each(add);
        if all.is_empty() {
            for root in self.roots.iter() {
                for found in self.servers.detect_below(root.path.clone(), true).await {
                    all.extend((!is_for_anything(&found)).then_some(found));
                }
            }
        }
        all
    }

    /// Who is there for a question.
    fn list(&self, candidates: &Candidates) -> LangResult {
        if candidates.servers.is_empty() {
            return LangResult::without_answer(LangStatus::NoServer, Some(candidates.why_none.clone()));
        }
        let slots = self.servers.slots();
        let server = |one: &Detected| {
            let slot = slots.values().find(|slot| slot.is_of(one, &self.access));
            let client = slot.and_then(|slot| slot.client());
            named(one, client.as_deref())
        };
        let servers = candidates.servers.iter().map(server).collect();
        LangResult { servers, ..LangResult::without_answer(LangStatus::Ready, None) }
    }

    /// Asks one after the other until one can answer.
    async fn ask_one(
        &self,
        candidates: &Candidates,
        query: &LangQuery,
        within: Duration,
        until: Instant,
    ) -> LangResult {
        let mut best: Option<LangResult> = None;
        for server in &candidates.servers {
            let result = match query {
                LangQuery::Format { .. } => self.ask_to_format(candidates, server, query, within, until).await,
                _ => self.ask_server(candidates, server, query, Part::All, within, until).await,
            };
            let says_more = |best: &LangResult| best.status == LangStatus::Unsupported;
            if best.as_ref().is_none_or(says_more) || is_answer(&result) {
                best = Some(result);
            }
            // There is time left for the next where one was waited for only shortly.
            let gave_up = |best: &LangResult| best.status == LangStatus::TimedOut && Instant::now() < until;
            if best.as_ref().is_some_and(|best| is_answer(best) && !gave_up(best)) {
                break;
            }
        }
        best.unwrap_or_else(|| LangResult::without_answer(LangStatus::NoServer, Some(candidates.why_none.clone())))
    }

    pub(super) fn slot_of(&self, server: &Detected) -> Option<Arc<Slot>> {
        self.servers.slots().values().find(|slot| slot.is_of(server, &self.access)).cloned()
    }

    /// Asks all at once, and puts together what they say.
    async fn ask_all(
        &self,
        candidates: &Candidates,
        query: &LangQuery,
        within: Duration,
        until: Instant,
    ) -> LangResult {
        let asked = candidates
            .servers
            .iter()
            .map(|server| self.ask_server(candidates, server, query, Part::All, within, until));
        let results = join_all(asked).await;
        let can = |result: &&LangResult| result.status != LangStatus::Unsupported;
        let able = results.iter().filter(can).count();
        let none = || LangResult::without_answer(LangStatus::NoServer, Some(candidates.why_none.clone()));
        let results = results.into_iter().filter(|result| able == 0 || result.status != LangStatus::Unsupported);
        results.reduce(together).unwrap_or_else(none)
    }

    /// Asks one; for the problems of a file in two parts where it answers for them and may publish others, which may
    /// still be of another text.
    async fn ask_parts(
        &self,
        candidates: &Candidates,
        server: &Detected,
        query: &LangQuery,
        within: Duration,
        until: Instant,
    ) -> Vec<LangResult> {
        if !matches!(query, LangQuery::Diagnostics { uri: Some(_) }) {
            return vec![self.ask_server(candidates, server, query, Part::All, within, until).await];
        }
        let mut parts = vec![self.ask_server(candidates, server, query, Part::Answered, within, until).await];
        let client = self.slot_of(server).and_then(|slot| slot.client());
        if parts.iter().all(|part| is_said(part.status)) && client.is_some_and(|client| client.answers_for_problems()) {
            let mut published = self.ask_server(candidates, server, query, Part::Published, within, until).await;
            for server in &mut published.servers {
                server.name.push_str(" (published)");
            }
            parts.push(published);
        }
        parts
    }

    pub(super) async fn ask_server(
        &self,
        candidates: &Candidates,
        server: &Detected,
        query: &LangQuery,
        part: Part,
        within: Duration,
        until: Instant,
    ) -> LangResult {
        let name = &server.definition.name;
        let nothing = |status, why: String| LangResult {
            servers: vec![named(server, None)],
            ..LangResult::without_answer(status, Some(format!("{name}: {why}")))
        };
        let mut anew: Option<Candidates> = None;
        let (candidates, server, slot, _asked, client) = loop {
            let (candidates, server) = match &anew {
                None => (candidates, server),
                Some(anew) => {
                    let is_it = |one: &&Detected| one.definition.name == *name && one.root == server.root;
                    match anew.servers.iter().find(is_it) {
                        Some(server) => (anew, server),
                        None if anew.refused.is_empty() => {
                            return nothing(LangStatus::NoServer, "it is not used any more".to_owned());
                        }
                        None => return nothing(LangStatus::NoServer, anew.refused.join("; ")),
                    }
                }
            };
            // One that was ended since the workspace is not trusted any more must not be started by who waited for it.
            if !(self.access.trusted)() {
                return nothing(LangStatus::NoServer, "it is not started any more".to_owned());
            }
            let slot = match self.servers.slot(server, candidates.table.idle, &self.access) {
                Ok(slot) => slot,
                Err(NoSlot::Over) => {
                    return nothing(LangStatus::NoServer, "it is not started any more".to_owned());
                }
                Err(NoSlot::Outdated) if Instant::now() < until => {
                    anew = self.candidates(query, false).await.ok();
                    continue;
                }
                Err(NoSlot::Outdated) => {
                    return nothing(LangStatus::TimedOut, "what configures it changes all the time".to_owned());
                }
            };
            let asked = slot.clone().asked();
            let there = async {
                match server.only_as_it_runs {
                    // Where it has ended since it was looked at, it is to be allowed as it would start now.
                    true => slot.only_as_it_runs().ok_or(NotThere::Closed),
                    false if slot.only_as_it_runs().is_none() && !self.is_as_allowed(server).await => {
                        Err(NotThere::Closed)
                    }
                    false => slot.running().await,
                }
            };
            match tokio::time::timeout_at(until, there).await {
                Ok(Ok(client)) => break (candidates, server, slot, asked, client),
                Ok(Err(NotThere::Crashed(why))) => return nothing(LangStatus::Crashed, why),
                Ok(Err(NotThere::Closed)) if Instant::now() >= until => {
                    return nothing(LangStatus::TimedOut, "what it is changes all the time".to_owned());
                }
                // The server itself may have changed.
                Ok(Err(NotThere::Closed)) => anew = self.candidates(query, false).await.ok(),
                Err(_) => {
                    let seconds = slot.starting().unwrap_or_default().as_secs();
                    let why = format!("it was started {seconds} s ago, and is not yet there");
                    return nothing(LangStatus::TimedOut, why);
                }
            }
        };
        let asker = Asker {
            client: &client,
            server,
            table: &candidates.table,
            reader: &self.reader,
            path: candidates.path.as_deref(),
            until,
            patience: until - within / 5,
            sent: Mutex::default(),
            is_disturbed: AtomicBool::new(false),
            lacks_problems: AtomicBool::new(false),
            part,
        };
        let outcome = asker.ask(query).await;
        slot.note_end();
        finish(outcome, server, &client, &self.roots, &self.reader).await
    }
}

/// Makes of what a server said an answer in our units and bounds.
pub(super) async fn finish(
    outcome: Outcome,
    server: &Detected,
    client: &Arc<Client>,
    roots: &Roots,
    reader: &Reader,
) -> LangResult {
    let Outcome { mut status, mut message, sent, mut answer, ranges_in } = outcome;
    let (encoding, reader) = (client.encoding(), reader.clone());
    let seen = sent.clone();
    let made = blocking(move || {
        answer::into_utf16(&mut answer, ranges_in.as_deref(), encoding, &reader);
        let changed = answer::put_hashes(&mut answer, &seen, &reader);
        answer::leave_out_deleted(&mut answer, &reader);
        (answer, changed)
    });
    let (mut answer, changed) = made.await.unwrap_or((LangAnswer::Nothing, None));
    if let Some(changed) = changed {
        answer = LangAnswer::Nothing;
        status = LangStatus::Failed;
        message = Some(format!("{} changed while it was asked; ask again", roots.display(&changed)));
    }
    super::ask::put_versions(&mut answer, &sent);
    if answer::bound(&mut answer) {
        status = LangStatus::Partial;
        message = Some(format!("there is more; these are the first {}", answer::MOST));
    }
    let name = &server.definition.name;
    LangResult {
        status,
        servers: vec![named(server, Some(client))],
        version: sent.text.and_then(|synced| synced.editors),
        message: message.map(|message| format!("{name}: {message}")),
        answer,
    }
}

/// True if a server would be there for any repository: that says nothing of whether there is anything of its kind.
fn is_for_anything(server: &Detected) -> bool {
    server.definition.root_markers.iter().any(|marker| marker == ".git")
}

pub(super) fn named(server: &Detected, client: Option<&Client>) -> LangServer {
    let version = client.and_then(|client| client.version().map(str::to_owned));
    LangServer { name: server.definition.name.clone(), version }
}

fn is_answer(result: &LangResult) -> bool {
    !matches!(result.status, LangStatus::Unsupported | LangStatus::Crashed | LangStatus::Failed | LangStatus::NoServer)
}

/// Two servers' results as one.
fn together(mut one: LangResult, other: LangResult) -> LangResult {
    one.servers.extend(other.servers);
    one.version = one.version.or(other.version);
    one.message = match (one.message, other.message) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    };
    let is_whole = |status| status == LangStatus::Ready;
    one.status = match (one.status, other.status) {
        (a, b) if a == b => a,
        (LangStatus::Indexing, other) | (other, LangStatus::Indexing) if is_whole(other) => LangStatus::Indexing,
        // One of them said something, or there is more.
        (a, b) if is_said(a) || is_said(b) => LangStatus::Partial,
        (a, _) => a,
    };
    one.answer = match (one.answer, other.answer) {
        (LangAnswer::Nothing, answer) | (answer, LangAnswer::Nothing) => answer,
        (LangAnswer::Diagnostics { mut documents }, LangAnswer::Diagnostics { documents: others }) => {
            for other in others {
                match documents.iter_mut().find(|document| document.uri == other.uri) {
                    Some(document) => document.diagnostics.extend(other.diagnostics),
                    None => documents.push(other),
                }
            }
            LangAnswer::Diagnostics { documents }
        }
        (LangAnswer::Actions { mut actions }, LangAnswer::Actions { actions: others }) => {
            actions.extend(others);
            LangAnswer::Actions { actions }
        }
        (LangAnswer::Symbols { mut symbols }, LangAnswer::Symbols { symbols: others }) => {
            symbols.extend(others);
            LangAnswer::Symbols { symbols }
        }
        (answer, _) => answer,
    };
    one
}

fn is_said(status: LangStatus) -> bool {
    matches!(status, LangStatus::Ready | LangStatus::Indexing | LangStatus::Partial)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use project::buffers::Buffers;
    use project::reader::NoOverlay;
    use serde_json::json;

    use super::super::ServersConfig;
    use super::super::{Brought, Gate};
    use super::*;

    /// A user who has allowed what there was at first, and says no to anything else.
    struct Once(Mutex<Option<String>>);

    #[async_trait]
    impl Gate for Once {
        async fn admit(&self, program: &Brought, _: bool) -> Result<(), String> {
            let mut first = self.0.lock().unwrap();
            let is_first = *first.get_or_insert_with(|| program.fingerprint.clone()) == program.fingerprint;
            is_first.then_some(()).ok_or_else(|| "it has changed".to_owned())
        }
    }

    #[tokio::test]
    async fn a_server_that_ends_between_the_look_and_the_question_does_not_start_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let program = at.join("node_modules/.bin/nasty");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, include_str!("tests/nasty.py")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config = json!({ "nasty": {
            "command": "nasty", "args": ["good"], "fileTypes": [".nasty"], "rootMarkers": ["nasty.project"],
        } });
        let files =
            [("lsp.json", config.to_string()), ("nasty.project", String::new()), ("a.nasty", "one\n".to_owned())];
        for (name, text) in files {
            std::fs::write(at.join(name), text).unwrap();
        }
        let gate = Arc::new(Once(Mutex::default()));
        let own = Own {
            servers: Servers::new(ServersConfig::default()),
            roots: Roots::new([&at]).unwrap(),
            reader: Reader::new(Arc::<Buffers>::default(), Arc::new(NoOverlay)),
            access: Access {
                trusted: Arc::new(|| true),
                policy: None,
                pass: [].into(),
                gate,
                sessions: Arc::new(|| Ok(Vec::new())),
            },
        };
        let (uri, within) = (project::paths::to_uri(&at.join("a.nasty")), Duration::from_secs(30));
        let query = LangQuery::Hover { uri, position: protocol::content::Position { line: 0, character: 0 } };
        let first = own.ask(&query, within).await;
        assert_eq!(first.status, LangStatus::Ready, "{first:?}");

        // It writes itself anew while it runs, and is still asked as it was allowed.
        std::fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
        let candidates = own.candidates(&query, true).await.unwrap();
        let server = candidates.servers.first().unwrap();
        let ask = || own.ask_server(&candidates, server, &query, Part::All, within, Instant::now() + within);
        assert_eq!(ask().await.status, LangStatus::Ready);
        // Then it ends, as one does that nobody has asked for long.
        let slot = own.servers.slots().values().next().unwrap().clone();
        slot.stop("nobody has asked it anything").await;
        let result = ask().await;
        assert_eq!(result.status, LangStatus::NoServer, "{result:?}");
        assert!(result.message.as_deref().is_some_and(|why| why.contains("it has changed")), "{result:?}");
        assert!(!at.join("started").exists(), "what it wrote has started unasked");
    }
}
