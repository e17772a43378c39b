//! Order: sorts siblings by hand, by name, by timestamp or by a statistic; or keeps only the
//! containers that a statistic selects.
//!
//! Cost: the statistic is computed when the filter is made, see
//! [`crate::filter::sources::measure`]. Queries cost nothing more.

use std::cmp::Ordering;
use std::sync::Arc;

use super::hide::{HideSource, with_all_below};
use super::layer::FilterLayer;
use super::measure;
use crate::filter::language::ast::{Measure, OrderKey};
use crate::filter::language::comparison::Comparison;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::container_tree;
use crate::query::{ContainerInfo, EntityId, QueryError, TimelineSource, TypeId};
use crate::store::compare_naturally;

struct OrderSource {
    inner: Arc<dyn TimelineSource>,
    list: Arc<Vec<ContainerInfo>>,
}

impl FilterLayer for OrderSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, _: TypeId) -> bool {
        true
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.inner.number_fields(ids, field)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }
}

/// Sorts siblings of some types among themselves. All other containers keep their positions.
pub(crate) fn sort(
    inner: &Arc<dyn TimelineSource>,
    ty: &NamePattern,
    key: &OrderKey,
    descending: bool,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let types = pattern::container_types(&inner.model(), ty)?;
    let numbers = measure::numbers(inner, key)?;
    let compare = |&a: &usize, &b: &usize| {
        let order = match key.measure {
            Measure::Name => compare_naturally(&list[a].name, &list[b].name),
            // Containers without a number come last, in either direction.
            _ => match (numbers[a], numbers[b]) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (None, None) => Ordering::Equal,
                (a, _) => return if a.is_none() { Ordering::Greater } else { Ordering::Less },
            },
        };
        if descending { order.reverse() } else { order }
    };
    Ok(sort_siblings(inner, &list, |index| types.contains(&list[index].ty), compare))
}

/// Moves containers before their siblings, in the order of the patterns that match them.
pub(crate) fn move_to_front(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let mut rank = vec![usize::MAX; list.len()];
    for (place, pattern) in patterns.iter().enumerate() {
        for index in NamePatterns::new(vec![pattern.clone()]).containers(&list)? {
            rank[index] = rank[index].min(place);
        }
    }
    Ok(sort_siblings(inner, &list, |_| true, |&a, &b| rank[a].cmp(&rank[b])))
}

/// The list with those siblings sorted for which `is_moved` is true. The sort is stable.
fn sort_siblings(
    inner: &Arc<dyn TimelineSource>,
    list: &[ContainerInfo],
    is_moved: impl Fn(usize) -> bool,
    compare: impl Fn(&usize, &usize) -> Ordering,
) -> Arc<dyn TimelineSource> {
    let mut places: Vec<usize> = (0..list.len()).filter(|&index| list[index].depth > 0 && is_moved(index)).collect();
    places.sort_by_key(|&index| list[index].parent);
    let mut new = list.to_vec();
    for siblings in places.chunk_by(|&a, &b| list[a].parent == list[b].parent) {
        let mut order = siblings.to_vec();
        order.sort_by(&compare);
        for (&place, &from) in siblings.iter().zip(&order) {
            new[place] = list[from].clone();
        }
    }
    Arc::new(OrderSource { inner: Arc::clone(inner), list: Arc::new(container_tree::rebuild_tree(new)) })
}

/// Keeps the first `number` containers of a type, sorted by a statistic, and hides the other
/// containers of that type. Containers below the hidden ones are hidden too.
pub(crate) fn keep_best(
    inner: &Arc<dyn TimelineSource>,
    number: u32,
    ty: &NamePattern,
    key: &OrderKey,
    is_lowest: bool,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let types = pattern::container_types(&inner.model(), ty)?;
    let numbers = measure::numbers(inner, key)?;
    let mut all: Vec<usize> = (0..list.len()).filter(|&index| types.contains(&list[index].ty)).collect();
    all.sort_by(|&a, &b| match (&key.measure, numbers[a], numbers[b]) {
        (Measure::Name, ..) => compare_naturally(&list[a].name, &list[b].name),
        (_, Some(a), Some(b)) if is_lowest => a.total_cmp(&b),
        (_, Some(a), Some(b)) => b.total_cmp(&a),
        (_, a, b) => a.is_none().cmp(&b.is_none()),
    });
    let is_dropped = with_all_below(&list, all.get(number as usize..).unwrap_or(&[]));
    Ok(Arc::new(HideSource::new(Arc::clone(inner), |_| true, |index| !is_dropped[index])))
}

/// Keeps the containers of a type with a statistic that meets the comparison, and hides the other
/// containers of that type. Containers below the hidden ones are hidden too.
pub(crate) fn keep_matching(
    inner: &Arc<dyn TimelineSource>,
    ty: &NamePattern,
    key: &OrderKey,
    comparison: Comparison,
    number: f64,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let types = pattern::container_types(&inner.model(), ty)?;
    let numbers = measure::numbers(inner, key)?;
    let fails = |index: &usize| {
        types.contains(&list[*index].ty) && !numbers[*index].is_some_and(|value| comparison.is_true(&value, &number))
    };
    let failing: Vec<usize> = (0..list.len()).filter(fails).collect();
    let is_dropped = with_all_below(&list, &failing);
    Ok(Arc::new(HideSource::new(Arc::clone(inner), |_| true, |index| !is_dropped[index])))
}
