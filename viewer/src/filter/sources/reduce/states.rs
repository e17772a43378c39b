//! Results of a reduction as states: each different value becomes a state value, and the states are simulated like those of a trace, into a
//! store of their own; into an index without a name where they are many.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{Look, PajeEvent, Sink};

use super::Outcome;
use crate::filter::language::ast::{Form, Reduction};
use crate::filter::language::error::FilterError;
use crate::filter::sources::step_function::Piece;
use crate::index::{Index, Key};
use crate::query::{
    Color, ContainerId, GlobalNanos, Lane, Model, QueryError, TimelineSource, TypeId, TypeKind, ValueId, ValueInfo,
};
use crate::sim::Simulation;
use crate::text::entity_rows::told_apart;

/// A state with more values than this cannot be told by colour.
const MOST_VALUES: usize = 1000;
/// So many states are kept in memory.
const IN_MEMORY: usize = 1 << 21;

pub(crate) struct States {
    pub(crate) store: Box<dyn TimelineSource>,
    /// Number of the first state.
    pub(crate) base: u32,
    /// The first of the new values.
    first: ValueId,
    /// The containers in the store.
    of: FxHashMap<(ContainerId, TypeId), ContainerId>,
}

impl States {
    /// Gives each different value a state value, and simulates the steps, which are gone then.
    pub(crate) fn new(
        model: &mut Model,
        results: &mut [Outcome],
        base: u32,
        reduction: &Reduction,
    ) -> Result<Self, FilterError> {
        let mut values: BTreeMap<(TypeId, i64), f64> = BTreeMap::new();
        for result in results.iter() {
            let mut last = None;
            for piece in result.steps.iter() {
                let value = piece?.value;
                // Most values come again soon.
                if last.replace(value.to_bits()) == Some(value.to_bits()) {
                    continue;
                }
                values.insert((result.ty, ordered(value)), value);
                if values.len() > MOST_VALUES {
                    let example = Reduction { form: Form::Variable, ..reduction.clone() }.to_string();
                    return Err(FilterError::TooManyValues { most: MOST_VALUES, example });
                }
            }
        }
        let first = ValueId(model.values.len() as u32);
        let places: FxHashMap<(TypeId, i64), ValueId> =
            values.keys().zip(0..).map(|(&key, at)| (key, ValueId(at))).collect();
        let mut shades: BTreeMap<TypeId, (usize, usize)> = BTreeMap::new();
        for (ty, _) in values.keys() {
            shades.entry(*ty).or_default().1 += 1;
        }
        let names = told_apart(&values.values().copied().collect::<Vec<_>>());
        for ((id, &(ty, _)), name) in (first.0..).zip(values.keys()).zip(names) {
            let (at, of) = shades.entry(ty).or_default();
            let color = shade(*at, *of);
            *at += 1;
            model.values.push(ValueInfo { id: ValueId(id), ty, name, color, look: Look::NONE });
        }
        let of = results.iter().zip(1..).map(|(result, at)| ((result.container, result.ty), ContainerId(at))).collect();
        let store = simulated(results, &places, IN_MEMORY)?;
        for result in results {
            result.steps = crate::filter::sources::step_function::Steps::default();
        }
        Ok(Self { store, base, first, of })
    }

    /// The lane in the store.
    pub(crate) fn lane(&self, lane: Lane) -> Option<Lane> {
        let container = *self.of.get(&(lane.container, lane.ty))?;
        Some(Lane { container, ty: STATE, depth: lane.depth })
    }

    pub(crate) fn has(&self, container: ContainerId, ty: TypeId) -> bool {
        self.of.contains_key(&(container, ty))
    }

    /// Whose state is in a container of the store.
    pub(crate) fn owner(&self, container: ContainerId) -> Option<(ContainerId, TypeId)> {
        self.of.iter().find(|of| *of.1 == container).map(|of| *of.0)
    }

    pub(crate) fn value(&self, value: ValueId) -> ValueId {
        ValueId(self.first.0 + value.0)
    }
}

/// The types of the store.
const OWNER: TypeId = TypeId(1);
const STATE: TypeId = TypeId(2);

/// A store of the pieces of each result.
fn simulated(
    results: &[Outcome],
    places: &FxHashMap<(TypeId, i64), ValueId>,
    in_memory: usize,
) -> Result<Box<dyn TimelineSource>, FilterError> {
    let mut failed = None;
    let mut send = |sink: &mut dyn Sink| {
        send(results, places, sink).map_err(|error| match error {
            Failed::Query(error) => {
                failed = Some(error);
                io::Error::other("the pieces cannot be read")
            }
            Failed::Io(error) => error,
        })
    };
    let mut made = || -> io::Result<Box<dyn TimelineSource>> {
        if results.iter().map(|result| result.steps.len()).sum::<usize>() <= in_memory {
            let mut simulation = Simulation::new("");
            send(&mut simulation)?;
            return Ok(Box::new(simulation.into_store()));
        }
        // The file goes with its folder; what is mapped of it stays.
        let folder = tempfile::tempdir()?;
        let (path, key) = (folder.path().join("states"), Key { size: 0, content: 0, options: 0 });
        Index::write(&path, key, "", &mut send)?;
        Ok(Box::new(Index::map_file(&path, key).map_err(io::Error::other)?))
    };
    made().map_err(|_why| failed.unwrap_or(QueryError::PutAside).into())
}

enum Failed {
    Query(QueryError),
    Io(io::Error),
}

impl From<QueryError> for Failed {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Sends the pieces as states of containers that are numbered from 1, by date.
fn send(results: &[Outcome], places: &FxHashMap<(TypeId, i64), ValueId>, sink: &mut dyn Sink) -> Result<(), Failed> {
    for (ty, kind, parent) in [(OWNER, TypeKind::Container, TypeId::ROOT), (STATE, TypeKind::State, OWNER)] {
        sink.event(&PajeEvent::DefineType { ty, kind, parent, name: "", color: None, look: Look::NONE })?;
    }
    for number in 0..places.len() as u32 {
        let (value, name) = (ValueId(number), number.to_string());
        sink.event(&PajeEvent::DefineValue { value, ty: STATE, name: &name, color: None, look: Look::NONE })?;
    }
    let mut all: Vec<_> = results.iter().map(|result| result.steps.iter()).collect();
    // The next date of each, and the piece that begins then or, if it is there already, ends.
    let mut next: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut now: Vec<(Option<Piece>, bool)> = Vec::with_capacity(all.len());
    for (at, pieces) in all.iter_mut().enumerate() {
        let piece = pieces.next().transpose()?;
        next.extend(piece.map(|piece| Reverse((piece.from, at))));
        now.push((piece, false));
    }
    let begin = GlobalNanos(next.peek().map_or(0, |first| first.0.0));
    for at in 1..=results.len() as u32 {
        let (container, parent) = (ContainerId(at), ContainerId::ROOT);
        sink.event(&PajeEvent::CreateContainer { time: begin, container, ty: OWNER, parent, name: "", extra: &[] })?;
    }
    let mut end = begin;
    while let Some(Reverse((date, at))) = next.pop() {
        let (Some(piece), is_there) = now[at] else { continue };
        let (time, container, ty) = (GlobalNanos(date), ContainerId(at as u32 + 1), STATE);
        if is_there {
            sink.event(&PajeEvent::PopState { time, container, ty })?;
            let piece = all[at].next().transpose()?;
            next.extend(piece.map(|piece| Reverse((piece.from, at))));
            now[at] = (piece, false);
            end = time;
        } else {
            let value = places.get(&(results[at].ty, ordered(piece.value))).copied().unwrap_or(ValueId(0));
            sink.event(&PajeEvent::PushState { time, container, ty, value, extra: &[], source: None })?;
            next.push(Reverse((piece.to, at)));
            now[at].1 = true;
        }
    }
    Ok(sink.finish(end)?)
}

/// A float as an integer of the same order.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// Shade number `at` of so many, from a light to a dark blue: more is darker.
fn shade(at: usize, of: usize) -> Color {
    const LIGHT: [f64; 3] = [236.0, 241.0, 247.0];
    const DARK: [f64; 3] = [8.0, 64.0, 129.0];
    #[expect(clippy::cast_precision_loss, reason = "a shade")]
    let part = at as f64 / (of.max(2) - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a channel")]
    let channel = |of: usize| (LIGHT[of] + (DARK[of] - LIGHT[of]) * part).round() as u8;
    Color { red: channel(0), green: channel(1), blue: channel(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::language::ast::Operation;
    use crate::filter::sources::step_function::{Fold, Room};
    use crate::query::Interval;

    #[test]
    fn an_index_answers_as_a_store() {
        let life = Interval { from: GlobalNanos(0), to: GlobalNanos(100_000) };
        let results: Vec<Outcome> = (0..5_u32)
            .map(|container| {
                let room = Room::new(0);
                let mut fold = Fold::new(Operation::Count, life, None, &room);
                for at in 0..3_000_i64 {
                    let from = at * 31 + i64::from(container);
                    fold.add(&Piece { from, to: from + 7 + at * 13 % 101, value: 1.0 }).expect("there is room");
                }
                let steps = fold.finish().expect("there is room");
                Outcome { container: ContainerId(container), ty: TypeId(7), base: 0, steps }
            })
            .collect();
        let places = (0..50).map(|at| ((TypeId(7), ordered(f64::from(at))), ValueId(at))).collect();
        let all = results.iter().map(|result| result.steps.len() as u64).sum::<u64>();
        let [store, index] = [usize::MAX, 0].map(|most| simulated(&results, &places, most).expect("it is simulated"));
        assert_eq!((store.summary().states, index.summary().states), (all, all));
        for container in (1..=5).map(ContainerId) {
            let lane = Lane { container, ty: STATE, depth: 0 };
            let (a, b) = (store.states(lane, life, usize::MAX).unwrap(), index.states(lane, life, usize::MAX).unwrap());
            assert_eq!(a.total, results[container.index() - 1].steps.len() as u64);
            assert!(
                a.items.iter().zip(&b.items).all(|(a, b)| (a.value, a.life) == (b.value, b.life)) && a.total == b.total
            );
            assert_eq!(store.cells(&[lane], life, 37), index.cells(&[lane], life, 37));
        }
    }
}
