//! Adjacent tasks that a view shows together, because it has no place for each.

use tumit_viewer::query::TimeRange;

use crate::chart::ChartPaint;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::order::natural_order;
use crate::execution::tasks::ExecutionTask;
use crate::options::TaskSort;
use crate::span_label::span_label;

/// The tasks in an order.
pub(crate) struct TaskOrder<'a> {
    tasks: &'a [ExecutionTask],
    order: Vec<usize>,
    sort: TaskSort,
}

/// Adjacent tasks.
pub(crate) struct TaskBundle<'a> {
    /// The colour of the first task.
    pub(crate) paint: ChartPaint,
    /// The name of the task, or of the first and last one.
    pub(crate) label: String,
    /// The indexes of the tasks, at least one.
    pub(crate) members: &'a [usize],
}

impl<'a> TaskOrder<'a> {
    /// The tasks of an execution. Times are those of the time range.
    pub(crate) fn new(execution: &'a Execution, sort: TaskSort, range: TimeRange) -> Result<Self, PerspectiveError> {
        let tasks = execution.tasks()?.list();
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        let life = |task: &usize| tasks[*task].life;
        match sort {
            TaskSort::Number => order.sort_by_key(|task| tasks[*task].number),
            TaskSort::Begin => {}
            TaskSort::Name => order.sort_by(|a, b| natural_order(&tasks[*a].name, &tasks[*b].name)),
            TaskSort::End => order.sort_by_key(|task| life(task).to),
            TaskSort::Duration => {
                order.sort_by_key(|task| std::cmp::Reverse(life(task).to.0.saturating_sub(life(task).from.0)));
            }
            TaskSort::Time => {
                let times = execution.active_tasks()?.unit_times(range);
                order.sort_by_key(|task| std::cmp::Reverse(times[*task]));
            }
        }
        Ok(Self { tasks, order, sort })
    }

    /// The tasks and their indexes, in the order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &'a ExecutionTask)> {
        self.order.iter().map(|task| (*task, &self.tasks[*task]))
    }

    /// Forms at most `max_bundles` bundles of adjacent tasks. All have the same size but the last
    /// one.
    pub(crate) fn bundles(&self, max_bundles: usize) -> Vec<TaskBundle<'_>> {
        let bundle = |members: &'_ [usize]| {
            let name = |task: Option<&usize>| task.map_or_else(String::new, |task| self.tasks[*task].name.clone());
            let label = match members {
                [task] => name(Some(task)),
                _ => span_label(&name(members.first()), &name(members.last())),
            };
            (members.first().map_or(ChartPaint::Absent, |task| self.tasks[*task].paint()), label)
        };
        let chunks = self.order.chunks(self.size(max_bundles));
        let all = chunks.map(|members| {
            let (paint, label) = bundle(members);
            TaskBundle { paint, label, members }
        });
        all.collect()
    }

    /// The number of tasks in each bundle but the last one.
    fn size(&self, max_bundles: usize) -> usize {
        self.tasks.len().div_ceil(max_bundles.max(1)).max(1)
    }

    /// The order in words. Empty for the usual one.
    pub(crate) fn caption(&self) -> String {
        match self.sort {
            TaskSort::Number => "",
            TaskSort::Begin => "sorted by first begin",
            TaskSort::Name => "sorted by name",
            TaskSort::End => "sorted by last end",
            TaskSort::Duration => "sorted by duration, longest first",
            TaskSort::Time => "sorted by time of all units, longest first",
        }
        .to_owned()
    }

    /// A note about bundles of several tasks. `meaning` is a sentence without its end, such as
    /// `Each bar is the largest value`.
    pub(crate) fn note(&self, max_bundles: usize, meaning: &str) -> Option<String> {
        let size = self.size(max_bundles);
        (size > 1).then(|| format!("{meaning} of {size} adjacent tasks."))
    }
}
