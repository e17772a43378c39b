//! One pass has the same result as two passes. Random rules over random runs send the same
//! operations to a sink that can discard its input and start again, and to a sink that cannot. This
//! holds for records that are read by columns or one by one, and for any number of threads. A sink
//! that keeps the starts of links that never end receives them in addition to all other operations.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::num::NonZeroUsize;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{FieldSet, PajeEvent, PajeSink};

use crate::random_runs::{RandomStream, TYPES, declarations, write_run};

const FIELDS: &str = "t: u8, n: i64, k: u16, what: interned, to: phase, x: f64";

const TREE: &str = r#"
paje {
    container program "Program" {
        container thread[t: u8] "Thread {t}" {
            state calls "Calls"
            state phase "Phase" { start "Start" #112233, compute "Compute" #223344 }
            event seen "Seen" { work "Work" }
            variable load "Load"
            container part[what: string] "{what}" { state inner "Inner" }
            link hop "Hop" from part to part
        }
        link message "Message" from thread to thread
        link note "Note" from thread to thread
    }
}
"#;

/// Actions of rules.
const ACTIONS: [&str; 27] = [
    "push calls = what on thread[t]",
    "push calls = to on thread[t]",
    "push calls = k on thread[t]",
    "push calls = \"call\" on thread[t]",
    "push calls = thread_name on thread[t]",
    "pop calls on thread[t]",
    "pop calls what on thread[t]",
    "pop calls k on thread[t]",
    "reset calls on thread[t]",
    "set phase = to on thread[t]",
    "set phase = compute on thread[t]",
    "set phase = host on existing thread[t]",
    "set load = n on thread[t]",
    "add load = k on thread[t]",
    "mark seen = what on thread[t]",
    "mark seen = what on existing thread[t]",
    "mark seen = n * 2 on thread[t]",
    "mark seen = x on thread[t]",
    "destroy thread[t]",
    "push inner = to on part[t, what]",
    "start message key (k, n) from thread[t]",
    "end message key (k, n) to thread[t]",
    "start note = what key (k) from thread[t]",
    "end note key (k) to thread[t]",
    "start hop key (k) from part[t, what]",
    "end hop key (k) to part[t, what]",
    "start hop = to key (n) from part[t, what]",
];

const CLAUSES: [&str; 5] = ["", "", "", "", " when n > 1"];

/// An action: indices of [`ACTIONS`] and [`CLAUSES`].
type ActionClause = (usize, usize);

/// Rules for the ends of threads and processes.
const END_RULES: [&str; 3] = [
    "rule thread.end -> mark seen = \"end of {tid}\" on thread[0] -> push calls = thread_name on thread[tid];",
    "also rule thread.end -> subtract load = 1 on thread[1] when tid > 0;",
    "rule process.end -> set phase = start on thread[2] -> destroy thread[1];",
];

/// The text of a spec. Each bit of `end_rules` adds one of [`END_RULES`].
fn spec(rules: &[Vec<ActionClause>], end_rules: u8) -> String {
    let mut text = declarations("once", FIELDS, TREE);
    for (number, actions) in rules.iter().enumerate() {
        write!(text, "rule e{number}").unwrap();
        for (what, clause) in actions {
            write!(text, " -> {}{}", ACTIONS[*what], CLAUSES[*clause]).unwrap();
        }
        text.push_str(";\n");
    }
    for rule in END_RULES.iter().enumerate().filter(|(at, _)| end_rules >> at & 1 == 1).map(|(_, rule)| rule) {
        writeln!(text, "{rule}").unwrap();
    }
    text
}

/// The fields of a record.
fn encode(number: u32, thread: u8, strings: &[u32]) -> Vec<u8> {
    // One text is missing.
    let string = if number % 97 == 96 { 77 } else { strings[number as usize % strings.len()] };
    let fields: [&[u8]; 6] = [
        &[thread],
        &(i64::from(number % 6) - 2).to_le_bytes(),
        &u16::try_from(number % 4).unwrap().to_le_bytes(),
        &string.to_le_bytes(),
        &[u8::try_from(number / 7 % 3).unwrap()],
        &(f64::from(number % 8) / 4.0).to_le_bytes(),
    ];
    fields.concat()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct SinkInput {
    shapes: Vec<String>,
    definitions: Vec<String>,
    /// Operations, with the keys of link endpoints.
    operations: Vec<(Option<u64>, String)>,
    end: Option<GlobalNanos>,
}

/// The abilities of a sink.
#[derive(Clone, Copy, Debug, Default)]
struct SinkAbilities {
    can_restart: bool,
    keeps_open_links: bool,
}

/// A sink that keeps its input.
#[derive(Debug, Default)]
struct InputRecorder {
    input: SinkInput,
    abilities: SinkAbilities,
    /// Number of restarts, and number of removals of incomplete links.
    restarts: usize,
    link_removals: usize,
}

impl PajeSink for InputRecorder {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let text = format!("{event:?}");
        match event {
            PajeEvent::DefineType { .. } | PajeEvent::DefineValue { .. } => self.input.definitions.push(text),
            PajeEvent::StartLink { key, .. } | PajeEvent::EndLink { key, .. } => {
                self.input.operations.push((Some(key.0), text));
            }
            _ => self.input.operations.push((None, text)),
        }
        Ok(())
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.input.shapes.push(format!("{shape:?}"));
        Ok(())
    }

    fn can_restart(&self) -> bool {
        self.abilities.can_restart
    }

    fn keeps_open_links(&self) -> bool {
        self.abilities.keeps_open_links
    }

    fn restart(&mut self) -> io::Result<()> {
        self.input = SinkInput::default();
        self.restarts += 1;
        Ok(())
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        self.input.drop_unpaired(self.abilities.keeps_open_links);
        self.link_removals += 1;
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.input.end = Some(end);
        Ok(())
    }
}

impl SinkInput {
    /// Removes the endpoints of links without a partner, except for starts if they are kept.
    fn drop_unpaired(&mut self, keeps_starts: bool) {
        let mut ends: BTreeMap<u64, usize> = BTreeMap::new();
        for key in self.operations.iter().filter_map(|operation| operation.0) {
            *ends.entry(key).or_default() += 1;
        }
        let is_kept = |text: &str| keeps_starts && text.starts_with("StartLink");
        self.operations.retain(|(key, text)| key.is_none_or(|key| ends[&key] == 2 || is_kept(text)));
    }
}

/// The output of a conversion, its report, and the numbers of settled ends and of unsuccessful
/// attempts of one pass.
fn convert_run(
    run: &OpenRun,
    options: &ConvertOptions,
    abilities: SinkAbilities,
) -> (SinkInput, String, (usize, usize)) {
    let mut recorder = InputRecorder { abilities, ..InputRecorder::default() };
    let report = convert(run, options, &mut recorder).unwrap();
    let (counts, lines, reversed) = (report.counts, report.all_diagnostics(), report.reversed_by_samples);
    (
        recorder.input,
        format!("{counts:?} {:?} {lines:?} {reversed:?} {:?}", report.end, report.causality),
        (recorder.link_removals, recorder.restarts),
    )
}

fn stream() -> impl Strategy<Value = RandomStream> {
    let drawn = (0..TYPES, prop_oneof![1 => Just(0u8), 4 => 1u8..100], any::<u32>());
    let blocks = prop::collection::vec(prop::collection::vec(drawn, 1..30), 0..4);
    (prop::bool::weighted(0.7), blocks)
}

fn actions() -> impl Strategy<Value = Vec<ActionClause>> {
    prop::collection::vec((0..ACTIONS.len(), 0..CLAUSES.len()), 1..3)
}

#[test]
fn one_pass_gives_the_operations_of_two_passes() {
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::with_cases(90) }, seed);
    let (at_once, in_vain, open_links) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let cases = (
        prop::collection::vec(actions(), usize::from(TYPES)),
        prop::collection::vec(stream(), 1..5),
        (any::<bool>(), any::<bool>(), 1usize..=5, prop_oneof![Just(0u8), 1u8..8]),
    );
    let compared = runner.run(&cases, |(rules, streams, (is_forward, by_record, threads, end_rules))| {
        let spec = spec(&rules, end_rules);
        let (compiled, diagnostics) = tumit::compile_text("once.tumit", &spec);
        let compiled = compiled.unwrap_or_else(|| panic!("{}\n{spec}", diagnostics.render(false)));
        let folder = tempfile::tempdir().unwrap();
        write_run(folder.path(), &compiled.schema(), &["main", "2", "start", "0.5"], &streams, encode);
        let run = OpenRun::open(folder.path()).unwrap();
        let mut options = ConvertOptions::default();
        options.threads = NonZeroUsize::new(threads);
        options.by_record = by_record;
        if !is_forward {
            (options.has_causal_pass, options.clock) = (false, CorrectionMethod::None);
        }
        let (keeping, restarting) = (
            SinkAbilities { keeps_open_links: true, can_restart: false },
            SinkAbilities { keeps_open_links: false, can_restart: true },
        );
        let (expected, report, _) = convert_run(&run, &options, SinkAbilities::default());
        let (mut kept_events, report_of_kept, _) = convert_run(&run, &options, keeping);
        let (at_once_kept, ..) =
            convert_run(&run, &options, SinkAbilities { keeps_open_links: true, can_restart: true });
        prop_assert_eq!(&at_once_kept, &kept_events, "{}", &spec);
        open_links.set(open_links.get() + kept_events.operations.len() - expected.operations.len());
        kept_events.drop_unpaired(false);
        prop_assert_eq!(&kept_events, &expected, "{}", &spec);
        prop_assert_eq!(&report_of_kept, &report, "{}", &spec);
        let (input, its_report, (link_removals, restarts)) = convert_run(&run, &options, restarting);
        prop_assert_eq!(input, expected, "{}", &spec);
        prop_assert_eq!(its_report, report, "{}", &spec);
        prop_assert!(link_removals + restarts <= 1);
        at_once.set(at_once.get() + link_removals);
        in_vain.set(in_vain.get() + restarts);
        Ok(())
    });
    compared.unwrap_or_else(|error| panic!("{error}"));
    assert!(open_links.get() > 100, "{} open links", open_links.get());
    // Both cases are frequent.
    assert!(at_once.get() >= 10 && in_vain.get() >= 10, "{} runs at once, {} in vain", at_once.get(), in_vain.get());
}
