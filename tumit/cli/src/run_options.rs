//! Options for opening a trace, which the commands that count or index it share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_converter::run::{OpenRun, RunOpenError};
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError, first_finding};

use crate::option_values::byte_sizes::ByteSize;
use crate::option_values::time_unit::TimeUnitChoice;
use crate::progress::ProgressDisplay;
use crate::trace_input::{TraceInput, was_cut_short};
use crate::{spec_files, term};

/// How clocks are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ClockCorrection {
    /// By all messages between processes: offset, drift, and changes of the drift
    #[default]
    Graph,
    /// By the sync messages of the recorders only: offset and drift
    Bursts,
    /// No correction: the timestamps of each process's own clock
    None,
}

impl From<ClockCorrection> for CorrectionMethod {
    fn from(clock: ClockCorrection) -> Self {
        match clock {
            ClockCorrection::Graph => Self::Graph,
            ClockCorrection::Bursts => Self::Bursts,
            ClockCorrection::None => Self::None,
        }
    }
}

/// Whether links are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CausalCorrection {
    /// Moves timestamps, so that no link ends before it starts
    #[default]
    On,
    /// Keeps the timestamps that the clock correction computed
    Off,
}

/// Whether the error is a mistake of the input: a text output that is not in the spec, or rules for
/// another program.
pub(crate) fn is_mistake(error: &ConvertError) -> bool {
    matches!(error, ConvertError::NoOutput { .. } | ConvertError::OtherProgram { .. })
}

/// How timestamps of different processes become timestamps of one time line.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ClockOptions {
    /// How the clocks of the processes are corrected to one time line
    #[arg(long, value_enum, default_value_t)]
    clock: ClockCorrection,
    /// Whether timestamps are moved later where a link ends before it starts
    #[arg(long, value_enum, default_value_t)]
    causal: CausalCorrection,
}

/// Limits on the threads and the memory for reading a run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ResourceOptions {
    /// Number of worker threads; the result is the same for any number [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Memory budget for link endpoints, in bytes or with K, M or G, such as 500K or 2G; the rest
    /// spills to temporary files in TMPDIR. The result is the same for any size
    #[arg(long, value_name = "SIZE", default_value = "64M")]
    memory: ByteSize,
}

/// The launches that are read.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LaunchChoice {
    /// Reads this launch of a run folder with several launches of a program: a number in order of
    /// time, as in the list of `tumit info`, or `all` for all launches as one run [default: the
    /// latest]
    #[arg(long, value_name = "N|all", help_heading = "Runs")]
    launch: Option<LaunchSelection>,
}

impl LaunchChoice {
    /// Whether the option was given.
    pub(crate) fn is_given(self) -> bool {
        self.launch.is_some()
    }

    pub(crate) fn launches(self) -> LaunchSelection {
        self.launch.unwrap_or_default()
    }
}

/// How the records of a run are read.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    #[command(flatten)]
    clock_options: ClockOptions,
    #[command(flatten)]
    resources: ResourceOptions,
    #[command(flatten)]
    strict: StrictOption,
}

impl RunArguments {
    pub(crate) fn open(self, input: &TraceInput) -> Result<OpenRun, RunOpenError> {
        OpenRun::open_launches(input.path(), self.launch.launches())
    }

    /// The options in the form of the converter.
    pub(crate) fn options(self) -> ConvertOptions {
        options(self.clock_options, self.resources)
    }

    /// Whether the command may continue. If not, the first problem is already reported.
    pub(crate) fn accepts(self, input: &TraceInput, options: &ConvertOptions) -> anyhow::Result<bool> {
        self.strict.accepts_run(input, options, self.launch.launches())
    }
}

/// The options of a conversion that the command line determines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvertChoices<'a> {
    pub(crate) clock_options: ClockOptions,
    pub(crate) resources: ResourceOptions,
    /// The path of a spec whose rules are used.
    pub(crate) rules: Option<&'a str>,
    pub(crate) text_output: Option<&'a str>,
}

impl ConvertChoices<'_> {
    /// The options in the form of the converter. `None` when the user's spec has mistakes, which
    /// are already reported.
    pub(crate) fn options(self) -> anyhow::Result<Option<ConvertOptions>> {
        let mut options = options(self.clock_options, self.resources);
        options.output = self.text_output.map(str::to_owned);
        if let Some(path) = self.rules {
            let Some(spec) = spec_files::compile(path)? else { return Ok(None) };
            options.rules = Some(spec);
        }
        Ok(Some(options))
    }
}

/// The options of a reader of records, which needs no rules.
pub(crate) fn options(clock_options: ClockOptions, resources: ResourceOptions) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.clock = clock_options.clock.into();
    options.has_causal_pass = clock_options.causal == CausalCorrection::On;
    options.threads = resources.threads;
    options.memory = resources.memory.0;
    options
}

/// Whether the first problem of a trace ends the command.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct StrictOption {
    /// Ends at the first problem of the trace, prints it with its line and a remedy, and writes
    /// nothing. A construct that other readers reject is a problem, too. The trace is read twice
    /// [default: the rest of the trace is read, and problems are counted]
    #[arg(long, help_heading = "Problems of the trace")]
    strict: bool,
}

impl StrictOption {
    pub(crate) fn is_given(self) -> bool {
        self.strict
    }

    /// Whether the command may continue. If not, the first problem is already reported.
    pub(crate) fn accepts(self, input: &TraceInput, options: &OpenOptions) -> anyhow::Result<bool> {
        if !self.strict {
            return Ok(true);
        }
        let name = input.name();
        if was_cut_short() {
            term::note(&format!("tumit: {name}: --strict ends at this damage; repair the file"));
            return Ok(false);
        }
        let bar = ProgressDisplay::new(if input.path().is_dir() { "{human_len} records" } else { "{total_bytes}" });
        let mut options = options.clone();
        options.convert.progress = bar.callback();
        let found = first_finding(input.path(), &options);
        drop(bar);
        match found {
            Ok(None) => Ok(true),
            Ok(Some(finding)) => {
                term::note(&format!("tumit: {name}: {finding} (--strict ends at the first problem)"));
                Ok(false)
            }
            Err(TraceOpenError::Convert(error)) if is_mistake(&error) => {
                term::error(&error.into());
                Ok(false)
            }
            Err(error) => Err(anyhow::Error::msg(input.with_user_path(&error.to_string()))),
        }
    }

    /// Whether the command may continue with a run, or a trace without options. If not, the first
    /// problem is already reported. The run is converted by its rules, because a text output need
    /// not be Pajé.
    pub(crate) fn accepts_run(
        self,
        input: &TraceInput,
        convert: &ConvertOptions,
        launches: LaunchSelection,
    ) -> anyhow::Result<bool> {
        let mut options = OpenOptions::default();
        (options.convert, options.launches) = (convert.clone(), launches);
        options.convert.output = None;
        self.accepts(input, &options)
    }
}

/// Options for reading a run or a Pajé file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Runs")]
pub(crate) struct RunOptions {
    #[command(flatten)]
    clock_options: ClockOptions,
    /// Uses the rules of this spec instead of the recorded ones
    #[arg(long, value_name = "SPEC")]
    rules: Option<String>,
    /// Shows this text output of the spec instead of the result of its rules; the output must be
    /// Pajé text
    #[arg(long, value_name = "NAME")]
    text_output: Option<String>,
    #[command(flatten)]
    launch: LaunchChoice,
    #[command(flatten)]
    resources: ResourceOptions,
    /// Unit of the timestamps of Pajé text, because the text does not name it [default: s, with a
    /// warning if that is doubtful]
    #[arg(long, value_enum, help_heading = "Pajé files")]
    unit: Option<TimeUnitChoice>,
    #[command(flatten)]
    pub(crate) strict: StrictOption,
}

/// An option and the name of its value.
fn value_argument(option: &str, value: &impl clap::ValueEnum) -> Option<[String; 2]> {
    value.to_possible_value().map(|value| [option.to_owned(), value.get_name().to_owned()])
}

impl RunOptions {
    /// The arguments that give the same trace. Options that change only the time or the memory are
    /// left out.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let ClockOptions { clock, causal } = self.clock_options;
        let clock = Some(clock).filter(|clock| *clock != ClockCorrection::default());
        let causal = Some(causal).filter(|causal| *causal != CausalCorrection::default());
        arguments.extend(clock.and_then(|clock| value_argument("--clock", &clock)).into_iter().flatten());
        arguments.extend(causal.and_then(|causal| value_argument("--causal", &causal)).into_iter().flatten());
        let launch = self.launch.launch.and_then(|launch| match launch {
            LaunchSelection::Number(number) => Some(number.to_string()),
            LaunchSelection::All => Some("all".to_owned()),
            _ => None,
        });
        let texts = [("--rules", &self.rules), ("--text-output", &self.text_output), ("--launch", &launch)];
        for (option, text) in texts {
            text.iter().for_each(|text| arguments.extend([option.to_owned(), text.clone()]));
        }
        arguments.extend(self.unit.and_then(|unit| value_argument("--unit", &unit)).into_iter().flatten());
        arguments
    }

    /// The options in the form of the library. `None` when the user's spec has mistakes, which are
    /// already reported.
    pub(crate) fn of(&self, index: IndexChoice) -> anyhow::Result<Option<OpenOptions>> {
        let choices = ConvertChoices {
            clock_options: self.clock_options,
            resources: self.resources,
            rules: self.rules.as_deref(),
            text_output: self.text_output.as_deref(),
        };
        let Some(convert) = choices.options()? else { return Ok(None) };
        let mut open = OpenOptions::default();
        open.convert = convert;
        open.launches = self.launch.launches();
        open.unit = self.unit.unwrap_or_default().into();
        open.unit_is_known = self.unit.is_some();
        open.index = index;
        Ok(Some(open))
    }

    /// Calls `open_trace` for a trace, and shows the progress. `None` when the user's spec has
    /// mistakes, or the trace has some and the user wants none. They are already reported.
    pub(crate) fn open<T>(
        &self,
        path: &Path,
        index: IndexChoice,
        open_trace: impl FnOnce(&Path, &OpenOptions) -> Result<T, TraceOpenError>,
    ) -> anyhow::Result<Option<T>> {
        let input = TraceInput::open(path)?;
        let Some(mut options) = self.of(index)? else { return Ok(None) };
        input.apply(&mut options);
        if !self.strict.accepts(&input, &options)? {
            return Ok(None);
        }
        let path = input.path();
        let bar = ProgressDisplay::new(if path.is_dir() { "{human_len} records" } else { "{total_bytes}" });
        options.convert.progress = bar.callback();
        let opened = open_trace(path, &options);
        drop(bar);
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(TraceOpenError::Convert(error)) if is_mistake(&error) => {
                term::error(&error.into());
                Ok(None)
            }
            Err(error) if input.is_copy() => Err(anyhow::Error::msg(input.with_user_path(&error.to_string()))),
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn index_choice(path: Option<&PathBuf>) -> IndexChoice {
    match path {
        None => IndexChoice::Auto,
        Some(path) if path.as_os_str() == "none" => IndexChoice::None,
        Some(path) => IndexChoice::At(path.clone()),
    }
}
