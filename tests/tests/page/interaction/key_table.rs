//! Presses every key of the table: each has the effect that its name describes. A new key must be
//! added here.

use serde_json::json;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, rows, spot};

const ALL: [&str; 6] = ["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"];

/// A page, and its keys that have been pressed.
struct Keys {
    browser: BrowserPage,
    pressed: Vec<String>,
}

impl Keys {
    /// Presses a key in the notation of the table. The condition is false before and becomes true.
    fn press(&mut self, key: &str, then: &str) {
        self.browser.wait(SETTLED);
        assert_eq!(self.browser.evaluate(&format!("Boolean({then})")), false, "before {key}: {then}");
        match key.split_once('+') {
            Some((modifier @ ("Ctrl" | "Alt" | "Shift"), rest)) => {
                let modifier = if modifier == "Ctrl" { "Control" } else { modifier };
                self.browser.with_key_down(modifier, |browser| match rest.strip_prefix("Shift+") {
                    Some(key) => browser.with_key_down("Shift", |browser| browser.key(key)),
                    None => browser.key(rest),
                });
            }
            _ => self.browser.key(key),
        }
        self.pressed.push(key.to_owned());
        self.browser.wait(then);
    }

    /// Closes a dialog. Until the page has been drawn without it, Chromium may withhold keys from
    /// the page below.
    fn escape(&mut self, then: &str) {
        self.browser.key("Escape");
        self.browser.wait(then);
        self.browser
            .wait("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))");
    }

    /// Presses a key that leads to a time range, in milliseconds.
    fn time_range(&mut self, key: &str, from: f64, to: f64) {
        let then = format!(
            "(([from, to]) => Math.abs(from - {from}) < 0.1 && Math.abs(to - {to}) < 0.1)(\
             document.querySelector('#time-range-field').value.split(' .. ').map(date => parseFloat(date) * (/ s$/.test(date) ? 1000 : 1)))"
        );
        let before = self.browser.evaluate("location.hash");
        self.press(key, &then);
        // A movement makes a step of the history when it comes to rest.
        self.browser.wait(&format!("location.hash !== {before}"));
    }

    /// Presses a key that leads to these rows.
    fn rows(&mut self, key: &str, names: &[&str]) {
        let then = format!(
            "JSON.stringify([...document.querySelectorAll('#tree [role=row]')].map(row => row.getAttribute('aria-label'))) === `{}`",
            json!(names)
        );
        self.press(key, &then);
        let labels = rows(&mut self.browser);
        assert_eq!(labels.iter().filter(|name| names.contains(&name.as_str())).count(), names.len(), "{labels:?}");
    }

    fn time(&mut self) {
        self.time_range("+", 166.67, 833.33);
        self.time_range("=", 277.78, 722.22);
        self.time_range("-", 166.67, 833.33);
        self.time_range("ArrowLeft", 66.67, 733.33);
        self.time_range("ArrowRight", 166.67, 833.33);
        self.time_range("[", 66.67, 733.33);
        self.time_range("]", 166.67, 833.33);
        self.time_range("Alt+ArrowLeft", 66.67, 733.33);
        self.time_range("Alt+ArrowRight", 166.67, 833.33);
        self.time_range("f", 0.0, 1000.0);
        self.press("d", "document.querySelector('#note').innerText.includes('no time of day')");
        self.press("g", "document.activeElement.id === 'time-range-field'");
        self.browser.key("Escape");
        self.browser.wait("document.activeElement.id !== 'time-range-field'");
    }

    fn rows_of_the_tree(&mut self) {
        self.press("/", "document.activeElement.id === 'row-search'");
        self.browser.evaluate("document.activeElement.blur()");
        self.rows("_", &["Node 0", "Node 1"]);
        self.rows("*", &ALL);
        press(&mut self.browser, "row", "Node 1");
        self.browser.wait(SETTLED);
        press(&mut self.browser, "row", "Node 1");
        self.browser.wait(SETTLED);
        let turned = ["Node 1", "thread 1.0", "thread 1.1", "Node 0", "thread 0.0", "thread 0.1"];
        self.rows("Alt+ArrowUp", &turned);
        self.rows("Alt+ArrowDown", &ALL);
        self.rows("Ctrl+z", &turned);
        self.rows("Ctrl+Z", &ALL);
        self.rows("Ctrl+z", &turned);
        self.rows("Ctrl+y", &ALL);
        self.press("p", "document.querySelector('#pinned-rows [aria-label=\"Node 1\"]')");
        self.browser.key("p");
        self.browser.wait("!document.querySelector('#pinned-rows [role=row]')");
        self.rows("h", &ALL[..3]);
        self.rows("H", &ALL);
        for name in ["thread 0.0", "thread 1.0"] {
            let point = self.browser.place_of("row", name).center();
            self.browser.with_key_down("Control", |browser| browser.click(point));
        }
        let point = self.browser.place_of("row", "thread 0.0").center();
        self.browser.point(point);
        let is_selected =
            "document.querySelector('#tree [aria-label=\"thread 0.0\"]').getAttribute('aria-selected') === 'true'";
        self.browser.key("x");
        self.browser.wait(&format!("!({is_selected})"));
        self.press("x", is_selected);
        self.press("G", "document.querySelector('#filters').innerText.includes('group')");
        self.browser.with_key_down("Control", |browser| browser.key("z"));
        self.browser.wait("!document.querySelector('#filters').innerText.includes('group')");
    }

    fn entities(&mut self, chart: &tests::browser::PageElement) {
        let chosen = |what: &str| format!("document.querySelector('#inspector h2')?.innerText === '{what}'");
        let noted = |what: &str| format!("document.querySelector('#note').innerText.startsWith('{what}')");
        let point = spot(&mut self.browser, chart, 0.1, "thread 0.0");
        self.browser.click(point);
        self.browser.wait(&chosen("working"));
        self.press(".", &chosen("blocked"));
        self.press(",", &chosen("working"));
        self.press(">", &noted("This is the last"));
        self.browser.key(".");
        self.browser.wait(&chosen("blocked"));
        self.press("<", &noted("This is the first"));
        self.browser.key(",");
        self.browser.wait(&chosen("working"));
        self.press("s", &noted("The trace has no source line"));
        self.press("o", "document.querySelector('#inspector').innerText.includes('thread 1.1')");
        self.press("c", &noted("A chain of 1 link: "));
        self.browser.key("c");
        self.browser.wait("!location.hash.includes('chain')");
        let note = "document.querySelector('#note').innerText";
        self.press("r", &format!("{note}.includes('related to working, highlighted')"));
        self.press("C", "document.querySelector('[role=menu]')?.getAttribute('aria-label') === 'Colour of working'");
        self.browser.key("Escape");
        self.browser.wait("!document.querySelector('[role=menu]')");
        self.browser.key("Escape");
        self.browser.wait("document.querySelector('#inspector').hidden");
        self.press("i", "!document.querySelector('#inspector').hidden");
        self.browser.wait(&chosen("working"));
        let chart = self.browser.place(chart);
        let y = chart.y + chart.height - 20.0;
        self.browser.with_key_down("Control", |browser| {
            browser.drag((chart.x + chart.width * 0.2, y), (chart.x + chart.width * 0.6, y));
        });
        self.browser.wait("!document.querySelector('#selected-size').hidden");
        self.press("Z", "!document.querySelector('#time-range-field').value.startsWith('0')");
        self.browser.key("f");
        self.browser.wait("document.querySelector('#time-range-field').value.startsWith('0')");
        self.browser.key("Escape");
        self.browser.wait("document.querySelector('#selected-size').hidden");
        self.browser.wait(&chosen("working"));
        self.press("z", "!document.querySelector('#time-range-field').value.startsWith('0')");
        self.browser.key("f");
        self.browser.wait("document.querySelector('#time-range-field').value.startsWith('0')");
        self.press("m", &noted("Measuring from"));
        self.browser.key("Escape");
        self.press("Escape", "!document.querySelector('#inspector h2')?.checkVisibility()");
    }

    fn selection(&mut self) {
        let range = |from: u32, to: u32| format!("/range={from}000000.{to}000000(&|$)/.test(location.hash)");
        self.press("S", "document.querySelector('#select-mode').getAttribute('aria-checked') === 'true'");
        self.browser.key("S");
        press(&mut self.browser, "row", "thread 0.1");
        self.browser.wait("!document.querySelector('#inspector').hidden");
        self.press("e", &range(400, 600));
        self.browser.wait("/selected=3(&|$)/.test(location.hash)");
        self.press("Shift+ArrowRight", &range(400, 610));
        self.press("Shift+ArrowLeft", &range(400, 600));
        self.press("Ctrl+Shift+ArrowLeft", &range(390, 600));
        self.press("Ctrl+Shift+ArrowRight", &range(400, 600));
        self.press("Alt+Shift+ArrowRight", &range(410, 610));
        self.press("Alt+Shift+ArrowLeft", &range(400, 600));
        let rows = |ids: &str| format!("/&selected={}(&|$)/.test(location.hash)", ids.replace('+', "\\+"));
        self.press("Ctrl+Shift+ArrowUp", &rows("2-3"));
        self.press("Ctrl+Shift+ArrowDown", &rows("3"));
        self.press("Shift+ArrowDown", &rows("3+5"));
        self.press("Shift+ArrowUp", &rows("3"));
        self.press("Alt+Shift+ArrowUp", &rows("2"));
        self.press("Alt+Shift+ArrowDown", &rows("3"));
        self.press("O", "document.querySelector('#filters').innerText.includes('only container thread 0.1')");
        self.browser.with_key_down("Control", |browser| browser.key("z"));
        self.browser.wait("!document.querySelector('#filters').innerText.includes('only')");
        self.browser.key("f");
        self.browser.wait("document.querySelector('#time-range-field').value.startsWith('0')");
        self.browser.key("Escape");
        self.browser.wait("document.querySelector('#inspector').hidden");
    }

    fn page(&mut self) {
        let tab =
            |name: &str| format!("document.querySelector('#tab-{name}').getAttribute('aria-selected') === 'true'");
        self.press("2", &tab("times"));
        self.press("3", &tab("notes"));
        self.press("1", &tab("legend"));
        self.press("Ctrl+f", "document.activeElement.id === 'find-field'");
        self.browser.evaluate("document.activeElement.blur()");
        self.press("l", "document.querySelector('#panel').hidden");
        self.browser.key("l");
        self.press("v", "document.activeElement.id === 'play-pause'");
        self.browser.evaluate("document.activeElement.blur()");
        self.browser.key("v");
        self.browser.wait("document.querySelector('#dock').hidden");
        self.press("t", "document.documentElement.dataset.theme === 'dark'");
        self.press("b", "document.activeElement.getAttribute('aria-label') === 'Note'");
        self.browser.key("Escape");
        for key in ["Ctrl+k", ":"] {
            self.press(key, "document.querySelector('#palette').open");
            self.escape("!document.querySelector('#palette').open");
        }
        self.press("?", "document.querySelector('#help-sheet').open");
        self.escape("!document.querySelector('#help-sheet').open");
        self.press("F", "document.activeElement.id === 'filter-field'");
        self.browser.key("Escape");
        self.browser.wait("document.activeElement.id !== 'filter-field'");
    }
}

#[test]
fn every_key_of_the_help_has_its_effect() {
    let viewer = ViewProcess::start();
    let (browser, chart) = open(&viewer);
    let mut keys = Keys { browser, pressed: Vec::new() };
    let listed = keys.browser.evaluate(
        "import(new URL('controls/actions.js', location.href)).then(({ ACTIONS }) => ACTIONS.flatMap(action => action.run || action.press ? action.keys ?? [] : []))",
    );
    keys.time();
    keys.entities(&chart);
    keys.selection();
    keys.rows_of_the_tree();
    keys.page();
    // This key is the last one, because it replaces the page by one with two panes.
    keys.press("|", "frames.length === 2");
    // More rows than there is room for.
    let more: String = (2..42).map(|n| format!("3 0.0 t0{n} T n0 \"thread 0.{n}\"\n5 0.0 S t0{n} w\n")).collect();
    let viewer = ViewProcess::of(&TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N")));
    let mut tall = Keys { browser: open(&viewer).0, pressed: Vec::new() };
    tall.press("ArrowDown", "document.querySelector('#scroller').scrollTop > 0");
    tall.press("ArrowUp", "document.querySelector('#scroller').scrollTop === 0");
    keys.pressed.append(&mut tall.pressed);
    let mut untested_keys: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|key| key.as_str()).collect();
    assert!(untested_keys.len() > 40, "{untested_keys:?}");
    untested_keys.retain(|key| !keys.pressed.iter().any(|pressed| pressed == key));
    assert!(untested_keys.is_empty(), "keys that were not pressed: {untested_keys:?}");
    assert!(keys.browser.complaints().is_empty(), "{:?}", keys.browser.complaints());
}
