//! A value before the viewer assigns its colour.

use super::{Color, Look, TypeId};

/// A value as the trace defines it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawValue {
    pub(crate) ty: TypeId,
    pub(crate) name: String,
    pub(crate) color: Option<Color>,
    pub(crate) look: Look,
}
