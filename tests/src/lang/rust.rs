//! Rust: all drivers of the corpus are one program, which cargo builds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the driver of a case in `folder`. Its run is written to `folder/rust.tmt`.
///
/// # Panics
/// If it cannot be started or fails.
#[must_use]
pub fn record(drive: &Path, case: &str, folder: &Path, environment: &[(&str, &str)]) -> PathBuf {
    let run = folder.join("rust.tmt");
    let mut command = Command::new(drive);
    command.arg(case).current_dir(folder).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", &run);
    let output = command.envs(environment.iter().copied()).output().expect("the drivers start");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the driver of {case} in Rust failed: {errors}");
    run
}
