//! Code intelligence: questions about code, answered by language servers.
//!
//! There are two sources behind one trait: the servers that the editor runs, which are warm and know unsaved text, and
//! servers of our own, for files that the editor has none for and where there is no editor. What is asked and answered
//! is plain data ([`protocol::lang`]), the same for both.
//!
//! Of our own: [`table`] (which servers are known), [`detect`] (which are there), `client` (one of them), `answer`
//! (what they say, as plain data), [`pool`] (all that run). Of what either says, [`delta`] is what edits did to the
//! problems of a text.

pub mod framing;

pub mod table;

pub mod detect;

mod client;

mod answer;

pub mod pool;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::lang::{LangQuery, LangResult, LangStatus};

mod based;
pub mod brought;
pub mod delta;
mod place;
mod problem;

use self::pool::ServerStatus;
pub use answer::edited;
pub use based::Based;
pub use place::{Place, PlaceError, name_within, names_of, word_at};
pub use problem::in_words;

/// Something that answers questions about code.
#[async_trait]
pub trait Source: Send + Sync {
    /// Answers a question, at the latest after this time. It never fails: a result says its status.
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult;

    /// The answers of all servers that a question goes to, each by itself; where they cannot be told apart, the one of
    /// all.
    async fn ask_each(&self, query: &LangQuery, within: Duration) -> Vec<LangResult> {
        vec![self.ask(query, within).await]
    }

    /// Returns the status of the servers that we start, if this starts any.
    async fn own_servers(&self) -> OwnServers {
        OwnServers::default()
    }

    /// Ends those of this name, or all, and reads what configures them anew; the next question starts them. Gives how
    /// many were ended.
    async fn restart(&self, _name: Option<&str>) -> usize {
        0
    }
}

/// The status of the servers that we start ourselves.
#[derive(Clone, Debug, Default)]
pub struct OwnServers {
    /// The servers.
    pub servers: Vec<ServerStatus>,
    /// The faults in the files that configure them, in words.
    pub problems: Vec<String>,
}

/// All that can answer questions about code for one session, in the order in which it is asked.
#[derive(Clone, Default)]
pub struct Lang {
    sources: Vec<Arc<dyn Source>>,
}

impl Lang {
    /// Asks these, the editor's servers before our own.
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        Self { sources }
    }

    /// The answer of the first source that has a server for the document. Where none has, the last one's words.
    ///
    /// A server that cannot answer is not doubled by another of the same language: that would take its memory a second
    /// time, and a user of an editor would wonder. But most editors have no way to ask what a move changes, so there it
    /// is.
    pub async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        let mut last = LangResult::without_answer(LangStatus::NoServer, None);
        for source in &self.sources {
            let result = source.ask(query, within).await;
            let is_answered = match result.status {
                LangStatus::NoServer => false,
                LangStatus::Unsupported | LangStatus::Unseen => !matches!(query, LangQuery::MoveFile { .. }),
                _ => true,
            };
            // "It cannot" of the editor's says more than "there is none" of ours.
            if is_answered || last.status == LangStatus::NoServer {
                last = result;
            }
            if is_answered {
                break;
            }
        }
        last
    }

    /// Returns the status of the servers that we start ourselves.
    pub async fn own_servers(&self) -> OwnServers {
        let mut all = OwnServers::default();
        for source in &self.sources {
            let OwnServers { servers, problems } = source.own_servers().await;
            all.servers.extend(servers);
            all.problems.extend(problems);
        }
        all
    }

    /// Ends the servers of this name that we have started ourselves, or all, and reads what configures them anew; the
    /// next question starts them. Gives how many were ended.
    pub async fn restart(&self, name: Option<&str>) -> usize {
        let mut ended = 0;
        for source in &self.sources {
            ended += source.restart(name).await;
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use protocol::lang::LangAnswer;

    use super::*;

    struct Says(LangStatus);

    #[async_trait]
    impl Source for Says {
        async fn ask(&self, _: &LangQuery, _: Duration) -> LangResult {
            LangResult {
                answer: LangAnswer::Locations { locations: Vec::new() },
                ..LangResult::without_answer(self.0, None)
            }
        }
    }

    #[tokio::test]
    async fn our_own_servers_are_asked_where_the_editor_has_none_and_for_moves_that_its_own_cannot_tell() {
        for (editors, own, expected) in [
            (LangStatus::Ready, LangStatus::Crashed, LangStatus::Ready),
            (LangStatus::TimedOut, LangStatus::Ready, LangStatus::TimedOut),
            (LangStatus::NoServer, LangStatus::Ready, LangStatus::Ready),
            (LangStatus::Unsupported, LangStatus::Ready, LangStatus::Unsupported),
            (LangStatus::NoServer, LangStatus::NoServer, LangStatus::NoServer),
        ] {
            let lang = Lang::new(vec![Arc::new(Says(editors)), Arc::new(Says(own))]);
            let query = LangQuery::DocumentSymbols { uri: "file:///a.rs".into() };
            assert_eq!(lang.ask(&query, Duration::from_secs(1)).await.status, expected, "{editors:?} {own:?}");
        }
        for (own, expected) in [(LangStatus::Ready, LangStatus::Ready), (LangStatus::NoServer, LangStatus::Unsupported)]
        {
            let lang = Lang::new(vec![Arc::new(Says(LangStatus::Unsupported)), Arc::new(Says(own))]);
            let query = LangQuery::MoveFile { from: "file:///a.rs".into(), to: "file:///b.rs".into() };
            assert_eq!(lang.ask(&query, Duration::from_secs(1)).await.status, expected, "{own:?}");
        }
    }
}
