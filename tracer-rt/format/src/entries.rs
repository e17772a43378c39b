//! Entries of `strings`, `sites`, `sync` and `anchors` blocks.
//!
//! ```
//! use tracer_format::entries::{StringEntry, append_string, strings};
//!
//! let mut payload = Vec::new();
//! append_string(&mut payload, 1, b"first");
//! append_string(&mut payload, 2, b"second");
//! assert_eq!(strings(&payload).last(), Some(StringEntry { id: 2, text: b"second" }));
//! ```

use crate::bytes::{u32_at, u64_at};

/// Size of a sync sample in bytes.
pub(crate) const SYNC_SAMPLE_BYTES: usize = 48;
/// Size of a clock anchor in bytes.
pub const ANCHOR_BYTES: usize = 32;

/// One request and its answer between two processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncSample {
    /// Number of the burst.
    pub burst: u32,
    /// Number of the exchange in the burst.
    pub exchange: u32,
    /// First eight bytes of the peer's process id.
    pub peer: u64,
    /// Request sent, ticks of the writer.
    pub t1: u64,
    /// Request received, ticks of the peer.
    pub t2: u64,
    /// Answer sent, ticks of the peer.
    pub t3: u64,
    /// Answer received, ticks of the writer.
    pub t4: u64,
}

impl SyncSample {
    /// The sample's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; SYNC_SAMPLE_BYTES] {
        let mut bytes = [0; SYNC_SAMPLE_BYTES];
        bytes[..4].copy_from_slice(&self.burst.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.exchange.to_le_bytes());
        for (offset, word) in [(8, self.peer), (16, self.t1), (24, self.t2), (32, self.t3), (40, self.t4)] {
            bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The samples of a `sync` block. An incomplete sample at the end is ignored.
pub fn sync_samples(payload: &[u8]) -> impl Iterator<Item = SyncSample> + '_ {
    payload.chunks_exact(SYNC_SAMPLE_BYTES).map(|b| SyncSample {
        burst: u32_at(b, 0),
        exchange: u32_at(b, 4),
        peer: u64_at(b, 8),
        t1: u64_at(b, 16),
        t2: u64_at(b, 24),
        t3: u64_at(b, 32),
        t4: u64_at(b, 40),
    })
}

/// Three clocks read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockAnchor {
    /// The recorder's clock, ticks.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, ns.
    pub monotonic_nanos: u64,
    /// `CLOCK_REALTIME`, ns since 1970.
    pub real_nanos: u64,
    /// Ticks between the first and the last of the readings.
    pub bracket: u64,
}

impl ClockAnchor {
    /// The anchor's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; ANCHOR_BYTES] {
        let mut bytes = [0; ANCHOR_BYTES];
        for (offset, word) in [(0, self.ticks), (8, self.monotonic_nanos), (16, self.real_nanos), (24, self.bracket)] {
            bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The anchors of an `anchors` block.
pub fn anchors(payload: &[u8]) -> impl Iterator<Item = ClockAnchor> + '_ {
    payload.chunks_exact(ANCHOR_BYTES).map(|b| ClockAnchor {
        ticks: u64_at(b, 0),
        monotonic_nanos: u64_at(b, 8),
        real_nanos: u64_at(b, 16),
        bracket: u64_at(b, 24),
    })
}

/// Appends an entry of a `strings` block.
pub fn append_string(out: &mut Vec<u8>, id: u32, text: &[u8]) {
    out.extend_from_slice(&id.to_le_bytes());
    append_sized(out, text);
}

/// Appends an entry of a `sites` block.
pub fn append_site(out: &mut Vec<u8>, id: u32, line: u32, file: &[u8]) {
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&line.to_le_bytes());
    append_sized(out, file);
}

fn append_sized(out: &mut Vec<u8>, text: &[u8]) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&text[..length as usize]);
}

/// An entry of a `strings` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct StringEntry<'p> {
    pub id: u32,
    pub text: &'p [u8],
}

/// An entry of a `sites` block: a line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct SiteEntry<'p> {
    pub id: u32,
    pub line: u32,
    pub file: &'p [u8],
}

/// The entries of a `strings` block. Stops at the first one that extends beyond the end.
pub fn strings(mut payload: &[u8]) -> impl Iterator<Item = StringEntry<'_>> {
    std::iter::from_fn(move || {
        let id = u32_at(payload.get(..4)?, 0);
        let (text, rest) = split_sized(&payload[4..])?;
        payload = rest;
        Some(StringEntry { id, text })
    })
}

/// The entries of a `sites` block. Stops at the first one that extends beyond the end.
pub fn sites(mut payload: &[u8]) -> impl Iterator<Item = SiteEntry<'_>> {
    std::iter::from_fn(move || {
        let head = payload.get(..8)?;
        let (id, line) = (u32_at(head, 0), u32_at(head, 4));
        let (file, rest) = split_sized(&payload[8..])?;
        payload = rest;
        Some(SiteEntry { id, line, file })
    })
}

fn split_sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32_at(bytes.get(..4)?, 0) as usize;
    let text = bytes.get(4..4usize.checked_add(length)?)?;
    Some((text, &bytes[4 + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_written() {
        let sample = SyncSample { burst: 1, exchange: 2, peer: 3, t1: 4, t2: 5, t3: 6, t4: 7 };
        assert_eq!(sync_samples(&sample.encode()).next(), Some(sample));
        let anchor = ClockAnchor { ticks: 1, monotonic_nanos: 2, real_nanos: 3, bracket: 4 };
        assert_eq!(anchors(&anchor.encode()).next(), Some(anchor));
        let mut out = Vec::new();
        append_string(&mut out, 1, b"one");
        append_string(&mut out, 2, b"");
        assert_eq!(
            strings(&out).collect::<Vec<_>>(),
            [StringEntry { id: 1, text: b"one" }, StringEntry { id: 2, text: b"" }]
        );
        assert_eq!(strings(&out[..out.len() - 1]).count(), 1);
        let mut out = Vec::new();
        append_site(&mut out, 1, 77, b"main.c");
        assert_eq!(sites(&out).collect::<Vec<_>>(), [SiteEntry { id: 1, line: 77, file: b"main.c" }]);
    }
}
