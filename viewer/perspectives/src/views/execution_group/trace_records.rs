//! [`TraceRecordsView`] (G24): the records of the trace around the time cursor.

use super::record_search::{RecordSearch, TraceRecord, TraceRecordKind};
use crate::chart::{AxisUnit, ChartPanel, ChartTable, TableValue, TitledPanel, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::captions;
use crate::views::measured_messages::signed_number;

/// The number of records before the time cursor, and after it: a usual card has room for them.
const RECORDS: usize = 16;

/// A list of the begins and ends of states, events and messages around the time cursor.
pub(crate) struct TraceRecordsView;

impl PerspectiveView for TraceRecordsView {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "trace-records",
            number: Some(24),
            title: "Trace records",
            group: ViewGroup::Execution,
            summary: "The records of the trace around the time cursor.",
            required_data: "states, events or links",
            modes: &[TimeMode::At],
            options: &["unit"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let unit = request.options.selected_unit(execution)?;
        let search = RecordSearch::new(execution, unit)?;
        let earlier_records = search.records_before(request.time.0, RECORDS)?;
        let later_records = search.records_after(request.time.0, RECORDS)?;
        let is_cut = earlier_records.is_cut || later_records.is_cut;
        let mut table = ChartTable::new(&[
            ("present", AxisUnit::Count),
            ("time, s", AxisUnit::Nanos),
            ("container", AxisUnit::Count),
            ("record", AxisUnit::Count),
            ("value", AxisUnit::Count),
            ("fields", AxisUnit::Count),
        ]);
        let present = earlier_records.records.last().map(|record| record.time);
        for record in earlier_records.records.iter().chain(&later_records.records) {
            table.rows.push(row(execution, record, present == Some(record.time))?);
        }
        table.present_row = earlier_records.records.len().checked_sub(1);
        let mut notes = Vec::new();
        if is_cut {
            notes.push("Too many records have the same timestamp. The list has only some of them.".to_owned());
        }
        if table.rows.is_empty() {
            notes.push("The trace has no records.".to_owned());
        }
        let name = unit.map_or_else(String::new, |unit| execution.units().list()[unit].name.clone());
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[
                captions::time_caption(request),
                name,
                format!(
                    "{} records until then, {} after it",
                    earlier_records.records.len(),
                    later_records.records.len()
                ),
            ]),
            panels: vec![TitledPanel { title: String::new(), panel: ChartPanel::Table(table.clone()) }],
            legend: Vec::new(),
            table,
            notes,
        })
    }
}

/// A row of the list. The last records until the time cursor are marked.
fn row(execution: &Execution, record: &TraceRecord, is_present: bool) -> Result<Vec<TableValue>, PerspectiveError> {
    let model = execution.model();
    let facts = execution.source().facts(record.entity)?;
    let ty = model.types.get(record.ty.index()).map_or("", |info| info.name.as_str());
    let kind = match record.kind {
        TraceRecordKind::StateEnd => format!("end of {ty}"),
        TraceRecordKind::StateBegin => format!("begin of {ty}"),
        TraceRecordKind::Receive => format!("receive of {ty}"),
        TraceRecordKind::Event => ty.to_owned(),
        TraceRecordKind::Send => format!("send of {ty}"),
    };
    let fields = facts.fields.iter().filter(|(_, text)| !text.is_empty());
    let fields: Vec<String> = fields.map(|(name, text)| format!("{name}={text}")).collect();
    Ok(vec![
        if is_present { "→".into() } else { TableValue::Absent },
        signed_number(record.time).into(),
        execution.source().facts(record.container())?.name.as_str().into(),
        kind.as_str().into(),
        facts.name.as_str().into(),
        fields.join(", ").as_str().into(),
    ])
}
