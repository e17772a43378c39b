//! The views in the dock: cards at one time cursor, the gallery, the player, and the address.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, press, read, screenshot_path};

use crate::accessibility::{axe, faults};

pub(super) const CARDS_SETTLED: &str =
    "document.querySelector('#cards').dataset.settled === '1' && !document.querySelector('#dock').hidden";

/// Opens the dock by its key.
pub(super) fn open_dock(browser: &mut BrowserPage) {
    browser.key("v");
    browser.wait(CARDS_SETTLED);
}

/// The pixels of all cards, with the line of the time cursor.
fn images(browser: &mut BrowserPage) -> Value {
    browser.wait(CARDS_SETTLED);
    // An empty overlay has no size before its first use.
    browser.evaluate("[...document.querySelectorAll('#cards .card-image')].map(image => [...image.querySelectorAll('canvas')].filter(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte > 0)).map(canvas => canvas.toDataURL()).join())")
}

/// Waits until the cards have some images. They get their sizes again after a panel next to them
/// closes.
fn wait_for_images(browser: &mut BrowserPage, expected: &Value) {
    let started = Instant::now();
    while images(browser) != *expected {
        assert!(started.elapsed() < Duration::from_secs(60), "the images differ");
    }
}

pub(super) fn titles(browser: &mut BrowserPage) -> Value {
    browser.evaluate("[...document.querySelectorAll('#cards h3')].map(title => title.innerText)")
}

/// Types a time into the field of the time cursor.
pub(super) fn go_to(browser: &mut BrowserPage, time: &str) {
    press(browser, "textbox", "Time of the views");
    browser.evaluate("document.querySelector('#cursor-field').select()");
    browser.type_text(time);
    browser.key("Enter");
    browser.evaluate("document.activeElement.blur()");
    browser.wait(CARDS_SETTLED);
}

pub(super) fn cursor(browser: &mut BrowserPage) -> f64 {
    browser.evaluate("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow'))").as_f64().unwrap()
}

pub(super) fn preset(browser: &mut BrowserPage, name: &str) {
    press(browser, "button", "Presets");
    press(browser, "menuitem", name);
    browser.wait(CARDS_SETTLED);
}

#[test]
fn cards_follow_the_time_cursor_and_do_not_depend_on_its_path() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    press(&mut browser, "button", "Views");
    browser.wait(CARDS_SETTLED);
    assert_eq!(titles(&mut browser), json!(["Utilization count", "Concurrency profile", "Kiviat diagram"]));
    let middle = cursor(&mut browser);
    let first = images(&mut browser);
    // A drag of the line in the diagram moves the cursor.
    let line = browser.place_of("slider", "Time cursor of the views").center();
    let place = browser.place(&chart);
    browser.drag(line, (place.x + place.width * 0.9, line.1));
    // A row at the pointer would be lit in the cards.
    browser.point((2.0, 2.0));
    browser.wait(CARDS_SETTLED);
    let dragged = cursor(&mut browser);
    assert!(dragged > middle * 1.5, "{middle} {dragged}");
    let later = images(&mut browser);
    assert!(first[0] != later[0] && first[2] != later[2]);
    assert!(first[1] == later[1], "the concurrency profile covers the whole time range");
    // Keys move it, and the image on the way back equals the one on the way forward.
    browser.evaluate("document.querySelector('#time-cursor').focus()");
    for _ in 0..3 {
        browser.key("ArrowRight");
    }
    let forward = (cursor(&mut browser), images(&mut browser));
    browser.key("End");
    browser
        .wait(&format!("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) > {}", forward.0));
    let _ = images(&mut browser);
    browser.key("Home");
    browser.wait("document.querySelector('#time-cursor').getAttribute('aria-valuenow') === '0'");
    let _ = images(&mut browser);
    go_to(&mut browser, &format!("{}ns", forward.0));
    assert!(images(&mut browser) == forward.1, "the image depends on the path of the cursor");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_player_plays_steps_and_stops() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    assert_eq!(browser.evaluate("document.activeElement.id"), "play-pause");
    // Keys act in the dock; outside of it, they keep their usual meaning.
    let middle = cursor(&mut browser);
    browser.key(",");
    browser.wait(&format!("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) < {middle}"));
    let start = cursor(&mut browser);
    browser.key(".");
    browser.wait(&format!("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) > {start}"));
    let next = cursor(&mut browser);
    browser.key(",");
    browser.wait(&format!("document.querySelector('#time-cursor').getAttribute('aria-valuenow') === '{start}'"));
    // On a button, the space bar presses it.
    browser.evaluate("document.querySelector('#cards').focus()");
    browser.key(" ");
    browser.wait(&format!("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) > {next}"));
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Pause'");
    browser.key("k");
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    let paused = cursor(&mut browser);
    browser.key("j");
    browser.wait(&format!("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) < {paused}"));
    press(&mut browser, "button", "Stop");
    browser.wait("document.querySelector('#time-cursor').getAttribute('aria-valuenow') === '0'");
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    // With reduced motion, the player only steps.
    if browser.prefer_stillness() {
        browser.evaluate("document.querySelector('#play-pause').focus()");
        browser.key("l");
        browser.wait("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) > 0");
        assert_eq!(browser.evaluate("document.querySelector('#play-forward').getAttribute('aria-pressed')"), "false");
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn views_are_added_from_the_gallery_and_explain_missing_data() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    press(&mut browser, "button", "Add views");
    browser.wait("document.querySelector('#gallery').getAttribute('aria-busy') === 'false'");
    let lacking = browser.evaluate("[...document.querySelectorAll('#gallery .lacking')].map(item => [item.getAttribute('aria-label'), item.querySelector('.reason').innerText])");
    let task = lacking
        .as_array()
        .unwrap()
        .iter()
        .find(|element| element[0] == "Task count")
        .unwrap_or_else(|| panic!("{lacking}"));
    assert_eq!(
        task[1],
        "The view needs states of tasks, but the trace has none. Choose a state type whose values are tasks by the option “Tasks”."
    );
    browser
        .evaluate("document.querySelector('#gallery [aria-label=\"Task count\"]').scrollIntoView({ block: 'center' })");
    press(&mut browser, "button", "Task count");
    press(&mut browser, "button", "Done");
    browser.wait(CARDS_SETTLED);
    assert_eq!(
        titles(&mut browser),
        json!(["Utilization count", "Concurrency profile", "Kiviat diagram", "Task count"])
    );
    assert!(read(&mut browser, "status", "Task count: missing data").starts_with("The view needs states of tasks"));
    // The remedy is at hand.
    press(&mut browser, "button", "Choose options of Task count");
    browser.wait("document.querySelector('.card-options')");
    browser.evaluate("{ const select = [...document.querySelectorAll('.card-options label')].find(label => label.innerText.startsWith('Tasks')).querySelector('select, input'); select.value = [...select.options].at(-1).value; select.dispatchEvent(new Event('change')); }");
    browser.wait("document.querySelectorAll('#cards .card-status:not([hidden])').length === 0");
    browser.key("Escape");
    browser.wait("!document.querySelector('.card-options')");
    press(&mut browser, "button", "Maximise Task count");
    browser.wait("document.querySelectorAll('#cards .card:not([hidden])').length === 1");
    press(&mut browser, "button", "Show all views beside Task count");
    press(&mut browser, "button", "Remove Concurrency profile");
    browser.wait("document.querySelectorAll('#cards .card:not([hidden])').length === 3");
    assert_eq!(titles(&mut browser), json!(["Utilization count", "Kiviat diagram", "Task count"]));
    for (name, count) in [("Messages", 3), ("Load balance", 3), ("Tasks", 4), ("Overview", 3)] {
        preset(&mut browser, name);
        assert_eq!(titles(&mut browser).as_array().map(Vec::len), Some(count), "{name}");
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_filter_assigns_a_category_and_the_table_names_its_origin() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    let before = images(&mut browser);
    press(&mut browser, "button", "Add a filter");
    browser.type_text("category ov");
    browser.wait("document.querySelector('#filter-completions').innerText.trim() === 'overhead'");
    browser.key("Tab");
    browser.type_text("working");
    browser.key("Enter");
    browser.wait("document.querySelectorAll('.filter').length === 1");
    browser.wait(SETTLED);
    assert_ne!(images(&mut browser)[0], before[0]);
    press(&mut browser, "button", "Categories");
    browser.wait("document.querySelector('#categories table')?.checkVisibility()");
    let row = "[...document.querySelectorAll('#categories tbody tr')].find(row => row.innerText.startsWith('working'))";
    let category = format!("[{row}.querySelector('select').value, {row}.querySelector('.origin').innerText]");
    assert_eq!(browser.evaluate(&category), json!(["overhead", "from a filter"]));
    press(&mut browser, "switch", "Filter 1 is active: category overhead working");
    browser.wait(&format!("{row}.querySelector('.origin').innerText === 'guess'"));
    press(&mut browser, "button", "Categories");
    wait_for_images(&mut browser, &before);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_series_is_a_curve_of_the_diagram() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "button", "Add a filter");
    browser.type_text("series pend");
    browser.wait("document.querySelector('#filter-completions').innerText.includes('pending-messages')");
    browser.evaluate("document.querySelector('#filter-field').select()");
    browser.type_text("series max-busy, pending-messages");
    browser.key("Enter");
    browser.wait("document.querySelectorAll('.filter').length === 1");
    browser.wait(SETTLED);
    browser.wait("document.body.innerText.includes('Maximum of busy units')");
    press(&mut browser, "button", "Edit filter 1: series max-busy, pending-messages");
    browser.evaluate("document.querySelector('#filter-field').select()");
    browser.type_text("series active-tasks");
    browser.key("Enter");
    browser.wait("document.querySelector('#filter-error').innerText.includes('the series needs states of tasks')");
    browser.key("Escape");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn categories_are_guessed_changed_and_kept_for_the_next_run() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    let before = images(&mut browser);
    press(&mut browser, "button", "Categories");
    browser.wait("document.querySelector('#categories table')?.checkVisibility()");
    let row = "[...document.querySelectorAll('#categories tbody tr')].find(row => row.innerText.startsWith('working'))";
    let category = format!("[{row}.querySelector('select').value, {row}.querySelector('.origin').innerText]");
    assert_eq!(browser.evaluate(&category), json!(["busy", "guess"]));
    let choose = |browser: &mut BrowserPage, word: &str| {
        browser.evaluate(&format!("{{ const select = {row}.querySelector('select'); select.value = '{word}'; select.dispatchEvent(new Event('change')); }}"));
    };
    choose(&mut browser, "idle");
    browser.wait(&format!("{row}.querySelector('.origin').innerText === 'chosen'"));
    press(&mut browser, "button", "Categories");
    assert_ne!(images(&mut browser)[0], before[0]);
    browser.reload();
    browser.wait(SETTLED);
    browser.wait(CARDS_SETTLED);
    press(&mut browser, "button", "Categories");
    browser.wait("document.querySelector('#categories table')?.checkVisibility()");
    assert_eq!(browser.evaluate(&category), json!(["idle", "chosen"]));
    choose(&mut browser, "busy");
    browser.wait(&format!("{row}.querySelector('.origin').innerText === 'guess'"));
    press(&mut browser, "button", "Categories");
    wait_for_images(&mut browser, &before);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn an_address_restores_the_dock() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let steps = browser.evaluate("history.length");
    open_dock(&mut browser);
    preset(&mut browser, "Load balance");
    browser.evaluate("{ const select = document.querySelector('#cards select.card-mode'); select.value = 'moving'; select.dispatchEvent(new Event('change')); }");
    browser.evaluate("document.querySelector('#dock-edge').focus()");
    browser.key("ArrowUp");
    browser.evaluate("document.querySelector('#play-loop').click()");
    go_to(&mut browser, "2ms");
    browser.wait("/at=\\d+/.test(location.hash) && /dock=44/.test(location.hash) && /moving/.test(location.hash) && /loop=1/.test(location.hash)");
    browser.wait(SETTLED);
    assert_eq!(browser.evaluate("history.length"), steps, "none of these is a step that Back would go");
    let state = "JSON.stringify([document.querySelector('#cursor-field').value, document.querySelector('#dock').clientHeight, document.querySelector('#play-loop').checked, document.querySelector('#cards select.card-mode').value])";
    let (before, pictures, address) =
        (browser.evaluate(state), images(&mut browser), browser.evaluate("location.href"));
    browser.open("about:blank#away");
    browser.open(address.as_str().unwrap());
    browser.wait(SETTLED);
    browser.wait(CARDS_SETTLED);
    assert_eq!(browser.evaluate(state), before);
    assert!(images(&mut browser) == pictures, "the cards differ");
    browser.screenshot(&screenshot_path("views.png"));
    press(&mut browser, "button", "Close the dock");
    browser.wait("document.querySelector('#dock').hidden && !/dock=/.test(location.hash)");
    assert_eq!(browser.evaluate("document.querySelector('#time-cursor').hidden"), true);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn axe_reports_no_violation_in_the_dock() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let _ = browser.prefer_stillness();
    browser.evaluate(&format!("{}; true", axe()));
    open_dock(&mut browser);
    for theme in ["light", "dark", "contrast"] {
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        preset(&mut browser, "Tasks");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, cards without data");
        preset(&mut browser, "Overview");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, cards");
        press(&mut browser, "button", "Options of Kiviat diagram");
        browser.wait("document.querySelector('.card-options')");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, options");
        browser.key("Escape");
        press(&mut browser, "button", "Add views");
        browser.wait("document.querySelector('#gallery').getAttribute('aria-busy') === 'false'");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, gallery");
        press(&mut browser, "button", "Done");
        press(&mut browser, "button", "Categories");
        browser.wait("document.querySelector('#categories table')?.checkVisibility()");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, categories");
        press(&mut browser, "button", "Categories");
        press(&mut browser, "tab", "Diagnosis");
        browser.wait("document.querySelector('#diagnosis h2')");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, diagnosis");
        press(&mut browser, "tab", "Views");
        browser.evaluate("document.activeElement.blur()");
        browser.key("t");
    }
}
