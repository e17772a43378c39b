//! Adds the log of names of a live file to the contents of its process file. Reading and repairing
//! use the same code, so that a repaired file has the contents that were read.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use tracer_format::entries::{SiteEntry, StringEntry, append_site, append_string, sites, strings};
use tracer_format::record::DroppedRecords;
use tracer_format::tags::{TagIterator, tag};
use tracer_format::{BlockKind, FormatError, ID_DROPPED, RECORD_HEAD_BYTES};

use super::file_scan::scan;
use super::live_snapshot::{LiveLogEntry, entries_of};
use super::process::ProcessInRun;
use super::process_builder::{ProcessBuilder, sites_of, strings_of};

/// A process with a scanned file, to which the log adds.
pub(super) struct ProcessNames<'b> {
    building: &'b mut ProcessBuilder,
    /// The process id in the live file.
    process_id: [u8; 16],
    /// String ids that the file defines. `sites` are those of source positions.
    strings: HashSet<u32>,
    sites: HashSet<u32>,
}

/// The dropped records that a payload reports, if it contains nothing besides this report.
fn decode_drop_report(payload: &[u8]) -> Option<DroppedRecords> {
    let (head, body) = payload.split_first_chunk::<RECORD_HEAD_BYTES>()?;
    if head[..2] == ID_DROPPED.to_le_bytes() && body.len() == DroppedRecords::BYTES {
        DroppedRecords::decode(body)
    } else {
        None
    }
}

impl<'b> ProcessNames<'b> {
    pub(super) fn new(building: &'b mut ProcessBuilder, process_id: [u8; 16]) -> Self {
        let strings = building.strings.iter().map(|(id, _)| *id).collect();
        let sites = building.sites.iter().map(|(id, _)| *id).collect();
        Self { building, process_id, strings, sites }
    }

    /// Adds an entry of the log, and returns the part that is new. The file takes precedence over
    /// the log, because its blocks have checksums.
    ///
    /// # Errors
    /// If the entry is an invalid schema.
    pub(super) fn add_entry(&mut self, entry: LiveLogEntry) -> Result<Option<LiveLogEntry>, FormatError> {
        let adds = match entry.kind {
            BlockKind::Process => {
                let is_own = process_id(&entry.payload).is_none_or(|id| id == self.process_id);
                let adds = is_own && self.building.process.id == [0; 16];
                if adds {
                    self.building.process_tags(&entry.payload);
                }
                adds
            }
            BlockKind::Stream => {
                let known = self.building.streams.get(entry.stream);
                let named = known.is_some_and(|stream| stream.has_description);
                // An entry that is not in the file is newer than the description in the file.
                let adds = !entry.in_file || !named;
                if adds {
                    self.building.stream_tags(entry.stream, &entry.payload);
                }
                adds
            }
            BlockKind::Schema => {
                let base = entry.payload.first_chunk().map(|base| u32::from_le_bytes(*base));
                let known = |base| self.building.process.providers.iter().any(|known| u32::from(known.base) == base);
                let adds = !base.is_some_and(known);
                if adds {
                    self.building.schema(&entry.payload)?;
                }
                adds
            }
            BlockKind::Strings | BlockKind::Sites => return Ok(self.take_names(&entry)),
            BlockKind::Records => {
                if let Some(record) = decode_drop_report(&entry.payload) {
                    self.building.streams.get_or_create(entry.stream).losses_mut().unreported.push(record);
                }
                false
            }
            BlockKind::Sync | BlockKind::Anchors | BlockKind::End => false,
        };
        Ok(adds.then_some(entry))
    }

    fn take_names(&mut self, entry: &LiveLogEntry) -> Option<LiveLogEntry> {
        let (mut payload, mut entries) = (Vec::new(), 0);
        if entry.kind == BlockKind::Strings {
            for StringEntry { id, text } in strings(&entry.payload).filter(|new| !self.strings.contains(&new.id)) {
                append_string(&mut payload, id, text);
                entries += 1;
            }
            self.building.strings.extend(strings_of(&payload));
        } else {
            for SiteEntry { id, line, file } in sites(&entry.payload).filter(|new| !self.sites.contains(&new.id)) {
                append_site(&mut payload, id, line, file);
                entries += 1;
            }
            self.building.sites.extend(sites_of(&payload));
        }
        (entries > 0).then_some(LiveLogEntry {
            kind: entry.kind,
            stream: entry.stream,
            in_file: entry.in_file,
            entries,
            payload,
        })
    }
}

/// The process id among the tags of a process.
pub(super) fn process_id(tags: &[u8]) -> Option<[u8; 16]> {
    TagIterator(tags).find(|(number, _)| *number == tag::PROCESS_ID).and_then(|(_, id)| id.try_into().ok())
}

/// The entries that the log of a process's live file adds to its file, in their order.
///
/// # Errors
/// If one of the two files cannot be read.
pub(crate) fn missing_names(process: &ProcessInRun) -> io::Result<Vec<LiveLogEntry>> {
    let Some(live) = process.live.as_ref().filter(|live| live.is_used) else { return Ok(Vec::new()) };
    let mut building = ProcessBuilder::default();
    if !process.live_alone {
        let file = File::open(&process.path)?;
        let length = file.metadata()?.len().min(process.file_bytes);
        scan(&file, length, &mut |item| building.add_item(item))?;
    }
    let entries = entries_of(&live.path).map_err(|why| io::Error::other(format!("{}: {why}", live.path.display())))?;
    let mut adding = ProcessNames::new(&mut building, process.id);
    // The opening of the process has already reported invalid schemas.
    Ok(entries.into_iter().filter_map(|entry| adding.add_entry(entry).ok().flatten()).collect())
}
