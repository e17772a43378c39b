//! Diagnostics about clocks: errors in the data, and properties of the result.

use std::collections::BTreeMap;

use super::outliers::loop_closure::LoopMisclosure;
use super::samples::burst_offsets::{DriftOutlier, OffsetFit, OutlierKind};
use super::{ClockDomain, TimestampSource};
use crate::run::OpenRun;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

fn clock_error(text: String) -> TraceDiagnostic {
    TraceDiagnostic::error(DiagnosticKind::Clock, text)
}

/// Diagnostics about processes with a clock that went back.
pub(crate) fn repeated_dates(run: &OpenRun) -> impl Iterator<Item = TraceDiagnostic> {
    run.processes.iter().filter(|process| process.repeated_dates > 0).map(|process| {
        let (file, times) = (process.path.display(), process.repeated_dates);
        clock_error(format!("{file}: its clock went back: {times} records have the date of the one before them"))
            .in_file(&process.path)
    })
}

/// Diagnostics about samples that contradict each other or the behaviour of clocks.
pub(crate) fn wrong_samples(fit: &OffsetFit, domains: &[ClockDomain]) -> Vec<TraceDiagnostic> {
    // By list of pairs: the number of bursts and the largest error in nanoseconds.
    let mut wrong: BTreeMap<&[(usize, usize)], (usize, f64)> = BTreeMap::new();
    for LoopMisclosure { pairs, nanos } in &fit.misclosures {
        let (bursts, most) = wrong.entry(pairs).or_default();
        (*bursts, *most) = (*bursts + 1, most.max(*nanos));
    }
    let named = |&(a, b): &(usize, usize)| format!("`{}` and `{}`", domains[a].name, domains[b].name);
    let wrong = wrong.into_iter().map(|(pairs, (bursts, nanos))| {
        let micros = nanos * 1e-3;
        let of = if bursts == 1 { "one burst".to_owned() } else { format!("{bursts} bursts") };
        match pairs {
            [] => format!("sync samples of {of} contradict each other by {micros:.1} us or more, between several pairs of clocks: dates may be off by as much"),
            [pair] => format!("sync samples of {of} between clocks {} are off by {micros:.1} us from what those of the other clocks say: left out", named(pair)),
            [some @ .., last] => {
                let some: Vec<String> = some.iter().map(named).collect();
                let (some, last) = (some.join(", "), named(last));
                format!("sync samples of {of} contradict each other by {micros:.1} us: those between clocks {some} or {last} are wrong, and it cannot be known which; dates may be off by as much")
            }
        }
    });
    let odd = fit.oddities.iter().map(|DriftOutlier { domain, kind, nanos }| {
        let (name, micros) = (&domains[*domain].name, nanos * 1e-3);
        match kind {
            OutlierKind::Burst => format!(
                "sync samples of a burst say that clock `{name}` is off by {micros:+.1} us from what those before and behind it say: left out"
            ),
            OutlierKind::Set => format!(
                "the offset of clock `{name}` changed by {micros:+.1} us between two bursts of samples, more than clocks drift: it was set, or its samples are wrong, and dates between them may be off by as much"
            ),
        }
    });
    wrong.chain(odd).map(clock_error).collect()
}

/// Diagnostics about clock steps.
pub(crate) fn sets_of(domains: &[ClockDomain]) -> impl Iterator<Item = TraceDiagnostic> {
    let sets = domains.iter().flat_map(|domain| domain.sets.iter().map(|set| (&domain.name, *set)));
    sets.map(|(name, (date, forward))| {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let (date, forward) = (date as f64 * 1e-9, forward as f64 * 1e-6);
        clock_error(format!(
            "clock `{name}` was set by {forward:+.3} ms at about {date:.3} s: what it recorded near that date may be off by as much"
        ))
    })
}

/// Warnings and notes about the correction.
pub(crate) fn correction_diagnostics(domains: &[ClockDomain], by_messages: bool) -> Vec<TraceDiagnostic> {
    let wrapped =
        domains.iter().filter(|domain| domain.clock_wraps > 0).map(|ClockDomain { name, clock_wraps, .. }| {
            let times = if *clock_wraps == 1 { "once".to_owned() } else { format!("{clock_wraps} times") };
            let text = format!(
                "clock `{name}` is a counter of 32 bits and began again at 0 {times}: its timestamps go on after that"
            );
            TraceDiagnostic::note(DiagnosticKind::Clock, text)
        });
    let mut diagnostics: Vec<TraceDiagnostic> = wrapped.collect();
    let mut warn = |text: String| diagnostics.push(TraceDiagnostic::warning(DiagnosticKind::Clock, text));
    if domains.len() > 1 && domains[0].status == TimestampSource::Off {
        warn(format!("clocks are not corrected: dates of {} clocks are as each clock says", domains.len()));
        return diagnostics;
    }
    for ClockDomain { name, status, drift_ppm, was_split, rate_is_unknown, drift_shows, absent_samples, .. } in domains
    {
        if *rate_is_unknown {
            warn(format!(
                "nothing says how fast clock `{name}` runs: each of its ticks is taken for a nanosecond, which may be wrong by any factor"
            ));
        }
        if *was_split {
            warn(format!(
                "processes that read clock `{name}` disagree: messages between them ended before they started, so each is corrected by itself"
            ));
        }
        if *absent_samples > 0 && *status != TimestampSource::RealTime {
            warn(format!(
                "{absent_samples} sync samples of clock `{name}` are with processes that are not in the run: their files are missing, or were cut out"
            ));
        }
        match status {
            TimestampSource::RealTime => warn(format!(
                "clock `{name}` has {}{}: its dates come from the real-time clock and may be off by milliseconds",
                match absent_samples {
                    0 => "no sync samples".to_owned(),
                    absent => format!("{absent} sync samples, all with processes that are not in the run"),
                },
                if by_messages { ", and no messages join it to the first" } else { "" }
            )),
            TimestampSource::Isolated => {
                warn(format!("nothing relates clock `{name}` to the others: its dates are as it says"));
            }
            TimestampSource::OneWay => warn(format!(
                "clock `{name}` is heard in one direction only: no message is reversed, but how long they took is not known, so its dates may be off by as much"
            )),
            _ => {}
        }
        if *drift_shows && drift_ppm.abs() > 500.0 {
            warn(format!(
                "clock `{name}` runs {drift_ppm:+.0} ppm against the reference, more than real clocks do: its bursts are too close together or its clock was set"
            ));
        }
    }
    diagnostics
}
