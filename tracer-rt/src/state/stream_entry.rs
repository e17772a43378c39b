//! A stream and its owner, as the session sees them.

use std::sync::atomic::Ordering;

use tracer_format::BlockKind;
use tracer_format::tags::{append_integer, append_tag, tag};

use crate::cursor::{Cursor, NESTED, RING};
use crate::live_file;
use crate::slots::{Flushed, Slot, used};
use crate::stream::Stream;
use crate::stream::drops::Gaps;

/// What a stream is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Its thread's name.
    pub(crate) thread: Option<String>,
    /// What the program says that the thread's streams are.
    pub(crate) label: Option<String>,
}

/// A stream, as the session sees it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) stream: Box<Stream>,
    /// The thread's cursor, or null when the thread has ended. Of the thread alone to look at: it may be gone without a word.
    pub(crate) cursor: *const Cursor,
    pub(crate) tid: u64,
    pub(crate) names: Names,
    /// When the thread ended.
    pub(crate) end: Option<u64>,
    /// Thread id and names are in the file.
    pub(crate) told: bool,
    pub(crate) next_sequence: u64,
    /// A part of a slot that is being written just now. The stream may have gone on to another slot meanwhile.
    pub(crate) pending: Option<Pending>,
    /// Full slots of it that are kept, wait to be written, or are being written.
    pub(crate) waiting: usize,
    /// What was overwritten and no block has told of.
    pub(crate) gaps: Gaps,
}

/// A part of a slot that becomes a block. Numbers of later blocks count on it, once its stream has gone on to another slot: when it could not be
/// written, it is the same part again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) slot: *const Slot,
    /// What of it is in the file then, and the date of the last record there.
    pub(crate) after: Flushed,
    pub(crate) last: u64,
}

impl Entry {
    /// The tagged fields of its `stream` block.
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

    pub(crate) const fn new(stream: Box<Stream>, cursor: *const Cursor, tid: u64, names: Names) -> Self {
        Self {
            stream,
            cursor,
            tid,
            names,
            end: None,
            told: false,
            next_sequence: 0,
            pending: None,
            waiting: 0,
            gaps: Gaps::new(),
        }
    }

    /// Notes the stream in the live file; false when that has no room.
    pub(crate) fn log(&self) -> bool {
        live_file::log(BlockKind::Stream, self.stream.index, 1, &self.tags())
    }

    /// Its thread has ended. The live file knows the rest of its tags already.
    pub(crate) fn end_at(&mut self, end: u64) {
        if end == 0 {
            // It recorded nothing, and ended unseen.
            return;
        }
        self.end = Some(end);
        self.told = false;
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::THREAD_END, end);
        // Best effort: it is written soon.
        live_file::log(BlockKind::Stream, self.stream.index, 1, &tags);
    }

    /// The part of this slot that is being written, or that could not be.
    pub(crate) fn pending_of(&self, slot: *const Slot) -> Option<Pending> {
        self.pending.filter(|pending| std::ptr::eq(pending.slot, slot))
    }

    /// The thread has ended, and all that it recorded is written, or overwritten.
    pub(crate) fn is_gone(&self) -> bool {
        self.cursor.is_null() && self.waiting == 0
    }

    /// Whether there are losses that no block tells of.
    pub(crate) fn has_untold(&self) -> bool {
        self.stream.losses.untold() || !self.gaps.is_empty()
    }

    /// The stream's slot is complete: the next one's blocks follow those that are made of it.
    pub(crate) fn close_slot(&mut self, head: &Slot) {
        let done = self.pending_of(head).map_or_else(|| head.flushed(), |pending| pending.after);
        let rest = done.bytes < used(head.state.load(Ordering::Relaxed));
        self.next_sequence = head.sequence.load(Ordering::Relaxed) + u64::from(done.blocks) + u64::from(rest);
    }
}
