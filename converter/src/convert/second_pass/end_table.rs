//! [`EndTable`]: the ends of threads and processes, and the containers that end with them.

use rustc_hash::FxHashMap;

use crate::convert::planning::plan::ConversionPlan;
use crate::convert::planning::thread_ends::{EndEvent, EndEvents};
use crate::rules::referent_table::NO_PROCESS;
use crate::rules::rule_value::{BY_KEYS, KeyPart};
use crate::rules::stream_facts::ThreadKey;
use tumit_paje::ContainerId;

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
    events: Vec<EndEvent>,
    /// Timestamp of the next end; `i64::MAX` if there is none.
    pub(crate) next: i64,
    /// Timestamp of the last end.
    pub(super) last: i64,
    has_threads: bool,
    pub(super) has_rules: bool,
    of_process: FxHashMap<u32, Vec<ContainerRef>>,
    of_thread: FxHashMap<ThreadKey, Vec<ContainerRef>>,
}

impl EndTable {
    /// The ends in a run. O(n log n) in the number of its streams.
    pub(crate) fn of(plan: &ConversionPlan<'_>) -> Self {
        let EndEvents { mut events, has_threads } = EndEvents::of(plan);
        events.reverse();
        let last = events.first().map_or(0, |end| end.time);
        let next = events.last().map_or(i64::MAX, |end| end.time);
        Self { events, next, last, has_threads, has_rules: plan.has_end_rules(), ..Self::default() }
    }

    /// Notes a new container. `is_stream`: it shows the activity of a thread. `is_outer`: its
    /// parent belongs to no process.
    pub(crate) fn note(&mut self, subject: KeyPart, is_stream: bool, is_outer: bool, container: ContainerRef) {
        let KeyPart::Of { process, thread } = subject else { return };
        if process == NO_PROCESS {
            return;
        }
        if is_outer {
            self.of_process.entry(process).or_default().push(container);
        }
        if is_stream && self.has_threads && thread != 0 && thread != BY_KEYS {
            self.of_thread.entry(ThreadKey { process, thread: thread - 1 }).or_default().push(container);
        }
    }

    pub(super) fn take_before(&mut self, before: i64) -> Option<EndEvent> {
        let end = self.events.pop_if(|end| end.time < before)?;
        self.next = self.events.last().map_or(i64::MAX, |end| end.time);
        Some(end)
    }

    /// The containers that end with a thread or process. There are none if another file of the
    /// process has a later end. The end rules may have created some of them.
    pub(super) fn places(&mut self, end: &EndEvent) -> Vec<ContainerRef> {
        let places = match end.is_process {
            _ if !end.is_last => None,
            true => self.of_process.remove(&end.identity.process),
            false => self.of_thread.remove(&end.identity),
        };
        places.unwrap_or_default()
    }
}
