//! Durations of states or links of a type in classes, each twice as long as the one before.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::super::{App, Ask, Failure};
use super::lanes;
use crate::api::streaming::grow;
use tumit_viewer::query::scan::{self, Item, List};
use tumit_viewer::query::{EntityId, QueryError, TypeId, TypeKind};
use tumit_viewer::scene::wire::entity;
use tumit_viewer::stats::json_number;

/// A class of durations.
#[derive(Clone, Copy, Default)]
struct Class {
    count: u64,
    nanos: i128,
    longest: Option<(i64, EntityId)>,
}

/// All classes: 0 has one of its own, another duration that of its highest bit.
struct Classes([Class; 64]);

pub(crate) async fn histogram(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Result<Response, Failure> {
    grow(app, ask, |_, app, ask, teller| {
        let (interval, ty) = (ask.interval(app)?, TypeId(ask.ty));
        let source = app.source.as_ref();
        let lists: Vec<List> = match source.model().types.get(ty.index()).map(|ty| ty.kind) {
            Some(TypeKind::State) => lanes(app, ask.within()?, ty).into_iter().map(List::States).collect(),
            Some(TypeKind::Link { .. }) => vec![List::Links(ty)],
            _ => return Err(QueryError::Unknown { what: "type of states or links" }.into()),
        };
        let mut all = Classes([Class::default(); 64]);
        let count = |job: &scan::Job| {
            let mut own = Classes([Class::default(); 64]);
            job.visit(source, |item| {
                if ask.value.is_none_or(|wanted| wanted == item.value.0) {
                    own.add(item);
                }
                Ok(())
            })?;
            Ok(own)
        };
        scan::run(scan::jobs(source, lists, interval)?, count, |own, done| {
            all.merge(&own);
            teller.tell(done, || all.answer());
        })?;
        Ok(all.answer())
    })
    .await
}

impl Classes {
    #[inline]
    fn add(&mut self, item: &Item) {
        let nanos = item.nanos();
        let class = &mut self.0[(64 - nanos.max(0).leading_zeros() as usize).min(63)];
        class.count += 1;
        class.nanos += i128::from(nanos);
        if class.longest.is_none_or(|longest| nanos > longest.0) {
            class.longest = Some((nanos, item.id));
        }
    }

    fn merge(&mut self, other: &Self) {
        for (class, other) in self.0.iter_mut().zip(&other.0) {
            class.count += other.count;
            class.nanos += other.nanos;
            // Of equally long ones that with the least number, whatever was counted first.
            class.longest = longer(class.longest, other.longest);
        }
    }

    fn answer(&self) -> Value {
        let filled = |class: &Class| class.count > 0;
        let first = self.0.iter().position(filled).unwrap_or(0);
        let last = self.0.iter().rposition(filled).map_or(first, |last| last + 1);
        let shown = self.0[first..last].iter().enumerate().map(|(at, class)| {
            let class_of = first + at;
            json!({
                "from": if class_of == 0 { 0 } else { 1_u64 << (class_of - 1) },
                "to": 1_u64 << class_of,
                "count": class.count,
                "nanos": json_number(class.nanos),
                "longest": class.longest.map(|(nanos, id)| json!({ "nanos": nanos, "id": entity(id) })),
            })
        });
        json!({ "classes": shown.collect::<Vec<_>>(), "total": self.0.iter().map(|class| class.count).sum::<u64>() })
    }
}

/// The longer of two; of equally long ones that with the smaller number.
pub(crate) fn longer(one: Option<(i64, EntityId)>, other: Option<(i64, EntityId)>) -> Option<(i64, EntityId)> {
    one.into_iter().chain(other).max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))
}
