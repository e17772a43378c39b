//! The last filters of a page, in a file next to the trace. The page offers them again.

use std::io;
use std::path::PathBuf;

use super::filtered_cache::TraceCache;
use super::user_files::{read, write};
use tumit_viewer::filter::{ChainEntry, FilterChain, FilterExpr};
use tumit_viewer::generated_file::FILTERS;

/// A filter as the page sends it: its expression, and whether it is on.
type PageFilter = (String, bool);

impl TraceCache {
    fn filter_places(&self) -> Vec<PathBuf> {
        self.places("filters", "tumit-view")
    }

    /// The filters of the first valid filter file.
    pub(crate) fn saved_filters(&self) -> Vec<PageFilter> {
        let found = |path: &PathBuf| FilterChain::from_text(&read(path).ok()?).ok();
        let chain = self.filter_places().iter().find_map(found).unwrap_or_default();
        chain.filters.iter().map(|entry| (entry.filter.to_string(), entry.on)).collect()
    }

    /// Saves filters at the first path that is writable and holds no foreign file. If there are no
    /// filters, removes the file. Invalid expressions are left out.
    ///
    /// # Errors
    /// If no path can be written.
    pub(crate) fn save_filters(&self, filters: &[PageFilter]) -> io::Result<()> {
        let mut chain = FilterChain::default();
        for (text, on) in filters {
            if let Ok(filter) = text.parse::<FilterExpr>() {
                chain.filters.push(ChainEntry { on: *on, ..ChainEntry::from(filter) });
            }
        }
        let places = self.filter_places();
        if chain.filters.is_empty() {
            // A foreign file is left unchanged.
            places.iter().for_each(|path| _ = FILTERS.remove(path));
            return Ok(());
        }
        let text = chain.to_text();
        let mut failed = io::Error::other("a trace without a file has no place for filters");
        for place in places {
            match write(FILTERS, &place, &text) {
                Ok(()) => return Ok(()),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::filtered_cache::{ServedTrace, TraceCache};
    use tumit_viewer::store::TraceStore;

    #[test]
    fn filters_are_kept_beside_the_trace_until_there_are_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "").expect("room for it");
        let trace = || {
            let store = TraceStore::from_events("run", []);
            TraceCache::new(ServedTrace { path: Some(path.clone()), ..ServedTrace::new(Arc::new(store)) })
        };
        assert!(trace().saved_filters().is_empty());
        let filters = [("hide value Wait*".to_owned(), true), ("only container Node 1".to_owned(), false)];
        let with_wrong = [&filters[..], &[("no filter".to_owned(), true)]].concat();
        trace().save_filters(&with_wrong).expect("room for it");
        assert_eq!(trace().saved_filters(), filters);
        let file = folder.path().join("run.paje.tumit-view");
        assert!(file.exists(), "`--filters` reads it");
        trace().save_filters(&[]).expect("it can be removed");
        assert!(!file.exists() && trace().saved_filters().is_empty());
        std::fs::write(&file, "").expect("room for it");
        let _ = trace().save_filters(&filters);
        trace().save_filters(&[]).expect("there is nothing to do");
        assert_eq!(std::fs::read(&file).expect("an empty foreign file stays"), b"");
        std::fs::write(&file, "mine").expect("room for it");
        assert!(trace().saved_filters().is_empty(), "it is none of ours");
        // A foreign file is neither replaced nor removed, not even through a symbolic link.
        let other = folder.path().join("other");
        std::fs::write(&other, "mine, too").expect("room for it");
        for is_link in [false, true] {
            if is_link {
                std::fs::remove_file(&file).expect("it is there");
                std::os::unix::fs::symlink(&other, &file).expect("room for it");
            }
            // The filters may be saved in the user's cache folder.
            let _ = trace().save_filters(&filters);
            trace().save_filters(&[]).expect("there is nothing to do");
            let text = std::fs::read_to_string(&file).expect("it is there");
            assert_eq!(text, if is_link { "mine, too" } else { "mine" });
            assert_eq!(file.is_symlink(), is_link);
        }
    }
}
