//! The library that records calls of MPI.

use std::collections::HashSet;

use object::elf::{FileHeader64, STB_WEAK};
use object::read::elf::{FileHeader as _, Sym as _};
use object::{Endianness, SymbolIndex};

/// The shared library. It serves all families of MPI libraries, needs only the C library, and writes
/// nothing in processes that do not call MPI.
pub const LIBRARY: &[u8] = include_bytes!(env!("TUMIT_PRELOAD_LIBRARY"));

/// The name of the file that contains [`LIBRARY`].
pub const LIBRARY_NAME: &str = "libtumit_preload.so";

/// The names of the MPI procedures that a shared library defines, such as `MPI_Send`. `None` if the
/// bytes are no ELF library for a 64-bit machine.
///
/// ```
/// let own = tumit_preload::mpi::procedures_of(tumit_preload::mpi::LIBRARY).expect("a library");
/// assert!(own.contains("MPI_Send") && own.contains("MPI_Send_c"));
/// ```
#[must_use]
pub fn procedures_of(library: &[u8]) -> Option<HashSet<String>> {
    let header = FileHeader64::<Endianness>::parse(library).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, library).ok()?;
    let symbols = sections.symbols(endian, library, object::elf::SHT_DYNSYM).ok()?;
    let mut procedures = HashSet::new();
    for symbol in symbols.iter() {
        let name = symbol.name(endian, symbols.strings()).ok().and_then(|name| str::from_utf8(name).ok());
        if let Some(name) = name.filter(|name| name.starts_with("MPI_") && !symbol.is_undefined(endian)) {
            procedures.insert(name.to_owned());
        }
    }
    Some(procedures)
}

/// A copy of [`LIBRARY`] that exports only these procedures. Programs that test whether a procedure
/// exists then find the same ones as without the library.
#[must_use]
pub fn library_with(procedures: &HashSet<String>) -> Vec<u8> {
    let mut bytes = LIBRARY.to_vec();
    for offset in symbols_without(procedures).unwrap_or_default() {
        undefine(&mut bytes[offset..]);
    }
    bytes
}

/// The offsets in [`LIBRARY`] of the dynamic symbols of all other procedures.
fn symbols_without(procedures: &HashSet<String>) -> Option<Vec<usize>> {
    let header = FileHeader64::<Endianness>::parse(LIBRARY).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, LIBRARY).ok()?;
    let symbols = sections.symbols(endian, LIBRARY, object::elf::SHT_DYNSYM).ok()?;
    let table = sections.section(symbols.section()).ok()?.sh_offset.get(endian) as usize;
    let mut offsets = Vec::new();
    for (number, symbol) in symbols.iter().enumerate() {
        let name = symbol.name(endian, symbols.strings()).ok().and_then(|name| str::from_utf8(name).ok()).unwrap_or("");
        let procedure = name.strip_prefix('P').unwrap_or(name);
        if procedure.starts_with("MPI_") && !procedures.contains(procedure) {
            offsets.push(table + SymbolIndex(number).0 * SYMBOL_BYTES);
        }
    }
    Some(offsets)
}

/// Bytes of an entry of the symbol table: name (4), type and binding (1), visibility (1), section
/// (2), value (8), size (8).
const SYMBOL_BYTES: usize = 24;

/// Makes an entry of the symbol table a weak, undefined symbol, which the dynamic linker ignores.
fn undefine(symbol: &mut [u8]) {
    symbol[4] = STB_WEAK.0 << 4;
    symbol[6..SYMBOL_BYTES].fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_procedures_are_not_exported() {
        let procedures = HashSet::from(["MPI_Send".to_owned(), "MPI_Recv".to_owned()]);
        assert_eq!(procedures_of(&library_with(&procedures)), Some(procedures));
    }

    #[test]
    fn all_procedures_are_exported_under_both_names() {
        let procedures = procedures_of(LIBRARY).expect("the library is ELF");
        assert_eq!(library_with(&procedures), LIBRARY);
        assert!(procedures.contains("MPI_Pcontrol") && procedures.len() > 500);
        assert_eq!(procedures_of(b"#!/bin/sh"), None);
    }
}
