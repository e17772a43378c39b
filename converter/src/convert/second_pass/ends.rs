//! Ends of threads and processes: rules for the end run, then the containers of the thread or
//! process end together with their open states.
//!
//! An end is handled before the first operation with a later timestamp.

use std::io;

use rustc_hash::FxHashMap;

use super::Emitter;
use crate::convert::columnar::single_records::RecordPlace;
use crate::convert::planning::plan::ConversionPlan;
use crate::convert::planning::thread_ends::{EndEvent, EndEvents};
use crate::rules::referent_table::NO_PROCESS;
use crate::rules::value::{BY_KEYS, KeyPart};
use tumit_paje::ContainerId;
use tumit_paje::time::GlobalNanos;

/// A container. It is valid as long as its number still has this id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainerRef {
    pub(crate) number: usize,
    pub(crate) id: ContainerId,
}

/// The ends of threads and processes, and the containers that end with them.
#[derive(Debug, Default)]
pub(crate) struct EndTable {
    /// In reverse order of time.
    due: Vec<EndEvent>,
    /// Timestamp of the next end; `i64::MAX` if there is none.
    pub(crate) next: i64,
    /// Timestamp of the last end.
    last: i64,
    has_threads: bool,
    has_rules: bool,
    of_process: FxHashMap<u32, Vec<ContainerRef>>,
    of_thread: FxHashMap<(u32, u32), Vec<ContainerRef>>,
}

impl EndTable {
    /// The ends in a run. O(n log n) in the number of its streams.
    pub(crate) fn of(plan: &ConversionPlan<'_>) -> Self {
        let EndEvents { all: mut due, has_threads } = EndEvents::of(plan);
        due.reverse();
        let last = due.first().map_or(0, |end| end.time);
        let next = due.last().map_or(i64::MAX, |end| end.time);
        Self { due, next, last, has_threads, has_rules: plan.has_end_rules(), ..Self::default() }
    }

    /// Notes a new container. `is_stream`: it shows the activity of a thread. `is_outer`: its
    /// parent belongs to no process.
    pub(crate) fn note(&mut self, of: KeyPart, is_stream: bool, is_outer: bool, place: ContainerRef) {
        let KeyPart::Of { process, thread } = of else { return };
        if process == NO_PROCESS {
            return;
        }
        if is_outer {
            self.of_process.entry(process).or_default().push(place);
        }
        if is_stream && self.has_threads && thread != 0 && thread != BY_KEYS {
            self.of_thread.entry((process, thread - 1)).or_default().push(place);
        }
    }

    fn take_before(&mut self, before: i64) -> Option<EndEvent> {
        let end = self.due.pop_if(|end| end.time < before)?;
        self.next = self.due.last().map_or(i64::MAX, |end| end.time);
        Some(end)
    }

    /// The containers that end with a thread or process. Its end rules may have created some of
    /// them.
    fn places(&mut self, end: &EndEvent) -> Vec<ContainerRef> {
        let places = match end.is_process {
            true => self.of_process.remove(&end.process),
            false => self.of_thread.remove(&(end.process, end.thread)),
        };
        places.unwrap_or_default()
    }
}

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
            self.now = GlobalNanos(end.time);
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
            let scope = plan.scope(stream, program, end.raw, (0, ordinal), &[]);
            self.actions(&scope, None, RecordPlace { stream: end.stream, ordinal })?;
        }
        Ok(())
    }
}
