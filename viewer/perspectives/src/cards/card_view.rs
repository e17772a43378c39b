//! [`CardView`]: the view that a card file defines.

use super::bar_chart;
use super::card_file::CardFile;
use super::card_panel::{CardPanel, PanelContents};
use super::element_chart;
use super::event_marks;
use super::level_chart::{self, PanelResult};
use super::panel_table::merge_tables;
use crate::chart::{LegendItem, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, ViewInfo, ViewRequest};
use crate::views::captions;

/// The view that a card file defines.
///
/// ```
/// use std::sync::Arc;
///
/// use tumit_perspectives::cards::{CardFile, CardView};
/// use tumit_perspectives::execution::{Execution, ExecutionSettings};
/// use tumit_perspectives::options::ViewOptions;
/// use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewRequest};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 4 T t\n";
/// # let trace = format!("{header}{body}");
/// let text = r#"
///     title = "Work"
///     [[panel]]
///     kind = "levels"
///     [[panel.series]]
///     of = "states"
///     value = "work"
/// "#;
/// let view = CardView::new(CardFile::parse("work.card.toml", text)?);
/// let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let execution = Execution::new(Arc::new(store), ExecutionSettings::default())?;
/// let range = execution.extent();
/// let options = ViewOptions::default();
/// let (mode, time, needs_table) = (TimeMode::Range, range.from, true);
/// let request = ViewRequest { mode, range, time, columns: 4, options, needs_table };
/// let chart = view.chart(&execution, &request)?;
/// // The thread works during the first two of four seconds.
/// assert_eq!(tumit_perspectives::chart_text::csv(&chart.table).lines().nth(2), Some("1,2,1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CardView {
    file: CardFile,
    options: Vec<&'static str>,
}

impl CardView {
    /// The view of a file.
    #[must_use]
    pub fn new(file: CardFile) -> Self {
        let options = file.options();
        Self { file, options }
    }

    /// The chart of a panel. A mistake in the names of a series has the line of the series.
    fn panel(
        &self,
        panel: &CardPanel,
        execution: &Execution,
        request: &ViewRequest,
    ) -> Result<PanelResult, PerspectiveError> {
        let axis = &panel.axis;
        let result = match &panel.contents {
            PanelContents::Levels { series, is_stacked } => {
                level_chart::chart(execution, request, axis, (series, *is_stacked))
            }
            PanelContents::Bars { series } => bar_chart::chart(execution, request, axis, series),
            PanelContents::Marks { events, horizontal_axis } => {
                event_marks::chart(execution, request, events, (horizontal_axis, axis))
            }
            PanelContents::Elements(elements) => element_chart::chart(execution, request, elements, axis),
        };
        result.map_err(|(line, error)| match error {
            error @ (PerspectiveError::NoMatch { .. } | PerspectiveError::TooManyEvents { .. }) => {
                PerspectiveError::File { path: format!("{}:{line}", self.file.file), problem: error.to_string() }
            }
            error => error,
        })
    }
}

impl PerspectiveView for CardView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: self.file.name(),
            number: None,
            title: self.file.title(),
            group: self.file.group,
            summary: &self.file.summary,
            required_data: "what the card file names",
            modes: &self.file.modes,
            options: &self.options,
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let mut chart = ViewChart {
            title: self.file.title().to_owned(),
            subtitle: captions::subtitle(&[captions::mode_caption(request), captions::order_caption(request)]),
            ..ViewChart::default()
        };
        let mut tables = Vec::new();
        for panel in &self.file.panels {
            let result = self.panel(panel, execution, request)?;
            tables.push((panel.title.clone(), result.table));
            chart.notes.extend(result.notes);
            add_legend(&mut chart.legend, result.legend);
            chart.panels.push(TitledPanel { title: panel.title.clone(), panel: result.panel });
        }
        chart.table = merge_tables(tables);
        Ok(chart)
    }
}

/// Adds the entries that the legend does not have.
fn add_legend(legend: &mut Vec<LegendItem>, items: Vec<LegendItem>) {
    for item in items {
        if !legend.contains(&item) {
            legend.push(item);
        }
    }
}
