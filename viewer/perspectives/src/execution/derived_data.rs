//! [`DerivedData`]: results that views compute from a whole trace, stored for their next charts.

use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::PerspectiveError;

/// Maximum number of stored results: those of all views with several options.
const CAPACITY: usize = 64;

/// Results by their type and key, the last used one first.
#[derive(Default)]
pub(crate) struct DerivedData {
    entries: Mutex<VecDeque<DerivedEntry>>,
}

struct DerivedEntry {
    ty: TypeId,
    key: String,
    value: Arc<dyn Any + Send + Sync>,
}

impl DerivedData {
    /// The stored result, or a computed one. Two threads may compute the same result at the same
    /// time; no thread waits for another one.
    pub(crate) fn get<T: Send + Sync + 'static>(
        &self,
        key: &str,
        compute: impl FnOnce() -> Result<T, PerspectiveError>,
    ) -> Result<Arc<T>, PerspectiveError> {
        if let Some(value) = self.stored_value(key) {
            return Ok(value);
        }
        let value = Arc::new(compute()?);
        let entry = DerivedEntry { ty: TypeId::of::<T>(), key: key.to_owned(), value: Arc::clone(&value) as _ };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push_front(entry);
        entries.truncate(CAPACITY);
        Ok(value)
    }

    fn stored_value<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let index = entries.iter().position(|entry| entry.ty == TypeId::of::<T>() && entry.key == key)?;
        let entry = entries.remove(index)?;
        let value = Arc::clone(&entry.value).downcast().ok();
        entries.push_front(entry);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, DerivedData};
    use crate::error::PerspectiveError;

    #[test]
    fn results_are_computed_once_per_type_and_key() {
        let data = DerivedData::default();
        let number = |key: &str, value: i32| *data.get(key, || Ok(value)).expect("no error");
        assert_eq!([number("a", 1), number("a", 2), number("b", 3)], [1, 1, 3]);
        assert_eq!(*data.get("a", || Ok("text")).expect("no error"), "text");
        data.get::<u8>("c", || Err(PerspectiveError::NoContainers)).expect_err("an error");
        assert_eq!(*data.get("c", || Ok(5_u8)).expect("errors are not stored"), 5);
        for key in 0..CAPACITY {
            assert_eq!(number("b", 7), 3, "a used result stays");
            number(&format!("n{key}"), 0);
        }
        assert_eq!(number("a", 9), 9, "an unused result is replaced");
    }
}
