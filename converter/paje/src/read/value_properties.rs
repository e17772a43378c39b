//! Reads the colour, style and category of a definition.

use super::event_definitions::FieldRole;
use super::faults::FaultKind;
use super::number;
use super::operations::{DefinedLine, ReadState};
use crate::category::ActivityCategory;
use crate::{DrawStyle, RgbColor};

impl ReadState {
    pub(super) fn color(&mut self, input: &DefinedLine<'_>) -> Option<RgbColor> {
        let word = input.get(FieldRole::Color)?;
        let Ok(color) = number::color(word) else { return self.fault(FaultKind::Color, input, word) };
        let number::ParsedColor { color, is_wide } = color?;
        if is_wide {
            self.faults.count(FaultKind::WideColor, input.line, word);
        }
        Some(color)
    }

    pub(super) fn read_style(&mut self, input: &DefinedLine<'_>) -> DrawStyle {
        // One definition may serve values with and without a style. An empty word means no style.
        let word = |role| input.get(role).map(str::trim).filter(|word| !word.is_empty());
        let (shape, size) = (word(FieldRole::Shape), word(FieldRole::Size));
        let style = DrawStyle {
            shape: shape.and_then(|word| word.parse().ok()),
            size: size.and_then(number::float).and_then(|size| DrawStyle::checked_size(size.value)),
        };
        for word in
            [shape.filter(|_| style.shape.is_none()), size.filter(|_| style.size.is_none())].into_iter().flatten()
        {
            self.faults.count(FaultKind::Style, input.line, word);
        }
        style
    }

    pub(super) fn read_category(&mut self, input: &DefinedLine<'_>) -> Option<ActivityCategory> {
        let word = input.get(FieldRole::Category).map(str::trim).filter(|word| !word.is_empty())?;
        match word.parse() {
            Ok(category) => Some(category),
            Err(()) => self.fault(FaultKind::Category, input, word),
        }
    }
}
