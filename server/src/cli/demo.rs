//! `azimuth demo`: the whole loop on a small project, with a scripted model. Everything but the model is the real path.

#![expect(clippy::disallowed_methods, reason = "the demo's project is made here, in a temporary folder of its own")]

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use hub::Hub;
use ports::model::Model;
use providers::scripted::Scripted;

use super::exec::{Job, Prompt};
use super::questions::Answerer;
use super::setup::{Private, Setup};
use super::signals::Signals;
use super::style::Style;
use super::{Demo, Failure};

/// The project: a few lines of shell with a fault in one of them, and a test that shows it with `sh` alone.
const PROJECT: [(&str, &str); 3] = [
    ("README.md", include_str!("demo/project/README.md")),
    ("convert.sh", include_str!("demo/project/convert.sh")),
    ("test.sh", include_str!("demo/project/test.sh")),
];
/// The script of the model. Its paths and texts come from the tools' results.
const SCRIPT: &str = include_str!("demo/script.json");
/// The user's prompt.
const PROMPT: &str = "A test of this project fails. Find out why, and fix it.";

/// Runs the demo.
pub(super) async fn run(args: Demo, log: Option<String>) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| Failure::Said(format!("the demo's project cannot be made: {error}"));
    let scratch = tempfile::Builder::new().prefix("azimuth-demo-").tempdir().map_err(failed)?;
    let project = scratch.path().join("project");
    std::fs::create_dir(&project).map_err(failed)?;
    for (name, text) in PROJECT {
        std::fs::write(project.join(name), text).map_err(failed)?;
    }
    // The demo's session is no part of the user's, but as much out of the reach of commands.
    let private = Private::new("demo-").map_err(Failure::Said)?;
    let setup = Setup::at(private.path().to_owned(), std::slice::from_ref(&project), log)?;
    let mut config = setup.config.clone();
    config.rules = permission::Rules::default();
    let parts = setup.parts(config);
    let model = Arc::new(Scripted::from_json(SCRIPT).map_err(Failure::new)?);
    let id = model.info().id.clone();
    parts.catalog.add(model);

    let style = Style::for_stdout();
    let mut out = io::stdout();
    let mut say = |text: &str| writeln!(out, "{text}").map_err(Failure::new);
    say(&style.bold("Azimuth demo"))?;
    say("The model is scripted: it plays a fixed part, and no network is used. The search, the edit, your review,")?;
    say("the permission and the test run are real, on a small project in a temporary folder:")?;
    say(&format!("  {}", project.display()))?;
    say("")?;
    say(&style.bold(format!("> {PROMPT}")))?;

    let signals = Signals::listen().map_err(Failure::new)?;
    let job = Job {
        prompt: Prompt { text: PROMPT.into(), piped: false },
        folder: project,
        model: Some(id),
        mode: None,
        resume: None,
        rules: permission::Rules::default(),
        // It was made above.
        trusted: Some(true),
        json: false,
        answerer: Answerer::new(args.yes, &signals),
        style,
        signals,
    };
    let code = job.run(Hub::start(parts)).await?;
    if args.keep {
        let kept = scratch.keep();
        say(&format!("The project is kept in {}", kept.join("project").display()))?;
    }
    if code == 0 {
        say(&style.dim("That was the whole loop. `azimuth doctor` says what is needed for a real model."))?;
    }
    Ok(ExitCode::from(code))
}
