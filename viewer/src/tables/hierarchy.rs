//! The tables of `pj_dump --entity-hierarchy` and `--type-hierarchy`: parents and children as comma-separated names.

use std::io::{self, Write};

use crate::query::{Model, TimelineSource, TypeId, TypeInfo, TypeKind};

/// `pj_dump` calls the root and its type so.
const ROOT: &str = "0";

/// Writes all containers depth first, each with its types of entities: `Parent, Name, Type, Nature`.
///
/// # Errors
/// When `out` fails.
pub fn write_entities(source: &dyn TimelineSource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Parent, Name, Type, Nature")?;
    let (model, containers) = (source.model(), source.containers());
    // The names of the containers that hold the present one: they come depth first.
    let mut path: Vec<&str> = Vec::new();
    for container in containers.iter() {
        path.truncate(container.depth as usize);
        let parent = path.last().copied().unwrap_or(ROOT);
        let name = if container.depth == 0 { ROOT } else { &container.name };
        path.push(name);
        let ty = name_of(&model, container.ty);
        writeln!(out, "{parent}, {name}, {ty}, Container")?;
        for ty in model.types.iter().filter(|ty| ty.parent == container.ty && ty.kind != TypeKind::Container) {
            writeln!(out, "{name}, {}, {}, {}", ty.name, ty.name, nature(ty.kind))?;
        }
    }
    Ok(())
}

/// Writes all types depth first, and the values of each: `Parent, Name, Nature`.
///
/// # Errors
/// When `out` fails.
pub fn write_types(source: &dyn TimelineSource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Parent, Name, Nature")?;
    let model = source.model();
    match model.types.first() {
        Some(root) => write_below(&model, root, out),
        None => Ok(()),
    }
}

fn write_below(model: &Model, root: &TypeInfo, out: &mut dyn Write) -> io::Result<()> {
    // A stack instead of a recursion: a trace decides how deep types are.
    let children = |parent: TypeId| model.types.iter().rev().filter(move |ty| ty.parent == parent && ty.id != parent);
    let mut open: Vec<&TypeInfo> = children(root.id).collect();
    while let Some(ty) = open.pop() {
        let parent = name_of(model, ty.parent);
        writeln!(out, "{parent}, {}, {}", ty.name, nature(ty.kind))?;
        for value in model.values.iter().filter(|value| value.ty == ty.id) {
            writeln!(out, "{}, {}, Value", ty.name, value.name)?;
        }
        open.extend(children(ty.id));
    }
    Ok(())
}

/// The name of a type.
fn name_of(model: &Model, id: TypeId) -> &str {
    // The root type is the first one.
    model.types.get(id.0 as usize).filter(|_| id.0 != 0).map_or(ROOT, |ty| &ty.name)
}

const fn nature(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Container => "Container",
        TypeKind::State => "State",
        TypeKind::Event => "Event",
        TypeKind::Variable => "Variable",
        TypeKind::Link { .. } => "Link",
    }
}
