//! Matches the record types and fields of a file with those of a spec.

use super::spec_description::{Spec, Type};
use crate::schema::{FieldType, RecordType, Scalar, Schema};

/// A file's schema, matched with a spec.
#[derive(Clone, Debug, Default)]
pub struct SchemaBinding {
    /// Matches by record type of the schema.
    pub types: Vec<BoundType>,
}

/// A record type of a file, matched with an event of a spec.
#[derive(Clone, Debug, Default)]
pub struct BoundType {
    /// Index of the event. `None` if the spec does not have it.
    pub event: Option<u16>,
    /// For each field of the event, the position of the file's field.
    pub(super) map: Vec<Option<u16>>,
    /// Fields that the file does not have.
    pub(super) missing_fields: Vec<&'static str>,
    /// The fields have the same order.
    pub(super) is_same: bool,
}

impl SchemaBinding {
    /// Matches a schema with a spec. Nothing matches when the traces have different names.
    #[must_use]
    pub fn new(spec: &'static Spec, schema: &Schema) -> Self {
        let types = schema.records.iter().enumerate().map(|(position, file)| {
            if schema.name != spec.name {
                return BoundType::default();
            }
            let is_it = |event: &usize| spec.types.get(*event).is_some_and(|ty| ty.name == file.name);
            let event = Some(position).filter(is_it).or_else(|| (0..spec.types.len()).find(is_it));
            event.map_or_else(BoundType::default, |event| BoundType::new(event, &spec.types[event], file))
        });
        Self { types: types.collect() }
    }
}

impl BoundType {
    fn new(number: usize, event: &'static Type, file: &RecordType) -> Self {
        let find = |name: &str, ty: FieldType| {
            let found = file.fields.iter().position(|field| field.name == name && is_assignable(field.ty, ty));
            found.and_then(|position| u16::try_from(position).ok())
        };
        let map: Vec<Option<u16>> = event.fields.iter().map(|(name, ty)| find(name, *ty)).collect();
        let missing_fields =
            event.fields.iter().zip(&map).filter(|(_, position)| position.is_none()).map(|((name, _), _)| *name);
        let missing_fields = missing_fields.collect();
        let is_same = map.len() == file.fields.len()
            && map.iter().enumerate().all(|(position, file_position)| file_position.map(usize::from) == Some(position));
        Self { event: u16::try_from(number).ok(), map, missing_fields, is_same }
    }
}

/// Whether each value of the type `from` is also a value of the type `to`.
fn is_assignable(from: FieldType, to: FieldType) -> bool {
    match (from, to) {
        (FieldType::One(from), FieldType::One(to)) | (FieldType::Variable(from), FieldType::Variable(to)) => {
            widens(from, to)
        }
        (FieldType::Fixed(from, count), FieldType::Fixed(to, wanted)) => count == wanted && widens(from, to),
        (FieldType::Fixed(from, _), FieldType::Variable(to)) => widens(from, to),
        _ => false,
    }
}

fn widens(from: Scalar, to: Scalar) -> bool {
    let rank = |scalar| match scalar {
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Some(false),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Some(true),
        _ => None,
    };
    match (from, to) {
        (Scalar::Enum { .. }, Scalar::Enum { .. })
        | (Scalar::F32, Scalar::F64)
        | (Scalar::Interned | Scalar::String, Scalar::Interned | Scalar::String) => true,
        _ if from == to => true,
        _ => match (rank(from), rank(to)) {
            (Some(true), Some(false)) => false,
            (Some(_), Some(_)) => from.bytes() < to.bytes(),
            _ => false,
        },
    }
}
