//! Names that change the text direction, and long names: their neighbours keep their position and
//! stay readable.

use std::fs;

use tests::browser::BrowserPage;
use tests::page::{TRACE, ViewProcess, open, press, spot};
use tests::programs::{succeed, tumit};

/// True if a text in an element runs from left to right, to the right of all text before it.
fn upright(part: &str, text: &str) -> String {
    format!(
        "(() => {{ const box = {part};
            const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT); let node;
            while ((node = walker.nextNode())) {{
                const at = node.data.indexOf('{text}');
                if (at < 0) continue;
                const left = (from) => {{ const range = document.createRange(); range.setStart(node, from); range.setEnd(node, from + 1); return range.getBoundingClientRect().left; }};
                return left(at) < left(at + 1) && (at === 0 || left(at - 1) < left(at));
            }}
            return `{text} is not in ${{box.innerText}}`; }})()"
    )
}

#[test]
fn right_to_left_names_do_not_reorder_text_around_them() {
    // A sign that is never closed, one that closes an unopened one, and letters that run from right
    // to left.
    for node in ["\u{202e}Turned", "\u{2069}\u{202e}Turned", "عقدة"] {
        let trace = TRACE.replace("\"Node 0\"", &format!("\"{node}\"")).replace(" working ", &format!(" \"{node}\" "));
        let viewer = ViewProcess::of(&trace);
        let (mut browser, chart) = open(&viewer);
        let point = spot(&mut browser, &chart, 0.25, "thread 0.0");
        browser.point(point);
        browser.wait("document.querySelector('#tooltip .path')?.innerText.includes('thread 0.0')");
        let path = upright("document.querySelector('#tooltip .path')", "thread");
        assert_eq!(browser.evaluate(&path), true, "{node:?}, the tooltip");
        assert_eq!(
            browser.evaluate(&upright("document.querySelector('#readout')", "thread")),
            true,
            "{node:?}, the line below"
        );
        browser.click(point);
        browser.wait("document.querySelector('#inspector dl')");
        let place =
            "[...document.querySelectorAll('#inspector dd span')].find((one) => one.innerText.includes('thread 0.0'))";
        assert_eq!(browser.evaluate(&upright(place, "thread")), true, "{node:?}, the inspector");
        browser.with_key_down("Control", |browser| browser.key("f"));
        browser.wait("document.activeElement.id === 'find-field'");
        browser.type_text("blocked");
        browser.key("Enter");
        browser.wait("document.querySelectorAll('#hits .location').length === 4");
        let hit = "document.querySelector('#hits .location')";
        assert_eq!(browser.evaluate(&upright(hit, "thread")), true, "{node:?}, what is found");
        browser.key("2");
        press(&mut browser, "tab", "Statistics");
        browser.wait("document.querySelector('#times table')");
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}

#[test]
fn the_sticky_group_label_does_not_cover_row_names() {
    let long = "a thread with a name that is longer than the column of names";
    let more: String = (2..42).map(|n| format!("3 0.0 t0{n} T n0 \"{n} {long}\"\n5 0.0 S t0{n} w\n")).collect();
    let viewer = ViewProcess::of(&TRACE.replace("3 0.0 n1 N", &format!("{more}3 0.0 n1 N")));
    let (mut browser, chart) = open(&viewer);
    let middle = browser.place(&chart).center();
    for by in [400.0, 9.0, 7.0] {
        let before = browser.evaluate("document.querySelector('#scroller').scrollTop");
        browser.with_key_down("Shift", |browser| browser.wheel(middle, by));
        browser.wait(&format!("document.querySelector('#scroller').scrollTop !== {before}"));
        browser.wait("document.querySelector('#scrolled-ancestors').innerText === 'Node 0'");
        let over = "(() => { const pill = document.querySelector('#scrolled-ancestors button').getBoundingClientRect();
            const names = [...document.querySelectorAll('.other-rows .label')].map((one) => one.getBoundingClientRect()).filter((one) => one.top < pill.bottom && one.bottom > pill.top);
            return [names.length > 0, names.filter((one) => one.right > pill.left).length]; })()";
        assert_eq!(browser.evaluate(over), serde_json::json!([true, 0]), "scrolled by {by} more");
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn unusual_names_fit_in_the_legend_and_titles_of_an_html_file() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = (folder.path().join("long.paje"), folder.path().join("long.html"));
    let long = "long ".repeat(200);
    let text = TRACE
        .replace(" working ", &format!(" \"{}\" ", long.trim_end()))
        .replace("0 T T Message", &format!("0 T T \"{}\"", long.trim_end()))
        .replace("\"thread 0.1\"", "\"\u{202e}turned\"");
    fs::write(&trace, text).unwrap();
    succeed(tumit().args(["view", "-o"]).arg(&file).arg(&trace));
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&format!("file://{}", file.display()));
    browser.wait("document.querySelector('[aria-label=Legend] text')");
    // Texts have the typeface in which they were measured, regardless of the installed fonts.
    browser.wait("document.fonts.ready.then(() => document.fonts.check('12px Inter') && document.fonts.check('600 12px Inter') && document.fonts.size === 2)");
    let ends = "(() => { const edge = document.querySelector('svg').getBoundingClientRect().right;
        const texts = [...document.querySelectorAll('[aria-label=Legend] text')].map((one) => one.getBoundingClientRect().right);
        return [texts.length > 3, texts.filter((one) => one > edge).length]; })()";
    assert_eq!(browser.evaluate(ends), serde_json::json!([true, 0]));
    let title =
        "[...document.querySelectorAll('title')].map((one) => one.textContent).find((one) => one.includes('turned'))";
    let title = browser.evaluate(title);
    assert!(title.as_str().unwrap().contains("Node 0 › \u{2068}\u{202e}turned\u{2069}, "), "{title}");
}

#[test]
fn long_names_hide_no_columns_of_differences_and_chains() {
    let long = "long".repeat(700);
    let trace = TRACE.replace(" working ", &format!(" {long} ")).replace("\"thread 1.1\"", &format!("\"{long}\""));
    let viewer = ViewProcess::with(&[&trace, &trace], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("[0, 1].every(at => frames[at]?.document.querySelector('#chart')?.dataset.settled === 'true')");
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#differences-table tbody')");
    // The figures next to the names are visible, and the tooltip contains the whole name.
    let within = "(() => { const table = document.querySelector('#differences-table table');
        const by = table.querySelector('tbody .difference').getBoundingClientRect();
        return [by.left > 0 && by.right < innerWidth, Math.max(...[...table.querySelectorAll('tbody th')].map((one) => one.title.length))]; })()";
    assert_eq!(browser.evaluate(within), serde_json::json!([true, long.len()]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());

    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    let chart = browser.find_all("application", None).remove(0);
    let state = spot(&mut browser, &chart, 0.2, "thread 0.0");
    browser.click(state);
    browser.wait("!document.querySelector('#inspector').hidden");
    browser.key("c");
    browser.wait("document.querySelectorAll('#inspector .link-chain li').length > 0");
    let list = "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('#inspector .link-chain'))";
    assert_eq!(browser.evaluate(list), serde_json::json!(true));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
