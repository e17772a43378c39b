//! The function that records one event, or one end of a span.

use std::fmt::Write as _;

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::schema::{FieldType, Scalar};

use super::types::Element;
use super::{Header, Unsupported, comment, names, wrap};
use crate::spec::Record;

/// The parameters of a function, as C writes them.
pub(super) struct Signature {
    /// As declared: `uint16_t node_`; a counted array takes two.
    pub(super) declared: Vec<String>,
    /// As given in a call.
    pub(super) names: Vec<String>,
    /// What each field adds to the record.
    fields: Vec<Field>,
}

/// What a field adds to the record.
struct Field {
    /// Before the record begins: the count of a counted field.
    before: Option<String>,
    /// Bytes when they vary: an expression in C.
    bytes: Option<String>,
    /// Statements that write the bytes.
    put: Vec<String>,
}

impl Signature {
    /// That of record `index`, without its source position.
    pub(super) fn new(header: &Header<'_>, index: usize) -> Self {
        let mut signature = Self { declared: Vec::new(), names: Vec::new(), fields: Vec::new() };
        for (number, field) in header.spec.records[index].layout.fields.iter().enumerate() {
            signature.add(header, number, &field.name, field.ty);
        }
        signature
    }

    /// A parameter under a name that no other has; returns the name.
    fn declare(&mut self, ty: &str, name: &str) -> String {
        let mut name = names::parameter(name);
        while self.names.contains(&name) {
            name.push('_');
        }
        let space = if ty.ends_with('*') { "" } else { " " };
        self.declared.push(format!("{ty}{space}{name}"));
        self.names.push(name.clone());
        name
    }

    fn add(&mut self, header: &Header<'_>, number: usize, name: &str, ty: FieldType) {
        let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = ty;
        let element = Element::new(scalar, header.names);
        let count = format!("tumit1_n{number}");
        let put_count = format!("tumit1_p = tumit1_put_u16(tumit1_p, (uint16_t){count});");
        let field = match ty {
            FieldType::One(Scalar::String) => {
                let text = self.declare("const char *", name);
                Field {
                    before: Some(format!("size_t {count} = tumit1_text_bytes({text});")),
                    bytes: Some(count.clone()),
                    put: vec![put_count, put_bytes(&text, &count)],
                }
            }
            FieldType::One(Scalar::Bytes) => {
                let bytes = self.declare("const void *", name);
                let size = self.declare("size_t", &format!("{name}_bytes"));
                Field {
                    before: Some(format!("size_t {count} = tumit1_count({size});")),
                    bytes: Some(count.clone()),
                    put: vec![put_count, put_bytes(&bytes, &count)],
                }
            }
            FieldType::One(_) => {
                let value = self.declare(&element.c, name);
                Field { before: None, bytes: None, put: vec![format!("tumit1_p = {};", put_one(&element, &value))] }
            }
            FieldType::Fixed(_, length) => {
                let array = self.declare(&pointer_to(&element.c), name);
                Field { before: None, bytes: None, put: put_all(&element, scalar, &array, &format!("{length}u")) }
            }
            FieldType::Variable(_) => {
                let array = self.declare(&pointer_to(&element.c), name);
                let size = self.declare("size_t", &format!("{name}_count"));
                let mut put = put_all(&element, scalar, &array, &count);
                put.insert(0, put_count);
                Field {
                    before: Some(format!("size_t {count} = tumit1_count({size});")),
                    bytes: Some(times(scalar, &count)),
                    put,
                }
            }
        };
        self.fields.push(field);
    }
}

/// Appends the function of record `index`.
pub(super) fn write(out: &mut String, header: &Header<'_>, index: usize) -> Result<(), Unsupported> {
    let record = &header.spec.records[index];
    let function = &header.names.functions[index];
    let signature = Signature::new(header, index);
    let located = record.layout.located;
    let mut declared = signature.declared.clone();
    let name = if located { format!("{function}_at") } else { function.clone() };
    if located {
        declared.insert(0, "struct tumit1_site *tumit1_at".into());
    }
    out.push('\n');
    about(out, record);
    if declared.is_empty() {
        declared.push("void".into());
    }
    let head = format!("TUMIT1_HOT void {name}(");
    out.push_str(&wrap(&head, &declared, ",", &format!("\n{}", " ".repeat(8)), ") {\n"));
    body(out, header, index, &signature)?;
    out.push_str("}\n");
    if located {
        // A macro, which knows its place in the source.
        let _ = if signature.names.is_empty() {
            writeln!(out, "#define {function}() {name}(TUMIT1_HERE)")
        } else {
            writeln!(out, "#define {function}(...) {name}(TUMIT1_HERE, __VA_ARGS__)")
        };
    }
    Ok(())
}

/// What the spec says about the record and its fields, with their types as written.
fn about(out: &mut String, record: &Record) {
    let mut lines: Vec<String> = record.doc.trim().lines().map(|line| comment(line.trim())).collect();
    if lines.is_empty() {
        lines.push(comment(&record.layout.name));
    }
    let name = |at: usize| record.layout.fields[at].name.as_str();
    let widest = (0..record.layout.fields.len()).map(|at| name(at).len()).max().unwrap_or(0);
    for (at, text) in record.fields.iter().enumerate().take(record.layout.fields.len()) {
        let doc = text.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("  {:widest$}  {}  {doc}", name(at), text.written);
        lines.push(comment(line.trim_end()));
    }
    let _ = writeln!(out, "/* {} */", lines.join("\n * ").replace(" * \n", " *\n"));
}

/// The statements of a function whose level is compiled in.
fn body(out: &mut String, header: &Header<'_>, index: usize, signature: &Signature) -> Result<(), Unsupported> {
    let layout = &header.spec.records[index].layout;
    let level = header.names.levels.get(header.spec.records[index].level.index()).map_or("", String::as_str);
    let on = header.names.on(level);
    let fixed: usize = layout.fields.iter().filter_map(|field| field.ty.bytes()).sum();
    let counts = 2 * layout.fields.iter().filter(|field| field.ty.bytes().is_none()).count();
    let bytes = RECORD_HEAD_BYTES + usize::from(layout.located) * 4 + fixed + counts;
    if u32::try_from(bytes).is_err() {
        return Err(Unsupported { reason: format!("`{}` is larger than any block", layout.name) });
    }
    let mut depth = 4;
    out.push_str("    struct tumit1_place tumit1_to;\n");
    if counts == 0 {
        let _ = writeln!(out, "    unsigned char *tumit1_p = tumit1_try({on}, {index}u, {bytes}u, &tumit1_to);");
    } else {
        let _ = write!(out, "    uint32_t tumit1_on = {on};\n    if (tumit1_on != 0) {{\n");
        for line in signature.fields.iter().filter_map(|field| field.before.as_ref()) {
            let _ = writeln!(out, "        {line}");
        }
        let head = format!("        unsigned char *tumit1_p = tumit1_begin(tumit1_on + {index}u, ");
        let mut sizes = vec![format!("{bytes}u")];
        sizes.extend(signature.fields.iter().filter_map(|field| field.bytes.clone()));
        out.push_str(&wrap(&head, &sizes, " +", &format!("\n{}", " ".repeat(12)), ", &tumit1_to);\n"));
        depth = 8;
    }
    let indent = " ".repeat(depth);
    let _ = writeln!(out, "{indent}if (tumit1_p != NULL) {{");
    if layout.located {
        let _ = writeln!(out, "{indent}    tumit1_p = tumit1_put_u32(tumit1_p, tumit1_site_id(tumit1_at));");
    }
    for line in signature.fields.iter().flat_map(|field| &field.put) {
        let _ = writeln!(out, "{indent}    {line}");
    }
    let _ = writeln!(out, "{indent}    tumit1_end(&tumit1_to);\n{indent}}}");
    if counts != 0 {
        out.push_str("    }\n");
    }
    Ok(())
}

/// `const T *`, for pointers `T const *`.
fn pointer_to(c: &str) -> String {
    if c.ends_with('*') { format!("{c}const *") } else { format!("const {c} *") }
}

fn put_one(element: &Element, value: &str) -> String {
    let (before, after) = element.convert;
    format!("tumit1_put_{}(tumit1_p, {before}{value}{after})", element.put)
}

fn put_bytes(from: &str, bytes: &str) -> String {
    format!("tumit1_p = tumit1_put_bytes(tumit1_p, {from}, {bytes});")
}

/// Bytes of `count` elements.
fn times(scalar: Scalar, count: &str) -> String {
    match scalar.bytes().unwrap_or(1) {
        1 => count.to_owned(),
        each => format!("{each}u * (size_t){count}"),
    }
}

fn put_all(element: &Element, scalar: Scalar, name: &str, count: &str) -> Vec<String> {
    if Element::is_flat(scalar) {
        return vec![put_bytes(name, &times(scalar, count))];
    }
    vec![
        format!("for (size_t tumit1_i = 0; tumit1_i < {count}; tumit1_i++) {{"),
        format!("    tumit1_p = {};", put_one(element, &format!("{name}[tumit1_i]"))),
        "}".into(),
    ]
}
