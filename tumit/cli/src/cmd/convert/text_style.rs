//! [`TextStyle`]: Pajé text or PICL as the output.

use std::io::{BufWriter, Write};

use tumit_paje::PajeSink;
use tumit_paje::write::{PajeStyle, in_style};
use tumit_perspectives::execution::categories::guess;
use tumit_picl::{OmittedEntities, PiclStyle, PiclWriter};

use super::args::OutputFormat;
use super::messages::{note_changed_texts, note_omitted_entities, note_open_links};
use super::paje_style::PajeStyleOptions;

/// The form of an output that has all operations of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum TextStyle {
    Paje(PajeStyle),
    Picl(PiclStyle),
}

/// The differences between a trace and its output.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputChanges {
    /// The number of texts that Pajé text has in another form.
    Texts(u64),
    /// The entities that PICL lacks.
    Entities(OmittedEntities),
}

impl TextStyle {
    /// The style of an output. Options for Pajé text are errors for other outputs.
    pub(super) fn new(options: PajeStyleOptions, format: OutputFormat) -> anyhow::Result<Self> {
        let Some(picl) = format.picl() else { return Ok(Self::Paje(options.text_style())) };
        options.refuse_all("needs Pajé text as output; PICL has seconds")?;
        Ok(Self::Picl(picl))
    }

    /// Writes the operations that `send` sends. Returns its result, and the differences between the
    /// trace and the output.
    pub(super) fn write<T, E>(
        self,
        out: &mut dyn Write,
        send: impl FnOnce(&mut dyn PajeSink) -> Result<T, E>,
    ) -> Result<(T, OutputChanges), E> {
        match self {
            Self::Paje(style) => {
                let mut sink = in_style(out, style);
                let result = send(&mut *sink)?;
                Ok((result, OutputChanges::Texts(sink.changed_texts())))
            }
            Self::Picl(style) => {
                let mut sink = PiclWriter::new(BufWriter::new(out), style).with_category_guess(guess);
                let result = send(&mut sink)?;
                Ok((result, OutputChanges::Entities(sink.omitted_entities())))
            }
        }
    }
}

impl OutputChanges {
    /// Prints the changes. `open_links` is the number of links of the trace that never end.
    pub(super) fn print(self, open_links: u64) {
        match self {
            Self::Texts(count) => {
                note_changed_texts(count);
                note_open_links(open_links);
            }
            Self::Entities(entities) => note_omitted_entities(entities),
        }
    }
}
