//! The program `azimuth`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The processes of a shell are held by this program too.
    process::supervisor::main().unwrap_or_else(azimuth::cli::main)
}
