//! [`TraceValues`]: the values of states, events and messages.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use tumit_paje::RgbColor;

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
    /// Messages, as links.
    Message,
}

impl TypeSlot {
    pub(crate) const ALL: [Self; 7] =
        [Self::Activity, Self::Task, Self::Mark, Self::Text, Self::Record, Self::Definition, Self::Message];

    /// The name of the entity type.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Activity => "Activity",
            Self::Task => "Task",
            Self::Mark => "Mark",
            Self::Text => "Text",
            Self::Record => "Record",
            Self::Definition => "Definition",
            Self::Message => "Message",
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
            ValueKey::Number(number) => match self.labels.get(&(value.slot, *number)) {
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
