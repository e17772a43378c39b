//! Pajé files with any contents in any order: the program never panics, and every answer is
//! consistent.

use proptest::prelude::*;
use tumit_viewer::query::{EntityId, GlobalNanos, PajeTypeKind, StateLaneId, TimeRange, TimelineSource as _};
use tumit_viewer::store::TraceStore;

const HEADER: &str = include_str!("header.paje");
const TREE: &str = "\
0 P 0 Process
0 T P Thread
2 S T Activity
1 V T Load \"\"
3 E T Mark \"\"
4 L 0 T T Message
%EventDef PajePushState 20
% Time date
% Type string
% WaitsForContainer string
% Container string
% Value string
% File string
% Line int
%EndEventDef
6 0 p 0 P p
6 0 t1 p T t1
6 0 t2 p T t2
";

fn line() -> impl Strategy<Value = String> {
    let container = || prop::sample::select(vec!["t1", "t2", "p", "0", "t3", "nobody"]);
    let date =
        || prop_oneof![(0_u32..20).prop_map(|date| date.to_string()), Just("-1".to_owned()), Just("x".to_owned())];
    let value = || prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        4 => (date(), container(), value()).prop_map(|(t, c, v)| format!("12 {t} {c} S {v}")),
        3 => (date(), container()).prop_map(|(t, c)| format!("13 {t} {c} S")),
        2 => (date(), container(), value()).prop_map(|(t, c, v)| format!("11 {t} {c} S {v}")),
        1 => (date(), container()).prop_map(|(t, c)| format!("14 {t} {c} S")),
        2 => (date(), container(), container()).prop_map(|(t, c, w)| format!("20 {t} S {w} {c} wait f.c 3")),
        2 => (date(), container(), 8..11, any::<i8>()).prop_map(|(t, c, op, v)| format!("{op} {t} {c} V {v}")),
        2 => (date(), container(), value()).prop_map(|(t, c, v)| format!("17 {t} {c} E {v}")),
        3 => (date(), container(), container(), 15..17, 0..3)
            .prop_map(|(t, h, c, half, key)| format!("{half} {t} {h} L {c} l {key}")),
        1 => (date(), container(), container()).prop_map(|(t, c, p)| format!("6 {t} {c} {p} T again")),
        1 => (date(), container()).prop_map(|(t, c)| format!("7 {t} T {c}")),
        1 => value().prop_map(|v| format!("5 {v} S {v}{v} \"1 0 0\"")),
    ]
}

/// Makes all queries.
fn query_all(store: &TraceStore) -> Result<(), TestCaseError> {
    let summary = store.summary();
    let extent = summary.extent;
    prop_assert!(extent.from < extent.to);
    let model = store.model();
    let containers = store.containers();
    let (mut states, mut events, mut links, mut samples) = (0, 0, 0, 0);
    for (position, container) in containers.iter().enumerate() {
        prop_assert!(container.life.from <= container.life.to);
        prop_assert!(containers[..=position].iter().any(|parent| parent.id == container.parent));
        for ty in &model.types {
            for depth in 0..store.depths(container.id, ty.id) {
                let lane = StateLaneId { container: container.id, ty: ty.id, depth };
                let listed = store.states(lane, extent, usize::MAX).expect("the lane is there");
                states += listed.total;
                prop_assert!(listed.items.is_sorted_by(|a, b| a.life.to <= b.life.from));
                let time: i64 = listed.items.iter().map(|state| state.life.to.0 - state.life.from.0).sum();
                let cells = store.cells(&[lane], extent, 13).expect("the lane is there").cells;
                prop_assert_eq!(cells.iter().flat_map(|cell| &cell.shares).map(|share| share.1).sum::<i64>(), time);
            }
            let listed = store.events(container.id, ty.id, extent, usize::MAX).expect("both are there");
            events += listed.total;
            let listed = store.samples(container.id, ty.id, extent, usize::MAX).expect("both are there");
            samples += listed.total;
            prop_assert!(listed.items.is_sorted_by(|a, b| a.life.to == b.life.from));
            prop_assert_eq!(store.series(container.id, ty.id, extent, 13).expect("both are there").len(), 13);
        }
        prop_assert!(store.facts(EntityId::Container(container.id)).is_ok());
    }
    for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        links += store.links(ty.id, extent, usize::MAX).expect("the type is there").total;
    }
    prop_assert_eq!((states, events), (summary.states, summary.events));
    prop_assert_eq!((links, samples), (summary.links, summary.samples));
    let count = |number: u64| 0..u32::try_from(number).expect("few");
    let all = count(states).map(EntityId::State).chain(count(events).map(EntityId::Event));
    for id in all.chain(count(links).map(EntityId::Link)).chain(count(samples).map(EntityId::Sample)) {
        prop_assert_eq!(store.facts(id).expect("it is there").id, id);
        let related = store.related_entities(id, 100).expect("it is there");
        prop_assert!(!related.contains(&id));
        for other in related {
            prop_assert!(store.facts(other).is_ok());
        }
    }
    for id in [EntityId::State(states as u32), EntityId::Link(u32::MAX), EntityId::Sample(samples as u32)] {
        prop_assert!(store.facts(id).is_err() && store.related_entities(id, 1).is_err());
    }
    let empty = TimeRange { from: GlobalNanos(5), to: GlobalNanos(5) };
    prop_assert!(store.cells(&[], empty, 1).is_err() && store.cells(&[], extent, 0).is_err());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn lines_in_any_order_are_read_and_queried(lines in prop::collection::vec(line(), 0..120)) {
        let text = format!("{HEADER}{TREE}{}", lines.join("\n"));
        let store = TraceStore::from_paje("trace", text.as_bytes()).expect("it has a header");
        query_all(&store)?;
        let mut rows = Vec::new();
        tumit_viewer::text::entity_rows::write(&store, &mut rows).expect("memory to write to");
    }
}
