//! `tumit sync`.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use converter::clock::{Domain, Method};
use converter::paje::{PajeEvent, Sink};
use converter::pipeline::{Options, convert};
use converter::report::Report;
use converter::run::Run;
use converter::time::GlobalNanos;
use serde_json::{Value, json};

use super::Status;
use crate::{table, term};

/// Shows how the clocks of a run are brought together
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first line of the table is the reference; the others show, at the first exchange of messages, how far
they were ahead of it (offset), how much faster they ran (drift), and what the fit leaves unexplained (residual).
Links are counted as reversed when they end before they start, with and without correction.

Exit status: 0 done, 1 links are reversed although clocks were corrected, or the run has losses,
2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// As one JSON object
    #[arg(long)]
    json: bool,
}

/// Takes everything and keeps nothing: the report says what is wanted.
struct Nothing;

impl Sink for Nothing {
    fn event(&mut self, _event: &PajeEvent<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let recorded = Run::open(&args.input)?;
    let with = |method| {
        let mut options = Options::default();
        options.clock = method;
        convert(&recorded, &options, &mut Nothing)
    };
    let (raw, corrected) = (with(Method::None)?, with(Method::Bursts)?);
    let mut out = term::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &as_json(&recorded, &raw, &corrected)).context("cannot write")?;
        writeln!(out).context("cannot write")?;
    } else {
        out.write_all(shown(&recorded, &raw, &corrected).as_bytes()).context("cannot write")?;
    }
    out.flush().context("cannot write")?;
    for loss in &corrected.losses {
        term::note(&format!("tumit: {loss}"));
    }
    Ok(if corrected.counts.reversed_links == 0 && corrected.losses.is_empty() {
        Status::Done
    } else {
        Status::InputHasMistakes
    })
}

fn shown(run: &Run, raw: &Report, corrected: &Report) -> String {
    let clocks = corrected.clocks.domains.len();
    let mut text = format!("{}: {clocks} clock{}\n", run.path.display(), if clocks == 1 { "" } else { "s" });
    let head = ["process", "host", "clock", "dates from", "bursts", "offset", "drift", "residual"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (process, &domain) in run.processes.iter().zip(&corrected.clocks.domain_of) {
        let domain = &corrected.clocks.domains[domain];
        rows.push(vec![
            process.rank.map_or_else(|| format!("pid {}", process.pid), |rank| format!("rank {rank}")),
            process.host.clone(),
            domain.kind.to_owned(),
            domain.status.name().to_owned(),
            domain.bursts.to_string(),
            format!("{:+.9} s", domain.offset_nanos * 1e-9),
            format!("{:+.3} ppm", domain.drift_ppm),
            format!("{:.0} ns", domain.residual_nanos),
        ]);
    }
    table::append(&mut text, &rows, &[4, 5, 6, 7]);
    text.push_str(&format!(
        "\n{} links; reversed: {} by the raw clocks, {} after correction\n",
        corrected.counts.links, raw.counts.reversed_links, corrected.counts.reversed_links
    ));
    for remark in &corrected.clocks.remarks {
        text.push_str(&format!("! {remark}\n"));
    }
    text
}

fn as_json(run: &Run, raw: &Report, corrected: &Report) -> Value {
    let domain = |domain: &Domain| {
        json!({
            "name": domain.name,
            "kind": domain.kind,
            "hz": domain.hz,
            "status": domain.status.name(),
            "bursts": domain.bursts,
            "offset_ns": domain.offset_nanos,
            "drift_ppm": domain.drift_ppm,
            "residual_ns": domain.residual_nanos,
        })
    };
    let processes = run.processes.iter().zip(&corrected.clocks.domain_of);
    let processes = processes.map(|(process, at)| json!({ "rank": process.rank, "pid": process.pid, "clock": at }));
    json!({
        "run": run.path.display().to_string(),
        "clocks": corrected.clocks.domains.iter().map(domain).collect::<Vec<_>>(),
        "processes": processes.collect::<Vec<_>>(),
        "links": corrected.counts.links,
        "reversed_raw": raw.counts.reversed_links,
        "reversed_corrected": corrected.counts.reversed_links,
        "remarks": corrected.clocks.remarks,
    })
}
