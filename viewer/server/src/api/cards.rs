//! The cards of the dock: the drawings of views at one time. One request answers all visible cards.

mod card_drawing;
mod card_error;
mod card_request;
mod flat_items;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::selected_rows::SelectedRows;
use super::{AppState, RequestError, run};
use card_drawing::{CardContext, CardDrawing};
pub(crate) use card_error::CardError;
use card_request::Card;
pub(crate) use card_request::CardsRequest;

/// Maximum number of cards of a request: all views.
const MOST_CARDS: usize = 64;

/// Draws the cards.
///
/// The answer is the length of a JSON text in four bytes, little-endian, the text, and the byte
/// sections of all drawings. The text is `{"cards": […]}`. A card is one of
/// - `{"hash", "top", "about": {"subtitle", "notes"}, "scene"}`: a drawing as in `scene/wire.rs`,
///   without its first `top` units;
/// - `{"hash"}`: the page has the drawing;
/// - `{"error", "remedy"}`.
pub(crate) async fn cards(
    State(app): State<Arc<AppState>>,
    Query(request): Query<CardsRequest>,
) -> Result<Response, RequestError> {
    let bytes = with_cards(app, request, |cards, context| {
        Ok(message(&cards.iter().map(|card| CardDrawing::new(card, context)).collect::<Vec<_>>()))
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
        let card = cards.first().ok_or_else(|| RequestError::of_client("the request has no card".to_owned()))?;
        card_drawing::card_file(card, context).map_err(|error| RequestError::of_client(error.text()))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}

/// Computes an answer about the cards of a request.
async fn with_cards<T: Send + 'static>(
    app: Arc<AppState>,
    request: CardsRequest,
    work: impl FnOnce(&[Card], CardContext<'_>) -> Result<T, RequestError> + Send + 'static,
) -> Result<T, RequestError> {
    let cards: Vec<Card> = serde_json::from_str(&request.cards)
        .map_err(|error| RequestError::of_client(format!("the cards are no list of cards: {error}")))?;
    if cards.len() > MOST_CARDS {
        return Err(RequestError::of_client(format!("a request has at most {MOST_CARDS} cards")));
    }
    run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?.filtered_trace(&request.filters)?;
        let rules = request.category_rules(&trace.source.model());
        let range = request.time_range(&trace);
        let within = request.units.parse::<SelectedRows>()?.topmost(&trace.source.containers());
        let (trace, request, rules, within) = (&trace, &request, &rules, &within);
        work(&cards, CardContext { trace, request, range, rules, within, cancel })
    })
    .await
}

/// The bytes of an answer.
fn message(drawings: &[Result<CardDrawing, CardError>]) -> Vec<u8> {
    let (mut text, mut sections) = (br#"{"cards":["#.to_vec(), Vec::new());
    for (at, drawing) in drawings.iter().enumerate() {
        if at > 0 {
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
    text.extend_from_slice(b"]}");
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..], &text, &sections].concat()
}
