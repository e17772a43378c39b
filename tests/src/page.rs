//! The page of `tumit view` in a browser: opened on a small trace, read and touched as a user does.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;

use crate::browser::{Browser, Element, PATIENCE};
use crate::programs::tumit;

/// A program of two nodes with two threads each: everybody works until 0.5 s and waits until 1 s, and at 0.3 s a
/// message goes from node 0 to node 1.
pub const TRACE: &str = include_str!("../paje/two-nodes.paje");

/// True when the exact picture of the view is shown.
pub const SETTLED: &str = "document.querySelector('#chart').dataset.settled === 'true'";

/// `tumit view`, ended with the test.
#[derive(Debug)]
pub struct Viewer {
    process: Child,
    /// Where its page is.
    pub url: String,
    // Keeps the pipe open: a viewer that cannot write ends.
    _stderr: BufReader<ChildStderr>,
    /// The trace lies here.
    pub folder: tempfile::TempDir,
}

impl Viewer {
    /// Shows [`TRACE`].
    #[must_use]
    pub fn start() -> Self {
        Self::of(TRACE)
    }

    /// Shows a trace.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn of(trace: &str) -> Self {
        Self::with(&[trace], &[])
    }

    /// Shows traces, beside each other when there are several, with more options. Sources are looked for in the folder that holds the traces.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn with(traces: &[&str], options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the trace");
        // What is remembered of models stays with the test.
        let cache = folder.path().join("cache");
        Self::open(folder, &cache, traces, options)
    }

    /// Shows another trace, to the same user as an earlier one.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn beside(earlier: &Self, trace: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the trace");
        Self::open(folder, &earlier.folder.path().join("cache"), &[trace], &[])
    }

    fn open(folder: tempfile::TempDir, cache: &Path, traces: &[&str], options: &[&str]) -> Self {
        let mut view = tumit();
        view.args(["view", "--no-open"]).args(options).current_dir(folder.path());
        view.env("XDG_CACHE_HOME", cache);
        for (at, trace) in traces.iter().enumerate() {
            let name = ["two-nodes.paje", "other.paje"].get(at).copied().unwrap_or("third.paje");
            let path = folder.path().join(name);
            std::fs::write(&path, trace).expect("the trace can be written");
            view.arg(&path);
        }
        Self::spawn(view, folder)
    }

    /// Shows traces that are somewhere, beside each other when there are several.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn of_paths(paths: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for what is remembered");
        let mut view = tumit();
        view.args(["view", "--no-open"]).args(paths).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Shows a trace that is somewhere by another `tumit`, as one that is built for measuring.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn by(program: &Path, path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder for what is remembered");
        let mut view = Command::new(program);
        view.args(["view", "--no-open"]).arg(path).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Shows the trace of an earlier one again, to another user.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn again(earlier: &Self) -> Self {
        let folder = tempfile::tempdir().expect("a folder for what is remembered");
        let mut view = tumit();
        view.args(["view", "--no-open"]).arg(earlier.folder.path().join("two-nodes.paje"));
        view.env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Follows a trace that need not be there yet.
    ///
    /// # Panics
    /// When `tumit view` ends instead.
    #[must_use]
    pub fn follow(path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder for what is remembered");
        let mut view = tumit();
        view.args(["view", "--no-open", "--follow"]).arg(path).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    fn spawn(mut view: Command, folder: tempfile::TempDir) -> Self {
        view.stderr(Stdio::piped()).stdin(Stdio::null());
        let mut process = view.spawn().expect("`tumit` runs");
        let mut stderr = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.trim().starts_with("http://") {
            line.clear();
            let read = stderr.read_line(&mut line).expect("text");
            assert!(read > 0, "`tumit view` ended before it printed its address");
        }
        Self { process, url: line.trim().to_owned(), _stderr: stderr, folder }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where screenshots go, for people to look at.
#[must_use]
pub fn picture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp");
    // It is there already after the first.
    let _ = std::fs::create_dir_all(&folder);
    folder.join(name)
}

/// The page, open, with its diagram drawn.
#[must_use]
pub fn open(viewer: &Viewer) -> (Browser, Element) {
    let mut browser = Browser::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    let chart = browser.find_all("application", None).remove(0);
    (browser, chart)
}

/// The interval as its field says it.
///
/// # Panics
/// When it says none.
#[must_use]
pub fn interval(browser: &mut Browser) -> (String, String) {
    let field = browser.find("textbox", Some("Interval shown"));
    let text = browser.text(&field);
    let (from, to) = text.split_once(" .. ").expect("two dates");
    (from.to_owned(), to.to_owned())
}

/// A point of the diagram: a share of the interval, in the row of a container.
#[must_use]
pub fn spot(browser: &mut Browser, chart: &Element, share: f64, row: &str) -> (f64, f64) {
    // Once the row rests the diagram does.
    let row = browser.place_of("row", row);
    let chart = browser.place(chart);
    (chart.x + chart.width * share, row.center().1)
}

/// Clicks on the middle of the one thing with this role and name.
pub fn press(browser: &mut Browser, role: &str, name: &str) {
    let at = browser.place_of(role, name).center();
    browser.click(at);
}

/// What a user reads in the one thing with this role and name.
///
/// # Panics
/// When there stands what is a script's and no text.
#[must_use]
pub fn read(browser: &mut Browser, role: &str, name: &str) -> String {
    let element = browser.find(role, Some(name));
    let text = browser.text(&element);
    let stray = |line: &str| ["false", "undefined", "null", "NaN"].contains(&line.trim()) || line.contains("[object ");
    assert!(!text.lines().any(stray), "{role} {name}: {text}");
    text
}

/// Names of the rows, from top to bottom.
#[must_use]
pub fn rows(browser: &mut Browser) -> Vec<String> {
    browser.find_all("row", None).into_iter().map(|row| row.name).filter(|name| !name.is_empty()).collect()
}

/// Waits until the rows have these names, from top to bottom, and are drawn.
pub fn wait_for_rows(browser: &mut Browser, names: &[&str]) {
    let names = serde_json::to_string(names).expect("names are texts");
    browser.wait(&format!(
        "JSON.stringify([...document.querySelectorAll('#tree [role=row]')].map(row => row.getAttribute('aria-label'))) === `{names}`"
    ));
    browser.wait(SETTLED);
}

/// Types a filter and applies it.
pub fn filter(browser: &mut Browser, text: &str) {
    browser.key("F");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.type_text(text);
    browser.key("Enter");
    browser.wait("document.querySelector('#editor').hidden");
    browser.wait(SETTLED);
}

/// The expressions of the chain of filters, as a user reads them.
pub fn chain(browser: &mut Browser) -> serde_json::Value {
    browser.evaluate("[...document.querySelectorAll('#filters .filter-text')].map(one => one.innerText)")
}

/// Where the legend has a value or type.
///
/// # Panics
/// When it has none of this name.
#[must_use]
pub fn entry(browser: &mut Browser, name: &str) -> (f64, f64) {
    browser.wait("document.querySelector('#legend .more-button')");
    let find = |browser: &mut Browser| {
        let started = Instant::now();
        // While a legend takes another's place, a browser may tell of neither.
        loop {
            let all = browser.find_all("button", None);
            match all.into_iter().find(|one| one.name.starts_with(name)) {
                Some(entry) => return entry,
                None => assert!(started.elapsed() < PATIENCE, "the legend has no {name}"),
            }
        }
    };
    browser.resting(find).center()
}

/// Chooses something of the menu of a value or type in the legend, which shows when its line is pointed at.
pub fn of_legend(browser: &mut Browser, name: &str, item: &str) {
    let line = entry(browser, name);
    browser.point(line);
    press(browser, "button", &format!("Filters for {name}"));
    press(browser, "menuitem", item);
}

/// Shows an interval by typing it.
pub fn show(browser: &mut Browser, interval: &str) {
    browser.key("g");
    browser.wait("document.activeElement.id === 'interval-field'");
    browser.type_text(interval);
    browser.key("Enter");
    browser.wait("document.activeElement.id !== 'interval-field'");
    browser.wait(SETTLED);
}

/// From now on what the page saves is kept in the page, too; and instead of a dialog of the system, `chooser` waits for files.
pub fn watch_files(browser: &mut Browser) {
    browser.evaluate(
        "{ const make = URL.createObjectURL;
           URL.createObjectURL = (blob) => { window.saved = blob; return make.call(URL, blob); };
           const click = HTMLInputElement.prototype.click;
           HTMLInputElement.prototype.click = function () { if (this.type === 'file') window.chooser = this; else click.call(this); }; }",
    );
}

/// The text of what the page saves next, when files are watched.
///
/// # Panics
/// When it is no text.
pub fn saved_text(browser: &mut Browser) -> String {
    browser.wait("window.saved");
    let text = browser.evaluate("window.saved.text().then((text) => { window.saved = null; return text; })");
    text.as_str().expect("a file of text").to_owned()
}
