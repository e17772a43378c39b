//! A set of strings with numbers.
//! All threads find strings without a lock, in a time that does not depend on the number of
//! strings. Strings are only added, one at a time.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A string and its number.
#[derive(Debug)]
pub(crate) struct InternedString {
    hash: u64,
    pub(crate) id: u32,
    pub(crate) text: &'static str,
}

/// A hash table of strings with linear probing.
/// Its size is a power of two, and at most half of its places are used.
#[derive(Debug)]
struct StringSet {
    cells: Box<[AtomicPtr<InternedString>]>,
}

/// The current table.
/// Older tables are not freed, because threads may still read them. Together they are no larger
/// than the current one.
static TABLE: AtomicPtr<StringSet> = AtomicPtr::new(std::ptr::null_mut());
/// Number of strings in the table.
static COUNT: AtomicUsize = AtomicUsize::new(0);

const FIRST_CELLS: usize = 256;

impl StringSet {
    fn with_capacity(cells: usize) -> Self {
        Self { cells: (0..cells).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect() }
    }

    /// Finds the string, or the free place for it.
    fn find_or_free_cell(
        &self,
        hash: u64,
        text: &str,
    ) -> Result<&'static InternedString, Option<&AtomicPtr<InternedString>>> {
        let mask = self.cells.len() - 1;
        for step in 0..self.cells.len() {
            let Some(cell) = self.cells.get((hash as usize).wrapping_add(step) & mask) else { break };
            // SAFETY: an entry of the table is never freed.
            let Some(entry) = (unsafe { cell.load(Ordering::Acquire).as_ref() }) else { return Err(Some(cell)) };
            if entry.hash == hash && entry.text == text {
                return Ok(entry);
            }
        }
        Err(None)
    }
}

fn table() -> Option<&'static StringSet> {
    // SAFETY: tables are never freed.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }
}

/// Finds a string. Takes no lock and no memory, so that signal handlers may call it.
pub(crate) fn find(text: &str) -> Option<&'static InternedString> {
    table()?.find_or_free_cell(hash_of(text.as_bytes()), text).ok()
}

/// Adds a string, unless the set contains it. The caller holds the lock of the names.
pub(crate) fn add(text: &'static str, id: u32) -> Option<&'static InternedString> {
    let hash = hash_of(text.as_bytes());
    let mut table = table();
    if let Some(entry) = find(text) {
        return Some(entry);
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    if table.is_none_or(|table| count > table.cells.len() / 2) {
        table = Some(grow(table));
    }
    let cell = table?.find_or_free_cell(hash, text).err()??;
    let entry: &'static InternedString = Box::leak(Box::new(InternedString { hash, id, text }));
    cell.store(std::ptr::from_ref(entry).cast_mut(), Ordering::Release);
    Some(entry)
}

/// Copies all strings to a table of twice the size.
fn grow(old: Option<&StringSet>) -> &'static StringSet {
    let cells = old.map_or(FIRST_CELLS, |old| old.cells.len() * 2);
    let new: &'static StringSet = Box::leak(Box::new(StringSet::with_capacity(cells)));
    for cell in old.map_or(&[][..], |old| &old.cells) {
        let string = cell.load(Ordering::Relaxed);
        // SAFETY: an entry of the table is never freed.
        let Some(entry) = (unsafe { string.as_ref() }) else { continue };
        if let Err(Some(free)) = new.find_or_free_cell(entry.hash, entry.text) {
            free.store(string, Ordering::Relaxed);
        }
    }
    TABLE.store(std::ptr::from_ref(new).cast_mut(), Ordering::Release);
    new
}

/// The hash of a text.
/// Multiplies eight bytes at a time into the hash. The high half depends on all bytes, so it is
/// folded into the low half.
fn hash_of(text: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64 ^ FACTOR, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    mix(mix(hash, last), FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InternedText;
    use crate::intern_tables::TABLES;

    #[test]
    fn thousands_of_strings_are_found_by_all_threads() {
        const STRINGS: u32 = if cfg!(miri) { 100 } else { 5_000 };
        let text = |n: u32| format!("known {n}");
        let numbers: Vec<u32> = (0..STRINGS).map(|n| InternedText::new(&text(n)).0).collect();
        let entry_of = |n: u32| find(&text(n)).map(|entry| (entry.id, entry.text == text(n)));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..STRINGS).for_each(|n| assert_eq!(entry_of(n), Some((numbers[n as usize], true)))));
            }
            // The table grows at the same time.
            (STRINGS..2 * STRINGS).for_each(|n| assert!(InternedText::new(&text(n)).0 > 0));
        });
        assert_eq!(entry_of(2 * STRINGS), None);
        // Known strings need no lock: this thread holds it here.
        let tables = TABLES.lock();
        assert_eq!(InternedText::new(&text(7)).0, numbers[7]);
        drop(tables);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri is too slow for many texts, and finds no error in them")]
    fn hashes_spread() {
        // In a table that is half full, few strings are far from their first place.
        let table = StringSet::with_capacity(8192);
        let mut longest = 0;
        for n in 0..4096u32 {
            let text: &'static str = Box::leak(format!("name-{n}").into_boxed_str());
            let hash = hash_of(text.as_bytes());
            let Err(Some(cell)) = table.find_or_free_cell(hash, text) else {
                panic!("the text is new, and the set has space")
            };
            let (address, first_cell) = ((cell.as_ptr().addr()), table.cells[hash as usize & 8191].as_ptr().addr());
            longest = longest.max((address.wrapping_sub(first_cell) / 8) & 8191);
            cell.store(Box::into_raw(Box::new(InternedString { hash, id: n, text })), Ordering::Relaxed);
        }
        assert!(longest < 100, "{longest}");
    }
}
