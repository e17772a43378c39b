//! [`ProfileDifference`]: the profiles of two traces side by side.

use rustc_hash::FxHashMap;

use crate::call_tree::{CallNode, CallTree, NameId, NameTimes, ROOT};
use crate::profile::Profile;

/// The times of a name in both traces.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameDifference {
    /// The name.
    pub name: NameId,
    /// Calls and times in the first trace.
    pub before: NameTimes,
    /// Calls and times in the second trace.
    pub after: NameTimes,
}

impl NameDifference {
    /// The change of the self time, in nanoseconds.
    pub fn self_change(&self) -> i128 {
        self.after.self_time - self.before.self_time
    }
}

/// The profiles of one state type in two traces. Values of the same name, and paths of the same
/// names, correspond to each other.
///
/// ```
/// use tumit_profile::difference::ProfileDifference;
/// use tumit_profile::profile::Profile;
/// use tumit_profile::value_names::ValueGroups;
/// use tumit_viewer::query::{TimelineSource, TypeId};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
/// # let definitions = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n";
/// # let store = |end: u32| {
/// #     let trace = format!("{header}{definitions}11 0 t S w\n14 {end} t S\n7 9 T t\n");
/// #     tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())
/// # };
/// let (before, after) = (store(2)?, store(5)?);
/// let profile = |store: &tumit_viewer::store::TraceStore| {
///     Profile::new(store, TypeId(2), store.extent(), &ValueGroups::None, &|_| {})
/// };
/// let difference = ProfileDifference::new(&profile(&before)?, &profile(&after)?);
/// assert_eq!(difference.by_name[0].self_change(), 3_000_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileDifference {
    /// The names that occur, by the largest change of their self time.
    pub by_name: Vec<NameDifference>,
    /// The paths of both traces, with the times of the first one.
    pub tree_before: CallTree,
    /// The same nodes, with the times of the second trace.
    pub tree_after: CallTree,
    names: Vec<String>,
}

/// The names of both profiles.
#[derive(Default)]
struct CommonNames {
    names: Vec<String>,
    ids: FxHashMap<String, NameId>,
}

impl CommonNames {
    fn id(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Adds the nodes of a profile to a tree, without their times. Returns the node of the tree for
    /// each node of the profile.
    fn add_nodes(&mut self, profile: &Profile, tree: &mut CallTree) -> Vec<u32> {
        let mut nodes = vec![ROOT as u32];
        for node in profile.tree.nodes().iter().skip(1) {
            let name = self.id(profile.names.text(node.name));
            nodes.push(tree.callee(nodes[node.caller as usize], name));
        }
        nodes
    }
}

/// Writes the times of a profile to the nodes of a tree.
fn set_times(tree: &mut CallTree, profile: &Profile, nodes: &[u32]) {
    for (node, &own) in profile.tree.nodes().iter().zip(nodes) {
        let CallNode { calls, total, self_time, .. } = *node;
        let sum = tree.node_mut(own);
        (sum.calls, sum.total, sum.self_time) = (calls, total, self_time);
    }
}

impl ProfileDifference {
    /// Compares two profiles. The cost is proportional to the number of nodes of their trees.
    pub fn new(before: &Profile, after: &Profile) -> Self {
        let (mut names, mut tree) = (CommonNames::default(), CallTree::default());
        let nodes_before = names.add_nodes(before, &mut tree);
        let nodes_after = names.add_nodes(after, &mut tree);
        let (mut tree_before, mut tree_after) = (tree.clone(), tree);
        set_times(&mut tree_before, before, &nodes_before);
        set_times(&mut tree_after, after, &nodes_after);
        let mut by_name: FxHashMap<NameId, NameDifference> = FxHashMap::default();
        let mut add = |profile: &Profile, is_after: bool| {
            for row in &profile.by_name {
                let name = names.id(profile.names.text(row.name));
                let none = NameDifference { name, before: NameTimes::default(), after: NameTimes::default() };
                let difference = by_name.entry(name).or_insert(none);
                *(if is_after { &mut difference.after } else { &mut difference.before }) = row.times;
            }
        };
        add(before, false);
        add(after, true);
        let mut by_name: Vec<NameDifference> = by_name.into_values().collect();
        by_name.sort_by(|a, b| {
            let order = b.self_change().abs().cmp(&a.self_change().abs());
            order.then_with(|| names.names[a.name.0 as usize].cmp(&names.names[b.name.0 as usize]))
        });
        Self { by_name, tree_before, tree_after, names: names.names }
    }

    /// The text of a name.
    pub fn text(&self, name: NameId) -> &str {
        self.names.get(name.0 as usize).map_or("", String::as_str)
    }
}
