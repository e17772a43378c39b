//! The paths of calls, and the names of state types.

use tumit_viewer::query::{TimelineSource, TypeId};

use crate::profile::Profile;

/// The name of a state type.
pub(super) fn type_name(source: &dyn TimelineSource, ty: TypeId) -> String {
    source.model().types.get(ty.index()).map(|info| info.name.clone()).unwrap_or_default()
}

/// The paths of calls with self time, by name, and their self times.
pub(super) fn self_times(profile: &Profile) -> Vec<(Vec<&str>, i128)> {
    let nodes = profile.tree.nodes().iter().enumerate().skip(1).filter(|(_, node)| node.self_time > 0);
    let path = |index: usize| profile.tree.path(index).into_iter().map(|name| profile.names.text(name)).collect();
    let mut paths: Vec<(Vec<&str>, i128)> = nodes.map(|(index, node)| (path(index), node.self_time)).collect();
    paths.sort_unstable();
    paths
}
