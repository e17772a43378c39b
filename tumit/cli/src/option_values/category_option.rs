//! The values of `--category` and `--option`.

use tumit_paje::category::ActivityCategory;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::filter::NamePattern;

/// The help text of `--category`.
pub(crate) const CATEGORY_HELP: &str = "Assigns states to a category: busy, overhead, idle or ignored (the enclosing state counts). \
     NAME may contain * and ?, and may name a state type: 'idle=Wait*' or 'idle=Wait* of Activity'; can be repeated";

/// Parses `CATEGORY=NAME` or `CATEGORY=NAME of TYPE`.
pub(crate) fn category(text: &str) -> Result<CategoryRule, String> {
    let words = || ActivityCategory::WORDS.map(|(word, _)| word).join(", ");
    let Some((word, names)) = text.split_once('=') else {
        return Err(format!("expected CATEGORY=NAME; the categories are {}", words()));
    };
    let Some((_, category)) = ActivityCategory::WORDS.into_iter().find(|(known, _)| *known == word.trim()) else {
        return Err(format!("`{}` is no category; the categories are {}", word.trim(), words()));
    };
    let (values, state_type) = match names.split_once(" of ") {
        Some((values, ty)) => (values, Some(NamePattern::new(ty.trim()))),
        None => (names, None),
    };
    if values.trim().is_empty() {
        return Err("the name after `=` is missing; `*` means all values".to_owned());
    }
    Ok(CategoryRule::new(category, NamePattern::new(values.trim()), state_type))
}

/// The text of a rule, as [`category`] parses it.
pub(crate) fn category_text(CategoryRule { category, values, state_type, .. }: &CategoryRule) -> String {
    let ty = state_type.as_ref().map(|ty| format!(" of {}", ty.as_str())).unwrap_or_default();
    format!("{}={}{ty}", category.word(), values.as_str())
}

/// Parses `NAME=VALUE`.
pub(crate) fn name_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
