//! Comparison of rows and traces: a pie for each row, and the differences between two traces.

use tests::browser::BrowserPage;
use tests::page::{TRACE, ViewProcess, open, press, read, saved_text, watch_files};

#[test]
fn each_row_has_a_pie_chart_and_a_table_row() {
    let viewer = ViewProcess::of(&TRACE.replace("5 0.5 S t01 b", "5 0.25 S t01 b"));
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    press(&mut browser, "radio", "Pie");
    press(&mut browser, "checkbox", "each row");
    browser.wait("document.querySelectorAll('#times .per-row li').length === 6");
    for name in [
        "thread 0.0: working 50.0 %, blocked 50.0 %",
        "thread 0.1: working 25.0 %, blocked 75.0 %",
        "Node 0: working 37.5 %, blocked 62.5 %",
    ] {
        let shown_text = browser.evaluate("[...document.querySelectorAll('#times .per-row button')].map(one => one.ariaLabel.replaceAll('\\u202f', ' ')).join('\\n')");
        assert!(shown_text.as_str().unwrap().contains(name), "{shown_text}");
    }
    assert!(
        browser.find_all("button", None).iter().any(|element| element.name.starts_with("thread 0.1: working 25.0"))
    );
    // The same as a table, opened by keys.
    browser.evaluate("document.querySelector('#times summary').focus()");
    browser.key("Enter");
    let table = read(&mut browser, "table", "Activity of each row").replace('\u{202f}', " ");
    assert!(table.contains("thread 0.1") && table.contains("25.0 %"), "{table}");
    press(&mut browser, "checkbox", "percent");
    browser.wait("document.querySelector('#times .per-row').innerText && document.querySelector('#times .per-row button').ariaLabel.includes('s')");
    let table = read(&mut browser, "table", "Activity of each row").replace('\u{202f}', " ");
    assert!(table.contains("250 ms") || table.contains("250.0 ms") || table.contains("0.250 s"), "{table}");
    // Only the selected rows; the same as columns; a pie leads to its row.
    let point = browser.place_of("row", "thread 0.1").center();
    browser.with_key_down("Control", |browser| browser.click(point));
    browser.wait("document.querySelectorAll('#times .per-row li').length === 1");
    press(&mut browser, "radio", "Columns");
    browser.wait("document.querySelectorAll('#times[data-form=columns] .per-row rect').length === 2");
    browser.wait("/form=columns/.test(location.hash) && /each=1/.test(location.hash)");
    watch_files(&mut browser);
    press(&mut browser, "button", "Save statistics as CSV");
    let csv = saved_text(&mut browser);
    assert!(
        csv.starts_with("type,row,value,nanoseconds,share,self_ns,self_share\n")
            && csv.contains("Activity,thread 0.1,working,250000000,0.25,250000000,0.25\n"),
        "{csv}"
    );
    let pie = browser.evaluate("(({ left, top }) => `${left + 20} ${top + 20}`)(document.querySelector('#times .per-row button').getBoundingClientRect())");
    let (x, y) = pie.as_str().unwrap().split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
    browser.click((x, y));
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'thread 0.1'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn types_with_equal_names_are_compared_separately() {
    let trace = TRACE
        .replace("2 w S working", "1 Q N Activity\n2 u Q working \"0.17 0.5 0.4\"\n2 w S working")
        .replace("5 0.0 S t00 w\n", "5 0.0 Q n0 u\n5 0.0 S t00 w\n");
    let viewer = ViewProcess::with(&[&trace, TRACE], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')");
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#differences-table tbody')");
    let names = "[...document.querySelectorAll('#differences-table div:first-of-type tbody th')].map(one => [...one.querySelectorAll('span:not(.chip), small')].map(part => part.innerText).join(' of ')).sort()";
    let wanted =
        ["blocked of Node › Thread › Activity", "working of Node › Activity", "working of Node › Thread › Activity"];
    assert_eq!(browser.evaluate(names), serde_json::json!(wanted));
    let table = read(&mut browser, "table", "Differences of time in states").replace(['\u{202f}', '\t', '\n'], " ");
    assert!(table.contains("removed"), "the second has none of the node's: {table}");
}

#[test]
fn a_long_comparison_shows_its_progress() {
    let viewer = ViewProcess::with(&[TRACE, TRACE], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')");
    // Simulates a server that counts for a long time: the answer comes in two lines, the second on
    // request.
    browser.evaluate(
        "{ const plain = window.fetch;
           window.fetch = async (url, init) => {
             const answer = await plain(url, init);
             if (!String(url).startsWith('api/totals')) return answer;
             const text = await answer.text();
             const lines = new ReadableStream({ start(to) {
               const write = (line) => to.enqueue(new TextEncoder().encode(line + '\\n'));
               write(JSON.stringify({ rows: [], done: 0.25 }));
               (window.held ??= []).push(() => { write(text.trim()); to.close(); });
             } });
             return new Response(lines, { headers: { 'Content-Type': 'application/x-ndjson' } });
           }; }",
    );
    press(&mut browser, "button", "Differences");
    browser
        .wait("document.querySelector('#differences-table [role=status]')?.innerText.replace(/\\s/g, ' ') === 'counting… 25.0 %'");
    assert_eq!(browser.evaluate("document.querySelector('#differences-table table')"), serde_json::Value::Null);
    browser.wait("window.held.length === 2");
    browser.evaluate("{ window.held.forEach(go => go()); }");
    browser.wait("document.querySelector('#differences-table tbody') && !document.querySelector('#differences-table [role=status]')");
    assert!(read(&mut browser, "table", "Differences of links").contains("Message"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn panes_and_their_page_have_the_same_theme() {
    let viewer = ViewProcess::with(&[TRACE, TRACE], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    let is_supported = browser.prefer("light");
    browser.open(&viewer.url);
    let drawn = "[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')";
    browser.wait(drawn);
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#differences-table tbody')");
    let all = |theme: &str| {
        format!(
            "[document, frames[0].document, frames[1].document].every(one => one.documentElement.dataset.theme === '{theme}')"
        )
    };
    if is_supported {
        assert!(browser.prefer("dark"));
        browser.wait(&all("dark"));
        // The colours of the table are requested again.
        browser.wait("performance.getEntriesByType('resource').some(one => /api.times.*theme=dark/.test(one.name))");
    }
    // A choice in one pane applies to all.
    browser.click((300.0, 200.0));
    browser.wait("document.activeElement === document.querySelector('iframe')");
    let theme = browser.evaluate("document.documentElement.dataset.theme");
    browser.key("t");
    browser.wait(&all(if theme == "dark" { "contrast" } else { "dark" }));
    browser.wait(drawn);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// A trace with events, sized links and a variable.
fn varied_trace(events: usize, size: u32, value: f64) -> String {
    let defs = "%EventDef PajeDefineVariableType 20\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeSetVariable 21\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
                %EventDef PajeDefineEventType 22\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeNewEvent 23\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
                %EventDef PajeStartLink 24\n% Time date\n% Type string\n% Container string\n% StartContainer string\n% Value string\n% Key string\n% Size int\n%EndEventDef\n";
    let marks: String = (0..events).map(|n| format!("23 0.{} M t00 tick\n", 6 + n)).collect();
    TRACE
        .replace("0 T N Thread\n", "0 T N Thread\n20 V T Load\n22 M T Marks\n")
        .replacen("0 N 0 Node", &format!("{defs}0 N 0 Node"), 1)
        .replace("7 0.3 L 0 t00 m k1\n", &format!("21 0.2 V t00 {value}\n24 0.3 L 0 t00 m k1 {size}\n"))
        .replace("4 1.0 T t00\n", &format!("{marks}4 1.0 T t00\n"))
}

#[test]
fn differences_cover_all_kinds_and_are_sorted_by_any_column() {
    let viewer = ViewProcess::with(&[&varied_trace(1, 100, 2.0), &varied_trace(3, 300, 5.0)], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')");
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelectorAll('#differences-table tbody').length === 4");
    let wide = browser
        .evaluate("(table => table.scrollWidth - table.clientWidth)(document.querySelector('#differences-table'))");
    assert_eq!(wide, 0, "all columns are seen without scrolling");
    let table =
        |browser: &mut BrowserPage, name: &str| read(browser, "table", name).replace(['\u{202f}', '\t', '\n'], " ");
    let events = table(&mut browser, "Differences of events");
    assert!(events.contains("tick") && events.contains("Marks") && events.contains("1 3 +2"), "{events}");
    let links = table(&mut browser, "Differences of links");
    assert!(links.contains("100 300 +200"), "{links}");
    let variables = table(&mut browser, "Differences of variables");
    assert!(variables.contains("Load") && variables.contains("2 5 +3"), "{variables}");
    // The state with the largest difference is first; then sorted by count, and by names, by keys.
    let first = "document.querySelector('#differences-table table tbody th span + span').innerText";
    browser.wait("document.querySelector('#differences-table [aria-label=\"Sort by name\"]')");
    browser.evaluate("document.querySelector('#differences-table [aria-label=\"Sort by name\"]').focus()");
    browser.key("Enter");
    browser.wait(&format!("{first} === 'blocked'"));
    browser.key("Enter");
    browser.wait(&format!("{first} === 'working'"));
    browser.wait("document.querySelector('#differences-table [aria-sort]').getAttribute('aria-sort') === 'descending'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
