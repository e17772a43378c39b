//! Generates a trace of links that wait for their ends, as a Pajé file or with the real recorder as
//! a run. `--help` prints the usage.
//!
//! The starts of all links come first, one each nanosecond. Then come all ends in another order, or
//! none. The readers and the simulation must therefore keep each link until the end of the trace.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::cell::Cell;
use std::fs::File;
use std::process::ExitCode;

use tumit_paje::time::GlobalNanos;
use tumit_paje::write::PajeWriter;
use tumit_paje::{ContainerId, DrawStyle, KeyId, PajeEvent, PajeSink, PajeTypeKind, TypeId, ValueId};

tracer_rt::events!("src/bin/make_trace.tumit");

const HELP: &str = "\
Generates a trace of links that wait for their ends: all starts, then all ends in another order.

usage: make_links [--no-ends] OUT LINKS

  OUT        a Pajé file if its name ends with .paje, otherwise the folder of a run
  LINKS      the number of links
  --no-ends  no link has an end

examples:
  make_links links.paje 3000000
  make_links --no-ends links.tmt 3700000
";

/// Containers between which the links are.
const THREADS: u32 = 64;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn current_nanos() -> u64 {
    NOW.get()
}

/// An endpoint of the link `n`.
struct GeneratedEndpoint {
    n: u32,
    is_start: bool,
}

impl GeneratedEndpoint {
    /// The container of the endpoint, and that of the other endpoint.
    fn threads(&self) -> (u32, u32) {
        let (from, to) = (self.n % THREADS, (self.n + 1) % THREADS);
        if self.is_start { (from, to) } else { (to, from) }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The endpoints in the order of the trace.
fn endpoints(links: u32, has_ends: bool) -> impl Iterator<Item = GeneratedEndpoint> {
    let count = u64::from(links);
    // A step that has no common divisor with the count visits each link once. A step near the
    // golden section puts neighbours far apart.
    let golden = count * 618 / 1000;
    let step = (golden.max(1)..).find(|step| greatest_common_divisor(*step, count.max(1)) == 1).unwrap_or(1);
    let ends = (0..if has_ends { count } else { 0 }).map(move |number| (number * step % count) as u32);
    let endpoint = |is_start| move |n| GeneratedEndpoint { n, is_start };
    (0..links).map(endpoint(true)).chain(ends.map(endpoint(false)))
}

/// Records the endpoints as messages of the spec of `make_trace`.
fn write_run(folder: &str, endpoints: impl Iterator<Item = GeneratedEndpoint>) -> Result<(), String> {
    tracer_rt::set_clock(current_nanos, 1_000_000_000);
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.into());
    config.policies = vec![("all".into(), tracer_rt::OverflowPolicy::Block)];
    tracer_rt::start(config).map_err(|why| why.to_string())?;
    let tick = || NOW.set(NOW.get() + 1);
    for thread in 0..THREADS {
        tick();
        calls::born(thread);
    }
    for endpoint in endpoints {
        tick();
        let (own, other) = endpoint.threads();
        if endpoint.is_start {
            work::send(own, other, endpoint.n, 0);
        } else {
            work::receive(own, other, endpoint.n, 0);
        }
    }
    tracer_rt::finish();
    match tracer_rt::counts().dropped {
        0 => Ok(()),
        dropped => Err(format!("{dropped} records are dropped")),
    }
}

/// Writes the endpoints as Pajé text.
fn write_paje(path: &str, endpoints: impl Iterator<Item = GeneratedEndpoint>) -> std::io::Result<()> {
    let mut writer = PajeWriter::new(File::create(path)?);
    let (thread, ty, value) = (TypeId(1), TypeId(2), ValueId(0));
    let (color, style) = (None, DrawStyle::NONE);
    for (ty, kind, name) in [
        (thread, PajeTypeKind::Container, "Thread"),
        (ty, PajeTypeKind::Link { start: thread, end: thread }, "Message"),
    ] {
        writer.event(&PajeEvent::DefineType { ty, kind, parent: TypeId::ROOT, name, color, style })?;
    }
    writer.event(&PajeEvent::DefineValue { value, ty, name: "Message", color, style, category: None })?;
    for number in 0..THREADS {
        let (time, container, name) = (GlobalNanos(0), ContainerId(number + 1), format!("Thread {number}"));
        let parent = ContainerId::ROOT;
        writer.event(&PajeEvent::CreateContainer { time, container, ty: thread, parent, name: &name, extra: &[] })?;
    }
    let (mut now, container, extra, source): (_, _, &[_], _) = (0, ContainerId::ROOT, &[], None);
    for endpoint in endpoints {
        now += 1;
        let (time, at, key) = (GlobalNanos(now), ContainerId(endpoint.threads().0 + 1), KeyId(endpoint.n.into()));
        writer.event(&if endpoint.is_start {
            PajeEvent::StartLink { time, container, ty, value, start: at, key, extra, source }
        } else {
            PajeEvent::EndLink { time, container, ty, value, end: at, key, extra, source }
        })?;
    }
    writer.finish(GlobalNanos(now))
}

/// Writes the trace of these arguments. Returns the line to print.
fn make(words: &[&str]) -> Result<String, String> {
    let operands: Vec<&str> = words.iter().copied().filter(|word| *word != "--no-ends").collect();
    if let Some(option) = operands.iter().find(|word| word.starts_with('-')) {
        return Err(format!("there is no option `{option}`"));
    }
    let [out, links] = operands[..] else {
        return Err("give the output and the number of links".to_owned());
    };
    let Ok(links) = links.parse() else {
        return Err(format!("LINKS is a whole number, not `{links}`"));
    };
    let has_ends = operands.len() == words.len();
    let endpoints = endpoints(links, has_ends);
    if out.ends_with(".paje") {
        write_paje(out, endpoints).map_err(|why| format!("{out}: {why}"))?;
    } else {
        write_run(out, endpoints)?;
    }
    Ok(format!("{out}: {links} starts, {} ends", if has_ends { links } else { 0 }))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match make(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("make_links: {why}; `make_links --help` prints the usage");
            ExitCode::FAILURE
        }
    }
}
