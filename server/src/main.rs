//! The program `azimuth`.

use std::process::ExitCode;

fn main() -> ExitCode {
    azimuth::cli::main()
}
