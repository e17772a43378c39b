//! Limits of memory, of file sizes and of folders: dropped records are counted, and the program
//! runs on.

use tests::lang::c::{GNU99, folder};
use tests::programs::{losses, output, tumit};
use tracer_format::tags::tag;

use super::{launch, program, run, sums, witness};

#[test]
fn killed_processes_with_private_buffers_lose_only_unwritten_records() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let environment = [("TUMIT_BUFFERS", "private")];
    let missing = |way| {
        let outcome = run(folder.path(), &program, way, &environment);
        let (recorded, dropped) = sums(&outcome.files);
        assert_eq!(dropped, 0);
        assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(0));
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        outcome.witness.checked_sub(recorded).expect("no record without a call")
    };
    for way in ["return", "exit", "main-leaves", "fork"] {
        assert_eq!(missing(way), 0, "{way}");
    }
    // A program that runs longer than a second may have all its records in the file when it is
    // killed.
    assert!((0..20).any(|_| missing("kill") > 0), "what was not written cannot be there");
}

#[test]
fn records_dropped_in_full_memory_are_counted() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for (way, buffers) in [("flood", "mapped"), ("flood", "private"), ("flood-kill", "mapped")] {
        let outcome = run(folder.path(), &program, way, &[("TUMIT_MEMORY", "128K"), ("TUMIT_BUFFERS", buffers)]);
        let (recorded, dropped) = sums(&outcome.files);
        assert!(dropped > 0, "{way}: two slots cannot hold what a loop records");
        assert_eq!(recorded + dropped, outcome.witness, "{way} {buffers}");
        if way == "flood" {
            let reported: u64 = outcome.files[0].dropped_reports.iter().map(|dropped| dropped.count).sum();
            assert_eq!(reported, dropped, "reported in the file");
            assert!(
                outcome.files[0].dropped_reports.iter().all(|dropped| dropped.cause == tracer_format::cause::NO_BUFFER)
            );
            assert!(outcome.errors.contains("records were dropped"), "{}", outcome.errors);
        }
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
}

#[test]
fn a_file_size_limit_does_not_kill_the_program() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for (way, memory, mapped) in [("limit-first", "16M", 2), ("limit-later", "1M", 1), ("limit-later", "16M", 1)] {
        let outcome = run(folder.path(), &program, way, &[("TUMIT_MEMORY", memory)]);
        assert!(outcome.status.success(), "{way}: {:?} {}", outcome.status, outcome.errors);
        let (recorded, dropped) = sums(&outcome.files);
        assert_eq!(recorded + dropped, outcome.witness, "{way}");
        // Records that the file cannot take stay in the live file, while that has room.
        assert!(
            recorded > 0 && (dropped > 0) != (way == "limit-later" && memory == "16M"),
            "{way}: {recorded} + {dropped}"
        );
        assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(mapped));
        // The place and cause of the loss are reported, also after the live file has been merged
        // into the file.
        let run = folder.path().join("run.tmt");
        assert_eq!(losses(&run), [dropped, dropped], "{way}");
        if mapped == 1 {
            output(tumit().arg("repair").arg(&run));
            assert_eq!(losses(&run), [dropped, dropped], "{way}, repaired");
        }
        std::fs::remove_dir_all(run).expect("the run can go");
    }
}

#[test]
fn removed_and_unwritable_folders_do_not_disturb_the_program() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let outcome = run(folder.path(), &program, "unlink", &[]);
    assert!(outcome.status.success() && outcome.errors.contains("is created again"), "{}", outcome.errors);
    assert_eq!(sums(&outcome.files), (outcome.witness, 0));
    std::fs::write(folder.path().join("plain"), "").expect("a file");
    let mut command = launch(folder.path(), &program, "return", &[]);
    let output = command.env("TUMIT_TRACE", folder.path().join("plain/run.tmt")).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains(&format!("{} records were dropped", witness(folder.path()))), "{errors}");
}

#[test]
fn live_files_may_be_in_another_folder() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let live_folder = folder.path().join("elsewhere");
    std::fs::create_dir(&live_folder).expect("a folder");
    let outcome = run(folder.path(), &program, "kill", &[("TUMIT_LIVE", live_folder.to_str().expect("UTF-8"))]);
    assert_eq!(sums(&outcome.files), (outcome.witness, 0));
    assert!(outcome.files[0].process.contains_key(&tag::LIVE_PATH));
    std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    let outcome = run(folder.path(), &program, "kill", &[("TUMIT_LIVE", "/proc/none")]);
    assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(2), "private, since mapping failed");
}
