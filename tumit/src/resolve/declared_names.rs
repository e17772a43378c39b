//! Checks of declared names.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::load::STANDARD;
use crate::source_text::SourceSpan;
use crate::syntax::ast::Ident;

/// Reports names that are not allowed anywhere.
pub(crate) fn check_name(name: &Ident, diagnostics: &mut Diagnostics) {
    const MAX_NAME: usize = 63;
    const OPERATORS: [&str; 5] = ["and", "or", "not", "true", "false"];
    if name.text.len() > MAX_NAME {
        diagnostics.push(
            Diagnostic::error(Code::NameTooLong, format!("a name has {} characters", name.text.len()))
                .with_location(name.span, format!("at most {MAX_NAME} are possible")),
        );
    }
    if OPERATORS.contains(&name.text.as_str()) && !name.raw {
        diagnostics.push(
            Diagnostic::error(Code::ReservedName, format!("`{}` is an operator of expressions", name.text))
                .with_location(name.span, "cannot be a name")
                .help(format!("put it in backquotes, `` `{}` ``, at each use", name.text)),
        );
    }
    let lower = name.text.to_ascii_lowercase();
    // The standard specs may use reserved names, because they suit the generated code.
    let is_standard = diagnostics.sources.get(name.span.file).is_some_and(|source| source.path.starts_with(STANDARD));
    if lower.starts_with("tumit") && !is_standard || name.text.starts_with("__") || name.text.chars().all(|c| c == '_')
    {
        diagnostics.push(
            Diagnostic::error(Code::ReservedName, format!("`{}` is reserved for generated code", name.text))
                .with_location(name.span, "reserved")
                .note("names that start with `tumit` or `__`, and `_`, are reserved"),
        );
    }
}

/// Reports that a name is declared a second time.
pub(crate) fn duplicate(noun: &str, name: &Ident, first: SourceSpan, diagnostics: &mut Diagnostics) {
    diagnostics.push(
        Diagnostic::error(Code::Duplicate, format!("{noun} `{}` is declared twice", name.text))
            .with_location(name.span, "declared again")
            .with_label(first, "first declared here"),
    );
}
