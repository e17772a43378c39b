//! The executions of a filtered trace: the trace prepared for the views of the dock, one per choice
//! of units, categories and tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tumit_perspectives::error::PerspectiveError;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::query::{QueryError, TimelineSource};

use crate::cancellation::{CancelFlag, SharedAnswer, WaitingClients};

/// Number of executions of a filtered trace: those of the latest choices of units and categories.
/// Each holds the activity of all units.
const CACHE_SIZE: usize = 4;

/// An execution, or the place for it while it is computed.
struct CachedExecution {
    settings: ExecutionSettings,
    clients: WaitingClients,
    execution: OnceLock<Result<Arc<Execution>, PerspectiveError>>,
}

/// The executions of a filtered trace.
pub(crate) struct ExecutionCache {
    source: Arc<dyn TimelineSource>,
    entries: Mutex<VecDeque<Arc<CachedExecution>>>,
}

impl ExecutionCache {
    pub(crate) fn new(source: Arc<dyn TimelineSource>) -> Self {
        Self { source, entries: Mutex::default() }
    }

    /// Computes an answer from an execution. Requests with the same settings share the execution,
    /// and wait for its parts. The computation of a part ends if none of them waits any more.
    ///
    /// # Errors
    /// The errors of the execution and of `work`.
    pub(crate) fn with<T>(
        &self,
        settings: &ExecutionSettings,
        cancel: &CancelFlag,
        work: impl Fn(&Execution) -> Result<T, PerspectiveError>,
    ) -> Result<T, PerspectiveError> {
        loop {
            let entry = self.entry(settings);
            entry.clients.add(cancel.clone());
            let execution = entry.execution.get_or_init(|| {
                let source = SharedAnswer { source: Arc::clone(&self.source), clients: entry.clients.clone() };
                match self.with_other_categories(settings) {
                    Some(cached) => cached.with_categories(Arc::new(source), settings.categories.clone()),
                    None => Execution::new(Arc::new(source), settings.clone()),
                }
                .map(Arc::new)
            });
            let result = execution.clone().and_then(|execution| work(&execution));
            let is_cancelled = matches!(result, Err(PerspectiveError::Query(QueryError::Cancelled)));
            if !is_cancelled {
                return result;
            }
            // The execution keeps the error of an unfinished part, so that it cannot be used again.
            self.entries().retain(|cached| !Arc::ptr_eq(cached, &entry));
            if cancel.is_set() {
                return result;
            }
        }
    }

    /// An execution whose settings differ in the categories only, if its parts can be shared.
    fn with_other_categories(&self, settings: &ExecutionSettings) -> Option<Arc<Execution>> {
        let has_same = |cached: &ExecutionSettings| {
            let mut cached = cached.clone();
            cached.categories.clone_from(&settings.categories);
            cached == *settings
        };
        let entries = self.entries();
        let others = entries.iter().filter(|entry| has_same(&entry.settings));
        let executions = others.filter_map(|entry| entry.execution.get()?.as_ref().ok());
        executions.into_iter().find(|execution| execution.is_complete()).map(Arc::clone)
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<CachedExecution>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, settings: &ExecutionSettings) -> Arc<CachedExecution> {
        let mut entries = self.entries();
        let position = entries.iter().position(|entry| entry.settings == *settings);
        let entry = position.and_then(|index| entries.remove(index)).unwrap_or_else(|| {
            Arc::new(CachedExecution {
                settings: settings.clone(),
                clients: WaitingClients::default(),
                execution: OnceLock::new(),
            })
        });
        entries.push_front(Arc::clone(&entry));
        entries.truncate(CACHE_SIZE);
        entry
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tumit_perspectives::error::PerspectiveError;
    use tumit_perspectives::execution::{Execution, ExecutionSettings};
    use tumit_test_support::table_trace::example_program;
    use tumit_viewer::query::QueryError;

    use super::ExecutionCache;
    use crate::cancellation::{CancelFlag, ClientGuard};

    #[test]
    fn an_execution_is_shared_and_survives_a_client_that_disconnects() {
        let cache = ExecutionCache::new(Arc::new(example_program(2, 3, 4)));
        let settings = ExecutionSettings::default();
        let client = ClientGuard::default();
        let address = |cancel: &CancelFlag| {
            let work = |execution: &Execution| Ok(std::ptr::from_ref(execution) as usize);
            cache.with(&settings, cancel, work).expect("the trace has units")
        };
        let first = address(&client.cancel_flag());
        let flag = client.cancel_flag();
        drop(client);
        let second_client = ClientGuard::default();
        assert_eq!(address(&second_client.cancel_flag()), first);
        // A client that has gone gets the error of its cancelled query, and another one a new
        // result.
        let fails =
            |_: &Execution| -> Result<(), PerspectiveError> { Err(PerspectiveError::Query(QueryError::Cancelled)) };
        assert!(cache.with(&settings, &flag, fails).is_err());
        let attempts = AtomicUsize::new(0);
        let second_succeeds = |_: &Execution| match attempts.fetch_add(1, Ordering::Relaxed) {
            0 => Err(PerspectiveError::Query(QueryError::Cancelled)),
            attempt => Ok(attempt),
        };
        assert_eq!(cache.with(&settings, &second_client.cancel_flag(), second_succeeds).expect("it is tried again"), 1);
    }
}
