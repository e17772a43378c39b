//! [`NamePattern`]: the names of types, values and containers in a filter, and their matches in a
//! trace.

use std::fmt;

use tumit::diagnostics::did_you_mean;
use tumit::spec::pattern_fits;

use super::error::FilterError;
use super::quote::FilterName;
use crate::query::{ContainerInfo, PajeTypeKind, TypeId, TypeInfo, TypeModel, ValueId};

/// A name in which `*` stands for any text and `?` for any character.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamePattern(String);

/// Alternative patterns. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamePatterns(Vec<NamePattern>);

impl NamePattern {
    /// A pattern from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A pattern that matches everything.
    #[must_use]
    pub fn match_all() -> Self {
        Self("*".to_owned())
    }

    /// The text of the pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name matches. O(pattern × name) in the worst case.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        pattern_fits(&self.0, name)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl NamePatterns {
    /// These patterns, or one that matches everything if there are none.
    #[must_use]
    pub fn new(mut patterns: Vec<NamePattern>) -> Self {
        if patterns.is_empty() {
            patterns.push(NamePattern::match_all());
        }
        Self(patterns)
    }

    /// One pattern that matches everything.
    #[must_use]
    pub fn match_all() -> Self {
        Self::new(Vec::new())
    }

    /// Whether one of the patterns matches everything.
    pub(crate) fn is_any(&self) -> bool {
        self.0.iter().any(|pattern| pattern.as_str() == "*")
    }

    /// Iterates over the patterns.
    pub fn iter(&self) -> impl Iterator<Item = &NamePattern> {
        self.0.iter()
    }

    /// The positions in a list of the containers that match by name, or by the end of their path
    /// (`Node 0/thread 1`). The root never matches.
    ///
    /// # Errors
    /// If one of the patterns matches no container.
    pub fn containers(&self, list: &[ContainerInfo]) -> Result<Vec<usize>, FilterError> {
        let by_path = self.iter().any(|pattern| pattern.as_str().contains('/'));
        let mut paths: Vec<String> = Vec::with_capacity(list.len());
        let mut stack: Vec<&str> = Vec::new();
        for info in list.iter().filter(|_| by_path) {
            stack.truncate(info.depth.saturating_sub(1) as usize);
            if info.depth > 0 {
                stack.push(&info.name);
            }
            paths.push(stack.join("/"));
        }
        let names = |index: usize| {
            let mut names = vec![list[index].name.as_str()];
            let path = paths.get(index).map_or("", String::as_str);
            names.extend(path.match_indices('/').map(|(slash, _)| &path[slash + 1..]));
            names.extend((!path.is_empty()).then_some(path));
            names
        };
        let candidates = (0..list.len()).filter(|&index| list[index].depth > 0);
        self.find("container", candidates.map(|index| (index, names(index))))
    }

    /// The elements of `candidates` that match. It is an error if one of the patterns matches
    /// nothing. A pattern without a match is tried again without regard to case.
    fn find<'a, T: Copy>(
        &self,
        kind: &'static str,
        candidates: impl Iterator<Item = (T, Vec<&'a str>)>,
    ) -> Result<Vec<T>, FilterError> {
        let candidates: Vec<(T, Vec<&str>)> = candidates.collect();
        let mut is_match = vec![false; candidates.len()];
        for pattern in &self.0 {
            let mut mark = |fits: &dyn Fn(&str) -> bool| {
                let mut has_match = false;
                for (is_match, (_, names)) in is_match.iter_mut().zip(&candidates) {
                    let fits = names.iter().any(|name| fits(name));
                    (*is_match, has_match) = (*is_match || fits, has_match || fits);
                }
                has_match
            };
            let lower = NamePattern::new(pattern.0.to_lowercase());
            if !mark(&|name| pattern.fits(name)) && !mark(&|name| lower.fits(&name.to_lowercase())) {
                let names: Vec<&str> = candidates.iter().filter_map(|(_, names)| names.first().copied()).collect();
                return Err(FilterError::no_match(kind, pattern, &names));
            }
        }
        Ok(candidates.iter().zip(is_match).filter(|(_, is_match)| *is_match).map(|((id, _), _)| *id).collect())
    }
}

/// Where an expression names a field of entities. The example of an error message depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldUse {
    /// In a condition after `where`.
    Condition,
    /// After `by` of `classify`.
    Classes,
    /// In the key of `sort`, `best`, `least` and `keep`.
    Key,
    /// In a reduction: `sum`, `mean`, `min` and `max`.
    Reduction,
}

impl FieldUse {
    /// A correct expression with a field of this name.
    fn example(self, field: &str) -> String {
        let field = FilterName(field);
        match self {
            Self::Condition => format!("only where {field} > 1000"),
            Self::Classes => format!("classify Message by {field}"),
            Self::Key => format!("sort Node by sum {field} of Message"),
            Self::Reduction => format!("sum {field} of Message per Node into Traffic"),
        }
    }
}

/// Keys of containers, which a condition on entities cannot use.
const KEYS: [&str; 4] = ["self time", "self share", "time", "share"];

impl FilterError {
    /// No entity of the types that an expression concerns has the field.
    pub(crate) fn no_field(usage: FieldUse, field: &str, fields: &[&str]) -> Self {
        let error = Self::no_match("field of these types", &NamePattern::new(field), fields);
        let Self::NoMatch { kind, pattern, help, .. } = error else { return error };
        if usage == FieldUse::Condition && KEYS.contains(&field) {
            let help = "this is a key of containers for `sort`, `best`, `least` and `keep`".to_owned();
            let example = format!("keep Thread with {field} Wait* of Activity > 2s");
            let example = if field.ends_with("share") { example.replace("2s", "0.5") } else { example };
            return Self::NoMatch { kind, pattern, help, example: example.into() };
        }
        let similar_name = fields.iter().find(|name| help.contains(&format!("`{name}`"))).or_else(|| fields.first());
        let example = usage.example(similar_name.copied().unwrap_or("Bytes"));
        Self::NoMatch { kind, pattern, help, example: example.into() }
    }

    pub(crate) fn no_match(kind: &'static str, pattern: &NamePattern, names: &[&str]) -> Self {
        const MAX_LISTED: usize = 8;
        let mut name_list: Vec<&str> = Vec::new();
        for name in names {
            if !name_list.contains(name) && name_list.len() <= MAX_LISTED {
                name_list.push(name);
            }
        }
        let suggestion = did_you_mean(pattern.as_str(), names.iter().copied());
        let is_near =
            |name: &&&str| suggestion.as_ref().is_some_and(|suggestion| suggestion.contains(&format!("`{name}`")));
        let similar_name = names.iter().find(is_near).copied();
        let help = suggestion.clone().unwrap_or_else(|| {
            let ellipsis = if name_list.len() > MAX_LISTED { ", …" } else { "" };
            name_list.truncate(MAX_LISTED);
            match name_list.is_empty() {
                true => "none exists".to_owned(),
                false => format!("existing names: {}{ellipsis}", name_list.join(", ")),
            }
        });
        let example = example(kind, similar_name.or_else(|| names.first().copied()));
        Self::NoMatch { kind, pattern: pattern.to_string(), help, example: example.into() }
    }
}

/// A correct expression with a name of this kind.
fn example(kind: &str, name: Option<&str>) -> String {
    let name = |other: &'static str| FilterName(name.unwrap_or(other)).to_string();
    match kind {
        "value" => format!("only value {}", name("Waiting")),
        "container" => format!("only container {}", name("Node 1")),
        "container type" => format!("sort {} by name", name("Thread")),
        "variable" => format!("sort Node by mean of {}", name("Load")),
        _ => format!("only type {}", name("Thread")),
    }
}

/// Types that match, among those for which `is_candidate` is true.
pub(crate) fn types(
    model: &TypeModel,
    patterns: &NamePatterns,
    kind: &'static str,
    is_candidate: impl Fn(&TypeInfo) -> bool,
) -> Result<Vec<TypeId>, FilterError> {
    patterns.find(kind, model.types.iter().filter(|ty| is_candidate(ty)).map(|ty| (ty.id, vec![ty.name.as_str()])))
}

/// Container types that match. `trace` is the type of the root.
pub(crate) fn container_types(model: &TypeModel, pattern: &NamePattern) -> Result<Vec<TypeId>, FilterError> {
    if pattern.as_str() == "trace" {
        return Ok(vec![TypeId::ROOT]);
    }
    let of_containers = |ty: &TypeInfo| ty.kind == PajeTypeKind::Container && ty.id != TypeId::ROOT;
    types(model, &NamePatterns::new(vec![pattern.clone()]), "container type", of_containers)
}

/// Values that match, of the types that `types` matches; without `types`, of any type.
pub(crate) fn values(
    model: &TypeModel,
    patterns: &NamePatterns,
    types: Option<&NamePattern>,
) -> Result<(Vec<TypeId>, Vec<ValueId>), FilterError> {
    let with_values =
        |ty: &TypeInfo| matches!(ty.kind, PajeTypeKind::State | PajeTypeKind::Event | PajeTypeKind::Link { .. });
    values_of(model, patterns, types, "type of states, events or links", with_values)
}

/// Values that match, of the types that `type_pattern` matches; without `type_pattern`, of all
/// types. Only types for which `is_candidate` is true count. `kind` describes them.
pub(crate) fn values_of(
    model: &TypeModel,
    patterns: &NamePatterns,
    type_pattern: Option<&NamePattern>,
    kind: &'static str,
    is_candidate: impl Fn(&TypeInfo) -> bool,
) -> Result<(Vec<TypeId>, Vec<ValueId>), FilterError> {
    let type_pattern = NamePatterns::new(type_pattern.cloned().into_iter().collect());
    let types = types(model, &type_pattern, kind, is_candidate)?;
    let candidates = model.values.iter().filter(|value| types.contains(&value.ty));
    let ids = patterns.find("value", candidates.map(|value| (value.id, vec![value.name.as_str()])))?;
    Ok((types, ids))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text_and_a_question_mark_one_character() {
        let cases = [
            ("Node 1", "Node 1", true),
            ("Node 1", "Node 12", false),
            ("Node*", "Node 12", true),
            ("*1?", "Node 12", true),
            ("*1?", "Node 1", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("é?", "éà", true),
        ];
        for (pattern, name, fits) in cases {
            assert_eq!(NamePattern::new(pattern).fits(name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn errors_about_fields_have_an_example_of_the_same_form() {
        let field_names = ["Bytes", "Tag"];
        for (usage, field, form) in [
            (FieldUse::Condition, "Bites", "only where Bytes >"),
            (FieldUse::Condition, "self time", "keep Thread with self time"),
            (FieldUse::Condition, "share", "keep Thread with share"),
            (FieldUse::Classes, "x", "classify Message by Bytes"),
            (FieldUse::Key, "x", "sort Node by sum Bytes"),
            (FieldUse::Reduction, "Tags", "sum Tag of"),
        ] {
            let message = FilterError::no_field(usage, field, &field_names).to_string();
            let example = message.trim_end_matches('`').rsplit_once("; example: `").expect("one example exists").1;
            assert!(example.starts_with(form), "{message}");
            assert!(example.parse::<crate::filter::FilterExpr>().is_ok(), "{example}");
        }
    }
}
