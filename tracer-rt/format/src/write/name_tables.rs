//! The names of a file: strings and source positions, and the blocks that define them.

use std::collections::HashMap;

use crate::block::BlockKind;
use crate::entries::{append_site, append_string};
use crate::record_values::Names;

/// The names of a file and their numbers.
#[derive(Debug, Default)]
pub struct NameTables {
    strings: HashMap<Box<str>, u32>,
    sites: HashMap<(Box<str>, u32), u32>,
    next_string: u32,
    next_site: u32,
    new_strings: Vec<u8>,
    new_sites: Vec<u8>,
    counts: [u32; 2],
}

impl NameTables {
    /// Assigns the number `id` to a string.
    pub fn set_string(&mut self, id: u32, text: &str) {
        self.next_string = self.next_string.max(id.saturating_add(1));
        self.strings.entry(text.into()).or_insert(id);
        append_string(&mut self.new_strings, id, text.as_bytes());
        self.counts[0] += 1;
    }

    /// Assigns the number `id` to a source position.
    pub fn set_site(&mut self, id: u32, file: &str, line: u32) {
        self.next_site = self.next_site.max(id.saturating_add(1));
        self.sites.entry((file.into(), line)).or_insert(id);
        append_site(&mut self.new_sites, id, line, file.as_bytes());
        self.counts[1] += 1;
    }

    /// Takes the payloads that define the new names: kind of block, number of entries, and bytes.
    pub(super) fn take_new(&mut self) -> [(BlockKind, u32, Vec<u8>); 2] {
        let [strings, sites] = std::mem::take(&mut self.counts);
        [
            (BlockKind::Strings, strings, std::mem::take(&mut self.new_strings)),
            (BlockKind::Sites, sites, std::mem::take(&mut self.new_sites)),
        ]
    }
}

impl Names for NameTables {
    fn string(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = self.next_string.max(1);
        self.set_string(id, text);
        id
    }

    fn site(&mut self, file: &str, line: u32) -> u32 {
        if let Some(id) = self.sites.get(&(Box::from(file), line)) {
            return *id;
        }
        let id = self.next_site.max(1);
        self.set_site(id, file, line);
        id
    }
}
