//! Finding entities by what they are: value, container, attribute, duration, place in the source; also those that are too small to be drawn.
//!
//! The first question counts all, however many there are, and names the first; the others turn the pages of the list from a hit that is known.
//! The interval is looked through stretch by stretch, so that what comes first is known first.

mod ask;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use self::ask::{Kind, Wanted};
use super::{App, Ask, Failure, Shown};
use crate::api::streaming::grow;
use tumit_viewer::filter::FilterError;
use tumit_viewer::filter::language::fields;
use tumit_viewer::query::scan::{self, Item, Job, List};
use tumit_viewer::query::{
    ContainerId, EntityId, Interval, Lane, QueryError, TimelineSource, TypeId, TypeInfo, TypeKind,
};
use tumit_viewer::scene::wire::{self, entity};

/// Hits of a page.
const NAMED: usize = 500;
/// The interval is divided into so many parts, in each of which hits are counted.
const BINS: usize = 512;
/// Entities of a stretch, about: what the turn of a page looks at, at least.
const STRETCH: u64 = 1 << 20;
/// The least and the most stretches of an interval.
const STRETCHES: (u64, u64) = (8, 1 << 10);

/// Hits are in the order of their earlier dates.
type Key = (i64, EntityId);

/// Which hits are named.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Those behind or before this one; without, those at the end of the list.
    beyond: Option<Key>,
    back: bool,
}

/// What is looked for.
struct Search<'a> {
    source: &'a dyn TimelineSource,
    wanted: &'a Wanted,
    interval: Interval,
    /// By value: whether its name fits.
    values: Vec<bool>,
    /// Containers in which it may be; all without.
    places: Option<BTreeSet<ContainerId>>,
    page: Page,
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    /// Those nearest to where the page begins.
    hits: Vec<Key>,
    bins: Vec<u64>,
    total: u64,
}

pub(crate) async fn find(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Result<Response, Failure> {
    grow(app, ask, |_, app, ask, teller| {
        let wanted = Wanted::parse(&ask.what).map_err(|text| Failure(StatusCode::BAD_REQUEST, text))?;
        let source = app.source.as_ref();
        if ask.id.is_empty() && ask.by >= 0 {
            check_fields(source, &wanted)?;
        }
        let beyond = match wire::parse_entity(&ask.id) {
            Some(id) => {
                let life = source.facts(id)?.life;
                Some((life.from.0.min(life.to.0), id))
            }
            None => None,
        };
        let search = Search {
            source,
            wanted: &wanted,
            interval: ask.interval(app)?,
            values: source.model().values.iter().map(|value| wanted.value(&value.name)).collect(),
            places: places(app, &wanted),
            page: Page { beyond, back: ask.by < 0 },
        };
        let lists = search.lists(app)?;
        let mut all = Found { bins: vec![0; BINS], ..Found::default() };
        search.run(&lists, &mut all, |all, done| teller.tell(done, || search.answer(all, app.origin)))?;
        Ok(search.answer(&all, app.origin))
    })
    .await
}

/// Says so if nothing has a field that was asked for.
fn check_fields(source: &dyn TimelineSource, wanted: &Wanted) -> Result<(), Failure> {
    let model = source.model();
    let of_kind = |ty: &&TypeInfo| match ty.kind {
        TypeKind::State => wanted.kind(Kind::State),
        TypeKind::Event => wanted.kind(Kind::Event),
        TypeKind::Link { .. } => wanted.kind(Kind::Link),
        _ => false,
    };
    let types: Vec<TypeId> = model.types.iter().filter(of_kind).map(|ty| ty.id).collect();
    for field in wanted.fields() {
        fields::check(source, fields::FieldUse::Condition, field, &types).map_err(|why| match why {
            FilterError::Query(why) => why.into(),
            why => Failure(StatusCode::BAD_REQUEST, why.to_string()),
        })?;
    }
    Ok(())
}

impl Search<'_> {
    /// Whether all are counted: not when a page is turned.
    fn counts(&self) -> bool {
        self.page.beyond.is_none() && !self.page.back
    }

    /// Where there may be hits, and how much is there.
    fn lists(&self, app: &Shown) -> Result<Vec<(List, u64)>, QueryError> {
        let inside = |container: &ContainerId| self.places.as_ref().is_none_or(|places| places.contains(container));
        let model = self.source.model();
        let mut lists = Vec::new();
        let named = |ty: TypeId| model.values.iter().zip(&self.values).any(|(value, &fits)| fits && value.ty == ty);
        for ty in model.types.iter().filter(|ty| named(ty.id)) {
            match ty.kind {
                TypeKind::State if self.wanted.kind(Kind::State) => {
                    let members = app.outline.states_within(ContainerId::ROOT, ty.id).into_iter();
                    lists.extend(members.filter(|member| inside(&member.0)).flat_map(|(container, depths)| {
                        (0..depths).map(move |depth| List::States(Lane { container, ty: ty.id, depth }))
                    }));
                }
                TypeKind::Event if self.wanted.kind(Kind::Event) && self.wanted.durations.is_none() => {
                    lists.extend(app.outline.with_events(ty.id).filter(inside).map(|id| List::Events(id, ty.id)));
                }
                TypeKind::Link { .. } if self.wanted.kind(Kind::Link) => lists.push(List::Links(ty.id)),
                _ => {}
            }
        }
        let counted = lists.into_iter().map(|list| Ok((list, list.count(self.source, self.interval)?)));
        counted.filter(|list| !matches!(list, Ok((_, 0)))).collect()
    }

    /// Looks through stretch after stretch, from where the page begins, until it is full; to the end when all are counted.
    fn run(&self, lists: &[(List, u64)], all: &mut Found, tell: impl Fn(&Found, f64)) -> Result<(), QueryError> {
        let total: u64 = lists.iter().map(|list| list.1).sum();
        let width = self.interval.to.0.abs_diff(self.interval.from.0);
        let count = total.div_ceil(STRETCH).clamp(STRETCHES.0, STRETCHES.1).min(width.max(1));
        let count = u32::try_from(count).unwrap_or(1);
        let stretch = |at: u32| self.interval.column(at, count);
        let begin = match self.page.beyond {
            Some((date, _)) => (0..count).rev().find(|&at| stretch(at).from.0 <= date).unwrap_or(0),
            None if self.page.back => count - 1,
            None => 0,
        };
        let order: Vec<u32> = if self.page.back { (0..=begin).rev().collect() } else { (begin..count).collect() };
        for (number, &at) in order.iter().enumerate() {
            let jobs = lists.iter().map(|&(list, _)| Job::of(list, stretch(at), at == 0)).collect();
            // Nothing of a later stretch comes before what is known.
            let names = all.hits.len() <= NAMED;
            scan::run(jobs, |job| self.look(job, names), |found, _| all.merge(found, self.page.back))?;
            all.keep(self.page.back);
            if !self.counts() && all.hits.len() > NAMED {
                return Ok(());
            }
            tell(all, (number + 1) as f64 / order.len() as f64);
        }
        Ok(())
    }

    /// What is found in a stretch of a list.
    fn look(&self, job: &Job, names: bool) -> Result<Found, QueryError> {
        let mut found = Found { bins: vec![0; if self.counts() { BINS } else { 0 }], ..Found::default() };
        job.visit(self.source, |item| {
            if !self.fits(item)? {
                return Ok(());
            }
            if self.counts() {
                found.total += 1;
                found.bins[self.bin(item)] += 1;
            }
            let key = (item.begin(), item.id);
            let beyond = self.page.beyond.is_none_or(|known| if self.page.back { key < known } else { key > known });
            if names && beyond {
                found.hits.push(key);
                // In bounded memory.
                if found.hits.len() >= 8 * NAMED {
                    found.keep(self.page.back);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    #[inline]
    fn fits(&self, item: &Item) -> Result<bool, QueryError> {
        if !self.values.get(item.value.index()).is_some_and(|&fits| fits) || !self.wanted.lasts(item.nanos()) {
            return Ok(false);
        }
        // A link belongs to both containers that it joins.
        if let (Some(places), Some((start, end))) = (&self.places, item.ends)
            && !places.contains(&start)
            && !places.contains(&end)
        {
            return Ok(false);
        }
        if !self.wanted.reads() {
            return Ok(true);
        }
        Ok(self.wanted.facts(&self.source.facts(item.id)?))
    }

    /// Where on the minimap it is counted.
    fn bin(&self, item: &Item) -> usize {
        let span = i128::from(self.interval.to.0) - i128::from(self.interval.from.0);
        let middle = i128::midpoint(i128::from(item.from), i128::from(item.to)) - i128::from(self.interval.from.0);
        usize::try_from(middle * BINS as i128 / span.max(1)).unwrap_or(0).min(BINS - 1)
    }

    fn answer(&self, all: &Found, origin: i64) -> Value {
        // The one too many only tells that there are more.
        let more = all.hits.len() > NAMED;
        let first = if more && self.page.back { all.hits.len() - NAMED } else { 0 };
        let hits = all.hits.iter().skip(first).take(NAMED).filter_map(|&(_, id)| {
            let facts = self.source.facts(id).ok()?;
            Some(json!({
                "id": entity(id),
                "name": facts.name,
                "path": facts.container_path,
                "from": facts.life.from.0.saturating_sub(origin),
                "to": facts.life.to.0.saturating_sub(origin),
            }))
        });
        let hits: Vec<Value> = hits.collect();
        if self.counts() {
            json!({ "hits": hits, "more": more, "total": all.total, "bins": all.bins })
        } else {
            json!({ "hits": hits, "more": more })
        }
    }
}

impl Found {
    fn merge(&mut self, other: Self, back: bool) {
        self.total += other.total;
        self.bins.iter_mut().zip(other.bins).for_each(|(bin, more)| *bin += more);
        self.hits.extend(other.hits);
        if self.hits.len() >= 8 * NAMED {
            self.keep(back);
        }
    }

    /// Keeps a page of hits, and one more; in order.
    fn keep(&mut self, back: bool) {
        self.hits.sort_unstable();
        if back {
            self.hits.drain(..self.hits.len().saturating_sub(NAMED + 1));
        } else {
            self.hits.truncate(NAMED + 1);
        }
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
