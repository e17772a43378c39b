//! Tagged fields of `process`, `stream` and `end` blocks.
//!
//! ```
//! use tracer_format::tags::{TagIterator, append_integer, append_tag, integer, tag};
//!
//! let mut payload = Vec::new();
//! append_integer(&mut payload, tag::PID, 42);
//! append_tag(&mut payload, tag::HOST, b"node-1");
//! let tags: Vec<(u16, &[u8])> = TagIterator(&payload).collect();
//! assert_eq!(tags[0].0, tag::PID);
//! assert_eq!(integer(tags[0].1), Some(42));
//! assert_eq!(tags[1], (tag::HOST, &b"node-1"[..]));
//! ```

use crate::bytes::{u32_at, u64_at};

/// Numbers of the tags. `FORMAT.md` describes them.
#[expect(missing_docs, reason = "FORMAT.md has the table")]
pub mod tag {
    pub const PROCESS_ID: u16 = 1;
    pub const PARENT_ID: u16 = 2;
    pub const HOST: u16 = 3;
    pub const PID: u16 = 4;
    pub const RANK: u16 = 5;
    pub const RANKS: u16 = 6;
    pub const CLOCK_KIND: u16 = 7;
    pub const CLOCK_HZ: u16 = 8;
    pub const CLOCK_DOMAIN: u16 = 9;
    pub const COMMAND: u16 = 10;
    pub const WRITER: u16 = 11;
    pub const JOB: u16 = 12;
    pub const LIVE_PATH: u16 = 13;
    pub const BUFFERS: u16 = 14;
    /// Integer: 1 if the file's blocks of records are in timestamp order, over all of its streams.
    pub const SORTED: u16 = 15;
    pub const PARENT_PID: u16 = 16;
    /// Text of at most [`super::MAX_LAUNCH_BYTES`]: processes with equal texts were launched
    /// together.
    pub const LAUNCH: u16 = 17;
    /// Integer: the last known timestamp of a process that has no orderly end, in a copy of its
    /// file.
    pub const LAST_KNOWN: u16 = 18;
    /// 16 bytes: id of the merged run. Processes of one merged run form one launch.
    pub const MERGED_RUN: u16 = 19;
    pub const TID: u16 = 20;
    pub const THREAD_NAME: u16 = 21;
    pub const SIGNAL_STREAM: u16 = 22;
    /// Integer: 1 if newer records overwrite the stream's records unless these are written on
    /// request before.
    pub const OVERWRITTEN: u16 = 23;
    /// Integer: in a file of several processes, the number of the stream's process.
    pub const STREAM_PROCESS: u16 = 24;
    pub const STREAM_LABEL: u16 = 25;
    /// Integer: timestamp of the end of the stream's thread.
    pub const THREAD_END: u16 = 26;
    pub const RECORDS_WRITTEN: u16 = 30;
    pub const RECORDS_DROPPED: u16 = 31;
    /// Integer: number of records that repeat the previous timestamp, because the clock went back.
    pub const REPEATED_TIMESTAMPS: u16 = 32;
    /// Integer: timestamp of the orderly end of the process.
    pub const PROCESS_END: u16 = 33;
    /// Integer: number of records with a text, bytes or an array that the recorder cut.
    pub const RECORDS_TRUNCATED: u16 = 34;
    /// Integer: number of wraps of a clock of 32 bits.
    pub const CLOCK_WRAPS: u16 = 35;
    pub const REPAIRED: u16 = 40;
    pub const REPAIRED_DAMAGE: u16 = 41;
    pub const REPAIRED_RECORDS: u16 = 42;
}

/// The longest launch id in bytes.
pub const MAX_LAUNCH_BYTES: usize = 256;

/// Appends one field.
pub fn append_tag(out: &mut Vec<u8>, tag: u16, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&tag.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&bytes[..length as usize]);
}

/// Appends an integer field.
pub fn append_integer(out: &mut Vec<u8>, tag: u16, value: u64) {
    append_tag(out, tag, &value.to_le_bytes());
}

/// Iterates over tagged fields. Stops at the first one that extends beyond the end.
#[derive(Clone, Debug)]
pub struct TagIterator<'a>(pub &'a [u8]);

impl<'a> Iterator for TagIterator<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let tag = u16::from_le_bytes(*self.0.first_chunk::<2>()?);
        let length = u32_at(self.0.get(..6)?, 2) as usize;
        let bytes = self.0.get(6..6usize.checked_add(length)?)?;
        self.0 = &self.0[6 + length..];
        Some((tag, bytes))
    }
}

/// The value of an integer field, if it has eight bytes.
#[must_use]
pub fn integer(bytes: &[u8]) -> Option<u64> {
    (bytes.len() == 8).then(|| u64_at(bytes, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_written() {
        let mut out = Vec::new();
        append_integer(&mut out, tag::PID, 42);
        append_tag(&mut out, tag::HOST, b"node7");
        let all: Vec<_> = TagIterator(&out).collect();
        assert_eq!(all, [(tag::PID, &42u64.to_le_bytes()[..]), (tag::HOST, b"node7")]);
        assert_eq!(integer(all[0].1), Some(42));
        assert_eq!(TagIterator(&out[..out.len() - 1]).count(), 1);
    }
}
