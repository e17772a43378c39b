//! The processes of browsers. One Chromium serves all pages that are open at a time, since starting it costs more than most tests.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A browser, ended with the last that holds it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    address: String,
    // Removed after the process, whose files it holds.
    profile: tempfile::TempDir,
}

impl Process {
    /// The Chromium that runs, or a new one.
    pub(super) fn chromium(patience: Duration) -> Arc<Self> {
        static RUNNING: Mutex<Weak<Process>> = Mutex::new(Weak::new());
        // A test that failed while it started one has left no other.
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Self::new_chromium(patience));
            *running = Arc::downgrade(&new);
            new
        })
    }

    fn new_chromium(patience: Duration) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the browser's profile");
        let mut command = Command::new("chromium");
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            // Containers may have little shared memory.
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            // No page is slower because another one is in front of it.
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        // Two lines: the port, and the path of the browser's socket.
        Self::start(command, profile, "DevToolsActivePort", patience, |text| {
            let (port, path) = text.trim().split_once('\n')?;
            Some(format!("ws://127.0.0.1:{port}{path}"))
        })
    }

    /// A new Firefox: each has one connection.
    pub(super) fn firefox(patience: Duration) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the browser's profile");
        // What is not the page's own: no network but its server, no first steps, a clipboard that needs no leave.
        let choices = [
            ("browser.shell.checkDefaultBrowser", "false"),
            ("browser.startup.homepage_override.mstone", "\"ignore\""),
            ("browser.aboutwelcome.enabled", "false"),
            ("datareporting.policy.dataSubmissionEnabled", "false"),
            ("toolkit.telemetry.reportingpolicy.firstRun", "false"),
            ("app.update.disabledForTesting", "true"),
            ("network.captive-portal-service.enabled", "false"),
            ("network.connectivity-service.enabled", "false"),
            ("dom.events.testing.asyncClipboard", "true"),
            // Its window has the focus, whatever else has.
            ("focusmanager.testmode", "true"),
            ("layout.css.prefers-color-scheme.content-override", "1"),
        ];
        let choices: String =
            choices.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect();
        std::fs::write(profile.path().join("user.js"), choices).expect("the profile can be written");
        let command = if Command::new("firefox").arg("--version").output().is_ok() { "firefox" } else { "firefox-esr" };
        let mut command = Command::new(command);
        command.args(["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile"]).arg(profile.path());
        command.env("MOZ_DISABLE_CONTENT_SANDBOX", "1").env("HOME", profile.path());
        Self::start(command, profile, "WebDriverBiDiServer.json", patience, |text| {
            let says: Value = serde_json::from_str(text).ok()?;
            Some(format!("ws://{}:{}/session", says["ws_host"].as_str()?, says["ws_port"]))
        })
    }

    /// Starts one, and waits until it has written into a file of its profile where it listens.
    fn start(
        mut command: Command,
        profile: tempfile::TempDir,
        file: &str,
        patience: Duration,
        address: impl Fn(&str) -> Option<String>,
    ) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("{name} cannot be run ({error}): `make packages` installs what the tests need")
        });
        // Ended with this, also if it does not answer.
        let mut browser = Self { child, address: String::new(), profile };
        browser.address = listens(&browser.profile.path().join(file), patience, address);
        browser
    }

    /// Where it is spoken to.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

/// What it says in this file, once it does.
fn listens(file: &Path, patience: Duration, address: impl Fn(&str) -> Option<String>) -> String {
    let started = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(address) = address(&text) {
            return address;
        }
        assert!(started.elapsed() < patience, "the browser does not say where it listens");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
