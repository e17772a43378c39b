//! The tables of interned strings and source positions.

pub(crate) mod lock_free_set;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracer_format::entries::{append_site, append_string};
use tracer_format::{BlockKind, PROCESS_STREAM};

use crate::cursor::raise_test_signal;
use crate::files::cut;
use crate::live_file;
use crate::locks::{RecorderLock, bit};

/// Maximum bytes of a string. A longer string is cut between characters.
pub(crate) const MAX_TEXT_BYTES: usize = 4096;
/// Maximum bytes of all strings together. Later strings are recorded as [`TOO_MANY`].
const MAX_STRING_BYTES: usize = 64 << 20;
const TOO_MANY: &str = "(too many different strings)";

/// A source position. The column only distinguishes positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SitePosition<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Debug)]
pub(crate) struct InternTables {
    strings: Vec<&'static str>,
    string_ids: Option<HashMap<&'static str, u32>>,
    string_bytes: usize,
    sites: Vec<SitePosition<'static>>,
    site_ids: Option<HashMap<SitePosition<'static>, u32>>,
    /// The live file had no space for a name.
    /// This name and all later ones must be in the file before they are used.
    pub(crate) overflowed: bool,
}

pub(crate) static TABLES: RecorderLock<InternTables> = RecorderLock::new(
    bit::TABLES,
    InternTables {
        strings: Vec::new(),
        string_ids: None,
        string_bytes: 0,
        sites: Vec::new(),
        site_ids: None,
        overflowed: false,
    },
);

/// Number of strings, to detect new ones without the lock.
static STRINGS: AtomicUsize = AtomicUsize::new(0);

/// Number of sites, to detect new ones without the lock.
static SITES: AtomicUsize = AtomicUsize::new(0);

impl InternTables {
    pub(crate) fn string(&mut self, text: &str) -> (&'static str, u32) {
        let text = cut(text, MAX_TEXT_BYTES);
        let ids = self.string_ids.get_or_insert_default();
        if let Some((text, id)) = ids.get_key_value(text) {
            return (text, *id);
        }
        let text = if self.string_bytes + text.len() <= MAX_STRING_BYTES { text } else { TOO_MANY };
        if let Some((text, id)) = ids.get_key_value(text) {
            return (text, *id);
        }
        raise_test_signal("a name");
        self.string_bytes += text.len();
        let leaked: &'static str = Box::leak(text.into());
        self.strings.push(leaked);
        let id = self.strings.len() as u32;
        ids.insert(leaked, id);
        let mut entry = Vec::new();
        append_string(&mut entry, id, leaked.as_bytes());
        self.overflowed |= !live_file::log(BlockKind::Strings, PROCESS_STREAM, 1, &entry);
        STRINGS.store(self.strings.len(), Ordering::Release);
        (leaked, id)
    }

    /// The number of a source position. The file name of a new one is copied, unless it is
    /// `'static`.
    pub(crate) fn site(&mut self, position: SitePosition<'_>, file: Option<&'static str>) -> u32 {
        let ids = self.site_ids.get_or_insert_default();
        let known_ids: &HashMap<SitePosition<'_>, u32> = ids;
        if let Some(id) = known_ids.get(&position) {
            return *id;
        }
        let file = file.unwrap_or_else(|| match self.sites.iter().find(|site| site.file == position.file) {
            Some(site) => site.file,
            None => Box::leak(cut(position.file, MAX_TEXT_BYTES).into()),
        });
        let position = SitePosition { file, ..position };
        self.sites.push(position);
        let id = self.sites.len() as u32;
        ids.insert(position, id);
        let mut entry = Vec::new();
        append_site(&mut entry, id, position.line, file.as_bytes());
        self.overflowed |= !live_file::log(BlockKind::Sites, PROCESS_STREAM, 1, &entry);
        SITES.store(self.sites.len(), Ordering::Release);
        id
    }

    /// Adds all names to the new live file, which has space for them.
    pub(crate) fn log(&self) {
        for (index, text) in self.strings.iter().enumerate() {
            let mut entry = Vec::new();
            append_string(&mut entry, index as u32 + 1, text.as_bytes());
            live_file::log(BlockKind::Strings, PROCESS_STREAM, 1, &entry);
        }
        for (index, site) in self.sites.iter().enumerate() {
            let mut entry = Vec::new();
            append_site(&mut entry, index as u32 + 1, site.line, site.file.as_bytes());
            live_file::log(BlockKind::Sites, PROCESS_STREAM, 1, &entry);
        }
    }

    /// Resets the overflow flag in a forked child, because it will have another live file.
    pub(crate) const fn forget_overflow(&mut self) {
        self.overflowed = false;
    }

    /// Size in bytes of the log entries of [`Self::log`].
    pub(crate) fn log_bytes(&self) -> usize {
        let strings: usize = self.strings.iter().map(|text| live_file::entry_bytes(8 + text.len())).sum();
        let sites: usize = self.sites.iter().map(|site| live_file::entry_bytes(12 + site.file.len())).sum();
        strings + sites
    }

    /// The strings from index `from` on. The first one has the id `from + 1`.
    pub(crate) fn strings_from(&self, from: usize) -> &[&'static str] {
        self.strings.get(from..).unwrap_or(&[])
    }

    /// The sites from index `from` on. The first one has the id `from + 1`.
    pub(crate) fn sites_from(&self, from: usize) -> &[SitePosition<'static>] {
        self.sites.get(from..).unwrap_or(&[])
    }
}

/// Whether there are more than `strings` strings or `sites` sites.
pub(crate) fn has_more(strings: usize, sites: usize) -> bool {
    STRINGS.load(Ordering::Acquire) > strings || SITES.load(Ordering::Acquire) > sites
}
