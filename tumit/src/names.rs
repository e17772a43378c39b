//! Identifiers of the target languages, made from the names of a spec: case and reserved words.

/// `snake_case`: `APP` gives `app`, `RecvDone` gives `recv_done`, `HTTPServer` gives `http_server`.
pub(crate) fn snake_case(name: &str) -> String {
    words(name).join("_")
}

/// `PascalCase`: `waits for` gives `WaitsFor`, `APP` gives `App`.
pub(crate) fn pascal_case(name: &str) -> String {
    let mut out = String::new();
    for word in words(name) {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// The snake-case name for Rust (functions, modules, parameters). A keyword gets an underscore at
/// its end.
pub(crate) fn rust_name(name: &str) -> String {
    escape_keyword(snake_case(name), RUST_KEYWORDS)
}

/// The Pascal-case name for Rust (types, variants).
pub(crate) fn rust_type_name(name: &str) -> String {
    escape_keyword(pascal_case(name), &["Self"])
}

/// The name as declared, for C (parameters, parts of names), also usable from C++. A keyword gets
/// an underscore at its end.
pub(crate) fn c_name(name: &str) -> String {
    escape_keyword(name.to_owned(), C_KEYWORDS)
}

/// Maximum number of characters of a name in Fortran 2008.
const FORTRAN_LETTERS: usize = 63;

/// The name for Fortran: no underscore in front, at most 63 characters.
///
/// A longer name keeps its first 54 characters and ends with a hash of the whole name. The hash
/// ignores case, because Fortran does.
///
/// ```
/// use tumit::names::fortran_name;
///
/// assert_eq!(fortran_name("_post"), "post");
/// let short = fortran_name(&"a".repeat(80));
/// assert!(short.len() == 63 && short.starts_with(&"a".repeat(54)));
/// ```
#[must_use]
pub fn fortran_name(name: &str) -> String {
    let letters: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut short = letters.trim_start_matches('_').to_owned();
    if !short.starts_with(|first: char| first.is_ascii_alphabetic()) {
        short.insert(0, 'x');
    }
    if short.len() > FORTRAN_LETTERS {
        let hash = tracer_format::checksum::crc32c(0, short.to_ascii_lowercase().as_bytes());
        short.truncate(FORTRAN_LETTERS - 9);
        short = format!("{short}_{hash:08x}");
    }
    short
}

fn escape_keyword(mut name: String, keywords: &[&str]) -> String {
    if keywords.contains(&name.as_str()) || name == "_" {
        name.push('_');
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}

/// Words of a name in lower case. A name is cut at `_`, at other signs, and where its case changes.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let previous_letter = index.checked_sub(1).map(|previous_letter| letters[previous_letter]);
        let next_letter = letters.get(index + 1);
        let hump = letter.is_ascii_uppercase()
            && previous_letter.is_some_and(|previous_letter| {
                previous_letter.is_ascii_lowercase()
                    || previous_letter.is_ascii_digit()
                    || previous_letter.is_ascii_uppercase() && next_letter.is_some_and(char::is_ascii_lowercase)
            });
        if hump {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Strict and reserved words of all editions of Rust up to 2024.
const RUST_KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords of C up to C23 and of C++ up to C++23, and names that common headers define.
const C_KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_changed() {
        for (name, snake, pascal) in [
            ("APP", "app", "App"),
            ("recv", "recv", "Recv"),
            ("RecvDone", "recv_done", "RecvDone"),
            ("HTTPServer", "http_server", "HttpServer"),
            ("u8x4Lane", "u8x4_lane", "U8x4Lane"),
            ("_lead__in_", "lead_in", "LeadIn"),
            ("waits for", "waits_for", "WaitsFor"),
        ] {
            assert_eq!((snake_case(name).as_str(), pascal_case(name).as_str()), (snake, pascal), "{name}");
        }
    }

    #[test]
    fn keywords_get_an_underscore() {
        assert_eq!(rust_name("type"), "type_");
        assert_eq!(rust_name("Match"), "match_");
        assert_eq!(rust_type_name("self"), "Self_");
        assert_eq!(c_name("struct"), "struct_");
        assert_eq!(c_name("class"), "class_");
        assert_eq!(c_name("post"), "post");
        assert_eq!(rust_name("__"), "_");
    }

    #[test]
    fn fortran_names_are_short_and_differ() {
        assert_eq!(fortran_name("taktuk_post"), "taktuk_post");
        assert_eq!(fortran_name("__x"), "x");
        assert_eq!(fortran_name("_3d"), "x3d");
        let long = "a".repeat(63);
        assert_eq!(fortran_name(&long), long);
        let (one, end_name) = (fortran_name(&format!("{long}_begin")), fortran_name(&format!("{long}_end")));
        assert_eq!((one.len(), end_name.len()), (63, 63));
        assert_ne!(one, end_name);
        let upper = fortran_name(&format!("{long}_BEGIN"));
        assert_eq!(upper.to_lowercase(), one, "one name, whatever its case");
    }

    #[test]
    fn keyword_lists_are_sorted() {
        assert!(RUST_KEYWORDS.is_sorted() && C_KEYWORDS.is_sorted());
    }
}
