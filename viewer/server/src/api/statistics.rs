//! The statistics table of an interval: time, share and number per value, of the whole trace or of what is below a container.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::charts::{lanes, longer};
use super::{App, Ask, Failure, Shown};
use crate::api::streaming::grow;
use crate::type_names::type_path;
use tumit_viewer::query::scan::{self, List};
use tumit_viewer::query::{ContainerId, EntityId, Interval, QueryError, TypeId, TypeKind, ValueId};
use tumit_viewer::scene::wire::entity;
use tumit_viewer::stats::{self, StateTimes};
use tumit_viewer::style::theme::Theme;

/// Sums are at hand; numbers, and the longest, take a pass.
pub(crate) async fn times(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Result<Response, Failure> {
    grow(app, ask, |_, app, ask, teller| {
        let (source, interval, within) = (app.source.as_ref(), ask.interval(app)?, ask.within()?);
        let model = source.model();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == TypeKind::State) {
            types.extend(Type::of(app, ty.id, within, interval)?);
        }
        let answer = |seen: Option<&Seen>| {
            json!({ "types": types.iter().map(|ty| ty.answer(app, Theme::new(ask.theme), seen)).collect::<Vec<_>>() })
        };
        if ask.bare {
            return Ok(answer(None));
        }
        let mut all = Seen::default();
        let look = |job: &scan::Job| {
            let mut own = Seen::default();
            job.visit(source, |item| {
                own.add(item.value, 1, Some((item.nanos(), item.id)));
                Ok(())
            })?;
            Ok(own)
        };
        let lists = types.iter().flat_map(|ty| lanes(app, within, ty.id)).map(List::States);
        scan::run(scan::jobs(source, lists, interval)?, look, |own, done| {
            own.0.into_iter().for_each(|(value, (count, longest))| all.add(value, count, longest));
            teller.tell(done, || answer(None));
        })?;
        Ok(answer(Some(&all)))
    })
    .await
}

/// How many states of each value there are, and the longest of them, also outside of the interval.
#[derive(Default)]
struct Seen(FxHashMap<ValueId, (u64, Option<(i64, EntityId)>)>);

impl Seen {
    fn add(&mut self, value: ValueId, count: u64, longest: Option<(i64, EntityId)>) {
        let seen = self.0.entry(value).or_default();
        seen.0 += count;
        // Of equally long ones the first is the longest.
        seen.1 = longer(seen.1, longest);
    }
}

/// What sums tell of a state type.
struct Type {
    id: TypeId,
    containers: usize,
    total: u64,
    times: StateTimes,
}

impl Type {
    /// Nothing where no container has it.
    fn of(app: &Shown, id: TypeId, within: ContainerId, interval: Interval) -> Result<Option<Self>, QueryError> {
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

    fn answer(&self, app: &Shown, theme: Theme, seen: Option<&Seen>) -> Value {
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
            "lived": stats::json_number(self.times.lived),
            "none": stats::json_number(self.times.none),
            "count": self.total,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}
