//! The values of the records of collective operations.
//!
//! Only those of -402, -782, -785 and -790 are known from a writer. The other operations are
//! expected to have the values of the known operations of the same kind.

use tumit_paje::collective::CollectiveKind;

use crate::model::StateFields;
use crate::node_activity::Activity;

/// A value of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveValue {
    Bytes,
    Root,
    Subset,
}

/// The values of the begin of a collective operation, in order. Empty for other activities, and
/// for a scan.
pub(crate) fn collective_values(activity: Activity) -> &'static [CollectiveValue] {
    use CollectiveValue::{Bytes, Root, Subset};
    match activity.collective_kind() {
        Some(CollectiveKind::Barrier) => &[Subset],
        Some(CollectiveKind::OneToAll | CollectiveKind::AllToOne) => &[Bytes, Root, Subset],
        Some(CollectiveKind::AllToAll) => &[Bytes, Subset],
        None => &[],
    }
}

/// The value of the end of a collective operation. `None` if it has none.
pub(crate) fn end_value(activity: Activity, fields: &StateFields) -> Option<i64> {
    match activity.collective_kind()? {
        CollectiveKind::Barrier => None,
        CollectiveKind::OneToAll | CollectiveKind::AllToOne => fields.bytes,
        CollectiveKind::AllToAll => fields.subset,
    }
}
