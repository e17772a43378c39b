//! The C back end for tools: one self-contained header, in C99 and C++11, that reads, writes and
//! prints the records of a spec.

mod runtime;

use std::collections::HashSet;
use std::fmt::Write as _;

use tracer_format::schema::{FieldType, Scalar};

use super::c_text::{VERSION, comment, doc, size_u32};
use super::names::{self, CNames};
use super::type_declarations;
use crate::Spec;
use crate::codegen::backend::{Backend, CodegenOptions, GeneratedFile, GeneratedFiles, UnsupportedFeature};
use crate::names::c_name;

/// Generates C headers that read, write and print records.
#[derive(Clone, Copy, Debug, Default)]
pub struct CReader;

impl Backend for CReader {
    fn generate(&self, spec: &Spec, _: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature> {
        let recorder = CNames::new(spec)?;
        let header = CReaderHeader { spec, reader_names: CReaderNames::new(spec, &recorder), names: &recorder };
        let mut out = header.banner();
        out.push_str(QUIET);
        out.push_str(&runtime::text());
        let guard = format!("TUMIT_READ_{}", recorder.trace);
        let _ = write!(out, "\n#ifndef {guard}\n#define {guard}\n");
        type_declarations::write(&mut out, spec, &recorder);
        header.structs(&mut out);
        header.record(&mut out);
        header.tables(&mut out);
        header.functions(&mut out);
        let _ = write!(out, "\n#endif /* {guard} */\n#pragma GCC diagnostic pop\n");
        Ok(GeneratedFiles(vec![GeneratedFile { name: format!("{}_read.h", recorder.trace), text: out }]))
    }
}

/// Names that the reading header adds. A name that is also that of a recording function gets a `_`,
/// because a program can include both headers.
struct CReaderNames {
    /// The enum of record kinds, as in `enum taktuk_kind`.
    kind: String,
    /// The struct of any record, as in `struct taktuk_record`.
    record: String,
    next: String,
    print: String,
    line: String,
    write: String,
    /// Names for each record type.
    events: Vec<CEventNames>,
}

struct CEventNames {
    /// Member of the union, as in `post` or `iteration_begin`.
    member: String,
    structure: String,
    kind: String,
    print: String,
    write: String,
}

impl CReaderNames {
    fn new(spec: &Spec, names: &CNames) -> Self {
        let trace = &names.trace;
        let mut used: HashSet<String> = names.identifiers(spec).map(|(name, _)| name).collect();
        used.extend(names.enums.iter().cloned());
        let mut free = |mut name: String| {
            while !used.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let mut trace_name = |ending: &str| free(format!("{trace}_{ending}"));
        let (kind, record) = (trace_name("kind"), trace_name("record"));
        let (next, print, line) = (trace_name("next_record"), trace_name("print_record"), trace_name("print_line"));
        let write = trace_name("write_record");
        let mut members = HashSet::from(["head".to_owned()]);
        let absent = spec.first_absent_end();
        let events = names.functions.iter().take(absent).map(|function| {
            let suffix = function.strip_prefix(&format!("{trace}_")).unwrap_or(function);
            let mut member = c_name(suffix);
            while !members.insert(member.clone()) {
                member.push('_');
            }
            CEventNames {
                member,
                structure: free(format!("{function}_record")),
                kind: free(format!("{trace}_is_{suffix}")),
                print: free(format!("{trace}_print_{suffix}")),
                write: free(format!("{trace}_write_{suffix}")),
            }
        });
        let events = events.collect();
        Self { kind, record, next, print, line, write, events }
    }
}

/// A field as a member of its struct.
struct CMember {
    name: String,
    /// The member with the number of its elements or bytes.
    count: Option<String>,
    declarations: Vec<String>,
}

/// Data that all sections of a header need.
struct CReaderHeader<'a> {
    spec: &'a Spec,
    names: &'a CNames,
    reader_names: CReaderNames,
}

impl CReaderHeader<'_> {
    fn banner(&self) -> String {
        let (trace, reader_names) = (&self.names.trace, &self.reader_names);
        let root =
            self.spec.sources.first().map_or("a spec", |source| source.path.rsplit('/').next().unwrap_or_default());
        let (event, member) =
            reader_names.events.first().map_or(("…", "…"), |event| (event.kind.as_str(), event.member.as_str()));
        let mut out = String::new();
        let _ = writeln!(
            out,
            "/* Reads, writes and prints records of the trace `{trace}`; generated from {} by tumit {VERSION}.",
            comment(root)
        );
        let _ = write!(
            out,
            " * You may copy and use this file without restrictions. It needs a C99 or C++11 compiler, and no
 * library.
 *
 *   struct tumit1r_run *run = tumit1r_open(\"run.tmt\", stderr);       a folder, or a process file
 *   struct tumit1r_reader *reader = tumit1r_read(run, 0);            one process, or all:
 *                                   tumit1r_read_by_timestamp(run)
 *   struct tumit1r_writer *writer = tumit1r_copy(run->processes[0], \"copy.tmt\", stderr);
 *   struct {record} record;
 *   while ({next}(reader, &record)) {{
 *       if (record.kind == {event}) {{ … record.as.{member} … }}
 *       {line}(stdout, &record);
 *       {write}(writer, &record);
 *   }}
 *   tumit1r_finish(writer); tumit1r_end(reader); tumit1r_losses(run, stderr); tumit1r_close(run);
 *
 * Pointers of a record are valid until the next record is read. If the run has another version of
 * the spec, events, fields and enum values are matched by name: a field that the file does not have
 * is 0 (see tumit1r_has()), and an event that this header does not have is TUMIT1R_OTHER. Damaged
 * data are counted and skipped. */

",
            record = reader_names.record,
            next = reader_names.next,
            line = reader_names.line,
            write = reader_names.write,
        );
        out
    }

    fn members(&self, record: usize) -> Vec<CMember> {
        let mut used = HashSet::from(["head".to_owned()]);
        let mut free = |mut name: String| {
            while !used.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let fields = self.spec.records[record].layout.fields.iter();
        fields
            .map(|field| {
                let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = field.ty;
                let name = free(member(&field.name));
                let (c, note) = self.element(scalar);
                let space = if c.ends_with('*') { "" } else { " " };
                let pointer = if c.ends_with('*') { format!("{c}const *") } else { format!("const {c} *") };
                let (declarations, count) = match field.ty {
                    FieldType::One(Scalar::String | Scalar::Bytes) => {
                        let count = free(format!("{name}_bytes"));
                        (vec![format!("{c}{name};"), format!("size_t {count};")], Some(count))
                    }
                    FieldType::One(_) => (vec![format!("{c}{space}{name};{note}")], None),
                    FieldType::Fixed(_, length) => (vec![format!("{pointer}{name}; /* {length} */{note}")], None),
                    FieldType::Variable(_) => {
                        let count = free(format!("{name}_count"));
                        (vec![format!("{pointer}{name};{note}"), format!("size_t {count};")], Some(count))
                    }
                };
                CMember { name, count, declarations }
            })
            .collect()
    }

    /// The C type of a value, and a comment about it.
    fn element(&self, scalar: Scalar) -> (&'static str, String) {
        let conversion = |c| (c, String::new());
        match scalar {
            Scalar::U8 => conversion("uint8_t"),
            Scalar::U16 => conversion("uint16_t"),
            Scalar::U32 => conversion("uint32_t"),
            Scalar::U64 => conversion("uint64_t"),
            Scalar::I8 => conversion("int8_t"),
            Scalar::I16 => conversion("int16_t"),
            Scalar::I32 => conversion("int32_t"),
            Scalar::I64 => conversion("int64_t"),
            Scalar::F32 => conversion("float"),
            Scalar::F64 => conversion("double"),
            Scalar::Bool => conversion("bool"),
            Scalar::Date => ("uint64_t", " /* a timestamp: ticks of the clock of the process */".into()),
            Scalar::Pointer => ("uint64_t", " /* an address */".into()),
            Scalar::Enum { index, .. } => {
                let name = self.names.enums.get(index as usize).map_or("", String::as_str);
                ("uint32_t", format!(" /* enum {name}, or TUMIT1R_UNKNOWN + the number of an unknown value */"))
            }
            Scalar::Interned | Scalar::String => conversion("const char *"),
            Scalar::Bytes => conversion("const unsigned char *"),
        }
    }

    fn structs(&self, out: &mut String) {
        for (number, (record, event)) in self.spec.records.iter().zip(&self.reader_names.events).enumerate() {
            out.push('\n');
            doc(out, &record.doc);
            let _ = write!(out, "struct {} {{\n    struct tumit1r_head head;\n", event.structure);
            for line in self.members(number).iter().flat_map(|member| &member.declarations) {
                let _ = writeln!(out, "    {line}");
            }
            out.push_str("};\n");
        }
    }

    /// Writes the kinds, and the struct of any record.
    fn record(&self, out: &mut String) {
        let reader_names = &self.reader_names;
        if !reader_names.events.is_empty() {
            let kinds: Vec<_> = reader_names.events.iter().map(|event| format!("    {}", event.kind)).collect();
            let _ = write!(out, "\nenum {} {{\n{}\n}};\n", reader_names.kind, kinds.join(",\n"));
        }
        let _ = write!(
            out,
            "\n/* Any record. */\nstruct {} {{\n    uint32_t kind; /* enum {}, TUMIT1R_OTHER or TUMIT1R_DROPPED */\n    union {{\n        \
             struct tumit1r_head head; /* the members of all records */\n",
            reader_names.record, reader_names.kind
        );
        for event in &reader_names.events {
            let _ = writeln!(out, "        struct {} {};", event.structure, event.member);
        }
        out.push_str("    } as;\n};\n");
    }

    fn tables(&self, out: &mut String) {
        let trace = &self.names.trace;
        out.push_str("\n/* Descriptions of the structs. */\n");
        for (number, item) in self.spec.enums.iter().enumerate() {
            let names: Vec<_> = item.values.iter().map(|value| format!("\"{}\"", value.name)).collect();
            let numbers: Vec<_> = item.values.iter().map(|value| format!("{}u", value.number)).collect();
            array(out, "const char *const", &format!("tumit1r_names{number}_{trace}"), &names);
            array(out, "const uint16_t", &format!("tumit1r_numbers{number}_{trace}"), &numbers);
        }
        let enums = self.spec.enums.iter().enumerate().map(|(number, item)| {
            format!("{{tumit1r_names{number}_{trace}, tumit1r_numbers{number}_{trace}, {}u}}", item.values.len())
        });
        array(out, "const struct tumit1r_event_enum", &format!("tumit1r_enums_{trace}"), &enums.collect::<Vec<_>>());
        let mut types = Vec::new();
        for (number, (record, event)) in self.spec.records.iter().zip(&self.reader_names.events).enumerate() {
            let members = self.members(number);
            let fields = record.layout.fields.iter().zip(&members);
            let fields: Vec<_> = fields.map(|(field, member)| self.field(field, member, &event.structure)).collect();
            let table = format!("tumit1r_fields{number}_{trace}");
            array(out, "const struct tumit1r_event_field", &table, &fields);
            types.push(format!(
                "{{\"{}\", {}, {}u, {}, sizeof(struct {})}}",
                record.layout.name,
                record.layout.has_location,
                fields.len(),
                if fields.is_empty() { "NULL" } else { &table },
                event.structure,
            ));
        }
        // An absent end has no struct of its own, so it has no name here. It is read as the end
        // with its parameters missing.
        types.extend(
            self.spec.absent_ends.iter().map(|_| "{\"\", false, 0u, NULL, sizeof(struct tumit1r_head)}".to_owned()),
        );
        array(out, "const struct tumit1r_event_type", &format!("tumit1r_types_{trace}"), &types);
        let schema = self.spec.schema().encode();
        let bytes: Vec<_> = schema.iter().map(ToString::to_string).collect();
        array(out, "const unsigned char", &format!("tumit1r_schema_{trace}"), &bytes);
        let types = if types.is_empty() { "NULL".into() } else { format!("tumit1r_types_{trace}") };
        let _ = writeln!(
            out,
            "TUMIT1R_DATA const struct tumit1r_spec tumit1r_spec_{trace} = {{\"{}\", {types}, {}u, tumit1r_schema_{trace}, {}u}};",
            self.spec.name,
            self.spec.records.len(),
            schema.len()
        );
    }

    fn field(&self, field: &tracer_format::schema::FieldInfo, member: &CMember, structure: &str) -> String {
        let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = field.ty;
        let (form, count) = match field.ty {
            FieldType::One(_) => ("TUMIT1R_ONE", 0),
            FieldType::Fixed(_, count) => ("TUMIT1R_FIXED", count),
            FieldType::Variable(_) => ("TUMIT1R_VARIABLE", 0),
        };
        let (is_wide, choice) = match scalar {
            Scalar::Enum { index, is_wide } => (is_wide, format!("&tumit1r_enums_{}[{index}]", self.names.trace)),
            _ => (false, "NULL".to_owned()),
        };
        let place = |name: &str| format!("offsetof(struct {structure}, {name})");
        format!(
            "{{\"{}\", {form}, {}, {is_wide}, {count}u, {choice}, {}, {}}}",
            field.name,
            runtime::scalar_name(scalar),
            place(&member.name),
            member.count.as_deref().map_or_else(|| "0u".to_owned(), place),
        )
    }

    fn functions(&self, out: &mut String) {
        let reader_names = &self.reader_names;
        let spec = format!("&tumit1r_spec_{}", self.names.trace);
        let _ = write!(
            out,
            "
/* Reads the next record. Returns false at the end. */
TUMIT1R_FN bool {next}(struct tumit1r_reader *reader, struct {record} *record) {{
    return tumit1r_next(reader, {spec}, &record->kind, &record->as);
}}
/* Prints a record as `tumit dump` does, without timestamp and thread, and without a line end. */
TUMIT1R_FN void {print}(FILE *out, const struct {record} *record) {{
    tumit1r_print(out, {spec}, record->kind, &record->as, 0);
}}
/* Prints a record as a line of `tumit dump --clock none`. */
TUMIT1R_FN void {line}(FILE *out, const struct {record} *record) {{
    tumit1r_print_line(out, {spec}, record->kind, &record->as);
}}
/* Writes a record. Returns false if that is not possible (see tumit1r_write()). */
TUMIT1R_FN bool {write}(struct tumit1r_writer *writer, const struct {record} *record) {{
    return tumit1r_write(writer, {spec}, record->kind, &record->as);
}}
",
            next = reader_names.next,
            print = reader_names.print,
            line = reader_names.line,
            write = reader_names.write,
            record = reader_names.record,
        );
        for event in &reader_names.events {
            let CEventNames { structure, kind, print, write, .. } = event;
            let _ = write!(
                out,
                "
TUMIT1R_FN void {print}(FILE *out, const struct {structure} *record) {{
    tumit1r_print(out, {spec}, (uint32_t){kind}, record, 0);
}}
TUMIT1R_FN bool {write}(struct tumit1r_writer *writer, const struct {structure} *record) {{
    return tumit1r_write(writer, {spec}, (uint32_t){kind}, record);
}}
"
            );
        }
    }
}

/// The name of a member of a struct.
///
/// It must differ from keywords, from macros of common headers, and from types of other members. In
/// C++, a member cannot have the name of a type that its class uses.
fn member(name: &str) -> String {
    let name = c_name(&names::identifier_characters(name));
    let is_integer_type = name.ends_with("_t") && (name.starts_with("int") || name.starts_with("uint"));
    let is_taken = is_integer_type || ["EOF", "NULL", "assert", "i386", "size_t"].contains(&name.as_str());
    if is_taken { name + "_" } else { name }
}

/// Disables warnings about names that the program declared before it included the header.
const QUIET: &str = "/* Local names may equal those of globals of the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wshadow\"

";

/// A constant array. Nothing if it has no items, because C has no empty arrays.
fn array(out: &mut String, ty: &str, name: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = write!(out, "TUMIT1R_DATA {ty} {name}[{}] = {{", size_u32(items.len()));
    let mut column = usize::MAX;
    for item in items {
        if column.saturating_add(item.len()) > 112 {
            out.push_str("\n    ");
            column = 4;
        }
        column += item.len() + 2;
        let _ = write!(out, "{item}, ");
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n};\n");
}

#[cfg(test)]
mod tests;
