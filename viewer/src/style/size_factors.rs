//! The effect of size styles in an image.
//!
//! A size is relative to the usual size of its kind: the height of a mark, the share of the usual
//! height of a state, the width of an arrow or curve. A strip of events is as high as its largest
//! marks need. A strip of states is no higher than its highest states. Both use all values of the
//! type, visible or not, so that rows do not move when time or values change.

use crate::query::{DrawStyle, PajeTypeKind, TypeId, TypeInfo, TypeModel};

/// Minimum and maximum of drawn sizes.
const DRAWN: (f32, f32) = (0.1, 4.0);
/// Usual height of a strip of events.
const EVENT_STRIP_HEIGHT: f32 = 10.0;
/// Usual size of a mark in a strip of events.
const MARK: f32 = 9.0;
/// Minimum size of a mark. A smaller one can be neither seen nor selected.
const MIN_MARK: f32 = 3.0;

/// The drawn size of a style.
pub(crate) fn size(style: DrawStyle) -> f32 {
    style.size.unwrap_or(1.0).clamp(DRAWN.0, DRAWN.1)
}

/// The relative height of a state. No state is higher than its row.
pub(crate) fn height(style: DrawStyle) -> f32 {
    size(style).min(1.0)
}

/// For each type, the factor of its strip's height: at most 1 for states, at least 1 for events.
pub(crate) fn factors(model: &TypeModel) -> Vec<f32> {
    let mut largest: Vec<Option<f32>> = vec![None; model.types.len()];
    for value in &model.values {
        if let Some(largest) = largest.get_mut(value.ty.index()) {
            *largest = Some(largest.unwrap_or(0.0).max(size(value.style)));
        }
    }
    let factor = |(ty, largest): (&TypeInfo, Option<f32>)| {
        let largest = largest.unwrap_or_else(|| size(ty.style));
        match ty.kind {
            PajeTypeKind::State => largest.min(1.0),
            PajeTypeKind::Event => largest.max(1.0),
            PajeTypeKind::Container | PajeTypeKind::Variable | PajeTypeKind::Link { .. } => 1.0,
        }
    };
    model.types.iter().zip(largest).map(factor).collect()
}

/// The factor of a strip of events of several types.
pub(crate) fn event_strip_factor(factors: &[f32], types: &[TypeId]) -> f32 {
    types.iter().filter_map(|ty| factors.get(ty.index())).fold(1.0, |largest, &factor| largest.max(factor))
}

/// The height of a strip of events with marks up to `factor` times as high as usual. Higher rows do
/// not have higher marks, so the strip grows only by the room that large marks need.
pub(crate) fn event_strip_height(factor: f32, scale: f32) -> f32 {
    EVENT_STRIP_HEIGHT * scale + MARK * (factor - 1.0) * scale.min(1.0)
}

/// The height of a mark in a strip of this height.
pub(crate) fn mark(strip_height: f32, factor: f32, style: DrawStyle) -> f32 {
    let growth = MARK * (factor - 1.0);
    let usual = if strip_height > EVENT_STRIP_HEIGHT + growth {
        strip_height - growth
    } else {
        EVENT_STRIP_HEIGHT * strip_height / (EVENT_STRIP_HEIGHT + growth)
    };
    ((usual - 1.5).clamp(MIN_MARK, MARK) * size(style)).max(MIN_MARK)
}
