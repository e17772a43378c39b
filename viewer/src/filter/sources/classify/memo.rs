//! Classes that were looked up: a byte for each entity, in pages that are there once one of them was asked for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::query::{EntityId, QueryError};

/// Entities per page, and pages: together all numbers.
const PAGE: usize = 1 << 16;

type Page = OnceLock<Box<[AtomicU8]>>;

/// By kind of entity.
#[derive(Debug)]
pub(crate) struct Memo {
    states: Box<[Page]>,
    events: Box<[Page]>,
    links: Box<[Page]>,
}

impl Default for Memo {
    fn default() -> Self {
        let pages = || (0..1 << (32 - PAGE.trailing_zeros())).map(|_| OnceLock::new()).collect();
        Self { states: pages(), events: pages(), links: pages() }
    }
}

impl Memo {
    /// The class of an entity, below 255; `find` looks it up the first time.
    pub(crate) fn of(&self, id: EntityId, find: impl FnOnce() -> Result<u8, QueryError>) -> Result<u8, QueryError> {
        let (pages, number) = match id {
            EntityId::State(number) => (&self.states, number),
            EntityId::Event(number) => (&self.events, number),
            EntityId::Link(number) => (&self.links, number),
            EntityId::Sample(_) | EntityId::Container(_) => return find(),
        };
        let (page, at) = (number as usize / PAGE, number as usize % PAGE);
        let page = pages[page].get_or_init(|| (0..PAGE).map(|_| AtomicU8::new(0)).collect());
        match page[at].load(Ordering::Relaxed) {
            0 => {
                let class = find()?;
                page[at].store(class + 1, Ordering::Relaxed);
                Ok(class)
            }
            class => Ok(class - 1),
        }
    }
}
