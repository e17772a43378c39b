//! The views of the group whole.

use crate::view::PerspectiveView;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[];
