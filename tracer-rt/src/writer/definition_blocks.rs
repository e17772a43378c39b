//! Writes the definitions that records refer to, before the records: specs, strings, sites,
//! threads.

use std::io;

use tracer_format::entries::{append_site, append_string};
use tracer_format::{BlockHeader, BlockKind};

use super::block_writer::BlockWriter;
use super::codec::CompressionEffort;
use crate::intern_tables::{TABLES, has_more};
use crate::levels::level_table::RegisteredProvider;
use crate::live_file;
use crate::state::{RecorderState, STATE};

impl BlockWriter {
    /// Writes the new names if the file can be written.
    pub(crate) fn write_names(&mut self) {
        if self.ensure_open()
            && let Err(error) = self.definitions()
        {
            self.report_once(&format!("cannot write the trace: {error}"));
        }
    }

    /// Writes the new specs, strings, sites and thread names.
    /// Called before each block of records, because the names that records use were known before
    /// their slot was sealed.
    pub(super) fn definitions(&mut self) -> io::Result<()> {
        let logged = live_file::used_log_bytes();
        let mut state = STATE.lock();
        state.name_signal_streams();
        let schemas: Vec<_> =
            state.levels.registered_from(self.schemas).iter().map(RegisteredProvider::payload).collect();
        let streams = take_unwritten_streams(&mut state);
        drop(state);
        for schema in schemas {
            self.process_block(BlockKind::Schema, 1, &schema, (0, 0))?;
            self.packing.read_schema(&schema);
            self.schemas += 1;
        }
        for (stream, payload) in streams {
            let header = BlockHeader {
                kind: BlockKind::Stream as u8,
                stream,
                records: 1,
                sequence: self.sequence,
                ..BlockHeader::default()
            };
            let appended = self.append(header, &payload, CompressionEffort::None);
            if appended.is_err() {
                STATE
                    .lock()
                    .entries
                    .iter_mut()
                    .filter(|entry| entry.stream.index >= stream)
                    .for_each(|entry| entry.names_written = false);
            }
            appended?;
            self.sequence += 1;
        }
        if has_more(self.strings, self.sites) {
            self.names()?;
        }
        live_file::log_written(logged);
        Ok(())
    }

    fn names(&mut self) -> io::Result<()> {
        // A payload of a reasonable size. Long tables take several blocks.
        const PAYLOAD_BYTES: usize = 1 << 20;
        loop {
            let tables = TABLES.lock();
            let (mut strings, mut sites) = (Vec::new(), Vec::new());
            let (mut string_count, mut site_count) = (0, 0);
            for text in tables.strings_from(self.strings) {
                if strings.len() >= PAYLOAD_BYTES {
                    break;
                }
                string_count += 1;
                append_string(&mut strings, (self.strings + string_count) as u32, text.as_bytes());
            }
            for site in tables.sites_from(self.sites) {
                if sites.len() >= PAYLOAD_BYTES {
                    break;
                }
                site_count += 1;
                append_site(&mut sites, (self.sites + site_count) as u32, site.line, site.file.as_bytes());
            }
            drop(tables);
            if string_count == 0 && site_count == 0 {
                return Ok(());
            }
            if string_count > 0 {
                self.process_block(BlockKind::Strings, string_count as u32, &strings, (0, 0))?;
                self.strings += string_count;
            }
            if site_count > 0 {
                self.process_block(BlockKind::Sites, site_count as u32, &sites, (0, 0))?;
                self.sites += site_count;
            }
        }
    }
}

/// Returns the streams that the file does not describe yet, or not with their latest name.
/// They count as written from now on: a name set during the write makes the stream new again.
fn take_unwritten_streams(state: &mut RecorderState) -> Vec<(u32, Vec<u8>)> {
    let unwritten = state.entries.iter_mut().filter(|entry| !entry.names_written);
    unwritten
        .map(|entry| {
            entry.names_written = true;
            (entry.stream.index, entry.tags())
        })
        .collect()
}
