//! A value of the trace before it has a colour.

use super::{Color, Look, TypeId};

/// A value as the trace defined it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawValue {
    pub(crate) ty: TypeId,
    pub(crate) name: String,
    pub(crate) color: Option<Color>,
    pub(crate) look: Look,
}
