//! The calls that record an event, in each language: declaration and generated function.
//!
//! They are extracted from the output of the generators, which alone define the spelling of names
//! and types.

use std::collections::{HashMap, HashSet};

use crate::codegen::backend::{Backend, CodegenOptions};
use crate::codegen::{c, fortran::FortranBackend, rust};
use crate::names::{fortran_name, rust_name};
use crate::spec::{RecordDecl, RecordId, Spec};

/// The call that records an event in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExampleCall {
    pub(super) language: &'static str,
    /// The declarations of the called functions with types: one line for each function.
    pub(super) signature: String,
    /// The generated functions.
    pub(super) code: String,
}

/// The functions that the generators produce for a spec. A language that cannot express the spec
/// has no calls.
#[derive(Debug, Default)]
pub(super) struct ExampleCalls {
    /// Names in C, one per record.
    names: Vec<String>,
    /// Names in Fortran.
    procedures: HashSet<String>,
    /// By `module::function`.
    rust: HashMap<String, CallFunction>,
    /// By function.
    c: HashMap<String, CallFunction>,
    /// By procedure.
    fortran: HashMap<String, CallFunction>,
}

#[derive(Clone, Debug)]
struct CallFunction {
    signature: String,
    code: String,
}

impl ExampleCalls {
    pub(super) fn new(spec: &Spec, options: &CodegenOptions) -> Self {
        let names = c::CNames::new(spec).map(|names| names.functions).unwrap_or_default();
        let text = |backend: &dyn Backend| {
            let files = backend.generate(spec, options).map(|files| files.0).unwrap_or_default();
            files.into_iter().next().map(|file| file.text).unwrap_or_default()
        };
        Self {
            c: c_functions(&text(&c::CBackend), &names),
            fortran: fortran_procedures(&text(&FortranBackend)),
            rust: rust_functions(spec, options),
            procedures: names.iter().map(|name| fortran_name(name)).collect(),
            names,
        }
    }

    /// The calls of an event, or of a span with its two or three records.
    pub(super) fn of(&self, spec: &Spec, records: &[RecordId]) -> Vec<ExampleCall> {
        let Some(record) = records.first().and_then(|id| spec.records.get(id.index())) else { return Vec::new() };
        let level = spec.levels.get(record.level.index()).map_or("", |level| level.name.as_str());
        let rust = format!("{}::{}", rust_name(level), rust_name(&record.name));
        let rust = [rust.clone(), format!("{rust}::end")];
        let rust: Vec<CallFunction> = rust.iter().filter_map(|name| self.rust.get(name).cloned()).collect();
        let named = |id: &RecordId| Some((spec.records.get(id.index())?, self.names.get(id.index())?));
        let c = records.iter().filter_map(named).filter_map(|(record, name)| {
            let function = self.c.get(name)?;
            Some(CallFunction { signature: parameter_list(&function.signature, record), code: function.code.clone() })
        });
        let fortran = records.iter().filter_map(named).filter_map(|(_, name)| self.fortran(&fortran_name(name)));
        let all = [("Rust", rust), ("C", c.collect()), ("Fortran", fortran.collect())];
        all.into_iter().filter_map(|(language, functions)| call(language, &functions)).collect()
    }

    /// A procedure as programs call it, with all procedures that implement it. It can be generic
    /// over kinds of integers, or convert its arguments for a C routine.
    fn fortran(&self, name: &str) -> Option<CallFunction> {
        let c_name = name.to_owned();
        let variants =
            (1..).map(|number| format!("{name}_{number}")).take_while(|name| self.fortran.contains_key(name));
        let parts = [c_name, format!("{name}_c")]
            .into_iter()
            .chain(variants)
            .filter(|part| part == name || !self.procedures.contains(part));
        let parts: Vec<&CallFunction> = parts.filter_map(|part| self.fortran.get(&part)).collect();
        let called = self.fortran.get(name).or_else(|| parts.get(1).or(parts.first()).copied())?;
        let code = parts.iter().map(|part| part.code.as_str()).collect::<Vec<_>>().join("\n\n");
        Some(CallFunction {
            signature: wrap_declaration(&format!("call {name}{}", called.signature)).replace("\n", " &\n"),
            code,
        })
    }
}

fn call(language: &'static str, functions: &[CallFunction]) -> Option<ExampleCall> {
    let all = |part: fn(&CallFunction) -> &str, between| functions.iter().map(part).collect::<Vec<_>>().join(between);
    let (signature, code) = (all(|f| &f.signature, "\n"), all(|f| &f.code, "\n\n"));
    (!functions.is_empty()).then_some(ExampleCall { language, signature, code })
}

/// The parameters of a C function with their names in the spec.
///
/// In the generated function each name ends with a `_`, so that it cannot be a macro of the
/// program.
fn parameter_list(signature: &str, record: &RecordDecl) -> String {
    let mut out = String::new();
    for word in signature.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let (name, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_').len());
        let plain = name.strip_suffix('_').unwrap_or(name);
        out.push_str(if record.layout.fields.iter().any(|field| field.name == plain) { plain } else { name });
        out.push_str(end);
    }
    wrap_declaration(&out)
}

/// The functions of the modules of the levels.
fn rust_functions(spec: &Spec, options: &CodegenOptions) -> HashMap<String, CallFunction> {
    let surroundings = rust::CodeContext { visibility: quote::quote!(pub), watched_files: &[] };
    let file = rust::tokens(spec, options, &surroundings).ok().and_then(|tokens| syn::parse2::<syn::File>(tokens).ok());
    let mut functions = HashMap::new();
    for item in file.map(|file| file.items).unwrap_or_default() {
        let syn::Item::Mod(syn::ItemMod { ident: module, content: Some((_, items)), .. }) = item else { continue };
        for item in items {
            match item {
                syn::Item::Fn(function) => {
                    let name = format!("{module}::{}", function.sig.ident);
                    functions.insert(name, rust_function(&module.to_string(), function));
                }
                syn::Item::Impl(methods) => functions.extend(end_method(&module, methods)),
                _ => {}
            }
        }
    }
    functions
}

/// The method of a guard that takes the parameters of the end.
fn end_method(module: &syn::Ident, methods: syn::ItemImpl) -> Option<(String, CallFunction)> {
    let syn::Type::Path(guard) = *methods.self_ty else { return None };
    let guard = format!("{module}::{}", guard.path.get_ident()?);
    let method = methods.items.into_iter().find_map(|item| match item {
        syn::ImplItem::Fn(method) if method.sig.ident == "end" => Some(method),
        _ => None,
    })?;
    let function = syn::ItemFn {
        attrs: method.attrs,
        vis: method.vis,
        modifiers: method.modifiers,
        sig: method.sig,
        block: Box::new(method.block),
    };
    Some((format!("{guard}::end"), rust_function(&guard, function)))
}

fn rust_function(module: &str, mut function: syn::ItemFn) -> CallFunction {
    let code = unparse(function.clone());
    function.attrs.clear();
    function.block.stmts.clear();
    let signature = unparse(function);
    let signature = signature.trim_end_matches("{}").trim().trim_start_matches("pub fn ");
    let signature = ["::tracer_rt::private::", "::tracer_rt::", "::core::convert::", "super::"]
        .iter()
        .fold(signature.to_owned(), |text, path| text.replace(path, ""));
    CallFunction { signature: format!("{module}::{}", wrap_declaration(&signature)), code }
}

fn unparse(function: syn::ItemFn) -> String {
    let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![syn::Item::Fn(function)] };
    prettyplease::unparse(&file).trim_end().to_owned()
}

/// A declaration, broken between its parameters into lines of at most `LONG` columns.
fn wrap_declaration(text: &str) -> String {
    const LONG: usize = 92;
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")");
    let mut out = String::new();
    let mut column = 0;
    for (index, part) in joined.split_inclusive(", ").enumerate() {
        if index > 0 && column + part.trim_end().len() > LONG {
            out.truncate(out.trim_end().len());
            out.push_str("\n    ");
            column = 4;
        }
        out.push_str(part);
        column += part.len();
    }
    out
}

/// The functions with these names in a header. Each starts in the first column, and ends with a `}`
/// there.
fn c_functions(text: &str, names: &[String]) -> HashMap<String, CallFunction> {
    let names: HashSet<&str> = names.iter().map(String::as_str).collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with([' ', '#', '/', '}']) || !line.contains('(') {
            continue;
        }
        let head = lines[index..].iter().take(MAX_HEAD).position(|line| line.ends_with('{')).unwrap_or(0);
        let Some((name, signature)) = c_definition(&lines[index..=index + head].join(" "), &names) else { continue };
        let length = lines[index..].iter().position(|line| *line == "}").map_or(1, |end| end + 1);
        let start = index - lines[..index].iter().rev().take_while(|line| is_comment(line)).count();
        functions.insert(name, CallFunction { signature, code: lines[start..index + length].join("\n") });
    }
    functions
}

/// Maximum number of lines of the declaration of a function. A function has up to 127 parameters,
/// and some parameters take two arguments.
const MAX_HEAD: usize = 300;

fn is_comment(line: &str) -> bool {
    line.starts_with("/*") || line.starts_with(" *")
}

/// The name and the declaration of a function, if `names` contains the name.
///
/// A located function, `NAME_at`, is called through a macro that passes the source position.
fn c_definition(head: &str, names: &HashSet<&str>) -> Option<(String, String)> {
    let head = head.strip_suffix('{')?.trim_end();
    let (declared, arguments) = head.split_at(head.find('(')?);
    let name = declared.rsplit([' ', '*']).next()?;
    let returns = declared.split_whitespace().rev().nth(1)?;
    if let Some(rest) = arguments.strip_prefix("(struct tumit1_site *tumit1_position") {
        let name = name.strip_suffix("_at").filter(|name| names.contains(name))?;
        let rest = if rest == ")" { "void)" } else { rest.trim_start_matches(',').trim_start() };
        return Some((name.to_owned(), format!("{returns} {name}({rest}")));
    }
    names.contains(name).then(|| (name.to_owned(), format!("{returns} {name}{arguments}")))
}

/// The subroutines of a module. The signature is the list of their arguments.
fn fortran_procedures(text: &str) -> HashMap<String, CallFunction> {
    let lines: Vec<&str> = text.lines().collect();
    let mut procedures = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((name, _)) = line.trim_start().strip_prefix("subroutine ").and_then(|rest| rest.split_once('('))
        else {
            continue;
        };
        let end = format!("end subroutine {name}");
        let Some(length) = lines[index..].iter().position(|line| line.trim() == end) else { continue };
        let code = &lines[index..=index + length];
        let head: Vec<&str> = code.iter().map(|line| line.trim().trim_end_matches('&').trim_end()).collect();
        let head = head.join(" ");
        let Some((arguments, _)) = head.split_once('(').and_then(|(_, rest)| rest.split_once(')')) else { continue };
        let signature = format!("({arguments})");
        let indent = line.len() - line.trim_start().len();
        let code: Vec<&str> = code.iter().map(|line| line.get(indent..).unwrap_or_default()).collect();
        procedures.insert(name.to_owned(), CallFunction { signature, code: code.join("\n") });
    }
    procedures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_declarations_are_broken_between_parameters() {
        let parameters: Vec<String> = (0..20).map(|index| format!("parameter_{index}: u8")).collect();
        let text = wrap_declaration(&format!("a::b(\n{},\n) -> Span", parameters.join(",\n")));
        assert!(text.lines().count() == 5 && text.lines().all(|line| line.len() <= 92), "{text}");
        assert!(text.ends_with("parameter_19: u8) -> Span"), "{text}");
    }

    #[test]
    fn definitions_in_c_are_recognised() {
        let names = HashSet::from(["t_post"]);
        let definition = |line| c_definition(line, &names);
        let call = definition("TUMIT1_HOT void t_post(uint16_t a) {");
        assert_eq!(call, Some(("t_post".into(), "void t_post(uint16_t a)".into())));
        let located = definition("TUMIT1_HOT void t_post_at(struct tumit1_site *tumit1_position, uint16_t a) {");
        assert_eq!(located, Some(("t_post".into(), "void t_post(uint16_t a)".into())));
        let without_parameters = definition("TUMIT1_HOT void t_post_at(struct tumit1_site *tumit1_position) {");
        assert_eq!(without_parameters, Some(("t_post".into(), "void t_post(void)".into())));
        assert_eq!(definition("static void other(void) {"), None);
        assert_eq!(definition("struct t_post {"), None);
    }

    #[test]
    fn every_event_of_every_good_spec_has_calls_in_all_languages() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
        for file in ["taktuk.tumit", "growth.tumit"] {
            let text = std::fs::read_to_string(folder.join(file)).expect("a part of the package");
            let spec = crate::compile_text(file, &text).0.expect("it is right");
            let calls = ExampleCalls::new(&spec, &CodegenOptions::default());
            for (index, record) in spec.records.iter().enumerate() {
                let id = RecordId(u32::try_from(index).expect("few"));
                let mut records = vec![id];
                match spec.span_of(id) {
                    Some(span) if span.begin == id => records.extend([span.end].into_iter().chain(span.absent_end)),
                    Some(_) => continue,
                    None => {}
                }
                let call_texts = calls.of(&spec, &records);
                let languages: Vec<_> = call_texts.iter().map(|call| call.language).collect();
                assert_eq!(languages, ["Rust", "C", "Fortran"], "{}", record.layout.name);
                for call in call_texts.iter().filter(|call| call.language != "Rust") {
                    let name = format!("_{}", record.name);
                    assert_eq!(call.signature.matches(&name).count(), records.len(), "{}", call.signature);
                }
                for field in &record.layout.fields {
                    assert!(call_texts.iter().all(|call| call.signature.contains(&field.name)), "{call_texts:?}");
                }
            }
        }
    }
}
