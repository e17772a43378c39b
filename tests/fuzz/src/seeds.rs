//! Initial inputs for fuzzing: `seeds CORPUS` writes small schemas, runs, live files and Pajé texts
//! into `CORPUS/TARGET/`.

use std::fs;
use std::path::Path;

use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
// The program is built with coverage like the targets, and needs the library that counts it.
use libfuzzer_sys as _;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, PayloadCodec, Schema, cause};
use tumit_test_support::synthetic_live_file::{SyntheticLiveFile, SyntheticSlot};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, process_id};

/// A spec with all features.
const SPEC: &str = r#"
trace all;
enum color { red, green = 300, blue }
level L {
    event numbers { a: u8, b: i16, c: f32, d: f64, yes: bool }
    event texts located { name: interned, what: string, data: bytes, place: pointer }
    event arrays { fixed: [u16; 2], counted: [color], dates: [date] }
    event begin { thread: u32, what: string }
    event end { thread: u32, since: date }
    event send { key: u64 }
    event receive { key: u64 }
    span step { n: u32 }
}
paje {
    container program "Program" {
        container thread[thread: u32] "Thread {thread}" { state doing "Doing" variable load "Load" }
        link message "Message" from program to program
    }
}
rule begin -> push doing = what on thread[thread] -> set load = thread on thread[thread];
rule end -> pop doing on thread[thread] -> push doing = "ended" on thread[thread] at since;
rule send -> start message key (key) from program;
rule receive -> end message key (key) to program;
"#;

fn main() {
    let corpus = std::env::args().nth(1).expect("usage: seeds CORPUS");
    let corpus = Path::new(&corpus);
    for target in ["schema", "run", "live_file", "paje"] {
        fs::create_dir_all(corpus.join(target)).expect("a writable folder");
    }
    let write_seed = |target: &str, name: &str, bytes: &[u8]| {
        fs::write(corpus.join(target).join(name), bytes).expect("a writable folder");
    };
    let spec = tumit::compile_text("all.tumit", SPEC).0.expect("a spec without mistakes");
    let full_schema = spec.schema();
    let mut name_only_schema = full_schema.clone();
    name_only_schema.sources.clear();
    write_seed("schema", "whole", &full_schema.encode());
    write_seed("schema", "bare", &name_only_schema.encode());
    for (name, text) in [("empty", "trace a;"), ("one", "trace a version 3; level L off { event e located {} }")] {
        if let Some(spec) = tumit::compile_text("a.tumit", text).0 {
            write_seed("schema", name, &spec.schema().encode());
        }
    }
    let runs = [
        ("raw", &full_schema, PayloadCodec::Raw),
        ("bare", &name_only_schema, PayloadCodec::Raw),
        ("packed", &full_schema, PayloadCodec::Lz4),
        ("columns", &name_only_schema, PayloadCodec::Columns),
    ];
    for (name, schema, codec) in runs {
        write_seed("run", name, &run(schema, codec, true));
    }
    for (name, in_file) in [("beside", true), ("alone", false)] {
        let file = if in_file { run(&name_only_schema, PayloadCodec::Raw, false) } else { Vec::new() };
        let mut bytes = u32::try_from(file.len()).expect("it is small").to_le_bytes().to_vec();
        bytes.extend(file);
        bytes.extend(fuzz::few_bytes(&live_file(&name_only_schema, in_file).bytes));
        write_seed("live_file", name, &bytes);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, schema) in [("rules", &full_schema), ("default", &name_only_schema)] {
        let path = folder.path().join(format!("{name}.tmt"));
        fs::write(&path, run(schema, PayloadCodec::Raw, true)).expect("a writable folder");
        let opened = OpenRun::open(&path).expect("a good run");
        let mut writer = PajeWriter::new(Vec::new());
        convert(&opened, &ConvertOptions::default(), &mut writer).expect("it can be converted");
        write_seed("paje", name, &writer.into_inner());
    }
}

/// Records of every type, from a timestamp on.
fn records(from: u64) -> SyntheticRecords {
    let text = |text: &[u8]| [&u16::try_from(text.len()).expect("short").to_le_bytes()[..], text].concat();
    let mut records = SyntheticRecords::default();
    let numbers = [&[7][..], &(-2i16).to_le_bytes(), &0.5f32.to_le_bytes(), &1e300f64.to_le_bytes(), &[1]].concat();
    let words =
        [&1u32.to_le_bytes()[..], &1u32.to_le_bytes(), &text(b"what"), &text(&[0, 255]), &4096u64.to_le_bytes()]
            .concat();
    let arrays = [&[1, 0, 2, 0][..], &[2, 0, 0, 0, 44, 1], &[1, 0], &from.to_le_bytes()].concat();
    let begin = [&3u32.to_le_bytes()[..], &text(b"go")].concat();
    let end = [&3u32.to_le_bytes()[..], &(from + 50).to_le_bytes()].concat();
    let bodies = [&numbers[..], &words, &arrays, &begin, &end, &from.to_le_bytes(), &from.to_le_bytes()];
    for (number, body) in bodies.into_iter().enumerate() {
        records.record(u16::try_from(number).expect("a few"), from + 10 * number as u64, body);
    }
    records.record(7, from + 90, &7u32.to_le_bytes());
    // A record with a wide timestamp comes before it.
    records.record(8, from + (1 << 33), &[]);
    records
}

fn run(schema: &Schema, codec: PayloadCodec, ended: bool) -> Vec<u8> {
    let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), schema);
    file.codec = codec;
    file.thread(0, 2, "main");
    file.thread(1, 3, "");
    file.string("a name");
    let mut site = Vec::new();
    tracer_format::entries::append_site(&mut site, 1, 12, b"main.c");
    file.process_block(tracer_format::BlockKind::Sites, 1, &site);
    file.records(0, 0, &records(1000));
    let mut after = SyntheticRecords::default();
    let dropped =
        DroppedRecords { count: 9, bytes: 300, first_ticks: 1 << 34, last_ticks: 1 << 35, cause: cause::NO_BUFFER };
    after.record(ID_DROPPED - 1, 1 << 36, &dropped.encode());
    after.count = 0;
    after.record(5, (1 << 36) + 5, &1u64.to_le_bytes());
    file.records(0, 1, &after);
    file.records(1, 0, &records(1 << 20));
    if codec == PayloadCodec::Columns {
        // Enough records that columns are smaller than records.
        let mut many = SyntheticRecords::default();
        for n in 0..40u64 {
            let begin = [&3u32.to_le_bytes()[..], &2u16.to_le_bytes(), b"go"].concat();
            many.record(3, (1 << 40) + 10 * n, &begin);
            many.record(5, (1 << 40) + 10 * n + n % 3, &(n * n).to_le_bytes());
        }
        file.records(1, 1, &many);
    }
    if ended {
        file.end();
    }
    file.bytes
}

/// The live file of that run: three slots. The process file contains a part of one of them.
fn live_file(schema: &Schema, in_file: bool) -> SyntheticLiveFile {
    let mut live = SyntheticLiveFile::new(process_id(100), 3);
    let id = process_id(100);
    let mut tags = Vec::new();
    tracer_format::tags::append_tag(&mut tags, tracer_format::tags::tag::PROCESS_ID, &id);
    live.entry(tracer_format::BlockKind::Process, u32::MAX, &tags);
    live.schema(schema);
    live.thread(2, 9, "late");
    live.string(1, "a name");
    let records = records(1 << 40);
    let flushed = (u32::try_from(6 + 16).expect("small"), 1, 1 << 40);
    live.slot(0, &SyntheticSlot { stream: 2, records: records.clone(), ..SyntheticSlot::default() });
    live.slot(1, &SyntheticSlot { stream: 0, sequence: 2, records: records.clone(), ..SyntheticSlot::default() });
    let flushed = if in_file { flushed } else { (0, 0, 0) };
    live.slot(2, &SyntheticSlot { stream: 1, sequence: u64::from(in_file), records, flushed, dropped: 4 });
    live
}
