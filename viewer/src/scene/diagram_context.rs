//! [`DiagramContext`]: the inputs of drawing, and the values that are computed once per image.

use std::borrow::Cow;
use std::sync::Arc;

use tumit_paje::{DrawStyle, RgbColor};

use super::bidi_isolate::isolate_name;
use super::primitives::{MixtureColumns, OTHERS, OutlineRect, SceneCells, SceneItem};
use super::value_palette::ValuePalette;
use crate::layout::scale::TimeScale;
use crate::layout::{LayoutOptions, RowLayout};
use crate::query::{GlobalNanos, TimeRange, TimelineSource, TypeId, TypeModel, ValueId};
use crate::style::size_factors;
use crate::style::theme::{ColorTheme, ColorWithOpacity};
use crate::text::time_display::{duration, timestamp};

/// Maximum number of names in the path of a row.
const MAX_NAMES: usize = 32;

/// The visible range of time and rows, and the resolution of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// The time from the left edge to the right edge.
    pub time_range: TimeRange,
    /// The width of the time range in scene units.
    pub width: f32,
    /// The upper end of the visible rows.
    pub top: f32,
    /// The lower end of the visible rows.
    pub bottom: f32,
    /// Pixels per scene unit. Edges lie on pixels, and mixtures are exact per pixel column.
    pub resolution: f32,
    /// Whether entities have sentences for an SVG's `<title>`.
    pub titles: bool,
    /// Whether a row of many containers may show the mean of the shares that their own rows would
    /// show.
    /// This is faster than the mean of all shares. [`Scene::is_quick`](super::Scene::is_quick)
    /// reports whether a row does.
    pub is_quick: bool,
}

/// The inputs of drawing.
pub(crate) struct DiagramContext<'a> {
    pub(crate) source: &'a dyn TimelineSource,
    pub(crate) model: Arc<TypeModel>,
    pub(crate) layout: &'a RowLayout,
    pub(crate) options: &'a LayoutOptions,
    pub(crate) theme: ColorTheme,
    pub(crate) view: Viewport,
    pub(crate) scale: TimeScale,
    /// The colour of each value that is not dimmed.
    colors: Vec<RgbColor>,
    /// For each type, the factor of its strip's height relative to the usual height.
    factors: Vec<f32>,
    /// For each value, the share of the strip's height that its states have. `None` if all states
    /// have the full height.
    heights: Option<Vec<f32>>,
    /// The enclosing row of each row.
    enclosing_rows: Vec<Option<usize>>,
}

impl<'a> DiagramContext<'a> {
    pub(crate) fn new(
        source: &'a dyn TimelineSource,
        layout: &'a RowLayout,
        options: &'a LayoutOptions,
        view: Viewport,
    ) -> Self {
        // An empty time range is drawn as its first nanosecond.
        let time_range = TimeRange {
            to: GlobalNanos(view.time_range.to.0.max(view.time_range.from.0.saturating_add(1))),
            ..view.time_range
        };
        let view = Viewport { time_range, ..view };
        let (model, theme) = (source.model(), ColorTheme::new(options.theme));
        let factors = size_factors::factors(&model);
        let heights = model
            .values
            .iter()
            .map(|value| size_factors::height(value.style) / factors.get(value.ty.index()).copied().unwrap_or(1.0));
        let heights: Vec<f32> = heights.collect();
        Self {
            source,
            colors: model.values.iter().map(|value| theme.fill(value.color)).collect(),
            factors,
            heights: heights.iter().any(|&height| height < 1.0).then_some(heights),
            model,
            layout,
            options,
            theme,
            view,
            scale: TimeScale { time_range, width: view.width },
            enclosing_rows: outer_rows(layout.rows.iter().map(|row| row.depth)),
        }
    }

    /// Number of pixel columns of the image.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of pixels is small")]
    pub(crate) fn pixels(&self) -> usize {
        (self.view.width * self.view.resolution).round().clamp(1.0, 65_536.0) as usize
    }

    /// Number of columns to query: one per pixel, but none narrower than a nanosecond.
    pub(crate) fn columns(&self) -> u32 {
        let max_columns = u32::try_from(self.scale.nanos()).unwrap_or(u32::MAX);
        u32::try_from(self.pixels()).unwrap_or(u32::MAX).min(max_columns)
    }

    /// The colour of a value, grey when it is dimmed.
    pub(crate) fn color(&self, value: ValueId) -> RgbColor {
        if value == OTHERS {
            return self.theme.small_values_color();
        }
        if self.options.dimmed_values.contains(&value) {
            return self.theme.grid;
        }
        self.colors.get(value.index()).copied().unwrap_or(self.theme.faint_color)
    }

    /// The shape and size of a value.
    pub(crate) fn style_of(&self, value: ValueId) -> DrawStyle {
        self.model.values.get(value.index()).map_or(DrawStyle::NONE, |value| value.style)
    }

    /// The factor of the height of a strip of events of these types relative to the usual height.
    pub(crate) fn event_strip_factor(&self, types: &[TypeId]) -> f32 {
        size_factors::event_strip_factor(&self.factors, types)
    }

    /// The share of the strip's height that a state of this value has.
    pub(crate) fn height(&self, value: ValueId) -> f32 {
        self.heights.as_ref().and_then(|heights| heights.get(value.index())).map_or(1.0, |&height| height.min(1.0))
    }

    pub(crate) fn name(&self, value: ValueId) -> &str {
        if value == OTHERS {
            return "others";
        }
        self.model.values.get(value.index()).map_or("?", |value| &value.name)
    }

    /// A fill in the colour of a value.
    pub(crate) fn fill(&self, value: ValueId) -> ColorWithOpacity {
        ColorWithOpacity::from_opaque(self.color(value))
    }

    /// The tooltip of an entity in an SVG, if tooltips are on.
    pub(crate) fn title(&self, name: &str, life: TimeRange, row: usize) -> Option<String> {
        self.view.titles.then(|| self.sentence(&isolate_name(name), life, row))
    }

    /// A sentence with the name, path and timestamps of an entity.
    pub(crate) fn sentence(&self, name: &str, life: TimeRange, row: usize) -> String {
        let nanos = life.to.0.saturating_sub(life.from.0);
        let path = self.path(row);
        if nanos == 0 {
            return format!("{name}, {path}, at {}", timestamp(life.from, 1));
        }
        let resolution = (nanos / 1000).max(1);
        let (from, to) = (timestamp(life.from, resolution), timestamp(life.to, resolution));
        format!("{name}, {path}, {from} to {to} ({})", duration(nanos))
    }

    /// Names of the containers of a row, outermost first. Only the innermost ones of many are
    /// named, because the titles of a long chain of rows would grow with the square of its length.
    fn path(&self, row: usize) -> String {
        let mut names = Vec::new();
        let mut next = Some(row);
        while let Some(row_index) = next.filter(|&row_index| row_index < self.layout.rows.len()) {
            if names.len() == MAX_NAMES {
                names.push(Cow::Borrowed("…"));
                break;
            }
            names.push(isolate_name(&self.layout.rows[row_index].name));
            next = self.enclosing_rows[row_index];
        }
        names.reverse();
        names.join(" › ")
    }

    /// Creates a primitive from columns of values and shares. `None` if all columns are empty.
    pub(crate) fn cells(&self, frame: OutlineRect, columns: &MixtureColumns<ValueId>) -> Option<SceneItem> {
        let palette = ValuePalette::new(columns.parts().iter().map(|part| part.0), self.colors.len());
        let values = palette.values();
        if values.is_empty() {
            return None;
        }
        let colors = values.iter().map(|&value| self.color(value)).collect();
        let mut place_columns = MixtureColumns::with_room(columns.len(), columns.parts().len());
        // Place and share are packed into one number, which sorts faster.
        let (mut column, mut last): (Vec<u64>, &[_]) = (Vec::new(), &[]);
        let as_one = |&(value, share): &(ValueId, f32)| {
            // A value with a reduced height has the same reduced height in a mixture.
            let share = if self.heights.is_some() { share * self.height(value) } else { share };
            u64::from(palette.place(value)) << 32 | u64::from(share.to_bits())
        };
        for parts in columns.iter() {
            // Many columns equal the one before.
            if parts != std::mem::replace(&mut last, parts) {
                column.clear();
                column.extend(parts.iter().map(as_one));
                column.sort_unstable();
            }
            #[expect(clippy::cast_possible_truncation, reason = "split in the order in which it was joined")]
            place_columns.push(column.iter().map(|&part| ((part >> 32) as u16, f32::from_bits(part as u32))));
        }
        Some(SceneItem::Cells(SceneCells { frame, palette: colors, values, columns: place_columns }))
    }
}

/// The enclosing row of each row: the last row before it with a smaller depth.
fn outer_rows(depths: impl Iterator<Item = u32>) -> Vec<Option<usize>> {
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut enclosing_rows = Vec::new();
    for (row_index, depth) in depths.enumerate() {
        while open.pop_if(|last| last.0 >= depth).is_some() {}
        enclosing_rows.push(open.last().map(|last| last.1));
        open.push((depth, row_index));
    }
    enclosing_rows
}

#[cfg(test)]
mod tests {
    use super::outer_rows;

    #[test]
    fn outer_rows_are_less_deep() {
        let outer = outer_rows([0, 1, 2, 2, 1, 0, 2].into_iter());
        assert_eq!(outer, [None, Some(0), Some(1), Some(1), Some(0), None, Some(5)]);
    }
}
