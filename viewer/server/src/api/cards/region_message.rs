//! [`region_json`]: the places of the marks of a drawing, for the page.
//! `ui/dock/cards/card_regions.js` reads it.
//!
//! Lengths are in tenths of a unit. Long lists are the first number, followed by differences. Units
//! are the numbers of their containers, which are the same in all cards and in the diagram.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tumit_perspectives::draw::chart_region::{ChartRegion, RegionShape, RegionSubject};
use tumit_perspectives::unit_lists::UnitLists;
use tumit_viewer::scene::OutlineRect;
use tumit_viewer::scene::wire::entity;

/// Maximum number of units of a region that are all sent, so that an answer stays small. Of more,
/// the first of each mark is sent.
const MAX_UNITS: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct UnitContainers {
    pub(super) containers: Vec<u32>,
    /// The units by name, if a table has rows for units.
    pub(super) by_name: FxHashMap<String, u32>,
}

/// A region as JSON. Times are nanoseconds after `origin`.
pub(super) fn region_json(region: &ChartRegion, units: &UnitContainers, origin: i64) -> Value {
    let mut json = shape_json(&region.shape, origin);
    match &region.subject {
        RegionSubject::Values => {}
        RegionSubject::Units(lists) => add_units(&mut json, "units", lists, units),
        RegionSubject::Pairs(lists) => add_units(&mut json, "pairs", lists, units),
        RegionSubject::Counts(counts) => {
            json["counts"] = json!([counts.category.word(), counts.numbers_per_bar]);
        }
        RegionSubject::Messages(links) => {
            json["links"] = links.iter().map(|link| link.map_or(Value::Null, |id| json!(entity(id)))).collect();
        }
        RegionSubject::Names(names) => {
            let lists: UnitLists = names.iter().map(|name| units.by_name.get(name).copied()).collect();
            if lists.iter().any(|list| !list.is_empty()) {
                add_units(&mut json, "units", &lists, units);
            }
        }
    }
    json
}

fn shape_json(shape: &RegionShape, origin: i64) -> Value {
    match shape {
        RegionShape::Grid { frame, columns, marks } => {
            json!({ "kind": "grid", "frame": frame_json(frame), "columns": columns, "marks": marks })
        }
        RegionShape::Times { frame, columns, from, to } => json!({
            "kind": "times",
            "frame": frame_json(frame),
            "columns": columns,
            "marks": columns,
            "from": from.saturating_sub(origin),
            "to": to.saturating_sub(origin),
        }),
        RegionShape::Spokes { center, radius, marks } => json!({
            "kind": "spokes",
            "center": [tenths(center.0), tenths(center.1)],
            "radius": tenths(*radius),
            "marks": marks,
        }),
        RegionShape::Points { radius, centers, square } => json!({
            "kind": "points",
            "radius": tenths(*radius),
            "x": differences(centers.iter().map(|center| tenths(center.0))),
            "y": differences(centers.iter().map(|center| tenths(center.1))),
            "marks": centers.len(),
            "square": square.as_ref().map(frame_json),
        }),
        RegionShape::Edges { ends, bends } => json!({
            "kind": "edges",
            "first": differences(ends.iter().map(|end| i64::from(end.0))),
            "last": differences(ends.iter().map(|end| i64::from(end.1))),
            // In hundredths.
            "bends": differences(bends.iter().map(|bend| tenths(bend * 10.0))),
            "marks": ends.len(),
        }),
    }
}

/// Adds the containers of the units of each mark. `sizes` are their numbers, unless all are 1.
pub(super) fn add_units(json: &mut Value, name: &str, lists: &UnitLists, units: &UnitContainers) {
    let total: usize = lists.iter().map(<[u32]>::len).sum();
    let most = if total > MAX_UNITS { 1 } else { usize::MAX };
    let known = |unit: &u32| units.containers.get(*unit as usize).map(|container| i64::from(*container));
    let containers: Vec<Vec<i64>> =
        lists.iter().map(|list| list.iter().take(most).filter_map(known).collect()).collect();
    json[name] = differences(containers.iter().flatten().copied());
    if containers.iter().any(|list| list.len() != 1) {
        json["sizes"] = containers.iter().map(Vec::len).collect();
    }
}

pub(super) fn frame_json(frame: &OutlineRect) -> Value {
    json!([frame.x, frame.y, frame.width, frame.height].map(tenths))
}

/// The first number, followed by the differences.
pub(super) fn differences(numbers: impl Iterator<Item = i64>) -> Value {
    let mut before = 0;
    numbers.map(|number| json!(number - std::mem::replace(&mut before, number))).collect()
}

/// Converts to tenths of a unit.
#[expect(clippy::cast_possible_truncation, reason = "a length within an image; larger ones saturate")]
pub(super) fn tenths(value: f32) -> i64 {
    (f64::from(value) * 10.0).round() as i64
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tumit_perspectives::draw::chart_region::{ChartRegion, RegionShape, RegionSubject};

    use super::{UnitContainers, region_json};

    #[test]
    fn marks_name_the_containers_of_their_units() {
        let units = UnitContainers { containers: vec![7, 9, 10], by_name: [("b".to_owned(), 1)].into_iter().collect() };
        let shape = RegionShape::Spokes { center: (10.0, 20.06), radius: 5.0, marks: 2 };
        let region = |subject| ChartRegion::new(0, shape.clone(), subject);
        let bundles = RegionSubject::Units([vec![0, 2], vec![1]].into_iter().collect());
        let expected = json!({ "kind": "spokes", "center": [100, 201], "radius": 50, "marks": 2, "units": [7, 3, -1], "sizes": [2, 1] });
        assert_eq!(region_json(&region(bundles), &units, 0), expected);
        let names = RegionSubject::Names(vec!["all".to_owned(), "b".to_owned()]);
        let json = region_json(&region(names), &units, 0);
        assert_eq!((&json["units"], &json["sizes"]), (&json!([9]), &json!([0, 1])));
        let unknown = region_json(&region(RegionSubject::Names(vec!["c".to_owned()])), &units, 0);
        assert!(unknown.get("units").is_none());
    }
}
