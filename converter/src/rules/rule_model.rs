//! The type tree of a conversion: all specs of the run together, with the numbers of the Pajé
//! stream.

use std::io;
use std::sync::Arc;

use tumit::spec::PatternPiece;

use super::referent_table::{Distinctness, ReferentTable};
use super::rule_value::KeyPart;
use super::value_table::ValueTable;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, PajeEvent, PajeSink, PajeTypeKind, RgbColor, TypeId, ValueId};

/// Types and values. Container types have dense numbers of their own (`usize`) over all specs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleModel {
    pub(crate) containers: Vec<ContainerModel>,
    pub(crate) links: Vec<LinkModel>,
    types: Vec<TypeDefinition>,
    pub(crate) values: ValueTable,
    /// Number of targets in the programs.
    targets: usize,
    /// Resolves references to processes and threads by value.
    pub(crate) referents: Arc<ReferentTable>,
}

/// A container type.
#[derive(Clone, Debug)]
pub(crate) struct ContainerModel {
    pub(crate) ty: TypeId,
    pub(crate) parent: Option<usize>,
    pub(crate) name: String,
    pub(crate) keys: Vec<String>,
    /// The distinction of its containers in addition to their keys.
    pub(crate) distinctness: Option<Distinctness>,
    /// Whether it is marked `= stream`, or shows threads and no container is marked.
    pub(crate) is_stream: bool,
    pub(crate) pattern: Vec<PatternPiece>,
    /// The state types that it holds. A position in this list is a *slot*.
    pub(crate) states: Vec<TypeId>,
    /// Variables that rules add to. They need an initial value.
    pub(crate) counters: Vec<TypeId>,
    /// Whether no type on its path has keys. Exactly one such container exists.
    pub(crate) is_single: bool,
}

/// A link type: one Pajé type for each pair of container types that it may connect.
#[derive(Clone, Debug)]
pub(crate) struct LinkModel {
    /// The container type that holds the link.
    pub(crate) holder: usize,
    pub(crate) variants: Vec<LinkVariant>,
    /// Whether an endpoint may have no partner. Such endpoints are not reported.
    pub(crate) is_partial: bool,
}

/// A link type between two given container types.
#[derive(Clone, Debug)]
pub(crate) struct LinkVariant {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ty: TypeId,
    /// Its values by declared number. The last one is the default.
    pub(crate) values: Vec<ValueId>,
}

#[derive(Clone, Debug)]
struct TypeDefinition {
    ty: TypeId,
    kind: PajeTypeKind,
    parent: TypeId,
    name: String,
    color: Option<RgbColor>,
    style: DrawStyle,
}

impl RuleModel {
    pub(crate) fn add_type(
        &mut self,
        kind: PajeTypeKind,
        parent: TypeId,
        name: &str,
        (color, style): (Option<RgbColor>, DrawStyle),
    ) -> TypeId {
        let ty = TypeId(u32::try_from(self.types.len() + 1).unwrap_or(u32::MAX));
        self.types.push(TypeDefinition { ty, kind, parent, name: name.to_owned(), color, style });
        ty
    }

    /// The number for a further target.
    pub(crate) const fn next_target(&mut self) -> usize {
        self.targets += 1;
        self.targets - 1
    }

    /// Number of types.
    pub(crate) const fn types(&self) -> usize {
        self.types.len()
    }

    /// The type with this parent, kind and name among the first `type_count` types.
    pub(crate) fn shared_type(
        &self,
        type_count: usize,
        kind: PajeTypeKind,
        parent: TypeId,
        name: &str,
    ) -> Option<TypeId> {
        let same = |definition: &&TypeDefinition| {
            (definition.kind, definition.parent, definition.name.as_str()) == (kind, parent, name)
        };
        self.types.iter().take(type_count).find(same).map(|definition| definition.ty)
    }

    /// Adds a value. Expressions refer to it by `name`. `label` is displayed.
    pub(crate) fn add_value(
        &mut self,
        ty: TypeId,
        name: KeyPart,
        label: &str,
        style: (Option<RgbColor>, DrawStyle),
        category: Option<ActivityCategory>,
    ) -> ValueId {
        self.values.add(ty, name, label, style, category)
    }

    /// The declared or defined value of a type with this name.
    pub(crate) fn value(&self, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        self.values.get(ty, name)
    }

    /// Sends all definitions: types, then values. Types are in the order of their numbers, as sinks
    /// require. The container types of each spec come first.
    pub(crate) fn define(&self, sink: &mut dyn PajeSink) -> io::Result<u64> {
        for definition in &self.types {
            sink.event(&PajeEvent::DefineType {
                ty: definition.ty,
                kind: definition.kind,
                parent: definition.parent,
                name: &definition.name,
                color: definition.color,
                style: definition.style,
            })?;
        }
        Ok(self.types.len() as u64 + self.values.define(0, sink)?)
    }

    /// The variant of a link type between two container types.
    pub(crate) fn variant(&self, link: usize, from: usize, to: usize) -> Option<usize> {
        self.links[link].variants.iter().position(|variant| variant.from == from && variant.to == to)
    }
}
