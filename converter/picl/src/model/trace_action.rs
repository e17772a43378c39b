//! [`TraceAction`]: one effect of a record at one time.

/// The kind of an action. Actions of one record are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceActionKind {
    /// A unit begins to be traced.
    Start,
    /// A state begins. `words` are offset and length of its
    /// [`StateFields`](super::StateFields), and 1 if it has any.
    Begin,
    /// A message is sent. `words` are those of a [`PiclEndpoint`](super::PiclEndpoint).
    Send,
    /// A message is received. `words` are as for `Send`.
    Receive,
    /// A point event. `words` are offset and length of its text, and 1 if it has one.
    Event,
    /// A value of a [`Statistic`]. `words` are its number and its value.
    Value,
    /// A state with this value ends.
    End,
    /// A unit ends.
    Finish,
    /// The trace library of a unit has no more memory.
    Stop,
}

impl TraceActionKind {
    const ALL: [Self; 9] = [
        Self::Start,
        Self::Begin,
        Self::Send,
        Self::Receive,
        Self::Event,
        Self::Value,
        Self::End,
        Self::Finish,
        Self::Stop,
    ];
}

/// The cumulative statistics of old PICL, which become variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    MessagesReceived,
    BytesReceived,
    MessagesSent,
    BytesSent,
    Probes,
    /// In microseconds.
    CommunicationTime,
}

impl Statistic {
    pub(crate) const ALL: [Self; 6] = [
        Self::MessagesReceived,
        Self::BytesReceived,
        Self::MessagesSent,
        Self::BytesSent,
        Self::Probes,
        Self::CommunicationTime,
    ];

    /// The name of the variable type.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MessagesReceived => "Messages received",
            Self::BytesReceived => "Bytes received",
            Self::MessagesSent => "Messages sent",
            Self::BytesSent => "Bytes sent",
            Self::Probes => "Probes",
            Self::CommunicationTime => "Communication time (s)",
        }
    }

    /// The value of the variable.
    #[expect(clippy::cast_precision_loss, reason = "2^53 is more than any count of a trace")]
    pub(crate) fn value(self, number: i64) -> f64 {
        if self == Self::CommunicationTime { number as f64 / 1e6 } else { number as f64 }
    }
}

/// Number of 64-bit words of an action.
pub(crate) const ACTION_WORDS: usize = 6;

/// One effect of a record at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceAction {
    /// In nanoseconds.
    pub(crate) time: i64,
    /// The line of the record.
    pub(crate) line: u64,
    pub(crate) kind: TraceActionKind,
    /// Index of the unit.
    pub(crate) unit: u32,
    /// Index of the value. 0 if the kind has no value.
    pub(crate) value: u32,
    /// The data of the action. [`TraceActionKind`] describes it.
    pub(crate) words: [i64; 3],
}

/// The sign bit. Signed numbers with this bit inverted have the order of unsigned numbers.
const SIGN: u64 = 1 << 63;

impl TraceAction {
    /// The action as words. The first two words order actions by time, line and kind.
    pub(crate) fn to_words(self) -> [u64; ACTION_WORDS] {
        let Self { time, line, kind, unit, value, words: [a, b, c] } = self;
        [
            time.cast_unsigned() ^ SIGN,
            kind as u64 | line << 8,
            u64::from(unit) | u64::from(value) << 32,
            a.cast_unsigned(),
            b.cast_unsigned(),
            c.cast_unsigned(),
        ]
    }

    /// The action of words. `None` if no action has these words.
    pub(crate) fn of_words(words: [u64; ACTION_WORDS]) -> Option<Self> {
        let [time, line, names, rest @ ..] = words;
        Some(Self {
            time: (time ^ SIGN).cast_signed(),
            line: line >> 8,
            kind: *TraceActionKind::ALL.get((line & 0xff) as usize)?,
            unit: names as u32,
            value: (names >> 32) as u32,
            words: rest.map(u64::cast_signed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn actions_are_equal_after_conversion_to_words(
            times in any::<[i64; 2]>(),
            line in 0_u64..1 << 50,
            kind in 0..TraceActionKind::ALL.len(),
            (unit, value, words) in any::<(u32, u32, [i64; 3])>(),
        ) {
            let action = |time| TraceAction { time, line, kind: TraceActionKind::ALL[kind], unit, value, words };
            let [first, second] = times.map(action);
            prop_assert_eq!(TraceAction::of_words(first.to_words()), Some(first));
            prop_assert_eq!(first.to_words()[0].cmp(&second.to_words()[0]), times[0].cmp(&times[1]));
        }
    }
}
