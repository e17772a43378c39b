//! [`SeriesExpr`]: variables of the utilization, the messages and the tasks of an execution.

/// Adds variables that views of an execution compute, such as the number of busy units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesExpr {
    /// The new variables. Never empty.
    pub series: Vec<ExecutionSeries>,
    /// Whether each unit has variables of its own. Otherwise the root has those of all units
    /// together.
    pub per_unit: bool,
    /// Options of the execution with their values: `level`, `states`, `tasks`, `several` and
    /// `stateless`.
    pub options: Vec<(&'static str, String)>,
    /// The name of the new type, if there is one series.
    pub name: Option<String>,
}

/// A quantity of an execution at any time, or its largest value since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExecutionSeries {
    /// The quantity.
    pub quantity: SeriesQuantity,
    /// Whether the value is the largest one since the start.
    pub is_maximum: bool,
}

/// A quantity that changes over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeriesQuantity {
    /// Units that compute.
    Busy,
    /// Units that communicate, synchronise or schedule.
    Overhead,
    /// Units that wait.
    Idle,
    /// Messages from their send to their receive. Of a unit: those that it sends or receives.
    PendingMessages,
    /// Bytes of pending messages.
    PendingBytes,
    /// Messages that wait to be received by the unit.
    IncomingMessages,
    /// Bytes of incoming messages.
    IncomingBytes,
    /// Messages that the unit has sent and that are not yet received.
    OutgoingMessages,
    /// Bytes of outgoing messages.
    OutgoingBytes,
    /// Different tasks that units execute. Of a unit: 1 while it executes a task.
    ActiveTasks,
}

/// The names of the options.
pub(crate) const SERIES_OPTIONS: [&str; 5] = ["level", "states", "tasks", "several", "stateless"];

/// The words of the series, and the names of the variables of all units together.
const WORDS: [(&str, &str, ExecutionSeries); 20] = {
    use SeriesQuantity as Q;

    const fn now(quantity: Q) -> ExecutionSeries {
        ExecutionSeries { quantity, is_maximum: false }
    }

    const fn max(quantity: Q) -> ExecutionSeries {
        ExecutionSeries { quantity, is_maximum: true }
    }

    [
        ("busy", "Busy units", now(Q::Busy)),
        ("overhead", "Overhead units", now(Q::Overhead)),
        ("idle", "Idle units", now(Q::Idle)),
        ("pending-messages", "Pending messages", now(Q::PendingMessages)),
        ("pending-bytes", "Pending bytes", now(Q::PendingBytes)),
        ("incoming-messages", "Incoming messages", now(Q::IncomingMessages)),
        ("incoming-bytes", "Incoming bytes", now(Q::IncomingBytes)),
        ("outgoing-messages", "Outgoing messages", now(Q::OutgoingMessages)),
        ("outgoing-bytes", "Outgoing bytes", now(Q::OutgoingBytes)),
        ("active-tasks", "Active tasks", now(Q::ActiveTasks)),
        ("max-busy", "Maximum of busy units", max(Q::Busy)),
        ("max-overhead", "Maximum of overhead units", max(Q::Overhead)),
        ("max-idle", "Maximum of idle units", max(Q::Idle)),
        ("max-pending-messages", "Maximum of pending messages", max(Q::PendingMessages)),
        ("max-pending-bytes", "Maximum of pending bytes", max(Q::PendingBytes)),
        ("max-incoming-messages", "Maximum of incoming messages", max(Q::IncomingMessages)),
        ("max-incoming-bytes", "Maximum of incoming bytes", max(Q::IncomingBytes)),
        ("max-outgoing-messages", "Maximum of outgoing messages", max(Q::OutgoingMessages)),
        ("max-outgoing-bytes", "Maximum of outgoing bytes", max(Q::OutgoingBytes)),
        ("max-active-tasks", "Maximum of active tasks", max(Q::ActiveTasks)),
    ]
};

impl ExecutionSeries {
    /// All series.
    pub const ALL: [Self; WORDS.len()] = {
        let mut series_list = [WORDS[0].2; WORDS.len()];
        let mut index = 0;
        while index < WORDS.len() {
            series_list[index] = WORDS[index].2;
            index += 1;
        }
        series_list
    };

    /// The words of all series.
    pub(crate) fn words() -> [&'static str; WORDS.len()] {
        WORDS.map(|(word, ..)| word)
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        WORDS.iter().find(|(keyword, ..)| *keyword == word).map(|(.., series)| *series)
    }

    fn texts(self) -> (&'static str, &'static str) {
        WORDS.iter().find(|(.., series)| *series == self).map_or(("", ""), |(word, name, _)| (word, name))
    }

    /// The word in an expression.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.texts().0
    }

    /// The name of the variable.
    pub(crate) fn name(self, per_unit: bool) -> String {
        let name = self.texts().1;
        // A unit is one unit.
        let counts_units = name.strip_suffix(" units");
        counts_units.filter(|_| per_unit).unwrap_or(name).to_owned()
    }
}
