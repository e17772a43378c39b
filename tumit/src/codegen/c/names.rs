//! The names of the declarations of a spec in C and C++.
//!
//! Two equal names are an error. A name that the language or a system header already has gets a `_`
//! at its end.

use std::collections::HashMap;

use tracer_format::schema::RecordKind;

use crate::Spec;
use crate::codegen::backend::UnsupportedFeature;
use crate::names::c_name;
use crate::spec::RecordId;

/// The C names of all declarations of a spec.
pub(in crate::codegen) struct CNames {
    /// The prefix of all other names.
    pub(in crate::codegen) trace: String,
    /// Levels, as parts of names.
    pub(in crate::codegen) levels: Vec<String>,
    /// Tags of enums.
    pub(in crate::codegen) enums: Vec<String>,
    /// Enumerators of each enum.
    pub(in crate::codegen) values: Vec<Vec<String>>,
    /// Constants.
    pub(in crate::codegen) constants: Vec<String>,
    /// Functions, one per record.
    pub(in crate::codegen) functions: Vec<String>,
    /// Classes of C++, one per span.
    pub(in crate::codegen) scopes: Vec<String>,
}

impl CNames {
    pub(in crate::codegen) fn new(spec: &Spec) -> Result<Self, UnsupportedFeature> {
        let trace = prefix(&spec.name);
        let global = |name: &str| file_scope_name(&format!("{trace}_{}", identifier_characters(name)));
        let enums: Vec<_> = spec.enums.iter().map(|item| global(&item.name)).collect();
        let values = spec.enums.iter().map(|item| {
            item.values
                .iter()
                .map(|value| global(&format!("{}_{}", identifier_characters(&item.name), value.name)))
                .collect()
        });
        let names = Self {
            values: values.collect(),
            levels: spec.levels.iter().map(|level| identifier_characters(&level.name)).collect(),
            constants: spec.constants.iter().map(|constant| global(&constant.name)).collect(),
            functions: spec
                .records
                .iter()
                .zip(0..)
                .map(|(record, index)| {
                    let absent = if spec.is_absent_end(RecordId(index)) { "_absent" } else { "" };
                    global(&format!("{}{}{absent}", record.name, suffix(record.layout.kind)))
                })
                .collect(),
            scopes: spec.spans.iter().map(|span| global(&format!("{}_scope", span.name))).collect(),
            enums,
            trace,
        };
        names.check(spec)?;
        Ok(names)
    }

    /// Every identifier and macro that the header defines in the name space of the program, with
    /// the declaration that it belongs to.
    pub(super) fn identifiers<'a>(&'a self, spec: &'a Spec) -> impl Iterator<Item = (String, String)> + 'a {
        let functions = self.functions.iter().zip(&spec.records).flat_map(|(name, record)| {
            let owner = format!("`{}`", record.layout.name);
            let located = record.layout.has_location.then(|| (format!("{name}_at"), owner.clone()));
            [(name.clone(), owner)].into_iter().chain(located)
        });
        let values = self.values.iter().zip(&spec.enums).flat_map(|(names, item)| {
            let owner = |value: &str| format!("value `{value}` of enum `{}`", item.name);
            names.iter().zip(&item.values).map(move |(name, value)| (name.clone(), owner(&value.name)))
        });
        let constants = self.constants.iter().zip(&spec.constants);
        let constants = constants.map(|(name, item)| (name.clone(), format!("constant `{}`", item.name)));
        let scopes = self.scopes.iter().zip(&spec.spans);
        let scopes = scopes.map(|(name, span)| (name.clone(), format!("the guard of span `{}`", span.name)));
        let switches = self.levels.iter().zip(&spec.levels);
        let switches =
            switches.map(|(name, level)| (self.level_switch(name), format!("the switch of level `{}`", level.name)));
        functions.chain(values).chain(constants).chain(scopes).chain(switches)
    }

    fn check(&self, spec: &Spec) -> Result<(), UnsupportedFeature> {
        let mut owners = HashMap::new();
        // An enum tag can have the name of a function. But a guard is a class, and its name must
        // differ from the enum tags.
        let tags = self.enums.iter().zip(&spec.enums).map(|(tag, item)| (tag, format!("enum `{}`", item.name)));
        let scopes = self.scopes.iter().zip(&spec.spans).map(|(tag, span)| (tag, format!("span `{}`", span.name)));
        let tags = tags.chain(scopes).map(|(tag, owner)| (format!("class {tag}"), owner));
        for (name, owner) in self.identifiers(spec).chain(tags) {
            if let Some(previous_owner) = owners.insert(name.clone(), owner.clone()) {
                return Err(UnsupportedFeature {
                    reason: format!("{previous_owner} and {owner} both become `{name}` in C: rename one"),
                });
            }
        }
        Ok(())
    }

    /// The macro that is not 0 if a level is on.
    pub(in crate::codegen) fn level_macro(&self, level: &str) -> String {
        format!("TUMIT1_ON_{}_{level}", self.trace)
    }

    /// The macro with which a program removes a level.
    pub(super) fn level_switch(&self, level: &str) -> String {
        format!("{}_OFF_{level}", self.trace.to_uppercase())
    }

    /// The macro that registers the spec, in headers without a constructor.
    pub(super) fn register_macro(&self) -> String {
        format!("TUMIT_REGISTER_{}", self.trace.to_uppercase())
    }

    /// Whether the header of a spec with another name can define this name. `a_b_c` can belong to
    /// trace `a` or `a_b`.
    pub(super) fn may_meet(&self, name: &str) -> bool {
        let rest = name.get(self.trace.len() + 1..).unwrap_or_default();
        self.trace.trim_matches('_').contains('_') || rest.trim_matches('_').contains('_')
    }
}

/// The name with letters, digits and `_` only.
pub(in crate::codegen) fn identifier_characters(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A name that is valid as the start of other names.
fn prefix(name: &str) -> String {
    let name = identifier_characters(name);
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// A name that is valid at file scope in C and C++.
///
/// It is neither a keyword nor a declaration of the headers of the runtime, of MPI or of OpenMP.
fn file_scope_name(name: &str) -> String {
    let name = c_name(name);
    let head = name.split('_').next().unwrap_or_default();
    if FAMILIES.contains(&head) || SYSTEM_NAMES.split_whitespace().any(|reserved| reserved == name) {
        name + "_"
    } else {
        name
    }
}

/// The name of a parameter. The `_` distinguishes it from the keywords of both languages, which
/// never end with one, and from macros and globals of the program, which rarely do.
pub(in crate::codegen) fn parameter(name: &str) -> String {
    prefix(name) + "_"
}

/// Families of names that are too large or too variable for a list.
const FAMILIES: [&str; 8] = ["MPI", "PMPI", "PR", "PTHREAD", "SYS", "omp", "pmix", "pthread"];

/// Names with an inner `_` that system headers of glibc declare, sorted.
const SYSTEM_NAMES: &str = include_str!("system_names.txt");

/// The suffix of a function. Spans have two functions.
fn suffix(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Event => "",
        RecordKind::Begin => "_begin",
        RecordKind::End => "_end",
    }
}

#[cfg(test)]
mod tests {
    use super::{file_scope_name, parameter, prefix};

    #[test]
    fn keywords_and_odd_names() {
        assert_eq!(prefix("x-y"), "x_y");
        assert_eq!(prefix("3d"), "_3d");
        assert_eq!(parameter("class"), "class_");
        assert_eq!(parameter("3d"), "_3d_");
        assert_eq!(file_scope_name("linux_post"), "linux_post");
        for name in ["size_t", "static_cast", "pthread_create", "MPI_Send", "clock_gettime", "S_IRUSR", "sched_yield"] {
            assert_eq!(file_scope_name(name), format!("{name}_"));
        }
    }
}
