//! The options of `tumit record`, and the settings that it makes.

use std::fs;

use tests::programs::{output, succeed, tumit};

use crate::record_folder::{MPICH, OPEN_MPI, RecordFolder};

#[test]
fn a_run_is_replaced_only_on_request() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let (first, messages) = folder.recorded(&["-o", "run.tmt", &ring]);
    assert!(first.status.success(), "{messages}");
    let (second, messages) = folder.recorded(&["-o", "run.tmt", &ring]);
    assert_eq!(second.status.code(), Some(2), "{messages}");
    assert!(second.stdout.is_empty() && messages.contains("replace it by --overwrite"), "{messages}");
    let (third, messages) = folder.recorded(&["--overwrite", "-o", "run.tmt", &ring]);
    assert!(third.status.success() && messages.contains("1 rank, "), "{messages}");
    assert_eq!(folder.processes("run.tmt"), 1);
    // A folder with other files is never emptied.
    fs::write(folder.file("run.tmt/notes.txt"), "").unwrap();
    let (fourth, messages) = folder.recorded(&["--overwrite", "-o", "run.tmt", &ring]);
    assert_eq!(fourth.status.code(), Some(2), "{messages}");
    assert!(messages.contains("contains `notes.txt`, which is no part of a run"), "{messages}");
}

#[test]
fn the_default_folder_has_the_name_of_the_program() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let (_, messages) = folder.recorded(&["mpirun", "-n", "1", &ring]);
    let runs = folder.runs();
    assert!(runs.len() == 1 && runs[0].starts_with("ring-mpirun-20"), "{runs:?} {messages}");
}

#[test]
fn a_dry_run_shows_the_settings_and_writes_nothing() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let arguments = ["--dry-run", "-o", "run.tmt", "--levels", "MPI_COLL=off", "--memory", "64M"];
    let mut command = folder.record(&arguments);
    command.env("LD_PRELOAD", "/nowhere/libother.so").args(["--", "mpirun", "-x", "HOME", "-n", "2", &ring, "a b"]);
    let text = String::from_utf8(output(&mut command).stdout).unwrap();
    let library = folder.file("run.tmt/libtumit_preload.so").display().to_string();
    for part in [
        "# mpirun starts the ranks\n".to_owned(),
        format!("LD_PRELOAD={library}:/nowhere/libother.so \\\n"),
        "TUMIT_LEVELS=MPI_COLL=off \\\nTUMIT_MEMORY=67108864 \\\nmpirun -x LD_PRELOAD -x TUMIT_TRACE ".to_owned(),
        format!("-x HOME -n 2 {ring} 'a b'\n"),
    ] {
        assert!(text.contains(&part), "{part} is missing in: {text}");
    }
    assert!(folder.runs().is_empty());
}

#[test]
fn a_shell_reads_the_settings() {
    let folder = RecordFolder::new();
    let ring = folder.ring(MPICH).display().to_string();
    let tumit = tumit().get_program().to_string_lossy().into_owned();
    let script = format!("eval \"$({tumit} record --print-env -o 'my run.tmt')\"\n{} -n 2 {ring}\n", MPICH.launcher);
    let text = succeed(folder.command("sh").args(["-e", "-c", &script]));
    assert_eq!(text, "ring of 2\n");
    assert_eq!(folder.processes("my run.tmt"), 2);
    let script = format!("eval \"$({tumit} record --print-env -o run.tmt)\"\n{} -n 2 {ring}\n", MPICH.launcher);
    let _ = succeed(folder.command("sh").args(["-e", "-c", &script]));
    assert_eq!(folder.processes("run.tmt"), 2);
    // The script may start further programs, so the library stays. It exports the procedures that
    // an MPI library of this machine has.
    let library = fs::read(folder.file("run.tmt/libtumit_preload.so")).unwrap();
    let procedures = tumit_preload::recorder_library::procedures_of(&library).unwrap();
    let all = tumit_preload::recorder_library::procedures_of(tumit_preload::recorder_library::LIBRARY).unwrap();
    assert!(procedures.contains("MPI_Send") && procedures.len() < all.len(), "{}", procedures.len());
    // The library is no part of the run.
    let stats = output(tests::programs::tumit().arg("stats").arg(folder.file("run.tmt")));
    assert!(String::from_utf8_lossy(&stats.stdout).contains("MPI_Barrier"), "{stats:?}");
}

#[test]
fn a_path_with_blanks_can_be_recorded() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "a run.tmt", "mpirun", "-n", "2", &ring]);
    assert!(output.status.success() && messages.contains("2 ranks, "), "{messages}");
}

#[test]
fn levels_and_quiet_are_respected() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let arguments = ["-q", "--levels", "MPI_P2P=off", "-o", "run.tmt", "mpirun", "-n", "2", &ring];
    let (output, messages) = folder.recorded(&arguments);
    assert!(output.status.success() && !messages.contains("tumit"), "{messages}");
    assert_eq!((folder.event_count("run.tmt", "send"), folder.processes("run.tmt")), (0, 2));
}

#[test]
fn wrong_options_name_the_remedy() {
    let folder = RecordFolder::new();
    for (arguments, message) in [
        (&["--counters", "cycles", "true"][..], "add --with counters"),
        (&["--with", "counters", "--counters", "cycle", "true"], "`cycle` is no counter: write some of task-clock"),
        (&["--with", "mpj", "true"], "invalid value 'mpj'"),
        (&["--levels", "MPI_P2P", "true"], "write NAME=on or NAME=off"),
        (&["--quite", "true"], "--quiet"),
        (&[], "required"),
    ] {
        let (output, messages) = folder.recorded(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {messages}");
        assert!(messages.contains(message), "{arguments:?}: {messages}");
    }
}
