//! The row and entity that input refers to: by pointer, by keys, and with a scroll bar.

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, chain, open, press, read, rows, spot, time_range, wait_for_rows};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

/// A trace with more rows than the window has room for.
pub(super) fn tall() -> String {
    let more: String = (2..42).map(|n| format!("3 0.0 t0{n} T n0 \"thread 0.{n}\"\n5 0.0 S t0{n} w\n")).collect();
    TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N"))
}

#[test]
fn ruler_and_minimap_are_as_wide_as_the_diagram_with_a_scroll_bar() {
    let viewer = ViewProcess::of(&tall());
    let mut browser = BrowserPage::start(1280, 720);
    let is_supported = browser.show_scroll_bars();
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    if is_supported {
        let bar = browser.evaluate("(box => box.offsetWidth - box.clientWidth)(document.querySelector('#scroller'))");
        assert!(bar.as_f64() > Some(4.0), "the scroll bar is {bar} wide");
    }
    let edges = |browser: &mut BrowserPage, id: &str| {
        browser.evaluate(&format!(
            "(({{ left, right }}) => `${{left}} ${{right}}`)(document.querySelector('{id}').getBoundingClientRect())"
        ))
    };
    let chart = edges(&mut browser, "#chart");
    assert_eq!(edges(&mut browser, "#ruler"), chart);
    assert_eq!(edges(&mut browser, "#minimap"), chart);
    // A drag on the ruler zooms to the timestamps below it.
    let chart = browser.find_all("application", None).remove(0);
    let (start, end) =
        (spot(&mut browser, &chart, 0.25, "thread 0.0").0, spot(&mut browser, &chart, 1.0, "thread 0.0").0);
    let y = browser.evaluate("document.querySelector('#ruler').getBoundingClientRect().top + 12").as_f64().unwrap();
    browser.drag((start, y), (end - 0.5, y));
    browser.wait("document.querySelector('#time-range-field').value.startsWith('2')");
    browser.wait(SETTLED);
    let (from, to) = time_range(&mut browser);
    let number = |text: &str| text.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    assert!((number(&from) - 250.0).abs() < 1.5, "{from}");
    let to = if to.ends_with(" s") { number(&to) * 1000.0 } else { number(&to) };
    assert!((to - 1000.0).abs() < 1.5, "{to}");
}

#[test]
fn keys_act_on_the_row_of_the_last_movement() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    // A clicked row, then the pointer on another one: in the tree, then in the diagram.
    press(&mut browser, "row", "thread 0.0");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'thread 0.0'");
    let point = browser.place_of("row", "thread 1.1").center();
    browser.point(point);
    browser.key("h");
    wait_for_rows(&mut browser, &ALL[..5]);
    let point = spot(&mut browser, &chart, 0.3, "thread 0.1");
    browser.point(point);
    browser.key("p");
    browser.wait("document.querySelector('#pinned-rows [aria-label=\"thread 0.1\"]')");
    browser.wait(SETTLED);
    // Then keys move the focus, while the pointer rests.
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.with_key_down("Control", |browser| browser.key("z"));
    wait_for_rows(&mut browser, &ALL);
    browser.evaluate("document.querySelector('#tree [role=row][tabindex=\"0\"]').focus()");
    browser.key("End");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'thread 1.1'");
    browser.key("ArrowUp");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'thread 1.0'");
    browser.key("h");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.1"]);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_group_key_also_ungroups() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let select = |browser: &mut BrowserPage| {
        for name in ["thread 0.0", "thread 1.0"] {
            let point = browser.place_of("row", name).center();
            browser.point(point);
            browser.key("x");
            browser.wait(&format!(
                "document.querySelector('#tree [aria-label=\"{name}\"]').getAttribute('aria-selected') === 'true'"
            ));
        }
        browser.key("G");
        browser.wait("document.querySelector('#filters').innerText.includes('group')");
        browser.wait(SETTLED);
    };
    select(&mut browser);
    browser.key("G");
    wait_for_rows(&mut browser, &ALL);
    assert_eq!(read(&mut browser, "status", "Note"), "Dissolved: thread 0.0 + thread 1.0");
    select(&mut browser);
    let point = browser.place_of("row", "thread 0.0 + thread 1.0").center();
    browser.point((point.0 - 3.0, point.1));
    browser.point(point);
    browser.key("G");
    wait_for_rows(&mut browser, &ALL);
    assert_eq!(chain(&mut browser), serde_json::json!([]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_search_for_names_can_be_undone() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("/");
    browser.type_text("0.1");
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1"]);
    browser.wait("location.hash.includes('names')");
    browser.evaluate("document.activeElement.blur()");
    browser.with_key_down("Control", |browser| browser.key("z"));
    wait_for_rows(&mut browser, &ALL);
    assert_eq!(browser.evaluate("document.querySelector('#row-search').value"), "");
    browser.with_key_down("Control", |browser| browser.key("y"));
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1"]);
    assert_eq!(browser.evaluate("document.querySelector('#row-search').value"), "0.1");
}

#[test]
fn undo_restores_the_scroll_position() {
    let viewer = ViewProcess::of(&tall());
    let (mut browser, _) = open(&viewer);
    let scrolled = "Math.round(document.querySelector('#scroller').scrollTop)";
    browser.evaluate("document.querySelector('#scroller').scrollTop = 700");
    browser.wait(SETTLED);
    let before = browser.evaluate(scrolled);
    assert!(before.as_i64().unwrap() > 300, "{before}");
    // All rows fold into their nodes, and no scrolling is possible.
    browser.key("_");
    browser.wait(&format!("{SETTLED} && {scrolled} < 50"));
    browser.with_key_down("Control", |browser| browser.key("z"));
    browser.wait(&format!("{SETTLED} && {scrolled} > 50"));
    assert_eq!(browser.evaluate(scrolled), before);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn enter_on_the_diagram_selects_the_entity() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.evaluate("document.querySelector('#chart').focus()");
    browser.key("Enter");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked' || document.querySelector('#inspector h2')?.innerText === 'working'");
    assert!(read(&mut browser, "region", "Inspector").contains("thread 0.0"), "of the first row that has something");
    browser.key("Escape");
    browser.wait("document.querySelector('#inspector').hidden");
    let point = spot(&mut browser, &chart, 0.9, "thread 1.1");
    browser.point(point);
    browser.key("Enter");
    browser.wait("document.querySelector('#inspector').innerText.includes('thread 1.1')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn unusual_names_do_not_change_the_layout_of_other_text() {
    let trace = TRACE.replace("\"thread 0.0\"", "\"\u{202e}turned\"").replace("\"thread 0.1\"", "\" \"");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, chart) = open(&viewer);
    assert!(rows(&mut browser).contains(&"(no name)".to_owned()), "{:?}", rows(&mut browser));
    let row = browser.find("row", Some("(no name)"));
    assert!(browser.text(&row).contains("(no name)"), "{}", browser.text(&row));
    // In the line below the diagram the value comes before the path, and the start of the path
    // before its end.
    let point = browser.place(&chart);
    let y = browser.evaluate("(box => box.top + box.height / 2)(document.querySelectorAll('#tree [role=row]')[2].getBoundingClientRect())").as_f64().unwrap();
    browser.point((point.x + point.width * 0.9, y));
    browser.wait("document.querySelector('#readout').innerText.includes('turned')");
    let after = browser.evaluate(
        "(() => { const line = document.querySelector('#readout');
            const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT); const range = document.createRange();
            const lefts = []; let node;
            while ((node = walker.nextNode())) { if (!node.data.trim()) continue; range.selectNodeContents(node); lefts.push(range.getBoundingClientRect().left); }
            const style = [...line.querySelectorAll('bdi')].map((one) => getComputedStyle(one).unicodeBidi);
            return JSON.stringify([lefts.every((left, point) => point === 0 || left >= lefts[point - 1]), style.length > 0 && style.every((one) => one === 'isolate')]); })()",
    );
    assert_eq!(after, "[true,true]");
}

#[test]
fn the_help_sheet_opens_at_its_beginning() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("?");
    browser.wait("document.querySelector('#help-sheet').open");
    browser.wait("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))");
    assert_eq!(browser.evaluate("document.querySelector('#help-sheet').scrollTop"), 0);
    assert_eq!(browser.evaluate("document.querySelector('#help-sheet').contains(document.activeElement)"), true);
    let empty = "[...document.querySelectorAll('#help-groups section')].filter((one) => !one.querySelector('dd')).map((one) => one.innerText)";
    assert_eq!(browser.evaluate(empty), serde_json::json!([]));
    browser.key("Escape");
    browser.wait("!document.querySelector('#help-sheet').open");
}

#[test]
fn the_first_view_and_hidden_rows_are_explained() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let address = browser.evaluate("location.href");
    browser.key("[");
    browser.wait("document.querySelector('#note').innerText === 'This is the first view'");
    assert_eq!(browser.evaluate("location.href"), address);
    browser.key("+");
    browser.wait("new Promise(done => setTimeout(() => done(location.href !== window.first), 400))");
    browser.key("[");
    browser.wait(&format!("location.href === {address}"));
    // Caps Lock gives capital letters, but does not change the keys.
    browser.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'L', bubbles: true, modifierCapsLock: true }))");
    browser.wait("document.querySelector('#panel').hidden");
    // All rows are hidden by hand.
    for _ in 0..2 {
        let row = browser.evaluate("document.querySelector('#tree [role=row]').ariaLabel");
        let point = browser.place_of("row", row.as_str().unwrap()).center();
        browser.point(point);
        browser.key("h");
        browser.wait(&format!("document.querySelector('#tree [role=row]')?.ariaLabel !== {row}"));
    }
    browser.wait("document.querySelector('#no-rows').innerText.includes('All rows are hidden.')");
    press(&mut browser, "button", "Show all");
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 6");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
