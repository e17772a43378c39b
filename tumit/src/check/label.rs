//! Labels of containers. Each hole is a key of the path, or a field that every `create` of the
//! container gives.

use super::action::{CreateUse, RuleUsage};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::SpecModel;
use crate::source_text::SourceSpan;
use crate::spec::ContainerTypeId;

/// Checks the holes of all labels.
pub(super) fn check(model: &SpecModel, usage: &RuleUsage, diagnostics: &mut Diagnostics) {
    let mut creates: Vec<Vec<&CreateUse>> = vec![Vec::new(); model.spec.containers.len()];
    usage.creates.iter().for_each(|create| creates[create.container.index()].push(create));
    for (index, holes) in model.holes.iter().enumerate() {
        let id = ContainerTypeId(crate::draft::index(index));
        let keys: Vec<&str> = model.path_keys(id).into_iter().map(|key| key.name.as_str()).collect();
        let is_stream = model.spec.containers[index].stream.is_some();
        for (name, span) in holes {
            let is_known = keys.contains(&name.as_str()) || is_stream && SpecModel::is_stream_fact(name);
            if !is_known {
                check_hole(model, (&creates[index], usage.has_error), (id, name, *span), &keys, diagnostics);
            }
        }
    }
}

fn check_hole(
    model: &SpecModel,
    (creates, incomplete): (&[&CreateUse], bool),
    (id, name, span): (ContainerTypeId, &str, SourceSpan),
    keys: &[&str],
    diagnostics: &mut Diagnostics,
) {
    let container = model.container_name(id);
    if creates.iter().any(|create| create.fields.iter().any(|field| field == name)) {
        for create in creates.iter().filter(|create| !create.fields.iter().any(|field| field == name)) {
            diagnostics.push(
                Diagnostic::error(Code::MissingField, format!("`create {container}` does not set `{name}`"))
                    .with_location(create.span, format!("`{name}` is missing"))
                    .with_label(span, "the label contains it")
                    .help(format!("add `with {{ {name} = … }}`")),
            );
        }
        return;
    }
    let fields = creates.iter().flat_map(|create| create.fields.iter().map(String::as_str));
    let suggestion = did_you_mean(name, keys.iter().copied().chain(fields));
    // The `create` may be in a rule with an error.
    if incomplete && suggestion.is_none() {
        return;
    }
    let help = suggestion.unwrap_or_else(|| format!("write `create {container}… with {{ {name} = … }}`"));
    diagnostics.push(
        Diagnostic::error(Code::UnknownHole, format!("`{name}` in the label of `{container}` is unknown"))
            .with_location(span, "neither a key nor a field of a `create`")
            .help(help),
    );
}
