//! What rows of one place begin and end with: put together once, and used for nearly all of its rows.

use super::row::Kind;

/// How many are kept: a power of two.
const KEPT: usize = 1 << 10;

/// The parts of a row that are the same for all rows of one kind, type and container.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Up to the first date.
    pub(crate) before: Vec<u8>,
    /// Behind the value.
    pub(crate) after: Vec<u8>,
    /// Whose it is.
    place: Option<(Kind, u32)>,
}

/// Frames that were used lately: of a few thousand places, however many there are.
#[derive(Debug)]
pub(crate) struct Frames(Vec<Frame>);

impl Default for Frames {
    fn default() -> Self {
        Self(vec![Frame::default(); KEPT])
    }
}

impl Frames {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|frame| frame.place = None);
    }

    /// The frame of a place, by its number among those of its kind; `fill` makes it if it is not there.
    #[inline]
    pub(crate) fn of(&mut self, place: (Kind, u32), fill: impl FnOnce(&mut Frame)) -> &Frame {
        let (kind, number) = place;
        // Places of different kinds lie apart.
        let at = (number as usize).wrapping_add(kind as usize * KEPT / 4) % KEPT;
        let frame = &mut self.0[at];
        if frame.place != Some(place) {
            frame.place = Some(place);
            frame.before.clear();
            frame.after.clear();
            fill(frame);
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_own() {
        let mut frames = Frames::default();
        let mut made = 0;
        for _ in 0..3 {
            for number in 0..3 * KEPT as u32 {
                for kind in [Kind::State, Kind::Event] {
                    let frame = frames.of((kind, number), |frame| {
                        made += 1;
                        frame.before.extend_from_slice(format!("{kind:?} {number}").as_bytes());
                    });
                    assert_eq!(frame.before, format!("{kind:?} {number}").as_bytes());
                }
            }
        }
        assert_eq!(made, 3 * 3 * 2 * KEPT);
        // Few places are made once.
        for _ in 0..3 {
            for number in 0..100 {
                frames.of((Kind::Variable, number), |_| made += 1);
            }
        }
        assert_eq!(made, 3 * 3 * 2 * KEPT + 100);
        frames.clear();
        frames.of((Kind::Variable, 1), |_| made += 1);
        assert_eq!(made, 3 * 3 * 2 * KEPT + 101);
    }
}
