//! A trace that grows: the picture follows, the interval and what is chosen stay.

use std::fs::OpenOptions;
use std::io::Write as _;

use tests::browser::Browser;
use tests::page::{SETTLED, TRACE, Viewer, open, press, spot, wait_for_rows};

#[test]
fn a_growing_file_is_followed_on_the_page() {
    // Without the end of its containers, which live on.
    let living: String = TRACE.lines().filter(|line| !line.starts_with("4 ")).map(|line| format!("{line}\n")).collect();
    let viewer = Viewer::with(&[&living], &["--follow"]);
    let (mut browser, chart) = open(&viewer);
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    browser.wait("document.querySelector('#standing').textContent === 'following the file'");
    browser.wait("document.querySelector('#interval-field').value.includes('.. 500')");

    let at = spot(&mut browser, &chart, 0.25, "thread 1.1");
    browser.click(at);
    let told = "['thread 1.1', 'working', '500.0 ms'].every(text => document.querySelector('#inspector').innerText.includes(text))";
    browser.wait(told);
    browser.wait("location.hash.includes('chosen=s')");
    let before = browser.evaluate("location.hash");

    // States of an earlier row make the numbers of all later ones others. The whole stays the whole.
    let path = viewer.folder.path().join("two-nodes.paje");
    let grow = |text: &str| OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    grow("5 0.6 S t00 w\n5 0.8 S t00 b\n");
    browser.wait("document.querySelector('#interval-field').value.includes('.. 800')");
    browser.wait(SETTLED);
    browser.wait(&format!("location.hash.includes('chosen=s') && location.hash !== {before}"));
    browser.wait(told);

    // An interval at the end moves along with it.
    press(&mut browser, "textbox", "Interval shown");
    browser.type_text("500ms..");
    browser.key("Enter");
    browser.wait("document.querySelector('#interval-field').value.startsWith('500')");
    grow("5 1.0 S t00 w\n3 1.0 t12 T n1 \"thread 1.2\"\n");
    browser.wait("document.querySelector('#interval-field').value.startsWith('700')");
    wait_for_rows(
        &mut browser,
        &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1", "thread 1.2"],
    );
    browser.wait(told);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_trace_that_is_not_there_yet_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.paje");
    let viewer = Viewer::follow(&path);
    let mut browser = Browser::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("document.querySelector('#message').innerText.includes('waiting for')");
    std::fs::write(&path, TRACE).unwrap();
    browser.wait(
        "document.querySelector('#message').hidden && document.querySelectorAll('#tree [role=row]').length === 6",
    );
    browser.wait(SETTLED);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
