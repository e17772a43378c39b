//! [`DiagnosisReport`]: a diagnosis as text of about one page.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use tumit_perspectives::analysis::collective_groups::UnitShare;
use tumit_perspectives::analysis::diagnosis::{Diagnosis, PhaseEfficiency, WaitGroup, WaitOfUnit};
use tumit_perspectives::analysis::diagnosis_tables::DiagnosisSection;
use tumit_perspectives::analysis::efficiency::Efficiency;
use tumit_perspectives::analysis::path_shares::{PathShare, USUAL_DECREASE, WhatIf};
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange};
use tumit_viewer::text::time_display::{duration, group_digits, timestamp};

use super::context::CommandContext;
use crate::text_table;

/// Maximum number of rows of each table.
const MAX_ROWS: usize = 5;
/// Waits below this part of the time of all units are left out of the text.
const SMALLEST_SHARE: f64 = 0.001;
/// The smallest part of time without a state for which its category is proposed as a remedy.
const SMALLEST_STATELESS: f64 = 0.01;

/// A diagnosis as text.
pub(super) struct DiagnosisReport<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    /// The name of the trace.
    pub(super) name: &'a str,
    /// The commands that reproduce the numbers.
    pub(super) context: &'a CommandContext,
}

impl DiagnosisReport<'_> {
    /// The text of the report, or of one section.
    pub(super) fn text(&self, section: Option<DiagnosisSection>) -> String {
        let mut text = String::new();
        for part in DiagnosisSection::ALL.into_iter().filter(|part| section.is_none_or(|section| *part == section)) {
            match part {
                DiagnosisSection::Overview => self.overview(&mut text),
                DiagnosisSection::Efficiency => self.efficiency(&mut text),
                DiagnosisSection::Phases => self.phases(&mut text),
                DiagnosisSection::Imbalance => self.imbalance(&mut text),
                DiagnosisSection::Waits => self.waits(&mut text),
                DiagnosisSection::Collectives => self.collectives(&mut text),
                DiagnosisSection::CriticalPath => self.path_table(&mut text),
                DiagnosisSection::WhatIf => self.what_ifs(&mut text),
            }
        }
        // A section begins with an empty line, which separates it from the one before.
        text.trim_start_matches('\n').to_owned()
    }

    fn overview(&self, text: &mut String) {
        let Diagnosis { from, to, level, units, guessed_values, .. } = self.diagnosis;
        let units = group_digits(*units as u64);
        _ = writeln!(text, "{}, {}, {units} × {level}", self.name, self.range_text(*from, *to));
        match guessed_values {
            0 => {}
            1 => text.push_str("  The category of 1 state is guessed from its name; --category corrects it.\n"),
            several => {
                _ = writeln!(
                    text,
                    "  The categories of {} states are guessed from their names; --category corrects them.",
                    group_digits(*several as u64)
                );
            }
        }
        self.numbers(text, DiagnosisSection::Overview);
    }

    /// The command that prints the numbers of a section.
    fn numbers(&self, text: &mut String, section: DiagnosisSection) {
        _ = writeln!(text, "  > {}", self.context.section(section));
    }

    /// A command that draws the subject of a section.
    fn drawing(&self, text: &mut String, indent: &str, view: &str, option: Option<&str>, file: &str) {
        _ = writeln!(text, "{indent}drawing: {}", self.context.image(view, option, file));
    }

    fn range_text(&self, from: i64, to: i64) -> String {
        let Diagnosis { from: start, to: end, .. } = *self.diagnosis;
        let resolution = (end.saturating_sub(start) / 1000).max(1);
        format!("{} to {}", timestamp(GlobalNanos(from), resolution), timestamp(GlobalNanos(to), resolution))
    }

    fn efficiency(&self, text: &mut String) {
        text.push_str("\nEfficiency\n");
        let Some(efficiency) = &self.diagnosis.efficiency else {
            text.push_str("  No unit is ever busy. ");
            let stateless = self.diagnosis.stateless_share.unwrap_or(0.0);
            if stateless >= SMALLEST_STATELESS {
                _ = writeln!(
                    text,
                    "The units have no state for {} of their time; with `--option stateless=busy`, this is work.",
                    percent(stateless)
                );
            } else {
                text.push_str("`--category busy=NAME` names the states in which the program works.\n");
            }
            self.numbers(text, DiagnosisSection::Overview);
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
        line(4, "Transfer", transfer, "without overhead and messages of the critical path / time range");
        self.numbers(text, DiagnosisSection::Efficiency);
        // Its busy times of all units and of the busiest one are the first and the third factor.
        _ = writeln!(text, "  > {}", self.context.table("statistical-summary"));
        self.drawing(text, "  ", "utilization-summary", None, "summary.svg");
    }

    fn phases(&self, text: &mut String) {
        if self.diagnosis.phases.is_empty() {
            return;
        }
        text.push_str("\nPhases\n");
        let head =
            ["Phase", "Time range", "Parallel", "Load balance", "Communication", "Serialisation", "Transfer", "Waits"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for phase in &self.diagnosis.phases {
            let factor = |of: fn(&Efficiency) -> Option<f64>| {
                phase.efficiency.as_ref().and_then(of).map(percent).unwrap_or_default()
            };
            rows.push(vec![
                phase.name.clone(),
                self.range_text(phase.from, phase.to),
                factor(|all| Some(all.parallel)),
                factor(|all| Some(all.load_balance)),
                factor(|all| Some(all.communication)),
                factor(|all| all.serialisation),
                factor(|all| all.transfer),
                duration(i64::try_from(phase.wait_nanos).unwrap_or(i64::MAX)),
            ]);
        }
        text.push_str(&indented_table(&rows, &[2, 3, 4, 5, 6, 7]));
        self.numbers(text, DiagnosisSection::Phases);
        let smallest = |phase: &&PhaseEfficiency| phase.efficiency.as_ref().map(|all| all.parallel);
        let lowest = self.diagnosis.phases.iter().filter(|phase| phase.efficiency.is_some());
        let lowest = lowest.min_by(|group, other_group| {
            smallest(group).partial_cmp(&smallest(other_group)).unwrap_or(Ordering::Equal)
        });
        if let Some(PhaseEfficiency { from, to, .. }) = lowest {
            let range = TimeRange { from: GlobalNanos(*from), to: GlobalNanos(*to) };
            let lowest = self.context.report_of(OpenTimeRange::from(range));
            _ = writeln!(text, "  the phase of the lowest efficiency:\n  > {lowest}");
        }
    }

    fn imbalance(&self, text: &mut String) {
        text.push_str("\nImbalance of busy time (5 % or more)\n");
        if self.diagnosis.imbalances.is_empty() {
            text.push_str("  none\n");
        }
        for imbalance in self.diagnosis.imbalances.iter().take(MAX_ROWS) {
            let (level, busiest, least_busy) = (&imbalance.level, &imbalance.busiest, &imbalance.least_busy);
            let parent = imbalance.parent.as_ref().map(|parent| format!(" in {parent}")).unwrap_or_default();
            _ = writeln!(
                text,
                "  {level}{parent}: {busiest} is {} above the mean ({} more busy time); {least_busy} is least busy",
                percent(imbalance.excess),
                duration(imbalance.nanos),
            );
        }
        if !self.diagnosis.imbalances.is_empty() {
            let omitted_count = self.diagnosis.imbalances.len().saturating_sub(MAX_ROWS);
            rest_text(text, omitted_count, "level");
            self.numbers(text, DiagnosisSection::Imbalance);
            self.drawing(text, "  ", "utilization-summary", Some("order=busy"), "busy.svg");
        }
    }

    fn waits(&self, text: &mut String) {
        if self.diagnosis.wait_nanos == 0 {
            text.push_str("\nWaits: none\n");
            return;
        }
        let wait_time = duration(i64::try_from(self.diagnosis.wait_nanos).unwrap_or(i64::MAX));
        _ = writeln!(text, "\nWaits: {wait_time} of all units together");
        let is_shown = |wait: &&WaitGroup| wait.share >= SMALLEST_SHARE;
        for wait in self.diagnosis.waits.iter().filter(is_shown).take(MAX_ROWS) {
            self.wait(text, wait);
        }
        let other_findings = self
            .diagnosis
            .waits
            .len()
            .saturating_sub(self.diagnosis.waits.iter().filter(is_shown).take(MAX_ROWS).count());
        rest_text(text, other_findings, "kind");
        self.numbers(text, DiagnosisSection::Waits);
    }

    /// The waits of one pattern in one state.
    fn wait(&self, text: &mut String, wait: &WaitGroup) {
        let nanos = i64::try_from(wait.nanos).unwrap_or(i64::MAX);
        let (sum, waits) = (duration(nanos), count_text(wait.count, "wait"));
        _ = writeln!(text, "  {} {}, in `{}`: {sum} in {waits}", percent(wait.share), wait.kind, wait.state);
        let cause = match wait.cause.as_str() {
            "" => ", which waits itself".to_owned(),
            cause => format!(", mostly in `{cause}`"),
        };
        if let Some(UnitShare { unit, share: part, .. }) = &wait.main_cause {
            let line = line_text(&wait.causing_line);
            _ = writeln!(text, "    caused by {unit} ({} of it){cause}{line}", percent(*part));
        }
        if let Some(UnitShare { unit, share: part, .. }) = &wait.main_waiter {
            _ = writeln!(text, "    {unit} waits most ({} of it){}", percent(*part), line_text(&wait.waiting_line));
        }
        let WaitOfUnit { range: TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }, unit, .. } =
            &wait.longest_wait;
        _ = writeln!(text, "    longest: {} in {unit}, {}", duration(to - from), self.range_text(*from, *to));
        _ = writeln!(text, "    drawing: {}", self.context.diagram(range_around(*from, *to), "wait.svg"));
    }

    fn collectives(&self, text: &mut String) {
        let Diagnosis { collectives: groups, unmatched_collectives, .. } = self.diagnosis;
        if !unmatched_collectives.is_empty() {
            let names = unmatched_collectives.join(", ");
            _ = writeln!(
                text,
                "\nWaits in {names} are not examined: not all units have the same number of these states."
            );
        }
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
        rest_text(text, groups.len().saturating_sub(MAX_ROWS), "row");
        let lost: u64 = groups.iter().map(|group| group.parts_without_operation).max().unwrap_or(0);
        if lost > 0 {
            let (noun, verb) = if lost == 1 { ("operation", "is") } else { ("operations", "are") };
            _ = writeln!(text, "  Records are missing: the {noun} of {} {verb} unknown.", count_text(lost, "part"));
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
        self.numbers(text, DiagnosisSection::Collectives);
    }

    fn path_table(&self, text: &mut String) {
        let Diagnosis { path_nanos, path_transit, path_values, path_units, path_categories, .. } = self.diagnosis;
        _ = writeln!(
            text,
            "\nCritical path: {}, of which {} in messages",
            duration(*path_nanos),
            duration(*path_transit)
        );
        self.path_ends(text);
        let gain = format!("Gain, if {USUAL_DECREASE} % shorter");
        let titles = ["State", "On the path", "Share", &gain, "At most"].map(str::to_owned);
        let mut rows = vec![titles.to_vec()];
        let row = |share: &PathShare| {
            let gains = [share.gain_with_fixed_waits, share.gain].map(|gain| gain.map(duration).unwrap_or_default());
            let mut row = vec![share.name.clone(), duration(share.nanos), percent(share.share)];
            row.extend(gains);
            row
        };
        rows.extend(path_values.iter().take(MAX_ROWS).map(row));
        text.push_str(&indented_table(&rows, &[1, 2, 3, 4]));
        if path_values.iter().any(|share| share.gain != share.gain_with_fixed_waits) {
            text.push_str("  The gain assumes that waits of unknown cause keep their duration.\n");
        }
        let list = |shares: &[PathShare]| {
            let texts = shares.iter().take(MAX_ROWS).map(|share| format!("{} {}", share.name, percent(share.share)));
            texts.collect::<Vec<_>>().join(", ")
        };
        _ = writeln!(text, "  by unit: {}", list(path_units));
        _ = writeln!(text, "  by category: {}", list(path_categories));
        self.numbers(text, DiagnosisSection::CriticalPath);
        self.drawing(text, "  ", "critical-path", None, "path.svg");
    }

    /// The reasons for which the path is shorter than the time range.
    fn path_ends(&self, text: &mut String) {
        let Diagnosis { from, to, path_nanos, path_end, .. } = *self.diagnosis;
        let Some(end) = path_end else {
            text.push_str("  No unit is busy or in overhead in the time range.\n");
            return;
        };
        if end < to {
            text.push_str("  It ends before the time range: then, all units are idle.\n");
        }
        if end.saturating_sub(path_nanos) > from {
            text.push_str("  It begins after the begin of the time range, with its first unit.\n");
        }
    }

    fn what_ifs(&self, text: &mut String) {
        if self.diagnosis.what_ifs.is_empty() {
            return;
        }
        text.push_str("\nAssumed changes\n");
        for what_if in &self.diagnosis.what_ifs {
            let WhatIf { name, percent: less, path_nanos, gain, gain_with_fixed_waits, .. } = what_if;
            let [on_path, gain, fixed] = [path_nanos, gain, gain_with_fixed_waits].map(|nanos| duration(*nanos));
            let fixed = if fixed == gain {
                String::new()
            } else {
                format!(", and at most {fixed} if waits of unknown cause keep their duration")
            };
            _ = writeln!(
                text,
                "  If `{name}` took {less} % less time: the path ends at most {gain} earlier{fixed}; \
                 `{name}` takes {on_path} of it"
            );
        }
        self.numbers(text, DiagnosisSection::WhatIf);
    }
}

fn line_text(line: &Option<String>) -> String {
    line.as_ref().map(|line| format!(", at {line}")).unwrap_or_default()
}

/// A number with its noun.
fn count_text(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", group_digits(count)) }
}

/// The number of rows of a section that the text leaves out.
fn rest_text(text: &mut String, count: usize, noun: &str) {
    if count > 0 {
        _ = writeln!(text, "  and {} more: the table has all", count_text(count as u64, noun));
    }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A time range with some time around it, rounded to less than a hundredth of its length.
fn range_around(from: i64, to: i64) -> OpenTimeRange {
    let margin = to.saturating_sub(from) / 4;
    let (from, to) = (from.saturating_sub(margin).max(0), to.saturating_add(margin));
    let mut step = 1;
    while step <= to.saturating_sub(from) / 1000 {
        step *= 10;
    }
    let (from, to) = (from - from % step, to.saturating_add((step - to % step) % step));
    OpenTimeRange { from: Some(GlobalNanos(from)), to: Some(GlobalNanos(to)) }
}

/// A table, indented by two columns.
fn indented_table(rows: &[Vec<String>], right: &[usize]) -> String {
    let mut text = String::new();
    text_table::append(&mut text, rows, right);
    text.lines().skip(1).map(|line| format!("  {line}\n")).collect()
}
