//! [`KeyedCache`]: the latest results of a long computation, by a text that identifies the request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of a result. It is locked while the result is computed.
type Slot<T> = Arc<Mutex<Option<Arc<T>>>>;

/// The latest results.
pub(crate) struct KeyedCache<T> {
    capacity: usize,
    entries: Mutex<VecDeque<(String, Slot<T>)>>,
}

impl<T> KeyedCache<T> {
    /// A cache for this many results.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, entries: Mutex::default() }
    }

    /// The result of a key. Requests for one key wait for the first of them. An error is not kept.
    ///
    /// # Errors
    /// The error of `compute`.
    pub(crate) fn get<E>(&self, key: &str, compute: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let slot = self.slot(key);
        let mut result = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = result.as_ref() {
            return Ok(Arc::clone(known));
        }
        let new = Arc::new(compute()?);
        *result = Some(Arc::clone(&new));
        Ok(new)
    }

    fn slot(&self, key: &str) -> Slot<T> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let position = entries.iter().position(|(known, _)| known == key);
        let entry = position.and_then(|index| entries.remove(index));
        let entry = entry.unwrap_or_else(|| (key.to_owned(), Slot::default()));
        let slot = Arc::clone(&entry.1);
        entries.push_front(entry);
        entries.truncate(self.capacity);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::KeyedCache;

    #[test]
    fn a_result_is_computed_once_and_an_error_is_not_kept() {
        let cache = KeyedCache::new(2);
        assert_eq!(cache.get("a", || Err::<u8, _>("no")), Err("no"));
        let number = |key: &str, number: u8| *cache.get(key, || Ok::<_, ()>(number)).expect("there is a result");
        assert_eq!((number("a", 1), number("a", 2)), (1, 1));
        // The oldest result makes room.
        assert_eq!((number("b", 3), number("c", 4), number("a", 5)), (3, 4, 5));
    }
}
