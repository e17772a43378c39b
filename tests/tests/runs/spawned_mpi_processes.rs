//! Programs that start others with `MPI_Comm_spawn`: equal ranks of two worlds have distinct rows.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::lang::c::{CCompiler, build};
use tests::programs::{mpirun, output, succeed, tumit};

const MPI: CCompiler = CCompiler { command: "mpicc", flags: &["-std=gnu99"] };

const SPEC: &str = "trace t;\nlevel L { span work { world: u32 } }\n";

/// Two ranks start two more, and all ranks meet before they end.
const PROGRAM: &str = r#"
#define TUMIT_MPI
#include <mpi.h>
#include "t_trace.h"
int main(int argc, char **argv) {
    MPI_Comm parent, other;
    (void)argc;
    MPI_Init(0, 0);
    MPI_Comm_get_parent(&parent);
    t_work_begin(parent == MPI_COMM_NULL ? 1 : 2);
    other = parent;
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    MPI_Barrier(other);
    t_work_end();
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn equal_ranks_of_two_worlds_are_distinct() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        build(folder.path(), MPI, SPEC, PROGRAM, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    let _ = succeed(mpirun(2).arg(&program).current_dir(folder.path()).env("TUMIT_TRACE", &run));

    // One launch without losses.
    let info = succeed(tumit().args(["info", "--json"]).arg(&run));
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["launches"][0]["processes"], &info["losses"]), (&4.into(), &Value::Array(Vec::new())), "{info}");
    let names = |of: &str| -> BTreeSet<String> {
        let processes = info["processes"].as_array().unwrap();
        processes.iter().map(|process| process[of].to_string()).collect()
    };
    assert_eq!((names("name").len(), names("rank").len()), (4, 2), "{info}");

    // Four rows with one state each, in the table and in the Pajé text.
    let stats = succeed(tumit().args(["stats", "--by", "container", "--csv"]).arg(&run));
    let rows: BTreeSet<&str> = stats.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(rows.len(), 4, "{stats}");
    let paje = output(tumit().arg("convert").arg(&run).args(["-o", "-"]));
    assert!(paje.status.success(), "{paje:?}");
    let paje = String::from_utf8(paje.stdout).unwrap();
    let labels: Vec<&str> = paje.lines().filter(|line| line.contains("\"rank ")).collect();
    assert_eq!(labels.len(), 4, "{labels:#?}");
    // The names are those of `info`.
    for name in names("name") {
        assert!(labels.iter().any(|label| label.contains(&name)), "{name}: {labels:#?}");
    }
}
