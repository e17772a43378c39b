//! `tumit sync`: shows how the clocks of a run are corrected.

mod plot;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tumit_converter::clock::ClockDomain;
use tumit_converter::convert::{ClockCheck, check_clocks};
use tumit_converter::report::{ConversionReport, loss_diagnostics};
use tumit_converter::run::OpenRun;
use tumit_paje::diagnostic_texts;

use super::exit_status::ExitStatus;
use crate::output_file::OutputFile;
use crate::run_options::RunArguments;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term, text_table};

/// Shows how the clocks of a run are corrected to one time line
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first clock is the reference. For each other clock, `offset` is its lead over the reference at its first record, `drift` is its
average excess rate, and `deviation` is its maximum distance from this line. `residual` and `95 %` bound the deviation of 50 % and
95 % of the fastest messages from the model. `error bound` is the maximum error of any timestamp. It follows from two assumptions:
messages cannot arrive before they leave, and clocks wander at most several times the observed amount. It is large if there are
few messages, and `-` if messages bound it from one side only, or not at all.
A link is reversed if it ends before it starts. Reversed links are counted with raw clocks, with sync samples alone, with fitted
clocks, and with the final timestamps.

Exit status: 0 success, 1 links are reversed in the final timestamps, clocks were stepped, samples are wrong, or the run has
dropped, missing or damaged data, 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt
    #[arg(value_name = "RUN")]
    input: PathBuf,

    #[command(flatten)]
    run: RunArguments,

    /// Writes one JSON object
    #[arg(long)]
    json: bool,
    /// Draws the deviation of each clock from a straight line into this SVG file
    #[arg(short, long, alias = "plot", value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &args.output {
        ensure!(
            path.extension().is_some_and(|ending| ending == "svg"),
            "{}: expected a name that ends in .svg",
            path.display()
        );
    }
    let input = TraceInput::open(&args.input)?;
    let mut run = args.run.open(&input)?;
    if let Some(title) = input.title() {
        run.path = title.into();
    }
    let options = args.run.options();
    if !args.run.accepts(&input, &options)? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let start = Instant::now();
    let ClockCheck { report: corrected, reversed_raw, .. } = check_clocks(&run, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let report = SyncReport { run: &run, reversed_raw, correction: &corrected, seconds };
    let mut out = term::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report.json()).context("cannot write")?;
        writeln!(out).context("cannot write")?;
    } else {
        out.write_all(report.text().as_bytes()).context("cannot write")?;
    }
    out.flush().context("cannot write")?;
    if let Some(path) = &args.output {
        let file = OutputFile::create(path)?;
        let mut writer = &file;
        writer.write_all(plot::svg(&corrected.clocks, &run.name()).as_bytes()).context("cannot write")?;
        file.finish()?;
    }
    printed_diagnostics::print(&run.launch_diagnostic());
    printed_diagnostics::print(&loss_diagnostics(&corrected.losses));
    let is_good = corrected.counts.reversed_links == 0 && corrected.clock_errors().is_empty();
    Ok(if is_good && corrected.losses.is_empty() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// The contents of the output.
struct SyncReport<'r> {
    run: &'r OpenRun,
    /// Links that the uncorrected clocks reverse.
    reversed_raw: u64,
    correction: &'r ConversionReport,
    seconds: f64,
}

impl SyncReport<'_> {
    /// Number of links that the clocks alone reverse.
    fn by_clocks(&self) -> u64 {
        self.correction.causality.map_or(self.correction.counts.reversed_links, |report| report.reversals)
    }

    fn text(&self) -> String {
        let Self { run, reversed_raw, correction, .. } = *self;
        let clocks = correction.clocks.domains.len();
        let mut text = format!("{}: {clocks} clock{}\n", run.path.display(), if clocks == 1 { "" } else { "s" });
        self.append_clocks(&mut text);
        let with_samples =
            correction.reversed_by_samples.map(|count| format!("{count} with samples alone, ")).unwrap_or_default();
        text.push_str(&format!(
            "\n{} links; reversed: {} with raw clocks, {with_samples}{} with fitted clocks, {} with final timestamps\n",
            correction.counts.links,
            reversed_raw,
            self.by_clocks(),
            correction.counts.reversed_links
        ));
        if let Some(report) = correction.causality.filter(|report| report.moved_links > 0) {
            let largest = duration(report.largest_nanos as f64);
            text.push_str(&format!(
                "{} links were put in order; timestamps were moved by up to {largest}\n",
                report.moved_links
            ));
        }
        if let Some(report) = correction.causality.filter(|report| report.parts > 0) {
            text.push_str(&format!(
                "{} parts of collective operations wait for others; {} ended too early with fitted clocks, {} were moved\n",
                report.parts, report.reversed_parts, report.moved_parts
            ));
        }
        if let Some(wander) = correction.clocks.wander {
            text.push_str(&format!("the clocks wander by {wander:.0e} per square root of a second\n"));
        }
        for diagnostic in correction.clock_errors().iter().chain(&correction.diagnostics) {
            text.push_str(&format!("! {diagnostic}\n"));
        }
        text
    }

    /// Appends the table with one row for each process.
    fn append_clocks(&self, text: &mut String) {
        let Self { run, correction, .. } = *self;
        let head = [
            "process",
            "host",
            "clock",
            "corrected by",
            "bursts",
            "messages",
            "hops",
            "offset",
            "drift",
            "deviation",
            "residual",
            "95 %",
            "corridor",
            "error bound",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for ((number, process), &domain) in run.processes.iter().enumerate().zip(&correction.clocks.domain_of) {
            let domain = &correction.clocks.domains[domain];
            let if_any = |nanos: f64, any: bool| if any { duration(nanos) } else { "-".to_owned() };
            rows.push(vec![
                run.process_name(number),
                process.host.clone(),
                domain.kind.to_owned(),
                domain.status.name().to_owned(),
                domain.bursts.to_string(),
                domain.messages.to_string(),
                domain.hops.to_string(),
                format!("{:+.9} s", domain.offset_nanos * 1e-9),
                format!("{:+.4} ppm", domain.drift_ppm),
                duration(domain.deviation_nanos),
                if_any(domain.residual_nanos, domain.edges > 0),
                if_any(domain.residual_p95_nanos, domain.edges > 0),
                if_any(domain.corridor_nanos, domain.messages > 0),
                domain.error_bound_nanos.map_or_else(|| "-".to_owned(), duration),
            ]);
        }
        text_table::append(text, &rows, &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    }

    fn json(&self) -> Value {
        let Self { run, reversed_raw, correction, seconds } = *self;
        let domain = |domain: &ClockDomain| {
            json!({
                "name": domain.name,
                "kind": domain.kind,
                "hz": domain.hz,
                "status": domain.status.name(),
                "processes": domain.processes,
                "bursts": domain.bursts,
                "messages": domain.messages,
                "edges": domain.edges,
                "hops": domain.hops,
                "offset_ns": domain.offset_nanos,
                "drift_ppm": domain.drift_ppm,
                "deviation_ns": domain.deviation_nanos,
                "residual_ns": domain.residual_nanos,
                "residual_p95_ns": domain.residual_p95_nanos,
                "corridor_ns": domain.corridor_nanos,
                "error_bound_ns": domain.error_bound_nanos,
                "clock_steps": domain.clock_steps.iter().map(|step| json!({ "timestamp_ns": step.timestamp, "size_ns": step.size })).collect::<Vec<_>>(),
            })
        };
        let processes = run.processes.iter().zip(&correction.clocks.domain_of);
        let processes =
            processes.map(|(process, clock)| json!({ "rank": process.rank, "pid": process.pid, "clock": clock }));
        json!({
            "run": run.path.display().to_string(),
            "clocks": correction.clocks.domains.iter().map(domain).collect::<Vec<_>>(),
            "processes": processes.collect::<Vec<_>>(),
            "links": correction.counts.links,
            "reversed_raw": reversed_raw,
            "reversed_by_samples": correction.reversed_by_samples,
            "reversed_by_clocks": self.by_clocks(),
            "reversed_corrected": correction.counts.reversed_links,
            "moved_links": correction.causality.map(|report| report.moved_links),
            "collective_parts": correction.causality.map(|report| report.parts),
            "reversed_parts_by_clocks": correction.causality.map(|report| report.reversed_parts),
            "moved_parts": correction.causality.map(|report| report.moved_parts),
            "largest_move_ns": correction.causality.map(|report| report.largest_nanos),
            "circular_links": correction.causality.map(|report| report.circular),
            "wander": correction.clocks.wander,
            "seconds": seconds,
            "errors": diagnostic_texts(&correction.clock_errors()),
            "diagnostics": diagnostic_texts(&correction.diagnostics),
        })
    }
}

/// Nanoseconds with a suitable unit.
fn duration(nanos: f64) -> String {
    match nanos.abs() {
        size if size < 1e4 => format!("{nanos:.0} ns"),
        size if size < 1e7 => format!("{:.1} us", nanos * 1e-3),
        _ => format!("{:.1} ms", nanos * 1e-6),
    }
}
