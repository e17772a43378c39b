//! Numbers, texts and colours in the syntax of SVG.

use std::fmt::Write as _;

use crate::style::theme::ColorWithOpacity;

/// A number with at most two decimals. Images have hundreds of thousands of numbers. Formatting
/// them as whole hundredths takes a quarter of the time of a float.
#[derive(Clone, Copy)]
pub(super) struct SvgNumber(pub(super) f32);

impl SvgNumber {
    /// The nearest whole number of hundredths; 0 for NaN.
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates, and images are smaller")]
    pub(super) fn hundredths(self) -> i64 {
        let hundredths = f64::from(self.0) * 100.0;
        (hundredths + 0.5_f64.copysign(hundredths)) as i64
    }

    pub(super) fn push_to(self, text: &mut String) {
        let hundredths = self.hundredths();
        let (integer, part) = (hundredths.unsigned_abs() / 100, (hundredths.unsigned_abs() % 100) as u8);
        if hundredths < 0 {
            text.push('-');
        }
        text.push_str(itoa::Buffer::new().format(integer));
        if part > 0 {
            text.push('.');
            text.push(char::from(b'0' + part / 10));
            if !part.is_multiple_of(10) {
                text.push(char::from(b'0' + part % 10));
            }
        }
    }
}

impl std::fmt::Display for SvgNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Appends commands of a path; each is a letter and a number.
pub(super) fn steps<const N: usize>(path: &mut String, commands: [(char, f32); N]) {
    for (letter, number) in commands {
        path.push(letter);
        SvgNumber(number).push_to(path);
    }
}

/// Text in which characters that XML reserves or forbids are replaced.
pub(super) struct XmlText<'a>(pub(super) &'a str);

impl std::fmt::Display for XmlText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A fill or stroke with its opacity.
pub(super) struct SvgPaint<'a>(pub(super) &'a str, pub(super) ColorWithOpacity);

impl std::fmt::Display for SvgPaint<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(name, paint) = self;
        write!(f, " {name}=\"{}\"", paint.color)?;
        if paint.alpha < 1.0 { write!(f, " {name}-opacity=\"{}\"", SvgNumber(paint.alpha)) } else { Ok(()) }
    }
}
