//! [`InnermostState`]: the innermost state of a unit at a time.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, GlobalNanos, QueryError, StateLaneId, TimeRange, ValueId};

use crate::execution::Execution;
use crate::execution::units::StateGroup;

/// A state, with the category that its value has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InnermostState {
    /// The state.
    pub(crate) id: EntityId,
    /// Its value.
    pub(crate) value: ValueId,
    /// Its start and end.
    pub(crate) life: TimeRange,
    /// The category of its value.
    pub(crate) category: ActivityCategory,
}

/// Finds the innermost state of a unit at a time. States of ignored values do not count.
///
/// Of several groups of states, the one in the least busy state decides: a receive blocks the
/// thread that waits, not the others.
///
/// # Errors
/// The errors of the source.
pub(crate) fn innermost_state(
    execution: &Execution,
    unit: usize,
    time: i64,
) -> Result<Option<InnermostState>, QueryError> {
    let Some(unit) = execution.units().list().get(unit) else { return Ok(None) };
    let mut best: Option<InnermostState> = None;
    for group in &unit.groups {
        if let Some(state) = innermost_of_group(execution, group, time)?
            && best.is_none_or(|best| state.category > best.category)
        {
            best = Some(state);
        }
    }
    Ok(best)
}

/// Finds the innermost state of a group at a time.
///
/// # Errors
/// The errors of the source.
pub(super) fn innermost_of_group(
    execution: &Execution,
    group: &StateGroup,
    time: i64,
) -> Result<Option<InnermostState>, QueryError> {
    let moment = TimeRange { from: GlobalNanos(time), to: GlobalNanos(time.saturating_add(1)) };
    for depth in (0..group.depths).rev() {
        let lane = StateLaneId { container: group.container, ty: group.ty, depth };
        // States without duration do not cover the moment.
        let list = execution.source().states(lane, moment, 4)?.items;
        let state = list.into_iter().find(|state| state.life.from.0 <= time && time < state.life.to.0);
        let Some(state) = state else { continue };
        let category = execution.categories().category(state.value);
        if category != ActivityCategory::Ignored {
            return Ok(Some(InnermostState { id: state.id, value: state.value, life: state.life, category }));
        }
    }
    Ok(None)
}
