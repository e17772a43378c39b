//! Colours that the system chooses, and colours that a filter removes.

use tests::page::{TRACE, ViewProcess, entry, filter, open};

#[test]
fn meaningful_colours_stay_in_forced_colours_mode() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let colors = "JSON.stringify([...document.querySelectorAll('#legend .chip, #legend .bar-of-shares i')].map((one) => getComputedStyle(one).backgroundColor))";
    browser.wait("document.querySelectorAll('#legend .chip').length === 2");
    let before = browser.evaluate(colors);
    if !browser.force_colors() {
        return;
    }
    browser.wait("matchMedia('(forced-colors: active)').matches");
    assert_eq!(browser.evaluate(colors), before);
    browser.evaluate("document.querySelector('#tab-times').click()");
    browser.wait("document.querySelectorAll('#times .chip').length >= 2");
    let chips = "[...new Set([...document.querySelectorAll('#times tbody .chip')].map((one) => getComputedStyle(one).backgroundColor))].length";
    assert_eq!(browser.evaluate(chips), 2, "each has its own");
}

const DEFINED: &str = "%EventDef PajeDefineVariableType 90
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeSetVariable 91
% Time date
% Type string
% Container string
% Value double
%EndEventDef
0 N 0 Node
90 V N Load \"0.9 0.1 0.1\"
";

#[test]
fn variables_are_grey_if_a_filter_highlights_other_values() {
    let trace = TRACE.replace("0 N 0 Node\n", DEFINED).replace("5 0.5 S t00 b\n", "91 0.2 V n0 3\n5 0.5 S t00 b\n");
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    let _ = entry(&mut browser, "Load");
    let color = "(channels => Math.max(...channels) - Math.min(...channels))(getComputedStyle([...document.querySelectorAll('#legend .entry')].find((one) => one.innerText.startsWith('Load')).querySelector('svg')).color.match(/\\d+/g).slice(0, 3).map(Number))";
    assert!(browser.evaluate(color).as_f64() > Some(60.0), "it has a colour");
    filter(&mut browser, "bright working");
    browser.wait(&format!("{color} < 20"));
}
