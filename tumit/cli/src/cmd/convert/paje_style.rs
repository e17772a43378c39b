//! Style of Pajé text in the output: `--precision`, `--unit`, `--header`.

use anyhow::bail;
use tumit_paje::time;
use tumit_paje::write;

use crate::option_values::time_unit::TimeUnitChoice;

/// Options for the text that the command writes.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Pajé text")]
pub(super) struct PajeStyleOptions {
    /// Digits after the decimal point of timestamps, from 0 to 9; further digits are truncated, so
    /// that no end precedes its start [default: nanoseconds, which are 9 digits for seconds]
    #[arg(long, value_name = "DIGITS", value_parser = clap::value_parser!(u8).range(0..=9))]
    precision: Option<u8>,

    /// Unit of timestamps: that of IN if IN is Pajé text, otherwise that of the output. A file does
    /// not name its unit, and other readers assume seconds. Timestamps in fields of users stay in
    /// seconds [default: s]
    #[arg(long, value_enum)]
    pub(super) unit: Option<TimeUnitChoice>,

    /// Form of the event definitions at the start of the file
    #[arg(long, value_enum)]
    header: Option<HeaderChoice>,
}

/// The form of event definitions.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum HeaderChoice {
    /// For all readers, such as `pj_dump`, `ViTE` and Paje.app: fields have the names of the
    /// current format; events with fields of users or source positions have separate definitions.
    /// The default
    #[default]
    Reference,
    /// For tools older than format 1.2: fields have their old names `ContainerType`, `EntityType`,
    /// `SourceContainer` and `DestContainer`. `ViTE` and Paje.app also read these, `pj_dump` with
    /// `-n`
    Old,
    /// For scripts and tools that identify values by their position in a line, or events by name:
    /// each event has one definition with only the fields of the format, without fields of users
    /// and source positions
    Basic,
}

impl PajeStyleOptions {
    /// The style in the form of the library.
    pub(super) fn text_style(self) -> write::PajeStyle {
        let mut style = write::PajeStyle::default();
        style.decimals = self.precision;
        style.unit = self.unit.unwrap_or_default().into();
        style.header = match self.header.unwrap_or_default() {
            HeaderChoice::Reference => write::HeaderStyle::Reference,
            HeaderChoice::Old => write::HeaderStyle::Old,
            HeaderChoice::Basic => write::HeaderStyle::Basic,
        };
        style
    }

    /// The unit of Pajé text in the input. Options that are only for Pajé text in the output are
    /// errors.
    pub(super) fn input_unit(self) -> anyhow::Result<time::TimeUnit> {
        self.refuse("needs Pajé text as output; rows have timestamps in seconds with nine decimals")?;
        Ok(self.unit.unwrap_or_default().into())
    }

    /// Rejects all options for text outputs, because these define their style themselves.
    pub(super) fn refuse_all(self, reason: &str) -> anyhow::Result<()> {
        self.refuse(reason)?;
        if self.unit.is_some() {
            bail!("`--unit` {reason}");
        }
        Ok(())
    }

    fn refuse(self, reason: &str) -> anyhow::Result<()> {
        match self {
            Self { precision: Some(_), .. } => bail!("`--precision` {reason}"),
            Self { header: Some(_), .. } => bail!("`--header` {reason}"),
            _ => Ok(()),
        }
    }
}
