//! The function that records one event, or one end of a span.

use std::fmt::Write as _;

use tracer_format::RECORD_HEAD_BYTES;
use tracer_format::schema::{FieldType, RecordType, Scalar};

use super::c_text::{comment, wrap};
use super::header::CHeader;
use super::names;
use super::type_declarations::CElement;
use crate::codegen::backend::UnsupportedFeature;
use crate::spec::RecordDecl;

/// The parameters of a function in C.
pub(super) struct CSignature {
    /// The declarations: `uint16_t node_`. A counted array has two.
    pub(super) declarations: Vec<String>,
    /// The names, as arguments of a call.
    pub(super) names: Vec<String>,
    /// The bytes that each field adds to the record.
    fields: Vec<CField>,
}

/// The code for one field of a record.
struct CField {
    /// Code before the record begins: the count of a counted field.
    setup: Option<String>,
    /// A C expression for the number of bytes, if this number varies.
    bytes: Option<String>,
    /// A statement that reduces the count of a record that is too long, to at most `tumit1_most`
    /// bytes.
    cut: Option<String>,
    /// Statements that write the bytes.
    stores: Vec<String>,
}

impl CField {
    /// A field of constant size.
    const fn fixed_size(stores: Vec<String>) -> Self {
        Self { setup: None, bytes: None, cut: None, stores }
    }
}

impl CSignature {
    /// The signature of record `index`, without its source position.
    pub(super) fn new(header: &CHeader<'_>, index: usize) -> Self {
        let mut signature = Self { declarations: Vec::new(), names: Vec::new(), fields: Vec::new() };
        for (number, field) in header.spec.records[index].layout.fields.iter().enumerate() {
            signature.add(header, number, &field.name, field.ty);
        }
        signature
    }

    /// Adds a parameter with a unique name, and returns the name.
    fn declare(&mut self, ty: &str, name: &str) -> String {
        let mut name = names::parameter(name);
        while self.names.contains(&name) {
            name.push('_');
        }
        let space = if ty.ends_with('*') { "" } else { " " };
        self.declarations.push(format!("{ty}{space}{name}"));
        self.names.push(name.clone());
        name
    }

    fn add(&mut self, header: &CHeader<'_>, number: usize, name: &str, ty: FieldType) {
        let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = ty;
        let element = CElement::new(scalar, header.names);
        let count = format!("tumit1_n{number}");
        let put_count = format!("tumit1_p = tumit1_put_u16(tumit1_p, (uint16_t){count});");
        let field = match ty {
            FieldType::One(Scalar::String) => {
                let text = self.declare("const char *", name);
                CField {
                    setup: Some(format!("size_t {count} = tumit1_text_bytes({text});")),
                    bytes: Some(count.clone()),
                    cut: Some(format!("{count} = tumit1_fit_text({text}, {count}, tumit1_most);")),
                    stores: vec![put_count, put_bytes(&text, &count)],
                }
            }
            FieldType::One(Scalar::Bytes) => {
                let bytes = self.declare("const void *", name);
                let size = self.declare("size_t", &format!("{name}_bytes"));
                CField {
                    setup: Some(format!("size_t {count} = tumit1_count({size});")),
                    bytes: Some(count.clone()),
                    cut: Some(cut_count(&count, 1)),
                    stores: vec![put_count, put_bytes(&bytes, &count)],
                }
            }
            FieldType::One(_) => {
                let value = self.declare(&element.c, name);
                CField::fixed_size(vec![format!("tumit1_p = {};", put_one(&element, &value))])
            }
            FieldType::Fixed(_, length) => {
                let array = self.declare(&pointer_to(&element.c), name);
                CField::fixed_size(put_all(&element, scalar, &array, &format!("{length}u")))
            }
            FieldType::Variable(_) => {
                let array = self.declare(&pointer_to(&element.c), name);
                let size = self.declare("size_t", &format!("{name}_count"));
                let mut stores = put_all(&element, scalar, &array, &count);
                stores.insert(0, put_count);
                CField {
                    setup: Some(format!("size_t {count} = tumit1_count({size});")),
                    bytes: Some(times(scalar, &count)),
                    cut: Some(cut_count(&count, scalar.bytes().unwrap_or(1))),
                    stores,
                }
            }
        };
        self.fields.push(field);
    }
}

/// Appends the function of record `index`.
pub(super) fn write(out: &mut String, header: &CHeader<'_>, index: usize) -> Result<(), UnsupportedFeature> {
    let record = &header.spec.records[index];
    let function = &header.names.functions[index];
    let signature = CSignature::new(header, index);
    let located = record.layout.has_location;
    let mut declarations = signature.declarations.clone();
    let name = if located { format!("{function}_at") } else { function.clone() };
    if located {
        declarations.insert(0, "struct tumit1_site *tumit1_position".into());
    }
    cut(out, header, index, &signature);
    out.push('\n');
    write_documentation(out, record);
    if declarations.is_empty() {
        declarations.push("void".into());
    }
    let head = format!("TUMIT1_HOT void {name}(");
    out.push_str(&wrap(&head, &declarations, ",", &format!("\n{}", " ".repeat(8)), ") {\n"));
    body(out, header, index, &signature)?;
    out.push_str("}\n");
    if located {
        // A macro, because it can pass its position in the source.
        let _ = if signature.names.is_empty() {
            writeln!(out, "#define {function}() {name}(TUMIT1_HERE)")
        } else {
            writeln!(out, "#define {function}(...) {name}(TUMIT1_HERE, __VA_ARGS__)")
        };
    }
    Ok(())
}

/// Writes the documentation of the record and its fields, with their types as in the spec.
fn write_documentation(out: &mut String, record: &RecordDecl) {
    let mut lines: Vec<String> = record.doc.trim().lines().map(|line| comment(line.trim())).collect();
    if lines.is_empty() {
        lines.push(comment(&record.layout.name));
    }
    let name = |index: usize| record.layout.fields[index].name.as_str();
    let widest = (0..record.layout.fields.len()).map(|index| name(index).len()).max().unwrap_or(0);
    for (index, text) in record.fields.iter().enumerate().take(record.layout.fields.len()) {
        let doc = text.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("  {:widest$}  {}  {doc}", name(index), text.type_text);
        lines.push(comment(line.trim_end()));
    }
    let _ = writeln!(out, "/* {} */", lines.join("\n * ").replace(" * \n", " *\n"));
}

/// Writes the statements of a function of a level that is compiled in.
fn body(
    out: &mut String,
    header: &CHeader<'_>,
    index: usize,
    signature: &CSignature,
) -> Result<(), UnsupportedFeature> {
    let layout = &header.spec.records[index].layout;
    let level = header.names.levels.get(header.spec.records[index].level.index()).map_or("", String::as_str);
    let level_macro = header.names.level_macro(level);
    let varying = varying_bytes(layout);
    let bytes = varying.unwrap_or_else(|| constant_bytes(layout));
    if u32::try_from(bytes).is_err() {
        return Err(UnsupportedFeature {
            reason: format!("a record of `{}` does not fit into a block: record fewer elements", layout.name),
        });
    }
    out.push_str("    struct tumit1_place tumit1_target;\n");
    if varying.is_none() {
        let _ = writeln!(
            out,
            "    unsigned char *tumit1_p = tumit1_try({level_macro}, {index}u, {bytes}u, &tumit1_target);"
        );
        put(out, signature, layout.has_location, 4);
        return Ok(());
    }
    let _ = write!(out, "    uint32_t tumit1_level_word = {level_macro};\n    if (tumit1_level_word != 0) {{\n");
    for line in signature.fields.iter().filter_map(|field| field.setup.as_ref()) {
        let _ = writeln!(out, "        {line}");
    }
    let head =
        format!("        unsigned char *tumit1_p = tumit1_begin(tumit1_level_word + (TUMIT1_TRUNCATABLE + {index}u), ");
    let next = format!("\n{}", " ".repeat(12));
    out.push_str(&wrap(&head, &sizes(signature, bytes), " +", &next, ", &tumit1_target);\n"));
    put(out, signature, layout.has_location, 8);
    let mut arguments = vec!["tumit1_level_word".to_owned(), "tumit1_limit(&tumit1_target)".to_owned()];
    arguments.extend(layout.has_location.then(|| "tumit1_position".to_owned()));
    arguments.extend(signature.names.iter().cloned());
    out.truncate(out.trim_end_matches("\n").len());
    out.push_str(" else if (tumit1_limit(&tumit1_target) != 0) {\n");
    let head = format!("            tumit1_cut_{}(", header.names.functions[index]);
    out.push_str(&wrap(&head, &arguments, ",", &format!("\n{}", " ".repeat(16)), ");\n        }\n    }\n"));
    Ok(())
}

/// The summands of the size of a record of variable size: constants, and the bytes of each counted
/// field.
fn sizes(signature: &CSignature, bytes: usize) -> Vec<String> {
    let counted = signature.fields.iter().filter_map(|field| field.bytes.clone());
    std::iter::once(format!("{bytes}u")).chain(counted).collect()
}

/// Writes the function for a record that is too long. It is a separate function, so that the
/// compiler still knows the counts of all other records.
fn cut(out: &mut String, header: &CHeader<'_>, index: usize, signature: &CSignature) {
    let layout = &header.spec.records[index].layout;
    let Some(bytes) = varying_bytes(layout) else { return };
    let next = |depth: usize| format!("\n{}", " ".repeat(depth));
    let mut declarations = vec!["uint32_t tumit1_level_word".to_owned(), "uint64_t tumit1_size_limit".to_owned()];
    declarations.extend(layout.has_location.then(|| "struct tumit1_site *tumit1_position".to_owned()));
    declarations.extend(signature.declarations.iter().cloned());
    let head = format!("\nTUMIT1_COLD void tumit1_cut_{}(", header.names.functions[index]);
    out.push_str(&wrap(&head, &declarations, ",", &next(8), ") {\n"));
    out.push_str("    struct tumit1_place tumit1_target;\n");
    for line in signature.fields.iter().filter_map(|field| field.setup.as_ref()) {
        let _ = writeln!(out, "    {line}");
    }
    let sizes = sizes(signature, bytes);
    let count = sizes.len() - 1;
    out.push_str(&wrap(&format!("    const size_t tumit1_sizes[{count}] = {{"), &sizes[1..], ",", &next(8), "};\n"));
    let fit = format!("tumit1_fit(&tumit1_target, tumit1_size_limit, {bytes}u, tumit1_sizes, {count}u)");
    let _ = writeln!(out, "    const size_t tumit1_most = {fit};\n    unsigned char *tumit1_p;");
    for line in signature.fields.iter().filter_map(|field| field.cut.as_ref()) {
        let _ = writeln!(out, "    {line}");
    }
    let head = format!("    tumit1_p = tumit1_begin_cut(tumit1_level_word + {index}u, ");
    out.push_str(&wrap(&head, &sizes, " +", &next(8), ", &tumit1_target);\n"));
    put(out, signature, layout.has_location, 4);
    out.push_str("}\n");
}

/// Bytes of a record with counted fields, without the contents of these. `None` if there are none.
fn varying_bytes(layout: &RecordType) -> Option<usize> {
    let counts = 2 * layout.fields.iter().filter(|field| field.ty.bytes().is_none()).count();
    (counts > 0).then(|| constant_bytes(layout) + counts)
}

/// Bytes of the fields of constant size in a record, and of its head.
fn constant_bytes(layout: &RecordType) -> usize {
    let fixed: usize = layout.fields.iter().filter_map(|field| field.ty.bytes()).sum();
    RECORD_HEAD_BYTES + usize::from(layout.has_location) * 4 + fixed
}

/// Writes the fields of a record that has begun, and publishes the record.
fn put(out: &mut String, signature: &CSignature, has_location: bool, depth: usize) {
    let indent = " ".repeat(depth);
    let _ = writeln!(out, "{indent}if (tumit1_p != NULL) {{");
    if has_location {
        let _ = writeln!(out, "{indent}    tumit1_p = tumit1_put_u32(tumit1_p, tumit1_site_id(tumit1_position));");
    }
    for line in signature.fields.iter().flat_map(|field| &field.stores) {
        let _ = writeln!(out, "{indent}    {line}");
    }
    let _ = writeln!(out, "{indent}    tumit1_end(&tumit1_target);\n{indent}}}");
}

/// A statement that limits a count to the elements of `each` bytes that fit.
fn cut_count(count: &str, element_bytes: usize) -> String {
    format!("{count} = tumit1_fit_count({count}, {element_bytes}u, tumit1_most);")
}

/// The type of a pointer to constants: `const T *`, and `T const *` if `T` is a pointer.
fn pointer_to(c: &str) -> String {
    if c.ends_with('*') { format!("{c}const *") } else { format!("const {c} *") }
}

fn put_one(element: &CElement, value: &str) -> String {
    let (before, after) = element.convert;
    format!("tumit1_put_{}(tumit1_p, {before}{value}{after})", element.put_function)
}

fn put_bytes(from: &str, bytes: &str) -> String {
    format!("tumit1_p = tumit1_put_bytes(tumit1_p, {from}, {bytes});")
}

/// The number of bytes of `count` elements.
fn times(scalar: Scalar, count: &str) -> String {
    match scalar.bytes().unwrap_or(1) {
        1 => count.to_owned(),
        each => format!("{each}u * (size_t){count}"),
    }
}

fn put_all(element: &CElement, scalar: Scalar, name: &str, count: &str) -> Vec<String> {
    if CElement::is_flat(scalar) {
        return vec![put_bytes(name, &times(scalar, count))];
    }
    vec![
        format!("for (size_t tumit1_i = 0; tumit1_i < {count}; tumit1_i++) {{"),
        format!("    tumit1_p = {};", put_one(element, &format!("{name}[tumit1_i]"))),
        "}".into(),
    ]
}
