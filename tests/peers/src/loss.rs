//! The table of dropped events: each recorder at several rates, on an idle machine and on a busy one.

use crate::programs::{Memory, Programs};
use crate::tools::Tool;

/// The recorders, and the memory for their records.
const SETUPS: [(Tool, Memory); 8] = [
    (Tool::TumitMapped, Memory::Default),
    (Tool::TumitMapped, Memory::Ample),
    (Tool::TumitPrivate, Memory::Default),
    (Tool::TumitPrivate, Memory::Ample),
    (Tool::TumitC, Memory::Default),
    (Tool::TumitC, Memory::Ample),
    (Tool::Lttng, Memory::Default),
    (Tool::Lttng, Memory::Ample),
];
/// Events per second of the recording thread's CPU time; 0 is without pauses.
const RATES: [u64; 5] = [1_000_000, 5_000_000, 10_000_000, 20_000_000, 0];
/// Busy loops that compete for the processors.
const LOADS: [usize; 2] = [0, 16];

/// Measures and prints the table, row by row.
pub fn measure(programs: &Programs, smoke: bool) {
    let millis = if smoke { 20 } else { 2000 };
    println!("| recorder | buffers | busy loops | million events/s | events | dropped | wall time |");
    println!("|---|---|---|---|---|---|---|");
    for loops in LOADS {
        for (tool, memory) in SETUPS {
            for rate in RATES {
                let paced = programs.paced(tool, memory, loops, rate, millis);
                let rate = if rate == 0 { "unpaced".to_owned() } else { (rate / 1_000_000).to_string() };
                let dropped = 100.0 * (1.0 - paced.recorded as f64 / paced.calls as f64);
                println!(
                    "| {} | {} | {loops} | {rate} | {:.2} M | {dropped:.2} % | {:.1} s |",
                    tool.title(),
                    buffers(tool, memory),
                    paced.calls as f64 / 1e6,
                    paced.seconds,
                );
            }
        }
    }
}

/// The size of the buffers, as the table names it.
const fn buffers(tool: Tool, memory: Memory) -> &'static str {
    match (tool, memory) {
        (Tool::Lttng, Memory::Default) => "4 x 512 KiB per processor",
        (Tool::Lttng, Memory::Ample) => "8 x 8 MiB per processor",
        (_, Memory::Default) => "16 MiB",
        (_, Memory::Ample) => "64 MiB",
    }
}
