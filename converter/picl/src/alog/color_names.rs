//! The colours that state definitions of Alog name.

use tumit_paje::RgbColor;

const fn rgb(red: u8, green: u8, blue: u8) -> RgbColor {
    RgbColor { red, green, blue }
}

/// Names of X11, in lower case.
const COLORS: &[(&str, RgbColor)] = &[
    ("aquamarine", rgb(127, 255, 212)),
    ("bisque", rgb(255, 228, 196)),
    ("black", rgb(0, 0, 0)),
    ("blue", rgb(0, 0, 255)),
    ("brown", rgb(165, 42, 42)),
    ("burlywood", rgb(222, 184, 135)),
    ("coral", rgb(255, 127, 80)),
    ("cyan", rgb(0, 255, 255)),
    ("gold", rgb(255, 215, 0)),
    ("gray", rgb(190, 190, 190)),
    ("green", rgb(0, 255, 0)),
    ("grey", rgb(190, 190, 190)),
    ("khaki", rgb(240, 230, 140)),
    ("lavender", rgb(230, 230, 250)),
    ("magenta", rgb(255, 0, 255)),
    ("maroon", rgb(176, 48, 96)),
    ("navy", rgb(0, 0, 128)),
    ("orange", rgb(255, 165, 0)),
    ("orchid", rgb(218, 112, 214)),
    ("pink", rgb(255, 192, 203)),
    ("plum", rgb(221, 160, 221)),
    ("purple", rgb(160, 32, 240)),
    ("red", rgb(255, 0, 0)),
    ("salmon", rgb(250, 128, 114)),
    ("seagreen", rgb(46, 139, 87)),
    ("sienna", rgb(160, 82, 45)),
    ("skyblue", rgb(135, 206, 235)),
    ("steelblue", rgb(70, 130, 180)),
    ("tan", rgb(210, 180, 140)),
    ("turquoise", rgb(64, 224, 208)),
    ("violet", rgb(238, 130, 238)),
    ("wheat", rgb(245, 222, 179)),
    ("white", rgb(255, 255, 255)),
    ("yellow", rgb(255, 255, 0)),
];

/// The colour with a name, in any case, or with a form such as `#ff8000`.
pub(super) fn color_of(name: &str) -> Option<RgbColor> {
    if let Some(digits) = name.strip_prefix('#') {
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6)?;
        let [_, red, green, blue] = number.to_be_bytes();
        return Some(rgb(red, green, blue));
    }
    let name = name.to_ascii_lowercase();
    COLORS.iter().find(|(color_name, _)| *color_name == name).map(|(_, color)| *color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_names_or_digits() {
        assert_eq!(color_of("SkyBlue"), Some(rgb(135, 206, 235)));
        assert_eq!(color_of("#0102ff"), Some(rgb(1, 2, 255)));
        assert_eq!(color_of("#12"), None);
        assert_eq!(color_of("nocolour"), None);
    }
}
