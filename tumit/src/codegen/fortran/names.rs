//! Names in Fortran: the C names, limited to 63 characters, and distinct without regard to case.

use std::collections::HashMap;

use super::super::{UnsupportedFeature, c::CNames};
use crate::Spec;
use crate::names::fortran_name;

/// The Fortran names of all declarations of a spec.
pub(super) struct FortranNames {
    pub(super) module: String,
    /// Procedures, one per record.
    pub(super) procedures: Vec<String>,
    /// The named constants of each enum, one per value.
    pub(super) values: Vec<Vec<String>>,
    /// Constants of the spec.
    pub(super) constants: Vec<String>,
    /// All names of the module in lower case, each with the declaration that it belongs to.
    owners: HashMap<String, String>,
}

impl FortranNames {
    pub(super) fn new(spec: &Spec, c: &CNames) -> Result<Self, UnsupportedFeature> {
        let mut names = Self {
            module: fortran_name(&format!("{}_trace", c.trace)),
            procedures: c.functions.iter().map(|name| fortran_name(name)).collect(),
            values: c.values.iter().map(|names| names.iter().map(|name| fortran_name(name)).collect()).collect(),
            constants: c.constants.iter().map(|name| fortran_name(name)).collect(),
            owners: HashMap::new(),
        };
        let module = (names.module.clone(), "the module".to_owned());
        let procedures = names.procedures.iter().zip(&spec.records);
        let procedures = procedures.map(|(name, record)| (name.clone(), format!("`{}`", record.layout.name)));
        let values = names.values.iter().zip(&spec.enums).flat_map(|(names, item)| {
            let owner = |value: &str| format!("value `{value}` of enum `{}`", item.name);
            names.iter().zip(&item.values).map(move |(name, value)| (name.clone(), owner(&value.name)))
        });
        let constants = names.constants.iter().zip(&spec.constants);
        let constants = constants.map(|(name, item)| (name.clone(), format!("constant `{}`", item.name)));
        let all: Vec<_> = [module].into_iter().chain(procedures).chain(values).chain(constants).collect();
        for (name, owner) in all {
            if let Some(other) = names.owners.insert(name.to_ascii_lowercase(), owner.clone()) {
                return Err(UnsupportedFeature {
                    reason: format!(
                        "{other} and {owner} both become `{name}` in Fortran, which ignores upper and lower \
                         case: rename one"
                    ),
                });
            }
        }
        Ok(names)
    }

    /// A unique private name of the module: `stem`, a `_`, and `suffix`.
    pub(super) fn unique_private_name(&mut self, stem: &str, suffix: &str) -> String {
        let mut name = fortran_name(&format!("{stem}_{suffix}"));
        let mut number = 1;
        while self.owners.contains_key(&name.to_ascii_lowercase()) {
            number += 1;
            name = fortran_name(&format!("{stem}_{suffix}_{number}"));
        }
        self.owners.insert(name.to_ascii_lowercase(), String::new());
        name
    }
}

/// Names of the arguments of one procedure, in lower case.
pub(super) struct ArgumentNames(Vec<String>);

impl ArgumentNames {
    /// `reserved_names` are the names that the procedure itself refers to.
    pub(super) fn new(reserved_names: &[&str], procedure: &str) -> Self {
        let reserved_names = reserved_names.iter().copied().chain(IMPORTED).chain([procedure]);
        Self(reserved_names.map(str::to_ascii_lowercase).collect())
    }

    /// The name, with `_` and a number at its end if it is taken.
    pub(super) fn add(&mut self, wanted_name: &str) -> String {
        let mut name = fortran_name(wanted_name);
        let mut number = 1;
        while self.0.contains(&name.to_ascii_lowercase()) {
            number += 1;
            name = fortran_name(&format!("{wanted_name}_{number}"));
        }
        self.0.push(name.to_ascii_lowercase());
        name
    }
}

/// The names that the module imports from `iso_c_binding`, sorted.
pub(super) const IMPORTED: [&str; 12] = [
    "c_bool",
    "c_char",
    "c_double",
    "c_float",
    "c_funloc",
    "c_funptr",
    "c_int",
    "c_int16_t",
    "c_int64_t",
    "c_int8_t",
    "c_ptr",
    "c_size_t",
];

/// The names of [`IMPORTED`] that occur in a text.
pub(super) fn imported(text: &str) -> Vec<String> {
    let mut words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    words.sort_unstable();
    IMPORTED.into_iter().filter(|name| words.binary_search(name).is_ok()).map(str::to_owned).collect()
}
