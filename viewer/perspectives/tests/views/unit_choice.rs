//! The choice of some units: their activity and messages are those of the same units among all.

use std::sync::Arc;

use proptest::prelude::*;
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::activity::ActivitySettings;
use tumit_perspectives::execution::messages::UnitMessage;
use tumit_perspectives::execution::units::{UnitChoice, UnitSet};
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::options::ParsedOptions;
use tumit_viewer::filter::NamePatterns;
use tumit_viewer::query::{ContainerId, TimelineSource as _};
use tumit_viewer::store::TraceStore;

use crate::request::{at, chart, texts};
use crate::unit_program::{END, SECOND, program_settings, programs};

/// The names of the sender and the receiver of a message, and its times.
fn named<'a>(units: &'a UnitSet, message: &UnitMessage) -> (&'a str, &'a str, i64, i64) {
    let name = |unit: u32| units.list()[unit as usize].name.as_str();
    (name(message.from), name(message.to), message.send_time, message.receive_time)
}

proptest! {
    #[test]
    fn chosen_units_are_those_among_all(program in programs(), mask in 1..32_usize) {
        let all = program.execution("Thread", ActivitySettings::default());
        let chosen: Vec<usize> = (0..program.threads.len()).filter(|thread| mask >> thread & 1 == 1).collect();
        prop_assume!(!chosen.is_empty());
        let store = TraceStore::from_paje("trace", program.text().as_bytes()).unwrap();
        let ids: Vec<ContainerId> = store
            .containers()
            .iter()
            .filter(|info| chosen.iter().any(|thread| info.name == format!("thread {thread}")))
            .map(|info| info.id)
            .collect();
        let mut settings = program_settings("Thread");
        settings.units.containers = ids;
        let some = Execution::new(Arc::new(store), settings).unwrap();
        prop_assert_eq!((some.units().count(), some.units().level_count()), (chosen.len(), all.units().count()));
        for (at, unit) in some.units().list().iter().enumerate() {
            let other = all.units().list().iter().position(|other| other.name == unit.name).unwrap();
            prop_assert_eq!(some.units().owner(unit.container), Some(u32::try_from(at).unwrap()));
            let (Ok(own), Ok(among_all)) = (some.activity(), all.activity()) else { continue };
            for second in 0..END {
                prop_assert_eq!(own.at(at, second * SECOND), among_all.at(other, second * SECOND));
            }
        }
        let expected = all.messages().map_or_else(|_| Vec::new(), |messages| {
            let is_inside = |name: &str| chosen.iter().any(|thread| name == format!("thread {thread}"));
            let named = messages.list().iter().map(|message| named(all.units(), message));
            named.filter(|message| is_inside(message.0) && is_inside(message.1)).collect()
        });
        let found = some.messages().map_or_else(|_| Vec::new(), |messages| {
            messages.list().iter().map(|message| named(some.units(), message)).collect::<Vec<_>>()
        });
        prop_assert_eq!(found, expected);
    }
}

const TRACE: &str = "0 N 0 Node\n0 T N Thread\n0 M N Mutex\n2 A T Activity\n5 w A work \"0 1 0\"\n\
    6 0 n0 0 N \"node 0\"\n6 0 n1 0 N \"node 1\"\n6 0 a n0 T main\n6 0 b n0 T helper\n6 0 c n1 T main\n6 0 m n1 M lock\n\
    11 0 a A w\n11 0 b A w\n11 0 c A w\n7 3 T a\n7 3 T b\n7 3 T c\n";

/// The trace with the units that a choice leaves.
fn execution(choice: UnitChoice) -> Result<Execution, PerspectiveError> {
    let text = [include_str!("../../../tests/header.paje"), TRACE].concat();
    let store = TraceStore::from_paje("trace", text.as_bytes()).unwrap();
    let mut settings = ExecutionSettings::default();
    settings.units = choice;
    Execution::new(Arc::new(store), settings)
}

/// The names of the units that a choice leaves.
fn names(choice: UnitChoice) -> Result<Vec<String>, PerspectiveError> {
    let execution = execution(choice)?;
    Ok(execution.units().list().iter().map(|unit| unit.name.clone()).collect())
}

fn of_names(level: &str, text: &str) -> Result<Vec<String>, PerspectiveError> {
    let names_of: NamePatterns = text.parse().unwrap();
    let mut choice = UnitChoice::default();
    (choice.level, choice.names) = (Some(level.to_owned()), Some(names_of));
    names(choice)
}

#[test]
fn units_in_around_and_below_containers_are_chosen() {
    assert_eq!(of_names("Thread", "node 0").unwrap(), ["node 0/helper", "node 0/main"]);
    assert_eq!(of_names("Thread", "node 1/main, helper").unwrap(), ["node 0/helper", "node 1/main"]);
    assert_eq!(of_names("Node", "helper").unwrap(), ["node 0"]);
    assert_eq!(of_names("Node", "node *").unwrap(), ["node 0", "node 1"]);
    let error = of_names("Thread", "lock").unwrap_err().to_string();
    assert!(error.starts_with("no Thread is in, around or below the chosen containers;"), "{error}");
    let error = of_names("Thread", "node 7").unwrap_err().to_string();
    assert!(error.starts_with("no container is called `node 7`; did you mean `node "), "{error}");
    // Names and ids both apply.
    let mut both = UnitChoice::default();
    (both.level, both.names) = (Some("Thread".to_owned()), Some("main".parse().unwrap()));
    both.containers = vec![ContainerId(1)];
    assert_eq!(names(both).unwrap(), ["node 0/main"]);
    let pair = |value: &str| ("units".to_owned(), value.to_owned());
    assert!(ParsedOptions::parse("kiviat", &[], &[pair("node 1, \"a, b\"")]).is_ok());
    let error = ParsedOptions::parse("kiviat", &[], &[pair("a of b")]).unwrap_err().to_string();
    assert!(error.contains("expected names of containers, such as `Node 1, Node 2/*`"), "{error}");
}

#[test]
fn records_are_those_of_the_chosen_units() {
    let containers = |names: &str| {
        let mut choice = UnitChoice::default();
        (choice.level, choice.names) = (Some("Thread".to_owned()), Some(names.parse().unwrap()));
        let execution = execution(choice).unwrap();
        texts(&chart("trace-records", &execution, &at(1)).unwrap(), "container")
    };
    assert_eq!(containers("helper"), ["helper", "helper"]);
    assert_eq!(containers("node *").len(), 6);
}
