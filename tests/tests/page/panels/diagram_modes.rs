//! The modes of the diagram: categories, tasks, messages and the critical path in the diagram
//! itself.

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, entry, filter, open, press, read, rows, screenshot_path, show, spot, wait_for_rows,
};

use super::views::{CARDS_SETTLED, open_dock};
use crate::accessibility::{axe, faults};

/// Chooses a mode by the button above the diagram.
fn choose(browser: &mut BrowserPage, name: &str) {
    let button = browser.evaluate("document.querySelector('#diagram-mode').getAttribute('aria-label')");
    press(browser, "button", button.as_str().expect("the button has a name"));
    press(browser, "menuitemradio", name);
    browser.wait(&format!(
        "document.querySelector('#diagram-mode').getAttribute('aria-label') === 'Mode of the diagram: {name}'"
    ));
    browser.wait(SETTLED);
}

/// Waits until the legend has an entry, and none of another name.
fn wait_for_legend(browser: &mut BrowserPage, present: &str, absent: &str) {
    let has = |name: &str| {
        format!("[...document.querySelectorAll('#legend .entry .label')].some(label => label.innerText === '{name}')")
    };
    browser.wait(&format!("{} && !{}", has(present), has(absent)));
}

fn pixels(browser: &mut BrowserPage) -> serde_json::Value {
    browser.wait(SETTLED);
    browser.evaluate("document.querySelector('#chart .image').toDataURL()")
}

#[test]
fn a_mode_changes_the_diagram_itself_and_keeps_its_rows() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let (recorded, names) = (pixels(&mut browser), rows(&mut browser));
    choose(&mut browser, "By category");
    wait_for_legend(&mut browser, "busy", "working");
    assert_eq!(rows(&mut browser), names);
    assert_ne!(pixels(&mut browser), recorded);
    assert_eq!(browser.evaluate("location.hash.includes('mode=utilization-gantt')"), true);
    browser.screenshot(&screenshot_path("mode-category.png"));
    // The pointer shows the category.
    let point = spot(&mut browser, &chart, 0.75, "thread 0.1");
    browser.point(point);
    browser.wait("document.querySelector('#tooltip').innerText.includes('idle')");
    // Zoom, filters and undo.
    show(&mut browser, "0.4..0.6 s");
    wait_for_legend(&mut browser, "idle", "working");
    filter(&mut browser, "only container \"Node 1\"");
    wait_for_legend(&mut browser, "busy", "working");
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1"]);
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.wait("document.querySelectorAll('#filters li').length === 0");
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.wait("document.querySelector('#diagram-mode').getAttribute('aria-label').endsWith('As recorded')");
    wait_for_legend(&mut browser, "working", "busy");
    browser.with_key_down("Control", |browser| browser.key("y"));
    wait_for_legend(&mut browser, "busy", "working");
    // The address alone restores the mode.
    let address = browser.evaluate("location.href");
    browser.open("about:blank#away");
    browser.open(address.as_str().expect("an address"));
    browser.wait(SETTLED);
    wait_for_legend(&mut browser, "busy", "working");
    browser.evaluate(&format!("{}; true", axe()));
    assert_eq!(faults(&mut browser, "light"), serde_json::json!([]));
    choose(&mut browser, "As recorded");
    wait_for_legend(&mut browser, "working", "busy");
    browser.key("f");
    assert_eq!(pixels(&mut browser), recorded);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn messages_and_the_critical_path_are_drawn_in_the_diagram() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    choose(&mut browser, "Critical path");
    wait_for_legend(&mut browser, "critical path", "no such value");
    // The states of the trace stay below the path.
    let _ = entry(&mut browser, "working");
    browser.screenshot(&screenshot_path("mode-path.png"));
    let full_image = pixels(&mut browser);
    // The path is that of the selected time range.
    browser.key("e");
    browser.wait("document.activeElement.id !== 'selection-field' || true");
    press(&mut browser, "textbox", "Time range of the selection");
    browser.evaluate("document.querySelector('#selection-field').select()");
    browser.type_text("0..0.2 s");
    browser.key("Enter");
    browser.wait(SETTLED);
    browser.key("Escape");
    browser.wait(SETTLED);
    assert_eq!(pixels(&mut browser), full_image);
    choose(&mut browser, "Busy times and messages");
    wait_for_legend(&mut browser, "Message", "working");
    browser.screenshot(&screenshot_path("mode-messages.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_mode_without_data_says_so_and_the_palette_and_cards_switch_modes() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let button = "Mode of the diagram: As recorded";
    press(&mut browser, "button", button);
    press(&mut browser, "menuitemradio", "By task");
    browser.wait("document.querySelector('#note').innerText.includes('states of tasks')");
    assert!(read(&mut browser, "status", "Note").starts_with("By task: The view needs states of tasks"));
    browser.key(":");
    browser.type_text("diagram mode, by category");
    browser.key("Enter");
    wait_for_legend(&mut browser, "busy", "working");
    // A card of a mode is its switch.
    open_dock(&mut browser);
    press(&mut browser, "button", "Add views");
    browser.wait("document.querySelector('#gallery').getAttribute('aria-busy') === 'false'");
    browser.evaluate("document.querySelector('#gallery [data-view=critical-path]').click()");
    press(&mut browser, "button", "Done");
    browser.wait(CARDS_SETTLED);
    browser.wait("document.querySelector('[data-mode=critical-path]')?.checkVisibility()");
    press(&mut browser, "button", "Show Critical path in the diagram");
    wait_for_legend(&mut browser, "critical path", "busy");
    browser.wait("document.querySelector('[data-mode=critical-path]').getAttribute('aria-pressed') === 'true'");
    browser.screenshot(&screenshot_path("mode-card.png"));
    press(&mut browser, "button", "Show Critical path in the diagram");
    wait_for_legend(&mut browser, "working", "critical path");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn tasks_colour_the_rows_below_groups() {
    // The units are the nodes, and the threads have the states.
    let types =
        TRACE.replace("1 S T Activity", "1 S T \"Task phase\"").replace("6 L 0 T T Message", "6 L 0 N N Message");
    let text =
        types.replace("7 0.3 L 0 t00 m k1", "7 0.3 L 0 n0 m k1").replace("8 0.4 L 0 t11 m k1", "8 0.4 L 0 n1 m k1");
    let viewer = ViewProcess::of(&text);
    let (mut browser, chart) = open(&viewer);
    choose(&mut browser, "By task");
    browser.wait("document.querySelector('#legend').innerText.includes('Task')");
    let point = spot(&mut browser, &chart, 0.25, "thread 1.1");
    browser.point(point);
    browser.wait("document.querySelector('#tooltip').innerText.includes('working')");
    choose(&mut browser, "By category");
    browser.point((2.0, 2.0));
    browser.point(point);
    browser.wait("document.querySelector('#tooltip').innerText.includes('busy')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
