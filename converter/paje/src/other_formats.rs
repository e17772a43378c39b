//! Formats other than Pajé text, recognised by name or first bytes.
//!
//! ```
//! use std::path::Path;
//! use tumit_paje::other_formats::foreign_format;
//!
//! let format = foreign_format(b"{\"traceEvents\": []}", Path::new("trace.json"));
//! assert!(format.is_some_and(|format| format.name.contains("Chrome")));
//! assert_eq!(foreign_format(b"%EventDef PajeSetState 5\n", Path::new("trace.paje")), None);
//! ```

use std::path::Path;

/// A format that Tumit does not read, with advice for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherFormat {
    /// Its name, with the article.
    pub name: &'static str,
    /// Advice for the user.
    pub advice: &'static str,
}

/// The position of a format's mark in the first bytes.
enum FormatMark {
    /// At the start.
    Start(&'static [u8]),
    /// At this byte.
    At(usize, &'static [u8]),
    /// Anywhere in the first 512 bytes.
    Within(&'static [u8]),
}

const OTF2: OtherFormat = OtherFormat {
    name: "an OTF2 archive",
    advice: "Convert it with `otf2paje` (Score-P, akypuera), or open it in Vampir.",
};
const OTF: OtherFormat = OtherFormat {
    name: "a Vampir trace (OTF)",
    advice: "Convert it with `otf2paje` (akypuera), or open it in Vampir.",
};
const CTF: OtherFormat = OtherFormat {
    name: "a CTF trace (LTTng)",
    advice: "Open it in Babeltrace or Trace Compass; Tumit does not read CTF.",
};
const CHROME: OtherFormat = OtherFormat {
    name: "a Chrome trace (JSON)",
    advice: "Open it in Perfetto or chrome://tracing; Tumit writes JSON but does not read it.",
};
const PERFETTO: OtherFormat =
    OtherFormat { name: "a Perfetto trace (protobuf)", advice: "Open it in Perfetto, https://ui.perfetto.dev." };
const PARAVER: OtherFormat =
    OtherFormat { name: "a Paraver trace", advice: "Convert it with `prv2pjdump`, or open it in Paraver." };
const SLOG2: OtherFormat = OtherFormat { name: "an SLOG2 trace", advice: "Open it in Jumpshot." };
const CLOG2: OtherFormat = OtherFormat { name: "a CLOG2 trace", advice: "Open it in Jumpshot (`clog2TOslog2`)." };
const TAU: OtherFormat = OtherFormat { name: "a TAU trace", advice: "Convert it with `tau2paje` or `tau2otf2`." };
const PICL: OtherFormat = OtherFormat {
    name: "a PICL trace",
    advice: "Open it with `tumit view`, or convert it with `tumit convert x.picl -o x.paje`.",
};
const ZIP: OtherFormat =
    OtherFormat { name: "a ZIP archive", advice: "Unpack it with `unzip`, and name a file of it." };
const TAR: OtherFormat =
    OtherFormat { name: "a tar archive", advice: "Unpack it with `tar -xf`, and name a file of it." };
const INDEX: OtherFormat = OtherFormat { name: "an index of Tumit", advice: "Name the trace of the index." };
const PJ_DUMP: OtherFormat =
    OtherFormat { name: "the output of `pj_dump`", advice: "Name the Pajé file that `pj_dump` read." };
const PROGRAM: OtherFormat = OtherFormat { name: "a program", advice: "Run it, and name the trace that it writes." };
const IMAGE: OtherFormat = OtherFormat { name: "an image", advice: "Name the trace that it shows." };

const fn archive(name: &'static str) -> OtherFormat {
    OtherFormat { name, advice: "Unpack it, and name a file of it." }
}

const fn other_format(name: &'static str) -> OtherFormat {
    OtherFormat { name, advice: "Tumit reads its own runs and Pajé text." }
}

/// Formats by first bytes, the most specific first.
const BYTES: &[(FormatMark, OtherFormat)] = &[
    (FormatMark::Start(b"\x7fELF"), PROGRAM),
    (FormatMark::Start(b"MZ\x90"), PROGRAM),
    (FormatMark::Start(b"\xcf\xfa\xed\xfe"), PROGRAM),
    (FormatMark::Start(b"PK\x03\x04"), ZIP),
    (FormatMark::Start(b"PK\x05\x06"), ZIP),
    (FormatMark::At(257, b"ustar"), TAR),
    (FormatMark::Start(b"7z\xbc\xaf\x27\x1c"), archive("a 7-Zip archive")),
    (FormatMark::Start(b"Rar!"), archive("a RAR archive")),
    (FormatMark::Start(b"\x04\x22\x4d\x18"), archive("an LZ4 file")),
    (FormatMark::Start(b"LZIP"), archive("an lzip file")),
    (FormatMark::Start(b"\x1f\x9d"), archive("a file of `compress` (.Z)")),
    (FormatMark::Start(b"\x89PNG"), IMAGE),
    (FormatMark::Start(b"\xff\xd8\xff"), IMAGE),
    (FormatMark::Start(b"GIF8"), IMAGE),
    (FormatMark::Start(b"%PDF-"), other_format("a PDF document")),
    (FormatMark::Start(b"\x57\x1d\xd1\x75"), CTF),
    (FormatMark::Start(b"\x75\xd1\x1d\x57"), CTF),
    (FormatMark::Start(b"\xc1\x1f\xfc\xc1"), CTF),
    (FormatMark::Start(b"\xc1\xfc\x1f\xc1"), CTF),
    (FormatMark::Start(b"/* CTF"), CTF),
    (FormatMark::Start(b"#Paraver"), PARAVER),
    (FormatMark::Start(b"CLOG-"), CLOG2),
    (FormatMark::Start(b"SLOG"), SLOG2),
    (FormatMark::At(2, b"SLOG 2"), SLOG2),
    (FormatMark::Start(b"-3 "), PICL),
    (FormatMark::Start(b"PERFILE2"), other_format("a recording of `perf`")),
    (FormatMark::Start(b"2ELIFREP"), other_format("a recording of `perf`")),
    (FormatMark::Start(b"\x17\x08\x44tracing"), other_format("a recording of `trace-cmd`")),
    (FormatMark::Start(b"SQLite format 3"), other_format("an SQLite database, perhaps of Nsight Systems")),
    (FormatMark::Start(b"\x89HDF"), other_format("an HDF5 file")),
    (FormatMark::Start(b"PAR1"), other_format("a Parquet file")),
    (FormatMark::Start(b"\xd4\xc3\xb2\xa1"), other_format("a recording of network packets")),
    (FormatMark::Start(b"TMTINDEX"), INDEX),
    (FormatMark::Start(b"Container, "), PJ_DUMP),
    (FormatMark::Start(b"State, "), PJ_DUMP),
    (FormatMark::Within(b"OTF2"), OTF2),
];

/// Formats by file name extension, if the first bytes are not Pajé text.
const ENDINGS: &[(&str, OtherFormat)] = &[
    ("otf2", OTF2),
    ("otf", OTF),
    ("stf", OTF),
    ("vtf3", OTF),
    ("prv", PARAVER),
    ("pcf", PARAVER),
    ("pftrace", PERFETTO),
    ("perfetto-trace", PERFETTO),
    ("slog2", SLOG2),
    ("clog2", CLOG2),
    ("trc", TAU),
    ("edf", TAU),
    ("tmtx", INDEX),
    ("tar", TAR),
    ("zip", ZIP),
];

/// The format of a file that is neither Pajé text nor part of a run, if its first bytes (a few
/// thousand are enough) or its name identify it.
#[must_use]
pub fn foreign_format(first: &[u8], path: &Path) -> Option<OtherFormat> {
    let is_there = |mark: &FormatMark| match *mark {
        FormatMark::Start(mark) => first.starts_with(mark),
        FormatMark::At(offset, mark) => first.get(offset..).is_some_and(|rest| rest.starts_with(mark)),
        FormatMark::Within(mark) => {
            let first = &first[..first.len().min(512)];
            first.contains(&0) && memchr::memmem::find(first, mark).is_some()
        }
    };
    if let Some((_, format)) = BYTES.iter().find(|(mark, _)| is_there(mark)) {
        return Some(*format);
    }
    let text = first.trim_ascii_start();
    if text.starts_with(b"%") || first.starts_with(&tracer_format::FILE_MAGIC) {
        return None;
    }
    let is_text = !first.contains(&0);
    if is_text && (text.starts_with(b"{") || text.starts_with(b"[")) {
        let has = |mark: &str| memchr::memmem::find(first, mark.as_bytes()).is_some();
        let is_chrome = has("\"traceEvents\"") || has("\"ph\"");
        return Some(if is_chrome { CHROME } else { other_format("JSON") });
    }
    if is_text && text.starts_with(b"<") {
        return Some(other_format("XML or HTML"));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    if let Some((_, format)) = ENDINGS.iter().find(|(suffix, _)| *suffix == ending) {
        return Some(*format);
    }
    // A Perfetto trace starts with a trace packet: field 1, with a length.
    (first.starts_with(b"\n") && first.contains(&0) && !first.iter().all(u8::is_ascii_whitespace)).then_some(PERFETTO)
}

/// The format of a folder that is not a run.
#[must_use]
pub fn foreign_folder(path: &Path) -> Option<OtherFormat> {
    foreign_below(path, 4)
}

fn foreign_below(path: &Path, depth: u32) -> Option<OtherFormat> {
    let mut below = Vec::new();
    for entry in std::fs::read_dir(path).ok()?.take(1000).flatten() {
        let path = entry.path();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("tmt" | "live") => return None,
            Some("otf2") => return Some(OTF2),
            _ if entry.file_name() == "metadata" => return Some(CTF),
            // Symbolic links are not followed, because they may form a cycle.
            _ if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) => below.push(path),
            _ => {}
        }
    }
    below.iter().find_map(|folder| foreign_below(folder, depth - 1))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::foreign_format;

    #[test]
    fn formats_are_recognised_by_their_first_bytes_or_name() {
        let mut tar = vec![b'a'; 257];
        tar.extend_from_slice(b"ustar\x0000");
        let cases: [(&[u8], &str, Option<&str>); 16] = [
            (b"\x03\x23\0\0\0\0\0\0\0\0OTF2", "x", Some("an OTF2 archive")),
            (b"anything", "traces.otf2", Some("an OTF2 archive")),
            (b"/* CTF 1.8 */\n", "metadata", Some("a CTF trace (LTTng)")),
            (b"{\"traceEvents\": [", "x.json", Some("a Chrome trace (JSON)")),
            (b"[{\"name\": \"a\", \"ph\": \"B\"", "x", Some("a Chrome trace (JSON)")),
            (b"{}", "x.json", Some("JSON")),
            (b"\n\x10\x08\0ab", "x.pftrace", Some("a Perfetto trace (protobuf)")),
            (b"\n\x10\x08\0ab", "x", Some("a Perfetto trace (protobuf)")),
            (b"#Paraver (01/01/2026", "x", Some("a Paraver trace")),
            (b"-3 -901 0.0 0 0 0", "x", Some("a PICL trace")),
            (b"CLOG-02.44", "x", Some("a CLOG2 trace")),
            (&tar, "x", Some("a tar archive")),
            (b"\x7fELF\x02", "x", Some("a program")),
            (b"%EventDef PajeNewEvent 1", "x.otf2", None),
            (b"# comment\n%EventDef", "x.paje", None),
            (b"\n\n%EventDef", "x", None),
        ];
        for (first, name, expected) in cases {
            assert_eq!(foreign_format(first, Path::new(name)).map(|format| format.name), expected, "{name}");
        }
    }
}
