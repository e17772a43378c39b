//! A stream and its owner, as the session sees them.

use std::sync::atomic::Ordering;

use tracer_format::BlockKind;
use tracer_format::tags::{append_integer, append_tag, tag};

use crate::cursor::{NESTED, RING, ThreadCursor};
use crate::live_file;
use crate::slots::{FlushMark, SlotHeader, used_bytes};
use crate::stream::ThreadStream;
use crate::stream::drops::OverwrittenRanges;

#[derive(Clone, Debug, Default)]
pub(crate) struct StreamNames {
    /// Name of the thread.
    pub(crate) thread: Option<String>,
    /// The label that the program gives to the thread's streams.
    pub(crate) label: Option<String>,
}

/// A stream, as the session sees it.
#[derive(Debug)]
pub(crate) struct StreamEntry {
    pub(crate) stream: Box<ThreadStream>,
    /// The thread's cursor, or null when the thread has ended.
    /// Only the thread itself reads the cursor, because the thread may exit without notice and free
    /// its memory.
    pub(crate) cursor: *const ThreadCursor,
    pub(crate) tid: u64,
    pub(crate) names: StreamNames,
    /// Timestamp of the thread's end.
    pub(crate) end: Option<u64>,
    /// Thread id and names are in the file.
    pub(crate) names_written: bool,
    pub(crate) next_sequence: u64,
    /// A part of a slot that is being written now.
    /// The stream may have continued with another slot meanwhile.
    pub(crate) pending_block: Option<PendingBlock>,
    /// Number of full slots of the stream that are kept, wait for the writer thread, or are being
    /// written.
    pub(crate) waiting_slots: usize,
    /// Overwritten records that no block reports yet.
    pub(crate) gaps: OverwrittenRanges,
}

/// A part of a slot that becomes a block.
/// If the stream has continued with another slot, the numbers of its later blocks assume this
/// block. If it could not be written, the next attempt therefore writes the same part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingBlock {
    pub(crate) slot: *const SlotHeader,
    /// The part of the slot that is in the file after the write.
    pub(crate) end_mark: FlushMark,
    /// Timestamp of the last record of that part.
    pub(crate) last: u64,
}

impl StreamEntry {
    /// The tagged fields of the stream's `stream` block.
    pub(crate) fn tags(&self) -> Vec<u8> {
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::TID, self.tid);
        for (number, text) in [(tag::THREAD_NAME, &self.names.thread), (tag::STREAM_LABEL, &self.names.label)] {
            if let Some(text) = text {
                append_tag(&mut tags, number, text.as_bytes());
            }
        }
        if self.stream.class == NESTED {
            append_integer(&mut tags, tag::SIGNAL_STREAM, 1);
        }
        if self.stream.class == RING {
            append_integer(&mut tags, tag::OVERWRITTEN, 1);
        }
        if let Some(end) = self.end {
            append_integer(&mut tags, tag::THREAD_END, end);
        }
        tags
    }

    pub(crate) const fn new(
        stream: Box<ThreadStream>,
        cursor: *const ThreadCursor,
        tid: u64,
        names: StreamNames,
    ) -> Self {
        Self {
            stream,
            cursor,
            tid,
            names,
            end: None,
            names_written: false,
            next_sequence: 0,
            pending_block: None,
            waiting_slots: 0,
            gaps: OverwrittenRanges::new(),
        }
    }

    /// Adds the stream to the live file. Returns false if the file's log has no space.
    pub(crate) fn log(&self) -> bool {
        live_file::log(BlockKind::Stream, self.stream.index, 1, &self.tags())
    }

    /// Marks the thread as ended. The live file already has the other tags of the stream.
    pub(crate) fn end_at(&mut self, end: u64) {
        if end == 0 {
            // The thread recorded nothing, and its end was not seen.
            return;
        }
        self.end = Some(end);
        self.names_written = false;
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::THREAD_END, end);
        // If the live file has no room, nothing is lost: the writer thread soon writes the end to
        // the process's file.
        live_file::log(BlockKind::Stream, self.stream.index, 1, &tags);
    }

    /// The part of this slot that is being written, or that could not be written.
    pub(crate) fn pending_of(&self, slot: *const SlotHeader) -> Option<PendingBlock> {
        self.pending_block.filter(|pending| std::ptr::eq(pending.slot, slot))
    }

    /// Whether the thread has ended and all its records are written or overwritten.
    pub(crate) fn is_finished(&self) -> bool {
        self.cursor.is_null() && self.waiting_slots == 0
    }

    /// Whether there are drops that no block reports.
    pub(crate) fn has_unreported_drops(&self) -> bool {
        self.stream.drops.has_report() || !self.gaps.is_empty()
    }

    /// Closes the stream's slot. The blocks of the next slot follow those of this one.
    pub(crate) fn close_slot(&mut self, head: &SlotHeader) {
        let flush_mark = self.pending_of(head).map_or_else(|| head.flush_mark(), |pending| pending.end_mark);
        let rest = flush_mark.bytes < used_bytes(head.state.load(Ordering::Relaxed));
        self.next_sequence = head.sequence.load(Ordering::Relaxed) + u64::from(flush_mark.blocks) + u64::from(rest);
    }
}
