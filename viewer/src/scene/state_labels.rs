//! Names inside states, at places where they fit, no other state covers them, and no arrow crosses
//! them.

use super::diagram_context::DiagramContext;
use super::primitives::{FilledRect, OutlineRect, SceneArrow, SceneItem, SceneText, TextAnchor};
use crate::query::ValueId;
use crate::style::theme::font::{self, FontWeight};
use crate::style::theme::{ColorTheme, ColorWithOpacity, ThemeKind};

/// A state that was drawn as a rectangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnState {
    pub(crate) frame: OutlineRect,
    pub value: ValueId,
}

/// A state with room for a name, and the uncovered range of it. The name is written once all arrows
/// are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelRequest {
    state: DrawnState,
    from: f32,
    to: f32,
}

/// Space on each side of a name, in scene units.
const PADDING: f32 = 5.0;
/// Below this height, letters cannot be read.
const LOWEST: f32 = 10.5;
/// Maximum size of a name in scene units, the size of other labels.
const LARGEST_TEXT: f32 = 11.0;
/// Minimum number of letters that a cut name keeps.
const MIN_LETTERS: usize = 6;
/// Minimum share of a name that a cut name keeps. A name of more than [`LONG`] letters counts as
/// one of [`LONG`] letters.
const MIN_SHARE: f32 = 0.6;
const LONG: usize = 40;
/// The name of an idle value needs this factor of its width as room. Without it, names appear and
/// vanish between the mixtures of a dense row.
const QUIET_ROOM: f32 = 1.5;
/// Arrows fainter than this do not disturb letters.
const FAINT: f32 = 0.2;
/// At this distance from a line, letters are not disturbed by it.
const CLEAR: f32 = 3.0;
/// Maximum number of crossing arrows that a name may cover.
const CROSSED: usize = 2;

/// Collects the states of a strip that need a name. The states are given by depth. A depth that is
/// drawn as mixtures is `None`.
pub(crate) fn states(depths: &[Option<Vec<DrawnState>>], requests: &mut Vec<LabelRequest>) {
    for (depth, states) in depths.iter().enumerate() {
        let deeper = depths.get(depth + 1);
        for &state in states.iter().flatten().filter(|state| state.frame.height >= LOWEST) {
            let free = match deeper {
                None => Some((state.frame.x, state.frame.right())),
                Some(None) => None,
                Some(Some(above)) if above.first().is_some_and(|a| a.frame.y >= state.frame.bottom() - 0.5) => {
                    Some((state.frame.x, state.frame.right()))
                }
                Some(Some(above)) => widest_gap(state.frame, above),
            };
            let free = free.filter(|(from, to)| to - from > 2.0 * PADDING);
            requests.extend(free.map(|(from, to)| LabelRequest { state, from, to }));
        }
    }
}

/// Writes names on top of the arrows, or between them if there is room.
pub(crate) fn draw(context: &DiagramContext<'_>, requests: &[LabelRequest], arrows: &[SceneItem]) -> Vec<SceneItem> {
    let crossing_arrows: Vec<&SceneArrow> = arrows
        .iter()
        .filter_map(|item| match item {
            SceneItem::Arrow(arrow) if arrow.paint.alpha >= FAINT => Some(arrow),
            _ => None,
        })
        .collect();
    let mut out = Vec::new();
    for lane in requests.chunk_by(|a, b| share_row(a.state.frame, b.state.frame)) {
        let crossings = crossings(&crossing_arrows, lane[0].state.frame);
        for name in lane {
            label(context, name, &crossings, &mut out);
        }
    }
    out
}

/// Whether two frames have the same height and vertical position.
fn share_row(a: OutlineRect, b: OutlineRect) -> bool {
    a.y.to_bits() == b.y.to_bits() && a.height.to_bits() == b.height.to_bits()
}

/// The horizontal ranges in which arrows cross a lane, from left to right.
fn crossings(arrows: &[&SceneArrow], lane: OutlineRect) -> Vec<(f32, f32)> {
    let mut all: Vec<(f32, f32)> = arrows.iter().filter_map(|arrow| crossed_range(arrow, lane)).collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The horizontal range in which an arrow crosses a lane, if it does.
fn crossed_range(arrow: &SceneArrow, lane: OutlineRect) -> Option<(f32, f32)> {
    let (a, b) = if arrow.from.1 <= arrow.to.1 { (arrow.from, arrow.to) } else { (arrow.to, arrow.from) };
    let (top, bottom) = (lane.y.max(a.1), lane.bottom().min(b.1));
    if top > bottom {
        return None;
    }
    let x = |y: f32| if b.1 > a.1 { a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1) } else { a.0 };
    let (from, to) = if b.1 > a.1 { (x(top), x(bottom)) } else { (a.0, b.0) };
    let margin = CLEAR + arrow.width / 2.0 + if arrow.head > 0.0 { 1.0 } else { 0.0 };
    Some((from.min(to) - margin, from.max(to) + margin))
}

/// The widest range of a frame that no frame above it covers. The frames above are sorted by `x`.
fn widest_gap(frame: OutlineRect, states_above: &[DrawnState]) -> Option<(f32, f32)> {
    let mut widest: Option<(f32, f32)> = None;
    let mut from = frame.x;
    let mut offer = |from: f32, to: f32| {
        if to > from && widest.is_none_or(|(a, b)| to - from > b - a) {
            widest = Some((from, to));
        }
    };
    let first = states_above.partition_point(|a| a.frame.right() <= frame.x);
    for cover in states_above[first..].iter().take_while(|a| a.frame.x < frame.right()) {
        offer(from, cover.frame.x);
        from = from.max(cover.frame.right());
    }
    offer(from, frame.right());
    widest
}

fn label(context: &DiagramContext<'_>, request: &LabelRequest, crossings: &[(f32, f32)], out: &mut Vec<SceneItem>) {
    let LabelRequest { state, from, to } = *request;
    let size = LARGEST_TEXT.min(state.frame.height * 0.72);
    let name = context.name(state.value);
    // The name of an idle or dimmed value is also subdued.
    let trace_color = context.model.values.get(state.value.index()).map(|value| value.color);
    let quiet =
        trace_color.is_none_or(ColorTheme::has_low_contrast) || context.options.dimmed_values.contains(&state.value);
    let room = to - from - 2.0 * PADDING;
    let fit =
        |room: f32| font::fit(name, size, FontWeight::Regular, room).filter(|text| is_recognizable(text, name, quiet));
    let Some(text) = fit(room) else { return };
    let width = font::width(&text, size, FontWeight::Regular);
    if quiet && width * QUIET_ROOM > room {
        return;
    }
    let (middle, text, lies_over) = match position_beside_arrows((from, to), width + 2.0 * PADDING, crossings) {
        LabelPosition::Clear(middle) => (middle, text, false),
        LabelPosition::Crossed { count, widest_span } => {
            let gap = fit(widest_span.1 - widest_span.0 - 2.0 * PADDING).filter(|_| !quiet);
            match gap {
                Some(text) => (f32::midpoint(widest_span.0, widest_span.1), text, false),
                None if !quiet && count <= CROSSED => (f32::midpoint(from, to), text, true),
                None => return,
            }
        }
    };
    let ink = ColorTheme::text_on(context.color(state.value));
    if lies_over {
        // Covers the arrows.
        let plate = OutlineRect::new(middle - width / 2.0 - 2.0, state.frame.y, width + 4.0, state.frame.height);
        out.push(SceneItem::Rect(FilledRect::decoration(plate, context.color(state.value), 0.0)));
    }
    let baseline = (middle, state.frame.y + state.frame.height / 2.0 + size * 0.355);
    let mut item = SceneText::new(baseline, text, size, ink).with_anchor(TextAnchor::Middle);
    let fades = quiet && context.theme.kind != ThemeKind::Contrast;
    item.fill = ColorWithOpacity::with_alpha(ink, if fades { 0.45 } else { 0.92 });
    out.push(SceneItem::Text(item));
}

/// A position for a name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LabelPosition {
    /// No arrow disturbs a name around this position.
    Clear(f32),
    /// The number of arrows that cross a name in the middle, and the widest range without arrows.
    Crossed { count: usize, widest_span: (f32, f32) },
}

/// The position without arrows that is nearest to the middle of a range, for a text of this width.
fn position_beside_arrows((from, to): (f32, f32), width: f32, crossings: &[(f32, f32)]) -> LabelPosition {
    let middle = f32::midpoint(from, to);
    let (label_left, label_right) = (middle - width / 2.0, middle + width / 2.0);
    let count = crossings.iter().filter(|(a, b)| *a < label_right && *b > label_left).count();
    if count == 0 {
        return LabelPosition::Clear(middle);
    }
    let (mut nearest, mut widest_span): (Option<f32>, (f32, f32)) = (None, (from, from));
    let mut offer = |a: f32, b: f32| {
        if b - a > widest_span.1 - widest_span.0 {
            widest_span = (a, b);
        }
        if b - a >= width {
            let center = middle.clamp(a + width / 2.0, b - width / 2.0);
            if nearest.is_none_or(|best| (center - middle).abs() < (best - middle).abs()) {
                nearest = Some(center);
            }
        }
    };
    let mut start = from;
    for &(a, b) in crossings.iter().filter(|(a, b)| *b > from && *a < to) {
        offer(start, a.min(to));
        start = start.max(b);
    }
    offer(start, to);
    nearest.map_or(LabelPosition::Crossed { count, widest_span }, LabelPosition::Clear)
}

/// Whether a name, possibly cut, is still recognisable. Rows of very short names are noise. A
/// subdued name is never cut.
#[expect(clippy::cast_precision_loss, reason = "lengths of names")]
fn is_recognizable(text: &str, name: &str, is_quiet: bool) -> bool {
    let Some(prefix) = text.strip_suffix('…').filter(|_| text != name) else { return true };
    let (kept_letters, all) = (prefix.chars().count(), name.chars().count());
    !is_quiet && kept_letters >= MIN_LETTERS && kept_letters as f32 >= MIN_SHARE * all.min(LONG) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_a_name_is_shown_or_nothing() {
        assert!(is_recognizable("working", "working", true));
        assert!(is_recognizable("Inter-node fo…", "Inter-node forces", false));
        assert!(is_recognizable(&format!("{}…", "x".repeat(24)), &"x".repeat(3_000), false));
        for (text, name, quiet) in [
            ("Inter-no…", "Inter-node forces", false),
            ("recv…", "recvs", false),
            ("Waits for a mess…", "Waits for a message", true),
        ] {
            assert!(!is_recognizable(text, name, quiet), "{text}");
        }
    }

    #[test]
    fn a_name_is_placed_between_arrows_near_the_middle() {
        let part = (100.0, 300.0);
        assert_eq!(position_beside_arrows(part, 60.0, &[(90.0, 110.0), (260.0, 262.0)]), LabelPosition::Clear(200.0));
        // As near to the middle as possible.
        assert_eq!(position_beside_arrows(part, 60.0, &[(190.0, 196.0)]), LabelPosition::Clear(226.0));
        assert_eq!(position_beside_arrows(part, 60.0, &[(190.0, 225.0), (240.0, 245.0)]), LabelPosition::Clear(160.0));
        let many = [(120.0, 130.0), (170.0, 180.0), (200.0, 210.0), (250.0, 260.0)];
        assert_eq!(
            position_beside_arrows(part, 60.0, &many),
            LabelPosition::Crossed { count: 2, widest_span: (130.0, 170.0) }
        );
    }

    #[test]
    fn an_arrow_crosses_the_lanes_between_its_rows() {
        let lane = OutlineRect::new(0.0, 40.0, 500.0, 20.0);
        let arrow = |from: (f32, f32), to: (f32, f32)| SceneArrow {
            from,
            to,
            width: 2.0,
            head: 0.0,
            paint: ColorWithOpacity::from_opaque(ColorTheme::new(ThemeKind::Light).link),
            halo: None,
            id: None,
            title: None,
        };
        assert_eq!(crossed_range(&arrow((10.0, 0.0), (110.0, 100.0)), lane), Some((46.0, 74.0)));
        assert_eq!(crossed_range(&arrow((110.0, 100.0), (10.0, 0.0)), lane), Some((46.0, 74.0)));
        // The arrow ends in the lane, lies in it, or does not reach it.
        assert_eq!(crossed_range(&arrow((10.0, 0.0), (60.0, 50.0)), lane), Some((46.0, 64.0)));
        assert_eq!(crossed_range(&arrow((10.0, 50.0), (60.0, 50.0)), lane), Some((6.0, 64.0)));
        assert_eq!(crossed_range(&arrow((10.0, 0.0), (60.0, 30.0)), lane), None);
    }

    fn state_at(x: f32, width: f32) -> DrawnState {
        DrawnState { frame: OutlineRect::new(x, 0.0, width, 10.0), value: ValueId(0) }
    }

    #[test]
    fn the_widest_gap_between_states_is_found() {
        let frame = OutlineRect::new(10.0, 0.0, 100.0, 10.0);
        assert_eq!(widest_gap(frame, &[]), Some((10.0, 110.0)));
        assert_eq!(widest_gap(frame, &[state_at(0.0, 20.0), state_at(50.0, 10.0)]), Some((60.0, 110.0)));
        assert_eq!(widest_gap(frame, &[state_at(0.0, 200.0)]), None);
    }
}
