//! The function that records one event, or one end of a span.

use std::fmt::Write as _;

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::schema::{FieldType, Scalar};

use super::{Element, Header, Unsupported, doc, names};

/// A parameter of the function, and what it adds to the record.
struct Parameter {
    /// As declared: `uint16_t node`, or two for a counted array.
    declared: Vec<String>,
    /// Names as given in a call.
    names: Vec<String>,
    /// Before the record begins: the count of a counted field.
    before: Option<String>,
    /// Bytes when they vary: an expression in C.
    bytes: Option<String>,
    /// Writes the bytes.
    put: String,
}

/// Appends the function of record `index`.
pub(super) fn write(out: &mut String, header: &Header<'_>, index: usize) -> Result<(), Unsupported> {
    let record = &header.spec.records[index];
    let function = &header.names.functions[index];
    let level = header.names.levels.get(record.level.index()).map_or("", String::as_str);
    let mut taken = Vec::new();
    let parameters: Vec<_> = record
        .layout
        .fields
        .iter()
        .enumerate()
        .map(|(number, field)| parameter(header, &mut taken, number, &field.name, field.ty))
        .collect();
    let site = record.layout.located;
    let mut declared: Vec<_> = parameters.iter().flat_map(|p| p.declared.clone()).collect();
    let mut given: Vec<_> = parameters.iter().flat_map(|p| p.names.clone()).collect();
    let name = if site { format!("{function}_at") } else { function.clone() };
    if site {
        declared.insert(0, "struct tumit1_site *tumit1_at".into());
        given.insert(0, "tumit1_at".into());
    }
    let fixed: usize = record.layout.fields.iter().filter_map(|field| field.ty.bytes()).sum();
    let counts = 2 * record.layout.fields.iter().filter(|field| field.ty.bytes().is_none()).count();
    let bytes = RECORD_HEAD_BYTES + usize::from(site) * 4 + fixed + counts;
    if u32::try_from(bytes).is_err() {
        return Err(Unsupported { reason: format!("`{}` is larger than any block", record.layout.name) });
    }

    out.push('\n');
    doc(out, &record.doc);
    let declared = if declared.is_empty() { "void".into() } else { declared.join(", ") };
    let _ = write!(out, "TUMIT1_HOT void {name}({declared}) {{\n#if {}\n", header.names.has(level));
    let _ = writeln!(out, "    uint32_t tumit1_on = tumit1_word(&{});", header.word(level));
    out.push_str("    if (tumit1_on != 0) {\n");
    for line in parameters.iter().filter_map(|p| p.before.as_ref()) {
        let _ = writeln!(out, "        {line}");
    }
    let sizes: String = parameters.iter().filter_map(|p| p.bytes.as_ref()).map(|size| format!(" + {size}")).collect();
    let _ = writeln!(out, "        unsigned char *tumit1_p = tumit1_begin(tumit1_on + {index}u, {bytes}u{sizes});");
    out.push_str("        if (tumit1_p != NULL) {\n");
    if site {
        out.push_str("            tumit1_p = tumit1_put_u32(tumit1_p, tumit1_site_id(tumit1_at));\n");
    }
    for parameter in &parameters {
        out.push_str(&parameter.put);
    }
    out.push_str("            tumit1_end(tumit1_p);\n        }\n    }\n");
    if !given.is_empty() {
        out.push_str("#else\n");
        for name in &given {
            let _ = writeln!(out, "    (void){name};");
        }
    }
    out.push_str("#endif\n}\n");
    if site {
        locate(out, function, &given[1..]);
    }
    Ok(())
}

/// The macro that passes its own place in the source.
fn locate(out: &mut String, function: &str, given: &[String]) {
    let arguments: String = given.iter().map(|name| format!(", ({name})")).collect();
    let _ = write!(
        out,
        "#define {function}({})                                                                        \\
    do {{                                                                                                  \\
        static struct tumit1_site tumit1_here = {{__FILE__, __LINE__, 0}};                                   \\
        {function}_at(&tumit1_here{arguments});                                                            \\
    }} while (0)
",
        given.join(", ")
    );
}

fn parameter(header: &Header<'_>, taken: &mut Vec<String>, number: usize, name: &str, ty: FieldType) -> Parameter {
    let name = free(taken, names::word(name));
    let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = ty;
    let element = Element::new(scalar, header.names);
    let count = format!("tumit1_n{number}");
    let space = if element.c.ends_with('*') { "" } else { " " };
    match ty {
        FieldType::One(Scalar::String) => Parameter {
            declared: vec![format!("const char *{name}")],
            before: Some(format!("uint16_t {count} = tumit1_text_bytes({name});")),
            bytes: Some(count.clone()),
            put: counted(&count, &name, &count),
            names: vec![name],
        },
        FieldType::One(Scalar::Bytes) => {
            let size = free(taken, format!("{name}_bytes"));
            Parameter {
                declared: vec![format!("const void *{name}"), format!("size_t {size}")],
                before: Some(format!("uint16_t {count} = tumit1_count({size});")),
                bytes: Some(count.clone()),
                put: counted(&count, &name, &count),
                names: vec![name, size],
            }
        }
        FieldType::One(_) => Parameter {
            declared: vec![format!("{}{space}{name}", element.c)],
            before: None,
            bytes: None,
            put: format!("            tumit1_p = {};\n", put_one(&element, &name)),
            names: vec![name],
        },
        FieldType::Fixed(_, length) => Parameter {
            declared: vec![format!("{}{name}", pointer_to(&element.c))],
            before: None,
            bytes: None,
            put: put_all(&element, scalar, &name, &format!("{length}u")),
            names: vec![name],
        },
        FieldType::Variable(_) => {
            let size = free(taken, format!("{name}_count"));
            let each = scalar.bytes().unwrap_or(1);
            Parameter {
                declared: vec![format!("{}{name}", pointer_to(&element.c)), format!("size_t {size}")],
                before: Some(format!("uint16_t {count} = tumit1_count({size});")),
                bytes: Some(format!("{each} * (size_t){count}")),
                put: format!("            tumit1_p = tumit1_put_u16(tumit1_p, {count});\n")
                    + &put_all(&element, scalar, &name, &count),
                names: vec![name, size],
            }
        }
    }
}

/// A name that no other parameter has.
fn free(taken: &mut Vec<String>, mut name: String) -> String {
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    name
}

/// `const T *`, for pointers `T const *`.
fn pointer_to(c: &str) -> String {
    if c.ends_with('*') { format!("{c}const *") } else { format!("const {c} *") }
}

fn put_one(element: &Element, value: &str) -> String {
    let (before, after) = element.convert;
    format!("tumit1_put_{}(tumit1_p, {before}{value}{after})", element.put)
}

fn counted(count: &str, name: &str, bytes: &str) -> String {
    format!(
        "            tumit1_p = tumit1_put_u16(tumit1_p, {count});\n            tumit1_p = tumit1_put_bytes(tumit1_p, {name}, {bytes});\n"
    )
}

fn put_all(element: &Element, scalar: Scalar, name: &str, count: &str) -> String {
    if Element::is_flat(scalar) {
        let each = scalar.bytes().unwrap_or(1);
        return format!("            tumit1_p = tumit1_put_bytes(tumit1_p, {name}, {each} * (size_t){count});\n");
    }
    format!(
        "            {{\n                size_t tumit1_i;\n                for (tumit1_i = 0; tumit1_i < {count}; tumit1_i++) {{\n                    tumit1_p = {};\n                }}\n            }}\n",
        put_one(element, &format!("{name}[tumit1_i]"))
    )
}
