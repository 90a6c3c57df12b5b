//! Types and documents that are generated from the crate `protocol` are as it says.

use xtask::codegen;

#[test]
fn generated_files_are_up_to_date() {
    let stale = codegen::stale(&codegen::project_root()).unwrap();
    assert!(stale.is_empty(), "stale: {}\nrun: {}", stale.join(", "), codegen::COMMAND);
}
