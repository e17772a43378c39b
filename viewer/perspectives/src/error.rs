//! [`PerspectiveError`]: the reasons why a view cannot be computed.
//!
//! ```
//! use tumit_perspectives::error::PerspectiveError;
//! use tumit_perspectives::options::ParsedOptions;
//!
//! let options = [("size".to_owned(), "3".to_owned())];
//! let error = ParsedOptions::parse("kiviat", &["order"], &options).unwrap_err();
//! assert!(matches!(error, PerspectiveError::NoOption { .. }));
//! let message = "the view `kiviat` has no option `size`; its options are order, level,";
//! assert!(error.to_string().starts_with(message));
//! ```

use tumit::diagnostics::did_you_mean;
use tumit_viewer::query::QueryError;

/// The reason why a view cannot be computed, with the remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum PerspectiveError {
    /// No view has this name.
    #[error("no view is called `{name}`{}; `--perspective list` lists all views", hint(.suggestion))]
    NoView {
        name: String,
        /// The question whether a similar name is meant.
        suggestion: Option<String>,
    },
    /// A view has no such option.
    #[error("the view `{view}` has no option `{name}`; its options are {}", list(.known_names))]
    NoOption { view: String, name: String, known_names: Vec<String> },
    /// The value of an option is invalid.
    #[error("`{value}` is not a value of the option `{name}`: expected {expected}")]
    OptionValue {
        /// The option.
        name: String,
        value: String,
        /// A description of the valid values.
        expected: String,
    },
    /// No container type has the name of the chosen level.
    #[error("no container type is called `{name}`; the trace has {}", list(.known_names))]
    NoUnitType { name: String, known_names: Vec<String> },
    /// No state type has the chosen name.
    #[error("no state type is called `{name}`; the trace has {}", list(.known_names))]
    NoStateType {
        /// The requested name or pattern.
        name: String,
        known_names: Vec<String>,
    },
    /// No task has the chosen name.
    #[error("no task is called `{name}`; {}the trace has {}", task_remedy(.state_type.as_deref()), list(.known_names))]
    NoTask {
        /// The requested name or pattern.
        name: String,
        known_names: Vec<String>,
        /// Another state type that has values of this name.
        state_type: Option<String>,
    },
    /// No state has the chosen name.
    #[error("no state is called `{name}`; the trace has {}", list(.known_names))]
    NoState {
        /// The requested name or pattern.
        name: String,
        known_names: Vec<String>,
    },
    /// No unit has the chosen name.
    #[error("no {level} is called `{name}`; the first one is `{first}`")]
    NoUnit {
        /// The name of the container type.
        level: String,
        name: String,
        /// The name of the first unit.
        first: String,
    },
    /// No container has a chosen name.
    #[error("no container is called `{name}`; {help}")]
    NoContainer {
        /// The requested name or pattern.
        name: String,
        /// The names that exist.
        help: String,
    },
    /// The chosen containers have nothing in common with the units.
    #[error(
        "no {level} is in, around or below the chosen containers; choose other containers, or their level by \
         `--option level=TYPE`"
    )]
    NoChosenUnit {
        /// The name of the container type of the units.
        level: String,
    },
    /// The trace has no containers.
    #[error("the trace has no containers")]
    NoContainers,
    /// The trace lacks data that the view needs.
    #[error("the view needs {missing_data}, but the trace has none; {remedy}")]
    NoData { missing_data: String, remedy: String },
    /// No name of the trace matches a pattern.
    #[error("no {kind} is called `{name}`{}; the trace has {}", hint(.suggestion), list(.known_names))]
    NoMatch {
        /// The kind of the names, such as `event type`.
        kind: &'static str,
        name: String,
        /// The question whether a similar name is meant.
        suggestion: Option<String>,
        known_names: Vec<String>,
    },
    /// A view must read more events than fit into memory.
    #[error(
        "the view reads {count} events, more than {limit}; choose fewer by their type, value or container, or by a filter"
    )]
    TooManyEvents { count: u64, limit: u64 },
    /// A file given as an option, or a part of it, cannot be used.
    #[error("{path}: {problem}")]
    File {
        /// Its path.
        path: String,
        /// The problem.
        problem: String,
    },
    /// The source failed.
    #[error(transparent)]
    Query(QueryError),
}

impl PerspectiveError {
    /// No name of the trace matches a pattern. The message has the first names.
    pub(crate) fn no_match(kind: &'static str, name: &str, names: &[&str]) -> Self {
        const MOST: usize = 12;
        let mut known_names: Vec<String> = Vec::new();
        for name in names {
            if known_names.len() < MOST && !known_names.iter().any(|listed| listed == name) {
                known_names.push((*name).to_owned());
            }
        }
        let suggestion = did_you_mean(name, names.iter().copied());
        Self::NoMatch { kind, name: name.to_owned(), suggestion, known_names }
    }
}

/// How tasks of another state type are chosen, before the list of known tasks.
fn task_remedy(state_type: Option<&str>) -> String {
    state_type.map_or_else(String::new, |ty| format!("choose its state type by `--option tasks={ty}`; by default, "))
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn hint(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|question| format!(", {question}")).unwrap_or_default()
}
