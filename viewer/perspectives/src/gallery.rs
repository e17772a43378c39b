//! The list of the built-in views. Modes of the diagram and views of users are not in it.
//!
//! ```
//! use tumit_perspectives::gallery;
//!
//! let view = gallery::view("kiviat")?;
//! assert_eq!(view.info().title, "Kiviat diagram");
//! let error = gallery::view("kivat").err().map(|error| error.to_string());
//! assert!(error.is_some_and(|error| error.contains("did you mean `kiviat`?")));
//! # Ok::<(), tumit_perspectives::error::PerspectiveError>(())
//! ```

use tumit::diagnostics::did_you_mean;

use crate::chart::ViewChart;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::options::ViewOptions;
use crate::view::{PerspectiveView, ViewRequest};
use crate::views::{captions, communication, execution_group, tasks, utilization};

/// The built-in views, by group.
pub fn views() -> impl Iterator<Item = &'static dyn PerspectiveView> {
    [utilization::VIEWS, communication::VIEWS, tasks::VIEWS, execution_group::VIEWS].into_iter().flatten().copied()
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
        let suggestion = did_you_mean(name, views().map(|view| view.info().name));
        PerspectiveError::NoView { name: name.to_owned(), suggestion }
    })
}

/// A note about names in the file of an order that no unit has.
pub fn unknown_names_note(execution: &Execution, options: &ViewOptions) -> Option<String> {
    captions::unknown_names_note(execution, options)
}

/// The chart of a view. If only some units are chosen, its subtitle begins with their number.
///
/// # Errors
/// The errors of [`PerspectiveView::chart`], and if an option does not fit the trace.
pub fn chart(
    view: &dyn PerspectiveView,
    execution: &Execution,
    request: &ViewRequest,
) -> Result<ViewChart, PerspectiveError> {
    request.options.check(execution)?;
    let request = &ViewRequest { range: execution.range_of_contents(request.range), ..request.clone() };
    let mut chart = view.chart(execution, request)?;
    chart.notes.extend(captions::unknown_names_note(execution, &request.options));
    chart.subtitle = captions::subtitle(&[captions::choice_caption(execution), chart.subtitle]);
    Ok(chart)
}
