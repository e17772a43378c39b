//! [`FillPattern`]: lines in areas of monochrome images, as on `ParaGraph`'s monochrome screens.

use tumit_paje::RgbColor;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::scene::{OutlineRect, SceneGroup, SceneItem, SceneLine};
use tumit_viewer::style::theme::{ColorTheme, ColorWithOpacity};

use super::chart_palette::TASK_GREYS;
use crate::chart::ChartPaint;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FillPattern {
    /// No lines.
    Plain,
    /// Lines that rise to the right.
    Rising,
    /// Lines that fall to the right.
    Falling,
    Horizontal,
    Vertical,
    /// Rising and falling lines.
    Crossed,
    /// Horizontal and vertical lines.
    Grid,
    /// Pairs of horizontal lines.
    Paired,
}

/// Distance of lines in scene units. Closer lines look grey, and small areas miss wider ones.
const SPACING: f32 = 5.0;
/// Distance of the two lines of a pair.
const PAIR: f32 = 2.0;

/// The least width and height of an area with a pattern.
const LEAST_SIDE: f32 = 3.0;
/// The opacity of the lines, so that the grey below them is visible.
const LINE_ALPHA: f32 = 0.55;
const LINE_WIDTH: f32 = 0.8;

impl FillPattern {
    /// Whether the pattern is visible in a rectangle.
    pub(super) fn is_visible_in(self, frame: OutlineRect) -> bool {
        self != Self::Plain && frame.width >= LEAST_SIDE && frame.height >= LEAST_SIDE
    }

    pub(super) fn of(paint: ChartPaint) -> Self {
        const TASKS: [FillPattern; TASK_GREYS] = [
            FillPattern::Plain,
            FillPattern::Rising,
            FillPattern::Horizontal,
            FillPattern::Falling,
            FillPattern::Crossed,
            FillPattern::Vertical,
            FillPattern::Grid,
            FillPattern::Paired,
        ];
        match paint {
            ChartPaint::Category(ActivityCategory::Overhead) => Self::Rising,
            ChartPaint::Task(number) => TASKS[number as usize % TASKS.len()],
            ChartPaint::Series(number) => TASKS[usize::from(number) % TASKS.len()],
            _ => Self::Plain,
        }
    }
}

/// The lines of a pattern in a rectangle of a colour.
pub(super) fn group(pattern: FillPattern, frame: OutlineRect, color: RgbColor) -> SceneItem {
    let paint = ColorWithOpacity::with_alpha(ColorTheme::text_on(color), LINE_ALPHA);
    let line = |(from, to)| SceneItem::Line(SceneLine { from, to, width: LINE_WIDTH, paint });
    let items = lines(pattern, frame).into_iter().map(line).collect();
    SceneItem::Group(SceneGroup { name: String::new(), x: 0.0, y: 0.0, window: Some(frame), items })
}

/// The lines of a pattern over a rectangle. They extend beyond it.
fn lines(pattern: FillPattern, frame: OutlineRect) -> Vec<((f32, f32), (f32, f32))> {
    let (left, top, right, bottom) = (frame.x, frame.y, frame.right(), frame.bottom());
    // Lines of adjacent rectangles continue each other.
    let first = |from: f32| (from / SPACING).floor() * SPACING;
    let steps = |from: f32, to: f32| {
        std::iter::successors(Some(first(from)), |position| Some(position + SPACING))
            .take_while(move |position| *position <= to)
            .take(2000)
    };
    let height = frame.height;
    let rising = || steps(left + top, right + bottom).map(move |sum| ((sum - top, top), (sum - bottom, bottom)));
    let falling = || {
        steps(left - bottom, right - top)
            .map(move |difference| ((difference + top, top), (difference + top + height, bottom)))
    };
    let horizontal = || steps(top, bottom).map(move |y| ((left, y), (right, y)));
    let vertical = || steps(left, right).map(move |x| ((x, top), (x, bottom)));
    match pattern {
        FillPattern::Plain => Vec::new(),
        FillPattern::Rising => rising().collect(),
        FillPattern::Falling => falling().collect(),
        FillPattern::Crossed => rising().chain(falling()).collect(),
        FillPattern::Horizontal => horizontal().collect(),
        FillPattern::Vertical => vertical().collect(),
        FillPattern::Grid => horizontal().chain(vertical()).collect(),
        FillPattern::Paired => horizontal()
            .filter(|line| (line.0.1 / SPACING).round() % 2.0 == 0.0)
            .flat_map(|line| [line, ((left, line.0.1 + PAIR), (right, line.0.1 + PAIR))])
            .collect(),
    }
}
