//! Compares statistics with plain lists, for traces and for groups.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_test_support::random_trace::{planned_trace, plans, store};
use tumit_test_support::trace_model::{meets, time_range_of};
use tumit_viewer::filter::FilterExpr;
use tumit_viewer::query::TimelineSource;
use tumit_viewer::stats::{RowGrouping, StatsRow, table, to_csv};
use tumit_viewer::store::TraceStore;

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs().max(1.0),
        (a, b) => a == b,
    }
}

/// The smallest duration that the given share of all durations does not exceed, in seconds.
fn quantile(durations: &[i64], share: f64) -> Option<f64> {
    let enough =
        |nanos: i64| durations.iter().filter(|d| **d <= nanos).count() as f64 >= share * durations.len() as f64;
    durations.iter().copied().filter(|nanos| enough(*nanos)).min().map(|nanos| nanos as f64 / 1e9)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_all_kinds_equal_those_of_the_entities(plans in plans(), from in -50_i64..900, length in 1_i64..1200, grouped in any::<bool>()) {
        let world = planned_trace(&plans);
        let time_range = (from, from + length);
        let mut source = store(&world);
        if grouped {
            // Sums over all containers do not depend on grouping.
            source = "group thread * into all".parse::<FilterExpr>().unwrap().apply(&source).unwrap();
        }
        let rows = table(source.as_ref(), time_range_of(time_range), RowGrouping::Value, None).unwrap();
        let rows_of = |kind: &str| rows.iter().filter(|row| row.kind == kind).collect::<Vec<&StatsRow>>();
        let containers_with_states: Vec<&String> = {
            let mut names: Vec<&String> = world.states.iter().map(|state| &state.container).collect();
            names.sort();
            names.dedup();
            names
        };
        let existence: i64 = world
            .places
            .iter()
            .filter(|place| if grouped { place.ty == "Thread" && !containers_with_states.is_empty() } else { containers_with_states.contains(&&place.name) })
            .map(|place| (place.life.1.min(time_range.1) - place.life.0.max(time_range.0)).max(0))
            .sum();
        let mut states: BTreeMap<&str, (i64, Vec<i64>)> = BTreeMap::new();
        // Self time: without the states inside. Total time: without states inside others of the
        // same value.
        let mut self_times: BTreeMap<&str, i64> = BTreeMap::new();
        for state in world.states.iter().filter(|state| meets(state.life, time_range)) {
            let times = states.entry(&state.value).or_default();
            let within = |life: (i64, i64)| (life.1.min(time_range.1) - life.0.max(time_range.0)).max(0);
            let mut outer = world.states.iter().filter(|outer| {
                state.depth == 1 && outer.depth == 0 && outer.container == state.container && outer.life.0 <= state.life.0
                    && state.life.1 <= outer.life.1 && outer.life.0 < outer.life.1
            });
            let outer = if within(state.life) > 0 { outer.next_back() } else { None };
            times.0 += if outer.is_some_and(|outer| outer.value == state.value) { 0 } else { within(state.life) };
            *self_times.entry(&state.value).or_default() += within(state.life);
            if let Some(outer) = outer {
                *self_times.entry(&outer.value).or_default() -= within(state.life);
            }
            times.1.push(state.life.1 - state.life.0);
        }
        prop_assert_eq!(rows_of("state").len(), states.len());
        for row in rows_of("state") {
            let (time, durations) = &states[row.value.as_deref().unwrap()];
            prop_assert_eq!(row.count, Some(durations.len() as u64));
            prop_assert!(close(row.time, Some(*time as f64 / 1e9)));
            let self_time = self_times.get(row.value.as_deref().unwrap()).copied().unwrap_or(0);
            prop_assert!(close(row.self_time, Some(self_time as f64 / 1e9)), "{:?} {self_time}", row);
            let share = if existence > 0 { *time as f64 / existence as f64 } else { 0.0 };
            prop_assert!(close(row.share, Some(share)), "{:?} {share}", row);
            prop_assert!(close(row.duration_min, quantile(durations, 0.0)));
            prop_assert!(close(row.duration_median, quantile(durations, 0.5)));
            prop_assert!(close(row.duration_p99, quantile(durations, 0.99)));
            prop_assert!(close(row.duration_max, quantile(durations, 1.0)));
            let mean = durations.iter().sum::<i64>() as f64 / durations.len() as f64 / 1e9;
            prop_assert!(close(row.duration_mean, Some(mean)));
        }
        let events: u64 = rows_of("event").iter().filter_map(|row| row.count).sum();
        let expected = world.events.iter().filter(|event| (time_range.0..time_range.1).contains(&event.timestamp)).count();
        prop_assert_eq!(events, expected as u64);
        let links: Vec<_> = world.links.iter().filter(|link| meets(link.life, time_range)).collect();
        prop_assert_eq!(rows_of("link").len(), usize::from(!links.is_empty()));
        for row in rows_of("link") {
            prop_assert_eq!(row.count, Some(links.len() as u64));
            prop_assert!(close(row.size, Some(links.iter().map(|link| link.bytes).sum::<i64>() as f64)));
        }
        prop_assert_eq!(to_csv(&rows).lines().count(), rows.len() + 1);
    }

    #[test]
    fn rows_of_containers_and_pairs_equal_those_of_the_entities(plans in plans(), from in -50_i64..900, length in 1_i64..1200) {
        let world = planned_trace(&plans);
        let time_range = (from, from + length);
        let rows = table(store(&world).as_ref(), time_range_of(time_range), RowGrouping::Container, None).unwrap();
        let last = |path: &Option<String>| path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap().to_owned();
        let mut matrix: BTreeMap<(String, String), (u64, f64)> = BTreeMap::new();
        for link in world.links.iter().filter(|link| meets(link.life, time_range)) {
            let one = matrix.entry(link.ends.clone()).or_default();
            *one = (one.0 + 1, one.1 + link.bytes as f64);
        }
        let sums: BTreeMap<(String, String), (u64, f64)> = rows
            .iter()
            .filter(|row| row.kind == "link")
            .map(|row| ((last(&row.container), last(&row.to)), (row.count.unwrap(), row.size.unwrap())))
            .collect();
        prop_assert_eq!(sums, matrix);
        for row in rows.iter().filter(|row| row.kind == "variable") {
            let container = last(&row.container);
            let samples: Vec<(i64, i64, f64)> = world
                .samples
                .iter()
                .filter(|s| s.container == container && meets(s.life, time_range))
                .map(|s| (s.life.0.max(time_range.0), s.life.1.min(time_range.1), s.value))
                .collect();
            let min = samples.iter().map(|s| s.2).fold(f64::INFINITY, f64::min);
            let max = samples.iter().map(|s| s.2).fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!((row.min, row.max), (Some(min), Some(max)));
            let first = |value: f64| samples.iter().find(|s| s.2 == value).map(|s| s.0 as f64 / 1e9);
            prop_assert!(close(row.min_at, first(min)), "{:?} {:?}", row, samples);
            prop_assert!(close(row.max_at, first(max)), "{:?} {:?}", row, samples);
        }
        let containers = world.places.iter().filter(|p| world.samples.iter().any(|s| s.container == p.name && meets(s.life, time_range)));
        prop_assert_eq!(rows.iter().filter(|row| row.kind == "variable").count(), containers.count());
    }
}

#[test]
fn names_with_commas_and_quotes_are_one_cell_of_csv() {
    let row =
        StatsRow { kind: "state", ty: "a, \"b\"".to_owned(), count: Some(3), time: Some(0.5), ..StatsRow::default() };
    let text = to_csv(&[row]);
    assert_eq!(text.lines().nth(1), Some("state,\"a, \"\"b\"\"\",,,,3,0.5,,,,,,,,,,,,,,,,,,,,,,"));
    assert_eq!(text.lines().next().map(|head| head.split(',').count()), Some(29));
}

#[test]
fn centuries_of_many_containers_are_added_up() {
    // 600 hosts for a year have twice as many nanoseconds as fit into 64 bits.
    let mut text =
        format!("{}0 H 0 Host\n2 S H State\n5 on S on \"0 1 0\"\n5 off S off \"1 0 0\"\n", include_str!("header.paje"));
    let year = 31_536_000;
    for host in 0..600 {
        writeln!(text, "6 0 h{host} 0 H h{host}\n11 0 h{host} S on\n11 {} h{host} S off", year / 4).unwrap();
    }
    writeln!(text, "7 {year} H h0").unwrap();
    let store: Arc<dyn TimelineSource> = Arc::new(TraceStore::from_paje("hosts", text.as_bytes()).unwrap());
    let grouped = "group h* into All".parse::<FilterExpr>().unwrap().apply(&store).unwrap();
    for (source, what) in [(&store, "hosts"), (&grouped, "their group")] {
        let time_range = source.extent();
        for by in [RowGrouping::Value, RowGrouping::Type, RowGrouping::Container] {
            let rows = table(source.as_ref(), time_range, by, None).unwrap();
            let (time, share) = rows.iter().fold((0.0, 0.0), |(time, share), row| {
                (time + row.time.unwrap_or(0.0), share + row.share.unwrap_or(0.0))
            });
            let containers = if by == RowGrouping::Container && what == "hosts" { 600.0 } else { 1.0 };
            assert!((time / (600.0 * f64::from(year)) - 1.0).abs() < 1e-9, "{what}, {by:?}: {time} s");
            assert!((share / containers - 1.0).abs() < 1e-9, "{what}, {by:?}: {share}");
        }
        let outline = tumit_viewer::layout::ContainerOutline::new(source.as_ref()).unwrap();
        let theme = tumit_viewer::style::theme::ColorTheme::new(tumit_viewer::style::theme::ThemeKind::Light);
        let legend = tumit_viewer::scene::legend(source.as_ref(), &outline, time_range, theme).unwrap();
        let shares: Vec<f64> = legend[0].entries.iter().filter_map(|entry| entry.share).collect();
        assert!((shares[0] - 0.25).abs() < 1e-9 && (shares[1] - 0.75).abs() < 1e-9, "{what}: {shares:?}");
    }
}

#[test]
fn the_longest_trace_is_counted_to_its_end_and_later_timestamps_are_reported() {
    let far = "4611686018.427387903";
    let text = format!(
        "{}0 H 0 Host\n2 S H State\n3 E H Mark \"0 0 0\"\n5 on S on \"0 1 0\"\n5 m E m \"0 0 0\"\n6 -{far} h 0 H h\n\
         11 -{far} h S on\n17 {far} h E m\n11 6e9 h S on\n11 -6e9 h S on\n7 {far} H h\n",
        include_str!("header.paje")
    );
    let store = TraceStore::from_paje("far", text.as_bytes()).unwrap();
    let rows = table(&store, store.extent(), RowGrouping::Value, None).unwrap();
    let [state] = rows.iter().filter(|row| row.kind == "state").collect::<Vec<_>>()[..] else { panic!("{rows:?}") };
    let all = 9_223_372_036.854_776;
    assert_eq!((state.count, state.share), (Some(1), Some(1.0)));
    assert!(close(state.time, Some(all)) && close(state.duration_max, Some(all)), "{state:?}");
    assert_eq!(rows.iter().filter(|row| row.kind == "event").map(|row| row.count).collect::<Vec<_>>(), [Some(1)]);
    let diagnostics = &store.summary().diagnostics;
    assert!(
        diagnostics.iter()
            .any(|one| one.text.starts_with("2 times, first in line") && one.text.contains("exceeds 146 years (`6e9`)")),
        "{diagnostics:?}"
    );
}
