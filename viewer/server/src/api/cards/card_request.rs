//! [`CardsRequest`]: the parameters of a request for cards.

use std::collections::BTreeMap;

use serde::Deserialize;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::query::{TimeRange, TypeModel};
use tumit_viewer::style::theme::ThemeKind;

use super::card_error::CardError;
use super::chart_table_json::TableRequest;
use crate::api::DrawRequest;
use crate::caches::filtered_cache::FilteredTrace;
use crate::user_data::model_categories::{AssignedCategory, category_rules};
use crate::user_data::model_layouts::ModelLayouts;

/// Maximum number of later times of a request: those of one second of play.
const MAX_LATER_TIMES: usize = 64;

/// The parameters of a request for cards or for the next change.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CardsRequest {
    /// Index of the trace.
    pub(crate) trace: usize,
    /// Expressions of the filters that are on, as a JSON list.
    pub(crate) filters: String,
    /// The time cursor.
    pub(crate) t: i64,
    from: i64,
    to: i64,
    pub(super) theme: ThemeKind,
    /// Pixels per scene unit.
    pub(super) resolution: f32,
    /// The cards, as a JSON list of [`Card`].
    pub(super) cards: String,
    /// The containers of the selection, as
    /// [`SelectedRows`](crate::api::selected_rows::SelectedRows). Only units in, around or below
    /// them are shown.
    pub(crate) units: String,
    /// Categories that the user assigned: a JSON list of `[value, category]`.
    categories: String,
    /// Later times in the direction of play, separated by commas.
    pub(super) later: String,
    /// For `card_file`: `svg` or `csv`.
    pub(super) format: String,
    /// For `layout_file`: the name of the layout.
    pub(super) name: String,
    /// For `concurrency_times`: the word of the category.
    pub(super) category: String,
    /// For `concurrency_times`: the smallest number of units.
    #[serde(rename = "least")]
    pub(super) minimum: i64,
    /// For `concurrency_times`: the largest number of units.
    #[serde(rename = "most")]
    pub(super) maximum: i64,
    /// For `card_messages`: the containers of the sending units, separated by commas. By default,
    /// all.
    pub(super) senders: String,
    /// For `card_messages`: the containers of the receiving units.
    pub(super) receivers: String,
    /// For `card_messages`: whether only messages are wanted that are pending at the time `t`.
    pub(super) is_pending: bool,
    /// For `diagnosis`: the questions of the user, as JSON.
    pub(super) question: String,
    /// For `next_event`: negative for the previous change.
    pub(crate) direction: i32,
    /// For `next_event`: whether only begins and ends of states are considered.
    pub(crate) changes_only: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Card {
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
    /// The hash of the places of marks that the page has. Equal ones are not sent again.
    #[serde(default)]
    pub(super) marks: String,
    /// The region and the mark whose text the page shows.
    #[serde(default)]
    pub(super) pointed: Option<(usize, usize)>,
    /// Whether the page shows the numbers instead of the drawing.
    #[serde(default)]
    pub(super) table: Option<TableRequest>,
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

    pub(super) fn later_times(&self) -> Vec<i64> {
        self.later.split(',').filter_map(|time| time.parse().ok()).take(MAX_LATER_TIMES).collect()
    }

    /// The categories that the user assigned.
    pub(crate) fn category_rules(&self, model: &TypeModel) -> Vec<CategoryRule> {
        let assigned: Vec<AssignedCategory> = serde_json::from_str(&self.categories).unwrap_or_default();
        category_rules(&assigned, model)
    }
}

impl Card {
    /// The size in scene units, within the limits of drawings.
    pub(super) fn bounded_size(&self) -> (f32, f32) {
        let bounded = |length: f32| if length.is_finite() { length.clamp(120.0, 4096.0) } else { 320.0 };
        (bounded(self.width), bounded(self.height))
    }

    /// The options of the card as names and values. The name of a saved layout becomes the path of
    /// its file.
    pub(super) fn options(&self, layouts: &ModelLayouts) -> Result<Vec<(String, String)>, CardError> {
        // In commands, some options may also be the path of a file.
        let names_file = |name: &str, value: &str| {
            matches!(name, "order" | "layout") && value.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        };
        let options = self.options.iter().filter(|(_, value)| !value.trim().is_empty());
        let pair = |(name, value): (&String, &String)| {
            let value = value.trim();
            if let Some(path) = Some(value).filter(|_| name == "layout").and_then(|layout| layouts.path(layout)) {
                return Ok((name.clone(), path.to_string_lossy().into_owned()));
            }
            if names_file(name, value) {
                return Err(CardError::new(
                    format!("`{value}` is not a value of the option `{name}`"),
                    "Files are available with `tumit view --perspective` only.",
                ));
            }
            Ok((name.clone(), value.to_owned()))
        };
        options.map(pair).collect()
    }
}
