//! `WebDriver` `BiDi`, the protocol of Firefox: commands and answers as JSON over a web socket.

use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket, connect};

use super::driver::{PageDriver, PointerAction};
use super::element::{CssPosition, PageElement};
use super::process::BrowserProcess;

/// The accessible name of an element, sufficiently exact for a page that uses simple naming.
const NAME: &str = "element => {
    const of = id => document.getElementById(id)?.innerText.trim() ?? '';
    const by = element.getAttribute('aria-labelledby');
    return element.getAttribute('aria-label') ?? (by ? by.split(' ').map(of).join(' ') : null)
        ?? element.labels?.[0]?.innerText.trim() ?? (element.innerText?.trim() || element.title || ''); }";

/// A function that returns the names of elements, or null for invisible ones.
const READ_OUT: &str = "(...elements) => { const name = NAME;
    return elements.map(element => (element.checkVisibility() ? name(element) : null)); }";

/// A connection to a browser. A browser has only one.
struct BidiConnection {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    next: u64,
    complaints: Vec<String>,
    _process: BrowserProcess,
}

/// A page in a browser context of its own. It shares nothing with earlier pages.
pub(super) struct BidiPage {
    /// The connection. It is passed to the next page at the end.
    link: Option<BidiConnection>,
    user: Value,
    context: Value,
}

/// Browsers without a page.
static IDLE: Mutex<Vec<BidiConnection>> = Mutex::new(Vec::new());

impl std::fmt::Debug for BidiPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bidi").field("context", &self.context).finish_non_exhaustive()
    }
}

impl Drop for BidiPage {
    fn drop(&mut self) {
        // A browser is not reused after a failed test.
        let Some(mut link) = self.link.take().filter(|_| !std::thread::panicking()) else { return };
        let program_options = [
            ("input.releaseActions", json!({ "context": self.context })),
            ("browser.removeUserContext", json!({ "userContext": self.user })),
        ];
        if program_options.iter().all(|(method, params)| link.request(method, params).is_ok()) {
            link.complaints.clear();
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(link);
        }
    }
}

impl BidiConnection {
    /// Starts a browser.
    fn new(patience: Duration) -> Self {
        let process = BrowserProcess::firefox(patience);
        let address = process.address();
        let (socket, _) = connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(patience)).expect("a timeout can be set");
        }
        let mut link = Self { socket, next: 0, complaints: Vec::new(), _process: process };
        link.call("session.new", &json!({ "capabilities": {} }));
        link.call("session.subscribe", &json!({ "events": ["log.entryAdded"] }));
        link
    }

    /// Sends a command, and waits for the answer.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.request(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Sends a command, and waits for the answer or the error.
    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let request = json!({ "id": self.next, "method": method, "params": params });
        self.socket.send(Message::text(request.to_string())).unwrap_or_else(|error| panic!("{method}: {error}"));
        loop {
            let message = self.socket.read().unwrap_or_else(|error| panic!("{method}: {error}"));
            let Message::Text(text) = message else { continue };
            let mut answer: Value = serde_json::from_str(&text).expect("the browser speaks JSON");
            if answer["id"] == json!(self.next) {
                return if answer["type"] == "success" { Ok(answer["result"].take()) } else { Err(answer) };
            }
            let entry = &answer["params"];
            if answer["method"] == "log.entryAdded"
                && ["error", "warn"].contains(&entry["level"].as_str().unwrap_or(""))
            {
                self.complaints.push(entry["text"].to_string());
            }
        }
    }
}

impl BidiPage {
    /// Opens a page of this size, in a browser without other pages.
    pub(super) fn open((width, height): (u32, u32), patience: Duration) -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut link = idle.unwrap_or_else(|| BidiConnection::new(patience));
        let user = link.call("browser.createUserContext", &json!({}))["userContext"].take();
        // In a tab of its own, because in the first tab the address field keeps the focus.
        let tab = json!({ "type": "tab", "userContext": user });
        let context = link.call("browsingContext.create", &tab)["context"].take();
        let size = json!({ "context": context, "viewport": { "width": width, "height": height } });
        link.call("browsingContext.setViewport", &size);
        Self { link: Some(link), user, context }
    }

    fn link(&mut self) -> &mut BidiConnection {
        self.link.as_mut().expect("the link is taken only at the end")
    }

    /// Sends a command, and waits for the answer.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.link().call(method, params)
    }

    /// The result of a function of the page.
    fn function(&mut self, function: &str, arguments: &[Value]) -> Option<Value> {
        let target = json!({ "context": self.context });
        let params =
            json!({ "functionDeclaration": function, "arguments": arguments, "target": target, "awaitPromise": true });
        let answer = self.link().request("script.callFunction", &params).ok()?;
        Some(plain_json(&answer["result"]))
    }

    /// Performs actions with the pointer or the keys.
    fn act(&mut self, source: &Value) {
        let params = json!({ "context": self.context, "actions": [source] });
        self.call("input.performActions", &params);
    }

    fn keys(&mut self, actions: &[Value]) {
        self.act(&json!({ "type": "key", "id": "keys", "actions": actions }));
    }
}

impl PageDriver for BidiPage {
    fn navigate(&mut self, url: &str) {
        let params = json!({ "context": self.context, "url": url, "wait": "complete" });
        self.call("browsingContext.navigate", &params);
    }

    fn reload(&mut self) {
        self.call("browsingContext.reload", &json!({ "context": self.context, "wait": "complete" }));
    }

    fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let target = json!({ "context": self.context });
        let depth = json!({ "maxObjectDepth": 100, "maxDomDepth": 0 });
        let params =
            json!({ "expression": expression, "target": target, "awaitPromise": true, "serializationOptions": depth });
        // A navigation during the evaluation is an error of the command.
        let answer = self.link().request("script.evaluate", &params).map_err(|error| error.to_string())?;
        if answer["type"] == "exception" { Err(answer.to_string()) } else { Ok(plain_json(&answer["result"])) }
    }

    fn find_all(&mut self, role: &str, name: Option<&str>) -> Vec<PageElement> {
        let mut criteria = json!({ "role": role });
        if let Some(name) = name {
            criteria["name"] = json!(name);
        }
        let params = json!({ "context": self.context, "locator": { "type": "accessibility", "value": criteria } });
        let found = self.call("browsingContext.locateNodes", &params);
        let nodes: Vec<Value> = found["nodes"].as_array().into_iter().flatten().map(shared_reference).collect();
        // Screen readers skip invisible elements.
        let names = self.function(&READ_OUT.replace("NAME", NAME), &nodes).unwrap_or_default();
        let element = |(node, name): (Value, &Value)| Some(PageElement { node, name: name.as_str()?.to_owned() });
        nodes.into_iter().zip(names.as_array().into_iter().flatten()).filter_map(element).collect()
    }

    fn visible_position(&mut self, node: &Value) -> Option<CssPosition> {
        let measure = "element => { const { x, y, width, height } = element.getBoundingClientRect();
            return element.isConnected && element.checkVisibility() ? [x, y, width, height] : null; }";
        let corner = self.function(measure, std::slice::from_ref(node))?;
        let corner: Vec<f64> = corner.as_array()?.iter().filter_map(Value::as_f64).collect();
        Some(CssPosition { x: corner[0], y: corner[1], width: corner[2], height: corner[3] })
    }

    fn text(&mut self, node: &Value) -> String {
        let text = self.function("element => element.value ?? element.innerText", std::slice::from_ref(node));
        text.as_ref().and_then(Value::as_str).expect("an element has text").to_owned()
    }

    fn pointer(&mut self, act: PointerAction, (x, y): (f64, f64)) {
        if let PointerAction::Wheel(by) = act {
            let scroll = json!({ "type": "scroll", "x": x.round(), "y": y.round(), "deltaX": 0, "deltaY": by });
            return self.act(&json!({ "type": "wheel", "id": "wheel", "actions": [scroll] }));
        }
        let action = match act {
            PointerAction::Press => json!({ "type": "pointerDown", "button": 0 }),
            PointerAction::Release => json!({ "type": "pointerUp", "button": 0 }),
            _ => json!({ "type": "pointerMove", "x": x.round(), "y": y.round() }),
        };
        self.act(&json!({ "type": "pointer", "id": "mouse", "actions": [action] }));
    }

    fn key(&mut self, key: &str) {
        let value = match key {
            "Enter" => "\u{e007}",
            "Escape" => "\u{e00c}",
            "Tab" => "\u{e004}",
            "Home" => "\u{e011}",
            "End" => "\u{e010}",
            "ArrowLeft" => "\u{e012}",
            "ArrowUp" => "\u{e013}",
            "ArrowRight" => "\u{e014}",
            "ArrowDown" => "\u{e015}",
            "Backspace" => "\u{e003}",
            "Delete" => "\u{e017}",
            "PageUp" => "\u{e00e}",
            "PageDown" => "\u{e00f}",
            "F10" => "\u{e03a}",
            one => one,
        };
        assert!(value.chars().count() == 1, "the code of key {key} is unknown");
        // As a user types capital letters.
        let is_shifted = value.chars().all(char::is_uppercase);
        if is_shifted {
            self.set_key_down("Shift", true);
        }
        self.keys(&[json!({ "type": "keyDown", "value": value }), json!({ "type": "keyUp", "value": value })]);
        if is_shifted {
            self.set_key_down("Shift", false);
        }
    }

    fn set_key_down(&mut self, key: &str, down: bool) {
        let value = match key {
            "Alt" => "\u{e00a}",
            "Control" => "\u{e009}",
            "Shift" => "\u{e008}",
            " " => key,
            _ => panic!("{key} is not held down"),
        };
        self.keys(&[json!({ "type": if down { "keyDown" } else { "keyUp" }, "value": value })]);
    }

    fn type_text(&mut self, text: &str) {
        let stroke = |letter: char| {
            let value = letter.to_string();
            [json!({ "type": "keyDown", "value": value }), json!({ "type": "keyUp", "value": value })]
        };
        let strokes: Vec<Value> = text.chars().flat_map(stroke).collect();
        self.keys(&strokes);
    }

    fn screenshot(&mut self) -> String {
        let params = json!({ "context": self.context });
        let answer = self.call("browsingContext.captureScreenshot", &params);
        answer["data"].as_str().expect("a screenshot").to_owned()
    }

    fn allow_clipboard(&mut self, _origin: &str) {
        // The browser's profile permits it.
    }

    fn show_scroll_bars(&mut self, _shown: bool) -> bool {
        false
    }

    fn prefer(&mut self, _feature: &str, _value: &str) -> bool {
        false
    }

    fn complaints(&self) -> &[String] {
        self.link.as_ref().map_or(&[], |link| &link.complaints)
    }
}

/// A node in the form in which the protocol accepts it.
fn shared_reference(node: &Value) -> Value {
    json!({ "sharedId": node["sharedId"] })
}

/// A value as plain JSON. The protocol wraps each value with its type.
fn plain_json(value: &Value) -> Value {
    let inside = &value["value"];
    match value["type"].as_str() {
        Some("array" | "set") => inside.as_array().into_iter().flatten().map(plain_json).collect(),
        Some("object" | "map") => {
            let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), plain_json(&pair[1])));
            Value::Object(inside.as_array().into_iter().flatten().filter_map(pair).collect::<Map<_, _>>())
        }
        // NaN and infinite numbers are texts here.
        Some("string" | "number" | "boolean" | "bigint") => inside.clone(),
        _ => Value::Null,
    }
}
