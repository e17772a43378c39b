//! The profile of the dock: calls, total and self time of the values of a state type, and the call
//! tree.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tumit_profile::call_tree::{CallTree, NameId, ROOT};
use tumit_profile::profile::{Profile, state_types};
use tumit_profile::value_names::ValueGroups;
use tumit_viewer::query::{ContainerInfo, RgbColor, TypeId};
use tumit_viewer::stats::json_number;
use tumit_viewer::style::theme::{ColorTheme, contrast, rgb};

use super::statistics_charts::members;
use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::streaming::grow;

/// Nodes with a smaller share of the time are not visible on any screen.
const LEAST_SHARE: f64 = 1.0 / 8_000.0;
/// Maximum number of nodes of an answer.
const MAX_NODES: usize = 6_000;
/// Maximum length of the chains of callers in a bottom-up tree.
const MAX_CALLERS: u32 = 64;

/// The profile of a state type: of the type `ty` or, without it, of the first one with nested
/// states. If `text` is `bottom-up`, the tree has the callers of each value. Parts of the answer
/// contain only the share of the work.
pub(crate) async fn call_profile(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |_, trace, request, progress| {
        let (source, time_range) = (trace.source.as_ref(), request.time_range(trace)?);
        let types = state_types(source);
        let is_nested = |ty: TypeId| source.state_lane_groups().iter().any(|group| group.ty == ty && group.depths > 1);
        let requested = types.iter().copied().find(|ty| ty.0 == request.ty);
        let first = || types.iter().copied().find(|&ty| is_nested(ty)).or(types.first().copied());
        let Some(ty) = requested.or_else(first) else { return Ok(json!({ "types": [] })) };
        let counted = request.counted_containers(trace)?;
        let containers: Vec<_> = members(trace, &counted, ty).into_iter().map(|member| member.container).collect();
        let report = |share: f64| progress.report(share, || json!({ "types": type_values(trace, &types) }));
        let profile = Profile::of_containers(source, ty, &containers, time_range, &ValueGroups::None, &report)?;
        let is_bottom_up = request.text == "bottom-up";
        let tree = if is_bottom_up { profile.tree.bottom_up(MAX_CALLERS) } else { profile.tree.clone() };
        let theme = ColorTheme::new(request.theme);
        let mut answer = json!({
            "types": type_values(trace, &types),
            "type": ty.0,
            "containers": profile.containers,
            "values": value_rows(trace, &profile, theme),
            "is_nested": profile.tree.nodes().iter().any(|node| node.depth > 1),
        });
        answer["tree"] = tree_value(&tree, &profile, theme);
        Ok(answer)
    })
    .await
}

/// The state types of the trace.
fn type_values(trace: &FilteredTrace, types: &[TypeId]) -> Value {
    let model = trace.source.model();
    let name = |ty: &TypeId| model.types.get(ty.index()).map_or("", |info| info.name.as_str()).to_owned();
    types.iter().map(|ty| json!({ "type": ty.0, "name": name(ty) })).collect()
}

/// The rows of the table of values.
fn value_rows(trace: &FilteredTrace, profile: &Profile, theme: ColorTheme) -> Vec<Value> {
    let containers = trace.source.containers();
    let names: FxHashMap<_, &ContainerInfo> = containers.iter().map(|info| (info.id, info)).collect();
    let rows = profile.by_name.iter().map(|row| {
        let container = row.imbalance.container;
        json!({
            "name": profile.names.text(row.name),
            "color": theme.fill(profile.names.color(row.name)).to_string(),
            "calls": row.times.calls,
            "total": json_number(row.times.total),
            "share": row.share,
            "self": json_number(row.times.self_time),
            "self_share": row.self_share,
            "min": row.durations.min(),
            "mean": row.durations.mean(),
            "median": row.durations.quantile(0.5),
            "max": row.durations.max(),
            "imbalance": row.imbalance.ratio(),
            "most_time_in": names.get(&container).map(|info| json!({ "id": info.id.0, "name": info.name })),
        })
    });
    rows.collect()
}

/// The colour of the name on a bar: black or white. The larger contrast of both is at least 4.5:1.
fn text_color(fill: RgbColor) -> RgbColor {
    let (black, white) = (rgb(0x00_00_00), rgb(0xff_ff_ff));
    if contrast(fill, black) >= contrast(fill, white) { black } else { white }
}

/// The nodes of a tree that may be visible: `[name, caller, calls, total, self]`, each after its
/// caller. A caller is an index in the list, -1 for the root.
fn tree_value(tree: &CallTree, profile: &Profile, theme: ColorTheme) -> Value {
    let callees = tree.sorted_callees();
    let least = tree.nodes()[ROOT].total as f64 * LEAST_SHARE;
    let (mut names, mut name_numbers): (Vec<Value>, FxHashMap<NameId, usize>) = (Vec::new(), FxHashMap::default());
    let mut nodes = Vec::new();
    // Level by level, so that the limit leaves out the deepest nodes.
    let mut pending = std::collections::VecDeque::from([(ROOT as u32, -1_i64)]);
    while let Some((index, caller)) = pending.pop_front() {
        let node = tree.nodes()[index as usize];
        let mut number = -1;
        if index as usize != ROOT {
            if nodes.len() >= MAX_NODES {
                break;
            }
            number = nodes.len() as i64;
            let name = *name_numbers.entry(node.name).or_insert_with(|| {
                let color = theme.with_contrast(theme.fill(profile.names.color(node.name)));
                names.push(json!({
                    "name": profile.names.text(node.name),
                    "color": color.to_string(),
                    "ink": text_color(color).to_string(),
                }));
                names.len() - 1
            });
            nodes.push(json!([name, caller, node.calls, json_number(node.total), json_number(node.self_time)]));
        }
        let visible =
            callees[index as usize].iter().filter(|&&callee| tree.nodes()[callee as usize].total as f64 >= least);
        pending.extend(visible.map(|&callee| (callee, number)));
    }
    json!({
        "total": json_number(tree.nodes()[ROOT].total),
        "names": names,
        "hidden": tree.nodes().len() - 1 - nodes.len(),
        "nodes": nodes,
    })
}
