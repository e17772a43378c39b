//! What the log of names of a live file adds to what its process's file says. Reading and repairing ask the same, so that a
//! repaired file says what was read.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use tracer_format::entries::{append_site, append_string, sites, strings};
use tracer_format::record::Lost;
use tracer_format::tags::{Tags, tag};
use tracer_format::{BlockKind, FormatError, ID_LOST, RECORD_HEAD_BYTES};

use super::live::{Entry, entries_of};
use super::process::Process;
use super::process_builder::{Building, sites_of, strings_of};
use super::scan::scan;

/// A process whose file is scanned, and to which the log adds.
pub(super) struct Adding<'b> {
    building: &'b mut Building,
    /// That of the live file.
    process_id: [u8; 16],
    /// Ids that the file explains.
    strings: HashSet<u32>,
    sites: HashSet<u32>,
}

/// What a payload tells of losses, if that is all it has.
fn news(payload: &[u8]) -> Option<Lost> {
    let (head, body) = payload.split_first_chunk::<RECORD_HEAD_BYTES>()?;
    if head[..2] == ID_LOST.to_le_bytes() && body.len() == Lost::BYTES { Lost::decode(body) } else { None }
}

impl<'b> Adding<'b> {
    pub(super) fn new(building: &'b mut Building, process_id: [u8; 16]) -> Self {
        let strings = building.strings.iter().map(|(id, _)| *id).collect();
        let sites = building.sites.iter().map(|(id, _)| *id).collect();
        Self { building, process_id, strings, sites }
    }

    /// Takes what an entry of the log adds, and gives that. Where both say something, the file is right: its blocks have checksums.
    ///
    /// # Errors
    /// When the entry is a schema that is none.
    pub(super) fn take(&mut self, entry: Entry) -> Result<Option<Entry>, FormatError> {
        let adds = match entry.kind {
            BlockKind::Process => {
                let own = process_id(&entry.payload).is_none_or(|id| id == self.process_id);
                let adds = own && self.building.process.id == [0; 16];
                if adds {
                    self.building.process_tags(&entry.payload);
                }
                adds
            }
            BlockKind::Stream => {
                let known = self.building.streams.get(entry.stream);
                let named = known.is_some_and(|stream| stream.described);
                // What the file has not is newer than what it has.
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
                if let Some(lost) = news(&entry.payload) {
                    self.building.streams.get_or_create(entry.stream).losses_mut().unreported.push(lost);
                }
                false
            }
            BlockKind::Sync | BlockKind::Anchors | BlockKind::End => false,
        };
        Ok(adds.then_some(entry))
    }

    fn take_names(&mut self, entry: &Entry) -> Option<Entry> {
        let (mut payload, mut entries) = (Vec::new(), 0);
        if entry.kind == BlockKind::Strings {
            for (id, text) in strings(&entry.payload).filter(|(id, _)| !self.strings.contains(id)) {
                append_string(&mut payload, id, text);
                entries += 1;
            }
            self.building.strings.extend(strings_of(&payload));
        } else {
            for (id, line, file) in sites(&entry.payload).filter(|(id, ..)| !self.sites.contains(id)) {
                append_site(&mut payload, id, line, file);
                entries += 1;
            }
            self.building.sites.extend(sites_of(&payload));
        }
        (entries > 0).then_some(Entry {
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
    Tags(tags).find(|(number, _)| *number == tag::PROCESS_ID).and_then(|(_, id)| id.try_into().ok())
}

/// What the log of a process's live file adds to its file, in the order in which it does.
///
/// # Errors
/// When one of the two cannot be read.
pub(crate) fn missing_names(process: &Process) -> io::Result<Vec<Entry>> {
    let Some(live) = process.live.as_ref().filter(|live| live.used) else { return Ok(Vec::new()) };
    let mut building = Building::default();
    if !process.live_alone {
        let file = File::open(&process.path)?;
        let length = file.metadata()?.len().min(process.file_bytes);
        scan(&file, length, &mut |found| building.take(found))?;
    }
    let entries = entries_of(&live.path).map_err(|why| io::Error::other(format!("{}: {why}", live.path.display())))?;
    let mut adding = Adding::new(&mut building, process.id);
    // A schema that is none was told of when the process was opened.
    Ok(entries.into_iter().filter_map(|entry| adding.take(entry).ok().flatten()).collect())
}
