//! The cards of the dock: the drawings of views at one time. One request answers all visible cards.

mod card_drawing;
mod card_error;
mod flat_items;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tumit_paje::category::ActivityCategory;
use tumit_perspectives::categories::CategoryRule;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{TimeRange, TypeModel};
use tumit_viewer::style::theme::ThemeKind;

use super::{AppState, DrawRequest, RequestError, run};
use crate::filtered_cache::FilteredTrace;
use card_drawing::CardDrawing;
pub(crate) use card_error::CardError;

/// Maximum number of cards of a request: all views.
const MOST_CARDS: usize = 64;

/// The parameters of a request for cards or for the next event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CardsRequest {
    /// Index of the trace.
    pub(crate) trace: usize,
    /// Expressions of the filters that are on, as a JSON list.
    pub(crate) filters: String,
    /// The present time.
    pub(crate) t: i64,
    from: i64,
    to: i64,
    theme: ThemeKind,
    /// Pixels per unit.
    resolution: f32,
    /// The cards, as a JSON list of [`Card`].
    cards: String,
    /// Categories that the user assigned: a JSON list of `[value, category]`.
    categories: String,
    /// For `next_event`: negative for the previous event.
    pub(crate) direction: i32,
}

/// A card.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Card {
    /// The name of the view.
    name: String,
    /// The word of the time mode. By default, the first mode of the view.
    #[serde(default)]
    mode: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    width: f32,
    height: f32,
    /// The hash of the drawing that the page has. An equal drawing is not sent again.
    #[serde(default)]
    hash: String,
}

impl CardsRequest {
    /// The time range within a trace. Without a time range, the whole trace.
    fn time_range(&self, trace: &FilteredTrace) -> TimeRange {
        let extent = trace.source.extent();
        let request = DrawRequest { from: self.from, to: self.to, ..DrawRequest::default() };
        let Ok(range) = request.time_range(trace) else { return extent };
        let inside = TimeRange { from: range.from.max(extent.from), to: range.to.min(extent.to) };
        if inside.from < inside.to { inside } else { extent }
    }

    /// The categories that the user assigned.
    pub(crate) fn category_rules(&self, model: &TypeModel) -> Vec<CategoryRule> {
        let list: Vec<(usize, String)> = serde_json::from_str(&self.categories).unwrap_or_default();
        let rule = |(value, word): (usize, String)| {
            let (_, category) = ActivityCategory::WORDS.iter().find(|(known, _)| *known == word)?;
            let value = model.values.get(value)?;
            let of = model.types.get(value.ty.index()).map(|ty| NamePattern::new(ty.name.clone()));
            Some(CategoryRule { category: *category, values: NamePattern::new(value.name.clone()), of })
        };
        list.into_iter().filter_map(rule).collect()
    }
}

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
    let cards: Vec<Card> = serde_json::from_str(&request.cards)
        .map_err(|error| RequestError::of_client(format!("the cards are no list of cards: {error}")))?;
    if cards.len() > MOST_CARDS {
        return Err(RequestError::of_client(format!("a request has at most {MOST_CARDS} cards")));
    }
    let bytes = run(app, move |app, cancel| {
        let trace = app.trace(request.trace)?.filtered_trace(&request.filters)?;
        let rules = request.category_rules(&trace.source.model());
        let range = request.time_range(&trace);
        let of_card = |card: &Card| CardDrawing::new(&trace, card, (&request, range, &rules), cancel);
        Ok(message(&cards.iter().map(of_card).collect::<Vec<_>>()))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "application/x-tumit-cards")], bytes).into_response())
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

impl Card {
    /// The options of the card as names and values.
    fn options(&self) -> Result<Vec<(String, String)>, CardError> {
        // In commands, some options may also be the path of a file.
        let names_file = |name: &str, value: &str| {
            matches!(name, "order" | "layout") && value.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        };
        let given = self.options.iter().filter(|(_, value)| !value.trim().is_empty());
        let pair = |(name, value): (&String, &String)| {
            let value = value.trim();
            if names_file(name, value) {
                return Err(CardError::new(
                    format!("`{value}` is not a value of the option `{name}`"),
                    "Files are available with `tumit view --perspective` only.",
                ));
            }
            Ok((name.clone(), value.to_owned()))
        };
        given.map(pair).collect()
    }
}
