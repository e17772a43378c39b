//! The tables of `pj_dump --entity-hierarchy` and `--type-hierarchy`: parents and children as
//! comma-separated names.
//!
//! ```
//! use tumit_viewer::tables::hierarchy;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let mut table = Vec::new();
//! hierarchy::write_types(&store, &mut table)?;
//! assert!(String::from_utf8(table)?.contains("Thread, Activity, State\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Write};

use crate::query::{PajeTypeKind, TimelineSource, TypeId, TypeInfo, TypeModel};

/// The name of the root and its type in `pj_dump`.
const ROOT: &str = "0";

/// Writes all containers depth first, each with its types of entities: `Parent, Name, Type,
/// Nature`.
///
/// # Errors
/// If `out` fails.
pub fn write_entities(source: &dyn TimelineSource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Parent, Name, Type, Nature")?;
    let (model, containers) = (source.model(), source.containers());
    // The names of the containers that enclose the current one. The list is depth first.
    let mut path: Vec<&str> = Vec::new();
    for container in containers.iter() {
        path.truncate(container.depth as usize);
        let parent = path.last().copied().unwrap_or(ROOT);
        let name = if container.depth == 0 { ROOT } else { &container.name };
        path.push(name);
        let ty = name_of(&model, container.ty);
        writeln!(out, "{parent}, {name}, {ty}, Container")?;
        for ty in model.types.iter().filter(|ty| ty.parent == container.ty && ty.kind != PajeTypeKind::Container) {
            writeln!(out, "{name}, {}, {}, {}", ty.name, ty.name, kind_name(ty.kind))?;
        }
    }
    Ok(())
}

/// Writes all types depth first, and the values of each: `Parent, Name, Nature`.
///
/// # Errors
/// If `out` fails.
pub fn write_types(source: &dyn TimelineSource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Parent, Name, Nature")?;
    let model = source.model();
    match model.types.first() {
        Some(root) => write_below(&model, root, out),
        None => Ok(()),
    }
}

fn write_below(model: &TypeModel, root: &TypeInfo, out: &mut dyn Write) -> io::Result<()> {
    // A stack in place of recursion, because the trace determines the depth of types.
    let children = |parent: TypeId| model.types.iter().rev().filter(move |ty| ty.parent == parent && ty.id != parent);
    let mut open: Vec<&TypeInfo> = children(root.id).collect();
    while let Some(ty) = open.pop() {
        let parent = name_of(model, ty.parent);
        writeln!(out, "{parent}, {}, {}", ty.name, kind_name(ty.kind))?;
        for value in model.values.iter().filter(|value| value.ty == ty.id) {
            writeln!(out, "{}, {}, Value", ty.name, value.name)?;
        }
        open.extend(children(ty.id));
    }
    Ok(())
}

fn name_of(model: &TypeModel, id: TypeId) -> &str {
    // The root type is the first one.
    model.types.get(id.0 as usize).filter(|_| id.0 != 0).map_or(ROOT, |ty| &ty.name)
}

const fn kind_name(kind: PajeTypeKind) -> &'static str {
    match kind {
        PajeTypeKind::Container => "Container",
        PajeTypeKind::State => "State",
        PajeTypeKind::Event => "Event",
        PajeTypeKind::Variable => "Variable",
        PajeTypeKind::Link { .. } => "Link",
    }
}
