//! How many events and links of each value there are in an interval, how long the links took and how much they carried: to be compared with another
//! interval or trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::{App, Ask, Failure, Shown};
use crate::pass::{self, List};
use crate::query::{ContainerId, TypeId, TypeKind, ValueId};
use crate::server::growing::grow;
use crate::stats;
use crate::theme::Theme;

/// What there is of a value.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    nanos: i64,
    size: Option<f64>,
}

impl Sum {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.size = self.size.map_or(other.size, |size| Some(size + other.size.unwrap_or(0.0)));
    }
}

type Sums = BTreeMap<(TypeId, ValueId), Sum>;

/// Takes a pass.
pub(in crate::server) async fn totals(
    State(app): State<Arc<App>>,
    Query(ask): Query<Ask>,
) -> Result<Response, Failure> {
    grow(app, ask, |_, app, ask, teller| {
        let (source, interval, theme) = (app.source.as_ref(), ask.interval(app)?, Theme::new(ask.theme));
        let model = source.model();
        let within: Vec<ContainerId> = app.outline.within(ask.within()?).collect();
        let mut lists = Vec::new();
        let mut fields: BTreeMap<TypeId, String> = BTreeMap::new();
        for ty in &model.types {
            match ty.kind {
                TypeKind::Event => lists.extend(within.iter().map(|&container| List::Events(container, ty.id))),
                TypeKind::Link { .. } => {
                    lists.push(List::Links(ty.id));
                    fields.extend(stats::size_field(source, ty.id, interval)?.map(|field| (ty.id, field)));
                }
                _ => {}
            }
        }
        let count = |job: &pass::Job| {
            let ty = match job.list {
                List::Events(_, ty) | List::Links(ty) => ty,
                List::States(lane) => lane.ty,
            };
            let field = fields.get(&ty);
            let mut own = Sums::new();
            job.visit(source, |item| {
                let size = field.map_or(Ok(None), |field| stats::number(source, item.id, field))?;
                own.entry((ty, item.value)).or_default().merge(&Sum { count: 1, nanos: item.nanos(), size });
                Ok(())
            })?;
            Ok(own)
        };
        let mut all = Sums::new();
        pass::run(pass::jobs(source, lists, interval)?, count, |own, done| {
            own.iter().for_each(|(of, sum)| all.entry(*of).or_default().merge(sum));
            teller.tell(done, || answer(app, theme, &all, &fields));
        })?;
        Ok(answer(app, theme, &all, &fields))
    })
    .await
}

fn answer(app: &Shown, theme: Theme, all: &Sums, fields: &BTreeMap<TypeId, String>) -> Value {
    let model = app.source.model();
    let types = model.types.iter().filter_map(|ty| {
        let own = all.range((ty.id, ValueId(0))..=(ty.id, ValueId(u32::MAX)));
        let rows: Vec<Value> = own
            .filter_map(|((_, value), sum)| {
                let value = model.values.get(value.index())?;
                Some(json!({
                    "name": value.name,
                    "color": theme.fill(value.color).to_string(),
                    "count": sum.count,
                    "nanos": sum.nanos,
                    "size": sum.size,
                }))
            })
            .collect();
        let is_link = matches!(ty.kind, TypeKind::Link { .. });
        let field = fields.get(&ty.id);
        (!rows.is_empty()).then(|| json!({ "name": ty.name, "link": is_link, "field": field, "rows": rows }))
    });
    json!({ "types": types.collect::<Vec<_>>() })
}
