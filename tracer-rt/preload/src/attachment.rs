//! [`Attachment`]: which programs of a command can be recorded, and why others cannot.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::elf_file::{ElfFile, Linking, contains_mpi, creates_threads, has_instrumented_functions};
use crate::library_search::{LibraryFolders, MpiLibrary, installed_mpi_libraries, parallel_libraries};
use crate::mpi_family::MpiFamily;
use crate::openmp_runtime::{OpenMpRuntime, replacement};
use crate::program_command::ProgramCommand;
use crate::program_file::{ProgramFile, StartObstacle};
use crate::recorder_library::{LIBRARY, library_with, procedures_of};
use crate::recorders::{Recorder, RecorderSet, names};

/// The treatment of the programs of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The recorders.
    pub recorders: RecorderSet,
    /// The programs in order.
    pub programs: Vec<ProgramAttachment>,
    /// A runtime of OpenMP that can replace one without an interface for recorders.
    pub openmp_replacement: Option<PathBuf>,
}

/// The treatment of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramAttachment {
    /// Its name in the command.
    pub name: String,
    /// Why it is recorded or not.
    pub outcome: AttachmentOutcome,
    /// Its runtime of OpenMP, if it needs one.
    pub openmp: Option<OpenMpRuntime>,
    /// Whether the program itself creates threads.
    pub creates_threads: bool,
    /// Whether the program itself was compiled with `-finstrument-functions` or
    /// `-fxray-instrument`.
    pub has_instrumented_functions: bool,
}

/// The facts that decide how programs are recorded.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentContext<'a> {
    /// The recorders that the user wants. `None` stands for those of MPI and OpenMP, that of
    /// threads if a program creates some, and that of functions if a program was compiled for it.
    pub recorders: Option<&'a RecorderSet>,
    /// The value of `PATH`.
    pub search_path: Option<&'a OsStr>,
    /// The folders of libraries.
    pub folders: &'a LibraryFolders,
    /// The earlier value of `LD_PRELOAD`; empty without one.
    pub earlier_preload: &'a str,
}

/// Whether a program can be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentOutcome {
    /// It uses this MPI library.
    Mpi(MpiLibrary),
    /// It needs no MPI library, but may load one. This is the case of interpreters.
    NoMpiYet,
    /// A script, with its interpreter.
    Script(String),
    /// A file without `#!` that is no ELF file. As in `execvp`, a shell runs it.
    OtherFile,
    /// The launcher reports it, or finds it elsewhere.
    NotFound,
    /// No loader starts the program.
    Static {
        /// Whether it runs at any address.
        is_pie: bool,
    },
    /// It contains its MPI library.
    ContainsMpi,
    /// It is for another processor or another size of addresses.
    OtherMachine {
        /// The processor of the program.
        program: String,
        /// The processor of the recorder.
        recorder: String,
    },
    /// Its C library is not that of GNU.
    OtherCLibrary {
        /// The path of its loader.
        loader: String,
    },
    /// It runs with other rights than its caller.
    SetId,
    /// The recorder does not support its MPI library.
    UnsupportedMpi(MpiLibrary),
}

impl AttachmentOutcome {
    /// Whether the program records nothing.
    #[must_use]
    pub fn is_obstacle(&self) -> bool {
        self.prevents_preload() || matches!(self, Self::Static { .. } | Self::ContainsMpi | Self::SetId)
    }

    /// Whether the library disturbs the program: the loader would print an error, or the library
    /// would end the program.
    #[must_use]
    pub fn prevents_preload(&self) -> bool {
        matches!(self, Self::OtherMachine { .. } | Self::OtherCLibrary { .. } | Self::UnsupportedMpi(_))
    }
}

impl Attachment {
    /// Examines the programs of a command.
    #[must_use]
    pub fn new(words: &[OsString], command: &ProgramCommand, context: &AttachmentContext<'_>) -> Self {
        let mut programs: Vec<ProgramAttachment> = Vec::new();
        for &position in &command.programs {
            let name = words[position].to_string_lossy().into_owned();
            if programs.iter().all(|program| program.name != name) {
                let program = ProgramFile::find(&words[position], context.search_path);
                let (outcome, openmp) = match &program {
                    Ok(program) => outcome(program, context),
                    Err(StartObstacle::Missing | StartObstacle::NotExecutable) => (AttachmentOutcome::NotFound, None),
                };
                let openmp = OpenMpRuntime::in_preload(context.earlier_preload).or(openmp);
                let has = |property: fn(&Path) -> bool| program.as_ref().is_ok_and(|program| property(&program.path));
                let creates_threads = has(creates_threads);
                let has_instrumented_functions = has(has_instrumented_functions);
                programs.push(ProgramAttachment { name, outcome, openmp, creates_threads, has_instrumented_functions });
            }
        }
        let recorders = context.recorders.cloned().unwrap_or_else(|| {
            let any = |property: fn(&ProgramAttachment) -> bool| programs.iter().any(property);
            let threads = Some(Recorder::Threads).filter(|_| any(|program| program.creates_threads));
            let functions = Some(Recorder::Functions).filter(|_| any(|program| program.has_instrumented_functions));
            [Recorder::Mpi, Recorder::OpenMp].into_iter().chain(threads).chain(functions).collect()
        });
        let openmp_replacement = replacement(&context.folders.system);
        Self { recorders, programs, openmp_replacement }
    }

    /// A line for each program: its recorders, or the reason why there are none. Further lines name
    /// the recorders that cannot be attached to it, with the remedy.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for program in &self.programs {
            lines.push(program.text(&self.recorders));
            let missing = program.openmp.as_ref().filter(|runtime| !runtime.has_tool_interface);
            if let Some(runtime) = missing.filter(|_| self.recorders.contains(&Recorder::OpenMp)) {
                lines.push(self.without_tool_interface(&program.name, runtime));
            }
            lines.extend(Some(program.without_hooks()).filter(|_| self.misses_hooks(program)));
        }
        lines
    }

    /// Whether the recorder of functions is attached to a program file that does not call it.
    fn misses_hooks(&self, program: &ProgramAttachment) -> bool {
        let is_read = matches!(program.outcome, AttachmentOutcome::Mpi(_) | AttachmentOutcome::NoMpiYet);
        self.recorders.contains(&Recorder::Functions) && is_read && !program.has_instrumented_functions
    }

    /// Reports a runtime that does not call the recorder.
    fn without_tool_interface(&self, program: &str, runtime: &OpenMpRuntime) -> String {
        let name = &runtime.name;
        let remedy = match &self.openmp_replacement {
            Some(path) => format!("to use that of LLVM instead, run: LD_PRELOAD={} tumit record …", path.display()),
            None => "install that of LLVM, `libomp.so.5`, and run: LD_PRELOAD=libomp.so.5 tumit record …".to_owned(),
        };
        format!("openmp cannot be attached to `{program}`: its runtime {name} has no interface for recorders; {remedy}")
    }

    /// Whether `LD_PRELOAD` is set for the command.
    #[must_use]
    pub fn is_preloaded(&self) -> bool {
        !self.programs.iter().any(|program| program.outcome.prevents_preload())
    }

    /// The library for the programs. It exports only the procedures of their MPI libraries, because
    /// programs such as mpi4py test whether a procedure exists. `launcher` is the path of the
    /// launcher.
    #[must_use]
    pub fn library(&self, launcher: Option<&Path>, folders: &LibraryFolders) -> Vec<u8> {
        let of_program = |program: &ProgramAttachment| match &program.outcome {
            AttachmentOutcome::Mpi(library) => library.path.clone(),
            _ => None,
        };
        let mut paths: Vec<PathBuf> = self.programs.iter().filter_map(of_program).collect();
        if paths.is_empty() || paths.len() < self.programs.len() {
            paths.extend(installed_mpi_libraries(launcher, folders));
        }
        let tables = paths.iter().filter_map(|path| procedures_of(&fs::read(path).ok()?));
        let common = tables.filter(|table| !table.is_empty()).reduce(|all, table| &all & &table);
        library_with(&self.recorders, common.as_ref())
    }

    /// Whether no program of the command can be recorded.
    #[must_use]
    pub fn is_useless(&self) -> bool {
        !self.programs.is_empty() && self.programs.iter().all(|program| program.outcome.is_obstacle())
    }
}

/// The treatment of a program, and its runtime of OpenMP.
fn outcome(program: &ProgramFile, context: &AttachmentContext<'_>) -> (AttachmentOutcome, Option<OpenMpRuntime>) {
    let elf = match (&program.interpreter, &program.elf) {
        (Some(interpreter), None) => return (AttachmentOutcome::Script(interpreter.display().to_string()), None),
        (None, None) => return (AttachmentOutcome::OtherFile, None),
        (_, Some(elf)) => elf,
    };
    if let Some(obstacle) = obstacle(program, elf) {
        return (obstacle, None);
    }
    if let Some(interpreter) = &program.interpreter {
        return (AttachmentOutcome::Script(interpreter.display().to_string()), None);
    }
    let libraries = parallel_libraries(&program.path, elf, context.folders);
    // The MPI library is no obstacle for other recorders.
    let records_mpi = context.recorders.is_none_or(|recorders| recorders.contains(&Recorder::Mpi));
    let outcome = match libraries.mpi.filter(|_| records_mpi) {
        Some(library) if library.family == MpiFamily::Unsupported => AttachmentOutcome::UnsupportedMpi(library),
        Some(library) => AttachmentOutcome::Mpi(library),
        None if records_mpi && contains_mpi(&program.path) => AttachmentOutcome::ContainsMpi,
        None => AttachmentOutcome::NoMpiYet,
    };
    (outcome, libraries.openmp)
}

fn obstacle(program: &ProgramFile, elf: &ElfFile) -> Option<AttachmentOutcome> {
    let recorder = ElfFile::parse(LIBRARY)?;
    if (elf.machine, elf.bits) != (recorder.machine, recorder.bits) {
        let (program, recorder) = (elf.machine_name(), recorder.machine_name());
        return Some(AttachmentOutcome::OtherMachine { program, recorder });
    }
    match &elf.linking {
        Linking::Dynamic { loader } if file_name(loader).starts_with("ld-musl") => {
            Some(AttachmentOutcome::OtherCLibrary { loader: loader.clone() })
        }
        Linking::Dynamic { .. } => program.is_set_id.then_some(AttachmentOutcome::SetId),
        // The loader itself, which a command can start with a program as its argument.
        _ if file_name(&program.path.to_string_lossy()).starts_with("ld-linux") => None,
        Linking::Static => Some(AttachmentOutcome::Static { is_pie: false }),
        Linking::StaticPie => Some(AttachmentOutcome::Static { is_pie: true }),
    }
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl ProgramAttachment {
    /// Reports a program that does not call the recorder of functions.
    fn without_hooks(&self) -> String {
        format!(
            "functions of `{}` are not recorded: it was compiled without -finstrument-functions and -fxray-instrument; add the first option of gcc, clang or gfortran, or the second one of clang (libraries that were compiled with one of them are recorded)",
            self.name
        )
    }

    /// The recorders of the program with the libraries that they record, or the reason why there
    /// are none.
    fn text(&self, recorders: &RecorderSet) -> String {
        let name = &self.name;
        let mut attached = recorders.clone();
        if self.openmp.as_ref().is_some_and(|runtime| !runtime.has_tool_interface) {
            attached.remove(&Recorder::OpenMp);
        }
        match &self.outcome {
            AttachmentOutcome::Mpi(_) | AttachmentOutcome::NoMpiYet => self.text_of_binary(&attached),
            AttachmentOutcome::Script(interpreter) => {
                let recorders = names(&attached);
                format!(
                    "{recorders} attached to the script `{name}` ({interpreter}) and to the programs that it starts"
                )
            }
            AttachmentOutcome::OtherFile => {
                let recorders = names(&attached);
                format!("{recorders} attached to `{name}`, which a shell runs, and to the programs that it starts")
            }
            AttachmentOutcome::NotFound => {
                format!("{} attached to `{name}`, which is not found on this machine", names(&attached))
            }
            obstacle => format!("`{name}` cannot be recorded: {obstacle}"),
        }
    }

    /// The recorders of a program that can be recorded, with its libraries. A program without one,
    /// such as an interpreter, may still load it.
    fn text_of_binary(&self, recorders: &RecorderSet) -> String {
        let mut attached = recorders.clone();
        let runtime = self.openmp.as_ref().filter(|_| attached.contains(&Recorder::OpenMp));
        let mpi = match &self.outcome {
            AttachmentOutcome::Mpi(library) => Some(format!("{}, {}", library.family, library.name)),
            _ => None,
        };
        let mut missing = Vec::new();
        if mpi.is_none() {
            let needs = |recorder, has_library: bool| attached.contains(&recorder) && !has_library;
            missing.extend(Some("no MPI library").filter(|_| needs(Recorder::Mpi, false)));
            missing.extend(Some("no OpenMP runtime").filter(|_| needs(Recorder::OpenMp, runtime.is_some())));
        } else if runtime.is_none() {
            attached.remove(&Recorder::OpenMp);
        }
        let libraries: Vec<String> = mpi.into_iter().chain(runtime.map(|runtime| runtime.name.clone())).collect();
        let libraries = if libraries.is_empty() { String::new() } else { format!(" ({})", libraries.join("; ")) };
        let later = if missing.is_empty() {
            String::new()
        } else {
            format!(", which needs {}, but may load one or start other programs", missing.join(" and "))
        };
        format!("{} attached to `{}`{libraries}{later}", names(&attached), self.name)
    }
}

impl fmt::Display for AttachmentOutcome {
    /// The reason why a program cannot be recorded, with the remedy; empty if it can be recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static { is_pie } => write!(
                f,
                "it is statically linked{}, so that no loader loads the recorder; link it without -static",
                if *is_pie { " (static-pie)" } else { "" }
            ),
            Self::ContainsMpi => f.write_str(
                "it contains its MPI library, so that its calls cannot be replaced; link the shared library of MPI",
            ),
            Self::OtherMachine { program, recorder } => write!(
                f,
                "it is a program for {program}, and this recorder is for {recorder}; use a `tumit` that was built for {program}"
            ),
            Self::OtherCLibrary { loader } => write!(
                f,
                "its loader is {loader}, and the recorder needs the C library of GNU; link it with that library"
            ),
            Self::SetId => f.write_str(
                "it runs with other rights (set-user-id or set-group-id), so that the loader ignores LD_PRELOAD; use a copy without these bits",
            ),
            Self::UnsupportedMpi(library) => write!(
                f,
                "it needs {}, and the recorder supports Open MPI 4 and 5, MPICH 3.1 to 5 and its relatives, and the standard interface of MPI 5",
                library.name
            ),
            Self::Mpi(_) | Self::NoMpiYet | Self::Script(_) | Self::OtherFile | Self::NotFound => Ok(()),
        }
    }
}
