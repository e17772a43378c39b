//! Follows a growing Pajé file: reads on from the previous end.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Instant;

use tumit_paje::read::{FaultSummary, PajeReadError, PajeReader, parts_of};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use super::follower::{LOOK_EVERY, TraceFollower};
use crate::input::current_trace::TraceAvailability;
use crate::input::open_options::TraceOpenError;
use crate::input::preview::{PreviewSink, preview_store};
use crate::input::trace::TraceInputFile;
use crate::sim::Simulation;

/// The pause between two images, as a multiple of the time that making one took.
const PAUSE_FACTOR: u32 = 4;
/// Number of lines before the first image, if the file is already long. The next image follows
/// after twice as many lines, and so on.
const FIRST: u64 = 1 << 14;

/// A file with a preliminary end. There, reading [would block](io::ErrorKind::WouldBlock).
struct GrowingFile {
    file: File,
    read: u64,
}

impl Read for GrowingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        if read == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(read) }
    }
}

/// The last image of a file.
#[derive(Default)]
struct ShownPosition {
    /// Number of lines in the last image.
    lines: u64,
    /// The time of the last image, and the time that making it took.
    last: Option<(Instant, std::time::Duration)>,
}

impl ShownPosition {
    /// Whether the pause after the last image is over.
    fn is_rested(&self) -> bool {
        self.last.is_none_or(|(when, took)| when.elapsed() >= took * PAUSE_FACTOR)
    }
}

impl TraceFollower {
    /// Follows Pajé text until it is cancelled. A pipe has an end; its content is final then.
    pub(crate) fn follow_text(&self) -> Result<(), TraceOpenError> {
        while !self.is_cancelled() {
            let io_error = |source| TraceOpenError::Io { path: self.path.clone(), source };
            let file = match File::open(&self.path) {
                Ok(file) => file,
                // The file was removed. Another one may appear.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.report_fate("the file was removed");
                    self.pause(LOOK_EVERY);
                    continue;
                }
                Err(error) => return Err(io_error(error)),
            };
            if !file.metadata().map_err(io_error)?.is_file() {
                return self.read_pipe();
            }
            self.follow_one(file)?;
        }
        Ok(())
    }

    /// Follows a file until it is truncated or replaced.
    fn follow_one(&self, file: File) -> Result<(), TraceOpenError> {
        let about = file.try_clone().map_err(|source| TraceOpenError::Io { path: self.path.clone(), source })?;
        let mut reader = PajeReader::new(GrowingFile { file, read: 0 }).in_unit(self.options.unit);
        let mut simulation = Simulation::new(&TraceInputFile::find_name(&self.path));
        let (mut shown_position, mut next) = (ShownPosition::default(), FIRST);
        while !self.is_cancelled() {
            match reader.next(&mut simulation) {
                Ok(true) if reader.number() < next => {}
                // A growing file never has an end.
                Ok(_) => {
                    next = reader.number() * 2;
                    self.show(&reader, &simulation, &mut shown_position);
                }
                Err(PajeReadError::Input { source, .. }) if source.kind() == io::ErrorKind::WouldBlock => {
                    if self.is_replaced(&about, reader.input().read) {
                        self.report_fate("the file was cut short or replaced");
                        return Ok(());
                    }
                    // Its program may still write to it.
                    if !self.path.exists() {
                        self.report_fate("the file was removed");
                    }
                    if reader.number() > shown_position.lines && shown_position.is_rested() {
                        self.show(&reader, &simulation, &mut shown_position);
                    }
                    self.pause(LOOK_EVERY);
                }
                Err(source) => return Err(TraceOpenError::Read { path: self.path.clone(), source }),
            }
        }
        Ok(())
    }

    /// Shows the part that has been read. Open entities end at the last timestamp.
    fn show(&self, reader: &PajeReader<GrowingFile>, simulation: &Simulation, shown_position: &mut ShownPosition) {
        let begin = Instant::now();
        let mut copy = simulation.clone();
        let is_kept = matches!(self.current_trace.snapshot().availability, TraceAvailability::Interrupted(_));
        copy.report(self.parts_left_out());
        copy.report(reader.faults().filter(|fault| !fault.kind.is_note()).map(FaultSummary::diagnostic));
        let source = preview_store(copy);
        // The previous image stays until another file has content.
        let summary = source.summary();
        if !is_kept || summary.states + summary.events + summary.links + summary.samples > 0 {
            self.current_trace.put(source, TraceAvailability::Growing { running_processes: 0, processes: 0 });
        }
        *shown_position = ShownPosition { lines: reader.number(), last: Some((Instant::now(), begin.elapsed())) };
    }

    /// An error if the file is the root of a split trace, because its other files are not
    /// followed.
    fn parts_left_out(&self) -> Option<TraceDiagnostic> {
        let count = parts_of(&self.path).map_or(0, |parts| parts.len());
        let files = if count == 1 { "the file".to_owned() } else { format!("the {count} files") };
        (count > 0).then(|| {
            let text = format!("`--follow` does not read {files} that this trace names: open it without `--follow`");
            TraceDiagnostic::error(DiagnosticKind::File, text)
        })
    }

    /// Reports the fate of the file, if it has been shown.
    fn report_fate(&self, reason: &str) {
        let now = self.current_trace.snapshot();
        let is_reported = matches!(&now.availability, TraceAvailability::Interrupted(reported) if reported == reason);
        if !is_reported && !matches!(now.availability, TraceAvailability::Awaited(_)) {
            self.current_trace.set_availability(TraceAvailability::Interrupted(reason.to_owned()));
        }
    }

    /// Whether the file at the path is a different one, or is shorter than the part that was read.
    fn is_replaced(&self, file: &File, read: u64) -> bool {
        let Ok(file) = file.metadata() else { return true };
        // A removed file may still be written. A file that replaces it is read instead.
        let is_other = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino()) != (file.dev(), file.ino());
        file.len() < read || std::fs::metadata(&self.path).is_ok_and(is_other)
    }

    /// Shows a PICL or Alog trace from a pipe, at its end. A growing file is an error.
    pub(crate) fn follow_picl(&self, input: TraceInputFile) -> Result<(), TraceOpenError> {
        if let TraceInputFile::Picl(path, _, format) = &input
            && path.is_file()
        {
            return Err(TraceOpenError::NotFollowed { path: path.clone(), format: format.name() });
        }
        self.show_whole(input)
    }

    /// Shows the content of a pipe.
    fn read_pipe(&self) -> Result<(), TraceOpenError> {
        self.show_whole(TraceInputFile::find(&self.path, &self.options)?)
    }

    /// Shows an input that ends.
    fn show_whole(&self, input: TraceInputFile) -> Result<(), TraceOpenError> {
        let name = TraceInputFile::find_name(&self.path);
        self.current_trace.set_availability(TraceAvailability::Growing { running_processes: 0, processes: 0 });
        let mut simulation = Simulation::new(&name);
        let outcome = input.feed(&self.options, &mut PreviewSink::new(&mut simulation, &name, &self.current_trace))?;
        simulation.report(outcome.diagnostics.into_iter().filter(TraceDiagnostic::is_error));
        self.current_trace.put(Arc::new(simulation.into_store()), TraceAvailability::Final);
        Ok(())
    }
}
