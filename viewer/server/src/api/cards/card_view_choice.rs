//! [`CardViewKind`]: the view of a card, by its name.

use std::path::Path;

use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::gallery;
use tumit_perspectives::view::{PerspectiveView, ViewInfo};

use super::card_error::CardError;
use crate::user_data::own_views::{OwnViews, SharedView};

/// The views of a user for a trace.
#[derive(Clone, Copy)]
pub(super) struct ChoiceOfViews<'a> {
    pub(super) own_views: &'a OwnViews,
    /// The path of the trace, if it is read from one.
    pub(super) path: Option<&'a Path>,
}

pub(super) enum CardViewKind {
    Chart(&'static dyn PerspectiveView),
    Own(SharedView),
    Diagram(DiagramMode),
}

impl ChoiceOfViews<'_> {
    pub(super) fn view(self, name: &str) -> Result<CardViewKind, CardError> {
        if let Some(mode) = DiagramMode::of_name(name) {
            return Ok(CardViewKind::Diagram(mode));
        }
        match self.own_views.view(name, self.path) {
            Ok(Some(view)) => Ok(CardViewKind::Own(view)),
            Ok(None) => Ok(CardViewKind::Chart(gallery::view(name)?)),
            Err(error) => Err(CardError::new(error.to_string(), "Correct the file, then choose the card again.")),
        }
    }
}

impl CardViewKind {
    pub(super) fn info(&self) -> ViewInfo<'_> {
        match self {
            Self::Chart(view) => view.info(),
            Self::Own(view) => view.info(),
            Self::Diagram(mode) => mode.info(),
        }
    }
}
