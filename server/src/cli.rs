//! The command line: the subcommands, their arguments, and the exit codes.
//!
//! Exit codes of `exec` and `demo`: 0 done, 1 failed, 2 wrong usage, 3 something was refused, 130 cancelled.

mod auth;
mod demo;
mod doctor;
mod exec;
mod lists;
mod providers;
mod questions;
mod setup;
mod signals;
mod stats;
mod style;
mod suggestions;
mod view;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use hub::bill::By;
use hub::visible;
use protocol::session::{ExportFormat, Mode};

/// The exit code for wrong arguments, the same as clap's.
const USAGE: u8 = 2;
/// The time for which the end waits until a sign-in that is being renewed is in its file.
const RENEWAL: Duration = Duration::from_secs(5);

/// A coding agent that is a language server.
#[derive(Debug, Parser)]
#[command(name = "azimuth", version, propagate_version = true)]
pub struct Cli {
    /// The level of the log: error, warn, info, debug or trace (the log is a file; `azimuth doctor` names it).
    #[arg(long, global = true, value_name = "LEVEL", env = "AZIMUTH_LOG")]
    log: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve an editor over standard input and output.
    Lsp,
    /// Run one prompt in the current folder, without an editor.
    Exec(Exec),
    /// Show the whole loop on a small project, with a scripted model; it needs no key and no network.
    Demo(Demo),
    /// List, search, show, delete, export and import sessions.
    Sessions {
        #[command(subcommand)]
        command: Sessions,
    },
    /// List the models, and which of them can be used.
    Models {
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the providers of models: where their keys come from, and why one cannot be used. Add and remove your own.
    #[command(args_conflicts_with_subcommands = true)]
    Providers {
        #[command(subcommand)]
        command: Option<providers::Providers>,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sign in to providers, keep keys for them, and show what there is.
    Auth {
        #[command(subcommand)]
        command: auth::Auth,
    },
    /// Show what the requests to models used and cost: by model, or by day, provider, project or session.
    Stats {
        /// The days to add up, today (UTC) among them; without it, all time.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// The rows.
        #[arg(long, value_name = "ROWS", default_value = By::Model.name(), value_parser = divisions())]
        by: By,
        /// Show instead the number of prompts, turns and calls of tools, and the speed of models.
        #[arg(long, conflicts_with = "by")]
        activity: bool,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show how suggestions while you type fare, and what they cost: numbers that are kept on this machine only.
    Suggestions {
        /// The days to add up, today (UTC) among them: 1 to 90.
        #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=90))]
        days: u32,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check keys, local servers, the shell and the database, and say how to fix what is wrong.
    Doctor,
}

#[derive(Debug, Args)]
struct Exec {
    /// The task. With `-`, or if it is missing and standard input is not a terminal, it is read from standard input.
    prompt: Option<String>,
    /// Write every event as a line of JSON.
    #[arg(long)]
    json: bool,
    /// The model: an id such as `anthropic/claude-sonnet-5-5`, or an alias.
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// The mode: what the agent may do. `bypass` is not available here; use `--yes` to run without questions.
    #[arg(long, value_parser = modes())]
    mode: Option<Mode>,
    /// A permission rule for this run, such as `Shell(cargo test:*)` or `Edit`. It can be given several times.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Accept every edit and allow every command that no rule denies.
    #[arg(long)]
    yes: bool,
    /// Trust the current folder for this run: what it supplies may run. The answer is not kept.
    #[arg(long)]
    trust: bool,
    /// Continue this session. The beginning of its id is enough if no other one begins so.
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Continue the session of the current folder that was used last.
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    latest: bool,
    /// Play this script or recording instead of asking a model.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Record the model's answers in this file, to play them with `--script`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Demo {
    /// Run without questions.
    #[arg(long)]
    yes: bool,
    /// Keep the project's folder at the end.
    #[arg(long)]
    keep: bool,
}

#[derive(Debug, Subcommand)]
enum Sessions {
    /// List the sessions of the current folder.
    List {
        /// List those of every folder.
        #[arg(long)]
        everywhere: bool,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Find what was said in sessions of the current folder.
    Search {
        /// The words, all of which must be there; each may be a part of a word.
        #[arg(required = true)]
        words: Vec<String>,
        /// Search those of every folder.
        #[arg(long)]
        everywhere: bool,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a session's conversation.
    Show {
        /// The session, or the beginning of its id.
        id: String,
        /// Write every event as a line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete a session and everything that belongs to it.
    Delete {
        /// The session, or the beginning of its id.
        id: String,
    },
    /// Write a session to standard output: as JSON lines, for a backup or another machine, or as a page to read.
    Export {
        /// The session, or the beginning of its id.
        id: String,
        /// The format: `jsonl`, `html` or `md`.
        #[arg(long, value_name = "FORMAT", default_value = ExportFormat::Jsonl.name(), value_parser = formats())]
        format: ExportFormat,
    },
    /// Create a session from the JSON lines that `export` wrote.
    Import {
        /// The file; without it, standard input.
        file: Option<PathBuf>,
    },
}

/// The modes that need no confirmation, which nobody would be there to give.
fn modes() -> impl TypedValueParser<Value = Mode> {
    let modes = Mode::ALL.into_iter().filter(|mode| !mode.needs_confirmation());
    PossibleValuesParser::new(modes.map(Mode::name)).try_map(|name| Mode::named(&name).ok_or("there is no such mode"))
}

/// The formats of an exported session.
fn formats() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(ExportFormat::ALL.map(ExportFormat::name))
        .try_map(|name| ExportFormat::named(&name).ok_or("there is no such format"))
}

/// The ways to divide a bill into rows.
fn divisions() -> impl TypedValueParser<Value = By> {
    PossibleValuesParser::new(By::ALL.map(By::name)).try_map(|name| By::named(&name).ok_or("there are no such rows"))
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(async {
                signals::outlive_limits();
                let result = run(cli).await;
                accounts::finish_renewals(RENEWAL).await;
                result
            });
            // A thread that still waits for a key press must not keep the process.
            runtime.shutdown_background();
            result
        }
        Err(error) => Err(Failure::Said(format!("the runtime cannot be started: {error}"))),
    };
    let (code, text) = match result {
        Ok(code) => return code,
        Err(Failure::NobodyReads) => return ExitCode::SUCCESS,
        Err(Failure::Said(text)) => (ExitCode::FAILURE, text),
        Err(Failure::Usage(text)) => (ExitCode::from(USAGE), text),
    };
    complain(&text);
    code
}

/// Says what is wrong, with what is not ours in it made visible.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "azimuth: {}", visible::text(text));
}

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// In words.
    Said(String),
    /// The arguments are not right; in words.
    Usage(String),
    /// Whoever read our output has had enough, as `head` does. Nothing is wrong.
    NobodyReads,
}

impl Failure {
    fn new(error: impl std::error::Error + 'static) -> Self {
        let text = error.to_string();
        let error: &dyn std::error::Error = &error;
        match error.downcast_ref::<std::io::Error>() {
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Said(text),
        }
    }

    /// The same for a command that works: it was cut off where nobody reads any more.
    fn of_work(self) -> Self {
        match self {
            Self::NobodyReads => Self::Said("nobody reads the output any more, so the turn was cut off".into()),
            failure => failure,
        }
    }
}

async fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let log = cli.log;
    match cli.command {
        Command::Lsp => setup::lsp(log).await,
        Command::Exec(args) => exec::run(args, log).await.map_err(Failure::of_work),
        Command::Demo(args) => demo::run(args, log).await.map_err(Failure::of_work),
        Command::Sessions { command } => lists::sessions(command, log).await,
        Command::Models { json } => lists::models(json, log).await,
        Command::Providers { command: Some(command), .. } => providers::run(command).await,
        Command::Providers { command: None, json } => providers::list(json, log).await,
        Command::Auth { command } => auth::run(command).await,
        Command::Stats { days, activity: true, json, .. } => stats::activity(days, json, log),
        Command::Stats { days, by, json, .. } => stats::run(days, by, json, log),
        Command::Suggestions { days, json } => suggestions::run(days, json, log),
        Command::Doctor => doctor::run(log).await,
    }
}
