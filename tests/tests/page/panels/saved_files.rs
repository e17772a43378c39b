//! Files that the page saves and opens: images, the page that zooms by itself, workspaces.

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, filter, open, press, read, rows, saved_text, show, time_range, wait_for_rows,
    watch_files,
};

#[test]
fn exports_contain_the_filtered_view() {
    let viewer = ViewProcess::with(&[TRACE], &["--filter", "only container Node 1"]);
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    for (item, file) in [("Save image as SVG", "two-nodes.svg"), ("Save image as zoomable HTML", "two-nodes.html")] {
        let text = saved(&mut browser, item);
        assert!(text.contains("Node 1") && !text.contains("Node 0"), "{item}");
        assert_eq!(read(&mut browser, "status", "Note"), format!("Saved {file}"));
    }
    let csv = saved(&mut browser, "Save statistics as CSV");
    assert!(
        csv.starts_with("kind,type,container") && csv.contains("Node 1/thread 1.0") && !csv.contains("Node 0/"),
        "{csv}"
    );
    choose(&mut browser, "Save image as PNG");
    browser.wait("window.saved");
    let start = "window.saved.arrayBuffer().then(all => new Uint8Array(all).slice(1, 4).join())";
    assert_eq!(browser.evaluate(start), "80,78,71");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Chooses an item of the menu of files.
fn choose(browser: &mut BrowserPage, item: &str) {
    press(browser, "button", "Save and open");
    press(browser, "menuitem", item);
}

/// The text of the file that an item of that menu saves.
pub(crate) fn saved(browser: &mut BrowserPage, item: &str) -> String {
    choose(browser, item);
    saved_text(browser)
}

/// Opens a workspace in the page, like a user with the system's dialog.
pub(crate) fn open_workspace(browser: &mut BrowserPage, text: &str) {
    choose(browser, "Open workspace…");
    browser.wait("window.chooser");
    browser.evaluate(&format!(
        "{{ const files = new DataTransfer(); files.items.add(new File([{}], 'mine.tumit-view'));
            chooser.files = files.files; chooser.dispatchEvent(new Event('change')); window.chooser = null; }}",
        json!(text)
    ));
}

#[test]
fn a_saved_workspace_opens_on_the_page_and_by_the_command() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for text in ["hide container thread 0.0", "bright working of Activity"] {
        filter(&mut browser, text);
    }
    press(&mut browser, "switch", "Filter 1 is active: hide container thread 0.0");
    show(&mut browser, "100..300 ms");
    watch_files(&mut browser);
    let text = saved(&mut browser, "Save workspace");
    let file: Value = serde_json::from_str(&text).expect("a workspace is JSON");
    assert_eq!(file["format"], "tumit-view");
    let filters = json!([{ "filter": "hide container thread 0.0", "on": false }, "bright working of Activity"]);
    assert_eq!(file["filters"], filters);
    drop(browser);

    // Another run of the program, with the same style.
    let second_viewer = ViewProcess::of(&TRACE.replace("5 0.5", "5 0.25"));
    let (mut browser, _) = open(&second_viewer);
    watch_files(&mut browser);
    open_workspace(&mut browser, &text);
    browser.wait("document.querySelector('#filters').innerText.includes('bright working of Activity')");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('100')");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), ("100.00 ms".to_owned(), "300.00 ms".to_owned()));
    assert_eq!(browser.evaluate("document.querySelector('[role=switch]').ariaChecked"), "false");
    assert_eq!(rows(&mut browser).len(), 6, "what is off hides nothing");
    // A file that is no workspace changes nothing, and the page reports it.
    for (text, message) in [
        ("{\"format\": \"tumit-view\", \"version\": 99, \"filters\": []}", "Another version of Tumit"),
        ("<svg>", "This is not a workspace"),
    ] {
        open_workspace(&mut browser, text);
        browser.wait(&format!("document.querySelector('#note').innerText.includes('{message}')"));
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('.filter').length"), 2);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    drop(browser);

    // The command accepts the same file.
    let path = second_viewer.folder.path().join("mine.tumit-view");
    std::fs::write(&path, text.replace("\"on\": false", "\"on\": true")).unwrap();
    let third = ViewProcess::with(&[TRACE], &["--filters", path.to_str().unwrap()]);
    let (mut browser, _) = open(&third);
    wait_for_rows(&mut browser, &["Node 0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
}

#[test]
fn the_exported_page_zooms_and_moves_without_a_server() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    let text = saved(&mut browser, "Save image as zoomable HTML");
    assert_eq!(read(&mut browser, "status", "Note"), "Saved two-nodes.html");
    let path = viewer.folder.path().join("alone.html");
    std::fs::write(&path, text).unwrap();
    drop(browser);

    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&format!("file://{}", path.display()));
    // The visible texts: the time range at the top, the names of rows, the ruler; and the left edge
    // of `blocked` in the image.
    let dates = "[...document.querySelectorAll('svg > text')].find(text => text.textContent.includes('–')).textContent";
    let ruler =
        "[...document.querySelectorAll('svg > g:not([aria-label]) text')].map(text => text.textContent).join(' ')";
    let script = "(name => [...document.querySelectorAll('svg title')].find(title => title.textContent.startsWith(name)).parentElement.getBoundingClientRect().left)";
    let name = "[...document.querySelectorAll('svg > text')].find(text => text.textContent === 'thread 1.1').getBoundingClientRect().left";
    assert_eq!(browser.evaluate(dates), "0 s – 1.000 s");
    let full_ruler = browser.evaluate(ruler);
    assert!(full_ruler.as_str().unwrap().starts_with("0.0 s 0.2 s"), "{full_ruler}");
    let (names, edge) = (browser.evaluate(name), browser.evaluate(&format!("{script}('blocked')")).as_f64().unwrap());
    // The wheel keeps the timestamp under the pointer, and names do not move.
    browser.wheel((edge, 160.0), -120.0);
    browser.wait(&format!("!{dates}.startsWith('0 s')"));
    let near = browser.evaluate(&format!("{script}('blocked')")).as_f64().unwrap();
    assert!((near - edge).abs() < 1.5, "{near} {edge}");
    assert_eq!(browser.evaluate(name), names);
    assert_ne!(browser.evaluate(ruler), full_ruler);
    browser.key("ArrowRight");
    browser.wait(&format!("{script}('blocked') < {}", edge - 20.0));
    let after = browser.evaluate(&format!("{script}('blocked')")).as_f64().unwrap();
    browser.drag((600.0, 160.0), (700.0, 160.0));
    browser.wait(&format!("Math.abs({script}('blocked') - {}) < 2", after + 100.0));
    // The widths of letters and the lengths of arrow heads do not change.
    let wide = "[...document.querySelectorAll('[aria-label=Rows] text')].map(text => Math.round(text.getBoundingClientRect().width)).sort()[0]";
    let before = browser.evaluate(wide);
    browser.key("+");
    browser.key("+");
    browser.wait(&format!("{dates}.includes('ms –')"));
    assert_eq!(browser.evaluate(wide), before);
    browser.key("f");
    browser.wait(&format!("{dates} === '0 s – 1.000 s'"));
    assert_eq!(browser.evaluate(ruler), full_ruler);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
