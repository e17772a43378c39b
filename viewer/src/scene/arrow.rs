//! The geometry of arrows.

use super::primitives::SceneArrow;

impl SceneArrow {
    /// The end of the line and the start of the head.
    pub(crate) fn head_start(&self) -> (f32, f32) {
        let (ux, uy, length) = self.direction();
        let back = self.head.min(length) * 0.9;
        (self.to.0 - ux * back, self.to.1 - uy * back)
    }

    /// The corners of the head, the tip first.
    pub(crate) fn head(&self) -> [(f32, f32); 3] {
        let (ux, uy, length) = self.direction();
        let (long, half) = (self.head.min(length.max(1.0)), self.head * 0.34);
        let base = (self.to.0 - ux * long, self.to.1 - uy * long);
        [self.to, (base.0 - uy * half, base.1 + ux * half), (base.0 + uy * half, base.1 - ux * half)]
    }

    fn direction(&self) -> (f32, f32, f32) {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let length = dx.hypot(dy);
        if length > 0.0 { (dx / length, dy / length, length) } else { (1.0, 0.0, 0.0) }
    }
}
