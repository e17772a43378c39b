//! [`OperationFacts`]: the facts of a collective operation as a whole. Fields of states describe
//! its parts ([`tumit_paje::collective`]).

use tumit_paje::collective::{BYTES, COMMUNICATOR, CollectiveKind, IS_ROOT, KIND, OPERATION};

use super::{EntityFacts, EntityId, OperationPart, QueryError, TimelineSource};

/// The facts of a collective operation as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationFacts {
    /// The dependences of its parts.
    pub kind: CollectiveKind,
    /// Its communicator, if it is known.
    pub communicator: Option<String>,
    /// The sum of the bytes that all containers send or receive, if it is known.
    pub bytes: Option<f64>,
    /// The state of the root. `None` if there is no root, or it is unknown.
    pub root: Option<EntityId>,
    /// The part that enters first.
    pub first: OperationPart,
    /// The part that enters last.
    pub last: OperationPart,
    /// All parts, by the time at which they enter.
    pub parts: Vec<OperationPart>,
}

impl OperationFacts {
    /// The operation of a state with these facts. `None` if the state is no part of a known
    /// operation. Takes O(log n) for the number of all parts in the trace, and O(parts) for those
    /// of the operation.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn of(source: &dyn TimelineSource, facts: &EntityFacts) -> Result<Option<Self>, QueryError> {
        let field = |name: &str| {
            facts.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, text)| text.as_str())
        };
        let (Some(kind), Some(_)) = (field(KIND).and_then(CollectiveKind::of_word), field(OPERATION)) else {
            return Ok(None);
        };
        let parts = source.operation_parts(facts.id)?;
        let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else { return Ok(None) };
        let ids: Vec<EntityId> = parts.iter().map(|part| part.id).collect();
        let root = match kind.has_root() {
            true => source.number_fields(&ids, IS_ROOT)?.iter().position(|is_root| *is_root == Some(1.0)),
            false => None,
        };
        let bytes = match field(BYTES) {
            Some(_) => source.number_fields(&ids, BYTES)?.into_iter().flatten().reduce(|sum, bytes| sum + bytes),
            None => None,
        };
        let communicator = field(COMMUNICATOR).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Some(Self { kind, communicator, bytes, root: root.map(|index| ids[index]), first, last, parts }))
    }

    /// The time from the first entry to the last one, in nanoseconds.
    #[must_use]
    pub fn entry_spread(&self) -> i64 {
        self.last.enter.0.saturating_sub(self.first.enter.0)
    }
}
