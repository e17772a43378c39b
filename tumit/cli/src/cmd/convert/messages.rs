//! Messages of conversions with and without filters.

use std::path::Path;

use tumit_converter::convert::ConvertError;
use tumit_picl::OmittedEntities;

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
pub(super) fn note_omitted_entities(entities: OmittedEntities) {
    let count = entities.total();
    if count > 0 {
        let noun = if count == 1 { "entity was" } else { "entities were" };
        let kinds = entities.texts().join(", ");
        term::note(&format!("{count} {noun} left out, because the output format has no record for them: {kinds}"));
    }
}

/// Warns about links without an end, which Pajé text cannot contain.
pub(super) fn note_open_links(count: u64) {
    if count > 0 {
        let links = if count == 1 { "link that never ends was" } else { "links that never end were" };
        term::note(&format!(
            "{count} {links} left out, because `pj_dump` rejects Pajé text with them; PICL output (`-o x.picl`) keeps them"
        ));
    }
}
