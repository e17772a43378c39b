//! The layout of the index file, as `INDEX.md` describes it: the header, and the records of lanes.
//!
//! The only place that knows these offsets. Nothing read here is believed: places and lengths are checked where they are used.

use twox_hash::XxHash3_64;

/// The first bytes.
pub(crate) const MAGIC: [u8; 8] = *b"TMTINDEX";
/// Counts up with every change of the layout, and of what the simulation makes of a trace.
pub(crate) const VERSION: u64 = 13;
/// Bytes that have a checksum of their own; the header takes the first.
pub(crate) const PAGE: usize = 4096;
/// Sections begin at multiples of this.
pub(crate) const ALIGNMENT: u64 = 64;
/// Rows per block of a table.
pub(crate) const BLOCK: usize = 64;

/// The checksum of a page.
pub(crate) fn page_checksum(page: &[u8]) -> u32 {
    XxHash3_64::oneshot(page) as u32
}

/// Stands for the trace that an index was made of, and how: what differs makes it stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Bytes of the trace.
    pub size: u64,
    /// Of names, dates and samples of the content.
    pub content: u64,
    /// Of all options that change what is seen.
    pub options: u64,
}

/// A table: how many rows, and where its blocks and its directory are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) rows: u64,
    pub(crate) payload: u64,
    pub(crate) directory: u64,
}

impl TableRef {
    /// The same, `by` bytes further back.
    pub(crate) fn moved(self, by: u64) -> Self {
        Self { payload: moved(self.payload, by), directory: moved(self.directory, by), ..self }
    }
}

/// A place that is `by` bytes further back; 0 is none, and stays.
fn moved(at: u64, by: u64) -> u64 {
    if at == 0 { 0 } else { at + by }
}

/// Bytes from a place on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u64,
    /// Bytes, or records where it says so.
    pub(crate) len: u64,
}

/// What the first page says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) key: Key,
    /// Bytes of the file.
    pub(crate) length: u64,
    /// Checksums of the pages.
    pub(crate) checksums: Place,
    /// Of `checksums`.
    pub(crate) checksums_hash: u64,
    /// Types, values, containers, remarks: what is read as a whole.
    pub(crate) model: Place,
    /// Records of state lanes, events, variables and links.
    pub(crate) states: Place,
    pub(crate) marks: Place,
    pub(crate) variables: Place,
    pub(crate) links: Place,
    /// Extra fields: where each row begins in the bytes behind.
    pub(crate) detail_rows: TableRef,
    pub(crate) detail_bytes: Place,
    pub(crate) text_ends: TableRef,
    pub(crate) text_bytes: Place,
    pub(crate) keys: TableRef,
    pub(crate) references: TableRef,
    pub(crate) reference_tree: u64,
    pub ends: TableRef,
    /// Tables of the overview, by the width of their columns.
    pub(crate) overview: Place,
    /// Records of the sums of nested states.
    pub(crate) nested: Place,
}

/// Why an index is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("it is no index of ours")]
    Foreign,
    #[error("it is of another version")]
    Version,
    #[error("the trace has changed, or was opened in another way")]
    Stale,
    #[error("it is damaged")]
    Damaged,
}

/// Takes words one after the other; zeros behind the last.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> u64 {
        let Some((word, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u64::from_le_bytes(*word)
    }

    fn table(&mut self) -> TableRef {
        TableRef { rows: self.next(), payload: self.next(), directory: self.next() }
    }

    fn place(&mut self) -> Place {
        Place { at: self.next(), len: self.next() }
    }
}

fn put(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

fn put_table(out: &mut Vec<u8>, table: TableRef) {
    put(out, &[table.rows, table.payload, table.directory]);
}

fn put_places(out: &mut Vec<u8>, places: &[Place]) {
    places.iter().for_each(|place| put(out, &[place.at, place.len]));
}

impl Header {
    /// The first page.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(PAGE);
        page.extend_from_slice(&MAGIC);
        put(&mut page, &[VERSION, self.length, self.key.size, self.key.content, self.key.options]);
        put_places(&mut page, &[self.checksums]);
        put(&mut page, &[self.checksums_hash]);
        put_places(&mut page, &[self.model, self.states, self.marks, self.variables, self.links]);
        put_table(&mut page, self.detail_rows);
        put_places(&mut page, &[self.detail_bytes]);
        put_table(&mut page, self.text_ends);
        put_places(&mut page, &[self.text_bytes]);
        put_table(&mut page, self.keys);
        put_table(&mut page, self.references);
        put(&mut page, &[self.reference_tree]);
        put_table(&mut page, self.ends);
        put_places(&mut page, &[self.overview, self.nested]);
        page.resize(PAGE - 8, 0);
        let hash = XxHash3_64::oneshot(&page);
        put(&mut page, &[hash]);
        page
    }

    /// Reads the first page of a file that has `length` bytes, as an index of what `key` stands for.
    pub(crate) fn decode(page: &[u8], length: u64, key: Key) -> Result<Self, Refused> {
        if !page.starts_with(&MAGIC) {
            return Err(Refused::Foreign);
        }
        let mut words = Words(page.get(MAGIC.len()..).unwrap_or(&[]));
        if words.next() != VERSION {
            return Err(Refused::Version);
        }
        let Some((body, hash)) = page.split_last_chunk::<8>().filter(|_| page.len() == PAGE) else {
            return Err(Refused::Damaged);
        };
        if XxHash3_64::oneshot(body) != u64::from_le_bytes(*hash) {
            return Err(Refused::Damaged);
        }
        let header = Self {
            length: words.next(),
            key: Key { size: words.next(), content: words.next(), options: words.next() },
            checksums: words.place(),
            checksums_hash: words.next(),
            model: words.place(),
            states: words.place(),
            marks: words.place(),
            variables: words.place(),
            links: words.place(),
            detail_rows: words.table(),
            detail_bytes: words.place(),
            text_ends: words.table(),
            text_bytes: words.place(),
            keys: words.table(),
            references: words.table(),
            reference_tree: words.next(),
            ends: words.table(),
            overview: words.place(),
            nested: words.place(),
        };
        let pages = header.checksums.at / PAGE as u64;
        let whole = header.checksums.at.is_multiple_of(PAGE as u64)
            && (pages.max(1) - 1).checked_mul(4) == Some(header.checksums.len)
            && header.checksums.at.checked_add(header.checksums.len) == Some(length)
            && header.length == length;
        match () {
            () if header.key != key => Err(Refused::Stale),
            () if !whole => Err(Refused::Damaged),
            () => Ok(header),
        }
    }
}

/// A lane of states, of events, of a variable, the links of a type, or the sums of nested states.
///
/// The meaning of the last places depends on what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneRecord {
    pub(crate) container: u32,
    pub(crate) ty: u32,
    pub(crate) depth: u32,
    /// Number of the first entity.
    pub(crate) base: u32,
    pub(crate) table: TableRef,
    /// States and events: the values that occur, four bytes each, and their number. Links: the sorted ends, and how many.
    pub(crate) values: Place,
    /// States: sums of time, and which kind of them. Events: how many of each value come before some rows, and before how many.
    /// Nested states: the sums, and their length in words. Variables and links: the tree. Links
    /// also: the offset from the tree to the list of counts, if there is one.
    pub(crate) sums: Place,
    /// Links: how far behind the sorted ends their directory is. States: number of the lane in the overview plus one, or 0.
    pub(crate) extra: u64,
}

impl LaneRecord {
    /// Bytes of a record.
    pub(crate) const BYTES: usize = 80;

    /// The same, where all that it tells of stands `by` bytes further back.
    pub(crate) fn moved(self, by: u64) -> Self {
        let of = |place: Place| Place { at: moved(place.at, by), ..place };
        Self { table: self.table.moved(by), values: of(self.values), sums: of(self.sums), ..self }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        put(out, &[pair(self.container, self.ty), pair(self.depth, self.base)]);
        put_table(out, self.table);
        put_places(out, &[self.values, self.sums]);
        put(out, &[self.extra]);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let mut words = Words(bytes);
        let (place, number) = (words.next(), words.next());
        Self {
            container: place as u32,
            ty: (place >> 32) as u32,
            depth: number as u32,
            base: (number >> 32) as u32,
            table: words.table(),
            values: words.place(),
            sums: words.place(),
            extra: words.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let lane = LaneRecord {
            container: 1,
            ty: 2,
            depth: 3,
            base: u32::MAX,
            table: TableRef { rows: 5, payload: 6, directory: 7 },
            values: Place { at: 8, len: 9 },
            sums: Place { at: 10, len: 11 },
            extra: u64::MAX,
        };
        let mut bytes = Vec::new();
        lane.encode(&mut bytes);
        assert_eq!(bytes.len(), LaneRecord::BYTES);
        assert_eq!(LaneRecord::decode(&bytes), lane);
        let table = |rows| TableRef { rows, payload: 1, directory: 2 };
        let header = Header {
            key: Key { size: 1, content: 2, options: 3 },
            length: 3 * PAGE as u64 + 8,
            checksums: Place { at: 3 * PAGE as u64, len: 8 },
            model: Place { at: 77, len: 78 },
            text_ends: table(4),
            references: table(5),
            reference_tree: 6,
            ends: table(7),
            ..Header::default()
        };
        let page = header.encode();
        assert_eq!(page.len(), PAGE);
        assert_eq!(Header::decode(&page, header.length, header.key), Ok(header));
        assert_eq!(Header::decode(&page, header.length, Key::default()), Err(Refused::Stale));
        assert_eq!(Header::decode(&page, header.length + 1, header.key), Err(Refused::Damaged));
        assert_eq!(Header::decode(&page[..100], header.length, header.key), Err(Refused::Damaged));
        assert_eq!(Header::decode(b"%EventDef", 9, header.key), Err(Refused::Foreign));
    }
}
