//! The thread between its node and node 0: it passes orders in and reports out.

use crate::message::{Inbox, Order, Port, Report};
use crate::trace::ThreadAddress;

/// The channels to node 0 and to the main thread.
#[derive(Debug)]
pub(crate) struct Control {
    /// From node 0.
    pub(crate) orders: Inbox<Order>,
    /// To the main thread.
    pub(crate) to_main: Port<Order>,
    /// From the main thread.
    pub(crate) from_main: Inbox<Report>,
    /// To node 0.
    pub(crate) reports: Port<Report>,
}

impl Control {
    /// Serves until node 0 sends no more orders.
    pub(crate) fn run(mut self, place: ThreadAddress) {
        while let Some(order) = self.orders.receive(place) {
            self.to_main.post(place, order);
            let Some(report) = self.from_main.receive(place) else { return };
            self.reports.post(place, report);
        }
    }
}
