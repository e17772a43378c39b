//! The legend that counts, dims and hides; custom colours; filters, reductions and sort orders from
//! the menus of rows and types.

use serde_json::json;

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, chain, entry, filter, of_legend, open, press, read, show, spot, wait_for_rows,
};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

/// The colour of the image in a row, above the name of the state.
fn colour(browser: &mut BrowserPage, share: f64, row: &str) -> serde_json::Value {
    let chart = browser.find_all("application", None).remove(0);
    let (point, place) = (spot(browser, &chart, share, row), browser.place(&chart));
    browser.evaluate(&format!(
        "[...document.querySelector('#chart .image').getContext('2d').getImageData({:.0}, {:.0}, 1, 1).data].slice(0, 3)",
        point.0 - place.x,
        point.1 - place.y - 10.0
    ))
}

#[test]
fn any_colour_can_be_chosen_in_the_system_dialog() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    // Replaces the colour dialog: the variable `dialog` receives the input element.
    browser.evaluate(
        "{ const click = HTMLInputElement.prototype.click;
           HTMLInputElement.prototype.click = function () { if (this.type === 'color') window.dialog = this; else click.call(this); }; }",
    );
    of_legend(&mut browser, "blocked", "Colour…");
    press(&mut browser, "menuitem", "Another colour…");
    browser.wait("window.dialog?.isConnected");
    for (colour, event) in [("#102030", "input"), ("#405060", "input"), ("#405060", "change")] {
        browser.evaluate(&format!("dialog.value = '{colour}', dialog.dispatchEvent(new Event('{event}'))"));
    }
    browser.wait("document.querySelector('#filters').innerText.includes('color #405060 blocked of Activity')");
    browser.wait(SETTLED);
    assert_eq!(chain(&mut browser), json!(["color #405060 blocked of Activity"]));
    assert_eq!(colour(&mut browser, 0.75, "thread 0.1"), json!([0x40, 0x50, 0x60]));
    assert_eq!(browser.evaluate("document.querySelectorAll('input[type=color]').length"), 0, "the field is gone");
    // Colours that were only tried are not undone one by one.
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.wait("document.querySelector('#chain').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_legend_counts_highlights_and_hides_values() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.wait("document.querySelector('#legend .more-button')");
    let share = |browser: &mut BrowserPage, name: &str| {
        let line = entry(browser, name);
        browser.evaluate(&format!("document.elementFromPoint({}, {}).closest('.entry').innerText", line.0, line.1))
    };
    let words = |text: serde_json::Value| text.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(share(&mut browser, "working")), "working 50.0 %");
    assert_eq!(words(share(&mut browser, "Message")), "Message 1");
    show(&mut browser, "0.4..0.9 s");
    browser.wait("document.querySelector('#legend').innerText.includes('20.0 %')");
    assert_eq!(words(share(&mut browser, "working")), "working 20.0 %");
    browser.key("f");
    browser.wait(SETTLED);
    // A click dims a value, and another restores it.
    let bright = colour(&mut browser, 0.25, "thread 0.1");
    for again in [false, true] {
        let line = entry(&mut browser, "working");
        browser.click(line);
        browser.wait(&format!("location.hash.includes('dimmed=') === {}", !again));
        browser.wait(SETTLED);
        assert_eq!(colour(&mut browser, 0.25, "thread 0.1") == bright, again);
    }
    // A hidden type: its arrow no longer reacts to the pointer.
    let (from, to) = (spot(&mut browser, &chart, 0.3, "thread 0.0"), spot(&mut browser, &chart, 0.4, "thread 1.1"));
    let arrow = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    let line = entry(&mut browser, "Message");
    browser.click(line);
    browser.wait("location.hash.includes('hidden=')");
    browser.wait(SETTLED);
    browser.point(arrow);
    browser.wait("document.querySelector('#readout').innerText.length > 0");
    let readout = read(&mut browser, "status", "Under the pointer");
    assert!(!readout.contains("→"), "{readout}");
    let line = entry(&mut browser, "Message");
    browser.click(line);
    browser.wait("!location.hash.includes('hidden=')");
    browser.wait(SETTLED);
    browser.point(arrow);
    browser.wait("document.querySelector('#readout').innerText.includes('→')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_legend_lists_values_by_decreasing_share() {
    let values: String = (0..30).map(|at| format!("2 v{at} S value{at}\n")).collect();
    let states: String =
        (0..30).map(|number| format!("5 0.{:03} S t00 v{number}\n", number * (number + 1) / 2)).collect();
    let trace = TRACE.replace("3 0.0 n0 N", &format!("{values}3 0.0 n0 N")).replace("5 0.0 S t00 w\n", &states);
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    show(&mut browser, "0..435 ms");
    browser.wait("document.querySelectorAll('#legend .entry').length > 25");
    let shares = browser.evaluate("[...document.querySelectorAll('#legend .line .entry .amount')].slice(0, 30).map(one => parseFloat(one.innerText.replace('<', '')))");
    let shares: Vec<f64> = shares.as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect();
    assert!(shares.len() > 20 && shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
}

#[test]
fn the_legend_lists_all_of_a_thousand_values_on_request() {
    let values: String = (0..300).map(|at| format!("2 v{at} S value{at}\n")).collect();
    let states: String =
        (0..300).map(|number| format!("5 0.{:06} S t00 v{number}\n", number * (number + 1) / 2)).collect();
    let trace = TRACE.replace("3 0.0 n0 N", &format!("{values}3 0.0 n0 N")).replace("5 0.0 S t00 w\n", &states);
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    let listed = "document.querySelectorAll('#legend .line .entry').length";
    browser.wait(&format!("{listed} > 50"));
    let first = browser.evaluate(listed).as_u64().unwrap();
    assert!((100..110).contains(&first), "{first}");
    let text = browser.evaluate("document.querySelector('#legend .more-values').innerText");
    let text = text.as_str().unwrap().to_owned();
    let more: u64 = text.strip_suffix(" more values").unwrap().parse().unwrap();
    let flip = |browser: &mut BrowserPage, name: &str| {
        browser.evaluate("document.querySelector('#legend .more-values').scrollIntoView({ block: 'center' })");
        press(browser, "button", name);
    };
    flip(&mut browser, &text);
    browser.wait(&format!("{listed} === {}", first + more));
    flip(&mut browser, "Fewer values");
    browser.wait(&format!("{listed} === {first}"));
    // The dimmed value stays visible.
    flip(&mut browser, &text);
    browser.wait(&format!("{listed} === {}", first + more));
    browser.evaluate("[...document.querySelectorAll('#legend .line .entry')].find((one) => one.innerText.startsWith('v7\\n')).click()");
    browser.wait("document.querySelector('#legend .entry[aria-pressed=true]')?.innerText.startsWith('v7')");
    flip(&mut browser, "Fewer values");
    browser.wait(&format!("{listed} === {}", first + 1));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_type_can_be_coloured_by_duration_or_by_a_field() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "button", "Filters for Activity");
    press(&mut browser, "menuitem", "Colours by duration");
    browser.wait("document.querySelector('#legend').innerText.includes('duration ')");
    assert_eq!(chain(&mut browser), serde_json::json!(["classify Activity by duration"]));
    let legend = read(&mut browser, "tabpanel", "Legend");
    assert!(!legend.contains("blocked") && !legend.contains("no duration"), "{legend}");
    press(&mut browser, "button", "Filters for Activity");
    press(&mut browser, "menuitem", "Colours by field…");
    browser.wait("document.querySelector('#filter-field').value === 'classify Activity by '");
    browser.type_text("container");
    browser.key("Enter");
    browser.wait("document.querySelector('#legend').innerText.includes('thread 0.1')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Chooses an item of the menu of a row.
fn of_row(browser: &mut BrowserPage, row: &str, item: &str) {
    let point = browser.place_of("row", row).center();
    browser.point(point);
    press(browser, "button", &format!("More for {row}"));
    press(browser, "menuitem", item);
}

#[test]
fn the_menu_of_a_row_filters_sorts_and_copies() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.allow_clipboard(&viewer.url);
    for (item, text, visible_text) in [
        ("Filter: only Node 1", "only container Node 1", &ALL[3..]),
        ("Filter: without Node 1", "hide container Node 1", &ALL[..3]),
    ] {
        of_row(&mut browser, "Node 1", item);
        wait_for_rows(&mut browser, visible_text);
        assert_eq!(chain(&mut browser), json!([text]));
        press(&mut browser, "button", "Remove all");
        wait_for_rows(&mut browser, &ALL);
    }
    of_row(&mut browser, "Node 0", "Move down");
    let turned = ["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"];
    wait_for_rows(&mut browser, &turned);
    of_row(&mut browser, "Node 0", "Sort Node rows by name");
    browser.wait("document.querySelector('#filters').innerText.includes('sort Node by name')");
    of_row(&mut browser, "thread 0.1", "Copy name");
    browser.wait("navigator.clipboard.readText().then(text => text === 'thread 0.1')");
    of_row(&mut browser, "Node 1", "Sort Node rows by…");
    browser.wait("document.querySelector('#filter-field').value === 'sort Node by '");
    browser.key("Escape");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn rows_of_ended_threads_are_reused() {
    // One thread ends before the next begins.
    let trace = TRACE
        .replace("3 0.0 t01 T n0", "3 0.5 t01 T n0")
        .replace("5 0.0 S t01 w\n", "")
        .replace("5 0.5 S t00 b\n", "4 0.5 T t00\n");
    let trace: String = {
        // Timestamps have to increase.
        let (head, tail) = trace.split_at(trace.find("0 N 0 Node").unwrap());
        let mut lines: Vec<&str> = tail.lines().filter(|line| *line != "4 1.0 T t00").collect();
        let date = |line: &&str| match line.split(' ').collect::<Vec<_>>()[..] {
            ["3" | "4" | "5" | "7" | "8", date, ..] => (date.parse::<f64>().unwrap() * 10.0) as u32 + 1,
            _ => 0,
        };
        lines.sort_by_key(date);
        format!("{head}{}\n", lines.join("\n"))
    };
    let viewer = ViewProcess::of(&trace);
    let (mut browser, chart) = open(&viewer);
    wait_for_rows(&mut browser, &ALL);
    of_row(&mut browser, "thread 0.0", "Reuse rows of ended Threads");
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 5");
    browser.wait(SETTLED);
    assert_eq!(chain(&mut browser), json!(["reuse Thread"]));
    // Both threads are visible in one row.
    let shared = browser.evaluate("document.querySelectorAll('#tree [role=row]')[1].getAttribute('aria-label')");
    for (share, what) in [(0.25, "working"), (0.75, "blocked")] {
        let point = spot(&mut browser, &chart, share, shared.as_str().unwrap());
        browser.point(point);
        browser.wait(&format!("document.querySelector('#tooltip').innerText.includes('{what}')"));
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn states_are_counted_and_variables_added_up() {
    let defined = "%EventDef PajeDefineVariableType 90\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeSetVariable 91\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         0 N 0 Node\n90 V N Queued\n";
    let trace = TRACE.replace("0 N 0 Node\n", defined);
    let trace = trace.replace("5 0.0 S t00 w\n", "91 0.0 V n0 10\n91 0.0 V n1 32\n5 0.0 S t00 w\n");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, chart) = open(&viewer);
    of_legend(&mut browser, "working", "Count over time per…");
    browser.wait("document.querySelector('#filter-field').value === 'count working of Activity per '");
    browser.type_text("Node");
    browser.key("Enter");
    browser.wait("document.querySelector('#filters').innerText.includes('count working of Activity per Node')");
    browser.wait(SETTLED);
    // Two threads of each node work, until the middle.
    browser.wait("[...document.querySelectorAll('.row .strip-bound')].some(one => one.innerText === '2')");
    press(&mut browser, "button", "Remove all");
    for (of, value) in [("sum", "42"), ("mean", "21"), ("max", "32"), ("min", "10")] {
        filter(&mut browser, &format!("{of} of Queued per trace"));
        let strip = "document.querySelector('#filters .filter.wrong, #filters [title*=\"expected\"]')";
        assert_eq!(browser.evaluate(strip), json!(null), "{of}");
        browser.wait("document.querySelector('.row .strip-label, .row .strip-bound')");
        browser.wait(SETTLED);
        let middle = browser.evaluate(
            "(box => box.top + box.height / 2)(document.querySelector('#tree [role=row]').getBoundingClientRect())",
        );
        let chart = browser.place(&chart);
        browser.point((chart.x + chart.width * 0.6, middle.as_f64().unwrap()));
        browser.wait(&format!("/\\b{value}\\b/.test(document.querySelector('#tooltip').innerText)"));
        press(&mut browser, "button", "Remove all");
        browser.wait(SETTLED);
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
