//! [`CommunicationMatrixView`] (G10): the messages or bytes of each pair of units.

use crate::chart::{ChartAxis, ChartMatrixCell, ChartPanel, MatrixChart, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::UnitMessages;
use crate::message_scale::MessageScale;
use crate::options::{CollectiveChoice, MessageColor, MessageMeasure};
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::communication::collective_transfers::CollectiveTransfers;
use crate::views::measured_messages::{MeasuredMessages, SumsByPair, number};
use crate::views::unit_bundles::UnitBundles;

/// Maximum number of rows. Cells of more rows would be smaller than about three pixels.
const MAX_ROWS: usize = 256;

/// The messages or bytes from each unit to each other: those that are pending at a time, or those
/// that are sent in a time range.
pub(crate) struct CommunicationMatrixView;

impl PerspectiveView for CommunicationMatrixView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "communication-matrix",
            number: Some(10),
            title: "Communication matrix",
            group: ViewGroup::Communication,
            summary: "Messages or bytes from each unit to each other. Rows send, columns receive.",
            required_data: "links between units",
            modes: &[TimeMode::At, TimeMode::Range, TimeMode::Moving],
            options: &["measure", "order", "color", "bins", "topology", "width", "collectives"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let choice = request.options.collectives;
        let no_messages = UnitMessages::without_links(execution.units());
        let measured = measured_messages(execution, request, &no_messages)?;
        let bundles = UnitBundles::new(execution, request, MAX_ROWS)?;
        let (sums, transfer_notes) = pair_sums(execution, request, &measured, |unit| bundles.bundle(unit))?;
        let is_by_size = request.options.color == MessageColor::Size;
        let sizes = match choice {
            CollectiveChoice::Omit => measured.visible_sizes(request, &sums),
            _ => sums.values().map(|sum| sum.bytes).collect(),
        };
        // Numbers of messages have the scale of the chart.
        let scale = match measured.measure {
            MessageMeasure::Messages if is_by_size => None,
            _ => MessageScale::new(&request.options, execution.units().count(), sizes)?,
        };
        let mut cells: Vec<ChartMatrixCell> = Vec::with_capacity(sums.len());
        for ((row, column), sum) in &sums {
            let value = measured.value(*sum);
            if value > 0 {
                // Of several units, the first one determines distances.
                let pair = (bundles.first_unit(*row as usize), bundles.first_unit(*column as usize));
                let paint = scale.map(|scale| scale.paint(pair, sum.bytes));
                cells.push(ChartMatrixCell { row: *row, column: *column, value: number(value), paint });
            }
        }
        let largest = sums.values().map(|sum| measured.value(*sum)).max().unwrap_or(0);
        let labels = bundles.labels(execution);
        let happens = if request.mode == TimeMode::At { "pending" } else { "sent" };
        let axis = ChartAxis::new(format!("{happens} {}", measured.word()), measured.axis_unit(), number(largest));
        let matrix = MatrixChart {
            row_heading: "sender".to_owned(),
            column_heading: "receiver".to_owned(),
            rows: labels.clone(),
            columns: labels.clone(),
            times: None,
            units_per_cell: bundles.size(),
            axis,
            cells,
            unit_lists: bundles.lists(),
        };
        let mut notes = measured.notes();
        notes.extend(transfer_notes);
        notes.extend(bundles.note(execution, "Each row and column is the sum of up to"));
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::mode_caption(request),
                format!("{happens} {}", measured.word()),
                scale.map_or_else(String::new, |scale| scale.caption(&request.options)),
                captions::order_caption(request),
            ]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Matrix(matrix) }],
            legend: scale.map(|scale| scale.legend()).unwrap_or_default(),
            table: measured.table(&sums, |bundle| labels[bundle as usize].clone()),
            notes,
        })
    }
}

/// The messages of the trace. `empty_messages` replaces them if the view shows only collective
/// operations.
fn measured_messages<'a>(
    execution: &'a Execution,
    request: &ViewRequest,
    empty_messages: &'a UnitMessages,
) -> Result<MeasuredMessages<'a>, PerspectiveError> {
    match MeasuredMessages::new(execution, request, true) {
        Err(PerspectiveError::NoData { .. }) if request.options.collectives != CollectiveChoice::Omit => {
            let measure = request.options.measure.unwrap_or(MessageMeasure::Messages);
            Ok(MeasuredMessages { messages: empty_messages, measure })
        }
        measured => measured,
    }
}

/// The sums of the visible messages and of the chosen collective operations, by pair, with notes.
fn pair_sums(
    execution: &Execution,
    request: &ViewRequest,
    messages: &MeasuredMessages<'_>,
    node: impl Fn(u32) -> u32,
) -> Result<(SumsByPair, Vec<String>), PerspectiveError> {
    let choice = request.options.collectives;
    let mut sums = match choice {
        CollectiveChoice::Only => SumsByPair::new(),
        _ => messages.sums_by_pair(execution, request, &node),
    };
    if choice == CollectiveChoice::Omit {
        return Ok((sums, Vec::new()));
    }
    let transfers = CollectiveTransfers::new(execution, request, &node)?;
    let notes = transfers.notes();
    transfers.sums.into_iter().for_each(|(pair, sum)| sums.entry(pair).or_default().combine(sum));
    Ok((sums, notes))
}
