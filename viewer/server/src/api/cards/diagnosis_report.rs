//! The diagnosis of the dock: the report of `tumit diagnose` about the time range, the units and
//! the categories of the page.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use tumit_perspectives::analysis::diagnosis::{Diagnosis, phases};
use tumit_perspectives::analysis::path_shares::ShorterStates;
use tumit_perspectives::execution::Execution;
use tumit_perspectives::options::ParsedOptions;
use tumit_viewer::filter::NamePattern;

use super::{CardError, CardsRequest, first_card, with_cards};
use crate::api::{AppState, JsonAnswer, RequestError};

/// Maximum number of rows of each table of the page, the largest ones. The command lists all.
const MAX_ROWS: usize = 40;

/// The questions of the user.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiagnosisQuestion {
    /// The name of the values that are phases. Without it, there are none.
    phase: String,
    /// States that are assumed to take less time: names and percentages.
    what_if: Vec<(String, f64)>,
}

impl DiagnosisQuestion {
    fn changes(&self) -> Result<Vec<ShorterStates>, CardError> {
        let change = |(name, percent): &(String, f64)| {
            if !(0.0..=100.0).contains(percent) {
                return Err(CardError::new(format!("{percent} % is not between 0 and 100 %."), ""));
            }
            Ok(ShorterStates::new(NamePattern::new(name.trim()), *percent))
        };
        self.what_if.iter().map(change).collect()
    }
}

/// The report as JSON, or the reason why there is none. `units` has the container of each unit that
/// the report names.
pub(crate) async fn diagnosis(State(app): State<Arc<AppState>>, Query(request): Query<CardsRequest>) -> JsonAnswer {
    let question: DiagnosisQuestion = match request.question.as_str() {
        "" => DiagnosisQuestion::default(),
        text => serde_json::from_str(text)
            .map_err(|error| RequestError::of_client(format!("the question is no question: {error}")))?,
    };
    let answer = with_cards(app, request, move |cards, context| {
        let refusal = |error: CardError| RequestError::of_client(error.text());
        let changes = question.changes().map_err(refusal)?;
        let options = first_card(cards)?.options(context.layouts).map_err(refusal)?;
        let options = ParsedOptions::parse("diagnosis", &[], &options).map_err(|error| refusal(error.into()))?;
        let mut settings = options.execution;
        settings.categories = context.rules.to_vec();
        settings.units.containers = context.selected_containers.to_vec();
        let range = context.range;
        let path = context.own_views.path.map(|path| path.display().to_string());
        let report = context.trace.executions.with(&settings, context.cancel, |execution| {
            let phases = match question.phase.trim() {
                "" => Vec::new(),
                name => phases(execution, name)?,
            };
            let diagnosis = Diagnosis::new(execution, range, &phases, &changes)?;
            Ok(report_json(diagnosis, execution, context.trace.origin).map(|json| with_path(json, path.as_deref())))
        });
        report.map_err(|error| refusal(error.into()))?
    });
    answer.await.or_else(RequestError::into_reason).map(axum::Json)
}

/// Adds the path of the trace, for the command that prints the report.
fn with_path(mut json: Value, path: Option<&str>) -> Value {
    json["path"] = json!(path);
    json
}

/// A report with at most [`MAX_ROWS`] rows per table.
fn report_json(mut diagnosis: Diagnosis, execution: &Execution, origin: i64) -> Result<Value, RequestError> {
    let rows = [diagnosis.waits.len(), diagnosis.path_values.len(), diagnosis.path_units.len()];
    diagnosis.waits.truncate(MAX_ROWS);
    diagnosis.path_values.truncate(MAX_ROWS);
    diagnosis.path_units.truncate(MAX_ROWS);
    diagnosis.phases.truncate(MAX_ROWS);
    count_from(&mut diagnosis, origin);
    let mut names: BTreeSet<&str> = diagnosis.path_units.iter().map(|share| share.name.as_str()).collect();
    for wait in &diagnosis.waits {
        names.insert(&wait.longest_wait.unit);
        names.extend([&wait.main_cause, &wait.main_waiter].into_iter().flatten().map(|unit| unit.unit.as_str()));
    }
    let units = execution.units().list().iter().filter(|unit| names.contains(unit.name.as_str()));
    let units: BTreeMap<&str, u32> = units.map(|unit| (unit.name.as_str(), unit.container.0)).collect();
    let containers: BTreeMap<&str, u32> = imbalance_containers(&diagnosis, execution);
    let report = serde_json::to_value(&diagnosis)
        .map_err(|error| RequestError::of_server(&format!("the report cannot be sent: {error}")))?;
    Ok(json!({
        "report": report,
        "rows": rows,
        "units": units,
        "containers": containers,
    }))
}

/// Counts all timestamps from the trace's first one, as the page does. JavaScript's numbers do not
/// represent larger ones.
fn count_from(diagnosis: &mut Diagnosis, origin: i64) {
    let own = [&mut diagnosis.from, &mut diagnosis.to].into_iter();
    let of_phases = diagnosis.phases.iter_mut().flat_map(|phase| [&mut phase.from, &mut phase.to]);
    let of_waits = diagnosis.waits.iter_mut().flat_map(|wait| {
        let range = &mut wait.longest_wait.range;
        [&mut range.from.0, &mut range.to.0]
    });
    own.chain(&mut diagnosis.path_end)
        .chain(of_phases)
        .chain(of_waits)
        .for_each(|time| *time = time.saturating_sub(origin));
}

/// The containers that the imbalances name. A name that several containers have is left out.
fn imbalance_containers<'a>(diagnosis: &'a Diagnosis, execution: &Execution) -> BTreeMap<&'a str, u32> {
    let list = execution.source().containers();
    let names = diagnosis.imbalances.iter().flat_map(|imbalance| [&imbalance.busiest, &imbalance.least_busy]);
    let found = names.filter_map(|name| {
        let mut same = list.iter().filter(|info| info.name == *name);
        same.next().filter(|_| same.next().is_none()).map(|info| (name.as_str(), info.id.0))
    });
    found.collect()
}
