//! [`CardError`]: the reason why a card has no drawing, with the remedy.

use serde_json::{Value, json};
use tumit_perspectives::error::PerspectiveError;
use tumit_viewer::query::QueryError;

/// The reason why a card has no drawing, and the remedy.
#[derive(Clone, Debug)]
pub(crate) struct CardError {
    reason: String,
    remedy: String,
}

impl CardError {
    pub(crate) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into() }
    }

    /// The reason and the remedy.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.reason, self.remedy).trim_end().to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "error": self.reason, "remedy": self.remedy })
    }
}

impl From<PerspectiveError> for CardError {
    fn from(error: PerspectiveError) -> Self {
        match error {
            PerspectiveError::NoData { missing_data, remedy } => Self::new(
                format!("The view needs {missing_data}, but the trace has none."),
                format!("{}.", capitalize(&page_text(&remedy))),
            ),
            PerspectiveError::File { path, problem } => Self::new(format!("{path}: {}.", page_text(&problem)), ""),
            error => Self::new(format!("{}.", capitalize(&page_text(&error.to_string()))), ""),
        }
    }
}

impl From<QueryError> for CardError {
    fn from(error: QueryError) -> Self {
        Self::new(format!("{}.", capitalize(&error.to_string())), "")
    }
}

/// A text about options of the command, for the page: `--option level=TYPE` is the option “Level”.
fn page_text(text: &str) -> String {
    let mut parts = text.split("`--option ");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (option, rest) = part.split_once('`').unwrap_or((part, ""));
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let is_placeholder = value.chars().all(char::is_uppercase);
        // The page writes the names of options with a capital letter.
        page.push_str(&format!("the option “{}”", capitalize(name)));
        if !is_placeholder {
            page.push_str(&format!(" with the value “{value}”"));
        }
        page.push_str(rest);
    }
    page
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use tumit_perspectives::error::PerspectiveError;

    use super::CardError;

    #[test]
    fn remedies_name_the_options_of_the_page() {
        let missing_data = "states".to_owned();
        let remedy = "choose a level with states by `--option level=TYPE`".to_owned();
        let error = CardError::from(PerspectiveError::NoData { missing_data, remedy });
        assert_eq!(error.json()["error"], "The view needs states, but the trace has none.");
        assert_eq!(error.json()["remedy"], "Choose a level with states by the option “Level”.");
        assert_eq!(
            super::page_text("by `--option measure=messages`, or record"),
            "by the option “Measure” with the value “messages”, or record"
        );
    }
}
