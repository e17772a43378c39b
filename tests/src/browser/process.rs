//! The processes of browsers. A process serves many tests, because starting it costs more than most
//! of them. It ends with the test process, also if that is killed.

use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::process_keeper::ProcessKeeper;

/// A browser. It ends when this value is dropped, or when the test process ends.
#[derive(Debug)]
pub(super) struct BrowserProcess {
    keeper: ProcessKeeper,
    address: String,
}

impl BrowserProcess {
    /// The Chromium process of all tests of this process.
    pub(super) fn chromium(patience: Duration) -> &'static Self {
        static RUNNING: OnceLock<BrowserProcess> = OnceLock::new();
        RUNNING.get_or_init(|| Self::new_chromium(patience))
    }

    fn new_chromium(patience: Duration) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile can be created");
        // The shell has no windows and no user interface. A page costs half of the processor time.
        let has_shell = Command::new("chromium-headless-shell").arg("--version").output().is_ok();
        let mut command = Command::new(if has_shell { "chromium-headless-shell" } else { "chromium" });
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
            // Background pages must not be slower than the front page.
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        // The file has two lines: the port, and the path of the browser's socket.
        Self::start(&command, profile, "DevToolsActivePort", patience, |text| {
            let (port, path) = text.trim().split_once('\n')?;
            Some(format!("ws://127.0.0.1:{port}{path}"))
        })
    }

    /// Starts a new Firefox process. Each has one connection at a time.
    pub(super) fn firefox(patience: Duration) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile can be created");
        // No network except the page's server, no first-run pages, and a clipboard without
        // permission prompts.
        let choices = [
            ("browser.shell.checkDefaultBrowser", "false"),
            ("browser.startup.homepage_override.mstone", "\"ignore\""),
            ("browser.aboutwelcome.is_enabled", "false"),
            ("datareporting.policy.dataSubmissionEnabled", "false"),
            ("toolkit.telemetry.reportingpolicy.firstRun", "false"),
            ("app.update.disabledForTesting", "true"),
            ("network.captive-portal-service.is_enabled", "false"),
            ("network.connectivity-service.is_enabled", "false"),
            ("dom.events.testing.asyncClipboard", "true"),
            // Its window has the focus, regardless of other windows.
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
        Self::start(&command, profile, "WebDriverBiDiServer.json", patience, |text| {
            let address: Value = serde_json::from_str(text).ok()?;
            Some(format!("ws://{}:{}/session", address["ws_host"].as_str()?, address["ws_port"]))
        })
    }

    /// Starts a browser, and waits until it has written its address to a file of its profile.
    fn start(
        browser: &Command,
        profile: tempfile::TempDir,
        file: &str,
        patience: Duration,
        address: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let name = browser.get_program();
        let profile_path = profile.path().to_owned();
        let keeper = ProcessKeeper::start(browser, profile);
        let mut process = Self { keeper, address: String::new() };
        let started = Instant::now();
        while process.address.is_empty() {
            let text = std::fs::read_to_string(profile_path.join(file)).unwrap_or_default();
            process.address = address(&text).unwrap_or_default();
            let is_running = process.keeper.is_running();
            assert!(is_running, "cannot run {}: `make packages` installs the programs for the tests", name.display());
            assert!(started.elapsed() < patience, "{} does not print its address", name.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        process
    }

    /// The address of the browser's web socket.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}
