//! The cards of the dock: the drawings of views at one time. One request answers all visible cards.

mod card_drawing;
mod card_error;
mod card_request;
mod card_view_choice;
mod chart_table_json;
mod computed_view;
mod concurrency_times;
mod diagnosis_report;
mod diagram_marks;
mod flat_items;
mod marked_messages;
mod region_message;
mod scene_changes;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::json;
use tumit_paje::category::ActivityCategory;

use super::selected_rows::SelectedRows;
use super::{AppState, JsonAnswer, RequestError, run};
use card_drawing::CardDrawing;
pub(crate) use card_error::CardError;
use card_request::Card;
pub(crate) use card_request::CardsRequest;
use card_view_choice::ChoiceOfViews;
use computed_view::{CardContext, with_execution, with_request};
pub(crate) use diagnosis_report::diagnosis;
use marked_messages::MarkedMessages;

/// Maximum number of cards of a request: all views.
const MAX_CARDS: usize = 64;

/// The drawings of all cards at one time.
type CardDrawings = Vec<Result<CardDrawing, CardError>>;

/// Draws the cards, at the time cursor and at later ones.
///
/// The answer is the length of a JSON text in four bytes, little-endian, the text, and the byte
/// sections of all drawings. The text is `{"cards": […], "later": [[…]…]}`. Each list of `later`
/// has the cards at one of the later times. A card is one of
/// - `{"hash", "top", "about": {"subtitle", "notes"}, "scene"}`: a drawing as in `scene/wire.rs`,
///   without its first `top` units;
/// - `{"hash", "about", "table": {"columns", "rows", "all"}}`: its numbers;
/// - `{"hash"}`: the page has the drawing, or it equals the drawing at the time before;
/// - `{"error", "remedy"}`.
///
/// A drawing also has `"marks": {"hash", "regions"}`, the places of its marks, unless the page has
/// them. `"text"` is the text of the mark that is pointed at. If `base` is true, the scene or the
/// regions are changes: of the drawing that the request names, or of that at the time before
/// (`scene_changes.rs`).
pub(crate) async fn cards(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
) -> Result<Response, RequestError> {
    let bytes = with_cards(app, request, |cards, context| {
        let mut cards = cards.to_vec();
        let mut draw = |time: i64| -> CardDrawings {
            let context = CardContext { time, ..context };
            let drawings: CardDrawings = cards.iter().map(|card| CardDrawing::new(card, context)).collect();
            for (card, drawing) in cards.iter_mut().zip(&drawings) {
                let known_drawing = drawing.as_ref().map(|drawing| (drawing.hash.clone(), drawing.marks.clone()));
                (card.hash, card.marks) = known_drawing.unwrap_or_default();
            }
            drawings
        };
        let present = draw(context.time);
        let later: Vec<CardDrawings> = context.request.later_times().into_iter().map(draw).collect();
        Ok(message(&present, &later))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "application/x-tumit-cards")], bytes).into_response())
}

/// The first card as a file, in the format `svg` or `csv`.
pub(crate) async fn card_file(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
) -> Result<Response, RequestError> {
    let (kind, bytes) = with_cards(app, request, |cards, context| {
        card_drawing::card_file(first_card(cards)?, context).map_err(|error| RequestError::of_client(error.text()))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}

/// The share of each part of the time range in which the number of units in a category is within
/// limits. The units are those of the first card.
pub(crate) async fn concurrency_times(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
) -> JsonAnswer {
    let answer = with_cards(app, request, |cards, context| {
        let CardContext { request, range, trace, .. } = context;
        let category = ActivityCategory::WORDS.iter().find(|(word, _)| *word == request.category);
        let (_, category) = category
            .ok_or_else(|| RequestError::of_client(format!("`{}` is no category of states", request.category)))?;
        let shares = with_execution(first_card(cards)?, context, |execution| {
            let counts = execution.activity()?.counts();
            Ok(concurrency_times::shares(counts, range, *category, (request.minimum, request.maximum)))
        });
        let shares = shares.map_err(|error| RequestError::of_client(error.text()))?;
        let time = |time: i64| time.saturating_sub(trace.origin);
        Ok(json!({ "from": time(range.from.0), "to": time(range.to.0), "shares": shares }))
    });
    answer.await.map(Json)
}

/// The messages that a mark of the first card stands for, as arrows of the diagram.
pub(crate) async fn card_messages(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    let answer = with_cards(app, request, |cards, context| {
        let marked = MarkedMessages::parse(context.request);
        let arrows = with_request(first_card(cards)?, context, |execution, request| {
            marked.arrows(execution, request, context.trace.outline.as_ref())
        });
        let arrows = arrows.map_err(|error| RequestError::of_client(error.text()))?;
        Ok(json!({ "links": arrows.iter().map(|arrow| arrow.json(context.trace.origin)).collect::<Vec<_>>() }))
    });
    answer.await.map(Json)
}

/// A change of the layouts of a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LayoutEdit {
    /// Saves a layout: its name, and the container and the position of each unit.
    Put(String, Vec<(u32, f64, f64)>),
    Remove(String),
}

/// Saves or deletes a layout of a network. The names of units are those of the first card. The
/// answer is the list of all layouts.
pub(crate) async fn change_layouts(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
    Json(edit): Json<LayoutEdit>,
) -> JsonAnswer {
    let answer = with_cards(app, request, move |cards, context| {
        let change = match &edit {
            LayoutEdit::Put(name, places) => {
                let positions = with_execution(first_card(cards)?, context, |execution| {
                    let units = execution.units().list().iter().map(|unit| (unit.container.0, unit.name.as_str()));
                    let names: FxHashMap<u32, &str> = units.collect();
                    let named = |(unit, x, y): &(u32, f64, f64)| Some(((*names.get(unit)?).to_owned(), *x, *y));
                    Ok(places.iter().filter_map(named).collect::<Vec<_>>())
                });
                let positions = positions.map_err(|error| RequestError::of_client(error.text()))?;
                context.layouts.write(name, &positions)
            }
            LayoutEdit::Remove(name) => context.layouts.remove(name),
        };
        change.map_err(|error| RequestError(StatusCode::CONFLICT, error.to_string()))?;
        Ok(json!({ "layouts": context.layouts.names() }))
    });
    answer.await.map(Json)
}

/// A layout as a file for `--option layout=FILE`.
pub(crate) async fn layout_file(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
) -> Result<Response, RequestError> {
    let text = with_cards(app, request, |_, context| {
        let text = context.layouts.text(&context.request.name);
        text.map_err(|error| RequestError(StatusCode::NOT_FOUND, error.to_string()))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

fn first_card(cards: &[Card]) -> Result<&Card, RequestError> {
    cards.first().ok_or_else(|| RequestError::of_client("the request has no card".to_owned()))
}

/// Computes an answer about the cards of a request.
async fn with_cards<T: Send + 'static>(
    app: Arc<AppState>,
    request: CardsRequest,
    work: impl FnOnce(&[Card], CardContext<'_>) -> Result<T, RequestError> + Send + 'static,
) -> Result<T, RequestError> {
    let cards: Vec<Card> = serde_json::from_str(&request.cards)
        .map_err(|error| RequestError::of_client(format!("the cards are no list of cards: {error}")))?;
    if cards.len() > MAX_CARDS {
        return Err(RequestError::of_client(format!("a request has at most {MAX_CARDS} cards")));
    }
    run(app, move |app, cancel| {
        let cache = app.trace(request.trace)?;
        let trace = cache.filtered_trace(&request.filters)?;
        let model = trace.source.model();
        let (rules, layouts) = (request.category_rules(&model), app.layouts.of_model(&model));
        let (range, time) = (request.time_range(&trace), request.t);
        let selected_containers = request.units.parse::<SelectedRows>()?.topmost_containers(&trace.source.containers());
        let own_views = ChoiceOfViews { own_views: &app.own_views, path: cache.trace.path.as_deref() };
        let (trace, request) = (trace.as_ref(), &request);
        let (rules, layouts, selected_containers) = (&rules, &layouts, &selected_containers);
        work(
            &cards,
            CardContext {
                trace,
                request,
                range,
                time,
                rules,
                layouts,
                selected_containers,
                own_views,
                sent_drawings: &app.sent_drawings,
                cancel,
            },
        )
    })
    .await
}

/// The bytes of an answer.
fn message(present: &CardDrawings, later_drawings: &[CardDrawings]) -> Vec<u8> {
    let (mut text, mut sections) = (br#"{"cards":"#.to_vec(), Vec::new());
    add_cards(present, &mut text, &mut sections);
    for (index, drawings) in later_drawings.iter().enumerate() {
        text.extend_from_slice(if index == 0 { br#","later":["# } else { b"," });
        add_cards(drawings, &mut text, &mut sections);
    }
    text.extend_from_slice(if later_drawings.is_empty() { b"}" } else { b"]}" });
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..], &text, &sections].concat()
}

/// Appends a list of cards to the text and the sections of an answer.
fn add_cards(drawings: &CardDrawings, text: &mut Vec<u8>, sections: &mut Vec<u8>) {
    text.push(b'[');
    for (index, drawing) in drawings.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        match drawing {
            Ok(drawing) => {
                text.extend_from_slice(&drawing.json);
                sections.extend_from_slice(&drawing.sections);
            }
            Err(error) => text.extend_from_slice(error.json().to_string().as_bytes()),
        }
    }
    text.push(b']');
}
