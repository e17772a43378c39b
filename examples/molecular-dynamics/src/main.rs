//! Molecular dynamics on one controlling and four working nodes: the case study of Pajé's articles,
//! traced with Tumit.
//!
//! **The program.** Node 0 only controls. Nodes 1 to 4 work; each owns the atoms in its part of a
//! periodic box and has nine threads ([`node::Role`]):
//! - `main` moves the atoms.
//! - `local` computes the forces among them.
//! - Three `forces N` threads compute the forces between these atoms and those that node N sends.
//! - Three `exchange N` threads send coordinates to node N and receive the forces.
//! - `control` communicates with node 0.
//!
//! They use messages ([`message`]), a mutex and a semaphore ([`locks`]).
//!
//! **Real parts.** The physics: every force is computed by the responsible node, and `--check`
//! compares positions and energies with an unpartitioned run ([`mod@reference`]). Threads,
//! messages, locks, waits and wake-ups are real too.
//!
//! **Paced part.** The *duration* of a piece of work: each node simulates a machine with one slow
//! processor (or `--processors`), and its threads queue for it. A piece of work is stretched to the
//! time that it would need there ([`machine`]). Otherwise thirty-seven threads on two cores would
//! show the scheduler of this computer instead of the placement of the atoms.
//!
//! **Tracing.** `md.tumit` describes the events; [`trace`] has a function for each kind of action.
//! No other part of the program depends on the trace.

mod args;
mod cells;
mod cluster;
mod controller;
mod locks;
mod machine;
mod message;
mod node;
mod physics;
mod placement;
mod reference;
mod trace;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use args::Args;
use cells::Grid;
use cluster::{Outcome, Setup};

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(agrees) => ExitCode::from(u8::from(!agrees)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the simulation and prints its results; returns false if a check failed.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let system = physics::droplet_in_gas(args.atoms as usize, args.seed);
    let grid = Grid::new(system.side, args.cutoff).ok_or_else(|| {
        format!(
            "the box of {} atoms is too small for a cut-off of {}: use more --atoms or a smaller --cutoff",
            args.atoms, args.cutoff
        )
    })?;
    let started = Instant::now();
    let outcome = cluster::run(Setup {
        system: system.clone(),
        grid,
        owners: placement::owners(args.placement, &grid, &system, args.seed),
        cutoff: args.cutoff,
        steps: args.steps,
        processors: args.processors,
        unit: Duration::from_nanos(args.pace.into()),
    })?;
    let wall = started.elapsed();
    let agreement = args.check.then(|| reference::compare(&outcome, system, args.cutoff));
    print(&outcome, agreement.as_ref(), wall)?;
    if !outcome.history.is_complete() {
        return Err("an atom moved so far in one step that pairs may have been missed: the system is not stable".into());
    }
    Ok(agreement.is_none_or(|agreement| agreement.is_good()))
}

/// Prints the results, one line for each subject, readable for people and tests.
fn print(outcome: &Outcome, agreement: Option<&reference::Agreement>, wall: Duration) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let first = outcome.history.balances.first().copied().unwrap_or_default();
    let last = outcome.history.balances.last().copied().unwrap_or_default();
    writeln!(
        out,
        "energy: start={:.6} end={:.6} drift={:.2e}",
        first.energy(),
        last.energy(),
        last.energy() / first.energy() - 1.0
    )?;
    writeln!(out, "momentum: {:.2e}", last.momentum.norm())?;
    if let Some(agreement) = agreement {
        let verdict = if agreement.is_good() { "good" } else { "BAD" };
        writeln!(
            out,
            "check: {verdict} position={:.2e} energy={:.2e} drift={:.2e} momentum={:.2e}",
            agreement.position, agreement.energy, agreement.drift, agreement.momentum
        )?;
    }
    write!(out, "idle:")?;
    for (node, usage) in (1..).zip(&outcome.usage) {
        write!(out, " node{node}={:.3}", usage.idle)?;
    }
    let mean = outcome.usage.iter().map(|usage| usage.idle).sum::<f64>() / outcome.usage.len() as f64;
    writeln!(out, " mean={mean:.3}")?;
    let pieces: u64 = outcome.usage.iter().map(|usage| usage.pieces).sum();
    let delay = outcome.usage.iter().map(|usage| usage.delay).max().unwrap_or_default();
    writeln!(out, "pace: pieces={pieces} longest_delay={:.1} ms", delay.as_secs_f64() * 1e3)?;
    writeln!(out, "counts: {}", trace::counts())?;
    writeln!(out, "wall: {:.3} s", wall.as_secs_f64())
}
