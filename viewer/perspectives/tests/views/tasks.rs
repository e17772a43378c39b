//! The views of the group tasks equal their definitions.

use proptest::prelude::*;
use tumit_perspectives::analysis::diagnosis::phases;
use tumit_perspectives::chart::ChartPanel;
use tumit_perspectives::execution::ExecutionSettings;

use crate::request::{at, chart, during, numbers, texts};
use crate::unit_program::{END, SECOND, TASKS, execution, programs, seconds};

#[test]
fn an_occurrence_of_a_phase_includes_its_nested_tasks() {
    let text = format!(
        "{}0 R 0 Rank\n2 A R Activity\n2 P R Phase\n2 T R Task\n6 0 a 0 R a\n6 0 b 0 R b\n12 0 a T solve\n\
         12 0 a P setup\n12 1 a T exchange\n12 1 b T solve\n13 2 a T\n13 3 b T\n13 4 a T\n12 5 a T solve\n\
         12 6 b T solve\n13 8 a T\n13 9 b T\n7 10 R a\n7 10 R b\n",
        include_str!("../../../tests/header.paje")
    );
    let execution = execution(&text, ExecutionSettings::default());
    let tasks: Vec<&str> = execution.tasks().unwrap().list().iter().map(|task| task.name.as_str()).collect();
    // The type `Task` has precedence over the type `Phase`.
    assert_eq!(tasks, ["solve", "exchange"]);
    let expected = [("solve 1".to_owned(), seconds(0, 4)), ("solve 2".to_owned(), seconds(5, 9))];
    let found = phases(&execution, "solve").unwrap().into_iter().map(|phase| (phase.name, phase.range));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

proptest! {
    #[test]
    fn tasks_equal_a_simulation(
        program in programs(),
        is_node in any::<bool>(),
        time in 0..END,
        (from, length) in (0..END, 1..END),
    ) {
        let execution = program.execution(if is_node { "Node" } else { "Thread" }, Default::default());
        let Ok(tasks) = execution.tasks() else { return Ok(()) };
        let active = |task: &str, second: i64| {
            let has_task = |name: &str| {
                let open = program.threads_of(name).into_iter().filter_map(|thread| thread.open(1, second));
                open.flatten().any(|state| TASKS[state.1 % 3] == task)
            };
            execution.units().list().iter().filter(|unit| has_task(&unit.name)).count()
        };
        let names: Vec<&str> = tasks.list().iter().map(|task| task.name.as_str()).collect();
        let count = chart("task-count", &execution, &at(time)).unwrap();
        let status = chart("task-status", &execution, &at(time)).unwrap();
        let range = seconds(from, (from + length).min(END));
        let means = chart("task-count", &execution, &during(range)).unwrap();
        let summary = chart("task-summary", &execution, &during(range)).unwrap();
        let surface = chart("task-surface", &execution, &during(range)).unwrap();
        let ChartPanel::Matrix(matrix) = &surface.panels[0].panel else { panic!("no matrix") };
        prop_assert_eq!(matrix.times, Some(range));
        for (number, task) in names.iter().enumerate() {
            let now = active(task, time);
            let seconds_active: Vec<i64> = (0..END).filter(|second| active(task, *second) > 0).collect();
            let (first, end) = (seconds_active[0], seconds_active[seconds_active.len() - 1] + 1);
            prop_assert_eq!(numbers(&count, "units")[number], now as f64);
            let largest = (0..=time).map(|second| active(task, second)).max().unwrap();
            prop_assert_eq!(numbers(&count, "maximum so far")[number], largest as f64);
            let expected = match now {
                _ if first > time => "not begun",
                0 => "completed",
                _ => "in progress",
            };
            prop_assert_eq!(&texts(&status, "status")[number], expected);
            let during = from.max(first)..(range.to.0 / SECOND).min(end);
            let sum: usize = during.clone().map(|second| active(task, second)).sum();
            let mean = sum as f64 / during.clone().count().max(1) as f64;
            prop_assert!((numbers(&means, "mean units")[number] - mean).abs() < 1e-9);
            prop_assert_eq!(numbers(&summary, "first begin")[number], (first * SECOND) as f64);
            prop_assert_eq!(numbers(&summary, "last end")[number], (end * SECOND) as f64);
            prop_assert_eq!(numbers(&summary, "time of all units")[number], sum as f64 * SECOND as f64);
            for second in from..range.to.0 / SECOND {
                let cell = matrix.cells.iter().find(|cell| {
                    (cell.row, i64::from(cell.column)) == (number as u32, second - from)
                });
                prop_assert_eq!(cell.map_or(0.0, |cell| cell.value), active(task, second) as f64);
            }
        }
    }
}
