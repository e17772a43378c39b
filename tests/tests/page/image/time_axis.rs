//! The time axis of the page: no label is cut or overlaps another one, and long times have days and
//! hours.

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, filter, open, show, time_range};
use tumit_viewer::layout::scale::TimeScale;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::{duration, timestamp};

const DAY: i64 = 86_400_000_000_000;

/// [`TRACE`] with its second as long as this many seconds.
fn stretched(seconds: f64) -> String {
    let stretch = |line: &str| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if words.len() > 3 && ["3", "4", "5", "7", "8"].contains(&words[0].as_str()) {
            words[1] = format!("{:.9}", words[1].parse::<f64>().unwrap() * seconds);
        }
        words.join(" ")
    };
    TRACE.lines().map(|line| stretch(line) + "\n").collect()
}

/// The labels that the ruler draws, as text, left and right edge; the width of the ruler; the base
/// text of the labels; and whether that is cut or leaves its place.
fn ruler(browser: &mut BrowserPage) -> (Vec<(String, f64, f64)>, f64, String, bool) {
    let drawn = browser.evaluate(
        "(() => { const ruler = document.querySelector('#ruler'), pen = ruler.querySelector('canvas').getContext('2d');
            const labels = [];
            pen.fillText = (text, x) => { const half = pen.measureText(text).width / 2; labels.push([text, x - half, x + half]); };
            ruler.dispatchEvent(new PointerEvent('pointerleave'));
            delete pen.fillText;
            const base = document.querySelector('#ruler-base'), corner = base.parentElement.getBoundingClientRect();
            const range = document.createRange();
            range.selectNodeContents(base);
            const cut = [...range.getClientRects()].some((box) => box.left < corner.left - 0.5 || box.right > corner.right + 0.5 || box.top < corner.top - 0.5 || box.bottom > corner.bottom + 0.5);
            return [labels, ruler.clientWidth, base.textContent, cut]; })()",
    );
    let labels = drawn[0].as_array().unwrap().iter();
    let labels = labels
        .map(|entry| (entry[0].as_str().unwrap().to_owned(), entry[1].as_f64().unwrap(), entry[2].as_f64().unwrap()));
    (labels.collect(), drawn[1].as_f64().unwrap(), drawn[2].as_str().unwrap().to_owned(), drawn[3] == true)
}

fn check(browser: &mut BrowserPage, case: &str) -> Vec<String> {
    browser.point((4.0, 4.0));
    let (labels, width, base, is_cut) = ruler(browser);
    let mut free = 0.0;
    for (text, left, right) in &labels {
        assert!(*left >= free && *right <= width, "{case}: `{text}` at {left} to {right} of {width} in {labels:?}");
        free = right + 4.0;
    }
    assert!(labels.len() >= 2 || width < 400.0, "{case}: {labels:?}");
    assert!(!is_cut, "{case}: the base `{base}` is cut");
    labels.into_iter().map(|label| label.0).collect()
}

#[test]
fn axis_labels_do_not_overlap_at_any_span_and_width() {
    let viewer = ViewProcess::of(&stretched(400.0 * 86_400.0));
    for (wide, tall) in [(1280, 720), (600, 720)] {
        let mut browser = BrowserPage::start(wide, tall);
        browser.open(&viewer.url);
        browser.wait(SETTLED);
        assert!(check(&mut browser, "all").contains(&"100 d".to_owned()));
        for typed in [
            "399 d..399 d 10h",
            "0 + 1h",
            "0..40 min",
            "399d 23h..399d 23h 20min",
            "399d 23h + 10 s",
            "123456789.987654321 + 10ns",
            "399d 23h 58min 7.0000001 s + 20us",
            "1 s + 10 us",
            "0..10 ns",
            "12.3456789 s + 300 ns",
            "9min..11min",
        ] {
            show(&mut browser, typed);
            check(&mut browser, typed);
            // The page accepts the text that it prints.
            let range = time_range(&mut browser);
            show(&mut browser, &format!("{} .. {}", range.0, range.1));
            assert_eq!(time_range(&mut browser), range, "{typed}");
        }
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}

#[test]
fn time_ranges_in_hours_are_read_and_printed() {
    let viewer = ViewProcess::of(&stretched(36_000.0));
    let (mut browser, _) = open(&viewer);
    assert_eq!(time_range(&mut browser), ("0 s".to_owned(), "10 h".to_owned()));
    show(&mut browser, "1..2h 30min");
    assert_eq!(time_range(&mut browser), ("1 h".to_owned(), "2 h 30 min".to_owned()));
    assert!(check(&mut browser, "hours").contains(&"1 h 30 min".to_owned()));
    // A filter accepts the same text as a time range.
    filter(&mut browser, "cut 1h..2h 30min");
    browser.wait("document.querySelector('#minimap').getAttribute('aria-valuetext') === '1 h to 2 h 30 min'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Spans from 10 ns to 400 days at places up to 400 days from 0.
fn cases() -> Vec<(i64, i64, u16)> {
    let spans = [
        10,
        999,
        4_321,
        1_000_000,
        77_000_000,
        5_000_000_000,
        59_000_000_000,
        601_000_000_000,
        7_200_000_000_000,
        DAY,
        11 * DAY,
        400 * DAY,
    ];
    let starts =
        [0, 1, 987_654_321, 599_000_000_000, -3_600_000_000_000, DAY + 1_234_567, 399 * DAY + 86_398_765_432_101];
    let mut cases = Vec::new();
    for span in spans {
        for start in starts {
            for width in [90, 333, 1024, 3000] {
                cases.push((start, start + span, width));
            }
        }
    }
    cases
}

#[test]
fn images_and_page_have_the_same_axis() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    let requests: Vec<serde_json::Value> =
        cases().iter().map(|(from, to, width)| serde_json::json!([from.to_string(), to - from, width])).collect();
    let requests = serde_json::Value::from(requests);
    let drawn = browser.evaluate(&format!(
        "import(new URL('util/axis.js', location.href)).then(({{ durationText, placeTicks, timeTicks, timestampText }}) => {requests}.map(([from, span, width]) => {{
            const axis = placeTicks(width, (text) => 6 * text.length, (spacing) => timeTicks(BigInt(from), 0, span, width, spacing));
            return {{ base: axis.base, labels: axis.ticks.map((tick) => tick.label), span: durationText(span, 4), from: timestampText(BigInt(from), span / 1000) }}; }}))"
    ));
    for ((from, to, width), drawn) in cases().into_iter().zip(drawn.as_array().unwrap()) {
        let scale =
            TimeScale { time_range: TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }, width: width.into() };
        let measure = |text: &str| (0..text.chars().count()).map(|_| 6.0).sum();
        let ruler = scale.ruler(measure);
        let labels: Vec<Option<String>> =
            ruler.ticks.into_iter().map(|tick| tick.label.map(|label| label.text)).collect();
        let expected = serde_json::json!({
            "base": ruler.base, "labels": labels, "span": duration(to - from),
            "from": timestamp(GlobalNanos(from), (to - from) / 1000),
        });
        assert_eq!(*drawn, expected, "{from} to {to}, {width} wide");
    }
}
