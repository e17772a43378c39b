//! Clock correction on many runs of all kinds, drawn at random: what the report says of its own dates must be true.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/drawn.rs"]
mod drawn;
#[path = "support/synthetic.rs"]
mod synthetic;
#[path = "support/truth.rs"]
mod truth;

use drawn::{beyond, judged, scene};
use truth::Bursts;
use tumit_converter::clock::Method;

#[test]
fn what_is_said_of_dates_is_true() {
    let (mut bounded, mut clocks) = (0, 0);
    for seed in 1000..1048 {
        let scene = scene(seed);
        let graph = judged(&scene, Method::Graph);
        assert_eq!(beyond(&graph), [], "farther off than is certain: {scene:?}");
        let domains = &graph.report.clocks.domains[1..];
        clocks += domains.len();
        bounded += domains.iter().filter(|domain| domain.certified_nanos.is_some()).count();
        if scene.bursts == Bursts::Both || matches!(scene.bursts, Bursts::Many(_)) {
            // Messages that take their time must not spoil what samples tell.
            let bursts = judged(&scene, Method::Bursts);
            // From a few bursts it cannot be told that clocks wander as no quartz does.
            if scene.wander < 1e-8 {
                assert_eq!(beyond(&bursts), [], "farther off than is certain by samples alone: {scene:?}");
                let domains = &bursts.report.clocks.domains[1..];
                assert!(domains.iter().all(|domain| domain.residual_p95_nanos > 0.0), "{domains:?}");
                let certain = domains.iter().map(|domain| domain.certified_nanos.unwrap_or(f64::INFINITY));
                // 6 to 14 us for what the exchanges took, and what quartz may do between two bursts.
                let most = 30e3 + 40.0 * scene.seconds.powf(1.5);
                assert!(certain.fold(0.0, f64::max) < most, "{scene:?} {domains:?}");
            }
            assert!(graph.max <= 3 * bursts.max + 500, "{} by messages, {} without: {scene:?}", graph.max, bursts.max);
        }
        assert!(graph.report.is_clean(), "{:?} {scene:?}", graph.report.faults());
    }
    // Those that are heard one way only are not.
    assert!(bounded * 10 > clocks * 7, "{bounded} of {clocks} clocks are bounded");
}
