//! Replaces code addresses among the names of processes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tracer_format::record_values::RecordedSite;
use tumit_symbols::{CodeAddress, CodeSymbol, Symbolizer};

use super::process::ProcessInRun;

/// The symbols of earlier openings. A page that follows a run opens it each second.
static SYMBOLS: Mutex<Option<HashMap<Box<str>, CodeSymbol>>> = Mutex::new(None);

/// Replaces the texts of code addresses by the names of functions, and by source positions. The
/// programs are searched at their paths on the host of the recording. A source position that is not
/// found becomes unknown.
pub(super) fn resolve(processes: &mut [ProcessInRun]) {
    let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let symbols = symbols.get_or_insert_default();
    let mut symbolizer = Symbolizer::default();
    let mut symbol_of = |text: &str| {
        let address = CodeAddress::parse(text)?;
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
