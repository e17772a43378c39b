//! Input of a reduction: the entities below some containers, merged in order of time and folded
//! into one value per moment and container.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::filter::language::ast::{AssignedEndpoint, ReduceOperation, Reduction};
use crate::filter::language::entity_fields;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, FieldUse, NamePattern, NamePatterns};
use crate::filter::sources::function_pieces::{
    FunctionPiece, OwnedPiece, PieceBlocks, PieceFold, PieceList, PieceMemory, PieceMerge,
};
use crate::parallel_map::{MAX_THREADS, map_in_order, processors};
use crate::query::entity_pages::EntityPages;
use crate::query::entity_walk::EVER;
use crate::query::{
    ContainerId, ContainerInfo, EntityId, EventEntity, GlobalNanos, LinkEntity, PajeTypeKind, QueryError, StateEntity,
    StateLaneId, TimeRange, TimelineSource, TypeId, TypeInfo, TypeModel, ValueId, VariableSample,
};

/// Maximum number of entities in memory, over all lists.
pub(crate) const MAX_ENTITIES: usize = 1 << 19;

/// By container: the indexes of the result containers above it.
type ContainerOwners = FxHashMap<ContainerId, Vec<u32>>;

/// The states, events or samples of a type in a container.
struct ReducedLane {
    /// The index of the result container.
    owner: u32,
    kind: PajeTypeKind,
    /// The depth is 0 for events and samples.
    lane: StateLaneId,
}

/// The input of a reduction.
pub(crate) struct ReduceInput {
    types: Vec<(TypeId, PajeTypeKind)>,
    /// The values that count; `None` for all values.
    values: Option<Vec<ValueId>>,
    /// The field to be reduced, for entities without a value of their own.
    field: Option<String>,
    operation: ReduceOperation,
    /// The endpoint that assigns links to containers; `None` for both.
    end: Option<AssignedEndpoint>,
}

impl ReduceInput {
    pub(crate) fn new(source: &dyn TimelineSource, reduction: &Reduction) -> Result<Self, FilterError> {
        let model = source.model();
        let entities = |ty: &TypeInfo| ty.kind != PajeTypeKind::Container;
        let of = NamePatterns::new(vec![reduction.types.clone()]);
        let mut types = pattern::types(&model, &of, "type of states, events, links or variables", entities)?;
        let variables = types.iter().any(|ty| kind(&model, *ty) == PajeTypeKind::Variable);
        let (mut values, mut field) = (None, None);
        if reduction.operation == ReduceOperation::Count {
            if !reduction.values.is_any() {
                let (of, value_ids) = pattern::values(&model, &reduction.values, Some(&reduction.types))?;
                (types, values) = (of, Some(value_ids));
            }
        } else if !variables {
            let mut fields = reduction.values.iter().map(ToString::to_string);
            field = fields.next().filter(|field| field != "*" && fields.next().is_none());
            match &field {
                None => {
                    let values = NamePatterns::new(vec![NamePattern::new("Bytes")]);
                    let example = Reduction { values, ..reduction.clone() }.to_string();
                    return Err(FilterError::NoField { owner: reduction.types.to_string(), example });
                }
                Some(field) => entity_fields::check(source, FieldUse::Reduction, field, &types)?,
            }
        }
        let types: Vec<(TypeId, PajeTypeKind)> = types.into_iter().map(|ty| (ty, kind(&model, ty))).collect();
        if let Some(end) = reduction.end
            && types.iter().any(|ty| !matches!(ty.1, PajeTypeKind::Link { .. }))
        {
            let values = NamePatterns::new(vec![NamePattern::new(end.word())]);
            let example = Reduction { end: None, values, ..reduction.clone() }.to_string();
            return Err(FilterError::NoLinks { owner: reduction.types.to_string(), example });
        }
        Ok(Self { types, values, field, operation: reduction.operation, end: reduction.end })
    }

    /// The result for times without an entity. A count is 0, and so is the sum of a field. A
    /// variable without a value has no result.
    fn default_value(&self) -> Option<f64> {
        match self.operation {
            ReduceOperation::Count => Some(0.0),
            ReduceOperation::Sum if self.field.is_some() => Some(0.0),
            _ => None,
        }
    }

    /// The result for each result container. `owners` has the range of each in the list, including
    /// all containers below it.
    pub(crate) fn steps(
        &self,
        source: &dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
        memory: &PieceMemory,
    ) -> Result<Vec<PieceBlocks>, QueryError> {
        // Each thread merges the lists of some result containers. Every thread reads all links.
        let parts = processors().min(MAX_THREADS).min(owners.len()).max(1);
        let jobs = owners.chunks(owners.len().div_ceil(parts).max(1)).collect();
        let results = map_in_order(jobs, MAX_THREADS, |owners| self.steps_of_some(source, list, owners, memory));
        let mut inputs = Vec::with_capacity(owners.len());
        for batch in results {
            inputs.extend(batch?);
        }
        Ok(inputs)
    }

    fn steps_of_some(
        &self,
        source: &dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
        memory: &PieceMemory,
    ) -> Result<Vec<PieceBlocks>, QueryError> {
        let fold =
            |owner: &Range<usize>| PieceFold::new(self.operation, list[owner.start].life, self.default_value(), memory);
        let mut folds: Vec<PieceFold<'_>> = owners.iter().map(fold).collect();
        let mut merge = PieceMerge::new(self.lists(source, list, owners))?;
        while let Some(OwnedPiece { owner, piece }) = merge.next()? {
            folds[owner as usize].add(&piece)?;
        }
        folds.into_iter().map(PieceFold::finish).collect()
    }

    /// The lists of entities below some containers.
    fn lists<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
    ) -> Vec<PieceList<'a>> {
        let mut lanes: Vec<ReducedLane> = Vec::new();
        let mut container_owners = ContainerOwners::default();
        for (owner, below) in (0..).zip(owners) {
            for info in &list[below.clone()] {
                for &(ty, kind) in &self.types {
                    let depths = match kind {
                        PajeTypeKind::State => source.depths(info.id, ty),
                        PajeTypeKind::Variable | PajeTypeKind::Event => 1,
                        PajeTypeKind::Link { .. } | PajeTypeKind::Container => 0,
                    };
                    let lane = |depth| StateLaneId { container: info.id, ty, depth };
                    lanes.extend((0..depths).map(|depth| ReducedLane { owner, kind, lane: lane(depth) }));
                }
                container_owners.entry(info.id).or_default().push(owner);
            }
        }
        let links = self.types.iter().filter(|ty| matches!(ty.1, PajeTypeKind::Link { .. }));
        let size = (MAX_ENTITIES / (lanes.len() + 1)).clamp(16, 4096);
        let container_owners = Arc::new(container_owners);
        let mut lists: Vec<PieceList<'a>> =
            links.map(|&(ty, _)| self.links(source, ty, size, Arc::clone(&container_owners))).collect();
        lists.extend(lanes.into_iter().map(|ReducedLane { owner, kind, lane }| match kind {
            PajeTypeKind::Variable => samples(source, owner, lane.container, lane.ty, size),
            PajeTypeKind::Event => self.events(source, owner, lane.container, lane.ty, size),
            _ => self.states(source, owner, lane, size),
        }));
        lists
    }

    fn states<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        owner: u32,
        lane: StateLaneId,
        size: usize,
    ) -> PieceList<'a> {
        let mut pages = EntityPages::new(EVER, size);
        Box::new(move || {
            let key = |state: &StateEntity| (state.id, state.life.from.0);
            let page = pages.next(|time_range, limit| source.states(lane, time_range, limit), key)?;
            let piece = |state: &StateEntity| self.piece(source, state.id, state.value, state.life);
            owned_contributions(page, owner, piece)
        })
    }

    /// An event counts from its timestamp on, so the result covers all events so far.
    fn events<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        owner: u32,
        container: ContainerId,
        ty: TypeId,
        size: usize,
    ) -> PieceList<'a> {
        let mut pages = EntityPages::new(EVER, size);
        Box::new(move || {
            let page = pages.next(
                |time_range, limit| source.events(container, ty, time_range, limit),
                |mark| (mark.id, mark.time.0),
            )?;
            owned_contributions(page, owner, |mark: &EventEntity| {
                let life = TimeRange { from: mark.time, to: GlobalNanos(i64::MAX) };
                self.piece(source, mark.id, mark.value, life)
            })
        })
    }

    /// Links in progress to or from the containers. Each counts once per result container above one
    /// of its endpoints.
    fn links<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        ty: TypeId,
        size: usize,
        owners: Arc<ContainerOwners>,
    ) -> PieceList<'a> {
        let mut pages = EntityPages::new(EVER, size);
        Box::new(move || {
            let key = |link: &LinkEntity| (link.id, link.start_time.0.min(link.end_time.0));
            let Some(page) = pages.next(|time_range, limit| source.links(ty, time_range, limit), key)? else {
                return Ok(None);
            };
            let mut pieces = Vec::with_capacity(page.len());
            for link in &page {
                let of = |end: ContainerId| owners.get(&end).map_or(&[][..], Vec::as_slice);
                let start = if self.end == Some(AssignedEndpoint::Received) { &[] } else { of(link.start) };
                let end = if self.end == Some(AssignedEndpoint::Sent) { &[] } else { of(link.end) };
                if start.is_empty() && end.is_empty() {
                    continue;
                }
                let (a, b) = (link.start_time, link.end_time);
                let life = TimeRange { from: a.min(b), to: a.max(b) };
                let Some(piece) = self.piece(source, link.id, link.value, life)? else { continue };
                let others = end.iter().filter(|owner| !start.contains(owner));
                pieces.extend(start.iter().chain(others).map(|&owner| OwnedPiece { owner, piece }));
            }
            Ok(Some(pieces))
        })
    }

    /// The contribution of an entity; `None` if it does not count.
    fn piece(
        &self,
        source: &dyn TimelineSource,
        id: EntityId,
        value: ValueId,
        life: TimeRange,
    ) -> Result<Option<FunctionPiece>, QueryError> {
        if self.values.as_ref().is_some_and(|values| !values.contains(&value)) {
            return Ok(None);
        }
        let (from, to) = (life.from.0, life.to.0);
        let Some(name) = &self.field else { return Ok(Some(FunctionPiece { from, to, value: 1.0 })) };
        let facts = source.facts(id)?;
        let number = entity_fields::field(&facts, name).and_then(|text| text.trim().parse().ok());
        Ok(number.map(|value| FunctionPiece { from, to, value }))
    }
}

/// The samples of a variable.
pub(crate) fn samples(
    source: &dyn TimelineSource,
    owner: u32,
    container: ContainerId,
    ty: TypeId,
    size: usize,
) -> PieceList<'_> {
    let mut pages = EntityPages::new(EVER, size);
    Box::new(move || {
        let key = |sample: &VariableSample| (sample.id, sample.life.from.0);
        let page = pages.next(|time_range, limit| source.samples(container, ty, time_range, limit), key)?;
        owned_contributions(page, owner, |sample: &VariableSample| {
            Ok(Some(FunctionPiece { from: sample.life.from.0, to: sample.life.to.0, value: sample.value }))
        })
    })
}

/// The contributions of a page of entities.
fn owned_contributions<T>(
    page: Option<Vec<T>>,
    owner: u32,
    piece: impl Fn(&T) -> Result<Option<FunctionPiece>, QueryError>,
) -> Result<Option<Vec<OwnedPiece>>, QueryError> {
    let Some(page) = page else { return Ok(None) };
    let mut pieces = Vec::with_capacity(page.len());
    for item in &page {
        pieces.extend(piece(item)?.map(|piece| OwnedPiece { owner, piece }));
    }
    Ok(Some(pieces))
}

fn kind(model: &TypeModel, ty: TypeId) -> PajeTypeKind {
    model.types.get(ty.index()).map_or(PajeTypeKind::Container, |ty| ty.kind)
}
