//! Compares our simulation with that of `pj_dump` (Debian package `pajeng`): same rows for the same
//! files.

use std::fmt::Write as _;
use std::process::Command;

use proptest::prelude::*;
use tumit_viewer::query::{TimelineSource as _, TraceDiagnostic};
use tumit_viewer::store::TraceStore;

const HEADER: &str = include_str!("header.paje");

/// Types and values: processes contain threads; threads have two kinds of states, a variable and
/// events; links connect threads.
const TYPES: &str = "\
0 P 0 Process
0 T P Thread
2 S T Activity
2 U T \"Other activity\"
1 V T Load \"0.5 0.5 0.5\"
3 E T Mark \"0.1 0.2 0.3\"
4 L 0 T T Message
5 v0 S compute \"0 1 0\"
5 v1 S send \"1 0 0\"
5 v2 S wait \"0 0 1\"
5 u0 U busy \"1 1 0\"
5 e0 E checkpoint \"0 0 0\"
5 l0 L data \"1 1 1\"
";

/// Rows of `pj_dump`. Messages about bad lines are removed.
fn pj_dump(text: &str) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("room for it");
    let output = Command::new("pj_dump")
        .args(["-l", "9", "-e", "1e300"])
        .arg(file.path())
        .output()
        .expect("`pj_dump` runs: install the Debian package `pajeng`");
    let rows = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "pj_dump: {rows}\n{text}");
    let kinds = ["Container, ", "State, ", "Variable, ", "Event, ", "Link, "];
    let unknown = rows.lines().find(|row| !kinds.iter().any(|kind| row.starts_with(kind)));
    assert_eq!(unknown, None, "{text}");
    sorted(&rows)
}

fn own_rows(text: &str) -> (Vec<String>, Vec<TraceDiagnostic>) {
    let store = TraceStore::from_paje("trace", text.as_bytes()).expect("a Pajé file");
    let mut rows = Vec::new();
    tumit_viewer::text::entity_rows::write(&store, &mut rows).expect("memory to write to");
    (sorted(&String::from_utf8(rows).expect("text")), store.summary().diagnostics)
}

fn sorted(rows: &str) -> Vec<String> {
    let mut rows: Vec<String> = rows.lines().map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

fn check(body: &str) {
    let text = format!("{HEADER}{TYPES}{body}");
    let (rows, diagnostics) = own_rows(&text);
    assert_eq!(rows, pj_dump(&text), "{text}");
    assert_eq!(diagnostics, [], "{text}");
}

/// The operations. Numbers are taken modulo the number of choices.
#[derive(Clone, Debug)]
enum Op {
    Push(u8, u8),
    Pop(u8),
    Set(u8, u8),
    Reset(u8),
    Other(u8),
    Mark(u8),
    Variable(u8, u8, i16),
    Link(u8, bool),
    EndLink(u8),
    Destroy(u8),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (any::<u8>(), any::<u8>()).prop_map(|(t, v)| Op::Push(t, v)),
        3 => any::<u8>().prop_map(Op::Pop),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(t, v)| Op::Set(t, v)),
        1 => any::<u8>().prop_map(Op::Reset),
        1 => any::<u8>().prop_map(Op::Other),
        2 => any::<u8>().prop_map(Op::Mark),
        3 => (any::<u8>(), any::<u8>(), any::<i16>()).prop_map(|(t, o, v)| Op::Variable(t, o, v)),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(t, first)| Op::Link(t, first)),
        2 => any::<u8>().prop_map(Op::EndLink),
        1 => any::<u8>().prop_map(Op::Destroy),
    ]
}

/// Writes the lines of a run in the safe subset: balanced, ordered in time, all links complete.
struct PajeLineWriter {
    text: String,
    time: u64,
    depths: Vec<u32>,
    alive: Vec<bool>,
    /// Keys of pending endpoints, and whether the end came first.
    open: Vec<(usize, bool)>,
    keys: usize,
}

impl PajeLineWriter {
    fn new(threads: usize) -> Self {
        let mut text = "6 0.000000000 p 0 P \"the process\"\n".to_owned();
        for thread in 0..threads {
            let _ = writeln!(text, "6 0.000000000 t{thread} p T \"thread {thread}\"");
            let _ = writeln!(text, "8 0.000000000 t{thread} V 0");
        }
        Self { text, time: 0, depths: vec![0; threads], alive: vec![true; threads], open: Vec::new(), keys: 0 }
    }

    fn line(&mut self, id: u32, rest: &str) {
        let _ = writeln!(self.text, "{id} {}.{:09} {rest}", self.time / 1_000_000_000, self.time % 1_000_000_000);
    }

    fn link_endpoint(&mut self, key: usize, thread: usize, starts: bool) {
        let (id, end) = if starts { (15, "l0") } else { (16, "l0") };
        self.line(id, &format!("0 L t{thread} {end} k{key}"));
    }

    fn end_link(&mut self, pick: u8, thread: usize) {
        if self.open.is_empty() {
            return;
        }
        let (key, end_first) = self.open.swap_remove(usize::from(pick) % self.open.len());
        self.link_endpoint(key, thread, end_first);
    }

    fn take(&mut self, step: u64, op: &Op) {
        self.time += step;
        let (Op::Push(pick, _)
        | Op::Pop(pick)
        | Op::Set(pick, _)
        | Op::Reset(pick)
        | Op::Other(pick)
        | Op::Mark(pick)
        | Op::Variable(pick, ..)
        | Op::Link(pick, ..)
        | Op::EndLink(pick)
        | Op::Destroy(pick)) = *op;
        let thread = usize::from(pick) % self.alive.len();
        if !self.alive[thread] {
            return;
        }
        match *op {
            Op::Push(_, value) => {
                self.depths[thread] += 1;
                self.line(12, &format!("t{thread} S v{}", value % 3));
            }
            Op::Pop(_) if self.depths[thread] > 0 => {
                self.depths[thread] -= 1;
                self.line(13, &format!("t{thread} S"));
            }
            Op::Pop(_) => {}
            Op::Set(_, value) => {
                self.depths[thread] = 1;
                self.line(11, &format!("t{thread} S v{}", value % 3));
            }
            Op::Reset(_) => {
                self.depths[thread] = 0;
                self.line(14, &format!("t{thread} S"));
            }
            Op::Other(_) => self.line(11, &format!("t{thread} U u0")),
            Op::Mark(_) => self.line(17, &format!("t{thread} E e0")),
            Op::Variable(_, op, value) => {
                self.line(8 + u32::from(op % 3), &format!("t{thread} V {}", f64::from(value) / 4.0));
            }
            Op::Link(_, end_first) => {
                self.link_endpoint(self.keys, thread, !end_first);
                self.open.push((self.keys, end_first));
                self.keys += 1;
            }
            Op::EndLink(pick) => self.end_link(pick / 7, thread),
            // Thread 0 stays, to receive the remaining links.
            Op::Destroy(_) if thread > 0 => {
                self.alive[thread] = false;
                self.line(7, &format!("T t{thread}"));
            }
            Op::Destroy(_) => {}
        }
    }

    fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end_link(0, 0);
        }
        self.line(7, "P p");
        self.text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_the_safe_subset_equal_those_of_pj_dump(
        threads in 1_usize..4,
        ops in prop::collection::vec((prop_oneof![Just(0_u64), 1_u64..2_000_000_000], op()), 0..80),
    ) {
        let mut run = PajeLineWriter::new(threads);
        for (step, op) in &ops {
            run.take(*step, op);
        }
        check(&run.finish());
    }
}

/// Cases that other writers produce and that `pj_dump` reads correctly.
#[test]
fn rows_of_unusual_files_equal_those_of_pj_dump() {
    let start = "6 0 p 0 P p\n6 0 t p T t\n";
    let cases = [
        // No process at all.
        "",
        // Open states, nested states, and a reset.
        "11 1 t S v0\n12 2 t S v1\n12 3 t S v2\n7 9.5 P p\n",
        "12 1 t S v0\n12 1 t S v1\n14 1 t S\n7 2 P p\n",
        // A set ends the whole stack.
        "12 1 t S v0\n12 2 t S v1\n11 3 t S v2\n13 4 t S\n7 5 P p\n",
        // Values without a declaration.
        "11 1 t S \"what is this\"\n17 2 t E 42\n7 5 P p\n",
        // A variable that is set twice at one timestamp; sums.
        "8 1 t V 3\n8 1 t V 4\n9 2 t V 0.5\n10 2 t V 0.25\n8 3 t V -1\n7 5 P p\n",
        // The end of a link first, in the file and in time.
        "16 1 0 L t l0 a\n15 2 0 L t l0 a\n7 5 P p\n",
        "15 2 0 L t l0 x-y.z:1\n16 1 0 L t l0 x-y.z:1\n7 5 P p\n",
        // Timestamps in other notations; quotes, tabs and comments.
        "11 1e0 \"t\"\tS v0 # a comment\n  11   .25e1 t S \"v1\"\n7 5. P p\n",
        // A container is destroyed twice.
        "11 1 t S v0\n7 2 T t\n7 4 P p\n7 4 P p\n",
        // Other containers may go back in time.
        "6 0 t2 p T t2\n11 5 t S v0\n11 1 t2 S v0\n7 6 P p\n",
        // Timestamps with as many digits as `pj_dump` keeps.
        "11 4000000.123456789 t S v0\n7 4000000.123456790 P p\n",
    ];
    for case in cases {
        let text = format!("{HEADER}{TYPES}{start}{case}");
        assert_eq!(own_rows(&text).0, pj_dump(&text), "{case}");
    }
}

/// Recorded with SimGrid 3.32.
#[test]
fn rows_of_simgrid_traces_equal_those_of_pj_dump() {
    // A ring of messages between four ranks and a reduction, three times (`smpirun -np 4 -trace`);
    // and two actors on two hosts, with the utilization of hosts and link as variables
    // (`tracing/platform`, `tracing/uncategorized`, `tracing/actor`).
    let traces = [
        (include_str!("data/simgrid-smpi.trace"), [5, 48, 12, 0]),
        (include_str!("data/simgrid-platform.trace"), [6, 12, 2, 24]),
    ];
    for (text, counts) in traces {
        let (rows, diagnostics) = own_rows(text);
        assert_eq!(rows, pj_dump(text));
        assert_eq!(diagnostics, []);
        let count = |kind: &str| rows.iter().filter(|row| row.starts_with(kind)).count();
        assert_eq!(["Container", "State", "Link", "Variable"].map(count), counts);
    }
}
