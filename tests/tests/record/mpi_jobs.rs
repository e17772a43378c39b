//! Recorded jobs of Open MPI and MPICH.

use tests::programs::{output, succeed, tumit};

use crate::record_folder::{BOTH, MPICH, OPEN_MPI, RecordFolder};

#[test]
fn the_ranks_of_a_job_are_recorded() {
    let folder = RecordFolder::new();
    for mpi in BOTH {
        let ring = folder.ring(mpi).display().to_string();
        let run = format!("{}.tmt", mpi.launcher);
        let (output, messages) = folder.recorded(&["-o", &run, "--", mpi.launcher, "-n", "2", &ring]);
        assert!(output.status.success(), "{messages}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ring of 2\n");
        let lines: Vec<&str> = messages.lines().filter(|line| line.starts_with("tumit record: ")).collect();
        let [attached, summary, next] = lines[..] else { panic!("three messages: {messages}") };
        assert!(
            attached.starts_with("tumit record: mpi attached to `") && attached.ends_with(&format!("writing {run}"))
        );
        let words = ["2 ranks, ", " records; ", " of the time of all ranks in MPI, ", " waiting"];
        assert!(words.iter().all(|word| summary.contains(word)), "{summary}");
        assert_eq!(next, format!("tumit record: next: tumit view {run}, or tumit diagnose {run}"));
        // Two ranks, with three messages each.
        assert_eq!((folder.processes(&run), folder.event_count(&run, "send")), (2, 6), "{messages}");
        // The library is removed after the run.
        assert!(!folder.file(&run).join("libtumit_preload.so").exists());
    }
}

/// A command that starts processes like `ssh`, but on this machine. It passes on no variables.
#[test]
fn ranks_on_other_nodes_are_recorded() {
    let folder = RecordFolder::new();
    let script = "#!/bin/sh\n[ \"$1\" = -x ] && shift\nshift\n\
                  exec env -i PATH=/usr/bin:/bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /bin/sh -c \"$*\"\n";
    let shell = folder.script("remote-shell", script).display().to_string();
    for mpi in BOTH {
        let ring = folder.ring(mpi).display().to_string();
        for options in [&[][..], &["-x", "HOME"], &["--mca", "mca_base_env_list", "HOME"]] {
            if !options.is_empty() && mpi.launcher == MPICH.launcher {
                continue;
            }
            let mut command = folder.record(&["--overwrite", "-o", "run.tmt", "--", mpi.launcher]);
            command.args(options).args(mpi.remote_shell_options).arg(&shell);
            let output = output(command.args([mpi.hosts_option, "node-a,node-b", "-n", "2", &ring]));
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{mpi:?} {options:?}: {messages}");
            assert_eq!(folder.processes("run.tmt"), 2, "{mpi:?} {options:?}: {messages}");
            assert!(messages.contains("2 ranks, "), "{messages}");
        }
    }
}

#[test]
fn a_command_with_two_jobs_is_reported() {
    let folder = RecordFolder::new();
    for mpi in BOTH {
        let ring = folder.ring(mpi);
        let line = format!("{} -n 2 {}\n", mpi.launcher, ring.display());
        let _ = folder.script("twice.sh", &format!("#!/bin/sh\n{line}{line}"));
        let (output, messages) = folder.recorded(&["--overwrite", "-o", "run.tmt", "./twice.sh"]);
        assert!(output.status.success(), "{messages}");
        assert!(messages.contains("4 ranks, ") && messages.contains("the run contains 2 jobs"), "{messages}");
        assert!(messages.contains("record each of them on its own"), "{messages}");
    }
}

#[test]
fn a_launcher_of_another_library_is_reported() {
    let folder = RecordFolder::new();
    let ring = folder.ring(MPICH).display().to_string();
    let (_, messages) = folder.recorded(&["-o", "run.tmt", "--", OPEN_MPI.launcher, "-n", "2", &ring]);
    assert!(messages.contains("each of the 2 processes is alone in its MPI_COMM_WORLD"), "{messages}");
}

#[test]
fn killed_ranks_are_recorded() {
    let folder = RecordFolder::new();
    let ring = folder.ring(MPICH).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", MPICH.launcher, "-n", "2", &ring, "segv"]);
    assert!(!output.status.success() && messages.contains("2 ranks, "), "{messages}");
    assert!(messages.contains(" killed: the records until then are in live files"), "{messages}");
    assert_eq!(folder.event_count("run.tmt", "send"), 6, "{messages}");
}

#[test]
fn several_programs_are_one_job() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI);
    let other = folder.file("other");
    std::fs::copy(&ring, &other).unwrap();
    let (ring, other) = (ring.display().to_string(), other.display().to_string());
    let (output, messages) =
        folder.recorded(&["-o", "run.tmt", "--", "mpirun", "-n", "1", &ring, ":", "-n", "1", &other, "exit", "0"]);
    assert!(output.status.success(), "{messages}");
    assert!(messages.contains(&format!("mpi attached to `{other}`")), "{messages}");
    assert_eq!(folder.processes("run.tmt"), 2, "{messages}");
    let info = succeed(tumit().args(["info", "--json"]).arg(folder.file("run.tmt")));
    assert!(info.contains("/other exit 0\""), "{info}");
}
