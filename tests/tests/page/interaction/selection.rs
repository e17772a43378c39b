//! The selection of rows and a time range: made by a drag, by keys and by typing, and used by zoom,
//! filters, statistics, search, export, notes and views.

use serde_json::{Value, json};
use tests::browser::{BrowserPage, PageElement};
use tests::page::{
    SETTLED, TRACE, ViewProcess, chain, filter, open, press, read, saved_text, screenshot_path, show, spot, time_range,
    wait_for_rows, watch_files,
};

use crate::accessibility::{axe, faults};

/// Drags with Shift from one place of the diagram to another.
fn shift_drag(browser: &mut BrowserPage, chart: &PageElement, from: (f64, &str), to: (f64, &str)) {
    let (from, to) = (spot(browser, chart, from.0, from.1), spot(browser, chart, to.0, to.1));
    browser.with_key_down("Shift", |browser| browser.drag(from, to));
    browser.wait("!document.querySelector('#selection').hidden");
}

/// The selected time range in milliseconds, and the numbers of the rows, from the address.
fn selected(browser: &mut BrowserPage) -> (i64, i64, String) {
    let selected_items = browser.evaluate(
        "(parts => [...(parts.get('range') ?? '0 0').split(' ').map(nanos => Math.round(nanos / 1e6)), parts.get('selected') ?? ''])\
         (new URLSearchParams(location.hash.slice(1)))",
    );
    (
        selected_items[0].as_i64().unwrap(),
        selected_items[1].as_i64().unwrap(),
        selected_items[2].as_str().unwrap().to_owned(),
    )
}

/// Selects thread 0.1 from 0.2 s to 0.6 s.
fn select_thread(browser: &mut BrowserPage, chart: &PageElement) {
    shift_drag(browser, chart, (0.2, "thread 0.1"), (0.6, "thread 0.1"));
    press(browser, "textbox", "Time range of the selection");
    browser.evaluate("document.querySelector('#selection-field').select()");
    browser.type_text("200..600 ms");
    browser.key("Enter");
    browser.wait("location.hash.includes('range=200000000+600000000')");
}

#[test]
fn a_drag_selects_moves_and_resizes() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    shift_drag(&mut browser, &chart, (0.2, "thread 0.0"), (0.4, "thread 0.1"));
    // With all its rows, a group is selected as a whole; without its own row, only its rows.
    browser.wait("location.hash.includes('selected=2-3')");
    let (from, to, _) = selected(&mut browser);
    assert!((198..=202).contains(&from) && (398..=402).contains(&to), "{from} {to}");
    let size = read(&mut browser, "status", "Selection");
    assert!(size.starts_with("2 rows × ") && size.contains(" ms from "), "{size}");
    assert_eq!(
        browser.evaluate(
            "[...document.querySelectorAll('#tree [aria-selected=true]')].map(row => row.getAttribute('aria-label'))"
        ),
        json!(["thread 0.0", "thread 0.1"])
    );
    // The minimap shows its time range.
    let minimap = "[document.querySelector('#minimap').getAttribute('aria-valuetext').includes('; selected: '), Math.round(parseFloat(document.querySelector('#minimap-selection').style.width))]";
    assert_eq!(browser.evaluate(minimap), json!([true, 20]));
    // The edges and a corner resize it.
    let place = browser.place(&chart);
    let edge = browser.place_of("slider", "End of the selection").center();
    browser.drag(edge, (place.x + place.width * 0.7, edge.1));
    browser.wait("/range=\\d+.(69\\d|70\\d)\\d{6}(&|$)/.test(location.hash)");
    let below = spot(&mut browser, &chart, 0.5, "thread 1.0");
    let edge = browser.place_of("slider", "Last row of the selection").center();
    browser.drag(edge, below);
    browser.wait("/selected=2-3.5(&|$)/.test(location.hash)");
    let corner = browser.evaluate("(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector('[data-edges=\"left top\"]').getBoundingClientRect())");
    let target = spot(&mut browser, &chart, 0.1, "thread 0.1");
    browser.drag((corner[0].as_f64().unwrap(), corner[1].as_f64().unwrap()), target);
    browser.wait("/selected=3.5(&|$)/.test(location.hash)");
    let (from, to, _) = selected(&mut browser);
    assert!((98..=102).contains(&from) && (698..=702).contains(&to), "{from} {to}");
    // Its size moves it in time and to other rows.
    let grip = browser.evaluate("(box => [box.x + 12, box.y + box.height / 2])(document.querySelector('#selection-size').getBoundingClientRect())");
    let grip = (grip[0].as_f64().unwrap(), grip[1].as_f64().unwrap());
    browser.drag(grip, (grip.0 + place.width * 0.1, grip.1));
    browser.wait("/range=(19\\d|20\\d)\\d{6}/.test(location.hash)");
    let (_, to, rows) = selected(&mut browser);
    assert!((797..=803).contains(&to) && rows == "3 5", "{to} {rows}");
    // Each of these is a step that Back goes.
    browser.key("[");
    browser.wait("/range=(9\\d|10\\d)\\d{6}/.test(location.hash)");
    browser.key("[");
    browser.wait("/selected=2-3.5(&|$)/.test(location.hash)");
    browser.key("Escape");
    browser.wait("document.querySelector('#selection').hidden && !/range|selected/.test(location.hash)");
    browser.key("[");
    browser.wait("/selected=2-3.5(&|$)/.test(location.hash) && !document.querySelector('#selection').hidden");
    press(&mut browser, "button", "Clear the selection");
    browser.wait("document.querySelector('#selected-size').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_switch_decides_what_a_drag_does() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    show(&mut browser, "0.2..0.8 s");
    press(&mut browser, "radio", "Select");
    browser.wait("/drag=select/.test(location.hash)");
    let (from, to) = (spot(&mut browser, &chart, 0.3, "Node 0"), spot(&mut browser, &chart, 0.6, "thread 0.1"));
    browser.drag(from, to);
    browser.wait("/selected=1(&|$)/.test(location.hash)");
    assert!(read(&mut browser, "status", "Selection").starts_with("Node 0 × "));
    assert_eq!(time_range(&mut browser), ("200.00 ms".to_owned(), "800.00 ms".to_owned()));
    // Shift moves the diagram instead, and the selection stays.
    let before = selected(&mut browser);
    let row = spot(&mut browser, &chart, 0.5, "thread 1.1").1;
    let place = browser.place(&chart);
    browser.with_key_down("Shift", |browser| {
        browser.drag((place.x + place.width * 0.5, row), (place.x + place.width * 0.6, row));
    });
    browser.wait("document.querySelector('#time-range-field').value.startsWith('140')");
    assert_eq!(selected(&mut browser), before);
    // On the ruler, a drag selects a time range of all rows.
    let ruler = browser
        .evaluate("(box => [box.x, box.y + 8, box.width])(document.querySelector('#ruler').getBoundingClientRect())");
    let at = |share: f64| (ruler[0].as_f64().unwrap() + ruler[2].as_f64().unwrap() * share, ruler[1].as_f64().unwrap());
    browser.drag(at(0.2), at(0.5));
    browser.wait("/range=/.test(location.hash) && !/selected=/.test(location.hash)");
    assert!(read(&mut browser, "status", "Selection").starts_with("all rows × 180"));
    // A click shows an entity in both modes.
    let at = spot(&mut browser, &chart, 0.05, "thread 0.0");
    browser.click(at);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    // The mode is in the address, and keys switch it.
    browser.reload();
    browser.wait(SETTLED);
    assert_eq!(browser.evaluate("document.querySelector('#select-mode').getAttribute('aria-checked')"), "true");
    browser.evaluate("document.querySelector('#select-mode').focus()");
    browser.key("ArrowLeft");
    browser.wait("document.activeElement.id === 'hand-mode' && !/drag=/.test(location.hash)");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn keys_and_typing_make_the_same_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.evaluate("document.querySelector('#tree [aria-label=\"thread 0.1\"]').focus()");
    browser.key("e");
    browser.wait("location.hash.includes('range=400000000+600000000') && /selected=3(&|$)/.test(location.hash)");
    // The focus moves to the field, which explains mistakes.
    browser.key("e");
    browser.wait("document.activeElement.id === 'selection-field'");
    browser.type_text("600..200 ms");
    browser.key("Enter");
    browser.wait("document.querySelector('#note').innerText.includes('expected the start before the end')");
    assert_eq!(browser.evaluate("document.querySelector('#selection-field').getAttribute('aria-invalid')"), "true");
    browser.evaluate("document.querySelector('#selection-field').select()");
    browser.type_text("0.2 s + 300 ms");
    browser.key("Enter");
    browser.wait("location.hash.includes('range=200000000+500000000')");
    // The edges are sliders.
    browser.evaluate("document.querySelector('#selection [data-edges=right]').focus()");
    browser.key("ArrowRight");
    browser.wait("location.hash.includes('range=200000000+510000000')");
    browser.evaluate("document.querySelector('#selection [data-edges=top]').focus()");
    browser.key("ArrowUp");
    browser.wait("/selected=2-3(&|$)/.test(location.hash)");
    let slider =
        "(edge => [edge.getAttribute('aria-label'), edge.getAttribute('aria-valuetext')])(document.activeElement)";
    assert_eq!(browser.evaluate(slider), json!(["First row of the selection", "thread 0.0"]));
    browser.key("ArrowUp");
    // With its own row, the whole group is selected.
    browser.wait("/selected=1(&|$)/.test(location.hash)");
    // The address contains the selection.
    let text = read(&mut browser, "status", "Selection");
    assert_eq!(text, "Node 0 × 310.0 ms from 200.0 ms to 510.0 ms");
    let address = browser.evaluate("location.href");
    browser.open("about:blank#away");
    browser.open(address.as_str().unwrap());
    browser.wait(SETTLED);
    assert_eq!(read(&mut browser, "status", "Selection"), text);
    // The field of the visible time range and the palette select, too.
    browser.key("g");
    browser.type_text("0.7..0.8");
    browser.with_key_down("Shift", |browser| browser.key("Enter"));
    browser.wait("location.hash.includes('range=700000000+800000000')");
    assert_eq!(time_range(&mut browser).0, "0 s");
    browser.with_key_down("Control", |browser| browser.key("k"));
    browser.wait("document.querySelector('#palette').open");
    browser.type_text("0.1..0.3 s");
    browser.wait("document.querySelector('#palette-choices').innerText.includes('Select 0.1..0.3 s')");
    browser.key("ArrowDown");
    browser.key("Enter");
    browser.wait("location.hash.includes('range=100000000+300000000')");
    // An address with a selection that cannot be is read without it.
    for wrong in ["range=5+2&selected=x", "range=1", "selected=9-3&range=1+99999999999999999999999"] {
        browser.open("about:blank#away");
        browser.open(&format!("{}#{wrong}", viewer.url));
        browser.wait(SETTLED);
        assert_eq!(browser.evaluate("document.querySelector('#selection').hidden"), true, "{wrong}");
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn zoom_and_only_use_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    select_thread(&mut browser, &chart);
    browser.key("f");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), ("160.00 ms".to_owned(), "640.00 ms".to_owned()));
    // Again: the whole trace.
    browser.key("f");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('0 s')");
    press(&mut browser, "button", "Only");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1"]);
    assert_eq!(chain(&mut browser), json!(["only container thread 0.1", "cut 200ms..600ms"]));
    assert_eq!(time_range(&mut browser), ("200.00 ms".to_owned(), "600.00 ms".to_owned()));
    assert_eq!(browser.evaluate("document.querySelector('#selection').hidden"), true);
    // One step of Back restores the selection and the view.
    browser.key("[");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    browser.wait("location.hash.includes('range=200000000+600000000')");
    assert_eq!(time_range(&mut browser).0, "0 s");
    // A selected row in a folded group is named by its path.
    browser.key("_");
    wait_for_rows(&mut browser, &["Node 0", "Node 1"]);
    browser.key("O");
    browser.wait("document.querySelector('#filters').innerText.includes('Node 0/thread 0.1')");
    browser.key("*");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1"]);
    browser.key("O");
    browser.wait("document.querySelector('#note').innerText.startsWith('Select a part first')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn statistics_search_notes_and_files_use_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    watch_files(&mut browser);
    select_thread(&mut browser, &chart);
    press(&mut browser, "button", "Statistics");
    browser.wait("document.querySelector('#times .hint')?.innerText.startsWith('400.0 ms selected within thread 0.1')");
    let table = read(&mut browser, "tabpanel", "Statistics");
    assert!(table.contains("1 row") && table.contains("300 ms") && table.contains("75.0 %"), "{table}");
    // Rows need not be neighbours.
    let point = browser.place_of("row", "thread 1.1").center();
    browser.with_key_down("Control", |browser| browser.click(point));
    browser.wait("document.querySelector('#times .hint')?.innerText.startsWith('400.0 ms selected within 2 rows')");
    browser.wait("document.querySelector('#times').innerText.includes('600 ms')");
    press(&mut browser, "radio", "Matrix");
    browser.wait("document.querySelector('#times[data-form=matrix]')");
    assert!(!read(&mut browser, "tabpanel", "Statistics").contains("thread 0.0"), "its message leaves the selection");
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.wait("document.activeElement.id === 'find-field'");
    browser.type_text("working");
    browser.key("Enter");
    let condition = |count: u32| format!("document.querySelector('#find-status').innerText === '{count} found'");
    browser.wait(&condition(2));
    press(&mut browser, "checkbox", "only in the selection (2 rows × 400.0 ms)");
    browser.wait(&condition(4));
    browser.wait("/everywhere=1/.test(location.hash)");
    press(&mut browser, "checkbox", "only in the selection (2 rows × 400.0 ms)");
    browser.wait(&condition(2));
    browser.evaluate("document.activeElement.blur()");
    // Files.
    let save = |browser: &mut BrowserPage, item: &str| {
        press(browser, "button", "Save and open");
        press(browser, "menuitem", item);
        saved_text(browser)
    };
    let image = save(&mut browser, "Save image of the selection as SVG");
    assert!(image.contains("thread 0.1") && image.contains("thread 1.1") && !image.contains("thread 0.0"));
    assert!(read(&mut browser, "status", "Note").contains("of the selection: 2 rows × 400.0 ms"));
    let csv = save(&mut browser, "Save statistics of the selection as CSV");
    assert!(csv.contains("Node 0/thread 0.1") && csv.contains("0.3") && !csv.contains("thread 1.0"), "{csv}");
    // A note on its time range and rows.
    press(&mut browser, "button", "Note");
    browser.wait("document.querySelector('#notes-list .go-to-note')?.innerText === '200.0 ms, 400.0 ms, 2 rows'");
    browser.evaluate("document.activeElement.blur()");
    // Without a selection, the search is about the whole trace again.
    browser.key("Escape");
    browser.wait("document.querySelector('#selection').hidden");
    press(&mut browser, "tab", "Find");
    browser.wait(&condition(4));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn cards_show_the_units_and_the_time_of_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.key("v");
    let settled = "document.querySelector('#cards').dataset.settled === '1'";
    browser.wait(settled);
    browser.evaluate("document.activeElement.blur()");
    select_thread(&mut browser, &chart);
    let subtitles = "[...document.querySelectorAll('#cards .card small')].map(one => one.innerText)";
    browser.wait(&format!("{subtitles}[0].startsWith('1 of 4 units; 200.0 ms to 600.0 ms')"));
    // A group stands for its units.
    shift_drag(&mut browser, &chart, (0.2, "Node 1"), (0.6, "thread 1.1"));
    browser.wait(&format!("{subtitles}[0].startsWith('2 of 4 units; ')"));
    // The player stays within the time range and its events.
    browser.key("Escape");
    browser.wait(&format!("!{subtitles}[0].includes(' of 4 units')"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_selection_follows_its_rows() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    select_thread(&mut browser, &chart);
    let edge = "document.querySelector('#selection [data-edges=top]').getBoundingClientRect().y";
    let before = browser.evaluate(edge).as_f64().unwrap();
    filter(&mut browser, "order Node 1");
    browser.wait(&format!("{edge} > {}", before + 20.0));
    assert_eq!(selected(&mut browser), (200, 600, "3".to_owned()));
    // Selected rows are stored by name in a workspace.
    watch_files(&mut browser);
    press(&mut browser, "button", "Save and open");
    press(&mut browser, "menuitem", "Save workspace");
    let workspace: Value = serde_json::from_str(&saved_text(&mut browser)).unwrap();
    assert_eq!(workspace["names"]["containers"]["3"]["path"], json!(["Node 0", "thread 0.1"]), "{workspace}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn many_rows_are_selected_by_scrolling() {
    let more: String = (2..62).map(|n| format!("3 0.0 t0{n} T n0 \"thread 0.{n}\"\n5 0.0 S t0{n} w\n")).collect();
    let viewer = ViewProcess::of(&TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N")));
    let (mut browser, chart) = open(&viewer);
    let place = browser.place(&chart);
    let from = spot(&mut browser, &chart, 0.3, "thread 0.1");
    browser.with_key_down("Shift", |browser| {
        browser.point(from);
        browser.press(from);
        for step in 0..200 {
            // A drag to the lower border scrolls.
            let point = (place.x + place.width * 0.5, place.y + place.height - 4.0 - f64::from(step % 2));
            browser.drag_to(point);
        }
        browser.release((place.x + place.width * 0.5, place.y + place.height - 4.0));
    });
    browser.wait("document.querySelector('#scroller').scrollTop > 300");
    let size = read(&mut browser, "status", "Selection");
    let count: u32 = size.split(' ').next().unwrap().parse().unwrap();
    assert!(count > 40, "{size}");
    browser.key("f");
    browser.wait(SETTLED);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn axe_reports_no_violation_about_the_selection() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let _ = browser.prefer_stillness();
    browser.evaluate(&format!("{}; true", axe()));
    browser.key("S");
    for (theme, name) in
        [("light", "selection-light.png"), ("dark", "selection-dark.png"), ("contrast", "selection-contrast.png")]
    {
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        let (from, to) =
            (spot(&mut browser, &chart, 0.2, "thread 0.1"), spot(&mut browser, &chart, 0.55, "thread 1.0"));
        browser.drag(from, to);
        browser.wait("!document.querySelector('#selection').hidden");
        browser.key("2");
        browser.wait("document.querySelector('#times table')");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, statistics");
        browser.screenshot(&screenshot_path(name));
        browser.with_key_down("Control", |browser| browser.key("f"));
        browser.wait("document.activeElement.id === 'find-field'");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, search");
        browser.evaluate("document.activeElement.blur()");
        browser.key("Escape");
        browser.wait("document.querySelector('#selection').hidden");
        browser.key("t");
    }
}
