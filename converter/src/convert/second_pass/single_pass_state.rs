//! [`SinglePassState`]: the state that only a single pass has.

/// Maximum number of open links. A first pass handles more of them better, because it can use a
/// file.
pub(super) const MAX_OPEN_LINKS: u64 = 1 << 20;

/// The requirements and the state of a single pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SinglePassState {
    /// Whether each link must end after it starts.
    pub(super) is_forward: bool,
    /// Number of links with one endpoint.
    pub(super) in_flight: u64,
    /// Whether two passes are needed.
    pub(super) is_void: bool,
}

impl SinglePassState {
    pub(crate) const fn new(is_forward: bool) -> Self {
        Self { is_forward, in_flight: 0, is_void: false }
    }
}
