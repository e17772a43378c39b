//! Panes on one time axis: equal timestamps are below each other, Back restores all panes, keys
//! need no click.

use tests::browser::BrowserPage;
use tests::page::{TRACE, ViewProcess, press};

/// The text of each pane's time range, once all panes rest.
fn time_ranges(browser: &mut BrowserPage) -> Vec<String> {
    let shown_text = "[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument.querySelector('#time-range-field').value).join('|')";
    browser.evaluate(shown_text).as_str().unwrap().split('|').map(str::to_owned).collect()
}

/// Waits until both panes and the address have this time range.
fn rest(browser: &mut BrowserPage, expected: &str) {
    let script = "[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument.querySelector('#time-range-field').value)";
    browser.wait(&format!("{script}.length === 2 && {script}.every(text => text === {expected:?})"));
    // Movements become steps once they rest.
    browser.wait("new Promise(done => setTimeout(() => done(true), 700))");
    let shown_text = browser.evaluate(
        "[...new Set([...document.querySelectorAll('iframe')].map(frame => new URLSearchParams(frame.contentWindow.location.hash.slice(1)).get('t')))].length",
    );
    assert_eq!(shown_text, 1, "all addresses tell the same");
}

fn two(traces: [&str; 2]) -> (ViewProcess, BrowserPage) {
    let viewer = ViewProcess::with(&traces, &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')");
    (viewer, browser)
}

#[test]
fn back_and_forward_restore_all_panes() {
    let (_viewer, mut browser) = two([TRACE, TRACE]);
    let places: Vec<f64> = [0, 1]
        .iter()
        .map(|at| {
            let top = format!("document.querySelectorAll('iframe')[{at}].getBoundingClientRect().top + 200");
            browser.evaluate(&top).as_f64().unwrap()
        })
        .collect();
    let full_range = time_ranges(&mut browser)[0].clone();
    rest(&mut browser, &full_range);
    let mut visited = vec![full_range.clone()];
    for y in places {
        browser.wheel((700.0, y), -300.0);
        browser.wait(&format!(
            "frames[0].document.querySelector('#time-range-field').value !== {:?}",
            visited.last().unwrap()
        ));
        let now = time_ranges(&mut browser)[0].clone();
        rest(&mut browser, &now);
        visited.push(now);
    }
    for expected in [&visited[1], &visited[0]] {
        browser.evaluate("history.back()");
        rest(&mut browser, expected);
    }
    for expected in [&visited[1], &visited[2]] {
        browser.evaluate("history.forward()");
        rest(&mut browser, expected);
    }
    // The key of the page does the same.
    for expected in [&visited[1], &visited[0]] {
        browser.key("[");
        rest(&mut browser, expected);
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn charts_of_panes_are_aligned() {
    let longer = TRACE.replace("\"thread 1.1\"", "\"a thread with a name that needs much more room\"");
    assert_ne!(longer, TRACE);
    let (_viewer, mut browser) = two([TRACE, &longer]);
    let charts = "[0, 1].map(at => frames[at].document.querySelector('#chart').getBoundingClientRect()).map(({ left, right }) => `${left} ${right}`)";
    let is_one = format!("new Set({charts}).size === 1");
    browser.wait(&is_one);
    // The edge dragged in one pane moves in both.
    let before = browser.evaluate(&format!("{charts}[0]"));
    let edge = "frames[0].document.querySelector('#name-edge')";
    browser.evaluate(&format!("{edge}.focus()"));
    browser.key("ArrowRight");
    browser.wait(&format!("{is_one} && {charts}[0] !== {before}"));
    // A double click fits the width to the longest name in any of the panes.
    browser.evaluate(&format!("{edge}.dispatchEvent(new MouseEvent('dblclick', {{ bubbles: true }}))"));
    browser.wait(&format!("{is_one} && {charts}[0] === {before}"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn keys_work_in_panes_without_a_click() {
    let (_viewer, mut browser) = two([TRACE, TRACE]);
    browser.wait("document.activeElement === document.querySelectorAll('iframe')[0]");
    browser.key("?");
    browser.wait("frames[0].document.querySelector('#help-sheet').open");
    browser.key("Escape");
    browser.wait("!frames[0].document.querySelector('#help-sheet').open");
    // The pane at the pointer receives keys, and keeps them while the user types there.
    let low =
        browser.evaluate("document.querySelectorAll('iframe')[1].getBoundingClientRect().top + 150").as_f64().unwrap();
    browser.point((700.0, low));
    browser.wait("document.activeElement === document.querySelectorAll('iframe')[1]");
    browser.key("F");
    browser.wait("frames[1].document.activeElement.id === 'filter-field'");
    browser.point((700.0, 200.0));
    browser.type_text("only type State");
    browser.wait("frames[1].document.querySelector('#filter-field').value === 'only type State'");
    browser.key("Escape");
    // Keys without a use in the bar above go to a pane.
    browser.evaluate("document.querySelector('#differences').focus()");
    browser.key("?");
    browser.wait("[0, 1].some(at => frames[at].document.querySelector('#help-sheet').open)");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_panel_is_open_in_all_panes_or_in_none() {
    let (_viewer, mut browser) = two([TRACE, TRACE]);
    let widths =
        "[0, 1].map(at => Math.round(frames[at].document.querySelector('#chart').getBoundingClientRect().width))";
    let is_one = format!("new Set({widths}).size === 1");
    let before = browser.evaluate(&format!("{widths}[0]"));
    browser.wait("document.activeElement === document.querySelectorAll('iframe')[0]");
    browser.key("l");
    browser.wait(&format!("{is_one} && {widths}[0] < {before}"));
    browser.wait("[0, 1].every(at => !frames[at].document.querySelector('#panel').hidden)");
    // The address contains it, in a new tab too.
    browser.wait("location.hash.split('side%3D1').length === 3");
    browser.reload();
    browser.wait(&format!("frames.length === 2 && [0, 1].every(at => frames[at].document.querySelector('#chart')?.dataset.settled === 'true') && {is_one} && {widths}[0] < {before}"));
    // The page ignores keys if no pane has the focus.
    browser.wait("document.activeElement?.tagName === 'IFRAME' && document.hasFocus()");
    browser.key("l");
    browser.wait(&format!("{is_one} && {widths}[0] === {before}"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn panes_that_are_coupled_again_have_the_same_time_range() {
    let (_viewer, mut browser) = two([TRACE, TRACE]);
    let low =
        browser.evaluate("document.querySelectorAll('iframe')[1].getBoundingClientRect().top + 200").as_f64().unwrap();
    press(&mut browser, "checkbox", "one time axis");
    browser.wheel((700.0, low), -300.0);
    browser.wait("new Promise(done => setTimeout(() => done(true), 700))");
    let separate = time_ranges(&mut browser);
    assert_ne!(separate[0], separate[1]);
    press(&mut browser, "checkbox", "one time axis");
    rest(&mut browser, &separate[1]);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
