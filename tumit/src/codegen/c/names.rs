//! Names in C: words of the spec that are keywords or macros there get a `_`; two that meet are refused.

use std::collections::HashMap;

use super::{Unsupported, suffix};
use crate::Spec;
use crate::names::c_name;

/// The C name of everything in a spec.
pub(in crate::codegen) struct Names {
    pub(in crate::codegen) trace: String,
    pub(in crate::codegen) levels: Vec<String>,
    pub(in crate::codegen) enums: Vec<String>,
    /// Functions, one per record.
    pub(in crate::codegen) functions: Vec<String>,
}

impl Names {
    pub(in crate::codegen) fn new(spec: &Spec) -> Result<Self, Unsupported> {
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
                (format!("{name}_{}", raw(&value.name)), format!("value `{}` of enum `{}`", value.name, item.name))
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

/// A name that may stand alone in C and C++: not a keyword, nor a macro or type that every system defines.
pub(super) fn word(name: &str) -> String {
    let name = c_name(&raw(name));
    if MACROS.contains(&name.as_str()) { name + "_" } else { name }
}

/// What compilers and the headers that the runtime includes define beyond the keywords.
const MACROS: [&str; 19] = [
    "EOF", "NULL", "assert", "errno", "i386", "int16_t", "int32_t", "int64_t", "int8_t", "linux", "size_t", "stderr",
    "stdin", "stdout", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "unix",
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
        assert_eq!(word("3d"), "_3d");
    }
}
