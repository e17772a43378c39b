//! A collective operation on the page: one mark over all its parts, and its facts in the inspector.

use tests::browser::{BrowserPage, PageElement};
use tests::page::{ViewProcess, open, press, read, screenshot_path, show, spot, watch_files};

use super::saved_files::saved;

/// Four ranks. A broadcast of rank 1, in which rank 0 enters long after the others have left, and a
/// barrier of the ranks 0 to 2.
const BODY: &str = "%EventDef PajePushState 40
% Time date
% Container string
% Type string
% Value string
% operation int
% is_root int
% collective string
% bytes int
%EndEventDef
%EventDef PajePushState 41
% Time date
% Container string
% Type string
% Value string
% operation int
% collective string
%EndEventDef
0 R 0 Rank
2 S R Calls
5 c S MPI_Bcast \"0.8 0.4 0\"
5 b S MPI_Barrier \"0.8 0.5 0.7\"
5 w S work \"0.2 0.6 0.5\"
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
6 0 r2 0 R \"rank 2\"
6 0 r3 0 R \"rank 3\"
12 0 r0 S w
12 0 r1 S w
12 0 r2 S w
12 0 r3 S w
40 1 r1 S c 0 1 one-to-all 1000
40 1.2 r2 S c 0 0 one-to-all 1000
40 1.4 r3 S c 0 0 one-to-all 1000
13 1.6 r1 S
13 1.8 r2 S
13 2 r3 S
40 7 r0 S c 0 0 one-to-all 1000
13 7.5 r0 S
41 8 r0 S b 1 barrier
41 8.5 r1 S b 1 barrier
41 9 r2 S b 1 barrier
13 9.2 r0 S
13 9.2 r1 S
13 9.2 r2 S
7 10 R r0
7 10 R r1
7 10 R r2
7 10 R r3
";

fn viewer() -> ViewProcess {
    ViewProcess::of(&[include_str!("../../../../viewer/tests/header.paje"), BODY].concat())
}

/// The number of pixels with a mark in the row of a container, from one share of the width to
/// another.
fn marked_pixels(browser: &mut BrowserPage, chart: &PageElement, row: &str, from: f64, to: f64) -> i64 {
    let (left, y) = spot(browser, chart, from, row);
    let (right, _) = spot(browser, chart, to, row);
    let pixels = browser.evaluate(&format!(
        "(() => {{ const canvas = document.querySelector('#chart .overlay'), box = canvas.getBoundingClientRect();
            const ratio = canvas.width / box.width;
            const at = [{left} - box.left, {y} - box.top - 8, {right} - {left}, 16].map(one => Math.round(one * ratio));
            const data = canvas.getContext('2d').getImageData(...at).data;
            return data.filter((byte, at) => at % 4 === 3 && byte > 200).length; }})()"
    ));
    pixels.as_i64().unwrap()
}

#[test]
fn the_parts_of_an_operation_are_marked_as_one() {
    let viewer = viewer();
    let (mut browser, chart) = open(&viewer);
    assert_eq!(marked_pixels(&mut browser, &chart, "rank 3", 0.12, 0.22), 0);
    let point = spot(&mut browser, &chart, 0.72, "rank 0");
    browser.point(point);
    browser.wait("document.querySelector('#tooltip')?.innerText.includes('parts of an operation')");
    let tooltip = browser.evaluate("document.querySelector('#tooltip').innerText");
    assert!(tooltip.as_str().unwrap().contains("One of 4 parts of an operation: rank 0 enters last"), "{tooltip}");
    assert!(marked_pixels(&mut browser, &chart, "rank 3", 0.12, 0.22) > 30, "the part of rank 3 is outlined");
    // The line leads from rank 1, which enters at 1 s, to rank 0, which enters at 7 s.
    assert!(marked_pixels(&mut browser, &chart, "rank 0", 0.60, 0.69) > 0, "a line leads to the last part");
    assert_eq!(marked_pixels(&mut browser, &chart, "rank 3", 0.80, 0.95), 0, "rank 3 has no part in the barrier");
    let point = spot(&mut browser, &chart, 0.5, "rank 3");
    browser.point(point);
    browser.wait("document.querySelector('#tooltip')?.innerText.includes('work')");
    assert_eq!(marked_pixels(&mut browser, &chart, "rank 1", 0.10, 0.16), 0, "the mark is gone");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_inspector_lists_the_facts_of_the_operation() {
    let viewer = viewer();
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.14, "rank 2");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'MPI_Bcast'");
    let facts = read(&mut browser, "region", "Collective operation");
    for fact in ["one-to-all of 4 parts", "6.000 s", "All bytes", "4 000", "enters as 2 of 4, 5.800 s before the last"]
    {
        let plain_facts = facts.replace(['\u{202f}', '\u{a0}', ','], " ");
        assert!(plain_facts.contains(&fact.replace(',', " ")), "{fact} is missing in:\n{facts}");
    }
    let entries = read(&mut browser, "list", "Parts by entry");
    let names: Vec<usize> =
        ["rank 1", "rank 2", "rank 3", "rank 0"].iter().map(|name| entries.find(name).unwrap()).collect();
    assert!(names.is_sorted(), "{entries}");
    browser.screenshot(&screenshot_path("collective-operation.png"));
    // The link to the last part goes to a part that does not overlap the others.
    let last = "[...document.querySelectorAll('#inspector .operation dt')].find(one => one.innerText === 'Last entry').nextSibling.querySelector('button')";
    browser.evaluate(&format!("{last}.click()"));
    browser.wait("document.querySelector('#inspector .operation')?.innerText.includes('This part\\nenters last')");
    let address = browser.evaluate("location.href").as_str().unwrap().to_owned();
    assert!(address.contains("chosen=s"), "{address}");
    // A saved image has the mark of this operation, and of no other.
    watch_files(&mut browser);
    let image = saved(&mut browser, "Save image as SVG");
    assert!(image.contains("MPI_Bcast: one-to-all of 4 parts, rank 0 enters last, 6.000 s after the first"), "{image}");
    assert!(!image.contains("MPI_Barrier: barrier of"), "{image}");
    press(&mut browser, "button", "Close the inspector");
    let image = saved(&mut browser, "Save image as SVG");
    assert!(!image.contains("enters last"), "{image}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn states_outside_of_operations_have_no_facts_of_one() {
    let viewer = viewer();
    let (mut browser, chart) = open(&viewer);
    show(&mut browser, "2.5 s .. 6 s");
    let point = spot(&mut browser, &chart, 0.5, "rank 3");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'work'");
    assert!(!read(&mut browser, "region", "Inspector").contains("Collective operation"));
}
