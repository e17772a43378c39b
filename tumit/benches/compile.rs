//! How long a spec takes to compile, and whether that grows in proportion to it.
//!
//! `cargo bench -p tumit --bench compile` prints the times for 1,000 to 40,000 events and the ratio
//! to a walk over the same text that only counts its bytes by kind. `-- --smoke` takes the smallest
//! sizes once.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A spec with this number of events. Like the specs of real programs, it has levels, spans,
/// documentation, a container tree, and a rule for each event.
fn spec(events: usize) -> String {
    let mut text = String::from("//! A large spec.\ntrace large;\nenum color { red, green, blue }\n");
    for level in 0..events.div_ceil(100) {
        let _ = writeln!(text, "/// Level {level}.\nlevel L{level} {{");
        for event in level * 100..events.min((level + 1) * 100) {
            let _ = writeln!(text, "    /// What happens at {event}.");
            let _ = writeln!(
                text,
                "    event event_{event} {{ node: u16, thread: u16, stamp: u64, bytes: u32, value: f64, tint: color, what: string }}"
            );
        }
        text.push_str("}\n");
    }
    text.push_str(
        "paje {\n    container program \"Program\" {\n        container node[node: u16] \"Node {node}\" {\n            \
         container thread[thread: u16] \"Thread {thread}\" { state activity \"Activity\" { busy, idle } event log }\n        }\n    }\n}\n",
    );
    for event in 0..events {
        let _ = writeln!(
            text,
            "rule event_{event} -> set activity = busy on thread[node, thread] when bytes > {event} and value < 1.5 with {{ stamp }}\n                \
             -> mark log = \"{{what}} {{bytes:08}}\" on thread[node, thread];"
        );
    }
    text.push_str("also rule event_0 -> set activity = idle on thread[node, thread];\n");
    text
}

/// The least of some times: the machine is shared.
fn minimum_time(rounds: usize, mut work: impl FnMut()) -> Duration {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(|_| time(&mut work)).min().unwrap_or_default()
}

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--smoke");
    let (sizes, rounds): (&[usize], usize) =
        if smoke { (&[100, 1_000], 1) } else { (&[1_000, 5_000, 10_000, 20_000], 3) };
    println!("{:>8} {:>10} {:>10} {:>12} {:>16}", "events", "KiB", "ms", "us/event", "x reading bytes");
    for events in sizes {
        let text = spec(*events);
        let compiled = minimum_time(rounds, || {
            let (spec, diagnostics) = tumit::compile_text("large.tumit", black_box(&text));
            assert!(spec.is_some() && diagnostics.is_empty(), "{}", diagnostics.render(false));
        });
        let read = minimum_time(rounds, || {
            let mut kinds = [0usize; 256];
            black_box(&text).bytes().for_each(|byte| kinds[usize::from(byte)] += 1);
            black_box(kinds);
        });
        println!(
            "{events:>8} {:>10} {:>10.1} {:>12.2} {:>16.0}",
            text.len() / 1024,
            compiled.as_secs_f64() * 1e3,
            compiled.as_secs_f64() * 1e6 / *events as f64,
            compiled.as_secs_f64() / read.as_secs_f64()
        );
    }
}
