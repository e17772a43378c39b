//! Compares filters with the same change of plain lists: a filtered source must answer every query
//! as the source of the changed lists.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tumit_test_support::random_trace::{TracePlans, planned_trace, plans, store};
use tumit_test_support::trace_model::{
    END, ModelContainer, ModelLink, ModelSample, ModelState, ModelTrace, check, entities, interval, meets,
};
use tumit_viewer::filter::{FilterChain, FilterExpr};
use tumit_viewer::query::{EntityId, TimelineSource};

fn filter(text: &str) -> FilterExpr {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Filters the store of some plans, and compares its answers with the changed lists. Removed
/// entities must be unknown.
fn checked(
    plans: &TracePlans,
    (window, columns): ((i64, i64), u32),
    text: &str,
    change: impl Fn(&mut ModelTrace),
) -> Result<Arc<dyn TimelineSource>, TestCaseError> {
    let mut world = planned_trace(plans);
    let source = store(&world);
    let filtered = filter(text).apply(&source).map_err(|error| TestCaseError::fail(error.to_string()))?;
    change(&mut world);
    check(&filtered, &world, window, columns)?;
    check(&filtered, &world, (-10, END + 10), 3)?;
    let left = entities(filtered.as_ref());
    for id in entities(source.as_ref()).difference(&left) {
        prop_assert!(filtered.facts(*id).is_err(), "{text}: {id:?} is left out, yet known");
        prop_assert!(filtered.related_entities(*id, 10).is_err(), "{text}: {id:?} is left out, yet related");
    }
    for id in &left {
        for related in filtered.related_entities(*id, usize::MAX).unwrap() {
            prop_assert!(left.contains(&related), "{text}: {related:?} is left out, yet related to {id:?}");
        }
    }
    Ok(filtered)
}

/// The pieces of a step function, computed from its value between each two adjacent timestamps.
fn steps(
    dates: impl Iterator<Item = i64>,
    (from, to): (i64, i64),
    value: impl Fn(i64) -> Option<f64>,
) -> Vec<((i64, i64), f64)> {
    let mut edges: BTreeSet<i64> = dates.filter(|date| *date > from && *date < to).collect();
    edges.extend([from, to]);
    let edges: Vec<i64> = edges.into_iter().collect();
    let mut found: Vec<((i64, i64), f64)> = Vec::new();
    for pair in edges.windows(2) {
        let Some(value) = value(pair[0]) else { continue };
        match found.last_mut() {
            Some((life, before)) if life.1 == pair[0] && *before == value => life.1 = pair[1],
            _ => found.push(((pair[0], pair[1]), value)),
        }
    }
    found
}

fn there(life: (i64, i64), date: i64) -> bool {
    life.0.min(life.1) <= date && date < life.0.max(life.1)
}

/// A condition on links. The test evaluates it on the lists.
#[derive(Clone, Debug)]
enum Ask {
    From(Vec<usize>),
    NotTo(Vec<usize>),
    Bytes(i64),
    /// Indexes of threads, or of the nodes.
    Involves(Vec<usize>),
    Not(Box<Ask>),
    And(Vec<Ask>),
    Or(Vec<Ask>),
}

fn ask() -> impl Strategy<Value = Ask> {
    let some = || prop::collection::vec(0..8_usize, 1..3);
    let one = prop_oneof![
        some().prop_map(Ask::From),
        some().prop_map(Ask::NotTo),
        (0..5_i64).prop_map(Ask::Bytes),
        some().prop_map(Ask::Involves),
    ];
    one.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| Ask::Not(Box::new(one))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Ask::And),
            prop::collection::vec(inner, 1..4).prop_map(Ask::Or),
        ]
    })
}

impl Ask {
    fn thread(at: usize, threads: usize) -> String {
        format!("thread {}", at % threads)
    }

    fn place(at: usize, threads: usize) -> String {
        if at.is_multiple_of(3) { format!("node {}", at / 3 % 2) } else { Self::thread(at, threads) }
    }

    fn text(&self, threads: usize) -> String {
        let list = |all: &[usize], name: fn(usize, usize) -> String| {
            all.iter().map(|&at| name(at, threads)).collect::<Vec<_>>().join(", ")
        };
        let joined = |all: &[Self], word: &str| {
            let all: Vec<String> = all.iter().map(|one| one.text(threads)).collect();
            format!("({})", all.join(word))
        };
        match self {
            Self::From(all) => format!("from = {}", list(all, Self::thread)),
            Self::NotTo(all) => format!("to != {}", list(all, Self::thread)),
            Self::Bytes(least) => format!("Bytes >= {least}"),
            Self::Involves(all) => format!("involves {}", list(all, Self::place)),
            Self::Not(one) => format!("not {}", one.text(threads)),
            Self::And(all) => joined(all, " and "),
            Self::Or(all) => joined(all, " or "),
        }
    }

    fn holds(&self, link: &ModelLink, world: &ModelTrace, threads: usize) -> bool {
        match self {
            Self::From(all) => all.iter().any(|&at| link.ends.0 == Self::thread(at, threads)),
            Self::NotTo(all) => all.iter().all(|&at| link.ends.1 != Self::thread(at, threads)),
            Self::Bytes(least) => link.bytes >= *least,
            Self::Involves(all) => all.iter().any(|&at| {
                let below = world.below(&Self::place(at, threads));
                below.contains(&link.ends.0) || below.contains(&link.ends.1)
            }),
            Self::Not(one) => !one.holds(link, world, threads),
            Self::And(all) => all.iter().all(|one| one.holds(link, world, threads)),
            Self::Or(all) => all.iter().any(|one| one.holds(link, world, threads)),
        }
    }
}

fn window() -> impl Strategy<Value = ((i64, i64), u32)> {
    (-20..END, 1..END, 1_u32..20).prop_map(|(from, length, columns)| ((from, from + length), columns))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_chain_changes_nothing(plans in plans(), window in window()) {
        let world = planned_trace(&plans);
        let source = FilterChain::default().apply(store(&world)).unwrap();
        check(&source, &world, window.0, window.1)?;
    }

    #[test]
    fn value_filters_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "hide value wait, idle of Activity", |world| {
            world.states.retain(|state| state.value == "work");
        })?;
        checked(&plans, window, "only value i* of Activity", |world| world.states.retain(|state| state.value == "idle"))?;
        checked(&plans, window, "hide value work of Mark", |world| world.events.retain(|event| event.value != "work"))?;
    }

    #[test]
    fn styles_change_nothing_else(plans in plans(), window in window()) {
        let world = planned_trace(&plans);
        let plain = store(&world).model();
        for text in ["shape diamond work, wait of Mark", "shape line of Mark", "size 0.3 idle of Activity", "size 2 of Load",
            "size 3 of Message", "size 0.5 *", "color #123456 of Activity", "bright work of Mark"] {
            let filtered = checked(&plans, window, text, |_| {})?;
            let mut model = filtered.model().as_ref().clone();
            prop_assert_ne!(&model, plain.as_ref(), "{}", text);
            for (ty, before) in model.types.iter_mut().zip(&plain.types) {
                (ty.look, ty.color) = (before.look, before.color);
            }
            for (value, before) in model.values.iter_mut().zip(&plain.values) {
                (value.look, value.color) = (before.look, before.color);
            }
            prop_assert_eq!(&model, plain.as_ref(), "{}", text);
        }
    }

    #[test]
    fn type_filters_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "hide type Activity, Load", |world| {
            world.states.clear();
            world.samples.clear();
        })?;
        checked(&plans, window, "only type Message", |world| {
            world.states.clear();
            world.samples.clear();
            world.events.clear();
        })?;
        checked(&plans, window, "hide type Thread", |world| world.only(&["world", "node 0", "node 1"].map(str::to_owned).into()))?;
    }

    #[test]
    fn container_filters_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "hide container node 0", |world| {
            let mut names: BTreeSet<String> = world.places.iter().map(|place| place.name.clone()).collect();
            for name in world.below("node 0") {
                names.remove(&name);
            }
            world.only(&names);
        })?;
        checked(&plans, window, "only container thread 0", |world| {
            let parent = world.places.iter().find(|place| place.name == "thread 0").unwrap().parent.clone();
            world.only(&["world".to_owned(), parent, "thread 0".to_owned()].into());
        })?;
        checked(&plans, window, "only container node 1/*, node 1", |world| {
            let mut names = world.below("node 1");
            names.insert("world".to_owned());
            world.only(&names);
        }).or_else(|error| match plans.0.iter().any(|thread| thread.0 == 1) {
            // A node without threads has no container that `node 1/*` matches.
            false => Ok(store(&planned_trace(&plans))),
            true => Err(error),
        })?;
    }

    #[test]
    fn filters_by_duration_and_field_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "only duration >= 30ns of Activity", |world| {
            world.states.retain(|state| state.life.1 - state.life.0 >= 30);
        })?;
        checked(&plans, window, "hide duration < 0ns of Message", |world| world.links.retain(|link| link.life.1 >= link.life.0))?;
        checked(&plans, window, "only where Bytes > 2 of Message", |world| world.links.retain(|link| link.bytes > 2))?;
        checked(&plans, window, "hide where to ~ *thread 0 of Message", |world| {
            world.links.retain(|link| link.ends.1 != "thread 0");
        })?;
        checked(&plans, window, "only where value = idle of Activity", |world| {
            world.states.retain(|state| state.value == "idle");
        })?;
    }

    #[test]
    fn filters_by_condition_equal_changed_lists(plans in plans(), window in window(), ask in ask()) {
        let threads = plans.0.len();
        checked(&plans, window, &format!("only where {} of Message", ask.text(threads)), |world| {
            let all = world.clone();
            world.links.retain(|link| ask.holds(link, &all, threads));
        })?;
        // A condition on endpoints affects links only: all rows stay.
        let one = Ask::Involves(vec![3, 0]);
        checked(&plans, window, &format!("hide where {} or {}", one.text(threads), ask.text(threads)), |world| {
            let all = world.clone();
            world.links.retain(|link| !one.holds(link, &all, threads) && !ask.holds(link, &all, threads));
        })?;
        // `not` binds stronger than `and`, and `and` stronger than `or`.
        let text = format!("only where Bytes > 3 or from = thread 0 and not {} of Message", one.text(threads));
        checked(&plans, window, &text, |world| {
            let all = world.clone();
            world.links.retain(|link| {
                link.bytes > 3 || link.ends.0 == "thread 0" && !one.holds(link, &all, threads)
            });
        })?;
        checked(&plans, window, "only where not (value = idle or involves node 0) of Activity", |world| {
            let below = world.below("node 0");
            world.states.retain(|state| state.value != "idle" && !below.contains(&state.at));
        })?;
    }

    #[test]
    fn time_ranges_equal_changed_lists(plans in plans(), window in window(), from in 0_i64..900, length in 1_i64..500) {
        let part = (from, (from + length).min(END));
        checked(&plans, window, &format!("cut {}ns..{}ns", part.0, part.1), |world| {
            let clip = |life: (i64, i64)| (life.0.max(part.0), life.1.min(part.1));
            let alive = |place: &ModelContainer| place.name == "world" || meets(place.life, part);
            let names = world.places.iter().filter(|place| alive(place)).map(|place| place.name.clone()).collect();
            world.only(&names);
            world.states.retain(|state| meets(state.life, part));
            world.samples.retain(|sample| meets(sample.life, part));
            world.events.retain(|event| (part.0..part.1).contains(&event.date));
            world.links.retain(|link| meets(link.life, part));
            world.places.iter_mut().for_each(|place| place.life = clip(place.life));
            world.states.iter_mut().for_each(|state| state.life = clip(state.life));
            world.samples.iter_mut().for_each(|sample| sample.life = clip(sample.life));
            world.extent = part;
        })?;
    }

    #[test]
    fn classes_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "classify Activity by duration < 20ns, 100ns", |world| {
            for state in world.states.iter_mut().filter(|state| state.ty == "Activity") {
                let class = match state.life.1 - state.life.0 {
                    ..20 => "duration < 20 ns",
                    20..100 => "duration 20 ns to 100 ns",
                    _ => "duration ≥ 100 ns",
                };
                state.value = class.to_owned();
            }
        })?;
        let classified = checked(&plans, window, "classify Message by Bytes < 100, 1000", |_| {})?;
        let model = classified.model();
        let message = model.types.iter().find(|ty| ty.name == "Message").unwrap().id;
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for link in classified.links(message, interval((-10, END + 10)), usize::MAX).unwrap().items {
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
            .link_counts(message, interval((-10, END + 10)), 63, &mut |count| {
                *counted.entry(model.values[count.value.index()].name.clone()).or_default() += count.count;
                Ok(())
            })
            .unwrap();
        prop_assert_eq!(counted, expected);
    }

    #[test]
    fn groups_equal_changed_lists(plans in plans(), window in window()) {
        checked(&plans, window, "group node * into both", |world| {
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
        checked(&plans, window, "group thread * into all", |world| {
            let threads: Vec<ModelContainer> = world.places.iter().filter(|place| place.ty == "Thread").cloned().collect();
            world.places.retain(|place| place.ty != "Thread");
            let life = threads.iter().fold((END, 0), |all, one| (all.0.min(one.life.0), all.1.max(one.life.1)));
            world.places.push(ModelContainer { name: "all".to_owned(), parent: first.clone(), ty: "Thread", life });
            world.states.iter_mut().for_each(|state| state.at = "all".to_owned());
            world.events.iter_mut().for_each(|event| event.at = "all".to_owned());
            world.links.iter_mut().for_each(|link| link.ends = ("all".to_owned(), "all".to_owned()));
            let having: BTreeSet<String> = world.samples.iter().map(|sample| sample.at.clone()).collect();
            if having.len() > 1 {
                let samples = std::mem::take(&mut world.samples);
                let dates = samples.iter().flat_map(|s| [s.life.0, s.life.1]);
                let sum = |date: i64| {
                    let now: Vec<f64> = samples.iter().filter(|s| there(s.life, date)).map(|s| s.value).collect();
                    (!now.is_empty()).then(|| now.iter().sum())
                };
                let made = steps(dates, (0, END), sum).into_iter();
                world.samples = made.map(|(life, value)| ModelSample { at: "all".into(), ty: "Load".into(), life, value }).collect();
            }
            world.samples.iter_mut().for_each(|sample| sample.at = "all".to_owned());
            world.merged = true;
        })?;
    }

    #[test]
    fn rows_are_used_again(plans in plans(), window in window()) {
        let world = planned_trace(&plans);
        let source = store(&world);
        let reused = filter("reuse Thread").apply(&source).unwrap();
        let rows = reused.containers();
        let mut members = BTreeSet::new();
        for row in rows.iter() {
            let within = reused.members(row.id);
            prop_assert!(within.is_sorted_by(|a, b| a.life.to <= b.life.from), "one lives at a time");
            members.extend(within.iter().map(|info| info.name.clone()));
            prop_assert_eq!(tumit_viewer::query::weight(reused.as_ref(), row.id, tumit_viewer::query::TypeId(0)), 1);
        }
        // Per node, there are as few rows as threads exist at the same time.
        for node in ["node 0", "node 1"] {
            let lives: Vec<(i64, i64)> = world.places.iter().filter(|p| p.parent == node).map(|p| p.life).collect();
            let most = lives.iter().map(|life| lives.iter().filter(|other| there(**other, life.0)).count()).max();
            let id = rows.iter().find(|row| row.name == node).unwrap().id;
            prop_assert_eq!(rows.iter().filter(|row| row.parent == id).count(), most.unwrap_or(0));
        }
        let whole = |source: &dyn TimelineSource| {
            let s = source.summary();
            (s.states, s.events, s.links)
        };
        prop_assert_eq!(whole(reused.as_ref()), whole(source.as_ref()));
        let total = |source: &dyn TimelineSource| {
            let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
            for info in source.containers().iter() {
                for depth in 0..source.depths(info.id, tumit_viewer::query::TypeId(3)) {
                    let lane = tumit_viewer::query::StateLaneId { container: info.id, ty: tumit_viewer::query::TypeId(3), depth };
                    for cell in source.cells(&[lane], interval(window.0), window.1).unwrap().cells {
                        for (value, nanos) in cell.shares {
                            *sums.entry(value.0).or_default() += nanos;
                        }
                    }
                }
            }
            sums
        };
        prop_assert_eq!(total(reused.as_ref()), total(source.as_ref()));
    }

    #[test]
    fn reductions_equal_changed_lists(plans in plans(), window in window()) {
        for (operation, text) in [
            ("count", "count work, wait of Activity per Node into Made"),
            ("state", "count work, wait of Activity per Node into state Made"),
            ("sum", "sum of Load per Node into Made"),
            ("mean", "mean of Load per Node into Made"),
            ("min", "min of Load per Node into Made"),
            ("max", "max of Load per Node into Made"),
            ("links", "count of Message per Node into Made"),
            ("bytes", "sum Bytes of Message per Node into Made"),
            ("sent", "count sent of Message per Node into Made"),
            ("received", "count received of Message per Node into Made"),
            ("sent bytes", "sum sent Bytes of Message per Node into Made"),
            ("received bytes", "sum received Bytes of Message per Node into Made"),
            ("events", "count work of Mark per Node into Made"),
            ("event state", "count work of Mark per Node into state Made"),
        ] {
            checked(&plans, window, text, |world| {
                for node in ["node 0", "node 1"] {
                    let below = world.below(node);
                    let mut pieces: Vec<((i64, i64), f64)> = Vec::new();
                    match operation {
                        "count" | "state" => pieces.extend(
                            world
                                .states
                                .iter()
                                .filter(|s| s.ty == "Activity" && below.contains(&s.at) && s.value != "idle")
                                .map(|s| (s.life, 1.0)),
                        ),
                        "links" | "bytes" => pieces.extend(
                            world
                                .links
                                .iter()
                                .filter(|l| below.contains(&l.ends.0) || below.contains(&l.ends.1))
                                .map(|l| (l.life, l.bytes as f64)),
                        ),
                        "sent" | "received" | "sent bytes" | "received bytes" => pieces.extend(
                            world
                                .links
                                .iter()
                                .filter(|l| {
                                    below.contains(if operation.starts_with("sent") { &l.ends.0 } else { &l.ends.1 })
                                })
                                .map(|l| (l.life, l.bytes as f64)),
                        ),
                        // For events: the number of events so far.
                        "events" | "event state" => pieces.extend(
                            world
                                .events
                                .iter()
                                .filter(|e| below.contains(&e.at) && e.value == "work")
                                .map(|e| ((e.date, END), 1.0)),
                        ),
                        _ => pieces.extend(
                            world
                                .samples
                                .iter()
                                .filter(|s| s.ty == "Load" && below.contains(&s.at))
                                .map(|s| (s.life, s.value)),
                        ),
                    }
                    let value = |date: i64| {
                        let now: Vec<f64> = pieces.iter().filter(|p| there(p.0, date)).map(|p| p.1).collect();
                        match operation {
                            "count" | "state" | "links" | "sent" | "received" | "events" | "event state" => {
                                return Some(now.len() as f64);
                            }
                            "bytes" | "sent bytes" | "received bytes" => return Some(now.iter().sum()),
                            _ if now.is_empty() => return None,
                            _ => {}
                        }
                        Some(match operation {
                            "mean" => now.iter().sum::<f64>() / now.len() as f64,
                            "min" => now.iter().copied().fold(f64::INFINITY, f64::min),
                            "max" => now.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                            _ => now.iter().sum(),
                        })
                    };
                    let dates = pieces.iter().flat_map(|p| [p.0.0, p.0.1]);
                    for (life, value) in steps(dates, (0, END), value) {
                        let (at, ty) = (node.to_owned(), "Made".to_owned());
                        if operation.ends_with("state") {
                            world.states.push(ModelState { at, ty, depth: 0, life, value: value.to_string() });
                        } else {
                            world.samples.push(ModelSample { at, ty, life, value });
                        }
                    }
                }
            })?;
        }
    }

    #[test]
    fn orders_change_nothing_but_the_order(plans in plans(), window in window()) {
        let sorted = checked(&plans, window, "sort Thread by time wait of Activity descending", |_| {})?;
        let world = planned_trace(&plans);
        let time = |name: &str| -> i64 {
            let mine = world.states.iter().filter(|state| state.at == name && state.value == "wait");
            mine.map(|state| state.life.1 - state.life.0).sum()
        };
        let order = sorted.containers();
        for pair in order.windows(2).filter(|pair| pair[0].parent == pair[1].parent && pair[0].depth == 2) {
            prop_assert!(time(&pair[0].name) >= time(&pair[1].name) || !world.states.iter().any(|s| s.at == pair[0].name));
        }
        let by_hand = checked(&plans, window, "order node 1, node 0", |_| {})?;
        let nodes: Vec<String> =
            by_hand.containers().iter().filter(|info| info.depth == 1).map(|info| info.name.clone()).collect();
        prop_assert_eq!(nodes, ["node 1", "node 0"]);
    }

    #[test]
    fn best_containers_equal_those_of_changed_lists(plans in plans(), window in window(), number in 0_usize..4) {
        // The number of messages that a thread sends or receives. Of equal threads, the first in
        // the order of the rows wins.
        let world = planned_trace(&plans);
        let ends = |name: &str| {
            world.links.iter().filter(|link| link.ends.0 == name || link.ends.1 == name).count()
        };
        let mut threads: Vec<(usize, String)> = world
            .places
            .iter()
            .filter(|place| place.ty == "Thread")
            .map(|place| (ends(&place.name), place.name.clone()))
            .collect();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.0));
        checked(&plans, window, &format!("best {number} Thread by number of Message"), |world| {
            let mut names: BTreeSet<String> = threads.iter().take(number).map(|thread| thread.1.clone()).collect();
            names.extend(["world", "node 0", "node 1"].map(str::to_owned));
            world.only(&names);
        })?;
        checked(&plans, window, "keep Node with number of Message >= 3", |world| {
            let mut names: BTreeSet<String> = ["world".to_owned()].into();
            for node in ["node 0", "node 1"] {
                let below = world.below(node);
                let touching = world.links.iter().filter(|l| below.contains(&l.ends.0) || below.contains(&l.ends.1));
                if touching.count() >= 3 {
                    names.extend(below);
                }
            }
            world.only(&names);
        })?;
    }

    #[test]
    fn a_chain_is_one_filter_after_the_other(plans in plans(), window in window()) {
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
        chain.filters.iter_mut().for_each(|entry| entry.on = entry.filter == filter("hide type Load"));
        world.samples.clear();
        check(&chain.apply(store(&world)).unwrap(), &world, window.0, window.1)?;
    }
}
