//! Operations from columns equal operations from single records. Random rules over random runs give
//! the same text for both ways of reading, and for any number of threads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use proptest::prelude::*;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionCounts;
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;

use crate::random_runs::{RandomStream, TYPES, declarations, write_run};

const FIELDS: &str = "t: u8, n: i64, k: u16, what: interned, to: phase, x: f64, p: pointer, u: u64, flag: bool, i: i8";

const TREE: &str = r#"
paje {
    container program "Program" {
        container thread[t: u8] "Thread {t}" {
            state calls "Calls"
            state phase "Phase" { start "Start" #112233, compute "Compute" #223344 }
            event seen "Seen"
            variable load "Load"
            container part[what: string] "{what}" { state inner "Inner" }
        }
        container core[n: i64] "Core {n}" { state busy "Busy" }
        link message "Message" from thread to thread
        link grant "Grant" from thread, core to thread, core
    }
}
"#;

/// Actions of rules, with `T` for a thread.
const ACTIONS: [&str; 34] = [
    "push calls = what on T",
    "push calls = to on T with { n, k, x, what, to, rank }",
    "push calls = k on T",
    "push calls = \"call\" on T with { twice = n * 2 }",
    "pop calls on T",
    "pop calls what on T",
    "reset calls on T",
    "set phase = to on T",
    "set phase = start on T",
    "set phase = compute on T with { u, p, flag, i }",
    "set phase = host on T",
    "set load = n on T",
    "set load = x on T",
    "set load = u on T",
    "set load = n + k on T",
    "add load = k on T",
    "subtract load = 2 on T",
    "mark seen = what on T",
    "mark seen = i on T with { x, u }",
    "mark seen = p on T",
    "create T with { what }",
    "destroy T",
    "create part[t, what]",
    "push inner = to on part[t, what]",
    "set busy = what on core[k]",
    "set busy = to on core[n] waits for T",
    "reset busy on existing core[k]",
    "start message key (u) from T",
    "start message key (u) from T with { what, x }",
    "end message key (u) to T with { k }",
    "start grant key (k, what) from T",
    "start grant key (k, what) from core[k]",
    "end grant key (k, what) to T with { n }",
    "end grant key (k, what) to core[n]",
];

const THREADS: [&str; 6] = ["thread[t]", "thread[t]", "thread[t]", "thread[0]", "thread[rank]", "thread[k]"];
const CLAUSES: [&str; 8] = ["", "", "", "", "", "", " when n > 1", " at date - 3"];

/// An action: indices of [`ACTIONS`], of a thread, and of [`CLAUSES`].
type ActionIndices = (usize, usize, usize);

fn spec(rules: &[Vec<ActionIndices>]) -> String {
    let mut text = declarations("columns", FIELDS, TREE);
    for (number, actions) in rules.iter().enumerate() {
        write!(text, "rule e{number}").unwrap();
        for (action, thread, clause) in actions {
            let action = ACTIONS[*action];
            let (action, with_clause) =
                action.split_once(" with").map_or((action, ""), |(start, _)| (start, &action[start.len()..]));
            let fields = ACTIONS.iter().find(|other| other.starts_with(action) && other.contains(" with"));
            let fields = fields.and_then(|action| action.split_once(" with")).map_or("", |(_, fields)| fields);
            let with_clause = if fields.is_empty() { with_clause.to_owned() } else { format!(" with{fields}") };
            let existing = if *clause == 0 && action.contains("on T") { "existing " } else { "" };
            let thread = format!("{existing}{}", THREADS[*thread]);
            write!(text, " -> {}{}{with_clause}", action.replace('T', &thread), CLAUSES[*clause]).unwrap();
        }
        text.push_str(";\n");
    }
    text
}

/// The fields of a record.
fn encode(number: u32, thread: u8, strings: &[u32]) -> Vec<u8> {
    let string = match number % 23 {
        // A text that is missing.
        22 => 77,
        number => strings[number as usize % strings.len()],
    };
    let wide = if number % 31 == 30 { u64::MAX } else { u64::from(number % 5) };
    let float = if number % 29 == 28 { f64::NAN } else { f64::from(number % 8) / 4.0 };
    let fields: [&[u8]; 10] = [
        &[thread],
        &(i64::from(number % 6) - 2).to_le_bytes(),
        &u16::try_from(number % 4).unwrap().to_le_bytes(),
        &string.to_le_bytes(),
        &[u8::try_from(number / 7 % if number % 37 == 36 { 5 } else { 3 }).unwrap()],
        &float.to_le_bytes(),
        &(u64::from(number % 3) << 40).to_le_bytes(),
        &wide.to_le_bytes(),
        &[u8::from(number.is_multiple_of(2))],
        &[number.to_le_bytes()[0]],
    ];
    fields.concat()
}

fn text(run: &OpenRun, by_record: bool, threads: usize) -> (String, ConversionCounts) {
    let mut options = ConvertOptions::default();
    options.threads = NonZeroUsize::new(threads);
    options.by_record = by_record;
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(run, &options, &mut writer).unwrap();
    (String::from_utf8(writer.into_inner()).unwrap(), report.counts)
}

fn stream() -> impl Strategy<Value = RandomStream> {
    // Blocks with plain values only, and blocks with others: missing texts, large numbers,
    // undefined names.
    let plain =
        any::<u32>().prop_map(|number| number / 100 * 100 + [0, 1, 2, 3, 4, 5, 8, 9, 10, 14, 15][number as usize % 11]);
    let drawn = (0..TYPES, prop_oneof![Just(0u8), 0u8..100], prop_oneof![20 => plain, 1 => any::<u32>()]);
    let blocks = prop::collection::vec(prop::collection::vec(drawn, 1..40), 0..5);
    (prop::bool::weighted(0.7), blocks)
}

fn actions() -> impl Strategy<Value = Vec<ActionIndices>> {
    prop::collection::vec((0..ACTIONS.len(), 0..THREADS.len(), 0..CLAUSES.len()), 1..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn columns_and_records_give_the_same_operations(
        rules in prop::collection::vec(actions(), usize::from(TYPES)),
        streams in prop::collection::vec(stream(), 1..5),
    ) {
        let spec = spec(&rules);
        let (compiled, diagnostics) = tumit::compile_text("columns.tumit", &spec);
        let compiled = compiled.unwrap_or_else(|| panic!("{}\n{spec}", diagnostics.render(false)));
        let folder = tempfile::tempdir().unwrap();
        write_run(folder.path(), &compiled.schema(), &["main", "work", "start"], &streams, encode);
        let run = OpenRun::open(folder.path()).unwrap();
        let expected = text(&run, true, 1);
        for threads in 1..=5 {
            prop_assert_eq!(&text(&run, false, threads), &expected, "{}", &spec);
        }
        prop_assert_eq!(&text(&run, true, 3), &expected);
    }
}
