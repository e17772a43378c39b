//! [`SymbolList`]: the symbols of the code addresses of a run, as a file of the run folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::code_address::{CodeAddress, MARK};
use crate::symbolizer::{CodePosition, CodeSymbol};

/// Name of the file in a run folder.
pub const SYMBOL_FILE: &str = "symbols.tsv";

/// Symbols by the text of their code address.
///
/// A list in the run folder keeps the names when the run is moved to another host, or when the
/// program is compiled again.
///
/// ```
/// use tumit_symbols::{CodeSymbol, SymbolList};
///
/// let mut list = SymbolList::default();
/// let address = "\u{1}function 4f - /opt/heat";
/// list.insert(address, &CodeSymbol { name: "step".to_owned(), position: None });
/// let copy = SymbolList::parse(&list.text());
/// assert_eq!(copy.get(address).map(|symbol| symbol.name.as_str()), Some("step"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolList(BTreeMap<String, CodeSymbol>);

impl SymbolList {
    /// Reads the text of a file. Lines of another form are left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let symbol = |line: &str| {
            let mut columns = line.splitn(4, '\t');
            let address = format!("{MARK}{}", columns.next()?);
            let _ = CodeAddress::parse(&address)?;
            let name = columns.next()?.to_owned();
            let line: u32 = columns.next()?.parse().ok()?;
            let file = columns.next()?.to_owned();
            let position = (line > 0).then_some(CodePosition { file, line });
            Some((address, CodeSymbol { name, position }))
        };
        Self(text.lines().filter_map(symbol).collect())
    }

    /// The text of the file: a line per address, with the address, the name, the line of the source
    /// position and its file. The line is 0 if the source position is unknown.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (address, CodeSymbol { name, position }) in &self.0 {
            let (line, file) = position.as_ref().map_or((0, ""), |position| (position.line, position.file.as_str()));
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}\t{name}\t{line}\t{file}", address.trim_start_matches(MARK));
        }
        text
    }

    /// Adds the symbol of an address. It leaves out an address without a name, and texts with a tab
    /// or a line break, which would damage the file.
    pub fn insert(&mut self, address: &str, symbol: &CodeSymbol) {
        let has_name = CodeAddress::parse(address).is_some_and(|address| address.fallback_text() != symbol.name);
        let file = symbol.position.as_ref().map_or("", |position| position.file.as_str());
        let is_line = |text: &str| !text.contains(['\t', '\n', '\r']);
        if has_name && [address, &symbol.name, file].into_iter().all(is_line) {
            self.0.insert(address.to_owned(), symbol.clone());
        }
    }

    /// Adds all symbols of another list.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(address, symbol)| (address.clone(), symbol.clone())));
    }

    /// The symbol of an address.
    #[must_use]
    pub fn get(&self, address: &str) -> Option<&CodeSymbol> {
        self.0.get(address)
    }

    /// Whether it has no symbols.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::SymbolList;
    use crate::symbolizer::{CodePosition, CodeSymbol};

    #[test]
    fn a_list_has_its_symbols_after_writing_and_reading() {
        let symbol = |name: &str, position: Option<(&str, u32)>| {
            let position = position.map(|(file, line)| CodePosition { file: file.to_owned(), line });
            CodeSymbol { name: name.to_owned(), position }
        };
        let mut list = SymbolList::default();
        list.insert("\u{1}function 4f - /a b/heat", &symbol("heat::step(int, char)", Some(("/a b/heat.c", 12))));
        list.insert("\u{1}call 11c9 ab12 /heat", &symbol("main", None));
        assert_eq!(SymbolList::parse(&list.text()), list);
        // Not stored: an address without a name, a line break, and a text that is no address.
        list.insert("\u{1}call 1 - /heat", &symbol("heat+0x1", None));
        list.insert("\u{1}call 2 - /heat", &symbol("a\nb", None));
        list.insert("main", &symbol("main", None));
        assert_eq!(list.text().lines().count(), 2);
        assert!(SymbolList::parse("call\nfunction x - /a\tb\t1\tc\ncall 1 - /a\tb\tx\tc\n").is_empty());
    }
}
