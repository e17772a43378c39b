//! What sizes mean in a picture.
//!
//! A size is relative to the usual one of its kind: of a mark its height, of a state its share of the usual height, of an arrow or curve its
//! width. A band of events is as high as its largest marks need, a strip of states no higher than its highest states: both for
//! all values of the type, whichever are seen, so that rows stay where they are when time or values change.

use crate::query::{Look, Model, TypeId, TypeInfo, TypeKind};

/// Sizes are drawn between these.
const DRAWN: (f32, f32) = (0.1, 4.0);
/// Usual height of a band of events, and of its marks.
const BAND: f32 = 10.0;
const MARK: f32 = 9.0;
/// A mark smaller than this cannot be seen, nor pointed at.
const LEAST_MARK: f32 = 3.0;

/// A size as it is drawn.
pub(crate) fn size(look: Look) -> f32 {
    look.size.unwrap_or(1.0).clamp(DRAWN.0, DRAWN.1)
}

/// A state's size: none is higher than its row.
pub(crate) fn height(look: Look) -> f32 {
    size(look).min(1.0)
}

/// For each type, by which factor its strip differs from the usual height: at most 1 for states, at least 1 for events.
pub(crate) fn factors(model: &Model) -> Vec<f32> {
    let mut largest: Vec<Option<f32>> = vec![None; model.types.len()];
    for value in &model.values {
        if let Some(largest) = largest.get_mut(value.ty.index()) {
            *largest = Some(largest.unwrap_or(0.0).max(size(value.look)));
        }
    }
    let factor = |(ty, largest): (&TypeInfo, Option<f32>)| {
        let largest = largest.unwrap_or_else(|| size(ty.look));
        match ty.kind {
            TypeKind::State => largest.min(1.0),
            TypeKind::Event => largest.max(1.0),
            TypeKind::Container | TypeKind::Variable | TypeKind::Link { .. } => 1.0,
        }
    };
    model.types.iter().zip(largest).map(factor).collect()
}

/// The factor of a band of events of several types.
pub(crate) fn of_band(factors: &[f32], types: &[TypeId]) -> f32 {
    types.iter().filter_map(|ty| factors.get(ty.index())).fold(1.0, |largest, &factor| largest.max(factor))
}

/// The height of a band of events whose marks are up to so many times as high as usual. Where rows are higher than usual, marks are not: it
/// grows by what large ones need, and no more.
pub(crate) fn band(factor: f32, scale: f32) -> f32 {
    BAND * scale + MARK * (factor - 1.0) * scale.min(1.0)
}

/// The height of a mark in such a band.
pub(crate) fn mark(band: f32, factor: f32, look: Look) -> f32 {
    let more = MARK * (factor - 1.0);
    let usual = if band > BAND + more { band - more } else { BAND * band / (BAND + more) };
    ((usual - 1.5).clamp(LEAST_MARK, MARK) * size(look)).max(LEAST_MARK)
}
