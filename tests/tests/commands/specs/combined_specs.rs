//! Specs with typed rules and `std:paje`: generic lines name the containers of the same process.

use std::collections::BTreeSet;

use tests::lang::c::{GNU99, build, record};
use tests::programs::{output, succeed, tumit};

/// All processes have the same label.
const SPEC: &str = r#"trace t;
use "std:paje";
level APP { event phase { p: string } }
paje { container process[pid: u64] "Worker" { state act "Activity" } }
rule phase -> set act = "{p}" on process[pid];
"#;

/// A parent and a child do the same. A second child has no container.
const PROGRAM: &str = r#"
#include "t_trace.h"
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int number;
    const char *names[] = {"parent", "child", "second child"};
    (void)argv;
    for (number = argc > 1 ? 2 : 1; number > 0; number--) {
        if (fork() == 0) break;
    }
    if (number == 2) {
        usleep(100000);
    } else {
        t_phase(names[number]);
    }
    t_define_container_type("G", "process", "Task");
    t_define_state_type("S", "G", "Task state");
    t_create_container("g1", "G", "Worker", "task");
    t_set_state("S", "g1", names[number], "");
    usleep(2000);
    while (number == 0 && wait(0) > 0) {}
    return 0;
}
"#;

#[test]
fn generic_containers_are_placed_in_their_own_process() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        build(folder.path(), GNU99, SPEC, PROGRAM, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    let run = record(&program, folder.path(), "run.tmt", &[]);
    let stats = succeed(tumit().args(["stats", "--by", "container", "--csv"]).arg(&run));
    let mut rows = BTreeSet::new();
    for line in stats.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let process = cells[2].split('/').next().unwrap();
        rows.insert((cells[1], process.to_owned(), cells[4]));
        assert!(cells[2].starts_with("Worker (pid "), "{stats}");
        assert_eq!(cells[2].ends_with("/task"), cells[1] == "Task state", "{stats}");
    }
    assert_eq!(rows.len(), 4, "{stats}");
    // Both states of a process are in its container.
    for value in ["parent", "child"] {
        let processes: BTreeSet<&String> = rows.iter().filter(|row| row.2 == value).map(|row| &row.1).collect();
        assert_eq!(processes.len(), 1, "{stats}");
    }
}

#[test]
fn a_name_in_several_processes_is_ambiguous_in_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        build(folder.path(), GNU99, SPEC, PROGRAM, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    let _ = succeed(std::process::Command::new(program).arg("second child").env("TUMIT_TRACE", &run));
    let converted = output(tumit().arg("convert").arg(&run).args(["-o", "-"]));
    let messages = String::from_utf8(converted.stderr).unwrap();
    assert!(messages.contains("container name that several containers have (`Worker`)"), "{messages}");
}
