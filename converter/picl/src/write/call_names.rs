//! The activities of calls of MPI and of collective operations, by their names.

use tumit_paje::collective::CollectiveKind;

use crate::node_activity::Activity;

/// Calls without the prefix `MPI_`, in lower case. The first name that a call begins with counts.
const CALLS: &[(&str, Activity)] = &[
    ("send_init", Activity::Setup),
    ("sendrecv", Activity::Receive),
    ("send", Activity::Send),
    ("bsend", Activity::Send),
    ("ssend", Activity::Send),
    ("rsend", Activity::Send),
    ("isend", Activity::SendBegin),
    ("ibsend", Activity::SendBegin),
    ("issend", Activity::SendBegin),
    ("irsend", Activity::SendBegin),
    ("recv_init", Activity::Setup),
    ("recv", Activity::Receive),
    ("mrecv", Activity::Receive),
    ("irecv", Activity::ReceiveBegin),
    ("probe", Activity::Probe),
    ("iprobe", Activity::Probe),
    ("barrier", Activity::Barrier),
    ("bcast", Activity::Broadcast),
    ("reduce_scatter", Activity::ReduceScatter),
    ("reduce_local", Activity::Compute),
    ("reduce", Activity::Reduce),
    ("allreduce", Activity::Allreduce),
    ("allgather", Activity::Allgather),
    ("alltoall", Activity::Alltoall),
    ("gather", Activity::Gather),
    ("scatter", Activity::Scatter),
    ("scan", Activity::Scan),
    ("exscan", Activity::Scan),
    ("pack", Activity::Pack),
    ("unpack", Activity::Unpack),
    ("file_", Activity::File),
    ("comm_", Activity::Setup),
    ("cart_", Activity::Setup),
    ("init", Activity::Setup),
    ("finalize", Activity::Setup),
];

/// The activity of a call of MPI. `None` for other names, and for calls without an event in PICL.
pub(super) fn activity_of_call(name: &str) -> Option<Activity> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('p').filter(|rest| rest.starts_with("mpi_")).unwrap_or(&name);
    let call = name.strip_prefix("mpi_")?;
    let activity = CALLS.iter().find(|(start, _)| call.starts_with(start)).map(|(_, activity)| *activity);
    activity.filter(|activity| *activity != Activity::Compute)
}

/// The activity of a collective operation, by the name of its state and by its kind.
pub(super) fn activity_of_operation(name: &str, kind: CollectiveKind) -> Activity {
    let of_name = activity_of_call(name).or_else(|| activity_of_call(&format!("MPI_{name}")));
    of_name.filter(|activity| activity.collective_kind() == Some(kind)).unwrap_or(match kind {
        CollectiveKind::Barrier => Activity::Barrier,
        CollectiveKind::OneToAll => Activity::Broadcast,
        CollectiveKind::AllToOne => Activity::Reduce,
        CollectiveKind::AllToAll => Activity::Alltoall,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_activity_of_their_event() {
        for (name, expected) in [
            ("MPI_Send", Some(Activity::Send)),
            ("PMPI_Isend", Some(Activity::SendBegin)),
            ("MPI_Allreduce", Some(Activity::Allreduce)),
            ("MPI_Reduce_scatter_block", Some(Activity::ReduceScatter)),
            ("MPI_Gatherv", Some(Activity::Gather)),
            ("MPI_Wait", None),
            ("send", None),
            ("compute", None),
        ] {
            assert_eq!(activity_of_call(name), expected, "{name}");
        }
        assert_eq!(activity_of_operation("Gather", CollectiveKind::AllToOne), Activity::Gather);
        // The kind takes precedence over the name.
        assert_eq!(activity_of_operation("MPI_Barrier", CollectiveKind::AllToAll), Activity::Alltoall);
        assert_eq!(activity_of_operation("exchange", CollectiveKind::Barrier), Activity::Barrier);
    }
}
