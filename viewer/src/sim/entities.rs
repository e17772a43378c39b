//! [`Entities`]: who takes entities from the simulation, each when it has ended.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, Extra, Shape, Source, TypeId, ValueId};
use tumit_spill::endpoint_map::Overflow;

use crate::query::{ContainerInfo, Interval, TypeInfo};

/// The states, the events or the variable of one type in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// A number of its own among those of its kind, from 0, in order of first use.
    pub number: u32,
    /// The container.
    pub container: ContainerId,
    /// The type.
    pub ty: TypeId,
}

/// A state that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedState {
    /// When it was.
    pub life: Interval,
    /// How many states it stood in.
    pub depth: u32,
    /// Its value.
    pub value: ValueId,
    /// Its extra fields and source position, as [`Entities::detail`] numbered them.
    pub detail: u32,
    /// Of the states of its place that began before date 0, in the order in which they began, which it is, from 1; else 0.
    pub early: u32,
}

/// A link of which both ends are there.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct EndedLink {
    pub container: ContainerId,
    pub ty: TypeId,
    pub value: ValueId,
    pub start_time: GlobalNanos,
    pub end_time: GlobalNanos,
    pub start: ContainerId,
    pub end: ContainerId,
    pub key: u64,
    pub detail: u32,
}

/// Takes entities. Types, values and containers come before the entities that refer to them.
///
/// Extra fields and source positions stay here while their entity is open; the simulation knows them by number, 0 standing
/// for none. A number goes to the entity that ends with it, to [`Self::join`] or to [`Self::forget`], once.
pub trait Entities {
    /// How many entities there may be.
    const MOST: u64 = u64::MAX;

    /// Fields that entities will have.
    fn announce(&mut self, shape: &Shape<'_>) {
        let _ = shape;
    }

    /// A type was defined.
    fn define_type(&mut self, ty: &TypeInfo) {
        let _ = ty;
    }

    /// A value was defined, or defined anew.
    fn define_value(&mut self, value: ValueId, name: &str) {
        let _ = (value, name);
    }

    /// A container was created.
    fn create(&mut self, container: &ContainerInfo) {
        let _ = container;
    }

    /// Keeps what an entity has beside its value.
    fn detail(&mut self, extra: &[Extra<'_>], source: Option<Source<'_>>) -> u32;

    /// One number for those of two ends of a link.
    fn join(&mut self, start: u32, end: u32) -> u32;

    /// The half of a link with this number waits, maybe for ever: containers that it names need not be known.
    fn wait(&mut self, detail: u32) {
        let _ = detail;
    }

    /// Where halves of links go when there are too many for memory.
    fn overflow(&self) -> Overflow {
        Overflow::default()
    }

    /// No entity will come with this number.
    fn forget(&mut self, detail: u32) {
        let _ = detail;
    }

    /// The text of a link's key: before the first end with it.
    fn name_key(&mut self, key: u64, text: &str) {
        let _ = (key, text);
    }

    /// No further link is waiting with this key.
    fn forget_key(&mut self, key: u64) {
        let _ = key;
    }

    /// A container has ended, and all in it.
    fn container(&mut self, container: &ContainerInfo, detail: u32) {
        let _ = (container, detail);
    }

    /// A state has ended. Those of one place and depth come in order.
    fn state(&mut self, place: Place, state: EndedState);

    /// A point event. Those of one place come in the order of the trace.
    fn event(&mut self, place: Place, time: GlobalNanos, value: ValueId, detail: u32);

    /// A variable had this value. Those of one place come in order.
    fn sample(&mut self, place: Place, life: Interval, value: f64);

    /// Both ends of a link are there.
    fn link(&mut self, link: &EndedLink);

    /// Called after each operation.
    ///
    /// # Errors
    /// When what was taken cannot be written.
    fn after(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether all that was taken can be taken back, by [`Self::begin_anew`]. Where it can, a run may be read once, not twice.
    fn can_begin_anew(&self) -> bool {
        false
    }

    /// What was taken is void: it begins anew, with types, values and containers.
    ///
    /// # Errors
    /// When it cannot be taken back.
    fn begin_anew(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The trace has ended, and everything in it.
    ///
    /// # Errors
    /// As [`Self::after`].
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
