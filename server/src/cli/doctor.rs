//! `azimuth doctor`: what is wrong here, and how to mend it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use protocol::ToolCallId;
use store::{Finding, SqliteStore};
use workspace::shell::{RunOptions, Shell, ShellConfig, Trust};

use super::Failure;
use super::setup::{configuration, environment, log_file};
use super::style::Style;
use crate::config::dirs;

/// Checks everything a user can mend. Exits with 1 if something does not work.
pub(super) async fn run(_log: Option<String>) -> Result<ExitCode, Failure> {
    let mut report = Report { out: io::stdout(), style: Style::for_stdout(), failed: false };
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let config_file = dirs::config_file(&environment).map_err(Failure::new)?;
    let data_folder = dirs::data_folder(&environment).map_err(Failure::new)?;

    let config = match configuration(std::slice::from_ref(&folder)) {
        Ok(config) => {
            let place = config_file.display();
            report.good(
                "configuration",
                &if config_file.exists() { format!("{place}") } else { format!("{place} (not there; defaults hold)") },
            )?;
            for warning in &config.warnings {
                report.warn("configuration", warning)?;
            }
            Some(config)
        }
        Err(Failure::Said(problem)) => {
            report.bad("configuration", &problem)?;
            None
        }
        Err(failure) => return Err(failure),
    };
    if let Some(config) = config {
        models(&mut report, config.providers).await?;
    }
    match shell(&folder).await {
        Ok(found) => report.good("shell", &found)?,
        Err(problem) => report.bad("shell", &problem)?,
    }
    database(&mut report, &data_folder)?;
    report.good("log", &log_file(&data_folder).display().to_string())?;
    Ok(if report.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn models(report: &mut Report, settings: providers::Settings) -> Result<(), Failure> {
    let catalog = providers::Catalog::new(settings);
    let models = catalog.list().await;
    let mut by_provider: Vec<(&str, Vec<&protocol::model::ModelInfo>)> = Vec::new();
    for model in &models {
        match by_provider.iter_mut().find(|(provider, _)| *provider == model.provider) {
            Some((_, of_provider)) => of_provider.push(model),
            None => by_provider.push((&model.provider, vec![model])),
        }
    }
    for (provider, models) in &by_provider {
        let usable = models.iter().filter(|model| model.available).count();
        if usable > 0 {
            report.good(provider, &format!("{usable} models"))?;
        } else if let Some(why) = models.iter().find_map(|model| model.unavailable_because.as_deref()) {
            report.note(provider, why)?;
        }
    }
    match catalog.default_model().await {
        Ok(model) => report.good("default model", &model.info().id),
        Err(error) => report.bad("default model", &error.to_string()),
    }
}

/// Runs a command in a pseudo-terminal, as the agent would.
async fn shell(folder: &Path) -> Result<String, String> {
    let private = tempfile::tempdir().map_err(|error| format!("no temporary folder can be made: {error}"))?;
    let config = ShellConfig {
        cwd: folder.to_path_buf(),
        folder: private.path().to_path_buf(),
        pass: Vec::new(),
        program: None,
        trust: Trust::default(),
    };
    let shell = Shell::new(config, Arc::new(())).map_err(|error| error.to_string())?;
    let command = r#"printf '%s' "${BASH_VERSION:+bash $BASH_VERSION}""#;
    let ran = shell.run(&ToolCallId::from("doctor"), command, RunOptions::default()).await;
    let output = ran.map_err(|error| error.to_string())?.output;
    Ok(if output.is_empty() { "sh (bash is not there; it would serve better)".into() } else { output })
}

fn database(report: &mut Report, folder: &Path) -> Result<(), Failure> {
    let findings = SqliteStore::check(folder);
    if findings.is_empty() {
        report.good("sessions", &folder.display().to_string())?;
    }
    for Finding { grave, text, .. } in findings {
        if grave { report.bad("sessions", &text)? } else { report.warn("sessions", &text)? }
    }
    Ok(())
}

/// Lines of findings.
struct Report {
    out: io::Stdout,
    style: Style,
    failed: bool,
}

impl Report {
    fn good(&mut self, what: &str, text: &str) -> Result<(), Failure> {
        let mark = self.style.green("ok  ");
        self.line(&mark, what, text)
    }

    /// Nothing is wrong, but something could be had.
    fn note(&mut self, what: &str, text: &str) -> Result<(), Failure> {
        let mark = self.style.dim("–   ");
        self.line(&mark, what, text)
    }

    fn warn(&mut self, what: &str, text: &str) -> Result<(), Failure> {
        let mark = self.style.yellow("warn");
        self.line(&mark, what, text)
    }

    fn bad(&mut self, what: &str, text: &str) -> Result<(), Failure> {
        self.failed = true;
        let mark = self.style.red("bad ");
        self.line(&mark, what, text)
    }

    fn line(&mut self, mark: &str, what: &str, text: &str) -> Result<(), Failure> {
        writeln!(self.out, "{mark} {what}: {text}").map_err(Failure::new)
    }
}
