//! Results that are counted one by one: long lists of hits, lines of a source, charts with their
//! progress.

use serde_json::json;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, press, read};

const MANY: usize = 1_300;

/// A thread that works 1,300 times and sends a message each time. The working states, the idle
/// states and the messages each come from one line of `solve.c`.
fn many() -> String {
    let head = include_str!("../../../../viewer/tests/header.paje");
    let mut text = String::new();
    for part in head.split_inclusive("%EndEventDef\n") {
        let sourced = ["PajeSetState", "PajeStartLink"].iter().any(|name| part.contains(&format!("{name} ")));
        let fields = if sourced { "% File string\n% Line int\n%EndEventDef\n" } else { "%EndEventDef\n" };
        text.push_str(&part.replace("%EndEventDef\n", fields));
    }
    text.push_str("0 T 0 Thread\n2 S T Activity\n4 M 0 T T Message\n");
    text.push_str("5 w S working \"0 0.6 0\"\n5 i S idle \"0.6 0.6 0.6\"\n");
    text.push_str("6 0 t 0 T \"the thread\"\n6 0 u 0 T \"another\"\n");
    for number in 0..MANY {
        let date = |part: usize| format!("{}.{:03}", (10 * number + part) / 1000, (10 * number + part) % 1000);
        text.push_str(&format!("11 {} t S w \"solve.c\" 7\n15 {0} 0 M t note k{number} \"solve.c\" 9\n", date(0)));
        text.push_str(&format!("16 {} 0 M u note k{number}\n11 {0} t S i \"solve.c\" 8\n", date(4)));
    }
    text + "7 13 T t\n7 13 T u\n"
}

fn find(browser: &mut BrowserPage, expression: &str) {
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.evaluate("document.querySelector('#find-field').select()");
    browser.type_text(expression);
    browser.key("Enter");
}

fn wait_for_status(browser: &mut BrowserPage, text: &str) {
    browser.wait(&format!("document.querySelector('#find-status').innerText.replace(/\\u202f/g, ' ') === '{text}'"));
}

fn place(browser: &mut BrowserPage, text: &str) {
    browser.wait(&format!("document.querySelector('#find-position').innerText.replace(/\\u202f/g, ' ') === '{text}'"));
}

/// Checks the begin of the chosen entity in the inspector.
fn wait_for_inspector(browser: &mut BrowserPage, text: &str) {
    browser.wait(&format!(
        "document.querySelector('#inspector').innerText.replace(/[\\s\\u202f]+/g, ' ').includes('{text}')"
    ));
}

#[test]
fn search_hits_are_counted_listed_and_visited_in_turn() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    find(&mut browser, "working");
    wait_for_status(&mut browser, "1 300 found");
    assert_eq!(browser.evaluate("document.querySelectorAll('#hits li').length"), 500);
    // The hit before the first is the last one.
    browser.with_key_down("Shift", |browser| browser.key("Enter"));
    place(&mut browser, "1 300 of 1 300");
    wait_for_inspector(&mut browser, "12.99");
    // It is visible in the list, although the inspector takes some of the space.
    browser.wait(
        "(() => { const [list, hit] = ['#hits', '#hits [aria-current=true]'].map((one) => document.querySelector(one).getBoundingClientRect());
            return hit.bottom <= list.bottom + 1 && hit.top >= list.top - 1; })()",
    );
    browser.key("Enter");
    place(&mut browser, "1 of 1 300");
    browser.with_key_down("Shift", |browser| browser.key("Enter"));
    place(&mut browser, "1 300 of 1 300");
    browser.with_key_down("Shift", |browser| browser.key("Enter"));
    place(&mut browser, "1 299 of 1 300");
    browser.key("Enter");
    browser.key("Enter");
    place(&mut browser, "1 of 1 300");
    // Across the end of a page, forward and back.
    browser.evaluate("document.querySelectorAll('#hits button')[499].focus()");
    browser.key("Enter");
    place(&mut browser, "500 of 1 300");
    press(&mut browser, "button", "Next hit");
    place(&mut browser, "501 of 1 300");
    wait_for_inspector(&mut browser, "5.000");
    press(&mut browser, "button", "Next hit");
    place(&mut browser, "502 of 1 300");
    press(&mut browser, "button", "Previous hit");
    place(&mut browser, "501 of 1 300");
    // A closed search leaves nothing on the page.
    browser.evaluate("document.querySelector('#find-field').focus()");
    browser.key("Escape");
    place(&mut browser, "");
    wait_for_status(&mut browser, "");
    assert_eq!(browser.evaluate("document.querySelectorAll('#hits li').length"), 0);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_list_of_hits_does_not_change_while_a_key_is_down() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    find(&mut browser, "working");
    wait_for_status(&mut browser, "1 300 found");
    // The end of the list becomes visible, so that the list grows. A refill would replace the
    // button that is held down.
    browser.evaluate("document.querySelectorAll('#hits button')[498].focus({ preventScroll: true })");
    browser.with_key_down(" ", |browser| {
        browser.evaluate(
            "new Promise((done) => { document.querySelector('#hits').scrollTop = 1e6; window.setTimeout(done, 1000); })",
        );
    });
    place(&mut browser, "499 of 1 300");
    browser.wait("document.querySelectorAll('#hits li').length === 1000");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_list_of_hits_loads_more_at_its_end() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    find(&mut browser, "working");
    wait_for_status(&mut browser, "1 300 found");
    let point = browser.place_of("list", "Hits").center();
    for wanted in [1_000, 1_300] {
        // Scrolls to the end.
        browser.wheel(point, 200_000.0);
        browser.wait(&format!("document.querySelectorAll('#hits li').length === {wanted}"));
    }
    browser.wheel(point, 200_000.0);
    browser.wait("document.querySelector('#hits').scrollTop > 20000");
    let dates = browser.evaluate("[...document.querySelectorAll('#hits .location')].map((one) => parseFloat(one.innerText.replace(/\\u202f/g, '')))");
    let dates: Vec<f64> = dates.as_array().unwrap().iter().map(|date| date.as_f64().unwrap()).collect();
    assert_eq!(dates.len(), MANY);
    // A click visits the last hit.
    browser.evaluate("document.querySelector('#hits li:last-child').scrollIntoView()");
    let last = browser.evaluate("(() => { const box = document.querySelector('#hits li:last-child button').getBoundingClientRect(); return [box.x + 20, box.y + 6]; })()");
    browser.click((last[0].as_f64().unwrap(), last[1].as_f64().unwrap()));
    place(&mut browser, "1 300 of 1 300");
    // From the end the list grows upwards.
    find(&mut browser, "idle");
    wait_for_status(&mut browser, "1 300 found");
    press(&mut browser, "button", "Previous hit");
    place(&mut browser, "1 300 of 1 300");
    let point = browser.place_of("list", "Hits").center();
    browser.wheel(point, -200_000.0);
    browser.wait("document.querySelectorAll('#hits li').length >= 1000");
    place(&mut browser, "1 300 of 1 300");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Splits the answer to a request into two parts: the partial answer, then the full one after a
/// call of `letGo`.
fn in_parts(browser: &mut BrowserPage, route: &str, part: &str) {
    browser.evaluate(&format!(
        "{{ const ask = window.fetch;
           window.fetch = async (url, more) => {{
             const response = await ask(url, more);
             if (!String(url).includes('api/{route}?')) return response;
             const whole = await response.json();
             const part = ({part})(structuredClone(whole));
             const gate = new Promise((open) => {{ window.letGo = open; }});
             const body = new ReadableStream({{ async start(out) {{
               const line = (value) => out.enqueue(new TextEncoder().encode(JSON.stringify(value) + '\\n'));
               line({{ ...part, done: 0.34 }});
               await gate;
               line(whole);
               out.close();
             }} }});
             return new Response(body, {{ headers: {{ 'Content-Type': 'application/x-ndjson' }} }});
           }}; }}"
    ));
}

#[test]
fn partial_counts_are_shown_and_marked_as_partial() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    in_parts(
        &mut browser,
        "histogram",
        "(all) => ({ classes: all.classes.map((one) => ({ ...one, count: 1 })), total: 2 })",
    );
    press(&mut browser, "radio", "Durations");
    browser.wait("document.querySelector('#times .counting')?.innerText === 'counting… 34.0 %'");
    browser.find("progressbar", Some("Counted so far"));
    assert!(read(&mut browser, "tabpanel", "Statistics").contains("2 so far"));
    // An incomplete count cannot be saved.
    assert_eq!(
        browser.evaluate(
            "[...document.querySelectorAll('#times .statistics-settings button')].map((one) => one.disabled)"
        ),
        json!([true, true])
    );
    browser.evaluate("window.letGo()");
    browser.wait("!document.querySelector('#times .counting')");
    let statistics = read(&mut browser, "tabpanel", "Statistics").replace('\u{202f}', " ");
    assert!(statistics.contains("2 600") && !statistics.contains("so far"), "{statistics}");
    assert_eq!(
        browser.evaluate(
            "[...document.querySelectorAll('#times .statistics-settings button')].map((one) => one.disabled)"
        ),
        json!([false, false])
    );
    // The search shows its progress, too, and its hits can be visited at once.
    in_parts(&mut browser, "find", "(all) => ({ ...all, total: 700 })");
    find(&mut browser, "working");
    wait_for_status(&mut browser, "counting… 700 found, 34.0 %");
    browser.key("Enter");
    place(&mut browser, "1 of …");
    browser.evaluate("window.letGo()");
    wait_for_status(&mut browser, "1 300 found");
    place(&mut browser, "1 of 1 300");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_pressed_hit_is_visited_although_the_list_is_reloaded() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    in_parts(&mut browser, "find", "(all) => ({ ...all, hits: all.hits.slice(0, 5), total: 5 })");
    find(&mut browser, "working");
    wait_for_status(&mut browser, "counting… 5 found, 34.0 %");
    browser.evaluate("document.querySelectorAll('#hits button')[2].focus()");
    browser.with_key_down(" ", |browser| {
        browser.evaluate("window.letGo()");
        wait_for_status(browser, "1 300 found");
    });
    place(&mut browser, "3 of 1 300");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_source_line_leads_to_all_its_entities() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    find(&mut browser, "at:solve.c:7");
    wait_for_status(&mut browser, "1 300 found");
    browser.key("Enter");
    wait_for_inspector(&mut browser, "solve.c:7");
    browser.evaluate("document.activeElement.blur()");
    browser.key("s");
    // The hit has zoomed in: shows the whole trace again.
    browser.key("Home");
    browser.wait(SETTLED);
    browser.evaluate(
        "import(new URL('state/viewport.js', location.href)).then(({ show }) => { show(0, 13e9, true); return true; })",
    );
    browser.wait(SETTLED);
    browser.key("s");
    browser.wait("document.querySelector('#source')?.innerText.includes('1\\u202f300')");
    let lines = browser.evaluate("[...document.querySelectorAll('#source .count[aria-label]')].map((one) => one.ariaLabel.replace(/\\u202f/g, ' '))");
    assert_eq!(
        lines,
        json!([
            "Highlight 1 300 of line 7, 5.200 s",
            "Highlight 1 300 of line 8, 7.800 s",
            "Highlight 1 300 of line 9, 5.200 s"
        ])
    );
    // Beyond the entities that the answer lists with the lines. The loop is in the page, because a
    // request to the browser for each of 202 clicks takes longer than the rest of this test.
    browser.evaluate(
        "(async () => {
            for (let number = 1; number <= 202; number++) {
                document.querySelector('#source .count[aria-label*=\"of line 9\"]').click();
                while (!document.querySelector('#note').innerText.startsWith(`${number} of 1\u{202f}300 of line 9`))
                    await new Promise(requestAnimationFrame);
            }
            return true;
        })()",
    );
    browser.wait("document.querySelector('#note').innerText.startsWith('202 of 1\\u202f300 of line 9')");
    wait_for_inspector(&mut browser, "note");
    wait_for_inspector(&mut browser, "the thread, 2.010000 s");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn charts_have_axes_and_titles() {
    let viewer = ViewProcess::of(&many());
    let (mut browser, _) = open(&viewer);
    let texts = "[...document.querySelectorAll('#times .plot text')].map((one) => one.firstChild.data)";
    browser.key("2");
    press(&mut browser, "radio", "Durations");
    browser.wait("document.querySelector('#times[data-form=durations] .plot rect')");
    let labels = browser.evaluate(texts);
    for wanted in ["5 ms", "40 %"] {
        assert!(labels.as_array().unwrap().contains(&json!(wanted)), "{wanted}: {labels}");
    }
    press(&mut browser, "radio", "Over time");
    browser.wait("document.querySelector('#times[data-form=curves] .plot path')");
    let labels = browser.evaluate(texts);
    assert!(labels.as_array().unwrap().contains(&json!("50 %")) && labels.to_string().contains(" s\""), "{labels}");
    let key = browser.evaluate("document.querySelector('#times .color-key').innerText.replace(/\\s+/g, ' ')");
    assert!(key.as_str().unwrap().starts_with("idle 60.0 % working 40.0 %"), "{key}");
    press(&mut browser, "radio", "Matrix");
    browser.wait("document.querySelector('#times[data-form=matrix] .plot rect')");
    // Names of rows and columns, with the full name at the pointer.
    let names = browser.evaluate("[...document.querySelectorAll('#times .plot text')].map((one) => [one.firstChild.data, one.querySelector('title').textContent])");
    assert_eq!(
        names,
        json!([
            ["another", "another"],
            ["another", "another"],
            ["the thread", "the thread"],
            ["the thread", "the thread"]
        ])
    );
    // Browsers differ in the role of the element that opens a table.
    let point = browser.evaluate("(box => [box.left + 12, box.top + box.height / 2])([...document.querySelectorAll('summary')].find(one => one.checkVisibility() && one.innerText === 'As a table').getBoundingClientRect())");
    browser.click((point[0].as_f64().unwrap(), point[1].as_f64().unwrap()));
    let table = read(&mut browser, "table", "Pairs of Message");
    assert!(table.contains("From") && table.contains("the thread") && table.contains("100.0 %"), "{table}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_source_is_a_field_and_an_entity_without_one_is_reported() {
    let viewer = ViewProcess::of(&crate::panels::source_view::with_sources());
    let (mut browser, _) = open(&viewer);
    for (what, many) in [
        ("file~solve", "8 found"),
        ("line=5", "4 found"),
        ("container=\"thread 0.1\"", "2 found"),
        ("File=../src/solve.c line=3 value=working", "4 found"),
    ] {
        find(&mut browser, what);
        wait_for_status(&mut browser, many);
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    find(&mut browser, "sise=3");
    browser.wait("document.querySelector('#find-status').innerText.includes('no field of these types is called')");
}

#[test]
fn shares_above_100_percent_of_nested_states_are_explained() {
    let head = include_str!("../../../../viewer/tests/header.paje");
    let nested = "0 T 0 Thread\n2 S T Activity\n5 o S outer \"0 0.6 0\"\n5 i S inner \"0.6 0 0\"\n6 0 t 0 T t\n12 0 t S o\n12 4 t S i\n13 9 t S\n7 10 T t\n";
    let viewer = ViewProcess::of(&format!("{head}{nested}"));
    let (mut browser, _) = open(&viewer);
    let explanation = "Nested states count at each depth: 150.0 % in all.";
    let is_one_line = "['#times thead th:not(:first-child)', '#times tbody tr:first-child td:not(.bar-cell)'].every((cells) => new Set([...document.querySelectorAll(cells)].map((cell) => Math.round(cell.getBoundingClientRect().top))).size === 1)";
    browser.wait(&format!("document.querySelector('#legend').innerText.includes({explanation:?})"));
    browser.key("2");
    for form in ["Table", "Pie", "Columns"] {
        press(&mut browser, "radio", form);
        browser.wait(&format!("document.querySelector('#times').dataset.form === '{}'", form.to_lowercase()));
        browser.wait(&format!("document.querySelector('#times').innerText.includes({explanation:?})"));
        if form == "Table" {
            let heads =
                browser.evaluate("[...document.querySelectorAll('#times thead th')].map((head) => head.innerText)");
            assert_eq!(heads.as_array().unwrap().len(), 7, "{heads}");
            assert_eq!(browser.evaluate(is_one_line), json!(true), "{heads}");
        }
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
