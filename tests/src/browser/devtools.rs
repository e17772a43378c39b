//! The `DevTools` protocol: questions and answers as JSON over a web socket.

use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket, connect};

/// A connection to one page of a browser.
pub(super) struct DevTools {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    next: u64,
    /// Warnings and errors of the page's console.
    pub(super) complaints: Vec<String>,
}

impl std::fmt::Debug for DevTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DevTools").field("session", &self.session).finish_non_exhaustive()
    }
}

impl DevTools {
    /// Connects to the browser whose port stands in this file, and opens a page.
    pub(super) fn connect(port_file: &Path, patience: Duration) -> Self {
        let started = Instant::now();
        let address = loop {
            // Two lines: the port, and the path of the browser's socket.
            let text = std::fs::read_to_string(port_file).unwrap_or_default();
            if let Some((port, path)) = text.trim().split_once('\n') {
                break format!("ws://127.0.0.1:{port}{path}");
            }
            assert!(started.elapsed() < patience, "chromium does not say where it listens");
            std::thread::sleep(Duration::from_millis(20));
        };
        let (socket, _) = connect(&address).unwrap_or_else(|error| panic!("{address}: {error}"));
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(patience)).expect("a time-out can be set");
        }
        let mut tools = Self { socket, session: None, next: 0, complaints: Vec::new() };
        let page = tools.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let ask = json!({ "targetId": page["targetId"], "flatten": true });
        let session = tools.call("Target.attachToTarget", &ask);
        tools.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "DOM", "Accessibility", "Log"] {
            tools.call(&format!("{domain}.enable"), &json!({}));
        }
        tools
    }

    /// Asks, and waits for the answer.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.ask(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Asks, and waits for the answer or what was wrong with the question.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        let mut ask = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            ask["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(ask.to_string())).unwrap_or_else(|error| panic!("{method}: {error}"));
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

    /// Keeps what the page complains about.
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

    /// The complaints as one text.
    pub(super) fn said(&self) -> String {
        self.complaints.join("\n")
    }
}

/// The bytes of a text in base64, as `DevTools` sends pictures.
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
