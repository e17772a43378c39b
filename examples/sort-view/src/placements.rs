//! [`Placements`]: the events of the sort, read through the queries of the viewer.

use std::collections::BTreeMap;

use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::Execution;
use tumit_viewer::query::{EntityId, PajeTypeKind, entity_walk};

/// The name of the event type in `sort.tumit`.
const EVENT_TYPE: &str = "Placement";

/// An element has a place from a timestamp on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ElementPlace {
    pub(crate) time: i64,
    pub(crate) element: u32,
    pub(crate) position: f64,
    pub(crate) value: f64,
}

/// All events that place elements, by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placements {
    list: Vec<ElementPlace>,
    /// The timestamps at which the array changes, and the pairs in the wrong order from then on.
    disorder: Vec<(i64, u32)>,
}

impl Placements {
    /// Reads the events of a trace.
    pub(crate) fn read(execution: &Execution) -> Result<Self, PerspectiveError> {
        let (source, model) = (execution.source(), execution.model());
        let types = model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Event && ty.name == EVENT_TYPE);
        let mut range = execution.extent();
        range.to.0 += 1;
        let mut events: Vec<(i64, EntityId)> = Vec::new();
        for ty in types {
            for container in source.containers().iter() {
                entity_walk::events(source, (container.id, ty.id), range, |event| {
                    events.push((event.time.0, event.id));
                    Ok(())
                })?;
            }
        }
        if events.is_empty() {
            return Err(PerspectiveError::NoData {
                missing_data: format!("events of the type {EVENT_TYPE}"),
                remedy: "record the example `parallel_sort`".to_owned(),
            });
        }
        events.sort_by_key(|event| event.0);
        let ids: Vec<EntityId> = events.iter().map(|event| event.1).collect();
        let field = |name: &str| source.number_fields(&ids, name);
        let (elements, positions, values) = (field("element")?, field("position")?, field("value")?);
        let mut placements = Self::default();
        for (at, (time, _)) in events.into_iter().enumerate() {
            let (Some(element), Some(position), Some(value)) = (elements[at], positions[at], values[at]) else {
                continue;
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
            let element = element as u32;
            placements.list.push(ElementPlace { time, element, position, value });
        }
        placements.add_disorder();
        Ok(placements)
    }

    /// Counts the pairs in the wrong order after each timestamp.
    fn add_disorder(&mut self) {
        let mut latest: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for same_time in self.list.chunk_by(|one, next| one.time == next.time) {
            for placement in same_time {
                latest.insert(placement.element, (placement.position, placement.value));
            }
            self.disorder.push((same_time[0].time, inversions(latest.values().copied().collect())));
        }
    }

    /// The latest placement of each element at a time, by position.
    pub(crate) fn array_at(&self, time: i64) -> Vec<ElementPlace> {
        let count = self.list.partition_point(|placement| placement.time <= time);
        let latest: BTreeMap<u32, ElementPlace> =
            self.list[..count].iter().map(|placement| (placement.element, *placement)).collect();
        let mut array: Vec<ElementPlace> = latest.into_values().collect();
        array.sort_by(|one, other| one.position.total_cmp(&other.position));
        array
    }

    /// The elements that the last exchange before a time has moved.
    pub(crate) fn newest_exchange(&self, time: i64) -> Vec<u32> {
        let count = self.list.partition_point(|placement| placement.time <= time);
        self.list[..count].iter().rev().take(2).map(|placement| placement.element).collect()
    }

    /// The number of pairs in the wrong order at a time.
    pub(crate) fn disorder_at(&self, time: i64) -> u32 {
        let count = self.disorder.partition_point(|step| step.0 <= time);
        count.checked_sub(1).map_or(0, |at| self.disorder[at].1)
    }

    /// The last position and the largest value.
    pub(crate) fn extent(&self) -> (f64, f64) {
        let largest = |of: fn(&ElementPlace) -> f64| self.list.iter().map(of).fold(0.0, f64::max);
        (largest(|placement| placement.position), largest(|placement| placement.value))
    }
}

/// The number of pairs of elements, given as positions and values, that are in the wrong order.
fn inversions(mut elements: Vec<(f64, f64)>) -> u32 {
    elements.sort_by(|one, other| one.0.total_cmp(&other.0));
    let later = |(at, one): (usize, &(f64, f64))| elements[at + 1..].iter().filter(|other| other.1 < one.1).count();
    let count: usize = elements.iter().enumerate().map(later).sum();
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::inversions;

    #[test]
    fn pairs_in_the_wrong_order_are_counted() {
        assert_eq!(inversions(vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]), 0);
        assert_eq!(inversions(vec![(2.0, 1.0), (1.0, 2.0), (0.0, 3.0)]), 3);
        assert_eq!(inversions(vec![(0.0, 1.0), (2.0, 2.0), (1.0, 3.0)]), 1);
    }
}
