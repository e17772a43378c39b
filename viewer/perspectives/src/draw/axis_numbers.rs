//! Numbers of a quantity as text, with one unit of measurement for a whole axis or column.

use tumit_viewer::scene::number;
use tumit_viewer::text::time_display::{duration, group_digits};

use crate::chart::AxisUnit;

/// The unit of measurement in which the numbers of an axis or column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberUnit {
    /// Its name, such as `MiB`. Empty for counts.
    pub(super) name: &'static str,
    pub(super) size: f64,
    /// Whether round numbers are powers of two.
    pub(super) is_binary: bool,
}

/// Units of bytes. Each is 1024 times the one before.
const BYTE_UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const KIB: f64 = 1024.0;
/// Units of times, the largest first, with the smallest duration that is written in them.
const NANOS: [(&str, f64, f64); 7] = [
    ("d", 86_400e9, 3.0 * 86_400e9),
    ("h", 3_600e9, 3.0 * 3_600e9),
    ("min", 60e9, 600e9),
    ("s", 1e9, 1e9),
    ("ms", 1e6, 1e6),
    ("µs", 1e3, 1e3),
    ("ns", 1.0, 0.0),
];

impl NumberUnit {
    /// The unit of measurement in which numbers up to `maximum` are short.
    pub(super) fn new(axis_unit: AxisUnit, maximum: f64) -> Self {
        let maximum = maximum.abs();
        match axis_unit {
            AxisUnit::Count => Self { name: "", size: 1.0, is_binary: false },
            AxisUnit::Percent => Self { name: "%", size: 1.0, is_binary: false },
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number saturates")]
            AxisUnit::Bytes => {
                let (name, size) = byte_unit(maximum as u64);
                #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
                let size = size as f64;
                Self { name, size, is_binary: true }
            }
            AxisUnit::Nanos => {
                let (name, size, _) = NANOS.into_iter().find(|(_, _, least)| maximum >= *least).unwrap_or(NANOS[6]);
                Self { name, size, is_binary: false }
            }
        }
    }

    /// The name of a quantity with this unit of measurement, such as `pending, MiB`.
    pub(super) fn heading(&self, name: &str) -> String {
        match (name.is_empty(), self.name.is_empty()) {
            (_, true) => name.to_owned(),
            (true, false) => self.name.to_owned(),
            (false, false) if self.name == "%" && (name.contains("%") || name.contains("percent")) => name.to_owned(),
            (false, false) => format!("{name}, {}", self.name),
        }
    }
}

/// The largest unit of which a number of bytes is a multiple of at least 1, and its size in bytes.
fn byte_unit(bytes: u64) -> (&'static str, u64) {
    let exponent = bytes.max(1).ilog2() / 10;
    (BYTE_UNITS[exponent as usize], 1 << (10 * exponent))
}

/// A number of bytes as text, in the largest binary unit of which it is a multiple of at least 1.
/// It is truncated to one decimal.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let (unit, size) = byte_unit(bytes);
    let (integer, tenths) = (bytes / size, u128::from(bytes % size) * 10 / u128::from(size));
    if tenths == 0 { format!("{integer} {unit}") } else { format!("{integer}.{tenths} {unit}") }
}

/// A number with a number of decimals, and narrow spaces between groups of thousands.
pub(super) fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let integer = integer.parse().map_or_else(|_| integer.to_owned(), group_digits);
    if fraction.is_empty() { format!("{sign}{integer}") } else { format!("{sign}{integer}.{fraction}") }
}

/// A single value with its unit of measurement, such as `1.5 MiB`.
pub(super) fn value_text(value: f64, axis_unit: AxisUnit) -> String {
    match axis_unit {
        AxisUnit::Count => number(value),
        AxisUnit::Percent => format!("{} %", decimal(value, usize::from(value.fract() != 0.0))),
        #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
        AxisUnit::Nanos => duration(value.round() as i64),
        AxisUnit::Bytes => {
            let number_unit = NumberUnit::new(AxisUnit::Bytes, value);
            format!("{} {}", number(value / number_unit.size), number_unit.name)
        }
    }
}

/// A value with its unit. Many bytes are also written as a whole number.
pub(super) fn exact_text(value: f64, axis_unit: AxisUnit) -> String {
    let text = value_text(value, axis_unit);
    if axis_unit != AxisUnit::Bytes || value < KIB || value.fract() != 0.0 {
        return text;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of bytes")]
    let bytes = group_digits(value as u64);
    format!("{text} ({bytes} B)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_usual_units() {
        for (value, axis_unit, text) in [
            (0.0, AxisUnit::Count, "0"),
            (12_345.0, AxisUnit::Count, "12\u{202f}345"),
            (2.5, AxisUnit::Count, "2.5"),
            (1536.0, AxisUnit::Bytes, "1.5 KiB"),
            (100.0, AxisUnit::Bytes, "100 B"),
            (2_500_000.0, AxisUnit::Nanos, "2.500 ms"),
            (50.0, AxisUnit::Percent, "50 %"),
            (33.333, AxisUnit::Percent, "33.3 %"),
        ] {
            assert_eq!(value_text(value, axis_unit), text);
        }
        assert_eq!(decimal(-1234.5, 1), "−1\u{202f}234.5");
        assert_eq!(decimal(-0.04, 1), "0.0");
        assert_eq!(NumberUnit::new(AxisUnit::Bytes, 3e6).heading("pending"), "pending, MiB");
    }

    #[test]
    fn bytes_are_written_in_binary_units() {
        assert_eq!(bytes_text(0), "0 B");
        assert_eq!(bytes_text(1023), "1023 B");
        assert_eq!(bytes_text(1536), "1.5 KiB");
        assert_eq!(bytes_text(u64::MAX), "15.9 EiB");
        for (value, name) in [(0.5, "B"), (1023.9, "B"), (-2048.0, "KiB"), (1e13, "TiB"), (1e30, "EiB")] {
            assert_eq!(NumberUnit::new(AxisUnit::Bytes, value).name, name, "{value}");
        }
    }
}
