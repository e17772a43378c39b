//! Pairs link endpoints by key, per holding container and type.

use std::io;
use std::sync::Arc;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, KeyId, TypeId, ValueId};
use tumit_spill::endpoint_map::{self, EndpointMap, EndpointMatch, OverflowStore, spread};

use super::entity_sink::{EndedLink, EntitySink, OpenLinkStart};
use super::faults::{Fault, FaultCounts};
use crate::query::TimestampExtent;

/// One endpoint of a link: its start or its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimLinkEndpoint {
    pub(crate) starts: bool,
    pub(crate) time: i64,
    pub value: ValueId,
    pub(crate) container: ContainerId,
    /// The container that holds the link.
    pub(crate) holder: ContainerId,
    pub(crate) detail: u32,
    pub(crate) key: KeyId,
    /// Line of the file; 0 if unknown.
    pub(crate) line: u64,
}

impl SimLinkEndpoint {
    /// The link that starts with this endpoint and never ends. `None` for the end of a link.
    fn open_link(&self, value_types: &[TypeId]) -> Option<OpenLinkStart> {
        let ty = value_types.get(self.value.index()).copied().filter(|_| self.starts)?;
        let &Self { time, value, container: start, holder: container, detail, key, .. } = self;
        Some(OpenLinkStart { container, ty, value, time: GlobalNanos(time), start, key: key.0, detail })
    }
}

impl endpoint_map::Endpoint<5> for SimLinkEndpoint {
    fn starts(&self) -> bool {
        self.starts
    }

    fn words(&self) -> [u64; 5] {
        let pack = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let line = self.line << 1 | u64::from(self.starts);
        let (ends, row) = (pack(self.value.0, self.container.0), pack(self.holder.0, self.detail));
        [self.time.cast_unsigned(), ends, row, self.key.0, line]
    }

    fn of([time, ends, row, key, line]: [u64; 5]) -> Self {
        Self {
            starts: line & 1 == 1,
            time: time.cast_signed(),
            value: ValueId((ends >> 32) as u32),
            container: ContainerId(ends as u32),
            holder: ContainerId((row >> 32) as u32),
            detail: row as u32,
            key: KeyId(key),
            line: line >> 1,
        }
    }
}

/// Endpoints that wait for the other one, in any number, in memory or in a file.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct PendingLinks {
    endpoints: EndpointMap<SimLinkEndpoint, 5>,
    /// The reason why an endpoint could not be stored or found again.
    #[serde(skip)]
    failure: Option<Arc<io::Error>>,
}

impl PendingLinks {
    pub(crate) fn new(overflow: OverflowStore) -> Self {
        Self { endpoints: EndpointMap::new(overflow), failure: None }
    }

    /// Sets the limit of endpoints in memory, and the location of further ones.
    pub(crate) fn overflow_to(&mut self, overflow: OverflowStore) {
        self.endpoints.overflow_to(overflow);
    }

    /// Returns an error if an endpoint could not be stored.
    #[inline]
    pub(crate) fn check_storage(&self) -> io::Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(io::Error::new(error.kind(), Arc::clone(error))),
        }
    }

    /// Adds an endpoint of a link in a container. If it completes a pair, returns the extent
    /// of the pair.
    ///
    /// [`Self::check_storage`] reports errors of storing.
    pub(crate) fn add_endpoint(
        &mut self,
        (holder, ty): (ContainerId, TypeId),
        endpoint: SimLinkEndpoint,
        faults: &mut FaultCounts,
        out: &mut impl EntitySink,
    ) -> Option<TimestampExtent> {
        let key = spread(u128::from(holder.0) << 96 | u128::from(ty.0) << 64 | u128::from(endpoint.key.0));
        let (first, is_last) = match self.endpoints.match_or_insert(key, endpoint.starts, || Some(endpoint)) {
            Ok(EndpointMatch::Other { partner, is_last }) => (partner, is_last),
            Ok(EndpointMatch::Alike) => {
                faults.count(Fault::KeyInUse);
                return None;
            }
            Ok(EndpointMatch::Nothing | EndpointMatch::Refused) => return None,
            Err(error) => {
                self.failure = Some(Arc::new(error));
                return None;
            }
        };
        let (start, end) = if endpoint.starts { (endpoint, first) } else { (first, endpoint) };
        if start.value != end.value {
            faults.count(Fault::LinkValue);
        }
        let detail = out.join(start.detail, end.detail);
        out.link(&EndedLink {
            container: holder,
            ty,
            value: start.value,
            start_time: GlobalNanos(start.time),
            end_time: GlobalNanos(end.time),
            start: start.container,
            end: end.container,
            key: endpoint.key.0,
            detail,
        });
        if is_last {
            out.forget_key(endpoint.key.0);
        }
        Some(TimestampExtent::instant(start.time).join(TimestampExtent::instant(end.time)))
    }

    /// Sends the starts that wait as open links, if the receiver keeps them. Drops all other
    /// endpoints that wait, and returns their number.
    pub(crate) fn settle_unpaired_endpoints(
        &mut self,
        out: &mut impl EntitySink,
        value_types: &[TypeId],
    ) -> io::Result<u64> {
        let mut drop_count = 0;
        self.endpoints.for_each(|endpoint| {
            match endpoint.open_link(value_types).filter(|_| out.keeps_open_links()) {
                Some(link) => out.open_link(&link),
                None => {
                    drop_count += 1;
                    out.free_detail(endpoint.detail);
                    out.forget_key(endpoint.key.0);
                }
            }
            Ok(())
        })?;
        self.endpoints.clear();
        Ok(drop_count)
    }

    /// Sends the starts that wait as open links, at the end of the trace or of a preview. Counts
    /// all endpoints without the other one in `faults`, by line and timestamp.
    pub(crate) fn end(
        &mut self,
        mut faults: Option<&mut FaultCounts>,
        out: &mut impl EntitySink,
        value_types: &[TypeId],
    ) {
        let result = self.endpoints.for_each(|endpoint| {
            if let Some(faults) = &mut faults {
                faults.count_at(Fault::IncompleteLink, (endpoint.line, endpoint.time));
            }
            endpoint.open_link(value_types).into_iter().for_each(|link| out.open_link(&link));
            Ok(())
        });
        if let Err(error) = result {
            self.failure = Some(Arc::new(error));
        }
    }
}
