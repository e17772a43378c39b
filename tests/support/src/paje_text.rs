//! Random Pajé text, generated only from the description of the format: input of differential tests
//! of two readers.
//!
//! The generator interprets a list of steps. A step that `pj_dump` would reject is changed until
//! `pj_dump` accepts it. Any list therefore makes an accepted file, and shrinking a list shrinks
//! the file. One [`Mistake`] can be added at the end.

mod generator_state;
mod header;
mod links;
mod mistakes;
mod notation;

use std::collections::BTreeMap;

pub use generator_state::StepNumbers;
use generator_state::{GeneratedContainer, TreeLevel};
use header::TraceHeader;
use links::OpenLinks;
pub use mistakes::Mistake;
use notation::{nanos, seconds, words};

/// A generated file, and counts of its contents.
#[derive(Debug)]
pub struct GeneratedTrace {
    /// The file.
    pub text: String,
    /// Number of lines per property that readers may treat differently. `lines` is the number of
    /// all lines.
    pub counts: BTreeMap<&'static str, u64>,
}

/// State, event and variable types: identifier, and level of their containers.
const STATES: [(&str, TreeLevel); 4] =
    [("S", TreeLevel::Thread), ("S2", TreeLevel::Thread), ("SP", TreeLevel::Process), ("S0", TreeLevel::Root)];
const EVENTS: [(&str, TreeLevel); 2] = [("E", TreeLevel::Thread), ("EP", TreeLevel::Process)];
const VARIABLES: [(&str, TreeLevel); 3] =
    [("V", TreeLevel::Thread), ("W", TreeLevel::Thread), ("VP", TreeLevel::Process)];
const TYPES: &str = "\
defc P 0 Process
defc T P Thread
defc \"T T\" T \"Fibre of a thread\"
defs S T Activity
defs S2 T \"Second activity\"
defs SP P Activity
defs S0 0 Phase
defe E T Mark
defe EP P P
defv V T Load
defv W T \"a b\"
defv VP P Load
defl L 0 T T Message
defl M P T T \"Inner message\"
defl X 0 P T Started
val a S Running
val b S \"Blocked in é\"
val Running S c
val a S2 Running
val a SP a
val z S0 \"Phase z\"
val a E hit
val m L data
val n L data
val m M inner
val m X begun
";
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-3",
    "0.1",
    "2.5",
    "16777217",
    "1e10",
    "0.000001",
    "-0.75",
    "123456789",
    "1.5e3",
    "00.5",
    "1e39",
    "-3.5e38",
];

/// Generates a file.
#[derive(Debug)]
pub(crate) struct TraceGenerator {
    header: TraceHeader,
    text: String,
    counts: BTreeMap<&'static str, u64>,
    containers: Vec<GeneratedContainer>,
    links: OpenLinks,
    /// The largest timestamp so far, in nanoseconds.
    largest: u64,
    /// The timestamp of the last line that has one.
    latest: u64,
    /// The file's timestamp 0. Timestamps in this generator are never negative.
    zero: u64,
}

/// Interprets steps. `style` selects the form of the header.
#[must_use]
pub fn generate(style: u64, steps: &[StepNumbers], mistake: Option<Mistake>) -> GeneratedTrace {
    let root = GeneratedContainer {
        id: "0".into(),
        level: TreeLevel::Root,
        parent: 0,
        alive: true,
        from: 0,
        slots: BTreeMap::new(),
    };
    let mut maker = TraceGenerator {
        header: TraceHeader::new(style),
        text: String::new(),
        counts: BTreeMap::new(),
        containers: vec![root],
        links: OpenLinks::default(),
        largest: 0,
        latest: 0,
        zero: if mistake.is_none() && style >> 20 & 3 == 0 { (style >> 24) % 4_000_000_000 } else { 0 },
    };
    for line in TYPES.lines() {
        maker.definition(line);
    }
    for (level, parent) in [(TreeLevel::Process, 0), (TreeLevel::Thread, 1), (TreeLevel::Thread, 1)] {
        maker.create(level, parent, 0, 0);
    }
    for step in steps {
        maker.step(*step);
    }
    maker.close_links();
    if let Some(mistake) = mistake {
        maker.mistake(mistake);
    }
    if style & 1 == 0 {
        // A regular end: the last line has the largest timestamp.
        let timestamp = maker.largest + 1;
        maker.line(
            "newevent",
            &[
                ("Time", seconds(timestamp, 9)),
                ("Type", "EP".into()),
                ("Container", "c1".into()),
                ("Value", "end".into()),
            ],
        );
    } else if maker.latest < maker.largest {
        maker.count("the last line does not have the largest timestamp");
    }
    GeneratedTrace { text: maker.text, counts: maker.counts }
}

impl TraceGenerator {
    fn count(&mut self, property: &'static str) {
        *self.counts.entry(property).or_default() += 1;
    }

    /// Writes a line of an event. Its definition comes before the first one.
    fn line(&mut self, event: &'static str, fields: &[(&str, String)]) {
        self.count("lines");
        let (definition, late) = self.header.definition(event);
        self.text.push_str(&definition);
        if late && !definition.is_empty() {
            self.count("definitions after events");
        }
        let mut written = fields.to_vec();
        if let Some((_, timestamp)) = written.iter_mut().find(|(name, _)| *name == "Time" && self.zero > 0) {
            let nanos = nanos(timestamp);
            *timestamp = seconds(nanos.abs_diff(self.zero), 0);
            if nanos < self.zero {
                timestamp.insert(0, '-');
                self.count("timestamps before 0");
            }
        }
        let line = self.header.line(event, &written);
        self.text.push_str(&line);
        if let Some((_, timestamp)) = fields.iter().find(|(name, _)| *name == "Time") {
            let nanos = nanos(timestamp);
            if nanos < self.largest {
                self.count("timestamps before that of an earlier line");
            } else if nanos == self.latest {
                self.count("timestamps equal to that of the preceding line");
            }
            (self.latest, self.largest) = (nanos, self.largest.max(nanos));
        }
    }

    /// Writes a line of `TYPES`.
    fn definition(&mut self, line: &str) {
        let words = words(line);
        let word = |offset: usize| words.get(offset).cloned().unwrap_or_default();
        let event = match word(0).as_str() {
            "defc" => "defc",
            "defs" => "defs",
            "defe" => "defe",
            "defv" => "defv",
            "defl" => "defl",
            _ => "val",
        };
        let mut fields =
            vec![("Alias", word(1)), ("Type", word(2)), ("Name", words.last().cloned().unwrap_or_default())];
        if event == "defl" {
            fields.extend([("StartContainerType", word(3)), ("EndContainerType", word(4))]);
        }
        fields.push(("Color", "0.1 0.5 1".into()));
        self.line(event, &fields);
    }

    fn create(&mut self, level: TreeLevel, parent: usize, timestamp: u64, form: u16) {
        let number = self.containers.len();
        let id = if form % 5 == 4 { format!("name only {number}") } else { format!("c{number}") };
        // Several containers have the same name.
        let name = match form % 3 {
            0 => format!("thread {}", number % 4),
            1 => format!("c{number}x"),
            _ => "é, all of \t them".replace([',', '\t'], ""),
        };
        let ty = match level {
            TreeLevel::Process | TreeLevel::Root => "P",
            TreeLevel::Thread => "T",
            TreeLevel::Fibre => "T T",
        };
        let parent_id = self.containers[parent].id.clone();
        let mut fields = vec![("Time", seconds(timestamp, form)), ("Type", ty.into()), ("Container", parent_id)];
        if id.starts_with('n') {
            self.count("containers without alias");
            fields.push(("Name", id.clone()));
            self.line("create2", &fields);
        } else {
            fields.extend([("Name", name), ("Alias", id.clone())]);
            self.line("create", &fields);
        }
        if timestamp < self.containers[parent].from && parent > 0 {
            self.count("containers created before their parents");
        }
        self.containers.push(GeneratedContainer {
            id,
            level,
            parent,
            alive: true,
            from: timestamp,
            slots: BTreeMap::new(),
        });
    }

    /// One of the living containers of a level, or `None`.
    fn alive(&self, level: TreeLevel, number: u16) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.containers.len())
            .filter(|&container| self.containers[container].alive && self.containers[container].level == level)
            .collect();
        fitting.get(usize::from(number) % fitting.len().max(1)).copied()
    }

    /// A timestamp for a type in a container. It is not before the last one of the type there, but
    /// may be before all others.
    fn timestamp(&mut self, container: usize, ty: &'static str, number: u16) -> u64 {
        let last = self.containers[container].slots.get(ty).map_or(0, |slot| slot.0);
        let step = u64::from(number / 8);
        let timestamp = match number % 8 {
            0 => last,
            1 => last + step,
            2 => last.max(self.latest),
            3 => self.largest + step * 1_000_003,
            _ => self.largest.saturating_sub(step * 7).max(last) + step * 1001,
        };
        self.containers[container].slots.entry(ty).or_default().0 = timestamp;
        timestamp
    }

    fn step(&mut self, step: StepNumbers) {
        let [kind, selector, type_number, number, form] = step;
        match kind % 32 {
            0 => self.grow(selector, type_number, number, form),
            1 => self.destroy(selector, number, form),
            2..=16 => self.state(kind % 32, selector, type_number, number, form),
            17..=19 => self.variable(selector, type_number, number, form),
            20..=22 => self.event(selector, type_number, number, form),
            23..=28 => self.link(step),
            29 => self.event_in_destroyed(selector, number, form),
            30 => {
                self.count("comments and blank lines");
                self.text.push_str(["# a comment\n", "\n", "  \t \n", "#\n"][usize::from(selector) % 4]);
            }
            _ => self.push_many(selector, type_number, number),
        }
    }

    fn grow(&mut self, selector: u16, level_number: u16, number: u16, form: u16) {
        let (level, above) = [
            (TreeLevel::Process, TreeLevel::Root),
            (TreeLevel::Thread, TreeLevel::Process),
            (TreeLevel::Fibre, TreeLevel::Thread),
        ][usize::from(level_number) % 3];
        if let Some(parent) = self.alive(above, selector) {
            let timestamp = match number % 4 {
                0 => self.containers[parent].from.saturating_sub(u64::from(number)),
                _ => self.largest + u64::from(number) * 1000,
            };
            self.create(level, parent, timestamp, form);
        }
    }

    fn destroy(&mut self, selector: u16, number: u16, form: u16) {
        let container = usize::from(selector) % self.containers.len();
        // The first process is never destroyed, because mistakes are made in it.
        if container <= 1 || !self.containers[container].alive || self.links.is_held(container) {
            return;
        }
        let inside: Vec<usize> = (0..self.containers.len()).filter(|&inner| self.is_in(inner, container)).collect();
        if inside.iter().any(|&inner| self.links.is_held(inner)) {
            return;
        }
        // Inner containers may have later timestamps, because `pj_dump` checks only the container
        // itself.
        let looked_at = if !form.is_multiple_of(4) { &[container][..] } else { &inside };
        let slots = looked_at.iter().flat_map(|&inner| self.containers[inner].slots.values());
        let last = slots.map(|slot| slot.0).max().unwrap_or(0);
        // `pj_dump` takes a negative end for a missing one.
        let timestamp = (last + u64::from(number % 4) * 500).max(self.zero);
        if inside.iter().any(|&inner| self.containers[inner].slots.values().any(|slot| slot.0 > timestamp)) {
            self.count("containers destroyed before the last timestamps in inner ones");
        }
        if inside.iter().any(|&inner| self.containers[inner].from > timestamp) {
            self.count("containers that end before they begin");
        }
        if inside.iter().any(|&inner| self.containers[inner].slots.values().any(|slot| slot.1 > 0)) {
            self.count("containers destroyed with open states");
        }
        for inner in inside {
            self.containers[inner].alive = false;
        }
        self.destroy_line(container, timestamp, form);
    }

    fn destroy_line(&mut self, container: usize, timestamp: u64, form: u16) {
        let ty = match self.containers[container].level {
            TreeLevel::Fibre => "T T",
            TreeLevel::Thread => "T",
            TreeLevel::Process | TreeLevel::Root => "P",
        };
        let id = self.containers[container].id.clone();
        self.line("destroy", &[("Time", seconds(timestamp, form)), ("Type", ty.into()), ("Name", id)]);
    }

    fn is_in(&self, mut inner: usize, outer: usize) -> bool {
        while inner != outer && inner != 0 {
            inner = self.containers[inner].parent;
        }
        inner == outer
    }

    fn state(&mut self, kind: u16, selector: u16, type_number: u16, number: u16, form: u16) {
        let (ty, level) = STATES[usize::from(type_number) % STATES.len()];
        let Some(container) = self.alive(level, selector) else { return };
        let depth = self.containers[container].slots.get(ty).map_or(0, |slot| slot.1);
        let timestamp = self.timestamp(container, ty, number);
        let (event, new_depth, has_value) = match kind {
            2..=4 => ("set", 1, true),
            5..=10 => ("push", depth + 1, true),
            11..=15 if depth > 0 => ("pop", depth - 1, false),
            _ => ("reset", 0, false),
        };
        match (event, depth) {
            ("set" | "reset", 2..) => self.count("sets and resets of several states"),
            ("reset", 0) => self.count("resets without a state"),
            _ => {}
        }
        if new_depth > 8 {
            self.count("states nested deeper than 8");
        }
        self.containers[container].slots.insert(ty, (timestamp, new_depth));
        let mut fields = self.fields(container, ty, timestamp, form);
        if has_value {
            fields.push(("Value", self.value(ty, form / 7)));
        }
        self.line(event, &fields);
    }

    fn fields(&self, container: usize, ty: &str, timestamp: u64, form: u16) -> Vec<(&'static str, String)> {
        vec![
            ("Time", seconds(timestamp, form)),
            ("Type", ty.to_owned()),
            ("Container", self.containers[container].id.clone()),
        ]
    }

    fn value(&mut self, ty: &str, number: u16) -> String {
        let declared = if ty == "S0" { "z" } else { "a" };
        match number % 6 {
            0..=2 => declared.into(),
            3 if ty == "S" => "Running".into(),
            4 if ty == "S" => "b".into(),
            _ => {
                self.count("values without declaration");
                format!("undeclared{}", number % 5)
            }
        }
    }

    fn variable(&mut self, selector: u16, type_number: u16, number: u16, form: u16) {
        let (ty, level) = VARIABLES[usize::from(type_number) % VARIABLES.len()];
        let Some(container) = self.alive(level, selector) else { return };
        let last = self.containers[container].slots.get(ty).copied();
        let timestamp = self.timestamp(container, ty, number);
        let is_set = last.is_some_and(|slot| slot.1 > 0);
        if last.is_some_and(|slot| is_set && slot.0 == timestamp) {
            self.count("variables changed twice at a timestamp");
        }
        let event = ["setvar", "addvar", "subvar"][if is_set { usize::from(form / 3) % 3 } else { 0 }];
        self.containers[container].slots.insert(ty, (timestamp, 1));
        let mut fields = self.fields(container, ty, timestamp, form);
        let number = NUMBERS[usize::from(form / 11) % NUMBERS.len()];
        if number.ends_with("e39") || number.ends_with("e38") {
            self.count("values beyond 32 bits");
        }
        fields.push(("Value", number.into()));
        self.line(event, &fields);
    }

    fn event(&mut self, selector: u16, type_number: u16, number: u16, form: u16) {
        let (ty, level) = EVENTS[usize::from(type_number) % EVENTS.len()];
        let Some(container) = self.alive(level, selector) else { return };
        let timestamp = self.timestamp(container, ty, number);
        let mut fields = self.fields(container, ty, timestamp, form);
        fields.push(("Value", self.value(ty, form / 7)));
        self.line("newevent", &fields);
    }

    /// Writes events in, or the destruction of, a destroyed container.
    fn event_in_destroyed(&mut self, selector: u16, number: u16, form: u16) {
        let dead: Vec<usize> =
            (1..self.containers.len()).filter(|&container| !self.containers[container].alive).collect();
        let Some(&at) = dead.get(usize::from(selector) % dead.len().max(1)) else { return };
        self.count("lines about destroyed containers");
        let timestamp = self.largest + u64::from(number);
        if form.is_multiple_of(2) || self.containers[at].level != TreeLevel::Thread {
            return self.destroy_line(at, timestamp, form);
        }
        let mut fields = self.fields(at, "S", timestamp, form);
        fields.push(("Value", "a".into()));
        self.line("push", &fields);
    }

    /// Writes many pushes at once.
    fn push_many(&mut self, selector: u16, type_number: u16, number: u16) {
        for index in 0..number % 40 {
            self.state(5, selector, type_number % 2, index % 16, index);
        }
    }
}
