//! The widths of formatted text, in columns.

/// Maximum number of columns of a line. Only texts, comments and other unbreakable pieces exceed
/// it.
pub const MAX_WIDTH: usize = 100;

/// Columns of one level.
pub(super) const INDENT: usize = 4;
