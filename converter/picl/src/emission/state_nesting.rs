//! [`StateNesting`]: the open states of one type in one unit.
//!
//! Events of a trace can overlap: two completions can begin together and end together. Pajé states
//! are nested. A state that ends before an inner one is kept until the inner one ends. A state
//! without a duration that is only a message is not sent.

/// An open state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackedState {
    pub(crate) value: u32,
    pub(crate) line: u64,
    /// Location and parameter of a block, and 1 if it has them.
    pub(crate) words: [i64; 3],
    /// Whether the state is not sent if its end has the time of its begin.
    pub(crate) is_message: bool,
    is_sent: bool,
    is_ended: bool,
}

impl StackedState {
    pub(crate) fn new(value: u32, line: u64, words: [i64; 3], is_message: bool) -> Self {
        Self { value, line, words, is_message, is_sent: false, is_ended: false }
    }

    /// Whether an end of this state was read.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended
    }
}

/// The open states, innermost last. States that are not sent yet follow the sent ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateNesting {
    states: Vec<StackedState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndEffect {
    /// No such state is open.
    Missing,
    /// The number of states that are popped.
    Pops(u32),
    /// [`StateNesting::take_unsent`] is necessary first.
    SendFirst,
}

impl StateNesting {
    pub(crate) fn begin(&mut self, state: StackedState) {
        self.states.push(state);
    }

    /// Whether a state is not sent yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.states.last().is_some_and(|state| !state.is_sent)
    }

    /// Calls `send` for each state that is not sent yet, outermost first.
    pub(crate) fn take_unsent(&mut self, mut send: impl FnMut(&StackedState)) {
        for state in self.states.iter_mut().filter(|state| !state.is_sent) {
            state.is_sent = true;
            send(state);
        }
    }

    /// Ends the innermost state with a value.
    pub(crate) fn end(&mut self, value: u32) -> EndEffect {
        let is_open = |state: &StackedState| state.value == value && !state.is_ended;
        let Some(index) = self.states.iter().rposition(is_open) else { return EndEffect::Missing };
        if !self.states[index].is_sent {
            if !self.states[index].is_message {
                return EndEffect::SendFirst;
            }
            self.states.remove(index);
            return EndEffect::Pops(0);
        }
        if self.has_unsent() {
            return EndEffect::SendFirst;
        }
        self.states[index].is_ended = true;
        let mut pops = 0;
        while self.states.pop_if(|state| state.is_ended).is_some() {
            pops += 1;
        }
        EndEffect::Pops(pops)
    }

    /// Removes all states, innermost first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = StackedState> {
        std::mem::take(&mut self.states).into_iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(value: u32, is_message: bool) -> StackedState {
        StackedState::new(value, 1, [0; 3], is_message)
    }

    #[test]
    fn overlapping_states_end_with_the_inner_one() {
        let mut states = StateNesting::default();
        states.begin(state(1, false));
        states.begin(state(2, false));
        let mut sent = Vec::new();
        states.take_unsent(|state| sent.push(state.value));
        assert_eq!(sent, [1, 2]);
        assert_eq!(states.end(1), EndEffect::Pops(0));
        assert_eq!(states.end(1), EndEffect::Missing);
        assert_eq!(states.end(2), EndEffect::Pops(2));
    }

    #[test]
    fn messages_without_duration_are_no_states() {
        let mut states = StateNesting::default();
        states.begin(state(1, true));
        assert_eq!(states.end(1), EndEffect::Pops(0));
        states.begin(state(2, false));
        assert_eq!(states.end(2), EndEffect::SendFirst);
        states.take_unsent(|_| {});
        assert_eq!(states.end(2), EndEffect::Pops(1));
        assert_eq!(states.drain().count(), 0);
    }
}
