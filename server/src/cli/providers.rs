//! `azimuth providers`: the providers of models, and those of the user's own. No key is ever printed, and none is
//! written into the configuration.

mod asking;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use hub::config::dirs;
use hub::own_providers::{Added, Addition, Checked, Checks, KeyFrom, OwnProviders, Removed, rows};
use hub::visible;

use super::Failure;
use super::auth::{CANCELLED, read_key, say};
use super::questions::lines;
use super::setup::{Setup, environment};
use super::signals::Signals;
use super::style::Style;

#[derive(Debug, Subcommand)]
pub(super) enum Providers {
    /// Check a provider, and write it into your configuration. In a terminal without options it asks for what it needs.
    Add(Box<Add>),
    /// Take a provider out of your configuration.
    Remove {
        /// The provider.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Add {
    /// Its name, which stands before the names of its models: letters, digits, `-`, `_` and `.`.
    name: Option<String>,
    /// Its address, such as `https://models.example/v1`. A vendor that is known needs none.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The protocol that it speaks: `anthropic`, `openai-responses`, `openai-chat` (most do), `gemini` or `converse`
    /// (Amazon Bedrock).
    #[arg(long, value_name = "WIRE")]
    wire: Option<String>,
    /// The environment variable that holds the key.
    #[arg(long, value_name = "VAR", conflicts_with_all = ["key_file", "key_command", "sign_in"])]
    key_env: Option<String>,
    /// The file that holds the key and nothing else, by an absolute path or as `~/…`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key_command", "sign_in"])]
    key_file: Option<String>,
    /// The command that prints the key, such as `op read op://work/key`. No shell reads it.
    #[arg(long, value_name = "CMD", conflicts_with = "sign_in")]
    key_command: Option<String>,
    /// Keep the key among your accounts, as `azimuth auth login --key` does. It is asked for, or read from standard
    /// input.
    #[arg(long)]
    sign_in: bool,
    /// A model that it has. It can be given several times. Needed only if the provider does not list its models.
    #[arg(long, value_name = "ID")]
    model: Vec<String>,
    /// Ask a model for one word before it is added, which costs a few tokens and shows that the key is right.
    #[arg(long, conflicts_with = "no_check")]
    check: bool,
    /// Send nothing to it before it is added.
    #[arg(long)]
    no_check: bool,
}

impl Add {
    /// True if the command line says how it is reached, or whether it is checked.
    fn has_options(&self) -> bool {
        let Self { name: _, base_url, wire, key_env, key_file, key_command, sign_in, model, check, no_check } = self;
        let texts = [base_url, wire, key_env, key_file, key_command];
        texts.into_iter().any(Option::is_some) || !model.is_empty() || [*sign_in, *check, *no_check].contains(&true)
    }

    /// The provider that the options describe, and its checks.
    async fn said(self) -> Result<(Addition, Checks), Failure> {
        let Self { name, base_url, wire, key_env, key_file, key_command, sign_in, model, check, no_check } = self;
        let name = name.ok_or_else(|| Failure::Usage("say the provider's name: azimuth providers add NAME".into()))?;
        let key = match (key_env, key_file, key_command, sign_in) {
            (Some(variable), ..) => KeyFrom::Variable(variable),
            (None, Some(file), ..) => KeyFrom::File(file),
            (None, None, Some(command), _) => KeyFrom::Command(command),
            (None, None, None, true) => KeyFrom::Account(Some(read_key(&name, &mut lines()).await?)),
            (None, None, None, false) => KeyFrom::Nowhere,
        };
        let checks = match (check, no_check) {
            (true, _) => Checks::Answer,
            (false, true) => Checks::None,
            (false, false) => Checks::List,
        };
        Ok((Addition { name, base_url, wire, key, models: model }, checks))
    }
}

/// Runs a subcommand.
pub(super) async fn run(command: Providers) -> Result<ExitCode, Failure> {
    let own = OwnProviders::new(dirs::config_file(&environment).map_err(Failure::new)?, environment);
    match command {
        Providers::Add(add) => {
            let signals = Signals::listen().map_err(Failure::new)?;
            let (name, checked) = tokio::select! {
                checked = checked(&own, *add) => checked?,
                () = signals.received(1) => {
                    say(&mut io::stderr(), "azimuth: cancelled; nothing was written")?;
                    return Ok(ExitCode::from(CANCELLED));
                }
            };
            // Writing is not broken off.
            let added = own.add(checked).await.map_err(Failure::new)?;
            tell_added(&name, &added)
        }
        Providers::Remove { name } => {
            let Removed { file, notes } = own.remove(&name).await.map_err(Failure::new)?;
            say(&mut io::stdout(), &format!("{name} is removed from {}", file.display()))?;
            tell(&notes)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A provider that can be added, with its name.
async fn checked(own: &OwnProviders, add: Add) -> Result<(String, Checked), Failure> {
    let is_asked = !add.has_options() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let (addition, checks) = if is_asked { asking::ask(add.name).await? } else { add.said().await? };
    let name = addition.name.clone();
    Ok((name, own.check(addition, checks).await.map_err(Failure::new)?))
}

fn tell_added(name: &str, added: &Added) -> Result<ExitCode, Failure> {
    let Added { file, models, notes } = added;
    say(&mut io::stdout(), &format!("{name} is added to {}", file.display()))?;
    tell(notes)?;
    if let Some(first) = models.first() {
        let more = match models.len() {
            1 => String::new(),
            many => format!(" It has {many} models; `azimuth models` lists them."),
        };
        say(&mut io::stdout(), &format!("Try it: azimuth exec -m {first} \"Say hello\".{more}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(notes: &[String]) -> Result<(), Failure> {
    notes.iter().try_for_each(|note| say(&mut io::stdout(), &format!("Note: {note}")))
}

/// Lists the providers, those that can be used first.
pub(super) async fn list(json: bool, log: Option<String>) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let setup = Setup::new(&[folder], log)?;
    let listed = setup.parts(setup.config.clone()).catalog.list_all().await;
    let style = Style::for_stdout();
    let mut out = io::stdout().lock();
    for row in rows(&setup.config, &listed, environment) {
        let line = if json {
            let line = serde_json::to_string(&row).map_err(Failure::new)?;
            visible::json(&line).into_owned()
        } else {
            let line = row.to_string();
            let line = visible::line(&line);
            if row.problem.is_some() { style.dim(line) } else { line.into_owned() }
        };
        writeln!(out, "{line}").map_err(Failure::new)?;
    }
    Ok(ExitCode::SUCCESS)
}
