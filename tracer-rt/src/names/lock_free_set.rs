//! Strings that have a number, to be found by all threads without a lock, in a time that does not grow with their number. Strings are only
//! ever added, one at a time.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A string and its number.
#[derive(Debug)]
pub(crate) struct Known {
    hash: u64,
    pub(crate) id: u32,
    pub(crate) text: &'static str,
}

/// Places for strings, a power of two of them, at most half of them taken: a string stands in the first free place behind that of its hash.
#[derive(Debug)]
struct Table {
    places: Box<[AtomicPtr<Known>]>,
}

/// The table. Older ones stay, for threads that just look into them: together they are no larger than it.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
/// Strings in it.
static COUNT: AtomicUsize = AtomicUsize::new(0);

const FIRST_PLACES: usize = 256;

impl Table {
    fn with(places: usize) -> Self {
        Self { places: (0..places).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect() }
    }

    /// The string, or the free place where it would stand.
    fn look(&self, hash: u64, text: &str) -> Result<&'static Known, Option<&AtomicPtr<Known>>> {
        let mask = self.places.len() - 1;
        for step in 0..self.places.len() {
            let Some(place) = self.places.get((hash as usize).wrapping_add(step) & mask) else { break };
            // SAFETY: what stands in a place is there for ever.
            let Some(known) = (unsafe { place.load(Ordering::Acquire).as_ref() }) else { return Err(Some(place)) };
            if known.hash == hash && known.text == text {
                return Ok(known);
            }
        }
        Err(None)
    }
}

fn table() -> Option<&'static Table> {
    // SAFETY: tables are never freed.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }
}

/// Finds a string. Takes no lock and no memory: signal handlers may ask.
pub(crate) fn find(text: &str) -> Option<&'static Known> {
    table()?.look(hash_of(text.as_bytes()), text).ok()
}

/// Adds a string, unless it is there. Only under the lock of the names.
pub(crate) fn add(text: &'static str, id: u32) -> Option<&'static Known> {
    let hash = hash_of(text.as_bytes());
    let mut table = table();
    if let Some(known) = find(text) {
        return Some(known);
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    if table.is_none_or(|table| count > table.places.len() / 2) {
        table = Some(grow(table));
    }
    let place = table?.look(hash, text).err()??;
    let known: &'static Known = Box::leak(Box::new(Known { hash, id, text }));
    place.store(std::ptr::from_ref(known).cast_mut(), Ordering::Release);
    Some(known)
}

/// Puts all strings into a larger table.
fn grow(old: Option<&Table>) -> &'static Table {
    let places = old.map_or(FIRST_PLACES, |old| old.places.len() * 2);
    let new: &'static Table = Box::leak(Box::new(Table::with(places)));
    for place in old.map_or(&[][..], |old| &old.places) {
        let string = place.load(Ordering::Relaxed);
        // SAFETY: what stands in a place is there for ever.
        let Some(known) = (unsafe { string.as_ref() }) else { continue };
        if let Err(Some(free)) = new.look(known.hash, known.text) {
            free.store(string, Ordering::Relaxed);
        }
    }
    TABLE.store(std::ptr::from_ref(new).cast_mut(), Ordering::Release);
    new
}

/// Eight bytes at a time are multiplied into what there is; the high half, in which all of them show, comes down at the end.
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
    use crate::Interned;
    use crate::names::TABLES;

    #[test]
    fn thousands_of_strings_are_found_by_all_threads() {
        const STRINGS: u32 = if cfg!(miri) { 100 } else { 5_000 };
        let text = |n: u32| format!("known {n}");
        let numbers: Vec<u32> = (0..STRINGS).map(|n| Interned::new(&text(n)).0).collect();
        let found = |n: u32| find(&text(n)).map(|known| (known.id, known.text == text(n)));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..STRINGS).for_each(|n| assert_eq!(found(n), Some((numbers[n as usize], true)))));
            }
            // Meanwhile the table grows.
            (STRINGS..2 * STRINGS).for_each(|n| assert!(Interned::new(&text(n)).0 > 0));
        });
        assert_eq!(found(2 * STRINGS), None);
        // Known strings take no lock: it is held here.
        let tables = TABLES.lock();
        assert_eq!(Interned::new(&text(7)).0, numbers[7]);
        drop(tables);
    }

    #[test]
    #[cfg_attr(miri, ignore = "many texts, and nothing that it looks for")]
    fn hashes_spread() {
        // In a table that is half full, hardly any string stands far from its place.
        let table = Table::with(8192);
        let mut longest = 0;
        for n in 0..4096u32 {
            let text: &'static str = Box::leak(format!("name-{n}").into_boxed_str());
            let hash = hash_of(text.as_bytes());
            let Err(Some(place)) = table.look(hash, text) else { panic!("it is new, and there is room") };
            let (at, own) = ((place.as_ptr().addr()), table.places[hash as usize & 8191].as_ptr().addr());
            longest = longest.max((at.wrapping_sub(own) / 8) & 8191);
            place.store(Box::into_raw(Box::new(Known { hash, id: n, text })), Ordering::Relaxed);
        }
        assert!(longest < 100, "{longest}");
    }
}
