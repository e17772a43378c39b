//! Charts of each kind, of few and of many units.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::chart::{
    AxisUnit, Bar, BarChart, BarPart, ChartAxis, ChartMatrixCell, ChartPaint, ChartPanel, ChartTable, KiviatChart,
    KiviatSpoke, LegendItem, LevelChart, LevelExtremes, LevelSeries, MatrixChart, NetworkChart, NetworkEdge,
    NetworkNode, PortraitChart, PortraitPoint, ScatterChart, ScatterPoint, StatusCell, StatusGrid, TitledPanel,
    ViewChart,
};

const SECOND: f64 = 1e9;

/// A number from 0 to 1 that looks random.
fn noise(seed: usize) -> f64 {
    let mut x = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 40) as f64 / (1_u64 << 24) as f64
}

fn axis(label: &str, axis_unit: AxisUnit, maximum: f64) -> ChartAxis {
    ChartAxis { label: label.to_owned(), axis_unit, maximum }
}

fn legend(list: &[(ChartPaint, &str)]) -> Vec<LegendItem> {
    list.iter().map(|(paint, label)| LegendItem { paint: *paint, label: (*label).to_owned() }).collect()
}

fn categories() -> Vec<LegendItem> {
    let item = |category: ActivityCategory| (ChartPaint::Category(category), category.word());
    legend(&ActivityCategory::COUNTED.map(item))
}

fn chart(title: &str, subtitle: &str, panels: Vec<(&str, ChartPanel)>, legend: Vec<LegendItem>) -> ViewChart {
    let panels = panels.into_iter().map(|(title, panel)| TitledPanel { title: title.to_owned(), panel }).collect();
    ViewChart { title: title.to_owned(), subtitle: subtitle.to_owned(), panels, legend, ..ViewChart::default() }
}

fn utilization(units: f64) -> ViewChart {
    let columns = 900;
    let busy: Vec<f64> = (0..columns)
        .map(|index| units * (0.35 + 0.3 * (index as f64 / 40.0).sin().abs() + 0.2 * noise(index)))
        .collect();
    let overhead: Vec<f64> =
        busy.iter().enumerate().map(|(index, busy)| (units - busy) * noise(index + 5000)).collect();
    let idle = busy.iter().zip(&overhead).map(|(busy, overhead)| units - busy - overhead).collect();
    let series =
        ActivityCategory::COUNTED.into_iter().zip([busy, overhead, idle]).map(|(category, means)| LevelSeries {
            label: category.word().to_owned(),
            paint: ChartPaint::Category(category),
            means,
            extremes: Vec::new(),
        });
    let panel = ChartPanel::Levels(LevelChart {
        from: 0,
        to: 2_770_000_000,
        cursor: Some(1_538_400_000),
        axis: axis("ranks", AxisUnit::Count, units),
        stacked: true,
        series: series.collect(),
    });
    let mut chart = chart("Utilization count", "0 s to 2.77 s, at 1.538 s", vec![("", panel)], categories());
    chart.notes = vec!["The categories of 7 values are guessed from their names.".to_owned()];
    chart
}

fn traffic(count: u8) -> ViewChart {
    let columns = 300;
    let series = (0..count).map(|number| {
        let mean = |index: usize| {
            3e6 * (0.3 + 0.3 * ((index as f64 / 30.0) + f64::from(number)).sin()) / f64::from(number + 1)
        };
        let means: Vec<f64> = (0..columns).map(mean).collect();
        let extremes = means.iter().enumerate().map(|(index, mean)| LevelExtremes {
            minimum: mean * noise(index),
            maximum: mean * (1.0 + noise(index + 9)),
        });
        let extremes = extremes.collect();
        let label = ["incoming", "outgoing", "both"][usize::from(number) % 3].to_owned();
        LevelSeries { label, paint: ChartPaint::Series(number), means, extremes }
    });
    let panel = ChartPanel::Levels(LevelChart {
        from: 86_400_000_000_000,
        to: 86_400_002_000_000,
        cursor: Some(86_400_000_400_000),
        axis: axis("pending", AxisUnit::Bytes, 3.8e6),
        stacked: false,
        series: series.collect(),
    });
    chart("Communication traffic", "1 d to 1 d + 2 ms; pending bytes of rank 3", vec![("", panel)], Vec::new())
}

fn summary(units: usize, name: &str) -> ViewChart {
    let bar = |unit: usize| {
        let busy = 30.0 + 50.0 * noise(unit);
        let overhead = (100.0 - busy) * noise(unit + 77);
        let value = [busy, overhead, 100.0 - busy - overhead];
        let part = |(category, value)| BarPart { paint: ChartPaint::Category(category), value };
        let parts = ActivityCategory::COUNTED.into_iter().zip(value).map(part).collect();
        Bar { label: format!("{name}{unit}"), unit: Some(unit as u32), parts, ..Bar::default() }
    };
    let panel = BarChart {
        axis: axis("time", AxisUnit::Percent, 100.0),
        arrangement: String::new(),
        bars: (0..units).map(bar).collect(),
        ..BarChart::default()
    };
    chart("Utilization summary", "0 s to 2.77 s", vec![("", ChartPanel::Bars(panel))], categories())
}

fn meter() -> ViewChart {
    let part = |(category, value)| BarPart { paint: ChartPaint::Category(category), value };
    let parts = ActivityCategory::COUNTED.into_iter().zip([62.5, 31.25, 6.25]).map(part).collect();
    let bar = Bar { label: "64 ranks".to_owned(), parts, ..Bar::default() };
    let panel = BarChart {
        axis: axis("ranks", AxisUnit::Percent, 100.0),
        arrangement: String::new(),
        bars: vec![bar],
        ..BarChart::default()
    };
    chart("Utilization meter", "at 1.538 s", vec![("", ChartPanel::Bars(panel))], categories())
}

fn profile() -> ViewChart {
    let panels = ActivityCategory::COUNTED.into_iter().map(|category| {
        let value = |k: usize| 100.0 * noise(k + 100 * category as usize) / 12.0;
        let bar = |k: usize| Bar {
            label: k.to_string(),
            parts: vec![BarPart { paint: ChartPaint::Category(category), value: value(k) }],
            ..Bar::default()
        };
        let panel = BarChart {
            axis: axis("time", AxisUnit::Percent, 9.0),
            arrangement: format!("{} ranks", category.word()),
            bars: (0..=16).map(bar).collect(),
            ..BarChart::default()
        };
        (category.word(), ChartPanel::Bars(panel))
    });
    chart("Concurrency profile", "0 s to 2.77 s", panels.collect(), Vec::new())
}

fn queues(units: usize) -> ViewChart {
    let bar = |unit: usize| {
        let now = (noise(unit) * 12.0).floor();
        Bar {
            label: format!("rank {unit}"),
            unit: Some(unit as u32),
            parts: vec![BarPart { paint: ChartPaint::Now, value: now }],
            maximum: Some(now + (noise(unit + 9) * 8.0).floor()),
            ..Bar::default()
        }
    };
    let bars: Vec<Bar> = (0..units).map(bar).collect();
    let largest = bars.iter().filter_map(|bar| bar.maximum).fold(0.0, f64::max);
    let panel = BarChart {
        axis: axis("pending messages", AxisUnit::Count, largest),
        arrangement: "rank".to_owned(),
        bars,
        ..BarChart::default()
    };
    let legend = legend(&[(ChartPaint::Now, "now"), (ChartPaint::Maximum, "maximum so far")]);
    chart("Message queues", "at 1.538 s; maximum since the start", vec![("", ChartPanel::Bars(panel))], legend)
}

fn tasks() -> ViewChart {
    const NAMES: [&str; 9] = [
        "computeForces",
        "neighbourList",
        "integrate",
        "exchangeHalo",
        "writeCheckpoint",
        "reduceEnergy",
        "readInput",
        "MPI_Allreduce of all energies and momenta",
        "finalize",
    ];
    let bar = |(task, name): (usize, &&str)| Bar {
        label: (*name).to_owned(),
        base: 60.0 * noise(task + 3),
        parts: vec![BarPart { paint: ChartPaint::Task(task as u32), value: 10.0 + 28.0 * noise(task + 50) }],
        ..Bar::default()
    };
    let bars = NAMES.iter().enumerate().map(bar).collect();
    let panel = BarChart {
        axis: axis("time of the run", AxisUnit::Percent, 100.0),
        arrangement: "task".to_owned(),
        bars,
        ..BarChart::default()
    };
    chart("Task summary", "0 s to 2.77 s", vec![("", ChartPanel::Bars(panel))], Vec::new())
}

fn task_count() -> ViewChart {
    let mut chart = tasks();
    if let ChartPanel::Bars(panel) = &mut chart.panels[0].panel {
        panel.axis = axis("active ranks", AxisUnit::Count, 38.0);
        panel.bars.iter_mut().for_each(|bar| bar.base = 0.0);
    }
    chart.title = "Task count".to_owned();
    chart.subtitle = "at 1.538 s".to_owned();
    chart
}

fn streak(units: usize) -> ViewChart {
    let bar = |unit: usize| {
        let value = (noise(unit) - 0.4) * 2.0 * SECOND;
        let category = if value > 0.0 { ActivityCategory::Busy } else { ActivityCategory::Idle };
        let parts = vec![BarPart { paint: ChartPaint::Category(category), value }];
        Bar { label: format!("rank {unit}"), unit: Some(unit as u32), parts, ..Bar::default() }
    };
    let panel = BarChart {
        axis: axis("present streak", AxisUnit::Nanos, 1.2 * SECOND),
        arrangement: "rank".to_owned(),
        bars: (0..units).map(bar).collect(),
        ..BarChart::default()
    };
    chart("Streak", "at 1.538 s", vec![("", ChartPanel::Bars(panel))], categories())
}

fn kiviat(units: usize, group: usize) -> ViewChart {
    let spokes = (0..units).map(|unit| {
        let mean = 0.25 + 0.6 * noise(unit);
        let spread = if group > 1 { 0.1 } else { 0.0 };
        let label =
            if group > 1 { format!("{}–{}", unit * group, (unit + 1) * group - 1) } else { format!("rank {unit}") };
        KiviatSpoke { label, unit: None, now: [mean - spread, mean, mean + spread], maximum: (mean + 0.25).min(1.0) }
    });
    let panel =
        ChartPanel::Kiviat(KiviatChart { spokes: spokes.collect(), units_per_spoke: group, ..KiviatChart::default() });
    let legend = legend(&[(ChartPaint::Now, "busy now"), (ChartPaint::Maximum, "maximum so far")]);
    chart("Kiviat diagram", "at 1.538 s, smoothed over 10 ms; maximum since the start", vec![("", panel)], legend)
}

fn matrix(units: usize, axis_unit: AxisUnit) -> ViewChart {
    let names: Vec<String> = (0..units).map(|rank| format!("rank {rank}")).collect();
    let cells = (0..units * units).filter_map(|index| {
        let (row, column) = (index / units, index % units);
        let near = (row as i64 - column as i64).unsigned_abs() as usize;
        let value = if axis_unit == AxisUnit::Bytes {
            65536.0 * 1e3_f64.powf(noise(index))
        } else {
            (noise(index) * 40.0).ceil()
        };
        let is_sent = near == 1 || near == 4 || noise(index + 31) > 0.93;
        is_sent.then_some(ChartMatrixCell { row: row as u32, column: column as u32, value, paint: None })
    });
    let largest = if axis_unit == AxisUnit::Bytes { 65_536e3 } else { 40.0 };
    let panel = ChartPanel::Matrix(MatrixChart {
        row_heading: "sender".to_owned(),
        column_heading: "receiver".to_owned(),
        rows: names.clone(),
        columns: names,
        units_per_cell: 1,
        axis: axis("sent", axis_unit, largest),
        cells: cells.collect(),
        ..MatrixChart::default()
    });
    chart("Communication matrix", "0 s to 2.77 s; all messages", vec![("", panel)], Vec::new())
}

fn surface() -> ViewChart {
    let mut chart = matrix(40, AxisUnit::Count);
    if let ChartPanel::Matrix(panel) = &mut chart.panels[0].panel {
        (panel.row_heading, panel.column_heading) = ("task".to_owned(), "time".to_owned());
        panel.rows = ["compute", "exchange", "Waits for a message", "reduce"].map(str::to_owned).to_vec();
        panel.columns = (0..40).map(|column| format!("{} ms", column * 7)).collect();
        panel.times = Some(TimeRange { from: GlobalNanos(0), to: GlobalNanos(280_000_000) });
        panel.cells.retain(|cell| cell.row < 4);
    }
    chart.title = "Task surface".to_owned();
    chart
}

fn network(units: usize) -> ViewChart {
    let nodes = (0..units).map(|unit| {
        let angle = std::f32::consts::TAU * unit as f32 / units as f32;
        let paint = ChartPaint::Category(ActivityCategory::COUNTED[(noise(unit) * 3.0) as usize]);
        let (x, y) = (0.5 + 0.5 * angle.sin(), 0.5 - 0.5 * angle.cos());
        NetworkNode { label: format!("rank {unit}"), unit: unit as u32, x, y, paint }
    });
    let edges = (0..units).flat_map(|unit| {
        let to = |step: usize| ((unit + step) % units) as u32;
        let edge = |to: u32, bend: f32, paint: ChartPaint| NetworkEdge {
            from: unit as u32,
            to,
            paint,
            value: 1.0,
            bend,
            is_dashed: false,
        };
        [edge(to(1), 0.0, ChartPaint::Series(0)), edge(to(units / 3), 0.12, ChartPaint::Series(1))]
    });
    let edges = edges.enumerate().filter(|(index, _)| noise(index + 4) > 0.5).map(|(_, edge)| edge).collect();
    let panel = ChartPanel::Network(NetworkChart {
        nodes: nodes.collect(),
        edges,
        axis: axis("pending messages", AxisUnit::Count, 3.0),
        ..NetworkChart::default()
    });
    let mut items = categories();
    items.extend(legend(&[(ChartPaint::Series(0), "neighbours"), (ChartPaint::Series(1), "other ranks")]));
    chart("Hypercube", "at 1.538 s; ring layout", vec![("", panel)], items)
}

fn scatter(count: usize, names: &[&str]) -> ViewChart {
    let panel = |seed: usize, series: u8| {
        let point = |index: usize| {
            let value = if names.is_empty() {
                2e6 * noise(index + seed).powi(3)
            } else {
                noise(index + seed) * names.len() as f64
            };
            let value = if names.is_empty() { value } else { value.floor() };
            let time = (noise(index + seed + 500_000) * 2.7e9) as i64;
            ScatterPoint { time, value, paint: ChartPaint::Series(series), entity: None }
        };
        ChartPanel::Scatter(ScatterChart {
            from: 0,
            to: 2_700_000_000,
            cursor: Some(1_538_400_000),
            axis: if names.is_empty() {
                axis("length", AxisUnit::Bytes, 2e6)
            } else {
                axis("peer", AxisUnit::Count, names.len() as f64)
            },
            categories: names.iter().map(|name| (*name).to_owned()).collect(),
            points: (0..count).map(point).collect(),
        })
    };
    let panels = vec![("incoming", panel(0, 0)), ("outgoing", panel(90_000, 1))];
    chart("Node statistics of rank 3", "0 s to 2.7 s", panels, Vec::new())
}

fn status(units: usize) -> ViewChart {
    let columns = (units as f64).sqrt().ceil() as usize;
    let grid = |paint: &dyn Fn(usize) -> ChartPaint| {
        let cell = |unit: usize| StatusCell {
            label: unit.to_string(),
            unit: Some(unit as u32),
            paint: paint(unit),
            status: "busy".to_owned(),
        };
        ChartPanel::Grid(StatusGrid { columns, cells: (0..units).map(cell).collect(), ..StatusGrid::default() })
    };
    let category = |unit: usize| ChartPaint::Category(ActivityCategory::COUNTED[(noise(unit) * 3.0) as usize]);
    let size = |seed: usize| {
        move |unit: usize| {
            if noise(unit + seed) > 0.4 { ChartPaint::Size(noise(unit + seed + 1) as f32) } else { ChartPaint::Absent }
        }
    };
    let panels = vec![
        ("State", grid(&category)),
        ("Task", grid(&|unit| ChartPaint::Task((noise(unit + 7) * 6.0) as u32))),
        ("Bytes being sent", grid(&size(40))),
        ("Bytes awaiting receipt", grid(&size(80))),
    ];
    let mut items = categories();
    let sizes: Vec<(ChartPaint, &str)> = [(0.0, "64 B"), (0.33, "1 KiB"), (0.66, "16 KiB"), (1.0, "256 KiB")]
        .map(|(size, text)| (ChartPaint::Size(size), text))
        .to_vec();
    items.extend(legend(&sizes));
    chart("Processor status", "at 1.538 s", panels, items)
}

fn task_status() -> ViewChart {
    let cell = |task: usize| {
        let paint = [ChartPaint::Pending, ChartPaint::Maximum, ChartPaint::Now][(noise(task) * 3.0) as usize];
        StatusCell { label: format!("task {task}"), unit: None, paint, status: "completed".to_owned() }
    };
    let panel =
        ChartPanel::Grid(StatusGrid { columns: 5, cells: (0..23).map(cell).collect(), ..StatusGrid::default() });
    let items = legend(&[
        (ChartPaint::Pending, "not begun"),
        (ChartPaint::Maximum, "in progress"),
        (ChartPaint::Now, "completed"),
    ]);
    chart("Task status", "at 1.538 s", vec![("", panel)], items)
}

fn portrait() -> ViewChart {
    let point = |index: usize| {
        let angle = index as f64 / 30.0;
        let (x, y) = (40.0 + 32.0 * (angle * 1.3).sin() + 6.0 * noise(index / 9), 52.0 + 38.0 * angle.cos());
        PortraitPoint { time: index as i64, x: x.max(0.0), y, paint: ChartPaint::Task((index / 70) as u32) }
    };
    let panel = ChartPanel::Portrait(PortraitChart {
        horizontal_axis: axis("communication", AxisUnit::Percent, 100.0),
        vertical_axis: axis("utilization", AxisUnit::Percent, 100.0),
        points: (0..420).map(point).collect(),
        cursor: Some(330),
    });
    let items: Vec<_> =
        (0..6).map(|task| LegendItem { paint: ChartPaint::Task(task), label: format!("task {task}") }).collect();
    chart("Phase portrait", "0 s to 2.77 s, smoothed over 50 ms, at 1.538 s", vec![("", panel)], items)
}

fn table(rows: usize) -> ViewChart {
    let columns = [
        ("rank", AxisUnit::Count),
        ("busy, s", AxisUnit::Nanos),
        ("busy, %", AxisUnit::Percent),
        ("idle, s", AxisUnit::Nanos),
        ("idle, %", AxisUnit::Percent),
        ("sent", AxisUnit::Count),
        ("bytes sent, B", AxisUnit::Bytes),
        ("received", AxisUnit::Count),
        ("bytes received, B", AxisUnit::Bytes),
        ("mean latency, s", AxisUnit::Nanos),
    ];
    let mut table = ChartTable::new(&columns);
    for row in 0..rows {
        let busy = noise(row);
        table.rows.push(vec![
            format!("rank {row}").as_str().into(),
            (busy * 2.77e9).round().into(),
            (busy * 100.0).into(),
            ((1.0 - busy) * 2.77e9).round().into(),
            (100.0 - busy * 100.0).into(),
            (noise(row + 5) * 9000.0).floor().into(),
            (noise(row + 6) * 9e7).floor().into(),
            (noise(row + 7) * 9000.0).floor().into(),
            (noise(row + 8) * 9e7).floor().into(),
            (noise(row + 9) * 20_000.0).floor().into(),
        ]);
    }
    let mut chart = chart("Statistical summary", "0 s to 2.77 s", vec![("", ChartPanel::Table(table))], Vec::new());
    chart.notes = vec![
        "Messages of 3 ranks arrive before they are sent; their latency counts as 0.".to_owned(),
        "Links have no field with sizes in 2 of 5 types, so that bytes of these messages are unknown.".to_owned(),
    ];
    chart
}

/// Charts of all kinds, with their names.
pub(super) fn all() -> Vec<(&'static str, ViewChart)> {
    vec![
        ("utilization", utilization(48.0)),
        ("traffic1", traffic(1)),
        ("traffic3", traffic(3)),
        ("summary16", summary(16, "rank ")),
        ("summary200", summary(200, "rank ")),
        ("summary12", summary(12, "node-17.cluster/worker thread ")),
        ("meter", meter()),
        ("profile", profile()),
        ("queues24", queues(24)),
        ("tasks", tasks()),
        ("task-count", task_count()),
        ("streak", streak(32)),
        ("kiviat2", kiviat(2, 1)),
        ("kiviat16", kiviat(16, 1)),
        ("kiviat120", kiviat(120, 40)),
        ("matrix8", matrix(8, AxisUnit::Count)),
        ("matrix64", matrix(64, AxisUnit::Bytes)),
        ("surface", surface()),
        ("matrix256", matrix(256, AxisUnit::Bytes)),
        ("network8", network(8)),
        ("network24", network(24)),
        ("network128", network(128)),
        ("scatter", scatter(300, &[])),
        ("scatter-many", scatter(6000, &["rank 0", "rank 1", "rank 2", "rank 4", "rank 5"])),
        ("status16", status(16)),
        ("status300", status(300)),
        ("task-status", task_status()),
        ("portrait", portrait()),
        ("table6", table(6)),
        ("table90", table(90)),
    ]
}

/// Charts without data.
pub(super) fn empty() -> Vec<(&'static str, ViewChart)> {
    let none = |panel: ChartPanel| chart("Empty", "0 s to 0 s", vec![("", panel)], Vec::new());
    let axis = || axis("messages", AxisUnit::Count, 1.0);
    let levels = LevelChart { from: 0, to: 0, cursor: Some(0), axis: axis(), stacked: true, series: Vec::new() };
    let scatter =
        ScatterChart { from: 5, to: 5, cursor: None, axis: axis(), categories: Vec::new(), points: Vec::new() };
    let portrait =
        PortraitChart { horizontal_axis: axis(), vertical_axis: axis(), points: Vec::new(), cursor: Some(3) };
    let matrix = MatrixChart { units_per_cell: 1, axis: axis(), ..MatrixChart::default() };
    vec![
        ("levels", none(ChartPanel::Levels(levels))),
        ("bars", none(ChartPanel::Bars(BarChart { axis: axis(), ..BarChart::default() }))),
        ("kiviat", none(ChartPanel::Kiviat(KiviatChart::default()))),
        ("matrix", none(ChartPanel::Matrix(matrix))),
        ("network", none(ChartPanel::Network(NetworkChart { axis: axis(), ..NetworkChart::default() }))),
        ("scatter", none(ChartPanel::Scatter(scatter))),
        ("grid", none(ChartPanel::Grid(StatusGrid::default()))),
        ("portrait", none(ChartPanel::Portrait(portrait))),
        ("table", none(ChartPanel::Table(ChartTable::default()))),
        ("no panels", chart("Empty", "", Vec::new(), Vec::new())),
    ]
}
