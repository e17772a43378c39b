//! Style of Pajé text in the output: `--precision`, `--unit`, `--header`.

use anyhow::bail;
use tumit_paje::time;
use tumit_paje::write;

use crate::unit::TimeUnitChoice;

/// The options.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Pajé text")]
pub(super) struct PajeStyleOptions {
    /// Digits after the point of a date; the rest is cut off, so that no end comes before its start. As many as tell a nanosecond if
    /// absent: 9 for seconds
    #[arg(long, value_name = "DIGITS", value_parser = clap::value_parser!(u8).range(0..=9))]
    precision: Option<u8>,

    /// In what dates are counted, those of IN if that is Pajé. The format says seconds, and a file does not tell: other readers take
    /// any number for seconds. Dates in fields of users stay in seconds
    #[arg(long, value_enum)]
    pub(super) unit: Option<TimeUnitChoice>,

    /// How events are defined
    #[arg(long, value_enum)]
    header: Option<HeaderChoice>,
}

/// How events are defined.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum HeaderChoice {
    /// For all: `pj_dump`, `ViTE`, Paje.app. Fields have the names of today's format; fields of users and source positions have
    /// definitions of their own. The default
    #[default]
    Reference,
    /// For tools from before format 1.2. Fields have their first names: `ContainerType`, `EntityType`, `SourceContainer`,
    /// `DestContainer`. `ViTE` and Paje.app read them too, `pj_dump` with `-n`
    Old,
    /// For scripts and tools that take values by their place in a line, or know an event by its name. Each event has one
    /// definition, with the fields of the format alone: no fields of users, no source positions
    Basic,
}

impl PajeStyleOptions {
    /// The style in the form of the library.
    pub(super) fn of_text(self) -> write::PajeStyle {
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
    pub(super) fn of_input(self) -> anyhow::Result<time::TimeUnit> {
        self.refuse("is for Pajé text; rows have dates in seconds with nine decimals")?;
        Ok(self.unit.unwrap_or_default().into())
    }

    /// Rejects all options for text outputs, because these define their style themselves.
    pub(super) fn refuse_all(self, why: &str) -> anyhow::Result<()> {
        self.refuse(why)?;
        if self.unit.is_some() {
            bail!("`--unit` {why}");
        }
        Ok(())
    }

    fn refuse(self, why: &str) -> anyhow::Result<()> {
        match self {
            Self { precision: Some(_), .. } => bail!("`--precision` {why}"),
            Self { header: Some(_), .. } => bail!("`--header` {why}"),
            _ => Ok(()),
        }
    }
}
