//! Generated functions that read, write and print records, in C and in Rust, compared with each
//! other and with `tumit dump`.

mod damage;

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use tests::lang::c::{C99, CCompiler, WARNINGS, folder, record};
use tests::programs::{filter_rust, output, succeed, tumit, workspace};
use tracer_format::BlockKind;
use tracer_format::record_values::{Address, Array, Choice, Date, Head, Name, SiteRef, Text, TypedRecord};
use tumit::codegen::c::{CBackend, CReader};
use tumit::codegen::{Backend, CodegenOptions};
use tumit_converter::run::OpenRun;
use tumit_converter::tools::records::{ReadOrder, RecordReader, RecordWriter};

tracer_rt::records!("cases/types/spec.tumit");
tracer_rt::records!("generated_readers/version_2.tumit");

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Writes the recording header and the reading header.
fn headers(folder: &Path, spec: &str) {
    let text = std::fs::read_to_string(file(spec)).unwrap();
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", &text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    for back_end in [&CBackend as &dyn Backend, &CReader] {
        for file in back_end.generate(&spec, &CodegenOptions::default()).unwrap().0 {
            std::fs::write(folder.join(file.name), file.text).unwrap();
        }
    }
}

fn compile(folder: &Path, compiler: CCompiler, source: &Path, extra: &[&str]) -> PathBuf {
    let program = folder.join(source.file_stem().unwrap());
    let include = format!("-I{}", folder.display());
    let extra: Vec<&str> = [&include[..]].into_iter().chain(extra.iter().copied()).collect();
    compiler.compile(&[source], &program, &extra).unwrap_or_else(|error| panic!("{error}"));
    program
}

/// A run of the case `types`: every type, or many threads and a fork.
fn types_run(folder: &Path, driver: &str) -> PathBuf {
    headers(folder, "cases/types/spec.tumit");
    let program = compile(folder, C99, &file("cases/types").join(driver), &[]);
    record(&program, folder, "run.tmt", &[])
}

fn dump(run: &Path) -> String {
    let output = output(tumit().args(["dump", "--clock", "none"]).arg(run));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// The records of a run as Rust prints them, process by process and stream by stream.
fn rust_lines(path: &Path) -> Vec<String> {
    let run = OpenRun::open(path).unwrap();
    let mut lines = Vec::new();
    for process in 0..run.processes.len() {
        let mut reader = RecordReader::<types::Trace>::new(&run, process).unwrap();
        while let Some(recorded) = reader.next().unwrap() {
            lines.push(recorded.to_string());
        }
    }
    lines
}

fn rust_copy(path: &Path, folder: &Path, order: ReadOrder) {
    let run = OpenRun::open(path).unwrap();
    for (number, process) in run.processes.iter().enumerate() {
        let mut reader = RecordReader::<types::Trace>::with_order(&run, number, order).unwrap();
        let mut writer = RecordWriter::copy(process, folder).unwrap();
        while let Some(recorded) = reader.next().unwrap() {
            writer.write(&recorded).unwrap();
        }
        writer.finish().unwrap();
    }
}

fn same_lines(actual: &str, expected: &str, name: &str) {
    for (number, (a, b)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(a, b, "{name}: line {number}");
    }
    assert_eq!(actual.lines().count(), expected.lines().count(), "{name}: number of lines");
}

fn all_agree(driver: &str, min_count: usize) {
    let folder = folder();
    let run = types_run(folder.path(), driver);
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &[]);
    let dumped = dump(&run);
    assert!(dumped.lines().count() >= min_count, "{} records", dumped.lines().count());
    same_lines(&succeed(Command::new(&tool).arg("lines").arg(&run)), &dumped, "C");
    let c_lines = succeed(Command::new(&tool).arg("records").arg(&run));
    same_lines(&c_lines, &(rust_lines(&run).join("\n") + "\n"), "C and Rust");
    let copied = folder.path().join("c.tmt");
    succeed(Command::new(&tool).arg("copy").arg(&run).arg(&copied));
    same_lines(&dump(&copied), &dumped, "a copy by C");
    for (order, name) in [(ReadOrder::Streams, "streams.tmt"), (ReadOrder::Timestamps, "dates.tmt")] {
        let copied = folder.path().join(name);
        rust_copy(&run, &copied, order);
        same_lines(&dump(&copied), &dumped, "a copy by Rust");
    }
}

#[test]
fn generated_readers_ignore_anchors_around_a_sleep() {
    let folder = folder();
    headers(folder.path(), "cases/types/spec.tumit");
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &[]);
    let run = crate::python_reader::run_with_sleep(folder.path());
    same_lines(&succeed(Command::new(&tool).arg("lines").arg(&run)), &dump(&run), "C");
}

#[test]
fn generated_readers_agree_on_every_type() {
    all_agree("drive.c", 28);
}

#[test]
fn generated_readers_agree_on_threads_and_forks() {
    all_agree("threads.c", 10_000);
}

/// Two processes with threads that overwrite, in one file.
fn sorted_run(folder: &Path) -> PathBuf {
    headers(folder, "cases/types/spec.tumit");
    let program = compile(folder, C99, &file("cases/types/threads.c"), &["-DNO_FORK"]);
    let settings = [("TUMIT_POLICY", "all=overwrite"), ("TUMIT_MEMORY", "256K")];
    let runs = ["one.tmt", "two.tmt"].map(|name| record(&program, folder, name, &settings));
    let sorted = folder.join("sorted.tmt");
    let merge = ["merge", "--clock", "none", "--causal", "off", "--sort", "-o"];
    // It exits with status 1: records are missing.
    stdout_of(tumit().args(merge).arg(&sorted).args(&runs));
    sorted
}

/// The standard output of a command on a run with missing records, which it reports on standard
/// error.
fn stdout_of(command: &mut Command) -> String {
    String::from_utf8(output(command).stdout).unwrap()
}

#[test]
fn generated_readers_agree_on_a_sorted_run() {
    let folder = folder();
    let sorted = sorted_run(folder.path());
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &["-fsanitize=address,undefined"]);
    let dumped = stdout_of(tumit().args(["dump", "--clock", "none"]).arg(&sorted));
    same_lines(&stdout_of(Command::new(&tool).arg("lines").arg(&sorted)), &dumped, "by date");
    let (c, rust) = (stdout_of(Command::new(&tool).arg("records").arg(&sorted)), rust_lines(&sorted));
    same_lines(&c, &(rust.join("\n") + "\n"), "C and Rust");
    let processes = tests::run::read(&sorted);
    let dropped: Vec<u64> =
        processes.iter().map(|process| process.dropped_reports.iter().map(|dropped| dropped.count).sum()).collect();
    assert!(dropped.len() == 2 && dropped.iter().all(|count| *count > 1_000), "{dropped:?}");
    let reports = rust.iter().filter(|line| line.ends_with(" records dropped, missing or damaged)")).count();
    assert_eq!(reports, processes.iter().map(|process| process.dropped_reports.len()).sum::<usize>());
    let records = processes.iter().flat_map(|process| process.records.values()).map(Vec::len).sum::<usize>();
    assert_eq!((rust.len(), dumped.lines().count()), (records + reports, records));

    // A copy has a file for each process, in both languages.
    let (by_c, by_rust) = (folder.path().join("c.tmt"), folder.path().join("rust.tmt"));
    succeed(Command::new(&tool).arg("copy").arg(&sorted).arg(&by_c));
    rust_copy(&sorted, &by_rust, ReadOrder::Streams);
    for copied in [&by_c, &by_rust] {
        let files = tests::run::read(copied);
        let names: Vec<_> = files.iter().map(|file| file.path.file_name().unwrap()).collect();
        assert_eq!(names, ["sorted-0.tmt", "sorted-1.tmt"]);
        assert!(files.iter().all(|file| file.part.is_none()), "plain files");
        let dropped: u64 = files.iter().flat_map(|file| &file.dropped_reports).map(|dropped| dropped.count).sum();
        assert_eq!(
            dropped,
            processes.iter().flat_map(|process| &process.dropped_reports).map(|dropped| dropped.count).sum::<u64>()
        );
        same_lines(&stdout_of(tumit().args(["dump", "--clock", "none"]).arg(copied)), &dumped, "a copy");
    }
    damage::of_a_stream_that_is_nobodys(&sorted, &tool);
}

#[test]
fn the_header_compiles_without_warnings_with_and_without_the_recorder() {
    let folder = folder();
    headers(folder.path(), "cases/types/spec.tumit");
    let both = folder.path().join("both.c");
    let text = "#include \"types_read.h\"\n#include \"types_trace.h\"\n#include \"types_read.h\"\nint both(void);\n\
                int both(void) { types_bare(); return (int)types_is_bare; }\n";
    std::fs::write(&both, text).unwrap();
    let reversed = folder.path().join("reversed.c");
    std::fs::write(&reversed, text.replacen("types_read.h", "types_trace.h", 1)).unwrap();
    let tool = file("generated_readers/tool.c");
    for (command, language, standards) in [
        ("gcc", "c", ["-std=c99", "-std=c11"]),
        ("clang", "c", ["-std=c99", "-std=c11"]),
        ("g++", "c++", ["-std=c++11", "-std=c++17"]),
        ("clang++", "c++", ["-std=c++11", "-std=c++17"]),
    ] {
        for standard in standards {
            for (source, extra) in [(&tool, None), (&both, Some("-D_GNU_SOURCE")), (&reversed, Some("-D_GNU_SOURCE"))] {
                let mut compiler = Command::new(command);
                compiler.args(WARNINGS).args(["-O0", "-fsyntax-only", standard, "-x", language]);
                compiler.arg("-I").arg(folder.path()).args(extra).arg(source);
                succeed(&mut compiler);
            }
        }
    }
}

#[test]
fn a_grown_spec_reads_old_runs_in_c() {
    let folder = folder();
    headers(folder.path(), "generated_readers/version_1.tumit");
    let program = compile(folder.path(), C99, &file("generated_readers/version_1_writer.c"), &[]);
    let run = record(&program, folder.path(), "run.tmt", &[]);
    headers(folder.path(), "generated_readers/version_2.tumit");
    let reader =
        compile(folder.path(), C99, &file("generated_readers/version_reader.c"), &["-fsanitize=address,undefined"]);
    let copied = folder.path().join("copy.tmt");
    let stdout = succeed(Command::new(&reader).arg(&run).arg(&copied));
    assert_eq!(
        stdout.lines().collect::<Vec<_>>(),
        [
            r#"a  name="first" n=7 tint="green" few=[-1, 100] | n 7 tint 0x1 more '' missing 2 few -1 many 0"#,
            "old  x=1 | unknown",
            r#"a  name="second" n=8 tint="red" few=[-1] | n 8 tint 0x12c more '' missing 2 few -1 many 0"#,
            r#"a  name="" n=65535 tint="violet" few=[] | n 65535 tint 0x10002 more '' missing 2 few 0 many 0"#,
            "work.begin  task=1 k=3",
            "work.end  task=1",
            "1 unknown",
        ]
        .map(|line| line.replace("task=1", &task_of(&stdout)))
    );
    let text = |run: &Path| dump(run).lines().map(after_thread).collect::<Vec<_>>();
    let mut expected: Vec<String> = text(&run);
    for (line, n) in expected.iter_mut().filter(|line| line.starts_with("a ")).zip(["6", "7", "65534"]) {
        let from = line.split(" n=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        *line = line.replacen(&format!(" n={from} "), &format!(" n={n} "), 1);
    }
    expected.push("fresh".into());
    assert_eq!(text(&copied), expected, "fields that the new spec does not have went over as they were");
}

/// `task=N` with the number that the recorder chose.
fn task_of(stdout: &str) -> String {
    let line = stdout.lines().find(|line| line.starts_with("work.end")).unwrap();
    line.split_whitespace().last().unwrap().to_owned()
}

/// A line of `tumit dump` from its event on, with single blanks.
fn after_thread(line: &str) -> String {
    let rest: Vec<&str> = line.split_whitespace().skip(4).collect();
    rest.join(" ")
}

#[test]
fn a_grown_spec_reads_old_runs_in_rust() {
    let folder = folder();
    headers(folder.path(), "generated_readers/version_1.tumit");
    let program = compile(folder.path(), C99, &file("generated_readers/version_1_writer.c"), &[]);
    let run = OpenRun::open(record(&program, folder.path(), "run.tmt", &[])).unwrap();
    let mut reader = RecordReader::<grow::Trace>::new(&run, 0).unwrap();
    let copied = folder.path().join("copy.tmt");
    let mut writer = RecordWriter::copy(&run.processes[0], &copied).unwrap();
    let (mut records, mut unknown, mut violet) = (Vec::new(), 0, false);
    while let Some(mut recorded) = reader.next().unwrap() {
        match &mut recorded.record {
            grow::Record::A(a) => {
                assert_eq!(a.missing, ["more", "many"]);
                assert_eq!((a.more, a.many[1].known_value()), (Text(b""), None));
                records.push((a.n, a.tint.known_value(), a.name.to_string(), a.few.to_vec()));
                violet |= a.tint == Choice::Unknown { number: 2, name: Some("violet") };
                a.n += 1;
            }
            grow::Record::Unknown(raw) => {
                unknown += 1;
                assert_eq!(raw.to_string(), "old  x=1");
            }
            _ => {}
        }
        let too_large = matches!(&recorded.record, grow::Record::A(a) if a.n > 0xFFFF);
        assert_eq!(writer.write(&recorded).is_err(), too_large, "65536 does not fit the old file's `n: u16`");
    }
    assert!(violet, "a value that the new enum does not have keeps its name and number");
    assert_eq!(
        records,
        [
            (7, Some(grow::Tint::Green), "first".to_owned(), vec![-1, 100]),
            (8, Some(grow::Tint::Red), "second".to_owned(), vec![-1]),
            (65535, None, String::new(), vec![]),
        ]
    );
    assert_eq!(unknown, 1);
    let head = Head { ticks: u64::MAX / 4, ..Head::default() };
    writer.write(&TypedRecord::new(head, grow::Record::from(grow::Fresh::default()))).unwrap();
    writer.finish().unwrap();
    let text: Vec<String> = dump(&copied).lines().map(after_thread).collect();
    assert_eq!(text.len(), 6);
    assert!(text[0].starts_with("a n=8 tint=\"green\" gone=9 name=\"first\""), "{text:?}");
    assert_eq!(text[5], "fresh");
}

#[test]
fn a_run_written_without_a_recorder_is_valid() {
    let folder = folder();
    headers(folder.path(), "cases/types/spec.tumit");
    let writer =
        compile(folder.path(), C99, &file("generated_readers/record_writer.c"), &["-fsanitize=address,undefined"]);
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &["-fsanitize=address,undefined"]);
    let run = folder.path().join("written.tmt");
    std::fs::create_dir(&run).unwrap();
    succeed(Command::new(&writer).arg(run.join("one.tmt")));
    let dumped = dump(&run);
    let lines: Vec<String> = dumped.lines().map(after_thread).collect();
    assert_eq!(
        lines,
        [
            r#"texts name="north" what="héllo \"\u{301}\" �\n" data="""#,
            r#"counted a=[] b=[-9223372036854775808, -1] c=["blue", "red"] d=["north", "south"]"#,
            "placed n=7 (there.c:12)",
        ]
    );
    same_lines(&succeed(Command::new(&tool).arg("lines").arg(&run)), &dumped, "C");
    succeed(tumit().arg("info").arg(&run));
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(folder.path().join("written.paje")));
}

/// Writes a file with these records, and reads it again.
fn round_trip(records: Vec<types::Record<'_>>) {
    let folder = folder();
    let origin = types_origin();
    let mut writer = RecordWriter::copy(&origin.processes[0], folder.path()).unwrap();
    let mut expected = Vec::new();
    for (ticks, record) in (1_000_000..).zip(records) {
        let head = Head { ticks, source: Some(SiteRef { file: "x.c", line: 3 }), ..Head::default() };
        let recorded = TypedRecord::new(head, record);
        writer.write(&recorded).unwrap();
        expected.push(recorded);
    }
    writer.finish().unwrap();
    let run = OpenRun::open(folder.path()).unwrap();
    let mut reader = RecordReader::<types::Trace>::new(&run, 0).unwrap();
    let mut read = 0;
    while let Some(recorded) = reader.next().unwrap() {
        assert_eq!(recorded.record, expected[read].record);
        assert_eq!(recorded.head.ticks, expected[read].head.ticks);
        read += 1;
    }
    assert_eq!(read, expected.len());
}

/// A run without records: the origin of the records that are written.
fn types_origin() -> OpenRun {
    let folder = folder();
    let path = folder.path().join("empty.tmt");
    let mut file = tracer_format::write::FileWriter::new(Vec::new()).unwrap();
    file.block(BlockKind::Process, tracer_format::PROCESS_STREAM, 1, &[]).unwrap();
    std::fs::write(&path, file.finish(Some(0)).unwrap()).unwrap();
    OpenRun::open(&path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_records_are_read(
        integers in any::<(u8, u16, u32, u64, i8, i16, i32, i64)>(),
        single in any::<f32>().prop_filter("equal to itself", |x| !x.is_nan()),
        double in any::<f64>().prop_filter("equal to itself", |x| !x.is_nan()),
        text in any::<String>(),
        name in any::<String>(),
        data in prop::collection::vec(any::<u8>(), 0..300),
        shorts in prop::collection::vec(any::<u16>(), 0..20),
        address in any::<u64>(),
        yes in any::<bool>(),
    ) {
        let (a, b, c, d, e, f, g, h) = integers;
        let blue = Choice::Known(types::Color::Blue);
        let names = [Name::Known(&name), Name::Known("")];
        let colors = [blue, Choice::Known(types::Color::Red)];
        let longs = [h, i64::from(g)];
        round_trip(vec![
            types::Numbers { a, b, c, d, e, f, g, h, ..Default::default() }.into(),
            types::Floats { a: single, b: double, ..Default::default() }.into(),
            types::Others { yes, where_: Address(address), tint: blue, ..Default::default() }.into(),
            types::Texts { name: Name::Known(&name), what: Text::from(&*text), data: &data, ..Default::default() }.into(),
            types::Fixed { a: [a; 3], b: [double; 2], c: colors, d: [yes; 2], ..Default::default() }.into(),
            types::Counted {
                a: Array::from(&shorts[..]), b: Array::from(&longs[..]), c: Array::from(&colors[..]),
                d: Array::from(&names[..]), ..Default::default()
            }.into(),
            types::Bare::default().into(),
            types::Placed { n: c, ..Default::default() }.into(),
            types::StepBegin { n: c, ..Default::default() }.into(),
            types::StepEnd::default().into(),
        ]);
    }
}

#[test]
fn a_date_field_is_read_with_its_corrected_time() {
    let folder = folder();
    let run = types_run(folder.path(), "drive.c");
    let run = OpenRun::open(&run).unwrap();
    let mut reader = RecordReader::<types::Trace>::new(&run, 0).unwrap();
    let mut dates = 0;
    while let Some(recorded) = reader.next().unwrap() {
        if let types::Record::Dated(dated) = &recorded.record {
            let Date { ticks, nanos } = dated.since;
            assert!(ticks <= recorded.head.ticks && nanos.unwrap() <= recorded.head.nanos);
            dates += 1;
        }
    }
    assert_eq!(dates, 1);
}

#[test]
fn the_example_readers_filter_the_long_messages() {
    let folder = folder();
    let examples = workspace().join("examples");
    headers(folder.path(), "../examples/taktuk/taktuk.tumit");
    let taktuk = CCompiler { command: "gcc", flags: &["-std=gnu99"] };
    let program = compile(folder.path(), taktuk, &examples.join("taktuk/taktuk.c"), &[]);
    let run = record(&program, folder.path(), "run.tmt", &[]);
    let filter = compile(folder.path(), C99, &examples.join("filter-c/filter.c"), &[]);
    let bytes = |run: &Path| -> Vec<u64> {
        let dumped = dump(run);
        let sizes = dumped.lines().filter_map(|line| line.split(" bytes=").nth(1));
        sizes.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let mut sizes = bytes(&run);
    sizes.sort_unstable();
    let min_size = sizes[sizes.len() / 2];
    let (c, rust) = (folder.path().join("c.tmt"), folder.path().join("rust.tmt"));
    let stdout = succeed(Command::new(&filter).arg(&run).arg(&c).arg(min_size.to_string()));
    succeed(filter_rust().arg(&run).arg(&rust).arg(min_size.to_string()));
    let short = sizes.iter().filter(|size| **size < min_size).count();
    assert_eq!(stdout.lines().count(), short);
    let lines = dump(&run).lines().count();
    assert_eq!(dump(&c).lines().count(), lines - short);
    same_lines(&dump(&c), &dump(&rust), "C and Rust");
    assert!(bytes(&c).iter().all(|size| *size >= min_size));
}

/// A schema in the first version of its structure.
fn first_version() -> Vec<u8> {
    fn number(out: &mut Vec<u8>, value: u32) {
        out.extend_from_slice(&value.to_le_bytes());
    }
    fn length(out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes());
    }
    fn text(out: &mut Vec<u8>, value: &str) {
        length(out, value.len() as u64);
        out.extend_from_slice(value.as_bytes());
    }
    let mut out = Vec::new();
    number(&mut out, 1);
    text(&mut out, "types");
    length(&mut out, 1);
    text(&mut out, "ALL");
    out.push(1);
    length(&mut out, 1);
    text(&mut out, "color");
    length(&mut out, 3);
    ["violet", "green", "red"].iter().for_each(|value| text(&mut out, value));
    length(&mut out, 1);
    text(&mut out, "others");
    [0, 0].iter().for_each(|value| number(&mut out, *value));
    out.push(0);
    length(&mut out, 1);
    text(&mut out, "tint");
    [0, 13, 0].iter().for_each(|value| number(&mut out, *value));
    out.push(0);
    length(&mut out, 0);
    out
}

#[test]
fn a_schema_of_the_first_version_is_read() {
    let folder = folder();
    headers(folder.path(), "cases/types/spec.tumit");
    let path = folder.path().join("old.tmt");
    let mut out = tracer_format::write::FileWriter::new(Vec::new()).unwrap();
    out.block(BlockKind::Process, tracer_format::PROCESS_STREAM, 1, &[]).unwrap();
    out.schema(1, 1, &first_version()).unwrap();
    for tint in 0..3 {
        out.record(0, 1, 5, &[tint]).unwrap();
    }
    std::fs::write(&path, out.finish(Some(0)).unwrap()).unwrap();
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &["-fsanitize=address,undefined"]);
    let expected = ["others  tint=\"violet\"", "others  tint=\"green\"", "others  tint=\"red\""];
    assert_eq!(succeed(Command::new(&tool).arg("records").arg(&path)).lines().collect::<Vec<_>>(), expected);
    assert_eq!(rust_lines(&path), expected);
}
