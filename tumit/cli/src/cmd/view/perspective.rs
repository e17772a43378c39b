//! The options of `tumit view` for views of `ParaGraph`, and the drawing of such a view.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use tumit_paje::time_text::{self, TimeTextError};
use tumit_perspectives::cards::{self, CardView};
use tumit_perspectives::chart::{ChartPanel, ViewChart};
use tumit_perspectives::diagram::{DiagramMode, DiagramRowsOfMode};
use tumit_perspectives::draw::{DrawOptions, PaletteKind, add_patterns, draw};
use tumit_perspectives::execution::Execution;
use tumit_perspectives::execution::categories::{CategoryRule, CategoryTable};
use tumit_perspectives::gallery;
use tumit_perspectives::options::ParsedOptions;
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewInfo, ViewRequest};
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange, TimelineSource};
use tumit_viewer::scene::Scene;
use tumit_viewer::style::theme::ThemeKind;
use tumit_viewer::text::time_display::timestamp;

use super::chart_outputs::{self, ChartOutput, TableOutput};
use super::image_outputs::{ImageFormatChoice, ImageOutput};
use super::perspective_list;
use crate::option_values::category_option::{CATEGORY_HELP, category};
use crate::stored_categories::StoredCategories;
use crate::term;

/// A view of the whole execution instead of the space-time diagram.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PerspectiveOptions {
    /// Draws this view of the trace, such as `kiviat` or `communication-matrix`, instead of the
    /// space-time diagram; `FILE.card.toml` is a view of your own; `list` prints the names of all
    /// views. Needs -o with .svg, .png, .html, .csv or .json
    #[arg(long, value_name = "NAME", conflicts_with_all = ["fold", "follow", "source", "port", "socket", "no_open", "until_idle"], help_heading = "Perspectives")]
    perspective: Option<String>,
    /// The time cursor of the view, in seconds, or with a unit: 250ms [default: the middle of the
    /// time range]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "perspective", allow_hyphen_values = true, help_heading = "Perspectives")]
    at: Option<GlobalNanos>,
    /// The time that the view shows [default: `at` if --at is given; otherwise `range`, if the view
    /// has this mode]
    #[arg(long, value_enum, requires = "perspective", help_heading = "Perspectives")]
    mode: Option<TimeModeChoice>,
    /// An option of the view, such as `order=busy` or `level=Thread`; can be repeated; `help`
    /// prints the options of the view
    #[arg(long, value_name = "NAME=VALUE", requires = "perspective", help_heading = "Perspectives")]
    option: Vec<String>,
    #[arg(long, value_name = "CATEGORY=NAME", requires = "perspective", value_parser = category, help = CATEGORY_HELP, help_heading = "Perspectives")]
    category: Vec<CategoryRule>,
    #[command(flatten)]
    stored_categories: StoredCategories,
    /// Draws the view with greys and patterns only, for black-and-white printing; the same as
    /// `--option palette=monochrome`
    #[arg(long, requires = "perspective", help_heading = "Perspectives")]
    monochrome: bool,
}

/// The names of the time modes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TimeModeChoice {
    /// The values at the time cursor, and the maximum since the start of the time range
    At,
    /// The whole time range
    Range,
    /// From the time cursor minus `--option width=TIME` to the time cursor plus this width
    /// [default: a twentieth of the time range]
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
pub(super) struct PerspectiveImage {
    pub(super) width: f32,
    /// By default, nine sixteenths of the width.
    pub(super) height: Option<f32>,
    /// Pixels of a PNG per unit.
    pub(super) scale: f32,
    pub(super) theme: ThemeKind,
}

enum ViewKind {
    Chart(&'static dyn PerspectiveView),
    Card(Box<CardView>),
    Diagram(DiagramMode),
}

pub(super) struct RequestedView<'a> {
    view: ViewKind,
    mode: TimeMode,
    time: Option<GlobalNanos>,
    options: ParsedOptions,
    outputs: Vec<ChartOutput<'a>>,
    stored_categories: StoredCategories,
    /// The rules of `--category`.
    typed_categories: Vec<CategoryRule>,
}

/// Whether a chart marks the time cursor.
fn has_time_cursor(chart: &ViewChart) -> bool {
    let marks_time = |panel: &ChartPanel| {
        matches!(panel, ChartPanel::Levels(_) | ChartPanel::Scatter(_) | ChartPanel::Portrait(_) | ChartPanel::Marks(_))
    };
    chart.panels.iter().any(|panel| marks_time(&panel.panel))
}

/// Parses a time.
fn time(text: &str) -> Result<GlobalNanos, TimeTextError> {
    time_text::parse(text).map(GlobalNanos)
}

impl ViewKind {
    /// The view of a name, or of a card file.
    fn of_name(name: &str, traces: &[PathBuf]) -> anyhow::Result<Self> {
        perspective_list::refuse_feature(name)?;
        let path = Path::new(name);
        if path.file_name().is_some_and(cards::is_card_file) {
            return Ok(Self::Card(Box::new(CardView::new(cards::read(path)?))));
        }
        if let Some(mode) = DiagramMode::of_name(name) {
            return Ok(Self::Diagram(mode));
        }
        let user_cards = cards::find(&card_folders(traces));
        match user_cards.into_iter().find(|card| card.name == name) {
            Some(card) => Ok(Self::Card(Box::new(CardView::new(cards::read(&card.path)?)))),
            None => Ok(Self::Chart(gallery::view(name)?)),
        }
    }

    /// The view as a chart. `None` for a mode of the diagram.
    fn chart_view(&self) -> Option<&dyn PerspectiveView> {
        match self {
            Self::Chart(view) => Some(*view),
            Self::Card(view) => Some(view.as_ref()),
            Self::Diagram(_) => None,
        }
    }

    fn info(&self) -> ViewInfo<'_> {
        match self {
            Self::Chart(view) => view.info(),
            Self::Card(view) => view.info(),
            Self::Diagram(mode) => mode.info(),
        }
    }
}

/// The folders of card files: that of the user, and one next to each trace.
fn card_folders(traces: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = cards::user_folder().into_iter().collect();
    folders.extend(traces.iter().map(|trace| cards::folder_beside(trace)));
    folders
}

impl PerspectiveOptions {
    pub(super) fn is_given(&self) -> bool {
        self.perspective.is_some()
    }

    /// The text of `--perspective list`, or of `--option help`, if one of them is given.
    pub(super) fn information(&self, traces: &[PathBuf]) -> anyhow::Result<Option<String>> {
        let Some(name) = &self.perspective else { return Ok(None) };
        if name == "list" {
            return Ok(Some(perspective_list::of_views(&cards::find(&card_folders(traces)))));
        }
        if !self.option.iter().any(|option| option == "help" || option == "list") {
            return Ok(None);
        }
        Ok(Some(perspective_list::of_options(&ViewKind::of_name(name, traces)?.info())))
    }

    /// The requested view. Its options and outputs are checked before a long trace is read.
    pub(super) fn requested<'a>(
        &self,
        paths: &'a [PathBuf],
        format: Option<ImageFormatChoice>,
        traces: &[PathBuf],
    ) -> anyhow::Result<Option<RequestedView<'a>>> {
        let Some(name) = &self.perspective else { return Ok(None) };
        let view = ViewKind::of_name(name, traces)?;
        let info = view.info();
        let name = info.name;
        ensure!(
            !paths.is_empty(),
            "--perspective draws into a file: add `-o {name}.svg`; the ending .svg, .png, .html, .csv or .json gives the format"
        );
        let outputs = chart_outputs::outputs(paths, format)?;
        let mut options = info.parse_options(&self.pairs()?)?;
        options.execution.categories.clone_from(&self.category);
        let mode = self.mode(&info)?;
        if self.monochrome {
            options.view.palette = PaletteKind::Monochrome;
        }
        let (time, stored_categories) = (self.at, self.stored_categories);
        let typed_categories = self.category.clone();
        Ok(Some(RequestedView { view, mode, time, options, outputs, stored_categories, typed_categories }))
    }

    /// The options as names and values.
    fn pairs(&self) -> anyhow::Result<Vec<(String, String)>> {
        let pair = |option: &String| match option.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => bail!("--option {option}: expected NAME=VALUE; `--option help` prints the options of the view"),
        };
        self.option.iter().map(pair).collect()
    }

    fn mode(&self, info: &ViewInfo<'_>) -> anyhow::Result<TimeMode> {
        let Some(mode) = self.mode.map(TimeMode::from) else {
            let wanted = if self.at.is_some() { TimeMode::At } else { TimeMode::Range };
            let is_known = info.modes.contains(&wanted);
            return Ok(info.modes.first().copied().filter(|_| !is_known).unwrap_or(wanted));
        };
        if !info.modes.contains(&mode) {
            let words: Vec<&str> = info.modes.iter().map(|mode| mode.word()).collect();
            bail!("the view `{}` has no mode `{}`; its modes are {}", info.name, mode.word(), words.join(", "));
        }
        Ok(mode)
    }
}

impl<'a> RequestedView<'a> {
    /// Adds the categories that were chosen on the page. `source` is the trace without filters.
    pub(super) fn add_stored_categories(&mut self, source: &dyn TimelineSource) {
        let categories = &mut self.options.execution.categories;
        *categories = self.stored_categories.rules_before(source, categories);
    }

    /// Draws the view into all outputs.
    pub(super) fn draw(
        &self,
        source: Arc<dyn TimelineSource>,
        range: OpenTimeRange,
        image: PerspectiveImage,
    ) -> anyhow::Result<()> {
        let Some(view) = self.view.chart_view() else { return Ok(()) };
        let range = range.to_closed_range(source.extent())?;
        let execution = self.execution(source)?;
        let request = self.request(range, image);
        self.report_time(&execution, &request);
        let chart = gallery::chart(view, &execution, &request)?;
        if self.time.is_some() && self.mode == TimeMode::Range && !has_time_cursor(&chart) {
            term::note(&format!("`{}` shows the whole time range: --at has no effect", view.info().name));
        }
        for output in &self.outputs {
            self.write(output, &chart, image)?;
        }
        Ok(())
    }

    /// The diagram of a mode. Writes the tables among the outputs. `None` if the view is no mode of
    /// the diagram.
    pub(super) fn diagram(
        &self,
        source: &Arc<dyn TimelineSource>,
        range: OpenTimeRange,
        image: PerspectiveImage,
    ) -> anyhow::Result<Option<(DiagramRowsOfMode, OpenTimeRange)>> {
        let ViewKind::Diagram(mode) = self.view else { return Ok(None) };
        let range = range.to_closed_range(source.extent())?;
        let execution = self.execution(Arc::clone(source))?;
        let request = self.request(range, image);
        self.report_time(&execution, &request);
        if self.time.is_some() && self.mode == TimeMode::Range {
            term::note(&format!("`{}` shows the whole time range: --at has no effect", mode.info().name));
        }
        let mut notes: Vec<String> = gallery::unknown_names_note(&execution, &request.options).into_iter().collect();
        let tables: Vec<&TableOutput<'_>> = self.outputs.iter().filter_map(ChartOutput::table).collect();
        if !tables.is_empty() {
            let mut chart = mode.numbers(&execution, &request, usize::MAX)?;
            chart.notes.append(&mut notes);
            tables.into_iter().try_for_each(|table| table.write(&chart))?;
        }
        notes.iter().for_each(|note| term::note(note));
        let visible = request.visible_range();
        let diagram = mode.diagram(&execution, visible, &request.options)?;
        Ok(Some((diagram, OpenTimeRange { from: Some(visible.from), to: Some(visible.to) })))
    }

    /// Reports a time cursor outside of the time range.
    fn report_time(&self, execution: &Execution, request: &ViewRequest) {
        let Some(time) = self.time else { return };
        let extent = execution.extent();
        let (range, place) =
            if (extent.from..=extent.to).contains(&time) { (request.range, "time range") } else { (extent, "trace") };
        if !(range.from..=range.to).contains(&time) {
            let end = if time < range.from { range.from } else { range.to };
            let place = if time < range.from {
                format!("before the {place}, which begins")
            } else {
                format!("after the {place}, which ends")
            };
            let resolution = (range.to.0.saturating_sub(range.from.0) / 1000).max(1);
            let (time, bound) = (timestamp(time, resolution), timestamp(end, resolution));
            term::note(&format!("--at: {time} is {place} at {bound}"));
        }
    }

    /// Completes the drawing of a mode of the diagram: monochrome images have patterns.
    pub(super) fn finish_diagram(&self, scene: &mut Scene, theme: ThemeKind) {
        if self.options.view.palette == PaletteKind::Monochrome {
            add_patterns(scene, theme);
        }
    }

    /// The images among the outputs.
    pub(super) fn images(&self) -> Vec<ImageOutput<'a>> {
        let mut images = Vec::new();
        for output in &self.outputs {
            if let ChartOutput::Image(image) = output {
                images.push(*image);
            }
        }
        images
    }

    /// Prepares the trace. Each name of `--category` must exist.
    fn execution(&self, source: Arc<dyn TimelineSource>) -> anyhow::Result<Execution> {
        let execution = Execution::new(source, self.options.execution.clone())?;
        CategoryTable::check_rules(execution.model(), &self.typed_categories).context("--category")?;
        Ok(execution)
    }

    fn request(&self, range: TimeRange, image: PerspectiveImage) -> ViewRequest {
        let mut options = self.options.view.clone();
        if self.mode == TimeMode::Moving && options.width.is_none() {
            options.width = Some(ViewRequest::usual_width(range));
        }
        let middle = GlobalNanos(range.from.0.midpoint(range.to.0));
        // The axis and the margins need some of the width.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
        let columns = ((image.width - 80.0) * image.scale).max(1.0) as u32;
        ViewRequest {
            mode: self.mode,
            range,
            time: self.time.unwrap_or(middle),
            columns,
            options,
            needs_table: self.outputs.iter().any(|output| !matches!(output, ChartOutput::Image(_))),
        }
    }

    fn write(&self, output: &ChartOutput<'a>, chart: &ViewChart, image: PerspectiveImage) -> anyhow::Result<()> {
        match output {
            ChartOutput::Image(output) => {
                let height = image.height.unwrap_or((image.width * 9.0 / 16.0).round());
                let palette = self.options.view.palette;
                let options = DrawOptions::new(image.width, height).with_theme(image.theme).with_palette(palette);
                output.draw(&draw(chart, options), image.scale)
            }
            ChartOutput::Table(output) => output.write(chart),
        }
    }
}
