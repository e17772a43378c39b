//! Guards of C++: an object that begins a span, and ends it at the end of the enclosing block.

use std::fmt::Write as _;

use super::header::CHeader;
use super::record_function::CSignature;
use crate::spec::{RecordId, SpanType};

/// A member of the class: data that the end needs.
struct GuardMember {
    /// Its type, with the blank before the name if it needs one.
    ty: &'static str,
    name: &'static str,
    /// The value at the begin.
    value: String,
}

/// The members of the guard: the task number, and the source position of the begin.
fn members(header: &CHeader<'_>, span: &SpanType, signature: &CSignature) -> Vec<GuardMember> {
    let located = |record: RecordId| header.spec.records[record.index()].layout.has_location;
    let mut members = Vec::new();
    if located(span.end) {
        let value = if located(span.begin) { "tumit1_position" } else { "NULL" }.to_owned();
        members.push(GuardMember { ty: "struct tumit1_site *", name: "tumit1_place", value });
    }
    if let Some(task) = span.is_async.then(|| signature.names.first().cloned()).flatten() {
        members.push(GuardMember { ty: "uint64_t ", name: "tumit1_task", value: task });
    }
    members
}

/// Writes the guards of C++. Their name space depends on the options of the unit, because their
/// code does.
pub(super) fn write(out: &mut String, header: &CHeader<'_>) {
    if header.spec.spans.is_empty() {
        return;
    }
    let tag = header.tag();
    let _ = write!(
        out,
        "
#if defined __cplusplus && __cplusplus >= 201103L
/* Guards: `{class} guard(...);`, `auto guard = {class}(...);` or TUMIT_SCOPE({class}(...)); */
#ifdef TUMIT_OFF
inline namespace tumit1_off_{tag} {{
#else
inline namespace tumit1_{tag} {{
#endif
",
        class = header.names.scopes[0]
    );
    for (span, class) in header.spec.spans.iter().zip(&header.names.scopes) {
        write_guard(out, header, span, class);
    }
    out.push_str("}\n#endif\n");
}

/// Appends the class of a span. If it has a source position, also appends the macro that passes it.
fn write_guard(out: &mut String, header: &CHeader<'_>, span: &SpanType, class: &str) {
    let signature = CSignature::new(header, span.begin.index());
    let names = &header.names.functions;
    let (begin, end) = (&names[span.begin.index()], &names[span.end.index()]);
    // If the method for the end is not called, the parameters of the end are absent.
    let by_itself = span.absent_end.map_or(end, |absent| &names[absent.index()]);
    let site = |located: bool, name: &str| if located { format!("{name}_at") } else { name.to_owned() };
    let begin_located = header.spec.records[span.begin.index()].layout.has_location;
    let end_located = header.spec.records[span.end.index()].layout.has_location;
    let mut declarations = signature.declarations.clone();
    let mut arguments = signature.names.clone();
    if begin_located {
        declarations.insert(0, "struct tumit1_site *tumit1_position".into());
        arguments.insert(0, "tumit1_position".into());
    }
    let explicit = if declarations.len() == 1 { "explicit " } else { "" };
    let members = members(header, span, &signature);
    let member_names: Vec<_> = members.iter().map(|member| member.name).collect();
    let init: String = members.iter().map(|GuardMember { name, value, .. }| format!(", {name}({value})")).collect();
    let moved: String = member_names.iter().map(|name| format!(", {name}(tumit1_from.{name})")).collect();
    let method = span.absent_end.map(|_| end_method(header, span, &site(end_located, end), &member_names));
    let fields: String = members.iter().map(|GuardMember { ty, name, .. }| format!("    {ty}{name};\n")).collect();
    let _ = write!(
        out,
        "
/* Begins `{name}` and ends it with its block{before}. */
class {class} {{
  public:
    TUMIT1_METHOD {explicit}{class}({declarations}) : tumit1_open(true){init} {{ {begin}({arguments}); }}
    TUMIT1_METHOD {class}({class} &&tumit1_from) noexcept : tumit1_open(tumit1_from.tumit1_open){moved} {{
        tumit1_from.tumit1_open = false;
    }}
    TUMIT1_METHOD ~{class}() {{
        if (tumit1_open) {{
            {end}({end_arguments});
        }}
    }}
{method}    {class}(const {class} &) = delete;
    {class} &operator=(const {class} &) = delete;

  private:
    bool tumit1_open;
{fields}}};
",
        name = span.name,
        before = if span.absent_end.is_some() { ", or earlier by end(...)" } else { "" },
        method = method.unwrap_or_default(),
        declarations = declarations.join(", "),
        begin = site(begin_located, begin),
        arguments = arguments.join(", "),
        end = site(end_located, by_itself),
        end_arguments = member_names.join(", "),
    );
    if begin_located {
        let _ = if signature.names.is_empty() {
            writeln!(out, "#define {class}() {class}(TUMIT1_HERE)")
        } else {
            writeln!(out, "#define {class}(...) {class}(TUMIT1_HERE, __VA_ARGS__)")
        };
    }
}

/// The method that ends the span with the parameters of the end.
fn end_method(header: &CHeader<'_>, span: &SpanType, end: &str, members: &[&str]) -> String {
    let signature = CSignature::new(header, span.end.index());
    // The guard stores the task of an `async` span.
    let first = usize::from(span.is_async);
    let declarations = signature.declarations.get(first..).unwrap_or_default().join(", ");
    let parameters = signature.names.get(first..).unwrap_or_default().iter().map(String::as_str);
    let arguments: Vec<&str> = members.iter().copied().chain(parameters).collect();
    format!(
        "    /* Ends `{name}` now, with the parameters of its end. */
    TUMIT1_METHOD void end({declarations}) {{
        if (tumit1_open) {{
            tumit1_open = false;
            {end}({arguments});
        }}
    }}
",
        name = span.name,
        arguments = arguments.join(", "),
    )
}
