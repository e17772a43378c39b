//! [`TimelineSource`]: the only interface between data and drawing (the queries of the Pajé thesis,
//! §3.4.2.3).
//!
//! The store and the index implement it. Each filter of [`crate::filter`] implements it on top of
//! another source. Views cannot distinguish them. All timestamps are integer nanoseconds. Time
//! ranges are half-open.
//!
//! ```
//! use tumit_viewer::query::{PajeTypeKind, StateLaneId, TimelineSource};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let (model, containers) = (store.model(), store.containers());
//! let activity = model.types.iter().find(|ty| ty.kind == PajeTypeKind::State).expect("a type");
//! let thread = containers.iter().find(|info| info.name == "main").expect("a thread");
//! let lane = StateLaneId { container: thread.id, ty: activity.id, depth: 0 };
//! let times = store.times(&[lane], store.extent())?;
//! let name = &model.values[times[0].0.index()].name;
//! assert_eq!((times.len(), name.as_str(), times[0].1), (1, "work", 2_000_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod container_tree;
mod containers_by_type;
pub(crate) mod counts;
mod entities;
pub(crate) mod entity_facts;
pub(crate) mod entity_pages;
pub mod entity_scan;
pub mod entity_walk;
mod error;
mod lane_limits;
mod lane_merge;
mod links;
mod mixture_cells;
pub(crate) mod nested_times;
mod operation_facts;
mod raw_value;
pub mod replay;
mod timeline_source;
mod timestamp_extent;
mod trace_description;
mod value_range;

pub use tumit_paje::time::GlobalNanos;
pub use tumit_paje::time_range::{OpenTimeRange, TimeRange};
pub use tumit_paje::{
    ContainerId, DiagnosticKind, DiagnosticLocation, DiagnosticSeverity, DrawStyle, MarkShape, PajeTypeKind, RgbColor,
    TraceDiagnostic, TypeId, ValueId,
};

pub(crate) use containers_by_type::{ContainersByType, types_in};
pub use counts::{EventCount, EventValueCount, LinkCount, LinkVisitor};
pub use entities::{
    EntityFacts, EntityId, EntityList, EventEntity, FirstFreeNumbers, LinkEntity, OpenLinkEntity, OperationPart,
    SeriesColumn, SourceLine, StateEntity, StateLaneId, VariableSample,
};
pub use error::QueryError;
pub use lane_limits::{lanes_at_once, weight};
pub(crate) use links::{DESTINATION, LinkRow, OpenLinkRow, effective_end};
pub(crate) use mixture_cells::MixtureCellWriter;
pub use mixture_cells::{MixtureCell, MixtureCells, ValueShares};
pub use nested_times::{NestedLaneGroup, NestedTime};
pub use operation_facts::OperationFacts;
pub(crate) use raw_value::RawValue;
pub use timeline_source::TimelineSource;
pub(crate) use timeline_source::times;
pub(crate) use timestamp_extent::{TimestampExtent, nanos_range};
pub use trace_description::{ContainerInfo, TraceSummary, TypeInfo, TypeModel, ValueInfo};
pub use value_range::ValueRange;
