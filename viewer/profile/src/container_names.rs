//! [`UniqueContainerNames`]: the names of containers for tables.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_viewer::query::{ContainerId, TimelineSource};

/// The names of all containers of a source. A name that several containers share is preceded by the
/// names of the parents, separated by `/`.
#[derive(Clone, Debug)]
pub struct UniqueContainerNames(FxHashMap<ContainerId, String>);

impl UniqueContainerNames {
    /// Reads the containers of a source.
    pub fn new(source: &dyn TimelineSource) -> Self {
        let list = source.containers();
        let (mut unique, mut shared) = (FxHashSet::default(), FxHashSet::default());
        for info in list.iter() {
            if !unique.insert(info.name.as_str()) {
                shared.insert(info.name.as_str());
            }
        }
        let mut paths: FxHashMap<ContainerId, String> = FxHashMap::default();
        let mut names = FxHashMap::default();
        for info in list.iter() {
            // Parents precede their children, and the root is its own parent.
            let path = match paths.get(&info.parent) {
                Some(parent) if info.depth > 1 => format!("{parent}/{}", info.name),
                _ => info.name.clone(),
            };
            let name = if shared.contains(info.name.as_str()) { path.clone() } else { info.name.clone() };
            paths.insert(info.id, path);
            names.insert(info.id, name);
        }
        for member in list.iter().flat_map(|info| source.members(info.id)) {
            names.entry(member.id).or_insert(member.name);
        }
        Self(names)
    }

    /// The name of a container; empty if the source does not have it.
    pub fn name(&self, container: ContainerId) -> String {
        self.0.get(&container).cloned().unwrap_or_default()
    }
}
