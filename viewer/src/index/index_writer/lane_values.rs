//! The distinct values of a lane.

/// The values of a lane in the order of their first occurrence, and their indexes in that list. It
/// is reused for one lane after another.
#[derive(Debug, Default)]
pub(crate) struct LaneValues {
    pub(crate) values: Vec<u64>,
    /// Index plus 1 by value; 0 if the value does not occur. Values are numbered from 0 without
    /// gaps.
    places: Vec<u32>,
}

impl LaneValues {
    pub(crate) fn clear(&mut self) {
        self.values.drain(..).for_each(|value| self.places[value as usize] = 0);
    }

    pub(crate) fn insert(&mut self, value: u64) {
        let index = value as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            self.values.push(value);
            self.places[index] = self.values.len() as u32;
        }
    }

    pub(crate) fn place(&self, value: u64) -> u64 {
        self.places.get(value as usize).map_or(0, |&place| u64::from(place.saturating_sub(1)))
    }
}
