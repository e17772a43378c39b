//! The processes of browsers: none of them is left after the tests.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use tests::browser::ProcessKeeper;

/// Maximum duration of the start and of the end of a process.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a process exists that has not ended.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
}

fn wait_until(is_reached: impl Fn() -> bool, event: &str) {
    let start = Instant::now();
    while !is_reached() {
        assert!(start.elapsed() < PATIENCE, "{event}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_browser_that_a_script_starts_ends_with_the_tests() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().to_owned();
    let pid_file = profile.join("pid");
    // Some systems install browsers as scripts that run them as child processes.
    let mut script = Command::new("sh");
    script.args(["-c", r#"sleep 600 & echo $! > "$0.new"; mv "$0.new" "$0"; wait"#]).arg(&pid_file);
    let keeper = ProcessKeeper::start(&script, folder);
    wait_until(|| pid_file.exists(), "the start of the program");
    let pid = fs::read_to_string(&pid_file).unwrap().trim().to_owned();
    assert!(is_alive(&pid), "process {pid}");
    drop(keeper);
    wait_until(|| !is_alive(&pid), "the end of the program");
    assert!(!profile.exists(), "{}", profile.display());
}
