//! [`ViewOptions`]: the options of views, parsed from `NAME=VALUE`.
//!
//! ```
//! use tumit_perspectives::execution::order::UnitOrder;
//! use tumit_perspectives::options::ParsedOptions;
//!
//! let options = [("level", "Thread"), ("order", "gray")];
//! let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
//! let parsed = ParsedOptions::parse("kiviat", &["order"], &options)?;
//! assert_eq!(parsed.execution.units.level.as_deref(), Some("Thread"));
//! assert_eq!(parsed.view.order, UnitOrder::Gray);
//! # Ok::<(), tumit_perspectives::error::PerspectiveError>(())
//! ```

use tumit_paje::category::ActivityCategory;
use tumit_paje::time_text;
use tumit_viewer::filter::NamePattern;

use crate::draw::PaletteKind;
use crate::draw::size_scale::{MAX_BINS, SizeScale};
use crate::error::PerspectiveError;
use crate::execution::activity::UnitMode;
use crate::execution::order::{ORDER_FORMS, UnitOrder};
use crate::execution::{Execution, ExecutionSettings};
use crate::network::topology::{TOPOLOGY_FORMS, Topology};
use crate::option_titles::value_title;

/// The quantity of messages that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
#[non_exhaustive]
pub enum MessageMeasure {
    #[default]
    Messages,
    Bytes,
}

/// The messages of a unit that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum MessageDirection {
    #[default]
    Both,
    Incoming,
    Outgoing,
}

/// The options of views.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ViewOptions {
    /// The order of the units.
    pub order: UnitOrder,
    /// Messages or bytes.
    pub measure: Option<MessageMeasure>,
    /// The text of the topology, such as `torus2:4x8`.
    pub topology: Option<String>,
    /// The name of the selected unit.
    pub unit: Option<String>,
    /// Incoming, outgoing or all messages.
    pub direction: MessageDirection,
    /// Half the width of the moving time range, or the smoothing width, in nanoseconds.
    pub width: Option<i64>,
    /// Whether overhead counts as utilization.
    pub counts_overhead: bool,
    /// The layout of a network.
    pub layout: Option<String>,
    /// The quantity of a message that a view shows.
    pub quantity: Option<String>,
    /// The category that a view shows.
    pub category: Option<ActivityCategory>,
    /// Whether the data of collective operations count as messages.
    pub collectives: CollectiveChoice,
    /// The quantity that determines the colour of a message.
    pub color: MessageColor,
    /// The limits of the bins of sizes in bytes, ascending. If there are none, the sizes of the
    /// trace determine them.
    pub bins: Vec<u64>,
    /// The order of the tasks.
    pub sort: TaskSort,
    /// The colours of the drawing.
    pub palette: PaletteKind,
}

/// The quantity that determines the colour of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageColor {
    /// Its size.
    #[default]
    Size,
    /// Its number of hops.
    Distance,
}

/// The order of the tasks in a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskSort {
    /// By number.
    #[default]
    Number,
    /// By their first begin.
    Begin,
    /// By name, where `step 2` precedes `step 10`.
    Name,
    /// By their last end.
    End,
    /// By the time from the first begin to the last end, longest first.
    Duration,
    /// By the time of all units, longest first.
    Time,
}

/// Whether the data of collective operations count as messages between their members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectiveChoice {
    /// They are left out.
    #[default]
    Omit,
    /// They are added to the messages.
    Add,
    /// They replace the messages.
    Only,
}

/// The description of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
#[non_exhaustive]
pub struct OptionInfo {
    pub name: &'static str,
    pub forms: &'static str,
    pub help: &'static str,
}

/// The options of all views. They determine the units, categories and tasks.
pub const EXECUTION_OPTIONS: [OptionInfo; 6] = [
    OptionInfo { name: "level", forms: "TYPE", help: "the container type of the units, such as Thread" },
    OptionInfo {
        name: "units",
        forms: "NAMES",
        help: "only the units of these containers, such as `Node 1, Node 2/*`",
    },
    OptionInfo { name: "states", forms: "TYPE", help: "the state type that determines busy, overhead and idle" },
    OptionInfo { name: "tasks", forms: "TYPE", help: "the state type whose values are tasks" },
    OptionInfo {
        name: "several",
        forms: "any-busy or fractional",
        help: "how a unit with several containers of states counts",
    },
    OptionInfo { name: "stateless", forms: "idle, busy or overhead", help: "the category of time without a state" },
];

/// The options of drawings.
pub const DRAWING_OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "palette",
    forms: "standard, traffic-lights or monochrome",
    help: "the colours: those of the theme, green, yellow and red for the categories, or greys and patterns",
}];

/// The options of some views.
pub const VIEW_OPTIONS: [OptionInfo; 14] = [
    OptionInfo { name: "order", forms: ORDER_FORMS, help: "the order of the units" },
    OptionInfo { name: "measure", forms: "messages or bytes", help: "the quantity of messages" },
    OptionInfo { name: "topology", forms: TOPOLOGY_FORMS, help: "the network by which hops are counted" },
    OptionInfo { name: "unit", forms: "NAME", help: "the selected unit" },
    OptionInfo { name: "direction", forms: "both, incoming or outgoing", help: "the messages of the selected unit" },
    OptionInfo {
        name: "width",
        forms: "TIME",
        help: "the smoothing width, or half the moving time range, such as 10ms",
    },
    OptionInfo { name: "count", forms: "busy or busy+overhead", help: "the categories that count as utilization" },
    OptionInfo {
        name: "layout",
        forms: "NAME or FILE",
        help: "the layout of a network, or a file of lines `name x y`",
    },
    OptionInfo { name: "quantity", forms: "peer, type, size or distance", help: "the vertical axis" },
    OptionInfo { name: "category", forms: "busy, overhead or idle", help: "the category of a profile" },
    OptionInfo {
        name: "collectives",
        forms: "omit, add or only",
        help: "whether the data of collective operations count as messages",
    },
    OptionInfo {
        name: "color",
        forms: "size or distance",
        help: "the quantity that determines the colour of a message",
    },
    OptionInfo {
        name: "bins",
        forms: "SIZES",
        help: "the limits between the colours of sizes in bytes, such as `256, 4096, 65536`",
    },
    OptionInfo { name: "sort", forms: "number, begin, name, end, duration or time", help: "the order of the tasks" },
];

/// The options of a request: those of the execution, and those of a view.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ParsedOptions {
    /// The options that determine units, categories and tasks.
    pub execution: ExecutionSettings,
    /// The options of the view.
    pub view: ViewOptions,
}

impl ParsedOptions {
    /// Parses options of the form `NAME=VALUE`. `known_names` are the options of the view, in
    /// addition to those of all views.
    ///
    /// # Errors
    /// If an option is unknown, or a value invalid.
    pub fn parse(view: &str, known_names: &[&str], list: &[(String, String)]) -> Result<Self, PerspectiveError> {
        let of_all = EXECUTION_OPTIONS.iter().chain(&DRAWING_OPTIONS).map(|option| option.name);
        let listed: Vec<&str> = known_names.iter().copied().chain(of_all).collect();
        Self::parse_listed(view, known_names, &listed, list)
    }

    /// Parses the options of a command that draws nothing: those of [`EXECUTION_OPTIONS`].
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_for_execution(
        command: &str,
        list: &[(String, String)],
    ) -> Result<ExecutionSettings, PerspectiveError> {
        let known_names = EXECUTION_OPTIONS.map(|option| option.name);
        if let Some((name, _)) = list.iter().find(|(name, _)| !known_names.contains(&name.as_str())) {
            let known_names = known_names.map(str::to_owned).to_vec();
            return Err(PerspectiveError::NoOption { view: command.to_owned(), name: name.clone(), known_names });
        }
        Self::parse(command, &[], list).map(|options| options.execution)
    }

    /// The same as [`Self::parse`]. An error lists the options of `list_names`.
    pub(crate) fn parse_listed(
        view: &str,
        known_names: &[&str],
        list_names: &[&str],
        list: &[(String, String)],
    ) -> Result<Self, PerspectiveError> {
        let mut options = Self::default();
        for (name, value) in list {
            if EXECUTION_OPTIONS.iter().any(|option| option.name == name) {
                options.execution.set(name, value)?;
            } else if known_names.contains(&name.as_str()) || DRAWING_OPTIONS.iter().any(|option| option.name == name) {
                options.view.set(name, value)?;
            } else {
                let known_names = list_names.iter().map(|name| (*name).to_owned()).collect();
                return Err(PerspectiveError::NoOption { view: view.to_owned(), name: name.clone(), known_names });
            }
        }
        Ok(options)
    }
}

/// The limits of bins of sizes: ascending numbers of bytes.
fn size_limits(value: &str) -> Result<Vec<u64>, PerspectiveError> {
    let limits: Option<Vec<u64>> = value.split(',').map(|part| part.trim().parse().ok()).collect();
    let is_valid =
        |limits: &Vec<u64>| limits.len() < MAX_BINS && limits[0] > 0 && limits.windows(2).all(|pair| pair[0] < pair[1]);
    limits.filter(is_valid).ok_or_else(|| PerspectiveError::OptionValue {
        name: "bins".to_owned(),
        value: value.to_owned(),
        expected: format!("up to {} ascending numbers of bytes above 0, such as `256, 4096, 65536`", MAX_BINS - 1),
    })
}

/// Finds the variant of a word.
fn choose<T: Copy>(name: &str, value: &str, words: &[(&str, T)]) -> Result<T, PerspectiveError> {
    words.iter().find(|(word, _)| *word == value).map(|(_, variant)| *variant).ok_or_else(|| {
        let expected: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        PerspectiveError::OptionValue { name: name.to_owned(), value: value.to_owned(), expected: expected.join(", ") }
    })
}

impl ExecutionSettings {
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), PerspectiveError> {
        match name {
            "level" => self.units.level = Some(value.to_owned()),
            "units" => {
                let invalid = |_| PerspectiveError::OptionValue {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    expected: "names of containers, such as `Node 1, Node 2/*`; a name with a comma or a word of \
                               filters is in quotes"
                        .to_owned(),
                };
                self.units.names = Some(value.parse().map_err(invalid)?);
            }
            "states" => self.units.states = Some(NamePattern::new(value)),
            "tasks" => self.tasks = Some(NamePattern::new(value)),
            "several" => {
                let words = [("any-busy", UnitMode::AnyBusy), ("fractional", UnitMode::Fractional)];
                self.activity.mode = choose(name, value, &words)?;
            }
            _ => self.activity.stateless_category = choose(name, value, &ActivityCategory::WORDS[..3])?,
        }
        Ok(())
    }
}

/// The width of a time range in nanoseconds, at least 0.
fn parse_width(name: &str, value: &str) -> Result<i64, PerspectiveError> {
    let invalid = |expected: &str| PerspectiveError::OptionValue {
        name: name.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
    };
    let nanos = time_text::parse(value).map_err(|_error| invalid("a time in seconds, or with a unit, such as 10ms"))?;
    if nanos < 0 { Err(invalid("a time that is not negative")) } else { Ok(nanos) }
}

impl ViewOptions {
    fn set(&mut self, name: &str, value: &str) -> Result<(), PerspectiveError> {
        let text = || Some(value.to_owned());
        match name {
            "order" => self.order = UnitOrder::parse(value)?,
            "measure" => {
                let words = [("messages", MessageMeasure::Messages), ("bytes", MessageMeasure::Bytes)];
                self.measure = Some(choose(name, value, &words)?);
            }
            "topology" => {
                // The number of units is not known yet.
                Topology::parse(value, 0)?;
                self.topology = text();
            }
            "unit" => self.unit = text(),
            "direction" => {
                let words = [
                    ("both", MessageDirection::Both),
                    ("incoming", MessageDirection::Incoming),
                    ("outgoing", MessageDirection::Outgoing),
                ];
                self.direction = choose(name, value, &words)?;
            }
            "width" => self.width = Some(parse_width(name, value)?),
            "count" => self.counts_overhead = choose(name, value, &[("busy", false), ("busy+overhead", true)])?,
            "layout" => self.layout = text(),
            "quantity" => self.quantity = text(),
            "collectives" => {
                let words = [
                    ("omit", CollectiveChoice::Omit),
                    ("add", CollectiveChoice::Add),
                    ("only", CollectiveChoice::Only),
                ];
                self.collectives = choose(name, value, &words)?;
            }
            "color" => {
                let words = [("size", MessageColor::Size), ("distance", MessageColor::Distance)];
                self.color = choose(name, value, &words)?;
            }
            "bins" => self.bins = size_limits(value)?,
            "sort" => {
                let words = [
                    ("number", TaskSort::Number),
                    ("begin", TaskSort::Begin),
                    ("name", TaskSort::Name),
                    ("end", TaskSort::End),
                    ("duration", TaskSort::Duration),
                    ("time", TaskSort::Time),
                ];
                self.sort = choose(name, value, &words)?;
            }
            "palette" => self.palette = choose(name, value, &PaletteKind::WORDS)?,
            _ => self.category = Some(choose(name, value, &ActivityCategory::WORDS[..3])?),
        }
        Ok(())
    }

    /// The scale of some sizes in bytes: that of the chosen bins, or one that fits the sizes.
    pub(crate) fn size_scale(&self, sizes: impl IntoIterator<Item = u64>) -> Option<SizeScale> {
        let scale = SizeScale::new(sizes)?;
        Some(if self.bins.is_empty() { scale } else { SizeScale::with_limits(&self.bins) })
    }

    /// The chosen topology for the units of an execution.
    ///
    /// # Errors
    /// If the text is invalid, or its grid has too few places.
    pub(crate) fn topology(&self, units: usize) -> Result<Topology, PerspectiveError> {
        self.topology.as_deref().map_or(Ok(Topology::default()), |text| Topology::parse(text, units))
    }

    /// Checks the options that refer to the trace, also those that have no effect on a view with
    /// its other options.
    ///
    /// # Errors
    /// If the topology has too few places for the units, or no unit has the chosen name.
    pub(crate) fn check(&self, execution: &Execution) -> Result<(), PerspectiveError> {
        self.topology(execution.units().count())?;
        self.selected_unit(execution).map(|_unit| ())
    }

    /// The title of the chosen topology, such as `Hamming distance`.
    pub(crate) fn topology_title(&self) -> String {
        value_title("topology", self.topology.as_deref().unwrap_or("hamming"))
    }

    /// The index of the selected unit.
    ///
    /// # Errors
    /// If no unit has the name.
    pub fn selected_unit(&self, execution: &Execution) -> Result<Option<usize>, PerspectiveError> {
        let Some(name) = &self.unit else { return Ok(None) };
        let units = execution.units().list();
        let unit = units.iter().position(|unit| unit.name == *name);
        let level = || execution.model().types[execution.units().ty.index()].name.clone();
        let first = || units.first().map_or_else(String::new, |unit| unit.name.clone());
        match unit {
            Some(unit) => Ok(Some(unit)),
            None => Err(PerspectiveError::NoUnit { level: level(), name: name.clone(), first: first() }),
        }
    }
}
