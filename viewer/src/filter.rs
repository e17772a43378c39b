//! Filters: sources on top of other sources, and their [`FilterChain`].
//!
//! A [`FilterExpr`] is a value: it can be parsed, printed, compared and stored.
//! [`FilterExpr::apply`] resolves its names in a trace and returns a
//! [`TimelineSource`](crate::query::TimelineSource) on top of that of the trace. Entities are never
//! copied or changed: a filter queries the inner source on demand, and uses sums where they
//! suffice. The header of each filter's module states its cost.
//!
//! Applications implement filters of their own with [`FilterLayer`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_viewer::filter::FilterExpr;
//! use tumit_viewer::query::TimelineSource;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let source: Arc<dyn TimelineSource> = Arc::new(store);
//! let filter: FilterExpr = "hide value work".parse()?;
//! assert_eq!(filter.to_string(), "hide value work");
//! assert_eq!(filter.apply(&source)?.summary().states, 0);
//! // Names that the trace does not have are errors.
//! let typo: FilterExpr = "hide value wrok".parse()?;
//! assert!(typo.apply(&source).is_err_and(|error| error.to_string().contains("work")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod chain;
pub mod language;
mod series_provider;
pub(crate) mod sources;

pub use chain::{ChainEntry, FilterChain, FilterFailure, FilterFieldError, FilterFileError};
pub use language::ast::{
    AssignedEndpoint, DurationStatistic, FilterExpr, Measure, OrderKey, ReduceOperation, Reduction, ReductionForm,
    SelectionEffect,
};
pub use language::comparison::Comparison;
pub use language::completion::{Completion, complete};
pub use language::condition::{Condition, FieldTest};
pub use language::error::FilterError;
pub use language::pattern::{NamePattern, NamePatterns};
pub use language::series::{ExecutionSeries, SeriesExpr, SeriesQuantity};
pub use series_provider::{ProvidedSeries, ProvidedSteps, SeriesProvider, set_series_provider};
pub use sources::layer::FilterLayer;
pub use sources::type_selection::only_containers;
