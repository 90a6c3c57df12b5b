//! The command line of the project's chores.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks on its streams")]

use std::env;
use std::path::Path;
use std::process::ExitCode;

use xtask::{codegen, models};

const USAGE: &str = "\
usage: cargo run -p xtask -- codegen [--check]
       cargo run -p xtask -- models PI_AI LITELLM

  codegen          write the files that are generated from the protocol crate
  codegen --check  write nothing; name the files that are stale, and fail if there are any
  models           distil the registry of models from the folders in which npm @earendil-works/pi-ai and the wheel of
                   PyPI litellm were unpacked";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = codegen::project_root();
    let outcome = match arguments.as_slice() {
        ["models", pi, litellm] => return distil(&root, Path::new(pi), Path::new(litellm)),
        ["codegen"] => write(&root),
        ["codegen", "--check"] => check(&root),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        ExitCode::FAILURE
    })
}

fn distil(root: &Path, pi: &Path, litellm: &Path) -> ExitCode {
    match models::write(root, pi, litellm) {
        Ok(number) => println!("wrote {} with {number} models", models::FILE),
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn write(root: &Path) -> Result<ExitCode, codegen::Error> {
    let written = codegen::write(root)?;
    if written.is_empty() {
        println!("the generated files are up to date");
    }
    for path in written {
        println!("wrote {path}");
    }
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> Result<ExitCode, codegen::Error> {
    let stale = codegen::stale(root)?;
    for path in &stale {
        eprintln!("stale: {path}");
    }
    if stale.is_empty() {
        println!("the generated files are up to date");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("run: {}", codegen::COMMAND);
    Ok(ExitCode::FAILURE)
}
