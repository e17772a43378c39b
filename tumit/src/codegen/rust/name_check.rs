//! Reports names of a spec that become the same identifier of Rust.

use std::collections::HashMap;

use tracer_format::schema::RecordKind;

use super::items;
use super::names::{constant_name, event_name, version_name};
use crate::codegen::backend::UnsupportedFeature;
use crate::names::{rust_name, rust_type_name};
use crate::spec::Spec;

/// Reports two names of one scope that become the same.
pub(super) fn check(spec: &Spec) -> Result<(), UnsupportedFeature> {
    check_distinct("levels", spec.levels.iter().map(|level| (level.name.as_str(), rust_name(&level.name))))?;
    check_distinct("enums", spec.enums.iter().map(|item| (item.name.as_str(), rust_type_name(&item.name))))?;
    let version = (spec.version > 0).then(|| version_name(spec));
    let stated = spec.constants.iter().filter(|constant| items::is_stated(constant));
    let constants = stated.map(|constant| constant.name.as_str()).chain(version.as_deref());
    check_distinct("constants", constants.map(|name| (name, constant_name(name))))?;
    for item in &spec.enums {
        let values = item.values.iter().map(|value| (value.name.as_str(), rust_type_name(&value.name)));
        check_distinct(&format!("values of enum `{}`", item.name), values)?;
    }
    for (index, level) in spec.levels.iter().enumerate() {
        let records = spec.records.iter().filter(|record| record.level.index() == index);
        let records = records.filter(|record| record.layout.kind != RecordKind::End);
        let events = records.map(|record| (record.name.as_str(), event_name(record)));
        check_distinct(&format!("events of level `{}`", level.name), events)?;
    }
    for record in &spec.records {
        let parameters = record.layout.fields.iter().map(|field| (field.name.as_str(), rust_name(&field.name)));
        check_distinct(&format!("parameters of `{}`", record.name), parameters)?;
    }
    Ok(())
}

fn check_distinct<'a>(noun: &str, names: impl Iterator<Item = (&'a str, String)>) -> Result<(), UnsupportedFeature> {
    let mut previous = HashMap::new();
    for (name, rust) in names {
        if let Some(previous_name) = previous.insert(rust.clone(), name) {
            return Err(UnsupportedFeature {
                reason: format!(
                    "the {noun} `{previous_name}` and `{name}` are both `{rust}` in Rust: rename one of them"
                ),
            });
        }
    }
    Ok(())
}
