//! Replaces code addresses among the names of processes.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use tracer_format::record_values::RecordedSite;
use tumit_symbols::{CodeAddress, CodeSymbol, SYMBOL_FILE, SymbolList, Symbolizer};

use super::process::ProcessInRun;

/// The symbols of earlier openings. A page that follows a run opens it each second.
static SYMBOLS: Mutex<Option<HashMap<Box<str>, CodeSymbol>>> = Mutex::new(None);

/// Replaces the texts of code addresses by the names of functions, and by source positions. They
/// are in the symbol file of the run folder. Otherwise, the programs are searched at their paths on
/// the host of the recording. A source position that is not found becomes unknown.
pub(super) fn resolve(processes: &mut [ProcessInRun], folder: &Path) {
    let list = LazyCell::new(|| read_list(folder));
    let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let symbols = symbols.get_or_insert_default();
    let mut symbolizer = Symbolizer::default();
    let mut symbol_of = |text: &str| {
        let address = CodeAddress::parse(text)?;
        if let Some(symbol) = list.get(text) {
            // A part of the run that is written later has the same symbols.
            symbols.insert(text.into(), symbol.clone());
        }
        if !symbols.contains_key(text) {
            symbols.insert(text.into(), symbolizer.symbol(&address));
        }
        symbols.get(text).cloned()
    };
    for process in processes {
        for text in process.strings.iter_mut().flatten() {
            if let Some(symbol) = symbol_of(text) {
                *text = symbol.name.into();
            }
        }
        for site in &mut process.sites {
            if let Some(symbol) = site.as_ref().and_then(|site| symbol_of(&site.file)) {
                let position = symbol.position;
                *site = position.map(|position| RecordedSite { file: position.file.into(), line: position.line });
            }
        }
    }
}

fn read_list(folder: &Path) -> SymbolList {
    fs::read_to_string(folder.join(SYMBOL_FILE)).map_or_else(|_| SymbolList::default(), |text| SymbolList::parse(&text))
}

/// Writes the names and source positions of all code addresses that this process has found, into
/// the symbol file of a run folder. Then the run shows them also on other hosts. Without code
/// addresses, there is no file.
///
/// # Errors
/// If the file cannot be written. The text names it.
pub fn keep_symbols(folder: &Path) -> io::Result<()> {
    let mut list = read_list(folder);
    let symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    symbols.iter().flatten().for_each(|(address, symbol)| list.insert(address, symbol));
    if list.is_empty() {
        return Ok(());
    }
    let path = folder.join(SYMBOL_FILE);
    fs::write(&path, list.text()).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
