//! The panel of source files: from an entity to its line, and from a line to its entities.

use tests::page::{TRACE, ViewProcess, open, press, read, spot};

/// The small trace with source positions: line 3 works, line 5 waits.
pub(crate) fn with_sources() -> String {
    TRACE
        .replace("%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n", "%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n% File string\n% Line int\n")
        .lines()
        .map(|line| match (line.starts_with("5 ") && !line.starts_with("5 S"), line.ends_with(" w")) {
            (true, true) => format!("{line} \"../src/solve.c\" 3\n"),
            (true, false) => format!("{line} \"../src/solve.c\" 5\n"),
            (false, _) => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn an_entity_leads_to_its_line_and_a_line_to_its_entities() {
    let trace = with_sources();
    assert!(trace.contains("% File string") && trace.contains("solve.c\" 5"), "{trace}");
    let viewer = ViewProcess::with(&[&trace], &["--source", "."]);
    let folder = viewer.folder.path().join("src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("solve.c"), "one\ntwo\n<b>work</b>\nfour\nwait();\n").unwrap();
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    press(&mut browser, "button", "../src/solve.c:3");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === '<b>work</b>'");
    browser.find("list", Some("Lines of ../src/solve.c"));
    press(&mut browser, "button", "Highlight 4 of line 5, 2.000 s");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === 'wait();'");
    // The address contains it.
    browser.wait("location.hash.includes('source=1')");
    browser.reload();
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === 'wait();'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    drop((browser, viewer));
    // Without a folder the pane explains the option that sets one.
    let viewer = ViewProcess::of(&trace);
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key("s");
    browser.wait("document.querySelector('#source')?.innerText.includes('tumit view --source DIR')");
    press(&mut browser, "button", "Close the source");
    browser.wait("document.querySelector('#source').hidden");
}

#[test]
fn a_missing_source_file_is_reported_with_the_searched_folders() {
    let viewer = ViewProcess::with(&[&with_sources()], &["--source", "."]);
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    press(&mut browser, "button", "../src/solve.c:3");
    browser.wait("document.querySelector('#source .reason')");
    let source = read(&mut browser, "region", "Source");
    assert!(source.contains("The file is not in .") && source.contains("--source DIR"), "{source}");
    // The entities of each line are known even without the source.
    press(&mut browser, "button", "Highlight 4 of line 5, 2.000 s");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
