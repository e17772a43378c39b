//! [`MessageCounts`]: pairs sends with receives.
//!
//! Messages with the same sender, receiver and type arrive in the order in which they were sent.
//! So the n-th send of a channel belongs to its n-th receive. Their times are not compared. A first
//! pass counts the sends and receives of each channel. The second pass then knows whether a send
//! has a receive before it reads the receive, so no endpoint is kept in memory.

use rustc_hash::FxHashMap;

use super::trace_units::{TraceUnit, TraceUnits};

/// Any source, or any type.
pub(crate) const ANY: i64 = -1;

/// The endpoint of a message in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PiclEndpoint {
    /// The unit at the other end. The node is -1 for any source, or for all other nodes.
    pub(crate) peer: TraceUnit,
    /// The type of the message, often called tag. -1 is any type.
    pub(crate) tag: i64,
    pub(crate) bytes: i64,
}

impl PiclEndpoint {
    /// The endpoint as the words of an action.
    pub(crate) fn to_words(self) -> [i64; 3] {
        [self.peer.node << 32 | (self.peer.process & 0xffff_ffff), self.tag, self.bytes]
    }

    /// The endpoint from the words of an action.
    pub(crate) fn of_words([peer, tag, bytes]: [i64; 3]) -> Self {
        let peer = TraceUnit { node: peer >> 32, process: i64::from(peer as i32) };
        Self { peer, tag, bytes }
    }
}

/// Messages that are paired in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MessageChannel {
    source: TraceUnit,
    target: TraceUnit,
    tag: i64,
}

impl MessageChannel {
    /// Whether these are receives of any source or type. Some writers also send with type -1.
    fn is_wildcard(&self, ends: EndpointCounts) -> bool {
        self.source.node == ANY || (self.tag == ANY && ends.sends == 0)
    }

    /// Whether a send of the channel `send` can be received here.
    fn accepts(&self, send: &Self) -> bool {
        self.target == send.target
            && (self.source.node == ANY || self.source == send.source)
            && (self.tag == ANY || self.tag == send.tag)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct EndpointCounts {
    sends: u64,
    receives: u64,
}

/// Counts the endpoints of each channel.
#[derive(Debug, Default)]
pub(crate) struct MessageCounts {
    channels: FxHashMap<MessageChannel, EndpointCounts>,
    /// Whether some endpoint does not name the process at the other end.
    lacks_processes: bool,
}

impl MessageCounts {
    pub(crate) fn send(&mut self, unit: TraceUnit, endpoint: PiclEndpoint) {
        self.lacks_processes |= endpoint.peer.process < 0;
        let channel = MessageChannel { source: unit, target: endpoint.peer, tag: endpoint.tag };
        self.channels.entry(channel).or_default().sends += 1;
    }

    pub(crate) fn receive(&mut self, unit: TraceUnit, endpoint: PiclEndpoint) {
        self.lacks_processes |= endpoint.peer.process < 0;
        let channel = MessageChannel { source: endpoint.peer, target: unit, tag: endpoint.tag };
        self.channels.entry(channel).or_default().receives += 1;
    }

    /// Ends the first pass.
    pub(crate) fn pair(self, units: &TraceUnits) -> MessagePairs {
        let nodes: Vec<i64> = units.nodes().collect();
        let by_process = units.has_processes() && !self.lacks_processes;
        let mut pairs = MessagePairs {
            channels: FxHashMap::default(),
            wildcards: Vec::new(),
            nodes,
            by_process,
            first_processes: FxHashMap::default(),
        };
        if by_process {
            let first = |unit: &TraceUnit| (unit.node, units.canonical_unit(TraceUnit::of_node(unit.node)).process);
            pairs.first_processes = units.units.iter().map(first).collect();
        }
        // The result must not depend on the order of the hash map.
        let mut counts: Vec<(MessageChannel, EndpointCounts)> = self.channels.into_iter().collect();
        counts.sort_unstable_by_key(|(channel, _)| channel_order(channel));
        for (channel, ends) in &counts {
            if channel.target.node == ANY {
                for target in pairs.targets_of(channel.source) {
                    pairs.state(MessageChannel { target: TraceUnit::of_node(target), ..*channel }).ends.sends +=
                        ends.sends;
                }
            } else {
                let state = pairs.state(*channel);
                state.ends.sends += ends.sends;
                state.ends.receives += ends.receives;
            }
        }
        pairs.assign_keys();
        pairs
    }
}

fn channel_order(channel: &MessageChannel) -> [i64; 5] {
    let MessageChannel { source, target, tag } = *channel;
    [target.node, target.process, source.node, source.process, tag]
}

/// The key of both endpoints of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageKey {
    pub(crate) key: u64,
    /// Whether the receive is one of any source or type, so that its type can differ from that of
    /// the send.
    pub(crate) is_any: bool,
}

/// A channel in the second pass.
#[derive(Clone, Copy, Debug, Default)]
struct ChannelState {
    ends: EndpointCounts,
    /// Number of sends and receives so far.
    counts: EndpointCounts,
    /// Key of the first message.
    first_key: u64,
    /// The receives of any source or type that take the sends beyond the receives of this channel,
    /// and the number of these sends.
    wildcard_receive: Option<(usize, u64)>,
    /// The number of these receives, if the channel itself is of any source or type.
    own_wildcard: Option<usize>,
}

/// Receives of any source or type.
#[derive(Clone, Copy, Debug)]
struct WildcardReceives {
    first_key: u64,
    /// Number of sends that they take.
    send_count: u64,
    counts: EndpointCounts,
}

/// Gives the endpoints of a message the same key, in the second pass.
#[derive(Debug)]
pub(crate) struct MessagePairs {
    channels: FxHashMap<MessageChannel, ChannelState>,
    wildcards: Vec<WildcardReceives>,
    nodes: Vec<i64>,
    /// Whether the processes of a node have channels of their own.
    by_process: bool,
    /// The first process of each node, if they have.
    first_processes: FxHashMap<i64, i64>,
}

impl MessagePairs {
    /// The targets of a message to all nodes.
    fn targets_of(&self, source: TraceUnit) -> Vec<i64> {
        self.nodes.iter().copied().filter(|node| *node != source.node).collect()
    }

    /// The channel without processes if some endpoint does not name them.
    fn normalize_channel(&self, channel: MessageChannel) -> MessageChannel {
        let process_of = |unit: TraceUnit| match self.first_processes.get(&unit.node) {
            Some(first) if unit.process < 0 => *first,
            _ => unit.process,
        };
        let of = |unit: TraceUnit| TraceUnit { process: if self.by_process { process_of(unit) } else { -1 }, ..unit };
        MessageChannel { source: of(channel.source), target: of(channel.target), ..channel }
    }

    fn state(&mut self, channel: MessageChannel) -> &mut ChannelState {
        let channel = self.normalize_channel(channel);
        self.channels.entry(channel).or_default()
    }

    /// Numbers all pairs. Receives of any source or type get the sends that no other receive gets.
    fn assign_keys(&mut self) {
        let mut order: Vec<(MessageChannel, EndpointCounts)> =
            self.channels.iter().map(|(channel, state)| (*channel, state.ends)).collect();
        order.sort_unstable_by_key(|(channel, _)| channel_order(channel));
        let (wildcards, exact_receives): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|(channel, ends)| channel.is_wildcard(*ends));
        let mut next_key = 0;
        for (channel, ends) in &exact_receives {
            if let Some(state) = self.channels.get_mut(channel) {
                state.first_key = next_key;
                next_key += ends.sends.min(ends.receives);
            }
        }
        for (wildcard, EndpointCounts { receives, .. }) in &wildcards {
            let number = self.wildcards.len();
            let mut send_count = 0;
            for (send, _) in exact_receives.iter().filter(|(send, _)| wildcard.accepts(send)) {
                let Some(state) = self.channels.get_mut(send) else { continue };
                let surplus = state.ends.sends.saturating_sub(state.ends.receives).min(receives - send_count);
                if surplus > 0 && state.wildcard_receive.is_none() {
                    state.wildcard_receive = Some((number, surplus));
                    send_count += surplus;
                }
            }
            let counts = EndpointCounts::default();
            self.wildcards.push(WildcardReceives { first_key: next_key, send_count, counts });
            next_key += send_count;
            if let Some(state) = self.channels.get_mut(wildcard) {
                state.own_wildcard = Some(number);
            }
        }
    }

    /// Calls `add_key` for each receiver of a send, with the receiver and the key. The key is
    /// `None` if the receiver has no receive.
    pub(crate) fn send(
        &mut self,
        unit: TraceUnit,
        endpoint: PiclEndpoint,
        mut add_key: impl FnMut(TraceUnit, Option<MessageKey>),
    ) {
        let PiclEndpoint { peer, tag, .. } = endpoint;
        if peer.node != ANY {
            return add_key(peer, self.send_on(MessageChannel { source: unit, target: peer, tag }));
        }
        for target in self.targets_of(unit).into_iter().map(TraceUnit::of_node) {
            add_key(target, self.send_on(MessageChannel { source: unit, target, tag }));
        }
    }

    fn send_on(&mut self, channel: MessageChannel) -> Option<MessageKey> {
        let state = self.state(channel);
        let number = state.counts.sends;
        state.counts.sends += 1;
        if number < state.ends.receives {
            return Some(MessageKey { key: state.first_key + number, is_any: false });
        }
        let (wildcard, surplus) = state.wildcard_receive?;
        if number - state.ends.receives >= surplus {
            return None;
        }
        let receives = self.wildcards.get_mut(wildcard)?;
        receives.counts.sends += 1;
        Some(MessageKey { key: receives.first_key + receives.counts.sends - 1, is_any: true })
    }

    /// The key of a receive, and whether its send came before. `None` if there is no send for it.
    pub(crate) fn receive(&mut self, unit: TraceUnit, endpoint: PiclEndpoint) -> Option<(MessageKey, bool)> {
        let state = self.state(MessageChannel { source: endpoint.peer, target: unit, tag: endpoint.tag });
        let number = state.counts.receives;
        state.counts.receives += 1;
        if let Some(wildcard) = state.own_wildcard {
            let receives = self.wildcards.get(wildcard)?;
            let key = MessageKey { key: receives.first_key + number, is_any: true };
            return (number < receives.send_count).then_some((key, number < receives.counts.sends));
        }
        let key = MessageKey { key: state.first_key + number, is_any: false };
        (number < state.ends.sends).then_some((key, number < state.counts.sends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(nodes: &[i64]) -> TraceUnits {
        let mut units = TraceUnits::default();
        nodes.iter().for_each(|node| _ = units.number(TraceUnit::of_node(*node)));
        units
    }

    fn to(node: i64, tag: i64) -> PiclEndpoint {
        PiclEndpoint { peer: TraceUnit::of_node(node), tag, bytes: 8 }
    }

    fn sent(pairs: &mut MessagePairs, from: i64, endpoint: PiclEndpoint) -> Vec<Option<u64>> {
        let mut keys = Vec::new();
        pairs.send(TraceUnit::of_node(from), endpoint, |_, key| keys.push(key.map(|key| key.key)));
        keys
    }

    fn received(pairs: &mut MessagePairs, node: i64, endpoint: PiclEndpoint) -> Option<u64> {
        pairs.receive(TraceUnit::of_node(node), endpoint).map(|(key, _)| key.key)
    }

    #[test]
    fn messages_of_a_channel_are_paired_in_order_and_the_rest_is_unmatched() {
        let mut counts = MessageCounts::default();
        for _ in 0..3 {
            counts.send(TraceUnit::of_node(0), to(1, 7));
        }
        for _ in 0..2 {
            counts.receive(TraceUnit::of_node(1), to(0, 7));
        }
        counts.receive(TraceUnit::of_node(1), to(0, 8));
        let mut pairs = counts.pair(&units(&[0, 1]));
        // The first receive is earlier than its send.
        assert_eq!(received(&mut pairs, 1, to(0, 7)), Some(0));
        assert_eq!(sent(&mut pairs, 0, to(1, 7)), [Some(0)]);
        assert_eq!(sent(&mut pairs, 0, to(1, 7)), [Some(1)]);
        assert_eq!(sent(&mut pairs, 0, to(1, 7)), [None]);
        assert_eq!(received(&mut pairs, 1, to(0, 7)), Some(1));
        assert_eq!(received(&mut pairs, 1, to(0, 8)), None);
    }

    #[test]
    fn a_send_to_all_reaches_all_other_nodes() {
        let mut counts = MessageCounts::default();
        counts.send(TraceUnit::of_node(1), to(-1, 5));
        counts.receive(TraceUnit::of_node(0), to(1, 5));
        counts.receive(TraceUnit::of_node(2), to(1, 5));
        let mut pairs = counts.pair(&units(&[0, 1, 2, 3]));
        let keys = sent(&mut pairs, 1, to(-1, 5));
        assert_eq!(keys.len(), 3);
        assert_eq!(received(&mut pairs, 0, to(1, 5)), keys[0]);
        assert_eq!(received(&mut pairs, 2, to(1, 5)), keys[1]);
        assert_eq!(keys[2], None);
    }

    #[test]
    fn receives_of_any_source_or_type_take_the_remaining_sends_in_order() {
        let mut counts = MessageCounts::default();
        for source in [0, 1] {
            counts.send(TraceUnit::of_node(source), to(2, 5));
        }
        counts.receive(TraceUnit::of_node(2), to(-1, -1));
        counts.receive(TraceUnit::of_node(2), to(-1, -1));
        counts.receive(TraceUnit::of_node(2), to(-1, -1));
        let mut pairs = counts.pair(&units(&[0, 1, 2]));
        let later = sent(&mut pairs, 1, to(2, 5));
        let first = received(&mut pairs, 2, to(-1, -1));
        assert_eq!(later, [first]);
        let second = received(&mut pairs, 2, to(-1, -1));
        assert_eq!(sent(&mut pairs, 0, to(2, 5)), [second]);
        assert_eq!(received(&mut pairs, 2, to(-1, -1)), None);
    }

    #[test]
    fn endpoints_fit_into_words() {
        for (node, process) in [(0, 0), (-1, -1), (-32768, -1), (4095, 7)] {
            let endpoint = PiclEndpoint { peer: TraceUnit { node, process }, tag: -1, bytes: 1 << 40 };
            assert_eq!(PiclEndpoint::of_words(endpoint.to_words()), endpoint);
        }
    }
}
