//! `tumit view`: shows a trace in the browser, or draws it into a file.

mod chart_outputs;
mod image_outputs;
mod perspective;
mod perspective_list;

use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::sync::mpsc::UnboundedReceiver;
use tumit_server::{ServedTrace, Server};
use tumit_viewer::export::ImageFormat;
use tumit_viewer::filter::FilterChain;
use tumit_viewer::layout::{ContainerOutline, FoldedContainers, JoinedOperations, LayoutOptions};
use tumit_viewer::open::background_read::{self, CurrentTrace, OpenedTrace};
use tumit_viewer::query::{OpenTimeRange, TimelineSource, TraceSummary};
use tumit_viewer::scene::{DocumentOptions, Scene, document};
use tumit_viewer::style::theme::ThemeKind;
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError};

use super::exit_status::ExitStatus;
use crate::option_values::time_range_option::{self, time_range};
use crate::printed_diagnostics::PrintedDiagnostics;
use crate::progress::ProgressDisplay;
use crate::run_options::{RunOptions, index_choice, is_mistake};
use crate::term;
use crate::trace_input::TraceInput;
use crate::view_filters::FilterOptions;
use image_outputs::{ImageFormatChoice, ImageOutput, is_standard_output, outputs};
use perspective::{PerspectiveImage, PerspectiveOptions, RequestedView};

/// Shows a trace in the browser, or draws it into a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit view run.tmt                                     starts a page on this machine, and prints its address
  tumit view before.tmt after.tmt                        both on one page and one time axis, with a table of differences
  tumit view run.tmt --source src                        with the source lines of the events
  tumit view run.paje -o timeline.svg                    an image, without a browser; .html can be zoomed
  tumit view run.paje -o - --format svg | inkscape -p    to standard output
  tumit view run.paje -o a.svg -o a.png --interval 0.2..0.4 --theme dark --fold 1
  tumit view run.paje --filter 'only container Node 1, Node 2' --filter 'hide value Wait*' -o part.png
  tumit view run.tmt --collectives --interval 0.2..0.21 -o steps.svg      the parts of each collective operation joined
  tumit view run.paje --filter 'count computing of Activity per Node into Working threads' -o working.png

  tumit view --perspective list                          the views of ParaGraph: utilization, communication, tasks
  tumit view run.tmt --perspective kiviat --at 1.5 -o k.svg -o k.csv
  tumit view run.tmt --perspective utilization-count --category 'idle=Wait*' --interval 0.2..0.4 -o busy.png

  tumit view --follow run.tmt                            a program that is running or not yet started; the image grows

The page opens at once. While a large trace is read, the page shows its beginning, marked \"partial\".
--follow needs the folder of the run, or the Pajé file that is being written. Records in live files are shown, too. Timestamps are
provisional until the processes have ended. A growing trace is kept in memory.

`tumit stats --help` lists the expressions of --filter; docs/filters.md shows them with images.
Faults of the trace are reported on standard error; the rest is shown.
Over ssh, the page needs a tunnel; its command is printed.
Exit status: 0 success, 1 the trace has dropped, missing or damaged data, or errors (the rest was drawn), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt), or a Pajé, PICL or Alog file; several traces are shown on one page
    /// for comparison
    #[arg(required_unless_present = "perspective", value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    run: RunOptions,

    /// Keeps an index of the trace in this file, so that it opens at once the next time; `none`
    /// reads the trace into memory [default: automatic for large traces, see `tumit index --help`]
    #[arg(long, value_name = "PATH|none")]
    index: Option<PathBuf>,

    #[command(flatten)]
    filters: FilterOptions,

    /// Draws an image into this file (.svg, .png or .html) instead of serving a page; `-` is
    /// standard output; can be repeated. An image has at most 128 million pixels: if the rows need
    /// more, containers are folded, and a note reports it
    #[arg(short, long, alias = "export", value_name = "FILE", help_heading = "Images")]
    output: Vec<PathBuf>,
    /// Format of the image if the ending of the file does not give it, as for `-`
    #[arg(long, value_enum, requires = "output", help_heading = "Images")]
    format: Option<ImageFormatChoice>,
    #[arg(long = "interval", value_name = "RANGE", value_parser = time_range, allow_hyphen_values = true, help = time_range_option::HELP, help_heading = "Images")]
    time_range: Option<OpenTimeRange>,
    /// Width of the image, at least 200
    #[arg(long, value_name = "PIXELS", default_value_t = 1600, value_parser = clap::value_parser!(u16).range(200..), help_heading = "Images")]
    width: u16,
    /// Height of the image, at least 200; the rows are scaled to it [default: the height of the
    /// rows]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(200..), help_heading = "Images")]
    height: Option<u16>,
    /// Pixels of a PNG per unit of width and height, from 1 to 8: 2 for high-density screens and
    /// print
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8), help_heading = "Images")]
    scale: u8,
    /// Colours of the background and the text
    #[arg(long, value_enum, default_value_t = ThemeChoice::Light, help_heading = "Images")]
    theme: ThemeChoice,
    /// Folds each container of this level (0 is the highest) into one row, which shows the mean of
    /// its contents
    #[arg(long, value_name = "LEVEL", help_heading = "Images")]
    fold: Option<u32>,
    /// Draws each collective operation as one: a line joins the times at which its parts enter, and
    /// a disc marks the last entry. The trace must have fields of operations (docs/entities.md). If
    /// there are too many to be distinguished, none is drawn, and a note reports it
    #[arg(long, requires = "output", help_heading = "Images")]
    collectives: bool,

    #[command(flatten)]
    perspective: PerspectiveOptions,

    /// Shows a run or a Pajé file while it is written; it need not exist yet
    #[arg(long, conflicts_with_all = ["output", "index", "strict"], help_heading = "Page")]
    follow: bool,
    /// Folder with the source files that the trace names; can be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Page")]
    source: Vec<PathBuf>,
    /// Serves the page on this port of the loopback interface [default: any free port]
    #[arg(long, value_name = "PORT", conflicts_with = "output", help_heading = "Page")]
    port: Option<u16>,
    /// Serves the page on a Unix socket at this path, which only you can access, instead of a port;
    /// the command for the `ssh -L` tunnel is printed
    #[arg(long, value_name = "PATH", conflicts_with_all = ["output", "port"], help_heading = "Page")]
    socket: Option<PathBuf>,
    /// Prints the address, and does not open a browser
    #[arg(long, conflicts_with = "output", help_heading = "Page")]
    no_open: bool,
    /// Ends after this time without a request, in seconds, for scripts; an open page sends a
    /// request every few seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "output", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Page")]
    until_idle: Option<u32>,
}

/// The names of the themes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ThemeChoice {
    /// Dark on white
    Light,
    /// Light on dark
    Dark,
    /// White and saturated colours on black
    Contrast,
}

impl From<ThemeChoice> for ThemeKind {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::Light => Self::Light,
            ThemeChoice::Dark => Self::Dark,
            ThemeChoice::Contrast => Self::Contrast,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    // Invalid names and time ranges are reported before a long trace is read.
    if let Some(text) = args.perspective.information(&args.paths)? {
        let mut out = term::stdout();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")?;
        return Ok(ExitStatus::Done);
    }
    ensure!(!args.paths.is_empty(), "--perspective needs a trace: tumit view run.tmt --perspective NAME -o FILE");
    ensure!(
        !args.collectives || !args.perspective.is_given(),
        "--collectives joins the states of the space-time diagram, which a view of --perspective does not show: leave out one of the two options"
    );
    let mut perspective = args.perspective.requested(&args.output, args.format, &args.paths)?;
    let outputs = if perspective.is_some() { Vec::new() } else { outputs(&args.output, args.format)? };
    let time_range = args.time_range.unwrap_or_default();
    let options = args.run.of(index_choice(args.index.as_ref()))?;
    let Some(options) = options else { return Ok(ExitStatus::InputHasMistakes) };
    ensure!(
        args.paths.len() == 1 || args.output.is_empty() && options.index == IndexChoice::Auto,
        "--output and --index need a single trace: draw or index the traces one at a time"
    );
    if let Some(folder) = args.source.iter().find(|folder| !folder.is_dir()) {
        bail!("--source {}: this folder does not exist", folder.display());
    }
    let chain = args.filters.chain(&args.paths)?;
    if args.output.is_empty() {
        return show(args, options, &chain);
    }
    for path in &args.paths {
        let input = TraceInput::open(path)?;
        let mut options = options.clone();
        input.apply(&mut options);
        if !args.run.strict.accepts(&input, &options)? {
            return Ok(ExitStatus::InputHasMistakes);
        }
        let bar = ProgressDisplay::new(if path.is_dir() { "{human_len} records" } else { "{total_bytes}" });
        options.convert.progress = bar.callback();
        let opened = tumit_viewer::open(input.path(), &options);
        drop(bar);
        let source = match opened {
            Ok(source) => source,
            Err(error) => return refuse_trace(error),
        };
        let mut printed = PrintedDiagnostics::of(&source.summary());
        let filtered = args.filters.apply(&chain, Arc::clone(&source))?;
        if let Some(view) = &mut perspective {
            view.add_stored_categories(source.as_ref());
        }
        match &perspective {
            Some(view) => draw_perspective(args, view, filtered, time_range)?,
            None => draw(args, (filtered.as_ref(), &layout_options(args)), time_range, (&outputs, &|_| {}))?,
        }
        printed.print_new(&source.summary());
        if !source.summary().is_intact() {
            return Ok(ExitStatus::InputHasMistakes);
        }
    }
    Ok(ExitStatus::Done)
}

/// Draws a view: a chart, or the diagram of a mode.
fn draw_perspective(
    args: &Args,
    view: &RequestedView<'_>,
    source: Arc<dyn TimelineSource>,
    time_range: OpenTimeRange,
) -> anyhow::Result<()> {
    match view.diagram(&source, time_range, chart_image(args))? {
        Some((diagram, time_range)) => {
            let layout = diagram.layout(layout_options(args));
            let finish = |scene: &mut Scene| view.finish_diagram(scene, args.theme.into());
            draw(args, (diagram.source.as_ref(), &layout), time_range, (&view.images(), &finish))
        }
        None => view.draw(source, time_range, chart_image(args)),
    }
}

/// The result for a trace that is shown before it is complete, with its position among the given
/// traces.
type LoadOutcome = (usize, Result<TraceSummary, TraceOpenError>);

/// Shows the traces on a page.
fn show(args: &Args, mut options: OpenOptions, chain: &FilterChain) -> anyhow::Result<ExitStatus> {
    let (sender, outcomes) = tokio::sync::mpsc::unbounded_channel::<LoadOutcome>();
    let cancel = Arc::new(AtomicBool::new(false));
    options.cancel = Some(Arc::clone(&cancel));
    let (mut served, mut bars) = (Vec::new(), Vec::new());
    // Copies of pipes and compressed files must exist as long as the page.
    let mut inputs = Vec::new();
    for (index, argument) in args.paths.iter().enumerate() {
        let mut options = options.clone();
        let input = if args.follow { None } else { Some(shown_input(args, argument, &options)?) };
        if let Some(input) = &input {
            input.apply(&mut options);
            if !args.run.strict.accepts(input, &options)? {
                return Ok(ExitStatus::InputHasMistakes);
            }
        }
        let is_copy = input.as_ref().is_some_and(TraceInput::is_copy);
        let path = input.as_ref().map_or(argument.as_path(), TraceInput::path).to_owned();
        let path = &path;
        inputs.push(input);
        let sender = sender.clone();
        // After the page is closed, there is no receiver.
        let on_end = Box::new(move |outcome| _ = sender.send((index, outcome)));
        let bar = ProgressDisplay::new(if path.is_dir() { "{human_len} records" } else { "{total_bytes}" });
        options.convert.progress = bar.callback().filter(|_| !args.follow);
        let result = if args.follow {
            Ok(OpenedTrace::Going(background_read::follow(path, &options, on_end)))
        } else {
            background_read::begin(path, &options, on_end)
        };
        let source = match result {
            Ok(OpenedTrace::Going(current)) => {
                bars.push(Some(bar));
                current
            }
            Ok(OpenedTrace::Whole(source)) => {
                bars.push(None);
                drop(bar);
                PrintedDiagnostics::of(&source.summary());
                // The command reports errors of the filters. The page gets the unfiltered trace, so
                // that filters can be switched off.
                args.filters.apply(chain, Arc::clone(&source))?;
                CurrentTrace::from(source)
            }
            Err(error) => {
                drop(bar);
                return refuse_trace(error);
            }
        };
        let (path, filters, folders) = ((!is_copy).then(|| path.clone()), chain.clone(), args.source.clone());
        served.push(ServedTrace { source, path, filters, folders, follows: args.follow });
    }
    let served = serve_page(args, served, outcomes, bars);
    // An incomplete index is abandoned when the process ends.
    tumit_viewer::index::abandon(&cancel);
    match served? {
        Some(error) => refuse_trace(error),
        None => Ok(ExitStatus::Done),
    }
}

/// The input of a trace that is not followed. An index needs the complete trace, and a strict
/// command reads it twice, so a pipe is copied first.
fn shown_input(args: &Args, argument: &Path, options: &OpenOptions) -> anyhow::Result<TraceInput> {
    match options.index {
        IndexChoice::At(_) => TraceInput::open(argument),
        _ if args.run.strict.is_given() => TraceInput::open(argument),
        _ => TraceInput::open_streamed(argument),
    }
}

/// The result of the command for a trace that cannot be shown.
fn refuse_trace(error: TraceOpenError) -> anyhow::Result<ExitStatus> {
    match error {
        TraceOpenError::Convert(error) if is_mistake(&error) => {
            term::error(&error.into());
            Ok(ExitStatus::InputHasMistakes)
        }
        error => Err(error.into()),
    }
}

/// The size and theme of the image of a view.
fn chart_image(args: &Args) -> PerspectiveImage {
    PerspectiveImage {
        width: f32::from(args.width),
        height: args.height.map(f32::from),
        scale: f32::from(args.scale),
        theme: args.theme.into(),
    }
}

fn layout_options(args: &Args) -> LayoutOptions {
    LayoutOptions {
        folds: FoldedContainers { level: args.fold, ..FoldedContainers::default() },
        theme: args.theme.into(),
        joined_operations: if args.collectives { JoinedOperations::All } else { JoinedOperations::None },
        ..LayoutOptions::default()
    }
}

/// A change of a drawing before it is written.
type SceneChange<'a> = &'a dyn Fn(&mut Scene);

/// Draws the image into each of the outputs, after it is finished.
fn draw(
    args: &Args,
    (source, options): (&dyn TimelineSource, &LayoutOptions),
    time_range: OpenTimeRange,
    (outputs, finish): (&[ImageOutput<'_>], SceneChange<'_>),
) -> anyhow::Result<()> {
    let outline = ContainerOutline::new(source)?;
    let time_range = time_range.to_closed_range(source.extent())?;
    for output in outputs {
        let scale = f32::from(args.scale);
        let document_options = DocumentOptions {
            time_range,
            width: f32::from(args.width),
            height: args.height.map(f32::from),
            resolution: scale,
            titles: output.format != ImageFormat::Png,
        };
        let mut scene = document(source, &outline, options, document_options)?;
        finish(&mut scene);
        if let Some(height) = document_options.height.filter(|height| scene.height > *height) {
            let needed = scene.height;
            term::note(&format!(
                "the rows need a height of {needed:.0}, more than {height:.0}: `--fold 0`, or a filter such as 'group * into All', reduces the rows"
            ));
        }
        for note in &scene.notes {
            let name = if is_standard_output(output.path) { "the image".into() } else { output.path.to_string_lossy() };
            term::note(&format!("{name}: {note}"));
        }
        output.draw(&scene, scale)?;
    }
    Ok(())
}

/// Serves the page until Ctrl-C, or until a trace turns out to be invalid. Returns the error in the
/// latter case.
fn serve_page(
    args: &Args,
    traces: Vec<ServedTrace>,
    mut outcomes: UnboundedReceiver<LoadOutcome>,
    mut bars: Vec<Option<ProgressDisplay>>,
) -> anyhow::Result<Option<TraceOpenError>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the server")?;
    runtime.block_on(async {
        let server = match &args.socket {
            Some(path) => Server::bind_socket(traces, path).await?,
            None => Server::bind_traces(traces, args.port.unwrap_or(0)).await?,
        };
        // The reader of the address can end this process at once, so the handler is installed
        // first.
        let signal = crate::signals::end_signal();
        let url = server.url();
        announce(&url, server.address().port(), args.socket.as_deref())?;
        if !args.no_open && args.socket.is_none() && term::is_interactive() && std::io::stdin().is_terminal() {
            // All users of the machine can see the arguments of a program, so the browser gets an
            // address that works only once.
            match server.one_time_url() {
                Ok(one_time_url) => open_browser(&one_time_url),
                Err(error) => term::note(&format!("The browser was not opened: {error}")),
            }
        }
        let mut failure = None;
        let stop = async {
            tokio::select! {
                _number = signal => {}
                error = first_failure(&mut outcomes, &mut bars) => failure = Some(error),
            }
        };
        server.run(args.until_idle.map(|seconds| Duration::from_secs(seconds.into())), stop).await?;
        bars.clear();
        term::note("The page is closed.");
        Ok(failure)
    })
}

/// Reports the results of the traces that are being read. Returns when one of them fails.
async fn first_failure(
    outcomes: &mut UnboundedReceiver<LoadOutcome>,
    bars: &mut [Option<ProgressDisplay>],
) -> TraceOpenError {
    while let Some((index, outcome)) = outcomes.recv().await {
        if let Some(bar) = bars.get_mut(index) {
            *bar = None;
        }
        match outcome {
            Ok(summary) => _ = PrintedDiagnostics::of(&summary),
            Err(error) => return error,
        }
    }
    std::future::pending().await
}

/// Prints the address. If the page needs a tunnel, also prints the command for it.
fn announce(url: &str, port: u16, socket: Option<&Path>) -> anyhow::Result<()> {
    term::note(&format!("The page is at\n\n  {url}\n"));
    let connection = std::env::var("SSH_CONNECTION").ok();
    if connection.is_some() || socket.is_some() {
        // "client-address client-port server-address server-port"
        let host = connection.as_deref().and_then(|connection| connection.split_whitespace().nth(2)).unwrap_or("HOST");
        let user = std::env::var("USER").map(|user| format!("{user}@")).unwrap_or_default();
        let end = match socket {
            // The remote machine does not know this folder, so the path must be absolute.
            Some(path) => shell_word(&std::path::absolute(path).context("cannot determine the path of the socket")?),
            None => format!("127.0.0.1:{port}"),
        };
        term::note(&format!("On your own machine, run first:\n\n  ssh -L {port}:{end} {user}{host}\n"));
    }
    term::note("Ctrl-C closes the page.");
    Ok(())
}

/// A path, quoted for a shell.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|char| char.is_ascii_alphanumeric() || "/._-+@%,".contains(char));
    if is_plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Opens the desktop's browser if there is one. Its absence is no error, because the address is
/// printed.
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_display =
        cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let program = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| Path::new(&dir).join(opener).is_file()));
    if has_display && program {
        let quiet = std::process::Stdio::null;
        // The user sees that the browser does not start, and has the address.
        let _ = std::process::Command::new(opener).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    }
}
