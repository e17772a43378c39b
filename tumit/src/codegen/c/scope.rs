//! Guards of C++: an object that begins a span, and ends it at the end of the enclosing block.

use std::fmt::Write as _;

use super::CHeader;
use super::function::CSignature;
use crate::spec::SpanType;

/// Appends the class of a span. If it has a source position, also appends the macro that passes it.
pub(super) fn write(out: &mut String, header: &CHeader<'_>, span: &SpanType, class: &str) {
    let signature = CSignature::new(header, span.begin.index());
    let names = &header.names.functions;
    let (begin, end) = (&names[span.begin.index()], &names[span.end.index()]);
    // If the method for the end is not called, the parameters of the end are absent.
    let by_itself = span.absent_end.map_or(end, |absent| &names[absent.index()]);
    let site = |located: bool, name: &str| if located { format!("{name}_at") } else { name.to_owned() };
    let begin_located = header.spec.records[span.begin.index()].layout.located;
    let end_located = header.spec.records[span.end.index()].layout.located;
    let mut declared = signature.declared.clone();
    let mut given = signature.names.clone();
    if begin_located {
        declared.insert(0, "struct tumit1_site *tumit1_at".into());
        given.insert(0, "tumit1_at".into());
    }
    let explicit = if declared.len() == 1 { "explicit " } else { "" };
    // The guard stores the data that the end needs: the task number, and the source position of the
    // begin.
    let task = span.is_async.then(|| signature.names.first().cloned()).flatten();
    let mut kept = Vec::new();
    if end_located {
        kept.push((
            "struct tumit1_site *",
            "tumit1_place",
            if begin_located { "tumit1_at" } else { "NULL" }.to_owned(),
        ));
    }
    if let Some(task) = task {
        kept.push(("uint64_t ", "tumit1_task", task));
    }
    let arguments: Vec<_> = kept.iter().map(|(_, name, _)| *name).collect();
    let init: String = kept.iter().map(|(_, name, value)| format!(", {name}({value})")).collect();
    let moved: String = kept.iter().map(|(_, name, _)| format!(", {name}(tumit1_from.{name})")).collect();
    let method = span.absent_end.map(|_| end_method(header, span, &site(end_located, end), &arguments));
    let fields: String = kept.iter().map(|(ty, name, _)| format!("    {ty}{name};\n")).collect();
    let _ = write!(
        out,
        "
/* Begins `{name}` and ends it with its block{before}. */
class {class} {{
  public:
    TUMIT1_METHOD {explicit}{class}({declared}) : tumit1_open(true){init} {{ {begin}({given}); }}
    TUMIT1_METHOD {class}({class} &&tumit1_from) noexcept : tumit1_open(tumit1_from.tumit1_open){moved} {{
        tumit1_from.tumit1_open = false;
    }}
    TUMIT1_METHOD ~{class}() {{
        if (tumit1_open) {{
            {end}({arguments});
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
        declared = declared.join(", "),
        begin = site(begin_located, begin),
        given = given.join(", "),
        end = site(end_located, by_itself),
        arguments = arguments.join(", "),
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
fn end_method(header: &CHeader<'_>, span: &SpanType, end: &str, kept: &[&str]) -> String {
    let signature = CSignature::new(header, span.end.index());
    // The guard stores the task of an `async` span.
    let first = usize::from(span.is_async);
    let declared = signature.declared.get(first..).unwrap_or_default().join(", ");
    let own = signature.names.get(first..).unwrap_or_default().iter().map(String::as_str);
    let given: Vec<&str> = kept.iter().copied().chain(own).collect();
    format!(
        "    /* Ends `{name}` now, with the parameters of its end. */
    TUMIT1_METHOD void end({declared}) {{
        if (tumit1_open) {{
            tumit1_open = false;
            {end}({given});
        }}
    }}
",
        name = span.name,
        given = given.join(", "),
    )
}
