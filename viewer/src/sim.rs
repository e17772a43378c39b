//! [`Simulation`]: Pajé operations become entities (thesis P14–P39), each given to an [`Entities`] when it has ended.
//!
//! Memory is that of open states, of the containers, and of what the taker keeps; halves of links that wait go to a file when they are many.
//!
//! Every case that the format leaves open is decided here, counted, and told in [`crate::query::Summary::remarks`]:
//!
//! | case | what happens |
//! |---|---|
//! | a date before the last one of the same type in the same container | states and variables: moved up to that one; point events: sorted |
//! | pop or reset of nothing | pop: counted, nothing ends; reset: nothing, as the format says |
//! | set with states on the stack | all of them end, the new one starts at depth 0 |
//! | more than 65,536 nested states | deeper ones are counted, not kept; their pops are recognised |
//! | add to or subtract from a variable never set | starts from 0 |
//! | a variable that leaves the finite numbers | the change is dropped |
//! | a variable set twice at one date | the later value counts |
//! | end of a link before its start | they are paired all the same, dates are kept |
//! | a key used again | after its pair: a new link; before: pairs in order of arrival |
//! | other value at the end of a link than at its start | the start's counts |
//! | half of a link without the other | not kept |
//! | an operation after the destruction of its container | Pajé text: kept, and the container lasts
//! until then; run or `--pj-dump`: not kept |
//! | a container created in a destroyed one | not kept, nor anything in it |
//! | a link that starts or ends at a destroyed container | kept, as `pj_dump` does |
//! | destruction | ends all states, variables and containers inside, not before the last date of anything there |
//! | anything dated before the creation of the container that holds it | kept: the container begins then |
//! | a second creation or destruction of one container | the first counts |
//! | a type in a container of another type than declared | kept |
//! | what is open at the end | ends at the largest date |

pub(crate) mod checkpoint;
pub(crate) mod collector;
mod containers;
pub(crate) mod counter;
mod entities;
mod faults;
pub(crate) mod finish;
mod links;
mod load;
pub(crate) mod location_cache;
mod outcome;
mod states;
#[cfg(test)]
mod tests;
mod variables;

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    Color, ContainerId, Extra, KeyId, Look, PajeEvent, PlainEvent, PlainKind, Shape, Sink, Source, TypeId, TypeKind,
    ValueId,
};

use crate::query::RawValue;
use crate::query::{ContainerInfo, Interval, TypeInfo};
pub use checkpoint::LoadError;
pub use collector::Gather;
use containers::Containers;
pub use counter::Tally;
pub use entities::{EndedLink, EndedState, Entities, Place};
pub use faults::Fault;
use faults::Faults;
use links::{Half, Links};
use location_cache::RecentStacks;
pub(crate) use outcome::Outcome;
use states::Stack;
use variables::Variable;

/// A fault of the trace, as it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub fault: Fault,
    /// How often.
    pub count: u64,
    /// The line of the first, if [`Sink::at_line`] told lines, as [`Place`](tumit_paje::read::Place) reads it; else 0.
    pub line: u64,
    /// The part of a split trace that has the line; empty for the root file.
    pub file: String,
    /// The date of the first, if it came behind something that has one.
    pub time: Option<GlobalNanos>,
}

impl Found {
    /// What is wrong, with the number, where the first is (its line, or its date where there are no lines), and what to do.
    #[must_use]
    pub fn sentence(&self) -> String {
        faults::sentence(self)
    }
}

/// A simulation under way. One that gathers is made into a [`Store`](crate::store::Store) at its end.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Simulation<E = Gather> {
    name: String,
    types: Vec<TypeInfo>,
    values: Vec<RawValue>,
    /// By value, close together: it is asked for each operation.
    value_types: Vec<TypeId>,
    containers: Containers,
    stacks: Vec<Stack>,
    #[serde(skip)]
    recent: RecentStacks,
    variables: Vec<Variable>,
    /// How many places of point events there are.
    marks: Vec<Marks>,
    links: Links,
    entities: E,
    faults: Faults,
    first: i64,
    last: i64,
    /// The date of the last operation that had one.
    latest: i64,
    /// Whether to be as inexact as `pj_dump`,
    peer: bool,
    /// and whether the numbers are those that it reads.
    peer_text: bool,
    /// States, events, links and samples so far.
    taken: u64,
    remarks: Vec<String>,
    /// Whether no fault was told from outside.
    intact: bool,
    /// As [`Summary::wall_clock`](crate::query::Summary::wall_clock).
    wall_clock: Option<i64>,
}

/// Point events of one type in one container.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Marks {
    place: Place,
    last: i64,
    /// When the container was created.
    born: i64,
    /// The first date here or that, and the last one.
    reach: (i64, i64),
}

/// The state, variable or events of one type in one container: an index into the list of its kind.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
enum Slot {
    Stack(u32),
    Variable(u32),
    Marks(u32),
}

/// What is common to entities: container, type and value.
type Of = (ContainerId, TypeId, ValueId);

impl Simulation {
    /// An empty one that gathers; `name` is the trace's, for titles.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::into_entities(name, Gather::default())
    }
}

impl<E: Entities> Simulation<E> {
    /// An empty one that gives entities away; `name` is the trace's, for titles.
    pub fn into_entities(name: &str, mut entities: E) -> Self {
        let root = TypeInfo {
            id: TypeId::ROOT,
            kind: TypeKind::Container,
            parent: TypeId::ROOT,
            name: name.to_owned(),
            color: None,
            look: Look::NONE,
        };
        let containers = Containers::new(name);
        entities.define_type(&root);
        entities.create(containers.root());
        Self {
            name: name.to_owned(),
            types: vec![root],
            values: Vec::new(),
            value_types: Vec::new(),
            containers,
            stacks: Vec::new(),
            recent: RecentStacks::new(),
            variables: Vec::new(),
            marks: Vec::new(),
            links: Links::new(entities.overflow()),
            entities,
            faults: Faults::default(),
            first: i64::MAX,
            last: i64::MIN,
            latest: i64::MIN,
            peer: false,
            peer_text: false,
            taken: 0,
            remarks: Vec::new(),
            intact: true,
            wall_clock: None,
        }
    }

    /// Does as `pj_dump` does where it leaves the format: values of variables pass through 32 bits and may become infinite, what is open at the end
    /// ends at the date of the last operation, not at the largest one, and no container's end is moved.
    /// `of_text` says that it is text that was read as `pj_dump` reads it ([`Reader::as_pj_dump`](tumit_paje::read::Reader::as_pj_dump)):
    /// then any number is a value, and the end is that which the reader tells.
    #[must_use]
    pub fn as_pj_dump(mut self, of_text: bool) -> Self {
        (self.peer, self.peer_text) = (true, of_text);
        self
    }

    /// Who takes the entities.
    pub fn entities(&self) -> &E {
        &self.entities
    }

    /// How many kinds of faults there were so far.
    #[must_use]
    pub fn kinds_of_faults(&self) -> usize {
        self.faults.kinds
    }

    /// What was wrong so far, one entry for each kind.
    #[must_use]
    pub fn found(&self) -> Vec<Found> {
        self.faults.found().collect()
    }

    /// Adds sentences about what was wrong with the trace before it came here.
    pub fn fault(&mut self, faults: impl IntoIterator<Item = String>) {
        let before = self.remarks.len();
        self.remarks.extend(faults);
        self.intact &= self.remarks.len() == before;
    }

    /// Adds sentences that a user should know, though nothing is wrong.
    pub fn remark(&mut self, remarks: impl IntoIterator<Item = String>) {
        self.remarks.extend(remarks);
    }

    /// Sets the real time of trace time 0, nanoseconds since 1970.
    pub(crate) fn set_wall_clock(&mut self, nanos: Option<i64>) {
        self.wall_clock = nanos;
    }

    /// Takes the next operation. What is wrong with it is counted. Where so many halves of links wait that files are needed,
    /// which not all [`Entities`] want, [`Sink::event`] also tells when that fails.
    pub fn take(&mut self, event: &PajeEvent<'_>) {
        if let Some(time) = event.time() {
            self.pass(time.0);
        }
        if self.is_full() {
            return;
        }
        match *event {
            PajeEvent::DefineType { ty, kind, parent, name, color, look } => {
                self.define_type(ty, kind, parent, name, (color, look));
            }
            PajeEvent::DefineValue { value, ty, name, color, look } => {
                self.define_value(value, ty, name, (color, look));
            }
            PajeEvent::CreateContainer { time, container, ty, parent, name, extra } => {
                self.create(time, (container, ty, parent), name, extra);
            }
            PajeEvent::DestroyContainer { time, container } => self.destroy(time.0, container),
            PajeEvent::SetState { time, container, ty, value, extra, source } => {
                if let Some(at) = self.stack(container, ty, Some(value)) {
                    let detail = self.detail(extra, source);
                    if self.peer_text {
                        self.stacks[at].start_anew();
                    }
                    self.stacks[at].set(time.0, value, detail, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::PushState { time, container, ty, value, extra, source } => {
                if let Some(at) = self.stack(container, ty, Some(value)) {
                    let detail = self.detail(extra, source);
                    if self.peer_text {
                        self.stacks[at].start_anew();
                    }
                    self.stacks[at].push(time.0, value, detail, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::PopState { time, container, ty } => {
                if let Some(at) = self.stack(container, ty, None) {
                    self.stacks[at].pop(time.0, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::ResetState { time, container, ty } => {
                if let Some(at) = self.stack(container, ty, None) {
                    self.stacks[at].reset(time.0, &mut self.faults, &mut self.entities);
                }
            }
            PajeEvent::Variable { time, container, ty, op, value } => self.variable(time.0, container, ty, op, value),
            PajeEvent::NewEvent { time, container, ty, value, extra, source } => {
                if let Some(at) = self.mark_list(container, ty, value) {
                    let detail = self.detail(extra, source);
                    let marks = &mut self.marks[at];
                    if marks.last > time.0 {
                        self.faults.count(Fault::EventOrder);
                    }
                    if time.0 < marks.born {
                        self.faults.count(Fault::LateCreation);
                    }
                    marks.last = time.0;
                    marks.reach = (marks.reach.0.min(time.0), marks.reach.1.max(time.0));
                    self.entities.event(marks.place, time, value, detail);
                }
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source } => {
                self.half(true, time.0, (container, ty, value), (start, key), (extra, source));
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source } => {
                self.half(false, time.0, (container, ty, value), (end, key), (extra, source));
            }
        }
    }

    /// The same as [`Self::take`] for most operations.
    #[inline]
    fn take_plain(&mut self, event: PlainEvent) {
        let PlainEvent { kind, time, container, ty, value } = event;
        let valued = match kind {
            PlainKind::SetState | PlainKind::PushState => Some(value),
            PlainKind::PopState => None,
            PlainKind::ResetState | PlainKind::NewEvent => return self.take(&event.event()),
        };
        self.pass(time.0);
        if self.is_full() {
            return;
        }
        let Some(at) = self.stack(container, ty, valued) else { return };
        let (stack, faults, out) = (&mut self.stacks[at], &mut self.faults, &mut self.entities);
        match kind {
            PlainKind::SetState => stack.set(time.0, value, 0, faults, out),
            PlainKind::PushState => stack.push(time.0, value, 0, faults, out),
            _ => stack.pop(time.0, faults, out),
        }
    }

    /// An operation has this date.
    #[inline]
    fn pass(&mut self, time: i64) {
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        self.latest = time;
        self.faults.time = time;
    }

    /// Whether there are as many entities as there may be: counted.
    #[inline]
    fn is_full(&mut self) -> bool {
        let is_full = self.taken >= E::MOST;
        if is_full {
            self.faults.count(Fault::TooMany);
        }
        is_full
    }

    /// The number of what an entity has beside its value; most have nothing.
    #[inline]
    fn detail(&mut self, extra: &[Extra<'_>], source: Option<Source<'_>>) -> u32 {
        if extra.is_empty() && source.is_none() { 0 } else { self.entities.detail(extra, source) }
    }

    fn create(
        &mut self,
        time: GlobalNanos,
        (container, ty, parent): (ContainerId, TypeId, ContainerId),
        name: &str,
        extra: &[Extra<'_>],
    ) {
        if self.types.get(ty.index()).is_none_or(|info| info.kind != TypeKind::Container) {
            return self.faults.count(Fault::UnknownType);
        }
        let detail = self.detail(extra, None);
        let life = Interval { from: time, to: time };
        let info = ContainerInfo { id: container, ty, parent, depth: 0, name: name.to_owned(), life };
        let parent_type = self.types[ty.index()].parent;
        self.containers.create(info, parent_type, detail, &mut self.faults, &mut self.entities);
    }

    fn half(
        &mut self,
        starts: bool,
        time: i64,
        (holder, ty, value): Of,
        (end, key): (ContainerId, KeyId),
        (extra, source): (&[Extra<'_>], Option<Source<'_>>),
    ) {
        if self.can_link(starts, holder, ty, value, end) {
            let detail = self.detail(extra, source);
            self.entities.wait(detail);
            let half = Half { starts, time, value, container: end, detail, key, line: self.faults.line };
            let pair = self.links.take((holder, ty), half, &mut self.faults, &mut self.entities);
            if let Some((from, to)) = pair {
                if !self.peer && from < self.containers.from(holder) && holder != ContainerId::ROOT {
                    self.faults.count(Fault::LateCreation);
                }
                self.containers.hold(holder, from, to);
            }
        }
    }

    fn define_type(
        &mut self,
        ty: TypeId,
        kind: TypeKind,
        parent: TypeId,
        name: &str,
        (color, look): (Option<Color>, Look),
    ) {
        let count = self.types.len();
        let known = |ty: TypeId| self.types.get(ty.index()).is_some_and(|info| info.kind == TypeKind::Container);
        let ends_known = match kind {
            TypeKind::Link { start, end } => known(start) && known(end),
            _ => true,
        };
        if ty.index() != count || !known(parent) || !ends_known {
            return self.faults.count(Fault::TypeDefinition);
        }
        self.types.push(TypeInfo { id: ty, kind, parent, name: name.to_owned(), color, look });
        self.entities.define_type(&self.types[count]);
    }

    /// A value that comes again gets its new name and looks: files may declare values after their first use.
    fn define_value(&mut self, value: ValueId, ty: TypeId, name: &str, (color, look): (Option<Color>, Look)) {
        if ty.index() >= self.types.len() || value.index() > self.values.len() {
            return self.faults.count(Fault::ValueDefinition);
        }
        let defined = RawValue { ty, name: name.to_owned(), color, look };
        match self.values.get_mut(value.index()) {
            Some(earlier) if earlier.ty == ty => *earlier = defined,
            Some(_) => return self.faults.count(Fault::ValueDefinition),
            None => {
                self.values.push(defined);
                self.value_types.push(ty);
            }
        }
        self.entities.define_value(value, name);
    }
}

impl<E: Entities> Sink for Simulation<E> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.take(event);
        self.links.sound()?;
        self.entities.after()
    }

    #[inline]
    fn at_line(&mut self, line: u64) {
        self.faults.line = line;
    }

    fn name_part(&mut self, name: &str) {
        self.faults.parts.push(name.to_owned());
    }

    fn plain(&mut self, event: PlainEvent) -> io::Result<()> {
        self.take_plain(event);
        self.entities.after()
    }

    fn announce(&mut self, shape: &Shape<'_>) -> io::Result<()> {
        self.entities.announce(shape);
        Ok(())
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.entities.name_key(key.0, text);
        Ok(())
    }

    fn can_begin_anew(&self) -> bool {
        self.entities.can_begin_anew()
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        self.entities.begin_anew()?;
        let fresh = Simulation::into_entities(&self.name, Tally::default());
        // Its name, what was told from outside, and how exact to be, stay.
        let Simulation { types, values, value_types, containers, stacks, recent, variables, marks, faults, .. } = fresh;
        (self.first, self.last, self.latest, self.taken) = (fresh.first, fresh.last, fresh.latest, fresh.taken);
        (self.types, self.values, self.value_types, self.containers) = (types, values, value_types, containers);
        (self.stacks, self.recent, self.variables, self.marks) = (stacks, recent, variables, marks);
        (self.links, self.faults) = (Links::new(self.entities.overflow()), faults);
        self.entities.define_type(&self.types[0]);
        self.entities.create(self.containers.root());
        Ok(())
    }

    fn drop_halves(&mut self) -> io::Result<()> {
        self.taken -= self.links.drop_halves(&mut self.entities)?;
        self.entities.after()
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.end(end);
        self.links.sound()?;
        self.entities.finish()
    }
}
