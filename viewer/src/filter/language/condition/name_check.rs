//! Checks the names in a condition against a trace, so that a wrong name is an error and not an
//! empty result.

use rustc_hash::FxHashSet;

use super::field_test::{FieldTest, path_ends};
use crate::filter::language::comparison::Comparison;
use crate::filter::language::entity_fields;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::NamePattern;
use crate::filter::language::quote::FilterName;
use crate::query::container_tree;
use crate::query::{
    ContainerId, ContainerInfo, GlobalNanos, PajeTypeKind, TimeRange, TimelineSource, TypeId, TypeInfo,
};

/// The kind of thing that the operands of a field name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    Value,
    Container,
    Start,
    End,
}

impl FieldTest {
    /// Reports an error if no entity of these types can have one of the operands: no container or
    /// value has this name, or the container has a type at which no such link starts or ends.
    pub(crate) fn check_names(&self, source: &dyn TimelineSource, types: &[TypeId]) -> Result<(), FilterError> {
        let fields = [
            ("value", OperandKind::Value),
            ("container", OperandKind::Container),
            ("from", OperandKind::Start),
            ("to", OperandKind::End),
        ];
        let operand = fields.iter().find(|(name, _)| self.field.eq_ignore_ascii_case(name)).map(|entry| entry.1);
        let Some(operand) = operand.filter(|_| matches!(self.comparison, Comparison::Equal | Comparison::Like)) else {
            return Ok(());
        };
        let checked = match operand {
            OperandKind::Value => self.check_values(source, types),
            _ => self.check_containers(source, types, operand),
        };
        // The trace may have a field with this name.
        if checked.is_err() && entity_fields::has_own(source, &self.field, types, operand == OperandKind::Value)? {
            return Ok(());
        }
        checked
    }

    /// Without any values, all operands pass: the trace may be empty or only just begun.
    fn check_values(&self, source: &dyn TimelineSource, types: &[TypeId]) -> Result<(), FilterError> {
        let model = source.model();
        let names: Vec<&str> =
            model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.name.as_str()).collect();
        let is_missing = |operand: &&NamePattern| !names.iter().any(|name| self.fits_operand(operand, name));
        match self.operands.iter().find(is_missing) {
            Some(operand) if !names.is_empty() => Err(FilterError::no_match("value", operand, &names)),
            _ => Ok(()),
        }
    }

    fn check_containers(
        &self,
        source: &dyn TimelineSource,
        types: &[TypeId],
        about: OperandKind,
    ) -> Result<(), FilterError> {
        let list = source.containers();
        let mut containers: Vec<Vec<usize>> = vec![Vec::new(); self.operands.iter().count()];
        let mut path: Vec<String> = Vec::new();
        for (index, info) in list.iter().enumerate() {
            path.truncate(info.depth as usize);
            path.push(info.name.clone());
            for (matches, operand) in containers.iter_mut().zip(self.operands.iter()) {
                if path_ends(&path).any(|name| self.fits_operand(operand, &name)) {
                    matches.push(index);
                }
            }
        }
        for (containers, operand) in containers.iter().zip(self.operands.iter()) {
            if containers.is_empty() {
                let names: Vec<&str> = list.iter().skip(1).map(|info| info.name.as_str()).collect();
                return Err(FilterError::no_match("container", operand, &names));
            }
            if matches!(about, OperandKind::Start | OperandKind::End) {
                self.check_ends(source, types, containers, operand, about)?;
            }
        }
        Ok(())
    }

    /// Reports an error if no link of these types starts, or ends, at one of the found containers.
    /// Containers of a declared type pass: such a container may have no link. The links are only
    /// read for other containers.
    fn check_ends(
        &self,
        source: &dyn TimelineSource,
        types: &[TypeId],
        containers: &[usize],
        operand: &NamePattern,
        about: OperandKind,
    ) -> Result<(), FilterError> {
        let (model, list) = (source.model(), source.containers());
        let links: Vec<&TypeInfo> = model
            .types
            .iter()
            .filter(|ty| types.contains(&ty.id) && matches!(ty.kind, PajeTypeKind::Link { .. }))
            .collect();
        let declared = |info: &ContainerInfo| {
            links.iter().any(|ty| match ty.kind {
                PajeTypeKind::Link { start, .. } if about == OperandKind::Start => start == info.ty,
                PajeTypeKind::Link { end, .. } => end == info.ty,
                _ => false,
            })
        };
        if containers.iter().any(|&index| declared(&list[index])) {
            return Ok(());
        }
        let ends = used_ends(source, &links, about)?;
        let Some(container) = list.iter().find(|info| ends.contains(&info.id)) else { return Ok(()) };
        if containers.iter().any(|&index| ends.contains(&list[index].id)) {
            return Ok(());
        }
        let has_below = containers.iter().find(|&&index| container_tree::end(&list, index) > index + 1);
        let (comparison, name) = match has_below {
            Some(&index) => ("~", format!("{}/*", list[index].name)),
            None => ("=", container.name.clone()),
        };
        let type_names: Vec<String> = links.iter().map(|ty| FilterName(&ty.name).to_string()).collect();
        let (word, verb) = if about == OperandKind::Start { ("from", "starts") } else { ("to", "ends") };
        let only_of = if let [type_names] = &type_names[..] { format!(" of {type_names}") } else { String::new() };
        Err(FilterError::NoEnd {
            owner: type_names.join(", ").into(),
            verb,
            name: operand.to_string().into(),
            field: word,
            example: format!("only where {word} {comparison} {}{only_of}", FilterName(&name)).into(),
        })
    }
}

/// The containers at which links of these types start, or end.
fn used_ends(
    source: &dyn TimelineSource,
    links: &[&TypeInfo],
    operand: OperandKind,
) -> Result<FxHashSet<ContainerId>, FilterError> {
    let extent = source.extent();
    let time_range = TimeRange { to: GlobalNanos(extent.to.0.saturating_add(1)), ..extent };
    let mut ends = FxHashSet::default();
    for ty in links {
        source.link_counts(ty.id, time_range, 63, &mut |count| {
            ends.insert(if operand == OperandKind::Start { count.start } else { count.end });
            Ok(())
        })?;
    }
    Ok(ends)
}
