//! The costs of the page on a large trace, for `docs/viewer-costs.md`: from input to the stretched
//! image, from input to the exact one, hovering, bytes.
//! The figures are printed without checks, because they depend on the machine. `TUMIT_BIN` is a
//! release build, `TUMIT_COSTS` a trace with an index.

#![allow(clippy::print_stdout, reason = "figures are what it is for")]

use std::path::PathBuf;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, screenshot_path, show};

/// Measures for each input the time of its handler, and the times until the next frame, the first
/// exact image, and the full one; also enlarges the browser's buffer of request timings.
const WATCH: &str = "{
    const chart = document.querySelector('#chart');
    window.cost = { inputs: [], open: [], coarse: [] };
    const begin = (event) => { const one = { at: event.timeStamp, from: performance.now() }; cost.open.push(one); cost.coarse.push(one); cost.inputs.push(one);
        requestAnimationFrame(() => { one.frame = performance.now() - one.at; }); };
    const end = () => { const one = cost.inputs.at(-1); if (one) one.handled = performance.now() - one.from; };
    for (const kind of ['wheel', 'keydown']) { window.addEventListener(kind, begin, true); window.addEventListener(kind, end); }
    new MutationObserver(() => {
        if (chart.dataset.settled === 'false') return;
        if (chart.dataset.settled === 'true') for (const one of cost.coarse.splice(0)) one.full = performance.now() - one.at;
        for (const one of cost.open.splice(0)) { one.exact = performance.now() - one.at; one.asked = performance.now() - one.from; }
    }).observe(chart, { attributes: true, attributeFilter: ['data-settled'] });
    performance.setResourceTimingBufferSize(5000); }";

fn settle(browser: &mut BrowserPage) {
    browser.wait(&format!("{SETTLED} || document.querySelector('#chart').dataset.settled === 'coarse'"));
    browser.wait("new Promise(done => setTimeout(() => done(true), 700))");
    browser.wait(SETTLED);
}

/// Median and largest value of a measure over all inputs, in milliseconds.
fn statistics_of(browser: &mut BrowserPage, measure: &str) -> String {
    let numbers =
        browser.evaluate(&format!("cost.inputs.map((one) => one.{measure}).filter((one) => one !== undefined)"));
    middle(&numbers)
}

fn middle(numbers: &serde_json::Value) -> String {
    let mut numbers: Vec<f64> = numbers.as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect();
    numbers.sort_by(f64::total_cmp);
    let percentile = |share: usize| numbers.get((numbers.len().max(1) - 1) * share / 100).copied().unwrap_or(f64::NAN);
    format!(
        "{:6.1} median {:6.1} of 90 % {:6.1} most ({})",
        percentile(50),
        percentile(90),
        percentile(100),
        numbers.len()
    )
}

fn report(browser: &mut BrowserPage, name: &str) {
    let measures = [
        ("handled", "handler"),
        ("frame", "to the next frame"),
        ("exact", "to the first true one"),
        ("full", "to the full one"),
    ];
    for (field, title) in measures {
        println!("{name:28} {title:24} {}", statistics_of(browser, field));
    }
    let resources = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/scene?') && !one.name.includes('whole=true'))";
    for (of, title) in [
        ("one.responseStart - one.requestStart", "scene: server"),
        ("one.responseEnd - one.startTime", "scene: all"),
        ("one.encodedBodySize / 1024", "scene: KiB"),
    ] {
        let numbers = browser.evaluate(&format!("{resources}.map((one) => {of})"));
        println!("{name:28} {title:24} {}", middle(&numbers));
    }
    browser.evaluate(
        "performance.clearResourceTimings(); cost.inputs.length = cost.open.length = cost.coarse.length = 0;",
    );
}

/// The viewer of a large trace, which a user of the tests has made.
pub(crate) fn large_trace() -> ViewProcess {
    let path = |name: &str| PathBuf::from(std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set")));
    ViewProcess::by(&path("TUMIT_BIN"), &path("TUMIT_COSTS"))
}

/// Images of a large trace, dense and sparse, for visual inspection.
#[test]
#[ignore = "makes target/tmp/large-*.png: set TUMIT_BIN and TUMIT_COSTS"]
fn measures_images_of_large_traces() {
    let viewer = large_trace();
    for (width, height) in [(1280, 720), (3840, 2160)] {
        for theme in ["light", "dark"] {
            let mut browser = BrowserPage::start(width, height);
            assert!(browser.prefer(theme), "the browser refuses the colour scheme");
            browser.open(&viewer.url);
            settle(&mut browser);
            for (name, part) in [("whole", None), ("dense", Some("11..11.4 s")), ("sparse", Some("11..11.0001 s"))] {
                if let Some(part) = part {
                    show(&mut browser, part);
                    settle(&mut browser);
                }
                browser.screenshot(&screenshot_path(&format!("large-{width}-{theme}-{name}.png")));
            }
        }
    }
}

#[test]
#[ignore = "measures a large trace: set TUMIT_BIN and TUMIT_COSTS"]
fn times_of_zooms_and_scrolls_are_printed() {
    let viewer = large_trace();
    for (width, height) in [(1280, 720), (1600, 1000), (3840, 2160)] {
        let mut browser = BrowserPage::start(width, height);
        browser.open(&viewer.url);
        settle(&mut browser);
        browser.evaluate(WATCH);
        let size = format!("{width} × {height}");
        let point = (f64::from(width) * 0.45, f64::from(height) * 0.5);
        for step in 0..24 {
            browser.wheel(point, -120.0);
            browser.wait(&format!("{SETTLED} || document.querySelector('#chart').dataset.settled === 'coarse'"));
            if step % 8 == 7 {
                settle(&mut browser);
            }
        }
        report(&mut browser, &format!("{size}, wheel, awaited"));
        // The same, with a wait for the full image before each input.
        browser.key("f");
        settle(&mut browser);
        browser.evaluate(
            "performance.clearResourceTimings(); cost.inputs.length = cost.open.length = cost.coarse.length = 0;",
        );
        for _ in 0..24 {
            browser.wheel(point, -120.0);
            browser.wait("document.querySelector('#chart').dataset.settled !== 'true' || !cost.coarse.length");
            browser.wait(SETTLED);
        }
        report(&mut browser, &format!("{size}, wheel, to the full"));
        settle(&mut browser);
        for key in ["ArrowLeft", "ArrowRight", "ArrowRight", "-", "-", "-", "ArrowLeft", "-", "-", "-"] {
            browser.key(key);
            browser.wait(&format!("{SETTLED} || document.querySelector('#chart').dataset.settled === 'coarse'"));
        }
        report(&mut browser, &format!("{size}, keys, awaited"));
        browser.key("f");
        settle(&mut browser);
        browser.evaluate(
            "performance.clearResourceTimings(); cost.inputs.length = cost.open.length = cost.coarse.length = 0;",
        );
        // Real wheel input does not wait for images.
        for _ in 0..3 {
            for _ in 0..10 {
                browser.wheel(point, -60.0);
                std::thread::sleep(std::time::Duration::from_millis(25));
            }
            settle(&mut browser);
        }
        report(&mut browser, &format!("{size}, wheel, all at once"));
        browser.evaluate("performance.clearResourceTimings()");
        for step in 0..40 {
            let x = point.0 + f64::from(step) * 7.0;
            browser.point((x, point.1 + f64::from(step % 10) * 9.0));
            browser.wait("new Promise(done => setTimeout(() => done(true), 40))");
        }
        let hovers = browser.evaluate(
            "performance.getEntriesByType('resource').filter((one) => /api\\/(entity_at|facts)/.test(one.name)).map((one) => one.responseEnd - one.startTime)",
        );
        println!("{size:28} {:24} {}", "hover", middle(&hovers));
    }
}
