//! [`ValueNames`]: the names of values in a profile. Several values may share a name.

use rustc_hash::FxHashMap;
use tumit_perspectives::execution::categories::CategoryTable;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{RgbColor, TypeModel, ValueId};

use crate::call_tree::NameId;

/// The values that share a name in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ValueGroups {
    /// Each value has its own name.
    #[default]
    None,
    /// The values that match a pattern have the pattern as name, such as `MPI_*`. The first
    /// pattern that matches counts. Other values have their own names.
    Patterns(Vec<NamePattern>),
    /// Values have the part of their name before the first `_`, `:`, `.`, `/` or blank as name,
    /// such as `MPI` of `MPI_Send` and `fft` of `fft::forward`.
    Prefix,
    /// Values have the name of their category.
    Category(CategoryTable),
}

/// The part of a name that [`ValueGroups::Prefix`] takes.
fn prefix(name: &str) -> &str {
    match name.find(['_', ':', '.', '/', ' ']) {
        None | Some(0) => name,
        Some(end) => &name[..end],
    }
}

impl ValueGroups {
    fn name<'a>(&'a self, value: ValueId, name: &'a str) -> &'a str {
        match self {
            Self::None => name,
            Self::Patterns(patterns) => {
                patterns.iter().find(|pattern| pattern.fits(name)).map_or(name, NamePattern::as_str)
            }
            Self::Prefix => prefix(name),
            Self::Category(table) => table.category(value).word(),
        }
    }
}

/// The names of a profile, and the name of each value.
#[derive(Clone, Debug)]
pub struct ValueNames {
    names: Vec<String>,
    colors: Vec<RgbColor>,
    by_value: Vec<NameId>,
}

impl ValueNames {
    /// Gives each value of the model its name.
    pub(crate) fn new(model: &TypeModel, groups: &ValueGroups) -> Self {
        let mut ids: FxHashMap<&str, NameId> = FxHashMap::default();
        let (mut names, mut colors) = (Vec::new(), Vec::new());
        let by_value = model.values.iter().map(|value| {
            let name = groups.name(value.id, &value.name);
            *ids.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                colors.push(value.color);
                NameId(names.len() as u32 - 1)
            })
        });
        let by_value = by_value.collect();
        Self { names, colors, by_value }
    }

    /// The text of a name.
    pub fn text(&self, name: NameId) -> &str {
        self.names.get(name.0 as usize).map_or("", String::as_str)
    }

    /// The colour of the first value with this name.
    pub fn color(&self, name: NameId) -> RgbColor {
        self.colors.get(name.0 as usize).copied().unwrap_or(RgbColor { red: 0, green: 0, blue: 0 })
    }

    pub(crate) fn name(&self, value: ValueId) -> NameId {
        self.by_value.get(value.index()).copied().unwrap_or(NameId(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn prefixes_end_at_the_first_separator() {
        let names = ["MPI_Send", "fft::forward", "work", "_start", "a b", "lib.f"];
        assert_eq!(names.map(prefix), ["MPI", "fft", "work", "_start", "a", "lib"]);
    }
}
