//! [`DiagnosisReport`]: a diagnosis as text of about one page.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use tumit_perspectives::analysis::collective_groups::UnitShare;
use tumit_perspectives::analysis::diagnosis::{Diagnosis, PathShare, PhaseEfficiency, WaitGroup, WaitOfUnit, WhatIf};
use tumit_perspectives::analysis::efficiency::Efficiency;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::{duration, group_digits, timestamp};

use crate::text_table;

/// Maximum number of rows of each table.
const MAX_ROWS: usize = 5;
/// Waits below this part of the time of all units are left out of the text.
const SMALLEST_SHARE: f64 = 0.001;

/// A diagnosis as text.
pub(super) struct DiagnosisReport<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    /// The name of the trace.
    pub(super) name: &'a str,
    /// Its path, for the commands that reproduce the numbers.
    pub(super) path: &'a Path,
}

impl DiagnosisReport<'_> {
    /// The text of the report.
    pub(super) fn text(&self) -> String {
        let Diagnosis { from, to, level, units, .. } = self.diagnosis;
        let units = group_digits(*units as u64);
        let mut text = format!("{}, {}, {units} × {level}\n", self.name, self.range_text(*from, *to));
        self.efficiency(&mut text);
        self.phases(&mut text);
        self.imbalance(&mut text);
        self.waits(&mut text);
        self.collectives(&mut text);
        self.path_table(&mut text);
        self.notes(&mut text);
        text
    }

    fn range_text(&self, from: i64, to: i64) -> String {
        let Diagnosis { from: start, to: end, .. } = *self.diagnosis;
        let resolution = (end.saturating_sub(start) / 1000).max(1);
        format!("{} to {}", timestamp(GlobalNanos(from), resolution), timestamp(GlobalNanos(to), resolution))
    }

    /// A command on the trace, indented.
    fn command(&self, arguments: &str) -> String {
        let path = self.path.display();
        format!("  > tumit {}\n", arguments.replacen("TRACE", &path.to_string(), 1))
    }

    fn efficiency(&self, text: &mut String) {
        text.push_str("\nEfficiency\n");
        let Some(efficiency) = &self.diagnosis.efficiency else {
            text.push_str(
                "  No unit is ever busy. `--category busy=NAME` names the states in which the program works.\n",
            );
            return;
        };
        let mut line = |indent: usize, name: &str, factor: Option<f64>, meaning: &str| {
            let Some(factor) = factor else { return };
            let name = format!("{}{name}", " ".repeat(indent));
            _ = writeln!(text, "  {name:<30}{:>7}   {meaning}", percent(factor));
        };
        let Efficiency { parallel, load_balance, communication, transfer, serialisation, .. } = *efficiency;
        line(0, "Parallel efficiency", Some(parallel), "mean busy time / time range");
        line(2, "Load balance", Some(load_balance), "mean busy time / largest busy time");
        line(2, "Communication efficiency", Some(communication), "largest busy time / time range");
        line(4, "Serialisation", serialisation, "the rest: waiting for dependences");
        line(4, "Transfer", transfer, "critical path without overhead and messages");
        text.push_str(&self.command("view TRACE --perspective utilization-summary -o summary.svg"));
    }

    fn phases(&self, text: &mut String) {
        if self.diagnosis.phases.is_empty() {
            return;
        }
        text.push_str("\nPhases\n");
        let head = ["Phase", "Time range", "Parallel", "Load balance", "Communication"].map(str::to_owned).to_vec();
        let mut rows = vec![head];
        for phase in &self.diagnosis.phases {
            let factor =
                |of: fn(&Efficiency) -> f64| phase.efficiency.as_ref().map_or_else(String::new, |all| percent(of(all)));
            rows.push(vec![
                phase.name.clone(),
                self.range_text(phase.from, phase.to),
                factor(|all| all.parallel),
                factor(|all| all.load_balance),
                factor(|all| all.communication),
            ]);
        }
        text.push_str(&indented_table(&rows, &[2, 3, 4]));
        let smallest = |phase: &&PhaseEfficiency| phase.efficiency.as_ref().map(|all| all.parallel);
        let lowest = self.diagnosis.phases.iter().filter(|phase| phase.efficiency.is_some());
        let lowest = lowest.min_by(|one, other| smallest(one).partial_cmp(&smallest(other)).unwrap_or(Ordering::Equal));
        if let Some(PhaseEfficiency { from, to, .. }) = lowest {
            // The phase of the lowest efficiency.
            text.push_str(&self.command(&format!("diagnose TRACE --interval {from}ns..{to}ns")));
        }
    }

    fn imbalance(&self, text: &mut String) {
        text.push_str("\nImbalance of busy time (5 % or more)\n");
        if self.diagnosis.imbalances.is_empty() {
            text.push_str("  none\n");
        }
        for imbalance in self.diagnosis.imbalances.iter().take(MAX_ROWS) {
            let (level, busiest, least) = (&imbalance.level, &imbalance.busiest, &imbalance.least_busy);
            let within = imbalance.within.as_ref().map(|parent| format!(" in {parent}")).unwrap_or_default();
            _ = writeln!(
                text,
                "  {level}{within}: {busiest} is {} above the mean ({} more busy time); {least} is least busy",
                percent(imbalance.excess),
                duration(imbalance.nanos),
            );
        }
        if !self.diagnosis.imbalances.is_empty() {
            text.push_str(
                &self.command("view TRACE --perspective utilization-summary --option order=busy -o busy.svg"),
            );
        }
    }

    fn waits(&self, text: &mut String) {
        if self.diagnosis.wait_nanos == 0 {
            text.push_str("\nWaits: none\n");
            return;
        }
        let all = duration(i64::try_from(self.diagnosis.wait_nanos).unwrap_or(i64::MAX));
        _ = writeln!(text, "\nWaits: {all} of all units together");
        let shown = |wait: &&WaitGroup| wait.share >= SMALLEST_SHARE;
        for wait in self.diagnosis.waits.iter().filter(shown).take(MAX_ROWS) {
            let nanos = i64::try_from(wait.nanos).unwrap_or(i64::MAX);
            let share = percent(wait.share);
            _ = writeln!(
                text,
                "  {share} {}, in `{}`: {} in {}",
                wait.kind,
                wait.state,
                duration(nanos),
                times(wait.count)
            );
            let cause = match wait.cause.as_str() {
                "" => ", which waits itself".to_owned(),
                cause => format!(", mostly in `{cause}`"),
            };
            if let Some(UnitShare { unit, share, .. }) = &wait.main_cause {
                _ = writeln!(
                    text,
                    "    caused by {unit} ({} of it){cause}{}",
                    percent(*share),
                    line_text(&wait.causing_line)
                );
            }
            if let Some(UnitShare { unit, share, .. }) = &wait.main_waiter {
                _ = writeln!(
                    text,
                    "    {unit} waits most ({} of it){}",
                    percent(*share),
                    line_text(&wait.waiting_line)
                );
            }
            let WaitOfUnit { range: TimeRange { from, to }, unit, .. } = &wait.longest;
            _ = writeln!(text, "    longest: {} in {unit}, {}", duration(to.0 - from.0), self.range_text(from.0, to.0));
            let range = range_argument(from.0, to.0);
            text.push_str(&self.command(&format!("view TRACE --interval {range} -o wait.svg")));
        }
        let rest = self.diagnosis.waits.iter().filter(shown).count().saturating_sub(MAX_ROWS);
        if rest > 0 {
            _ = writeln!(text, "  and {rest} more kinds of waits: `--json` lists all");
        }
    }

    fn collectives(&self, text: &mut String) {
        let groups = &self.diagnosis.collectives;
        if groups.is_empty() {
            return;
        }
        text.push_str("\nCollective operations\n");
        let head = ["State", "Kind", "Communicator", "Operations", "Mean wait", "Longest wait", "Awaited most"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for group in groups.iter().take(MAX_ROWS) {
            let main_cause =
                group.main_cause.as_ref().map(|cause| format!("{} ({})", cause.unit, percent(cause.share)));
            let wait = |nanos: i64| if group.has_unknown_roots { "unknown".to_owned() } else { duration(nanos) };
            rows.push(vec![
                group.state.clone(),
                group.kind.word().to_owned(),
                group.communicator.clone(),
                group_digits(group.operations),
                wait(group.mean_wait()),
                wait(group.longest_wait),
                main_cause.unwrap_or_default(),
            ]);
        }
        text.push_str(&indented_table(&rows, &[3, 4, 5]));
        if groups.len() > MAX_ROWS {
            _ = writeln!(text, "  and {} more: `--json` lists all", groups.len() - MAX_ROWS);
        }
        let lost: u64 = groups.iter().map(|group| group.parts_without_operation).max().unwrap_or(0);
        if lost > 0 {
            _ = writeln!(text, "  Records are missing: the operations of {} parts are unknown.", group_digits(lost));
        }
        let guesses: BTreeSet<&str> =
            groups.iter().filter(|group| group.is_guess).map(|group| group.state.as_str()).collect();
        if !guesses.is_empty() {
            let names = guesses.into_iter().collect::<Vec<_>>().join(", ");
            _ = writeln!(
                text,
                "  Guessed from the names and the order of states: {names}. `collective` in the rules of a spec \
                 describes operations, with their communicators and roots."
            );
        }
    }

    fn path_table(&self, text: &mut String) {
        let Diagnosis { path_nanos, path_transit, path_values, path_units, path_categories, what_ifs, .. } =
            self.diagnosis;
        _ = writeln!(
            text,
            "\nCritical path: {}, of which {} in messages",
            duration(*path_nanos),
            duration(*path_transit)
        );
        let head = ["State", "On the path", "Share", "Gain at most, if 10 % shorter"].map(str::to_owned).to_vec();
        let mut rows = vec![head];
        #[expect(clippy::cast_possible_truncation, reason = "a rounded time")]
        let row = |share: &PathShare| {
            vec![share.name.clone(), duration(share.nanos), percent(share.share), duration(share.gain(10.0) as i64)]
        };
        rows.extend(path_values.iter().take(MAX_ROWS).map(row));
        text.push_str(&indented_table(&rows, &[1, 2, 3]));
        let list = |shares: &[PathShare]| {
            let texts = shares.iter().take(MAX_ROWS).map(|share| format!("{} {}", share.name, percent(share.share)));
            texts.collect::<Vec<_>>().join(", ")
        };
        _ = writeln!(text, "  by unit: {}", list(path_units));
        _ = writeln!(text, "  by category: {}", list(path_categories));
        text.push_str(&self.command("view TRACE --perspective critical-path -o path.svg"));
        for WhatIf { name, percent: less, path_nanos, gain, .. } in what_ifs {
            let (on_path, gain) = (duration(*path_nanos), duration(*gain));
            _ = writeln!(text, "  If `{name}` took {less} % less time: {gain} of {on_path} less, at most");
        }
    }

    fn notes(&self, text: &mut String) {
        let Diagnosis { guessed_values, unmatched_collectives, .. } = self.diagnosis;
        if *guessed_values > 0 {
            _ = writeln!(
                text,
                "\nThe categories of {guessed_values} states are guessed from their names; --category corrects them."
            );
        }
        if !unmatched_collectives.is_empty() {
            let names = unmatched_collectives.join(", ");
            _ = writeln!(
                text,
                "Waits in {names} are not examined: not all units have the same number of these states."
            );
        }
    }
}

fn line_text(line: &Option<String>) -> String {
    line.as_ref().map(|line| format!(", at {line}")).unwrap_or_default()
}

fn times(count: u64) -> String {
    if count == 1 { "1 wait".to_owned() } else { format!("{} waits", group_digits(count)) }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A time range with some time around it, as the value of an option.
fn range_argument(from: i64, to: i64) -> String {
    const MICROSECOND: i64 = 1_000;
    let margin = (to - from) / 4;
    let (from, to) = ((from - margin).max(0), to + margin);
    if to - from < 100 * MICROSECOND {
        return format!("{from}ns..{to}ns");
    }
    format!("{}us..{}us", from / MICROSECOND, to / MICROSECOND + 1)
}

/// A table, indented by two columns.
fn indented_table(rows: &[Vec<String>], right: &[usize]) -> String {
    let mut text = String::new();
    text_table::append(&mut text, rows, right);
    text.lines().skip(1).map(|line| format!("  {line}\n")).collect()
}
