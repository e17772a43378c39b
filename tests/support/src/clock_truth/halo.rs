//! Messages of a bulk-synchronous program: all processes form a ring, compute, then exchange with
//! both neighbours.

use super::random::SplitMix;
use super::run_parameters::{ClockRunParameters, START};

/// A message: sender, receiver, and the true timestamps at which it is sent and received.
pub(super) struct HaloMessage {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) sent: f64,
    pub(super) received: f64,
}

/// The messages of all iterations. `latency` gives the time in flight between two processes.
///
/// A process that finishes its computation late also receives its messages late: they wait in its
/// node. In each iteration, one of the two directions between neighbours therefore takes about as
/// long as the loads differ. Only the other direction shows the delay of the network.
pub(super) fn messages(
    parameters: &ClockRunParameters,
    imbalance: f64,
    random: &mut SplitMix,
    mut latency: impl FnMut(usize, usize) -> f64,
) -> Vec<HaloMessage> {
    let processes = parameters.nodes * parameters.per_node;
    let iterations = (parameters.links / (2 * processes)).max(1);
    // The slowest of three processes takes longer by this factor on average.
    let period = parameters.seconds * 1e9 / (iterations as f64 * (1.0 + imbalance));
    let mut free = vec![START; processes];
    let mut all = Vec::with_capacity(parameters.links);
    for _ in 0..iterations {
        let load = |_| period * (1.0 + imbalance * random.signed() * 3f64.sqrt());
        let loads: Vec<f64> = (0..processes).map(load).collect();
        let computed: Vec<f64> = free.iter().zip(&loads).map(|(free, load)| free + load).collect();
        for from in 0..processes {
            for to in [(from + 1) % processes, (from + processes - 1) % processes] {
                let sent = computed[from] + 200.0;
                // The receiver polls only after its computation.
                let received = (sent + latency(from, to)).max(computed[to] + 400.0);
                all.push(HaloMessage { from, to, sent, received });
                free[to] = free[to].max(received);
            }
        }
    }
    all
}
