//! Time: the minimap, typed time ranges, the trail of zooms, measuring.

use serde_json::Value;
use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, press, read, show, spot, time_range};
use tests::programs::{molecular_dynamics, succeed};

#[test]
fn a_time_range_is_read_with_units_and_mistakes_are_explained() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for (typed, label) in [
        ("0.2..0.4 s", ("200.00 ms", "400.00 ms")),
        ("250 .. 300ms", ("250.000 ms", "300.000 ms")),
        ("700ms..705", ("700.0000 ms", "705.0000 ms")),
        ("500ms + 100ms", ("500.00 ms", "600.00 ms")),
        ("..100ms", ("0 s", "100.00 ms")),
    ] {
        browser.key("g");
        browser.type_text(typed);
        browser.key("Enter");
        let first = label.0;
        browser.wait(&format!("document.querySelector('#time-range-field').value.startsWith('{first} ..')"));
        browser.wait(SETTLED);
        assert_eq!(time_range(&mut browser), (label.0.to_owned(), label.1.to_owned()), "{typed}");
    }
    for (typed, said) in [
        ("0.2..soon", "`soon`: expected a time"),
        ("4..3 s", "expected the start before the end; example: `3s..4s`"),
        ("7..", "is outside the trace"),
    ] {
        browser.key("g");
        browser.type_text(typed);
        browser.key("Enter");
        browser.wait(&format!("document.querySelector('#time-range-error').innerText.includes('{said}')"));
        browser.key("Escape");
        browser.wait("document.querySelector('#time-range-error').hidden");
    }
    assert_eq!(time_range(&mut browser).1, "100.00 ms", "what is wrong changes nothing");
    assert!(!browser.evaluate("document.querySelector('#note').innerText").as_str().unwrap().contains("nearest"));
    browser.key("g");
    browser.type_text("-1..2 s");
    browser.key("Enter");
    browser.wait("document.querySelector('#note').innerText.includes('this is the nearest')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_page_reads_the_same_time_ranges_as_the_command() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let table: Value = serde_json::from_str(include_str!("../../../../converter/paje/tests/time_ranges.json")).unwrap();
    let read = browser.evaluate(&format!(
        "import(performance.getEntriesByType('resource').find(one => one.name.endsWith('/time_range.js')).name)
        .then(({{ parseTimeRange }}) => {table}.map(({{ text }}) => {{
            const read = parseTimeRange(text);
            if ('error' in read) return {{ text, error: read.error }};
            const [from, to] = [read.from, read.to].map((nanos) => nanos === null ? null : String(nanos));
            return {{ text, from, to }};
        }}))"
    ));
    for (read, row) in read.as_array().unwrap().iter().zip(table.as_array().unwrap()) {
        assert_eq!(read, row);
    }
}

#[test]
fn the_zoom_history_leads_back() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    for (typed, crumbs) in [("200..600ms", 2), ("300..400ms", 3), ("310..320ms", 4)] {
        browser.key("g");
        browser.type_text(typed);
        browser.key("Enter");
        browser.wait(&format!("document.querySelectorAll('#zoom-history li').length === {crumbs}"));
    }
    let all = read(&mut browser, "navigation", "Zoom history");
    let names: Vec<&str> = all.split_whitespace().collect();
    assert_eq!(names, ["All", "1.000", "s", "400.0", "ms", "100.0", "ms", "10.00", "ms"]);
    let crumb =
        browser.find_all("button", None).into_iter().find(|button| button.name.starts_with("400.0 ms:")).unwrap();
    let point = browser.place(&crumb).center();
    browser.click(point);
    browser.wait("document.querySelectorAll('#zoom-history li').length === 2");
    assert_eq!(time_range(&mut browser), ("200.00 ms".to_owned(), "600.00 ms".to_owned()));
    // Back and forward restore the crumbs.
    browser.key("[");
    browser.wait("document.querySelectorAll('#zoom-history li').length === 4");
    assert_eq!(time_range(&mut browser).0, "310.000 ms");
    browser.key("]");
    browser.wait("document.querySelectorAll('#zoom-history li').length === 2");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_ruler_shows_the_time_of_day_of_runs() {
    let base = "document.querySelector('#ruler-base').textContent";
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let mut program = molecular_dynamics();
    succeed(program.args(["--placement", "random", "--steps", "1"]).env("TUMIT_TRACE", &run));
    let viewer = ViewProcess::of_paths(std::slice::from_ref(&run));
    let (mut browser, _) = open(&viewer);
    assert_eq!(browser.evaluate(base), "");
    browser.key("d");
    browser.wait(&format!("/^20\\d\\d-\\d\\d-\\d\\d (\\d\\d:\\d\\d:\\d\\d )?UTC$/.test({base})"));
    browser.wait("location.hash.includes('clock=utc')");
    // The address contains it.
    browser.reload();
    browser.wait("document.querySelector('#ruler-base')?.textContent.endsWith('UTC')");
    browser.wait(SETTLED);
    browser.key("d");
    browser.wait(&format!("!{base}.endsWith('UTC') && !location.hash.includes('clock')"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    // Pajé text has no time of day.
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("d");
    browser.wait("document.querySelector('#note').innerText.includes('no time of day')");
}

#[test]
fn back_works_during_a_continuing_movement() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    show(&mut browser, "0.2..0.6 s");
    for key in ["+", "["] {
        browser.key(key);
    }
    browser.wait("location.hash.includes('t=200000000-600000000')");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), ("200.00 ms".to_owned(), "600.00 ms".to_owned()));
    browser.key("]");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('266')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_window_of_the_minimap_is_moved_and_resized() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let map = browser.find("slider", Some("Position in the trace"));
    let place = browser.place(&map);
    let point_at = |share: f64| (place.x + place.width * share, place.center().1);
    browser.drag(point_at(0.2), point_at(0.4));
    browser.wait(SETTLED);
    let (from, to) = time_range(&mut browser);
    assert!(
        (from.starts_with("20") || from.starts_with("19")) && (to.starts_with("40") || to.starts_with("39")),
        "{from} {to}"
    );
    // A drag at its middle moves the frame.
    browser.drag(point_at(0.3), point_at(0.6));
    browser.wait(SETTLED);
    let (from, to) = time_range(&mut browser);
    assert!(
        (from.starts_with("50") || from.starts_with("49")) && (to.starts_with("70") || to.starts_with("69")),
        "{from} {to}"
    );
    // A drag at its edge stretches the frame.
    let edge =
        browser.evaluate("document.querySelector('#minimap .window').getBoundingClientRect().right").as_f64().unwrap();
    browser.drag((edge - 3.0, point_at(0.0).1), (point_at(0.9).0 - 3.0, point_at(0.0).1));
    browser.wait(SETTLED);
    let (left, right) = time_range(&mut browser);
    assert_eq!(left, from);
    assert!(right.starts_with("90") || right.starts_with("89"), "{right}");
    // Keys move it, too.
    browser.evaluate("document.querySelector('#minimap').focus()");
    browser.key("Home");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('0 s')");
    browser.key("ArrowRight");
    browser.wait("!document.querySelector('#time-range-field').value.startsWith('0 s')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_measurement_snaps_to_starts_and_ends_of_entities() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    // From near the beginning of `blocked` to near the end of the message.
    let from = spot(&mut browser, &chart, 0.502, "thread 0.0");
    let to = spot(&mut browser, &chart, 0.398, "thread 1.1");
    browser.with_key_down("Control", |browser| browser.drag(from, to));
    browser.wait("location.hash.includes('range=400000000+500000000')");
    let measurement = read(&mut browser, "status", "Selection");
    assert_eq!(measurement, "all rows × 100.0 ms from 400.0 ms to 500.0 ms");
    press(&mut browser, "button", "Zoom");
    browser.wait(SETTLED);
    assert_eq!(time_range(&mut browser), ("390.00 ms".to_owned(), "510.00 ms".to_owned()));
    browser.key("Escape");
    browser.wait("document.querySelector('#selected-size').hidden && !location.hash.includes('range')");
    // By key, between two places.
    browser.key("f");
    browser.wait(SETTLED);
    let (from, to) = (spot(&mut browser, &chart, 0.008, "thread 0.0"), spot(&mut browser, &chart, 0.499, "thread 0.0"));
    browser.point(from);
    browser.key("m");
    browser
        .wait("document.querySelector('#note').innerText.includes('Measuring from 0 s, start of working, thread 0.0')");
    browser.point(to);
    browser.key("m");
    browser.wait("document.querySelector('#selected-size').innerText === 'all rows × 500.0 ms from 0 s to 500.0 ms'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The distance in pixels of the border between `working` and `blocked` from its place at a height
/// of the image, and the share of painted pixels there.
fn drawn(browser: &mut BrowserPage, height: f64) -> (f64, f64) {
    let measured = browser.evaluate(&format!(
        "import(new URL('state/view_state.js', location.href)).then(({{ view }}) => {{
            const image = document.querySelector('#chart .image');
            const pixels = image.getContext('2d').getImageData(0, {height:.0}, image.width, 1).data;
            const painted = [], red = [];
            for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 100 && Math.abs(pixels[i] - pixels[i + 1]) > 40) {{
                painted.push(i / 4);
                if (pixels[i] > pixels[i + 1]) red.push(i / 4);
            }}
            const place = ((5e8 - view.from) / (view.to - view.from)) * image.width;
            return [Math.abs(red[0] - place), painted.length / image.width]; }})"
    ));
    let number = |index: usize| measured[index].as_f64().unwrap_or(f64::INFINITY);
    (number(0), number(1))
}

#[test]
fn the_previous_image_is_stretched_until_the_response_arrives() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let top = browser.place(&chart).y;
    // Above the names of the states, which are everywhere in the row.
    let row = spot(&mut browser, &chart, 0.5, "thread 0.1").1 - top - 10.0;
    let right = |(far, share): (f64, f64)| far < 3.0 && share > 0.97;
    assert!(right(drawn(&mut browser, row)), "{:?}", drawn(&mut browser, row));
    // An exact image of a time range, before the server stops answering.
    browser.key("+");
    browser.key("+");
    browser.wait(SETTLED);
    browser.evaluate(
        "{ const ask = window.fetch;
           window.fetch = (url, more) => String(url).includes('api/scene') ? new Promise(() => {}) : ask(url, more); }",
    );
    for key in ["+", "ArrowRight", "ArrowRight", "ArrowLeft", "-", "ArrowLeft", "ArrowLeft"] {
        browser.key(key);
        assert!(right(drawn(&mut browser, row)), "{key}: {:?}", drawn(&mut browser, row));
        assert_eq!(browser.evaluate(SETTLED), false, "it is not exact, and says so");
    }
    // Images drawn before need no answer.
    browser.key("f");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('0 s')");
    assert!(right(drawn(&mut browser, row)));
    let point = spot(&mut browser, &chart, 0.25, "thread 0.1");
    browser.point(point);
    browser.wait("document.querySelector('#tooltip').innerText.includes('working')");
    // Rows that move take their image with them, and a group that folds shows the contents of its
    // rows.
    browser.key("_");
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 2");
    let row = browser.place_of("row", "Node 1").center().1 - top - 6.0;
    assert!(right(drawn(&mut browser, row)), "{:?}", drawn(&mut browser, row));
    assert_eq!(browser.evaluate(SETTLED), false);
}

/// The texts of the ruler at each tick, with their positions in pixels. The canvas is intercepted,
/// because the texts are drawn.
fn ruler(browser: &mut BrowserPage) -> (String, Vec<(String, f64)>) {
    let drawn = browser.evaluate(
        "(() => { const ruler = document.querySelector('#ruler canvas').getContext('2d');
            const said = [];
            ruler.fillText = (text, x) => said.push([text, x]);
            document.querySelector('#ruler').dispatchEvent(new PointerEvent('pointerleave'));
            delete ruler.fillText;
            return [document.querySelector('#ruler-base').innerText, said]; })()",
    );
    let labels = drawn[1].as_array().unwrap().iter();
    let labels = labels.map(|entry| (entry[0].as_str().unwrap().replace('\u{202f}', ""), entry[1].as_f64().unwrap()));
    (drawn[0].as_str().unwrap().replace('\u{a0}', " "), labels.collect())
}

#[test]
fn the_ruler_has_readable_units_at_every_zoom() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let width = browser.evaluate("document.querySelector('#ruler').clientWidth").as_f64().unwrap();
    // The unit, the base of the labels if there is one, and some of the texts.
    for (typed, unit, base, text, from, to) in [
        ("0..1 s", "s", "", "0.4 s", 0.0, 1e9),
        ("200..260 ms", "ms", "", "210 ms", 2e8, 2.6e8),
        ("250..250.5 ms", "ms", "", "250.2 ms", 2.5e8, 2.505e8),
        ("310..310.05 ms", "ms", "", "310.02 ms", 3.1e8, 3.1005e8),
        ("310..310.0004 ms", "µs", "310.0 ms", "+0.10 µs", 3.1e8, 3.100_004e8),
    ] {
        show(&mut browser, typed);
        browser.point((4.0, 4.0));
        let (counts_from, ticks) = ruler(&mut browser);
        assert!(counts_from.starts_with(base) && counts_from.is_empty() == base.is_empty(), "{typed}: {counts_from}");
        assert!((4..=12).contains(&ticks.len()), "{typed}: {ticks:?}");
        assert!(ticks.iter().any(|(label, _)| label == text), "{typed}: no {text} in {ticks:?}");
        let number = |label: &str| label.trim_start_matches('+').split(' ').next().unwrap().parse::<f64>().unwrap();
        let size = match unit {
            "s" => 1e9,
            "ms" => 1e6,
            "µs" => 1e3,
            _ => 1.0,
        };
        let zero = if base.is_empty() { 0.0 } else { number(&counts_from) * 1e6 };
        for (label, x) in &ticks {
            assert!(label.ends_with(&format!(" {unit}")), "{typed}: {label}");
            // Each text is at its timestamp, except those that would not fit at the edges.
            let place = (zero + number(label) * size - from) / (to - from) * width;
            assert!((place - x).abs() < 1.5 || *x < 40.0 || *x > width - 40.0, "{typed}: {label} at {x}, not {place}");
        }
        let steps: Vec<f64> = ticks.windows(2).map(|two| number(&two[1].0) - number(&two[0].0)).collect();
        let step = steps[0];
        assert!(steps.iter().all(|width| (width - step).abs() < step * 1e-6), "{typed}: {steps:?}");
        let lead = step / 10_f64.powf(step.log10().floor());
        assert!([1.0, 2.0, 5.0, 10.0].iter().any(|round| (lead - round).abs() < 1e-6), "{typed}: every {step} {unit}");
        assert!(ticks.windows(2).all(|two| two[1].1 - two[0].1 > 40.0), "{typed}: {ticks:?}");
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
