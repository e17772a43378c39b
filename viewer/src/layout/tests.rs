//! Layouts of small trees.

use rustc_hash::FxHashMap;

use super::container_outline::{axis, positions_by_type};
use super::*;
use crate::query::{ContainerInfo, GlobalNanos, TimeRange, ValueRange};

fn container(id: u32, depth: u32, states: &[(u32, u32)]) -> LayoutNode {
    let life = TimeRange { from: GlobalNanos(0), to: GlobalNanos(1) };
    // As in the tree of `outline`.
    let parent = ContainerId(match id {
        2 | 3 => 1,
        5 => 4,
        _ => 0,
    });
    let (id, ty) = (ContainerId(id), TypeId(depth));
    let info = ContainerInfo { id, ty, parent, depth, name: format!("c{}", id.0), life };
    let states = states.iter().map(|&(ty, depths)| NodeStates { ty: TypeId(ty), depths, weight: 1 }).collect();
    LayoutNode { info, end: 0, states, events: Vec::new(), variables: Vec::new() }
}

/// The root with two nodes. The first node has two threads, one of them with three nesting depths;
/// the second has one thread.
fn outline() -> ContainerOutline {
    let mut nodes = vec![
        container(0, 0, &[]),
        container(1, 1, &[]),
        container(2, 2, &[(9, 1)]),
        container(3, 2, &[(9, 3)]),
        container(4, 1, &[]),
        container(5, 2, &[(9, 1)]),
    ];
    for (node, end) in nodes.iter_mut().zip([6, 4, 3, 4, 6, 6]) {
        node.end = end;
    }
    ContainerOutline { by_type: positions_by_type(&nodes), nodes, positions: (0..6).collect(), factors: Vec::new() }
}

fn names(layout: &RowLayout) -> Vec<&str> {
    layout.rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn a_root_that_draws_nothing_has_no_row() {
    let layout = RowLayout::new(&outline(), &LayoutOptions::default());
    assert_eq!(names(&layout), ["c1", "c2", "c3", "c4", "c5"]);
    assert_eq!(layout.rows.iter().map(|row| row.depth).collect::<Vec<_>>(), [0, 1, 1, 0, 1]);
    assert_eq!(layout.index_of(ContainerId(0)), None);
}

#[test]
fn rows_follow_each_other_without_overlap() {
    let layout = RowLayout::new(&outline(), &LayoutOptions::default());
    for pair in layout.rows.windows(2) {
        assert!(pair[0].y + pair[0].height <= pair[1].y, "{pair:?}");
    }
    for row in &layout.rows {
        for strip in &row.strips {
            assert!(strip.y >= row.y && strip.y + strip.height <= row.y + row.height, "{row:?}");
        }
    }
    let last = layout.rows.last().unwrap();
    assert!((last.y + last.height - layout.height).abs() < 1e-3);
}

#[test]
fn deeper_nesting_is_higher_and_its_boxes_lie_inside() {
    let layout = RowLayout::new(&outline(), &LayoutOptions::default());
    let (flat, nested) = (&layout.rows[1].strips[0], &layout.rows[2].strips[0]);
    assert!(nested.height > flat.height);
    let boxes: Vec<LaneExtent> = (0..3).map(|depth| nested.lane_extent(depth, 3)).collect();
    for pair in boxes.windows(2) {
        assert!(pair[1].top > pair[0].top, "the inner box starts lower");
        assert!(
            (pair[1].top + pair[1].height - pair[0].top - pair[0].height).abs() < 1e-3,
            "and both stand on the floor"
        );
    }
}

#[test]
fn deep_nesting_is_drawn_line_by_line() {
    let strip = RowStrip { kind: StripKind::States { depths: 8 }, ty: TypeId(0), y: 10.0, height: 80.0 };
    assert_eq!(strip.lane_extent(0, 8), LaneExtent { top: 10.0, height: 10.0 });
    assert_eq!(strip.lane_extent(7, 8), LaneExtent { top: 80.0, height: 10.0 });
}

#[test]
fn folded_rows_are_drawn_in_their_ancestor() {
    let folds = FoldedContainers { level: Some(0), toggled: [ContainerId(4)].into() };
    let layout = RowLayout::new(&outline(), &LayoutOptions { folds, ..LayoutOptions::default() });
    assert_eq!(names(&layout), ["c1", "c4", "c5"], "the second node was toggled");
    assert!(layout.rows[0].is_folded && layout.rows[0].is_expandable);
    assert_eq!(layout.index_of(ContainerId(3)), Some(0));
    let StripKind::Summary { members } = &layout.rows[0].strips[0].kind else { panic!("{:?}", layout.rows[0]) };
    let member = |id, depths| SummaryMember { container: ContainerId(id), depths };
    assert_eq!(members, &[member(2, 1), member(3, 3)]);
}

#[test]
fn hidden_types_take_no_space() {
    let layout =
        RowLayout::new(&outline(), &LayoutOptions { hidden_types: [TypeId(9)].into(), ..LayoutOptions::default() });
    assert!(layout.rows.iter().all(|row| row.strips.is_empty()));
}

#[test]
fn a_layout_fills_a_height_within_its_factors() {
    let (outline, options) = (outline(), LayoutOptions::default());
    let natural = RowLayout::new(&outline, &options).height;
    let half = RowLayout::fill_height(&outline, &options, natural / 2.0, 0.1..=4.0);
    assert!(half.height < natural * 0.6 && half.height > natural * 0.4, "{} of {natural}", half.height);
    let grown = RowLayout::fill_height(&outline, &options, natural * 10.0, 1.0..=1.5);
    assert!(grown.height > natural && grown.height <= natural * 1.5);
}

#[test]
fn an_empty_trace_has_no_rows() {
    let empty = ContainerOutline {
        nodes: Vec::new(),
        positions: Vec::new(),
        by_type: FxHashMap::default(),
        factors: Vec::new(),
    };
    let layout = RowLayout::fill_height(&empty, &LayoutOptions::default(), 100.0, 0.1..=4.0);
    assert!(layout.rows.is_empty() && layout.index_of(ContainerId(0)).is_none());
}

#[test]
fn an_axis_has_two_different_ends_for_any_range_of_values() {
    let cases = [
        ((0.0, 0.0), (0.0, 1.0)),
        ((1.25e8, 1.25e8), (0.0, 1.25e8)),
        ((-3.0, -3.0), (-3.0, 0.0)),
        ((10.0, 40.0), (0.0, 40.0)),
        ((30.0, 40.0), (30.0, 40.0)),
    ];
    let value_range = |(min, max): (f64, f64)| ValueRange { min, max };
    for (range, expected) in cases {
        assert_eq!(axis(Some(value_range(range))), Some(value_range(expected)));
    }
    assert_eq!(axis(Some(value_range((0.0, f64::INFINITY)))), None);
    assert_eq!(axis(None), None);
}

fn layout_of(arrangement: RowArrangement) -> RowLayout {
    RowLayout::new(&outline(), &LayoutOptions { arrangement, ..LayoutOptions::default() })
}

#[test]
fn pinned_rows_come_first_and_only_once() {
    let layout =
        layout_of(RowArrangement { pinned_containers: [5, 1].map(ContainerId).into(), ..RowArrangement::default() });
    assert_eq!(names(&layout), ["c5", "c1", "c2", "c3", "c4"]);
    assert_eq!(layout.rows.iter().map(|row| row.is_pinned).collect::<Vec<_>>(), [true, true, true, true, false]);
    assert_eq!(layout.rows.iter().map(|row| row.depth).collect::<Vec<_>>(), [0, 0, 1, 1, 0]);
    let last = &layout.rows[3];
    assert!(layout.pinned_height > last.y + last.height && (layout.rows[4].y - layout.pinned_height).abs() < 1e-3);
    assert_eq!(layout_of(RowArrangement::default()).pinned_height.to_bits(), 0.0_f32.to_bits());
}

#[test]
fn hidden_rows_hide_their_descendants_and_are_in_no_summary() {
    let hidden_containers = [ContainerId(3), ContainerId(4)].into();
    let layout = layout_of(RowArrangement { hidden_containers, ..RowArrangement::default() });
    assert_eq!(names(&layout), ["c1", "c2"]);
    let folds = FoldedContainers { level: Some(0), ..FoldedContainers::default() };
    let arrangement = RowArrangement { hidden_containers: [ContainerId(3)].into(), ..RowArrangement::default() };
    let layout = RowLayout::new(&outline(), &LayoutOptions { arrangement, folds, ..LayoutOptions::default() });
    let StripKind::Summary { members } = &layout.rows[0].strips[0].kind else { panic!("{:?}", layout.rows[0]) };
    assert_eq!(members, &[SummaryMember { container: ContainerId(2), depths: 1 }]);
    assert_eq!((layout.index_of(ContainerId(2)), layout.index_of(ContainerId(3))), (Some(0), None));
}

#[test]
fn rows_move_among_their_siblings_only() {
    let order_after = |moves: &[(u32, u32)]| {
        let row_moves =
            moves.iter().map(|&(a, b)| RowMove { container: ContainerId(a), successor: ContainerId(b) }).collect();
        names(&layout_of(RowArrangement { row_moves, ..RowArrangement::default() })).join(" ")
    };
    assert_eq!(order_after(&[(4, 1)]), "c4 c5 c1 c2 c3");
    assert_eq!(order_after(&[(2, 0)]), "c1 c3 c2 c4 c5");
    assert_eq!(order_after(&[(4, 1), (1, 4)]), "c1 c2 c3 c4 c5");
    assert_eq!(order_after(&[(2, 5), (0, 1), (99, 1), (2, 2)]), "c1 c2 c3 c4 c5");
}

#[test]
fn searched_names_keep_ancestors_and_descendants() {
    let search = |names: &str, level: Option<u32>| {
        let arrangement = RowArrangement { names: names.to_owned(), ..RowArrangement::default() };
        let folds = FoldedContainers { level, ..FoldedContainers::default() };
        RowLayout::new(&outline(), &LayoutOptions { arrangement, folds, ..LayoutOptions::default() })
    };
    assert_eq!(names(&search("C3", None)), ["c1", "c3"]);
    assert_eq!(names(&search("c4", None)), ["c4", "c5"]);
    assert_eq!(names(&search("c3", Some(0))), ["c1", "c3"], "found rows are not folded");
    assert!(search("x", None).rows.is_empty());
}
