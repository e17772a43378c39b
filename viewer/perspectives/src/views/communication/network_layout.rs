//! [`NetworkLayout`]: the positions of the nodes of a network, from a layout or a file.

use std::f64::consts::TAU;
use std::path::Path;

use super::node_layout::{NodeLayout, NodePosition};
use super::saved_positions::SavedPositions;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::option_titles::value_title;
use crate::views::captions;
use crate::views::unit_bundles::UnitBundles;

/// The layout of nodes in their order on a circle.
pub(crate) const CIRCLE: &str = "circle";

/// The positions of all nodes.
pub(crate) struct NetworkLayout {
    /// The title of the layout, or the name of the file.
    pub(crate) name: String,
    pub(crate) positions: Vec<NodePosition>,
    /// Notes about units that a file leaves out, and about unknown names in it.
    pub(crate) notes: Vec<String>,
}

impl NetworkLayout {
    /// The layout of a word, or the positions of a file. A node of several units is in their
    /// middle. A unit that the file leaves out keeps its position of the layout `usual_positions`.
    pub(crate) fn new(
        execution: &Execution,
        bundles: &UnitBundles,
        option: &str,
        usual_positions: Vec<NodePosition>,
    ) -> Result<Self, PerspectiveError> {
        if option == CIRCLE {
            let positions = circle_positions(bundles.count());
            return Ok(Self { name: value_title("layout", option), positions, notes: Vec::new() });
        }
        let unknown = match NodeLayout::parse(Some(option)) {
            Ok(layout) => {
                let positions = layout.positions(bundles.count());
                return Ok(Self { name: value_title("layout", layout.word()), positions, notes: Vec::new() });
            }
            Err(unknown) => unknown,
        };
        let path = Path::new(option);
        let is_word = option.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if is_word && !path.exists() {
            return Err(unknown);
        }
        let saved = SavedPositions::read(option)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut positions = usual_positions;
        let absent = place_units(execution, bundles, &saved, &mut positions);
        let mut notes = match absent {
            0 => Vec::new(),
            1 => vec![format!("{name} has no position of one unit.")],
            _ => vec![format!("{name} has no positions of {absent} units.")],
        };
        notes.extend(captions::unknown_note(execution, "layout", saved.names().into_iter()));
        Ok(Self { name, positions, notes })
    }
}

/// The positions of nodes on a circle, clockwise from the top.
#[expect(clippy::cast_precision_loss, reason = "there are few nodes")]
pub(crate) fn circle_positions(count: usize) -> Vec<NodePosition> {
    let place = |place: usize| {
        let angle = TAU * place as f64 / count.max(1) as f64;
        (0.5 + 0.45 * angle.sin(), 0.5 - 0.45 * angle.cos())
    };
    (0..count).map(place).collect()
}

/// Moves the nodes to the positions of a file. Returns the number of units that it leaves out.
fn place_units(
    execution: &Execution,
    bundles: &UnitBundles,
    saved_positions: &SavedPositions,
    positions: &mut [NodePosition],
) -> usize {
    let mut absent = 0;
    for (bundle, position) in positions.iter_mut().enumerate() {
        let (mut x, mut y, mut count) = (0.0, 0.0, 0.0);
        for unit in bundles.units(bundle) {
            match saved_positions.get(&execution.units().list()[*unit].name) {
                Some(saved_positions) => (x, y, count) = (x + saved_positions.0, y + saved_positions.1, count + 1.0),
                None => absent += 1,
            }
        }
        if count > 0.0 {
            *position = (x / count, y / count);
        }
    }
    absent
}
