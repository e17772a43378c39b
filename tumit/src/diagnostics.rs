//! Diagnostics of a spec, collected during the whole compilation. Rendering is a separate step.
//!
//! ```
//! let text = "trace a; level APP { event tick { n: u9 } }";
//! let (spec, diagnostics) = tumit::compile_text("a.tumit", text);
//! assert!(spec.is_none());
//! assert_eq!(diagnostics.error_count(), 1);
//! for diagnostic in diagnostics.iter() {
//!     assert_eq!(diagnostic.code.to_string(), "T0026");
//!     assert_eq!(diagnostic.help, ["did you mean `u8`?"]);
//! }
//! assert!(diagnostics.render(false).starts_with("error[T0026]: there is no type `u9`"));
//! ```

mod codes;
mod diagnostic_list;
mod render;
mod suggestions;

pub use diagnostic_list::{Diagnostic, DiagnosticLabel, Diagnostics, Severity};

pub use codes::Code;
pub use suggestions::did_you_mean;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_text::{FileId, SourceSpan};

    fn span_from(start: usize) -> SourceSpan {
        SourceSpan::new(FileId(0), start..start + 1)
    }

    #[test]
    fn findings_are_kept_once_and_sorted_by_place() {
        let mut diagnostics = Diagnostics::default();
        for start in [5, 2, 5] {
            diagnostics.push(Diagnostic::warning(Code::OpenLink, "x").with_location(span_from(start), "here"));
        }
        diagnostics.sort();
        let starts: Vec<u32> = diagnostics.iter().filter_map(|d| d.primary.as_ref().map(|l| l.span.start)).collect();
        assert_eq!(starts, [2, 5]);
        assert!(!diagnostics.has_errors() && diagnostics.warning_count() == 2);
    }

    #[test]
    fn an_unknown_name_is_one_finding_with_all_places() {
        let mut diagnostics = Diagnostics::default();
        for start in [5, 2, 9, 5] {
            diagnostics.push(
                Diagnostic::error(Code::UnknownContainer, "there is no container `x`")
                    .with_location(span_from(start), "here"),
            );
        }
        diagnostics.push(
            Diagnostic::error(Code::UnknownContainer, "there is no container `y`").with_location(span_from(7), "here"),
        );
        assert_eq!(diagnostics.error_count(), 2);
        let first = diagnostics.iter().next().unwrap();
        assert_eq!(first.primary.as_ref().map(|label| label.span), Some(span_from(2)));
        assert_eq!(first.secondary.iter().map(|label| label.span).collect::<Vec<_>>(), [span_from(5), span_from(9)]);
    }

    #[test]
    fn an_error_after_very_many_warnings_is_kept() {
        let mut diagnostics = Diagnostics::default();
        for start in 0..2_000 {
            diagnostics.push(Diagnostic::warning(Code::OpenLink, "x").with_location(span_from(start), "here"));
        }
        diagnostics.push(Diagnostic::error(Code::Syntax, "y"));
        assert!(diagnostics.has_errors() && diagnostics.len() < 1_000);
        assert!(diagnostics.render(false).ends_with("1 error, 500 warnings\n"));
    }

    #[test]
    fn colour_is_only_added_on_demand() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::error(Code::CannotRead, "no file"));
        assert!(!diagnostics.render(false).contains('\u{1b}') && diagnostics.render(true).contains('\u{1b}'));
    }
}
