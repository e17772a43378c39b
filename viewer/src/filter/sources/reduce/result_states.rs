//! Results of a reduction as states. Each different value becomes a state value. The states are
//! simulated like those of a trace, into a separate store, or into an unnamed index if there are
//! many.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{DrawStyle, PajeEvent, PajeSink};

use super::container_reduction::ContainerReduction;
use crate::filter::language::ast::{Reduction, ReductionForm};
use crate::filter::language::error::FilterError;
use crate::filter::sources::function_pieces::{FunctionPiece, PieceBlocks};
use crate::index::{IndexKey, IndexReader};
use crate::query::{
    ContainerId, GlobalNanos, PajeTypeKind, QueryError, RgbColor, StateLaneId, TimelineSource, TypeId, TypeModel,
    ValueId, ValueInfo,
};
use crate::sim::Simulation;
use crate::text::entity_rows::format_distinct;

/// With more values than this, colours cannot distinguish the states.
const MAX_VALUES: usize = 1000;
/// Maximum number of states in memory.
const MAX_STATES_IN_MEMORY: usize = 1 << 21;

/// Numbers of the shades of a type.
#[derive(Default)]
struct TypeShades {
    container_count: usize,
    total: usize,
}

struct CurrentPiece {
    /// `None` after the last piece.
    piece: Option<FunctionPiece>,
    /// Whether its start has been sent.
    has_begun: bool,
}

pub(crate) struct ResultStates {
    pub(crate) store: Box<dyn TimelineSource>,
    /// Number of the first state.
    pub(crate) base: u32,
    /// The first of the new values.
    first: ValueId,
    /// The containers in the store, by container and type of the result.
    store_containers: FxHashMap<(ContainerId, TypeId), ContainerId>,
}

impl ResultStates {
    /// Assigns a state value to each different value, and simulates the steps. This removes the
    /// steps from the results.
    pub(crate) fn new(
        model: &mut TypeModel,
        results: &mut [ContainerReduction],
        base: u32,
        reduction: &Reduction,
    ) -> Result<Self, FilterError> {
        let mut values: BTreeMap<(TypeId, i64), f64> = BTreeMap::new();
        for result in results.iter() {
            let mut last = None;
            for piece in result.steps.iter() {
                let value = piece?.value;
                // Consecutive pieces can have equal values, with a gap between them.
                if last.replace(value.to_bits()) == Some(value.to_bits()) {
                    continue;
                }
                values.insert((result.ty, sortable_integer(value)), value);
                if values.len() > MAX_VALUES {
                    let example = Reduction { form: ReductionForm::Variable, ..reduction.clone() }.to_string();
                    return Err(FilterError::TooManyValues { limit: MAX_VALUES, example });
                }
            }
        }
        let first = ValueId(model.values.len() as u32);
        let value_ids: FxHashMap<(TypeId, i64), ValueId> =
            values.keys().zip(0..).map(|(&key, number)| (key, ValueId(number))).collect();
        let mut shades: BTreeMap<TypeId, TypeShades> = BTreeMap::new();
        for (ty, _) in values.keys() {
            shades.entry(*ty).or_default().total += 1;
        }
        let names = format_distinct(&values.values().copied().collect::<Vec<_>>());
        for ((id, &(ty, _)), name) in (first.0..).zip(values.keys()).zip(names) {
            let shades = shades.entry(ty).or_default();
            let color = shade(shades.container_count, shades.total);
            shades.container_count += 1;
            model.values.push(ValueInfo { id: ValueId(id), ty, name, color, style: DrawStyle::NONE, category: None });
        }
        let store_containers = results
            .iter()
            .zip(1..)
            .map(|(result, number)| ((result.container, result.ty), ContainerId(number)))
            .collect();
        let store = simulate_pieces(results, &value_ids, MAX_STATES_IN_MEMORY)?;
        for result in results {
            result.steps = PieceBlocks::default();
        }
        Ok(Self { store, base, first, store_containers })
    }

    /// The corresponding lane of the store.
    pub(crate) fn lane(&self, lane: StateLaneId) -> Option<StateLaneId> {
        let container = *self.store_containers.get(&(lane.container, lane.ty))?;
        Some(StateLaneId { container, ty: STATE, depth: lane.depth })
    }

    pub(crate) fn has(&self, container: ContainerId, ty: TypeId) -> bool {
        self.store_containers.contains_key(&(container, ty))
    }

    /// The container and type of the result that a container of the store represents.
    pub(crate) fn owner(&self, container: ContainerId) -> Option<(ContainerId, TypeId)> {
        self.store_containers.iter().find(|of| *of.1 == container).map(|of| *of.0)
    }

    pub(crate) fn value(&self, value: ValueId) -> ValueId {
        ValueId(self.first.0 + value.0)
    }
}

/// The types of the store.
const OWNER: TypeId = TypeId(1);
const STATE: TypeId = TypeId(2);

/// A store with the pieces of each result.
fn simulate_pieces(
    results: &[ContainerReduction],
    value_ids: &FxHashMap<(TypeId, i64), ValueId>,
    in_memory: usize,
) -> Result<Box<dyn TimelineSource>, FilterError> {
    let mut failure = None;
    let mut send = |sink: &mut dyn PajeSink| {
        send(results, value_ids, sink).map_err(|error| match error {
            ResultStatesError::Query(error) => {
                failure = Some(error);
                io::Error::other("the results cannot be read")
            }
            ResultStatesError::Io(error) => error,
        })
    };
    let mut build = || -> io::Result<Box<dyn TimelineSource>> {
        if results.iter().map(|result| result.steps.len()).sum::<usize>() <= in_memory {
            let mut simulation = Simulation::new("");
            send(&mut simulation)?;
            return Ok(Box::new(simulation.into_store()));
        }
        // The file is deleted with its folder, but its mapping stays valid.
        let folder = tempfile::tempdir()?;
        let (path, key) = (folder.path().join("states"), IndexKey { size: 0, content: 0, options: 0 });
        IndexReader::write(&path, key, "", &mut send)?;
        Ok(Box::new(IndexReader::map_file(&path, key).map_err(io::Error::other)?))
    };
    build().map_err(|_why| failure.unwrap_or(QueryError::PutAside).into())
}

enum ResultStatesError {
    Query(QueryError),
    Io(io::Error),
}

impl From<QueryError> for ResultStatesError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<io::Error> for ResultStatesError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Sends the pieces in order of time, as states of containers that are numbered from 1.
fn send(
    results: &[ContainerReduction],
    value_ids: &FxHashMap<(TypeId, i64), ValueId>,
    sink: &mut dyn PajeSink,
) -> Result<(), ResultStatesError> {
    for (ty, kind, parent) in [(OWNER, PajeTypeKind::Container, TypeId::ROOT), (STATE, PajeTypeKind::State, OWNER)] {
        sink.event(&PajeEvent::DefineType { ty, kind, parent, name: "", color: None, style: DrawStyle::NONE })?;
    }
    for number in 0..value_ids.len() as u32 {
        let (value, name) = (ValueId(number), number.to_string());
        sink.event(&PajeEvent::DefineValue {
            value,
            ty: STATE,
            name: &name,
            color: None,
            style: DrawStyle::NONE,
            category: None,
        })?;
    }
    let mut all: Vec<_> = results.iter().map(|result| result.steps.iter()).collect();
    // The next timestamp of each result, and the index of the result. The timestamp is the start of
    // the current piece, or its end if it has begun.
    let mut next: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut current: Vec<CurrentPiece> = Vec::with_capacity(all.len());
    for (index, pieces) in all.iter_mut().enumerate() {
        let piece = pieces.next().transpose()?;
        next.extend(piece.map(|piece| Reverse((piece.from, index))));
        current.push(CurrentPiece { piece, has_begun: false });
    }
    let begin = GlobalNanos(next.peek().map_or(0, |first| first.0.0));
    for number in 1..=results.len() as u32 {
        let (container, parent) = (ContainerId(number), ContainerId::ROOT);
        sink.event(&PajeEvent::CreateContainer { time: begin, container, ty: OWNER, parent, name: "", extra: &[] })?;
    }
    let mut end = begin;
    while let Some(Reverse((timestamp, index))) = next.pop() {
        let CurrentPiece { piece: Some(piece), has_begun } = current[index] else { continue };
        let (time, container, ty) = (GlobalNanos(timestamp), ContainerId(index as u32 + 1), STATE);
        if has_begun {
            sink.event(&PajeEvent::PopState { time, container, ty })?;
            let piece = all[index].next().transpose()?;
            next.extend(piece.map(|piece| Reverse((piece.from, index))));
            current[index] = CurrentPiece { piece, has_begun: false };
            end = time;
        } else {
            let value =
                value_ids.get(&(results[index].ty, sortable_integer(piece.value))).copied().unwrap_or(ValueId(0));
            sink.event(&PajeEvent::PushState { time, container, ty, value, extra: &[], source: None })?;
            next.push(Reverse((piece.to, index)));
            current[index].has_begun = true;
        }
    }
    Ok(sink.finish(end)?)
}

/// A float as an integer in the same order.
fn sortable_integer(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// Shade number `rank` of `count`, from light to dark blue. Larger numbers are darker.
fn shade(rank: usize, count: usize) -> RgbColor {
    const LIGHT: [f64; 3] = [236.0, 241.0, 247.0];
    const DARK: [f64; 3] = [8.0, 64.0, 129.0];
    #[expect(clippy::cast_precision_loss, reason = "a shade")]
    let part = rank as f64 / (count.max(2) - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a channel")]
    let channel = |of: usize| (LIGHT[of] + (DARK[of] - LIGHT[of]) * part).round() as u8;
    RgbColor { red: channel(0), green: channel(1), blue: channel(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::language::ast::ReduceOperation;
    use crate::filter::sources::function_pieces::{PieceFold, PieceMemory};
    use crate::query::TimeRange;

    #[test]
    fn an_index_gives_the_results_of_a_store() {
        let life = TimeRange { from: GlobalNanos(0), to: GlobalNanos(100_000) };
        let results: Vec<ContainerReduction> = (0..5_u32)
            .map(|container| {
                let memory = PieceMemory::new(0);
                let mut fold = PieceFold::new(ReduceOperation::Count, life, None, &memory);
                for number in 0..3_000_i64 {
                    let from = number * 31 + i64::from(container);
                    fold.add(&FunctionPiece { from, to: from + 7 + number * 13 % 101, value: 1.0 })
                        .expect("the pieces can be written");
                }
                let steps = fold.finish().expect("the pieces can be written");
                ContainerReduction { container: ContainerId(container), ty: TypeId(7), base: 0, steps }
            })
            .collect();
        let value_ids =
            (0..50).map(|number| ((TypeId(7), sortable_integer(f64::from(number))), ValueId(number))).collect();
        let all = results.iter().map(|result| result.steps.len() as u64).sum::<u64>();
        let [store, index] = [usize::MAX, 0]
            .map(|max_bytes| simulate_pieces(&results, &value_ids, max_bytes).expect("the simulation succeeds"));
        assert_eq!((store.summary().states, index.summary().states), (all, all));
        for container in (1..=5).map(ContainerId) {
            let lane = StateLaneId { container, ty: STATE, depth: 0 };
            let (a, b) = (store.states(lane, life, usize::MAX).unwrap(), index.states(lane, life, usize::MAX).unwrap());
            assert_eq!(a.total, results[container.index() - 1].steps.len() as u64);
            assert!(
                a.items.iter().zip(&b.items).all(|(a, b)| (a.value, a.life) == (b.value, b.life)) && a.total == b.total
            );
            assert_eq!(store.cells(&[lane], life, 37), index.cells(&[lane], life, 37));
        }
    }
}
