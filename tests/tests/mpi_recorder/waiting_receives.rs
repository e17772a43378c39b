//! Numbers of receives that wait for receives with wildcards, without MPI.

use std::path::{Path, PathBuf};
use std::process::Command;

use tests::programs::{succeed, workspace};

/// Compiles the program with the recorder's headers. It counts the calls of their functions.
fn compile(folder: &Path) -> PathBuf {
    let program = folder.join("waiting_receives");
    let headers = workspace().join("tracer-rt/preload/mpi");
    let mut command = Command::new("gcc");
    command.args(["-std=gnu99", "-O1", "-w", "-finstrument-functions"]).arg("-I").arg(headers.join("abi/standard"));
    command.arg("-I").arg(headers).arg("-o").arg(&program);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi_recorder/programs/waiting_receives.c"));
    let _ = succeed(&mut command);
    program
}

/// Runs the program, which checks all numbers. Returns the number of calls.
fn run(program: &Path, mode: &str, argument: u32) -> u32 {
    let output = succeed(Command::new(program).args([mode, &argument.to_string()]));
    output.trim().parse().expect("the program prints the number of calls")
}

#[test]
fn random_receives_have_the_numbers_of_their_messages() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let program = compile(folder.path());
    for seed in 0..200 {
        let _ = run(&program, "random", seed);
    }
}

/// A list of all waiting receives would need 100 times as many calls for ten times as many.
#[test]
fn the_cost_of_a_receive_grows_with_the_logarithm_of_the_open_wildcards() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let program = compile(folder.path());
    for mode in ["open", "blocked"] {
        let [few, many] = [1_000, 10_000].map(|count| run(&program, mode, count));
        assert!(many < 14 * few, "{mode}: {few} calls for 1,000 wildcards, {many} for 10,000");
    }
}
