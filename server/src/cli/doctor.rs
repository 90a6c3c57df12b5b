//! `azimuth doctor`: what is wrong here, and how to mend it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use hub::config::{Config, dirs};
use hub::visible;
use hub::{self, confinement};
use lang::brought::{Brought, Gate};
use lang::pool::{Access, ServerStatus, Servers, ServersConfig, Sessions};
use ports::store::Store;
use process::sandbox::{self, Policy, Support};
use process::{Confinement, environment::withheld, programs};
use project::paths::Roots;
use protocol::ToolCallId;
use protocol::role::Role;
use protocol::servers::ServerState;
use protocol::terminal::SandboxMode;
use shell::{RunOptions, Shell, ShellConfig, Trust};
use store::{Finding, SqliteStore};

use super::setup::{Private, configuration, environment, log_file};
use super::style::Style;
use super::{Failure, auth};
use crate::serve;

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
                &if config_file.exists() {
                    format!("{place}")
                } else {
                    format!("{place} (missing; the defaults are used)")
                },
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
    let policy = match (&config, Roots::new([&folder])) {
        (Some(config), Ok(roots)) => {
            confinement::told([data_folder.clone(), config_file.clone()], config, &roots, true).await
        }
        _ => None,
    };
    if let Some(config) = &config {
        sandbox(&mut report, config, policy.as_deref())?;
        surroundings(&mut report, config).await?;
        models(&mut report, config).await?;
    }
    match shell(&folder).await {
        Ok(found) => report.good("shell", &found)?,
        Err(problem) => report.bad("shell", &problem)?,
    }
    servers(&mut report, &folder, [&data_folder, &config_file], policy).await?;
    let is_sound = database(&mut report, &data_folder)?;
    if let Some(config) = config.filter(|_| is_sound) {
        keys(&mut report, config).await?;
    }
    report.good("log", &log_file(&data_folder).display().to_string())?;
    Ok(if report.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The sandbox that keeps commands from the rest of the machine.
fn sandbox(report: &mut Report, config: &Config, policy: Option<&Policy>) -> Result<(), Failure> {
    let mode = match SandboxMode::from(config.sandbox) {
        SandboxMode::Full => return report.note("sandbox", "none, by the setting `sandbox = \"full\"`"),
        SandboxMode::ReadOnly => "read-only",
        SandboxMode::WorkspaceWrite => "workspace-write",
    };
    let network = if config.sandbox_network { "network on" } else { "network off" };
    match sandbox::support() {
        Support { by: Some(by), missing } if missing.is_empty() => {
            report.good("sandbox", &format!("{mode}, {network}, by {by}"))
        }
        Support { by: Some(by), missing } => {
            let missing = missing.join("; ");
            report.warn("sandbox", &format!("{mode}, {network}, by {by}; gaps on this system: {missing}"))
        }
        Support { by: None, .. } if cfg!(target_os = "linux") => report.warn(
            "sandbox",
            "none: this kernel has no Landlock (Linux 5.13, not switched off by the boot option `lsm=`), so commands \
             can do whatever you can",
        ),
        Support { by: None, .. } => report
            .warn("sandbox", "none: this system has none that Azimuth can use, so commands can do whatever you can"),
    }?;
    match policy.and_then(Policy::told_of_credentials) {
        Some(told) => report.note("settings", &told),
        None => Ok(()),
    }
}

/// The variables that programs do not get.
async fn surroundings(report: &mut Report, config: &Config) -> Result<(), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let entries = programs::dropped(&path);
    let named = |entry: &PathBuf| {
        if entry.as_os_str().is_empty() { "an empty one".into() } else { format!("`{}`", entry.display()) }
    };
    let entries: Vec<String> = entries.iter().map(named).collect();
    if !entries.is_empty() {
        let text = format!(
            "{} left out: such an entry names a different folder depending on where you are, and a project could put \
             its programs there; name folders from the root on",
            entries.join(", ")
        );
        report.warn("PATH", &text)?;
    }
    let looked = tokio::task::spawn_blocking(move || programs::answering(&path)).await;
    if let Some(text) = looked.ok().and_then(|(_, silent)| programs::told_of_silent(&silent)) {
        report.warn("PATH", &text)?;
    }
    let names = withheld(std::env::vars_os(), &config.pass_environment);
    if !names.is_empty() {
        let names = names.join(", ");
        let text = format!(
            "commands do not get {names}, which hold keys or passwords, or look as if they did; list a variable in `pass_environment` to let it through"
        );
        report.note("environment", &text)?;
    }
    hidden_secrets(report, config).await
}

/// Tells which secrets models do not see, by their names.
async fn hidden_secrets(report: &mut Report, config: &Config) -> Result<(), Failure> {
    if !config.hide_secrets {
        return report.note("kept back", "models see secrets: `hide_secrets` is `false`");
    }
    for passed_over in hub::secrets::passed_over(&config.secrets) {
        report.note("kept back", &passed_over)?;
    }
    match hub::secrets::list(Arc::new(config.clone())).await {
        Ok(named) if named.is_empty() => report.note("kept back", "no secrets to hide from models were found"),
        Ok(named) => {
            let names: Vec<_> = named.iter().map(|secret| secret.name.as_str()).collect();
            report.good("kept back", &format!("models do not see {}", names.join(", ")))
        }
        Err(problem) => report.bad("kept back", &problem),
    }
}

/// The keys and accounts of several that are not used now.
async fn keys(report: &mut Report, mut config: Config) -> Result<(), Failure> {
    auth::share_rests(&mut config);
    for provider in &config.providers.providers {
        let members = provider.members().await;
        for member in members.iter().filter(|member| member.rests_until.is_some()) {
            report.warn(&provider.name, &format!("{}: {}", member.name, auth::of_member(member)))?;
        }
    }
    Ok(())
}

async fn models(report: &mut Report, config: &Config) -> Result<(), Failure> {
    let catalog = providers::Catalog::new(config.providers.clone());
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
    for model in models.iter().filter(|model| model.available) {
        if let Some(warning) = &model.warning {
            report.note(&model.id, warning)?;
        }
    }
    let default = catalog.default_model().await;
    match &default {
        Ok(model) => match &model.info().warning {
            Some(warning) => report.warn("default model", &format!("{}: {warning}", model.info().id))?,
            None => report.good("default model", &model.info().id)?,
        },
        Err(error) => report.bad("default model", &error.to_string())?,
    }
    let default = default.ok().map(|model| model.info().selector());
    let Some(oracle) = config.chain_with_default(Role::Oracle, default.as_deref()) else { return Ok(()) };
    let found = catalog.resolve(&oracle).await.map_err(|error| error.to_string());
    match found.as_ref().map(|model| model.info()) {
        Ok(info) if info.available => report.good("second opinions", &info.id),
        Ok(info) => {
            let why = info.unavailable_because.as_deref().unwrap_or("it is not available");
            report.bad("second opinions", &format!("{} cannot be used: {why}", info.id))
        }
        Err(error) => report.bad("second opinions", error),
    }
}

/// Runs a command in a pseudo-terminal, as the agent would.
async fn shell(folder: &Path) -> Result<String, String> {
    // This shell has no sandbox, and reads from a pipe there.
    let private = Private::new("doctor-")?;
    let config = ShellConfig {
        cwd: folder.to_path_buf(),
        folder: private.path().to_path_buf(),
        pass: Vec::new(),
        program: None,
        // Nothing of the folder is run, so no guards against its repositories are needed, nor a search for these.
        trust: Trust { trusted: Arc::new(true.into()), folders: vec![folder.to_path_buf()], ..Trust::default() },
        confinement: Confinement { supervisor: serve::this_program(), ..Confinement::default() },
    };
    let shell = Shell::new(config, Arc::new(())).map_err(|error| error.to_string())?;
    let command = r#"printf '%s' "${BASH_VERSION:+bash $BASH_VERSION}""#;
    let ran = shell.run(&ToolCallId::from("doctor"), command, RunOptions::default()).await;
    let output = ran.map_err(|error| error.to_string())?.output;
    Ok(if output.is_empty() { "sh (bash is not installed; it would work better)".into() } else { output })
}

/// A program that a project brings along is reported as such: what the user said of it is not looked up.
struct Unasked;

#[async_trait]
impl Gate for Unasked {
    async fn admit(&self, _: &Brought, _: bool) -> Result<(), String> {
        Err("it belongs to the project, and starts once you have allowed it in its current form; the agent asks when it needs it"
            .into())
    }
}

/// The language servers that the folder would have. Those that are the user's own are started, to see whether they can
/// be: in the folder where that is trusted, and else in an empty one and with a `PATH` that does not lead into the
/// folder, since they may run what a folder supplies.
async fn servers(
    report: &mut Report,
    folder: &Path,
    [data_folder, config_file]: [&Path; 2],
    policy: Option<Arc<Policy>>,
) -> Result<(), Failure> {
    const WHAT: &str = "language servers";
    let roots = match Roots::new([folder]) {
        Ok(roots) => roots,
        Err(error) => return report.warn(WHAT, &error.to_string()),
    };
    let servers = Servers::new(ServersConfig {
        home: dirs::home(&environment),
        user_folder: config_file.parent().map(Path::to_path_buf),
        supervisor: serve::this_program(),
        ..ServersConfig::default()
    });
    // The folder's own files would count if it were trusted; here they are only read.
    for problem in servers.problems(&roots, true).await {
        report.warn(WHAT, &problem)?;
    }
    // A program that lies where commands may write is brought along, too.
    let sessions: Sessions = match whole_store(data_folder) {
        Some(store) => confinement::sessions(&store),
        None => Arc::new(|| Ok(Vec::new())),
    };
    let access = Access { trusted: Arc::new(|| true), policy, pass: [].into(), gate: Arc::new(Unasked), sessions };
    let empty = tempfile::tempdir().map_err(Failure::new)?;
    let is_trusted = is_trusted(data_folder, folder);
    let (there, missing): (Vec<_>, Vec<_>) =
        servers.status(&roots, &access).await.into_iter().partition(|server| server.program.is_some());
    let tries = there.iter().map(async |server| match server.state {
        ServerState::NotAllowed => None,
        _ => {
            let place = if is_trusted { &server.root } else { empty.path() };
            Some(servers.try_out(server, place, &roots, &access).await)
        }
    });
    for (server, tried) in there.iter().zip(futures_util::future::join_all(tries).await) {
        let program = server.program.as_deref().unwrap_or(Path::new("")).display();
        let what = format!("{} for {}: {program}", server.name, roots.display(&server.root));
        match tried {
            Some(Ok(version)) => {
                let version = version.iter().map(|version| format!(" ({version})")).collect::<String>();
                report.good(WHAT, &format!("{what}{version}"))?;
            }
            Some(Err(why)) => {
                let hint =
                    server.install.iter().map(|command| format!("; `{command}` installs it")).collect::<String>();
                report.warn(WHAT, &format!("{what} cannot run: {why}{hint}"))?;
            }
            None => {
                let why = server.why.iter().map(|why| format!(" ({why})")).collect::<String>();
                report.note(WHAT, &format!("{what}{why}"))?;
            }
        }
    }
    if there.is_empty() {
        report.note(WHAT, "none is installed for this folder")?;
    }
    if !missing.is_empty() {
        report.note(WHAT, "these are not installed; install those that you want into the project or your PATH:")?;
        let how = |server: &ServerStatus| server.install.clone().or(server.why.clone()).unwrap_or_default();
        report.table(missing.iter().map(|server| (server.name.clone(), how(server))).collect())?;
    }
    Ok(())
}

/// True if the user has trusted the folder.
fn is_trusted(data_folder: &Path, folder: &Path) -> bool {
    whole_store(data_folder).is_some_and(|store| hub::is_trusted(store, dirs::home(&environment), folder))
}

/// The database. One that has to be mended is left as it is, to be told of.
fn whole_store(data_folder: &Path) -> Option<Arc<dyn Store>> {
    if !data_folder.exists() || SqliteStore::check(data_folder).iter().any(|finding| finding.grave) {
        return None;
    }
    Some(Arc::new(SqliteStore::open(data_folder).ok()?))
}

/// The sessions. False if something is wrong with them.
fn database(report: &mut Report, folder: &Path) -> Result<bool, Failure> {
    let findings = SqliteStore::check(folder);
    let is_sound = findings.is_empty();
    if is_sound {
        report.good("sessions", &folder.display().to_string())?;
    }
    for Finding { grave, text, .. } in findings {
        if grave { report.bad("sessions", &text)? } else { report.warn("sessions", &text)? }
    }
    Ok(is_sound)
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

    /// Rows of two columns, each once, below the last line.
    fn table(&mut self, mut rows: Vec<(String, String)>) -> Result<(), Failure> {
        rows.sort();
        rows.dedup();
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, text) in rows {
            writeln!(self.out, "       {:width$}  {}", visible::line(&name), visible::line(&text))
                .map_err(Failure::new)?;
        }
        Ok(())
    }

    fn line(&mut self, mark: &str, what: &str, text: &str) -> Result<(), Failure> {
        writeln!(self.out, "{mark} {}: {}", visible::line(what), visible::text(text)).map_err(Failure::new)
    }
}
