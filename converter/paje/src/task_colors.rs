//! [`TASK_COLORS`]: the colours of numbered tasks.

use crate::RgbColor;

/// The colours of tasks, as in `ParaGraph`: that of a task is its number modulo six. They are
/// distinguishable with any kind of colour vision. The colours are those of the light theme.
pub const TASK_COLORS: [RgbColor; 6] = [
    RgbColor { red: 0x0f, green: 0x6c, blue: 0xb5 },
    RgbColor { red: 0xe6, green: 0x9f, blue: 0x00 },
    RgbColor { red: 0x0a, green: 0x8f, blue: 0x6b },
    RgbColor { red: 0xcc, green: 0x6f, blue: 0xa2 },
    RgbColor { red: 0x5c, green: 0xb8, blue: 0xec },
    RgbColor { red: 0xbf, green: 0x4a, blue: 0x0a },
];
