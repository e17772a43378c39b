//! [`StateExtras`]: the extra fields of a state.

use tumit_paje::collective::{self, CollectiveKind};
use tumit_paje::{ContainerId, ExtraField, ExtraFieldKind, ExtraValue};

use crate::model::StateFields;
use crate::model::collective_counts::ALL_NODES;
use crate::model::state_fields::{ALL, BLOCK, DATA, END_DATA};

/// All fields that a state can have.
pub(crate) const STATE_FIELDS: [(&str, ExtraFieldKind); 11] = [
    ("location", ExtraFieldKind::Integer),
    ("parameter", ExtraFieldKind::Integer),
    (BLOCK, ExtraFieldKind::Integer),
    (collective::OPERATION, ExtraFieldKind::Integer),
    (collective::IS_ROOT, ExtraFieldKind::Integer),
    (collective::KIND, ExtraFieldKind::Text),
    (collective::COMMUNICATOR, ExtraFieldKind::Text),
    (collective::BYTES, ExtraFieldKind::Integer),
    (collective::ROOT, ExtraFieldKind::Container),
    (DATA, ExtraFieldKind::Text),
    (END_DATA, ExtraFieldKind::Text),
];

/// The part of a state in a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeOperation {
    pub(super) kind: CollectiveKind,
    /// `None` if records are missing.
    pub(super) operation: Option<i64>,
    /// The container of the root, and whether it is that of the state.
    pub(super) root: Option<(ContainerId, bool)>,
}

/// The values of the extra fields of a state.
#[derive(Debug, Default)]
pub(super) struct StateExtras {
    fields: StateFields,
    part: Option<NodeOperation>,
    communicator: String,
    data: String,
    end_data: String,
}

impl StateExtras {
    pub(super) fn new(fields: StateFields, part: Option<NodeOperation>) -> Self {
        let communicator = match fields.subset {
            None | Some(ALL_NODES) => ALL.to_owned(),
            Some(subset) => subset.to_string(),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (data, end_data) = (text(&fields.data), text(&fields.end_data));
        Self { fields, part, communicator, data, end_data }
    }

    /// The fields that the state has.
    pub(super) fn list(&self) -> Vec<ExtraField<'_>> {
        let part = self.part.as_ref();
        let integer = |number: Option<i64>| number.map(ExtraValue::Integer);
        let root = part.and_then(|part| part.root);
        let values = [
            integer(self.fields.location),
            integer(self.fields.parameter),
            integer(self.fields.block),
            integer(part.and_then(|part| part.operation)),
            root.map(|(_, is_root)| ExtraValue::Integer(is_root.into())),
            part.map(|part| ExtraValue::Text(part.kind.word())),
            part.map(|_| ExtraValue::Text(&self.communicator)),
            integer(self.fields.bytes),
            root.map(|(container, _)| ExtraValue::Container(container)),
            Some(&self.data).filter(|text| !text.is_empty()).map(|text| ExtraValue::Text(text)),
            Some(&self.end_data).filter(|text| !text.is_empty()).map(|text| ExtraValue::Text(text)),
        ];
        let field = |((name, _), value): (&(&'static str, ExtraFieldKind), Option<_>)| {
            value.map(|value| ExtraField { name, value })
        };
        STATE_FIELDS.iter().zip(values).filter_map(field).collect()
    }
}
