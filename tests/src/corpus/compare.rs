//! The data that must be equal in the runs of all languages, and the listing for inspection.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use tracer_format::checksum::crc32c;
use tracer_format::tags::tag;

use crate::run::{ProcessFile, TextRecord, read};

/// Process tags with values of the machine, the job or the case, not of the process itself.
const SHARED_TAGS: [u16; 8] =
    [tag::HOST, tag::RANK, tag::RANKS, tag::CLOCK_KIND, tag::CLOCK_HZ, tag::CLOCK_DOMAIN, tag::JOB, tag::LAUNCH];

/// A run of one language, prepared for comparison.
#[derive(Clone, Debug)]
pub struct LanguageRun {
    /// Language and dialect.
    pub language: String,
    /// Lines that must be equal. The bytes of a record are at the end of its line.
    pub essence: Vec<String>,
    /// The same for readers: without bytes, and with long streams shortened.
    pub listing: String,
    /// The converter's outputs: the file with the expected text, and the text.
    pub images: Vec<(String, String)>,
}

impl LanguageRun {
    /// Reads a run. A missing folder is a run without processes.
    ///
    /// # Panics
    /// If a file deviates from the format.
    #[must_use]
    pub fn read(language: &str, run: &Path) -> Self {
        let mut files = if run.exists() { read(run) } else { Vec::new() };
        files.sort_by_key(|file| {
            (file.process_integer(tag::RANK), file.process.contains_key(&tag::PARENT_ID), file.path.clone())
        });
        let mut essence = Vec::new();
        let mut listing = String::new();
        for file in &files {
            add(file, &mut essence, &mut listing);
        }
        if files.is_empty() {
            listing.push_str("nothing was recorded\n");
        }
        Self { language: language.to_owned(), essence, listing, images: Vec::new() }
    }

    /// The first line in which two runs differ, from both runs.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let length = self.essence.len().max(other.essence.len());
        let line_of =
            |recorded: &Self, line: usize| recorded.essence.get(line).map_or("(nothing)", String::as_str).to_owned();
        let (line, first, second) = (0..length)
            .map(|line| (line, line_of(self, line), line_of(other, line)))
            .find(|(_, first, second)| first != second)?;
        let same = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        Some(format!(
            "line {line} of {length} differs from byte {same} on\n  {:>14}: {}\n  {:>14}: {}",
            self.language,
            context_of(&first, same),
            other.language,
            context_of(&second, same)
        ))
    }
}

/// The part of a long line around the first difference.
fn context_of(line: &str, position: usize) -> String {
    const BEFORE: usize = 200;
    const SHOWN: usize = 600;
    let start = position.saturating_sub(BEFORE);
    let part = &line.as_bytes()[start.min(line.len())..(start + SHOWN).min(line.len())];
    let (head, tail) = (if start > 0 { "… " } else { "" }, if start + SHOWN < line.len() { " …" } else { "" });
    format!("{head}{}{tail}", String::from_utf8_lossy(part))
}

fn add(file: &ProcessFile, essence: &mut Vec<String>, listing: &mut String) {
    let child = file.process.contains_key(&tag::PARENT_ID);
    let rank = file.process_integer(tag::RANK).map_or_else(String::new, |rank| format!(" of rank {rank}"));
    let ranks = file.process_integer(tag::RANKS).map_or_else(String::new, |ranks| format!(" of {ranks}"));
    let job = file.process.get(&tag::JOB);
    let job = job.map_or_else(String::new, |job| format!(", job {:?}", String::from_utf8_lossy(job)));
    let title = format!("process{rank}{ranks}{job}{}", if child { ", forked" } else { "" });
    listing.push_str(&title);
    listing.push('\n');
    essence.push(title);
    let tags: BTreeSet<u16> = file.process.keys().copied().collect();
    essence.push(format!("tags of the process: {tags:?}"));
    essence.extend(SHARED_TAGS.iter().filter_map(|tag| {
        let bytes = file.process.get(tag).filter(|text| *tag != tag::LAUNCH || !is_random(text))?;
        Some(format!("tag {tag} of the process: {}", String::from_utf8_lossy(bytes).escape_default()))
    }));
    let mut schemas: Vec<_> = file.schemas.iter().map(|(_, schema)| format!("schema {schema:?}")).collect();
    schemas.sort();
    essence.extend(schemas);
    essence.extend(file.strings.iter().map(|(id, text)| format!("string {id} {text:?}")));
    let mut streams: Vec<(String, u32)> =
        file.records.keys().map(|stream| (file.thread_name(*stream), *stream)).collect();
    streams.sort();
    let mut places = BTreeMap::new();
    for (name, stream) in streams {
        let records = &file.records[&stream];
        let title = format!("stream {name:?}: {} records", records.len());
        let lines: Vec<String> = records.iter().map(|record| line(record, &mut places)).collect();
        list(listing, &title, &lines);
        essence.push(title);
        let bytes =
            records.iter().map(|record| record.bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        essence.extend(lines.iter().zip(bytes).map(|(line, bytes)| format!("  {line} | {bytes}")));
    }
    let reported = file
        .dropped_reports
        .iter()
        .fold((0, 0, 0), |sum, report| (sum.0 + report.count, sum.1 + report.bytes, sum.2 | report.cause));
    let (written, dropped) = file.totals();
    let truncated = if file.truncated > 0 { format!(", {} truncated", file.truncated) } else { String::new() };
    let end = format!("{written} records written, {dropped} dropped{truncated}");
    let _ = writeln!(listing, "  {end}");
    essence.push(format!(
        "{end}; reported as dropped: {} records, {} bytes, causes {:#x}",
        reported.0, reported.1, reported.2
    ));
}

/// Whether a launch id is random. Ids of launchers and from the environment are equal in all
/// languages.
fn is_random(launch: &[u8]) -> bool {
    launch.len() == 32 && launch.iter().all(u8::is_ascii_hexdigit)
}

/// A record with the ordinal of its source location, which is equal for equal locations.
fn line(record: &TextRecord, places: &mut BTreeMap<u32, usize>) -> String {
    match &record.place {
        None => record.listed.clone(),
        Some((file, None)) => format!("{} @{file}", record.listed),
        Some((file, Some(id))) => {
            let next = places.len();
            format!("{} @{file}#{}", record.listed, places.entry(*id).or_insert(next))
        }
    }
}

fn append(listing: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(listing, "    {line}");
    }
}

fn list(listing: &mut String, title: &str, lines: &[String]) {
    const SHOWN: usize = 100;
    let _ = writeln!(listing, "  {title}");
    if lines.len() <= SHOWN {
        append(listing, lines);
        return;
    }
    let tail = lines.len() - 5;
    append(listing, &lines[..10]);
    let left_out = lines[10..tail].join("\n");
    let _ = writeln!(listing, "    … {} records, {:08x}", tail - 10, crc32c(0, left_out.as_bytes()));
    append(listing, &lines[tail..]);
}
