//! [`GuardedMap`]: a mapped file that stays readable when another program truncates it.
//!
//! A read of a mapped page after the end of the file raises SIGBUS, which ends the process. A
//! handler replaces the page with zeros, and the read continues. After computing an answer, the
//! owner calls [`GuardedMap::is_truncated`]. If that returns true, the owner discards the answer.
//! The page with the new end of the file reads as zeros without a signal. The last bytes of the map
//! are therefore compared with their original values.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maximum number of mapped files at a time.
const MAX_MAPS: usize = 256;
/// Marks a slot that is in use but not complete yet.
const RESERVED: usize = 1;

/// The address range of a mapped file.
struct MapSlot {
    /// Address; 0 if the slot is free.
    start: AtomicUsize,
    len: AtomicUsize,
    /// Whether a page was replaced.
    is_hit: AtomicBool,
}

static SLOTS: [MapSlot; MAX_MAPS] =
    [const { MapSlot { start: AtomicUsize::new(0), len: AtomicUsize::new(0), is_hit: AtomicBool::new(false) } };
        MAX_MAPS];

/// The size of a page, and the previous action for SIGBUS.
static BEFORE: OnceLock<(usize, libc::sigaction)> = OnceLock::new();

/// A mapped file.
pub(crate) struct GuardedMap {
    map: memmap2::Mmap,
    slot: &'static MapSlot,
    tail: [u8; 4],
}

impl GuardedMap {
    /// Maps a whole file for reading.
    #[expect(unsafe_code, reason = "a file is mapped; see SAFETY")]
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        install()?;
        // SAFETY: the bytes are only read, through bounds-checked slices, and every value made of
        // them is checked or harmless. Tumit does not write to a file under this name. It writes an
        // index under another name and renames it: a newer index is a new file, and a removed file
        // stays until it is unmapped. If another program truncates the file, the handler of this
        // module replaces the missing pages with zeros.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        let free =
            |slot: &&MapSlot| slot.start.compare_exchange(0, RESERVED, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let slot = SLOTS.iter().find(free).ok_or_else(|| io::Error::other("256 files are mapped already"))?;
        slot.is_hit.store(false, Ordering::Relaxed);
        slot.len.store(map.len(), Ordering::Relaxed);
        slot.start.store(map.as_ptr() as usize, Ordering::Release);
        let mut guarded_map = Self { map, slot, tail: [0; 4] };
        guarded_map.tail = guarded_map.last_bytes();
        Ok(guarded_map)
    }

    /// Whether the file has become shorter since it was mapped.
    pub(crate) fn is_truncated(&self) -> bool {
        self.last_bytes() != self.tail || self.slot.is_hit.load(Ordering::Relaxed)
    }

    /// Reads the last bytes again, independent of earlier reads.
    #[expect(unsafe_code, reason = "a volatile read; see SAFETY")]
    fn last_bytes(&self) -> [u8; 4] {
        let Some(last) = self.map.last_chunk::<4>() else { return [0; 4] };
        // SAFETY: the pointer comes from a reference to bytes that are mapped as long as `self`
        // lives.
        unsafe { std::ptr::from_ref(last).read_volatile() }
    }
}

impl Deref for GuardedMap {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        // The map is dropped after this; no reader is left.
        self.slot.start.store(0, Ordering::Release);
    }
}

/// Installs the handler, once.
#[expect(unsafe_code, reason = "signals are handled; see SAFETY")]
fn install() -> io::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: the call only returns a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    // SAFETY: all fields of the structure may be zero.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only writes the current action to a valid structure.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if BEFORE.set((page, before)).is_err() {
        return Ok(());
    }
    // SAFETY: all fields of the structure may be zero.
    let mut handler: libc::sigaction = unsafe { std::mem::zeroed() };
    handler.sa_sigaction = on_bus_error as *const () as usize;
    handler.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: all actions of the handler are allowed in a signal handler: it reads atomics, and
    // calls mmap and sigaction.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const handler, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Replaces a page of a map of this module. For any other fault, the previous action is restored.
#[expect(unsafe_code, reason = "a signal handler; see SAFETY")]
extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let Some((page, before)) = BEFORE.get() else { return };
    // SAFETY: the system passes a valid structure.
    let info = unsafe { &*info };
    // SAFETY: the structure has an address for this signal.
    let address = unsafe { info.si_addr() } as usize;
    for slot in &SLOTS {
        let (start, len) = (slot.start.load(Ordering::Acquire), slot.len.load(Ordering::Relaxed));
        if start <= RESERVED || address < start || address - start >= len {
            continue;
        }
        let page_start = (address & !(page - 1)) as *mut libc::c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page belongs to a map of this module, which nothing writes to, and stays
        // readable.
        let address_of_page = unsafe { libc::mmap(page_start, *page, libc::PROT_READ, flags, -1, 0) };
        if address_of_page != libc::MAP_FAILED {
            slot.is_hit.store(true, Ordering::Relaxed);
            return;
        }
    }
    // SAFETY: restores the previous action. The failed access is repeated and handled by that
    // action.
    unsafe { libc::sigaction(libc::SIGBUS, std::ptr::from_ref(before), std::ptr::null_mut()) };
}
