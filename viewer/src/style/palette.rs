//! Colours for values without a colour in the trace.
//!
//! The palette is distinguishable with any kind of colour vision. A colour depends only on the
//! name, so that a value has the same colour in every run of a program. The palette starts with the
//! eight colours of Okabe and Ito (2002), with grey in place of black, then repeats them lighter
//! and darker.

use tumit_paje::{RgbColor, TypeId};

use crate::query::RawValue;
use crate::query::TypeInfo;

const fn rgb(red: u8, green: u8, blue: u8) -> RgbColor {
    RgbColor { red, green, blue }
}

/// Sky blue, orange, bluish green, vermilion, blue, reddish purple, yellow, grey.
const BASE: [RgbColor; 8] = [
    rgb(86, 180, 233),
    rgb(230, 159, 0),
    rgb(0, 158, 115),
    rgb(213, 94, 0),
    rgb(0, 114, 178),
    rgb(204, 121, 167),
    rgb(240, 228, 66),
    rgb(150, 150, 150),
];

/// The colour of entities without a value.
pub(crate) const NONE: RgbColor = rgb(150, 150, 150);

/// A ramp from small to large. All its colours have similar lightness, so that they are visible on
/// any background. It goes from blue to orange, which are distinguishable with any kind of colour
/// vision.
const RAMP: [RgbColor; 5] =
    [rgb(64, 120, 200), rgb(138, 103, 190), rgb(201, 82, 134), rgb(225, 95, 56), rgb(236, 146, 28)];

/// Colour number `rank` of `count` colours, from small to large.
pub(crate) fn ramp(rank: usize, count: usize) -> RgbColor {
    let place = rank * (RAMP.len() - 1) * 256 / count.saturating_sub(1).max(1);
    let (from, part) = ((place / 256).min(RAMP.len() - 2), place);
    let part = (part - from * 256).min(256);
    let (a, b) = (RAMP[from], RAMP[from + 1]);
    let mix = |a: u8, b: u8| u8::try_from((usize::from(a) * (256 - part) + usize::from(b) * part) / 256).unwrap_or(b);
    rgb(mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue))
}

/// Shades of each base colour: unchanged, lighter, darker, slightly lighter. None is light enough
/// to look idle.
const SHADES: [i32; 4] = [0, 45, -30, 22];

/// Number of different colours.
const COLORS: usize = BASE.len() * SHADES.len();

/// Colour `number` of the palette. The first eight differ most.
fn palette(number: usize) -> RgbColor {
    let base = BASE[number % BASE.len()];
    let shade = SHADES[number / BASE.len() % SHADES.len()];
    let mix = |channel: u8| {
        let target = if shade > 0 { 255 } else { 0 };
        let mixture = i32::from(channel) + (target - i32::from(channel)) * shade.abs() / 100;
        u8::try_from(mixture).unwrap_or(channel)
    };
    rgb(mix(base.red), mix(base.green), mix(base.blue))
}

/// Colours of values: the trace's colour, otherwise the type's colour (for links and events),
/// otherwise a chosen one.
pub(crate) fn assign(types: &[TypeInfo], values: &[RawValue]) -> Vec<RgbColor> {
    let names: Vec<(TypeId, &str)> = values.iter().map(|value| (value.ty, value.name.as_str())).collect();
    let trace_colors: Vec<Option<RgbColor>> = values
        .iter()
        .map(|value| value.color.or_else(|| types.get(value.ty.index()).and_then(|ty| ty.color)))
        .collect();
    assign_colors(&names, &trace_colors)
}

/// A colour for each name: the given one, or one chosen by a hash of the name. Names of one group
/// get different colours if there are enough. Conflicts are resolved in the order of the names, not
/// of the list.
pub(crate) fn assign_colors(names: &[(TypeId, &str)], trace_colors: &[Option<RgbColor>]) -> Vec<RgbColor> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&name_index| names[name_index]);
    let mut colors = vec![BASE[0]; names.len()];
    for group in order.chunk_by(|&a, &b| names[a].0 == names[b].0) {
        let mut is_used = [false; COLORS];
        for color in group.iter().filter_map(|&name_index| trace_colors[name_index]) {
            if let Some(number) = (0..COLORS).find(|&number| palette(number) == color) {
                is_used[number] = true;
            }
        }
        for &name_index in group {
            colors[name_index] = trace_colors[name_index].unwrap_or_else(|| {
                let first = hash(names[name_index].1) as usize % BASE.len();
                // First the free colours of the same shade in a circle from the hashed one, then
                // the next shade.
                let tries = (0..COLORS).map(|step| step / BASE.len() * BASE.len() + (first + step) % BASE.len());
                let number = tries.clone().find(|&candidate| !is_used[candidate]).unwrap_or(first);
                is_used[number] = true;
                palette(number)
            });
        }
    }
    colors
}

/// FNV-1a gives the same result on every machine and in every version.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_default_colour_looks_idle() {
        for number in 0..COLORS {
            assert!(
                !crate::style::theme::ColorTheme::has_low_contrast(palette(number)),
                "{number}: {:?}",
                palette(number)
            );
        }
    }

    use super::*;

    #[test]
    fn names_of_a_type_get_different_colours_in_any_order() {
        let texts: Vec<String> = (0..COLORS).map(|number| format!("value {number}")).collect();
        let forward: Vec<(TypeId, &str)> = texts.iter().map(|text| (TypeId(1), text.as_str())).collect();
        let backward: Vec<(TypeId, &str)> = forward.iter().rev().copied().collect();
        let trace_colors = vec![None; COLORS];
        let colors = assign_colors(&forward, &trace_colors);
        let mut backward_colors = assign_colors(&backward, &trace_colors);
        backward_colors.reverse();
        assert_eq!(colors, backward_colors);
        let different: std::collections::HashSet<RgbColor> = colors.into_iter().collect();
        assert_eq!(different.len(), COLORS);
    }

    #[test]
    fn the_colour_of_the_trace_wins_and_is_not_used_again() {
        let names = [(TypeId(1), "a"), (TypeId(1), "b")];
        let single = assign_colors(&names[1..], &[None])[0];
        let colors = assign_colors(&names, &[Some(single), None]);
        assert_eq!(colors[0], single);
        assert_ne!(colors[1], single);
    }
}
