//! The layout of the index file, as `INDEX.md` describes it: the header, and the records of lanes.
//!
//! The only place that knows these offsets. Nothing read here is trusted: the code that uses a
//! position or a length checks it.

use twox_hash::XxHash3_64;

/// The first bytes of an index file.
pub(crate) const MAGIC: [u8; 8] = *b"TMTINDEX";
/// The version of the layout. It increases with every change of the layout or of the simulation's
/// results.
pub(crate) const VERSION: u64 = 16;
/// Bytes per checksum. The header occupies the first page.
pub(crate) const PAGE: usize = 4096;
/// Sections begin at multiples of this number of bytes.
pub(crate) const ALIGNMENT: u64 = 64;
/// Rows per block of a table.
pub(crate) const BLOCK: usize = 64;
/// Columns of the parts of collective operations: operation, start, number of the state.
pub(crate) const OPERATION_PART_COLUMNS: usize = 3;

pub(crate) fn page_checksum(page: &[u8]) -> u32 {
    XxHash3_64::oneshot(page) as u32
}

/// Identifies the trace of an index, and how it was opened. An index with a different key is stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexKey {
    /// Bytes of the trace.
    pub size: u64,
    /// Hash of the names, modification times and samples of the trace's files.
    pub content: u64,
    /// Hash of all options that change the result.
    pub options: u64,
}

/// A table: the number of its rows, and the positions of its blocks and its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) rows: u64,
    pub(crate) payload: u64,
    pub(crate) directory: u64,
}

impl TableRef {
    /// The same table, `distance` bytes further into the file.
    pub(crate) fn shift_by(self, distance: u64) -> Self {
        Self {
            payload: shift_position(self.payload, distance),
            directory: shift_position(self.directory, distance),
            ..self
        }
    }
}

/// The position `distance` bytes further into the file. 0 means none, and stays 0.
fn shift_position(position: u64, distance: u64) -> u64 {
    if position == 0 { 0 } else { position + distance }
}

/// A range of bytes in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageBytes {
    pub(crate) offset: u64,
    /// Number of bytes, or of records where the field's comment states so.
    pub(crate) len: u64,
}

/// The contents of the first page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexHeader {
    pub(crate) key: IndexKey,
    /// Bytes of the file.
    pub(crate) length: u64,
    pub(crate) checksums: PageBytes,
    /// Hash of the section `checksums`.
    pub(crate) checksums_hash: u64,
    /// Types, values, containers and diagnostics: the section that is read as a whole.
    pub(crate) model: PageBytes,
    /// Lane records of states. The next fields: those of events, variables and links.
    pub(crate) states: PageBytes,
    pub(crate) marks: PageBytes,
    pub(crate) variables: PageBytes,
    pub(crate) links: PageBytes,
    /// Extra fields: where each row begins in `detail_bytes`.
    pub(crate) detail_rows: TableRef,
    pub(crate) detail_bytes: PageBytes,
    pub(crate) text_ends: TableRef,
    pub(crate) text_bytes: PageBytes,
    pub(crate) keys: TableRef,
    pub(crate) references: TableRef,
    pub(crate) reference_tree: u64,
    pub ends: TableRef,
    /// Tables of the overview, one for each column width.
    pub(crate) overview: PageBytes,
    /// Lane records of the sums of nested states.
    pub(crate) nested_sums: PageBytes,
    /// Parts of collective operations.
    pub(crate) parts: TableRef,
    pub(crate) open_links: TableRef,
}

/// The reason why an index is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IndexRefusal {
    #[error("it is not an index of Tumit")]
    Foreign,
    #[error("it has another version")]
    Version,
    #[error("the trace has changed, or was opened with other options")]
    Stale,
    #[error("it is damaged")]
    Damaged,
}

/// Reads 64-bit words in sequence; gives zeros after the last word.
struct HeaderWords<'a>(&'a [u8]);

impl HeaderWords<'_> {
    fn next(&mut self) -> u64 {
        let Some((word, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u64::from_le_bytes(*word)
    }

    fn table(&mut self) -> TableRef {
        TableRef { rows: self.next(), payload: self.next(), directory: self.next() }
    }

    fn place(&mut self) -> PageBytes {
        PageBytes { offset: self.next(), len: self.next() }
    }
}

fn put(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

fn put_table(out: &mut Vec<u8>, table: TableRef) {
    put(out, &[table.rows, table.payload, table.directory]);
}

fn put_places(out: &mut Vec<u8>, places: &[PageBytes]) {
    places.iter().for_each(|place| put(out, &[place.offset, place.len]));
}

impl IndexHeader {
    /// Encodes the first page.
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
        put_places(&mut page, &[self.overview, self.nested_sums]);
        put_table(&mut page, self.parts);
        put_table(&mut page, self.open_links);
        page.resize(PAGE - 8, 0);
        let hash = XxHash3_64::oneshot(&page);
        put(&mut page, &[hash]);
        page
    }

    /// Reads the first page of a file of `length` bytes. The index must belong to the trace that
    /// `key` identifies.
    pub(crate) fn decode(page: &[u8], length: u64, key: IndexKey) -> Result<Self, IndexRefusal> {
        if !page.starts_with(&MAGIC) {
            return Err(IndexRefusal::Foreign);
        }
        let mut words = HeaderWords(page.get(MAGIC.len()..).unwrap_or(&[]));
        if words.next() != VERSION {
            return Err(IndexRefusal::Version);
        }
        let Some((body, hash)) = page.split_last_chunk::<8>().filter(|_| page.len() == PAGE) else {
            return Err(IndexRefusal::Damaged);
        };
        if XxHash3_64::oneshot(body) != u64::from_le_bytes(*hash) {
            return Err(IndexRefusal::Damaged);
        }
        let header = Self {
            length: words.next(),
            key: IndexKey { size: words.next(), content: words.next(), options: words.next() },
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
            nested_sums: words.place(),
            parts: words.table(),
            open_links: words.table(),
        };
        let pages = header.checksums.offset / PAGE as u64;
        let is_complete = header.checksums.offset.is_multiple_of(PAGE as u64)
            && (pages.max(1) - 1).checked_mul(4) == Some(header.checksums.len)
            && header.checksums.offset.checked_add(header.checksums.len) == Some(length)
            && header.length == length;
        match () {
            () if header.key != key => Err(IndexRefusal::Stale),
            () if !is_complete => Err(IndexRefusal::Damaged),
            () => Ok(header),
        }
    }
}

/// A lane of states, of events or of a variable, the links of a type, or the sums of nested states.
///
/// The meaning of `values`, `sums` and `extra` depends on the kind of lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneRecord {
    pub(crate) container: u32,
    pub(crate) ty: u32,
    pub(crate) depth: u32,
    /// Number of the first entity.
    pub(crate) base: u32,
    pub(crate) table: TableRef,
    /// States and events: the values that occur, four bytes each, and how many they are. Links:
    /// the sorted endpoints, and how many they are.
    pub(crate) values: PageBytes,
    /// The sums or the search tree of the lane:
    ///
    /// - States: sums of time, and the kind of these sums.
    /// - Events: for some rows, the number of events of each value before that row; and the number
    ///   of these rows.
    /// - Nested states: the sums, and their length in words.
    /// - Variables: the tree.
    /// - Links: the tree, and the offset from the tree to the list of counts, or 0 if there is no
    ///   list.
    pub(crate) sums: PageBytes,
    /// Links: offset from the sorted endpoints to their directory. States: number of the lane in
    /// the overview plus one, or 0.
    pub(crate) extra: u64,
}

/// The order of the records in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LaneKey {
    pub(crate) container: u32,
    pub(crate) ty: u32,
    pub(crate) depth: u32,
}

impl LaneKey {
    /// The key of an encoded [`LaneRecord`].
    pub(crate) fn decode(record: &[u8]) -> Self {
        let mut words = HeaderWords(record);
        let (place, number) = (words.next(), words.next());
        Self { container: place as u32, ty: (place >> 32) as u32, depth: number as u32 }
    }
}

impl LaneRecord {
    pub(crate) fn key(&self) -> LaneKey {
        LaneKey { container: self.container, ty: self.ty, depth: self.depth }
    }

    pub(crate) const BYTES: usize = 80;

    /// The same record, with all its positions `distance` bytes further into the file.
    pub(crate) fn shift_by(self, distance: u64) -> Self {
        let of = |place: PageBytes| PageBytes { offset: shift_position(place.offset, distance), ..place };
        Self { table: self.table.shift_by(distance), values: of(self.values), sums: of(self.sums), ..self }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        put(out, &[pair(self.container, self.ty), pair(self.depth, self.base)]);
        put_table(out, self.table);
        put_places(out, &[self.values, self.sums]);
        put(out, &[self.extra]);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let mut words = HeaderWords(bytes);
        let (_, number) = (words.next(), words.next());
        let LaneKey { container, ty, depth } = LaneKey::decode(bytes);
        Self {
            container,
            ty,
            depth,
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
    fn decoded_records_equal_the_encoded_ones() {
        let lane = LaneRecord {
            container: 1,
            ty: 2,
            depth: 3,
            base: u32::MAX,
            table: TableRef { rows: 5, payload: 6, directory: 7 },
            values: PageBytes { offset: 8, len: 9 },
            sums: PageBytes { offset: 10, len: 11 },
            extra: u64::MAX,
        };
        let mut bytes = Vec::new();
        lane.encode(&mut bytes);
        assert_eq!(bytes.len(), LaneRecord::BYTES);
        assert_eq!(LaneRecord::decode(&bytes), lane);
        let table = |rows| TableRef { rows, payload: 1, directory: 2 };
        let header = IndexHeader {
            key: IndexKey { size: 1, content: 2, options: 3 },
            length: 3 * PAGE as u64 + 8,
            checksums: PageBytes { offset: 3 * PAGE as u64, len: 8 },
            model: PageBytes { offset: 77, len: 78 },
            text_ends: table(4),
            references: table(5),
            reference_tree: 6,
            ends: table(7),
            parts: table(8),
            ..IndexHeader::default()
        };
        let page = header.encode();
        assert_eq!(page.len(), PAGE);
        assert_eq!(IndexHeader::decode(&page, header.length, header.key), Ok(header));
        assert_eq!(IndexHeader::decode(&page, header.length, IndexKey::default()), Err(IndexRefusal::Stale));
        assert_eq!(IndexHeader::decode(&page, header.length + 1, header.key), Err(IndexRefusal::Damaged));
        assert_eq!(IndexHeader::decode(&page[..100], header.length, header.key), Err(IndexRefusal::Damaged));
        assert_eq!(IndexHeader::decode(b"%EventDef", 9, header.key), Err(IndexRefusal::Foreign));
    }
}
