//! The arrangement of several panels in rows.

use tumit_viewer::scene::OutlineRect;

/// The frames of panels, row by row. The number of rows is the one for which panels with a ratio
/// `aspect` of width to height are largest.
pub(super) fn frames(frame: OutlineRect, count: usize, aspect: f32, gap: f32) -> Vec<OutlineRect> {
    let size = |rows: usize| {
        let columns = count.div_ceil(rows);
        let width = (frame.width - gap * (columns - 1) as f32) / columns as f32;
        let height = (frame.height - gap * (rows - 1) as f32) / rows as f32;
        (width, height, columns)
    };
    let area = |rows: usize| {
        let (width, height, _) = size(rows);
        // Empty places are a waste.
        width.min(height * aspect).max(0.0) * count as f32 / (rows * count.div_ceil(rows)) as f32
    };
    let Some(rows) = (1..=count).max_by(|&a, &b| area(a).total_cmp(&area(b)).then(b.cmp(&a))) else {
        return Vec::new();
    };
    let (width, height, columns) = size(rows);
    let place = |index: usize| {
        let (column, row) = ((index % columns) as f32, (index / columns) as f32);
        OutlineRect::new(frame.x + column * (width + gap), frame.y + row * (height + gap), width, height)
    };
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use tumit_viewer::scene::OutlineRect;

    use super::frames;

    #[test]
    fn square_panels_form_a_square_and_wide_ones_a_column() {
        let columns = |width: f32, aspect: f32| {
            let frames = frames(OutlineRect::new(0.0, 0.0, width, 400.0), 4, aspect, 10.0);
            frames.iter().filter(|frame| frame.y == 0.0).count()
        };
        assert_eq!([columns(500.0, 1.0), columns(1700.0, 1.0), columns(500.0, 5.0)], [2, 4, 1]);
        assert!(frames(OutlineRect::new(0.0, 0.0, 10.0, 10.0), 0, 1.0, 1.0).is_empty());
    }
}
