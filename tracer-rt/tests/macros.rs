//! Compares the compiler's messages for wrong uses of the macros with expected files next to the
//! cases.
//!
//! `BLESS=1` rewrites these files. The test runs the compiler without Cargo, with the crates that
//! the test was linked with, because Cargo would build all of them again.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside test functions")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const CASES: &str = "tests/macros";

/// The newest build of this crate that is not newer than this test.
fn library(deps: &Path) -> PathBuf {
    let time = |path: &Path| path.metadata().and_then(|about| about.modified()).unwrap();
    let built = time(&std::env::current_exe().unwrap());
    let files = std::fs::read_dir(deps).unwrap().map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtracer_rt-") && name.ends_with(".rlib") && time(path) <= built
    };
    files.filter(is_library).max_by_key(|path| time(path)).expect("the library this test is linked with")
}

/// Compiles a case.
/// `emit` is `metadata` to check only. Paths of specs are relative to the folder of the cases.
fn compile(case: &str, emit: &str, to: &Path) -> Output {
    let executable = std::env::current_exe().unwrap();
    let deps = executable.parent().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=bin", "--color=never", "--diagnostic-width=140"]);
    rustc.arg(format!("--emit={emit}")).arg("--out-dir").arg(to);
    rustc.arg("-L").arg(format!("dependency={}", deps.display()));
    rustc.arg("--extern").arg(format!("tracer_rt={}", library(deps).display()));
    rustc.arg(format!("{CASES}/{case}.rs")).env("CARGO_MANIFEST_DIR", std::path::absolute(CASES).unwrap());
    // As under Cargo, because some hints contain this name.
    rustc.env("CARGO_CRATE_NAME", case);
    rustc.output().expect("a test is run where there is a compiler")
}

/// Removes from the compiler's messages all parts that depend on other files or on their location.
/// For locations outside the cases, only the file name remains.
fn normal(messages: &str) -> String {
    let here = std::path::absolute(CASES).unwrap().display().to_string();
    let (mut lines, mut is_other_file) = (Vec::<String>::new(), false);
    for line in messages.lines() {
        let code = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        if code.starts_with(['|', '.']) && is_other_file {
            continue;
        }
        let place = line.trim_start().strip_prefix("--> ").or_else(|| line.trim_start().strip_prefix("::: "));
        is_other_file = place.is_some_and(|place| place.contains(".rs") && !place.starts_with(CASES));
        let counted =
            ["error: aborting due to", "Some errors have detailed", "For more information about", "warning: 1 "];
        if counted.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        match place.filter(|_| is_other_file) {
            Some(place) => {
                let file = place.split(':').next().unwrap();
                let file = file.rsplit_once("library/").map_or(file, |(_, file)| file);
                let file = file.rsplit_once("tracer-rt/").map_or(file, |(_, file)| file);
                lines.push(format!("  --> {file}"));
            }
            None => lines.push(line.trim_end().replace(&here, "$CASES")),
        }
    }
    lines.join("\n").trim().to_owned() + "\n"
}

/// Checks a case. Returns a description of the differences.
fn check(case: &str, folder: &Path) -> Option<String> {
    let output = compile(case, "metadata", folder);
    let messages = normal(&String::from_utf8_lossy(&output.stderr));
    let path = Path::new(CASES).join(case).with_extension("stderr");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &messages).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    // The indentation depends on the largest line number of all files.
    let same = messages.lines().map(str::trim).eq(expected.lines().map(str::trim));
    let wrong = output.status.success() || !same;
    wrong.then(|| format!("{case} ({}):\n{messages}\nexpected:\n{expected}", output.status))
}

#[test]
fn misuse_is_explained() {
    let mut cases = vec![
        "mistakes_in_the_spec",
        "no_such_spec",
        "unknown_event",
        "wrong_types",
        "misused_options",
        "misused_traced",
        "misspelt_traced",
        "unknown_traced",
        "misplaced_traced",
        "misused_async",
        "misused_ends",
        "unused_guard",
        "span_leaves_its_thread",
    ];
    let folder = tempfile::tempdir().unwrap();
    cases.sort_unstable();
    let (left, wrong) = (Mutex::new(cases), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = { left.lock().unwrap().pop() } {
                    wrong.lock().unwrap().extend(check(case, folder.path()));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn right_uses_make_no_warning() {
    let folder = tempfile::tempdir().unwrap();
    let output = compile("valid_uses", "link", folder.path());
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut program = Command::new(folder.path().join("valid_uses"));
    assert!(program.env("TUMIT_TRACE", folder.path().join("run.tmt")).status().unwrap().success());
}
