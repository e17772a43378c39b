//! The numbers that identify a process: its random id, and its rank in the job.

use crate::local_clock;

/// A random number for the process, unique over all runs.
pub(crate) fn new_id() -> [u8; 16] {
    let mut id = [0; 16];
    // SAFETY: pointer and length are of one live array.
    let random_bytes = unsafe { libc::getrandom(id.as_mut_ptr().cast(), id.len(), 0) };
    if random_bytes != 16 {
        let anchor = local_clock::anchor();
        id[..8].copy_from_slice(&(anchor.real_nanos ^ anchor.ticks.rotate_left(32)).to_le_bytes());
        id[8..].copy_from_slice(&(u64::from(std::process::id()) << 32 ^ anchor.ticks).to_le_bytes());
    }
    id
}

/// The rank of the process, and the number of ranks of its job if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRank {
    pub(crate) rank: u64,
    pub(crate) ranks: Option<u64>,
}

/// Rank and number of ranks, from the variables of known launchers.
pub(crate) fn rank() -> Option<JobRank> {
    const LAUNCHERS: [(&str, &str); 5] = [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMIX_RANK", "PMIX_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
    ];
    // In a batch script, outside job steps, Slurm sets rank 0 for each program.
    let is_launched = |rank: &&(&str, &str)| rank.0 != "SLURM_PROCID" || text_of("SLURM_STEP_ID").is_some();
    LAUNCHERS.iter().filter(is_launched).find_map(|(rank, ranks)| {
        Some(JobRank { rank: integer_of(rank)?, ranks: integer_of(ranks).filter(|ranks| *ranks > 0) })
    })
}

pub(super) fn text_of(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| !text.is_empty())
}

pub(super) fn integer_of(variable: &str) -> Option<u64> {
    text_of(variable)?.trim().parse().ok()
}
