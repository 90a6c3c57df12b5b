//! The checks of a provider: it lists its models, takes the key, and answers.

use providers::{Catalog, Settings, Unlisted, Untried};

use super::{Addition, KeyFrom};

/// So many ids of models are named in words.
const NAMED: usize = 5;

/// The checks that a provider has to pass before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// None; nothing is sent to it.
    None,
    /// It lists its models, which costs nothing.
    List,
    /// One of its models answers, too, which costs a few tokens.
    Answer,
}

/// The findings about a provider that can be used.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The ids of its models.
    pub(super) models: Vec<String>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// A check that failed. Nothing of the key is in the words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failed {
    /// Nothing can be sent to it yet.
    #[error("{name} cannot be asked yet: {problem}")]
    NotReady {
        /// The provider.
        name: String,
        /// The problem.
        problem: String,
    },
    /// It refuses the key.
    #[error("{name} at {host} does not accept the key: {problem}. Check {key_source}")]
    Refused {
        /// The provider.
        name: String,
        /// Its host.
        host: String,
        /// The words of its server.
        problem: String,
        /// The source of the key.
        key_source: String,
    },
    /// It refuses to list its models without a key.
    #[error(
        "{name} at {host} wants a key: {problem}. Say where it is: --key-env VARIABLE, --key-file FILE, \
         --key-command COMMAND or --sign-in"
    )]
    NoKey {
        /// The provider.
        name: String,
        /// Its host.
        host: String,
        /// The words of its server.
        problem: String,
    },
    /// It does not answer.
    #[error(
        "{name} at {host} does not answer: {problem}. Check the address and the network, or add it unchecked with --no-check"
    )]
    Unreachable {
        /// The provider.
        name: String,
        /// Its host.
        host: String,
        /// The problem.
        problem: String,
    },
    /// It lists no models, and none was named.
    #[error(
        "{name} at {host} does not list its models: {problem}. Check the address and the wire, or name a model: --model ID"
    )]
    NoModels {
        /// The provider.
        name: String,
        /// Its host.
        host: String,
        /// The problem.
        problem: String,
    },
    /// Its list does not come, and it is not known that there is none.
    #[error(
        "{name} at {host} cannot be asked for its models: {problem}. Correct that or try again later, or add it unchecked \
         with --no-check"
    )]
    Failing {
        /// The provider.
        name: String,
        /// Its host.
        host: String,
        /// The problem.
        problem: String,
    },
    /// One of its models does not answer.
    #[error("{0}; or name another with `--model ID`")]
    NoAnswer(#[from] Untried),
}

/// Checks the one provider of these settings.
pub(super) async fn check(settings: Settings, addition: &Addition, checks: Checks) -> Result<Found, Failed> {
    let said = addition.models.clone();
    let Some(provider) = settings.providers.first().filter(|_| checks != Checks::None) else {
        return Ok(Found { models: said, notes: Vec::new() });
    };
    let (name, host, key_source) = (addition.name.clone(), provider.host(), provider.key_source.clone());
    let has_key = provider.has_key();
    match (provider.missing(), &addition.key) {
        (_, KeyFrom::Account(None)) if !has_key => {
            let note = format!("it was not checked, since its key is not kept yet: `azimuth auth login {name} --key`");
            return Ok(Found { models: said, notes: vec![note] });
        }
        (Some(problem), _) => return Err(Failed::NotReady { name, problem }),
        (None, _) => {}
    }
    let catalog = Catalog::new(settings);
    let (mut notes, mut models) = (Vec::new(), said.clone());
    match catalog.ask_for_list(&name).await {
        Ok(listed) if listed.is_empty() && said.is_empty() => {
            let problem = "its list is empty".to_owned();
            return Err(Failed::NoModels { name, host, problem });
        }
        Ok(listed) => {
            let unlisted: Vec<_> = said.iter().filter(|model| !listed.contains(model)).cloned().collect();
            if !unlisted.is_empty() {
                notes.push(format!("its list has no {}; it has {}", unlisted.join(", "), some_of(&listed)));
            }
            if said.is_empty() {
                models = listed;
            }
        }
        Err(Unlisted::Refused(problem) | Unlisted::Forbidden(problem)) if has_key => {
            return Err(Failed::Refused { name, host, problem, key_source });
        }
        Err(Unlisted::Refused(problem) | Unlisted::Forbidden(problem)) => {
            return Err(Failed::NoKey { name, host, problem });
        }
        Err(Unlisted::Unreachable(problem)) => return Err(Failed::Unreachable { name, host, problem }),
        Err(Unlisted::KeyUnknown(problem) | Unlisted::Ended(problem)) => {
            return Err(Failed::NotReady { name, problem });
        }
        Err(Unlisted::Other(problem)) => return Err(Failed::Failing { name, host, problem }),
        Err(Unlisted::NoList(problem)) if said.is_empty() => return Err(Failed::NoModels { name, host, problem }),
        Err(Unlisted::NoList(problem)) => {
            notes.push(format!("it does not list its models ({problem}), so those that you named count"));
        }
    }
    if let (Checks::Answer, Some(model)) = (checks, models.first()) {
        catalog.try_model(&format!("{name}/{model}")).await?;
        notes.push(format!("{model} answered a short request"));
    } else if has_key {
        notes.push(
            "its server listed its models; only an answer of one shows that the key is right, which `--check` asks for"
                .to_owned(),
        );
    }
    Ok(Found { models, notes })
}

/// The first of these, in words.
fn some_of(ids: &[String]) -> String {
    let named = ids.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
