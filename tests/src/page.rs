//! The page of `tumit view` in a browser, opened on a small trace, and used as a user does.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;

use crate::browser::{BrowserPage, PATIENCE, PageElement};
use crate::programs::tumit;

/// A program of two nodes with two threads each. All threads are in `work` until 0.5 s and in
/// `wait` until 1 s. At 0.3 s, a message goes from node 0 to node 1.
pub const TRACE: &str = include_str!("../paje/two-nodes.paje");

/// An expression that is true when the exact image of the view is shown.
pub const SETTLED: &str = "document.querySelector('#chart').dataset.settled === 'true'";

/// A process of `tumit view`. It ends with the test.
#[derive(Debug)]
pub struct ViewProcess {
    process: Child,
    /// The address of its page.
    pub url: String,
    // Keeps the pipe open, because a viewer that cannot write ends.
    _stderr: BufReader<ChildStderr>,
    /// The folder of the trace.
    pub folder: tempfile::TempDir,
}

impl ViewProcess {
    /// Shows [`TRACE`].
    #[must_use]
    pub fn start() -> Self {
        Self::of(TRACE)
    }

    /// Shows a trace.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn of(trace: &str) -> Self {
        Self::with(&[trace], &[])
    }

    /// Shows one or several traces, with more options. Several are next to each other. The source
    /// folder is the folder of the traces.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn with(traces: &[&str], options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the trace can be created");
        // The cache of styles is in the test's folder.
        let cache = folder.path().join("cache");
        Self::open(folder, &cache, traces, options)
    }

    /// Shows another trace, for the same user as an earlier viewer.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn same_user_as(earlier: &Self, trace: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the trace can be created");
        Self::open(folder, &earlier.folder.path().join("cache"), &[trace], &[])
    }

    fn open(folder: tempfile::TempDir, cache: &Path, traces: &[&str], options: &[&str]) -> Self {
        let mut view = tumit();
        view.args(["view", "--no-open"]).args(options).current_dir(folder.path());
        view.env("XDG_CACHE_HOME", cache);
        for (index, trace) in traces.iter().enumerate() {
            let name = ["two-nodes.paje", "other.paje"].get(index).copied().unwrap_or("third.paje");
            let path = folder.path().join(name);
            std::fs::write(&path, trace).expect("the trace can be written");
            view.arg(&path);
        }
        Self::spawn(view, folder)
    }

    /// Shows traces at any paths, next to each other if there are several.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn of_paths(paths: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for saved files can be created");
        let mut view = tumit();
        view.args(["view", "--no-open"]).args(paths).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Shows a trace at any path with another `tumit`, for example one built for measurements.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn by(program: &Path, path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder for saved files can be created");
        let mut view = Command::new(program);
        view.args(["view", "--no-open"]).arg(path).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Shows the trace of an earlier viewer again, for another user.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn other_user_as(earlier: &Self) -> Self {
        let folder = tempfile::tempdir().expect("a folder for saved files can be created");
        let mut view = tumit();
        view.args(["view", "--no-open"]).arg(earlier.folder.path().join("two-nodes.paje"));
        view.env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    /// Follows a trace that need not exist yet.
    ///
    /// # Panics
    /// If `tumit view` ends.
    #[must_use]
    pub fn follow(path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder for saved files can be created");
        let mut view = tumit();
        view.args(["view", "--no-open", "--follow"]).arg(path).env("XDG_CACHE_HOME", folder.path());
        Self::spawn(view, folder)
    }

    fn spawn(mut view: Command, folder: tempfile::TempDir) -> Self {
        view.stderr(Stdio::piped()).stdin(Stdio::null());
        // The folder of card files is in the test's folder, too.
        view.env("XDG_CONFIG_HOME", folder.path().join("config"));
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

impl Drop for ViewProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The path of a screenshot for inspection.
#[must_use]
pub fn screenshot_path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp");
    // The folder exists after the first call.
    let _ = std::fs::create_dir_all(&folder);
    folder.join(name)
}

/// Opens the page, and waits until its diagram is drawn.
#[must_use]
pub fn open(viewer: &ViewProcess) -> (BrowserPage, PageElement) {
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    let chart = browser.find_all("application", None).remove(0);
    (browser, chart)
}

/// The time range in the page's time range field.
///
/// # Panics
/// If the field contains no time range.
#[must_use]
pub fn time_range(browser: &mut BrowserPage) -> (String, String) {
    let field = browser.find("textbox", Some("Visible time range"));
    let text = browser.text(&field);
    let (from, to) = text.split_once(" .. ").expect("the field has two timestamps");
    (from.to_owned(), to.to_owned())
}

/// A position in the diagram: at a share of the time range, in the row of a container.
#[must_use]
pub fn spot(browser: &mut BrowserPage, chart: &PageElement, share: f64, row: &str) -> (f64, f64) {
    // The diagram does not move once the row does not move.
    let row = browser.place_of("row", row);
    let chart = browser.place(chart);
    (chart.x + chart.width * share, row.center().1)
}

/// Clicks on the middle of the only element with this role and name.
pub fn press(browser: &mut BrowserPage, role: &str, name: &str) {
    let point = browser.place_of(role, name).center();
    browser.click(point);
}

/// The visible text of the only element with this role and name.
///
/// # Panics
/// If a line of it is a value of a script, such as `undefined`.
#[must_use]
pub fn read(browser: &mut BrowserPage, role: &str, name: &str) -> String {
    let element = browser.find(role, Some(name));
    let text = browser.text(&element);
    let stray = |line: &str| ["false", "undefined", "null", "NaN"].contains(&line.trim()) || line.contains("[object ");
    assert!(!text.lines().any(stray), "{role} {name}: {text}");
    text
}

/// Names of the rows, from top to bottom.
#[must_use]
pub fn rows(browser: &mut BrowserPage) -> Vec<String> {
    browser.find_all("row", None).into_iter().map(|row| row.name).filter(|name| !name.is_empty()).collect()
}

/// Waits until the rows have these names, from top to bottom, and are drawn.
pub fn wait_for_rows(browser: &mut BrowserPage, names: &[&str]) {
    let names = serde_json::to_string(names).expect("names are strings");
    browser.wait(&format!(
        "JSON.stringify([...document.querySelectorAll('#tree [role=row]')].map(row => row.getAttribute('aria-label'))) === `{names}`"
    ));
    browser.wait(SETTLED);
}

/// Types a filter and applies it.
pub fn filter(browser: &mut BrowserPage, text: &str) {
    browser.key("F");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.type_text(text);
    browser.key("Enter");
    browser.wait("document.querySelector('#editor').hidden");
    browser.wait(SETTLED);
}

/// The visible expressions of the filter chain.
pub fn chain(browser: &mut BrowserPage) -> serde_json::Value {
    browser.evaluate("[...document.querySelectorAll('#filters .filter-text')].map(one => one.innerText)")
}

/// The position of a value or type in the legend.
///
/// # Panics
/// If it has no entry of this name.
#[must_use]
pub fn entry(browser: &mut BrowserPage, name: &str) -> (f64, f64) {
    browser.wait("document.querySelector('#legend .more-button')");
    let find = |browser: &mut BrowserPage| {
        let started = Instant::now();
        // While a legend is replaced, a browser may report neither the old nor the new one.
        loop {
            let all = browser.find_all("button", None);
            match all.into_iter().find(|one| one.name.starts_with(name)) {
                Some(entry) => return entry,
                None => assert!(started.elapsed() < PATIENCE, "the legend has no {name}"),
            }
        }
    };
    browser.resting_position(find).center()
}

/// Chooses an item of the menu of a value or type in the legend. The menu appears when the pointer
/// is on the entry.
pub fn of_legend(browser: &mut BrowserPage, name: &str, item: &str) {
    let line = entry(browser, name);
    browser.point(line);
    press(browser, "button", &format!("Filters for {name}"));
    press(browser, "menuitem", item);
}

/// Types a time range and shows it.
pub fn show(browser: &mut BrowserPage, time_range: &str) {
    browser.key("g");
    browser.wait("document.activeElement.id === 'time-range-field'");
    browser.type_text(time_range);
    browser.key("Enter");
    browser.wait("document.activeElement.id !== 'time-range-field'");
    browser.wait(SETTLED);
}

/// From now on, saved files are also stored in the page as `saved`, and `chooser` waits for files
/// in place of a system dialog.
pub fn watch_files(browser: &mut BrowserPage) {
    browser.evaluate(
        "{ const make = URL.createObjectURL;
           URL.createObjectURL = (blob) => { window.saved = blob; return make.call(URL, blob); };
           const click = HTMLInputElement.prototype.click;
           HTMLInputElement.prototype.click = function () { if (this.type === 'file') window.chooser = this; else click.call(this); }; }",
    );
}

/// The text of the next file that the page saves, after [`watch_files`].
///
/// # Panics
/// If it is not text.
pub fn saved_text(browser: &mut BrowserPage) -> String {
    browser.wait("window.saved");
    let text = browser.evaluate("window.saved.text().then((text) => { window.saved = null; return text; })");
    text.as_str().expect("the file contains text").to_owned()
}
