//! Names and texts of generated specs.

/// Names that fields of a spec cannot have: the built-ins of rules, and the other fields of the
/// generated records. A field of these names would hide them.
const OTHER_NAMES: &[&str] = &[
    "date",
    "pid",
    "tid",
    "rank",
    "host",
    "thread_name",
    "stream_label",
    "file",
    "line",
    "event",
    "level",
    "span",
    "span_name",
    "target",
    "previous_thread",
    "previous_exit",
    "default",
    "async",
    "located",
    "end",
    "true",
    "false",
    "and",
    "or",
    "not",
];
/// Maximum length of a name without the addition that makes it unique.
const MAX_NAME_BYTES: usize = 56;
/// Maximum length of a text in a generated spec.
const MAX_TEXT_BYTES: usize = 1024;

/// Makes names of a spec from texts. Two names differ even if case and underscores are ignored.
#[derive(Debug, Default)]
pub(crate) struct SpecNames {
    used: Vec<String>,
}

impl SpecNames {
    /// A name for `text` that this object has not returned before.
    pub(crate) fn name(&mut self, text: &str) -> String {
        let valid = identifier(text);
        let mut name = valid.clone();
        let mut number = 2;
        while self.used.contains(&comparable(&name)) {
            name = format!("{valid}_n{number}");
            number += 1;
        }
        self.used.push(comparable(&name));
        name
    }
}

/// The characters that distinguish a name in generated code.
fn comparable(name: &str) -> String {
    name.chars().filter(|character| *character != '_').flat_map(char::to_lowercase).collect()
}

/// A valid name that resembles `text`. The last characters of a long text are kept, because they
/// distinguish the modules and lines of a program.
fn identifier(text: &str) -> String {
    let text = text.strip_prefix("r#").unwrap_or(text);
    let replaced: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let kept = replaced.len().saturating_sub(MAX_NAME_BYTES);
    let name = &replaced[kept..];
    let is_reserved = name.starts_with("__") || name.trim_matches('_').is_empty() || name.starts_with("tumit");
    if is_reserved || name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("f_{name}");
    }
    if OTHER_NAMES.iter().any(|other| comparable(other) == comparable(name)) {
        format!("{name}_field")
    } else {
        name.to_owned()
    }
}

/// A text of a spec with this content, in quotes and without holes.
pub(crate) fn quoted(content: &str) -> String {
    let mut text = String::from("\"");
    for character in content.chars() {
        if text.len() >= MAX_TEXT_BYTES {
            break;
        }
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '{' | '}' => text.extend([character, character]),
            control if control.is_control() => text.push(' '),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_differ() {
        let mut names = SpecNames::default();
        let texts = ["http.method", "httpMethod", "rank", "Rank", "9", "", "__a", "r#type", "tumit_x", "é", "or"];
        let expected = [
            "http_method",
            "httpMethod_n2",
            "rank_field",
            "Rank_field_n2",
            "f_9",
            "f_",
            "f___a",
            "type",
            "f_tumit_x",
            "f___n2",
            "or_field",
        ];
        let result: Vec<String> = texts.iter().map(|text| names.name(text)).collect();
        assert_eq!(result[..9], expected[..9]);
        assert_eq!(result[10], expected[10]);
        assert!(names.name(&"x".repeat(300)).len() <= 63);
        assert_eq!(quoted("a \"{b}\"\n"), r#""a \"{{b}}\" ""#);
    }
}
