//! What the colours of an interval mean, and how much of each there is: exact, by the same queries as the picture.

use serde::Serialize;

use crate::layout::Outline;
use crate::query::{ContainerId, GlobalNanos, Interval, Lane, Model, QueryError, TimelineSource, TypeId, TypeKind};
use crate::theme::Theme;
use converter::paje::Color;

/// A type, or several link types of one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegendGroup {
    /// Name of the type.
    pub name: String,
    /// `state`, `link`, `event`, `variable`.
    pub kind: &'static str,
    /// The types behind it.
    pub types: Vec<u32>,
    /// For states: how many containers have them.
    pub containers: Option<u64>,
    /// Its values, in order of declaration; for links and variables, the type itself.
    pub entries: Vec<LegendEntry>,
}

/// A colour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegendEntry {
    /// The value; none when the entry stands for its type.
    pub value: Option<u32>,
    /// Its name.
    pub name: String,
    /// `#rrggbb`; none when the theme decides.
    pub color: Option<String>,
    /// For states: share of the time of all containers, from 0 to 1.
    pub share: Option<f64>,
    /// For states: nanoseconds, over all containers.
    pub nanos: Option<i64>,
    /// For links and events: how many.
    pub count: Option<u64>,
}

/// The legend of an interval.
///
/// # Errors
/// When the source cannot answer.
pub fn legend(
    source: &dyn TimelineSource,
    outline: &Outline,
    interval: Interval,
    theme: Theme,
) -> Result<Vec<LegendGroup>, QueryError> {
    let model = source.model();
    let interval = Interval { to: GlobalNanos(interval.to.0.max(interval.from.0.saturating_add(1))), ..interval };
    let mut groups: Vec<LegendGroup> = Vec::new();
    for ty in &model.types {
        match ty.kind {
            TypeKind::State => groups.extend(states(source, outline, &model, ty.id, interval)?),
            TypeKind::Link { .. } => {
                let count = source.links(ty.id, interval, 0)?.total;
                let known = groups.iter_mut().find(|group| group.kind == "link" && group.name == ty.name);
                if let Some(group) = known {
                    group.types.push(ty.id.0);
                    group.entries[0].count = group.entries[0].count.map(|before| before + count);
                    continue;
                }
                let value = model.values.iter().find(|value| value.ty == ty.id).map(|value| value.color);
                groups.push(of_type(ty.id, &ty.name, "link", ty.color.or(value), Some(count)));
            }
            TypeKind::Variable if outline.has_variable(ty.id) => {
                groups.push(of_type(ty.id, &ty.name, "variable", ty.color, None));
            }
            TypeKind::Event => {
                let color = model.values.iter().find(|value| value.ty == ty.id).map(|value| value.color);
                let mut count = 0;
                for container in outline.with_events(ty.id) {
                    count += source.events(container, ty.id, interval, 0)?.total;
                }
                groups.push(of_type(ty.id, &ty.name, "event", ty.color.or(color), Some(count)));
            }
            TypeKind::Variable | TypeKind::Container => {}
        }
    }
    for entry in groups.iter_mut().filter(|group| group.kind == "state").flat_map(|group| &mut group.entries) {
        let value = entry.value.and_then(|value| model.values.get(value as usize));
        entry.color = value.map(|value| theme.fill(value.color).to_string());
    }
    Ok(groups)
}

fn of_type(ty: TypeId, name: &str, kind: &'static str, color: Option<Color>, count: Option<u64>) -> LegendGroup {
    let color = color.map(|color| color.to_string());
    let entry = LegendEntry { value: None, name: name.to_owned(), color, share: None, nanos: None, count };
    LegendGroup { name: name.to_owned(), kind, types: vec![ty.0], containers: None, entries: vec![entry] }
}

fn states(
    source: &dyn TimelineSource,
    outline: &Outline,
    model: &Model,
    ty: TypeId,
    interval: Interval,
) -> Result<Option<LegendGroup>, QueryError> {
    let members = outline.states_within(ContainerId::ROOT, ty);
    if members.is_empty() {
        return Ok(None);
    }
    let lane = |&(container, depths): &(ContainerId, u32)| (0..depths).map(move |depth| Lane { container, ty, depth });
    let lanes: Vec<Lane> = members.iter().flat_map(lane).collect();
    let mut nanos = vec![0_i64; model.values.len()];
    for cell in source.cells(&lanes, interval, 1)?.cells {
        for (value, part) in cell.shares {
            nanos[value.index()] += part;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let whole = (interval.to.0.saturating_sub(interval.from.0)) as f64 * members.len() as f64;
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let entries = model.values.iter().filter(|value| value.ty == ty).map(|value| LegendEntry {
        value: Some(value.id.0),
        name: value.name.clone(),
        color: Some(value.color.to_string()),
        share: Some(nanos[value.id.index()] as f64 / whole),
        nanos: Some(nanos[value.id.index()]),
        count: None,
    });
    Ok(Some(LegendGroup {
        name: model.types[ty.index()].name.clone(),
        kind: "state",
        types: vec![ty.0],
        containers: Some(members.len() as u64),
        entries: entries.collect(),
    }))
}
