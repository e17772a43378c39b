//! Entities: a copy button for every field, the next entity of the same type, the partner over a
//! link; searches and tables of statistics.

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, read, spot, time_range};

#[test]
fn the_inspector_leads_to_neighbours_and_linked_entities() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key(".");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.key(".");
    browser.wait("document.querySelector('#note').innerText === 'This is the last entity of its type'");
    press(&mut browser, "button", "Previous entity of the same type");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key("o");
    browser.wait("document.querySelector('#inspector').innerText.includes('thread 1.1')");
    let inspector = read(&mut browser, "region", "Inspector");
    assert!(inspector.starts_with("working") && inspector.contains("Node 1 › thread 1.1"), "{inspector}");
    // The address of the page contains the chosen entity.
    let address = browser.evaluate("location.href").as_str().unwrap().to_owned();
    assert!(address.contains("chosen=s"), "{address}");
    browser.open("about:blank#away");
    browser.open(&address);
    browser.wait("document.querySelector('#inspector').innerText.includes('thread 1.1')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn every_field_can_be_copied() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.allow_clipboard(&viewer.url);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.1");
    browser.click(point);
    browser.find("button", Some("Copy Duration"));
    // The buttons appear when the pointer is on their field.
    press(&mut browser, "button", "Copy Duration");
    browser.wait("navigator.clipboard.readText().then(text => text === '500.0 ms')");
    press(&mut browser, "button", "Copy all");
    browser.wait("navigator.clipboard.readText().then(text => text.includes('\\n'))");
    let all = browser.evaluate("navigator.clipboard.readText()");
    let all = all.as_str().unwrap();
    for line in ["Name\tworking", "Duration\t500.0 ms", "Kind\t"] {
        assert!(all.contains(line), "{line} in {all}");
    }
}

#[test]
fn names_are_copied_without_direction_marks() {
    let viewer = ViewProcess::of(&TRACE.replace("\"thread 0.1\"", "\u{5d0}\u{5d1}"));
    let (mut browser, chart) = open(&viewer);
    browser.allow_clipboard(&viewer.url);
    let point = spot(&mut browser, &chart, 0.1, "\u{5d0}\u{5d1}");
    browser.click(point);
    press(&mut browser, "button", "Copy all");
    browser.wait("navigator.clipboard.readText().then(text => text.includes('\\u05d0\\u05d1'))");
    let copied = browser.evaluate("navigator.clipboard.readText()");
    assert!(!copied.as_str().unwrap().contains(|sign| ('\u{2066}'..='\u{2069}').contains(&sign)), "{copied}");
}

#[test]
fn an_entity_too_small_to_draw_is_found_and_shown() {
    // A state of another value lasts one nanosecond, in a thread that is folded away.
    let trace = TRACE
        .replace("2 b S blocked", "2 q S quick \"0.9 0.8 0.1\"\n2 b S blocked")
        .replace("5 0.5 S t11 b\n", "5 0.5 S t11 b\n5 0.7 S t11 q\n5 0.700000001 S t11 b\n");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "button", "All rows");
    press(&mut browser, "menuitem", "Fold groups");
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 2");
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.type_text("quick <1us in:\"node 1\"");
    browser.key("Enter");
    browser.wait("document.querySelector('#find-status').innerText === '1 found'");
    let hits = read(&mut browser, "list", "Hits");
    assert!(hits.contains("quick") && hits.contains("Node 1 › thread 1.1") && hits.contains("1 ns"), "{hits}");
    let marked = "(() => { const map = document.querySelector('#minimap .hit-marks');
        return map.getContext('2d').getImageData(0, 0, map.width, map.height).data.some(byte => byte > 0); })()";
    assert_eq!(browser.evaluate(marked), true, "the minimap marks it");
    browser.key("Enter");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'quick'");
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 4");
    browser.wait(SETTLED);
    let (from, to) = time_range(&mut browser);
    assert!(from.starts_with("699") || from.starts_with("700"), "{from} {to}");
    browser.find("row", Some("thread 1.1"));
    // The page reports a search that it cannot parse.
    press(&mut browser, "searchbox", "Search expression");
    browser.evaluate("document.querySelector('#find-field').select()");
    browser.type_text(">soon");
    browser.key("Enter");
    browser.wait("document.querySelector('#find-status').innerText.includes('`>soon` is not a duration')");
}

#[test]
fn a_table_counts_the_time_range_and_is_sorted_by_any_column() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    let cells = "JSON.stringify([...document.querySelectorAll('#times tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()).join('|')))";
    let read = |browser: &mut BrowserPage| browser.evaluate(cells).as_str().unwrap().replace('\u{202f}', " ");
    let panel_text = read(&mut browser);
    assert!(
        panel_text.contains("working|2.00 s|50.0 %|4|500 ms") && panel_text.contains("blocked|2.00 s|50.0 %|4|500 ms"),
        "{panel_text}"
    );
    // The figures of another time range differ.
    browser.key("g");
    browser.type_text("0..0.625 s");
    browser.key("Enter");
    browser.wait(&format!("{cells}.includes('working|2.00 s|80.0 %')"));
    let part = read(&mut browser);
    assert!(part.contains("blocked|500 ms|20.0 %|4|125 ms"), "{part}");
    assert!(part.find("working") < part.find("blocked"), "the longest first: {part}");
    press(&mut browser, "button", "Time");
    browser.wait("document.querySelector('#times th[aria-sort]')?.getAttribute('aria-sort') === 'ascending'");
    let turned = read(&mut browser);
    assert!(turned.find("blocked") < turned.find("working"), "{turned}");
    press(&mut browser, "button", "Value");
    browser.wait("document.querySelector('#times th[aria-sort]')?.innerText.startsWith('Value')");
    // The longest state leads to its place.
    let longest =
        browser.find_all("button", None).into_iter().find(|b| b.name == "Go to the longest blocked, 500.0 ms").unwrap();
    let point = browser.place(&longest).center();
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.key("Escape");
    // The statistics of a chosen container cover it alone.
    press(&mut browser, "row", "thread 0.0");
    browser.wait(&format!("{cells}.includes('working|500 ms|80.0 %|1')"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The number of pixels of the overlay with the accent colour.
fn accent_pixels(browser: &mut BrowserPage) -> u64 {
    let count = browser.evaluate(
        "(() => { const over = document.querySelector('#chart .overlay');
            const probe = over.getContext('2d', { willReadFrequently: true });
            const ink = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
            const [r, g, b] = [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16));
            const { data } = probe.getImageData(0, 0, over.width, over.height);
            let count = 0;
            for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) count += 1;
            return count; })()",
    );
    count.as_u64().unwrap()
}

#[test]
fn entities_related_to_the_one_under_the_pointer_are_highlighted() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    assert_eq!(accent_pixels(&mut browser), 0);
    // The message lights the states at its endpoints.
    let from = spot(&mut browser, &chart, 0.3, "thread 0.0");
    let to = spot(&mut browser, &chart, 0.4, "thread 1.1");
    browser.point((f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1)));
    browser.wait("/[1-9] related, highlighted/.test(document.querySelector('#tooltip').innerText)");
    let by_message = accent_pixels(&mut browser);
    assert!(by_message > 400, "{by_message} pixels");
    // A state of another thread is unrelated to it.
    let second_point = spot(&mut browser, &chart, 0.75, "thread 0.1");
    browser.point(second_point);
    browser.wait("document.querySelector('#tooltip').innerText.includes('blocked')");
    let text = browser.evaluate("document.querySelector('#tooltip').innerText");
    assert!(!text.as_str().unwrap().contains("related"), "{text}");
    assert_eq!(accent_pixels(&mut browser), 0);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_selection_is_shown_over_the_diagram_if_the_panel_is_closed() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.key("l");
    browser.wait(&format!("document.querySelector('#panel').hidden && {SETTLED}"));
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    let place = browser.place_of("region", "Inspector");
    assert!(place.width > 200.0 && place.height > 100.0, "{place:?}");
    assert!(read(&mut browser, "region", "Inspector").contains("500.0 ms"));
    // It moves into the panel when that opens.
    browser.key("l");
    browser.wait("document.querySelector('#panel #inspector h2')?.innerText === 'working'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn keys_without_a_target_show_a_message() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for (key, message) in
        [("z", "Select an entity first"), ("p", "Point at a row first"), ("h", "Point at a row first")]
    {
        browser.key("Escape");
        browser.key(key);
        browser.wait(&format!("document.querySelector('#note').innerText.includes({message:?})"));
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
