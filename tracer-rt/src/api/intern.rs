//! Strings and source positions are written once; records hold their numbers. Each thread remembers its latest ones, and all
//! threads find strings that are known without a lock (`known`), so that the lock of the tables is taken for new ones only.

use std::cell::Cell;
use std::panic::Location;

use crate::fields::{Interned, Site};
use crate::files::cut;
use crate::names::lock_free_set::{self, Known};
use crate::names::{MAX_TEXT_BYTES, TABLES};
use crate::reentrancy::unless_nested;
use crate::writer::write_names;

impl Interned {
    /// Interns a string: to be kept by programs that record the same one very often. It is remembered until the process
    /// ends.
    #[must_use]
    pub fn new(text: &str) -> Self {
        text.intern()
    }
}

/// What an event with an `interned` field takes: text, or text that was interned before.
pub trait Intern {
    /// The string's number in this process.
    fn intern(self) -> Interned;
}

impl Intern for Interned {
    #[inline(always)]
    fn intern(self) -> Interned {
        self
    }
}

impl Intern for &String {
    fn intern(self) -> Interned {
        self.as_str().intern()
    }
}

impl Intern for &str {
    #[inline]
    fn intern(self) -> Interned {
        if self.is_empty() {
            return Interned(0);
        }
        let place = (self.as_ptr().addr() ^ self.len().wrapping_mul(0x9E37)) / 4 % CACHED;
        match STRINGS_SEEN.with(|seen| seen[place].get()) {
            Some(known) if known.text == self => Interned(known.id),
            _ => intern_again(self, place),
        }
    }
}

/// The number of a source position.
#[inline]
#[must_use]
pub fn site(location: &'static Location<'static>) -> Site {
    let address = std::ptr::from_ref(location).addr();
    let place = address / 8 % CACHED;
    let (known, id) = SITES_SEEN.with(|seen| seen[place].get());
    if known == address { Site(id) } else { site_slowly(location, place) }
}

const CACHED: usize = 64;

thread_local! {
    /// One word each: a signal handler finds it whole.
    static STRINGS_SEEN: [Cell<Option<&'static Known>>; CACHED] = const { [const { Cell::new(None) }; CACHED] };
    static SITES_SEEN: [Cell<(usize, u32)>; CACHED] = const { [const { Cell::new((0, 0)) }; CACHED] };
}

/// A text that is not the one which the thread used last with this address and length.
#[inline(never)]
fn intern_again(text: &str, place: usize) -> Interned {
    let Some(known) = lock_free_set::find(cut(text, MAX_TEXT_BYTES)) else { return intern_slowly(text, place) };
    STRINGS_SEEN.with(|seen| seen[place].set(Some(known)));
    Interned(known.id)
}

#[cold]
#[inline(never)]
fn intern_slowly(text: &str, place: usize) -> Interned {
    unless_nested(|| {
        let mut tables = TABLES.lock();
        let (kept, id) = tables.string(text);
        let overflowed = tables.overflowed;
        drop(tables);
        if overflowed {
            write_names();
        }
        // From now on records may use it, whatever becomes of the process.
        let tables = TABLES.lock();
        let known = lock_free_set::add(kept, id);
        drop(tables);
        STRINGS_SEEN.with(|seen| seen[place].set(known));
        id
    })
    .map_or(Interned(0), Interned)
}

#[cold]
#[inline(never)]
fn site_slowly(location: &'static Location<'static>, place: usize) -> Site {
    unless_nested(|| {
        let mut tables = TABLES.lock();
        let id = tables.site(location);
        let overflowed = tables.overflowed;
        drop(tables);
        if overflowed {
            write_names();
        }
        SITES_SEEN.with(|seen| seen[place].set((std::ptr::from_ref(location).addr(), id)));
        id
    })
    .map_or(Site(0), Site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut buffer = String::from("one");
        let one = (&buffer).intern();
        assert_eq!(Interned::new("one"), one);
        buffer.replace_range(.., "two");
        let two = (&buffer).intern();
        assert_ne!(one, two, "the same address with another text");
        assert_eq!(std::thread::spawn(|| Interned::new("two")).join().unwrap(), two);
        assert_eq!(Interned::new(""), Interned(0));
        assert_eq!(TABLES.lock().strings_from(two.0 as usize - 1)[0], "two");
    }

    #[test]
    fn sites_are_told_apart() {
        #[track_caller]
        fn here() -> Site {
            site(Location::caller())
        }
        let twice: Vec<_> = (0..2).map(|_| here()).collect();
        assert_eq!(twice[0], twice[1]);
        assert_ne!(here(), here());
    }
}
