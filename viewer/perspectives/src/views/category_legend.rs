//! The legend of the categories, and stacked bars with one part per category.

use tumit_paje::category::ActivityCategory;

use crate::chart::{BarPart, ChartPaint, LegendItem};
use crate::execution::Execution;
use crate::execution::categories::CategoryOrigin;

/// The paints of all categories that count.
pub(crate) fn legend() -> Vec<LegendItem> {
    let item = |category: ActivityCategory| LegendItem {
        paint: ChartPaint::Category(category),
        label: category.word().to_owned(),
    };
    ActivityCategory::COUNTED.into_iter().map(item).collect()
}

/// One part of a bar per category, stacked.
pub(crate) fn bar_parts(values: [f64; 3]) -> Vec<BarPart> {
    let part = |(category, value)| BarPart { paint: ChartPaint::Category(category), value };
    ActivityCategory::COUNTED.into_iter().zip(values).map(part).collect()
}

/// A note about categories that are guessed from names.
pub(crate) fn guess_note(execution: &Execution) -> Option<String> {
    let (categories, types) = (execution.categories(), &execution.units().state_types);
    let values = execution.model().values.iter().filter(|value| types.contains(&value.ty));
    let origins: Vec<CategoryOrigin> = values.map(|value| categories.get(value.id).origin).collect();
    let guesses = origins.iter().filter(|origin| **origin == CategoryOrigin::Guess).count();
    match (guesses, origins.len()) {
        (0, _) => None,
        (guesses, all) if guesses == all => {
            Some("The categories of all values are guessed from their names.".to_owned())
        }
        (guesses, all) => Some(format!("The categories of {guesses} of {all} values are guessed from their names.")),
    }
}
