//! Builds the call tree of the states of one type in one container.

use rustc_hash::FxHashMap;
use tumit_viewer::query::entity_walk;
use tumit_viewer::query::{
    ContainerId, GlobalNanos, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TypeId,
};

use crate::call_tree::{CallTree, NameId};
use crate::duration_histogram::DurationHistogram;
use crate::value_names::ValueNames;

/// The calls of one container, or a part of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContainerCalls {
    pub(crate) tree: CallTree,
    /// The whole durations of the calls of each name.
    pub(crate) durations: FxHashMap<NameId, DurationHistogram>,
}

impl ContainerCalls {
    #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.tree.merge(&other.tree);
        for (name, durations) in &other.durations {
            self.durations.entry(*name).or_default().merge(durations);
        }
    }
}

/// A part of the time range of a profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangePart {
    pub(crate) time_range: TimeRange,
    /// Whether calls that began before the part count.
    pub(crate) is_first: bool,
    /// Whether calls without duration at the end of the part count.
    pub(crate) is_last: bool,
}

impl RangePart {
    /// The time range with the states that touch its edges. A list of states leaves out those
    /// without duration at its edges.
    fn touching_range(self) -> TimeRange {
        let TimeRange { from, to } = self.time_range;
        let to = if self.is_last { GlobalNanos(to.0.saturating_add(1)) } else { to };
        TimeRange { from: GlobalNanos(from.0.saturating_sub(1)), to }
    }

    /// Whether a state counts as a call of the part. A state is a call of exactly one part.
    fn has_call(self, state: &StateEntity) -> bool {
        let TimeRange { from, to } = self.time_range;
        let life = state.life;
        let is_instant = life.from >= life.to;
        let begins_before_end = life.from < to || self.is_last && is_instant && life.from == to;
        begins_before_end && (life.from >= from || self.is_first && life.to > from)
    }
}

/// An open call.
struct OpenCall {
    end: i64,
    node: u32,
}

struct TreeBuilder<'a> {
    names: &'a ValueNames,
    part: RangePart,
    calls: ContainerCalls,
    /// From the outermost to the innermost call.
    stack: Vec<OpenCall>,
}

impl TreeBuilder<'_> {
    /// Adds the next state by start. At equal starts, the outer state comes first.
    fn add(&mut self, state: &StateEntity) {
        let TimeRange { from, to } = self.part.time_range;
        let is_call = self.part.has_call(state);
        let (start, mut end) = (state.life.from.0.max(from.0), state.life.to.0);
        if !is_call && start >= end.min(to.0) {
            return;
        }
        while self.stack.last().is_some_and(|call| call.end <= start) {
            self.stack.pop();
        }
        let caller = self.stack.last().map_or(0, |call| call.node);
        if let Some(outer) = self.stack.last() {
            end = end.min(outer.end);
        }
        let name = self.names.name(state.value);
        let node = self.calls.tree.callee(caller, name);
        let nanos = i128::from(end.min(to.0).saturating_sub(start).max(0));
        let sum = self.calls.tree.node_mut(node);
        sum.total += nanos;
        sum.self_time += nanos;
        if is_call {
            sum.calls += 1;
            let duration = state.life.to.0.saturating_sub(state.life.from.0);
            self.calls.durations.entry(name).or_default().add(duration);
        }
        let outer = self.calls.tree.node_mut(caller);
        match self.stack.is_empty() {
            true => outer.total += nanos,
            false => outer.self_time -= nanos,
        }
        if start < end {
            self.stack.push(OpenCall { end, node });
        }
    }
}

/// The calls of a container in a part of a time range. Reads each state once.
///
/// # Errors
/// As [`TimelineSource::states`].
pub(crate) fn container_calls(
    source: &dyn TimelineSource,
    names: &ValueNames,
    (container, ty): (ContainerId, TypeId),
    part: RangePart,
) -> Result<ContainerCalls, QueryError> {
    let mut builder = TreeBuilder { names, part, calls: ContainerCalls::default(), stack: Vec::new() };
    let range = part.touching_range();
    let mut add = |state: &StateEntity| {
        builder.add(state);
        Ok(())
    };
    match source.depths(container, ty) {
        0 | 1 => entity_walk::states(source, StateLaneId { container, ty, depth: 0 }, range, add)?,
        _ => entity_walk::nested_states_and_instants(source, (container, ty), range, &mut add)?,
    }
    Ok(builder.calls)
}
