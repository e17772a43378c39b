//! The modes of the diagram in the rows of a trace, for the page: see [`DiagramMode::with_mode`].

mod diagram_layer;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tumit_paje::RgbColor;
use tumit_viewer::query::{ContainerId, TimeRange, TimelineSource, TypeId};
use tumit_viewer::style::theme::{mix, rgb};

use crate::analysis::diagnosis::path_with_times;
use crate::diagram::DiagramMode;
use crate::diagram::derived_trace::{DerivedParts, derived_trace};
use crate::draw::PaletteKind;
use crate::draw::chart_palette::grey;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use diagram_layer::{DiagramLayer, LayerParts};

/// The height of the critical path below the states of a row, relative to them.
const PATH_HEIGHT: f32 = 0.35;
/// The colour of messages off the critical path. A medium grey recedes in light and dark themes.
const OTHER_MESSAGE: u32 = 0x0080_8893;
/// The width of messages off the critical path, relative to other messages.
const OTHER_MESSAGE_WIDTH: f32 = 0.5;

impl DiagramMode {
    /// The container type of the rows that the mode changes, if it differs from that of the units.
    /// A mode that colours states changes the rows that have states.
    pub fn row_level(self, execution: &Execution) -> Option<String> {
        if self == Self::CriticalPath {
            return None;
        }
        let containers = execution.source().containers();
        let with_states = state_containers(execution);
        let types: FxHashSet<TypeId> =
            containers.iter().filter(|info| with_states.contains(&info.id)).map(|info| info.ty).collect();
        let mut levels = types.into_iter().filter(|ty| *ty != execution.units().ty);
        let (level, other) = (levels.next()?, levels.next());
        if other.is_some() {
            return None;
        }
        execution.model().types.get(level.index()).map(|ty| ty.name.clone())
    }

    /// The trace itself with the changes of this mode. Its rows are those of `source`. `units` has
    /// the units of the views, and `rows` the units of [`Self::row_level`]. `palette` has the
    /// colours of the states and links that the mode adds. In greys, the states of the trace are
    /// grey, too.
    ///
    /// # Errors
    /// If the execution lacks the data of the mode, or the source fails.
    pub fn with_mode(
        self,
        source: &Arc<dyn TimelineSource>,
        (units, rows): (&Execution, &Execution),
        range: TimeRange,
        palette: PaletteKind,
    ) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
        let parts = DerivedParts { palette, ..DerivedParts::default() };
        let states = DerivedParts { categories: true, ..parts };
        match self {
            Self::UtilizationGantt => with_states(source, rows, states),
            Self::SpaceTime => {
                units.messages()?;
                let busy = with_states(source, rows, DerivedParts { hides_idle: true, ..states })?;
                let messages = derived_trace(units, DerivedParts { messages: true, ..parts })?;
                let parts = LayerParts { units: unit_containers(units), ..LayerParts::default() };
                Ok(Arc::new(DiagramLayer::new(&busy, messages, parts)))
            }
            Self::TaskGantt => with_states(source, rows, DerivedParts { tasks: true, ..parts }),
            Self::CriticalPath => with_path(source, units, range, palette),
        }
    }
}

/// The weight of the colour of a state off the critical path, mixed with white.
const PALE_WEIGHT: f32 = 0.55;

/// A colour of a state off the critical path.
fn pale_color(color: RgbColor) -> RgbColor {
    mix([(color, PALE_WEIGHT), (rgb(0x00ff_ffff), 1.0 - PALE_WEIGHT)]).unwrap_or(color)
}

fn pale_grey(color: RgbColor) -> RgbColor {
    grey(pale_color(color))
}

/// The containers with the states of the units.
fn state_containers(execution: &Execution) -> FxHashSet<ContainerId> {
    execution.units().list().iter().flat_map(|unit| &unit.groups).map(|group| group.container).collect()
}

fn unit_containers(execution: &Execution) -> Vec<ContainerId> {
    execution.units().list().iter().map(|unit| unit.container).collect()
}

/// A trace with derived states in place of the states of its units.
fn with_states(
    source: &Arc<dyn TimelineSource>,
    rows: &Execution,
    parts: DerivedParts<'_>,
) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
    let derived = derived_trace(rows, parts)?;
    let units = unit_containers(rows);
    let mut without_states = state_containers(rows);
    without_states.extend(&units);
    Ok(Arc::new(DiagramLayer::new(source, derived, LayerParts { units, without_states, ..LayerParts::default() })))
}

/// A trace with pale states, and the critical path below them.
fn with_path(
    source: &Arc<dyn TimelineSource>,
    units: &Execution,
    range: TimeRange,
    palette: PaletteKind,
) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
    let (path, _) = path_with_times(units, range)?;
    // The states of the trace show the activity of a unit at other times.
    let parts = DerivedParts { messages: true, path: Some(&path), only_path: true, palette, ..DerivedParts::default() };
    let derived = derived_trace(units, parts)?;
    let parts = LayerParts {
        units: unit_containers(units),
        state_color: Some(if palette == PaletteKind::Monochrome { &pale_grey } else { &pale_color }),
        state_height: Some(PATH_HEIGHT),
        link_style: Some((rgb(OTHER_MESSAGE), OTHER_MESSAGE_WIDTH)),
        ..LayerParts::default()
    };
    Ok(Arc::new(DiagramLayer::new(source, derived, parts)))
}
