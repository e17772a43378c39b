//! How much processor time other programs took during a measurement.

use std::path::Path;

/// Processor time since the machine started, in ticks of a hundredth of a second.
pub struct Ticks {
    /// All processors, busy or not.
    all: u64,
    /// All programs.
    busy: u64,
    /// This program, its children that have ended, and LTTng's daemons.
    measured: u64,
}

impl Ticks {
    pub fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").expect("Linux has /proc/stat");
        let (all, busy) = processors(&text).unwrap_or_else(|| panic!("/proc/stat: expected a line `cpu …`: {text}"));
        Self { all, busy, measured: usage(libc::RUSAGE_SELF) + usage(libc::RUSAGE_CHILDREN) + daemons() }
    }

    /// The share of the processors that other programs, the kernel and the host took.
    pub fn others_since(&self, before: &Self) -> f64 {
        let (busy, measured) = (self.busy - before.busy, self.measured - before.measured);
        busy.saturating_sub(measured) as f64 / (self.all - before.all).max(1) as f64
    }
}

/// All ticks and the busy ones. `/proc/stat` has user, nice, system, idle, iowait, irq, softirq
/// and steal.
fn processors(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    Some((all, all - ticks.get(3)? - ticks.get(4)?))
}

fn usage(target: libc::c_int) -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::getrusage(target, usage.as_mut_ptr()) };
    // SAFETY: zeros are a value of the type, also where the call failed.
    let usage = unsafe { usage.assume_init() };
    let ticks = |time: libc::timeval| time.tv_sec as u64 * 100 + time.tv_usec as u64 / 10_000;
    ticks(usage.ru_utime) + ticks(usage.ru_stime)
}

/// LTTng's daemons run until the program ends, so their time is not among that of ended children.
fn daemons() -> u64 {
    let processes = std::fs::read_dir("/proc").expect("Linux has /proc");
    processes.filter_map(|entry| daemon(&entry.ok()?.path())).sum()
}

fn daemon(process: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(process.join("stat")).ok()?;
    let (name, fields) = text.split_once('(')?.1.rsplit_once(") ")?;
    name.starts_with("lttng-").then_some(())?;
    // The fields after the name, from the state on: user and system time are the 12th and 13th.
    fields.split(' ').skip(11).take(2).map(|word| word.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_processors_and_waiting_for_disks_are_not_busy() {
        let text = "cpu  10 20 30 400 50 6 7 8 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(processors(text), Some((531, 81)));
        assert_eq!(processors("intr 1 2 3\n"), None);
    }

    #[test]
    fn own_time_is_no_disturbance() {
        let before = Ticks { all: 1000, busy: 500, measured: 100 };
        let after = Ticks { all: 1200, busy: 600, measured: 150 };
        assert!((after.others_since(&before) - 0.25).abs() < 1e-9);
    }
}
