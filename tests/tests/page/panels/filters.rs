//! Filters: typed with completion, switched, moved, removed, undone; made from rows and legend;
//! remembered for the next run.

use serde_json::json;
use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, chain, entry, filter, of_legend, open, press, read, spot, wait_for_rows,
};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

fn press_with_control(browser: &mut BrowserPage, row: &str) {
    let point = browser.place_of("row", row).center();
    browser.with_key_down("Control", |browser| browser.click(point));
}

#[test]
fn a_filter_is_completed_while_typed_and_its_mistakes_are_shown() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "button", "Add a filter");
    browser.wait("document.querySelector('#filter-completions').innerText.includes('bright')");
    browser.type_text("hide cont");
    browser.wait("document.querySelector('#filter-completions').innerText.trim() === 'container'");
    browser.key("Tab");
    browser.wait("document.querySelector('#filter-field').value === 'hide container '");
    browser.type_text("node 2");
    browser.key("Enter");
    browser.wait("document.querySelector('#filter-error').innerText.includes('no container is called `node 2`')");
    assert_eq!(browser.evaluate("document.querySelector('#filter-error mark').innerText"), "node 2");
    browser.evaluate("document.querySelector('#filter-field').select()");
    browser.type_text("hide container Node 0");
    browser.key("Enter");
    wait_for_rows(&mut browser, &ALL[3..]);
    assert_eq!(chain(&mut browser), json!(["hide container Node 0"]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_filter_chain_is_edited_undone_and_kept_in_the_address() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    filter(&mut browser, "hide container thread 0.0");
    filter(&mut browser, "sort Node by name descending");
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.1"]);
    press(&mut browser, "switch", "Filter 1 is active: hide container thread 0.0");
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"]);
    let address = browser.evaluate("location.href").as_str().unwrap().to_owned();
    browser.with_key_down("Control", |browser| browser.key("z"));
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.1"]);
    browser.with_key_down("Control", |browser| browser.key("y"));
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"]);
    press(&mut browser, "button", "Remove filter 2: sort Node by name descending");
    wait_for_rows(&mut browser, &ALL);
    // A click edits; a disabled filter acts again afterwards.
    press(&mut browser, "button", "Edit filter 1: hide container thread 0.0");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.evaluate("document.activeElement.select()");
    browser.type_text("only container Node 1");
    browser.key("Enter");
    wait_for_rows(&mut browser, &ALL[3..]);
    filter(&mut browser, "hide container thread 1.0");
    let from = browser.place_of("button", "Edit filter 2: hide container thread 1.0").center();
    let to = browser.place_of("button", "Edit filter 1: only container Node 1").center();
    browser.drag(from, to);
    browser.wait("document.querySelector('.filter-text').innerText.startsWith('hide')");
    assert_eq!(chain(&mut browser), json!(["hide container thread 1.0", "only container Node 1"]));
    // The address contains the chain with its disabled filters.
    browser.open("about:blank#away");
    browser.open(&address);
    wait_for_rows(&mut browser, &["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"]);
    assert_eq!(browser.evaluate("document.querySelectorAll('.filter.off').length"), 1);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn selected_rows_are_grouped_and_ungrouped() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for row in ["thread 0.0", "thread 0.1"] {
        press_with_control(&mut browser, row);
    }
    assert_eq!(read(&mut browser, "status", "Note"), "2 rows selected: G groups them");
    browser.key("G");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0 + thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    assert_eq!(chain(&mut browser), json!(["group thread 0.0, thread 0.1 into thread 0.0 + thread 0.1"]));
    browser.evaluate("document.querySelector('[role=row][aria-label=\"thread 0.0 + thread 0.1\"]').focus()");
    browser.key("G");
    wait_for_rows(&mut browser, &ALL);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_legend_filters_and_colours_persist_for_the_next_run() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.wait("document.querySelector('#legend .more-button')");
    of_legend(&mut browser, "blocked", "Without blocked");
    browser.wait("document.querySelector('#filters')?.innerText.includes('hide value blocked of Activity')");
    browser.wait(SETTLED);
    browser.wait("!document.querySelector('#legend').innerText.includes('blocked')");
    press(&mut browser, "button", "Remove all");
    browser.wait("document.querySelector('#legend').innerText.includes('blocked')");
    of_legend(&mut browser, "working", "working bright, all others grey");
    browser.wait("document.querySelector('#filters')?.innerText.includes('bright working of Activity')");
    let styles = viewer.folder.path().join("cache/tumit/styles");
    let saved = || {
        std::fs::read_dir(&styles)
            .into_iter()
            .flatten()
            .flatten()
            .find_map(|entry| std::fs::read_to_string(entry.path()).ok())
    };
    let started = std::time::Instant::now();
    while !saved().is_some_and(|text| text.contains("bright working of Activity")) {
        assert!(started.elapsed().as_secs() < 60, "the style is not saved: {:?}", saved());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(browser);
    // Another run of the program: other timestamps, the same types.
    let second_viewer = ViewProcess::same_user_as(&viewer, &TRACE.replace("4 1.0", "4 1.5"));
    let (mut browser, _) = open(&second_viewer);
    assert_eq!(chain(&mut browser), json!(["bright working of Activity"]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The colour of the image at a point of the page.
fn colour(browser: &mut BrowserPage, chart: &tests::browser::PageElement, point: (f64, f64)) -> serde_json::Value {
    let place = browser.place(chart);
    browser.evaluate(&format!(
        "[...document.querySelector('#chart .image').getContext('2d').getImageData({:.0}, {:.0}, 1, 1).data].slice(0, 3)",
        point.0 - place.x,
        point.1 - place.y
    ))
}

#[test]
fn a_value_gets_a_colour_of_the_menu_or_of_another_value() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.wait("document.querySelector('#legend .more-button')");
    of_legend(&mut browser, "blocked", "Colour…");
    let menu = read(&mut browser, "menu", "Colour of blocked");
    assert!(menu.contains("Vermilion") && menu.contains("Another colour…"), "{menu}");
    press(&mut browser, "menuitem", "Vermilion");
    browser.wait("document.querySelector('#filters').innerText.includes('color #d55e00 blocked of Activity')");
    browser.wait(SETTLED);
    // A point above the name in the state.
    let row = spot(&mut browser, &chart, 0.75, "thread 0.1");
    let vermilion = json!([0xd5, 0x5e, 0x00]);
    assert_eq!(colour(&mut browser, &chart, (row.0, row.1 - 10.0)), vermilion);
    // Another colour replaces it in the chain.
    of_legend(&mut browser, "blocked", "Colour…");
    press(&mut browser, "menuitem", "Green");
    browser.wait("document.querySelector('#filters').innerText.includes('color #009e73 blocked of Activity')");
    assert_eq!(chain(&mut browser), json!(["color #009e73 blocked of Activity"]));
    browser.wait("document.querySelector('#legend .line [data-key] .chip[style*=\"0, 158, 115\"]')");
    // A drag copies the colour of one value to another.
    let (from, to) = (chip(&mut browser, "blocked"), chip(&mut browser, "working"));
    browser.drag(from, to);
    browser.wait("document.querySelector('#filters').innerText.includes('color #009e73 working of Activity')");
    browser.wait(SETTLED);
    let row = spot(&mut browser, &chart, 0.25, "thread 0.1");
    assert_eq!(colour(&mut browser, &chart, (row.0, row.1 - 10.0)), json!([0, 158, 115]));
    assert_eq!(
        browser.evaluate("document.querySelector('#legend [aria-pressed=true]')"),
        json!(null),
        "no value is dimmed by it"
    );
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.wait("!document.querySelector('#filters').innerText.includes('working')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_variable_is_drawn_as_a_curve_or_a_gradient() {
    let defined = "%EventDef PajeDefineVariableType 90\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeSetVariable 91\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         0 N 0 Node\n90 V N Queued\n";
    let trace = TRACE.replace("0 N 0 Node\n", defined);
    let trace = trace.replace("5 0.5 S t00 b\n", "91 0.1 V n0 10\n91 0.5 V n0 90\n5 0.5 S t00 b\n");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    browser.wait("document.querySelector('#legend .more-button')");
    let choose = |browser: &mut BrowserPage, item: &str| of_legend(browser, "Queued", item);
    let shades = |browser: &mut BrowserPage, share: f64| -> Vec<serde_json::Value> {
        let chart = browser.find_all("application", None).remove(0);
        let (x, y) = spot(browser, &chart, share, "Node 0");
        [-4.0, 0.0, 4.0].map(|above| colour(browser, &chart, (x, y + above))).to_vec()
    };
    let curve = shades(&mut browser, 0.8);
    assert_ne!(curve[0], json!([0, 0, 0]), "the area below 90 is filled");
    choose(&mut browser, "As a gradient");
    browser.wait("location.hash.includes('gradients=')");
    for again in [false, true] {
        if again {
            browser.reload();
        }
        browser.wait(SETTLED);
        let (low, high) = (shades(&mut browser, 0.3), shades(&mut browser, 0.8));
        assert!(
            low.iter().all(|colour| *colour == low[0]) && high.iter().all(|colour| *colour == high[0]),
            "{low:?} {high:?}"
        );
        let light = |color: &serde_json::Value| (0..3).map(|number| color[number].as_u64().unwrap()).sum::<u64>();
        assert!(light(&low[0]) > light(&high[0]) + 60, "the larger, the stronger: {low:?} {high:?}");
        browser.wait("document.querySelector('#legend .more-button')");
    }
    let chart = browser.find_all("application", None).remove(0);
    let point = spot(&mut browser, &chart, 0.8, "Node 0");
    browser.point(point);
    browser.wait("/^Queued\\s+Node 0\\s+Value\\s+90\\s*$/.test(document.querySelector('#tooltip').innerText)");
    choose(&mut browser, "As a curve");
    browser.wait("!location.hash.includes('gradients=')");
    browser.wait(SETTLED);
    assert_eq!(shades(&mut browser, 0.8), curve);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The position of a value's colour in the legend.
fn chip(browser: &mut BrowserPage, value: &str) -> (f64, f64) {
    let line = entry(browser, value);
    let left =
        browser.evaluate("document.querySelector('#legend .chip').getBoundingClientRect().left").as_f64().unwrap();
    (left + 6.0, line.1)
}

#[test]
fn the_page_has_the_filters_of_the_command_line_as_text() {
    let name = "<img src=x onerror=alert(1)> مرحبا 🚀";
    let trace = TRACE.replace("thread 0.0", name);
    let hidden = format!("hide container \"{name}\"");
    let viewer = ViewProcess::with(&[&trace], &["--filter", &hidden]);
    let (mut browser, _) = open(&viewer);
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    assert_eq!(chain(&mut browser), json!([hidden]));
    press(&mut browser, "button", "Remove all");
    wait_for_rows(&mut browser, &["Node 0", name, "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Waits half a minute at most.
fn until(name: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("half a minute, and still not: {name}");
}

/// Another browser has no memory of the trace, but its filters are stored next to it.
#[test]
fn filters_of_the_previous_session_are_offered() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    filter(&mut browser, "only container Node 1");
    wait_for_rows(&mut browser, &ALL[3..]);
    let file = viewer.folder.path().join("two-nodes.paje.tumit-view");
    let is_saved = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("only container Node 1"));
    until("the filter lies beside the trace", is_saved);

    let again = ViewProcess::other_user_as(&viewer);
    let (mut second_browser, _) = open(&again);
    wait_for_rows(&mut second_browser, &ALL);
    press(&mut second_browser, "button", "Restore the last filter");
    wait_for_rows(&mut second_browser, &ALL[3..]);
    press(&mut second_browser, "button", "Remove all");
    wait_for_rows(&mut second_browser, &ALL);
    until("the file with filters is gone", || !file.exists());
    assert!(second_browser.complaints().is_empty(), "{:?}", second_browser.complaints());
}
