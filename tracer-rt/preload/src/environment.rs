//! [`RecordingEnvironment`]: the environment and the command with which a program is recorded.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::launcher_syntax::StarterKind;
use crate::program_command::{Launcher, LauncherOption, ProgramCommand};
use crate::recorder_library::LIBRARY_NAME;

/// The variable of the dynamic loader.
pub const PRELOAD: &str = "LD_PRELOAD";
/// The variable by which Open MPI passes variables to ranks on other nodes: names, separated by
/// `;`.
pub const OPEN_MPI_LIST: &str = "OMPI_MCA_mca_base_env_list";
/// The same, as a parameter on the command line.
const OPEN_MPI_PARAMETER: &str = "mca_base_env_list";
/// Maximum size of a script that is searched for options of a launcher.
const MAX_SCRIPT_BYTES: u64 = 1 << 20;

/// The values that differ from recording to recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSettings {
    /// The run folder, absolute.
    pub folder: PathBuf,
    /// The library.
    pub library: PathBuf,
    /// A text that all processes of the job share.
    pub launch_id: String,
    /// The levels that are on or off, as `LEVEL=on,LEVEL=off`.
    pub levels: Option<String>,
    /// Memory for records of a process, in bytes.
    pub memory_bytes: Option<usize>,
    /// The limits of the recorder of functions.
    pub functions: FunctionLimits,
    /// The choice of the recorder of counters.
    pub counters: CounterChoice,
}

/// The limits of the recorder of functions. `None` stands for its usual values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionLimits {
    /// Patterns of names, separated by `;`. Those that begin with `!` exclude.
    pub patterns: Option<String>,
    /// Maximum number of recorded calls that contain each other.
    pub depth: Option<u32>,
    /// Maximum number of calls of a function per second and thread.
    pub rate: Option<u32>,
    /// Minimum duration of a call, in nanoseconds.
    pub minimum_nanos: Option<u64>,
}

impl FunctionLimits {
    fn variables(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        let patterns = self.patterns.as_ref().map(|patterns| ("TUMIT_FUNCTIONS", OsString::from(patterns)));
        let numbers = [
            ("TUMIT_FUNCTIONS_DEPTH", self.depth.map(u64::from)),
            ("TUMIT_FUNCTIONS_RATE", self.rate.map(u64::from)),
            ("TUMIT_FUNCTIONS_MINIMUM", self.minimum_nanos),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?.to_string().into())));
        patterns.into_iter().chain(numbers)
    }
}

/// The names of the counters that the recorder of counters accepts. `process` and `machine` stand
/// for all values of the process and of the machine.
pub const COUNTER_NAMES: [&str; 10] = [
    "task-clock",
    "page-faults",
    "context-switches",
    "migrations",
    "cycles",
    "instructions",
    "cache-misses",
    "branch-misses",
    "process",
    "machine",
];

/// The choice of the recorder of counters. `None` stands for its usual values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterChoice {
    /// Names of counters, separated by commas.
    pub counters: Option<String>,
    /// Time between two samples, in nanoseconds.
    pub interval_nanos: Option<u64>,
}

impl CounterChoice {
    fn variables(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        let counters = self.counters.as_ref().map(|counters| ("TUMIT_COUNTERS", OsString::from(counters)));
        let interval = self.interval_nanos.map(|nanos| ("TUMIT_COUNTER_INTERVAL", nanos.to_string().into()));
        counters.into_iter().chain(interval)
    }
}

/// The environment and the command of a recorded program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingEnvironment {
    /// Variables that are set.
    pub variables: Vec<(&'static str, OsString)>,
    /// The command.
    pub words: Vec<OsString>,
    /// Reasons why ranks may not get the variables.
    pub warnings: Vec<String>,
}

/// The value of a variable of this process.
pub type VariableLookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl RecordingSettings {
    /// The variables of a recorded process.
    #[must_use]
    pub fn variables(&self, lookup: VariableLookup<'_>) -> Vec<(&'static str, OsString)> {
        let preload = preload_value(&self.library, lookup(PRELOAD).as_deref());
        let mut variables = vec![
            (PRELOAD, preload),
            ("TUMIT_TRACE", self.folder.clone().into_os_string()),
            ("TUMIT_LAUNCH_ID", OsString::from(&self.launch_id)),
        ];
        variables.extend(self.levels.as_ref().map(|levels| ("TUMIT_LEVELS", OsString::from(levels))));
        variables.extend(self.memory_bytes.map(|bytes| ("TUMIT_MEMORY", OsString::from(bytes.to_string()))));
        variables.extend(self.functions.variables());
        variables.extend(self.counters.variables());
        variables
    }
}

/// The value of `LD_PRELOAD`: the library, then the libraries of an earlier value. Tools in these
/// libraries then see the calls that the program makes. The library of an outer `tumit record` is
/// left out.
fn preload_value(library: &Path, earlier: Option<&OsStr>) -> OsString {
    let mut value = library.as_os_str().to_owned();
    let earlier = earlier.unwrap_or_default().to_string_lossy().into_owned();
    let others = earlier.split([':', ' ']).filter(|path| !path.is_empty());
    for path in others.filter(|path| Path::new(path).file_name() != Some(OsStr::new(LIBRARY_NAME))) {
        value.push(":");
        value.push(path);
    }
    value
}

/// The list of names for Open MPI, after an earlier value.
#[must_use]
pub fn open_mpi_list(variables: &[(&'static str, OsString)], earlier: Option<&str>) -> String {
    let earlier = earlier.unwrap_or_default().split(';').map(str::trim).filter(|entry| !entry.is_empty());
    let is_ours = |entry: &&str| {
        let name = entry.split('=').next().unwrap_or_default();
        variables.iter().any(|(ours, _)| *ours == name)
    };
    let others = earlier.filter(|entry| !is_ours(entry));
    others.chain(variables.iter().map(|(name, _)| *name)).collect::<Vec<&str>>().join(";")
}

impl RecordingEnvironment {
    /// Prepares a command. `is_preloaded` states whether the library is attached.
    #[must_use]
    pub fn new(
        settings: &RecordingSettings,
        words: &[OsString],
        command: &ProgramCommand,
        is_preloaded: bool,
        lookup: VariableLookup<'_>,
    ) -> Self {
        let mut all = Self { variables: settings.variables(lookup), words: words.to_vec(), warnings: Vec::new() };
        if !is_preloaded {
            all.variables.retain(|(name, _)| *name != PRELOAD);
            return all;
        }
        if let Some(filter) = &command.environment_filter {
            all.warnings
                .push(format!("{filter} removes the variables of the recorder: write it before `tumit record`"));
        }
        for word in &command.preloads {
            let text = words[word.position].to_string_lossy();
            let earlier = if word.has_name { text.split_once('=').unwrap_or_default().1 } else { &text };
            let mut value = OsString::from(if word.has_name { "LD_PRELOAD=" } else { "" });
            value.push(preload_value(&settings.library, Some(OsStr::new(earlier))));
            all.words[word.position] = value;
        }
        match &command.launcher {
            Some(launcher) if launcher.kind == StarterKind::Mpirun => all.pass_by_mpirun(launcher, lookup),
            Some(launcher) if launcher.kind == StarterKind::Srun => all.pass_by_srun(launcher, lookup),
            Some(_) => {}
            None if has_several_nodes(lookup) && !has_option_x(words) => all.add_open_mpi_list(lookup),
            None => {}
        }
        all
    }

    fn add_open_mpi_list(&mut self, lookup: VariableLookup<'_>) {
        let earlier = lookup(OPEN_MPI_LIST).map(|value| value.to_string_lossy().into_owned());
        let list = open_mpi_list(&self.variables, earlier.as_deref());
        self.variables.push((OPEN_MPI_LIST, OsString::from(list)));
    }

    /// The names of the variables, for options of launchers.
    fn names(&self, separator: &str) -> String {
        self.variables.iter().map(|(name, _)| *name).collect::<Vec<&str>>().join(separator)
    }

    /// Open MPI 4 refuses the list of names if the command also has the option `-x`. Both variants
    /// of the list exist: a variable, and a parameter on the command line that precedes it.
    fn pass_by_mpirun(&mut self, launcher: &Launcher, lookup: VariableLookup<'_>) {
        for name in ["genvnone", "envnone"] {
            if let Some(option) = launcher.options_named(name).next() {
                self.warn_about(launcher, &option.name, "does not pass on the environment: leave it out");
            }
        }
        for option in ["genvlist", "envlist"].into_iter().flat_map(|name| launcher.options_named(name)) {
            self.append_names(option, ",");
        }
        let is_list = |option: &&LauncherOption| option.value.as_deref() == Some(OPEN_MPI_PARAMETER);
        let lists = ["mca", "gmca", "omca"].into_iter().flat_map(|name| launcher.options_named(name)).filter(is_list);
        let list_value = lists.map(|option| option.position + 2).find(|&position| position < self.words.len());
        if launcher.options_named("x").next().is_some() {
            let options: Vec<OsString> =
                self.variables.iter().flat_map(|(name, _)| [OsString::from("-x"), OsString::from(name)]).collect();
            for &segment in launcher.segments.iter().rev() {
                self.words.splice(segment..segment, options.iter().cloned());
            }
        } else if let Some(position) = list_value {
            let list = open_mpi_list(&self.variables, Some(&self.words[position].to_string_lossy()));
            self.words[position] = list.into();
        } else {
            self.add_open_mpi_list(lookup);
        }
    }

    fn pass_by_srun(&mut self, launcher: &Launcher, lookup: VariableLookup<'_>) {
        let is_whole = |value: &str| value.split(',').any(|name| name.eq_ignore_ascii_case("ALL"));
        let is_none = |value: &str| matches!(value.to_ascii_uppercase().as_str(), "NONE" | "NIL");
        if let Some(option) = launcher.options_named("export").last() {
            match option.value.as_deref() {
                Some(value) if is_none(value) => {
                    self.warn_about(launcher, "export", "does not pass on the environment: write --export=ALL");
                }
                Some(value) if !is_whole(value) => self.append_names(option, ","),
                _ => {}
            }
        } else if let Some(value) = lookup("SLURM_EXPORT_ENV").filter(|value| !is_whole(&value.to_string_lossy())) {
            let value = value.to_string_lossy();
            let text =
                format!("SLURM_EXPORT_ENV={value} prevents that srun passes on the environment: use srun --export=ALL");
            self.warnings.push(text);
        }
    }

    fn warn_about(&mut self, launcher: &Launcher, option: &str, text: &str) {
        self.warnings.push(format!("the option `{option}` of {} {text}", launcher.name));
    }

    /// Appends the names of the variables to the value of an option.
    fn append_names(&mut self, option: &LauncherOption, separator: &str) {
        let names = self.names(separator);
        let word = &self.words[option.position];
        let has_value = word.to_string_lossy().contains('=');
        let position = if has_value { option.position } else { option.position + 1 };
        if let Some(word) = self.words.get_mut(position) {
            word.push(separator);
            word.push(names);
        }
    }
}

/// Whether this process runs in a job of a batch system with several nodes.
#[must_use]
pub fn has_several_nodes(lookup: VariableLookup<'_>) -> bool {
    let text = |name: &str| lookup(name).map(|value| value.to_string_lossy().into_owned());
    let number = |name: &str| text(name).and_then(|value| value.trim().parse::<u64>().ok());
    if ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].into_iter().filter_map(number).any(|nodes| nodes > 1) {
        return true;
    }
    // The hosts are the first words of the lines of a file.
    let hosts = |file: String| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect::<BTreeSet<_>>().len()
    };
    let files = ["PBS_NODEFILE", "PE_HOSTFILE", "COBALT_NODEFILE"];
    files.into_iter().filter_map(text).any(|file| hosts(file) > 1)
        // Pairs of a host and a number.
        || text("LSB_MCPU_HOSTS").is_some_and(|hosts| hosts.split_whitespace().count() > 2)
}

/// Whether a script of the command may start a launcher with the option `-x`, with which Open MPI 4
/// refuses the list of names.
fn has_option_x(words: &[OsString]) -> bool {
    let is_script =
        |word: &&OsString| fs::metadata(word).is_ok_and(|file| file.is_file() && file.len() <= MAX_SCRIPT_BYTES);
    words.iter().filter(is_script).any(|word| {
        let text = fs::read(word).unwrap_or_default();
        String::from_utf8_lossy(&text).split_whitespace().any(|word| word == "-x")
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::{
        COUNTER_NAMES, CounterChoice, FunctionLimits, OPEN_MPI_LIST, PRELOAD, RecordingEnvironment, RecordingSettings,
        has_several_nodes,
    };
    use crate::program_command::ProgramCommand;

    const OURS: &str = "LD_PRELOAD;TUMIT_TRACE;TUMIT_LAUNCH_ID";

    #[test]
    fn the_recorder_accepts_all_counters() {
        let options = include_str!("../counters/options.h");
        for name in COUNTER_NAMES {
            assert!(options.contains(&format!("\"{name}\"")), "{name}");
        }
    }

    fn prepared(command: &str, variables: &[(&str, &str)]) -> RecordingEnvironment {
        let settings = RecordingSettings {
            folder: PathBuf::from("/run.tmt"),
            library: PathBuf::from("/run.tmt/libtumit_preload.so"),
            launch_id: "id".to_owned(),
            levels: None,
            memory_bytes: None,
            functions: FunctionLimits::default(),
            counters: CounterChoice::default(),
        };
        let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        let parts = ProgramCommand::new(&words, Some("/bin".as_ref()));
        let lookup = |name: &str| variables.iter().find(|entry| entry.0 == name).map(|entry| OsString::from(entry.1));
        RecordingEnvironment::new(&settings, &words, &parts, true, &lookup)
    }

    fn value(environment: &RecordingEnvironment, name: &str) -> Option<String> {
        let found = environment.variables.iter().find(|variable| variable.0 == name)?;
        Some(found.1.to_string_lossy().into_owned())
    }

    fn command(environment: &RecordingEnvironment) -> String {
        environment.words.join(" ".as_ref()).to_string_lossy().into_owned()
    }

    #[test]
    fn an_earlier_preload_is_kept() {
        let earlier = [(PRELOAD, "/a.so:/b.so /old/libtumit_preload.so")];
        let environment = prepared("./app", &earlier);
        assert_eq!(value(&environment, PRELOAD).unwrap(), "/run.tmt/libtumit_preload.so:/a.so:/b.so");
        let inside = prepared("env LD_PRELOAD=/c.so ./app", &[]);
        assert_eq!(command(&inside), "env LD_PRELOAD=/run.tmt/libtumit_preload.so:/c.so ./app");
    }

    #[test]
    fn open_mpi_passes_the_variables_to_other_nodes() {
        let environment = prepared("mpirun -n 2 ./app", &[]);
        assert_eq!(value(&environment, OPEN_MPI_LIST).as_deref(), Some(OURS));
        assert_eq!(command(&environment), "mpirun -n 2 ./app");
        let listed = prepared("mpirun -n 2 ./app", &[(OPEN_MPI_LIST, "A=1; LD_PRELOAD=/x.so")]);
        assert_eq!(value(&listed, OPEN_MPI_LIST), Some(format!("A=1;{OURS}")));
        // The option -x and the list exclude each other.
        let with_x = prepared("mpirun -x A -n 1 ./a : -n 1 ./b", &[]);
        assert_eq!(value(&with_x, OPEN_MPI_LIST), None);
        let options = "-x LD_PRELOAD -x TUMIT_TRACE -x TUMIT_LAUNCH_ID";
        assert_eq!(command(&with_x), format!("mpirun {options} -x A -n 1 ./a : {options} -n 1 ./b"));
        let parameter = prepared("mpirun --mca mca_base_env_list A -n 1 ./a", &[]);
        assert_eq!(command(&parameter), format!("mpirun --mca mca_base_env_list A;{OURS} -n 1 ./a"));
        assert_eq!(value(&parameter, OPEN_MPI_LIST), None);
    }

    #[test]
    fn launchers_that_pass_on_parts_of_the_environment_get_the_names() {
        let list = OURS.replace(';', ",");
        assert_eq!(command(&prepared("srun --export=A,B ./a", &[])), format!("srun --export=A,B,{list} ./a"));
        assert_eq!(command(&prepared("srun --export A ./a", &[])), format!("srun --export A,{list} ./a"));
        assert_eq!(command(&prepared("srun --export=ALL,A=1 ./a", &[])), "srun --export=ALL,A=1 ./a");
        assert_eq!(prepared("srun --export=NONE ./a", &[]).warnings.len(), 1);
        assert_eq!(prepared("srun ./a", &[("SLURM_EXPORT_ENV", "NONE")]).warnings.len(), 1);
        assert_eq!(command(&prepared("mpiexec -genvlist A ./a", &[])), format!("mpiexec -genvlist A,{list} ./a"));
        assert_eq!(prepared("mpiexec -genvnone ./a", &[]).warnings.len(), 1);
    }

    #[test]
    fn jobs_with_several_nodes_are_recognised() {
        let nodes = |name: &'static str, value: String| {
            has_several_nodes(&|wanted: &str| (wanted == name).then(|| OsString::from(&value)))
        };
        assert!(nodes("SLURM_JOB_NUM_NODES", "2".to_owned()));
        assert!(!nodes("SLURM_JOB_NUM_NODES", "1".to_owned()));
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        std::fs::write(file.path(), "one\none\n").unwrap();
        assert!(!nodes("PBS_NODEFILE", path.clone()));
        std::fs::write(file.path(), "one\ntwo\n").unwrap();
        assert!(nodes("PBS_NODEFILE", path));
        let scripted = prepared("./app", &[("SLURM_JOB_NUM_NODES", "2")]);
        assert_eq!(value(&scripted, OPEN_MPI_LIST).as_deref(), Some(OURS));
    }
}
