//! The common begin and end of rows of one place. They are formatted once and used for nearly all
//! of its rows.

use super::row_kind::RowKind;

/// Number of cached frames: a power of two.
const KEPT: usize = 1 << 10;

/// The parts of a row that are the same for all rows of one kind, type and container.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowFrame {
    /// The text before the first timestamp.
    pub(crate) prefix: Vec<u8>,
    /// The text after the value.
    pub(crate) suffix: Vec<u8>,
    place: Option<FramePlace>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub(crate) kind: RowKind,
    /// Its number among the places of its kind.
    pub(crate) number: u32,
}

/// A cache of recently used frames. Its size does not depend on the number of places.
#[derive(Debug)]
pub(crate) struct RowFrames(Vec<RowFrame>);

impl Default for RowFrames {
    fn default() -> Self {
        Self(vec![RowFrame::default(); KEPT])
    }
}

impl RowFrames {
    /// Removes all frames.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|frame| frame.place = None);
    }

    /// Returns the frame of a place. Calls `fill` if it is not in the cache.
    #[inline]
    pub(crate) fn of(&mut self, place: FramePlace, fill: impl FnOnce(&mut RowFrame)) -> &RowFrame {
        let FramePlace { kind, number } = place;
        // Places of different kinds are spread over the cache.
        let index = (number as usize).wrapping_add(kind as usize * KEPT / 4) % KEPT;
        let frame = &mut self.0[index];
        if frame.place != Some(place) {
            frame.place = Some(place);
            frame.prefix.clear();
            frame.suffix.clear();
            fill(frame);
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_and_number_has_its_own_frame() {
        let mut frames = RowFrames::default();
        let mut frames_made = 0;
        for _ in 0..3 {
            for number in 0..3 * KEPT as u32 {
                for kind in [RowKind::State, RowKind::Event] {
                    let frame = frames.of(FramePlace { kind, number }, |frame| {
                        frames_made += 1;
                        frame.prefix.extend_from_slice(format!("{kind:?} {number}").as_bytes());
                    });
                    assert_eq!(frame.prefix, format!("{kind:?} {number}").as_bytes());
                }
            }
        }
        assert_eq!(frames_made, 3 * 3 * 2 * KEPT);
        // A small number of places: each is formatted once.
        for _ in 0..3 {
            for number in 0..100 {
                frames.of(FramePlace { kind: RowKind::Variable, number }, |_| frames_made += 1);
            }
        }
        assert_eq!(frames_made, 3 * 3 * 2 * KEPT + 100);
        frames.clear();
        frames.of(FramePlace { kind: RowKind::Variable, number: 1 }, |_| frames_made += 1);
        assert_eq!(frames_made, 3 * 3 * 2 * KEPT + 101);
    }
}
