//! Links: either endpoint first in the file, either endpoint first in time, several pending at the
//! same time.
//!
//! `pj_dump` has a requirement on the endpoint that completes a link. Its timestamp must not be
//! before either endpoint of the previously completed link of the same type in the same container.

use std::collections::BTreeMap;

use super::TraceGenerator;
use super::generator_state::{StepNumbers, TreeLevel};
use super::notation::seconds;

/// Types: identifier, level of the holder, levels of the endpoints.
const LINKS: [(&str, TreeLevel, TreeLevel, TreeLevel); 3] = [
    ("L", TreeLevel::Root, TreeLevel::Thread, TreeLevel::Thread),
    ("M", TreeLevel::Process, TreeLevel::Thread, TreeLevel::Thread),
    ("X", TreeLevel::Root, TreeLevel::Process, TreeLevel::Thread),
];

#[derive(Clone, Debug)]
struct OpenEndpoint {
    ty: usize,
    holder: usize,
    value: &'static str,
    key: String,
    timestamp: u64,
    starts: bool,
}

/// Pending links.
#[derive(Debug, Default)]
pub(super) struct OpenLinks {
    open: Vec<OpenEndpoint>,
    /// For each type and holder: the latest timestamp of the link completed last.
    last: BTreeMap<(usize, usize), u64>,
    keys: u32,
}

impl OpenLinks {
    /// Whether this container is the holder of a pending link.
    pub(super) fn is_held(&self, container: usize) -> bool {
        self.open.iter().any(|endpoint| endpoint.holder == container)
    }
}

impl TraceGenerator {
    pub(super) fn link(&mut self, step: StepNumbers) {
        let [kind, selector, type_number, number, form] = step;
        if kind % 2 == 0
            && let Some(link) = usize::from(selector).checked_rem(self.links.open.len())
        {
            return self.complete(link, number, form);
        }
        let ty = usize::from(type_number) % LINKS.len();
        let (_, level, start, end) = LINKS[ty];
        let Some(holder) = self.alive(level, selector) else { return };
        let starts = form % 3 > 0;
        let Some(container) = self.alive(if starts { start } else { end }, number) else { return };
        // Before 0, `pj_dump` searches links by starts that are not in order.
        let timestamp = self.largest.saturating_sub(number.into()).max(self.zero);
        self.links.keys += 1;
        let value = if ty == 0 && form % 5 == 0 { "n" } else { "m" };
        // Other types may use the same key.
        let endpoint = OpenEndpoint { ty, holder, value, key: format!("{}_k", self.links.keys), timestamp, starts };
        self.append_endpoint(&endpoint, container, starts, timestamp, form);
        self.links.open.push(endpoint);
    }

    fn complete(&mut self, link: usize, number: u16, form: u16) {
        let endpoint = self.links.open[link].clone();
        let place = (endpoint.ty, endpoint.holder);
        let (_, _, start, end) = LINKS[endpoint.ty];
        let Some(container) = self.alive(if endpoint.starts { end } else { start }, number) else { return };
        let last = self.links.last.get(&place).copied().unwrap_or(0);
        let timestamp = match (endpoint.starts, number % 4) {
            // Before the other endpoint's timestamp, if that is allowed.
            (_, 0) => last.max(endpoint.timestamp.saturating_sub(100)),
            (true, _) => last.max(endpoint.timestamp) + u64::from(number),
            (false, _) => last.max(endpoint.timestamp.saturating_sub(number.into())),
        };
        let timestamp = timestamp.max(self.zero);
        let (start, end) =
            if endpoint.starts { (endpoint.timestamp, timestamp) } else { (timestamp, endpoint.timestamp) };
        self.links.open.remove(link);
        self.links.last.insert(place, start.max(end));
        self.count("links");
        if end < start {
            self.count("links that end before they start");
        }
        if !endpoint.starts {
            self.count("links with the end before the start in the file");
        }
        self.append_endpoint(&endpoint, container, !endpoint.starts, timestamp, form);
    }

    fn append_endpoint(&mut self, endpoint: &OpenEndpoint, container: usize, starts: bool, timestamp: u64, form: u16) {
        let fields = [
            ("Time", seconds(timestamp, form)),
            ("Type", LINKS[endpoint.ty].0.to_owned()),
            ("Container", self.containers[endpoint.holder].id.clone()),
            ("Value", endpoint.value.to_owned()),
            (if starts { "StartContainer" } else { "EndContainer" }, self.containers[container].id.clone()),
            ("Key", endpoint.key.clone()),
        ];
        let start = if form.is_multiple_of(4) { "start2" } else { "start" };
        self.line(if starts { start } else { "end" }, &fields);
        // A container is not destroyed before the links that it held.
        let slot = self.containers[endpoint.holder].slots.entry("link").or_default();
        slot.0 = slot.0.max(timestamp);
    }

    /// Completes all pending links.
    pub(super) fn close_links(&mut self) {
        let mut attempt = 0;
        while !self.links.open.is_empty() {
            if self.alive(TreeLevel::Thread, 0).is_none() {
                let timestamp = self.largest;
                self.create(TreeLevel::Thread, 1, timestamp, 0);
            }
            attempt += 1;
            self.complete(0, 5 + attempt % 3, 1);
        }
    }
}
