//! Communication matrices: for each link type, the traffic between containers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::super::entities::longest_entity::LongestEntity;
use super::super::{AppState, DrawRequest, RequestError};
use crate::api::selected_rows::SelectedRows;
use crate::api::streaming::grow;
use tumit_viewer::query::entity_scan::{self, LinkEndpoints, ScanItemRef, ScanList};
use tumit_viewer::query::{ContainerId, ContainerInfo, PajeTypeKind, TypeId};
use tumit_viewer::stats;
use tumit_viewer::stats::json_number;

/// Maximum number of containers of a matrix. Cells of more would be too small to be pointed at.
const MAX_CONTAINERS: usize = 64;
/// Maximum number of stored pairs. Above it, pairs that will not be shown are removed.
const MAX_PAIRS: usize = 4 * MAX_CONTAINERS * MAX_CONTAINERS;

/// The traffic from one container to another.
#[derive(Clone, Copy, Default)]
struct PairTraffic {
    count: u64,
    nanos: i128,
    size: Option<f64>,
    longest: Option<LongestEntity>,
}

impl PairTraffic {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.nanos += other.nanos;
        self.size = self.size.map_or(other.size, |size| Some(size + other.size.unwrap_or(0.0)));
        self.longest = LongestEntity::longer_of(self.longest, other.longest);
    }
}

/// A sender and a receiver, numbered in the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ContainerPair {
    from: u32,
    to: u32,
}

/// The traffic of a type. Containers are numbered in the order of the rows.
#[derive(Default)]
struct TrafficMatrix {
    pairs: FxHashMap<ContainerPair, PairTraffic>,
    /// All containers that send or receive.
    containers: BTreeSet<u32>,
}

/// A link type that has links in the time range.
struct MatrixType {
    id: TypeId,
    name: String,
    total: u64,
    /// The field with the size of a link.
    field: Option<String>,
}

pub(crate) async fn matrix(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let (source, time_range) = (trace.source.as_ref(), request.time_range(trace)?);
        let mut types = Vec::new();
        for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
            let total = ScanList::Links(ty.id).count(source, time_range)?;
            if total > 0 {
                let field = stats::size_field(source, ty.id, time_range)?;
                types.push(MatrixType { id: ty.id, name: ty.name.clone(), total, field });
            }
        }
        let containers = source.containers();
        // Links to containers outside of the selection do not count.
        let rows: SelectedRows = request.rows.parse()?;
        let selected: Option<FxHashSet<ContainerId>> = (!rows.is_all()).then(|| {
            let tops = rows.topmost_containers(&containers);
            tops.into_iter().flat_map(|top| trace.outline.subtree(top)).collect()
        });
        let is_counted = |id: &ContainerId| selected.as_ref().is_none_or(|selected| selected.contains(id));
        let numbered = containers.iter().zip(0..).map(|(info, place)| (info.id, place));
        let places: FxHashMap<ContainerId, u32> = numbered.filter(|(id, _)| is_counted(id)).collect();
        let mut matrices: BTreeMap<TypeId, TrafficMatrix> = BTreeMap::new();
        let count = |job: &entity_scan::ScanJob| {
            let ScanList::Links(ty) = job.list else { return Ok((TypeId::ROOT, TrafficMatrix::default())) };
            let field = types.iter().find(|shown| shown.id == ty).and_then(|shown| shown.field.as_deref());
            let mut part = TrafficMatrix::default();
            job.visit(source, |item| {
                let size = field.map_or(Ok(None), |field| stats::number(source, item.id, field))?;
                part.add(item, size, &places);
                Ok(())
            })?;
            Ok((ty, part))
        };
        let jobs = entity_scan::jobs(source, types.iter().map(|ty| ScanList::Links(ty.id)), time_range)?;
        entity_scan::run(jobs, count, |(ty, part), done| {
            matrices.entry(ty).or_default().merge(part);
            progress.report(done, || answer(&types, &matrices, &containers));
        })?;
        Ok(answer(&types, &matrices, &containers))
    })
    .await
}

fn answer(types: &[MatrixType], matrices: &BTreeMap<TypeId, TrafficMatrix>, containers: &[ContainerInfo]) -> Value {
    let empty = TrafficMatrix::default();
    let types = types.iter().map(|ty| {
        json!({
            "type": ty.id.0,
            "name": ty.name,
            "total": ty.total,
            "field": ty.field,
            "cells": matrices.get(&ty.id).unwrap_or(&empty).cells(containers),
        })
    });
    json!({ "types": types.collect::<Vec<_>>() })
}

impl TrafficMatrix {
    fn add(&mut self, item: &ScanItemRef, size: Option<f64>, places: &FxHashMap<ContainerId, u32>) {
        let Some(LinkEndpoints { start, end }) = item.endpoints else { return };
        let (Some(&from), Some(&to)) = (places.get(&start), places.get(&end)) else { return };
        let pair = ContainerPair { from, to };
        let longest = Some(LongestEntity { nanos: item.nanos(), id: item.id });
        self.put(pair, &PairTraffic { count: 1, nanos: item.nanos().into(), size, longest });
    }

    fn merge(&mut self, other: Self) {
        // Includes the containers of removed pairs.
        self.containers.extend(other.containers);
        other.pairs.into_iter().for_each(|(pair, added)| self.put(pair, &added));
    }

    fn put(&mut self, pair: ContainerPair, added: &PairTraffic) {
        let traffic = self.pairs.entry(pair).or_default();
        if traffic.count == 0 {
            self.containers.extend([pair.from, pair.to]);
        }
        traffic.merge(added);
        if self.pairs.len() > MAX_PAIRS {
            // Later containers can only replace the last ones of the shown containers. A container
            // that is no longer shown is never shown again.
            let last = self.first_containers().last().copied().unwrap_or(0);
            self.pairs.retain(|pair, _| pair.from <= last && pair.to <= last);
        }
    }

    /// The first containers in the order of the rows.
    fn first_containers(&self) -> Vec<u32> {
        self.containers.iter().copied().take(MAX_CONTAINERS).collect()
    }

    fn cells(&self, containers: &[ContainerInfo]) -> Value {
        let first = self.first_containers();
        let mut cells: Vec<_> = self
            .pairs
            .iter()
            .filter_map(|(pair, traffic)| {
                Some(((first.binary_search(&pair.from).ok()?, first.binary_search(&pair.to).ok()?), traffic))
            })
            .collect();
        cells.sort_unstable_by_key(|cell| cell.0);
        let cells = cells.into_iter().map(|((from, to), traffic)| {
            json!({
                "from": from,
                "to": to,
                "count": traffic.count,
                "nanos": json_number(traffic.nanos),
                "size": traffic.size,
                "longest": traffic.longest.map(LongestEntity::json),
            })
        });
        let cells: Vec<Value> = cells.collect();
        let name = |&place: &u32| containers.get(place as usize).map_or("", |info| info.name.as_str());
        json!({ "containers": first.iter().map(name).collect::<Vec<_>>(), "container_count": self.containers.len(), "cells": cells })
    }
}

#[cfg(test)]
mod tests {
    use super::{ContainerPair, MAX_CONTAINERS, MAX_PAIRS, PairTraffic, TrafficMatrix};

    #[test]
    fn the_totals_include_all_pairs() {
        // All to all of 300 containers, twice, in an order that pushes containers out late.
        let side = |n: u32| n * 7 % 300;
        let traffic = PairTraffic { count: 1, nanos: 5, size: Some(2.0), longest: None };
        let mut matrix = TrafficMatrix::default();
        for _ in 0..2 {
            let mut part = TrafficMatrix::default();
            (0..90_000).for_each(|n| part.put(ContainerPair { from: side(n / 300), to: side(n % 300) }, &traffic));
            assert!(part.pairs.len() <= MAX_PAIRS + 1);
            matrix.merge(part);
        }
        let containers = matrix.first_containers();
        assert_eq!((containers.len(), containers[63], matrix.containers.len()), (MAX_CONTAINERS, 63, 300));
        for pair in (0..64).flat_map(|from| (0..64).map(move |to| ContainerPair { from, to })) {
            let traffic = matrix.pairs[&pair];
            assert_eq!((traffic.count, traffic.nanos, traffic.size), (2, 10, Some(4.0)), "{pair:?}");
        }
    }
}
