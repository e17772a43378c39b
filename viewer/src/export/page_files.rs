//! Files that both exported pages and the served page use.
//!
//! ```
//! use tumit_viewer::export::page_files;
//!
//! let licence = page_files::ALL.iter().find(|(path, _)| *path == "font/LICENSE.txt");
//! assert!(licence.is_some_and(|(_, bytes)| !bytes.is_empty()));
//! ```

/// Times as text and the ticks of time axes: a JavaScript module.
pub(crate) const AXIS: &str = include_str!("axis.js");
/// The regular typeface.
pub(crate) const REGULAR: &[u8] = include_bytes!("../../assets/font/Inter-Regular.woff2");
/// The semi-bold typeface.
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../assets/font/Inter-SemiBold.woff2");
/// The licence of the typefaces.
const FONT_LICENSE: &str = include_str!("../../assets/font/LICENSE.txt");

/// All files, by their path on the page.
pub const ALL: [(&str, &[u8]); 4] = [
    ("util/axis.js", AXIS.as_bytes()),
    ("font/Inter-Regular.woff2", REGULAR),
    ("font/Inter-SemiBold.woff2", SEMI_BOLD),
    ("font/LICENSE.txt", FONT_LICENSE.as_bytes()),
];
