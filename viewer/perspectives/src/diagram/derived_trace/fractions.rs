//! The fractions of units with several timelines, as containers below the units.
//!
//! Each timeline counts as an equal part of its unit. If the units have different numbers of
//! timelines, each timeline has several containers, so that every unit has the same number of
//! containers, and counts once in a sum over all containers.

use rustc_hash::FxHashMap;
use tumit_paje::PajeTypeKind;
use tumit_viewer::query::{ContainerId, TypeId};

use super::trace_builder::{DerivedContainers, TraceBuilder};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::activity::UnitActivity;

/// Maximum number of containers per unit. With more, units with different numbers of timelines have
/// one container per timeline.
const MAX_FRACTIONS: usize = 64;

/// Whether a unit has several timelines.
pub(super) fn are_needed(activity: &UnitActivity) -> bool {
    (0..activity.units()).any(|unit| activity.timelines(unit).len() > 1)
}

/// The containers of the timelines below the units.
pub(super) struct Fractions {
    pub(super) ty: TypeId,
    pub(super) containers: Vec<ContainerId>,
    /// For each container, its unit and the number of its timeline in the unit.
    pub(super) parts: Vec<(usize, usize)>,
}

/// Adds the containers.
///
/// # Errors
/// If the source fails.
pub(super) fn add(
    execution: &Execution,
    units: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<Fractions, PerspectiveError> {
    let (activity, list) = (execution.activity()?, execution.units().list());
    let all = execution.source().containers();
    let ty = builder.define_type(PajeTypeKind::Container, units.unit_type, part_type_name(execution));
    let (mut containers, mut parts) = (Vec::new(), Vec::new());
    let names: FxHashMap<ContainerId, &str> = all.iter().map(|info| (info.id, info.name.as_str())).collect();
    let fractions = common_number((0..activity.units()).map(|unit| activity.timelines(unit).len().max(1)));
    for (unit, &parent) in units.units.iter().enumerate() {
        let timelines = activity.timelines(unit);
        let copies = fractions.map_or(1, |fractions| fractions / timelines.len().max(1));
        for part in 0..timelines.len() {
            let group = list[unit].groups.get(part).map_or(list[unit].container, |group| group.container);
            let name = names.get(&group).copied().unwrap_or_default();
            for copy in 1..=copies {
                let name = if copies == 1 { name.to_owned() } else { format!("{name} ({copy} of {copies})") };
                let container = ContainerId(builder.containers + 1);
                builder.add_container(container, (parent, ty), &name, execution.extent());
                containers.push(container);
                parts.push((unit, part));
            }
        }
    }
    Ok(Fractions { ty, containers, parts })
}

/// The name of the container type of the timelines below the units.
fn part_type_name(execution: &Execution) -> &str {
    let units = execution.units();
    let below = units.list().iter().flat_map(|unit| unit.groups.iter().map(move |group| (unit.container, group)));
    let below = below.filter(|(unit, group)| *unit != group.container).map(|(_, group)| group.container).next();
    let containers = execution.source().containers();
    let ty = below.and_then(|below| containers.iter().find(|info| info.id == below)).map(|info| info.ty);
    ty.and_then(|ty| execution.model().types.get(ty.index())).map_or("Part", |ty| ty.name.as_str())
}

/// The least common multiple of the numbers, if it is at most [`MAX_FRACTIONS`].
fn common_number(numbers: impl Iterator<Item = usize>) -> Option<usize> {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    let is_common = |number: &usize| numbers.iter().all(|divisor| number.is_multiple_of(*divisor));
    (1..=MAX_FRACTIONS).find(is_common)
}

#[cfg(test)]
mod tests {
    use super::common_number;

    #[test]
    fn units_have_a_common_number_of_fractions() {
        assert_eq!(common_number([4, 4].into_iter()), Some(4));
        assert_eq!(common_number([1, 4, 6].into_iter()), Some(12));
        assert_eq!(common_number([7, 8, 9].into_iter()), None);
    }
}
