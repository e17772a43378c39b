//! Colours and text sizes of images, light and dark, shared by all output formats.
//!
//! ```
//! use tumit_viewer::style::theme::{ColorTheme, ThemeKind, rgb};
//!
//! let (light, dark) = (ColorTheme::new(ThemeKind::Light), ColorTheme::new(ThemeKind::Dark));
//! assert_eq!(light.paper, rgb(0xffffff));
//! // A pale tint of a trace stays pale in the light theme, and becomes dark in the dark theme.
//! let pale = rgb(0xf6ecc4);
//! assert_eq!(light.fill(pale), pale);
//! assert!(dark.fill(pale).red < 0x80);
//! ```

pub mod font;
pub mod theme_colors;

use serde::{Deserialize, Serialize};
use theme_colors::ThemeColors;
use tumit_paje::RgbColor;

/// The predefined themes, as requests and options name them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ThemeKind {
    /// Dark on white.
    #[default]
    Light,
    /// Light on dark.
    Dark,
    /// White and saturated colours on black, for users with a need for high contrast.
    Contrast,
}

impl ThemeKind {
    /// The version of a colour for the theme.
    #[must_use]
    pub const fn color_of(self, colors: ThemeColors) -> RgbColor {
        match self {
            Self::Light => colors.light,
            Self::Dark => colors.dark,
            Self::Contrast => colors.contrast,
        }
    }
}

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorWithOpacity {
    /// The colour.
    pub color: RgbColor,
    /// Opacity from 0 (invisible) to 1.
    pub alpha: f32,
}

/// The colours of an image that do not come from the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorTheme {
    /// The theme from which the colours come.
    pub kind: ThemeKind,
    /// Background of the image.
    pub paper: RgbColor,
    /// Background of a group of rows.
    pub panel: RgbColor,
    /// Background of the states of a row: time without a state.
    pub track: RgbColor,
    /// Primary text.
    pub ink: RgbColor,
    /// Secondary text.
    pub muted: RgbColor,
    /// Tertiary text and ticks.
    pub faint_color: RgbColor,
    /// Grid lines.
    pub grid: RgbColor,
    /// Links without a colour in the trace.
    pub link: RgbColor,
    /// Curves without a colour in the trace.
    pub curve: RgbColor,
    /// Errors: links that arrive before they leave.
    pub alert: RgbColor,
}

/// Converts `0xRRGGBB` to a colour.
#[must_use]
pub const fn rgb(hex: u32) -> RgbColor {
    let [_, red, green, blue] = hex.to_be_bytes();
    RgbColor { red, green, blue }
}

impl ColorWithOpacity {
    /// Creates an opaque paint.
    #[must_use]
    pub const fn from_opaque(color: RgbColor) -> Self {
        Self { color, alpha: 1.0 }
    }

    /// Creates a translucent paint.
    #[must_use]
    pub const fn with_alpha(color: RgbColor, alpha: f32) -> Self {
        Self { color, alpha }
    }
}

impl ColorTheme {
    /// Returns the theme of a kind.
    #[must_use]
    pub const fn new(kind: ThemeKind) -> Self {
        match kind {
            ThemeKind::Light => Self {
                kind,
                paper: rgb(0x00ff_ffff),
                panel: rgb(0x00f6_f7f9),
                track: rgb(0x00e9_ecf0),
                ink: rgb(0x0017_1b22),
                muted: rgb(0x0055_5e6b),
                faint_color: rgb(0x008b_94a1),
                grid: rgb(0x00dd_e1e7),
                link: rgb(0x0020_2630),
                curve: rgb(0x003b_6fd4),
                alert: rgb(0x00d4_1c4a),
            },
            ThemeKind::Dark => Self {
                kind,
                paper: rgb(0x000e_1116),
                panel: rgb(0x0014_1920),
                track: rgb(0x001d_242d),
                ink: rgb(0x00ec_eff3),
                muted: rgb(0x00a5_afbc),
                faint_color: rgb(0x0071_7c8a),
                grid: rgb(0x002a_323d),
                link: rgb(0x00f2_f4f7),
                curve: rgb(0x006f_a2ff),
                alert: rgb(0x00ff_5a7d),
            },
            ThemeKind::Contrast => Self {
                kind,
                paper: rgb(0x0000_0000),
                panel: rgb(0x0000_0000),
                track: rgb(0x0024_2424),
                ink: rgb(0x00ff_ffff),
                muted: rgb(0x00ea_eaea),
                faint_color: rgb(0x00c4_c4c4),
                grid: rgb(0x0058_5858),
                link: rgb(0x00ff_ffff),
                curve: rgb(0x0080_d8ff),
                alert: rgb(0x00ff_6b8a),
            },
        }
    }

    /// The colour in which a value is drawn. In the dark themes, pale tints, which recede on a
    /// white background, become the same tints of the dark background. The colours of categories
    /// and tasks have [a version in each theme](theme_colors). All other colours are those of the
    /// trace.
    #[must_use]
    pub fn fill(&self, color: RgbColor) -> RgbColor {
        if let Some(colors) = theme_colors::versions_of(color) {
            return self.kind.color_of(colors);
        }
        let white = whiteness(color);
        if self.kind == ThemeKind::Light || white < PALE {
            return color;
        }
        // With high contrast, tints must differ from the background and from each other by more
        // than a shade.
        let (tenths, part_of) = if self.kind == ThemeKind::Contrast { (20, 2) } else { (7, 3) };
        let channel = |of: u8, ground: u8| {
            // The farther from white, the farther from the background.
            let tint = u16::from(of - white) * tenths / 10 + u16::from(255 - white) / part_of;
            let part = u16::from(ground) * u16::from(white) / 255 + tint;
            u8::try_from(part).unwrap_or(u8::MAX)
        };
        let ground = self.track;
        RgbColor {
            red: channel(color.red, ground.red),
            green: channel(color.green, ground.green),
            blue: channel(color.blue, ground.blue),
        }
    }

    /// Whether a trace's colour has little contrast with empty time, in every theme. Traces choose
    /// such tints for idle states.
    pub(crate) fn has_low_contrast(color: RgbColor) -> bool {
        whiteness(color) >= PALE && contrast(color, Self::new(ThemeKind::Light).track) < 1.3
    }

    /// A colour for small shapes: unchanged if it contrasts with the background, otherwise mixed
    /// with ink until it does.
    #[must_use]
    pub fn with_contrast(&self, color: RgbColor) -> RgbColor {
        // With high contrast, it must contrast with the background as text must.
        let enough = if self.kind == ThemeKind::Contrast { 4.5 } else { 2.6 };
        let nearer = [0.0, 0.2, 0.4, 0.6].into_iter().filter_map(|ink| mix([(color, 1.0 - ink), (self.link, ink)]));
        nearer.into_iter().find(|&color| contrast(color, self.panel) >= enough).unwrap_or(self.link)
    }

    /// A colour for arrows, which cross all other items: a mixture of the colour and ink. Light ink
    /// has more effect in a mixture than dark ink.
    #[must_use]
    pub fn stroke(&self, color: RgbColor) -> RgbColor {
        let ink = if self.kind == ThemeKind::Light { 0.6 } else { 0.28 };
        mix([(color, 1.0 - ink), (self.link, ink)]).unwrap_or(self.link)
    }

    /// A colour for values too small to be distinguished: a grey that differs from empty time.
    pub(crate) fn small_values_color(&self) -> RgbColor {
        mix([(self.track, 0.5), (self.faint_color, 0.5)]).unwrap_or(self.faint_color)
    }

    /// The colour for text on a fill: the one of near-black and white that contrasts more.
    #[must_use]
    pub fn text_on(fill: RgbColor) -> RgbColor {
        let (dark, light) = (rgb(0x0014_171c), rgb(0x00ff_ffff));
        // White is slightly preferred: on saturated middle tones, it is more readable than the
        // formula predicts.
        if contrast(fill, light) * 1.6 >= contrast(fill, dark) { light } else { dark }
    }
}

/// The share of white in a colour, from 0 to 255. From [`PALE`] on, the colour is a tint.
fn whiteness(color: RgbColor) -> u8 {
    color.red.min(color.green).min(color.blue)
}

/// Whiteness of the darkest tint.
const PALE: u8 = 170;

/// Relative luminance according to WCAG 2.
fn luminance(color: RgbColor) -> f32 {
    let linear = |channel: u8| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
}

/// Contrast ratio of two colours, from 1 to 21, according to WCAG 2.
#[must_use]
pub fn contrast(a: RgbColor, b: RgbColor) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The weighted mean of colours in linear light, so that a mixture is as bright as its parts seen
/// from a distance.
#[must_use]
pub fn mix(parts: impl IntoIterator<Item = (RgbColor, f32)>) -> Option<RgbColor> {
    let (mut sum, mut total) = ([0.0_f32; 3], 0.0_f32);
    for (color, weight) in parts {
        for (slot, channel) in sum.iter_mut().zip([color.red, color.green, color.blue]) {
            *slot += (f32::from(channel) / 255.0).powf(2.2) * weight;
        }
        total += weight;
    }
    if total <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 to 255 by construction")]
    let channel = |value: f32| ((value / total).powf(1.0 / 2.2) * 255.0).round() as u8;
    Some(RgbColor { red: channel(sum[0]), green: channel(sum[1]), blue: channel(sum[2]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_readable_on_every_fill() {
        for hex in
            [0x0000_0000, 0x00ff_ffff, 0x00ff_bf00, 0x00d6_2728, 0x002c_a02c, 0x001f_77b4, 0x0080_8080, 0x00ff_ff00]
        {
            let fill = rgb(hex);
            assert!(contrast(ColorTheme::text_on(fill), fill) >= 3.0, "{fill}");
        }
    }

    #[test]
    fn curves_of_any_colour_contrast_with_the_panel() {
        for hex in [0x004d_5660, 0x0000_0000, 0x00ff_ffff, 0x0080_8080, 0x0000_0080, 0x00d5_5e00] {
            for (kind, least) in [(ThemeKind::Light, 2.6), (ThemeKind::Dark, 2.6), (ThemeKind::Contrast, 4.5)] {
                let theme = ColorTheme::new(kind);
                assert!(contrast(theme.with_contrast(rgb(hex)), theme.panel) >= least, "{kind:?} {hex:06x}");
            }
        }
    }

    #[test]
    fn a_mixture_of_one_colour_is_that_colour() {
        let red = rgb(0x00d6_2728);
        assert_eq!(mix([(red, 0.3), (red, 0.9)]), Some(red));
        assert_eq!(mix([(red, 0.0)]), None);
    }

    #[test]
    fn pale_tints_recede_in_both_themes() {
        let (light, dark) = (ColorTheme::new(ThemeKind::Light), ColorTheme::new(ThemeKind::Dark));
        for hex in [0x00ff_ffff, 0x00f1_f1f1, 0x00fb_eec2] {
            assert_eq!(light.fill(rgb(hex)), rgb(hex));
            assert!(contrast(dark.fill(rgb(hex)), dark.track) < 3.0, "{hex:x}");
        }
        assert_eq!(dark.fill(rgb(0x002f_7d6b)), rgb(0x002f_7d6b));
    }

    #[test]
    fn time_of_many_small_states_does_not_look_empty() {
        for theme in [ThemeKind::Light, ThemeKind::Dark, ThemeKind::Contrast].map(ColorTheme::new) {
            assert!(contrast(theme.small_values_color(), theme.track) >= 1.35, "{:?}", theme.kind);
            assert!(contrast(theme.small_values_color(), theme.paper) >= 1.35, "{:?}", theme.kind);
        }
    }

    #[test]
    fn pale_colours_recede_and_vivid_ones_do_not() {
        assert!([0x00ed_f0f3, 0x00f6_ecc4, 0x00dd_e2e8].into_iter().all(|hex| ColorTheme::has_low_contrast(rgb(hex))));
        assert!([0x0000_ffff, 0x00ff_ff00, 0x0000_72b2].into_iter().all(|hex| !ColorTheme::has_low_contrast(rgb(hex))));
    }

    #[test]
    fn curves_differ_from_the_background_in_both_themes() {
        for theme in [ThemeKind::Light, ThemeKind::Dark, ThemeKind::Contrast].map(ColorTheme::new) {
            for hex in [0x004d_5660, 0x00f0_e442, 0x0000_72b2, 0x0000_0000, 0x00ff_ffff] {
                assert!(contrast(theme.with_contrast(rgb(hex)), theme.panel) >= 2.6, "{hex:x} {:?}", theme.kind);
            }
        }
    }

    #[test]
    fn ink_contrasts_with_paper_in_both_themes() {
        for kind in [ThemeKind::Light, ThemeKind::Dark, ThemeKind::Contrast] {
            let theme = ColorTheme::new(kind);
            assert!(contrast(theme.ink, theme.panel) >= 7.0);
            assert!(contrast(theme.muted, theme.panel) >= if kind == ThemeKind::Contrast { 7.0 } else { 4.5 });
        }
    }
}
