//! [`PerspectiveView`]: the trait of all views, those of users included.

use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::chart::{ChartTable, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::options::{DRAWING_OPTIONS, EXECUTION_OPTIONS, OptionInfo, ParsedOptions, ViewOptions};

/// A group of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewGroup {
    /// How much of the time each unit is busy.
    Utilization,
    /// The messages between units.
    Communication,
    /// The tasks of units.
    Tasks,
    /// The execution as a whole.
    Execution,
    /// Views that users define.
    User,
}

impl ViewGroup {
    /// The groups with their names.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("Utilization", Self::Utilization),
        ("Communication", Self::Communication),
        ("Tasks", Self::Tasks),
        ("Whole", Self::Execution),
        ("Your own", Self::User),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// The time that a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeMode {
    /// The time cursor `t`, and the maximum from the start of the time range to `t`.
    At,
    /// The whole time range.
    Range,
    /// From `t − width` to `t + width`.
    Moving,
}

impl TimeMode {
    /// The modes with their words.
    pub const WORDS: [(&'static str, Self); 3] = [("at", Self::At), ("range", Self::Range), ("moving", Self::Moving)];

    /// The word of the mode.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// The description of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewInfo<'a> {
    /// Its name on the command line and in addresses, such as `utilization-count`.
    pub name: &'a str,
    /// Its number in the list of `ParaGraph`'s views, such as 1 for G1. `None` for other views.
    pub number: Option<u8>,
    /// Its title.
    pub title: &'a str,
    /// Its group.
    pub group: ViewGroup,
    /// One sentence about its contents.
    pub summary: &'a str,
    /// The data that it needs, in words.
    pub required_data: &'a str,
    /// Its time modes. The first is the default.
    pub modes: &'a [TimeMode],
    /// The names of its options, in addition to the options of all views.
    pub options: &'a [&'a str],
}

/// The options that every view accepts and that have an effect on a view.
pub fn common_options(info: &ViewInfo<'_>) -> impl Iterator<Item = &'static OptionInfo> {
    // Card files name the data that they show.
    let is_own = info.group == ViewGroup::User;
    let (needs, has_units) = (info.required_data, !info.required_data.is_empty());
    let has_effect = move |option: &&OptionInfo| match option.name {
        _ if is_own => true,
        "tasks" => needs.contains("task"),
        "states" | "several" | "stateless" => needs.replace("states of tasks", "").contains("states"),
        "level" | "units" => has_units,
        _ => true,
    };
    EXECUTION_OPTIONS.iter().chain(&DRAWING_OPTIONS).filter(has_effect)
}

impl ViewInfo<'_> {
    /// Parses options of the form `NAME=VALUE`. Options of all views are valid, also if they have
    /// no effect on this view. An error lists those that have an effect, as the help does.
    ///
    /// # Errors
    /// If an option is unknown, or a value invalid.
    pub fn parse_options(&self, list: &[(String, String)]) -> Result<ParsedOptions, PerspectiveError> {
        let of_all = common_options(self).map(|option| option.name);
        let listed: Vec<&str> = self.options.iter().copied().chain(of_all).collect();
        ParsedOptions::parse_listed(self.name, self.options, &listed, list)
    }
}

/// The time and the options of a view.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewRequest {
    /// The time mode. One of the modes of the view.
    pub mode: TimeMode,
    /// The time range: the selection, or the whole trace.
    pub range: TimeRange,
    /// The time cursor.
    pub time: GlobalNanos,
    /// The number of columns of charts over time, at least 1.
    pub columns: u32,
    /// The options.
    pub options: ViewOptions,
    /// Whether the chart needs its table. An image does not, and the table of many units takes
    /// longer than the image.
    pub needs_table: bool,
}

impl ViewRequest {
    /// The width of a moving time range if none is chosen: from a twentieth of the time range
    /// before the time cursor to a twentieth after it.
    pub fn usual_width(range: TimeRange) -> i64 {
        (range.to.0.saturating_sub(range.from.0) / 20).max(1)
    }

    /// The time range that the view shows in the modes `range` and `moving`, and for charts over
    /// time in all modes.
    pub fn visible_range(&self) -> TimeRange {
        match (self.mode, self.options.width) {
            (TimeMode::Moving, Some(width)) => {
                let inside = |time: i64| GlobalNanos(time).clamp(self.range.from, self.range.to.max(self.range.from));
                TimeRange {
                    from: inside(self.time.0.saturating_sub(width)),
                    to: inside(self.time.0.saturating_add(width)),
                }
            }
            _ => self.range,
        }
    }

    /// The table of a chart, or an empty one if it is not needed.
    pub fn table(&self, make_table: impl FnOnce() -> ChartTable) -> ChartTable {
        if self.needs_table { make_table() } else { ChartTable::default() }
    }

    /// The time range from the start to the time cursor, for maxima so far.
    pub fn range_until_time(&self) -> TimeRange {
        TimeRange { from: self.range.from, to: GlobalNanos(self.time.0.saturating_add(1)).max(self.range.from) }
    }
}

/// A view. Its chart is a pure function of the execution and the request, so the chart at a time
/// does not depend on how that time was reached.
///
/// Any package can implement it:
///
/// ```
/// use std::sync::Arc;
///
/// use tumit_perspectives::chart::{AxisUnit, ChartPanel, ChartTable, TitledPanel, ViewChart};
/// use tumit_perspectives::draw::{DrawOptions, draw};
/// use tumit_perspectives::error::PerspectiveError;
/// use tumit_perspectives::execution::{Execution, ExecutionSettings};
/// use tumit_perspectives::options::ViewOptions;
/// use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
/// use tumit_viewer::query::{GlobalNanos, PajeTypeKind, entity_walk};
///
/// /// The numbers of events until the time cursor.
/// struct EventNumbers;
///
/// impl PerspectiveView for EventNumbers {
///     fn info(&self) -> ViewInfo<'_> {
///         ViewInfo {
///             name: "event-numbers",
///             number: None,
///             title: "Numbers of events",
///             group: ViewGroup::User,
///             summary: "The number of events of each type until the time cursor.",
///             required_data: "events",
///             modes: &[TimeMode::At],
///             options: &[],
///         }
///     }
///
///     fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
///         let (source, model) = (execution.source(), execution.model());
///         let mut table = ChartTable::new(&[("type", AxisUnit::Count), ("events", AxisUnit::Count)]);
///         for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Event) {
///             let mut count = 0.0;
///             for container in source.containers().iter() {
///                 entity_walk::events(source, (container.id, ty.id), request.range_until_time(), |_event| {
///                     count += 1.0;
///                     Ok(())
///                 })?;
///             }
///             table.rows.push(vec![ty.name.as_str().into(), count.into()]);
///         }
///         let panel = TitledPanel { title: String::new(), panel: ChartPanel::Table(table.clone()) };
///         let title = self.info().title.to_owned();
///         Ok(ViewChart { title, panels: vec![panel], table, ..ViewChart::default() })
///     }
/// }
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
/// # let body = "0 T 0 Thread\n3 E T Mark \"0 1 0\"\n6 0 t 0 T main\n17 1 t E a\n17 2 t E b\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// let source = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
/// let (range, options) = (execution.extent(), ViewOptions::default());
/// let (time, needs_table) = (GlobalNanos(1_500_000_000), true);
/// let request = ViewRequest { mode: TimeMode::At, range, time, columns: 1, options, needs_table };
/// let chart = EventNumbers.chart(&execution, &request)?;
/// assert_eq!(chart.table.rows, [vec!["Mark".into(), 1.0.into()]]);
/// let scene = draw(&chart, DrawOptions::default());
/// assert_eq!(scene.title, "Numbers of events");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PerspectiveView: Send + Sync {
    /// The description.
    fn info(&self) -> ViewInfo<'_>;

    /// Computes the contents.
    ///
    /// # Errors
    /// If the trace lacks data that the view needs, an option does not fit the trace, or the source
    /// fails.
    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError>;
}
