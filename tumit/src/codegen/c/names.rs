//! Names in C: words of the spec that are keywords or macros there get a `_`; two that meet are refused.

use std::collections::HashMap;

use super::{Unsupported, suffix};
use crate::Spec;

/// The C name of everything in a spec.
pub(super) struct Names {
    pub(super) trace: String,
    pub(super) levels: Vec<String>,
    pub(super) enums: Vec<String>,
    /// Functions, one per record.
    pub(super) functions: Vec<String>,
}

impl Names {
    pub(super) fn new(spec: &Spec) -> Result<Self, Unsupported> {
        let trace = word(&spec.name);
        let names = Self {
            levels: spec.levels.iter().map(|level| raw(&level.name)).collect(),
            enums: spec.enums.iter().map(|item| format!("{trace}_{}", raw(&item.name))).collect(),
            functions: spec
                .records
                .iter()
                .map(|record| format!("{trace}_{}{}", raw(&record.name), suffix(record.layout.kind)))
                .collect(),
            trace,
        };
        let mut seen = HashMap::new();
        let levels =
            names.levels.iter().map(|level| (format!("{}_level_{level}", names.trace), format!("level `{level}`")));
        let functions = names.functions.iter().zip(&spec.records).flat_map(|(name, record)| {
            let owner = format!("`{}`", record.layout.name);
            let located = record.layout.located.then(|| (format!("{name}_at"), owner.clone()));
            [(name.clone(), owner)].into_iter().chain(located)
        });
        let values = names.enums.iter().zip(&spec.enums).flat_map(|(name, item)| {
            item.values.iter().map(move |value| {
                (format!("{name}_{}", raw(value)), format!("value `{value}` of enum `{}`", item.name))
            })
        });
        for (name, owner) in levels.chain(functions).chain(values) {
            if let Some(other) = seen.insert(name.clone(), owner.clone()) {
                return Err(Unsupported {
                    reason: format!("{other} and {owner} would both be `{name}` in C: rename one"),
                });
            }
        }
        Ok(names)
    }

    /// The macro that says whether a level is compiled in.
    pub(super) fn has(&self, level: &str) -> String {
        format!("TUMIT1_HAS_{}_{level}", self.trace)
    }
}

/// Letters, digits and `_` only.
pub(super) fn raw(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A name that may stand alone in C and C++: not a keyword, nor a macro that systems define.
pub(super) fn word(name: &str) -> String {
    let mut name = raw(name);
    if RESERVED.contains(&name.as_str()) || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.push('_');
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Keywords of C23 and C++23, and macros of hosts.
const RESERVED: [&str; 119] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "assert",
    "NULL",
    "EOF",
    "main",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "size_t",
    "ssize_t",
    "uintptr_t",
    "memcpy",
    "strlen",
];

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn keywords_and_odd_names() {
        assert_eq!(word("linux"), "linux_");
        assert_eq!(word("class"), "class_");
        assert_eq!(word("node"), "node");
        assert_eq!(word("x-y"), "x_y");
        assert_eq!(word("3d"), "_3d_");
    }
}
