//! [`QueryError`]: the reason why a query has no answer.

/// The reason why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The id does not exist in this source.
    #[error("no such {kind} exists")]
    Unknown {
        /// The kind of the requested entity.
        kind: &'static str,
    },
    /// The time range is empty or reversed, or there are no columns.
    #[error("the time range is empty")]
    EmptyTimeRange,
    /// The client has disconnected.
    #[error("the client has disconnected")]
    Cancelled,
    /// The index of the trace is damaged, and cannot be rebuilt.
    #[error(
        "the index of this trace is damaged and could not be rebuilt; check whether the trace \
         still exists and the disk works"
    )]
    Damaged,
    /// The result of a filter does not fit in memory, and its file failed.
    #[error(
        "the result of a filter is too large for memory and could not be written to a temporary \
         file; free space on that disk, or set TMPDIR to another folder"
    )]
    PutAside,
}
