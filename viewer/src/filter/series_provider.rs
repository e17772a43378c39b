//! [`SeriesProvider`]: the hook by which a package above this one computes the variables of the
//! filter `series`.
//!
//! The units, categories, messages and tasks of an execution belong to a package that uses this
//! one. A program calls [`set_series_provider`] once, before it applies filters.

use std::sync::{Arc, OnceLock};

use super::language::series::SeriesExpr;
use crate::query::{ContainerId, GlobalNanos, RgbColor, TimelineSource, TypeId};

/// The values of a variable in one container.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvidedSteps {
    /// The container.
    pub container: ContainerId,
    /// Ascending timestamps, each with the value from this time on.
    pub steps: Vec<(GlobalNanos, f64)>,
    /// The end of the last value.
    pub end: GlobalNanos,
}

/// The values of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvidedSeries {
    /// The type of the containers.
    pub container_type: TypeId,
    /// The colour of the variable. `None`: a colour that no other variable has.
    pub color: Option<RgbColor>,
    /// The values by container.
    pub steps: Vec<ProvidedSteps>,
}

/// Computes the variables of the filter `series`.
pub trait SeriesProvider: Send + Sync {
    /// The values of each series of the expression, in order.
    ///
    /// # Errors
    /// A message with the reason and the remedy, for example that the trace has no links.
    fn provide(&self, source: &Arc<dyn TimelineSource>, expr: &SeriesExpr) -> Result<Vec<ProvidedSeries>, String>;
}

static PROVIDER: OnceLock<Box<dyn SeriesProvider>> = OnceLock::new();

/// Sets the provider of all filters of the process. The first call decides.
pub fn set_series_provider(provider: impl SeriesProvider + 'static) {
    // A second provider would change the meaning of filters that are already applied.
    let _ = PROVIDER.set(Box::new(provider));
}

pub(super) fn provide(source: &Arc<dyn TimelineSource>, expr: &SeriesExpr) -> Result<Vec<ProvidedSeries>, String> {
    match PROVIDER.get() {
        Some(provider) => provider.provide(source, expr),
        None => Err("this program computes no series; it must call `set_series_provider`".to_owned()),
    }
}
