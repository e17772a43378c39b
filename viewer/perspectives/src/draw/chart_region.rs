//! [`ChartRegion`]: an area of an image with marks, by which the page finds the mark at a point.
//!
//! ```
//! use tumit_perspectives::chart::{AxisUnit, ChartPanel, ChartTable, TitledPanel, ViewChart};
//! use tumit_perspectives::draw::chart_region::RegionSubject;
//! use tumit_perspectives::draw::{DrawOptions, draw_with_regions};
//!
//! let mut table = ChartTable::new(&[("unit", AxisUnit::Count)]);
//! table.rows.push(vec!["thread 1".into()]);
//! let panel = TitledPanel { title: String::new(), panel: ChartPanel::Table(table) };
//! let chart = ViewChart { panels: vec![panel], ..ViewChart::default() };
//! let image = draw_with_regions(&chart, DrawOptions::default());
//! assert_eq!(image.regions[0].subject, RegionSubject::Names(vec!["thread 1".to_owned()]));
//! ```

use tumit_viewer::query::EntityId;
use tumit_viewer::scene::OutlineRect;

use crate::chart::CountBars;
use crate::unit_lists::UnitLists;

/// An area of an image with marks of one kind. Its marks are numbered from 0. The areas of marks
/// depend on their number rather than their values, so most regions are the same at all times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChartRegion {
    /// The index of the panel.
    pub panel: usize,
    /// The places of the marks.
    pub shape: RegionShape,
    /// The meaning of the marks.
    pub subject: RegionSubject,
}

impl ChartRegion {
    /// A region of a panel.
    #[must_use]
    pub const fn new(panel: usize, shape: RegionShape, subject: RegionSubject) -> Self {
        Self { panel, shape, subject }
    }
}

/// The places of marks.
#[derive(Clone, Debug, PartialEq)]
pub enum RegionShape {
    /// Rectangles of equal size, row by row.
    Grid {
        /// The area of all of them.
        frame: OutlineRect,
        /// The number of columns.
        columns: usize,
        /// The number of marks. The last row may be shorter.
        marks: usize,
    },
    /// Columns of a chart over time.
    Times {
        /// The area of all columns.
        frame: OutlineRect,
        /// The number of columns.
        columns: usize,
        /// Start of the first column in nanoseconds.
        from: i64,
        /// End of the last column in nanoseconds.
        to: i64,
    },
    /// Spokes at equal angles, clockwise from the top.
    Spokes {
        /// The hub.
        center: (f32, f32),
        /// The length of a spoke.
        radius: f32,
        /// The number of spokes.
        marks: usize,
    },
    /// Discs.
    Points {
        /// The radius of each disc.
        radius: f32,
        /// Their centers.
        centers: Vec<(f32, f32)>,
        /// The area of the positions from (0, 0) to (1, 1), if users can move the discs.
        square: Option<OutlineRect>,
    },
    /// Lines between the points of the region before.
    Edges {
        /// The first and the last point of each line.
        ends: Vec<(u32, u32)>,
        /// How far each line bends to its left, as a fraction of its length.
        bends: Vec<f32>,
    },
}

/// The meaning of the marks of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum RegionSubject {
    /// Numbers without a unit.
    Values,
    /// The units of each mark.
    Units(UnitLists),
    /// Pairs of units: the units of each row and of each column.
    Pairs(UnitLists),
    /// Numbers of units in a category.
    Counts(CountBars),
    /// Links.
    Messages(Vec<Option<EntityId>>),
    /// Rows of a table that begin with these texts.
    Names(Vec<String>),
}

impl RegionSubject {
    /// The units of marks, if marks stand for units.
    pub(super) fn of_units(lists: &UnitLists) -> Self {
        if lists.is_empty() { Self::Values } else { Self::Units(lists.clone()) }
    }
}
