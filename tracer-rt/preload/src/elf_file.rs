//! [`ElfFile`]: the facts about a program file that decide whether a library can be preloaded.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, ET_EXEC, FileHeader32, FileHeader64, SHT_DYNSYM, SHT_SYMTAB};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::{Endianness, FileKind, ReadCache, ReadRef};

use crate::recorders::ENTER_HOOK;

/// A procedure that every MPI library exports. Only a file that contains an MPI library defines it:
/// tools that wrap MPI define `MPI_Init` instead.
const MPI_SYMBOL: &[u8] = b"PMPI_Init";
/// Symbols of larger files are not read.
const MAX_BYTES_WITH_SYMBOLS: u64 = 1 << 30;

/// A program or a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfFile {
    /// The size of addresses: 32 or 64.
    pub bits: u8,
    /// The number of the processor type (`e_machine`).
    pub machine: u16,
    /// How the file is linked.
    pub linking: Linking,
    /// The names of the libraries that the file needs.
    pub needed: Vec<String>,
    /// Folders of libraries that come before `LD_LIBRARY_PATH`. Empty if there is a run path.
    pub rpath: Vec<String>,
    /// Folders of libraries that come after `LD_LIBRARY_PATH`.
    pub runpath: Vec<String>,
}

/// How a program is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linking {
    /// The dynamic loader at this path starts the program.
    Dynamic {
        /// The path of the loader.
        loader: String,
    },
    /// Without a loader, at a fixed address.
    Static,
    /// Without a loader, at any address. Libraries look the same.
    StaticPie,
}

impl ElfFile {
    /// Reads a file. `None` if it is no ELF file.
    ///
    /// # Errors
    /// If the system cannot read the file. A damaged file is no ELF file.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let cache = ReadCache::new(File::open(path)?);
        Ok(Self::parse(&cache))
    }

    /// Parses the bytes of a file. `None` if they are no ELF file.
    pub fn parse<'data>(data: impl ReadRef<'data>) -> Option<Self> {
        match FileKind::parse(data).ok()? {
            FileKind::Elf32 => parse_as::<FileHeader32<Endianness>, _>(data, 32),
            FileKind::Elf64 => parse_as::<FileHeader64<Endianness>, _>(data, 64),
            _ => None,
        }
    }

    /// The name of the processor type.
    #[must_use]
    pub fn machine_name(&self) -> String {
        match self.machine {
            3 => "x86 (32 bits)".to_owned(),
            20 | 21 => "PowerPC".to_owned(),
            22 => "s390".to_owned(),
            40 => "ARM (32 bits)".to_owned(),
            62 if self.bits == 32 => "x86-64 with 32-bit addresses".to_owned(),
            62 => "x86-64".to_owned(),
            183 => "ARM (64 bits)".to_owned(),
            243 => "RISC-V".to_owned(),
            258 => "LoongArch".to_owned(),
            other => format!("processor type {other}"),
        }
    }
}

fn parse_as<'data, Header, Data>(data: Data, bits: u8) -> Option<ElfFile>
where
    Header: FileHeader<Endian = Endianness>,
    Data: ReadRef<'data>,
{
    let header = Header::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let mut loader = None;
    for segment in header.program_headers(endian, data).ok()? {
        if let Ok(Some(path)) = segment.interpreter(endian, data) {
            loader = Some(String::from_utf8_lossy(path).into_owned());
        }
    }
    let linking = match loader {
        Some(loader) => Linking::Dynamic { loader },
        None if header.e_type(endian) == ET_EXEC => Linking::Static,
        None => Linking::StaticPie,
    };
    let mut file = ElfFile {
        bits,
        machine: header.e_machine(endian).0,
        linking,
        needed: Vec::new(),
        rpath: Vec::new(),
        runpath: Vec::new(),
    };
    // A file without sections runs, but has no tables to read.
    let sections = header.sections(endian, data).unwrap_or_default();
    if let Ok(table) = sections.dynamic_table(endian, data) {
        for entry in &table {
            let text = || table.string(entry).map(|text| String::from_utf8_lossy(text).into_owned());
            match entry.tag {
                DT_NEEDED => file.needed.extend(text()),
                DT_RPATH => file.rpath.extend(text().iter().flat_map(|text| folders(text))),
                DT_RUNPATH => file.runpath.extend(text().iter().flat_map(|text| folders(text))),
                _ => {}
            }
        }
    }
    if !file.runpath.is_empty() {
        file.rpath.clear();
    }
    Some(file)
}

fn folders(list: &str) -> Vec<String> {
    list.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect()
}

/// Whether a file contains an MPI library, by its symbols. A file without symbols, or a very large
/// one, counts as one without MPI.
#[must_use]
pub fn contains_mpi(path: &Path) -> bool {
    let is_small = fs::metadata(path).is_ok_and(|file| file.len() <= MAX_BYTES_WITH_SYMBOLS);
    is_small && fs::read(path).is_ok_and(|bytes| defines_mpi(&bytes))
}

fn defines_mpi(bytes: &[u8]) -> bool {
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf32) => defines_mpi_as::<FileHeader32<Endianness>>(bytes).unwrap_or(false),
        Ok(FileKind::Elf64) => defines_mpi_as::<FileHeader64<Endianness>>(bytes).unwrap_or(false),
        _ => false,
    }
}

fn defines_mpi_as<Header: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> object::read::Result<bool> {
    let header = Header::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let tables = [SHT_SYMTAB, SHT_DYNSYM].map(|kind| sections.symbols(endian, bytes, kind).unwrap_or_default());
    Ok(tables.iter().any(|table| {
        table.iter().any(|symbol| table.symbol_name(endian, symbol) == Ok(MPI_SYMBOL) && !symbol.is_undefined(endian))
    }))
}

/// The functions that create a thread, in C and C++.
const THREAD_CREATION: [&[u8]; 2] =
    [b"pthread_create", b"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"];

/// Whether a program itself creates threads: it uses a function for this of a library.
#[must_use]
pub fn creates_threads(path: &Path) -> bool {
    uses_one_of(path, &THREAD_CREATION)
}

/// The section that lists the places that the recorder of functions changes. `-fxray-instrument`
/// makes it.
const SLED_SECTION: &[u8] = b"xray_instr_map";

/// Whether a program file was compiled with `-finstrument-functions`, or with `-fxray-instrument`
/// for a processor type for which the recorder supports this option.
#[must_use]
pub fn has_instrumented_functions(path: &Path) -> bool {
    let Some(bytes) = small_file(path) else { return false };
    imports_one_of(&bytes, &[ENTER_HOOK.as_bytes()]).unwrap_or(false)
        || cfg!(target_arch = "x86_64") && has_section(&bytes, SLED_SECTION).unwrap_or(false)
}

/// Whether a program uses one of these functions of a library. A very large file counts as one that
/// does not.
fn uses_one_of(path: &Path, functions: &[&[u8]]) -> bool {
    small_file(path).is_some_and(|bytes| imports_one_of(&bytes, functions).unwrap_or(false))
}

/// The bytes of a file that is not very large.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES_WITH_SYMBOLS);
    fs::read(path).ok().filter(|_| is_small)
}

fn has_section(bytes: &[u8], name: &[u8]) -> object::read::Result<bool> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    Ok(header.sections(endian, bytes)?.section_by_name(endian, name).is_some())
}

fn imports_one_of(bytes: &[u8], functions: &[&[u8]]) -> object::read::Result<bool> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let table = header.sections(endian, bytes)?.symbols(endian, bytes, SHT_DYNSYM)?;
    let is_function = |name: &[u8]| functions.contains(&name);
    Ok(table
        .iter()
        .any(|symbol| symbol.is_undefined(endian) && table.symbol_name(endian, symbol).is_ok_and(is_function)))
}

#[cfg(test)]
mod tests {
    use super::{ElfFile, Linking, contains_mpi, creates_threads, defines_mpi, has_instrumented_functions};

    #[test]
    fn the_library_needs_only_libraries_of_the_compiler() {
        let library = ElfFile::parse(crate::recorder_library::LIBRARY).expect("an ELF file");
        assert_eq!(library.linking, Linking::StaticPie, "a library has no loader");
        let is_of_compiler =
            |name: &String| ["libc.so", "ld-linux", "libgcc_s.so"].iter().any(|prefix| name.starts_with(prefix));
        assert!(library.needed.iter().all(is_of_compiler), "{library:?}");
        assert!(defines_mpi(crate::recorder_library::LIBRARY));
    }

    #[test]
    fn this_program_is_dynamic() {
        let path = std::env::current_exe().unwrap();
        let program = ElfFile::read(&path).unwrap().expect("an ELF file");
        assert!(matches!(program.linking, Linking::Dynamic { .. }), "{program:?}");
        assert!(program.needed.iter().any(|name| name.starts_with("libc.so")), "{program:?}");
        assert!(!contains_mpi(&path) && !has_instrumented_functions(&path));
        assert!(creates_threads(&path), "the test driver runs tests in threads");
        assert_eq!(program.machine, ElfFile::parse(crate::recorder_library::LIBRARY).unwrap().machine);
    }

    #[test]
    fn damaged_files_are_no_elf_files() {
        assert_eq!(ElfFile::parse(&b"#!/bin/sh\n"[..]), None);
        for length in (0..600).chain([1000, 4000, 20_000]) {
            // Any prefix is read without a panic.
            let _ = ElfFile::parse(&crate::recorder_library::LIBRARY[..length]);
            let _ = defines_mpi(&crate::recorder_library::LIBRARY[..length]);
        }
    }
}
