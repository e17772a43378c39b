//! Cached classes: one byte per entity, in pages that are allocated at the first access to one of
//! their entities.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::query::{EntityId, QueryError};

/// Entities per page. All pages together cover all 32-bit numbers.
const PAGE: usize = 1 << 16;

type MemoPage = OnceLock<Box<[AtomicU8]>>;

/// Pages by kind of entity.
#[derive(Debug)]
pub(crate) struct ClassMemo {
    states: Box<[MemoPage]>,
    events: Box<[MemoPage]>,
    links: Box<[MemoPage]>,
}

impl Default for ClassMemo {
    fn default() -> Self {
        let pages = || (0..1 << (32 - PAGE.trailing_zeros())).map(|_| OnceLock::new()).collect();
        Self { states: pages(), events: pages(), links: pages() }
    }
}

impl ClassMemo {
    /// The class of an entity, below 255. `find` determines it at the first access.
    pub(crate) fn of(&self, id: EntityId, find: impl FnOnce() -> Result<u8, QueryError>) -> Result<u8, QueryError> {
        let (pages, number) = match id {
            EntityId::State(number) => (&self.states, number),
            EntityId::Event(number) => (&self.events, number),
            EntityId::Link(number) => (&self.links, number),
            EntityId::OpenLink(_) | EntityId::Sample(_) | EntityId::Container(_) => return find(),
        };
        let (page, offset) = (number as usize / PAGE, number as usize % PAGE);
        let page = pages[page].get_or_init(|| (0..PAGE).map(|_| AtomicU8::new(0)).collect());
        match page[offset].load(Ordering::Relaxed) {
            0 => {
                let class = find()?;
                page[offset].store(class + 1, Ordering::Relaxed);
                Ok(class)
            }
            class => Ok(class - 1),
        }
    }
}
