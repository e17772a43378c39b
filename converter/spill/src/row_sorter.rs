//! [`RowSorter`]: sorts more rows than fit in memory, by merging sorted runs (external merge sort,
//! Knuth, The Art of Computer Programming 3, section 5.4.1).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;

use crate::temporary_space::TemporarySpace;

/// Maximum bytes read from a run at once.
const READ_BYTES: usize = 1 << 16;
/// Minimum bytes read from a run at once, even with many runs.
const MIN_READ_BYTES: usize = 1 << 12;

/// Approximate maximum number of rows between two calls of [`RowSorter::flush`].
const ROWS_BETWEEN: usize = 64;

/// Rows of `N` words, sorted by the first `K`. Rows with equal keys keep their order.
///
/// ```
/// use tumit_spill::row_sorter::RowSorter;
/// use tumit_spill::temporary_space::TemporarySpace;
///
/// # fn main() -> std::io::Result<()> {
/// // A budget of two rows: the others go to a temporary file.
/// let mut sorter = RowSorter::<2, 1>::new(&TemporarySpace::in_system_folder(32));
/// for key in [7, 2, 9, 2] {
///     sorter.push([key, key * 10]);
///     sorter.flush()?;
/// }
/// let mut rows = sorter.finish()?;
/// assert_eq!(rows.next()?, Some([2, 20]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RowSorter<const N: usize, const K: usize> {
    space: TemporarySpace,
    rows: Vec<[u64; N]>,
    file: Option<File>,
    /// Ends of the runs in the file, in bytes.
    runs: Vec<u64>,
    run_rows: usize,
}

impl<const N: usize, const K: usize> RowSorter<N, K> {
    /// An empty sorter. The budget of `space` is for this sorter.
    #[must_use]
    pub fn new(space: &TemporarySpace) -> Self {
        let run_rows = (space.memory() / (8 * N)).max(1);
        Self { space: space.clone(), rows: Vec::new(), file: None, runs: Vec::new(), run_rows }
    }

    /// Adds a row. [`Self::flush`] bounds the memory.
    #[inline]
    pub fn push(&mut self, row: [u64; N]) {
        if self.rows.len() == self.rows.capacity() {
            self.grow();
        }
        self.rows.push(row);
    }

    /// Doubles the capacity, up to the rows of a run and some that arrive before [`Self::flush`].
    #[cold]
    fn grow(&mut self) {
        let have = self.rows.len();
        let max_reserve = (self.run_rows + ROWS_BETWEEN).saturating_sub(have).max(ROWS_BETWEEN);
        self.rows.reserve_exact(have.clamp(ROWS_BETWEEN, max_reserve));
    }

    /// Writes a run if there are enough rows for one.
    ///
    /// # Errors
    /// If the temporary file cannot be created or written.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.rows.len() < self.run_rows { Ok(()) } else { self.write_run() }
    }

    fn sort(&mut self) {
        let key = |row: &[u64; N]| -> [u64; K] { std::array::from_fn(|column| row[column]) };
        if self.rows.is_sorted_by_key(key) {
            return;
        }
        if K == N {
            // Rows with equal keys are identical.
            self.rows.sort_unstable();
        } else {
            self.rows.sort_by_key(key);
        }
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.sort();
        if self.file.is_none() {
            self.file = Some(self.space.file()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(io::SeekFrom::End(0))?;
        let mut out = io::BufWriter::with_capacity(READ_BYTES, file);
        for word in self.rows.iter().flatten() {
            out.write_all(&word.to_le_bytes())?;
        }
        out.flush()?;
        let end = self.runs.last().copied().unwrap_or(0) + (self.rows.len() * 8 * N) as u64;
        self.runs.push(end);
        self.rows.clear();
        Ok(())
    }

    /// All rows in order, if none is in the file; otherwise the sorter.
    pub fn into_rows(mut self) -> Result<Vec<[u64; N]>, Self> {
        if !self.runs.is_empty() {
            return Err(self);
        }
        self.sort();
        Ok(self.rows)
    }

    /// Returns all rows in order. O(n log n).
    ///
    /// # Errors
    /// If the temporary file cannot be written or read.
    pub fn finish(mut self) -> io::Result<SortedRows<N, K>> {
        if self.runs.is_empty() {
            self.sort();
        } else {
            // The last run is written to the file, too. Several sorters merge at a time, and this
            // run would take as much memory as the buffers of all runs.
            self.write_run()?;
            self.rows = Vec::new();
        }
        let mut begin = 0;
        let mut runs: Vec<SortRun<N>> = Vec::new();
        for &end in &self.runs {
            runs.push(SortRun { offset: begin, end, buffer: Vec::new(), next: 0 });
            begin = end;
        }
        let memory = runs.len();
        runs.push(SortRun { offset: 0, end: 0, buffer: self.rows, next: 0 });
        // The buffers of all runs together take as much memory as one run did, or little more if
        // there are many.
        let portion = (self.space.memory() / runs.len()).clamp(MIN_READ_BYTES, READ_BYTES);
        let mut sorted =
            SortedRows { file: self.file, runs, heap: BinaryHeap::new(), rows_read: (portion / (8 * N)).max(1) };
        (0..=memory).try_for_each(|run| sorted.advance(run))?;
        Ok(sorted)
    }
}

#[derive(Debug)]
struct SortRun<const N: usize> {
    /// The range of its rows that are still in the file.
    offset: u64,
    end: u64,
    buffer: Vec<[u64; N]>,
    next: usize,
}

/// Gives rows in order.
#[derive(Debug)]
pub struct SortedRows<const N: usize, const K: usize> {
    file: Option<File>,
    runs: Vec<SortRun<N>>,
    heap: BinaryHeap<Reverse<RunHead<N, K>>>,
    /// Number of rows that are read at once.
    rows_read: usize,
}

/// The first row of a run. The fields are in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunHead<const N: usize, const K: usize> {
    key: [u64; K],
    /// The number of the run. Earlier rows have lower run numbers.
    run: usize,
    row: [u64; N],
}

impl<const N: usize, const K: usize> SortedRows<N, K> {
    fn advance(&mut self, run_number: usize) -> io::Result<()> {
        let run = &mut self.runs[run_number];
        if run.next == run.buffer.len() && run.offset < run.end {
            let Some(file) = &self.file else { return Ok(()) };
            let row_bytes = 8 * N as u64;
            let bytes = (run.end - run.offset).min(self.rows_read as u64 * row_bytes);
            let mut raw = vec![0; bytes as usize];
            file.read_exact_at(&mut raw, run.offset)?;
            run.offset += bytes;
            run.next = 0;
            run.buffer.clear();
            let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 8]));
            run.buffer
                .extend(raw.chunks_exact(8 * N).map(|row| std::array::from_fn(|column| word(&row[8 * column..]))));
        }
        if let Some(&row) = run.buffer.get(run.next) {
            run.next += 1;
            self.heap.push(Reverse(RunHead { key: std::array::from_fn(|column| row[column]), run: run_number, row }));
        }
        Ok(())
    }

    /// The next row. O(log of the number of runs), and one read for each portion.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "the errors are outside the option, for `?`")]
    pub fn next(&mut self) -> io::Result<Option<[u64; N]>> {
        let Some(Reverse(RunHead { run, row, .. })) = self.heap.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_a_stable_sort_in_memory(keys in prop::collection::vec(0_u64..20, 0..300), run_rows in 1_usize..50) {
            let folder = tempfile::tempdir().expect("a temporary folder can be created");
            let mut sorter = RowSorter::<2, 1>::new(&TemporarySpace::new(folder.path(), run_rows * 16));
            let mut rows: Vec<[u64; 2]> = keys.iter().enumerate().map(|(index, &key)| [key, index as u64]).collect();
            for &row in &rows {
                sorter.push(row);
                sorter.flush().expect("the file can be written");
            }
            prop_assert_eq!(sorter.runs.is_empty(), rows.len() < run_rows);
            rows.sort_by_key(|row| row[0]);
            let mut sorted = sorter.finish().expect("the data can be read");
            let found: Vec<_> = std::iter::from_fn(|| sorted.next().expect("the data can be read")).collect();
            prop_assert_eq!(found, rows);
        }
    }
}
