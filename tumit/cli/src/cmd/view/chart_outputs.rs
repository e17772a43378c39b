//! The files of a view: images, tables (CSV), and all its data (JSON).

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use tumit_perspectives::chart::ViewChart;
use tumit_perspectives::chart_text;
use tumit_viewer::export::ImageFormat;

use super::image_outputs::{ImageFormatChoice, ImageOutput, is_standard_output, outputs as image_outputs};
use crate::output_file::OutputFile;
use crate::term;

/// A requested file of a view.
#[derive(Debug)]
pub(super) enum ChartOutput<'a> {
    Image(ImageOutput<'a>),
    Table(TableOutput<'a>),
}

/// A requested file of text.
#[derive(Debug)]
pub(super) struct TableOutput<'a> {
    /// A file, or `-` for standard output.
    path: &'a Path,
    format: ChartTextFormat,
}

/// The format of a file of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChartTextFormat {
    /// The table of the view.
    Csv,
    /// The whole view.
    Json,
}

impl ChartTextFormat {
    /// The format for a file's extension.
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str())?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    /// The requested format, if it is one of text.
    fn of_choice(choice: Option<ImageFormatChoice>) -> Option<Self> {
        match choice {
            Some(ImageFormatChoice::Csv) => Some(Self::Csv),
            Some(ImageFormatChoice::Json) => Some(Self::Json),
            _ => None,
        }
    }
}

/// The requested files. The ending of a file determines its format. `--format` determines that of
/// all others.
pub(super) fn outputs(paths: &[PathBuf], requested: Option<ImageFormatChoice>) -> anyhow::Result<Vec<ChartOutput<'_>>> {
    let mut outputs = Vec::new();
    for path in paths {
        let by_ending = ChartTextFormat::of(path);
        let has_image_ending = ImageFormat::of(path).is_ok();
        let by_choice = ChartTextFormat::of_choice(requested).filter(|_| !has_image_ending);
        if let Some(format) = by_ending.or(by_choice) {
            outputs.push(ChartOutput::Table(TableOutput { path, format }));
            continue;
        }
        let requested = requested.filter(|_| !has_image_ending);
        if requested.is_none() && !has_image_ending {
            bail!(
                "the format of `{}` is unknown: use the ending .svg, .png, .html, .csv or .json, or --format",
                path.display()
            );
        }
        outputs.extend(image_outputs(std::slice::from_ref(path), requested)?.into_iter().map(ChartOutput::Image));
    }
    let to_standard_output = paths.iter().filter(|path| is_standard_output(path)).count();
    ensure!(to_standard_output <= 1, "standard output is used for several files: write `-o -` once");
    Ok(outputs)
}

impl<'a> ChartOutput<'a> {
    /// The file of text.
    pub(super) fn table(&self) -> Option<&TableOutput<'a>> {
        match self {
            Self::Table(table) => Some(table),
            Self::Image(_) => None,
        }
    }
}

impl TableOutput<'_> {
    /// Writes the file.
    pub(super) fn write(&self, chart: &ViewChart) -> anyhow::Result<()> {
        let text = match self.format {
            ChartTextFormat::Csv => chart_text::csv(&chart.table),
            ChartTextFormat::Json => chart_text::json(chart).context("the view cannot be written as JSON")?,
        };
        let path = self.path;
        if self.format == ChartTextFormat::Csv {
            // The other formats contain the notes.
            let name = if is_standard_output(path) { "the table".into() } else { path.to_string_lossy() };
            chart.notes.iter().for_each(|note| term::note(&format!("{name}: {note}")));
        }
        if is_standard_output(path) {
            let mut out = term::stdout();
            return out
                .write_all(text.as_bytes())
                .and_then(|()| out.flush())
                .context("cannot write to standard output");
        }
        let file = OutputFile::create(path)?;
        (&file).write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
        file.finish()?;
        term::note(&format!("wrote {}", path.display()));
        Ok(())
    }
}
