//! Measures the cost of the index: ratios to the store in memory, or absolute figures for a trace.
//!
//! ```console
//! $ cargo bench -p tumit-viewer --bench index                      # ratios; quick with -- --smoke
//! $ cargo bench -p tumit-viewer --bench index -- --trace big.tmt   # figures of a trace
//! $ cargo bench -p tumit-viewer --bench index -- --trace big.tmt --there
//! $ cargo bench -p tumit-viewer --bench index -- --trace big.tmt --there --only "few values"
//! ```
//!
//! The figures are those of building and opening the index, images, statistics and links. With
//! `--there`, the index next to the trace is used, and none is built. With `--only`, only the
//! queries with this name are measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tumit_paje::time_range::AlignedTimeRange;
use tumit_paje::{ContainerId, DrawStyle, KeyId, PajeEvent, PajeTypeKind, TypeId, ValueId};
use tumit_test_support::xorshift::XorshiftGenerator;
use tumit_viewer::index::{IndexKey, IndexReader};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{GlobalNanos, StateLaneId, TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::store::TraceStore;
use tumit_viewer::{IndexChoice, OpenOptions, make_index};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value_of =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let only = value_of("--only").map_or("", String::as_str);
    match value_of("--trace") {
        Some(trace) => print_figures(Path::new(trace), has("--there"), only),
        None => print_ratios(if has("--smoke") { 20_000 } else { 2_000_000 }),
    }
}

/// The shortest of five runs.
fn shortest_run<T>(mut run: impl FnMut() -> T) -> Duration {
    (0..5)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(run());
            begin.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// The shortest duration of a run, and its smallest processor time.
struct RunCost {
    duration: Duration,
    processor_time: Duration,
}

/// As [`shortest_run`], with the smallest processor time of a run, which other work disturbs less.
/// Its resolution is 10 ms, so there are enough runs to measure it.
fn least_work(run: &dyn Fn()) -> RunCost {
    let duration = shortest_run(run);
    let runs = (Duration::from_millis(500).as_nanos() / duration.as_nanos().max(1)).clamp(1, 50) as u32;
    let work = (0..2).map(|_| {
        let before = processor_time();
        (0..runs).for_each(|_| run());
        (processor_time() - before) / runs
    });
    RunCost { duration, processor_time: work.min().unwrap_or_default() }
}

/// Sixteen threads, half with 5 values and half with 1,000; a link for every ten states.
fn events(states: u64) -> Vec<PajeEvent<'static>> {
    let (thread, activity, message) = (TypeId(1), TypeId(2), TypeId(3));
    let define = |ty, kind, parent| PajeEvent::DefineType {
        ty,
        kind,
        parent,
        name: "type",
        color: None,
        style: DrawStyle::NONE,
    };
    let mut events = vec![
        define(thread, PajeTypeKind::Container, TypeId::ROOT),
        define(activity, PajeTypeKind::State, thread),
        define(message, PajeTypeKind::Link { start: thread, end: thread }, TypeId::ROOT),
    ];
    events.extend((0..=1000).map(|value| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: if value < 1000 { activity } else { message },
        name: "value",
        color: None,
        style: DrawStyle::NONE,
        category: None,
    }));
    let (mut random, mut now) = (XorshiftGenerator(1), 0);
    events.extend((1..=16).map(|container| PajeEvent::CreateContainer {
        time: GlobalNanos(0),
        container: ContainerId(container),
        ty: thread,
        parent: ContainerId::ROOT,
        name: "thread",
        extra: &[],
    }));
    for step in 0..states {
        now += random.below(2_000) as i64;
        let (time, container) = (GlobalNanos(now), ContainerId(1 + random.below(16) as u32));
        let values = if container.0 % 2 == 0 { 5 } else { 1000 };
        let value = ValueId(random.below(values) as u32);
        events.push(PajeEvent::SetState { time, container, ty: activity, value, extra: &[], source: None });
        if step % 10 == 0 {
            let (holder, ty, value, key) = (ContainerId::ROOT, message, ValueId(1000), KeyId(step));
            let late = GlobalNanos(now + 1 + random.below(20_000) as i64);
            let (extra, source, start, end): (&[_], _, _, _) = (&[], None, container, ContainerId(1));
            events.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
            events.push(PajeEvent::EndLink { time: late, container: holder, ty, value, end, key, extra, source });
        }
    }
    events
}

/// Prints the costs of the index relative to the store.
fn print_ratios(states: u64) {
    let events = events(states);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, key) = (folder.path().join("bench.tmtx"), IndexKey::default());
    let index_time =
        shortest_run(|| IndexReader::write_events(&path, key, "bench", events.iter().copied()).expect("room for it"));
    let store_time = shortest_run(|| TraceStore::from_events("bench", events.iter().copied()));
    let index = IndexReader::map_file(&path, key).expect("it was just written");
    let store = TraceStore::from_events("bench", events);
    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    println!("{states} states, {} links: {bytes} bytes", index.summary().links);
    let print_ratio = |name: &str, index: Duration, store: Duration| {
        println!(
            "{name:40} index {index:>10.1?}  store {store:>10.1?}  ratio {:.2}",
            index.as_secs_f64() / store.as_secs_f64()
        );
    };
    print_ratio("making", index_time, store_time);
    let extent = index.summary().extent;
    let hundredth =
        TimeRange { from: GlobalNanos(extent.to.0 / 3), to: GlobalNanos(extent.to.0 / 3 + extent.to.0 / 100) };
    for (values, odd) in [(5, 0), (1000, 1)] {
        let lane = |container| StateLaneId { container: ContainerId(container), ty: TypeId(2), depth: 0 };
        let lanes: Vec<StateLaneId> = (1..=16).filter(|container| container % 2 == odd).map(lane).collect();
        for (name, time_range, columns) in
            [("whole", extent, 1600), ("a hundredth", hundredth, 1600), ("statistics", hundredth, 1)]
        {
            let measure = |source: &dyn TimelineSource| shortest_run(|| source.cells(&lanes, time_range, columns));
            print_ratio(&format!("{values} values, {name}, {columns} columns"), measure(&index), measure(&store));
        }
    }
    for (name, limit) in [("links counted", 0), ("links, first 5,000", 5_000)] {
        let measure = |source: &dyn TimelineSource| shortest_run(|| source.links(TypeId(3), hundredth, limit));
        print_ratio(name, measure(&index), measure(&store));
    }
}

/// A size from the process status, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_matches([':', ' ', '\t']).trim_end_matches(" kB").trim().parse().unwrap_or(0) * 1024
}

/// Processor time of all threads of this process so far.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain blanks. The times are fields 14 and 15, in hundredths
    // of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Draws the whole trace, as a command or page does first. Returns the number of primitives.
fn draw_first_image(source: &dyn TimelineSource) -> usize {
    let outline = ContainerOutline::new(source).expect("the trace is whole");
    let time_range = source.extent();
    let options = DocumentOptions { time_range, width: 1600.0, height: Some(900.0), resolution: 1.0, titles: false };
    let scene = document(source, &outline, &LayoutOptions::default(), options).expect("the trace is whole");
    scene.items.len()
}

/// Removes a file from the system's page cache.
fn drop_cached_pages(path: &Path) {
    let file = std::fs::File::open(path).expect("it is there");
    let _ = file.sync_all();
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
}

/// Opens and draws the trace, cold and warm.
fn measure_opening(trace: &Path, options: &OpenOptions, index_path: &Path, few: &[StateLaneId]) {
    for (name, cold) in [("cold", true), ("warm", false)] {
        if cold {
            drop_cached_pages(index_path);
        }
        let begin = Instant::now();
        let source = tumit_viewer::open(trace, options).expect("it was just made");
        let opened = begin.elapsed();
        let cells = source.cells(few, source.extent(), 1600).map_or(0, |cells| cells.cells.len());
        println!("{name}: opened in {opened:.1?}, with {cells} cells of few values in {:.1?}", begin.elapsed());
        if cold {
            drop(source);
            drop_cached_pages(index_path);
        }
        let (begin, before) = (Instant::now(), processor_time());
        let source = tumit_viewer::open(trace, options).expect("it was just made");
        let items = draw_first_image(source.as_ref());
        let (duration, work) = (begin.elapsed(), processor_time() - before);
        println!(
            "{name}: opened, with the image of all rows ({items} primitives), in {duration:.1?}, {work:.1?} of processor time"
        );
    }
}

/// Prints the costs of the index of a trace.
fn print_figures(trace: &Path, is_there: bool, only: &str) {
    let mut options = OpenOptions::default();
    if !is_there {
        let index_path = trace.with_extension("bench.tmtx");
        // An index of an earlier run, if there is one.
        let _ = std::fs::remove_file(&index_path);
        options.index = IndexChoice::At(index_path);
    }
    let index_path = build_index(trace, &options);
    let source = tumit_viewer::open(trace, &options).expect("it was just made");
    let lanes = LanesByValues::of(source.as_ref());
    drop(source);
    if "opened".contains(only) {
        measure_opening(trace, &options, &index_path, &lanes.few);
    }
    let source = tumit_viewer::open(trace, &options).expect("it was just made");
    measure_lanes(source.as_ref(), &lanes, only);
    measure_links(source.as_ref());
}

/// Builds the index of a trace, or takes the one that exists. Prints its size and, if it was built,
/// the costs. Returns its path.
fn build_index(trace: &Path, options: &OpenOptions) -> PathBuf {
    let (begin, before) = (Instant::now(), processor_time());
    let index = make_index(trace, options).expect("a trace");
    let (duration, summary) = (begin.elapsed(), &index.summary);
    let entities = summary.states + summary.events + summary.links + summary.samples;
    println!(
        "states {}, events {}, links {}, samples {}",
        summary.states, summary.events, summary.links, summary.samples
    );
    println!(
        "index {} bytes: {:.2} per entity, {:.2} per state",
        index.bytes,
        index.bytes as f64 / entities as f64,
        index.bytes as f64 / summary.states as f64
    );
    if !index.was_there {
        let rate = entities as f64 / duration.as_secs_f64() / 1e6;
        let work = processor_time() - before;
        let work_rate = entities as f64 / work.as_secs_f64() / 1e6;
        println!("made in {duration:.1?}: {rate:.2} million entities a second; at most {} MB", status("VmHWM") >> 20);
        println!("{work:.1?} of processor time: {work_rate:.2} million entities a second of it");
    }
    index.path.clone()
}

/// Lanes of states: those of types with few values, those of types with many values, and all.
struct LanesByValues {
    few: Vec<StateLaneId>,
    many: Vec<StateLaneId>,
    all: Vec<StateLaneId>,
}

impl LanesByValues {
    fn of(source: &dyn TimelineSource) -> Self {
        let model = source.model();
        let mut lanes: Vec<(usize, StateLaneId)> = Vec::new();
        for container in source.containers().iter() {
            for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
                let values = model.values.iter().filter(|value| value.ty == ty.id).count();
                let (container, ty) = (container.id, ty.id);
                let depths = source.depths(container, ty);
                lanes.extend((0..depths).map(|depth| (values, StateLaneId { container, ty, depth })));
            }
        }
        let select = |has_values: &dyn Fn(usize) -> bool, limit: usize| {
            lanes.iter().filter(|lane| has_values(lane.0)).map(|lane| lane.1).take(limit).collect()
        };
        let (few, many) = (select(&|values| values <= 16, 64), select(&|values| values > 16, 64));
        Self { few, many, all: select(&|_| true, 1024) }
    }
}

/// A time range that begins in the middle of a trace and lasts `1 / share` of it.
fn inner_range(source: &dyn TimelineSource, share: i64) -> TimeRange {
    let extent = source.summary().extent;
    let length = extent.to.0 - extent.from.0;
    let from = extent.from.0 + length / 3;
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + length / share) }
}

/// Prints the costs of images and statistics of lanes.
fn measure_lanes(source: &dyn TimelineSource, lanes: &LanesByValues, only: &str) {
    let measure = |name: &str, run: &dyn Fn()| {
        if name.contains(only) {
            let RunCost { duration, processor_time } = least_work(run);
            println!("{name}: {duration:.1?}, {processor_time:.1?} of processor time");
        }
    };
    let extent = source.summary().extent;
    let all = &lanes.all[..lanes.all.len().min(900)];
    for (kind, lanes) in [("few values", &lanes.few[..]), ("many values", &lanes.many), ("all", all)] {
        let ranges = [inner_range(source, 100), inner_range(source, 10_000)];
        for (part, range) in [("whole", extent), ("a hundredth", ranges[0]), ("a ten-thousandth", ranges[1])] {
            let name = format!("{} lanes of {kind} × 1,600 columns, {part}", lanes.len());
            measure(&name, &|| drop(source.cells(lanes, range, 1600)));
            let AlignedTimeRange { range: around, columns, .. } = range.align_to_columns(1600);
            let name =
                format!("  the 8 largest shares of {} lanes of {kind}, × {columns} aligned columns", lanes.len());
            measure(&name, &|| drop(source.largest_shares(lanes, around, columns, 8)));
        }
    }
    let (all, range) = (&lanes.all, inner_range(source, 3));
    measure(&format!("time per value of {} lanes", all.len()), &|| drop(source.cells(all, range, 1)));
    measure("  of all lanes together", &|| drop(source.times(all, range)));
}

/// Prints the costs of counting and listing links.
fn measure_links(source: &dyn TimelineSource) {
    let extent = source.summary().extent;
    let margin = (extent.to.0 - extent.from.0) / 50;
    let third = inner_range(source, 3);
    let inner = TimeRange { from: GlobalNanos(extent.from.0 + margin), to: GlobalNanos(extent.to.0 - margin) };
    for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        for range in [third, inner] {
            let total = source.links(ty.id, range, 0).map_or(0, |links| links.total);
            println!("{total} links counted: {:.1?}", shortest_run(|| source.links(ty.id, range, 0)));
        }
        println!("first 5,000 of them: {:.1?}", shortest_run(|| source.links(ty.id, third, 5_000)));
    }
}
