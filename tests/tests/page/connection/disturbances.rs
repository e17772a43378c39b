//! Problems around the page: broken connections, replaced and removed traces, several tabs, invalid
//! indexes, names of any kind.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, filter, open, press, read, rows, show, spot, time_range, wait_for_rows,
};
use tests::programs::{succeed, tumit};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

/// A connection to the server that may break, like that of `ssh -L`.
struct BreakableConnection {
    holds: Arc<AtomicBool>,
    /// Both endpoints of each connection through it.
    open: Arc<Mutex<Vec<TcpStream>>>,
    /// The address of the page at its near end.
    url: String,
}

impl BreakableConnection {
    fn to(url: &str) -> Self {
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
        let near = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = Self {
            holds: Arc::new(AtomicBool::new(true)),
            open: Arc::default(),
            url: format!("http://{}/{path}", near.local_addr().unwrap()),
        };
        let (holds, open, far) = (Arc::clone(&line.holds), Arc::clone(&line.open), host.to_owned());
        std::thread::spawn(move || {
            for stream in near.incoming() {
                let (Ok(here), true) = (stream, holds.load(Ordering::SeqCst)) else { continue };
                let there = TcpStream::connect(&far).unwrap();
                open.lock().unwrap().extend([here.try_clone().unwrap(), there.try_clone().unwrap()]);
                let back = (there.try_clone().unwrap(), here.try_clone().unwrap());
                std::thread::spawn(move || carry(here, there));
                std::thread::spawn(move || carry(back.0, back.1));
            }
        });
        line
    }

    fn set(&self, holds: bool) {
        self.holds.store(holds, Ordering::SeqCst);
        for end in self.open.lock().unwrap().drain(..) {
            // It may have ended already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Carries bytes until an endpoint closes.
fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Whether the page reports a problem.
const TROUBLED: &str = "!document.querySelector('#error-box').hidden";

#[test]
fn a_broken_connection_is_reported_and_can_be_retried() {
    let viewer = ViewProcess::start();
    let line = BreakableConnection::to(&viewer.url);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&line.url);
    wait_for_rows(&mut browser, &ALL);
    // A hidden page sends no requests by itself.
    browser.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true }) && true");
    line.set(false);
    browser.key("+");
    browser.wait(TROUBLED);
    let trouble = browser.find("alert", None);
    let message = browser.text(&trouble);
    assert!(
        message.starts_with("No connection to the server") && message.contains("The last image stays"),
        "{message}"
    );
    let before = time_range(&mut browser);
    press(&mut browser, "button", "Try again");
    browser.wait("document.querySelector('#note').innerText === 'There is still no answer'");
    assert_eq!(browser.evaluate(TROUBLED), true);
    assert_eq!(rows(&mut browser), ALL, "what was drawn stays");
    // A file cannot be saved either, and the page reports it.
    press(&mut browser, "button", "Save and open");
    press(&mut browser, "menuitem", "Save image as SVG");
    browser.wait("document.querySelector('#note').innerText.startsWith('The server does not answer')");
    line.set(true);
    press(&mut browser, "button", "Try again");
    browser.wait("document.querySelector('#note').innerText === 'The server answers again'");
    browser.wait(&format!("!({TROUBLED})"));
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), before, "the same page, where it was");
    // A visible page reconnects by itself.
    line.set(false);
    browser.key("ArrowRight");
    browser.wait(TROUBLED);
    browser.evaluate("delete document.hidden");
    line.set(true);
    browser.wait(&format!("!({TROUBLED})"));
    browser.wait(SETTLED);
}

#[test]
fn a_replaced_trace_is_reported_and_the_first_stays_visible() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    std::fs::write(viewer.folder.path().join("two-nodes.paje"), TRACE.replace("5 0.5", "5 0.25")).unwrap();
    browser
        .wait("document.querySelector('#note').innerText.startsWith('The trace has changed: start tumit view again')");
    assert_eq!(read(&mut browser, "status", "Reading progress"), "changed since it was read");
    let point = spot(&mut browser, &chart, 0.4, "thread 0.1");
    browser.click(point);
    browser.wait("document.querySelector('#inspector').innerText.includes('500.0 ms')");
    browser.key("+");
    browser.wait(SETTLED);
    // A new viewer shows the present trace: it does not use the index of the earlier one.
    let again = ViewProcess::other_user_as(&viewer);
    let (mut browser, chart) = open(&again);
    let point = spot(&mut browser, &chart, 0.2, "thread 0.1");
    browser.click(point);
    browser.wait("document.querySelector('#inspector').innerText.includes('250.0 ms')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_removed_trace_is_reported_and_stays_visible() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    std::fs::remove_file(viewer.folder.path().join("two-nodes.paje")).unwrap();
    browser.wait("document.querySelector('#note').innerText.startsWith('The trace has been removed')");
    browser.key("+");
    browser.wait(SETTLED);
}

#[test]
fn a_stale_or_damaged_index_is_rebuilt() {
    let viewer = ViewProcess::start();
    let trace = viewer.folder.path().join("two-nodes.paje");
    let index = viewer.folder.path().join("two-nodes.paje.tmtx");
    let check_page = || {
        let again = ViewProcess::other_user_as(&viewer);
        let (mut browser, chart) = open(&again);
        let point = spot(&mut browser, &chart, 0.2, "thread 0.1");
        browser.click(point);
        browser.wait("document.querySelector('#inspector').innerText.includes('Duration')");
        let inspector = read(&mut browser, "region", "Inspector");
        assert_eq!(rows(&mut browser), ALL);
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
        inspector
    };
    succeed(tumit().arg("index").arg(&trace));
    assert!(check_page().contains("500.0 ms"));
    std::fs::write(&trace, TRACE.replace("5 0.5", "5 0.25")).unwrap();
    assert!(check_page().contains("250.0 ms"), "of the trace as it was");
    succeed(tumit().arg("index").arg(&trace));
    let mut bytes = std::fs::read(&index).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xa5);
    std::fs::write(&index, bytes).unwrap();
    assert!(check_page().contains("250.0 ms"), "of a damaged index");
}

#[test]
fn two_tabs_have_separate_views_and_shared_notes() {
    let viewer = ViewProcess::start();
    let ((mut first_browser, _), (mut second_browser, _)) = (open(&viewer), open(&viewer));
    show(&mut first_browser, "0.2..0.4 s");
    filter(&mut first_browser, "only container Node 1");
    wait_for_rows(&mut first_browser, &ALL[3..]);
    assert_eq!(time_range(&mut second_browser).0, "0 s");
    assert_eq!(rows(&mut second_browser), ALL);
    first_browser.key("b");
    first_browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    first_browser.type_text("from the first tab");
    first_browser.key("Enter");
    first_browser.find("button", Some("Go to note from the first tab"));
    // The other tab has the note as soon as it opens the list, and adds another one.
    press(&mut second_browser, "tab", "Notes");
    press(&mut second_browser, "button", "Go to note from the first tab");
    second_browser.wait("document.querySelector('#time-range-field').value.startsWith('200')");
    second_browser.key("b");
    second_browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    second_browser.type_text("from the second");
    second_browser.key("Enter");
    second_browser.find("button", Some("Go to note from the second"));
    // It is shown at once, and stored soon.
    let saved = || std::fs::read_to_string(viewer.folder.path().join("two-nodes.paje.tumit-notes")).unwrap();
    while !saved().contains("from the second") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    press(&mut first_browser, "tab", "Legend");
    press(&mut first_browser, "tab", "Notes");
    first_browser.find("button", Some("Go to note from the second"));
    assert!(saved().contains("from the first tab"), "{}", saved());
    for browser in [first_browser, second_browser] {
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}

/// Long names, names from right to left, and names that look like markup, at every place of the
/// page.
#[test]
fn names_with_markup_and_directions_are_shown_as_text() {
    let long = "long ".repeat(1000);
    for name in [
        "<b onclick=boom()>bold</b><script>boom()</script>",
        "يعمل 🚀🧵 👩‍🔬",
        long.trim_end(),
        "\u{202e}reversed",
        "{{7*7}} ${x} &lt;",
    ] {
        let trace =
            TRACE.replace(" working ", &format!(" \"{name}\" ")).replace("\"thread 0.1\"", &format!("\"{name}\""));
        let viewer = ViewProcess::of(&trace);
        let (mut browser, chart) = open(&viewer);
        // Browsers normalise spaces and direction signs in the text of an element.
        let words_of = |text: &str| text.replace('\u{202e}', "").split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |text: &str| words_of(text).contains(&words_of(name));
        let point = spot(&mut browser, &chart, 0.25, "thread 0.0");
        browser.point(point);
        browser.wait("document.querySelector('#tooltip dl')");
        let tooltip = browser.find("tooltip", None);
        let text = browser.text(&tooltip);
        assert!(has(&text), "the tooltip of {name:.20} says {text:.200}");
        assert!(has(&read(&mut browser, "status", "Under the pointer")), "the line below");
        browser.click(point);
        browser.wait("document.querySelector('#inspector h2')");
        assert!(has(&read(&mut browser, "region", "Inspector")), "the inspector");
        assert!(has(&read(&mut browser, "tabpanel", "Legend")), "the legend");
        browser.key("2");
        browser.wait("document.querySelector('#times table')");
        assert!(has(&read(&mut browser, "tabpanel", "Statistics")), "the table");
        browser.with_key_down("Control", |browser| browser.key("f"));
        browser.type_text("kind:state <600ms");
        browser.key("Enter");
        browser.wait("document.querySelector('#find-status').innerText === '8 found'");
        assert!(has(&read(&mut browser, "list", "Hits")), "what is found");
        browser.key("/");
        assert!(rows(&mut browser).iter().any(|row| has(row)), "the rows");
        // Regardless of the length of the name, the other facts are in the window.
        let heights = browser.evaluate(
            "['#tooltip', '#inspector'].map((one) => document.querySelector(one)).map((one) => one.hidden ? 0 : one.offsetHeight / innerHeight)",
        );
        assert!(heights[0].as_f64() < Some(0.6) && heights[1].as_f64() < Some(0.9), "{name:.20}: {heights}");
        // No part of the name became an element, ran, or made the page wider than its window.
        let elements = "document.querySelectorAll('b[onclick], script:not([src]), img').length";
        assert_eq!(browser.evaluate(elements), 0, "{name}");
        let wide = browser.evaluate("Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll('#panel, #tooltip, .bar')].map(one => one.hidden ? 0 : one.getBoundingClientRect().right - innerWidth))");
        assert!(wide.as_f64().unwrap() <= 0.5, "{name:.20} is {wide} pixels wider than the window");
        assert_eq!(
            browser.evaluate("(panel => panel.scrollWidth - panel.clientWidth)(document.querySelector('#panel'))"),
            0,
            "{name:.20}"
        );
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}
