//! The drawing of the panels of a chart, one module per kind of panel.

pub(super) mod bar_panel;
pub(super) mod grid_panel;
pub(super) mod kiviat_panel;
pub(super) mod level_panel;
pub(super) mod mark_panel;
pub(super) mod matrix_panel;
pub(super) mod network_panel;
pub(super) mod portrait_panel;
pub(super) mod scatter_panel;
pub(super) mod table_panel;
