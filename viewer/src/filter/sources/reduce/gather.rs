//! What a reduction is of: the entities below some containers, brought in order of time and folded into one value per moment for each.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::filter::language::ast::{LinkEnd, Operation, Reduction};
use crate::filter::language::error::FilterError;
use crate::filter::language::fields;
use crate::filter::language::pattern::{self, FieldUse, Pattern, Patterns};
use crate::filter::sources::step_function::{Fold, List, Merge, Piece, Room, Steps};
use crate::parallel::{MOST_THREADS, in_turn, processors};
use crate::query::walk::{EVER, Pages};
use crate::query::{
    ContainerId, ContainerInfo, EntityId, Lane, Link, Mark, Model, QueryError, Sample, State, TimelineSource, TypeId,
    TypeInfo, TypeKind, ValueId,
};

/// Entities of all lists that are read at once.
pub(crate) const AT_ONCE: usize = 1 << 19;

/// Which of some containers one is below.
type Owners = FxHashMap<ContainerId, Vec<u32>>;

/// What is to be reduced.
pub(crate) struct Wanted {
    types: Vec<(TypeId, TypeKind)>,
    /// Values that count; all without.
    values: Option<Vec<ValueId>>,
    /// The field that is reduced, for what has no value of its own.
    field: Option<String>,
    operation: Operation,
    /// The endpoint that assigns links to containers; `None` for both.
    end: Option<LinkEnd>,
}

impl Wanted {
    pub(crate) fn new(source: &dyn TimelineSource, reduction: &Reduction) -> Result<Self, FilterError> {
        let model = source.model();
        let entities = |ty: &TypeInfo| ty.kind != TypeKind::Container;
        let of = Patterns::new(vec![reduction.of.clone()]);
        let mut types = pattern::types(&model, &of, "type of states, events, links or variables", entities)?;
        let variables = types.iter().any(|ty| kind(&model, *ty) == TypeKind::Variable);
        let (mut values, mut field) = (None, None);
        if reduction.operation == Operation::Count {
            if !reduction.values.is_any() {
                let (of, named) = pattern::values(&model, &reduction.values, Some(&reduction.of))?;
                (types, values) = (of, Some(named));
            }
        } else if !variables {
            let mut fields = reduction.values.iter().map(ToString::to_string);
            field = fields.next().filter(|field| field != "*" && fields.next().is_none());
            match &field {
                None => {
                    let values = Patterns::new(vec![Pattern::new("Bytes")]);
                    let example = Reduction { values, ..reduction.clone() }.to_string();
                    return Err(FilterError::NoField { of: reduction.of.to_string(), example });
                }
                Some(field) => fields::check(source, FieldUse::Reduction, field, &types)?,
            }
        }
        let types: Vec<(TypeId, TypeKind)> = types.into_iter().map(|ty| (ty, kind(&model, ty))).collect();
        if let Some(end) = reduction.end
            && types.iter().any(|ty| !matches!(ty.1, TypeKind::Link { .. }))
        {
            let values = Patterns::new(vec![Pattern::new(end.word())]);
            let example = Reduction { end: None, values, ..reduction.clone() }.to_string();
            return Err(FilterError::NoLinks { of: reduction.of.to_string(), example });
        }
        Ok(Self { types, values, field, operation: reduction.operation, end: reduction.end })
    }

    /// What there is where nothing is. Of no entities there are none, and their bytes are none; a variable without a value is not 0.
    fn none(&self) -> Option<f64> {
        match self.operation {
            Operation::Count => Some(0.0),
            Operation::Sum if self.field.is_some() => Some(0.0),
            _ => None,
        }
    }

    /// The result for each of some containers, which are told by where they and all below them are in the list.
    pub(crate) fn steps(
        &self,
        source: &dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
        room: &Room,
    ) -> Result<Vec<Steps>, QueryError> {
        // Each thread merges the lists of some of them; links are gone through by each.
        let parts = processors().min(MOST_THREADS).min(owners.len()).max(1);
        let jobs = owners.chunks(owners.len().div_ceil(parts).max(1)).collect();
        let made = in_turn(jobs, MOST_THREADS, |owners| self.steps_of_some(source, list, owners, room));
        let mut all = Vec::with_capacity(owners.len());
        for some in made {
            all.extend(some?);
        }
        Ok(all)
    }

    fn steps_of_some(
        &self,
        source: &dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
        room: &Room,
    ) -> Result<Vec<Steps>, QueryError> {
        let fold = |owner: &Range<usize>| Fold::new(self.operation, list[owner.start].life, self.none(), room);
        let mut folds: Vec<Fold<'_>> = owners.iter().map(fold).collect();
        let mut merge = Merge::new(self.lists(source, list, owners))?;
        while let Some((owner, piece)) = merge.next()? {
            folds[owner as usize].add(&piece)?;
        }
        folds.into_iter().map(Fold::finish).collect()
    }

    /// What there is below some containers.
    fn lists<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        list: &[ContainerInfo],
        owners: &[Range<usize>],
    ) -> Vec<List<'a>> {
        let mut lanes: Vec<(u32, ContainerId, TypeId, TypeKind, u32)> = Vec::new();
        let mut of = Owners::default();
        for (owner, below) in (0..).zip(owners) {
            for info in &list[below.clone()] {
                for &(ty, kind) in &self.types {
                    let depths = match kind {
                        TypeKind::State => source.depths(info.id, ty),
                        TypeKind::Variable | TypeKind::Event => 1,
                        TypeKind::Link { .. } | TypeKind::Container => 0,
                    };
                    lanes.extend((0..depths).map(|depth| (owner, info.id, ty, kind, depth)));
                }
                of.entry(info.id).or_default().push(owner);
            }
        }
        let links = self.types.iter().filter(|ty| matches!(ty.1, TypeKind::Link { .. }));
        let size = (AT_ONCE / (lanes.len() + 1)).clamp(16, 4096);
        let of = Arc::new(of);
        let mut lists: Vec<List<'a>> = links.map(|&(ty, _)| self.links(source, ty, size, Arc::clone(&of))).collect();
        lists.extend(lanes.into_iter().map(|(owner, container, ty, kind, depth)| match kind {
            TypeKind::Variable => samples(source, owner, (container, ty), size),
            TypeKind::Event => self.events(source, owner, (container, ty), size),
            _ => self.states(source, owner, Lane { container, ty, depth }, size),
        }));
        lists
    }

    fn states<'a>(&'a self, source: &'a dyn TimelineSource, owner: u32, lane: Lane, size: usize) -> List<'a> {
        let mut pages = Pages::new(EVER, size);
        Box::new(move || {
            let key = |state: &State| (state.id, state.life.from.0);
            let page = pages.next(|part, limit| source.states(lane, part, limit), key)?;
            let piece = |state: &State| self.piece(source, state.id, state.value, (state.life.from.0, state.life.to.0));
            owned(page, owner, piece)
        })
    }

    /// Events count from their date on: of them, what has come so far is what is there.
    fn events<'a>(
        &'a self,
        source: &'a dyn TimelineSource,
        owner: u32,
        (container, ty): (ContainerId, TypeId),
        size: usize,
    ) -> List<'a> {
        let mut pages = Pages::new(EVER, size);
        Box::new(move || {
            let page =
                pages.next(|part, limit| source.events(container, ty, part, limit), |mark| (mark.id, mark.time.0))?;
            owned(page, owner, |mark: &Mark| self.piece(source, mark.id, mark.value, (mark.time.0, i64::MAX)))
        })
    }

    /// Links under way to or from containers; each once for each owner of its ends.
    fn links<'a>(&'a self, source: &'a dyn TimelineSource, ty: TypeId, size: usize, owners: Arc<Owners>) -> List<'a> {
        let mut pages = Pages::new(EVER, size);
        Box::new(move || {
            let key = |link: &Link| (link.id, link.start_time.0.min(link.end_time.0));
            let Some(page) = pages.next(|part, limit| source.links(ty, part, limit), key)? else { return Ok(None) };
            let mut pieces = Vec::with_capacity(page.len());
            for link in &page {
                let of = |end: ContainerId| owners.get(&end).map_or(&[][..], Vec::as_slice);
                let start = if self.end == Some(LinkEnd::Received) { &[] } else { of(link.start) };
                let end = if self.end == Some(LinkEnd::Sent) { &[] } else { of(link.end) };
                if start.is_empty() && end.is_empty() {
                    continue;
                }
                let (a, b) = (link.start_time.0, link.end_time.0);
                let Some(piece) = self.piece(source, link.id, link.value, (a.min(b), a.max(b)))? else { continue };
                let others = end.iter().filter(|owner| !start.contains(owner));
                pieces.extend(start.iter().chain(others).map(|&owner| (owner, piece)));
            }
            Ok(Some(pieces))
        })
    }

    /// What an entity counts for; none if it does not.
    fn piece(
        &self,
        source: &dyn TimelineSource,
        id: EntityId,
        value: ValueId,
        (from, to): (i64, i64),
    ) -> Result<Option<Piece>, QueryError> {
        if self.values.as_ref().is_some_and(|values| !values.contains(&value)) {
            return Ok(None);
        }
        let Some(name) = &self.field else { return Ok(Some(Piece { from, to, value: 1.0 })) };
        let facts = source.facts(id)?;
        let number = fields::field(&facts, name).and_then(|text| text.trim().parse().ok());
        Ok(number.map(|value| Piece { from, to, value }))
    }
}

/// The values of a variable.
pub(crate) fn samples(
    source: &dyn TimelineSource,
    owner: u32,
    (container, ty): (ContainerId, TypeId),
    size: usize,
) -> List<'_> {
    let mut pages = Pages::new(EVER, size);
    Box::new(move || {
        let key = |sample: &Sample| (sample.id, sample.life.from.0);
        let page = pages.next(|part, limit| source.samples(container, ty, part, limit), key)?;
        owned(page, owner, |sample: &Sample| {
            Ok(Some(Piece { from: sample.life.from.0, to: sample.life.to.0, value: sample.value }))
        })
    })
}

/// What a page of entities counts for.
fn owned<T>(
    page: Option<Vec<T>>,
    owner: u32,
    piece: impl Fn(&T) -> Result<Option<Piece>, QueryError>,
) -> Result<Option<Vec<(u32, Piece)>>, QueryError> {
    let Some(page) = page else { return Ok(None) };
    let mut pieces = Vec::with_capacity(page.len());
    for item in &page {
        pieces.extend(piece(item)?.map(|piece| (owner, piece)));
    }
    Ok(Some(pieces))
}

fn kind(model: &Model, ty: TypeId) -> TypeKind {
    model.types.get(ty.index()).map_or(TypeKind::Container, |ty| ty.kind)
}
