//! Values of the extra fields of operations.

use tumit_paje::collective::{self, CollectiveKind};
use tumit_paje::{ContainerId, ExtraField, ExtraValue};

/// The integer of the first field with one of these names.
pub(super) fn integer_of(extra: &[ExtraField<'_>], names: &[&str]) -> Option<i64> {
    let field = extra.iter().find(|field| names.contains(&field.name.to_ascii_lowercase().as_str()))?;
    match field.value {
        ExtraValue::Integer(number) => Some(number),
        ExtraValue::Text(text) => text.trim().parse().ok(),
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        ExtraValue::Float(number) => Some(number as i64),
        ExtraValue::Container(_) => None,
    }
}

pub(super) fn text_of(extra: &[ExtraField<'_>], names: &[&str]) -> String {
    let field = extra.iter().find(|field| names.contains(&field.name));
    match field.map(|field| field.value) {
        Some(ExtraValue::Text(text)) => text.to_owned(),
        Some(ExtraValue::Integer(number)) => number.to_string(),
        Some(ExtraValue::Float(number)) => number.to_string(),
        Some(ExtraValue::Container(_)) | None => String::new(),
    }
}

/// The container of a field.
pub(super) fn container_of(extra: &[ExtraField<'_>], name: &str) -> Option<ContainerId> {
    let field = extra.iter().find(|field| field.name == name)?;
    if let ExtraValue::Container(container) = field.value { Some(container) } else { None }
}

/// The kind of the collective operation that a state is a part of.
pub(super) fn operation_of(extra: &[ExtraField<'_>]) -> Option<CollectiveKind> {
    CollectiveKind::of_word(&text_of(extra, &[collective::KIND]))
}
