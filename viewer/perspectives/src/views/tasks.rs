//! The views of the group tasks.

use crate::view::PerspectiveView;

mod task_bundles;
mod task_count;
mod task_status;
mod task_summary;
mod task_surface;

use task_count::TaskCount;
use task_status::TaskStatus;
use task_summary::TaskSummary;
use task_surface::TaskSurface;

/// The views of the group, in the order of their numbers.
pub(crate) const VIEWS: &[&dyn PerspectiveView] = &[&TaskCount, &TaskStatus, &TaskSummary, &TaskSurface];
