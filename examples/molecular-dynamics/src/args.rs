//! The command line.

use clap::Parser;

use crate::placement::Placement;

/// Molecular dynamics on one controlling and four working nodes: the case study of Pajé's articles.
///
/// A dense droplet in a thin gas of Lennard-Jones atoms is distributed over four nodes of nine
/// threads each. With a random placement, some nodes own much of the droplet, and the others wait
/// for them. A balanced placement gives all nodes the same work. `TUMIT_TRACE=run.tmt` sets the
/// folder of the trace.
#[derive(Clone, Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Distribution of the box over the nodes
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) placement: Placement,
    /// Number of atoms
    #[arg(long, default_value_t = 14_000, value_parser = clap::value_parser!(u32).range(250..=2_000_000))]
    pub(crate) atoms: u32,
    /// Number of time steps
    #[arg(long, default_value_t = 14)]
    pub(crate) steps: u32,
    /// Seed of the velocities and of the random placement
    #[arg(long, default_value_t = 2)]
    pub(crate) seed: u64,
    /// Largest distance at which atoms act on each other, in units of their diameter
    #[arg(long, default_value_t = 2.5, value_parser = cutoff)]
    pub(crate) cutoff: f64,
    /// Processors of each working node
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) processors: u32,
    /// Nanoseconds that a node's processor needs to test a pair of atoms; 0: as few as this
    /// computer needs
    #[arg(long, default_value_t = 50)]
    pub(crate) pace: u32,
    /// Compare the result with that of one thread, and fail if they differ
    #[arg(long)]
    pub(crate) check: bool,
}

fn cutoff(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (1.2..=10.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 1.2 to 10".to_owned()),
    }
}
