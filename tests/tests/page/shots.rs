//! The screenshots of `docs/`, as the README's commands make the rest of its pictures: `make demo`, then
//! `cargo test --workspace --test page -- --ignored shots`. Look at them before they are committed.

use std::path::{Path, PathBuf};

use tests::browser::Browser;
use tests::page::{SETTLED, Viewer};

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

/// The middle of the first state of a row that is wider than so many pixels and has a value, by its description under the pointer.
fn find(browser: &mut Browser, row: &str, value: &str) -> (f64, f64) {
    let first = browser.find_all("row", Some(row)).remove(0);
    let at = browser.place(&first).center();
    let (left, right) = (260.0, 1100.0);
    let mut x = left;
    while x < right {
        browser.point((x, at.1));
        browser.wait(SETTLED);
        let said = browser.evaluate("document.querySelector('#readout')?.innerText ?? ''");
        if said.as_str().is_some_and(|said| said.contains(value)) {
            return (x + 4.0, at.1);
        }
        x += 12.0;
    }
    panic!("{row} has no `{value}` here");
}

#[test]
#[ignore = "makes docs/page*.png of what `make demo` has recorded"]
fn shots() {
    let viewer = demo(&["random"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 900));
    browser.wait(SETTLED);
    // A step in which a thread waits for the mutex.
    type_into(&mut browser, "g", "429..447 ms");
    let at = find(&mut browser, "forces 2", "Waits for the mutex");
    browser.point(at);
    browser.wait("document.querySelector('#tooltip')?.innerText.includes('lit')");
    shoot(&mut browser, "page.png");

    let mut browser = page(&viewer, "", "dark", (1440, 900));
    browser.wait(SETTLED);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    shoot(&mut browser, "page-dark.png");

    let viewer = demo(&["random", "balanced"]);
    let mut browser = page(&viewer, "", LIGHT, (1440, 900));
    tests::page::press(&mut browser, "button", "Differences");
    browser.wait("[...document.querySelectorAll('iframe')].length === 2 && [...document.querySelectorAll('iframe')].every(frame => frame.contentDocument?.querySelector('#chart')?.dataset.settled === 'true')");
    shoot(&mut browser, "page-panes.png");
}
