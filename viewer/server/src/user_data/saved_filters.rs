//! The last filters of a page, in a file next to the trace. The page offers them again.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::user_files::{read, write};
use crate::caches::filtered_cache::TraceCache;
use tumit_viewer::filter::{ChainEntry, FilterChain, FilterExpr};
use tumit_viewer::generated_file::FILTERS;

/// A filter of the page. In JSON it is the list `[text, on]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, bool)", into = "(String, bool)")]
pub(crate) struct PageFilter {
    /// The expression. It may be invalid.
    pub(crate) text: String,
    pub(crate) is_on: bool,
}

impl From<(String, bool)> for PageFilter {
    fn from((text, is_on): (String, bool)) -> Self {
        Self { text, is_on }
    }
}

impl From<PageFilter> for (String, bool) {
    fn from(filter: PageFilter) -> Self {
        (filter.text, filter.is_on)
    }
}

impl From<&ChainEntry> for PageFilter {
    fn from(entry: &ChainEntry) -> Self {
        Self { text: entry.filter.to_string(), is_on: entry.is_on }
    }
}

impl TraceCache {
    fn filter_paths(&self) -> Vec<PathBuf> {
        self.file_paths("filters", "tumit-view")
    }

    /// The filters of the first valid filter file.
    pub(crate) fn saved_filters(&self) -> Vec<PageFilter> {
        let found = |path: &PathBuf| FilterChain::from_text(&read(path).ok()?).ok();
        let chain = self.filter_paths().iter().find_map(found).unwrap_or_default();
        chain.filters.iter().map(PageFilter::from).collect()
    }

    /// Saves filters at the first path that is writable and holds no foreign file. If there are no
    /// filters, removes the file. Invalid expressions are left out.
    ///
    /// # Errors
    /// If no path can be written.
    pub(crate) fn save_filters(&self, filters: &[PageFilter]) -> io::Result<()> {
        let mut chain = FilterChain::default();
        for PageFilter { text, is_on } in filters {
            if let Ok(filter) = text.parse::<FilterExpr>() {
                chain.filters.push(ChainEntry { is_on: *is_on, ..ChainEntry::from(filter) });
            }
        }
        let paths = self.filter_paths();
        if chain.filters.is_empty() {
            // A foreign file is left unchanged.
            paths.iter().for_each(|path| _ = FILTERS.remove(path));
            return Ok(());
        }
        let text = chain.to_text();
        let mut last_error = io::Error::other("filters cannot be saved, because the trace is not read from a file");
        for path in paths {
            match write(FILTERS, &path, &text) {
                Ok(()) => return Ok(()),
                Err(error) => last_error = error,
            }
        }
        Err(last_error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::PageFilter;
    use crate::caches::filtered_cache::{ServedTrace, TraceCache};
    use tumit_viewer::store::TraceStore;

    #[test]
    fn filters_are_saved_next_to_the_trace_until_none_are_left() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "").expect("the file can be written");
        let trace = || {
            let store = TraceStore::from_events("run", []);
            TraceCache::new(ServedTrace { path: Some(path.clone()), ..ServedTrace::new(Arc::new(store)) })
        };
        assert!(trace().saved_filters().is_empty());
        let filter = |text: &str, is_on| PageFilter { text: text.to_owned(), is_on };
        let filters = [filter("hide value Wait*", true), filter("only container Node 1", false)];
        let with_wrong = [&filters[..], &[filter("no filter", true)]].concat();
        trace().save_filters(&with_wrong).expect("the file can be written");
        assert_eq!(trace().saved_filters(), filters);
        let file = folder.path().join("run.paje.tumit-view");
        assert!(file.exists(), "`--filters` reads it");
        trace().save_filters(&[]).expect("the file can be removed");
        assert!(!file.exists() && trace().saved_filters().is_empty());
        std::fs::write(&file, "").expect("the file can be written");
        let _ = trace().save_filters(&filters);
        trace().save_filters(&[]).expect("nothing has to be changed");
        assert_eq!(std::fs::read(&file).expect("an empty foreign file stays"), b"");
        std::fs::write(&file, "mine").expect("the file can be written");
        assert!(trace().saved_filters().is_empty(), "the file is foreign");
        // A foreign file is neither replaced nor removed, not even through a symbolic link.
        let target = folder.path().join("other");
        std::fs::write(&target, "mine, too").expect("the file can be written");
        for is_link in [false, true] {
            if is_link {
                std::fs::remove_file(&file).expect("the file exists");
                std::os::unix::fs::symlink(&target, &file).expect("the file can be written");
            }
            // The filters may be saved in the user's cache folder.
            let _ = trace().save_filters(&filters);
            trace().save_filters(&[]).expect("nothing has to be changed");
            let text = std::fs::read_to_string(&file).expect("the file exists");
            assert_eq!(text, if is_link { "mine, too" } else { "mine" });
            assert_eq!(file.is_symlink(), is_link);
        }
    }
}
