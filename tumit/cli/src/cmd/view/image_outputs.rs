//! The images of `tumit view`: their files and formats.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tumit_viewer::export::{self, ExportError, ImageFormat};
use tumit_viewer::scene::Scene;

use crate::output_file::OutputFile;
use crate::term;

/// The names of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ImageFormatChoice {
    /// Scalable vector graphics
    Svg,
    /// Pixel graphics
    Png,
    /// A self-contained page that can be zoomed
    Html,
    /// The numbers of a view as comma-separated values, with --perspective
    Csv,
    /// The data of a view, with --perspective
    Json,
}

impl ImageFormatChoice {
    fn of_image(self) -> anyhow::Result<ImageFormat> {
        match self {
            Self::Svg => Ok(ImageFormat::Svg),
            Self::Png => Ok(ImageFormat::Png),
            Self::Html => Ok(ImageFormat::Html),
            Self::Csv | Self::Json => bail!("--format csv and --format json need --perspective"),
        }
    }
}

/// A requested image.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageOutput<'a> {
    /// A file, or `-` for standard output.
    pub(super) path: &'a Path,
    pub(super) format: ImageFormat,
}

/// The requested images. The ending of a file determines its format. `--format` determines that of
/// all others.
pub(super) fn outputs(paths: &[PathBuf], requested: Option<ImageFormatChoice>) -> anyhow::Result<Vec<ImageOutput<'_>>> {
    let requested = requested.map(ImageFormatChoice::of_image).transpose()?;
    let mut outputs = Vec::new();
    for path in paths {
        let format = match (ImageFormat::of(path), requested) {
            (Ok(format), _) => format,
            (Err(_), Some(requested)) => requested,
            (Err(_), None) if is_standard_output(path) => {
                bail!(
                    "`-o -` writes to standard output: name the format with --format svg, --format png or --format html"
                )
            }
            (Err(error), None) => return Err(error).context("--format gives the format of a file with another ending"),
        };
        outputs.push(ImageOutput { path, format });
    }
    if let Some(requested) = requested
        && let Some(first) = outputs.first()
        && outputs.iter().all(|output| output.format != requested)
    {
        bail!(
            "the ending of `{}` gives another format than --format: leave --format out, or change the name",
            first.path.display()
        );
    }
    let to_standard_output: Vec<_> = outputs.iter().filter(|output| is_standard_output(output.path)).collect();
    if to_standard_output.len() > 1 {
        bail!("standard output is used for several images: write `-o -` once");
    }
    if let [output] = to_standard_output[..] {
        refuse_pixels_on_terminal(output.format, std::io::stdout().is_terminal())?;
    }
    Ok(outputs)
}

/// Rejects a PNG on a terminal, because its bytes are binary.
fn refuse_pixels_on_terminal(format: ImageFormat, is_terminal: bool) -> anyhow::Result<()> {
    if format == ImageFormat::Png && is_terminal {
        bail!(
            "standard output is a terminal, which cannot show a PNG: redirect it, as in `-o - > image.png`, or name a file"
        );
    }
    Ok(())
}

pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl ImageOutput<'_> {
    /// Draws a scene into the file, or to standard output.
    pub(super) fn draw(&self, scene: &Scene, scale: f32) -> anyhow::Result<()> {
        let Self { path, format } = *self;
        if is_standard_output(path) {
            let cannot_write = "cannot write to standard output";
            let mut out = term::stdout();
            match export::draw(scene, format, scale, &mut out) {
                Err(ExportError::Send { source }) => return Err(source).context(cannot_write),
                drawn => drawn?,
            }
            return out.flush().context(cannot_write);
        }
        let file = OutputFile::create(path)?;
        export::draw(scene, format, scale, &mut &file).map_err(|error| error.in_file(path))?;
        file.finish()?;
        term::note(&format!("drew {}", path.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tumit_viewer::export::ImageFormat;

    use super::refuse_pixels_on_terminal;

    #[test]
    fn only_pixels_are_kept_from_terminals() {
        for format in [ImageFormat::Svg, ImageFormat::Png, ImageFormat::Html] {
            assert!(refuse_pixels_on_terminal(format, false).is_ok());
            assert_eq!(refuse_pixels_on_terminal(format, true).is_err(), format == ImageFormat::Png);
        }
    }
}
