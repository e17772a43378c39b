//! The command lines of programs that start other programs: which of their options have arguments.

/// A program that starts others.
#[derive(Debug)]
pub(crate) struct StarterSyntax {
    /// Names of the program, without the folder.
    pub(crate) names: &'static [&'static str],
    pub(crate) kind: StarterKind,
    /// Options with one argument in the next word, without their dashes.
    pub(crate) with_argument: &'static [&'static str],
    /// Options with two arguments in the next words.
    pub(crate) with_two_arguments: &'static [&'static str],
    /// Whether an option of one letter may contain its argument (`-n4`).
    pub(crate) joins_letters: bool,
    /// Number of arguments that precede the program and are no options, such as a duration.
    pub(crate) leading: usize,
}

/// The kinds of programs that start others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarterKind {
    /// `mpirun` of Open MPI, MPICH or a relative. All of them read their options the same way.
    Mpirun,
    /// `srun` of Slurm.
    Srun,
    /// A launcher of another system.
    OtherLauncher,
    /// A program that passes on its environment and starts one program, such as `time`.
    Wrapper,
    /// A program that submits a job, which starts later.
    Submitter,
}

impl StarterKind {
    /// Whether the program starts the ranks of a job.
    #[must_use]
    pub fn is_launcher(self) -> bool {
        matches!(self, Self::Mpirun | Self::Srun | Self::OtherLauncher)
    }
}

/// The syntax of a program by its name, without the folder.
pub(crate) fn syntax_of(name: &str) -> Option<&'static StarterSyntax> {
    STARTERS.iter().find(|syntax| syntax.names.contains(&name))
}

impl StarterSyntax {
    /// Number of words after an option that are its arguments. `None` if the option is unknown.
    pub(crate) fn argument_count(&self, option: &str) -> Option<usize> {
        let name = option.trim_start_matches('-');
        if name.contains('=') {
            return Some(0);
        }
        if self.with_two_arguments.contains(&name) {
            return Some(2);
        }
        if self.with_argument.contains(&name) {
            return Some(1);
        }
        let letter = name.get(..1).filter(|_| self.joins_letters && !option.starts_with("--") && name.len() > 1);
        letter.filter(|letter| self.with_argument.contains(letter)).map(|_| 0)
    }
}

const STARTERS: &[StarterSyntax] = &[
    StarterSyntax {
        names: &[
            "mpirun",
            "mpiexec",
            "orterun",
            "prterun",
            "prun",
            "mpirun.openmpi",
            "mpiexec.openmpi",
            "mpirun.mpich",
            "mpiexec.mpich",
            "mpiexec.hydra",
            "mpiexec.gforker",
            "mpirun_rsh",
            "mpiexec_mpt",
            "oshrun",
        ],
        kind: StarterKind::Mpirun,
        with_argument: MPIRUN_OPTIONS,
        with_two_arguments: &[
            "mca", "gmca", "omca", "gomca", "prtemca", "pmixmca", "gprtemca", "gpmixmca", "genv", "env",
        ],
        joins_letters: false,
        leading: 0,
    },
    StarterSyntax {
        names: &["srun"],
        kind: StarterKind::Srun,
        with_argument: SRUN_OPTIONS,
        with_two_arguments: &[],
        joins_letters: true,
        leading: 0,
    },
    launcher(&["aprun"], &["n", "N", "d", "L", "S", "j", "e", "cc", "cp", "m", "p", "r", "sl", "sn", "ss", "t"]),
    launcher(
        &["jsrun", "lrun"],
        &[
            "n",
            "N",
            "T",
            "p",
            "a",
            "c",
            "g",
            "r",
            "d",
            "b",
            "l",
            "K",
            "m",
            "P",
            "h",
            "e",
            "t",
            "k",
            "o",
            "U",
            "X",
            "nrs",
            "np",
            "tasks_per_rs",
            "cpu_per_rs",
            "gpu_per_rs",
            "rs_per_host",
            "launch_distribution",
            "bind",
            "latency_priority",
            "memory_per_rs",
            "chdir",
            "stdio_stderr",
            "stdio_stdout",
            "stdio_input",
            "smpiargs",
            "env",
            "E",
        ],
    ),
    launcher(
        &["flux"],
        &[
            "n",
            "N",
            "c",
            "g",
            "t",
            "o",
            "x",
            "q",
            "B",
            "S",
            "ntasks",
            "nodes",
            "cores-per-task",
            "gpus-per-task",
            "nslots",
            "cores",
            "tasks-per-node",
            "tasks-per-core",
            "time-limit",
            "setopt",
            "queue",
            "bank",
            "job-name",
            "requires",
            "env",
            "cwd",
            "input",
            "output",
            "error",
            "setattr",
            "urgency",
            "signal",
        ],
    ),
    launcher(&["ibrun", "palsrun", "ccc_mprun"], &["n", "np", "o", "N", "c", "p", "T", "A", "q", "E", "x"]),
    wrapper(&["env"], &["u", "C", "S", "unset", "chdir"], 0),
    wrapper(&["nohup", "setsid", "unbuffer"], &[], 0),
    wrapper(&["sudo"], &["u", "g", "h", "p", "C", "D", "R", "T", "user", "group", "host", "chdir", "chroot"], 0),
    wrapper(&["time"], &["f", "o", "format", "output"], 0),
    wrapper(&["nice"], &["n", "adjustment"], 0),
    wrapper(&["ionice"], &["c", "n", "p", "class", "classdata"], 0),
    wrapper(&["timeout"], &["k", "s", "kill-after", "signal"], 1),
    wrapper(&["taskset"], &[], 1),
    wrapper(&["chrt"], &["T", "P", "D"], 1),
    wrapper(
        &["numactl"],
        &["i", "interleave", "p", "preferred", "m", "membind", "N", "cpunodebind", "C", "physcpubind"],
        0,
    ),
    wrapper(&["stdbuf"], &["i", "o", "e", "input", "output", "error"], 0),
    wrapper(&["hwloc-bind"], &["cpubind", "membind"], 1),
    StarterSyntax {
        names: &["sbatch", "qsub", "bsub", "oarsub", "msub", "condor_submit"],
        kind: StarterKind::Submitter,
        with_argument: &[],
        with_two_arguments: &[],
        joins_letters: true,
        leading: 0,
    },
];

const fn launcher(names: &'static [&'static str], with_argument: &'static [&'static str]) -> StarterSyntax {
    let kind = StarterKind::OtherLauncher;
    StarterSyntax { names, kind, with_argument, with_two_arguments: &[], joins_letters: true, leading: 0 }
}

const fn wrapper(
    names: &'static [&'static str],
    with_argument: &'static [&'static str],
    leading: usize,
) -> StarterSyntax {
    let kind = StarterKind::Wrapper;
    StarterSyntax { names, kind, with_argument, with_two_arguments: &[], joins_letters: true, leading }
}

/// Options of `mpirun` of Open MPI 4 and 5 (ORTE, PRRTE), and of Hydra (MPICH, Intel MPI, MVAPICH).
/// No option has arguments in one of them and none in another.
#[rustfmt::skip]
const MPIRUN_OPTIONS: &[&str] = &[
    // Both
    "n", "np", "H", "host", "hosts", "hostfile", "machinefile", "wdir", "wd", "map-by", "bind-to", "timeout", "path",
    // Open MPI
    "c", "N", "npernode", "npersocket", "ppr", "rank-by", "x", "am", "tune", "app", "prefix", "output", "output-filename",
    "report-uri", "dvm", "dvm-uri", "display", "runtime-options", "stdin", "cpu-set", "cpu-list", "cpus-per-proc",
    "cpus-per-rank", "rankfile", "rf", "preload-files", "default-hostfile", "stream-buffering", "xterm", "launch-agent",
    "max-restarts", "personality", "mapby", "bindto", "rankby", "pmixmca-file", "num-procs", "set-sid", "ompi-server",
    "server-wait-time", "rtos", "fwd-environment", "parseable", "report-state-on-timeout", "spawn-timeout", "exec-agent",
    "session-directory", "launcher", "memory-limit", "prtemca-file", "do-not-resolve-to", "add-host", "add-hostfile",
    "tmpdir", "nolocal-map", "slot-list", "base-user-mca",
    // Hydra
    "f", "ppn", "perhost", "grr", "configfile", "genvlist", "envlist", "membind", "launcher-exec", "rmk", "iface",
    "nameserver", "prepend-pattern", "outfile-pattern", "errfile-pattern", "order-nodes", "demux", "topolib", "localhost",
    "bootstrap", "bootstrap-exec", "usize", "gpus-per-proc", "gpu-subdevs-per-proc", "port-range", "ranks-per-proc",
    "hostlist", "print-rank-map-to", "debugger", "ckpointlib", "ckpoint-prefix", "ckpoint-num", "ckpoint-interval", "s",
];

/// Options of `srun` with an argument in the next word. Long options usually have it after `=`.
#[rustfmt::skip]
const SRUN_OPTIONS: &[&str] = &[
    "A", "B", "C", "D", "G", "J", "L", "M", "N", "P", "S", "T", "W", "c", "d", "e", "i", "m", "n", "o", "p", "q", "r", "t",
    "w", "x", "account", "acctg-freq", "bcast-exclude", "begin", "cluster-constraint", "clusters", "comment", "constraint",
    "container", "container-id", "core-spec", "cores-per-socket", "cpu-bind", "cpu-freq", "cpus-per-gpu", "cpus-per-task",
    "deadline", "delay-boot", "dependency", "chdir", "distribution", "epilog", "error", "exclude", "export",
    "export-file", "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket",
    "gpus-per-task", "gres", "gres-flags", "het-group", "hint", "input", "job-name", "jobid", "licenses", "mail-type",
    "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus", "mpi", "msg-timeout", "multi-prog",
    "network", "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
    "ntasks-per-socket", "open-mode", "output", "partition", "power", "prefer", "priority", "profile", "prolog", "qos",
    "relative", "reservation", "signal", "slurmd-debug", "sockets-per-node", "switches", "task-epilog", "task-prolog",
    "thread-spec", "threads", "threads-per-core", "time", "time-min", "tmp", "tres-bind", "tres-per-task", "uid",
    "wait", "wckey",
];

#[cfg(test)]
mod tests {
    use super::{StarterKind, syntax_of};

    #[test]
    fn options_have_their_arguments() {
        let mpirun = syntax_of("mpirun").unwrap();
        for (option, count) in [
            ("-n", Some(1)),
            ("--np", Some(1)),
            ("--mca", Some(2)),
            ("-genv", Some(2)),
            ("--map-by=core", Some(0)),
            ("--oversubscribe", None),
        ] {
            assert_eq!(mpirun.argument_count(option), count, "{option}");
        }
        let srun = syntax_of("srun").unwrap();
        for (option, count) in
            [("-n4", Some(0)), ("-n", Some(1)), ("--ntasks", Some(1)), ("-l", None), ("--nodes=2", Some(0))]
        {
            assert_eq!(srun.argument_count(option), count, "{option}");
        }
        assert_eq!(syntax_of("sbatch").map(|syntax| syntax.kind), Some(StarterKind::Submitter));
        assert!(syntax_of("ring").is_none());
    }
}
