//! The size of an image on the wire, and its refinement to the resolution of the screen, with a
//! noisy trace that cannot be compressed.

use tests::browser::BrowserPage;
use tests::page::{SETTLED, ViewProcess, open, spot};

/// Threads that call a hundred functions, each call half a pixel wide when the whole trace is
/// shown.
fn noise() -> String {
    let head = include_str!("../../../../viewer/tests/header.paje");
    let mut text = head.to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..60).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T \"thread {thread}\"\n")));
    let mut dice = 7_u64;
    for date in (0..1_800_000_u32).step_by(15) {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (thread, call) = (dice >> 33 & 63, dice >> 40 & 127);
        text.push_str(&format!("11 0.{date:09} t{} C f{call}\n", thread % 60));
    }
    text
}

/// Bytes of the images so far: those that the user waited for, and those that were fetched in
/// advance.
fn fetched(browser: &mut BrowserPage) -> (Vec<u64>, Vec<u64>) {
    let entries = browser.evaluate(
        "performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/scene?'))
            .map((one) => [one.name.includes('whole=true'), one.encodedBodySize])",
    );
    let (complete_images, partial_images): (Vec<_>, Vec<_>) =
        entries.as_array().unwrap().iter().partition(|entry| entry[0] == true);
    let bytes = |entries: Vec<&serde_json::Value>| entries.iter().map(|entry| entry[1].as_u64().unwrap()).collect();
    (bytes(partial_images), bytes(complete_images))
}

/// In the line of pixels at a height of the image, or in a close one, the share of pixels that
/// differ from the previous one.
fn changes(browser: &mut BrowserPage, height: f64) -> f64 {
    browser.evaluate(&changes_at(height)).as_f64().unwrap()
}

fn changes_at(height: f64) -> String {
    format!(
        "Math.max(...[0, 6, 12].map((below) => {{ const image = document.querySelector('#chart .image');
            const data = image.getContext('2d').getImageData(0, {height:.0} + below, image.width, 1).data;
            const pixels = new Uint32Array(data.buffer);
            return pixels.filter((pixel, at) => at > 0 && pixel !== pixels[at - 1]).length / pixels.length; }}))"
    )
}

const COARSE: &str = "document.querySelector('#chart').dataset.settled === 'coarse'";

#[test]
fn images_are_coarse_during_movement_and_exact_at_rest() {
    let viewer = ViewProcess::of(&noise());
    let (mut browser, chart) = open(&viewer);
    browser.wait(SETTLED);
    let middle = browser.place(&chart).height / 2.0;
    let slow_changes = changes(&mut browser, middle);
    assert!(slow_changes > 0.3, "each column of pixels by itself: {slow_changes}");
    // The requests at rest wait until the test releases them.
    browser.evaluate(
        "{ const [ask, gate] = [window.fetch, new Promise((open) => { window.letGo = open; })];
           window.fetch = async (url, more) => { if (String(url).includes('whole=true')) await gate; return ask(url, more); }; }",
    );
    browser.key("ArrowRight");
    browser.wait(COARSE);
    let fast_changes = changes(&mut browser, middle);
    assert!(
        fast_changes < slow_changes * 0.9,
        "several columns as one: {fast_changes}, each by itself: {slow_changes}"
    );
    // The image reacts to the pointer like any other.
    let point = spot(&mut browser, &chart, 0.5, "thread 3");
    browser.point(point);
    browser.wait("/thread 3\\s+f\\d+\\s+\\d[^]* states in this column of pixels/.test(document.querySelector('#tooltip').innerText)");
    browser.evaluate("window.letGo()");
    browser.wait(SETTLED);
    let finer = changes(&mut browser, middle);
    assert!(finer > fast_changes * 1.1, "several columns as one: {fast_changes}, each by itself: {finer}");
    for key in ["-", "ArrowLeft", "ArrowLeft", "+"] {
        browser.key(key);
        browser.wait(&format!("{SETTLED} || {COARSE}"));
    }
    browser.wait(SETTLED);
    let (partial_images, complete_images) = fetched(&mut browser);
    assert!(
        partial_images.len() > 3 && partial_images.iter().all(|bytes| (20_000..=65_536).contains(bytes)),
        "{partial_images:?}"
    );
    assert!(complete_images.iter().any(|&bytes| bytes > 65_536), "{complete_images:?}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn rows_outside_the_window_are_loaded_in_advance() {
    let viewer = ViewProcess::of(&noise());
    let (mut browser, chart) = open(&viewer);
    browser.wait(SETTLED);
    // At the top there are no rows above: first the image, then each of its columns, then the rows
    // below.
    browser
        .wait("performance.getEntriesByType('resource').filter((one) => one.name.includes('whole=true')).length >= 2");
    browser.evaluate(
        "{ const ask = window.fetch;
           window.fetch = (url, more) => String(url).includes('api/scene') ? new Promise(() => {}) : ask(url, more); }",
    );
    let height = browser.place(&chart).height;
    browser.evaluate(&format!("document.querySelector('#scroller').scrollTop = {}", (height * 0.75).round()));
    browser.wait("document.querySelector('#chart').dataset.settled === 'false'");
    for share in [0.1, 0.5, 0.9] {
        let line = format!("({}) > 0.2", changes_at(height * share));
        browser.wait(&line);
    }
}
