//! G5: the fraction of time in which a number of units is busy, overhead or idle.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::TimeRange;

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartPaint, ChartPanel, ChartTable, CountBars, TitledPanel, ViewChart,
};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitCounts;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::{captions, category_legend};

/// Maximum number of bars of a panel. More bars would be thinner than about three pixels on usual
/// screens.
const MAX_BARS: usize = 256;

/// For each category and each number of units, the fraction of time in which as many units are in
/// the category.
pub(crate) struct ConcurrencyProfile;

impl PerspectiveView for ConcurrencyProfile {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "concurrency-profile",
            number: Some(5),
            title: "Concurrency profile",
            group: ViewGroup::Utilization,
            summary: "The percentage of time in which each number of units is busy, overhead or idle.",
            required_data: "states",
            modes: &[TimeMode::Range, TimeMode::Moving],
            options: &["category", "width"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let activity = execution.activity()?;
        let (counts, range) = (activity.counts(), request.visible_range());
        let times = execution.derived(&format!("{} {range:?}", self.info().name), || {
            Ok(times_by_count(counts, activity.units(), range))
        })?;
        let size = times.len().div_ceil(MAX_BARS);
        let chosen = ActivityCategory::COUNTED.into_iter().enumerate();
        let chosen = chosen.filter(|(_, category)| request.options.category.is_none_or(|only| only == *category));
        let bars: Vec<(ActivityCategory, Vec<Bar>)> =
            chosen.map(|(index, category)| (category, bars(&times, index, category, size))).collect();
        let parts = bars.iter().flat_map(|(_, bars)| bars).flat_map(|bar| &bar.parts);
        // The panels have the same axis, so that their bars can be compared.
        let axis = ChartAxis::up_to("time", AxisUnit::Percent, parts.map(|part| part.value).fold(0.0, f64::max));
        let panels = bars.into_iter().map(|(category, bars)| {
            let arrangement = format!("{} units ({})", category.word(), captions::unit_type(execution));
            let counts = Some(CountBars { category, numbers_per_bar: size });
            let chart = BarChart { axis: axis.clone(), arrangement, bars, counts, ..BarChart::default() };
            TitledPanel { title: category.word().to_owned(), panel: ChartPanel::Bars(chart) }
        });
        let bins = (size > 1).then(|| format!("Each bar is the time of {size} adjacent numbers of busy units."));
        let fractions = (counts.denominator > 1).then(|| {
            "Units count as fractions: a bar k holds the time with at least k and less than k + 1 units.".to_owned()
        });
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::range_caption(request),
            panels: panels.collect(),
            legend: category_legend::legend(),
            table: table(&times),
            notes: [bins, fractions, category_legend::guess_note(execution)].into_iter().flatten().collect(),
        })
    }
}

/// For each number of units from 0, the time in which as many units are in each category. Of an
/// empty time range, 1 ns at its start.
fn times_by_count(counts: &UnitCounts, units: usize, range: TimeRange) -> Vec<[i128; 3]> {
    let mut times = vec![[0; 3]; units + 1];
    let mut add = |values: [i64; 3], nanos: i64| {
        for (category, value) in values.into_iter().enumerate() {
            let number = usize::try_from(value / counts.denominator).unwrap_or(0).min(units);
            times[number][category] += i128::from(nanos);
        }
    };
    if range.from >= range.to {
        add(counts.steps.at(range.from.0), 1);
    }
    counts.steps.pieces(range).for_each(|piece| add(piece.values, piece.nanos()));
    times
}

/// The whole time. It is the same for each category, because each instant counts once.
fn whole_time(times: &[[i128; 3]]) -> i128 {
    times.iter().map(|time| time[0]).sum()
}

#[expect(clippy::cast_precision_loss, reason = "percentages are rounded")]
fn bars(times: &[[i128; 3]], index: usize, category: ActivityCategory, size: usize) -> Vec<Bar> {
    let whole = whole_time(times).max(1) as f64;
    let all = times.chunks(size.max(1)).enumerate().map(|(bin, numbers)| {
        let (first, sum) = (bin * size, numbers.iter().map(|time| time[index]).sum::<i128>());
        let label = if size == 1 { first.to_string() } else { format!("{first}–{}", first + numbers.len() - 1) };
        let part = BarPart { paint: ChartPaint::Category(category), value: 100.0 * sum as f64 / whole };
        Bar { label, parts: vec![part], ..Bar::default() }
    });
    all.collect()
}

/// The time and percentage per number of units. With many units, only the numbers that occur.
#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn table(times: &[[i128; 3]]) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("units", AxisUnit::Count),
        ("busy", AxisUnit::Nanos),
        ("overhead", AxisUnit::Nanos),
        ("idle", AxisUnit::Nanos),
        ("busy, %", AxisUnit::Percent),
        ("overhead, %", AxisUnit::Percent),
        ("idle, %", AxisUnit::Percent),
    ]);
    let whole = whole_time(times).max(1) as f64;
    let occurs = |time: &[i128; 3]| times.len() <= MAX_BARS || time.iter().any(|time| *time > 0);
    let rows = times.iter().enumerate().filter(|(_, time)| occurs(time)).map(|(number, time)| {
        let nanos = time.map(|time| time as f64);
        let percent = time.map(|time| 100.0 * time as f64 / whole);
        [number as f64].into_iter().chain(nanos).chain(percent).map(Into::into).collect()
    });
    table.rows = rows.collect();
    table
}
