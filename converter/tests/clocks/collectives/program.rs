//! A random program of ranks that takes part in collective operations, with true times.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tracer_format::schema::Schema;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraValue, PajeEvent, PajeSink};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = include_str!("program.tumit");

/// The kinds of operations in the order of `Operation::kind`.
pub(crate) const KINDS: [&str; 4] = ["barrier", "one-to-all", "all-to-one", "all-to-all"];

/// A collective operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Index in [`KINDS`].
    pub(crate) kind: usize,
    pub(crate) communicator: u32,
    /// The ranks that take part.
    pub(crate) members: Vec<usize>,
    /// The rank of the root.
    pub(crate) root: usize,
    /// The true time at which each member enters and leaves, in nanoseconds.
    pub(crate) times: Vec<[i64; 2]>,
}

/// Operations in the order in which each member takes part in them.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) ranks: usize,
    pub(crate) operations: Vec<Operation>,
    /// The spec of the recording.
    pub(crate) spec: tumit::Spec,
}

/// A random choice for an operation: kind, communicator, root, and the work of the members before
/// it.
pub(crate) type OperationChoice = (usize, u32, usize, Vec<i64>);

impl Program {
    /// Computes the times of all operations. Each bit of a communicator stands for a rank.
    pub(crate) fn new(ranks: usize, choices: &[OperationChoice]) -> Self {
        const LATENCY: i64 = 50;
        let mut clock = vec![1_000_000i64; ranks];
        let mut operations = Vec::new();
        for (kind, communicator, root, work) in choices {
            let members: Vec<usize> = (0..ranks).filter(|rank| communicator >> rank & 1 == 1).collect();
            if members.is_empty() {
                continue;
            }
            let root = members[root % members.len()];
            let enters: Vec<i64> = members.iter().map(|rank| clock[*rank] + work[*rank]).collect();
            let last = enters.iter().copied().max().unwrap_or(0);
            let of_root = members.iter().position(|rank| *rank == root).map_or(0, |at| enters[at]);
            let leave = |rank: usize, enter: i64| match kind {
                0 | 3 => last + LATENCY,
                1 => enter.max(of_root) + LATENCY,
                _ if rank == root => last + LATENCY,
                _ => enter + LATENCY,
            };
            let times: Vec<[i64; 2]> =
                members.iter().zip(&enters).map(|(rank, enter)| [*enter, leave(*rank, *enter)]).collect();
            members.iter().zip(&times).for_each(|(rank, [_, leave])| clock[*rank] = *leave + 1);
            operations.push(Operation { kind: *kind, communicator: *communicator, members, root, times });
        }
        Self { ranks, operations, spec: spec() }
    }

    /// Writes a run. `process` and `ticks` give the process and the clock of each rank.
    pub(crate) fn write(
        &self,
        folder: &Path,
        process: impl Fn(usize) -> SyntheticProcess,
        ticks: impl Fn(usize, i64) -> u64,
        mut more: impl FnMut(usize, &mut SyntheticFile, &mut SyntheticRecords),
    ) -> OpenRun {
        let schema = self.spec.schema();
        for rank in 0..self.ranks {
            let mut file = SyntheticFile::new(&process(rank), &schema);
            file.thread(0, 500 + rank as u64, "main");
            let mut records = SyntheticRecords::default();
            for (number, operation) in self.operations.iter().enumerate() {
                let Some(at) = operation.members.iter().position(|member| *member == rank) else { continue };
                let [enter, leave] = operation.times[at].map(|time| ticks(rank, time));
                write_part(&mut records, &schema, (number, operation), [enter, leave]);
            }
            more(rank, &mut file, &mut records);
            file.records(0, 0, &records);
            file.end();
            file.save(folder, &format!("{rank}.tmt"));
        }
        OpenRun::open(folder).unwrap()
    }
}

/// The spec of the program.
pub(crate) fn spec() -> tumit::Spec {
    let (spec, diagnostics) = tumit::compile_text("program.tumit", SPEC);
    spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// The same events without rules.
pub(crate) fn older_spec() -> tumit::Spec {
    let events = SPEC.split("paje {").next().unwrap();
    tumit::compile_text("program.tumit", events).0.unwrap()
}

/// The number of a record type.
pub(crate) fn record_id(schema: &Schema, name: &str) -> u16 {
    u16::try_from(schema.records.iter().position(|record| record.name == name).unwrap()).unwrap()
}

fn write_part(
    records: &mut SyntheticRecords,
    schema: &Schema,
    (number, operation): (usize, &Operation),
    [enter, leave]: [u64; 2],
) {
    let mut body = (number as u64).to_le_bytes().to_vec();
    body.extend(operation.communicator.to_le_bytes());
    body.extend(u32::try_from(operation.root).unwrap().to_le_bytes());
    let name = KINDS[operation.kind].replace('-', "_");
    match operation.kind {
        0 | 3 => {
            records.record(record_id(schema, &format!("{name}.begin")), enter, &body);
            records.record(record_id(schema, &format!("{name}.end")), leave, &[]);
        }
        // Recorded at its end.
        _ => {
            body.extend(enter.to_le_bytes());
            records.record(record_id(schema, &name), leave, &body);
        }
    }
}

/// A part of an operation, as the conversion describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoundPart {
    pub(crate) container: String,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) enter: i64,
    pub(crate) leave: i64,
}

impl FoundPart {
    /// A field with a number.
    pub(crate) fn number(&self, field: &str) -> Option<u64> {
        self.fields.get(field)?.parse().ok()
    }
}

/// A sink that collects the states with their fields.
#[derive(Debug, Default)]
pub(crate) struct PartCollector {
    containers: BTreeMap<u32, String>,
    open: BTreeMap<(u32, u32), Vec<FoundPart>>,
    pub(crate) parts: Vec<FoundPart>,
}

impl PajeSink for PartCollector {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        match *event {
            PajeEvent::CreateContainer { container, name, .. } => {
                drop(self.containers.insert(container.0, name.into()));
            }
            PajeEvent::PushState { time, container, ty, extra, .. } => {
                let text = |value: &ExtraValue<'_>| match value {
                    ExtraValue::Text(text) => (*text).to_owned(),
                    ExtraValue::Integer(number) => number.to_string(),
                    ExtraValue::Float(number) => number.to_string(),
                    ExtraValue::Container(id) => self.containers[&id.0].clone(),
                };
                let fields = extra.iter().map(|field| (field.name.to_owned(), text(&field.value))).collect();
                let container_name = self.containers[&container.0].clone();
                let part = FoundPart { container: container_name, fields, enter: time.0, leave: time.0 };
                self.open.entry((container.0, ty.0)).or_default().push(part);
            }
            PajeEvent::PopState { time, container, ty, .. } => {
                let part = self.open.get_mut(&(container.0, ty.0)).and_then(Vec::pop);
                self.parts.extend(part.map(|part| FoundPart { leave: time.0, ..part }));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> io::Result<()> {
        Ok(())
    }
}
