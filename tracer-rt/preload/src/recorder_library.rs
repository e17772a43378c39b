//! The library that contains all recorders, and copies of it with some of them.

use std::collections::HashSet;

use object::elf::{FileHeader64, STB_WEAK};
use object::read::elf::{FileHeader as _, Sym as _};
use object::{Endianness, SymbolIndex};

use crate::recorders::{Recorder, RecorderSet, serves_all_recorders};

/// The shared library. It serves all families of MPI libraries, needs only the C library, and
/// writes nothing in processes that use none of its recorders.
pub const LIBRARY: &[u8] = include_bytes!(env!("TUMIT_PRELOAD_LIBRARY"));

/// The name of the file that contains [`LIBRARY`].
pub const LIBRARY_NAME: &str = "libtumit_preload.so";

/// The names of the MPI procedures that a shared library defines, such as `MPI_Send`. `None` if the
/// bytes are no ELF library for a 64-bit machine.
///
/// ```
/// let own = tumit_preload::recorder_library::procedures_of(tumit_preload::recorder_library::LIBRARY).expect("a library");
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

/// A copy of [`LIBRARY`] with some recorders. It exports the symbols of these recorders only, and
/// of the MPI procedures only these, or all. Programs that test whether a procedure exists then
/// find the same ones as without the library.
#[must_use]
pub fn library_with(recorders: &RecorderSet, procedures: Option<&HashSet<String>>) -> Vec<u8> {
    let is_exported = |symbol: &str| match Recorder::of_symbol(symbol) {
        Some(Recorder::Mpi) => {
            let procedure = symbol.strip_prefix('P').unwrap_or(symbol);
            recorders.contains(&Recorder::Mpi) && procedures.is_none_or(|known| known.contains(procedure))
        }
        Some(recorder) => recorders.contains(&recorder),
        None => !serves_all_recorders(symbol) || !recorders.is_empty(),
    };
    let mut bytes = LIBRARY.to_vec();
    for offset in symbols_without_export(&is_exported).unwrap_or_default() {
        undefine(&mut bytes[offset..]);
    }
    bytes
}

/// The offsets in [`LIBRARY`] of the dynamic symbols that a copy does not export.
fn symbols_without_export(is_exported: &dyn Fn(&str) -> bool) -> Option<Vec<usize>> {
    let header = FileHeader64::<Endianness>::parse(LIBRARY).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, LIBRARY).ok()?;
    let symbols = sections.symbols(endian, LIBRARY, object::elf::SHT_DYNSYM).ok()?;
    let table = sections.section(symbols.section()).ok()?.sh_offset.get(endian) as usize;
    let mut offsets = Vec::new();
    for (number, symbol) in symbols.iter().enumerate() {
        let name = symbol.name(endian, symbols.strings()).ok().and_then(|name| str::from_utf8(name).ok()).unwrap_or("");
        if !symbol.is_undefined(endian) && !is_exported(name) {
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

    fn defined_symbols(library: &[u8]) -> Vec<String> {
        let header = FileHeader64::<Endianness>::parse(library).expect("an ELF file");
        let endian = header.endian().expect("an ELF file");
        let sections = header.sections(endian, library).expect("an ELF file");
        let symbols = sections.symbols(endian, library, object::elf::SHT_DYNSYM).expect("a library");
        let defined = symbols.iter().filter(|symbol| !symbol.is_undefined(endian));
        defined
            .map(|symbol| String::from_utf8_lossy(symbol.name(endian, symbols.strings()).expect("a name")).into_owned())
            .collect()
    }

    fn exports_tool(library: &[u8]) -> bool {
        defined_symbols(library).iter().any(|symbol| symbol == "ompt_start_tool")
    }

    #[test]
    fn other_procedures_are_not_exported() {
        let procedures = HashSet::from(["MPI_Send".to_owned(), "MPI_Recv".to_owned()]);
        let library = library_with(&RecorderSet::from(Recorder::ALL), Some(&procedures));
        assert_eq!(procedures_of(&library), Some(procedures));
    }

    #[test]
    fn other_recorders_are_not_exported() {
        let mpi = library_with(&RecorderSet::from([Recorder::Mpi]), None);
        assert_eq!(procedures_of(&mpi), procedures_of(LIBRARY));
        assert!(!exports_tool(&mpi));
        let openmp = library_with(&RecorderSet::from([Recorder::OpenMp]), None);
        assert_eq!(procedures_of(&openmp), Some(HashSet::new()));
        assert!(exports_tool(&openmp));
        assert!(defined_symbols(&openmp).iter().any(|symbol| symbol == "execve"));
        // All other symbols are those of the functions that write records.
        let none = defined_symbols(&library_with(&RecorderSet::new(), None));
        let others: Vec<&String> = none.iter().filter(|symbol| !symbol.starts_with("tumit1_")).collect();
        assert_eq!(others, Vec::<&String>::new());
    }

    #[test]
    fn all_procedures_are_exported_under_both_names() {
        let procedures = procedures_of(LIBRARY).expect("the library is ELF");
        assert_eq!(library_with(&RecorderSet::from(Recorder::ALL), Some(&procedures)), LIBRARY);
        assert!(procedures.contains("MPI_Pcontrol") && procedures.len() > 500);
        assert_eq!(procedures_of(b"#!/bin/sh"), None);
    }
}
