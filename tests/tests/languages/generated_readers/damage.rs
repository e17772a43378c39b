//! Damaged files: the reading header and Rust accept the same parts of them, and do not crash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::lang::c::{C99, folder, record};
use tests::programs::{output, succeed, tumit};
use tracer_format::block::{BlockHeader, append_block, decode_block};
use tracer_format::{BlockKind, PREAMBLE_BYTES};
use tumit_converter::run::OpenRun;
use tumit_converter::tools::records::{ReadOrder, RecordReader};

use super::{compile, file, rust_copy, rust_lines, same_lines, types, types_run};

/// Records of a stream without a known process count as damage.
pub(crate) fn of_a_stream_that_is_nobodys(sorted: &Path, tool: &Path) {
    let sorted = sorted.join("sorted.tmt");
    let line_count = rust_lines(&sorted).len();
    let bytes = std::fs::read(&sorted).unwrap();
    let mut blocks = Vec::new();
    let mut position = PREAMBLE_BYTES;
    while position < bytes.len() {
        let header = decode_block(&bytes[position..]).unwrap().header;
        blocks.push((header, &bytes[position..position + header.block_bytes()]));
        position += header.block_bytes();
    }
    // Removes the naming of the process from the first stream with records.
    let is_records = |header: &BlockHeader| header.kind == BlockKind::Records as u8;
    let orphan = blocks.iter().find(|(header, _)| is_records(header)).unwrap().0.stream;
    let of_orphan = blocks.iter().filter(|(header, _)| header.stream == orphan && is_records(header));
    let hidden: usize = of_orphan.map(|(header, _)| header.block_bytes()).sum();
    let mut out = bytes[..PREAMBLE_BYTES].to_vec();
    for (header, block) in blocks {
        if header.stream != orphan || is_records(&header) {
            out.extend_from_slice(block);
        }
    }
    std::fs::write(&sorted, &out).unwrap();
    let ran = output(Command::new(tool).arg("records").arg(&sorted));
    let (c, rust) = (String::from_utf8(ran.stdout).unwrap(), rust_lines(&sorted));
    assert!(hidden > 0 && rust.len() < line_count, "{} of {line_count}", rust.len());
    same_lines(&c, &(rust.join("\n") + "\n"), "C and Rust");
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(errors.contains(&format!("{hidden} damaged bytes")), "{hidden}: {errors}");
}

/// Damaged copies of a file: cut, with a flipped bit, and with a wrong payload byte under a right
/// checksum.
fn damaged(bytes: &[u8], folder: &Path) -> Vec<PathBuf> {
    let mut state = 12345u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below.max(1)
    };
    let mut paths = Vec::new();
    for number in 0..240 {
        let mut copy = bytes.to_vec();
        match number % 4 {
            0 => copy.truncate(random(bytes.len())),
            1 => copy[random(bytes.len())] ^= 1 << random(8),
            _ => copy = wrong_payload(bytes, number % 4 == 3, &mut random),
        }
        let path = folder.join(format!("{number}.tmt"));
        std::fs::write(&path, copy).unwrap();
        paths.push(path);
    }
    paths
}

/// Changes one block of the file, in its payload or the numbers of its header, with a new checksum.
fn wrong_payload(bytes: &[u8], header: bool, random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut out = bytes[..PREAMBLE_BYTES].to_vec();
    let (mut blocks, mut position) = (Vec::new(), PREAMBLE_BYTES);
    while position < bytes.len() {
        let block = decode_block(&bytes[position..]).unwrap();
        blocks.push((block.header, block.stored_body.to_vec()));
        position += block.header.block_bytes();
    }
    let victim = random(blocks.len());
    for (number, (mut head, mut payload)) in blocks.into_iter().enumerate() {
        if number == victim && header {
            match random(6) {
                0 => head.raw_bytes = u32::try_from(random(1 << 25)).unwrap(),
                1 => head.codec ^= 1 + u8::try_from(random(3)).unwrap(),
                2 => head.stream = u32::try_from(random(1 << 31)).unwrap(),
                3 => head.stream = u32::MAX - u32::try_from(random(1 << 17)).unwrap(),
                4 => head.first_ticks = u64::MAX - 5,
                _ => head.kind = u8::try_from(random(12)).unwrap(),
            }
        } else if number == victim {
            for _ in 0..=random(3) {
                let position = random(payload.len());
                if let Some(byte) = payload.get_mut(position) {
                    *byte = [0, 1, 0x7F, 0xFE, 0xFF][random(5)];
                }
            }
        }
        append_block(&mut out, &head, &payload);
    }
    out
}

#[test]
fn readers_survive_damaged_files() {
    let folder = folder();
    let run = types_run(folder.path(), "drive.c");
    let path = std::fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&path).unwrap();
    // In an uncompressed copy, schemas and records are plain bytes.
    let plain = folder.path().join("plain.tmt");
    rust_copy(&run, &plain, ReadOrder::Streams);
    let plain = std::fs::read(plain.join(path.file_name().unwrap())).unwrap();
    let tool = compile(
        folder.path(),
        C99,
        &file("generated_readers/tool.c"),
        &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    );
    let another = record(&folder.path().join("drive"), folder.path(), "another.tmt", &[]);
    let sorted = folder.path().join("sorted.tmt");
    succeed(tumit().args(["merge", "--sort", "-o"]).arg(&sorted).args([&run, &another]));
    let sorted = std::fs::read(sorted.join("sorted.tmt")).unwrap();
    let (mut lines_read, mut damaged_records) = (BTreeMap::new(), 0);
    for (name, bytes) in [("packed", &bytes), ("plain", &plain), ("both", &sorted)] {
        let corrupt = folder.path().join(name);
        std::fs::create_dir(&corrupt).unwrap();
        let files = damaged(bytes, &corrupt);
        let mut command = Command::new(&tool);
        let ran = output(command.arg("all").arg(folder.path().join("copies.tmt")).args(&files));
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && errors.is_empty(), "{name}: {}", errors.chars().take(3000).collect::<String>());
        lines_read.insert(name, String::from_utf8_lossy(&ran.stdout).lines().count());
        for file in &files {
            let Ok(run) = OpenRun::open(file) else { continue };
            let mut reader = RecordReader::<types::Trace>::new(&run, 0).unwrap();
            while let Some(recorded) = reader.next().unwrap() {
                let _ = recorded.to_string();
            }
            assert!(reader.damaged_records() == 0 || !reader.damage().is_empty());
            damaged_records += reader.damaged_records();
        }
    }
    assert!(lines_read.values().all(|lines| *lines > 240 * 10), "most records of most files are read: {lines_read:?}");
    assert!(damaged_records > 0, "some blocks with a correct checksum contain invalid records");
}

#[test]
fn damage_is_counted_and_the_rest_is_read() {
    let folder = folder();
    let run = types_run(folder.path(), "threads.c");
    let path = std::fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .max_by_key(|path| std::fs::metadata(path).unwrap().len());
    let path = path.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let (mut position, mut hit) = (PREAMBLE_BYTES, 0);
    while position < bytes.len() {
        let block = decode_block(&bytes[position..]).unwrap();
        let (kind, size, records) = (block.header.kind, block.header.block_bytes(), block.header.records);
        // A block with a small number of records, of a thread that was sealed early, may end before
        // its 80th byte.
        if kind == BlockKind::Records as u8 && hit == 0 && size > 96 {
            hit = usize::try_from(records).unwrap();
            bytes[position + 80] ^= 0x10;
        }
        position += size;
    }
    assert!(hit > 0, "no block is long enough");
    let line_count = rust_lines(&path).len();
    std::fs::write(&path, &bytes).unwrap();
    let tool = compile(folder.path(), C99, &file("generated_readers/tool.c"), &[]);
    let ran = output(Command::new(&tool).arg("records").arg(&path));
    assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().count(), line_count - hit);
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(errors.contains(" damaged bytes") && errors.contains("1 blocks are missing"), "{errors}");
    assert_eq!(rust_lines(&path).len(), line_count - hit);
}
