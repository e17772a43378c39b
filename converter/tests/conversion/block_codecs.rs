//! The codec of blocks and the number of threads do not change the results. Blocks in columns are
//! read as a whole, and others record by record.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroUsize;

use proptest::prelude::*;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, PayloadCodec, cause};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionCounts;
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace packings;
enum phase { start, compute, end }
level L {
    event enter { thread: u32, function: interned }
    event leave { thread: u32 }
    event turns { thread: u32, to: phase }
    event counts { thread: u32, number: i16 }
    event marks { thread: u32, function: interned, weight: u64 }
    event sends { thread: u32, key: u8, bytes: u32 }
    event receives { thread: u32, key: u8, bytes: u32 }
    event says { thread: u32, words: string }
    event silent { thread: u32 }
    event bare {}
}
paje {
    container program "Program" {
        container thread[thread: u32] "Thread {thread}" {
            state calls "Calls"
            state phase "Phase" { start "Start" #112233, compute "Compute" #223344 }
            state count "Count"
            event mark "Mark"
            variable weight "Weight"
        }
        link message "Message" from thread to thread
    }
}
rule enter -> push calls = function on thread[thread];
rule leave -> pop calls on thread[thread];
rule turns -> set phase = to on thread[thread];
rule counts -> set count = number on thread[thread];
rule marks -> mark mark = function on thread[thread] -> set weight = weight on thread[thread];
rule sends -> start message key (key) from thread[thread] with { bytes };
rule receives -> end message key (key) to thread[thread] with { bytes };
rule says -> mark mark = words on thread[thread];
rule bare -> set count = "bare" on thread[0];
"#;

/// A record: its type, ticks after the record before it, and a number that determines its fields.
type CodecRecord = (u16, u32, u32);

fn record(records: &mut SyntheticRecords, (kind, _, number): CodecRecord, ticks: u64, strings: &[u32]) {
    let thread = (number % 3).to_le_bytes();
    let string = strings[number as usize / 3 % strings.len()].to_le_bytes();
    let key = [(number / 3 % 5) as u8];
    let body = match kind {
        0 => [&thread[..], &string].concat(),
        2 => [&thread[..], &[(number / 3 % 4) as u8]].concat(),
        3 => [&thread[..], &(number as i16 % 7).to_le_bytes()].concat(),
        4 => [&thread[..], &string, &u64::from(number).to_le_bytes()].concat(),
        5 | 6 => [&thread[..], &key, &number.to_le_bytes()].concat(),
        7 => [&thread[..], &1u16.to_le_bytes(), &[b'a' + (number % 20) as u8]].concat(),
        9 => Vec::new(),
        _ => thread.to_vec(),
    };
    records.record(kind, ticks, &body);
}

fn add_dropped(records: &mut SyntheticRecords, ticks: u64) {
    let dropped =
        DroppedRecords { count: 3, bytes: 30, first_ticks: ticks, last_ticks: ticks, cause: cause::NO_BUFFER };
    let first = if records.count == 0 {
        (records.first, records.last) = (ticks, ticks);
        0
    } else {
        ticks - records.last
    };
    records.payload.extend(ID_DROPPED.to_le_bytes());
    records.payload.extend(u32::try_from(first).unwrap().to_le_bytes());
    records.payload.extend(dropped.encode());
    records.count += 1;
    records.last = ticks;
}

fn write_run(folder: &std::path::Path, codec: PayloadCodec, streams: &[Vec<Vec<CodecRecord>>]) {
    let schema = tumit::compile_text("packings.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    let strings: Vec<u32> = ["main", "work", "wait", "start"].into_iter().map(|text| file.string(text)).collect();
    file.codec = codec;
    for (stream, blocks) in (0u32..).zip(streams) {
        file.thread(stream, stream.into(), "worker");
        let mut ticks = 1_000;
        for (sequence, block) in (0..).zip(blocks) {
            let mut records = SyntheticRecords::default();
            for drawn in block {
                // The clock is sometimes set back between blocks.
                ticks = if drawn.1 == 99 && records.count == 0 { ticks - 50 } else { ticks + u64::from(drawn.1) };
                match drawn.0 {
                    10 => add_dropped(&mut records, ticks),
                    _ => record(&mut records, *drawn, ticks, &strings),
                }
            }
            file.records(stream, sequence, &records);
        }
    }
    file.end_with_dropped(0);
    file.save(folder, "a.tmt");
}

fn text(folder: &std::path::Path, threads: Option<usize>) -> (String, ConversionCounts) {
    let mut options = ConvertOptions::default();
    options.threads = threads.and_then(NonZeroUsize::new);
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(&OpenRun::open(folder).unwrap(), &options, &mut writer).unwrap();
    (String::from_utf8(writer.into_inner()).unwrap(), report.counts)
}

fn blocks() -> impl Strategy<Value = Vec<Vec<CodecRecord>>> {
    // Only a few blocks contain texts and losses. The others are read as a whole.
    let plain = (prop_oneof![0..7u16, 8..10u16], 0..100u32, any::<u32>());
    let any = (0..11u16, 0..100u32, any::<u32>());
    let block = prop_oneof![3 => prop::collection::vec(plain, 1..60), 1 => prop::collection::vec(any, 1..20)];
    prop::collection::vec(block, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn codecs_and_threads_do_not_change_the_result(streams in prop::collection::vec(blocks(), 1..5)) {
        let folder = tempfile::tempdir().unwrap();
        let mut outputs = Vec::new();
        for (name, codec) in [("raw", PayloadCodec::Raw), ("lz4", PayloadCodec::Lz4), ("columns", PayloadCodec::Columns)] {
            let run = folder.path().join(name);
            write_run(&run, codec, &streams);
            let threads = if codec == PayloadCodec::Columns { &[Some(1), Some(2), Some(5), None][..] } else { &[Some(1)] };
            outputs.extend(threads.iter().map(|threads| text(&run, *threads)));
        }
        for other in &outputs[1..] {
            prop_assert_eq!(&outputs[0], other);
        }
        let records: usize = streams.iter().flatten().flatten().filter(|(kind, ..)| *kind != 10).count();
        prop_assert_eq!(outputs[0].1.records, records as u64);
    }
}
