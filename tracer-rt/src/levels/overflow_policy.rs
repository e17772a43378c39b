//! The overflow policy: the action of a level when no slot is free for its record.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::slots::pool;

/// The action of a level when the writer thread is too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverflowPolicy {
    /// Drop and count the newest records.
    #[default]
    Drop,
    /// Make the thread wait until a slot is free, for at most ten seconds.
    /// After that, records are dropped until a slot is free.
    Block,
    /// Overwrite and count the oldest records of such levels.
    /// The remaining records are written on request ([`crate::dump`]), at a panic, and at the end
    /// of the process. The live file of a killed process contains them. They use at most half of
    /// the memory for records.
    Overwrite,
}

/// Whether a level overwrites.
static ANY_OVERWRITES: AtomicBool = AtomicBool::new(false);

/// Whether a level overwrites.
pub(crate) fn overwrites() -> bool {
    ANY_OVERWRITES.load(Ordering::Relaxed)
}

/// Whether a level blocks. Threads that must drop records read it without a lock.
static ANY_BLOCKS: AtomicBool = AtomicBool::new(false);

/// Whether the level of a record may block, so that a lookup is worthwhile.
pub(crate) fn may_block() -> bool {
    ANY_BLOCKS.load(Ordering::Relaxed) && !pool::is_stuck()
}

/// Stores which policies are in use.
pub(crate) fn store_active(policies: &[(String, OverflowPolicy)]) {
    let is_used = |policy| policies.iter().any(|(_, used)| *used == policy);
    ANY_BLOCKS.store(is_used(OverflowPolicy::Block), Ordering::Relaxed);
    ANY_OVERWRITES.store(is_used(OverflowPolicy::Overwrite), Ordering::Relaxed);
}

/// The policies in `TUMIT_POLICY`.
pub(crate) fn from_environment(report_entry: impl Fn(&str)) -> Vec<(String, OverflowPolicy)> {
    std::env::var("TUMIT_POLICY").map_or_else(|_| Vec::new(), |text| parse(&text, report_entry))
}

/// Parses policies such as `COM=block,APP=drop`. Passes entries that are not valid to
/// `report_entry`.
pub(crate) fn parse(text: &str, report_entry: impl Fn(&str)) -> Vec<(String, OverflowPolicy)> {
    let mut policies = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let policy = entry.split_once('=').and_then(|(name, policy)| {
            let policy = match policy.trim().to_ascii_lowercase().as_str() {
                "drop" => OverflowPolicy::Drop,
                "block" => OverflowPolicy::Block,
                "overwrite" => OverflowPolicy::Overwrite,
                _ => return None,
            };
            Some((name.trim().to_owned(), policy))
        });
        match policy {
            Some(policy) if !policy.0.is_empty() => policies.push(policy),
            _ => report_entry(entry),
        }
    }
    policies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_policies_are_reported_and_skipped() {
        let complaints = std::cell::RefCell::new(Vec::new());
        let all = parse("COM=block, app = DROP,, X=wait, =drop, Y=overwrite", |entry| {
            complaints.borrow_mut().push(entry.to_owned());
        });
        assert_eq!(
            all,
            [
                ("COM".to_owned(), OverflowPolicy::Block),
                ("app".to_owned(), OverflowPolicy::Drop),
                ("Y".to_owned(), OverflowPolicy::Overwrite)
            ]
        );
        assert_eq!(*complaints.borrow(), ["X=wait", "=drop"]);
    }
}
