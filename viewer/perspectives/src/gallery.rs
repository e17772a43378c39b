//! The list of all views.

use crate::error::PerspectiveError;
use crate::view::PerspectiveView;
use crate::views::{communication, tasks, utilization, whole};

/// All views, by group.
pub fn views() -> impl Iterator<Item = &'static dyn PerspectiveView> {
    [utilization::VIEWS, communication::VIEWS, tasks::VIEWS, whole::VIEWS].into_iter().flatten().copied()
}

/// The names of the built-in layouts of networks.
pub fn layouts() -> impl Iterator<Item = &'static str> {
    communication::layouts()
}

/// The view of a name.
///
/// # Errors
/// If no view has the name. The error suggests a similar one.
pub fn view(name: &str) -> Result<&'static dyn PerspectiveView, PerspectiveError> {
    views().find(|view| view.info().name == name).ok_or_else(|| {
        let names = views().map(|view| view.info().name);
        let near = names.map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
        let suggestion = near.filter(|(distance, _)| *distance <= 3).map(|(_, known)| known.to_owned());
        PerspectiveError::NoView { name: name.to_owned(), suggestion }
    })
}
