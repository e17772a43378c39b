//! [`Row`]: what all formats write of a container or entity; [`Form`]: how one of them does.

use tumit_paje::TypeId;

use super::columns::Columns;
use super::details::{Detail, Details};
use super::frames::Frame;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Container,
    State,
    Variable,
    Event,
    Link,
}

impl Kind {
    /// As `pj_dump` calls it.
    pub(crate) const fn name(self) -> &'static str {
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
pub(crate) struct Named<'a> {
    pub(crate) name: &'a [u8],
    pub number: u32,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    /// A name, as the format writes it.
    Name(&'a [u8]),
    Number(f64),
}

/// The other columns of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    pub(crate) start: Named<'a>,
    pub(crate) end: Named<'a>,
    /// As the trace has it.
    pub(crate) key: &'a str,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) kind: Kind,
    /// The container that holds it; of a container, its parent.
    pub(crate) container: Named<'a>,
    /// Name of the type.
    pub(crate) ty: &'a [u8],
    pub(crate) type_id: TypeId,
    /// As [`EndedState::early`](crate::sim::EndedState::early).
    pub(crate) early: u32,
    /// Dates in nanoseconds.
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Of a state.
    pub(crate) imbrication: Option<u32>,
    /// Of a container, its name.
    pub value: Value<'a>,
    /// Of a container, its number.
    pub number: Option<u32>,
    pub(crate) link: Option<Ends<'a>>,
    pub(crate) detail: Option<&'a Detail>,
}

/// What a row needs of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) details: &'a Details,
    /// Names of containers, as the format writes them.
    pub(crate) containers: &'a [Box<[u8]>],
}

impl Context<'_> {
    /// The name of a container.
    pub(crate) fn container(&self, number: u32) -> &[u8] {
        self.containers.get(number as usize).map_or(&[], |name| name)
    }
}

/// A format.
pub(crate) trait Form {
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
