//! Sizes in bytes, in the notation of users: `4096`, `500K`, `64M`, `2G`.

use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) usize);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let shift = match text[digits..].trim().to_ascii_uppercase().as_str() {
            "" | "B" => 0,
            "K" | "KB" | "KIB" => 10,
            "M" | "MB" | "MIB" => 20,
            "G" | "GB" | "GIB" => 30,
            unit => {
                return Err(format!("`{unit}` is not a unit of bytes: write K, M or G after the number, as in 64M"));
            }
        };
        let Ok(number) = text[..digits].parse::<usize>() else {
            return Err("expected a number of bytes, as in 500K, 64M or 2G".to_owned());
        };
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| {
            "the size exceeds the address range of this machine: write a smaller one, as in 64M".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in
            [("0", 0), ("4096", 4096), ("500K", 500 << 10), ("64M", 64 << 20), ("64 mib", 64 << 20), ("2g", 2 << 30)]
        {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "M", "1.5G", "-1", "7 miles", "99999999999G"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
