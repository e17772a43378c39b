//! The page under axe, the engine of most accessibility checkers: no violation in any state and
//! theme.

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{ViewProcess, open, press, spot};

/// The auditor, which `make packages` fetches.
pub(crate) fn axe() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/axe/axe.min.js");
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} ({error}): `make packages` fetches what the tests need", path.display()))
}

/// The violations, one per line: the rule, the element, the advice. Themes differ only in colours,
/// so all rules are checked in the first theme and rules about colours in each.
pub(crate) fn faults(browser: &mut BrowserPage, theme: &str) -> Value {
    // Colours in a transition are not checked.
    browser.wait("document.getAnimations().every(animation => animation.playState !== 'running')");
    let rules = if theme == "light" {
        ""
    } else {
        ", runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }"
    };
    browser.evaluate(&format!(
        "axe.run(document, {{ resultTypes: ['violations']{rules} }}).then(({{ violations }}) =>
            violations.flatMap(fault => fault.nodes.map(node => `${{fault.id}}: ${{node.target}} ${{node.failureSummary}}`)))",
    ))
}

/// Checks states that are open only for a while: search results, the source, the field of a filter,
/// menus.
fn states_of_a_moment(browser: &mut BrowserPage, theme: &str) {
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.wait("document.activeElement.id === 'find-field'");
    browser.type_text("working");
    browser.key("Enter");
    browser.wait("document.querySelectorAll('#hits button').length === 4");
    press(browser, "button", "Next hit");
    browser.wait("document.querySelector('#hits [aria-current=true]')");
    assert_eq!(faults(browser, theme), json!([]), "{theme}, a hit");
    browser.evaluate("document.activeElement.blur()");
    browser.key("s");
    browser.wait("document.querySelector('#source [aria-current]')?.checkVisibility()");
    assert_eq!(faults(browser, theme), json!([]), "{theme}, the source");
    browser.key("Escape");
    browser.wait("document.querySelector('#source').hidden");
    browser.key("F");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.type_text("hide value ");
    browser.wait("document.querySelector('#filter-completions [role=option]')");
    assert_eq!(faults(browser, theme), json!([]), "{theme}, the field of a filter");
    browser.key("Escape");
    browser.wait("document.querySelector('#editor').hidden");
    let row = browser.place_of("row", "thread 0.0").center();
    browser.point(row);
    press(browser, "button", "More for thread 0.0");
    browser.wait("document.querySelector('[role=menu]')");
    assert_eq!(faults(browser, theme), json!([]), "{theme}, a menu");
    browser.key("Escape");
    browser.wait("!document.querySelector('[role=menu]')");
    browser.evaluate("document.activeElement.blur()");
}

#[test]
fn axe_reports_no_violation_in_any_state_and_theme() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let _ = browser.prefer_stillness();
    browser.evaluate(&format!("{}; true", axe()));
    // The auditor finds a planted violation.
    browser.evaluate("document.querySelector('#legend').insertAdjacentHTML('beforeend', '<button id=fault></button>')");
    let planted = faults(&mut browser, "light");
    assert!(
        planted.as_array().unwrap().iter().any(|fault| fault.as_str().unwrap().starts_with("button-name")),
        "{planted}"
    );
    browser.evaluate("document.querySelector('#fault').remove()");
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key("F");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.type_text("bright working");
    browser.key("Enter");
    browser.wait("document.querySelector('#filters').innerText.includes('bright')");
    for theme in ["light", "dark", "contrast"] {
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        for (key, selector) in [("1", "#legend .entry"), ("2", "#times table"), ("3", "#notes-status")] {
            browser.key(key);
            browser.wait(&format!("document.querySelector('{selector}')?.checkVisibility()"));
            assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, {selector}");
        }
        browser.key("?");
        browser.wait("document.querySelector('#help-sheet').open");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, help");
        press(&mut browser, "button", "Close");
        browser.with_key_down("Control", |browser| browser.key("k"));
        browser.wait("document.querySelector('#palette').open");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, palette");
        browser.key("Escape");
        browser.wait("!document.querySelector('#palette').open");
        browser.key("t");
    }
}

#[test]
fn axe_reports_no_violation_in_menus_and_dialogs() {
    let viewer = ViewProcess::of(&crate::panels::source_view::with_sources());
    let (mut browser, chart) = open(&viewer);
    let _ = browser.prefer_stillness();
    browser.evaluate(&format!("{}; true", axe()));
    let point = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    for theme in ["light", "dark", "contrast"] {
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        states_of_a_moment(&mut browser, theme);
        browser.key("t");
    }
}
