//! The fixed part of every reading header: `reader.h` with its parts inserted, and the constants of
//! the byte format.

use std::fmt::Write as _;

use tracer_format::schema::Scalar;

use super::super::format_constants::constants;

const RUNTIME: &str = include_str!("../reader.h");

/// The parts, by the names in their include lines.
const PARTS: [(&str, &str); 19] = [
    ("platform", include_str!("../reader/platform.h")),
    ("bytes", include_str!("../reader/bytes.h")),
    ("columns", include_str!("../reader/columns.h")),
    ("printable", include_str!("../reader/printable.h")),
    ("text", include_str!("../reader/text.h")),
    ("schema", include_str!("../reader/schema.h")),
    ("file", include_str!("../reader/file.h")),
    ("process_tables", include_str!("../reader/process_tables.h")),
    ("streams", include_str!("../reader/streams.h")),
    ("sorted_file", include_str!("../reader/sorted_file.h")),
    ("threads", include_str!("../reader/threads.h")),
    ("process", include_str!("../reader/process.h")),
    ("rate", include_str!("../reader/rate.h")),
    ("run", include_str!("../reader/run.h")),
    ("read", include_str!("../reader/read.h")),
    ("decode", include_str!("../reader/decode.h")),
    ("print", include_str!("../reader/print.h")),
    ("write", include_str!("../reader/write.h")),
    ("encode", include_str!("../reader/encode.h")),
];

/// The text of the runtime.
pub(super) fn text() -> String {
    let mut out = String::new();
    for line in RUNTIME.lines() {
        match line.strip_prefix("#include \"reader/").and_then(|rest| rest.strip_suffix(".h\"")) {
            Some("format") => out.push_str(&numbers()),
            Some(part) => {
                let text = PARTS.iter().find(|(name, _)| *name == part).map(|(_, text)| *text);
                out.push_str(text.expect("every include line of reader.h names a part"));
                out.push('\n');
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// The constant for a scalar type.
pub(super) fn scalar_name(scalar: Scalar) -> &'static str {
    SCALARS[scalar.number() as usize]
}

/// Names of the scalar types, in the order of their numbers in a schema.
pub(super) const SCALARS: [&str; 17] = [
    "TUMIT1R_U8",
    "TUMIT1R_U16",
    "TUMIT1R_U32",
    "TUMIT1R_U64",
    "TUMIT1R_I8",
    "TUMIT1R_I16",
    "TUMIT1R_I32",
    "TUMIT1R_I64",
    "TUMIT1R_F32",
    "TUMIT1R_F64",
    "TUMIT1R_BOOL",
    "TUMIT1R_DATE",
    "TUMIT1R_POINTER",
    "TUMIT1R_ENUM",
    "TUMIT1R_INTERNED",
    "TUMIT1R_STRING",
    "TUMIT1R_BYTES",
];

/// The numbers of the byte format, and numbers that only the reader uses.
fn numbers() -> String {
    // Forms of fields, and the sizes in bytes of one read and one write.
    let reader_only = [("ONE", 0), ("FIXED", 1), ("VARIABLE", 2), ("CHUNK", 1 << 20), ("OUT_BLOCK", 1 << 16)];
    let mut out = constants("TUMIT1R_", &reader_only);
    for (number, name) in SCALARS.iter().enumerate() {
        let _ = writeln!(out, "#define {name} {number}u");
    }
    out.push('\n');
    out
}
