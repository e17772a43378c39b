//! The streams of a process while its file is scanned.

use rustc_hash::FxHashMap;

use super::process::StreamInRun;

/// Streams by number. A file may have millions of them.
#[derive(Default)]
pub(super) struct StreamTable {
    /// In the order in which the file names them.
    list: Vec<StreamInRun>,
    /// By stream number: the index in `list`.
    indexes: FxHashMap<u32, usize>,
}

impl StreamTable {
    pub(super) fn get(&self, number: u32) -> Option<&StreamInRun> {
        self.indexes.get(&number).map(|index| &self.list[*index])
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut StreamInRun> {
        self.indexes.get(&number).map(|index| &mut self.list[*index])
    }

    /// The stream with this number. It is created if there is none.
    pub(super) fn get_or_create(&mut self, number: u32) -> &mut StreamInRun {
        let index = *self.indexes.entry(number).or_insert_with(|| {
            self.list.push(StreamInRun { number, ..StreamInRun::default() });
            self.list.len() - 1
        });
        &mut self.list[index]
    }

    /// Replaces the stream that has the number of this one.
    pub(super) fn put(&mut self, stream: StreamInRun) {
        let number = stream.number;
        *self.get_or_create(number) = stream;
    }

    /// All streams by number.
    pub(super) fn into_sorted(self) -> Vec<StreamInRun> {
        drop(self.indexes);
        let mut list = self.list;
        list.sort_by_key(|stream| stream.number);
        list.shrink_to_fit();
        list
    }
}
