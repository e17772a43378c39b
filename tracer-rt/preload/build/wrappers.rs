//! The generated C code: the table of MPI's own functions, and the wrappers of all procedures that
//! `mpi/*.h` does not wrap by hand.

use std::fmt::Write as _;

use crate::procedures::Procedure;

/// Procedures that `mpi/*.h` wraps by hand: names without `MPI_` and without the suffix of large
/// counts.
const BY_HAND: [&str; 61] = [
    "Abort",
    "Bsend",
    "Bsend_init",
    "Cancel",
    "Finalize",
    "Ibsend",
    "Improbe",
    "Imrecv",
    "Init",
    "Init_thread",
    "Iprobe",
    "Irecv",
    "Irsend",
    "Isend",
    "Isendrecv",
    "Isendrecv_replace",
    "Issend",
    "Mprobe",
    "Mrecv",
    "Parrived",
    "Pready",
    "Pready_list",
    "Pready_range",
    "Precv_init",
    "Psend_init",
    "Recv",
    "Recv_init",
    "Request_free",
    "Rsend",
    "Rsend_init",
    "Send",
    "Send_init",
    "Sendrecv",
    "Sendrecv_replace",
    "Session_finalize",
    "Session_init",
    "Ssend",
    "Ssend_init",
    "Start",
    "Startall",
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
    "Type_free",
    "Comm_free",
    "Comm_disconnect",
    "Comm_set_name",
    "Win_complete",
    "Win_fence",
    "Win_free",
    "Win_lock",
    "Win_post",
    "Win_start",
    "Win_test",
    "Win_unlock",
    "Win_wait",
];

/// The declaration of a table with a pointer to each of MPI's functions, and the list of its
/// elements.
pub(crate) fn function_table(procedures: &[Procedure]) -> String {
    let mut out = String::from("struct mpi_functions {\n");
    for procedure in procedures {
        let _ = writeln!(out, "    int (*{})({});", procedure.name, procedure.declarations());
    }
    out.push_str("    int (*MPI_Pcontrol)(const int level, ...);\n};\n\n");
    out.push_str("static const char *const function_names[] = {\n");
    for procedure in procedures {
        let _ = writeln!(out, "    \"{}\",", procedure.name);
    }
    out.push_str("    \"MPI_Pcontrol\",\n};\n\n/* The numbers of procedures, as in the spec. */\nenum {\n");
    for procedure in procedures {
        let _ = writeln!(out, "    PROCEDURE_{},", procedure.name);
    }
    out.push_str("};\n");
    out
}

/// The wrappers, and the table of all wrappers in the order of `tumit_mpi_entries`.
pub(crate) fn wrappers(procedures: &[Procedure]) -> String {
    let mut out = String::new();
    for procedure in procedures {
        if !BY_HAND.contains(&procedure.plain_name()) {
            out.push_str(&wrapper(procedure));
        }
    }
    out.push_str("static void *const wrappers[] = {\n");
    for procedure in procedures {
        let _ = writeln!(out, "    (void *)w_{},", procedure.name);
    }
    out.push_str("    (void *)w_MPI_Pcontrol,\n    NULL,\n};\n");
    out
}

/// The wrapper of a procedure: it records a span, unless the call comes from another procedure.
fn wrapper(procedure: &Procedure) -> String {
    if procedure.level == "MPI_RMA" {
        return one_sided(procedure);
    }
    if procedure.level == "MPI_COLL" && !is_blocking(procedure) {
        return nonblocking_collective(procedure);
    }
    let name = &procedure.name;
    let (declarations, arguments) = (procedure.declarations(), procedure.arguments());
    let comma = if arguments.is_empty() { "" } else { ", " };
    let (begin, end, after) = match procedure.level.as_str() {
        "MPI_COLL" => (collective_begin(procedure), "tumit_mpi_end_collective", String::new()),
        "MPI_IO" => {
            let bytes = if procedure.has("datatype") { "bytes_of(count, datatype)" } else { "0" };
            (format!("tumit_mpi_begin_file(PROCEDURE_{name}, {bytes})"), "tumit_mpi_end_file", String::new())
        }
        "MPI_TOPO" => (
            format!("tumit_mpi_begin_topology(PROCEDURE_{name})"),
            "tumit_mpi_end_topology",
            communicator_creation(procedure),
        ),
        "MPI_P2P" => {
            (format!("tumit_mpi_begin_point_to_point(PROCEDURE_{name})"), "tumit_mpi_end_point_to_point", String::new())
        }
        "MPI_ENV" => (format!("tumit_mpi_begin_query(PROCEDURE_{name})"), "tumit_mpi_end_query", String::new()),
        other => panic!("{name}: level {other} has no generated wrapper"),
    };
    format!(
        "static int w_{name}({declarations}) {{
    ENTER_CALL(is_recorded(), {name}{comma}{arguments});
    {begin};
    error_code = mpi.{name}({arguments});
{after}    {end}();
    LEAVE_CALL();
}}
"
    )
}

/// The wrapper of a procedure of one-sided communication.
fn one_sided(procedure: &Procedure) -> String {
    let name = &procedure.name;
    let (declarations, arguments) = (procedure.declarations(), procedure.arguments());
    let target = if procedure.has("target_rank") {
        "target_rank_of(win, target_rank)"
    } else if procedure.has("rank") {
        "target_rank_of(win, rank)"
    } else {
        "NO_RANK"
    };
    let bytes = if procedure.has("result_count") {
        "bytes_of(result_count, result_datatype)"
    } else if procedure.has("origin_count") {
        "bytes_of(origin_count, origin_datatype)"
    } else if procedure.has("datatype") {
        "bytes_of(1, datatype)"
    } else {
        "0"
    };
    let direction = match procedure.plain_name() {
        "Put" | "Rput" | "Accumulate" | "Raccumulate" => "put",
        "Get" | "Rget" => "get",
        "Get_accumulate" | "Rget_accumulate" | "Fetch_and_op" | "Compare_and_swap" => "both",
        _ => "none",
    };
    let creation = if procedure.has("comm") && procedure.has("win") {
        "    if (error_code == MPI_SUCCESS) {\n        add_window(comm, *win);\n    }\n"
    } else {
        ""
    };
    format!(
        "static int w_{name}({declarations}) {{
    int target;
    ENTER_CALL(is_recorded(), {name}, {arguments});
    target = {target};
    tumit_mpi_begin_one_sided(PROCEDURE_{name}, TRANSFER_{direction}, target, {bytes});
    error_code = mpi.{name}({arguments});
{creation}    tumit_mpi_end_one_sided(TRANSFER_{direction}, target);
    LEAVE_CALL();
}}
"
    )
}

/// The statements after a call that makes a communicator.
fn communicator_creation(procedure: &Procedure) -> String {
    const CREATED: [&str; 8] = [
        "comm_cart",
        "comm_graph",
        "comm_dist_graph",
        "newcomm",
        "newintercomm",
        "newintracomm",
        "intercomm",
        "parent",
    ];
    let Some(created) = CREATED.iter().rev().find(|name| procedure.has(name)) else { return String::new() };
    let parent = match procedure.plain_name() {
        // These communicators connect processes with different parents.
        "Comm_accept"
        | "Comm_connect"
        | "Comm_join"
        | "Comm_get_parent"
        | "Comm_spawn"
        | "Comm_spawn_multiple"
        | "Intercomm_create"
        | "Intercomm_create_from_groups"
        | "Intercomm_merge"
        | "Comm_create_group"
        | "Comm_create_from_group" => None,
        _ if procedure.has("comm_old") => Some("comm_old"),
        _ => Some("comm"),
    };
    let created =
        if *created == "intercomm" && procedure.plain_name() == "Intercomm_merge" { "newintracomm" } else { created };
    match parent {
        Some(parent) => {
            format!("    add_communicator({parent}, error_code == MPI_SUCCESS ? *{created} : MPI_COMM_NULL);\n")
        }
        None => format!("    add_separate_communicator(error_code == MPI_SUCCESS ? *{created} : MPI_COMM_NULL);\n"),
    }
}

/// The wrapper of a non-blocking or persistent collective operation. The call is a span, and the
/// operation lasts until its request completes.
fn nonblocking_collective(procedure: &Procedure) -> String {
    let name = &procedure.name;
    let (declarations, arguments) = (procedure.declarations(), procedure.arguments());
    let (operation, bytes) = (operation_arguments(procedure), bytes_expression(procedure));
    let root = root(procedure);
    let is_persistent = procedure.plain_name().ends_with("_init");
    let start = "if (operation != NULL) {
        start_operation(operation);
    }
    ";
    let (start, add) = if is_persistent { ("", "persistent_operation") } else { (start, "operation_request") };
    format!(
        "static int w_{name}({declarations}) {{
    struct operation *operation;
    uint64_t bytes;
    ENTER_CALL(is_recorded(), {name}, {arguments});
    bytes = {bytes};
    begin_collective(PROCEDURE_{name}, COLLECTIVE_none, comm, {root}, bytes);
    lock_tables();
    operation = add_operation({operation}, bytes);
    {start}unlock_tables();
    error_code = mpi.{name}({arguments});
    lock_tables();
    add_{add}(operation, error_code, request);
    unlock_tables();
    tumit_mpi_end_collective();
    LEAVE_CALL();
}}
"
    )
}

fn is_blocking(procedure: &Procedure) -> bool {
    let plain = procedure.plain_name();
    !plain.starts_with('I') && !plain.ends_with("_init")
}

/// The call that begins a blocking collective operation.
fn collective_begin(procedure: &Procedure) -> String {
    format!("begin_collective({}, {})", operation_arguments(procedure), bytes_expression(procedure))
}

/// The arguments that describe a collective operation: procedure, kind, communicator and root.
fn operation_arguments(procedure: &Procedure) -> String {
    let plain = procedure.plain_name();
    let plain = plain.strip_suffix("_init").unwrap_or(plain).to_lowercase();
    let kind = match plain.strip_prefix('i').unwrap_or(&plain) {
        "barrier" => "barrier",
        "bcast" | "scatter" | "scatterv" => "one_to_all",
        "reduce" | "gather" | "gatherv" => "all_to_one",
        "allgather"
        | "allgatherv"
        | "allreduce"
        | "alltoall"
        | "alltoallv"
        | "alltoallw"
        | "reduce_scatter"
        | "reduce_scatter_block" => "all_to_all",
        _ => "none",
    };
    format!("PROCEDURE_{}, COLLECTIVE_{kind}, comm, {}", procedure.name, root(procedure))
}

fn root(procedure: &Procedure) -> &'static str {
    if procedure.has("root") { "root" } else { "NO_ROOT" }
}

/// The expression for the number of bytes of a collective operation, for all communicators.
fn bytes_expression(procedure: &Procedure) -> String {
    // The arrays of neighbourhood operations have as many elements as there are neighbours. Some
    // arguments of operations between two groups are undefined.
    let is_neighborhood = procedure.plain_name().to_lowercase().contains("neighbor");
    let bytes = if is_neighborhood { "0".to_owned() } else { collective_bytes(procedure) };
    format!("is_intercommunicator(comm) ? 0 : {bytes}")
}

/// The expression for the number of bytes that this process sends, or receives if it sends none.
fn collective_bytes(procedure: &Procedure) -> String {
    let plain = procedure.plain_name().to_lowercase();
    let count = if procedure.name.ends_with("_c") { "_c" } else { "" };
    let processes = "communicator_size(comm)";
    if procedure.has("sendtypes") {
        return format!(
            "sendbuf == MPI_IN_PLACE ? sum_of_types{count}(recvcounts, recvtypes, {processes}) \
             : sum_of_types{count}(sendcounts, sendtypes, {processes})"
        );
    }
    if procedure.has("sendcounts") {
        let sent = format!("sum_of_bytes{count}(sendcounts, sendtype, {processes})");
        if plain.contains("scatter") {
            return format!("is_root(comm, root) ? {sent} : bytes_of(recvcount, recvtype)");
        }
        return format!("sendbuf == MPI_IN_PLACE ? sum_of_bytes{count}(recvcounts, recvtype, {processes}) : {sent}");
    }
    if procedure.has("sendcount") {
        let all = if plain.contains("alltoall") || plain.contains("scatter") {
            format!(" * {processes}")
        } else {
            String::new()
        };
        if plain.contains("scatter") {
            return format!("is_root(comm, root) ? bytes_of(sendcount, sendtype){all} : bytes_of(recvcount, recvtype)");
        }
        let own_part = if procedure.has_array("recvcounts") {
            "bytes_of(recvcounts[rank_in_communicator(comm)], recvtype)"
        } else {
            "bytes_of(recvcount, recvtype)"
        };
        return format!("sendbuf == MPI_IN_PLACE ? {own_part}{all} : bytes_of(sendcount, sendtype){all}");
    }
    if procedure.has("recvcounts") {
        return format!("sum_of_bytes{count}(recvcounts, datatype, {processes})");
    }
    if procedure.has("recvcount") {
        return format!("bytes_of(recvcount, datatype) * {processes}");
    }
    let count = if procedure.has("count") { "count" } else { return "0".to_owned() };
    format!("bytes_of({count}, datatype)")
}
