//! The categories that users assigned to the values of a model, in the user's cache folder. The
//! next run of a program has the same categories.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tumit_paje::category::ActivityCategory;
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::generated_file::FileKind;
use tumit_viewer::query::{TypeModel, ValueId};

use super::user_files::{cache, model_file, read, write};
use crate::type_names::ValuePath;

const CATEGORIES: FileKind = FileKind {
    name: "file of categories",
    fits: |text| serde_json::from_str::<Value>(text).is_ok_and(|value| value["format"] == "tumit-categories"),
};

#[derive(Debug, Serialize, Deserialize)]
struct CategoryFile {
    format: String,
    categories: Vec<(ValuePath, String)>,
}

/// A value by its number, and the word of its category.
pub(crate) type AssignedCategory = (u32, String);

/// The rules of assigned categories.
pub(crate) fn category_rules(categories: &[AssignedCategory], model: &TypeModel) -> Vec<CategoryRule> {
    let rule = |(value, word): &AssignedCategory| {
        let (_, category) = ActivityCategory::WORDS.iter().find(|(known, _)| known == word)?;
        let value = model.values.get(*value as usize)?;
        let state_type = model.types.get(value.ty.index()).map(|ty| NamePattern::new(ty.name.clone()));
        Some(CategoryRule::new(*category, NamePattern::new(value.name.clone()), state_type))
    };
    categories.iter().filter_map(rule).collect()
}

/// The rules of the categories that the user assigned on the page to the states of a trace, by
/// earlier use of this or another trace with the same types. `model` is that of the trace without
/// filters.
pub fn stored_category_rules(model: &TypeModel) -> Vec<CategoryRule> {
    category_rules(&ModelCategories::default().read(model), model)
}

/// The assigned categories of all models.
#[derive(Debug)]
pub(crate) struct ModelCategories {
    folder: Option<PathBuf>,
}

impl Default for ModelCategories {
    fn default() -> Self {
        Self { folder: cache().map(|cache| cache.join("categories")) }
    }
}

impl ModelCategories {
    /// The assigned categories of the values that a model has.
    pub(crate) fn read(&self, model: &TypeModel) -> Vec<AssignedCategory> {
        let text = self.folder.as_ref().and_then(|folder| read(&model_file(folder, model)).ok());
        let file: Option<CategoryFile> = text.and_then(|text| serde_json::from_str(&text).ok());
        let Some(file) = file.filter(|file| file.format == "tumit-categories") else { return Vec::new() };
        let known = |(path, word): (ValuePath, String)| Some((path.find(model)?.id.0, word));
        file.categories.into_iter().filter_map(known).collect()
    }

    /// Saves the assigned categories of a model. Without any, removes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, model: &TypeModel, assigned: Vec<AssignedCategory>) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = model_file(folder, model);
        let is_category = |word: &str| ActivityCategory::WORDS.iter().any(|(known, _)| *known == word);
        let named = |(value, word): AssignedCategory| Some((ValuePath::of(model, ValueId(value))?, word));
        let known = assigned.into_iter().filter(|(_, word)| is_category(word));
        let categories: Vec<(ValuePath, String)> = known.filter_map(named).collect();
        if categories.is_empty() {
            return CATEGORIES.remove(&path).or(Ok(()));
        }
        let file = CategoryFile { format: "tumit-categories".to_owned(), categories };
        write(CATEGORIES, &path, &serde_json::to_string(&file).map_err(io::Error::other)?)
    }
}

#[cfg(test)]
mod tests {
    use super::ModelCategories;
    use tumit_test_support::table_trace::example_program;
    use tumit_viewer::query::TimelineSource as _;

    #[test]
    fn categories_are_found_again_by_the_names_of_their_values() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let categories = ModelCategories { folder: Some(folder.path().join("categories")) };
        let model = example_program(1, 2, 3).model();
        assert!(categories.read(&model).is_empty());
        let assigned =
            vec![(0, "idle".to_owned()), (1, "busy".to_owned()), (9999, "busy".to_owned()), (1, "odd".to_owned())];
        categories.write(&model, assigned.clone()).expect("the file can be written");
        assert_eq!(categories.read(&model), assigned[..2]);
        categories.write(&model, Vec::new()).expect("the file can be removed");
        assert!(categories.read(&model).is_empty());
    }
}
