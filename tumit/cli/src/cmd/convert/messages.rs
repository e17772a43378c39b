//! Messages of conversions with and without filters.

use std::path::Path;

use tumit_converter::convert::ConvertError;

use crate::term;

/// Adds the name of the file that could not be written.
pub(super) fn with_output_name(error: ConvertError, out: &Path) -> anyhow::Error {
    match error {
        ConvertError::Write(source) if out.as_os_str() == "-" => {
            anyhow::Error::new(source).context("cannot write to standard output")
        }
        ConvertError::Write(source) => anyhow::Error::new(source).context(format!("cannot write `{}`", out.display())),
        error => error.into(),
    }
}

/// Warns about texts that Pajé cannot represent unchanged.
pub(super) fn note_changed_texts(count: u64) {
    if count > 0 {
        let texts = if count == 1 { "text was" } else { "texts were" };
        term::note(&format!(
            "tumit: {count} {texts} changed, because Pajé has no escapes: `\"` is written as `'`, `,` as `;`, a control \
             character as a blank, and long texts are truncated"
        ));
    }
}

/// Warns about entities that PICL cannot represent.
pub(super) fn note_omitted_entities(count: u64) {
    if count > 0 {
        let entities = if count == 1 { "entity was" } else { "entities were" };
        term::note(&format!(
            "{count} {entities} left out: PICL has no variables, few kinds of events, and in its old format no names of \
             tasks"
        ));
    }
}
