//! The programs that make traces and measure costs work with small sizes. Their figures are in
//! `docs/viewer-costs.md` and `docs/conversion-costs.md`.

use std::path::Path;
use std::process::Command;

use tests::programs::{output, succeed, tumit, workspace};

const MAKE_TRACE: &str = env!("CARGO_BIN_EXE_make_trace");
const MAKE_LINKS: &str = env!("CARGO_BIN_EXE_make_links");
const MEASURE_CONVERSION: &str = env!("CARGO_BIN_EXE_measure_conversion");

/// A script of `tests/benchmarks` that measures the `tumit` of the tests.
fn script(name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(workspace().join("tests/benchmarks").join(name)).env("TUMIT", tumit().get_program());
    command
}

/// The first cells of the rows of a Markdown table that a script prints.
fn row_names(text: &str) -> Vec<&str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.collect()
}

/// The table of entities. The status of the command is 1 if links are omitted, because threads end
/// at different times.
fn table(path: &Path) -> String {
    let output = output(tumit().arg("convert").arg(path).args(["-o", "-", "--format", "csv"]));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_trace_of_several_processes_has_the_entities_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let (single_run, large_run) = (folder.path().join("one.tmt"), folder.path().join("many.tmt"));
    let printed = succeed(Command::new(MAKE_TRACE).arg(&single_run).args(["2000", "5"]));
    let line = succeed(Command::new(MAKE_TRACE).args(["--processes", "3"]).arg(&large_run).args(["2000", "5"]));
    assert_eq!(line.replace("many.tmt", "one.tmt"), printed);
    let sorted = |path: &Path| {
        let mut rows: Vec<String> = table(path).lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    assert!(sorted(&single_run).len() > 2000);
    assert_eq!(sorted(&large_run), sorted(&single_run));
    assert_eq!(std::fs::read_dir(&large_run).unwrap().count(), 3);
}

#[test]
fn waiting_links_are_the_same_in_a_run_and_in_a_paje_file() {
    let folder = tempfile::tempdir().unwrap();
    for (options, links) in [(&[][..], 1000), (&["--no-ends"][..], 0)] {
        for name in ["links.tmt", "links.paje"] {
            let path = folder.path().join(format!("{}{name}", options.len()));
            succeed(Command::new(MAKE_LINKS).args(options).arg(&path).arg("1000"));
            assert_eq!(
                table(&path).lines().filter(|line| line.starts_with("Link,")).count(),
                links,
                "{name} {options:?}"
            );
        }
    }
}

#[test]
fn the_measurements_of_a_conversion_have_a_row_for_each_path() {
    let text = succeed(Command::new(MEASURE_CONVERSION).arg("--smoke"));
    for path in ["run-paje", "run-entities", "run-entities-two-passes", "run-csv", "paje-entities", "paje-csv"] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(path)), "{path}: {text}");
    }
}

#[test]
fn the_scripts_print_a_row_for_each_figure() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    succeed(Command::new(MAKE_TRACE).arg(&run).args(["5000", "4", "20000"]));
    let text = succeed(script("request_costs.py").arg(&run).args(["--views", "2", "--repetitions", "1"]));
    let names = row_names(&text);
    assert!(names.iter().any(|name| name.ends_with("2 views")), "{text}");
    assert!(names.iter().any(|name| name.starts_with("`api/totals`, whole")), "{text}");
    let text = succeed(script("link_costs.py").args(["--divide", "10000"]));
    assert_eq!(row_names(&text).len(), 6, "{text}");
    succeed(script("image_costs.py").arg("--again").arg(&run));
}

#[test]
fn wrong_arguments_are_reported_with_the_usage() {
    let missing = "--help` prints the usage";
    for (command, arguments, message) in [
        (
            MAKE_TRACE,
            &["--processes", "9", "x.tmt", "10", "4"][..],
            "--processes is from 1 to the number of threads, 4",
        ),
        (MAKE_TRACE, &["x.tmt", "many"], "STATES is a whole number from 0, not `many`"),
        (MAKE_TRACE, &[], "the run folder is missing"),
        (MAKE_LINKS, &["x.paje"], "give the output and the number of links"),
        (MEASURE_CONVERSION, &["--path", "run-x", "a", "b"], "there is no path `run-x`"),
    ] {
        let output = output(Command::new(command).args(arguments));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(message) && stderr.contains(missing), "{stderr}");
        assert!(succeed(Command::new(command).arg("--help")).contains("usage: "), "{command}");
    }
    let viewer = output(script("request_costs.py").arg("missing.tmt").env("TUMIT", "/missing/tumit"));
    assert!(String::from_utf8_lossy(&viewer.stderr).contains("/missing/tumit is missing"));
}
