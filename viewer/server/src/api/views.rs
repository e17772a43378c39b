//! The list of all views, for the gallery of the dock.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Value, json};
use tumit_perspectives::cards::FoundCard;
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::execution::ExecutionSettings;
use tumit_perspectives::gallery;
use tumit_perspectives::option_titles::{default_title, value_title};
use tumit_perspectives::options::{DRAWING_OPTIONS, EXECUTION_OPTIONS, OptionInfo, VIEW_OPTIONS};
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, common_options};
use tumit_viewer::query::{ContainerId, PajeTypeKind, TypeId, TypeModel};

use super::cards::CardsRequest;
use super::{AppState, FilteredTrace, JsonAnswer, RequestError, run};
use crate::caches::filtered_cache::TraceCache;

/// Maximum number of suggested names of units. A longer list is of no help.
const MAX_UNITS: usize = 1000;
/// Maximum number of containers with the container above them, so that an answer stays small.
const MAX_PARENTS: usize = 4096;

/// All views by group, with those of the user, the options, and values of the options that are
/// names of the trace.
pub(crate) async fn views(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    let answer = run(app, move |app, cancel| {
        let cache = app.trace(request.trace)?;
        let trace = cache.filtered_trace(&request.filters)?;
        let model = trace.source.model();
        let units = trace.executions.with(&ExecutionSettings::default(), cancel, |execution| {
            let names = execution.units().list().iter().take(MAX_UNITS).map(|unit| unit.name.clone());
            Ok(names.collect::<Vec<_>>())
        });
        let mut infos: Vec<ViewInfo<'_>> = gallery::views().map(PerspectiveView::info).collect();
        infos.extend(DiagramMode::ALL.iter().map(|mode| mode.info()));
        infos.sort_by_key(|info| info.group);
        let mut views: Vec<Value> = infos.iter().map(view_json).collect();
        views.extend(own_views(app, cache));
        Ok::<_, RequestError>(json!({
            "groups": ViewGroup::NAMES.map(|(name, _)| name),
            "views": views,
            "removed": removed_cards(app),
            "options": EXECUTION_OPTIONS.iter().chain(&DRAWING_OPTIONS).chain(&VIEW_OPTIONS).map(option_json).collect::<Vec<_>>(),
            "of_all": EXECUTION_OPTIONS.iter().chain(&DRAWING_OPTIONS).map(|option| option.name).collect::<Vec<_>>(),
            "layouts": app.layouts.of_model(&model).names(),
            "parents": parents(&trace),
            "names": {
                "level": type_names(&model, PajeTypeKind::Container),
                "states": type_names(&model, PajeTypeKind::State),
                "tasks": type_names(&model, PajeTypeKind::State),
                "unit": units.unwrap_or_default(),
                "layout": gallery::layouts().collect::<Vec<_>>(),
            },
        }))
    });
    answer.await.map(Json)
}

/// The containers, each with the one above it, by which the page recognizes units in groups.
fn parents(trace: &FilteredTrace) -> Vec<(u32, u32)> {
    let containers = trace.source.containers();
    let below_root = containers.iter().filter(|info| info.parent != ContainerId::ROOT && info.id != ContainerId::ROOT);
    below_root.take(MAX_PARENTS).map(|info| (info.id.0, info.parent.0)).collect()
}

fn view_json(info: &ViewInfo<'_>) -> Value {
    json!({
        "name": info.name,
        "number": info.number,
        "title": info.title,
        "group": info.group.name(),
        "summary": info.summary,
        "needs": info.required_data,
        "modes": info.modes.iter().map(|mode| mode.word()).collect::<Vec<_>>(),
        "options": info.options,
        // The options of all views that have an effect on this one.
        "common": common_options(info).map(|option| option.name).collect::<Vec<_>>(),
        // A diagram covers the whole time range and does not change with the time cursor.
        "is_diagram": DiagramMode::of_name(info.name).is_some(),
    })
}

/// The views of users for the gallery. A file with a mistake has the name of the file as its title;
/// the drawing of its card has the mistake.
fn own_views(app: &AppState, trace: &TraceCache) -> Vec<Value> {
    let own_views = &app.own_views;
    let mut list: Vec<Value> = own_views.views.iter().map(|view| view_json(&view.info())).collect();
    for file in own_views.files(trace.trace.path.as_deref()) {
        let mut json = own_views.card(&file.path).map_or_else(|_| faulty_card(&file), |view| view_json(&view.info()));
        json["file"] = json!(file.file_name());
        json["is_removable"] = json!(own_views.is_removable(&file));
        list.push(json);
    }
    list
}

/// The description of a card file with a mistake.
fn faulty_card(file: &FoundCard) -> Value {
    json!({
        "name": file.name,
        "number": null,
        "title": file.file_name(),
        "group": ViewGroup::User.name(),
        "summary": "",
        "needs": "",
        "modes": [TimeMode::Range.word()],
        "options": [],
        "common": [],
        "is_diagram": false,
    })
}

/// The names and titles of removed card files.
fn removed_cards(app: &AppState) -> Vec<Value> {
    let own_views = &app.own_views;
    let json = |file: &FoundCard| {
        let title = own_views.card(&file.path).map_or_else(|_| file.file_name(), |view| view.info().title.to_owned());
        json!({ "name": file.name, "title": title })
    };
    own_views.removed_cards().iter().map(json).collect()
}

/// An option, with its words and their titles. It is free if it also accepts other values.
fn option_json(option: &OptionInfo) -> Value {
    let parts: Vec<&str> = option.forms.split(", ").flat_map(|part| part.split(" or ")).collect();
    let parts = parts.into_iter().map(|part| part.trim().trim_start_matches("or "));
    let is_word = |part: &&str| !part.is_empty() && !part.contains(|c: char| c.is_uppercase() || c == ' ');
    // Files are options of the command only.
    let is_free = option.forms.contains(|c: char| c.is_uppercase());
    let words: Vec<&str> = parts.filter(is_word).collect();
    // The words of layouts are names in the list, because users add others.
    let layouts = gallery::layouts().filter(|_| option.name == "layout");
    let titles: BTreeMap<&str, String> =
        words.iter().copied().chain(layouts).map(|word| (word, value_title(option.name, word))).collect();
    json!({
        "name": option.name,
        "forms": option.forms,
        "help": option.help,
        "words": words,
        "titles": titles,
        "default": default_title(option.name),
        "is_free": is_free,
    })
}

fn type_names(model: &TypeModel, kind: PajeTypeKind) -> Vec<&str> {
    let types = model.types.iter().filter(|ty| ty.id != TypeId::ROOT && ty.kind == kind);
    let mut names: Vec<&str> = types.map(|ty| ty.name.as_str()).collect();
    names.dedup();
    names
}
