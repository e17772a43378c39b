//! Replaces code addresses among the names of processes.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use tracer_format::record_values::RecordedSite;
use tumit_symbols::{CodeAddress, CodeSymbol, SYMBOL_FILE, SymbolList, Symbolizer};

use super::process::ProcessInRun;

/// The symbols of earlier openings. A page that follows a run opens it each second. Only addresses
/// with a build id are here: without one, the file may have changed since.
static SYMBOLS: Mutex<Option<HashMap<Box<str>, CodeSymbol>>> = Mutex::new(None);

/// Replaces the texts of code addresses by the names of functions, and by source positions. The
/// symbol file of the run folder has precedence. For other addresses, it reads the programs and
/// libraries at the paths of the recording. A source position that is not found becomes unlookups.
/// Returns the symbols of the run.
pub(super) fn resolve(processes: &mut [ProcessInRun], folder: &Path) -> SymbolList {
    let mut symbols_of_run = SymbolList::default();
    let mut lookups: HashMap<Box<str>, CodeSymbol> = HashMap::new();
    let list = LazyCell::new(|| read_list(folder));
    let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let symbols = symbols.get_or_insert_default();
    let mut symbolizer = Symbolizer::default();
    let mut symbol_of = |text: &str| {
        let address = CodeAddress::parse(text)?;
        if let Some(symbol) = lookups.get(text) {
            return Some(symbol.clone());
        }
        let mut search = || symbolizer.symbol(&address);
        let symbol = match list.get(text) {
            Some(symbol) => symbol.clone(),
            None if address.build_id.is_some() => symbols.entry(text.into()).or_insert_with(search).clone(),
            None => search(),
        };
        symbols_of_run.insert(text, &symbol);
        lookups.insert(text.into(), symbol.clone());
        Some(symbol)
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
    symbols_of_run
}

fn read_list(folder: &Path) -> SymbolList {
    fs::read_to_string(folder.join(SYMBOL_FILE)).map_or_else(|_| SymbolList::default(), |text| SymbolList::parse(&text))
}

/// Writes the symbols of some runs ([`OpenRun::symbols`](super::OpenRun::symbols)) into the symbol
/// file of a run folder. Then the folder has the names also on other hosts. Without symbols, there
/// is no file.
///
/// # Errors
/// If the file cannot be written. The text names it.
pub fn keep_symbols<'a>(folder: &Path, lists: impl IntoIterator<Item = &'a SymbolList>) -> io::Result<()> {
    let mut list = SymbolList::default();
    lists.into_iter().for_each(|other| list.extend(other));
    if list.is_empty() {
        return Ok(());
    }
    let path = folder.join(SYMBOL_FILE);
    fs::write(&path, list.text()).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
