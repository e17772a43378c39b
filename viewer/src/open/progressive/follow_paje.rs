//! A growing Pajé file: read on from where it ended.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Instant;

use tumit_paje::read::{ReadError, Reader, parts_of};

use super::{Follower, LOOK_EVERY, Standing};
use crate::input::options::OpenError;
use crate::input::preview::{Preview, shown};
use crate::input::trace::Input;
use crate::sim::Simulation;

/// For so many times as long as a picture took to make, none is made.
const REST: u32 = 4;
/// Lines of a file that is long before it is followed after which there is a first picture; then after twice as many, and so on.
const FIRST: u64 = 1 << 14;

/// A file whose end is not the end: there, reading [would block](io::ErrorKind::WouldBlock).
struct Tail {
    file: File,
    read: u64,
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        if read == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(read) }
    }
}

/// What has been shown of a file.
#[derive(Default)]
struct Shown {
    /// Lines that the last picture had.
    lines: u64,
    /// When it was there, and what it took to make.
    last: Option<(Instant, std::time::Duration)>,
}

impl Shown {
    /// Whether the last picture was so long ago that another may be made.
    fn is_rested(&self) -> bool {
        self.last.is_none_or(|(when, took)| when.elapsed() >= took * REST)
    }
}

impl Follower {
    /// Follows Pajé text until it is cancelled. A pipe has an end: what came out of it is final then.
    pub(crate) fn follow_text(&self) -> Result<(), OpenError> {
        while !self.is_cancelled() {
            let io_error = |source| OpenError::Io { path: self.path.clone(), source };
            let file = match File::open(&self.path) {
                Ok(file) => file,
                // Removed: another may come.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.keep("the file was removed");
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

    /// Follows a file until it is cut short, or another has taken its place.
    fn follow_one(&self, file: File) -> Result<(), OpenError> {
        let about = file.try_clone().map_err(|source| OpenError::Io { path: self.path.clone(), source })?;
        let mut reader = Reader::new(Tail { file, read: 0 }).in_unit(self.options.unit);
        let mut simulation = Simulation::new(&Input::find_name(&self.path));
        let (mut past, mut next) = (Shown::default(), FIRST);
        while !self.is_cancelled() {
            match reader.next(&mut simulation) {
                Ok(true) if reader.number() < next => {}
                // An end of a file that grows does not come.
                Ok(_) => {
                    next = reader.number() * 2;
                    self.show(&reader, &simulation, &mut past);
                }
                Err(ReadError::Input { source, .. }) if source.kind() == io::ErrorKind::WouldBlock => {
                    if self.is_replaced(&about, reader.input().read) {
                        self.keep("the file was cut short or replaced");
                        return Ok(());
                    }
                    // Its program may still write it.
                    if !self.path.exists() {
                        self.keep("the file was removed");
                    }
                    if reader.number() > past.lines && past.is_rested() {
                        self.show(&reader, &simulation, &mut past);
                    }
                    self.pause(LOOK_EVERY);
                }
                Err(source) => return Err(OpenError::Read { path: self.path.clone(), source }),
            }
        }
        Ok(())
    }

    /// Shows what has been read; what is open ends at the last date.
    fn show(&self, reader: &Reader<Tail>, simulation: &Simulation, past: &mut Shown) {
        let begin = Instant::now();
        let mut copy = simulation.clone();
        let is_kept = matches!(self.current.now().standing, Standing::Kept(_));
        copy.fault(self.parts_left_out());
        copy.fault(reader.found().filter(|fault| !fault.kind.is_note()).map(ToString::to_string));
        let source = shown(copy);
        // The beginning of another file is no picture yet.
        let summary = source.summary();
        if !is_kept || summary.states + summary.events + summary.links + summary.samples > 0 {
            self.current.put(source, Standing::Growing { open: 0, processes: 0 });
        }
        *past = Shown { lines: reader.number(), last: Some((Instant::now(), begin.elapsed())) };
    }

    /// A message if the file is the root of a split trace: its other files are not followed.
    fn parts_left_out(&self) -> Option<String> {
        let count = parts_of(&self.path).map_or(0, |parts| parts.len());
        let files = if count == 1 { "the file".to_owned() } else { format!("the {count} files") };
        (count > 0).then(|| {
            format!("`--follow` does not read {files} that this trace is split into: open it without `--follow`")
        })
    }

    /// Tells what became of the file of which there is a picture.
    fn keep(&self, why: &str) {
        let now = self.current.now();
        let is_told = matches!(&now.standing, Standing::Kept(told) if told == why);
        if !is_told && !matches!(now.standing, Standing::Awaited(_)) {
            self.current.stand(Standing::Kept(why.to_owned()));
        }
    }

    /// Whether the file at the path is another one now, or shorter than what was read of it.
    fn is_replaced(&self, mine: &File, read: u64) -> bool {
        let Ok(mine) = mine.metadata() else { return true };
        // One that was removed may still be written; what comes in its place is read.
        let is_other = |there: std::fs::Metadata| (there.dev(), there.ino()) != (mine.dev(), mine.ino());
        mine.len() < read || std::fs::metadata(&self.path).is_ok_and(is_other)
    }

    /// Shows what comes out of a pipe.
    fn read_pipe(&self) -> Result<(), OpenError> {
        let name = Input::find_name(&self.path);
        self.current.stand(Standing::Growing { open: 0, processes: 0 });
        let mut simulation = Simulation::new(&name);
        let input = Input::find(&self.path, &self.options)?;
        let told = input.feed(&self.options, &mut Preview::new(&mut simulation, &name, &self.current))?;
        simulation.fault(told.faults);
        self.current.put(Arc::new(simulation.into_store()), Standing::Final);
        Ok(())
    }
}
