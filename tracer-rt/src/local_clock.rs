//! Reads the local clock and relates it to the system's clocks.
//!
//! The kernel decides. If it keeps time by the time-stamp counter, the counter has a constant rate
//! and is equal on all cores, and the recorder reads it, too. Otherwise, and if the program
//! provides its own clock, the slow path reads the clock. The usual case therefore pays nothing for
//! the choice.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use tracer_format::ClockKind;
use tracer_format::entries::ClockAnchor;

use crate::cursor::{CURSOR, ThreadCursor};
use crate::fields::Date;
use crate::files::read_start;

/// The current timestamp.
#[inline]
#[must_use]
pub fn now() -> Date {
    Date(read())
}

/// Sets the program's own clock, which counts `hz` ticks per second and never goes back.
/// A counter of 32 bits may wrap, if its period is two seconds or more. The call must precede the
/// first record and the first [`now`]. Later it changes nothing and returns `false`.
pub fn set_clock(clock: fn() -> u64, hz: u64) -> bool {
    if KIND.load(Ordering::Relaxed) != UNDECIDED {
        return false;
    }
    USER_HZ.store(hz, Ordering::Relaxed);
    USER.store(clock as *mut (), Ordering::Relaxed);
    let user = ClockKind::User as usize;
    KIND.compare_exchange(UNDECIDED, user, Ordering::Release, Ordering::Relaxed).is_ok()
}

const UNDECIDED: usize = 0;

static KIND: AtomicUsize = AtomicUsize::new(UNDECIDED);
static USER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
static USER_HZ: AtomicU64 = AtomicU64::new(0);

/// The counter that is read inline.
/// Meaningless if the machine has none or the kernel does not trust it.
#[inline(always)]
pub(crate) fn native() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: the virtual counter is readable at user level, and reading it touches no memory.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
        return ticks;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return 0;
}

/// Whether [`native`] is the clock of this process.
pub(crate) fn is_native() -> bool {
    matches!(kind(), ClockKind::Tsc | ClockKind::ArmCounter)
}

/// The clock of this process. The first call decides it.
pub(crate) fn kind() -> ClockKind {
    let number = KIND.load(Ordering::Acquire);
    if let Some(kind) = ClockKind::from_number(number as u64) {
        return kind;
    }
    let decided = decide();
    match KIND.compare_exchange(UNDECIDED, decided as usize, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => decided,
        Err(other) => ClockKind::from_number(other as u64).unwrap_or(decided),
    }
}

fn decide() -> ClockKind {
    let mut name = [0; 32];
    let read = read_start(c"/sys/devices/system/clocksource/clocksource0/current_clocksource", &mut name);
    match name[..read].trim_ascii() {
        b"tsc" if cfg!(target_arch = "x86_64") => ClockKind::Tsc,
        b"arch_sys_counter" if cfg!(target_arch = "aarch64") => ClockKind::ArmCounter,
        _ => ClockKind::MonotonicRaw,
    }
}

/// Reads the clock of this process, of any kind.
pub(crate) fn read() -> u64 {
    match kind() {
        ClockKind::Tsc | ClockKind::ArmCounter => native(),
        ClockKind::User => user(),
        ClockKind::MonotonicRaw => system_nanos(libc::CLOCK_MONOTONIC_RAW),
        ClockKind::Monotonic => system_nanos(libc::CLOCK_MONOTONIC),
    }
}

/// Reads the clock at the end of a thread.
/// Returns 0 if the program's own clock panics, because it may need thread-local variables that no
/// longer exist.
pub(crate) fn read_late() -> u64 {
    std::panic::catch_unwind(read).unwrap_or(0)
}

/// Reads the clock for a record inside other work of the recorder in the same thread.
/// `None` if the program's own clock is running already: it may not be reentrant, and it may record
/// through the allocator. `None` also if the clock is undecided, because the program may still set
/// its own.
pub(crate) fn read_nested(cursor: &ThreadCursor) -> Option<u64> {
    let kind = ClockKind::from_number(KIND.load(Ordering::Acquire) as u64)?;
    (kind != ClockKind::User || !cursor.asking.get()).then(read)
}

fn user() -> u64 {
    let address = USER.load(Ordering::Relaxed);
    // SAFETY: `set_clock` stored this function pointer before it set the kind.
    let clock = unsafe { std::mem::transmute::<*mut (), fn() -> u64>(address) };
    CURSOR.with(|cursor| {
        let asking = cursor.asking.replace(true);
        let ticks = unwrap_ticks(clock(), &LATEST, &IS_WIDE);
        cursor.asking.set(asking);
        ticks
    })
}

/// Latest timestamp of a program's clock of 32 bits, unwrapped to 64 bits.
static LATEST: AtomicU64 = AtomicU64::new(0);
/// Whether a program's clock has returned more than 32 bits.
static IS_WIDE: AtomicBool = AtomicBool::new(false);
/// A counter of 32 bits that decreases by more than half of its range has wrapped.
const WRAP_FALL: u64 = 1 << 31;

/// The unwrapped timestamp of a program's clock. Lock-free.
/// A counter of 32 bits restarts at 0 every 2^32 ticks and then decreases by nearly as much. A
/// smaller decrease is a clock step backwards, which is not unwrapped. The writer thread reads the
/// clock each second, so that no wrap is missed while nothing is recorded.
fn unwrap_ticks(ticks: u64, latest_ticks: &AtomicU64, is_wide: &AtomicBool) -> u64 {
    if ticks >> 32 != 0 {
        is_wide.store(true, Ordering::Relaxed);
        return ticks;
    }
    if is_wide.load(Ordering::Relaxed) {
        return ticks;
    }
    let mut previous_ticks = latest_ticks.load(Ordering::Relaxed);
    loop {
        let mut now = (previous_ticks >> 32 << 32) + ticks;
        if previous_ticks.saturating_sub(now) > WRAP_FALL {
            now += 1 << 32;
        } else if now >> 32 != 0 && now.saturating_sub(previous_ticks) > WRAP_FALL {
            // This thread read the counter before another thread saw the wrap.
            now -= 1 << 32;
        }
        if now <= previous_ticks {
            return now;
        }
        match latest_ticks.compare_exchange_weak(previous_ticks, now, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return now,
            Err(other) => previous_ticks = other,
        }
    }
}

/// How often the program's clock of 32 bits has wrapped.
pub(crate) fn wraps() -> u64 {
    if IS_WIDE.load(Ordering::Relaxed) { 0 } else { LATEST.load(Ordering::Relaxed) >> 32 }
}

/// Nominal ticks per second. 0 if unknown.
pub(crate) fn hz() -> u64 {
    match kind() {
        ClockKind::Tsc => 0,
        ClockKind::ArmCounter => arm_hz(),
        ClockKind::User => USER_HZ.load(Ordering::Relaxed),
        ClockKind::MonotonicRaw | ClockKind::Monotonic => 1_000_000_000,
    }
}

fn arm_hz() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let hz: u64;
        // SAFETY: the frequency register is readable at user level.
        unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
        return hz;
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}

/// Reads three clocks together: the try with the narrowest bracket of ten.
pub(crate) fn anchor() -> ClockAnchor {
    let once = || {
        let before = read();
        let monotonic_nanos = system_nanos(libc::CLOCK_MONOTONIC);
        let real_nanos = system_nanos(libc::CLOCK_REALTIME);
        let bracket = read().saturating_sub(before);
        ClockAnchor { ticks: before + bracket / 2, monotonic_nanos, real_nanos, bracket }
    };
    let mut best = once();
    for _ in 0..9 {
        let next = once();
        if next.bracket < best.bracket {
            best = next;
        }
    }
    best
}

/// A second reading at least 0.1 ms after the first.
/// The two give the clock's rate to about one thousandth. `None` if the rate is known.
pub(crate) fn anchor_after(first: &ClockAnchor) -> Option<ClockAnchor> {
    const APART_NANOS: u64 = 100_000;
    if hz() != 0 || kind() == ClockKind::User {
        return None;
    }
    let enough = first.monotonic_nanos + APART_NANOS;
    while system_nanos(libc::CLOCK_MONOTONIC) < enough {
        std::hint::spin_loop();
    }
    Some(anchor())
}

fn system_nanos(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_32_bits_is_unwrapped_and_a_clock_that_goes_back_is_not() {
        const RANGE: u64 = 1 << 32;
        let unwrap_all = |ticks: &[u64]| {
            let (latest, is_wide) = (AtomicU64::new(0), AtomicBool::new(false));
            ticks.iter().map(|&ticks| unwrap_ticks(ticks, &latest, &is_wide)).collect::<Vec<u64>>()
        };
        // The fourth value is that of a thread that read the counter before the wrap.
        let wraps = [5, RANGE - 10, 7, RANGE - 3, RANGE / 2, RANGE - 1, 0];
        let unwrapped = [5, RANGE - 10, RANGE + 7, RANGE - 3, RANGE + RANGE / 2, 2 * RANGE - 1, 2 * RANGE];
        assert_eq!(unwrap_all(&wraps), unwrapped);
        for as_they_are in [[RANGE - 10, RANGE + 5, 7], [RANGE / 2, 0, 1], [5000, 0, 6000]] {
            assert_eq!(unwrap_all(&as_they_are), as_they_are);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no counter")]
    fn timestamps_do_not_decrease_and_anchors_lie_between() {
        let before = now();
        let anchor = anchor();
        let after = now();
        assert!(before.ticks() <= anchor.ticks && anchor.ticks <= after.ticks());
        assert!(anchor.real_nanos > 1_600_000_000_000_000_000, "nanoseconds since 1970");
        assert!(!set_clock(|| 0, 1), "too late: the clock was read");
    }
}
