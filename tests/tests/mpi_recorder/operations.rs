//! Non-blocking and persistent collective operations, and partitioned messages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tests::programs::{succeed, tumit};

use crate::environment::{MpiLibrary, records};

/// The part of a process in an operation.
#[derive(Debug)]
struct OperationPart {
    rank: u64,
    procedure: String,
    bytes: u64,
    size: usize,
}

fn number(record: &Value, name: &str) -> u64 {
    record["fields"][name].as_u64().unwrap_or_else(|| panic!("{name}: {record}"))
}

fn text(record: &Value, name: &str) -> String {
    record["fields"][name].as_str().unwrap_or_else(|| panic!("{name}: {record}")).to_owned()
}

/// The parts of all operations, by communicator, number and start. Each begin has an end, and open
/// operations have different rows.
fn operations(records: &[Value]) -> BTreeMap<(String, u64, u64), Vec<OperationPart>> {
    let mut operations: BTreeMap<_, Vec<OperationPart>> = BTreeMap::new();
    let mut open_rows = BTreeSet::new();
    for record in records {
        let rank = record["rank"].as_u64().expect("each process has a rank");
        match record["event"].as_str() {
            Some("begin_operation") => {
                assert!(open_rows.insert((rank, number(record, "row"))), "the row is in use: {record}");
                let key = (text(record, "communicator"), number(record, "number"), number(record, "start"));
                let size = usize::try_from(number(record, "size")).expect("three processes at most");
                let (procedure, bytes) = (text(record, "procedure"), number(record, "bytes"));
                operations.entry(key).or_default().push(OperationPart { rank, procedure, bytes, size });
            }
            Some("end_operation") => {
                assert!(open_rows.remove(&(rank, number(record, "row"))), "the row is not in use: {record}");
            }
            _ => {}
        }
    }
    assert!(open_rows.is_empty(), "operations without an end: {open_rows:?}");
    operations
}

/// Checks that each operation has a part of each process, with equal procedures and bytes.
fn check_operations(library: &MpiLibrary, records: &[Value], output: &str) {
    let counts: Vec<usize> = output.split_whitespace().map(|count| count.parse().expect("a count")).collect();
    let mut sizes = BTreeMap::new();
    let mut barriers = 0;
    for (key, parts) in operations(records) {
        let first = &parts[0];
        let ranks: BTreeSet<u64> = parts.iter().map(|part| part.rank).collect();
        assert!(ranks.len() == parts.len() && parts.len() == first.size, "{library:?} {key:?}: {parts:?}");
        let is_equal = |part: &OperationPart| part.procedure == first.procedure && part.bytes == first.bytes;
        assert!(parts.iter().all(is_equal), "{library:?} {key:?}: {parts:?}");
        barriers += usize::from(first.procedure == "MPI_Ibarrier" && first.size > 1);
        if first.bytes > 0 {
            let request = (key.0, key.1);
            assert_eq!(*sizes.entry(first.bytes).or_insert_with(|| request.clone()), request, "{library:?}: {parts:?}");
        }
    }
    assert_eq!([sizes.len(), barriers], counts[..], "{library:?}");
    let count = |event: &str, procedure: &str| {
        let is_counted =
            |record: &&Value| record["event"] == event && record["fields"]["procedure"].as_str() == Some(procedure);
        records.iter().filter(is_counted).count()
    };
    let persistent = ["MPI_Bcast_init", "MPI_Allreduce_init"].map(|procedure| count("begin_operation", procedure));
    assert_eq!(persistent, if library.has_mpi_4 { [9, 18] } else { [0, 0] }, "{library:?}");
}

/// Checks the kind of operations without data.
fn check_empty_operations(library: &MpiLibrary, records: &[Value]) {
    let is_empty = |record: &&Value| {
        matches!(record["fields"]["procedure"].as_str(), Some("MPI_Bcast" | "MPI_Ibcast"))
            && matches!(record["event"].as_str(), Some("collective.begin" | "begin_operation"))
            && number(record, "bytes") == 0
    };
    let kinds: Vec<String> = records.iter().filter(is_empty).map(|record| text(record, "kind")).collect();
    // Each of three ranks calls `MPI_Bcast` and `MPI_Ibcast`. The operation of `MPI_Ibcast` has its
    // own record, so there are three records per rank.
    assert_eq!(kinds, ["none"; 9], "{library:?}");
}

/// Checks that each partitioned message has both endpoints, and that they name the same size.
fn check_partitions(library: &MpiLibrary, records: &[Value]) {
    let mut messages: BTreeMap<_, [Vec<u64>; 2]> = BTreeMap::new();
    for record in records {
        let rank = record["rank"].as_u64().expect("each process has a rank");
        let (from, to, end) = match record["event"].as_str() {
            Some("partitioned_send") => (rank, number(record, "to"), 0),
            Some("partitioned_receive") => (number(record, "from"), rank, 1),
            _ => continue,
        };
        let key = (number(record, "communicator"), from, to, number(record, "request"), number(record, "start"));
        messages.entry(key).or_default()[end].push(number(record, "bytes"));
    }
    // Each of three ranks starts two requests twice.
    assert_eq!(messages.len(), if library.has_mpi_4 { 12 } else { 0 }, "{library:?}: {messages:?}");
    for ((.., request, start), sizes) in messages {
        let bytes = if request == 0 { 40 } else { 10 };
        assert_eq!(sizes, [vec![bytes], vec![bytes]], "{library:?}: request {request}, start {start}");
    }
}

#[test]
fn nonblocking_operations_have_a_part_of_each_process() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    for library in MpiLibrary::all() {
        let program = library.compile(folder.path(), "operations.c", &[]);
        let (run, output) = library.record(folder.path(), &program, &[]);
        let records = records(&run);
        check_operations(&library, &records, &output);
        check_partitions(&library, &records);
        check_empty_operations(&library, &records);
        // Rank 1 enters the barrier and `MPI_Finalize` late. On a loaded machine, another rank may
        // be later.
        let late_rank = |event: &str, procedure: &str| {
            let begins = records
                .iter()
                .filter(|record| record["event"] == event && record["fields"]["procedure"].as_str() == Some(procedure));
            let last = begins
                .filter(|record| event != "begin_operation" || text(record, "communicator") == "MPI_COMM_WORLD")
                .max_by_key(|record| record["time_ns"].as_i64());
            let last = last.unwrap_or_else(|| panic!("{library:?}: no {event} of {procedure}"));
            format!("Rank {}", last["rank"])
        };
        let diagnosis = succeed(tumit().args(["diagnose", "--json"]).arg(&run));
        let diagnosis: Value = serde_json::from_str(&diagnosis).expect("the output is an object");
        let waits = diagnosis["waits"].as_array().expect("the waits are an array");
        let is_barrier =
            |wait: &&Value| wait["kind"] == "wait at a collective operation" && wait["state"] == "MPI_Wait";
        let wait = waits.iter().find(is_barrier).unwrap_or_else(|| panic!("{library:?}: {diagnosis}"));
        assert!(wait["main_cause"][0].is_string(), "{library:?}: {wait}");
        // At the end, two ranks wait again. They are not busy while they do.
        let end = waits.iter().find(|wait| wait["state"] == "MPI_Finalize");
        let end = end.unwrap_or_else(|| panic!("{library:?}: {diagnosis}"));
        assert_eq!(end["main_cause"][0], late_rank("job.begin", "MPI_Finalize"), "{library:?}: {end}");
        assert!(end["nanos"].as_i64() > Some(20_000_000), "{library:?}: {end}");
        let collectives = diagnosis["collectives"].as_array().expect("the operations are an array");
        let barrier = collectives
            .iter()
            .find(|group| group["state"] == "MPI_Ibarrier" && group["communicator"] == "MPI_COMM_WORLD");
        let barrier = barrier.unwrap_or_else(|| panic!("{library:?}: {diagnosis}"));
        assert_eq!((&barrier["operations"], &barrier["parts"]), (&1.into(), &3.into()), "{library:?}");
        assert_eq!(barrier["main_cause"][0], late_rank("begin_operation", "MPI_Ibarrier"), "{library:?}: {barrier}");
    }
}
