//! Finding entities by what they are: value, container, attribute, duration; also those that are too small to be drawn.

mod ask;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use self::ask::{Kind, Wanted};
use super::{Answer, App, Ask, Failure, Shown, compute};
use crate::query::{
    ContainerId, EntityId, GlobalNanos, Interval, Lane, QueryError, TimelineSource, TypeId, TypeKind, ValueId,
};
use crate::scene::wire::entity;

/// Hits that are named; the others are counted.
const NAMED: usize = 500;
/// The interval is divided into so many parts, in each of which hits are counted.
const BINS: usize = 512;
/// Entities looked at for one question; beyond that the answer says that it is not complete.
const LOOKED_AT: u64 = 20_000_000;
/// Of those, the ones whose fields are read.
const READ: u64 = 500_000;

/// What has been found so far.
struct Search<'a> {
    source: &'a dyn TimelineSource,
    origin: i64,
    wanted: &'a Wanted,
    interval: Interval,
    /// Values whose names fit.
    values: BTreeSet<ValueId>,
    /// The earliest hits: date, entity.
    hits: Vec<(i64, EntityId)>,
    bins: Vec<u64>,
    total: u64,
    looked_at: u64,
    read: u64,
    partial: bool,
}

pub(in crate::server) async fn find(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let wanted = Wanted::parse(&ask.what).map_err(|text| Failure(StatusCode::BAD_REQUEST, text))?;
        let source = app.source.as_ref();
        let interval = ask.interval(app)?;
        let model = source.model();
        let values = model.values.iter().filter(|value| wanted.value(&value.name)).map(|value| value.id).collect();
        let mut search = Search {
            source,
            origin: app.origin,
            wanted: &wanted,
            interval,
            values,
            hits: Vec::new(),
            bins: vec![0; BINS],
            total: 0,
            looked_at: 0,
            read: 0,
            partial: false,
        };
        search.run(app)?;
        Ok(search.answer())
    })
    .await
}

impl Search<'_> {
    fn run(&mut self, app: &Shown) -> Result<(), QueryError> {
        let places = places(app, self.wanted);
        let inside = |container: ContainerId| places.as_ref().is_none_or(|places| places.contains(&container));
        let model = self.source.model();
        for ty in &model.types {
            match ty.kind {
                TypeKind::State if self.wanted.kind(Kind::State) => {
                    let members = app.outline.states_within(ContainerId::ROOT, ty.id);
                    for (container, depths) in members.into_iter().filter(|member| inside(member.0)) {
                        for depth in 0..depths {
                            self.states(Lane { container, ty: ty.id, depth })?;
                        }
                    }
                }
                TypeKind::Event if self.wanted.kind(Kind::Event) && self.wanted.durations.is_none() => {
                    for container in app.outline.with_events(ty.id).filter(|&container| inside(container)) {
                        self.events(container, ty.id)?;
                    }
                }
                TypeKind::Link { .. } if self.wanted.kind(Kind::Link) => self.links(ty.id, inside)?,
                _ => {}
            }
        }
        self.hits.sort_unstable();
        self.hits.truncate(NAMED);
        Ok(())
    }

    fn events(&mut self, container: ContainerId, ty: TypeId) -> Result<(), QueryError> {
        let total = self.source.events(container, ty, self.interval, 0)?.total;
        if total == 0 || !self.has_room(total) {
            return Ok(());
        }
        for mark in self.source.events(container, ty, self.interval, usize::MAX)?.items {
            self.consider(mark.id, (mark.time, mark.time), mark.value)?;
        }
        Ok(())
    }

    /// A link belongs to both containers that it joins.
    fn links(&mut self, ty: TypeId, inside: impl Fn(ContainerId) -> bool) -> Result<(), QueryError> {
        let total = self.source.links(ty, self.interval, 0)?.total;
        if total == 0 || !self.has_room(total) {
            return Ok(());
        }
        for link in self.source.links(ty, self.interval, usize::MAX)?.items {
            if inside(link.start) || inside(link.end) {
                self.consider(link.id, (link.start_time, link.end_time), link.value)?;
            }
        }
        Ok(())
    }

    fn states(&mut self, lane: Lane) -> Result<(), QueryError> {
        let total = self.source.states(lane, self.interval, 0)?.total;
        if total == 0 || !self.has_room(total) {
            return Ok(());
        }
        for state in self.source.states(lane, self.interval, usize::MAX)?.items {
            self.consider(state.id, (state.life.from, state.life.to), state.value)?;
        }
        Ok(())
    }

    /// Whether so many more may be looked at.
    fn has_room(&mut self, more: u64) -> bool {
        self.looked_at = self.looked_at.saturating_add(more);
        self.partial |= self.looked_at > LOOKED_AT;
        self.looked_at <= LOOKED_AT
    }

    fn consider(
        &mut self,
        id: EntityId,
        (from, to): (GlobalNanos, GlobalNanos),
        value: ValueId,
    ) -> Result<(), QueryError> {
        let long = to.0.saturating_sub(from.0);
        if !self.values.contains(&value) || !self.wanted.lasts(long) {
            return Ok(());
        }
        if !self.wanted.fields.is_empty() {
            self.read += 1;
            if self.read > READ {
                self.partial = true;
                return Ok(());
            }
            let facts = self.source.facts(id)?;
            if !self.wanted.fields.iter().all(|field| field.fits(&facts.fields)) {
                return Ok(());
            }
        }
        self.total += 1;
        let span = i128::from(self.interval.to.0) - i128::from(self.interval.from.0);
        let middle = i128::midpoint(i128::from(from.0), i128::from(to.0)) - i128::from(self.interval.from.0);
        let bin = (middle * BINS as i128 / span.max(1)).clamp(0, BINS as i128 - 1);
        self.bins[usize::try_from(bin).unwrap_or(0)] += 1;
        self.hits.push((from.0, id));
        // The earliest are kept, in bounded memory.
        if self.hits.len() >= 8 * NAMED {
            self.hits.sort_unstable();
            self.hits.truncate(NAMED);
        }
        Ok(())
    }

    fn answer(&self) -> Value {
        let origin = self.origin;
        let hits = self.hits.iter().filter_map(|&(_, id)| {
            let facts = self.source.facts(id).ok()?;
            Some(json!({
                "id": entity(id),
                "name": facts.name,
                "path": facts.container_path,
                "from": facts.life.from.0.saturating_sub(origin),
                "to": facts.life.to.0.saturating_sub(origin),
            }))
        });
        json!({
            "total": self.total,
            "partial": self.partial,
            "hits": hits.collect::<Vec<_>>(),
            "bins": self.bins,
        })
    }
}

/// The containers within those whose names were asked for; `None` when all fit.
fn places(app: &Shown, wanted: &Wanted) -> Option<BTreeSet<ContainerId>> {
    if wanted.places.is_empty() {
        return None;
    }
    let all = app.source.containers();
    let mut places: Option<BTreeSet<ContainerId>> = None;
    for place in &wanted.places {
        let named = all.iter().filter(|info| info.name.to_lowercase().contains(place.as_str()));
        let within: BTreeSet<ContainerId> = named.flat_map(|info| app.outline.within(info.id)).collect();
        places = Some(match places {
            Some(known) => known.intersection(&within).copied().collect(),
            None => within,
        });
    }
    places
}
