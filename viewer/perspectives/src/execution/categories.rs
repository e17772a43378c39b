//! [`CategoryTable`]: the category of each value of the state types.
//!
//! A trace, a filter or a user assigns categories. The others are guessed from the names of the
//! values. The table marks guesses, so that views can say so.
//!
//! ```
//! use tumit_paje::category::ActivityCategory;
//! use tumit_perspectives::execution::categories::guess;
//!
//! assert_eq!(guess("MPI_Waitall"), ActivityCategory::Idle);
//! assert_eq!(guess("MPI_Send"), ActivityCategory::Overhead);
//! assert_eq!(guess("computeForces"), ActivityCategory::Busy);
//! ```

use std::collections::BTreeSet;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{PajeTypeKind, TypeId, TypeInfo, TypeModel, ValueId};

use crate::error::PerspectiveError;

/// Words of names of states in which a program waits, or has finished before the end of the run.
const IDLE_WORDS: [&str; 20] = [
    "wait*",
    "await*",
    "idle*",
    "sleep*",
    "block",
    "blocked",
    "blocking",
    "stall*",
    "park*",
    "suspend*",
    "inactive",
    "starv*",
    "poll",
    "polls",
    "polling",
    "epoll",
    "finished",
    "done",
    "exited",
    "terminated",
];
/// Words that look like waiting, but name who waits.
const WAITER_WORDS: [&str; 2] = ["waiter", "waiters"];
/// Words after a word for waiting that make it the name of a data structure: `wait list`.
const LIST_WORDS: [&str; 4] = ["list", "lists", "queue", "queues"];
/// Words of names of states in which a program communicates, synchronises or schedules.
const COMMUNICATION_WORDS: [&str; 35] = [
    "mpi*",
    "pmpi*",
    "shmem*",
    "send*",
    "isend",
    "recv*",
    "irecv",
    "receiv*",
    "pack",
    "packs",
    "packing",
    "unpack*",
    "comm",
    "comms",
    "communic*",
    "barrier*",
    "bcast*",
    "broadcast*",
    "reduc*",
    "allreduc*",
    "gather*",
    "allgather*",
    "scatter*",
    "alltoall*",
    "collectiv*",
    "sync*",
    "flush*",
    "schedul*",
    "fetch*",
    "transfer*",
    "overhead",
    "probe*",
    "iprobe",
    "progress*",
    "exchang*",
];
/// Words of names of states in which a program has a lock. It does its own work meanwhile.
const HOLD_WORDS: [&str; 12] =
    ["hold", "holds", "holding", "held", "own", "owns", "owning", "owned", "in", "inside", "locked", "critical"];
/// Words of names of states in which a program requests a lock that it does not have yet.
const REQUEST_WORDS: [&str; 5] = ["acquir*", "request*", "contend*", "contention", "enter*"];
/// Words of names of states in which a program acquires or releases a lock.
const LOCK_WORDS: [&str; 4] = ["lock*", "unlock*", "mutex*", "critical"];

/// The origin of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CategoryOrigin {
    /// Guessed from the name.
    Guess,
    /// Assigned by the trace, a filter or the user.
    Assigned,
}

/// The category of a value, and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueCategory {
    /// The category.
    pub category: ActivityCategory,
    /// Its origin.
    pub origin: CategoryOrigin,
}

/// Assigns a category to the values of matching names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CategoryRule {
    /// The category.
    pub category: ActivityCategory,
    /// The names of the values.
    pub values: NamePattern,
    /// The names of the state types. `None`: all.
    pub state_type: Option<NamePattern>,
}

impl CategoryRule {
    /// A rule for values of all state types, or of those that match `state_type`.
    #[must_use]
    pub const fn new(category: ActivityCategory, values: NamePattern, state_type: Option<NamePattern>) -> Self {
        Self { category, values, state_type }
    }
}

/// The category of each value of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryTable {
    by_value: Vec<ValueCategory>,
}

impl CategoryTable {
    /// Takes the categories of the model, which the trace and filters assign. Guesses the others
    /// from the names of the values. Then applies `rules` in order.
    pub fn new(model: &TypeModel, rules: &[CategoryRule]) -> Self {
        let values = model.values.iter().map(|value| match value.category {
            Some(category) => ValueCategory { category, origin: CategoryOrigin::Assigned },
            None => ValueCategory { category: guess(&value.name), origin: CategoryOrigin::Guess },
        });
        let mut table = Self { by_value: values.collect() };
        rules.iter().for_each(|rule| _ = table.assign(model, rule));
        table
    }

    /// The number of values of the trace.
    pub fn count(&self) -> usize {
        self.by_value.len()
    }

    /// Applies a rule. Returns the number of values that it matches.
    pub fn assign(&mut self, model: &TypeModel, rule: &CategoryRule) -> usize {
        let mut count = 0;
        for value in &model.values {
            let Some(ty) = model.types.get(value.ty.index()).filter(|ty| ty.kind == PajeTypeKind::State) else {
                continue;
            };
            if rule.values.fits(&value.name) && rule.state_type.as_ref().is_none_or(|pattern| pattern.fits(&ty.name)) {
                self.by_value[value.id.index()] =
                    ValueCategory { category: rule.category, origin: CategoryOrigin::Assigned };
                count += 1;
            }
        }
        count
    }

    /// Checks that each rule matches a value of the trace.
    ///
    /// # Errors
    /// If no state type or no value of a state type has the name in a rule.
    pub fn check_rules(model: &TypeModel, rules: &[CategoryRule]) -> Result<(), PerspectiveError> {
        let mut table = Self::new(model, &[]);
        let states = || model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State);
        for rule in rules {
            if table.assign(model, rule) > 0 {
                continue;
            }
            let fits = |ty: &&TypeInfo| rule.state_type.as_ref().is_none_or(|pattern| pattern.fits(&ty.name));
            let types: BTreeSet<TypeId> = states().filter(fits).map(|ty| ty.id).collect();
            return Err(match &rule.state_type {
                Some(pattern) if types.is_empty() => {
                    let names: Vec<&str> = states().map(|ty| ty.name.as_str()).collect();
                    PerspectiveError::no_match("state type", pattern.as_str(), &names)
                }
                _ => {
                    let values = model.values.iter().filter(|value| types.contains(&value.ty));
                    let names: Vec<&str> = values.map(|value| value.name.as_str()).collect();
                    PerspectiveError::no_match("state", rule.values.as_str(), &names)
                }
            });
        }
        Ok(())
    }

    /// The category of a value. A value that the table does not contain is busy.
    pub fn category(&self, value: ValueId) -> ActivityCategory {
        self.get(value).category
    }

    /// The category of a value, and its origin.
    pub fn get(&self, value: ValueId) -> ValueCategory {
        const BUSY: ValueCategory = ValueCategory { category: ActivityCategory::Busy, origin: CategoryOrigin::Guess };
        self.by_value.get(value.index()).copied().unwrap_or(BUSY)
    }

    /// Whether a type has values of different categories, so that it shows the utilization.
    pub(crate) fn distinguishes(&self, model: &TypeModel, ty: TypeId) -> bool {
        let mut categories = model.values.iter().filter(|value| value.ty == ty).map(|value| self.category(value.id));
        categories.next().is_some_and(|first| categories.any(|category| category != first))
    }
}

/// Guesses a category from a name. The words of the name decide, as wholes or by their starts
/// (`send*`): `MPI_Wait` has the words `mpi` and `wait`, `sendHalo` has `send` and `halo`. The
/// first of these rules that fits decides:
///
/// 1. a word for waiting: idle;
/// 2. a word for communication, synchronisation or scheduling: overhead;
/// 3. a word for holding a lock, unless another one requests it: busy;
/// 4. a word for locks: overhead;
/// 5. all other names: busy.
pub fn guess(name: &str) -> ActivityCategory {
    let words = words(name);
    let contains = |list: &[&str]| words.iter().any(|word| fits_any(list, word));
    if has_wait(&words) {
        ActivityCategory::Idle
    } else if contains(&COMMUNICATION_WORDS) {
        ActivityCategory::Overhead
    } else if contains(&HOLD_WORDS) && !contains(&REQUEST_WORDS) {
        ActivityCategory::Busy
    } else if contains(&LOCK_WORDS) {
        ActivityCategory::Overhead
    } else {
        ActivityCategory::Busy
    }
}

/// Whether a word is one for waiting, and not part of the name of a data structure.
fn has_wait(words: &[String]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let is_list = words.get(index + 1).is_some_and(|next| LIST_WORDS.contains(&next.as_str()));
        fits_any(&IDLE_WORDS, word) && !WAITER_WORDS.contains(&word.as_str()) && !is_list
    })
}

fn fits_any(patterns: &[&str], word: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, word))
}

fn fits(pattern: &str, word: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == word, |start| word.starts_with(start))
}

/// The words of a name in lower case: parts between other characters than letters, and before a
/// capital letter after a small one.
pub(crate) fn words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for letter in name.chars() {
        if !letter.is_alphabetic() || letter.is_uppercase() && was_lower {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use tumit_paje::category::ActivityCategory::{Busy, Idle, Overhead};

    use super::guess;

    #[test]
    fn names_of_usual_tracers_have_the_expected_category() {
        for (name, expected) in [
            ("MPI_Wait", Idle),
            ("MPI_Recv", Overhead),
            ("PMPI_Allreduce", Overhead),
            ("Waiting for work", Idle),
            ("WaitIO", Idle),
            ("Sleeping", Idle),
            ("Scheduling", Overhead),
            ("FetchingInput", Overhead),
            ("computing", Busy),
            ("dgemm", Busy),
            ("Sender thread", Overhead),
            ("blocks", Busy),
            ("test_function", Busy),
            ("holds mutex", Busy),
            ("Lock held", Busy),
            ("owns the lock", Busy),
            ("in critical section", Busy),
            ("acquire critical section", Overhead),
            ("lock acquisition", Overhead),
            ("MPI_Win_lock", Overhead),
            ("sendOwned", Overhead),
            ("wait for mutex", Idle),
            ("waits while it holds the lock", Idle),
            ("finished", Idle),
            ("await", Idle),
            ("epoll_wait", Idle),
            ("poll", Idle),
            ("MPI_Waitall", Idle),
            ("pollution model", Busy),
            ("waiter list update", Busy),
            ("precompute wait list", Busy),
            ("packet decode", Busy),
            ("pack", Overhead),
            ("Latest", Busy),
            ("", Busy),
        ] {
            assert_eq!(guess(name), expected, "{name}");
        }
    }
}
