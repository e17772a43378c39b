//! Random programs as plain lists, their Pajé text, and their state at each second.

use std::sync::Arc;

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory::{self, Busy, Idle, Ignored, Overhead};
use tumit_perspectives::execution::activity::{ActivitySettings, UnitMode};
use tumit_perspectives::execution::categories::CategoryRule;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::store::TraceStore;

/// The length of all programs in seconds.
pub(crate) const END: i64 = 40;
pub(crate) const SECOND: i64 = 1_000_000_000;
/// The values of the activity with their categories.
pub(crate) const ACTIVITIES: [(&str, ActivityCategory); 4] =
    [("work", Busy), ("send", Overhead), ("wait", Idle), ("skip", Ignored)];
pub(crate) const TASKS: [&str; 3] = ["alpha", "beta", "gamma"];

/// A change of the states of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StateChange {
    Push(usize),
    Set(usize),
    Pop,
}

/// A thread of one of two nodes.
#[derive(Clone, Debug)]
pub(crate) struct RandomThread {
    pub(crate) node: usize,
    /// The second of its begin and of its end.
    pub(crate) life: (i64, i64),
    /// Changes of the activity (0) or the task (1), by second.
    pub(crate) changes: Vec<(i64, usize, StateChange)>,
}

/// A message: threads, seconds of send and receive, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomMessage {
    pub(crate) threads: (usize, usize),
    pub(crate) sent: i64,
    pub(crate) received: i64,
    pub(crate) bytes: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct UnitProgram {
    pub(crate) threads: Vec<RandomThread>,
    pub(crate) messages: Vec<RandomMessage>,
}

/// An open state at a second: its begin and its value.
pub(crate) type OpenValue = (i64, usize);

/// Random programs.
pub(crate) fn programs() -> impl Strategy<Value = UnitProgram> {
    let change = (
        0..4_i64,
        0..2_usize,
        prop_oneof![
            3 => (0..4_usize).prop_map(StateChange::Push),
            1 => (0..4_usize).prop_map(StateChange::Set),
            2 => Just(StateChange::Pop),
        ],
    );
    let thread = (0..2_usize, 0..20_i64, 1..30_i64, prop::collection::vec(change, 0..25));
    let message = (0..5_usize, 0..5_usize, 0..END, -5..15_i64, 0..1000_i64);
    let parts = (prop::collection::vec(thread, 1..5), prop::collection::vec(message, 0..12));
    parts.prop_map(|(threads, messages)| {
        let threads: Vec<RandomThread> = threads
            .into_iter()
            .map(|(node, from, length, steps)| thread_of(node, (from, from + length), steps))
            .collect();
        let messages = messages.into_iter().filter_map(|(from, to, sent, length, bytes)| {
            let (from, to) = (from % threads.len(), to % threads.len());
            let (one, other) = (threads[from].life, threads[to].life);
            let received = sent + length;
            let fits = (one.0..one.1).contains(&sent) && (other.0..other.1).contains(&received);
            fits.then_some(RandomMessage { threads: (from, to), sent, received, bytes })
        });
        UnitProgram { messages: messages.collect(), threads }
    })
}

/// A thread with the changes that are possible: it pops only open states.
fn thread_of(node: usize, life: (i64, i64), steps: Vec<(i64, usize, StateChange)>) -> RandomThread {
    let life = (life.0, life.1.min(END));
    let (mut now, mut depths, mut changes) = (life.0, [0_usize; 2], Vec::new());
    for (step, kind, change) in steps {
        now += step;
        let depth = match change {
            StateChange::Push(_) => depths[kind] + 1,
            StateChange::Set(_) => 1,
            StateChange::Pop if depths[kind] > 0 => depths[kind] - 1,
            StateChange::Pop => continue,
        };
        if now <= life.1 {
            depths[kind] = depth;
            changes.push((now, kind, change));
        }
    }
    RandomThread { node, life, changes }
}

impl RandomThread {
    /// The open states of a kind during a second, outermost first. `None` outside of the life.
    pub(crate) fn open(&self, kind: usize, second: i64) -> Option<Vec<OpenValue>> {
        let lives = self.life.0 <= second && second < self.life.1;
        let mut open = Vec::new();
        for (time, _, change) in self.changes.iter().filter(|change| change.1 == kind && change.0 <= second) {
            match change {
                StateChange::Push(value) => open.push((*time, *value)),
                StateChange::Set(value) => open = vec![(*time, *value)],
                StateChange::Pop => _ = open.pop(),
            }
        }
        lives.then_some(open)
    }

    /// The category during a second.
    pub(crate) fn category(&self, second: i64, stateless: ActivityCategory) -> ActivityCategory {
        let Some(open) = self.open(0, second) else { return Idle };
        let counted = open.iter().rev().map(|state| ACTIVITIES[state.1].1).find(|category| *category != Ignored);
        counted.unwrap_or(stateless)
    }
}

impl UnitProgram {
    /// The Pajé text.
    pub(crate) fn text(&self) -> String {
        let mut text = include_str!("../../../tests/header.paje").to_owned();
        text.push_str(
            "%EventDef PajeStartLink 18\n% Time date\n% Container string\n% Type string\n\
             % StartContainer string\n% Value string\n% Key string\n% Bytes int\n%EndEventDef\n\
             0 N 0 Node\n0 T N Thread\n2 A T Activity\n2 P T Phase\n4 M 0 T T Message\n",
        );
        ACTIVITIES.iter().for_each(|(name, _)| text.push_str(&format!("5 {name} A {name} \"0 1 0\"\n")));
        TASKS.iter().for_each(|name| text.push_str(&format!("5 {name} P {name} \"0 1 0\"\n")));
        text.push_str("6 0 n0 0 N \"node 0\"\n6 0 n1 0 N \"node 1\"\n");
        let mut lines: Vec<(i64, u8, String)> = vec![(END, 3, format!("7 {END} N n0\n7 {END} N n1\n"))];
        for (index, thread) in self.threads.iter().enumerate() {
            let (from, to) = thread.life;
            lines.push((from, 0, format!("6 {from} t{index} n{} T \"thread {index}\"\n", thread.node)));
            lines.push((to, 2, format!("7 {to} T t{index}\n")));
            for (time, kind, change) in &thread.changes {
                let ty = ["A", "P"][*kind];
                let value = |value: usize| if *kind == 0 { ACTIVITIES[value].0 } else { TASKS[value % 3] };
                let line = match change {
                    StateChange::Push(number) => format!("12 {time} t{index} {ty} {}\n", value(*number)),
                    StateChange::Set(number) => format!("11 {time} t{index} {ty} {}\n", value(*number)),
                    StateChange::Pop => format!("13 {time} t{index} {ty}\n"),
                };
                lines.push((*time, 1, line));
            }
        }
        for (key, RandomMessage { threads, sent, received, bytes }) in self.messages.iter().enumerate() {
            lines.push((*sent, 1, format!("18 {sent} 0 M t{} m k{key} {bytes}\n", threads.0)));
            lines.push((*received, 1, format!("16 {received} 0 M t{} m k{key}\n", threads.1)));
        }
        lines.sort_by_key(|line| (line.0, line.1));
        lines.into_iter().for_each(|(_, _, line)| text.push_str(&line));
        text
    }

    /// The execution with units of a level.
    pub(crate) fn execution(&self, level: &str, activity: ActivitySettings) -> Execution {
        let mut settings = program_settings(level);
        settings.activity = activity;
        execution(&self.text(), settings)
    }

    /// The execution with units of a level and assigned categories.
    pub(crate) fn execution_with(
        &self,
        level: &str,
        activity: ActivitySettings,
        categories: Vec<CategoryRule>,
    ) -> Execution {
        let mut settings = program_settings(level);
        (settings.categories, settings.activity) = (categories, activity);
        execution(&self.text(), settings)
    }

    /// The trace.
    pub(crate) fn source(&self) -> Arc<TraceStore> {
        Arc::new(TraceStore::from_paje("trace", self.text().as_bytes()).expect("the text is a valid Pajé file"))
    }

    /// The threads of a unit, by its name.
    pub(crate) fn threads_of(&self, unit: &str) -> Vec<&RandomThread> {
        let fits = |(index, thread): &(usize, &RandomThread)| {
            unit == format!("thread {index}") || unit == format!("node {}", thread.node)
        };
        self.threads.iter().enumerate().filter(fits).map(|(_, thread)| thread).collect()
    }
}

/// The settings for random programs with units of a level.
pub(crate) fn program_settings(level: &str) -> ExecutionSettings {
    let mut settings = ExecutionSettings::default();
    settings.units.level = Some(level.to_owned());
    settings.units.states = Some(NamePattern::new("Activity"));
    settings.categories = vec![CategoryRule::new(Ignored, NamePattern::new("skip"), None)];
    settings
}

/// The execution of a Pajé text.
pub(crate) fn execution(text: &str, settings: ExecutionSettings) -> Execution {
    let store = TraceStore::from_paje("trace", text.as_bytes()).expect("the text is a valid Pajé file");
    Execution::new(Arc::new(store), settings).expect("the settings fit the trace")
}

/// All combinations of settings of the activity that differ in a random program.
pub(crate) fn settings() -> impl Strategy<Value = ActivitySettings> {
    let modes = prop_oneof![Just(UnitMode::AnyBusy), Just(UnitMode::Fractional)];
    let stateless = prop_oneof![Just(Idle), Just(Busy), Just(Overhead)];
    (modes, stateless).prop_map(|(mode, stateless)| ActivitySettings::new(mode, stateless))
}

/// A time range in seconds.
pub(crate) fn seconds(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from * SECOND), to: GlobalNanos(to * SECOND) }
}
