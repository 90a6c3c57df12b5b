//! `oracle`: a second opinion of a stronger model, which works in a session of its own.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use permission::Action;
use ports::children::{Child, ChildEnd, ChildTools};
use ports::tool::{Access, Call, Description, Output, Tool, ToolError};
use ports::tool_names;
use project::reader::Source;
use protocol::content::ToolKind;
use protocol::session::{Budget, Mode};
use protocol::turn::StopReason;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::read_file::{Wanted, in_words, part};
use crate::typed::{self, Typed};
use crate::{Services, blocking, counted, location};

/// How many rounds the oracle has for a question. A question about some files takes three to ten; one that takes more
/// than this is a task, which is the asking model's own.
const ROUNDS: u32 = 30;
/// How many tokens it may use for a question, of all kinds. Each round counts all of its context again, mostly from the
/// vendor's cache: all rounds with 50,000 tokens on the average.
const TOKENS: u64 = 1_500_000;
/// How much a question may cost, in US dollars: several times that of a usual one to the dearest models, and an amount
/// that nobody regrets having lost to one that went astray.
const COST: f64 = 2.0;
/// How many files can be given. More are found faster by the oracle's own searches.
const MAX_FILES: usize = 20;
/// How many bytes of files are given, since each round sends them again; it reads others on its own.
const MAX_BYTES: usize = 96_000;
/// How much of a question stands in a title, in characters.
const MAX_TITLE: usize = 80;

/// Asks a stronger model for a second opinion. It has no part in this conversation, but reads and searches the project
/// on its own; it changes and runs nothing. It is slow and expensive, so use it seldom: for a design with consequences,
/// for a bug whose cause you did not find in two attempts, to have a difficult or risky change reviewed, or if the user
/// asks for it. Ask one question at a time: a second one beside it is refused. Its answer is advice, so check it
/// against the code.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The question, with all that is needed to answer it: the goal, what you know, what you tried and what came of it,
    /// and what kind of answer you want.
    question: String,
    /// The files that it should read first, relative to the workspace or absolute, at most 20. It reads them as you
    /// do, with your pending edits; what it reads on its own is without these.
    files: Option<Vec<String>>,
}

/// The tool that asks this model, or this chain of models.
pub fn oracle(services: &Services, model: &str) -> Arc<dyn Tool> {
    typed::erase(Oracle { services: services.clone(), model: model.to_owned(), asks: Mutex::default() })
}

struct Oracle {
    services: Services,
    model: String,
    /// Held while a question is asked. Calls that read run beside each other, and the budgets of the conversation are
    /// looked at between its requests: several questions at once would cost several times the most.
    asks: Mutex<()>,
}

#[async_trait]
impl Typed for Oracle {
    type Input = Input;
    const NAME: &'static str = "oracle";
    const KIND: ToolKind = ToolKind::Think;
    const ACCESS: Access = Access::Read;
    const IS_REPEATABLE: bool = false;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let question = input.question.trim();
        if question.is_empty() {
            return Err(ToolError::InvalidInput("`question` is empty; say what you want to know".to_owned()));
        }
        let files = input.files.as_deref().unwrap_or_default();
        if files.len() > MAX_FILES {
            let words = format!("`files` has {}, more than {MAX_FILES}: name those that matter most", files.len());
            return Err(ToolError::InvalidInput(words));
        }
        let paths = files.iter().map(|file| self.services.roots.resolve(file));
        let locations = paths.map(|path| Ok(location(&path?, None))).collect::<Result<_, ToolError>>()?;
        let title = format!("Asking for a second opinion: {}", short(question));
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let Ok(_asks) = self.asks.try_lock() else {
            let words = "another question is being answered, and only one is asked at a time. Read that answer first, and \
                         ask this one then, if it is still open";
            return Err(ToolError::Failed(words.to_owned()));
        };
        let (services, cancel) = (self.services.clone(), call.cancel.clone());
        let (prompt, call) = blocking(move || Ok((prompt(&services, &input, &call)?, call))).await?;
        let child = Child {
            prompt,
            tools: ChildTools::Reading,
            budget: Budget { rounds: Some(ROUNDS), tokens: Some(TOKENS), cost: Some(COST) },
            mode: Some(Mode::Ask),
            model: Some(self.model.clone()),
            cancel: cancel.clone(),
        };
        let end = call.children.start(child).await;
        let end = end.map_err(|error| {
            ToolError::Failed(format!("the oracle could not be asked: {error}. Go on without it, and tell the user"))
        })?;
        answer(end, cancel.is_cancelled())
    }
}

/// The words that the oracle is asked in. The question is first, since the conversation gets its title from there.
fn prompt(services: &Services, input: &Input, call: &Call) -> Result<String, ToolError> {
    let mut text = format!(
        "{}\n\n# How to answer\n\nAnother agent, which works for a user in this workspace, asks you this as a second \
         opinion. You do not see its conversation, and nobody answers you, so ask nothing back. You can read and \
         search, and you change and run nothing. You have at most {ROUNDS} rounds; answer as soon as you are sure. \
         Begin with the answer, then give your reasons with files and lines. Say what you have seen and what you only \
         suppose, and say it if the question rests on a mistake.\n",
        input.question.trim()
    );
    let files = input.files.as_deref().unwrap_or_default();
    if files.is_empty() {
        return Ok(text);
    }
    // Writing into a string cannot fail.
    let about = "\n# Files\n\nThey are as that agent sees them. Your own tools show files without its edits that wait for \
                 the user's decision; where a file here says that it has such edits, trust the text here.";
    let _ = writeln!(text, "{about}");
    let mut left = MAX_BYTES;
    for file in files {
        let path = services.roots.resolve(file)?;
        let (read, is_pending) = read(services, &path, call)?;
        let Some(rest) = left.checked_sub(read.len()) else {
            let but = if is_pending { ", though without the edits that wait" } else { "" };
            let _ = writeln!(text, "\n{} is left out here; read it yourself{but}.", services.roots.display(&path));
            continue;
        };
        left = rest;
        let mark = if is_pending { "[with edits that the user has not decided yet]\n" } else { "" };
        let _ = writeln!(text, "\n{mark}{read}");
    }
    Ok(text)
}

/// The beginning of a file as the asking model sees it, and whether edits are in it that wait for the user.
fn read(services: &Services, path: &Path, call: &Call) -> Result<(String, bool), ToolError> {
    let file = services.reader.read(path).map_err(|error| in_words(services, path, error, call))?;
    let all = Wanted { start_line: None, end_line: None, start_column: None };
    let part = part(tool_names::READ_FILE, &services.roots.display(path), &file.text, None, &all)?;
    Ok((part.text, file.source == Source::Pending))
}

/// The answer for the model that asked, with how it came to its end.
fn answer(end: ChildEnd, is_cancelled: bool) -> Result<Output, ToolError> {
    let ChildEnd { session, model, rounds, stop, error, text, .. } = end;
    let rounds = counted(usize::try_from(rounds).unwrap_or(usize::MAX), "round");
    let who = if model.is_empty() { "the oracle".to_owned() } else { model };
    let why = match (stop, error) {
        (StopReason::Cancelled, _) if is_cancelled => return Err(ToolError::Cancelled),
        (StopReason::EndTurn, None) if !text.is_empty() => None,
        (StopReason::EndTurn, None) => Some("it answered nothing".to_owned()),
        (_, Some(error)) => Some(error),
        (StopReason::MaxTurnRequests, None) => Some("it stopped without an answer".to_owned()),
        (StopReason::MaxTokens, None) => Some("its answer became too long".to_owned()),
        (StopReason::Refusal, None) => Some("it would not answer".to_owned()),
        (StopReason::Cancelled, None) => Some("the user stopped it".to_owned()),
        (_, None) => Some("it was interrupted".to_owned()),
    };
    let place = format!("{who}, {rounds}, conversation {session}");
    let Some(why) = why else {
        let text = format!("{text}\n\n[{place}]");
        return Ok(Output { text, summary: format!("{who}, {rounds}"), ..Output::default() });
    };
    let said = if text.is_empty() { String::new() } else { format!("\n\nUntil then it had said:\n\n{text}") };
    let advice = "Go on without it, or ask something smaller";
    Err(ToolError::Failed(format!("there is no second opinion: {why} [{place}]. {advice}.{said}")))
}

/// The first line of a question, cut where it is long.
fn short(question: &str) -> String {
    let line = question.lines().next().unwrap_or_default().trim();
    let short: String = line.chars().take(MAX_TITLE).collect();
    if short.len() < question.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use ports::children::{ChildError, Children, StartChild};
    use project::reader::{Overlay, Pending};
    use protocol::content::Usage;
    use serde_json::{Value, json};
    use tokio::sync::oneshot;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::fixture::World;

    /// Sessions that end so, and the terms on which they were to be started.
    struct Sessions {
        end: Result<ChildEnd, ChildError>,
        asked: Mutex<Vec<Child>>,
    }

    #[async_trait]
    impl StartChild for Sessions {
        async fn start(&self, child: Child) -> Result<ChildEnd, ChildError> {
            self.asked.lock().unwrap().push(child);
            self.end.clone()
        }
    }

    fn ended(stop: StopReason, error: Option<&str>, text: &str) -> ChildEnd {
        let (session, error) = ("abc123".into(), error.map(str::to_owned));
        let (model, text, usage) = ("test/wise".into(), text.into(), Usage::default());
        ChildEnd { session, model, rounds: 2, stop, error, text, usage, cost: None }
    }

    /// Asks in a project, and gives the result with the session that was started for it.
    async fn ask(
        world: &World,
        end: Result<ChildEnd, ChildError>,
        input: Value,
    ) -> (Result<Output, ToolError>, Option<Child>) {
        let sessions = Arc::new(Sessions { end, asked: Mutex::default() });
        let call = Call {
            children: Children::new(Arc::clone(&sessions) as _),
            ..Call::unjudged("call".into(), CancellationToken::new())
        };
        let tool = oracle(&world.services(), "test/wise, test/clever");
        let result = match tool.describe(&input).await {
            Ok(_) => tool.run(call, input).await,
            Err(error) => Err(error),
        };
        let asked = sessions.asked.lock().unwrap().pop();
        (result, asked)
    }

    #[tokio::test]
    async fn a_question_goes_to_a_session_that_only_reads_with_the_files_as_they_are_in_the_editor() {
        let world = World::new(&[("a.txt", "old\n"), ("big.txt", &"x".repeat(1_000).repeat(99))]);
        world.open("a.txt", "typed\n");
        let input = json!({ "question": "Is it right?\nI doubt it.", "files": ["a.txt"] });
        let (result, child) = ask(&world, Ok(ended(StopReason::EndTurn, None, "It is.")), input.clone()).await;
        let output = result.unwrap();
        assert_eq!(output.text, "It is.\n\n[test/wise, 2 rounds, conversation abc123]");
        assert_eq!(output.summary, "test/wise, 2 rounds");
        let child = child.unwrap();
        assert!(child.prompt.starts_with("Is it right?\nI doubt it.\n"), "{}", child.prompt);
        assert!(child.prompt.contains("a.txt (1 line):\n     1\ttyped"), "{}", child.prompt);
        assert_eq!((child.tools, child.mode), (ChildTools::Reading, Some(Mode::Ask)));
        assert_eq!(child.model.as_deref(), Some("test/wise, test/clever"));
        let Budget { rounds, tokens, cost } = child.budget;
        assert!(rounds.is_some() && tokens.is_some() && cost.is_some(), "nothing of it is without a bound");
        let described = oracle(&world.services(), "test/wise").describe(&input).await.unwrap();
        assert_eq!(described.title, "Asking for a second opinion: Is it right?…");
        assert_eq!((described.locations.len(), described.action), (1, Action::Read), "the files are judged as read");
    }

    #[tokio::test]
    async fn files_that_do_not_fit_are_named_and_those_that_may_not_be_read_are_an_error() {
        let lines = "a line of some words\n".repeat(2_000);
        let world = World::new(&[("1.txt", &lines), ("2.txt", &lines), ("3.txt", &lines), ("4.txt", &lines)]);
        let files = ["1.txt", "2.txt", "3.txt", "4.txt"].repeat(3);
        let end = || Ok(ended(StopReason::EndTurn, None, "Yes."));
        let (_, child) = ask(&world, end(), json!({ "question": "Why?", "files": files })).await;
        let prompt = child.unwrap().prompt;
        assert!(prompt.len() < MAX_BYTES + 4_000, "{}", prompt.len());
        assert!(prompt.contains("4.txt is left out here; read it yourself."), "{prompt}");
        for (input, says) in [
            (json!({ "question": " " }), "`question` is empty"),
            (json!({ "question": "Why?", "files": ["../x"] }), "outside the workspace"),
            (json!({ "question": "Why?", "files": ["none.txt"] }), "none.txt"),
            (json!({ "question": "Why?", "files": vec!["1.txt"; 21] }), "more than 20"),
        ] {
            let (result, child) = ask(&world, end(), input).await;
            let error = result.unwrap_err().to_string();
            assert!(error.contains(says) && child.is_none(), "{error}");
        }
    }

    #[tokio::test]
    async fn an_oracle_that_comes_to_no_answer_is_an_error_that_says_why_and_what_it_had_said() {
        let world = World::new(&[]);
        let failed = ended(StopReason::Error, Some("test is overloaded"), "Let me see.");
        for (end, says) in [
            (Ok(failed), "test is overloaded [test/wise, 2 rounds, conversation abc123]. Go on without it"),
            (Ok(ended(StopReason::MaxTurnRequests, None, "I think")), "it stopped without an answer [test/wise"),
            (Ok(ended(StopReason::MaxTurnRequests, None, "I think")), "Until then it had said:\n\nI think"),
            (Ok(ended(StopReason::EndTurn, None, "")), "it answered nothing"),
            (Ok(ended(StopReason::Cancelled, None, "")), "the user stopped it"),
            (Err(ChildError::Nested), "the oracle could not be asked: this session was started by another one"),
        ] {
            let (result, _) = ask(&world, end, json!({ "question": "Why?" })).await;
            let error = result.unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[tokio::test]
    async fn a_file_with_edits_that_wait_says_so_since_the_oracles_own_tools_show_it_without_them() {
        struct Proposes;
        impl Overlay for Proposes {
            fn pending(&self, path: &Path) -> Option<Pending> {
                path.ends_with("a.txt").then(|| Pending::Text("new\n".into()))
            }
            fn paths(&self) -> Vec<PathBuf> {
                Vec::new()
            }
        }
        let world = World::new(&[("a.txt", "old\n"), ("b.txt", "same\n")]);
        let files = Some(vec!["a.txt".to_owned(), "b.txt".to_owned()]);
        let call = Call::unjudged("call".into(), CancellationToken::new());
        let input = Input { question: "Why?".to_owned(), files };
        let prompt = prompt(&world.services_with(Proposes), &input, &call).unwrap();
        let mark = "[with edits that the user has not decided yet]\n";
        assert!(prompt.contains(&format!("{mark}a.txt (1 line):\n     1\tnew")), "{prompt}");
        assert!(prompt.contains("\n\nb.txt (1 line):") && prompt.matches(mark).count() == 1, "{prompt}");
    }

    /// A session that ends when the test says so.
    struct Slow(Mutex<Option<oneshot::Receiver<()>>>);

    #[async_trait]
    impl StartChild for Slow {
        async fn start(&self, _: Child) -> Result<ChildEnd, ChildError> {
            let waits = self.0.lock().unwrap().take().expect("only one session is started");
            let _ = waits.await;
            Ok(ended(StopReason::EndTurn, None, "Yes."))
        }
    }

    #[tokio::test]
    async fn one_question_is_asked_at_a_time_and_none_is_asked_again_unasked() {
        let world = World::new(&[]);
        let tool = oracle(&world.services(), "test/wise");
        assert!(tool.access() == Access::Read && !tool.is_repeatable());
        let (end, waits) = oneshot::channel();
        let sessions = Arc::new(Slow(Mutex::new(Some(waits))));
        let ask = || {
            let children = Children::new(Arc::clone(&sessions) as _);
            let call = Call { children, ..Call::unjudged("call".into(), CancellationToken::new()) };
            tool.run(call, json!({ "question": "Why?" }))
        };
        let (first, second) = tokio::join!(ask(), async {
            let second = ask().await;
            end.send(()).unwrap();
            second
        });
        assert!(first.is_ok(), "{first:?}");
        let error = second.unwrap_err().to_string();
        assert!(error.contains("only one is asked at a time"), "{error}");
    }
}
