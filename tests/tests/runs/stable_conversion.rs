//! Pajé text from a conversion stays unchanged when it is converted again.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tests::programs::workspace;
use tumit_paje::write::PajeWriter;
use tumit_test_support::paje_text::{StepNumbers, generate};
use tumit_viewer::query::replay::replay;
use tumit_viewer::{IndexChoice, OpenOptions};

/// The number of generated files that are converted.
const FILES: u32 = 200;

/// The output of `tumit convert` for a Pajé file.
fn convert_text(text: &str, path: &Path) -> String {
    fs::write(path, text).unwrap();
    let mut options = OpenOptions::default();
    options.index = IndexChoice::None;
    let source = tumit_viewer::open(path, &options).unwrap();
    let mut writer = PajeWriter::new(Vec::new());
    replay(source.as_ref(), &mut writer).unwrap();
    String::from_utf8(writer.into_inner()).unwrap()
}

/// The lines at which the second conversion differs from the first.
fn difference(text: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.paje");
    let once = convert_text(text, &path);
    let twice = convert_text(&once, &path);
    if once == twice {
        return None;
    }
    let (mut before, mut after) = (once.lines(), twice.lines());
    let position =
        before.by_ref().zip(after.by_ref()).position(|(byte, other_byte)| byte != other_byte).unwrap_or(usize::MAX);
    let near = |text: &str| text.lines().skip(position.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n");
    Some(format!("once:\n{}\ntwice:\n{}", near(&once), near(&twice)))
}

#[test]
fn converting_files_of_other_producers_twice_changes_nothing() {
    let mut count = 0;
    for entry in fs::read_dir(workspace().join("tests/paje")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "paje" || ending == "trace") {
            assert_eq!(difference(&fs::read_to_string(&path).unwrap()), None, "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 5);
}

#[test]
fn converting_generated_files_twice_changes_nothing() {
    let mut runner = TestRunner::new(Config { cases: FILES, failure_persistence: None, ..Config::default() });
    let steps = (any::<u64>(), prop::collection::vec(any::<StepNumbers>(), 0..200));
    let result = runner.run(&steps, |(style, steps)| {
        let text = generate(style, &steps, None).text;
        match difference(&text) {
            None => Ok(()),
            Some(difference) => Err(TestCaseError::fail(format!("{difference}\nof:\n{text}"))),
        }
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
