//! Creates the process's file at the first record, and restores it if it was removed.

use std::io;

use tracer_format::entries::ClockAnchor;
use tracer_format::{BlockKind, preamble};

use super::block_writer::{BlockWriter, WriterTarget};
use super::file_handle::ProcessFileHandle;
use super::reserve::DiskReserve;
use crate::state::STATE;
use crate::user_messages::report;
use crate::{local_clock, locks};

impl BlockWriter {
    /// Creates the folder and the file, unless the file is open.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        match self.file {
            WriterTarget::Open(_) => return Ok(()),
            WriterTarget::Failed | WriterTarget::Ended => {
                return Err(io::Error::other("its file could not be created"));
            }
            WriterTarget::None => {}
        }
        let opened = self.open_now();
        if opened.is_err() {
            self.file = WriterTarget::Failed;
            if let Some(live) = &STATE.lock().live {
                live.remove();
            }
        }
        opened
    }

    fn open_now(&mut self) -> io::Result<()> {
        let state = STATE.lock();
        let (folder, name) = (state.folder.clone().unwrap_or_default(), state.file_name.clone());
        let (tags, anchor) = (state.process_tags.clone(), state.first_anchor);
        self.reserve = DiskReserve::new(state.live.is_none());
        drop(state);
        locks::refuse_unsettled()?;
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        let file = ProcessFileHandle::create(path.clone())?;
        let started = self.start_file(file, &tags, &anchor);
        if started.is_err() {
            // The file contains no records.
            let _ = std::fs::remove_file(path);
        }
        started
    }

    fn start_file(&mut self, mut file: ProcessFileHandle, tags: &[u8], anchor: &ClockAnchor) -> io::Result<()> {
        self.length = preamble().len() as u64;
        self.reserve.grow(file.checked_file(0)?, self.length, self.stage)?;
        file.write(&preamble(), 0)?;
        self.file = WriterTarget::Open(file);
        self.process_block(BlockKind::Process, 1, tags, (0, 0))?;
        self.anchor(anchor)?;
        // Two readings show the rate of the clock, even if the process ends soon.
        local_clock::anchor_after(anchor).map_or(Ok(()), |second| self.anchor(&second))
    }

    /// If the file was removed, perhaps with its folder, writes its contents again.
    pub(super) fn restore(&mut self) {
        if locks::is_unsettled() {
            return;
        }
        let WriterTarget::Open(file) = &mut self.file else { return };
        if !file.is_removed(self.length) {
            return;
        }
        let state = STATE.lock();
        let (folder, name) = (state.folder.clone().unwrap_or_default(), state.file_name.clone());
        drop(state);
        let restored = std::fs::create_dir_all(&folder).and_then(|()| file.copy_to(folder.join(&name), self.length));
        let message = format!("`{}` was removed", folder.join(name).display());
        match restored {
            Ok(copy) => {
                self.file = WriterTarget::Open(copy);
                self.reserve.note_truncation(self.length);
                report(&format!("{message} while the program runs: it is created again"));
            }
            Err(error) => self.report_once(&format!("{message}: {error}")),
        }
    }

    pub(super) fn ensure_open(&mut self) -> bool {
        match self.file {
            WriterTarget::Open(_) => true,
            WriterTarget::Failed | WriterTarget::Ended => false,
            WriterTarget::None => match self.open() {
                Ok(()) => true,
                Err(error) => {
                    let folder = STATE.lock().folder.clone().unwrap_or_default();
                    self.report_once(&format!("cannot record in `{}`: {error}", folder.display()));
                    false
                }
            },
        }
    }

    pub(super) fn report_once(&mut self, message: &str) {
        if !self.has_reported && !locks::is_unsettled() {
            self.has_reported = true;
            report(&format!(
                "{message}; the program continues, its events are dropped (TUMIT_TRACE names the run folder)"
            ));
        }
    }
}
