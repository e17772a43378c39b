//! Node 0: it owns no atoms. It orders each step, adds up the reports of the nodes, and decides
//! when atoms move to other nodes.

use crate::cells::SKIN;
use crate::message::{Inbox, Order, Port, Report};
use crate::physics::Balance;
use crate::trace::{self, ThreadAddress};

/// Node 0 and its only thread.
pub(crate) const PLACE: ThreadAddress = ThreadAddress { node: 0, thread: 0 };

/// Atoms are redistributed when one of them has moved by half of the distance beyond which a pair
/// could be missed.
const REDISTRIBUTE_BEYOND: f64 = SKIN / 4.0;

/// The course of a run at node 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunHistory {
    /// Energies and momentum of the initial state and after each step.
    pub(crate) balances: Vec<Balance>,
    /// The largest displacement of an atom since it was sorted into its cell.
    pub(crate) displacement: f64,
}

impl RunHistory {
    /// Whether no atom ever moved so far that a pair could have been missed.
    pub(crate) fn is_complete(&self) -> bool {
        self.displacement <= SKIN / 2.0
    }
}

/// Leads all nodes through `steps` steps.
pub(crate) fn run(mut orders: Vec<Port<Order>>, reports: &Inbox<Report>, steps: u32) -> RunHistory {
    let mut history = RunHistory::default();
    let mut order = Order::Begin;
    for step in 0..=steps {
        trace::record_order(step, order == Order::Step { redistribute: true });
        for port in &mut orders {
            port.post(PLACE, order);
        }
        let mut balance = Balance::default();
        let mut displacement: f64 = 0.0;
        for _ in &orders {
            let Some(report) = reports.receive(PLACE) else { return history };
            balance += report.balance;
            displacement = displacement.max(report.displacement);
        }
        trace::record_balance(step, &balance);
        history.balances.push(balance);
        history.displacement = history.displacement.max(displacement);
        order = Order::Step { redistribute: displacement > REDISTRIBUTE_BEYOND };
    }
    history
}
