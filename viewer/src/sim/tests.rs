//! Tests of the cases that the format leaves open, with the resulting rows and diagnostics.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, DrawStyle, PajeEvent, PajeTypeKind, TypeId, ValueId, VariableOp, diagnostic_texts};

use crate::query::TimelineSource as _;
use crate::store::TraceStore;

const HEADER: &str = include_str!("../../tests/header.paje");
const TREE: &str = "\
0 P 0 Process
0 T P Thread
2 S T Activity
1 V T Load \"0.5 0.5 0.5\"
3 E T Mark \"0.1 0.2 0.3\"
4 L 0 T T Message
5 a S A \"0 1 0\"
5 b S B \"1 0 0\"
5 l L M \"1 1 1\"
5 m L N \"1 1 1\"
6 0 p 0 P p
6 0 t p T t
";

/// Rows of entities, without decimals that are always zero here, and the diagnostics.
fn run(body: &str) -> (Vec<String>, Vec<String>) {
    let store = TraceStore::from_paje("trace", format!("{HEADER}{TREE}{body}").as_bytes()).unwrap();
    let mut rows = Vec::new();
    crate::text::entity_rows::write(&store, &mut rows).unwrap();
    let rows = String::from_utf8(rows).unwrap().replace(".000000000", "");
    (
        rows.lines().filter(|row| !row.starts_with("Container")).map(str::to_owned).collect(),
        diagnostic_texts(&store.summary().diagnostics),
    )
}

fn check(body: &str, rows: &[&str], texts: &[&str]) {
    let outcome = run(body);
    assert_eq!(outcome.0, rows, "{body}");
    assert_eq!(outcome.1.len(), texts.len(), "{body}: {:?}", outcome.1);
    for (text, expected) in outcome.1.iter().zip(texts) {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn nested_states_end_at_their_pop_or_when_a_state_is_set() {
    check("13 1 t S\n13 2 t S\n14 3 t S\n", &[], &["2 pops of states found no state"]);
    check(
        "11 5 t S a\n11 3 t S b\n7 9 T t\n",
        &["State, t, Activity, 5, 5, 0, 0, A", "State, t, Activity, 5, 9, 4, 0, B"],
        &["1 change of a state has a timestamp before"],
    );
    // A pop without effect does not affect later timestamps.
    let single_row = ["State, t, Activity, 3, 6, 3, 0, A"];
    check(
        "12 1 t S a\n13 2 t S\n14 8 t S\n11 3 t S a\n14 6 t S\n",
        &["State, t, Activity, 1, 2, 1, 0, A", single_row[0]],
        &[],
    );
    check("13 8 t S\n11 3 t S a\n14 6 t S\n", &single_row, &["1 pop of a state found no state"]);
    check(
        "12 1 t S a\n12 2 t S b\n11 3 t S b\n11 4 t S a\n",
        &[
            "State, t, Activity, 1, 3, 2, 0, A",
            "State, t, Activity, 3, 4, 1, 0, B",
            "State, t, Activity, 4, 4, 0, 0, A",
            "State, t, Activity, 2, 3, 1, 1, B",
        ],
        &[],
    );
}

#[test]
fn the_first_of_a_kind_is_reported_with_advice() {
    let lines = HEADER.lines().count() + TREE.lines().count();
    let (_, texts) = run("13 1 t S\n11 1 t S a\n13 2 t S\n13 2 t S\n");
    let expected =
        format!("2 pops of states found no state to end (the first in line {}); the producer should pop", lines + 1);
    assert!(texts.len() == 1 && texts[0].starts_with(&expected), "{texts:?}");
    let (_, texts) = run("11 1 t S a\n15 1 0 L t l k\n");
    let expected = format!(
        "1 link has only one endpoint: views show a start as pending until the end of the trace, and no end (in line {})",
        lines + 2
    );
    assert!(texts.len() == 1 && texts[0].starts_with(&expected), "{texts:?}");
    // Without lines, the position is a timestamp.
    let mut simulation = super::Simulation::new("run");
    let (ty, container) = (TypeId(7), ContainerId(9));
    simulation.process(&PajeEvent::PopState { time: GlobalNanos(1_500_000_000), container, ty });
    let faults = simulation.faults();
    assert_eq!((faults[0].count, faults[0].line, faults[0].time), (1, 0, Some(GlobalNanos(1_500_000_000))));
    assert!(
        faults[0].diagnostic().text.contains(" (at 1.500000000 s); the producer should "),
        "{}",
        faults[0].diagnostic()
    );
}

#[test]
fn states_beyond_the_maximum_depth_are_counted_and_not_kept() {
    let nest = |depth: usize| {
        let pushes = "12 1 t S a\n".repeat(depth);
        run(&format!("{pushes}{}7 9 P p\n", "13 2 t S\n".repeat(depth)))
    };
    let (rows, texts) = nest(5000);
    assert_eq!((rows.len(), texts.len()), (5000, 0), "{texts:?}");
    let (rows, texts) = nest((1 << 16) + 904);
    assert_eq!(rows.len(), 1 << 16);
    assert!(rows.iter().all(|row| row.contains(", 1, 2, 1, ")));
    assert!(texts[0].starts_with("904 states are nested deeper"), "{texts:?}");
    assert_eq!(texts.len(), 1);
}

#[test]
fn variables_have_a_row_per_change_and_stay_finite() {
    check(
        "9 1 t V 2\n8 3 t V 5\n10 2 t V 1\n7 4 P p\n",
        &["Variable, t, Load, 1, 3, 2, 2", "Variable, t, Load, 3, 4, 1, 4"],
        &["1 value of a variable has a timestamp before", "1 variable was changed before it was set"],
    );
    check(
        "8 1 t V 1e308\n9 2 t V 1e308\n7 4 P p\n",
        &[&format!("Variable, t, Load, 1, 4, 3, {:.0}", 1e308)],
        &["not a finite number"],
    );
}

#[test]
fn point_events_are_sorted() {
    check(
        "17 2 t E x\n17 1 t E y\n",
        &["Event, t, Mark, 1, y", "Event, t, Mark, 2, x"],
        &["1 point event has a timestamp before"],
    );
}

#[test]
fn links_pair_endpoints_with_equal_keys_in_order_of_time() {
    check(
        "15 1 0 L t l k\n15 2 0 L t l k\n16 3 0 L t m k\n16 4 0 L t l k\n15 5 0 L t l other\n",
        &["Link, 0, Message, 1, 3, 2, M, t, t, k", "Link, 0, Message, 2, 4, 2, M, t, t, k"],
        &[
            "1 link uses a key that is still in use",
            "1 link has another value at its end",
            "1 link has only one endpoint",
        ],
    );
    // The end comes first in the file, and then in time. Then the key is used again.
    check(
        "16 1 0 L t l k\n15 2 0 L t l k\n15 3 0 L t l k\n16 4 0 L t l k\n",
        &["Link, 0, Message, 2, 1, -1, M, t, t, k", "Link, 0, Message, 3, 4, 1, M, t, t, k"],
        &[],
    );
    // An endpoint at a container that was created in a destroyed one is dropped. The pair after it
    // stays complete.
    let (rows, texts) =
        run("7 1 P p\n6 2 x T p x\n6 2 q 0 P q\n6 2 u q T u\n16 3 0 L x l k\n15 4 0 L u l k\n16 5 0 L u l k\n");
    assert_eq!(rows, ["Link, 0, Message, 4, 5, 1, M, u, u, k"], "{texts:?}");
    // Endpoints at a container that has ended.
    check(
        "7 4 P p\n15 5 0 L t l k\n16 6 0 L t l k\n",
        &["Link, 0, Message, 5, 6, 1, M, t, t, k"],
        &["2 endpoints of links are at containers that have ended; the links are kept (the first in line"],
    );
}

#[test]
fn a_destruction_ends_all_contents_and_later_operations_are_ignored() {
    check(
        "11 5 t S a\n8 7 t V 1\n7 3 P p\n11 8 t S b\n7 9 P p\n",
        &["State, t, Activity, 5, 8, 3, 0, A", "State, t, Activity, 8, 8, 0, 0, B", "Variable, t, Load, 7, 8, 1, 1"],
        &["1 operation was ignored: its container has ended", "2 containers end before the last timestamps in them"],
    );
}

#[test]
fn the_order_of_a_destruction_and_the_contents_does_not_matter() {
    // Timestamps before, at and after the destruction.
    for (end, count) in [(9, 0), (5, 0), (4, 2)] {
        let lines = [
            format!("7 {end} P p\n"),
            "11 1 t S a\n".to_owned(),
            "8 2 t V 1\n".to_owned(),
            "17 3 t E x\n".to_owned(),
            "4 I P T T Inner\n15 3 p I t l k\n".to_owned(),
            "16 4 p I t l k\n".to_owned(),
            "11 5 t S b\n".to_owned(),
        ];
        let mut first = None;
        for place in 0..lines.len() {
            let mut order: Vec<&str> = lines[1..].iter().map(String::as_str).collect();
            order.insert(place, &lines[0]);
            let text = order.concat();
            let (rows, texts) = run(&text);
            assert_eq!(rows.len(), 5, "{text}");
            // The reader warns about lines after the destruction.
            let expected = format!("{count} containers end before the last timestamps in them");
            assert!(texts.len() * 2 == count && texts.iter().all(|text| text.starts_with(&expected)), "{texts:?}");
            let lives = lives(&text).0;
            assert_eq!(*first.get_or_insert_with(|| (rows.clone(), lives.clone())), (rows, lives), "{text}");
        }
    }
}

/// The resulting containers.
fn lives(body: &str) -> (Vec<String>, Vec<String>) {
    let store = TraceStore::from_paje("trace", format!("{HEADER}{TREE}{body}").as_bytes()).unwrap();
    let second = |nanos: GlobalNanos| nanos.0 / 1_000_000_000;
    let containers = store.containers();
    let lives = containers
        .iter()
        .map(|container| format!("{} {}..{}", container.name, second(container.life.from), second(container.life.to)))
        .collect();
    (lives, diagnostic_texts(&store.summary().diagnostics))
}

#[test]
fn a_container_lasts_as_long_as_its_contents() {
    let check = |body: &str, expected: [&str; 2], expected_texts: &[&str]| {
        let (lives, texts) = lives(&format!("6 20 q 0 P q\n6 20 u q T u\n{body}17 90 t E x\n"));
        assert_eq!(lives[3..], expected, "{body}");
        assert_eq!(texts.len(), expected_texts.len(), "{body}: {texts:?}");
        for (text, expected_texts) in texts.iter().zip(expected_texts) {
            assert!(text.starts_with(expected_texts), "{text}");
        }
    };
    let early =
        "1 timestamp is before the creation of its container; the start of the container was moved to it (in line";
    let ends =
        ["2 containers end before the last timestamps in them", "1 container ends before the last timestamp in it"];
    check("7 30 P q\n", ["q 20..30", "u 20..30"], &[]);
    for line in ["11 5 u S a", "12 5 u S a", "8 5 u V 1", "17 5 u E x"] {
        check(&format!("{line}\n7 30 P q\n"), ["q 5..30", "u 5..30"], &[early]);
    }
    check("11 5 u S a\n8 4 u V 1\n17 3 u E x\n", ["q 3..90", "u 3..90"], &["3 timestamps are before the creation"]);
    for line in ["11 40 u S a", "8 40 u V 1", "17 40 u E x"] {
        check(&format!("{line}\n7 30 P q\n"), ["q 20..40", "u 20..40"], &[ends[0]]);
    }
    // It ends before its parent does in the file, but after it in time. Then: it is created before
    // its parent.
    check("7 40 T u\n7 30 P q\n", ["q 20..40", "u 20..40"], &[ends[1]]);
    let (lives, texts) = lives("6 20 q 0 P q\n6 10 u q T u\n17 90 t E x\n");
    assert_eq!(lives[3..], ["q 10..90", "u 10..90"]);
    assert!(texts.len() == 1 && texts[0].starts_with(early), "{texts:?}");
}

#[test]
fn the_root_begins_with_the_trace_for_any_contents() {
    let types = "2 R 0 Phase\n5 r R A \"0 1 0\"\n1 W 0 Load \"0 0 1\"\n3 F 0 Mark \"0 0 1\"\n";
    for body in ["11 5 0 R r\n17 9 t E x\n", "8 5 0 W 1\n17 9 t E x\n", "17 5 0 F x\n17 9 t E x\n"] {
        let (lives, texts) = lives(&format!("{types}{body}"));
        assert_eq!((lives[0].as_str(), texts.len()), ("trace 0..9", 0), "{body}: {texts:?}");
    }
}

#[test]
fn a_container_lasts_as_long_as_its_links() {
    let types = "4 M P T T Inner\n5 i M I \"1 1 1\"\n6 20 q 0 P q\n";
    let (lives, texts) = lives(&format!("{types}15 10 q M t i k\n16 40 q M t i k\n7 30 P q\n17 90 t E x\n"));
    assert_eq!(lives[3], "q 10..40");
    assert_eq!(texts.len(), 2, "{texts:?}");
}

#[test]
fn a_type_in_a_container_of_another_type_is_kept() {
    check(
        "11 1 p S a\n7 2 P p\n",
        &["State, p, Activity, 1, 2, 1, 0, A"],
        &["1 entity is in a container of another type"],
    );
}

#[test]
fn invalid_operations_are_ignored() {
    let (root, time) = (ContainerId::ROOT, GlobalNanos(1));
    let define = |ty, kind, parent| PajeEvent::DefineType {
        ty: TypeId(ty),
        kind,
        parent,
        name: "t",
        color: None,
        style: DrawStyle::NONE,
    };
    let set = |ty, value| PajeEvent::SetState { time, container: root, ty, value, extra: &[], source: None };
    let create = |id, ty, parent| PajeEvent::CreateContainer {
        time,
        container: ContainerId(id),
        ty: TypeId(ty),
        parent: ContainerId(parent),
        name: "c",
        extra: &[],
    };
    let value = |value, ty| PajeEvent::DefineValue {
        value: ValueId(value),
        ty,
        name: "v",
        color: None,
        style: DrawStyle::NONE,
        category: None,
    };
    let store = TraceStore::from_events(
        "trace",
        [
            define(1, PajeTypeKind::State, TypeId::ROOT),
            define(7, PajeTypeKind::State, TypeId::ROOT),
            define(2, PajeTypeKind::Link { start: TypeId(9), end: TypeId::ROOT }, TypeId::ROOT),
            define(2, PajeTypeKind::State, TypeId(1)),
            value(0, TypeId(1)),
            value(5, TypeId(1)),
            value(0, TypeId::ROOT),
            set(TypeId(1), ValueId(3)),
            set(TypeId(8), ValueId(0)),
            set(TypeId::ROOT, ValueId(0)),
            create(1, 1, 0),
            create(u32::MAX, 0, 0),
            create(1, 0, 4),
            create(0, 0, 0),
            PajeEvent::DestroyContainer { time, container: root },
            PajeEvent::Variable { time, container: root, ty: TypeId(1), op: VariableOp::Set, value: 1.0 },
            PajeEvent::PopState { time, container: ContainerId(77), ty: TypeId(1) },
        ],
    );
    let summary = store.summary();
    assert_eq!((summary.containers, summary.states, summary.samples), (0, 0, 0));
    let texts = diagnostic_texts(&summary.diagnostics);
    let counts: Vec<&str> = texts.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(counts, ["3", "2", "2", "3", "4", "1"], "{texts:?}");
}
