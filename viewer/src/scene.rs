//! Images as lists of primitives, independent of any toolkit. SVG, PNG, the page and the tests draw
//! from them.
//!
//! [`diagram()`] draws the rows of a time range. [`document`] adds a heading, names, a ruler and a
//! legend.
//!
//! ```
//! use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
//! use tumit_viewer::query::TimelineSource;
//! use tumit_viewer::scene::{DocumentOptions, document};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let outline = ContainerOutline::new(&store)?;
//! let time_range = store.extent();
//! let (width, resolution) = (600.0, 1.0);
//! let of = DocumentOptions { time_range, width, height: None, resolution, titles: true };
//! let scene = document(&store, &outline, &LayoutOptions::default(), of)?;
//! assert_eq!(scene.title, "Space-time diagram of example");
//! assert_eq!(scene.time_range, Some(time_range));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrow;
pub(crate) mod bidi_isolate;
mod diagram;
mod diagram_context;
mod document;
mod legend;
pub(crate) mod link_bundles;
mod links;
mod marks;
mod mixtures;
mod operations;
pub(crate) mod pick;
mod placed_link;
mod primitives;
mod state_labels;
mod states;
pub(crate) mod value_palette;
mod variables;
pub mod wire;

pub use diagram::{diagram, overview};
pub use diagram_context::Viewport;
pub(crate) use document::MAX_PIXELS;
pub use document::{DocumentOptions, DocumentRows, document, document_with_rows};
pub use legend::{LegendEntry, LegendGroup, legend};
pub use pick::{ImagePoint, PickedMixture, PickedPart, mixture, variable};
pub use primitives::{
    FilledRect, MixtureColumns, OutlineRect, Scene, SceneArrow, SceneCells, SceneCurve, SceneGroup, SceneItem,
    SceneLine, SceneMark, SceneStroke, SceneText, TextAnchor, VariableBand,
};
pub use variables::number;
