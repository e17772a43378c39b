//! The screenshots of `docs/`, as the README's commands make the rest of its pictures: `make demo`, then
//! `cargo test --workspace --test page -- --ignored shots`. Look at them before they are committed.

use std::path::{Path, PathBuf};

use tests::browser::Browser;
use tests::page::{SETTLED, Viewer};
use tests::programs::{succeed, tumit};

const LIGHT: &str = "light";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs of `make demo`.
fn demo(names: &[&str]) -> Viewer {
    let runs: Vec<PathBuf> = names.iter().map(|name| root().join(format!("demo/{name}.tmt"))).collect();
    let missing: Vec<_> = runs.iter().filter(|run| !run.is_dir()).collect();
    assert!(missing.is_empty(), "not there: {missing:?}; `make demo` records them");
    Viewer::of_paths(&runs)
}

/// The page in a theme, with more in its address.
fn page(viewer: &Viewer, address: &str, theme: &str, (width, height): (u32, u32)) -> Browser {
    let mut browser = Browser::start(width, height);
    assert!(browser.prefer(theme), "the browser cannot be told");
    browser.open(&format!("{}{address}", viewer.url));
    browser
}

fn shoot(browser: &mut Browser, name: &str) {
    browser.wait("document.getAnimations().every(animation => animation.playState !== 'running')");
    browser.screenshot(&root().join("docs").join(name));
}

fn type_into(browser: &mut Browser, key: &str, text: &str) {
    browser.key(key);
    browser.type_text(text);
    browser.key("Enter");
    browser.wait(SETTLED);
}

/// Waits for a mutex that can be seen in 18 ms: who waits, from when, and for how long, in milliseconds.
fn waits() -> Vec<(String, f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("states.csv");
    succeed(tumit().arg("convert").arg(root().join("demo/random.tmt")).arg("-o").arg(&table));
    let rows = std::fs::read_to_string(table).unwrap();
    let fields = |row: &str| -> Vec<String> { row.split(',').map(|field| field.trim().to_owned()).collect() };
    let head = fields(rows.lines().next().unwrap());
    let at =
        |name: &str| head.iter().position(|field| field == name).unwrap_or_else(|| panic!("no `{name}` in {head:?}"));
    let [kind, container, start, duration, value] = ["Kind", "Container", "Start", "Duration", "Value"].map(at);
    let waits = rows
        .lines()
        .map(fields)
        .filter(|row| row[kind] == "State" && row.get(value).is_some_and(|value| value == "Waits for the mutex"));
    let seen = waits.map(|row| {
        let number = |at: usize| row[at].parse::<f64>().unwrap_or(0.0) * 1e3;
        (row[container].clone(), number(start), number(duration))
    });
    seen.filter(|wait| wait.1 > 300.0 && (2.0..4.0).contains(&wait.2)).collect()
}

#[test]
#[ignore = "makes docs/page*.png of what `make demo` has recorded"]
fn shots() {
    let viewer = demo(&["random"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 900));
    browser.wait(SETTLED);
    // Several rows have that name; one near the top is wanted.
    let mut waits = waits().into_iter();
    loop {
        let (row, start, duration) = waits.next().expect("somebody waits near the top");
        type_into(&mut browser, "g", &format!("{:.3}..{:.3} ms", start - 3.0, start + 15.0));
        let chart = browser.find_all("application", None).remove(0);
        let chart = browser.place(&chart);
        let Some(row) = browser.find_all("row", Some(&row)).into_iter().next() else { continue };
        let middle = browser.place(&row).center().1;
        browser.point((chart.x + chart.width * (3.0 + duration / 2.0) / 18.0, middle));
        let said =
            "new Promise(done => setTimeout(() => done(document.querySelector('#tooltip')?.innerText ?? ''), 500))";
        let said = browser.evaluate(said).as_str().unwrap_or_default().to_owned();
        if middle < 600.0 && said.contains("Waits for the mutex") && said.contains("lit") {
            break;
        }
    }
    shoot(&mut browser, "page.png");

    let mut browser = page(&viewer, "", "dark", (1440, 900));
    browser.wait(SETTLED);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    shoot(&mut browser, "page-dark.png");

    let viewer = demo(&["random", "balanced"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 1280));
    tests::page::press(&mut browser, "button", "Differences");
    browser.wait("[...document.querySelectorAll('iframe')].length === 2 && [...document.querySelectorAll('iframe')].every(frame => frame.contentDocument?.querySelector('#chart')?.dataset.settled === 'true')");
    shoot(&mut browser, "page-panes.png");
}
