//! How an event is recorded in each language: its declaration and its generated function, taken from what the generators make.
//!
//! The generators stay the only ones who know how names and types are spelled; here their output is only looked through.

use std::collections::HashMap;

use crate::codegen::{Backend, Options, c, rust};
use crate::names::rust_name;
use crate::spec::{RecordId, Spec};

/// How one event is recorded in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) language: &'static str,
    /// What is called, with types: one line for each function.
    pub(super) signature: String,
    /// The generated functions.
    pub(super) code: String,
}

/// What the generators made of a spec. A language that cannot express it has no calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By `module::function`.
    rust: HashMap<String, Function>,
    /// By function.
    c: HashMap<String, Function>,
}

#[derive(Clone, Debug)]
struct Function {
    signature: String,
    code: String,
}

impl Calls {
    pub(super) fn new(spec: &Spec, options: &Options) -> Self {
        Self { rust: rust_functions(spec, options), c: c_functions(spec, options) }
    }

    /// The calls of an event, or of a span with its two records.
    pub(super) fn of(&self, spec: &Spec, records: &[RecordId]) -> Vec<Call> {
        let Some(record) = records.first().and_then(|id| spec.records.get(id.index())) else { return Vec::new() };
        let level = spec.levels.get(record.level.index()).map_or("", |level| level.name.as_str());
        let rust = format!("{}::{}", rust_name(level), rust_name(&record.name));
        let base = format!("{}_{}", spec.name, record.name);
        let c = if records.len() > 1 { vec![format!("{base}_begin"), format!("{base}_end")] } else { vec![base] };
        let call = |language, functions: Vec<&Function>| {
            let all = |part: fn(&Function) -> &str, between| {
                functions.iter().map(|f| part(f)).collect::<Vec<_>>().join(between)
            };
            let (signature, code) = (all(|f| &f.signature, "\n"), all(|f| &f.code, "\n\n"));
            (!functions.is_empty()).then_some(Call { language, signature, code })
        };
        let rust = call("Rust", self.rust.get(&rust).into_iter().collect());
        let c = call("C", c.iter().filter_map(|name| self.c.get(name)).collect());
        [rust, c].into_iter().flatten().collect()
    }
}

/// The functions of the modules of the levels.
fn rust_functions(spec: &Spec, options: &Options) -> HashMap<String, Function> {
    let surroundings = rust::Surroundings { visibility: quote::quote!(pub), watched: &[] };
    let file = rust::tokens(spec, options, &surroundings).ok().and_then(|tokens| syn::parse2::<syn::File>(tokens).ok());
    let mut functions = HashMap::new();
    for item in file.map(|file| file.items).unwrap_or_default() {
        let syn::Item::Mod(syn::ItemMod { ident: module, content: Some((_, items)), .. }) = item else { continue };
        for item in items {
            let syn::Item::Fn(function) = item else { continue };
            let name = format!("{module}::{}", function.sig.ident);
            functions.insert(name, rust_function(&module, function));
        }
    }
    functions
}

fn rust_function(module: &syn::Ident, mut function: syn::ItemFn) -> Function {
    let code = unparse(function.clone());
    function.attrs.clear();
    function.block.stmts.clear();
    let signature = unparse(function);
    let signature = signature.trim_end_matches("{}").trim().trim_start_matches("pub fn ");
    let signature = ["::tracer_rt::private::", "::tracer_rt::", "::core::convert::", "super::"]
        .iter()
        .fold(signature.to_owned(), |text, path| text.replace(path, ""));
    Function { signature: format!("{module}::{}", wrapped(&signature)), code }
}

fn unparse(function: syn::ItemFn) -> String {
    let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![syn::Item::Fn(function)] };
    prettyplease::unparse(&file).trim_end().to_owned()
}

/// A declaration on lines that are not long, broken between its parameters.
fn wrapped(text: &str) -> String {
    const LONG: usize = 92;
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")");
    let mut out = String::new();
    let mut column = 0;
    for (at, part) in joined.split_inclusive(", ").enumerate() {
        if at > 0 && column + part.trim_end().len() > LONG {
            out.truncate(out.trim_end().len());
            out.push_str("\n    ");
            column = 4;
        }
        out.push_str(part);
        column += part.len();
    }
    out
}

/// The functions that stand in a header: each starts at the margin and ends with a `}` there.
fn c_functions(spec: &Spec, options: &Options) -> HashMap<String, Function> {
    let files = c::C.generate(spec, options).map(|files| files.0).unwrap_or_default();
    let mut functions = HashMap::new();
    let prefix = format!("{}_", spec.name);
    for file in &files {
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some((name, signature)) = c_definition(line, &prefix) else { continue };
            let length = lines[at..].iter().position(|line| *line == "}").map_or(1, |end| end + 1);
            let start = at - lines[..at].iter().rev().take_while(|line| is_comment(line)).count();
            let code = lines[start..at + length].join("\n");
            functions.insert(name, Function { signature: wrapped(&signature), code });
        }
    }
    functions
}

fn is_comment(line: &str) -> bool {
    line.starts_with("/*") || line.starts_with(" *")
}

/// The name and the declaration that a line begins, when it defines a function whose name starts with `prefix`. A located
/// function, `NAME_at`, is called through a macro that passes the place.
fn c_definition(line: &str, prefix: &str) -> Option<(String, String)> {
    let (declared, _) = line.strip_suffix('{')?.split_once('(')?;
    let name = declared.rsplit([' ', '*']).next().filter(|name| name.starts_with(prefix))?;
    let returns = declared.split_whitespace().rev().nth(1)?;
    let arguments = line.strip_suffix('{')?.trim_end().strip_prefix(declared)?;
    match arguments.strip_prefix("(struct tumit1_site *tumit1_at") {
        Some(rest) => {
            let name = name.strip_suffix("_at")?;
            let rest = if rest == ")" { "void)" } else { rest.trim_start_matches(", ") };
            Some((name.to_owned(), format!("{returns} {name}({rest}")))
        }
        None => Some((name.to_owned(), format!("{returns} {name}{arguments}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_declarations_are_broken_between_parameters() {
        let parameters: Vec<String> = (0..20).map(|at| format!("parameter_{at}: u8")).collect();
        let text = wrapped(&format!("a::b(\n{},\n) -> Span", parameters.join(",\n")));
        assert!(text.lines().count() == 5 && text.lines().all(|line| line.len() <= 92), "{text}");
        assert!(text.ends_with("parameter_19: u8) -> Span"), "{text}");
    }

    #[test]
    fn definitions_in_c_are_recognised() {
        let found = |line| c_definition(line, "t_");
        let plain = found("TUMIT1_HOT void t_post(uint16_t a) {");
        assert_eq!(plain, Some(("t_post".into(), "void t_post(uint16_t a)".into())));
        let located = found("TUMIT1_HOT void t_post_at(struct tumit1_site *tumit1_at, uint16_t a) {");
        assert_eq!(located, Some(("t_post".into(), "void t_post(uint16_t a)".into())));
        let alone = found("TUMIT1_HOT void t_post_at(struct tumit1_site *tumit1_at) {");
        assert_eq!(alone, Some(("t_post".into(), "void t_post(void)".into())));
        assert_eq!(found("static void other(void) {"), None);
        assert_eq!(found("struct t_x {"), None);
    }
}
