//! [`replay`]: sends a trace, filtered or not, as Pajé operations in order of time.
//!
//! The source repairs its trace: every state has an end, and every container is destroyed. Links
//! that never end are sent only to sinks that keep them. All operations are held in memory for
//! sorting.
//!
//! ```
//! use tumit_viewer::query::replay::replay;
//! use tumit_viewer::sim::{EntityCounts, Simulation};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let mut simulation = Simulation::into_entities("copy", EntityCounts::default());
//! replay(&store, &mut simulation)?;
//! assert_eq!(simulation.entities().states, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{
    ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, RgbColor, SourcePosition, TypeId,
    ValueId, VariableOp,
};

use super::entity_walk::EVER;
use crate::query::{
    ContainerInfo, DESTINATION, EntityFacts, EntityId, QueryError, StateEntity, StateLaneId, TimelineSource, types_in,
};

/// An operation to be sorted.
struct ReplayOp {
    time: i64,
    /// At equal times, creations come first and destructions last.
    rank: u8,
    event: ReplayEvent,
}

enum ReplayEvent {
    Create(usize),
    Push(ContainerId, TypeId, ValueId, EntityId),
    Pop(ContainerId, TypeId),
    Event(ContainerId, TypeId, ValueId, EntityId),
    Set(ContainerId, TypeId, f64),
    StartLink(usize),
    EndLink(usize),
    Destroy(ContainerId),
}

struct LinkParts {
    holder: ContainerId,
    ty: TypeId,
    value: ValueId,
    start: ContainerId,
    end: LinkTarget,
    key: String,
    facts: EntityFacts,
}

/// The end of a link.
#[derive(Clone, Copy)]
enum LinkTarget {
    End(ContainerId),
    /// The link never ends. The container at which it should end may be known.
    Open(Option<ContainerId>),
}

/// Sends a whole source to a sink, and finishes the sink with the last timestamp.
///
/// # Errors
/// If the source or the sink fails.
pub fn replay(source: &dyn TimelineSource, sink: &mut dyn PajeSink) -> io::Result<()> {
    let model = source.model();
    for ty in model.types.iter().skip(1) {
        let parent = ty.parent;
        let (ty, kind, name, color, style) = (ty.id, ty.kind, ty.name.as_str(), ty.color, ty.style);
        sink.event(&PajeEvent::DefineType { ty, kind, parent, name, color, style })?;
    }
    for value in &model.values {
        let color: Option<RgbColor> = Some(value.color);
        let (name, style, category) = (value.name.as_str(), value.style, value.category);
        sink.event(&PajeEvent::DefineValue { value: value.id, ty: value.ty, name, color, style, category })?;
    }
    let containers = source.containers();
    let creation_order = in_order_of_creation(&containers);
    let mut replay = TraceReplay { source, ops: Vec::new(), links: Vec::new() };
    let cannot = |error: QueryError| io::Error::other(error);
    for &index in &creation_order {
        replay.container(index, &containers[index]);
    }
    // At equal timestamps, entities follow the depth-first order of their containers, so that a
    // second conversion keeps the order.
    let depth_first_order = depth_first(&containers, &creation_order);
    for &index in &depth_first_order {
        let container = containers[index].id;
        for ty in types_in(source, &model, container) {
            replay.entities(container, ty.id, ty.kind).map_err(cannot)?;
        }
    }
    for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        replay.links_of(ty.id).map_err(cannot)?;
        if sink.keeps_open_links() {
            replay.open_links_of(ty.id).map_err(cannot)?;
        }
    }
    // Children are destroyed before their parents.
    for container in depth_first_order
        .iter()
        .rev()
        .map(|&index| &containers[index])
        .filter(|container| container.id != ContainerId::ROOT)
    {
        replay.add(container.life.to.0, 2, ReplayEvent::Destroy(container.id));
    }
    replay.send(&containers, sink)?;
    if sink.keeps_open_links() {
        sink.settle_unpaired_endpoints()?;
    }
    sink.finish(source.extent().to)
}

/// Positions of containers by creation, each after its parent. A container made by the filter
/// `group` has a larger id than its members, so these are sorted by the id of the group.
fn in_order_of_creation(containers: &[ContainerInfo]) -> Vec<usize> {
    let mut keys: HashMap<ContainerId, ContainerId> = HashMap::new();
    let mut order = Vec::with_capacity(containers.len());
    for (index, container) in containers.iter().enumerate() {
        let key = keys.get(&container.parent).map_or(container.id, |parent| container.id.max(*parent));
        keys.insert(container.id, key);
        order.push((non_negative(container.life.from.0), key, container.depth, index));
    }
    order.sort_unstable();
    order.into_iter().map(|(.., index)| index).collect()
}

/// Positions of containers depth first, siblings in the order of their creation.
fn depth_first(containers: &[ContainerInfo], creation_order: &[usize]) -> Vec<usize> {
    let mut children: HashMap<ContainerId, Vec<usize>> = HashMap::new();
    let mut stack = Vec::new();
    for &index in creation_order.iter().rev() {
        let container = &containers[index];
        if container.id == container.parent {
            stack.push(index);
        } else {
            children.entry(container.parent).or_default().push(index);
        }
    }
    let mut order = Vec::with_capacity(containers.len());
    while let Some(index) = stack.pop() {
        order.push(index);
        stack.extend(children.remove(&containers[index].id).unwrap_or_default());
    }
    order
}

/// Limits a time to 0 and later, because Pajé text has no negative times.
fn non_negative(time: i64) -> i64 {
    time.max(0)
}

struct TraceReplay<'a> {
    source: &'a dyn TimelineSource,
    ops: Vec<ReplayOp>,
    links: Vec<LinkParts>,
}

impl TraceReplay<'_> {
    fn add(&mut self, time: i64, rank: u8, event: ReplayEvent) {
        self.ops.push(ReplayOp { time: non_negative(time), rank, event });
    }

    fn container(&mut self, index: usize, container: &ContainerInfo) {
        if container.id != ContainerId::ROOT {
            self.add(container.life.from.0, 0, ReplayEvent::Create(index));
        }
    }

    fn entities(&mut self, container: ContainerId, ty: TypeId, kind: PajeTypeKind) -> Result<(), QueryError> {
        match kind {
            PajeTypeKind::State => {
                let mut states = Vec::new();
                for depth in 0..self.source.depths(container, ty) {
                    states.extend(self.source.states(StateLaneId { container, ty, depth }, EVER, usize::MAX)?.items);
                }
                self.states(container, ty, states);
            }
            PajeTypeKind::Variable => {
                let samples = self.source.samples(container, ty, EVER, usize::MAX)?.items;
                // Of several samples at one timestamp, readers keep the last.
                for group in
                    samples.chunk_by(|sample, next| non_negative(sample.life.from.0) == non_negative(next.life.from.0))
                {
                    let last = group.last().into_iter();
                    last.for_each(|sample| {
                        self.add(sample.life.from.0, 1, ReplayEvent::Set(container, ty, sample.value));
                    });
                }
            }
            PajeTypeKind::Event => {
                for mark in self.source.events(container, ty, EVER, usize::MAX)?.items {
                    self.add(mark.time.0, 1, ReplayEvent::Event(container, ty, mark.value, mark.id));
                }
            }
            PajeTypeKind::Container | PajeTypeKind::Link { .. } => {}
        }
        Ok(())
    }

    /// Pushes and pops of the states of one type in a container, outer states first.
    fn states(&mut self, container: ContainerId, ty: TypeId, mut states: Vec<StateEntity>) {
        for state in &mut states {
            let TimeRange { from, to } = state.life;
            state.life = TimeRange { from: GlobalNanos(non_negative(from.0)), to: GlobalNanos(non_negative(to.0)) };
        }
        states.sort_by_key(|state| (state.life.from, state.depth, state.life.to));
        let mut open: Vec<i64> = Vec::new();
        let mut states = VecDeque::from(states);
        let mut same_start: Vec<StateEntity> = Vec::new();
        while let Some(first) = states.front() {
            let from = first.life.from;
            while states.front().is_some_and(|state| state.life.from == from) {
                same_start.extend(states.pop_front());
            }
            // `next_of` takes states from the end of the list: shallow states come first.
            same_start.reverse();
            while !same_start.is_empty() {
                let NextState { index, depth } = next_of(&same_start, &open, from.0);
                let state = same_start.remove(index);
                for end in open.drain(depth..).rev() {
                    self.add(end.min(from.0), 1, ReplayEvent::Pop(container, ty));
                }
                self.add(from.0, 1, ReplayEvent::Push(container, ty, state.value, state.id));
                open.push(state.life.to.0);
            }
        }
        for end in open.into_iter().rev() {
            self.add(end, 1, ReplayEvent::Pop(container, ty));
        }
    }

    fn links_of(&mut self, ty: TypeId) -> Result<(), QueryError> {
        let mut link_keys: HashSet<(ContainerId, String)> = HashSet::new();
        for link in self.source.links(ty, EVER, usize::MAX)?.items {
            let facts = self.source.facts_without_paths(link.id)?;
            let text = facts.fields.get(2).map_or("", |(_, key)| key.as_str());
            let mut key = text.to_owned();
            // `pj_dump` rejects a key that is used twice.
            let mut count = 1;
            while !link_keys.insert((facts.container, key.clone())) {
                count += 1;
                key = format!("{text} ({count})");
            }
            let link_index = self.links.len();
            self.add(link.start_time.0, 1, ReplayEvent::StartLink(link_index));
            self.add(link.end_time.0, 1, ReplayEvent::EndLink(link_index));
            let (holder, value, start, end) = (facts.container, link.value, link.start, LinkTarget::End(link.end));
            self.links.push(LinkParts { holder, ty, value, start, end, key, facts });
        }
        Ok(())
    }

    /// The starts of links that never end.
    fn open_links_of(&mut self, ty: TypeId) -> Result<(), QueryError> {
        for link in self.source.open_links(ty, EVER)? {
            let facts = self.source.facts_without_paths(link.id)?;
            let key = facts.fields.get(1).map_or_else(String::new, |(_, key)| key.clone());
            self.add(link.start_time.0, 1, ReplayEvent::StartLink(self.links.len()));
            let (holder, value, start) = (facts.container, link.value, link.start);
            let end = LinkTarget::Open(link.destination);
            self.links.push(LinkParts { holder, ty, value, start, end, key, facts });
        }
        Ok(())
    }

    /// The numbers of containers in the order of their creation. The start of a link may name a
    /// destination that is created later.
    fn container_numbers(&self, containers: &[ContainerInfo]) -> HashMap<ContainerId, ContainerId> {
        let created = self.ops.iter().filter_map(|op| match op.event {
            ReplayEvent::Create(index) => Some(containers[index].id),
            _ => None,
        });
        let all = std::iter::once(ContainerId::ROOT).chain(created);
        all.zip(0..).map(|(container, number)| (container, ContainerId(number))).collect()
    }

    fn send(mut self, containers: &[ContainerInfo], sink: &mut dyn PajeSink) -> io::Result<()> {
        // The sort is stable: operations of one type in one container keep their order.
        self.ops.sort_by_key(|op| (op.time, op.rank));
        let numbers = self.container_numbers(containers);
        let mut created = HashSet::from([ContainerId::ROOT]);
        let cannot = |error: QueryError| io::Error::other(error);
        for ReplayOp { time, event, .. } in &self.ops {
            let time = GlobalNanos(*time);
            if let ReplayEvent::Create(index) = event {
                created.insert(containers[*index].id);
            }
            let created_number =
                |container: &ContainerId| numbers.get(container).filter(|_| created.contains(container));
            let number = |container: &ContainerId| created_number(container).copied().unwrap_or(ContainerId::ROOT);
            match event {
                ReplayEvent::Create(index) => {
                    let info = &containers[*index];
                    let facts = self.source.facts_without_paths(EntityId::Container(info.id)).map_err(cannot)?;
                    let (extra, parent, container) = (extra_of(&facts), number(&info.parent), number(&info.id));
                    let (ty, name, extra) = (info.ty, info.name.as_str(), &extra[..]);
                    sink.event(&PajeEvent::CreateContainer { time, container, ty, parent, name, extra })?;
                }
                ReplayEvent::Destroy(container) => {
                    sink.event(&PajeEvent::DestroyContainer { time, container: number(container) })?;
                }
                ReplayEvent::Pop(container, ty) => {
                    sink.event(&PajeEvent::PopState { time, container: number(container), ty: *ty })?;
                }
                ReplayEvent::Set(container, ty, value) => {
                    let (container, ty, op) = (number(container), *ty, VariableOp::Set);
                    sink.event(&PajeEvent::Variable { time, container, ty, op, value: *value })?;
                }
                ReplayEvent::Push(container, ty, value, id) | ReplayEvent::Event(container, ty, value, id) => {
                    let facts = self.source.facts_without_paths(*id).map_err(cannot)?;
                    let (container, ty, value) = (number(container), *ty, *value);
                    let (extras, source) = (extra_of(&facts), source_of(&facts));
                    let extra = &extras[..];
                    sink.event(&match event {
                        ReplayEvent::Push(..) => PajeEvent::PushState { time, container, ty, value, extra, source },
                        _ => PajeEvent::NewEvent { time, container, ty, value, extra, source },
                    })?;
                }
                ReplayEvent::StartLink(link_index) | ReplayEvent::EndLink(link_index) => {
                    let LinkParts { holder, ty, value, start, end, key: text, facts } = &self.links[*link_index];
                    let (container, ty, value, key) = (number(holder), *ty, *value, KeyId(*link_index as u64));
                    sink.name_key(key, text)?;
                    let extras = link_extra_of(facts, *end, &numbers);
                    sink.event(&match (event, end) {
                        (ReplayEvent::EndLink(_), LinkTarget::End(end)) => {
                            let (end, extra, source) = (number(end), &[], None);
                            PajeEvent::EndLink { time, container, ty, value, end, key, extra, source }
                        }
                        _ => {
                            let (start, extra, source) = (number(start), &extras[..], source_of(facts));
                            PajeEvent::StartLink { time, container, ty, value, start, key, extra, source }
                        }
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// The next of the states that begin at the same time.
struct NextState {
    index: usize,
    /// The number of open states around it.
    depth: usize,
}

/// Takes the deepest state that fits.
fn next_of(same_start: &[StateEntity], open_states: &[i64], now: i64) -> NextState {
    let fits = |state: &StateEntity| {
        let max_depth = open_states.len().min(state.depth as usize);
        (0..=max_depth).rev().find(|&depth| {
            (depth == 0 || open_states[depth - 1] >= state.life.to.0)
                && open_states[depth..].iter().all(|&end| end <= now)
        })
    };
    let mut next_state: Option<NextState> = None;
    for (index, state) in same_start.iter().enumerate().rev() {
        let Some(depth) = fits(state) else { continue };
        if next_state.as_ref().is_none_or(|best| depth > best.depth) {
            next_state = Some(NextState { index, depth });
        }
        if depth == open_states.len() {
            break;
        }
    }
    next_state.unwrap_or(NextState { index: same_start.len() - 1, depth: 0 })
}

fn extra_of(facts: &EntityFacts) -> Vec<ExtraField<'_>> {
    facts.fields.iter().map(|(name, text)| ExtraField { name, value: ExtraValue::Text(text) }).collect()
}

/// Fields of a link in addition to those of the format, which come first in its facts: start, end
/// and key, or start and key of a link that never ends. `numbers` are the sent containers.
fn link_extra_of<'a>(
    facts: &'a EntityFacts,
    end: LinkTarget,
    numbers: &HashMap<ContainerId, ContainerId>,
) -> Vec<ExtraField<'a>> {
    let text = |(name, text): &'a (String, String)| ExtraField { name, value: ExtraValue::Text(text) };
    let LinkTarget::Open(destination) = end else { return facts.fields.iter().skip(3).map(text).collect() };
    let others = facts.fields.iter().skip(2).filter(|(name, _)| name != DESTINATION).map(text);
    let destination = destination.and_then(|container| numbers.get(&container));
    let field = |container: &ContainerId| ExtraField { name: DESTINATION, value: ExtraValue::Container(*container) };
    others.chain(destination.map(field)).collect()
}

fn source_of(facts: &EntityFacts) -> Option<SourcePosition<'_>> {
    facts.source.as_ref().map(|source| SourcePosition { file: &source.file, line: source.line })
}
