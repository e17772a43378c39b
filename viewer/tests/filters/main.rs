//! Compares filters with the same change of plain lists: a filtered source must answer every query
//! as the source of the changed lists.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod conditions;
mod reductions;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tumit_test_support::random_trace::{TracePlans, planned_trace, plans, store};
use tumit_test_support::trace_model::{
    END, ModelContainer, ModelSample, ModelTrace, check, entities, meets, time_range_of,
};
use tumit_viewer::filter::{FilterChain, FilterExpr};
use tumit_viewer::query::{EntityId, StateLaneId, TimelineSource, TypeId, weight};

fn filter(text: &str) -> FilterExpr {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Filters the store of some plans, and compares its answers with the changed lists. Removed
/// entities must be unknown.
fn check_filter(
    plans: &TracePlans,
    (time_range, columns): ((i64, i64), u32),
    text: &str,
    change: impl Fn(&mut ModelTrace),
) -> Result<Arc<dyn TimelineSource>, TestCaseError> {
    let mut world = planned_trace(plans);
    let source = store(&world);
    let filtered = filter(text).apply(&source).map_err(|error| TestCaseError::fail(error.to_string()))?;
    change(&mut world);
    check(&filtered, &world, time_range, columns)?;
    check(&filtered, &world, (-10, END + 10), 3)?;
    let remaining = entities(filtered.as_ref());
    for id in entities(source.as_ref()).difference(&remaining) {
        prop_assert!(filtered.facts(*id).is_err(), "{text}: {id:?} is left out, yet known");
        prop_assert!(filtered.related_entities(*id, 10).is_err(), "{text}: {id:?} is left out, yet related");
    }
    for id in &remaining {
        for related in filtered.related_entities(*id, usize::MAX).unwrap() {
            prop_assert!(remaining.contains(&related), "{text}: {related:?} is left out, yet related to {id:?}");
        }
    }
    Ok(filtered)
}

/// The pieces of a step function, computed from its value between each two adjacent timestamps.
fn steps(
    timestamps: impl Iterator<Item = i64>,
    (from, to): (i64, i64),
    value: impl Fn(i64) -> Option<f64>,
) -> Vec<((i64, i64), f64)> {
    let mut edges: BTreeSet<i64> = timestamps.filter(|time| *time > from && *time < to).collect();
    edges.extend([from, to]);
    let edges: Vec<i64> = edges.into_iter().collect();
    let mut pieces: Vec<((i64, i64), f64)> = Vec::new();
    for pair in edges.windows(2) {
        let Some(value) = value(pair[0]) else { continue };
        match pieces.last_mut() {
            Some((life, previous)) if life.1 == pair[0] && *previous == value => life.1 = pair[1],
            _ => pieces.push(((pair[0], pair[1]), value)),
        }
    }
    pieces
}

/// Whether a lifetime contains a timestamp.
fn is_alive(life: (i64, i64), time: i64) -> bool {
    life.0.min(life.1) <= time && time < life.0.max(life.1)
}

fn query_range() -> impl Strategy<Value = ((i64, i64), u32)> {
    (-20..END, 1..END, 1_u32..20).prop_map(|(from, length, columns)| ((from, from + length), columns))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_chain_changes_nothing(plans in plans(), query in query_range()) {
        let world = planned_trace(&plans);
        let source = FilterChain::default().apply(store(&world)).unwrap();
        check(&source, &world, query.0, query.1)?;
    }

    #[test]
    fn value_filters_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "hide value wait, idle of Activity", |world| {
            world.states.retain(|state| state.value == "work");
        })?;
        check_filter(&plans, query, "only value i* of Activity", |world| world.states.retain(|state| state.value == "idle"))?;
        check_filter(&plans, query, "hide value work of Mark", |world| world.events.retain(|event| event.value != "work"))?;
    }

    #[test]
    fn styles_change_nothing_else(plans in plans(), query in query_range()) {
        let world = planned_trace(&plans);
        let plain = store(&world).model();
        for text in ["shape diamond work, wait of Mark", "shape line of Mark", "size 0.3 idle of Activity", "size 2 of Load",
            "size 3 of Message", "size 0.5 *", "color #123456 of Activity", "bright work of Mark"] {
            let filtered = check_filter(&plans, query, text, |_| {})?;
            let mut model = filtered.model().as_ref().clone();
            prop_assert_ne!(&model, plain.as_ref(), "{}", text);
            for (ty, before) in model.types.iter_mut().zip(&plain.types) {
                (ty.style, ty.color) = (before.style, before.color);
            }
            for (value, before) in model.values.iter_mut().zip(&plain.values) {
                (value.style, value.color) = (before.style, before.color);
            }
            prop_assert_eq!(&model, plain.as_ref(), "{}", text);
        }
    }

    #[test]
    fn type_filters_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "hide type Activity, Load", |world| {
            world.states.clear();
            world.samples.clear();
        })?;
        check_filter(&plans, query, "only type Message", |world| {
            world.states.clear();
            world.samples.clear();
            world.events.clear();
        })?;
        check_filter(&plans, query, "hide type Thread", |world| world.retain_containers(&["world", "node 0", "node 1"].map(str::to_owned).into()))?;
    }

    #[test]
    fn container_filters_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "hide container node 0", |world| {
            let mut names: BTreeSet<String> = world.places.iter().map(|place| place.name.clone()).collect();
            for name in world.below("node 0") {
                names.remove(&name);
            }
            world.retain_containers(&names);
        })?;
        check_filter(&plans, query, "only container thread 0", |world| {
            let parent = world.places.iter().find(|place| place.name == "thread 0").unwrap().parent.clone();
            world.retain_containers(&["world".to_owned(), parent, "thread 0".to_owned()].into());
        })?;
        check_filter(&plans, query, "only container node 1/*, node 1", |world| {
            let mut names = world.below("node 1");
            names.insert("world".to_owned());
            world.retain_containers(&names);
        }).or_else(|error| match plans.0.iter().any(|thread| thread.0 == 1) {
            // A node without threads has no container that `node 1/*` matches.
            false => Ok(store(&planned_trace(&plans))),
            true => Err(error),
        })?;
    }

    #[test]
    fn filters_by_duration_and_field_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "only duration >= 30ns of Activity", |world| {
            world.states.retain(|state| state.life.1 - state.life.0 >= 30);
        })?;
        check_filter(&plans, query, "hide duration < 0ns of Message", |world| world.links.retain(|link| link.life.1 >= link.life.0))?;
        check_filter(&plans, query, "only where Bytes > 2 of Message", |world| world.links.retain(|link| link.bytes > 2))?;
        check_filter(&plans, query, "hide where to ~ *thread 0 of Message", |world| {
            world.links.retain(|link| link.ends.1 != "thread 0");
        })?;
        check_filter(&plans, query, "only where value = idle of Activity", |world| {
            world.states.retain(|state| state.value == "idle");
        })?;
    }

    #[test]
    fn time_ranges_equal_changed_lists(plans in plans(), query in query_range(), from in 0_i64..900, length in 1_i64..500) {
        let range = (from, (from + length).min(END));
        check_filter(&plans, query, &format!("cut {}ns..{}ns", range.0, range.1), |world| {
            let clip = |life: (i64, i64)| (life.0.max(range.0), life.1.min(range.1));
            let is_kept = |place: &ModelContainer| place.name == "world" || meets(place.life, range);
            let names = world.places.iter().filter(|place| is_kept(place)).map(|place| place.name.clone()).collect();
            world.retain_containers(&names);
            world.states.retain(|state| meets(state.life, range));
            world.samples.retain(|sample| meets(sample.life, range));
            world.events.retain(|event| (range.0..range.1).contains(&event.timestamp));
            world.links.retain(|link| meets(link.life, range));
            world.places.iter_mut().for_each(|place| place.life = clip(place.life));
            world.states.iter_mut().for_each(|state| state.life = clip(state.life));
            world.samples.iter_mut().for_each(|sample| sample.life = clip(sample.life));
            world.extent = range;
        })?;
    }

    #[test]
    fn classes_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "classify Activity by duration < 20ns, 100ns", |world| {
            for state in world.states.iter_mut().filter(|state| state.ty == "Activity") {
                let class = match state.life.1 - state.life.0 {
                    ..20 => "duration < 20 ns",
                    20..100 => "duration 20 ns to 100 ns",
                    _ => "duration ≥ 100 ns",
                };
                state.value = class.to_owned();
            }
        })?;
        let classified = check_filter(&plans, query, "classify Message by Bytes < 100, 1000", |_| {})?;
        let model = classified.model();
        let message = model.types.iter().find(|ty| ty.name == "Message").unwrap().id;
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for link in classified.links(message, time_range_of((-10, END + 10)), usize::MAX).unwrap().items {
            let facts = classified.facts(link.id).unwrap();
            let bytes: i64 = facts.fields.iter().find(|field| field.0 == "Bytes").unwrap().1.parse().unwrap();
            let class = match bytes {
                ..100 => "Bytes < 100",
                100..1000 => "Bytes 100 to 1000",
                _ => "Bytes ≥ 1000",
            };
            prop_assert_eq!(&facts.name, class);
            prop_assert_eq!(&model.values[link.value.index()].name, class);
            prop_assert!(classified.shows(link.value));
            *expected.entry(class.to_owned()).or_default() += 1;
        }
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        classified
            .link_counts(message, time_range_of((-10, END + 10)), 63, &mut |count| {
                *counted.entry(model.values[count.value.index()].name.clone()).or_default() += count.count;
                Ok(())
            })
            .unwrap();
        prop_assert_eq!(counted, expected);
    }

    #[test]
    fn groups_equal_changed_lists(plans in plans(), query in query_range()) {
        check_filter(&plans, query, "group node * into both", |world| {
            world.places.retain(|place| place.ty != "Node");
            for place in &mut world.places {
                if place.ty == "Thread" {
                    place.parent = "both".to_owned();
                }
            }
            let both = ModelContainer { name: "both".to_owned(), parent: "world".to_owned(), ty: "Node", life: (0, END) };
            world.places.insert(1, both);
        })?;
        // Threads of two nodes become one group in the node of the first thread.
        let first = planned_trace(&plans).places.iter().find(|place| place.ty == "Thread").unwrap().parent.clone();
        check_filter(&plans, query, "group thread * into all", |world| {
            let threads: Vec<ModelContainer> = world.places.iter().filter(|place| place.ty == "Thread").cloned().collect();
            world.places.retain(|place| place.ty != "Thread");
            let life = threads.iter().fold((END, 0), |all, one| (all.0.min(one.life.0), all.1.max(one.life.1)));
            world.places.push(ModelContainer { name: "all".to_owned(), parent: first.clone(), ty: "Thread", life });
            world.states.iter_mut().for_each(|state| state.container = "all".to_owned());
            world.events.iter_mut().for_each(|event| event.container = "all".to_owned());
            world.links.iter_mut().for_each(|link| link.ends = ("all".to_owned(), "all".to_owned()));
            let sampled_threads: BTreeSet<String> = world.samples.iter().map(|sample| sample.container.clone()).collect();
            if sampled_threads.len() > 1 {
                let samples = std::mem::take(&mut world.samples);
                let timestamps = samples.iter().flat_map(|s| [s.life.0, s.life.1]);
                let sum = |time: i64| {
                    let values: Vec<f64> = samples.iter().filter(|s| is_alive(s.life, time)).map(|s| s.value).collect();
                    (!values.is_empty()).then(|| values.iter().sum())
                };
                let pieces = steps(timestamps, (0, END), sum).into_iter();
                world.samples = pieces.map(|(life, value)| ModelSample { container: "all".into(), ty: "Load".into(), life, value }).collect();
            }
            world.samples.iter_mut().for_each(|sample| sample.container = "all".to_owned());
            world.merged = true;
        })?;
    }

    #[test]
    fn reused_rows_contain_one_container_at_a_time(plans in plans(), query in query_range()) {
        let world = planned_trace(&plans);
        let source = store(&world);
        let reused = filter("reuse Thread").apply(&source).unwrap();
        let rows = reused.containers();
        let mut members = BTreeSet::new();
        for row in rows.iter() {
            let within = reused.members(row.id);
            prop_assert!(within.is_sorted_by(|a, b| a.life.to <= b.life.from), "lifetimes overlap");
            members.extend(within.iter().map(|info| info.name.clone()));
            prop_assert_eq!(weight(reused.as_ref(), row.id, TypeId(0)), 1);
        }
        // Per node, there are as few rows as threads exist at the same time.
        for node in ["node 0", "node 1"] {
            let lives: Vec<(i64, i64)> = world.places.iter().filter(|p| p.parent == node).map(|p| p.life).collect();
            let max = lives.iter().map(|life| lives.iter().filter(|other| is_alive(**other, life.0)).count()).max();
            let id = rows.iter().find(|row| row.name == node).unwrap().id;
            prop_assert_eq!(rows.iter().filter(|row| row.parent == id).count(), max.unwrap_or(0));
        }
        let counts = |source: &dyn TimelineSource| {
            let summary = source.summary();
            (summary.states, summary.events, summary.links)
        };
        prop_assert_eq!(counts(reused.as_ref()), counts(source.as_ref()));
        let times = |source: &dyn TimelineSource| {
            let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
            for info in source.containers().iter() {
                for depth in 0..source.depths(info.id, TypeId(3)) {
                    let lane = StateLaneId { container: info.id, ty: TypeId(3), depth };
                    for cell in source.cells(&[lane], time_range_of(query.0), query.1).unwrap().cells {
                        for (value, nanos) in cell.shares {
                            *sums.entry(value.0).or_default() += nanos;
                        }
                    }
                }
            }
            sums
        };
        prop_assert_eq!(times(reused.as_ref()), times(source.as_ref()));
    }

    #[test]
    fn orders_change_nothing_but_the_order(plans in plans(), query in query_range()) {
        let sorted = check_filter(&plans, query, "sort Thread by time wait of Activity descending", |_| {})?;
        let world = planned_trace(&plans);
        let time = |name: &str| -> i64 {
            let waits = world.states.iter().filter(|state| state.container == name && state.value == "wait");
            waits.map(|state| state.life.1 - state.life.0).sum()
        };
        let order = sorted.containers();
        for pair in order.windows(2).filter(|pair| pair[0].parent == pair[1].parent && pair[0].depth == 2) {
            prop_assert!(time(&pair[0].name) >= time(&pair[1].name) || !world.states.iter().any(|s| s.container == pair[0].name));
        }
        let ordered = check_filter(&plans, query, "order node 1, node 0", |_| {})?;
        let nodes: Vec<String> =
            ordered.containers().iter().filter(|info| info.depth == 1).map(|info| info.name.clone()).collect();
        prop_assert_eq!(nodes, ["node 1", "node 0"]);
    }

    #[test]
    fn best_containers_equal_those_of_changed_lists(plans in plans(), query in query_range(), number in 0_usize..4) {
        // The number of messages that a thread sends or receives. Of equal threads, the first in
        // the order of the rows wins.
        let world = planned_trace(&plans);
        let message_count = |name: &str| {
            world.links.iter().filter(|link| link.ends.0 == name || link.ends.1 == name).count()
        };
        let mut threads: Vec<(usize, String)> = world
            .places
            .iter()
            .filter(|place| place.ty == "Thread")
            .map(|place| (message_count(&place.name), place.name.clone()))
            .collect();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.0));
        check_filter(&plans, query, &format!("best {number} Thread by number of Message"), |world| {
            let mut names: BTreeSet<String> = threads.iter().take(number).map(|thread| thread.1.clone()).collect();
            names.extend(["world", "node 0", "node 1"].map(str::to_owned));
            world.retain_containers(&names);
        })?;
        check_filter(&plans, query, "keep Node with number of Message >= 3", |world| {
            let mut names: BTreeSet<String> = ["world".to_owned()].into();
            for node in ["node 0", "node 1"] {
                let below = world.below(node);
                let links = world.links.iter().filter(|l| below.contains(&l.ends.0) || below.contains(&l.ends.1));
                if links.count() >= 3 {
                    names.extend(below);
                }
            }
            world.retain_containers(&names);
        })?;
    }

    #[test]
    fn a_chain_is_one_filter_after_the_other(plans in plans(), query in query_range()) {
        let mut world = planned_trace(&plans);
        let mut chain: FilterChain = ["hide value idle of Activity", "group node * into both", "hide type Load",
            "count of Activity per Node into Busy", "cut 100ns..700ns", "sort Thread by name descending"]
            .map(filter)
            .into_iter()
            .collect();
        let filtered = chain.apply(store(&world)).unwrap();
        let ids = entities(filtered.as_ref());
        for id in &ids {
            prop_assert!(filtered.facts(*id).is_ok(), "{id:?}");
        }
        let count = ids.iter().filter(|id| matches!(id, EntityId::State(_))).count() as u64;
        prop_assert_eq!(filtered.summary().states, count);
        // A filter that is off has no effect.
        chain.filters.iter_mut().for_each(|entry| entry.is_on = entry.filter == filter("hide type Load"));
        world.samples.clear();
        check(&chain.apply(store(&world)).unwrap(), &world, query.0, query.1)?;
    }
}
