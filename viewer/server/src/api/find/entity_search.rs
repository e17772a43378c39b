//! [`EntitySearch`]: scans a time range for the entities that fit a query, column by column.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::find_query::{FindKind, FindQuery};
use crate::api::selected_rows::SelectedRows;
use crate::api::{FilteredTrace, RequestError};
use tumit_viewer::filter::FilterError;
use tumit_viewer::filter::language::entity_fields;
use tumit_viewer::layout::SummaryMember;
use tumit_viewer::query::entity_scan::{self, LinkEndpoints, ScanItemRef, ScanJob, ScanList};
use tumit_viewer::query::{
    ContainerId, EntityId, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, TypeInfo,
};
use tumit_viewer::scene::wire::entity;

/// Maximum number of hits on a page, so that an answer stays below about 100 KB.
pub(super) const HITS_PER_PAGE: usize = 500;
/// The time range is divided into this number of bins, which the minimap shows. Hits are counted in
/// each bin.
const BINS: usize = 512;
/// Approximate number of entities in a time column. It is the least that a page turn examines.
const ENTITIES_PER_COLUMN: u64 = 1 << 20;
/// Minimum number of time columns of a time range, so that the first hits of a short trace come
/// early.
const MIN_COLUMNS: u64 = 8;
/// Maximum number of time columns of a time range, because each column costs a query per list.
const MAX_COLUMNS: u64 = 1 << 10;

/// An entity that was found. Hits are sorted by the field `begin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SearchHit {
    /// The earlier timestamp of the entity.
    pub(super) begin: i64,
    pub(super) id: EntityId,
}

/// The part of the list that is returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct HitPage {
    /// The hits after or before this one. Without it, the hits at an end of the list.
    pub(super) anchor: Option<SearchHit>,
    pub(super) is_backward: bool,
    /// The number of hits. One more is found, which shows that there are more.
    pub(super) size: usize,
}

/// A search in a time range.
pub(super) struct EntitySearch<'a> {
    source: &'a dyn TimelineSource,
    query: &'a FindQuery,
    time_range: TimeRange,
    /// Indexed by value: whether its name matches.
    values: Vec<bool>,
    /// Containers to search. `None` means all.
    places: Option<BTreeSet<ContainerId>>,
    page: HitPage,
}

/// A list that may contain hits.
struct SearchedList {
    list: ScanList,
    /// Number of its entities in the time range.
    count: u64,
}

/// The hits found so far.
#[derive(Default)]
pub(super) struct SearchHits {
    /// The hits nearest to the begin of the page.
    pub(super) hits: Vec<SearchHit>,
    bins: Vec<u64>,
    total: u64,
}

/// Returns an error if no entity has a requested field.
pub(super) fn check_fields(source: &dyn TimelineSource, query: &FindQuery) -> Result<(), RequestError> {
    let model = source.model();
    let of_kind = |ty: &&TypeInfo| match ty.kind {
        PajeTypeKind::State => query.includes_kind(FindKind::State),
        PajeTypeKind::Event => query.includes_kind(FindKind::Event),
        PajeTypeKind::Link { .. } => query.includes_kind(FindKind::Link),
        _ => false,
    };
    let types: Vec<TypeId> = model.types.iter().filter(of_kind).map(|ty| ty.id).collect();
    for field in query.fields() {
        entity_fields::check(source, entity_fields::FieldUse::Condition, field, &types).map_err(
            |error| match error {
                FilterError::Query(error) => error.into(),
                error => RequestError(StatusCode::BAD_REQUEST, error.to_string()),
            },
        )?;
    }
    Ok(())
}

impl<'a> EntitySearch<'a> {
    pub(super) fn new(
        trace: &'a FilteredTrace,
        query: &'a FindQuery,
        rows: &SelectedRows,
        time_range: TimeRange,
        page: HitPage,
    ) -> Self {
        let source = trace.source.as_ref();
        let values = source.model().values.iter().map(|value| query.matches_value(&value.name)).collect();
        Self { source, query, time_range, values, places: places(trace, query, rows), page }
    }

    /// Whether all hits are counted. A page turn does not count.
    fn counts(&self) -> bool {
        self.page.anchor.is_none() && !self.page.is_backward
    }

    /// The lists that may contain hits.
    fn lists(&self, trace: &FilteredTrace) -> Result<Vec<SearchedList>, QueryError> {
        let inside = |container: &ContainerId| self.places.as_ref().is_none_or(|places| places.contains(container));
        let model = self.source.model();
        let mut lists = Vec::new();
        let has_value =
            |ty: TypeId| model.values.iter().zip(&self.values).any(|(value, &matches)| matches && value.ty == ty);
        for ty in model.types.iter().filter(|ty| has_value(ty.id)) {
            match ty.kind {
                PajeTypeKind::State if self.query.includes_kind(FindKind::State) => {
                    let members = trace.outline.states_in_subtree(ContainerId::ROOT, ty.id).into_iter();
                    lists.extend(members.filter(|member| inside(&member.container)).flat_map(
                        |SummaryMember { container, depths }| {
                            (0..depths).map(move |depth| ScanList::States(StateLaneId { container, ty: ty.id, depth }))
                        },
                    ));
                }
                PajeTypeKind::Event if self.query.includes_kind(FindKind::Event) && self.query.durations.is_none() => {
                    lists.extend(trace.outline.with_events(ty.id).filter(inside).map(|id| ScanList::Events(id, ty.id)));
                }
                PajeTypeKind::Link { .. } if self.query.includes_kind(FindKind::Link) => {
                    lists.push(ScanList::Links(ty.id));
                }
                _ => {}
            }
        }
        let counted =
            lists.into_iter().map(|list| Ok(SearchedList { list, count: list.count(self.source, self.time_range)? }));
        counted.filter(|list| !matches!(list, Ok(SearchedList { count: 0, .. }))).collect()
    }

    /// Scans the columns from the begin of the page until it is full. If all hits are counted,
    /// scans to the end.
    pub(super) fn run(
        &self,
        trace: &FilteredTrace,
        report: impl Fn(&SearchHits, f64),
    ) -> Result<SearchHits, QueryError> {
        let lists = self.lists(trace)?;
        let mut hits = SearchHits { bins: vec![0; BINS], ..SearchHits::default() };
        let total: u64 = lists.iter().map(|list| list.count).sum();
        let width = self.time_range.to.0.abs_diff(self.time_range.from.0);
        let count = total.div_ceil(ENTITIES_PER_COLUMN).clamp(MIN_COLUMNS, MAX_COLUMNS).min(width.max(1));
        let count = u32::try_from(count).unwrap_or(1);
        let column = |index: u32| self.time_range.column(index, count);
        let begin = match self.page.anchor {
            Some(hit) => (0..count).rev().find(|&index| column(index).from.0 <= hit.begin).unwrap_or(0),
            None if self.page.is_backward => count - 1,
            None => 0,
        };
        let order: Vec<u32> =
            if self.page.is_backward { (0..=begin).rev().collect() } else { (begin..count).collect() };
        for (number, &index) in order.iter().enumerate() {
            let jobs = lists.iter().map(|searched| ScanJob::of(searched.list, column(index), index == 0)).collect();
            // Hits of a later column come after the known hits.
            let needs_hits = hits.hits.len() <= self.page.size;
            entity_scan::run(jobs, |job| self.search_list(job, needs_hits), |found, _| hits.merge(found, self.page))?;
            hits.keep_page(self.page);
            if !self.counts() && hits.hits.len() > self.page.size {
                return Ok(hits);
            }
            report(&hits, (number + 1) as f64 / order.len() as f64);
        }
        Ok(hits)
    }

    /// Finds the hits in a column of a list.
    fn search_list(&self, job: &ScanJob, needs_hits: bool) -> Result<SearchHits, QueryError> {
        let mut search_hits =
            SearchHits { bins: vec![0; if self.counts() { BINS } else { 0 }], ..SearchHits::default() };
        job.visit(self.source, |item| {
            if !self.fits(item)? {
                return Ok(());
            }
            if self.counts() {
                search_hits.total += 1;
                search_hits.bins[self.bin(item)] += 1;
            }
            let hit = SearchHit { begin: item.begin(), id: item.id };
            let is_beyond =
                self.page.anchor.is_none_or(|last| if self.page.is_backward { hit < last } else { hit > last });
            if needs_hits && is_beyond {
                search_hits.hits.push(hit);
                // Keeps the memory bounded.
                if search_hits.hits.len() >= 8 * HITS_PER_PAGE {
                    search_hits.keep_page(self.page);
                }
            }
            Ok(())
        })?;
        Ok(search_hits)
    }

    #[inline]
    fn fits(&self, item: &ScanItemRef) -> Result<bool, QueryError> {
        if !self.values.get(item.value.index()).is_some_and(|&matches| matches)
            || !self.query.matches_duration(item.nanos())
        {
            return Ok(false);
        }
        // A link belongs to both containers that it connects.
        if let (Some(places), Some(LinkEndpoints { start, end })) = (&self.places, item.endpoints)
            && !places.contains(&start)
            && !places.contains(&end)
        {
            return Ok(false);
        }
        if !self.query.needs_facts() {
            return Ok(true);
        }
        Ok(self.query.matches_facts(&self.source.facts(item.id)?))
    }

    /// The index of the item's bin on the minimap.
    fn bin(&self, item: &ScanItemRef) -> usize {
        let span = i128::from(self.time_range.to.0) - i128::from(self.time_range.from.0);
        let middle = i128::midpoint(i128::from(item.from), i128::from(item.to)) - i128::from(self.time_range.from.0);
        usize::try_from(middle * BINS as i128 / span.max(1)).unwrap_or(0).min(BINS - 1)
    }

    pub(super) fn answer(&self, search_hits: &SearchHits, origin: i64) -> Value {
        // The extra hit only shows that there are more hits.
        let has_more = search_hits.hits.len() > HITS_PER_PAGE;
        let first = if has_more && self.page.is_backward { search_hits.hits.len() - HITS_PER_PAGE } else { 0 };
        let hits = search_hits.hits.iter().skip(first).take(HITS_PER_PAGE).filter_map(|hit| {
            let facts = self.source.facts(hit.id).ok()?;
            Some(json!({
                "id": entity(hit.id),
                "name": facts.name,
                "path": facts.container_path,
                "from": facts.life.from.0.saturating_sub(origin),
                "to": facts.life.to.0.saturating_sub(origin),
            }))
        });
        let hits: Vec<Value> = hits.collect();
        if self.counts() {
            json!({ "hits": hits, "more": has_more, "total": search_hits.total, "bins": search_hits.bins })
        } else {
            json!({ "hits": hits, "more": has_more })
        }
    }
}

impl SearchHits {
    fn merge(&mut self, other: Self, page: HitPage) {
        self.total += other.total;
        self.bins.iter_mut().zip(other.bins).for_each(|(bin, more)| *bin += more);
        self.hits.extend(other.hits);
        if self.hits.len() >= 8 * HITS_PER_PAGE {
            self.keep_page(page);
        }
    }

    /// Keeps one page of hits and one more, sorted.
    fn keep_page(&mut self, page: HitPage) {
        self.hits.sort_unstable();
        if page.is_backward {
            self.hits.drain(..self.hits.len().saturating_sub(page.size + 1));
        } else {
            self.hits.truncate(page.size + 1);
        }
    }
}

/// The containers within the selected rows and all requested places. `None` for the whole trace.
fn places(trace: &FilteredTrace, query: &FindQuery, rows: &SelectedRows) -> Option<BTreeSet<ContainerId>> {
    if query.places.is_empty() && rows.is_all() {
        return None;
    }
    let containers = trace.source.containers();
    let mut places: Option<BTreeSet<ContainerId>> = (!rows.is_all()).then(|| {
        let tops = rows.topmost_containers(&containers);
        tops.into_iter().flat_map(|top| trace.outline.subtree(top)).collect()
    });
    for place in &query.places {
        let named = containers.iter().filter(|info| info.name.to_lowercase().contains(place.as_str()));
        let subtrees: BTreeSet<ContainerId> = named.flat_map(|info| trace.outline.subtree(info.id)).collect();
        places = Some(match places {
            Some(previous) => previous.intersection(&subtrees).copied().collect(),
            None => subtrees,
        });
    }
    places
}
