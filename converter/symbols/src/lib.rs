//! Names and source positions of code addresses, from the debugging information and the symbol
//! tables of programs and libraries.
//!
//! Recorders write the address of a function as a text, because the search for its name would cost
//! the traced program time. [`CodeAddress`] is such a text, and [`Symbolizer`] searches the name.

#![forbid(unsafe_code)]

mod code_address;
mod module_file;
mod symbolizer;

pub use code_address::{CodeAddress, CodeKind};
pub use symbolizer::{CodePosition, CodeSymbol, Symbolizer};
