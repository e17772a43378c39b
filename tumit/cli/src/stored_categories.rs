//! [`StoredCategories`]: the categories that the user chose on the page.

use tumit_perspectives::execution::categories::CategoryRule;
use tumit_viewer::query::TimelineSource;

use crate::term;

/// Whether a command uses the categories that the user chose on the page.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct StoredCategories {
    /// Leaves out the categories that were chosen on the page for traces with the same types;
    /// without this option, they apply before those of --category
    #[arg(long)]
    ignore_page_categories: bool,
}

impl StoredCategories {
    /// The rules of the page, and then those of the command. Reports that rules of the page apply.
    /// `source` is the trace without filters.
    pub(crate) fn rules_before(self, source: &dyn TimelineSource, given: &[CategoryRule]) -> Vec<CategoryRule> {
        if self.ignore_page_categories {
            return given.to_vec();
        }
        let mut rules = tumit_server::stored_category_rules(&source.model());
        if !rules.is_empty() {
            let values: Vec<&str> = rules.iter().map(|rule| rule.values.as_str()).collect();
            let verb = if values.len() == 1 { "the category of one state was" } else { "categories were" };
            term::note(&format!(
                "{verb} chosen on the page: {}; --ignore-page-categories leaves them out",
                name_list(&values)
            ));
        }
        rules.extend_from_slice(given);
        rules
    }
}

/// The first names of a list, and the number of the others.
fn name_list(names: &[&str]) -> String {
    /// Number of names that fit into one line.
    const NAMES: usize = 5;
    let rest = names.len().saturating_sub(NAMES);
    let shown = names.iter().take(NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
