//! Adjacent tasks that a view shows together, because it has no place for each.

use crate::execution::tasks::ExecutionTask;

/// Adjacent tasks.
pub(crate) struct TaskBundle<'a> {
    pub(crate) number: u32,
    /// The name of the task, or of the first and last one.
    pub(crate) label: String,
    /// The tasks, at least one.
    pub(crate) members: &'a [ExecutionTask],
}

/// Forms at most `max_bundles` bundles of adjacent tasks. All have the same size but the last one.
pub(crate) fn bundles(tasks: &[ExecutionTask], max_bundles: usize) -> Vec<TaskBundle<'_>> {
    let size = size(tasks, max_bundles);
    let numbers = (0..).step_by(size);
    let bundle = |(members, number): (&'_ [ExecutionTask], u32)| {
        let name = |task: Option<&ExecutionTask>| task.map_or_else(String::new, |task| task.name.clone());
        let label = match members {
            [task] => task.name.clone(),
            _ => format!("{} … {}", name(members.first()), name(members.last())),
        };
        (number, label)
    };
    let all = tasks.chunks(size).zip(numbers).map(|(members, number)| {
        let (number, label) = bundle((members, number));
        TaskBundle { number, label, members }
    });
    all.collect()
}

/// The number of tasks in each bundle but the last one.
fn size(tasks: &[ExecutionTask], max_bundles: usize) -> usize {
    tasks.len().div_ceil(max_bundles.max(1)).max(1)
}

/// A note about bundles of several tasks. `meaning` is a sentence without its end, such as `Each
/// bar is the largest value`.
pub(crate) fn note(tasks: &[ExecutionTask], max_bundles: usize, meaning: &str) -> Option<String> {
    let size = size(tasks, max_bundles);
    (size > 1).then(|| format!("{meaning} of {size} adjacent tasks."))
}
