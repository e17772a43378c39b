//! The variables of the filter `series` equal a simple simulation, at any time and over any range.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_perspectives::execution::activity::{ActivitySettings, UnitMode};
use tumit_perspectives::series_filter::provide_series;
use tumit_viewer::filter::{FilterChain, FilterExpr};
use tumit_viewer::query::{ContainerId, PajeTypeKind, SeriesColumn, TimelineSource, TypeId};
use tumit_viewer::store::TraceStore;

use crate::activity::{groups, parts};
use crate::unit_program::{END, RandomMessage, RandomThread, SECOND, UnitProgram, programs, seconds, settings};

const QUANTITIES: [&str; 10] = [
    "busy",
    "overhead",
    "idle",
    "pending-messages",
    "pending-bytes",
    "incoming-messages",
    "incoming-bytes",
    "outgoing-messages",
    "outgoing-bytes",
    "active-tasks",
];

/// The program seen as units of one level.
struct SimulatedUnits<'p> {
    program: &'p UnitProgram,
    names: Vec<String>,
    /// The threads of each unit that have states of the activity.
    groups: Vec<Vec<&'p RandomThread>>,
    settings: ActivitySettings,
}

impl SimulatedUnits<'_> {
    fn owner(&self, thread: usize) -> usize {
        let node = format!("node {}", self.program.threads[thread].node);
        let name = format!("thread {thread}");
        self.names.iter().position(|unit| *unit == node || *unit == name).expect("each thread has a unit")
    }

    /// The tasks that a unit executes during a second.
    fn tasks(&self, unit: usize, second: i64) -> BTreeSet<usize> {
        let threads = self.program.threads_of(&self.names[unit]);
        let open = threads.into_iter().flat_map(|thread| thread.open(1, second).unwrap_or_default());
        open.map(|(_, value)| value % 3).collect()
    }

    fn messages(&self, second: i64, counts: impl Fn(usize, usize) -> bool, has_bytes: bool) -> f64 {
        let is_pending = |message: &&RandomMessage| {
            let (from, to) = (self.owner(message.threads.0), self.owner(message.threads.1));
            from != to && message.sent <= second && second < message.received && counts(from, to)
        };
        let pending = self.program.messages.iter().filter(is_pending);
        pending.map(|message| if has_bytes { message.bytes as f64 } else { 1.0 }).sum()
    }

    /// A quantity of one unit, or of all together, during a second.
    fn value(&self, quantity: &str, unit: Option<usize>, second: i64) -> f64 {
        let category = |index: usize| {
            let of = |unit: usize| {
                let (counts, all) =
                    parts(&self.groups[unit], second, self.settings.mode, self.settings.stateless_category);
                counts[index] as f64 / all as f64
            };
            unit.map_or_else(|| (0..self.names.len()).map(of).sum(), of)
        };
        let is = |one: usize| unit.is_none_or(|unit| unit == one);
        let has_bytes = quantity.ends_with("bytes");
        match quantity {
            "busy" => category(0),
            "overhead" => category(1),
            "idle" => category(2),
            "active-tasks" => match unit {
                Some(unit) => f64::from(u8::from(!self.tasks(unit, second).is_empty())),
                None => (0..self.names.len()).flat_map(|unit| self.tasks(unit, second)).collect::<BTreeSet<_>>().len()
                    as f64,
            },
            "incoming-messages" | "incoming-bytes" => self.messages(second, |_, to| is(to), has_bytes),
            "outgoing-messages" | "outgoing-bytes" => self.messages(second, |from, _| is(from), has_bytes),
            _ => self.messages(second, |from, to| is(from) || is(to), has_bytes),
        }
    }
}

fn value_at(source: &dyn TimelineSource, container: ContainerId, ty: TypeId, second: i64) -> Option<f64> {
    let mut range = seconds(second, second);
    range.to.0 += 1;
    let samples = source.samples(container, ty, range, 2).expect("the store answers").items;
    assert!(samples.len() <= 1);
    samples.first().map(|sample| sample.value)
}

fn filters(quantity: &str, per_unit: bool, level: &str, settings: ActivitySettings) -> FilterChain {
    let several = if settings.mode == UnitMode::Fractional { "fractional" } else { "any-busy" };
    let per = if per_unit { "unit" } else { "trace" };
    let stateless = settings.stateless_category.word();
    let all = [
        "category ignored skip of Activity".to_owned(),
        format!(
            "series {quantity}, max-{quantity} per {per} with level = {level}, states = Activity, several = {several}, \
             stateless = {stateless}"
        ),
    ];
    all.iter().map(|text| text.parse::<FilterExpr>().expect("the expression is correct")).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9 * (1.0 + other.abs())
}

/// Whether a column has the extremes and the mean of the values of its seconds.
fn is_summary(column: Option<SeriesColumn>, seconds: &[f64]) -> bool {
    let Some(column) = column else { return seconds.is_empty() };
    let all = || seconds.iter().copied();
    close(column.min, all().fold(f64::INFINITY, f64::min))
        && close(column.max, all().fold(f64::NEG_INFINITY, f64::max))
        && close(column.mean, all().sum::<f64>() / seconds.len() as f64)
}

proptest! {
    #[test]
    fn variables_equal_a_simulation(
        program in programs(),
        settings in settings(),
        quantity in prop::sample::select(&QUANTITIES[..]),
        (is_node, per_unit) in any::<(bool, bool)>(),
        (from, length) in (0..END, 1..END),
    ) {
        provide_series();
        let level = if is_node { "Node" } else { "Thread" };
        let execution = program.execution(level, settings);
        let names = execution.units().list().iter().map(|unit| unit.name.clone()).collect();
        let groups = groups(&program, &execution);
        let simulated = SimulatedUnits { program: &program, names, groups, settings };
        let store = TraceStore::from_paje("trace", program.text().as_bytes()).expect("the text is valid");
        let applied = filters(quantity, per_unit, level, settings).apply(Arc::new(store));
        let has_data = match quantity {
            "busy" | "overhead" | "idle" => execution.activity().is_ok(),
            "active-tasks" => execution.tasks().is_ok(),
            _ => execution.messages().is_ok(),
        };
        prop_assert_eq!(applied.is_ok(), has_data);
        let Ok(source) = applied else { return Ok(()) };
        let model = source.model();
        let types: Vec<TypeId> =
            model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Variable).map(|ty| ty.id).collect();
        prop_assert_eq!(types.len(), 2);
        let units: Vec<Option<usize>> = if per_unit { (0..simulated.names.len()).map(Some).collect() } else { vec![None] };
        let mut sum = vec![0.0; END as usize];
        for unit in units {
            let of_unit = unit.map(|unit| &execution.units().list()[unit]);
            let container = of_unit.map_or(ContainerId::ROOT, |unit| unit.container);
            let life = of_unit.map_or(0..END, |unit| unit.life.from.0 / SECOND..unit.life.to.0 / SECOND);
            let mut largest = f64::NEG_INFINITY;
            let range = seconds(from, (from + length).min(END));
            let mut inside = Vec::new();
            for second in 0..END {
                let found = [0, 1].map(|at| value_at(source.as_ref(), container, types[at], second));
                if !life.contains(&second) {
                    prop_assert_eq!(found, [None; 2]);
                    continue;
                }
                let expected = simulated.value(quantity, unit, second);
                largest = largest.max(expected);
                sum[second as usize] += expected;
                prop_assert!(found[0].is_some_and(|found| close(found, expected)), "{:?} at {}: {:?}", unit, second, found);
                prop_assert!(found[1].is_some_and(|found| close(found, largest)), "maximum at {}", second);
                if (range.from.0..range.to.0).contains(&(second * SECOND)) {
                    inside.push(expected);
                }
            }
            let column = source.series(container, types[0], range, 1).expect("the store answers")[0];
            prop_assert!(is_summary(column, &inside), "{:?} of {:?}", column, inside);
        }
        if !quantity.starts_with("pending") && quantity != "active-tasks" && per_unit && is_node {
            for second in 0..END {
                prop_assert!(close(sum[second as usize], simulated.value(quantity, None, second)));
            }
        }
    }

    #[test]
    fn the_numbers_of_units_add_up(program in programs(), settings in settings()) {
        provide_series();
        let store = TraceStore::from_paje("trace", program.text().as_bytes()).expect("the text is valid");
        let filter: FilterExpr = format!(
            "series busy, overhead, idle with level = Node, states = Activity, stateless = {}",
            settings.stateless_category.word()
        ).parse().expect("the expression is correct");
        let store: Arc<dyn TimelineSource> = Arc::new(store);
        let Ok(source) = filter.apply(&store) else { return Ok(()) };
        let first = source.model().types.len() as u32 - 3;
        for second in 0..END {
            let values = [0, 1, 2].map(|at| value_at(source.as_ref(), ContainerId::ROOT, TypeId(first + at), second));
            prop_assert_eq!(values.into_iter().flatten().sum::<f64>(), 2.0);
        }
    }
}

#[test]
fn missing_data_and_wrong_options_are_explained() {
    provide_series();
    let text = concat!(
        include_str!("../../../tests/header.paje"),
        "0 T 0 Thread\n2 S T Activity\n6 0 t 0 T main\n11 0 t S work\n14 2 t S\n7 3 T t\n"
    );
    let store: Arc<dyn TimelineSource> =
        Arc::new(TraceStore::from_paje("trace", text.as_bytes()).expect("the text is valid"));
    for (text, expected) in [
        ("series pending-bytes", "links between units, but the trace has none"),
        ("series busy with level = Node", "no container type is called `Node`; the trace has Thread"),
        ("series busy with several = most", "expected any-busy, fractional"),
        ("series active-tasks", "states of tasks"),
    ] {
        let filter: FilterExpr = text.parse().expect("the expression is correct");
        let error = filter.apply(&store).map(|_| ()).expect_err("the data is missing").to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for (text, expected) in [
        ("series", "expected busy, overhead"),
        ("series busy per Node", "expected `unit` or `trace`"),
        ("series busy with size = 3", "expected level, states, tasks, several or stateless"),
        ("series busy, idle into Both", "a name only for a single series"),
    ] {
        let error = text.parse::<FilterExpr>().expect_err("it is wrong").to_string();
        assert!(error.contains(expected) && error.contains("example: `series busy"), "{text}: {error}");
    }
}
