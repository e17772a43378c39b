//! [`CardsRequest`]: the parameters of a request for cards.

use std::collections::BTreeMap;

use serde::Deserialize;
use tumit_paje::category::ActivityCategory;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{TimeRange, TypeModel};
use tumit_viewer::style::theme::ThemeKind;

use super::card_error::CardError;
use crate::api::DrawRequest;
use crate::filtered_cache::FilteredTrace;

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
    pub(super) theme: ThemeKind,
    /// Pixels per unit.
    pub(super) resolution: f32,
    /// The cards, as a JSON list of [`Card`].
    pub(super) cards: String,
    /// The containers of the selection, as [`SelectedRows`](crate::api::selected_rows::SelectedRows).
    /// Only units in, around or below them are shown.
    pub(crate) units: String,
    /// Categories that the user assigned: a JSON list of `[value, category]`.
    categories: String,
    /// For `card_file`: `svg` or `csv`.
    pub(super) format: String,
    /// For `next_event`: negative for the previous event.
    pub(crate) direction: i32,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Card {
    /// The name of the view.
    pub(super) name: String,
    /// The word of the time mode. By default, the first mode of the view.
    #[serde(default)]
    pub(super) mode: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    pub(super) width: f32,
    pub(super) height: f32,
    /// The hash of the drawing that the page has. An equal drawing is not sent again.
    #[serde(default)]
    pub(super) hash: String,
}

impl CardsRequest {
    /// The time range within a trace. Without a time range, the whole trace.
    pub(super) fn time_range(&self, trace: &FilteredTrace) -> TimeRange {
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

impl Card {
    /// The options of the card as names and values.
    pub(super) fn options(&self) -> Result<Vec<(String, String)>, CardError> {
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
