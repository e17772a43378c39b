//! [`CardComputation`]: computes the chart of a card, or the trace of a diagram.

use std::sync::Arc;

use tumit_perspectives::chart::{ChartPanel, ViewChart};
use tumit_perspectives::diagram::DiagramRowsOfMode;
use tumit_perspectives::draw::PaletteKind;
use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::gallery;
use tumit_perspectives::options::ParsedOptions;
use tumit_perspectives::view::{TimeMode, ViewInfo, ViewRequest};
use tumit_viewer::query::{ContainerId, GlobalNanos, TimeRange};

use super::card_error::CardError;
use super::card_request::{Card, CardsRequest};
use super::card_view_choice::{CardViewKind, ChoiceOfViews};
use super::region_message::UnitContainers;
use crate::caches::filtered_cache::FilteredTrace;
use crate::caches::sent_drawings::SentDrawings;
use crate::cancellation::CancelFlag;
use crate::user_data::model_layouts::ModelLayouts;

/// Maximum number of rows of the numbers of a diagram, so that a long trace does not fill the
/// memory.
const MAX_ROWS: usize = 100_000;

/// What all cards of a request have in common.
#[derive(Clone, Copy)]
pub(super) struct CardContext<'a> {
    pub(super) trace: &'a FilteredTrace,
    pub(super) request: &'a CardsRequest,
    pub(super) range: TimeRange,
    /// The time cursor in nanoseconds after the trace's first timestamp.
    pub(super) time: i64,
    pub(super) rules: &'a [CategoryRule],
    pub(super) layouts: &'a ModelLayouts,
    /// The containers of the selection. If it is empty, all units are shown.
    pub(super) selected_containers: &'a [ContainerId],
    pub(super) own_views: ChoiceOfViews<'a>,
    /// The latest drawings that pages may have.
    pub(super) sent_drawings: &'a SentDrawings,
    pub(super) cancel: &'a CancelFlag,
}

pub(super) enum ComputedView {
    Chart(Box<ViewChart>, Arc<UnitContainers>),
    Diagram(ComputedDiagram, Arc<UnitContainers>),
}

/// A mode of the diagram with its visible time range.
pub(super) struct ComputedDiagram {
    pub(super) diagram: DiagramRowsOfMode,
    pub(super) range: TimeRange,
}

/// A view with the request that a card makes of it.
pub(super) struct CardComputation {
    view: CardViewKind,
    execution: ExecutionSettings,
    request: ViewRequest,
    /// The number of rows of a diagram for which the card has room.
    max_rows: usize,
}

impl CardComputation {
    pub(super) fn new(card: &Card, context: CardContext<'_>) -> Result<Self, CardError> {
        let CardContext { trace, request, range, .. } = context;
        let view = context.own_views.view(&card.name)?;
        let info = view.info();
        let mut options = parsed_options(card, &info, context)?;
        let mode = mode(&info, &card.mode)?;
        if mode == TimeMode::Moving && options.view.width.is_none() {
            options.view.width = Some(ViewRequest::usual_width(range));
        }
        let time = GlobalNanos(trace.origin.saturating_add(context.time));
        let columns = columns(card.bounded_size().0, request.resolution);
        let needs_table = card.table.is_some() || context.request.format == "csv";
        let request = ViewRequest { mode, range, time, columns, options: options.view, needs_table };
        let max_rows = max_rows(card.bounded_size().1);
        Ok(Self { view, execution: options.execution, request, max_rows })
    }

    pub(super) fn with_execution<T>(
        &self,
        context: CardContext<'_>,
        work: impl Fn(&Execution) -> Result<T, PerspectiveError>,
    ) -> Result<T, CardError> {
        Ok(context.trace.executions.with(&self.execution, context.cancel, work)?)
    }

    /// The chart, or the trace of the diagram.
    pub(super) fn compute(&self, execution: &Execution) -> Result<ComputedView, PerspectiveError> {
        let chart = match &self.view {
            CardViewKind::Diagram(mode) => {
                let units = unit_containers(execution, false)?;
                let range = self.request.visible_range();
                let diagram = mode.bundled_diagram(execution, range, &self.request.options, self.max_rows)?;
                return Ok(ComputedView::Diagram(ComputedDiagram { diagram, range }, units));
            }
            CardViewKind::Chart(view) => gallery::chart(*view, execution, &self.request)?,
            CardViewKind::Own(view) => gallery::chart(view.as_ref(), execution, &self.request)?,
        };
        let has_table = chart.panels.iter().any(|panel| matches!(panel.panel, ChartPanel::Table(_)));
        let units = unit_containers(execution, has_table)?;
        Ok(ComputedView::Chart(Box::new(chart), units))
    }

    /// The numbers of the view as a chart without panels, if it is a mode of the diagram.
    pub(super) fn diagram_numbers(&self, execution: &Execution) -> Result<Option<ViewChart>, PerspectiveError> {
        let CardViewKind::Diagram(mode) = &self.view else { return Ok(None) };
        mode.numbers(execution, &self.request, MAX_ROWS).map(Some)
    }

    pub(super) fn palette(&self) -> PaletteKind {
        self.request.options.palette
    }

    /// The part of the request that determines the contents, if they may be the same at all times.
    /// The files of views and layouts may change.
    pub(super) fn constant_key(&self) -> Option<String> {
        let ViewRequest { mode, range, columns, options, time: _, needs_table: _ } = &self.request;
        let is_constant = match self.view {
            CardViewKind::Chart(_) => *mode == TimeMode::Range && options.layout.is_none(),
            CardViewKind::Diagram(_) => *mode == TimeMode::Range,
            CardViewKind::Own(_) => false,
        };
        is_constant.then(|| format!("{} {range:?} {columns} {options:?}", self.view.info().name))
    }
}

/// Computes an answer from the execution and the request of a card.
pub(super) fn with_request<T>(
    card: &Card,
    context: CardContext<'_>,
    work: impl Fn(&Execution, &ViewRequest) -> Result<T, PerspectiveError>,
) -> Result<T, CardError> {
    let computation = CardComputation::new(card, context)?;
    computation.with_execution(context, |execution| work(execution, &computation.request))
}

pub(super) fn with_execution<T>(
    card: &Card,
    context: CardContext<'_>,
    work: impl Fn(&Execution) -> Result<T, PerspectiveError>,
) -> Result<T, CardError> {
    with_request(card, context, |execution, _| work(execution))
}

fn parsed_options(card: &Card, info: &ViewInfo<'_>, context: CardContext<'_>) -> Result<ParsedOptions, CardError> {
    let mut options = info.parse_options(&card.options(context.layouts)?)?;
    options.execution.categories = context.rules.to_vec();
    options.execution.units.containers = context.selected_containers.to_vec();
    Ok(options)
}

/// The containers of the units. Only a table needs their names.
fn unit_containers(execution: &Execution, has_table: bool) -> Result<Arc<UnitContainers>, PerspectiveError> {
    execution.derived(&format!("containers {has_table}"), || {
        let units = execution.units().list();
        let named = units.iter().filter(|_| has_table).map(|unit| unit.name.clone()).zip(0..);
        let containers = units.iter().map(|unit| unit.container.0).collect();
        Ok(UnitContainers { containers, by_name: named.collect() })
    })
}

/// The time mode of a word. By default, the first mode of the view.
fn mode(info: &ViewInfo<'_>, word: &str) -> Result<TimeMode, CardError> {
    let default = info.modes.first().copied().unwrap_or(TimeMode::Range);
    if word.is_empty() {
        return Ok(default);
    }
    info.modes.iter().copied().find(|mode| mode.word() == word).ok_or_else(|| {
        let words: Vec<&str> = info.modes.iter().map(|mode| mode.word()).collect();
        let reason = format!("The view has no time mode `{word}`.");
        CardError::new(reason, format!("Choose one of {}.", words.join(", ")))
    })
}

/// The number of rows of a diagram for which a card of a height has room, so that each is at least
/// two scene units high. The ruler and the legend need some of the height.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn max_rows(height: f32) -> usize {
    ((height - 120.0) / 2.0).clamp(16.0, 512.0) as usize
}

/// The number of columns of charts over time. The axis and the margins need some of the width.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn columns(width: f32, resolution: f32) -> u32 {
    ((width - 80.0) * resolution.clamp(1.0, 2.0)).max(1.0) as u32
}
