//! Ends of threads and processes: rules for the end run, then the containers of the thread or
//! process end together with their open states.
//!
//! An end is handled before the first operation with a later timestamp.

use std::io;

use super::emitter::Emitter;
use super::end_table::ContainerRef;
use crate::convert::columns::single_records::RecordPlace;
use crate::convert::planning::plan::RecordOrigin;
use crate::convert::planning::thread_ends::EndEvent;
use tumit_paje::time::GlobalNanos;

impl Emitter<'_> {
    /// The last end of a process.
    pub(crate) const fn last_end(&self) -> i64 {
        self.ends.last
    }

    /// Handles the ends that are due before an operation at this time.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_before(&mut self, time: i64) -> io::Result<()> {
        while let Some(end) = self.ends.take_before(time) {
            self.time = GlobalNanos(end.time);
            if self.ends.has_rules {
                self.run_end_rules(&end)?;
            }
            for ContainerRef { number, id } in self.ends.places(&end).into_iter().rev() {
                if self.instances.is_living(number, id) {
                    self.destroy(number)?;
                }
            }
        }
        Ok(())
    }

    fn run_end_rules(&mut self, end: &EndEvent) -> io::Result<()> {
        let plan = self.plan;
        let stream = end.stream as usize;
        let ordinal = plan.source(stream).1.records();
        for program in plan.end_programs(stream, end.is_process) {
            let scope = plan.scope(stream, program, end.raw, RecordOrigin { site: 0, ordinal }, &[]);
            self.actions(&scope, None, RecordPlace { stream: end.stream, ordinal })?;
        }
        Ok(())
    }
}
