//! The type tree of a conversion: all specs of the run together, in the numbers of the Pajé stream.

use std::io;
use std::sync::Arc;

use tumit::spec::Piece;

use super::referent_table::{Distinct, ReferentTable};
use super::value::KeyPart;
use super::values::Values;
use tumit_paje::{Color, Look, PajeEvent, Sink, TypeId, TypeKind, ValueId};

/// Types and values. Container types have their own dense numbers, `usize` here, over all specs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) containers: Vec<ContainerModel>,
    pub(crate) links: Vec<LinkModel>,
    types: Vec<TypeDefinition>,
    pub(crate) values: Values,
    /// How many targets its programs have.
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
    /// How its containers are distinct in addition to their keys.
    pub(crate) distinct: Option<Distinct>,
    /// It is marked `= stream`, or it shows threads and no container is marked.
    pub(crate) is_stream: bool,
    pub(crate) pattern: Vec<Piece>,
    /// The state types that it holds; a position here is a *slot*.
    pub(crate) states: Vec<TypeId>,
    /// Variables that rules add to, which therefore need a first value.
    pub(crate) counters: Vec<TypeId>,
    /// No key on the whole path: there is exactly one.
    pub(crate) single: bool,
}

/// A link type: one Pajé type for each pair of container types that it may connect.
#[derive(Clone, Debug)]
pub(crate) struct LinkModel {
    /// Container type that holds it.
    pub(crate) holder: usize,
    pub(crate) variants: Vec<LinkVariant>,
    /// Its ends may stay alone without a word.
    pub(crate) is_partial: bool,
}

/// A link type between two certain container types.
#[derive(Clone, Debug)]
pub(crate) struct LinkVariant {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ty: TypeId,
    /// Its values by declared number; the last is the one used when none is said.
    pub(crate) values: Vec<ValueId>,
}

#[derive(Clone, Debug)]
struct TypeDefinition {
    ty: TypeId,
    kind: TypeKind,
    parent: TypeId,
    name: String,
    color: Option<Color>,
    look: Look,
}

impl Model {
    /// Adds a type.
    pub(crate) fn add_type(
        &mut self,
        kind: TypeKind,
        parent: TypeId,
        name: &str,
        (color, look): (Option<Color>, Look),
    ) -> TypeId {
        let ty = TypeId(u32::try_from(self.types.len() + 1).unwrap_or(u32::MAX));
        self.types.push(TypeDefinition { ty, kind, parent, name: name.to_owned(), color, look });
        ty
    }

    /// The number of a further target of a program.
    pub(crate) const fn next_target(&mut self) -> usize {
        self.targets += 1;
        self.targets - 1
    }

    /// Number of types.
    pub(crate) const fn types(&self) -> usize {
        self.types.len()
    }

    /// The type among the first so many that has this place, kind and name.
    pub(crate) fn shared_type(&self, among: usize, kind: TypeKind, parent: TypeId, name: &str) -> Option<TypeId> {
        let same = |known: &&TypeDefinition| (known.kind, known.parent, known.name.as_str()) == (kind, parent, name);
        self.types.iter().take(among).find(same).map(|known| known.ty)
    }

    /// Adds a value that expressions reach by `name` and that is shown as `label`.
    pub(crate) fn add_value(&mut self, ty: TypeId, name: KeyPart, label: &str, look: (Option<Color>, Look)) -> ValueId {
        self.values.add(ty, name, label, look)
    }

    /// The value of a type that was declared or met as `name`.
    pub(crate) fn value(&self, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        self.values.get(ty, name)
    }

    /// Sends all definitions: types, then values. Types go in the order of their numbers, as sinks want them: of each spec the container types
    /// first.
    pub(crate) fn define(&self, sink: &mut dyn Sink) -> io::Result<u64> {
        for definition in &self.types {
            sink.event(&PajeEvent::DefineType {
                ty: definition.ty,
                kind: definition.kind,
                parent: definition.parent,
                name: &definition.name,
                color: definition.color,
                look: definition.look,
            })?;
        }
        Ok(self.types.len() as u64 + self.values.define(0, sink)?)
    }

    /// The variant of a link type between two container types.
    pub(crate) fn variant(&self, link: usize, from: usize, to: usize) -> Option<usize> {
        self.links[link].variants.iter().position(|variant| variant.from == from && variant.to == to)
    }
}
