//! The rows beside the diagram, and containers found by their names.

use std::sync::Arc;

use axum::extract::{Query, State};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::{Answer, App, Ask, Shown, compute};
use crate::filter::tree;
use crate::layout::StripKind;
use crate::query::{ContainerId, ContainerInfo, TypeId};
use crate::scene::number;

pub(in crate::server) async fn rows(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    compute(app, ask, |app, ask| {
        let layout = ask.layout(app);
        let model = app.source.model();
        let name = |ty: TypeId| model.types.get(ty.index()).map_or("", |ty| &ty.name);
        let called = Called::new(app);
        let rows: Vec<Value> = layout
            .rows
            .iter()
            .map(|row| {
                let strips = row.strips.iter().map(|strip| {
                    let kind = match strip.kind {
                        StripKind::States { .. } => "states",
                        StripKind::Summary { .. } => "summary",
                        StripKind::Events { .. } => "events",
                        StripKind::Variable { .. } | StripKind::Gradient { .. } => "variable",
                    };
                    let bounds = match strip.kind {
                        StripKind::Variable { bounds: Some((low, high)) } => Some([number(high), number(low)]),
                        _ => None,
                    };
                    json!({ "kind": kind, "name": name(strip.ty), "y": strip.y, "height": strip.height, "bounds": bounds })
                });
                json!({
                    "id": row.container.0,
                    "name": row.name,
                    "type": name(row.ty),
                    // What the filters call it, and how many containers stand behind it.
                    "called": called.of(row.container),
                    "members": app.source.members(row.container).len(),
                    "depth": row.depth,
                    "pinned": row.pinned,
                    "above": above(app, row.container),
                    "y": row.y,
                    "height": row.height,
                    "expandable": row.expandable,
                    "folded": row.folded,
                    "strips": strips.collect::<Vec<_>>(),
                })
            })
            .collect();
        let gone: Vec<Value> =
            ask.options().arrangement.hidden.iter().filter_map(|&container| place(app, container)).collect();
        Ok(json!({ "height": layout.height, "pinned": layout.pinned, "rows": rows, "gone": gone }))
    })
    .await
}

/// What filters call containers: by name, or by path when several have the name.
struct Called {
    list: Arc<Vec<ContainerInfo>>,
    positions: FxHashMap<ContainerId, usize>,
    names: FxHashMap<String, u32>,
}

impl Called {
    fn new(app: &Shown) -> Self {
        let list = app.source.containers();
        let mut names = FxHashMap::default();
        for info in list.iter() {
            *names.entry(info.name.clone()).or_default() += 1;
        }
        Self { positions: tree::positions(&list), list, names }
    }

    fn of(&self, container: ContainerId) -> String {
        let Some(&at) = self.positions.get(&container) else { return String::new() };
        let name = &self.list[at].name;
        if self.names.get(name).is_some_and(|&count| count > 1) {
            tree::path(&self.list, at).join("/")
        } else {
            name.clone()
        }
    }
}

/// Containers with a text in their names, in any case: the first of them, and how many there are.
pub(in crate::server) async fn containers(State(app): State<Arc<App>>, Query(ask): Query<Ask>) -> Answer {
    const MOST: usize = 30;
    compute(app, ask, |app, ask| {
        let wanted = ask.what.trim().to_lowercase();
        let all = app.source.containers();
        let found: Vec<ContainerId> = all
            .iter()
            .filter(|info| info.id != ContainerId::ROOT && info.name.to_lowercase().contains(&wanted))
            .map(|info| info.id)
            .collect();
        let first: Vec<Value> = found.iter().take(MOST).filter_map(|&container| place(app, container)).collect();
        Ok(json!({ "total": found.len(), "containers": first }))
    })
    .await
}

/// A container with its name and what it stands in.
fn place(app: &Shown, container: ContainerId) -> Option<Value> {
    let name = app.outline.name(container)?;
    let mut path: Vec<&str> =
        app.outline.above(container).into_iter().filter_map(|above| app.outline.name(above)).collect();
    path.push(name);
    Some(json!({ "id": container.0, "name": name, "path": path, "above": above(app, container) }))
}

/// The numbers of the containers above one.
fn above(app: &Shown, container: ContainerId) -> Vec<u32> {
    app.outline.above(container).iter().map(|container| container.0).collect()
}
