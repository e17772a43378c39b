//! The player of the dock: stops, steps, and the line of the time cursor in the minimap.

use serde_json::json;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, press, read, screenshot_path};

use super::views::{CARDS_SETTLED, cursor, go_to, open_dock, preset};
use crate::accessibility::{axe, faults};

fn wait_for_time(browser: &mut BrowserPage, nanos: u64) {
    browser.wait(&format!("document.querySelector('#time-cursor').getAttribute('aria-valuenow') === '{nanos}'"));
}

/// Types an expression into the field “Stop at”.
fn stop_at(browser: &mut BrowserPage, text: &str) {
    browser.evaluate("{ const field = document.querySelector('#stop-field'); field.focus(); field.select(); }");
    browser.type_text(text);
    browser.evaluate("document.querySelector('#stop-field').dispatchEvent(new Event('change'))");
}

/// Focuses the cards, so that keys of the player act.
fn focus_cards(browser: &mut BrowserPage) {
    browser.evaluate("document.querySelector('#cards').focus()");
}

#[test]
fn play_stops_exactly_at_the_next_match_in_both_directions() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    browser.evaluate("{ const rate = document.querySelector('#play-rate'); rate.value = rate.options[rate.options.length - 1].value; rate.dispatchEvent(new Event('change')); }");
    go_to(&mut browser, "0.1s");
    stop_at(&mut browser, "kind:link");
    focus_cards(&mut browser);
    browser.key("l");
    wait_for_time(&mut browser, 300_000_000);
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    assert!(read(&mut browser, "status", "Note").contains('m'), "the note names the match");
    assert!(browser.evaluate("/stop=/.test(location.hash)").as_bool().unwrap());
    // The play goes on from a match.
    browser.key("l");
    browser.wait("document.querySelector('#time-cursor').getAttribute('aria-valuenow') === '1000000000'");
    browser.key("j");
    wait_for_time(&mut browser, 300_000_000);
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    // Steps go to the same places, by key and by button.
    stop_at(&mut browser, "blocked in:\"thread 1.0\"");
    focus_cards(&mut browser);
    browser.key("n");
    wait_for_time(&mut browser, 500_000_000);
    browser.key("n");
    browser.wait("document.querySelector('#note').innerText.includes('no later match')");
    stop_at(&mut browser, "working");
    press(&mut browser, "button", "Previous match");
    wait_for_time(&mut browser, 0);
    press(&mut browser, "button", "Next match");
    browser.wait("document.querySelector('#note').innerText.includes('no later match')");
    // In a loop, the play stops in the next round.
    stop_at(&mut browser, "kind:link");
    browser.evaluate("document.querySelector('#play-loop').click()");
    go_to(&mut browser, "0.8s");
    focus_cards(&mut browser);
    browser.key("l");
    wait_for_time(&mut browser, 300_000_000);
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    // The address restores the expression.
    browser.reload();
    browser.wait(SETTLED);
    browser.wait(CARDS_SETTLED);
    assert_eq!(browser.evaluate("document.querySelector('#stop-field').value"), "kind:link");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_wrong_expression_is_explained_and_does_not_play() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    browser.evaluate(&format!("{}; true", axe()));
    go_to(&mut browser, "0.1s");
    stop_at(&mut browser, "kind:cat");
    browser.wait("document.querySelector('#stop-field').getAttribute('aria-invalid') === 'true'");
    assert_eq!(
        read(&mut browser, "alert", ""),
        "`kind:cat` is unknown: write `kind:state`, `kind:event` or `kind:link`"
    );
    assert_eq!(faults(&mut browser, "light"), json!([]), "a wrong expression");
    browser.screenshot(&screenshot_path("player-error.png"));
    focus_cards(&mut browser);
    browser.key("l");
    browser.wait("document.querySelector('#play-pause').getAttribute('aria-label') === 'Play'");
    assert!((cursor(&mut browser) - 1e8).abs() < 1.0);
    stop_at(&mut browser, "nofield=3");
    browser.wait("document.querySelector('#stop-error').innerText.includes('nofield')");
    stop_at(&mut browser, "working");
    browser.wait("document.querySelector('#stop-error').hidden");
}

#[test]
fn steps_are_events_or_changes_of_state() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    go_to(&mut browser, "0.1s");
    focus_cards(&mut browser);
    for (key, nanos) in [(".", 300_000_000), (".", 400_000_000), (".", 500_000_000), (",", 400_000_000)] {
        browser.key(key);
        wait_for_time(&mut browser, nanos);
    }
    for (key, nanos) in [("<", 0), (">", 500_000_000), (">", 1_000_000_000), ("<", 500_000_000)] {
        browser.key(key);
        wait_for_time(&mut browser, nanos);
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_time_cursor_is_a_line_in_the_minimap_too() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    preset(&mut browser, "Overview");
    let line = browser.place_of("slider", "Time cursor of the views in the whole trace").center();
    let minimap = browser.place_of("slider", "Position in the trace");
    let range = browser.evaluate("document.querySelector('#time-range-field').value");
    browser.drag(line, (minimap.x + minimap.width * 0.25, line.1));
    browser.wait(CARDS_SETTLED);
    assert!((cursor(&mut browser) - 0.25e9).abs() < 0.01e9, "{}", cursor(&mut browser));
    assert_eq!(browser.evaluate("document.querySelector('#time-range-field').value"), range);
    browser.evaluate("document.querySelector('#minimap-cursor').focus()");
    browser.key("ArrowRight");
    browser.wait("Number(document.querySelector('#minimap-cursor').getAttribute('aria-valuenow')) > 254000000");
    press(&mut browser, "button", "Close the dock");
    browser.wait("document.querySelector('#minimap-cursor').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
