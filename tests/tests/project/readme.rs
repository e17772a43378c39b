//! The example of the README: its spec is the one compiled here, and its Rust lines have the
//! described effect.

use std::path::Path;
use std::process::Command;

use tests::programs::{succeed, tumit, workspace};

tracer_rt::events!("readme/hello.tumit");

#[tracer_rt::traced(app::step(n))]
fn step(n: u32) {
    app::residual(1.0 / f64::from(n));
}

fn block(language: &str) -> String {
    let readme = std::fs::read_to_string(workspace().join("README.md")).expect("there is a README");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).expect("the README has such a block");
    rest.split_once("```").expect("the block ends").0.to_owned()
}

#[test]
fn the_tested_code_is_in_the_readme() {
    let spec = std::fs::read_to_string(workspace().join("tests/readme/hello.tumit")).unwrap();
    assert_eq!(block("tumit"), spec);
    let source = include_str!("readme.rs");
    let lines =
        block("rust").lines().map(|line| line.split("   //").next().unwrap().trim().to_owned()).collect::<Vec<_>>();
    for line in lines.iter().filter(|line| !line.is_empty() && !line.starts_with("tracer_rt::events!")) {
        assert!(source.contains(line.as_str()), "`{line}` is not in this test");
    }
}

#[test]
fn the_readme_example_produces_its_output() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("hello.tmt");
    // The process has one run folder: only this test records here.
    let mut config = tracer_rt::RecorderConfig::from_env();
    config.folder = Some(run.clone());
    let session = tracer_rt::start(config).unwrap();
    for n in 1..=10 {
        step(n);
    }
    session.finish();
    let paje = dir.path().join("hello.paje");
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    tumit_test_support::pj_dump::accept(&paje);
    let rows = tumit_test_support::pj_dump::PjDumpRows::read(&paje);
    assert_eq!((rows.count("State"), rows.count("Variable")), (10, 10));
}

/// A program of several source files with a spec that uses another file, built with the commands of
/// the README.
fn several_files(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("the folder takes files");
    write("hello.tumit", &format!("{}\nuse \"more.tumit\";\n", block("tumit")));
    write("more.tumit", "level MORE { event first; }\n");
    let solver =
        "#include \"hello_trace.h\"\nvoid solve(unsigned n);\nvoid solve(unsigned n) { hello_residual(1.0 / n); }\n";
    write("solver.c", solver);
    let main = "#include \"hello_trace.h\"\nvoid solve(unsigned n);\nint main(void) {\n    hello_step_begin(1);\n    \
                solve(1);\n    hello_step_end();\n    return 0;\n}\n";
    write("main.c", main);
    write("trace.c", "#include \"hello_trace.h\"\n");
    write("Makefile", &block("make"));
    write("CMakeLists.txt", &block("cmake"));
}

/// Runs a build tool that calls `tumit`, and returns its output.
fn build(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let binaries = Path::new(tumit().get_program()).parent().expect("a binary is in a folder").to_owned();
    let path = std::env::var_os("PATH").expect("there is a PATH");
    let path = std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&path))).expect("a PATH");
    // The flags of the `make` that runs the tests must not reach the program's `make`.
    let mut build = Command::new(command);
    succeed(build.args(arguments).current_dir(folder).env("PATH", path).env_remove("MAKEFLAGS"))
}

/// Checks that the program records, and that a change of an included spec regenerates the header.
fn builds_and_follows_the_spec(folder: &Path, header: &str, program: &str, again: &dyn Fn() -> String) {
    again();
    let run = folder.join("run.tmt");
    succeed(Command::new(folder.join(program)).env("TUMIT_TRACE", &run));
    let dump = succeed(tumit().arg("dump").arg(&run));
    for event in ["step.begin", "residual", "step.end"] {
        assert!(dump.contains(event), "{event} in\n{dump}");
    }
    let text = || std::fs::read_to_string(folder.join(header)).expect("the header is there");
    assert!(text().contains("hello_first") && !text().contains("hello_second"));
    std::fs::write(folder.join("more.tumit"), "level MORE { event first; event second; }\n")
        .expect("the spec can be written");
    again();
    assert!(text().contains("hello_second"), "the header follows the file that the spec uses");
}

#[test]
fn the_rules_for_make_build_a_program_of_several_files() {
    let dir = tempfile::tempdir().unwrap();
    several_files(dir.path());
    let make = || build(dir.path(), "make", &["CC=gcc"]);
    builds_and_follows_the_spec(dir.path(), "hello_trace.h", "app", &make);
    let output = make();
    assert!(output.contains("up to date"), "{output}");
}

#[test]
fn the_rules_for_cmake_build_a_program_of_several_files() {
    let dir = tempfile::tempdir().unwrap();
    several_files(dir.path());
    build(dir.path(), "cmake", &["-S", ".", "-B", "out", "-G", "Unix Makefiles"]);
    let again = || build(dir.path(), "cmake", &["--build", "out"]);
    builds_and_follows_the_spec(dir.path(), "out/hello_trace.h", "out/app", &again);
}
