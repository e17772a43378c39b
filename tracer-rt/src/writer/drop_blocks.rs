//! The news of losses that need blocks of their own: what was overwritten, what nothing follows, and what threads that are gone
//! have left untold.

use std::io;
use std::sync::atomic::Ordering;

use tracer_format::BlockKind;
use tracer_format::block::flag;

use super::Writer;
use super::codec::Effort;
use super::pending_block::Piece;
use super::reserve::Stage;
use crate::fault_injection;
use crate::live_file;
use crate::state::STATE;
use crate::state::stream_entry::Entry;
use crate::stream::drops::Gap;

impl Writer {
    /// Writes a piece, and before it the news of what was overwritten before it.
    pub(super) fn write_in_place(&mut self, piece: &Piece, effort: Effort) -> io::Result<()> {
        self.tell_overwritten(piece.stream, Some(piece))?;
        self.write_piece(piece, effort)
    }

    /// Tells of what a stream overwrote before this piece of it, or, without one, of all.
    fn tell_overwritten(&mut self, stream: u32, next: Option<&Piece>) -> io::Result<()> {
        let limit = next.map_or(u64::MAX, |next| next.sequence);
        loop {
            let mut state = STATE.lock();
            let Some(entry) = state.entry(stream) else { return Ok(()) };
            let Some(gap) = entry.gaps.take_before(limit) else { return Ok(()) };
            let news = of_gap(entry, &gap, next);
            drop(state);
            if let Err(error) = self.write_piece(&news, Effort::None) {
                if let Some(entry) = STATE.lock().entry(stream) {
                    entry.gaps.put_back(gap);
                }
                return Err(error);
            }
        }
    }

    /// Tells of losses after which a stream wrote nothing more.
    fn tell_last(&mut self, stream: u32) {
        // What cannot be told stays in the sum.
        let _ = self.tell_overwritten(stream, None);
        let news = STATE.lock().entry(stream).and_then(of_losses);
        if let Some(news) = news
            && self.write_piece(&news, Effort::None).is_err()
        {
            self.tell_live(&news);
        }
    }

    /// At the end, what the file does not take goes to the log of the live file, which stays then.
    fn tell_live(&mut self, news: &Piece) {
        if self.stage == Stage::News
            && STATE.lock().live.is_some()
            && live_file::log(BlockKind::Records, news.stream, 0, news.payload())
        {
            self.left_behind = true;
        }
    }

    /// At the end: tells of all losses of which no block has told. Of a stream with a slot that could not be written, in the live file.
    pub(super) fn write_untold(&mut self) {
        for stream in streams(|entry| entry.waiting == 0 && entry.has_untold()) {
            self.tell_last(stream);
        }
        if !self.left_behind {
            // Slots that still wait were filled behind the end, by threads that go on: what is in them is counted as dropped, as what
            // such threads record later, and the live file need not stay for it.
            return;
        }
        for stream in streams(|entry| entry.waiting > 0 && entry.stream.losses.untold()) {
            let news = STATE.lock().entry(stream).and_then(of_losses);
            if let Some(news) = news {
                self.tell_live(&news);
            }
        }
    }

    /// Lets go of streams whose threads have ended and of which nothing is left in memory, so that memory does not grow with the
    /// number of threads that ever lived. What nobody has told of them is told now.
    pub(super) fn forget_the_gone(&mut self) {
        // At the end there is room kept for what they have to tell, and nothing to be gained.
        if fault_injection::injected("the gone stay") || !STATE.lock().is_recording() {
            return;
        }
        let gone = streams(Entry::is_gone);
        if gone.is_empty() {
            return;
        }
        if self.opened() && !fault_injection::injected("the gone are silent") {
            // Their names, too: best effort, for nothing that is not in the file needs them.
            self.write_names();
            gone.iter().for_each(|stream| self.tell_last(*stream));
        }
        STATE.lock().forget(&gone);
    }
}

/// The indexes of some streams, in order.
fn streams(which: impl Fn(&Entry) -> bool) -> Vec<u32> {
    STATE.lock().entries.iter().filter(|entry| which(entry)).map(|entry| entry.stream.index).collect()
}

/// All of the gap is older than `next`. The block has the last of the numbers that are missing.
fn of_gap(entry: &Entry, gap: &Gap, next: Option<&Piece>) -> Piece {
    let date = next.map_or(u64::MAX, |next| next.first).min(gap.lost.last_ticks);
    let mut news = Piece::of_news(entry, &gap.lost, gap.end - 1, date, flag::OVERWRITTEN);
    if let Some(next) = next {
        news.dropped = next.dropped;
    }
    news
}

fn of_losses(entry: &mut Entry) -> Option<Piece> {
    let lost = entry.stream.losses.tell()?;
    let slot = entry.stream.slot.load(Ordering::Relaxed).cast_const();
    // SAFETY: a stream's slot is null or one of the pool.
    let head = unsafe { slot.as_ref() };
    let sequence = head.map_or(entry.next_sequence, |head| {
        // This block is none of the slot's: the slot's own get later numbers.
        let first = head.sequence.fetch_add(1, Ordering::Relaxed);
        first + u64::from(head.flushed().blocks)
    });
    entry.next_sequence = sequence + 1;
    Some(Piece::of_news(entry, &lost, sequence, lost.last_ticks, 0))
}
