//! [`CausalNode`]: the endpoints of links and of parts of collective operations at one place of a
//! stream.

use smallvec::SmallVec;

use crate::clock::link_log::{LinkEndpoint, LogEntry};
use crate::clock::part_counts::PartEndpoint;

/// The endpoints at one place of a stream.
#[derive(Clone, Debug)]
pub(super) struct CausalNode {
    pub(super) raw: i64,
    /// The timestamp without the shifts of this pass.
    pub(super) timestamp: i64,
    pub(super) ordinal: u64,
    pub(super) starts: SmallVec<[u64; 2]>,
    pub(super) finishes: SmallVec<[u64; 2]>,
    /// The operations with a source here.
    pub(super) sources: SmallVec<[u64; 1]>,
    /// The operations with a target here.
    pub(super) targets: SmallVec<[u64; 1]>,
}

/// The purpose of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EndpointRole {
    Start,
    Finish,
    Source,
    Target,
}

/// An endpoint that an earlier one may still precede. Ordered by timestamp and ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnsortedEndpoint {
    pub(super) raw: i64,
    pub(super) ordinal: u64,
    pub(super) role: EndpointRole,
    /// The link or the operation.
    pub(super) number: u64,
}

/// The timestamps of a visited start, or of the latest visited source of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisitedStart {
    /// The timestamp before the shifts of this pass.
    pub(super) unshifted_time: i64,
    pub(super) shifted_time: i64,
}

impl UnsortedEndpoint {
    /// The stream and the endpoint of an entry of the log.
    pub(super) fn of(entry: LogEntry) -> (usize, Self) {
        match entry {
            LogEntry::Link(LinkEndpoint { stream, timestamp, ordinal, link, is_finish }) => {
                let role = if is_finish { EndpointRole::Finish } else { EndpointRole::Start };
                (stream as usize, Self { raw: timestamp, ordinal, role, number: link })
            }
            LogEntry::Part(PartEndpoint { stream, timestamp, ordinal, operation, is_source }) => {
                let role = if is_source { EndpointRole::Source } else { EndpointRole::Target };
                (stream as usize, Self { raw: timestamp, ordinal, role, number: operation })
            }
        }
    }
}

impl CausalNode {
    /// A node without endpoints.
    pub(super) fn new(raw: i64, timestamp: i64, ordinal: u64) -> Self {
        let (starts, finishes) = (SmallVec::new(), SmallVec::new());
        Self { raw, timestamp, ordinal, starts, finishes, sources: SmallVec::new(), targets: SmallVec::new() }
    }

    pub(super) fn add(&mut self, UnsortedEndpoint { role, number, .. }: UnsortedEndpoint) {
        match role {
            EndpointRole::Start => self.starts.push(number),
            EndpointRole::Finish => self.finishes.push(number),
            EndpointRole::Source => self.sources.push(number),
            EndpointRole::Target => self.targets.push(number),
        }
    }

    /// Number of sources of an operation at this node. Its targets at the node do not wait for
    /// them.
    pub(super) fn own_sources(&self, operation: u64) -> u64 {
        self.sources.iter().filter(|source| **source == operation).count() as u64
    }
}
