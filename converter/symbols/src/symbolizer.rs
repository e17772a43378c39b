//! [`Symbolizer`]: searches names and source positions of code addresses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use addr2line::{FunctionName, Loader, demangle_auto, gimli};

use crate::code_address::{CodeAddress, CodeKind};
use crate::module_file::file_with_symbols;

/// The begin and the end of the demangled name of the function of libstdc++ that runs a thread of
/// `std::thread`. Between them is the type of the function of the program.
const THREAD_START: &str = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
const THREAD_END: &str = "> > >::_M_run()";

/// A position in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePosition {
    /// The path of the file, as the compiler recorded it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The name and the source position of a code address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSymbol {
    /// The name of the function. For a call, it is followed by the source line (`step (heat.c:12)`)
    /// or by the offset in bytes (`step+0x4f`). Without a symbol: file name and address
    /// (`heat+0x11c9`).
    pub name: String,
    /// The source position. `None` without debugging information.
    pub position: Option<CodePosition>,
}

/// Searches names and source positions of code addresses.
///
/// It keeps the tables of the files that it has read. A first address of a file costs time
/// proportional to its tables, and maps the file into memory. A further one costs a search in the
/// tables.
#[derive(Default)]
pub struct Symbolizer {
    /// By path and build id. `None` for a file that is missing, or is another one than in the
    /// recording.
    modules: HashMap<(String, Option<String>), Option<Loader>>,
}

impl fmt::Debug for Symbolizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbolizer").field("modules", &self.modules.keys()).finish_non_exhaustive()
    }
}

impl Symbolizer {
    /// Searches an address.
    ///
    /// ```
    /// use tumit_symbols::{CodeAddress, Symbolizer};
    ///
    /// let address = CodeAddress::parse("\u{1}function 4f - /absent/heat").expect("a code address");
    /// assert_eq!(Symbolizer::default().symbol(&address).name, "heat+0x4f");
    /// ```
    pub fn symbol(&mut self, address: &CodeAddress<'_>) -> CodeSymbol {
        let key = (address.path.to_owned(), address.build_id.map(str::to_owned));
        let load = || Loader::new(file_with_symbols(Path::new(address.path), address.build_id)?).ok();
        let loader = self.modules.entry(key).or_insert_with(load);
        let entry = loader.as_ref().map(|loader| table_entry(loader, address)).unwrap_or_default();
        CodeSymbol { name: name_of(&entry, address), position: entry.position }
    }
}

/// The entries of an address in the tables of its file.
#[derive(Clone, Debug, Default)]
struct TableEntry {
    name: Option<String>,
    position: Option<CodePosition>,
    /// The address of the function, if it was found in a symbol table only.
    start: Option<u64>,
}

fn name_of(entry: &TableEntry, address: &CodeAddress<'_>) -> String {
    let Some(name) = &entry.name else { return address.fallback_text() };
    match (address.kind, &entry.position, entry.start) {
        (CodeKind::Call | CodeKind::Inlined, Some(position), _) => {
            let file = position.file.rsplit('/').next().unwrap_or(&position.file);
            format!("{name} ({file}:{})", position.line)
        }
        (CodeKind::Call | CodeKind::Inlined, None, Some(start)) => {
            format!("{name}+{:#x}", address.offset.saturating_sub(start))
        }
        _ => name.clone(),
    }
}

/// Searches an address in the tables of its file. Damaged tables give no result.
fn table_entry(loader: &Loader, address: &CodeAddress<'_>) -> TableEntry {
    let instruction = address.instruction();
    let mut entry = TableEntry::default();
    if let Ok(mut frames) = loader.find_frames(instruction) {
        // The frames are inlined functions, the innermost first, and then the function itself.
        let last = match address.kind {
            CodeKind::Function => usize::MAX,
            CodeKind::Call => 0,
            CodeKind::Inlined => 1,
        };
        let mut number = 0;
        while let Ok(Some(frame)) = frames.next() {
            entry.name = frame.function.as_ref().and_then(function_name).or(entry.name);
            entry.position = frame.location.as_ref().and_then(source_position).or(entry.position);
            if number == last {
                break;
            }
            number += 1;
        }
    }
    if let Some(symbol) = loader.find_symbol_info(instruction).filter(|_| entry.name.is_none()) {
        entry.name = Some(display_name(symbol.name(), None));
        entry.start = Some(symbol.address());
    }
    if entry.position.is_none() {
        entry.position = loader.find_location(instruction).ok().flatten().as_ref().and_then(source_position);
    }
    entry
}

fn source_position(location: &addr2line::Location<'_>) -> Option<CodePosition> {
    let line = location.line.filter(|line| *line > 0)?;
    Some(CodePosition { file: location.file?.to_owned(), line })
}

fn function_name<Reader: gimli::Reader>(name: &FunctionName<Reader>) -> Option<String> {
    Some(display_name(&name.raw_name().ok()?, name.language))
}

/// The name of a function in its language.
fn display_name(name: &str, language: Option<gimli::DwLang>) -> String {
    let is_fortran = matches!(
        language,
        Some(
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
        )
    );
    let demangled = demangle_auto(Cow::Borrowed(name), language);
    // A thread of `std::thread`. Its function is a template argument.
    if let Some(function) = demangled.strip_prefix(THREAD_START).and_then(|rest| rest.strip_suffix(THREAD_END)) {
        return function.trim_end().to_owned();
    }
    // The form of gfortran for procedures of modules.
    if let Some((module, procedure)) = name.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_")) {
        return format!("{module}::{procedure}");
    }
    match name.strip_suffix('_') {
        Some(procedure) if is_fortran && name != "MAIN__" => procedure.to_owned(),
        _ => demangled.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{display_name, gimli};

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, language, name) in [
            ("solve", None, "solve"),
            ("solve_", None, "solve_"),
            ("solve_", Some(gimli::DW_LANG_Fortran08), "solve"),
            ("MAIN__", Some(gimli::DW_LANG_Fortran08), "MAIN__"),
            ("__heat_MOD_step", None, "heat::step"),
            ("_ZN4heat4stepEi", None, "heat::step(int)"),
            ("_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFviEiEEEEE6_M_runEv", None, "void (*)(int), int"),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", None, "core::fmt::Write::write_fmt"),
        ] {
            assert_eq!(display_name(symbol, language), name);
        }
    }
}
