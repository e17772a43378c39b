//! [`Row`]: what all formats write of a container or entity; [`Form`]: how one of them does.

use tumit_paje::TypeId;

use super::columns::Columns;
use super::details::{Detail, Details};
use super::frames::Frame;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Container,
    State,
    Variable,
    Event,
    Link,
}

impl Kind {
    /// As `pj_dump` calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Container => "Container",
            Self::State => "State",
            Self::Variable => "Variable",
            Self::Event => "Event",
            Self::Link => "Link",
        }
    }
}

/// A container: its name as the format writes it, and its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) name: &'a [u8],
    pub(super) number: u32,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// A name, as the format writes it.
    Name(&'a [u8]),
    Number(f64),
}

/// The other columns of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub(super) start: Named<'a>,
    pub(super) end: Named<'a>,
    /// As the trace has it.
    pub(super) key: &'a str,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) kind: Kind,
    /// The container that holds it; of a container, its parent.
    pub(super) container: Named<'a>,
    /// Name of the type.
    pub(super) ty: &'a [u8],
    pub(super) type_id: TypeId,
    /// As [`EndedState::early`](crate::sim::EndedState::early).
    pub(super) early: u32,
    /// Dates in nanoseconds.
    pub(super) start: i64,
    pub(super) end: i64,
    /// Of a state.
    pub(super) imbrication: Option<u32>,
    /// Of a container, its name.
    pub(super) value: Value<'a>,
    /// Of a container, its number.
    pub(super) number: Option<u32>,
    pub(super) link: Option<Ends<'a>>,
    pub(super) detail: Option<&'a Detail>,
}

/// What a row needs of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) columns: &'a Columns,
    pub(super) details: &'a Details,
    /// Names of containers, as the format writes them.
    pub(super) containers: &'a [Box<[u8]>],
}

impl Context<'_> {
    /// The name of a container.
    pub(super) fn container(&self, number: u32) -> &[u8] {
        self.containers.get(number as usize).map_or(&[], |name| name)
    }
}

/// A format.
pub(super) trait Form {
    /// Whether fields must be known before the first row.
    const HAS_HEADER: bool = false;
    /// Whether `pj_dump` is to be met digit by digit.
    const IS_PEER: bool = false;

    /// Whether rows show the fields of the user.
    fn has_details(&self) -> bool {
        true
    }

    /// Whether rows without details begin and end alike that are of one place.
    const HAS_FRAMES: bool = false;

    /// Writes what comes before the first row.
    fn header(&self, columns: &Columns, out: &mut Vec<u8>) {
        let _ = (columns, out);
    }

    /// Writes a name as it stands in rows.
    fn name(&self, name: &str, out: &mut Vec<u8>);

    /// Writes a row.
    fn row(&self, row: &Row<'_>, context: Context<'_>, out: &mut Vec<u8>);

    /// Fills in what rows begin and end with that are of the place of this one.
    fn frame(&self, row: &Row<'_>, context: Context<'_>, frame: &mut Frame) {
        let _ = (row, context, frame);
    }

    /// Writes the same row as [`Self::row`], in the frame of its place.
    fn framed(&self, frame: &Frame, row: &Row<'_>, out: &mut Vec<u8>) {
        let _ = (frame, row, out);
    }
}
