//! [`CardFile`]: a view defined by a text file, without a program.

use std::sync::Arc;

use toml::de::DeTable;

use super::card_fault::CardFault;
use super::card_panel::{CardPanel, PanelContents};
use super::card_table::CardTable;
use super::card_text::CardText;
use crate::view::{TimeMode, ViewGroup};

/// Maximum size of a card file in bytes. Written files are smaller, and an upload of the page
/// cannot fill the disk.
pub(super) const MAX_CARD_BYTES: usize = 256 * 1024;
/// Maximum number of panels. More panels would be too small in a card.
const MAX_PANELS: usize = 12;

/// A view defined by a text file in the format TOML.
///
/// ```
/// use tumit_perspectives::cards::CardFile;
///
/// let text = r#"
///     title = "Waiting threads"
///     [[panel]]
///     kind = "levels"
///     [[panel.series]]
///     of = "states"
///     value = "Wait*"
/// "#;
/// let card = CardFile::parse("waiting.card.toml", text)?;
/// assert_eq!((card.name(), card.title()), ("card-waiting", "Waiting threads"));
///
/// let fault = CardFile::parse("waiting.card.toml", &text.replace("title", "titel")).unwrap_err();
/// assert_eq!(fault.line, 2);
/// assert!(fault.to_string().ends_with("did you mean `title`?"));
/// # Ok::<(), tumit_perspectives::cards::CardFault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CardFile {
    /// The name of the file, without its folder.
    pub(super) file: Arc<str>,
    name: String,
    title: String,
    pub(super) summary: String,
    pub(super) group: ViewGroup,
    pub(super) modes: Vec<TimeMode>,
    pub(super) panels: Vec<CardPanel>,
}

/// The end of the names of card files.
pub const CARD_ENDING: &str = ".card.toml";

/// The name of the view of a file: `card-sort` for `sort.card.toml`.
pub fn card_name(file: &str) -> String {
    let stem = file.strip_suffix(CARD_ENDING).or_else(|| file.strip_suffix(".toml")).unwrap_or(file);
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    format!("card-{}", stem.chars().map(plain).collect::<String>())
}

impl CardFile {
    /// Parses the text of a file. `file` is its name, without its folder.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self, CardFault> {
        let all = CardText { file, text };
        if text.len() > MAX_CARD_BYTES {
            return Err(all.fault(&(0..0), format!("the file has more than {MAX_CARD_BYTES} bytes")));
        }
        let table = DeTable::parse(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            all.fault(&error.span().unwrap_or(0..0), format!("this is not TOML: {message}"))
        })?;
        let table = CardTable::new(all, table.get_ref(), "a card", &(0..0));
        table.expect_keys(&["title", "summary", "group", "time", "panel"])?;
        let title = table.required_name("title", "title = \"Sort\"")?;
        let groups: Vec<(&str, ViewGroup)> = ViewGroup::NAMES.to_vec();
        let words = TimeMode::WORDS;
        let mut modes = table.words("time", &words)?;
        let panels = table.tables("panel", "panel", MAX_PANELS)?;
        let panels = panels.iter().map(CardPanel::read).collect::<Result<Vec<_>, _>>()?;
        if modes.is_empty() {
            modes = default_modes(&panels);
        }
        modes.dedup();
        Ok(Self {
            file: file.into(),
            name: card_name(file),
            title,
            summary: table.text_or_empty("summary")?,
            group: table.word("group", &groups)?.unwrap_or(ViewGroup::User),
            modes,
            panels,
        })
    }

    /// The name of its view, such as `card-sort` for the file `sort.card.toml`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The names of the options that its panels have.
    pub(super) fn options(&self) -> Vec<&'static str> {
        let mut options = Vec::new();
        if self.panels.iter().any(|panel| matches!(panel.contents, PanelContents::Bars { .. })) {
            options.push("order");
        }
        if self.modes.contains(&TimeMode::Moving) {
            options.push("width");
        }
        options
    }
}

/// The time cursor if a panel of elements shows it, otherwise the time range.
fn default_modes(panels: &[CardPanel]) -> Vec<TimeMode> {
    let has_elements = panels.iter().any(|panel| matches!(panel.contents, PanelContents::Elements(_)));
    if has_elements { vec![TimeMode::At] } else { vec![TimeMode::Range, TimeMode::At, TimeMode::Moving] }
}
