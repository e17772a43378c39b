//! The visitor of the first pass. It passes link endpoints and computed values to the surveyor. It
//! notes timestamps if actions set their own.

pub(crate) mod action_notes;
pub(crate) mod collective_parts;
pub(crate) mod survey;

use super::columns::ops::OpTemplate;
use super::columns::ops::PendingOp;
use super::columns::single_records::RecordRef;
use super::merge_pass::RecordVisitor;
use super::options::ConvertError;
use super::planning::plan::ConversionPlan;
use super::read_ahead::MinTimestamps;
use crate::rules::{RuleModel, Symbols};
use survey::FirstPassCollector;

pub(crate) struct FirstPassVisitor<'p> {
    pub(crate) plan: &'p ConversionPlan<'p>,
    pub(crate) model: &'p RuleModel,
    pub(crate) symbols: &'p mut Symbols,
    pub(crate) surveyor: FirstPassCollector,
    /// Whether timestamps are noted.
    pub(crate) sets_timestamps: bool,
    /// For each stream and block: the minimum timestamp.
    pub(crate) blocks: Vec<Vec<i64>>,
    pub(crate) floors: MinTimestamps,
    pub(crate) templates: Vec<OpTemplate>,
}

impl RecordVisitor for FirstPassVisitor<'_> {
    fn visit_record(&mut self, record: RecordRef<'_>) -> Result<(), ConvertError> {
        let Self { plan, model, symbols, surveyor, sets_timestamps, blocks, floors, .. } = self;
        if *sets_timestamps {
            note_timestamp(&mut blocks[record.stream], record.blocks_read, record.corrected_time);
        }
        if record.program.is_none() && !record.is_truncation() {
            surveyor.handle_gap(record.position().stream);
        }
        let Some(scope) = record.scope(plan).filter(|scope| scope.program.is_surveyed()) else { return Ok(()) };
        surveyor.record(&scope, record.position(), model, symbols, |timestamp| {
            note_timestamp(&mut blocks[record.stream], record.blocks_read, timestamp);
            floors[record.stream].get_or_insert_default();
        });
        Ok(())
    }

    fn visit_template(&mut self, number: u32, template: OpTemplate) {
        let number = number as usize;
        self.templates.resize_with(self.templates.len().max(number + 1), OpTemplate::none);
        self.templates[number] = template;
    }

    fn visit_wide(&mut self, op: PendingOp, words: &[u64]) -> Result<(), ConvertError> {
        if let Some(template) = self.templates.get(op.template as usize) {
            self.surveyor.add_evaluated_endpoint(self.plan, template, op, words, self.model);
        }
        Ok(())
    }
}

/// Notes a timestamp of a block. `blocks_read` is the number of the block, from 1.
fn note_timestamp(blocks: &mut Vec<i64>, blocks_read: usize, timestamp: i64) {
    if blocks.len() < blocks_read {
        blocks.resize(blocks_read, i64::MAX);
    }
    if let Some(block) = blocks.get_mut(blocks_read.wrapping_sub(1)) {
        *block = (*block).min(timestamp);
    }
}
