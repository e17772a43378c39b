//! The palette and the help sheet, made of one table; the page without an answer yet, or with none.

use std::fs;
use std::path::Path;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, read, spot, time_range, wait_for_rows};

#[test]
fn the_palette_runs_every_action_by_name() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let palette = |browser: &mut BrowserPage, text: &str| {
        browser.with_key_down("Control", |browser| browser.key("k"));
        browser.wait("document.querySelector('#palette').open");
        browser.type_text(text);
    };
    palette(&mut browser, "fold gr");
    browser
        .wait("document.querySelector('#palette-choices [aria-selected=true]')?.innerText.startsWith('Fold groups')");
    browser.key("Enter");
    wait_for_rows(&mut browser, &["Node 0", "Node 1"]);
    // Moves to a row that is folded away.
    palette(&mut browser, "thread 1.0");
    browser.wait("document.querySelector('#palette-choices').innerText.includes('Go to thread 1.0')");
    browser.key("Enter");
    wait_for_rows(&mut browser, &["Node 0", "Node 1", "thread 1.0", "thread 1.1"]);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'thread 1.0'");
    // The palette also accepts a time range.
    palette(&mut browser, "0.2..0.3 s");
    browser.wait(
        "document.querySelector('#palette-choices [aria-selected=true]')?.innerText.startsWith('Show 0.2..0.3 s')",
    );
    browser.key("Enter");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), ("200.00 ms".to_owned(), "300.00 ms".to_owned()));
    palette(&mut browser, "cost of images");
    browser.key("Enter");
    browser.wait("/^image: .+ KiB, .+ ms$/.test(document.querySelector('#image-cost').innerText)");
    palette(&mut browser, "");
    let first = browser.evaluate("document.querySelector('#palette-choices [aria-selected=true]')?.innerText");
    browser.key("ArrowDown");
    assert_ne!(browser.evaluate("document.querySelector('#palette-choices [aria-selected=true]')?.innerText"), first);
    browser.key("Escape");
    browser.wait("!document.querySelector('#palette').open");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn rows_that_arrive_late_do_not_move_the_mark() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    // The answer about rows waits for the test.
    browser.evaluate(
        "(answer => { window.release = () => {}; const held = new Promise(resolve => { window.release = resolve; });
          window.fetch = (address, ...more) => (String(address).includes('api/containers?') ? held : Promise.resolve())
              .then(() => answer(address, ...more)); })(window.fetch.bind(window)); true",
    );
    browser.with_key_down("Control", |browser| browser.key("k"));
    browser.wait("document.querySelector('#palette').open");
    browser.type_text("0.1");
    browser.key("ArrowUp");
    let marked = "document.querySelector('#palette-choices [aria-selected=true]')?.innerText";
    browser.wait(&format!("{marked}.startsWith('Find “0.1”')"));
    browser.evaluate("window.release(); true");
    browser.wait("document.querySelector('#palette-choices').innerText.includes('Go to thread 0.1')");
    assert_eq!(browser.evaluate(marked).as_str().map(|text| text.starts_with("Find “0.1”")), Some(true));
    browser.key("Enter");
    browser.wait("document.activeElement.id === 'find-field' || document.querySelector('#find-field').value === '0.1'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_help_sheet_has_every_key_of_the_table() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("?");
    let help = read(&mut browser, "dialog", "Keys and gestures");
    let listed = "import(new URL('controls/actions.js', location.href)).then(({ ACTIONS }) =>
        ACTIONS.filter(action => action.keys || action.pointer).map(action => action.name))";
    let names = browser.evaluate(listed);
    let names = names.as_array().unwrap();
    assert!(names.len() > 30);
    for name in names {
        assert!(help.contains(name.as_str().unwrap()), "{name}");
    }
    // No key has two actions.
    let twice = "import(new URL('controls/actions.js', location.href)).then(({ ACTIONS }) => {
        const keys = ACTIONS.flatMap(action => action.keys ?? []);
        return keys.filter((key, at) => keys.indexOf(key) !== at).join(' '); })";
    assert_eq!(browser.evaluate(twice), "");
    press(&mut browser, "button", "Close");
    browser.wait("!document.querySelector('#help-sheet').open");
}

#[test]
fn empty_and_damaged_traces_are_reported() {
    let end = TRACE.find("5 0.0 S t00").unwrap();
    let viewer = ViewProcess::of(&TRACE[..end]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("document.querySelector('#message').innerText.includes('Nothing was recorded')");
    drop((browser, viewer));

    let viewer = ViewProcess::of(&TRACE.replace("5 0.5 S t01 b\n", "5 0.5 S nobody b\nwhat is this\n"));
    let (mut browser, _) = open(&viewer);
    let button =
        browser.find_all("button", None).into_iter().find(|button| button.name.starts_with("Damaged")).unwrap();
    let point = browser.place(&button).center();
    browser.click(point);
    let diagnostics = read(&mut browser, "dialog", "Diagnostics of the trace");
    assert!(diagnostics.contains("Part of the trace is missing or damaged"), "{diagnostics}");
    assert!(diagnostics.contains("nobody"), "{diagnostics}");
    let severities = "[...document.querySelectorAll('dialog[open] li')].map(item => item.className).join(' ')";
    assert_eq!(browser.evaluate(severities), "error error");
}

#[test]
fn nothing_is_animated_with_reduced_motion() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let moves = "getComputedStyle(document.querySelector('#progress'), '::after').animationName";
    browser.evaluate("document.querySelector('#progress').hidden = false");
    assert_ne!(browser.evaluate(moves), "none");
    if !browser.prefer_stillness() {
        return;
    }
    assert_eq!(browser.evaluate(moves), "none");
}

/// The files of a folder and its subfolders that the server sends, as paths below `prefix`.
fn files(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let paths = entries.flat_map(|entry| {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { files(&entry.path(), &format!("{path}/")) } else { vec![path] }
    });
    paths.filter(|path| path.contains('.')).collect()
}

#[test]
fn the_compressed_page_is_small() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../viewer/server/ui");
    // The exported pages contain these, too.
    let shared = ["util/axis.js", "font/Inter-Regular.woff2", "font/Inter-SemiBold.woff2"].map(str::to_owned);
    let all = [files(&folder, ""), shared.to_vec()].concat();
    // The licence of the typeface is available on request; no page loads it.
    let all: Vec<String> = all.into_iter().filter(|name| !name.ends_with(".txt")).collect();
    assert!(all.len() > 30, "{all:?}");
    // The limit applies to the compressed size, which is the cost of a slow connection.
    let sizes = format!(
        "Promise.all({}.map(file => fetch(`${{file}}?size`).then(answer => answer.arrayBuffer()).then(() => performance.getEntriesByName(new URL(`${{file}}?size`, document.baseURI).href)[0].encodedBodySize))).then(all => all.reduce((sum, one) => sum + one, 0))",
        serde_json::json!(all)
    );
    let size = browser.evaluate(&sizes).as_u64().unwrap();
    assert!((80_000..256 * 1024).contains(&size), "{size} bytes are sent for the page");
}

#[test]
fn every_control_has_an_accessible_name() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    for role in ["button", "tab", "textbox", "searchbox", "checkbox", "slider", "region", "tabpanel", "status"] {
        let all = browser.find_all(role, None);
        assert!(!all.is_empty() || role == "checkbox", "{role}");
        assert!(all.iter().all(|element| !element.name.trim().is_empty()), "a {role} without a name: {all:?}");
    }
}
