//! The providers that there are, in words: where the key of each comes from, and why one cannot be used.

use std::fmt::{self, Write};

use accounts::Listed;
use protocol::model::ModelInfo;
use providers::{Models, Provider};
use serde::Serialize;

use super::Environment;
use crate::config::{Config, key_status};

/// A provider in a list. No key is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub provider: String,
    /// Its host and port; empty if it has no address.
    pub host: String,
    /// The protocol that it speaks.
    pub wire: &'static str,
    /// Where its key comes from; none if it has none.
    pub key: Option<String>,
    /// The number of its models that can be chosen.
    pub models: usize,
    /// The reason why it cannot be used, and what to do; none if it can.
    pub problem: Option<String>,
}

/// Every provider, those that can be used first: the ones that are set up, whose models these are, and the vendors that
/// are known by name.
pub fn rows(config: &Config, listed: &Models, environment: Environment) -> Vec<Row> {
    let kept = config.accounts.as_ref().and_then(|accounts| accounts.list().ok()).unwrap_or_default();
    let mut settings = config.providers.clone();
    for (name, _) in providers::known_vendors() {
        settings.add_known(name);
    }
    let mut rows: Vec<_> =
        settings.providers.iter().map(|provider| row(provider, &listed.models, &kept, environment)).collect();
    rows.sort_by_key(|row| row.problem.is_some());
    rows
}

fn row(provider: &Provider, models: &[ModelInfo], kept: &[Listed], environment: Environment) -> Row {
    let host = provider.host();
    let of_it = || models.iter().filter(|model| model.provider == provider.name);
    let usable = of_it().filter(|model| model.available).count();
    let problem = || {
        let told = of_it().find_map(|model| model.unavailable_because.clone());
        told.or_else(|| provider.missing()).unwrap_or_else(|| match provider.is_local {
            true => format!("nothing answers at {host}; is it running?"),
            false => "it lists no models; name them in `models`".to_owned(),
        })
    };
    Row {
        provider: provider.name.clone(),
        wire: provider.wire.name(),
        key: key_status(provider, kept, &environment).map(|status| status.source),
        models: usable,
        problem: (usable == 0).then(problem),
        host,
    }
}

impl fmt::Display for Row {
    /// On one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, host, wire, key, models, problem } = self;
        write!(f, "{provider}")?;
        if !host.is_empty() {
            write!(f, "  {host}")?;
        }
        write!(f, "  {wire}")?;
        if let Some(problem) = problem {
            return write!(f, "  cannot be used: {problem}");
        }
        match key {
            Some(source) => write!(f, "  key: {source}")?,
            None => f.write_str("  no key")?,
        }
        let many = if *models == 1 { "" } else { "s" };
        write!(f, "  {models} model{many}")
    }
}

/// The rows in Markdown.
pub(crate) fn in_markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let line = row.to_string();
        let line = line.strip_prefix(row.provider.as_str()).unwrap_or_default().trim().replace("  ", " · ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- `{}`: {line}", row.provider);
    }
    text
}
