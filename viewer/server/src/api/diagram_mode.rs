//! The modes of the diagram: the shown trace with other colours, or with the critical path.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::json;
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::layout::ContainerOutline;
use tumit_viewer::query::{GlobalNanos, TimeRange, TimelineSource};

use super::cards::CardError;
use super::{AppState, DrawRequest, FilteredTrace, JsonAnswer, RequestError, run};
use crate::caches::keyed_cache::KeyedCache;
use crate::cancellation::CancelFlag;
use crate::user_data::model_categories::{AssignedCategory, category_rules};

/// A mode of the diagram, as in the parameter `mode` of a request.
#[derive(Debug, Deserialize)]
struct ModeRequest {
    /// The name of the view.
    name: String,
    /// The options of all views.
    #[serde(default)]
    options: BTreeMap<String, String>,
    /// Categories that the user assigned.
    #[serde(default)]
    categories: Vec<AssignedCategory>,
    /// The time range of the critical path. Without it, the whole trace.
    #[serde(default)]
    range: Option<(i64, i64)>,
}

impl AppState {
    /// The trace that the page shows: after the filters of a request, and in its mode.
    pub(crate) fn shown_trace(
        &self,
        request: &DrawRequest,
        cancel: &CancelFlag,
    ) -> Result<FilteredTrace, RequestError> {
        let filtered = self.trace(request.trace)?.filtered_trace(&request.filters)?;
        Ok(filtered.in_mode(&request.mode, cancel)?.with_cancellation(cancel))
    }
}

impl FilteredTrace {
    /// The trace in a mode of the diagram. Without one, the trace itself.
    fn in_mode(self: Arc<Self>, mode: &str, cancel: &CancelFlag) -> Result<Arc<Self>, RequestError> {
        if mode.is_empty() {
            return Ok(self);
        }
        self.modes.get(mode, || self.new_mode(mode, cancel))
    }

    fn new_mode(&self, mode: &str, cancel: &CancelFlag) -> Result<Self, RequestError> {
        let request: ModeRequest = serde_json::from_str(mode)
            .map_err(|error| RequestError::of_client(format!("the mode of the diagram is no mode: {error}")))?;
        let source = self.mode_source(&request, cancel).map_err(|error| RequestError::of_client(error.text()))?;
        let outline = Arc::new(ContainerOutline::new(source.as_ref())?);
        Ok(Self {
            source,
            outline,
            origin: self.origin,
            problems: self.problems.clone(),
            executions: Arc::clone(&self.executions),
            // A mode has no modes. A shared cache would own itself.
            modes: Arc::new(KeyedCache::new(0)),
        })
    }

    fn mode_source(&self, request: &ModeRequest, cancel: &CancelFlag) -> Result<Arc<dyn TimelineSource>, CardError> {
        let mode = DiagramMode::of_name(&request.name).ok_or_else(|| {
            let names = DiagramMode::ALL.map(|mode| mode.info().name).join(", ");
            CardError::new(format!("`{}` is no mode of the diagram.", request.name), format!("The modes are {names}."))
        })?;
        let options: Vec<_> = request.options.clone().into_iter().collect();
        let options = mode.info().parse_options(&options)?;
        let (mut settings, palette) = (options.execution, options.view.palette);
        settings.categories = category_rules(&request.categories, &self.source.model());
        let range = self.mode_range(request.range);
        let diagram = |units: &Execution, rows: &Execution| mode.with_mode(&self.source, (units, rows), range, palette);
        let executions = &self.executions;
        let level = executions.with(&settings, cancel, |units| Ok(mode.row_level(units)))?;
        let Some(level) = level.filter(|_| settings.units.level.is_none()) else {
            return Ok(executions.with(&settings, cancel, |units| diagram(units, units))?);
        };
        let mut of_rows: ExecutionSettings = settings.clone();
        of_rows.units.level = Some(level);
        Ok(executions
            .with(&settings, cancel, |units| executions.with(&of_rows, cancel, |rows| diagram(units, rows)))?)
    }

    /// The time range of the critical path.
    fn mode_range(&self, range: Option<(i64, i64)>) -> TimeRange {
        let extent = self.source.extent();
        let time = |time: i64| GlobalNanos(self.origin.saturating_add(time));
        let inside =
            range.map(|(from, to)| TimeRange { from: time(from).max(extent.from), to: time(to).min(extent.to) });
        inside.filter(|range| range.from < range.to).unwrap_or(extent)
    }
}

/// Prepares a mode of the diagram. The answer has the numbers of types and values of the trace
/// itself: those of the mode are larger. A trace without the data of the mode is no failure: the
/// answer has the reason.
pub(crate) async fn diagram_mode(State(app): State<Arc<AppState>>, Query(request): Query<DrawRequest>) -> JsonAnswer {
    let answer = run(app, move |app, cancel| {
        let model = app.trace(request.trace)?.filtered_trace(&request.filters)?.source.model();
        app.shown_trace(&request, cancel)?;
        Ok(json!({ "types": model.types.len(), "values": model.values.len() }))
    });
    answer.await.or_else(RequestError::into_reason).map(Json)
}
