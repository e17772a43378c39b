//! The statistics table of a time range: time, share and number per value. It covers the whole
//! trace or the containers below one.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::entities::longest_entity::LongestEntity;
use super::statistics_charts::{lanes, members};
use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::streaming::grow;
use crate::type_names::type_path;
use tumit_viewer::query::entity_scan::{self, ScanList};
use tumit_viewer::query::{ContainerId, PajeTypeKind, QueryError, TimeRange, TypeId, ValueId};
use tumit_viewer::stats::{self, StateTimes};
use tumit_viewer::style::theme::ColorTheme;

/// Sums are available at once. The numbers of states and the longest states need a scan.
pub(crate) async fn times(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let (source, time_range) = (trace.source.as_ref(), request.time_range(trace)?);
        let containers = request.counted_containers(trace)?;
        let model = source.model();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            types.extend(TypeTotals::of(trace, ty.id, &containers, time_range)?);
        }
        let answer = |counts: Option<&ValueCounts>| {
            json!({ "types": types.iter().map(|ty| ty.answer(trace, ColorTheme::new(request.theme), counts)).collect::<Vec<_>>() })
        };
        if request.sums_only {
            return Ok(answer(None));
        }
        let mut total = ValueCounts::default();
        let count = |job: &entity_scan::ScanJob| {
            let mut part = ValueCounts::default();
            job.visit(source, |item| {
                let longest = Some(LongestEntity { nanos: item.nanos(), id: item.id });
                part.add(item.value, ValueCount { count: 1, longest });
                Ok(())
            })?;
            Ok(part)
        };
        let lists = types.iter().flat_map(|ty| lanes(trace, &containers, ty.id)).map(ScanList::States);
        entity_scan::run(entity_scan::jobs(source, lists, time_range)?, count, |part, done| {
            part.0.into_iter().for_each(|(value, count)| total.add(value, count));
            progress.report(done, || answer(None));
        })?;
        Ok(answer(Some(&total)))
    })
    .await
}

/// The number of states of a value, and the longest of them with its full duration.
#[derive(Clone, Copy, Default)]
struct ValueCount {
    count: u64,
    longest: Option<LongestEntity>,
}

#[derive(Default)]
struct ValueCounts(FxHashMap<ValueId, ValueCount>);

impl ValueCounts {
    fn add(&mut self, value: ValueId, count: ValueCount) {
        let entry = self.0.entry(value).or_default();
        entry.count += count.count;
        entry.longest = LongestEntity::longer_of(entry.longest, count.longest);
    }
}

/// The sums of a state type.
struct TypeTotals {
    id: TypeId,
    containers: usize,
    total: u64,
    times: StateTimes,
}

impl TypeTotals {
    /// Returns `None` if no container has the type.
    fn of(
        trace: &FilteredTrace,
        id: TypeId,
        counted: &[ContainerId],
        time_range: TimeRange,
    ) -> Result<Option<Self>, QueryError> {
        let source = trace.source.as_ref();
        let containers: Vec<ContainerId> =
            members(trace, counted, id).into_iter().map(|member| member.container).collect();
        if containers.is_empty() {
            return Ok(None);
        }
        let mut total = 0;
        for lane in lanes(trace, counted, id) {
            total += source.states(lane, time_range, 0)?.total;
        }
        let times = stats::times(source, &containers, id, time_range)?;
        Ok(Some(Self { id, containers: containers.len(), total, times }))
    }

    fn answer(&self, trace: &FilteredTrace, theme: ColorTheme, counts: Option<&ValueCounts>) -> Value {
        let model = trace.source.model();
        let rows = self.times.values.iter().filter_map(|time| {
            let value = model.values.get(time.value.index())?;
            let entry = counts.map(|counts| counts.0.get(&time.value).copied().unwrap_or_default());
            Some(json!({
                "value": time.value.0,
                "name": value.name,
                "color": theme.fill(value.color).to_string(),
                "nanos": stats::json_number(time.nanos),
                "share": time.share,
                "self_nanos": stats::json_number(time.self_nanos),
                "self_share": time.self_share,
                "count": entry.map(|entry| entry.count),
                "longest": entry.and_then(|entry| entry.longest).map(LongestEntity::json),
            }))
        });
        json!({
            "type": self.id.0,
            "name": model.types.get(self.id.index()).map_or("", |ty| &ty.name),
            "path": type_path(&model, self.id),
            "containers": self.containers,
            "existence": stats::json_number(self.times.existence_nanos),
            "none": stats::json_number(self.times.stateless_time),
            "count": self.total,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}
