//! Interning: strings and source positions are written once, and records contain their numbers.
//!
//! Each thread caches its latest strings. All threads find known strings without a lock
//! (`lock_free_set`). Only new strings take the lock of the tables.

use std::cell::Cell;
use std::panic::Location;

use crate::fields::{InternedText, SourceSite};
use crate::files::cut;
use crate::intern_tables::lock_free_set::{self, InternedString};
use crate::intern_tables::{MAX_TEXT_BYTES, SitePosition, TABLES};
use crate::reentrancy::unless_nested;
use crate::writer::write_names;

impl InternedText {
    /// Interns a string.
    /// A program that records a string very often should keep the result. The string is kept until
    /// the process ends.
    ///
    /// ```
    /// use tracer_rt::InternedText;
    ///
    /// let name = InternedText::new("solver");
    /// assert_eq!(InternedText::new("solver"), name);
    /// assert_ne!(InternedText::new("output"), name);
    /// ```
    #[must_use]
    pub fn new(text: &str) -> Self {
        text.intern()
    }
}

/// The argument of an event for an `interned` field: a text or an interned text.
pub trait Intern {
    /// Returns the number of the string in this process.
    fn intern(self) -> InternedText;
}

impl Intern for InternedText {
    #[inline(always)]
    fn intern(self) -> InternedText {
        self
    }
}

impl Intern for &String {
    fn intern(self) -> InternedText {
        self.as_str().intern()
    }
}

impl Intern for &str {
    #[inline]
    fn intern(self) -> InternedText {
        if self.is_empty() {
            return InternedText(0);
        }
        let cache_index = (self.as_ptr().addr() ^ self.len().wrapping_mul(0x9E37)) / 4 % CACHED;
        match STRING_CACHE.with(|cache| cache[cache_index].get()) {
            Some(cached) if cached.text == self => InternedText(cached.id),
            _ => intern_again(self, cache_index),
        }
    }
}

/// The number of a source position.
#[inline]
#[must_use]
pub fn site(location: &'static Location<'static>) -> SourceSite {
    let address = std::ptr::from_ref(location).addr();
    let cache_index = address / 8 % CACHED;
    let (cached, id) = SITE_CACHE.with(|cache| cache[cache_index].get());
    if cached == address { SourceSite(id) } else { site_slowly(location, cache_index) }
}

const CACHED: usize = 64;

thread_local! {
    /// One word per entry, so that a signal handler finds it consistent.
    static STRING_CACHE: [Cell<Option<&'static InternedString>>; CACHED] = const { [const { Cell::new(None) }; CACHED] };
    static SITE_CACHE: [Cell<(usize, u32)>; CACHED] = const { [const { Cell::new((0, 0)) }; CACHED] };
}

/// Interns a text that is not in the thread's cache for its address and length.
#[inline(never)]
fn intern_again(text: &str, cache_index: usize) -> InternedText {
    let Some(cached) = lock_free_set::find(cut(text, MAX_TEXT_BYTES)) else { return intern_slowly(text, cache_index) };
    STRING_CACHE.with(|cache| cache[cache_index].set(Some(cached)));
    InternedText(cached.id)
}

#[cold]
#[inline(never)]
fn intern_slowly(text: &str, cache_index: usize) -> InternedText {
    unless_nested(|| {
        let mut tables = TABLES.lock();
        let (interned, id) = tables.string(text);
        let overflowed = tables.overflowed;
        drop(tables);
        if overflowed {
            write_names();
        }
        // From now on records may use the string, even if the process is killed.
        let tables = TABLES.lock();
        let cached = lock_free_set::add(interned, id);
        drop(tables);
        STRING_CACHE.with(|cache| cache[cache_index].set(cached));
        id
    })
    .map_or(InternedText(0), InternedText)
}

#[cold]
#[inline(never)]
fn site_slowly(location: &'static Location<'static>, cache_index: usize) -> SourceSite {
    let (file, line, column) = (location.file(), location.line(), location.column());
    let site = unless_nested(|| {
        let id = number_of_site(SitePosition { file, line, column }, Some(file));
        SITE_CACHE.with(|cache| cache[cache_index].set((std::ptr::from_ref(location).addr(), id)));
        id
    });
    site.map_or(SourceSite(0), SourceSite)
}

fn number_of_site(position: SitePosition<'_>, file: Option<&'static str>) -> u32 {
    let mut tables = TABLES.lock();
    let id = tables.site(position, file);
    let overflowed = tables.overflowed;
    drop(tables);
    if overflowed {
        write_names();
    }
    id
}

/// The number of a source position that is known as text.
pub(super) fn site_of_text(file: &str, line: u32) -> SourceSite {
    let site = unless_nested(|| number_of_site(SitePosition { file, line, column: 0 }, None));
    site.map_or(SourceSite::UNKNOWN, SourceSite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut buffer = String::from("one");
        let text_id = (&buffer).intern();
        assert_eq!(InternedText::new("one"), text_id);
        buffer.replace_range(.., "two");
        let two = (&buffer).intern();
        assert_ne!(text_id, two, "the same address with another text");
        assert_eq!(std::thread::spawn(|| InternedText::new("two")).join().unwrap(), two);
        assert_eq!(InternedText::new(""), InternedText(0));
        assert_eq!(TABLES.lock().strings_from(two.0 as usize - 1)[0], "two");
    }

    #[test]
    fn sites_have_different_numbers() {
        #[track_caller]
        fn here() -> SourceSite {
            site(Location::caller())
        }
        let twice: Vec<_> = (0..2).map(|_| here()).collect();
        assert_eq!(twice[0], twice[1]);
        assert_ne!(here(), here());
    }
}
