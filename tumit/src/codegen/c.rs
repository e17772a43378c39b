//! The C back end: one self-contained C99 header, also good as C++11, that holds the recorder and a function for each
//! record of the spec.

mod function;
mod names;
mod runtime;

use std::fmt::Write as _;

use tracer_format::checksum::crc32c;
use tracer_format::schema::{FieldType, RecordKind, Scalar};

use super::{Backend, File, Files, Options, Unsupported};
use crate::Spec;
pub(super) use names::Names;

/// Generates C headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct C;

impl Backend for C {
    fn generate(&self, spec: &Spec, options: &Options) -> Result<Files, Unsupported> {
        let names = Names::new(spec)?;
        let schema = spec.schema().encode();
        let header =
            Header { spec, options, names: &names, tag: format!("{}_{:08x}", names.trace, crc32c(0, &schema)) };
        let mut out = header.banner();
        out.push_str(QUIET);
        out.push_str(&runtime::text());
        let guard = format!("TUMIT_TRACE_{}", names.trace);
        let _ = write!(out, "\n#ifndef {guard}\n#define {guard}\n");
        header.switches(&mut out);
        header.enums(&mut out);
        header.tables(&mut out, &schema);
        for record in 0..spec.records.len() {
            function::write(&mut out, &header, record)?;
        }
        let _ = write!(out, "\n#endif /* {guard} */\n#pragma GCC diagnostic pop\n");
        Ok(Files(vec![File { name: format!("{}_trace.h", names.trace), text: out }]))
    }
}

/// What all sections of a header need.
struct Header<'a> {
    spec: &'a Spec,
    options: &'a Options,
    names: &'a Names,
    /// Ends the names of data that programs share: the trace, and a hash of its schema, so that two versions of a spec
    /// linked into one program stay two.
    tag: String,
}

impl Header<'_> {
    fn banner(&self) -> String {
        let trace = &self.names.trace;
        let root =
            self.spec.sources.first().map_or("a spec", |source| source.path.rsplit('/').next().unwrap_or_default());
        let mut out = String::new();
        let _ = writeln!(
            out,
            "/* Tracing functions of the trace `{trace}`, made from {} by tumit {}.",
            comment(root),
            VERSION
        );
        out.push_str(
            " * This file belongs to whoever made it; copy it as you like. It needs nothing but a C99 or C++11 compiler on\n \
             * Linux; link with -pthread.\n *\n",
        );
        for line in self.spec.doc.lines() {
            let _ = writeln!(out, " * {}", comment(line));
        }
        let upper = trace.to_uppercase();
        let level = self.spec.levels.first().map_or("LEVEL", |level| level.name.as_str());
        let _ = write!(
            out,
            " *
 * In the environment of the traced program:
 *   TUMIT_TRACE=run.tmt     the run folder; else one is named after the program
 *   TUMIT_LEVELS={level}=off   switches levels when the program starts
 * Before including:
 *   #define TUMIT_OFF       removes all tracing
 *   #define {upper}_OFF_{level}   removes the level {level}
 *   #define TUMIT_MPI       in the file that calls MPI_Init and MPI_Finalize
 *   #define TUMIT_CLOCK()   a clock of your own, with TUMIT_CLOCK_HZ and TUMIT_CLOCK_DOMAIN
 * At run time: tumit1_set_level(\"{level}\", 0), tumit1_set_thread_name(\"name\"), tumit1_now() for dates,
 * tumit1_set_clock(ticks, hz, domain) before the first record, tumit1_flush().
 * Records reach the file when a thread's buffer (64 KiB) is full, at tumit1_flush(), and when the thread or the program
 * ends; a program that is killed leaves a readable file without the last of each thread. */

"
        );
        out
    }

    /// A macro per level: 1 unless its functions are removed.
    fn switches(&self, out: &mut String) {
        let trace = &self.names.trace;
        out.push_str("\n/* Levels that are compiled in. */\n");
        for (level, name) in self.spec.levels.iter().zip(&self.names.levels) {
            let has = self.names.has(name);
            if self.options.off.contains(&level.name) {
                let _ = writeln!(out, "#define {has} 0");
                continue;
            }
            let off = format!("{}_OFF_{name}", trace.to_uppercase());
            let _ = write!(
                out,
                "#if defined TUMIT_OFF || defined {off}\n#define {has} 0\n#else\n#define {has} 1\n#endif\n"
            );
        }
    }

    fn enums(&self, out: &mut String) {
        for (item, name) in self.spec.enums.iter().zip(&self.names.enums) {
            out.push('\n');
            doc(out, &item.doc);
            let values: Vec<_> = item
                .values
                .iter()
                .map(|value| format!("    {name}_{} = {}", names::raw(&value.name), value.number))
                .collect();
            let _ = write!(out, "enum {name} {{\n{}\n}};\n", values.join(",\n"));
        }
    }

    /// Schema, shapes and level words, and the constructor that makes them known.
    fn tables(&self, out: &mut String, schema: &[u8]) {
        let tag = &self.tag;
        let (shapes, starts) = self.shapes();
        out.push_str("\n#ifndef TUMIT_OFF\nTUMIT1_BEGIN_DECLS\n");
        out.push_str("/* The words of the levels: switched by tumit1_set_level() and TUMIT_LEVELS. */\n");
        for name in &self.names.levels {
            let word = self.word(name);
            let _ = write!(
                out,
                "extern TUMIT1_WEAK uint32_t {word};\nuint32_t {word};\n#define {}_level_{name} {word}\n",
                self.names.trace
            );
        }
        out.push_str("/* The compiled spec, copied into each run. */\n");
        array(out, "unsigned char", &format!("tumit1_schema_{tag}"), schema.iter().map(ToString::to_string));
        array(out, "uint32_t", &format!("tumit1_shapes_{tag}"), shapes.iter().map(|word| format!("{word}u")));
        array(out, "uint32_t", &format!("tumit1_shape_at_{tag}"), starts.iter().map(|word| format!("{word}u")));
        let levels =
            self.spec.levels.iter().zip(&self.names.levels).map(|(level, name)| {
                format!("{{\"{}\", &{}, {}}}", level.name, self.word(name), u8::from(level.enabled))
            });
        array(out, "struct tumit1_level", &format!("tumit1_levels_{tag}"), levels);
        let _ = write!(
            out,
            "extern TUMIT1_WEAK struct tumit1_spec tumit1_spec_{tag};
struct tumit1_spec tumit1_spec_{tag} = {{\"{}\", tumit1_schema_{tag}, {}u, {}u, tumit1_shapes_{tag}, {}u,
    tumit1_shape_at_{tag}, tumit1_levels_{tag}, {}u, 0u}};
__attribute__((constructor(101), unused)) static void tumit1_enter_{tag}(void) {{
    tumit1_register(&tumit1_spec_{tag}, &__dso_handle);
}}
TUMIT1_END_DECLS
#endif
",
            self.spec.name,
            schema.len(),
            self.spec.records.len(),
            shapes.len(),
            self.spec.levels.len(),
        );
    }

    fn word(&self, level: &str) -> String {
        format!("tumit1_level_{}_{level}", self.tag)
    }

    /// The shapes of all records, and where each begins (see `struct tumit1_spec` in the runtime).
    fn shapes(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut shapes, mut starts) = (Vec::new(), Vec::new());
        for record in &self.spec.records {
            starts.push(narrow(shapes.len()));
            let mut fixed = if record.layout.located { 4 } else { 0 };
            for field in &record.layout.fields {
                match (field.ty.bytes(), field.ty) {
                    (Some(bytes), _) => fixed += narrow(bytes),
                    (None, FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) => {
                        shapes.extend([fixed, narrow(scalar.bytes().unwrap_or(1))]);
                        fixed = 0;
                    }
                }
            }
            shapes.extend([fixed, 0]);
        }
        (shapes, starts)
    }
}

/// A program may have declared anything before it includes a header.
const QUIET: &str = "/* Names in here may be those of globals of the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wshadow\"

";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sizes of a spec's parts: far below 4 G.
fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Text that may stand in a C comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

fn doc(out: &mut String, text: &str) {
    if !text.trim().is_empty() {
        let lines: Vec<_> = text.trim().lines().map(|line| comment(line.trim())).collect();
        let _ = writeln!(out, "/* {} */", lines.join("\n * "));
    }
}

/// A shared constant array; one zero where there would be none, as C knows no empty array.
fn array(out: &mut String, ty: &str, name: &str, items: impl Iterator<Item = String>) {
    let mut items: Vec<_> = items.collect();
    if items.is_empty() {
        items.push(if ty.starts_with("struct") { "{0, 0, 0}".into() } else { "0".into() });
    }
    let _ = write!(
        out,
        "extern TUMIT1_WEAK const {ty} {name}[{count}];\nconst {ty} {name}[{count}] = {{",
        count = items.len()
    );
    let mut column = usize::MAX;
    for item in items {
        if column > 110 {
            out.push_str("\n    ");
            column = 4;
        }
        column += item.len() + 1;
        out.push_str(&item);
        out.push(',');
    }
    out.push_str("\n};\n");
}

/// What a scalar is in C, and how its bytes come from a value of that type.
struct Element {
    /// Type of a parameter.
    c: String,
    /// `tumit1_put_…`.
    put: &'static str,
    /// Around the value, when it is not put as it is.
    convert: (&'static str, &'static str),
}

impl Element {
    fn new(scalar: Scalar, names: &Names) -> Self {
        let plain = |c: &str, put| Self { c: c.into(), put, convert: ("", "") };
        let cast = |c: &str, put, before, after| Self { c: c.into(), put, convert: (before, after) };
        match scalar {
            Scalar::U8 => plain("uint8_t", "u8"),
            Scalar::U16 => plain("uint16_t", "u16"),
            Scalar::U32 => plain("uint32_t", "u32"),
            Scalar::U64 => plain("uint64_t", "u64"),
            Scalar::I8 => cast("int8_t", "u8", "(uint8_t)", ""),
            Scalar::I16 => cast("int16_t", "u16", "(uint16_t)", ""),
            Scalar::I32 => cast("int32_t", "u32", "(uint32_t)", ""),
            Scalar::I64 => cast("int64_t", "u64", "(uint64_t)", ""),
            Scalar::F32 => plain("float", "f32"),
            Scalar::F64 => plain("double", "f64"),
            Scalar::Bool => cast("bool", "u8", "(uint8_t)(", " ? 1 : 0)"),
            Scalar::Date => plain("tumit1_date", "u64"),
            Scalar::Pointer => cast("const void *", "u64", "(uint64_t)(uintptr_t)", ""),
            Scalar::Enum { index, wide } => {
                let name = names.enums.get(index as usize).map_or("int", String::as_str);
                let ty = if name == "int" { "int".into() } else { format!("enum {name}") };
                if wide { cast(&ty, "u16", "(uint16_t)", "") } else { cast(&ty, "u8", "(uint8_t)", "") }
            }
            Scalar::Interned => cast("const char *", "u32", "tumit1_intern(", ")"),
            Scalar::String => plain("const char *", "bytes"),
            Scalar::Bytes => plain("const void *", "bytes"),
        }
    }

    /// Whether an array of it in memory is what stands in a record.
    fn is_flat(scalar: Scalar) -> bool {
        !matches!(scalar, Scalar::Enum { .. } | Scalar::Interned | Scalar::Pointer | Scalar::Bool)
    }
}

/// Suffix of a function: spans have two.
fn suffix(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Event => "",
        RecordKind::Begin => "_begin",
        RecordKind::End => "_end",
    }
}

#[cfg(test)]
mod tests;
