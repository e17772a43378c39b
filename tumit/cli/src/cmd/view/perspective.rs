//! The options of `tumit view` for views of `ParaGraph`, and the drawing of such a view.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{bail, ensure};
use tumit_paje::category::ActivityCategory;
use tumit_perspectives::categories::{CategoryRule, CategoryTable};
use tumit_perspectives::chart::ViewChart;
use tumit_perspectives::draw::{DrawOptions, draw};
use tumit_perspectives::execution::Execution;
use tumit_perspectives::gallery;
use tumit_perspectives::options::ParsedOptions;
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewInfo, ViewRequest};
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange, TimelineSource};
use tumit_viewer::style::theme::ThemeKind;

use super::chart_outputs::{self, ChartOutput};
use super::outputs::ImageFormatChoice;
use super::perspective_list;
use crate::term;
use crate::time_range::bound;

/// A view of the whole execution instead of the space-time diagram.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PerspectiveOptions {
    /// Draws this view of the trace, such as `kiviat` or `communication-matrix`, instead of the
    /// space-time diagram; `list` prints the names of all views. Needs -o with .svg, .png, .html,
    /// .csv or .json
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fold", "follow", "source", "port", "socket", "no_open", "until_idle"], help_heading = "Perspectives")]
    perspective: Option<String>,
    /// The present time of the view, in seconds, or with a unit: 250ms [default: the middle of the
    /// time range]
    #[arg(long, value_name = "TIME", value_parser = bound, requires = "perspective", allow_hyphen_values = true, help_heading = "Perspectives")]
    at: Option<GlobalNanos>,
    /// The time that the view shows [default: the first mode of the view; `at` if --at is given]
    #[arg(long, value_enum, requires = "perspective", help_heading = "Perspectives")]
    mode: Option<TimeModeChoice>,
    /// An option of the view, such as `order=busy` or `level=Thread`; can be repeated; `help` prints
    /// the options of the view
    #[arg(long, value_name = "NAME=VALUE", requires = "perspective", help_heading = "Perspectives")]
    option: Vec<String>,
    /// The category (busy, overhead, idle or ignored) of the states with matching names, such as
    /// 'idle=Wait*' or 'overhead=MPI_* of Activity'; can be repeated, the last match counts
    /// [default: guessed from the names]
    #[arg(long, value_name = "CATEGORY=NAME", requires = "perspective", value_parser = category_rule, help_heading = "Perspectives")]
    category: Vec<CategoryRule>,
    /// Draws the view with greys and patterns only, for black-and-white printing
    #[arg(long, requires = "perspective", help_heading = "Perspectives")]
    monochrome: bool,
}

/// The names of the time modes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TimeModeChoice {
    /// The present time, and the maximum since the start of the time range
    At,
    /// The whole time range
    Range,
    /// From the present time minus `--option width=TIME` to the present time plus this width
    Moving,
}

impl From<TimeModeChoice> for TimeMode {
    fn from(choice: TimeModeChoice) -> Self {
        match choice {
            TimeModeChoice::At => Self::At,
            TimeModeChoice::Range => Self::Range,
            TimeModeChoice::Moving => Self::Moving,
        }
    }
}

/// The size and theme of the images.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChartImage {
    pub(super) width: f32,
    /// By default, nine sixteenths of the width.
    pub(super) height: Option<f32>,
    /// Pixels of a PNG per unit.
    pub(super) scale: f32,
    pub(super) theme: ThemeKind,
}

/// A requested view.
pub(super) struct RequestedView<'a> {
    view: &'static dyn PerspectiveView,
    mode: TimeMode,
    at: Option<GlobalNanos>,
    options: ParsedOptions,
    outputs: Vec<ChartOutput<'a>>,
    is_monochrome: bool,
}

/// Parses `CATEGORY=NAME` or `CATEGORY=NAME of TYPE`.
fn category_rule(text: &str) -> Result<CategoryRule, String> {
    let Some((word, names)) = text.split_once('=') else {
        return Err("expected CATEGORY=NAME, such as `idle=Wait*`".to_owned());
    };
    let known = ActivityCategory::WORDS.into_iter().find(|(known, _)| *known == word.trim());
    let Some((_, category)) = known else {
        return Err(format!("`{word}` is not a category: expected busy, overhead, idle or ignored"));
    };
    let (values, of) = names.rsplit_once(" of ").map_or((names, None), |(values, of)| (values, Some(of.trim())));
    Ok(CategoryRule { category, values: NamePattern::new(values.trim()), of: of.map(NamePattern::new) })
}

impl PerspectiveOptions {
    /// The text of `--perspective list`, or of `--option help`, if one of them is given.
    pub(super) fn information(&self) -> anyhow::Result<Option<String>> {
        let Some(name) = &self.perspective else { return Ok(None) };
        if name == "list" {
            return Ok(Some(perspective_list::of_views()));
        }
        if !self.option.iter().any(|option| option == "help" || option == "list") {
            return Ok(None);
        }
        perspective_list::require_own_view(name)?;
        Ok(Some(perspective_list::of_options(&gallery::view(name)?.info())))
    }

    /// The requested view. Its options and outputs are checked before a long trace is read.
    pub(super) fn requested<'a>(
        &self,
        paths: &'a [PathBuf],
        format: Option<ImageFormatChoice>,
    ) -> anyhow::Result<Option<RequestedView<'a>>> {
        let Some(name) = &self.perspective else { return Ok(None) };
        perspective_list::require_own_view(name)?;
        let view = gallery::view(name)?;
        let info = view.info();
        ensure!(
            !paths.is_empty(),
            "--perspective draws into a file: add `-o {name}.svg`; the ending .svg, .png, .html, .csv or .json gives the format"
        );
        let outputs = chart_outputs::outputs(paths, format)?;
        let mut options = ParsedOptions::parse(info.name, info.options, &self.pairs()?)?;
        options.execution.categories.clone_from(&self.category);
        let mode = self.mode(&info)?;
        ensure!(
            mode != TimeMode::Moving || options.view.width.is_some(),
            "--mode moving needs the width of the time range: add `--option width=10ms`"
        );
        let (at, is_monochrome) = (self.at, self.monochrome);
        Ok(Some(RequestedView { view, mode, at, options, outputs, is_monochrome }))
    }

    /// The options as names and values.
    fn pairs(&self) -> anyhow::Result<Vec<(String, String)>> {
        let pair = |option: &String| match option.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => bail!("--option {option}: expected NAME=VALUE; `--option help` prints the options of the view"),
        };
        self.option.iter().map(pair).collect()
    }

    /// The time mode of a view.
    fn mode(&self, info: &ViewInfo) -> anyhow::Result<TimeMode> {
        let Some(mode) = self.mode.map(TimeMode::from) else {
            let at = self.at.and(Some(TimeMode::At)).filter(|at| info.modes.contains(at));
            return Ok(at.or(info.modes.first().copied()).unwrap_or(TimeMode::Range));
        };
        if !info.modes.contains(&mode) {
            let words: Vec<&str> = info.modes.iter().map(|mode| mode.word()).collect();
            bail!("the view `{}` has no mode `{}`; its modes are {}", info.name, mode.word(), words.join(", "));
        }
        Ok(mode)
    }
}

impl RequestedView<'_> {
    /// Draws the view into all outputs.
    pub(super) fn draw(
        &self,
        source: Arc<dyn TimelineSource>,
        range: OpenTimeRange,
        image: ChartImage,
    ) -> anyhow::Result<()> {
        let range = range.to_closed_range(source.extent())?;
        let execution = Execution::new(source, self.options.execution.clone())?;
        self.report_idle_rules(&execution);
        let chart = self.view.chart(&execution, &self.request(range, image))?;
        for output in &self.outputs {
            self.write(output, &chart, image)?;
        }
        Ok(())
    }

    /// Reports category rules without effect.
    fn report_idle_rules(&self, execution: &Execution) {
        let mut table = CategoryTable::new(execution.model(), &[]);
        for rule in &self.options.execution.categories {
            if table.assign(execution.model(), rule) == 0 {
                let (word, values) = (rule.category.word(), rule.values.as_str());
                term::note(&format!("--category {word}={values}: no state of the trace has such a value"));
            }
        }
    }

    fn request(&self, range: TimeRange, image: ChartImage) -> ViewRequest {
        let middle = range.from.0.midpoint(range.to.0);
        // The axis and the margins need some of the width.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
        let columns = ((image.width - 80.0) * image.scale).max(1.0) as u32;
        ViewRequest {
            mode: self.mode,
            range,
            time: self.at.map_or(middle, |at| at.0),
            columns,
            options: self.options.view.clone(),
        }
    }

    fn write(&self, output: &ChartOutput<'_>, chart: &ViewChart, image: ChartImage) -> anyhow::Result<()> {
        match output {
            ChartOutput::Image(output) => {
                let height = image.height.unwrap_or((image.width * 9.0 / 16.0).round());
                let options = DrawOptions {
                    width: image.width,
                    height,
                    theme: image.theme,
                    is_monochrome: self.is_monochrome,
                };
                output.draw(&draw(chart, options), image.scale)
            }
            ChartOutput::Table(output) => output.write(chart),
        }
    }
}

#[cfg(test)]
mod tests {
    use tumit_paje::category::ActivityCategory;

    use super::category_rule;

    #[test]
    fn category_rules_have_a_category_and_names() {
        let rule = category_rule("idle=Wait*").unwrap();
        assert_eq!((rule.category, rule.values.as_str(), rule.of.is_none()), (ActivityCategory::Idle, "Wait*", true));
        let rule = category_rule("overhead=MPI_* of Activity").unwrap();
        assert_eq!(rule.of.unwrap().as_str(), "Activity");
        assert!(category_rule("lazy=Wait*").unwrap_err().contains("busy, overhead, idle or ignored"));
        assert!(category_rule("Wait*").unwrap_err().contains("CATEGORY=NAME"));
    }
}
