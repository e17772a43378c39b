//! What becomes of a record that finds no slot free: it is dropped, or its thread waits, as its level is told.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::slots::pool;

/// What a level does when the helper cannot follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The newest records are dropped, and counted.
    #[default]
    Drop,
    /// The thread waits until a slot is free: ten seconds at most, then records are dropped until one is.
    Block,
    /// The oldest records of such levels are overwritten, and counted; what is left is written when it is asked for
    /// ([`crate::dump`]), at a panic, and at the end of the process, and is in the live file of a process that is killed. At most half
    /// of the memory for records is used so.
    Overwrite,
}

/// Some level overwrites.
static ANY_OVERWRITES: AtomicBool = AtomicBool::new(false);

/// Whether some level overwrites.
pub(crate) fn overwrites() -> bool {
    ANY_OVERWRITES.load(Ordering::Relaxed)
}

/// Some level blocks: asked for without a lock by threads that must drop.
static ANY_BLOCKS: AtomicBool = AtomicBool::new(false);

/// Whether it is worth asking if a record's level blocks.
pub(crate) fn may_block() -> bool {
    ANY_BLOCKS.load(Ordering::Relaxed) && !pool::is_stuck()
}

/// Notes what some level does.
pub(crate) fn note(policies: &[(String, Policy)]) {
    let some = |wanted| policies.iter().any(|(_, policy)| *policy == wanted);
    ANY_BLOCKS.store(some(Policy::Block), Ordering::Relaxed);
    ANY_OVERWRITES.store(some(Policy::Overwrite), Ordering::Relaxed);
}

/// The policies that `TUMIT_POLICY` asks for.
pub(crate) fn from_environment(complain: impl Fn(&str)) -> Vec<(String, Policy)> {
    std::env::var("TUMIT_POLICY").map_or_else(|_| Vec::new(), |text| parse(&text, complain))
}

/// The policies that a text asks for, as `COM=block,APP=drop`; what is not understood is given to `complain`.
pub(crate) fn parse(text: &str, complain: impl Fn(&str)) -> Vec<(String, Policy)> {
    let mut policies = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let policy = entry.split_once('=').and_then(|(name, policy)| {
            let policy = match policy.trim().to_ascii_lowercase().as_str() {
                "drop" => Policy::Drop,
                "block" => Policy::Block,
                "overwrite" => Policy::Overwrite,
                _ => return None,
            };
            Some((name.trim().to_owned(), policy))
        });
        match policy {
            Some(policy) if !policy.0.is_empty() => policies.push(policy),
            _ => complain(entry),
        }
    }
    policies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_parsed() {
        let complaints = std::cell::RefCell::new(Vec::new());
        let all = parse("COM=block, app = DROP,, X=wait, =drop, Y=overwrite", |entry| {
            complaints.borrow_mut().push(entry.to_owned());
        });
        assert_eq!(
            all,
            [("COM".to_owned(), Policy::Block), ("app".to_owned(), Policy::Drop), ("Y".to_owned(), Policy::Overwrite)]
        );
        assert_eq!(*complaints.borrow(), ["X=wait", "=drop"]);
    }
}
