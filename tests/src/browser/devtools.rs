//! The `DevTools` protocol of Chromium: commands and answers as JSON over a web socket.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket, connect};

use super::driver::{PATIENCE, PageDriver, PointerAction};
use super::element::{CssPosition, PageElement};
use super::process::BrowserProcess;

/// A connection to one page of a browser.
pub(super) struct DevToolsPage {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    /// The browser context, to which the page's permissions and storage belong.
    context: Value,
    next: u64,
    complaints: Vec<String>,
    /// Sum of the held keys: 1 Alt, 2 Control, 8 Shift.
    modifier_keys: u32,
}

impl std::fmt::Debug for DevToolsPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DevTools").field("session", &self.session).finish_non_exhaustive()
    }
}

impl DevToolsPage {
    /// Opens a page of this size in a browser context of its own. It shares nothing with other
    /// pages of the browser.
    pub(super) fn connect(process: &BrowserProcess, (width, height): (u32, u32), patience: Duration) -> Self {
        let address = process.address();
        let (socket, _) = connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(patience)).expect("a timeout can be set");
        }
        let (session, context, complaints) = (None, Value::Null, Vec::new());
        let mut tools = Self { socket, session, context, next: 0, complaints, modifier_keys: 0 };
        let context = tools.call("Target.createBrowserContext", &json!({ "disposeOnDetach": true }));
        tools.context = context["browserContextId"].clone();
        let page = json!({ "url": "about:blank", "browserContextId": tools.context, "newWindow": true });
        let page = tools.call("Target.createTarget", &page);
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let session = tools.call("Target.attachToTarget", &target);
        tools.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "DOM", "Accessibility", "Log"] {
            tools.call(&format!("{domain}.enable"), &json!({}));
        }
        // Each page must behave like the focused page.
        tools.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tools.call("Emulation.setDeviceMetricsOverride", &size);
        // The appearance of scroll bars differs between systems.
        tools.show_scroll_bars(false);
        tools
    }

    /// Sends a command, and waits for the answer.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.request(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Sends a command, and waits for the answer or the error.
    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(request.to_string())).unwrap_or_else(|error| panic!("{method}: {error}"));
        loop {
            let message = self.socket.read().unwrap_or_else(|error| panic!("{method}: {error}"));
            let Message::Text(text) = message else { continue };
            let mut answer: Value = serde_json::from_str(&text).expect("DevTools speaks JSON");
            if answer["id"] == json!(id) {
                return if answer.get("error").is_some() {
                    Err(answer["error"].take())
                } else {
                    Ok(answer["result"].take())
                };
            }
            self.listen(&answer);
        }
    }

    /// Stores warnings and errors of the page.
    fn listen(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled")
                if ["error", "warning"].contains(&params["type"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(params["args"].to_string());
            }
            Some("Log.entryAdded") if params["entry"]["level"] == json!("error") => {
                self.complaints.push(params["entry"].to_string());
            }
            _ => {}
        }
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), more: Value) {
        let mut params = json!({ "type": kind, "x": x, "y": y, "modifiers": self.modifier_keys });
        if let (Some(all), Value::Object(more)) = (params.as_object_mut(), more) {
            all.extend(more);
        }
        self.call("Input.dispatchMouseEvent", &params);
    }
}

impl PageDriver for DevToolsPage {
    fn navigate(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
    }

    fn reload(&mut self) {
        // The answer comes before the page is unloaded. Until then, the old page answers, and is
        // complete. A query during the change is an error, and is repeated.
        self.evaluate("window.isOld = true").expect("the page can be marked");
        self.call("Page.reload", &json!({}));
        let params =
            json!({ "expression": "!window.isOld && document.readyState === 'complete'", "returnByValue": true });
        let started = Instant::now();
        while !self.request("Runtime.evaluate", &params).is_ok_and(|answer| answer["result"]["value"] == json!(true)) {
            assert!(started.elapsed() < PATIENCE, "the page is not reloaded");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        // A navigation during the evaluation is an error of the command.
        let mut answer = self.request("Runtime.evaluate", &params).map_err(|error| error.to_string())?;
        if answer.get("exceptionDetails").is_some() {
            return Err(answer.to_string());
        }
        Ok(answer["result"]["value"].take())
    }

    fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<PageElement> {
        let document = self.call("DOM.getDocument", &json!({ "depth": 0 }));
        let mut params = json!({ "nodeId": document["root"]["nodeId"], "role": role });
        if let Some(name) = name {
            params["accessibleName"] = json!(name);
        }
        let found = self.call("Accessibility.queryAXTree", &params);
        let nodes = found["nodes"].as_array().cloned().unwrap_or_default();
        nodes
            .iter()
            .filter(|node| node["ignored"] != json!(true))
            .map(|node| PageElement {
                node: node["backendDOMNodeId"].clone(),
                name: node["name"]["value"].as_str().unwrap_or_default().to_owned(),
            })
            .collect()
    }

    fn visible_position(&mut self, node: &Value) -> Option<CssPosition> {
        let model = self.request("DOM.getBoxModel", &json!({ "backendNodeId": node })).ok()?;
        let corner: Vec<f64> = model["model"]["border"].as_array()?.iter().filter_map(Value::as_f64).collect();
        Some(CssPosition { x: corner[0], y: corner[1], width: corner[4] - corner[0], height: corner[5] - corner[1] })
    }

    fn text(&mut self, node: &Value) -> String {
        let object = self.call("DOM.resolveNode", &json!({ "backendNodeId": node }));
        let params = json!({
            "objectId": object["object"]["objectId"],
            "functionDeclaration": "function () { return this.value ?? this.innerText; }",
            "returnByValue": true,
        });
        let answer = self.call("Runtime.callFunctionOn", &params);
        answer["result"]["value"].as_str().expect("an element has text").to_owned()
    }

    fn pointer(&mut self, act: PointerAction, at: (f64, f64)) {
        match act {
            PointerAction::Move { is_pressed: false } => self.mouse("mouseMoved", at, json!({})),
            PointerAction::Move { is_pressed: true } => {
                self.mouse("mouseMoved", at, json!({ "button": "left", "buttons": 1 }));
            }
            PointerAction::Press => self.mouse("mousePressed", at, json!({ "button": "left", "clickCount": 1 })),
            PointerAction::Release => self.mouse("mouseReleased", at, json!({ "button": "left", "clickCount": 1 })),
            PointerAction::Wheel(by) => self.mouse("mouseWheel", at, json!({ "deltaX": 0, "deltaY": by })),
        }
    }

    fn key(&mut self, key: &str) {
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
        // With Alt or Control, a key does not produce text.
        let (kind, text) = if self.modifier_keys & 3 == 0 { (kind, text) } else { ("rawKeyDown", "") };
        let mut params =
            json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "modifiers": self.modifier_keys });
        if !text.is_empty() {
            params["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", &params);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code, "modifiers": self.modifier_keys });
        self.call("Input.dispatchKeyEvent", &up);
    }

    fn set_key_down(&mut self, key: &str, down: bool) {
        if key == " " {
            let (kind, text) = if down { ("keyDown", " ") } else { ("keyUp", "") };
            let params = json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": 32 });
            self.call("Input.dispatchKeyEvent", &params);
            return;
        }
        let bit = match key {
            "Alt" => 1,
            "Control" => 2,
            "Shift" => 8,
            _ => panic!("{key} is not modifier_keys down"),
        };
        self.modifier_keys = if down { self.modifier_keys | bit } else { self.modifier_keys & !bit };
    }

    fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    fn screenshot(&mut self) -> String {
        let answer = self.call("Page.captureScreenshot", &json!({ "format": "png", "optimizeForSpeed": true }));
        answer["data"].as_str().expect("a screenshot").to_owned()
    }

    fn allow_clipboard(&mut self, origin: &str) {
        let permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"];
        let params = json!({ "origin": origin, "permissions": permissions, "browserContextId": self.context });
        self.call("Browser.grantPermissions", &params);
    }

    fn show_scroll_bars(&mut self, is_shown: bool) -> bool {
        self.call("Emulation.setScrollbarsHidden", &json!({ "hidden": !is_shown }));
        true
    }

    fn prefer(&mut self, feature: &str, value: &str) -> bool {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.call("Emulation.setEmulatedMedia", &features);
        true
    }

    fn complaints(&self) -> &[String] {
        &self.complaints
    }
}

/// Decodes a base64 text, the form of images in `DevTools`.
pub(super) fn decode_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}
