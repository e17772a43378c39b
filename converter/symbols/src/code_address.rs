//! [`CodeAddress`]: the text of a code address in a run.

/// The first character of the text of a code address. No name contains it.
pub(crate) const MARK: char = '\u{1}';

/// The meaning of a code address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeKind {
    /// A function begins there.
    Function,
    /// A call returns to it.
    Call,
    /// It follows an instruction of an inlined function. The position is that of the inlined call.
    Inlined,
}

/// The text of a code address in a run, as FORMAT.md describes it.
///
/// ```
/// use tumit_symbols::{CodeAddress, CodeKind};
///
/// let address = CodeAddress::parse("\u{1}call 11c9 - /opt/a b/heat").expect("a code address");
/// assert_eq!((address.kind, address.offset, address.build_id), (CodeKind::Call, 0x11c9, None));
/// assert_eq!(address.path, "/opt/a b/heat");
/// assert_eq!(CodeAddress::parse("solve"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeAddress<'a> {
    /// How the address relates to a function.
    pub kind: CodeKind,
    /// The address in the file, as symbol tables and debugging information have it.
    pub offset: u64,
    /// The build id of the file, in hexadecimal digits. `None` if it has none.
    pub build_id: Option<&'a str>,
    /// The path of the file on the host of the recording.
    pub path: &'a str,
}

impl<'a> CodeAddress<'a> {
    /// Reads a text. `None` if it is no code address.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut words = text.strip_prefix(MARK)?.splitn(4, ' ');
        let kind = match words.next()? {
            "function" => CodeKind::Function,
            "call" => CodeKind::Call,
            "inlined" => CodeKind::Inlined,
            _ => return None,
        };
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let build_id = Some(words.next()?).filter(|id| *id != "-");
        Some(Self { kind, offset, build_id, path: words.next()? })
    }

    /// The file and the address, such as `heat+0x11c9`.
    #[must_use]
    pub fn fallback_text(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        format!("{name}+{:#x}", self.offset)
    }

    /// The address to search. A return address may belong to the next line or function, so the
    /// address before it is used, which is in the call instruction.
    pub(crate) fn instruction(&self) -> u64 {
        match self.kind {
            CodeKind::Function => self.offset,
            CodeKind::Call | CodeKind::Inlined => self.offset.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CodeAddress;

    #[test]
    fn other_texts_are_no_addresses() {
        for text in ["", "\u{1}", "\u{1}call", "\u{1}call x - /a", "\u{1}call 1 -", "\u{1}jump 1 - /a", "call 1 - /a"] {
            assert_eq!(CodeAddress::parse(text), None, "{text:?}");
        }
        let long = "\u{1}function ffffffffffffffffffff - /a";
        assert_eq!(CodeAddress::parse(long), None);
    }

    #[test]
    fn an_address_without_a_name_is_that_of_its_file() {
        let address = CodeAddress::parse("\u{1}function 4f ab12 /usr/lib/libheat.so").unwrap();
        assert_eq!((address.build_id, address.fallback_text().as_str()), (Some("ab12"), "libheat.so+0x4f"));
    }
}
