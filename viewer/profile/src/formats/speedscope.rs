//! The file format of speedscope.

use serde_json::{Value, json};
use tumit_viewer::query::TimelineSource;

use super::paths::{self_times, type_name};
use crate::profile::Profile;

/// A file with a sampled profile for each state type. Each path of calls is a sample, and its
/// weight is its self time in nanoseconds.
///
/// The format is that of <https://www.speedscope.app/file-format-schema.json>.
pub fn speedscope(source: &dyn TimelineSource, trace_name: &str, profiles: &[Profile]) -> String {
    let (mut frames, mut frame_numbers) = (Vec::new(), std::collections::HashMap::new());
    let mut documents = Vec::new();
    for profile in profiles {
        let (mut samples, mut weights, mut total) = (Vec::new(), Vec::new(), 0);
        for (path, nanos) in self_times(profile) {
            let mut sample = Vec::with_capacity(path.len());
            for name in path {
                let number = *frame_numbers.entry(name.to_owned()).or_insert_with(|| {
                    frames.push(json!({ "name": name }));
                    frames.len() - 1
                });
                sample.push(number);
            }
            samples.push(sample);
            weights.push(super::json::number(nanos));
            total += nanos;
        }
        documents.push(json!({
            "type": "sampled",
            "name": type_name(source, profile.ty),
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": super::json::number(total),
            "samples": samples,
            "weights": weights,
        }));
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": trace_name,
        "exporter": "tumit",
        "activeProfileIndex": if documents.is_empty() { Value::Null } else { 0.into() },
        "shared": { "frames": frames },
        "profiles": documents,
    });
    file.to_string() + "\n"
}
