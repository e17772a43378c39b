//! The types of a spec: added to the model, or found there where another spec of the run has them.

use tumit::Spec;
use tumit::spec::{self, Nature, VariableOp, Verb};

use super::super::model::{ContainerModel, LinkModel, LinkVariant, Model};
use super::super::referent_table::Distinct;
use super::super::value::{KeyPart, Symbols};
use tumit_paje::{Color, Look, MarkShape, TypeId, TypeKind, ValueId};

/// Where the types of one spec are in the model.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Types of other specs of the run, which come first.
    of_others: usize,
    pub(crate) containers: Vec<usize>,
    pub(crate) entities: Vec<Entity>,
}

#[derive(Debug)]
pub(crate) enum Entity {
    State { slot: usize, ty: TypeId, values: Vec<ValueId> },
    Event { ty: TypeId, values: Vec<ValueId> },
    Variable { ty: TypeId },
    Link { link: usize },
}

/// Adds the types of a spec. What another spec of the run has in just that way is shared: processes and threads without rules, most of all.
pub(crate) fn add_tree(spec: &Spec, model: &mut Model, symbols: &mut Symbols) -> Tree {
    let mut tree = Tree { of_others: model.types(), ..Tree::default() };
    let containers_of_others = model.containers.len();
    for container in &spec.containers {
        let parent = container.parent.map(|parent| tree.containers[parent.index()]);
        let shared = model.containers.iter().take(containers_of_others).position(|known| {
            (known.parent, &known.name, &known.keys) == (parent, &container.name, &container.keys)
                && known.pattern == container.pattern.0
        });
        if let Some(shared) = shared {
            model.containers[shared].is_stream |= container.stream.is_some();
            tree.containers.push(shared);
            continue;
        }
        let parent_type = parent.map_or(TypeId::ROOT, |parent| model.containers[parent].ty);
        let ty = model.add_type(TypeKind::Container, parent_type, &container.name, (None, Look::NONE));
        let single = container.keys.is_empty() && parent.is_none_or(|parent| model.containers[parent].single);
        tree.containers.push(model.containers.len());
        model.containers.push(ContainerModel {
            ty,
            parent,
            name: container.name.clone(),
            keys: container.keys.clone(),
            distinct: Distinct::of(&container.keys),
            is_stream: container.stream.is_some(),
            pattern: container.pattern.0.clone(),
            states: Vec::new(),
            counters: Vec::new(),
            single,
        });
    }
    for entity in &spec.entities {
        let entity = add_entity(entity, &tree, model, symbols);
        tree.entities.push(entity);
    }
    for action in spec.actions() {
        if let Verb::Variable { op: VariableOp::Add | VariableOp::Subtract, ty, .. } = &action.verb
            && let Entity::Variable { ty: paje } = tree.entities[ty.index()]
        {
            let holder = tree.containers[spec.entities[ty.index()].container.index()];
            let counters = &mut model.containers[holder].counters;
            if !counters.contains(&paje) {
                counters.push(paje);
            }
        }
    }
    tree
}

fn add_entity(entity: &spec::EntityType, tree: &Tree, model: &mut Model, symbols: &mut Symbols) -> Entity {
    let holder = tree.containers[entity.container.index()];
    let parent = model.containers[holder].ty;
    let looks = (entity.color.map(color_of), look_of(entity.look));
    let simple = |kind, model: &mut Model, symbols: &mut Symbols| {
        let shared = model.shared_type(tree.of_others, kind, parent, &entity.label);
        let ty = shared.unwrap_or_else(|| model.add_type(kind, parent, &entity.label, looks));
        (ty, add_values(entity, ty, model, symbols))
    };
    match &entity.nature {
        Nature::State => {
            let (ty, values) = simple(TypeKind::State, model, symbols);
            let states = &mut model.containers[holder].states;
            let slot = states.iter().position(|known| *known == ty).unwrap_or_else(|| {
                states.push(ty);
                states.len() - 1
            });
            Entity::State { slot, ty, values }
        }
        Nature::Event => {
            let (ty, values) = simple(TypeKind::Event, model, symbols);
            Entity::Event { ty, values }
        }
        Nature::Variable => Entity::Variable { ty: simple(TypeKind::Variable, model, symbols).0 },
        Nature::Link { from, to } => {
            let mut variants = Vec::new();
            for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
                let (from, to) = (tree.containers[from.index()], tree.containers[to.index()]);
                let kind = TypeKind::Link { start: model.containers[from].ty, end: model.containers[to].ty };
                let (ty, mut values) = simple(kind, model, symbols);
                let name = KeyPart::Sym(symbols.intern(&entity.label));
                let default = model.value(ty, name).unwrap_or_else(|| model.add_value(ty, name, &entity.label, looks));
                values.push(default);
                variants.push(LinkVariant { from, to, ty, values });
            }
            model.links.push(LinkModel { holder, variants, is_partial: entity.is_partial });
            Entity::Link { link: model.links.len() - 1 }
        }
    }
}

fn add_values(entity: &spec::EntityType, ty: TypeId, model: &mut Model, symbols: &mut Symbols) -> Vec<ValueId> {
    let add = |value: &spec::Value| {
        let name = KeyPart::Sym(symbols.intern(&value.name));
        let looks = (value.color.or(entity.color).map(color_of), look_of(value.look).or(look_of(entity.look)));
        model.value(ty, name).unwrap_or_else(|| model.add_value(ty, name, &value.label, looks))
    };
    entity.values.iter().map(add).collect()
}

fn color_of(color: spec::Color) -> Color {
    Color { red: color.red, green: color.green, blue: color.blue }
}

fn look_of(look: spec::Look) -> Look {
    let shape = look.shape.map(|shape| match shape {
        spec::Shape::Triangle => MarkShape::Triangle,
        spec::Shape::Diamond => MarkShape::Diamond,
        spec::Shape::Circle => MarkShape::Circle,
        spec::Shape::Square => MarkShape::Square,
        spec::Shape::Line => MarkShape::Line,
    });
    Look { shape, size: look.size.and_then(Look::checked_size) }
}
