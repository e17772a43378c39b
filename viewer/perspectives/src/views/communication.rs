//! The views of the group communication.

use crate::view::PerspectiveView;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[];
