//! Profiles in the formats of other tools.

mod csv;
mod difference_tables;
mod folded;
mod json;
mod speedscope;

pub use csv::csv;
pub use difference_tables::{difference_csv, difference_folded, difference_json};
pub use folded::folded;
pub use json::json;
pub use speedscope::speedscope;
use tumit_viewer::query::{TimelineSource, TypeId};

use crate::profile::Profile;

/// The name of a state type.
fn type_name(source: &dyn TimelineSource, ty: TypeId) -> String {
    source.model().types.get(ty.index()).map(|info| info.name.clone()).unwrap_or_default()
}

/// The paths of calls with self time, by name, and their self times.
fn self_times(profile: &Profile) -> Vec<(Vec<&str>, i128)> {
    let nodes = profile.tree.nodes().iter().enumerate().skip(1).filter(|(_, node)| node.self_time > 0);
    let path = |index: usize| profile.tree.path(index).into_iter().map(|name| profile.names.text(name)).collect();
    let mut paths: Vec<(Vec<&str>, i128)> = nodes.map(|(index, node)| (path(index), node.self_time)).collect();
    paths.sort_unstable();
    paths
}
