//! Names and source positions of code addresses, from the debugging information and the symbol
//! tables of programs and libraries.
//!
//! Recorders write the address of a function as a text, because the search for its name would cost
//! the traced program time. [`CodeAddress`] is such a text, and [`Symbolizer`] searches the name.
//! [`SymbolList`] keeps the names with the run.

#![forbid(unsafe_code)]

mod code_address;
mod module_file;
mod symbol_list;
mod symbolizer;

pub use code_address::{CodeAddress, CodeKind};
pub use symbol_list::{SYMBOL_FILE, SymbolList};
pub use symbolizer::{CodePosition, CodeSymbol, Symbolizer};
