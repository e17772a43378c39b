//! Diagnostics about clocks: errors in the data, and properties of the result.

use std::collections::BTreeMap;

use super::outliers::loop_closure::LoopMisclosure;
use super::samples::burst_offsets::{DriftOutlier, OffsetFit, OutlierKind};
use super::{ClockDomain, TimelineStep, TimestampSource};
use crate::run::OpenRun;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

fn clock_error(text: String) -> TraceDiagnostic {
    TraceDiagnostic::error(DiagnosticKind::Clock, text)
}

/// Diagnostics about processes with a clock that went back.
pub(crate) fn repeated_timestamps(run: &OpenRun) -> impl Iterator<Item = TraceDiagnostic> {
    run.processes.iter().filter(|process| process.repeated_timestamps > 0).map(|process| {
        let (file, times) = (process.path.display(), process.repeated_timestamps);
        clock_error(format!("{file}: its clock went back: {times} records have the timestamp of their predecessor"))
            .in_file(&process.path)
    })
}

/// Diagnostics about samples that contradict each other or the behaviour of clocks.
pub(crate) fn wrong_samples(fit: &OffsetFit, domains: &[ClockDomain]) -> Vec<TraceDiagnostic> {
    /// The bursts with one list of contradicting pairs.
    #[derive(Default)]
    struct ContradictingBursts {
        bursts: usize,
        /// The largest error.
        nanos: f64,
    }
    let mut wrong: BTreeMap<&[(usize, usize)], ContradictingBursts> = BTreeMap::new();
    for LoopMisclosure { pairs, nanos } in &fit.misclosures {
        let sum = wrong.entry(pairs).or_default();
        sum.bursts += 1;
        sum.nanos = sum.nanos.max(*nanos);
    }
    let named = |&(a, b): &(usize, usize)| format!("`{}` and `{}`", domains[a].name, domains[b].name);
    let wrong = wrong.into_iter().map(|(pairs, ContradictingBursts { bursts, nanos })| {
        let micros = nanos * 1e-3;
        let burst_text = if bursts == 1 { "one burst".to_owned() } else { format!("{bursts} bursts") };
        match pairs {
            [] => format!("sync samples of {burst_text} between several pairs of clocks contradict each other by {micros:.1} us or more: timestamps may be wrong by as much"),
            [pair] => format!("sync samples of {burst_text} between clocks {} differ by {micros:.1} us from those of the other clocks: not used", named(pair)),
            [names @ .., last] => {
                let names: Vec<String> = names.iter().map(named).collect();
                let (names, last) = (names.join(", "), named(last));
                format!("sync samples of {burst_text} contradict each other by {micros:.1} us: those between clocks {names} or {last} are wrong, and it is unknown which of them; timestamps may be wrong by as much")
            }
        }
    });
    let outliers = fit.outliers.iter().map(|DriftOutlier { domain, kind, nanos }| {
        let (name, micros) = (&domains[*domain].name, nanos * 1e-3);
        match kind {
            OutlierKind::Burst => format!(
                "sync samples of a burst give an offset of clock `{name}` that differs by {micros:+.1} us from that of the bursts before and after it: not used"
            ),
            OutlierKind::Step => format!(
                "the offset of clock `{name}` changed by {micros:+.1} us between two bursts of samples, more than clocks drift: the clock was stepped, or its samples are wrong; timestamps between the bursts may be wrong by as much"
            ),
        }
    });
    wrong.chain(outliers).map(clock_error).collect()
}

/// Diagnostics about clock steps.
pub(crate) fn step_errors(domains: &[ClockDomain]) -> impl Iterator<Item = TraceDiagnostic> {
    let steps = domains.iter().flat_map(|domain| domain.clock_steps.iter().map(|step| (&domain.name, *step)));
    steps.map(|(name, TimelineStep { timestamp, size })| {
        #[expect(clippy::cast_precision_loss, reason = "the numbers are only displayed")]
        let (seconds, millis) = (timestamp as f64 * 1e-9, size as f64 * 1e-6);
        clock_error(format!(
            "clock `{name}` was stepped by {millis:+.3} ms at about {seconds:.3} s: its timestamps near this time may be wrong by as much"
        ))
    })
}

/// Warnings and notes about the correction.
pub(crate) fn correction_diagnostics(domains: &[ClockDomain], by_messages: bool) -> Vec<TraceDiagnostic> {
    let wrapped =
        domains.iter().filter(|domain| domain.clock_wraps > 0).map(|ClockDomain { name, clock_wraps, .. }| {
            let times = if *clock_wraps == 1 { "once".to_owned() } else { format!("{clock_wraps} times") };
            let text = format!(
                "clock `{name}` is a counter of 32 bits and restarted at 0 {times}: its timestamps continue to increase"
            );
            TraceDiagnostic::note(DiagnosticKind::Clock, text)
        });
    let mut diagnostics: Vec<TraceDiagnostic> = wrapped.collect();
    let mut warn = |text: String| diagnostics.push(TraceDiagnostic::warning(DiagnosticKind::Clock, text));
    if domains.len() > 1 && domains[0].status == TimestampSource::Off {
        warn(format!("clocks are not corrected: the timestamps of {} clocks are those of each clock", domains.len()));
        return diagnostics;
    }
    for ClockDomain { name, status, drift_ppm, was_split, rate_is_unknown, drift_shows, absent_samples, .. } in domains
    {
        if *rate_is_unknown {
            warn(format!(
                "the rate of clock `{name}` is unknown: each of its ticks is read as a nanosecond, which may be wrong by any factor"
            ));
        }
        if *was_split {
            warn(format!(
                "processes that read clock `{name}` disagree: messages between them ended before they started, so the clock of each process is corrected separately"
            ));
        }
        if *absent_samples > 0 && *status != TimestampSource::RealTime {
            warn(format!(
                "{absent_samples} sync samples of clock `{name}` are with processes that are not in the run: their files are missing or were cut out"
            ));
        }
        match status {
            TimestampSource::RealTime => warn(format!(
                "clock `{name}` has {}{}: its timestamps come from the real-time clock and may be wrong by milliseconds",
                match absent_samples {
                    0 => "no sync samples".to_owned(),
                    absent => format!("{absent} sync samples, all with processes that are not in the run"),
                },
                if by_messages { ", and no messages relate it to the first clock" } else { "" }
            )),
            TimestampSource::Isolated => {
                warn(format!("no data relates clock `{name}` to the others: its timestamps are not corrected"));
            }
            TimestampSource::OneWay => warn(format!(
                "clock `{name}` has messages in one direction only: none of them is reversed, but their latency is unknown, and the timestamps may be wrong by as much"
            )),
            _ => {}
        }
        if *drift_shows && drift_ppm.abs() > 500.0 {
            warn(format!(
                "clock `{name}` drifts by {drift_ppm:+.0} ppm against the reference, more than real clocks: its bursts are too close together, or the clock was stepped"
            ));
        }
    }
    diagnostics
}
