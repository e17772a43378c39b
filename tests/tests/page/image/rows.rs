//! The tree of containers: folding, pinning, hiding, moving, searching for names; by pointer and by
//! keys.

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, read, rows, spot, time_range, wait_for_rows};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

/// Gives a row the focus by keys: through the tree's only tab stop.
fn focus(browser: &mut BrowserPage, row: &str) {
    browser.evaluate("document.querySelector('#tree [role=row][tabindex=\"0\"]').focus()");
    browser.key("Home");
    for _ in 0..20 {
        if browser.evaluate("document.activeElement.getAttribute('aria-label')") == row {
            return;
        }
        browser.key("ArrowDown");
    }
    panic!("no key leads to {row}");
}

#[test]
fn a_pinned_row_stays_on_top_while_the_others_scroll() {
    // Thirty more threads, so that the rows can be scrolled.
    let more: String = (2..32).map(|n| format!("3 0.0 t0{n} T n0 \"thread 0.{n}\"\n5 0.0 S t0{n} w\n")).collect();
    let trace = TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N"));
    let viewer = ViewProcess::of(&trace);
    let (mut browser, chart) = open(&viewer);
    press(&mut browser, "row", "thread 0.1");
    browser.key("p");
    browser.wait("document.querySelector('#pinned-rows [aria-label=\"thread 0.1\"]')");
    browser.wait(SETTLED);
    assert_eq!(rows(&mut browser)[0], "thread 0.1", "first of all");
    let before = browser.place_of("row", "thread 0.1").center();
    let middle = browser.place(&chart).center();
    browser.with_key_down("Shift", |browser| browser.wheel(middle, 400.0));
    browser.wait("document.querySelector('#scroller').scrollTop > 100");
    browser.wait(SETTLED);
    assert_eq!(browser.place_of("row", "thread 0.1").center().1.to_bits(), before.1.to_bits(), "it does not move");
    // The image stays aligned with the row.
    browser.point((middle.0, before.1));
    browser.wait("document.querySelector('#tooltip').innerText.includes('thread 0.1')");
    // The name of the row that is scrolled away appears above the visible ones.
    browser.wait("document.querySelector('#scrolled-ancestors').innerText === 'Node 0'");
    // The buttons of a row appear when the pointer is on it.
    browser.point(before);
    press(&mut browser, "button", "Unpin thread 0.1");
    browser.wait("!document.querySelector('#pinned-rows [role=row]')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn hidden_rows_can_be_shown_again_one_by_one() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    focus(&mut browser, "thread 0.1");
    browser.key("h");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "Node 1", "thread 1.0", "thread 1.1"]);
    focus(&mut browser, "Node 1");
    browser.key("h");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0"]);
    press(&mut browser, "button", "2 hidden: show");
    let menu = read(&mut browser, "menu", "Hidden rows");
    assert!(menu.contains("Show Node 0 › thread 0.1") && menu.contains("Show all 2"), "{menu}");
    let items = browser.find_all("menuitem", None);
    let node = items.iter().find(|item| item.name.ends_with("Node 1")).unwrap();
    let point = browser.place(node).center();
    browser.click(point);
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "Node 1", "thread 1.0", "thread 1.1"]);
    browser.key("H");
    wait_for_rows(&mut browser, &ALL);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn rows_are_moved_by_drag_and_keys_and_back_undoes_it() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let (from, to) = (browser.place_of("row", "Node 1").center(), browser.place_of("row", "Node 0"));
    browser.drag(from, (from.0, to.y + 2.0));
    let turned = ["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"];
    wait_for_rows(&mut browser, &turned);
    focus(&mut browser, "thread 0.0");
    browser.with_key_down("Alt", |browser| browser.key("ArrowDown"));
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.1", "thread 0.0"]);
    assert_eq!(
        browser.evaluate("document.activeElement.getAttribute('aria-label')"),
        "thread 0.0",
        "it keeps the focus"
    );
    browser.key("[");
    wait_for_rows(&mut browser, &turned);
    browser.key("[");
    wait_for_rows(&mut browser, &ALL);
    browser.key("]");
    wait_for_rows(&mut browser, &turned);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_search_for_a_name_filters_rows_and_scrolls_to_one() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("/");
    browser.type_text("THREAD 1.1");
    wait_for_rows(&mut browser, &["Node 1", "thread 1.1"]);
    assert_eq!(browser.evaluate("document.querySelector('#tree mark').innerText"), "thread 1.1");
    browser.key("Enter");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'thread 1.1'");
    press(&mut browser, "searchbox", "Find rows");
    browser.key("Escape");
    wait_for_rows(&mut browser, &ALL);
    browser.type_text("no such");
    browser.wait("document.querySelector('#no-rows').innerText.includes('No row has “no such” in its name')");
    press(&mut browser, "button", "Show all");
    wait_for_rows(&mut browser, &ALL);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_menu_of_a_row_has_all_its_actions() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    focus(&mut browser, "Node 0");
    browser.with_key_down("Shift", |browser| browser.key("F10"));
    let menu = read(&mut browser, "menu", "Node 0");
    for word in ["Inspect", "Fold", "Pin on top", "Hide", "Hide all others", "Move down", "Copy name"] {
        assert!(menu.contains(word), "{word} in {menu}");
    }
    // The first item has the focus; the fifth hides the others.
    for _ in 0..4 {
        browser.key("ArrowDown");
    }
    browser.key("Enter");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "thread 0.1"]);
    assert_eq!(browser.find_all("menu", None).len(), 0, "the menu has closed");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_arrangement_of_rows_is_saved_with_the_trace() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    focus(&mut browser, "thread 1.1");
    browser.key("p");
    wait_for_rows(&mut browser, &["thread 1.1", "Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0"]);
    focus(&mut browser, "Node 0");
    browser.key(" ");
    let arranged = ["thread 1.1", "Node 0", "Node 1", "thread 1.0"];
    wait_for_rows(&mut browser, &arranged);
    browser.wait("location.hash.includes('toggled=')");
    browser.open("about:blank#away");
    browser.open(&viewer.url);
    wait_for_rows(&mut browser, &arranged);
    press(&mut browser, "button", "All rows");
    press(&mut browser, "menuitem", "Reset all rows");
    wait_for_rows(&mut browser, &ALL);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_address_restores_the_whole_view() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    for (row, key) in [("thread 1.1", "p"), ("thread 0.1", "h"), ("Node 0", " ")] {
        focus(&mut browser, row);
        browser.key(key);
        browser.wait(SETTLED);
    }
    focus(&mut browser, "Node 1");
    browser.with_key_down("Alt", |browser| browser.key("ArrowUp"));
    let arranged = ["thread 1.1", "Node 1", "thread 1.0", "Node 0"];
    wait_for_rows(&mut browser, &arranged);
    browser.key("g");
    browser.type_text("100..300 ms");
    browser.key("Enter");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('100')");
    browser.wait(SETTLED);
    let point = spot(&mut browser, &chart, 0.5, "thread 1.0");
    browser.click(point);
    browser.wait("location.hash.includes('chosen=')");
    let address = browser.evaluate("location.href").as_str().unwrap().to_owned();
    let range = time_range(&mut browser);
    drop(browser);

    // Another browser has no memory.
    let mut second_browser = BrowserPage::start(1280, 720);
    second_browser.open(&address);
    wait_for_rows(&mut second_browser, &arranged);
    assert_eq!(time_range(&mut second_browser), range);
    second_browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    assert_eq!(second_browser.evaluate("document.querySelector('#hidden-rows').innerText"), "1 hidden");
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}
