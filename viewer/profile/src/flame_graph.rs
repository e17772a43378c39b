//! The flame graph of a call tree: a bar for each path of calls, below that of its caller.

use tumit_viewer::query::RgbColor;
use tumit_viewer::scene::{FilledRect, OutlineRect, Scene, SceneItem, SceneText, TextAnchor};
use tumit_viewer::style::theme::font::{self, FontWeight};
use tumit_viewer::style::theme::{ColorTheme, ColorWithOpacity, ThemeKind, mix, rgb};
use tumit_viewer::text::time_display::{duration, group_digits};

use crate::call_tree::{CallTree, ROOT};
use crate::difference::ProfileDifference;
use crate::value_names::ValueNames;

// All sizes and distances are in scene units.

/// The empty border.
const MARGIN: f32 = 24.0;
/// Height of the title and the line below it.
const HEADING: f32 = 52.0;
/// Height of a bar, with the gap below it.
const BAR: f32 = 20.0;
/// The gap between bars.
const GAP: f32 = 1.0;
/// Size of the names.
const NAME_SIZE: f32 = 11.5;
/// The distance of a name from the edges of its bar.
const PADDING: f32 = 4.0;
/// Adjacent callees that are narrower share a grey bar.
const LEAST_WIDTH: f32 = 0.5;

/// Maximum number of levels. Deeper calls are not drawn, because an image of thousands of levels
/// cannot be read.
const MAX_LEVELS: usize = 200;

/// The size and the texts of a flame graph.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct FlameGraphOptions {
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// Width in scene units.
    pub width: f32,
    pub theme: ThemeKind,
}

/// A bar of the graph.
struct FlameBar {
    node: usize,
    x: f32,
    width: f32,
    level: usize,
}

/// The bars of all nodes that are wide enough, and the grey bars of the others as (x, width,
/// level).
fn bars(tree: &CallTree, width: f32) -> (Vec<FlameBar>, Vec<(f32, f32, usize)>) {
    let callees = tree.sorted_callees();
    let total = tree.nodes()[ROOT].total.max(1) as f64;
    let (mut bars, mut small_bars) = (Vec::new(), Vec::new());
    let mut pending = vec![(ROOT, 0.0_f32, 0_usize)];
    while let Some((caller, x, level)) = pending.pop() {
        let mut left = x;
        let mut small_width = 0.0;
        for &node in &callees[caller] {
            let bar_width = (tree.nodes()[node as usize].total as f64 / total * f64::from(width)) as f32;
            // Callees are sorted, so all narrow ones follow the wide ones.
            if bar_width < LEAST_WIDTH {
                small_width += bar_width;
                continue;
            }
            bars.push(FlameBar { node: node as usize, x: left, width: bar_width, level });
            if level + 1 < MAX_LEVELS {
                pending.push((node as usize, left, level + 1));
            }
            left += bar_width;
        }
        if small_width >= LEAST_WIDTH {
            small_bars.push((left, small_width, level));
        }
    }
    (bars, small_bars)
}

/// Draws the flame graph. The width of a bar is the total time of its calls. Narrow bars are summed
/// up in grey ones. At most 200 levels are drawn. The cost is proportional to the number of nodes.
pub fn flame_graph(tree: &CallTree, names: &ValueNames, options: &FlameGraphOptions) -> Scene {
    let theme = ColorTheme::new(options.theme);
    let style = |index: usize| {
        let name = names.text(tree.nodes()[index].name);
        let fill = theme.with_contrast(theme.fill(names.color(tree.nodes()[index].name)));
        BarStyle { name, fill, title: bar_title(tree, index, name) }
    };
    scene(tree, &style, &theme, options)
}

/// Draws the flame graph of the second trace of a comparison. The colour of a bar is the change of
/// the time of its calls: orange if they take more time than in the first trace, blue if they take
/// less, grey if the change is below 5 %.
pub fn difference_flame_graph(difference: &ProfileDifference, options: &FlameGraphOptions) -> Scene {
    let theme = ColorTheme::new(options.theme);
    let (before, after) = (&difference.tree_before, &difference.tree_after);
    let style = |index: usize| {
        let name = difference.text(after.nodes()[index].name);
        let totals = [before.nodes()[index].total, after.nodes()[index].total];
        let time = i64::try_from(totals[0]).unwrap_or(i64::MAX);
        let title = format!("{}, before: {}", bar_title(after, index, name), duration(time));
        BarStyle { name, fill: change_color(totals), title }
    };
    scene(after, &style, &theme, options)
}

/// The colours of a comparison. They differ for colour-blind readers.
const MORE_TIME: RgbColor = rgb(0xd5_5e_00);
const LESS_TIME: RgbColor = rgb(0x00_72_b2);
const SAME_TIME: RgbColor = rgb(0xc4_c9_d0);
/// The largest change that is drawn as none.
const NO_CHANGE: f32 = 0.05;

/// The colour of a change from the first time to the second one.
fn change_color([before, after]: [i128; 2]) -> RgbColor {
    let change = (after - before) as f32 / before.max(after).max(1) as f32;
    if change.abs() < NO_CHANGE {
        return SAME_TIME;
    }
    let color = if change > 0.0 { MORE_TIME } else { LESS_TIME };
    // A small change is still visible.
    let strength = 0.35 + 0.65 * change.abs().min(1.0);
    mix([(color, strength), (SAME_TIME, 1.0 - strength)]).unwrap_or(color)
}

/// The texts and the colour of a bar.
struct BarStyle<'a> {
    name: &'a str,
    fill: RgbColor,
    /// The tooltip.
    title: String,
}

fn scene<'a>(
    tree: &CallTree,
    style: &dyn Fn(usize) -> BarStyle<'a>,
    theme: &ColorTheme,
    options: &FlameGraphOptions,
) -> Scene {
    let width = (options.width - 2.0 * MARGIN).max(1.0);
    let (bars, small_bars) = bars(tree, width);
    let levels = bars.iter().map(|bar| bar.level + 1).max().unwrap_or(0);
    let mut items = Vec::with_capacity(2 * bars.len() + small_bars.len() + 2);
    let heading = |text: &str, y: f32, size: f32, weight: FontWeight| {
        SceneItem::Text(SceneText {
            position: (MARGIN, y),
            text: font::fit(text, size, weight, width).unwrap_or_default(),
            size,
            weight,
            anchor: TextAnchor::Start,
            fill: ColorWithOpacity::from_opaque(theme.ink),
        })
    };
    items.push(heading(&options.title, MARGIN + 14.0, 18.0, FontWeight::SemiBold));
    items.push(heading(&options.subtitle, MARGIN + 34.0, 12.5, FontWeight::Regular));
    items.extend(small_bars.into_iter().map(|bar| small_bar(bar, theme)));
    bars.iter().for_each(|bar| draw_bar(bar, style(bar.node), &mut items));
    Scene {
        width: options.width,
        height: 2.0 * MARGIN + HEADING + levels as f32 * BAR,
        background: Some(theme.paper),
        title: options.title.clone(),
        description: options.subtitle.clone(),
        items,
        ..Scene::default()
    }
}

fn frame(x: f32, width: f32, level: usize) -> OutlineRect {
    let y = MARGIN + HEADING + level as f32 * BAR;
    OutlineRect::new(MARGIN + x, y, (width - GAP).max(LEAST_WIDTH), BAR - GAP)
}

fn small_bar((x, width, level): (f32, f32, usize), theme: &ColorTheme) -> SceneItem {
    SceneItem::Rect(FilledRect {
        frame: frame(x, width, level),
        fill: ColorWithOpacity::with_alpha(theme.ink, 0.3),
        radius: 0.0,
        id: None,
        title: Some("calls that are too short to be drawn".to_owned()),
    })
}

fn draw_bar(bar: &FlameBar, style: BarStyle<'_>, items: &mut Vec<SceneItem>) {
    let BarStyle { name, fill, title } = style;
    let frame = frame(bar.x, bar.width, bar.level);
    items.push(SceneItem::Rect(FilledRect {
        frame,
        fill: ColorWithOpacity::from_opaque(fill),
        radius: 1.5,
        id: None,
        title: Some(title),
    }));
    if let Some(text) = font::fit(name, NAME_SIZE, FontWeight::Regular, frame.width - 2.0 * PADDING) {
        items.push(SceneItem::Text(SceneText {
            position: (frame.x + PADDING, frame.y + BAR * 0.68),
            text,
            size: NAME_SIZE,
            weight: FontWeight::Regular,
            anchor: TextAnchor::Start,
            fill: ColorWithOpacity::from_opaque(ColorTheme::text_on(fill)),
        }));
    }
}

/// The tooltip of a bar.
fn bar_title(tree: &CallTree, index: usize, name: &str) -> String {
    let node = &tree.nodes()[index];
    let share = node.total as f64 / tree.nodes()[ROOT].total.max(1) as f64 * 100.0;
    let text = |nanos: i128| duration(i64::try_from(nanos).unwrap_or(i64::MAX));
    let calls = if node.calls == 1 { "call" } else { "calls" };
    format!(
        "{name}: {} ({share:.1} %), self {}, {} {calls}",
        text(node.total),
        text(node.self_time),
        group_digits(node.calls)
    )
}

#[cfg(test)]
mod tests {
    use super::{LESS_TIME, MORE_TIME, SAME_TIME, bars, change_color};
    use crate::call_tree::{CallTree, NameId};

    #[test]
    fn bars_of_callees_are_inside_the_bar_of_their_caller() {
        let mut tree = CallTree::default();
        let main = tree.callee(0, NameId(0));
        let long = tree.callee(main, NameId(1));
        let short = tree.callee(main, NameId(2));
        for (node, total) in [(0, 1000), (main, 1000), (long, 600), (short, 1)] {
            tree.node_mut(node).total = total;
        }
        let (bars, small_bars) = bars(&tree, 100.0);
        let shapes: Vec<_> = bars.iter().map(|bar| (bar.node as u32, bar.x, bar.width, bar.level)).collect();
        assert_eq!(shapes, [(main, 0.0, 100.0, 0), (long, 0.0, 60.0, 1)]);
        assert!(small_bars.is_empty(), "a tenth of a unit is not visible");
    }

    #[test]
    fn colors_of_changes_are_strongest_for_new_and_missing_calls() {
        assert_eq!([[0, 9], [9, 0], [100, 104]].map(change_color), [MORE_TIME, LESS_TIME, SAME_TIME]);
        assert!(change_color([100, 110]).red > change_color([110, 100]).red);
    }
}
