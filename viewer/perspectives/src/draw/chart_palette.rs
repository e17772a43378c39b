//! [`ChartPalette`]: the colour of each paint in a theme.
//!
//! Colours of a scale differ in luminance, so that greyscale prints and people with any kind of
//! colour vision distinguish them. What matters most contrasts most with the background: busy time
//! is dark on white, and light on black.

use tumit_paje::RgbColor;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::style::theme::theme_colors::{self, ThemeColors};
use tumit_viewer::style::theme::{ColorTheme, ThemeKind, contrast, mix, rgb};

use crate::chart::ChartPaint;

/// The number of greys of tasks and series, each with a pattern.
pub(super) const TASK_GREYS: usize = 8;

/// The smallest contrast of a thin grey line with the background, as in the guidelines for graphics
/// of WCAG 2.
const LEAST_CONTRAST: f32 = 3.0;

/// The choice of the colours of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaletteKind {
    /// The colours of the theme. They are distinguishable with any kind of colour vision.
    #[default]
    Standard,
    /// Green, yellow and red for busy, overhead and idle, as in `ParaGraph`.
    TrafficLights,
    /// Greys and patterns, for black-and-white printing.
    Monochrome,
}

impl PaletteKind {
    /// The palettes with their words.
    pub const WORDS: [(&'static str, Self); 3] =
        [("standard", Self::Standard), ("traffic-lights", Self::TrafficLights), ("monochrome", Self::Monochrome)];
}

/// The colours of a theme.
#[derive(Clone, Debug)]
pub(crate) struct ChartPalette {
    theme: ColorTheme,
    /// Busy, overhead, idle, and states that do not count.
    categories: [RgbColor; 4],
    tasks: Vec<RgbColor>,
    /// From small to large.
    sizes: [RgbColor; 7],
    now: RgbColor,
    maximum: RgbColor,
    emphasis: RgbColor,
    faint_color: RgbColor,
}

/// The colours of a theme as `0xRRGGBB`.
struct PaletteCodes {
    /// States that do not count.
    ignored: u32,
    sizes: [u32; 7],
    now: u32,
    maximum: u32,
    emphasis: u32,
    faint_color: u32,
}

const LIGHT: PaletteCodes = PaletteCodes {
    ignored: 0x00f1_f2f4,
    sizes: [0x00cf_e3c8, 0x00a6_d0b8, 0x0078_b9b2, 0x004a_9cac, 0x002f_7da0, 0x0028_5789, 0x001f_3161],
    now: 0x001f_5f9f,
    maximum: 0x00b5_cfe8,
    emphasis: 0x00d0_2340,
    faint_color: 0x00b9_c8dc,
};
const DARK: PaletteCodes = PaletteCodes {
    ignored: 0x0020_262e,
    sizes: [0x0033_477a, 0x0035_629a, 0x0036_80a4, 0x0046_a09d, 0x007d_bf8a, 0x00bf_dd82, 0x00fa_f3ac],
    now: 0x008a_bcff,
    maximum: 0x002d_4f7c,
    emphasis: 0x00ff_6078,
    faint_color: 0x0046_566c,
};
const CONTRAST: PaletteCodes = PaletteCodes {
    ignored: 0x002a_2a2a,
    sizes: [0x003f_55a6, 0x003c_70bd, 0x0038_90b8, 0x004a_b0a6, 0x0086_d191, 0x00c8_ea84, 0x00ff_ffb5],
    now: 0x009f_d0ff,
    maximum: 0x0035_66a3,
    emphasis: 0x00ff_6b8a,
    faint_color: 0x006a_7f9c,
};

/// Greys of tasks in monochrome images, as parts of ink. Adjacent ones differ much. Patterns
/// distinguish them further.
const TASK_INK: [f32; TASK_GREYS] = [0.92, 0.3, 0.62, 0.16, 0.78, 0.46, 0.7, 0.23];

/// Busy, overhead, idle, and states that do not count.
fn categories(counted_colors: &[ThemeColors; 3], kind: ThemeKind, ignored: RgbColor) -> [RgbColor; 4] {
    let [busy, overhead, idle] = counted_colors.map(|colors| kind.color_of(colors));
    [busy, overhead, idle, ignored]
}

impl ChartPalette {
    /// The colours of a theme in a palette.
    pub(crate) fn new(kind: ThemeKind, palette_kind: PaletteKind) -> Self {
        let codes = match kind {
            ThemeKind::Dark => DARK,
            ThemeKind::Contrast => CONTRAST,
            _ => LIGHT,
        };
        let mut palette = Self {
            theme: ColorTheme::new(kind),
            categories: categories(&theme_colors::CATEGORIES, kind, rgb(codes.ignored)),
            tasks: theme_colors::TASKS.map(|colors| kind.color_of(colors)).to_vec(),
            sizes: codes.sizes.map(rgb),
            now: rgb(codes.now),
            maximum: rgb(codes.maximum),
            emphasis: rgb(codes.emphasis),
            faint_color: rgb(codes.faint_color),
        };
        match palette_kind {
            PaletteKind::Standard => {}
            PaletteKind::TrafficLights => {
                palette.categories = categories(&theme_colors::TRAFFIC_LIGHTS, kind, rgb(codes.ignored));
            }
            PaletteKind::Monochrome => palette.remove_hues(),
        }
        palette
    }

    /// Replaces all colours by greys.
    fn remove_hues(&mut self) {
        let theme = self.theme;
        let step = |ink: f32| mix([(theme.ink, ink), (theme.paper, 1.0 - ink)]).unwrap_or(theme.ink);
        self.categories = self.categories.map(grey);
        self.tasks = TASK_INK.map(step).to_vec();
        self.sizes = self.sizes.map(grey);
        (self.now, self.maximum, self.faint_color) = (grey(self.now), grey(self.maximum), grey(self.faint_color));
        self.emphasis = theme.ink;
    }

    pub(crate) fn color(&self, paint: ChartPaint) -> RgbColor {
        match paint {
            ChartPaint::Category(ActivityCategory::Busy) => self.categories[0],
            ChartPaint::Category(ActivityCategory::Overhead) => self.categories[1],
            ChartPaint::Category(ActivityCategory::Idle) => self.categories[2],
            ChartPaint::Category(ActivityCategory::Ignored) => self.categories[3],
            ChartPaint::Series(number) => self.tasks[usize::from(number) % self.tasks.len()],
            ChartPaint::Task(number) => self.tasks[number as usize % self.tasks.len()],
            ChartPaint::Size(size) => self.size(size),
            ChartPaint::Now => self.now,
            ChartPaint::Maximum => self.maximum,
            ChartPaint::Emphasis => self.emphasis,
            ChartPaint::Faint => self.faint_color,
            ChartPaint::Absent => self.theme.track,
            ChartPaint::Pending => self.theme.paper,
            ChartPaint::Fixed(color) => self.theme.fill(color),
        }
    }

    /// The colour of a thin line or a small point of a paint. In greys, it contrasts with the
    /// background.
    pub(super) fn line_color(&self, paint: ChartPaint) -> RgbColor {
        let color = self.color(paint);
        let is_grey = self.emphasis == self.theme.ink;
        if !is_grey || contrast(color, self.theme.paper) >= LEAST_CONTRAST {
            return color;
        }
        let steps = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
        let darker = steps.map(|ink| mix([(self.theme.ink, ink), (color, 1.0 - ink)]).unwrap_or(color));
        let visible = darker.into_iter().find(|color| contrast(*color, self.theme.paper) >= LEAST_CONTRAST);
        visible.unwrap_or(self.theme.ink)
    }

    /// The colour of a size from 0 to 1.
    pub(super) fn size(&self, size: f32) -> RgbColor {
        let size = if size.is_finite() { size.clamp(0.0, 1.0) } else { 0.0 };
        let place = size * 6.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 5")]
        let from = (place.floor() as usize).min(5);
        #[expect(clippy::cast_precision_loss, reason = "from 0 to 5")]
        let fraction = place - from as f32;
        mix_colors(self.sizes[from], self.sizes[from + 1], fraction)
    }
}

/// A colour between two others. The steps are even for the eye, unlike those in linear light.
fn mix_colors(a: RgbColor, b: RgbColor, fraction: f32) -> RgbColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two channels")]
    let channel = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * fraction).round() as u8;
    RgbColor { red: channel(a.red, b.red), green: channel(a.green, b.green), blue: channel(a.blue, b.blue) }
}

/// The grey of the same luminance.
pub(crate) fn grey(color: RgbColor) -> RgbColor {
    let linear = |channel: u8| (f32::from(channel) / 255.0).powf(2.2);
    let luminance = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let channel = (luminance.powf(1.0 / 2.2) * 255.0).round() as u8;
    RgbColor { red: channel, green: channel, blue: channel }
}

#[cfg(test)]
mod tests;
