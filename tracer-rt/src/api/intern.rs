//! Strings and source positions are written once; records hold their numbers. Each thread remembers its latest ones, and all
//! threads find strings that are known without a lock (`known`), so that the lock of the tables is taken for new ones only.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracer_format::entries::{append_site, append_string};
use tracer_format::{BlockKind, PROCESS_STREAM};

use crate::buffer::{CURSOR, busy};
use crate::known::{self, Known};
use crate::session;
use crate::sync::{Lock, bit};
use crate::{fault, live};

/// A string that was interned: four bytes in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interned(pub(crate) u32);

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

/// A source position that was interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site(pub(crate) u32);

impl Site {
    /// No position is known.
    pub const UNKNOWN: Self = Self(0);
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

/// Bytes of a string; the rest is cut, between characters.
const MAX_TEXT_BYTES: usize = 4096;
/// All strings may take so many bytes together; what comes later is recorded as [`TOO_MANY`].
const MAX_STRING_BYTES: usize = 64 << 20;
const TOO_MANY: &str = "(too many different strings)";

#[derive(Debug)]
pub(crate) struct Tables {
    strings: Vec<&'static str>,
    string_ids: Option<HashMap<&'static str, u32>>,
    string_bytes: usize,
    sites: Vec<&'static Location<'static>>,
    site_ids: Option<HashMap<(&'static str, u32, u32), u32>>,
    /// A name found no room in the live file: this one and all later ones must be in the file before they are used.
    overflowed: bool,
}

pub(crate) static TABLES: Lock<Tables> = Lock::new(
    bit::TABLES,
    Tables {
        strings: Vec::new(),
        string_ids: None,
        string_bytes: 0,
        sites: Vec::new(),
        site_ids: None,
        overflowed: false,
    },
);

/// Numbers of strings and sites, to see without the lock whether there are new ones.
static STRINGS: AtomicUsize = AtomicUsize::new(0);
static SITES: AtomicUsize = AtomicUsize::new(0);

impl Tables {
    fn string(&mut self, text: &str) -> (&'static str, u32) {
        let text = cut(text, MAX_TEXT_BYTES);
        let ids = self.string_ids.get_or_insert_default();
        if let Some((text, id)) = ids.get_key_value(text) {
            return (text, *id);
        }
        let text = if self.string_bytes + text.len() <= MAX_STRING_BYTES { text } else { TOO_MANY };
        if let Some((text, id)) = ids.get_key_value(text) {
            return (text, *id);
        }
        fault::signal("a name");
        self.string_bytes += text.len();
        let kept: &'static str = Box::leak(text.into());
        self.strings.push(kept);
        let id = self.strings.len() as u32;
        ids.insert(kept, id);
        let mut entry = Vec::new();
        append_string(&mut entry, id, kept.as_bytes());
        self.overflowed |= !live::log(BlockKind::Strings, PROCESS_STREAM, 1, &entry);
        STRINGS.store(self.strings.len(), Ordering::Release);
        (kept, id)
    }

    fn site(&mut self, location: &'static Location<'static>) -> u32 {
        let key = (location.file(), location.line(), location.column());
        let ids = self.site_ids.get_or_insert_default();
        if let Some(id) = ids.get(&key) {
            return *id;
        }
        self.sites.push(location);
        let id = self.sites.len() as u32;
        ids.insert(key, id);
        let mut entry = Vec::new();
        append_site(&mut entry, id, location.line(), location.file().as_bytes());
        self.overflowed |= !live::log(BlockKind::Sites, PROCESS_STREAM, 1, &entry);
        SITES.store(self.sites.len(), Ordering::Release);
        id
    }

    /// Notes all names in the live file, which is new and has room for them.
    pub(crate) fn log(&self) {
        for (at, text) in self.strings.iter().enumerate() {
            let mut entry = Vec::new();
            append_string(&mut entry, at as u32 + 1, text.as_bytes());
            live::log(BlockKind::Strings, PROCESS_STREAM, 1, &entry);
        }
        for (at, site) in self.sites.iter().enumerate() {
            let mut entry = Vec::new();
            append_site(&mut entry, at as u32 + 1, site.line(), site.file().as_bytes());
            live::log(BlockKind::Sites, PROCESS_STREAM, 1, &entry);
        }
    }

    /// After a `fork`, in the child: its live file will be another.
    pub(crate) const fn forget_overflow(&mut self) {
        self.overflowed = false;
    }

    /// Bytes that [`Self::log`] needs.
    pub(crate) fn log_bytes(&self) -> usize {
        let strings: usize = self.strings.iter().map(|text| live::entry_bytes(8 + text.len())).sum();
        let sites: usize = self.sites.iter().map(|site| live::entry_bytes(12 + site.file().len())).sum();
        strings + sites
    }

    /// Strings from the given number on; the first has id `from + 1`.
    pub(crate) fn strings_from(&self, from: usize) -> &[&'static str] {
        self.strings.get(from..).unwrap_or(&[])
    }

    /// Sites from the given number on; the first has id `from + 1`.
    pub(crate) fn sites_from(&self, from: usize) -> &[&'static Location<'static>] {
        self.sites.get(from..).unwrap_or(&[])
    }
}

/// At most so many bytes, without a part of a character at the end.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).filter(|_| text.len() > bytes).unwrap_or(text)
}

/// Whether there are more strings or sites than so many.
pub(crate) fn has_more(strings: usize, sites: usize) -> bool {
    STRINGS.load(Ordering::Acquire) > strings || SITES.load(Ordering::Acquire) > sites
}

/// A text that is not the one which the thread used last with this address and length.
#[inline(never)]
fn intern_again(text: &str, place: usize) -> Interned {
    let Some(known) = known::find(cut(text, MAX_TEXT_BYTES)) else { return intern_slowly(text, place) };
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
            session::write_names();
        }
        // From now on records may use it, whatever becomes of the process.
        let tables = TABLES.lock();
        let known = known::add(kept, id);
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
            session::write_names();
        }
        SITES_SEEN.with(|seen| seen[place].set((std::ptr::from_ref(location).addr(), id)));
        id
    })
    .map_or(Site(0), Site)
}

/// Nested (in a signal handler that interrupted a record) the lock may be the thread's own; the record that asks will
/// be dropped anyway.
fn unless_nested<T>(work: impl FnOnce() -> T) -> Option<T> {
    CURSOR.with(|cursor| {
        let before = cursor.begin_work();
        let result = (before == busy::IDLE).then(work);
        cursor.end_work(before);
        result
    })
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
