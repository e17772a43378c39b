//! [`Attachment`]: which programs of a command can be recorded, and why others cannot.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::elf_file::{ElfFile, Linking, contains_mpi};
use crate::library_search::{LibraryFolders, MpiLibrary, installed_mpi_libraries, mpi_library};
use crate::mpi::{LIBRARY, library_with, procedures_of};
use crate::mpi_family::MpiFamily;
use crate::program_command::ProgramCommand;
use crate::program_file::{ProgramFile, StartObstacle};

/// The treatment of the programs of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The programs in order.
    pub programs: Vec<ProgramAttachment>,
}

/// The treatment of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramAttachment {
    /// Its name in the command.
    pub name: String,
    /// Why it is recorded or not.
    pub outcome: AttachmentOutcome,
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
    /// Examines the programs of a command. `search_path` is the value of `PATH`.
    #[must_use]
    pub fn new(
        words: &[OsString],
        command: &ProgramCommand,
        search_path: Option<&OsStr>,
        folders: &LibraryFolders,
    ) -> Self {
        let mut programs: Vec<ProgramAttachment> = Vec::new();
        for &position in &command.programs {
            let name = words[position].to_string_lossy().into_owned();
            if programs.iter().all(|program| program.name != name) {
                let outcome = match ProgramFile::find(&words[position], search_path) {
                    Ok(program) => outcome(&program, folders),
                    Err(StartObstacle::Missing | StartObstacle::NotExecutable) => AttachmentOutcome::NotFound,
                };
                programs.push(ProgramAttachment { name, outcome });
            }
        }
        Self { programs }
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
        common.map_or_else(|| LIBRARY.to_vec(), |procedures| library_with(&procedures))
    }

    /// Whether no program of the command can be recorded.
    #[must_use]
    pub fn is_useless(&self) -> bool {
        !self.programs.is_empty() && self.programs.iter().all(|program| program.outcome.is_obstacle())
    }
}

fn outcome(program: &ProgramFile, folders: &LibraryFolders) -> AttachmentOutcome {
    let elf = match (&program.interpreter, &program.elf) {
        (Some(interpreter), None) => return AttachmentOutcome::Script(interpreter.display().to_string()),
        (None, None) => return AttachmentOutcome::OtherFile,
        (_, Some(elf)) => elf,
    };
    if let Some(obstacle) = obstacle(program, elf) {
        return obstacle;
    }
    if let Some(interpreter) = &program.interpreter {
        return AttachmentOutcome::Script(interpreter.display().to_string());
    }
    match mpi_library(&program.path, elf, folders) {
        Some(library) if library.family == MpiFamily::Unsupported => AttachmentOutcome::UnsupportedMpi(library),
        Some(library) => AttachmentOutcome::Mpi(library),
        None if contains_mpi(&program.path) => AttachmentOutcome::ContainsMpi,
        None => AttachmentOutcome::NoMpiYet,
    }
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

impl fmt::Display for ProgramAttachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.outcome {
            AttachmentOutcome::Mpi(library) => {
                write!(f, "mpi attached to `{name}` ({}, {})", library.family, library.name)
            }
            AttachmentOutcome::NoMpiYet => {
                write!(
                    f,
                    "mpi attached to `{name}`, which needs no MPI library, but may load one or start other programs"
                )
            }
            AttachmentOutcome::Script(interpreter) => {
                write!(f, "mpi attached to the script `{name}` ({interpreter}) and to the programs that it starts")
            }
            AttachmentOutcome::OtherFile => {
                write!(f, "mpi attached to `{name}`, which a shell runs, and to the programs that it starts")
            }
            AttachmentOutcome::NotFound => write!(f, "mpi attached to `{name}`, which is not found on this machine"),
            AttachmentOutcome::Static { is_pie } => write!(
                f,
                "`{name}` cannot be recorded: it is statically linked{}, so that no loader loads the recorder; link it without -static",
                if *is_pie { " (static-pie)" } else { "" }
            ),
            AttachmentOutcome::ContainsMpi => write!(
                f,
                "`{name}` cannot be recorded: it contains its MPI library, so that its calls cannot be replaced; link the shared library of MPI"
            ),
            AttachmentOutcome::OtherMachine { program, recorder } => write!(
                f,
                "`{name}` cannot be recorded: it is a program for {program}, and this recorder is for {recorder}; use a `tumit` that was built for {program}"
            ),
            AttachmentOutcome::OtherCLibrary { loader } => write!(
                f,
                "`{name}` cannot be recorded: its loader is {loader}, and the recorder needs the C library of GNU; link it with that library"
            ),
            AttachmentOutcome::SetId => write!(
                f,
                "`{name}` cannot be recorded: it runs with other rights (set-user-id or set-group-id), so that the loader ignores LD_PRELOAD; use a copy without these bits"
            ),
            AttachmentOutcome::UnsupportedMpi(library) => write!(
                f,
                "`{name}` cannot be recorded: it needs {}, and the recorder supports Open MPI 4 and 5, MPICH 3.1 to 5 and its relatives, and the standard interface of MPI 5",
                library.name
            ),
        }
    }
}
