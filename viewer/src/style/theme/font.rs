//! The embedded typeface and its metrics. Minimal systems have no fonts, and labels must be cut to
//! fit before they are drawn.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Family name of the typeface.
pub(crate) const FAMILY: &str = "Inter";

/// Regular, as OpenType.
pub(crate) const REGULAR: &[u8] = include_bytes!("../../../assets/font/Inter-Regular.otf");
/// Semi-bold, as OpenType.
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../../assets/font/Inter-SemiBold.otf");

/// The two weights in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FontWeight {
    /// 400.
    #[default]
    Regular,
    /// 600.
    SemiBold,
}

/// Advances of the first characters of Unicode, in em. Others have the mean advance.
struct GlyphAdvances {
    table: Vec<f32>,
    mean: f32,
}

/// End of the tabulated characters: Latin, Greek, Cyrillic and general punctuation.
const TABULATED: u32 = 0x2100;

impl GlyphAdvances {
    fn read(bytes: &[u8]) -> Self {
        const MEAN: f32 = 0.6;
        let Ok(font) = FontRef::new(bytes) else { return Self { table: Vec::new(), mean: MEAN } };
        let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
        let charmap = font.charmap();
        let table = (0..TABULATED)
            .map(|code| charmap.map(code).and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(MEAN))
            .collect();
        Self { table, mean: MEAN }
    }
}

static ADVANCES: LazyLock<[GlyphAdvances; 2]> =
    LazyLock::new(|| [GlyphAdvances::read(REGULAR), GlyphAdvances::read(SEMI_BOLD)]);

/// Width of a text at a font size, in the same unit. Kerning is ignored.
///
/// ```
/// use tumit_viewer::style::theme::font::{FontWeight, width};
///
/// let regular = width("work", 12.0, FontWeight::Regular);
/// assert!(width("work", 24.0, FontWeight::Regular) > 1.9 * regular);
/// ```
#[must_use]
pub fn width(text: &str, size: f32, weight: FontWeight) -> f32 {
    let advances = &ADVANCES[usize::from(weight == FontWeight::SemiBold)];
    let em: f32 = text.chars().map(|c| advances.table.get(c as usize).copied().unwrap_or(advances.mean)).sum();
    em * size
}

/// Cuts a text to the width `max_width`, with an ellipsis. `None` if not even two letters and the
/// ellipsis fit.
#[must_use]
pub fn fit(text: &str, size: f32, weight: FontWeight, max_width: f32) -> Option<String> {
    if width(text, size, weight) <= max_width {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let room = max_width - width("…", size, weight);
    let (mut used_width, mut end, mut letters) = (0.0, 0, 0);
    for (offset, c) in text.char_indices() {
        let mut buffer = [0; 4];
        used_width += width(c.encode_utf8(&mut buffer), size, weight);
        if used_width > room {
            break;
        }
        end = offset + c.len_utf8();
        letters += 1;
    }
    (letters >= 2).then(|| format!("{}…", text[..end].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_tabular_and_letters_are_not() {
        assert!((width("1", 10.0, FontWeight::Regular) - width("8", 10.0, FontWeight::Regular)).abs() < 1e-4);
        assert!(width("i", 10.0, FontWeight::Regular) < width("m", 10.0, FontWeight::Regular));
        assert!(width("computing", 10.0, FontWeight::Regular) > 40.0);
    }

    #[test]
    fn a_text_is_cut_to_fit() {
        let full = width("receiving", 11.0, FontWeight::Regular);
        assert_eq!(fit("receiving", 11.0, FontWeight::Regular, full).as_deref(), Some("receiving"));
        let cut = fit("receiving", 11.0, FontWeight::Regular, full - 1.0).unwrap();
        assert!(cut.ends_with('…') && width(&cut, 11.0, FontWeight::Regular) <= full - 1.0, "{cut}");
        assert_eq!(fit("receiving", 11.0, FontWeight::Regular, 10.0), None);
    }
}
