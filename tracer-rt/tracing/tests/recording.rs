//! Programs that record spans and events, and their runs.
//! Each case runs in its own process: this test binary, started again for its test `child`.

#![expect(clippy::unwrap_used, reason = "programs and readers of tests, outside test functions")]

mod recording {
    pub(crate) mod programs;
}
#[path = "../examples/service.rs"]
mod service;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use tumit::spec::SourceFile;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::decoded_run::{DecodedFile, DecodedRecord, read_run};

/// A recorded program.
struct RecordedProgram {
    file: DecodedFile,
    /// The run as Pajé text.
    paje: String,
}

impl RecordedProgram {
    fn texts(&self, name: &str) -> Vec<String> {
        self.named(name).map(DecodedRecord::text).collect()
    }

    fn named<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f DecodedRecord> {
        self.file.records().filter(move |record| record.name == name)
    }

    /// The lines of the Pajé text that contain all of `words`.
    fn lines(&self, words: &[&str]) -> usize {
        self.paje.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
    }
}

fn run(case: &str, settings: &[(&str, &str)]) -> RecordedProgram {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["TUMIT_LEVELS", "TUMIT_TRACING", "TUMIT_MEMORY", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"] {
        command.env_remove(variable);
    }
    command.env("TUMIT_TRACE", &run).env("TUMIT_CASE", case).envs(settings.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{case}: {output:?}");
    read_program(&run)
}

fn read_program(run: &Path) -> RecordedProgram {
    let file = read_run(run).files.remove(0);
    assert_eq!((file.ended, file.end_dropped), (true, Some(0)), "{}", run.display());
    check_specs(&file);
    RecordedProgram { file, paje: converted(run) }
}

/// The texts of all specs compile, and describe the records of their schemas.
fn check_specs(file: &DecodedFile) {
    for (_, schema) in &file.schemas {
        let sources =
            schema.sources.iter().map(|source| SourceFile { path: source.path.clone(), text: source.text.clone() });
        let (spec, diagnostics) = tumit::compile_sources(&sources.collect::<Vec<_>>());
        let spec = spec.unwrap_or_else(|| panic!("{}\n{}", diagnostics.render(false), schema.sources[0].text));
        let compiled = spec.schema();
        assert_eq!((&compiled.name, &compiled.levels), (&schema.name, &schema.levels));
        assert_eq!(
            (&compiled.records, &compiled.enums),
            (&schema.records, &schema.enums),
            "{}",
            schema.sources[0].text
        );
    }
}

fn converted(run: &Path) -> String {
    let run = OpenRun::open(run).unwrap();
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    assert!(report.is_clean(), "{report:?}");
    with_names(&String::from_utf8(writer.into_inner()).unwrap())
}

/// Pajé text with the names of values instead of their aliases.
fn with_names(paje: &str) -> String {
    let words = || paje.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let definitions = words().filter(|words| words.len() > 3 && words[1].starts_with('v') && words[2].starts_with('t'));
    let names: HashMap<&str, String> = definitions
        .map(|words| (words[1], words[3..].join(" ").split('"').nth(1).unwrap_or_default().to_owned()))
        .collect();
    let named = words().map(|line| {
        line.iter().map(|word| names.get(word).map_or(*word, String::as_str)).collect::<Vec<_>>().join(" ")
    });
    named.collect::<Vec<_>>().join("\n")
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    match std::env::var("TUMIT_CASE").as_deref() {
        Ok("service") => service::main(),
        Ok(case) => recording::programs::run(case),
        Err(_) => {}
    }
}

#[test]
fn values_keep_their_types() {
    let program = run("values", &[("TUMIT_TRACING", "trace")]);
    let records: Vec<String> = program.file.records().map(DecodedRecord::text).collect();
    let named =
        |name: &str| records.iter().filter(|text| text.starts_with(name)).map(String::as_str).collect::<Vec<_>>();
    assert_eq!(
        named("every_type"),
        [
            "every_type message=a 7 i=-1 u=2 f=Double(0.5) yes=Bool(true) text=é debug=[1, 2] display=3 wide=-170141183460469231731687303715884105728 error=broken"
        ]
    );
    assert_eq!(named("generic"), ["generic value=7", "generic value=text", "generic value=8", "generic"]);
    // A field with the name of a built-in of the rules, and other names that specs do not have.
    assert_eq!(named("odd_names"), ["odd_names rank_field=1 http_method=GET httpMethod_n2=PUT or_field=2"]);
    assert_eq!(named("nested"), ["nested inner=9", "nested outer=value"]);
    let long = program.named("long").next().unwrap();
    assert_eq!(long.get("a").to_string().len() + long.get("b").to_string().len(), 60_000 - 4 - 4);
    let (line, source) = program.named("every_type").next().unwrap().site.clone().unwrap();
    assert!(source.ends_with("programs.rs") && line > 1, "{source}:{line}");
    let levels = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
    for level in levels {
        assert!(program.lines(&[level, "recording::recording::programs"]) > 0, "{level}\n{}", program.paje);
    }
}

#[test]
fn spans_are_states() {
    let program = run("spans", &[("TUMIT_TRACING", "trace")]);
    assert_eq!(program.texts("outer.begin"), ["outer.begin span=1 number=7"]);
    assert_eq!(program.texts("outer.end").len(), 1);
    // A field that is recorded later is a mark, and belongs to the later entries.
    assert_eq!(program.texts("late.begin"), ["late.begin span=3 path=/index"]);
    assert_eq!(program.texts("late_f"), ["late_f span=3 status=200", "late_f span=3 path=/other"]);
    let resumed: Vec<_> = program.named("late_r").collect();
    assert_eq!(resumed.len(), 1);
    assert_eq!(resumed[0].get("path").to_string(), "/other");
    assert_eq!(resumed[0].get("status").to_string(), "200");
    let end = program.named("late.end").next().unwrap().ticks;
    assert_eq!(resumed[0].get("previous_exit").number(), end);
    // The cause has been left before; it follows itself from no entry.
    let follows: Vec<_> = program.named("follows_from").collect();
    assert_eq!(follows.len(), 2);
    let outer_end = program.named("outer.end").next().unwrap().ticks;
    assert_eq!((follows[0].get("cause").number(), follows[0].get("cause_time").number()), (1, outer_end));
    assert_eq!(follows[1].get("cause").number(), 5, "a span that was never entered");
    // Levels that are off at the time of the entry.
    let switched = ["switched.begin", "switched_r", "switched.end"].map(|name| program.texts(name).len());
    assert_eq!(switched, [1, 1, 2]);
    assert_eq!(program.texts("never.begin").len(), 0);
    for link in ["Continuation", "Follows from"] {
        assert!(program.lines(&[link]) > 0, "{link}\n{}", program.paje);
    }
}

#[test]
fn threads_and_ends_lose_nothing() {
    let program = run("threads", &[]);
    let entries = program.texts("shared.begin").len() + program.texts("shared_r").len();
    assert_eq!((entries, program.texts("shared.end").len()), (40, 40));
    assert_eq!(program.texts("in_destructor").len(), 4, "of thread-local variables");
    assert_eq!(program.texts("before_exit").len(), 1);
    assert_eq!(program.texts("debug_is_off").len(), 0);
}

#[test]
fn log_messages_have_their_targets() {
    let program = run("log", &[("TUMIT_TRACING", "info,quiet=off")]);
    let texts: Vec<String> = program.file.records().map(DecodedRecord::text).collect();
    assert_eq!(
        texts,
        [
            "log_event log_target=first message=a message 1",
            "log_event log_target=second message=a message 2",
            "log_event log_target=first message=a warning",
        ]
    );
    let sites: Vec<_> = program.file.records().map(|record| record.site.clone().unwrap()).collect();
    assert!(sites.iter().all(|(_, file)| file.ends_with("programs.rs")) && sites[0].0 < sites[2].0, "{sites:?}");
    assert_eq!(program.lines(&["WARN", "a warning"]), 1, "{}", program.paje);
}

#[test]
fn the_example_is_recorded() {
    let program = run("service", &[]);
    assert_eq!(program.texts("request.begin").len(), 6);
    assert_eq!(program.texts("request_f").len(), 6);
    let ends = program.texts("request.end").len();
    assert_eq!(ends, 6 + program.texts("request_r").len());
    assert_eq!(program.lines(&["ERROR", "the store has no such page"]), 1, "{}", program.paje);
}

#[test]
fn tasks_of_tokio_have_their_states() {
    let program = run("tokio", &[]);
    assert_eq!(
        program.texts("task_spawn"),
        [
            "task_spawn place=src/main.rs:12 row=1 task=7 name= kind=task",
            "task_spawn place=src/main.rs:12 row=2 task=8 name= kind=task",
            "task_spawn place=src/main.rs:12 row=3 task=9 name=named kind=local",
            "task_spawn place=src/main.rs:12 row=1 task=10 name= kind=task",
            "task_spawn place=src/main.rs:12 row=1 task=11 name= kind=block_on",
        ]
    );
    let of_task = |name: &str, task: u64| {
        let records = program.named(name).filter(|record| record.get("task").number() == task);
        records
            .map(|record| {
                record.text().split_once(&format!("task={task} ")).map_or(String::new(), |(_, rest)| rest.to_owned())
            })
            .collect::<Vec<_>>()
    };
    // The task waits for a mutex, is woken, and wakes itself in the next poll.
    assert_eq!(
        of_task("poll_begin", 7),
        ["wakeup=0 resource=", "wakeup=1 resource=Mutex src/main.rs:3", "wakeup=2 resource=", "wakeup=0 resource="]
    );
    assert_eq!(
        of_task("poll_end", 7),
        [
            "next=idle resource=Mutex src/main.rs:3",
            "next=scheduled resource=",
            "next=no_waker resource=",
            "next=no_waker resource="
        ]
    );
    assert_eq!(
        of_task("wake", 7),
        [
            "wakeup=1 is_first=Bool(true) is_outside_poll=Bool(true)",
            "wakeup=1 is_first=Bool(false) is_outside_poll=Bool(true)",
            "wakeup=2 is_first=Bool(true) is_outside_poll=Bool(false)"
        ]
    );
    assert_eq!(of_task("poll_end", 11), ["next=idle resource="]);
    assert_eq!(program.texts("task_end").len(), 5);
    // No span of the runtime is a span of the program.
    assert!(program.file.records().all(|record| !record.name.starts_with("runtime")));
    for value in ["Polled", "Scheduled", "Idle", "Ended or without waker", "A task waits"] {
        assert!(program.lines(&[value]) > 0, "{value}\n{}", program.paje);
    }
}
