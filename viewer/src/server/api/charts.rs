//! What charts show of an interval: durations in classes, who sends to whom, shares over time, variables with their extremes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde_json::{Value, json};

use super::{Answer, App, Ask, Shown, compute};
use crate::filter::walk;
use crate::query::{ContainerId, EntityId, Interval, Lane, QueryError, TypeId, TypeKind, ValueId};
use crate::scene::wire::{self, entity};
use crate::stats;
use crate::theme::Theme;

/// Entities that are looked at one by one for one chart.
const LOOKED_AT: u64 = 2_000_000;
/// Links whose fields are read.
const READ: u64 = 100_000;
/// Containers of a matrix.
const SIDES: usize = 64;
/// Columns of curves.
const COLUMNS: u32 = 96;

impl Ask {
    /// The container within which something is counted: the root without one.
    pub(super) fn within(&self) -> Result<ContainerId, QueryError> {
        match wire::parse_entity(&self.id) {
            Some(EntityId::Container(container)) => Ok(container),
            None if self.id.is_empty() => Ok(ContainerId::ROOT),
            _ => Err(QueryError::Unknown { what: "container" }),
        }
    }
}

/// A class of durations.
#[derive(Clone, Copy, Default)]
struct Class {
    count: u64,
    nanos: i64,
    longest: Option<(i64, EntityId)>,
}

/// Durations of states or links of a type in classes, each twice as long as the one before.
pub(in crate::server) async fn histogram(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let (interval, ty) = (ask.interval(app)?, TypeId(ask.ty));
        let source = app.source.as_ref();
        let mut classes = [Class::default(); 64];
        let mut total = 0;
        let mut add = |value: ValueId, nanos: i64, id: EntityId| {
            if ask.value.is_some_and(|wanted| wanted != value.0) {
                return;
            }
            // 0 has a class of its own; n has that of its highest bit.
            let class = &mut classes[(64 - nanos.max(0).leading_zeros() as usize).min(63)];
            class.count += 1;
            class.nanos = class.nanos.saturating_add(nanos);
            if class.longest.is_none_or(|longest| nanos > longest.0) {
                class.longest = Some((nanos, id));
            }
        };
        let model = source.model();
        match model.types.get(ty.index()).map(|ty| ty.kind) {
            Some(TypeKind::State) => {
                for lane in lanes(app, ask.within()?, ty) {
                    total += source.states(lane, interval, 0)?.total;
                    if total > LOOKED_AT {
                        return Ok(json!({ "classes": Value::Null, "total": total }));
                    }
                    walk::states(source, lane, interval, |state| {
                        add(state.value, state.life.to.0.saturating_sub(state.life.from.0), state.id);
                        Ok(())
                    })?;
                }
            }
            Some(TypeKind::Link { .. }) => {
                total = source.links(ty, interval, 0)?.total;
                if total > LOOKED_AT {
                    return Ok(json!({ "classes": Value::Null, "total": total }));
                }
                walk::links(source, ty, interval, |link| {
                    add(link.value, link.end_time.0.saturating_sub(link.start_time.0), link.id);
                    Ok(())
                })?;
            }
            _ => return Err(QueryError::Unknown { what: "type of states or links" }.into()),
        }
        let filled = |class: &Class| class.count > 0;
        let first = classes.iter().position(filled).unwrap_or(0);
        let last = classes.iter().rposition(filled).map_or(first, |last| last + 1);
        let shown = classes[first..last].iter().enumerate().map(|(at, class)| {
            let class_of = first + at;
            json!({
                "from": if class_of == 0 { 0 } else { 1_u64 << (class_of - 1) },
                "to": 1_u64 << class_of,
                "count": class.count,
                "nanos": class.nanos,
                "longest": class.longest.map(|(nanos, id)| json!({ "nanos": nanos, "id": entity(id) })),
            })
        });
        Ok(json!({ "classes": shown.collect::<Vec<_>>(), "total": classes.iter().map(|class| class.count).sum::<u64>() }))
    })
    .await
}

fn lanes(app: &Shown, within: ContainerId, ty: TypeId) -> Vec<Lane> {
    let members = app.outline.states_within(within, ty).into_iter();
    members.flat_map(|(container, depths)| (0..depths).map(move |depth| Lane { container, ty, depth })).collect()
}

/// What goes from one container to another.
#[derive(Clone, Default)]
struct Exchange {
    count: u64,
    nanos: i64,
    size: Option<f64>,
    longest: Option<(i64, EntityId)>,
}

/// Matrices of communication: for each link type, how much goes from where to where.
pub(in crate::server) async fn matrix(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let (source, interval) = (app.source.as_ref(), ask.interval(app)?);
        let model = source.model();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| matches!(ty.kind, TypeKind::Link { .. })) {
            let total = source.links(ty.id, interval, 0)?.total;
            if total == 0 {
                continue;
            }
            let mut shown = json!({ "type": ty.id.0, "name": ty.name, "total": total });
            if total <= LOOKED_AT {
                let field = if total <= READ { stats::size_field(source, ty.id, interval)? } else { None };
                shown["cells"] = exchanges(app, ty.id, interval, field.as_deref())?;
                shown["field"] = json!(field);
            }
            types.push(shown);
        }
        Ok(json!({ "types": types }))
    })
    .await
}

fn exchanges(app: &Shown, ty: TypeId, interval: Interval, field: Option<&str>) -> Result<Value, QueryError> {
    let source = app.source.as_ref();
    let mut all: BTreeMap<(ContainerId, ContainerId), Exchange> = BTreeMap::new();
    walk::links(source, ty, interval, |link| {
        let one = all.entry((link.start, link.end)).or_default();
        let nanos = link.end_time.0.saturating_sub(link.start_time.0);
        one.count += 1;
        one.nanos = one.nanos.saturating_add(nanos);
        if one.longest.is_none_or(|longest| nanos > longest.0) {
            one.longest = Some((nanos, link.id));
        }
        Ok(())
    })?;
    if field.is_some() {
        for ((start, end, _), sent) in stats::exchanges(source, ty, interval, field)? {
            if let (Some(one), Some(size)) = (all.get_mut(&(start, end)), sent.size) {
                one.size = Some(one.size.unwrap_or(0.0) + size);
            }
        }
    }
    let names: Vec<_> = source.containers().iter().map(|info| (info.id, info.name.clone())).collect();
    let mut sides: Vec<ContainerId> = all.keys().flat_map(|ends| [ends.0, ends.1]).collect();
    sides.sort_unstable();
    sides.dedup();
    let many = sides.len();
    // In the order of the rows; those that come first when there are too many.
    let sides: Vec<_> = names.iter().filter(|(id, _)| sides.binary_search(id).is_ok()).take(SIDES).collect();
    let place = |id: ContainerId| sides.iter().position(|side| side.0 == id);
    let cells = all.iter().filter_map(|(ends, one)| {
        Some(json!({
            "from": place(ends.0)?,
            "to": place(ends.1)?,
            "count": one.count,
            "nanos": one.nanos,
            "size": one.size,
            "longest": one.longest.map(|(nanos, id)| json!({ "nanos": nanos, "id": entity(id) })),
        }))
    });
    let cells: Vec<Value> = cells.collect();
    Ok(json!({ "sides": sides.iter().map(|side| &side.1).collect::<Vec<_>>(), "many": many, "cells": cells }))
}

/// Shares of the values of each state type, column by column.
pub(in crate::server) async fn profile(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let (source, interval, theme) = (app.source.as_ref(), ask.interval(app)?, Theme::new(ask.theme));
        let (model, within) = (source.model(), ask.within()?);
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == TypeKind::State) {
            let lanes = lanes(app, within, ty.id);
            if lanes.is_empty() {
                continue;
            }
            let members = app.outline.states_within(within, ty.id);
            let weight: usize = members.iter().map(|member| app.outline.weight(member.0)).sum();
            let mut sums: BTreeMap<ValueId, Vec<i64>> = BTreeMap::new();
            let cells = source.cells(&lanes, interval, COLUMNS)?;
            for (at, cell) in cells.cells.iter().enumerate() {
                for &(value, nanos) in &cell.shares {
                    let column = sums.entry(value).or_insert_with(|| vec![0; COLUMNS as usize]);
                    column[at % COLUMNS as usize] += nanos;
                }
            }
            let whole = |at: usize| {
                let column = interval.column(u32::try_from(at).unwrap_or(0), COLUMNS);
                (column.to.0 - column.from.0) as f64 * weight as f64
            };
            let curves = sums.iter().filter_map(|(value, nanos)| {
                let info = model.values.get(value.index())?;
                let shares: Vec<f64> = nanos.iter().enumerate().map(|(at, &n)| (n as f64 / whole(at) * 1e4).round() / 1e4).collect();
                Some(json!({ "value": value.0, "name": info.name, "color": theme.fill(info.color).to_string(), "shares": shares }))
            });
            types.push(json!({ "type": ty.id.0, "name": ty.name, "curves": curves.collect::<Vec<_>>() }));
        }
        Ok(json!({ "types": types }))
    })
    .await
}

/// Variables: mean, least and largest value of each type, with where and when those are reached.
pub(in crate::server) async fn variables(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let (source, interval) = (app.source.as_ref(), ask.interval(app)?);
        let model = source.model();
        let within: Vec<ContainerId> = app.outline.within(ask.within()?).collect();
        let names = source.containers();
        let mut types = Vec::new();
        for ty in model.types.iter().filter(|ty| ty.kind == TypeKind::Variable) {
            let mut found = Vec::new();
            for &container in &within {
                found.extend(stats::variable(source, container, ty.id, interval)?.map(|stats| (container, stats)));
            }
            let least = found.iter().map(|(id, stats)| (*id, stats.min)).reduce(|a, b| if b.1.value < a.1.value { b } else { a });
            let most = found.iter().map(|(id, stats)| (*id, stats.max)).reduce(|a, b| if b.1.value > a.1.value { b } else { a });
            let (Some(least), Some(most)) = (least, most) else { continue };
            let place = |(id, extreme): (ContainerId, stats::Extreme)| {
                json!({
                    "value": extreme.value,
                    "at": extreme.at.0.saturating_sub(app.origin),
                    "container": id.0,
                    "name": names.iter().find(|info| info.id == id).map_or("", |info| &info.name),
                })
            };
            let mean = found.iter().map(|one| one.1.mean).sum::<f64>() / found.len() as f64;
            types.push(json!({ "type": ty.id.0, "name": ty.name, "containers": found.len(), "mean": mean, "min": place(least), "max": place(most) }));
        }
        Ok(json!({ "types": types }))
    })
    .await
}
