//! Names inside of states, where they fit and nothing covers them.

use super::chart::Context;
use super::{Anchor, Frame, Item, Text};
use crate::query::ValueId;
use crate::theme::font::{self, Weight};
use crate::theme::{Paint, Theme, ThemeKind};

/// A state that was drawn as a rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) frame: Frame,
    pub(super) value: ValueId,
}

const PADDING: f32 = 5.0;
/// Below this height a letter cannot be read.
const LOWEST: f32 = 10.5;
const LARGEST_TEXT: f32 = 11.0;
/// Letters, and share of a name, that tell what it is when the rest is cut off.
const TELLING: (usize, f32) = (6, 0.6);

/// Labels the states of a strip, given by depth; a depth that was drawn as mixtures is `None`.
pub(super) fn states(context: &Context<'_>, depths: &[Option<Vec<Placed>>], out: &mut Vec<Item>) {
    for (depth, placed) in depths.iter().enumerate() {
        let deeper = depths.get(depth + 1);
        for state in placed.iter().flatten() {
            let free = match deeper {
                None => Some((state.frame.x, state.frame.right())),
                Some(None) => None,
                Some(Some(above)) if above.first().is_some_and(|a| a.frame.y >= state.frame.bottom() - 0.5) => {
                    Some((state.frame.x, state.frame.right()))
                }
                Some(Some(above)) => widest_gap(state.frame, above),
            };
            if let Some((from, to)) = free {
                out.extend(label(context, state, from, to));
            }
        }
    }
}

/// The widest part of a frame that no frame above it covers; those are sorted by `x`.
fn widest_gap(frame: Frame, above: &[Placed]) -> Option<(f32, f32)> {
    let mut widest: Option<(f32, f32)> = None;
    let mut from = frame.x;
    let mut offer = |from: f32, to: f32| {
        if to > from && widest.is_none_or(|(a, b)| to - from > b - a) {
            widest = Some((from, to));
        }
    };
    let first = above.partition_point(|a| a.frame.right() <= frame.x);
    for cover in above[first..].iter().take_while(|a| a.frame.x < frame.right()) {
        offer(from, cover.frame.x);
        from = from.max(cover.frame.right());
    }
    offer(from, frame.right());
    widest
}

fn label(context: &Context<'_>, state: &Placed, from: f32, to: f32) -> Option<Item> {
    if state.frame.height < LOWEST {
        return None;
    }
    let size = LARGEST_TEXT.min(state.frame.height * 0.72);
    let room = to - from - 2.0 * PADDING;
    let name = context.name(state.value);
    // The name of what is idle, or dimmed, stays in the background too.
    let given = context.model.values.get(state.value.index()).map(|value| value.color);
    let quiet = given.is_none_or(Theme::recedes) || context.options.dimmed.contains(&state.value);
    let text = font::fit(name, size, Weight::Regular, room).filter(|text| tells(text, name, quiet))?;
    let at = (f32::midpoint(from, to), state.frame.y + state.frame.height / 2.0 + size * 0.355);
    let ink = Theme::text_on(context.color(state.value));
    let mut item = Text::new(at, text, size, ink).anchored(Anchor::Middle);
    let fades = quiet && context.theme.kind != ThemeKind::Contrast;
    item.fill = Paint::with_alpha(ink, if fades { 0.45 } else { 0.92 });
    Some(Item::Text(item))
}

/// Whether a name that may have been cut still says what it stands for: a row of stumps is noise. A quiet one is never cut.
#[expect(clippy::cast_precision_loss, reason = "lengths of names")]
fn tells(text: &str, name: &str, quiet: bool) -> bool {
    let Some(kept) = text.strip_suffix('…').filter(|_| text != name) else { return true };
    let (kept, all) = (kept.chars().count(), name.chars().count());
    !quiet && kept >= TELLING.0 && kept as f32 >= TELLING.1 * all as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_a_name_is_shown_or_nothing() {
        assert!(tells("working", "working", true));
        assert!(tells("Inter-node fo…", "Inter-node forces", false));
        for (text, name, quiet) in [
            ("Inter-no…", "Inter-node forces", false),
            ("recv…", "recvs", false),
            ("Waits for a mess…", "Waits for a message", true),
        ] {
            assert!(!tells(text, name, quiet), "{text}");
        }
    }

    fn placed(x: f32, width: f32) -> Placed {
        Placed { frame: Frame::new(x, 0.0, width, 10.0), value: ValueId(0) }
    }

    #[test]
    fn the_widest_gap_is_found() {
        let frame = Frame::new(10.0, 0.0, 100.0, 10.0);
        assert_eq!(widest_gap(frame, &[]), Some((10.0, 110.0)));
        assert_eq!(widest_gap(frame, &[placed(0.0, 20.0), placed(50.0, 10.0)]), Some((60.0, 110.0)));
        assert_eq!(widest_gap(frame, &[placed(0.0, 200.0)]), None);
    }
}
