//! The statistics table of an interval: time, share and number per value. It covers the whole trace
//! or the containers below one.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::charts::{lanes, longer_entity};
use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::streaming::grow;
use crate::type_names::type_path;
use tumit_viewer::query::scan::{self, ScanList};
use tumit_viewer::query::{ContainerId, EntityId, PajeTypeKind, QueryError, TimeRange, TypeId, ValueId};
use tumit_viewer::scene::wire::entity;
use tumit_viewer::stats::{self, StateTimes};
use tumit_viewer::style::theme::ColorTheme;

/// Sums are available at once. The numbers of states and the longest states need a scan.
pub(crate) async fn times(
    State(app): State<Arc<AppState>>,
    Query(ask): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, ask, |_, app, ask, teller| {
        let (source, interval, within) = (app.source.as_ref(), ask.interval(app)?, ask.within()?);
        let model = source.model();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            types.extend(TypeTotals::of(app, ty.id, within, interval)?);
        }
        let answer = |seen: Option<&ValueCounts>| {
            json!({ "types": types.iter().map(|ty| ty.answer(app, ColorTheme::new(ask.theme), seen)).collect::<Vec<_>>() })
        };
        if ask.bare {
            return Ok(answer(None));
        }
        let mut all = ValueCounts::default();
        let look = |job: &scan::ScanJob| {
            let mut own = ValueCounts::default();
            job.visit(source, |item| {
                own.add(item.value, 1, Some((item.nanos(), item.id)));
                Ok(())
            })?;
            Ok(own)
        };
        let lists = types.iter().flat_map(|ty| lanes(app, within, ty.id)).map(ScanList::States);
        scan::run(scan::jobs(source, lists, interval)?, look, |own, done| {
            own.0.into_iter().for_each(|(value, (count, longest))| all.add(value, count, longest));
            teller.report(done, || answer(None));
        })?;
        Ok(answer(Some(&all)))
    })
    .await
}

/// The number of states of each value, and the longest of them with its full duration.
#[derive(Default)]
struct ValueCounts(FxHashMap<ValueId, (u64, Option<(i64, EntityId)>)>);

impl ValueCounts {
    fn add(&mut self, value: ValueId, count: u64, longest: Option<(i64, EntityId)>) {
        let seen = self.0.entry(value).or_default();
        seen.0 += count;
        // Of several longest states, the one with the smallest identifier counts.
        seen.1 = longer_entity(seen.1, longest);
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
        app: &FilteredTrace,
        id: TypeId,
        within: ContainerId,
        interval: TimeRange,
    ) -> Result<Option<Self>, QueryError> {
        let source = app.source.as_ref();
        let containers: Vec<ContainerId> =
            app.outline.states_within(within, id).into_iter().map(|member| member.0).collect();
        if containers.is_empty() {
            return Ok(None);
        }
        let mut total = 0;
        for lane in lanes(app, within, id) {
            total += source.states(lane, interval, 0)?.total;
        }
        let times = stats::times(source, &containers, id, interval)?;
        Ok(Some(Self { id, containers: containers.len(), total, times }))
    }

    fn answer(&self, app: &FilteredTrace, theme: ColorTheme, seen: Option<&ValueCounts>) -> Value {
        let model = app.source.model();
        let rows = self.times.values.iter().filter_map(|time| {
            let value = model.values.get(time.value.index())?;
            let seen = seen.map(|seen| seen.0.get(&time.value).copied().unwrap_or_default());
            Some(json!({
                "value": time.value.0,
                "name": value.name,
                "color": theme.fill(value.color).to_string(),
                "nanos": stats::json_number(time.nanos),
                "share": time.share,
                "self_nanos": stats::json_number(time.self_nanos),
                "self_share": time.self_share,
                "count": seen.map(|seen| seen.0),
                "longest": seen.and_then(|seen| seen.1).map(|(nanos, id)| json!({ "nanos": nanos, "id": entity(id) })),
            }))
        });
        json!({
            "type": self.id.0,
            "name": model.types.get(self.id.index()).map_or("", |ty| &ty.name),
            "path": type_path(&model, self.id),
            "containers": self.containers,
            "existence": stats::json_number(self.times.existence_nanos),
            "none": stats::json_number(self.times.none),
            "count": self.total,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}
