//! Output of `tumit explain`: the sentence of a code, the smallest spec that causes the diagnostic,
//! the output of the compiler for this spec, and a correct spec.
//!
//! The examples are files in the folder `explain`. The compiler runs to produce its output.
//!
//! ```
//! use tumit::{Code, explain};
//!
//! let headline = explain::headline(Code::UseCycle);
//! assert_eq!(headline, "A file uses itself, directly or through other files");
//! let page = explain::text(Code::KeyCount, false);
//! assert!(page.starts_with("T0062: "));
//! assert!(page.contains("\nWrong:\n") && page.contains("\nRight:\n"));
//! ```

use std::fmt::Write as _;

use crate::diagnostics::{Code, Diagnostics};
use crate::load::{Loader, SpecLoadError};

macro_rules! pages {
    ($($code:ident)*) => {
        /// A page for each code: prose, and blocks that start with `wrong`, `right`, `older` or
        /// `file NAME`.
        const PAGES: &[(&str, &str)] =
            &[$((stringify!($code), include_str!(concat!("explain/", stringify!($code), ".md"))),)*];
    };
}

pages! {
    T0001 T0002 T0003 T0004 T0005 T0006 T0007 T0009 T0010 T0011 T0012 T0013 T0015 T0020 T0021 T0022
    T0023 T0024 T0025 T0026 T0027 T0028 T0029 T0030 T0031 T0032 T0033 T0034 T0035 T0036 T0037 T0038
    T0039 T0040 T0041 T0042 T0043 T0044 T0045 T0046 T0047 T0048 T0049 T0050 T0051 T0052 T0053 T0054
    T0055 T0056 T0057 T0058 T0059 T0060 T0061 T0062 T0063 T0064 T0065 T0066 T0067 T0068 T0069 T0070
    T0071 T0072 T0073 T0074 T0075 T0076 T0077 T0078 T0079 T0080 T0081 T0082 T0083 T0084 T0090 T0091
    T0092 T0093 T0094 T0095 T0100 T0101
}

/// The path of the wrong and of the right spec in messages.
const ROOT: &str = "example.tumit";
/// The path of the older spec in messages.
const OLDER: &str = "older.tumit";

/// The contents of a page.
#[derive(Debug, Default)]
struct ExplainPage<'a> {
    prose: String,
    wrong_example: String,
    right_example: String,
    /// The older spec of the comparison (`tumit check --since`).
    older_spec: Option<String>,
    /// Other files that both specs can use: name and text.
    files: Vec<(&'a str, String)>,
}

impl<'a> ExplainPage<'a> {
    fn of(code: Code) -> Option<ExplainPage<'static>> {
        let name = code.to_string();
        PAGES.iter().find(|(code_name, _)| *code_name == name).map(|(_, text)| ExplainPage::parse(text))
    }

    fn parse(text: &'a str) -> Self {
        let mut page = Self::default();
        let mut block: Option<(&'a str, String)> = None;
        for line in text.lines() {
            match (&mut block, line.strip_prefix("```")) {
                (None, Some(info)) => block = Some((info, String::new())),
                (Some(_), Some(_)) => page.close(block.take()),
                (Some((_, inside)), None) => *inside += &format!("{line}\n"),
                (None, None) => page.prose += &format!("{line}\n"),
            }
        }
        page.prose = page.prose.trim().to_owned();
        page
    }

    fn close(&mut self, block: Option<(&'a str, String)>) {
        match block {
            Some(("wrong", text)) => self.wrong_example = text,
            Some(("right", text)) => self.right_example = text,
            Some(("older", text)) => self.older_spec = Some(text),
            Some((info, text)) => self.files.push((info.trim_start_matches("file").trim(), text)),
            None => {}
        }
    }

    /// The older spec and the other files of the page.
    fn other_files(&self) -> impl Iterator<Item = (&str, &str)> {
        let older = self.older_spec.as_deref().map(|text| (OLDER, text));
        older.into_iter().chain(self.files.iter().map(|(name, text)| (*name, text.as_str())))
    }

    fn compile(&self, text: &str) -> Diagnostics {
        let mut files = ExplainExample { root: text, files: &self.files };
        match self.older_spec.as_ref().and_then(|older| crate::compile_text(OLDER, older).0) {
            Some(older) => crate::compile_since(ROOT, &mut files, &older).1,
            None => crate::compile(ROOT, &mut files).1,
        }
    }
}

/// A loader of an example and the files that it uses.
struct ExplainExample<'a> {
    root: &'a str,
    files: &'a [(&'a str, String)],
}

impl Loader for ExplainExample<'_> {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        if path == ROOT {
            return Ok(self.root.to_owned());
        }
        let file = self.files.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| text.clone()).ok_or_else(|| SpecLoadError::new("the file does not exist"))
    }
}

/// The first sentence of the explanation of a code.
#[must_use]
pub fn headline(code: Code) -> &'static str {
    let text = code.explanation();
    let cut = [". ", ": "].iter().filter_map(|end| text.find(end)).min();
    cut.map_or(text, |offset| &text[..offset]).trim_end_matches('.')
}

/// The explanation of a code for a terminal; `color` asks for colours.
#[must_use]
pub fn text(code: Code, color: bool) -> String {
    let (bold, end_style) = if color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let mut out = format!("{bold}{code}{end_style}: {}\n", code.explanation());
    let Some(page) = ExplainPage::of(code) else { return out };
    if !page.prose.is_empty() {
        let _ = write!(out, "\n{}\n", page.prose);
    }
    for (name, text) in page.other_files() {
        let _ = write!(out, "\n{bold}{name}:{end_style}\n\n{}", indent_text(text));
    }
    if !page.wrong_example.is_empty() {
        let report = page.compile(&page.wrong_example).render(color);
        let _ = write!(out, "\n{bold}Wrong:{end_style}\n\n{}", indent_text(&page.wrong_example));
        let _ = write!(out, "\n{bold}Output of the compiler:{end_style}\n\n{}", indent_text(without_count(&report)));
    }
    let _ = write!(out, "\n{bold}Right:{end_style}\n\n{}", indent_text(&page.right_example));
    out
}

/// The explanation of a code as a section of Markdown.
#[must_use]
pub fn markdown(code: Code) -> String {
    let mut out = format!("## {code}\n\n{}\n", code.explanation());
    let Some(page) = ExplainPage::of(code) else { return out };
    if !page.prose.is_empty() {
        let _ = write!(out, "\n{}\n", page.prose);
    }
    for (name, text) in page.other_files() {
        let _ = write!(out, "\n`{name}`:\n\n```tumit\n{text}```\n");
    }
    if !page.wrong_example.is_empty() {
        let report = page.compile(&page.wrong_example).render(false);
        let _ =
            write!(out, "\nWrong:\n\n```tumit\n{}```\n\n```text\n{}```\n", page.wrong_example, without_count(&report));
    }
    let _ = write!(out, "\nRight:\n\n```tumit\n{}```\n", page.right_example);
    out
}

/// A page of Markdown that explains all codes.
#[must_use]
pub fn markdown_page() -> String {
    let mut out = String::from(
        "# Mistakes in specs\n\nThe mistakes that `tumit check` reports, by code. `tumit explain T0062` shows a section in a terminal.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for code in Code::ALL {
        let _ = writeln!(
            out,
            "| [{code}](#{}) | {} |",
            code.to_string().to_lowercase(),
            headline(*code).replace('|', "\\|")
        );
    }
    for code in Code::ALL {
        let _ = write!(out, "\n{}", markdown(*code));
    }
    out
}

/// The rendered diagnostics without their last line, which counts them.
fn without_count(report: &str) -> &str {
    report.rfind("\n\n").map_or(report, |offset| &report[..=offset])
}

fn indent_text(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_example_that_draws_it_and_one_that_is_right() {
        let mut faults = Vec::new();
        for code in Code::ALL {
            let Some(page) = ExplainPage::of(*code) else {
                faults.push(format!("{code} has no page: add src/explain/{code}.md and name it in explain.rs"));
                continue;
            };
            let wrong = page.compile(&page.wrong_example);
            if *code == Code::SpecTooLarge {
                assert!(
                    page.wrong_example.is_empty() && !page.prose.is_empty(),
                    "8 MiB would be too much of an example"
                );
            } else if wrong.is_empty() || wrong.iter().any(|found| found.code != *code) {
                faults.push(format!("{code}: the wrong example gives\n{}", wrong.render(false)));
            }
            let right = page.compile(&page.right_example);
            if page.right_example.is_empty() || !right.is_empty() {
                faults.push(format!("{code}: the right example gives\n{}", right.render(false)));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert_eq!(PAGES.len(), Code::ALL.len(), "a page explains no code");
    }

    #[test]
    fn a_code_is_explained_by_sentence_example_and_remedy() {
        let text = text(Code::KeyCount, false);
        let parts =
            ["T0062: A container is named", "\nWrong:\n\n    trace", "error[T0062]", "^", "\nRight:\n\n    trace"];
        let places: Vec<_> =
            parts.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
        assert!(places.is_sorted() && !text.contains('\u{1b}') && !text.contains("1 error"), "{text}");
    }

    #[test]
    fn headlines_are_one_sentence() {
        assert_eq!(headline(Code::UseCycle), "A file uses itself, directly or through other files");
        assert!(Code::ALL.iter().all(|code| !headline(*code).is_empty() && headline(*code).len() < 140));
    }
}
