//! [`WrittenMeanings`]: the records of the values of a trace.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::ValueId;

use crate::model::TypeSlot;
use crate::new_picl::OTHER_RECORDS;
use crate::node_activity::Activity;

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
    Definition {
        record: i64,
        /// Whether it is a record of no node.
        is_of_program: bool,
    },
    TraceLevel,
    /// No record is written.
    Nothing,
}

/// A value of the trace.
#[derive(Debug)]
struct NamedValue {
    /// The name of its type, and its own name.
    ty: String,
    name: String,
}

/// The meanings of the values of a trace.
#[derive(Debug, Default)]
pub(super) struct WrittenMeanings {
    values: FxHashMap<ValueId, NamedValue>,
    known: FxHashMap<(ValueId, bool), u32>,
    list: Vec<WrittenMeaning>,
    taken: FxHashSet<i64>,
    /// The names of the numbers of tasks and marks.
    pub(super) labels: Vec<(i64, String)>,
    next: i64,
}

impl WrittenMeanings {
    pub(super) fn define(&mut self, value: ValueId, ty: &str, name: &str) {
        if [TypeSlot::Task.name(), TypeSlot::Mark.name()].contains(&ty)
            && let Some((number, label)) = numbered(name)
        {
            // A label names the number only once.
            if self.taken.insert(number) && !label.is_empty() {
                self.labels.push((number, label.to_owned()));
            }
        }
        self.values.insert(value, NamedValue { ty: ty.to_owned(), name: name.to_owned() });
    }

    pub(super) fn name(&self, value: ValueId) -> &str {
        self.values.get(&value).map_or("", |value| &value.name)
    }

    pub(super) fn get(&self, index: u32) -> WrittenMeaning {
        self.list.get(index as usize).copied().unwrap_or(WrittenMeaning::Nothing)
    }

    /// The index of the meaning of a state or an event.
    pub(super) fn index(&mut self, value: ValueId, is_state: bool) -> u32 {
        if let Some(index) = self.known.get(&(value, is_state)) {
            return *index;
        }
        let found = self.values.get(&value).and_then(|named| if is_state { state(named) } else { event(named) });
        let meaning = found.unwrap_or_else(|| {
            let number = self.free_number();
            self.labels.push((number, self.name(value).to_owned()));
            if is_state { WrittenMeaning::Task(number) } else { WrittenMeaning::Mark(number) }
        });
        let index = self.list.len() as u32;
        self.list.push(meaning);
        self.known.insert((value, is_state), index);
        index
    }

    fn free_number(&mut self) -> i64 {
        loop {
            self.next += 1;
            if self.taken.insert(self.next) {
                return self.next;
            }
        }
    }
}

/// A number and its label, such as `3: solve`.
fn numbered(name: &str) -> Option<(i64, &str)> {
    let (number, label) = name.split_once(": ").unwrap_or((name, ""));
    number.parse().ok().filter(|number| *number >= 0).map(|number| (number, label))
}

fn state(value: &NamedValue) -> Option<WrittenMeaning> {
    if value.ty == TypeSlot::Task.name() {
        return numbered(&value.name).map(|(number, _)| WrittenMeaning::Task(number));
    }
    let is_known = value.ty == TypeSlot::Activity.name();
    match Activity::of_name(&value.name)? {
        Activity::Compute | Activity::Finished | Activity::Unknown if !is_known => None,
        activity => Some(WrittenMeaning::Activity(activity)),
    }
}

fn event(value: &NamedValue) -> Option<WrittenMeaning> {
    let is = |slot: TypeSlot| value.ty == slot.name();
    if is(TypeSlot::Text) {
        return Some(WrittenMeaning::Text);
    }
    if is(TypeSlot::Mark) {
        if value.name == "list" {
            return Some(WrittenMeaning::MarkList);
        }
        return numbered(&value.name).map(|(number, _)| WrittenMeaning::Mark(number));
    }
    if is(TypeSlot::Record) || is(TypeSlot::Definition) {
        let definition = OTHER_RECORDS.iter().find(|(_, name)| *name == value.name);
        let is_level = ["trace level", "trace_level", "trace_start"].contains(&value.name.as_str());
        return Some(match definition {
            Some((record, _)) => {
                WrittenMeaning::Definition { record: *record, is_of_program: is(TypeSlot::Definition) }
            }
            None if is_level => WrittenMeaning::TraceLevel,
            None => WrittenMeaning::Nothing,
        });
    }
    None
}
