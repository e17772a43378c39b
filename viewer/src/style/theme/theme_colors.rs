//! [`ThemeColors`]: colours that each theme has in a version of its own.
//!
//! A trace that the views derive has the colours of the light theme. [`ColorTheme::fill`] replaces
//! them by those of another theme, so that a category or task has the same colour in diagrams and
//! in charts.
//!
//! [`ColorTheme::fill`]: super::ColorTheme::fill

use tumit_paje::RgbColor;
use tumit_paje::task_colors::TASK_COLORS;

/// A colour in each theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the themes")]
pub struct ThemeColors {
    pub light: RgbColor,
    pub dark: RgbColor,
    pub contrast: RgbColor,
}

/// Converts `0xRRGGBB` to a colour.
const fn color(hex: u32) -> RgbColor {
    let [_, red, green, blue] = hex.to_be_bytes();
    RgbColor { red, green, blue }
}

impl ThemeColors {
    const fn new(light_color: u32, dark_color: u32, contrast: u32) -> Self {
        Self { light: color(light_color), dark: color(dark_color), contrast: color(contrast) }
    }

    const fn of_task(number: usize, dark_color: u32, contrast: u32) -> Self {
        Self { light: TASK_COLORS[number], dark: color(dark_color), contrast: color(contrast) }
    }
}

/// Busy, overhead and idle. Busy time contrasts most with the background, idle time least, but at
/// least 1.5:1 with time without a state.
pub const CATEGORIES: [ThemeColors; 3] = [
    ThemeColors::new(0x0011_606b, 0x007f_d6cf, 0x005c_f2e6),
    ThemeColors::new(0x00c9_8a1e, 0x00c0_7a1c, 0x00e0_8a00),
    ThemeColors::new(0x00d4_b9b6, 0x0052_3d3f, 0x006b_4446),
];

/// Green, yellow and red for busy, overhead and idle. Their luminance differs, because not
/// everybody distinguishes their hues.
pub const TRAFFIC_LIGHTS: [ThemeColors; 3] = [
    ThemeColors::new(0x001b_7a37, 0x0045_b564, 0x0045_b564),
    ThemeColors::new(0x00ff_d23f, 0x00ff_dd66, 0x00ff_dd66),
    ThemeColors::new(0x00d6_4550, 0x00b0_3a48, 0x00b0_3a48),
];

/// The colours of tasks and series.
pub const TASKS: [ThemeColors; 6] = [
    ThemeColors::of_task(0, 0x003d_8fdc, 0x004a_a3ff),
    ThemeColors::of_task(1, 0x00f0_b02c, 0x00ff_c233),
    ThemeColors::of_task(2, 0x001f_ae86, 0x001f_d19f),
    ThemeColors::of_task(3, 0x00d9_8bb8, 0x00f2_9acb),
    ThemeColors::of_task(4, 0x008f_d4fa, 0x00b0_e6ff),
    ThemeColors::of_task(5, 0x00e0_692a, 0x00ff_7a33),
];

/// The versions of a colour of the light theme. `None` if other themes have the same colour.
pub(super) fn versions_of(color: RgbColor) -> Option<ThemeColors> {
    let all = CATEGORIES.iter().chain(&TRAFFIC_LIGHTS).chain(&TASKS);
    all.copied().find(|colors| colors.light == color)
}
