//! Reuse of rows: containers that do not live at the same time share a row.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::grouping::{GroupPlan, make_groups};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePatterns};
use crate::query::container_tree;
use crate::query::{GlobalNanos, PajeTypeKind, TimelineSource, TypeId};

/// Reuse of the rows of ended containers: siblings of a type share a row if their lifetimes do not
/// overlap.
///
/// A row is a group of containers that live at different times. So nothing in it overlaps, and all
/// costs are those of groups.
pub(crate) fn reuse(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (model, list) = (inner.model(), inner.containers());
    let types = pattern::types(&model, patterns, "container type", |ty| {
        ty.kind == PajeTypeKind::Container && ty.id != TypeId::ROOT
    })?;
    let mut order: Vec<usize> = (0..list.len()).filter(|&index| types.contains(&list[index].ty)).collect();
    // A container of the type below another one would lie below its own row.
    let nested_containers: FxHashSet<usize> = order
        .iter()
        .flat_map(|&index| (index + 1)..container_tree::end(&list, index))
        .filter(|index| order.binary_search(index).is_ok())
        .collect();
    order.retain(|index| !nested_containers.contains(index));
    order.sort_by_key(|&index| (list[index].parent, list[index].ty, list[index].life.from));
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for siblings in order.chunk_by(|&a, &b| (list[a].parent, list[a].ty) == (list[b].parent, list[b].ty)) {
        let first = rows.len();
        // Rows by the timestamp at which they become free, then by number. The row that became free
        // first is taken.
        let mut free: BTreeSet<(GlobalNanos, usize)> = BTreeSet::new();
        for &index in siblings {
            let life = list[index].life;
            let row = match free.first().copied().filter(|row| row.0 <= life.from) {
                Some(row) => {
                    free.remove(&row);
                    row.1
                }
                None => {
                    rows.push(Vec::new());
                    rows.len() - 1
                }
            };
            rows[row].push(index);
            free.insert((life.to, row));
        }
        debug_assert!(rows[first..].iter().all(|row| !row.is_empty()), "each row has a container");
    }
    rows.retain(|row| row.len() > 1);
    let plan = |members: Vec<usize>| {
        const MAX_NAMES: usize = 2;
        let names: Vec<&str> = members.iter().take(MAX_NAMES).map(|&index| list[index].name.as_str()).collect();
        let more = members.len() - names.len();
        let name = if more > 0 { format!("{} +{more}", names.join(", ")) } else { names.join(", ") };
        GroupPlan { name, members }
    };
    let plans = rows.into_iter().map(plan).collect();
    Ok(make_groups(inner, plans)?)
}
