//! `azimuth providers add` in a terminal, step by step.

use std::io::{self, Write};

use hub::own_providers::{Addition, Checks, KeyFrom, OwnProviders};
use providers::Wire;
use tokio::sync::mpsc;

use super::super::Failure;
use super::super::auth::{read_key, say};
use super::super::questions::lines;

/// Asks for all that a provider needs. Nothing is checked here but that there is an answer.
pub(super) async fn ask(name: Option<String>) -> Result<(Addition, Checks), Failure> {
    let mut user = User { lines: lines() };
    let name = match name {
        Some(name) => name,
        None => user.needed("Its name, such as `mine`; it stands before the names of its models").await?,
    };
    let (base_url, wire) = match OwnProviders::vendor(&name) {
        Some(title) => {
            let url = user.line(&format!("Its address (Enter for {title}'s own)")).await?;
            (url, None)
        }
        None => {
            let url = user.needed("Its address, such as https://models.example/v1").await?;
            let wires = Wire::NAMES.join(", ");
            let wire = user.line(&format!("The protocol that it speaks: {wires} (Enter for openai-chat)")).await?;
            (Some(url), wire)
        }
    };
    say(
        &mut io::stdout(),
        "Where does its key come from?\n  1 an environment variable\n  2 a command, such as a password manager's\n  3 keep it among the accounts of Azimuth, in a file that only you can read\n  4 it needs none",
    )?;
    let key = match user.choice(4).await? {
        1 => KeyFrom::Variable(user.needed("The variable's name").await?),
        2 => KeyFrom::Command(user.needed("The command, such as `op read op://work/key`").await?),
        3 => KeyFrom::Account(Some(read_key(&name, &mut user.lines).await?)),
        _ => KeyFrom::Nowhere,
    };
    let models = user.line("Its models, with blanks between them (Enter if it lists them itself)").await?;
    let models = models.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let tries = user.line("Ask a model for one word now, which costs a few tokens? (y, Enter for no)").await?;
    let is_yes = tries.is_some_and(|answer| answer.to_lowercase().starts_with('y'));
    let checks = if is_yes { Checks::Answer } else { Checks::List };
    Ok((Addition { name, base_url, wire, key, models }, checks))
}

/// Who sits at the terminal.
struct User {
    lines: mpsc::UnboundedReceiver<String>,
}

impl User {
    /// An answer; none if the line is blank.
    async fn line(&mut self, question: &str) -> Result<Option<String>, Failure> {
        let mut out = io::stdout();
        write!(out, "{question}: ").and_then(|()| out.flush()).map_err(Failure::new)?;
        let ended = || Failure::Said("the input has ended; nothing was written".to_owned());
        let line = self.lines.recv().await.ok_or_else(ended)?;
        Ok(Some(line.trim().to_owned()).filter(|line| !line.is_empty()))
    }

    /// An answer that is not blank.
    async fn needed(&mut self, question: &str) -> Result<String, Failure> {
        loop {
            if let Some(line) = self.line(question).await? {
                return Ok(line);
            }
        }
    }

    /// A number from 1 on.
    async fn choice(&mut self, last: usize) -> Result<usize, Failure> {
        loop {
            let line = self.needed(&format!("1-{last}")).await?;
            if let Some(number) = line.parse().ok().filter(|number| (1..=last).contains(number)) {
                return Ok(number);
            }
        }
    }
}
