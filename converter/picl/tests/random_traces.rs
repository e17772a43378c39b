//! Random executions and random text.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod common;

use std::fmt::Write as _;

use common::{Entities, read, rewrite};
use proptest::prelude::*;
use tumit_picl::{PiclFaultKind, PiclReader, PiclStyle, TraceFormat};

/// A step of a node.
#[derive(Clone, Copy, Debug)]
enum NodeStep {
    Send { event: i64, to: u8, tag: u8, bytes: u16 },
    Receive { event: i64, from: u8, tag: u8 },
    State(i64),
    Task(u8),
    Mark(u8),
    Text(u8),
}

fn step() -> impl Strategy<Value = NodeStep> {
    prop_oneof![
        (prop::sample::select(vec![-21, -22, -27, -39]), 0..4_u8, 0..3_u8, any::<u16>())
            .prop_map(|(event, to, tag, bytes)| NodeStep::Send { event, to, tag, bytes }),
        (prop::sample::select(vec![-51, -52, -60, -61]), 0..4_u8, 0..3_u8)
            .prop_map(|(event, from, tag)| NodeStep::Receive { event, from, tag }),
        prop::sample::select(vec![-31, -55, -57, -402, -601, -756, -782, -785, -912]).prop_map(NodeStep::State),
        (0..5_u8).prop_map(NodeStep::Task),
        (1..5_u8).prop_map(NodeStep::Mark),
        (0..4_u8).prop_map(NodeStep::Text),
    ]
}

/// The steps of a node with the pause before and the duration of each, in microseconds.
type Timeline = Vec<(u8, u8, NodeStep)>;

fn timelines() -> impl Strategy<Value = Vec<Timeline>> {
    prop::collection::vec(prop::collection::vec((0..20_u8, 0..20_u8, step()), 0..30), 1..4)
}

/// The trace of new PICL, one node after the other.
fn new_text(nodes: &[Timeline], processes: i64) -> String {
    let mut text = String::new();
    for (number, steps) in nodes.iter().enumerate() {
        let unit = format!("{} {}", number as i64 / processes, number as i64 % processes);
        let peer = |peer: u8| format!("{} {}", i64::from(peer) / processes, i64::from(peer) % processes);
        let mut now = number as u64;
        let _ = writeln!(text, "-3 -901 0.{now:06} {unit} 0");
        for (pause, duration, step) in steps {
            let begin = now + u64::from(*pause);
            now = begin + u64::from(*duration);
            let _ = match step {
                NodeStep::Send { event, to, tag, bytes } => write!(
                    text,
                    "-3 {event} 0.{begin:06} {unit} 4 2 {bytes} {tag} {}\n-4 {event} 0.{now:06} {unit} 0\n",
                    peer(*to)
                ),
                NodeStep::Receive { event, from, tag } => write!(
                    text,
                    "-3 {event} 0.{begin:06} {unit} 0\n-4 {event} 0.{now:06} {unit} 4 2 8 {tag} {}\n",
                    peer(*from)
                ),
                NodeStep::State(event) => {
                    write!(text, "-3 {event} 0.{begin:06} {unit} 0\n-4 {event} 0.{now:06} {unit} 0\n")
                }
                NodeStep::Task(task) => {
                    write!(text, "-3 {task} 0.{begin:06} {unit} 0\n-4 {task} 0.{now:06} {unit} 0\n")
                }
                NodeStep::Mark(mark) => writeln!(text, "-2 {mark} 0.{now:06} {unit} 1 2 5"),
                NodeStep::Text(words) => {
                    let words = vec!["word"; usize::from(*words) + 1].join(" ");
                    writeln!(text, "-2 -911 0.{now:06} {unit} 2 \"%d %s\" {} {words}", words.len())
                }
            };
        }
        let _ = writeln!(text, "-4 -901 0.{:06} {unit} 0", now + 1);
    }
    text
}

/// The trace of compact old PICL, one node after the other.
fn old_text(nodes: &[Timeline]) -> String {
    let mut text = String::new();
    for (node, steps) in nodes.iter().enumerate() {
        let mut now = node as u64;
        let mut total = 0;
        let _ = writeln!(text, "1 0 {now} {node} 4 4 0");
        for (pause, duration, step) in steps {
            let begin = now + u64::from(*pause);
            now = begin + u64::from(*duration);
            let after = total + u64::from(*duration);
            let bracket = format!("11 0 {begin} {node} 0 {total}\n11 0 {now} {node} 0 {after}\n");
            let _ = match step {
                NodeStep::Send { to, tag, bytes, .. } => {
                    write!(text, "4 0 {begin} {node} {to} {tag} {bytes}\n{bracket}")
                }
                NodeStep::Receive { event: -52, from, tag } => {
                    write!(text, "7 0 {begin} {node} {tag}\n8 0 {now} {node} {from} {tag} 8\n{bracket}")
                }
                NodeStep::Receive { from, tag, .. } => write!(text, "6 0 {begin} {node} {from} {tag} 8\n{bracket}"),
                NodeStep::State(-402) => write!(text, "10 0 {begin} {node}\n{bracket}"),
                NodeStep::State(-785) => write!(text, "20 0 {begin} {node} -2 0 0\n21 0 {now} {node} -2 0 0\n"),
                NodeStep::State(_) => Ok(()),
                NodeStep::Task(task) => write!(text, "20 0 {begin} {node} {task} 1 2\n21 0 {now} {node} {task} 1 2\n"),
                NodeStep::Mark(mark) => writeln!(text, "15 0 {now} {node} {mark}"),
                NodeStep::Text(words) => writeln!(text, "16 0 {now} {node} text {words}"),
            };
            total = after;
        }
        let _ = writeln!(text, "19 0 {} {node} 100", now + 1);
    }
    text
}

const KEPT: &[&str] = &["Activity", "Task", "Mark", "Text", "Message"];

/// The entities, with the endpoints of messages instead of pairs. The format cannot distinguish equal
/// sends at one time, so any of them may be the one that is not received.
fn endpoints(entities: &Entities) -> Vec<String> {
    let lines = entities.of(KEPT);
    let mut endpoints: Vec<String> = Vec::new();
    for line in lines {
        let Some((send, receive)) = line.split_once(" -> ").filter(|_| line.starts_with("Message")) else {
            endpoints.push(line);
            continue;
        };
        let kind = send.split_whitespace().find(|word| word.starts_with("type=")).unwrap_or_default();
        endpoints.extend([format!("send {send}"), format!("receive {kind} {receive}")]);
    }
    endpoints.sort();
    endpoints
}

/// Writes and reads a trace. Both traces have the same entities. If all messages are received, the
/// second is written with the same bytes.
fn assert_kept(text: &[u8], format: TraceFormat, style: PiclStyle) -> Result<(), TestCaseError> {
    let (first, _) = read(text, format);
    let rewritten_text = rewrite(text, format, style);
    let (second, _) = read(&rewritten_text, format);
    prop_assert_eq!(endpoints(&first), endpoints(&second), "{}", String::from_utf8_lossy(&rewritten_text));
    let third = rewrite(&rewritten_text, format, style);
    // The receive of one of several equal sends belongs to the first of them when it is read again.
    let is_certain = !first.of(&["Message"]).iter().any(|line| line.ends_with("never"));
    prop_assert!(
        !is_certain || third == rewritten_text,
        "{}\n{}",
        String::from_utf8_lossy(&rewritten_text),
        String::from_utf8_lossy(&third)
    );
    Ok(())
}

fn line_of_words() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "-1",
        "-2",
        "-3",
        "-4",
        "-5",
        "-7",
        "-21",
        "-27",
        "-52",
        "-61",
        "-101",
        "-102",
        "-11",
        "-13",
        "-202",
        "-402",
        "-901",
        "-911",
        "-913",
        "-32768",
        "0",
        "1",
        "2",
        "4",
        "6",
        "7",
        "8",
        "11",
        "20",
        "21",
        "22",
        "0.5",
        "1e-5",
        "9e99",
        "9223372036854775807",
        "-9223372036854775808",
        "clock",
        "node",
        "send",
        "recv",
        "trace_marks",
        "\"%d\"",
        "\"",
        "x",
        "é",
    ]);
    prop::collection::vec(words, 0..9).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn random_executions_are_kept_by_the_new_format(nodes in timelines(), processes in 1..3_i64) {
        assert_kept(new_text(&nodes, processes).as_bytes(), TraceFormat::NewPicl, PiclStyle::New)?;
    }

    #[test]
    fn random_executions_are_kept_by_the_old_format(nodes in timelines()) {
        // The old format cannot represent a receive without its message. These are removed first.
        let text = rewrite(old_text(&nodes).as_bytes(), TraceFormat::OldPicl, PiclStyle::OldCompact);
        assert_kept(&text, TraceFormat::OldPicl, PiclStyle::OldCompact)?;
        assert_kept(&text, TraceFormat::OldPicl, PiclStyle::OldVerbose)?;
    }

    #[test]
    fn any_text_gives_a_valid_trace(
        lines in prop::collection::vec(line_of_words(), 0..20),
        format in prop::sample::select(vec![TraceFormat::OldPicl, TraceFormat::NewPicl, TraceFormat::Alog]),
    ) {
        let text = lines.join("\n");
        // The collector checks the operations.
        let (_, faults) = read(text.as_bytes(), format);
        let has_unknown = faults.iter().any(|fault| fault.0 == PiclFaultKind::UnknownKey);
        let _ = TraceFormat::of(text.as_bytes());
        let _ = PiclReader::new(text.as_bytes(), format).stop_at_first_fault().read(&mut Entities::default());
        for (style, written) in [
            (PiclStyle::New, TraceFormat::NewPicl),
            (PiclStyle::OldCompact, TraceFormat::OldPicl),
            (PiclStyle::OldVerbose, TraceFormat::OldPicl),
        ] {
            let rewritten_text = rewrite(text.as_bytes(), format, style);
            let (_, faults) = read(&rewritten_text, written);
            // Unknown records are kept.
            let is_damage = |kind: PiclFaultKind| {
                kind == PiclFaultKind::Head || kind == PiclFaultKind::UnknownKey && !has_unknown
            };
            prop_assert!(!faults.iter().any(|fault| is_damage(fault.0)), "{:?} {}", faults, String::from_utf8_lossy(&rewritten_text));
        }
    }

    #[test]
    fn any_bytes_give_a_valid_trace(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [TraceFormat::OldPicl, TraceFormat::NewPicl, TraceFormat::Alog] {
            read(&bytes, format);
        }
    }
}
