//! The cards of the dock: marks and their units, tables, layouts, order, and the costs of play.

use std::fmt::Write as _;

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, read, saved_text, screenshot_path, watch_files};
use tests::programs::tumit;

use super::views::{CARDS_SETTLED, go_to, open_dock, preset, titles};
use crate::accessibility::{axe, faults};
use crate::costs::large_trace;

/// A program of ranks that compute, send to the next rank and wait, in rounds of 10 ms.
fn ranks(count: usize, rounds: usize) -> String {
    let (header, _) = TRACE.split_once("\n0 N 0 Node").unwrap();
    let mut text = format!(
        "{header}\n0 T 0 Rank\n1 S T Activity\n6 L 0 T T Message\n2 c S solve \"0.2 0.5 0.4\"\n2 s S MPI_Send \"0.9 0.6 0.1\"\n2 w S MPI_Wait \"0.8 0.3 0.3\"\n"
    );
    for rank in 0..count {
        writeln!(text, "3 0 r{rank} T 0 \"rank {rank}\"").unwrap();
    }
    let mut lines: Vec<(usize, String)> = Vec::new();
    for round in 0..rounds {
        for rank in 0..count {
            let start = round * 10_000;
            let sent = start + 4_000 + (rank * 37 + round * 91) % 3_000;
            let mut line = |time: usize, line: String| lines.push((time, line));
            line(start, format!("S r{rank} c"));
            line(sent, format!("S r{rank} s"));
            line(sent + 500, format!("S r{rank} w"));
            line(sent, format!("> r{rank} {round}.{rank}"));
            line(sent + 1_000, format!("< r{} {round}.{rank}", (rank + 1) % count));
        }
    }
    lines.sort();
    for (micros, line) in lines {
        let time = micros as f64 / 1e6;
        let (kind, rest) = line.split_once(' ').unwrap();
        let (container, rest) = rest.split_once(' ').unwrap();
        match kind {
            "S" => writeln!(text, "5 {time} S {container} {rest}"),
            ">" => writeln!(text, "7 {time} L 0 {container} m {rest}"),
            _ => writeln!(text, "8 {time} L 0 {container} m {rest}"),
        }
        .unwrap();
    }
    let end = rounds as f64 / 100.0;
    for rank in 0..count {
        writeln!(text, "4 {end} T r{rank}").unwrap();
    }
    text
}

/// Focuses the marks of a card.
fn focus_marks(browser: &mut BrowserPage, title: &str) {
    browser.evaluate(&format!("document.querySelector('[aria-label=\"Marks of {title}\"]').focus()"));
}

/// Waits for the text of the mark that the keyboard points at.
fn wait_for_mark(browser: &mut BrowserPage, text: &str) {
    browser.wait(&format!("document.querySelector('#mark-text').innerText.includes('{text}')"));
}

/// Waits until the diagram highlights this number of messages of a mark.
fn wait_for_messages(browser: &mut BrowserPage, count: usize) {
    browser.wait(&format!(
        "import(new URL('state/overlay_state.js', location.href)).then(({{ overlay }}) => overlay.messages.length === {count})"
    ));
    let drawn = "(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte > 0))(document.querySelector('#chart .overlay'))";
    browser.wait(&format!("{drawn} === {}", count > 0));
}

/// The names of the highlighted rows of the diagram.
fn lit_rows(browser: &mut BrowserPage) -> Value {
    browser.evaluate("[...document.querySelectorAll('#tree .highlighted')].map(row => row.getAttribute('aria-label'))")
}

/// Whether something is drawn on the overlay of each card.
fn lit_cards(browser: &mut BrowserPage) -> Value {
    browser.evaluate("[...document.querySelectorAll('.card-overlay')].map(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte > 0))")
}

/// The views of the cards, by the address.
fn show_cards(browser: &mut BrowserPage, viewer: &ViewProcess, cards: &Value) {
    browser.open("about:blank#away");
    let text: String = cards.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    browser.open(&format!("{}#dock=60&at=14500000&cards={text}", viewer.url));
    browser.wait(SETTLED);
    browser.wait(CARDS_SETTLED);
}

#[test]
fn a_unit_is_lit_in_all_cards_and_in_the_diagram() {
    let viewer = ViewProcess::of(&ranks(6, 4));
    let (mut browser, _) = open(&viewer);
    let cards = json!([
        "utilization-summary",
        "kiviat",
        "communication-matrix",
        "animation",
        "concurrency-profile",
        "utilization-gantt"
    ]);
    show_cards(&mut browser, &viewer, &cards);
    // The diagram has the line of the time cursor.
    assert_eq!(lit_cards(&mut browser), json!([false, false, false, false, false, true]));
    focus_marks(&mut browser, "Utilization summary");
    browser.key("ArrowRight");
    browser.key("ArrowRight");
    wait_for_mark(&mut browser, "rank 1: busy ");
    assert_eq!(lit_rows(&mut browser), json!(["rank 1"]));
    assert_eq!(lit_cards(&mut browser), json!([true, true, true, true, false, true]));
    browser.screenshot(&screenshot_path("cards-linked.png"));
    // A cell of the matrix stands for both of its units.
    focus_marks(&mut browser, "Communication matrix");
    browser.key("Home");
    browser.key("ArrowRight");
    wait_for_mark(&mut browser, "rank 0 to rank 1: ");
    assert_eq!(lit_rows(&mut browser), json!(["rank 0", "rank 1"]));
    // At 14.5 ms, one of its messages is pending. In the time range there are four.
    wait_for_messages(&mut browser, 1);
    browser.evaluate("{ const mode = document.querySelector('[aria-label=\"Time of Communication matrix\"]'); mode.value = 'range'; mode.dispatchEvent(new Event('change')); }");
    wait_for_messages(&mut browser, 4);
    browser.screenshot(&screenshot_path("cards-pair.png"));
    browser.key("Escape");
    wait_for_messages(&mut browser, 0);
    assert_eq!(lit_rows(&mut browser), json!([]));
    assert_eq!(lit_cards(&mut browser), json!([false, false, false, false, false, true]));
    // A mode of the diagram has the exact times of a state.
    focus_marks(&mut browser, "Utilization Gantt chart");
    browser.key("Home");
    browser.key("ArrowDown");
    wait_for_mark(&mut browser, "rank 1 at 0 s: busy 4.037 ms from 0 s to 4.037");
    assert_eq!(lit_rows(&mut browser), json!(["rank 1"]));
    browser.screenshot(&screenshot_path("cards-gantt.png"));
    browser.key("Escape");
    // A row of the diagram lights the cards.
    let row = browser.place_of("row", "rank 3").center();
    let chart = browser.find_all("application", None).remove(0);
    let point = browser.place(&chart);
    browser.point((point.x + point.width * 0.3, row.1));
    assert_eq!(lit_cards(&mut browser), json!([true, true, true, true, false, true]));
    // A bar of the profile marks its times in the minimap.
    focus_marks(&mut browser, "Concurrency profile");
    browser.key("End");
    wait_for_mark(&mut browser, "6 units busy: ");
    browser.wait("!document.querySelector('.time-marks').hidden");
    let marked = "{ const canvas = document.querySelector('.time-marks'); const { data } = canvas.getContext('2d').getImageData(0, canvas.height - 2, canvas.width, 1); [...data].filter((_, at) => at % 4 === 3).filter(alpha => alpha > 0).length / canvas.width }";
    let share = browser.evaluate(marked).as_f64().unwrap();
    // All ranks compute in the first 40 % of each round, and some of them are not yet sending
    // later.
    assert!((0.3..0.7).contains(&share), "{share}");
    browser.screenshot(&screenshot_path("cards-profile-times.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_pointer_shows_exact_values_and_moves_the_cursor() {
    let viewer = ViewProcess::of(&ranks(6, 4));
    let (mut browser, _) = open(&viewer);
    show_cards(&mut browser, &viewer, &json!(["utilization-count", "kiviat"]));
    let card = browser.place_of("application", "Marks of Utilization count");
    browser.point((card.x + card.width * 0.5, card.y + card.height * 0.6));
    browser.wait("!document.querySelector('#tooltip').hidden");
    let text = browser.evaluate("document.querySelector('#tooltip').innerText");
    assert!(text.as_str().is_some_and(|text| text.contains("busy") && text.contains("idle")), "{text}");
    browser.click((card.x + card.width * 0.9, card.y + card.height * 0.6));
    browser.wait("Number(document.querySelector('#time-cursor').getAttribute('aria-valuenow')) > 30000000");
    browser.point((2.0, 2.0));
    browser.wait("document.querySelector('#tooltip').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_table_shows_the_numbers_of_a_card() {
    let viewer = ViewProcess::of(&ranks(6, 4));
    let (mut browser, _) = open(&viewer);
    browser.evaluate(&format!("{}; true", axe()));
    open_dock(&mut browser);
    preset(&mut browser, "Load balance");
    press(&mut browser, "button", "Table of Utilization summary");
    browser.wait("document.querySelectorAll('.card-table tbody tr').length === 6");
    let column = "[...document.querySelectorAll('.card-table tbody tr')].map(row => row.cells[1].innerText)";
    press(&mut browser, "button", "busy, ms");
    browser.wait("document.querySelector('.card-table [aria-sort=descending]')");
    let sorted: Vec<f64> = browser
        .evaluate(column)
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap().parse().unwrap())
        .collect();
    assert!(sorted.is_sorted_by(|value, next_value| value >= next_value), "{sorted:?}");
    assert_eq!(faults(&mut browser, "light"), json!([]), "a table");
    browser.screenshot(&screenshot_path("cards-table.png"));
    browser.reload();
    browser.wait(SETTLED);
    browser.wait("document.querySelectorAll('.card-table tbody tr').length === 6");
    press(&mut browser, "button", "Table of Utilization summary");
    browser.wait("[...document.querySelectorAll('.card-table')].every(table => table.hidden)");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_mode_of_the_diagram_has_numbers_and_a_palette() {
    let viewer = ViewProcess::of(&ranks(64, 4));
    let (mut browser, _) = open(&viewer);
    show_cards(&mut browser, &viewer, &json!(["utilization-gantt", "traffic", "critical-path"]));
    browser.screenshot(&screenshot_path("cards-diagrams.png"));
    press(&mut browser, "button", "Table of Utilization Gantt chart");
    browser.wait("document.querySelector('.card-table tbody tr')");
    let head =
        browser.evaluate("[...document.querySelectorAll('.card-table th[scope=col]')].map(cell => cell.innerText)");
    assert_eq!(head, json!(["unit", "category", "start, ms", "end, ms", "duration, ms"]));
    press(&mut browser, "button", "Table of Utilization Gantt chart");
    press(&mut browser, "button", "Options of Traffic");
    browser.wait("document.querySelector('.card-options')");
    let names =
        browser.evaluate("[...document.querySelectorAll('.card-options label span')].map(name => name.innerText)");
    let names = names.as_array().unwrap();
    for (name, is_offered) in [("Palette", true), ("Level", true), ("Tasks", false), ("States", false)] {
        assert_eq!(names.contains(&json!(name)), is_offered, "{name}: {names:?}");
    }
    // The hints are not cut.
    let cut = "[...document.querySelectorAll('.card-option small')].filter(hint => hint.scrollWidth > hint.clientWidth).length";
    assert_eq!(browser.evaluate(cut), json!(0));
    browser.evaluate("{ const select = [...document.querySelectorAll('.card-options label')].find(label => label.innerText.startsWith('Palette')).querySelector('select'); select.value = 'monochrome'; select.dispatchEvent(new Event('change')); }");
    let colors = "[...document.querySelectorAll('#cards .card-image canvas')].some(canvas => { const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height); return data.some((red, at) => at % 4 === 0 && data[at + 3] > 200 && Math.abs(red - data[at + 1]) > 40); })";
    browser.wait(&format!("!{colors}"));
    browser.screenshot(&screenshot_path("cards-monochrome.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn cards_are_reordered_by_pointer_and_keys() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    open_dock(&mut browser);
    let first = browser.place_of("heading", "Utilization count").center();
    let last = browser.place_of("heading", "Kiviat diagram").center();
    browser.drag(first, last);
    assert_eq!(titles(&mut browser), json!(["Concurrency profile", "Kiviat diagram", "Utilization count"]));
    focus_marks(&mut browser, "Utilization count");
    browser.with_key_down("Alt", |browser| browser.key("ArrowLeft"));
    assert_eq!(titles(&mut browser), json!(["Concurrency profile", "Utilization count", "Kiviat diagram"]));
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Marks of Utilization count'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn moved_nodes_are_a_layout_for_the_next_run_and_the_command() {
    let trace = ranks(6, 4);
    let viewer = ViewProcess::of(&trace);
    let (mut browser, _) = open(&viewer);
    show_cards(&mut browser, &viewer, &json!(["animation"]));
    watch_files(&mut browser);
    // The first node is at the top of the circle.
    focus_marks(&mut browser, "Animation");
    browser.key("Home");
    wait_for_mark(&mut browser, "rank 0: ");
    let layout = "new URLSearchParams(location.hash.slice(1)).get('cards') ?? ''";
    browser.with_key_down("Shift", |browser| browser.key("ArrowDown"));
    browser.wait(&format!("({layout}).includes('My layout')"));
    browser.wait(CARDS_SETTLED);
    // A drag of the node to the middle changes the same layout.
    let card = browser.place_of("application", "Marks of Animation");
    let node = browser.evaluate(
        "{ const tip = document.querySelector('#tooltip').style; [parseFloat(tip.left), parseFloat(tip.top)] }",
    );
    // The tooltip is 14 units right of the node and 16 below it.
    let point = (node[0].as_f64().unwrap() - 14.0, node[1].as_f64().unwrap() - 16.0);
    browser.drag(point, (point.0, card.y + card.height * 0.55));
    browser.wait(CARDS_SETTLED);
    press(&mut browser, "button", "Options of Animation");
    browser.wait("document.querySelector('.card-layout')");
    press(&mut browser, "button", "Export the layout");
    let text = saved_text(&mut browser);
    let first = text.lines().find_map(|line| line.strip_prefix("rank 0 "));
    let first = first.unwrap_or_else(|| panic!("the file has the first rank: {text}"));
    let position: Vec<f64> = first.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [middle, height] = position[..] else { panic!("two coordinates: {text}") };
    // The pointer moves by whole pixels.
    assert!((middle - 0.5).abs() < 0.01, "{text}");
    assert!((0.2..0.8).contains(&height), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 6, "{text}");
    browser.screenshot(&screenshot_path("cards-layout.png"));
    // The command reads the file.
    let file = viewer.folder.path().join("mine.txt");
    std::fs::write(&file, &text).unwrap();
    let output = tumit()
        .args(["view", "--perspective", "animation", "--at", "14.5ms", "-o", "animation.svg", "--option"])
        .arg(format!("layout={}", file.display()))
        .arg("two-nodes.paje")
        .current_dir(viewer.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The next run of the program has the layout, too.
    let next = ViewProcess::same_user_as(&viewer, &trace);
    show_cards(&mut browser, &next, &json!([["hypercube", "", { "layout": "My layout" }]]));
    assert!(
        browser.evaluate("document.querySelector('.card small').innerText").as_str().unwrap().contains("My layout")
    );
    press(&mut browser, "button", "Options of Hypercube");
    press(&mut browser, "button", "Delete the layout");
    browser.wait(&format!("!({layout}).includes('My layout')"));
    assert!(read(&mut browser, "status", "Note").contains("Deleted"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn axe_reports_no_violation_at_marks_and_layouts() {
    let viewer = ViewProcess::of(&ranks(6, 4));
    let (mut browser, _) = open(&viewer);
    let _ = browser.prefer_stillness();
    let cards = json!(["animation", "utilization-count", ["statistical-summary", "", {}, 1], "kiviat"]);
    show_cards(&mut browser, &viewer, &cards);
    browser.evaluate(&format!("{}; true", axe()));
    for theme in ["light", "dark", "contrast"] {
        browser.wait(&format!("document.documentElement.dataset.theme === '{theme}'"));
        browser.wait(CARDS_SETTLED);
        focus_marks(&mut browser, "Animation");
        browser.key("Home");
        wait_for_mark(&mut browser, "rank 0");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, a mark");
        browser.screenshot(&screenshot_path(&format!("cards-marks-{theme}.png")));
        browser.key("Escape");
        press(&mut browser, "button", "Options of Animation");
        browser.wait("document.querySelector('.card-layout')");
        assert_eq!(faults(&mut browser, theme), json!([]), "{theme}, a layout");
        browser.screenshot(&screenshot_path(&format!("cards-options-{theme}.png")));
        browser.key("Escape");
        browser.evaluate("document.activeElement.blur()");
        browser.key("t");
    }
}

/// Frames of the page during playback, and the requests that it sends.
struct Playback {
    /// Milliseconds between frames, ascending.
    frame_intervals: Vec<f64>,
    /// The number of ticks of each request, and its bytes on the network.
    requests: Vec<(f64, f64)>,
}

impl Playback {
    /// Plays six cards for 120 frames.
    fn measure(browser: &mut BrowserPage, viewer: &ViewProcess) -> Self {
        let views = [
            "kiviat",
            "utilization-meter",
            "communication-matrix",
            "message-queues",
            "utilization-count",
            "processor-status",
        ];
        show_cards(browser, viewer, &json!(views));
        go_to(browser, "20ms");
        browser.evaluate("performance.setResourceTimingBufferSize(5000); performance.clearResourceTimings()");
        browser.evaluate("{ window.frames_ = []; let last = null; const step = (now) => { if (last !== null) frames_.push(now - last); last = now; if (frames_.length < 120) requestAnimationFrame(step); }; document.querySelector('#cards').focus(); requestAnimationFrame(step); }");
        browser.key("l");
        browser.wait("frames_.length >= 120");
        let paused = browser.evaluate("document.querySelector('#play-pause').getAttribute('aria-label')");
        assert_eq!(paused, "Pause", "it still plays");
        browser.key("k");
        let requests = browser.evaluate(
            "performance.getEntriesByType('resource').filter(one => one.name.includes('api/cards')).map(one => [new URL(one.name).searchParams.get('later')?.split(',').length ?? 0, one.encodedBodySize, one.duration])",
        );
        let requests = requests.as_array().unwrap().iter();
        let requests = requests.map(|entry| (entry[0].as_f64().unwrap() + 1.0, entry[1].as_f64().unwrap())).collect();
        let mut frame_intervals: Vec<f64> =
            browser.evaluate("frames_").as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        frame_intervals.sort_by(f64::total_cmp);
        Self { frame_intervals, requests }
    }

    fn bytes_per_tick(&self) -> f64 {
        let sum = |part: fn(&(f64, f64)) -> f64| self.requests.iter().map(part).sum::<f64>();
        sum(|request| request.1) / sum(|request| request.0)
    }
}

/// The drawings of a tick are small, and are there before the tick.
#[test]
fn play_fetches_ahead_and_sends_little() {
    let viewer = ViewProcess::of(&ranks(64, 20));
    let (mut browser, _) = open(&viewer);
    let playback = Playback::measure(&mut browser, &viewer);
    assert!(playback.bytes_per_tick() <= 8192.0, "{:?}", playback.requests);
    assert!(playback.requests.len() < 60, "a tick needs no request: {:?}", playback.requests);
    browser.screenshot(&screenshot_path("cards-64.png"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
#[ignore = "measures a large trace: set TUMIT_BIN and TUMIT_COSTS"]
fn measures_frame_intervals_of_playback() {
    let viewer = large_trace();
    let (mut browser, _) = open(&viewer);
    let playback = Playback::measure(&mut browser, &viewer);
    let frames = &playback.frame_intervals;
    println!(
        "frame interval: median {:.1} ms, 95 % {:.1} ms; {} requests, {:.0} bytes per tick",
        frames[frames.len() / 2],
        frames[frames.len() * 95 / 100],
        playback.requests.len(),
        playback.bytes_per_tick()
    );
}
