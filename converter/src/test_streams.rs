//! Streams for the tests of several modules.

use tracer_format::BlockHeader;

use crate::run::{BlockIndex, StreamInRun};

/// A stream of a thread with one block, which begins and ends at these ticks.
pub(crate) fn stream(number: u32, tid: u64, (first_ticks, last_ticks): (u64, u64)) -> StreamInRun {
    let header = BlockHeader { first_ticks, last_ticks, ..BlockHeader::default() };
    let mut stream = StreamInRun::default();
    (stream.number, stream.tid) = (number, Some(tid));
    stream.blocks = vec![BlockIndex { payload_offset: 0, header, live: false }];
    stream
}
