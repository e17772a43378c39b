//! A value before the viewer assigns its colour.

use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, RgbColor, TypeId};

/// A value as the trace defines it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawValue {
    pub(crate) ty: TypeId,
    pub(crate) name: String,
    pub(crate) color: Option<RgbColor>,
    pub(crate) style: DrawStyle,
    pub(crate) category: Option<ActivityCategory>,
    /// Whether a state of the value is a part of a collective operation.
    pub(crate) is_collective: bool,
}
