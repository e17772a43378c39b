//! The README's own example: its spec is the one compiled here, and its Rust lines record what they say.

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
fn the_spec_and_the_code_of_the_readme_are_those_tested_here() {
    let spec = std::fs::read_to_string(workspace().join("tests/readme/hello.tumit")).unwrap();
    assert_eq!(block("tumit"), spec);
    let source = std::fs::read_to_string(workspace().join("tests/tests/readme.rs")).unwrap();
    let lines =
        block("rust").lines().map(|line| line.split("   //").next().unwrap().trim().to_owned()).collect::<Vec<_>>();
    for line in lines.iter().filter(|line| !line.is_empty() && !line.starts_with("tracer_rt::events!")) {
        assert!(source.contains(line.as_str()), "`{line}` is not in this test");
    }
}

#[test]
fn the_readme_example_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("hello.tmt");
    // One folder for the whole process: this test alone records here.
    let mut config = tracer_rt::Config::from_env();
    config.folder = Some(run.clone());
    let session = tracer_rt::start(config).unwrap();
    for n in 1..=10 {
        step(n);
    }
    session.finish();
    let paje = dir.path().join("hello.paje");
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    tests::pj_dump::accept(&paje);
    let rows = tests::pj_dump::Rows::read(&paje);
    assert_eq!((rows.count("State"), rows.count("Variable")), (10, 10));
}
