//! The tasks of `tokio`, from the instrumentation of its runtime.
//!
//! The runtime has a span for each task (`runtime.spawn`), which it enters for each poll. Events
//! report operations on the wakers of a task. Each resource, such as a mutex or a timer, has a
//! span, too. The future that waits for a resource enters this span in each poll, and an event
//! reports the result.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracer_rt::InternedText;
use tracing_core::Field;
use tracing_core::field::Visit;

use crate::standard_specs::tokio::{TaskState, tokio_tasks, tokio_wakes};

#[derive(Debug)]
pub(crate) struct Task {
    place: InternedText,
    row: u32,
    /// The id in the runtime of `tokio`.
    id: u64,
    /// Whether the instrumentation reports all wakers of the task. It does not report those of
    /// blocking tasks and of the main future of `block_on`.
    has_wakers: bool,
    /// Bits of [`activity`].
    activity: AtomicU64,
    /// Number of its wakers.
    wakers: AtomicI64,
    /// The resource of the last poll that returned without a result, or the empty text.
    resource: Mutex<InternedText>,
}

mod activity {
    /// A thread polls the task.
    pub(super) const POLLED: u64 = 1;
    /// The task is scheduled. If a thread polls it, it is scheduled again after this poll.
    pub(super) const SCHEDULED: u64 = 2;
    /// The unit of the counter in the higher bits: the wake-ups that have scheduled the task.
    pub(super) const WAKEUP: u64 = 4;
}

/// An operation on a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakerOperation {
    Clone,
    Drop,
    Wake,
    WakeByRef,
}

impl Task {
    /// A new task, from the fields of its span.
    pub(crate) fn spawn(fields: &TokioFields) -> Self {
        let place = InternedText::new(&fields.place());
        let row = take_row(place);
        tokio_tasks::task_spawn(place, row, fields.id, &fields.name, fields.kind.as_str());
        Self {
            place,
            row,
            id: fields.id,
            has_wakers: matches!(fields.kind.as_str(), "task" | "local"),
            activity: AtomicU64::new(activity::SCHEDULED),
            wakers: AtomicI64::new(0),
            resource: Mutex::new(InternedText::new("")),
        }
    }

    pub(crate) fn begin_poll(&self) {
        let begun = |before: u64| Some(before & !activity::SCHEDULED | activity::POLLED);
        let before = self.change(begun);
        let wakeup = if before & activity::SCHEDULED == 0 { 0 } else { before / activity::WAKEUP };
        let resource = self.take_resource();
        tokio_tasks::poll_begin(self.place, self.row, self.id, wakeup, resource);
    }

    pub(crate) fn end_poll(&self) {
        let before = self.activity.fetch_and(!activity::POLLED, Ordering::AcqRel);
        let next = if before & activity::SCHEDULED != 0 {
            TaskState::Scheduled
        } else if self.has_wakers && self.wakers.load(Ordering::Relaxed) <= 0 {
            TaskState::NoWaker
        } else {
            TaskState::Idle
        };
        if next != TaskState::Idle {
            self.take_resource();
        }
        let resource = *self.resource.lock().unwrap_or_else(PoisonError::into_inner);
        tokio_tasks::poll_end(self.place, self.row, self.id, next, resource);
    }

    pub(crate) fn end(&self) {
        tokio_tasks::task_end(self.place, self.row, self.id, self.take_resource());
        give_row(self.place, self.row);
    }

    /// The current poll waits for a resource.
    pub(crate) fn wait_for(&self, resource: InternedText) {
        *self.resource.lock().unwrap_or_else(PoisonError::into_inner) = resource;
    }

    /// Removes the resource for which the task has waited.
    fn take_resource(&self) -> InternedText {
        let mut resource = self.resource.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *resource, InternedText::new(""))
    }

    /// An operation on a waker of the task, from the fields of its event.
    pub(crate) fn waker_operation(&self, fields: &TokioFields) {
        match fields.waker_operation {
            Some(WakerOperation::Clone) => {
                self.wakers.fetch_add(1, Ordering::Relaxed);
            }
            Some(WakerOperation::Drop) => {
                self.wakers.fetch_sub(1, Ordering::Relaxed);
            }
            Some(WakerOperation::Wake) => {
                self.wake();
                self.wakers.fetch_sub(1, Ordering::Relaxed);
            }
            Some(WakerOperation::WakeByRef) => self.wake(),
            None => {}
        }
    }

    fn wake(&self) {
        let scheduled = |before: u64| {
            let is_first = before & activity::SCHEDULED == 0;
            is_first.then_some((before | activity::SCHEDULED) + activity::WAKEUP)
        };
        let before = self.change(scheduled);
        let (is_first, is_outside) = (before & activity::SCHEDULED == 0, before & activity::POLLED == 0);
        let wakeup = before / activity::WAKEUP + u64::from(is_first);
        tokio_wakes::wake(self.place, self.row, self.id, wakeup, is_first, is_outside);
    }

    /// Changes the activity, unless `change` returns `None`. Returns the previous activity.
    fn change(&self, change: impl FnMut(u64) -> Option<u64>) -> u64 {
        let result = self.activity.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        result.unwrap_or_else(|unchanged| unchanged)
    }
}

/// The name of a resource, from the fields of its span. `None` for a resource inside of another
/// one.
pub(crate) fn resource(fields: &TokioFields) -> Option<InternedText> {
    let name = || InternedText::new(&format!("{} {}", fields.concrete_type, fields.place()));
    (!fields.is_internal).then(name)
}

/// The rows of a place that spawns tasks.
#[derive(Debug, Default)]
struct PlaceRows {
    free: BinaryHeap<Reverse<u32>>,
    next: u32,
}

static ROWS: Mutex<BTreeMap<u32, PlaceRows>> = Mutex::new(BTreeMap::new());

/// The lowest free row of a place.
fn take_row(place: InternedText) -> u32 {
    let mut places = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = places.entry(place.number()).or_default();
    match rows.free.pop() {
        Some(Reverse(row)) => row,
        None => {
            rows.next += 1;
            rows.next
        }
    }
}

fn give_row(place: InternedText, row: u32) {
    let mut places = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    places.entry(place.number()).or_default().free.push(Reverse(row));
}

/// A task or a resource that a thread has entered.
#[derive(Debug)]
pub(crate) enum EnteredPart<T> {
    Task(T),
    Resource(InternedText),
}

thread_local! {
    /// The tasks and resources that the thread has entered, outermost first.
    static ENTERED: RefCell<Vec<EnteredPart<Arc<Task>>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with the entered tasks and resources. Omits it in destructors of thread-local
/// variables.
fn with_part_stack(work: impl FnOnce(&mut Vec<EnteredPart<Arc<Task>>>)) {
    let _ = ENTERED.try_with(|entered| entered.try_borrow_mut().map(|mut entered| work(&mut entered)));
}

pub(crate) fn enter(part: EnteredPart<Arc<Task>>) {
    with_part_stack(|entered| entered.push(part));
}

/// Leaves the innermost task or resource.
pub(crate) fn leave() {
    with_part_stack(|entered| {
        entered.pop();
    });
}

/// A poll of the innermost resource had no result: the innermost task waits for the resource.
pub(crate) fn wait_for_resource() {
    with_part_stack(|entered| {
        let mut resource = None;
        for part in entered.iter().rev() {
            match part {
                EnteredPart::Resource(name) => resource = Some(*name),
                EnteredPart::Task(task) => {
                    if let Some(resource) = resource {
                        task.wait_for(resource);
                    }
                    return;
                }
            }
        }
    });
}

/// The fields of spans and events of `tokio`.
#[derive(Debug, Default)]
pub(crate) struct TokioFields {
    kind: String,
    name: String,
    /// The id of a task in the runtime; in events of wakers, the id of its span.
    pub(crate) id: u64,
    file: String,
    line: u64,
    concrete_type: String,
    is_internal: bool,
    /// Whether the poll of a resource had a result.
    pub(crate) is_ready: bool,
    waker_operation: Option<WakerOperation>,
}

impl TokioFields {
    /// The source position. The path of a package begins with the package.
    fn place(&self) -> String {
        let file = match self.file.split_once("/registry/src/") {
            Some((_, package)) => package.split_once('/').map_or(package, |(_, file)| file),
            None => &self.file,
        };
        format!("{file}:{}", self.line)
    }
}

impl Visit for TokioFields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "task.id" => self.id = value,
            "loc.line" => self.line = value,
            _ => {}
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "is_ready" => self.is_ready = value,
            "is_internal" => self.is_internal = value,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "loc.file" => value.clone_into(&mut self.file),
            "concrete_type" => value.clone_into(&mut self.concrete_type),
            "op" => {
                self.waker_operation = match value {
                    "waker.clone" => Some(WakerOperation::Clone),
                    "waker.drop" => Some(WakerOperation::Drop),
                    "waker.wake" => Some(WakerOperation::Wake),
                    "waker.wake_by_ref" => Some(WakerOperation::WakeByRef),
                    _ => None,
                }
            }
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "kind" => self.kind = format!("{value:?}"),
            "task.name" => self.name = format!("{value:?}"),
            _ => {}
        }
    }
}
