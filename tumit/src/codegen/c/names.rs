//! Names in C and C++: what a spec's things are called there. Two that meet are refused; one that the language or a system
//! header has already gets a `_` at its end.

use std::collections::HashMap;

use super::{Unsupported, suffix};
use crate::Spec;
use crate::names::c_name;
use crate::spec::RecordId;

/// The C name of everything in a spec.
pub(in crate::codegen) struct Names {
    /// Stands before all others.
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

impl Names {
    pub(in crate::codegen) fn new(spec: &Spec) -> Result<Self, Unsupported> {
        let trace = prefix(&spec.name);
        let global = |name: &str| global(&format!("{trace}_{}", raw(name)));
        let enums: Vec<_> = spec.enums.iter().map(|item| global(&item.name)).collect();
        let values = spec.enums.iter().map(|item| {
            item.values.iter().map(|value| global(&format!("{}_{}", raw(&item.name), value.name))).collect()
        });
        let names = Self {
            values: values.collect(),
            levels: spec.levels.iter().map(|level| raw(&level.name)).collect(),
            constants: spec.constants.iter().map(|constant| global(&constant.name)).collect(),
            functions: spec
                .records
                .iter()
                .zip(0..)
                .map(|(record, at)| {
                    let absent = if spec.is_absent_end(RecordId(at)) { "_absent" } else { "" };
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

    /// Every identifier and macro that the header defines in the program's own name space, and whose it is.
    pub(super) fn all<'a>(&'a self, spec: &'a Spec) -> impl Iterator<Item = (String, String)> + 'a {
        let functions = self.functions.iter().zip(&spec.records).flat_map(|(name, record)| {
            let owner = format!("`{}`", record.layout.name);
            let located = record.layout.located.then(|| (format!("{name}_at"), owner.clone()));
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
        let switches = switches.map(|(name, level)| (self.off(name), format!("the switch of level `{}`", level.name)));
        functions.chain(values).chain(constants).chain(scopes).chain(switches)
    }

    fn check(&self, spec: &Spec) -> Result<(), Unsupported> {
        let mut seen = HashMap::new();
        // A tag may be the name of a function too; but a guard is a class, and two enums are two tags.
        let tags = self.enums.iter().zip(&spec.enums).map(|(tag, item)| (tag, format!("enum `{}`", item.name)));
        let scopes = self.scopes.iter().zip(&spec.spans).map(|(tag, span)| (tag, format!("span `{}`", span.name)));
        let tags = tags.chain(scopes).map(|(tag, owner)| (format!("class {tag}"), owner));
        for (name, owner) in self.all(spec).chain(tags) {
            if let Some(other) = seen.insert(name.clone(), owner.clone()) {
                return Err(Unsupported {
                    reason: format!("{other} and {owner} would both be `{name}` in C: rename one"),
                });
            }
        }
        Ok(())
    }

    /// The macro that says whether a level is on: not 0.
    pub(in crate::codegen) fn on(&self, level: &str) -> String {
        format!("TUMIT1_ON_{}_{level}", self.trace)
    }

    /// The macro by which a program removes a level.
    pub(super) fn off(&self, level: &str) -> String {
        format!("{}_OFF_{level}", self.trace.to_uppercase())
    }

    /// Whether the header of a spec with another name might define this name: `a_b_c` belongs to trace `a` or `a_b`.
    pub(super) fn may_meet(&self, name: &str) -> bool {
        let rest = name.get(self.trace.len() + 1..).unwrap_or_default();
        self.trace.trim_matches('_').contains('_') || rest.trim_matches('_').contains('_')
    }
}

/// Letters, digits and `_` only.
pub(in crate::codegen) fn raw(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A name that may stand before others.
fn prefix(name: &str) -> String {
    let name = raw(name);
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// A name that may stand alone at file scope in C and C++: no keyword, and nothing that the headers declare which the
/// runtime includes, or MPI's and OpenMP's.
fn global(name: &str) -> String {
    let name = c_name(name);
    let head = name.split('_').next().unwrap_or_default();
    if FAMILIES.contains(&head) || TAKEN.split_whitespace().any(|taken| taken == name) { name + "_" } else { name }
}

/// A parameter. The `_` keeps it apart from the keywords of both languages, and from macros and globals of the program:
/// no keyword ends so, and hardly any of those.
pub(in crate::codegen) fn parameter(name: &str) -> String {
    prefix(name) + "_"
}

/// Names of these families are many, or come and go.
const FAMILIES: [&str; 8] = ["MPI", "PMPI", "PR", "PTHREAD", "SYS", "omp", "pmix", "pthread"];

/// Names with a `_` inside which system headers of glibc declare, sorted.
const TAKEN: &str = include_str!("taken.txt");

#[cfg(test)]
mod tests {
    use super::{global, parameter, prefix};

    #[test]
    fn keywords_and_odd_names() {
        assert_eq!(prefix("x-y"), "x_y");
        assert_eq!(prefix("3d"), "_3d");
        assert_eq!(parameter("class"), "class_");
        assert_eq!(parameter("3d"), "_3d_");
        assert_eq!(global("linux_post"), "linux_post");
        for taken in ["size_t", "static_cast", "pthread_create", "MPI_Send", "clock_gettime", "S_IRUSR", "sched_yield"]
        {
            assert_eq!(global(taken), format!("{taken}_"));
        }
    }
}
