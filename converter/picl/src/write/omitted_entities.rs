//! [`OmittedEntities`]: the entities that a written trace lacks.

/// Numbers of entities that PICL cannot represent. They are left out of a written trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OmittedEntities {
    /// Values of variables.
    pub variable_values: u64,
    /// Events for which the format has no record.
    pub events: u64,
    /// States of calls for which the format has no record.
    pub calls: u64,
    /// Names of tasks and marks, and lists of the nodes of a subset.
    pub names: u64,
    /// Ends of links without a start.
    pub link_ends: u64,
}

impl OmittedEntities {
    /// The number of all entities that are left out.
    pub fn total(&self) -> u64 {
        self.by_kind().iter().map(|(count, ..)| count).sum()
    }

    /// The numbers that are not 0 with the names of their kinds, such as `3 values of variables`.
    pub fn texts(&self) -> Vec<String> {
        let text = |(count, one, many): &(u64, &str, &str)| format!("{count} {}", if *count == 1 { one } else { many });
        self.by_kind().iter().filter(|(count, ..)| *count > 0).map(text).collect()
    }

    fn by_kind(&self) -> [(u64, &'static str, &'static str); 5] {
        [
            (self.variable_values, "value of a variable", "values of variables"),
            (self.events, "event without a record", "events without a record"),
            (self.calls, "call without a record", "calls without a record"),
            (self.names, "name of a task, mark or subset", "names of tasks, marks or subsets"),
            (self.link_ends, "link end without a start", "link ends without a start"),
        ]
    }
}
