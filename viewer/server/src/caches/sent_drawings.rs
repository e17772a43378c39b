//! [`SentDrawings`]: the latest drawings of cards that were sent, by their hash.
//!
//! A page that has a drawing needs only the changes of the next one. The server keeps no state of a
//! page: a drawing that is no longer here is sent as a whole.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of drawings and lists of marks: those of six cards at the times of a request.
const CAPACITY: usize = 256;
/// Maximum size of a text that is stored.
const MAX_BYTES: usize = 256 * 1024;

/// The JSON texts of drawings and of places of marks, the latest first.
#[derive(Default)]
pub(crate) struct SentDrawings {
    texts: Mutex<VecDeque<(String, Arc<Vec<u8>>)>>,
}

impl SentDrawings {
    /// The text of a hash, if it was sent lately.
    pub(crate) fn text(&self, hash: &str) -> Option<Arc<Vec<u8>>> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().find(|(known, _)| known == hash).map(|(_, text)| Arc::clone(text))
    }

    pub(crate) fn add(&self, hash: &str, text: &[u8]) {
        if text.len() > MAX_BYTES {
            return;
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let position = texts.iter().position(|(known, _)| known == hash);
        let entry = position.and_then(|index| texts.remove(index));
        texts.push_front(entry.unwrap_or_else(|| (hash.to_owned(), Arc::new(text.to_vec()))));
        texts.truncate(CAPACITY);
    }
}
