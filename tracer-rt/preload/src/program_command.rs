//! [`ProgramCommand`]: the launcher and the programs in a command.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::launcher_syntax::{StarterKind, StarterSyntax, syntax_of};
use crate::program_file::executable;

/// Maximum number of programs that start each other in one command.
const MAX_STARTERS: u32 = 16;
/// The variable of the dynamic loader.
const PRELOAD: &str = "LD_PRELOAD=";

/// The parts of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The launcher, if the command starts one.
    pub launcher: Option<Launcher>,
    /// Positions of the programs that run in the end. Empty if the command does not contain them.
    pub programs: Vec<usize>,
    /// Positions of words that assign `LD_PRELOAD` for the program, and of values of this variable.
    pub preloads: Vec<PreloadWord>,
    /// The command submits a job, which starts later.
    pub submits: bool,
    /// A file of the launcher contains the programs.
    pub program_file_option: Option<String>,
    /// A program of the command that removes the variables of the environment, such as `env -i`.
    pub environment_filter: Option<String>,
}

/// A word of the command with a value of `LD_PRELOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreloadWord {
    /// Its position.
    pub position: usize,
    /// Whether the word contains the name of the variable, too.
    pub has_name: bool,
}

/// A launcher in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The position of its name.
    pub position: usize,
    /// Its name without the folder.
    pub name: String,
    /// Its kind.
    pub kind: StarterKind,
    /// The positions where options for a program may begin: after its name, and after each `:`.
    pub segments: Vec<usize>,
    /// Its options before the programs.
    pub options: Vec<LauncherOption>,
}

/// An option of a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherOption {
    /// The name without dashes and without a value.
    pub name: String,
    /// Position of the word with the name.
    pub position: usize,
    /// The value after `=`, or the next word if the option has arguments.
    pub value: Option<String>,
}

impl Launcher {
    /// The options with this name.
    pub fn options_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a LauncherOption> {
        self.options.iter().filter(move |option| option.name == name)
    }
}

impl ProgramCommand {
    /// Splits a command. `search_path` is the value of `PATH`.
    #[must_use]
    pub fn new(words: &[OsString], search_path: Option<&OsStr>) -> Self {
        let mut parts = Self::default();
        CommandReader { words, search_path }.read(&mut parts, 0, words.len(), MAX_STARTERS);
        parts
    }
}

struct CommandReader<'a> {
    words: &'a [OsString],
    search_path: Option<&'a OsStr>,
}

impl CommandReader<'_> {
    fn text(&self, position: usize) -> String {
        self.words[position].to_string_lossy().into_owned()
    }

    /// Adds the command in the words from `position` to `end`.
    fn read(&self, parts: &mut ProgramCommand, position: usize, end: usize, depth: u32) {
        if position >= end {
            return;
        }
        let name = self.text(position);
        let base = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(syntax) = syntax_of(&base).filter(|_| depth > 0) else {
            parts.programs.push(position);
            return;
        };
        let from = if base == "flux" { self.after_subcommand(position, end) } else { Some(position + 1) };
        let Some(from) = from else {
            parts.programs.push(position);
            return;
        };
        match syntax.kind {
            StarterKind::Submitter => parts.submits = true,
            kind if kind.is_launcher() => self.read_launcher(parts, syntax, (position, from), end, depth),
            _ => {
                let mut options = Vec::new();
                let next = self.program_position(syntax, from, end, parts, &mut options);
                let removes = |option: &LauncherOption| matches!(option.name.as_str(), "i" | "ignore-environment");
                let is_filter = base == "sudo" || base == "env" && options.iter().any(removes);
                parts.environment_filter = parts.environment_filter.take().or_else(|| is_filter.then_some(base));
                self.read(parts, next, end, depth - 1);
            }
        }
    }

    /// The position after `run` or `submit` of `flux`.
    fn after_subcommand(&self, position: usize, end: usize) -> Option<usize> {
        let is_run = position + 1 < end && matches!(self.text(position + 1).as_str(), "run" | "submit" | "mini");
        let is_mini = is_run && self.text(position + 1) == "mini";
        is_run.then_some(position + if is_mini { 3 } else { 2 })
    }

    fn read_launcher(
        &self,
        parts: &mut ProgramCommand,
        syntax: &StarterSyntax,
        (at, from): (usize, usize),
        end: usize,
        depth: u32,
    ) {
        let name = Path::new(&self.words[at]).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut launcher =
            Launcher { position: at, name, kind: syntax.kind, segments: Vec::new(), options: Vec::new() };
        let mut programs = ProgramCommand::default();
        let mut from = from;
        while from < end {
            launcher.segments.push(from);
            let program = self.program_position(syntax, from, end, &mut programs, &mut launcher.options);
            let colon = (program..end).find(|&word| self.words[word] == ":").unwrap_or(end);
            self.read(&mut programs, program, colon, depth - 1);
            from = colon + 1;
        }
        let file =
            launcher.options.iter().find(|option| matches!(option.name.as_str(), "app" | "configfile" | "multi-prog"));
        parts.program_file_option = file.map(|option| option.name.clone());
        if parts.program_file_option.is_none() {
            parts.programs.append(&mut programs.programs);
        }
        parts.preloads.append(&mut programs.preloads);
        parts.environment_filter = parts.environment_filter.take().or(programs.environment_filter);
        // The outermost launcher starts the ranks.
        parts.launcher = Some(launcher);
    }

    /// The position of the program that starts after the options from `position`, or `end`.
    fn program_position(
        &self,
        syntax: &StarterSyntax,
        mut position: usize,
        end: usize,
        parts: &mut ProgramCommand,
        options: &mut Vec<LauncherOption>,
    ) -> usize {
        let mut leading = syntax.leading;
        while position < end {
            let word = self.text(position);
            if word == "--" {
                return (position + 1).min(end);
            }
            if !word.starts_with('-') || word == "-" {
                let is_assignment = syntax.names.contains(&"env") && word.contains('=');
                if is_assignment {
                    self.note_preload(parts, position);
                } else if leading > 0 {
                    leading -= 1;
                } else {
                    return position;
                }
                position += 1;
                continue;
            }
            let count = self.argument_count(syntax, &word, position, end);
            let (name, value) = word.trim_start_matches('-').split_once('=').map_or_else(
                || (word.trim_start_matches('-').to_owned(), None),
                |(name, value)| (name.to_owned(), Some(value.to_owned())),
            );
            let value = value.or_else(|| (count > 0 && position + 1 < end).then(|| self.text(position + 1)));
            options.push(LauncherOption { name, position, value });
            for argument in position + 1..(position + 1 + count).min(end) {
                self.note_preload(parts, argument);
            }
            position += 1 + count;
        }
        end
    }

    /// Number of arguments of an option. An unknown option has one if the next word is no program,
    /// and a later one is.
    fn argument_count(&self, syntax: &StarterSyntax, option: &str, position: usize, end: usize) -> usize {
        syntax.argument_count(option).unwrap_or_else(|| {
            let is_program = |position: usize| {
                let word = &self.words[position];
                syntax_of(&word.to_string_lossy()).is_some() || executable(word, self.search_path).is_ok()
            };
            let is_argument =
                position + 2 < end && !self.text(position + 1).starts_with('-') && !is_program(position + 1);
            let mut rest = position + 2..end;
            usize::from(is_argument && rest.any(|word| !self.text(word).starts_with('-') && is_program(word)))
        })
    }

    /// Notes an assignment of `LD_PRELOAD`: `LD_PRELOAD=VALUE`, or `LD_PRELOAD` and its value in
    /// two words.
    fn note_preload(&self, parts: &mut ProgramCommand, position: usize) {
        let word = self.text(position);
        if word.starts_with(PRELOAD) {
            parts.preloads.push(PreloadWord { position, has_name: true });
        } else if position > 0 && self.text(position) != PRELOAD && self.text(position - 1) == "LD_PRELOAD" {
            parts.preloads.push(PreloadWord { position, has_name: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{ProgramCommand, StarterKind};

    fn parts(command: &str) -> (Vec<String>, ProgramCommand) {
        let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        let parts = ProgramCommand::new(&words, Some("/bin:/usr/bin".as_ref()));
        let programs = parts.programs.iter().map(|&position| words[position].to_string_lossy().into_owned()).collect();
        (programs, parts)
    }

    #[test]
    fn launchers_and_programs_are_found() {
        for (command, programs, launcher) in [
            ("./app -n 4", vec!["./app"], None),
            ("mpirun -n 4 ./app -n 3", vec!["./app"], Some("mpirun")),
            ("/opt/mpi/bin/mpiexec --mca btl tcp,self -np 2 ./app", vec!["./app"], Some("mpiexec")),
            ("mpirun -n 1 ./a : -n 3 --wdir /tmp ./b x", vec!["./a", "./b"], Some("mpirun")),
            ("mpirun.mpich -genv A 1 -ppn 2 -n 4 ./app", vec!["./app"], Some("mpirun.mpich")),
            ("time mpirun --oversubscribe -n 2 numactl -N 0 ./app", vec!["./app"], Some("mpirun")),
            ("srun -N2 -n 8 --cpu-bind=cores -l ./app", vec!["./app"], Some("srun")),
            ("srun -n4 --unknown value sh -c x", vec!["sh"], Some("srun")),
            ("env A=1 B=2 timeout -k 1 60 ./app", vec!["./app"], None),
            ("flux run -n4 ./app", vec!["./app"], Some("flux")),
            ("mpirun --app file", vec![], Some("mpirun")),
            ("sbatch job.sh", vec![], None),
            ("mpirun", vec![], Some("mpirun")),
            ("mpirun -n", vec![], Some("mpirun")),
            ("mpirun -n 2 -- ./app", vec!["./app"], Some("mpirun")),
        ] {
            let (found, parts) = parts(command);
            assert_eq!(found, programs, "{command}");
            assert_eq!(parts.launcher.map(|launcher| launcher.name).as_deref(), launcher, "{command}");
        }
    }

    #[test]
    fn programs_that_remove_the_environment_are_found() {
        assert_eq!(parts("mpirun -n 2 env -i A=1 ./a").1.environment_filter.as_deref(), Some("env"));
        assert_eq!(parts("sudo -u ada mpirun ./a").1.environment_filter.as_deref(), Some("sudo"));
        assert_eq!(parts("env -u i mpirun ./a").1.environment_filter, None);
    }

    #[test]
    fn options_of_launchers_have_values() {
        let (_, parts) = parts("mpirun -x A -x LD_PRELOAD=a.so -genv LD_PRELOAD b.so -n 2 env LD_PRELOAD=c.so ./a");
        let launcher = parts.launcher.unwrap();
        assert_eq!(launcher.kind, StarterKind::Mpirun);
        let values: Vec<_> = launcher.options_named("x").map(|option| option.value.as_deref()).collect();
        assert_eq!(values, [Some("A"), Some("LD_PRELOAD=a.so")]);
        let words: Vec<_> = parts.preloads.iter().map(|word| (word.position, word.has_name)).collect();
        assert_eq!(words, [(4, true), (7, false), (11, true)]);
    }
}
