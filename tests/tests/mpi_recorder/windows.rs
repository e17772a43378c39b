//! One-sided communication.

use std::collections::BTreeMap;
use std::path::Path;

use tests::programs::{succeed, tumit};

use crate::environment::{MpiLibrary, records};

const RANKS: usize = 3;

/// The links of a run: how many there are of each type, value, start and end.
fn links(run: &Path) -> BTreeMap<[String; 4], usize> {
    let rows = succeed(tumit().args(["convert", "--pj-dump", "-o", "-"]).arg(run));
    let mut links = BTreeMap::new();
    for row in rows.lines().filter(|row| row.starts_with("Link")) {
        let columns: Vec<&str> = row.split(',').map(str::trim).collect();
        let link = [2, 6, 7, 8].map(|column| columns[column].to_owned());
        *links.entry(link).or_default() += 1;
    }
    links
}

/// The rank in `MPI_COMM_WORLD` of the neighbour `distance` steps to the right in the window.
fn neighbour(rank: usize, distance: usize) -> usize {
    let rank_in_window = (RANKS - 1 - rank + distance) % RANKS;
    RANKS - 1 - rank_in_window
}

#[test]
fn transfers_are_links_between_origins_and_targets() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for library in MpiLibrary::all() {
        let program = library.compile(folder.path(), "windows.c", &[]);
        let (run, _) = library.record(folder.path(), &program, &[]);
        let mut expected = BTreeMap::new();
        let mut add = |ty: &str, value: &str, from: usize, to: usize| {
            let link = [ty.to_owned(), value.to_owned(), format!("Rank {from}"), format!("Rank {to}")];
            *expected.entry(link).or_default() += 1;
        };
        for rank in 0..RANKS {
            let (right, left, first) = (neighbour(rank, 1), neighbour(rank, RANKS - 1), RANKS - 1);
            add("One-sided transfer", "Put", rank, right);
            add("One-sided transfer", "Get", left, rank);
            add("One-sided transfer", "Put", rank, first);
            add("One-sided transfer", "Get", first, rank);
            for _ in 0..2 {
                add("One-sided transfer", "Put", rank, right);
                add("End of access", "End of access", rank, right);
            }
        }
        assert_eq!(links(&run), expected, "{library:?}");
        check_synchronisation(&library, &run);
    }
}

/// Checks fences, which are operations of all ranks, and locks.
fn check_synchronisation(library: &MpiLibrary, run: &Path) {
    let records = records(run);
    let count = |event: &str| records.iter().filter(|record| record["event"] == event).count();
    let counts = ["window_lock.end", "window_unlock.end", "fence.end"].map(count);
    assert_eq!(counts, [RANKS, RANKS, 3 * RANKS], "{library:?}");
    let sizes = |procedure: &str| -> Vec<u64> {
        let calls = records.iter().filter(|record| record["fields"]["procedure"] == procedure);
        let mut sizes: Vec<u64> = calls.map(|record| record["fields"]["bytes"].as_u64().expect("a size")).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes("MPI_Put"), [1, 1, 1, 1, 1, 1, 10, 11, 12], "{library:?}");
    assert_eq!((sizes("MPI_Get"), sizes("MPI_Fetch_and_op")), (vec![20, 21, 22], vec![4, 4, 4]), "{library:?}");
    let diagnosis = succeed(tumit().args(["diagnose", "--json"]).arg(run));
    let diagnosis: serde_json::Value = serde_json::from_str(&diagnosis).expect("the output is an object");
    let groups = diagnosis["collectives"].as_array().expect("the operations are an array");
    let fence = groups.iter().find(|group| group["state"] == "MPI_Win_fence");
    let fence = fence.unwrap_or_else(|| panic!("{library:?}: {diagnosis}"));
    // The first fence is no barrier.
    assert_eq!((&fence["operations"], &fence["parts"]), (&2.into(), &6.into()), "{library:?}");
    // The target does nothing during a transfer, so only the end of an access epoch is awaited.
    let waits = diagnosis["waits"].as_array().expect("the waits are an array");
    let is_wait_for_transfer = |wait: &&serde_json::Value| {
        wait["kind"] == "late sender" && wait["state"] != "MPI_Win_wait" && wait["state"] != "MPI_Win_test"
    };
    assert_eq!(waits.iter().find(is_wait_for_transfer), None, "{library:?}: {diagnosis}");
}

/// Open MPI has no windows for `MPI_COMM_SELF`.
#[test]
fn freed_windows_take_no_memory() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for library in MpiLibrary::all().iter().filter(|library| !library.is_open_mpi) {
        let program = library.compile(folder.path(), "window_memory.c", &[]);
        let (_, output) = library.record(folder.path(), &program, &[]);
        let growths: Vec<i64> =
            output.lines().map(|line| line.trim_start_matches("growth=").parse().expect("a number")).collect();
        assert!(growths.len() == RANKS && growths.iter().all(|&growth| growth < 40), "{library:?}: {growths:?} bytes");
    }
}
