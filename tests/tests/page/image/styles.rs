//! Shapes and sizes: drawn, hit by the pointer, chosen in the legend by pointer and keys, removed,
//! remembered for the next run, and in the file that zooms.

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, chain, of_legend, open, press, read, screenshot_path};
use tests::programs::{succeed, tumit};

/// A trace with events of two values in a row; one of the values is a large blue diamond.
fn styled_trace() -> String {
    let types = "9 E T Log\n11 p E ping \"0 0 1\" diamond 3\n12 q E pong \"1 0 0\"\n";
    let events = "13 0.2 E t00 p\n13 0.25 E t00 q\n13 0.8 E t00 p\n";
    let header = "%EventDef PajeDefineEventType 9\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeDefineEntityValue 11\n% Alias string\n% Type string\n% Name string\n% Color color\n% Shape string\n% Size double\n%EndEventDef\n\
         %EventDef PajeDefineEntityValue 12\n% Alias string\n% Type string\n% Name string\n% Color color\n%EndEventDef\n\
         %EventDef PajeNewEvent 13\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n";
    let text = TRACE.replace("0 N 0 Node", &format!("{header}0 N 0 Node"));
    let text = text.replace("6 L 0 T T Message", &format!("{types}6 L 0 T T Message"));
    text.replace("7 0.3 L 0 t00 m k1", &format!("{events}7 0.3 L 0 t00 m k1"))
}

/// The bottom edge of the first strip of events, in coordinates of the window.
fn floor(browser: &mut BrowserPage) -> f64 {
    let floor = browser.evaluate(
        "import(new URL('state/rows.js', location.href)).then(({ layout, toWindow }) => {
            const strip = layout.rows.flatMap((row) => row.strips).find((strip) => strip.kind === 'events');
            return toWindow(strip.y + strip.height) + document.querySelector('#chart').getBoundingClientRect().top; })",
    );
    floor.as_f64().unwrap()
}

/// The colour of the image at a point of the window; alpha is 0 at an empty point.
fn ink(browser: &mut BrowserPage, (x, y): (f64, f64)) -> Value {
    browser.evaluate(&format!(
        "(() => {{ const one = document.querySelector('#chart .image'); const box = one.getBoundingClientRect();
            return [...one.getContext('2d').getImageData({x:.0} - box.left, {y:.0} - box.top, 1, 1).data]; }})()"
    ))
}

/// The position of a share of the time range, in the window.
fn x(browser: &mut BrowserPage, share: f64) -> f64 {
    let chart = browser.find_all("application", None).remove(0);
    let place = browser.place(&chart);
    place.x + place.width * share
}

const BLUE: [u8; 3] = [0, 0, 255];

fn is_blue(ink: &Value) -> bool {
    (0..3).all(|index| ink[index].as_u64().is_some_and(|part| part.abs_diff(u64::from(BLUE[index])) < 90))
        && ink[3] == json!(255)
}

#[test]
fn a_mark_is_drawn_and_hit_in_its_shape() {
    let viewer = ViewProcess::of(&styled_trace());
    let (mut browser, _) = open(&viewer);
    let (x, floor) = (x(&mut browser, 0.2), floor(&mut browser));
    // A diamond 25.5 pixels high: wide in the middle, a tip below and above.
    assert!(is_blue(&ink(&mut browser, (x + 9.0, floor - 12.75))));
    assert!(is_blue(&ink(&mut browser, (x, floor - 22.0))) && is_blue(&ink(&mut browser, (x, floor - 4.0))));
    for beside in [(x + 9.0, floor - 22.0), (x - 9.0, floor - 3.0)] {
        assert!(!is_blue(&ink(&mut browser, beside)), "{beside:?}");
    }
    browser.point((x + 9.0, floor - 12.75));
    browser.wait("document.querySelector('#tooltip:not([hidden])')?.innerText.includes('ping')");
    // Next to its lower tip the pointer hits nothing.
    browser.point((x + 9.0, floor - 3.0));
    browser.wait("document.querySelector('#tooltip').hidden");
    browser.point((x, floor - 22.0));
    browser.wait("document.querySelector('#tooltip:not([hidden])')?.innerText.includes('ping')");
    browser.click((x, floor - 22.0));
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'ping'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The path of an entry's sign in the legend.
fn sign(browser: &mut BrowserPage, name: &str) -> String {
    let path = browser.evaluate(&format!(
        "[...document.querySelectorAll('#legend .entry')].find(one => one.querySelector('.label').innerText === '{name}').querySelector('path').getAttribute('d')"
    ));
    path.as_str().unwrap().to_owned()
}

#[test]
fn shapes_and_sizes_of_the_legend_are_filters_that_can_be_undone() {
    let viewer = ViewProcess::of(&styled_trace());
    let (mut browser, _) = open(&viewer);
    browser.wait("document.querySelector('#legend').innerText.includes('pong')");
    let (diamond, triangle) = (sign(&mut browser, "ping"), sign(&mut browser, "pong"));
    assert_ne!(diamond, triangle);
    choose_shape_and_size(&mut browser, &triangle);
    replace_and_undo(&mut browser);
    // The next run of the program has the same style.
    let styles = viewer.folder.path().join("cache/tumit/styles");
    let saved = || {
        let files = std::fs::read_dir(&styles).into_iter().flatten().flatten();
        files.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).next().unwrap_or_default()
    };
    let started = std::time::Instant::now();
    while !(saved().contains("shape square pong of Log") && saved().contains("size 2 pong of Log")) {
        assert!(started.elapsed().as_secs() < 60, "the style is not saved: {}", saved());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(browser);
    let next = ViewProcess::same_user_as(&viewer, &styled_trace().replace("4 1.0", "4 1.5"));
    let (mut browser, _) = open(&next);
    assert_eq!(chain(&mut browser), json!(["shape square pong of Log", "size 2 pong of Log"]));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

fn choose_shape_and_size(browser: &mut BrowserPage, triangle: &str) {
    // A shape, by pointer.
    of_legend(browser, "pong", "Shape…");
    let menu = read(browser, "menu", "Shape of pong");
    assert_eq!(menu.split_whitespace().collect::<Vec<_>>(), ["Triangle", "Diamond", "Circle", "Square", "Line"]);
    assert_eq!(browser.evaluate("document.querySelector('.menu [aria-checked=true]').innerText"), json!("Triangle"));
    press(browser, "menuitemradio", "Square");
    browser.wait("document.querySelector('#filters').innerText.includes('shape square pong of Log')");
    browser.wait(SETTLED);
    browser.wait(&format!(
        "[...document.querySelectorAll('#legend path')].every(path => path.getAttribute('d') !== '{triangle}')"
    ));
    // A size, by keys; the present size is marked.
    of_legend(browser, "pong", "Size…");
    assert_eq!(browser.evaluate("document.activeElement.innerText"), json!("0.25"));
    for _ in 0..5 {
        browser.key("ArrowDown");
    }
    browser.key("Enter");
    browser.wait("document.querySelector('#filters').innerText.includes('size 2 pong of Log')");
    browser.wait(SETTLED);
    let (x, floor) = (x(browser, 0.25), floor(browser));
    let red = |ink: &Value| ink[0].as_u64().unwrap() > 180 && ink[2].as_u64().unwrap() < 90 && ink[3] == json!(255);
    // A square 17 pixels wide stands on the floor. Its lower corners are red, unlike those of a
    // triangle.
    assert!(red(&ink(browser, (x - 5.0, floor - 2.0))) && red(&ink(browser, (x + 5.0, floor - 2.0))));
    assert!(!red(&ink(browser, (x, floor - 17.0))));
}

/// Other styles replace those in the chain of filters, and Ctrl+Z removes them again.
fn replace_and_undo(browser: &mut BrowserPage) {
    // Another shape replaces it in the chain.
    of_legend(browser, "pong", "Shape…");
    press(browser, "menuitemradio", "Circle");
    browser.wait("document.querySelector('#filters').innerText.includes('shape circle pong of Log')");
    assert_eq!(chain(browser), json!(["shape circle pong of Log", "size 2 pong of Log"]));
    // A whole type has another filter; states have no shape and are not higher than their rows.
    of_legend(browser, "All", "Size…");
    press(browser, "menuitem", "1.5");
    browser.wait("document.querySelector('#filters').innerText.includes('size 1.5 of Log')");
    assert_eq!(chain(browser), json!(["shape circle pong of Log", "size 2 pong of Log", "size 1.5 of Log"]));
    of_legend(browser, "blocked", "Size…");
    let menu = read(browser, "menu", "Size of blocked");
    assert!(menu.contains("0.5") && !menu.contains("1.5"), "{menu}");
    press(browser, "menuitemradio", "0.5");
    browser.wait("document.querySelector('#filters').innerText.includes('size 0.5 blocked of Activity')");
    browser.wait(SETTLED);
    let low = "document.querySelector('#legend .chip[style*=\"height: 6px\"]')";
    browser.wait(low);
    for text in ["size 0.5 blocked", "size 1.5 of Log", "shape circle"] {
        browser.with_key_down("Control", |browser| browser.key("z"));
        browser.wait(&format!("!document.querySelector('#filters').innerText.includes('{text}')"));
    }
    assert_eq!(chain(browser), json!(["shape square pong of Log", "size 2 pong of Log"]));
    browser.wait(&format!("!{low}"));
}

#[test]
fn marks_keep_their_shape_in_a_zoomed_html_file() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = (folder.path().join("looks.paje"), folder.path().join("looks.html"));
    let shapes = ["triangle", "diamond", "circle", "square", "line"];
    std::fs::write(&trace, styled_trace()).unwrap();
    for shape in shapes {
        succeed(tumit().args(["view", "--filter", &format!("shape {shape} of Log"), "-o"]).arg(&file).arg(&trace));
        let mut browser = BrowserPage::start(1000, 500);
        browser.open(&format!("file://{}", file.display()));
        // Until then a scroll bar may still make the page narrower.
        browser.wait("document.readyState === 'complete' && document.fonts.status === 'loaded'");
        let widths = "[...document.querySelectorAll('[aria-label=Rows] [data-entity^=e]')].map(one => { const box = one.getBoundingClientRect(); return [box.width, box.x + box.width / 2]; })";
        let before = browser.evaluate(widths);
        assert_eq!(before.as_array().map(Vec::len), Some(3), "{shape}: {before}");
        browser.wheel((500.0, 200.0), -120.0);
        browser.wait("document.querySelector('[aria-label=Rows] > [transform^=matrix]')");
        let after = browser.evaluate(widths);
        let place = |list: &Value, index: usize, of: usize| list[index][of].as_f64().unwrap();
        for at in 0..3 {
            let (was, is) = (place(&before, at, 0), place(&after, at, 0));
            assert!((was - is).abs() < 0.1, "{shape}: {was} wide before, {is} after");
        }
        let distance = |list: &Value| place(list, 2, 1) - place(list, 0, 1);
        assert!(distance(&after) > 1.2 * distance(&before), "{shape}: dates move apart");
    }
}

#[test]
fn marks_are_visible_in_all_themes() {
    let viewer = ViewProcess::of(&styled_trace());
    for theme in ["light", "dark", "contrast"] {
        let (mut browser, _) = open(&viewer);
        browser.evaluate(&format!(
            "import(new URL('controls/theme.js', location.href)).then((of) => of.setTheme('{theme}'))"
        ));
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        browser.wait(SETTLED);
        let (x, floor) = (x(&mut browser, 0.2), floor(&mut browser));
        assert_eq!(ink(&mut browser, (x, floor - 12.75))[3], json!(255), "{theme}");
        of_legend(&mut browser, "pong", "Shape…");
        assert_eq!(browser.evaluate("document.querySelectorAll('.menu button svg path').length"), json!(5));
        browser.screenshot(&screenshot_path(&format!("page-looks-{theme}.png")));
    }
}
