//! The screenshots in `docs/images`. Like the other images, they need `make demo` first, then
//! `cargo test --workspace --test page -- --ignored screenshots`. Check them before you commit.

use std::path::{Path, PathBuf};

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, press, screenshot_path};
use tests::programs::{succeed, tumit};

const LIGHT: &str = "light";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs of `make demo`.
fn demo(names: &[&str]) -> ViewProcess {
    let runs: Vec<PathBuf> = names.iter().map(|name| root().join(format!("demo/{name}.tmt"))).collect();
    let missing: Vec<_> = runs.iter().filter(|run| !run.is_dir()).collect();
    assert!(missing.is_empty(), "not there: {missing:?}; `make demo` records them");
    ViewProcess::of_paths(&runs)
}

/// The page in a theme, with an addition to its address.
fn page(viewer: &ViewProcess, address: &str, theme: &str, (width, height): (u32, u32)) -> BrowserPage {
    let mut browser = BrowserPage::start(width, height);
    assert!(browser.prefer(theme), "the browser refuses the colour scheme");
    browser.open(&format!("{}{address}", viewer.url));
    browser
}

fn shoot(browser: &mut BrowserPage, name: &str) {
    browser.wait("document.getAnimations().every(animation => animation.playState !== 'running')");
    browser.screenshot(&root().join("docs/images").join(name));
}

fn type_into(browser: &mut BrowserPage, key: &str, text: &str) {
    browser.key(key);
    browser.type_text(text);
    browser.key("Enter");
    browser.wait(SETTLED);
}

/// Waits for a mutex that are visible in 18 ms: the row, the start, and the duration, in
/// milliseconds.
fn waits() -> Vec<(String, f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("states.csv");
    succeed(tumit().arg("convert").arg(root().join("demo/random.tmt")).arg("-o").arg(&table));
    let rows = std::fs::read_to_string(table).unwrap();
    let fields = |row: &str| -> Vec<String> { row.split(',').map(|field| field.trim().to_owned()).collect() };
    let head = fields(rows.lines().next().unwrap());
    let point =
        |name: &str| head.iter().position(|field| field == name).unwrap_or_else(|| panic!("no `{name}` in {head:?}"));
    let [kind, container, start, duration, value] = ["Kind", "Container", "Start", "Duration", "Value"].map(point);
    let waits = rows
        .lines()
        .map(fields)
        .filter(|row| row[kind] == "State" && row.get(value).is_some_and(|value| value == "Waits for the mutex"));
    let wait_times = waits.map(|row| {
        let number = |index: usize| row[index].parse::<f64>().unwrap_or(0.0) * 1e3;
        (row[container].clone(), number(start), number(duration))
    });
    wait_times.filter(|wait| wait.1 > 300.0 && (2.0..4.0).contains(&wait.2)).collect()
}

#[test]
#[ignore = "makes docs/images/page*.png of what `make demo` has recorded"]
fn draws_the_screenshots_of_the_documentation() {
    let viewer = demo(&["random"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 900));
    browser.wait(SETTLED);
    // Several rows have that name; one near the top is needed.
    let mut waits = waits().into_iter();
    loop {
        let (row, start, duration) =
            waits.next().expect("a visible wait for a mutex with related entities in demo/random.tmt");
        type_into(&mut browser, "g", &format!("{:.3}..{:.3} ms", start - 3.0, start + 15.0));
        let chart = browser.find_all("application", None).remove(0);
        let chart = browser.place(&chart);
        let Some(row) = browser.find_all("row", Some(&row)).into_iter().next() else { continue };
        let middle = browser.place(&row).center().1;
        browser.point((chart.x + chart.width * (3.0 + duration / 2.0) / 18.0, middle));
        let tooltip =
            "new Promise(done => setTimeout(() => done(document.querySelector('#tooltip')?.innerText ?? ''), 500))";
        let tooltip = browser.evaluate(tooltip).as_str().unwrap_or_default().to_owned();
        if middle < 600.0 && tooltip.contains("Waits for the mutex") && tooltip.contains("highlighted") {
            break;
        }
    }
    shoot(&mut browser, "page.png");

    let mut browser = page(&viewer, "", "dark", (1440, 900));
    browser.wait(SETTLED);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    browser.evaluate("document.activeElement.blur()");
    shoot(&mut browser, "page-dark.png");

    let viewer = demo(&["random", "balanced"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 1280));
    let settled = "frames.length === 2 && [0, 1].every(at => frames[at].document?.querySelector('#chart')?.dataset.settled === 'true')";
    browser.wait(settled);
    press(&mut browser, "button", "Differences");
    // Some steps are selected in both.
    let ruler = browser.evaluate("(box => [box.x, box.width, box.y + document.querySelector('iframe').getBoundingClientRect().y + 12])(frames[0].document.querySelector('#ruler').getBoundingClientRect())");
    let [left, width, y] = [0, 1, 2].map(|index| ruler[index].as_f64().unwrap());
    browser.with_key_down("Shift", |browser| browser.drag((left + width * 0.07, y), (left + width * 0.43, y)));
    browser.wait("document.querySelector('#differences-table .hint')?.innerText.startsWith('Of the selected')");
    browser.wait("document.querySelector('#differences-table table')?.getAttribute('aria-label') === 'Differences of time in states'");
    browser.wait(settled);
    shoot(&mut browser, "page-panes.png");
}

#[test]
#[ignore = "makes docs/images/perspectives/dock.png of examples/fft-hypercube/run.tmt"]
fn draws_the_screenshot_of_the_views() {
    const CARDS: &str =
        r#"["utilization-count","kiviat",["hypercube","",{"layout":"polytope"}],"communication-matrix"]"#;
    const CARDS_SETTLED: &str = "document.querySelectorAll('#cards canvas[role=img]').length === 4 && document.querySelector('#cards').dataset.settled === '1'";
    let run = root().join("examples/fft-hypercube/run.tmt");
    assert!(run.is_dir(), "not there: {run:?}; docs/images/README.md has the command that records it");
    let viewer = ViewProcess::of_paths(&[run]);
    // At this time all ranks wait for the slow one. The time range ends with the last rank, which
    // depends on the run.
    let address = format!(
        "#t=0-1020000000&dock=44&at=300000000&filters=%5B%22hide%20type%20Task,%20Phase%22%5D&cards={}",
        CARDS.replace('"', "%22")
    );
    let mut browser = page(&viewer, &address, LIGHT, (1440, 1000));
    browser.wait(SETTLED);
    browser.wait(CARDS_SETTLED);
    shoot(&mut browser, "perspectives/dock.png");
}

/// A screenshot of a state, in `target/tmp`.
fn state(browser: &mut BrowserPage, name: &str) {
    browser.wait("document.getAnimations().every(animation => animation.playState !== 'running' || animation.effect.target?.id === 'progress')");
    browser.screenshot(&screenshot_path(&format!("state-{name}.png")));
}

/// Screenshots of a trace at rare sizes and in rare themes.
fn styles(viewer: &ViewProcess) {
    for (name, theme, size) in [
        ("1280x720", LIGHT, (1280, 720)),
        ("4k", LIGHT, (3840, 2160)),
        ("narrow", LIGHT, (800, 600)),
        ("dark-1280x720", "dark", (1280, 720)),
    ] {
        let mut browser = page(viewer, "", theme, size);
        browser.wait(SETTLED);
        browser.key("2");
        browser.wait("document.querySelector('#times table')");
        state(&mut browser, name);
    }
    let mut browser = page(viewer, "", LIGHT, (1440, 900));
    browser.wait(SETTLED);
    for _ in 0..2 {
        browser.key("t");
    }
    browser.wait(SETTLED);
    type_into(&mut browser, "g", "310..328 ms");
    // The records differ from run to run: uses the first row with an entity at this point.
    let has_tooltip = "new Promise(done => setTimeout(() => done(!document.querySelector('#tooltip').hidden), 300))";
    let rows = (0..20).map(|row| 260.0 + 22.0 * f64::from(row));
    let row = rows.into_iter().find(|&y| {
        browser.point((700.0, y));
        browser.evaluate(has_tooltip) == true
    });
    assert!(row.is_some(), "no row has a tooltip");
    state(&mut browser, "contrast");
    browser.click((700.0, 400.0));
    browser.wait("document.querySelector('#inspector h2')");
    type_into(&mut browser, "F", "bright Waits*");
    browser.key("2");
    state(&mut browser, "contrast-chosen");
    browser.key("?");
    state(&mut browser, "contrast-help");
    assert!(browser.prefer_stillness());
    browser.key("Escape");
    browser.evaluate("document.querySelector('#progress').hidden = false");
    state(&mut browser, "still");
}

/// An empty trace, a damaged one, and a page without its server.
fn faults() {
    let viewer = ViewProcess::of(&TRACE[..TRACE.find("5 0.0 S t00").unwrap()]);
    let mut browser = page(&viewer, "", LIGHT, (1280, 720));
    browser.wait("document.querySelector('#message').innerText.includes('Nothing')");
    state(&mut browser, "empty");

    let viewer = ViewProcess::of(&TRACE.replace("5 0.5 S t01 b\n", "5 0.5 S nobody b\nwhat is this\n"));
    let mut browser = page(&viewer, "", LIGHT, (1280, 720));
    browser.wait(SETTLED);
    state(&mut browser, "damaged");
    browser.click((200.0, 24.0));
    browser.wait("document.querySelector('dialog[open] li')");
    state(&mut browser, "damaged-diagnostics");

    let viewer = ViewProcess::start();
    let mut browser = page(&viewer, "", LIGHT, (1280, 720));
    browser.wait(SETTLED);
    std::fs::write(viewer.folder.path().join("two-nodes.paje"), TRACE.replace("0.5", "0.75")).unwrap();
    browser.wait("document.querySelector('#note').innerText.startsWith('The trace has changed')");
    state(&mut browser, "replaced");
    drop(viewer);
    browser.wait("document.querySelector('#error-box').innerText.includes('does not answer')");
    state(&mut browser, "server-gone");
}

/// Incomplete traces: waited for, being read, being followed.
fn growing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.paje");
    let viewer = ViewProcess::follow(&path);
    let mut browser = page(&viewer, "", LIGHT, (1280, 720));
    browser.wait("document.querySelector('#message').innerText.includes('Waiting for')");
    state(&mut browser, "awaited");
    let living: String = TRACE.lines().filter(|line| !line.starts_with("4 ")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, living).unwrap();
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 6");
    browser.wait(SETTLED);
    state(&mut browser, "following");

    // Long enough to be visible before it has been read.
    let mut long =
        TRACE.lines().filter(|line| !line.starts_with("4 ")).map(|line| format!("{line}\n")).collect::<String>();
    for number in 0..3_000_000_u32 {
        use std::fmt::Write as _;
        let date = f64::from(number).mul_add(1e-5, 0.6);
        writeln!(long, "5 {date:.5} S t{}{} {}", number / 2 % 2, number % 2, ["w", "b"][(number / 4 % 2) as usize])
            .unwrap();
    }
    let viewer = ViewProcess::of(&long);
    let mut browser = page(&viewer, "", LIGHT, (1280, 720));
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 6");
    browser.wait(SETTLED);
    state(&mut browser, "partial");
}

#[test]
#[ignore = "makes target/tmp/state-*.png, to be looked at, of what `make demo` has recorded"]
fn screenshots_of_all_states() {
    faults();
    growing();
    let viewer = demo(&["random"]);
    styles(&viewer);
    let runs = demo(&["random", "balanced"]);
    for (name, size) in [("panes-1280x720", (1280, 720)), ("panes-4k", (3840, 2160))] {
        let mut browser = page(&runs, "", "dark", size);
        browser.wait("frames.length === 2 && [0, 1].every(at => frames[at].document?.querySelector('#chart')?.dataset.settled === 'true')");
        press(&mut browser, "button", "Differences");
        browser.wait("document.querySelector('#differences-table tbody')");
        state(&mut browser, name);
    }
    let file = screenshot_path("export.html");
    succeed(tumit().arg("view").arg(root().join("demo/random.tmt")).arg("-o").arg(&file));
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&format!("file://{}", file.display()));
    state(&mut browser, "export");
    for _ in 0..8 {
        browser.wheel((500.0, 300.0), -120.0);
    }
    state(&mut browser, "export-zoomed");
}
