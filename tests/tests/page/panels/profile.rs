//! The profile in the dock: the numbers of `tumit profile`, and the flame graph.

use serde_json::Value;

use tests::browser::BrowserPage;
use tests::page::{ViewProcess, open, press, read, screenshot_path};
use tests::programs::{succeed, tumit};

use super::views::open_dock;
use crate::accessibility::{axe, faults};

const PROFILE_SETTLED: &str = "document.querySelector('#profile tbody tr') && document.querySelector('#profile').getAttribute('aria-busy') === 'false'";

/// The profile of the command, of the first state type with this name.
fn profile(viewer: &ViewProcess, arguments: &[&str]) -> Value {
    let path = viewer.folder.path().join("two-nodes.paje");
    let text = succeed(tumit().arg("profile").arg(path).args(arguments).arg("--json"));
    serde_json::from_str(&text).expect("the profile is JSON")
}

fn names_of_bars(browser: &mut BrowserPage) -> Value {
    browser.evaluate(
        "[...document.querySelectorAll('#profile [role=treeitem]')].map(bar => bar.getAttribute('aria-label'))",
    )
}

#[test]
fn the_profile_shows_the_numbers_of_the_command_and_a_tree() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    press(&mut browser, "tab", "Profile");
    browser.wait(PROFILE_SETTLED);
    browser.wait("location.hash.includes('part=profile')");
    let command = profile(&viewer, &[]);
    let values = command["profiles"][0]["values"].as_array().expect("a list").clone();
    let table = read(&mut browser, "region", "Values");
    for value in &values {
        let name = value["value"].as_str().expect("a name");
        assert!(table.contains(name), "{name}: {table}");
    }
    let rows = browser.evaluate("document.querySelectorAll('#profile tbody tr').length");
    assert_eq!(rows.as_u64(), Some(values.len() as u64));
    browser.screenshot(&screenshot_path("profile.png"));
    browser.evaluate(&format!("{}; true", axe()));
    assert_eq!(faults(&mut browser, "light"), serde_json::json!([]));
    // The roots of the tree are the values, the longest first.
    let bars = names_of_bars(&mut browser);
    let longest = command["profiles"][0]["calls"][0].clone();
    let first = bars[0].as_str().expect("a bar");
    assert!(first.starts_with(longest["value"].as_str().expect("a name")), "{first} {longest}");
    assert!(first.contains(&format!("{} call", longest["calls"])), "{first} {longest}");
    // A bar grows to the full width, and Escape shows all bars again.
    let count = bars.as_array().map_or(0, Vec::len);
    browser.evaluate("document.querySelector('#profile [role=treeitem]').focus()");
    browser.key("Enter");
    browser.wait("document.querySelector('#profile [role=treeitem][aria-selected=true]')?.style.width === '100%'");
    press(&mut browser, "button", "Show all");
    browser.wait(&format!("document.querySelectorAll('#profile [role=treeitem]').length === {count}"));
    // The order of the table and the direction of the tree change.
    press(&mut browser, "button", "Calls");
    browser.wait("document.querySelector('#profile th[aria-sort=descending]').innerText.startsWith('Calls')");
    press(&mut browser, "button", "Callers");
    browser.wait("location.hash.includes('calltree=bottom-up')");
    browser.wait("document.querySelector('.flame-facts').innerText.includes('callers below')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_value_is_found_and_the_profile_follows_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    press(&mut browser, "tab", "Profile");
    browser.wait(PROFILE_SETTLED);
    let heading = "document.querySelector('#profile h2').innerText";
    let before = browser.evaluate(heading).as_str().expect("a heading").to_owned();
    // The row with the most time becomes the selection, and the subject of the profile.
    browser.evaluate("document.querySelector('#profile tbody td:last-child button').click()");
    browser.wait("location.hash.includes('selected=')");
    browser.wait(&format!("{heading}.startsWith('1 row') || {heading}.includes(', 1 row')"));
    press(&mut browser, "button", "Clear the selection");
    browser.wait(&format!("{heading} === {}", Value::from(before)));
    // A typed text marks rows and bars.
    let name = profile(&viewer, &[])["profiles"][0]["values"][0]["value"].as_str().expect("a name").to_owned();
    press(&mut browser, "searchbox", "Find in the profile");
    browser.type_text(&name);
    browser.wait(
        "document.querySelector('#profile tbody tr.found') && document.querySelector('#profile [role=treeitem].found')",
    );
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
