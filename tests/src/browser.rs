//! A real browser: headless Chromium, driven over the `DevTools` protocol with real pointer and key events.
//!
//! Elements are found as a screen reader finds them, by role and name.

mod devtools;

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use devtools::DevTools;

/// How long the page may take for anything before the test gives up; it asserts nothing about time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    tools: DevTools,
    // Removed after the process, whose files it holds.
    _profile: tempfile::TempDir,
}

/// Something on the page.
#[derive(Clone, Debug)]
pub struct Element {
    node: Value,
    /// Its accessible name.
    pub name: String,
}

/// Where something is, in CSS pixels.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Place {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Place {
    /// Its middle.
    #[must_use]
    pub fn center(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

impl Browser {
    /// Starts Chromium with a window of this size.
    ///
    /// # Panics
    /// When it is not installed, or does not answer.
    #[must_use]
    pub fn start(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the browser's profile");
        let flags = [
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
            "--remote-debugging-port=0",
        ];
        let process = Command::new("chromium")
            .args(flags)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={width},{height}"))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromium cannot be run ({error}): `make packages` installs what the tests need")
            });
        let tools = DevTools::connect(&profile.path().join("DevToolsActivePort"), PATIENCE);
        let mut browser = Self { process, tools, _profile: profile };
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.tools.call("Emulation.setDeviceMetricsOverride", &size);
        browser
    }

    /// Opens an address and waits for the page's `load`.
    pub fn open(&mut self, url: &str) {
        self.tools.call("Page.navigate", &json!({ "url": url }));
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// The system's preference, as the page sees it.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.tools.call("Emulation.setEmulatedMedia", &features);
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// When it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.tools.call("Runtime.evaluate", &ask);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// When that takes far too long.
    pub fn wait(&mut self, expression: &str) {
        let started = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != json!(true) {
            assert!(started.elapsed() < PATIENCE, "never true: {expression}\n{}", self.tools.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything on the page with a role and a name.
    pub fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<Element> {
        let document = self.tools.call("DOM.getDocument", &json!({ "depth": 0 }));
        let mut ask = json!({ "nodeId": document["root"]["nodeId"], "role": role });
        if let Some(name) = name {
            ask["accessibleName"] = json!(name);
        }
        let found = self.tools.call("Accessibility.queryAXTree", &ask);
        let nodes = found["nodes"].as_array().cloned().unwrap_or_default();
        nodes
            .iter()
            .filter(|node| node["ignored"] != json!(true))
            .map(|node| Element {
                node: node["backendDOMNodeId"].clone(),
                name: node["name"]["value"].as_str().unwrap_or_default().to_owned(),
            })
            .collect()
    }

    /// The one thing on the page with a role and a name; waits for it.
    ///
    /// # Panics
    /// When there is none, or more than one.
    pub fn find(&mut self, role: &str, name: Option<&str>) -> Element {
        let started = Instant::now();
        loop {
            let mut found = self.find_all(role, name);
            if found.len() == 1 {
                return found.remove(0);
            }
            assert!(started.elapsed() < PATIENCE, "{} things with role {role} and name {name:?}", found.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Where something is.
    ///
    /// # Panics
    /// When it is not shown.
    pub fn place(&mut self, element: &Element) -> Place {
        let model = self.tools.call("DOM.getBoxModel", &json!({ "backendNodeId": element.node }));
        let corner: Vec<f64> =
            model["model"]["border"].as_array().expect("a box").iter().filter_map(Value::as_f64).collect();
        Place { x: corner[0], y: corner[1], width: corner[4] - corner[0], height: corner[5] - corner[1] }
    }

    /// What a user reads in it; of a field, what stands in it.
    ///
    /// # Panics
    /// When it has gone.
    pub fn text(&mut self, element: &Element) -> String {
        let object = self.tools.call("DOM.resolveNode", &json!({ "backendNodeId": element.node }));
        let ask = json!({
            "objectId": object["object"]["objectId"],
            "functionDeclaration": "function () { return this.value ?? this.innerText; }",
            "returnByValue": true,
        });
        let answer = self.tools.call("Runtime.callFunctionOn", &ask);
        answer["result"]["value"].as_str().expect("elements have text").to_owned()
    }

    /// Moves the pointer.
    pub fn point(&mut self, (x, y): (f64, f64)) {
        self.mouse("mouseMoved", (x, y), json!({}));
    }

    /// Presses and releases the first button.
    pub fn click(&mut self, at: (f64, f64)) {
        self.point(at);
        self.mouse("mousePressed", at, json!({ "button": "left", "clickCount": 1 }));
        self.mouse("mouseReleased", at, json!({ "button": "left", "clickCount": 1 }));
    }

    /// Presses at one place and releases at another, with the pointer in between.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.point(from);
        self.mouse("mousePressed", from, json!({ "button": "left", "clickCount": 1 }));
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse("mouseMoved", at, json!({ "button": "left", "buttons": 1 }));
        }
        self.mouse("mouseReleased", to, json!({ "button": "left", "clickCount": 1 }));
    }

    /// Turns the wheel; negative is away from the user.
    pub fn wheel(&mut self, at: (f64, f64), by: f64) {
        self.mouse("mouseWheel", at, json!({ "deltaX": 0, "deltaY": by }));
    }

    /// Presses and releases a key, named as in JavaScript's `key`.
    pub fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 {
            key
        } else if key == "Enter" {
            "\r"
        } else {
            ""
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let mut ask = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
        if !text.is_empty() {
            ask["text"] = json!(text);
        }
        self.tools.call("Input.dispatchKeyEvent", &ask);
        self.tools
            .call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// Types a text.
    pub fn type_text(&mut self, text: &str) {
        self.tools.call("Input.insertText", &json!({ "text": text }));
    }

    /// Writes what is seen into a PNG.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn screenshot(&mut self, path: &Path) {
        let answer = self.tools.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let bytes = devtools::decode_base64(answer["data"].as_str().expect("a screenshot"));
        std::fs::File::create(path).and_then(|mut file| file.write_all(&bytes)).expect("the screenshot can be written");
    }

    /// What the page wrote to its console as warnings and errors.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        &self.tools.complaints
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), more: Value) {
        let mut ask = json!({ "type": kind, "x": x, "y": y });
        if let (Some(all), Value::Object(more)) = (ask.as_object_mut(), more) {
            all.extend(more);
        }
        self.tools.call("Input.dispatchMouseEvent", &ask);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
