//! [`GuardedMap`]: a mapped file that stays readable when another program truncates it.
//!
//! Reading a mapped page that lies after the end of its file raises SIGBUS, which ends the program. Here a handler puts
//! a page of zeros in its place, and reading goes on. The owner asks [`GuardedMap::is_truncated`] after it has made an
//! answer, and throws the answer away. The page in which the file now ends reads as zeros without a signal; therefore
//! the last bytes of the map are compared with those that were there at first.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Files that can be mapped at a time.
const MOST_MAPS: usize = 256;
/// Stands for a slot that is taken, and not filled in yet.
const RESERVED: usize = 1;

/// Where a file is mapped.
struct Slot {
    /// Address; 0 where the slot is free.
    start: AtomicUsize,
    len: AtomicUsize,
    /// Whether a page was replaced.
    is_hit: AtomicBool,
}

static SLOTS: [Slot; MOST_MAPS] =
    [const { Slot { start: AtomicUsize::new(0), len: AtomicUsize::new(0), is_hit: AtomicBool::new(false) } };
        MOST_MAPS];

/// The size of a page, and how SIGBUS was handled before.
static BEFORE: OnceLock<(usize, libc::sigaction)> = OnceLock::new();

/// A mapped file.
pub(super) struct GuardedMap {
    map: memmap2::Mmap,
    slot: &'static Slot,
    tail: [u8; 4],
}

impl GuardedMap {
    /// Maps a whole file for reading.
    #[expect(unsafe_code, reason = "a file is mapped; see SAFETY")]
    pub(super) fn new(file: &File) -> io::Result<Self> {
        install()?;
        // SAFETY: the bytes are only read, through bounds-checked slices, and every value made of them is checked or
        // harmless. Tumit does not write to a file under this name: an index is made under another one and then
        // renamed, so that a newer one is a new file, and a removed one stays until it is unmapped. Where another
        // program shortens it, the handler of this module puts zeros in place of what is missing.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        let free =
            |slot: &&Slot| slot.start.compare_exchange(0, RESERVED, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let slot = SLOTS.iter().find(free).ok_or_else(|| io::Error::other("256 files are mapped already"))?;
        slot.is_hit.store(false, Ordering::Relaxed);
        slot.len.store(map.len(), Ordering::Relaxed);
        slot.start.store(map.as_ptr() as usize, Ordering::Release);
        let mut made = Self { map, slot, tail: [0; 4] };
        made.tail = made.last_bytes();
        Ok(made)
    }

    /// Whether the file has become shorter since it was mapped.
    pub(super) fn is_truncated(&self) -> bool {
        self.last_bytes() != self.tail || self.slot.is_hit.load(Ordering::Relaxed)
    }

    /// The last bytes as they are now, whatever was read of them before.
    #[expect(unsafe_code, reason = "a volatile read; see SAFETY")]
    fn last_bytes(&self) -> [u8; 4] {
        let Some(last) = self.map.last_chunk::<4>() else { return [0; 4] };
        // SAFETY: the pointer comes from a reference to bytes that are mapped as long as `self` lives.
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
        // The map goes after this: nothing reads it any more.
        self.slot.start.store(0, Ordering::Release);
    }
}

/// Installs the handler, once.
#[expect(unsafe_code, reason = "signals are handled; see SAFETY")]
fn install() -> io::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: it only asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    // SAFETY: all fields of the structure may be zero.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it only writes how the signal is handled now, to a structure that is there.
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
    // SAFETY: the handler does only what a signal handler may: it reads atomics, and calls mmap and sigaction.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const handler, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Replaces a page of a map of ours; any other fault is left to whoever handled it before.
#[expect(unsafe_code, reason = "a signal handler; see SAFETY")]
extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let Some((page, before)) = BEFORE.get() else { return };
    // SAFETY: the system gives a valid structure.
    let info = unsafe { &*info };
    // SAFETY: for this signal it has an address.
    let address = unsafe { info.si_addr() } as usize;
    for slot in &SLOTS {
        let (start, len) = (slot.start.load(Ordering::Acquire), slot.len.load(Ordering::Relaxed));
        if start <= RESERVED || address < start || address - start >= len {
            continue;
        }
        let at = (address & !(page - 1)) as *mut libc::c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page belongs to a map of this module, which nothing writes to, and stays readable.
        let mapped = unsafe { libc::mmap(at, *page, libc::PROT_READ, flags, -1, 0) };
        if mapped != libc::MAP_FAILED {
            slot.is_hit.store(true, Ordering::Relaxed);
            return;
        }
    }
    // SAFETY: as it was before; the access that failed is tried again, and fails under that rule.
    unsafe { libc::sigaction(libc::SIGBUS, std::ptr::from_ref(before), std::ptr::null_mut()) };
}
