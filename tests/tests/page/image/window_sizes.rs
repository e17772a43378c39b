//! Windows of any size: in a narrow one everything is reachable and nothing overlaps; a large one
//! is used fully.

use serde_json::json;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, press, read, screenshot_path, spot};

/// Elements that overlap another one or leave the window: buttons, fields and texts of the bar, the
/// panel's tabs, names of the rows.
const MISPLACED: &str = "(() => {
    const shown = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 1;
    const groups = [
        [...document.querySelectorAll('.brand, .bar nav, .time-range input, .duration, .tools button')],
        [...document.querySelectorAll('#panel:not([hidden]) .tabs button')],
        [...document.querySelectorAll('.scale .corner > *, #ruler')],
        [...document.querySelectorAll('.status p')],
    ];
    const name = (one) => one.getAttribute('aria-label') ?? one.id ?? one.className;
    const [field, title] = ['#time-range-field', '#name'].map((one) => document.querySelector(one));
    const cut = [
        field.scrollWidth > field.clientWidth && 'the time range is cut',
        title.getBoundingClientRect().width < Math.min(60, title.scrollWidth) && 'the name of the trace is cut',
        title.getBoundingClientRect().right > field.getBoundingClientRect().left && 'the name lies below the field',
    ];
    return cut.filter(Boolean).concat(groups.flatMap((group) => {
        const all = group.filter(shown).map((one) => [name(one), one.getBoundingClientRect()]);
        const out = all.filter(([, box]) => box.left < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5).map(([name]) => `${name} is outside`);
        const over = all.flatMap(([one, a], at) => all.slice(at + 1)
            .filter(([, b]) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5)
            .map(([other]) => `${one} lies on ${other}`));
        return [...out, ...over];
    })); })()";

fn open(viewer: &ViewProcess, width: u32, height: u32) -> BrowserPage {
    let mut browser = BrowserPage::start(width, height);
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    browser
}

#[test]
fn no_elements_overlap_in_windows_of_any_size() {
    // A long name, and a diagnostic.
    let viewer = ViewProcess::of(&TRACE.replace("5 0.5 S t01 b\n", "5 0.5 S nobody b\nwhat is this\n"));
    for (width, height) in [(640, 480), (800, 600), (1024, 768), (1280, 720), (1920, 1080), (3840, 2160)] {
        let mut browser = open(&viewer, width, height);
        for zooms in 0..3 {
            assert_eq!(browser.evaluate(MISPLACED), json!([]), "{width} × {height}, {zooms} zooms");
            browser.key("g");
            browser.type_text(["0.31234..0.35678 s", "0.3201234..0.3205678 s", "320.15..320.16 ms"][zooms]);
            browser.key("Enter");
            browser.wait(SETTLED);
        }
        let wide = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert_eq!(wide, 0, "{width} × {height}");
        browser.screenshot(&screenshot_path(&format!("page-{width}x{height}.png")));
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}

/// The left and right edges of the diagram and of the panel.
fn boxes(browser: &mut BrowserPage) -> [[f64; 2]; 2] {
    let edges = browser.evaluate(
        "['#chart', '#panel'].map((name) => document.querySelector(name).getBoundingClientRect()).map(({ left, right }) => [left, right])",
    );
    [0, 1].map(|index| [0, 1].map(|edge| edges[index][edge].as_f64().unwrap()))
}

#[test]
fn the_panel_covers_the_diagram_in_a_narrow_window() {
    let viewer = ViewProcess::start();
    let mut browser = open(&viewer, 720, 600);
    // The panel is closed at first: the diagram has the full width.
    assert_eq!(browser.find_all("tabpanel", None).len(), 0);
    let [chart, _] = boxes(&mut browser);
    assert!(chart[1] > 700.0, "{chart:?}");
    press(&mut browser, "button", "Side panel");
    browser.wait("document.querySelector('#legend').innerText.includes('working')");
    let [with, panel] = boxes(&mut browser);
    assert_eq!(with, chart, "the image stays as it is");
    assert!(panel[0] > 200.0 && (panel[1] - 720.0).abs() < 0.5, "{panel:?}");
    assert_eq!(browser.evaluate(MISPLACED), json!([]));
    // The contents of the panel are usable: a tab, a chosen state.
    press(&mut browser, "tab", "Statistics");
    browser.wait("document.querySelector('#times table')");
    let table = read(&mut browser, "tabpanel", "Statistics");
    assert!(table.contains("working"), "{table}");
    let cut = "[...document.querySelectorAll('#times td, #times th, .tabs button')].filter((one) => one.getBoundingClientRect().right > innerWidth).length";
    assert_eq!(browser.evaluate(cut), 0);
    let chart = browser.find_all("application", None).remove(0);
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key("l");
    browser.wait("document.querySelector('#panel').hidden");
    assert_eq!(browser.evaluate("document.querySelector('#panel-toggle').ariaPressed"), "false");
    // Actions without a button at this size work by keys and by name.
    browser.key("+");
    browser.wait("!document.querySelector('#time-range-field').value.startsWith('0 s')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_large_window_shows_all_rows() {
    let more: String = (2..42).map(|n| format!("3 0.0 t0{n} T n0 \"thread 0.{n}\"\n5 0.0 S t0{n} w\n")).collect();
    let viewer = ViewProcess::of(&TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N")));
    for (width, height, has_room) in [(1280, 720, false), (3840, 2160, true)] {
        let mut browser = open(&viewer, width, height);
        let scrolls =
            browser.evaluate("(box => box.scrollHeight > box.clientHeight)(document.querySelector('#scroller'))");
        assert_eq!(scrolls, !has_room, "{width} × {height}");
        let chart = browser.find_all("application", None).remove(0);
        let place = browser.place(&chart);
        assert!(place.width > f64::from(width) * 0.55, "{width}: {place:?}");
        let point = spot(&mut browser, &chart, 0.25, "thread 0.1");
        browser.point(point);
        browser.wait("document.querySelector('#tooltip').innerText.includes('working')");
    }
}
