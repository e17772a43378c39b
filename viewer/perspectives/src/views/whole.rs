//! The views of the group whole.

use crate::view::PerspectiveView;

mod clock;
mod phase_portrait;

use clock::ExecutionClock;
use phase_portrait::PhasePortrait;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[&PhasePortrait, &ExecutionClock];
