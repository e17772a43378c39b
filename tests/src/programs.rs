//! The programs under test. Each is built once per test process, and its output is captured.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package `tests` is in the workspace").to_owned()
}

/// A command that runs the ignored test `child` of a module of the calling test program in a new
/// process. `module` is the module's `module_path!()`.
///
/// # Panics
/// If the module is the root of the program, or the program's path is unknown.
#[must_use]
pub fn child_test(module: &str) -> Command {
    let (_, module) = module.split_once("::").expect("a module below the root");
    let mut command = Command::new(std::env::current_exe().expect("the path of the test program"));
    command.args([&format!("{module}::child"), "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Builds a binary of the workspace with the same features as the tests.
/// Cargo chooses the features of dependencies by the selected packages, and by whether a test is
/// selected. This call therefore selects all packages and a small test, so that nothing is rebuilt
/// after `cargo test --workspace`.
///
/// # Panics
/// If it does not build.
fn build(binary: &str) -> PathBuf {
    let mut cargo = cargo_build(binary);
    executable(cargo.args(["--test", "large_spec_costs"]), binary)
}

fn cargo_build(binary: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--message-format=json-render-diagnostics", "--workspace", "--bin", binary]);
    cargo.current_dir(workspace());
    cargo
}

/// Runs cargo, and returns the path of the binary that it has built.
fn executable(cargo: &mut Command, binary: &str) -> PathBuf {
    let output = cargo.output().expect("cargo can be run");
    assert!(output.status.success(), "{binary} does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    // The path is in the message of the artifact: `"executable":"…/target/debug/tumit"`.
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    text.split("\"executable\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(PathBuf::from)
        .find(|path| path.file_name().is_some_and(|name| name == binary))
        .expect("the workspace has this binary")
}

/// The service on `axum` and `tokio`, with the instrumentation of `tokio`.
///
/// The flag of the instrumentation would build all packages again. With `--target`, it applies to
/// the packages of the program only, and not to macros and build scripts.
///
/// # Panics
/// If it does not build.
#[must_use]
pub fn tokio_service() -> Command {
    let version = succeed(Command::new("rustc").arg("-vV").current_dir(workspace()));
    let target = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc prints its host");
    let mut cargo = cargo_build("tokio-service");
    cargo.args(["--target", target]).env("RUSTFLAGS", "--cfg tokio_unstable");
    // Macros have the debugging information of other packages, so that they are not built again.
    let debug = std::env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or_else(|_| "line-tables-only".to_owned());
    cargo.env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG", debug);
    Command::new(executable(&mut cargo, "tokio-service"))
}

/// The `tumit` command of this workspace. The first call builds it.
#[must_use]
pub fn tumit() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PATH.get_or_init(|| build("tumit")))
}

/// The molecular-dynamics example.
#[must_use]
pub fn molecular_dynamics() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PATH.get_or_init(|| build("molecular-dynamics")))
}

/// The example with async requests.
#[must_use]
pub fn requests() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PATH.get_or_init(|| build("requests")))
}

/// A program of the example with a view of its own: `parallel_sort` or `sort-view`.
#[must_use]
pub fn sort_view(binary: &'static str) -> Command {
    Command::new(build(binary))
}

/// The example that filters runs in Rust.
#[must_use]
pub fn filter_rust() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    Command::new(PATH.get_or_init(|| build("filter-rust")))
}

/// `mpirun` with `ranks` ranks. It may run as root and with few cores, as test machines require.
#[must_use]
pub fn mpirun(ranks: u32) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]);
    command.args(["-n", &ranks.to_string()]);
    // There are more ranks than cores, so waiting ranks must yield.
    command.env("OMPI_MCA_mpi_yield_when_idle", "1").env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command
}

/// Runs a command and returns its output.
///
/// # Panics
/// If it cannot be started because a tool is missing (`make packages` installs all).
pub fn output(command: &mut Command) -> Output {
    match command.output() {
        Ok(output) => output,
        Err(error) => {
            panic!(
                "cannot run {:?} ({error}): `make packages` installs the programs for the tests",
                command.get_program()
            )
        }
    }
}

/// Runs a command that must succeed and returns its standard output.
///
/// # Panics
/// If it fails.
pub fn succeed(command: &mut Command) -> String {
    let output = output(command);
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number after `name=` in a program's `counts:` line.
///
/// # Panics
/// If the line or the name is missing.
#[must_use]
pub fn count(program_output: &str, name: &str) -> u64 {
    let line = program_output.lines().find(|line| line.starts_with("counts:")).expect("the program prints its counts");
    let number = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        .unwrap_or_else(|| panic!("`{name}=` is not in: {line}"));
    number.parse().expect("the count is a number")
}

/// The losses of a run according to `tumit info`: the number of dropped records, and the number of
/// those with a known place and cause.
///
/// # Panics
/// If the run cannot be read.
#[must_use]
pub fn losses(run: &Path) -> [u64; 2] {
    let info = info(run);
    let sum = |list: &serde_json::Value, key: &str| {
        list.as_array().expect("a list").iter().map(|of| of[key].as_u64().expect("a number")).sum()
    };
    [sum(&info["processes"], "dropped"), sum(&info["dropped"], "records")]
}

/// The number of records of a run according to `tumit info`.
///
/// # Panics
/// If the run cannot be read.
#[must_use]
pub fn record_count(run: &Path) -> u64 {
    info(run)["records"].as_u64().expect("a number")
}

fn info(run: &Path) -> serde_json::Value {
    let output = output(tumit().args(["info", "--json"]).arg(run));
    serde_json::from_slice(&output.stdout).expect("the output of info is JSON")
}
