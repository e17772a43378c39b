//! Shared code of the fuzz targets: conversion of their bytes to files. Mutated bytes almost never
//! have a correct checksum, and a live file is mostly empty. Without the conversion, a fuzzer would
//! not get beyond the first checks.

#![cfg(feature = "runs")]

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use tracer_format::block::find_block;
use tracer_format::live_file::{LIVE_HEAD_BYTES, LiveLayout, SLOT_HEAD_BYTES, head};
use tracer_format::{BlockHeader, HEADER_BYTES};
use tumit_converter::convert::{ConvertError, ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_converter::tools::dump::{DumpValue, RecordSelection, list_selected};
use tumit_converter::tools::info;
use tumit_paje::write::PajeWriter;

/// Size in bytes of a slot in the live files of [`live_file`]: the minimum.
const SLOT_BYTES: usize = 4096;
/// Size in bytes of their name log.
const LOG_BYTES: usize = 8192;

/// Sets the correct checksum of every block with possible sizes.
#[must_use]
pub fn with_valid_checksums(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let mut from = 0;
    while let Some(position) = find_block(&bytes, from) {
        from = position + 1;
        let Ok(header) = BlockHeader::decode(&bytes[position..]) else { continue };
        let end = position + HEADER_BYTES + header.stored_bytes as usize;
        let Some(stored_bytes) = bytes.get(position + HEADER_BYTES..end) else { continue };
        let encoded = header.encode(stored_bytes);
        bytes[position..position + HEADER_BYTES].copy_from_slice(&encoded);
        from = end;
    }
    bytes
}

/// A live file from few bytes: `process id (16), length of the log u16, log, { length u16, head of
/// a slot and payload }`. Short parts are filled with zeros, long ones are cut.
#[must_use]
pub fn live_file(data: &[u8]) -> Vec<u8> {
    let mut rest = data;
    let id = take(&mut rest, 16);
    let mut process_id = [0; 16];
    process_id[..id.len()].copy_from_slice(id);
    let log = piece(&mut rest, LOG_BYTES);
    let mut slots = Vec::new();
    while !rest.is_empty() && slots.len() < 8 {
        slots.push(piece(&mut rest, SLOT_BYTES));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a few")]
    let layout = LiveLayout {
        process_id,
        slot_bytes: SLOT_BYTES as u32,
        slots: slots.len() as u32,
        log_bytes: LOG_BYTES as u32,
    };
    let mut bytes = vec![0; LIVE_HEAD_BYTES + LOG_BYTES + slots.len() * SLOT_BYTES];
    put(&mut bytes, 0, &layout.encode());
    put(&mut bytes, head::LOG_USED, &(log.len() as u64).to_le_bytes());
    put(&mut bytes, LIVE_HEAD_BYTES, log);
    for (number, slot) in slots.into_iter().enumerate() {
        put(&mut bytes, LIVE_HEAD_BYTES + LOG_BYTES + number * SLOT_BYTES, slot);
    }
    bytes
}

/// The inverse: the input from which [`live_file`] makes such a file. The empty rest of a slot is
/// left out.
#[must_use]
pub fn few_bytes(live: &[u8]) -> Vec<u8> {
    let word = |offset: usize| u32::from_le_bytes([live[offset], live[offset + 1], live[offset + 2], live[offset + 3]]) as usize;
    let mut bytes = live[head::PROCESS_ID..head::PROCESS_ID + 16].to_vec();
    let mut append = |piece: &[u8]| {
        bytes.extend(u16::try_from(piece.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend_from_slice(piece);
    };
    append(&live[LIVE_HEAD_BYTES..][..word(head::LOG_USED)]);
    for number in 0..word(head::SLOTS) {
        let position = word(head::SLOTS_OFFSET) + number * word(head::SLOT_BYTES);
        append(&live[position..position + SLOT_HEAD_BYTES + word(position)]);
    }
    bytes
}

/// Splits `length u32, bytes` into the bytes and the rest.
#[must_use]
pub fn split(data: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = data;
    let length = take(&mut rest, 4).iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let first = take(&mut rest, length);
    (first, rest)
}

fn piece<'d>(rest: &mut &'d [u8], most: usize) -> &'d [u8] {
    let length = take(rest, 2).iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    take(rest, length.min(most))
}

fn take<'d>(rest: &mut &'d [u8], most: usize) -> &'d [u8] {
    let (piece, remaining_bytes) = rest.split_at(most.min(rest.len()));
    *rest = remaining_bytes;
    piece
}

fn put(bytes: &mut [u8], offset: usize, data: &[u8]) {
    bytes[offset..offset + data.len()].copy_from_slice(data);
}

/// Reads all of a run with all functions of the reader. Returns `None` if the run cannot be opened.
pub fn read_all(path: &Path) -> Option<OpenRun> {
    let run = OpenRun::open(path).ok()?;
    let options = ConvertOptions::default();
    let mut listed = 0u64;
    let mut output = io::sink();
    let _ = list_selected::<ConvertError>(&run, &options, &RecordSelection::default(), |record| {
        listed += 1;
        for (name, value) in record.fields {
            let _ = match value {
                DumpValue::Text(text) => write!(output, "{name}={text}"),
                value => write!(output, "{name}={value}"),
            };
        }
        // A damaged array can make a record of very many numbers, so the number of records is
        // limited.
        Ok(if listed < 20_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    for loss in run.losses() {
        let _ = write!(output, "{loss}");
    }
    let _ = info::count(&run, &options);
    let _ = convert(&run, &options, &mut PajeWriter::new(io::sink()));
    Some(run)
}
