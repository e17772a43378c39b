//! [`TraceValues`]: the values of states, events and messages.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use tumit_paje::RgbColor;
use tumit_paje::task_colors::TASK_COLORS;

use super::trace_units::{HOST, TraceUnit};
use crate::node_activity::Activity;

/// The entity type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeSlot {
    /// The states of nodes.
    Activity,
    /// The tasks of the program, as states.
    Task,
    /// Events with a number of the program.
    Mark,
    /// Events with a text of the program.
    Text,
    /// Events for other records of nodes.
    Record,
    /// Events for records of the whole program, such as definitions.
    Definition,
    /// Messages between nodes, as links.
    Message,
    /// As `Activity`, of the host of old PICL.
    HostActivity,
    HostTask,
    HostMark,
    HostText,
    HostRecord,
    /// Messages from the host to nodes.
    FromHost,
    /// Messages from nodes to the host.
    ToHost,
}

impl TypeSlot {
    pub(crate) const ALL: [Self; 14] = [
        Self::Activity,
        Self::Task,
        Self::Mark,
        Self::Text,
        Self::Record,
        Self::Definition,
        Self::Message,
        Self::HostActivity,
        Self::HostTask,
        Self::HostMark,
        Self::HostText,
        Self::HostRecord,
        Self::FromHost,
        Self::ToHost,
    ];

    /// The slot of entities of a unit. The host has entity types of its own, because it is no node.
    pub(crate) const fn of_unit(self, unit: TraceUnit) -> Self {
        match self {
            Self::Activity if unit.node == HOST => Self::HostActivity,
            Self::Task if unit.node == HOST => Self::HostTask,
            Self::Mark if unit.node == HOST => Self::HostMark,
            Self::Text if unit.node == HOST => Self::HostText,
            Self::Record if unit.node == HOST => Self::HostRecord,
            Self::Record if !unit.is_node() => Self::Definition,
            other => other,
        }
    }

    /// The slot of messages between two units.
    pub(crate) const fn of_message(source: TraceUnit, target: TraceUnit) -> Self {
        if source.node == HOST {
            Self::FromHost
        } else if target.node == HOST {
            Self::ToHost
        } else {
            Self::Message
        }
    }

    /// The slot of the same entities of nodes.
    const fn of_nodes(self) -> Self {
        match self {
            Self::HostActivity => Self::Activity,
            Self::HostTask => Self::Task,
            Self::HostMark => Self::Mark,
            Self::HostText => Self::Text,
            Self::HostRecord => Self::Record,
            Self::FromHost | Self::ToHost => Self::Message,
            other => other,
        }
    }

    /// Whether the values are names of states of the program.
    pub(crate) const fn is_task(self) -> bool {
        matches!(self, Self::Task | Self::HostTask)
    }

    /// The name of the entity type.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Activity | Self::HostActivity => "Activity",
            Self::Task | Self::HostTask => "Task",
            Self::Mark | Self::HostMark => "Mark",
            Self::Text | Self::HostText => "Text",
            Self::Record | Self::HostRecord => "Record",
            Self::Definition => "Definition",
            Self::Message => "Message",
            Self::FromHost => "Message from host",
            Self::ToHost => "Message to host",
        }
    }
}

/// The identity of a value within its slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueKey {
    Activity(Activity),
    /// A number of the trace, such as that of a task.
    Number(i64),
    Text(Cow<'static, str>),
}

impl ValueKey {
    pub(crate) const fn text(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

/// The colour of a task. `None` if its number is negative.
fn task_color(task: i64) -> Option<RgbColor> {
    Some(TASK_COLORS[usize::try_from(task).ok()? % TASK_COLORS.len()])
}

#[derive(Clone, Debug)]
pub(crate) struct TraceValue {
    pub(crate) slot: TypeSlot,
    pub(crate) key: ValueKey,
    pub(crate) color: Option<RgbColor>,
}

/// All values, numbered by first appearance.
#[derive(Debug, Default)]
pub(crate) struct TraceValues {
    pub(crate) values: Vec<TraceValue>,
    numbers: FxHashMap<(TypeSlot, ValueKey), u32>,
    /// Names that the trace gives to numbers.
    labels: FxHashMap<(TypeSlot, i64), String>,
}

impl TraceValues {
    pub(crate) fn number(&mut self, slot: TypeSlot, key: ValueKey, color: Option<RgbColor>) -> u32 {
        if let Some(number) = self.numbers.get(&(slot, key.clone())) {
            return *number;
        }
        let number = self.values.len() as u32;
        let color = match key {
            ValueKey::Activity(activity) => Some(activity.color()),
            ValueKey::Number(task) if slot.is_task() => color.or_else(|| task_color(task)),
            _ => color,
        };
        self.values.push(TraceValue { slot, key: key.clone(), color });
        self.numbers.insert((slot, key), number);
        number
    }

    /// Names a number. Only the first name of a number is used.
    pub(crate) fn label(&mut self, slot: TypeSlot, number: i64, label: &str) {
        self.labels.entry((slot, number)).or_insert_with(|| label.to_owned());
    }

    pub(crate) fn name(&self, value: &TraceValue) -> String {
        match &value.key {
            ValueKey::Activity(activity) => activity.name().to_owned(),
            ValueKey::Text(text) => text.to_string(),
            ValueKey::Number(number) => match self.labels.get(&(value.slot.of_nodes(), *number)) {
                Some(label) => format!("{number}: {label}"),
                None => number.to_string(),
            },
        }
    }

    /// Whether a slot has values.
    pub(crate) fn uses(&self, slot: TypeSlot) -> bool {
        self.values.iter().any(|value| value.slot == slot)
    }
}
