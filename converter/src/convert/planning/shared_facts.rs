//! The facts that all records of a stream, and of a process, share.

use std::sync::Arc;

use crate::clock::RunClocks;
use crate::rules::{ProcessFacts, SourceLocation, StreamFacts, Symbols, ThreadKey, to_u32};
use crate::run::OpenRun;
use crate::run::process_identity::thread_numbers;

/// The facts that all records of a stream share, for each stream.
pub(super) fn stream_facts(run: &OpenRun, facts: &[ProcessFacts], symbols: &mut Symbols) -> Arc<[StreamFacts]> {
    let mut streams = Vec::new();
    let first_files = run.first_files();
    let thread_numbers = thread_numbers(&run.processes, &first_files);
    for ((number, process), facts) in run.processes.iter().enumerate().zip(facts) {
        let first_file = first_files[number];
        let host = symbols.intern(if process.host.is_empty() { "?" } else { &process.host });
        for (stream, thread) in process.streams.iter().zip(&thread_numbers[number]) {
            let first = stream.blocks.first().map_or(u64::MAX, |block| block.header.first_ticks);
            streams.push(StreamFacts {
                number: streams.len(),
                process: number,
                identity: ThreadKey { process: to_u32(first_file), thread: *thread },
                begin: facts.clock.global_from_ticks(first),
                pid: process.pid,
                tid: stream.shown_tid(),
                // A process outside a job has no rank. Its position in the run replaces the rank.
                rank: process.rank.unwrap_or(first_file as u64),
                host,
                thread_name: symbols.intern(&stream.thread_name()),
                name_ordinal: stream.thread.ordinal,
                label: symbols.intern(&stream.label),
            });
        }
    }
    streams.into()
}

/// The earliest raw timestamp of a record in the run.
pub(crate) fn first_timestamp(run: &OpenRun, clocks: &RunClocks) -> i128 {
    let first = run.processes.iter().enumerate().flat_map(|(number, process)| {
        let blocks = process.streams.iter().filter_map(|stream| stream.blocks.first());
        blocks.map(move |block| clocks.map(number).wide_from_ticks(block.header.first_ticks))
    });
    first.min().unwrap_or(0)
}

/// The facts of each process.
pub(super) fn process_facts(run: &OpenRun, clocks: &RunClocks, symbols: &mut Symbols) -> Vec<ProcessFacts> {
    let mut facts = Vec::new();
    for (number, process) in run.processes.iter().enumerate() {
        let strings = process.strings.iter().map(|text| text.as_ref().map(|text| symbols.intern(text)));
        let strings = strings.collect();
        let sites = process
            .sites
            .iter()
            .map(|site| site.as_ref().map(|site| SourceLocation { file: symbols.intern(&site.file), line: site.line }));
        let sites = sites.collect();
        facts.push(ProcessFacts { strings, sites, clock: clocks.map(number).clone() });
    }
    facts
}
