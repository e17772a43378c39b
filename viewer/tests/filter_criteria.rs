//! Criteria for choosing containers. Each statistic is compared with one that the test computes
//! from the written entities.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a failure is the test's result; small numbers")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use tumit_viewer::filter::{FilterChain, FilterError, FilterExpr};
use tumit_viewer::query::TimelineSource;
use tumit_viewer::store::TraceStore;
use tumit_viewer::style::theme::ThemeKind;

const HEADER: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEventType 3
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 4
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 5
% Time date
% Name string
% Type string
% Container string
%EndEventDef
%EventDef PajeSetState 6
% Time date
% Type string
% Container string
% Value string
% Work int
%EndEventDef
%EventDef PajeSetVariable 7
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeStartLink 8
% Time date
% Type string
% Container string
% Value string
% StartContainer string
% Key string
% Bytes int
%EndEventDef
%EventDef PajeEndLink 9
% Time date
% Type string
% Container string
% Value string
% EndContainer string
% Key string
%EndEventDef
%EventDef PajeDestroyContainer 10
% Time date
% Type string
% Name string
%EndEventDef
0 N 0 Node
0 T N Thread
1 S T Activity
2 V T Load
4 L 0 T T Message
";

const END: i64 = 1000;

/// The written entities. Times are in microseconds.
#[derive(Default)]
struct WrittenTrace {
    text: String,
    /// Thread, value, start, end, work.
    states: Vec<(usize, &'static str, i64, i64, i64)>,
    /// Thread, start, end, value.
    loads: Vec<(usize, i64, i64, f64)>,
    /// From, to, start, end, bytes.
    links: Vec<(usize, usize, i64, i64, i64)>,
}

const THREADS: usize = 6;

fn seconds(micros: i64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn random_trace(seed: u64) -> WrittenTrace {
    let mut state = seed;
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 40).unwrap() % below
    };
    let mut trace = WrittenTrace { text: HEADER.to_owned(), ..WrittenTrace::default() };
    let mut lines: Vec<(i64, String)> = Vec::new();
    for node in 0..2 {
        lines.push((0, format!("5 {} n{node} N 0", seconds(0))));
    }
    for thread in 0..THREADS {
        lines.push((0, format!("5 {} t{thread} T n{}", seconds(0), thread % 2)));
        let mut time = 0;
        while time < END {
            let (end, work) = ((time + 1 + random(120)).min(END), random(1000));
            let value = ["run", "wait", "idle"][usize::try_from(random(3)).unwrap()];
            trace.states.push((thread, value, time, end, work));
            lines.push((time, format!("6 {} S t{thread} {value} {work}", seconds(time))));
            time = end;
        }
        let mut at = random(50);
        while at < END {
            let (end, value) = ((at + 1 + random(200)).min(END), random(100));
            trace.loads.push((thread, at, end, value as f64));
            lines.push((at, format!("7 {} V t{thread} {value}", seconds(at))));
            at = end;
        }
    }
    for key in 0..40 {
        let (from, to) = (usize::try_from(random(6)).unwrap(), usize::try_from(random(6)).unwrap());
        let (start, bytes) = (random(END - 100), random(10_000));
        let end = start + 1 + random(90);
        trace.links.push((from, to, start, end, bytes));
        lines.push((start, format!("8 {} L 0 m t{from} k{key} {bytes}", seconds(start))));
        lines.push((end, format!("9 {} L 0 m t{to} k{key}", seconds(end))));
    }
    lines.sort_by_key(|line| line.0);
    lines.push((END, format!("10 {} N n0\n10 {0} N n1", seconds(END))));
    for (_, line) in lines {
        writeln!(trace.text, "{line}").unwrap();
    }
    trace
}

/// The containers at a depth after a filter.
fn remaining(source: &Arc<dyn TimelineSource>, filter: &str, depth: u32) -> Vec<String> {
    let chain: FilterChain =
        [filter.parse::<FilterExpr>().unwrap_or_else(|error| panic!("{filter}: {error}"))].into_iter().collect();
    let filtered = chain.apply(Arc::clone(source)).unwrap_or_else(|error| panic!("{filter}: {error}"));
    filtered.containers().iter().filter(|info| info.depth == depth).map(|info| info.name.clone()).collect()
}

/// A statistic of each thread, and of each node with its threads.
fn statistics(of: impl Fn(&[usize]) -> Option<f64>) -> BTreeMap<String, Option<f64>> {
    let threads = (0..THREADS).map(|thread| (format!("t{thread}"), vec![thread]));
    let nodes = (0..2).map(|node| (format!("n{node}"), (0..THREADS).filter(|thread| thread % 2 == node).collect()));
    threads.chain(nodes).map(|(name, members): (String, Vec<usize>)| (name, of(&members))).collect()
}

/// For each two adjacent numbers, `keep` with a limit between them keeps the larger ones.
fn check(source: &Arc<dyn TimelineSource>, key: &str, is_time: bool, of: impl Fn(&[usize]) -> Option<f64>) {
    let statistics = statistics(of);
    let mut numbers: Vec<f64> = statistics.values().copied().flatten().collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    assert!(numbers.len() > 1, "{key}: {numbers:?}");
    for pair in numbers.windows(2) {
        let between = pair[0].midpoint(pair[1]);
        let limit = if is_time { format!("{between:.0}ns") } else { between.to_string() };
        for (ty, depth) in [("Thread", 2), ("Node", 1)] {
            let expected = statistics.iter().filter(|(name, number)| {
                name.starts_with(ty.to_lowercase().chars().next().unwrap())
                    && number.is_some_and(|number| number > between)
            });
            let expected: Vec<String> = expected.map(|(name, _)| name.clone()).collect();
            let mut found = remaining(source, &format!("keep {ty} with {key} > {limit}"), depth);
            found.sort();
            assert_eq!(found, expected, "keep {ty} with {key} > {limit}: {statistics:?}");
        }
    }
}

/// Durations of the states of some threads in nanoseconds, sorted.
fn durations(trace: &WrittenTrace, members: &[usize], value: Option<&str>) -> Vec<i64> {
    let states = trace.states.iter().filter(|state| members.contains(&state.0));
    let states = states.filter(|state| value.is_none_or(|value| state.1 == value));
    let mut durations: Vec<i64> = states.map(|state| 1000 * (state.3 - state.2)).collect();
    durations.sort_unstable();
    durations
}

/// Durations and sizes of the links that have an endpoint in one of some threads. A link with both
/// endpoints there counts once.
fn links(trace: &WrittenTrace, members: &[usize]) -> (Vec<i64>, Vec<i64>) {
    let links = trace.links.iter().filter(|link| members.contains(&link.0) || members.contains(&link.1));
    links.map(|link| (1000 * (link.3 - link.2), link.4)).unzip()
}

/// The number with this rank in a sorted list.
fn quantile(sorted: &[i64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0);
    sorted.get(rank as usize - 1).map(|number| *number as f64)
}

fn sum(numbers: &[i64]) -> f64 {
    numbers.iter().sum::<i64>() as f64
}

fn mean(numbers: &[i64]) -> f64 {
    sum(numbers) / numbers.len() as f64
}

fn check_statistics_of_states(source: &Arc<dyn TimelineSource>, trace: &WrittenTrace) {
    let waits = |members: &[usize]| durations(trace, members, Some("wait"));
    let share = |members: &[usize]| Some(sum(&waits(members)) / (1000 * END) as f64 / members.len() as f64);
    check(source, "share wait of Activity", false, share);
    // No states are nested here, so self time equals total time.
    check(source, "self share wait of Activity", false, share);
    check(source, "self time wait of Activity", true, |members| Some(sum(&waits(members))));
    for (word, share) in [("shortest", 0.0), ("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("longest", 1.0)] {
        check(source, &format!("{word} wait of Activity"), true, |members| quantile(&waits(members), share));
    }
    check(source, "duration of Activity", true, |members| Some(mean(&durations(trace, members, None))));
    let work = |members: &[usize]| -> Vec<i64> {
        trace.states.iter().filter(|state| members.contains(&state.0)).map(|state| state.4).collect()
    };
    check(source, "sum Work of Activity", false, |members| Some(sum(&work(members))));
    check(source, "average work of Activity", false, |members| Some(mean(&work(members))));
    check(source, "integral of Load", false, |members| {
        let loads = trace.loads.iter().filter(|load| members.contains(&load.0));
        Some(loads.map(|load| (load.2 - load.1) as f64 * 1e-6 * load.3).sum())
    });
}

fn check_statistics_of_links(source: &Arc<dyn TimelineSource>, trace: &WrittenTrace) {
    check(source, "sent of Message", false, |members| {
        Some(trace.links.iter().filter(|link| members.contains(&link.0)).count() as f64)
    });
    check(source, "received Bytes of Message", false, |members| {
        Some(trace.links.iter().filter(|link| members.contains(&link.1)).map(|link| link.4).sum::<i64>() as f64)
    });
    let durations = |members: &[usize]| {
        let mut durations = links(trace, members).0;
        durations.sort_unstable();
        durations
    };
    check(source, "sum Bytes of Message", false, |members| Some(sum(&links(trace, members).1)));
    check(source, "mean Bytes of Message", false, |members| Some(mean(&links(trace, members).1)));
    check(source, "duration of Message", true, |members| Some(mean(&durations(members))));
    for (word, share) in [("median", 0.5), ("p90", 0.9), ("longest", 1.0)] {
        check(source, &format!("{word} of Message"), true, |members| quantile(&durations(members), share));
    }
}

#[test]
fn every_statistic_equals_that_of_the_entities() {
    for seed in 1..6 {
        let trace = random_trace(seed);
        let source: Arc<dyn TimelineSource> = Arc::new(TraceStore::from_paje("t", trace.text.as_bytes()).unwrap());
        assert_eq!(source.summary().diagnostics, []);
        check_statistics_of_states(&source, &trace);
        check_statistics_of_links(&source, &trace);
    }
}

#[test]
fn containers_of_entities_are_named_by_name_or_end_of_path() {
    let trace = random_trace(9);
    let source: Arc<dyn TimelineSource> = Arc::new(TraceStore::from_paje("t", trace.text.as_bytes()).unwrap());
    let states_of = |filter: &str| {
        let chain: FilterChain = [filter.parse::<FilterExpr>().unwrap()].into_iter().collect();
        chain.apply(Arc::clone(&source)).map(|source| source.summary())
    };
    let of_thread = |thread: usize| trace.states.iter().filter(|one| one.0 == thread).count() as u64;
    for name in ["t3", "n1/t3", "\"n1 › t3\""] {
        assert_eq!(
            states_of(&format!("only where container = {name} of Activity")).unwrap().states,
            of_thread(3),
            "{name}"
        );
    }
    assert_eq!(
        states_of("only where container ~ n1/* of Activity").unwrap().states,
        [1, 3, 5].map(of_thread).iter().sum::<u64>()
    );
    let others: u64 = (0..THREADS).filter(|thread| *thread != 3).map(of_thread).sum();
    assert_eq!(states_of("only where container != t3 of Activity").unwrap().states, others);
    let link_count = |of: fn(&(usize, usize, i64, i64, i64)) -> usize, thread| {
        trace.links.iter().filter(|link| of(link) == thread).count() as u64
    };
    for (field, of) in [("from", (|link| link.0) as fn(&(usize, usize, i64, i64, i64)) -> usize), ("to", |link| link.1)]
    {
        for name in ["t2", "n0/t2"] {
            assert_eq!(
                states_of(&format!("only where {field} = {name} of Message")).unwrap().links,
                link_count(of, 2),
                "{field} {name}"
            );
        }
    }
    // A field that no entity has is an error.
    let error = states_of("only where Byte > 3 of Message").unwrap_err();
    assert!(matches!(error.error, FilterError::NoMatch { .. }) && error.to_string().contains("Bytes"), "{error}");
    assert!(states_of("only where from = t2 of Activity").is_err());
    let error = states_of("only where container = n7 of Activity").unwrap_err();
    assert!(error.to_string().contains("no container is called `n7`"), "{error}");
    assert!(states_of("only where to = n0/t7 of Message").is_err());
    assert!(states_of("sort Thread by time of Message").is_err());
    assert!(states_of("sort Thread by sum Byte of Message").is_err());
}

#[test]
fn shares_of_counts_over_a_group_relate_to_the_group() {
    let source: Arc<dyn TimelineSource> =
        Arc::new(TraceStore::from_paje("t", random_trace(3).text.as_bytes()).unwrap());
    for first in ["group t0, t1, t2 into some", "group n0, n1 into some", "reuse Thread"] {
        let per = if first.contains("n0") { "Node" } else { "Thread" };
        for count in
            ["count of Activity per PER into state Running", "count run of Activity per PER into state Running"]
        {
            let count = count.replace("PER", per);
            let chain: FilterChain =
                [first, count.as_str()].map(|text| text.parse::<FilterExpr>().unwrap()).into_iter().collect();
            let filtered = chain.apply(Arc::clone(&source)).unwrap();
            let model = filtered.model();
            let ty = model.types.iter().find(|ty| ty.name == "Running").unwrap().id;
            let extent = filtered.extent();
            let outline = tumit_viewer::layout::ContainerOutline::new(filtered.as_ref()).unwrap();
            let legend = tumit_viewer::scene::legend(
                filtered.as_ref(),
                &outline,
                extent,
                tumit_viewer::style::theme::ColorTheme::new(ThemeKind::Light),
            )
            .unwrap();
            let group = legend.iter().find(|group| group.name == "Running").unwrap();
            let containers: Vec<_> = filtered
                .containers()
                .iter()
                .filter(|info| filtered.depths(info.id, ty) > 0)
                .map(|info| info.id)
                .collect();
            assert!(!containers.is_empty(), "{first} {count}");
            let times = tumit_viewer::stats::times(filtered.as_ref(), &containers, ty, extent).unwrap();
            let shares: f64 = times.values.iter().map(|value| value.share).sum();
            // There is exactly one state at any time.
            assert!((shares - 1.0).abs() < 1e-9 && times.stateless_time == 0, "{first} {count}: {times:?}");
            for entry in &group.entries {
                let found =
                    times.values.iter().find(|time| Some(time.value.0) == entry.value).map_or(0.0, |time| time.share);
                assert!((found - entry.share.unwrap()).abs() < 1e-9, "{first} {count}: {} {found}", entry.name);
            }
        }
    }
}
