//! Basic use: pointing, clicking, moving through time, folding, themes, names as text.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, rows, screenshot_path, spot, time_range};
use tests::programs::tumit;

#[test]
fn a_state_under_the_pointer_has_a_tooltip() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    assert!(chart.name.contains("two-nodes") && chart.name.contains("8 states"), "{}", chart.name);
    assert_eq!(rows(&mut browser), ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);

    let point = spot(&mut browser, &chart, 0.25, "thread 0.1");
    browser.point(point);
    let tooltip = browser.find("tooltip", None);
    browser.wait("document.querySelector('#tooltip dl')");
    let text = browser.text(&tooltip);
    for word in ["working", "500.0 ms", "Node 0", "thread 0.1", "From", "To"] {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
    let readout = browser.find("status", Some("Under the pointer"));
    let line = browser.text(&readout);
    assert!(line.contains("working") && line.starts_with("25") || line.starts_with("24"), "{line}");

    browser.click(point);
    let inspector = browser.find("region", Some("Inspector"));
    browser.wait("document.querySelector('#inspector').innerText.includes('Duration')");
    let details = browser.text(&inspector);
    assert!(["working", "Duration", "500.0 ms", "Activity"].iter().all(|word| details.contains(word)), "{details}");
    browser.screenshot(&screenshot_path("page-inspector.png"));
    browser.key("Escape");
    browser.wait("document.querySelector('#inspector').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn wheel_keys_and_drags_move_through_time() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let full_range = time_range(&mut browser);
    assert_eq!(full_range.0, "0 s");
    let point = spot(&mut browser, &chart, 0.5, "thread 0.0");

    browser.wheel(point, -240.0);
    browser.wait("!document.querySelector('#time-range-field').value.startsWith('0 s')");
    browser.wait(SETTLED);
    let zoomed = time_range(&mut browser);
    assert_ne!(zoomed, full_range);

    // The wheel keeps the timestamp under the pointer, here the middle.
    let duration = browser.find("status", Some("Visible duration"));
    assert!(browser.text(&duration).contains("ms"), "less than a second");
    browser.key("ArrowRight");
    browser.wait(SETTLED);
    assert_ne!(time_range(&mut browser), zoomed);
    browser.key("f");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), full_range);

    // A drag on the ruler zooms: from 20 % to 40 %.
    let place = browser.place(&chart);
    let ruler = place.y - 10.0;
    browser.drag((place.x + place.width * 0.2, ruler), (place.x + place.width * 0.4, ruler));
    browser.wait(SETTLED);
    let zoomed = time_range(&mut browser);
    assert!(zoomed.0.starts_with("20") || zoomed.0.starts_with("19"), "{zoomed:?}");
    assert!(zoomed.1.starts_with("40") || zoomed.1.starts_with("39"), "{zoomed:?}");

    // A typed time range; Back of the browser reverts it.
    press(&mut browser, "textbox", "Visible time range");
    browser.type_text("100ms..");
    browser.key("Enter");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('100')");
    browser.wait("location.hash.includes('t=100000000-')");
    press(&mut browser, "button", "Back");
    browser.wait("!document.querySelector('#time-range-field').value.startsWith('100')");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), zoomed);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_tooltip_of_a_link_names_its_endpoints() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    // The link goes from thread 0.0 at 0.3 s to thread 1.1 at 0.4 s.
    let from = spot(&mut browser, &chart, 0.3, "thread 0.0");
    let to = spot(&mut browser, &chart, 0.4, "thread 1.1");
    browser.point((f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1)));
    let tooltip = browser.find("tooltip", None);
    browser.wait("document.querySelector('#tooltip dl')");
    let text = browser.text(&tooltip);
    let places =
        ["Message", "100.0 ms", "From", "thread 0.0, 300", "To", "thread 1.1, 400"].map(|word| text.find(word));
    assert!(places.iter().all(Option::is_some), "{text}");
    let order: Vec<_> = places[2..].to_vec();
    assert!(order.is_sorted(), "from comes before to: {text}");
    assert!(!text.contains("k1"), "a key of the file is for the inspector: {text}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_diagram_is_navigated_by_keyboard_only() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let full_range = time_range(&mut browser);
    let active = "document.activeElement.id";
    for _ in 0..40 {
        if browser.evaluate(active) == "chart" {
            break;
        }
        browser.key("Tab");
    }
    assert_eq!(browser.evaluate(active), "chart", "reached by Tab");
    assert_ne!(browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", "and it shows");
    browser.key("+");
    browser.wait(SETTLED);
    let near = time_range(&mut browser);
    assert_ne!(near, full_range);
    browser.key("ArrowRight");
    browser.wait(SETTLED);
    assert_ne!(time_range(&mut browser), near);
    browser.key("f");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), full_range);
}

#[test]
fn row_names_overlap_no_neighbouring_text() {
    let long = "A node with a name that is far too long for any column of names in the world";
    let trace = TRACE.replace("\"Node 0\"", &format!("\"{long}\"")).replace(
        "0 N 0 Node\n",
        "%EventDef PajeDefineVariableType 90\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeSetVariable 91\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         0 N 0 Node\n90 V N \"Threads that are active\"\n",
    );
    let trace = trace.replace("5 0.5 S t00 b\n", "91 0.2 V n0 -61986.5\n91 0.4 V n0 14691\n5 0.5 S t00 b\n");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    let overlaps = "[...document.querySelectorAll('.row')].flatMap(row => {
        const boxes = ['.label', '.strip-label', '.strip-bound'].map(part => [...row.querySelectorAll(part)].map(e => e.getBoundingClientRect()));
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        return boxes.flatMap((of, at) => boxes.slice(at + 1).flat().flatMap(b => of.filter(a => !apart(a, b))));
    }).length";
    assert!(browser.evaluate("document.querySelectorAll('.row .strip-bound').length").as_u64() >= Some(2));
    assert_eq!(browser.evaluate(overlaps), 0);
    let row = browser.find_all("row", None).remove(0);
    assert_eq!(row.name, long, "the whole name is there for those who ask");
    let edge = browser.find("separator", Some("Width of the names"));
    let place = browser.place(&edge);
    let before = browser.evaluate("document.querySelector('#tree').clientWidth").as_f64().unwrap();
    let middle = place.center();
    browser.drag(middle, (middle.0 - 80.0, middle.1));
    browser.wait(SETTLED);
    let after = browser.evaluate("document.querySelector('#tree').clientWidth").as_f64().unwrap();
    assert!((before - after - 80.0).abs() < 6.0, "{before} {after}");
    assert_eq!(browser.evaluate(overlaps), 0);
    browser.screenshot(&screenshot_path("page-names.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn containers_fold_and_the_view_is_in_the_address() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "row", "Node 0");
    browser.wait("document.querySelectorAll('[role=row]').length === 4");
    browser.key("ArrowRight");
    browser.wait("document.querySelectorAll('[role=row]').length === 6");
    browser.key("ArrowLeft");
    browser.wait("document.querySelectorAll('[role=row]').length === 4");
    browser.wait("location.hash.includes('toggled=')");
    let address = browser.evaluate("location.href").as_str().unwrap().to_owned();
    browser.open("about:blank#away");
    browser.open(&address);
    browser.wait(SETTLED);
    assert_eq!(browser.find_all("row", None).len(), 4, "the address remembers the fold");
    browser.screenshot(&screenshot_path("page-folded.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_theme_follows_the_system_and_can_be_switched() {
    let viewer = ViewProcess::start();
    let mut browser = BrowserPage::start(1280, 720);
    if !browser.prefer("dark") {
        return;
    }
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    let background = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.evaluate(background), "rgb(14, 17, 22)");
    browser.screenshot(&screenshot_path("page-dark.png"));
    press(&mut browser, "button", "Theme");
    press(&mut browser, "menuitemradio", "Light");
    browser.wait(&format!("{background} === 'rgb(255, 255, 255)'"));
    browser.wait(SETTLED);
    browser.screenshot(&screenshot_path("page-light.png"));
    browser.key("t");
    browser.key("t");
    browser.wait(&format!("{background} === 'rgb(0, 0, 0)'"));
    browser.wait(SETTLED);
    browser.screenshot(&screenshot_path("page-contrast.png"));
    let chosen = browser.evaluate("document.documentElement.dataset.theme");
    assert_eq!(chosen, "contrast");
    browser.key("?");
    let sheet = browser.find("dialog", Some("Keys and gestures"));
    assert!(browser.text(&sheet).contains("zoom at the pointer"));
    browser.screenshot(&screenshot_path("page-help.png"));
}

#[test]
fn names_are_text_and_the_end_of_the_server_is_reported() {
    let viewer = ViewProcess::start();
    let hostile = viewer.folder.path().join("hostile.paje");
    std::fs::write(&hostile, TRACE.replace("\"thread 0.0\"", "\"<img src=x onerror=boom()>\"")).unwrap();
    let mut process =
        tumit().args(["view", "--no-open"]).arg(&hostile).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    // The pipe stays open to the end, because a viewer that cannot write ends.
    let mut printed = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    let url = printed.find(|line| line.contains("http://"));
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(url.unwrap().trim());
    browser.wait(SETTLED);
    browser.find("row", Some("<img src=x onerror=boom()>"));
    assert_eq!(browser.evaluate("document.images.length"), 0);
    process.kill().unwrap();
    process.wait().unwrap();
    browser.key("+");
    let trouble = browser.find("alert", None);
    browser.wait("document.querySelector('#error-box').innerText.includes('does not answer')");
    assert!(browser.text(&trouble).contains("Try again"));
    assert!(!rows(&mut browser).is_empty(), "what was drawn stays");
    browser.screenshot(&screenshot_path("page-ended.png"));
}
