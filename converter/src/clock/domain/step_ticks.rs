//! Removes the steps of a clock that was set from its ticks.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockStep {
    /// The first tick after the step.
    pub(crate) ticks: u64,
    /// Size of the step in ticks. Negative if the clock was set back.
    pub(crate) size: i64,
}

/// Maps the ticks of a clock to the ticks of a clock without steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepFreeTicks(Vec<StepRegion>);

/// The ticks between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepRegion {
    /// The first tick.
    pub(crate) ticks: u64,
    /// The correction: it is added to the ticks.
    pub(crate) correction: i64,
    /// The smallest corrected tick, because corrected ticks never decrease.
    pub(crate) min_result: u64,
}

impl StepFreeTicks {
    /// From steps in order of their ticks.
    pub(crate) fn new(steps: &[ClockStep]) -> Self {
        let mut regions = Self::default();
        let mut correction = 0i64;
        for step in steps {
            let min_result = regions.without_steps(step.ticks.saturating_sub(1));
            correction = correction.saturating_sub(step.size);
            regions.0.push(StepRegion { ticks: step.ticks, correction, min_result });
        }
        regions
    }

    /// The region after each step, in order of ticks.
    pub(crate) fn regions(&self) -> &[StepRegion] {
        &self.0
    }

    /// The tick that the clock would have without steps. Never decreases. O(log(number of steps)).
    pub(crate) fn without_steps(&self, ticks: u64) -> u64 {
        let position = self.0.partition_point(|region| region.ticks <= ticks);
        let Some(region) = position.checked_sub(1).map(|last| &self.0[last]) else { return ticks };
        ticks.saturating_add_signed(region.correction).max(region.min_result)
    }
}
