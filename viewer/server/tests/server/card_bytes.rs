//! The size of the drawings of cards on the wire.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_test_support::table_trace::DiceRoller;
use tumit_viewer::store::TraceStore;

use crate::ServedPage;

const UNITS: i64 = 64;
/// The length of the trace in microseconds.
const END: i64 = 20_000;
/// The largest answer about six cards at one time, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// 64 threads with calls, waits, tasks and messages. All of them change often.
fn busy_program() -> TraceStore {
    let mut text = include_str!("../../../tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 C T Call\n2 K T \"Task kind\"\n4 M 0 T T Message\n");
    let mut dice = DiceRoller(5);
    let mut lines: Vec<(i64, u32, String)> = Vec::new();
    let timestamp = |time: i64| format!("{}.{:06}", time / 1_000_000, time % 1_000_000);
    let mut key = 0;
    for unit in 0..UNITS {
        lines.push((0, 0, format!("6 0 t{unit} 0 T \"thread {unit}\"")));
        let mut time = dice.roll(0, 200);
        while time < END {
            let value = match dice.roll(0, 4) {
                0 => "MPI_Send".to_owned(),
                1 => "idle".to_owned(),
                _ => format!("f{}", dice.roll(0, 20)),
            };
            lines.push((time, 1, format!("11 {} t{unit} C {value}", timestamp(time))));
            if dice.roll(0, 3) == 0 {
                lines.push((time, 1, format!("11 {} t{unit} K task{}", timestamp(time), dice.roll(0, 30))));
            }
            if dice.roll(0, 2) == 0 {
                let (to, sent) =
                    (if dice.roll(0, 2) == 0 { (unit + 1) % UNITS } else { dice.roll(0, UNITS) }, timestamp(time));
                let received = (time + dice.roll(20, 900)).min(END);
                key += 1;
                lines.push((time, 2, format!("15 {sent} 0 M t{unit} m {key}")));
                lines.push((received, 3, format!("16 {} 0 M t{to} m {key}", timestamp(received))));
            }
            time += dice.roll(20, 400);
        }
        lines.push((END, 4, format!("7 {} T t{unit}", timestamp(END))));
    }
    lines.sort_by_key(|line| (line.0, line.1));
    lines.iter().for_each(|line| _ = writeln!(text, "{}", line.2));
    TraceStore::from_paje("busy", text.as_bytes()).unwrap()
}

/// Requests cards at a time in nanoseconds. Returns the number of bytes of the body, and its head.
async fn request(page: &ServedPage, cards: &Value, time: i64) -> (usize, Value) {
    let ServedPage { port, path, host } = page;
    let text: String = cards.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let mut stream = TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
    let request = format!(
        "GET {path}api/cards?t={time}&resolution=1&cards={text} HTTP/1.0\r\nHost: {host}\r\n\
         Accept-Encoding: gzip\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let end = response.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let head = String::from_utf8_lossy(&response[..end]).to_ascii_lowercase();
    assert!(head[9..].starts_with("200"), "{head}");
    let mut bytes = Vec::new();
    if head.contains("content-encoding: gzip") {
        flate2::read::GzDecoder::new(&response[end..]).read_to_end(&mut bytes).unwrap();
    } else {
        bytes = response[end..].to_vec();
    }
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    (response.len() - end, serde_json::from_slice(&bytes[4..4 + length]).unwrap())
}

/// A scene from the changes of an earlier one, as the page restores it.
fn complete_scene(mut scene: Value, earlier: &Value) -> Value {
    for part in ["paints", "runs"] {
        if scene[part].is_null() {
            scene[part] = earlier[part].clone();
        }
    }
    for (kind, table) in scene["tables"].as_object_mut().unwrap() {
        let before = &earlier["tables"][kind];
        for group in 0..2 {
            for (index, column) in table[group].as_array_mut().unwrap().iter_mut().enumerate() {
                if column.is_null() {
                    *column = before[group][index].clone();
                }
            }
        }
        if table[2].is_null() {
            table[2] = before[2].clone();
        }
        let (mut place, mut start) = (0, [0; 2]);
        for item in table[2].as_array_mut().unwrap() {
            if let Some(step) = item.as_i64() {
                place += step;
                *item = before[2][usize::try_from(place).unwrap()].clone();
            } else if item.is_array() && item[2] != 4 {
                for (axis, start) in start.iter_mut().enumerate() {
                    if let Some(first) = item[axis].get_mut(0) {
                        *start += first.as_i64().unwrap();
                        *first = json!(*start);
                    }
                }
            }
        }
    }
    scene
}

fn complete_regions(regions: &Value, earlier: &Value) -> Value {
    let complete = |(index, region): (usize, &Value)| {
        let mut complete = earlier[index].as_object().cloned().unwrap_or_default();
        complete.extend(region.as_object().unwrap().clone());
        complete.retain(|_, value| !value.is_null());
        Value::from(complete)
    };
    regions.as_array().unwrap().iter().enumerate().map(complete).collect()
}

/// The cards of a page, with the drawings that it has.
struct PageCards {
    cards: Vec<Value>,
    scenes: Vec<Value>,
    regions: Vec<Value>,
}

impl PageCards {
    fn new(names: &[String]) -> Self {
        let card = |name| json!({ "name": name, "width": 420, "height": 300 });
        let nothing = vec![Value::Null; names.len()];
        Self { cards: names.iter().map(card).collect(), scenes: nothing.clone(), regions: nothing }
    }

    /// Shows the cards at a time. Returns the size of the answer.
    async fn bytes_at(&mut self, page: &ServedPage, time: i64) -> usize {
        let (bytes, head) = request(page, &Value::from(self.cards.clone()), time).await;
        for (index, answer) in head["cards"].as_array().unwrap().iter().enumerate() {
            let (card, scene, regions) = (&mut self.cards[index], &mut self.scenes[index], &mut self.regions[index]);
            if !answer["scene"].is_null() {
                let sent = answer["scene"].clone();
                *scene = if answer["base"] == true { complete_scene(sent, scene) } else { sent };
            }
            if let Some(marks) = answer.get("marks") {
                let earlier = if marks["base"] == true { std::mem::take(regions) } else { Value::Null };
                *regions = complete_regions(&marks["regions"], &earlier);
                card["marks"] = marks["hash"].clone();
            }
            card["hash"] = if answer["error"].is_null() { answer["hash"].clone() } else { json!("") };
        }
        bytes
    }
}

/// The largest answers are those for the six cards with the most bytes.
#[tokio::test]
async fn an_answer_about_six_cards_is_small() {
    let page = ServedPage::of(busy_program()).await;
    let list = page.json("views").await;
    let views = list["views"].as_array().unwrap();
    let names: Vec<String> = views.iter().map(|view| view["name"].as_str().unwrap().to_owned()).collect();
    // A second between two times is as far as a random jump. The ticks of play are closer.
    let times: Vec<i64> = (1..9).map(|number| number * 2_111_000).collect();
    let mut largest: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        let mut card = PageCards::new(std::slice::from_ref(name));
        card.bytes_at(&page, 1_000_000).await;
        for time in &times {
            let bytes = card.bytes_at(&page, *time).await;
            let before = largest.entry(name.clone()).or_default();
            *before = bytes.max(*before);
        }
    }
    let mut by_bytes: Vec<(usize, String)> = largest.into_iter().map(|(name, bytes)| (bytes, name)).collect();
    by_bytes.sort_unstable_by(|a, b| b.cmp(a));
    let six: Vec<String> = by_bytes.iter().take(6).map(|(_, name)| name.clone()).collect();
    let mut cards = PageCards::new(&six);
    cards.bytes_at(&page, 1_000_000).await;
    for time in times {
        let bytes = cards.bytes_at(&page, time).await;
        assert!(bytes <= MAX_BYTES, "{bytes} bytes at {time} ns for the largest of {by_bytes:?}");
        // The changes restore the drawings.
        let mut whole = PageCards::new(&six);
        whole.bytes_at(&page, time).await;
        assert!(cards.scenes == whole.scenes && cards.regions == whole.regions, "{time}");
    }
}
