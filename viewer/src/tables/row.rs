//! [`EntityRow`]: the data of a container or entity for all formats. [`RowForm`]: a format.

use tumit_paje::TypeId;

use super::details::{RowDetailTable, RowDetails};
use super::extra_columns::ExtraColumns;
use super::row_frames::RowFrame;
use super::row_kind::RowKind;

/// A container: its name as the format writes it, and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedContainer<'a> {
    pub(crate) name: &'a [u8],
    pub number: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CellValue<'a> {
    /// A name, as the format writes it.
    Name(&'a [u8]),
    Number(f64),
}

/// Additional columns of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkColumns<'a> {
    pub(crate) start: NamedContainer<'a>,
    pub(crate) end: NamedContainer<'a>,
    /// The key in the trace.
    pub(crate) key: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityRow<'a> {
    pub(crate) kind: RowKind,
    /// The container of the entity. For a container, its parent.
    pub(crate) container: NamedContainer<'a>,
    /// Name of the type.
    pub(crate) ty: &'a [u8],
    pub(crate) type_id: TypeId,
    /// As [`EndedState::early_position`](crate::sim::EndedState::early_position).
    pub(crate) early_position: u32,
    /// Timestamps in nanoseconds.
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// For a state: the nesting depth.
    pub(crate) imbrication: Option<u32>,
    /// For a container: its name.
    pub value: CellValue<'a>,
    /// For a container: its number.
    pub number: Option<u32>,
    pub(crate) link: Option<LinkColumns<'a>>,
    pub(crate) detail: Option<&'a RowDetails>,
}

/// Common data that rows refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowContext<'a> {
    pub(crate) columns: &'a ExtraColumns,
    pub(crate) details: &'a RowDetailTable,
    /// Names of containers, as the format writes them.
    pub(crate) containers: &'a [Box<[u8]>],
}

impl RowContext<'_> {
    /// The name of a container.
    pub(crate) fn container(&self, number: u32) -> &[u8] {
        self.containers.get(number as usize).map_or(&[], |name| name)
    }
}

/// A format of rows: CSV, JSON, or the output of `pj_dump`.
pub(crate) trait RowForm {
    /// Whether the fields must be known before the first row.
    const HAS_HEADER: bool = false;
    /// Whether the output must equal that of `pj_dump` digit by digit.
    const IS_PEER: bool = false;

    /// Whether rows contain the user's fields.
    fn has_details(&self) -> bool {
        true
    }

    /// Whether rows of one place without details have the same begin and end.
    const HAS_FRAMES: bool = false;

    /// Writes the text before the first row.
    fn header(&self, columns: &ExtraColumns, out: &mut Vec<u8>) {
        let _ = (columns, out);
    }

    /// Writes a name as in rows.
    fn name(&self, name: &str, out: &mut Vec<u8>);

    /// Writes a row.
    fn row(&self, row: &EntityRow<'_>, context: RowContext<'_>, out: &mut Vec<u8>);

    /// Fills in the begin and end of the rows of this row's place.
    fn frame(&self, row: &EntityRow<'_>, context: RowContext<'_>, frame: &mut RowFrame) {
        let _ = (row, context, frame);
    }

    /// Writes the same row as [`Self::row`], with the frame of its place.
    fn row_in_frame(&self, frame: &RowFrame, row: &EntityRow<'_>, out: &mut Vec<u8>) {
        let _ = (frame, row, out);
    }
}
