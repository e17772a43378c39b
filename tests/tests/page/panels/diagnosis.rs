//! The diagnosis in the dock: the numbers of `tumit diagnose`, its rows, and the chosen categories.

use serde_json::Value;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, press, read, screenshot_path};
use tests::programs::tumit;

use super::views::{CARDS_SETTLED, open_dock};
use crate::accessibility::{axe, faults};

const DIAGNOSIS_SETTLED: &str = "document.querySelector('#diagnosis h2') && document.querySelector('#diagnosis').getAttribute('aria-busy') === 'false'";

/// Opens the diagnosis by the palette.
fn open_diagnosis(browser: &mut BrowserPage, text: &str) {
    browser.key(":");
    browser.type_text(text);
    browser.wait("[...document.querySelectorAll('#palette-choices [role=option]')].some(choice => choice.innerText.startsWith('Diagnosis'))");
    browser.evaluate("[...document.querySelectorAll('#palette-choices [role=option]')].find(choice => choice.innerText.startsWith('Diagnosis')).click()");
    browser.wait(DIAGNOSIS_SETTLED);
}

/// The report of the command, for the same user as the page.
fn report(viewer: &ViewProcess, arguments: &[&str]) -> (Value, String) {
    let mut command = tumit();
    command.arg("diagnose").arg(viewer.folder.path().join("two-nodes.paje")).args(arguments).arg("--json");
    command.env("XDG_CACHE_HOME", viewer.folder.path().join("cache"));
    let output = command.output().expect("`tumit` runs");
    let report = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    (report, String::from_utf8(output.stderr).expect("messages are UTF-8"))
}

fn percent(report: &Value, factor: &str) -> String {
    format!("{:.1} %", report["efficiency"][factor].as_f64().expect("a factor") * 100.0)
}

#[test]
fn the_diagnosis_shows_the_numbers_of_the_command_and_follows_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for word in ["efficiency", "wait states", "diagnosis"] {
        open_diagnosis(&mut browser, word);
    }
    let (full_report, _) = report(&viewer, &[]);
    let efficiencies = read(&mut browser, "list", "Efficiencies");
    assert!(efficiencies.contains(&percent(&full_report, "parallel")), "{efficiencies} {full_report}");
    let path = read(&mut browser, "table", "Critical path by value");
    assert!(path.contains("working") && path.contains("500"), "{path}");
    browser.wait("location.hash.includes('part=diagnosis')");
    browser.screenshot(&screenshot_path("diagnosis.png"));
    browser.evaluate(&format!("{}; true", axe()));
    assert_eq!(faults(&mut browser, "light"), serde_json::json!([]));
    // A row selects its unit in the diagram, and the report stays.
    let unit = full_report["path_units"][0]["name"].as_str().expect("a name").to_owned();
    press(&mut browser, "button", "Maximise the dock");
    press(&mut browser, "button", &unit);
    press(&mut browser, "button", "Restore the dock");
    browser.wait("location.hash.includes('selected=')");
    browser.find("button", Some("Examine the selection"));
    press(&mut browser, "button", "Examine the selection");
    browser.wait("document.querySelector('#diagnosis h2').innerText.startsWith('1 ×')");
    press(&mut browser, "button", "Clear the selection");
    browser.wait("document.querySelector('#diagnosis h2').innerText.startsWith('4 ×')");
    // The report is that of the selected time range.
    browser.key("e");
    browser.key("e");
    browser.evaluate("document.querySelector('#selection-field').select()");
    browser.type_text("0.4..0.8 s");
    browser.key("Enter");
    browser.wait("document.querySelector('#diagnosis .command')?.innerText.includes('--interval 400ms..800ms')");
    let (part, _) = report(&viewer, &["--interval", "0.4..0.8"]);
    assert!(read(&mut browser, "list", "Efficiencies").contains(&percent(&part, "parallel")));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_question_estimates_a_gain() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_diagnosis(&mut browser, "what-if");
    press(&mut browser, "button", "Maximise the dock");
    press(&mut browser, "combobox", "Values that take less time");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Values that take less time'");
    browser.type_text("work*");
    press(&mut browser, "button", "Estimate");
    browser.wait("document.querySelector('#diagnosis [aria-label=Gain]')");
    let gain = read(&mut browser, "status", "Gain");
    assert!(gain.starts_with("work* 50 % shorter: 250"), "{gain}");
    // The address contains the question and the tab.
    browser.wait("/whatif=/.test(location.hash) && /dock=/.test(location.hash)");
    let address = browser.evaluate("location.href");
    browser.open("about:blank#away");
    browser.open(address.as_str().expect("an address"));
    browser.wait(SETTLED);
    browser.wait("document.querySelector('#diagnosis [aria-label=Gain]')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn categories_are_beside_the_cards_in_the_address_and_in_commands() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    press(&mut browser, "button", "Categories");
    // The cards stay, and show the change at once.
    let card = "document.querySelector('#cards canvas')?.toDataURL()";
    browser.wait("document.querySelector('[aria-label=\"Category of blocked\"]')");
    browser.wait(CARDS_SETTLED);
    let before = browser.evaluate(card);
    assert_ne!(before, Value::Null);
    browser.evaluate("{ const choice = document.querySelector('[aria-label=\"Category of blocked\"]'); choice.value = 'busy'; choice.dispatchEvent(new Event('change')); }");
    browser.wait(&format!("{card} !== {before}"));
    browser.wait(CARDS_SETTLED);
    browser.screenshot(&screenshot_path("categories.png"));
    browser.wait("decodeURIComponent(location.hash).includes('categories=1-busy')");
    // The commands of this user have the same categories.
    let (chosen, note) = report(&viewer, &[]);
    assert!(note.contains("chosen on the page: `blocked`; --ignore-page-categories leaves them out"), "{note}");
    assert!(chosen["efficiency"]["parallel"].as_f64().expect("a factor") > 0.99, "{chosen}");
    let (guessed, note) = report(&viewer, &["--ignore-page-categories"]);
    assert!(guessed["efficiency"]["parallel"].as_f64().expect("a factor") < 0.6 && note.is_empty(), "{guessed} {note}");
    let mut view = tumit();
    view.arg("view").arg(viewer.folder.path().join("two-nodes.paje")).args(["--perspective", "utilization-summary"]);
    view.args(["-o", "-", "--format", "csv"]).env("XDG_CACHE_HOME", viewer.folder.path().join("cache"));
    let output = view.output().expect("`tumit` runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("chosen on the page: `blocked`"));
    // The address has the categories for another user without stored ones.
    let address = browser.evaluate("location.hash");
    let second_viewer = ViewProcess::other_user_as(&viewer);
    browser.open("about:blank#away");
    browser.open(&format!("{}{}", second_viewer.url, address.as_str().expect("an address")));
    browser.wait(SETTLED);
    press(&mut browser, "button", "Categories");
    browser.wait("document.querySelector('[aria-label=\"Category of blocked\"]').value === 'busy'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
