//! Writes the prefix counts of a lane of events, see [`crate::index::lanes::prefix_counts`].

use std::io;

use tumit_spill::byte_streams::FinishedByteStream;
use tumit_spill::deferred_section::DeferredSection;
use tumit_spill::temporary_space::TemporarySpace;

use super::lane_summaries::read_value;
use super::lane_values::LaneValues;
use crate::index::file::file_layout::PageBytes;
use crate::index::file::page_writer::PageWriter;
use crate::index::lanes::prefix_counts::{MAX_VALUES, stride};

/// Lanes with fewer events have no prefix counts. Counting the events is as fast.
const MIN_ROWS: u64 = 1 << 13;
/// The positions of the prefix counts of a lane. Both are empty if it has none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrefixCountSections {
    /// Values of the lane.
    pub(crate) values: PageBytes,
    /// Entries.
    pub(crate) sums: PageBytes,
}

/// Counts events while a lane is written.
pub(crate) struct PrefixCountWriter {
    values: LaneValues,
    /// For each value, the number of events before the next row.
    counts: Vec<u32>,
    entries: DeferredSection,
    rows: u64,
}

impl PrefixCountWriter {
    /// Counts for a lane with `len` rows. `None` if they do not pay off. This pass over the rows
    /// finds the values; a later one writes the rows.
    pub(crate) fn new(room: &TemporarySpace, rows: &FinishedByteStream, len: u64) -> io::Result<Option<Self>> {
        if len < MIN_ROWS {
            return Ok(None);
        }
        let (mut values, mut from) = (LaneValues::default(), rows.read()?);
        for _ in 0..len {
            from.number()?;
            values.insert(read_value(&mut from)?.value);
            if values.values.len() > MAX_VALUES {
                return Ok(None);
            }
        }
        let counts = vec![0; values.values.len()];
        Ok(Some(Self { values, counts, entries: DeferredSection::new(&room.part(8)), rows: 0 }))
    }

    /// Counts the value of the next row, in the order of the table.
    pub(crate) fn push(&mut self, value: u64) -> io::Result<()> {
        if self.rows.is_multiple_of(stride(self.counts.len())) {
            self.counts.iter().try_for_each(|count| self.entries.write(&count.to_le_bytes()))?;
        }
        self.rows += 1;
        if let Some(count) = self.counts.get_mut(self.values.place(value) as usize) {
            *count += 1;
        }
        Ok(())
    }

    /// Writes the values and the entries.
    pub(crate) fn finish(self, out: &mut PageWriter) -> io::Result<PrefixCountSections> {
        let values = PageBytes { offset: out.align()?, len: self.values.values.len() as u64 };
        self.values.values.iter().try_for_each(|&value| out.write(&(value as u32).to_le_bytes()))?;
        let sums = PageBytes { offset: out.align()?, len: self.rows.div_ceil(stride(self.counts.len())) };
        self.entries.for_each_portion(1, |bytes| out.write(bytes))?;
        Ok(PrefixCountSections { values, sums })
    }
}
