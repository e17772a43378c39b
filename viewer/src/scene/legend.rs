//! The meaning of the colours in a time range, and the exact amount of each, by the same queries as
//! the image.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::variables;
use crate::layout::ContainerOutline;
use crate::query::{
    ContainerId, ContainerInfo, GlobalNanos, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeId, TypeInfo,
    TypeModel, ValueId, ValueInfo, weight,
};
use crate::stats;
use crate::style::size_factors;
use crate::style::theme::ColorTheme;
use tumit_paje::{DrawStyle, MarkShape, RgbColor};

/// Links and events of a type with more values than this are counted together.
const MAX_VALUES: usize = 12;

/// A type, or several link types of one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LegendGroup {
    /// Name of the type.
    pub name: String,
    /// `state`, `link`, `event`, `variable`.
    pub kind: &'static str,
    /// The types of the group.
    pub types: Vec<u32>,
    /// For states: number of containers that have them.
    pub containers: Option<u64>,
    /// Its values, in order of declaration. One entry represents the whole type for variables, and
    /// for links and events with one value or more than twelve.
    pub entries: Vec<LegendEntry>,
}

/// An entry: a colour and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LegendEntry {
    /// The value. `None` if the entry represents its type.
    pub value: Option<u32>,
    /// The displayed name of the value or type.
    pub name: String,
    /// `#rrggbb`, as drawn.
    pub color: Option<String>,
    /// For events: the shape of their marks.
    pub shape: Option<&'static str>,
    /// The size. The usual size is 1.
    pub size: f32,
    /// For states: share of the existence time of the containers, as in statistics. Nested states
    /// of the same value count once.
    pub share: Option<f64>,
    /// For states: nanoseconds in states of this value, summed over the containers.
    #[serde(serialize_with = "crate::stats::as_number")]
    pub nanos: Option<i128>,
    /// For states: share of the time for which a state of the value is the innermost one.
    pub self_share: Option<f64>,
    /// For links and events: their number.
    pub count: Option<u64>,
}

impl LegendEntry {
    /// Creates an entry with the shape and size of a style, and no other properties.
    fn of(kind: PajeTypeKind, style: DrawStyle) -> Self {
        let shape = (kind == PajeTypeKind::Event).then(|| style.shape.unwrap_or_default().name());
        let size = if kind == PajeTypeKind::State { size_factors::height(style) } else { size_factors::size(style) };
        Self {
            value: None,
            name: String::new(),
            color: None,
            shape,
            size,
            share: None,
            nanos: None,
            self_share: None,
            count: None,
        }
    }

    pub(crate) fn mark(&self) -> MarkShape {
        self.shape.and_then(|name| name.parse().ok()).unwrap_or_default()
    }

    fn is_drawn_as(&self, other: &Self) -> bool {
        (&self.name, &self.color, self.shape) == (&other.name, &other.color, other.shape)
            && self.size.to_bits() == other.size.to_bits()
    }
}

/// Lookup tables by type, for the entries of the legend.
struct LegendLookup<'m> {
    values: FxHashMap<TypeId, Vec<&'m ValueInfo>>,
    list: Arc<Vec<ContainerInfo>>,
    /// Position of each container in the list.
    containers: FxHashMap<ContainerId, usize>,
}

impl<'m> LegendLookup<'m> {
    fn new(source: &dyn TimelineSource, model: &'m TypeModel) -> Self {
        let mut values: FxHashMap<TypeId, Vec<&ValueInfo>> = FxHashMap::default();
        model.values.iter().for_each(|value| values.entry(value.ty).or_default().push(value));
        let list = source.containers();
        let containers = list.iter().enumerate().map(|(list_index, info)| (info.id, list_index)).collect();
        Self { values, list, containers }
    }

    fn values(&self, ty: TypeId) -> &[&'m ValueInfo] {
        self.values.get(&ty).map_or(&[], Vec::as_slice)
    }
}

/// Creates the legend of a time range.
///
/// # Errors
/// If the source cannot answer.
pub fn legend(
    source: &dyn TimelineSource,
    outline: &ContainerOutline,
    time_range: TimeRange,
    theme: ColorTheme,
) -> Result<Vec<LegendGroup>, QueryError> {
    let model = source.model();
    let time_range =
        TimeRange { to: GlobalNanos(time_range.to.0.max(time_range.from.0.saturating_add(1))), ..time_range };
    let extent = source.extent();
    let all_times = TimeRange { to: GlobalNanos(extent.to.0.saturating_add(1)), ..extent };
    let lookup = LegendLookup::new(source, &model);
    let mut groups: Vec<LegendGroup> = Vec::new();
    // The index of the group of each link type name.
    let mut links: FxHashMap<&str, usize> = FxHashMap::default();
    for ty in &model.types {
        match ty.kind {
            PajeTypeKind::State => groups.extend(states(source, outline, &lookup, ty, time_range)?),
            PajeTypeKind::Link { .. } if source.links(ty.id, all_times, 0)?.total > 0 => {
                let counts = link_values(source, ty.id, time_range)?;
                let paint = |color: RgbColor| theme.stroke(color);
                let group = counted_group(lookup.values(ty.id), ty, "link", (theme.link, &paint), &counts);
                match links.get(ty.name.as_str()) {
                    Some(&group_index) => join(&mut groups[group_index], group),
                    None => {
                        links.insert(&ty.name, groups.len());
                        groups.push(group);
                    }
                }
            }
            PajeTypeKind::Variable if outline.has_variable(ty.id) => {
                let color = Some(variables::color(ty.color, theme).to_string());
                let name = ty.name.clone();
                let entry = LegendEntry { name: name.clone(), color, ..LegendEntry::of(ty.kind, ty.style) };
                let types = vec![ty.id.0];
                groups.push(LegendGroup { name, kind: "variable", types, containers: None, entries: vec![entry] });
            }
            PajeTypeKind::Event if outline.with_events(ty.id).next().is_some() => {
                let mut counts = FxHashMap::default();
                for container in outline.with_events(ty.id) {
                    let columns = source.event_counts(container, ty.id, time_range, 1, usize::MAX)?;
                    columns.into_iter().flat_map(|columns| columns.values).for_each(|part| {
                        *counts.entry(part.value).or_default() += part.count;
                    });
                }
                let paint = |color: RgbColor| theme.with_contrast(theme.fill(color));
                groups.push(counted_group(lookup.values(ty.id), ty, "event", (theme.faint_color, &paint), &counts));
            }
            PajeTypeKind::Link { .. } | PajeTypeKind::Event | PajeTypeKind::Variable | PajeTypeKind::Container => {}
        }
    }
    for entry in groups.iter_mut().filter(|group| group.kind == "state").flat_map(|group| &mut group.entries) {
        let value = entry.value.and_then(|value| model.values.get(value as usize));
        entry.color = value.map(|value| theme.fill(value.color).to_string());
    }
    Ok(groups)
}

/// Creates the group of a type of counted entities. It has one entry per value if several values
/// occur.
/// `default_color` is the colour of entities without one. `paint` converts the other colours for
/// the theme.
fn counted_group(
    values: &[&ValueInfo],
    ty: &TypeInfo,
    kind: &'static str,
    (default_color, paint): (RgbColor, &dyn Fn(RgbColor) -> RgbColor),
    counts: &FxHashMap<ValueId, u64>,
) -> LegendGroup {
    let entry = |value: Option<u32>, name: &str, (color, style): (Option<RgbColor>, DrawStyle), count: u64| {
        let color = Some(color.map_or(default_color, paint).to_string());
        let of_look = LegendEntry::of(ty.kind, style);
        LegendEntry { value, name: name.to_owned(), color, count: Some(count), ..of_look }
    };
    let values_with_entities: Vec<_> = values.iter().filter(|value| counts.contains_key(&value.id)).collect();
    // If each entity has a value of its own, for example a text, a list of values is useless.
    let entries = if values_with_entities.len() < 2 || values_with_entities.len() > MAX_VALUES {
        let first = values_with_entities.first().copied();
        let color = first.map(|value| value.color).or(ty.color).or(values.first().map(|value| value.color));
        vec![entry(None, &ty.name, (color, first.map_or(ty.style, |value| value.style)), counts.values().sum())]
    } else {
        let of = |value: &&&ValueInfo| {
            entry(Some(value.id.0), &value.name, (Some(value.color), value.style), counts[&value.id])
        };
        values_with_entities.iter().map(of).collect()
    };
    LegendGroup { name: ty.name.clone(), kind, types: vec![ty.id.0], containers: None, entries }
}

/// Adds a type of the same name. Entries of the same name and style are combined.
fn join(group: &mut LegendGroup, other: LegendGroup) {
    group.types.extend(other.types);
    for entry in other.entries {
        match group.entries.iter_mut().find(|drawn| drawn.is_drawn_as(&entry)) {
            Some(same) => same.count = same.count.zip(entry.count).map(|(a, b)| a + b),
            None if entry.count == Some(0) => {}
            None => group.entries.push(entry),
        }
    }
}

fn states(
    source: &dyn TimelineSource,
    outline: &ContainerOutline,
    lookup: &LegendLookup<'_>,
    ty: &TypeInfo,
    time_range: TimeRange,
) -> Result<Option<LegendGroup>, QueryError> {
    let (ty, name) = (ty.id, ty.name.clone());
    let members = outline.states_in_subtree(ContainerId::ROOT, ty);
    if members.is_empty() {
        return Ok(None);
    }
    let infos = members
        .iter()
        .filter_map(|member| lookup.containers.get(&member.container))
        .map(|&list_index| &lookup.list[list_index]);
    let existence: i128 = infos.map(|info| stats::existence_nanos(source, info, ty, time_range)).sum();
    let count: usize = members.iter().map(|member| weight(source, member.container, ty)).sum();
    let ids: Vec<ContainerId> = members.iter().map(|member| member.container).collect();
    let times = stats::nested_times(source, &ids, ty, time_range)?.into_iter();
    let nanos: FxHashMap<ValueId, (i128, i128)> =
        times.map(|time| (time.value, (time.total, time.self_time))).collect();
    let nanos = |value: &ValueInfo| nanos.get(&value.id).copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let total = existence.max(1) as f64;
    let is_visible = |value: &&&ValueInfo| source.shows(value.id);
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let entries = lookup.values(ty).iter().filter(is_visible).map(|value| LegendEntry {
        value: Some(value.id.0),
        name: value.name.clone(),
        color: Some(value.color.to_string()),
        share: Some(nanos(value).0 as f64 / total),
        nanos: Some(nanos(value).0),
        self_share: Some(nanos(value).1 as f64 / total),
        ..LegendEntry::of(PajeTypeKind::State, value.style)
    });
    Ok(Some(LegendGroup {
        name,
        kind: "state",
        types: vec![ty.0],
        containers: Some(count as u64),
        entries: entries.collect(),
    }))
}

/// Number of links of each value that overlap a time range.
fn link_values(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
) -> Result<FxHashMap<ValueId, u64>, QueryError> {
    let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
    source.link_counts(ty, time_range, 63, &mut |count| {
        *numbers.entry(count.value).or_default() += count.count;
        Ok(())
    })?;
    Ok(numbers)
}
