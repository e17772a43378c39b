//! What the first pass does with what is due: ends of links, and computed values, go to the surveyor; dates are noted where arrows have their own.

pub(crate) mod notes;
pub(crate) mod survey;

use super::columnar::ops::Act;
use super::columnar::ops::Turn;
use super::columnar::single_records::Due;
use super::merge_pass::Visit;
use super::options::ConvertError;
use super::plan::Plan;
use super::read_ahead::Floors;
use crate::rules::{Model, Symbols};
use survey::Surveyor;

/// What the first pass does with what is due.
pub(crate) struct FirstPass<'p> {
    pub(crate) plan: &'p Plan<'p>,
    pub(crate) model: &'p Model,
    pub(crate) symbols: &'p mut Symbols,
    pub(crate) surveyor: Surveyor,
    /// Dates are noted.
    pub(crate) dated: bool,
    /// By stream, by block: the least date.
    pub(crate) blocks: Vec<Vec<i64>>,
    pub(crate) floors: Floors,
    pub(crate) acts: Vec<Act>,
}

impl Visit for FirstPass<'_> {
    fn record(&mut self, due: Due<'_>) -> Result<(), ConvertError> {
        let Self { plan, model, symbols, surveyor, dated, blocks, floors, .. } = self;
        if *dated {
            note_date(&mut blocks[due.stream], due.blocks_read, due.date);
        }
        let Some(scope) = due.scope(plan).filter(|scope| scope.program.is_surveyed()) else { return Ok(()) };
        let place = (u32::try_from(due.stream).unwrap_or(u32::MAX), due.ordinal);
        surveyor.record(&scope, place, model, symbols, |date| {
            note_date(&mut blocks[due.stream], due.blocks_read, date);
            floors[due.stream].get_or_insert_default();
        });
        Ok(())
    }

    fn know(&mut self, number: u32, act: Act) {
        let number = number as usize;
        self.acts.resize_with(self.acts.len().max(number + 1), Act::none);
        self.acts[number] = act;
    }

    fn wide(&mut self, turn: Turn, words: &[u64]) -> Result<(), ConvertError> {
        if let Some(act) = self.acts.get(turn.act as usize) {
            self.surveyor.ready(self.plan, act, turn, words, self.model);
        }
        Ok(())
    }
}

/// Notes a date of a block of which `blocks_read` is the number, from 1.
fn note_date(blocks: &mut Vec<i64>, blocks_read: usize, date: i64) {
    if blocks.len() < blocks_read {
        blocks.resize(blocks_read, i64::MAX);
    }
    if let Some(block) = blocks.get_mut(blocks_read.wrapping_sub(1)) {
        *block = (*block).min(date);
    }
}
