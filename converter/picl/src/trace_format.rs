//! [`TraceFormat`]: recognises PICL and Alog by their first lines.

use std::path::Path;

use crate::old_picl::{OLD_KEYS, key_of_name};
use crate::record_words::{RecordWords, integer, nanos, nanos_of};

/// The formats that this package reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// Old PICL (PICL 1.x), in its compact or its verbose form. Each line has its own form.
    OldPicl,
    /// New PICL (PICL 2.0, MPICL).
    NewPicl,
    /// Alog.
    Alog,
}

/// Maximum number of lines that are examined after the first one.
const MAX_LINES: usize = 8;

impl TraceFormat {
    /// The format of a file with these first bytes; a few hundred are enough. `None` if it is
    /// another format.
    ///
    /// ```
    /// use tumit_picl::TraceFormat;
    ///
    /// assert_eq!(TraceFormat::of(b"-3 -901 0.00000 0 0 0\n"), Some(TraceFormat::NewPicl));
    /// let old = b"send clock 0 15 node 1 3 to 0 type 7 lth 8\n";
    /// assert_eq!(TraceFormat::of(old), Some(TraceFormat::OldPicl));
    /// assert_eq!(TraceFormat::of(b"-1 0 0 0 0 0 Upshot\n"), Some(TraceFormat::Alog));
    /// assert_eq!(TraceFormat::of(b"%EventDef PajeSetState 5\n"), None);
    /// ```
    #[must_use]
    pub fn of(first: &[u8]) -> Option<Self> {
        let lines = first_lines(first)?;
        let (start, next_lines) = lines.split_first()?;
        if let Some(format) = Self::of_line(start).filter(|format| *format != Self::OldPicl || is_verbose(start)) {
            return Some(format);
        }
        // A table of numbers can begin like a compact record, so several lines must fit. At most a
        // quarter of them may be damaged. If the first line is damaged, at least two others fit.
        let min_lines = if is_compact(start) { 0 } else { 2 };
        let format =
            if is_compact(start) { Self::OldPicl } else { next_lines.iter().find_map(|line| Self::of_line(line))? };
        let fitting = next_lines.iter().filter(|line| Self::of_line(line) == Some(format)).count();
        (fitting >= min_lines && (next_lines.len() - fitting) * 4 <= next_lines.len()).then_some(format)
    }

    /// The format of a file with a name and these first bytes. A file with the extension `picl` or
    /// `alog` may have more damaged lines.
    ///
    /// ```
    /// use std::path::Path;
    /// use tumit_picl::TraceFormat;
    ///
    /// let first = b"damaged\n4 0 100 0 1 7 64\ndamaged\n";
    /// assert_eq!(TraceFormat::of(first), None);
    /// assert_eq!(TraceFormat::of_file(first, Path::new("run.picl")), Some(TraceFormat::OldPicl));
    /// ```
    #[must_use]
    pub fn of_file(first: &[u8], path: &Path) -> Option<Self> {
        Self::of(first).or_else(|| {
            let lines = first_lines(first).filter(|_| Self::has_extension(path))?;
            lines.iter().find_map(|line| Self::of_line(line))
        })
    }

    /// Whether a file has the extension `picl` or `alog`.
    #[must_use]
    pub fn has_extension(path: &Path) -> bool {
        let ending = path.extension();
        ending.is_some_and(|ending| ["picl", "alog"].iter().any(|name| ending.eq_ignore_ascii_case(name)))
    }

    /// The format of a line.
    fn of_line(line: &[u8]) -> Option<Self> {
        if is_new(line) {
            Some(Self::NewPicl)
        } else if is_verbose(line) || is_compact(line) {
            Some(Self::OldPicl)
        } else {
            is_alog(line).then_some(Self::Alog)
        }
    }

    /// The name of the format in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OldPicl => "PICL (old format)",
            Self::NewPicl => "PICL (new format)",
            Self::Alog => "Alog",
        }
    }
}

/// The first lines with content before a NUL byte, without comments at the start. `None` for Pajé
/// text.
fn first_lines(first: &[u8]) -> Option<Vec<&[u8]>> {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    // A writer or a file system can add NUL bytes to the end of a trace.
    let first = first.iter().position(|&byte| byte == 0).map_or(first, |nul| &first[..nul]);
    let mut lines: Vec<&[u8]> = first.split(|&byte| byte == b'\n').collect();
    // The last line can be incomplete.
    if lines.len() > 1 {
        lines.pop();
    }
    let is_content = |line: &&[u8]| !line.trim_ascii().is_empty();
    let lines = lines.into_iter().filter(is_content).skip_while(|line| line.trim_ascii().starts_with(b"#"));
    let lines: Vec<&[u8]> = lines.take(MAX_LINES + 1).collect();
    let is_paje = lines.iter().any(|line| line.trim_ascii_start().starts_with(b"%"));
    (!is_paje).then_some(lines)
}

/// Whether a line is a record of new PICL: type, event, time, node, process, count. The time or a
/// negative event distinguishes it from a header of Alog.
fn is_new(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = RecordWords::of(line).take(6).collect();
    let [record, event, time, node, process, count] = words[..] else { return false };
    let is_record = integer(record).is_some_and(|record| (-299..=-2).contains(&record));
    let Some(event) = integer(event) else { return false };
    is_record
        && nanos(time).is_some()
        && (event < 0 || integer(time).is_none())
        && [node, process].iter().all(|word| integer(word).is_some())
        && integer(count).is_some_and(|count| count >= 0)
}

fn is_verbose(line: &[u8]) -> bool {
    let mut words = RecordWords::of(line);
    words.next().is_some_and(|name| key_of_name(name).is_some())
        && words.next() == Some(b"clock")
        && words.integer().is_some()
}

/// Whether a line is a record of the header of Alog.
fn is_alog(line: &[u8]) -> bool {
    let mut words = RecordWords::of(line);
    words.integer().is_some_and(|kind| (-100..0).contains(&kind))
        && (0..4).all(|_| words.integer().is_some())
        && words.next().is_some_and(|time| nanos(time).is_some())
}

/// Whether a line is a compact record: type, seconds, microseconds, node, and the values of the
/// type.
fn is_compact(line: &[u8]) -> bool {
    let mut words = RecordWords::of(line);
    let Some(number) = words.integer() else { return false };
    let Some(key) = OLD_KEYS.iter().find(|key| key.number == number) else { return false };
    let (Some(seconds), Some(micros), Some(node)) = (words.integer(), words.integer(), words.integer()) else {
        return false;
    };
    let is_place =
        micros.unsigned_abs() < 1_000_000 && nanos_of(seconds, micros).is_some() && (-32768..1 << 20).contains(&node);
    is_place && words.count() >= key.min_values
}

#[cfg(test)]
mod tests {
    use super::TraceFormat;

    #[test]
    fn formats_are_recognised_by_their_first_lines() {
        let cases: [(&str, Option<TraceFormat>); 20] = [
            ("-3 -901          0 0 -1 0 \n-2 -904          0 0 -1 3 2 4 4 0 \n", Some(TraceFormat::NewPicl)),
            ("-202 -812 0.0 -1 -1 3 2 0 0 1\n", Some(TraceFormat::NewPicl)),
            ("-3 5 0.5 0 0 0\n", Some(TraceFormat::NewPicl)),
            ("-3 0 0 4 0 0\n", Some(TraceFormat::Alog)),
            ("# a comment\n-1 0 0 0 0 0 Upshot on 24 Nov\n-2 0 0 8 0 0\n", Some(TraceFormat::Alog)),
            ("1 0 17 0 4 4 0\n4 0 25 0 1 7 8\n", Some(TraceFormat::OldPicl)),
            ("trace_start clock 0 -15 node 0 3 event 4 compstats 4 commstats 0", Some(TraceFormat::OldPicl)),
            ("1 0 17 0 4 4 0\nsync clock 0 20 node 0 0\n4 0 25 0 1 7", Some(TraceFormat::OldPicl)),
            ("4 0 25 0 1\n", None),
            ("1 2 3 4\n5 6 7 8 9\n99 1 2 3\n", None),
            ("1 2 3.5 4\n", None),
            // The first line is damaged.
            ("garbage\n4 0 100 0 1 7 64\n6 0 200 1 0 7 64\n", Some(TraceFormat::OldPicl)),
            ("garbage\n-3 -901 0.0 0 0 0\n-3 -901 0.0 1 0 0\n", Some(TraceFormat::NewPicl)),
            ("x y z\n4 0 100 0 1 7 64\n99 2 3 4\n", None),
            ("x y z\n4 0 100 0 1 7 64\n", None),
            ("1 0 17 0 4 4 0\n4 0 25 0 1 7 8\n\0\0\0", Some(TraceFormat::OldPicl)),
            ("\0\0\n4 0 25 0 1 7 8\n4 0 25 0 1 7 8\n", None),
            ("trace hello;\n", None),
            ("", None),
            ("-1 5\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(TraceFormat::of(text.as_bytes()), expected, "{text}");
        }
    }
}
