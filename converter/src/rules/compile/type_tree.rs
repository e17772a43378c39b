//! Adds the types of a spec to the model. Types that another spec of the run already defines are
//! shared.

use tumit::Spec;
use tumit::spec::{self, ActionVerb, EntityTypeKind, VariableChange};

use crate::rules::referent_table::Distinctness;
use crate::rules::rule_model::{ContainerModel, LinkModel, LinkVariant, RuleModel};
use crate::rules::rule_value::{KeyPart, Symbols};
use crate::rules::value_table::UndeclaredCategory;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, MarkShape, PajeTypeKind, RgbColor, TypeId, ValueId};

/// The positions of the types of one spec in the model.
#[derive(Debug, Default)]
pub(crate) struct TypeTree {
    /// Number of types of other specs of the run. They come first in the model.
    of_others: usize,
    pub(crate) containers: Vec<usize>,
    pub(crate) entities: Vec<TreeEntity>,
}

#[derive(Debug)]
pub(crate) enum TreeEntity {
    State { slot: usize, ty: TypeId, values: Vec<ValueId> },
    Event { ty: TypeId, values: Vec<ValueId> },
    Variable { ty: TypeId },
    Link { link: usize },
}

/// Adds the types of a spec. Types that another spec of the run defines identically are shared.
/// These are mostly the processes and threads of records without rules.
pub(crate) fn add_tree(spec: &Spec, model: &mut RuleModel, symbols: &mut Symbols) -> TypeTree {
    let mut tree = TypeTree { of_others: model.types(), ..TypeTree::default() };
    let containers_of_others = model.containers.len();
    for container in &spec.containers {
        let parent = container.parent.map(|parent| tree.containers[parent.index()]);
        let shared_container = model.containers.iter().take(containers_of_others).position(|known| {
            (known.parent, &known.name, &known.keys) == (parent, &container.name, &container.keys)
                && known.pattern == container.pattern.0
        });
        if let Some(shared) = shared_container {
            model.containers[shared].is_stream |= container.stream.is_some();
            tree.containers.push(shared);
            continue;
        }
        let parent_type = parent.map_or(TypeId::ROOT, |parent| model.containers[parent].ty);
        let ty = model.add_type(PajeTypeKind::Container, parent_type, &container.name, (None, DrawStyle::NONE));
        let is_single = container.keys.is_empty() && parent.is_none_or(|parent| model.containers[parent].is_single);
        tree.containers.push(model.containers.len());
        model.containers.push(ContainerModel {
            ty,
            parent,
            name: container.name.clone(),
            keys: container.keys.clone(),
            distinctness: Distinctness::of(&container.keys),
            is_stream: container.stream.is_some(),
            pattern: container.pattern.0.clone(),
            states: Vec::new(),
            counters: Vec::new(),
            is_single,
        });
    }
    for entity in &spec.entities {
        let entity_type = add_entity(entity, &tree, model, symbols);
        if let TreeEntity::State { ty, .. } = &entity_type {
            for statement in spec.categories_of(entity) {
                let (category, statement) = (category_of(statement.category), statement.clone());
                model.values.add_category(*ty, UndeclaredCategory { category, statement });
            }
        }
        tree.entities.push(entity_type);
    }
    for action in spec.actions() {
        if let ActionVerb::Variable { op: VariableChange::Add | VariableChange::Subtract, ty, .. } = &action.verb
            && let TreeEntity::Variable { ty: paje } = tree.entities[ty.index()]
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

fn add_entity(entity: &spec::EntityType, tree: &TypeTree, model: &mut RuleModel, symbols: &mut Symbols) -> TreeEntity {
    let holder = tree.containers[entity.container.index()];
    let parent = model.containers[holder].ty;
    let styles = (entity.color.map(color_of), style_of(entity.style));
    let simple = |kind, model: &mut RuleModel, symbols: &mut Symbols| {
        let shared = model.shared_type(tree.of_others, kind, parent, &entity.label);
        let ty = shared.unwrap_or_else(|| model.add_type(kind, parent, &entity.label, styles));
        (ty, add_values(entity, ty, model, symbols))
    };
    match &entity.kind {
        EntityTypeKind::State => {
            let (ty, values) = simple(PajeTypeKind::State, model, symbols);
            let states = &mut model.containers[holder].states;
            let slot = states.iter().position(|known| *known == ty).unwrap_or_else(|| {
                states.push(ty);
                states.len() - 1
            });
            TreeEntity::State { slot, ty, values }
        }
        EntityTypeKind::Event => {
            let (ty, values) = simple(PajeTypeKind::Event, model, symbols);
            TreeEntity::Event { ty, values }
        }
        EntityTypeKind::Variable => TreeEntity::Variable { ty: simple(PajeTypeKind::Variable, model, symbols).0 },
        EntityTypeKind::Link { from, to } => {
            let mut variants = Vec::new();
            for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
                let (from, to) = (tree.containers[from.index()], tree.containers[to.index()]);
                let kind = PajeTypeKind::Link { start: model.containers[from].ty, end: model.containers[to].ty };
                let (ty, mut values) = simple(kind, model, symbols);
                let name = KeyPart::Sym(symbols.intern(&entity.label));
                let default =
                    model.value(ty, name).unwrap_or_else(|| model.add_value(ty, name, &entity.label, styles, None));
                values.push(default);
                variants.push(LinkVariant { from, to, ty, values });
            }
            model.links.push(LinkModel { holder, variants, is_partial: entity.is_partial });
            TreeEntity::Link { link: model.links.len() - 1 }
        }
    }
}

fn add_values(entity: &spec::EntityType, ty: TypeId, model: &mut RuleModel, symbols: &mut Symbols) -> Vec<ValueId> {
    let add = |value: &spec::DeclaredValue| {
        let name = KeyPart::Sym(symbols.intern(&value.name));
        let styles = (value.color.or(entity.color).map(color_of), style_of(value.style).or(style_of(entity.style)));
        let category = value.category.map(category_of);
        model.value(ty, name).unwrap_or_else(|| model.add_value(ty, name, &value.label, styles, category))
    };
    entity.values.iter().map(add).collect()
}

fn color_of(color: spec::SpecColor) -> RgbColor {
    RgbColor { red: color.red, green: color.green, blue: color.blue }
}

fn category_of(category: spec::SpecCategory) -> ActivityCategory {
    match category {
        spec::SpecCategory::Busy => ActivityCategory::Busy,
        spec::SpecCategory::Overhead => ActivityCategory::Overhead,
        spec::SpecCategory::Idle => ActivityCategory::Idle,
        spec::SpecCategory::Ignored => ActivityCategory::Ignored,
    }
}

fn style_of(style: spec::SpecStyle) -> DrawStyle {
    let shape = style.shape.map(|shape| match shape {
        spec::SpecShape::Triangle => MarkShape::Triangle,
        spec::SpecShape::Diamond => MarkShape::Diamond,
        spec::SpecShape::Circle => MarkShape::Circle,
        spec::SpecShape::Square => MarkShape::Square,
        spec::SpecShape::Line => MarkShape::Line,
    });
    DrawStyle { shape, size: style.size.and_then(DrawStyle::checked_size) }
}
