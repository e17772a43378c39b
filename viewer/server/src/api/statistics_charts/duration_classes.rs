//! Durations of the states or links of a type, in classes. Each class is twice as wide as the one
//! before.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::super::entities::longest_entity::LongestEntity;
use super::super::{AppState, DrawRequest, RequestError};
use super::lanes;
use crate::api::streaming::grow;
use tumit_viewer::query::entity_scan::{self, ScanItemRef, ScanList};
use tumit_viewer::query::{PajeTypeKind, QueryError, TypeId};
use tumit_viewer::stats::json_number;

#[derive(Clone, Copy, Default)]
struct DurationClass {
    count: u64,
    nanos: i128,
    longest: Option<LongestEntity>,
}

/// All classes. Class 0 contains the duration 0. Any other duration is in the class of its highest
/// bit.
struct DurationClasses([DurationClass; 64]);

pub(crate) async fn histogram(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let (time_range, ty) = (request.time_range(trace)?, TypeId(request.ty));
        let source = trace.source.as_ref();
        let lists: Vec<ScanList> = match source.model().types.get(ty.index()).map(|ty| ty.kind) {
            Some(PajeTypeKind::State) => {
                lanes(trace, &request.counted_containers(trace)?, ty).into_iter().map(ScanList::States).collect()
            }
            Some(PajeTypeKind::Link { .. }) => vec![ScanList::Links(ty)],
            _ => return Err(QueryError::Unknown { kind: "type of states or links" }.into()),
        };
        let mut total = DurationClasses([DurationClass::default(); 64]);
        let count = |job: &entity_scan::ScanJob| {
            let mut part = DurationClasses([DurationClass::default(); 64]);
            job.visit(source, |item| {
                if request.value.is_none_or(|value| value == item.value.0) {
                    part.add(item);
                }
                Ok(())
            })?;
            Ok(part)
        };
        entity_scan::run(entity_scan::jobs(source, lists, time_range)?, count, |part, done| {
            total.merge(&part);
            progress.report(done, || total.answer());
        })?;
        Ok(total.answer())
    })
    .await
}

impl DurationClasses {
    #[inline]
    fn add(&mut self, item: &ScanItemRef) {
        let nanos = item.nanos();
        let class = &mut self.0[(64 - nanos.max(0).leading_zeros() as usize).min(63)];
        class.count += 1;
        class.nanos += i128::from(nanos);
        if class.longest.is_none_or(|longest| nanos > longest.nanos) {
            class.longest = Some(LongestEntity { nanos, id: item.id });
        }
    }

    fn merge(&mut self, other: &Self) {
        for (class, other) in self.0.iter_mut().zip(&other.0) {
            class.count += other.count;
            class.nanos += other.nanos;
            class.longest = LongestEntity::longer_of(class.longest, other.longest);
        }
    }

    fn answer(&self) -> Value {
        let filled = |class: &DurationClass| class.count > 0;
        let first = self.0.iter().position(filled).unwrap_or(0);
        let last = self.0.iter().rposition(filled).map_or(first, |last| last + 1);
        let classes = self.0[first..last].iter().enumerate().map(|(index, class)| {
            let number = first + index;
            json!({
                "from": if number == 0 { 0 } else { 1_u64 << (number - 1) },
                "to": 1_u64 << number,
                "count": class.count,
                "nanos": json_number(class.nanos),
                "longest": class.longest.map(LongestEntity::json),
            })
        });
        json!({ "classes": classes.collect::<Vec<_>>(), "total": self.0.iter().map(|class| class.count).sum::<u64>() })
    }
}
