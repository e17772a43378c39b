//! [`WrittenMeanings`]: the records of the values of a trace.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::category::ActivityCategory;
use tumit_paje::collective::CollectiveKind;
use tumit_paje::{TypeId, ValueId};

use super::call_names::{activity_of_call, activity_of_operation};
use super::unit_categories::CategoryEvent;
use crate::model::TypeSlot;
use crate::new_picl::{OTHER_RECORDS, event_of_name};
use crate::node_activity::Activity;
use crate::old_picl::{key_of_name, old_keys};

/// The meaning of a value in PICL, which determines its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenMeaning {
    Activity(Activity),
    Task(i64),
    Mark(i64),
    Text,
    /// A list of marks.
    MarkList,
    /// A record of new PICL. The first word of its data is its event.
    Definition(i64),
    /// An event of new PICL: the type of its record, and its event.
    Event(i64, i64),
    /// A record of old PICL.
    OldRecord(i64),
    /// No record is written.
    Nothing,
}

impl WrittenMeaning {
    /// The number of a task. 0 for other meanings.
    pub(super) fn task(self) -> i64 {
        if let Self::Task(task) = self { task } else { 0 }
    }

    /// The record of old PICL that it is.
    pub(super) fn old_record(self) -> Option<i64> {
        if let Self::OldRecord(record) = self { Some(record) } else { None }
    }

    /// Whether its record begins the trace of a unit.
    pub(super) fn begins_trace(self) -> bool {
        matches!(self, Self::OldRecord(old_keys::TRACE_START) | Self::Event(-3, -901))
    }

    /// Whether its record ends the trace of a unit.
    pub(super) fn ends_trace(self) -> bool {
        matches!(self, Self::OldRecord(old_keys::CLOSE | old_keys::TRACE_EXIT) | Self::Event(-4, -901))
    }
}

/// The records of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateMeaning {
    /// The index of the meaning of a task with the name of the state.
    pub(super) task: Option<u32>,
    /// The activity, and the index of its meaning.
    pub(super) activity: Option<(Activity, u32)>,
    pub(super) category: CategoryEvent,
}

/// A value of the trace.
#[derive(Debug)]
struct NamedValue {
    ty: TypeId,
    /// The name of its type, and its own name.
    ty_name: String,
    name: String,
    category: Option<ActivityCategory>,
}

/// The category of a value by its name.
pub(super) type CategoryGuess = fn(&str) -> ActivityCategory;

/// The meanings of the values of a trace.
#[derive(Default)]
pub(super) struct WrittenMeanings {
    values: FxHashMap<ValueId, NamedValue>,
    events: FxHashMap<ValueId, u32>,
    states: FxHashMap<(ValueId, bool, Option<CollectiveKind>), StateMeaning>,
    tasks: FxHashMap<ValueId, u32>,
    activities: FxHashMap<Activity, u32>,
    list: Vec<WrittenMeaning>,
    keys_in_use: FxHashSet<i64>,
    /// The names of the numbers of tasks and marks.
    pub(super) labels: Vec<(i64, String)>,
    next: i64,
    /// The categories of values without one. Such a state only becomes a task if it is not given.
    pub(super) guess: Option<CategoryGuess>,
    /// Whether the trace comes from PICL, so that all its states have their own events.
    pub(super) is_picl: bool,
}

impl WrittenMeanings {
    pub(super) fn define(
        &mut self,
        value: ValueId,
        (ty, ty_name): (TypeId, &str),
        name: &str,
        category: Option<ActivityCategory>,
    ) {
        if [TypeSlot::Task.name(), TypeSlot::Mark.name()].contains(&ty_name)
            && let Some((number, label)) = split_number(name)
        {
            // A label names the number only once.
            if self.keys_in_use.insert(number) && !label.is_empty() {
                self.labels.push((number, label.to_owned()));
            }
        }
        self.is_picl |= ty_name == TypeSlot::Activity.name() && name == Activity::Unknown.name();
        self.values.insert(value, NamedValue { ty, ty_name: ty_name.to_owned(), name: name.to_owned(), category });
    }

    pub(super) fn name(&self, value: ValueId) -> &str {
        self.values.get(&value).map_or("", |value| &value.name)
    }

    pub(super) fn get(&self, index: u32) -> WrittenMeaning {
        self.list.get(index as usize).copied().unwrap_or(WrittenMeaning::Nothing)
    }

    fn push(&mut self, meaning: WrittenMeaning) -> u32 {
        self.list.push(meaning);
        self.list.len() as u32 - 1
    }

    /// The index of the meaning of an activity.
    pub(super) fn of_activity(&mut self, activity: Activity) -> u32 {
        if let Some(index) = self.activities.get(&activity) {
            return *index;
        }
        let index = self.push(WrittenMeaning::Activity(activity));
        self.activities.insert(activity, index);
        index
    }

    /// Whether an event is a record of the whole program.
    pub(super) fn is_of_program(&self, value: ValueId) -> bool {
        self.values.get(&value).is_some_and(|value| value.ty_name == TypeSlot::Definition.name())
    }

    /// The index of the meaning of the last record of a trace.
    pub(super) fn end_of_trace(&mut self) -> u32 {
        const TRACE_INFO: i64 = -905;
        self.push(WrittenMeaning::Event(-2, TRACE_INFO))
    }

    /// The index of the meaning of an event.
    pub(super) fn of_event(&mut self, value: ValueId) -> u32 {
        if let Some(index) = self.events.get(&value) {
            return *index;
        }
        let meaning = self.values.get(&value).and_then(event);
        let meaning = meaning.unwrap_or_else(|| WrittenMeaning::Mark(self.number_of(value)));
        let index = self.push(meaning);
        self.events.insert(value, index);
        index
    }

    /// The index of the meaning of a task with the name of a value.
    fn task_of(&mut self, value: ValueId) -> u32 {
        if let Some(index) = self.tasks.get(&value) {
            return *index;
        }
        let is_task = |named: &&NamedValue| named.ty_name == TypeSlot::Task.name();
        let task_number = self.values.get(&value).filter(is_task).and_then(|named| split_number(&named.name));
        let task_number = task_number.map(|(number, _)| number);
        let number = match task_number {
            Some(number) => number,
            None => self.number_of(value),
        };
        let index = self.push(WrittenMeaning::Task(number));
        self.tasks.insert(value, index);
        index
    }

    /// A new number with the name of a value as its label.
    fn number_of(&mut self, value: ValueId) -> i64 {
        let number = self.free_number();
        self.labels.push((number, self.name(value).to_owned()));
        number
    }

    /// Whether the values of a state type have different categories.
    pub(super) fn distinguishes(&self, ty: TypeId) -> bool {
        let mut categories = self.values.values().filter(|value| value.ty == ty).map(|value| self.category(value));
        let first = categories.next();
        categories.any(|category| Some(category) != first)
    }

    fn category(&self, value: &NamedValue) -> Option<ActivityCategory> {
        value.category.or_else(|| Some(self.guess?(&value.name)))
    }

    /// The records of a state. `is_deciding` states whether its type determines the category of its
    /// unit.
    pub(super) fn state(
        &mut self,
        value: ValueId,
        is_deciding: bool,
        operation: Option<CollectiveKind>,
    ) -> StateMeaning {
        let key = (value, is_deciding, operation);
        if let Some(meaning) = self.states.get(&key) {
            return *meaning;
        }
        let unknown_activity = (None, true, None);
        let (activity, is_task, category) = match self.values.get(&value) {
            Some(named) => self.activity_of(named, is_deciding, operation),
            None => unknown_activity,
        };
        let category = match (category, activity) {
            (Some(category), Some(activity)) if category == activity.category() => CategoryEvent::Nothing,
            (Some(ActivityCategory::Idle), _) => CategoryEvent::Event(Activity::Idle),
            (Some(ActivityCategory::Overhead), _) => CategoryEvent::Event(Activity::UserOverhead),
            (Some(ActivityCategory::Ignored), _) => CategoryEvent::Enclosing,
            (Some(ActivityCategory::Busy) | None, _) => CategoryEvent::Nothing,
        };
        let activity = activity.map(|activity| (activity, self.of_activity(activity)));
        let meaning = StateMeaning { task: is_task.then(|| self.task_of(value)), activity, category };
        self.states.insert(key, meaning);
        meaning
    }

    /// The activity of a state, whether it also becomes a task, and its category.
    fn activity_of(
        &self,
        value: &NamedValue,
        is_deciding: bool,
        operation: Option<CollectiveKind>,
    ) -> (Option<Activity>, bool, Option<ActivityCategory>) {
        if value.ty_name == TypeSlot::Task.name() && self.is_picl {
            return (None, true, None);
        }
        if !is_deciding && operation.is_none() {
            return (None, true, None);
        }
        let category = self.category(value).filter(|_| is_deciding);
        let is_derived = |activity: &Activity| {
            matches!(activity, Activity::Compute | Activity::Finished | Activity::Unknown) && !self.is_picl
        };
        if let Some(activity) = Activity::of_name(&value.name).filter(|activity| !is_derived(activity)) {
            let category = if self.is_picl { value.category } else { category };
            return (Some(activity), false, category.or(Some(activity.category())));
        }
        let activity = match operation {
            Some(kind) => Some(activity_of_operation(&value.name, kind)),
            None => activity_of_call(&value.name),
        };
        (activity, true, category)
    }

    fn free_number(&mut self) -> i64 {
        loop {
            self.next += 1;
            if self.keys_in_use.insert(self.next) {
                return self.next;
            }
        }
    }
}

/// A number and its label, such as `3: solve`.
fn split_number(name: &str) -> Option<(i64, &str)> {
    let (number, label) = name.split_once(": ").unwrap_or((name, ""));
    number.parse().ok().filter(|number| *number >= 0).map(|number| (number, label))
}

fn event(value: &NamedValue) -> Option<WrittenMeaning> {
    let is = |slot: TypeSlot| value.ty_name == slot.name();
    let name = value.name.as_str();
    if is(TypeSlot::Text) {
        return Some(WrittenMeaning::Text);
    }
    if is(TypeSlot::Mark) {
        if name == "list" {
            return Some(WrittenMeaning::MarkList);
        }
        return split_number(name).map(|(number, _)| WrittenMeaning::Mark(number));
    }
    (is(TypeSlot::Record) || is(TypeSlot::Definition)).then(|| record(name))
}

/// The record that an event of the type `Record` or `Definition` comes from.
fn record(name: &str) -> WrittenMeaning {
    const MARK: i64 = -2;
    const BEGIN: i64 = -3;
    const END: i64 = -4;
    const SESSION: i64 = -901;
    if let Some((record, _)) = OTHER_RECORDS.iter().find(|(_, record_name)| *record_name == name) {
        return WrittenMeaning::Definition(*record);
    }
    if let Some(suffix) = name.strip_prefix("unknown record ") {
        return suffix.parse().map_or(WrittenMeaning::Nothing, WrittenMeaning::Definition);
    }
    if let Some(suffix) = name.strip_prefix("unknown ") {
        let (number, step) = suffix.split_once(' ').unwrap_or((suffix, ""));
        let kind = match step {
            "begin" => BEGIN,
            "end" => END,
            _ => MARK,
        };
        return match number.parse::<i64>() {
            Ok(number) if number > 0 => WrittenMeaning::OldRecord(number),
            Ok(number) => WrittenMeaning::Event(kind, number),
            Err(_) => WrittenMeaning::Nothing,
        };
    }
    match name {
        "trace begin" => WrittenMeaning::Event(BEGIN, SESSION),
        "trace end" => WrittenMeaning::Event(END, SESSION),
        name => match (key_of_name(name.as_bytes()), event_of_name(name)) {
            (Some(key), _) => WrittenMeaning::OldRecord(key.number),
            (None, Some(event)) => WrittenMeaning::Event(MARK, event),
            (None, None) => WrittenMeaning::Nothing,
        },
    }
}
