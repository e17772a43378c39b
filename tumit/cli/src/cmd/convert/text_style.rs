//! [`TextStyle`]: Pajé text or PICL as the output.

use std::io::{BufWriter, Write};

use tumit_paje::PajeSink;
use tumit_paje::write::{PajeStyle, in_style};
use tumit_perspectives::execution::categories::guess;
use tumit_picl::{PiclStyle, PiclWriter};

use super::args::OutputFormat;
use super::messages::{note_changed_texts, note_omitted_entities};
use super::paje_style::PajeStyleOptions;

/// The form of an output that has all operations of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum TextStyle {
    Paje(PajeStyle),
    Picl(PiclStyle),
}

impl TextStyle {
    /// The style of an output. Options for Pajé text are errors for other outputs.
    pub(super) fn new(options: PajeStyleOptions, format: OutputFormat) -> anyhow::Result<Self> {
        let Some(picl) = format.picl() else { return Ok(Self::Paje(options.text_style())) };
        options.refuse_all("needs Pajé text as output; PICL has seconds")?;
        Ok(Self::Picl(picl))
    }

    /// Writes the operations that `send` sends. Returns its result, and the number of texts that
    /// are changed, or of entities that are left out.
    pub(super) fn write<T, E>(
        self,
        out: &mut dyn Write,
        send: impl FnOnce(&mut dyn PajeSink) -> Result<T, E>,
    ) -> Result<(T, u64), E> {
        match self {
            Self::Paje(style) => {
                let mut sink = in_style(out, style);
                let result = send(&mut *sink)?;
                Ok((result, sink.changed_texts()))
            }
            Self::Picl(style) => {
                let mut sink = PiclWriter::new(BufWriter::new(out), style).with_category_guess(guess);
                let result = send(&mut sink)?;
                Ok((result, sink.omitted_entities()))
            }
        }
    }

    /// Reports the result of [`Self::write`].
    pub(super) fn note_changes(self, count: u64) {
        match self {
            Self::Paje(_) => note_changed_texts(count),
            Self::Picl(_) => note_omitted_entities(count),
        }
    }
}
