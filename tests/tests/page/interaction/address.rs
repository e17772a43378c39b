//! The address and workspaces: the view is restored in another tab, and in another trace where that
//! has the same names.

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, chain, filter, open, press, read, saved_text, show, spot, wait_for_rows, watch_files,
};

use super::input_targets::tall;
use crate::panels::saved_files::{open_workspace, saved};

const ADDRESS: &str = "location.hash";

#[test]
fn an_address_restores_the_scroll_position_below_a_filter_chain() {
    let viewer = ViewProcess::of(&tall());
    let (mut browser, chart) = open(&viewer);
    filter(&mut browser, "bright *");
    browser.wait("document.querySelector('#chain').checkVisibility()");
    browser.wait(SETTLED);
    let point = spot(&mut browser, &chart, 0.5, "thread 0.1");
    browser.with_key_down("Shift", |browser| browser.wheel(point, 100_000.0));
    let at_end = "(({ scrollTop, clientHeight, scrollHeight }) => scrollTop > 100 && scrollTop + clientHeight >= scrollHeight - 1)(document.querySelector('#scroller'))";
    browser.wait(&format!("{at_end} && /scroll=\\d+/.test(location.hash)"));
    browser.wait(SETTLED);
    let address = browser.evaluate("location.href");
    browser.open("about:blank#away");
    browser.open(address.as_str().unwrap());
    browser.wait(SETTLED);
    browser.wait(at_end);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_copied_address_shows_the_same_rows_and_panel() {
    let viewer = ViewProcess::of(&tall());
    let (mut browser, chart) = open(&viewer);
    let steps = browser.evaluate("history.length");
    let point = spot(&mut browser, &chart, 0.5, "thread 0.1");
    browser.with_key_down("Shift", |browser| browser.wheel(point, 300.0));
    browser.wait("document.querySelector('#scroller').scrollTop > 100");
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    press(&mut browser, "radio", "Columns");
    press(&mut browser, "checkbox", "percent");
    browser.wait("/scroll=\\d+/.test(location.hash) && /tab=times/.test(location.hash) && /form=columns/.test(location.hash) && /values=1/.test(location.hash)");
    assert_eq!(browser.evaluate("history.length"), steps, "none of these is a step that Back would go");
    browser.wait(SETTLED);
    let script =
        "JSON.stringify([document.querySelector('#scroller').scrollTop, document.querySelector('#times').dataset.form,
        document.querySelector('#times').innerText, ((canvas) => {
            // Image files contain more than pixels.
            let sum = 0;
            for (const byte of canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data) sum = Math.imul(sum, 31) + byte | 0;
            return sum;
        })(document.querySelector('#chart .image'))])";
    browser.wait("document.querySelector('#times .color-key')?.innerText.match(/\\d\\s+s/)");
    let (before, address) = (browser.evaluate(script), browser.evaluate("location.href"));
    drop(browser);
    let mut second_browser = BrowserPage::start(1280, 720);
    second_browser.open(address.as_str().unwrap());
    second_browser.wait(SETTLED);
    second_browser.wait("document.querySelector('#times .color-key')?.innerText.match(/\\d\\s+s/)");
    let after = second_browser.evaluate(script);
    assert!(before == after, "{}\n{}", short(&before), short(&after));
    // The sort order of a table and the closed panel are restored.
    press(&mut second_browser, "radio", "Table");
    press(&mut second_browser, "button", "Count");
    second_browser.key("l");
    second_browser
        .wait("/order=4d/.test(location.hash) && /side=0/.test(location.hash) && !/form=/.test(location.hash)");
    let address = second_browser.evaluate("location.href");
    second_browser.open("about:blank#away");
    second_browser.open(address.as_str().unwrap());
    second_browser.wait(SETTLED);
    assert_eq!(second_browser.evaluate("document.querySelector('#panel').hidden"), true);
    second_browser.key("l");
    second_browser.wait("document.querySelector('#times [aria-sort]')?.innerText.startsWith('Count')");
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}

#[test]
fn a_copied_address_restores_the_selected_rows() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let steps = browser.evaluate("history.length").as_u64().unwrap();
    let chosen = "[...document.querySelectorAll('#tree [aria-selected=true]')].map((row) => row.getAttribute('aria-label')).join()";
    for name in ["thread 0.1", "thread 1.0"] {
        let point = browser.place_of("row", name).center();
        browser.point(point);
        browser.key("x");
        browser.wait(&format!("{chosen}.includes('{name}')"));
    }
    browser.wait("/selected=\\d+\\+\\d+/.test(location.hash)");
    // Back and Forward visit each selection.
    assert_eq!(browser.evaluate("history.length"), steps + 2);
    let address = browser.evaluate("location.href");
    drop(browser);
    let mut second_browser = BrowserPage::start(1280, 720);
    second_browser.open(address.as_str().unwrap());
    second_browser.wait(SETTLED);
    second_browser.wait(&format!("{chosen} === 'thread 0.1,thread 1.0'"));
    second_browser.key("G");
    second_browser.wait("document.querySelector('#filters').innerText.includes('group')");
    second_browser.wait("!/selected=/.test(location.hash)");
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}

#[test]
fn a_copied_address_restores_the_differences_and_the_coupling_of_panes() {
    let viewer = ViewProcess::with(&[TRACE, &TRACE.replace("5 0.5", "5 0.25")], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    let settled = "[0, 1].every(at => frames[at]?.document?.querySelector('#chart')?.dataset.settled === 'true')";
    browser.wait(settled);
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#differences-table tbody')");
    press(&mut browser, "checkbox", "one time axis");
    browser.wait("location.hash.includes('apart')");
    let address = browser.evaluate("location.href");
    drop(browser);
    let mut second_browser = BrowserPage::start(1280, 720);
    second_browser.open(address.as_str().unwrap());
    second_browser.wait(settled);
    second_browser.wait("document.querySelector('#differences-table tbody')");
    assert_eq!(second_browser.evaluate("document.querySelector('#coupled').checked"), false);
    press(&mut second_browser, "button", "Differences");
    second_browser.wait("document.querySelector('#differences-table').hidden");
    press(&mut second_browser, "checkbox", "one time axis");
    second_browser.wait("!location.hash.includes('apart')");
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}

/// The seen state without the pixels.
fn short(address: &Value) -> String {
    address.as_str().unwrap_or("nothing").chars().take(400).collect()
}

#[test]
fn the_address_contains_the_search() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let steps = browser.evaluate("history.length");
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.wait("document.activeElement.id === 'find-field'");
    browser.type_text("working");
    browser.key("Enter");
    let condition = "document.querySelector('#find-status').innerText === '4 found'";
    browser.wait(condition);
    browser.wait("/find=working/.test(location.hash) && /tab=find/.test(location.hash)");
    press(&mut browser, "checkbox", "only in the visible time range");
    browser.wait("/inside=1/.test(location.hash)");
    assert_eq!(browser.evaluate("history.length"), steps, "none of these is a step that Back would go");
    let address = browser.evaluate("location.href");
    // Back does not change the text.
    press(&mut browser, "tab", "Find");
    show(&mut browser, "100..300 ms");
    browser.key("[");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('0')");
    browser.wait("/find=working/.test(location.hash)");
    assert_eq!(browser.evaluate("document.querySelector('#find-field').value"), "working");
    drop(browser);
    let mut second_browser = BrowserPage::start(1280, 720);
    second_browser.open(address.as_str().unwrap());
    second_browser.wait(SETTLED);
    second_browser.wait(condition);
    assert_eq!(second_browser.evaluate("[document.querySelector('#find-field').value, document.querySelector('#find-in-time-range').checked, document.querySelector('#find').hidden]"), json!(["working", true, false]));
    // An empty text removes the search from the address.
    press(&mut second_browser, "searchbox", "Search expression");
    second_browser.key("Escape");
    second_browser.wait("!/find=/.test(location.hash.replace('tab=find', ''))");
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}

#[test]
fn back_restores_views_and_keeps_the_panel() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    show(&mut browser, "100..300 ms");
    browser.key("2");
    browser.wait("/tab=times/.test(location.hash)");
    browser.key("[");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('0')");
    assert_eq!(browser.evaluate("document.querySelector('#times').hidden"), false);
    browser.wait("/tab=times/.test(location.hash)");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn invalid_entries_of_a_filter_list_are_reported_with_their_position() {
    let viewer = ViewProcess::start();
    let mut browser = BrowserPage::start(1280, 720);
    let bad = |filters: &str| format!("{}#filters={}", viewer.url, filters.replace('"', "%22"));
    for (filters, message) in [
        ("[null,5,{}]", "entry 1 of the filters is null"),
        ("[\"hide container a\",5]", "entry 2 of the filters is 5"),
        ("{}", "not a list of texts"),
    ] {
        browser.open("about:blank#away");
        browser.open(&bad(filters));
        browser.wait(SETTLED);
        let note = read(&mut browser, "status", "Note");
        assert!(note.contains(message), "{note}");
        assert_eq!(chain(&mut browser), json!([]));
    }
    watch_files(&mut browser);
    open_workspace(
        &mut browser,
        r#"{"format": "tumit-view", "version": 1, "filters": ["hide container thread 0.0", {}]}"#,
    );
    browser.wait("document.querySelector('#note').innerText.includes('entry 2 of the filters is {}')");
    assert_eq!(chain(&mut browser), json!([]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Another run: threads in another order, one of them missing, values with other numbers.
fn other_run() -> String {
    let swapped = TRACE.replace("2 w S working", "2 x S sleeping \"0 0 1\"\n2 w S working").replace(
        "3 0.0 t00 T n0 \"thread 0.0\"\n3 0.0 t01 T n0 \"thread 0.1\"\n",
        "3 0.0 t01 T n0 \"thread 0.1\"\n3 0.0 t00 T n0 \"thread 0.0\"\n",
    );
    swapped.lines().filter(|line| !line.contains("t10")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_workspace_applies_to_another_trace_by_names() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for row in ["thread 0.1", "thread 1.0"] {
        let point = browser.place_of("row", row).center();
        browser.click(point);
        browser.key("p");
        browser.wait(SETTLED);
    }
    let blocked = tests::page::entry(&mut browser, "blocked");
    browser.click(blocked);
    browser.wait("/dimmed=/.test(location.hash)");
    let dimmed = "[...document.querySelectorAll('#legend [aria-pressed=true]')].map(one => one.innerText.split('\\n')[0].trim()).join()";
    browser.wait(&format!("{dimmed}.startsWith('blocked')"));
    watch_files(&mut browser);
    let text = saved(&mut browser, "Save workspace");
    drop(browser);

    let second_viewer = ViewProcess::of(&other_run());
    let (mut browser, _) = open(&second_viewer);
    watch_files(&mut browser);
    open_workspace(&mut browser, &text);
    wait_for_rows(&mut browser, &["thread 0.1", "Node 0", "thread 0.0", "Node 1", "thread 1.1"]);
    let note = read(&mut browser, "status", "Note");
    assert!(note.contains("1 pinned row (thread 1.0)") && !note.contains("dimmed"), "{note}");
    browser.wait(&format!("{dimmed}.startsWith('blocked')"));
    // A workspace without names may belong to any trace.
    let mut old: Value = serde_json::from_str(&text).unwrap();
    for field in ["names", "trace"] {
        old.as_object_mut().unwrap().remove(field);
    }
    let address = browser.evaluate(ADDRESS);
    open_workspace(&mut browser, &old.to_string());
    browser.wait("document.querySelector('#note').innerText.includes('identified rows and values by numbers')");
    assert_eq!(browser.evaluate(ADDRESS), address);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    drop(browser);

    // In the same trace, everything is restored.
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    open_workspace(&mut browser, &text);
    wait_for_rows(&mut browser, &["thread 0.1", "thread 1.0", "Node 0", "thread 0.0", "Node 1", "thread 1.1"]);
    assert!(saved_is_same(&mut browser, &text));
}

/// Whether saving gives the same workspace again, except for the inspected entity.
fn saved_is_same(browser: &mut BrowserPage, text: &str) -> bool {
    choose_save(browser);
    let again: Value = serde_json::from_str(&saved_text(browser)).unwrap();
    let before: Value = serde_json::from_str(text).unwrap();
    again["names"] == before["names"] && again["filters"] == before["filters"]
}

fn choose_save(browser: &mut BrowserPage) {
    press(browser, "button", "Save and open");
    press(browser, "menuitem", "Save workspace");
}
