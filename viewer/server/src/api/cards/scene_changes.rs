//! The changes of a drawing, for a page that has an earlier one. `ui/dock/scene_changes.js`
//! restores the drawing.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// The form of a curve that is relative to the curve before (`scene/wire.rs`).
const RELATIVE_CURVE: i64 = 4;
/// The parts of a scene that a page may have.
const PARTS: [&str; 2] = ["paints", "runs"];

/// The head of a scene (`scene/wire.rs`) without the parts that equal those of an earlier one.
/// An equal list of paints or runs, and an equal column of a table, is null. In the last column, a
/// text or curve of the earlier scene is its index there, less that of the one before. The start of
/// another curve is relative to that of the last such curve.
pub(super) fn scene_changes(mut scene: Value, earlier_scene: &Value) -> Value {
    for part in PARTS {
        if scene[part] == earlier_scene[part] {
            scene[part] = Value::Null;
        }
    }
    if let Some(tables) = scene["tables"].as_object_mut() {
        for (kind, table) in tables {
            if let Some(old_table) = earlier_scene["tables"].get(kind.as_str()) {
                remove_known_columns(table, old_table);
            }
        }
    }
    scene
}

fn remove_known_columns(table: &mut Value, old_table: &Value) {
    for group in 0..2 {
        let columns = table.get_mut(group).and_then(Value::as_array_mut).into_iter().flatten();
        for (index, column) in columns.enumerate() {
            if old_table[group].get(index) == Some(column) {
                *column = Value::Null;
            }
        }
    }
    if table[2] == old_table[2] {
        table[2] = Value::Null;
        return;
    }
    let known_columns = old_table[2].as_array().into_iter().flatten().zip(0_i64..);
    let places: FxHashMap<String, i64> = known_columns.map(|(item, place)| (item.to_string(), place)).collect();
    let (mut last, mut start) = (0, [0; 2]);
    for item in table[2].as_array_mut().into_iter().flatten() {
        if let Some(&place) = places.get(&item.to_string()) {
            *item = json!(place - std::mem::replace(&mut last, place));
        } else if item[2] != RELATIVE_CURVE {
            // The edges of a node begin near each other.
            for (axis, start) in start.iter_mut().enumerate() {
                let number = item.get_mut(axis).and_then(|numbers| numbers.get_mut(0));
                if let Some((number, first)) = number.and_then(|number| Some((number.as_i64()?, number))) {
                    *first = json!(number - std::mem::replace(start, number));
                }
            }
        }
    }
}

/// The regions of a drawing without the values that equal those of the earlier ones. A value that
/// the earlier region has alone is null.
pub(super) fn region_changes(mut regions: Value, earlier: &Value) -> Value {
    let earlier = earlier.as_array().into_iter().flatten();
    for (region, before) in regions.as_array_mut().into_iter().flatten().zip(earlier) {
        let (Some(region), Some(before)) = (region.as_object_mut(), before.as_object()) else { continue };
        let absent: Map<String, Value> =
            before.keys().filter(|key| !region.contains_key(*key)).map(|key| (key.clone(), Value::Null)).collect();
        region.retain(|key, value| before.get(key) != Some(value));
        region.extend(absent);
    }
    regions
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{region_changes, scene_changes};

    #[test]
    fn known_parts_are_left_out() {
        let earlier = json!({
            "paints": [1], "runs": [["t", 2]], "width": 3,
            "tables": { "t": [[], [[1, 2], [5, 6]], ["a", "b"]], "p": [[], [[1]], [[[0], [1]]]] },
        });
        let scene = json!({
            "paints": [1], "runs": [["t", 3]], "width": 3,
            "tables": { "t": [[], [[1, 2], [5, 7]], ["b", "c", "a"]], "p": [[], [[1]], [[[0], [1]]]], "m": [[], [], []] },
        });
        let expected = json!({
            "paints": null, "runs": [["t", 3]], "width": 3,
            "tables": { "t": [[], [null, [5, 7]], [1, "c", -1]], "p": [[], [null], null], "m": [[], [], []] },
        });
        assert_eq!(scene_changes(scene, &earlier), expected);
        let regions = json!([{ "kind": "grid", "marks": 3 }, { "kind": "edges" }]);
        let earlier = json!([{ "kind": "grid", "marks": 2, "units": [1] }]);
        assert_eq!(region_changes(regions, &earlier), json!([{ "marks": 3, "units": null }, { "kind": "edges" }]));
    }
}
